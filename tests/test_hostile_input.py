"""Input that is large, malformed or set on harm: a right value or the named error, and no crash."""

from __future__ import annotations

import collections
import contextlib
import gc
import hashlib
import types
import unittest.mock
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from types import ModuleType
from typing import Any

import pytest
from parameter_ids import shown

from overturn_fast import CanonicalizationError, UnsupportedTypeError, select_args
from overturn_fast._pure import fingerprints

PROFILES = ["overturn", "jcs", "jcs-double", "mcpulse", "pleach"]
ALL_PROFILES = [*PROFILES, "compat"]


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def size_for(engine: ModuleType, size: int) -> int:
    """A tenth of the size for the twin, which is made to be read and is slower by far more."""
    return size // 10 if engine is fingerprints else size


class Target:
    """What only a hook can turn into something."""

    __slots__ = ("__weakref__", "tag")

    def __init__(self, tag: Any = None) -> None:
        self.tag = tag

    def model_dump(self) -> None: ...


# -- size ------------------------------------------------------------------------------------------


def test_a_string_of_fifty_million_quotes(engine: ModuleType) -> None:
    count = size_for(engine, 50_000_000)
    digest = hashlib.sha256(b'"')
    for _ in range(100):
        digest.update(b'\\"' * (count // 100))
    digest.update(b'"')
    assert engine.hash_json('"' * count) == digest.hexdigest()


@pytest.mark.parametrize("unit", ["a", "\x00", "é", "中", "😀", "\udead", " x"], ids=shown)
def test_a_long_string_of_every_kind(engine: ModuleType, unit: str) -> None:
    count = size_for(engine, 3_000_000)
    written = engine.canonical_with("pleach", unit)[1:-1]
    expected = (written * count).strip() if unit == " x" else written * count
    assert engine.hash_json(unit * count) == sha256(f'"{expected}"')
    assert engine.hash_json({unit * count: 1}) == sha256(f'{{"{written * count}":1}}')


def test_a_long_string_of_white_space(engine: ModuleType) -> None:
    for space in (" ", "\n", "\x85", "\u3000"):
        text = space * size_for(engine, 5_000_000)
        assert engine.canonical_json(text) == '""'
        assert engine.canonical_json(text + "x" + text) == '"x"'


def test_a_million_keys(engine: ModuleType) -> None:
    count = size_for(engine, 1_000_000)
    keys = [f"key {number * 7_919 % count}" for number in range(count)]
    expected = sha256("{" + ",".join(f'"{key}":1' for key in sorted(keys)) + "}")
    assert engine.hash_json(dict.fromkeys(keys, 1)) == expected


def test_very_many_colliding_keys(engine: ModuleType) -> None:
    count = size_for(engine, 500_000)
    value = {**dict.fromkeys(range(count), "int"), **dict.fromkeys(map(str, range(count)), "str")}
    expected = ",".join(f'"{key}":"str"' for key in sorted(map(str, range(count))))
    assert engine.hash_json(value) == sha256("{" + expected + "}")


def test_very_many_items(engine: ModuleType) -> None:
    count = size_for(engine, 2_000_000)
    assert engine.hash_json([None] * count) == sha256("[]")
    assert engine.hash_json([[]] * count) == sha256("[" + ",".join(["[]"] * count) + "]")
    assert engine.hash_json(range(count // 4)) == (
        sha256("[" + ",".join(map(str, range(count // 4))) + "]")
    )


def test_a_large_set_of_large_items(engine: ModuleType) -> None:
    items = [str(number) * 2_000 for number in range(size_for(engine, 2_000))]
    expected = ",".join(f'"{item}"' for item in sorted(items))
    assert engine.hash_json(set(items)) == sha256(f"[{expected}]")


def test_an_int_of_a_hundred_thousand_digits(engine: ModuleType, error_of: Any) -> None:
    number = 10**100_000 - 1
    for value in (number, -number):
        assert engine.canonical_json([value, {value: 1}]) == '[null,{"null":1}]'
        for profile in ("jcs", "jcs-double", "mcpulse", "pleach"):
            assert error_of(engine.canonical_with, profile, [value]) == (
                "IntegerDomainError",
                "$[0]: int is outside the range of exact integers",
            )


def test_a_list_of_a_million_ints_that_contains_itself(engine: ModuleType, error_of: Any) -> None:
    value: list[Any] = list(range(size_for(engine, 1_000_000)))
    value.append(value)
    assert error_of(engine.hash_json, value) == (
        "CircularReferenceError",
        f"$[{len(value) - 1}]: list contains itself",
    )


def test_a_wide_and_shared_tree_is_written_in_full(engine: ModuleType) -> None:
    value: Any = ["x"]
    for _ in range(14):
        value = [value, value]
    assert engine.canonical_json(value).count('"x"') == 2**14


# -- hooks that change what is being read ----------------------------------------------------------


def test_a_dict_that_its_hook_changes_is_written_as_it_was_when_it_was_opened(
    engine: ModuleType,
) -> None:
    for change in (
        lambda value: value.clear(),
        lambda value: value.update({f"new{number}": number for number in range(1_000)}),
        lambda value: value.pop("z"),
        lambda value: value.update(z="other"),
        lambda value: value.popitem(),
    ):
        value: dict[str, Any] = {"m": 1, "b": Target(), "a": 0, "é": "é", "z": {"in": "side"}}

        def hook(_: object, value: Any = value, change: Callable[[Any], Any] = change) -> str:
            change(value)
            gc.collect()
            return "hook"

        assert engine.canonical_json(value, encoder=hook) == (
            '{"a":0,"b":"hook","m":1,"z":{"in":"side"},"é":"é"}'
        )


def test_a_list_that_its_hook_shortens_ends_there(engine: ModuleType) -> None:
    for change, text in (
        (lambda value: value.clear(), '[0,"hook"]'),
        (lambda value: value.__delitem__(slice(2, 4)), '[0,"hook",4]'),
        (lambda value: value.pop(0), '[0,"hook",3,4]'),
        (lambda value: value.__setitem__(slice(None), [7, 8, 9]), '[0,"hook",9]'),
        (lambda value: value.extend([5, 6]), '[0,"hook",2,3,4,5,6]'),
        (lambda value: value.__setitem__(2, "new"), '[0,"hook","new",3,4]'),
    ):
        value: list[Any] = [0, Target(), 2, 3, 4]

        def hook(_: object, value: Any = value, change: Callable[[Any], Any] = change) -> str:
            change(value)
            gc.collect()
            return "hook"

        assert engine.canonical_json(value, encoder=hook) == text


def test_a_hook_may_drop_the_last_reference_to_everything_that_is_open(
    engine: ModuleType,
) -> None:
    def build() -> dict[str, Any]:
        rows: list[Any] = [{"id": number, "name": f"n{number}", "é": [0]} for number in range(5)]
        rows[3]["id"] = Target(["x", {"y": Target("end")}])
        last = [{f"k{number}": [f"v{number}", (number,)] for number in range(60)}]
        return {"a": rows, "last": [last, Target({"z": "z" * 100})], "set": {Target(1), "s"}}

    def plain(value: object) -> object:
        return value.tag if isinstance(value, Target) else NotImplemented

    expected = engine.canonical_json(build(), encoder=plain)
    root = build()
    written_or_open = [root, *root["a"][:4]]

    def hook(value: object) -> object:
        tag = value.tag if isinstance(value, Target) else NotImplemented
        for part in written_or_open:
            part.clear()
        written_or_open.clear()
        gc.collect()
        return tag

    assert engine.canonical_json(root, encoder=hook) == expected
    assert root == {}


def test_a_hook_may_free_the_items_of_a_list_of_lists(engine: ModuleType) -> None:
    outer: list[Any] = [[[f"text {number}", Target(number)], "after"] for number in range(50)]

    def hook(value: Any) -> object:
        tag = value.tag
        for row in outer[: tag + 2]:
            row[1:] = ["replaced"] if row[1:] else []
        del outer[tag + 1 :]
        gc.collect()
        return [tag] * 3

    assert engine.canonical_json(outer, encoder=hook) == '[[["text 0",[0,0,0]],"replaced"]]'


def test_a_value_that_only_the_walk_holds_lives_until_it_is_written(engine: ModuleType) -> None:
    seen: list[Any] = []

    class Made(Target):
        __slots__ = ()

    def hook(value: Any) -> object:
        gc.collect()
        if type(value) is Made:
            seen.append(weakref.ref(value))
            return {"a": "é" * 40, "b": ["x" * 30]}
        return [Made(), {"k": Made()}, "y" * 50]

    made = f'{{"a":"{"é" * 40}","b":["{"x" * 30}"]}}'
    assert engine.canonical_json([Target()], encoder=hook) == (
        f'[[{made},{{"k":{made}}},"{"y" * 50}"]]'
    )
    gc.collect()
    assert [reference() for reference in seen] == [None, None]


def test_a_hook_may_raise_after_it_has_freed_everything(engine: ModuleType) -> None:
    for levels in (1, 20, 100):
        root: dict[str, Any] = {"a": Target(), "b": ["é" * 50] * 3}
        for level in range(levels):
            root = {f"level{level}": root, "other": [{"x": "y" * level}]}

        def hook(_: object, root: Any = root) -> object:
            root.clear()
            gc.collect()
            raise LookupError("lost")

        with pytest.raises(LookupError, match="lost"):
            engine.canonical_json(root, encoder=hook)


def test_code_of_a_value_may_change_its_container_too(engine: ModuleType) -> None:
    holder: dict[str, Any] = {}

    class Clearing:
        def model_dump(self) -> Any:
            holder.clear()
            gc.collect()
            return {"dumped": ["x" * 40]}

    class ClearingDict(dict):  # type: ignore[type-arg]
        def items(self) -> Any:
            holder.clear()
            gc.collect()
            return [("key" * 20, ["y" * 40])]

    for value, text in (
        (Clearing(), f'{{"dumped":["{"x" * 40}"]}}'),
        (ClearingDict(), f'{{"{"key" * 20}":["{"y" * 40}"]}}'),
    ):
        holder.update(a=value, b=["é" * 30], c={"d": "z" * 30})
        assert engine.canonical_json(holder) == (
            f'{{"a":{text},"b":["{"é" * 30}"],"c":{{"d":"{"z" * 30}"}}}}'
        )


class EmptyingKey:
    """A key of ``compat`` that empties a container when it is asked for its text."""

    def __init__(self, container: Any) -> None:
        self._container = container

    def __str__(self) -> str:
        self._container.clear()
        return "key"


@pytest.mark.parametrize("levels", [0, 1, 2, 20])
@pytest.mark.parametrize("before", [[], [1], ["text", 2.5]], ids=ascii)
@pytest.mark.parametrize("others", [{}, {"a": 1, "b": [2]}], ids=ascii)
@pytest.mark.parametrize("is_list", [True, False], ids=["list", "dict"])
def test_a_key_may_take_its_dict_out_of_what_holds_it(
    engine: ModuleType, levels: int, before: list[Any], others: dict[str, Any], is_list: bool
) -> None:
    dicts_made = 200  # more than CPython keeps for reuse
    inner = ('{"a":1,"b":[2],' if others else "{") + '"key":["in",{}]}'
    written = "".join({1: "1,", "text": '"text",', 2.5: "2.5,"}[item] for item in before)
    for _ in range(3):
        holder: Any = list(before) if is_list else {}
        value: Any = holder
        for _ in range(levels):
            value = [value]
        item = {**others, EmptyingKey(holder): ["in", {}]}
        if is_list:
            holder.append(item)
            expected = f"[{written}{inner}]"
        else:
            holder["d"] = item
            expected = f'{{"d":{inner}}}'
        del item
        text = engine.compat_canonical_json(value)
        # A dict that was let go twice would now be made twice.
        made = [{"made": number} for number in range(dicts_made)]
        assert [each["made"] for each in made] == list(range(dicts_made))
        assert text == "[" * levels + expected + "]" * levels
        assert holder == type(holder)()


@pytest.mark.parametrize("profile", ["overturn", "jcs", "jcs-double", "mcpulse", "pleach"])
@pytest.mark.parametrize("before", [[], ["text"], [1, {}]], ids=ascii)
def test_the_collector_may_take_an_int_out_of_its_list(
    native: ModuleType, profile: str, before: list[Any]
) -> None:
    """Before Python 3.12 it may run when an exception is made, as one is for an int that no double
    holds; what it frees may have code of its own."""

    class Emptying:
        def __init__(self, items: list[Any]) -> None:
            self.cycle = self
            self.items = items

        def __del__(self) -> None:
            self.items.clear()

    def outcome(items: list[Any]) -> object:
        try:
            return native.canonical_with(profile, items)
        except CanonicalizationError as error:
            return str(error)

    expected = outcome([*before, 7**6000])
    thresholds = gc.get_threshold()
    try:
        raise LookupError  # an exception is made at once while another is handled
    except LookupError:
        gc.disable()
        items = [*before, 7**6000]
        Emptying(items)
        kept: list[list[Any]] = [[] for _ in range(100)]
        try:
            gc.set_threshold(len(kept) // 2)
            gc.enable()
            assert outcome(items) in (expected, "[]")  # the latter if it ran earlier
        finally:
            gc.set_threshold(*thresholds)
            gc.enable()


# -- values that cannot be read --------------------------------------------------------------------


class AttributesRaise:
    @property
    def __dict__(self) -> Any:  # type: ignore[override]
        raise OSError("disk")


class EverythingRaises:
    def __getattribute__(self, name: str) -> Any:
        raise OSError("disk")


class GetattrRaises:
    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        raise OSError("disk")


class DumpRaises:
    def model_dump(self) -> Any:
        raise OSError("disk")


class ItemsRaise(dict):  # type: ignore[type-arg]
    def items(self) -> Any:
        raise OSError("disk")


class ItemsRaiseLate(dict):  # type: ignore[type-arg]
    def items(self) -> Iterator[Any]:  # type: ignore[override]
        yield "a", 1
        raise OSError("disk")


class IterationRaises(list):  # type: ignore[type-arg]
    def __iter__(self) -> Any:
        raise OSError("disk")


class TupleIterationRaises(tuple):  # type: ignore[type-arg]
    def __iter__(self) -> Iterator[Any]:
        yield 1
        raise OSError("disk")


class MappingRaises(Mapping[Any, Any]):
    def __getitem__(self, key: Any) -> Any:
        raise OSError("disk")

    def __iter__(self) -> Iterator[Any]:
        return iter("ab")

    def __len__(self) -> int:
        return 2


class SequenceRaises(Sequence[Any]):
    def __getitem__(self, index: Any) -> Any:
        raise OSError("disk")

    def __len__(self) -> int:
        return 2


class SetRaises(Set[Any]):
    def __contains__(self, item: object) -> bool:
        return False

    def __iter__(self) -> Iterator[Any]:
        raise OSError("disk")

    def __len__(self) -> int:
        return 2


class ArrayRaises:
    dtype = "float32"
    ndim = 1

    def tolist(self) -> Any:
        raise OSError("disk")


class SlotRaises:
    __slots__ = ("x",)

    def __getattribute__(self, name: str) -> Any:
        if name == "x":
            raise OSError("disk")
        return object.__getattribute__(self, name)


class DescriptorRaises:
    """An attribute that looks like a model's dump and cannot be read."""

    @property
    def model_dump(self) -> Any:
        raise OSError("disk")


# Classes, because pytest looks at what it is given and these do not bear it.
UNREADABLE = [
    AttributesRaise,
    EverythingRaises,
    GetattrRaises,
    DumpRaises,
    ItemsRaise,
    ItemsRaiseLate,
    IterationRaises,
    TupleIterationRaises,
    MappingRaises,
    SequenceRaises,
    SetRaises,
    ArrayRaises,
    SlotRaises,
    DescriptorRaises,
]


@pytest.mark.parametrize("cls", UNREADABLE)
def test_a_value_whose_own_code_raises_is_an_error_with_the_reason_as_cause(
    engine: ModuleType, cls: type
) -> None:
    value = cls()
    for wrapped, path in ((value, r"\$"), ([1, {"a": value}], r"\$\[1\]\.a")):
        with pytest.raises(UnsupportedTypeError) as raised:
            engine.canonical_json(wrapped)
        assert raised.match(rf"^{path}: reading {__name__}\.{cls.__name__} failed$")
        assert type(raised.value.__cause__) is OSError


@pytest.mark.parametrize("cls", UNREADABLE)
@pytest.mark.parametrize("profile", PROFILES)
def test_a_value_whose_own_code_raises_is_a_named_error_in_every_profile(
    engine: ModuleType, profile: str, cls: type
) -> None:
    name = rf"{__name__}\.{cls.__name__}"
    with pytest.raises(UnsupportedTypeError) as raised:
        engine.canonical_with(profile, {"a": cls()})
    assert raised.match(rf"^\$\.a: (reading {name} failed|{name} has no canonical form)$")


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_in_a_values_code_passes(
    engine: ModuleType, error: type[BaseException]
) -> None:
    class Interrupted:
        def model_dump(self) -> Any:
            raise error

    with pytest.raises(error):
        engine.canonical_json([Interrupted()])


class LiesAboutItsClass:
    @property
    def __class__(self) -> Any:  # type: ignore[override]
        return dict


def test_an_object_that_pretends_to_be_another_class_is_an_error(engine: ModuleType) -> None:
    mocks = [unittest.mock.Mock(spec=cls) for cls in (dict, list, set, str)]
    for value in (LiesAboutItsClass(), *mocks):
        for profile in ALL_PROFILES:
            with pytest.raises(UnsupportedTypeError):
                engine.canonical_with(profile, [value])


def test_items_that_are_no_pairs_are_an_error(engine: ModuleType) -> None:
    class Odd(dict):  # type: ignore[type-arg]
        given: Any = None

        def items(self) -> Any:
            return self.given

    for given in ([(1, 2, 3)], [1], ["abc"], None, 5):
        odd = Odd()
        odd.given = given
        with pytest.raises(UnsupportedTypeError, match=r"^\$: reading .*Odd failed$"):
            engine.canonical_json(odd)


def test_pairs_may_hold_any_object_as_a_key(engine: ModuleType, error_of: Any) -> None:
    class Odd(dict):  # type: ignore[type-arg]
        def items(self) -> Any:
            return [(["unhashable"], 1)]

    assert error_of(engine.canonical_json, Odd()) == (
        "KeyTypeError",
        "$: a key of type list has no text",
    )


def test_a_size_that_lies_changes_nothing(engine: ModuleType) -> None:
    class Liar(dict):  # type: ignore[type-arg]
        def __len__(self) -> int:
            return 2**40

    class ListLiar(list):  # type: ignore[type-arg]
        def __len__(self) -> int:
            return 0

    assert engine.canonical_json(Liar(a=1)) == '{"a":1}'
    assert engine.canonical_json(ListLiar([1, 2])) == "[1,2]"


class MetaRaises(type):
    @property
    def __module__(cls) -> Any:  # type: ignore[override]
        raise OSError("disk")


def test_a_type_whose_name_cannot_be_read_is_an_error_all_the_same(engine: ModuleType) -> None:
    class Nameless(metaclass=MetaRaises):
        def model_dump(self) -> None: ...

    for profile in PROFILES:
        with pytest.raises(CanonicalizationError):
            engine.canonical_with(profile, [Nameless()])


# -- keys that bite --------------------------------------------------------------------------------


class BitingKey(str):
    """A key that raises when it is compared."""

    __slots__ = ()

    def __hash__(self) -> int:
        return str.__hash__(self)

    def __eq__(self, other: object) -> bool:
        raise OSError("bite")

    def __lt__(self, other: object) -> bool:
        raise OSError("bite")


class FickleKey(str):
    """A key that has another hash each time, and equals nothing."""

    __slots__ = ()
    count = 0

    def __hash__(self) -> int:
        FickleKey.count += 1
        return FickleKey.count

    def __eq__(self, other: object) -> bool:
        return False


def test_keys_that_raise_when_compared_are_not_compared(engine: ModuleType) -> None:
    value: dict[str, Any] = {"a": 1}
    for key in ("b", "c", "d"):
        value[BitingKey(key)] = key
    for profile in ALL_PROFILES:
        assert engine.canonical_with(profile, value) == '{"a":1,"b":"b","c":"c","d":"d"}'
    assert engine.tool_fingerprint("t", value) == engine.tool_fingerprint(
        "t", {"a": 1, "b": "b", "c": "c", "d": "d"}
    )


def test_keys_without_a_fixed_hash_are_read_in_order(engine: ModuleType) -> None:
    value: dict[str, Any] = {}
    for number in range(20):
        value[FickleKey("k")] = number
    assert len(value) == 20
    for profile in PROFILES:
        assert engine.canonical_with(profile, value) == '{"k":19}'


def test_selecting_from_keys_that_bite_ends_alike_on_both_engines(
    native: ModuleType, pure: ModuleType
) -> None:
    def outcome(engine: ModuleType, *call: Any) -> tuple[str, str]:
        try:
            return "returned", engine.tool_fingerprint("t", *call)
        except Exception as error:
            return type(error).__name__, str(error)

    biting = {BitingKey("a"): 1}
    fickle: dict[str, Any] = {FickleKey("a"): 1}
    for args in (biting, fickle):
        for names in (["a"], ["b"], [BitingKey("a")], [FickleKey("a")]):
            for call in ((args, names), (args, None, names)):
                assert outcome(native, *call) == outcome(pure, *call)


def test_names_whose_iteration_raises_end_with_that_error(engine: ModuleType) -> None:
    def names() -> Iterator[str]:
        yield "a"
        raise OSError("disk")

    for call in (
        lambda: select_args({"a": 1}, names()),
        lambda: engine.tool_fingerprint("t", {"a": 1}, names()),
        lambda: engine.tool_fingerprint("t", {"a": 1}, None, names()),
        lambda: engine.ToolFingerprinter("t", names()),
    ):
        with pytest.raises(OSError, match=r"^disk$"):
            call()


def test_names_that_cannot_be_hashed_are_a_type_error(engine: ModuleType) -> None:
    for call in (
        lambda: select_args({"a": 1}, [["a"]]),  # type: ignore[list-item]
        lambda: engine.tool_fingerprint("t", {"a": 1}, [["a"]]),
        lambda: engine.ToolFingerprinter("t", [["a"]])({"a": 1}),
    ):
        with pytest.raises(TypeError):
            call()


# -- what is left behind ---------------------------------------------------------------------------


def test_no_input_is_changed(engine: ModuleType) -> None:
    inner: dict[Any, Any] = {"b": None, "a": " x ", 1: {2, 1}, "1": collections.deque([3])}
    value = [inner, types.MappingProxyType(inner), (inner,)]
    before = repr(value)
    engine.canonical_json(value)
    engine.tool_fingerprint("t", inner, ["a"])
    engine.tool_fingerprint("t", inner, None, ["a"])
    assert repr(value) == before


def test_an_error_keeps_nothing_alive(engine: ModuleType) -> None:
    class Held:
        def model_dump(self) -> None: ...

    held = Held()
    alive = weakref.ref(held)
    for value in ([held], {"a": {"b": held}}, ({1: held},)):
        with contextlib.suppress(UnsupportedTypeError):
            engine.canonical_json(value)
    del held, value
    gc.collect()
    assert alive() is None


# -- keys that hold surrogates ---------------------------------------------------------------------


@pytest.mark.parametrize("length", [1, 100, 1_007, 1_008, 1_009, 1_016, 1_020, 2_040])
def test_a_long_key_of_surrogates_and_characters_beyond_the_bmp_stays_in_its_bounds(
    engine: ModuleType, length: int
) -> None:
    key = "\ud800" + "\U0001f600" * length
    expected = '{"' + "\\ud800" + "\U0001f600" * length + '":1}'
    for _ in range(20):
        assert engine.canonical_json({key: 1}) == expected


def test_selected_keys_with_one_text_count_in_the_order_of_their_declaration(
    engine: ModuleType,
) -> None:
    pair, joined = "\ud83d\ude00", "\U0001f600"
    args = {pair: 1, joined: 2}
    last_declared = engine.tool_fingerprint("t", {joined: 1})
    assert engine.tool_fingerprint("t", args, match_on=[joined, pair]) == last_declared
    more = [f"other {number}" for number in range(20)]
    assert engine.tool_fingerprint("t", args, match_on=[*more, joined, pair]) == last_declared


def test_a_type_is_told_by_identity_whatever_its_metaclass_says_is_equal(
    engine: ModuleType,
) -> None:
    class Meta(type):
        def __eq__(cls, other: object) -> bool:
            return True

        __hash__ = type.__hash__

    class Plain(metaclass=Meta):
        def __init__(self) -> None:
            self.x = 1

    assert engine.canonical_json(Plain()) == '{"x":1}'
