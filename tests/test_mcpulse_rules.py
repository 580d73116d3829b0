"""The rules of an MCPulse producer: never throw, never keep customer data.

The rule between them, never block, is tested in ``test_mcpulse_buffer.py``.
"""

from __future__ import annotations

import asyncio
import gc
import itertools
import json
import secrets
import threading
import traceback
import weakref
from collections.abc import Callable, Iterator
from types import FrameType, FunctionType, ModuleType
from typing import Any

import pytest

from overturn_fast import mcpulse
from overturn_fast.mcpulse import EventBuffer
from overturn_fast.mcpulse.wire import checked_event

SESSION = "s_0123456789ab"

# -- values that do what they can to get in the way ------------------------------------------------

HOOKS = [
    *("__getattr__", "__getattribute__", "__len__", "__iter__", "__next__", "__contains__"),
    *("__getitem__", "__eq__", "__ne__", "__lt__", "__hash__", "__bool__", "__str__", "__repr__"),
    *("__format__", "__int__", "__float__", "__index__", "__call__", "__bytes__", "__enter__"),
    *("__instancecheck__", "__subclasscheck__", "items", "keys", "values", "get", "model_dump"),
    *("strip", "encode", "copy", "astimezone", "isoformat", "rstrip", "startswith"),
]
BASES = [object, dict, list, tuple, str, int, float, set]
CONTENTS: dict[type, list[Any]] = {
    dict: [{"content": 1, "name": "t", "type": "call", "result": 2}],
    list: [[1, 2]],
    tuple: [(1, 2)],
    str: ["text"],
    int: [7],
    float: [7.5],
    set: [{1}],
}


def hostile(base: type, error: BaseException) -> Any:
    """A value of a subclass of which every method raises."""

    def fail(*args: Any, **options: Any) -> Any:
        raise error

    members: dict[str, Any] = dict.fromkeys(HOOKS, fail)
    members["__class__"] = property(fail)
    cls = type("Hostile", (base,), members)
    return base.__new__(cls) if base is object else filled(base, cls)


def filled(base: type, cls: type) -> Any:
    """An instance of a subclass of a built-in type, with something in it."""
    (content,) = CONTENTS[base]
    if base in (dict, list, set):
        value = base.__new__(cls)
        base.__init__(value, content)
        return value
    return base.__new__(cls, content)


def hostile_metaclass(error: BaseException) -> Any:
    """A value of a class that does not even tell its name."""

    def fail(*args: Any) -> Any:
        raise error

    members = ("__getattribute__", "__repr__", "__instancecheck__", "__subclasscheck__", "__eq__")
    meta = type("Meta", (type,), {**dict.fromkeys(members, fail), "__hash__": type.__hash__})
    return object.__new__(meta("Hostile", (), {}))


class HostileKey:
    """Collides with a field's name and then does not let itself be compared."""

    def __init__(self, name: str, error: BaseException) -> None:
        self.name = name
        self.error = error

    def __hash__(self) -> int:
        return hash(self.name)

    def __eq__(self, other: object) -> bool:
        raise self.error


def hostile_values(error: BaseException) -> Iterator[Any]:
    for base in BASES:
        value = hostile(base, error)
        yield value
        yield [value]
        yield {"content": [value], "name": "t"}
        yield {"structuredContent": value}
    yield hostile_metaclass(error)
    yield {HostileKey("type", error): 1}
    yield {HostileKey("content", error): 1}
    yield {HostileKey("name", error): 1}


ENTRIES: dict[str, Callable[[Any], Any]] = {
    "args_hash": mcpulse.args_hash,
    "utf16_length": mcpulse.utf16_length,
    "json_size": mcpulse.json_size,
    "json_size(max_depth=)": lambda value: mcpulse.json_size([], max_depth=value),
    "args_hash(max_depth=)": lambda value: mcpulse.args_hash([], max_depth=value),
    "is_empty_result": mcpulse.is_empty_result,
    "is_empty_result(content)": lambda value: mcpulse.is_empty_result({"content": [value]}),
    "session_for(endpoint)": lambda value: mcpulse.session_for(value, "k"),
    "session_for(key)": lambda value: mcpulse.session_for("e", value),
    "remember_client": lambda value: mcpulse.session_for("", "").remember_client(value),
    "call_event(session)": lambda value: mcpulse.call_event(value, "t"),
    "call_event(tool_name)": lambda value: mcpulse.call_event(SESSION, value),
    "call_event(args)": lambda value: mcpulse.call_event(SESSION, "t", value),
    "call_event(result)": lambda value: mcpulse.call_event(SESSION, "t", None, value),
    "call_event(outcome)": lambda value: mcpulse.call_event(SESSION, "t", outcome=value),
    "call_event(duration_ms)": lambda value: mcpulse.call_event(SESSION, "t", duration_ms=value),
    "call_event(started_at)": lambda value: mcpulse.call_event(SESSION, "t", started_at=value),
    "call_event(client_name)": lambda value: mcpulse.call_event(SESSION, "t", client_name=value),
    "startup_event(session)": lambda value: mcpulse.startup_event(value, []),
    "startup_event(tools)": lambda value: mcpulse.startup_event(SESSION, value),
    "startup_event(tool)": lambda value: mcpulse.startup_event(SESSION, [value]),
    "startup_event(client_name)": lambda value: mcpulse.startup_event(
        SESSION, [], client_name=value
    ),
    "EventBuffer(transport)": lambda value: EventBuffer(value).close(0),
    "EventBuffer(options)": lambda value: EventBuffer(
        print, capacity=value, batch_size=value, interval=value
    ),
    "add": lambda value: EventBuffer(print).add(value),
    "add(field)": lambda value: EventBuffer(print).add(
        {**mcpulse.call_event(SESSION, "t"), "tool_name": value}  # type: ignore[typeddict-item]
    ),
    "flush": lambda value: EventBuffer(print).flush(value),
    "close": lambda value: EventBuffer(print).close(value),
    "buffer": lambda value: mcpulse.session_for("buffer", "k").buffer(value),
}


# -- never throw -----------------------------------------------------------------------------------


@pytest.mark.parametrize("entry", ENTRIES)
def test_no_entry_point_raises_an_exception(entry: str) -> None:
    for value in hostile_values(RuntimeError("hostile")):
        ENTRIES[entry](value)


@pytest.mark.parametrize("entry", [name for name in ENTRIES if "_event(" in name])
def test_events_of_hostile_values_are_still_events(entry: str) -> None:
    for value in hostile_values(RuntimeError("hostile")):
        event = ENTRIES[entry](value)
        assert checked_event(event) == event


def test_engines_measure_hostile_values_alike(native: ModuleType, pure: ModuleType) -> None:
    for value in hostile_values(RuntimeError("hostile")):
        for function in ("args_hash", "json_size", "utf16_length"):
            assert getattr(native, function)(value) == getattr(pure, function)(value)


def test_canonicalize_raises_nothing_but_its_own_error() -> None:
    raised = 0
    for value in hostile_values(RuntimeError("hostile")):
        try:
            mcpulse.canonicalize(value)
        except mcpulse.CanonicalizeError:
            raised += 1
    assert raised


def stopping(error: BaseException) -> dict[str, Callable[[], Any]]:
    """Calls in the middle of which ``error`` comes up."""
    model = hostile(object, error)
    mapping = hostile(dict, error)
    return {
        "args_hash": lambda: mcpulse.args_hash({"a": [mapping]}),
        "canonicalize": lambda: mcpulse.canonicalize({"a": [mapping]}),
        "json_size": lambda: mcpulse.json_size(model),
        "json_size of items": lambda: mcpulse.json_size([mapping]),
        "is_empty_result": lambda: mcpulse.is_empty_result(model),
        "call_event(args)": lambda: mcpulse.call_event(SESSION, "t", mapping),
        "call_event(result)": lambda: mcpulse.call_event(SESSION, "t", None, model),
        "call_event(duration_ms)": lambda: mcpulse.call_event(SESSION, "t", duration_ms=model),
        "call_event(started_at)": lambda: mcpulse.call_event(SESSION, "t", started_at=model),
        "startup_event": lambda: mcpulse.startup_event(SESSION, [model]),
        "EventBuffer": lambda: EventBuffer(print, interval=model),
        "flush": lambda: EventBuffer(print).flush(model),
        "add": lambda: EventBuffer(print).add(
            {HostileKey("type", error): 1}  # type: ignore[arg-type,dict-item]
        ),
    }


@pytest.mark.parametrize(
    "error",
    [KeyboardInterrupt(), SystemExit(3), asyncio.CancelledError(), GeneratorExit()],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.parametrize("entry", stopping(KeyboardInterrupt()))
def test_what_stops_a_program_passes_through(entry: str, error: BaseException) -> None:
    with pytest.raises(type(error)) as raised:
        stopping(error)[entry]()
    assert raised.value is error


def test_both_engines_let_what_stops_a_program_pass(engine: ModuleType) -> None:
    for function in (engine.args_hash, engine.json_size):
        error = KeyboardInterrupt()
        with pytest.raises(KeyboardInterrupt) as raised:
            function([hostile(dict, error)])
        assert raised.value is error


def test_a_task_can_be_cancelled_in_the_middle_of_recording() -> None:
    reached = []

    class Result:
        def model_dump(self, **options: Any) -> Any:
            asyncio.current_task().cancel()  # type: ignore[union-attr]
            return {}

    async def call(buffer: EventBuffer) -> None:
        buffer.add(mcpulse.call_event(SESSION, "t", {}, Result()))
        reached.append("recorded")
        await asyncio.sleep(0)
        reached.append("not cancelled")

    async def main() -> None:
        buffer = EventBuffer(lambda batch: None)
        task = asyncio.create_task(call(buffer))
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(buffer.close, 300)
        assert buffer.stats.sent == 1

    asyncio.run(main())
    assert reached == ["recorded"]


def test_a_cancelled_task_that_waits_for_the_transport_is_cancelled() -> None:
    may_return = threading.Event()

    async def main() -> None:
        buffer = EventBuffer(lambda batch: may_return.wait(300), batch_size=1)
        buffer.add(mcpulse.call_event(SESSION, "t"))
        waiting = asyncio.create_task(asyncio.to_thread(buffer.flush, 300))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        may_return.set()

    asyncio.run(main())


# -- never keep customer data ----------------------------------------------------------------------


class Secret(str):
    """Text that can be seen to be gone."""

    __slots__ = ("__weakref__",)


def marker() -> str:
    """A part of all secrets of a test that stands in no source text."""
    return f"planted-{secrets.token_hex(12)}"


def planted(mark: str) -> dict[str, Any]:
    """Arguments and results with secrets wherever there is room for one."""

    def secret() -> Secret:
        return Secret(f"{mark}-{secrets.token_hex(4)}")

    class Model:
        def __init__(self) -> None:
            self.content = [{"type": "text", "text": secret()}]

        def model_dump(self, **options: Any) -> Any:
            return {"content": self.content, "structuredContent": {secret(): secret()}}

    class Raising(dict):  # type: ignore[type-arg]
        def items(self) -> Any:
            raise ValueError(secret())

        get = model_dump = __iter__ = __len__ = __str__ = items

    nested = {secret(): [secret(), {"a": secret(), "ключ": (secret(),)}]}
    cycle: list[Any] = [secret()]
    cycle.append(cycle)
    deep: Any = secret()
    for _ in range(12_000):
        deep = [deep]
    return {
        "nested": nested,
        "model": Model(),
        "raising": Raising(a=secret()),
        "set": {secret()},
        "key": {(secret(),): 1},
        "bytes": {"a": secret().encode()},
        "nan": {secret(): float("nan")},
        "cycle": cycle,
        "deep": deep,
        "text": secret(),
        "tool": {"name": "t", "description": secret(), "inputSchema": {"title": secret()}},
    }


def strings_of(root: object) -> Iterator[str]:
    """Every text that can be reached from an object, but not through modules and code."""
    seen: set[int] = set()
    pending = [root]
    while pending:
        value = pending.pop()
        kind = type(value)
        if id(value) in seen or issubclass(kind, (ModuleType, FunctionType, FrameType, type)):
            continue
        seen.add(id(value))
        if issubclass(kind, str):
            yield value  # type: ignore[misc]
        elif issubclass(kind, bytes):
            yield value.decode("latin-1")  # type: ignore[attr-defined]
        else:
            pending += gc.get_referents(value)


def record_all(mark: str, buffer: EventBuffer) -> list[weakref.ref[Secret]]:
    """Give every planted value to every function that takes one; tell what must be gone after."""
    values = planted(mark)
    watched = [
        weakref.ref(text)
        for value in values.values()
        for text in strings_of(value)
        if type(text) is Secret
    ]
    assert len(watched) > 8
    for args, result in itertools.product(values.values(), repeat=2):
        event = mcpulse.call_event(SESSION, "t", args, result)
        assert mark not in repr(event)
        assert mark not in json.dumps(event)
        assert buffer.add(event)
    startup = mcpulse.startup_event(SESSION, list(values.values()))
    assert mark not in json.dumps(startup)
    assert buffer.add(startup)
    for value in values.values():
        assert buffer.add(value) is False
        assert buffer.add({**startup, "args": value}) is False  # type: ignore[typeddict-unknown-key]
        mcpulse.args_hash(value)
        mcpulse.json_size(value)
        mcpulse.is_empty_result(value)
        session = mcpulse.session_for(value, value)
        assert mark not in repr(session)
    return watched


def test_nothing_of_arguments_and_results_is_kept_or_sent(
    capfd: pytest.CaptureFixture[str],
) -> None:
    mark = marker()
    sent: list[str] = []

    def transport(batch: list[mcpulse.Event]) -> None:
        sent.append(json.dumps(batch))
        if len(sent) % 2:
            raise RuntimeError(f"{mark} in the text of an error")

    buffer = EventBuffer(transport, interval=1e6)
    watched = record_all(mark, buffer)
    assert mark not in "".join(strings_of(buffer))
    assert mark not in repr(buffer) + repr(buffer.stats)
    assert buffer.close(300)
    assert buffer.stats.sent
    assert buffer.stats.failed
    assert not any(mark in text for text in sent)
    gc.collect()
    assert [secret() for secret in watched if secret() is not None] == []
    for held in (buffer, buffer.stats, *sessions()):
        held_strings = "".join(strings_of(held))
        assert mark not in held_strings
    assert longer_strings(mark) == []
    output = capfd.readouterr()
    assert mark not in output.out + output.err


def sessions() -> list[object]:
    from overturn_fast import _fork
    from overturn_fast.mcpulse import session

    return [session._sessions, list(_fork._renewables)]


def longer_strings(mark: str) -> list[str]:
    """The texts with a secret in them that any container of the process still holds."""
    gc.collect()
    return [
        text
        for container in gc.get_objects()
        # Modules: gc.get_referents of _asyncio corrupts memory before CPython 3.12.6 (gh-122695).
        if not issubclass(type(container), (FrameType, ModuleType))
        for text in gc.get_referents(container)
        if type(text) in (str, Secret) and mark in text and text != mark
    ]


def test_errors_of_canonicalize_name_paths_and_types_only() -> None:
    mark = marker()
    values = planted(mark)
    for name in ("set", "cycle", "deep"):
        with pytest.raises(mcpulse.CanonicalizeError) as raised:
            mcpulse.canonicalize(values[name])
        assert mark not in str(raised.value) + repr(raised.value)
        assert mark not in "".join(traceback.format_exception_only(raised.value))


def test_the_registry_of_sessions_holds_neither_endpoint_nor_key() -> None:
    mark = marker()
    session = mcpulse.session_for(f"https://{mark}.example.com", f"mp_live_{mark}")
    assert mark not in "".join(strings_of(sessions()))
    assert mark not in "".join(strings_of(session))
