"""What other SDKs may read otherwise: the reasons, and a walk over Python objects that finds them.

The same reasons are found in JSON text by ``_pure/audit.py`` and its native twin.
"""

from __future__ import annotations

import enum
from collections.abc import Collection, Iterable
from typing import Final

from overturn_fast._errors import Segment, format_segment
from overturn_fast._pure import numbers
from overturn_fast._pure.strings import utf16_order

__all__ = [
    "LARGEST_SAFE_INTEGER",
    "PORTABLE_DEPTH",
    "Reason",
    "Step",
    "format_steps",
    "has_other_digits",
    "is_trimmed_otherwise",
    "orders_differ",
]

PORTABLE_DEPTH: Final = 300
"""Levels of nested containers that every SDK is taken to bear; ``OVT_PORTABLE_DEPTH`` in C."""

LARGEST_SAFE_INTEGER: Final = 2**53 - 1


class Reason(enum.IntEnum):
    """Why a value is no safe one. The first are those of ``ovt_portability_reason`` in the core."""

    LARGE_INTEGER = 1
    INTEGRAL_FLOAT = 2
    NOT_FINITE = 3
    TRIM = 4
    SURROGATE = 5
    KEY_SURROGATE = 6
    KEY_ORDER = 7
    KEY_COLLISION = 8
    NESTING = 9
    KEY_TYPE = 10
    NO_JSON_FORM = 11
    SET = 12
    NAIVE_DATETIME = 13
    SDK_DIFFERS = 14

    @property
    def code(self) -> str:
        """The reason as users see it: ``large-integer``."""
        return self.name.lower().replace("_", "-")


# What String.prototype.trim removes (ECMA-262, WhiteSpace and LineTerminator).
_JAVASCRIPT_SPACE: Final = (
    "\t\n\v\f\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)


def is_trimmed_otherwise(text: str) -> bool:
    r"""Whether JavaScript's ``trim`` leaves something else of a string than ``str.strip``.

    >>> [is_trimmed_otherwise(text) for text in (" x ", "x\x1f ", "\ufeffx", "x\x85y")]
    [False, True, True, False]
    """
    return text.strip() != text.strip(_JAVASCRIPT_SPACE)


def has_other_digits(value: float) -> bool:
    """Whether a finite double is written with other digits than JavaScript writes.

    >>> has_other_digits(123456789012345680000.0), has_other_digits(1e20), has_other_digits(0.5)
    (True, False, False)
    """
    is_large = abs(value) > LARGEST_SAFE_INTEGER
    return is_large and numbers.integral_exact(value) != numbers.ecmascript(value)


def orders_differ(keys: Collection[str]) -> bool:
    r"""Whether keys come in another order by UTF-16 code unit than by code point.

    >>> orders_differ(["\ue000", "\U0001f600"]), orders_differ(["a", "\U0001f600"])
    (True, False)
    """
    if not any(character > "\uffff" for key in keys for character in key):
        return False
    return sorted(keys) != sorted(keys, key=utf16_order)


Step = Segment
"""One step of a path: a key, an index, or None for any index."""


def format_steps(steps: Iterable[Step], *, is_cut: bool = False) -> str:
    """A path as text, every index left open.

    >>> format_steps(["filters", None, "two words"]), format_steps(["a", 3], is_cut=True)
    ('$.filters[]["two words"]', '$.a[3]...')
    """
    shown = ("[]" if step is None else format_segment(step) for step in steps)
    return "$" + "".join(shown) + "..." * is_cut
