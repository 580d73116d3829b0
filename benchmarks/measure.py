"""Interleaved rounds, and what is computed from them.

In every round each peer is timed once on each workload, and the order of the peers moves on by one
from round to round. A ratio is taken within a round, between two times a few milliseconds apart;
what is reported is the median of these ratios. A machine that slows down for a while slows down
both, and a single disturbed round does not move a median. Within a sample the calls are timed in
a few parts, of which the median counts: other processes that interrupt one part do no harm.

Every sample has values of its own, made by ``json.loads`` outside the timed region, so that nobody
profits from what another left behind in an object, and luck with memory layout evens out:

warm
    One value, given to the peer once before and then again and again. CPython keeps the UTF-8 of
    a str, once asked for it, in the str.
cold
    A value for every call, never seen before.
"""

from __future__ import annotations

import gc
import json
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import repeat

from benchmarks.peers import Loop, Peer, Prepare
from benchmarks.workloads import Workload

__all__ = [
    "CLOCKS",
    "FULL",
    "MODES",
    "QUICK",
    "Effort",
    "Samples",
    "Summary",
    "parts",
    "ratios",
    "sample",
    "summary",
]

MODES = ("warm", "cold")

COLD_BATCH_VALUES = 100
COLD_BATCH_BYTES = 16_384
"""How many fresh values lie ready at a time, and how much JSON text: enough for the clock, and few
enough that they are still in a near cache, as what was just parsed is."""

PARTS = 5
"""How many times a sample is the median of, where there are as many calls."""

CLOCKS = {"wall": time.perf_counter_ns, "cpu": time.thread_time_ns}
"""The time that passes, and the processor time that this thread got of it."""

Samples = dict[str, dict[str, list[float]]]
"""Nanoseconds a call: by workload and peer, one for each round."""


@dataclass(frozen=True)
class Effort:
    """How much to measure."""

    rounds: int
    sample_ns: int
    """How long one sample should take: this decides how often a call is repeated."""

    clock: str = "wall"
    """A name in CLOCKS."""


FULL = Effort(rounds=30, sample_ns=3_000_000)
QUICK = Effort(rounds=3, sample_ns=200_000)


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Keep the collector from running inside a sample."""
    was_enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@dataclass(frozen=True)
class Timed:
    """A peer's loop, and the text from which the values for it are made."""

    loop: Loop
    text: str
    prepare: Prepare

    def fresh(self) -> object:
        """Return a value that nobody has seen before."""
        return self.prepare(json.loads(self.text))


def calibrated(timed: Timed, sample_ns: int) -> int:
    """Return how many calls take about as long as a sample should."""
    loop, value = timed.loop, timed.fresh()
    loop([value])
    calls = 1
    while (spent := loop(repeat(value, calls))) < sample_ns // 8:
        calls *= 2
    return max(1, round(calls * sample_ns / max(spent, 1)))


def parts(calls: int) -> list[int]:
    """Divide the calls of a sample into almost equal parts."""
    count = min(PARTS, calls)
    return [(calls + part) // count for part in range(count)]


def warm(timed: Timed, calls: int) -> float:
    """Return the nanoseconds of a call on a value that the peer has seen before."""
    loop, value = timed.loop, timed.fresh()
    loop([value])
    return statistics.median(loop(repeat(value, part)) / part for part in parts(calls))


def cold(timed: Timed, calls: int) -> float:
    """Return the nanoseconds of a call on a value that nobody has seen before."""
    batch = max(1, min(COLD_BATCH_VALUES, COLD_BATCH_BYTES // len(timed.text)))
    times = []
    for part in parts(calls):
        spent = 0
        for done in range(0, part, batch):
            values = [timed.fresh() for _ in range(min(batch, part - done))]
            spent += timed.loop(values)
            del values
        times.append(spent / part)
    return statistics.median(times)


def sample(
    mode: str,
    workloads: Sequence[Workload],
    peers: Sequence[Peer],
    effort: Effort,
    progress: Callable[[int], None] = lambda done: None,
) -> Samples:
    """Time every peer on every workload, once a round.

    Args:
        mode: ``"warm"`` or ``"cold"``.
        workloads: What to measure on.
        peers: What to measure.
        effort: How many rounds, and how long a sample.
        progress: Told the number of rounds done, after each.
    """
    measure = {"warm": warm, "cold": cold}[mode]
    texts = {workload.name: workload.text() for workload in workloads}
    loops = {peer.name: peer.compiled(CLOCKS[effort.clock])[1] for peer in peers}
    samples: Samples = {name: {peer: [] for peer in loops} for name in texts}
    timed = {
        (name, peer.name): Timed(loops[peer.name], text, peer.prepare)
        for name, text in texts.items()
        for peer in peers
    }
    with no_garbage_collection():
        calls = {pair: calibrated(each, effort.sample_ns) for pair, each in timed.items()}
        for done in range(effort.rounds):
            for name in texts:
                shift = done % len(peers)
                for peer in [*peers[shift:], *peers[:shift]]:
                    pair = name, peer.name
                    samples[name][peer.name].append(measure(timed[pair], calls[pair]))
            progress(done + 1)
    return samples


@dataclass(frozen=True)
class Summary:
    """The median of some samples and the quartiles around it."""

    median: float
    lower: float
    upper: float

    def spread(self) -> float:
        """Return how far the quartiles lie from the median, relative to it."""
        return (self.upper - self.lower) / 2 / self.median


def summary(values: Sequence[float]) -> Summary:
    """Summarise one number for each round."""
    if len(values) == 1:
        return Summary(values[0], values[0], values[0])
    lower, median, upper = statistics.quantiles(values, n=4, method="inclusive")
    return Summary(median, lower, upper)


def ratios(theirs: Sequence[float], ours: Sequence[float]) -> Summary:
    """Summarise how many times as long as ours a peer took, round by round."""
    return summary([their / our for their, our in zip(theirs, ours, strict=True)])
