"""``tools/verify_numbers.py`` finds what is wrong, and nothing where nothing is."""

from __future__ import annotations

import hashlib
import importlib.util
import math
import subprocess
import sys
from itertools import islice
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent
PATH = ROOT / "tools" / "verify_numbers.py"


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    """The program as a module."""
    spec = importlib.util.spec_from_file_location("verify_numbers", PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def _checks_whatever_runs(tool: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the backend of this run be checked, even if nobody asked for the pure one."""
    monkeypatch.setenv("OVERTURN_FAST_BACKEND", tool.overturn_fast.backend)


def test_the_command_checks_table_and_random_doubles_in_several_processes(
    tool: ModuleType,
) -> None:
    done = subprocess.run(
        [sys.executable, PATH, "--lines", "100000", "--random", "30000", "--jobs", "2"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{tool.overturn_fast.backend} backend, processes: 2" in done.stdout
    for lines, published in list(tool.PUBLISHED.items())[:3]:
        assert f"{lines:>11,} lines  {published}  as published\n" in done.stdout
    assert "30,000 random doubles of seed " in done.stdout
    assert "written and read as by repr and float" in done.stdout
    assert done.stdout.count(" in ") == 2
    assert "\x1b" not in done.stdout  # a bar is for terminals


def test_another_checksum_than_the_published_one_ends_the_check_with_1(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = tool.PUBLISHED[1_000]
    monkeypatch.setitem(tool.PUBLISHED, 1_000, "0" * 64)
    assert tool.main(["--lines", "10000", "--random", "0", "--jobs", "1"]) == 1
    shown = capsys.readouterr().out
    assert f"{found}  DIFFERS FROM {'0' * 64}\n" in shown
    assert "10,000 lines" not in shown


@pytest.mark.parametrize("wrong_line", [0, 1_000, 2_167, 9_999])
def test_one_wrong_text_changes_the_checksum_of_the_table(
    tool: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    wrong_line: int,
) -> None:
    right = tool.write
    pieces = b"".join(islice(tool.table(1), 2)).splitlines()
    wrong = pieces[wrong_line].partition(b",")[2].decode("ascii")

    def write(values: list[float]) -> list[str]:
        return [text + "0" if text == wrong else text for text in right(values)]

    monkeypatch.setattr(tool, "write", write)
    assert tool.main(["--lines", "10000", "--random", "0", "--jobs", "1"]) == 1
    shown = capsys.readouterr().out
    assert shown.count("as published") == (0 if wrong_line < 1_000 else 1)
    assert shown.count("DIFFERS") == 1


def test_a_wrong_text_of_a_random_double_is_shown_and_ends_the_check_with_1(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    right = tool.write

    def write(values: list[float]) -> list[str]:
        texts = right(values)
        texts[7] = "1" + texts[7]
        return texts

    (value,) = tool.random_doubles("5/0", 8)[7:]
    monkeypatch.setattr(tool, "write", write)
    assert tool.main(["--lines", "0", "--random", "100", "--seed", "5", "--jobs", "1"]) == 1
    shown = capsys.readouterr().out
    (bits,) = tool.bits_of([value])
    (text,) = right([value])
    assert f"{bits:016x} is written 1{text}, by repr {text}\n" in shown
    assert "100 random doubles of seed 5  1 DIFFERENCES\n" in shown


def test_a_wrong_value_of_a_text_is_shown_and_ends_the_check_with_1(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    right = tool.read

    def read(texts: list[str]) -> list[float]:
        values = right(texts)
        values[150] = math.nextafter(values[150], 0.0)
        return values

    monkeypatch.setattr(tool, "read", read)
    assert tool.main(["--lines", "0", "--random", "100", "--seed", "5", "--jobs", "1"]) == 1
    shown = capsys.readouterr().out
    assert " is read " in shown
    assert "1 DIFFERENCES" in shown


def test_only_the_first_differences_are_shown_but_all_are_counted(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tool, "write", lambda values: ["0"] * len(values))
    assert tool.main(["--lines", "0", "--random", "25000", "--jobs", "1"]) == 1
    shown = capsys.readouterr().out
    assert shown.count(" is written 0, by repr ") == tool.SHOWN_DIFFERENCES
    assert "25,000 DIFFERENCES" in shown


def test_the_table_is_the_same_whoever_makes_it(tool: ModuleType) -> None:
    pieces = list(islice(tool.table(1), 3))
    assert len(tool.first_bits()) == pieces[0].count(b"\n") == 2_168
    in_processes = tool.in_order(hash_of, pieces, 2)
    assert list(in_processes) == [hash_of(piece) for piece in pieces]


def hash_of(piece: bytes) -> str:
    """A function that another process can find."""
    return hashlib.sha256(piece).hexdigest()


def test_results_come_in_the_order_of_their_tasks_however_many_there_are(tool: ModuleType) -> None:
    assert list(tool.in_order(abs, range(100), 2)) == list(range(100))
    endless = iter(int, 1)
    assert list(islice(tool.in_order(abs, endless, 1), 3)) == [0, 0, 0]
    some = tool.in_order(abs, endless, 2)
    assert list(islice(some, 30)) == [0] * 30
    some.close()


def test_a_seed_repeats_the_doubles_and_all_of_them_are_finite(tool: ModuleType) -> None:
    values = tool.random_doubles("seed", 20_000)
    assert len(values) == 20_000
    assert all(map(math.isfinite, values))
    assert values == tool.random_doubles("seed", 20_000)
    assert values[:100] != tool.random_doubles("other", 100)
    assert tool.doubles(tool.bits_of(values)) == values


def test_without_a_terminal_progress_is_some_lines(
    tool: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    with tool.progress("numbers", 1_000) as show:
        for done in range(1, 1_001):
            show(done)
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(" %")[0] for line in lines] == [f"numbers: {n}0" for n in range(1, 10)]


def test_the_absence_of_a_native_backend_is_not_passed_over(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tool.overturn_fast, "backend", "python")
    monkeypatch.setattr(tool.overturn_fast, "native_error", "it was not built")
    monkeypatch.delenv("OVERTURN_FAST_BACKEND")
    assert tool.main(["--lines", "1000", "--random", "0"]) == 2
    assert capsys.readouterr().err == "there is no native backend to check: it was not built\n"


@pytest.mark.parametrize(
    "arguments", [["--lines", "1001"], ["--random", "-1"], ["--jobs", "0"], ["--lines", "x"]]
)
def test_a_wrong_option_is_an_error(
    tool: ModuleType, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        tool.main(arguments)
    assert stopped.value.code == 2
    assert "error:" in capsys.readouterr().err
