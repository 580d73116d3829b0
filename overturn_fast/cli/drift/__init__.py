"""``overturn-fast drift``: what a tool's responses look like, and whether that changes."""

from __future__ import annotations

import click

from overturn_fast.cli.drift.check import check
from overturn_fast.cli.drift.demo import demo
from overturn_fast.cli.drift.learn import learn
from overturn_fast.cli.drift.merge import merge
from overturn_fast.cli.drift.report import report
from overturn_fast.cli.drift.show import show

__all__ = ["drift"]

_EPILOG = """\
\b
Examples:
  overturn-fast drift learn monday.ndjson tuesday.ndjson --tool search -o search.json
  overturn-fast drift show search.json
  overturn-fast drift check search.json wednesday.ndjson
  overturn-fast drift report search.json wednesday.ndjson -o report.html
"""


@click.group(short_help="Learn what responses look like; find changes.", epilog=_EPILOG)
def drift() -> None:
    """Learn what a tool's responses look like, and find out when that changes.

    Only counts of shapes are stored: no value of a response, and no key of an object that is an
    identifier by its form or one of many.

    A BASELINE is a JSON file with the statistics of one tool, or an SQLite database (.db, .sqlite)
    with those of many, of which --tool names one.
    """


for command in (learn, check, merge, show, report, demo):
    drift.add_command(command)
