"""One session for a process and a destination: what makes retries visible.

A server over HTTP makes a new server object for every request. With a session each, no call could
ever be a retry of another one; so the session belongs to the process.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
from typing import Any, Final

from overturn_fast._fork import renew_after_fork
from overturn_fast.mcpulse.buffer import EventBuffer, Transport
from overturn_fast.mcpulse.wire import MAX_CLIENT_NAME, UNKNOWN, capped_name, text_of

__all__ = ["Session", "new_session_id", "session_for"]


def new_session_id() -> str:
    """A new session id: ``s_`` and 12 random hexadecimal digits.

    They come from the operating system's generator and tell nothing about the machine.

    Source: MCPulse wire format, version 1, "Sessions".

    >>> len(new_session_id()), new_session_id()[:2]
    (14, 's_')
    """
    return f"s_{secrets.token_hex(6)}"


class Session:
    """What the events of one process to one destination share. ``session_for`` makes them.

    A forked process goes on with the same object, which is then a session of its own: with a new
    id, no client and no startup event.
    """

    __slots__ = ("__weakref__", "_buffer", "_client_name", "_id", "_is_started", "_lock")

    def __init__(self) -> None:
        self._buffer: EventBuffer | None = None
        self._after_fork()
        renew_after_fork(self)

    def _after_fork(self) -> None:
        """Start anew, in a process that was forked from the one before."""
        self._lock = threading.RLock()
        self._id = new_session_id()
        self._client_name = UNKNOWN
        self._is_started = False

    @property
    def session_id(self) -> str:
        """The id that every event of this session carries."""
        return self._id

    @property
    def client_name(self) -> str:
        """The client that identified itself last, or ``unknown``."""
        return self._client_name

    def remember_client(self, name: Any) -> None:
        """Take down the name that a client gave of itself; anything but a filled str is ignored."""
        if text_of(name):
            self._client_name = capped_name(name, MAX_CLIENT_NAME)

    def begin_startup(self) -> bool:
        """Whether the startup event is still to be sent: True the first time, then False."""
        with self._lock:
            is_first = not self._is_started
            self._is_started = True
        return is_first

    def buffer(self, transport: Transport) -> EventBuffer:
        """The one buffer of this session.

        Args:
            transport: As for ``EventBuffer``. That of the first call is used.
        """
        with self._lock:
            if self._buffer is None:
                self._buffer = EventBuffer(transport)
            return self._buffer

    def __repr__(self) -> str:
        return f"<Session {self._id}>"


class _Sessions:
    """The sessions of this process, by a digest of their destination: keys are secrets."""

    __slots__ = ("__weakref__", "_by_digest", "_lock")

    def __init__(self) -> None:
        self._by_digest: dict[bytes, Session] = {}
        self._after_fork()
        renew_after_fork(self)

    def _after_fork(self) -> None:
        """Replace the lock, which a thread of the parent may have held; the sessions stay."""
        self._lock = threading.RLock()

    def find(self, endpoint: str, key: str) -> Session:
        destination = f"{len(endpoint)}:{endpoint}{key}".encode("utf-8", "surrogatepass")
        digest = hashlib.sha256(destination).digest()
        with self._lock:
            session = self._by_digest.get(digest)
            if session is None:
                session = self._by_digest[digest] = Session()
            return session


_sessions: Final = _Sessions()


def session_for(endpoint: str, key: str) -> Session:
    """The session of this process for a destination: the same one every time.

    Args:
        endpoint: Where events are sent to; slashes at its end do not count.
        key: The key that they are sent with; white space around it does not count.

    Neither is kept. What is no str counts as an empty one. It never raises an Exception.

    Source: MCPulse wire format, version 1, "Sessions".

    >>> session = session_for("https://api.example.com", "mp_live_1")
    >>> session is session_for("https://api.example.com/", "mp_live_1")
    True
    >>> session is session_for("https://api.example.com", "mp_live_2")
    False
    """
    return _sessions.find(text_of(endpoint).rstrip("/"), text_of(key).strip())
