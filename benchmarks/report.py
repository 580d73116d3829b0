"""What is shown and written: a table for each mode, and one JSON file."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

import overturn_fast.jcs
import overturn_fast.mcpulse
from benchmarks.measure import Effort, Samples, Summary, ratios, summary
from benchmarks.peers import COMPARISONS, Peer
from benchmarks.targets import FURTHER, HEADLINES, Headline, goal
from benchmarks.workloads import Workload

__all__ = [
    "Table",
    "as_json",
    "goal_tables",
    "same_bytes",
    "show",
    "tables",
    "verdict",
    "verdict_at_most",
]

LEGEND = """\
us: our time for one call, in microseconds. spread: half the distance of its quartiles.
2.0x: the peer takes twice our time. =: it writes the same bytes for this workload; the others
do less, or other, work. goal: the least ratio wanted, and whether it was met."""

WIDTH = 140
"""Enough for all columns. A narrower terminal breaks the lines, but no number is cut off."""


@dataclass(frozen=True)
class Table:
    """A table of text, ready to be laid out."""

    title: str
    header: list[str]
    rows: list[list[str]]
    goals_met: int
    goals_missed: int


Agreeing = Mapping[str, Mapping[str, Sequence[str]]]
"""The peers that write the same bytes, by workload and our function."""


def same_bytes(
    workloads: Sequence[Workload], peers: Sequence[Peer]
) -> dict[str, dict[str, list[str]]]:
    """Return the peers, by workload and our function, that agree with it.

    A peer agrees if it gives the function's text, as str or bytes, or the digest of it.
    """
    agreeing: dict[str, dict[str, list[str]]] = {}
    for workload in workloads:
        value = workload.build()
        text = overturn_fast.canonical_json(value)
        dumped = overturn_fast.jcs.dumps(value)
        results: dict[str, list[object]] = {
            "hash_json": [text, text.encode(), hashlib.sha256(text.encode()).hexdigest()],
            "jcs.dumps": [dumped],
            "args_hash": [overturn_fast.mcpulse.args_hash(value)],
        }
        given = {peer.name: peer(value) for peer in peers}
        agreeing[workload.name] = {
            subject: [peer for peer, result in given.items() if result in wanted]
            for subject, wanted in results.items()
        }
    return agreeing


def microseconds(nanoseconds: float) -> str:
    """Write a time."""
    value = nanoseconds / 1_000
    return f"{value:.3f}" if value < 1 else three_digits(value)


def three_digits(value: float) -> str:
    """Write a number with three digits, or all those before the decimal point.

    >>> three_digits(9.4), three_digits(16.04), three_digits(1234.5)
    ('9.40', '16.0', '1,234')
    """
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def tables(mode: str, samples: Samples, agreeing: Agreeing) -> list[Table]:
    """Make one table for each of our functions that was measured."""
    made = []
    for subject, others in COMPARISONS.items():
        measured = {name: times for name, times in samples.items() if subject in times}
        if measured:
            present = {peer for times in measured.values() for peer in times}
            peers = [peer for peer in others if peer in present]
            made.append(table(mode, subject, peers, measured, agreeing))
    return made


def table(
    mode: str,
    subject: str,
    others: Sequence[str],
    samples: Samples,
    agreeing: Agreeing,
) -> Table:
    """Compare one of our functions with its peers."""
    with_goals = [
        peer
        for peer in others
        if any(goal(mode, subject, peer, workload) is not None for workload in samples)
    ]
    header = ["workload", f"{subject} us", "spread"]
    for peer in others:
        header += [peer, "goal"] if peer in with_goals else [peer]
    rows = []
    met = missed = 0
    for workload, times in samples.items():
        ours = summary(times[subject])
        row = [workload, microseconds(ours.median), f"{ours.spread():.1%}"]
        same = agreeing.get(workload, {}).get(subject, ())
        for peer in others:
            reached = ratios(times[peer], times[subject]).median
            row.append(f"{three_digits(reached)}x" + ("=" if peer in same else " "))
            if peer not in with_goals:
                continue
            wanted = goal(mode, subject, peer, workload)
            met += wanted is not None and reached >= wanted
            missed += wanted is not None and reached < wanted
            row.append(verdict(reached, wanted))
        rows.append(row)
    return Table(f"{subject}, {mode}", header, rows, met, missed)


def verdict(reached: float, wanted: float | None) -> str:
    """Name a goal and say whether it was met; nothing where there is none."""
    if wanted is None:
        return ""
    return f"{wanted:g} met" if reached >= wanted else f"{wanted:g} missed"


def verdict_at_most(reached: float, wanted: float) -> str:
    """Name a goal that is to be kept below, and say whether it was met."""
    return f"{wanted:g} met" if reached <= wanted else f"{wanted:g} missed"


def goal_tables(measured: Mapping[str, Samples]) -> list[Table]:
    """Make the two tables that the project is judged by.

    Their goals are in the other tables too, and are not counted a second time here.

    Args:
        measured: By mode, everything that was timed in it.
    """
    return [table for table in (headlines(measured), further(measured)) if table.rows]


def was_measured(line: Headline, measured: Mapping[str, Samples]) -> list[str]:
    """Return the workloads that both sides of a comparison were timed on."""
    samples = measured.get(line.mode, {})
    return [name for name, times in samples.items() if line.subject in times and line.peer in times]


def headlines(measured: Mapping[str, Samples]) -> Table:
    """Lay out what is measured on every workload, one workload a row."""
    lines = [line for line in HEADLINES if was_measured(line, measured)]
    header = ["workload"]
    for line in lines:
        header += [f"{line.subject} {line.mode}, us", line.peer, "goal"]
    names = dict.fromkeys(name for line in lines for name in was_measured(line, measured))
    rows = []
    for name in names:
        row = [name]
        for line in lines:
            times = measured[line.mode][name]
            reached = ratios(times[line.peer], times[line.subject]).median
            wanted = goal(line.mode, line.subject, line.peer, name)
            row.append(microseconds(summary(times[line.subject]).median))
            row += [f"{three_digits(reached)}x", verdict(reached, wanted)]
        rows.append(row)
    return Table("goals: how many times as long the peer takes", header, rows, 0, 0)


def further(measured: Mapping[str, Samples]) -> Table:
    """Lay out what is measured on calls of a tool, one comparison a row."""
    rows = []
    for line in FURTHER:
        for name in was_measured(line, measured):
            wanted = goal(line.mode, line.subject, line.peer, name)
            if wanted is None:
                continue
            times = measured[line.mode][name]
            reached = ratios(times[line.peer], times[line.subject]).median
            ours, theirs = (summary(times[each]).median for each in (line.subject, line.peer))
            sides = [line.subject, name, microseconds(ours), line.peer, microseconds(theirs)]
            rows.append([*sides, f"{three_digits(reached)}x", verdict(reached, wanted)])
    header = ["function", "workload", "us", "peer", "peer us", "ratio", "goal"]
    return Table("goals: calls of a tool", header, rows, 0, 0)


def show(tables: Sequence[Table], footer: str) -> None:
    """Print the tables, with rich if it is installed."""
    try:
        import rich.box
        import rich.console
        import rich.table
    except ImportError:
        for table in tables:
            print(plain(table))
        print(f"\n{footer}")
        return
    console = rich.console.Console(highlight=False)
    console.width = max(console.width, WIDTH)
    for table in tables:
        grid = rich.table.Table(
            title=table.title, box=rich.box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True
        )
        for number, name in enumerate(table.header):
            title = name.replace("+", "\n+").replace(" ", "\n")
            grid.add_column(title, justify="right" if number else "left", no_wrap=True)
        for row in table.rows:
            grid.add_row(*(f"[red]{cell}[/]" if cell.endswith("missed") else cell for cell in row))
        console.print(grid)
    console.print(footer, markup=False, soft_wrap=True)


def plain(table: Table) -> str:
    """Lay a table out in columns."""
    lines = [table.header, *table.rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(table.header))]
    texts = [
        "  ".join(
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
    rule = "-" * sum(widths, 2 * (len(widths) - 1))
    return "\n".join(["", table.title, rule, texts[0], rule, *texts[1:]])


def footer(
    environment: Mapping[str, Any],
    peers: Sequence[Peer],
    missing: Mapping[str, str],
    effort: Effort,
    tables: Sequence[Table],
) -> str:
    """Say what the tables mean and what they were measured on."""
    versions = {peer.package: peer.version for peer in peers}
    lines = [
        LEGEND,
        "",
        f"{effort.rounds} rounds of {effort.sample_ns / 1e6:g} ms, {effort.clock} time",
        f"{environment['cpu']}, {environment['cpus']} CPUs, load {environment['load_average']}, "
        f"{environment['os']}",
        f"{environment['python']}; library by {environment['library_compiler'] or 'unknown'}, "
        f"SHA-256 {environment['sha256'] or 'of hashlib'}",
        "; ".join(f"{package} {version}" for package, version in versions.items()),
    ]
    lines += [f"not measured: {package} ({reason})" for package, reason in missing.items()]
    load, cpus = environment["load_average"], environment["cpus"]
    if load and cpus and load > cpus / 2 and effort.clock == "wall":
        lines.append(
            "The machine is busy: peers whose calls take milliseconds are interrupted more often "
            "than we are, and look slower than they are. Wait, or use --clock cpu."
        )
    met = sum(table.goals_met for table in tables)
    missed = sum(table.goals_missed for table in tables)
    if met or missed:
        lines.append(f"goals: {met} met, {missed} missed")
    return "\n".join(lines)


def summary_json(numbers: Summary, digits: int) -> dict[str, float]:
    """Round a summary for the file."""
    return {name: round(value, digits) for name, value in dataclasses.asdict(numbers).items()}


def ratio_json(line: Headline, workload: str, times: Mapping[str, list[float]]) -> dict[str, Any]:
    """Summarise a comparison for the file, with the goal and whether it was met."""
    found = ratios(times[line.peer], times[line.subject])
    wanted = goal(line.mode, line.subject, line.peer, workload)
    met = None if wanted is None else found.median >= wanted
    return {**summary_json(found, 4), "goal": wanted, "met": met}


def samples_json(mode: str, workload: str, times: Mapping[str, list[float]]) -> dict[str, object]:
    """Summarise what was timed on a workload."""
    return {
        "ns": {peer: summary_json(summary(each), 1) for peer, each in times.items()},
        "ratios": {
            subject: {
                peer: ratio_json(Headline(mode, subject, peer), workload, times)
                for peer in others
                if peer in times
            }
            for subject, others in COMPARISONS.items()
            if subject in times
        },
    }


def as_json(
    environment: Mapping[str, object],
    workloads: Sequence[Workload],
    peers: Sequence[Peer],
    missing: Mapping[str, str],
    effort: Effort,
    measured: Mapping[str, Samples],
    agreeing: Agreeing,
) -> dict[str, object]:
    """Gather everything that was measured, and on what."""
    results = {
        mode: {workload: samples_json(mode, workload, times) for workload, times in samples.items()}
        for mode, samples in measured.items()
    }
    return {
        "measured_at": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "environment": environment,
        "rounds": effort.rounds,
        "sample_ms": effort.sample_ns / 1e6,
        "clock": effort.clock,
        "peers": {
            peer.name: {
                "package": peer.package,
                "version": peer.version,
                "expression": peer.expression,
                "writes": peer.writes,
            }
            for peer in peers
        },
        "missing": missing,
        "workloads": {
            workload.name: {
                "description": workload.description,
                "bytes": len(overturn_fast.canonical_json(workload.build()).encode()),
                "same_bytes": agreeing.get(workload.name, {}),
            }
            for workload in workloads
        },
        "results": results,
    }
