"""``overturn-fast canonical``: JSON values to their canonical forms."""

from __future__ import annotations

import click

from overturn_fast.cli.calls import canonical_form
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
    convert_lines(files, canonical_form, output=output, strict=strict, number=number)
