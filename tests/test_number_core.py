"""The number writer and reader: the C core, compiled by itself in every variant, and its twin.

The tests that compile are about csrc/core alone and need a C compiler, not Python's headers.
"""

from __future__ import annotations

import hashlib
import importlib.util
import itertools
import math
import random
import re
import struct
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import boundary_doubles
import pytest
from core_compiler import compiler

from overturn_fast._pure import numbers

ROOT = Path(__file__).resolve().parent.parent
CORE = ROOT / "csrc" / "core"
DATA = ROOT / "tests" / "data" / "numbers"
SOURCES = [
    ROOT / "tests" / "c" / "numbers_check.c",
    CORE / "number_write.c",
    CORE / "number_read.c",
    CORE / "number_big.c",
    CORE / "power_table.c",
]
VARIANTS = {
    "as-it-is": (),
    "portable-products": ("-DOVT_PORTABLE_128",),
    "portable-products-and-vectors": ("-DOVT_PORTABLE_128", "-DOVT_PORTABLE_SIMD"),
}

ES6_FIRST_10_000 = "b9f7a8e75ef22a835685a52ccba7f7d6bdc99e34b010992cbc5864cd12be6892"
ES6_FIRST_1_000_000 = "49415fee2c56c77864931bd3624faad425c3c577d6d74e89a83bc725506dad16"
ES6_FIXED, ES6_SERIAL = 168, 2_000

LIMIT_S = 300
"""The longest run takes a second or two; what is quadratic in the tests below takes hours."""

LARGEST = sys.float_info.max
INFINITY_BITS = 0x7FF << 52
EXACT_LIMIT = 10**21


class CheckProgram:
    """tests/c/numbers_check.c, built with these additional flags."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def output(self, *arguments: str, stdin: str = "") -> str:
        done = subprocess.run(
            [self.path, *arguments], input=stdin, capture_output=True, text=True, timeout=LIMIT_S
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def lines(self, mode: str, lines: list[str]) -> list[str]:
        return self.output(mode, stdin="".join(f"{line}\n" for line in lines)).splitlines()

    def write(self, values: list[float]) -> list[str]:
        return self.lines("write", [f"{bits_of(value):016x}" for value in values])

    def read_bits(self, texts: list[str]) -> list[int]:
        """The bits of each text's value, all of which are read to their ends."""
        results = [line.split() for line in self.lines("read", texts)]
        assert [int(result[0]) for result in results] == [len(text) for text in texts]
        return [int(result[-1], 16) for result in results]


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, CheckProgram]:
    built = {}
    for name, flags in VARIANTS.items():
        program = tmp_path_factory.mktemp("numbers") / name
        common = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Wconversion"]
        command = [*compiler(), *common, *flags, f"-I{CORE}", *map(str, SOURCES), "-o", program]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        built[name] = CheckProgram(program)
    return built


@pytest.fixture(params=VARIANTS)
def check(request: pytest.FixtureRequest, programs: dict[str, CheckProgram]) -> CheckProgram:
    return programs[request.param]


def bits_of(value: float) -> int:
    return int.from_bytes(struct.pack(">d", value), "big")


def double_of(bits: int) -> float:
    value: float = struct.unpack(">d", bits.to_bytes(8, "big"))[0]
    return value


def rows(name: str) -> list[list[str]]:
    separator = "," if name.endswith(".txt") else "\t"
    text = (DATA / name).read_text(encoding="utf-8")
    return [line.split(separator) for line in text.splitlines()]


def finite_rows(name: str) -> tuple[list[float], list[str]]:
    """The doubles of a vector file and their texts, those that JSON has no text for left out."""
    pairs = [(double_of(int(row[0], 16)), row[1]) for row in rows(name)]
    finite = [(value, text) for value, text in pairs if math.isfinite(value)]
    return [value for value, _ in finite], [text for _, text in finite]


def random_doubles(count: int, seed: int) -> list[float]:
    source = random.Random(seed)
    values = (double_of(source.getrandbits(64)) for _ in range(2 * count))
    return [value for value in values if math.isfinite(value)][:count]


def everyday_doubles(count: int, seed: int) -> list[float]:
    """Doubles as people write them: few decimals, few digits, integers of every size."""
    source = random.Random(seed)
    kinds = (
        lambda: source.randrange(-(10**8), 10**8) / 100,
        lambda: round(source.uniform(-180, 180), source.randrange(9)),
        lambda: float(source.getrandbits(source.randint(1, 80))),
        lambda: float(f"{source.randrange(1, 1000)}e{source.randint(-30, 30)}"),
        lambda: source.getrandbits(source.randint(50, 60)) / 2 ** source.randrange(9),
    )
    return [source.choice(kinds)() for _ in range(count)]


# -- the table and the error bounds ----------------------------------------------------------------


def test_the_generator_reproduces_the_power_table_byte_for_byte() -> None:
    path = ROOT / "tools" / "generate_power_table.py"
    spec = importlib.util.spec_from_file_location("generate_power_table", path)
    assert spec is not None
    assert spec.loader is not None
    generator = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generator)
    assert (CORE / "power_table.c").read_bytes() == generator.render().encode("ascii")


def test_no_point_lies_closer_to_the_grid_than_the_exact_path_assumes() -> None:
    """shortest_exact takes a fraction below 2**-67 for 0, and errs by less than 2**-68 upwards."""
    smallest, largest = Fraction(1, 2**66), 1 - Fraction(1, 2**62)
    for exponent in range(
        boundary_doubles.SMALLEST_EXPONENT, boundary_doubles.LARGEST_EXPONENT + 1
    ):
        k = boundary_doubles.floor_log10_of_power_of_two(exponent)
        multiplier = Fraction(2) ** (exponent + 1) / Fraction(10) ** k
        above, below = boundary_doubles.smallest_distances(multiplier, 2**54)
        assert above > smallest
        assert 1 - below < largest

        # A power of two has an interval of three quarters, and a grid and a lower end of its own.
        if 3 * Fraction(2) ** (exponent - 2) < Fraction(10) ** k:
            k -= 1
        for quarters in (2**54 - 1, 2**54, 2**54 + 2):
            scaled = quarters * Fraction(2) ** exponent / Fraction(10) ** k
            assert scaled.denominator == 1 or smallest < scaled - math.floor(scaled) < largest


# -- agreement of the variants ---------------------------------------------------------------------


def test_round_trips_hold_and_all_variants_write_the_same_texts(
    programs: dict[str, CheckProgram],
) -> None:
    for arguments in (("edges",), ("random", "1", "100000")):
        checksums = {program.output(*arguments) for program in programs.values()}
        assert len(checksums) == 1


# -- writing ---------------------------------------------------------------------------------------

WRITE_VECTORS = [
    "rfc8785_appendix_b.tsv",
    "test262_number_to_string.tsv",
    "shortest.tsv",
    "es6_first_10000.txt",
]


@pytest.mark.parametrize("name", WRITE_VECTORS)
def test_the_core_writes_the_texts_of_the_vectors(check: CheckProgram, name: str) -> None:
    values, texts = finite_rows(name)
    assert check.write(values) == texts


@pytest.mark.parametrize("name", WRITE_VECTORS)
def test_the_twin_writes_the_texts_of_the_vectors(name: str) -> None:
    values, texts = finite_rows(name)
    assert [numbers.ecmascript(value) for value in values] == texts


def test_the_twin_refuses_what_json_has_no_text_for() -> None:
    for name in ("rfc8785_appendix_b.tsv", "test262_number_to_string.tsv"):
        refused = [double_of(int(row[0], 16)) for row in rows(name)]
        refused = [value for value in refused if not math.isfinite(value)]
        assert refused
        for value in refused:
            with pytest.raises(ValueError, match="no JSON text"):
                numbers.ecmascript(value)
            with pytest.raises(ValueError, match="no JSON text"):
                numbers.integral_exact(value)


def es6_table() -> Iterator[int]:
    """The bits of the ES6 number table: fixed ones, serial ones, then a chain of SHA-256."""
    fixed = [int(row[0], 16) for row in rows("es6_first_10000.txt")[:ES6_FIXED]]
    yield from fixed
    yield from range(1 << 52, (1 << 52) + ES6_SERIAL)
    block = bytes(32)
    while True:
        block = hashlib.sha256(block).digest()
        for bits in struct.unpack("<4Q", block):
            value = double_of(bits)
            if value != 0 and math.isfinite(value):
                yield bits


def test_the_core_writes_the_first_million_lines_of_the_es6_table(
    programs: dict[str, CheckProgram],
) -> None:
    table = es6_table()
    digest = hashlib.sha256()
    for count, expected in ((10_000, ES6_FIRST_10_000), (990_000, ES6_FIRST_1_000_000)):
        part = list(itertools.islice(table, count))
        texts = programs["as-it-is"].lines("write", [f"{bits:016x}" for bits in part])
        lines = (f"{bits:x},{text}\n" for bits, text in zip(part, texts, strict=True))
        digest.update("".join(lines).encode("ascii"))
        assert digest.hexdigest() == expected


def test_the_core_writes_random_and_everyday_doubles_as_its_twin_does(check: CheckProgram) -> None:
    values = random_doubles(200_000, seed=3) + everyday_doubles(50_000, seed=4)
    assert check.write(values) == [numbers.ecmascript(value) for value in values]


def short_decimals(count: int, seed: int) -> list[float]:
    """Decimals of up to nine digits on either side of the point, the values next to them, and the
    ends of what the writer's path for short ones takes, doubles beside powers of two among them."""
    source = random.Random(seed)
    values = [source.randrange(10 ** source.randint(1, 17)) / 10**8 for _ in range(count)]
    values += [2.0**power for power in range(-14, 26)]
    values += [power - 10.0**-places for power in (2.0**23, 1e7, 2.0**24) for places in range(10)]
    near = (bits_of(value) + step for value in values for step in (-2, -1, 0, 1, 2))
    return [double_of(bits) for bits in near if 0 <= bits < INFINITY_BITS]


def test_the_core_writes_short_decimals_and_their_neighbours_as_repr_does(
    check: CheckProgram,
) -> None:
    values = short_decimals(4_000, seed=15)
    written = check.write(values)
    assert [float(text) for text in written] == values
    assert [len(digits_of(text)) for text in written] == [
        len(digits_of(repr(value))) for value in values
    ]
    assert written == [numbers.ecmascript(value) for value in values]


def digits_of(text: str) -> str:
    """The significant digits of a number's text."""
    mantissa = text.lower().partition("e")[0].removesuffix(".0")
    return mantissa.replace(".", "").strip("0")


def test_the_core_reads_short_decimals_of_every_length_as_float_does(check: CheckProgram) -> None:
    source = random.Random(16)
    texts = [
        f"{sign}{source.randrange(10**whole) if source.random() < 0.9 else 0}."
        f"{source.randrange(10**places):0{places}}{exponent}"
        for whole in range(1, 10)
        for places in range(1, 11)
        for sign in ("", "-")
        for exponent in ("", "", "", "e5", "E-7")
        for _ in range(8)
    ]
    texts += [f"{zero}.{'0' * places}" for zero in ("0", "-0") for places in range(1, 12)]
    assert check.read_bits(texts) == [bits_of(float(text)) for text in texts]


@pytest.fixture(scope="module")
def boundaries() -> tuple[list[float], list[str]]:
    """The tightest doubles of every exponent, and what the exact oracle wants for them."""
    values = list(boundary_doubles.boundary_doubles())
    texts = []
    for value in values:
        digits, exponent = boundary_doubles.shortest_digits(value)
        texts.append(f"{digits}e{exponent}")
    return values, texts


def normalised(text: str) -> str:
    """Any decimal text as digits without zeros at the ends, an ``e`` and their exponent."""
    mantissa, _, exponent = text.partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    last = int(exponent or "0") - len(fraction) + len(digits) - len(digits.rstrip("0"))
    return f"{digits.rstrip('0')}e{last}"


def test_the_core_writes_the_tightest_doubles_as_an_exact_oracle_does(
    programs: dict[str, CheckProgram], boundaries: tuple[list[float], list[str]]
) -> None:
    values, expected = boundaries
    assert len(values) > 60_000
    for program in programs.values():
        texts = program.write(values)
        assert [normalised(text) for text in texts] == expected
        assert program.read_bits(texts) == [bits_of(value) for value in values]


def test_the_twin_writes_the_tightest_doubles_as_an_exact_oracle_does(
    boundaries: tuple[list[float], list[str]],
) -> None:
    values, expected = boundaries
    assert [normalised(numbers.ecmascript(value)) for value in values] == expected


def test_integral_doubles_below_1e21_get_all_their_digits_on_request(check: CheckProgram) -> None:
    source = random.Random(5)
    values = [math.ldexp(source.getrandbits(53), source.randint(-20, 17)) for _ in range(5_000)]
    values += [math.nextafter(1e21, 0.0), 1e21, 0.0, -0.0, 0.5, 1e300, 5e-324, 2.0**53, 2.0**69]
    values += [-value for value in values]
    texts = [
        str(int(value)) if value == int(value) and abs(value) < 1e21 else numbers.ecmascript(value)
        for value in values
    ]
    assert [numbers.integral_exact(value) for value in values] == texts
    assert check.lines("exact", [f"{bits_of(value):016x}" for value in values]) == texts


def test_integers_of_64_bits_are_written_with_all_their_digits(check: CheckProgram) -> None:
    source = random.Random(6)
    values = [source.getrandbits(64) >> source.randrange(64) for _ in range(20_000)]
    values += [10**power + step for power in range(20) for step in (-1, 0, 1)]
    values += [(1 << 64) - 1, 1 << 63, (1 << 63) - 1, 10**19]
    words = [f"{value:016x}" for value in values]
    assert check.lines("u64", words) == [str(value) for value in values]
    signed = [value - (value >> 63 << 64) for value in values]
    assert check.lines("i64", words) == [str(value) for value in signed]


def test_integers_of_every_length_and_up_to_100_000_are_written_with_their_digits(
    check: CheckProgram,
) -> None:
    values = list(range(100_001))
    values += [10**power + step for power in range(20) for step in (-1, 0, 1)]
    values += [2**power + step for power in range(1, 64) for step in (-1, 0, 1)]
    # The largest and the smallest of each length that a highest bit goes with.
    values += [min(10**length, 2**bits) - 1 for length in range(1, 20) for bits in range(1, 65)]
    values += [10**16 * top + rest for top in (1, 9, 10, 99, 1844) for rest in (0, 1, 10**15, 9)]
    values += [10**8 * upper + lower for upper in (1, 10**7, 10**8 - 1) for lower in (0, 1, 10**7)]
    values += [(1 << 64) - 1, (1 << 63) - 1, 1 << 63]
    assert check.lines("u64", [f"{value:016x}" for value in values]) == list(map(str, values))
    signed = [sign * value for value in values if value < 1 << 63 for sign in (1, -1)]
    signed.append(-(1 << 63))
    words = [f"{value % (1 << 64):016x}" for value in signed]
    assert check.lines("i64", words) == list(map(str, signed))


def test_doubles_of_sixteen_and_seventeen_digits_are_written_at_every_exponent(
    check: CheckProgram,
) -> None:
    source = random.Random(8)
    values = [
        math.ldexp(source.choice((-1, 1)) * source.randrange(2**52, 2**53), exponent - 52)
        for exponent in range(-1_021, 1_023)
        for _ in range(20)
    ]
    texts = check.write(values)
    assert texts == [numbers.ecmascript(value) for value in values]
    assert list(map(float, texts)) == values
    assert [len(significant_digits(text)) for text in texts] == [
        len(significant_digits(repr(value))) for value in values
    ]


def significant_digits(text: str) -> str:
    return re.sub(r"e.*|[^0-9]", "", text).strip("0")


# -- integers of any size --------------------------------------------------------------------------


def big_integers() -> list[int]:
    source = random.Random(7)
    values = [0, 1, 10**9, 10**18 - 1]
    for limbs in (*range(1, 70), 127, 128, 129, 255, 256, 257, 300):
        values += [source.getrandbits(64 * limbs), (1 << 64 * limbs) - 1, 1 << (64 * limbs - 1)]
    for power in (*range(1, 700, 37), 1_023, 1_024, 1_025, 5_000):
        values += [10**power - 1, 10**power, 10**power + 1]
    return values


def as_limbs(value: int) -> str:
    width = (value.bit_length() + 63) // 64 * 16
    return f"{value:0{width}x}" if value else ""


def test_the_core_writes_integers_of_any_size_as_its_twin_does(check: CheckProgram) -> None:
    values = big_integers()
    texts = check.lines("big", [as_limbs(value) for value in values])
    assert texts == [numbers.decimal_text(value) for value in values]


def test_the_twin_writes_every_digit_of_an_integer_and_its_sign() -> None:
    for power in (*range(0, 700, 9), 511, 512, 513, 1_023, 1_024, 1_025, 4_096):
        for step in (-1, 0, 1):
            ten = "1" + "0" * power
            expected = {-1: "9" * power or "0", 0: ten, 1: ten[:-1] + "1" if power else "2"}[step]
            assert numbers.decimal_text(10**power + step) == expected
            if expected != "0":
                assert numbers.decimal_text(-(10**power) - step) == "-" + expected


@pytest.mark.skipif(not hasattr(sys, "set_int_max_str_digits"), reason="there is no limit")
def test_the_twin_is_not_held_by_the_limit_of_digits_and_does_not_change_it() -> None:
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    try:
        assert numbers.decimal_text(10**5_000 - 1) == "9" * 5_000
        assert numbers.integral_exact(1e20) == "1" + "0" * 20
        assert sys.get_int_max_str_digits() == 640
    finally:
        sys.set_int_max_str_digits(before)


def test_100_000_digits_are_written(check: CheckProgram) -> None:
    value = 10**100_000 - 1
    assert check.lines("big", [as_limbs(value)]) == ["9" * 100_000]
    assert numbers.decimal_text(value) == "9" * 100_000


def test_subclasses_are_written_by_their_value_and_never_asked_for_a_text() -> None:
    class Talkative(float):
        def __repr__(self) -> str:
            raise AssertionError

        __str__ = __pos__ = __abs__ = __format__ = __repr__  # type: ignore[assignment]

    class TalkativeInt(int):
        def __repr__(self) -> str:
            raise AssertionError

        __str__ = __pos__ = __neg__ = __format__ = __repr__  # type: ignore[assignment]

    assert numbers.ecmascript(Talkative(-2.5)) == "-2.5"
    assert numbers.integral_exact(Talkative(1e20)) == "1" + "0" * 20
    assert numbers.decimal_text(TalkativeInt(-(10**600))) == "-1" + "0" * 600
    assert numbers.decimal_text(True) == "1"


# -- reading ---------------------------------------------------------------------------------------


def test_the_core_reads_the_texts_of_the_vectors(check: CheckProgram) -> None:
    table = rows("decimal_to_double.tsv")
    assert check.read_bits([row[1] for row in table]) == [int(row[0], 16) for row in table]


def test_the_twin_reads_the_texts_of_the_vectors() -> None:
    for bits, text, _ in rows("decimal_to_double.tsv"):
        assert bits_of(numbers.parse(text)) == int(bits, 16)


@pytest.mark.parametrize("name", WRITE_VECTORS)
def test_what_is_written_is_read_back_as_the_same_double(check: CheckProgram, name: str) -> None:
    values, texts = finite_rows(name)
    bits = [bits_of(value + 0.0) for value in values]  # -0.0 is written as 0
    assert check.read_bits(texts) == bits
    assert [bits_of(numbers.parse(text)) for text in texts] == bits


def test_the_core_reads_random_texts_as_float_does(check: CheckProgram) -> None:
    source = random.Random(8)
    texts = [numbers.ecmascript(value) for value in random_doubles(100_000, seed=9)]
    texts += [numbers.ecmascript(value) for value in everyday_doubles(30_000, seed=10)]
    texts += [f"{value:.{source.randint(15, 40)}e}" for value in random_doubles(20_000, seed=11)]
    for _ in range(50_000):
        texts.append(f"{source.getrandbits(source.randint(1, 90))}e{source.randint(-370, 320)}")
    assert check.read_bits(texts) == [bits_of(float(text)) for text in texts]


def midpoint(bits: int) -> tuple[int, int]:
    """The middle between the double of these bits and the next, as digits * 10**exponent."""
    biased, fraction = divmod(bits, 1 << 52)
    significand = fraction + (1 << 52 if biased else 0)
    odd, exponent = 2 * significand + 1, max(biased, 1) - 1_076
    if exponent >= 0:
        return odd << exponent, 0
    return odd * 5**-exponent, exponent


def halfway_cases() -> Iterator[tuple[str, int]]:
    """Midpoints and numbers a hair above and below them, with the bits that they round to."""
    source = random.Random(12)
    chosen = {0, 1, 2, 3, (1 << 52) - 1, 1 << 52, bits_of(LARGEST), bits_of(LARGEST) - 1}
    chosen |= {(biased << 52) + step for biased in range(1, 0x7FF, 61) for step in (-1, 0, 1)}
    chosen |= {source.randrange(INFINITY_BITS) for _ in range(150)}
    chosen |= {source.getrandbits(source.randint(1, 53)) for _ in range(100)}
    chosen |= {bits_of(float((1 << 53) + source.getrandbits(53))) for _ in range(20)}
    for bits in sorted(chosen):
        digits, exponent = midpoint(bits)
        even = bits + bits % 2
        for zeros in (0, 1, 40):
            scaled = digits * 10**zeros
            for step, expected in ((-1, bits), (0, even), (1, bits + 1)):
                text = numbers.decimal_text(scaled + step)
                yield f"{text}e{exponent - zeros}", expected
                point = source.randint(1, len(text))
                moved = text[:point] + "." + text[point:] if point < len(text) else text
                yield f"{moved}e{exponent - zeros + len(text) - point}", expected


def test_numbers_at_and_beside_the_middle_of_two_doubles_round_as_they_must(
    check: CheckProgram,
) -> None:
    texts, expected = map(list, zip(*halfway_cases(), strict=True))
    assert max(map(len, texts)) > 750
    assert check.read_bits(texts) == expected
    assert [bits_of(numbers.parse(text)) for text in texts] == expected


def test_a_digit_far_behind_decides_a_tie(check: CheckProgram) -> None:
    digits, exponent = midpoint(1)
    text = numbers.decimal_text(digits)
    for zeros in (1, 40, 800, 20_000):
        tie = text + "0" * zeros
        pairs = [
            (f"{tie}e{exponent - zeros}", 2),
            (f"{tie}1e{exponent - zeros - 1}", 2),
            (f"{tie}.{'0' * zeros}e{exponent - zeros}", 2),
            (f"{tie}.{'0' * zeros}1e{exponent - zeros}", 2),
        ]
        digits_of_2, exponent_of_2 = midpoint(
            2
        )  # this tie goes down to 2, and up with a digit more
        tie = numbers.decimal_text(digits_of_2) + "0" * zeros
        pairs += [
            (f"{tie}e{exponent_of_2 - zeros}", 2),
            (f"{tie}1e{exponent_of_2 - zeros - 1}", 3),
            (f"{tie}.{'0' * zeros}1e{exponent_of_2 - zeros}", 3),
        ]
        assert check.read_bits([text for text, _ in pairs]) == [bits for _, bits in pairs]


def test_any_number_of_digits_and_any_exponent_are_read(check: CheckProgram) -> None:
    huge = "9" * 30
    one, zero, infinity = bits_of(1.0), bits_of(0.0), INFINITY_BITS
    pairs = [
        ("1" + "0" * 12_000 + "e-12000", one),
        ("0." + "0" * 12_000 + "1e12001", one),
        ("0." + "0" * 12_000 + "e" + huge, zero),
        (f"1e{huge}", infinity),
        (f"1e-{huge}", zero),
        (f"0e{huge}", zero),
        (f"0.0e{huge}", zero),
        (f"1e-{'0' * 50}1", bits_of(0.1)),
        ("3" * 12_000 + "e-12000", bits_of(1 / 3)),
        ("0." + "3" * 12_000, bits_of(1 / 3)),
        ("9" * 400, infinity),
        ("0." + "9" * 400, one),
    ]
    assert check.read_bits([text for text, _ in pairs]) == [bits for _, bits in pairs]
    assert [bits_of(numbers.parse(text)) for text, _ in pairs] == [bits for _, bits in pairs]
    negative = check.read_bits(["-" + text for text, _ in pairs])
    assert negative == [bits | 1 << 63 for _, bits in pairs]


def test_time_to_read_grows_no_faster_than_the_text(check: CheckProgram) -> None:
    texts = [numbers.decimal_text(midpoint(1)[0]) + "0" * 100_000 + "1e-101076"] * 100
    check.read_bits(texts)  # ten million characters, within the limit of a run


def test_integers_are_told_apart_and_kept_exactly_if_64_bits_hold_them(check: CheckProgram) -> None:
    values = [0, 7, 10**15, 2**53 + 1, 10**19 - 1, 10**19, 2**64 - 1, 2**64, 2 * 10**19, 10**20]
    values += [18446744073709551620, 19999999999999999999, 99999999999999999999, 10**30]
    for value in values:
        for sign in ("", "-"):
            text = f"{sign}{value}"
            (line,) = check.lines("read", [text])
            length, is_integer, negative, magnitude, bits = line.split()
            assert (int(length), is_integer, negative) == (len(text), "1", str(len(sign)))
            assert magnitude == (str(value) if value < 2**64 else "-")
            assert int(bits, 16) == bits_of(float(text))
    for text in ("1.0", "1e0", "1E5", "-0.0", "1.5e3"):
        assert check.lines("read", [text])[0].split()[1] == "0"


# Texts, and the offset of the first character that does not fit into a JSON number.
MALFORMED = [
    ("", 0),
    ("-", 1),
    ("+1", 0),
    (".5", 0),
    ("-.5", 1),
    ("1.", 2),
    ("1.e5", 2),
    ("1.x", 2),
    ("1e", 2),
    ("1e+", 3),
    ("1E-x", 3),
    ("0.5e", 4),
    ("--1", 1),
    ("NaN", 0),
    ("-Infinity", 1),
    (" 1", 0),
    ("\u0661", 0),  # a digit of another script
]
FOLLOWED = [("01", 1), ("-00", 2), ("1 ", 1), ("1\n", 1), ("1.5.2", 3), ("1e5e", 3), ("0x10", 1)]


@pytest.mark.parametrize(("text", "offset"), MALFORMED)
def test_what_is_no_json_number_is_refused_where_it_stops_being_one(
    check: CheckProgram, text: str, offset: int
) -> None:
    assert check.lines("read", [text]) == [f"error {offset}"]
    with pytest.raises(ValueError, match=rf"^not a JSON number: offset {offset}$"):
        numbers.parse(text)


@pytest.mark.parametrize(("text", "length"), FOLLOWED)
def test_the_twin_takes_a_whole_number_and_nothing_after_it(text: str, length: int) -> None:
    with pytest.raises(ValueError, match=rf"^not a JSON number: offset {length}$"):
        numbers.parse(text)


def test_the_core_reads_a_number_and_leaves_what_follows(check: CheckProgram) -> None:
    for text, length in FOLLOWED:
        (line,) = check.lines("read", [text.replace("\n", " ")])
        assert int(line.split()[0]) == length


def test_core_and_twin_agree_on_what_a_number_is(check: CheckProgram) -> None:
    source = random.Random(13)
    texts = [
        "".join(source.choices("0123456789.eE+-", k=source.randint(1, 12))) for _ in range(30_000)
    ]
    for text, line in zip(texts, check.lines("read", texts), strict=True):
        kind, value, *_ = line.split()
        try:
            number = numbers.parse(text)
        except ValueError as error:
            offset = int(str(error).rpartition(" ")[2])
            assert offset == int(value if kind == "error" else kind)
        else:
            assert (kind, line.split()[-1]) == (str(len(text)), f"{bits_of(number):016x}")
