"""Statistics of responses: nothing of them depends on order, nothing in them is a value."""

from __future__ import annotations

import concurrent.futures
import copy
import gc
import json
import multiprocessing
import os
import pickle
import random
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overturn_fast.shape import BaselineError, BaselineStore, Limits, ShapeStats, baseline
from overturn_fast.shape import tree as shape_tree
from overturn_fast.shape.tree import Node

# Few names, so that they meet; some that are identifiers.
KEYS = st.sampled_from([*"abcdefghij", "x.y", "2026-07-13", "17", "ann@example.com"])
VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-9, 9),
        st.floats(allow_nan=False),
        st.sampled_from(["", "red", "green", "blue", "2026-07-13T06:44:18Z", "x" * 300]),
        st.just(b"bytes"),
    ),
    lambda values: st.one_of(
        st.lists(values, max_size=4), st.dictionaries(KEYS, values, max_size=7)
    ),
    max_leaves=40,
)
TIMES = st.one_of(st.none(), st.integers(0, 40).map(lambda hours: hours * 3600.5))
OBSERVED = st.lists(st.tuples(VALUES, TIMES), min_size=1, max_size=12)
LIMITS = st.builds(
    Limits,
    max_depth=st.integers(1, 6),
    max_paths=st.one_of(st.integers(1, 40), st.just(1000)),
    map_keys=st.integers(1, 6),
    map_containers=st.integers(1, 4),
    max_variants=st.integers(1, 3),
    max_enum=st.integers(1, 3),
    maps=st.sets(
        st.sampled_from(["a", "a.b", "$", "b.{*}", "a[].c", "{*}.a", "a.{*}.c"]), max_size=2
    ).map(frozenset),
    period=st.just(3600),
    max_periods=st.integers(1, 5),
)
KEY = b"a key of 16 bytes or more"


def empty(limits: Limits, looks_at_strings: bool) -> ShapeStats:
    """Where strings are looked at the counters are those of the twin, else of the backend."""
    if looks_at_strings:
        return ShapeStats("t", limits=limits, formats=True, enum_key=KEY)
    return ShapeStats("t", limits=limits)


def learned(observed: list[tuple[Any, Any]], limits: Limits, looks_at_strings: bool) -> ShapeStats:
    stats = empty(limits, looks_at_strings)
    for value, time in observed:
        stats.observe(value, time)
    return stats


# -- order -----------------------------------------------------------------------------------------


@settings(max_examples=400, deadline=None)
@given(OBSERVED, LIMITS, st.booleans(), st.randoms(use_true_random=False), st.data())
def test_no_byte_of_a_baseline_depends_on_order_or_on_how_the_work_was_split(
    observed: list[tuple[Any, Any]],
    limits: Limits,
    strings: bool,
    random: random.Random,
    data: st.DataObject,
) -> None:
    whole = baseline.dumps(learned(observed, limits, strings))
    shuffled = observed.copy()
    random.shuffle(shuffled)
    workers: list[list[tuple[Any, Any]]] = [[] for _ in range(data.draw(st.integers(1, 5)))]
    for observation in shuffled:
        random.choice(workers).append(observation)
    parts = [baseline.loads(baseline.dumps(learned(part, limits, strings))) for part in workers]
    while len(parts) > 1:  # in any order and any grouping
        first = parts.pop(random.randrange(len(parts)))
        parts[random.randrange(len(parts))].merge(first)
    assert baseline.dumps(parts[0]) == whole


@settings(max_examples=100, deadline=None)
@given(OBSERVED, LIMITS, st.booleans())
def test_looking_in_between_changes_nothing(
    observed: list[tuple[Any, Any]], limits: Limits, strings: bool
) -> None:
    looked_at = empty(limits, strings)
    for value, time in observed:
        looked_at.observe(value, time)
        baseline.dumps(looked_at)
    assert baseline.dumps(looked_at) == baseline.dumps(learned(observed, limits, strings))


@settings(max_examples=100, deadline=None)
@given(OBSERVED, LIMITS)
def test_limits_applied_again_change_nothing(
    observed: list[tuple[Any, Any]], limits: Limits
) -> None:
    stats = learned(observed, limits, looks_at_strings=True)
    before = baseline.dumps(stats)
    shape_tree.close(stats.root, limits)
    assert baseline.dumps(stats) == before


def node_at(stats: ShapeStats, path: str) -> Node:
    return next(node for found, node, _ in shape_tree.nodes(stats.root) if found == path)


def paths_of(stats: ShapeStats) -> list[str]:
    return [path.path for path in stats.paths()]


def test_each_count_is_what_it_says() -> None:
    stats = ShapeStats("t")
    stats.observe({"a": [1, 2.5, "x", None], "b": True}, at=20.0)
    stats.observe({"a": []}, at=10.0, count=3)
    stats.observe({"a": None, "b": b"bytes"}, at=30.0)
    known = {path.path: path for path in stats.paths()}
    assert list(known) == ["$", "$.a", "$.a[]", "$.b"]
    assert (known["$"].observations, known["$"].presence) == (5, None)
    assert (known["$"].first_seen, known["$"].last_seen) == (10_000, 30_000)
    a = known["$.a"]
    assert (a.types, a.presence, a.null_rate) == ({"array": 4, "null": 1}, 1.0, 0.2)
    assert (a.empty_arrays, a.fewest_items, a.most_items) == (3, 0, 4)
    items = known["$.a[]"]
    assert (items.types, items.integers) == ({"null": 1, "number": 2, "string": 1}, 1)
    b = known["$.b"]
    assert (b.types, b.presence, b.parents) == ({"bool": 1, "other": 1}, 0.4, 5)
    assert (b.first_seen, b.last_seen) == (20_000, 30_000)


def test_text_counts_as_the_value_that_it_stands_for() -> None:
    value = {"a": [1, 2.0, {"b": None, "é": "x"}], "c": {"17": True}, "d": [[]]}
    by_value, by_text, by_lines = ShapeStats("t"), ShapeStats("t"), ShapeStats("t")
    by_value.observe(value, 5.0, 2)
    by_text.observe_text(json.dumps(value), 5.0, 2)
    line = json.dumps(value, ensure_ascii=False).encode()
    assert by_lines.observe_lines(line + b"\r\n\n  \n" + line, 5.0) == []
    assert baseline.dumps(by_value) == baseline.dumps(by_text) == baseline.dumps(by_lines)


def test_lines_that_are_no_json_are_named_and_the_others_are_learned() -> None:
    stats = ShapeStats("t")
    refused = stats.observe_lines(b'{"a":1}\n{"a":\n[1,]\n{"a":2}\n')
    assert [(index, start) for index, start, _ in refused] == [(1, 8), (2, 14)]
    assert stats.observations == 2


def test_what_cannot_be_read_leaves_no_trace() -> None:
    stats = ShapeStats("t")
    circle: dict[str, Any] = {"a": 1}
    circle["self"] = circle
    for bad in (circle, {"a": {(1, 2): 3}}):
        with pytest.raises(ValueError, match=r"\$"):
            stats.observe(bad)
    with pytest.raises(ValueError, match="line 1"):
        stats.observe_text('{"a": 1, "b": }')
    assert stats.observations == 0
    assert paths_of(stats) == ["$"]


# -- maps ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "key",
    [
        "17", "-4", "2026", "2026-07-13", "2026-07-13T06:44:18Z", "13.07.2026", "06:44", "10.0.0.7",
        "+49 30 1234567", "(030) 1234-567", "2001:db8::ff00:42:8329", "ann@example.com",
        "f47ac10b-58cc-4372-a567-0e02b2c3d479", "urn:uuid:f47ac10b-58cc-4372-a567-0e02b2c3d479",
        "d41d8cd98f00b204e9800998ecf8427e", "0x1f8a2b3c4d5e6f70",
        "0xdeadbeefdeadbeef", "0X1F", "https://example.com/a?b=c",
        "sk_live_51H8xYzAbCdEfGh0JkLm", "AKIAIOSFODNN7EXAMPLE9", "x" * 129,
    ],
)  # fmt: skip
def test_a_key_that_is_an_identifier_is_never_stored(key: str) -> None:
    stats = ShapeStats("t")
    stats.observe({"total": 1, key: {"n": 1}})
    assert paths_of(stats) == ["$", "$.total", "$.{*}", "$.{*}.n"]
    assert key not in baseline.dumps(stats)


@pytest.mark.parametrize(
    "key",
    ["a", "price_cents", "sha256", "line2", "address_1", "ipv4", "x-request-id", "@type", "$ref",
     "", "First name", "customfield_10010", "content-type", "h264", "deadbeef", "größe", "i18n"],
)  # fmt: skip
def test_a_key_that_looks_like_a_name_is_one(key: str) -> None:
    stats = ShapeStats("t")
    stats.observe({key: 1})
    assert "$.{*}" not in paths_of(stats)


def test_many_keys_with_values_of_one_type_are_a_map() -> None:
    stats = ShapeStats("t")
    for number in range(64):
        stats.observe({"by_user": {f"user_{chr(97 + number % 26)}{chr(97 + number // 26)}": 1}})
    assert not node_at(stats, "$.by_user").is_map
    stats.observe({"by_user": {"one_more": 1.5}})
    assert paths_of(stats) == ["$", "$.by_user", "$.by_user.{*}"]
    assert node_at(stats, "$.by_user.{*}").counts[3] == 65
    assert "user_a" not in baseline.dumps(stats)


def test_a_wide_record_of_several_types_is_no_map() -> None:
    record: dict[str, Any] = {f"s_{chr(97 + i % 26)}_{chr(97 + i // 26)}": "x" for i in range(60)}
    record |= {f"n_{chr(97 + i % 26)}_{chr(97 + i // 26)}": 1 for i in range(60)}
    stats = ShapeStats("t")
    stats.observe(record)
    assert len(paths_of(stats)) == 121


def test_a_declared_map_keeps_no_key() -> None:
    stats = ShapeStats("t", limits=Limits(maps=frozenset({"users", "orgs.{*}.users"})))
    stats.observe({"users": {"ann": 1}, "orgs": {"acme": {"users": {"bob": {"x": 1}}}}})
    assert "ann" not in baseline.dumps(stats)
    assert "bob" not in baseline.dumps(stats)
    assert "$.orgs.acme.users.{*}.x" in paths_of(stats)


# -- limits ----------------------------------------------------------------------------------------


def test_what_is_nested_too_deep_is_cut_and_said_to_be() -> None:
    stats = ShapeStats("t", limits=Limits(max_depth=2))
    stats.observe({"a": {"b": {"c": 1}, "d": []}})
    known = {path.path: path for path in stats.paths()}
    assert list(known) == ["$", "$.a", "$.a.b", "$.a.d"]
    assert known["$.a.b"].is_truncated
    assert not known["$.a.d"].is_truncated


def test_a_tree_never_has_more_keys_than_it_may() -> None:
    names = [chr(97 + i) for i in range(20)]
    stats = ShapeStats("t", limits=Limits(max_paths=500))
    for first in names:
        for second in names:
            stats.observe({first: {second: {third: [{"x": 1}] for third in names}}})
    keys = sum(len(node.fields) for _, node, _ in shape_tree.nodes(stats.root))
    assert 0 < keys <= 500


def test_the_history_keeps_the_latest_periods() -> None:
    stats = ShapeStats("t", limits=Limits(max_periods=3))
    for day in (1, 5, 3, 2, 4):
        stats.observe({"a": 1}, at=day * 86_400.0)
    assert sorted(node_at(stats, "$.a").history) == [3, 4, 5]
    assert node_at(stats, "$.a").total == 5


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"max_depth": 201}, "at most 200"),
        ({"max_paths": 0}, "at least 1"),
        ({"map_keys": True}, "must be an int"),
        ({"maps": frozenset({"a..b"})}, "is no path"),
        ({"maps": "a"}, "a set of str"),
    ],
)
def test_limits_that_make_no_sense_are_refused(limits: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        Limits(**limits)


# -- strings ---------------------------------------------------------------------------------------


def test_formats_are_hints_that_are_counted_on_request() -> None:
    value = {"when": "2026-07-13T06:44:18Z", "who": "ann@example.com", "text": "x"}
    stats = ShapeStats("t", formats=True)
    stats.observe(value)
    assert node_at(stats, "$.when").formats == {"date-time": 1}
    assert node_at(stats, "$.who").formats == {"email": 1}
    assert node_at(stats, "$.text").formats == {}
    plain = ShapeStats("t")
    plain.observe(value)
    assert node_at(plain, "$.when").formats is None


def test_strings_of_small_sets_are_told_apart_only_by_a_key_that_is_not_stored() -> None:
    stats, other = ShapeStats("t", enum_key=KEY), ShapeStats("t", enum_key=KEY[::-1])
    for status in ("active", "paused", "active"):
        stats.observe({"status": status})
        other.observe({"status": status})
    enums = node_at(stats, "$.status").enums
    assert enums is not None
    assert sorted(enums.values()) == [1, 2]
    assert enums != node_at(other, "$.status").enums
    saved = baseline.dumps(stats)
    assert "active" not in saved
    assert KEY.decode() not in saved
    with pytest.raises(ValueError, match="look at strings differently"):
        stats.merge(other)
    with pytest.raises(ValueError, match="by a key"):
        baseline.loads(saved).observe({})


def test_too_many_strings_are_not_told_apart() -> None:
    stats = ShapeStats("t", enum_key=KEY)
    for number in range(33):
        stats.observe({"title": f"title {number}", "long": "x" * 257})
    for path in ("$.title", "$.long"):
        assert node_at(stats, path).many
        assert node_at(stats, path).enums == {}


# -- files -----------------------------------------------------------------------------------------


def test_a_baseline_survives_its_file(tmp_path: Path) -> None:
    stats = ShapeStats("search", limits=Limits(maps=frozenset({"a"})), formats=True)
    stats.observe({"a": {"x": 1}, "b": ["2026-07-13T06:44:18Z", None], "\ud800": {"17": 1.5}}, 5.0)
    path = tmp_path / "search.json"
    baseline.save(stats, path)
    assert baseline.dumps(baseline.load(path)) == path.read_text() == baseline.dumps(stats)
    assert [file.name for file in tmp_path.iterdir()] == ["search.json"]


def test_a_baseline_is_json_with_sorted_keys_and_an_indent_of_one() -> None:
    stats = ShapeStats("é", limits=Limits(maps=frozenset({"a"})), formats=True)
    stats.observe({"a": {"x": 1}, "b": ["2026-07-13T06:44:18Z", {}], "\ud800": []}, 5.0)
    text = baseline.dumps(stats)
    assert text == json.dumps(json.loads(text), indent=1, sort_keys=True) + "\n"


def test_a_file_that_cannot_be_written_stays_what_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "search.json"
    path.write_text("before")

    def fail(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        baseline.save(ShapeStats("search"), path)
    assert path.read_text() == "before"
    assert [file.name for file in tmp_path.iterdir()] == ["search.json"]


def damaged(change: Any) -> str:
    stats = ShapeStats("t")
    stats.observe({"a": [1]}, 5.0)
    document = json.loads(baseline.dumps(stats))
    change(document)
    return json.dumps(document)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.pop("format"), '"format"'),
        (lambda d: d.update(version=2), "another version"),
        (lambda d: d.update(extra=1), "other fields"),
        (lambda d: d.update(tool=1), "tool"),
        (lambda d: d.update(observations=7), "observations"),
        (lambda d: d["limits"].update(max_depth=0), "max_depth"),
        (lambda d: d["limits"].update(maps=[1]), "limits.maps"),
        (lambda d: d["responses"]["fields"]["a"].update(empty=-1), r"\$\.a is not"),
        (lambda d: d["responses"]["fields"]["a"].update(empty=True), r"\$\.a is not"),
        (lambda d: d["responses"]["fields"]["a"].update(items=[]), r"\$\.a\[\] is not"),
        (lambda d: d["responses"]["fields"]["a"].update(map=1), r"\$\.a is not with map"),
        (lambda d: d["responses"]["fields"].update({"17": {}}), "identifiers"),
        (lambda d: d["responses"].update(map=True), "as a map"),
        (lambda d: d["responses"]["history"].update(x=[]), "history"),
        (lambda d: d["responses"]["history"].update({"1": [1]}), "7 counts"),
        (lambda d: d["responses"]["variants"].append({"keys": ["zz"], "count": 1}), "variants"),
        (lambda d: d["responses"].update(enums={"x": 1}), "hashes"),
        (lambda d: d["responses"].update(formats={"secret": 1}), "other fields"),
    ],
)
def test_a_damaged_baseline_is_refused_and_the_place_named(change: Any, message: str) -> None:
    with pytest.raises(BaselineError, match=message):
        baseline.loads(damaged(change))


@pytest.mark.parametrize("text", ["", "[]", "{", "null", '{"format": NaN}', "[" * 100_000, b"\xff"])
def test_what_is_no_baseline_is_refused(text: str | bytes) -> None:
    with pytest.raises(BaselineError, match="not a baseline"):
        baseline.loads(text)


def test_a_loaded_file_is_held_to_its_limits() -> None:
    stats = ShapeStats("t")
    stats.observe({f"k_{chr(97 + i % 26)}{chr(97 + i // 26)}": 1 for i in range(60)})
    document = json.loads(baseline.dumps(stats))
    document["limits"]["map_keys"] = 10
    assert "k_a" not in baseline.dumps(baseline.loads(json.dumps(document)))


def test_a_database_holds_the_baselines_of_many_tools(tmp_path: Path) -> None:
    store = BaselineStore(tmp_path / "baselines.db")
    for tool in ("b", "a", "b"):
        stats = ShapeStats(tool)
        stats.observe({"x": 1})
        store.merge(stats)
    again = BaselineStore(tmp_path / "baselines.db")
    assert again.tools() == ["a", "b"]
    known = again.load("b")
    assert known is not None
    assert known.observations == 2
    assert again.load("c") is None


def test_threads_share_a_database_in_memory() -> None:
    store = BaselineStore(":memory:")
    stats = ShapeStats("t")
    stats.observe({"a": 1})

    def merge() -> None:
        for _ in range(50):
            store.merge(stats)

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(merge) for _ in range(4)]:
            done.result()
    loaded = store.load("t")
    assert loaded is not None
    assert loaded.observations == 200


def test_a_database_in_memory_is_closed_with_its_store() -> None:
    stores = [BaselineStore(":memory:")]
    connection = stores[0]._memory
    assert connection is not None
    assert stores[0].tools() == []
    thread = threading.Thread(target=stores.clear)  # the last reference may go in any thread
    thread.start()
    thread.join()
    gc.collect()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        connection.execute("SELECT 1")


def test_what_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_bytes(b"no database at all, but long enough to be read as one" * 20)
    with pytest.raises(BaselineError, match="not a database"):
        BaselineStore(tmp_path / "x.db").tools()


def rows_of(path: Path, query: str) -> list[Any]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchall()


def test_a_message_of_sqlite_that_is_no_text_is_a_named_error(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    BaselineStore(path).save(ShapeStats("t"))
    path.write_bytes(path.read_bytes().replace(b"CREATE TABLE base", b"CREATE TABL\x98 base"))
    for use in (BaselineStore(path).tools, lambda: BaselineStore(path).save(ShapeStats("t"))):
        with pytest.raises(BaselineError, match="not a database of baselines"):
            use()


def test_reading_makes_no_database_and_changes_none(tmp_path: Path) -> None:
    missing = BaselineStore(tmp_path / "missing.db")
    assert missing.tools() == []
    assert missing.load("t") is None
    empty = tmp_path / "empty.db"
    empty.write_bytes(b"")
    assert BaselineStore(empty).tools() == []
    assert BaselineStore(empty).load("t") is None
    assert empty.read_bytes() == b""
    assert [path.name for path in tmp_path.iterdir()] == ["empty.db"]


def test_a_database_of_something_else_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE customer (name TEXT)")
    before = path.read_bytes()
    store = BaselineStore(path)
    for use in (store.tools, lambda: store.load("t"), lambda: store.save(ShapeStats("t"))):
        with pytest.raises(BaselineError, match="it has other tables"):
            use()
    with pytest.raises(BaselineError, match="it has other tables"):
        store.merge(ShapeStats("t"))
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("tool", "document"),
    [("t", None), ("t", b"{}"), (None, "{}"), (b"t", "{}")],
    ids=["null", "blob", "null as name", "blob as name"],
)
def test_rows_of_other_types_are_refused(tmp_path: Path, tool: Any, document: Any) -> None:
    path = tmp_path / "x.db"
    BaselineStore(path).save(ShapeStats("other"))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("INSERT INTO baseline VALUES (?, ?)", (tool, document))
    store = BaselineStore(path)
    with pytest.raises(BaselineError, match="a row has values of other types"):
        store.load("t") if tool == "t" else store.tools()


@pytest.mark.parametrize("place", ["file", ":memory:"])
def test_a_name_without_utf_8_is_in_no_database(tmp_path: Path, place: str) -> None:
    store = BaselineStore(tmp_path / "x.db" if place == "file" else place)
    for write in (store.save, store.merge):
        with pytest.raises(BaselineError, match="lone surrogate"):
            write(ShapeStats("\udcff"))
    assert store.load("\udcff") is None
    assert store.tools() == []


@pytest.mark.parametrize("name", ["a b.db", "100%.db", "what?.db", "a#b.db", "é.db"], ids=ascii)
def test_a_database_may_have_any_name(tmp_path: Path, name: str) -> None:
    BaselineStore(tmp_path / name).save(ShapeStats("t"))
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert rows_of(tmp_path / name, "SELECT tool FROM baseline") == [("t",)]
    assert BaselineStore(tmp_path / name).tools() == ["t"]


@given(OBSERVED, LIMITS, st.booleans())
def test_a_copy_is_equal_and_goes_its_own_way(
    observed: list[tuple[Any, int | None]], limits: Limits, formats: bool
) -> None:
    stats = ShapeStats("t", limits=limits, formats=formats)
    for value, time in observed:
        stats.observe(value, time)
    for copied in (stats.copy(), copy.copy(stats), copy.deepcopy(stats), repickled(stats)):
        assert copied == stats
        assert baseline.dumps(copied) == baseline.dumps(stats)
        copied.observe({"one": "more"}, 1.0)
        assert copied != stats
        assert copied.observations == stats.observations + 1
        assert copied.merge(stats).observations == 2 * stats.observations + 1


def repickled(stats: ShapeStats) -> ShapeStats:
    copied = pickle.loads(pickle.dumps(stats))
    assert type(copied) is ShapeStats
    return copied


def test_statistics_differ_by_what_they_know_and_by_their_arguments() -> None:
    def of(value: object, at: float | None = 1.0, tool: str = "t", **options: Any) -> ShapeStats:
        stats = ShapeStats(tool, **options)
        stats.observe(value, at)
        return stats

    value = {"a": [{"b": 1}], "2026-07-13": None}
    stats = of(value)
    assert stats == of(value)
    for other in (
        of({"a": [{"b": 1.5}], "2026-07-13": None}), of({"a": [{"c": 1}], "2026-07-13": None}),
        of({"a": [], "2026-07-13": None}), of({"a": [{"b": 1}]}), of(value, 2.0), of(value, None),
        of(value, tool="u"), of(value, formats=True), of(value, enum_key=b"k" * 16),
        of(value, limits=Limits(map_keys=63)), baseline.dumps(stats),
    ):  # fmt: skip
        assert stats != other
    with pytest.raises(TypeError, match="unhashable"):
        hash(stats)


def test_an_enum_key_is_in_no_copy() -> None:
    key = b"a secret of 24 characters"
    stats = ShapeStats("t", enum_key=key)
    stats.observe({"status": "on"})
    assert key not in pickle.dumps(stats)
    for copied in (copy.deepcopy(stats), repickled(stats)):
        assert copied == stats
        with pytest.raises(ValueError, match="by a key, without which"):
            copied.observe({"status": "off"})
        assert stats.copy().merge(copied).observations == 2


def test_another_process_learns_on_and_sends_back_what_it_knows() -> None:
    stats = ShapeStats("t", limits=Limits(maps=frozenset({"users"})))
    stats.observe({"users": {"ann": 1}}, 1.0)
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        learned_there = pool.submit(learning_on, stats, {"users": {"bob": None}}).result(60)
    stats.observe({"users": {"bob": None}}, 2.0)
    assert learned_there == stats


def learning_on(stats: ShapeStats, value: Any) -> ShapeStats:
    stats.observe(value, 2.0)
    return stats


def test_a_tree_of_the_greatest_depth_survives_pickling() -> None:
    value: Any = 1
    for level in range(200):
        value = {"k": value} if level % 2 else [value]
    stats = ShapeStats("t", limits=Limits(max_depth=200))
    stats.observe(value)
    assert repickled(stats) == stats


def test_however_many_periods_there_are_few_have_a_counter() -> None:
    stats, backwards = ShapeStats("t"), ShapeStats("t")
    for number in range(500):
        stats.observe({"a": 1}, at=number * 86_400.0)
        backwards.observe({"a": 1}, at=(499 - number) * 86_400.0)
        assert len(stats._counters) <= 64
    assert stats.observations == 500
    assert stats == backwards


@pytest.mark.parametrize("count", [0, -1, 1 << 32])
def test_a_response_counts_once_or_a_few_billion_times(count: int) -> None:
    stats = ShapeStats("t")
    with pytest.raises(ValueError, match=r"count must be from 1 to 4,294,967,295, not -?\d+"):
        stats.observe({}, count=count)
    for _ in range(3):
        stats.observe({"a": [1, 2]}, count=(1 << 32) - 1)
    assert stats.observations == 3 * ((1 << 32) - 1)


def test_only_statistics_that_are_alike_are_merged() -> None:
    with pytest.raises(ValueError, match="different tools"):
        ShapeStats("a").merge(ShapeStats("b"))
    with pytest.raises(ValueError, match="different limits"):
        ShapeStats("a").merge(ShapeStats("a", limits=Limits(max_paths=9)))
    with pytest.raises(TypeError, match="only a ShapeStats"):
        ShapeStats("a").merge({})  # type: ignore[arg-type]


def test_statistics_can_be_merged_with_themselves() -> None:
    stats = ShapeStats("t")
    stats.observe({"a": [1]})
    assert stats.merge(stats).observations == 2


# -- memory ----------------------------------------------------------------------------------------

_DISTINCT = """
import re
from overturn_fast.shape import ShapeStats, dumps
stats = ShapeStats("t")
for number in range({count}):
    name = "".join(chr(97 + int(digit)) for digit in str(number))
    stats.observe({{"id": number, "by_name": {{name: {{"n": 1, "of": [name]}}}}, name + "_x": 1}})
status = open("/proc/self/status").read()
print(stats.observations, len(dumps(stats)), re.search(r"VmHWM:\\s*(\\d+) kB", status)[1])
"""


@pytest.mark.memory
def test_distinct_keys_do_not_add_up() -> None:
    if not os.path.exists("/proc/self/status"):
        pytest.skip("the peak of a process's memory is read from /proc")
    count = int(os.environ.get("OVERTURN_FAST_DISTINCT_KEYS", "20000"))
    output = subprocess.check_output(
        [sys.executable, "-c", _DISTINCT.format(count=count)], text=True, timeout=900
    )
    observations, size, peak = map(int, output.split())
    assert observations == count
    assert size < 5_000
    assert peak * 1024 < 200e6
