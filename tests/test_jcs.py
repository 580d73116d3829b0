"""RFC 8785 over Python objects: the behaviours of the ``rfc8785`` package, and what goes beyond."""

from __future__ import annotations

import collections
import enum
import hashlib
import importlib
import inspect
import io
import json
import math
import random
import struct
import tracemalloc
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import overturn_fast
from overturn_fast import jcs
from overturn_fast._pure import jcs as pure

LIMIT = 2**53 - 1


def dumps(engine: ModuleType, value: object, **options: Any) -> str:
    return bytes(engine.dumps(value, **options)).decode()


# -- the names ---------------------------------------------------------------------------------


def test_the_names_of_the_rfc8785_package_are_all_there() -> None:
    package = importlib.import_module("rfc8785")
    assert set(package.__all__) <= set(jcs.__all__)
    for name in package.__all__:
        ours, theirs = getattr(jcs, name), getattr(package, name)
        if isinstance(theirs, type):
            bases = [base.__name__ for base in theirs.__mro__]
            assert [base.__name__ for base in ours.__mro__] == bases
        else:
            assert list(inspect.signature(ours).parameters)[:1] == ["value"]


def test_the_errors_are_those_of_the_package() -> None:
    for name in jcs.__all__:
        if name.endswith("Error"):
            assert getattr(jcs, name) is getattr(overturn_fast, name)


def test_both_engines_have_the_same_signatures_and_docstrings(engine: ModuleType) -> None:
    for name in ("dumps", "sha256"):
        ours, readable = getattr(engine, name), getattr(pure, name)
        assert inspect.getdoc(ours) == inspect.getdoc(readable)
        assert ours.__name__ == name
        parameters = inspect.signature(ours).parameters.values()
        assert [(p.name, p.kind, p.default) for p in parameters] == [
            (p.name, p.kind, p.default) for p in inspect.signature(readable).parameters.values()
        ]


# -- values ------------------------------------------------------------------------------------


@pytest.mark.parametrize("pair", ["arrays", "french", "structures", "unicode", "values", "weird"])
def test_the_pairs_of_the_reference_project(engine: ModuleType, data: Path, pair: str) -> None:
    folder = data / "cyberphone_jcs"
    value = json.loads((folder / "input" / f"{pair}.json").read_bytes())
    assert engine.dumps(value) == (folder / "output" / f"{pair}.json").read_bytes()


class Text(str):
    def __str__(self) -> str:
        raise AssertionError("not to be asked")


class Number(int):
    def __repr__(self) -> str:
        raise AssertionError("not to be asked")


class Kind(str, enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


Point = collections.namedtuple("Point", "x y")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (0, "0"),
        (LIMIT, "9007199254740991"),
        (-LIMIT, "-9007199254740991"),
        (-0.0, "0"),
        (1.0, "1"),
        (4.5, "4.5"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (1e-6, "0.000001"),
        (1e-7, "1e-7"),
        (2.0**60, "1152921504606847000"),
        (5e-324, "5e-324"),
        ("", '""'),
        (" é\u2028\x7f/ ", '" é\u2028\x7f/ "'),
        ('\x00\x1f\b\t\n\f\r"\\', '"\\u0000\\u001f\\b\\t\\n\\f\\r\\"\\\\"'),
        ([], "[]"),
        ((), "[]"),
        ({}, "{}"),
        ([None, [True, (1, "a")]], '[null,[true,[1,"a"]]]'),
        ({"b": None, "a": {"d": 1, "c": 2}}, '{"a":{"c":2,"d":1},"b":null}'),
        ({"\ufb33": 1, "😀": 2, "€": 3, "\r": 4, "1": 5, "": 6},
         '{"":6,"\\r":4,"1":5,"€":3,"😀":2,"\ufb33":1}'),
        (Text("x"), '"x"'),
        ({Text("b"): Number(7), "a": Level.HIGH}, '{"a":3,"b":7}'),
        ([Kind.RED, Point(1, 2)], '["red",[1,2]]'),
        (collections.OrderedDict([("b", 1), ("a", 2)]), '{"a":2,"b":1}'),
        (MappingProxyType({"b": 1, "a": 2}), '{"a":2,"b":1}'),
    ],
)  # fmt: skip
def test_a_value_has_one_canonical_form(engine: ModuleType, value: object, expected: str) -> None:
    assert dumps(engine, value) == expected
    assert engine.sha256(value) == hashlib.sha256(expected.encode()).hexdigest()


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (LIMIT + 1, jcs.IntegerDomainError, "$: int is outside the range of exact integers"),
        ([-LIMIT - 1], jcs.IntegerDomainError, "$[0]: int is outside the range of exact integers"),
        ({"a": 10**400}, jcs.IntegerDomainError, "$.a: int is outside the range of exact integers"),
        (math.nan, jcs.FloatDomainError, "$: float is not a finite number"),
        ([math.inf], jcs.FloatDomainError, "$[0]: float is not a finite number"),
        ({"a": -math.inf}, jcs.FloatDomainError, "$.a: float is not a finite number"),
        ("\ud800", jcs.SurrogateError, "$: str holds a lone surrogate"),
        ("\ud83d\ude00", jcs.SurrogateError, "$: str holds a lone surrogate"),
        ({"\udc00": 1}, jcs.SurrogateError, "$: a key of type str holds a lone surrogate"),
        ({1: 2}, jcs.KeyTypeError, "$: a key of type int has no text"),
        ({None: 2}, jcs.KeyTypeError, "$: a key of type NoneType has no text"),
        ({"a": {True: 1}}, jcs.KeyTypeError, "$.a: a key of type bool has no text"),
        ([{1, 2}], jcs.UnsupportedTypeError, "$[0]: set has no canonical form"),
        (b"x", jcs.UnsupportedTypeError, "$: bytes has no canonical form"),
        ({"a": [object()]}, jcs.UnsupportedTypeError, "$.a[0]: object has no canonical form"),
        ({"a": range(3)}, jcs.UnsupportedTypeError, "$.a: range has no canonical form"),
    ],
)
def test_what_has_no_canonical_form_is_refused_with_its_path(
    engine: ModuleType, value: object, error: type[Exception], message: str
) -> None:
    for function in (engine.dumps, engine.sha256):
        with pytest.raises(jcs.CanonicalizationError) as raised:
            function(value)
        assert (type(raised.value), str(raised.value)) == (error, message)
        assert isinstance(raised.value, ValueError)


def test_a_cycle_is_an_error_and_an_object_that_comes_twice_is_none(
    engine: ModuleType,
) -> None:
    shared = [1]
    assert dumps(engine, [shared, shared]) == "[[1],[1]]"
    cycle: list[object] = []
    cycle.append({"a": cycle})
    with pytest.raises(jcs.CircularReferenceError):
        engine.dumps(cycle)


def test_the_value_is_not_changed(engine: ModuleType) -> None:
    value = {"b": [1, {"d": 1.5, "c": None}], "a": " x "}
    copy = json.loads(json.dumps(value))
    engine.dumps(value)
    assert value == copy
    assert list(value) == ["b", "a"]


# -- options -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (LIMIT, "9007199254740991"),
        (2**53 + 1, "9007199254740992"),
        (-(2**63), "-9223372036854776000"),
        (123456789012345678901234567890, "1.2345678901234568e+29"),
        (10**308, "1e+308"),
        ({"a": [2**64]}, '{"a":[18446744073709552000]}'),
    ],
)
def test_integers_may_be_written_as_doubles(
    engine: ModuleType, value: object, expected: str
) -> None:
    assert dumps(engine, value, integers="double") == expected
    assert engine.sha256(value, integers="double") == hashlib.sha256(expected.encode()).hexdigest()


def test_an_integer_past_the_largest_double_is_refused_even_then(engine: ModuleType) -> None:
    with pytest.raises(jcs.IntegerDomainError):
        engine.dumps(10**400, integers="double")


@pytest.mark.parametrize(
    ("integers", "error", "message"),
    [
        ("exact", ValueError, 'integers must be "strict" or "double"'),
        ("", ValueError, 'integers must be "strict" or "double"'),
        (None, TypeError, 'integers must be "strict" or "double", not NoneType'),
        (True, TypeError, 'integers must be "strict" or "double", not bool'),
    ],
)
def test_another_way_to_write_integers_is_refused(
    engine: ModuleType, integers: Any, error: type[Exception], message: str
) -> None:
    for function in (engine.dumps, engine.sha256):
        with pytest.raises(error) as raised:
            function(1, integers=integers)
        assert str(raised.value) == message


def test_the_encoder_is_asked_for_other_types_only(engine: ModuleType) -> None:
    asked: list[object] = []

    def encoder(value: object) -> object:
        asked.append(value)
        return sorted(value) if isinstance(value, set) else NotImplemented

    value = [{"b": {2, 1}}, MappingProxyType({"a": 1})]
    assert dumps(engine, value, encoder=encoder) == '[{"b":[1,2]},{"a":1}]'
    assert {1, 2} in asked
    assert "b" not in asked
    with pytest.raises(jcs.UnsupportedTypeError, match=r"^\$: bytes has no canonical form$"):
        engine.dumps(b"", encoder=encoder)


def test_max_depth_counts_levels(engine: ModuleType) -> None:
    assert dumps(engine, [[[]]], max_depth=3) == "[[[]]]"
    with pytest.raises(jcs.DepthError, match="nesting exceeds max_depth=2"):
        engine.dumps([[[]]], max_depth=2)
    deep: object = []
    for _ in range(200_000):
        deep = [deep]
    assert len(engine.dumps(deep, max_depth=200_001)) == 400_002


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ((), {}),
        ((1, 2), {}),
        ((1,), {"max_depth": "x"}),
        ((1,), {"encoder": 1}),
        ((1,), {"sort": 1}),
    ],
)
def test_wrong_arguments_are_type_errors(
    engine: ModuleType, arguments: tuple[Any, ...], options: dict[str, Any]
) -> None:
    for function in (engine.dumps, engine.sha256):
        with pytest.raises(TypeError):
            function(*arguments, **options)


# -- dump --------------------------------------------------------------------------------------


def test_dump_writes_what_dumps_returns() -> None:
    for value, options in [({"b": 1.0, "a": None}, {}), (2**60, {"integers": "double"})]:
        stream = io.BytesIO()
        assert jcs.dump(value, stream, **options) is None  # type: ignore[func-returns-value,arg-type]
        assert stream.getvalue() == jcs.dumps(value, **options)  # type: ignore[arg-type]


def test_dump_writes_nothing_of_a_value_without_canonical_form() -> None:
    stream = io.BytesIO()
    with pytest.raises(jcs.FloatDomainError):
        jcs.dump([1, 2, math.nan], stream)
    assert stream.getvalue() == b""


# -- the rfc8785 package as oracle ----------------------------------------------------------------

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-LIMIT - 2, LIMIT + 2),
    st.floats(),
    st.text(st.characters()),
    st.text(st.sampled_from('aé\ud800\udc00😀\ufb33\x00"\\\u2028')),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner), st.lists(inner).map(tuple), st.dictionaries(st.text(), inner)
    ),
    max_leaves=30,
)


def rfc8785_answer(value: object) -> bytes | type[Exception]:
    package = importlib.import_module("rfc8785")
    try:
        return bytes(package.dumps(value))
    except package.CanonicalizationError as error:
        return type(error)


@settings(max_examples=400)
@given(VALUES)
def test_values_have_the_form_that_the_rfc8785_package_gives(value: object) -> None:
    expected = rfc8785_answer(value)
    for engine in (jcs, pure):
        if isinstance(expected, bytes):
            assert engine.dumps(value) == expected
        else:
            with pytest.raises(jcs.CanonicalizationError):
                engine.dumps(value)


@settings(max_examples=1000)
@given(st.integers(0, 2**64 - 1))
def test_doubles_have_the_text_that_the_rfc8785_package_gives(bits: int) -> None:
    (value,) = struct.unpack("<d", bits.to_bytes(8, "little"))
    expected = rfc8785_answer(value)
    if isinstance(expected, bytes):
        assert jcs.dumps(value) == pure.dumps(value) == jcs.canonicalize(repr(value)) == expected
    else:
        with pytest.raises(jcs.FloatDomainError):
            jcs.dumps(value)


@settings(max_examples=400)
@given(VALUES, st.booleans(), st.sampled_from([None, 2]))
def test_the_text_of_a_value_has_the_form_of_the_value(
    value: object, ascii: bool, indent: int | None
) -> None:
    try:
        expected = jcs.dumps(value, integers="double")
    except jcs.CanonicalizationError:
        return
    text = json.dumps(value, ensure_ascii=ascii, indent=indent)
    assert jcs.canonicalize(text) == expected
    assert jcs.canonicalize(expected) == expected


def test_a_mapping_may_be_of_any_kind(engine: ModuleType) -> None:
    class Reading(Mapping[str, int]):
        def __getitem__(self, key: str) -> int:
            return len(key)

        def __iter__(self) -> Any:
            return iter(["bb", "a"])

        def __len__(self) -> int:
            return 2

    assert dumps(engine, [Reading()]) == '[{"a":1,"bb":2}]'


def test_texts_as_long_as_the_ones_before_and_others(native: ModuleType) -> None:
    """A text is written into bytes of the length that the last two had, if that was long."""
    source = random.Random("lengths")
    steps = [0, 100, 4_090, 4_096, 4_100, 5_000, 16_380, 16_400, 60_000, 126_000, 130_000, 300_000]
    for _ in range(300):
        length = source.choice(steps)
        for _ in range(source.randrange(1, 5)):
            text = "x" * (length + source.randrange(3))
            for pieces in ([text], [text[at : at + 200] for at in range(0, len(text), 200)]):
                written = native.dumps(pieces)
                assert written == json.dumps(pieces, separators=(",", ":")).encode()
        with pytest.raises(overturn_fast.SurrogateError):
            native.dumps(["x" * source.choice(steps), "\ud800"])


def test_bytes_hold_no_more_than_their_text(native: ModuleType) -> None:
    long = {str(number): "x" * 100 for number in range(1_000)}
    for _ in range(4):
        native.dumps(long)
    tracemalloc.start()
    try:
        kept = [native.dumps(["x" * 4_000])]
        before, _ = tracemalloc.get_traced_memory()
        kept += [native.dumps(["x" * 4_000]) for _ in range(20)]
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < sum(map(len, kept)) * 1.1 + 4_000
