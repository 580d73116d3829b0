"""``python -m benchmarks.numbers``: nanoseconds per number, written and read.

The C core is measured by ``benchmarks/c/numbers_bench.c``, compiled here, and in turn with it
CPython's ``repr`` and ``float`` on values of the same kinds, for some rounds; of each, the best
pass of all counts. Lists of 10,000 numbers are then dumped from Python, beside orjson.
"""

from __future__ import annotations

import argparse
import importlib
import math
import os
import random
import re
import shlex
import struct
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path
from time import perf_counter_ns
from typing import Any

import overturn_fast
from benchmarks.environment import environment
from benchmarks.measure import FULL, QUICK, Samples, no_garbage_collection, ratios, sample, summary
from benchmarks.peers import Peer
from benchmarks.report import Table, show, three_digits, verdict
from benchmarks.workloads import Workload
from overturn_fast._backend import engine

ROOT = Path(__file__).resolve().parent.parent
CORE = ROOT / "csrc" / "core"
SOURCES = [
    ROOT / "benchmarks" / "c" / "numbers_bench.c",
    CORE / "number_write.c",
    CORE / "number_read.c",
    CORE / "power_table.c",
]
LINE = re.compile(r"(?P<kind>\S.*?) +write +(?P<write>\S+) ns +read +(?P<read>\S+) ns")

ROUNDS = 7
VALUES = 100_000
"""How many numbers ``repr`` and ``float`` are timed on. The C program takes 1,000,000."""
PASSES = 5
"""How many passes over them make a round, of which the best is kept, as in the C program."""
LIST_LENGTH = 10_000

WRITE_GOALS = {"random bits": 40.0}
READ_GOAL = 4.0
LIST_GOALS = {"random bits": 1.5, "prices": 1.5, "coordinates": 1.5, "prices, coordinates": 1.5}

LEGEND = """\
ns: the time for one number, in the best pass of all; us: the median for a list of 10,000. 2.0x: the
other takes twice our time. goal: the least ratio wanted, and whether it was met."""


# -- the values ------------------------------------------------------------------------------------


def random_bits(source: random.Random) -> float:
    while True:
        (value,) = struct.unpack("<d", source.randbytes(8))
        if math.isfinite(value):
            return float(value)


def few_digits(source: random.Random) -> float:
    while True:
        value = float(f"{random_bits(source):.{source.randrange(17)}e}")
        if math.isfinite(value):  # the largest ones may be rounded up to infinity
            return value


def price(source: random.Random) -> float:
    return source.randrange(1_000_000) / 100


def coordinate(source: random.Random) -> float:
    return source.randrange(-180_000_000, 180_000_001) / 1_000_000


def integral(source: random.Random) -> float:
    return float(source.getrandbits(52) >> source.randrange(40))


KINDS: dict[str, Callable[[random.Random], float]] = {
    "random bits": random_bits,
    "1-17 digits": few_digits,
    "unit interval": random.Random.random,
    "prices": price,
    "coordinates": coordinate,
    "integers": integral,
}
"""The kinds that the C program measures, by the names that it gives them."""


def values_of(kind: str, count: int) -> list[float]:
    """Return numbers of a kind, the same ones in every run."""
    source = random.Random(kind)
    return [KINDS[kind](source) for _ in range(count)]


# -- the C core beside repr and float --------------------------------------------------------------


def compiler() -> list[str]:
    """Return the command that compiles C."""
    return shlex.split(os.environ.get("CC") or "cc")


def compiler_version() -> str:
    """Return the first line of what the compiler says about itself."""
    done = subprocess.run([*compiler(), "--version"], check=False, capture_output=True, text=True)
    return (done.stdout.splitlines() or compiler())[0]


def compiled(folder: Path) -> Path:
    """Compile the C program, as a release build of the package is compiled.

    Raises:
        OSError: There is no compiler.
        subprocess.CalledProcessError: It fails.
    """
    program = folder / "numbers_bench"
    command = [*compiler(), "-std=c11", "-O3", f"-I{CORE}", *map(str, SOURCES), "-o", str(program)]
    subprocess.run(command, check=True)
    return program


def core_times(program: Path) -> dict[str, tuple[float, float]]:
    """Run the C program once; return the nanoseconds to write and to read a number of each kind."""
    shown = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    found = [LINE.match(line) for line in shown.splitlines()]
    return {m["kind"]: (float(m["write"]), float(m["read"])) for m in found if m is not None}


def best(function: Callable[[Any], object], values: Sequence[object]) -> float:
    """Return the nanoseconds of a call in the best of several passes."""
    times = []
    for _ in range(PASSES):
        start = perf_counter_ns()
        deque(map(function, values), maxlen=0)
        times.append(perf_counter_ns() - start)
    return min(times) / len(values)


def numbers_in_rounds(
    program: Path, rounds: int, values: int, progress: Callable[[int], None]
) -> dict[str, Samples]:
    """Time the core and CPython in turn: nanoseconds by direction, kind and who, one a round."""
    lists = {kind: values_of(kind, values) for kind in KINDS}
    texts = {kind: overturn_fast.canonical_json(lists[kind])[1:-1].split(",") for kind in KINDS}
    times: dict[str, Samples] = {
        "write": {kind: {"core": [], "repr": []} for kind in KINDS},
        "read": {kind: {"core": [], "float": []} for kind in KINDS},
    }
    with no_garbage_collection():
        for done in range(rounds):
            core = core_times(program)
            for kind in KINDS:
                write, read = core[kind]
                times["write"][kind]["core"].append(write)
                times["write"][kind]["repr"].append(best(repr, lists[kind]))
                times["read"][kind]["core"].append(read)
                times["read"][kind]["float"].append(best(float, texts[kind]))
            progress(done + 1)
    return times


# -- lists from Python -----------------------------------------------------------------------------


def list_workloads() -> list[Workload]:
    """Return the lists that are dumped."""

    def workload(name: str, values: list[float]) -> Workload:
        return Workload(name, f"{LIST_LENGTH:,} doubles", lambda: values)

    half = LIST_LENGTH // 2
    mixed = values_of("prices", half) + values_of("coordinates", half)
    return [
        *(workload(kind, values_of(kind, LIST_LENGTH)) for kind in KINDS),
        workload("prices, coordinates", mixed),
    ]


def dumping_peers() -> tuple[list[Peer], dict[str, str]]:
    """Return what dumps lists, ours first, and the packages that are missing with the reason."""
    version = f"{overturn_fast.__version__}, {overturn_fast.backend} backend"
    canonical_json = overturn_fast.canonical_json
    peers = [
        Peer("canonical_json", "overturn_fast", version, "f(value)", {"f": canonical_json}, "v1")
    ]
    try:
        names = {"f": importlib.import_module("overturn_fast.jcs").dumps}
        jcs = Peer("jcs.dumps", "overturn_fast", version, "f(value)", names, "RFC 8785")
    except ImportError:
        names = {"f": engine.canonical_with}
        jcs = Peer("jcs profile", "overturn_fast", version, "f('jcs', value)", names, "RFC 8785")
    peers.insert(0, jcs)
    try:
        names = {"f": importlib.import_module("orjson").dumps}
    except ImportError as error:
        return peers, {"orjson": str(error)}
    orjson = Peer("orjson.dumps", "orjson", metadata.version("orjson"), "f(value)", names, "JSON")
    return [*peers, orjson], {}


# -- the tables ------------------------------------------------------------------------------------


def best_of(samples: Samples) -> Samples:
    """Keep the best round of each, as the best pass of each round is all that was kept before."""
    return {
        kind: {who: [min(each)] for who, each in times.items()} for kind, times in samples.items()
    }


def compared(
    title: str, unit: str, ours: str, rival: str, samples: Samples, goals: dict[str, float]
) -> Table:
    """Compare one of ours with all others, and hold it to the goals that are about one of them."""
    scale = {"ns": 1, "us": 1_000}[unit]
    measured = next(iter(samples.values()))
    others = [name for name in measured if name != ours]
    header = ["values", f"{ours} {unit}"]
    for other in others:
        header += [f"{other} {unit}", "ratio"]
    rows = []
    for kind, times in samples.items():
        row = [kind, three_digits(summary(times[ours]).median / scale)]
        reached = {other: ratios(times[other], times[ours]).median for other in others}
        for other, ratio in reached.items():
            row += [three_digits(summary(times[other]).median / scale), f"{three_digits(ratio)}x"]
        rows.append([*row, verdict(reached[rival], goals.get(kind)) if rival in reached else ""])
    met = sum(row[-1].endswith("met") for row in rows)
    missed = sum(row[-1].endswith("missed") for row in rows)
    return Table(title, [*header, "goal"], rows, met, missed)


def footer(peers: Sequence[Peer], missing: dict[str, str], rounds: int, tables: list[Table]) -> str:
    """Say what the tables mean and what they were measured on."""
    machine = environment(peers)
    load, cpus = machine["load_average"], machine["cpus"]
    lines = [
        LEGEND,
        "",
        f"{rounds} rounds; {machine['cpu']}, {cpus} CPUs, load {load}, {machine['os']}",
        f"{machine['python']}; library by {machine['library_compiler'] or 'unknown'}, "
        f"core by {compiler_version()}",
        "; ".join(f"{peer.name}: {peer.package} {peer.version}" for peer in peers),
        *(f"not measured: {module} ({reason})" for module, reason in missing.items()),
    ]
    if isinstance(load, float) and isinstance(cpus, int) and load > cpus / 2:
        lines.append("The machine is busy: run this again on a quiet one before quoting it.")
    met = sum(table.goals_met for table in tables)
    missed = sum(table.goals_missed for table in tables)
    lines.append(f"goals: {met} met, {missed} missed")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return the exit status, which does not depend on any time."""
    described = argparse.ArgumentParser(
        prog="python -m benchmarks.numbers",
        description="Time the writing and reading of numbers against repr, float and orjson.",
    )
    described.add_argument(
        "--rounds",
        type=int,
        default=ROUNDS,
        metavar="N",
        help="rounds to run (default %(default)s)",
    )
    described.add_argument(
        "--quick", action="store_true", help="one round: shows that it runs, not how fast"
    )
    options = described.parse_args(arguments)
    if options.rounds < 1:
        described.error("--rounds must be at least 1")
    rounds = 1 if options.quick else options.rounds
    effort = QUICK if options.quick else FULL

    def show_round(done: int) -> None:
        if sys.stderr.isatty():
            end = "\r\033[K" if done == rounds else ""
            print(f"\rround {done} of {rounds}{end}", end="", file=sys.stderr, flush=True)

    with tempfile.TemporaryDirectory() as folder:
        try:
            program = compiled(Path(folder))
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"the C program could not be compiled: {error}", file=sys.stderr)
            return 1
        times = numbers_in_rounds(program, rounds, VALUES, show_round)
    peers, missing = dumping_peers()
    lists = sample("warm", list_workloads(), peers, effort)

    written, read, ours = best_of(times["write"]), best_of(times["read"]), peers[0].name
    read_goals = dict.fromkeys(KINDS, READ_GOAL)
    tables = [
        compared("written, one number", "ns", "core", "repr", written, WRITE_GOALS),
        compared("read, one number", "ns", "core", "float", read, read_goals),
        compared("dumped, lists of 10,000", "us", ours, "orjson.dumps", lists, LIST_GOALS),
    ]
    show(tables, footer(peers, missing, rounds, tables))
    return 0


if __name__ == "__main__":
    sys.exit(main())
