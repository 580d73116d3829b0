"""The JSON Canonicalization Scheme, RFC 8785: the names of the ``rfc8785`` package, natively.

Replacing that package takes a changed import::

    from overturn_fast import jcs as rfc8785

    rfc8785.dumps({"b": 1.0, "a": [True, None]})

Besides Python objects this module takes JSON text, of which it builds none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from overturn_fast._arguments import DEFAULT_MAX_DEPTH, checked_depth
from overturn_fast._backend import engine, text_engine
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
from overturn_fast._profiles import JCS
from overturn_fast._text import checked_json

if TYPE_CHECKING:
    from overturn_fast._convert import Encoder

__all__ = [
    "CanonicalizationError",
    "CircularReferenceError",
    "DepthError",
    "DuplicateKeyError",
    "FloatDomainError",
    "IntegerDomainError",
    "JSONTextError",
    "KeyTypeError",
    "SurrogateError",
    "UnsupportedTypeError",
    "canonicalize",
    "dump",
    "dumps",
    "sha256",
]

dumps = engine.dumps
sha256 = engine.sha256


def dump(
    value: Any,
    fp: BinaryIO,
    *,
    integers: Literal["strict", "double"] = "strict",
    encoder: Encoder | None = None,
    max_depth: int = DEFAULT_MAX_DEPTH,
) -> None:
    """Write the canonical form of a value to a binary stream, all of it or nothing.

    Args:
        value: As for ``dumps``.
        fp: Anything with a ``write`` method that takes bytes.
        integers: As for ``dumps``.
        encoder: As for ``dumps``.
        max_depth: How many levels of containers may be nested.

    Raises:
        CanonicalizationError: As for ``dumps``.

    Source: RFC 8785.

    >>> import io
    >>> stream = io.BytesIO()
    >>> dump({"b": 1.0, "a": None}, stream)
    >>> stream.getvalue()
    b'{"a":null,"b":1}'
    """
    fp.write(dumps(value, integers=integers, encoder=encoder, max_depth=max_depth))


def canonicalize(
    text: str | bytes | bytearray | memoryview, *, max_depth: int = DEFAULT_MAX_DEPTH
) -> bytes:
    """The canonical form of a JSON text; no Python object is made of what it holds.

    Every number is read as the double nearest to it, so ``9007199254740993`` is written
    ``9007199254740992``. The GIL is released meanwhile; ``text`` must not be changed by another
    thread until the call returns.

    Args:
        text: A JSON text (RFC 8259) in UTF-8: a str, or bytes or another bytes-like object. Nothing
            but white space may follow the value, and no byte order mark may precede it.
        max_depth: How many levels of containers may be nested.

    Returns:
        The canonical text in UTF-8.

    Raises:
        JSONTextError: ``text`` is no JSON; ``offset``, ``line`` and ``column`` say where.
        DuplicateKeyError: An object has two members whose names are the same once they are
            unescaped.
        FloatDomainError: A number is past the range of doubles.
        SurrogateError: An escape stands for a lone surrogate.
        DepthError: The text is nested deeper than ``max_depth``.
        TypeError: ``text`` is neither a str nor bytes-like.

    Source: RFC 8785; RFC 8259.

    >>> canonicalize('{"b": 1.0, "a": ["x", 1E30]}')
    b'{"a":["x",1e+30],"b":1}'
    """
    return text_engine.canonical_text(checked_json(text, "text"), JCS, checked_depth(max_depth))
