"""The benchmarks measure what they say; how fast anything is, is not tested."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

import overturn_fast
from overturn_fast._pure import fingerprints as pure

# Tests run from the checkout, from an unpacked sdist or from a folder that cibuildwheel fills.
ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT))

from benchmarks import __main__ as command  # noqa: E402
from benchmarks.environment import environment  # noqa: E402
from benchmarks.measure import Effort, parts, ratios, sample, summary  # noqa: E402
from benchmarks.peers import COMPARISONS, SOURCES, available  # noqa: E402
from benchmarks.report import Table, plain, same_bytes, show, tables  # noqa: E402
from benchmarks.targets import GOALS  # noqa: E402
from benchmarks.workloads import WORKLOADS, Workload, select  # noqa: E402

# Computed by hash_json of overturn 0.1.4.
DIGESTS = {
    "tiny": "d70a3b7c33151506667f97afc83698971cb66c0d7ebdf5abe6025ae418cac93c",
    "typical": "7f3665bd78f12526a34bd7264ca07593bb5c961c7f93c2a47b6913c8029bf2cf",
    "messages": "a6f802ee2e34828248eb8e2f3f238ebbd38b2c6be98eec7e73ee184a17eba899",
    "floats-random": "9fbef2094c80377730cdaa324b73602f6138a7a7d50111913a5be3ca5160edfe",
    "floats-human": "1ddaae6099053b578fd832cd0f6f9b3c8222c5d7b2dbc957f6a47fd8dcb3ab32",
    "ints": "625f61b0875bc97dd5fbf1edc4b1e41ae47a7e76395f09e530000d63a380a1bb",
    "wide": "6b2a433a5e22d8c00c32cc7a5016eb17a0f7716fb5a65b417615313a5c27d1fe",
    "unicode": "8576c00688801d1ac9bb596c657dfc63d0c1daa18a9d13893ef5cf8b13ccbdcf",
    "deep": "576d6c4aedd8fcceca47c41f4c4270e5bdddcd04f614a634c9770ec498e752bd",
    "records": "55f18ffded0c8ba5e1b4a0a12237f77cff5fa04b28608f73ae53944590f1c556",
    "schema": "0402ba8d7d9c473847b16fbe2b5dcd519c376f9ed5e4dc3f4b27b6bb805c1f93",
}

PEERS, MISSING = available()

each_workload = pytest.mark.parametrize(
    "workload", WORKLOADS.values(), ids=lambda workload: workload.name
)


def levels(value: object) -> int:
    """How many levels of containers a value has."""
    if isinstance(value, dict):
        return 1 + max(map(levels, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(levels, value), default=0)
    return 0


def test_every_workload_has_a_frozen_digest() -> None:
    assert list(WORKLOADS) == list(DIGESTS)


@each_workload
def test_a_workload_is_the_same_in_every_run(workload: Workload) -> None:
    assert overturn_fast.hash_json(workload.build()) == DIGESTS[workload.name]


@each_workload
def test_a_workload_has_the_digest_that_the_sdk_computes(workload: Workload) -> None:
    sdk = pytest.importorskip("overturn.fingerprint")
    assert sdk.hash_json(workload.build()) == DIGESTS[workload.name]


@each_workload
def test_both_backends_write_the_same_text_for_a_workload(workload: Workload) -> None:
    value = workload.build()
    text = pure.canonical_json(value)
    assert overturn_fast.canonical_json(value) == text
    assert pure.hash_json(value) == DIGESTS[workload.name]


@each_workload
def test_a_builder_gives_a_fresh_object_and_its_text_reads_back(workload: Workload) -> None:
    first, second = workload.build(), workload.build()
    assert first is not second
    assert first == second == json.loads(workload.text())


@each_workload
def test_no_workload_is_too_deep_for_a_peer(workload: Workload) -> None:
    assert levels(workload.build()) < 254


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [
        ("tiny", 34, 34),
        ("typical", 280, 330),
        ("messages", 15_000, 17_000),
        ("schema", 23_000, 27_000),
    ],
)
def test_a_workload_is_as_large_as_it_says(name: str, least: int, most: int) -> None:
    text = overturn_fast.canonical_json(WORKLOADS[name].build())
    assert least <= len(text.encode()) <= most


@pytest.mark.parametrize("name", ["floats-random", "floats-human", "ints", "wide"])
def test_a_workload_of_ten_thousand_has_ten_thousand(name: str) -> None:
    value = WORKLOADS[name].build()
    assert isinstance(value, list | dict)
    assert len(value) == 10_000


def test_the_wide_object_is_not_built_in_order() -> None:
    value = WORKLOADS["wide"].build()
    assert isinstance(value, dict)
    in_order = sum(first < second for first, second in pairwise(value))
    assert 4_500 < in_order < 5_500


def test_unicode_keys_are_ordered_otherwise_by_code_point_than_by_utf16_unit() -> None:
    value = WORKLOADS["unicode"].build()
    assert isinstance(value, dict)
    assert len(value) == 1_000
    assert sorted(value) != sorted(value, key=lambda key: key.encode("utf-16-be"))


@each_workload
@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.name)
def test_every_peer_takes_every_workload(peer, workload: Workload) -> None:
    result = peer(workload.build())
    assert type(result) in (str, bytes)
    if peer.name in ("args_hash", "MCPulse SDK"):
        assert len(bytes.fromhex(result)) == 6
    elif "hash" in peer.name or peer.name == "SDK":
        assert len(bytes.fromhex(result)) == 32


def test_peers_that_compute_the_contract_agree_with_us() -> None:
    agreeing = same_bytes(list(WORKLOADS.values()), PEERS)
    exact = {peer.name for peer in PEERS if peer.writes.startswith("the canonical form")}
    assert {"hash_json", "canonical_json"} <= exact
    exact |= {peer.name for peer in PEERS if peer.writes.startswith("RFC 8785, of which")}
    assert "args_hash" in exact
    assert all(exact <= set(names) for names in agreeing.values())


def test_a_peer_that_is_not_installed_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent() -> list:
        raise ImportError("not here")

    monkeypatch.setitem(SOURCES, "orjson", absent)
    peers, missing = available()
    assert missing["orjson"] == "not here"
    assert "hash_json" in [peer.name for peer in peers]
    assert "orjson" not in [peer.package for peer in peers]


def test_goals_name_workloads_and_comparisons_that_exist() -> None:
    for subjects in GOALS.values():
        for subject, peers in subjects.items():
            for peer, goals in peers.items():
                assert peer in COMPARISONS[subject]
                assert goals.keys() <= WORKLOADS.keys()


def test_a_summary_is_the_median_and_the_quartiles() -> None:
    found = summary([5.0, 1.0, 2.0, 4.0, 3.0])
    assert (found.lower, found.median, found.upper) == (2.0, 3.0, 4.0)
    assert found.spread() == pytest.approx(1 / 3)
    assert summary([7.0]).median == 7.0


def test_a_ratio_is_taken_within_each_round() -> None:
    # One slow round doubles both times and leaves the ratio as it was.
    found = ratios([30.0, 60.0, 30.0], [10.0, 20.0, 10.0])
    assert (found.lower, found.median, found.upper) == (3.0, 3.0, 3.0)


@pytest.mark.parametrize("calls", [1, 3, 5, 7, 1_000])
def test_the_parts_of_a_sample_hold_all_its_calls(calls: int) -> None:
    found = parts(calls)
    assert sum(found) == calls
    assert len(found) == min(5, calls)
    assert max(found) - min(found) <= 1


@pytest.mark.parametrize("mode", ["warm", "cold"])
@pytest.mark.parametrize("clock", ["wall", "cpu"])
def test_every_round_times_every_peer_on_every_workload(mode: str, clock: str) -> None:
    peers = [peer for peer in PEERS if peer.package in ("overturn_fast", "json")]
    chosen = select("tiny, typical")
    done: list[int] = []
    effort = Effort(rounds=3, sample_ns=100_000, clock=clock)
    samples = sample(mode, chosen, peers, effort, done.append)
    assert done == [1, 2, 3]
    assert list(samples) == ["tiny", "typical"]
    for times in samples.values():
        assert times.keys() == {"hash_json", "canonical_json", "args_hash", "json+hashlib"}
        assert all(len(each) == 3 and min(each) > 0 for each in times.values())


def test_a_table_shows_times_ratios_and_goals() -> None:
    samples = {
        "tiny": {"hash_json": [200.0], "SDK": [9_000.0], "orjson+hashlib": [300.0]},
        "ints": {"hash_json": [100_000.0], "SDK": [2e6], "orjson+hashlib": [150_000.0]},
    }
    (table,) = tables("warm", samples, {"tiny": ["SDK", "orjson+hashlib"], "ints": ["SDK"]})
    assert table.header == [
        "workload",
        "hash_json us",
        "spread",
        *("SDK", "goal"),
        *("orjson+hashlib", "goal"),
    ]
    assert table.rows == [
        ["tiny", "0.200", "0.0%", "45.0x=", "40 ok", "1.50x=", "2 short"],
        ["ints", "100", "0.0%", "20.0x=", "", "1.50x ", "1 ok"],
    ]
    assert (table.goals_met, table.goals_missed) == (2, 1)
    assert "tiny" in plain(table)
    assert "2 short" in plain(table)


def test_tables_are_shown_without_rich(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "rich.box", None)
    show([Table("hash_json, warm", ["workload", "us"], [["tiny", "0.200"]], 0, 0)], "footer")
    assert capsys.readouterr().out.split() == [
        *("hash_json,", "warm", "-" * 15, "workload", "us", "-" * 15, "tiny", "0.200", "footer")
    ]


def test_the_environment_names_machine_compiler_and_versions() -> None:
    found = environment(PEERS)
    assert found["cpu"]
    assert found["backend"] == overturn_fast.backend
    assert isinstance(found["versions"], dict)
    assert overturn_fast.__version__ in found["versions"]["overturn_fast"]


def test_the_command_measures_all_workloads_and_writes_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "folder" / "result.json"
    assert command.main(["--quick", "--rounds", "1", "--cold", "--output", str(output)]) == 0
    result = json.loads(output.read_text(encoding="utf-8"))
    assert result["rounds"] == 1
    assert result["environment"]["cpu"]
    assert list(result["workloads"]) == list(WORKLOADS)
    installed = {peer.name for peer in PEERS}
    for mode in ("warm", "cold"):
        assert list(result["results"][mode]) == list(WORKLOADS)
        for found in result["results"][mode].values():
            assert found["ns"].keys() == installed
            for subject, others in COMPARISONS.items():
                assert found["ratios"][subject].keys() == installed & set(others)
            assert found["ratios"]["hash_json"]["json+hashlib"]["median"] > 0
    shown = capsys.readouterr().out
    assert "hash_json, warm" in shown
    assert "hash_json, cold" in shown
    assert "args_hash, warm" in shown
    assert "…" not in shown.partition("\nus:")[0]
    for name in WORKLOADS:
        assert f" {name} " in shown or f"\n{name} " in shown
    for package in MISSING:
        assert f"not measured: {package}" in shown


@pytest.mark.parametrize(
    "arguments", [["--workloads", "tiny,none"], ["--rounds", "0"], ["--sample-ms", "0"]]
)
def test_a_wrong_option_is_an_error(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        command.main(arguments)
    assert stopped.value.code == 2
    assert "error:" in capsys.readouterr().err


def test_the_command_runs_as_a_module(tmp_path: Path) -> None:
    output = tmp_path / "result.json"
    options = ["--quick", "--rounds", "1", "--workloads", "tiny", "--output", str(output)]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", *options], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert list(json.loads(output.read_text(encoding="utf-8"))["results"]) == ["warm"]


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_the_benchmark_of_numbers_names_every_kind(capsys: pytest.CaptureFixture[str]) -> None:
    from benchmarks import numbers

    assert numbers.main(["--quick"]) == 0
    shown = capsys.readouterr().out
    for name in numbers.KINDS:
        assert shown.count(f"{name} ") >= 3


def test_the_benchmark_of_text_names_every_workload(capsys: pytest.CaptureFixture[str]) -> None:
    from benchmarks import text

    assert text.main(["--quick"]) == 0
    shown = capsys.readouterr().out
    for name in WORKLOADS:
        assert f" {name} " in shown or f"\n{name} " in shown
    assert "two threads, records" in shown


def test_the_benchmark_of_shapes_names_every_workload(capsys: pytest.CaptureFixture[str]) -> None:
    from benchmarks import shape

    assert shape.main(["--quick"]) == 0
    shown = capsys.readouterr().out
    for workload in shape.WORKLOADS:
        assert shown.count(workload.name) >= 3


def test_the_sketch_that_is_measured_gives_the_fingerprints_of_the_profile_seed() -> None:
    from benchmarks import shape, sketch
    from overturn_fast.shape import fingerprint
    from overturn_fast.shape import shape as shape_of

    for workload in (*shape.WORKLOADS, *WORKLOADS.values()):
        value = workload.build()
        assert sketch.rows(value) == shape_of(value)
        assert sketch.fingerprint(value) == fingerprint(value)


def test_the_benchmark_of_audits_reads_every_call(capsys: pytest.CaptureFixture[str]) -> None:
    from benchmarks import audit

    assert audit.main(["--quick"]) == 0
    rows = [row.split() for row in capsys.readouterr().out.splitlines()[2:]]
    assert [row[-6:-5] + row[-1:] for row in rows] == [
        ["200", "2"],
        ["2,000", "20"],
        ["2,000", "20"],
    ]
