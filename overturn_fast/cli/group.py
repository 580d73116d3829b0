"""The command that the others belong to."""

from __future__ import annotations

import click

from overturn_fast import __version__, backend
from overturn_fast.cli.audit import audit
from overturn_fast.cli.canonical import canonical
from overturn_fast.cli.drift import drift
from overturn_fast.cli.fingerprint import fingerprint
from overturn_fast.cli.migrate import migrate
from overturn_fast.cli.pleach import pleach
from overturn_fast.cli.shape import shape
from overturn_fast.cli.vectors import vectors
from overturn_fast.cli.verify import verify

__all__ = ["cli"]

_EPILOG = """\
\b
Examples:
  overturn-fast fingerprint calls.ndjson
  overturn-fast fingerprint --json calls.ndjson --output fingerprints.ndjson
  overturn-fast fingerprint calls.ndjson | sort | uniq -c | sort -rn | head
  echo '{"name":"close_ticket","args":{"ticketId":"T-1"}}' | overturn-fast fingerprint -
  echo '{"b":1.0,"a":" x "}' | overturn-fast canonical -
  overturn-fast shape response.json
  overturn-fast audit calls.ndjson
  overturn-fast vectors --contract mcpulse | overturn-fast verify -
  overturn-fast migrate recordings.json
  overturn-fast drift learn responses.ndjson --tool search --output search.json

\b
Exit status:
  0    every line was read; everything is as the vectors say
  1    at least one line could not be read, each is reported on standard error; or something
       differs from the vectors
  2    wrong usage, or a file that cannot be read or written
  130  interrupted from the keyboard

\b
Other statuses, those of "audit" and "drift check", are in their own help.
"""


@click.group(epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(
    __version__, message=f"overturn-fast %(version)s, {backend} backend", prog_name="overturn-fast"
)
def cli() -> None:
    """Fingerprints and canonical forms of AI tool calls, from files of one JSON value a line.

    And the other way round: files of test vectors, checked or made.
    """


cli.add_command(fingerprint)
cli.add_command(canonical)
cli.add_command(shape)
cli.add_command(audit)
cli.add_command(verify)
cli.add_command(drift)
cli.add_command(vectors)
cli.add_command(pleach)
cli.add_command(migrate)
