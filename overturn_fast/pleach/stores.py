"""Where a cache keeps its entries: the protocol, and stores in memory."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, MutableMapping
from typing import Protocol, runtime_checkable

from overturn_fast._fork import renew_after_fork
from overturn_fast.pleach.entry import Entry
from overturn_fast.pleach.errors import CorruptStoreError
from overturn_fast.pleach.fingerprint import Fingerprint

__all__ = ["MappingStore", "MemoryStore", "Store"]


@runtime_checkable
class Store(Protocol):
    """What a cache needs of the place where its entries are.

    Every method may be called from any thread, and raises a ``StoreError`` if it cannot do its
    work.
    """

    def read(self, fingerprint: Fingerprint) -> Entry | None:
        """The entry of a fingerprint, which counts as used thereby; None if there is none.

        An entry under that hash with another mode or tenant is a ``CorruptStoreError``.
        """

    def write(self, entry: Entry, max_bytes: int | None) -> int:
        """Keep an entry, in the place of one with the same fingerprint, all of it or nothing.

        While the values have more than ``max_bytes`` bytes together, the entries that were used
        longest ago go, but not the new one. Returns how many went.
        """

    def remove(self, entry: Entry) -> None:
        """Forget an entry that was read, unless another one has taken its place since."""

    def recent(self, mode: str, tenant: str | None, limit: int) -> Iterator[Fingerprint]:
        """The latest fingerprints of a mode and a tenant, or of none, latest first."""

    def totals(self) -> tuple[int, int]:
        """How many entries there are, and how many bytes their values have."""

    def close(self) -> None:
        """Release what the store holds. It is not used afterwards."""


class MappingStore:
    """A store in any MutableMapping from str to bytes: a dict, a shelf, a client of a server.

    Each entry is one item: a line of JSON, and the value. What else is under a key that the cache
    asks for is a CorruptStoreError; other keys of the mapping are left alone. Which entry was used
    last is known for those that this object has seen.

    >>> kept = {}
    >>> MappingStore(kept).totals()
    (0, 0)
    """

    def __init__(self, mapping: MutableMapping[str, bytes]) -> None:
        self._mapping = mapping
        self._sizes: OrderedDict[str, int] = OrderedDict()  # by use, the latest last
        self._bytes = 0
        self._after_fork()
        renew_after_fork(self)

    def _after_fork(self) -> None:
        """A lock that a thread of the parent held would be held for ever."""
        self._lock = threading.RLock()

    def read(self, fingerprint: Fingerprint) -> Entry | None:
        """The entry of a fingerprint."""
        key = fingerprint.hash
        with self._lock:
            try:
                data = self._mapping[key]
            except KeyError:
                self._forget(key)
                return None
            entry = Entry.from_bytes(data)
            # The hash is that of the fields, which has been checked.
            if entry.fingerprint != fingerprint:
                raise CorruptStoreError("an entry is under the hash of another one")
            self._count(key, entry.size)
            return entry

    def write(self, entry: Entry, max_bytes: int | None) -> int:
        """Keep an entry."""
        key = entry.fingerprint.hash
        with self._lock:
            self._mapping[key] = entry.to_bytes()
            self._count(key, entry.size)
            evicted = 0
            while max_bytes is not None and self._bytes > max_bytes and len(self._sizes) > 1:
                self._remove(next(iter(self._sizes)))
                evicted += 1
            return evicted

    def remove(self, entry: Entry) -> None:
        """Forget an entry if it is still there.

        Another process may write between looking and forgetting: mappings have nothing against it.
        """
        key = entry.fingerprint.hash
        with self._lock:
            data = self._mapping.get(key)
            if data is not None and Entry.from_bytes(data) == entry:
                self._remove(key)

    def recent(self, mode: str, tenant: str | None, limit: int) -> Iterator[Fingerprint]:
        """The latest fingerprints of a mode and a tenant, among those that this object has seen."""
        with self._lock:
            keys = list(reversed(self._sizes))
        for key in keys:
            data = self._mapping.get(key)
            entry = None if data is None else Entry.from_bytes(data)
            if entry is not None and _is_of(entry, mode, tenant):
                if limit <= 0:
                    return
                limit -= 1
                yield entry.fingerprint

    def totals(self) -> tuple[int, int]:
        """Entries and bytes, among those that this object has seen."""
        with self._lock:
            return len(self._sizes), self._bytes

    def close(self) -> None:
        """Nothing: the mapping belongs to whoever made it."""

    def _remove(self, key: str) -> None:
        self._mapping.pop(key, None)
        self._forget(key)

    def _count(self, key: str, size: int) -> None:
        self._forget(key)
        self._sizes[key] = size
        self._bytes += size

    def _forget(self, key: str) -> None:
        self._bytes -= self._sizes.pop(key, 0)


class MemoryStore(MappingStore):
    """A store in the memory of this process.

    >>> MemoryStore().totals()
    (0, 0)
    """

    def __init__(self) -> None:
        super().__init__({})


def _is_of(entry: Entry, mode: str, tenant: str | None) -> bool:
    fingerprint = entry.fingerprint
    return fingerprint.runtime_mode.value == mode and fingerprint.tenant_id == tenant
