"""What in Python values other SDKs may read otherwise.

The reasons that JSON text gives too are held against oracles in ``test_portability_oracle.py``;
here the others are, with the Overturn SDK 0.1.4 as the one that reads a value otherwise.
"""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import ipaddress
import pathlib
import random
import types
import uuid
from collections.abc import Callable, Iterable
from typing import Any

import compat_generator
import pydantic
import pytest
from overturn.fingerprint import canonical_json as sdk_canonical_json
from parameter_ids import shown
from text_generator import GENERATED

from overturn_fast import (
    CanonicalizationError,
    CircularReferenceError,
    DepthError,
    Finding,
    canonical_json,
    compat,
    portability,
)
from overturn_fast._reasons import EXPLANATIONS, Reason
from overturn_fast.audit import REASONS

UTC = datetime.timezone.utc


@dataclasses.dataclass
class Point:
    x: Any


@dataclasses.dataclass(slots=True)
class Slotted:
    x: Any


class Plain:
    def __init__(self, x: Any) -> None:
        self.x = x


class Model(pydantic.BaseModel):
    x: Any


class Color(str, enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    LOW = 1


class Kind(enum.Enum):
    A = "a"


class Loud(str):
    def strip(self, *_: Any) -> str:
        return "loud"


class Broken:
    @property
    def __dict__(self) -> Any:  # type: ignore[override]
        raise OSError("disk")


def reasons(value: object) -> list[str]:
    return [finding.reason for finding in portability(value)]


PORTABLE: list[Any] = [
    *(None, True, 0, 1.5, "a", [], {}, (), {"a": [1, {"b": None}]}, 2**53 - 1, 1e21, 1e300),
    *(decimal.Decimal("1.50"), Level.LOW, Color.RED, Point(1), Plain([1]), Model(x="a")),
    *(collections.OrderedDict(a=1), collections.UserDict(a=1), collections.deque([1])),
    *(datetime.datetime(2026, 1, 2, 3, 4, 5, 678000, UTC), range(3)),
    types.SimpleNamespace(x=(1, 2)),
]


@pytest.mark.parametrize("value", PORTABLE, ids=shown)
def test_a_value_that_the_sdk_reads_alike_has_no_finding(value: object) -> None:
    assert portability(value) == []
    assert canonical_json([value]) == sdk_canonical_json([value])


FOUND: list[tuple[Any, str]] = [
    (2**53, "large-integer"),
    (10**400, "large-integer"),
    (123456789012345680000.0, "integral-float"),
    (decimal.Decimal("123456789012345680000"), "integral-float"),
    (float("nan"), "not-finite"),
    (decimal.Decimal("-inf"), "not-finite"),
    ("x\x1c", "trim"),
    (collections.UserString("\ufeffx"), "trim"),
    ("\ud800", "surrogate"),
    ("\ud83d\ude00", "surrogate"),
    ({"\udc00": 1}, "key-surrogate"),
    ({"\ue000": 1, "\U0001f600": 2}, "key-order"),
    ({1: 1}, "key-type"),
    ({None: 1}, "key-type"),
    ({True: 1}, "key-type"),
    ({(1, 2): 1}, "key-type"),
    ({1}, "set"),
    (frozenset("a"), "set"),
    ({"a": 1}.keys(), "set"),
    (datetime.datetime(2026, 1, 2), "naive-datetime"),
    *((value, "no-json-form") for value in (
        b"x", bytearray(b"x"), memoryview(b"x"), 1j, fractions.Fraction(1, 2),
        datetime.timedelta(1), ValueError("x"), iter([1]), object(), {"a": 1}.values(),
        len, Point, portability, Broken(),
    )),
    *((value, "sdk-differs") for value in (
        uuid.UUID(int=1), datetime.date(2026, 1, 2), datetime.time(1, 2), pathlib.PurePath("a"),
        ipaddress.ip_address("127.0.0.1"), Slotted(1), {Color.RED: 1}, Loud("x"),
    )),
]  # fmt: skip


@pytest.mark.parametrize(("value", "reason"), FOUND, ids=shown)
def test_a_value_is_found_for_its_reason(value: object, reason: str) -> None:
    assert reasons(value) == [reason]
    assert portability({"a": [0, value]}) == [Finding("$.a[1]", reason)]


@pytest.mark.parametrize("value", [value for value, reason in FOUND if reason == "sdk-differs"],
                         ids=shown)  # fmt: skip
def test_the_sdk_makes_something_else_of_it(value: object) -> None:
    assert canonical_json([value]) != sdk_canonical_json([value])


def test_two_keys_of_one_text_collide() -> None:
    assert reasons({1: "a", "1": "b"}) == ["key-type", "key-collision"]
    assert reasons({"\ud83d\ude00": 1, "\U0001f600": 2}) == ["key-surrogate", "key-collision"]
    assert reasons({"\ud83d\ude00": 1, "\ue000": 2}) == ["key-surrogate", "key-order"]


def test_nesting_is_found_where_it_passes_300_levels() -> None:
    value: Any = []
    for _ in range(299):
        value = [value]
    assert portability(value) == []
    assert reasons([value]) == ["nesting"]
    assert reasons({"a": [[value]], "b": [value]}) == ["nesting", "nesting"]


def test_findings_come_in_the_order_of_the_value_with_a_path_each() -> None:
    value = {
        "a b": [1, Point({"n": 2**60}), {2**60}],
        7: (Slotted("x\x1f"),),
        ("k",): uuid.UUID(int=1),
    }
    assert portability(value) == [
        ("$", "key-type"),
        ('$["a b"][1].x.n', "large-integer"),
        ('$["a b"][2]', "set"),
        ('$["a b"][2][*]', "large-integer"),
        ('$["7"][0]', "sdk-differs"),
        ('$["7"][0].x', "trim"),
        ("$[*]", "sdk-differs"),
    ]


def test_a_container_is_not_blamed_for_what_is_in_it() -> None:
    inner = {"id": uuid.UUID(int=1)}
    for value in (Point(inner), Plain(inner), collections.UserDict(x=inner), Model(x=inner)):
        assert ("$.x.id", "sdk-differs") in portability(value)
    assert portability(Point(inner)) == [("$.x.id", "sdk-differs")]


def test_a_null_that_the_sdk_computes_is_not_left_out() -> None:
    class Nothing:
        def model_dump(self) -> None: ...

    assert reasons(Nothing()) == ["no-json-form"]

    class Root(pydantic.RootModel[Any]):
        pass

    assert sdk_canonical_json([Root(None)]) == "[null]" != canonical_json([Root(None)])
    assert reasons([Root(None)]) == ["sdk-differs"]


def test_what_an_encoder_returns_is_looked_at_instead() -> None:
    def encoder(value: object) -> object:
        return value.hex() if isinstance(value, bytes) else NotImplemented

    assert portability({"a": b"x", "b": uuid.UUID(int=1)}, encoder=encoder) == [
        ("$.b", "sdk-differs")
    ]
    assert portability(1j, encoder=lambda _: 2**60) == [("$", "large-integer")]


def test_what_an_encoder_raises_is_passed_on() -> None:
    def encoder(value: object) -> object:
        raise LookupError("lost")

    with pytest.raises(LookupError, match="lost"):
        portability([1j], encoder=encoder)


def cyclic_list() -> object:
    value: list[object] = [1]
    value.append({"again": value})
    return value


def cyclic_object() -> object:
    value = Plain(None)
    value.x = [value]
    return value


@pytest.mark.parametrize("make", [cyclic_list, cyclic_object], ids=["list", "object"])
def test_a_cycle_is_the_error_that_it_is_for_canonical_json(
    make: Callable[[], object], error_of: Callable[..., tuple[str, str]]
) -> None:
    value = make()
    assert error_of(portability, value) == error_of(canonical_json, value)
    with pytest.raises(CircularReferenceError):
        portability(value)


def test_a_conversion_that_never_ends_is_an_error(
    error_of: Callable[..., tuple[str, str]],
) -> None:
    def same(value: object) -> object:
        return value

    def another(_: object) -> object:
        return Plain(1)

    for encoder in (same, another):
        errors = {
            error_of(function, [object()], encoder=encoder, max_depth=50)
            for function in (portability, canonical_json)
        }
        assert len(errors) == 1


def test_nesting_past_max_depth_is_an_error(error_of: Callable[..., tuple[str, str]]) -> None:
    value: Any = 1
    for _ in range(50):
        value = {"a": [value]}
    assert portability(value, max_depth=100) == []
    with pytest.raises(DepthError):
        portability(value, max_depth=99)
    assert error_of(portability, value, max_depth=99) == error_of(
        canonical_json, value, max_depth=99
    )


def test_arguments_are_checked() -> None:
    with pytest.raises(TypeError, match="encoder must be callable or None, not int"):
        portability(1, encoder=5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="max_depth must be at least 1, not 0"):
        portability(1, max_depth=0)


def test_every_reason_is_explained_and_tested() -> None:
    assert set(EXPLANATIONS) == set(Reason)
    tested = {reason for _, reason in FOUND} | {"key-collision", "nesting"}
    assert tested == set(REASONS) == {reason.code for reason in Reason}


LEAVES: list[Callable[[random.Random], object]] = [
    lambda rng: rng.choice([None, True, 1, -5, 0.5, "a", " b ", "", 2**53, 10**21, 1e20, 10**22]),
    lambda rng: rng.choice([uuid.UUID(int=1), datetime.date(2026, 1, 2), decimal.Decimal("1.5")]),
    lambda rng: rng.choice(["\x1fa", "\ud800", "\ud83d\ude00", Color.RED, Level.LOW, Kind.A]),
    lambda rng: rng.choice([b"x", len, Loud("x"), bytearray(b"x"), object(), 1j, float("nan")]),
    lambda rng: datetime.datetime(2026, 1, 2, tzinfo=rng.choice([None, UTC])),
]
KEYS = ["a", "b", "a b", 1, "1", True, None, 1.5, Color.RED, "\ue000", "\U0001f600", "\ud800"]


def some_value(rng: random.Random, depth: int) -> Any:
    kind = rng.randrange(9)
    if not depth or kind < 3:
        return rng.choice(LEAVES)(rng)
    inner = [some_value(rng, depth - 1) for _ in range(rng.randrange(4))]
    if kind < 5:
        return {rng.choice(KEYS): value for value in inner}
    wrap: Callable[[Any], Any] = rng.choice(
        [list, tuple, collections.deque, Point, Plain, Slotted, lambda x: Model(x=x)]
    )
    return wrap(inner)


def sdk_text(value: object, otherwise: str) -> str:
    """What the SDK writes for a value; where it raises, what compat does not have to match."""
    try:
        return sdk_canonical_json(value)
    except Exception:
        return otherwise


def check_against_compat(values: Iterable[object]) -> tuple[int, int]:
    """Look for values on which compat differs without a finding; return two counts.

    How many differ, and how many have no finding.
    """
    differing = portable = 0
    for value in values:
        found = portability(value)
        try:
            ours = canonical_json([value])
        except CanonicalizationError:
            assert found, value
            continue
        theirs = compat.canonical_json([value])
        differing += ours != theirs
        portable += not found
        if not found:
            assert ours == theirs == sdk_text([value], ours), value
    return differing, portable


def test_every_value_on_which_compat_differs_has_a_finding() -> None:
    source = random.Random(20260302)
    values = (some_value(source, source.randrange(5)) for _ in range(4_000))
    differing, portable = check_against_compat(values)
    assert differing > 400
    assert portable > 400


def test_so_has_every_value_of_the_kinds_that_the_sdk_treats_each_in_its_own_way() -> None:
    source = random.Random(20260308)
    differing, portable = check_against_compat(
        compat_generator.value(source) for _ in range(GENERATED // 2)
    )
    assert differing > GENERATED // 40
    assert portable > GENERATED // 20
