"""Containers that contain themselves, and nesting up to and past the limit."""

from __future__ import annotations

import collections
import dataclasses
import enum
import hashlib
import types
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

ALL_PROFILES = ["overturn", "jcs", "jcs-double", "mcpulse", "pleach", "compat"]


class Node:
    """An object with attributes in ``__dict__``."""

    def __init__(self, child: Any = None) -> None:
        self.child = child


class SlotNode:
    __slots__ = ("child",)

    def __init__(self, child: Any = None) -> None:
        self.child = child


@dataclasses.dataclass
class DataNode:
    child: Any = None


class ModelNode:
    def __init__(self, child: Any = None) -> None:
        self.child = child

    def model_dump(self) -> dict[str, Any]:
        return {"child": self.child}


OBJECTS = [Node, SlotNode, DataNode, ModelNode]


# -- cycles ----------------------------------------------------------------------------------------


def test_a_list_in_itself_is_a_cycle(engine: ModuleType, error_of: Any) -> None:
    value: list[Any] = [1]
    value.append(value)
    for profile in ALL_PROFILES:
        assert error_of(engine.canonical_with, profile, value) == (
            "CircularReferenceError",
            "$[1]: list contains itself",
        )


def test_a_dict_in_itself_is_a_cycle(engine: ModuleType, error_of: Any) -> None:
    value: dict[str, Any] = {"a": 1}
    value["self"] = value
    for profile in ALL_PROFILES:
        assert error_of(engine.canonical_with, profile, value) == (
            "CircularReferenceError",
            "$.self: dict contains itself",
        )


def test_a_tuple_in_a_list_of_its_own_is_a_cycle(engine: ModuleType, error_of: Any) -> None:
    inner: list[Any] = []
    value = (0, inner)
    inner.append(value)
    assert error_of(engine.canonical_json, value) == (
        "CircularReferenceError",
        "$[1][0]: tuple contains itself",
    )


@pytest.mark.parametrize("cls", OBJECTS)
def test_an_object_in_itself_is_a_cycle(
    engine: ModuleType, error_of: Any, cls: Callable[[], Any]
) -> None:
    value = cls()
    value.child = value
    name = f"{__name__}.{type(value).__name__}"
    wanted = "CircularReferenceError", f"$.child: {name} contains itself"
    assert error_of(engine.canonical_json, value) == wanted
    value.child = [{"again": value}]
    assert error_of(engine.canonical_json, value) == (
        "CircularReferenceError",
        f"$.child[0].again: {name} contains itself",
    )


@pytest.mark.parametrize(
    "cls", [collections.UserDict, collections.OrderedDict, collections.ChainMap]
)
def test_another_mapping_in_itself_is_a_cycle(
    engine: ModuleType, error_of: Any, cls: Callable[[], Any]
) -> None:
    value = cls()
    value["self"] = value
    assert error_of(engine.canonical_json, value) == (
        "CircularReferenceError",
        f"$.self: collections.{type(value).__name__} contains itself",
    )


@pytest.mark.parametrize("cls", [collections.UserList, collections.deque])
def test_another_sequence_in_itself_is_a_cycle(
    engine: ModuleType, error_of: Any, cls: Callable[[], Any]
) -> None:
    value = cls()
    value.append(value)
    assert error_of(engine.canonical_json, value) == (
        "CircularReferenceError",
        f"$[0]: collections.{type(value).__name__} contains itself",
    )


class OwnItem:
    """Hashable, and so fit for a set that it refers to."""

    def __init__(self) -> None:
        self.items: set[Any] = set()


def test_a_set_in_itself_is_a_cycle(engine: ModuleType, error_of: Any) -> None:
    item = OwnItem()
    item.items.add(item)
    assert error_of(engine.canonical_json, item.items) == (
        "CircularReferenceError",
        "$[*].items: set contains itself",
    )
    assert error_of(engine.canonical_json, {"a": item}) == (
        "CircularReferenceError",
        f"$.a.items[*]: {__name__}.OwnItem contains itself",
    )


def test_vars_of_an_object_that_hold_themselves_are_a_cycle(
    engine: ModuleType, error_of: Any
) -> None:
    value = types.SimpleNamespace()
    value.attributes = vars(value)
    assert error_of(engine.canonical_json, value) == (
        "CircularReferenceError",
        "$.attributes.attributes: dict contains itself",
    )


@pytest.mark.parametrize("length", [*range(1, 20), 31, 32, 33, 100, 1_000])
@pytest.mark.parametrize("lead", [0, 1, 2, 3, 5, 8, 100])
def test_a_cycle_of_any_length_behind_any_lead_is_found_where_it_closes(
    engine: ModuleType, error_of: Any, length: int, lead: int
) -> None:
    cycle: list[list[Any]] = [[] for _ in range(length)]
    for place, part in enumerate(cycle):
        part.append(cycle[(place + 1) % length])
    value: Any = cycle[0]
    for _ in range(lead):
        value = {"k": value}
    path = [".k"] * lead + ["[0]"] * length
    shown = "".join(path)
    if len(path) > 30:
        shown = "".join(path[:20]) + f"...({len(path) - 30:,} levels)..." + "".join(path[-10:])
    assert error_of(engine.canonical_json, value) == (
        "CircularReferenceError",
        f"${shown}: list contains itself",
    )


def test_a_cycle_is_told_from_depth_at_any_limit(engine: ModuleType, error_of: Any) -> None:
    cycle: list[list[Any]] = [[] for _ in range(7)]
    for place, part in enumerate(cycle):
        part.append(cycle[(place + 1) % 7])
    for limit in range(1, 8):
        name, message = error_of(engine.canonical_json, cycle[0], max_depth=limit)
        if limit < 7:
            assert (name, message) == (
                "DepthError",
                f"${'[0]' * limit}: nesting exceeds max_depth={limit}",
            )
        else:
            assert (name, message) == (
                "CircularReferenceError",
                "$[0][0][0][0][0][0][0]: list contains itself",
            )


def test_an_enum_member_that_is_its_own_value_is_a_cycle(engine: ModuleType, error_of: Any) -> None:
    class Own(enum.Enum):
        MEMBER = 1

    Own.MEMBER._value_ = Own.MEMBER
    name = f"{__name__}.{Own.__qualname__}"
    assert error_of(engine.canonical_json, [Own.MEMBER]) == (
        "CircularReferenceError",
        f"$[0]: {name} contains itself",
    )


def test_a_model_that_dumps_itself_is_a_cycle(engine: ModuleType, error_of: Any) -> None:
    class Own(collections.UserDict):  # type: ignore[type-arg]
        def model_dump(self) -> Any:
            return self

    value = Own(a=1)
    assert engine.canonical_json(value) == '{"a":1}'

    class OwnRoot:
        __pydantic_root_model__ = True

        def model_dump(self) -> Any:
            return self

    name = f"{__name__}.{OwnRoot.__qualname__}"
    assert error_of(engine.canonical_json, OwnRoot()) == (
        "CircularReferenceError",
        f"$: {name} contains itself",
    )


def test_a_cycle_among_the_selected_arguments_is_found(engine: ModuleType, error_of: Any) -> None:
    args: dict[str, Any] = {"other": 1}
    args["self"] = args
    assert error_of(engine.tool_fingerprint, "t", args) == (
        "CircularReferenceError",
        "$.self: dict contains itself",
    )
    for options in ({"match_on": ["self"]}, {"ignore_args": ["other"]}):
        # What is selected is a mapping of its own, so the arguments come in once.
        assert error_of(engine.tool_fingerprint, "t", args, **options) == (
            "CircularReferenceError",
            "$.self.self: dict contains itself",
        )
    assert engine.tool_fingerprint("t", args, ["other"]) == engine.tool_fingerprint(
        "t", {"other": 1}
    )


@pytest.mark.parametrize("build", [list, tuple, set, frozenset, dict, lambda: iter([])])
def test_names_that_declare_nothing_do_not_move_where_a_cycle_is_found(
    engine: ModuleType, error_of: Any, build: Callable[[], Any]
) -> None:
    args: dict[str, Any] = {}
    args["self"] = args
    for parameter in ("match_on", "ignore_args"):
        assert error_of(engine.tool_fingerprint, "t", args, **{parameter: build()}) == (
            "CircularReferenceError",
            "$.self: dict contains itself",
        )


def test_a_container_that_comes_again_beside_itself_is_no_cycle(engine: ModuleType) -> None:
    value: Any = 1
    text = "1"
    for _ in range(10):
        value, text = [value, {"a": value}], f'[{text},{{"a":{text}}}]'
    assert engine.canonical_json(value) == text
    node = Node()
    assert engine.canonical_json([node, [node], {"n": node}, {"m": [node, node]}]) == (
        '[{},[{}],{"n":{}},{"m":[{},{}]}]'
    )


def test_equal_containers_inside_each_other_are_no_cycle(engine: ModuleType) -> None:
    assert engine.canonical_json([[[], []], [[]]]) == "[[[],[]],[[]]]"
    assert engine.canonical_json(((), ((),), [()])) == "[[],[[]],[[]]]"
    assert engine.canonical_json({"a": {"a": {"a": {}}}}) == '{"a":{"a":{"a":{}}}}'


# -- depth -----------------------------------------------------------------------------------------


def lists(levels: int) -> Any:
    value: Any = []
    for _ in range(levels - 1):
        value = [value]
    return value


def dicts(levels: int) -> Any:
    value: Any = {}
    for _ in range(levels - 1):
        value = {"k": value}
    return value


def nodes(levels: int) -> Any:
    value: Any = Node()
    for _ in range(levels - 1):
        value = Node(value)
    return value


def sets(levels: int) -> Any:
    value: Any = frozenset()
    for level in range(levels - 1):
        value = frozenset([value, level]) if level % 2 else (value,)
    return value


SHAPES = {
    lists: lambda levels: "[" * levels + "]" * levels,
    dicts: lambda levels: '{"k":' * (levels - 1) + "{}" + "}" * (levels - 1),
    nodes: lambda levels: '{"child":' * (levels - 1) + "{}" + "}" * (levels - 1),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("limit", [1, 2, 3, 11, 12, 13, 47, 48, 49, 1_000])
def test_the_limit_counts_levels_of_containers(
    engine: ModuleType, error_of: Any, shape: Any, limit: int
) -> None:
    assert engine.canonical_json(shape(limit), max_depth=limit) == SHAPES[shape](limit)
    name, message = error_of(engine.canonical_json, shape(limit + 1), max_depth=limit)
    assert name == "DepthError"
    assert message.endswith(f": nesting exceeds max_depth={limit}")


@pytest.mark.parametrize("shape", SHAPES)
def test_ten_thousand_levels_are_allowed_and_no_more(
    engine: ModuleType, error_of: Any, shape: Any
) -> None:
    assert engine.canonical_json(shape(10_000)) == SHAPES[shape](10_000)
    step = "[0]" if shape is lists else ".k" if shape is dicts else ".child"
    assert error_of(engine.canonical_json, shape(10_001)) == (
        "DepthError",
        f"${step * 20}...(9,970 levels)...{step * 10}: nesting exceeds max_depth=10000",
    )


@pytest.mark.parametrize("shape", SHAPES)
def test_a_hundred_thousand_levels_are_a_matter_of_the_limit(
    engine: ModuleType, error_of: Any, shape: Any
) -> None:
    value = shape(100_000)
    assert error_of(engine.hash_json, value)[0] == "DepthError"
    expected = hashlib.sha256(SHAPES[shape](100_000).encode()).hexdigest()
    assert engine.hash_json(value, max_depth=200_000) == expected


def test_deep_sets_are_sorted_at_every_level(engine: ModuleType) -> None:
    text = engine.canonical_json(sets(401))
    assert text.count("[") == 401
    assert engine.hash_json(sets(401)) == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize("profile", ALL_PROFILES)
def test_the_limit_holds_in_every_profile(engine: ModuleType, error_of: Any, profile: str) -> None:
    assert engine.canonical_with(profile, lists(5), None, 5) == "[[[[[]]]]]"
    assert error_of(engine.canonical_with, profile, dicts(6), None, 5) == (
        "DepthError",
        "$.k.k.k.k.k: nesting exceeds max_depth=5",
    )


def test_the_limit_holds_for_every_function(engine: ModuleType, error_of: Any) -> None:
    args = {"a": [[1]]}
    wanted = "DepthError", "$.a[0]: nesting exceeds max_depth=2"
    assert error_of(engine.hash_json, args, max_depth=2) == wanted
    assert error_of(engine.fingerprint, "k", "n", args, max_depth=2) == wanted
    assert error_of(engine.tool_fingerprint, "n", args, ["a"], max_depth=2) == wanted
    assert error_of(engine.ToolFingerprinter("n", max_depth=2), args) == wanted
    assert error_of(engine.fingerprint_many, [("n", args)], max_depth=2) == (
        "DepthError",
        "calls[0]: $.a[0]: nesting exceeds max_depth=2",
    )
    assert engine.tool_fingerprint("n", args, max_depth=3) == engine.tool_fingerprint("n", args)


def test_scalars_have_no_depth(engine: ModuleType) -> None:
    for value in (1, "x", None, True, 1.5):
        assert engine.canonical_json(value, max_depth=1)
        assert engine.canonical_json([value], max_depth=1)
