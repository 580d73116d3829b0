"""``overturn-fast drift report``: a page about a baseline, and about what is different since."""

from __future__ import annotations

import importlib.util

import click

from overturn_fast.cli.drift.check import policy_of, policy_options
from overturn_fast.cli.drift.responses import learn_files, reading_options
from overturn_fast.cli.drift.saved import (
    DriftCommand,
    empty_like,
    enum_key_option,
    read_baseline,
    read_incidents,
    tool_option,
)
from overturn_fast.cli.output import FileFailure, ending_cleanly, opened
from overturn_fast.shape import Incidents
from overturn_fast.shape.times import Time

__all__ = ["report"]

_EPILOG = """\
\b
Examples:
  overturn-fast drift report search.json -o search.html
  overturn-fast drift report search.json today.ndjson -o search.html
"""


@click.command(cls=DriftCommand, short_help="Write an HTML page about a baseline.", epilog=_EPILOG)
@click.argument("baseline", metavar="BASELINE", type=click.Path(exists=True, dir_okay=False))
@click.argument(
    "files",
    metavar="[FILE]...",
    nargs=-1,
    type=click.Path(exists=True, dir_okay=False, readable=True, allow_dash=True),
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    required=True,
    type=click.Path(dir_okay=False, allow_dash=True),
    help="The HTML file to write.",
)
@tool_option
@click.option(
    "--incidents",
    "incidents_file",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False),
    help='Show the incidents that "drift check" keeps in FILE.',
)
@policy_options
@enum_key_option
@reading_options
def report(
    baseline: str,
    files: tuple[str, ...],
    output: str,
    tool: str | None,
    incidents_file: str | None,
    severities: tuple[str, ...],
    min_baseline: int,
    min_current: int,
    enum_key_file: str | None,
    member: str | None,
    time_member: str | None,
    at: Time | None,
) -> None:
    """Write an HTML page about BASELINE, and about how the responses in FILE differ from it.

    The page is one file that loads nothing and runs no script.
    """
    if importlib.util.find_spec("jinja2") is None:
        raise FileFailure("a report needs jinja2: pip install 'overturn-fast[cli]'")
    from overturn_fast.shape.report import html_report

    policy = policy_of(severities, min_baseline, min_current)
    known = read_baseline(baseline, tool)
    current = empty_like(known, enum_key_file) if files else None
    bad = 0
    if current is not None:
        bad = learn_files(current, files, member=member, time_member=time_member, at=at)
    incidents = Incidents() if incidents_file is None else read_incidents(incidents_file)
    page = html_report(known, current, policy=policy, incidents=incidents.all(known.tool))
    with ending_cleanly(output), opened(output) as out:
        out.write(page.encode())
    if bad:
        raise click.exceptions.Exit(1)
