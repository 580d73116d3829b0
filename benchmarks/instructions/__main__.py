"""``python -m benchmarks.instructions``: count, compare with what is stored, or store."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import overturn_fast
from benchmarks.instructions.callgrind import CallgrindError, Instructions, count
from benchmarks.instructions.counted import calls
from benchmarks.instructions.guard import (
    COUNTS,
    Change,
    Entry,
    compare,
    load,
    store,
    this_environment,
    this_python,
)

__all__ = ["main"]

UPDATE = "make bench-instructions-update"


def obstacle() -> str | None:
    """Return why nothing can be counted here, or None."""
    if overturn_fast.backend != "native":
        return "the native library is not there"
    if shutil.which("valgrind") is None:
        return "valgrind is not installed (Debian and Ubuntu: apt-get install valgrind)"
    return None


def report(changes: Sequence[Change], key: str) -> int:
    """Say which counts are not the stored ones; return how many grew past their tolerance."""
    grown = [change for change in changes if change.is_grown]
    shrunk = [change for change in changes if change.is_shrunk]
    for title, found in (("grew", grown), ("shrank", shrunk)):
        for change in sorted(found, key=lambda change: -abs(change.growth)):
            print(
                f"{title}: {change.name}: {change.stored:,.0f} to {change.counted:,.0f} "
                f"instructions, {change.growth:+.1%} (tolerance {change.tolerance:.0%})"
            )
    print(
        f"instructions: {len(changes)} calls counted ({key}): "
        f"{len(grown)} grew past their tolerance, {len(shrunk)} shrank"
    )
    if grown:
        print(f"If the growth is wanted, {UPDATE} stores the new counts; say why in the commit.")
    elif shrunk:
        print(f"{UPDATE} stores the smaller counts, so that what was gained is kept.")
    return len(grown)


def checked(counts: Mapping[str, Instructions], key: str, entry: Entry) -> int:
    """Compare new counts with the stored ones; return the exit status."""
    python = this_python()
    if entry.python != python:
        print(
            f"instructions: stored with another build of Python ({entry.python}), so only those "
            "of the library are compared"
        )
    unknown = [name for name in counts if name not in entry.calls]
    if unknown:
        print(f"instructions: not stored, so NOT CHECKED: {'; '.join(unknown)} ({UPDATE})")
    tolerances = {counted.name: counted.tolerance for counted in calls()}
    return 1 if report(compare(entry, counts, python, tolerances), key) else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Count and compare; return 1 if a count grew past its tolerance, and 0 if nothing is known."""
    described = argparse.ArgumentParser(
        prog="python -m benchmarks.instructions",
        description="Count the instructions of one call with callgrind, and compare with what is "
        "stored for this machine, compiler and Python.",
    )
    described.add_argument("--update", action="store_true", help="store the counts")
    described.add_argument(
        "--counts", type=Path, metavar="FILE", default=COUNTS, help="where they are stored"
    )
    options = described.parse_args(arguments)
    reason = obstacle()
    if reason is not None:
        print(f"instructions: NOT CHECKED: {reason}")
        return 1 if options.update else 0
    key = this_environment()
    entry = load(options.counts).get(key)
    if entry is None and not options.update:
        print(f"instructions: NOT CHECKED: nothing is stored for {key}; {UPDATE} adds it")
        return 0
    try:
        counts = count()
    except CallgrindError as error:
        print(f"instructions: could not be counted: {error}", file=sys.stderr)
        return 1
    if entry is not None:
        status = checked(counts, key, entry)
    if options.update:
        store(key, Entry(this_python(), counts), options.counts)
        print(f"instructions: stored for {key} in {options.counts}")
        return 0
    return status


if __name__ == "__main__":
    sys.exit(main())
