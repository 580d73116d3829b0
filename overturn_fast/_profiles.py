"""The policies that tell one contract's canonical form from another's.

A profile is a constant record. The C core has the same records (``csrc/core/profile.c``); neither
backend branches on a contract's name, only on these fields.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Final

__all__ = ["COMPAT", "JCS", "JCS_DOUBLE", "MCPULSE", "OVERTURN", "PLEACH", "Integers", "Profile"]


class Integers(enum.IntEnum):
    """How an int is written."""

    EXACT_BELOW_1E21 = 0
    """Its digits below 1e21; from there the nearest double; ``null`` past the double range."""
    SAFE_ONLY = 1
    """Its digits up to 2**53 - 1 in magnitude; an error beyond."""
    AS_DOUBLE = 2
    """As the nearest double; an error past the double range."""
    ALL_DIGITS = 3
    """All its digits; an error where ``str()`` is one (``sys.get_int_max_str_digits``)."""


@dataclass(frozen=True, slots=True)
class Profile:
    """The policies of one canonical form (see the table in ``docs/canonical-form.md``)."""

    name: str
    utf16_key_order: bool
    """Keys are ordered by UTF-16 code unit (RFC 8785), else by code point."""
    drop_none: bool
    """None members of objects and arrays are left out, else written ``null``."""
    trim_strings: bool
    """String values lose leading and trailing white space, as by ``str.strip``."""
    integers: Integers
    exact_integral_floats: bool
    """An integral float below 1e21 is written with all its digits, not the shortest ones."""
    non_finite_null: bool
    """NaN and infinities are written ``null``, else they are an error."""
    escape_surrogates: bool
    """A lone surrogate is written ``\\udxxx``, else it is an error."""
    join_surrogates: bool
    """A high and a low surrogate that follow each other in a str are read as one character."""
    any_key: bool
    """Keys that are int, float, bool or None are written as their JSON text, else an error."""
    str_keys: bool
    """Every key that is no exact str is written as its ``str()``, whatever ``any_key`` says."""
    repeat_members: bool
    """Of keys with one text each is written that has a value other than None, all with the value
    of the last, be it None; else the last one alone counts."""
    convert_subclasses: bool
    """Subclasses of str, int and float are left to the converter, else their underlying data is
    written."""
    last_duplicate_wins: bool
    """Of members of one name that JSON text has, the last counts, else an error."""


OVERTURN: Final = Profile(
    name="overturn",
    utf16_key_order=False,
    drop_none=True,
    trim_strings=True,
    integers=Integers.EXACT_BELOW_1E21,
    exact_integral_floats=True,
    non_finite_null=True,
    escape_surrogates=True,
    join_surrogates=True,
    any_key=True,
    str_keys=False,
    repeat_members=False,
    convert_subclasses=False,
    last_duplicate_wins=True,
)

JCS: Final = Profile(
    name="jcs",
    utf16_key_order=True,
    drop_none=False,
    trim_strings=False,
    integers=Integers.SAFE_ONLY,
    exact_integral_floats=False,
    non_finite_null=False,
    escape_surrogates=False,
    join_surrogates=False,
    any_key=False,
    str_keys=False,
    repeat_members=False,
    convert_subclasses=False,
    last_duplicate_wins=False,
)

JCS_DOUBLE: Final = Profile(
    name="jcs-double",
    utf16_key_order=True,
    drop_none=False,
    trim_strings=False,
    integers=Integers.AS_DOUBLE,
    exact_integral_floats=False,
    non_finite_null=False,
    escape_surrogates=False,
    join_surrogates=False,
    any_key=False,
    str_keys=False,
    repeat_members=False,
    convert_subclasses=False,
    last_duplicate_wins=False,
)

MCPULSE: Final = Profile(
    name="mcpulse",
    utf16_key_order=True,
    drop_none=False,
    trim_strings=False,
    integers=Integers.AS_DOUBLE,
    exact_integral_floats=False,
    non_finite_null=False,
    escape_surrogates=True,
    join_surrogates=False,
    any_key=False,
    str_keys=False,
    repeat_members=False,
    convert_subclasses=False,
    last_duplicate_wins=False,
)

PLEACH: Final = Profile(
    name="pleach",
    utf16_key_order=True,
    drop_none=False,
    trim_strings=False,
    integers=Integers.AS_DOUBLE,
    exact_integral_floats=False,
    non_finite_null=False,
    escape_surrogates=True,
    join_surrogates=True,
    any_key=False,
    str_keys=False,
    repeat_members=False,
    convert_subclasses=False,
    last_duplicate_wins=False,
)

COMPAT: Final = Profile(
    name="compat",
    utf16_key_order=False,
    drop_none=True,
    trim_strings=True,
    integers=Integers.ALL_DIGITS,
    exact_integral_floats=True,
    non_finite_null=True,
    escape_surrogates=False,
    join_surrogates=False,
    any_key=True,
    str_keys=True,
    repeat_members=True,
    convert_subclasses=True,
    last_duplicate_wins=True,
)

PROFILES: Final = (OVERTURN, JCS, JCS_DOUBLE, MCPULSE, PLEACH, COMPAT)
"""In the order of ``ovt_profiles`` in the C core."""
