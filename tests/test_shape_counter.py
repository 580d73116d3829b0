"""Counters of shapes: the native one and its twin hold the same, whatever they are given."""

from __future__ import annotations

import collections
import enum
import gc
import json
import random
import threading
import types
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shape_generator import ShapeGenerator
from text_generator import Generator

from overturn_fast import CanonicalizationError, DepthError, JSONTextError, KeyTypeError
from overturn_fast._pure import fingerprints
from overturn_fast._pure.shape_counter import ShapeCounter

Raised = Callable[..., tuple[str, str]]

COUNTS, FIRST, LAST, INTEGERS, EMPTY, FEWEST, MOST, CUT, FIELDS, ITEMS, VARIANTS = range(11)


def responses(seed: int, count: int, depth: int = 5) -> list[Any]:
    generator = ShapeGenerator(seed)
    return [generator.value(generator.random.randrange(depth), json=True) for _ in range(count)]


def line_of(value: Any) -> bytes:
    return json.dumps(value).replace("Infinity", "1e999").encode()


def state(counter: Any) -> tuple[Any, int, int]:
    return counter.export(), counter.size, counter.observations


def pair(native: ModuleType, **options: Any) -> tuple[Any, Any]:
    return native.shape_counter(**options), fingerprints.shape_counter(**options)


# -- what is counted -------------------------------------------------------------------------------


def test_a_counter_says_what_was_at_each_path(engine: ModuleType) -> None:
    counter = engine.shape_counter()
    counter.observe({"id": 7, "tags": ["a", None, 2.5, 3]}, 200)
    counter.observe({"id": "7", "tags": []}, 100)
    counter.observe({"id": True}, None, 3)
    root = counter.export()
    assert root[COUNTS] == (0, 0, 0, 0, 5, 0, 0)
    assert root[FIRST] == (None, None, None, None, 100, None, None)
    assert root[LAST] == (None, None, None, None, 200, None, None)
    assert root[VARIANTS] == {frozenset({"id", "tags"}): 2, frozenset({"id"}): 3}
    assert root[FIELDS]["id"][COUNTS] == (0, 3, 0, 1, 0, 1, 0)
    assert root[FIELDS]["id"][INTEGERS] == 1
    tags = root[FIELDS]["tags"]
    assert (tags[EMPTY], tags[FEWEST], tags[MOST]) == (1, 0, 4)
    assert tags[ITEMS][COUNTS] == (0, 0, 1, 2, 0, 1, 0)
    assert tags[ITEMS][INTEGERS] == 1
    assert root[FEWEST] is root[MOST] is root[ITEMS] is root[11] is root[12] is None
    assert counter.size == 4 + 2
    counter.clear()
    assert state(counter) == state(engine.shape_counter())


def test_types_that_json_does_not_have_are_counted_together(engine: ModuleType) -> None:
    counter = engine.shape_counter()
    counter.observe([b"x", {1}, object(), 1j])
    assert counter.export()[ITEMS][COUNTS] == (0, 0, 0, 0, 0, 0, 4)


class Level(enum.IntEnum):
    LOW = 1


class Real(float):
    pass


class Posing:
    """Says that it is an int."""

    __class__ = int  # type: ignore[assignment]


def test_an_integer_is_an_int_of_any_class_or_a_literal_without_fraction(
    engine: ModuleType,
) -> None:
    counter = engine.shape_counter()
    counter.observe([1, 2**70, Level.LOW, Posing(), 1.0, Real(1), True])
    counter.observe_text(b"[1, -20, 123456789012345678901234567890, 0, 1.0, 1e2, 1E2, 0.5e1, -0]")
    items = counter.export()[ITEMS]
    assert items[COUNTS] == (0, 1, 0, 6 + 9, 0, 0, 0)
    assert items[INTEGERS] == 4 + 5


def test_what_is_nested_too_deep_is_not_entered(engine: ModuleType) -> None:
    counter = engine.shape_counter(2)
    counter.observe({"a": {"b": {"c": {"d": 1}}, "e": {}, "f": [1, 2], "g": []}})
    below = counter.export()[FIELDS]["a"]
    assert not below[CUT]
    assert {key: node[CUT] for key, node in below[FIELDS].items()} == {
        "b": True,
        "e": False,
        "f": True,
        "g": False,
    }
    assert below[FIELDS]["b"][FIELDS] == below[FIELDS]["b"][VARIANTS] == {}
    assert (below[FIELDS]["f"][MOST], below[FIELDS]["f"][ITEMS]) == (2, None)


def test_a_value_that_raises_is_not_counted(engine: ModuleType) -> None:
    class Broken(Mapping[str, int]):
        def __getitem__(self, key: str) -> int:
            raise OSError

        def __iter__(self) -> Any:
            return iter(["a"])

        def __len__(self) -> int:
            return 1

    counter = engine.shape_counter()
    cycle: list[Any] = [1]
    cycle.append(cycle)
    for value in ({"a": 1, "b": [Broken()]}, cycle, {"a": {b"": 1}}):
        with pytest.raises(CanonicalizationError):
            counter.observe(value)
    deep: Any = 1
    for _ in range(10_001):
        deep = [deep]
    with pytest.raises(DepthError):
        counter.observe(deep)
    with pytest.raises(JSONTextError):
        counter.observe_text(b'{"a": {"b": [1, 2, {"c": nil}]}}')
    assert state(counter) == state(engine.shape_counter())


def test_arguments_are_checked(engine: ModuleType) -> None:
    counter = engine.shape_counter()
    counter.observe({"a": 1}, at=5, count=2)
    counter.observe_text(b"{}", count=2, at=7)
    assert counter.export()[FIRST][4] == 5
    assert counter.observations == 4
    for bad in (
        lambda: counter.observe(),
        lambda: counter.observe(1, 2, 3, 4),
        lambda: counter.observe(1, when=2),
        lambda: counter.observe(1, 2, at=2),
        lambda: counter.observe_lines(b"", count=1),
        lambda: engine.shape_counter("x"),
    ):
        with pytest.raises(TypeError):
            bad()
    with pytest.raises(ValueError, match="at least 1"):
        engine.shape_counter(0)


def test_lines_are_counted_and_those_that_are_no_json_are_told(engine: ModuleType) -> None:
    counter = engine.shape_counter()
    buffer = b'{"a": 1}\r\n\n \t\r\n{"a": }\n[1,\n{"a": "\xff"}\n{"a": null}'
    refused = counter.observe_lines(buffer, 9)
    assert [(line, start, str(error)) for line, start, error in refused] == [
        (3, 15, "expected a value: line 1, column 7 (byte 6)"),
        (4, 23, "the text ends too early: line 1, column 4 (byte 3)"),
        (5, 27, "not UTF-8: line 1, column 8 (byte 7)"),
    ]
    assert all(isinstance(error, JSONTextError) for _, _, error in refused)
    assert counter.observations == 2
    assert counter.export()[FIELDS]["a"][COUNTS] == (0, 0, 1, 1, 0, 0, 0)
    assert counter.observe_lines(b"") == counter.observe_lines(b"\n\n") == []


def test_strings_are_looked_at_where_that_is_asked_for(engine: ModuleType) -> None:
    counter = engine.shape_counter(3, formats=True)
    counter.observe("2026-07-13T08:15:02Z")
    assert counter.export()[11] == {"date-time": 1}
    counter = engine.shape_counter(enum_key=b"0123456789abcdef")
    counter.observe("active")
    assert list(counter.export()[12].values()) == [1]


# -- both engines ----------------------------------------------------------------------------------


def test_both_engines_count_alike(native: ModuleType) -> None:
    for max_depth in (64, 2):
        ours, twin = pair(native, max_depth=max_depth)
        clock = random.Random(max_depth)
        for number, value in enumerate(responses(21, 1500)):
            at = None if number % 7 == 0 else clock.randrange(-5, 10**12)
            count = 1 + number % 3
            for counter in (ours, twin):
                counter.observe(value, at, count)
                counter.observe_text(line_of(value), at)
        assert state(ours) == state(twin)


def test_both_engines_count_lines_alike(native: ModuleType) -> None:
    generator = Generator(22)
    lines = [
        generator.mutant(generator.document()).replace(b"\n", b" ") if number % 4 == 0
        else line_of(value)
        for number, value in enumerate(responses(23, 1500))
    ]  # fmt: skip
    ours, twin = pair(native)
    told = [
        [(line, start, type(error), str(error)) for line, start, error in refused]
        for refused in (counter.observe_lines(b"\n".join(lines), 5) for counter in (ours, twin))
    ]
    assert told[0] == told[1]
    assert 50 < len(told[0]) < 400
    assert state(ours) == state(twin)


def test_objects_with_many_keys_and_many_sets_of_keys(native: ModuleType) -> None:
    rng = random.Random(24)
    keys = [f"key {number}" for number in range(400)]
    values = []
    for _ in range(600):
        names = rng.sample(keys, rng.choice([0, 1, 3, 120]))
        values.append({name: rng.choice([1, 1.5, "x", None]) for name in names})
    values += values[::-3]
    ours, twin = pair(native)
    for value in values:
        for counter in (ours, twin):
            counter.observe(value)
            counter.observe_text(line_of(value))
    assert state(ours) == state(twin)


@given(
    value=st.recursive(
        st.none() | st.integers() | st.floats() | st.text(max_size=2) | st.binary(max_size=1),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.lists(inner, max_size=3).map(collections.deque)
            | st.dictionaries(st.text("ab\ud83d\ude00", max_size=2), inner, max_size=4)
            | st.dictionaries(st.text("ab", max_size=2), inner, max_size=3).map(
                types.MappingProxyType
            )
            | st.dictionaries(st.integers() | st.binary(max_size=1), inner, max_size=2)
        ),
        max_leaves=20,
    )
)
def test_both_engines_count_any_value_alike(native: ModuleType, value: object) -> None:
    ours, twin = pair(native)
    errors = []
    for counter in (ours, twin):
        try:
            counter.observe([value, value])
        except KeyTypeError as error:
            errors.append(str(error))
    assert len(set(errors)) <= 1
    assert len(errors) in (0, 2)
    assert state(ours) == state(twin)


def test_the_last_of_several_members_of_one_name_counts(native: ModuleType) -> None:
    ours, twin = pair(native)
    text = rb'{"a":{"b":1},"c":[],"\u0061":[{"d":1,"d":[1]}],"c":1,"a":null}'
    for counter in (ours, twin):
        counter.observe_text(text)
        counter.observe_text(b"[%b,%b]" % (text, text))
    assert state(ours) == state(twin)
    assert ours.export()[FIELDS]["a"][COUNTS] == (0, 0, 1, 0, 0, 0, 0)


# -- the native one --------------------------------------------------------------------------------


def test_threads_may_share_a_counter(native: ModuleType) -> None:
    values = responses(25, 300)
    lines = b"\n".join(map(line_of, values))
    shared, alone = native.shape_counter(), native.shape_counter()

    def work() -> None:
        for value in values:
            shared.observe(value)
        assert shared.observe_lines(lines) == []
        shared.export()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for value in values:
        alone.observe(value, None, 4)
        alone.observe_text(line_of(value), None, 4)
    assert state(shared) == state(alone)


def test_a_counter_that_is_used_while_it_is_read_says_so(native: ModuleType) -> None:
    counter = native.shape_counter()
    for value in responses(26, 200):
        counter.observe(value)
    met: list[str] = []

    class Cyclic:
        def __init__(self) -> None:
            self.me = self

        def __del__(self) -> None:
            try:
                counter.observe({"late": 1})
            except RuntimeError as error:
                met.append(str(error))

    before = counter.observations
    thresholds = gc.get_threshold()
    for _ in range(50):
        Cyclic()
    gc.set_threshold(1)
    try:
        counter.export()
    finally:
        gc.set_threshold(*thresholds)
    gc.collect()
    assert set(met) <= {"this thread is using the counter already"}
    assert counter.observations - before + len(met) == 50


def test_a_hook_may_use_the_counter_that_is_about_to_count(native: ModuleType) -> None:
    counter = native.shape_counter()

    class Counting(Mapping[str, int]):
        def __getitem__(self, key: str) -> int:
            counter.observe([1])
            return 1

        def __iter__(self) -> Any:
            return iter(["a"])

        def __len__(self) -> int:
            return 1

    counter.observe({"k": Counting()})
    assert counter.export()[COUNTS] == (1, 0, 0, 0, 1, 0, 0)


def test_the_type_of_a_native_counter_cannot_be_called(native: ModuleType) -> None:
    with pytest.raises(TypeError):
        type(native.shape_counter())()
    assert not isinstance(native.shape_counter(), ShapeCounter)
