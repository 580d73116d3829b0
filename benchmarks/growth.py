"""``python -m benchmarks.growth``: the time per byte of values from 1 KB to 64 MB.

A program whose time grows faster than its input is slow where it matters most, and open to whoever
can send it large values. So ``hash_json`` is timed on each kind of value in sizes that grow by
four, and the time of a byte should stay the same: the longest may take 1.5 times what the median of
all sizes takes. Large values lie in memory, not in a cache, and what the processor waits for them
is in these numbers. They are this thread's processor time: a call of a tenth of a second is
interrupted on any machine.

Each kind has a process of its own. On a heap with holes, as other measurements leave it behind,
the smallest values, made first, would be scattered over all of it and the others not.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from time import thread_time_ns

import overturn_fast.jcs
from benchmarks.measure import no_garbage_collection
from benchmarks.report import Table, show, three_digits, verdict_at_most
from benchmarks.workloads import SENTENCES

__all__ = ["FLAT", "FULL_SIZES", "KINDS", "Growth", "as_json", "measure", "table"]

FLAT = 1.5
"""How many times the median of all sizes the time of a byte may be."""

FULL_SIZES = (*(1_000 * 4**power for power in range(8)), 64_000_000)
QUICK_SIZES = (1_000, 4_000)

PASS_BYTES = 1_000_000
"""How many bytes of small values are hashed in turn, all different: a processor learns the branches
of a value that comes again and again, and large ones would look slow beside it."""

ROUNDS = 7

Grow = Callable[[random.Random, int], object]
KINDS: dict[str, Grow] = {}


def kind(name: str) -> Callable[[Grow], Grow]:
    """Register what makes a value of about so many bytes."""

    def register(grow: Grow) -> Grow:
        KINDS[name] = grow
        return grow

    return register


@kind("ASCII text")
def ascii_text(rng: random.Random, size: int) -> object:
    sentences = [sentence for sentence in SENTENCES if sentence.isascii()]
    text = " ".join(rng.choice(sentences) for _ in range(size // 60 + 1))
    return text[:size].strip()


@kind("other text")
def other_text(rng: random.Random, size: int) -> object:
    return "".join(rng.choice("äß数据東京😀 λόγος") for _ in range(size * 5 // 12)).strip()


@kind("short strings")
def short_strings(rng: random.Random, size: int) -> object:
    return [f"{rng.getrandbits(48):012x}" for _ in range(size // 15 + 1)]


@kind("ints")
def ints(rng: random.Random, size: int) -> object:
    return [rng.getrandbits(rng.randrange(1, 54)) for _ in range(size // 9 + 1)]


@kind("floats")
def floats(rng: random.Random, size: int) -> object:
    return [rng.random() for _ in range(size // 20 + 1)]


@kind("prices")
def prices(rng: random.Random, size: int) -> object:
    return [rng.randrange(1_000_000) / 100 for _ in range(size // 8 + 1)]


@kind("true, false")
def booleans(rng: random.Random, size: int) -> object:
    return [rng.random() < 0.5 for _ in range(size // 5 + 1)]


@kind("one wide object")
def wide(rng: random.Random, size: int) -> object:
    return {f"{rng.getrandbits(48):012x}": number for number in range(size // 21 + 1)}


@kind("records")
def records(rng: random.Random, size: int) -> object:
    return [
        {"id": number, "name": f"user {rng.randrange(10_000)}", "active": rng.random() < 0.5}
        for number in range(size // 45 + 1)
    ]


@kind("objects of other keys")
def objects(rng: random.Random, size: int) -> object:
    return [
        {f"a{rng.getrandbits(20):05x}": number, f"b{rng.getrandbits(20):05x}": True}
        for number in range(size // 32 + 1)
    ]


@kind("nested objects")
def nested(rng: random.Random, size: int) -> object:
    def levels(depth: int) -> object:
        value: object = rng.randrange(10)
        for level in range(depth):
            value = {"level": level, "children": [value]}
        return value

    return [levels(16) for _ in range(size // 410)]


@dataclass(frozen=True)
class Growth:
    """The time of a byte in nanoseconds, by the size of the value."""

    ns_per_byte: Mapping[int, float]

    def steepness(self) -> float:
        """Return how many times the median the longest is: 1.0 where the time is flat."""
        return max(self.ns_per_byte.values()) / statistics.median(self.ns_per_byte.values())


def pass_ns(values: Sequence[object]) -> int:
    """Return the time of one call on each value."""
    hash_json = overturn_fast.hash_json
    started = thread_time_ns()
    for value in values:
        hash_json(value)
    return thread_time_ns() - started


def grown(name: str, sizes: Sequence[int], rounds: int, pass_bytes: int) -> Growth:
    """Time one kind of value, all sizes in each round; the shortest pass of each counts."""
    rng = random.Random(name)
    with no_garbage_collection():
        values = {
            size: [KINDS[name](rng, size) for _ in range(max(1, pass_bytes // size))]
            for size in sizes
        }
        lengths = {
            size: sum(len(overturn_fast.jcs.dumps(value)) for value in each)
            for size, each in values.items()
        }
        times: dict[int, list[int]] = {size: [] for size in sizes}
        for _ in range(rounds):
            for size, each in values.items():
                times[size].append(pass_ns(each))
    return Growth({size: min(times[size]) / lengths[size] for size in sizes})


def measure(
    sizes: Sequence[int] = FULL_SIZES,
    rounds: int = ROUNDS,
    pass_bytes: int = PASS_BYTES,
    progress: Callable[[str], None] = lambda name: None,
) -> dict[str, Growth]:
    """Time every kind of value in every size.

    Args:
        sizes: About how many bytes the values have.
        rounds: How often each size is timed; the shortest pass counts.
        pass_bytes: How many bytes of small values make a pass.
        progress: Told the name of each kind before it is timed.
    """
    found = {}
    for name in KINDS:
        progress(name)
        with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as process:
            found[name] = process.submit(grown, name, sizes, rounds, pass_bytes).result()
    return found


def size_text(size: int) -> str:
    """Write a number of bytes.

    >>> size_text(4_000), size_text(64_000_000)
    ('4 KB', '64 MB')
    """
    return f"{size // 1_000_000} MB" if size >= 1_000_000 else f"{size // 1_000} KB"


def table(found: Mapping[str, Growth]) -> Table:
    """Lay out the time of a byte, one kind of value a row."""
    sizes = list(next(iter(found.values())).ns_per_byte)
    header = ["ns a byte", *map(size_text, sizes), "longest/median", "goal"]
    rows = []
    for name, growth in found.items():
        times = [three_digits(growth.ns_per_byte[size]) for size in sizes]
        steepness = growth.steepness()
        rows.append([name, *times, f"{three_digits(steepness)}x", verdict_at_most(steepness, FLAT)])
    met = sum(growth.steepness() <= FLAT for growth in found.values())
    return Table("growth: hash_json", header, rows, met, len(found) - met)


def as_json(found: Mapping[str, Growth]) -> dict[str, object]:
    """Gather the times for the file."""
    return {
        name: {
            "ns_per_byte": {str(size): round(time, 4) for size, time in growth.ns_per_byte.items()},
            "longest_by_median": round(growth.steepness(), 4),
            "goal": FLAT,
            "met": growth.steepness() <= FLAT,
        }
        for name, growth in found.items()
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return the exit status, which does not depend on any time."""
    described = argparse.ArgumentParser(
        prog="python -m benchmarks.growth",
        description="Time a byte of values from 1 KB to 64 MB.",
    )
    described.add_argument("--quick", action="store_true", help="shows that it runs, not how fast")
    options = described.parse_args(arguments)
    found = measure(QUICK_SIZES, rounds=1, pass_bytes=1) if options.quick else measure()
    made = table(found)
    show([made], f"goals: {made.goals_met} met, {made.goals_missed} missed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
