"""Why other SDKs may read a value otherwise, and the rules that decide it.

``_portability.py`` finds the reasons in Python objects, ``_pure/audit.py`` and its native twin in
JSON text.
"""

from __future__ import annotations

import enum
from collections.abc import Collection, Iterable
from typing import Final

from overturn_fast._errors import Segment, format_segment
from overturn_fast._pure import numbers
from overturn_fast._pure.strings import utf16_order

__all__ = [
    "EXPLANATIONS",
    "LARGEST_SAFE_INTEGER",
    "PORTABLE_DEPTH",
    "TEXT_REASONS",
    "Found",
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


TEXT_REASONS: Final = tuple(reason for reason in Reason if reason <= Reason.NESTING)
"""Those that JSON text can give."""

EXPLANATIONS: Final = {
    Reason.LARGE_INTEGER: "an int beyond 2**53 - 1, which readers that have only doubles round",
    Reason.INTEGRAL_FLOAT: "a float with another integer's digits in JavaScript than in Python",
    Reason.NOT_FINITE: "NaN or infinite, or a number past the range of doubles: null or an error",
    Reason.TRIM: "begins or ends with what Python's or JavaScript's trimming alone removes",
    Reason.SURROGATE: "holds a lone surrogate: escaped, replaced or an error",
    Reason.KEY_SURROGATE: "an object with a lone surrogate in a key: escaped, replaced or an error",
    Reason.KEY_ORDER: "an object whose keys have another order by UTF-16 unit than by code point",
    Reason.KEY_COLLISION: "an object with two keys of one text: the last, both, or an error",
    Reason.NESTING: f"nested deeper than {PORTABLE_DEPTH} levels, which recursion may not bear",
    Reason.KEY_TYPE: "a mapping with a key that is no str: its JSON text, its str() or an error",
    Reason.NO_JSON_FORM: "has no canonical form: left out, null or an error",
    Reason.SET: "a set: sorted, in the order of its iteration, or an error",
    Reason.NAIVE_DATETIME: "a datetime without a time zone: taken as UTC, or as local time",
    Reason.SDK_DIFFERS: "the Overturn SDK 0.1.4 makes something else of it, often null",
}
"""Each reason in words."""

Step = Segment
"""One step of a path: a key, an index, or None for any index."""

Found = tuple[Reason, "tuple[Step, ...]"]
"""A reason, and the path."""

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


def format_steps(steps: Iterable[Step], *, is_cut: bool = False) -> str:
    """A path as text, every index left open.

    >>> format_steps(["filters", None, "two words"]), format_steps(["a", 3], is_cut=True)
    ('$.filters[]["two words"]', '$.a[3]...')
    """
    shown = ("[]" if step is None else format_segment(step) for step in steps)
    return "$" + "".join(shown) + "..." * is_cut
