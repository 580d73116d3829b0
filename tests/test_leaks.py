"""Memory: nothing is lost over many calls, whether they succeed or fail, and little is held."""

from __future__ import annotations

import collections
import contextlib
import datetime
import decimal
import gc
import itertools
import os
import resource
import subprocess
import sys
from collections import OrderedDict, UserDict
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from peak_memory import PEAK

import overturn_fast
from overturn_fast import pleach
from overturn_fast._pure import fingerprints
from overturn_fast.pleach.fingerprint import _KINDS as KINDS

# Of each case on the native engine; fewer where the run is about the twin, and on the twin, which
# has no memory of its own to lose.
REPETITIONS = 100_000 if overturn_fast.backend == "native" else 10_000
REPETITIONS_OF_THE_TWIN = 2_000

# What measuring itself and the memory allocator's habits may account for; the smallest leak, of
# one object in each of the repetitions, is more than either.
BLOCKS_ALLOWED = 1_000
BYTES_ALLOWED = 6 << 20

MEGABYTE = 1 << 20


def resident_bytes() -> int:
    """The memory that the process holds: now where the system tells, else at its peak."""
    with contextlib.suppress(OSError):
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


class Target:
    """What only a hook can turn into something."""

    def model_dump(self) -> None: ...


class Unreadable:
    def model_dump(self) -> Any:
        raise OSError("disk")


class Text(str):
    pass


class Loose(UserDict):  # type: ignore[type-arg]
    pass


class Lost(LookupError):
    """Not a built-in class, whose references Python does not count."""


def fail(_: object) -> object:
    raise Lost("lost")


def interrupt(_: object) -> object:
    raise KeyboardInterrupt


TARGET = Target()
# Made at run time: Python never frees the names that it finds in source code.
KEYS = tuple("-".join(parts) for parts in (("i", "d"), ("n", "m"), ("é", "é"), ("x", "x" * 15)))
CALL = {"ticketId": "T-1", "priority": "P0", "é": [1.5, None, {"b": 2**70}], "\ud83d\ude00": True}
CYCLE: list[Any] = [1]
CYCLE.append({"a": CYCLE})
DEEP: Any = []
for _ in range(20):
    DEEP = [DEEP]


class Interrupting(Loose):
    def __iter__(self) -> Iterator[str]:
        raise KeyboardInterrupt


LLM_CALL: dict[str, Any] = {
    "model": "m-1",
    "family": "f-1",
    "callClass": "c-1",
    "runtimeMode": "interactive",
    "messages": [CALL, Loose(b=1)],
    "systemPrompt": "é" * 9,
    "tools": [{"name": "web", "x": [1]}, {"name": "calc"}],
    "temperature": 0.75,
    "seed": 2**40,
    "activeSafetyPolicies": [("a", "1")],
}
LLM_TURNS: Iterator[Any] = itertools.cycle(
    [
        LLM_CALL,
        pleach.FingerprintInput.from_mapping(
            {**LLM_CALL, "runtimeMode": pleach.RuntimeMode.CODING_AGENT}
        ),
        {**LLM_CALL, "tools": pleach.ToolCatalog([]), "systemPrompt": pleach.SystemPrompt("x")},
        {**LLM_CALL, "messages": ["x" * 40_000], "tools": None},
        # Those that are not usual, or wrong.
        *(
            {**LLM_CALL, "tools": tools}
            for tools in ([{"name": "a"}] * 2, [{"name": "a"}, {}], [CYCLE])
        ),
        *(
            {**LLM_CALL, "tools": [{"name": "a"}, {"name": "b", "x": value}]}
            for value in (b"", CYCLE)
        ),
        *({**LLM_CALL, "messages": [1, value]} for value in (CYCLE, b"", Unreadable())),
        *({**LLM_CALL, "systemPrompt": prompt} for prompt in ("\ud800", Text("x"), 1)),
        *({**LLM_CALL, "runtimeMode": mode} for mode in ("x", Text("interactive"), None)),
        {**LLM_CALL, "runtime_mode": "interactive"},
        {**LLM_CALL, "model": "é"},
        {**LLM_CALL, "seed": 2**60},
        {**LLM_CALL, "activeSafetyPolicies": [("a", "@")]},
        {**LLM_CALL, 1: 1},
        Loose(LLM_CALL),
    ]
)

Case = Callable[[ModuleType], Any]


def counted(counter: Any) -> Any:
    """A counter after some use of each of its methods."""
    counter.observe([CALL, Loose(a=[{"é": b""}], b=TARGET)], 5)
    counter.observe_text(b'{"a": [1, {"\\u00e9": null}], "long name of a member": 2}', None, 3)
    counter.observe_lines(b'{"a": 1}\n{"a": }\n[{"b": {}}, {"c": []}]\n', at=7)
    exported = counter.export()
    counter.clear()
    counter.observe({"after": ["clear"]})
    return exported


def fingerprint_of_call(engine: ModuleType, call: Any) -> Any:
    """By the short way, unless it has no canonical form."""
    with contextlib.suppress(overturn_fast.CanonicalizationError):
        return engine.call_fingerprint(KINDS, call, "1.1.0", 1)
    return None


SUCCESSES: dict[str, Case] = {
    "a call of compat": lambda e: e.compat_tool_fingerprint(
        "t", {"a": [1.5, 2**70, {"é": 10**30}]}
    ),
    "a call of compat selected by Python": lambda e: e.compat_fingerprint(
        "k", "n", Loose(a=1), {"a"}, "b"
    ),
    "keys of compat": lambda e: e.compat_canonical_json(
        [{1: 2, "1": None, Text("k"): {}}, {1: None, "1": 2, None: [3]}, {True: KEYS}]
    ),
    "conversions of compat": lambda e: e.compat_hash_json(
        [b"x", Text("x"), {3}, datetime.datetime(2026, 1, 2), Loose(b=2), range(3), True]
    ),
    "what compat leaves to the twin": lambda e: e.compat_canonical_json(["\ud800", {"a": 1}]),
    "a small call": lambda e: e.tool_fingerprint("t", {"ticketId": "T-1", "priority": "P0"}),
    "a call of many parts": lambda e: e.tool_fingerprint("t", CALL),
    "a selected call": lambda e: e.tool_fingerprint("t", CALL, ["ticketId", "é"]),
    "a call selected by Python": lambda e: e.tool_fingerprint("t", Loose(a=1), None, ("b",)),
    "a fingerprint": lambda e: e.fingerprint("k\ud800", "né", {1: 2, "1": 3}, (), ()),
    "many calls": lambda e: e.fingerprint_many([("t", CALL), {"name": "t", "args": None}]),
    "a fingerprinter": lambda e: e.ToolFingerprinter("t", ["a"], encoder=str)({"a": TARGET}),
    "scalars": lambda e: e.canonical_json([1, 2**64, -(10**30), 0.1, 1e300, "é\ud800", Text("x")]),
    "conversions": lambda e: e.canonical_json(
        [datetime.date(2026, 1, 2), decimal.Decimal(1), {3, "x"}, OrderedDict(a=1), Loose(b=2)]
    ),
    "a hook": lambda e: e.canonical_json([TARGET, {"a": TARGET}], encoder=lambda _: {"k": ["v"]}),
    "records": lambda e: e.hash_json([dict.fromkeys(KEYS, i) for i in range(4)]),
    "records and a hook": lambda e: e.hash_json(
        [*[dict.fromkeys(KEYS, i) for i in range(4)], TARGET, dict.fromkeys(KEYS, 0)], encoder=str
    ),
    "many keys": lambda e: e.hash_json({**dict.fromkeys(range(60)), **CALL, "n": {"é": "é" * 99}}),
    "deep nesting": lambda e: e.hash_json({"a": DEEP}),
    "deep nesting and a hook": lambda e: e.hash_json([DEEP, [[TARGET]]], encoder=lambda _: DEEP),
    "a text of some size": lambda e: e.canonical_json(["x" * 17_000, "é"]),
    "sets of sets": lambda e: e.hash_json({frozenset([1, frozenset("ab")]), (2, "x" * 99)}),
    "a hash of arguments": lambda e: [
        e.args_hash(value) for value in (None, CALL, CYCLE, {"a": b""}, Unreadable(), DEEP)
    ],
    "sizes": lambda e: [
        e.json_size(value)
        for value in (CALL, CYCLE, DEEP, [OrderedDict(a=1), 2**70, 0.1], {2: [b""]}, Unreadable())
    ],
    "lengths": lambda e: [e.utf16_length(value) for value in ("é😀", Text("x"), b"", None)],
    "shapes": lambda e: [
        (e.shape(value, profile=profile), e.shape_fingerprint(value, profile=profile))
        for profile, keys in (("seed", {2: b"", 1: TARGET}), ("v2", {**CALL, 1: b""}))
        for value in (
            [{key: [number] for key in KEYS} for number in range(4)],
            [Loose(b=2), keys, TARGET, [{"é": "é", "k" * 9: {1, 2}}], DEEP],
            {f"key {number}": number for number in range(80)},
        )
    ],
    "a counter": lambda e: counted(e.shape_counter()),
    "calls of a language model": lambda e: fingerprint_of_call(e, next(LLM_TURNS)),
    "another profile": lambda e: e.canonical_with("pleach", [CALL["é"], "\ud800", {"é": 1}]),
}

FAILURES: dict[str, tuple[type[BaseException], Case]] = {
    "a type without form": (
        overturn_fast.UnsupportedTypeError,
        lambda e: e.canonical_json({"a": [1, {"é": b""}], **CALL}),
    ),
    "a type without form after a conversion": (
        overturn_fast.UnsupportedTypeError,
        lambda e: e.hash_json([{1, "x"}, {"a": {2, b""}}]),
    ),
    "an unreadable value": (
        overturn_fast.UnsupportedTypeError,
        lambda e: e.tool_fingerprint("t", {"a": Unreadable(), "b": "é"}),
    ),
    "unreadable arguments": (
        overturn_fast.UnsupportedTypeError,
        lambda e: e.tool_fingerprint("t", Unreadable(), ["a"]),
    ),
    "a key without text": (
        overturn_fast.KeyTypeError,
        lambda e: e.canonical_json({"é": 1, "a": {1: 2, "\ud800": 3, b"": 4}}),
    ),
    "a large int": (
        overturn_fast.IntegerDomainError,
        lambda e: e.canonical_with("jcs", {"é": 1, "a": [2**70]}),
    ),
    "an int past the doubles": (
        overturn_fast.IntegerDomainError,
        lambda e: e.canonical_with("mcpulse", [{"é": 1}, 2**1024]),
    ),
    "a float that is not finite": (
        overturn_fast.FloatDomainError,
        lambda e: e.canonical_with("pleach", [{"é": float("inf")}]),
    ),
    "a surrogate": (
        overturn_fast.SurrogateError,
        lambda e: e.canonical_with("jcs", [{"é": "x\ud800"}]),
    ),
    "a surrogate in a key": (
        overturn_fast.SurrogateError,
        lambda e: e.canonical_with("jcs", [{"é": 1, "é\ud800": 2}]),
    ),
    "a shape without end": (
        overturn_fast.CircularReferenceError,
        lambda e: e.shape({"é": [CALL, {"a": Loose(b=CYCLE)}]}),
    ),
    "a shape with an unreadable part": (
        overturn_fast.UnsupportedTypeError,
        lambda e: e.shape([CALL, Loose(a=collections.deque([1]))]),
    ),
    "a shape with a key that has no text": (
        overturn_fast.KeyTypeError,
        lambda e: e.shape_fingerprint([CALL, {"é": 1, b"": 2}], profile="v2"),
    ),
    "a shape with a key that has no UTF-8": (
        overturn_fast.SurrogateError,
        lambda e: e.shape_fingerprint([{"é": 1, "é\ud800": 2}]),
    ),
    "a shape that is too deep": (
        overturn_fast.DepthError,
        lambda e: e.shape_fingerprint({"é": DEEP}, max_depth=18, profile="v2"),
    ),
    "a shape of an unknown profile": (ValueError, lambda e: e.shape(CALL, profile="v3")),
    "a counter of a wrong text": (
        overturn_fast.JSONTextError,
        lambda e: e.shape_counter().observe_text(b'{"\\u00e9": [1, {}'),
    ),
    "a counter of a wrong value": (
        overturn_fast.CircularReferenceError,
        lambda e: e.shape_counter(3).observe([Loose(a=CALL), CYCLE], at=5),
    ),
    "a counter of a wrong argument": (
        TypeError,
        lambda e: e.shape_counter().observe(CALL, 5, when=5),
    ),
    "a cycle": (overturn_fast.CircularReferenceError, lambda e: e.hash_json({"é": CYCLE})),
    "too deep": (overturn_fast.DepthError, lambda e: e.hash_json({"é": DEEP}, max_depth=10)),
    "too deep by far": (overturn_fast.DepthError, lambda e: e.hash_json([DEEP], max_depth=18)),
    "a raising hook": (Lost, lambda e: e.canonical_json([CALL, TARGET], encoder=fail)),
    "an interrupted hook": (
        KeyboardInterrupt,
        lambda e: e.canonical_json({"a": [TARGET], **CALL}, encoder=interrupt),
    ),
    "a hook that returns its argument": (
        overturn_fast.CircularReferenceError,
        lambda e: e.canonical_json([TARGET], encoder=lambda value: value),
    ),
    "a hook without end": (
        overturn_fast.DepthError,
        lambda e: e.canonical_json([TARGET], encoder=lambda _: Target(), max_depth=3),
    ),
    "a wrong call of many": (
        overturn_fast.UnsupportedTypeError,
        lambda e: e.fingerprint_many([("t", CALL), ("t", {"a": b""})]),
    ),
    "a call of no known form": (ValueError, lambda e: e.fingerprint_many([{"name": "t"}])),
    "a bare match_on": (TypeError, lambda e: e.tool_fingerprint("t", CALL, "ticketId")),
    "a name that is no str": (TypeError, lambda e: e.ToolFingerprinter(5, ["a"])),
    "a kind with a newline": (ValueError, lambda e: e.fingerprint("a\nb", "t", CALL)),
    "a wrong limit": (TypeError, lambda e: e.canonical_json(CALL, max_depth="5")),
    "a wrong hook": (TypeError, lambda e: e.hash_json(CALL, encoder=5)),
    "a wrong argument": (TypeError, lambda e: e.canonical_json(CALL, other=1)),
    "an interrupted call of a language model": (
        KeyboardInterrupt,
        lambda e: e.call_fingerprint(
            KINDS if e is not fingerprints else interrupt(0),
            {**LLM_CALL, "tools": [{"name": "a", "x": Interrupting()}, {"name": "b"}]},
            "1.1.0",
            1,
        ),
    ),
    "an unknown profile": (KeyError, lambda e: e.canonical_with("other", CALL)),
}

# Objects that a wrong count of references would betray.
WITNESSES: list[Any] = [
    *(TARGET, CALL, CALL["é"], CYCLE, CYCLE[1], DEEP, KEYS, *KEYS, fail, interrupt, Loose, Target),
    *(overturn_fast.UnsupportedTypeError, overturn_fast.DepthError, overturn_fast.KeyTypeError),
    *(Lost, Text, Unreadable, "ticketId", "\ud83d\ude00", None, pleach.Fingerprint, *KINDS),
    *(pleach.RuntimeMode.INTERACTIVE, LLM_CALL, *LLM_CALL.values(), LLM_CALL["tools"][0]),
]


def references() -> list[int]:
    gc.collect()
    return [sys.getrefcount(witness) for witness in WITNESSES]


def measured() -> tuple[int, int, int]:
    """Blocks of Python's allocator, objects known to the collector, bytes of the process."""
    for _ in range(3):
        gc.collect()
    return sys.getallocatedblocks(), len(gc.get_objects()), resident_bytes()


def check_for_leaks(engine: ModuleType, run_once: Callable[[], None]) -> None:
    repetitions = REPETITIONS_OF_THE_TWIN if engine is fingerprints else REPETITIONS
    for _ in range(repetitions // 50):
        run_once()
    before, counts = measured(), references()
    for _ in range(repetitions):
        run_once()
    assert references() == counts
    blocks, objects, size = (now - then for now, then in zip(measured(), before, strict=True))
    assert blocks < BLOCKS_ALLOWED, f"{blocks} blocks more after {repetitions} calls"
    assert objects < BLOCKS_ALLOWED, f"{objects} objects more after {repetitions} calls"
    assert size < BYTES_ALLOWED, f"{size} bytes more after {repetitions} calls"


cpython_only = pytest.mark.skipif(
    sys.implementation.name != "cpython", reason="counts references as CPython does"
)


@pytest.fixture(scope="module", autouse=True)
def _frozen() -> Iterator[None]:
    """Keep what is there before these tests out of the collections that they ask for."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@cpython_only
@pytest.mark.memory
@pytest.mark.parametrize("case", SUCCESSES)
def test_a_call_that_succeeds_leaves_nothing_behind(engine: ModuleType, case: str) -> None:
    call = SUCCESSES[case]
    check_for_leaks(engine, lambda: call(engine))


@cpython_only
@pytest.mark.memory
@pytest.mark.parametrize("case", FAILURES)
def test_a_call_that_fails_leaves_nothing_behind(engine: ModuleType, case: str) -> None:
    error, call = FAILURES[case]

    def run_once() -> None:
        try:
            call(engine)
        except error:
            return
        raise AssertionError("no error")

    check_for_leaks(engine, run_once)


AUDITED = b"""{"name":"t\\u00e9","args":{"a":[[9007199254740993]],"\\ud800":"x\\u001f","b":1e400}}
{"name":"u","args":{"\xc3\xa9":1,"\\u00e9":2,"c":{"d":%b}},"matchOn":["c","\\u00e9"]}
[1]
{"name":"t","args":{"a":,}}
""" % (b"[" * 400 + b"9007199254740993" + b"]" * 400)


@cpython_only
@pytest.mark.memory
def test_an_audit_leaves_nothing_behind(audit_engine: ModuleType) -> None:
    array = b"[%b]" % b",".join([*AUDITED.splitlines()[:3], b"5 6"])

    def run_once() -> None:
        audit = audit_engine.CallAudit(1_000, tools=1, groups=3)
        assert len(audit.add_lines(AUDITED)) == 2
        assert len(audit.add_items(array, is_last=True).refused) == 2
        assert len(audit.groups()) == 3

    check_for_leaks(fingerprints, run_once)


@cpython_only
@pytest.mark.memory
def test_a_leak_would_be_seen(engine: ModuleType) -> None:
    kept: list[Any] = []
    with pytest.raises(AssertionError, match="blocks more"):
        check_for_leaks(engine, lambda: kept.append([engine.hash_json({})]))


# -- peak ------------------------------------------------------------------------------------------

PROGRAM = (
    PEAK
    + """
import overturn_fast
value = {value}
overturn_fast.hash_json("x")
before = peak()
digest = overturn_fast.hash_json(value)
after = peak()
ballast = bytearray(b"x") * (after - before + (200 << 20))
assert peak() - before > 150 << 20, "the measure is blind"
print(after - before)
"""
)


@pytest.mark.memory
@pytest.mark.parametrize(
    "value",
    [
        '"x" * 50_000_000',
        "'\"' * 50_000_000",
        '"\\x00" * 50_000_000',
        '"\\xe9" * 50_000_000',
        '"\\u4e2d" * 25_000_000',
        '"\\U0001f600" * 12_500_000',
        '" " * 25_000_000 + "x" * 25_000_000',
        '{"key": ["x" * 50_000_000]}',
    ],
    ids=["ascii", "quotes", "nul", "latin", "cjk", "emoji", "spaces", "nested"],
)
def test_hashing_fifty_megabytes_takes_less_than_110_more(native: ModuleType, value: str) -> None:
    environment = {**os.environ, "OVERTURN_FAST_BACKEND": "native"}
    environment["PYTHONPATH"] = str(Path(overturn_fast.__file__).parent.parent)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.replace("{value}", value)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) < 110 * MEGABYTE
