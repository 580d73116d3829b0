"""The type hints of the public interface, as mypy reads them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import overturn_fast

USES = Path(__file__).parent / "typing" / "api_uses.py"


def test_mypy_accepts_the_right_uses_and_refuses_the_wrong_ones(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    environment = dict(os.environ)
    parent = Path(overturn_fast.__file__).parent.parent
    if parent.name != "site-packages":  # where mypy looks by itself, and refuses to be told
        environment["MYPYPATH"] = str(parent)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--strict", "--config-file="),
            *(f"--cache-dir={tmp_path}", str(USES)),
        ],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
