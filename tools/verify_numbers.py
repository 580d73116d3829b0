"""Check the text of numbers at length: the ES6 number table, then random doubles.

``make verify-numbers`` runs it. The table is the one that RFC 8785 recommends for tests: up to
100,000,000 lines of a double's bits and its text, which are made here and compared by the SHA-256
published for them. After it, random bit patterns are written and read beside ``repr`` and
``float``. The exit status is 1 if anything differs, 2 if there is no native backend to check;
``OVERTURN_FAST_BACKEND=python`` checks the pure-Python one.

Only the installed package is used, many numbers to a call. Making and writing the lines is divided
among processes; one chain of SHA-256 through the doubles and one over the lines cannot be.
"""

from __future__ import annotations

import argparse
import hashlib
import multiprocessing
import os
import random
import struct
import sys
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import closing, contextmanager
from itertools import chain, compress, islice
from math import isfinite
from pathlib import Path
from typing import TypeVar

import overturn_fast
from overturn_fast import numbers
from overturn_fast._backend import engine
from overturn_fast._pure.numbers import ecmascript as repr_as_ecmascript

Task = TypeVar("Task")
Result = TypeVar("Result")

# Lines of the table and their SHA-256, from https://github.com/cyberphone/json-canonicalization,
# testdata/README.md, commit 19d51d7f.
PUBLISHED = {
    1_000: "be18b62b6f69cdab33a7e0dae0d9cfa869fda80ddc712221570f9f40a5878687",
    10_000: "b9f7a8e75ef22a835685a52ccba7f7d6bdc99e34b010992cbc5864cd12be6892",
    100_000: "22776e6d4b49fa294a0d0f349268e5c28808fe7e0cb2bcbe28f63894e494d4c7",
    1_000_000: "49415fee2c56c77864931bd3624faad425c3c577d6d74e89a83bc725506dad16",
    10_000_000: "b9f8a44a91d46813b21b9602e72f112613c91408db0b8341fb94603d9db135e0",
    100_000_000: "0f7dda6b0837dde083c5d6b896f7d62340c8a2415b0c7121d83145e08a755272",
}

# The table begins with chosen doubles, which are not computed but listed in its first lines, and
# goes on with the smallest normal double and its successors.
FIRST_LINES = Path(__file__).parent.parent / "tests/data/numbers/es6_first_10000.txt"
FIXED, SERIAL, SERIAL_START = 168, 2_000, 1 << 52

CHUNK_DIGESTS = 10_000
CHUNK_PATTERNS = 20_000

CHUNKS_PER_PROCESS = 4
"""How many chunks are made ahead for each process."""

SHOWN_DIFFERENCES = 10


def write(values: list[float]) -> list[str]:
    """Return the ECMAScript texts of many doubles, written in one call."""
    return engine.canonical_with("jcs-double", values)[1:-1].split(",")


def read(texts: list[str]) -> list[float]:
    """Return the doubles that JSON numbers are read as."""
    return [numbers.parse(text) for text in texts]


def doubles(bits: Sequence[int]) -> list[float]:
    """Return the doubles that have these bits."""
    return list(struct.unpack(f"<{len(bits)}d", struct.pack(f"<{len(bits)}Q", *bits)))


def bits_of(values: Sequence[float]) -> list[int]:
    """Return the bits of some doubles, which tell 0 from -0."""
    return list(struct.unpack(f"<{len(values)}Q", struct.pack(f"<{len(values)}d", *values)))


# -- progress and processes ------------------------------------------------------------------------


@contextmanager
def progress(title: str, total: int) -> Iterator[Callable[[int], None]]:
    """Give a function that is told how much is done: a bar on a terminal, else some lines."""
    if sys.stdout.isatty():
        try:
            from rich.progress import Progress
        except ImportError:
            pass
        else:
            with Progress(transient=True) as bar:
                task = bar.add_task(title, total=total)
                yield lambda done: bar.update(task, completed=done)
            return

    start, shown = time.perf_counter(), 0

    def show_tenth(done: int) -> None:
        nonlocal shown
        if done * 10 // total > shown and done < total:
            shown = done * 10 // total
            print(f"{title}: {shown}0 %, {time.perf_counter() - start:.0f} s", flush=True)

    yield show_tenth


def in_order(
    function: Callable[[Task], Result], tasks: Iterable[Task], jobs: int
) -> Iterator[Result]:
    """Call a function on each task, in several processes; give the results in the tasks' order.

    Tasks are taken a few at a time, so that there may be more of them than memory holds.
    """
    if jobs == 1:
        yield from map(function, tasks)
        return
    # Not forked: whoever calls this may have threads, whose locks a copy of it would wait for.
    pool = ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"))
    waiting: deque[Future[Result]] = deque()
    try:
        for task in tasks:
            waiting.append(pool.submit(function, task))
            if len(waiting) == CHUNKS_PER_PROCESS * jobs:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


# -- the ES6 table ---------------------------------------------------------------------------------


def table_lines(bits: Sequence[int]) -> bytes:
    """Return the table's lines for these doubles."""
    pairs = zip(bits, write(doubles(bits)), strict=True)
    return ("%x,%s\n" * len(bits) % tuple(chain.from_iterable(pairs))).encode("ascii")


def first_bits() -> list[int]:
    """Return the doubles before the chain."""
    with FIRST_LINES.open(encoding="ascii") as lines:
        fixed = [int(line.partition(",")[0], 16) for line in islice(lines, FIXED)]
    return [*fixed, *range(SERIAL_START, SERIAL_START + SERIAL)]


def digest_chain() -> Iterator[bytes]:
    """Give the endless chain of digests, each of the one before it, many at a time."""
    sha256, block = hashlib.sha256, bytes(32)
    while True:
        digests = []
        for _ in range(CHUNK_DIGESTS):
            block = sha256(block).digest()
            digests.append(block)
        yield b"".join(digests)


def chain_lines(digests: bytes) -> bytes:
    """Return the lines for digests of four doubles each, in which 0, NaN and infinity are skipped.

    The function that runs in the worker processes.
    """
    count = len(digests) // 8
    wanted = [value != 0 and isfinite(value) for value in struct.unpack(f"<{count}d", digests)]
    return table_lines(list(compress(struct.unpack(f"<{count}Q", digests), wanted)))


def table(jobs: int) -> Generator[bytes, None, None]:
    """Give the endless table in pieces of whole lines."""
    yield table_lines(first_bits())
    yield from in_order(chain_lines, digest_chain(), jobs)


def check_table(lines: int, jobs: int) -> bool:
    """Compare the table, up to so many lines, with every checksum published on the way."""
    digest, done, verdicts = hashlib.sha256(), 0, []
    marks = [mark for mark in PUBLISHED if mark <= lines]
    correct = True
    with progress("ES6 table", lines) as show, closing(table(jobs)) as pieces:
        while marks and correct:
            piece = next(pieces)
            count = piece.count(b"\n")
            while marks and correct and done + count >= marks[0]:
                mark = marks.pop(0)
                rest = piece.split(b"\n", mark - done)[-1]
                digest.update(piece[: len(piece) - len(rest)])
                piece, count, done = rest, count - (mark - done), mark
                correct = digest.hexdigest() == PUBLISHED[mark]
                verdict = "as published" if correct else f"DIFFERS FROM {PUBLISHED[mark]}"
                verdicts.append(f"{mark:>11,} lines  {digest.hexdigest()}  {verdict}")
            digest.update(piece)
            done += count
            show(min(done, lines))
    print(*verdicts, sep="\n")
    return correct


# -- random doubles --------------------------------------------------------------------------------


def random_doubles(seed: str, count: int) -> list[float]:
    """Return so many finite doubles of random bits."""
    source = random.Random(seed)
    values: list[float] = []
    while missing := count - len(values):
        drawn = struct.unpack(f"<{missing}d", source.randbytes(8 * missing))
        values += [value for value in drawn if isfinite(value)]
    return values


def differences(seed_and_count: tuple[str, int]) -> list[str]:
    """Say what is written or read otherwise than by ``repr`` and ``float``, of random doubles.

    What is read is every double's own text, and a text of it that has from 1 to 30 digits. The
    function that runs in the worker processes.
    """
    values = random_doubles(*seed_and_count)
    texts = [repr_as_ecmascript(value) for value in values]
    found = [
        f"{bits:016x} is written {ours}, by repr {text}"
        for bits, ours, text in zip(bits_of(values), write(values), texts, strict=True)
        if ours != text
    ]
    texts += [f"{value:.{number % 30}e}" for number, value in enumerate(values)]
    expected = bits_of([float(text) for text in texts])
    found += [
        f"{text} is read {ours:016x}, by float {bits:016x}"
        for text, ours, bits in zip(texts, bits_of(read(texts)), expected, strict=True)
        if ours != bits
    ]
    return found


def check_random(count: int, seed: str, jobs: int) -> bool:
    """Compare so many random doubles with ``repr`` and ``float``."""
    sizes = [min(CHUNK_PATTERNS, count - start) for start in range(0, count, CHUNK_PATTERNS)]
    tasks = ((f"{seed}/{number}", size) for number, size in enumerate(sizes))
    found: list[str] = []
    with progress("random doubles", count) as show:
        for number, result in enumerate(in_order(differences, tasks, jobs), 1):
            found += result
            show(min(number * CHUNK_PATTERNS, count))
    for difference in found[:SHOWN_DIFFERENCES]:
        print(difference)
    verdict = f"{len(found):,} DIFFERENCES" if found else "written and read as by repr and float"
    print(f"{count:>11,} random doubles of seed {seed}  {verdict}")
    return not found


# -- the command -----------------------------------------------------------------------------------


def parser() -> argparse.ArgumentParser:
    """Describe the command line."""
    described = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    described.add_argument(
        "--lines",
        type=int,
        default=max(PUBLISHED),
        choices=[0, *PUBLISHED],
        help="how far to check the table (default %(default)s)",
    )
    described.add_argument(
        "--random",
        type=int,
        default=10_000_000,
        metavar="COUNT",
        help="how many random doubles to check (default %(default)s)",
    )
    described.add_argument(
        "--seed", help="of the random doubles (default another one in every run)"
    )
    described.add_argument(
        "--jobs", type=int, metavar="N", help="processes (default one for each processor)"
    )
    return described


def processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Check what the command line asks for; return the exit status."""
    described = parser()
    options = described.parse_args(arguments)
    jobs = processors() if options.jobs is None else options.jobs
    if jobs < 1 or options.random < 0:
        described.error("--jobs must be at least 1 and --random at least 0")
    backend = overturn_fast.backend
    if backend != "native" and os.environ.get("OVERTURN_FAST_BACKEND") != "python":
        print(f"there is no native backend to check: {overturn_fast.native_error}", file=sys.stderr)
        return 2
    print(f"overturn_fast {overturn_fast.__version__}, {backend} backend, processes: {jobs}")

    seed = options.seed or f"{random.SystemRandom().getrandbits(32):08x}"
    checks: list[Callable[[], bool]] = []
    if options.lines:
        checks.append(lambda: check_table(options.lines, jobs))
    if options.random:
        checks.append(lambda: check_random(options.random, seed, jobs))
    correct = True
    for check in checks:
        start = time.perf_counter()
        correct = check() and correct
        print(f"{'':>11} in {time.perf_counter() - start:.1f} s", flush=True)
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())
