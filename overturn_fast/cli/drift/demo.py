"""``overturn-fast drift demo``: traffic of two tools to try the other commands on."""

from __future__ import annotations

import json
import os
import shlex

import click

from overturn_fast.cli.drift.saved import DriftCommand
from overturn_fast.cli.output import FileFailure, ending_cleanly, opened
from overturn_fast.cli.terminal import Report
from overturn_fast.shape.times import iso
from overturn_fast.shape.traffic import DRIFTS, START, TOOLS, traffic

__all__ = ["demo"]

_DAY_MS = 86_400_000


@click.command(cls=DriftCommand, short_help="Write responses to try the others on.")
@click.argument("folder", metavar="FOLDER", type=click.Path(file_okay=False))
@click.option("--days", type=click.IntRange(1, 365), default=14, show_default=True)
@click.option("--per-day", type=click.IntRange(1, 100_000), default=100, show_default=True)
@click.option(
    "--drift",
    "drifts",
    type=click.Choice(list(DRIFTS)),
    multiple=True,
    help="What is planted after that; everything unless given.",
)
def demo(folder: str, days: int, per_day: int, drifts: tuple[str, ...]) -> None:
    """Write recorded responses of a search and a pricing tool into FOLDER; print what to do then.

    For each tool there are weeks without a change, one more day without, and a day on which the
    contract has changed.
    """
    planted = drifts or tuple(DRIFTS)
    parts = (
        ("weeks", 0, days, ()),
        ("calm-day", days, 1, ()),
        ("drift-day", days + 1, 1, planted),
    )
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise FileFailure(f"Cannot make '{folder}': {error.strerror}") from error
    for tool in TOOLS:
        for number, (name, first, length, here) in enumerate(parts):
            path = os.path.join(folder, f"{tool}-{name}.ndjson")
            start = START + first * _DAY_MS
            with ending_cleanly(path), opened(path) as out:
                for time, response in traffic(
                    tool, length, per_day, seed=number, start=start, drifts=here
                ):
                    line = {"tool": tool, "at": iso(time), "response": response}
                    out.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")
    options = "--response response --time at"
    with ending_cleanly(None), Report() as report:
        report.line(f"cd {shlex.quote(folder)}")
        for tool in TOOLS:
            report.line(
                f"overturn-fast drift learn {tool}-weeks.ndjson --tool {tool} {options} "
                f"-o {tool}.json"
            )
            report.line(f"overturn-fast drift check {tool}.json {tool}-calm-day.ndjson {options}")
            report.line(f"overturn-fast drift check {tool}.json {tool}-drift-day.ndjson {options}")
            report.line(
                f"overturn-fast drift report {tool}.json {tool}-drift-day.ndjson {options} "
                f"-o {tool}.html"
            )
