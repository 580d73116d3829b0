"""Shapes of Python objects, on both engines: rows, digests, profiles, errors."""

from __future__ import annotations

import array
import collections
import copy
import datetime
import decimal
import enum
import hashlib
import itertools
import json
import random
import types
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from parameter_ids import shown
from shape_generator import HUNDRED, PARTS, ShapeGenerator, digests

import overturn_fast
from overturn_fast import (
    CircularReferenceError,
    DepthError,
    KeyTypeError,
    SurrogateError,
    UnsupportedTypeError,
)
from overturn_fast._pure import fingerprints
from overturn_fast.shape import fingerprint, shape

Raised = Callable[..., tuple[str, str]]


# -- the profile seed ------------------------------------------------------------------------------


def test_the_pricing_object_has_the_fingerprint_of_the_essay(
    engine: ModuleType, data: Path
) -> None:
    pricing = {
        "sku": "pro-annual",
        "price_cents": 24000,
        "currency": "USD",
        "updated_at": "2026-07-13T08:15:02Z",
    }
    expected = "787c492befbf0c593299654384e16a3ef805df3c5d3efab1d899b7091a372f46"
    assert json.loads((data / "shape" / "seed.json").read_text())["pricing"] == expected
    assert engine.shape_fingerprint(pricing) == expected
    assert engine.shape_fingerprint(pricing | {"updated_at": "", "price_cents": 1.5}) == expected
    assert engine.shape_fingerprint(pricing | {"price_cents": "24000"}) != expected


def test_twenty_thousand_values_have_the_rows_and_digests_of_the_sketch(
    engine: ModuleType, data: Path
) -> None:
    expected = json.loads((data / "shape" / "seed.json").read_text())["expected"]
    for index, digest in enumerate(digests(engine.shape, engine.shape_fingerprint, SurrogateError)):
        assert digest == expected[index], f"values {index * HUNDRED} to {(index + 1) * HUNDRED}"


def test_rows_come_in_the_order_of_a_walk_with_keys_by_code_point(engine: ModuleType) -> None:
    value = {"b": {"y": 1, "x": None}, "a": True, "\ufb33": 1, "😀": 1, "Z": "", "": 0.5}
    assert engine.shape(value) == [
        ("$", "object"),
        ("$.", "number"),
        ("$.Z", "string"),
        ("$.a", "bool"),
        ("$.b", "object"),
        ("$.b.x", "null"),
        ("$.b.y", "number"),
        ("$.\ufb33", "number"),
        ("$.😀", "number"),
    ]


def test_rows_of_an_array_are_sorted_as_text_and_stand_once(engine: ModuleType) -> None:
    value = [{"a": {"x": 1}, "a-b": 1, "ab": [2]}, {"a": "s"}, {"a": None}, 1]
    assert engine.shape(value) == [
        ("$", "array"),
        ("$[]", "number"),
        ("$[]", "object"),
        ("$[].a", "null"),
        ("$[].a", "object"),
        ("$[].a", "string"),
        ("$[].a-b", "number"),
        ("$[].a.x", "number"),
        ("$[].ab", "array"),
        ("$[].ab[]", "number"),
    ]


def test_rows_outside_of_arrays_may_stand_twice(engine: ModuleType) -> None:
    assert engine.shape({"a": {"b": 1}, "a.b": 1}).count(("$.a.b", "number")) == 2
    assert engine.shape([{"a": {"b": 1}, "a.b": 1}]).count(("$[].a.b", "number")) == 1


def test_the_first_five_items_count(engine: ModuleType) -> None:
    assert engine.shape([1, 1, 1, 1, 1, None]) == [("$", "array"), ("$[]", "number")]
    assert engine.shape((1, 1, 1, 1, None, "")) == [
        ("$", "array"),
        ("$[]", "null"),
        ("$[]", "number"),
    ]
    nested = [[0] * 5 + [""]] * 5 + [None]
    assert engine.shape(nested) == [("$", "array"), ("$[]", "array"), ("$[][]", "number")]


def test_what_lies_past_the_fifth_item_is_not_looked_at(engine: ModuleType) -> None:
    cycle: list[Any] = [1, 2, 3, 4, 5]
    cycle.append(cycle)
    assert engine.shape(cycle) == [("$", "array"), ("$[]", "number")]


class Colour(str, enum.Enum):
    RED = "red"


class Number(int):
    pass


class Real(float):
    pass


class Text(str):
    __slots__ = ()

    def __str__(self) -> str:
        return "never asked"


class Level(enum.IntEnum):
    LOW = 1


class Items(list[Any]):
    def __getitem__(self, index: Any) -> Any:
        return ["other", None]


class Members(dict[str, Any]):
    def __iter__(self) -> Iterator[str]:
        return iter(["read", "so"])

    def __getitem__(self, key: str) -> Any:
        return len(key)


class Named:
    pass


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "null"),
        (True, "bool"),
        (10**400, "number"),
        (float("nan"), "number"),
        ("", "string"),
        (Colour.RED, "string"),
        (Number(1), "number"),
        (Real(1), "number"),
        (Level.LOW, "number"),
        (Text("x"), "string"),
        (b"x", "bytes"),
        (bytearray(b"x"), "bytearray"),
        (decimal.Decimal(1), "Decimal"),
        (datetime.date(2026, 1, 1), "date"),
        ({1}, "set"),
        (Named(), "Named"),
        (object(), "object"),
        (type("array", (), {})(), "array"),
        (type("a.b\nc", (), {})(), "a.b\nc"),
        (Named, "type"),
        (len, "builtin_function_or_method"),
    ],
    ids=shown,
)
def test_a_value_that_is_no_container_is_its_type(
    engine: ModuleType, value: object, expected: str
) -> None:
    assert engine.shape(value) == [("$", expected)]
    assert engine.shape({"k": [value, value]}) == [
        ("$", "object"),
        ("$.k", "array"),
        ("$.k[]", expected),
    ]


@pytest.mark.parametrize(
    "value",
    [
        collections.OrderedDict(b=1, a="x"),
        collections.UserDict(b=1, a="x"),
        types.MappingProxyType({"b": 1, "a": "x"}),
        collections.ChainMap({"b": 1}, {"a": "x"}),
        collections.defaultdict(int, b=1, a="x"),
        {Text("b"): 1, "a": "x"},
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_mapping_is_an_object(engine: ModuleType, value: object) -> None:
    expected = [("$", "object"), ("$.a", "string"), ("$.b", "number")]
    assert engine.shape(value) == engine.shape(value, profile="v2") == expected


@pytest.mark.parametrize(
    "value",
    [
        (1, "x"),
        collections.namedtuple("Point", "x y")(1, "x"),
        collections.UserList([1, "x"]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_sequence_is_an_array(engine: ModuleType, value: object) -> None:
    expected = [("$", "array"), ("$[]", "number"), ("$[]", "string")]
    assert engine.shape(value) == engine.shape(value, profile="v2") == expected


def test_sequences_that_can_be_sliced_are_read_by_a_slice(engine: ModuleType) -> None:
    assert engine.shape(range(1_000_000_000)) == [("$", "array"), ("$[]", "number")]
    assert engine.shape(memoryview(b"bytes")) == [("$", "array"), ("$[]", "number")]
    assert engine.shape(Items([1])) == [("$", "array"), ("$[]", "null"), ("$[]", "string")]


def test_a_subclass_of_dict_is_read_through_its_own_methods(engine: ModuleType) -> None:
    value = Members(hidden="x")
    assert engine.shape(value) == [("$", "object"), ("$.read", "number"), ("$.so", "number")]


def test_keys_that_are_no_str_are_sorted_as_they_are_and_written_as_text(
    engine: ModuleType,
) -> None:
    assert engine.shape({10: "", 9: None}) == [
        ("$", "object"),
        ("$.9", "null"),
        ("$.10", "string"),
    ]
    assert engine.shape([{10: "", 9: None}]) == [
        ("$", "array"),
        ("$[]", "object"),
        ("$[].10", "string"),
        ("$[].9", "null"),
    ]
    assert engine.shape({None: 1}) == [("$", "object"), ("$.None", "number")]
    assert engine.shape({(1, "a"): 1, (0,): 2}) == [
        ("$", "object"),
        ("$.(0,)", "number"),
        ("$.(1, 'a')", "number"),
    ]


def test_keys_of_str_subclasses_are_their_text(engine: ModuleType) -> None:
    assert engine.shape({Text("b"): 1, Colour.RED: 1, "c": 1}) == [
        ("$", "object"),
        ("$.b", "number"),
        ("$.c", "number"),
        ("$.red", "number"),
    ]


def test_the_digest_is_that_of_lines_of_path_and_type(engine: ModuleType) -> None:
    value = {"results": [{"url": "x", "n": 1}], "é": b""}
    lines = "\n".join(f"{path}:{name}" for path, name in engine.shape(value))
    assert engine.shape_fingerprint(value) == hashlib.sha256(lines.encode()).hexdigest()


# -- the profile v2 --------------------------------------------------------------------------------


def test_v2_quotes_keys_that_are_no_plain_words(engine: ModuleType) -> None:
    keys = ["plain-Key_9", "9", "-a", "a.b", "", "a b", "é", 'q"\\', "\n\x01", "\ud800", "a\x7f"]
    rows = engine.shape(dict.fromkeys(keys), profile="v2")
    assert rows == [
        ("$", "object"),
        ('$[""]', "null"),
        ('$["\\n\\u0001"]', "null"),
        ('$["-a"]', "null"),
        ('$["9"]', "null"),
        ('$["a b"]', "null"),
        ('$["a.b"]', "null"),
        ('$["a\x7f"]', "null"),
        ("$.plain-Key_9", "null"),
        ('$["q\\"\\\\"]', "null"),
        ('$["é"]', "null"),
        ('$["\\ud800"]', "null"),
    ]


def test_v2_has_each_row_once_in_the_order_of_the_keys(engine: ModuleType) -> None:
    value = [{"a-b": 1, "a": {"x": []}}, [2, [None]], {"a": "s"}, {"a": {"x": [1, 2]}}]
    assert engine.shape(value, profile="v2") == [
        ("$", "array"),
        ("$[]", "array"),
        ("$[]", "object"),
        ("$[].a", "object"),
        ("$[].a", "string"),
        ("$[].a.x", "array"),
        ("$[].a.x[]", "number"),
        ("$[].a-b", "number"),
        ("$[][]", "array"),
        ("$[][]", "number"),
        ("$[][][]", "null"),
    ]


def test_v2_counts_every_item(engine: ModuleType) -> None:
    value = [1] * 5000 + [None]
    assert engine.shape(value, profile="v2") == [
        ("$", "array"),
        ("$[]", "null"),
        ("$[]", "number"),
    ]


def test_v2_does_not_depend_on_the_order_of_keys_or_items(engine: ModuleType) -> None:
    members = {"a": 1, "b": [1, "x", {"c": None}], "c": {"d": {}, "e": ""}, "f": True}
    expected = engine.shape_fingerprint(members, profile="v2")
    for names in itertools.permutations(members):
        permuted: dict[str, Any] = {name: copy.copy(members[name]) for name in names}
        permuted["b"] = permuted["b"][::-1]
        assert engine.shape_fingerprint(permuted, profile="v2") == expected


def test_the_digest_of_v2_says_so_and_begins_with_a_line_of_its_own(engine: ModuleType) -> None:
    value = {"results": [{"url": "x", "n": 1}], "a b": [None, True]}
    rows = engine.shape(value, profile="v2")
    lines = "\n".join(["shape2", *(f"{path}:{name}" for path, name in rows)])
    expected = f"shape2:{hashlib.sha256(lines.encode()).hexdigest()}"
    assert engine.shape_fingerprint(value, profile="v2") == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([{"a": {}, "a.b": 1}], [{"a": {"b": 1}}]),
        ({"a": {"b": 1}}, {"a": {}, "a.b": 1}),
        ({"a:number\n$.b": 1}, {"a": 1, "b": 1}),
        ([[[]]], [[], {"[]": []}, [[]]]),
        ({"a": [1]}, {"a": [], "a[]": 1}),
        ({"k": b""}, {"k": type("string", (), {})()}),
        ({"a": object()}, {"a": {}}),
    ],
    ids=shown,
)
def test_v2_tells_apart_what_one_path_could_be_written_for(
    engine: ModuleType, one: object, other: object
) -> None:
    assert engine.shape_fingerprint(one, profile="v2") != engine.shape_fingerprint(
        other, profile="v2"
    )


def test_the_seed_does_not_tell_them_apart(engine: ModuleType) -> None:
    collide = [
        ({"a": {"b": 1}}, {"a": {}, "a.b": 1}),
        ({"a:number\n$.b": 1}, {"a": 1, "b": 1}),
        ({"a": object()}, {"a": {}}),
    ]
    for one, other in collide:
        assert engine.shape_fingerprint(one) == engine.shape_fingerprint(other)


def segments(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], str]]:
    """Paths as tuples, in which nothing can be taken for anything else."""
    yield path, {dict: "object", list: "array", str: "string", int: "number"}[type(value)]
    if isinstance(value, dict):
        for key, part in value.items():
            yield from segments(part, (*path, key))
    elif isinstance(value, list):
        for part in value:
            yield from segments(part, (*path, None))


HOSTILE = st.recursive(
    st.sampled_from([1, "x"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.lists(st.sampled_from([*PARTS, '"', "\\", "$", '["', '"]']), max_size=3).map(
                "".join
            ),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


@given(one=HOSTILE, other=HOSTILE)
def test_v2_digests_are_equal_exactly_if_the_sets_of_paths_and_types_are(
    one: object, other: object
) -> None:
    same = set(segments(one)) == set(segments(other))
    assert (fingerprint(one, profile="v2") == fingerprint(other, profile="v2")) is same
    assert len(shape(one, profile="v2")) == len(set(segments(one)))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (b"x", "<bytes>"),
        (bytearray(b"x"), "<bytearray>"),
        (memoryview(b"x"), "<memoryview>"),
        (decimal.Decimal(1), "<decimal.Decimal>"),
        (datetime.datetime(2026, 1, 1), "<datetime.datetime>"),
        ({1}, "<set>"),
        (object(), "<object>"),
        (Named(), "<test_shape.Named>"),
        (type("no name\n", (), {"__module__": "m"})(), '<"m.no name\\n">'),
        (collections.UserString("text"), "string"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_v2_marks_the_types_that_json_does_not_have(
    engine: ModuleType, value: object, expected: str
) -> None:
    assert engine.shape([value], profile="v2") == [("$", "array"), ("$[]", expected)]


def test_v2_reads_every_sequence_whether_it_can_be_sliced_or_not(engine: ModuleType) -> None:
    for value in (collections.deque([1, None]), collections.UserList([None, 1])):
        assert engine.shape(value, profile="v2") == [
            ("$", "array"),
            ("$[]", "null"),
            ("$[]", "number"),
        ]
    assert engine.shape(range(3), profile="v2") == [("$", "array"), ("$[]", "number")]


def test_v2_gives_other_keys_the_text_that_they_have_in_json(engine: ModuleType) -> None:
    value = {None: 1, True: 1, 5: 1, 2.5: 1, 1e21: 1}
    assert engine.shape(value, profile="v2") == [
        ("$", "object"),
        ('$["1e+21"]', "number"),
        ('$["2.5"]', "number"),
        ('$["5"]', "number"),
        ("$.null", "number"),
        ("$.true", "number"),
    ]
    assert engine.shape({1: "text", "1": None}, profile="v2") == [
        ("$", "object"),
        ('$["1"]', "null"),
    ]


def test_v2_reads_a_pair_of_surrogates_as_the_character(engine: ModuleType) -> None:
    assert engine.shape({"\ud83d\ude00": 1}, profile="v2") == [
        ("$", "object"),
        ('$["😀"]', "number"),
    ]
    both = {"\ud83d\ude00": 1, "😀": None}
    assert engine.shape(both, profile="v2") == [("$", "object"), ('$["😀"]', "null")]


# -- errors ----------------------------------------------------------------------------------------


def test_keys_that_cannot_be_sorted_are_an_error_that_names_the_path(
    engine: ModuleType, error_of: Raised
) -> None:
    with pytest.raises(KeyTypeError, match=r"^\$\.a\[1\]: its keys cannot be sorted$") as raised:
        engine.shape({"a": [1, {1: 1, "x": 2}]})
    assert isinstance(raised.value.__cause__, TypeError)
    assert error_of(engine.shape, {"a": {"b": {b"x": 1}}}, profile="v2") == (
        "KeyTypeError",
        "$.a.b: a key of type bytes has no text",
    )


def test_a_sequence_that_cannot_be_sliced_is_an_error_under_seed(engine: ModuleType) -> None:
    with pytest.raises(
        UnsupportedTypeError, match=r"^\$\.q: reading collections\.deque failed$"
    ) as raised:
        engine.shape({"p": 1, "q": collections.deque([1])})
    assert isinstance(raised.value.__cause__, TypeError)


def test_a_surrogate_in_a_key_has_rows_but_no_digest_under_seed(
    engine: ModuleType, error_of: Raised
) -> None:
    value = {"a": [{"b": {"x\ud800": 1}}], "c": 1}
    assert ("$.a[].b.x\ud800", "number") in engine.shape(value)
    assert error_of(engine.shape_fingerprint, value) == (
        "SurrogateError",
        "$.a[].b: a key of type str holds a lone surrogate",
    )
    assert error_of(engine.shape_fingerprint, {"\ud83d\ude00": 1})[0] == "SurrogateError"
    long = {"k" * 300: {"\udfff": 1}}
    message = error_of(engine.shape_fingerprint, long)[1]
    assert message == f"$.{'k' * 198}...: a key of type str holds a lone surrogate"
    assert engine.shape_fingerprint({"\ud800": 1}, profile="v2").startswith("shape2:")


def test_a_surrogate_in_the_name_of_a_type_has_no_digest_under_seed(
    engine: ModuleType, error_of: Raised
) -> None:
    class Meta(type):
        __name__ = property(lambda cls: "x\ud800")  # type: ignore[assignment]

    value = {"a": [Meta("x", (), {})(), b""]}
    assert engine.shape(value)[2:] == [("$.a[]", "bytes"), ("$.a[]", "x\ud800")]
    assert error_of(engine.shape_fingerprint, value)[0] == "SurrogateError"


def test_a_value_whose_code_raises_is_an_error_that_names_the_path(
    engine: ModuleType, error_of: Raised
) -> None:
    class Broken(Mapping[str, int]):
        def __getitem__(self, key: str) -> int:
            raise OSError("secret")

        def __iter__(self) -> Iterator[str]:
            return iter(["a"])

        def __len__(self) -> int:
            return 1

    for profile in ("seed", "v2"):
        kind, message = error_of(engine.shape, [0, {"k": Broken()}], profile=profile)
        assert kind == "UnsupportedTypeError"
        assert message.startswith("$[1].k: reading test_shape.")
        assert "secret" not in message


def test_what_stops_a_program_passes_through(engine: ModuleType) -> None:
    class Stopping(Mapping[str, int]):
        def __getitem__(self, key: str) -> int:
            raise KeyboardInterrupt

        def __iter__(self) -> Iterator[str]:
            return iter(["a"])

        def __len__(self) -> int:
            return 1

    with pytest.raises(KeyboardInterrupt):
        engine.shape({"a": Stopping()})


@pytest.mark.parametrize("profile", ["seed", "v2"])
def test_a_cycle_is_an_error_that_names_where_it_closes(
    engine: ModuleType, error_of: Raised, profile: str
) -> None:
    value: dict[str, Any] = {"a": [1, {"b": {}}]}
    value["a"][1]["b"]["c"] = value["a"]
    expected = ("CircularReferenceError", "$.a[1].b.c: list contains itself")
    assert error_of(engine.shape, value, profile=profile) == expected
    assert error_of(engine.shape_fingerprint, value, profile=profile) == expected
    proxied: dict[str, Any] = {}
    proxied["x"] = types.MappingProxyType(proxied)
    with pytest.raises((CircularReferenceError, DepthError)):
        engine.shape(proxied, profile=profile)


@pytest.mark.parametrize("profile", ["seed", "v2"])
def test_one_object_in_many_places_is_no_cycle(engine: ModuleType, profile: str) -> None:
    shared = {"x": [1]}
    value = {"a": shared, "b": [shared, shared], "c": {"d": shared}}
    assert engine.shape(value, profile=profile) == engine.shape(
        copy.deepcopy(value), profile=profile
    )


@pytest.mark.parametrize("profile", ["seed", "v2"])
def test_nesting_costs_memory_and_no_stack(
    engine: ModuleType, error_of: Raised, profile: str
) -> None:
    value: Any = 1
    for level in range(2000):
        value = [value] if level % 2 else {"k": value}
    rows = engine.shape(value, profile=profile)
    assert len(rows) == 2001
    assert rows[-1] == ("$" + "[].k" * 1000, "number")
    assert len(engine.shape_fingerprint(value, profile=profile)) >= 64
    assert engine.shape([[[]]], profile=profile, max_depth=3)
    assert error_of(engine.shape, [[[]]], profile=profile, max_depth=2) == (
        "DepthError",
        "$[0][0]: nesting exceeds max_depth=2",
    )


def of_row_bytes(size: int) -> dict[str, Any]:
    """An object with a long key, which the paths of 1,000 members spell out, and with so many bytes
    of rows: each has its path and its type, and one behind either."""
    key, names = "k" * (1 << 18), [f"f{number:03}" for number in range(1000)]
    paths = ["$", f"$.{key}", *(f"$.{key}.{name}" for name in names), "$."]
    types = ["object"] * 2 + ["number"] * 1001
    left = size - sum(map(len, paths)) - sum(map(len, types)) - 2 * len(paths)
    return {key: dict.fromkeys(names, 1), "z" * left: 1}


@pytest.mark.parametrize("profile", ["seed", "v2"])
@pytest.mark.parametrize("is_in_array", [False, True])
def test_rows_without_measure_are_refused(
    engine: ModuleType, error_of: Raised, profile: str, is_in_array: bool
) -> None:
    most = 1 << 28
    refused = "CanonicalizationError", "$: the rows of its shape have more than 268,435,456 bytes"
    if is_in_array:  # a row more, and two bytes more in each of the others; items count once
        value: Any = [of_row_bytes(most - len("$array") - 2 - 2 * 1003)] * 5
        larger: Any = [of_row_bytes(most - len("$array") - 1 - 2 * 1003)] * 5
    else:
        value, larger = of_row_bytes(most), of_row_bytes(most + 1)
    assert len(engine.shape_fingerprint(value, profile=profile)) >= 64
    assert error_of(engine.shape_fingerprint, larger, profile=profile) == refused
    assert error_of(engine.shape, larger, profile=profile) == refused
    deep: Any = 1
    for _ in range(5000):
        deep = {"k" * 200: deep}
    assert error_of(engine.shape_fingerprint, deep, profile=profile) == refused


def test_rows_without_measure_count_more_than_a_surrogate(
    engine: ModuleType, error_of: Raised
) -> None:
    value = {"\ud800": 1} | of_row_bytes((1 << 28) + 1)
    message = "$: the rows of its shape have more than 268,435,456 bytes"
    assert error_of(engine.shape_fingerprint, value) == ("CanonicalizationError", message)


def test_the_depth_of_the_default_is_that_of_every_function(engine: ModuleType) -> None:
    value: Any = {}
    for _ in range(9_999):
        value = [value]
    assert len(engine.shape_fingerprint(value, profile="v2")) == len("shape2:") + 64
    with pytest.raises(DepthError):
        engine.shape_fingerprint([value], profile="v2")


@pytest.mark.parametrize("function", ["shape", "shape_fingerprint"])
def test_arguments_are_checked(engine: ModuleType, error_of: Raised, function: str) -> None:
    called = getattr(engine, function)
    assert error_of(called, {}, profile="v1") == ("ValueError", 'profile must be "seed" or "v2"')
    assert error_of(called, {}, profile=2) == (
        "TypeError",
        'profile must be "seed" or "v2", not int',
    )
    assert error_of(called, {}, max_depth=0) == (
        "ValueError",
        "max_depth must be at least 1, not 0",
    )
    assert error_of(called, {}, max_depth="1")[0] == "TypeError"
    assert called({"a": 1}, profile="".join(["v", "2"])) == called({"a": 1}, profile="v2")
    assert called(obj={"a": 1}, profile=Text("seed")) == called({"a": 1})
    for bad in (lambda: called(), lambda: called({}, "seed"), lambda: called({}, other=1)):
        with pytest.raises(TypeError):
            bad()


# -- both engines ----------------------------------------------------------------------------------


def answer(function: Callable[..., object], value: object, profile: str) -> object:
    """The result, or class and message of the error."""
    try:
        return function(value, profile=profile)
    except overturn_fast.CanonicalizationError as error:
        return type(error), str(error)


KEYS = st.text(st.sampled_from("ab.[]\n-\ud800\udc00é"), max_size=4)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=3)
    | st.binary(max_size=2)
    | st.decimals()
    | st.sampled_from([Colour.RED, Number(3), Text("t"), collections.UserString("ab"), 1j, {1}])
    | st.builds(array.array, st.just("i"), st.lists(st.integers(0, 9), max_size=7)),
    lambda inner: (
        st.lists(inner, max_size=7)
        | st.lists(inner, max_size=3).map(tuple)
        | st.lists(inner, max_size=3).map(collections.deque)
        | st.dictionaries(KEYS, inner, max_size=12)
        | st.dictionaries(KEYS, inner, max_size=4).map(types.MappingProxyType)
        | st.dictionaries(KEYS, inner, max_size=4).map(collections.OrderedDict)
        | st.dictionaries(st.integers() | st.floats(allow_nan=False), inner, max_size=4)
        | st.dictionaries(
            KEYS | st.integers() | st.none() | st.binary(max_size=1), inner, max_size=3
        )
    ),
    max_leaves=30,
)


@given(value=VALUES)
def test_both_engines_agree_on_any_value(native: ModuleType, value: object) -> None:
    for profile in ("seed", "v2"):
        for name in ("shape", "shape_fingerprint"):
            given_by = [answer(getattr(e, name), value, profile) for e in (native, fingerprints)]
            assert given_by[0] == given_by[1], (profile, name)


def test_objects_of_many_keys_are_found_by_hash(native: ModuleType, pure: ModuleType) -> None:
    generator = ShapeGenerator(7)
    keys = [f"{generator.key()}{number}" for number in range(3000)]
    records = []
    for _ in range(40):
        names = generator.random.sample(keys, 500)
        records.append({name: generator.value(1, json=True) for name in names})
    for value in (records, records[0], {"a": records[:3]}, [dict.fromkeys(keys)] * 3):
        for profile in ("seed", "v2"):
            assert native.shape(value, profile=profile) == pure.shape(value, profile=profile)


def test_many_keys_that_begin_like_each_other_are_sorted_as_text(
    native: ModuleType, pure: ModuleType
) -> None:
    chance = random.Random(17)
    for count in (17, 40, 250, 2000):
        keys = [
            "".join(chance.choices("ab.[]-$Zé\u00ff\U0001f600", k=chance.randrange(12)))
            for _ in range(count)
        ]
        member = {key: chance.choice([1, "x", {"a": 1}, [1], {".a": {"b": 1}}]) for key in keys}
        for value in (member, [member], [[member], {"[]": member}]):
            for profile in ("seed", "v2"):
                rows = native.shape(value, profile=profile)
                assert rows == pure.shape(value, profile=profile)
                assert native.shape_fingerprint(value, profile=profile) == pure.shape_fingerprint(
                    value, profile=profile
                )
            assert native.shape([value]) == sorted(set(native.shape([value])))


def test_a_value_is_never_changed(engine: ModuleType) -> None:
    generator = ShapeGenerator(8)
    for _ in range(200):
        value = generator.value(5, json=True)
        before = copy.deepcopy(value)
        for profile in ("seed", "v2"):
            engine.shape(value, profile=profile)
        assert value == before


def test_a_hook_may_change_what_is_being_read(engine: ModuleType) -> None:
    class Emptying(Mapping[str, int]):
        def __init__(self, *victims: Any) -> None:
            self.victims = victims

        def __getitem__(self, key: str) -> int:
            return 1

        def __iter__(self) -> Iterator[str]:
            for victim in self.victims:
                victim.clear()
            return iter(["only"])

        def __len__(self) -> int:
            return 1

    for profile in ("seed", "v2"):
        for _ in range(200):
            inner: list[Any] = [{"k" * 3: [1, 2]}]
            outer: dict[str, Any] = {f"key{number}": number for number in range(20)}
            outer["inner"] = inner
            inner += [Emptying(inner, outer), {"never": "read"}]
            rows = engine.shape(outer, profile=profile)
            assert ("$.inner[].only", "number") in rows
            assert ("$.key7", "number") in rows
