"""The short way to the fingerprint of a usual call, which only the C core has."""

from __future__ import annotations

from typing import Any

__all__ = ["call_fingerprint"]


def call_fingerprint(
    kinds: tuple[Any, ...], call: Any, version: str, precision: int, max_depth: int, /
) -> Any:
    """The fingerprint of a call whose parts are all of the usual types, or None for any other.

    The readable steps in ``overturn_fast.pleach.fingerprint`` are what it stands for: they make
    the same fingerprint, and the errors. Here there is no shorter way, and the answer is None.

    >>> call_fingerprint((), None, "", 1, 1) is None
    True
    """
    return None
