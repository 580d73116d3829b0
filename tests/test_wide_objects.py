"""Objects of very many members: their order, and every kind of value that can stand in one."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import random
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from overturn_fast._profiles import JCS, OVERTURN

# Around each number of keys at which another way of ordering or of writing begins.
SIZES = [8, 9, 12, 16, 17, 24, 25, 63, 64, 65, 127, 128, 129, 500, 2047, 2048, 2049, 9_000]
MANY = [128, 2048]

Keys = Callable[[random.Random, int], str]
CHARACTERS = "\0\x01 aé\ud7ff\ue000\uf8ff\uffee\uffff\U00010000😀\U0010ffff"

KEYS: dict[str, Keys] = {
    "hexadecimal": lambda rng, number: f"{rng.getrandbits(48):012x}",
    "numbered": lambda rng, number: f"field_{number}",
    "sections": lambda rng, number: f"a.common.start.{number % 7}/name-{number}",
    "one section": lambda rng, number: "x" * 40 + f"{number:07d}",
    "zero bytes": lambda rng, number: (
        "\0" * (number % 23) + "a" * (number % 3) + "\0" * (number // 69)
    ),
    "nested beginnings": lambda rng, number: "ab" * (number % 120) + chr(0x100 + number // 120),
    "all planes": lambda rng, number: "".join(rng.choices(CHARACTERS, k=number % 20)) + str(number),
    "planes after a start": lambda rng, number: "início-" + rng.choice(CHARACTERS) + f"-{number}",
    "two characters": lambda rng, number: rng.choice("😀\uff5e") * 3 + f"{number:b}",
}


def utf16_units(text: str) -> bytes:
    return text.encode("utf-16-be", "surrogatepass")


def as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def in_order(value: dict[str, Any], key: Callable[[str], Any] | None = None) -> str:
    return as_json({name: value[name] for name in sorted(value, key=key)})


def shuffled(kind: str, count: int) -> dict[str, int]:
    rng = random.Random(f"{kind} {count}")
    keys = list({KEYS[kind](rng, number) for number in range(count)})
    keys.sort()
    rng.shuffle(keys)
    return {key: number for number, key in enumerate(keys)}


# -- order -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", list(KEYS))
def test_objects_of_every_size_are_in_both_orders(engine: ModuleType, kind: str) -> None:
    for count in SIZES:
        value = shuffled(kind, count)
        by_code_point = in_order(value)
        assert engine.canonical_json(value) == by_code_point
        assert engine.canonical_with("jcs", value) == in_order(value, utf16_units)
        assert engine.hash_json(value) == hashlib.sha256(by_code_point.encode()).hexdigest()


@pytest.mark.parametrize("kind", list(KEYS))
def test_texts_of_every_size_are_in_both_orders(text_engine: ModuleType, kind: str) -> None:
    for count in SIZES:
        value = shuffled(kind, count)
        text = as_json(value).encode()
        for profile, key in ((OVERTURN, None), (JCS, utf16_units)):
            assert bytes(text_engine.canonical_text(text, profile, 10)).decode() == (
                in_order(value, key)
            )


@pytest.mark.parametrize("kind", ["hexadecimal", "sections", "planes after a start"])
def test_objects_of_very_many_members_are_in_order(
    native: ModuleType, text_engines: tuple[ModuleType, ModuleType], kind: str
) -> None:
    """So many that what is sorted does not fit a cache, and its memory is asked for as a whole."""
    value = shuffled(kind, 120_000)
    by_units = in_order(value, utf16_units)
    assert native.canonical_json(value) == in_order(value)
    assert native.canonical_with("jcs", value) == by_units
    text = as_json(value).encode()
    assert bytes(text_engines[0].canonical_text(text, JCS, 10)).decode() == by_units


@pytest.mark.parametrize("count", [3, 20, 40, 100, 3_000])
def test_lone_surrogates_are_ordered_as_units_in_objects_of_any_size(
    engine: ModuleType, count: int
) -> None:
    rng = random.Random(count)
    starts = ["\ud800", "\udbff", "\udc00", "\udfff", "\U00010000", "😀", "\ue000", "中"]
    keys = list({f"common start {rng.choice(starts)}{number}" for number in range(count)})
    rng.shuffle(keys)
    value = dict.fromkeys(keys, 0)
    ordered = dict.fromkeys(sorted(keys, key=utf16_units), 0)
    written = engine.canonical_with("mcpulse", value)
    assert list(json.loads(written)) == list(ordered)


# -- values ----------------------------------------------------------------------------------------


@dataclasses.dataclass
class Point:
    x: int
    y: int


class Text(str):
    """A str subclass that lies about itself."""

    __slots__ = ()

    def __str__(self) -> str:
        return "no"


# Each with its JSON, in the profile of OverturnAI.
VALUES: list[tuple[object, str]] = [
    (7, "7"),
    (-(2**53) + 1, "-9007199254740991"),
    (2**64, "18446744073709551616"),
    (10**21, "1e+21"),
    (1.5, "1.5"),
    (1e21, "1e+21"),
    (-0.0, "0"),
    (2.0**60, "1152921504606846976"),
    (math.nan, "null"),
    (math.inf, "null"),
    (True, "true"),
    (False, "false"),
    ("", '""'),
    ("text", '"text"'),
    ('a \n and "', '"a \\n and \\""'),
    ("naïve 数据 😀", '"naïve 数据 😀"'),
    ("x" * 256, f'"{"x" * 256}"'),
    ("x" * 257, f'"{"x" * 257}"'),
    ("é" * 64, f'"{"é" * 64}"'),
    ("é" * 65, f'"{"é" * 65}"'),
    ("\x01" * 256, '"' + r"\u0001" * 256 + '"'),
    ("😀" * 300, f'"{"😀" * 300}"'),
    ("\ud800", '"\\ud800"'),
    (Text("yes"), '"yes"'),
    ([], "[]"),
    ([1, [2]], "[1,[2]]"),
    ((1, "a"), '[1,"a"]'),
    ({}, "{}"),
    ({"b": 1, "a": [None, 2]}, '{"a":[2],"b":1}'),
    (Point(1, 2), '{"x":1,"y":2}'),
    ({2, 1}, "[1,2]"),
]


@pytest.mark.parametrize("count", MANY)
@pytest.mark.parametrize("every", [1, 2, 9, 100])
def test_every_kind_of_value_can_stand_among_many(
    engine: ModuleType, count: int, every: int
) -> None:
    """All of a kind that needs no conversion but each so many, and None, which is left out."""
    members: list[tuple[str, object, str]] = []
    for number in range(count + 50):
        chosen = (
            VALUES[number // every % len(VALUES)] if number % every == 0 else (number, str(number))
        )
        members.append((f"key{number * 7919 % 10_007}", *chosen))
    value: dict[str, object] = {key: given for key, given, _ in members}
    value["none"] = None
    inside = ",".join(f'"{key}":{text}' for key, _, text in sorted(members, key=lambda m: m[0]))
    expected = "{" + inside + "}"
    assert engine.canonical_json(value) == expected
    assert engine.canonical_json([value, value]) == f"[{expected},{expected}]"
    assert engine.hash_json(value) == hashlib.sha256(expected.encode()).hexdigest()


@pytest.mark.parametrize("character", ["a", "é", "数", "😀", "\x02"])
def test_strings_of_every_length_can_stand_among_many(engine: ModuleType, character: str) -> None:
    rng = random.Random(character)
    value = {f"{number:04d}": character * rng.randrange(260) for number in range(3_000, 0, -1)}
    expected = in_order(value)
    assert engine.canonical_json(value) == expected
    assert engine.hash_json(value) == hashlib.sha256(expected.encode()).hexdigest()


@pytest.mark.parametrize("count", MANY)
def test_none_is_written_where_the_profile_says_so(engine: ModuleType, count: int) -> None:
    value = {f"{number:05d}": None if number % 3 else number for number in range(count, 0, -1)}
    assert engine.canonical_with("jcs", value) == in_order(value)
    kept = {key: item for key, item in value.items() if item is not None}
    assert engine.canonical_json(value) == in_order(kept)
    assert engine.canonical_json(dict.fromkeys(value)) == "{}"


@pytest.mark.parametrize("count", MANY)
def test_strings_among_many_members_are_trimmed_where_the_profile_says_so(
    engine: ModuleType, count: int
) -> None:
    value = {f" {number} ": f"\t é{number}\u3000 " for number in range(count)}
    trimmed = {key: text.strip() for key, text in value.items()}
    assert engine.canonical_json(value) == in_order(trimmed)
    assert engine.canonical_with("jcs", value) == in_order(value)


@pytest.mark.parametrize("count", MANY)
def test_wide_objects_can_stand_in_each_other(engine: ModuleType, count: int) -> None:
    def wide(inner: object) -> dict[str, object]:
        made: dict[str, object] = {f"k{number}": number for number in range(count)}
        made["k5"] = inner
        made["k50"] = [inner, {"b": inner, "a": 1}]
        return made

    value = wide(wide(wide({"z": 1, "y": 2})))
    expected = json.dumps(value, sort_keys=True, separators=(",", ":"))
    assert engine.canonical_json(value) == expected
    assert engine.hash_json(value) == hashlib.sha256(expected.encode()).hexdigest()


# -- keys of other kinds ---------------------------------------------------------------------------


@pytest.mark.parametrize("count", MANY)
@pytest.mark.parametrize("at", [0, 40, 127])
@pytest.mark.parametrize(
    ("key", "text"),
    [
        (12345, '"12345"'),
        (None, '"null"'),
        (Text("subclass"), '"subclass"'),
        ("\ud800", '"\\ud800"'),
        ('with "quotes"', '"with \\"quotes\\""'),
        ("\n", '"\\n"'),
        ("long" * 64, f'"{"long" * 64}"'),
        ("longer" * 64, f'"{"longer" * 64}"'),
        ("😀" * 65, f'"{"😀" * 65}"'),
    ],
    ids=["int", "None", "subclass", "surrogate", "quotes", "newline", "256", "384", "emoji"],
)
def test_one_key_of_another_kind_changes_nothing_for_the_others(
    engine: ModuleType, count: int, at: int, key: Any, text: str
) -> None:
    members = [(f"é{number}", f'"é{number}"', [number]) for number in range(count)]
    plain = [(name, quoted, number) for number, (name, quoted, _) in enumerate(members)]
    for rows in (members, plain):
        value: dict[Any, object] = {name: item for name, _, item in rows[:at]}
        value[key] = "the one"
        value.update({name: item for name, _, item in rows[at:]})
        raw = key if isinstance(key, str) else json.loads(text)
        entries = [(name, f"{quoted}:{as_json(item)}") for name, quoted, item in rows]
        entries.append((str.__str__(raw) if type(raw) is str else "subclass", f'{text}:"the one"'))
        expected = "{" + ",".join(entry for _, entry in sorted(entries)) + "}"
        assert engine.canonical_json(value) == expected


@pytest.mark.parametrize("count", MANY)
def test_of_many_keys_with_one_text_the_last_counts(engine: ModuleType, count: int) -> None:
    value: dict[Any, object] = {str(number): "str" for number in range(count)}
    value.update(dict.fromkeys(range(0, count, 2), "int"))
    expected = {str(number): "str" if number % 2 else "int" for number in range(count)}
    assert engine.canonical_json(value) == in_order(expected)


# -- errors ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", MANY)
@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (math.nan, "FloatDomainError", "float"),
        (2**53, "IntegerDomainError", ""),
        ("\udfff", "SurrogateError", ""),
        (object(), "UnsupportedTypeError", "object"),
        ([{"a": math.inf}], "FloatDomainError", ""),
    ],
    ids=["nan", "integer", "surrogate", "object", "nested"],
)
def test_the_first_bad_value_in_order_is_named(
    engine: ModuleType,
    pure: ModuleType,
    error_of: Any,
    count: int,
    value: object,
    error: str,
    message: str,
) -> None:
    rows: dict[str, object] = {f"é{number:05d}": number for number in range(count)}
    rows["é00077"] = value
    rows["é00066"] = value
    wide = dict(reversed(rows.items()))
    found = error_of(engine.canonical_with, "jcs", {"at": [wide]})
    assert found == error_of(pure.canonical_with, "jcs", {"at": [wide]})
    assert found[0] == error
    assert message in found[1]
    assert "00066" in found[1]
    assert "00077" not in found[1]


@pytest.mark.parametrize("count", MANY)
def test_a_wide_object_in_itself_is_a_cycle(engine: ModuleType, error_of: Any, count: int) -> None:
    value: dict[str, object] = {f"k{number:04d}": number for number in range(count)}
    value["k0100"] = [value]
    assert error_of(engine.canonical_json, value) == (
        "CircularReferenceError",
        "$.k0100[0]: dict contains itself",
    )


@pytest.mark.parametrize("count", MANY)
def test_a_converter_may_change_the_object_that_is_being_written(
    engine: ModuleType, count: int
) -> None:
    """What is written is what was there when the object was opened."""
    value: dict[str, Any] = {f"k{number:04d}": f"text {number}" for number in range(count)}
    expected = dict(value)

    class Emptying:
        def model_dump(self) -> dict[str, Any]:
            value.clear()
            value["other"] = 1
            return {"emptied": True}

    value["k0000"] = Emptying()
    value["k0001"] = [1, 2]
    value["k0002"] = Emptying()
    expected["k0001"] = [1, 2]
    expected["k0000"] = expected["k0002"] = {"emptied": True}
    assert engine.canonical_json(value) == in_order(expected)
    assert value == {"other": 1}


@pytest.mark.parametrize("count", MANY)
def test_a_selection_of_a_wide_object_is_made(engine: ModuleType, count: int) -> None:
    arguments = {f"k{number}": number for number in range(count)}
    expected = {key: item for key, item in arguments.items() if key not in ("k7", "k70")}
    assert engine.tool_fingerprint("tool", arguments, None, ["k7", "k70"]) == (
        engine.tool_fingerprint("tool", expected)
    )
    assert engine.tool_fingerprint("tool", arguments, ["k7"]) == (
        engine.tool_fingerprint("tool", {"k7": 7})
    )
