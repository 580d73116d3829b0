"""What people write by hand for a shape-only fingerprint: the algorithm of the profile ``seed``.

It recurses, builds every path anew and sorts the rows of each array, as the sketch in "The case for
shape-only fingerprints" does, and takes about as long as that.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["fingerprint", "rows"]


def rows(value: Any, path: str = "$") -> list[tuple[str, str]]:
    """The rows of a value, by recursion."""
    if value is None:
        return [(path, "null")]
    if isinstance(value, bool):
        return [(path, "bool")]
    if isinstance(value, (int, float)):
        return [(path, "number")]
    if isinstance(value, str):
        return [(path, "string")]
    if isinstance(value, Mapping):
        found = [(path, "object")]
        for key in sorted(value):
            found += rows(value[key], f"{path}.{key}")
        return found
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        found = [(path, "array")]
        for item in value[:5]:
            found += rows(item, f"{path}[]")
        return sorted(set(found))
    return [(path, type(value).__name__)]


def fingerprint(value: Any) -> str:
    """The digest over the rows."""
    lines = "\n".join(f"{path}:{name}" for path, name in rows(value))
    return hashlib.sha256(lines.encode()).hexdigest()
