"""The caller's hook for values that have no rule of their own."""

from __future__ import annotations

import datetime
import decimal
import enum
import fractions
import subprocess
import sys
import textwrap
import uuid
from collections import OrderedDict, UserDict, deque
from types import ModuleType
from typing import Any

import pytest

from overturn_fast import CanonicalizationError, CircularReferenceError, DepthError


class Opaque:
    """Something with no form of its own."""

    __slots__ = ("__weakref__", "tag")

    def __init__(self, tag: Any = "x") -> None:
        self.tag = tag

    def model_dump(self) -> None: ...


def encode(value: object) -> object:
    """The hook of most tests."""
    if isinstance(value, Opaque):
        return value.tag
    if isinstance(value, fractions.Fraction):
        return str(value)
    return NotImplemented


def test_the_hook_supplies_a_form(engine: ModuleType) -> None:
    value = {"a": Opaque(), "b": [fractions.Fraction(1, 2), {Opaque(2), Opaque(1)}]}
    assert engine.canonical_json(value, encoder=encode) == '{"a":"x","b":["1/2",[1,2]]}'
    assert engine.canonical_json(Opaque(" top "), encoder=encode) == '"top"'


def test_every_function_takes_the_hook(engine: ModuleType) -> None:
    args, plain = {"a": Opaque(), "b": 1}, {"a": "x", "b": 1}
    digest = engine.tool_fingerprint("t", plain)
    assert engine.hash_json(args, encoder=encode) == engine.hash_json(plain)
    assert engine.fingerprint("tool_call", "t", args, encoder=encode) == digest
    assert engine.tool_fingerprint("t", args, encoder=encode) == digest
    assert engine.ToolFingerprinter("t", encoder=encode)(args) == digest
    assert engine.fingerprint_many([("t", args), ("t", plain)], encoder=encode) == [digest] * 2
    assert engine.tool_fingerprint("t", args, ["a"], encoder=encode) == (
        engine.tool_fingerprint("t", {"a": "x"})
    )


def test_what_the_hook_returns_follows_the_rules_again(engine: ModuleType) -> None:
    for returned, text in (
        (" x ", '["x"]'),
        (-0.0, "[0]"),
        (None, "[]"),
        (print, "[]"),
        (True, "[true]"),
        ({"b": None, "a": 2.0}, '[{"a":2}]'),
        ({3, 1}, "[[1,3]]"),
        (datetime.date(2026, 1, 2), '["2026-01-02"]'),
        (Opaque(Opaque([Opaque(7)])), "[[7]]"),
        (deque([1]), "[[1]]"),
    ):
        assert engine.canonical_json([Opaque(returned)], encoder=encode) == text
    assert engine.canonical_json(Opaque(None), encoder=encode) == "null"


def test_not_implemented_leaves_the_value_to_the_rules(engine: ModuleType, error_of: Any) -> None:
    assert engine.canonical_json([datetime.date(2026, 1, 2)], encoder=encode) == '["2026-01-02"]'
    assert error_of(engine.canonical_json, [b""], encoder=encode) == (
        "UnsupportedTypeError",
        "$[0]: bytes has no canonical form",
    )
    assert error_of(engine.canonical_json, [Opaque(NotImplemented)], encoder=encode) == (
        "UnsupportedTypeError",
        f"$[0]: {__name__}.Opaque has no canonical form",
    )


class Text(str):
    pass


class Whole(int):
    pass


class Broken(float):
    pass


class Named(str, enum.Enum):
    MEMBER = "m"


class Plain(enum.Enum):
    MEMBER = "m"


class Pair(tuple):  # type: ignore[type-arg]
    pass


def test_the_hook_is_not_asked_for_json_types_and_their_subclasses(engine: ModuleType) -> None:
    asked: list[object] = []

    def note(value: object) -> object:
        asked.append(value)
        return NotImplemented

    value = [
        *["x", 1, 1.5, True, None, {}, [], (), Text("t"), Whole(1), Broken(0.5), Named.MEMBER],
        *[OrderedDict(a=1), Pair((1,)), {1: 2}, {Text("k"): 1}],
    ]
    expected = engine.canonical_json(value)
    assert engine.canonical_json(value, encoder=note) == expected
    assert asked == []


def test_the_hook_is_asked_first_for_everything_else(engine: ModuleType) -> None:
    asked: list[object] = []

    def note(value: object) -> object:
        asked.append(type(value))
        return "encoded"

    values: list[object] = [
        *[datetime.date(2026, 1, 2), uuid.UUID(int=1), decimal.Decimal(1), Plain.MEMBER],
        *[{1}, frozenset(), UserDict(a=1), deque([1]), Opaque(), b"", print, int, object(), 1j],
        *[{}.keys(), {}.values(), (x for x in ""), range(3)],
    ]
    assert engine.canonical_json(values, encoder=note) == (
        "[" + ",".join(['"encoded"'] * len(values)) + "]"
    )
    assert asked == [type(value) for value in values]


def test_the_hook_is_not_asked_for_keys(engine: ModuleType, error_of: Any) -> None:
    assert error_of(engine.canonical_json, {Opaque(): 1}, encoder=encode)[0] == "KeyTypeError"


@pytest.mark.parametrize("profile", ["jcs", "jcs-double", "pleach"])
def test_the_hook_serves_jcs_and_pleach(engine: ModuleType, error_of: Any, profile: str) -> None:
    value = [Opaque(" x "), {"a": Opaque(None)}]
    assert engine.canonical_with(profile, value, encode) == '[" x ",{"a":null}]'
    assert engine.canonical_with(profile, [{2}], lambda items: sorted(items)) == "[[2]]"
    assert error_of(engine.canonical_with, profile, [b""], encode)[0] == "UnsupportedTypeError"
    assert error_of(engine.canonical_with, profile, [Opaque(print)], encode) == (
        "UnsupportedTypeError",
        "$[0]: builtin_function_or_method has no canonical form",
    )


def test_the_hook_is_called_once_for_each_value_in_the_order_of_writing(
    engine: ModuleType,
) -> None:
    asked: list[object] = []

    def note(value: Any) -> object:
        asked.append(value.tag)
        return value.tag

    value = {"b": [Opaque(1), Opaque(2)], "a": Opaque(3), "c": (Opaque(4),)}
    engine.canonical_json(value, encoder=note)
    assert asked == [3, 1, 2, 4]


# -- errors ----------------------------------------------------------------------------------------


def test_what_the_hook_raises_comes_out_as_it_is(engine: ModuleType) -> None:
    for error in (OSError(2, "no such thing"), KeyError("k"), ZeroDivisionError(), StopIteration()):

        def fail(_: object, error: Exception = error) -> object:
            raise error

        with pytest.raises(type(error)) as raised:
            engine.canonical_json({"a": [1, Opaque()]}, encoder=fail)
        assert raised.value is error
        assert raised.value.__cause__ is None
        if sys.version_info >= (3, 11):
            assert raised.value.__notes__ == ["while canonicalizing $.a[1]"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_an_interrupt_in_the_hook_passes(engine: ModuleType, error: type[BaseException]) -> None:
    def fail(_: object) -> object:
        raise error

    with pytest.raises(error):
        engine.canonical_json([Opaque()], encoder=fail)
    with pytest.raises(error):
        engine.fingerprint_many([("t", [Opaque()])], encoder=fail)


def test_the_traceback_of_the_hook_is_kept(engine: ModuleType) -> None:
    def fail(_: object) -> object:
        raise LookupError("lost")

    with pytest.raises(LookupError) as raised:
        engine.canonical_json([Opaque()], encoder=fail)
    frames = [entry.name for entry in raised.traceback]
    assert "fail" in frames


def test_a_canonicalization_error_of_the_hook_comes_out_as_it_is(engine: ModuleType) -> None:
    own = CanonicalizationError("own")

    def fail(_: object) -> object:
        raise own

    with pytest.raises(CanonicalizationError) as raised:
        engine.hash_json({"a": Opaque()}, encoder=fail)
    assert raised.value is own


def test_an_error_about_what_the_hook_returned_has_the_path_of_the_value(
    engine: ModuleType, error_of: Any
) -> None:
    value = {"a": Opaque({"in": [1, b""]})}
    assert error_of(engine.canonical_json, value, encoder=encode) == (
        "UnsupportedTypeError",
        "$.a.in[1]: bytes has no canonical form",
    )
    assert error_of(engine.canonical_json, {"a": Opaque(b"")}, encoder=encode) == (
        "UnsupportedTypeError",
        "$.a: bytes has no canonical form",
    )


def test_a_hook_that_takes_other_arguments_is_a_type_error(engine: ModuleType) -> None:
    with pytest.raises(TypeError):
        engine.canonical_json([Opaque()], encoder=lambda: 1)


# -- hooks that never end --------------------------------------------------------------------------


def test_a_hook_that_returns_its_argument_is_a_cycle(engine: ModuleType, error_of: Any) -> None:
    assert error_of(engine.canonical_json, [Opaque()], encoder=lambda value: value) == (
        "CircularReferenceError",
        f"$[0]: {__name__}.Opaque contains itself",
    )


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5, 7, 8, 9, 100])
def test_a_hook_that_goes_round_in_circles_is_a_cycle(engine: ModuleType, length: int) -> None:
    ring = [Opaque() for _ in range(length)]
    for place, item in enumerate(ring):
        item.tag = ring[(place + 1) % length]
    for lead in range(5):
        value = ring[0]
        for _ in range(lead):
            value = Opaque(value)
        with pytest.raises(CircularReferenceError, match=rf"^\$\.a: {__name__}\.Opaque contains"):
            engine.canonical_json({"a": value}, encoder=encode)


def test_a_hook_that_wraps_its_argument_is_a_cycle(engine: ModuleType, error_of: Any) -> None:
    for wrap, step in (
        (lambda value: [value], "[0]"),
        (lambda value: {"again": value}, ".again"),
        (lambda value: (1, value), "[1]"),
        (lambda value: OrderedDict(again=value), ".again"),
        (lambda value: [[value]], "[0][0]"),
    ):
        assert error_of(engine.canonical_json, Opaque(), encoder=wrap) == (
            "CircularReferenceError",
            f"${step}: {__name__}.Opaque contains itself",
        )


def test_a_hook_that_returns_ever_new_values_ends_at_the_limit(
    engine: ModuleType, error_of: Any
) -> None:
    for limit in (1, 2, 7, 1_000):
        calls = 0

        def renew(_: object) -> object:
            nonlocal calls
            calls += 1
            return Opaque()

        assert error_of(engine.canonical_json, [Opaque()], encoder=renew, max_depth=limit) == (
            "DepthError",
            f"$[0]: nesting exceeds max_depth={limit}",
        )
        assert calls == limit + 1
    assert error_of(engine.canonical_json, Opaque(), encoder=lambda _: Opaque()) == (
        "DepthError",
        "$: nesting exceeds max_depth=10000",
    )


def test_a_hook_that_nests_ever_new_values_ends_at_the_limit(engine: ModuleType) -> None:
    for wrap in (lambda _: [Opaque()], lambda _: {"a": Opaque()}, lambda _: {Opaque(), 1}):
        with pytest.raises(DepthError, match=r"nesting exceeds max_depth=10000$"):
            engine.canonical_json(Opaque(), encoder=wrap)


def test_a_hook_without_end_inside_a_cycle_ends_alike_on_both_engines(
    native: ModuleType, pure: ModuleType
) -> None:
    def outcome(engine: ModuleType) -> tuple[str, str]:
        cycle: list[Any] = [Opaque(), [[]]]
        cycle[1][0].append(cycle)
        calls = 0

        def end_once(_: object) -> object:
            nonlocal calls
            calls += 1
            return "once" if calls == 1 else Opaque()

        with pytest.raises(CanonicalizationError) as raised:
            engine.canonical_json(cycle, encoder=end_once, max_depth=50)
        return type(raised.value).__name__, str(raised.value)

    assert outcome(native) == outcome(pure)


def test_a_long_chain_of_conversions_within_the_limit_is_followed(engine: ModuleType) -> None:
    value: Any = "end"
    for _ in range(9_999):
        value = Opaque(value)
    assert engine.canonical_json([value], encoder=encode) == '["end"]'


def test_a_hook_may_use_the_library_itself(engine: ModuleType) -> None:
    def digest(value: Any) -> str:
        if isinstance(value.tag, Opaque):
            return str(engine.canonical_json(value.tag, encoder=digest))
        return str(engine.hash_json(value.tag))

    inner = engine.hash_json("x")
    assert engine.canonical_json([Opaque(), Opaque(Opaque())], encoder=digest) == (
        f'["{inner}","\\"{inner}\\""]'
    )


def test_a_hook_that_calls_itself_meets_the_limit_of_recursion_and_not_that_of_the_stack() -> None:
    code = """
        import threading
        from overturn_fast import hash_json

        def encoder(value):
            return hash_json(value, encoder=encoder)

        def call():
            try:
                hash_json(object(), encoder=encoder)
            except RecursionError:
                print("stopped")

        threading.stack_size(2 * 1024 * 1024)
        thread = threading.Thread(target=call)
        thread.start()
        thread.join()
        """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "stopped\n"), done.stderr
