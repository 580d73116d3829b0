"""``overturn-fast drift learn``: recorded responses to a baseline."""

from __future__ import annotations

import os

import click

from overturn_fast.cli.drift.responses import learn_files, reading_options
from overturn_fast.cli.drift.saved import (
    DriftCommand,
    add_to_baseline,
    empty_like,
    enum_key_in,
    enum_key_option,
    is_database,
    read_baseline,
    tools_in,
    write_baseline,
)
from overturn_fast.cli.options import files_argument
from overturn_fast.cli.output import FileFailure
from overturn_fast.shape import Limits, ShapeStats
from overturn_fast.shape.times import Time

__all__ = ["learn"]

_EPILOG = """\
\b
Examples:
  overturn-fast drift learn responses.ndjson --tool search -o search.json
  overturn-fast drift learn today.ndjson --extend -o search.json
  overturn-fast drift learn calls.ndjson --response result --time ts -o search.json
  producer | overturn-fast drift learn - --tool search -o baselines.db

\b
Exit status:
  0    every line was learned
  1    at least one line could not be read; the others were learned
  2    wrong usage, or a file that cannot be read or written
"""


@click.command(cls=DriftCommand, short_help="Learn a baseline from responses.", epilog=_EPILOG)
@files_argument
@click.option(
    "-o",
    "--output",
    metavar="BASELINE",
    required=True,
    type=click.Path(dir_okay=False),
    help="Where to write what was learned. It is replaced at the end in one step.",
)
@click.option(
    "--tool",
    metavar="NAME",
    help="The name of the tool. Unless given it has none, or with --extend that of BASELINE.",
)
@click.option("--extend", is_flag=True, help="Add to what BASELINE has already.")
@click.option(
    "--map",
    "maps",
    metavar="PATH",
    multiple=True,
    help="The object at PATH is a map: its keys are data, and not stored. May be given repeatedly.",
)
@click.option("--formats", is_flag=True, help="Notice date-times, e-mails, URIs and UUIDs. Slower.")
@enum_key_option
@reading_options
def learn(
    files: tuple[str, ...],
    output: str,
    tool: str | None,
    extend: bool,
    maps: tuple[str, ...],
    formats: bool,
    enum_key_file: str | None,
    member: str | None,
    time_member: str | None,
    at: Time | None,
) -> None:
    """Learn what responses look like from FILE, one JSON value a line; "-" is standard input.

    The order of the lines and of the files does not matter, nor do learning and merging in parts:
    the same responses always make the same BASELINE, byte for byte.
    """
    known = _known(output, tool) if extend else None
    if known is None:
        try:
            stats = ShapeStats(
                tool or "",
                limits=Limits(maps=frozenset(maps)),
                formats=formats,
                enum_key=enum_key_in(enum_key_file),
            )
        except ValueError as error:
            raise click.UsageError(str(error)) from error
    else:
        if maps or (formats and not known.looks_at_formats):
            raise click.UsageError("--map and --formats cannot be changed by --extend")
        stats = empty_like(known, enum_key_file)
    bad = learn_files(stats, files, member=member, time_member=time_member, at=at)
    if extend:
        add_to_baseline(stats, output)
    else:
        write_baseline(stats, output)
    if bad:
        raise click.exceptions.Exit(1)


def _known(path: str, tool: str | None) -> ShapeStats | None:
    """What there is to extend; None for a file or a tool that is not there yet."""
    if not os.path.exists(path):
        return None
    if is_database(path):
        if tool is None:
            raise FileFailure(f"'{path}' is a database; name the tool with --tool")
        if tool not in tools_in(path):
            return None
    return read_baseline(path, tool)
