"""The command ``overturn-fast audit``: its table, its JSON, its statuses, and bad input."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("click")
pytest.importorskip("rich")

from console_examples import check_examples
from test_cli import TIMEOUT, run, run_process

from overturn_fast._reasons import TEXT_REASONS

PAGE = Path(__file__).resolve().parent.parent / "docs" / "audit.md"


def line(name: str, args: Any) -> bytes:
    return json.dumps({"name": name, "args": args}).encode() + b"\n"


CALLS = (
    line("get_order", {"ids": [1, 2**53 + 1, 2**60]})
    + line("get_order", {"ids": [2**60]})
    + line("search", {"q": "report\x1f"})
    + line("search", {"q": "report"})
)
TABLE = """\
4 calls of 2 tools: 3 with findings

tool       path     reason         calls  findings  example
get_order  $.ids[]  large-integer      2         3  line 1: $.ids[1]
search     $.q      trim               1         1  line 3: $.q

large-integer  an int beyond 2**53 - 1, which readers that have only doubles round
trim           begins or ends with what Python's or JavaScript's trimming alone removes
"""


def test_findings_are_shown_as_a_table(tmp_path: Path) -> None:
    file = tmp_path / "calls.ndjson"
    file.write_bytes(CALLS)
    result = run("audit", file)
    assert (result.stdout, result.stderr, result.exit_code) == (TABLE, "", 0)
    assert run("audit", "-", stdin=CALLS).stdout == TABLE


def test_an_array_of_calls_is_read_like_lines() -> None:
    array = b" [" + b",".join(CALLS.splitlines()) + b"]"
    result = run("audit", "-", stdin=array)
    assert result.stdout == TABLE.replace("line ", "item ")
    assert result.exit_code == 0


def test_nothing_found_is_said() -> None:
    result = run("audit", "-", stdin=line("t", {"a": 1}))
    assert (result.stdout, result.exit_code) == ("1 call of 1 tool: no findings\n", 0)
    assert run("audit", "-", stdin=b"").stdout == "0 calls of 0 tools: no findings\n"


def test_json_output_is_one_object() -> None:
    result = run("audit", "--json", "-", stdin=CALLS + b"{}\n")
    assert result.stdout.endswith("}\n")
    assert json.loads(result.stdout) == {
        "unit": "line",
        "calls": 4,
        "flagged": 3,
        "refused": 1,
        "reasons": {
            "large-integer": {"findings": 3, "calls": 2},
            "trim": {"findings": 1, "calls": 1},
        },
        "tools": [
            {"name": "get_order", "calls": 2, "flagged": 2},
            {"name": "search", "calls": 2, "flagged": 1},
        ],
        "findings": [
            {
                "tool": "get_order",
                "path": "$.ids[]",
                "reason": "large-integer",
                "calls": 2,
                "findings": 3,
                "example": "$.ids[1]",
                "first": 1,
            },
            {
                "tool": "search",
                "path": "$.q",
                "reason": "trim",
                "calls": 1,
                "findings": 1,
                "example": "$.q",
                "first": 3,
            },
        ],
        "others": {"calls": 0, "flagged": 0, "reasons": {}},
    }
    assert result.exit_code == 1


@pytest.mark.parametrize(
    ("options", "status"),
    [
        ([], 0),
        (["any"], 3),
        (["trim"], 3),
        (["surrogate"], 0),
        (["surrogate", "large-integer"], 3),
        (["nesting", "key-order"], 0),
    ],
    ids=str,
)
def test_fail_on_decides_about_the_status(options: list[str], status: int) -> None:
    given = [part for reason in options for part in ("--fail-on", reason)]
    assert run("audit", *given, "-", stdin=CALLS).exit_code == status
    assert run("audit", "--json", *given, "-", stdin=CALLS).exit_code == status
    assert run("audit", *given, "-", stdin=line("t", {})).exit_code == 0
    # What was found counts for more than what could not be read.
    assert run("audit", *given, "-", stdin=CALLS + b"{}").exit_code == (status or 1)


def test_reasons_that_text_cannot_give_are_no_choice() -> None:
    assert run("audit", "--fail-on", "set", "-", stdin=CALLS).exit_code == 2
    for reason in TEXT_REASONS:
        assert run("audit", "--fail-on", reason.code, "-", stdin=b"").exit_code == 0


def test_lines_that_are_no_calls_are_reported_with_their_place(tmp_path: Path) -> None:
    file = tmp_path / "calls.ndjson"
    file.write_bytes(b'\n{"name":"t","args":{"secret":}}\n' + CALLS + b"[1]\n\xff")
    result = run("audit", file)
    assert result.stderr.splitlines() == [
        f"{file}:2:30: invalid JSON: expected a value",
        f"{file}:7:1: a call must be an object, not an array",
        f"{file}:8:1: invalid JSON: not UTF-8",
        "3 lines could not be read",
    ]
    assert result.stdout.startswith("4 calls of 2 tools: 3 with findings\n")
    assert result.exit_code == 1


def test_items_that_are_no_calls_are_reported_and_what_is_no_json_ends_the_array() -> None:
    result = run("audit", "-", stdin=b"[\n1,\n" + CALLS.split(b"\n")[0] + b",\n {} 2, 3]")
    assert result.stderr.splitlines() == [
        "<stdin>:2:1: a call must be an object, not a number",
        '<stdin>:4:5: invalid JSON: expected a comma or "]"',
        "2 items could not be read, nor what comes after it",
    ]
    assert result.stdout.startswith("1 call of 1 tool: 1 with findings\n")
    assert result.exit_code == 1
    whole = run("audit", "-", stdin=b"[\n1,\n" + CALLS.split(b"\n")[0] + b", 2]")
    assert whole.stderr.splitlines()[-1] == "2 items could not be read"


def test_what_is_not_told_apart_is_counted() -> None:
    result = run("audit", "--groups", "1", "-", stdin=CALLS)
    assert "not told apart: trim in 1 call, 1 finding\n" in result.stdout
    assert "search" not in result.stdout
    others = json.loads(run("audit", "--json", "--groups", "0", "-", stdin=CALLS).stdout)["others"]
    assert others["reasons"] == {
        "large-integer": {"findings": 3, "calls": 2},
        "trim": {"findings": 1, "calls": 1},
    }


def test_names_and_keys_cannot_steer_a_terminal() -> None:
    result = run("audit", "-", stdin=line("\x1b[31mt\n", {"\u202ek\x07": "x\x1f", "\ud800": 2**60}))
    assert not re.search(r"[\x00-\x09\x0b-\x1f\u202e]", result.stdout)
    assert "\\u001b[31mt\\u000a" in result.stdout


def test_values_never_appear() -> None:
    calls = line("t", {"a": "secret\x1f", "b": [2**60]}) + b'{"name":"secret"}\n["secret"'
    for options in ([], ["--json"]):
        result = run("audit", *options, "-", stdin=calls)
        assert "secret" not in result.stdout + result.stderr
        assert str(2**60) not in result.stdout


def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    result = run("audit", tmp_path / "absent")
    assert result.exit_code == 2
    result = run("audit", tmp_path)
    assert result.exit_code == 2
    with open(tmp_path / "written", "wb") as file:
        done = run_process("audit", "-", stdin=file)
    assert done.returncode == 2
    assert done.stderr == b"Error: Cannot read standard input: Bad file descriptor\n"


def test_a_reader_that_has_seen_enough_ends_the_command_quietly() -> None:
    calls = b"".join(line("t", {f"k{n}": 2**60}) for n in range(9_000))
    command = [sys.executable, "-m", "overturn_fast.cli", "audit", "-"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(command, **pipes)  # type: ignore[call-overload]
    process.stdout.close()
    _, stderr = process.communicate(calls, timeout=TIMEOUT)
    assert (process.returncode, stderr) == (0, b"")


def test_the_examples_on_the_page_are_what_the_command_prints(tmp_path: Path) -> None:
    if not PAGE.exists():
        pytest.skip("there is no page here")
    assert check_examples(PAGE, tmp_path) >= 4
