"""``overturn_fast.numbers``: what it takes, gives and refuses, the same on both backends."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from types import ModuleType

import pytest
from conftest import native_engine
from parameter_ids import shown
from test_number_core import (
    FOLLOWED,
    INFINITY_BITS,
    LARGEST,
    MALFORMED,
    WRITE_VECTORS,
    bits_of,
    double_of,
    everyday_doubles,
    finite_rows,
    halfway_cases,
    random_doubles,
    rows,
)

import overturn_fast
from overturn_fast import numbers as module


@pytest.fixture(params=["native", "python"])
def numbers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module as each of the backends has it."""
    if request.param == "native":
        native_engine()
        from overturn_fast import _native

        monkeypatch.setattr(module, "ffi", _native.ffi, raising=False)
        monkeypatch.setattr(module, "lib", _native.lib, raising=False)
    monkeypatch.setattr(module, "backend", request.param)
    return module


# -- writing ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WRITE_VECTORS)
def test_the_texts_of_the_vectors_are_written_and_read_back(numbers: ModuleType, name: str) -> None:
    values, texts = finite_rows(name)
    assert [numbers.ecmascript(value) for value in values] == texts
    bits = [bits_of(value + 0.0) for value in values]  # -0.0 is written as 0
    assert [bits_of(numbers.parse(text)) for text in texts] == bits


def test_random_and_everyday_doubles_have_the_digits_of_repr(numbers: ModuleType) -> None:
    values = random_doubles(10_000, seed=21) + everyday_doubles(10_000, seed=22)
    for value in values:
        text = numbers.ecmascript(value)
        assert Decimal(text) == Decimal(repr(value))
        assert numbers.parse(text) == value


def test_a_text_is_a_plain_str_and_a_value_a_plain_float(numbers: ModuleType) -> None:
    assert type(numbers.ecmascript(1.5)) is str
    assert type(numbers.ecmascript(3)) is str
    assert type(numbers.parse("3")) is float


@pytest.mark.parametrize("name", ["rfc8785_appendix_b.tsv", "test262_number_to_string.tsv"])
def test_the_vectors_that_json_has_no_text_for_are_refused(numbers: ModuleType, name: str) -> None:
    refused = [double_of(int(row[0], 16)) for row in rows(name)]
    refused = [value for value in refused if not math.isfinite(value)]
    assert refused
    for value in refused:
        with pytest.raises(overturn_fast.FloatDomainError, match=r"^float is not a finite number$"):
            numbers.ecmascript(value)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (-7, "-7"),
        (2**53, "9007199254740992"),
        (2**53 + 2, "9007199254740994"),
        (-(2**63), "-9223372036854776000"),
        (10**20, "100000000000000000000"),
        (10**21, "1e+21"),
        (10**22, "1e+22"),
        (2**1023, "8.98846567431158e+307"),
        (int(LARGEST), "1.7976931348623157e+308"),
    ],
)
def test_an_int_that_a_double_holds_exactly_is_written_as_that_double(
    numbers: ModuleType, number: int, text: str
) -> None:
    assert numbers.ecmascript(number) == text


@pytest.mark.parametrize(
    "number",
    [
        2**53 + 1,
        -(2**53) - 1,
        2**63 - 1,
        10**23,
        int(LARGEST) + 1,
        2**1024 - 2**970 - 1,  # rounds down to the largest double
        2**1024,
        -(2**1024),
        pytest.param(10**5_000, id="5,001 digits"),
    ],
)
def test_an_int_that_no_double_equals_is_refused(numbers: ModuleType, number: int) -> None:
    with pytest.raises(ValueError, match=r"^no double equals this int$"):
        numbers.ecmascript(number)


class HasFloat:
    def __float__(self) -> float:
        raise AssertionError

    __index__ = __int__ = __float__  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "HasFloat()"


@pytest.mark.parametrize(
    ("value", "type_name"),
    [
        (True, "bool"),
        (False, "bool"),
        (None, "NoneType"),
        ("1", "str"),
        (b"1", "bytes"),
        (1j, "complex"),
        (Decimal(1), "decimal.Decimal"),
        (Fraction(1), "fractions.Fraction"),
        ([1.0], "list"),
        (HasFloat(), f"{__name__}.HasFloat"),
    ],
    ids=shown,
)
def test_what_is_no_float_or_int_is_refused(
    numbers: ModuleType, value: object, type_name: str
) -> None:
    with pytest.raises(TypeError, match=f"^value must be a float, not {type_name}$"):
        numbers.ecmascript(value)


def never(*_: object) -> object:
    """Stand in for a method that must not be called."""
    raise AssertionError


NUMBER_METHODS = (
    *("__repr__", "__str__", "__format__", "__float__", "__int__", "__index__", "__trunc__"),
    *("__pos__", "__neg__", "__abs__", "__bool__", "__hash__", "__eq__", "__ne__", "__lt__"),
    *("__gt__", "__add__", "__sub__"),
)
LyingFloat = type("LyingFloat", (float,), dict.fromkeys(NUMBER_METHODS, never))
LyingInt = type("LyingInt", (int,), dict.fromkeys(NUMBER_METHODS, never))


def test_a_subclass_is_written_by_its_value_whatever_its_methods_say(numbers: ModuleType) -> None:
    assert numbers.ecmascript(LyingFloat(-2.5)) == "-2.5"
    assert numbers.ecmascript(LyingFloat(-0.0)) == "0"
    assert numbers.ecmascript(LyingInt(-(10**22))) == "-1e+22"
    with pytest.raises(
        overturn_fast.FloatDomainError, match=f"^{__name__}.LyingFloat is not a finite"
    ):
        numbers.ecmascript(LyingFloat("nan"))
    with pytest.raises(ValueError, match=f"^no double equals this {__name__}.LyingInt$"):
        numbers.ecmascript(LyingInt(2**53 + 1))


# -- reading ---------------------------------------------------------------------------------------


def test_the_texts_of_the_vectors_are_read(numbers: ModuleType) -> None:
    table = rows("decimal_to_double.tsv")
    assert [bits_of(numbers.parse(row[1])) for row in table] == [int(row[0], 16) for row in table]


def test_texts_at_and_beside_the_middle_of_two_doubles_round_as_they_must(
    numbers: ModuleType,
) -> None:
    for text, bits in halfway_cases():
        assert bits_of(numbers.parse(text)) == bits
        assert bits_of(numbers.parse("-" + text)) == bits | 1 << 63


def test_random_texts_are_read_as_float_reads_them(numbers: ModuleType) -> None:
    source = random.Random(23)
    texts = [f"{value:.{source.randint(0, 40)}e}" for value in random_doubles(10_000, seed=24)]
    for _ in range(10_000):
        texts.append(f"{source.getrandbits(source.randint(1, 90))}e{source.randint(-370, 320)}")
    assert [bits_of(numbers.parse(text)) for text in texts] == [bits_of(float(t)) for t in texts]


@pytest.mark.parametrize(
    ("text", "bits"),
    [
        ("1" + "0" * 12_000 + "e-12000", bits_of(1.0)),
        ("0." + "0" * 12_000 + "1e12001", bits_of(1.0)),
        ("0." + "3" * 12_000, bits_of(1 / 3)),
        ("3" * 12_000 + "e-12000", bits_of(1 / 3)),
        ("9" * 12_000, INFINITY_BITS),
        ("0." + "0" * 12_000 + "1", 0),
        ("9007199254740993" + "." + "0" * 12_000, bits_of(2.0**53)),
        ("9007199254740993" + "." + "0" * 12_000 + "1", bits_of(2.0**53 + 2)),
        ("1e" + "9" * 12_000, INFINITY_BITS),
        ("1e-" + "9" * 12_000, 0),
        ("0e" + "9" * 12_000, 0),
        ("1e" + "0" * 12_000 + "1", bits_of(10.0)),
    ],
    ids=range(12),
)
def test_12_000_digits_are_read_like_any_others(numbers: ModuleType, text: str, bits: int) -> None:
    assert bits_of(numbers.parse(text)) == bits
    assert bits_of(numbers.parse("-" + text)) == bits | 1 << 63


STRANGE = [
    ("1\N{LATIN SMALL LETTER E WITH ACUTE}", 1),
    ("1.5\N{GRINNING FACE}", 3),
    ("\N{GRINNING FACE}1", 0),
    ("\N{FULLWIDTH DIGIT ONE}", 0),
    ("1\N{ARABIC-INDIC DIGIT ONE}", 1),
    ("\ud800", 0),
    ("12\udfff", 2),
    ("\0", 0),
    ("1\0", 1),
    ("1\0002", 1),
    ("1.\0", 2),
    ("1_000", 1),
    ("\ufeff1", 0),
    ("infinity", 0),
    ("-nan", 1),
    ("9" * 12_000 + "x", 12_000),
    ("0." + "9" * 12_000 + "e", 12_003),
]


@pytest.mark.parametrize(
    ("text", "offset"), MALFORMED + FOLLOWED + STRANGE, ids=lambda case: ascii(case)[:20]
)
def test_what_is_no_json_number_is_refused_with_the_offset_where_it_stops_being_one(
    numbers: ModuleType, text: str, offset: int
) -> None:
    with pytest.raises(ValueError, match=f"^not a JSON number: offset {offset}$"):
        numbers.parse(text)


@pytest.mark.parametrize(
    "text", [b"1", bytearray(b"1"), memoryview(b"1"), None, 1, 1.0, ["1"]], ids=shown
)
def test_what_is_no_str_is_refused(numbers: ModuleType, text: object) -> None:
    with pytest.raises(TypeError, match=f"^text must be a str, not {type(text).__name__}$"):
        numbers.parse(text)


TEXT_METHODS = (
    *("__str__", "__repr__", "__format__", "__len__", "__iter__", "__getitem__", "__contains__"),
    *("__eq__", "__hash__", "encode", "strip", "isascii"),
)
LyingStr = type("LyingStr", (str,), dict.fromkeys(TEXT_METHODS, never))


def test_a_subclass_of_str_is_read_by_its_characters_whatever_its_methods_say(
    numbers: ModuleType,
) -> None:
    assert numbers.parse(LyingStr("-2.5e3")) == -2500.0
    with pytest.raises(ValueError, match=r"^not a JSON number: offset 1$"):
        numbers.parse(LyingStr("01"))


# -- which backend ---------------------------------------------------------------------------------


def test_the_native_backend_calls_the_core_and_the_other_one_the_twin(
    numbers: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def recorded(name: str) -> Callable[[object], object]:
        def record(value: object) -> object:
            asked.append(name)
            return value

        return record

    for name in ("ecmascript", "parse"):
        monkeypatch.setattr(numbers.pure, name, recorded(name))
    numbers.ecmascript(1.5)
    numbers.parse("1.5")
    assert asked == ([] if numbers.backend == "native" else ["ecmascript", "parse"])
