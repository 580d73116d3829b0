"""``overturn-fast drift merge``: baselines of parts to that of the whole."""

from __future__ import annotations

import click

from overturn_fast.cli.drift.saved import DriftCommand, read_baseline, tool_option, write_baseline
from overturn_fast.cli.output import FileFailure

__all__ = ["merge"]

_EPILOG = """\
\b
Examples:
  overturn-fast drift merge worker-1.json worker-2.json -o search.json
"""


@click.command(cls=DriftCommand, short_help="Merge baselines of parts.", epilog=_EPILOG)
@click.argument(
    "baselines",
    metavar="BASELINE...",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, dir_okay=False),
)
@click.option(
    "-o",
    "--output",
    metavar="BASELINE",
    required=True,
    type=click.Path(dir_okay=False),
    help="Where to write the whole. It is replaced at the end in one step.",
)
@tool_option
def merge(baselines: tuple[str, ...], output: str, tool: str | None) -> None:
    """Merge the statistics in each BASELINE, all of one tool, in any order.

    The outcome is, byte for byte, what learning from all responses at once would have made.
    """
    merged = read_baseline(baselines[0], tool)
    for path in baselines[1:]:
        try:
            merged.merge(read_baseline(path, tool))
        except ValueError as error:
            raise FileFailure(f"Cannot merge '{path}': {error}") from error
    write_baseline(merged, output)
