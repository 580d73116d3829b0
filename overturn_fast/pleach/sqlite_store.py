"""The default store: one SQLite file, for many threads and processes."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterator
from typing import Any, Final

from overturn_fast.pleach.entry import Entry, read_fingerprint, read_metadata
from overturn_fast.pleach.errors import CorruptStoreError, InputError
from overturn_fast.pleach.fingerprint import Fingerprint
from overturn_fast.pleach.sqlite_file import SQLiteFile

__all__ = ["SQLiteStore"]

_NOTED_USES: Final = 1_000  # entries whose last use is known but not written


class SQLiteStore:
    """Entries in one SQLite file in WAL mode.

    What ``write`` returned from is in the file, whole, even if the process is killed then. Which
    thousand entries were used last is written when it decides what goes, and on ``close``: a hit
    costs no transaction, and a crash forgets only that.

    Args:
        path: The file; it is made if it is not there.
        is_durable: Whether every entry also outlives a loss of power.

    Raises:
        ForeignStoreError: The file belongs to something else.
        CorruptStoreError: It is no SQLite file.
        StoreError: It cannot be opened.
        InputError: The path cannot be that of a file.
    """

    def __init__(self, path: str | os.PathLike[str], *, is_durable: bool = False) -> None:
        self.file: Final = SQLiteFile(path, is_durable=is_durable)
        self._used: dict[str, int] = {}  # guarded by the lock of the file

    def read(self, fingerprint: Fingerprint) -> Entry | None:
        """The entry of a fingerprint."""
        key = fingerprint.hash
        with self.file.reading() as connection:
            row = connection.execute(
                "SELECT mode, tenant, value, is_json, created, metadata FROM entry WHERE hash = ?",
                (key,),
            ).fetchone()
            if row is None:
                return None
            self._used.pop(key, None)
            self._used[key] = time.time_ns()
            if len(self._used) > _NOTED_USES:
                del self._used[next(iter(self._used))]
        mode, tenant, value, is_json, created, metadata = row
        if mode != fingerprint.runtime_mode.value or tenant != fingerprint.tenant_id:
            raise CorruptStoreError("an entry is under the hash of another one")
        return _entry(fingerprint, value, is_json, created, metadata)

    def write(self, entry: Entry, max_bytes: int | None) -> int:
        """Keep an entry, in one transaction with what it drives out."""
        fingerprint, metadata = entry.fingerprint, entry.metadata
        row = (
            fingerprint.hash,
            fingerprint.runtime_mode.value,
            fingerprint.tenant_id,
            json.dumps(fingerprint.to_dict()),
            None if metadata is None else json.dumps(metadata.to_dict()),
            entry.is_json,
            entry.value,
            entry.size,
            entry.created,
            time.time_ns(),
        )
        with self.file.reading():  # holds the lock until the notes are dropped
            with self.file.writing() as connection:
                if max_bytes is not None:
                    self._write_uses(connection)
                # Not REPLACE, for which the trigger that counts what goes is not run.
                connection.execute("DELETE FROM entry WHERE hash = ?", row[:1])
                connection.execute("INSERT INTO entry VALUES (?,?,?,?,?,?,?,?,?,?)", row)
                evicted = 0 if max_bytes is None else _evict(connection, row[0], max_bytes)
            if max_bytes is not None:
                self._used.clear()
        return evicted

    def remove(self, entry: Entry) -> None:
        """Forget an entry, unless another one has taken its place since it was read."""
        with self.file.writing() as connection:
            connection.execute(
                "DELETE FROM entry WHERE hash = ? AND created = ? AND value = ?",
                (entry.fingerprint.hash, entry.created, entry.value),
            )

    def recent(self, mode: str, tenant: str | None, limit: int) -> Iterator[Fingerprint]:
        """The latest fingerprints of a mode and a tenant."""
        with self.file.reading() as connection:
            rows = connection.execute(
                "SELECT fingerprint FROM entry "
                "WHERE mode = ? AND tenant IS ? ORDER BY created DESC, rowid DESC LIMIT ?",
                (mode, tenant, limit),
            ).fetchall()
        for (text,) in rows:
            yield _fingerprint(text)

    def totals(self) -> tuple[int, int]:
        """How many entries there are, and how many bytes their values have."""
        with self.file.reading() as connection:
            return _totals(connection)

    def close(self) -> None:
        """Write down which entries were used last, and close the file.

        Raises:
            StoreError: That cannot be written. The file is closed all the same.
        """
        try:
            self._write_all_uses()
        finally:
            self.file.close()

    def _write_all_uses(self) -> None:
        with self.file.lock:
            if self._used and not self.file.is_closed:
                with self.file.writing() as connection:
                    self._write_uses(connection)
                self._used.clear()

    def _write_uses(self, connection: sqlite3.Connection) -> None:
        connection.executemany(
            "UPDATE entry SET used = max(used, ?) WHERE hash = ?",
            [(used, key) for key, used in self._used.items()],
        )


def _evict(connection: sqlite3.Connection, kept: str, max_bytes: int) -> int:
    """Delete what was used longest ago until the values fit; how many entries went."""
    evicted = 0
    _, size = _totals(connection)
    if size > max_bytes:
        oldest = "SELECT hash, size FROM entry WHERE hash != ? ORDER BY used, rowid LIMIT 1"
        while size > max_bytes:
            row = connection.execute(oldest, (kept,)).fetchone()
            if row is None:
                break
            connection.execute("DELETE FROM entry WHERE hash = ?", row[:1])
            size -= _checked_count(row[1])
            evicted += 1
    return evicted


def _totals(connection: sqlite3.Connection) -> tuple[int, int]:
    """How many entries there are, and how many bytes their values have."""
    row = connection.execute("SELECT entries, bytes FROM total").fetchone()
    entries, size = row or (None, None)
    return _checked_count(entries), _checked_count(size)


def _checked_count(value: object) -> int:
    if not isinstance(value, int):
        raise CorruptStoreError("the sizes of the entries are damaged")
    return value


def _entry(
    fingerprint: Fingerprint, value: Any, is_json: Any, created: Any, metadata: Any
) -> Entry:
    """A row as an entry."""
    if type(value) is not bytes or type(created) is not float:
        raise CorruptStoreError("a row of an entry has values of other types")
    try:
        known = None if metadata is None else read_metadata(json.loads(metadata))
    except (InputError, ValueError, TypeError, RecursionError) as error:
        raise CorruptStoreError("the metadata of an entry are damaged") from error
    return Entry(fingerprint, value, bool(is_json), created, known)


def _fingerprint(text: Any) -> Fingerprint:
    try:
        return read_fingerprint(json.loads(text))
    except (InputError, ValueError, TypeError, RecursionError) as error:
        raise CorruptStoreError("the fingerprint of an entry is damaged") from error
