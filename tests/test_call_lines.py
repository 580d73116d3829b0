"""Recorded calls as lines of JSON text: one reading for the fingerprint, and precise errors."""

from __future__ import annotations

import json
from types import ModuleType
from typing import Any

import pytest
from text_generator import MUTANTS, Generator

from overturn_fast import CanonicalizationError, fingerprint
from overturn_fast._errors import CallError

DEPTH = 100
Engines = tuple[ModuleType, ModuleType]


def answer(engine: ModuleType, line: bytes, max_depth: int = DEPTH) -> object:
    try:
        return engine.call_digest(line, max_depth)
    except CanonicalizationError as error:
        return type(error), str(error), error.offset


def members(engine: ModuleType, line: bytes, max_depth: int = DEPTH) -> object:
    try:
        return [
            (line[m.name_start : m.name_end], line[m.value_start : m.value_end])
            for m in engine.members(line, max_depth)
        ]
    except CanonicalizationError as error:
        return type(error), str(error), error.offset


CALLS: list[dict[str, Any]] = [
    {"name": "t", "args": {}},
    {"name": "", "args": None},
    {"args": [1, None, " x "], "name": "é😀"},
    {"kind": "http", "name": "t", "args": {"b": 1, "a": None}},
    {"kind": "", "name": "a\nb\\", "args": "text"},
    {"name": "\ud800", "kind": "\udfff", "args": {"\ud800": 1}},
    {"name": "t", "args": {"b": 1, "a": 2}, "matchOn": ["a"]},
    {"name": "t", "args": {"b": 1, "a": 2}, "matchOn": ["a"], "ignoreArgs": ["a"]},
    {"name": "t", "args": {"b": 1, "a": 2, "é": 3}, "ignoreArgs": ["a", "é", "a", "absent"]},
    {"name": "t", "args": {"b": 1, "a": 2}, "matchOn": [], "ignoreArgs": ["b"]},
    {"name": "t", "args": {"b": 1}, "matchOn": None, "ignoreArgs": None},
    {"name": "t", "args": {"\ud83d\ude00": 1, "": 2, "\ud800": 3}, "matchOn": ["", "\ud800"]},
    {"name": "t", "args": dict.fromkeys(map(str, range(300)), 1), "matchOn": ["7", "77", "x"]},
    {"id": {"name": 1}, "name": "t", "at": [[]], "args": {"x": "y" * 5000}},
]  # fmt: skip


@pytest.mark.parametrize("call", CALLS, ids=lambda call: ",".join(call))
@pytest.mark.parametrize("indent", [None, 2])
def test_a_line_has_the_fingerprint_of_its_call(
    text_engine: ModuleType, call: dict[str, Any], indent: int | None
) -> None:
    expected = fingerprint(
        call.get("kind", "tool_call"),
        call["name"],
        call["args"],
        call.get("matchOn"),
        call.get("ignoreArgs"),
    )
    assert answer(text_engine, json.dumps(call, indent=indent).encode()) == expected
    padded = b" " * 1500 + json.dumps(call, indent=indent).encode()
    assert answer(text_engine, padded) == expected


def test_fields_are_found_by_what_their_names_spell(text_engine: ModuleType) -> None:
    expected = fingerprint("tool_call", "t", {"a": 1})
    for line in (
        '{"n\\u0061me":"t","\\u0061\\u0072\\u0067\\u0073":{"a":1}}',
        '{"name":"x","args":0,"name":"t","args":{"a":1}}',
        '{"name":"t","args":{"a":1},"Kind":1,"kin":1,"kinds":1,"kind\\u0000":1,"\\\\kind":1,"":1}',
        '{"matchOn":1,"name":"t","args":{"a":1},"matchOn":null}',
    ):
        assert answer(text_engine, line.encode()) == expected


@pytest.mark.parametrize(
    ("line", "reason", "offset"),
    [
        ("[1]", "a call must be an object, not an array", 0),
        (' "x"', "a call must be an object, not a string", 1),
        ("null", "a call must be an object, not null", 0),
        ("-1", "a call must be an object, not a number", 0),
        ("true", "a call must be an object, not a boolean", 0),
        (" {}", 'the call has no "name"', 1),
        ('{"args":1}', 'the call has no "name"', 0),
        ('{"name":1}', 'the call has no "args"', 0),
        ('{"name": 1,"args":{}}', "$.name must be a string, not a number", 9),
        ('{"kind":null,"name":1,"args":{}}', "$.kind must be a string, not null", 8),
        ('{"kind":"a\\nb","name":1,"args":{}}', "$.name must be a string, not a number", 22),
        ('{"kind":"a\\u000ab","name":"t","args":{}}', "$.kind must not contain a newline", 8),
        ('{"name":"t","args":1,"matchOn":"a"}',
         "$.matchOn must be an array of strings, not a string", 31),
        ('{"name":"t","args":1,"matchOn":["a", {}]}',
         "$.matchOn[1] must be a string, not an object", 37),
        ('{"name":"t","args":1,"ignoreArgs":[[1,2]],"matchOn":[]}',
         "$.ignoreArgs[0] must be a string, not an array", 35),
        ('{"name":"t","args":1,"ignoreArgs":{}}',
         "$.ignoreArgs must be an array of strings, not an object", 34),
    ],
)  # fmt: skip
def test_a_value_that_is_no_call_is_refused_with_field_and_place(
    text_engine: ModuleType, line: str, reason: str, offset: int
) -> None:
    with pytest.raises(CallError) as raised:
        text_engine.call_digest(line.encode(), DEPTH)
    assert (raised.value.reason, raised.value.offset) == (reason, offset)
    assert raised.value.column == offset + 1


def test_what_is_no_json_is_refused_before_what_is_no_call(text_engine: ModuleType) -> None:
    for line, offset in [
        (b"[1", 2),
        (b'{"name":1,"args":2,}', 19),
        (b"{}x", 2),
        (b'{"a":[1 2]}', 8),
    ]:
        failed = answer(text_engine, line)
        assert failed[2] == offset  # type: ignore[index]
        assert members(text_engine, line) == failed


def test_arguments_may_be_nested_max_depth_levels(text_engine: ModuleType) -> None:
    def line(depth: int) -> bytes:
        return b'{"name":"t","args":' + b"[" * depth + b"]" * depth + b"}"

    assert isinstance(answer(text_engine, line(5), 5), str)
    assert answer(text_engine, line(6), 5)[2] == 19 + 5  # type: ignore[index]


def test_members_are_those_of_an_object_alone(text_engine: ModuleType) -> None:
    line = b' { "a" : [ {} ] , "a":1,"\\u0062" :"x" } '
    assert members(text_engine, line) == [
        (b'"a"', b"[ {} ]"),
        (b'"a"', b"1"),
        (b'"\\u0062"', b'"x"'),
    ]
    for other in (b"{}", b"[1]", b'"a"', b"1"):
        assert members(text_engine, other) == []
    many = b"{" + b",".join(b'"k%d":%d' % (n, n) for n in range(1000)) + b"}"
    assert len(members(text_engine, many)) == 1000  # type: ignore[arg-type]


def test_mutated_calls_give_the_same_fingerprint_or_the_same_error(text_engines: Engines) -> None:
    native, pure = text_engines
    generator = Generator(20260106)
    fingerprints = 0
    for number in range(MUTANTS // 8):
        call = dict(CALLS[number % len(CALLS)])
        if number % 3:
            call["args"] = generator.value(3)
        line = generator.mutant(generator.text(call))
        given = answer(native, line)
        assert given == answer(pure, line), line
        assert members(native, line) == members(pure, line), line
        fingerprints += isinstance(given, str)
    assert fingerprints > MUTANTS // 100
