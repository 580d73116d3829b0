"""``overturn-fast pleach stats``, and the example that records and replays an agent."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from overturn_fast.pleach import FingerprintCache, Ledger, SQLiteStore

pytest.importorskip("click")
pytest.importorskip("rich")

from click.testing import CliRunner, Result

from overturn_fast.cli.group import cli

ROOT = Path(__file__).resolve().parent.parent
CALL: dict[str, Any] = {
    "model": "m",
    "family": "f",
    "callClass": "c",
    "messages": ["Hello"],
    "temperature": 0,
}


def stats(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["pleach", "stats", *arguments])


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A file with four calls of one tenant and one of another."""
    store = SQLiteStore(tmp_path / "answers.db")
    ledger = Ledger(store, clock=lambda: 1_750_000_000.5)
    with FingerprintCache(store, "interactive", ledger=ledger) as cache:
        for temperature in (0, 0, 0, 0.5):
            cache.get_or_call({**CALL, "tenantId": "a", "temperature": temperature}, lambda: "12")
        cache.get_or_call({**CALL, "tenantId": "b", "model": "x\x1b"}, lambda: "1")
    return str(tmp_path / "answers.db")


def test_stats_are_hit_rates_and_the_most_repeated_calls(path: str) -> None:
    result = stats(path)
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert lines[:3] == [
        "entries 2, 7 bytes",
        "interactive: 50.0% hits (2 hit, 2 miss, 1 ineligible)",
        "most repeated:",
    ]
    assert lines[3].startswith("  3 x c897e80c6fc1 ")
    assert lines[3].endswith(" m c, tenant a, last 2025-06-15T15:06:40Z")
    assert len(lines) == 4


def test_stats_may_be_of_one_tenant_and_may_be_json(path: str) -> None:
    found = json.loads(stats("--json", "--tenant", "b", path).output)
    assert found["modes"] == {"interactive": {"hit": 0, "miss": 1, "ineligible": 0, "hitRate": 0.0}}
    assert found["repeats"] == []
    everything = json.loads(stats("--json", path).output)
    assert [one["count"] for one in everything["repeats"]] == [3]
    assert everything["repeats"][0]["outcomes"] == {"hit": 2, "miss": 1}
    assert json.loads(stats("--json", "--top", "0", path).output)["repeats"] == []


def test_stats_of_an_empty_file_have_no_rate(tmp_path: Path) -> None:
    path = tmp_path / "answers.db"
    SQLiteStore(path).close()
    assert stats(str(path)).output == "entries 0, 0 bytes\nno calls in the ledger\n"


def test_stats_write_nothing(path: str) -> None:
    before = Path(path).read_bytes()
    assert stats(path).exit_code == 0
    assert Path(path).read_bytes() == before


def test_a_file_that_is_no_cache_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "text"
    for content, reason in ((b"x" * 5_000, "damaged or no SQLite file"), (b"", "is no cache")):
        path.write_bytes(content)
        result = stats(str(path))
        assert result.exit_code == 2
        assert reason in result.output
        assert result.output.count(str(path)) == 1
        assert path.read_bytes() == content
    assert stats(str(tmp_path / "missing")).exit_code == 2


def test_the_example_replays_what_it_recorded_and_shows_where_it_diverges() -> None:
    example = ROOT / "examples" / "pleach_replay.py"
    if not example.exists():
        pytest.skip("there is no examples/pleach_replay.py here")
    run = [sys.executable, str(example)]
    lines = subprocess.run(run, capture_output=True, text=True, check=True).stdout.splitlines()
    assert lines[:3] == [
        "recorded 3 calls",
        "replayed 3 calls without the model",
        "the conversations are the same: True",
    ]
    assert lines[3].endswith(": systemPromptHash fb825410 -> 057b05fc")
    assert len(lines) == 4
