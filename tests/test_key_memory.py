"""Objects whose keys come again, in one value and from call to call.

The native engine remembers the order and the texts of key sets that it has seen twice. Whatever it
remembers, the text is that of the pure engine, which remembers nothing.
"""

from __future__ import annotations

import gc
import json
import random
import sys
import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

PROFILES = ["overturn", "jcs", "jcs-double", "mcpulse", "pleach"]

SIGHTS = 4  # the second is remembered, the third and fourth are written from memory


def fresh(keys: list[Any]) -> list[Any]:
    """Equal keys that are other objects."""
    return [copied(key) if type(key) is str else key for key in keys]


def copied(text: str) -> str:
    return (text + "-")[:-1]


def assert_engines_agree(native: ModuleType, pure: ModuleType, value: Any) -> None:
    for profile in PROFILES:
        assert native.canonical_with(profile, value) == pure.canonical_with(profile, value)


@pytest.mark.parametrize("count", [1, 2, 7, 15, 16, 17, 40])
@pytest.mark.parametrize("alphabet", ["abc", "abé", "中\uffff😀", 'a"\\\n\x7f'], ids=ascii)
def test_key_sets_that_come_again(
    native: ModuleType, pure: ModuleType, count: int, alphabet: str
) -> None:
    source = random.Random(f"{count} {alphabet}")
    for _ in range(20):
        keys = list(
            {"".join(source.choices(alphabet, k=source.randrange(35))): 0 for _ in range(count)}
        )
        for sight in range(SIGHTS):
            value = dict.fromkeys(fresh(keys) if sight % 2 else keys, sight)
            assert_engines_agree(native, pure, value)
            assert_engines_agree(native, pure, [value, {"in": value}, value])


def test_one_key_set_in_another_order(native: ModuleType, pure: ModuleType) -> None:
    keys = ["first", "b", "a", "c", "last"]
    for sight in range(3 * SIGHTS):
        middle = keys[1:-1]
        random.Random(sight % 3).shuffle(middle)
        value = {key: [key, sight] for key in [keys[0], *middle, keys[-1]]}
        assert_engines_agree(native, pure, value)


def test_key_sets_that_differ_in_one_key(native: ModuleType, pure: ModuleType) -> None:
    sets = [
        ["first", middle, "last"]
        for middle in ("b", "c", "é", "è", "\U0001f600", "b" * 8, "b" * 30)
    ]
    for _ in range(SIGHTS):
        for keys in sets:
            assert_engines_agree(native, pure, dict.fromkeys(keys, 1))


def test_key_order_is_that_of_each_profile(native: ModuleType) -> None:
    value = {"\U0001f600": 1, "\uffff": 2}
    by_code_point, by_code_unit = '{"\uffff":2,"\U0001f600":1}', '{"\U0001f600":1,"\uffff":2}'
    for _ in range(SIGHTS):
        assert native.canonical_with("overturn", value) == by_code_point
        assert native.canonical_with("jcs", value) == by_code_unit


def test_keys_of_other_types_are_never_taken_for_text(native: ModuleType, pure: ModuleType) -> None:
    class Name(str):
        __slots__ = ()

    number = hash("twelve")  # an int with the hash of a key that is remembered
    for _ in range(SIGHTS):
        for key in ("twelve", number, Name("twelve"), "twelve"):
            for value in ({key: 1}, {"a": 0, key: 1, "z": 2}, {key: 1, "z": 2}, {"a": 0, key: 1}):
                expected = pure.canonical_with("overturn", value)
                assert native.canonical_with("overturn", value) == expected


def test_more_key_sets_than_are_remembered(native: ModuleType, pure: ModuleType) -> None:
    source = random.Random(7)
    sets = [[f"{source.getrandbits(20):x}" for _ in range(3)] for _ in range(500)]
    for _ in range(6):
        source.shuffle(sets)
        for keys in sets:
            value = {key: {key: None, "x": 1} for key in keys}
            assert native.hash_json(value) == pure.hash_json(value)
        for keys in sets[:30] * 4:
            value = dict.fromkeys(keys, 1.5)
            assert native.hash_json(value) == pure.hash_json(value)


def test_what_an_open_object_reads_is_not_replaced(native: ModuleType, pure: ModuleType) -> None:
    """Inside a hook, hundreds of other key sets are remembered while one is half written."""
    numbers = iter(range(10**9))

    def hook(value: object) -> object:
        for _ in range(300):
            other = {f"k{next(numbers)}": 1, "other": 2, "another": 3}  # as many keys
            for _ in range(3):
                native.canonical_json(other)
        return "hooked"

    def value() -> dict[str, object]:
        return {"first": 1, "middle": object(), "last": [{"deep": object(), "b": 1, "a": 2}]}

    native.canonical_json({"first": 1, "middle": 2, "last": 3})
    native.canonical_json({"first": 1, "middle": 2, "last": 3})
    for _ in range(5):
        expected = '{"first":1,"last":[{"a":2,"b":1,"deep":"hooked"}],"middle":"hooked"}'
        assert native.canonical_json(value(), encoder=hook) == expected


def test_an_error_names_the_key_after_many_calls(native: ModuleType, pure: ModuleType) -> None:
    for _ in range(SIGHTS):
        for bad in ("b", "a", "c"):
            value = {"c": 1, "a": 2, "b": 3, bad: object()}
            with pytest.raises(TypeError) as raised:
                native.canonical_json({"outer": value})
            with pytest.raises(TypeError) as expected:
                pure.canonical_json({"outer": value})
            assert str(raised.value) == str(expected.value)


def test_keys_are_held_once_however_often_they_come(native: ModuleType) -> None:
    key = copied("a key of this test alone")
    value = {key: 1}
    held = sys.getrefcount(key)
    for _ in range(1000):
        native.canonical_json(value)
        native.canonical_json([value, value])
        native.canonical_json(json.loads(json.dumps(value)))
    assert sys.getrefcount(key) - held in (0, 1)


def test_threads_share_the_memory(native: ModuleType, pure: ModuleType) -> None:
    wrong = []

    def counting(numbers: list[int]) -> Callable[[object], object]:
        left = iter(numbers)
        return lambda _: next(left)

    def work(seed: int) -> None:
        source = random.Random(seed)
        for _ in range(300):
            keys = [f"k{source.randrange(40)}" for _ in range(4)]
            value = {key: {"x": key, "n": object()} for key in keys}
            numbers = [source.randrange(10) for _ in keys]
            text = native.canonical_json(value, encoder=counting(numbers))
            if text != pure.canonical_json(value, encoder=counting(numbers)):
                wrong.append(text)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


# ---- members read in place ---------------------------------------------------------------------


def remembered(native: ModuleType, value: Any) -> None:
    """Have the key sets of a value remembered."""
    for _ in range(SIGHTS):
        for profile in PROFILES:
            native.canonical_with(profile, value)


def with_a_gap() -> dict[str, Any]:
    value = {"b": 1, "gone": 2, "a": 3, "c": None}
    del value["gone"]
    return value


def with_a_key_that_came_back() -> dict[str, Any]:
    value = {"b": 1, "a": 3, "c": None}
    value["b"] = value.pop("b")
    return value


def of_attributes() -> dict[str, Any]:
    """A dict whose keys are shared with those of other objects of its class."""

    class Point:
        def __init__(self) -> None:
            self.b, self.a, self.c = 1, 3, None

    return [vars(Point()) for _ in range(3)][-1]


def once_with_another_key() -> dict[Any, Any]:
    """A dict that has had a key of another type has a table of another form for good."""
    value: dict[Any, Any] = {7: 0, "b": 1, "a": 3, "c": None}
    del value[7]
    return value


DICTS = {
    "plain": lambda: {"b": 1, "a": 3, "c": None},
    "a gap": with_a_gap,
    "the first key last": with_a_key_that_came_back,
    "attributes": of_attributes,
    "another key before": once_with_another_key,
    "from pairs": lambda: dict(zip("bac", (1, 3, None), strict=True)),
    "a copy of a gap": lambda: with_a_gap().copy(),
    "the last key gone": lambda: dict(list({"b": 1, "a": 3, "c": None, "d": 4}.items())[:3]),
    "popitem": lambda: (value := {"b": 1, "a": 3, "c": None, "d": 4}, value.popitem())[0],
    "empty after clear": lambda: (value := {"b": 1}, value.clear())[0],
}


@pytest.mark.parametrize("make", DICTS.values(), ids=DICTS)
def test_every_form_of_dict(
    native: ModuleType, pure: ModuleType, make: Callable[[], dict[Any, Any]]
) -> None:
    remembered(native, {"b": 1, "a": 3, "c": None})
    for _ in range(SIGHTS):
        value = make()
        assert_engines_agree(native, pure, value)
        assert_engines_agree(native, pure, [value, {"in": value}, make()])


@pytest.mark.parametrize("size", [0, 1, 5, 6, 10, 11, 16, 17, 21, 22, 85, 86, 170, 400, 70_000])
def test_dicts_around_the_sizes_at_which_their_tables_grow(
    native: ModuleType, pure: ModuleType, size: int
) -> None:
    value = {f"{number * 7919 % 100_003:x}": number for number in range(size)}
    expected = pure.canonical_json(value)
    for _ in range(SIGHTS):
        assert native.canonical_json(value) == expected


SCALARS = [
    *(None, True, False, 0, -1, 12345678, 2**53 - 1, 2**53, -(2**60), 2**64, 10**25),
    *(0.0, -0.0, 1.5, 1e300, 123456789012345680000.0),
    *("", " ", "\n", " a", "a ", "é", "\U0001f600", "a" * 256, "a" * 257, "a" * 5000, '"\\\x01'),
    *((), (1, "x"), [], {}, [None], [1, "a", None, 2.5]),
]


@pytest.mark.parametrize("value", SCALARS, ids=lambda value: ascii(value)[:30])
def test_every_kind_of_value_in_every_place(
    native: ModuleType, pure: ModuleType, value: Any
) -> None:
    for places in ({"a": value}, {"b": value, "a": 1, "c": "x"}, {"a": "x", "b": value}):
        for whole in (places, [value], ["x", value, 1], [places, value, places, [value]]):
            for _ in range(SIGHTS):
                for profile in PROFILES:
                    assert outcome(native, profile, whole) == outcome(pure, profile, whole)


def outcome(engine: ModuleType, profile: str, value: Any) -> Any:
    try:
        return engine.canonical_with(profile, value)
    except Exception as error:
        return type(error), str(error)


def test_a_hook_changes_the_objects_that_are_open(native: ModuleType, pure: ModuleType) -> None:
    """What an object held when it was opened is written, whatever happens to it afterwards."""

    def outcomes(engine: ModuleType) -> list[str]:
        written = []
        for change in ("clear", "grow", "replace", "none"):
            inner: dict[str, Any] = {"y": "in", "x": object(), "z": "last"}
            outer: dict[str, Any] = {"b": copied("second"), "a": inner, "c": copied("third")}

            def hook(
                _: object,
                change: str = change,
                inner: dict[str, Any] = inner,
                outer: dict[str, Any] = outer,
            ) -> str:
                for each in (inner, outer):
                    if change == "clear":
                        each.clear()
                    elif change == "grow":
                        each.update({f"new {number}": number for number in range(100)})
                    elif change == "replace":
                        for key in each:
                            each[key] = f"other {key}"
                return "hooked"

            written.append(engine.canonical_json([outer, "after"], encoder=hook))
        return written

    remembered(native, [{"b": 1, "a": {"y": 1, "x": 1, "z": 1}, "c": 1}])
    expected = '[{"a":{"x":"hooked","y":"in","z":"last"},"b":"second","c":"third"},"after"]'
    assert outcomes(native) == [expected] * 4
    assert outcomes(pure) == [expected] * 4


def test_errors_deep_inside_objects_that_are_read_in_place(
    native: ModuleType, pure: ModuleType
) -> None:
    def value(bad: Any) -> Any:
        return {"rows": [{"id": 1, "tags": ["x"]}, {"id": 2, "tags": ["x", {"k": bad}]}], "n": 1}

    remembered(native, value("fine"))
    for bad in (object(), float("nan"), "\ud800", {1, "x"}, b"", {None: 1}, {"\udc00": 2}):
        for profile in PROFILES:
            assert outcome(native, profile, value(bad)) == outcome(pure, profile, value(bad))


def test_the_latest_of_equal_keys_are_held(native: ModuleType) -> None:
    """Those of a document come again in it; those of the one before are let go."""
    documents = [[{copied("a key"): 1, copied("another"): 2}] * 3 for _ in range(20)]
    for document in documents:
        for _ in range(2):
            native.canonical_json(document)
    held = [sys.getrefcount(next(iter(document[0]))) for document in documents]
    assert held.count(min(held)) >= len(documents) - 1
    assert max(held) - min(held) in (0, 1)


# ---- arguments that are selected -----------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 3, 16, 17, 40])
def test_selected_names_in_every_form(native: ModuleType, pure: ModuleType, count: int) -> None:
    args = {f"name {number}" if number % 3 else f"é{number}": number for number in range(count)}
    args |= {"": 1, "long " * 10: 2}
    for names in (
        ["name 1"],
        ["missing", "name 2", "é0"],
        [copied("name 1"), copied("é0"), copied("long " * 10), ""],
        [copied("\U0001f600"), "naMe 1", "name 1"],
        list(args),
    ):
        for declared in (names, tuple(names)):
            for _ in range(SIGHTS):
                expected = pure.tool_fingerprint("t", args, match_on=declared)
                assert native.tool_fingerprint("t", args, match_on=declared) == expected
                assert native.tool_fingerprint("t", with_one_more(args), match_on=declared) == (
                    expected
                )


def with_one_more(args: dict[str, Any]) -> dict[Any, Any]:
    """Equal arguments, as far as they are named, in a dict of another form."""
    return {7: "seven", **{copied(key): value for key, value in args.items()}}


def one_call(engine: ModuleType, args: dict[str, Any], names: Any, hook: Any) -> Any:
    return engine.tool_fingerprint("t", args, match_on=names, encoder=hook)


def one_of_many_calls(engine: ModuleType, args: dict[str, Any], names: Any, hook: Any) -> Any:
    return engine.fingerprint_many([("t", args, names)], encoder=hook)


def prepared_call(engine: ModuleType, args: dict[str, Any], names: Any, hook: Any) -> Any:
    return engine.ToolFingerprinter("t", match_on=names, encoder=hook)(args)


@pytest.mark.parametrize("fails", [False, True], ids=["hook returns", "hook raises"])
@pytest.mark.parametrize("kind", [list, tuple, set, iter], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize(
    "call", [one_call, one_of_many_calls, prepared_call], ids=lambda call: call.__name__
)
def test_a_hook_empties_names_and_arguments(
    native: ModuleType, pure: ModuleType, call: Any, kind: Any, fails: bool
) -> None:
    """What was selected is borrowed until Python code runs, and then held."""

    def outcome_of(engine: ModuleType) -> Any:
        names = kind([copied("b"), copied("a")])

        def hook(_: object) -> str:
            if kind in (list, set):
                names.clear()
            args.clear()
            gc.collect()
            if fails:
                raise ValueError("no such thing")
            return "hooked"

        args = {copied("a"): object(), copied("b"): [object()], "c": 3}
        try:
            return call(engine, args, names, hook)
        except ValueError as error:
            return str(error)

    for _ in range(SIGHTS):
        assert outcome_of(native) == outcome_of(pure)
