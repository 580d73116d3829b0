"""Integers, floats and booleans, as values, in every profile."""

from __future__ import annotations

import enum
import hashlib
import itertools
import math
import random
import subprocess
import sys
from types import ModuleType
from typing import Any

import pytest

from overturn_fast import jcs

ALL_PROFILES = ["overturn", "jcs", "jcs-double", "mcpulse", "pleach"]
DOUBLE_PROFILES = ["jcs-double", "mcpulse", "pleach"]
LARGEST_SAFE = 2**53 - 1
LARGEST_DOUBLE = 2**1024 - 2**971


@pytest.mark.parametrize("profile", ALL_PROFILES)
def test_booleans_are_words_and_never_numbers(engine: ModuleType, profile: str) -> None:
    assert engine.canonical_with(profile, [True, False, 1, 0]) == "[true,false,1,0]"


@pytest.mark.parametrize("profile", ALL_PROFILES)
@pytest.mark.parametrize("zero", [0, 0.0, -0.0])
def test_every_zero_is_0(engine: ModuleType, profile: str, zero: float) -> None:
    assert engine.canonical_with(profile, zero) == "0"
    assert engine.canonical_with(profile, {"a": [zero]}) == '{"a":[0]}'


@pytest.mark.parametrize("profile", ALL_PROFILES)
def test_ints_up_to_the_largest_safe_one_keep_their_digits(
    engine: ModuleType, profile: str
) -> None:
    magnitudes = {0, 1, 7, 2**31, 2**32, LARGEST_SAFE - 1, LARGEST_SAFE}
    magnitudes |= {10**power + step for power in range(1, 16) for step in (-1, 0, 1)}
    for number in [sign * magnitude for magnitude in magnitudes for sign in (1, -1)]:
        assert engine.canonical_with(profile, number) == str(number)


def test_ints_below_1e21_keep_all_their_digits(engine: ModuleType) -> None:
    magnitudes = {10**power + step for power in range(16, 21) for step in (-1, 0, 1)}
    magnitudes |= {2**power + step for power in range(53, 70) for step in (-1, 0, 1)}
    magnitudes |= {10**21 - 1, 10**20 + 10**19 - 1, 123456789012345678901, 54 * 2**64}
    for number in [sign * magnitude for magnitude in magnitudes for sign in (1, -1)]:
        assert abs(number) < 10**21
        assert engine.canonical_json(number) == str(number)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (10**21, "1e+21"),
        (10**21 + 1, "1e+21"),
        (10**21 + 2**16, "1e+21"),  # half way to the next double: to the even one
        (10**21 + 2**16 + 1, "1.0000000000000001e+21"),
        (54 * 2**64 + 3875820019684212737, "1e+21"),  # 1e21 + 1 over the 64-bit words
        (55 * 2**64, "1.0145709240540253e+21"),
        (2**70, "1.1805916207174113e+21"),
        (2**127, "1.7014118346046923e+38"),
        (2**128 - 1, "3.402823669209385e+38"),
        (2**128, "3.402823669209385e+38"),
        (2**191 + 1, "3.1385508676933404e+57"),
        (10**30, "1e+30"),
        (10**100, "1e+100"),
        (LARGEST_DOUBLE, "1.7976931348623157e+308"),
        (2**1024 - 2**970 - 1, "1.7976931348623157e+308"),  # the last that rounds down
    ],
)
def test_ints_from_1e21_are_their_nearest_double(
    engine: ModuleType, number: int, text: str
) -> None:
    assert float(text) == float(number)
    assert engine.canonical_json(number) == text
    assert engine.canonical_json(-number) == "-" + text


def test_ints_past_the_double_range_are_null_kept_in_place(engine: ModuleType) -> None:
    for magnitude in (2**1024 - 2**970, 2**1024, 10**309, 10**4_299, 10**5_000):
        for number in (magnitude, -magnitude):
            assert engine.canonical_json(number) == "null"
            assert engine.canonical_json({"a": number, "b": [1, number, 2]}) == (
                '{"a":null,"b":[1,null,2]}'
            )


def test_strict_jcs_refuses_ints_past_the_largest_safe_one(
    engine: ModuleType, error_of: Any
) -> None:
    for magnitude in (LARGEST_SAFE + 1, 2**63 - 1, 2**63, 2**64, 10**21, 10**400):
        for number in (magnitude, -magnitude):
            assert error_of(engine.canonical_with, "jcs", {"a": [0, number]}) == (
                "IntegerDomainError",
                "$.a[1]: int is outside the range of exact integers",
            )


# In a process of its own, whose other threads it cannot hit.
WITHOUT_MEMORY = """
import _testcapi
from overturn_fast import _backend
canonical_json = _backend.load_walker().canonical_json
raised = 0
for number in (10**20 + 1, -(2**65) - 1, [2**66 + 1]):
    expected = str(number)
    for allocation in range(1, 12):  # the one that fails
        written = expected
        _testcapi.set_nomemory(allocation, allocation + 1)
        try:
            written = canonical_json(number)
        except MemoryError:
            raised += 1
        finally:
            _testcapi.remove_mem_hooks()
        assert written == expected, (written, expected)
assert raised > 0
"""


def test_without_memory_an_int_is_an_error_and_never_another_number(native: ModuleType) -> None:
    assert native is not None
    pytest.importorskip("_testcapi")
    subprocess.run([sys.executable, "-c", WITHOUT_MEMORY], check=True)


@pytest.mark.parametrize("profile", DOUBLE_PROFILES)
@pytest.mark.parametrize(
    ("number", "text"),
    [
        (2**53, "9007199254740992"),
        (2**53 + 1, "9007199254740992"),
        (2**53 + 2, "9007199254740994"),
        (2**53 + 3, "9007199254740996"),
        (2**60, "1152921504606847000"),
        (2**63 - 1, "9223372036854776000"),
        (2**63, "9223372036854776000"),
        (2**64 - 1, "18446744073709552000"),
        (2**64, "18446744073709552000"),
        (2**67 - 1, "147573952589676410000"),
        (10**21 - 1, "1e+21"),
        (10**21, "1e+21"),
        (10**30, "1e+30"),
        (LARGEST_DOUBLE, "1.7976931348623157e+308"),
    ],
)
def test_large_ints_are_written_as_doubles_where_the_profile_says_so(
    engine: ModuleType, profile: str, number: int, text: str
) -> None:
    assert engine.canonical_with(profile, number) == text
    assert engine.canonical_with(profile, -number) == "-" + text


@pytest.mark.parametrize("profile", DOUBLE_PROFILES)
def test_ints_past_the_double_range_are_an_error_where_ints_are_doubles(
    engine: ModuleType, error_of: Any, profile: str
) -> None:
    for number in (2**1024 - 2**970, -(10**400)):
        assert error_of(engine.canonical_with, profile, [number]) == (
            "IntegerDomainError",
            "$[0]: int is outside the range of exact integers",
        )


@pytest.mark.parametrize("profile", ALL_PROFILES)
@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.1, "0.1"),
        (0.1 + 0.2, "0.30000000000000004"),
        (1 / 3, "0.3333333333333333"),
        (2.5, "2.5"),
        (1e-6, "0.000001"),
        (1.5e-6, "0.0000015"),
        (9.999999999999997e-7, "9.999999999999997e-7"),
        (1e-7, "1e-7"),
        (1.25e-7, "1.25e-7"),
        (1e-10, "1e-10"),
        (5e-324, "5e-324"),
        (2.2250738585072014e-308, "2.2250738585072014e-308"),
        (2.225073858507201e-308, "2.225073858507201e-308"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (1e21, "1e+21"),
        (1.5e300, "1.5e+300"),
        (1e23, "1e+23"),
        (9.5e-7, "9.5e-7"),
        (123456.789, "123456.789"),
        (4503599627370495.5, "4503599627370495.5"),
        (1e20, "100000000000000000000"),
        (1e16, "10000000000000000"),
        (float(LARGEST_SAFE), "9007199254740991"),
        (2.0**53, "9007199254740992"),
        (100.0, "100"),
        (1.0, "1"),
    ],
)
def test_floats_are_written_as_ecmascript_writes_them(
    engine: ModuleType, profile: str, number: float, text: str
) -> None:
    assert float(text) == number
    assert engine.canonical_with(profile, number) == text
    assert engine.canonical_with(profile, -number) == "-" + text


@pytest.mark.parametrize(
    ("number", "exact", "shortest"),
    [
        (123456789012345680000.0, "123456789012345683968", "123456789012345680000"),
        (2.0**54 + 4, "18014398509481988", "18014398509481988"),
        (2.0**55, "36028797018963968", "36028797018963970"),
        (2.0**60, "1152921504606846976", "1152921504606847000"),
        (2.0**63, "9223372036854775808", "9223372036854776000"),
        (2.0**64, "18446744073709551616", "18446744073709552000"),
        (2.0**69, "590295810358705651712", "590295810358705700000"),
        (math.nextafter(1e21, 0), "999999999999999868928", "999999999999999900000"),
    ],
)
def test_integral_floats_below_1e21_have_exact_digits_in_the_overturn_profile_alone(
    engine: ModuleType, number: float, exact: str, shortest: str
) -> None:
    for sign, value in (("", number), ("-", -number)):
        assert engine.canonical_json(value) == sign + exact
        for profile in ("jcs", *DOUBLE_PROFILES):
            assert engine.canonical_with(profile, value) == sign + shortest


def test_an_integral_float_and_the_same_int_have_one_text(engine: ModuleType) -> None:
    for power in range(70):
        assert engine.canonical_json(2.0**power) == engine.canonical_json(2**power)
        number = float(10**power)
        assert engine.canonical_json(number) == engine.canonical_json(int(number))


@pytest.mark.parametrize("number", [math.nan, -math.nan, math.inf, -math.inf])
def test_non_finite_floats_are_null_kept_in_place(engine: ModuleType, number: float) -> None:
    assert engine.canonical_json(number) == "null"
    assert engine.canonical_json([1, number, None, 2]) == "[1,null,2]"
    assert engine.canonical_json({"a": number, "b": None}) == '{"a":null}'


@pytest.mark.parametrize("profile", ["jcs", *DOUBLE_PROFILES])
@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_non_finite_floats_are_an_error_in_the_other_profiles(
    engine: ModuleType, error_of: Any, profile: str, number: float
) -> None:
    assert error_of(engine.canonical_with, profile, {"a": [1, number]}) == (
        "FloatDomainError",
        "$.a[1]: float is not a finite number",
    )


class OddInt(int):
    """An int that lies about itself wherever it can."""

    def __str__(self) -> str:
        return "no"

    __repr__ = __format__ = __str__  # type: ignore[assignment]

    def __index__(self) -> int:
        return -1

    __int__ = __trunc__ = __abs__ = __neg__ = __index__

    def __float__(self) -> float:
        return 0.5

    def __eq__(self, other: object) -> bool:
        return True

    def __lt__(self, other: object) -> bool:
        return True

    __le__ = __gt__ = __ge__ = __lt__

    def __hash__(self) -> int:
        return 3

    def __rshift__(self, other: object) -> int:  # type: ignore[override]
        return 0


class OddFloat(float):
    """A float that lies about itself wherever it can."""

    def __str__(self) -> str:
        return "no"

    __repr__ = __format__ = __str__  # type: ignore[assignment]

    def __float__(self) -> float:
        return 0.25

    def __int__(self) -> int:
        return 7

    __trunc__ = __int__

    def __abs__(self) -> float:
        return 9.0

    def is_integer(self) -> bool:
        return False

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 3


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 12345678901234567890


class Ratio(float, enum.Enum):
    HALF = 0.5


@pytest.mark.parametrize("profile", DOUBLE_PROFILES)
def test_subclasses_of_numbers_are_read_by_their_data(engine: ModuleType, profile: str) -> None:
    values = [OddInt(5), OddInt(2**60), OddFloat(1.5), OddFloat(-0.0), Level.LOW, Ratio.HALF]
    assert engine.canonical_with(profile, values) == "[5,1152921504606847000,1.5,0,1,0.5]"


def test_subclasses_of_int_of_any_size_are_read_by_their_data(engine: ModuleType) -> None:
    for number in (0, -5, 2**62, -(2**63), 2**64 + 1, -(10**21) + 1, 10**21, 10**400):
        assert engine.canonical_json(OddInt(number)) == engine.canonical_json(number)


@pytest.mark.parametrize("number", [0.0, -2.5, 2.0**60, 1e21, 1e300, math.nan, math.inf])
def test_subclasses_of_float_of_any_size_are_read_by_their_data(
    engine: ModuleType, number: float
) -> None:
    assert engine.canonical_json(OddFloat(number)) == engine.canonical_json(number)


def test_enum_members_mixed_with_numbers_are_read_by_their_data(engine: ModuleType) -> None:
    assert engine.canonical_json([Level.LOW, Level.HIGH, Ratio.HALF]) == (
        "[1,12345678901234567890,0.5]"
    )
    assert engine.canonical_with("jcs", [Level.LOW, Ratio.HALF]) == "[1,0.5]"


def test_numbers_of_wrong_size_in_subclasses_are_errors_naming_the_subclass(
    engine: ModuleType, error_of: Any
) -> None:
    assert error_of(engine.canonical_with, "jcs", Level.HIGH) == (
        "IntegerDomainError",
        f"$: {__name__}.Level is outside the range of exact integers",
    )
    assert error_of(engine.canonical_with, "jcs", OddFloat("nan")) == (
        "FloatDomainError",
        f"$: {__name__}.OddFloat is not a finite number",
    )


def test_every_int_of_few_bits_and_its_neighbours_agree_with_pythons_digits(
    engine: ModuleType,
) -> None:
    numbers = [
        sign * (3**power + step)
        for power in range(45)
        for step in range(-3, 4)
        for sign in (1, -1)
        if 3**power + step < 10**21
    ]
    assert engine.canonical_json(numbers) == "[" + ",".join(map(str, numbers)) + "]"


def joined(texts: list[str]) -> str:
    return "[" + ",".join(texts) + "]"


def test_ints_up_to_100_000_are_written_in_lists_tuples_and_objects(engine: ModuleType) -> None:
    numbers = list(range(-100_000, 100_001))
    texts = list(map(str, numbers))
    assert engine.canonical_json(numbers) == joined(texts)
    assert engine.canonical_json(tuple(numbers)) == joined(texts)
    some = numbers[::97]
    assert engine.canonical_json([{"n": number} for number in some]) == joined(
        [f'{{"n":{number}}}' for number in some]
    )


def test_ints_of_every_length_in_no_order_are_written_in_lists_and_objects(
    engine: ModuleType,
) -> None:
    magnitudes = [0, LARGEST_SAFE, LARGEST_SAFE + 1, 2**63 - 1, 2**63, 2**63 + 1]
    magnitudes += [10**power + step for power in range(21) for step in (-1, 0, 1)]
    magnitudes += [2**power + step for power in range(1, 70) for step in (-1, 0, 1)]
    numbers = [sign * magnitude for magnitude in magnitudes for sign in (1, -1)]
    random.Random(1).shuffle(numbers)
    texts = list(map(str, numbers))
    assert engine.canonical_json(numbers) == joined(texts)
    assert engine.canonical_json([[number] for number in numbers]) == joined(
        [f"[{text}]" for text in texts]
    )
    assert engine.canonical_json([{"n": number} for number in numbers]) == joined(
        [f'{{"n":{text}}}' for text in texts]
    )


class Unit(int):
    """An int that is not of the exact type."""


NEIGHBOURS: list[tuple[Any, str]] = [
    (7, "7"),
    (-(2**40), "-1099511627776"),
    (2.5, "2.5"),
    (-1.2345678901234567e-200, "-1.2345678901234567e-200"),
    (2**60, "1152921504606846976"),
    (2.0**60, "1152921504606846976"),
    (Unit(0), "0"),
    (math.inf, "null"),
    ("1", '"1"'),
    ([], "[]"),
    ([1], "[1]"),
]
"""Items that a list may have side by side, and their texts in the overturn profile."""


def test_numbers_between_other_items_are_set_apart_by_one_comma_each(engine: ModuleType) -> None:
    for count in range(4):
        for items in itertools.product(NEIGHBOURS, repeat=count):
            values = [value for value, _ in items]
            expected = joined([text for _, text in items])
            assert engine.canonical_json(values) == expected
            assert engine.canonical_json(tuple(values)) == expected


@pytest.mark.parametrize("number", [3, -(2**53 - 1), 0.5, -1.2345678901234567e-100, 5e-324])
def test_lists_of_numbers_of_any_length_are_written_and_hashed_alike(
    engine: ModuleType, number: float
) -> None:
    text = repr(number)
    lengths = {*range(70), *range(600, 670), 999, 1_000, 4_999, 5_000, 5_001, 10_000}
    for length in sorted(lengths):
        expected = joined([text] * length)
        assert engine.canonical_json([number] * length) == expected
        assert engine.hash_json([number] * length) == hashlib.sha256(expected.encode()).hexdigest()


@pytest.mark.parametrize("count", [999, 1_000, 1_001, 4_999, 5_000, 5_001, 20_000])
def test_long_lists_of_floats_are_written_as_bytes(count: int) -> None:
    source = random.Random(count)
    longest = [-1.2345678901234567e-100] * count
    mixed = [source.choice((-1 - source.random(), 1 + source.random() * 99)) for _ in longest]
    for numbers in (longest, mixed, [*mixed, 1, "1"]):
        expected = [f'"{item}"' if isinstance(item, str) else repr(item) for item in numbers]
        assert jcs.dumps(numbers) == joined(expected).encode()
