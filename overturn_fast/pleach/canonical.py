"""The canonical form of the fingerprint contract, and digests."""

from __future__ import annotations

import hashlib
from typing import Any, Final

from overturn_fast._arguments import DEFAULT_MAX_DEPTH
from overturn_fast._backend import engine
from overturn_fast._errors import CanonicalizationError, SurrogateError
from overturn_fast._profiles import PLEACH
from overturn_fast._pure.strings import has_surrogate, join_surrogates
from overturn_fast.pleach.errors import wrong_type

__all__ = ["canonicalize", "digest_of", "sha256", "text_digest"]

_PROFILE: Final = PLEACH.name
_hash_with = engine.hash_with


def canonicalize(value: Any, *, max_depth: int = DEFAULT_MAX_DEPTH) -> str:
    """The canonical JSON text of a value, as every hash of a fingerprint is made of it.

    Keys are sorted by UTF-16 code unit, numbers are written as ECMAScript writes them, every int
    as the nearest double, nulls are kept, strings are left as they are, a lone surrogate is
    written as an escape, and there is no white space.

    Args:
        value: str, int, float, bool, None, dict or any other Mapping with str keys, list or tuple.
        max_depth: How many levels of containers may be nested.

    Returns:
        The text. It never holds a surrogate.

    Raises:
        CanonicalizationError: The value has no canonical form; the message names the path of the
            part that has none. Its subclasses tell the reasons apart.

    Source: the fingerprint contract, "canonicalize and sha256"; RFC 8785.

    >>> canonicalize({"b": 2, "a": 1.0, "c": None})
    '{"a":1,"b":2,"c":null}'
    """
    return engine.canonical_with(_PROFILE, value, None, max_depth)


def sha256(text: str) -> str:
    """The SHA-256 of a text in UTF-8.

    Args:
        text: Any str without lone surrogates, such as ``canonicalize`` returns.

    Returns:
        64 lower-case hexadecimal digits.

    Raises:
        SurrogateError: The text holds a lone surrogate, which has no UTF-8.
        TypeError: ``text`` is no str.

    Source: the fingerprint contract, "canonicalize and sha256"; FIPS 180-4.

    >>> sha256(canonicalize({"b": 2, "a": 1}))[:16]
    '43258cff783fe703'
    """
    return text_digest("text", text)


def text_digest(field: str, text: Any) -> str:
    """The SHA-256 of a field that is text, in UTF-8."""
    if not isinstance(text, str):
        raise wrong_type(field, "a str", text)
    plain = str.__str__(text)
    try:
        encoded = plain.encode()
    except UnicodeEncodeError:
        plain = join_surrogates(plain)
        if has_surrogate(plain):
            raise SurrogateError(f"{field}: str holds a lone surrogate") from None
        encoded = plain.encode()
    return hashlib.sha256(encoded).hexdigest()


def hash_value(value: Any, max_depth: int = DEFAULT_MAX_DEPTH) -> str:
    """The SHA-256 of a value's canonical text."""
    return _hash_with(_PROFILE, value, None, max_depth)


def digest_of(field: str, value: Any, max_depth: int = DEFAULT_MAX_DEPTH) -> str:
    """The SHA-256 of a field's canonical text; an error says which field it is about."""
    try:
        return hash_value(value, max_depth)
    except CanonicalizationError as error:
        in_field(error, field)
        raise


def in_field(error: CanonicalizationError, field: str) -> None:
    """Put a field's name in the place of the ``$`` that begins an error's path."""
    message = error.args[0] if error.args else None
    if isinstance(message, str) and message.startswith("$"):
        error.args = (field + message[1:], *error.args[1:])
