"""The functions of RFC 8785 over Python objects, as the C core computes them too."""

from __future__ import annotations

import hashlib
from typing import Any, Literal

from overturn_fast._arguments import (
    DEFAULT_MAX_DEPTH,
    checked_depth,
    checked_encoder,
    checked_integers,
)
from overturn_fast._convert import Encoder
from overturn_fast._profiles import JCS, JCS_DOUBLE
from overturn_fast._pure.canonical import canonical_text

__all__ = ["dumps", "sha256"]


def dumps(
    value: Any,
    *,
    integers: Literal["strict", "double"] = "strict",
    encoder: Encoder | None = None,
    max_depth: int = DEFAULT_MAX_DEPTH,
) -> bytes:
    """The canonical form of a value under the JSON Canonicalization Scheme.

    Args:
        value: str, int, float, bool, None, dict or any other Mapping with str keys, list or tuple.
        integers: What to do with an int beyond 2**53 - 1 in magnitude: ``"strict"`` refuses it,
            ``"double"`` writes the nearest double, as JavaScript would read it.
        encoder: Asked for any value of another type. It returns a value to write instead, or
            ``NotImplemented`` if it has none.
        max_depth: How many levels of containers may be nested.

    Returns:
        The text in UTF-8.

    Raises:
        IntegerDomainError: An int is beyond 2**53 - 1 in magnitude, or, with
            ``integers="double"``, past the largest double.
        FloatDomainError: A float is NaN or infinite.
        SurrogateError: A str holds a lone surrogate.
        CanonicalizationError: The value has no canonical form for another reason. The errors above
            derive from it, and the message names the path of the part that has none.

    Source: RFC 8785.

    >>> dumps({"numbers": [333333333.33333329, 1e30, 4.50, 2e-3], "literals": [None, True]})
    b'{"literals":[null,true],"numbers":[333333333.3333333,1e+30,4.5,0.002]}'
    """
    return _canonical(value, integers, encoder, max_depth)


def sha256(
    value: Any,
    *,
    integers: Literal["strict", "double"] = "strict",
    encoder: Encoder | None = None,
    max_depth: int = DEFAULT_MAX_DEPTH,
) -> str:
    """The SHA-256 of the canonical form that ``dumps`` gives, which is not held in memory.

    Args:
        value: As for ``dumps``.
        integers: As for ``dumps``.
        encoder: As for ``dumps``.
        max_depth: How many levels of containers may be nested.

    Returns:
        64 lower-case hexadecimal digits.

    Raises:
        CanonicalizationError: As for ``dumps``.

    Source: RFC 8785; FIPS 180-4.

    >>> sha256({"b": 1.0, "a": "x"})
    'cdab067e9f3beb32d1252cfd63e492592fecbf591b0d08cadb24bb17f3864246'
    """
    return hashlib.sha256(_canonical(value, integers, encoder, max_depth)).hexdigest()


def _canonical(value: Any, integers: str, encoder: Encoder | None, max_depth: int) -> bytes:
    profile = JCS_DOUBLE if checked_integers(integers) else JCS
    text = canonical_text(value, profile, checked_encoder(encoder), checked_depth(max_depth))
    return text.encode()
