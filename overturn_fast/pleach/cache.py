"""The cache boundary: where eligibility, runtime modes and tenants are enforced."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from types import CoroutineType, TracebackType
from typing import Any, Final, NamedTuple

from overturn_fast._fork import renew_after_fork
from overturn_fast.pleach.entry import Entry
from overturn_fast.pleach.errors import (
    InputError,
    InputTypeError,
    ModeError,
    ReplayDivergenceError,
    StoreError,
    TenantError,
    wrong_type,
)
from overturn_fast.pleach.fields import (
    FingerprintConfig,
    FingerprintInput,
    checked_text,
    read_input,
    time_of,
)
from overturn_fast.pleach.fingerprint import (
    Fingerprint,
    checked_config,
    fingerprint_of,
    is_cache_eligible,
)
from overturn_fast.pleach.flights import Flights
from overturn_fast.pleach.ledger import Ledger, Outcome
from overturn_fast.pleach.metadata import FingerprintMetadata, metadata_of
from overturn_fast.pleach.modes import CacheReadPolicy, RuntimeMode, member_of, readable_modes
from overturn_fast.pleach.sqlite_store import SQLiteStore
from overturn_fast.pleach.stores import MappingStore, Store
from overturn_fast.pleach.value import decoded, encoded

__all__ = ["CacheStats", "FingerprintCache"]

Input = FingerprintInput | Mapping[str, Any]

_LONGEST: Final = sys.float_info.max  # seconds
_NEAR: Final = 1_000  # recorded calls among which the nearest one to a divergence is sought


@dataclass(frozen=True, slots=True)
class CacheStats:
    """What became of the calls that were brought to a cache, and what its store holds."""

    hits: int
    misses: int
    ineligible: int
    """Not deterministic, and so neither served nor kept."""
    writes: int
    evicted: int
    """Driven out by the size bound."""
    expired: int
    """Older than the time to live when they were asked for."""
    entries: int
    """In the store, of every mode and tenant."""
    bytes: int
    """Of their values."""


class _Call(NamedTuple):
    """A call that may be brought to this cache."""

    input: FingerprintInput
    fingerprint: Fingerprint
    is_eligible: bool


class FingerprintCache:
    """Answers of calls of language models, by the fingerprints of the calls.

    Args:
        store: The path of an SQLite file, a ``Store``, or a MutableMapping from str to bytes.
        mode: The runtime mode of every call that is brought here. An input that is a mapping may
            leave it out; one that has another is a ``ModeError``.
        policy: Whether entries of stricter modes are served too.
        tenant_id: The tenant of every call; one of another, or of none, is a ``TenantError``.
            Without it a call is served what its own tenant recorded, or what was recorded without.
        config: How fingerprints are made; with ``require_tenant`` a call without one is refused.
        ttl: After how many seconds an entry is not served any more; None for never.
        max_bytes: How many bytes the values in the store may have together. What was used longest
            ago goes first; the entry that was written last stays, whatever its size.
        ledger: Where every ``get`` and ``get_or_call`` is taken down, with its outcome.
        clock: The time in seconds since 1970.

    A call is eligible if its temperature is exactly 0 or it has a seed. Others are neither served
    nor kept, though they have fingerprints. In ``headless-replay`` a call that is not served is a
    ``ReplayDivergenceError``. Every method may be called from any thread.

    Raises:
        InputError: An argument has a value that it cannot have.
        InputTypeError: An argument is of another type.
        StoreError: As for ``SQLiteStore``.

    Source: the fingerprint contract, "isCacheEligible", "RuntimeMode values".

    >>> cache = FingerprintCache({}, mode="interactive")
    >>> call = {"model": "m", "family": "f", "callClass": "c", "messages": [], "temperature": 0}
    >>> cache.get_or_call(call, lambda: {"text": "Hello"})
    {'text': 'Hello'}
    >>> cache.get(call)
    {'text': 'Hello'}
    >>> cache.stats.hits, cache.stats.misses
    (1, 1)
    """

    def __init__(
        self,
        store: str | os.PathLike[str] | Store | MutableMapping[str, bytes],
        mode: RuntimeMode | str,
        policy: CacheReadPolicy | str = CacheReadPolicy.STRICT_MODE,
        *,
        tenant_id: str | None = None,
        config: FingerprintConfig | None = None,
        ttl: float | None = None,
        max_bytes: int | None = None,
        ledger: Ledger | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._mode = member_of(RuntimeMode, mode, "mode")
        self._policy = member_of(CacheReadPolicy, policy, "policy")
        self._readable = readable_modes(self._mode, self._policy)
        self._tenant_id = None if tenant_id is None else checked_text("tenantId", tenant_id)
        self._config = checked_config(config)
        self._ttl = _checked_ttl(ttl)
        self._max_bytes = _checked_max_bytes(max_bytes)
        self._ledger = ledger
        self._clock = clock
        self._flights = Flights()
        self._counts = dict.fromkeys(("hit", "miss", "ineligible", "write", "evict", "expire"), 0)
        self._after_fork()
        renew_after_fork(self)
        self._store = _store_of(store)

    def _after_fork(self) -> None:
        """A lock that a thread of the parent held would be held for ever."""
        self._lock = threading.RLock()

    @property
    def mode(self) -> RuntimeMode:
        """The runtime mode of the calls."""
        return self._mode

    @property
    def policy(self) -> CacheReadPolicy:
        """Which modes' entries are served."""
        return self._policy

    @property
    def stats(self) -> CacheStats:
        """What became of the calls so far."""
        entries, size = self._store.totals()
        with self._lock:
            counts = dict(self._counts)
        return CacheStats(
            hits=counts["hit"],
            misses=counts["miss"],
            ineligible=counts["ineligible"],
            writes=counts["write"],
            evicted=counts["evict"],
            expired=counts["expire"],
            entries=entries,
            bytes=size,
        )

    def get(self, input: Input, default: Any = None) -> Any:
        """The answer that was kept for a call.

        Args:
            input: The call.
            default: What to return if there is none. In ``headless-replay`` it is not used.

        Raises:
            ReplayDivergenceError: There is none, in ``headless-replay``.
            InputError, CanonicalizationError: As for ``compute_fingerprint``.
            ModeError, TenantError: The call is none of this cache.
            StoreError: The store cannot be read.
        """
        call = self._call(input)
        entry = self._find(call)
        return default if entry is None else decoded(entry.value, entry.is_json)

    def put(self, input: Input, value: Any, metadata: FingerprintMetadata | None = None) -> bool:
        """Keep the answer of a call, in the place of one that was kept before.

        Args:
            input: The call.
            value: JSON types, or bytes, exactly of those types and not of subclasses: it is served
                as it was given.
            metadata: Which call it was; by default what the input says.

        Returns:
            Whether it was kept: a call that is not eligible is not.

        Raises:
            InputError, CanonicalizationError: As for ``compute_fingerprint``; or the value would
                not come back as it is, or the clock tells no time.
            ModeError, TenantError: The call is none of this cache.
            StoreError: The store cannot be written; nothing of the entry is in it.
        """
        call = self._call(input)
        value_bytes, is_json = encoded(value)
        if not call.is_eligible:
            self._count("ineligible")
            return False
        self._write(call, value_bytes, is_json, metadata)
        return True

    def get_or_call(self, input: Input, fn: Callable[[], Any]) -> Any:
        """The answer that was kept for a call, or else that of ``fn``, which is then kept.

        Of several threads that ask for one fingerprint at a time only one calls ``fn``; the others
        wait and are served what it answered. If it raised, the next one calls.

        Args:
            input: The call.
            fn: Makes the call. It is not called in ``headless-replay``.

        Raises:
            InputError, StoreError: The answer cannot be kept; the error's ``value`` has it. Or
                ``fn`` is a coroutine function, which is for ``get_or_call_async``.
            PleachError: ``fn`` asks for the call that it makes, or two calls ask for each other.
            Exception: What ``fn`` raises; and as for ``get`` and ``put``.
        """
        call = self._call(input)
        if not call.is_eligible:
            self._find(call)  # which counts it, and fails in a replay
            return fn()
        key = call.fingerprint.hash
        while (entry := self._find(call, is_final=False)) is None:
            other = self._flights.board(key, is_async=False)
            if other is not None:
                try:
                    other.landed.result()
                finally:
                    self._flights.leave(other)
                continue
            try:
                # Another one may have landed between looking and boarding.
                if (entry := self._find(call)) is None:
                    metadata = metadata_of(call.input)  # what is wrong with it costs no call
                    return self._keep(call, _plain(fn()), metadata)
                break
            finally:
                self._flights.land(key)
        return decoded(entry.value, entry.is_json)

    async def get_or_call_async(self, input: Input, fn: Callable[[], Awaitable[Any]]) -> Any:
        """``get_or_call`` for a coroutine function.

        Other tasks and threads wait for the one that calls; if that one is cancelled, the next one
        calls. The store is used on the loop's thread: a hit takes microseconds, an entry is written
        when no other process writes.

        Raises:
            Exception: As for ``get_or_call``.
        """
        call = self._call(input)
        if not call.is_eligible:
            self._find(call)
            return await fn()
        key = call.fingerprint.hash
        while (entry := self._find(call, is_final=False)) is None:
            other = self._flights.board(key, is_async=True)
            if other is not None:
                try:
                    await asyncio.shield(asyncio.wrap_future(other.landed))
                finally:
                    self._flights.leave(other)
                continue
            try:
                if (entry := self._find(call)) is None:
                    metadata = metadata_of(call.input)
                    return self._keep(call, await fn(), metadata)
                break
            finally:
                self._flights.land(key)
        return decoded(entry.value, entry.is_json)

    def fingerprint(self, input: Input) -> Fingerprint:
        """The fingerprint of a call as this cache makes it."""
        return self._call(input).fingerprint

    def close(self) -> None:
        """Close the store."""
        self._store.close()

    def __enter__(self) -> FingerprintCache:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<FingerprintCache, {self._mode.value}, {self._policy.value}>"

    # -- one call -----------------------------------------------------------------------------

    def _call(self, given: Input) -> _Call:
        """The call with its fingerprint, if it belongs here."""
        call = read_input(given, {}, self._mode)
        fingerprint = fingerprint_of(call, self._config)
        if fingerprint.runtime_mode is not self._mode:
            raise ModeError(
                "runtimeMode",
                f"is {fingerprint.runtime_mode.value} in a cache of {self._mode.value}",
            )
        if self._tenant_id is not None and fingerprint.tenant_id != self._tenant_id:
            wrong = "is not that" if fingerprint.tenant_id else "is missing in a call"
            raise TenantError("tenantId", f"{wrong} of the cache, which takes those of one tenant")
        return _Call(call, fingerprint, is_cache_eligible(call.temperature, call.seed))

    def _find(self, call: _Call, *, is_final: bool = True) -> Entry | None:
        """The entry to serve. A miss counts, and fails in a replay, only if it is final."""
        entry = self._lookup(call.fingerprint) if call.is_eligible else None
        if entry is not None:
            self._note(call, "hit")
            return entry
        is_replay = self._mode is RuntimeMode.HEADLESS_REPLAY
        if is_final or is_replay:
            self._note(call, "miss" if call.is_eligible else "ineligible")
        if is_replay:
            raise self._divergence(call)
        return None

    def _lookup(self, fingerprint: Fingerprint) -> Entry | None:
        for mode in self._readable:
            candidate = fingerprint.in_mode(mode)
            entry = self._store.read(candidate)
            if entry is None:
                continue
            if self._ttl is None or time_of(self._clock) - entry.created <= self._ttl:
                return entry
            if mode is self._mode:  # what other modes recorded is theirs to remove
                self._store.remove(entry)
            self._count("expire")
        return None

    def _divergence(self, call: _Call) -> ReplayDivergenceError:
        """The error for a replay that has no answer, with the recorded call nearest to it."""
        fingerprint = call.fingerprint
        if not call.is_eligible:
            reason = "the call is not deterministic: it has a temperature other than 0 and no seed"
            return ReplayDivergenceError(fingerprint, reason=reason)
        recorded = self._store.recent(self._mode.value, fingerprint.tenant_id, _NEAR)
        others = [one for one in recorded if one != fingerprint]
        nearest = min(others, key=fingerprint.distance, default=None)
        return ReplayDivergenceError(fingerprint, nearest)

    def _keep(self, call: _Call, value: Any, metadata: FingerprintMetadata) -> Any:
        """Keep what a call answered; the value as it will be served."""
        try:
            value_bytes, is_json = encoded(value)
            self._write(call, value_bytes, is_json, metadata)
        except (InputError, StoreError) as error:
            error.value = value
            raise
        return decoded(value_bytes, is_json)

    def _write(
        self, call: _Call, value: bytes, is_json: bool, metadata: FingerprintMetadata | None
    ) -> None:
        if metadata is None:
            metadata = metadata_of(call.input)
        elif not isinstance(metadata, FingerprintMetadata):
            raise wrong_type("metadata", "a FingerprintMetadata", metadata)
        entry = Entry(call.fingerprint, value, is_json, time_of(self._clock), metadata)
        evicted = self._store.write(entry, self._max_bytes)
        self._count("write")
        self._count("evict", evicted)

    def _note(self, call: _Call, outcome: Outcome) -> None:
        self._count(outcome)
        if self._ledger is not None:
            self._ledger.append(call.fingerprint, metadata_of(call.input), outcome=outcome)

    def _count(self, what: str, many: int = 1) -> None:
        with self._lock:
            self._counts[what] += many


def _store_of(given: Any) -> Store:
    if isinstance(given, (str, os.PathLike)):
        return SQLiteStore(given)
    if isinstance(given, MutableMapping):
        return MappingStore(given)
    if isinstance(given, Store):
        return given
    raise wrong_type("store", "a path, a Store or a MutableMapping", given)


def _plain(answer: Any) -> Any:
    """An answer, which is no coroutine that nobody would await."""
    if isinstance(answer, CoroutineType):
        answer.close()
        raise InputTypeError("fn", "is a coroutine function: get_or_call_async takes it")
    return answer


def _checked_ttl(ttl: Any) -> float | None:
    if ttl is None:
        return None
    if isinstance(ttl, bool) or not isinstance(ttl, (int, float)):
        raise wrong_type("ttl", "a number of seconds or None", ttl)
    if not 0 < ttl <= _LONGEST:
        raise InputError("ttl", "must be a finite number of seconds greater than 0")
    return float(ttl)


def _checked_max_bytes(max_bytes: Any) -> int | None:
    if max_bytes is None:
        return None
    if isinstance(max_bytes, bool) or not isinstance(max_bytes, int):
        raise wrong_type("max_bytes", "an int or None", max_bytes)
    if max_bytes < 1:
        raise InputError("max_bytes", "must be at least 1")
    return max_bytes
