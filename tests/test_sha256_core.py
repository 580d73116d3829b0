"""SHA-256 of the C core, compiled by itself: every variant that this machine can run."""

from __future__ import annotations

import hashlib
import os
import platform
import random
import subprocess
from pathlib import Path

import pytest
from core_compiler import compiler

ROOT = Path(__file__).resolve().parent.parent
CORE = ROOT / "csrc" / "core"
SOURCES = [
    ROOT / "tests" / "c" / "sha256_check.c",
    CORE / "sha256.c",
    CORE / "sha256_x86.c",
    CORE / "sha256_arm.c",
]
VECTORS = [
    ROOT / "tests" / "data" / "sha256" / f"SHA256{kind}.rsp"
    for kind in ("ShortMsg", "LongMsg", "Monte")
]
VECTOR_COUNT = 65 + 64 + 100
ALL_VARIANTS = ("sha-ni", "armv8", "portable")
SELECTOR = "OVERTURN_FAST_SHA256"


class CheckProgram:
    """tests/c/sha256_check.c, built with these additional flags."""

    def __init__(self, path: Path, flags: tuple[str, ...]) -> None:
        self.path = path
        self.portable_only = "-DOVT_PORTABLE_SIMD" in flags
        self.variants = self.output("--variants").strip().split(",")

    def run(
        self, *arguments: str | Path, stdin: str = "", selector: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        environment = {name: value for name, value in os.environ.items() if name != SELECTOR}
        if selector is not None:
            environment[SELECTOR] = selector
        return subprocess.run(
            [self.path, *arguments], input=stdin, env=environment, capture_output=True, text=True
        )

    def output(self, *arguments: str | Path, stdin: str = "") -> str:
        done = self.run(*arguments, stdin=stdin)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture(
    scope="module",
    params=[(), ("-DOVT_PORTABLE_SIMD",)],
    ids=["with-instruction-sets", "portable-only"],
)
def check(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> CheckProgram:
    program = tmp_path_factory.mktemp("sha256") / "sha256_check"
    flags = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Wconversion", "-Wpedantic", *request.param]
    command = [*compiler(), *flags, f"-I{CORE}", *map(str, SOURCES), "-o", str(program)]
    built = subprocess.run(command, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    return CheckProgram(program, request.param)


def integer_root(number: int, degree: int) -> int:
    """The largest integer whose power of that degree is not above the number."""
    low, high = 0, 1 << (number.bit_length() // degree + 1)
    while low < high:
        middle = (low + high + 1) // 2
        if middle**degree <= number:
            low = middle
        else:
            high = middle - 1
    return low


def first_primes(count: int) -> list[int]:
    primes: list[int] = []
    candidate = 2
    while len(primes) < count:
        if all(candidate % prime for prime in primes):
            primes.append(candidate)
        candidate += 1
    return primes


def fraction_bits(number: int, degree: int) -> str:
    """The first 32 bits of the fractional part of a root, in hexadecimal digits."""
    return f"{integer_root(number << (32 * degree), degree) & 0xFFFFFFFF:08x}"


def test_the_constants_are_the_fractions_of_square_and_cube_roots_of_primes(
    check: CheckProgram,
) -> None:
    state = [fraction_bits(prime, 2) for prime in first_primes(8)]
    rounds = [fraction_bits(prime, 3) for prime in first_primes(64)]
    assert check.output("--constants").split() == state + rounds


def test_every_variant_gives_the_digests_of_nist_in_any_split_and_alignment(
    check: CheckProgram,
) -> None:
    for variant in check.variants:
        assert check.output(variant, *VECTORS) == f"{VECTOR_COUNT} vectors, variant {variant}\n"


def test_the_check_fails_when_one_digest_of_a_vector_file_is_wrong(
    check: CheckProgram, tmp_path: Path
) -> None:
    for original in VECTORS:
        before, mark, after = original.read_text().rpartition("MD = ")
        wrong = tmp_path / original.name
        wrong.write_text(before + mark + ("1" if after[0] == "0" else "0") + after[1:])
        done = check.run("portable", wrong)
        assert done.returncode == 1
        assert done.stderr.count("differs") == 1


def test_every_variant_agrees_with_hashlib_on_all_short_and_some_long_messages(
    check: CheckProgram,
) -> None:
    source = random.Random(20)
    lengths = [*range(301), 4_095, 4_096, 65_537, 1_000_003]
    messages = [source.randbytes(length) for length in lengths]
    expected = [hashlib.sha256(message).hexdigest() for message in messages]
    lines = "".join(message.hex() + "\n" for message in messages)
    for variant in check.variants:
        assert check.output("--digest", variant, stdin=lines).split() == expected


def test_a_message_of_more_than_2_to_the_32_bits_keeps_its_whole_length(
    check: CheckProgram,
) -> None:
    mebibytes = 513
    zeros = bytes(1 << 20)
    expected = hashlib.sha256()
    for _ in range(mebibytes):
        expected.update(zeros)
    digest = check.output("--zeros", check.variants[0], str(mebibytes)).strip()
    assert digest == expected.hexdigest()


def test_the_fastest_variant_is_chosen_when_the_environment_names_none(
    check: CheckProgram,
) -> None:
    for selector in (None, ""):
        done = check.run("--chosen", selector=selector)
        assert (done.returncode, done.stdout) == (0, f"{check.variants[0]}\n")


def test_the_environment_forces_any_variant_that_can_run(check: CheckProgram) -> None:
    for variant in check.variants:
        done = check.run("--chosen", selector=variant)
        assert (done.returncode, done.stdout) == (0, f"{variant}\n")


@pytest.mark.parametrize("name", ["avx-512", "SHA-NI", "portable ", "sha"])
def test_an_unknown_variant_in_the_environment_is_refused_by_name(
    check: CheckProgram, name: str
) -> None:
    done = check.run("--chosen", selector=name)
    assert (done.returncode, done.stdout) == (1, f"refused {name}\n")


def test_a_known_variant_that_cannot_run_here_is_refused_too(check: CheckProgram) -> None:
    absent = set(ALL_VARIANTS) - set(check.variants)
    assert absent, "no processor runs every variant"
    for variant in absent:
        assert check.run("--chosen", selector=variant).stdout == f"refused {variant}\n"
        assert check.run(variant, *VECTORS).returncode == 2


def test_a_refused_name_is_reported_in_part_when_it_is_very_long(check: CheckProgram) -> None:
    done = check.run("--chosen", selector="x" * 5_000)
    assert (done.returncode, done.stdout) == (1, f"refused {'x' * 63}\n")


def test_selecting_an_unknown_variant_is_refused(check: CheckProgram) -> None:
    done = check.run("no-such-variant", *VECTORS)
    assert done.returncode == 2
    assert "cannot run here: no-such-variant" in done.stderr


def test_the_portable_variant_exists_in_every_build(check: CheckProgram) -> None:
    assert check.variants[-1] == "portable"
    if check.portable_only:
        assert check.variants == ["portable"]


@pytest.mark.skipif(not Path("/proc/cpuinfo").exists(), reason="the kernel lists no CPU flags")
def test_a_processor_with_sha_instructions_is_recognised(check: CheckProgram) -> None:
    flag, variant = {
        "x86_64": ("sha_ni", "sha-ni"),
        "aarch64": ("sha2", "armv8"),
    }.get(platform.machine(), ("", ""))
    listed = flag in Path("/proc/cpuinfo").read_text().split()
    assert (variant in check.variants) == (listed and not check.portable_only)
