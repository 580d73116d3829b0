"""The six profiles: each policy by its behaviour, and vectors of each profile's own source."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import enum
import hashlib
import json
import math
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

import pytest
from parameter_ids import shown

from overturn_fast import CanonicalizationError, DuplicateKeyError
from overturn_fast._convert import CONVERTERS
from overturn_fast._profiles import PROFILES, Integers, Profile

NAMES = ["overturn", "jcs", "jcs-double", "mcpulse", "pleach", "compat"]


class Text(str):
    """Some code reads it as it stands, some by its own str()."""

    def __str__(self) -> str:
        return "own"


class Number(int):
    """Likewise."""

    def __repr__(self) -> str:
        return "five"


class Repeating(dict[str, int]):
    """A mapping that has two members of one name."""

    def items(self) -> Any:
        return [("a", 1), ("a", 2)]


def text_or_error(engine: ModuleType, profile: str, value: object) -> str:
    """The canonical text, or the name of the error."""
    try:
        return str(engine.canonical_with(profile, value))
    except CanonicalizationError as error:
        return type(error).__name__


# -- the records -----------------------------------------------------------------------------------


def refuses_duplicates(text_engine: ModuleType, name: str) -> bool:
    (profile,) = (profile for profile in PROFILES if profile.name == name)
    try:
        return bool(text_engine.canonical_text(b'{"a":1,"a":2}', profile, 1) != b'{"a":2}')
    except DuplicateKeyError:
        return True


def policies_of(engine: ModuleType, text_engine: ModuleType, name: str) -> dict[str, Any]:
    """The policies of a profile as its behaviour shows them."""

    def answer(value: object) -> str:
        return text_or_error(engine, name, value)

    large = {
        ("9007199254740993", "1e+21", "null"): Integers.EXACT_BELOW_1E21,
        ("IntegerDomainError",) * 3: Integers.SAFE_ONLY,
        ("9007199254740992", "1e+21", "IntegerDomainError"): Integers.AS_DOUBLE,
        ("9007199254740993", "1" + "0" * 21, "1" + "0" * 400): Integers.ALL_DIGITS,
    }
    return {
        "name": name,
        "utf16_key_order": answer({"\uffff": 1, "😀": 2}) == '{"😀":2,"\uffff":1}',
        "drop_none": answer([None, {"a": None}]) == "[{}]",
        "trim_strings": answer(" x ") == '"x"',
        "integers": large[tuple(answer(number) for number in (2**53 + 1, 10**21, 10**400))],
        "exact_integral_floats": answer(2.0**60) == "1152921504606846976",
        "non_finite_null": answer([math.nan]) == "[null]",
        "escape_surrogates": answer("\ud800") == '"\\ud800"',
        "join_surrogates": answer("\ud83d\ude00") == '"😀"',
        "any_key": answer({1: 2}) == '{"1":2}',
        "str_keys": answer({Text("x"): 1}) == '{"own":1}',
        "repeat_members": answer(Repeating()) == '{"a":2,"a":2}',
        "convert_subclasses": answer(Number(5)) == "five",
        "last_duplicate_wins": not refuses_duplicates(text_engine, name),
    }


def test_both_engines_have_the_same_profiles(engine: ModuleType, text_engine: ModuleType) -> None:
    assert [profile.name for profile in PROFILES] == NAMES
    assert list(CONVERTERS) == NAMES
    for profile in PROFILES:
        assert policies_of(engine, text_engine, profile.name) == dataclasses.asdict(profile)


def test_every_policy_is_probed() -> None:
    from overturn_fast._pure import fingerprints, text

    fields = {field.name for field in dataclasses.fields(Profile)}
    assert set(policies_of(fingerprints, text, "jcs")) == fields


def test_a_profile_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        PROFILES[0].trim_strings = False  # type: ignore[misc]


def test_canonical_json_is_the_overturn_profile(engine: ModuleType) -> None:
    for value in (None, " x ", {"😀": 1, "\uffff": None}, [2.0**60, math.inf, {2, 1}]):
        assert engine.canonical_json(value) == engine.canonical_with("overturn", value)


# -- the table of policies, row by row -------------------------------------------------------------


class Key(str, enum.Enum):
    A = "a"


class Plain(enum.Enum):
    A = "a"


UNSUPPORTED = "UnsupportedTypeError"
INTEGER, FLOAT, KEY, SURROGATE = (
    f"{name}Error" for name in ("IntegerDomain", "FloatDomain", "KeyType", "Surrogate")
)

# A value, and its text or error in the first five profiles; the sixth is compared with the SDK that
# it follows, in test_compat.py.
TABLE: list[tuple[object, list[str]]] = [
    ({"\ufb33": 1, "😀": 2}, ['{"\ufb33":1,"😀":2}', *['{"😀":2,"\ufb33":1}'] * 4]),
    ({"a": None, "b": [None]}, ['{"b":[]}', *['{"a":null,"b":[null]}'] * 4]),
    (None, ["null"] * 5),
    ([" x\u3000"], ['["x"]', *['[" x\u3000"]'] * 4]),
    ({" k ": 1}, ['{" k ":1}'] * 5),
    ([-0.0, 0], ["[0,0]"] * 5),
    (100.0, ["100"] * 5),
    (2.0**70, ["1.1805916207174113e+21"] * 5),
    (123456789012345680000.0, ["123456789012345683968", *["123456789012345680000"] * 4]),
    (5e-324, ["5e-324"] * 5),
    (10**21, ["1e+21", INTEGER, *["1e+21"] * 3]),
    (10**400, ["null", *[INTEGER] * 4]),
    (2**53 - 1, ["9007199254740991"] * 5),
    (2**53, ["9007199254740992", INTEGER, *["9007199254740992"] * 3]),
    (-(2**53) - 1, ["-9007199254740993", INTEGER, *["-9007199254740992"] * 3]),
    ([math.nan, None], ["[null]", *[FLOAT] * 4]),
    ({"a": -math.inf}, ['{"a":null}', *[FLOAT] * 4]),
    ("\udead", ['"\\udead"', SURROGATE, SURROGATE, *['"\\udead"'] * 2]),
    ({"\udead": 1}, ['{"\\udead":1}', SURROGATE, SURROGATE, *['{"\\udead":1}'] * 2]),
    ("\ud83d\ude00", ['"😀"', SURROGATE, SURROGATE, '"\\ud83d\\ude00"', '"😀"']),
    ({"\ud83d\ude00": 1}, ['{"😀":1}', SURROGATE, SURROGATE, '{"\\ud83d\\ude00":1}', '{"😀":1}']),
    (collections.OrderedDict(b=1, a=2), ['{"a":2,"b":1}'] * 5),
    (MappingProxyType({"a": 1}), [*['{"a":1}'] * 3, UNSUPPORTED, '{"a":1}']),
    (collections.UserDict(a=1), [*['{"a":1}'] * 3, UNSUPPORTED, '{"a":1}']),
    ([(1, 2), [3]], ["[[1,2],[3]]"] * 5),
    (range(2), ["[0,1]", *[UNSUPPORTED] * 4]),
    ({2, 1}, ["[1,2]", *[UNSUPPORTED] * 4]),
    (frozenset("a"), ['["a"]', *[UNSUPPORTED] * 4]),
    (b"x", [UNSUPPORTED] * 5),
    (bytearray(b"x"), [UNSUPPORTED] * 5),
    (memoryview(b"x"), [UNSUPPORTED] * 5),
    ({1: 1}, ['{"1":1}', *[KEY] * 4]),
    ({None: 1}, ['{"null":1}', *[KEY] * 4]),
    ({True: 1}, ['{"true":1}', *[KEY] * 4]),
    ({Key.A: Key.A}, ['{"a":"a"}'] * 5),
    ({Plain.A: 1}, [KEY] * 5),
    (Plain.A, ['"a"', *[UNSUPPORTED] * 4]),
    (datetime.datetime(2026, 1, 2), ['"2026-01-02T00:00:00.000Z"', *[UNSUPPORTED] * 4]),
    (Decimal("1.5"), ["1.5", *[UNSUPPORTED] * 4]),
    ([print], ["[]", *[UNSUPPORTED] * 4]),
    (object(), [UNSUPPORTED] * 5),
    ([True, False, 1, 0], ["[true,false,1,0]"] * 5),
    ('/\x7f\u2028"\\\x01', ['"/\x7f\u2028\\"\\\\\\u0001"'] * 5),
]


@pytest.mark.parametrize(("value", "expected"), TABLE, ids=[shown(row[0])[:40] for row in TABLE])
def test_a_value_in_every_profile(engine: ModuleType, value: object, expected: list[str]) -> None:
    assert [text_or_error(engine, name, value) for name in NAMES[:5]] == expected


def test_mcpulse_takes_no_hook(engine: ModuleType, error_of: Any) -> None:
    assert error_of(engine.canonical_with, "mcpulse", [b""], lambda _: "x") == (
        UNSUPPORTED,
        "$[0]: bytes has no canonical form",
    )


# -- vectors ---------------------------------------------------------------------------------------


def test_the_fixtures_of_mcpulse(engine: ModuleType, data: Path) -> None:
    fixtures = json.loads((data / "mcpulse" / "canonical.json").read_text("utf-8"))["fixtures"]
    assert len(fixtures) == 23
    for fixture in fixtures:
        text = engine.canonical_with("mcpulse", fixture["input"])
        assert text == fixture["canonical"], fixture["name"]
        digest = hashlib.sha256(text.encode()).hexdigest()
        assert digest[:12] == fixture["args_hash"], fixture["name"]


EVALUATED_WITH = {
    "DT": datetime.datetime,
    "Decimal": Decimal,
    "collections": collections,
    "datetime": datetime,
    "enum": enum,
    "inf": math.inf,
    "math": math,
    "nan": math.nan,
    "timedelta": datetime.timedelta,
    "timezone": datetime.timezone,
}

# Where the default profile differs from the SDK's value, on purpose.
OWN_VALUES = {"ov-int-1e30": "1e+30", "ov-lone": '{"a":"\\ud800"}'}


def field_cases(data: Path, *profiles: str) -> list[dict[str, Any]]:
    """The rows on Python values of these profiles that ask for plain canonicalizing."""
    rows = json.loads((data / "field_cases" / "field-cases.json").read_text("utf-8"))
    return [
        row
        for row in rows
        if row["profile"] in profiles and "input_python" in row and "call" not in row
    ]


def evaluated(row: dict[str, Any]) -> Any:
    return eval(row["input_python"], dict(EVALUATED_WITH))


def check_field_case(row: dict[str, Any], canonicalize: Callable[[Any], str]) -> None:
    if row.get("expect_error"):
        with pytest.raises(CanonicalizationError):
            canonicalize(evaluated(row))
    else:
        assert canonicalize(evaluated(row)) == row["expect"], row["id"]


def test_the_field_cases_of_jcs(engine: ModuleType, data: Path) -> None:
    rows = field_cases(data, "jcs")
    assert len(rows) == 14
    for row in rows:
        check_field_case(row, lambda value: engine.canonical_with("jcs", value))


def test_the_field_cases_of_mcpulse(engine: ModuleType, data: Path) -> None:
    rows = field_cases(data, "mcpulse")
    assert len(rows) == 9
    for row in rows:
        check_field_case(row, lambda value: engine.canonical_with("mcpulse", value))
        if "expect_error" not in row:
            digest = hashlib.sha256(row["expect"].encode()).hexdigest()
            assert digest[:12] == row["args_hash"]


def test_the_field_cases_of_the_sdk_where_the_default_profile_agrees(
    engine: ModuleType, data: Path
) -> None:
    rows = field_cases(data, "compat")
    assert len(rows) == 22
    for row in rows:
        if row["id"] in OWN_VALUES:
            assert engine.canonical_json(evaluated(row)) == OWN_VALUES[row["id"]]
            continue
        check_field_case(row, engine.canonical_json)
        if "fingerprint" in row:
            digest = engine.tool_fingerprint(row["fingerprint"]["tool"], evaluated(row))
            assert digest == row["fingerprint"]["digest"], row["id"]


def test_the_safe_field_cases_of_jcs_hold_for_pleach_and_double_too(
    engine: ModuleType, data: Path
) -> None:
    for row in field_cases(data, "jcs"):
        if "expect" in row:
            for profile in ("jcs-double", "pleach", "mcpulse"):
                assert engine.canonical_with(profile, evaluated(row)) == row["expect"]
