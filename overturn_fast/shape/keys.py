"""Keys of objects that are data: identifiers, times, addresses, where a name is expected."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["LONGEST_NAME", "is_identifier"]

LONGEST_NAME: Final = 128
"""Characters of the longest key that may be the name of a field."""

_HEX: Final = "[0-9A-Fa-f]"

_IDENTIFIER: Final = re.compile(
    "|".join(
        (
            # Digits, alone or in groups: numbers, dates, times, addresses, telephone numbers.
            r"[+(-]*[0-9]+(?:[-.,:/_ T()]+[0-9]+)*(?:Z|[ap]m|%)?",
            # A date with a time behind it, however it is written.
            r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ].*",
            # UUID
            rf"(?:urn:uuid:)?\{{?{_HEX}{{8}}-(?:{_HEX}{{4}}-){{3}}{_HEX}{{12}}\}}?",
            # E-mail address
            r"[^\s@]+@[^\s@]+\.[^\s@]+",
            # URL
            r"[A-Za-z][A-Za-z0-9+.-]*://.*",
            # Digest or other hexadecimal number: marked as one, or long and with a digit in it
            rf"0[xX]{_HEX}+",
            rf"(?=[A-Fa-f]*[0-9]){_HEX}{{16,}}",
            # IPv6 address
            rf"(?=.*:.*:){_HEX}{{0,4}}(?::{_HEX}{{0,4}}){{2,7}}(?:%.*)?",
            # Token, perhaps with a prefix: 12 letters and digits in a row, two of each at least
            r"(?:[A-Za-z]+[-_.:])*(?=[A-Za-z0-9]*[0-9][A-Za-z0-9]*[0-9])"
            r"(?=[A-Za-z0-9]*[A-Za-z][A-Za-z0-9]*[A-Za-z])[A-Za-z0-9]{16,}(?:[-_=.][A-Za-z0-9]*)*",
        )
    ),
    re.DOTALL,
)


def is_identifier(key: str) -> bool:
    """Whether a key is by its own form an identifier and no name: no tree of names gets to hold it.

    Digits, dates, times, UUIDs, e-mail and IP addresses, URLs, hexadecimal numbers that are long or
    begin with 0x, long tokens of letters and digits, and anything of more than 128 characters.

    >>> [is_identifier(key) for key in ("2026-07-13", "17", "ann@example.com", "10.0.0.7")]
    [True, True, True, True]
    >>> [is_identifier(key) for key in ("price_cents", "address_2", "sha256", "x-request-id")]
    [False, False, False, False]
    """
    return len(key) > LONGEST_NAME or _IDENTIFIER.fullmatch(key) is not None
