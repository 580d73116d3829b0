"""Incidents over time, and the monitor that makes them in a running process."""

from __future__ import annotations

import asyncio
import concurrent.futures
import functools
import inspect
import json
import logging
import threading
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

import pytest

from overturn_fast.shape import (
    Comparison,
    DriftMonitor,
    Incident,
    Incidents,
    Limits,
    Policy,
    ShapeStats,
    baseline,
    compare,
    watch_shape,
)

HOUR = 3600.0


def of(*observed: tuple[Any, int], tool: str = "t") -> ShapeStats:
    stats = ShapeStats(tool)
    for response, count in observed:
        stats.observe(response, count=count)
    return stats


BEFORE = {"a": 1, "b": 2, "c": {"d": 3}}
MIGRATED = {"a": "1", "b2": 2, "c": [3]}


def outcome(response: Any, tool: str = "t", count: int = 100) -> Comparison:
    return compare(of((BEFORE, 500), tool=tool), of((response, count), tool=tool))


# -- incidents -------------------------------------------------------------------------------------


def test_one_migration_is_one_incident() -> None:
    incidents = Incidents()
    (incident,) = incidents.update(outcome(MIGRATED), 10 * HOUR)
    assert len(incident.events) == 4
    assert (incident.state, incident.severity) == ("new", "breaking")


def test_what_changes_within_the_hour_joins_and_later_does_not() -> None:
    incidents = Incidents()
    incidents.update(outcome(BEFORE | {"a": "1"}), 10 * HOUR)
    (joined,) = incidents.update(outcome(BEFORE | {"a": "1", "b": "2"}), 10.5 * HOUR)
    assert len(joined.events) == 2
    changed = incidents.update(outcome(MIGRATED | {"b": "2"}), 14 * HOUR)
    assert [len(incident.events) for incident in changed] == [2]
    assert [incident.state for incident in incidents.all()] == ["active", "new"]


def test_an_incident_goes_through_its_states() -> None:
    incidents = Incidents(resolve_after=2 * HOUR)
    steps: list[tuple[float, Any, list[str]]] = [
        (10, MIGRATED, ["new"]),
        (11, MIGRATED, ["active"]),
        (12, MIGRATED, []),
        (13, BEFORE, ["recovering"]),
        (13.5, MIGRATED, ["active"]),
        (14, BEFORE, ["recovering"]),
        (15, BEFORE, []),
        (16, BEFORE, ["resolved"]),
        (17, BEFORE, []),
        (18, MIGRATED, ["reopened"]),
        (19, MIGRATED, ["active"]),
    ]
    for hours, response, states in steps:
        changed = incidents.update(outcome(response), hours * HOUR)
        assert [incident.state for incident in changed] == states, hours
    assert len(incidents.all()) == 1


def test_too_few_responses_change_no_state() -> None:
    incidents = Incidents()
    incidents.update(outcome(MIGRATED), 10 * HOUR)
    assert incidents.update(outcome(BEFORE, count=3), 20 * HOUR) == []
    assert [incident.state for incident in incidents.all()] == ["new"]


def test_an_undecided_path_keeps_its_incident() -> None:
    before = of(({"items": [{"a": 1}]}, 500))
    incidents = Incidents()
    incidents.update(compare(before, of(({"items": [{"a": "1"}]}, 100))), 10 * HOUR)
    assert incidents.update(compare(before, of(({"items": []}, 100))), 20 * HOUR) == []
    changed = incidents.update(compare(before, of(({"items": [{"a": 1}]}, 100))), 21 * HOUR)
    assert [incident.state for incident in changed] == ["resolved"]


def test_tools_have_incidents_of_their_own() -> None:
    incidents = Incidents()
    for tool in ("x", "y"):
        incidents.update(outcome(MIGRATED, tool), 10 * HOUR)
    assert [incident.tool for incident in incidents.open("y")] == ["y"]
    incidents.update(outcome(BEFORE, "x"), 20 * HOUR)
    assert [incident.state for incident in incidents.all()] != ["resolved", "resolved"]
    assert [incident.state for incident in incidents.open()] == ["new"]


def test_a_resolved_incident_is_forgotten_in_time() -> None:
    incidents = Incidents(resolve_after=HOUR, forget_after=24 * HOUR)
    incidents.update(outcome(MIGRATED), 10 * HOUR)
    incidents.update(outcome(BEFORE), 12 * HOUR)
    assert len(incidents.all()) == 1
    incidents.update(outcome(BEFORE), 37 * HOUR)
    assert incidents.all() == []


def test_incidents_are_bounded_whatever_a_tool_returns() -> None:
    incidents = Incidents()
    for hour in range(0, 500, 2):  # something else is new each time, and never goes
        fields = {
            f"f{chr(97 + i % 26)}_{chr(97 + i // 26 % 26)}": 1 for i in range(hour, hour + 50)
        }
        incidents.update(outcome(BEFORE | fields), hour * HOUR)
        incidents.update(outcome(BEFORE | {f"g{hour}": "x"}), (hour + 1) * HOUR)
    assert len(incidents.open()) <= 100
    assert len(incidents.all()) <= 200
    again = Incidents()
    again.loads(incidents.dumps())
    assert again.dumps() == incidents.dumps()


def test_an_incident_holds_a_thousand_changes() -> None:
    def response(value: Any) -> dict[str, Any]:
        names = [f"f_{first}{second}" for first in "abcde" for second in "abcdefghij"]
        return {f"g_{letter}": dict.fromkeys(names, value) for letter in "abcdefghijklmnopqrstuvwx"}

    comparison = compare(of((response(1), 500)), of((response("1"), 100)))
    assert len(list(comparison)) == 1200
    incidents = Incidents()
    (incident,) = incidents.update(comparison, 10 * HOUR)
    assert len(incident.events) == 1000
    kept = list(incident.events)
    incidents.update(comparison, 11 * HOUR)
    assert list(incident.events) == kept


def test_incidents_survive_their_text() -> None:
    incidents = Incidents()
    incidents.update(outcome(MIGRATED), 10 * HOUR)
    again = Incidents()
    again.loads(incidents.dumps())
    assert again.dumps() == incidents.dumps()
    assert [one.state for one in again.update(outcome(MIGRATED), 11 * HOUR)] == ["active"]


def test_the_same_comparisons_make_the_same_incidents() -> None:
    def run() -> str:
        incidents = Incidents()
        for hour, response in enumerate((MIGRATED, BEFORE, MIGRATED)):
            incidents.update(outcome(response), (10 + hour) * HOUR)
        return incidents.dumps()

    assert run() == run()


@pytest.mark.parametrize(
    "damage",
    [
        lambda d: d.update(version=2),
        lambda d: d["incidents"][0].pop("tool"),
        lambda d: d["incidents"][0].update(state="over"),
        lambda d: d["incidents"][0].update(opened_at="now"),
        lambda d: d["incidents"][0]["events"][0].update(severity="fatal"),
        lambda d: d["incidents"][0].update(opened_at=10**30),
        lambda d: d["incidents"][0].update(seen_at=True),
        lambda d: d["incidents"][0].update(id=7),
        lambda d: d["incidents"][0].update(tool="other"),
        lambda d: d["incidents"][0].update(events=[]),
        lambda d: d["incidents"][0]["events"][0].pop("kind"),
        lambda d: d["incidents"][0]["events"][0].update(kind="other"),
        lambda d: d["incidents"][0]["events"][0].update(path="no path"),
        lambda d: d["incidents"][0]["events"][0].update(path=["$"]),
        lambda d: d["incidents"][0]["events"][0].update(before=None),
        lambda d: d["incidents"][0]["events"][0].update(before_rate="1"),
        lambda d: d["incidents"][0]["events"][0].update(after_rate=1.5),
        lambda d: d["incidents"][0]["events"][0].update(first_seen=5),
        lambda d: d["incidents"][0]["events"][0].update(first_seen="today"),
        lambda d: d["incidents"][0]["events"][0].update(current_observations=None),
        lambda d: d["incidents"][0]["events"][0].update(baseline_observations=-1),
        lambda d: d["incidents"][0]["events"][0].update(hint=1),
        lambda d: d["incidents"][0]["events"][0].update(tool=["t"]),
        lambda d: d.update(incidents=7),
        lambda d: d.update(incidents=[7]),
    ],
)
def test_damaged_incidents_are_refused(damage: Any) -> None:
    incidents = Incidents()
    incidents.update(outcome(MIGRATED), 10 * HOUR)
    document = json.loads(incidents.dumps())
    damage(document)
    again = Incidents()
    with pytest.raises(ValueError, match="no incidents"):
        again.loads(json.dumps(document))
    assert again.all() == []


# -- monitor ---------------------------------------------------------------------------------------


class Clock:
    """A time that passes when told to."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def test_a_monitor_learns_then_compares_window_by_window() -> None:
    seen: list[tuple[str, int]] = []
    monitor = DriftMonitor(
        "t", learn=100, window=50, logger=None, clock=Clock(),
        on_change=lambda incident: seen.append((incident.state, len(incident.events))),
    )  # fmt: skip
    for response, count in ((BEFORE, 100), (BEFORE, 50), (MIGRATED, 50), (MIGRATED, 49)):
        for _ in range(count):
            monitor.observe(response)
    assert seen == [("new", 4)]
    state = monitor.state
    assert (state.learned, state.waiting, state.compared, state.refused) == (100, 49, 2, 0)
    monitor.observe(MIGRATED)  # the second window with the change, at the same time
    assert seen == [("new", 4)]


def test_a_window_is_compared_when_it_is_old() -> None:
    clock, seen = Clock(), []
    monitor = DriftMonitor(
        "t", of((BEFORE, 500)), window=1000, max_age=60.0, clock=clock, logger=None,
        on_change=seen.append,
    )  # fmt: skip
    for _ in range(30):
        monitor.observe(MIGRATED)
    assert seen == []
    clock.now += 61
    monitor.observe(MIGRATED)
    assert len(seen) == 1


def test_a_window_is_as_old_as_its_first_response_that_counts() -> None:
    clock = Clock()
    monitor = DriftMonitor("t", of((BEFORE, 500)), max_age=60.0, clock=clock, logger=None)
    monitor.observe({(1, 2): 3})  # which has no shape
    clock.now += 59
    for _ in range(20):
        monitor.observe(BEFORE)
    clock.now += 59
    monitor.observe({(1, 2): 3})
    monitor.observe(BEFORE)
    assert (monitor.state.compared, monitor.state.waiting) == (0, 21)
    clock.now += 1
    monitor.observe(BEFORE)
    assert (monitor.state.compared, monitor.state.waiting) == (1, 0)


def test_a_check_does_not_wait() -> None:
    monitor = DriftMonitor("t", of((BEFORE, 500)), logger=None)
    for _ in range(20):
        monitor.observe(MIGRATED)
    comparison = monitor.check()
    assert comparison is not None
    assert comparison.worst == "breaking"
    assert monitor.state.waiting == 0
    assert DriftMonitor("t", logger=None).check() is None


class Rude(dict):  # type: ignore[type-arg]
    def items(self) -> Any:
        raise RuntimeError("secret")


def test_nothing_is_raised_into_the_tool() -> None:
    circle: list[Any] = []
    circle.append(circle)

    def fail(_: Incident) -> None:
        raise RuntimeError("secret")

    monitor = DriftMonitor("t", of((BEFORE, 500)), window=20, on_change=fail, logger=None)
    for bad in (circle, Rude(a=1), {(1, 2): 3}):
        monitor.observe(bad)
    for _ in range(20):
        monitor.observe(MIGRATED)
    state = monitor.state
    assert (state.refused, state.failures, state.last_failure) == (3, 1, "RuntimeError")

    def broken() -> float:
        raise OSError

    DriftMonitor("t", clock=broken, logger=None).observe({})


def test_what_changes_is_logged_with_its_severity(caplog: pytest.LogCaptureFixture) -> None:
    monitor = DriftMonitor("t", of((BEFORE, 500)), window=20)
    with caplog.at_level(logging.INFO, "overturn_fast.drift"):
        for response in (MIGRATED, BEFORE):
            for _ in range(20):
                monitor.observe(response)
    assert [record.levelname for record in caplog.records] == ["ERROR", "INFO"]
    assert "a changed number -> string" in caplog.text


def test_any_number_of_threads_may_observe() -> None:
    monitor = DriftMonitor("t", of((BEFORE, 500)), window=97, logger=None)

    def observe() -> None:
        for _ in range(250):
            monitor.observe(BEFORE)

    threads = [threading.Thread(target=observe) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    state = monitor.state
    assert (state.failures, state.refused) == (0, 0)
    assert state.compared * 97 + state.waiting == 2000


def test_windows_can_be_compared_elsewhere() -> None:
    threads: list[int] = []
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        monitor = DriftMonitor(
            "t", of((BEFORE, 500)), window=20, logger=None, executor=pool, clock=Clock(),
            on_change=lambda _: threads.append(threading.get_ident()),
        )  # fmt: skip
        for _ in range(20):
            monitor.observe(MIGRATED)
    assert len(threads) == 1
    assert threads[0] != threading.get_ident()
    assert monitor.state.compared == 1
    for _ in range(20):  # the pool is closed by now
        monitor.observe(BEFORE)
    assert monitor.state.compared == 2
    assert threads[1] == threading.get_ident()


def test_windows_do_not_queue_up() -> None:
    is_free = threading.Event()
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        pool.submit(is_free.wait, 60)
        monitor = DriftMonitor("t", of((BEFORE, 500)), window=20, logger=None, executor=pool)
        for _ in range(1000):
            monitor.observe(MIGRATED)
        assert (monitor.state.compared, monitor.state.waiting) == (0, 980)
        is_free.set()
    monitor.observe(MIGRATED)
    assert (monitor.state.compared, monitor.state.waiting) == (2, 0)


def test_a_window_that_was_never_compared_is_a_failure_and_the_next_one_is_compared() -> None:
    is_free = threading.Event()
    pool = concurrent.futures.ThreadPoolExecutor(1)
    pool.submit(is_free.wait, 60)
    monitor = DriftMonitor("t", of((BEFORE, 500)), window=20, logger=None, executor=pool)
    for _ in range(20):
        monitor.observe(MIGRATED)
    pool.shutdown(wait=False, cancel_futures=True)
    is_free.set()
    assert (monitor.state.compared, monitor.state.failures) == (0, 1)
    assert monitor.state.last_failure == "CancelledError"
    for _ in range(20):
        monitor.observe(MIGRATED)
    assert (monitor.state.compared, monitor.state.waiting) == (1, 0)


def test_an_executor_that_takes_nothing_is_not_asked_again() -> None:
    class Refusing(concurrent.futures.Executor):
        def submit(self, *_: object, **__: object) -> NoReturn:
            raise OSError("no thread")

    monitor = DriftMonitor("t", of((BEFORE, 500)), window=20, logger=None, executor=Refusing())
    for _ in range(60):
        monitor.observe(MIGRATED)
    assert (monitor.state.compared, monitor.state.failures) == (3, 0)


def test_a_failure_elsewhere_is_counted() -> None:
    def fail(_: object) -> None:
        raise RuntimeError("secret")

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        monitor = DriftMonitor(
            "t", of((BEFORE, 500)), window=20, logger=None, executor=pool, on_change=fail
        )
        for _ in range(20):
            monitor.observe(MIGRATED)
    assert (monitor.state.failures, monitor.state.last_failure) == (1, "RuntimeError")


def test_an_observation_may_lead_to_another_one() -> None:
    monitor = DriftMonitor("t", of(({"a": 1}, 500)), window=20, logger=None)

    class Calling(Mapping[str, int]):
        def __getitem__(self, key: str) -> int:
            monitor.observe({"a": 1})
            return 1

        def __iter__(self) -> Iterator[str]:
            return iter(["a"])

        def __len__(self) -> int:
            return 1

    def observe() -> None:
        for _ in range(30):
            monitor.observe(Calling())

    thread = threading.Thread(target=observe, daemon=True)
    thread.start()
    thread.join(60)
    assert not thread.is_alive(), "it waits for itself"
    state = monitor.state
    assert (state.compared, state.refused, state.failures) == (3, 0, 0)


def test_what_is_passed_on_does_not_change_any_more() -> None:
    seen: list[Incident] = []
    monitor = DriftMonitor("t", of((BEFORE, 500)), window=20, logger=None, on_change=seen.append)
    for response in (MIGRATED, BEFORE):
        for _ in range(20):
            monitor.observe(response)
    assert [(one.state, len(one.events)) for one in seen] == [("new", 4), ("recovering", 4)]
    seen[1].events.clear()
    assert len(monitor.incidents.all()[0].events) == 4


def test_windows_look_at_strings_as_the_baseline_does() -> None:
    key = b"a key of 16 bytes or more"
    for formats, enum_key in ((True, None), (False, key), (True, key)):
        known = ShapeStats("t", formats=formats, enum_key=enum_key)
        known.observe({"status": "on"}, count=500)
        seen: list[Incident] = []
        monitor = DriftMonitor(
            "t", known, window=20, logger=None, on_change=seen.append, enum_key=enum_key
        )
        for _ in range(20):
            monitor.observe({"status": "paused"})
        assert (monitor.state.compared, monitor.state.failures) == (1, 0)
        assert len(seen) == (enum_key is not None)
    with pytest.raises(ValueError, match="by a key, which is needed"):
        DriftMonitor("t", known)
    with pytest.raises(ValueError, match="by another key"):
        DriftMonitor("t", known, enum_key=b"another key of 16 bytes")
    seen = []
    monitor = DriftMonitor(
        "t", learn=60, window=20, logger=None, on_change=seen.append, enum_key=key
    )
    for status, count in (("on", 60), ("paused", 20)):
        for _ in range(count):
            monitor.observe({"status": status})
    assert [one.severity for one in seen] == ["warning"]


def test_a_monitor_keeps_its_own_baseline() -> None:
    stats = of((BEFORE, 500))
    monitor = DriftMonitor("t", stats, logger=None)
    stats.observe({"x": 1})
    known = monitor.baseline
    assert known is not None
    assert known.observations == 500
    saved = baseline.dumps(known)
    known.observe({"x": 1})
    assert monitor.baseline is not None
    assert baseline.dumps(monitor.baseline) == saved


@pytest.mark.parametrize(
    "options",
    [
        {"baseline": ShapeStats("other")},
        {"baseline": ShapeStats("t"), "limits": Limits(max_paths=7)},
        {"learn": 0},
        {"window": 0},
    ],
)
def test_a_monitor_that_makes_no_sense_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"of other|of the tool|at least 1"):
        DriftMonitor("t", **options)


# -- decorator -------------------------------------------------------------------------------------


def test_a_watched_function_does_what_it_did() -> None:
    @watch_shape("pricing", learn=3, window=1, policy=Policy(min_baseline=1, min_current=1))
    def price(sku: str, *, net: bool = False) -> dict[str, Any]:
        """What something costs."""
        if sku == "":
            raise LookupError
        return {"sku": sku, "net": net}

    assert price("a", net=True) == {"sku": "a", "net": True}
    assert (price.__name__, price.__doc__) == ("price", "What something costs.")
    with pytest.raises(LookupError):
        price("")
    assert price.monitor.tool == "pricing"  # type: ignore[attr-defined]
    assert price.monitor.state.waiting == 1  # type: ignore[attr-defined]


def test_a_watched_coroutine_function_stays_one() -> None:
    @watch_shape
    async def search(query: str) -> list[str]:
        await asyncio.sleep(0)
        return [query]

    assert inspect.iscoroutinefunction(search)
    assert asyncio.run(search("x")) == ["x"]
    assert search.monitor.state.waiting == 1  # type: ignore[attr-defined]
    assert search.monitor.tool == "search"  # type: ignore[attr-defined]


def test_a_function_that_returns_a_coroutine_is_awaited() -> None:
    async def search(query: str) -> list[str]:
        return [query]

    class Tool:
        async def __call__(self, query: str) -> list[str]:
            return [query]

    for tool in (lambda query: search(query), functools.partial(search), Tool()):
        watched = watch_shape("search")(tool)
        assert asyncio.run(watched("x")) == ["x"]
        monitor = watched.monitor  # type: ignore[attr-defined]
        assert monitor.check() is None
        assert monitor.state.waiting == 1
        assert monitor._current.root.arrays == 1


def test_functions_may_share_a_monitor() -> None:
    monitor = DriftMonitor("t", logger=None)
    first = watch_shape(monitor=monitor)(lambda: 1)
    second = watch_shape(monitor=monitor)(lambda: 2)
    assert (first(), second()) == (1, 2)
    assert monitor.state.waiting == 2
    with pytest.raises(TypeError, match=r"^only a function can be watched, not int$"):
        watch_shape(monitor=monitor)(5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="of its own"):
        watch_shape("x", monitor=monitor)


def test_what_a_monitor_cannot_work_with_is_refused_at_once() -> None:
    with pytest.raises(TypeError, match=r"^baseline must be a ShapeStats, not int$"):
        DriftMonitor("t", 5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^on_change must be callable, not int$"):
        DriftMonitor("t", on_change=5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^the baseline is of the tool 't', not 'other'$"):
        DriftMonitor("other", of((BEFORE, 500)))
