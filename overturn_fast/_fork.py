"""What a forked process must not share with its parent: session ids, pending events, locks."""

from __future__ import annotations

import os
import threading
from typing import Final, Protocol
from weakref import WeakSet

__all__ = ["Lockable", "Renewable", "hold_over_fork", "renew_after_fork"]


class Renewable(Protocol):
    """Something that starts anew in a forked process."""

    def _after_fork(self) -> None:
        """Forget what belongs to the parent. Only one thread runs."""


class Lockable(Protocol):
    """Something whose lock a thread holds while it is inside a library with locks of its own."""

    @property
    def lock(self) -> threading.RLock: ...


_renewables: Final[WeakSet[Renewable]] = WeakSet()
_lockables: Final[WeakSet[Lockable]] = WeakSet()


def renew_after_fork(renewable: Renewable) -> None:
    """Have ``_after_fork`` called in every process that is forked from this one."""
    _renewables.add(renewable)


def hold_over_fork(lockable: Lockable) -> None:
    """Have no other thread hold its lock while this process is forked.

    A lock inside a library that another thread holds then would be held in the child for ever.
    """
    _lockables.add(lockable)


class _Held(threading.local):
    """The locks that a thread which forks has taken."""

    def __init__(self) -> None:
        self.locks: list[threading.RLock] = []


_held: Final = _Held()


def _hold_all() -> None:
    # Threads that fork at once take the locks in one order, so that none waits for another's.
    for lockable in sorted(_lockables, key=id):
        lock = lockable.lock
        lock.acquire()
        _held.locks.append(lock)


def _release_all() -> None:
    while _held.locks:
        _held.locks.pop().release()


def _renew_all() -> None:
    _release_all()
    for renewable in list(_renewables):
        renewable._after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold_all, after_in_parent=_release_all, after_in_child=_renew_all)
