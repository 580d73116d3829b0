"""``overturn-fast drift`` as it is run: what it prints, what it writes, how it exits."""

from __future__ import annotations

import importlib
import json
import os
import pty
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

pytest.importorskip("click")
pytest.importorskip("rich")

from click.testing import CliRunner, Result

from overturn_fast.cli.group import cli
from overturn_fast.shape import load
from overturn_fast.shape.traffic import START, TOOLS, traffic

DAY = 86_400_000
OPTIONS = ["--response", "response", "--time", "at"]

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs ``overturn-fast drift`` in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, input: bytes | None = None) -> Result:
        return CliRunner().invoke(cli, ["drift", *arguments], input=input)

    return run


def write(path: str, tool: str, first: int, days: int, *drifts: str, per_day: int = 30) -> None:
    lines = [
        json.dumps({"at": time, "response": response})
        for time, response in traffic(
            tool, days, per_day, seed=first, start=START + first * DAY, drifts=drifts
        )
    ]
    Path(path).write_text("".join(f"{line}\n" for line in lines))


@pytest.fixture(scope="module")
def weeks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with five days of responses, and what was learned from them."""
    folder = tmp_path_factory.mktemp("weeks")
    path = str(folder / "weeks.ndjson")
    write(path, "search", 0, 5, per_day=40)
    arguments = ["learn", path, "--tool", "search", *OPTIONS, "-o", str(folder / "search.json")]
    result = CliRunner().invoke(cli, ["drift", *arguments])
    assert (result.exit_code, result.output) == (0, "")
    return folder


@pytest.fixture
def learned(run: Run, weeks: Path) -> Run:
    """``run`` in a folder with these two files."""
    for path in weeks.iterdir():
        shutil.copy(path, path.name)
    return run


def test_learning_in_parts_makes_the_same_file(learned: Run) -> None:
    whole = Path("search.json").read_bytes()
    lines = Path("weeks.ndjson").read_bytes().splitlines(keepends=True)
    Path("a.ndjson").write_bytes(b"".join(lines[1::2]))
    Path("b.ndjson").write_bytes(b"".join(lines[0::2]))
    for name in "ab":
        learned("learn", f"{name}.ndjson", "--tool", "search", *OPTIONS, "-o", f"{name}.json")
    assert learned("merge", "b.json", "a.json", "-o", "merged.json").exit_code == 0
    assert Path("merged.json").read_bytes() == whole
    assert learned("learn", "b.ndjson", "--extend", *OPTIONS, "-o", "a.json").exit_code == 0
    assert Path("a.json").read_bytes() == whole


@pytest.mark.parametrize(
    ("drifts", "options", "status"),
    [
        ((), (), 0),
        (("string",), (), 3),
        (("string",), ("--severity", "results[].price=warning"), 2),
        (("string",), ("--severity", "results[].*:type_changed=info"), 1),
        (("string",), ("--severity", "results[].price=ignore"), 0),
        (("string",), ("--severity", "results[].price=info", "--fail-on", "warning"), 0),
        (("string",), ("--fail-on", "never"), 0),
        (("string",), ("--min-current", "100"), 5),
    ],
)
def test_a_check_exits_with_how_grave_it_is(
    learned: Run, drifts: tuple[str, ...], options: tuple[str, ...], status: int
) -> None:
    write("day.ndjson", "search", 5, 1, *drifts)
    result = learned("check", "search.json", "day.ndjson", *OPTIONS, *options)
    assert result.exit_code == status, result.output


@pytest.mark.parametrize(
    "arguments",
    [
        ("check",),
        ("check", "search.json"),
        ("check", "search.json", "missing.ndjson"),
        ("check", "weeks.ndjson", "weeks.ndjson"),
        ("check", "search.json", "weeks.ndjson", "--format", "x"),
        ("check", "search.json", "weeks.ndjson", "--severity", "x"),
        ("check", "search.json", "weeks.ndjson", "--severity", "x=y"),
        ("check", "search.json", "weeks.ndjson", "--at", "yesterday"),
        ("check", "search.json", "weeks.ndjson", "--tool", "other"),
        ("check", "search.json", "weeks.ndjson", "--incidents", "search.json"),
        ("check", "search.json", "weeks.ndjson", "-o", "no/such/folder"),
        ("check", "search.json", "weeks.ndjson", "--response", "missing"),
    ],
)
def test_an_error_of_a_check_is_not_taken_for_a_drift(
    learned: Run, arguments: tuple[str, ...]
) -> None:
    result = learned(*arguments)
    assert result.exit_code == 4, result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize("form", ["text", "json", "github", "junit", "webhook"])
def test_a_check_writes_every_format(learned: Run, form: str) -> None:
    write("day.ndjson", "search", 5, 1, "string")
    arguments = ["check", "search.json", "day.ndjson", *OPTIONS, "--format", form]
    printed = learned(*arguments)
    assert "results[].price changed number -" in printed.output
    learned(*arguments, "-o", "outcome")
    assert Path("outcome").read_text() == printed.output


@pytest.mark.parametrize(
    ("fail_on", "failures"), [("info", 4), ("warning", 4), ("breaking", 3), ("never", 0)], ids=str
)
def test_a_junit_report_fails_with_what_the_status_fails_with(
    learned: Run, fail_on: str, failures: int
) -> None:
    write("drift.ndjson", "search", 6, 1, "rename", "string", "gone", per_day=100)
    arguments = ["check", "search.json", "drift.ndjson", *OPTIONS, "--fail-on", fail_on]
    suite = ElementTree.fromstring(learned(*arguments, "--format", "junit").output)
    assert suite.get("failures") == str(failures) == str(len(suite.findall("testcase/failure")))
    assert len(suite.findall("testcase")) == 4


def test_an_unknown_kind_and_a_short_secret_are_named(learned: Run) -> None:
    result = learned("check", "search.json", "weeks.ndjson", "--severity", "total:typo=info")
    assert result.exit_code == 4
    assert "'typo' is no kind of change: field_removed, " in result.output
    quoted = '$["a:b"]=info'
    result = learned("check", "search.json", "weeks.ndjson", *OPTIONS, "--severity", quoted)
    assert result.exit_code == 0
    Path("secret").write_bytes(b"x" * 15)
    for command in (["learn", "-o", "new.json"], ["check", "search.json"]):
        result = learned(*command, "weeks.ndjson", "--enum-key", "secret")
        assert "--enum-key: the secret in 'secret' has 15 bytes; it must have at least 16" in (
            result.output
        )


def test_changes_are_coloured_on_a_terminal(learned: Run) -> None:
    write("drift.ndjson", "search", 6, 1, "string", per_day=100)
    shown, terminal = pty.openpty()
    command = [sys.executable, "-m", "overturn_fast.cli", "drift", "check"]
    try:
        environment = {**os.environ, "TERM": "xterm"}
        environment.pop("NO_COLOR", None)
        subprocess.run(
            [*command, "search.json", "drift.ndjson", *OPTIONS],
            stdout=terminal,
            stderr=subprocess.DEVNULL,
            env=environment,
            timeout=60,
        )
        output = os.read(shown, 65_536)
    finally:
        os.close(terminal)
        os.close(shown)
    assert b"\x1b[1;31m[breaking] results[].price changed number -> string\x1b[0m\r\n" in output


def test_incidents_are_kept_between_runs(learned: Run) -> None:
    def states(day: int, *drifts: str) -> list[str]:
        write("day.ndjson", "search", day, 1, *drifts)
        result = learned(
            "check", "search.json", "day.ndjson", *OPTIONS, "--incidents", "incidents.json",
            "--format", "json", "--at", f"2026-06-{day + 1:02}T23:00:00Z",
        )  # fmt: skip
        return [incident["state"] for incident in json.loads(result.output)["incidents"]]

    assert states(5, "string", "rename") == ["new"]
    assert states(6, "string", "rename") == ["active"]
    assert states(7, "string", "rename") == []
    assert states(8) == ["resolved"]
    assert states(9, "string") == ["reopened"]


def test_lines_that_cannot_be_read_are_reported_and_the_others_learned(run: Run) -> None:
    Path("x.ndjson").write_bytes(b'{"a":1}\n\n{"a":\n{"a":"\xff"}\n{"a":2}\n')
    result = run("learn", "x.ndjson", "-o", "x.json")
    assert result.exit_code == 1
    assert re.findall(r"^x\.ndjson:(\d+):(\d+): invalid JSON", result.output, re.M) == [
        ("3", "6"),
        ("4", "7"),
    ]
    assert load("x.json").observations == 2


def test_members_that_are_missing_or_wrong_are_reported(run: Run) -> None:
    lines = [
        '{"r": {"a": 1}, "t": 1780272000}', '{"r": {"a": 1}, "t": 1780272000000}', '{"t": 1}',
        '{"r": 1, "t": {}}', '{"r": 1, "t": "soon"}', "[1]", '{"r": {"a": 1}}',
        f'{{"r": 1, "t": 1{"0" * 400}}}', '{"r": 1, "t": 1e400}', '{"r": 1, "t": -1}',
        f'{{"r": 1, "t": 1{"0" * 5000}}}', '{"r": 1, "t": 1e15}', '{"r": 1, "t": true}',
    ]  # fmt: skip
    result = run(
        "learn", "-", "--response", "r", "--time", "t", "-o", "x.json",
        input="\n".join(lines).encode(),
    )  # fmt: skip
    assert result.exit_code == 1
    assert re.findall(r"^<stdin>:(\d+):", result.output, re.M) == [
        str(line) for line in (3, 4, 5, 6, *range(8, 14))
    ]
    stats = load("x.json")
    assert (stats.observations, stats.first_seen, stats.last_seen) == (3, START, START)


@pytest.mark.parametrize(("name", "said"), [("when", True), ("t", False)])
def test_a_time_that_no_line_has_is_told(run: Run, name: str, said: bool) -> None:
    lines = b'{"r": 1}\n{"r": 1, "t": 1780272000}\n'
    options = ("--response", "r", "--time", name, "-o", "x.json")
    result = run("learn", "-", *options, input=lines)
    assert result.exit_code == 0
    assert (f'no line has a time: there is no member "{name}"' in result.output) is said


def test_incidents_are_not_read_from_what_may_have_no_end(learned: Run) -> None:
    for command in ("check", "report"):
        rest = ("weeks.ndjson", *OPTIONS) if command == "check" else ("-o", "report.html")
        result = learned(command, "search.json", "--incidents", "/dev/zero", *rest)
        assert result.exit_code == (4 if command == "check" else 2)
        assert "Cannot read '/dev/zero': it is no regular file" in result.output


def test_show_prints_a_tree_with_percentages(learned: Run) -> None:
    output = learned("show", "search.json").output
    assert output.startswith(
        "search: 200 responses, 2026-06-01T00:00:00Z to 2026-06-05T23:24:00Z\n"
    )
    assert re.search(r"├─ did_you_mean +string +\d+(\.\d)?%\n", output)
    assert re.search(r"│  └─ \{\*\} +integer\n", output)
    assert re.search(r"│     ├─ title +string +100%\n", output)


def test_keys_that_steer_a_terminal_do_not_move_the_columns(run: Run) -> None:
    Path("x.ndjson").write_text('{"\\u202e":1,"plain":"x"}\n')
    run("learn", "x.ndjson", "-o", "x.json")
    tree = run("show", "x.json").output.splitlines()
    assert tree[2:] == [
        "├─ plain       string   100%",
        '└─ ["\\u202e"]  integer  100%',
    ]


def test_show_prints_a_json_schema(learned: Run) -> None:
    schema = json.loads(learned("show", "search.json", "--format", "json-schema").output)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["properties"]["results"]["type"] == "array"


def test_a_database_holds_many_tools(run: Run) -> None:
    for tool in TOOLS:
        write(f"{tool}.ndjson", tool, 0, 2)
        for _ in range(2):
            result = run(
                "learn", f"{tool}.ndjson", "--tool", tool, "--extend", *OPTIONS, "-o", "all.db"
            )
            assert result.exit_code == 0, result.output
    assert "pricing: 120 responses" in run("show", "all.db", "--tool", "pricing").output
    result = run("show", "all.db")
    assert result.exit_code == 2
    assert "name one with --tool" in result.output
    assert run("show", "all.db", "--tool", "x").exit_code == 2
    assert run("check", "all.db", "search.ndjson", "--tool", "search", *OPTIONS).exit_code == 0


def test_declared_maps_formats_and_enums_are_learned(run: Run) -> None:
    Path("x.ndjson").write_text('{"u": {"ann": 1}, "s": "on", "t": "2026-07-13T06:44:18Z"}\n')
    Path("key").write_bytes(b"a key of 16 bytes or more")
    result = run(
        "learn", "x.ndjson", "--map", "u", "--formats", "--enum-key", "key", "-o", "x.json"
    )
    assert result.exit_code == 0, result.output
    output = run("show", "x.json").output
    assert "1 different string" in output
    assert "date-time in 100%" in output
    assert "ann" not in Path("x.json").read_text()
    assert run("learn", "x.ndjson", "--extend", "--map", "v", "-o", "x.json").exit_code == 2
    assert run("learn", "x.ndjson", "--map", "..", "-o", "y.json").exit_code == 2


def test_what_was_learned_with_a_key_is_checked_and_extended_with_it(run: Run) -> None:
    for name, status in (("a", "on"), ("b", "paused")):
        lines = [json.dumps({"status": status}) for _ in range(60)]
        Path(f"{name}.ndjson").write_text("\n".join(lines))
    Path("key").write_bytes(b"a key of 16 bytes or more")
    Path("other").write_bytes(b"another of 16 bytes and more")
    key = ("--enum-key", "key")
    assert run("learn", "a.ndjson", *key, "-o", "x.json").exit_code == 0
    found = run("check", "x.json", "b.ndjson", *key)
    assert (found.exit_code, "status varies 1 string -> 2 strings" in found.output) == (2, True)
    assert run("check", "x.json", "a.ndjson", *key).exit_code == 0
    assert run("report", "x.json", "b.ndjson", *key, "-o", "x.html").exit_code == 0
    for options, message in (
        ((), "learned with --enum-key; it is needed here too"),
        (("--enum-key", "other"), "by another key"),
        (("--enum-key", "b.ndjson"), "by another key"),
    ):
        refused = run("check", "x.json", "b.ndjson", *options)
        assert (refused.exit_code, message in refused.output) == (4, True)
        refused = run("learn", "b.ndjson", "--extend", *options, "-o", "x.json")
        assert (refused.exit_code, message in refused.output) == (2, True)
    assert run("learn", "b.ndjson", "--extend", *key, "-o", "x.json").exit_code == 0
    assert "2 different strings" in run("show", "x.json").output
    run("learn", "a.ndjson", "-o", "y.json")
    refused = run("check", "y.json", "b.ndjson", *key)
    assert (refused.exit_code, "there is no key" in refused.output) == (4, True)
    refused = run("learn", "a.ndjson", "--extend", "--formats", "-o", "y.json")
    assert (refused.exit_code, "cannot be changed by --extend" in refused.output) == (2, True)


def test_several_may_extend_a_database_at_once(run: Run) -> None:
    Path("x.ndjson").write_text('{"a": 1}\n' * 50)
    arguments = ["drift", "learn", "x.ndjson", "--extend", "--tool", "t", "-o", "all.db"]
    command = [sys.executable, "-m", "overturn_fast.cli", *arguments]
    learning = [subprocess.Popen(command) for _ in range(4)]
    assert [process.wait(120) for process in learning] == [0] * 4
    assert "t: 200 responses" in run("show", "all.db").output


def test_a_tool_whose_name_has_no_utf_8_is_an_error_with_a_database(run: Run) -> None:
    result = run("learn", "-", "--tool", "\udcff", "-o", "all.db", input=b"1\n")
    assert result.exit_code == 2
    assert "must not hold a lone surrogate" in result.output
    run("learn", "-", "--tool", "t", "-o", "all.db", input=b"1\n")
    result = run("show", "all.db", "--tool", "\udcff")
    assert result.exit_code == 2
    assert "'all.db' has no tool '\\udcff'" in result.output


@pytest.mark.parametrize("command", ["learn", "show", "check", "merge"])
def test_a_file_that_is_no_database_is_reported(run: Run, command: str) -> None:
    Path("x.ndjson").write_text("{}\n")
    Path("x.db").write_text("no database " * 1000)
    arguments = {
        "learn": ["x.ndjson", "--extend", "--tool", "t", "-o", "x.db"],
        "show": ["x.db"],
        "check": ["x.db", "x.ndjson"],
        "merge": ["x.db", "x.db", "-o", "y.json"],
    }
    result = run(command, *arguments[command])
    assert result.exit_code == (4 if command == "check" else 2)
    assert "not a database" in result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize("command", ["learn", "check", "report"])
def test_the_keyboard_ends_a_command_with_a_status_that_is_no_severity(
    learned: Run, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    def interrupted(*_: object, **__: object) -> int:
        raise KeyboardInterrupt

    module = importlib.import_module(f"overturn_fast.cli.drift.{command}")
    monkeypatch.setattr(module, "learn_files", interrupted)
    before = Path("search.json").read_bytes()
    arguments = {
        "learn": ["weeks.ndjson", "-o", "search.json"],
        "check": ["search.json", "weeks.ndjson"],
        "report": ["search.json", "weeks.ndjson", "-o", "search.html"],
    }
    assert learned(command, *arguments[command]).exit_code == 130
    assert Path("search.json").read_bytes() == before
    assert not Path("search.html").exists()


def test_merging_what_does_not_belong_together_is_refused(run: Run) -> None:
    for name in "ab":
        Path(f"{name}.ndjson").write_text("{}\n")
        run("learn", f"{name}.ndjson", "--tool", name, "-o", f"{name}.json")
    result = run("merge", "a.json", "b.json", "-o", "c.json")
    assert result.exit_code == 2
    assert "different tools cannot be merged: 'a', 'b'" in result.output
    assert not Path("c.json").exists()


def test_the_demo_prints_commands_that_work(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    result = run("demo", "demo", "--days", "3", "--per-day", "30")
    cd, *commands = result.output.splitlines()
    assert cd == "cd demo"
    monkeypatch.chdir("demo")
    statuses = [run(*command.split()[2:]).exit_code for command in commands]
    assert statuses == [0, 0, 3, 0] * 2
    assert Path("search.html").exists()


def test_the_documentation_shows_what_the_commands_print(run: Run) -> None:
    page = Path(__file__).parent.parent / "docs" / "drift.md"
    tiers: list[Any] = [None, [{"from": 1}], [{"from": 1}, {"from": 10}], [{"from": 1}]]
    for name, price, count in (("monday", 24000, 80), ("tuesday", "24000", 40)):
        lines = [
            json.dumps({"sku": "pro", "price_cents": price, "tiers": tiers[number % 4]})
            for number in range(count)
        ]
        Path(f"{name}.ndjson").write_text("\n".join(lines))
    (block,) = re.findall(r"```console\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    shown = [step.partition("\n") for step in re.split(r"(?m)^\$ (?=o)", block)[1:]]
    assert len(shown) == 3
    for command, _, expected in shown:
        assert run(*command.split()[2:]).output == expected


# -- privacy ---------------------------------------------------------------------------------------

SECRETS = [
    "ann.lee@example.com", "sk_live_51H8xYzAbCdEfGh0JkLm", "f47ac10b-58cc-4372-a567-0e02b2c3d479",
    "4111 1111 1111 1111", "hunter2", "+49 30 1234567", "10.11.12.13", "1997-05-23",
]  # fmt: skip
TENANTS = [f"tenant_{chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(100)]


def test_no_secret_in_values_or_keys_gets_into_any_output(run: Run) -> None:
    def responses(**more: Any) -> str:
        lines = []
        for number in range(120):
            secret = SECRETS[number % len(SECRETS)]
            keys = {key: {"n": 1} for key in SECRETS if key != "hunter2"}
            tenants = dict.fromkeys((TENANTS[number % 100], TENANTS[number % 97]), number)
            response = {"text": secret, "by_id": keys, "tenants": tenants, "list": [secret], **more}
            lines.append(json.dumps({"r": response}))
        return "\n".join(lines)

    Path("a.ndjson").write_text(responses(price=1))
    Path("b.ndjson").write_text(responses(price="hunter2", extra={"hunter2 is": "hunter2"}))
    outputs = [run("learn", "a.ndjson", "--response", "r", "--formats", "-o", "a.json").output]
    outputs.append(Path("a.json").read_text())
    for form in ("text", "json", "github", "junit", "webhook"):
        result = run(
            "check", "a.json", "b.ndjson", "--response", "r", "--format", form,
            "--incidents", "i.json",
        )  # fmt: skip
        assert result.exit_code == 3
        outputs.append(result.output)
    outputs.append(Path("i.json").read_text())
    outputs.append(run("show", "a.json").output)
    outputs.append(run("show", "a.json", "--format", "json-schema").output)
    run("report", "a.json", "b.ndjson", "--response", "r", "--incidents", "i.json", "-o", "r.html")
    outputs.append(Path("r.html").read_text())
    for output in outputs:
        for secret in SECRETS:
            # What is a name by its form, and seen once, is one: "hunter2 is".
            assert secret not in output.replace("hunter2 is", ""), output
        for tenant in TENANTS:
            assert tenant not in output
