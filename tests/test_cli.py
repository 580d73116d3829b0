"""The command line, in this process and in processes of its own."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import json
import os
import pty
import select
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from console_examples import check_examples
from peak_memory import PEAK

import overturn_fast
from overturn_fast import canonical_json, fingerprint, tool_fingerprint
from overturn_fast.cli.calls import LineError, call_fingerprint, canonical_form
from overturn_fast.cli.group import cli

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples" / "calls.ndjson"
DOCUMENTATION = ROOT / "docs" / "command-line.md"
EXAMPLES_OUTPUT_SHA256 = "2ced20c8cc02818001c0d373ab96119333484835cf6b5da6289fb3b76b0cc12a"
GOOD = b'{"name":"t","args":{}}\n'
GOOD_FINGERPRINT = tool_fingerprint("t", {})
TIMEOUT = 300  # seconds; for a process that hangs

try:
    RUNNER = CliRunner(mix_stderr=False)  # type: ignore[call-arg]
except TypeError:  # click 8.2 and later always keep the streams apart
    RUNNER = CliRunner()


def run(*arguments: str | Path, stdin: bytes = b"") -> Result:
    """The command in this process."""
    return RUNNER.invoke(cli, [str(argument) for argument in arguments], input=stdin)


def run_process(*arguments: str | Path, **options: Any) -> subprocess.CompletedProcess[bytes]:
    """The command in a process of its own, with pipes for its streams unless told otherwise."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    command = [sys.executable, "-m", "overturn_fast.cli", *arguments]
    return subprocess.run(command, timeout=TIMEOUT, **options)


def fingerprints_of(text: bytes, *options: str) -> tuple[str, str, int]:
    """What ``fingerprint -`` writes to both streams for this input, and its exit status."""
    result = run("fingerprint", *options, "-", stdin=text)
    return result.stdout, result.stderr, result.exit_code


def canonical_of(text: bytes, *options: str) -> tuple[str, str, int]:
    result = run("canonical", *options, "-", stdin=text)
    return result.stdout, result.stderr, result.exit_code


def reason(line: bytes, read: Callable[[bytes], object] = canonical_form) -> tuple[int, str]:
    """The column and the reason with which a line is refused."""
    with pytest.raises(LineError) as raised:
        read(line)
    return raised.value.column, raised.value.reason


@pytest.fixture
def calls_file(tmp_path: Path) -> Callable[..., Path]:
    """Writes a file of lines and returns its path."""

    def write(*lines: bytes, name: str = "calls.ndjson") -> Path:
        path = tmp_path / name
        path.write_bytes(b"".join(lines))
        return path

    return write


# -- the example ------------------------------------------------------------------------------


def example_calls() -> list[dict[str, Any]]:
    return [json.loads(line) for line in EXAMPLES.read_bytes().splitlines(keepends=False) if line]


def test_the_fingerprints_of_the_example_are_frozen() -> None:
    result = run("fingerprint", EXAMPLES)
    assert (result.exit_code, result.stderr) == (0, "")
    assert hashlib.sha256(result.stdout_bytes).hexdigest() == EXAMPLES_OUTPUT_SHA256


def test_the_fingerprints_of_the_example_are_those_of_the_library() -> None:
    expected = [
        fingerprint(
            call.get("kind", "tool_call"),
            call["name"],
            call["args"],
            call.get("matchOn"),
            call.get("ignoreArgs"),
        )
        for call in example_calls()
    ]
    assert run("fingerprint", EXAMPLES).stdout.splitlines() == expected


def test_the_fingerprints_of_the_example_are_those_of_the_overturn_sdk() -> None:
    pytest.importorskip("overturn")
    sdk = importlib.import_module("overturn.fingerprint")
    expected = [
        sdk.fingerprint(
            call.get("kind", "tool_call"),
            call["name"],
            call["args"],
            call.get("matchOn"),
            call.get("ignoreArgs"),
        )
        for call in example_calls()
    ]
    assert run("fingerprint", EXAMPLES).stdout.splitlines() == expected


def test_the_example_is_varied() -> None:
    calls = example_calls()
    assert len(calls) == 200
    assert len({call["name"] for call in calls}) >= 25
    assert {name for call in calls for name in call} == {
        "kind",
        "name",
        "args",
        "matchOn",
        "ignoreArgs",
    }


def test_the_example_has_canonical_forms_that_are_their_own_canonical_forms() -> None:
    first = run("canonical", EXAMPLES)
    again = run("canonical", "-", stdin=first.stdout_bytes)
    assert (first.exit_code, again.exit_code) == (0, 0)
    assert again.stdout_bytes == first.stdout_bytes


# -- fingerprint ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            '{"name":"lookup_customer","args":{"email":" a@b.c ","plan":"pro"}}',
            "1f05c3f0aa8609419674956fc5a4ed846718e7c3777e4c80e17e41693dac8181",
        ),
        (
            '{"name":"close_ticket","args":{"ticketId":"T-1","priority":"P0","requestId":"x"},'
            '"matchOn":["ticketId"]}',
            "3f9dc7eb2894bd8c7ba03c560b22654b8e55785965d9950689dad15c53c9c9b2",
        ),
        (
            '{"name":"t","args":{"a":1.0,"b":-0.0,"c":null}}',
            "ade95f38fac06d697df87c3c07241094ee923e23f85e9e81e016c0ae546c91e0",
        ),
    ],
)
def test_a_call_of_the_contract_has_the_fingerprint_of_the_contract(
    line: str, expected: str
) -> None:
    assert fingerprints_of(line.encode()) == (expected + "\n", "", 0)


@pytest.mark.parametrize("args", [{}, [], None, "text", 42, 1.5, True, {"a": [None, {"b": "é"}]}])
def test_args_may_be_any_json_value(args: Any) -> None:
    line = json.dumps({"args": args, "name": "t"}).encode()
    assert fingerprints_of(line)[0] == tool_fingerprint("t", args) + "\n"


def test_kind_counts() -> None:
    out, _, _ = fingerprints_of(b'{"kind":"http_request","name":"t","args":{}}')
    assert out == fingerprint("http_request", "t", {}) + "\n"


def test_match_on_and_ignore_args_select() -> None:
    lines = [
        b'{"name":"t","args":{"a":1,"b":2},"matchOn":["a"],"ignoreArgs":["a"]}',
        b'{"name":"t","args":{"a":1,"b":2},"ignoreArgs":["b"]}',
        b'{"name":"t","args":{"a":1},"matchOn":[],"ignoreArgs":null}',
    ]
    assert fingerprints_of(b"\n".join(lines))[0].split() == [tool_fingerprint("t", {"a": 1})] * 3


def test_other_fields_do_not_count() -> None:
    assert fingerprints_of(b'{"id":7,"name":"t","args":{},"at":"now"}')[0].strip() == (
        GOOD_FINGERPRINT
    )


@pytest.mark.parametrize(
    ("line", "column", "message"),
    [
        ("[1]", 1, "a call must be an object, not an array"),
        ('  "x"', 3, "a call must be an object, not a string"),
        ("null", 1, "a call must be an object, not null"),
        ("{}", 1, 'the call has no "name"'),
        (' {"name":"t"}', 2, 'the call has no "args"'),
        ('{"name": 1, "args": {}}', 10, "$.name must be a string, not a number"),
        ('{"args":{"name":"x"},"name":null}', 29, "$.name must be a string, not null"),
        ('{"é\\n😀":1,"name":true,"args":{}}', 18, "$.name must be a string, not a boolean"),
        ('{"kind":null,"name":"t","args":{}}', 9, "$.kind must be a string, not null"),
        ('{"kind":"a\\nb","name":"t","args":{}}', 9, "$.kind must not contain a newline"),
        (
            '{"name":"t","args":{},"matchOn":"ticketId"}',
            33,
            "$.matchOn must be an array of strings, not a string",
        ),
        (
            '{"name":"t","args":{},"matchOn":["a",{}]}',
            38,
            "$.matchOn[1] must be a string, not an object",
        ),
        (
            '{"name":"t","args":{},"matchOn":["a"] , "ignoreArgs" : [1.5]}',
            57,
            "$.ignoreArgs[0] must be a string, not a number",
        ),
    ],
)
def test_a_line_that_is_no_call_is_refused_with_its_column(
    line: str, column: int, message: str
) -> None:
    assert reason(line.encode(), call_fingerprint) == (column, message)
    assert fingerprints_of(line.encode())[1].startswith(f"<stdin>:1:{column}: {message}\n")


def test_arguments_that_are_too_deep_are_reported_where_they_are() -> None:
    line = b'{"id":[[]],"name":"t","args":' + b"[" * 10_001 + b"]" * 10_001 + b"}"
    _, err, status = fingerprints_of(line)
    assert err.splitlines()[0] == "<stdin>:1:10030: nesting exceeds max_depth=10000"
    assert status == 1
    line = b'{"name":"t","args":' + b"[" * 10_000 + b"]" * 10_000 + b"}"
    assert fingerprints_of(line)[2] == 0


# -- fingerprint --json -----------------------------------------------------------------------


def with_fingerprint(line: str) -> str:
    out, err, status = fingerprints_of(line.encode(), "--json")
    assert (err, status) == ("", 0)
    return out.removesuffix("\n")


def test_json_output_is_the_calls_fields_and_the_fingerprint_last() -> None:
    assert with_fingerprint(' { "name" : "t" , "args" : { } , "id" : [1, 2] } ') == (
        f'{{"name":"t","args":{{ }},"id":[1, 2],"fingerprint":"{GOOD_FINGERPRINT}"}}'
    )


def test_json_output_keeps_numbers_and_strings_as_they_were_written() -> None:
    values = f'[1.0,1E2,1e400,-0,{"9" * 5000},"\\u00e9é\\ud800\\/"]'
    out = with_fingerprint(f'{{"name":"t","args":{values},"\\u00ef":1}}')
    assert out.startswith(f'{{"name":"t","args":{values},"\\u00ef":1,"fingerprint":"')


def test_json_output_holds_every_field_once() -> None:
    out = with_fingerprint('{"name":"a","fingerprint":"old","args":1,"n\\u0061me":"t","args":{}}')
    pairs = json.loads(out, object_pairs_hook=list)
    assert [name for name, _ in pairs] == ["name", "args", "fingerprint"]
    assert dict(pairs) == {"name": "t", "args": [], "fingerprint": GOOD_FINGERPRINT}


def test_json_output_is_input_that_gives_itself() -> None:
    once = run("fingerprint", "--json", EXAMPLES).stdout_bytes
    assert run("fingerprint", "--json", "-", stdin=once).stdout_bytes == once
    records = [json.loads(line) for line in once.split(b"\n") if line]
    for record, call in zip(records, example_calls(), strict=True):
        assert {**call, "fingerprint": record["fingerprint"]} == record


# -- canonical --------------------------------------------------------------------------------


def test_canonical_forms_are_those_of_the_library() -> None:
    values = [{"b": 1.0, "a": " x ", "c": None}, [None, 1e21, "\u2028"], None, True, "é ", -0.0]
    lines = "\n".join(json.dumps(value, ensure_ascii=False) for value in values)
    expected = "".join(canonical_json(value) + "\n" for value in values)
    assert canonical_of(lines.encode()) == (expected, "", 0)


def test_canonical_output_is_utf_8_in_any_locale() -> None:
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    done = run_process("canonical", "-", input='"é😀"'.encode(), env=environment)
    assert done.stdout == '"é😀"\n'.encode()


def test_canonical_reports_the_column_where_nesting_goes_too_deep() -> None:
    line = b"  " + b"[" * 10_001 + b"]" * 10_001
    assert canonical_of(line)[1].splitlines()[0] == (
        "<stdin>:1:10003: nesting exceeds max_depth=10000"
    )


# -- reading JSON -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "column"),
    [
        (b"NaN", 1),
        (b'{"a":Infinity}', 6),
        (b'["NaN", "\\"", -Infinity]', 15),
        (b'{"Infinity":[1,"-Infinity"],"b":[Infinity]}', 34),
    ],
)
def test_numbers_that_are_not_finite_are_not_json(line: bytes, column: int) -> None:
    assert reason(line)[0] == column
    assert reason(line)[1] == "invalid JSON: NaN and Infinity are not JSON"


@pytest.mark.parametrize(
    ("line", "column"),
    [
        (b"{", 2),
        (b'{"a":1,}', 8),
        (b'{"a" 1}', 6),
        (b"[1 2]", 4),
        (b"[1,]", 4),
        (b"01", 2),
        (b"1.", 3),
        (b"+1", 1),
        (b".5", 1),
        (b"'a'", 1),
        (b"tru", 1),
        ('"é'.encode(), 3),
        ('["é", "\\x"]'.encode(), 8),
        (b'"a\tb"', 3),
        (b'"\\ud8"', 2),
        ('{"é😀":1} x'.encode(), 10),
        (b"1 // one", 3),
        (b"\x0c1", 1),
        ("\u00a01".encode(), 1),
    ],
)
def test_a_line_that_is_no_json_is_refused(line: bytes, column: int) -> None:
    where, why = reason(line)
    assert why.startswith("invalid JSON: ")
    assert where == column


def test_a_line_that_is_no_utf_8_is_refused_with_the_column_of_the_byte() -> None:
    assert reason('"é😀'.encode() + b'\xff"') == (4, "invalid JSON: not UTF-8")
    assert reason(b'"\xed\xa0\x80"')[0] == 2
    assert reason('"x"'.encode("utf-16")) == (1, "invalid JSON: not UTF-8")


def test_a_byte_order_mark_is_refused_by_name() -> None:
    out, err, status = fingerprints_of(b"\xef\xbb\xbf" + GOOD + GOOD)
    assert out.split() == [GOOD_FINGERPRINT]
    assert err.startswith("<stdin>:1:1: invalid JSON: a byte order mark (U+FEFF)")
    assert status == 1


def test_of_two_members_with_one_name_the_last_counts() -> None:
    assert canonical_of(b'{"a":1,"b":2,"\\u0061":3}')[0] == '{"a":3,"b":2}\n'


def test_lone_surrogates_are_read_from_escapes() -> None:
    assert canonical_of(b'["\\ud800", "\\ud83d\\ude00"]')[0] == '["\\ud800","😀"]\n'


@pytest.mark.memory
def test_integers_of_any_length_are_read_in_linear_time() -> None:
    limit = getattr(sys, "get_int_max_str_digits", int)()
    digits = "7" * 100_000
    started = time.process_time()
    out, err, status = canonical_of(f'[{digits},-{digits},"x"]\n{"8" * 8_000_000}'.encode())
    assert (out, err, status) == ('[null,null,"x"]\nnull\n', "", 0)
    assert time.process_time() - started < 60  # less than a second; minutes, if it were quadratic
    assert getattr(sys, "get_int_max_str_digits", int)() == limit
    line = f'{{"name":"t","args":{{"n":{digits}}}}}'
    assert fingerprints_of(line.encode())[0].strip() == tool_fingerprint("t", {"n": 10**400})


@pytest.mark.parametrize("digits", [1, 20, 21, 22, 308, 309, 310, 319, 320, 321, 322, 4300, 4301])
@pytest.mark.parametrize("sign", ["", "-"])
def test_an_integer_is_written_as_the_library_writes_it(sign: str, digits: int) -> None:
    value = int(sign + "1") * 10 ** (digits - 1)
    assert canonical_of(f"[{sign}1{'0' * (digits - 1)}]".encode())[0] == (
        canonical_json([value]) + "\n"
    )


def test_nesting_that_is_too_deep_is_an_error_of_its_line() -> None:
    deep = b'  {"name":"t","args":' + b"[" * 500_000 + b"]" * 500_000 + b"}\n"
    out, err, status = fingerprints_of(GOOD + deep + GOOD)
    assert out.split() == [GOOD_FINGERPRINT] * 2
    assert err.splitlines()[0] == "<stdin>:2:10022: nesting exceeds max_depth=10000"
    assert status == 1


def test_a_line_of_many_megabytes_is_read() -> None:
    text = "x" * 20_000_000
    out, _, status = fingerprints_of(f'{{"name":"t","args":{{"s":"{text}"}}}}'.encode())
    assert (out.strip(), status) == (tool_fingerprint("t", {"s": text}), 0)


# -- lines ------------------------------------------------------------------------------------


def test_lines_end_with_a_line_feed_and_nothing_else() -> None:
    text = '["a\u2028\u2029\x85b"]\r\n[1,\r2]\r\n\v'.encode()
    out, err, status = canonical_of(text)
    assert out == '["a\u2028\u2029\x85b"]\n[1,2]\n'
    assert err.startswith("<stdin>:3:1: invalid JSON")
    assert status == 1


def test_blank_lines_are_skipped_and_counted() -> None:
    out, err, status = canonical_of(b"\n1\n \t\r\n\n2\n\n", "--number")
    assert (out, err, status) == ("2\t1\n5\t2\n", "", 0)


def test_an_empty_input_gives_an_empty_output() -> None:
    assert fingerprints_of(b"") == ("", "", 0)


def test_the_last_line_needs_no_line_end() -> None:
    assert canonical_of(b"1\n2")[0] == "1\n2\n"


def test_bad_lines_are_reported_and_the_others_done(calls_file: Callable[..., Path]) -> None:
    path = calls_file(GOOD, b"{oops}\n", b"\n", GOOD, b'{"name":"t"}\n')
    result = run("fingerprint", path)
    assert result.stdout.split() == [GOOD_FINGERPRINT] * 2
    first, second, summary = result.stderr.splitlines()
    assert first.startswith(f"{path}:2:2: invalid JSON: expected a name in double quotes")
    assert second == f'{path}:5:1: the call has no "args"'
    assert summary == "2 of 4 lines could not be read"
    assert result.exit_code == 1


def test_strict_stops_at_the_first_bad_line() -> None:
    out, err, status = fingerprints_of(GOOD + b"1\n" + GOOD + b"2\n", "--strict")
    assert out.split() == [GOOD_FINGERPRINT]
    assert err == (
        "<stdin>:2:1: a call must be an object, not a number\n"
        "stopped at the first line that could not be read\n"
    )
    assert status == 1


def test_reports_keep_their_place_among_the_output() -> None:
    text = b"1\nx\n2\ny\n3\n"
    done = run_process("canonical", "-", input=text, stderr=subprocess.STDOUT)
    lines = done.stdout.decode().splitlines()
    assert [line[:9] for line in lines] == ["1", "<stdin>:2", "2", "<stdin>:4", "3", "2 of 5 li"]


def test_numbers_are_those_of_the_input_lines() -> None:
    assert canonical_of(b"true\nx\nfalse\n", "--number")[0] == "1\ttrue\n3\tfalse\n"


def test_several_files_are_done_in_order(calls_file: Callable[..., Path]) -> None:
    one = calls_file(b"1\n", b"x\n", name="one")
    two = calls_file(b"2\n", name="two")
    result = run("canonical", "-n", one, "-", two, stdin=b"0\n")
    assert result.stdout == f"{one}:1\t1\n<stdin>:1\t0\n{two}:1\t2\n"
    assert result.stderr.splitlines()[-1] == "1 of 4 lines could not be read"
    assert f"{one}:2:1: " in result.stderr
    assert result.exit_code == 1


def test_a_report_holds_no_character_that_steers_a_terminal(
    calls_file: Callable[..., Path],
) -> None:
    path = calls_file(b"x", name="a\x1b[31m\nb")
    done = run_process("canonical", path)
    assert b"a\\u001b[31m\\u000ab:1:1: invalid JSON" in done.stderr.splitlines()[0]
    assert b"\x1b" not in done.stderr


# -- files ------------------------------------------------------------------------------------


def test_a_file_that_is_not_there_is_wrong_usage(tmp_path: Path) -> None:
    result = run("fingerprint", EXAMPLES, tmp_path / "absent")
    assert (result.stdout, result.exit_code) == ("", 2)
    assert "absent' does not exist" in result.stderr


@pytest.mark.parametrize("arguments", [["fingerprint"], ["unknown"], ["canonical", "--no"]])
def test_wrong_usage_has_status_2(arguments: list[str]) -> None:
    done = run_process(*arguments)
    assert (done.stdout, done.returncode) == (b"", 2)
    assert b"Usage: overturn-fast" in done.stderr


def test_a_folder_is_no_input(tmp_path: Path) -> None:
    assert run("canonical", tmp_path).exit_code == 2


@pytest.mark.skipif(not os.path.exists("/proc/self/mem"), reason="needs a file that fails to read")
def test_a_failing_read_has_status_2_and_no_traceback() -> None:
    done = run_process("canonical", "/proc/self/mem")
    assert (done.stdout, done.returncode) == (b"", 2)
    assert done.stderr.startswith(b"Error: Cannot read '/proc/self/mem': ")


def test_output_goes_to_the_file_with_the_permissions_of_a_new_one(tmp_path: Path) -> None:
    target = tmp_path / "out"
    plain = tmp_path / "plain"
    plain.touch()
    result = run("canonical", "-", "--output", target, stdin=b"1\nx\n2\n")
    assert (result.stdout, result.exit_code) == ("", 1)
    assert target.read_bytes() == b"1\n2\n"
    assert target.stat().st_mode == plain.stat().st_mode
    assert sorted(tmp_path.iterdir()) == [target, plain]


def test_output_replaces_a_file_and_keeps_its_permissions(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.write_text("old")
    target.chmod(0o640)
    link = tmp_path / "link"
    link.symlink_to("out")
    assert run("canonical", "-", "-o", link, stdin=b"1\n").exit_code == 0
    assert link.is_symlink()
    assert target.read_bytes() == b"1\n"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_output_may_replace_the_input(calls_file: Callable[..., Path]) -> None:
    path = calls_file(b" 1 \n" * 10_000)
    assert run("canonical", path, "-o", path).exit_code == 0
    assert path.read_bytes() == b"1\n" * 10_000


def test_strict_leaves_the_output_file_as_it_was(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.write_text("old")
    assert run("canonical", "--strict", "-", "-o", target, stdin=b"1\nx\n").exit_code == 1
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_output_that_cannot_be_written_has_status_2(tmp_path: Path) -> None:
    result = run("canonical", "-", "-o", tmp_path / "absent" / "out", stdin=b"1\n")
    assert result.exit_code == 2
    assert "Cannot write" in result.stderr


def test_output_to_a_device_leaves_the_device() -> None:
    before = os.stat(os.devnull)
    assert run("canonical", "-", "-o", os.devnull, stdin=b"1\n").exit_code == 0
    after = os.stat(os.devnull)
    assert (after.st_ino, after.st_mode) == (before.st_ino, before.st_mode)


def test_output_may_be_named_as_a_dash_or_a_descriptor() -> None:
    assert run("canonical", "-", "-o", "-", stdin=b"1\n").stdout == "1\n"
    if os.path.exists("/dev/stdout"):
        assert run_process("canonical", "-", "-o", "/dev/stdout", input=b"1\n").stdout == b"1\n"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_full_device_has_status_2_and_no_traceback() -> None:
    with open("/dev/full", "wb") as full:
        done = run_process("fingerprint", EXAMPLES, stdout=full)
    assert done.returncode == 2
    assert done.stderr.startswith(b"Error: Cannot write standard output: ")
    assert done.stderr.count(b"\n") == 1


def test_an_interrupt_leaves_the_output_file_as_it_was(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.write_text("old")
    # A shell may have started the tests with interrupts ignored, which processes inherit.
    program = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from overturn_fast.cli import main; main()"
    )
    command = [sys.executable, "-c", program, "canonical", "-", "-o", target]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.write(b"1\n" * 100_000)
        process.stdin.flush()
        deadline = time.monotonic() + TIMEOUT
        while len(list(tmp_path.iterdir())) == 1 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert len(list(tmp_path.iterdir())) == 2
        process.send_signal(signal.SIGINT)
        assert process.wait(TIMEOUT) == 130
        assert process.stderr is not None
        assert process.stderr.read() == b""
        process.stderr.close()
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


# -- pipes and terminals ----------------------------------------------------------------------


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_closes_the_pipe_ends_the_command_quietly(
    calls_file: Callable[..., Path], unbuffered: str
) -> None:
    path = calls_file(GOOD * 20_000)
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    command = [sys.executable, "-m", "overturn_fast.cli", "fingerprint", path]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().decode().strip() == GOOD_FINGERPRINT
        process.stdout.close()
        assert process.wait(TIMEOUT) == 0
        assert process.stderr is not None
        assert process.stderr.read() == b""


def test_an_unbuffered_interpreter_loses_no_output() -> None:
    text = b'"' + b"x" * 3_000_000 + b'"\n'
    done = run_process(
        "canonical", "-", input=text * 2, env={**os.environ, "PYTHONUNBUFFERED": "1"}
    )
    assert done.stdout == text * 2


@contextlib.contextmanager
def terminal() -> Iterator[tuple[int, Callable[[], bytes]]]:
    """A terminal: the descriptor for a process, and a function that reads what was shown."""
    shown, slave = pty.openpty()

    def read() -> bytes:
        chunks = []
        while select.select([shown], [], [], 0)[0]:
            chunks.append(os.read(shown, 1 << 16))
        return b"".join(chunks)

    try:
        yield slave, read
    finally:
        os.close(slave)
        os.close(shown)


@pytest.fixture
def large(calls_file: Callable[..., Path]) -> Path:
    """Calls of 9 MB in all, and a bad line."""
    line = b'{"name":"t","args":{"s":"' + b"x" * 1_000_000 + b'"}}\n'
    return calls_file(line * 9, b"oops\n")


BAR = "━".encode()
TERMINAL = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100"}
TERMINAL.pop("NO_COLOR", None)


def test_a_large_file_has_a_progress_bar_on_a_terminal(large: Path, tmp_path: Path) -> None:
    with terminal() as (stderr, shown), open(tmp_path / "out", "wb") as out:
        done = run_process("fingerprint", large, stdout=out, stderr=stderr, env=TERMINAL)
        text = shown()
    assert done.returncode == 1
    assert BAR in text
    assert b"1 of 10 lines could not be read\r\n" in text
    assert text.endswith(b"\x1b[2K")  # the bar's line is cleared at the end
    assert (tmp_path / "out").read_bytes().count(b"\n") == 9


@pytest.mark.parametrize("stdout", ["pipe", "terminal"])
def test_no_progress_bar_disturbs_output_that_is_looked_at(large: Path, stdout: str) -> None:
    with terminal() as (descriptor, shown):
        target = subprocess.PIPE if stdout == "pipe" else descriptor
        run_process("fingerprint", large, stdout=target, stderr=descriptor, env=TERMINAL)
        text = shown()
    assert BAR not in text
    assert b"could not be read" in text


def test_a_small_file_has_no_progress_bar(tmp_path: Path) -> None:
    with terminal() as (stderr, shown), open(tmp_path / "out", "wb") as out:
        run_process("fingerprint", EXAMPLES, stdout=out, stderr=stderr, env=TERMINAL)
        assert shown() == b""


def test_no_progress_bar_goes_into_a_pipe(large: Path, tmp_path: Path) -> None:
    done = run_process("fingerprint", large, "-o", tmp_path / "out", env=TERMINAL)
    assert done.stderr.count(b"\n") == 2
    assert b"\x1b" not in done.stderr
    assert BAR not in done.stderr


def test_reports_are_coloured_on_a_terminal_only() -> None:
    with terminal() as (stderr, shown):
        run_process("canonical", "-", input=b"x\n", stderr=stderr, env=TERMINAL)
        assert b"\x1b[" in shown()
    with terminal() as (stderr, shown):
        run_process(
            "canonical", "-", input=b"x\n", stderr=stderr, env={**TERMINAL, "NO_COLOR": "1"}
        )
        assert b"\x1b[31m" not in shown()


def test_on_a_terminal_each_line_appears_at_once() -> None:
    command = [sys.executable, "-m", "overturn_fast.cli", "canonical", "-"]
    with (
        terminal() as (stdout, shown),
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=stdout) as process,
    ):
        assert process.stdin is not None
        process.stdin.write(b"[1]\n")
        process.stdin.flush()
        deadline = time.monotonic() + TIMEOUT
        text = b""
        while b"[1]" not in text and time.monotonic() < deadline:
            time.sleep(0.01)
            text += shown()
        assert text == b"[1]\r\n"
        process.stdin.close()
        assert process.wait(TIMEOUT) == 0


@pytest.mark.memory
def test_memory_does_not_grow_with_the_number_of_lines(calls_file: Callable[..., Path]) -> None:
    program = f"""{PEAK}
from overturn_fast.cli.group import cli

try:
    cli()
finally:
    print(peak(), file=sys.stderr)
"""

    def peak(path: Path) -> int:
        command = [sys.executable, "-c", program, "canonical", path, "-o", os.devnull]
        done = subprocess.run(command, capture_output=True, timeout=TIMEOUT, check=True)
        return int(done.stderr)

    line = b'["' + b"x" * 1000 + b'"]\n'
    small = peak(calls_file(line, name="small"))
    assert peak(calls_file(line * 40_000, name="large")) - small < 10_000_000


# -- the program ------------------------------------------------------------------------------


def test_the_version_is_that_of_the_package() -> None:
    done = run_process("--version")
    expected = f"overturn-fast {overturn_fast.__version__}, {overturn_fast.backend} backend\n"
    assert (done.stdout.decode(), done.returncode) == (expected, 0)


@pytest.mark.parametrize("command", [[], ["fingerprint"], ["canonical"]])
def test_help_shows_examples(command: list[str]) -> None:
    done = run_process(*command, "--help")
    assert done.returncode == 0
    assert b"Examples:\n" in done.stdout
    assert run_process(*command, "-h").stdout == done.stdout


@pytest.mark.parametrize("missing", [("click",), ("rich",), ("click", "rich")])
def test_without_the_extra_the_command_says_what_to_install(missing: tuple[str, ...]) -> None:
    program = (
        f"import sys; sys.modules.update(dict.fromkeys({missing}));"
        "from overturn_fast.cli import main; main()"
    )
    command = [sys.executable, "-c", program, "fingerprint", EXAMPLES]
    done = subprocess.run(command, capture_output=True, timeout=TIMEOUT)
    assert (done.stdout, done.returncode) == (b"", 2)
    assert " and ".join(missing).encode() in done.stderr
    assert b"pip install 'overturn-fast[cli]'" in done.stderr
    assert b"Traceback" not in done.stderr


def test_the_package_itself_needs_neither_click_nor_rich() -> None:
    program = (
        "import sys, overturn_fast, overturn_fast.cli;"
        "sys.exit(bool({'click', 'rich'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", program], timeout=TIMEOUT).returncode == 0


def test_the_documentation_shows_what_the_program_prints(tmp_path: Path) -> None:
    assert check_examples(DOCUMENTATION, tmp_path) >= 8
