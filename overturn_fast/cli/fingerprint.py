"""``overturn-fast fingerprint``: calls to fingerprints."""

from __future__ import annotations

import click

from overturn_fast.cli.calls import call_fingerprint, call_with_fingerprint
from overturn_fast.cli.lines import convert_lines
from overturn_fast.cli.options import line_options

__all__ = ["fingerprint"]


_EPILOG = """\
\b
Examples:
  overturn-fast fingerprint calls.ndjson
  overturn-fast fingerprint --json --output fingerprints.ndjson calls.ndjson
  overturn-fast fingerprint --number monday.ndjson tuesday.ndjson
  producer | overturn-fast fingerprint -
"""


@click.command(epilog=_EPILOG)
@line_options
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help='Write each call\'s own fields and, as the last one, "fingerprint".',
)
def fingerprint(
    files: tuple[str, ...], strict: bool, number: bool, output: str | None, as_json: bool
) -> None:
    """Print the fingerprint of each call in FILE.

    FILE has one call a line; "-" is standard input. Lines that cannot be read are reported, and
    the others are done.

    A call is a JSON object with "name" and "args", and perhaps "kind" ("tool_call" unless given),
    "matchOn" and "ignoreArgs" (the names of the arguments that count, or do not).
    """
    convert = call_with_fingerprint if as_json else call_fingerprint
    convert_lines(files, convert, output=output, strict=strict, number=number)
