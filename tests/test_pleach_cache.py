"""The cache boundary: eligibility, modes, tenants, replay, one call at a time, and the stores."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import enum
import functools
import itertools
import json
import math
import os
import pickle
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from parameter_ids import shown
from pleach_process import call_of

from overturn_fast.pleach import (
    CacheReadPolicy,
    CorruptStoreError,
    FingerprintCache,
    FingerprintConfig,
    FingerprintInput,
    FingerprintMetadata,
    ForeignStoreError,
    InputError,
    InputTypeError,
    Ledger,
    MappingStore,
    MemoryStore,
    ModeError,
    PleachError,
    ReplayDivergenceError,
    RuntimeMode,
    SQLiteStore,
    StoreError,
    StoreFullError,
    TenantError,
    compute_fingerprint,
)

CALL: dict[str, Any] = {
    "model": "m",
    "family": "f",
    "call_class": "c",
    "messages": [{"role": "user", "content": "Hello"}],
    "temperature": 0,
}
HELPER = Path(__file__).with_name("pleach_process.py")


class Clock:
    """A time that moves when a test says so."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(params=["sqlite", "memory", "mapping"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    """Each kind of store."""
    made: Any = {"mapping": MappingStore({}), "memory": MemoryStore()}.get(request.param)
    made = made or SQLiteStore(tmp_path / "answers.db")
    yield made
    made.close()


# -- what goes in comes out ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [None, True, 0, 1.5, "", "é\ud800", [], {"a": [1, {"b": None}]}, b"", b"\x00\n{}", 10**30],
    ids=shown,
)
def test_a_value_comes_back_as_it_was(store: Any, value: Any) -> None:
    cache = FingerprintCache(store, "interactive")
    assert cache.get(CALL, "nothing") == "nothing"
    assert cache.put(CALL, value) is True
    back = cache.get(CALL, "nothing")
    assert back == value
    assert type(back) is type(value)
    assert (cache.stats.hits, cache.stats.misses, cache.stats.writes) == (1, 1, 1)


def test_an_answer_is_replaced_and_counted_once(store: Any) -> None:
    cache = FingerprintCache(store, "interactive")
    for value in (b"12345", b"123", b"1234"):
        cache.put(CALL, value)
    assert cache.get(CALL) == b"1234"
    assert (cache.stats.entries, cache.stats.bytes) == (1, 4)


class Colour(enum.Enum):
    RED = "red"


class Word(str):
    """A subclass of a JSON type."""


class Count(int):
    """Another one."""


CYCLE: dict[str, Any] = {"a": [1]}
CYCLE["a"].append(CYCLE)
DEEP: list[Any] = []
for _ in range(50_000):
    DEEP = [DEEP]

UNLIKE: list[tuple[str, Any, str]] = [
    ("nan", {"a": [0.5, math.nan]}, "value.a[1]: must be a finite number"),
    ("infinity", -math.inf, "value: must be a finite number"),
    ("tuple", {"a b": (1, 2)}, 'value["a b"]: would not come back as tuple'),
    ("int-key", {"a": {1: 2}}, "value.a: has a key of type int, not str"),
    ("str-subclass-key", {Word("a"): 2}, "value: has a key of type test_pleach_cache.Word, not"),
    ("set", {"a": {1}}, "value.a: must be of JSON types, not set"),
    ("object", [object()], "value[0]: must be of JSON types, not object"),
    ("bytes-within", ["x", b"x"], "value[1]: must be of JSON types, not bytes"),
    ("bytearray", bytearray(b"x"), "value: must be bytes or of JSON types, not bytearray"),
    ("memoryview", memoryview(b"x"), "value: must be bytes or of JSON types, not memoryview"),
    ("enum", {"a": Colour.RED}, "value.a: must be of JSON types, not test"),
    ("str-enum", [RuntimeMode.INTERACTIVE], "value[0]: would not come back as overturn_fast."),
    ("str-subclass", {"a": Word("x")}, "value.a: would not come back as test_pleach_cache.Word"),
    ("int-subclass", [1, Count(2)], "value[1]: would not come back as test_pleach_cache.Count"),
    ("ordered", {"a": OrderedDict(b=1)}, "value.a: would not come back as collections.Ordered"),
    ("cycle", CYCLE, "value.a[1]: is a cycle"),
    ("deep", DEEP, "value: has no JSON text: nested too deep"),
    ("two-surrogates", ["\ud83d\ude00"], "value[0]: holds two surrogates"),
    ("two-surrogates-key", {"\ud83d\ude00": 1}, "value: has a key with two surrogates"),
]


@pytest.mark.parametrize(
    ("value", "message"), [case[1:] for case in UNLIKE], ids=[case[0] for case in UNLIKE]
)
def test_a_value_that_would_not_come_back_is_refused(store: Any, value: Any, message: str) -> None:
    cache = FingerprintCache(store, "interactive")
    with pytest.raises(InputError, match=f"^{re.escape(message)}"):
        cache.put(CALL, value)
    with pytest.raises(InputError, match=f"^{re.escape(message)}") as caught:
        cache.get_or_call(CALL, lambda: value)
    assert caught.value.value is value  # what the call answered is not lost
    assert cache.stats.entries == 0


def test_any_mutable_mapping_is_a_store_and_nothing_in_it_is_pickled(tmp_path: Path) -> None:
    kept: dict[str, bytes] = {}
    FingerprintCache(kept, "interactive").put(CALL, {"a": 1}, FingerprintMetadata(chat_id="c"))
    [(key, data)] = kept.items()
    assert key == compute_fingerprint(CALL, runtime_mode="interactive").hash
    head, value = data.split(b"\n", 1)
    assert json.loads(head)["metadata"] == {"chatId": "c"}
    assert json.loads(value) == {"a": 1}
    assert FingerprintCache(kept, "interactive").get(CALL) == {"a": 1}


def test_the_sqlite_file_holds_json_and_bytes_and_says_whose_it_is(tmp_path: Path) -> None:
    path = tmp_path / "answers.db"
    with FingerprintCache(path, "interactive") as cache:
        cache.put({**CALL, "session_id": "s1"}, {"a": 1})
    with sqlite3.connect(path) as connection:
        row = connection.execute("SELECT fingerprint, metadata, value FROM entry").fetchone()
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA user_version").fetchone() == (1,)
    connection.close()
    assert json.loads(row[0])["runtimeMode"] == "interactive"
    assert json.loads(row[1]) == {"sessionId": "s1"}
    assert row[2] == b'{"a":1}'
    with FingerprintCache(path, "interactive") as cache:
        assert cache.get(CALL) == {"a": 1}


# -- eligibility -----------------------------------------------------------------------------------


def test_a_call_that_is_not_deterministic_is_neither_served_nor_kept(store: Any) -> None:
    cache = FingerprintCache(store, "interactive")
    sampled = {**CALL, "temperature": 0.04}  # has the fingerprint of temperature 0
    assert cache.fingerprint(sampled) == cache.fingerprint(CALL)
    assert cache.put(sampled, "sampled") is False
    assert cache.get(CALL) is None
    cache.put(CALL, "greedy")
    assert cache.get(sampled) is None
    answers = iter(["first", "second"])
    assert cache.get_or_call(sampled, lambda: next(answers)) == "first"
    assert cache.get_or_call(sampled, lambda: next(answers)) == "second"
    assert cache.get(CALL) == "greedy"
    stats = cache.stats
    assert (stats.ineligible, stats.hits, stats.misses, stats.writes) == (4, 1, 1, 1)
    assert cache.put({**sampled, "seed": 0}, "seeded") is True
    assert cache.get({**sampled, "seed": 0}) == "seeded"


# -- modes and tenants -----------------------------------------------------------------------------

MAY_READ = {  # the contract's table, reader to entry, under cross-mode-readable
    ("interactive", "headless-eval"),
    ("interactive", "headless-replay"),
    ("headless-eval", "headless-replay"),
}
MODES = [mode.value for mode in RuntimeMode]
TENANTS = [None, "a", "b"]


@pytest.mark.parametrize("policy", ["strict-mode", "cross-mode-readable"])
def test_no_read_crosses_tenants_and_only_the_allowed_ones_cross_modes(
    store: Any, policy: str
) -> None:
    for writer, reader in itertools.product(MODES, MODES):
        for owner, asker in itertools.product(TENANTS, TENANTS):
            call = {**CALL, "messages": [policy, writer, reader, owner, asker]}
            kept = FingerprintCache(store, writer, policy)
            assert kept.put({**call, "tenant_id": owner}, "kept")
            asked = FingerprintCache(store, reader, policy)
            is_allowed = writer == reader or (
                policy == "cross-mode-readable" and (reader, writer) in MAY_READ
            )
            if is_allowed and owner == asker:
                assert asked.get({**call, "tenant_id": asker}) == "kept"
            elif reader == "headless-replay":
                with pytest.raises(ReplayDivergenceError):
                    asked.get({**call, "tenant_id": asker})
            else:
                assert asked.get({**call, "tenant_id": asker}) is None


def test_strict_mode_is_the_default() -> None:
    cache = FingerprintCache({}, "interactive")
    assert cache.policy is CacheReadPolicy.STRICT_MODE
    assert cache.mode is RuntimeMode.INTERACTIVE


def test_the_own_mode_is_served_before_another() -> None:
    kept: dict[str, bytes] = {}
    for mode in ("headless-replay", "headless-eval", "interactive"):
        FingerprintCache(kept, mode).put(CALL, mode)
        reader = FingerprintCache(kept, "interactive", "cross-mode-readable")
        assert reader.get(CALL) == mode


@pytest.mark.parametrize(
    ("mode", "given"), [p for p in itertools.product(MODES, MODES) if p[0] != p[1]]
)
def test_a_call_of_another_mode_is_refused(mode: str, given: str) -> None:
    cache = FingerprintCache({}, mode)
    for use in (cache.get, cache.fingerprint, lambda call: cache.put(call, 1)):
        with pytest.raises(ModeError, match=f"^runtimeMode: is {given} in a cache of {mode}$"):
            use({**CALL, "runtime_mode": given})


@pytest.mark.filterwarnings("error")
def test_a_coroutine_function_is_for_get_or_call_async() -> None:
    async def answer() -> int:
        return 1

    cache = FingerprintCache({}, "interactive")
    with pytest.raises(InputTypeError, match=r"^fn: is a coroutine function: get_or_call_async"):
        cache.get_or_call(CALL, answer)
    assert cache.get(CALL) is None
    assert asyncio.run(cache.get_or_call_async(CALL, answer)) == 1


def test_a_cache_of_a_tenant_refuses_every_other_call(store: Any) -> None:
    cache = FingerprintCache(store, "interactive", tenant_id="a")
    assert cache.put({**CALL, "tenant_id": "a"}, 1)
    for tenant, words in (("b", "is not that"), (None, "is missing in a call")):
        for use in (
            cache.get,
            lambda call: cache.put(call, 1),
            lambda call: cache.get_or_call(call, int),
        ):
            with pytest.raises(TenantError, match=f"^tenantId: {words} of the cache"):
                use({**CALL, "tenant_id": tenant})
    required = FingerprintCache(store, "interactive", config=FingerprintConfig(require_tenant=True))
    with pytest.raises(TenantError, match=r"^tenantId: is missing, and"):
        required.get(CALL)


def test_an_entry_that_lies_under_the_hash_of_another_is_not_served(tmp_path: Path) -> None:
    kept: dict[str, bytes] = {}
    cache = FingerprintCache(kept, "interactive")
    mine, other = {**CALL, "tenant_id": "a"}, {**CALL, "tenant_id": "b"}
    cache.put(other, "secret")
    kept[cache.fingerprint(mine).hash] = kept[cache.fingerprint(other).hash]
    with pytest.raises(CorruptStoreError, match="under the hash of another one"):
        cache.get(mine)
    path = tmp_path / "answers.db"
    with FingerprintCache(path, "interactive") as cache:
        cache.put(other, "secret")
        with sqlite3.connect(path) as connection:
            connection.execute("UPDATE entry SET hash = ?", (cache.fingerprint(mine).hash,))
        connection.close()
        with pytest.raises(CorruptStoreError, match="under the hash of another one"):
            cache.get(mine)


# -- replay ----------------------------------------------------------------------------------------


def test_a_replay_that_misses_names_the_nearest_recorded_call_of_its_tenant(store: Any) -> None:
    cache = FingerprintCache(store, "headless-replay")
    with pytest.raises(ReplayDivergenceError, match="nothing is recorded for this mode and tenant"):
        cache.get(CALL)
    cache.put({**CALL, "seed": 1, "model": "x", "messages": []}, 1)
    cache.put({**CALL, "temperature": 0.7, "seed": 1}, 2)
    cache.put({**CALL, "temperature": 0.8, "seed": 1, "tenant_id": "secret"}, 3)
    asked = {**CALL, "temperature": 0.8, "seed": 1}
    for look in (cache.get, lambda call: cache.get_or_call(call, lambda: pytest.fail("called"))):
        with pytest.raises(ReplayDivergenceError) as caught:
            look(asked)
        assert str(caught.value).endswith(": temperatureBucket 0.7 -> 0.8")
        assert caught.value.fingerprint == cache.fingerprint(asked)
        assert caught.value.nearest == cache.fingerprint({**asked, "temperature": 0.7})
        assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    assert cache.stats.misses == 3
    assert cache.get({**asked, "temperature": 0.7}) == 2


def test_a_replay_of_a_sampled_call_fails_with_the_reason() -> None:
    cache = FingerprintCache({}, "headless-replay")
    with pytest.raises(ReplayDivergenceError, match="not deterministic"):
        cache.get_or_call({**CALL, "temperature": 1}, lambda: pytest.fail("called"))
    assert cache.stats.ineligible == 1


# -- time to live, and the size bound --------------------------------------------------------------


def test_an_entry_that_is_too_old_is_not_served_and_goes(store: Any) -> None:
    clock = Clock()
    cache = FingerprintCache(store, "interactive", ttl=10, clock=clock)
    cache.put(CALL, 1)
    clock.now += 10
    assert cache.get(CALL) == 1
    clock.now += 0.5
    assert cache.get(CALL) is None
    assert (cache.stats.expired, cache.stats.entries, cache.stats.bytes) == (1, 0, 0)
    replay = FingerprintCache(store, "headless-replay", ttl=10, clock=clock)
    replay.put(CALL, 1)
    clock.now += 11
    with pytest.raises(ReplayDivergenceError):
        replay.get(CALL)


def test_removing_what_is_too_old_spares_what_another_process_wrote_meanwhile(store: Any) -> None:
    clock = Clock()
    writer = FingerprintCache(store, "interactive", clock=clock)
    reader = FingerprintCache(store, "interactive", ttl=10, clock=clock)
    writer.put(CALL, "old")
    clock.now += 11
    old = store.read(writer.fingerprint({**CALL, "runtime_mode": "interactive"}))
    writer.put(CALL, "fresh")
    store.remove(old)  # as a reader does that looked before the fresh one was there
    assert reader.get(CALL) == "fresh"
    store.remove(store.read(old.fingerprint))
    assert reader.get(CALL) is None


def test_what_was_used_longest_ago_goes_first(store: Any) -> None:
    cache = FingerprintCache(store, "interactive", max_bytes=30)
    calls = [{**CALL, "seed": seed} for seed in range(5)]
    for call in calls[:3]:
        cache.put(call, b"x" * 10)
    assert cache.get(calls[0]) is not None
    cache.put(calls[3], b"x" * 10)
    assert [cache.get(call) is not None for call in calls[:4]] == [True, False, True, True]
    assert (cache.stats.evicted, cache.stats.entries, cache.stats.bytes) == (1, 3, 30)
    cache.put(calls[4], b"x" * 100)  # more than the bound, and yet kept
    assert (cache.stats.evicted, cache.stats.entries, cache.stats.bytes) == (4, 1, 100)
    assert cache.get(calls[4]) == b"x" * 100


def test_which_entry_was_used_is_known_after_the_file_was_closed(tmp_path: Path) -> None:
    path = tmp_path / "answers.db"
    calls = [{**CALL, "seed": seed} for seed in range(3)]
    with FingerprintCache(path, "interactive") as cache:
        cache.put(calls[0], b"1")
        cache.put(calls[1], b"2")
        cache.get(calls[0])
    with FingerprintCache(path, "interactive", max_bytes=2) as cache:
        cache.put(calls[2], b"3")
        assert [cache.get(call) for call in calls] == [b"1", None, b"3"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ttl": 0}, "ttl: must be a finite"),
        ({"ttl": math.nan}, "ttl: must be a finite"),
        ({"ttl": 10**400}, "ttl: must be a finite"),
        ({"ttl": True}, "ttl: must be a number of seconds or None, not bool"),
        ({"max_bytes": 0}, "max_bytes: must be at least 1"),
        ({"max_bytes": 1.0}, "max_bytes: must be an int or None, not float"),
        ({"mode": "x"}, "mode: must be one of"),
        ({"policy": "x"}, "policy: must be one of strict-mode, cross-mode-readable"),
        ({"tenant_id": ""}, "tenantId: must not be empty"),
        ({"store": 1}, "store: must be a path, a Store or a MutableMapping, not int"),
        ({"config": 1}, "config: must be a FingerprintConfig, not int"),
    ],
)
def test_the_options_of_a_cache_are_checked(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=f"^{message}"):
        FingerprintCache(**{"store": {}, "mode": "interactive", **options})


# -- one call at a time ----------------------------------------------------------------------------


def test_of_many_threads_one_calls_and_the_others_are_served(store: Any) -> None:
    cache = FingerprintCache(store, "interactive")
    calls: list[int] = []
    barrier = threading.Barrier(8)
    answers: list[Any] = []

    def answer() -> dict[str, int]:
        calls.append(1)
        # The others have passed the barrier; none can leave before this one lands.
        return {"n": len(calls)}

    def ask() -> None:
        barrier.wait()
        answers.append(cache.get_or_call(CALL, answer))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert answers == [{"n": 1}] * 8
    assert len(calls) == 1
    assert (cache.stats.hits, cache.stats.misses) == (7, 1)


def test_of_many_tasks_one_calls_and_the_others_are_served() -> None:
    cache = FingerprintCache({}, "interactive")
    calls: list[int] = []

    async def answer() -> str:
        calls.append(1)
        await asyncio.sleep(0)
        return "once"

    async def ask_all() -> list[Any]:
        return await asyncio.gather(*(cache.get_or_call_async(CALL, answer) for _ in range(20)))

    assert asyncio.run(ask_all()) == ["once"] * 20
    assert len(calls) == 1


def test_after_a_failure_the_next_one_calls() -> None:
    cache = FingerprintCache({}, "interactive")
    attempts = itertools.count()

    async def answer() -> str:
        await asyncio.sleep(0)
        if next(attempts) == 0:
            raise ConnectionError
        return "second"

    async def ask_all() -> list[Any]:
        asked = (cache.get_or_call_async(CALL, answer) for _ in range(5))
        return await asyncio.gather(*asked, return_exceptions=True)

    first, *others = asyncio.run(ask_all())
    assert isinstance(first, ConnectionError)
    assert others == ["second"] * 4
    assert next(attempts) == 2
    with pytest.raises(ConnectionError):
        cache.get_or_call({**CALL, "seed": 1}, lambda: (_ for _ in ()).throw(ConnectionError()))
    assert cache.get_or_call({**CALL, "seed": 1}, lambda: "again") == "again"


def test_a_task_that_is_cancelled_leaves_the_others_alone() -> None:
    cache = FingerprintCache({}, "interactive")

    async def scenario() -> list[Any]:
        gate = asyncio.Event()

        async def answer() -> str:
            await gate.wait()
            return "kept"

        tasks = [asyncio.create_task(cache.get_or_call_async(CALL, answer)) for _ in range(4)]
        await asyncio.sleep(0)
        tasks[1].cancel()  # one that waits
        await asyncio.sleep(0)
        tasks[0].cancel()  # the one that calls
        await asyncio.sleep(0)
        gate.set()
        return await asyncio.gather(*tasks, return_exceptions=True)

    results = asyncio.run(scenario())
    assert [isinstance(result, asyncio.CancelledError) for result in results[:2]] == [True, True]
    assert results[2:] == ["kept", "kept"]


def test_a_call_within_itself_is_an_error_and_no_deadlock() -> None:
    cache = FingerprintCache({}, "interactive")
    with pytest.raises(PleachError, match="from within itself"):
        cache.get_or_call(CALL, lambda: cache.get_or_call(CALL, lambda: 1))

    async def again() -> Any:
        return await cache.get_or_call_async(CALL, again)

    async def blocking() -> Any:
        return cache.get_or_call(CALL, lambda: 1)

    for inner in (again, blocking):
        with pytest.raises(PleachError, match="from within itself"):
            asyncio.run(cache.get_or_call_async(CALL, inner))
    assert cache.get_or_call(CALL, lambda: "fine") == "fine"


def test_a_call_within_itself_is_found_in_tasks_and_threads_that_it_starts() -> None:
    cache = FingerprintCache({}, "interactive")

    async def one() -> int:
        return 1

    async def in_a_task() -> Any:
        return await asyncio.create_task(cache.get_or_call_async(CALL, one))

    async def in_a_thread() -> Any:
        return await asyncio.to_thread(cache.get_or_call, CALL, lambda: 1)

    for inner in (in_a_task, in_a_thread):
        with pytest.raises(PleachError, match="from within itself"):
            asyncio.run(asyncio.wait_for(cache.get_or_call_async(CALL, inner), 60))
    assert cache.get_or_call(CALL, lambda: "fine") == "fine"


def test_two_calls_that_ask_for_each_other_are_an_error_and_no_deadlock() -> None:
    caches = [FingerprintCache({}, "interactive") for _ in range(2)]
    barrier = threading.Barrier(2)
    failures: list[BaseException] = []

    def ask(number: int) -> None:
        def cross() -> Any:
            barrier.wait(60)
            return caches[1 - number].get_or_call({**CALL, "seed": 1 - number}, lambda: "other")

        try:
            caches[number].get_or_call({**CALL, "seed": number}, cross)
        except PleachError as error:
            failures.append(error)

    threads = [threading.Thread(target=ask, args=(n,), daemon=True) for n in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    # The one that would close the circle fails; the other one is served, or calls in its place.
    assert len(failures) == 1
    assert "from within itself" in str(failures[0])


def test_whoever_gave_up_waiting_is_not_taken_for_one_who_waits() -> None:
    cache = FingerprintCache({}, "interactive")
    other = {**CALL, "seed": 1}

    async def scenario() -> list[Any]:
        gate, has_given_up = asyncio.Event(), asyncio.Event()

        async def never_mind() -> str:
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(cache.get_or_call_async(other, waits), 0.01)
            has_given_up.set()
            await gate.wait()
            return "first"

        async def waits() -> str:
            await has_given_up.wait()
            gate.set()
            return f"after {await cache.get_or_call_async(CALL, never_mind)}"

        second = asyncio.create_task(cache.get_or_call_async(other, waits))
        await asyncio.sleep(0)
        return [await cache.get_or_call_async(CALL, never_mind), await second]

    assert asyncio.run(asyncio.wait_for(scenario(), 60)) == ["first", "after first"]


def test_an_answer_that_cannot_be_kept_is_in_the_error() -> None:
    class Full(MemoryStore):
        def write(self, entry: Any, max_bytes: int | None) -> int:
            raise StoreFullError("there is no room")

    cache = FingerprintCache(Full(), "interactive")
    with pytest.raises(StoreFullError) as caught:
        cache.get_or_call(CALL, lambda: "dear")
    assert caught.value.value == "dear"
    assert cache.stats.writes == 0


# -- one file for many threads and processes -------------------------------------------------------


def test_threads_share_a_file(tmp_path: Path) -> None:
    failures: list[BaseException] = []
    with FingerprintCache(tmp_path / "answers.db", "interactive") as cache:

        def work(name: str) -> None:
            try:
                for number in range(50):
                    cache.put(call_of(name, number), number)
                    assert cache.get(call_of(name, number)) == number
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(str(i),)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert failures == []
        assert cache.stats.entries == 200


def hammer(path: Path, name: str, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, str(HELPER), "hammer", str(path), name, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no kill -9")
def test_what_was_acknowledged_outlives_kill_9_beside_another_process(tmp_path: Path) -> None:
    path = tmp_path / "answers.db"
    survivor, victim = hammer(path, "survivor", 6_000), hammer(path, "victim", 10**9)
    assert victim.stdout is not None
    acknowledged = list(itertools.islice(victim.stdout, 4_000))
    victim.send_signal(signal.SIGKILL)
    acknowledged += [line for line in victim.stdout if line.endswith("\n")]
    victim.stdout.close()
    victim.wait(60)
    output, _ = survivor.communicate(timeout=120)
    assert survivor.returncode == 0
    assert len(output.splitlines()) == 6_000
    with FingerprintCache(path, "interactive") as cache:
        for name, lines in (("survivor", output.splitlines()), ("victim", acknowledged)):
            for number in map(int, lines):
                assert cache.get(call_of(name, number)) == {"n": number}
        # At most one entry more: that which was being acknowledged.
        extra = cache.stats.entries - len(acknowledged) - 6_000
        assert extra in (0, 1)
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert (
            connection.execute("SELECT entries, bytes FROM total").fetchone()
            == connection.execute("SELECT count(*), sum(size) FROM entry").fetchone()
        )
    connection.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_uses_the_file_with_a_connection_of_its_own(tmp_path: Path) -> None:
    with FingerprintCache(tmp_path / "answers.db", "interactive") as cache:
        cache.put(CALL, "parent")
        child = os.fork()
        if child == 0:
            kept = cache.get(CALL) == "parent" and cache.put({**CALL, "seed": 1}, "child")
            cache.close()
            os._exit(0 if kept else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert cache.get({**CALL, "seed": 1}) == "child"
        cache.put({**CALL, "seed": 2}, "parent")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_no_process_is_forked_while_another_thread_is_inside_sqlite(tmp_path: Path) -> None:
    # Whose locks the child would find held for ever.
    with FingerprintCache(tmp_path / "answers.db", "interactive") as cache:
        store = cache._store
        assert isinstance(store, SQLiteStore)
        is_inside, has_left = threading.Event(), threading.Event()

        def read() -> None:
            with store.file.reading():
                is_inside.set()
                time.sleep(0.2)
                has_left.set()

        thread = threading.Thread(target=read)
        thread.start()
        assert is_inside.wait(60)
        child = os.fork()
        if child == 0:
            os._exit(0 if has_left.is_set() and cache.put(CALL, "child") else 1)
        thread.join()
        assert os.waitpid(child, 0)[1] == 0
        assert cache.get(CALL) == "child"


# -- files that are none, damage, and no room ------------------------------------------------------


def test_a_file_of_something_else_is_refused_and_left_alone(tmp_path: Path) -> None:
    foreign, text = tmp_path / "foreign.db", tmp_path / "text.db"
    with sqlite3.connect(foreign) as connection:
        connection.execute("CREATE TABLE entry (a)")
    connection.close()
    text.write_text("this is no database, and longer than a header\n" * 100)
    before = foreign.read_bytes(), text.read_bytes()
    with pytest.raises(ForeignStoreError, match=r"foreign\.db is an SQLite file of something else"):
        SQLiteStore(foreign)
    with pytest.raises(CorruptStoreError, match=r"text\.db is damaged or no SQLite file"):
        SQLiteStore(text)
    assert (foreign.read_bytes(), text.read_bytes()) == before
    with pytest.raises(StoreError, match=r"no_folder.x\.db: unable to open"):
        SQLiteStore(tmp_path / "no_folder" / "x.db")


def test_many_processes_may_open_one_new_file_at_once(tmp_path: Path) -> None:
    # Each sees the file empty, being set up or ready, and never takes it for somebody else's.
    command = [sys.executable, str(HELPER), "open", str(tmp_path), "30"]
    running = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    for process in running:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in running:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    assert [process.communicate(timeout=120)[0] for process in running] == [""] * 4


def test_a_file_that_is_being_set_up_is_seen_as_of_one_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "answers.db"
    ready = tmp_path / "ready.db"
    SQLiteStore(ready).close()
    connect = sqlite3.connect

    class Interrupted(sqlite3.Connection):
        """Between two of whose questions another connection sets the file up, if it may."""

        def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
            if statement == "PRAGMA user_version":
                source, target = connect(ready), connect(path, timeout=0)
                with contextlib.suppress(sqlite3.OperationalError):
                    target.executescript("".join(f"{line}\n" for line in source.iterdump()))
                source.close()
                target.close()
            return super().execute(statement, *values)

    monkeypatch.setattr(sqlite3, "connect", functools.partial(connect, factory=Interrupted))
    SQLiteStore(path).close()


def test_a_file_of_a_later_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "answers.db"
    SQLiteStore(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 2")
    connection.close()
    with pytest.raises(ForeignStoreError, match="has schema version 2; this package has 1"):
        SQLiteStore(path)


def test_a_damaged_file_is_a_named_error(tmp_path: Path) -> None:
    path = tmp_path / "answers.db"
    with FingerprintCache(path, "interactive") as cache:
        for seed in range(200):
            cache.put({**CALL, "seed": seed}, b"x" * 1_000)
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)  # all but the page that has the schema
    path.write_bytes(data)
    with (
        pytest.raises(CorruptStoreError, match="is damaged"),
        FingerprintCache(path, "interactive") as cache,
    ):
        cache.get({**CALL, "seed": 7})


@pytest.mark.parametrize(
    "data",
    [b"", b"{}\n", b"[]\nx", b"\xff\n", b'{"v":2}\n', b"[" * 100_000 + b"\n", "text", 1],
    ids=str,
)
def test_a_damaged_entry_of_a_mapping_is_a_named_error(data: Any) -> None:
    kept: dict[str, Any] = {}
    cache = FingerprintCache(kept, "interactive")
    kept[cache.fingerprint(CALL).hash] = data
    with pytest.raises(CorruptStoreError):
        cache.get(CALL)


@pytest.mark.parametrize(
    "change",
    [
        *("value = '{'", "value = CAST('{' AS BLOB)", "created = 'x'", "metadata = '{\"x\":1}'"),
        "metadata = printf('%.*c', 100000, '[')",
    ],
)
def test_a_damaged_row_is_a_named_error(tmp_path: Path, change: str) -> None:
    path = tmp_path / "answers.db"
    with FingerprintCache(path, "interactive") as cache:
        cache.put(CALL, {"a": 1})
        with sqlite3.connect(path) as connection:
            connection.execute(f"UPDATE entry SET {change}")
        connection.close()
        with pytest.raises(CorruptStoreError):
            cache.get(CALL)


def test_a_damaged_fingerprint_is_a_named_error(tmp_path: Path) -> None:
    path = tmp_path / "answers.db"
    with FingerprintCache(path, "interactive") as cache:
        cache.put(CALL, b"x")
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE entry SET fingerprint = printf('%.*c', 100000, '[')")
    with contextlib.closing(SQLiteStore(path)) as store, pytest.raises(CorruptStoreError):
        list(store.recent("interactive", None, 1))


@pytest.mark.parametrize(
    "change",
    ["DELETE FROM total", "UPDATE total SET bytes = 'x'", "UPDATE entry SET size = 'x'"],
)
def test_damaged_sizes_are_a_named_error(tmp_path: Path, change: str) -> None:
    path = tmp_path / "answers.db"
    with FingerprintCache(path, "interactive", max_bytes=10) as cache:
        cache.put(CALL, b"x" * 8)
        with contextlib.closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE total SET bytes = 8")
            connection.execute(change)
        with pytest.raises(CorruptStoreError, match="the sizes of the entries are damaged"):
            _ = cache.stats, cache.put({**CALL, "seed": 1}, b"x" * 8)


def test_a_message_of_sqlite_that_is_no_text_is_a_named_error(tmp_path: Path) -> None:
    path = tmp_path / "answers.db"
    FingerprintCache(path, "interactive").close()
    data = path.read_bytes()
    path.write_bytes(
        data.replace(b"CREATE INDEX entry_by_use ON", b"CREATE IND\x98X entry_by_use ON")
    )
    with pytest.raises(CorruptStoreError, match="is damaged"):
        SQLiteStore(path)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no limit on the size of files")
def test_a_file_that_may_not_grow_is_a_named_error_and_leaves_no_part_of_the_entry(
    tmp_path: Path,
) -> None:
    path = tmp_path / "answers.db"
    command = [sys.executable, str(HELPER), "fill", str(path)]
    output = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    assert output.split("\n")[:2] == ["StoreError", "None 1 1000"]
    with FingerprintCache(path, "interactive") as cache:
        assert cache.get(call_of("kept", 0)) == b"x" * 1_000
        assert cache.put(call_of("large", 0), b"x" * 1_000_000)


def test_pages_that_run_out_are_a_named_error_and_leave_no_part_of_the_entry(
    tmp_path: Path,
) -> None:
    store = SQLiteStore(tmp_path / "answers.db")
    with store.file.reading() as connection:
        connection.execute("PRAGMA max_page_count = 60")
    with FingerprintCache(store, "interactive") as cache:
        cache.put(CALL, b"small")
        with pytest.raises(StoreFullError, match="there is no room"):
            cache.put({**CALL, "seed": 1}, b"x" * 1_000_000)
        assert cache.get({**CALL, "seed": 1}) is None
        assert (cache.stats.entries, cache.stats.bytes) == (1, 5)
        assert cache.put({**CALL, "seed": 2}, b"small")


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    cache = FingerprintCache(tmp_path / "answers.db", "interactive")
    cache.close()
    with pytest.raises(StoreError, match="was closed"):
        cache.get(CALL)


def test_a_store_is_closed_even_if_what_was_used_cannot_be_written(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path / "answers.db")
    cache = FingerprintCache(store, "interactive")
    cache.put(CALL, 1)
    assert cache.get(CALL) == 1
    with contextlib.closing(sqlite3.connect(tmp_path / "answers.db")) as connection:
        connection.execute("DROP TABLE entry")
    with pytest.raises(CorruptStoreError, match="no such table"):
        cache.close()
    assert store.file.is_closed
    cache.close()  # a second time is no error


# -- the ledger ------------------------------------------------------------------------------------


FAKE = dataclasses.replace(compute_fingerprint(CALL, runtime_mode="interactive"), model="x")


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    clock = Clock()
    ledger = Ledger(tmp_path / "answers.db", clock=clock)
    for number in range(6):
        clock.now += 1
        call = FingerprintInput(
            **{**CALL, "seed": number % 2, "tenant_id": "ab"[number // 3]},
            runtime_mode="interactive",
        )
        metadata = FingerprintMetadata(session_id=f"s{number % 3}")
        outcome: Any = [None, "miss", "hit"][number % 3]
        ledger.append(compute_fingerprint(call), metadata, {"tokens": number}, outcome=outcome)
    yield ledger
    ledger.close()


def test_rows_are_found_by_what_is_asked_for(ledger: Ledger) -> None:
    def found(**asked: Any) -> list[int]:
        return [row.usage["tokens"] for row in ledger.rows(**asked)]

    rows = ledger.rows()
    assert found() == [0, 1, 2, 3, 4, 5]
    assert found(tenant_id="a") == [0, 1, 2]
    assert found(session_id="s1") == [1, 4]
    assert found(fingerprint=rows[0].fingerprint) == [0, 2]
    assert found(fingerprint=rows[0].fingerprint.hash, session_id="s2") == [2]
    assert found(since=rows[2].at, until=rows[4].at) == [2, 3]
    assert found(limit=2) == [0, 1]
    assert (rows[1].outcome, rows[1].metadata.session_id) == ("miss", "s1")


def test_calls_of_one_fingerprint_are_grouped_the_most_repeated_first(ledger: Ledger) -> None:
    groups = ledger.repeats()
    assert [(g.count, g.fingerprint.tenant_id, g.fingerprint.seed) for g in groups] == [
        (2, "a", 0),
        (2, "b", 1),
        (1, "a", 1),
        (1, "b", 0),
    ]
    assert groups[0].outcomes == {"hit": 1}
    assert groups[0].last - groups[0].first == 2
    assert len(ledger.repeats(tenant_id="a", limit=1)) == 1
    assert ledger.outcomes() == {"interactive": {"miss": 2, "hit": 2}}


def test_a_cache_takes_every_call_down_in_the_ledger(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path / "answers.db")
    ledger = Ledger(store)
    with FingerprintCache(store, "interactive", ledger=ledger) as cache:
        for temperature in (0, 0, 0.5):
            cache.get_or_call({**CALL, "temperature": temperature, "chat_id": "c"}, lambda: 1)
        rows = ledger.rows()
        assert [row.outcome for row in rows] == ["miss", "hit", "ineligible"]
        assert {row.metadata.chat_id for row in rows} == {"c"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"fingerprint": "x"}, "fingerprint: must be a Fingerprint, not str"),
        ({"metadata": {}}, "metadata: must be a FingerprintMetadata, not dict"),
        ({"usage": [1]}, "usage: must be a mapping, not list"),
        ({"usage": {"a": math.nan}}, "usage.a: must be a finite number"),
        ({"usage": {"a": object()}}, "usage.a: must be of JSON types, not object"),
        ({"usage": {"a": (1,)}}, "usage.a: would not come back as tuple"),
        ({"usage": {1: 2}}, "usage: has a key of type int, not str"),
        ({"fingerprint": FAKE}, "hash: is not that of the fields"),
        ({"outcome": "x"}, "outcome: must be one of hit, miss, ineligible"),
    ],
)
def test_what_is_no_row_is_refused(ledger: Ledger, change: dict[str, Any], message: str) -> None:
    row = {"fingerprint": compute_fingerprint(CALL, runtime_mode="interactive"), **change}
    with pytest.raises(InputError, match=f"^{message}"):
        ledger.append(**row)
    assert len(ledger.rows()) == 6


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"fingerprint": 5}, "fingerprint: must be a str, not int"),
        ({"tenant_id": 5}, "tenantId: must be a str, not int"),
        ({"session_id": ""}, "sessionId: must not be empty"),
        ({"since": "x"}, "since: must be a number of seconds, not str"),
        ({"until": math.nan}, "until: must be a number"),
        ({"limit": "x"}, "limit: must be an int or None, not str"),
        ({"limit": -1}, "limit: must be at least 0"),
    ],
)
def test_what_is_no_question_is_refused(
    ledger: Ledger, asked: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=f"^{message}"):
        ledger.rows(**asked)
    if "fingerprint" not in asked:
        with pytest.raises(InputError, match=f"^{message}"):
            ledger.repeats(**asked)


def test_all_of_time_may_be_asked_for(ledger: Ledger) -> None:
    assert len(ledger.rows(since=-math.inf, until=math.inf, limit=10**30)) == 6
    assert ledger.rows(since=10**400) == ledger.rows(limit=0) == []


@pytest.mark.parametrize(
    ("path", "store"), [("", False), (":memory:", False), ("a\0b", False), (b"answers.db", True)]
)
def test_a_path_must_be_that_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: Any, store: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    if store:
        SQLiteStore(path).close()
        assert (tmp_path / "answers.db").exists()
    else:
        with pytest.raises(InputError, match=r"^path: must be that of a file"):
            SQLiteStore(path)


@pytest.mark.parametrize(
    ("now", "message"),
    [
        (math.nan, "clock: must return a finite number"),
        (math.inf, "clock: must return a finite number"),
        (10**400, "clock: must return a finite number"),
        ("x", "clock: must be a function that returns a number, not str"),
        (True, "clock: must be a function that returns a number, not bool"),
    ],
)
def test_a_clock_tells_seconds(store: Any, now: Any, message: str) -> None:
    cache = FingerprintCache(store, "interactive", clock=lambda: now)
    with pytest.raises(InputError, match=f"^{message}"):
        cache.put(CALL, 1)
    assert cache.stats.entries == 0


def test_what_is_wrong_with_the_identity_costs_no_call(store: Any) -> None:
    cache = FingerprintCache(store, "interactive")
    with pytest.raises(InputTypeError, match=r"^chatId: must be a str, not int"):
        cache.get_or_call({**CALL, "chat_id": 5}, lambda: pytest.fail("called"))
    with pytest.raises(InputTypeError, match=r"^chatId: must be a str, not int"):
        asyncio.run(cache.get_or_call_async({**CALL, "chat_id": 5}, lambda: pytest.fail("called")))
    assert cache.get_or_call(CALL, lambda: 1) == 1


def test_a_ledger_needs_a_file() -> None:
    with pytest.raises(InputTypeError, match=r"^file: must be a path or an SQLiteStore, not dict"):
        Ledger({})  # type: ignore[arg-type]
