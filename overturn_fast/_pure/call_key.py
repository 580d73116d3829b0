"""The short way to the fingerprint of a usual call, which only the C core has."""

from __future__ import annotations

from typing import Any

from overturn_fast._arguments import DEFAULT_MAX_DEPTH

__all__ = ["call_fingerprint"]


def call_fingerprint(
    kinds: tuple[Any, ...],
    call: Any,
    version: str,
    precision: int,
    max_depth: int = DEFAULT_MAX_DEPTH,
) -> Any:
    """The fingerprint of a call whose parts are all of the usual types, or None for any other.

    The readable steps in ``overturn_fast.pleach.fingerprint`` are what it stands for: they make
    the same fingerprint, and every error but those of messages and tools that are being written,
    whose hooks must not run twice. The pure-Python engine has no shorter way, and its answer is
    always None.

    Args:
        kinds: The classes and tables that are the same for all calls; of none the answer is None.
        call: A ``FingerprintInput``, or a dict of its fields in either spelling.
        version: The version of the substrate.
        precision: How many decimal digits of the temperature count.
        max_depth: How many levels of nested containers messages and tools may have.

    Raises:
        CanonicalizationError: Messages or tools have no canonical form.

    Source: the fingerprint contract, "Computing a fingerprint".

    >>> call_fingerprint((), {}, "1.1.0", 1) is None
    True
    """
    return None
