"""Which arguments of a call count: select_args by itself, and within the fingerprints."""

from __future__ import annotations

import collections
import dataclasses
import enum
import types
import unittest.mock
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest
from parameter_ids import shown

from overturn_fast import select_args

CALL = {"ticketId": "T-1", "priority": "P0", "requestId": "x"}


@dataclasses.dataclass
class Ticket:
    ticketId: str = "T-1"
    priority: str = "P0"
    requestId: str = "x"


class Dumps:
    def model_dump(self) -> dict[str, str]:
        return dict(CALL)


def selects_alike(
    engine: ModuleType,
    args: Any,
    expected: Any,
    match_on: Any = None,
    ignore_args: Any = None,
) -> bool:
    """Whether every function selects what is expected."""
    digest = engine.tool_fingerprint("t", expected)
    calls = [("t", args, match_on, ignore_args)]
    record = {"name": "t", "args": args, "matchOn": match_on, "ignoreArgs": ignore_args}
    return [digest] * 5 == [
        engine.tool_fingerprint("t", args, match_on, ignore_args),
        engine.fingerprint("tool_call", "t", args, match_on=match_on, ignore_args=ignore_args),
        engine.ToolFingerprinter("t", match_on, ignore_args)(args),
        *engine.fingerprint_many(calls),
        *engine.fingerprint_many([record]),
    ]


# -- the rules -------------------------------------------------------------------------------------


def test_match_on_keeps_the_named_keys(engine: ModuleType) -> None:
    assert select_args(CALL, ["ticketId"]) == {"ticketId": "T-1"}
    assert selects_alike(engine, CALL, {"ticketId": "T-1"}, ["ticketId"])
    assert selects_alike(
        engine, CALL, {"ticketId": "T-1", "requestId": "x"}, ["requestId", "ticketId"]
    )


def test_names_that_are_missing_are_left_out(engine: ModuleType) -> None:
    assert select_args(CALL, ["ticketId", "missing"]) == {"ticketId": "T-1"}
    assert selects_alike(engine, CALL, {"ticketId": "T-1"}, ["missing", "ticketId"])
    assert selects_alike(engine, CALL, {}, ["missing"])
    assert selects_alike(engine, CALL, CALL, None, ["missing"])


def test_ignore_args_drops_the_named_keys(engine: ModuleType) -> None:
    rest = {"ticketId": "T-1", "priority": "P0"}
    assert select_args(CALL, ignore_args=["requestId"]) == rest
    assert selects_alike(engine, CALL, rest, None, ["requestId"])
    assert selects_alike(engine, CALL, {}, None, list(CALL))


def test_match_on_wins_over_ignore_args(engine: ModuleType) -> None:
    assert select_args(CALL, ["ticketId"], ["ticketId"]) == {"ticketId": "T-1"}
    assert selects_alike(engine, CALL, {"ticketId": "T-1"}, ["ticketId"], ["ticketId", "priority"])


@pytest.mark.parametrize("empty", [None, [], (), set(), frozenset(), {}], ids=shown)
def test_an_empty_list_declares_nothing(engine: ModuleType, empty: Any) -> None:
    assert select_args(CALL, empty, empty) == CALL
    assert selects_alike(engine, CALL, CALL, empty, empty)
    assert selects_alike(engine, CALL, {"ticketId": "T-1"}, ["ticketId"], empty)
    rest = {"ticketId": "T-1", "priority": "P0"}
    assert select_args(CALL, empty, ["requestId"]) == rest
    assert selects_alike(engine, CALL, rest, empty, ["requestId"])


def test_only_the_top_level_is_selected_from(engine: ModuleType) -> None:
    args = {"a": {"a": 1, "b": 2}, "b": {"a": 1}, "c": [{"a": 1}]}
    assert selects_alike(engine, args, {"a": {"a": 1, "b": 2}}, ["a"])
    assert selects_alike(engine, args, {"b": {"a": 1}, "c": [{"a": 1}]}, None, ["a"])


def test_none_among_the_selected_arguments_is_left_out(engine: ModuleType) -> None:
    assert selects_alike(engine, {"a": None, "b": 1}, {"b": 1}, ["a", "b"])
    assert selects_alike(engine, {"a": None, "b": 1}, {}, ["a"])


@pytest.mark.parametrize(
    "args", ["text", 5, 1.5, None, True, [1, {"a": 2}], ("a",), frozenset("a")], ids=shown
)
def test_anything_but_a_mapping_passes_through(engine: ModuleType, args: Any) -> None:
    assert select_args(args, ["a"], ["b"]) is args
    assert selects_alike(engine, args, args, ["a"])
    assert selects_alike(engine, args, args, None, ["a"])


def test_an_object_that_is_no_model_passes_through(engine: ModuleType) -> None:
    args = types.SimpleNamespace(a=1, b=2)
    assert select_args(args, ["a"]) is args
    assert selects_alike(engine, args, {"a": 1, "b": 2}, ["a"])


def test_a_class_passes_through() -> None:
    for args in (Ticket, Dumps, dict):
        assert select_args(args, ["ticketId"]) is args


@pytest.mark.parametrize(
    "build",
    [
        dict,
        collections.OrderedDict,
        collections.UserDict,
        types.MappingProxyType,
        lambda _: Ticket(),
        lambda _: Dumps(),
    ],
    ids=["dict", "OrderedDict", "UserDict", "MappingProxyType", "dataclass", "model"],
)
def test_mappings_models_and_dataclasses_are_selected_from(
    engine: ModuleType, build: Callable[[Any], Any]
) -> None:
    args = build(CALL)
    assert select_args(args) == CALL
    assert select_args(args, ["ticketId"]) == {"ticketId": "T-1"}
    assert select_args(args, None, ["requestId"]) == {"ticketId": "T-1", "priority": "P0"}
    assert selects_alike(engine, args, CALL)
    assert selects_alike(engine, args, {"ticketId": "T-1"}, ["ticketId"])
    assert selects_alike(engine, args, {"ticketId": "T-1", "priority": "P0"}, None, ["requestId"])


def test_a_pydantic_model_is_selected_from(engine: ModuleType) -> None:
    pydantic = pytest.importorskip("pydantic")

    class Model(pydantic.BaseModel):
        a: int
        b: dict[str, int] = pydantic.Field(default_factory=dict)

    args = Model(a=1, b={"c": 2})
    assert select_args(args, ["b"]) == {"b": {"c": 2}}
    assert selects_alike(engine, args, {"b": {"c": 2}}, ["b"])
    assert selects_alike(engine, args, {"a": 1}, None, ["b"])
    root = pydantic.RootModel[list[int]]([1])
    assert select_args(root, ["a"]) is root
    assert selects_alike(engine, root, [1], ["a"])


def test_a_mock_is_not_selected_from(engine: ModuleType, error_of: Any) -> None:
    mock = unittest.mock.Mock()
    assert select_args(mock, ["a"]) is mock
    assert error_of(engine.tool_fingerprint, "t", mock, ["a"]) == (
        "UnsupportedTypeError",
        "$: unittest.mock.Mock has no canonical form",
    )


def test_select_args_answers_with_a_new_dict_and_leaves_its_argument_alone() -> None:
    for options in ({}, {"match_on": list(CALL)}, {"ignore_args": ["missing"]}):
        selected = select_args(CALL, **options)
        assert selected == CALL
        assert selected is not CALL
        selected["more"] = 1
        assert "more" not in CALL
    nested = {"a": []}
    assert select_args(nested, ["a"])["a"] is nested["a"]


# -- the names -------------------------------------------------------------------------------------


@pytest.mark.parametrize("names", ["ticketId", "", b"ticketId", bytearray(b"a")], ids=shown)
@pytest.mark.parametrize("parameter", ["match_on", "ignore_args"])
def test_a_bare_str_in_place_of_a_list_is_refused(
    engine: ModuleType, error_of: Any, parameter: str, names: Any
) -> None:
    wanted = (
        "TypeError",
        f"{parameter} must be a list of keys, not one {type(names).__name__}",
    )
    option = {parameter: names}
    assert error_of(select_args, CALL, **option) == wanted
    for args in (CALL, "text", Ticket()):
        assert error_of(engine.tool_fingerprint, "t", args, **option) == wanted
        assert error_of(engine.fingerprint, "k", "t", args, **option) == wanted
    assert error_of(engine.ToolFingerprinter, "t", **option) == wanted
    call = ("t", CALL, *((names,) if parameter == "match_on" else (None, names)))
    assert error_of(engine.fingerprint_many, [call]) == (wanted[0], f"calls[0]: {wanted[1]}")


def test_a_bare_ignore_args_is_refused_even_where_match_on_wins(
    engine: ModuleType, error_of: Any
) -> None:
    wanted = ("TypeError", "ignore_args must be a list of keys, not one str")
    assert error_of(select_args, CALL, ["ticketId"], "x") == wanted
    assert error_of(engine.tool_fingerprint, "t", CALL, ["ticketId"], "x") == wanted


@pytest.mark.parametrize("names", [5, 1.5, True, object, print], ids=shown)
@pytest.mark.parametrize("parameter", ["match_on", "ignore_args"])
def test_names_that_cannot_be_iterated_are_refused(
    engine: ModuleType, error_of: Any, parameter: str, names: Any
) -> None:
    kind = type(names).__name__
    wanted = "TypeError", f"{parameter} must be a list of keys, not {kind}"
    assert error_of(select_args, CALL, **{parameter: names}) == wanted
    assert error_of(engine.tool_fingerprint, "t", CALL, **{parameter: names}) == wanted


@pytest.mark.parametrize(
    "build",
    [list, tuple, set, frozenset, iter, dict.fromkeys, lambda names: (name for name in names)],
    ids=["list", "tuple", "set", "frozenset", "iterator", "dict", "generator"],
)
def test_names_may_come_from_any_iterable(
    engine: ModuleType, build: Callable[[list[str]], Any]
) -> None:
    kept, rest = {"ticketId": "T-1"}, {"priority": "P0", "requestId": "x"}
    assert select_args(CALL, build(["ticketId"])) == kept
    digest = engine.tool_fingerprint("t", kept)
    assert engine.tool_fingerprint("t", CALL, build(["ticketId"])) == digest
    assert engine.ToolFingerprinter("t", build(["ticketId"]))(CALL) == digest
    assert engine.fingerprint_many([("t", CALL, build(["ticketId"]))]) == [digest]
    assert engine.tool_fingerprint("t", CALL, None, build(["ticketId"])) == (
        engine.tool_fingerprint("t", rest)
    )


def test_a_fingerprinter_keeps_its_names_when_the_list_changes(engine: ModuleType) -> None:
    names = ["ticketId"]
    fingerprinter = engine.ToolFingerprinter("t", names)
    names[:] = ["priority"]
    assert fingerprinter(CALL) == engine.tool_fingerprint("t", {"ticketId": "T-1"})


@pytest.mark.parametrize("count", [1, 2, 15, 16, 17, 18, 100, 1_000])
def test_any_number_of_names_is_selected_by(engine: ModuleType, count: int) -> None:
    args = {f"key{number}": number for number in range(2 * count)}
    names = [f"key{number}" for number in range(count)]
    kept = {name: args[name] for name in names}
    rest = {key: value for key, value in args.items() if key not in kept}
    assert selects_alike(engine, args, kept, names)
    assert selects_alike(engine, args, rest, None, tuple(names))


def test_names_said_twice_count_once(engine: ModuleType) -> None:
    assert selects_alike(engine, CALL, {"ticketId": "T-1"}, ["ticketId"] * 3)
    assert selects_alike(
        engine, CALL, {"priority": "P0", "requestId": "x"}, None, ["ticketId"] * 20
    )


def test_names_are_compared_as_they_are(engine: ModuleType) -> None:
    args = {" a ": 1, "a": 2, "é": 3, "e\u0301": 4, "😀": 5, "\ud83d\ude00": 6, "": 7, "A": 8}
    for name, value in args.items():
        assert selects_alike(engine, args, {name: value}, [name])
    assert select_args(args, ["e\u0301", ""]) == {"e\u0301": 4, "": 7}


class Text(str):
    __slots__ = ()


class Field(str, enum.Enum):
    TICKET = "ticketId"


def test_names_and_keys_of_str_subclasses_are_equal_to_their_text(engine: ModuleType) -> None:
    kept = {"ticketId": "T-1"}
    assert selects_alike(engine, CALL, kept, [Field.TICKET])
    assert selects_alike(engine, CALL, kept, [Text("ticketId")])
    args = {Field.TICKET: "T-1", Text("priority"): "P0", "requestId": "x"}
    assert selects_alike(engine, args, kept, ["ticketId"])
    assert selects_alike(engine, args, kept, None, ["priority", "requestId"])


def test_names_that_are_no_str_select_the_keys_that_they_are_equal_to(engine: ModuleType) -> None:
    args = {1: "int", "1": "text", None: "none", 2.0: "float"}
    assert select_args(args, [1]) == {1: "int"}  # type: ignore[list-item]
    assert selects_alike(engine, args, {"1": "int"}, [1])
    assert selects_alike(engine, args, {"1": "text"}, ["1"])
    assert selects_alike(engine, args, {"2": "float"}, [2])
    assert selects_alike(engine, args, {"1": "text", "null": "none", "2": "float"}, None, [1])


@pytest.mark.parametrize("count", [1, 2, 20], ids=lambda count: f"{count} names")
def test_a_dict_that_changes_when_its_keys_are_compared_is_looked_up_in_once(
    engine: ModuleType, count: int
) -> None:
    class Key:
        """A key that has the hash of a name, and clears the dict when it is compared with it."""

        def __hash__(self) -> int:
            return hash("a")

        def __eq__(self, other: object) -> bool:
            args.clear()
            return False

    args: dict[Any, Any] = {}
    args = {Key(): 0, "b": 2, "a": 1}
    names = ["b", "a", *map(str, range(count))]
    assert engine.tool_fingerprint("t", args, names) == engine.tool_fingerprint("t", {"b": 2})
    assert args == {}


def test_keys_that_are_left_out_need_no_text(engine: ModuleType, error_of: Any) -> None:
    args = {b"bytes": 1, "a": 2, (1, 2): 3}
    assert selects_alike(engine, args, {"a": 2}, ["a"])
    assert error_of(engine.tool_fingerprint, "t", args, None, ["a"])[0] == "KeyTypeError"


def test_arguments_that_are_left_out_are_not_read(engine: ModuleType) -> None:
    cycle: dict[str, Any] = {"a": 1, "bytes": b"", "generator": (x for x in "")}
    cycle["self"] = cycle
    assert selects_alike(engine, cycle, {"a": 1}, ["a"])
    assert selects_alike(engine, cycle, {"a": 1}, None, ["self", "bytes", "generator"])


class Unreadable(collections.UserDict):  # type: ignore[type-arg]
    def items(self) -> Iterator[Any]:  # type: ignore[override]
        raise OSError("disk")


class RaisingModel:
    def model_dump(self) -> Any:
        raise OSError("disk")


@pytest.mark.parametrize("args", [Unreadable(), RaisingModel()], ids=["mapping", "model"])
def test_arguments_that_cannot_be_read_are_an_error_with_the_reason_as_cause(
    engine: ModuleType, args: Any
) -> None:
    from overturn_fast import UnsupportedTypeError

    message = rf"^\$: reading {__name__}\.{type(args).__name__} failed$"
    for call in (
        lambda: select_args(args, ["a"]),
        lambda: engine.tool_fingerprint("t", args, ["a"]),
        lambda: engine.ToolFingerprinter("t", ["a"])(args),
        lambda: engine.tool_fingerprint("t", args),
    ):
        with pytest.raises(UnsupportedTypeError, match=message) as raised:
            call()
        assert isinstance(raised.value.__cause__, OSError)
