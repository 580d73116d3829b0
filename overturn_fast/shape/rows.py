"""The shape of one value: rows of paths and types, and the digest over them."""

from __future__ import annotations

from overturn_fast._arguments import DEFAULT_MAX_DEPTH, checked_depth, checked_shape_profile
from overturn_fast._backend import engine, shape_text_engine
from overturn_fast._text import checked_json

__all__ = ["fingerprint", "fingerprint_text", "shape", "shape_text"]

shape = engine.shape
fingerprint = engine.shape_fingerprint


def shape_text(
    text: str | bytes | bytearray | memoryview,
    *,
    profile: str = "seed",
    max_depth: int = DEFAULT_MAX_DEPTH,
) -> list[tuple[str, str]]:
    """The shape of a JSON text: ``shape`` of its value, of which no Python object is made.

    Args:
        text: A JSON text (RFC 8259) in UTF-8: a str, or bytes or another bytes-like object. It must
            not be changed by another thread until the call returns.
        profile: As for ``shape``.
        max_depth: How many levels of containers may be nested.

    Returns:
        The rows that ``shape`` gives for the value of the text. Of two members of one name the last
        counts.

    Raises:
        JSONTextError: ``text`` is no JSON; ``offset``, ``line`` and ``column`` say where. What does
            not count must be JSON all the same.
        DepthError: It is nested deeper than ``max_depth``.
        CanonicalizationError: As for ``shape``.
        TypeError: ``text`` is neither a str nor bytes-like.
        ValueError: There is no such profile.

    Source: "The case for shape-only fingerprints", A minimal implementation; RFC 8259.

    >>> shape_text('{"sku": "pro", "price": {"cents": 24000}}')
    [('$', 'object'), ('$.price', 'object'), ('$.price.cents', 'number'), ('$.sku', 'string')]
    """
    profile, max_depth = checked_shape_profile(profile), checked_depth(max_depth)
    return shape_text_engine.text_shape(checked_json(text, "text"), profile, max_depth)


def fingerprint_text(
    text: str | bytes | bytearray | memoryview,
    *,
    profile: str = "seed",
    max_depth: int = DEFAULT_MAX_DEPTH,
) -> str:
    """The digest over the shape of a JSON text, of which no Python object is made.

    Args:
        text: As for ``shape_text``.
        profile: As for ``shape``.
        max_depth: How many levels of containers may be nested.

    Returns:
        What ``fingerprint`` gives for the value of the text.

    Raises:
        SurrogateError: A key that counts holds an escaped lone surrogate; under ``"seed"`` only.
        JSONTextError: As for ``shape_text``.
        DepthError: It is nested deeper than ``max_depth``.
        CanonicalizationError: As for ``shape``.
        TypeError: ``text`` is neither a str nor bytes-like.
        ValueError: There is no such profile.

    Source: "The case for shape-only fingerprints", A minimal implementation; RFC 8259.

    >>> fingerprint_text('{"sku": "pro-annual", "price_cents": 24000, "currency": "USD", '
    ...     '"updated_at": "2026-07-13T08:15:02Z"}')
    '787c492befbf0c593299654384e16a3ef805df3c5d3efab1d899b7091a372f46'
    """
    profile, max_depth = checked_shape_profile(profile), checked_depth(max_depth)
    return shape_text_engine.text_shape_digest(checked_json(text, "text"), profile, max_depth)
