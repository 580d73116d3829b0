"""The reader and the canonical text of the C core, compiled by themselves and watched."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from core_compiler import WATCHED, can_watch, compiler

ROOT = Path(__file__).resolve().parent.parent
CORE = ROOT / "csrc" / "core"
SUITE = ROOT / "tests" / "data" / "jsontestsuite" / "test_parsing"
PAIRS = ROOT / "tests" / "data" / "cyberphone_jcs" / "input"


@pytest.fixture(scope="module", params=["vectors", "portable"])
def check(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """tests/c/text_check.c with the whole core, for this processor or for any."""
    program = tmp_path_factory.mktemp("text") / "text_check"
    flags = ["-std=c11", "-O1", "-Wall", "-Wextra", "-DOVT_VERSION=\"test\""]  # fmt: skip
    flags += WATCHED if can_watch() else []
    if request.param == "portable":
        flags += ["-DOVT_PORTABLE_SIMD", "-DOVT_PORTABLE_128"]
    sources = [ROOT / "tests" / "c" / "text_check.c", *sorted(CORE.glob("*.c"))]
    command = [*compiler(), *flags, f"-I{CORE}", *map(str, sources), "-o", str(program)]
    built = subprocess.run(command, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    return program


CALLS = """{"n\\u0061me":"t\\ud83d\\ude00\\ud800","matchOn":["a","\\u00e9","\\\\"],"x":[{}],
"ignoreArgs": [ "b" , "b" ] , "kind":"k\\t", "args":{"é":1,"a":{"c":2,"b":[1e5]},"b":null}}"""

# With a finding of every reason but nesting.
FINDINGS = """[{"name":"t\\u00e9","args":{"a":[9007199254740993,123456789012345680000.0,-1e400],
"x":" \\u001f","\\ud800":"\\udfff","\ue000":1,"😀":"\ufeff"}},
{"args":{"b":1,"\\u0062":2,"c":"x\x85"},"matchOn":["b"],"name":"u"}]
"""

answers: list[str] = []


def test_no_byte_outside_a_text_is_touched_in_any_prefix_of_any_file(
    check: Path, tmp_path: Path
) -> None:
    calls = tmp_path / "calls.json"
    calls.write_text(CALLS, encoding="utf-8")
    findings = tmp_path / "findings.json"
    findings.write_text(FINDINGS, encoding="utf-8")
    files = [*sorted(SUITE.glob("*.json")), *sorted(PAIRS.glob("*.json")), calls, findings]
    done = subprocess.run([check, *files], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-5000:]
    lines = done.stdout.splitlines()
    assert len(lines) == len(files)
    # Both programs, one with the vector loops and one without, answer alike.
    assert not answers or answers == lines
    answers[:] = lines
