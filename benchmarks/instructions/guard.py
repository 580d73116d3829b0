"""The stored counts, and what is said of new ones."""

from __future__ import annotations

import json
import platform
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.environment import library_compiler
from benchmarks.instructions.callgrind import Instructions

__all__ = ["COUNTS", "Change", "Entry", "compare", "environment_key", "load", "store"]

COUNTS = Path(__file__).resolve().parent / "counts.json"


@dataclass(frozen=True)
class Entry:
    """What is stored for one machine, compiler and Python."""

    python: str
    """The build of the interpreter, as it describes itself."""

    calls: Mapping[str, Instructions]


@dataclass(frozen=True)
class Change:
    """A call whose count is not the stored one."""

    name: str
    stored: float
    counted: float
    tolerance: float

    @property
    def growth(self) -> float:
        """The part of the stored count by which it grew; negative where it shrank."""
        return self.counted / self.stored - 1

    @property
    def is_grown(self) -> bool:
        """Whether it grew past the tolerance."""
        return self.growth > self.tolerance

    @property
    def is_shrunk(self) -> bool:
        """Whether it shrank past the tolerance."""
        return self.growth < -self.tolerance


def environment_key(compiler: str, python: str, machine: str) -> str:
    """Return what counts are stored under: the processor, the compiler and the Python.

    >>> environment_key("GCC: (Debian 12.2.0-14) 12.2.0", "CPython 3.12.1", "x86_64")
    'x86_64, gcc 12, CPython 3.12'
    >>> environment_key("Debian clang version 14.0.6", "CPython 3.13.0t", "aarch64")
    'aarch64, clang 14, CPython 3.13t'
    """
    clang = re.search(r"clang version (\d+)", compiler)
    gcc = re.search(r"GCC: (?:\([^)]*\) )?(\d+)", compiler)
    name = f"clang {clang[1]}" if clang else f"gcc {gcc[1]}" if gcc else compiler
    minor = re.sub(r"(\d+\.\d+)\.[^t]*", r"\1", python)
    return f"{machine}, {name}, {minor}"


def this_environment() -> str:
    """Return the key of this process."""
    abi = "t" if "t" in getattr(sys, "abiflags", "") else ""
    python = f"{platform.python_implementation()} {platform.python_version()}{abi}"
    return environment_key(library_compiler() or "unknown compiler", python, platform.machine())


def this_python() -> str:
    """Return the build of this interpreter."""
    return " ".join(sys.version.split())


def load(path: Path = COUNTS) -> dict[str, Entry]:
    """Read all stored counts, by the key of their environment."""
    if not path.exists():
        return {}
    return {
        key: Entry(
            entry["python"],
            {
                name: Instructions(library, entry["interpreter"][name])
                for name, library in entry["library"].items()
            },
        )
        for key, entry in json.loads(path.read_text(encoding="utf-8")).items()
    }


def store(key: str, entry: Entry, path: Path = COUNTS) -> None:
    """Put the counts of an environment in the place of those that were there."""
    entries = load(path) | {key: entry}
    described = {
        name: {
            "python": each.python,
            "library": {call: found.library for call, found in each.calls.items()},
            "interpreter": {call: found.interpreter for call, found in each.calls.items()},
        }
        for name, each in sorted(entries.items())
    }
    path.write_text(json.dumps(described, indent=2) + "\n", encoding="utf-8")


def compare(
    entry: Entry, counted: Mapping[str, Instructions], python: str, tolerances: Mapping[str, float]
) -> list[Change]:
    """Set counts beside the stored ones.

    The interpreter's instructions are those of one build, and counted in only where this is it.

    Args:
        entry: What is stored.
        counted: What was counted now, by the name of the call.
        python: The build of the interpreter that runs.
        tolerances: By what part of it each count may grow.
    """

    def weighed(found: Instructions) -> float:
        return found.library + (found.interpreter if python == entry.python else 0)

    return [
        Change(name, weighed(entry.calls[name]), weighed(found), tolerances[name])
        for name, found in counted.items()
        if name in entry.calls
    ]
