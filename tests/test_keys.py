"""Keys of objects: their text, their order, and which of two with one text counts."""

from __future__ import annotations

import datetime
import decimal
import enum
import itertools
import json
import random
import uuid
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType, ModuleType
from typing import Any

import pytest

STRICT_PROFILES = ["jcs", "jcs-double", "mcpulse", "pleach"]
UTF16_PROFILES = STRICT_PROFILES

HIGH, LOW = chr(0xD800), chr(0xDFFF)  # the first and the last surrogate


def utf16_units(text: str) -> bytes:
    return text.encode("utf-16-be", "surrogatepass")


def check_order(engine: ModuleType, keys: list[str]) -> None:
    """Both orders, of a dict that has the keys in the given order."""
    value = {key: place for place, key in enumerate(keys)}

    def text(order: list[str]) -> str:
        members = (f"{json.dumps(key, ensure_ascii=False)}:{value[key]}" for key in order)
        return "{" + ",".join(members) + "}"

    assert engine.canonical_json(value) == text(sorted(keys))
    for profile in ("jcs", "pleach"):
        assert engine.canonical_with(profile, value) == text(sorted(keys, key=utf16_units))


# -- order -----------------------------------------------------------------------------------------


def test_keys_are_ordered_by_code_point_in_the_overturn_profile(engine: ModuleType) -> None:
    value = {"\U0001f600": 1, "\ufb33": 2, "\uffff": 3, "é": 4, "z": 5, "": 6, "Z": 7, "10": 8}
    assert engine.canonical_json(value) == (
        '{"":6,"10":8,"Z":7,"z":5,"é":4,"\ufb33":2,"\uffff":3,"\U0001f600":1}'
    )


@pytest.mark.parametrize("profile", UTF16_PROFILES)
def test_keys_are_ordered_by_utf16_code_unit_in_the_others(
    engine: ModuleType, profile: str
) -> None:
    value = {"\ufb33": 2, "\uffff": 3, "\U0001f600": 1, "é": 4, "\ud7ff": 6, "\ue000": 7}
    assert engine.canonical_with(profile, value) == (
        '{"é":4,"\ud7ff":6,"\U0001f600":1,"\ue000":7,"\ufb33":2,"\uffff":3}'
    )


@pytest.mark.parametrize("profile", ["mcpulse", "pleach"])
def test_lone_surrogates_in_keys_are_ordered_as_the_units_they_are(
    engine: ModuleType, profile: str
) -> None:
    value = {"\ue000": 1, LOW: 2, "\U00010000": 3, HIGH: 4, HIGH + "A": 5, "中": 6}
    assert engine.canonical_with(profile, value) == (
        '{"中":6,"\\ud800":4,"\\ud800A":5,"\U00010000":3,"\\udfff":2,"\ue000":1}'
    )


def test_lone_surrogates_in_keys_come_by_code_point_in_the_overturn_profile(
    engine: ModuleType,
) -> None:
    value = {"\ue000": 1, LOW: 2, "\U00010000": 3, HIGH: 4, HIGH + "A": 5, "中": 6}
    assert engine.canonical_json(value) == (
        '{"中":6,"\\ud800":4,"\\ud800A":5,"\\udfff":2,"\ue000":1,"\U00010000":3}'
    )


def test_a_key_comes_before_those_that_it_begins(engine: ModuleType) -> None:
    for stem in ("", "a", "é", "中", "😀", "a" * 7, "a" * 8, "a" * 15, "a" * 16, "a" * 40):
        endings = ["", "\x00", "\x01", " ", "0", "A", "a", "\x7f", "\x80", "é", "\uffff", "😀"]
        check_order(engine, [stem + ending for ending in reversed(endings)])


def test_all_orders_of_a_few_keys_give_one_text(engine: ModuleType) -> None:
    keys = ["b", "a", "ab", "é", "\uffff", "😀"]
    texts = {
        engine.canonical_json(dict.fromkeys(order, 1)) for order in itertools.permutations(keys)
    }
    assert texts == {'{"a":1,"ab":1,"b":1,"é":1,"\uffff":1,"😀":1}'}


@pytest.mark.parametrize("alphabet", ["ab", "abcdefghijklmnopqrstuvwxyz_", "a é中\uffff😀"])
def test_any_number_of_keys_is_ordered(engine: ModuleType, alphabet: str) -> None:
    source = random.Random(alphabet)
    for count in [*range(0, 70), 100, 127, 128, 129, 255, 256, 257, 1_000, 5_000]:
        keys = {"".join(source.choices(alphabet, k=source.randrange(20))) for _ in range(count)}
        shuffled = list(keys)
        source.shuffle(shuffled)
        check_order(engine, shuffled)


def test_keys_that_differ_only_after_a_long_common_start_are_ordered(engine: ModuleType) -> None:
    source = random.Random(3)
    for length in (0, 1, 7, 8, 9, 31, 100, 1_000):
        keys = [f"{'k' * length}{number}" for number in range(200)]
        source.shuffle(keys)
        check_order(engine, keys)


def test_keys_in_sorted_or_reversed_order_are_ordered(engine: ModuleType) -> None:
    keys = [f"key-{number:05d}" for number in range(3_000)]
    check_order(engine, keys)
    check_order(engine, keys[::-1])


def test_the_order_of_members_is_that_of_each_object_alone(engine: ModuleType) -> None:
    inner = {"b": 1, "a": [{"d": 1, "c": 2}]}
    assert engine.canonical_json({"z": inner, "a": inner}) == (
        '{"a":{"a":[{"c":2,"d":1}],"b":1},"z":{"a":[{"c":2,"d":1}],"b":1}}'
    )


# -- text ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("profile", ["overturn", *STRICT_PROFILES])
def test_keys_are_escaped_but_not_trimmed(engine: ModuleType, profile: str) -> None:
    value = {" a ": 1, "\t": 2, 'q"\\': 3, "\x00": 4, "\u2028": 5, "/": 6}
    assert engine.canonical_with(profile, value) == (
        '{"\\u0000":4,"\\t":2," a ":1,"/":6,"q\\"\\\\":3,"\u2028":5}'
    )


class OddKey(str):
    """A str that lies about itself wherever a mapping or a sort could ask."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        raise AssertionError("compared")

    def __lt__(self, other: object) -> bool:
        raise AssertionError("compared")

    __gt__ = __le__ = __ge__ = __lt__

    def __hash__(self) -> int:
        return 7

    def __str__(self) -> str:
        return "no"

    __repr__ = __str__

    def encode(self, encoding: str = "utf-8", errors: str = "strict") -> bytes:
        return b"no"


class Field(str, enum.Enum):
    NAME = "name"
    TEXT = "é"


class Number(enum.IntEnum):
    TWO = 2


class Share(float, enum.Enum):
    HALF = 0.5


@pytest.mark.parametrize("profile", ["overturn", *STRICT_PROFILES])
def test_a_key_of_a_str_subclass_is_its_str_data(engine: ModuleType, profile: str) -> None:
    value = {Field.TEXT: 1, Field.NAME: 2, OddKey("b"): 3, "c": 4}
    assert engine.canonical_with(profile, value) == '{"b":3,"c":4,"name":2,"é":1}'


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (0, "0"),
        (-0.0, "0"),
        (10, "10"),
        (-7, "-7"),
        (2**64, "18446744073709551616"),
        (10**21, "1e+21"),
        (2**2000, "null"),
        (1.0, "1"),
        (1.5, "1.5"),
        (1e-7, "1e-7"),
        (2.0**60, "1152921504606846976"),
        (1e21, "1e+21"),
        (float("nan"), "null"),
        (float("-inf"), "null"),
        (True, "true"),
        (False, "false"),
        (None, "null"),
        (Number.TWO, "2"),
        (Share.HALF, "0.5"),
    ],
    ids=lambda key: str(key)[:20],
)
def test_a_key_that_is_a_number_or_a_word_is_its_json_text(
    engine: ModuleType, error_of: Any, key: object, text: str
) -> None:
    assert engine.canonical_json({key: "v"}) == f'{{"{text}":"v"}}'
    assert engine.canonical_json(MappingProxyType({key: "v"})) == f'{{"{text}":"v"}}'
    name = type(key).__qualname__ if type(key).__module__ == "builtins" else None
    name = name or f"{__name__}.{type(key).__qualname__}"
    for profile in STRICT_PROFILES:
        assert error_of(engine.canonical_with, profile, [{"a": 1, key: "v"}]) == (
            "KeyTypeError",
            f"$[0]: a key of type {name} has no text",
        )


def test_keys_become_text_before_they_are_ordered(engine: ModuleType) -> None:
    value = {10: "a", 9: "b", "1": "c", None: "d", True: "e", 2.5: "f", "null ": "g"}
    assert engine.canonical_json(value) == (
        '{"1":"c","10":"a","2.5":"f","9":"b","null":"d","null ":"g","true":"e"}'
    )


class Plain(enum.Enum):
    MEMBER = "member"


@pytest.mark.parametrize(
    ("key", "name"),
    [
        (b"x", "bytes"),
        ((1, 2), "tuple"),
        (frozenset(), "frozenset"),
        (uuid.UUID(int=1), "uuid.UUID"),
        (decimal.Decimal(1), "decimal.Decimal"),
        (datetime.date(2026, 1, 2), "datetime.date"),
        (Plain.MEMBER, f"{__name__}.Plain"),
        (1j, "complex"),
        (int, "type"),
        (object(), "object"),
        (..., "ellipsis"),
    ],
    ids=lambda key: type(key).__name__,
)
@pytest.mark.parametrize("profile", ["overturn", *STRICT_PROFILES])
def test_any_other_key_is_an_error_whatever_its_value(
    engine: ModuleType, error_of: Any, profile: str, key: object, name: str
) -> None:
    for value in ({key: 1}, {"a": 1, key: None}, {key: print, "b": 2}):
        assert error_of(engine.canonical_with, profile, {"at": value}) == (
            "KeyTypeError",
            f"$.at: a key of type {name} has no text",
        )


def test_numpy_keys_are_read_as_what_they_derive_from(engine: ModuleType, error_of: Any) -> None:
    numpy = pytest.importorskip("numpy")
    assert engine.canonical_json({numpy.float64(1.5): 1, numpy.str_("x"): 2}) == '{"1.5":1,"x":2}'
    for key in (numpy.int64(1), numpy.float32(1), numpy.bool_(True)):
        name = f"numpy.{type(key).__qualname__}"
        assert error_of(engine.canonical_json, {key: 1}) == (
            "KeyTypeError",
            f"$: a key of type {name} has no text",
        )


# -- keys with one text ----------------------------------------------------------------------------


class Pairs(Mapping[Any, Any]):
    """A mapping that gives its pairs as they are, equal keys included."""

    def __init__(self, *pairs: tuple[Any, Any]) -> None:
        self.pairs = pairs

    def __getitem__(self, key: Any) -> Any:
        raise KeyError(key)

    def __iter__(self) -> Iterator[Any]:
        return (key for key, _ in self.pairs)

    def __len__(self) -> int:
        return len(self.pairs)

    def items(self) -> Any:
        return list(self.pairs)


def as_dict(*pairs: tuple[Any, Any]) -> dict[Any, Any]:
    value = dict(pairs)
    assert len(value) == len(pairs), "the keys are equal to Python"
    return value


@pytest.mark.parametrize("build", [as_dict, Pairs])
@pytest.mark.parametrize(
    ("first", "second", "text"),
    [
        (1, "1", "1"),
        (1.5, "1.5", "1.5"),
        (True, "true", "true"),
        (None, "null", "null"),
        (float("nan"), None, "null"),
        (float("nan"), float("inf"), "null"),
        (10**21, "1e+21", "1e+21"),
        (2**60, "1152921504606846976", "1152921504606846976"),
        (2**2000, -(2**3000), "null"),
        (OddKey("k"), "k", "k"),
        (OddKey("é"), "é", "é"),
        ("\ud83d\ude00", "\U0001f600", "\U0001f600"),
        ("x\ud83d\ude00", OddKey("x\U0001f600"), "x\U0001f600"),
    ],
    ids=lambda key: ascii(key)[:20] if not isinstance(key, OddKey) else "odd",
)
def test_of_keys_with_one_text_the_last_one_counts(
    engine: ModuleType, build: Callable[..., object], first: object, second: object, text: str
) -> None:
    for earlier, later in ((first, second), (second, first)):
        value = build(("0", 0), (earlier, "earlier"), ("~", 1), (later, "later"))
        assert engine.canonical_json(value) == (
            engine.canonical_json({"0": 0, text: "later", "~": 1})
        )


@pytest.mark.parametrize("build", [as_dict, Pairs])
@pytest.mark.parametrize(("first", "second"), [(1, "1"), (None, "null"), ("\ud83d\ude00", "😀")])
def test_the_last_value_is_dropped_only_then(
    engine: ModuleType, build: Callable[..., object], first: object, second: object
) -> None:
    for earlier, later in ((first, second), (second, first)):
        for nothing in (None, print):
            kept = build(("a", None), (earlier, nothing), (later, "kept"), ("z", None))
            assert engine.canonical_json(kept) == engine.canonical_json({later: "kept"})
            dropped = build(("a", 1), (earlier, "lost"), (later, nothing), ("z", 2))
            assert engine.canonical_json(dropped) == '{"a":1,"z":2}'


def test_three_keys_with_one_text_leave_one(engine: ModuleType) -> None:
    for order in itertools.permutations([float("nan"), None, "null"]):
        value = {key: place for place, key in enumerate(order)}
        assert engine.canonical_json(value) == '{"null":2}'


def test_colliding_keys_among_many_others_are_found(engine: ModuleType) -> None:
    value = {**{str(number): "text" for number in range(300)}, **dict.fromkeys(range(300), "int")}
    expected = {str(number): "int" for number in range(300)}
    assert engine.canonical_json(value) == engine.canonical_json(expected)


@pytest.mark.parametrize("profile", STRICT_PROFILES)
def test_str_subclass_keys_with_one_text_leave_the_last_in_every_profile(
    engine: ModuleType, profile: str
) -> None:
    value = as_dict((OddKey("k"), 1), ("k", 2))
    assert engine.canonical_with(profile, value) == '{"k":2}'
    value = as_dict(("k", 1), (OddKey("k"), None))
    assert engine.canonical_with(profile, value) == '{"k":null}'


def test_mcpulse_keeps_a_pair_of_surrogates_and_its_character_apart(
    native: ModuleType, pure: ModuleType
) -> None:
    pair, character = "\ud83d\ude00", "\U0001f600"
    for value in ({pair: 1, character: 2}, {character: 2, pair: 1}):
        text = pure.canonical_with("mcpulse", value)
        assert text in ('{"\\ud83d\\ude00":1,"😀":2}', '{"😀":2,"\\ud83d\\ude00":1}')
        assert native.canonical_with("mcpulse", value) == text


@pytest.mark.parametrize("profile", ["mcpulse", "pleach", "overturn"])
def test_surrogates_in_keys_follow_the_rule_for_values(engine: ModuleType, profile: str) -> None:
    for text in ("\ud800", "a\udfff", "é\ud83d\ude00"):
        written = engine.canonical_with(profile, text)
        assert engine.canonical_with(profile, {text: 1}) == f"{{{written}:1}}"
