"""The command ``overturn-fast shape``: rows, digests, and what it says about bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("click")
pytest.importorskip("rich")

from test_cli import run, run_process

from overturn_fast.shape import fingerprint, shape

RESPONSE = {"results": [{"url": "x", "rank": 1}, {"url": None}], "total": 2, "a b": True}
TEXT = json.dumps(RESPONSE, indent=1).encode()


@pytest.mark.parametrize("profile", ["seed", "v2"])
def test_the_rows_come_as_they_are_hashed_and_the_digest_last(profile: str) -> None:
    result = run("shape", "--profile", profile, "-", stdin=TEXT)
    rows = [f"{path}:{name}" for path, name in shape(RESPONSE, profile=profile)]
    assert result.stdout.splitlines() == [*rows, fingerprint(RESPONSE, profile=profile)]
    assert (result.exit_code, result.stderr) == (0, "")


def test_json_output_has_profile_digest_and_rows(tmp_path: Path) -> None:
    file = tmp_path / "response.json"
    file.write_bytes(TEXT)
    result = run("shape", "--json", "--profile", "v2", file)
    assert json.loads(result.stdout) == {
        "profile": "v2",
        "fingerprint": fingerprint(RESPONSE, profile="v2"),
        "rows": [list(row) for row in shape(RESPONSE, profile="v2")],
    }


def test_lines_have_a_digest_each_and_bad_ones_are_reported() -> None:
    result = run("shape", "--lines", "-", stdin=b'{"a":1}\n\n{"a":}\n{"\\ud800":1}\n{"a":"x"}')
    assert result.stdout.splitlines() == [fingerprint({"a": 1}), fingerprint({"a": "x"})]
    assert result.stderr.splitlines() == [
        "<stdin>:3:6: invalid JSON: expected a value",
        "<stdin>:4:2: a lone surrogate",
        "2 of 4 lines could not be read",
    ]
    assert result.exit_code == 1


def test_a_text_that_is_no_json_is_reported_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "response.json"
    file.write_bytes(b'{"secret":\n  nil}')
    result = run("shape", file)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"{file}:2:3: invalid JSON: expected a value\n"
    file.write_bytes(b'{"\\ud800": 1}')
    assert run("shape", file).stderr == f"{file}:1:2: a lone surrogate\n"
    assert run("shape", "--profile", "v2", file).exit_code == 0


def test_a_file_of_lines_is_told_of_the_option_for_them() -> None:
    assert run("shape", "-", stdin=b"1\n2\n").stderr == (
        "<stdin>:2:1: invalid JSON: more text after the value; with --lines each line has one\n"
    )
    assert "--lines" not in run("shape", "--lines", "-", stdin=b"1 2\n").stderr


def test_a_text_whose_rows_are_without_measure_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{"%s":' % ("k" * 1000) * 999 + "1" + "}" * 999)
    message = "$: the rows of its shape have more than 268,435,456 bytes"
    for options in ([], ["--lines"], ["--profile", "v2", "--json"]):
        result = run("shape", *options, str(path))
        assert result.exit_code == 1
        assert result.stderr.startswith(f"{path}:1:1: {message}\n")


def test_keys_cannot_steer_a_terminal_or_forge_a_line() -> None:
    result = run("shape", "-", stdin=b'{"a\\n$.b:number\\u001b[31m": 1}')
    assert result.stdout.splitlines()[:-1] == [
        "$:object",
        "$.a\\u000a$.b:number\\u001b[31m:number",
    ]


def test_no_value_is_printed() -> None:
    text = b'{"token": "SECRET", "n": 98765, "list": ["SECRET", 98765.25]}'
    for options in ([], ["--json"], ["--lines"], ["--profile", "v2"]):
        result = run("shape", *options, "-", stdin=text)
        assert result.exit_code == 0
        assert "SECRET" not in result.stdout
        assert "98765" not in result.stdout


@pytest.mark.parametrize(
    "arguments", [["shape"], ["shape", "none.json"], ["shape", "--lines", "--json", "-"]], ids=str
)
def test_wrong_usage_has_status_2(arguments: list[str]) -> None:
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")


def test_a_full_device_has_status_2_and_no_traceback() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    with open("/dev/full", "wb") as full:
        done = run_process("shape", "-", input=TEXT, stdout=full)
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr
