"""``overturn-fast migrate``: recordings of the SDK under the fingerprints of another profile."""

from __future__ import annotations

import json
from typing import Any, BinaryIO

import click

from overturn_fast.cli.lines import lines_of
from overturn_fast.cli.output import FileFailure, ending_cleanly, opened
from overturn_fast.cli.terminal import printable
from overturn_fast.migration import Collision, Migration, MigrationError, Recording
from overturn_fast.migration import migrate as migrated

__all__ = ["migrate"]

_EPILOG = """\
\b
Examples:
  overturn-fast migrate --dry-run recordings.json
  overturn-fast migrate recordings.json
  overturn-fast migrate --to compat recordings.json --output old-keys.json
  overturn-fast migrate --json recordings.json > report.json

\b
Exit status:
  0    every recording is keyed by the profile
  1    some are not: their key is that of neither profile, or they would share one
  2    wrong usage, or a file that is no file of recordings
"""


@click.command(short_help="Key recordings by the other profile.", epilog=_EPILOG)
@click.argument(
    "recordings",
    metavar="RECORDINGS",
    type=click.Path(exists=True, dir_okay=False, readable=True),
)
@click.option(
    "--to",
    type=click.Choice(["default", "compat"]),
    help="The profile to key by: the default one, or that of the Overturn SDK 0.1.4. Unless given "
    "it is the other one of that which the file is keyed by.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="Write to FILE, and leave RECORDINGS as it is.",
)
@click.option("--dry-run", is_flag=True, help="Report only; write nothing.")
@click.option("--json", "as_json", is_flag=True, help="Write the report as JSON.")
def migrate(recordings: str, to: Any, output: str | None, dry_run: bool, as_json: bool) -> None:
    """Key the SDK's recordings by the fingerprints of the other profile.

    RECORDINGS is a JSON object {fingerprint: {"name", "args", "output"}}, as the Overturn SDK
    replays from. It is replaced in one step; nothing but its keys changes, and nothing is dropped.
    A recording whose key is that of neither profile keeps it. Of recordings that would share a key
    the first one gets it, and the others keep theirs.

    The report of what changed goes to standard output.
    """
    text = _text_of(recordings)
    try:
        migration = migrated(text, to)
    except MigrationError as error:
        raise FileFailure(f"{recordings}: {error}") from error
    target = output if output is not None else recordings
    if not dry_run and (output is not None or migration.text != text):
        with ending_cleanly(target), opened(target) as file:
            file.write(migration.text.encode("utf-8"))
    with ending_cleanly(None), opened(None) as out:
        if as_json:
            out.write(json.dumps(_as_json(migration), indent=2).encode() + b"\n")
        else:
            _write_report(out, migration, "would have" if dry_run else "have")
    if migration.unmatched or migration.collisions:
        raise click.exceptions.Exit(1)


def _text_of(path: str) -> str:
    try:
        return b"".join(lines_of(path)).decode("utf-8")
    except UnicodeDecodeError as error:
        raise FileFailure(f"{path}: not UTF-8 at byte {error.start}") from error


# -- the report ------------------------------------------------------------------------------------


def _as_json(migration: Migration) -> dict[str, Any]:
    return {
        "to": migration.to,
        "recordings": len(migration.recordings),
        "changed": [
            {
                "name": recording.name,
                "from": recording.key,
                "to": recording.new_key,
                "match_on": recording.match_on,
            }
            for recording in migration.changed
        ],
        "unmatched": [_kept(recording) for recording in migration.unmatched],
        "collisions": [
            {"key": collision.key, "recordings": [_kept(r) for r in collision.recordings]}
            for collision in migration.collisions
        ],
    }


def _kept(recording: Recording) -> dict[str, Any]:
    return {"from": recording.key, "to": recording.new_key, "recording": recording.value}


def _write_report(out: BinaryIO, migration: Migration, have: str) -> None:
    count = len(migration.recordings)
    lines = [
        f"{count:,} recording{'s' * (count != 1)}, to the profile {migration.to}: "
        f"{len(migration.changed):,} {have} another key"
    ]
    for recording in migration.changed:
        lines.append(
            f"  {printable(recording.name)} {recording.key[:12]} -> {recording.new_key[:12]}"
            f"{_selection(recording)}"
        )
    if migration.unmatched:
        lines.append(
            f"{len(migration.unmatched):,} keep a key that no selection of their arguments gives:"
        )
        lines.extend(f"  {printable(r.name)} {printable(r.key[:12])}" for r in migration.unmatched)
    for collision in migration.collisions:
        lines.extend(_collision_lines(collision))
    out.write("".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace"))


def _selection(recording: Recording) -> str:
    if recording.match_on is None:
        return ""
    names = ", ".join(map(printable, recording.match_on)) or "none"
    return f" (arguments that count: {names})"


def _collision_lines(collision: Collision) -> list[str]:
    first, *others = collision.recordings
    lines = [
        f"{len(collision.recordings)} recordings share the key {collision.key[:12]}; "
        "all are kept, the first one under it:"
    ]
    for recording in (first, *others):
        value = json.dumps(recording.value)
        lines.append(f"  {recording.key} -> {recording.new_key}\n    {value}")
    return lines
