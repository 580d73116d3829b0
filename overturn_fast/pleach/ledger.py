"""The audit ledger: every call with its fingerprint, its identity and what it used."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from overturn_fast.pleach.entry import read_fingerprint, read_metadata
from overturn_fast.pleach.errors import CorruptStoreError, InputError, wrong_type
from overturn_fast.pleach.fields import checked_text, time_of
from overturn_fast.pleach.fingerprint import Fingerprint
from overturn_fast.pleach.metadata import FingerprintMetadata
from overturn_fast.pleach.sqlite_file import SQLiteFile
from overturn_fast.pleach.sqlite_store import SQLiteStore
from overturn_fast.pleach.value import json_text

__all__ = ["Ledger", "LedgerRow", "Outcome", "Repeat"]

Outcome = Literal["hit", "miss", "ineligible"]
"""What a cache made of a call."""

_ALWAYS: Final = 1e300  # seconds, before and after which nothing is
_MOST: Final = 2**62  # rows
_OUTCOMES: Final = ("hit", "miss", "ineligible")


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """A call that was taken down."""

    fingerprint: Fingerprint
    metadata: FingerprintMetadata
    usage: dict[str, Any]
    outcome: Outcome | None
    at: float
    """When, in seconds since 1970."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """The calls that have one fingerprint."""

    fingerprint: Fingerprint
    count: int
    outcomes: dict[str, int] = field(hash=False)
    """How many of them had each outcome; those that have none are not counted."""
    first: float
    """When the first of them was taken down, in seconds since 1970."""
    last: float


class Ledger:
    """Rows in the SQLite file that a cache may have its entries in.

    Args:
        file: A path, or the ``SQLiteStore`` whose file to use.
        clock: The time in seconds since 1970.

    Raises:
        StoreError, InputError: As for ``SQLiteStore``.
        InputTypeError: ``file`` is of another type.

    Source: the fingerprint contract, "buildMetadata".
    """

    def __init__(
        self,
        file: str | os.PathLike[str] | SQLiteStore | SQLiteFile,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if isinstance(file, (SQLiteStore, SQLiteFile)):
            self._file = file.file if isinstance(file, SQLiteStore) else file
        elif isinstance(file, (str, os.PathLike)):
            self._file = SQLiteFile(file)
        else:
            raise wrong_type("file", "a path or an SQLiteStore", file)
        self._clock = clock

    def append(
        self,
        fingerprint: Fingerprint,
        metadata: FingerprintMetadata | None = None,
        usage: Mapping[str, Any] | None = None,
        *,
        outcome: Outcome | None = None,
    ) -> None:
        """Take a call down.

        Args:
            fingerprint: Which calls it is like.
            metadata: Which call it is.
            usage: What it used, as JSON types: ``{"inputTokens": 812}``.
            outcome: What a cache made of it.

        Raises:
            InputError: The usage, or a part of it, would not come back from JSON as it is; the
                outcome is none; the fingerprint's hash is not that of its fields; or the clock
                tells no time.
            InputTypeError: An argument is of another type.
            StoreError: The file cannot be written; nothing of the row is in it.
        """
        if not isinstance(fingerprint, Fingerprint):
            raise wrong_type("fingerprint", "a Fingerprint", fingerprint)
        described = fingerprint.to_dict()
        Fingerprint.from_dict(described)  # one row that is wrong would make a query fail
        metadata = FingerprintMetadata() if metadata is None else metadata
        if not isinstance(metadata, FingerprintMetadata):
            raise wrong_type("metadata", "a FingerprintMetadata", metadata)
        if outcome is not None and outcome not in _OUTCOMES:
            raise InputError("outcome", f"must be one of {', '.join(_OUTCOMES)}")
        row = (
            fingerprint.hash,
            fingerprint.runtime_mode.value,
            fingerprint.tenant_id,
            metadata.session_id,
            outcome,
            json.dumps(described),
            json.dumps(metadata.to_dict()),
            _usage_text(usage),
            time_of(self._clock),
        )
        with self._file.writing() as connection:
            connection.execute(
                "INSERT INTO ledger (hash, mode, tenant, session, outcome, fingerprint, metadata, "
                "usage, at) VALUES (?,?,?,?,?,?,?,?,?)",
                row,
            )

    def rows(
        self,
        *,
        fingerprint: Fingerprint | str | None = None,
        tenant_id: str | None = None,
        session_id: str | None = None,
        since: float | None = None,
        until: float | None = None,
        limit: int | None = None,
    ) -> list[LedgerRow]:
        """The calls that fit everything that is asked for, oldest first.

        Args:
            fingerprint: One, or its hash.
            tenant_id: A tenant.
            session_id: A session.
            since: In seconds since 1970; calls at that time fit.
            until: In seconds since 1970; calls at that time do not.
            limit: How many rows at most.

        Raises:
            InputError: An argument cannot be that of any call: an empty text, a time that is NaN, a
                limit below 0.
            InputTypeError: An argument is of another type.
            StoreError: The file cannot be read.
        """
        where, values = _condition(fingerprint, tenant_id, session_id, since, until)
        most = _checked_limit(limit)
        with self._file.reading() as connection:
            found = connection.execute(
                f"SELECT fingerprint, metadata, usage, outcome, at FROM ledger{where} "
                "ORDER BY at, id LIMIT ?",
                (*values, most),
            ).fetchall()
        return [_row(*one) for one in found]

    def repeats(
        self,
        *,
        tenant_id: str | None = None,
        session_id: str | None = None,
        since: float | None = None,
        until: float | None = None,
        limit: int | None = None,
    ) -> list[Repeat]:
        """The calls grouped by fingerprint, the most repeated first.

        Args:
            tenant_id: As for ``rows``.
            session_id: As for ``rows``.
            since: As for ``rows``.
            until: As for ``rows``.
            limit: How many groups at most.

        Raises:
            InputError, InputTypeError: As for ``rows``.
            StoreError: The file cannot be read.
        """
        where, values = _condition(None, tenant_id, session_id, since, until)
        most = _checked_limit(limit)
        counts = ", ".join(f"sum(outcome IS '{outcome}')" for outcome in _OUTCOMES)
        with self._file.reading() as connection:
            found = connection.execute(
                f"SELECT max(fingerprint), count(*), min(at), max(at), {counts} "
                f"FROM ledger{where} GROUP BY hash ORDER BY count(*) DESC, min(id) LIMIT ?",
                (*values, most),
            ).fetchall()
        return [
            Repeat(_fingerprint(text), count, _present(outcomes), first, last)
            for text, count, first, last, *outcomes in found
        ]

    def outcomes(self, *, tenant_id: str | None = None) -> dict[str, dict[str, int]]:
        """How many calls had each outcome, by runtime mode.

        Raises:
            InputError, InputTypeError: As for ``rows``.
            StoreError: The file cannot be read.
        """
        where, values = _condition(None, tenant_id, None, None, None)
        with self._file.reading() as connection:
            found = connection.execute(
                f"SELECT mode, outcome, count(*) FROM ledger{where} GROUP BY 1, 2 ORDER BY 1, 2",
                values,
            ).fetchall()
        counted: dict[str, dict[str, int]] = {}
        for name, outcome, count in found:
            if outcome is not None:
                counted.setdefault(name, {})[outcome] = count
        return counted

    def close(self) -> None:
        """Close the file, also for the store that it may be shared with."""
        self._file.close()


def _usage_text(usage: Any) -> str:
    if usage is None:
        return "{}"
    if not isinstance(usage, Mapping):
        raise wrong_type("usage", "a mapping", usage)
    return json_text(dict(usage), "usage")


def _condition(
    fingerprint: Fingerprint | str | None,
    tenant_id: str | None,
    session_id: str | None,
    since: float | None,
    until: float | None,
) -> tuple[str, tuple[Any, ...]]:
    """A WHERE clause and the values in it."""
    digest = fingerprint.hash if isinstance(fingerprint, Fingerprint) else fingerprint
    texts = (("fingerprint", digest), ("tenantId", tenant_id), ("sessionId", session_id))
    for name, text in texts:
        if text is not None:
            checked_text(name, text)
    asked = [
        ("hash = ?", digest),
        ("tenant = ?", tenant_id),
        ("session = ?", session_id),
        ("at >= ?", _checked_time("since", since)),
        ("at < ?", _checked_time("until", until)),
    ]
    given = [(clause, value) for clause, value in asked if value is not None]
    where = " WHERE " + " AND ".join(clause for clause, _ in given) if given else ""
    return where, tuple(value for _, value in given)


def _checked_time(field: str, value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise wrong_type(field, "a number of seconds", value)
    if value != value:
        raise InputError(field, "must be a number")
    return float(max(-_ALWAYS, min(value, _ALWAYS)))


def _checked_limit(limit: Any) -> int:
    """How many rows at most, as SQLite takes it: -1 for any number."""
    if limit is None:
        return -1
    if isinstance(limit, bool) or not isinstance(limit, int):
        raise wrong_type("limit", "an int or None", limit)
    if limit < 0:
        raise InputError("limit", "must be at least 0")
    return min(limit, _MOST)


def _row(fingerprint: str, metadata: str, usage: str, outcome: Any, at: float) -> LedgerRow:
    try:
        known = read_metadata(json.loads(metadata)) or FingerprintMetadata()
        return LedgerRow(_fingerprint(fingerprint), known, json.loads(usage), outcome, at)
    except (InputError, ValueError, TypeError, RecursionError) as error:
        raise CorruptStoreError("a row of the ledger is damaged") from error


def _fingerprint(text: str) -> Fingerprint:
    try:
        return read_fingerprint(json.loads(text))
    except (InputError, ValueError, TypeError, RecursionError) as error:
        raise CorruptStoreError("a fingerprint in the ledger is damaged") from error


def _present(counts: list[int]) -> dict[str, int]:
    return {outcome: count for outcome, count in zip(_OUTCOMES, counts, strict=True) if count}
