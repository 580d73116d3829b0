"""The exceptions: their tree, what their messages say, and what they never say."""

from __future__ import annotations

import datetime
import enum
import math
import traceback
from types import ModuleType
from typing import Any

import pytest
from parameter_ids import shown

import overturn_fast
from overturn_fast import (
    CanonicalizationError,
    CircularReferenceError,
    DepthError,
    FloatDomainError,
    IntegerDomainError,
    KeyTypeError,
    SurrogateError,
    UnsupportedTypeError,
)

SECRET = "hunter2"


# -- the tree --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "error",
    [
        CircularReferenceError,
        DepthError,
        FloatDomainError,
        IntegerDomainError,
        KeyTypeError,
        SurrogateError,
        UnsupportedTypeError,
    ],
)
def test_every_error_is_a_canonicalization_error_and_a_value_error(error: type) -> None:
    assert issubclass(error, CanonicalizationError)
    assert issubclass(CanonicalizationError, ValueError)
    assert getattr(overturn_fast, error.__name__) is error
    assert error.__name__ in overturn_fast.__all__


def test_only_an_unsupported_type_is_a_type_error_too() -> None:
    assert issubclass(UnsupportedTypeError, TypeError)
    assert not issubclass(KeyTypeError, TypeError)


# -- the wording -----------------------------------------------------------------------------------


def nested(value: object) -> dict[str, object]:
    return {"filters": {"ids": [0, 1, 2, value]}}


def own_cycle() -> list[object]:
    cycle: list[object] = []
    cycle.append(cycle)
    return cycle


@pytest.mark.parametrize(
    ("profile", "value", "error", "message"),
    [
        ("overturn", b"x", UnsupportedTypeError, "$.filters.ids[3]: bytes has no canonical form"),
        (
            "overturn",
            datetime.timedelta(1),
            UnsupportedTypeError,
            "$.filters.ids[3]: datetime.timedelta has no canonical form",
        ),
        (
            "overturn",
            {b"k": 1},
            KeyTypeError,
            "$.filters.ids[3]: a key of type bytes has no text",
        ),
        (
            "jcs",
            2**53,
            IntegerDomainError,
            "$.filters.ids[3]: int is outside the range of exact integers",
        ),
        (
            "mcpulse",
            10**400,
            IntegerDomainError,
            "$.filters.ids[3]: int is outside the range of exact integers",
        ),
        ("jcs", math.nan, FloatDomainError, "$.filters.ids[3]: float is not a finite number"),
        ("jcs", "\ud800", SurrogateError, "$.filters.ids[3]: str holds a lone surrogate"),
        (
            "jcs",
            {"\ud800": 1},
            SurrogateError,
            "$.filters.ids[3]: a key of type str holds a lone surrogate",
        ),
        (
            "overturn",
            own_cycle(),
            CircularReferenceError,
            "$.filters.ids[3][0]: list contains itself",
        ),
    ],
    ids=lambda part: part.__name__ if isinstance(part, type) else "",
)
def test_a_message_names_path_and_type(
    engine: ModuleType, profile: str, value: object, error: type[Exception], message: str
) -> None:
    with pytest.raises(CanonicalizationError) as raised:
        engine.canonical_with(profile, nested(value))
    assert type(raised.value) is error
    assert str(raised.value) == message
    assert raised.value.args == (message,)
    assert raised.value.__cause__ is None


def test_nesting_that_is_too_deep_names_the_limit(engine: ModuleType, error_of: Any) -> None:
    assert error_of(engine.canonical_json, {"a": [[1]]}, max_depth=2) == (
        "DepthError",
        "$.a[0]: nesting exceeds max_depth=2",
    )


def test_every_public_function_raises_the_same_error(engine: ModuleType, error_of: Any) -> None:
    wanted = "UnsupportedTypeError", "$.a[1]: bytes has no canonical form"
    args = {"a": [1, b""]}
    assert error_of(engine.canonical_json, args) == wanted
    assert error_of(engine.hash_json, args) == wanted
    assert error_of(engine.fingerprint, "k", "n", args) == wanted
    assert error_of(engine.tool_fingerprint, "n", args) == wanted
    assert error_of(engine.tool_fingerprint, "n", args, ["a"]) == wanted
    assert error_of(engine.tool_fingerprint, "n", args, None, ["b"]) == wanted
    assert error_of(engine.ToolFingerprinter("n"), args) == wanted
    assert error_of(engine.ToolFingerprinter("n", ["a"]), args) == wanted


def test_an_error_in_one_call_of_many_says_which(engine: ModuleType, error_of: Any) -> None:
    good = ("t", {"a": 1})
    for bad in (("t", {"a": [b""]}), {"name": "t", "args": {"a": [b""]}}, ["t", {"a": [b""]}]):
        for index in (0, 1, 7):
            assert error_of(engine.fingerprint_many, [*[good] * index, bad, good]) == (
                "UnsupportedTypeError",
                f"calls[{index}]: $.a[0]: bytes has no canonical form",
            )


# -- paths -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "segment"),
    [
        ("filters", ".filters"),
        ("_private", "._private"),
        ("a-b", ".a-b"),
        ("A1_", ".A1_"),
        ("", '[""]'),
        ("1a", '["1a"]'),
        ("-a", '["-a"]'),
        ("two words", '["two words"]'),
        ("a.b", '["a.b"]'),
        ("a[0]", '["a[0]"]'),
        ("line\n", '["line\\n"]'),
        ('q"\\', '["q\\"\\\\"]'),
        ("\x00\x1f", '["\\u0000\\u001f"]'),
        ("é", '["é"]'),
        ("中😀", '["中😀"]'),
        ("\ud800", '["\\ud800"]'),
        ("\ud83d\ude00", '["😀"]'),
        (1, '["1"]'),
        (1.5, '["1.5"]'),
        (True, ".true"),
        (None, ".null"),
        ("x" * 80, "." + "x" * 80),
        ("x" * 81, '["' + "x" * 77 + '..."]'),
        ("é" * 100_000, '["' + "é" * 77 + '..."]'),
    ],
    ids=lambda part: ascii(part)[:24],
)
def test_a_key_in_a_path_is_a_name_or_a_json_string(
    engine: ModuleType, error_of: Any, key: Any, segment: str
) -> None:
    assert error_of(engine.canonical_json, {key: [b""]}) == (
        "UnsupportedTypeError",
        f"${segment}[0]: bytes has no canonical form",
    )
    assert error_of(engine.canonical_json, [{key: {"z": b""}}]) == (
        "UnsupportedTypeError",
        f"$[0]{segment}.z: bytes has no canonical form",
    )


def test_a_message_can_always_be_encoded(engine: ModuleType) -> None:
    for key in ("\ud800", "\udfff\ud800", "a\ud83d"):
        with pytest.raises(CanonicalizationError) as raised:
            engine.canonical_json({key: b""})
        str(raised.value).encode("utf-8")


def test_an_item_of_a_set_has_no_position_in_a_path(engine: ModuleType, error_of: Any) -> None:
    assert error_of(engine.canonical_json, {"tags": {b""}}) == (
        "UnsupportedTypeError",
        "$.tags[*]: bytes has no canonical form",
    )
    value = {"tags": frozenset([(1, frozenset([b""]))])}
    assert error_of(engine.canonical_json, value) == (
        "UnsupportedTypeError",
        "$.tags[*][1][*]: bytes has no canonical form",
    )


def test_a_path_leads_past_everything_that_was_written_before(
    engine: ModuleType, error_of: Any
) -> None:
    before = {"a": [1, {"b": {}}], "c": {1, 2}, "d": None}
    value = [before, None, print, {"x": [before, {"y": 1, "z": (None, b"")}], "w": before}]
    assert error_of(engine.canonical_json, value) == (
        "UnsupportedTypeError",
        "$[3].x[1].z[1]: bytes has no canonical form",
    )


def test_the_first_wrong_value_in_the_order_of_writing_is_named(
    engine: ModuleType, error_of: Any
) -> None:
    assert error_of(engine.canonical_json, {"b": b"", "a": 1j})[1].startswith("$.a: complex")
    assert error_of(engine.canonical_json, {"b": {b"": 1}, "a": [1j]})[1].startswith("$.a[0]: com")


def test_an_error_in_the_attributes_of_an_object_has_their_path(
    engine: ModuleType, error_of: Any
) -> None:
    class Thing:
        def __init__(self) -> None:
            self.parts = [b""]

    assert error_of(engine.canonical_json, {"thing": Thing()}) == (
        "UnsupportedTypeError",
        "$.thing.parts[0]: bytes has no canonical form",
    )


def wrapped(value: object, levels: int) -> object:
    for _ in range(levels):
        value = [value]
    return value


def test_a_very_long_path_is_shortened(engine: ModuleType, error_of: Any) -> None:
    assert error_of(engine.canonical_json, wrapped(b"", 30))[1] == (
        "$" + "[0]" * 30 + ": bytes has no canonical form"
    )
    for levels in (31, 32, 1_030, 5_000):
        assert error_of(engine.canonical_json, wrapped(b"", levels))[1] == (
            "$"
            + "[0]" * 20
            + f"...({levels - 30:,} levels)..."
            + "[0]" * 10
            + ": bytes has no canonical form"
        )
    value: object = b""
    for number in range(40):
        value = {f"k{39 - number}": value}
    expected = "".join(f".k{number}" for number in range(20))
    expected += "...(10 levels)..." + "".join(f".k{number}" for number in range(30, 40))
    assert error_of(engine.canonical_json, value)[1] == f"${expected}: bytes has no canonical form"


# -- types -----------------------------------------------------------------------------------------


class Opaque:
    """An object whose type has a name of several parts."""

    class Inner:
        __slots__ = ()

        def model_dump(self) -> str:
            return SECRET


def test_a_type_is_named_with_its_module(engine: ModuleType, error_of: Any) -> None:
    class Local:
        def model_dump(self) -> None: ...

    for value, name in (
        (Opaque.Inner(), f"{__name__}.Opaque.Inner"),
        (Local(), f"{__name__}.test_a_type_is_named_with_its_module.<locals>.Local"),
        (1j, "complex"),
        (iter(()), "tuple_iterator"),
    ):
        assert error_of(engine.canonical_json, value) == (
            "UnsupportedTypeError",
            f"$: {name} has no canonical form",
        )


# -- content ---------------------------------------------------------------------------------------


class Holder(enum.Enum):
    SECRET = SECRET


class Talkative:
    """An object whose every text is its secret."""

    def __init__(self) -> None:
        self.secret = SECRET
        self.bad = b""

    def __repr__(self) -> str:
        return SECRET

    __str__ = __repr__

    def __format__(self, _: str) -> str:
        return SECRET


@pytest.mark.parametrize(
    ("profile", "value"),
    [
        ("overturn", [SECRET.encode()]),
        ("overturn", [bytearray(SECRET.encode())]),
        ("overturn", [ValueError(SECRET)]),
        ("overturn", [Talkative()]),
        ("jcs", [Talkative()]),
        ("overturn", [{SECRET.encode(): 1}]),
        ("overturn", [{(SECRET,): 1}]),
        ("overturn", [{Holder.SECRET: 1}]),
        ("jcs", [{SECRET + "\ud800": 1}]),
        ("jcs", [SECRET + "\ud800"]),
        ("jcs", [int.from_bytes(SECRET.encode() * 9, "big")]),
        ("mcpulse", [datetime.date(2026, 1, 2)]),
    ],
    ids=lambda part: part if isinstance(part, str) else type(part[0]).__name__,
)
def test_a_message_never_holds_content(engine: ModuleType, profile: str, value: list[Any]) -> None:
    with pytest.raises(CanonicalizationError) as raised:
        engine.canonical_with(profile, value)
    shown = "".join(traceback.format_exception_only(type(raised.value), raised.value))
    shown += repr(raised.value.args)
    for part in (SECRET, str(int.from_bytes(SECRET.encode() * 9, "big")), "2026"):
        assert part not in shown


# -- arguments -------------------------------------------------------------------------------------


def callers(engine: ModuleType) -> list[Any]:
    """Every function with the options encoder and max_depth, ready for them."""
    return [
        lambda **options: engine.canonical_json(1, **options),
        lambda **options: engine.hash_json(1, **options),
        lambda **options: engine.fingerprint("k", "n", 1, **options),
        lambda **options: engine.tool_fingerprint("n", 1, **options),
        lambda **options: engine.fingerprint_many([], **options),
        lambda **options: engine.ToolFingerprinter("n", **options),
    ]


@pytest.mark.parametrize(
    ("depth", "error", "message"),
    [
        (0, "ValueError", "max_depth must be at least 1, not 0"),
        (-5, "ValueError", "max_depth must be at least 1, not -5"),
        (1.0, "TypeError", "max_depth must be an int, not float"),
        ("9", "TypeError", "max_depth must be an int, not str"),
        (None, "TypeError", "max_depth must be an int, not NoneType"),
        (True, "TypeError", "max_depth must be an int, not bool"),
    ],
)
def test_max_depth_must_be_a_positive_int(
    engine: ModuleType, error_of: Any, depth: Any, error: str, message: str
) -> None:
    for call in callers(engine):
        assert error_of(call, max_depth=depth) == (error, message)


@pytest.mark.parametrize("depth", [1, 10_000, 2**31, 2**63, 10**30])
def test_max_depth_may_be_any_positive_int(engine: ModuleType, depth: int) -> None:
    class Index:
        def __index__(self) -> int:
            return depth

    for call in callers(engine):
        call(max_depth=depth)
        call(max_depth=Index())


@pytest.mark.parametrize("encoder", ["str", 5, [], b""], ids=shown)
def test_an_encoder_must_be_callable(engine: ModuleType, error_of: Any, encoder: Any) -> None:
    for call in callers(engine):
        assert error_of(call, encoder=encoder) == (
            "TypeError",
            f"encoder must be callable or None, not {type(encoder).__name__}",
        )


@pytest.mark.parametrize("value", [5, None, b"k", ["k"]], ids=shown)
def test_kind_and_name_must_be_str(engine: ModuleType, error_of: Any, value: Any) -> None:
    kind = ("TypeError", f"kind must be a str, not {type(value).__name__}")
    name = ("TypeError", f"name must be a str, not {type(value).__name__}")
    assert error_of(engine.fingerprint, value, "n", {}) == kind
    assert error_of(engine.fingerprint, value, value, {}) == kind
    assert error_of(engine.fingerprint, "k", value, {}) == name
    assert error_of(engine.tool_fingerprint, value, {}) == name
    assert error_of(engine.ToolFingerprinter, value) == name
    assert error_of(engine.ToolFingerprinter, "n", kind=value) == kind


def test_arguments_are_checked_in_one_order_by_both_engines(
    engine: ModuleType, error_of: Any
) -> None:
    wrong: dict[str, Any] = {
        "encoder": 1,
        "max_depth": 0,
        "kind": 1,
        "name": 1,
        "match_on": "a",
        "ignore_args": "a",
        "args": b"",
    }
    right: dict[str, Any] = {
        "encoder": None,
        "max_depth": 5,
        "kind": "k",
        "name": "n",
        "match_on": None,
        "ignore_args": None,
        "args": {},
    }
    words = {"args": "bytes"}
    names = list(wrong)
    for position, name in enumerate(names):
        arguments = {**wrong, **{earlier: right[earlier] for earlier in names[:position]}}
        assert words.get(name, name) in error_of(engine.fingerprint, **arguments)[1]


@pytest.mark.parametrize(
    ("function", "args", "options"),
    [
        ("canonical_json", (), {}),
        ("canonical_json", (1, 2), {}),
        ("canonical_json", (1,), {"value": 1}),
        ("canonical_json", (1,), {"other": 1}),
        ("hash_json", (), {"max_depth": 1}),
        ("hash_json", (1, None, 5), {}),
        ("fingerprint", ("k", "n"), {}),
        ("fingerprint", ("k", "n", {}, None, None, None), {}),
        ("fingerprint", ("k", "n", {}), {"kind": "k"}),
        ("tool_fingerprint", ("n",), {}),
        ("tool_fingerprint", ("n", {}), {"kind": "k"}),
        ("tool_fingerprint", ("n", {}, None, None, None), {}),
        ("fingerprint_many", (), {}),
        ("fingerprint_many", ([], None), {}),
        ("ToolFingerprinter", (), {}),
        ("ToolFingerprinter", ("n", None, None, "k"), {}),
        ("ToolFingerprinter", ("n",), {"other": 1}),
        ("canonical_with", ("jcs",), {}),
    ],
)
def test_a_call_that_does_not_fit_the_signature_is_a_type_error(
    engine: ModuleType, function: str, args: tuple[Any, ...], options: dict[str, Any]
) -> None:
    with pytest.raises(TypeError):
        getattr(engine, function)(*args, **options)


def test_arguments_may_be_given_by_name(engine: ModuleType) -> None:
    digest = engine.fingerprint("tool_call", "n", {"a": 1, "b": 2}, ["a"], ["b"])
    options: dict[str, Any] = {"args": {"a": 1, "b": 2}, "match_on": ["a"], "ignore_args": ["b"]}
    options |= {"encoder": None, "max_depth": 10_000}
    assert engine.fingerprint(kind="tool_call", name="n", **options) == digest
    assert engine.tool_fingerprint(name="n", **options) == digest
    assert engine.canonical_json(value=1, encoder=None, max_depth=1) == "1"
    assert engine.hash_json(max_depth=1, value=1) == engine.hash_json(1)
    assert engine.fingerprint_many(calls=[("n", {"a": 1})]) == [digest]
    args = options.pop("args")
    assert engine.ToolFingerprinter(name="n", kind="tool_call", **options)(args=args) == digest


def test_an_unknown_profile_is_a_key_error(engine: ModuleType) -> None:
    with pytest.raises(KeyError):
        engine.canonical_with("no such profile", 1)
