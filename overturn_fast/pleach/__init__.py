"""Fingerprints of calls of language models, and the cache that they make sound.

A fingerprint says which calls are interchangeable: which may share an answer that was kept, and
which recorded turn a replay may use::

    from overturn_fast import pleach

    cache = pleach.FingerprintCache("answers.db", mode="interactive")
    answer = cache.get_or_call(call, lambda: client.complete(call))

Source: the fingerprint contract.
"""

from __future__ import annotations

from overturn_fast.pleach.cache import CacheStats, FingerprintCache
from overturn_fast.pleach.canonical import canonicalize, sha256
from overturn_fast.pleach.catalog import SystemPrompt, ToolCatalog
from overturn_fast.pleach.entry import Entry
from overturn_fast.pleach.errors import (
    CorruptStoreError,
    ForeignStoreError,
    InputError,
    InputTypeError,
    ModeError,
    PleachError,
    ReplayDivergenceError,
    StoreError,
    StoreFullError,
    TenantError,
)
from overturn_fast.pleach.fields import PLEACH_CORE_VERSION, FingerprintConfig, FingerprintInput
from overturn_fast.pleach.fingerprint import Fingerprint, compute_fingerprint, is_cache_eligible
from overturn_fast.pleach.ledger import Ledger, LedgerRow, Outcome, Repeat
from overturn_fast.pleach.metadata import FingerprintMetadata, build_metadata
from overturn_fast.pleach.modes import CacheReadPolicy, RuntimeMode, readable_modes
from overturn_fast.pleach.sqlite_store import SQLiteStore
from overturn_fast.pleach.stores import MappingStore, MemoryStore, Store

__all__ = [
    "PLEACH_CORE_VERSION",
    "CacheReadPolicy",
    "CacheStats",
    "CorruptStoreError",
    "Entry",
    "Fingerprint",
    "FingerprintCache",
    "FingerprintConfig",
    "FingerprintInput",
    "FingerprintMetadata",
    "ForeignStoreError",
    "InputError",
    "InputTypeError",
    "Ledger",
    "LedgerRow",
    "MappingStore",
    "MemoryStore",
    "ModeError",
    "Outcome",
    "PleachError",
    "Repeat",
    "ReplayDivergenceError",
    "RuntimeMode",
    "SQLiteStore",
    "Store",
    "StoreError",
    "StoreFullError",
    "SystemPrompt",
    "TenantError",
    "ToolCatalog",
    "build_metadata",
    "canonicalize",
    "compute_fingerprint",
    "is_cache_eligible",
    "readable_modes",
    "sha256",
]
