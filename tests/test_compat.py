"""``overturn_fast.compat`` against the Overturn SDK 0.1.4, whose values it has to have.

``OVERTURN_FAST_ORACLE_VALUES`` sets how many random values a run compares, 20,000 unless it says
otherwise.
"""

from __future__ import annotations

import collections
import datetime
import decimal
import hashlib
import importlib.metadata
import inspect
import json
import math
import os
import random
import sys
import unittest.mock
import uuid
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import compat_generator as generator
import pytest
from parameter_ids import shown
from test_profiles import check_field_case, evaluated, field_cases

import overturn_fast
from overturn_fast import CanonicalizationError, SurrogateError, UnsupportedTypeError, compat

pytest.importorskip("overturn.fingerprint")
# The package has a function of the name of its module.
sdk = sys.modules["overturn.fingerprint"]

VALUES = int(os.environ.get("OVERTURN_FAST_ORACLE_VALUES") or 20_000)
PARTS = max(8, VALUES // 20_000)  # of a run: a million values take longer than one test may

RAISED = "raised"


def result(function: Callable[..., Any], *args: Any) -> Any:
    """What a function returns, or that it raises an Exception."""
    try:
        return function(*args)
    except Exception:
        return RAISED


def compat_of(engine: ModuleType, name: str) -> Callable[..., Any]:
    function: Callable[..., Any] = getattr(engine, f"compat_{name}")
    return function


def check(engine: ModuleType, name: str, args: tuple[Any, ...]) -> bool:
    """Compare one function: the SDK's value, or where it raises, the default profile's answer."""
    expected = result(getattr(sdk, name), *args)
    raised = expected == RAISED
    if raised:
        expected = result(getattr(engine, name), *args)
    try:
        got = compat_of(engine, name)(*args)
    except SurrogateError:
        assert raised
        return True
    except (CanonicalizationError, TypeError, ValueError):
        got = RAISED
    assert got == expected, (name, args)
    return raised


FUNCTIONS = ["canonical_json", "hash_json", "fingerprint", "tool_fingerprint"]


def check_everywhere(engine: ModuleType, value: Any) -> None:
    for call in (("canonical_json", value), ("hash_json", value)):
        check(engine, call[0], call[1:])
    check(engine, "tool_fingerprint", ("t", value))
    for inside in ([value], {"a": value}, {"a": [None, {"b": value}]}):
        check(engine, "canonical_json", (inside,))
        check(engine, "tool_fingerprint", ("t", inside))


# -- random values ---------------------------------------------------------------------------------


@pytest.mark.parametrize("part", range(PARTS))
def test_random_values_have_the_sdks_text_and_digest(engine: ModuleType, part: int) -> None:
    source = random.Random(part if VALUES == 20_000 else None)
    seeds = [source.getrandbits(64) for _ in range(VALUES // PARTS // 2)]
    for seed in seeds:  # half of the values for each engine
        source.seed(seed)
        value = generator.value(source)
        try:
            if not check(engine, "canonical_json", (value,)):
                text = compat_of(engine, "canonical_json")(value)
                digest = result(lambda text=text: hashlib.sha256(text.encode()).hexdigest())
                assert result(compat_of(engine, "hash_json"), value) == digest
            check(engine, "fingerprint", generator.call(source, value))
        except AssertionError:
            pytest.fail(f"differs from the SDK: seed {seed}, {value!r}")


def test_most_random_values_are_some_that_the_sdk_has_a_value_for() -> None:
    source = random.Random(1)
    values = [generator.value(source) for _ in range(500)]
    raised = [result(sdk.canonical_json, value) == RAISED for value in values]
    assert 0 < sum(raised) < 50


# -- values by name --------------------------------------------------------------------------------


class SDKKey:
    """A key with a text of its own, and an order that must not be asked for."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text


class Unspeakable:
    def __str__(self) -> str:
        raise RuntimeError("no text")


class NoOffset(datetime.tzinfo):
    def utcoffset(self, moment: datetime.datetime | None) -> None:
        return None

    def dst(self, moment: datetime.datetime | None) -> None:
        return None

    def tzname(self, moment: datetime.datetime | None) -> None:
        return None


class OwnISO(datetime.datetime):
    def isoformat(self, *args: Any, **options: Any) -> str:
        return ' a "moment" '

    def astimezone(self, tz: Any = None) -> Any:
        return self


class OwnDict(dict[str, Any]):
    def items(self) -> Any:
        return [("from items", 1)]


class Dumped:
    """``model_dump`` as an attribute that is no method, and attributes of its own."""

    def __init__(self, dump: Any) -> None:
        self.model_dump = dump


class DictProperty:
    __slots__ = ()

    @property
    def __dict__(self) -> Any:  # type: ignore[override]
        return [1, 2]


NAMED: list[Any] = [
    None,
    True,
    {1: "a", "1": "b"},
    {1: "a", "1": None},
    {1: None, "1": "b"},
    {1: None, "1": None},
    {"1": [1, 2], 1: {"x": 1}, SDKKey("1"): 3},
    {True: 1, "True": 2, None: 3, "None": 4, 1.5: 5, (1, 2): 6, b"k": 7},
    {SDKKey("b"): 1, SDKKey("a"): 2, SDKKey("b"): 3, "a": None},
    {Unspeakable(): 1},
    {SDKKey("\ud800"): 1},
    {"\ud83d\ude00": " \ud83d\ude00 "},
    {"\ud83d": 1, "\ue000": 2, "😀": 3},
    {"\ud83d": None, SDKKey("\ud83e"): None},
    {"\ud83e": None, SDKKey("\ud83e"): 1},
    {"\ud83e": 1, SDKKey("\ud83e"): None},
    10**22,
    -(10**22),
    10**4299,
    -(2**63),
    2**63,
    2**64,
    datetime.datetime(2026, 1, 2, 3, 4, 5, 678999),
    datetime.datetime(2026, 1, 2, tzinfo=NoOffset()),
    datetime.datetime(1, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=1))),
    OwnISO(2026, 1, 2),
    decimal.Decimal("sNaN"),
    decimal.Decimal("1e400"),
    generator.Money(1.234),
    generator.Money(0.001),
    generator.Money(-1.5),
    generator.Money(1e22),
    generator.Money(-0.0),
    generator.Money(math.nan),
    OwnDict(a=1),
    Dumped(lambda: None),
    Dumped(lambda: [None, 1]),
    Dumped(3),
    DictProperty(),
    [Dumped(lambda: None), None],
    {"a": Dumped(lambda: None), "b": None},
    collections.UserString(""),
    collections.UserString("ab"),
    collections.Counter("aab"),
    collections.ChainMap({"a": 1}, {"b": None}),
    memoryview(b"abcd").cast("I"),
    (item for item in []),
    generator.Shade,
    generator.Shade.DARK,
    [b"x", "\ud800"],
    [uuid.UUID(int=1), generator.Shade.DARK],
    unittest.mock.Mock(spec=dict),
    '/\x7f\u2028"\\\x01',
]


@pytest.mark.parametrize("value", NAMED, ids=[type(value).__name__ for value in NAMED])
def test_a_value_is_that_of_the_sdk(engine: ModuleType, value: Any) -> None:
    check_everywhere(engine, value)


def test_numpy_values_are_those_of_the_sdk(engine: ModuleType) -> None:
    numpy = pytest.importorskip("numpy")
    for value in (
        numpy.float64(1.5),
        numpy.float64(2.0),
        numpy.float64("nan"),
        numpy.float32(1.5),
        numpy.int64(3),
        numpy.bool_(True),
        numpy.str_(" a "),
        numpy.array([1, 2]),
        [numpy.float64(1.5), b"x"],
        [numpy.float64(1.5), uuid.UUID(int=1)],
        {numpy.int64(3): 1, numpy.float64(0.5): 2},
    ):
        check_everywhere(engine, value)


def test_pydantic_models_are_those_of_the_sdk(engine: ModuleType) -> None:
    pydantic = pytest.importorskip("pydantic")

    class Item(pydantic.BaseModel):  # type: ignore[name-defined, misc]
        id: uuid.UUID
        name: str = " n "
        nested: dict[str, Any] | None = None

    class Root(pydantic.RootModel[Any]):  # type: ignore[name-defined, misc]
        pass

    item = Item(id=uuid.UUID(int=1), nested={"a": None, "b": b"x"})
    for value in (item, Root([item, None]), Root(None), Item):
        check_everywhere(engine, value)


def test_an_object_that_turns_into_another_one_without_end_is_an_error(
    engine: ModuleType, error_of: Any
) -> None:
    for mock in (unittest.mock.Mock(), unittest.mock.MagicMock()):
        name = f"unittest.mock.{type(mock).__name__}"
        assert error_of(compat_of(engine, "hash_json"), {"a": mock}) == (
            "UnsupportedTypeError",
            f"$.a: {name} has no canonical form",
        )


@pytest.mark.parametrize("count", [1, 99, 100, 101, 102, 200, 290])
def test_a_value_may_turn_into_another_one_a_hundred_times(engine: ModuleType, count: int) -> None:
    value: Any = " text "
    for _ in range(count):
        value = generator.Model(value)
    canonical_json = compat_of(engine, "canonical_json")
    if count <= 100:
        assert canonical_json(value) == '"text"' == sdk.canonical_json(value)
    else:
        with pytest.raises(UnsupportedTypeError, match="Model has no canonical form"):
            canonical_json(value)


def test_an_int_with_more_digits_than_str_writes_is_that_of_the_default_profile(
    engine: ModuleType,
) -> None:
    for value in (10**5_000, -(10**5_000), {10**5_000: 1}):
        check_everywhere(engine, value)


def test_a_lone_surrogate_stays_in_the_text_and_has_no_digest(
    engine: ModuleType, error_of: Any
) -> None:
    assert compat_of(engine, "canonical_json")("\ud800") == '"\ud800"'
    assert compat_of(engine, "canonical_json")({"\udfff": " \ud83d\ude00"}) == (
        '{"\udfff":"\ud83d\ude00"}'
    )
    hash_json, fingerprint = compat_of(engine, "hash_json"), compat_of(engine, "fingerprint")
    for call, message in (
        ((hash_json, ["\ud800"]), "$[0]: str holds a lone surrogate"),
        ((hash_json, {"a": {"\ud800": 1}}), "$.a: a key of type str holds a lone surrogate"),
        ((fingerprint, "k", "\ud800", {}), "kind or name holds a lone surrogate"),
        ((fingerprint, "\ud800", "n", {}), "kind or name holds a lone surrogate"),
    ):
        assert error_of(*call) == ("SurrogateError", message)


def test_a_cycle_is_named(engine: ModuleType, error_of: Any) -> None:
    value: dict[str, Any] = {"a": {}}
    value["a"]["b"] = value
    for name in ("canonical_json", "hash_json"):
        assert error_of(compat_of(engine, name), value) == (
            "CircularReferenceError",
            "$.a.b: dict contains itself",
        )


# -- selection -------------------------------------------------------------------------------------


DECLARED: list[Any] = [
    None,
    [],
    (),
    ["a"],
    ("a", "missing"),
    {"a"},
    "",
    "ab",
    "a",
    {"a": 1},
    [1],
    [None, "a"],
    [["unhashable"]],
    7,
    range(3),
    ["a"] * 20,
]


@pytest.mark.parametrize("match_on", DECLARED, ids=[shown(names) for names in DECLARED])
@pytest.mark.parametrize("ignore_args", DECLARED, ids=[shown(names) for names in DECLARED])
def test_arguments_are_selected_as_the_sdk_selects_them(
    engine: ModuleType, match_on: Any, ignore_args: Any
) -> None:
    for args in (
        {"a": 1, "b": 2, "ab": 3},
        {1: 1, "a": None},
        collections.OrderedDict(a=1, b=2),
        OwnDict(a=1),
        generator.Pairs([("a", 1), ("a", 2)]),
        generator.Order("a"),
        [1],
        None,
    ):
        call = ("t", args, match_on, ignore_args)
        check(engine, "tool_fingerprint", call)
        check(engine, "fingerprint", ("kind\nname", *call))
        expected = result(sdk.select_args, *call[1:])
        assert result(compat.select_args, *call[1:]) == expected


def test_names_that_can_be_read_once_only_are_read_as_the_sdk_reads_them(
    engine: ModuleType,
) -> None:
    compute = compat_of(engine, "tool_fingerprint")
    args = {"a": 1, "b": 2, "c": 3}
    for names in ("a", "ab", "ba", "x", ""):
        expected = sdk.tool_fingerprint("t", args, iter(names))
        assert compute("t", args, iter(names)) == expected
        expected = sdk.tool_fingerprint("t", args, None, iter(names))
        assert compute("t", args, None, iter(names)) == expected
    # Where the SDK raises, the default profile selects by the same names.
    args["a"] = generator.Shade.DARK  # type: ignore[assignment]
    expected = engine.tool_fingerprint("t", args, ["a"])
    assert compute("t", args, iter(["a"])) == expected


def test_kinds_and_names_are_formatted_as_the_sdk_formats_them(engine: ModuleType) -> None:
    for kind in ("tool_call", "a\nb", 7, None, generator.Word.A, generator.Text("k"), "\ud800"):
        for name in ("t", "", "é", 7, None, generator.Word.A, generator.Loud("x"), "\udfff"):
            check(engine, "fingerprint", (kind, name, {"a": 1}))


# -- depth -----------------------------------------------------------------------------------------


def nested(levels: int, value: Any, kind: str = "list") -> Any:
    for _ in range(levels):
        if kind == "list":
            value = [value]
        elif kind == "dict":
            value = {"k": value}
        else:
            value = generator.Order(value)
    return value


@pytest.mark.parametrize("kind", ["list", "dict", "object"])
@pytest.mark.parametrize("inside", [1, "x", b"x", uuid.UUID(int=1)], ids=shown)
def test_depth_up_to_where_the_sdk_reaches_has_its_value(
    engine: ModuleType, kind: str, inside: Any
) -> None:
    """Past that depth the default profile's value, or its error: never a null in its place."""
    reached = set()
    for levels in (90, 99, 100, 101, 150, 200, 1000, 1500):
        reached.add(not check(engine, "canonical_json", (nested(levels, inside, kind),)))
        check(engine, "tool_fingerprint", ("t", {"a": nested(levels, inside, kind)}))
    assert reached == {True, False}


@pytest.mark.parametrize("kind", ["list", "dict", "object"])
def test_the_depth_at_which_the_sdk_gives_up_is_met_within_three_levels(
    engine: ModuleType, kind: str
) -> None:
    compute = compat_of(engine, "canonical_json")
    deepest, too_deep = 100, 600
    while too_deep - deepest > 1:
        levels = (deepest + too_deep) // 2
        if result(sdk.canonical_json, nested(levels, uuid.UUID(int=1), kind)) == RAISED:
            too_deep = levels
        else:
            deepest = levels
    for levels in (deepest - 3, deepest + 3):
        value = nested(levels, uuid.UUID(int=1), kind)
        assert ("null" in compute(value)) == (levels < deepest)


@pytest.mark.parametrize("kind", ["list", "dict", "object"])
def test_under_another_limit_of_recursion_the_sdk_reaches_another_depth(
    engine: ModuleType, kind: str
) -> None:
    before = sys.getrecursionlimit()
    for room in (200, 900):
        sys.setrecursionlimit(len(inspect.stack()) + room)
        try:
            reached = [
                check(engine, "canonical_json", (nested(levels, uuid.UUID(int=1), kind),))
                for levels in (25, room // 5, room // 2)
            ]
        finally:
            sys.setrecursionlimit(before)
        assert reached == [False, False, True]


def test_bytes_below_any_depth_are_null_or_an_error(engine: ModuleType) -> None:
    compute = compat_of(engine, "canonical_json")
    assert compute(nested(50, b"x")) == "[" * 50 + "null" + "]" * 50
    for levels in (1_000, 5_000):
        with pytest.raises(UnsupportedTypeError):
            compute(nested(levels, b"x"))


def test_nesting_is_limited_by_max_depth_alone(engine: ModuleType, error_of: Any) -> None:
    compute = compat_of(engine, "canonical_json")
    assert compute(nested(9_000, 1)) == "[" * 9_000 + "1" + "]" * 9_000
    assert error_of(compute, nested(5, 1), max_depth=4) == (
        "DepthError",
        "$[0][0][0][0]: nesting exceeds max_depth=4",
    )
    assert compute(nested(5, 1), max_depth=5) == "[[[[[1]]]]]"


# -- further rules ---------------------------------------------------------------------------------


def test_an_encoder_is_asked_first_for_what_is_no_json_type(engine: ModuleType) -> None:
    def encoder(value: object) -> object:
        if isinstance(value, uuid.UUID):
            return {"uuid": value.int}
        return None if isinstance(value, bytes) else NotImplemented

    value = [uuid.UUID(int=7), b"x", datetime.date(2026, 1, 2), generator.Text("t"), None]
    text = compat_of(engine, "canonical_json")(value, encoder=encoder)
    assert text == '[{"uuid":7},null,null,"t"]'


def test_what_an_encoder_raises_is_passed_on(engine: ModuleType) -> None:
    def encoder(value: object) -> object:
        raise LookupError("nothing known")

    for name, args in (("canonical_json", ()), ("tool_fingerprint", ("t",))):
        with pytest.raises(LookupError, match="nothing known"):
            compat_of(engine, name)(*args, [b"x"], encoder=encoder)


def test_what_an_encoder_raises_is_final(engine: ModuleType) -> None:
    asked = []

    def encoder(value: object) -> object:
        asked.append(value)
        raise LookupError("nothing known")

    for name, args in (("canonical_json", ()), ("hash_json", ()), ("tool_fingerprint", ("t",))):
        asked.clear()
        with pytest.raises(LookupError):
            compat_of(engine, name)(*args, {"a": b"x", "b": 1j}, encoder=encoder)
        assert asked == [b"x"]


def test_what_stops_a_program_is_passed_on(engine: ModuleType) -> None:
    class Stops:
        def model_dump(self) -> None:
            raise KeyboardInterrupt

        def __str__(self) -> str:
            raise KeyboardInterrupt

    for value in (Stops(), {Stops(): 1}):
        with pytest.raises(KeyboardInterrupt):
            compat_of(engine, "hash_json")([value])


def test_a_dict_that_changes_while_its_keys_are_read_is_read_as_it_was(
    engine: ModuleType,
) -> None:
    value: dict[Any, Any] = {}

    class Clears:
        def __str__(self) -> str:
            value.clear()
            return "k"

    value.update({Clears(): [1], "a": "x" * 5, "b": object})
    text = engine.canonical_with("compat", {"outer": value})
    assert text.startswith('{"outer":{"a":"xxxxx","b":{')
    assert not value


def test_the_input_is_not_changed(engine: ModuleType) -> None:
    value = {"b": [1, None, {"c": " x "}], 1: {2, 3}, "1": None}
    before = repr(value)
    compat_of(engine, "tool_fingerprint")("t", value, None, ["b"])
    assert repr(value) == before


def test_the_names_are_those_of_the_sdk() -> None:
    public = {name for name in sdk.__dict__ if name in ("FINGERPRINT_VERSION", "select_args")}
    assert public | set(FUNCTIONS) == set(compat.__all__)
    assert compat.FINGERPRINT_VERSION == sdk.FINGERPRINT_VERSION
    assert compat.tool_fingerprint is overturn_fast._backend.engine.compat_tool_fingerprint


def test_the_field_cases_of_the_sdk(engine: ModuleType, data: Path) -> None:
    rows = field_cases(data, "compat")
    assert len(rows) == 22
    for row in rows:
        if "expect_error" in row:
            check_field_case(row, compat_of(engine, "hash_json"))
            continue
        check_field_case(row, compat_of(engine, "canonical_json"))
        if "fingerprint" in row:
            digest = compat_of(engine, "tool_fingerprint")(
                row["fingerprint"]["tool"], evaluated(row)
            )
            assert digest == row["fingerprint"]["digest"], row["id"]


def test_the_sdk_is_of_the_version_that_compat_follows() -> None:
    assert importlib.metadata.version("overturn") == "0.1.4"


def test_json_text_of_the_sdks_own_vectors_is_the_sdks(engine: ModuleType) -> None:
    text = json.loads('{"a": 1.0, "b": -0.0, "c": null, "d": 1e22, "e": [null, " x "]}')
    assert compat_of(engine, "tool_fingerprint")("t", text) == sdk.tool_fingerprint("t", text)
