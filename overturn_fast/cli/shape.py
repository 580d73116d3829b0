"""``overturn-fast shape``: JSON to the rows of its shape and the digest over them."""

from __future__ import annotations

import json

import click

from overturn_fast import CanonicalizationError, JSONTextError
from overturn_fast._arguments import SHAPE_PROFILES
from overturn_fast.cli.calls import LineError
from overturn_fast.cli.lines import convert_lines, lines_of
from overturn_fast.cli.output import ending_cleanly, opened
from overturn_fast.cli.terminal import Reporter, printable
from overturn_fast.shape import fingerprint_text, shape_text

__all__ = ["shape"]

_EPILOG = """\
\b
Examples:
  overturn-fast shape response.json
  overturn-fast shape --profile v2 --json response.json
  curl -s https://example.com/search?q=x | overturn-fast shape -
  overturn-fast shape --lines responses.ndjson | sort | uniq -c | sort -rn
"""


@click.command(short_help="Print paths, types and the digest of a JSON value.", epilog=_EPILOG)
@click.argument(
    "file",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, readable=True, allow_dash=True),
)
@click.option(
    "--profile",
    type=click.Choice(SHAPE_PROFILES),
    default="seed",
    show_default=True,
    help="The essay's rows over the first 5 items of each array, or rows that cannot collide, "
    "over all items.",
)
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object.")
@click.option(
    "--lines", is_flag=True, help="FILE has one value a line: write one digest for each, no rows."
)
def shape(file: str, profile: str, as_json: bool, lines: bool) -> None:
    """Print the shape of the JSON value in FILE: a row for each path and type, then the digest.

    FILE is one JSON text; "-" is standard input. Values never appear, only keys and types.
    """
    if lines and as_json:
        raise click.UsageError("--lines writes digests alone, and goes without --json")
    if lines:
        convert_lines([file], lambda line: _digest_of_line(line, profile))
        return
    text = b"".join(lines_of(file))
    try:
        rows = shape_text(text, profile=profile)
        digest = fingerprint_text(text, profile=profile)
    except CanonicalizationError as error:
        name = "<stdin>" if file == "-" else file
        reason = _reason_of(error)
        if error.reason == "more text after the value":
            reason += "; with --lines each line has one"
        with Reporter(None) as reporter:
            reporter.bad_line(f"{name}:{error.line or 1}:{error.column or 1}", reason)
        raise click.exceptions.Exit(1) from None
    if as_json:
        output = json.dumps({"profile": profile, "fingerprint": digest, "rows": rows})
    else:
        output = "\n".join([*(printable(f"{path}:{name}") for path, name in rows), digest])
    with ending_cleanly(None), opened(None) as out:
        out.write(f"{output}\n".encode())


def _digest_of_line(line: bytes, profile: str) -> str:
    try:
        return fingerprint_text(line, profile=profile)
    except CanonicalizationError as error:
        raise LineError(error.column or 1, _reason_of(error)) from error


def _reason_of(error: CanonicalizationError) -> str:
    reason = error.reason or str(error)
    return f"invalid JSON: {reason}" if isinstance(error, JSONTextError) else reason
