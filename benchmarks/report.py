"""What is shown and written: a table for each mode, and one JSON file."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import overturn_fast.mcpulse
from benchmarks.measure import Effort, Samples, Summary, ratios, summary
from benchmarks.peers import COMPARISONS, Peer
from benchmarks.targets import goal
from benchmarks.workloads import Workload

__all__ = ["Table", "as_json", "same_bytes", "show", "tables"]

LEGEND = """\
us: our time for one call, in microseconds. spread: half the distance of its quartiles.
2.0x: the peer takes twice our time. =: it writes the same bytes for this workload; the others
do less, or other, work. goal: the least ratio wanted, and whether it was reached."""

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


def same_bytes(workloads: Sequence[Workload], peers: Sequence[Peer]) -> dict[str, list[str]]:
    """Return the peers, by workload, that agree with this package on the canonical form.

    A peer agrees if it gives the text itself, as str or bytes, or its digest; or MCPulse's hash.
    """
    agreeing: dict[str, list[str]] = {}
    for workload in workloads:
        value = workload.build()
        text = overturn_fast.canonical_json(value)
        encoded = text.encode()
        digest = hashlib.sha256(encoded).hexdigest()
        results: list[object] = [text, encoded, digest, overturn_fast.mcpulse.args_hash(value)]
        agreeing[workload.name] = [peer.name for peer in peers if peer(value) in results]
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


def tables(mode: str, samples: Samples, agreeing: Mapping[str, Sequence[str]]) -> list[Table]:
    """Make one table for each of our functions that was measured."""
    measured = next(iter(samples.values()))
    return [
        table(mode, subject, [peer for peer in others if peer in measured], samples, agreeing)
        for subject, others in COMPARISONS.items()
        if subject in measured
    ]


def table(
    mode: str,
    subject: str,
    others: Sequence[str],
    samples: Samples,
    agreeing: Mapping[str, Sequence[str]],
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
        for peer in others:
            reached = ratios(times[peer], times[subject]).median
            row.append(f"{three_digits(reached)}x" + ("=" if peer in agreeing[workload] else " "))
            if peer not in with_goals:
                continue
            wanted = goal(mode, subject, peer, workload)
            if wanted is None:
                row.append("")
            elif reached >= wanted:
                met += 1
                row.append(f"{wanted:g} ok")
            else:
                missed += 1
                row.append(f"{wanted:g} short")
        rows.append(row)
    return Table(f"{subject}, {mode}", header, rows, met, missed)


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
            grid.add_row(*(f"[red]{cell}[/]" if cell.endswith("short") else cell for cell in row))
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
        lines.append(f"goals: {met} reached, {missed} missed")
    return "\n".join(lines)


def summary_json(numbers: Summary, digits: int) -> dict[str, float]:
    """Round a summary for the file."""
    return {name: round(value, digits) for name, value in dataclasses.asdict(numbers).items()}


def as_json(
    environment: Mapping[str, object],
    workloads: Sequence[Workload],
    peers: Sequence[Peer],
    missing: Mapping[str, str],
    effort: Effort,
    measured: Mapping[str, Samples],
    agreeing: Mapping[str, Sequence[str]],
) -> dict[str, object]:
    """Gather everything that was measured, and on what."""
    results: dict[str, dict[str, object]] = {}
    for mode, samples in measured.items():
        results[mode] = {}
        for workload, times in samples.items():
            compared: dict[str, dict[str, object]] = {}
            for subject, others in COMPARISONS.items():
                if subject not in times:
                    continue
                compared[subject] = {
                    peer: {
                        **summary_json(ratios(times[peer], times[subject]), 4),
                        "goal": goal(mode, subject, peer, workload),
                    }
                    for peer in others
                    if peer in times
                }
            results[mode][workload] = {
                "ns": {peer: summary_json(summary(each), 1) for peer, each in times.items()},
                "ratios": compared,
            }
    return {
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
                "same_bytes": agreeing[workload.name],
            }
            for workload in workloads
        },
        "results": results,
    }
