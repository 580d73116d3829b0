"""``python -m benchmarks.shape``: shapes of objects and text, and what learning them costs.

Fingerprints are taken of tool responses, beside a recursion as people write it (``sketch.py``),
from objects and from text; then a ``DriftMonitor`` observes thousands of different responses, its
comparisons included; then a file of responses, one a line, is counted by one thread and by two.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import threading
from collections.abc import Callable, Sequence
from time import perf_counter

import overturn_fast
from benchmarks import sketch
from benchmarks.measure import FULL, QUICK, Effort, sample
from benchmarks.numbers import compared, footer
from benchmarks.peers import Peer
from benchmarks.report import Table, show, three_digits
from benchmarks.workloads import Workload
from overturn_fast import shape
from overturn_fast._backend import engine
from overturn_fast.shape.traffic import traffic

OBJECTS_GOAL, TEXT_GOAL = 15.0, 8.0
OBSERVE_GOAL = 10.0
LINES_GOAL = 60.0

RESULTS = 20
LINES = 20_000
FEW_LINES = 50
"""How many where it is only shown that it runs."""


def pricing() -> object:
    return {
        "sku": "pro-annual",
        "price_cents": 24000,
        "currency": "USD",
        "updated_at": "2026-07-13T08:15:02Z",
    }


def search(seed: int = 0) -> dict[str, object]:
    """A response of a search tool: 20 results of ten fields, in one of which they differ."""
    rng = random.Random(f"search {seed}")
    results: list[dict[str, object]] = [
        {
            "position": number,
            "title": f"Result {rng.randrange(10**6)} for the words that were searched",
            "url": f"https://example.com/articles/{rng.getrandbits(48):012x}",
            "snippet": "The quarterly report shows growth in every region, with one exception. "
            * 2,
            "source": {"name": "Example", "domain": "example.com"},
            "published_at": "2026-07-13T08:15:02Z",
            "score": rng.random(),
            "tags": ["finance", "report"][: rng.randrange(3)],
            "is_ad": rng.random() < 0.1,
        }
        for number in range(RESULTS)
    ]
    for result in results:
        if result["is_ad"]:
            result["sponsor"] = "Example"
    return {
        "query": "quarterly revenue by region",
        "took_ms": rng.randrange(500),
        "total": rng.randrange(100_000),
        "results": results,
        "next_cursor": None,
    }


WORKLOADS = [
    Workload("pricing", "four fields", pricing),
    Workload("search", "20 results of ten fields, 8 KB", search),
]


def ours(name: str, expression: str, names: dict[str, object]) -> Peer:
    version = f"{overturn_fast.__version__}, {overturn_fast.backend} backend"
    return Peer(name, "overturn_fast", version, expression, names, "shape rows")


def by_hand(expression: str, names: dict[str, object]) -> Peer:
    return Peer("sketch", "benchmarks.sketch", "a recursion", expression, names, "shape rows")


def microseconds_each(function: Callable[[object], object], values: Sequence[object]) -> float:
    """What a call takes, on an average over the values."""
    started = perf_counter()
    for value in values:
        function(value)
    return (perf_counter() - started) * 1e6 / len(values)


def observing(effort: Effort) -> Table:
    """What a monitor takes for each of many responses, its comparisons too, and fingerprints."""
    responses: dict[str, list[object]] = {
        "pricing, made up": [value for _, value in traffic("pricing", 10, 200)],
        "search, made up": [value for _, value in traffic("search", 10, 200)],
        "search": [search(seed) for seed in range(2000)],
    }
    rows = []
    for name, values in responses.items():
        if effort is QUICK:
            values = values[:FEW_LINES]
        fingerprints, costs = [], []
        for _ in range(effort.rounds):  # in turn, so that both have the same neighbours
            fingerprints.append(microseconds_each(shape.fingerprint, values))
            monitor = shape.DriftMonitor("bench", learn=1000, window=200, logger=None)
            costs.append(microseconds_each(monitor.observe, values))
        fingerprint, cost = min(fingerprints), min(costs)
        reached = "met" if cost / fingerprint <= OBSERVE_GOAL else "missed"
        ratio = f"{three_digits(cost / fingerprint)}x"
        goal = f"<{three_digits(OBSERVE_GOAL)}x {reached}"
        rows.append([name, three_digits(fingerprint), three_digits(cost), ratio, goal])
    header = ["values", "fingerprint us", "observe us", "ratio", "goal"]
    met = sum(row[-1].endswith("met") for row in rows)
    return Table("observing, windows compared", header, rows, met, len(rows) - met)


def megabytes_a_second(lines: bytes, threads: int) -> float:
    """How fast so many threads count the same lines, each with a counter of its own."""
    counters = [engine.shape_counter() for _ in range(threads)]
    workers = [
        threading.Thread(target=counter.observe_lines, args=(lines,)) for counter in counters
    ]
    started = perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return threads * len(lines) / 1e6 / (perf_counter() - started)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return the exit status, which does not depend on any time."""
    described = argparse.ArgumentParser(
        prog="python -m benchmarks.shape", description="Time shapes against a recursion by hand."
    )
    described.add_argument("--quick", action="store_true", help="shows that it runs, not how fast")
    options = described.parse_args(arguments)
    effort = QUICK if options.quick else FULL
    texts = {workload.name: workload.text().encode() for workload in WORKLOADS}
    named = [Workload(name, "its text", lambda name=name: name) for name in texts]

    fingerprint = {"fingerprint": shape.fingerprint}
    seed = ours("fingerprint", "fingerprint(value)", fingerprint)
    v2 = ours("v2", 'fingerprint(value, profile="v2")', fingerprint)
    sketched = by_hand("sketch(value)", {"sketch": sketch.fingerprint})
    objects = sample("warm", WORKLOADS, [seed, sketched, v2], effort)

    of_text: dict[str, object] = {"fingerprint_text": shape.fingerprint_text, "texts": texts}
    seed_text = ours("fingerprint_text", "fingerprint_text(texts[value])", of_text)
    v2_text = ours("v2", 'fingerprint_text(texts[value], profile="v2")', of_text)
    loaded = by_hand(
        "sketch(loads(texts[value]))",
        {"sketch": sketch.fingerprint, "loads": json.loads, "texts": texts},
    )
    text = sample("warm", named, [seed_text, loaded, v2_text], effort)

    tables = [
        compared("objects", "us", seed.name, "sketch", objects, {"search": OBJECTS_GOAL}),
        compared("text", "us", seed_text.name, "sketch", text, {"search": TEXT_GOAL}),
        observing(effort),
    ]
    show(tables, footer([seed, sketched], {}, effort.rounds, tables))
    count = FEW_LINES if options.quick else LINES
    lines = b"\n".join(json.dumps(search(number)).encode() for number in range(count))
    for threads in (1, 2):
        speed = max(megabytes_a_second(lines, threads) for _ in range(1 if options.quick else 7))
        reached = "met" if speed >= LINES_GOAL else "missed"
        print(
            f"counting lines, {threads} threads: {speed:,.0f} MB/s; goal {LINES_GOAL:.0f} {reached}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
