"""What the Overturn SDK 0.1.4 makes of values that JSON has no form for, one node at a time.

The rules are those that can be observed of the SDK, its oddities included, since recorded cases
depend on them. Where the SDK raises, so does the converter, and the caller of the walk decides.
"""

from __future__ import annotations

import datetime
import decimal
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from overturn_fast._errors import ReadFailure
from overturn_fast._marks import NULL, Encoder, Pairs, Verbatim

__all__ = ["convert_compat", "is_called_into"]

_JSON_TYPES: Final = (str, int, float, dict, list, tuple)
_EXPONENT_FROM: Final = 1e21


def convert_compat(value: object, encoder: Encoder | None) -> object:
    """The SDK's rules for a value that is not exactly of a JSON type."""
    if encoder is not None and not issubclass(type(value), _JSON_TYPES):
        encoded = encoder(value)
        if encoded is not NotImplemented:
            return NULL if encoded is None else encoded
    try:
        converted = _converted(value)
    except Exception as error:
        raise ReadFailure from error
    # The SDK leaves a None out only where it stands as such: one that is computed is a null.
    return NULL if converted is None else converted


def is_called_into(value: Any) -> bool:
    """Whether the SDK, on its way down, looks at what this object becomes as at a new value."""
    return not isinstance(value, (str, bytes, Mapping, Sequence, set, frozenset))


def _converted(value: Any) -> object:
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, int):
        return Verbatim(str(value))
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, decimal.Decimal):
        return float(value)
    if isinstance(value, datetime.datetime):
        return _moment(value)
    if isinstance(value, Mapping):
        return Pairs((key, member) for key, member in value.items())
    if isinstance(value, (list, tuple, set, frozenset)):
        return list(value)
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return list(value)
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump()
    return vars(value) if hasattr(value, "__dict__") else NULL


def _string(value: str) -> object:
    """A str of a subclass: trimmed by its own ``strip``, if it has one."""
    if type(value).strip is str.strip:
        return str.__str__(value)
    return _quoted(value.strip())


def _quoted(text: str) -> Verbatim:
    return Verbatim(json.dumps(text, ensure_ascii=False, separators=(",", ":")))


def _moment(value: datetime.datetime) -> Verbatim:
    """In UTC with milliseconds; a time zone that knows no offset is that of the machine."""
    aware = value if value.tzinfo else value.replace(tzinfo=datetime.timezone.utc)
    text = aware.astimezone(datetime.timezone.utc).isoformat(timespec="milliseconds")
    return _quoted(text.replace("+00:00", "Z"))


def _float(value: float) -> object:
    """A float of a subclass: its digits are those of its own ``repr``."""
    if math.isnan(value) or math.isinf(value):
        return NULL
    if value == 0.0:
        return 0
    if value.is_integer() and abs(value) < _EXPONENT_FROM:
        return Verbatim(str(int(value)))
    own = repr(value)
    if own == float.__repr__(value):
        return float.__pos__(value)
    return _decimal_literal(own)


def _decimal_literal(text: str) -> Verbatim:
    """A decimal number in the layout of ECMAScript's ``Number::toString``."""
    is_negative, digit_tuple, exponent = decimal.Decimal(text).as_tuple()
    if not isinstance(exponent, int):
        return NULL
    all_digits = "".join(map(str, digit_tuple))
    digits = all_digits.rstrip("0") or all_digits[:1]
    count = len(digits)
    point = exponent + len(all_digits)  # the value is 0.digits * 10**point
    if count <= point <= 21:
        layout = digits + "0" * (point - count)
    elif 0 < point <= 21:
        layout = f"{digits[:point]}.{digits[point:]}"
    elif -6 < point <= 0:
        layout = f"0.{'0' * -point}{digits}"
    else:
        fraction = f".{digits[1:]}" if count > 1 else ""
        layout = f"{digits[0]}{fraction}e{point - 1:+d}"
    return Verbatim(f"-{layout}" if is_negative else layout)
