"""``python -m benchmarks.text``: RFC 8785 of JSON text and of objects, beside other packages.

The texts are those of the workloads. They are canonicalized by ``jcs.canonicalize``, and by what
people write with orjson and with jcs-admit, if these are installed; then the values are dumped. At
the end large texts are canonicalized by one thread and by two.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import threading
from collections.abc import Sequence
from importlib import metadata
from time import perf_counter
from typing import Any

import overturn_fast
from benchmarks.measure import FULL, QUICK, sample
from benchmarks.numbers import compared, footer
from benchmarks.peers import Peer
from benchmarks.report import show
from benchmarks.workloads import WORKLOADS, Workload
from overturn_fast import jcs

TEXTS = {name: workload.text().encode() for name, workload in WORKLOADS.items()}

LOADED_GOALS = {"records": 2.0, "schema": 2.0, "messages": 1.3}
ADMITTED_GOALS = dict.fromkeys(LOADED_GOALS, 10.0)
DUMPED_GOALS = dict.fromkeys(WORKLOADS, 0.8)
THREADS_GOAL = 0.6

LARGE = 4_000_000
"""About how many bytes a text for threads has."""
QUICKLY_READ = 10_000
"""The same where it is only shown that it runs."""
LARGE_TEXTS = 16


def ours(name: str, expression: str, names: dict[str, object]) -> Peer:
    """One of this package's functions."""
    version = f"{overturn_fast.__version__}, {overturn_fast.backend} backend"
    return Peer(name, "overturn_fast", version, expression, names, "RFC 8785")


def theirs(
    missing: dict[str, str], name: str, package: str, expression: str, *functions: str
) -> list[Peer]:
    """What another package does, or nothing and a word in ``missing`` why."""
    try:
        module = importlib.import_module(package)
    except ImportError as error:
        missing[package] = str(error)
        return []
    names: dict[str, Any] = {function: getattr(module, function) for function in functions}
    version = metadata.version(package.replace("_", "-"))
    return [Peer(name, package, version, expression, {"texts": TEXTS, **names}, "JSON")]


def by_name() -> list[Workload]:
    """Workloads whose value is the name of a text: what is measured looks the text up."""

    def workload(name: str) -> Workload:
        return Workload(name, "a text", lambda: name)

    return [workload(name) for name in TEXTS]


def seconds(texts: Sequence[bytes], threads: int) -> float:
    """How long it takes so many threads to canonicalize all texts."""

    def work(part: Sequence[bytes]) -> None:
        for text in part:
            jcs.canonicalize(text)

    workers = [threading.Thread(target=work, args=(texts[i::threads],)) for i in range(threads)]
    started = perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return perf_counter() - started


def two_threads(name: str, rounds: int, size: int) -> float:
    """The time of two threads divided by that of one, in the best round of each."""
    record = TEXTS[name]
    text = b"[" + b",".join([record] * (size // len(record) + 1)) + b"]"
    texts = [bytes(bytearray(text)) for _ in range(LARGE_TEXTS)]
    times: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(rounds):
        for threads, measured in times.items():
            measured.append(seconds(texts, threads))
    return min(times[2]) / min(times[1])


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return the exit status, which does not depend on any time."""
    described = argparse.ArgumentParser(
        prog="python -m benchmarks.text",
        description="Time the canonicalizing of JSON text against orjson and jcs-admit.",
    )
    described.add_argument("--quick", action="store_true", help="shows that it runs, not how fast")
    options = described.parse_args(arguments)
    effort = QUICK if options.quick else FULL
    missing: dict[str, str] = {}
    loading = theirs(
        missing,
        "orjson loads, dumps",
        "orjson",
        "dumps(loads(texts[value]), option=OPT_SORT_KEYS)",
        *("loads", "dumps", "OPT_SORT_KEYS"),
    )
    admitting = theirs(missing, "jcs-admit", "jcs_admit", "admit(texts[value])", "admit")
    dumping = theirs(
        missing, "orjson.dumps", "orjson", "dumps(value, option=OPT_SORT_KEYS)",
        *("dumps", "OPT_SORT_KEYS"),
    )  # fmt: skip
    names = {"texts": TEXTS, "canonicalize": jcs.canonicalize}
    canonicalize = ours("jcs.canonicalize", "canonicalize(texts[value])", names)
    dumps = ours("jcs.dumps", "dumps(value)", {"dumps": jcs.dumps})

    texts = sample("warm", by_name(), [canonicalize, *loading], effort)
    objects = sample("warm", list(WORKLOADS.values()), [dumps, *dumping], effort)
    tables = [
        compared("text", "us", canonicalize.name, "orjson loads, dumps", texts, LOADED_GOALS),
        compared("objects", "us", dumps.name, "orjson.dumps", objects, DUMPED_GOALS),
    ]
    if admitting:
        accepted = [name for name in by_name() if admits(admitting[0], name)]
        admitted = sample("warm", accepted, [canonicalize, *admitting], effort)
        tables.append(
            compared("text", "us", canonicalize.name, "jcs-admit", admitted, ADMITTED_GOALS)
        )
    peers = [canonicalize, *loading, *admitting]
    show(tables, footer(peers, missing, effort.rounds, tables))
    for name in LOADED_GOALS:
        ratio = two_threads(name, 1, QUICKLY_READ) if options.quick else two_threads(name, 7, LARGE)
        reached = "met" if ratio <= THREADS_GOAL else "missed"
        print(f"two threads, {name}: {ratio:.2f} of the time of one; goal {THREADS_GOAL} {reached}")
    return 0


def admits(peer: Peer, workload: Workload) -> bool:
    """Whether the peer takes the text; some have limits of their own."""
    try:
        peer(workload.build())
    except ValueError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
