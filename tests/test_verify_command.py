"""``overturn-fast verify``: which files it reads, what it finds, and how it shows that."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from parameter_ids import shown

from overturn_fast import mcpulse, tool_fingerprint
from overturn_fast.cli.differences import difference, visible
from overturn_fast.cli.group import cli

DATA = Path(__file__).parent / "data"
FIXTURES = DATA / "mcpulse" / "canonical.json"

try:
    RUNNER = CliRunner(mix_stderr=False)  # type: ignore[call-arg]
except TypeError:  # click 8.2 and later always keep the streams apart
    RUNNER = CliRunner()


def run(*arguments: str | Path, stdin: bytes = b"") -> Result:
    return RUNNER.invoke(cli, ["verify", *map(str, arguments)], input=stdin)


def verify(document: Any, *options: str) -> tuple[int, str]:
    """Exit status and output for a file with this content: a JSON value, or bytes."""
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    result = run("-", *options, stdin=data)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, result.stdout + result.stderr


GOOD = {"input": {"b": 1.0, "a": "é"}, "canonical": '{"a":"é","b":1}'}
BAD = {"input": {"b": 1.0}, "canonical": '{"b":1.0}'}


# -- files in use ----------------------------------------------------------------------------------


def test_the_fixtures_of_mcpulse_agree() -> None:
    result = run(FIXTURES)
    assert (result.exit_code, result.stdout) == (0, f"{FIXTURES}: 23 mcpulse: all agree\n")


def test_worked_values_of_overturn_agree() -> None:
    path = DATA / "overturn" / "worked_values.json"
    assert run(path).stdout == f"{path}: 3 overturn: all agree\n"


def test_several_files_are_checked_and_one_difference_decides(tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text(json.dumps([BAD]))
    result = run(FIXTURES, bad, FIXTURES)
    assert result.exit_code == 1
    assert result.stdout.count("all agree") == 2
    assert f"{bad}: 1 jcs: 1 differ\n" in result.stdout


@pytest.mark.parametrize(
    "document",
    [
        [GOOD],
        {"cases": [GOOD]},
        {"vectors": [GOOD], "version": 1},
        {"fixtures": [GOOD]},
        GOOD,
        json.dumps(GOOD).encode() + b"\n" + json.dumps(GOOD).encode() + b"\n\n",
        b"\r\n " + json.dumps(GOOD).encode() + b" \r\n" + json.dumps(GOOD).encode(),
    ],
    ids=["array", "cases", "vectors", "fixtures", "one case", "lines", "lines with CR"],
)
def test_all_shapes_of_files_are_read(document: Any) -> None:
    status, output = verify(document)
    assert status == 0
    assert output in ("<stdin>: 1 jcs: all agree\n", "<stdin>: 2 jcs: all agree\n")


def test_calls_as_they_are_recorded_with_their_fingerprints_are_cases() -> None:
    call = {"name": "t", "args": {"a": 1, "b": 2}, "ignoreArgs": ["b"]}
    recorded = {**call, "fingerprint": tool_fingerprint("t", {"a": 1})}
    assert verify(recorded) == (0, "<stdin>: 1 overturn: all agree\n")
    status, output = verify({**recorded, "name": "u"})
    assert status == 1
    assert "fingerprint differs at byte 0" in output


@pytest.mark.parametrize(
    ("case", "contract"),
    [
        ({"input": 1.0, "canonical": "1"}, "jcs"),
        ({"input": 1.0, "canonical": "1", "args_hash": mcpulse.args_hash(1)}, "mcpulse"),
        ({"args": [1.0], "canonical": "[1]"}, "overturn"),
        ({"tool": "t", "args": [1], "fingerprint": tool_fingerprint("t", [1])}, "overturn"),
        ({"args_json": "[1]", "canonical": "[1]"}, "overturn"),
        ({"input": " a ", "canonical": '"a"', "contract": "overturn"}, "overturn"),
        ({"kind": "k", "name": "t", "args": [], "fingerprint": ""}, "overturn"),
    ],
)
def test_a_case_tells_its_contract(case: dict[str, Any], contract: str) -> None:
    assert f": 1 {contract}: " in verify([case])[1]


def test_a_file_and_then_the_option_tell_the_contract() -> None:
    case = {"input": [" a ", None], "canonical": '["a"]'}
    assert verify([case])[0] == 1
    assert verify({"contract": "overturn", "cases": [case]}) == (
        0,
        "<stdin>: 1 overturn: all agree\n",
    )
    assert verify([case], "--contract", "overturn")[0] == 0
    assert verify({"contract": "overturn", "cases": [case]}, "--contract", "jcs")[0] == 1


def test_contracts_are_counted_apart() -> None:
    cases = [GOOD, {"args": [], "canonical": "[]"}, GOOD]
    assert verify(cases) == (0, "<stdin>: 2 jcs, 1 overturn: all agree\n")


# -- how inputs are read ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("1e2", "100"),
        ("9007199254740993", "9007199254740992"),
        ("1" + "0" * 308, "1e+308"),
        (r'"\ud83d\ude00"', '"😀"'),
        ("-0", "0"),
    ],
)
def test_numbers_are_doubles_in_rfc_8785(text: str, canonical: str) -> None:
    for case in (
        {"input_json": text, "canonical": canonical},
        json.loads(f'{{"input": {text}, "canonical": {json.dumps(canonical)}}}'),
    ):
        assert verify([case])[0] == 0


@pytest.mark.parametrize(
    "text",
    ["1e400", "-1e400", "1" + "0" * 309, "1" * 5_000, '{"a":1,"\\u0061":1}', r'"\ud800"'],
    ids=lambda text: text[:20],
)
def test_errors_can_be_expected(text: str) -> None:
    case = {"input_json": text, "error": True}
    assert verify([case]) == (0, "<stdin>: 1 jcs: all agree\n")
    status, output = verify([{**case, "error": False, "canonical": "1"}])
    assert status == 1
    assert "case 1: no canonical form: $" in output


def test_a_hash_can_be_expected_of_what_has_no_canonical_form() -> None:
    case = {"input_json": "1e400", "error": True, "args_hash": mcpulse.UNHASHABLE}
    assert verify([case])[0] == 0
    assert verify([{**case, "args_hash": "0123456789ab"}])[0] == 1


def test_an_error_that_does_not_come_is_a_difference() -> None:
    status, output = verify([{"input": "é", "error": True}])
    assert status == 1
    assert output == (
        '<stdin>: case 1: has a canonical form\n  computed "<U+00E9>"\n<stdin>: 1 jcs: 1 differ\n'
    )


def test_of_a_name_twice_the_last_counts_in_overturn() -> None:
    case = {"args_json": '{"a":1,"a":2}', "canonical": '{"a":2}'}
    assert verify([case])[0] == 0
    assert verify([case], "--contract", "jcs")[0] == 1
    assert verify(b'[{"input":{"a":1,"a":2},"error":true}]')[0] == 0


def test_selection_is_read_from_options_or_from_the_case() -> None:
    case = {"tool": "t", "args": {"a": 1, "b": 2}, "canonical": '{"a":1}'}
    for selection in (
        {"options": {"matchOn": ["a"]}},
        {"options": {"ignoreArgs": ["b"]}},
        {"matchOn": ["a"]},
        {"ignoreArgs": ["b"], "options": {}},
        {"options": None, "matchOn": ["a"], "ignoreArgs": None},
    ):
        assert verify([{**case, **selection}])[0] == 0


# -- what is shown ---------------------------------------------------------------------------------


def test_the_first_differing_byte_is_marked() -> None:
    case = {"name": "fraction", "input": {"a": "é\x1f", "b": 1.0}}
    status, output = verify([{**case, "canonical": '{"a":"é\\u001F","b":1}'}])
    assert status == 1
    assert output == (
        '<stdin>: case 1 "fraction": canonical differs at byte 13\n'
        '  expected {"a":"<U+00E9>\\u001F","b":1}\n'
        '  computed {"a":"<U+00E9>\\u001f","b":1}\n'
        "                              ^\n"
        "<stdin>: 1 jcs: 1 differ\n"
    )
    _, expected, computed, caret, _ = output.split("\n", 4)
    at = caret.index("^")
    assert (expected[at], computed[at]) == ("F", "f")


@pytest.mark.parametrize(
    ("expected", "computed", "at", "shown"),
    [
        ("abc", "abd", 2, ("abc", "abd", 2)),
        ("ab", "abc", 2, ("ab", "abc", 2)),
        ("", "a", 0, ("", "a", 0)),
        ("é", "è", 1, ("<U+00E9>", "<U+00E8>", 0)),
        ("aé", "a€", 1, ("a<U+00E9>", "a<U+20AC>", 1)),
        ("😀", "😁", 3, ("<U+1F600>", "<U+1F601>", 0)),
        ("\ud800", "\udfff", 1, ("<U+D800>", "<U+DFFF>", 0)),
        ("\n", "\\n", 0, ("<U+000A>", "\\n", 0)),
        (
            "x" * 100 + "a",
            "x" * 100 + "b",
            100,
            ("..." + "x" * 40 + "a", "..." + "x" * 40 + "b", 43),
        ),
        (
            "é" * 50 + "a",
            "é" * 50,
            100,
            ("..." + "<U+00E9>" * 40 + "a", "..." + "<U+00E9>" * 40, 323),
        ),
        ("a" + "y" * 30, "b" + "y" * 29, 0, ("a" + "y" * 29 + "...", "b" + "y" * 29, 0)),
    ],
    ids=shown,
)
def test_differences_are_found_byte_by_byte(
    expected: str, computed: str, at: int, shown: tuple[str, str, int]
) -> None:
    assert difference(expected, computed) == (at, *shown)


def test_nothing_that_steers_a_terminal_is_written() -> None:
    assert visible("".join(map(chr, range(0x20)))).isprintable()
    case = {"name": "\x1b[31m\u202e\n", "input": {"\x1b": float(1)}, "canonical": "\x1b[2J\u2028"}
    output = verify([case])[1]
    assert output.isascii()
    assert output.replace("\n", "").isprintable()
    assert r'"\u001b[31m\u202e\n"' in output
    assert "<U+001B>[2J<U+2028>" in output


def test_every_field_that_differs_is_shown() -> None:
    case = {"name": "n", "input": [1], "canonical": "[2]", "args_hash": "0" * 12}
    output = verify([case])[1]
    assert output.count("differs at byte") == 2
    assert "canonical differs at byte 1" in output
    assert "args_hash differs at byte 1" in output


def test_a_sha256_is_checked_too() -> None:
    right = "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"
    assert verify([{"input": [], "sha256": right}])[0] == 0
    assert verify([{"input": [], "sha256": right[:-1] + "0"}])[0] == 1


# -- files that cannot be read ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "line 1, column 1: Expecting value"),
        (b"[]", "it has no cases"),
        (b"{}", "it is no array, no object with cases, vectors or fixtures, and no case"),
        (b'"text"', "it is no array, no object with cases, vectors or fixtures, and no case"),
        (b"[{", "line 1, column 3: "),
        (b'{"input":1,\n"canonical":}', "line 2, column 13: Expecting value"),
        (b'{"input":1,"canonical":"1"}\n{"input":1', "line 2, column 11: "),
        (b"\xef\xbb\xbf[]", "a byte order mark (U+FEFF) before the text"),
        (b'["\n\xff"]', "line 2: byte 0xff is not UTF-8 here"),
        (b'[{"input":NaN,"canonical":"1"}]', "invalid JSON: NaN is not a JSON number"),
        (b"[" * 200_000, "nested too deeply to be read"),
        (b"[1]", "case 1 is no object"),
        (b'[{"canonical":"1"}]', "case 1 has none of input, input_json, args, args_json"),
        (b'[{"input":1}]', "case 1 has no canonical and no sha256 to compare with"),
        (b'[{"input":1,"canonical":1}]', "case 1: canonical is no string"),
        (b'[{"input_json":1,"canonical":"1"}]', "case 1: input_json is no string"),
        (b'[{"input_json":"[","canonical":"1"}]', "case 1: input_json: "),
        (b'[{"input_json":"NaN","canonical":"1"}]', "case 1: input_json: invalid JSON: NaN"),
        (b'[{"args":1,"canonical":"1","options":[1]}]', "case 1: options is no object"),
        (b'[{"args":1,"canonical":"1","matchOn":"a"}]', "case 1: matchOn is no array of strings"),
        (b'[{"args":1,"canonical":"1","tool":1}]', "case 1: tool is no string"),
        (b'[{"args":1,"canonical":"1","kind":"a\\nb"}]', "case 1: kind contains a newline"),
        (b'[{"input":1,"canonical":"1","contract":"x"}]', "case 1 is for another contract than"),
        (b'{"contract":[],"cases":[]}', "the file is for another contract than"),
    ],
    ids=lambda value: ascii(value)[:40],
)
def test_what_is_no_vectors_file_has_status_2_and_a_reason(data: bytes, why: str) -> None:
    status, output = verify(data)
    assert status == 2
    assert output.startswith("Error: Cannot read '<stdin>': ")
    assert why in output


def test_a_file_that_is_not_there_has_status_2(tmp_path: Path) -> None:
    assert run(tmp_path / "none.json").exit_code == 2
    assert run(FIXTURES, "--contract", "other").exit_code == 2
    assert run().exit_code == 2


# -- processes -------------------------------------------------------------------------------------

COMMAND = [sys.executable, "-m", "overturn_fast.cli", "verify"]


def test_the_command_runs_in_a_process_of_its_own() -> None:
    done = subprocess.run([*COMMAND, str(FIXTURES)], capture_output=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == f"{FIXTURES}: 23 mcpulse: all agree\n".encode()


def test_a_terminal_gets_the_same_text_in_colour() -> None:
    shown, terminal = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "40"}
    environment.pop("NO_COLOR", None)
    process = subprocess.Popen(
        [*COMMAND, "-"], stdin=subprocess.PIPE, stdout=terminal, env=environment
    )
    os.close(terminal)
    process.communicate(json.dumps([BAD]).encode(), timeout=300)
    output = b""
    try:
        while chunk := os.read(shown, 65_536):
            output += chunk
    except OSError:  # how a terminal says that everyone else has closed it
        pass
    os.close(shown)
    assert process.returncode == 1
    assert b"\x1b[32m" in output
    assert b"\x1b[31m" in output
    plain = output.replace(b"\r\n", b"\n")
    for code in (b"\x1b[0m", b"\x1b[1m", b"\x1b[31m", b"\x1b[32m"):
        plain = plain.replace(code, b"")
    assert plain.decode() == verify([BAD])[1]
