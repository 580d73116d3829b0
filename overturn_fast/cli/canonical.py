"""``overturn-fast canonical``: JSON values to their canonical forms."""

from __future__ import annotations

import click

from overturn_fast import CanonicalizationError, canonical_json
from overturn_fast.cli.calls import LineError, read_value
from overturn_fast.cli.lines import convert_lines
from overturn_fast.cli.options import line_options

__all__ = ["canonical"]


_EPILOG = """\
\b
Examples:
  overturn-fast canonical values.ndjson
  echo '{"b":1.0,"a":" x "}' | overturn-fast canonical -
"""


@click.command(epilog=_EPILOG)
@line_options
def canonical(files: tuple[str, ...], strict: bool, number: bool, output: str | None) -> None:
    """Print the canonical form of each JSON value in FILE.

    FILE has one value a line; "-" is standard input. Lines that cannot be read are reported, and
    the others are done.
    """
    convert_lines(files, _canonical, output=output, strict=strict, number=number)


def _canonical(line: bytes) -> str:
    value, column = read_value(line)
    try:
        return canonical_json(value)
    except CanonicalizationError as error:
        raise LineError(column, str(error)) from error
