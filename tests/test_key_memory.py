"""Objects whose keys come again, in one value and from call to call.

The native engine remembers the order and the texts of key sets that it has seen twice. Whatever it
remembers, the text is that of the pure engine, which remembers nothing.
"""

from __future__ import annotations

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
