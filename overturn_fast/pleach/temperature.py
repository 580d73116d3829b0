"""Temperatures as cache keys: rounded to a bucket as JavaScript rounds, and told from zero."""

from __future__ import annotations

import math
from typing import Any, Final

from overturn_fast.pleach.errors import InputError, wrong_type

__all__ = ["bucket", "checked_precision", "checked_temperature"]

MAX_PRECISION: Final = 15
_LARGE: Final = 1e300


def checked_temperature(value: Any) -> float:
    """A temperature as the double nearest to it.

    Raises:
        InputError: It is not finite, or past the range of doubles.
        InputTypeError: It is no int or float; a bool is none.
    """
    if type(value) is float and -_LARGE < value < _LARGE:
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise wrong_type("temperature", "a number", value)
    try:
        # The data itself, whatever a subclass does to __float__.
        number = int.__float__(value) if isinstance(value, int) else float.__float__(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise InputError("temperature", "must be a finite number")
    return number


def checked_precision(value: Any) -> int:
    """A number of decimal digits from 0 to 15.

    Raises:
        InputError: It is another number.
        InputTypeError: It is no int; a bool is none.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise wrong_type("temperaturePrecision", "an int", value)
    if not 0 <= value <= MAX_PRECISION:
        raise InputError("temperaturePrecision", f"must be from 0 to {MAX_PRECISION}")
    return int(value)


def bucket(temperature: float, precision: int) -> float:
    """``Math.round(temperature * 10 ** precision) / 10 ** precision``, as JavaScript has it.

    Halves go up, towards positive infinity, and the zero that comes out has no sign.

    Raises:
        InputError: The product is past the range of doubles.

    Source: the fingerprint contract, "Temperature bucketing"; ECMA-262, Math.round.

    >>> bucket(0.25, 1), bucket(0.049999999999999994, 1), bucket(-0.04, 1)
    (0.3, 0.0, 0.0)
    """
    scale = 10.0**precision
    scaled = temperature * scale
    if math.isinf(scaled):
        raise InputError("temperature", f"is too large for a precision of {precision}")
    # Not floor(scaled + 0.5), whose sum may round up: the difference does not reach a half so.
    below = math.floor(scaled)
    rounded = below + 1 if scaled - below >= 0.5 else below
    return rounded / scale
