"""Shapes of JSON text, on both engines: what they are of the value, and where a text is wrong."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from types import ModuleType

import pytest
from shape_generator import ShapeGenerator
from text_generator import MUTANTS, Generator

from overturn_fast import CanonicalizationError, JSONTextError, SurrogateError
from overturn_fast._pure import fingerprints
from overturn_fast.shape import fingerprint, fingerprint_text, shape_text

Engines = tuple[ModuleType, ModuleType]
Raised = Callable[..., tuple[str, str]]

PROFILES = ("seed", "v2")
DEPTH = 1000


def answer(function: Callable[..., object], text: bytes, profile: str, depth: int) -> object:
    """The result, or class, message and offset of the error."""
    try:
        return function(text, profile, depth)
    except CanonicalizationError as error:
        return type(error), str(error), error.offset


def test_a_text_has_the_shape_of_its_value(shape_text_engine: ModuleType) -> None:
    generator = ShapeGenerator(11)
    for number in range(1000):
        value = generator.value(generator.random.randrange(7), json=True)
        spaced = json.dumps(value, indent=None if number % 3 else 1, ensure_ascii=number % 2 == 0)
        text = spaced.replace("Infinity", "1e999").encode("utf-8", "surrogatepass")
        if b"\xed\xa0\x80" in text:  # a surrogate, which only an escape stands for
            text = json.dumps(value).replace("Infinity", "1e999").encode()
        for profile in PROFILES:
            expected = fingerprints.shape(value, profile=profile)
            assert shape_text_engine.text_shape(text, profile, DEPTH) == expected
            if not any("\ud800" in path for path, _ in expected):
                digest = fingerprints.shape_fingerprint(value, profile=profile)
                assert shape_text_engine.text_shape_digest(text, profile, DEPTH) == digest


def test_names_are_what_their_escapes_stand_for(shape_text_engine: ModuleType) -> None:
    text = (
        rb'{"\u0061":1, "\"\\\/\b\f\n\r\t":1, "\ud83d\ude00":1, "long name \u00e9 of 20 bytes":1}'
    )
    names = ["a", '"\\/\b\f\n\r\t', "😀", "long name é of 20 bytes"]
    for profile in PROFILES:
        expected = fingerprints.shape(dict.fromkeys(names, 1), profile=profile)
        assert shape_text_engine.text_shape(text, profile, DEPTH) == expected


@pytest.mark.parametrize("profile", PROFILES)
def test_of_two_members_of_one_name_the_last_counts(
    shape_text_engine: ModuleType, profile: str
) -> None:
    text = rb'{"a":{"x":1,"x":[{"y":2}],"x":null}, "b":1, "\u0061":[{"z":1,"z":"s"}], "b":{}}'
    expected = fingerprints.shape(json.loads(text), profile=profile)
    assert shape_text_engine.text_shape(text, profile, DEPTH) == expected
    many = ",".join(f'"k{number % 700}":{number}' for number in range(2000))
    text = f'[{{{many},"k5":null}},{{"k9":[],{many}}}]'.encode()
    expected = fingerprints.shape(json.loads(text), profile=profile)
    assert shape_text_engine.text_shape(text, profile, DEPTH) == expected


def test_a_lone_surrogate_in_a_name_is_placed_in_the_text(
    shape_text_engine: ModuleType, error_of: Raised
) -> None:
    text = b'{"a": [1, {\n "x\\udc00": 1}]}'
    assert ("$.a[].x\udc00", "number") in shape_text_engine.text_shape(text, "seed", DEPTH)
    assert error_of(shape_text_engine.text_shape_digest, text, "seed", DEPTH) == (
        "SurrogateError",
        "a lone surrogate: line 2, column 2 (byte 13)",
    )
    assert shape_text_engine.text_shape_digest(text, "v2", DEPTH).startswith("shape2:")
    with pytest.raises(SurrogateError) as raised:
        shape_text_engine.text_shape_digest(text, "seed", DEPTH)
    assert (raised.value.offset, raised.value.line, raised.value.column) == (13, 2, 2)


def test_a_lone_surrogate_that_does_not_count_is_fine(shape_text_engine: ModuleType) -> None:
    for text in (
        b'[1,2,3,4,5,{"\\ud800":1}]',
        b'{"a":"\\ud800"}',
        b'{"a":{"\\ud800":1},"a":2}',
        b'[[],[],[],[],[[1,2,3,4,5,[{"x":{"\\ud800":1}}]]]]',
    ):
        digest = fingerprints.shape_fingerprint(json.loads(text))
        assert shape_text_engine.text_shape_digest(text, "seed", DEPTH) == digest


@pytest.mark.parametrize("profile", ["seed", "v2"])
def test_rows_without_measure_are_refused(
    shape_text_engine: ModuleType, error_of: Raised, profile: str
) -> None:
    text = b'{"%s":' % (b"k" * 1000) * 999 + b"1" + b"}" * 999
    refused = "CanonicalizationError", "$: the rows of its shape have more than 268,435,456 bytes"
    for function in (shape_text_engine.text_shape, shape_text_engine.text_shape_digest):
        assert error_of(function, text, profile, DEPTH) == refused


def test_items_that_do_not_count_must_be_json_all_the_same(
    shape_text_engine: ModuleType, error_of: Raised
) -> None:
    assert error_of(shape_text_engine.text_shape, b"[1,2,3,4,5,[{]]", "seed", DEPTH) == (
        "JSONTextError",
        "expected a name in double quotes: line 1, column 14 (byte 13)",
    )
    deep = b"[1,2,3,4,5," + b"[" * 3 + b"]" * 3 + b"]"
    assert shape_text_engine.text_shape(deep, "seed", 4)
    assert error_of(shape_text_engine.text_shape, deep, "seed", 3) == (
        "DepthError",
        "nesting exceeds max_depth=3: line 1, column 14 (byte 13)",
    )


def test_both_engines_read_mutated_documents_alike(shape_text_engines: Engines) -> None:
    native, pure = shape_text_engines
    generator = Generator(20260714)
    accepted = 0
    for number in range(MUTANTS // 32):
        document = generator.document()
        for _ in range(4):
            text = generator.mutant(document)
            depth = 3 if number % 5 == 0 else DEPTH
            for profile in PROFILES:
                rows = answer(native.text_shape, text, profile, depth)
                assert rows == answer(pure.text_shape, text, profile, depth), (profile, text)
                digest = answer(native.text_shape_digest, text, profile, depth)
                assert digest == answer(pure.text_shape_digest, text, profile, depth), text
                accepted += isinstance(rows, list)
    assert MUTANTS // 80 < accepted < MUTANTS // 4


def test_every_prefix_of_a_document_is_refused_alike(shape_text_engines: Engines) -> None:
    native, pure = shape_text_engines
    generator = ShapeGenerator(12)
    for _ in range(6):
        document = json.dumps(generator.value(6, json=True)).encode()[:1500]
        for end in range(len(document)):
            text = document[:end]
            assert answer(native.text_shape, text, "v2", 50) == answer(
                pure.text_shape, text, "v2", 50
            ), text


@pytest.mark.parametrize("profile", PROFILES)
def test_nesting_costs_memory_and_no_stack(
    shape_text_engine: ModuleType, error_of: Raised, profile: str
) -> None:
    text = b'[{"k":' * 1000 + b"1" + b"}]" * 1000
    rows = shape_text_engine.text_shape(text, profile, 2000)
    assert rows[-1] == ("$" + "[].k" * 1000, "number")
    assert error_of(shape_text_engine.text_shape_digest, text, profile, 1999)[0] == "DepthError"


def test_long_names_and_strings_across_the_end_of_what_is_read_ahead(
    shape_text_engine: ModuleType,
) -> None:
    """Texts past 1,024 bytes are read in place but for their last bytes."""
    for size in range(900, 1300, 7):
        value = {"k" * size: [{"n" * 40: "x" * size, "é" * 20: 1.5e300}], "\n" * 30: 10**40}
        text = json.dumps(value, ensure_ascii=size % 2 == 0).encode()
        for profile in PROFILES:
            expected = fingerprints.shape(value, profile=profile)
            assert shape_text_engine.text_shape(text, profile, 5) == expected


# -- the public functions --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind", [str, bytes, bytearray, memoryview], ids=lambda kind: kind.__name__
)
def test_text_may_be_a_str_or_bytes_of_any_kind(kind: type) -> None:
    text = '{"é": [1, null]}'
    held = text if kind is str else kind(text.encode())
    assert shape_text(held) == [
        ("$", "object"),
        ("$.é", "array"),
        ("$.é[]", "null"),
        ("$.é[]", "number"),
    ]
    assert fingerprint_text(held, profile="v2") == fingerprint({"é": [1, None]}, profile="v2")


def test_arguments_are_checked(error_of: Raised) -> None:
    for function in (shape_text, fingerprint_text):
        assert error_of(function, 1) == (
            "TypeError",
            "text must be a str or a bytes-like object, not int",
        )
        assert error_of(function, "1", profile="v3")[0] == "ValueError"
        assert error_of(function, "1", max_depth=0)[0] == "ValueError"
        with pytest.raises(JSONTextError) as raised:
            function("[1,]")
        assert raised.value.offset == 3


def test_threads_may_read_at_the_same_time() -> None:
    generator = ShapeGenerator(13)
    values = [generator.value(6, json=True) for _ in range(300)]
    texts = [json.dumps(value).replace("Infinity", "1e999") for value in values]
    expected = [fingerprint(value, profile="v2") for value in values]
    found: dict[int, list[str]] = {}

    def work(number: int) -> None:
        found[number] = [fingerprint_text(text, profile="v2") for text in texts]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(found[number] == expected for number in range(4))
