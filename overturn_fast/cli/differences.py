"""Two texts that should be one: where they part, shown in ASCII so that nothing hides."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import Final, NamedTuple

__all__ = ["Difference", "difference", "visible"]

_BEFORE: Final = 40  # characters shown before the first that differs
_AFTER: Final = 30  # and from it on
_CUT: Final = "..."


class Difference(NamedTuple):
    """Where two texts part."""

    at: int
    """The first byte of their UTF-8 that differs, counted from 0."""
    expected: str
    """The expected text around it, visible."""
    computed: str
    column: int
    """Where the character of that byte stands in the two."""


def difference(expected: str, computed: str) -> Difference:
    """Where two different texts part.

    >>> difference('{"a":1.0}', '{"a":1}')
    Difference(at=6, expected='{"a":1.0}', computed='{"a":1}', column=6)
    """
    texts = (expected, computed)
    common = _common(expected, computed)
    parting = [_utf8(text[common : common + 1]) for text in texts]
    at = len(_utf8(expected[:common])) + _common(*parting)
    start = max(0, common - _BEFORE)
    before = (_CUT if start else "") + visible(expected[start:common])
    shown = [
        before + visible(text[common : common + _AFTER]) + (_CUT if text[common + _AFTER :] else "")
        for text in texts
    ]
    return Difference(at, shown[0], shown[1], column=len(before))


def visible(text: str) -> str:
    r"""A text in printable ASCII: ``<U+00E9>`` for any other code point, surrogates too.

    >>> visible("é\x1f~")
    '<U+00E9><U+001F>~'
    """
    return "".join(
        character if " " <= character <= "~" else f"<U+{ord(character):04X}>" for character in text
    )


def _common(a: Sequence[object], b: Sequence[object]) -> int:
    """How many of the first items are the same."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False)))


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
