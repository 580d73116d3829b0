"""``overturn-fast drift check``: responses against a baseline."""

from __future__ import annotations

import os
import time
from typing import Any, Final

import click

from overturn_fast.cli.drift.responses import learn_files, reading_options
from overturn_fast.cli.drift.saved import (
    CheckCommand,
    empty_like,
    enum_key_option,
    read_baseline,
    read_incidents,
    tool_option,
)
from overturn_fast.cli.options import files_argument
from overturn_fast.cli.output import ending_cleanly, opened
from overturn_fast.cli.terminal import Report
from overturn_fast.shape import Comparison, Incident, Incidents, Policy, compare
from overturn_fast.shape.announce import ERROR, FORMATS, exit_code, written
from overturn_fast.shape.compare import KINDS, SEVERITIES
from overturn_fast.shape.times import Time

__all__ = ["check", "policy_of", "policy_options"]

_EPILOG = """\
\b
Examples:
  overturn-fast drift check search.json today.ndjson
  overturn-fast drift check search.json today.ndjson --fail-on breaking --format github
  overturn-fast drift check search.json today.ndjson --severity "results[].ad*=ignore"
  overturn-fast drift check search.json today.ndjson --incidents incidents.json

\b
Exit status:
  0    no drift
  1    information only
  2    a warning, nothing graver
  3    a breaking change
  4    wrong usage, a line or a file that cannot be read, or one that cannot be written
  5    too few responses to tell
"""

_STYLES: Final = {"[info]": "cyan", "[warning]": "yellow", "[breaking]": "bold red"}


def policy_options(command: Any) -> Any:
    """Declare what says what counts as a change."""
    for option in reversed(
        (
            click.option(
                "--severity",
                "severities",
                metavar="PATH[:KIND]=SEVERITY",
                multiple=True,
                help="How grave a change at PATH is: info, warning, breaking or ignore; * in PATH "
                "stands for any text. May be given repeatedly, the last that fits counts.",
            ),
            click.option(
                "--min-baseline",
                type=click.IntRange(1),
                default=Policy().min_baseline,
                show_default=True,
                help="Responses that a baseline needs.",
            ),
            click.option(
                "--min-current",
                type=click.IntRange(1),
                default=Policy().min_current,
                show_default=True,
                help="Responses that are needed to compare.",
            ),
        )
    ):
        command = option(command)
    return command


def policy_of(severities: tuple[str, ...], min_baseline: int, min_current: int) -> Policy:
    """The policy that the options describe.

    Raises:
        click.UsageError: An option makes no sense.
    """
    paths: dict[str, Any] = {}
    for given in severities:
        path, separator, severity = given.rpartition("=")
        if not separator:
            raise click.UsageError(f"--severity {given!r} is not PATH=SEVERITY")
        head, colon, kind = path.rpartition(":")
        if colon and kind in KINDS:
            rule = paths.pop(head, {})
            paths[head] = {**(rule if isinstance(rule, dict) else {}), kind: severity}
        elif colon and kind.isidentifier():  # a colon in a path stands in quotes
            raise click.UsageError(f"--severity: {kind!r} is no kind of change: {', '.join(KINDS)}")
        else:
            paths.pop(path, None)
            paths[path] = severity
    try:
        return Policy(min_baseline=min_baseline, min_current=min_current, paths=paths)
    except ValueError as error:
        raise click.UsageError(f"--severity: {error}") from error


@click.command(cls=CheckCommand, short_help="Compare responses with a baseline.", epilog=_EPILOG)
@click.argument("baseline", metavar="BASELINE", type=click.Path(exists=True, dir_okay=False))
@files_argument
@tool_option
@click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMATS)),
    default="text",
    show_default=True,
    help="Text for people, JSON, annotations of a GitHub workflow, a JUnit report, or the body of "
    "a request to a webhook.",
)
@click.option(
    "--fail-on",
    type=click.Choice([*SEVERITIES, "never"]),
    default="info",
    show_default=True,
    help="The least severity for which the exit status is not 0, and that a JUnit report has as a "
    "failure, there from warning up.",
)
@click.option(
    "--incidents",
    "incidents_file",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="Keep incidents in FILE from one run to the next, and print those of which something has "
    "changed. The time of the run is --at, or now.",
)
@click.option(
    "-o", "--output", metavar="FILE", type=click.Path(dir_okay=False, allow_dash=True),
    help="Write the outcome to FILE instead of standard output.",
)  # fmt: skip
@policy_options
@enum_key_option
@reading_options
def check(
    baseline: str,
    files: tuple[str, ...],
    tool: str | None,
    form: str,
    fail_on: str,
    incidents_file: str | None,
    output: str | None,
    severities: tuple[str, ...],
    min_baseline: int,
    min_current: int,
    enum_key_file: str | None,
    member: str | None,
    time_member: str | None,
    at: Time | None,
) -> None:
    """Compare the responses in FILE, one JSON value a line, with BASELINE; "-" is standard input.

    The exit status says how grave the gravest change is.
    """
    policy = policy_of(severities, min_baseline, min_current)
    known = read_baseline(baseline, tool)
    current = empty_like(known, enum_key_file)
    bad = learn_files(current, files, member=member, time_member=time_member, at=at)
    comparison = compare(known, current, policy)
    changed = _updated(incidents_file, comparison, at) if incidents_file is not None else []
    text = written(form, comparison, changed, fail_on)
    with ending_cleanly(output):
        if form == "text" and output is None:
            _print(text)
        else:
            with opened(output) as out:
                out.write(text.encode())
    status = ERROR if bad else exit_code(comparison, fail_on)
    if status:
        raise click.exceptions.Exit(status)


def _print(text: str) -> None:
    """Write the text of a comparison, on a terminal with the changes in colours."""
    with Report() as report:
        for line in text.removesuffix("\n").split("\n"):
            report.line(line, _STYLES.get(line.partition(" ")[0]))


def _updated(path: str, comparison: Comparison, at: Time | None) -> list[Incident]:
    """The incidents of which something has changed, after the file was brought up to date."""
    incidents = read_incidents(path) if os.path.exists(path) else Incidents()
    changed = incidents.update(comparison, time.time() if at is None else at)
    with ending_cleanly(path), opened(path) as out:
        out.write(incidents.dumps().encode())
    return changed
