"""``overturn-fast vectors``: fixture files for people who port a contract."""

from __future__ import annotations

from importlib.resources import files

import click

from overturn_fast.cli.cases import CONTRACTS
from overturn_fast.cli.output import ending_cleanly, opened

__all__ = ["vectors"]

_EPILOG = """\
\b
Examples:
  overturn-fast vectors --contract overturn > fingerprints.json
  overturn-fast vectors --contract jcs --output canonical.json
  overturn-fast vectors --contract mcpulse | overturn-fast verify -
"""


@click.command(short_help="Print test vectors of a contract.", epilog=_EPILOG)
@click.option(
    "--contract",
    required=True,
    type=click.Choice(CONTRACTS),
    help="overturn: fingerprints of tool calls. mcpulse: argument hashes. jcs: RFC 8785.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(dir_okay=False, allow_dash=True),
    help="Write to FILE, which is replaced in one step.",
)
def vectors(contract: str, output: str | None) -> None:
    """Print a fixture file: inputs, and what must come out of them in every language.

    Each case is there because some language gets it wrong by default, and has a reason that says
    how. What is expected comes from other implementations, which each case names.
    """
    data = (files("overturn_fast") / "vectors" / f"{contract}.json").read_bytes()
    with ending_cleanly(output), opened(output) as out:
        out.write(data)
