"""Values that JSON has no form for: what each becomes, and which have none."""

from __future__ import annotations

import array
import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import ipaddress
import itertools
import json
import math
import os
import pathlib
import subprocess
import sys
import time
import types
import typing
import unittest.mock
import uuid
from collections.abc import Iterator, Mapping, Sequence, Set
from types import ModuleType
from typing import Any

import pytest
from parameter_ids import shown

STRICT_PROFILES = ["jcs", "jcs-double", "mcpulse", "pleach"]
UTC = datetime.timezone.utc


def no_form(value: object, path: str = "$") -> tuple[str, str]:
    """The error of a value whose type has no canonical form."""
    module, name = type(value).__module__, type(value).__qualname__
    shown = name if module == "builtins" else f"{module}.{name}"
    return "UnsupportedTypeError", f"{path}: {shown} has no canonical form"


# -- date and time ---------------------------------------------------------------------------------


def zone(**offset: float) -> datetime.timezone:
    return datetime.timezone(datetime.timedelta(**offset))


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (datetime.datetime(2026, 1, 2, 3, 4, 5), "2026-01-02T03:04:05.000Z"),
        (datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), "2026-01-02T03:04:05.000Z"),
        (datetime.datetime(2026, 1, 2, 3, 4, 5, 678999), "2026-01-02T03:04:05.678Z"),
        (datetime.datetime(2026, 1, 2, 3, 4, 5, 999), "2026-01-02T03:04:05.000Z"),
        (datetime.datetime(2026, 1, 2, 3, 4, 5, 999999), "2026-01-02T03:04:05.999Z"),
        (datetime.datetime(1969, 12, 31, 23, 59, 59, 999999), "1969-12-31T23:59:59.999Z"),
        (datetime.datetime(1, 1, 1), "0001-01-01T00:00:00.000Z"),
        (datetime.datetime(9999, 12, 31, 23, 59, 59, 999999), "9999-12-31T23:59:59.999Z"),
        (
            datetime.datetime(2017, 1, 10, 15, 15, 9, 500, tzinfo=zone(hours=9)),
            "2017-01-10T06:15:09.000Z",
        ),
        (
            datetime.datetime(2024, 2, 28, 20, 45, tzinfo=zone(hours=-5, minutes=-30)),
            "2024-02-29T02:15:00.000Z",
        ),
        (
            datetime.datetime(2026, 1, 1, tzinfo=zone(seconds=1, microseconds=1)),
            "2025-12-31T23:59:58.999Z",
        ),
        (datetime.datetime(2026, 6, 1, 12, fold=1), "2026-06-01T12:00:00.000Z"),
    ],
    ids=str,
)
def test_a_datetime_is_utc_with_milliseconds_cut_and_naive_is_utc(
    engine: ModuleType, moment: datetime.datetime, text: str
) -> None:
    assert engine.canonical_json(moment) == f'"{text}"'
    assert engine.canonical_json({"at": [moment]}) == f'{{"at":["{text}"]}}'


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the local zone cannot be set here")
def test_the_local_time_zone_plays_no_part(
    engine: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    moments = [datetime.datetime(2026, 7, 2, 3), datetime.datetime(2026, 7, 2, 3, tzinfo=UTC)]
    try:
        for zone_name in ("UTC", "XXX-05:30", "EST5EDT"):
            monkeypatch.setenv("TZ", zone_name)
            time.tzset()
            assert engine.canonical_json(moments) == (
                '["2026-07-02T03:00:00.000Z","2026-07-02T03:00:00.000Z"]'
            )
    finally:
        monkeypatch.undo()
        time.tzset()


def test_a_datetime_that_utc_cannot_express_is_an_error(engine: ModuleType, error_of: Any) -> None:
    moment = datetime.datetime(1, 1, 1, tzinfo=zone(hours=1))
    assert error_of(engine.canonical_json, {"at": moment}) == (
        "UnsupportedTypeError",
        "$.at: reading datetime.datetime failed",
    )


class Moment(datetime.datetime):
    def isoformat(self, *_: object, **__: object) -> str:
        return "no"

    def astimezone(self, tz: datetime.tzinfo | None = None) -> Moment:
        return self

    __str__ = isoformat  # type: ignore[assignment]


def test_a_datetime_subclass_is_a_datetime(engine: ModuleType) -> None:
    moment = Moment(2026, 1, 2, 3, tzinfo=zone(hours=1))
    assert engine.canonical_json(moment) == '"2026-01-02T02:00:00.000Z"'


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (datetime.date(2026, 1, 2), "2026-01-02"),
        (datetime.date(1, 1, 1), "0001-01-01"),
        (datetime.time(3, 4), "03:04:00"),
        (datetime.time(3, 4, 5, 678901), "03:04:05.678901"),
        (datetime.time(3, 4, 5, tzinfo=zone(hours=2)), "03:04:05+02:00"),
    ],
    ids=str,
)
def test_dates_and_times_are_in_iso_format(engine: ModuleType, value: object, text: str) -> None:
    assert engine.canonical_json([value]) == f'["{text}"]'


# -- values that are their str ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (uuid.UUID("12345678-1234-5678-1234-567812345678"), "12345678-1234-5678-1234-567812345678"),
        (pathlib.PurePosixPath("/a/b é"), "/a/b é"),
        (pathlib.PureWindowsPath("C:\\a\\b"), r"C:\\a\\b"),
        (pathlib.Path("a"), "a"),
        (ipaddress.ip_address("192.0.2.1"), "192.0.2.1"),
        (ipaddress.ip_address("2001:db8::1"), "2001:db8::1"),
        (ipaddress.ip_network("192.0.2.0/24"), "192.0.2.0/24"),
        (ipaddress.ip_network("2001:db8::/32"), "2001:db8::/32"),
        (ipaddress.ip_interface("192.0.2.1/24"), "192.0.2.1/24"),
    ],
    ids=str,
)
def test_identifiers_paths_and_addresses_are_their_text(
    engine: ModuleType, value: object, text: str
) -> None:
    assert engine.canonical_json(value) == f'"{text}"'


def test_a_path_is_trimmed_like_any_string(engine: ModuleType) -> None:
    assert engine.canonical_json(pathlib.PurePosixPath("a ")) == '"a"'


# -- numbers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "text"),
    [
        ("1.10", "1.1"),
        ("1E+3", "1000"),
        ("0.1", "0.1"),
        ("-0", "0"),
        ("0E+5", "0"),
        ("12345678901234567890", "12345678901234567168"),
        ("1e21", "1e+21"),
        ("1e400", "null"),
        ("-1e400", "null"),
        ("1e-400", "0"),
        ("NaN", "null"),
        ("-NaN123", "null"),
        ("sNaN", "null"),
        ("Infinity", "null"),
        ("-Infinity", "null"),
    ],
)
def test_a_decimal_is_its_float(engine: ModuleType, number: str, text: str) -> None:
    value = decimal.Decimal(number)
    assert engine.canonical_json(value) == text
    assert engine.canonical_json([1, value, {"a": value}]) == f'[1,{text},{{"a":{text}}}]'


# -- enumerations ----------------------------------------------------------------------------------


class Plain(enum.Enum):
    TEXT = " red "
    NUMBER = 3
    FLOAT = 2.0
    NOTHING = None
    LIST = (1, None, 2)
    MOMENT = datetime.date(2026, 1, 2)


class Outer(enum.Enum):
    INNER = Plain.TEXT


class Colour(str, enum.Enum):
    RED = "red"


class Access(enum.Flag):
    READ = 1
    WRITE = 2


class Corner(tuple, enum.Enum):  # type: ignore[type-arg]
    ORIGIN = (0, 0)


class Cost(decimal.Decimal, enum.Enum):
    LOW = "1.50"


def test_an_enum_member_is_its_value(engine: ModuleType) -> None:
    members = [Plain.TEXT, Plain.NUMBER, Plain.FLOAT, Plain.NOTHING, Plain.LIST, Plain.MOMENT]
    assert engine.canonical_json(members) == '["red",3,2,[1,2],"2026-01-02"]'
    assert engine.canonical_json([Outer.INNER, Access.READ | Access.WRITE]) == '["red",3]'
    assert engine.canonical_json([Colour.RED, Corner.ORIGIN, Cost.LOW]) == '["red",[0,0],1.5]'
    assert engine.canonical_json(Plain.NOTHING) == "null"
    assert engine.canonical_json({"a": Plain.NOTHING, "b": Plain.NUMBER}) == '{"b":3}'


# -- numpy -----------------------------------------------------------------------------------------


def test_numpy_scalars_are_their_python_values(engine: ModuleType) -> None:
    numpy = pytest.importorskip("numpy")
    values = [
        numpy.int8(-5),
        numpy.uint64(2**64 - 1),
        numpy.float64(1.5),
        numpy.float64("nan"),
        numpy.float32(0.1),
        numpy.float16(0.5),
        numpy.bool_(True),
        numpy.str_(" x "),
        numpy.datetime64("2026-01-02T03:04:05.678"),
        numpy.datetime64("2026-01-02"),
        numpy.float64(-0.0),
    ]
    assert engine.canonical_json(values) == (
        '[-5,18446744073709551615,1.5,null,0.10000000149011612,0.5,true,"x",'
        '"2026-01-02T03:04:05.678Z","2026-01-02",0]'
    )


def test_numpy_arrays_are_lists(engine: ModuleType) -> None:
    numpy = pytest.importorskip("numpy")
    assert engine.canonical_json(numpy.arange(6).reshape(2, 3)) == "[[0,1,2],[3,4,5]]"
    assert engine.canonical_json(numpy.array([])) == "[]"
    assert engine.canonical_json(numpy.array(7)) == "7"
    assert engine.canonical_json(numpy.array([1.5, math.nan])) == "[1.5,null]"
    assert engine.canonical_json(numpy.array([[True], [False]])) == "[[true],[false]]"
    assert engine.canonical_json(numpy.array(["a ", "b"])) == '["a","b"]'
    assert engine.canonical_json(numpy.array([None, {"b": {3, 1}}], dtype=object)) == (
        '[{"b":[1,3]}]'
    )


def test_numpy_values_without_a_python_value_are_errors(engine: ModuleType, error_of: Any) -> None:
    numpy = pytest.importorskip("numpy")
    for value in (numpy.longdouble(1.5), numpy.bytes_(b"x")):
        assert error_of(engine.canonical_json, value) == no_form(value)
    assert error_of(engine.canonical_json, {"a": numpy.complex128(1j)}) == (
        "UnsupportedTypeError",
        f"$.a: {no_form(numpy.complex128(1j))[1][3:]}",
    )
    assert error_of(engine.canonical_json, numpy.timedelta64(1, "s"))[0] == "UnsupportedTypeError"
    assert error_of(engine.canonical_json, [numpy.array([b"x"])]) == no_form(b"", "$[0][0]")


class Tensor:
    """Something like an array of numpy, from another library."""

    dtype = "float32"

    def __init__(self, *items: Any) -> None:
        self.items = items

    @property
    def ndim(self) -> int:
        return 1 if len(self.items) != 1 else 0

    def tolist(self) -> list[Any]:
        return list(self.items)

    def item(self) -> Any:
        return self.items[0]


def test_arrays_are_found_by_what_they_can_do(engine: ModuleType) -> None:
    assert engine.canonical_json([Tensor(1, 2.5), Tensor(3), Tensor()]) == "[[1,2.5],3,[]]"


def test_numpy_is_never_imported() -> None:
    code = (
        "import sys, overturn_fast as f; f.canonical_json([{1}, object, f.hash_json(1)]);"
        "sys.exit('numpy' in sys.modules or 'pydantic' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env=package_environment())


def package_environment() -> dict[str, str]:
    """An environment in which a new process finds the package that is tested here."""
    import overturn_fast

    folder = os.path.dirname(os.path.dirname(overturn_fast.__file__))
    path = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": folder + (os.pathsep + path if path else "")}


# -- sets ------------------------------------------------------------------------------------------


class OwnSet(Set):  # type: ignore[type-arg]
    """A set of any items, hashable or not, equal or not."""

    def __init__(self, *items: Any) -> None:
        self.content = items

    def __contains__(self, item: object) -> bool:
        return item in self.content

    def __iter__(self) -> Iterator[Any]:
        return iter(self.content)

    def __len__(self) -> int:
        return len(self.content)


@pytest.mark.parametrize("build", [set, frozenset, lambda items: OwnSet(*items)])
def test_a_set_is_an_array_sorted_by_the_text_of_its_items(engine: ModuleType, build: Any) -> None:
    assert engine.canonical_json(build([])) == "[]"
    assert engine.canonical_json(build([5])) == "[5]"
    assert engine.canonical_json(build([10, 9, 1.5, "b", "a", True])) == '["a","b",1.5,10,9,true]'
    assert engine.canonical_json({"s": build(range(20))}) == (
        "{" + '"s":[' + ",".join(sorted(map(str, range(20)))) + "]}"
    )
    assert engine.canonical_json(build(["é", "\uffff", "😀", "z", " a "])) == (
        '["a","z","é","\uffff","😀"]'
    )


def test_a_set_leaves_out_none_and_keeps_null_texts(engine: ModuleType) -> None:
    assert engine.canonical_json({None, 3, math.nan, 1, print}) == "[1,3,null]"
    assert engine.canonical_json(frozenset([None])) == "[]"
    assert engine.canonical_json(OwnSet(None, 2, None, 1, None)) == "[1,2]"


def test_items_of_a_set_with_one_text_are_all_written(engine: ModuleType) -> None:
    assert engine.canonical_json({" a", "a", "b"}) == '["a","a","b"]'
    assert engine.canonical_json({"1", 1}) == '["1",1]'


def test_sets_in_sets_and_around_them_are_sorted_too(engine: ModuleType) -> None:
    value = {frozenset([3, 1]), frozenset([frozenset(["b", "a"]), 2]), (9, 8), "x"}
    assert engine.canonical_json([value]) == '[["x",[1,3],[2,["a","b"]],[9,8]]]'
    assert engine.canonical_json(OwnSet({"b": {2, 1}}, {"a": OwnSet([], {})})) == (
        '[{"a":[[],{}]},{"b":[1,2]}]'
    )


def test_large_sets_are_sorted(engine: ModuleType) -> None:
    items = [f"{number:x}" * (1 + number % 7) for number in range(5_000)]
    texts = sorted(json.dumps(item) for item in set(items))
    assert engine.canonical_json(set(items)) == "[" + ",".join(texts) + "]"
    long = {"a" * 100_000, "b" * 50_000, "a" * 99_999}
    assert engine.hash_json(long) == engine.hash_json(OwnSet(*sorted(long)))


def test_key_views_are_sets_and_other_views_have_no_form(engine: ModuleType, error_of: Any) -> None:
    content = {"b": 1, "a": 2}
    for mapping in (content, collections.OrderedDict(content), collections.ChainMap(content)):
        assert engine.canonical_json({"k": mapping.keys()}) == '{"k":["a","b"]}'
        for view in (mapping.values(), mapping.items()):
            assert error_of(engine.canonical_json, {"k": view}) == no_form(view, "$.k")


# -- mappings and sequences ------------------------------------------------------------------------


class OwnMapping(Mapping[Any, Any]):
    def __init__(self, content: dict[Any, Any]) -> None:
        self.content = content

    def __getitem__(self, key: Any) -> Any:
        return self.content[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.content)

    def __len__(self) -> int:
        return len(self.content)


class OwnSequence(Sequence[Any]):
    def __init__(self, *content: Any) -> None:
        self.content = content

    def __getitem__(self, index: Any) -> Any:
        return self.content[index]

    def __len__(self) -> int:
        return len(self.content)


class ShoutingDict(dict):  # type: ignore[type-arg]
    """A dict that shows its values in another way than it holds them."""

    def items(self) -> Any:
        return [(key, str(value).upper()) for key, value in super().items()]


class DoubledList(list):  # type: ignore[type-arg]
    def __iter__(self) -> Iterator[Any]:
        return (2 * item for item in super().__iter__())


MAPPINGS = [
    dict,
    collections.OrderedDict,
    lambda content: collections.defaultdict(list, content),
    collections.UserDict,
    types.MappingProxyType,
    lambda content: collections.ChainMap({}, content),
    OwnMapping,
]


@pytest.mark.parametrize("build", MAPPINGS)
def test_every_mapping_is_an_object(engine: ModuleType, build: Any) -> None:
    value = build({"b": 1, "c": None, "a": [build({})]})
    assert engine.canonical_json(value) == '{"a":[{}],"b":1}'


@pytest.mark.parametrize("profile", ["jcs", "jcs-double", "pleach"])
@pytest.mark.parametrize("build", MAPPINGS)
def test_every_mapping_is_an_object_in_jcs_and_pleach_too(
    engine: ModuleType, profile: str, build: Any
) -> None:
    value = build({"b": 1, "c": None, "a": [build({})]})
    assert engine.canonical_with(profile, value) == '{"a":[{}],"b":1,"c":null}'


def test_mcpulse_takes_dicts_and_their_subclasses_only(engine: ModuleType, error_of: Any) -> None:
    for build in (dict, collections.OrderedDict, collections.Counter):
        assert engine.canonical_with("mcpulse", build({"b": 1, "a": 2})) == '{"a":2,"b":1}'
    for value in (collections.UserDict(a=1), types.MappingProxyType({}), OwnMapping({})):
        assert error_of(engine.canonical_with, "mcpulse", [value]) == no_form(value, "$[0]")


@pytest.mark.parametrize(
    "value",
    [
        [1, 2],
        (1, 2),
        collections.deque([1, 2]),
        collections.UserList([1, 2]),
        range(1, 3),
        array.array("i", [1, 2]),
        OwnSequence(1, 2),
        DoubledList([0.5, 1]),
        collections.namedtuple("Pair", "x y")(1, 2),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_sequence_is_an_array(engine: ModuleType, value: Any) -> None:
    assert engine.canonical_json({"v": value}) == '{"v":[1,2]}'


@pytest.mark.parametrize("profile", STRICT_PROFILES)
def test_the_other_profiles_take_lists_and_tuples_only(
    engine: ModuleType, error_of: Any, profile: str
) -> None:
    pair = collections.namedtuple("Pair", "x y")(1, None)
    assert engine.canonical_with(profile, [(1, None), pair]) == "[[1,null],[1,null]]"
    assert engine.canonical_with(profile, DoubledList([1])) == "[2]"
    for value in (
        collections.deque(),
        range(3),
        OwnSequence(),
        collections.UserList(),
        array.array("i"),
        set(),
        frozenset(),
        {}.keys(),
    ):
        assert error_of(engine.canonical_with, profile, [value]) == no_form(value, "$[0]")


def test_subclasses_of_containers_are_read_through_their_own_iteration(engine: ModuleType) -> None:
    assert engine.canonical_json(ShoutingDict(a="x", b="y")) == '{"a":"X","b":"Y"}'
    assert engine.canonical_json([DoubledList([1, 2])]) == "[[2,4]]"
    assert engine.canonical_with("mcpulse", ShoutingDict(a="x")) == '{"a":"X"}'


def test_a_tuple_of_names_is_an_array(engine: ModuleType) -> None:
    class Place(typing.NamedTuple):
        name: str
        size: int | None = None

    assert engine.canonical_json(Place(" x ")) == '["x"]'


# -- objects ---------------------------------------------------------------------------------------


@dataclasses.dataclass
class Point:
    x: int
    label: str | None = None
    tags: set[str] = dataclasses.field(default_factory=set)
    kind: typing.ClassVar[str] = "class"


@dataclasses.dataclass(frozen=True)
class SlottedPoint:
    __slots__ = ("_y", "x")
    x: int
    _y: Any


@dataclasses.dataclass
class Late:
    x: int
    never: int = dataclasses.field(init=False)


def test_a_dataclass_is_an_object_of_its_fields(engine: ModuleType) -> None:
    point = Point(1, " a ", {"b", "a"})
    assert engine.canonical_json(point) == '{"label":"a","tags":["a","b"],"x":1}'
    assert engine.canonical_json(SlottedPoint(1, SlottedPoint(2, None))) == '{"_y":{"x":2},"x":1}'
    assert engine.canonical_json([Late(1)]) == '[{"x":1}]'


def test_attributes_of_a_dataclass_that_are_no_fields_are_left_out(engine: ModuleType) -> None:
    point = Point(1)
    point.extra = 2  # type: ignore[attr-defined]
    assert engine.canonical_json(point) == '{"tags":[],"x":1}'


def test_a_dataclass_made_with_slots_is_an_object_of_its_fields(engine: ModuleType) -> None:
    made = dataclasses.make_dataclass("Made", ["b", "a"], slots=True)
    assert engine.canonical_json(made(1, 2.0)) == '{"a":2,"b":1}'


class Attributes:
    shared = "class attribute"

    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)

    @property
    def computed(self) -> int:
        raise AssertionError("read")

    def method(self) -> None: ...


class Slots:
    __slots__ = ("_hidden", "unset", "x")
    shared = "class attribute"

    def __init__(self, **attributes: Any) -> None:
        for name, value in attributes.items():
            setattr(self, name, value)


class MoreSlots(Slots):
    __slots__ = ("__private", "z")

    def __init__(self, private: Any, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.__private = private


class SlotsAndDict(Slots):
    pass


class OneSlot:
    __slots__ = "name"

    def __init__(self, name: Any) -> None:
        self.name = name


class WeakSlots:
    __slots__ = ("__dict__", "__weakref__", "x")


class NoSlots:
    __slots__ = ()


class IteratedSlots:
    __slots__ = iter(("x", "__own"))

    def __init__(self) -> None:
        self.x, self.__own = 1, 2


class __:  # a name without letters leaves private names as they are
    __slots__ = ("__own",)

    def __init__(self) -> None:
        self.__own = 1


def test_other_objects_are_their_instance_attributes(engine: ModuleType) -> None:
    value = Attributes(b=1, _a=" x ", __c=None, d=print, e=Attributes())
    assert engine.canonical_json(value) == '{"_a":"x","b":1,"e":{}}'
    assert engine.canonical_json(types.SimpleNamespace(b=1, a=2)) == '{"a":2,"b":1}'


def test_slots_are_instance_attributes(engine: ModuleType) -> None:
    assert engine.canonical_json(Slots(x=1, _hidden=2)) == '{"_hidden":2,"x":1}'
    assert engine.canonical_json(MoreSlots(3, x=1, z=2)) == '{"_MoreSlots__private":3,"x":1,"z":2}'
    assert engine.canonical_json(SlotsAndDict(x=1, y=2)) == '{"x":1,"y":2}'
    assert engine.canonical_json([OneSlot("a"), OneSlot(None)]) == '[{"name":"a"},{}]'
    assert engine.canonical_json([NoSlots(), Slots()]) == "[{},{}]"
    both = WeakSlots()
    both.x, both.y = 1, 2  # type: ignore[attr-defined]
    assert engine.canonical_json(both) == '{"x":1,"y":2}'


def test_slots_are_found_however_they_were_declared(engine: ModuleType) -> None:
    assert engine.canonical_json(IteratedSlots()) == '{"_IteratedSlots__own":2,"x":1}'
    assert engine.canonical_json(__()) == '{"__own":1}'


def test_an_object_without_attributes_has_no_form(engine: ModuleType, error_of: Any) -> None:
    for value in (object(), ..., NotImplemented, property(), collections.abc.Mapping.get.__code__):
        assert error_of(engine.canonical_json, {"a": [value]}) == no_form(value, "$.a[0]")


# -- pydantic --------------------------------------------------------------------------------------


def test_a_pydantic_model_is_what_it_dumps(engine: ModuleType) -> None:
    pydantic = pytest.importorskip("pydantic")

    class Inner(pydantic.BaseModel):
        when: datetime.datetime
        tags: set[str] = pydantic.Field(default_factory=set)

    class Model(pydantic.BaseModel):
        inner: Inner
        name: str = pydantic.Field(alias="theName")
        nothing: int | None = None

    model = Model(inner=Inner(when=datetime.datetime(2026, 1, 2), tags={"b", "a"}), theName=" n ")
    assert engine.canonical_json([model]) == (
        '[{"inner":{"tags":["a","b"],"when":"2026-01-02T00:00:00.000Z"},"name":"n"}]'
    )


def test_a_pydantic_root_model_is_its_root_value(engine: ModuleType) -> None:
    pydantic = pytest.importorskip("pydantic")
    assert engine.canonical_json(pydantic.RootModel[list[int]]([1, 2])) == "[1,2]"
    assert engine.canonical_json({"a": pydantic.RootModel[str](" x ")}) == '{"a":"x"}'
    assert engine.canonical_json(pydantic.RootModel[dict[str, int]]({"b": 1})) == '{"b":1}'


class Dumps:
    """A model of another library: anything with a model_dump."""

    def __init__(self, dumped: Any) -> None:
        self.dumped = dumped

    def model_dump(self) -> Any:
        return self.dumped


def test_anything_that_dumps_a_mapping_is_that_mapping(engine: ModuleType, error_of: Any) -> None:
    assert engine.canonical_json(Dumps({"b": 1, "a": None})) == '{"b":1}'
    assert engine.canonical_json(Dumps(OwnMapping({"b": Dumps({})}))) == '{"b":{}}'
    for dumped in ([1], "text", None, 3):
        value = Dumps(dumped)
        assert error_of(engine.canonical_json, [value]) == no_form(value, "$[0]")


# -- functions -------------------------------------------------------------------------------------


def generator_function() -> Iterator[int]:
    yield 1


async def coroutine_function() -> None: ...


FUNCTIONS = [
    generator_function,
    coroutine_function,
    lambda: None,
    Attributes().method,
    Attributes.method,
    print,
    [].append,
    str.upper,
    object.__init__,
    "".__len__,
    dict.fromkeys,
    dict.__dict__["fromkeys"],
    int,
    Attributes,
    Plain,
    Mapping,
    type,
    BaseException,
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: shown(function)[:30])
def test_functions_methods_and_classes_are_left_out_like_none(
    engine: ModuleType, error_of: Any, function: object
) -> None:
    assert engine.canonical_json(function) == "null"
    assert engine.canonical_json([1, function, 2]) == "[1,2]"
    assert engine.canonical_json({"a": function, "b": [function]}) == '{"b":[]}'
    for profile in STRICT_PROFILES:
        assert error_of(engine.canonical_with, profile, [function]) == no_form(function, "$[0]")


# -- values without a form -------------------------------------------------------------------------


class Bytes(bytes):
    pass


class Span(datetime.timedelta):
    pass


class Point2(complex):
    pass


def a_generator() -> Iterator[int]:
    yield 1


WITHOUT_FORM = [
    b"",
    b"x",
    Bytes(b"x"),
    bytearray(b"x"),
    memoryview(b"x"),
    1j,
    fractions.Fraction(1, 2),
    datetime.timedelta(1),
    Span(1),
    Point2(1j),
    ValueError("x"),
    KeyboardInterrupt(),
    json,
    a_generator(),
    iter([]),
    iter({}),
    map(str, []),
    zip([], [], strict=True),
    itertools.count(),
    {}.values(),
    {}.items(),
    unittest.mock.Mock(),
    unittest.mock.MagicMock(),
    unittest.mock.Mock(spec=["model_dump"]),
    object(),
]


@pytest.mark.parametrize("value", WITHOUT_FORM, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("profile", ["overturn", *STRICT_PROFILES])
def test_a_value_without_a_form_is_an_error_and_never_null(
    engine: ModuleType, error_of: Any, profile: str, value: object
) -> None:
    assert error_of(engine.canonical_with, profile, value) == no_form(value)
    assert error_of(engine.canonical_with, profile, [{"a": value}]) == no_form(value, "$[0].a")


def test_a_file_and_a_coroutine_have_no_form(engine: ModuleType, error_of: Any) -> None:
    with open(__file__, encoding="utf-8") as file:
        assert error_of(engine.canonical_json, file) == no_form(file)
        assert not file.closed
        assert file.readline().startswith('"""')
    coroutine = coroutine_function()
    assert error_of(engine.canonical_json, coroutine) == no_form(coroutine)
    coroutine.close()  # type: ignore[attr-defined]


def test_a_generator_is_not_run(engine: ModuleType, error_of: Any) -> None:
    generator = a_generator()
    error_of(engine.canonical_json, [generator])
    assert next(generator) == 1


@pytest.mark.parametrize(
    "value",
    [
        datetime.datetime(2026, 1, 2),
        datetime.date(2026, 1, 2),
        datetime.time(1),
        uuid.UUID(int=1),
        pathlib.PurePosixPath("a"),
        ipaddress.ip_address("192.0.2.1"),
        decimal.Decimal("1.5"),
        Plain.TEXT,
        Point(1),
        Attributes(a=1),
        Slots(x=1),
        Dumps({}),
        Tensor(1),
        functools.partial(print),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("profile", STRICT_PROFILES)
def test_what_only_the_overturn_profile_converts_is_an_error_in_the_others(
    engine: ModuleType, error_of: Any, profile: str, value: object
) -> None:
    engine.canonical_json(value)
    assert error_of(engine.canonical_with, profile, {"a": value}) == no_form(value, "$.a")


# -- None ------------------------------------------------------------------------------------------


def test_none_is_left_out_of_objects_and_arrays_and_null_at_the_top(engine: ModuleType) -> None:
    assert engine.canonical_json(None) == "null"
    assert engine.canonical_json([None]) == "[]"
    assert engine.canonical_json([None, 1, None, None, 2]) == "[1,2]"
    assert engine.canonical_json((None, (None,))) == "[[]]"
    assert engine.canonical_json({"a": None}) == "{}"
    assert engine.canonical_json({"a": None, "b": {"c": None}, "d": [None]}) == '{"b":{},"d":[]}'


@pytest.mark.parametrize("profile", STRICT_PROFILES)
def test_none_is_null_everywhere_in_the_other_profiles(engine: ModuleType, profile: str) -> None:
    assert engine.canonical_with(profile, None) == "null"
    assert engine.canonical_with(profile, [None, {"b": None, "a": (None,)}]) == (
        '[null,{"a":[null],"b":null}]'
    )


def test_the_same_object_twice_is_written_twice(engine: ModuleType) -> None:
    part = {"x": [Point(1)]}
    once = '{"x":[{"tags":[],"x":1}]}'
    assert engine.canonical_json([part, part, {"again": part}]) == (
        f'[{once},{once},{{"again":{once}}}]'
    )
