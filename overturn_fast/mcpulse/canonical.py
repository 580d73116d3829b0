"""The canonical form of the wire format: RFC 8785 with every number as a double."""

from __future__ import annotations

from typing import Any

from overturn_fast._arguments import DEFAULT_MAX_DEPTH
from overturn_fast._backend import engine
from overturn_fast._errors import CanonicalizationError

__all__ = ["CanonicalizeError", "canonicalize"]

CanonicalizeError = CanonicalizationError
"""What ``canonicalize`` raises: the root of this package's errors, under the SDK's name."""


def canonicalize(value: Any, *, max_depth: int = DEFAULT_MAX_DEPTH) -> str:
    """The canonical JSON text of a value, as ``args_hash`` hashes it.

    Keys are sorted by UTF-16 code unit, every number is written as the nearest double, nulls
    are kept, strings are left as they are, and a lone surrogate is written as an escape.

    Args:
        value: JSON types: str, int, float, bool, None, dict, list, tuple and their subclasses.
        max_depth: How many levels of containers may be nested.

    Returns:
        The text. It never holds a surrogate.

    Raises:
        CanonicalizeError: The value has no canonical form; the message names the path of the
            part that has none, and its type. Its subclasses tell the reasons apart.
        TypeError, ValueError: ``max_depth`` is no int of at least 1.

    Source: MCPulse wire format, version 1, "Canonical JSON"; RFC 8785.

    >>> canonicalize({"query": "café", "limit": 25.0, "after": None})
    '{"after":null,"limit":25,"query":"café"}'
    """
    return engine.canonical_with("mcpulse", value, None, max_depth)
