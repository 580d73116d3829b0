"""``python -m benchmarks``: measure, print a table, write a JSON file."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.calls import MANY, ONE_CALL, many_peers, one_peers
from benchmarks.environment import environment, file_name
from benchmarks.growth import as_json as growth_json
from benchmarks.growth import measure as measure_growth
from benchmarks.growth import table as growth_table
from benchmarks.measure import CLOCKS, FULL, MODES, QUICK, Effort, Samples, sample
from benchmarks.peers import available
from benchmarks.report import as_json, footer, goal_tables, same_bytes, show, tables
from benchmarks.workloads import WORKLOADS, select

RESULTS = Path(__file__).resolve().parent / "results"


def parser() -> argparse.ArgumentParser:
    """Describe the command line."""
    described = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Time this package against other implementations, in interleaved rounds.",
    )
    described.add_argument(
        "--rounds", type=int, metavar="N", help=f"rounds to run (default {FULL.rounds})"
    )
    described.add_argument(
        "--sample-ms",
        type=float,
        metavar="MS",
        help=f"how long to repeat a call in each round (default {FULL.sample_ns / 1e6:g})",
    )
    described.add_argument(
        "--clock",
        choices=CLOCKS,
        default=FULL.clock,
        help="what to count: the time that passes, or the processor time of this thread, which a "
        "busy machine disturbs less (default %(default)s)",
    )
    described.add_argument(
        "--workloads", metavar="NAME,...", help=f"only these of: {', '.join(WORKLOADS)}"
    )
    described.add_argument(
        "--modes",
        metavar="MODE,...",
        default=",".join(MODES),
        help="warm: one value again and again; cold: a fresh value from json.loads for every call "
        "(default %(default)s)",
    )
    described.add_argument(
        "--quick",
        action="store_true",
        help=f"short samples and {QUICK.rounds} rounds: shows that it runs, not how fast",
    )
    described.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help="where to write the result (default benchmarks/results/ and a file for this machine "
        "and Python, or partial.json with --quick, --workloads or --modes)",
    )
    return described


def progress_of(mode: str, rounds: int) -> Callable[[int], None]:
    """Return a function that shows the rounds done, on a terminal only."""

    def show_round(done: int) -> None:
        tell("" if done == rounds else f"{mode}: round {done} of {rounds}")

    return show_round


def tell(text: str) -> None:
    """Show what is being done in the place of what was shown before, on a terminal only."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def chosen_modes(names: str) -> list[str]:
    """Return the modes in a comma-separated list.

    Raises:
        ValueError: There is no mode of that name.
    """
    chosen = [name.strip() for name in names.split(",")]
    unknown = [name for name in chosen if name not in MODES]
    if unknown:
        raise ValueError(f"no mode {', '.join(unknown)!r}; there are: {', '.join(MODES)}")
    return [mode for mode in MODES if mode in chosen]


def chosen_effort(options: argparse.Namespace) -> Effort:
    """Return how many rounds to run, how long a sample is and which clock counts.

    Raises:
        ValueError: One of these is out of bounds.
    """
    effort = dataclasses.replace(QUICK if options.quick else FULL, clock=options.clock)
    if options.rounds is not None:
        if options.rounds < 1:
            raise ValueError("--rounds must be at least 1")
        effort = dataclasses.replace(effort, rounds=options.rounds)
    if options.sample_ms is not None:
        if not 0 < options.sample_ms < 10_000:
            raise ValueError("--sample-ms must be above 0 and below 10000")
        effort = dataclasses.replace(effort, sample_ns=round(options.sample_ms * 1e6))
    return effort


def add_calls(samples: Samples, effort: Effort) -> None:
    """Time calls of a tool, and put that beside what was timed on the workloads."""
    samples[ONE_CALL.name] |= sample("warm", [ONE_CALL], one_peers(), effort)[ONE_CALL.name]
    samples |= sample("warm", [MANY], many_peers(), effort)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmarks; return the exit status, which does not depend on any time."""
    described = parser()
    options = described.parse_args(arguments)
    try:
        workloads = select(options.workloads)
        modes = chosen_modes(options.modes)
        effort = chosen_effort(options)
    except ValueError as error:
        described.error(str(error))
    partial = options.quick or options.workloads is not None or tuple(modes) != MODES

    peers, missing = available()
    machine = environment(peers)
    output = options.output or RESULTS / ("partial.json" if partial else file_name(machine))
    agreeing = same_bytes(workloads, peers)
    measured: dict[str, Samples] = {}
    for mode in modes:
        progress = progress_of(mode, effort.rounds)
        measured[mode] = sample(mode, workloads, peers, effort, progress)
    if "warm" in measured and ONE_CALL in workloads:
        add_calls(measured["warm"], effort)
        workloads = [*workloads, MANY]
        peers = [*peers, *one_peers(), *many_peers()]

    growth = None
    if not partial:
        growth = measure_growth(progress=lambda kind: tell(f"growth: {kind}"))
        tell("")

    made = [
        table for mode, samples in measured.items() for table in tables(mode, samples, agreeing)
    ]
    if growth is not None:
        made.append(growth_table(growth))
    last = footer(machine, peers, missing, effort, made)
    show([*made, *goal_tables(measured)], last)
    result = as_json(machine, workloads, peers, missing, effort, measured, agreeing)
    if growth is not None:
        result["growth"] = growth_json(growth)
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"written to {output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
