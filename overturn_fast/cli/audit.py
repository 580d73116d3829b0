"""``overturn-fast audit``: which recorded calls other SDKs may read otherwise."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Final

import click

from overturn_fast._reasons import TEXT_REASONS
from overturn_fast.audit import GROUPS, REASONS, AuditReport, FileAudit, FindingGroup
from overturn_fast.cli.lines import parts_of, size_for_a_bar
from overturn_fast.cli.output import ending_cleanly, opened
from overturn_fast.cli.terminal import Report, Reporter, printable

__all__ = ["audit"]

_EPILOG = """\
\b
Examples:
  overturn-fast audit calls.ndjson
  overturn-fast audit --fail-on any calls.ndjson
  overturn-fast audit --fail-on large-integer --fail-on trim - < calls.json
  overturn-fast audit --json calls.ndjson | jq .findings

\b
Exit status:
  0    every call was read
  1    something could not be read as a call, each is reported on standard error
  2    wrong usage, or a file that cannot be read
  3    there is a finding that --fail-on names
  130  interrupted from the keyboard
"""

_ANY: Final = "any"
_CODES: Final = [reason.code for reason in TEXT_REASONS]
_FAILED: Final = 3

_WIDEST: Final = 40  # characters to which a column of the table is filled up
_HEADER: Final = ("tool", "path", "reason", "calls", "findings", "example")


@click.command(epilog=_EPILOG)
@click.argument(
    "file",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, readable=True, allow_dash=True),
)
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object.")
@click.option(
    "--fail-on",
    metavar="REASON",
    multiple=True,
    type=click.Choice([_ANY, *_CODES]),
    help=f"End with status {_FAILED} if there is a finding of this reason, or of any. May be given "
    f"repeatedly. The reasons: {', '.join(_CODES)}.",
)
@click.option(
    "--groups",
    metavar="N",
    type=click.IntRange(0, 2**30),
    default=GROUPS,
    show_default=True,
    help="How many groups of findings are told apart; those past it are counted by reason alone.",
)
def audit(file: str, as_json: bool, fail_on: tuple[str, ...], groups: int) -> None:
    """Find what other SDKs may read otherwise in the recorded calls in FILE.

    FILE has one call a line, as for "fingerprint", or is one JSON array of calls; "-" is standard
    input. What is found is grouped by tool, path and reason. Values never appear, only paths, and
    arguments that do not count for the fingerprint are not looked at.
    """
    audited = FileAudit(groups=groups)
    _read(file, audited)
    report = audited.report()
    with ending_cleanly(None):
        if as_json:
            with opened(None) as out:
                plain = {"unit": audited.unit, **report.as_json()}
                out.write(f"{json.dumps(plain)}\n".encode())
        else:
            _print(report, audited.unit)
    found = {_ANY, *report.reasons} if report.reasons else set()
    if found.intersection(fail_on):
        raise click.exceptions.Exit(_FAILED)
    if report.refused:
        raise click.exceptions.Exit(1)


def _read(file: str, audited: FileAudit) -> None:
    """Take the whole file, and report what in it is no call."""
    name = "<stdin>" if file == "-" else file
    with ending_cleanly(None), Reporter(size_for_a_bar([file], "a report")) as reporter:
        refused = 0
        for part in parts_of(file):
            for place in audited.feed(part) if part else audited.close():
                refused += 1
                reporter.bad_line(f"{name}:{place.line}:{place.column}", place.reason)
            reporter.advance(len(part))
        if refused:
            reporter.say(f"{refused:,} {audited.unit}{'s' * (refused != 1)} could not be read")


def _print(report: AuditReport, unit: str) -> None:
    with Report() as out:
        tools = len(report.tools)
        out.line(
            f"{_counted(report.calls, 'call')} of {_counted(tools, 'tool')}: "
            + (f"{report.flagged:,} with findings" if report.flagged else "no findings"),
            "bold" if report.flagged else "green",
        )
        if not report.flagged:
            return
        out.line("")
        for number, row in enumerate(_table(report.groups, unit)):
            out.line(row, "bold" if number == 0 else None)
        for reason, tally in report.others.items():
            out.line(
                f"not told apart: {reason} in {_counted(tally.calls, 'call')}, "
                f"{_counted(tally.findings, 'finding')}"
            )
        out.line("")
        width = max(map(len, report.reasons))
        for reason in report.reasons:
            out.line(f"{reason:<{width}}  {REASONS[reason]}")


def _table(groups: Sequence[FindingGroup], unit: str) -> Iterator[str]:
    """The header and a row for each group."""
    rows = [
        _HEADER,
        *(
            (
                printable(group.tool),
                printable(group.path),
                group.reason,
                f"{group.calls:,}",
                f"{group.findings:,}",
                printable(f"{unit} {group.first:,}: {group.example}"),
            )
            for group in groups
        ),
    ]
    widths = [
        max(len(text) for text in column if len(text) <= _WIDEST)
        for column in zip(*rows, strict=True)
    ]
    for tool, path, reason, calls, findings, example in rows:
        yield (
            f"{tool:<{widths[0]}}  {path:<{widths[1]}}  {reason:<{widths[2]}}  "
            f"{calls:>{widths[3]}}  {findings:>{widths[4]}}  {example}"
        )


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"
