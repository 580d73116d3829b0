"""One call for a key at a time: whoever else wants its answer waits for it."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from dataclasses import dataclass, field

from overturn_fast._fork import renew_after_fork
from overturn_fast.pleach.errors import PleachError

__all__ = ["Flights"]


@dataclass(slots=True)
class _Flight:
    thread: int
    task: object
    landed: Future[None] = field(default_factory=Future)


class Flights:
    """The calls that are being made, by key.

    ``board`` makes the caller the one who makes a call, or says on whom to wait; whoever made it
    ends with ``land``, whatever became of it. Those who waited look into the store, and board
    again if nothing is there.
    """

    def __init__(self) -> None:
        self._after_fork()
        renew_after_fork(self)

    def _after_fork(self) -> None:
        """The calls of the parent are none of its child."""
        self._lock = threading.RLock()
        self._flights: dict[str, _Flight] = {}

    def board(self, key: str, *, is_async: bool) -> Future[None] | None:
        """None if the caller is to make the call, else what is done when the other one has.

        Raises:
            PleachError: Waiting would never end: the call was asked for from within itself.
        """
        thread = threading.get_ident()
        task = asyncio.current_task() if is_async else None
        with self._lock:
            flight = self._flights.get(key)
            if flight is None:
                self._flights[key] = _Flight(thread, task)
                return None
        # A task may wait for another one of its thread; anything else of that thread may not.
        can_end = flight.thread != thread or (is_async and flight.task not in (None, task))
        if not can_end:
            raise PleachError("a call was asked for from within itself, and would wait for ever")
        return flight.landed

    def land(self, key: str) -> None:
        """Let those who wait look again."""
        with self._lock:
            flight = self._flights.pop(key, None)
        if flight is not None:
            flight.landed.set_result(None)
