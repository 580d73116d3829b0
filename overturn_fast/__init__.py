"""Fingerprints of AI tool calls: a SHA-256 over a canonical form of the arguments.

The names of ``overturn.fingerprint``, computed natively::

    from overturn_fast import tool_fingerprint

    tool_fingerprint("lookup_customer", {"email": "a@b.c", "plan": "pro"})
"""

from __future__ import annotations

from typing import Final

from overturn_fast._backend import backend, engine, native_error
from overturn_fast._errors import (
    CanonicalizationError,
    CircularReferenceError,
    DepthError,
    DuplicateKeyError,
    FloatDomainError,
    IntegerDomainError,
    JSONTextError,
    KeyTypeError,
    SurrogateError,
    UnsupportedTypeError,
)
from overturn_fast._portability import Finding, portability
from overturn_fast._selection import select_args
from overturn_fast._text import fingerprint_text
from overturn_fast._version import __version__
from overturn_fast.sdk import UntestedVersionError, install, uninstall

FINGERPRINT_VERSION: Final = 1
"""The version of the Overturn contract that the fingerprints follow."""

ToolFingerprinter = engine.ToolFingerprinter
canonical_json = engine.canonical_json
fingerprint = engine.fingerprint
fingerprint_many = engine.fingerprint_many
hash_json = engine.hash_json
tool_fingerprint = engine.tool_fingerprint

__all__ = [
    "FINGERPRINT_VERSION",
    "CanonicalizationError",
    "CircularReferenceError",
    "DepthError",
    "DuplicateKeyError",
    "Finding",
    "FloatDomainError",
    "IntegerDomainError",
    "JSONTextError",
    "KeyTypeError",
    "SurrogateError",
    "ToolFingerprinter",
    "UnsupportedTypeError",
    "UntestedVersionError",
    "__version__",
    "backend",
    "canonical_json",
    "fingerprint",
    "fingerprint_many",
    "fingerprint_text",
    "hash_json",
    "install",
    "native_error",
    "portability",
    "select_args",
    "tool_fingerprint",
    "uninstall",
]
