"""The buffer between calls and the transport. No test depends on how fast anything is."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator
from typing import Any

import pytest

from overturn_fast import mcpulse
from overturn_fast.mcpulse import Event, EventBuffer

LONG = 300.0  # seconds that no test gets to, unless something hangs
NEVER = 1e6


def numbered(number: int) -> Event:
    return mcpulse.call_event("s_0123456789ab", f"tool{number}", started_at=0)


def numbers(batch: list[Event]) -> list[int]:
    return [int(event["tool_name"].removeprefix("tool")) for event in batch]  # type: ignore[typeddict-item]


class Recorder:
    """A transport that keeps what it gets, and can be made to hang."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.is_called = threading.Event()
        self.may_return = threading.Event()
        self.may_return.set()

    def __call__(self, batch: list[Event]) -> None:
        self.is_called.set()
        assert self.may_return.wait(LONG)
        self.batches.append(numbers(batch))

    def sent(self) -> list[int]:
        return [number for batch in self.batches for number in batch]


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    """A transport that lets go at the end of the test."""
    recorder = Recorder()
    yield recorder
    recorder.may_return.set()


# -- batches ---------------------------------------------------------------------------------------


def test_the_defaults_are_those_of_the_wire_format(recorder: Recorder) -> None:
    buffer = EventBuffer(recorder)
    assert (buffer._capacity, buffer._batch_size, buffer._interval) == (1_000, 30, 5.0)


def test_30_events_are_sent_at_once_and_fewer_wait(recorder: Recorder) -> None:
    buffer = EventBuffer(recorder, interval=NEVER)
    for number in range(29):
        assert buffer.add(numbered(number))
    assert buffer.stats.pending == 29
    assert not recorder.is_called.is_set()
    assert buffer.add(numbered(29))
    assert recorder.is_called.wait(LONG)
    assert buffer.flush(LONG)
    assert recorder.batches == [list(range(30))]


def test_fewer_are_sent_after_the_interval(recorder: Recorder) -> None:
    buffer = EventBuffer(recorder, interval=0.01)
    buffer.add(numbered(1))
    assert recorder.is_called.wait(LONG)
    assert buffer.flush(LONG)
    assert recorder.sent() == [1]


def test_batches_hold_30_events_at_most_in_the_order_they_came(recorder: Recorder) -> None:
    recorder.may_return.clear()
    buffer = EventBuffer(recorder, interval=NEVER)
    for number in range(200):
        buffer.add(numbered(number))
    recorder.may_return.set()
    assert buffer.flush(LONG)
    assert [len(batch) for batch in recorder.batches] == [30] * 6 + [20]
    assert recorder.sent() == list(range(200))


def test_a_worker_that_had_nothing_to_do_goes_and_another_comes(recorder: Recorder) -> None:
    buffer = EventBuffer(recorder, interval=0.001)
    for number in range(5):
        buffer.add(numbered(number))
        assert buffer.flush(LONG)
        worker = buffer._worker
        if worker is not None:
            worker.join(LONG)
            assert not worker.is_alive()
    assert recorder.sent() == list(range(5))


def test_no_thread_is_started_before_the_first_event(recorder: Recorder) -> None:
    before = threading.active_count()
    buffer = EventBuffer(recorder, interval=NEVER)
    assert threading.active_count() == before
    assert buffer.flush() is True
    buffer.add(numbered(1))
    assert buffer._worker is not None
    assert buffer._worker.daemon
    assert buffer.close(LONG)


def test_an_idle_buffer_can_be_collected(recorder: Recorder) -> None:
    buffer = EventBuffer(recorder, interval=0.001)
    buffer.add(numbered(1))
    buffer.flush(LONG)
    worker = buffer._worker
    if worker is not None:
        worker.join(LONG)
    gone = weakref.ref(buffer)
    del buffer, worker
    gc.collect()
    assert gone() is None


# -- the bound -------------------------------------------------------------------------------------


def test_past_the_bound_the_oldest_are_dropped_and_counted(recorder: Recorder) -> None:
    recorder.may_return.clear()
    buffer = EventBuffer(recorder)
    for number in range(30):
        buffer.add(numbered(number))
    assert recorder.is_called.wait(LONG)
    for number in range(30, 2_030):
        assert buffer.add(numbered(number))
    stats = buffer.stats
    assert (stats.pending, stats.dropped) == (1_030, 1_000)
    recorder.may_return.set()
    assert buffer.close(LONG)
    assert recorder.sent() == [*range(30), *range(1_030, 2_030)]
    stats = buffer.stats
    assert (stats.pending, stats.sent, stats.failed, stats.refused) == (0, 1_030, 0, 0)


def test_a_capacity_below_the_batch_size_is_the_batch_size(recorder: Recorder) -> None:
    buffer = EventBuffer(recorder, capacity=3, interval=NEVER)
    for number in range(3):
        buffer.add(numbered(number))
    assert recorder.is_called.wait(LONG)
    assert buffer.close(LONG)
    assert recorder.sent() == [0, 1, 2]


@pytest.mark.parametrize("nonsense", [0, -1, None, "many", 1.5, True, float("nan")])
def test_options_that_make_no_sense_are_replaced(recorder: Recorder, nonsense: Any) -> None:
    buffer = EventBuffer(recorder, capacity=nonsense, batch_size=nonsense)
    assert (buffer._capacity, buffer._batch_size) == (1_000, 30)
    if type(nonsense) is not int and nonsense not in (1.5, True):
        assert EventBuffer(recorder, interval=nonsense)._interval == 5.0


# -- never block -----------------------------------------------------------------------------------


def test_recording_goes_on_while_the_transport_hangs(recorder: Recorder) -> None:
    recorder.may_return.clear()
    buffer = EventBuffer(recorder)

    def record(start: int) -> None:
        for number in range(start, start + 500):
            assert buffer.add(numbered(number))

    threads = [threading.Thread(target=record, args=(500 * part,)) for part in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
        assert not thread.is_alive()
    assert recorder.is_called.wait(LONG)
    stats = buffer.stats
    assert not recorder.batches
    assert stats.pending + stats.dropped == 2_000
    assert stats.pending <= 1_030
    assert buffer.flush(0) is False
    assert buffer.close(0) is False
    assert repr(buffer) == f"<EventBuffer, {stats.pending} pending>"
    recorder.may_return.set()
    assert buffer.close(LONG)
    assert len(recorder.sent()) == stats.pending


def test_the_lock_is_free_while_the_transport_runs() -> None:
    seen = []

    def transport(batch: list[Event]) -> None:
        other = threading.Thread(target=lambda: seen.append(buffer.stats.pending))
        other.start()
        other.join(LONG)
        seen.append(buffer.flush(NEVER))  # would wait for itself
        seen.append(buffer.add(numbered(2)))

    buffer = EventBuffer(transport, batch_size=1, interval=NEVER)
    buffer.add(numbered(1))
    assert buffer.flush(LONG)
    assert seen[:3] == [1, False, True]
    buffer.close(0)


def test_a_signal_handler_may_record_while_its_thread_records(recorder: Recorder) -> None:
    buffer = EventBuffer(recorder, interval=NEVER)
    with buffer._lock:  # where a handler may interrupt
        assert buffer.add(numbered(1))
    assert buffer.close(LONG)
    assert recorder.sent() == [1]


# -- failures --------------------------------------------------------------------------------------


def test_a_transport_that_raises_loses_its_batch_and_no_other() -> None:
    batches = []

    def transport(batch: list[Event]) -> None:
        batches.append(numbers(batch))
        if len(batches) == 1:
            raise OSError("the message may quote SECRET things")

    buffer = EventBuffer(transport, batch_size=1, interval=NEVER)
    for number in range(3):
        buffer.add(numbered(number))
    assert buffer.close(LONG)
    assert batches == [[0], [1], [2]]
    stats = buffer.stats
    assert (stats.sent, stats.failed, stats.last_failure) == (2, 1, "<class 'OSError'>")
    assert "SECRET" not in repr(stats)


def test_a_transport_says_with_false_that_a_batch_was_not_delivered() -> None:
    answers = iter([False, None, True, 0])
    buffer = EventBuffer(lambda batch: next(answers), batch_size=1, interval=NEVER)
    for number in range(4):
        buffer.add(numbered(number))
    assert buffer.close(LONG)
    assert (buffer.stats.sent, buffer.stats.failed) == (3, 1)


@pytest.mark.parametrize("transport", [None, "https://api.example.com", 3])
def test_what_cannot_be_called_delivers_nothing(transport: Any) -> None:
    buffer = EventBuffer(transport)
    assert buffer.add(numbered(1))
    assert buffer.close(LONG)
    assert (buffer.stats.failed, buffer.stats.last_failure) == (1, "<class 'TypeError'>")


def test_what_stops_a_thread_stops_the_worker_and_the_next_event_starts_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stopped = []
    monkeypatch.setattr(threading, "excepthook", lambda args: stopped.append(args.exc_type))
    batches = []

    def transport(batch: list[Event]) -> None:
        batches.append(numbers(batch))
        if len(batches) == 1:
            raise KeyboardInterrupt

    buffer = EventBuffer(transport, batch_size=1, interval=NEVER)
    buffer.add(numbered(1))
    assert buffer.flush(LONG)
    buffer.add(numbered(2))
    assert buffer.close(LONG)
    assert batches == [[1], [2]]
    assert stopped == [KeyboardInterrupt]
    assert (buffer.stats.sent, buffer.stats.failed) == (1, 1)


def test_without_a_thread_to_be_had_the_next_event_tries_again(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    buffer = EventBuffer(recorder, interval=NEVER)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", start)
        assert buffer.add(numbered(1))
        assert buffer.flush(0) is False
    assert buffer.add(numbered(2))
    assert buffer.close(LONG)
    assert recorder.sent() == [1, 2]


# -- what is taken ---------------------------------------------------------------------------------


def test_a_closed_buffer_takes_nothing_more(recorder: Recorder) -> None:
    with EventBuffer(recorder) as buffer:
        buffer.add(numbered(1))
    assert buffer.add(numbered(2)) is False
    assert buffer.close(LONG)
    assert recorder.sent() == [1]
    assert buffer.stats.refused == 1


def test_an_event_is_copied(recorder: Recorder) -> None:
    sent: list[Event] = []
    buffer = EventBuffer(sent.extend, interval=NEVER)
    call = numbered(1)
    startup = mcpulse.startup_event("s_0123456789ab", [{"name": "t"}])
    expected = json.loads(json.dumps([call, startup]))
    buffer.add(call)
    buffer.add(startup)
    call["tool_name"] = "changed"  # type: ignore[typeddict-unknown-key]
    startup["tools"][0]["name"] = "changed"
    startup["tools"].append({"name": "more", "schema_bytes": 0})
    assert buffer.close(LONG)
    assert sent == expected


GOOD_CALL: dict[str, Any] = dict(numbered(1))
GOOD_STARTUP: dict[str, Any] = dict(mcpulse.startup_event("s_0123456789ab", [{"name": "t"}]))


@pytest.mark.parametrize(
    "event",
    [
        None,
        [],
        "event",
        {},
        {"type": []},
        {**GOOD_CALL, "arguments": {"a": 1}},
        {name: value for name, value in GOOD_CALL.items() if name != "args_hash"},
        *(
            {**GOOD_CALL, name: value}
            for name, value in [
                ("v", 2),
                ("v", True),
                ("type", "startup"),
                ("type", "other"),
                ("session_id", "s_1"),
                ("client_name", ""),
                ("client_name", "c" * 129),
                ("client_name", {"a": 1}),
                ("tool_name", "n" * 201),
                ("tool_name", "\ud800"),
                ("started_at", "yesterday"),
                ("duration_ms", -1),
                ("duration_ms", 1.5),
                ("outcome", "fine"),
                ("response_bytes", "text of the response"),
                ("is_empty", 1),
                ("args_hash", "0123456789AB"),
                ("args_hash", {"a": 1}),
            ]
        ),
        {**GOOD_STARTUP, "more": 1},
        {name: value for name, value in GOOD_STARTUP.items() if name != "tools"},
        *(
            {**GOOD_STARTUP, "tools": tools}
            for tools in [
                None,
                {},
                [1],
                [{}],
                [{"name": "t"}],
                [{"name": "t", "schema_bytes": -1}],
                [{"name": "t", "schema_bytes": 1, "description": "d"}],
                [{"name": "t", "schema_bytes": 1}] * 501,
            ]
        ),
        type("Event", (dict,), {})(GOOD_CALL),
    ],
    ids=lambda event: ascii(event)[:40],
)
def test_what_is_no_event_of_the_wire_format_is_refused(recorder: Recorder, event: Any) -> None:
    buffer = EventBuffer(recorder)
    assert buffer.add(event) is False
    assert (buffer.stats.refused, buffer.stats.pending) == (1, 0)


def test_threads_may_record_flush_and_close_together(recorder: Recorder) -> None:
    buffer = EventBuffer(recorder, capacity=100_000, interval=0.001)

    def record(part: int) -> None:
        for number in range(300):
            assert buffer.add(numbered(1_000 * part + number))
            if number % 50 == 0:
                assert buffer.flush(LONG)

    threads = [threading.Thread(target=record, args=(part,)) for part in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
    assert buffer.close(LONG)
    assert sorted(recorder.sent()) == [1_000 * part + n for part in range(4) for n in range(300)]
    for part in range(4):  # of one thread the order is kept
        own = [number for number in recorder.sent() if number // 1_000 == part]
        assert own == sorted(own)


# -- the process -----------------------------------------------------------------------------------


def run(script: str) -> Any:
    answer = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, timeout=LONG
    )
    assert answer.stderr == b""
    return json.loads(answer.stdout)


def test_what_waits_is_sent_when_the_interpreter_exits() -> None:
    script = """
from overturn_fast import mcpulse
buffer = mcpulse.EventBuffer(lambda batch: print([event["tool_name"] for event in batch]
    .__repr__().replace("'", '"'), flush=True))
buffer.add(mcpulse.call_event("s_0123456789ab", "last"))
"""
    assert run(script) == ["last"]


def test_a_transport_that_hangs_does_not_keep_the_process() -> None:
    script = """
import threading
from overturn_fast import mcpulse
started = threading.Event()
def transport(batch):
    started.set()
    threading.Event().wait()
buffer = mcpulse.EventBuffer(transport, batch_size=1)
buffer.add(mcpulse.call_event("s_0123456789ab", "t"))
started.wait()
print("[]", flush=True)
"""
    assert run(script) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_starts_with_an_empty_buffer_that_works() -> None:
    script = """
import json, os, threading, warnings
warnings.simplefilter("ignore")
from overturn_fast import mcpulse
sent, hanging, go_on = [], threading.Event(), threading.Event()
def transport(batch):
    hanging.set()
    go_on.wait()
    sent.extend(event["tool_name"] for event in batch)
buffer = mcpulse.EventBuffer(transport, interval=1e6)
event = lambda name: mcpulse.call_event("s_0123456789ab", name)
for number in range(31):
    buffer.add(event("parent"))
hanging.wait()
read, write = os.pipe()
with buffer._lock:
    locked, held = threading.Event(), threading.Event()
def hold():
    with buffer._lock:
        locked.set()
        held.wait()
holder = threading.Thread(target=hold)
holder.start()
locked.wait()
if os.fork() == 0:
    go_on.set()
    before = buffer.stats.pending
    buffer.add(event("child"))
    answer = [before, buffer.close(300), sent, buffer.stats.sent]
    os.write(write, json.dumps(answer).encode())
    os._exit(0)
os.wait()
held.set()
holder.join()
go_on.set()
print(json.dumps([json.loads(os.read(read, 1000)), buffer.close(300), len(sent)]))
"""
    assert run(script) == [[0, True, ["child"], 1], True, 31]
