"""JSON text to canonical text: what both engines accept, what it becomes, and what they refuse."""

from __future__ import annotations

import array
import json
import mmap
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from peak_memory import PEAK

import overturn_fast
from overturn_fast import (
    CanonicalizationError,
    DepthError,
    DuplicateKeyError,
    FloatDomainError,
    JSONTextError,
    SurrogateError,
    fingerprint,
    fingerprint_text,
    jcs,
)
from overturn_fast._errors import TextReason, line_and_column
from overturn_fast._profiles import JCS, JCS_DOUBLE, MCPULSE, OVERTURN, PLEACH, PROFILES, Profile
from overturn_fast._pure.text import Selection

DEPTH = 1000
SHORT = 1024  # texts longer than this are read in place, but for their end


def canonical(
    engine: ModuleType, text: str | bytes, profile: Profile = JCS, max_depth: int = DEPTH
) -> str:
    data = text.encode() if isinstance(text, str) else text
    return bytes(engine.canonical_text(data, profile, max_depth)).decode()


def refusal(
    engine: ModuleType, text: str | bytes, profile: Profile = JCS, max_depth: int = DEPTH
) -> tuple[type[CanonicalizationError], str | None, int | None]:
    """The class, the reason and the offset of the error."""
    with pytest.raises(CanonicalizationError) as raised:
        canonical(engine, text, profile, max_depth)
    return type(raised.value), raised.value.reason, raised.value.offset


# -- what is accepted -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("null", "null"),
        (" true ", "true"),
        ("\t\r\nfalse\n", "false"),
        ('""', '""'),
        ("[]", "[]"),
        ("{}", "{}"),
        ("[ ]", "[]"),
        ("{ }", "{}"),
        ("[[],[[]],{}]", "[[],[[]],{}]"),
        ('{"b":1,"a":2}', '{"a":2,"b":1}'),
        ('{"a":2,"b":1}', '{"a":2,"b":1}'),
        ('{"":0,"\\u0000":1}', '{"":0,"\\u0000":1}'),
        ('[1 , 2,\n3 ]', "[1,2,3]"),
        ('{ "a" : { "c" : [ ] , "b" : { } } }', '{"a":{"b":{},"c":[]}}'),
        ('"\\u0041\\/\\n\\u000a\\u001f\\u007f"', '"A/\\n\\n\\u001f\x7f"'),
        ('"\\b\\t\\f\\r\\"\\\\"', '"\\b\\t\\f\\r\\"\\\\"'),
        ('"\\u00e9\\u20AC\\ud83d\\ude00"', '"é€😀"'),
        ('"é€😀"', '"é€😀"'),
    ],
)  # fmt: skip
def test_a_text_has_one_canonical_form(text_engine: ModuleType, text: str, expected: str) -> None:
    assert canonical(text_engine, text) == expected


@pytest.mark.parametrize("pair", ["arrays", "french", "structures", "unicode", "values", "weird"])
def test_the_pairs_of_the_reference_project(text_engine: ModuleType, data: Path, pair: str) -> None:
    folder = data / "cyberphone_jcs"
    expected = (folder / "output" / f"{pair}.json").read_bytes()
    text = (folder / "input" / f"{pair}.json").read_bytes()
    assert text_engine.canonical_text(text, JCS, DEPTH) == expected
    assert text_engine.canonical_text(expected, JCS, DEPTH) == expected


def test_the_field_cases_of_text(text_engine: ModuleType, data: Path) -> None:
    rows = json.loads((data / "field_cases" / "field-cases.json").read_text("utf-8"))
    checked = 0
    for row in rows:
        if row["profile"] != "text" or row.get("call") == "canonicalize_ndjson":
            continue
        text = (
            bytes.fromhex(row["input_hex"])
            if "input_hex" in row
            else (row["input_json"] if "input_json" in row else eval(row["input_python"])).encode()
        )
        checked += 1
        if row.get("expect_error") or row.get("or_error"):
            with pytest.raises(CanonicalizationError):
                text_engine.canonical_text(text, JCS, 10_000)
        else:
            assert canonical(text_engine, text) == row["expect"], row["id"]
    assert checked == 18


def test_names_are_ordered_by_utf_16_units_or_by_code_points(text_engine: ModuleType) -> None:
    text = '{"\uffff":1,"😀":2,"\ufb33":3,"é":4,"z":5}'
    by_units = '{"z":5,"é":4,"😀":2,"\ufb33":3,"\uffff":1}'
    by_code_points = '{"z":5,"é":4,"\ufb33":3,"\uffff":1,"😀":2}'
    for profile in PROFILES:
        expected = by_units if profile.utf16_key_order else by_code_points
        assert canonical(text_engine, text, profile) == expected


def test_names_are_compared_as_they_read_unescaped(text_engine: ModuleType) -> None:
    text = '{"b":1,"\\u0061":2,"\\ud83d\\ude00":3,"\\"":4,"\\u005c":5}'
    assert canonical(text_engine, text) == '{"\\"":4,"\\\\":5,"a":2,"b":1,"😀":3}'


@pytest.mark.parametrize("count", [2, 8, 9, 24, 25, 300, 5000])
@pytest.mark.parametrize("padding", [0, 100])
def test_objects_of_any_size_are_put_in_order(
    text_engine: ModuleType, count: int, padding: int
) -> None:
    members = {
        f"{'k' * (number % 11)}{number * 7919 % count}": "v" * padding for number in range(count)
    }
    text = json.dumps(members, separators=(",", ":"))
    expected = json.dumps(members, sort_keys=True, separators=(",", ":"))
    assert canonical(text_engine, text) == expected
    assert (
        canonical(text_engine, f'{{"b":{text},"a":[{text}]}}')
        == f'{{"a":[{expected}],"b":{expected}}}'
    )


def test_nested_objects_are_put_in_order_at_every_level(text_engine: ModuleType) -> None:
    text, expected = "1", "1"
    for level in range(300):
        text = f'{{"b":{text},"a":[{{"d":{level},"c":0}}],"_":""}}'
        expected = f'{{"_":"","a":[{{"c":0,"d":{level}}}],"b":{expected}}}'
    assert canonical(text_engine, text) == expected


@pytest.mark.parametrize("filler", [0, SHORT - 40, SHORT - 1, SHORT, SHORT + 1, 2 * SHORT, 5000])
def test_where_a_text_lies_in_its_buffer_does_not_count(
    text_engine: ModuleType, filler: int
) -> None:
    tail = '{"name with more than sixteen bytes":"é€😀 and more than sixteen bytes","n":-12.5e-3}'
    expected = (
        '{"n":-0.0125,"name with more than sixteen bytes":"é€😀 and more than sixteen bytes"}'
    )
    for shift in range(0, 100, 7):
        space = " " * (filler + shift)
        assert canonical(text_engine, f"{space}[{tail}]") == f"[{expected}]"
        text = "x" * (filler + shift)
        assert canonical(text_engine, f'["{text}",{tail}]') == f'["{text}",{expected}]'
        assert canonical(text_engine, f"[{tail},{space}1{space}]{space}") == f"[{expected},1]"


# -- numbers ----------------------------------------------------------------------------------

LONG = "1" + "0" * 400


@pytest.mark.parametrize(
    ("literal", "overturn", "others"),
    [
        ("0", "0", "0"),
        ("-0", "0", "0"),
        ("-0.0", "0", "0"),
        ("-0e5", "0", "0"),
        ("0.000", "0", "0"),
        ("1.0", "1", "1"),
        ("-1.50", "-1.5", "-1.5"),
        ("10.00", "10", "10"),
        ("1E2", "100", "100"),
        ("0.000001", "0.000001", "0.000001"),
        ("0.0000001", "1e-7", "1e-7"),
        ("0.00000123", "0.00000123", "0.00000123"),
        ("0.0123456789", "0.0123456789", "0.0123456789"),
        ("999999999999999", "999999999999999", "999999999999999"),
        ("9007199254740993", "9007199254740993", "9007199254740992"),
        ("123456789012345678901", "123456789012345678901", "123456789012345680000"),
        ("-999999999999999999999", "-999999999999999999999", "-1e+21"),
        ("1000000000000000000000", "1e+21", "1e+21"),
        ("123456789012345680000.0", "123456789012345683968", "123456789012345680000"),
        ("1e20", "100000000000000000000", "100000000000000000000"),
        ("1e21", "1e+21", "1e+21"),
        ("5e-324", "5e-324", "5e-324"),
        ("1e-400", "0", "0"),
        ("-1e-400", "0", "0"),
        ("1.7976931348623157e308", "1.7976931348623157e+308", "1.7976931348623157e+308"),
        ("1.7976931348623159e308", "null", FloatDomainError),
        ("1e400", "null", FloatDomainError),
        ("-1e400", "null", FloatDomainError),
        (LONG, "null", FloatDomainError),
        (f"{LONG}e-400", "1", "1"),
        ("0." + "0" * 400 + "1e401", "1", "1"),
    ],
)
def test_numbers_follow_the_profile(
    text_engine: ModuleType, literal: str, overturn: str, others: str | type[Exception]
) -> None:
    assert canonical(text_engine, literal, OVERTURN) == overturn
    assert canonical(text_engine, f'{{"n":{literal}}}', OVERTURN) == f'{{"n":{overturn}}}'
    for profile in (JCS, JCS_DOUBLE, MCPULSE, PLEACH):
        if isinstance(others, str):
            assert canonical(text_engine, f"[{literal}]", profile) == f"[{others}]"
        else:
            text = f"[ {literal} ]"
            assert refusal(text_engine, text, profile) == (
                others, "a number past the range of doubles", 2
            )  # fmt: skip


def test_numbers_that_grow_do_not_outgrow_the_output(text_engine: ModuleType) -> None:
    for count in (10, 1000, 50_000):
        text = "[" + ",".join(["1e20", "-1E+20"] * count) + "]"
        grown = "100000000000000000000"
        expected = "[" + ",".join([grown, "-" + grown] * count) + "]"
        assert canonical(text_engine, text) == expected


def test_a_number_of_a_million_digits_is_read_exactly(text_engine: ModuleType) -> None:
    # Just above the midpoint of 2**53 and its neighbour, by the last of the digits.
    half = "9007199254740993." + "0" * 1_000_000
    assert canonical(text_engine, half + "0") == "9007199254740992"
    assert canonical(text_engine, half + "1") == "9007199254740994"
    assert canonical(text_engine, "9" * 1_000_000, OVERTURN) == "null"


# -- strings ----------------------------------------------------------------------------------


def test_lone_surrogates_are_written_as_escapes_or_refused(text_engine: ModuleType) -> None:
    cases = ["\\ud800", "\\udfff", "\\udc00\\ud800", "\\ud800\\ud800", "\\ud800x", "\\uD800\\u0041"]
    for case in cases:
        expected = case.replace("\\u0041", "A").replace("D", "d")
        for profile in (OVERTURN, MCPULSE, PLEACH):
            assert canonical(text_engine, f'["{case}"]', profile) == f'["{expected}"]'
            assert canonical(text_engine, f'{{"{case}":1}}', profile) == f'{{"{expected}":1}}'
        for profile in (JCS, JCS_DOUBLE):
            assert refusal(text_engine, f'[ "{case}"]', profile) == (
                SurrogateError, "a lone surrogate", 3
            )  # fmt: skip


def test_an_escaped_pair_is_one_character_in_every_profile(text_engine: ModuleType) -> None:
    for profile in PROFILES:
        assert canonical(text_engine, '"\\ud83d\\ude00"', profile) == '"😀"'
        assert canonical(text_engine, '{"\\uD83D\\uDE00":"\\udbff\\udfff"}', profile) == (
            '{"😀":"\U0010ffff"}'
        )
    assert canonical(text_engine, '"\\ud800\\ud800\\udc00"', MCPULSE) == '"\\ud800\U00010000"'


SPACES = [chr(code) for code in range(0x110000) if chr(code).isspace()]


def test_overturn_trims_values_as_str_strip_does_and_keeps_names(text_engine: ModuleType) -> None:
    others = ["\u200b", "\ufeff", "\u180e", "\x00", "\x08", "\x1b", "x"]
    for space in SPACES + others:
        for text in (space, f"{space}{space}a{space}b{space}", f"\\{space}\\", f"{space}\\n"):
            expected = overturn_fast.canonical_json({text: text})
            for ascii in (True, False):
                given = json.dumps({text: text}, ensure_ascii=ascii)
                assert canonical(text_engine, given, OVERTURN) == expected


@pytest.mark.parametrize("length", [0, 1, 14, 15, 16, 17, 31, 32, 33, 100])
def test_what_stands_at_the_ends_of_long_strings_is_trimmed(
    text_engine: ModuleType, length: int
) -> None:
    for end in ("", " ", "\u2003 ", "\t\\", "\\\\t", "\\\\\\t", '"', "\x1c"):
        text = f"{end}{'x' * length}{end}"
        given = json.dumps([text, {"k": text}])
        assert canonical(text_engine, given, OVERTURN) == overturn_fast.canonical_json(
            [text, {"k": text}]
        )
        assert canonical(text_engine, given, JCS) == jcs.dumps([text, {"k": text}]).decode()


def test_no_escapes_but_the_necessary_ones_are_written(text_engine: ModuleType) -> None:
    for code in [*range(0x800), *range(0x2000, 0x2100), 0xFFFD, 0xFFFE, 0xFFFF, 0x10000, 0x10FFFF]:
        escaped = json.dumps(chr(code))
        assert canonical(text_engine, escaped) == jcs.dumps(chr(code)).decode()


# -- profiles ---------------------------------------------------------------------------------


def test_null_is_dropped_from_containers_or_kept(text_engine: ModuleType) -> None:
    text = '[null,{"b":null,"a":[null,null],"c":{"d":null}},1,null]'
    assert canonical(text_engine, text, OVERTURN) == '[{"a":[],"c":{}},1]'
    assert canonical(text_engine, "null", OVERTURN) == "null"
    for profile in (JCS, JCS_DOUBLE, MCPULSE, PLEACH):
        assert canonical(text_engine, text, profile) == (
            '[null,{"a":[null,null],"b":null,"c":{"d":null}},1,null]'
        )


def test_of_equal_names_the_last_counts_before_null_is_dropped(text_engine: ModuleType) -> None:
    for text, expected in [
        ('{"a":1,"a":2}', '{"a":2}'),
        ('{"a":1,"\\u0061":2,"A":0}', '{"A":0,"a":2}'),
        ('{"a":1,"a":null}', "{}"),
        ('{"a":null,"a":1}', '{"a":1}'),
        ('{"b":{"z":1,"z":{"y":2,"x":3}},"b":{"z":1,"q":{"y":2,"x":3}},"a":0}',
         '{"a":0,"b":{"q":{"x":3,"y":2},"z":1}}'),
    ]:  # fmt: skip
        assert canonical(text_engine, text, OVERTURN) == expected
        for profile in (JCS, JCS_DOUBLE, MCPULSE, PLEACH):
            assert refusal(text_engine, text, profile)[0] is DuplicateKeyError


@pytest.mark.parametrize("count", [2, 10, 30, 1000])
def test_the_first_repetition_of_a_name_is_where_the_error_is(
    text_engine: ModuleType, count: int
) -> None:
    names = [f"n{number:04}" for number in range(count)]
    members = [*names, names[-1], names[0], names[0]]
    text = "{" + ",".join(f'"{name}":1' for name in members) + "}"
    assert refusal(text_engine, text) == (
        DuplicateKeyError, "a name that its object has already", 1 + 10 * count
    )  # fmt: skip


def test_names_are_compared_when_their_object_ends(text_engine: ModuleType) -> None:
    assert refusal(text_engine, '{"a":1,"a":2,x')[1:] == ("expected a name in double quotes", 13)
    assert refusal(text_engine, '{"b":{"a":1,"a":2},"b":1}')[2] == 12


# -- selection --------------------------------------------------------------------------------


@pytest.mark.parametrize("drops", [False, True])
def test_a_selection_takes_or_drops_members_of_the_outermost_object(
    text_engine: ModuleType, drops: bool
) -> None:
    value: dict[str, Any] = {
        "z": {"b": {"y": 1, "x": 2}, "a": {"a": 1, "z": 2}},
        "a": 1,
        "é": [{"z": 1, "a": "x" * 5000}],
        "": None,
        "tab\t": "s",
        "k": {},
    }
    for names in [[], ["z"], ["a", "é", "absent"], ["", "tab\t", "k"], [*value], ["b", "x"]]:
        selection = Selection(frozenset(names), drops)
        kept = {key: item for key, item in value.items() if (key in names) is not drops}
        expected = overturn_fast.hash_json(kept)
        text = json.dumps(value).encode()
        assert text_engine.text_digest(b"", text, OVERTURN, DEPTH, selection) == expected


def test_a_selection_leaves_anything_but_an_object_alone(text_engine: ModuleType) -> None:
    selection = Selection(frozenset(["a"]), drops=False)
    for value in ([{"a": 1, "b": 2}], 1, "a", None):
        digest = text_engine.text_digest(b"", json.dumps(value).encode(), OVERTURN, 9, selection)
        assert digest == overturn_fast.hash_json(value)


def test_what_is_not_selected_must_be_json_all_the_same(text_engine: ModuleType) -> None:
    selection = Selection(frozenset(["a"]), drops=False)
    with pytest.raises(JSONTextError) as raised:
        text_engine.text_digest(b"", b'{"b":[1,],"a":1}', OVERTURN, DEPTH, selection)
    assert raised.value.offset == 8


# -- what is refused --------------------------------------------------------------------------

VALUE, NAME, COLON = "expected a value", "expected a name in double quotes", "expected a colon"
ITEM, MEMBER, DIGIT = 'expected a comma or "]"', 'expected a comma or "}"', "expected a digit"
END, EXTRA = "the text ends too early", "more text after the value"
CONTROL, ESCAPE = "a control character that is not escaped", "a backslash that begins no escape"
UTF8, RAW = "not UTF-8", "a surrogate, which UTF-8 does not encode"
FINITE = "NaN and Infinity are not JSON"
BOM = "a byte order mark (U+FEFF) before the value"


@pytest.mark.parametrize(
    ("text", "reason", "offset"),
    [
        (b"", END, 0),
        (b"  \n", END, 3),
        (b"[", END, 1),
        (b"{", END, 1),
        (b'{"a"', END, 4),
        (b'{"a":', END, 5),
        (b'{"a":1', END, 6),
        (b'{"a":1,', END, 7),
        (b"[1,", END, 3),
        (b'"abc', END, 4),
        (b'"abc\\', ESCAPE, 4),
        (b"-", END, 1),
        (b"1.", END, 2),
        (b"1e", END, 2),
        (b"1e+", END, 3),
        (b"tru", VALUE, 0),
        (b"nul]", VALUE, 0),
        (b"fals", VALUE, 0),
        (b"True", VALUE, 0),
        (b"NaN", FINITE, 0),
        (b"[Infinity]", FINITE, 1),
        (b"[1,-Infinity", FINITE, 3),
        (b"Infinit", VALUE, 0),
        (b"-Infinit", DIGIT, 1),
        (b"1e-Infinity", DIGIT, 3),
        (b"+1", VALUE, 0),
        (b".5", VALUE, 0),
        (b"1.x", DIGIT, 2),
        (b"1.e5", DIGIT, 2),
        (b"[1e+]", DIGIT, 4),
        (b"[-]", DIGIT, 2),
        (b"01", EXTRA, 1),
        (b"[-01]", ITEM, 3),
        (b"0x1", EXTRA, 1),
        (b"1 2", EXTRA, 2),
        (b"{}x", EXTRA, 2),
        (b"{}\x00", EXTRA, 2),
        (b"nullx", EXTRA, 4),
        (b"[1,]", VALUE, 3),
        (b"[,1]", VALUE, 1),
        (b"[1 2]", ITEM, 3),
        (b"[1}", ITEM, 2),
        (b'{"a":1]', MEMBER, 6),
        (b'{"a":1 "b":2}', MEMBER, 7),
        (b'{"a":1,}', NAME, 7),
        (b"{,}", NAME, 1),
        (b"{a:1}", NAME, 1),
        (b"{1:1}", NAME, 1),
        (b"{'a':1}", NAME, 1),
        (b'{"a" 1}', COLON, 5),
        (b'{"a",1}', COLON, 4),
        (b'{"a":}', VALUE, 5),
        (b"'a'", VALUE, 0),
        (b"/**/1", VALUE, 0),
        (b"1 // one", EXTRA, 2),
        (b"\x0c1", VALUE, 0),
        ("\u00a01".encode(), VALUE, 0),
        (b"\xef\xbb\xbf1", BOM, 0),
        (b" \xef\xbb\xbf1", VALUE, 1),
        (b"\xff\xfe1\x00", UTF8, 0),
        (b"[1\xc3\xa9]", ITEM, 2),
        (b"[1\xc3", UTF8, 2),
        (b'{"a"\xed\xa0\x80', UTF8, 4),
        (b"1\x00", EXTRA, 1),
        (b'"a\tb"', CONTROL, 2),
        (b'"a\nb"', CONTROL, 2),
        (b'"\x00"', CONTROL, 1),
        (b'"\x1f"', CONTROL, 1),
        (b'"\\x"', ESCAPE, 1),
        (b'"\\u12"', ESCAPE, 1),
        (b'"\\u123', ESCAPE, 1),
        (b'"\\u123g"', ESCAPE, 1),
        (b'"\\U0041"', ESCAPE, 1),
        (b'"\\\x00"', ESCAPE, 1),
        (b'"\\\xc3\xa9"', ESCAPE, 1),
        (b'"\x80"', UTF8, 1),
        (b'"\xc0\x80"', UTF8, 1),
        (b'"\xc1\xbf"', UTF8, 1),
        (b'"\xc3"', UTF8, 1),
        (b'"\xe0\x9f\xbf"', UTF8, 1),
        (b'"\xe2\x82"', UTF8, 1),
        (b'"\xe2\x82', UTF8, 1),
        (b'"\xed\xa0\x80"', RAW, 1),
        (b'"\xed\xbf\xbf"', RAW, 1),
        (b'"\xed\xa0"', UTF8, 1),
        (b'"\xf0\x8f\xbf\xbf"', UTF8, 1),
        (b'"\xf0\x9f\x98"', UTF8, 1),
        (b'"\xf4\x90\x80\x80"', UTF8, 1),
        (b'"\xf5\x80\x80\x80"', UTF8, 1),
        (b'"\xff"', UTF8, 1),
        ('"é€😀'.encode() + b"\xff", UTF8, 10),
    ],
)
@pytest.mark.parametrize("filler", [0, 10, SHORT, 3 * SHORT])
def test_a_text_that_is_no_json_is_refused_with_reason_and_offset(
    text_engine: ModuleType, text: bytes, reason: str, offset: int, filler: int
) -> None:
    if filler and text.startswith(b"\xef\xbb\xbf"):
        reason = VALUE  # it is no byte order mark elsewhere than in front
    for profile in (JCS, OVERTURN):
        assert refusal(text_engine, b" " * filler + text, profile) == (
            JSONTextError, reason, filler + offset
        )  # fmt: skip


def test_every_reason_has_a_wording_and_a_test() -> None:
    from overturn_fast import _errors

    assert set(_errors._TEXT_WORDING) == set(TextReason)


def test_an_error_gives_line_and_column_and_nothing_of_the_text(text_engine: ModuleType) -> None:
    with pytest.raises(JSONTextError) as raised:
        canonical(text_engine, '{\n "secret": "é€😀", hidden}')
    error = raised.value
    assert (error.offset, error.line, error.column) == (26, 2, 19)
    assert str(error) == "expected a name in double quotes: line 2, column 19 (byte 26)"
    assert str(error) == f"{error.reason}: line {error.line}, column {error.column} (byte 26)"


@pytest.mark.parametrize(
    ("text", "offset", "place"),
    [
        ("", 0, (1, 1)),
        ("abc", 2, (1, 3)),
        ("a\nbc", 2, (2, 1)),
        ("a\r\n\n\u2028b", 7, (3, 2)),
        ("é€😀x", 9, (1, 4)),
    ],
)
def test_lines_end_with_lf_and_columns_count_characters(
    text: str, offset: int, place: tuple[int, int]
) -> None:
    assert line_and_column(text.encode(), offset) == place


def test_errors_of_values_found_in_text_carry_their_place(text_engine: ModuleType) -> None:
    for text, error in [('["\\ud800"]', SurrogateError), ("[\n1e999]", FloatDomainError)]:
        with pytest.raises(error) as raised:
            canonical(text_engine, text)
        assert (raised.value.offset, raised.value.line) == (2, text.count("\n") + 1)
        assert f"(byte {raised.value.offset})" in str(raised.value)


def test_errors_about_objects_have_no_place(text_engine: ModuleType) -> None:
    with pytest.raises(CanonicalizationError) as raised:
        jcs.dumps([float("nan")])
    error = raised.value
    assert error.offset is error.line is error.column is error.reason is None


# -- depth ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("opening", "inner"), [("[", 1), ('{"a":', 5)])
def test_nesting_is_limited_by_max_depth(text_engine: ModuleType, opening: str, inner: int) -> None:
    closing = "]" if opening == "[" else "}"
    for empty in ("[]", "{}", "[1]"):
        text = opening * 9 + empty + closing * 9
        assert canonical(text_engine, text, max_depth=10) == text
        assert refusal(text_engine, text, max_depth=9) == (
            DepthError, "nesting exceeds max_depth=9", 9 * inner
        )  # fmt: skip


def test_depth_is_bounded_by_memory_alone(text_engine: ModuleType) -> None:
    depth = 200_000
    text = '[{"b":0,"a":' * (depth // 2) + "1" + "}]" * (depth // 2)
    expected = '[{"a":' * (depth // 2) + "1" + ',"b":0}]' * (depth // 2)
    assert canonical(text_engine, text, max_depth=depth) == expected
    assert refusal(text_engine, text, max_depth=depth - 1)[0] is DepthError


# -- arguments --------------------------------------------------------------------------------

DOCUMENT = '{"b":"é😀","a":1}'
DOCUMENT_CANONICAL = '{"a":1,"b":"é😀"}'.encode()


class Text(str):
    def encode(self, *args: object) -> bytes:  # type: ignore[override]
        raise AssertionError("not to be asked")


class Data(bytes):
    pass


@pytest.mark.parametrize(
    "given",
    [
        DOCUMENT,
        Text(DOCUMENT),
        DOCUMENT.encode(),
        Data(DOCUMENT.encode()),
        bytearray(DOCUMENT.encode()),
        memoryview(DOCUMENT.encode()),
        memoryview(b"xx" + DOCUMENT.encode())[2:],
        array.array("B", DOCUMENT.encode()),
    ],
    ids=lambda given: type(given).__name__,
)
def test_text_is_a_str_or_anything_like_bytes(given: Any) -> None:
    assert jcs.canonicalize(given) == DOCUMENT_CANONICAL
    assert fingerprint_text("tool_call", "t", given) == fingerprint(
        "tool_call", "t", json.loads(DOCUMENT)
    )


def test_text_may_be_a_mapped_file(tmp_path: Path) -> None:
    path = tmp_path / "text.json"
    path.write_bytes(DOCUMENT.encode())
    with open(path, "rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    assert jcs.canonicalize(mapped) == DOCUMENT_CANONICAL  # type: ignore[arg-type]
    mapped.close()


@pytest.mark.parametrize("given", [None, 1, 1.5, [DOCUMENT], {}, object()])
def test_anything_else_is_a_type_error(given: Any) -> None:
    with pytest.raises(TypeError, match=f"text must be .*, not {type(given).__name__}"):
        jcs.canonicalize(given)
    with pytest.raises(TypeError, match=f"args_json must be .*, not {type(given).__name__}"):
        fingerprint_text("tool_call", "t", given)


def test_text_that_is_not_contiguous_is_refused() -> None:
    with pytest.raises(ValueError, match="text must be contiguous"):
        jcs.canonicalize(memoryview(b"1_2_3_")[::2])


def test_surrogates_in_a_str_are_an_error_where_they_stand() -> None:
    for text, offset in [('["é\ud800"]', 4), ('"\ud83d\ude00"', 1), ("\ud800", 0)]:
        with pytest.raises(JSONTextError) as raised:
            jcs.canonicalize(text)
        assert raised.value.offset == offset


def test_offsets_in_a_str_count_bytes_and_columns_characters() -> None:
    with pytest.raises(JSONTextError) as raised:
        jcs.canonicalize('["é€😀" x]')
    assert (raised.value.offset, raised.value.column) == (13, 8)


@pytest.mark.parametrize("max_depth", [0, -1, True, 1.5, "9", None])
def test_a_depth_that_is_none_is_refused(max_depth: Any) -> None:
    for call in (jcs.canonicalize, lambda *a, **k: fingerprint_text("tool_call", "t", *a, **k)):
        with pytest.raises((TypeError, ValueError), match="max_depth must be"):
            call("1", max_depth=max_depth)


def test_max_depth_may_be_of_any_size() -> None:
    assert jcs.canonicalize("[[1]]", max_depth=10**30) == b"[[1]]"


# -- fingerprints -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("match_on", "ignore_args"),
    [
        (None, None),
        ([], ()),
        (["a"], None),
        (("a", "absent"), ["a"]),
        (None, {"a"}),
        (iter(["b", 1, None]), None),
        ([1], None),
        (None, [1, "b"]),
        (["\ud800", "é"], None),
        (None, ["\ud83d\ude00"]),
    ],
)
def test_a_fingerprint_of_text_is_that_of_its_value(match_on: Any, ignore_args: Any) -> None:
    value = {"b": {"y": [1.5, None], "x": " s "}, "a": 10**20, "é": 1, "\ud800": 2, "😀": 3}
    match_on = match_on if match_on is None else list(match_on)
    expected = fingerprint("tool_call", "n\ud800", value, match_on, ignore_args)
    for text in (json.dumps(value), json.dumps(value, indent=1)):
        assert fingerprint_text("tool_call", "n\ud800", text, match_on, ignore_args) == expected


def test_a_fingerprint_exists_for_numbers_that_only_text_holds() -> None:
    text = f'{{"a":1e400,"b":{"7" * 5000},"c":-0,"d":1,"d":2}}'
    value = {"a": float("inf"), "b": 10**400, "c": 0, "d": 2}
    assert fingerprint_text("k", "n", text) == fingerprint("k", "n", value)


@pytest.mark.parametrize(
    ("arguments", "options", "error"),
    [
        (("a\nb", "n", "1"), {}, ValueError),
        ((1, "n", "1"), {}, TypeError),
        (("k", None, "1"), {}, TypeError),
        (("k", "n", "1", "names"), {}, TypeError),
        (("k", "n", "1"), {"ignore_args": "names"}, TypeError),
        (("k", "n"), {}, TypeError),
    ],
)
def test_wrong_arguments_are_refused_as_by_fingerprint(
    arguments: tuple[Any, ...], options: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        fingerprint_text(*arguments, **options)


# -- threads and memory -----------------------------------------------------------------------


def test_threads_share_nothing() -> None:
    texts = [
        json.dumps([{"b": thread, "a": "x" * thread}] * (10 + 400 * thread)) for thread in range(4)
    ]
    expected = [jcs.canonicalize(text) for text in texts]
    failures: list[int] = []

    def work(number: int) -> None:
        for _ in range(30):
            if jcs.canonicalize(texts[number]) != expected[number]:
                failures.append(number)
            with pytest.raises(JSONTextError, match=f"byte {number}"):
                jcs.canonicalize(b" " * number + b"x")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


SUBINTERPRETER = """if True:
    try:
        import _interpreters as interpreters
    except ImportError:
        import _xxsubinterpreters as interpreters
    import sys
    run = getattr(interpreters, "exec", None) or interpreters.run_string
    task = sys.argv[1]
    exec(task)
    assert run(interpreters.create(), task) is None
    """

READ_TEXT = """if True:
    import overturn_fast as f
    from overturn_fast import jcs
    assert jcs.canonicalize('{"b":1.0,"a":2}') == b'{"a":2,"b":1}'
    assert f.fingerprint_text("k", "n", "[1]") == f.fingerprint("k", "n", [1])
    """


def test_interpreters_that_cannot_load_the_binding_read_text_all_the_same() -> None:
    if sys.version_info < (3, 12) or sys.implementation.name != "cpython":
        pytest.skip("interpreters have locks of their own from CPython 3.12 on")
    command = [sys.executable, "-c", SUBINTERPRETER, READ_TEXT]
    environment = {**os.environ, "OVERTURN_FAST_BACKEND": "auto"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stderr) == (0, "")


def timed(call: Callable[[], object]) -> float:
    """The processor's time for a call: how busy the machine is plays no part in it."""
    started = time.thread_time()
    call()
    return time.thread_time() - started


@pytest.mark.memory
@pytest.mark.parametrize(
    "text",
    [
        b"[" * 100_000_000,
        b'{"a":' * 10_000_000,
        b'"' + b"x" * 200_000_000,
        b'"' + b"\\" * 50_000_001,
        b" " * 200_000_000,
        b"9" * 100_000_000 + b"x",
    ],
    ids=["brackets", "objects", "string", "backslashes", "spaces", "digits"],
)
def test_large_texts_that_are_wrong_are_refused_quickly(text: bytes) -> None:
    if overturn_fast.backend == "python":
        text = text[: len(text) // 100]
    started = time.thread_time()
    with pytest.raises(CanonicalizationError):
        jcs.canonicalize(text)
    assert time.thread_time() - started < 60  # a second or two; hours, if it were quadratic


@pytest.mark.memory
def test_other_threads_run_while_a_text_is_read() -> None:
    if overturn_fast.backend == "python":
        pytest.skip("the pure-Python backend holds the lock")
    text = b"[" + b'{"b":1.5,"a":"text"},' * 2_000_000 + b"0]"
    done = threading.Event()

    def work() -> None:
        jcs.canonicalize(text)
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    turns = 0
    while not done.wait(0.001):
        turns += 1
    thread.join()
    assert turns > 10


@pytest.mark.memory
@pytest.mark.parametrize(
    ("text", "most"),
    [
        (b"{" + b",".join(b'"%010d":0' % (n * 7919 % 10**6) for n in range(10**6)) + b"}", 20),
        (b"[" + b'{"b":1.5,"a":"text"},' * 10**6 + b"0]", 4),
        (b"[" + b'{"b":{"d":{"f":{"h":0,"g":0},"e":0},"c":0},"a":0},' * 10**5 + b"0]", 8),
        (b'{"b":"' + b"\\u00e9" * 10**6 + b'","a":0}', 4),
    ],
    ids=["names", "records", "nested", "string"],
)
def test_memory_is_a_small_multiple_of_the_text(tmp_path: Path, text: bytes, most: int) -> None:
    if overturn_fast.backend == "python" or sys.platform != "linux":
        pytest.skip("counts what the native backend takes, on Linux")
    path = tmp_path / "text.json"
    path.write_bytes(text)
    program = f"""{PEAK}
from overturn_fast import jcs

text = Path({str(path)!r}).read_bytes()
before = peak()
jcs.canonicalize(text)
print((peak() - before) / len(text))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert float(done.stdout) < most


@pytest.mark.memory
def test_a_string_of_200_megabytes_is_read() -> None:
    size = 200_000_000 if overturn_fast.backend == "native" else 2_000_000
    text = b'{"b":"' + b"x" * size + b'","a":"\xc3\xa9"}'
    result = jcs.canonicalize(text)
    assert result[:13] == b'{"a":"\xc3\xa9","b"'
    assert len(result) == len(text)


@pytest.mark.memory
@pytest.mark.parametrize(
    "make",
    [
        lambda size: '{"b":0,"a":' * (size // 10) + "1" + "}" * (size // 10),
        lambda size: "{" + ",".join(f'"{"k" * 50}{n}":0' for n in range(size // 50, 0, -1)) + "}",
        lambda size: "{" + ",".join(['"a":{"b":{"d":0,"c":0},"a":0}'] * (size // 20)) + "}",
        lambda size: '"' + "\\u0020" * size + '"',
        lambda size: '"' + "\\\\t" * size + '"',
        lambda size: "[" + ",".join("1e20" for _ in range(size)) + "]",
    ],
    ids=["deep", "names", "repeated", "spaces", "backslashes", "growing"],
)
def test_time_grows_with_the_size_and_no_faster(make: Callable[[int], str]) -> None:
    base = 20_000 if overturn_fast.backend == "native" else 2_000
    small, large = make(base).encode(), make(16 * base).encode()

    def run(text: bytes) -> float:
        return min(
            timed(lambda: fingerprint_text("k", "n", text, max_depth=10**7)) for _ in range(3)
        )

    assert run(large) < 16 * 4 * run(small) + 0.05
