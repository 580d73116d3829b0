"""One call for a key at a time: whoever else wants its answer waits for it."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final

from overturn_fast._fork import renew_after_fork
from overturn_fast.pleach.errors import PleachError

__all__ = ["Flight", "Flights"]


@dataclass(slots=True, eq=False)
class Flight:
    """A call that is being made, and who makes it."""

    key: str
    thread: int
    task: object
    landed: Future[None] = field(default_factory=Future)
    awaited: list[Flight] = field(default_factory=list)
    """The other calls that whoever makes this one, or what was started by it, waits for."""

    def leads_to(self, mine: frozenset[Flight]) -> bool:
        """Whether it ends only after one of these has."""
        seen: set[Flight] = set()
        ahead = [self]
        while ahead:
            flight = ahead.pop()
            if flight in mine:
                return True
            if flight not in seen:
                seen.add(flight)
                ahead.extend(flight.awaited)
        return False


# The calls that the code that runs now is a part of. Tasks that it starts inherit them, and so do
# threads that asyncio.to_thread starts.
_mine: Final[ContextVar[frozenset[Flight]]] = ContextVar("_mine", default=frozenset())


class _Lock:
    """Guards the flights of every cache: one may wait for another's."""

    def __init__(self) -> None:
        self._after_fork()
        renew_after_fork(self)

    def _after_fork(self) -> None:
        """A lock that a thread of the parent held would be held for ever."""
        self.held = threading.RLock()


_lock: Final = _Lock()


class Flights:
    """The calls that are being made, by key.

    ``board`` makes the caller the one who makes a call, or says on whom to wait. Whoever made it
    ends with ``land``, and whoever waited with ``leave``, whatever became of it. Those who waited
    look into the store, and board again if nothing is there.
    """

    def __init__(self) -> None:
        self._after_fork()
        renew_after_fork(self)

    def _after_fork(self) -> None:
        """The calls of the parent are none of its child."""
        self._flights: dict[str, Flight] = {}

    def board(self, key: str, *, is_async: bool) -> Flight | None:
        """None if the caller is to make the call, else the one to wait for.

        Raises:
            PleachError: Waiting would never end: the call was asked for from within itself, or two
                calls ask for each other.
        """
        thread = threading.get_ident()
        task = asyncio.current_task() if is_async else None
        mine = _mine.get()
        with _lock.held:
            flight = self._flights.get(key)
            if flight is None:
                flight = self._flights[key] = Flight(key, thread, task)
                _mine.set(mine | {flight})
                return None
            # A task may wait for another one of its thread; anything else of that thread may not.
            is_stuck = flight.thread == thread and not (
                is_async and flight.task not in (None, task)
            )
            if is_stuck or flight.leads_to(mine):
                raise PleachError(
                    "a call was asked for from within itself, and would wait for ever"
                )
            for one in mine:
                one.awaited.append(flight)
        return flight

    def leave(self, flight: Flight) -> None:
        """The caller does not wait any more."""
        with _lock.held:
            for one in _mine.get():
                one.awaited.remove(flight)

    def land(self, key: str) -> None:
        """Let those who wait look again."""
        with _lock.held:
            flight = self._flights.pop(key, None)
        if flight is not None:
            _mine.set(_mine.get() - {flight})
            flight.landed.set_result(None)
