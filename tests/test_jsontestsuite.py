"""Every file of JSONTestSuite: accepted, refused, or decided (``docs/json-text.md``)."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType

import pytest

from overturn_fast import CanonicalizationError, DuplicateKeyError, JSONTextError
from overturn_fast._profiles import JCS, OVERTURN, Profile

FOLDER = Path(__file__).parent / "data" / "jsontestsuite" / "test_parsing"
DEPTH = 10_000

RANGE, SURROGATE = "FloatDomainError", "SurrogateError"

# What becomes of the files that a reader may treat as it likes: under jcs, and under overturn.
# "" stands for a refusal because the text is no JSON in UTF-8; None for the canonical text.
DECIDED = {
    "i_number_double_huge_neg_exp": (None, None),
    "i_number_huge_exp": (RANGE, None),
    "i_number_neg_int_huge_exp": (RANGE, None),
    "i_number_pos_double_huge_exp": (RANGE, None),
    "i_number_real_neg_overflow": (RANGE, None),
    "i_number_real_pos_overflow": (RANGE, None),
    "i_number_real_underflow": (None, None),
    "i_number_too_big_neg_int": (None, None),
    "i_number_too_big_pos_int": (None, None),
    "i_number_very_big_negative_int": (None, None),
    "i_object_key_lone_2nd_surrogate": (SURROGATE, None),
    "i_string_1st_surrogate_but_2nd_missing": (SURROGATE, None),
    "i_string_1st_valid_surrogate_2nd_invalid": (SURROGATE, None),
    "i_string_UTF-16LE_with_BOM": ("", ""),
    "i_string_UTF-8_invalid_sequence": ("", ""),
    "i_string_UTF8_surrogate_U+D800": ("", ""),
    "i_string_incomplete_surrogate_and_escape_valid": (SURROGATE, None),
    "i_string_incomplete_surrogate_pair": (SURROGATE, None),
    "i_string_incomplete_surrogates_escape_valid": (SURROGATE, None),
    "i_string_invalid_lonely_surrogate": (SURROGATE, None),
    "i_string_invalid_surrogate": (SURROGATE, None),
    "i_string_invalid_utf-8": ("", ""),
    "i_string_inverted_surrogates_U+1D11E": (SURROGATE, None),
    "i_string_iso_latin_1": ("", ""),
    "i_string_lone_second_surrogate": (SURROGATE, None),
    "i_string_lone_utf8_continuation_byte": ("", ""),
    "i_string_not_in_unicode_range": ("", ""),
    "i_string_overlong_sequence_2_bytes": ("", ""),
    "i_string_overlong_sequence_6_bytes": ("", ""),
    "i_string_overlong_sequence_6_bytes_null": ("", ""),
    "i_string_truncated-utf-8": ("", ""),
    "i_string_utf16BE_no_BOM": ("", ""),
    "i_string_utf16LE_no_BOM": ("", ""),
    "i_structure_500_nested_arrays": (None, None),
    "i_structure_UTF-8_BOM_empty_object": ("", ""),
}

# RFC 8785 builds on I-JSON (RFC 7493), which has no duplicate names.
DUPLICATES = {"y_object_duplicated_key", "y_object_duplicated_key_and_value"}


def files(verdict: str) -> list[Path]:
    return sorted(FOLDER.glob(f"{verdict}_*.json"))


def test_the_suite_is_complete() -> None:
    assert [len(files(verdict)) for verdict in "yni"] == [95, 188, 35]
    assert {path.stem for path in files("i")} == set(DECIDED)


@pytest.mark.parametrize("profile", [JCS, OVERTURN], ids=lambda profile: profile.name)
def test_every_valid_text_is_accepted(text_engine: ModuleType, profile: Profile) -> None:
    for path in files("y"):
        text = path.read_bytes()
        if profile is JCS and path.stem in DUPLICATES:
            with pytest.raises(DuplicateKeyError):
                text_engine.canonical_text(text, profile, DEPTH)
            continue
        canonical = text_engine.canonical_text(text, profile, DEPTH)
        assert text_engine.canonical_text(canonical, profile, DEPTH) == canonical, path.name
        if profile is JCS:
            assert json.loads(canonical) == json.loads(text), path.name


@pytest.mark.parametrize("profile", [JCS, OVERTURN], ids=lambda profile: profile.name)
def test_every_invalid_text_is_refused_with_its_place(
    text_engine: ModuleType, profile: Profile
) -> None:
    for path in files("n"):
        text = path.read_bytes()
        with pytest.raises(CanonicalizationError) as raised:
            text_engine.canonical_text(text, profile, DEPTH)
        assert 0 <= raised.value.offset <= len(text), path.name


@pytest.mark.parametrize("index", [0, 1], ids=["jcs", "overturn"])
def test_the_undecided_texts_are_decided(text_engine: ModuleType, index: int) -> None:
    profile = (JCS, OVERTURN)[index]
    for path in files("i"):
        decision = DECIDED[path.stem][index]
        if decision is None:
            assert text_engine.canonical_text(path.read_bytes(), profile, DEPTH)
            continue
        with pytest.raises(CanonicalizationError) as raised:
            text_engine.canonical_text(path.read_bytes(), profile, DEPTH)
        assert type(raised.value).__name__ == (decision or JSONTextError.__name__), path.name


def test_every_decision_is_documented() -> None:
    page = Path(__file__).parent.parent / "docs" / "json-text.md"
    text = page.read_text(encoding="utf-8")
    assert [name for name in [*DECIDED, *DUPLICATES] if f"`{name}`" not in text] == []


def test_both_engines_answer_alike(text_engines: tuple[ModuleType, ModuleType]) -> None:
    for path in files("[yni]"):
        text = path.read_bytes()
        for profile in (JCS, OVERTURN):
            answers = []
            for engine in text_engines:
                try:
                    answers.append(engine.canonical_text(text, profile, DEPTH))
                except CanonicalizationError as error:
                    answers.append((type(error), str(error), error.offset))
            assert answers[0] == answers[1], path.name
