"""What a converter answers with that the walk does not meet in a caller's value."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Final

__all__ = [
    "DROPPED",
    "NULL",
    "UNSUPPORTED",
    "Converter",
    "Encoder",
    "Mark",
    "Pairs",
    "SetItems",
    "Verbatim",
]

Encoder = Callable[[object], object]
"""A caller's hook: a value in, a value with a canonical form out (or ``NotImplemented``)."""

Converter = Callable[[object, "Encoder | None"], object]


class Mark(enum.Enum):
    """Answers of a converter that are not values."""

    DROPPED = "dropped"
    UNSUPPORTED = "unsupported"


DROPPED: Final = Mark.DROPPED
"""The value is left out, as None is."""
UNSUPPORTED: Final = Mark.UNSUPPORTED
"""The value has no canonical form."""


class Pairs(list[tuple[object, object]]):
    """The (key, value) pairs of a mapping, to be written as an object."""

    __slots__ = ()


class SetItems(list[object]):
    """The items of a set, to be written as an array sorted by their canonical texts."""

    __slots__ = ()


class Verbatim(str):
    """Canonical text already, to be written as it is."""

    __slots__ = ()


NULL: Final = Verbatim("null")
"""A ``null`` that is not left out as None is."""
