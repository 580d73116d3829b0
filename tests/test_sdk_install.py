"""``install`` and ``uninstall`` with the real Overturn SDK: its values, its replay, its names."""

from __future__ import annotations

import asyncio
import collections
import dataclasses
import datetime
import gc
import importlib
import importlib.metadata
import inspect
import pickle
import random
import subprocess
import sys
import threading
import uuid
import weakref
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

import overturn_fast
from overturn_fast import UntestedVersionError, compat, install, install_check, sdk, uninstall

overturn = pytest.importorskip("overturn")
mcpulse = pytest.importorskip("mcpulse")
tools = importlib.import_module("overturn.tools")
replay = importlib.import_module("overturn.replay")

NAMES = {
    "overturn.canonical_json",
    "overturn.fingerprint",
    "overturn.fingerprint.canonical_json",
    "overturn.fingerprint.fingerprint",
    "overturn.fingerprint.hash_json",
    "overturn.fingerprint.select_args",
    "overturn.fingerprint.tool_fingerprint",
    "overturn.hash_json",
    "overturn.tool_fingerprint",
    "overturn.tools.Tool.bind_args",
    "overturn.tools.tool_fingerprint",
}
MCPULSE_NAMES = {
    "mcpulse.canonical.canonicalize",
    "mcpulse.hashing.args_hash",
    "mcpulse.hashing.canonicalize",
    "mcpulse.hashing.new_session_id",
    "mcpulse.session.new_session_id",
    "mcpulse.types.utf16_length",
    "mcpulse.watch.args_hash",
    "mcpulse.watch.utf16_length",
}


@pytest.fixture(autouse=True)
def _nothing_stays_installed() -> Iterator[None]:
    yield
    uninstall()
    tools.set_replay_state(None)


def module_named(name: str) -> ModuleType:
    """A module by its name in sys.modules: a package may have a function of that name."""
    return sys.modules[name]


def of_sdk(name: str) -> Any:
    """What a function of the SDK is now."""
    return vars(module_named("overturn.fingerprint"))[name]


def bound_in(package: str) -> set[str]:
    """The names of the SDK's own modules that are replaced."""
    return {
        str(binding)
        for binding in sdk.installed_bindings(package)
        if binding.module.split(".")[0] == package
    }


def user_module(name: str, source: str) -> ModuleType:
    module = ModuleType(name)
    sys.modules[name] = module
    exec(source, vars(module))
    return module


# -- names -----------------------------------------------------------------------------------------


def test_every_name_of_the_sdks_is_replaced_and_restored() -> None:
    before = {name: of_sdk(name) for name in compat.__all__ if name != "FINGERPRINT_VERSION"}
    bind_args = tools.Tool.bind_args
    installation = install()
    assert installation.packages == ("overturn", "mcpulse")
    assert installation.new == ("overturn", "mcpulse")
    assert bound_in("overturn") == NAMES
    assert bound_in("mcpulse") == MCPULSE_NAMES
    for name, original in before.items():
        assert of_sdk(name) is not original
        assert of_sdk(name).__wrapped__ is original
    uninstall()
    assert bound_in("overturn") == bound_in("mcpulse") == set()
    assert {name: of_sdk(name) for name in before} == before
    assert tools.Tool.bind_args is bind_args


def test_names_that_other_modules_have_bound_are_replaced_and_restored() -> None:
    module = user_module(
        "a_users_module",
        "from overturn.fingerprint import tool_fingerprint as ours, hash_json\n"
        "from overturn import canonical_json\n"
        "from mcpulse.hashing import args_hash\n"
        "import overturn\n",
    )
    try:
        before = dict(vars(module))
        install()
        for name in ("ours", "hash_json", "canonical_json", "args_hash"):
            assert vars(module)[name] is not before[name]
        assert module.ours is of_sdk("tool_fingerprint")
        later = user_module("a_later_module", "from overturn import tool_fingerprint, Tool\n")
        assert later.tool_fingerprint is of_sdk("tool_fingerprint")
        uninstall()
        assert dict(vars(module)) == before
        assert later.tool_fingerprint is before["ours"]
    finally:
        sys.modules.pop("a_users_module", None)
        sys.modules.pop("a_later_module", None)


def test_a_module_that_left_sys_modules_is_restored_all_the_same() -> None:
    module = user_module("a_users_module", "from overturn import tool_fingerprint\n")
    original = module.tool_fingerprint
    install()
    assert module.tool_fingerprint is not original
    del sys.modules["a_users_module"]
    uninstall()
    assert module.tool_fingerprint is original


def test_names_bound_to_compat_itself_stay_what_they_are() -> None:
    module = user_module(
        "a_users_module", "from overturn_fast.compat import tool_fingerprint, select_args\n"
    )
    try:
        install()
        uninstall()
        assert module.tool_fingerprint is compat.tool_fingerprint
        assert module.select_args is compat.select_args
    finally:
        del sys.modules["a_users_module"]


def test_a_module_that_waits_for_its_first_use_is_not_loaded() -> None:
    spec = importlib.util.find_spec("this")
    assert spec is not None
    assert spec.loader is not None
    loader = importlib.util.LazyLoader(spec.loader)
    spec.loader = loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["this"] = module
    try:
        loader.exec_module(module)
        install()
        uninstall()
        assert type(module).__name__ == "_LazyModule"
    finally:
        del sys.modules["this"]


def test_installing_twice_is_installing_once() -> None:
    install()
    first = of_sdk("tool_fingerprint")
    again = install()
    assert again.packages == ("overturn", "mcpulse")
    assert again.new == ()
    assert of_sdk("tool_fingerprint") is first
    assert not hasattr(first.__wrapped__, "__wrapped__")
    uninstall()
    uninstall()
    assert bound_in("overturn") == set()


def test_one_package_alone() -> None:
    assert install("mcpulse").new == ("mcpulse",)
    assert bound_in("overturn") == set()
    assert install(["overturn"]).new == ("overturn",)
    uninstall("mcpulse")
    assert bound_in("mcpulse") == set()
    assert bound_in("overturn") == NAMES


def test_a_with_block_takes_back_what_it_did() -> None:
    original = of_sdk("tool_fingerprint")
    with install("overturn") as outer:
        assert outer.new == ("overturn",)
        with install() as inner:
            assert inner.new == ("mcpulse",)
        assert bound_in("mcpulse") == set()
        assert bound_in("overturn") == NAMES
        with pytest.raises(ZeroDivisionError), install():
            raise ZeroDivisionError
        assert bound_in("overturn") == NAMES
    assert of_sdk("tool_fingerprint") is original


def test_a_name_that_somebody_else_replaced_meanwhile_stays_theirs() -> None:
    original = of_sdk("tool_fingerprint")
    install()
    vars(tools)["tool_fingerprint"] = theirs = lambda *args: "theirs"
    try:
        uninstall()
        assert tools.tool_fingerprint is theirs
    finally:
        tools.tool_fingerprint = original


def test_threads_may_install_and_uninstall_at_once() -> None:
    original = of_sdk("tool_fingerprint")
    expected = original("t", {"a": 1})
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for _ in range(15):
                if number % 2:
                    install()
                    uninstall()
                else:
                    with install("overturn"):
                        pass
                assert overturn.tool_fingerprint("t", {"a": 1}) == expected
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    uninstall()
    assert of_sdk("tool_fingerprint") is original


def test_the_replacements_look_like_the_sdks_functions() -> None:
    before = {name: inspect.signature(of_sdk(name)) for name in ("fingerprint", "hash_json")}
    install()
    for name, signature in before.items():
        assert inspect.signature(of_sdk(name)) == signature
        assert of_sdk(name).__module__ == "overturn.fingerprint"
        assert pickle.loads(pickle.dumps(of_sdk(name))) is of_sdk(name)
    call = {"name": "t", "args": {"a": 1}, "match_on": None, "ignore_args": ["b"]}
    assert overturn.tool_fingerprint(**call) == compat.tool_fingerprint(**call)


# -- what is refused -------------------------------------------------------------------------------


def test_another_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overturn, "__version__", "0.2.0")
    with pytest.raises(UntestedVersionError) as raised:
        install()
    assert str(raised.value) == (
        "overturn is of version 0.2.0; tested is 0.1.4. "
        "Pass force=True to install into it all the same"
    )
    error = raised.value
    assert (error.package, error.found, error.tested) == ("overturn", "0.2.0", ("0.1.4",))
    assert bound_in("overturn") == bound_in("mcpulse") == set()
    assert install("mcpulse").new == ("mcpulse",)
    assert install(force=True).new == ("overturn",)
    assert bound_in("overturn") == NAMES


def test_the_version_of_the_distribution_counts_too(monkeypatch: pytest.MonkeyPatch) -> None:
    version = importlib.metadata.version
    monkeypatch.setattr(
        importlib.metadata,
        "version",
        lambda name: "9.9" if name == "mcpulse-sdk" else version(name),
    )
    with pytest.raises(
        UntestedVersionError, match=r"mcpulse is of version 9\.9; tested is 0\.1\.0"
    ):
        install()


def test_a_version_that_nobody_states_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    monkeypatch.delattr(mcpulse, "__version__")
    with pytest.raises(UntestedVersionError, match="mcpulse is of version unknown"):
        install("mcpulse")


def test_a_function_that_is_missing_is_refused_or_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(module_named("overturn.fingerprint"), "select_args")
    with pytest.raises(UntestedVersionError, match=r"0\.1\.4 without overturn\.fingerprint\.sel"):
        install()
    install(force=True)
    assert bound_in("overturn") == NAMES - {"overturn.fingerprint.select_args"}


def test_packages_that_are_not_there_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="'requests' cannot be installed into; known are: overt"):
        install("requests")
    with pytest.raises(ValueError, match="'x', 'y' cannot be installed into"):
        uninstall(["x", "y"])
    for name in [n for n in sys.modules if n.split(".")[0] in ("overturn", "mcpulse")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mcpulse", None)
    with pytest.raises(ModuleNotFoundError):
        install("mcpulse")
    monkeypatch.setitem(sys.modules, "overturn", None)
    with pytest.raises(ModuleNotFoundError, match="none is installed of: overturn, mcpulse"):
        install()
    uninstall()


def test_install_imports_what_is_not_imported_yet() -> None:
    program = (
        "import sys, overturn_fast\n"
        "assert 'overturn' not in sys.modules\n"
        "overturn_fast.install()\n"
        "from overturn import tool_fingerprint\n"
        "print(tool_fingerprint.__wrapped__.__module__)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout == "overturn.fingerprint\n"


# -- the SDK's tools, with and without -------------------------------------------------------------


class Customer:
    """Attributes of an object are arguments like any others."""

    def __init__(self, number: int) -> None:
        self.number = number

    def find(self, email: str, limit: int = 10) -> list[str]:
        return [email] * limit


@dataclasses.dataclass
class Filters:
    region: str
    since: datetime.date | None = None


def look_up(email: str, limit: int = 10, *, exact: bool = False) -> dict[str, Any]:
    return {"email": email, "limit": limit, "exact": exact}


def variadic(first: Any, *rest: Any, flag: bool = True, **named: Any) -> list[Any]:
    return [first, *rest]


def positional(a: int, b: int = 2, /, c: int = 3) -> int:
    return a + b + c


def nothing() -> None:
    return None


def failing(reason: str) -> None:
    raise LookupError(reason)


async def ask(question: str, context: Any = None) -> str:
    return f"answer to {question}"


async def failing_later(reason: str) -> None:
    raise LookupError(reason)


ARGUMENTS: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = [
    (look_up, (" a@b.c ",), {}),
    (look_up, ("a@b.c", 5), {"exact": True}),
    (look_up, (), {"limit": 1.0, "email": "é\u2028"}),
    (look_up, (), {"exact": None, "email": uuid.UUID(int=1), "limit": 10**22}),
    (look_up, (), {}),  # does not fit: bound as it was given
    (look_up, ("a", 1, True), {}),
    (look_up, ("a",), {"email": "b"}),
    (look_up, ("a",), {"unknown": 1}),
    (variadic, (1,), {}),
    (variadic, (1, 2, (3, None)), {"flag": False, "x": {"y": [b"raw"]}}),
    (variadic, (), {}),
    (positional, (1,), {}),
    (positional, (1, 5), {"c": 7}),
    (positional, (1,), {"b": 5}),
    (nothing, (), {}),
    (nothing, (1,), {}),
    (failing, ("no such customer",), {}),
    (ask, ("why?",), {"context": Filters("EMEA", datetime.date(2026, 1, 2))}),
    (ask, ("when?", Customer(7)), {}),
    (failing_later, ("later",), {}),
    (Customer(1).find, ("a@b.c",), {"limit": 2}),
    (Customer(1).find, (), {"email": collections.UserString("")}),
]
DECLARED: list[dict[str, Any]] = [
    {},
    {"match_on": ["email", "question", "first", "a"]},
    {"ignore_args": ["limit", "flag", "context"]},
    {"match_on": ("limit",), "ignore_args": ("email",)},
    {"name": "called something else", "side_effect": True},
]


def outcome_of(call: Callable[[], Any]) -> Any:
    """What a tool returns, awaited if need be, or raises."""
    try:
        result = call()
        return asyncio.run(result) if inspect.isawaitable(result) else result
    except Exception as error:
        return type(error), str(error)


def steps_of(program: Callable[[], Any]) -> list[dict[str, Any]]:
    """The steps that a program's tools record on a run, without times and ids."""
    steps: list[Any] = []

    def keep(step: Any) -> None:
        steps.append(step)

    client = overturn.Overturn(api_key="key", redact=keep, background=False)
    with client.run(agent="test"):
        program()
    chosen = ("kind", "name", "input", "output", "error", "side_effect", "fingerprint", "seq")
    return [{field: getattr(step, field) for field in chosen} for step in steps]


def everything_called() -> list[Any]:
    results = []
    for declared in DECLARED:
        for function, args, kwargs in ARGUMENTS:
            tool = overturn.Tool(function, **declared)
            bound = tool.bind_args(*args, **kwargs)
            results.append((bound, list(bound)))
            results.append(tool.fingerprint(*args, **kwargs))
            results.append(outcome_of(lambda: tool(*args, **kwargs)))  # noqa: B023
    return results


def test_tools_have_the_same_fingerprints_results_and_steps_with_and_without() -> None:
    results: list[Any] = []
    plain = steps_of(lambda: results.append(everything_called()))
    with install():
        assert bound_in("overturn") == NAMES
        installed = steps_of(lambda: results.append(everything_called()))
    assert len(plain) > 50
    assert plain == installed
    assert results[0] == results[1]
    assert len({step["fingerprint"] for step in plain}) > 20


def test_decorated_functions_have_the_same_fingerprints_with_and_without() -> None:
    def declare() -> list[Any]:
        @overturn.tool
        def plain(query: str, limit: int = 5) -> str:
            """Find."""
            return query * limit

        @overturn.tool(match_on=["query"], side_effect=True)
        async def sending(query: str, when: Any = None) -> str:
            return query

        return [
            plain("a"),
            plain.fingerprint("a", limit=2),
            asyncio.run(sending("x")),
            sending.fingerprint(" x ", when=datetime.datetime(2026, 1, 2)),
            (plain.name, plain.description, sending.match_on, sending.side_effect),
        ]

    expected = declare()
    with install():
        assert declare() == expected
    assert expected[1] == compat.tool_fingerprint("plain", {"query": "a", "limit": 2})


def test_a_tool_declared_before_is_as_good_as_one_declared_after() -> None:
    tool = overturn.Tool(look_up)
    before = tool.fingerprint(" a ", 3)
    install()
    assert tool.fingerprint("a", limit=3.0) == before == overturn.Tool(look_up).fingerprint("a", 3)
    tool._sig = inspect.signature(variadic)
    assert tool.bind_args(1, 2) == {"first": 1, "rest": (2,), "flag": True, "named": {}}


def random_function(source: random.Random) -> Callable[..., Any]:
    """A function of any signature of few parameters."""
    kinds = ["{}", "{}=0", "{}: int = 1"]
    names = source.sample("abcdef", source.randrange(6))
    by_position = sorted(source.choice(kinds).format(name) for name in names)
    by_position.sort(key=lambda parameter: "=" in parameter)
    if by_position and source.random() < 0.2:
        by_position.insert(source.randrange(1, len(by_position) + 1), "/")
    parameters = by_position
    if source.random() < 0.5:
        by_name = [source.choice(kinds).format(name) for name in source.sample("xyz", 2)]
        parameters = [*by_position, source.choice(["*", "*rest"]), *by_name]
    if source.random() < 0.2:
        parameters = [*parameters, "**others"]
    namespace: dict[str, Any] = {}
    exec(f"def function({', '.join(parameters)}): pass", namespace)
    return namespace["function"]  # type: ignore[no-any-return]


def test_random_signatures_are_bound_as_the_sdk_binds_them() -> None:
    source = random.Random(7)
    calls = []
    for _ in range(1_500):
        args = tuple(range(source.randrange(5)))
        kwargs = {name: source.randrange(9) for name in source.sample("abcdefxyz", 3)}
        given = dict(source.sample(list(kwargs.items()), source.randrange(4)))
        calls.append((overturn.Tool(random_function(source)), args, given))
    expected = [list(tool.bind_args(*args, **given).items()) for tool, args, given in calls]
    with install():
        for _ in range(2):  # first learning the signature, then knowing it
            got = [list(tool.bind_args(*args, **given).items()) for tool, args, given in calls]
            assert got == expected


def test_tools_are_freed_with_what_is_known_of_them() -> None:
    install()
    tool = overturn.Tool(look_up)
    tool.bind_args("a")
    reference = weakref.ref(tool)
    del tool
    gc.collect()
    assert reference() is None


# -- the SDK's functions ---------------------------------------------------------------------------


def behaviours() -> dict[str, Any]:
    """What the SDK promises of its fingerprints, one thing after the other."""
    text, digest = overturn.canonical_json, overturn.tool_fingerprint
    return {
        "keys are sorted": text({"b": 1, "a": {"d": 2, "c": 3}}) == '{"a":{"c":3,"d":2},"b":1}',
        "none is left out": text({"a": None, "b": [None, 1]}) == '{"b":[1]}',
        "none is null on top": text(None) == "null",
        "text is trimmed": text(["  x\t", "\u3000y"]) == '["x","y"]',
        "integral floats are ints": text([1.0, -0.0, 1e20]) == "[1,0,100000000000000000000]",
        "large floats have exponents": text([1e21, 1e-7]) == "[1e+21,1e-7]",
        "no infinity": text([float("nan"), float("inf")]) == "[null,null]",
        "arrays keep their order": text([3, 1, 2]) == "[3,1,2]",
        "moments are in UTC": text(datetime.datetime(2026, 1, 2)) == '"2026-01-02T00:00:00.000Z"',
        "no escapes but those of JSON": text('é"\n\x01') == '"é\\"\\n\\u0001"',
        "the tool's name counts": digest("a", {}) != digest("b", {}),
        "the kind counts": overturn.fingerprint("x", "a", {}) != digest("a", {}),
        "only what is declared counts": digest("t", {"a": 1, "b": 2}, ["a"])
        == digest("t", {"a": 1}),
        "what is ignored does not": digest("t", {"a": 1, "b": 2}, None, ["b"])
        == digest("t", {"a": 1}),
        "to declare wins": digest("t", {"a": 1, "b": 2}, ["a"], ["a"]) == digest("t", {"a": 1}),
        "missing keys are omitted": digest("t", {"a": 1}, ["a", "z"]) == digest("t", {"a": 1}),
        "64 digits": len(digest("t", {})) == 64,
        "hash_json is of the text alone": overturn.hash_json({})
        == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
    }


@pytest.mark.parametrize("is_installed", [False, True], ids=["without", "with"])
def test_what_the_sdk_promises_holds(is_installed: bool) -> None:
    if is_installed:
        install()
    assert [name for name, holds in behaviours().items() if not holds] == []


def test_the_worked_values_are_those_of_the_contract() -> None:
    install()
    args = {"ticketId": "T-1", "priority": "P0", "requestId": "x"}
    assert overturn.tool_fingerprint("close_ticket", args, ["ticketId"]) == (
        "3f9dc7eb2894bd8c7ba03c560b22654b8e55785965d9950689dad15c53c9c9b2"
    )


# -- replay ----------------------------------------------------------------------------------------


def recorded() -> dict[str, Any]:
    """Recordings as a run makes them."""
    steps = steps_of(
        lambda: [
            overturn.Tool(look_up)(" a@b.c ", 3),
            overturn.Tool(look_up, match_on=["email"], name="by_email")("x", limit=99),
            asyncio.run(overturn.Tool(ask)("why?", context={"n": 10**22, "id": uuid.UUID(int=1)})),
        ]
    )
    return {
        step["fingerprint"]: {"name": step["name"], "args": step["input"], "output": step["output"]}
        for step in steps
    }


@pytest.mark.parametrize("when", ["before", "after", "both", "neither"])
def test_a_replay_answers_whenever_it_was_recorded(when: str) -> None:
    if when in ("after", "both"):
        install()
    recordings = recorded()
    assert len(recordings) == 3
    uninstall()
    if when in ("before", "both"):
        install()
    state = replay.ReplayState(recordings)
    tools.set_replay_state(state)
    assert overturn.Tool(look_up)("a@b.c", limit=3.0) == {
        "email": " a@b.c ",
        "limit": 3,
        "exact": False,
    }
    assert overturn.Tool(look_up, match_on=["email"], name="by_email")(" x", limit=1)["limit"] == 99
    later = overturn.Tool(ask)("why?", context={"id": uuid.UUID(int=2), "n": 10**22})
    assert asyncio.run(later) == "answer to why?"
    assert [call.status for call in state.calls] == ["answered"] * 3


@pytest.mark.parametrize("is_installed", [False, True], ids=["without", "with"])
def test_a_call_without_a_recording_is_not_made(is_installed: bool) -> None:
    recordings = recorded()
    if is_installed:
        install()
    made: list[str] = []

    def making(email: str) -> None:
        made.append(email)

    state = replay.ReplayState(recordings)
    tools.set_replay_state(state)
    tool = overturn.Tool(making)
    with pytest.raises(overturn.UnreplayableError) as raised:
        tool("new@b.c")
    assert raised.value.fingerprint == tool.fingerprint("new@b.c")
    assert raised.value.fingerprint == compat.tool_fingerprint("making", {"email": "new@b.c"})
    refused = overturn.Tool(making, side_effect=True)
    with pytest.raises(overturn.SideEffectRefusedError):
        refused("a@b.c")
    assert made == []
    assert [call.status for call in state.calls] == ["unseen", "refused"]


# -- mcpulse's functions ---------------------------------------------------------------------------


def test_mcpulse_computes_the_same_with_and_without() -> None:
    canonical = module_named("mcpulse.canonical")
    hashing = module_named("mcpulse.hashing")
    values: list[Any] = [
        None,
        {},
        {"query": "é😀", "limit": 25, "ratio": 0.1, "none": None},
        [1.0, -0.0, 2**53 + 1, 1e21, "\ud800"],
        {"\ufb33": 1, "😀": 2},
    ]
    expected = [(canonical.canonicalize(v), hashing.args_hash(v)) for v in values]
    with install("mcpulse"):
        assert [(canonical.canonicalize(v), hashing.args_hash(v)) for v in values] == expected
        for bad in (float("nan"), {1: 2}, {"a": b"x"}):
            with pytest.raises(canonical.CanonicalizeError):
                canonical.canonicalize(bad)
            assert hashing.args_hash(bad) == "000000000000"
        assert module_named("mcpulse.types").utf16_length("é😀") == 3
        assert hashing.new_session_id().startswith("s_")


# -- install_check ---------------------------------------------------------------------------------


def test_the_check_says_what_is_installed_replaced_and_how_fast_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(install_check, "_ROUNDS", 1)
    monkeypatch.setattr(install_check, "_SECONDS_A_ROUND", 0.0)
    assert install_check.main([]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(
        f"overturn_fast {overturn_fast.__version__}, {overturn_fast.backend} backend, "
    )
    assert "overturn 0.1.4: tested" in lines
    assert "mcpulse 0.1.0: tested" in lines
    replaced = {line.split()[1] for line in lines if line.startswith("  replaced  ")}
    assert replaced >= NAMES | MCPULSE_NAMES
    timed = [line.split()[0] for line in lines if line.endswith(" times as fast")]
    assert timed == [
        *("canonical_json", "hash_json", "select_args", "tool_fingerprint"),
        *("canonicalize", "args_hash"),
    ]
    assert bound_in("overturn") == set()


def test_the_check_leaves_an_installation_as_it_was(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(install_check, "_ROUNDS", 1)
    install("overturn")
    assert install_check.main([]) == 0
    assert bound_in("overturn") == NAMES
    assert bound_in("mcpulse") == set()


def test_the_check_reports_versions_that_are_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(install_check, "_ROUNDS", 1)
    monkeypatch.setattr(overturn, "__version__", "0.2.0")
    assert install_check.main([]) == 1
    output = capsys.readouterr().out
    assert "overturn 0.1.4 / 0.2.0: not tested; tested is 0.1.4\n  refused by install()" in output
    assert install_check.main(["--force"]) == 0


def test_the_check_finds_values_that_differ(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(install_check, "_ROUNDS", 1)
    monkeypatch.setattr(module_named("overturn.fingerprint"), "hash_json", lambda value: "other")
    assert install_check.main([]) == 1
    assert "  other values than the SDK's: hash_json\n" in capsys.readouterr().out


def test_the_check_runs_as_a_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "overturn_fast.install_check"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
