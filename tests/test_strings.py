"""String values: escapes, trimming, surrogates, and what a str subclass cannot change."""

from __future__ import annotations

import ctypes
import enum
import json
import random
from collections import UserString
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ALL_PROFILES = ["overturn", "jcs", "jcs-double", "mcpulse", "pleach"]
AS_IS_PROFILES = ["jcs", "jcs-double", "mcpulse", "pleach"]

SHORT_ESCAPES = {
    "\b": r"\b",
    "\t": r"\t",
    "\n": r"\n",
    "\f": r"\f",
    "\r": r"\r",
    '"': r"\"",
    "\\": r"\\",
}

# One of each kind of character that a scan of a string may stop at, and some at which it must not.
MARKS = ['"', "\\", "\x00", "\x1f", "\n", "\x20", "\x7f", "\x80", "\xff", "Ā", "\uffff", "😀"]


def quoted(text: str) -> str:
    """The JSON string of a text without lone surrogates, spelled out a character at a time."""
    escaped = (
        SHORT_ESCAPES.get(character, f"\\u{ord(character):04x}")
        if character < " " or character in '"\\'
        else character
        for character in text
    )
    return f'"{"".join(escaped)}"'


@pytest.mark.parametrize("profile", ALL_PROFILES)
def test_every_c0_character_has_its_escape(engine: ModuleType, profile: str) -> None:
    for code in range(0x20):
        expected = SHORT_ESCAPES.get(chr(code), f"\\u00{code:02x}")
        assert engine.canonical_with(profile, f"a{chr(code)}b") == f'"a{expected}b"'


@pytest.mark.parametrize("profile", ALL_PROFILES)
@pytest.mark.parametrize("character", ['"', "\\"])
def test_quote_and_backslash_are_escaped(engine: ModuleType, profile: str, character: str) -> None:
    assert engine.canonical_with(profile, character) == f'"\\{character}"'


@pytest.mark.parametrize("profile", ALL_PROFILES)
def test_nothing_else_is_escaped(engine: ModuleType, profile: str) -> None:
    literal = "a/<>&'\x7f\x80\x85\xa0\xad\u2028\u2029\ufeff\ufffd\uffff\U00010000\U0010ffffz"
    assert engine.canonical_with(profile, literal) == f'"{literal}"'


@pytest.mark.parametrize("profile", ALL_PROFILES)
def test_every_code_point_but_the_surrogates_is_written_as_the_rules_say(
    engine: ModuleType, profile: str
) -> None:
    codes = [*range(0xD800), *range(0xE000, 0x110000)]
    for first in range(0, len(codes), 0x8000):
        text = "x" + "".join(map(chr, codes[first : first + 0x8000])) + "x"
        assert engine.canonical_with(profile, text) == quoted(text)


@pytest.mark.parametrize("profile", ALL_PROFILES)
def test_text_is_not_normalised(engine: ModuleType, profile: str) -> None:
    texts = ["é", "e\u0301", "Å", "\u212b", "ﬁ", "한", "\u1112\u1161\u11ab"]
    assert engine.canonical_with(profile, texts) == "[" + ",".join(map(quoted, texts)) + "]"


def strings_with_a_mark_at_every_position() -> Iterator[str]:
    """Strings of up to 70 characters of each storage width, with one mark at each position."""
    for filler in ("a", "é", "中", "😀"):
        for length in [*range(1, 20), 31, 32, 33, 47, 48, 63, 64, 65, 70]:
            for position in range(length):
                for mark in MARKS:
                    yield filler * position + mark + filler * (length - position - 1)


def test_a_mark_is_found_at_every_position_of_a_string_of_every_width(engine: ModuleType) -> None:
    texts = [text for text in strings_with_a_mark_at_every_position() if text == text.strip()]
    expected = "[" + ",".join(map(quoted, texts)) + "]"
    assert engine.canonical_json(texts) == expected
    assert engine.canonical_with("pleach", texts) == expected


def test_random_mixtures_of_all_kinds_of_characters_are_written_as_the_rules_say(
    engine: ModuleType,
) -> None:
    source = random.Random(8785)
    for length in [*range(0, 130), 500, 4_000, 20_000]:
        text = "".join(source.choice([*MARKS, "a", "é", "中"]) for _ in range(length))
        assert engine.canonical_with("jcs", text) == quoted(text)
        assert engine.canonical_json(text) == quoted(text.strip())


# -- the string writers of the native engine -------------------------------------------------------


@pytest.fixture(params=["avx512", "baseline"])
def writer(request: pytest.FixtureRequest, native: ModuleType) -> Iterator[ModuleType]:
    """The native engine with each of its string writers in turn."""
    from overturn_fast._native import ffi, lib

    chosen = ffi.string(lib.ovt_units_variant_name())
    if not lib.ovt_units_select(request.param.encode()):
        pytest.skip(f"this processor or this build has no {request.param}")
    yield native
    lib.ovt_units_select(chosen)


def by_units(text: str) -> bytes:
    return text.encode("utf-16-be", "surrogatepass")


def fresh(text: str) -> str:
    """An equal str that is another object: it keeps no UTF-8 yet."""
    return (text + "x")[:-1]


def keep_utf8(text: str) -> None:
    """Have CPython keep a str's UTF-8 with it, as the C API does for whoever asks for it."""
    ctypes.pythonapi.PyUnicode_AsUTF8(ctypes.py_object(text))


def test_values_and_keys_are_the_same_with_every_writer(writer: ModuleType) -> None:
    texts = sorted(set(strings_with_a_mark_at_every_position()), key=by_units)
    members = (f"{quoted(text)}:{quoted(text)}" for text in texts)
    expected = "{" + ",".join(members) + "}"
    value = {fresh(text): fresh(text) for text in reversed(texts)}
    assert writer.canonical_with("jcs", value) == expected


def test_a_str_that_keeps_its_utf8_is_written_like_any_other(writer: ModuleType) -> None:
    for text in ("é", 'é"', "中\n" * 40, "é" * 5_000, "\x01é", " é ", "\u3000é\u3000"):
        for kept in (fresh(text), fresh(text)):
            keep_utf8(kept)
            assert (
                writer.canonical_with("jcs", {kept: kept}) == f"{{{quoted(text)}:{quoted(text)}}}"
            )
            assert writer.canonical_json(kept) == quoted(text.strip())


def test_the_first_key_at_fault_is_named_with_every_writer(
    writer: ModuleType, pure: ModuleType
) -> None:
    plain = [f"ключ{number}" for number in range(40)]
    for place in (0, 1, 15, 16, 17, 39):
        for other in ("é\udfff", 5):
            keys: list[Any] = list(plain)
            keys.insert(place, f"é\ud800{place}")
            keys.insert(place + 1, other)
            value = dict.fromkeys(keys, 1)
            for profile in ALL_PROFILES:
                told = [failure_of(engine, profile, value) for engine in (writer, pure)]
                assert told[0] == told[1]


def failure_of(engine: ModuleType, profile: str, value: object) -> str:
    """The text of a value, or what was raised."""
    try:
        return str(engine.canonical_with(profile, value))
    except ValueError as error:
        return f"{type(error).__name__}: {error}"


# -- trimming --------------------------------------------------------------------------------------


def trim_set(data: Path, language: str = "python311_str.strip") -> str:
    """The characters that a language trims, from the table."""
    lines = (data / "test262" / "trim_sets.tsv").read_text().splitlines()
    column = lines[0].split("\t").index(language)
    rows = [line.split("\t") for line in lines[1:]]
    return "".join(chr(int(row[0][2:], 16)) for row in rows if row[column] == "1")


def test_the_trimmed_characters_are_exactly_those_of_str_strip(
    engine: ModuleType, data: Path
) -> None:
    trimmed = trim_set(data)
    for code in [*range(0x0, 0xD800), *range(0xE000, 0x10100), *range(0xE0000, 0xE0200)]:
        character = chr(code)
        expected = '"x"' if character in trimmed else quoted(f"{character}x{character}")
        assert engine.canonical_json(f"{character}x{character}") == expected


def test_trimming_takes_any_number_of_white_space_characters_from_both_ends(
    engine: ModuleType, data: Path
) -> None:
    spaces = trim_set(data)
    assert engine.canonical_json(f"{spaces}x{spaces}y{spaces}") == quoted(f"x{spaces}y")
    for count in range(40):
        for space in (" ", "\x85", "\u3000"):
            for core in ("x", "é", "中", "😀", '"'):
                text = space * count + core + space * count
                assert engine.canonical_json(text) == quoted(core)


def test_a_string_of_white_space_alone_becomes_empty_and_is_kept(engine: ModuleType) -> None:
    for text in ("", " ", "\t\n", "\x85", "\u3000" * 50, "\x1c \u2028"):
        assert engine.canonical_json(text) == '""'
        assert engine.canonical_json({"a": [text]}) == '{"a":[""]}'


@pytest.mark.parametrize("profile", AS_IS_PROFILES)
def test_the_other_profiles_trim_nothing(engine: ModuleType, profile: str) -> None:
    for text in ("", " ", " x ", "\x85x\u3000", "\x1cx\x1f"):
        assert engine.canonical_with(profile, [text]) == f"[{quoted(text)}]"


def test_strings_that_javascript_trims_are_trimmed_by_pythons_set(
    engine: ModuleType, data: Path
) -> None:
    rows = json.loads((data / "test262" / "json_and_trim.json").read_text("utf-8"))["trim"]
    assert len(rows) == 70
    for row in rows:
        before, by_javascript = (text_of_units(row[side]) for side in ("units", "expect_units"))
        assert before.strip(trim_set(data, "node20_String.trim")) == by_javascript
        assert engine.canonical_json(before) == quoted(before.strip(trim_set(data)))


# -- surrogates ------------------------------------------------------------------------------------


def text_of_units(units: str) -> str:
    """A str with one code point for each UTF-16 code unit, pairs not joined."""
    return "".join(chr(int(unit, 16)) for unit in units.split())


def stringify_rows(data: Path) -> list[tuple[str, str]]:
    rows = json.loads((data / "test262" / "json_and_trim.json").read_text("utf-8"))["stringify"]
    return [(text_of_units(row["units"]), row["expect"]) for row in rows if "units" in row]


@pytest.mark.parametrize("profile", ["overturn", "pleach"])
def test_surrogates_are_written_as_json_stringify_writes_them(
    engine: ModuleType, data: Path, profile: str
) -> None:
    rows = stringify_rows(data)
    assert len(rows) == 12
    for text, expected in rows:
        assert engine.canonical_with(profile, text) == expected
        assert engine.canonical_with(profile, {text: 1}) == f"{{{expected}:1}}"


def test_mcpulse_writes_every_surrogate_code_point_as_an_escape(
    engine: ModuleType, data: Path
) -> None:
    for text, _ in stringify_rows(data):
        expected = '"' + "".join(f"\\u{ord(unit):04x}" for unit in text) + '"'
        assert engine.canonical_with("mcpulse", text) == expected
    assert engine.canonical_with("mcpulse", "a\ud83d\ude00\U0001f600") == (
        '"a\\ud83d\\ude00\U0001f600"'
    )


@pytest.mark.parametrize("profile", ["jcs", "jcs-double"])
def test_jcs_refuses_surrogates_paired_or_not(
    engine: ModuleType, error_of: Any, profile: str, data: Path
) -> None:
    for text in ("\ud800", "\udfff", "a\ud800b", "\ud83d\ude00", "é\udc00", "😀\ud800"):
        assert error_of(engine.canonical_with, profile, {"k": [1, text]}) == (
            "SurrogateError",
            "$.k[1]: str holds a lone surrogate",
        )
        assert error_of(engine.canonical_with, profile, {"k": [{text: 1}]}) == (
            "SurrogateError",
            "$.k[0]: a key of type str holds a lone surrogate",
        )


@pytest.mark.parametrize("profile", ["overturn", "mcpulse", "pleach"])
def test_every_lone_surrogate_is_a_lower_case_escape(engine: ModuleType, profile: str) -> None:
    codes = range(0xD800, 0xE000)
    texts = [f"x{chr(code)}" for code in codes]
    expected = [f'"x\\u{code:04x}"' for code in codes]
    assert engine.canonical_with(profile, texts) == "[" + ",".join(expected) + "]"


@pytest.mark.parametrize("profile", ["overturn", "pleach"])
def test_a_high_and_a_low_surrogate_are_joined_to_their_character(
    engine: ModuleType, profile: str
) -> None:
    for high in range(0xD800, 0xDC00):
        for low in (0xDC00, 0xDC00 + high % 0x400, 0xDFFF):
            character = chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
            text = chr(high) + chr(low)
            assert engine.canonical_with(profile, text) == f'"{character}"'


@pytest.mark.parametrize("profile", ["overturn", "pleach"])
def test_only_neighbours_in_the_right_order_are_joined(engine: ModuleType, profile: str) -> None:
    for text, expected in (
        ("\ud83d-\ude00", '"\\ud83d-\\ude00"'),
        ("\ude00\ud83d", '"\\ude00\\ud83d"'),
        ("\ud83d\ud83d\ude00\ude00", '"\\ud83d😀\\ude00"'),
        ("\ud83d\ude00\ud83d\ude00", '"😀😀"'),
        ("\ud83d😀", '"\\ud83d😀"'),
        ("😀\ude00", '"😀\\ude00"'),
        ("é\ud83d\ude00é", '"é😀é"'),
    ):
        assert engine.canonical_with(profile, text) == expected


def test_surrogates_are_found_at_every_position(engine: ModuleType) -> None:
    for filler in ("a", "中", "😀"):
        for length in [*range(1, 20), 31, 32, 33, 64, 65]:
            for position in range(length):
                before, after = filler * position, filler * (length - position - 1)
                for text, written in (("\udead", "\\udead"), ("\ud83d\ude00", "😀")):
                    expected = f'"{before}{written}{after}"'
                    assert engine.canonical_json(before + text + after) == expected


def test_a_surrogate_is_no_white_space_and_does_not_hinder_trimming(engine: ModuleType) -> None:
    assert engine.canonical_json(" \ud800 ") == '"\\ud800"'
    assert engine.canonical_json("\u3000\ud83d\ude00\n") == '"😀"'
    assert engine.canonical_json("\ud83d \ude00") == '"\\ud83d \\ude00"'


def test_the_text_never_holds_a_surrogate(engine: ModuleType) -> None:
    value = {"\ud800\udc00\ud800": ["\udfff", {"\udc00": "\ud800"}]}
    for profile in ("overturn", "mcpulse", "pleach"):
        engine.canonical_with(profile, value).encode("utf-8")


# -- subclasses ------------------------------------------------------------------------------------


class OddStr(str):
    """A str that lies about itself wherever it can."""

    __slots__ = ()

    def __str__(self) -> str:
        return "no"

    __repr__ = __str__

    def __format__(self, _: str) -> str:
        return "no"

    def strip(self, chars: str | None = None) -> str:
        return "no"

    def encode(self, encoding: str = "utf-8", errors: str = "strict") -> bytes:
        return b"no"

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[str]:
        return iter("no")

    def __getitem__(self, key: object) -> str:
        return "n"

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 3


class Color(str, enum.Enum):
    RED = " red "

    def __str__(self) -> str:
        return "Color.RED"


@pytest.mark.parametrize("text", ["", " x ", "é", "中文", "😀 ", "a\ud800", 'q"'])
def test_a_str_subclass_is_read_by_its_data(engine: ModuleType, text: str) -> None:
    assert engine.canonical_json([OddStr(text)]) == engine.canonical_json([text])
    assert engine.canonical_with("pleach", OddStr(text)) == engine.canonical_with("pleach", text)


@pytest.mark.parametrize("profile", AS_IS_PROFILES)
def test_an_enum_member_mixed_with_str_is_its_str_data(engine: ModuleType, profile: str) -> None:
    assert engine.canonical_with(profile, [Color.RED]) == '[" red "]'
    assert engine.canonical_json([Color.RED]) == '["red"]'


def test_a_user_string_is_its_str_data_in_the_overturn_profile(
    engine: ModuleType, error_of: Any
) -> None:
    assert engine.canonical_json([UserString(" x ")]) == '["x"]'
    for profile in AS_IS_PROFILES:
        assert error_of(engine.canonical_with, profile, UserString("x")) == (
            "UnsupportedTypeError",
            "$: collections.UserString has no canonical form",
        )


def test_an_error_about_a_str_subclass_names_the_subclass(
    engine: ModuleType, error_of: Any
) -> None:
    assert error_of(engine.canonical_with, "jcs", OddStr("\ud800")) == (
        "SurrogateError",
        f"$: {__name__}.OddStr holds a lone surrogate",
    )


def test_the_value_is_left_as_it_was(engine: ModuleType) -> None:
    value = {"a": " x ", "b": ["\ud83d\ude00 ", None], "c": None}
    before = json.dumps(value)
    engine.canonical_json(value)
    assert json.dumps(value) == before
    assert list(value) == ["a", "b", "c"]
