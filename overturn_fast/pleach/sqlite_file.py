"""One SQLite file for the cache and the ledger: opening it, its schema, its errors."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from overturn_fast._fork import hold_over_fork, renew_after_fork
from overturn_fast.pleach.errors import (
    CorruptStoreError,
    ForeignStoreError,
    InputError,
    StoreError,
    StoreFullError,
)

__all__ = ["SCHEMA_VERSION", "SQLiteFile"]

SCHEMA_VERSION: Final = 1
"""The version of the tables, in the file's ``user_version``."""

_APPLICATION_ID: Final = 0x504C4348  # "PLCH" in the header of the file: whose it is
_WAIT_S: Final = 30.0  # for another process that is writing
_RETRY_S: Final = 0.005  # between two attempts to open a file that another process has to itself
_SCHEMA: Final = """
CREATE TABLE entry (
    hash TEXT PRIMARY KEY, mode TEXT NOT NULL, tenant TEXT, fingerprint TEXT NOT NULL,
    metadata TEXT, is_json INTEGER NOT NULL, value BLOB NOT NULL, size INTEGER NOT NULL,
    created REAL NOT NULL, used INTEGER NOT NULL
);
CREATE INDEX entry_by_use ON entry (used);
CREATE INDEX entry_by_tenant ON entry (mode, tenant, created);
CREATE TABLE total (entries INTEGER NOT NULL, bytes INTEGER NOT NULL);
INSERT INTO total VALUES (0, 0);
CREATE TRIGGER entry_added AFTER INSERT ON entry BEGIN
    UPDATE total SET entries = entries + 1, bytes = bytes + new.size;
END;
CREATE TRIGGER entry_removed AFTER DELETE ON entry BEGIN
    UPDATE total SET entries = entries - 1, bytes = bytes - old.size;
END;
CREATE TABLE ledger (
    id INTEGER PRIMARY KEY, hash TEXT NOT NULL, mode TEXT NOT NULL, tenant TEXT, session TEXT,
    outcome TEXT, fingerprint TEXT NOT NULL, metadata TEXT NOT NULL, usage TEXT NOT NULL,
    at REAL NOT NULL
);
CREATE INDEX ledger_by_hash ON ledger (hash, at);
CREATE INDEX ledger_by_tenant ON ledger (tenant, at);
CREATE INDEX ledger_by_session ON ledger (session, at);
CREATE INDEX ledger_by_time ON ledger (at);
"""

# A connection that a process inherits by forking is neither used nor closed there: closing it
# could touch the files of the parent. It is kept alive here instead.
_inherited: Final[list[sqlite3.Connection]] = []


class SQLiteFile:
    """A connection to a file, shared by the threads of a process and renewed in a forked one.

    Args:
        path: The file; it is made if it is not there, unless ``read_only``.
        read_only: Whether nothing may be written.
        is_durable: Whether what was written outlives a loss of power, at the cost of a sync of the
            disk each time. It outlives the end of the process, ``kill -9`` too, in any case.

    Raises:
        ForeignStoreError, CorruptStoreError, StoreError: The file cannot be used.
        InputError: The path cannot be that of a file.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, read_only: bool = False, is_durable: bool = False
    ) -> None:
        self.path: Final = os.path.abspath(_checked_path(path))
        self._read_only = read_only
        self._is_durable = is_durable
        self._connection: sqlite3.Connection | None = None
        self._is_closed = False
        self._after_fork()
        renew_after_fork(self)
        hold_over_fork(self)
        with self.reading():
            pass

    def _after_fork(self) -> None:
        """In a forked process: a lock and, with the first use, a connection of its own."""
        self._lock = threading.RLock()
        if self._connection is not None:
            _inherited.append(self._connection)
            self._connection = None

    @property
    def lock(self) -> threading.RLock:
        """Held by the thread that uses the connection."""
        return self._lock

    @property
    def is_closed(self) -> bool:
        """Whether ``close`` was called."""
        return self._is_closed

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """The connection, for one thread at a time, with SQLite's errors as StoreErrors."""
        with self._lock:
            try:
                connection = self._connection
                if connection is None:
                    connection = self._connection = self._open()
                yield connection
            except sqlite3.Error as error:
                raise self._failure(error) from error
            except UnicodeDecodeError as error:  # of a message in which SQLite quotes what it found
                raise CorruptStoreError(f"{self.path} is damaged") from error

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """The same in a transaction, which is rolled back if the block is left by an exception."""
        with self.reading() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:  # a full disk rolls back by itself
                    connection.execute("ROLLBACK")
                raise

    def close(self) -> None:
        """Close the connection; the file is not used through this object afterwards."""
        with self._lock:
            self._is_closed = True
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _open(self) -> sqlite3.Connection:
        if self._is_closed:
            raise StoreError(f"{self.path} was closed")
        give_up = time.monotonic() + _WAIT_S
        while True:
            connection = self._connected()
            try:
                self._prepare(connection)
                return connection
            except BaseException as error:
                connection.close()
                # SQLite does not wait where a file is opened while another process sets it up,
                # repairs it after a crash, or is the last one to close it.
                is_busy = isinstance(error, sqlite3.OperationalError) and "locked" in str(error)
                if not is_busy or time.monotonic() > give_up:
                    raise
            time.sleep(_RETRY_S)

    def _connected(self) -> sqlite3.Connection:
        mode = "ro" if self._read_only else "rwc"
        quoted = self.path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
        return sqlite3.connect(
            f"file:{quoted}?mode={mode}",
            uri=True,
            timeout=_WAIT_S,
            isolation_level=None,
            check_same_thread=False,
        )

    def _prepare(self, connection: sqlite3.Connection) -> None:
        connection.execute("BEGIN")  # all that tells whose the file is, as of one moment
        is_ours = self._is_ours(connection)
        connection.execute("COMMIT")
        if not is_ours:
            if self._read_only:
                raise ForeignStoreError(f"{self.path} is no cache of this package")
            connection.execute("BEGIN IMMEDIATE")
            if not self._is_ours(connection):  # another process may have been faster
                for statement in _statements(_SCHEMA):
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            connection.execute("COMMIT")
        if not self._read_only:
            connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {'FULL' if self._is_durable else 'NORMAL'}")

    def _is_ours(self, connection: sqlite3.Connection) -> bool:
        """Whether the file has our tables; it may also be empty, but nothing else."""
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if application == _APPLICATION_ID:
            if version != SCHEMA_VERSION:
                raise ForeignStoreError(
                    f"{self.path} has schema version {version}; this package has {SCHEMA_VERSION}"
                )
            return True
        if application or version or tables:
            raise ForeignStoreError(f"{self.path} is an SQLite file of something else")
        return False

    def _failure(self, error: sqlite3.Error) -> StoreError:
        """The error of this package for one of SQLite, by its message: 3.10 has no codes."""
        message = str(error)
        if "disk is full" in message:
            return StoreFullError(f"{self.path}: there is no room: {message}")
        if "not a database" in message or "malformed" in message or "no such" in message:
            return CorruptStoreError(f"{self.path} is damaged or no SQLite file: {message}")
        return StoreError(f"{self.path}: {message}")


def _checked_path(path: str | os.PathLike[str]) -> str:
    """The path of a file, which some names that SQLite knows are none of."""
    text = os.fsdecode(path)
    if text in ("", ":memory:") or "\0" in text:
        raise InputError("path", "must be that of a file; MemoryStore keeps entries in memory")
    return text


def _statements(script: str) -> Iterator[str]:
    """The statements of a script one by one: executescript would end the transaction."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
