"""``overturn-fast pleach``: what a cache file and the ledger in it hold."""

from __future__ import annotations

import datetime
import json
from typing import Any

import click

from overturn_fast.cli.differences import visible
from overturn_fast.cli.output import FileFailure, ending_cleanly
from overturn_fast.cli.terminal import Report
from overturn_fast.pleach import Ledger, Repeat, StoreError
from overturn_fast.pleach.sqlite_file import SQLiteFile

__all__ = ["pleach"]

_OUTCOMES = ("hit", "miss", "ineligible")

_EPILOG = """\
\b
Examples:
  overturn-fast pleach stats answers.db
  overturn-fast pleach stats --tenant org_abc --top 3 answers.db
  overturn-fast pleach stats --json answers.db

\b
Exit status:
  0    the file was read
  2    wrong usage, or a file that is no cache of this package
"""


@click.group(short_help="Caches of answers of language models.")
def pleach() -> None:
    """Caches of answers of language models, and the ledgers in their files."""


@pleach.command(epilog=_EPILOG)
@click.argument("file", metavar="FILE", type=click.Path(exists=True, dir_okay=False, readable=True))
@click.option("--tenant", metavar="ID", help="Count only the calls of this tenant.")
@click.option(
    "--top",
    metavar="N",
    type=click.IntRange(0),
    default=10,
    show_default=True,
    help="How many of the most repeated calls to print.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def stats(file: str, tenant: str | None, top: int, as_json: bool) -> None:
    """Print hit rates by runtime mode, and the most repeated calls.

    FILE is the SQLite file of a FingerprintCache with a Ledger. It is opened for reading only.
    The entries and bytes that it keeps are those of every tenant.
    """
    try:
        found = _read(file, tenant, top)
    except StoreError as error:
        raise FileFailure(visible(str(error))) from error
    with ending_cleanly(None), Report() as report:
        if as_json:
            report.line(json.dumps(found))
            return
        report.line(f"entries {found['entries']:,}, {found['bytes']:,} bytes", "bold")
        for mode, counts in found["modes"].items():
            rate = counts["hitRate"]
            share = "no rate" if rate is None else f"{rate:.1%} hits"
            told = ", ".join(f"{counts[outcome]:,} {outcome}" for outcome in _OUTCOMES)
            report.line(f"{mode}: {share} ({told})", "green")
        if not found["modes"]:
            report.line("no calls in the ledger")
        if found["repeats"]:
            report.line("most repeated:", "bold")
        for one in found["repeats"]:
            tenant_text = f", tenant {visible(one['tenantId'])}" if one["tenantId"] else ""
            report.line(
                f"  {one['count']:,} x {one['hash'][:12]} {visible(one['model'])} "
                f"{visible(one['callClass'])}{tenant_text}, last {one['last']}"
            )


def _read(path: str, tenant: str | None, top: int) -> dict[str, Any]:
    """What is printed, as JSON types."""
    file = SQLiteFile(path, read_only=True)
    try:
        ledger = Ledger(file)
        with file.reading() as connection:
            entries, size = connection.execute("SELECT entries, bytes FROM total").fetchone()
        outcomes = ledger.outcomes(tenant_id=tenant)
        repeats = ledger.repeats(tenant_id=tenant, limit=top)
    finally:
        file.close()
    return {
        "entries": entries,
        "bytes": size,
        "modes": {mode: _rated(counts) for mode, counts in outcomes.items()},
        "repeats": [_described(one) for one in repeats if one.count > 1],
    }


def _rated(counts: dict[str, int]) -> dict[str, Any]:
    """Counts with the share of hits among the calls that could have been served."""
    all_counts: dict[str, Any] = {outcome: counts.get(outcome, 0) for outcome in _OUTCOMES}
    eligible = all_counts["hit"] + all_counts["miss"]
    all_counts["hitRate"] = all_counts["hit"] / eligible if eligible else None
    return all_counts


def _described(repeat: Repeat) -> dict[str, Any]:
    fingerprint = repeat.fingerprint
    return {
        "hash": fingerprint.hash,
        "count": repeat.count,
        "outcomes": repeat.outcomes,
        "model": fingerprint.model,
        "callClass": fingerprint.call_class,
        "runtimeMode": fingerprint.runtime_mode.value,
        "tenantId": fingerprint.tenant_id,
        "first": _iso(repeat.first),
        "last": _iso(repeat.last),
    }


def _iso(seconds: float) -> str:
    moment = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
