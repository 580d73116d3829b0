"""Points in time: whatever callers have, as milliseconds since 1970, and those as text."""

from __future__ import annotations

import math
import re
from datetime import datetime, timezone
from typing import Final

__all__ = ["Time", "iso", "milliseconds"]

Time = datetime | float | str
"""A datetime (UTC unless it says otherwise), seconds since 1970 in UTC, or ISO 8601 text."""

_LAST: Final = 253_402_300_799_999  # the end of the year 9999
_ISO: Final = re.compile(
    r"(\d{4}-\d\d-\d\d)"
    r"(?:[Tt ]((?:[01]\d|2[0-3]):[0-5]\d)(?::(\d\d)(?:\.(\d+))?)?(?:[Zz]|([+-]\d\d):?(\d\d))?)?",
    re.ASCII,
)
_NO_TIME: Final = "a time must be ISO 8601, such as 2026-07-13T06:44:18Z"


def milliseconds(time: Time | None) -> int | None:
    """A point in time in milliseconds since 1970, UTC; parts of one are cut off.

    Raises:
        ValueError: It is before 1970, after 9999, or no time at all.
        TypeError: It is of another type.

    >>> milliseconds("2026-07-13T06:44:18Z"), milliseconds(1.5), milliseconds(None)
    (1783925058000, 1500, None)
    """
    if time is None:
        return None
    if type(time) is float and 0.0 <= time < _LAST / 1000:  # what a clock gives
        return int(time * 1000)
    if isinstance(time, str):
        time = _parsed(time)
    if isinstance(time, datetime):
        aware = time if time.tzinfo is not None else time.replace(tzinfo=timezone.utc)
        since = aware - datetime(1970, 1, 1, tzinfo=timezone.utc)
        value = (since.days * 86_400 + since.seconds) * 1000 + since.microseconds // 1000
    elif isinstance(time, bool) or not isinstance(time, (int, float)):
        raise TypeError(f"a time must be a datetime, seconds or text, not {type(time).__name__}")
    else:
        value = math.floor(time * 1000) if 0 <= time <= _LAST / 1000 else -1
    if not 0 <= value <= _LAST:
        raise ValueError("a time must be from 1970 to 9999")
    return value


def _parsed(text: str) -> datetime:
    # The same in every version of Python: 3.10 reads less than this, later ones read more.
    match = _ISO.fullmatch(text)
    if match is None:
        raise ValueError(_NO_TIME)
    date, minutes, seconds, fraction, zone, minutes_of_zone = match.groups("")
    fraction = f"{fraction[:6]:0<6}"
    zone = f"{zone}:{minutes_of_zone}" if minutes_of_zone else "+00:00"
    try:
        return datetime.fromisoformat(
            f"{date}T{minutes or '00:00'}:{seconds or '00'}.{fraction}{zone}"
        )
    except ValueError:
        raise ValueError(_NO_TIME) from None


def iso(time: int) -> str:
    """Milliseconds since 1970 as ISO 8601 in UTC; with a fraction only if there is one.

    >>> iso(1783925058000), iso(1500)
    ('2026-07-13T06:44:18Z', '1970-01-01T00:00:01.500Z')
    """
    moment = datetime.fromtimestamp(time // 1000, timezone.utc).replace(tzinfo=None)
    fraction = f".{time % 1000:03d}" if time % 1000 else ""
    return f"{moment.isoformat()}{fraction}Z"
