"""The string writer of the C core, compiled by itself: every variant that this machine can run.

What is expected comes from ``str.encode`` and from the escapes of RFC 8785, section 3.2.2.2.
"""

from __future__ import annotations

import random
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from core_compiler import WATCHED, can_watch, compiler

ROOT = Path(__file__).resolve().parent.parent
CORE = ROOT / "csrc" / "core"
ALL_VARIANTS = ["avx512", "baseline"]
NONE = 0xFFFFFFFF
LIMIT_S = 300
"""The longest run takes some seconds."""

SHORT_ESCAPES = {8: r"\b", 9: r"\t", 10: r"\n", 12: r"\f", 13: r"\r", 34: r"\"", 92: r"\\"}

# One of each class of code point, the bounds of each, and some whose bytes are those of a quote or
# a backslash.
ASCII = [*map(ord, "a"), 0x20, 0x7E, 0x7F, 0x5B, 0x5D, 0x21, 0x23]
ESCAPED = [*map(ord, '"\\\b\t\n\f\r'), 0x00, 0x07, 0x0B, 0x0E, 0x0F, 0x10, 0x1F]
LATIN = [0x80, 0xA2, 0xDC, 0xE9, 0xFF]
TWO_BYTES = [0x100, 0x22A, 0x6D0, 0x7FF]
THREE_BYTES = [0x800, 0x2200, 0x2222, 0x225C, 0x5C00, 0x5C22, 0x5C5C, 0x58DF, 0xD7FF]
HIGH_THREE_BYTES = [0xE000, 0xFFFF]
SUPPLEMENTARY = [0x10000, 0x1F600, 0x2225C, 0x10FFFF]
SURROGATES = [0xD800, 0xDBFF, 0xDC00, 0xDFFF]
CLASSES = [*ASCII, *ESCAPED, *LATIN, *TWO_BYTES, *THREE_BYTES, *HIGH_THREE_BYTES, *SUPPLEMENTARY,
           *SURROGATES]  # fmt: skip


class CheckProgram:
    """tests/c/strings_check.c with the whole core, built with these additional flags."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.variants = self.output("--variants").split()

    def output(self, *arguments: str | Path) -> str:
        done = subprocess.run([self.path, *arguments], capture_output=True, timeout=LIMIT_S)
        said = done.stderr.decode(errors="replace")
        assert done.returncode == 0, said[-5000:]
        return done.stdout.decode()

    def check(self, cases: list[bytes], folder: Path) -> None:
        """Have every variant write the cases."""
        file = folder / "cases"
        file.write_bytes(b"".join(cases))
        lines = self.output(file, *self.variants).splitlines()
        assert lines == [f"{variant}: {len(cases)} cases" for variant in self.variants]


@pytest.fixture(
    scope="module",
    params=[(), ("-DOVT_PORTABLE_SIMD",)],
    ids=["with-instruction-sets", "portable-only"],
)
def check(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> CheckProgram:
    program = tmp_path_factory.mktemp("strings") / "strings_check"
    flags = ["-std=c11", "-O1", "-Wall", "-Wextra", '-DOVT_VERSION="test"', *request.param]
    flags += WATCHED if can_watch() else []
    sources = [ROOT / "tests" / "c" / "strings_check.c", *sorted(CORE.glob("*.c"))]
    command = [*compiler(), *flags, f"-I{CORE}", *map(str, sources), "-o", str(program)]
    built = subprocess.run(command, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    return CheckProgram(program)


def escaped(code: int) -> bytes:
    """A character of a string in canonical JSON."""
    if code in SHORT_ESCAPES:
        return SHORT_ESCAPES[code].encode()
    if code < 0x20 or 0xD800 <= code < 0xE000:
        return f"\\u{code:04x}".encode()
    return chr(code).encode()


def case(codes: list[int]) -> bytes:
    """A text in the narrowest units that hold it, and what becomes of it."""
    largest = max(codes, default=0)
    width, letter = (1, "B") if largest < 0x100 else (2, "H") if largest < 0x10000 else (4, "I")
    quoted = b'"' + b"".join(map(escaped, codes)) + b'"'
    plain = "".join(map(chr, codes)).encode("utf-8", "surrogatepass")
    has_surrogates = any(0xD800 <= code < 0xE000 for code in codes)
    bytes_size = NONE if has_surrogates else len(plain)
    sizes = struct.pack("=5I", width, len(codes), len(quoted), len(plain), bytes_size)
    units = struct.pack(f"={len(codes)}{letter}", *codes)
    return sizes + units + quoted + plain + (b"" if has_surrogates else plain)


FILLERS = {"ascii": 0x61, "latin": 0xE9, "cyrillic": 0x436, "chinese": 0x4E2D, "emoji": 0x1F600}


@pytest.mark.parametrize("filler", FILLERS)
def test_every_class_of_character_at_every_offset_and_length_around_the_vector_sizes(
    check: CheckProgram, tmp_path: Path, filler: str
) -> None:
    cases = []
    for length in [*range(1, 20), 24, 25, 31, 32, 33, 40, 41, 63, 64, 65]:
        for offset in range(length):
            for code in CLASSES:
                codes = [FILLERS[filler]] * length
                codes[offset] = code
                cases.append(case(codes))
    check.check(cases, tmp_path)


def long_lengths() -> Iterator[int]:
    """Lengths around those of the pieces in which a long text is written."""
    for size in (96, 128, 256, 1024, 2048):
        yield from range(size - 2, size + 3)


def test_every_class_at_the_ends_of_the_pieces_of_a_long_text(
    check: CheckProgram, tmp_path: Path
) -> None:
    cases = []
    for length in long_lengths():
        for filler in FILLERS.values():
            for code in [0x22, 0x01, 0x7FF, 0x800, 0xD800, 0xFFFF, 0x10FFFF]:
                codes = [filler] * length
                codes[-1] = codes[length // 2] = codes[length - 33] = code
                cases.append(case(codes))
    check.check(cases, tmp_path)


def test_every_code_point_alone_and_among_its_neighbours(
    check: CheckProgram, tmp_path: Path
) -> None:
    everything = range(0x110000)
    cases = [case(list(everything[at : at + 0x4000])) for at in range(0, 0x110000, 0x4000)]
    cases += [case([code]) for code in [*range(0x3100), *range(0xD700, 0xE100), 0x10FFFF]]
    cases.append(case([]))
    check.check(cases, tmp_path)


def test_random_mixtures_of_all_classes(check: CheckProgram, tmp_path: Path) -> None:
    source = random.Random(8785)
    cases = []
    for sets in ([ASCII, ESCAPED], [ASCII, LATIN], [ASCII, LATIN, TWO_BYTES, ESCAPED],
                 [THREE_BYTES], [ASCII, THREE_BYTES, HIGH_THREE_BYTES], [SUPPLEMENTARY, ASCII],
                 [CLASSES], [SURROGATES]):  # fmt: skip
        for length in [*range(80), *range(100, 3000, 170)]:
            cases.append(case([source.choice(source.choice(sets)) for _ in range(length)]))
            common = [0x61] * 12
            cases.append(case([source.choice([*common, *source.choice(sets)])
                               for _ in range(length)]))  # fmt: skip
    check.check(cases, tmp_path)


def test_the_best_variant_is_chosen_when_the_library_is_loaded(check: CheckProgram) -> None:
    assert check.output("--chosen").strip() == check.variants[0]


def test_the_variants_of_a_build_are_known_to_the_tests(check: CheckProgram) -> None:
    assert check.variants[-1] == "baseline"
    assert [name for name in ALL_VARIANTS if name in check.variants] == check.variants
