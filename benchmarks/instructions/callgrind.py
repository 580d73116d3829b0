"""Run the calls under Valgrind's callgrind, and take the instructions of one call from its files.

Callgrind counts instructions of a processor that it imitates: one without SHA instructions, where
the hash is computed by ``compress_portable`` and outweighs all else. What a block of SHA-256 takes
is the same from version to version, so it is left out; the rest of hashing is counted. So are the C
library's functions: what ``memcpy`` and ``malloc`` take depends on the processor and on what was
allocated before.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.instructions.counted import MARK, SECTIONS, calls, repetitions, write_texts

__all__ = ["CallgrindError", "Instructions", "count", "read_section"]

ROOT = Path(__file__).resolve().parent.parent.parent
LIBRARY = re.compile(r"/overturn_fast/_native\.[^/]*$")
C_LIBRARY = re.compile(r"/(?:libc|ld)[-.][^/]*$")
SHA256_BLOCKS = re.compile(r"compress_|sha256_compress")
COST = re.compile(r"[0-9+*-]")

LONGEST_SECONDS = 600


class CallgrindError(Exception):
    """Valgrind did not run, or its files are not as expected."""


@dataclass(frozen=True)
class Instructions:
    """What was executed, but for the blocks of SHA-256 and the C library."""

    library: float
    """In this package's library. How the interpreter was compiled makes no difference to these."""

    interpreter: float
    """In the interpreter: the loop around the calls, and what the library calls of it."""

    def __sub__(self, other: Instructions) -> Instructions:
        return Instructions(self.library - other.library, self.interpreter - other.interpreter)

    def per_call(self, count: int) -> Instructions:
        """Return a call's share."""
        return Instructions(round(self.library / count, 1), round(self.interpreter / count, 1))


def read_section(lines: Iterable[str]) -> Instructions:
    """Add up a file of callgrind's.

    A line of a number or an offset and a count is the cost of a line in the function named last.
    One after ``calls=`` is what the called function cost, which is counted where that is named.

    Source: Valgrind manual, "Callgrind Format Specification".
    """
    library = interpreter = 0
    in_library = in_c_library = is_left_out = is_callee = False
    for line in lines:
        if line.startswith("ob="):
            in_library = LIBRARY.search(line.rstrip()) is not None
            in_c_library = C_LIBRARY.search(line.rstrip()) is not None
        elif line.startswith("fn="):
            is_left_out = SHA256_BLOCKS.match(line[3:]) is not None
        elif line.startswith("calls="):
            is_callee = True
        elif COST.match(line):
            if not is_callee and not is_left_out and not in_c_library:
                cost = int(line.split()[1])
                library += cost if in_library else 0
                interpreter += 0 if in_library else cost
            is_callee = False
    return Instructions(library, interpreter)


def surroundings() -> Mapping[str, str]:
    """Return the environment of a run: always the same one, so that the counts are."""
    return {
        "LC_ALL": "C.UTF-8",
        "OVERTURN_FAST_BACKEND": "native",
        "PATH": os.environ.get("PATH", os.defpath),
        "PYTHONHASHSEED": "0",
        "PYTHONMALLOC": "pymalloc",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def run(folder: Path) -> list[Path]:
    """Run the program, and return callgrind's files in order."""
    command = [
        "valgrind",
        "--tool=callgrind",
        "--compress-strings=no",
        f"--dump-before={MARK}",
        f"--callgrind-out-file={folder / 'section'}",
        *(sys.executable, "-m", "benchmarks.instructions.counted", str(folder)),
    ]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=surroundings(),
        capture_output=True,
        text=True,
        timeout=LONGEST_SECONDS,
        check=False,
    )
    if done.returncode != 0:
        raise CallgrindError(f"valgrind ended with status {done.returncode}:\n{done.stderr}")
    return sorted(folder.glob("section.*"), key=lambda path: int(path.suffix[1:]))


def count() -> dict[str, Instructions]:
    """Return the instructions of one call, by its name.

    Raises:
        CallgrindError: Valgrind did not run, or its files are not as expected.
    """
    with tempfile.TemporaryDirectory() as folder:
        texts = write_texts(Path(folder))
        files = run(Path(folder))
        counted = calls()
        if len(files) != SECTIONS * len(counted):
            raise CallgrindError(
                f"callgrind wrote {len(files)} files, not {SECTIONS * len(counted)}: "
                f"does the program call {MARK} elsewhere?"
            )
        found = {}
        for number, call in enumerate(counted):
            _, _, once, twice = files[SECTIONS * number : SECTIONS * (number + 1)]
            with once.open() as first, twice.open() as second:
                difference = read_section(second) - read_section(first)
            found[call.name] = difference.per_call(repetitions(texts[call.workload.name]))
    return found
