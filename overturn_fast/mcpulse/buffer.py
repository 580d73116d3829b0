"""Events between the calls that make them and the transport that sends them.

Recording puts an event into a queue and is done. A thread of the buffer's own, started with the
first event, takes batches out and hands them to the transport; it lives while there is something to
send and a while longer. No lock is held while the transport runs.
"""

from __future__ import annotations

import atexit
import math
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from types import TracebackType
from typing import Any, Final
from weakref import WeakSet

from overturn_fast._fork import renew_after_fork
from overturn_fast.mcpulse.wire import Event, checked_event

__all__ = ["BufferStats", "EventBuffer", "Transport"]

Transport = Callable[[list[Event]], object]
"""Sends a batch of events. It runs on the buffer's thread, may take as long as it likes and may
raise; False says that the batch was not delivered. What was not delivered is not sent again."""

CAPACITY: Final = 1_000
BATCH_SIZE: Final = 30
INTERVAL_S: Final = 5.0
EXIT_FLUSH_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class BufferStats:
    """What became of the events given to a buffer."""

    pending: int
    """Waiting, or being sent."""
    sent: int
    failed: int
    """In batches that the transport did not deliver."""
    dropped: int
    """The oldest ones, given up because the buffer was full."""
    refused: int
    """No events of the wire format, or given after the buffer was closed."""
    last_failure: str | None
    """The class of what the transport raised last; never its message, which may quote data."""


class EventBuffer:
    """A bounded queue of events that are sent in batches, from a thread of its own.

    Args:
        transport: Called with each batch, a list of at most ``batch_size`` events, oldest first.
        capacity: How many events may wait. One more, and the oldest of them is given up.
        batch_size: So many waiting events are sent at once.
        interval: After so many seconds an event is sent even if fewer wait.

    None of its methods raises an Exception, and ``add`` never waits for the transport. Every method
    may be called from any thread. Numbers that make no sense are replaced by the default ones.

    When the interpreter exits, events still waiting get a second to be sent. A forked process
    starts with an empty buffer: what was waiting belongs to its parent.

    Source: MCPulse wire format, version 1, "The three rules".

    >>> from overturn_fast.mcpulse import call_event
    >>> batches = []
    >>> buffer = EventBuffer(batches.append)
    >>> buffer.add(call_event("s_0123456789ab", "search", {"query": "x"}))
    True
    >>> buffer.close()
    True
    >>> [event["tool_name"] for event in batches[0]]
    ['search']
    """

    def __init__(
        self,
        transport: Transport,
        *,
        capacity: int = CAPACITY,
        batch_size: int = BATCH_SIZE,
        interval: float = INTERVAL_S,
    ) -> None:
        self._transport = transport
        self._capacity = _count_or(capacity, CAPACITY)
        self._batch_size = min(_count_or(batch_size, BATCH_SIZE), self._capacity)
        self._interval = _seconds_or(interval, INTERVAL_S)
        self._closed = False
        self._after_fork()
        renew_after_fork(self)
        _open_buffers.add(self)

    def _after_fork(self) -> None:
        """Start with nothing: the events are the parent's, the locks may be held for ever."""
        self._lock = threading.RLock()  # a signal handler may record while its thread records
        self._work = threading.Condition(self._lock)  # for the worker: there is something to do
        self._done = threading.Condition(self._lock)  # for those who wait: something was done
        self._pending: deque[tuple[float, Event]] = deque()  # each with the time when it is due
        self._worker: threading.Thread | None = None
        self._sending_from: int | None = None  # the number of the first event that is being sent
        self._sending = 0  # how many are
        self._wanted = 0  # events up to this number are to be sent without delay
        self._accepted = 0  # which is also the number of the youngest event
        self._sent = 0
        self._failed = 0
        self._dropped = 0
        self._refused = 0
        self._last_failure: str | None = None

    # -- recording ----------------------------------------------------------------------------

    def add(self, event: Event) -> bool:
        """Take an event down, to be sent soon.

        Args:
            event: Of ``call_event`` or ``startup_event``. A copy is kept. Anything with other
                fields, or with values that do not fit them, is refused.

        Returns:
            Whether it was taken. It never raises an Exception and never waits for the transport.
        """
        try:
            checked = checked_event(event)
            with self._lock:
                if checked is None or self._closed:
                    self._refused += 1
                    return False
                self._pending.append((monotonic() + self._interval, checked))
                self._accepted += 1
                if len(self._pending) > self._capacity:
                    self._pending.popleft()
                    self._dropped += 1
                    self._done.notify_all()
                self._wake_worker()
        except Exception:
            return False
        return True

    # -- waiting ------------------------------------------------------------------------------

    def flush(self, timeout: float = EXIT_FLUSH_S) -> bool:
        """Have everything that was recorded so far sent, and wait for it.

        In a coroutine call it through ``asyncio.to_thread``: it waits.

        Args:
            timeout: How many seconds to wait at most.

        Returns:
            Whether the transport is done with all of it. It never raises an Exception.
        """
        try:
            return self._flush(_seconds_or(timeout, 0.0))
        except Exception:
            return False

    def close(self, timeout: float = EXIT_FLUSH_S) -> bool:
        """Take no more events, have those that wait sent, and wait for it.

        Args:
            timeout: How many seconds to wait at most. The sending goes on after that, as long as
                the process does.

        Returns:
            Whether the transport is done with all of it. It never raises an Exception.
        """
        with self._lock:
            self._closed = True
        return self.flush(timeout)

    def __enter__(self) -> EventBuffer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def stats(self) -> BufferStats:
        """What became of the events so far."""
        with self._lock:
            return BufferStats(
                pending=len(self._pending) + self._sending,
                sent=self._sent,
                failed=self._failed,
                dropped=self._dropped,
                refused=self._refused,
                last_failure=self._last_failure,
            )

    def __repr__(self) -> str:
        return f"<EventBuffer, {self.stats.pending} pending>"

    def _flush(self, timeout: float) -> bool:
        with self._lock:
            target = self._accepted
            if self._is_settled(target):
                return True
            if self._worker is threading.current_thread():
                return False  # called by the transport, for which it would wait
            self._wanted = target
            self._wake_worker()
            return self._done.wait_for(lambda: self._is_settled(target), timeout)

    def _is_settled(self, number: int) -> bool:
        """Whether no event up to this number waits or is being sent."""
        is_sending = self._sending_from is not None and self._sending_from <= number
        return not is_sending and self._first_pending() > number

    def _first_pending(self) -> int:
        """The number of the oldest event that waits; of the next one if none does."""
        return self._accepted - len(self._pending) + 1

    # -- the worker ---------------------------------------------------------------------------

    def _wake_worker(self) -> None:
        """Start a worker if there is none; wake it if there is a batch for it."""
        if self._worker is None:
            worker = threading.Thread(target=self._run, name="mcpulse-events", daemon=True)
            try:
                worker.start()
            except RuntimeError:
                return  # no thread can be had now; the next event tries again
            self._worker = worker
        elif self._is_batch_ready():
            self._work.notify()

    def _run(self) -> None:
        with self._lock:
            if self._worker is not threading.current_thread():
                return  # whoever started it was interrupted before taking it down
        try:
            while (batch := self._next_batch()) is not None:
                self._send(batch)
        finally:
            with self._lock:
                if self._worker is threading.current_thread():
                    self._worker = None  # what is no Exception came out of the transport

    def _is_batch_ready(self) -> bool:
        return len(self._pending) >= self._batch_size or self._first_pending() <= self._wanted

    def _next_batch(self) -> list[Event] | None:
        """Wait for the next batch; None after nothing came for an interval."""
        with self._lock:
            idle_until = monotonic() + self._interval
            while True:
                until = self._pending[0][0] if self._pending else idle_until
                remaining = until - monotonic()
                if self._pending and (self._closed or self._is_batch_ready() or remaining <= 0):
                    return self._take()
                if not self._pending and (self._closed or remaining <= 0):
                    self._worker = None
                    return None
                self._work.wait(remaining)

    def _take(self) -> list[Event]:
        self._sending_from = self._first_pending()
        self._sending = min(self._batch_size, len(self._pending))
        return [self._pending.popleft()[1] for _ in range(self._sending)]

    def _send(self, batch: list[Event]) -> None:
        is_sent, failure = False, None
        try:
            is_sent = self._transport(batch) is not False
        except Exception as error:
            failure = type.__repr__(type(error))
        finally:
            with self._lock:
                count, self._sending, self._sending_from = self._sending, 0, None
                self._sent += count if is_sent else 0
                self._failed += 0 if is_sent else count
                self._last_failure = failure or self._last_failure
                self._done.notify_all()


def _count_or(value: Any, default: int) -> int:
    return value if type(value) is int and value > 0 else default


def _seconds_or(value: Any, default: float) -> float:
    """A number of seconds that a lock can wait."""
    try:
        seconds = float(value)
    except Exception:
        return default
    return min(max(0.0, seconds), threading.TIMEOUT_MAX) if not math.isnan(seconds) else default


_open_buffers: Final[WeakSet[EventBuffer]] = WeakSet()


def _close_all() -> None:
    """Give what still waits a moment to be sent, all buffers together."""
    deadline = monotonic() + EXIT_FLUSH_S
    for buffer in list(_open_buffers):
        buffer.close(deadline - monotonic())


atexit.register(_close_all)
