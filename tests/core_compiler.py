"""How the tests that are about csrc/core alone compile it: with whatever C compiler is there."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

WATCHED = ["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


def compiler() -> list[str]:
    """The command that compiles C: $CC, or the first usual name that exists."""
    if named := shlex.split(os.environ.get("CC", "")):
        return named
    for name in ("cc", "gcc", "clang"):
        if path := shutil.which(name):
            return [path]
    pytest.skip("no C compiler")


def can_watch() -> bool:
    """Whether the compiler has the sanitizers, and their programs run."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "empty"
        command = [*compiler(), *WATCHED, "-x", "c", "-", "-o", str(program)]
        empty = "int main(void) { return 0; }"
        built = subprocess.run(command, input=empty, capture_output=True, text=True)
        return built.returncode == 0 and subprocess.run([program]).returncode == 0
