"""The examples of a page of the documentation, run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import overturn_fast

LIMIT_S = 300  # for a process that hangs


def check_examples(page: Path, folder: Path) -> int:
    """Run the commands in a page's console blocks and compare what they print; return how many.

    What follows ``$ cat FILE`` is written to that file in the folder, where the others run.
    """
    program = folder / "overturn-fast"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m overturn_fast.cli "$@"\n')
    program.chmod(0o755)
    package = str(Path(overturn_fast.__file__).parent.parent)
    search = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PYTHONPATH": search, "PATH": path}
    blocks = re.findall(r"```console\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    shown = [step.partition("\n") for block in blocks for step in re.split(r"(?m)^\$ ", block)[1:]]
    for command, _, expected in shown:
        if command.startswith("cat "):
            (folder / command.removeprefix("cat ")).write_text(expected, "utf-8")
            continue
        done = subprocess.run(
            command,
            shell=True,
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=LIMIT_S,
        )
        assert done.stdout.decode() == expected, command
    return len(shown)
