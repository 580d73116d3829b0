"""Numbers of the canonical form (RFC 8785 section 3.2.2.3; ECMA-262 Number::toString)."""

from __future__ import annotations

import math
import re
from typing import Final

__all__ = ["decimal_text", "ecmascript", "integral_exact", "parse"]

# RFC 8259 section 6.
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
# What a number can begin with, as far as it goes: it ends before the first wrong character.
_BEGINNING: Final = re.compile(
    r"-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?(?:(?<=[0-9])[eE][+-]?[0-9]*)?)?"
)

# Integral doubles from here on are written with their shortest digits, not with all of them.
_EXACT_LIMIT: Final = 1e21

# str() takes this many digits of an int under any limit that the interpreter may be given.
_BLOCK_DIGITS: Final = 512


def ecmascript(value: float) -> str:
    """``value`` as ECMAScript's ``Number::toString`` and RFC 8785 write it.

    Those are the shortest digits that read back as the same double, the closest of them to
    ``value``, of two as close the even one; an exponent is used below 1e-6 and from 1e21 on.

    Args:
        value: a finite float; its own ``__repr__``, if it is of a subclass, is never asked.

    Raises:
        ValueError: ``value`` is NaN or infinite, for which JSON has no text.

    >>> [ecmascript(x) for x in (-0.0, 1.0, 0.1, 1e21, 1e-7, 5e-324, 123456789012345680000.0)]
    ['0', '1', '0.1', '1e+21', '1e-7', '5e-324', '123456789012345680000']
    """
    x = float.__pos__(value)
    if not math.isfinite(x):
        raise ValueError("NaN and Infinity have no JSON text")
    if x == 0:
        return "0"
    if x < 0:
        return "-" + ecmascript(-x)

    # The letters are those of ECMA-262: s is an integer of k digits, and x is s * 10**(n - k).
    s, n = _shortest_digits(x)
    k = len(s)
    if k <= n <= 21:
        return s + "0" * (n - k)
    if 0 < n <= 21:
        return s[:n] + "." + s[n:]
    if -6 < n <= 0:
        return "0." + "0" * -n + s
    exponent = f"e{n - 1:+d}"
    if k == 1:
        return s + exponent
    return s[0] + "." + s[1:] + exponent


def _shortest_digits(x: float) -> tuple[str, int]:
    """The digits of a positive double and n, where x = 0.digits * 10**n.

    ``float.__repr__`` gives exactly those that ECMAScript asks for, in another layout.
    """
    mantissa, _, exponent = float.__repr__(x).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    n = int(exponent or "0") + len(digits) - len(fraction)
    return digits.rstrip("0"), n


def integral_exact(value: float) -> str:
    """``value`` with every digit it stands for, if it is integral and below 1e21 in magnitude.

    Any other value is written as :func:`ecmascript` writes it.

    Args:
        value: a finite float.

    Raises:
        ValueError: ``value`` is NaN or infinite.

    >>> integral_exact(123456789012345680000.0)
    '123456789012345683968'
    >>> integral_exact(1e21), integral_exact(-0.0), integral_exact(2.5)
    ('1e+21', '0', '2.5')
    """
    x = float.__pos__(value)
    if abs(x) < _EXACT_LIMIT and x == math.floor(x):
        return str(int(x))
    return ecmascript(x)


def parse(text: str) -> float:
    """The double nearest to the number that ``text`` spells, of two as near the even one.

    Args:
        text: a JSON number (RFC 8259 section 6) and nothing else, of any length.

    Returns:
        The nearest double; an infinity past the largest, a zero below the smallest, signed.

    Raises:
        ValueError: ``text`` is not a JSON number; the message gives the offset, in characters, of
            the first one that does not fit.

    >>> parse("9007199254740993"), parse("-0"), parse("1e400")
    (9007199254740992.0, -0.0, inf)
    >>> parse("01")
    Traceback (most recent call last):
        ...
    ValueError: not a JSON number: offset 1
    """
    if _NUMBER.fullmatch(text) is None:
        beginning = _BEGINNING.match(text)
        raise ValueError(f"not a JSON number: offset {beginning.end() if beginning else 0}")
    return float(text)


def decimal_text(value: int) -> str:
    """All decimal digits of an int, as JSON writes integers.

    Unlike ``str()`` this has no limit (``sys.get_int_max_str_digits``): the number is cut into
    halves of as many digits until each is short.

    >>> decimal_text(-(10**6))
    '-1000000'
    >>> len(decimal_text(10**10_000))
    10001
    """
    number = int.__pos__(value)
    if number < 0:
        return "-" + decimal_text(-number)
    powers = []
    power: int = 10**_BLOCK_DIGITS
    while power <= number:
        powers.append(power)
        power *= power
    return _padded_digits(number, powers).lstrip("0") or "0"


def _padded_digits(number: int, powers: list[int]) -> str:
    """The digits of a number below the square of the last power, with zeros in front."""
    if not powers:
        return str(number).rjust(_BLOCK_DIGITS, "0")
    *smaller, power = powers
    upper, lower = divmod(number, power)
    return _padded_digits(upper, smaller) + _padded_digits(lower, smaller)
