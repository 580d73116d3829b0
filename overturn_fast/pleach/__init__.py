"""Fingerprints of calls of language models."""

from __future__ import annotations

from overturn_fast.pleach.canonical import canonicalize, sha256
from overturn_fast.pleach.catalog import SystemPrompt, ToolCatalog
from overturn_fast.pleach.errors import *  # noqa
from overturn_fast.pleach.fields import PLEACH_CORE_VERSION, FingerprintConfig, FingerprintInput
from overturn_fast.pleach.fingerprint import Fingerprint, compute_fingerprint, is_cache_eligible
from overturn_fast.pleach.metadata import FingerprintMetadata, build_metadata
from overturn_fast.pleach.modes import CacheReadPolicy, RuntimeMode, readable_modes
