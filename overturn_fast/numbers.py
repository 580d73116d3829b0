"""Numbers as ECMAScript and RFC 8785 write them, and JSON numbers as doubles.

The same routines that the canonical forms use, one number at a time: for tests of other
implementations, and for anyone who has to write a number exactly as a fingerprint sees it.
``docs/numbers.md`` says how they work and why they are right.

>>> ecmascript(1e21), ecmascript(0.1 + 0.2)
('1e+21', '0.30000000000000004')
>>> parse("9007199254740993")
9007199254740992.0
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from overturn_fast._backend import backend
from overturn_fast._errors import FloatDomainError, type_name
from overturn_fast._pure import numbers as pure

if TYPE_CHECKING or backend == "native":
    from overturn_fast._native import ffi, lib

__all__ = ["ecmascript", "parse"]


def ecmascript(value: float) -> str:
    """The text of a double as ECMAScript's ``Number::toString`` and RFC 8785 give it.

    Those are the shortest digits that read back as the same double, the closest of them to
    ``value``, of two as close the even one; an exponent is used below 1e-6 and from 1e21 on.

    Args:
        value: A finite float, or an int that a double holds exactly. A subclass's ``__float__``,
            ``__repr__`` and the like are never asked.

    Raises:
        FloatDomainError: ``value`` is NaN or infinite, for which JSON has no text.
        ValueError: ``value`` is an int that no double equals.
        TypeError: ``value`` is no number.

    Source: ECMA-262, Number::toString; RFC 8785 section 3.2.2.3.

    >>> [ecmascript(x) for x in (-0.0, 1.0, 0.1, 1e21, 1e-7, 5e-324)]
    ['0', '1', '0.1', '1e+21', '1e-7', '5e-324']
    """
    number = _double_of(value)
    if not math.isfinite(number):
        raise FloatDomainError(f"{type_name(value)} is not a finite number")
    if backend == "python":
        return pure.ecmascript(number)
    out = ffi.new("char[]", lib.OVT_NUMBER_SIZE)
    return bytes(ffi.buffer(out, lib.ovt_write_double(out, number))).decode("ascii")


def parse(text: str) -> float:
    """The double nearest to the number that ``text`` spells, of two as near the even one.

    Args:
        text: A JSON number (RFC 8259 section 6) and nothing else, of any length.

    Returns:
        The nearest double; an infinity past the largest, a zero below the smallest, signed.

    Raises:
        ValueError: ``text`` is no JSON number; the message gives the offset, in characters, of the
            first one that does not fit.
        TypeError: ``text`` is no str.

    Source: RFC 8259 section 6; IEEE 754 roundTiesToEven.

    >>> parse("0.1"), parse("-0"), parse("1e400")
    (0.1, -0.0, inf)
    >>> parse("01")
    Traceback (most recent call last):
        ...
    ValueError: not a JSON number: offset 1
    """
    if not isinstance(text, str):
        raise TypeError(f"text must be a str, not {type_name(text)}")
    if backend == "python":
        return pure.parse(str.__str__(text))
    # Up to the first character that does not fit, characters and bytes are the same.
    literal = ffi.from_buffer("char[]", str.encode(text, "utf-8", "surrogatepass"))
    number: Any = ffi.new("ovt_number *")
    lib.ovt_read_number(literal, literal + len(literal), number)
    if number.length == 0 or number.length != len(literal):
        raise ValueError(f"not a JSON number: offset {number.length or number.error_at}")
    return float(number.value)


def _double_of(value: object) -> float:
    if isinstance(value, float):
        return float.__pos__(value)
    if isinstance(value, int) and not isinstance(value, bool):
        integer = int.__index__(value)
        try:
            number = float(integer)
        except OverflowError:
            number = math.inf
        if number != integer:
            raise ValueError(f"no double equals this {type_name(value)}")
        return number
    raise TypeError(f"value must be a float, not {type_name(value)}")
