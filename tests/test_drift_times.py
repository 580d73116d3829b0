"""Times of responses: whatever is given, as milliseconds since 1970, or an error."""

from __future__ import annotations

import math
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from parameter_ids import shown

from overturn_fast.shape import ShapeStats

EAST = timezone(timedelta(hours=5, minutes=30))


@pytest.mark.parametrize(
    ("time", "milliseconds"),
    [
        (None, None),
        (0, 0),
        (0.0, 0),
        (-0.0, 0),
        (1.9999, 1999),
        (253_402_300_799, 253_402_300_799_000),
        ("1970-01-01T00:00:00Z", 0),
        ("2026-07-13T06:44:18Z", 1_783_925_058_000),
        ("2026-07-13t06:44:18z", 1_783_925_058_000),
        ("2026-07-13 06:44:18", 1_783_925_058_000),
        ("2026-07-13T06:44", 1_783_925_040_000),
        ("2026-07-13T12:14:18+0530", 1_783_925_058_000),
        ("2026-07-13T06:44:18-00:00", 1_783_925_058_000),
        ("2026-07-13", 1_783_900_800_000),
        ("2026-07-13T06:44:18.5Z", 1_783_925_058_500),
        ("2026-07-13T06:44:18.123456789Z", 1_783_925_058_123),
        ("2026-07-13T06:44:18.9999999+05:30", 1_783_905_258_999),
        ("9999-12-31T23:59:59.9999Z", 253_402_300_799_999),
        (datetime(2026, 7, 13, 6, 44, 18, 999_999), 1_783_925_058_999),
        (datetime(2026, 7, 13, 6, 44, 18, tzinfo=EAST), 1_783_905_258_000),
    ],
    ids=shown,
)
def test_a_time_is_milliseconds_since_1970(time: Any, milliseconds: int | None) -> None:
    stats = ShapeStats("t")
    stats.observe({}, time)
    assert (stats.first_seen, stats.last_seen) == (milliseconds, milliseconds)


@pytest.mark.parametrize(
    "time",
    [
        -1, -0.001, 253_402_300_800, 10**400, -(10**400), math.nan, math.inf, "", "now", "7",
        "2026-13-01", "2026-07-13T06:44:18.Z", "20260713T064418Z", "2026-W29-1", "2026-07-13Z",
        "2026-07-13T24:00:00Z", "2026-07-13T06:44:18+25:00", "２０２６-07-13", "2026-07-13T06Z",
        "1969-12-31T23:59:59Z", "Z", "\ud800",
        datetime(1969, 12, 31), "0001-01-01T00:00:00+23:59",
    ],
    ids=shown,
)  # fmt: skip
def test_what_is_no_time_is_refused(time: Any) -> None:
    stats = ShapeStats("t")
    with pytest.raises(ValueError, match=r"^a time must be "):
        stats.observe({}, time)
    assert stats.observations == 0


@pytest.mark.parametrize("time", [True, b"2026-07-13", [], 1j], ids=shown)
def test_a_time_of_another_type_is_refused(time: Any) -> None:
    with pytest.raises(TypeError, match=r"^a time must be a datetime, seconds or text, not "):
        ShapeStats("t").observe({}, time)
