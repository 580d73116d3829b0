"""The benchmarks measure what they say; how fast anything is, is not tested."""

from __future__ import annotations

import hashlib
import json
import random
import re
import shutil
import subprocess
import sys
from datetime import datetime
from itertools import pairwise
from pathlib import Path

import pytest

import overturn_fast
from overturn_fast._pure import fingerprints as pure

# Tests run from the checkout, from an unpacked sdist or from a folder that cibuildwheel fills.
ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT))

from benchmarks import __main__ as command  # noqa: E402
from benchmarks import growth, markdown, plot  # noqa: E402
from benchmarks.calls import (  # noqa: E402
    MANY,
    MANY_CALLS,
    NAME,
    ONE_CALL,
    SELECTED,
    many_peers,
    one_peers,
)
from benchmarks.environment import environment, file_name  # noqa: E402
from benchmarks.instructions import __main__ as instructions  # noqa: E402
from benchmarks.instructions import callgrind, counted, guard  # noqa: E402
from benchmarks.instructions.callgrind import CallgrindError, Instructions, read_section  # noqa: E402
from benchmarks.measure import Effort, parts, ratios, sample, summary  # noqa: E402
from benchmarks.peers import COMPARISONS, SOURCES, available  # noqa: E402
from benchmarks.report import Table, goal_tables, plain, same_bytes, show, tables  # noqa: E402
from benchmarks.targets import FURTHER, GOALS, HEADLINES  # noqa: E402
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
    exact = {
        "hash_json": {peer.name for peer in PEERS if peer.writes.startswith("the canonical form")},
        "jcs.dumps": {peer.name for peer in PEERS if peer.writes == "RFC 8785"},
        "args_hash": {peer.name for peer in PEERS if peer.writes.startswith("RFC 8785, of which")},
    }
    assert {"hash_json", "canonical_json"} <= exact["hash_json"]
    for workload in WORKLOADS:
        assert agreeing[workload].keys() == exact.keys()
        for subject, names in exact.items():
            assert {subject} <= names <= set(agreeing[workload][subject])


def test_a_dump_that_sorts_by_code_point_is_not_taken_for_rfc_8785() -> None:
    agreeing = same_bytes(select("unicode, schema"), PEERS)
    assert "canonical_json" not in agreeing["unicode"]["jcs.dumps"]
    assert "orjson alone" not in agreeing["unicode"]["jcs.dumps"]
    if "orjson" not in MISSING:
        assert "orjson alone" in agreeing["unicode"]["hash_json"]
        assert "orjson alone" in agreeing["schema"]["jcs.dumps"]


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
                assert goals.keys() <= WORKLOADS.keys() | {MANY.name}


def test_the_comparisons_that_count_have_a_goal_on_every_workload() -> None:
    for line in HEADLINES:
        assert GOALS[line.mode][line.subject][line.peer].keys() == WORKLOADS.keys()
    for line in FURTHER:
        assert len(GOALS[line.mode][line.subject][line.peer]) == 1


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
        assert times.keys() == {
            *("hash_json", "canonical_json", "jcs.dumps", "args_hash"),
            "json+hashlib",
        }
        assert all(len(each) == 3 and min(each) > 0 for each in times.values())


def test_a_table_shows_times_ratios_and_goals() -> None:
    samples = {
        "tiny": {"hash_json": [200.0], "SDK": [9_000.0], "orjson+hashlib": [300.0]},
        "ints": {"hash_json": [100_000.0], "SDK": [2e6], "orjson+hashlib": [150_000.0]},
    }
    agreeing = {
        "tiny": {"hash_json": ["SDK", "orjson+hashlib"]},
        "ints": {"hash_json": ["SDK"], "jcs.dumps": ["orjson+hashlib"]},
    }
    (table,) = tables("warm", samples, agreeing)
    assert table.header == [
        "workload",
        "hash_json us",
        "spread",
        *("SDK", "goal"),
        *("orjson+hashlib", "goal"),
    ]
    assert table.rows == [
        ["tiny", "0.200", "0.0%", "45.0x=", "40 met", "1.50x=", "4 missed"],
        ["ints", "100", "0.0%", "20.0x=", "", "1.50x ", "1.3 met"],
    ]
    assert (table.goals_met, table.goals_missed) == (2, 1)
    assert "tiny" in plain(table)
    assert "4 missed" in plain(table)


def test_the_tables_of_goals_hold_one_row_for_each_workload_and_each_further_goal() -> None:
    warm = {
        "typical": {
            "hash_json": [500.0],
            "orjson+hashlib": [1_000.0],
            "orjson alone": [400.0],
            "jcs.dumps": [200.0],
            "tool_fingerprint": [300.0],
            "orjson+hashlib, selected": [600.0],
        },
        MANY.name: {"fingerprint_many": [4e6], "loop": [6e6]},
    }
    cold = {"typical": {"hash_json": [600.0], "orjson+hashlib": [600.0]}}
    rows, more = goal_tables({"warm": warm, "cold": cold})
    assert rows.header == [
        "workload",
        *("hash_json warm, us", "orjson+hashlib", "goal"),
        *("hash_json cold, us", "orjson+hashlib", "goal"),
        *("jcs.dumps warm, us", "orjson alone", "goal"),
    ]
    assert rows.rows == [
        [
            "typical",
            *("0.500", "2.00x", "2 met"),
            *("0.600", "1.00x", "1.5 missed"),
            *("0.200", "2.00x", "1.3 met"),
        ]
    ]
    assert [[row[0], row[1], *row[-2:]] for row in more.rows] == [
        ["hash_json", "typical", "0.80x", "1 missed"],
        ["tool_fingerprint", "typical", "2.00x", "2.5 missed"],
        ["fingerprint_many", MANY.name, "1.50x", "1.3 met"],
    ]
    assert goal_tables({"cold": {"tiny": {"hash_json": [1.0]}}}) == []


def test_calls_are_measured_on_the_keys_that_count() -> None:
    results = {peer.name: peer(ONE_CALL.build()) for peer in one_peers()}
    args = ONE_CALL.build()
    assert isinstance(args, dict)
    expected = overturn_fast.tool_fingerprint(NAME, args, match_on=SELECTED)
    assert results["tool_fingerprint"] == results["ToolFingerprinter"] == expected
    if "orjson" not in MISSING:
        orjson = pytest.importorskip("orjson")
        text = orjson.dumps({key: args[key] for key in SELECTED}, option=orjson.OPT_SORT_KEYS)
        digest = hashlib.sha256(text).hexdigest()
        assert results["orjson+hashlib, selected"] == digest


def test_ten_thousand_calls_differ_and_are_fingerprinted_alike_at_once_and_in_a_loop() -> None:
    at_once, in_turn = (peer(MANY.build()) for peer in many_peers())
    assert at_once == in_turn
    assert len(set(at_once)) == MANY_CALLS == 10_000


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


def test_each_machine_and_python_has_a_file_of_its_own() -> None:
    found = environment(PEERS)
    names = {file_name({**found, **other}) for other in (
        {}, {"python": "CPython 3.99.1"}, {"cpu": "another"}, {"system": "another"},
        {"backend": "another"},
    )}  # fmt: skip
    assert len(names) == 5
    assert file_name({**found, "python": "CPython 3.99.2"}) in names
    assert all(re.fullmatch(r"[a-z0-9-]+\.json", name) for name in names)


def test_the_command_measures_all_workloads_and_writes_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "folder" / "result.json"
    assert command.main(["--quick", "--rounds", "1", "--output", str(output)]) == 0
    result = json.loads(output.read_text(encoding="utf-8"))
    assert result["rounds"] == 1
    assert result["environment"]["cpu"]
    assert datetime.fromisoformat(result["measured_at"]).tzinfo is not None
    assert list(result["workloads"]) == [*WORKLOADS, MANY.name]
    installed = {peer.name for peer in PEERS}
    for mode in ("warm", "cold"):
        for workload in WORKLOADS:
            found = result["results"][mode][workload]
            assert installed <= found["ns"].keys()
            for subject in installed & COMPARISONS.keys():
                assert found["ratios"][subject].keys() == installed & set(COMPARISONS[subject])
            assert found["ratios"]["hash_json"]["json+hashlib"]["median"] > 0
    many = result["results"]["warm"][MANY.name]["ratios"]["fingerprint_many"]["loop"]
    assert many["goal"] == 1.3
    assert many["met"] is (many["median"] >= 1.3)
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
    "arguments",
    [["--workloads", "tiny,none"], ["--rounds", "0"], ["--sample-ms", "0"], ["--modes", "hot"]],
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
    options = [
        "--quick",
        "--rounds",
        "1",
        "--workloads",
        "tiny",
        "--modes",
        "warm",
        "--output",
        str(output),
    ]
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


def test_the_benchmark_of_the_sdk_names_every_workload(capsys: pytest.CaptureFixture[str]) -> None:
    from benchmarks import sdk

    pytest.importorskip("overturn")
    assert sdk.main(["--quick"]) == 0
    lines = capsys.readouterr().out.splitlines()
    named = [line.split()[0] for line in lines if line.startswith("  ")]
    assert named == [*sdk.TOOLS, *sdk.MEASURED]


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


# -- growth ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", growth.KINDS)
@pytest.mark.parametrize("size", [1_000, 16_000])
def test_a_value_that_grows_has_the_size_that_it_says(name: str, size: int) -> None:
    value = growth.KINDS[name](random.Random(name), size)
    assert 0.8 * size <= len(overturn_fast.canonical_json(value).encode()) <= 1.25 * size


def test_growth_is_the_longest_time_of_a_byte_by_the_median() -> None:
    flat = growth.Growth({1_000: 2.0, 4_000: 2.0, 64_000_000: 2.0})
    steep = growth.Growth({1_000: 1.0, 4_000: 1.0, 64_000_000: 1.6})
    assert (flat.steepness(), steep.steepness()) == (1.0, 1.6)
    table = growth.table({"flat": flat, "steep": steep})
    assert (table.goals_met, table.goals_missed) == (1, 1)
    assert [row[-2:] for row in table.rows] == [["1.00x", "1.5 met"], ["1.60x", "1.5 missed"]]
    stored = growth.as_json({"flat": flat, "steep": steep})
    assert stored["steep"] == {
        "ns_per_byte": {"1000": 1.0, "4000": 1.0, "64000000": 1.6},
        "longest_by_median": 1.6,
        "goal": 1.5,
        "met": False,
    }


def test_growth_is_measured_from_a_kilobyte_to_64_megabytes() -> None:
    assert growth.FULL_SIZES[0] == 1_000
    assert growth.FULL_SIZES[-1] == 64_000_000
    assert list(growth.FULL_SIZES) == sorted(growth.FULL_SIZES)


def test_the_benchmark_of_growth_names_every_kind(capsys: pytest.CaptureFixture[str]) -> None:
    assert growth.main(["--quick"]) == 0
    shown = capsys.readouterr().out
    assert all(f"{name} " in shown for name in growth.KINDS)


# -- the chart -------------------------------------------------------------------------------------


def result_for_the_chart(**other: object) -> dict:
    """A result as the command writes it, with two workloads."""
    compared = {
        "hash_json": {"orjson+hashlib": {"median": 2.5}},
        "jcs.dumps": {"orjson alone": {"median": 0.875}},
    }
    of_workloads = {name: {"ratios": compared} for name in ("tiny", "typical")}
    many = {"ratios": {"fingerprint_many": {"loop": {"median": 1.5}}}}
    versions = {"overturn_fast": "1.2.3, native backend", "orjson": "9.8.7"}
    return {
        "measured_at": "2026-05-17T10:00:00+00:00",
        "rounds": 30,
        "environment": {"cpu": "A processor", "python": "CPython 3.99.1", "versions": versions},
        "results": {"warm": {**of_workloads, MANY.name: many}, "cold": of_workloads},
        **other,
    }


def test_the_chart_shows_every_comparison_on_every_workload_and_what_it_was_measured_on() -> None:
    result = result_for_the_chart()
    panels = [plot.bars(result, title) for title in plot.PANELS]
    assert [[group.ratios for group in panel] for panel in panels] == [
        [{"tiny": 2.5, "typical": 2.5}] * 2,
        [{"tiny": 0.875, "typical": 0.875}],
    ]
    assert [plot.ratio_text(ratio) for ratio in (0.875, 2.5, 12.34)] == ["0.88×", "2.50×", "12.3×"]
    source = plot.source_text(result)
    for said in (
        "A processor",
        "CPython 3.99.1",
        "fast 1.2.3,",
        "orjson 9.8.7",
        "30",
        "2026-05-17",
    ):
        assert said in source


def test_the_chart_is_drawn_of_the_newest_full_result(tmp_path: Path) -> None:
    for name, at in (("a", "2026-05-18"), ("b", "2026-05-17"), ("partial", "2026-05-19")):
        result = result_for_the_chart(measured_at=f"{at}T10:00:00+00:00")
        (tmp_path / f"{name}.json").write_text(json.dumps(result), encoding="utf-8")
    assert plot.newest(tmp_path) == tmp_path / "a.json"


def test_a_chart_of_nothing_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(FileNotFoundError, match="make bench"):
        plot.newest(tmp_path)
    pytest.importorskip("matplotlib")
    path = tmp_path / "result.json"
    path.write_text(json.dumps(result_for_the_chart(results={"warm": {}})), encoding="utf-8")
    assert plot.main([str(path), "--output", str(tmp_path / "chart")]) == 1
    assert "no comparison with orjson" in capsys.readouterr().err
    assert not (tmp_path / "chart.svg").exists()


def test_the_chart_is_drawn_as_svg_and_png_the_same_every_time(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "result.json"
    path.write_text(json.dumps(result_for_the_chart()), encoding="utf-8")
    for name in ("first", "second"):
        assert plot.main([str(path), "--output", str(tmp_path / "charts" / name)]) == 0
    svg, png = ((tmp_path / "charts" / f"first.{kind}").read_bytes() for kind in ("svg", "png"))
    assert b"<svg" in svg
    assert png.startswith(b"\x89PNG")
    assert svg == (tmp_path / "charts" / "second.svg").read_bytes()


# -- instructions ----------------------------------------------------------------------------------

SECTION = """\
positions: line
events: Ir
summary: 3000

ob=/somewhere/overturn_fast/_native.cpython-399-x86_64-linux-gnu.so
fl=???
fn=hash_json
0 100
+3 20
cob=/usr/lib/libpython3.99.so.1.0
cfn=PyDict_Next
calls=5 0
0 700
* 3
fn=compress_portable
0 5000

ob=/usr/lib/libpython3.99.so.1.0
fl=???
fn=PyDict_Next
12 40
-2 8
ob=/usr/lib/x86_64-linux-gnu/libc.so.6
fn=memcpy
0 900
ob=/usr/lib64/ld-linux-x86-64.so.2
fn=__tls_get_addr
0 90

totals: 3000
"""


def test_instructions_are_those_of_the_library_and_the_interpreter() -> None:
    # Without what a function that is called costs, SHA-256's blocks, the C library and the loader.
    assert read_section(SECTION.splitlines(keepends=True)) == Instructions(123, 48)


def test_the_instructions_of_a_call_are_the_difference_of_n_and_2n_calls() -> None:
    assert (Instructions(700, 90) - Instructions(400, 50)).per_call(8) == Instructions(37.5, 5)


def test_calls_are_made_on_as_many_values_as_they_should() -> None:
    warm, cold, text = (
        next(call for call in counted.calls() if call.name == name)
        for name in ("hash_json, unicode", "hash_json, unicode, cold", "jcs.canonicalize, unicode")
    )
    read = warm.workload.text().encode()
    n = counted.repetitions(read)
    assert n > 1
    for call, distinct in ((warm, n), (cold, 5 * n), (text, 1)):
        parts = call.parts(read)
        assert [len(part) for part in parts] == [2 * n, n, 2 * n]
        assert len({id(value) for part in parts for value in part}) == distinct
    assert text.parts(read)[0][0] is read


def test_every_call_that_is_counted_runs_and_has_a_name_of_its_own() -> None:
    names = [call.name for call in counted.calls()]
    assert len(set(names)) == len(names)
    for call in counted.calls():
        text = call.workload.text().encode()
        function, loop = call.peer.compiled(clock=int)
        assert function(call.values(text, 1)[0])
        assert loop(call.values(text, 1)) == 0


def test_the_counts_that_are_stored_are_those_of_the_calls() -> None:
    names = [call.name for call in counted.calls()]
    entries = guard.load()
    assert entries
    for key, entry in entries.items():
        assert list(entry.calls) == names, f"{key}: make bench-instructions-update"
        assert min(found.library for found in entry.calls.values()) > 0


def test_a_count_may_grow_by_two_percent_unless_it_depends_on_addresses() -> None:
    tolerances = {call.name: call.tolerance for call in counted.calls()}
    assert {name for name, tolerance in tolerances.items() if tolerance != 0.02} == {
        *("hash_json, schema", "hash_json, schema, cold", "jcs.dumps, schema")
    }


@pytest.mark.parametrize(
    ("library", "interpreter", "python", "grown", "shrunk"),
    [
        (1_000, 500, "this", False, False),
        (1_029, 500, "this", False, False),
        (1_031, 500, "this", True, False),
        (1_000, 531, "this", True, False),
        (969, 500, "this", False, True),
        (1_019, 900, "another", False, False),
        (1_021, 500, "another", True, False),
    ],
)
def test_a_count_is_held_to_its_tolerance(
    library: int, interpreter: int, python: str, grown: bool, shrunk: bool
) -> None:
    # The interpreter's part counts only where it is the build that the counts were stored with.
    entry = guard.Entry("this", {"call": Instructions(1_000, 500)})
    found = {"call": Instructions(library, interpreter), "new": Instructions(1, 1)}
    (change,) = guard.compare(entry, found, python, {"call": 0.02})
    assert (change.is_grown, change.is_shrunk) == (grown, shrunk)


def test_counts_are_stored_by_environment(tmp_path: Path) -> None:
    path = tmp_path / "counts.json"
    assert guard.load(path) == {}
    one = guard.Entry("a build", {"call": Instructions(1_000.5, 500)})
    other = guard.Entry("another build", {"call": Instructions(2_000, 5)})
    guard.store("one", guard.Entry("an old build", {"gone": Instructions(1, 1)}), path)
    guard.store("other", other, path)
    guard.store("one", one, path)
    assert guard.load(path) == {"one": one, "other": other}


@pytest.mark.parametrize(
    ("compiler", "python", "key"),
    [
        ("GCC: (Debian 12.2.0-14+deb12u1) 12.2.0", "CPython 3.12.1", "gcc 12, CPython 3.12"),
        ("GCC: (GNU) 14.1.1", "CPython 3.13.0t", "gcc 14, CPython 3.13t"),
        ("clang version 19.1.0, GCC: (X) 12.2", "CPython 3.10.2", "clang 19, CPython 3.10"),
        ("Debian clang version 19.1.0", "CPython 3.15.0a2", "clang 19, CPython 3.15"),
    ],
    ids=["gcc", "free-threaded", "both", "clang"],
)  # fmt: skip
def test_counts_belong_to_a_processor_a_compiler_and_a_python(
    compiler: str, python: str, key: str
) -> None:
    assert guard.environment_key(compiler, python, "riscv64") == f"riscv64, {key}"


@pytest.fixture
def counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of counts for this process, in which a call takes 1,000 instructions; so it does."""
    monkeypatch.setattr(instructions, "obstacle", lambda: None)
    names = [call.name for call in counted.calls()]
    monkeypatch.setattr(
        instructions, "count", lambda: dict.fromkeys(names, Instructions(1_000, 500))
    )
    path = tmp_path / "counts.json"
    assert instructions.main(["--update", "--counts", str(path)]) == 0
    return path


def test_the_guard_passes_while_no_count_has_grown(
    counts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert instructions.main(["--counts", str(counts)]) == 0
    assert "0 grew past their tolerance, 0 shrank" in capsys.readouterr().out


def test_the_guard_fails_when_a_count_has_grown_and_says_which_and_how_to_store_it(
    counts: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [call.name for call in counted.calls()]
    found = dict.fromkeys(names, Instructions(1_000, 500)) | {names[0]: Instructions(1_060, 500)}
    monkeypatch.setattr(instructions, "count", lambda: found)
    capsys.readouterr()
    assert instructions.main(["--counts", str(counts)]) == 1
    shown = capsys.readouterr().out
    assert f"grew: {names[0]}: 1,500 to 1,560 instructions, +4.0% (tolerance 2%)" in shown
    assert "make bench-instructions-update" in shown
    assert instructions.main(["--update", "--counts", str(counts)]) == 0
    assert instructions.main(["--counts", str(counts)]) == 0


def test_the_guard_says_what_it_does_not_check(
    counts: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(instructions, "this_environment", lambda: "elsewhere")
    capsys.readouterr()
    assert instructions.main(["--counts", str(counts)]) == 0
    shown = capsys.readouterr().out
    assert "NOT CHECKED: nothing is stored for elsewhere" in shown
    assert "make bench-instructions-update" in shown
    monkeypatch.undo()
    monkeypatch.setattr(overturn_fast, "backend", "native")
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert instructions.main(["--counts", str(counts)]) == 0
    assert "NOT CHECKED: valgrind is not installed" in capsys.readouterr().out
    assert instructions.main(["--counts", str(counts), "--update"]) == 1
    monkeypatch.setattr(overturn_fast, "backend", "python")
    assert instructions.main(["--counts", str(counts)]) == 0
    assert "NOT CHECKED: the native library is not there" in capsys.readouterr().out


def test_the_guard_fails_where_the_program_does_not_run_under_valgrind(
    counts: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails() -> dict:
        raise CallgrindError("valgrind ended with status 1")

    monkeypatch.setattr(instructions, "count", fails)
    assert instructions.main(["--counts", str(counts)]) == 1
    assert "could not be counted: valgrind ended with status 1" in capsys.readouterr().err


def test_what_callgrind_writes_is_taken_apart_by_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = [call for call in counted.calls() if call.workload.name == "tiny"][:2]
    files = []
    for number in range(len(chosen) * counted.SECTIONS):
        files.append(tmp_path / f"section.{number}")
        cost = 1_000 * (number % counted.SECTIONS)
        files[-1].write_text(f"ob=/x/overturn_fast/_native.so\nfn=f\n0 {cost}\n")
    monkeypatch.setattr(callgrind, "calls", lambda: chosen)
    monkeypatch.setattr(callgrind, "run", lambda folder: files)
    n = counted.repetitions(chosen[0].workload.text().encode())
    assert callgrind.count() == {call.name: Instructions(1_000 / n, 0) for call in chosen}
    files.pop()
    with pytest.raises(CallgrindError, match="7 files, not 8"):
        callgrind.count()


# -- the tables of README and docs -----------------------------------------------------------------


def test_a_page_gets_the_tables_of_a_result_and_keeps_the_rest() -> None:
    result = result_for_the_chart(
        growth=growth.as_json({"ints": growth.Growth({1_000: 2.0, 64_000_000: 1.0})})
    )
    page = (
        "before\n<!-- measured: growth -->\nold\n<!-- end of growth -->\nafter <!-- a comment -->\n"
    )
    expected = (
        "before\n<!-- measured: growth -->\n\n"
        "| ns a byte | 1 KB | 64 MB | longest by median |\n| --- | ---: | ---: | ---: |\n"
        "| ints | 2.00 | 1.00 | 1.33x |\n\n"
        "<!-- end of growth -->\nafter <!-- a comment -->\n"
    )
    assert markdown.filled(page, result) == expected
    assert markdown.filled(expected, result) == expected
    with pytest.raises(ValueError, match="there is no table 'none'"):
        markdown.filled("<!-- measured: none -->\n<!-- end of none -->", result)


def test_every_table_stands_on_a_page() -> None:
    pages = [page.read_text(encoding="utf-8") for page in markdown.PAGES if page.exists()]
    if len(pages) < len(markdown.PAGES):
        pytest.skip("the pages are not here")
    for name in markdown.TABLES:
        assert any(f"<!-- measured: {name} -->\n" in page for page in pages), name


def test_every_table_is_made_of_what_the_command_writes(tmp_path: Path) -> None:
    if MISSING:
        pytest.skip(f"not installed: {', '.join(MISSING)}")
    output = tmp_path / "result.json"
    assert command.main(["--quick", "--rounds", "1", "--output", str(output)]) == 0
    result = json.loads(output.read_text(encoding="utf-8"))
    result["growth"] = growth.as_json({"ints": growth.Growth({1_000: 2.0, 64_000_000: 1.0})})
    made = {name: make(result) for name, make in markdown.TABLES.items()}
    for name in ("overview", "warm", "cold", "dumped"):
        lines = made[name].splitlines()
        assert len(lines) == 2 + len(WORKLOADS)
        assert len({line.count("|") for line in lines}) == 1
    assert len(made["calls"].splitlines()) == 2 + len(FURTHER)
    assert overturn_fast.__version__ in made["machine"]


def test_a_result_without_the_peers_is_an_error_and_no_page_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- measured: warm -->\n<!-- end of warm -->\n", encoding="utf-8")
    path = tmp_path / "result.json"
    path.write_text(json.dumps(result_for_the_chart()), encoding="utf-8")
    monkeypatch.setattr(markdown, "PAGES", (page,))
    assert markdown.main([str(path)]) == 1
    assert "the result lacks" in capsys.readouterr().err
    assert "|" not in page.read_text(encoding="utf-8")


def test_the_benchmark_of_audits_reads_every_call(capsys: pytest.CaptureFixture[str]) -> None:
    from benchmarks import audit

    assert audit.main(["--quick"]) == 0
    rows = [row.split() for row in capsys.readouterr().out.splitlines()[2:]]
    assert [row[-6:-5] + row[-1:] for row in rows] == [
        ["200", "2"],
        ["2,000", "20"],
        ["2,000", "20"],
    ]
