"""Strings of the canonical form (RFC 8785 section 3.2.2.2; ECMA-262 QuoteJSONString)."""

from __future__ import annotations

import re
from typing import Final

__all__ = [
    "call_prefix",
    "has_surrogate",
    "join_surrogates",
    "quote",
    "replace_lone_surrogates",
    "utf16_order",
]

_SHORT_ESCAPES: Final = {
    "\b": "\\b",
    "\t": "\\t",
    "\n": "\\n",
    "\f": "\\f",
    "\r": "\\r",
    '"': '\\"',
    "\\": "\\\\",
}

# In a Python str every surrogate is a code point of its own, whatever stands beside it.
_TO_ESCAPE: Final = re.compile(r'[\x00-\x1f"\\\ud800-\udfff]')
_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")
_SURROGATE_PAIR: Final = re.compile(r"[\ud800-\udbff][\udc00-\udfff]")


def quote(text: str) -> str:
    r"""``text`` as a JSON string.

    The seven short escapes, ``\u00xx`` for the other control characters, ``\udxxx`` for
    surrogates; every other character stands as it is.

    >>> print(quote('tab\t "é" \x1f \ud800'))
    "tab\t \"é\" \u001f \ud800"
    """
    return '"' + _TO_ESCAPE.sub(_escape, text) + '"'


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    return _SHORT_ESCAPES.get(character) or f"\\u{ord(character):04x}"


def has_surrogate(text: str) -> bool:
    """Whether a surrogate code point stands in ``text``."""
    return _SURROGATE.search(text) is not None


def join_surrogates(text: str) -> str:
    r"""``text`` with each high surrogate followed by a low one read as the character they encode.

    >>> join_surrogates("\ud83d\ude00") == "\U0001f600"
    True
    """
    return _SURROGATE_PAIR.sub(_join, text)


def replace_lone_surrogates(text: str) -> str:
    """``text`` with U+FFFD for every surrogate, as WHATWG's UTF-8 encoder writes it."""
    return _SURROGATE.sub("\ufffd", text)


def call_prefix(kind: str, name: str) -> bytes:
    """What is hashed before the arguments of a call; a lone surrogate is replaced by U+FFFD."""
    return replace_lone_surrogates(join_surrogates(f"{kind}\n{name}\n")).encode()


def _join(match: re.Match[str]) -> str:
    high, low = map(ord, match.group())
    return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))


def utf16_order(text: str) -> bytes:
    """A sort key that orders strings by UTF-16 code unit (RFC 8785 section 3.2.3)."""
    return text.encode("utf-16-be", "surrogatepass")
