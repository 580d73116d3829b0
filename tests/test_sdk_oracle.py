"""The Overturn SDK 0.1.4 as an oracle, on random values where it and the default profile agree.

``OVERTURN_FAST_ORACLE_TREES`` sets how many trees a run compares, 20,000 unless it says otherwise.
Left out are the documented differences: ints from 1e21 on, lone surrogates, keys whose ``str()`` is
not their JSON text or that collide, sets of several items, and types of which the SDK makes
``null`` or another text.
"""

from __future__ import annotations

import collections
import datetime
import decimal
import hashlib
import os
import random
import struct
import types
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import overturn_fast

sdk = pytest.importorskip("overturn.fingerprint")

TREES = int(os.environ.get("OVERTURN_FAST_ORACLE_TREES") or 20_000)
TREES_AN_EXAMPLE = 250
PARTS = 8  # of a run: a million trees take longer than one test may

# Characters of every kind that the writing of strings tells apart.
CHARACTERS = (
    "abcXYZ019_-./ \t\n\r\x0b\x0c\x1c\x1f\x00\x01\b\x7f\"'\\<>&{}[]:,"
    "\x80\x85\xa0\xadéßĀ\u0301\u1680\u180e\u2000\u200b\u2028\u2029\u202f\u3000中한\ud7ff\ue000"
    "\ufb33\ufeff\ufffd\uffff\U00010000😀\U0010ffff"
)
WORDS = ("ticketId", "priority", "query", "filters", "limit", "a", "b", "", " a ", "é", "中", "😀")


# -- random trees: fast, so that a run sees many ---------------------------------------------------


def random_text(source: random.Random) -> str:
    kind = source.random()
    if kind < 0.4:
        return source.choice(WORDS)
    if kind < 0.6:
        return " " * source.randrange(3) + source.choice(WORDS) + "\u3000" * source.randrange(2)
    if kind < 0.95:
        return "".join(source.choices(CHARACTERS, k=source.randrange(12)))
    return "".join(source.choices(CHARACTERS, k=source.randrange(40, 200)))


def random_int(source: random.Random) -> int:
    number = source.choice(
        (
            source.randrange(-20, 100),
            source.getrandbits(source.randrange(1, 69)),
            2 ** source.randrange(50, 69) + source.randrange(-2, 3),
            10 ** source.randrange(0, 21) + source.randrange(-2, 3),
            10**21 - 1 - source.randrange(3),
        )
    )
    return number if source.random() < 0.7 else -number


def random_float(source: random.Random) -> float:
    kind = source.randrange(6)
    if kind == 0:
        return float(struct.unpack("<d", source.randbytes(8))[0])
    if kind == 1:
        return round(source.uniform(-1_000, 1_000), source.randrange(7))
    if kind == 2:
        return source.choice((0.0, -0.0, 1e21, 1e-7, 1e-6, 5e-324, 1.7976931348623157e308, 0.1))
    if kind == 3:
        return float(random_int(source))
    if kind == 4:
        return source.randrange(1, 10**5) * 10.0 ** source.randrange(-30, 30)
    return source.choice((float("nan"), float("inf"), float("-inf"), 2.5, -1.5e300))


def random_moment(source: random.Random) -> datetime.datetime:
    offset = datetime.timedelta(minutes=source.randrange(-720, 721))
    zone = source.choice((None, datetime.timezone.utc, datetime.timezone(offset)))
    moment = datetime.datetime(2, 1, 1) + datetime.timedelta(
        days=source.randrange(3_650_000), microseconds=source.randrange(86_400_000_000)
    )
    return moment.replace(tzinfo=zone)


def random_decimal(source: random.Random) -> decimal.Decimal:
    text = f"{random_int(source)}e{source.randrange(-30, 30)}"
    return decimal.Decimal(source.choice((text, "NaN", "-Infinity", "1.10", "-0")))


SCALARS = (
    *[random_text] * 5,
    *[random_int] * 3,
    *[random_float] * 3,
    lambda source: source.choice((None, True, False)),
    random_moment,
    random_decimal,
)


def random_keys(source: random.Random) -> list[Any]:
    """Keys of which no two have one text."""
    keys: dict[str, Any] = {}
    for _ in range(source.choice((0, 1, 2, 2, 3, 3, 4, 12))):
        key: Any = random_text(source)
        if source.random() < 0.1:
            key = random_int(source)
        keys[str(key)] = key
    return list(keys.values())


def random_tree(source: random.Random, depth: int = 0) -> Any:
    if depth > 6 or source.random() < 0.05 + 0.22 * depth:
        return source.choice(SCALARS)(source)
    kind = source.random()
    if kind < 0.55:
        tree = {key: random_tree(source, depth + 1) for key in random_keys(source)}
        wrap = source.random()
        if wrap < 0.85:
            return tree
        if wrap < 0.9:
            return collections.OrderedDict(tree)
        if wrap < 0.95:
            return types.MappingProxyType(tree)
        return types.SimpleNamespace(**{str(key): value for key, value in tree.items()})
    items = [random_tree(source, depth + 1) for _ in range(source.randrange(5))]
    if kind < 0.9:
        return items if source.random() < 0.7 else tuple(items)
    if kind < 0.95:
        return source.choice((collections.deque, collections.UserList))(items)
    return {random_text(source)} if source.random() < 0.5 else frozenset()


# -- hypothesis trees: fewer, and shrunk to the part that matters ----------------------------------

text = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from(CHARACTERS), max_size=20)
scalar = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**21) + 1, 10**21 - 1),
    st.floats(),
    text,
    st.datetimes(min_value=datetime.datetime(2, 1, 1), max_value=datetime.datetime(9998, 1, 1)),
    st.decimals(places=3, allow_nan=False, allow_infinity=True),
)
tree = st.recursive(
    scalar,
    lambda inner: st.one_of(
        st.lists(inner, max_size=6),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(text, inner, max_size=6),
        st.dictionaries(st.integers(-(10**21) + 1, 10**21 - 1), inner, max_size=3),
    ),
    max_leaves=20,
)


# -- comparison ------------------------------------------------------------------------------------


def parts_of(value: Any) -> list[Any]:
    if isinstance(value, (dict, types.MappingProxyType)):
        return list(value.values())
    if isinstance(value, types.SimpleNamespace):
        return list(vars(value).values())
    if isinstance(value, (list, tuple, collections.deque, collections.UserList, set, frozenset)):
        return list(value)
    return []


def smallest_difference(value: Any) -> Any:
    """The innermost part of a value on which the two still differ."""
    for part in parts_of(value):
        if overturn_fast.canonical_json(part) != sdk.canonical_json(part):
            return smallest_difference(part)
    return value


def check(value: Any) -> None:
    expected = sdk.canonical_json(value)
    if overturn_fast.canonical_json(value) != expected:
        part = smallest_difference(value)
        assert overturn_fast.canonical_json(part) == sdk.canonical_json(part), repr(part)
    assert overturn_fast.hash_json(value) == hashlib.sha256(expected.encode()).hexdigest()


def check_call(source: random.Random, args: Any) -> None:
    """A call with some of the arguments declared."""
    keys = [key for key in args if isinstance(key, str)] if isinstance(args, dict) else []
    keys.append("missing")
    match_on, ignore_args = (
        source.choice((None, [], source.sample(keys, source.randrange(len(keys) + 1))))
        for _ in range(2)
    )
    kind, name = random_text(source).replace("\n", ""), random_text(source)
    call = (kind, name, args, match_on, ignore_args)
    assert overturn_fast.fingerprint(*call) == sdk.fingerprint(*call), repr(call)


@pytest.mark.parametrize("part", range(PARTS))
@settings(max_examples=max(1, TREES // TREES_AN_EXAMPLE // PARTS))
@given(seed=st.integers(0, 2**64 - 1))
def test_random_trees_have_the_sdks_text_and_digest(part: int, seed: int) -> None:
    source = random.Random(seed * PARTS + part)
    for _ in range(TREES_AN_EXAMPLE):
        value = random_tree(source)
        check(value)
        check_call(source, value)


@settings(max_examples=500)
@given(value=tree)
def test_generated_trees_have_the_sdks_text_and_digest(value: Any) -> None:
    check(value)


@settings(max_examples=200)
@given(
    args=st.dictionaries(text, scalar, max_size=6),
    match_on=st.none() | st.lists(text, max_size=4),
    ignore_args=st.none() | st.lists(text, max_size=4),
    data=st.data(),
)
def test_generated_calls_have_the_sdks_fingerprint(
    args: dict[str, Any],
    match_on: list[str] | None,
    ignore_args: list[str] | None,
    data: st.DataObject,
) -> None:
    if args:
        match_on = data.draw(st.just(match_on) | st.lists(st.sampled_from(list(args))))
        ignore_args = data.draw(st.just(ignore_args) | st.lists(st.sampled_from(list(args))))
    kind, name = data.draw(text).replace("\n", ""), data.draw(text)
    call = (kind, name, args, match_on, ignore_args)
    assert overturn_fast.fingerprint(*call) == sdk.fingerprint(*call)
    assert overturn_fast.select_args(*call[2:]) == sdk.select_args(*call[2:]) or any(
        value != value for value in args.values()
    )


def test_the_versions_of_the_contract_agree() -> None:
    assert overturn_fast.FINGERPRINT_VERSION == sdk.FINGERPRINT_VERSION


def test_the_documented_differences_are_still_there() -> None:
    for value, own in (
        (10**21, "1e+21"),
        ({True: 1}, '{"true":1}'),
        ({None: 1}, '{"null":1}'),
        ({1.0: 1}, '{"1":1}'),
        ([datetime.date(2026, 1, 2)], '["2026-01-02"]'),
    ):
        assert overturn_fast.canonical_json(value) == own
        assert sdk.canonical_json(value) != own
