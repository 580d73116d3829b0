"""Canonical text, hash, sizes and emptiness of the MCPulse wire format."""

from __future__ import annotations

import enum
import itertools
import json
import math
from collections import OrderedDict, defaultdict, namedtuple
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import hypothesis
import pydantic
import pytest
from hypothesis import strategies as st
from parameter_ids import shown

from overturn_fast import CanonicalizationError, mcpulse
from overturn_fast._profiles import MCPULSE

FIXTURES = json.loads(
    (Path(__file__).parent / "data" / "mcpulse" / "canonical.json").read_text(encoding="utf-8")
)["fixtures"]


class Colour(str, enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class LoudText(str):
    __slots__ = ()

    def __str__(self) -> str:
        raise AssertionError("the data counts, not the method")

    __repr__ = __format__ = __str__  # type: ignore[assignment]


# -- the fixtures ----------------------------------------------------------------------------------


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda fixture: fixture["name"])
def test_fixture_gives_both_strings(engine: ModuleType, fixture: dict[str, Any]) -> None:
    assert engine.canonical_with(MCPULSE.name, fixture["input"]) == fixture["canonical"]
    assert engine.args_hash(fixture["input"]) == fixture["args_hash"]


def test_there_are_23_fixtures() -> None:
    assert len(FIXTURES) == 23


def test_the_example_printed_in_the_format_has_the_hash_of_another_call(
    engine: ModuleType,
) -> None:
    printed = {"query": "quarterly revenue", "limit": 25}
    filtered = {**printed, "filters": {"region": "EMEA", "active": True}}
    assert engine.args_hash(printed) == "675ab487684c"
    assert engine.args_hash(filtered) == "52a4fe5fc814"


# -- args_hash and canonicalize --------------------------------------------------------------------


def test_no_arguments_hash_as_the_empty_object(engine: ModuleType) -> None:
    assert engine.args_hash(None) == engine.args_hash({}) == "44136fa355b3"
    assert engine.args_hash([]) != engine.args_hash({})
    assert engine.args_hash({"a": None}) != engine.args_hash({})


@pytest.mark.parametrize(
    "args",
    [
        math.nan,
        {"a": [-math.inf]},
        {1: "a"},
        {"a": {None: 1}},
        {"a": b"bytes"},
        {"a": {1, 2}},
        {"a": object()},
        10**400,
        {"a": 1j},
    ],
    ids=shown,
)
def test_what_json_cannot_represent_is_unhashable(engine: ModuleType, args: object) -> None:
    assert engine.args_hash(args) == "000000000000" == mcpulse.UNHASHABLE
    with pytest.raises(mcpulse.CanonicalizeError):
        mcpulse.canonicalize(args)


def test_a_cycle_is_unhashable(engine: ModuleType) -> None:
    args: dict[str, Any] = {"a": []}
    args["a"].append(args)
    assert engine.args_hash(args) == mcpulse.UNHASHABLE


def test_depth_beyond_the_sdk_is_hashed_up_to_max_depth(engine: ModuleType) -> None:
    args: list[Any] = []
    for _ in range(9_999):
        args = [args]
    assert engine.args_hash(args) != mcpulse.UNHASHABLE
    assert engine.args_hash([args]) == mcpulse.UNHASHABLE
    assert engine.args_hash([args], max_depth=10_001) != mcpulse.UNHASHABLE
    assert mcpulse.canonicalize(args) == "[" * 10_000 + "]" * 10_000
    assert mcpulse.canonicalize([1], max_depth=1) == "[1]"
    with pytest.raises(mcpulse.CanonicalizeError):
        mcpulse.canonicalize([[1]], max_depth=1)


@pytest.mark.parametrize("max_depth", [0, -1, "1", None, 1.5, True])
def test_a_max_depth_that_is_none_is_unhashable_and_an_error(
    engine: ModuleType, max_depth: Any
) -> None:
    assert engine.args_hash({}, max_depth=max_depth) == mcpulse.UNHASHABLE
    assert engine.json_size({}, max_depth=max_depth) == 0
    with pytest.raises((TypeError, ValueError), match="max_depth"):
        mcpulse.canonicalize({}, max_depth=max_depth)


def test_subclasses_are_read_by_their_data(engine: ModuleType) -> None:
    point = namedtuple("point", ["x", "y"])
    args = {
        "colour": Colour.RED,
        "level": Level.HIGH,
        "text": LoudText("quiet"),
        "pairs": OrderedDict(b=1, a=2),
        "more": defaultdict(list, c=[1]),
        "point": point(1, 2),
    }
    plain = {
        "colour": "red",
        "level": 3,
        "text": "quiet",
        "pairs": {"a": 2, "b": 1},
        "more": {"c": [1]},
        "point": [1, 2],
    }
    assert engine.args_hash(args) == engine.args_hash(plain) != mcpulse.UNHASHABLE
    assert engine.json_size(args) == engine.json_size(plain)


def test_the_error_of_canonicalize_is_the_root_of_the_package() -> None:
    assert mcpulse.CanonicalizeError is CanonicalizationError
    with pytest.raises(mcpulse.CanonicalizeError, match=r"\$\.filters\[1\]"):
        mcpulse.canonicalize({"filters": [1, object()]})


def test_errors_name_no_values() -> None:
    with pytest.raises(mcpulse.CanonicalizeError) as raised:
        mcpulse.canonicalize({"a": "SECRET", "b": {"SECRET"}, "c": 1})
    assert "SECRET" not in str(raised.value)


# -- utf16_length ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("", 0),
        ("café", 4),
        ("🚀", 2),
        ("\uffff", 1),
        ("\U00010000", 2),
        ("\ud83d\ude80", 2),
        ("\ud800", 1),
        ("a" * 1000 + "🚀" * 1000, 3000),
        (LoudText("🚀"), 2),
    ],
    ids=itertools.count(),
)
def test_utf16_length_counts_code_units(engine: ModuleType, text: str, length: int) -> None:
    assert engine.utf16_length(text) == length
    assert engine.utf16_length(text=text) == length


@hypothesis.given(st.text(st.characters(), max_size=200))
def test_utf16_length_is_the_length_of_the_encoded_text(engine: ModuleType, text: str) -> None:
    assert engine.utf16_length(text) == len(text.encode("utf-16-le", "surrogatepass")) // 2


@pytest.mark.parametrize("value", [None, 1, b"bytes", ["text"]], ids=shown)
def test_utf16_length_of_anything_but_text_is_0(engine: ModuleType, value: Any) -> None:
    assert engine.utf16_length(value) == 0


# -- json_size -------------------------------------------------------------------------------------


def measured(value: object) -> int:
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        False,
        0,
        -1,
        10**18,
        -(2**60) + 1,
        2**60,
        -(10**40),
        10**4299,
        0.0,
        -0.0,
        1.0,
        1e16,
        1e-5,
        1e-7,
        5e-324,
        -1.5e300,
        math.nan,
        math.inf,
        -math.inf,
        "",
        '"\\\b\t\n\f\r\x00\x1f\x7f/\u2028é€🚀\ud800',
        "a" * 63 + '"' + "b" * 63 + "\x01",
        "é" * 100 + "\n",
        "€" * 100 + "\x1f",
        "🚀" * 100 + "\\",
        [],
        {},
        (),
        [[], {}, ()],
        {"": ""},
        {"a": 1, "b": [1, 2.0, None]},
        {1: 1, 1.5: 2, False: 4, None: 5, math.inf: 6, math.nan: 7},
        {"1": 1, 1: 2},
        {Colour.RED: Level.HIGH, Level.HIGH: Colour.RED},
    ],
    ids=lambda value: ascii(value)[:60],
)
def test_json_size_is_the_size_of_the_compact_text(engine: ModuleType, value: object) -> None:
    assert engine.json_size(value) == measured(value) == mcpulse.json_size(value)


@pytest.mark.parametrize(
    "value",
    [object(), b"", {1, 2}, [object()], {"a": {(1, 2): 3}}, 1j, [10**5000], {b"": 1}],
    ids=lambda value: type(value).__name__,
)
def test_json_size_of_what_has_no_text_is_0(engine: ModuleType, value: object) -> None:
    assert engine.json_size(value) == 0


@pytest.mark.parametrize("length", [1, 2, 3, 5, 17])
@pytest.mark.parametrize("lead", [0, 1, 6])
def test_json_size_of_a_cycle_is_0_after_few_rounds(
    engine: ModuleType, length: int, lead: int
) -> None:
    rounds = []

    class Counted(list[Any]):
        def __iter__(self) -> Any:
            rounds.append(1)
            return super().__iter__()

    ring: list[Any] = [Counted() for _ in range(length)]
    for at, part in enumerate(ring):
        part += [1, {"next": ring[(at + 1) % length]}]
    value: Any = ring[0]
    for _ in range(lead):
        value = [value]
    assert engine.json_size(value) == 0
    assert len(rounds) <= 8 * (length + lead + 1)
    same = [1]
    often = [same, [same, same], {"a": same}]
    assert engine.json_size(often) == measured(often)


def test_json_size_of_a_deep_value_is_counted(engine: ModuleType) -> None:
    deep: Any = 1
    for _ in range(5_000):
        deep = [{"a": deep}]
    assert engine.json_size(deep) == 5_000 * len('[{"a":}]') + 1
    assert engine.json_size([deep]) == 0
    assert engine.json_size([deep], max_depth=10_001) == 5_000 * len('[{"a":}]') + 3


def test_json_size_of_a_model_is_that_of_its_json_form() -> None:
    class Part(pydantic.BaseModel):
        model_config = pydantic.ConfigDict(populate_by_name=True)
        mime_type: str = pydantic.Field(alias="mimeType")
        data: bytes
        meta: dict[str, int] | None = None

    part = Part(mimeType="text/plain", data=b"abc")
    assert mcpulse.json_size(part) == measured({"mimeType": "text/plain", "data": "abc"})
    assert mcpulse.json_size([part]) == 0  # as the SDK: only the outermost value may be a model


# -- is_empty_result -------------------------------------------------------------------------------


def text_result(text: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}]}


class Result:
    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)


EMPTY: list[Any] = [
    None,
    [],
    {},
    (),
    set(),
    "",
    " \u00a0\x1c",
    {"content": []},
    {"content": ()},
    Result(content=[]),
    Result(content=[Result(type="text", text="[]")]),
    *(
        text_result(text)
        for text in ["", " \n", "[]", "{}", " [ \n] ", "{\t}", "null", '""', '" "', '"\\n\\u2003"']
    ),
    {"structuredContent": {}},
    {"structuredContent": {"result": []}},
    {"structuredContent": {"result": "[]"}},
    {"structuredContent": {"result": None}, "content": [{"type": "text", "text": "full"}]},
    {"structured_content": []},
    Result(structured_content={"result": "  "}),
]
FULL: list[Any] = [
    0,
    False,
    0.0,
    "a",
    [0],
    {"a": None},
    frozenset(),
    b"",
    object(),
    Result(content=[Result(type="text", text="found")]),
    *(
        text_result(text)
        for text in [
            *("nothing found", "0", "false", "[0]", '[""]', "[,]", '"a"', '"', '"" ""', "NaN"),
            *("\ufeff[]", "[\u00a0]", '"\n"', "nul", "[[]]", '"[]"'),
        ]
    ),
    {"content": [{"type": "image", "data": ""}]},
    {"content": [{"type": "text", "text": ""}, {"type": "text", "text": ""}]},
    {"content": [{"type": "text", "text": None}]},
    {"structuredContent": {"result": 0}},
    {"structuredContent": {"result": [], "more": 1}},
    {"structuredContent": {"rows": []}},
]


@pytest.mark.parametrize("result", EMPTY, ids=shown)
def test_result_without_anything_in_it_is_empty(result: object) -> None:
    assert mcpulse.is_empty_result(result) is True


@pytest.mark.parametrize("result", FULL, ids=shown)
def test_result_with_something_in_it_is_not_empty(result: object) -> None:
    assert mcpulse.is_empty_result(result) is False


def test_model_without_set_fields_is_empty() -> None:
    class Found(pydantic.BaseModel):
        rows: list[int] | None = None

    assert mcpulse.is_empty_result(Found()) is True
    assert mcpulse.is_empty_result(Found(rows=[])) is False


# -- against the SDK -------------------------------------------------------------------------------

special_characters = '"\\\n\x00\x1f\x7f\u2028é€😀\ud800\udc00 []{}'
sdk_texts = st.text(st.characters() | st.sampled_from(special_characters))
sdk_scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | sdk_texts
    | st.sampled_from([10**400, -(2**53) - 1, 1e21, 1e-7, b"bytes", Level.HIGH, 1j])
)
sdk_keys = sdk_texts | st.sampled_from([1, 1.5, None, True, math.nan])
sdk_values = st.recursive(
    sdk_scalars,
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.lists(inner, max_size=5).map(tuple)
        | st.dictionaries(sdk_texts, inner, max_size=5)
        | st.dictionaries(sdk_keys, inner, max_size=3)
        | st.dictionaries(sdk_texts, inner, max_size=3).map(OrderedDict)
    ),
    max_leaves=20,
)


def sdk_outcome(function: Callable[[Any], object], value: object) -> object:
    try:
        return function(value)
    except ValueError as error:
        return type(error).__name__


@hypothesis.settings(max_examples=400)
@hypothesis.given(sdk_values)
def test_text_hash_and_size_are_those_of_the_sdk(engine: ModuleType, value: Any) -> None:
    sdk = pytest.importorskip("mcpulse.watch")
    canonicalize = pytest.importorskip("mcpulse.canonical").canonicalize

    expected = sdk_outcome(canonicalize, value)
    try:
        text = engine.canonical_with(MCPULSE.name, value)
    except mcpulse.CanonicalizeError:
        text = "CanonicalizeError"
    assert text == expected
    assert engine.args_hash(value) == sdk.args_hash(value)
    assert engine.json_size(value) == sdk._response_bytes(value) == sdk._schema_bytes(value)


empty_texts = st.sampled_from(
    ["", " ", "[]", "{}", "null", "[ ]", '""', '" "', '"\\t"', "0", "x", '"', "[[]]", "\u2003[]"]
) | st.text('[]{}" \\n\tnul0', max_size=6)
parts = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "image", None])}, optional={"text": empty_texts | st.none()}
)
results = st.recursive(
    st.none() | st.booleans() | st.integers(0, 1) | empty_texts,
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.fixed_dictionaries(
            {},
            optional={
                "content": st.lists(parts, max_size=2) | inner,
                "structuredContent": inner | st.fixed_dictionaries({"result": inner}),
                "structured_content": inner,
                "result": inner,
            },
        )
    ),
    max_leaves=6,
)


@hypothesis.settings(max_examples=1_000)
@hypothesis.given(results)
def test_emptiness_is_that_of_the_sdk(result: Any) -> None:
    sdk = pytest.importorskip("mcpulse.empty")
    assert mcpulse.is_empty_result(result) is sdk.is_empty_result(result)
    if type(result) is dict and all(name.isidentifier() for name in result):
        as_object = Result(**result)
        assert mcpulse.is_empty_result(as_object) is sdk.is_empty_result(as_object)


def test_the_sdk_differs_where_the_contract_says_so(engine: ModuleType) -> None:
    sdk = pytest.importorskip("mcpulse.hashing")
    deep: list[Any] = []
    for _ in range(1_500):
        deep = [deep]
    assert sdk.args_hash(deep) == mcpulse.UNHASHABLE != engine.args_hash(deep)
    assert engine.args_hash({"c": Colour.RED}) == engine.args_hash({"c": "red"})
