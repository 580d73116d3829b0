"""Fingerprints: worked values, what is hashed, many calls at once, and ToolFingerprinter."""

from __future__ import annotations

import collections
import copy
import datetime
import gc
import hashlib
import json
import pickle
import random
import types
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from parameter_ids import shown

import overturn_fast

EVALUATED_WITH = {"datetime": datetime.datetime, "timezone": datetime.timezone}


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def load(data: Path, name: str) -> Any:
    return json.loads((data / "overturn" / name).read_text("utf-8"))


def evaluated(row: dict[str, Any]) -> Any:
    return eval(row["input_python"], dict(EVALUATED_WITH))


# -- values of the contract ------------------------------------------------------------------------


def test_the_worked_values_of_the_contract(engine: ModuleType, data: Path) -> None:
    rows = load(data, "worked_values.json")
    assert len(rows) == 3
    for row in rows:
        args, match_on = row["args"], row.get("matchOn")
        expected = row["fingerprint"]
        assert engine.fingerprint(row["kind"], row["name"], args, match_on) == expected
        assert engine.tool_fingerprint(row["name"], args, match_on) == expected
        assert engine.ToolFingerprinter(row["name"], match_on)(args) == expected
    assert engine.fingerprint_many(rows) == [row["fingerprint"] for row in rows]


def test_the_public_names_give_the_worked_values(data: Path) -> None:
    assert overturn_fast.FINGERPRINT_VERSION == 1
    for row in load(data, "worked_values.json"):
        args, match_on = row["args"], row.get("matchOn")
        expected = row["fingerprint"]
        assert overturn_fast.tool_fingerprint(row["name"], args, match_on) == expected
        assert overturn_fast.fingerprint(row["kind"], row["name"], args, match_on) == expected
        assert overturn_fast.ToolFingerprinter(row["name"], match_on)(args) == expected
        assert overturn_fast.fingerprint_many([row]) == [expected]
        selected = overturn_fast.select_args(args, match_on)
        text = overturn_fast.canonical_json(selected)
        assert sha256(f"{row['kind']}\n{row['name']}\n{text}") == expected
        assert overturn_fast.hash_json(selected) == sha256(text)


def test_the_values_of_the_sdks_own_tests(engine: ModuleType, data: Path) -> None:
    rows = load(data, "sdk_cases.json")["canonical"]
    assert len(rows) == 15
    for row in rows:
        value = evaluated(row)
        assert engine.canonical_json(value) == row["canonical"]
        assert engine.hash_json(value) == sha256(row["canonical"])
        assert engine.tool_fingerprint("t", value) == row["fingerprint_tool_t"]


def test_the_selections_of_the_sdks_own_tests(engine: ModuleType, data: Path) -> None:
    rows = load(data, "sdk_cases.json")["select"]
    assert len(rows) == 6
    for row in rows:
        value, names = evaluated(row), (row["matchOn"], row["ignoreArgs"])
        selected = overturn_fast.select_args(value, *names)
        assert engine.canonical_json(selected) == row["canonical"]
        assert engine.tool_fingerprint("t", value, *names) == row["fingerprint_tool_t"]
        assert engine.ToolFingerprinter("t", *names)(value) == row["fingerprint_tool_t"]


# -- what is hashed --------------------------------------------------------------------------------


@pytest.mark.parametrize("args", [{}, [], None, "x", 1.0, {"a": "é"}, {"a": "\ud800"}], ids=shown)
def test_kind_name_and_canonical_text_are_hashed_with_newlines_between(
    engine: ModuleType, args: Any
) -> None:
    text = engine.canonical_json(args)
    for kind, name in (("tool_call", "t"), ("", ""), ("kïnd", "näme 中😀"), ("k" * 500, "n" * 999)):
        assert engine.fingerprint(kind, name, args) == sha256(f"{kind}\n{name}\n{text}")
    assert engine.tool_fingerprint("n", args) == sha256(f"tool_call\nn\n{text}")
    assert engine.hash_json(args) == sha256(text)


def test_name_and_kind_are_not_trimmed_or_escaped(engine: ModuleType) -> None:
    for name in (" t ", 'q"\\', "\x00", "a\tb", "two\nlines", "\u2028"):
        assert engine.tool_fingerprint(name, {}) == sha256(f"tool_call\n{name}\n{{}}")
        if "\n" not in name:
            assert engine.fingerprint(name, "n", {}) == sha256(f"{name}\nn\n{{}}")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("\ud800", "\ufffd"),
        (chr(0xDFFF), "\ufffd"),
        ("a\ud800b", "a\ufffdb"),
        ("\ude00\ud83d", "\ufffd\ufffd"),
        ("\ud800\ud800\udc00", "\ufffd\U00010000"),
        ("é\ud83d\ude00", "é😀"),
        ("中\udead" * 300, "中\ufffd" * 300),
    ],
    ids=shown,
)
def test_a_lone_surrogate_in_kind_or_name_is_the_replacement_character(
    engine: ModuleType, text: str, written: str
) -> None:
    assert engine.tool_fingerprint(text, {}) == sha256(f"tool_call\n{written}\n{{}}")
    assert engine.fingerprint(text, text, {}) == sha256(f"{written}\n{written}\n{{}}")
    assert engine.ToolFingerprinter(text, kind=text)({}) == sha256(f"{written}\n{written}\n{{}}")


def test_a_newline_in_kind_is_refused(engine: ModuleType, error_of: Any) -> None:
    wanted = "ValueError", "kind must not contain a newline"
    for kind in ("\n", "a\nb", "tool_call\n", "é\n", Text("a\nb")):
        assert error_of(engine.fingerprint, kind, "n", {}) == wanted
        assert error_of(engine.ToolFingerprinter, "n", kind=kind) == wanted
        call = {"kind": kind, "name": "n", "args": {}}
        assert error_of(engine.fingerprint_many, [call]) == (wanted[0], f"calls[0]: {wanted[1]}")
    assert engine.fingerprint("a\rb\u2028", "n", {}) == sha256("a\rb\u2028\nn\n{}")


class Text(str):
    def __str__(self) -> str:
        return "no"

    def __contains__(self, _: object) -> bool:
        return False

    def encode(self, *_: Any) -> bytes:
        return b"no"


def test_kind_and_name_of_a_str_subclass_are_read_by_their_data(engine: ModuleType) -> None:
    expected = engine.fingerprint("k", "n", {})
    assert engine.fingerprint(Text("k"), Text("n"), {}) == expected
    fingerprinter = engine.ToolFingerprinter(Text("n"), kind=Text("k"))
    assert fingerprinter({}) == expected
    assert type(fingerprinter.name) is str
    assert type(fingerprinter.kind) is str


@pytest.mark.parametrize("size", [*range(0, 130), 1_000, 16_383, 16_384, 16_385, 70_000, 1 << 20])
def test_texts_of_every_size_are_hashed_whole(engine: ModuleType, size: int) -> None:
    value = {"k": "x" * size, "é": ["y"]}
    text = f'{{"k":"{"x" * size}","é":["y"]}}'
    assert engine.canonical_json(value) == text
    assert engine.hash_json(value) == sha256(text)
    assert engine.tool_fingerprint("n" * (size % 300), value) == (
        sha256(f"tool_call\n{'n' * (size % 300)}\n{text}")
    )


def test_long_texts_in_sets_are_hashed_whole(engine: ModuleType) -> None:
    items = [f"{number}" * 3_000 for number in range(30)]
    value = {"a": set(items), "b": [{"z" * 20_000, ("y" * 20_000,)}, "x" * 40_000]}
    assert engine.hash_json(value) == sha256(engine.canonical_json(value))


def test_a_digest_is_a_str_of_64_lower_case_digits(engine: ModuleType) -> None:
    for digest in (
        engine.hash_json({}),
        engine.tool_fingerprint("t", {}),
        engine.fingerprint("k", "n", {}),
        engine.ToolFingerprinter("t")({}),
        *engine.fingerprint_many([("t", {})]),
    ):
        assert type(digest) is str
        assert len(digest) == 64
        assert set(digest) <= set("0123456789abcdef")


def test_different_parts_give_different_fingerprints(engine: ModuleType) -> None:
    digests = {
        engine.fingerprint(kind, name, args)
        for kind in ("a", "b")
        for name in ("a", "b", "b\na")
        for args in ({}, [], {"a": 1}, "a", None, 0, False)
    }
    assert len(digests) == 2 * 3 * 7


# -- many calls ------------------------------------------------------------------------------------


def test_many_calls_may_be_given_in_every_form(engine: ModuleType) -> None:
    args = {"a": 1, "b": 2}
    digests = {
        names: engine.tool_fingerprint("t", args, *(names or ()))
        for names in ((None, None), (("a",), None), (None, ("a",)))
    }
    whole, kept, rest = digests.values()
    calls: list[tuple[Any, str]] = [
        (("t", args), whole),
        (("t", args, None), whole),
        (("t", args, ["a"]), kept),
        (("t", args, None, ["a"]), rest),
        (("t", args, ["a"], ["b"]), kept),
        (["t", args], whole),
        (["t", args, ["a"]], kept),
        (collections.namedtuple("Call", "name args")("t", args), whole),
        ({"name": "t", "args": args}, whole),
        ({"name": "t", "args": args, "matchOn": ["a"]}, kept),
        ({"name": "t", "args": args, "ignoreArgs": ["a"]}, rest),
        ({"name": "t", "args": args, "matchOn": None, "ignoreArgs": None}, whole),
        ({"name": "t", "args": args, "kind": "tool_call"}, whole),
        ({"name": "t", "args": args, "kind": "other"}, engine.fingerprint("other", "t", args)),
        ({"name": "t", "args": args, "id": 7, "result": b""}, whole),
        (types.MappingProxyType({"name": "t", "args": args}), whole),
        (collections.UserDict(name="t", args=args), whole),
    ]
    assert engine.fingerprint_many([call for call, _ in calls]) == [digest for _, digest in calls]


def test_many_calls_may_come_from_any_iterable(engine: ModuleType) -> None:
    expected = [engine.tool_fingerprint(f"t{number}", {}) for number in range(5)]
    calls = [(f"t{number}", {}) for number in range(5)]
    for source in (calls, tuple(calls), iter(calls), (call for call in calls), dict.fromkeys([])):
        digests = engine.fingerprint_many(source)
        assert type(digests) is list
        assert digests == (expected if source != {} else [])
    assert engine.fingerprint_many([]) == []


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        ({"args": {}}, "ValueError", 'calls[1]: the call has no "name"'),
        ({"name": "t"}, "ValueError", 'calls[1]: the call has no "args"'),
        ({"name": 5, "args": {}}, "TypeError", "calls[1]: name must be a str, not int"),
        ((5, {}), "TypeError", "calls[1]: name must be a str, not int"),
        (
            {"name": "t", "args": {}, "kind": None},
            "TypeError",
            "calls[1]: kind must be a str, not NoneType",
        ),
        (
            ("t", {}, "a"),
            "TypeError",
            "calls[1]: match_on must be a list of keys, not one str",
        ),
        *[
            (
                wrong,
                "TypeError",
                "calls[1]: a call must be a mapping with name and args, or a tuple of name, args "
                f"and perhaps match_on and ignore_args, not {type(wrong).__name__}",
            )
            for wrong in ((), ("t",), ("t", {}, None, None, None), [], "ab", 5, None, {"t", "u"})
        ],
    ],
    ids=lambda part: shown(part)[:40],
)
def test_a_call_of_no_known_form_is_refused_with_its_position(
    engine: ModuleType, error_of: Any, call: Any, error: str, message: str
) -> None:
    assert error_of(engine.fingerprint_many, [("t", {}), call, ("t", {})]) == (error, message)


def test_an_error_of_the_iterable_itself_comes_out_as_it_is(engine: ModuleType) -> None:
    def calls() -> Iterator[Any]:
        yield "t", {}
        raise OSError("disk")

    with pytest.raises(OSError, match=r"^disk$"):
        engine.fingerprint_many(calls())
    for wrong in (5, None, print):
        with pytest.raises(TypeError):
            engine.fingerprint_many(wrong)


def test_an_iterable_of_calls_is_read_one_by_one(engine: ModuleType) -> None:
    read: list[int] = []

    def calls() -> Iterator[Any]:
        for number in range(5):
            read.append(number)
            yield "t", {"a": b""} if number == 2 else {}

    with pytest.raises(overturn_fast.UnsupportedTypeError, match=r"^calls\[2\]: \$\.a: "):
        engine.fingerprint_many(calls())
    assert read == [0, 1, 2]


def test_an_exception_of_the_hook_in_many_calls_keeps_its_class_and_is_located(
    engine: ModuleType,
) -> None:
    def fail(_: object) -> object:
        raise LookupError("lost", 2)

    def silent(_: object) -> object:
        raise LookupError

    def numbered(_: object) -> object:
        raise OSError(2, "no such thing")

    calls = [("t", {}), ("t", [object()])]
    with pytest.raises(LookupError) as raised:
        engine.fingerprint_many(calls, encoder=fail)
    assert raised.value.args == ("calls[1]: lost", 2)
    with pytest.raises(LookupError) as raised:
        engine.fingerprint_many(calls, encoder=silent)
    assert raised.value.args == ()
    with pytest.raises(OSError, match="no such thing") as number:
        engine.fingerprint_many(calls, encoder=numbered)
    assert number.value.args == (2, "no such thing")


@pytest.mark.parametrize("count", range(10))
def test_many_calls_of_all_lengths(engine: ModuleType, count: int) -> None:
    """Digests are made several at a time, of texts in blocks of 64 bytes and rooms of 4,096."""
    lengths = [0, 30, 64, 119, 120, 4_000, 4_080, 4_200, 20_000, 100_000]
    source = random.Random(count)
    for _ in range(20):
        calls = [
            (f"tool {'n' * source.choice(lengths[:6])}", {"a": "x" * source.choice(lengths)})
            for _ in range(count)
        ]
        digests = [
            hashlib.sha256(f'tool_call\n{name}\n{{"a":"{args["a"]}"}}'.encode()).hexdigest()
            for name, args in calls
        ]
        assert engine.fingerprint_many(calls) == digests


@pytest.mark.parametrize("pad", [0, 37, 64, 4_000, 4_070, 4_300])
def test_many_calls_that_begin_alike(engine: ModuleType, pad: int) -> None:
    """What two texts begin with is hashed once, in blocks of 64 bytes, up to any byte."""
    source = random.Random(pad)
    start = "x" * pad + "".join(source.choice("abc") for _ in range(300))
    texts = [start]
    for _ in range(400):
        parting = pad + source.randrange(301)
        tail = source.choice(["", "!", "!" * 64, start[parting + 1 :]])
        texts.append(source.choice([texts[-1], start[:parting] + tail]))
    calls = [("t", {"a": text}) for text in texts]
    digests = [
        hashlib.sha256(f'tool_call\nt\n{{"a":"{text}"}}'.encode()).hexdigest() for text in texts
    ]
    assert engine.fingerprint_many(calls) == digests


def test_many_calls_inside_the_hook_of_many_calls(engine: ModuleType) -> None:
    inner = [(f"inner {number}", {"n": number}) for number in range(7)]
    digests = engine.fingerprint_many(inner)

    def hook(_: object) -> list[str]:
        return list(engine.fingerprint_many(inner))

    outer = [("outer", {"a": object(), "n": number}) for number in range(7)]
    expected = [("outer", {"a": digests, "n": number}) for number in range(7)]
    assert engine.fingerprint_many(outer, encoder=hook) == engine.fingerprint_many(expected)


def changes_of_a_list() -> list[Any]:
    """What a hook may do to the list of calls, with names."""

    def clear(calls: list[Any]) -> None:
        calls.clear()

    def drop_first(calls: list[Any]) -> None:
        calls.pop(0)

    def drop_last(calls: list[Any]) -> None:
        calls.pop()

    def add_one(calls: list[Any]) -> None:
        if len(calls) < 20:
            calls.append(("added", {"n": len(calls)}))

    def replace_all(calls: list[Any]) -> None:
        calls[:] = [(f"new {number}", {"n": number}) for number in range(len(calls))]

    changes = (clear, drop_first, drop_last, add_one, replace_all)
    return [pytest.param(change, id=change.__name__) for change in changes]


@pytest.mark.parametrize("change", changes_of_a_list())
def test_a_hook_may_change_the_list_of_calls(
    engine: ModuleType, change: Callable[[list[Any]], None]
) -> None:
    """The digests are those of the calls that a loop over the list meets."""

    def run(digests_of: Callable[[list[Any], Callable[[object], str]], list[str]]) -> list[str]:
        calls: list[Any] = []

        def hook(_: object) -> str:
            change(calls)
            gc.collect()
            return "hooked"

        calls += [
            ("".join(["to", f"ol {number}"]), {"a": object(), "b": [str(number) * 3]})
            for number in range(9)
        ]
        return digests_of(calls, hook)

    def one_by_one(calls: list[Any], hook: Callable[[object], str]) -> list[str]:
        return [engine.tool_fingerprint(name, args, encoder=hook) for name, args in calls]

    assert run(lambda calls, hook: engine.fingerprint_many(calls, encoder=hook)) == run(one_by_one)


# -- ToolFingerprinter -----------------------------------------------------------------------------


def test_a_fingerprinter_shows_what_it_was_made_with(engine: ModuleType) -> None:
    fingerprinter = engine.ToolFingerprinter("close", ["a", "b"], ["c"], kind="k")
    assert fingerprinter.name == "close"
    assert fingerprinter.kind == "k"
    assert fingerprinter.match_on == ("a", "b")
    assert fingerprinter.ignore_args == ("c",)
    assert repr(fingerprinter) == "<ToolFingerprinter 'close'>"
    bare = engine.ToolFingerprinter("t'\n")
    assert (bare.kind, bare.match_on, bare.ignore_args) == ("tool_call", (), ())
    assert repr(bare) == '<ToolFingerprinter "t\'\\n">'


@pytest.mark.parametrize("attribute", ["name", "kind", "match_on", "ignore_args", "other"])
def test_a_fingerprinter_cannot_be_changed(engine: ModuleType, attribute: str) -> None:
    fingerprinter = engine.ToolFingerprinter("t")
    with pytest.raises(AttributeError):
        setattr(fingerprinter, attribute, "x")
    if attribute != "other":
        with pytest.raises(AttributeError):
            delattr(fingerprinter, attribute)


def test_a_fingerprinter_serves_any_number_of_calls(engine: ModuleType) -> None:
    fingerprinter = engine.ToolFingerprinter("t", ["a"])
    for number in range(100):
        args = {"a": number, "b": number}
        assert fingerprinter(args) == engine.tool_fingerprint("t", {"a": number})
    with pytest.raises(overturn_fast.UnsupportedTypeError):
        fingerprinter({"a": b""})
    assert fingerprinter({"a": 1}) == engine.tool_fingerprint("t", {"a": 1})


def test_a_fingerprinter_takes_one_argument(engine: ModuleType) -> None:
    fingerprinter = engine.ToolFingerprinter("t")
    assert fingerprinter(args={}) == fingerprinter({})
    for args, options in (((), {}), (({}, {}), {}), (({},), {"args": {}}), ((), {"other": 1})):
        with pytest.raises(TypeError):
            fingerprinter(*args, **options)


def test_a_fingerprinter_works_where_a_function_does(engine: ModuleType) -> None:
    fingerprinter = engine.ToolFingerprinter("t")
    calls = [{"a": number} for number in range(3)]
    assert list(map(fingerprinter, calls)) == [engine.tool_fingerprint("t", c) for c in calls]
    assert callable(fingerprinter)
    assert type(fingerprinter) is engine.ToolFingerprinter


class Hook:
    """An encoder that can be in a cycle with what it serves."""

    fingerprinter: Any = None

    def __call__(self, value: object) -> object:
        return "encoded"


def test_a_fingerprinter_keeps_its_hook_and_its_limit(engine: ModuleType) -> None:
    hook = Hook()
    fingerprinter = engine.ToolFingerprinter("t", encoder=hook, max_depth=2)
    alive = weakref.ref(hook)
    del hook
    gc.collect()
    assert alive() is not None
    assert fingerprinter([b""]) == engine.tool_fingerprint("t", ["encoded"])
    with pytest.raises(overturn_fast.DepthError):
        fingerprinter([[[]]])
    del fingerprinter
    gc.collect()
    assert alive() is None


def test_a_cycle_through_the_hook_is_collected(engine: ModuleType) -> None:
    hook = Hook()
    hook.fingerprinter = engine.ToolFingerprinter("t", ["a"], ["b"], encoder=hook)
    assert hook.fingerprinter({"a": b""}) == engine.tool_fingerprint("t", {"a": "encoded"})
    alive = weakref.ref(hook)
    del hook
    gc.collect()
    assert alive() is None


def test_the_hook_may_let_go_of_the_fingerprinter_that_calls_it(engine: ModuleType) -> None:
    holder: list[Any] = []

    class Clearing(Hook):
        def __call__(self, value: object) -> object:
            holder.clear()
            gc.collect()
            return "encoded"

    holder.append(engine.ToolFingerprinter("t", ["a"], encoder=Clearing()))
    expected = engine.tool_fingerprint("t", {"a": ["encoded", "encoded"]})
    assert holder[0]({"a": [b"", b""], "b": 1}) == expected


def check_alike(original: Any, other: Any) -> None:
    assert (other.kind, other.name) == (original.kind, original.name)
    assert (other.match_on, other.ignore_args) == (original.match_on, original.ignore_args)
    assert other({"a": 1, "c": 2}) == original({"a": 1})


def test_a_fingerprinter_can_be_copied(engine: ModuleType) -> None:
    original = engine.ToolFingerprinter("t", ["a"], ["b"], kind="k", max_depth=7)
    check_alike(original, copy.copy(original))
    check_alike(original, copy.deepcopy(original))


def test_a_fingerprinter_can_be_pickled() -> None:
    original = overturn_fast.ToolFingerprinter("t", ["a"], ["b"], kind="k", max_depth=7)
    check_alike(original, pickle.loads(pickle.dumps(original)))


def test_a_fingerprinter_is_no_base_class(engine: ModuleType) -> None:
    with pytest.raises(TypeError):
        type("Derived", (engine.ToolFingerprinter,), {})


def test_a_digest_is_that_of_the_text_whatever_its_length(native: ModuleType) -> None:
    """Around the ends of a block, and of the buffer that texts are collected in."""
    for length in (*range(300), *range(16_384 - 300, 16_384 + 100), *range(32_600, 32_800)):
        texts = ["x" * length, ["ab", 1] * (length // 7)]
        for value in texts:
            expected = hashlib.sha256(native.canonical_json(value).encode()).hexdigest()
            assert native.hash_json(value) == expected
