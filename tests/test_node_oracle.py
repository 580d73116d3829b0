"""JavaScript as an oracle: numbers and strings against ``JSON.stringify``.

Where Node is on the path it is asked about new random values in one process; values that it gave
before are stored beside, so that a machine without it checks the rule too. Run as a program, this
file writes those stored values anew.
"""

from __future__ import annotations

import json
import math
import random
import shutil
import struct
import subprocess
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

import pytest

STORED = Path(__file__).parent / "data" / "node"

# Reads a JSON array of [kind, hexadecimal] and writes a JSON array of texts.
PROGRAM = """
const requests = JSON.parse(require("fs").readFileSync(0, "utf8"));
const view = new DataView(new ArrayBuffer(8));
const texts = requests.map(([kind, hex]) => {
    if (kind === "number") {
        view.setBigUint64(0, BigInt("0x" + hex));
        return JSON.stringify(view.getFloat64(0));
    }
    const units = hex === "" ? [] : hex.match(/.{4}/g).map(unit => parseInt(unit, 16));
    return JSON.stringify(String.fromCharCode(...units));
});
process.stdout.write(JSON.stringify(texts));
"""

UNITS = [
    *(0x00, 0x08, 0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x1F, 0x20, 0x22, 0x2F, 0x5C, 0x61, 0x7F, 0x80),
    *(0xA0, 0xE9, 0x2028, 0x2029, 0x4E2D, 0xD7FF, 0xD800, 0xD83D, 0xDBFF, 0xDC00, 0xDE00, 0xDFFF),
    *(0xE000, 0xFEFF, 0xFFFD, 0xFFFF),
]


def double(bits: str) -> float:
    return float(struct.unpack(">d", bytes.fromhex(bits))[0])


def bits_of(number: float) -> str:
    return struct.pack(">d", number).hex()


def text_of(units: str) -> str:
    """A str with a code point for each code unit, pairs not joined."""
    return "".join(chr(int(units[at : at + 4], 16)) for at in range(0, len(units), 4))


def some_numbers(source: random.Random, count: int) -> list[str]:
    """Bits of doubles: special ones, neighbours of powers, short decimals, random patterns."""
    numbers: list[float] = [0.0, -0.0, math.inf, math.nan, 5e-324, 1.7976931348623157e308, 2.5]
    for power in (-324, -308, -22, -7, -6, -5, -1, 0, 1, 15, 16, 17, 20, 21, 22, 23, 300, 308):
        near = float(f"1e{power}")
        numbers += [near, -near, math.nextafter(near, 0), math.nextafter(near, math.inf)]
    for power in (-1074, -1023, -1022, -1, 52, 53, 54, 62, 63, 64, 69, 70, 1023):
        near = math.ldexp(1, power)
        numbers += [near, -near, math.nextafter(near, 0), math.nextafter(near, math.inf)]
    bits = [bits_of(number) for number in numbers]
    while len(bits) < count:
        kind = source.randrange(3)
        if kind == 0:
            bits.append(f"{source.getrandbits(64):016x}")
        elif kind == 1:
            bits.append(bits_of(source.randrange(10**6) * 10.0 ** source.randrange(-12, 24)))
        else:
            bits.append(bits_of(round(source.uniform(-(10**5), 10**5), source.randrange(8))))
    return bits


def some_strings(source: random.Random, count: int) -> list[str]:
    """Code units of strings: each special one alone, and random mixtures."""
    strings = ["", *[f"{unit:04x}" for unit in UNITS]]
    while len(strings) < count:
        length = source.choice((1, 2, 3, 4, 8, 17, 33))
        strings.append("".join(f"{source.choice(UNITS):04x}" for _ in range(length)))
    return strings


def ask_node(requests: list[tuple[str, str]]) -> list[str]:
    """What ``JSON.stringify`` makes of each request."""
    node = shutil.which("node")
    assert node is not None
    command, given = [node, "-e", PROGRAM], json.dumps(requests)
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=True)
    return list(json.loads(done.stdout))


def stored(name: str) -> list[tuple[str, str]]:
    """The rows of a file of stored values."""
    lines = (STORED / name).read_text("utf-8").split("\n")
    rows = [line.split("\t") for line in lines if line]
    return [(given, text) for given, text in rows]


# -- checks ----------------------------------------------------------------------------------------


def check_numbers(engine: ModuleType, rows: Iterable[tuple[str, str]]) -> None:
    for bits, text in rows:
        number = double(bits)
        if not math.isfinite(number):
            assert text == engine.canonical_json(number) == "null"
            continue
        for profile in ("jcs", "jcs-double", "mcpulse", "pleach"):
            assert engine.canonical_with(profile, number) == text, bits
        if number.is_integer() and 2**53 < abs(number) < 1e21:
            assert engine.canonical_json(number) == str(int(number)), bits
        else:
            assert engine.canonical_json(number) == text, bits
        if number.is_integer():
            assert engine.canonical_with("pleach", int(number)) == text, bits


def check_strings(engine: ModuleType, rows: Iterable[tuple[str, str]]) -> None:
    for units, text in rows:
        value = text_of(units)
        joined = value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        for spelling in (value, joined):
            assert engine.canonical_with("pleach", spelling) == text, units
            assert engine.canonical_with("pleach", {spelling: 1}) == f"{{{text}:1}}", units
            assert engine.canonical_json({spelling: 1}) == f"{{{text}:1}}", units
            if spelling == spelling.strip():
                assert engine.canonical_json(spelling) == text, units


def test_stored_numbers_are_written_as_javascript_writes_them(engine: ModuleType) -> None:
    rows = stored("numbers.tsv")
    assert len(rows) == 1_200
    check_numbers(engine, rows)


def test_stored_strings_are_written_as_javascript_writes_them(engine: ModuleType) -> None:
    rows = stored("strings.tsv")
    assert len(rows) == 400
    check_strings(engine, rows)


@pytest.fixture(scope="module")
def fresh() -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Numbers and strings with the texts that Node gives them now."""
    if shutil.which("node") is None:
        pytest.skip("Node is not on the path; the stored values are checked all the same")
    source = random.Random()
    numbers, strings = some_numbers(source, 10_000), some_strings(source, 3_000)
    texts = ask_node([("number", bits) for bits in numbers] + [("string", s) for s in strings])
    of_numbers, of_strings = texts[: len(numbers)], texts[len(numbers) :]
    return (
        list(zip(numbers, of_numbers, strict=True)),
        list(zip(strings, of_strings, strict=True)),
    )


def test_new_numbers_are_written_as_node_writes_them(
    engine: ModuleType, fresh: tuple[list[tuple[str, str]], list[tuple[str, str]]]
) -> None:
    check_numbers(engine, fresh[0])


def test_new_strings_are_written_as_node_writes_them(
    engine: ModuleType, fresh: tuple[list[tuple[str, str]], list[tuple[str, str]]]
) -> None:
    check_strings(engine, fresh[1])


def write_stored_values() -> None:
    """Ask Node about a fixed choice of values and store what it says."""
    source = random.Random(262)
    for name, kind, given in (
        ("numbers.tsv", "number", some_numbers(source, 1_200)),
        ("strings.tsv", "string", some_strings(source, 400)),
    ):
        texts = ask_node([(kind, value) for value in given])
        rows = [f"{value}\t{text}\n" for value, text in zip(given, texts, strict=True)]
        (STORED / name).write_text("".join(rows), "utf-8", newline="\n")


if __name__ == "__main__":
    write_stored_values()
