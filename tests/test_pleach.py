"""Fingerprints of LLM calls: what is a part of the key and how, and what is refused."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
import math
import pickle
import random
import re
import shutil
import struct
import subprocess
import sys
import textwrap
from collections import UserDict
from collections.abc import Iterator
from types import MappingProxyType, ModuleType
from typing import Any

import pytest
from conftest import DATA
from hypothesis import given
from hypothesis import strategies as st

from overturn_fast import (
    CanonicalizationError,
    CircularReferenceError,
    SurrogateError,
    backend,
    pleach,
)
from overturn_fast.pleach import (
    Fingerprint,
    FingerprintConfig,
    FingerprintInput,
    FingerprintMetadata,
    InputError,
    InputTypeError,
    RuntimeMode,
    SystemPrompt,
    TenantError,
    ToolCatalog,
    build_metadata,
    compute_fingerprint,
    is_cache_eligible,
)
from overturn_fast.pleach.fields import IDENTITY_FIELDS
from overturn_fast.pleach.fingerprint import _by_steps, _short_way
from overturn_fast.pleach.temperature import bucket

CALL: dict[str, Any] = {
    "model": "claude-sonnet-4-5",
    "family": "anthropic",
    "call_class": "synthesize",
    "runtime_mode": "interactive",
    "messages": [{"role": "user", "content": "Hello"}],
    "system_prompt": "You are helpful.",
    "tools": [{"name": "web", "x": 1}, {"name": "calc"}],
    "temperature": 0.7,
    "seed": 42,
    "tenant_id": "org_abc",
    "active_safety_policies": [{"id": "compliance.pii-redaction", "version": "1.2.0"}],
}
HASH = "e724193cb30452a2239cb45e932421469d59a2903394320dfb7605d5fa1557c6"
BARE = {key: CALL[key] for key in ("model", "family", "call_class", "runtime_mode", "messages")}


def hash_of(**changed: Any) -> str:
    return compute_fingerprint({**CALL, **changed}).hash


def camel(name: str) -> str:
    head, *tail = name.split("_")
    return head + "".join(part.capitalize() for part in tail)


def sha(value: Any) -> str:
    """Of JSON text by the standard library; enough for ASCII strings and small ints."""
    text = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


# -- the worked value, and the parts of the key ----------------------------------------------------


def test_the_worked_call_has_the_hash_of_the_contract() -> None:
    fingerprint = compute_fingerprint(CALL)
    assert fingerprint.hash == HASH
    assert fingerprint.prompt_hash.startswith("013cf0c0")
    assert fingerprint.prompt_hash.endswith("9a37")


def test_the_key_is_the_sorted_object_of_the_fields_that_are_present() -> None:
    key = {
        "callClass": "synthesize",
        "family": "anthropic",
        "model": "claude-sonnet-4-5",
        "pleachVersion": "1.1.0",
        "promptHash": sha([{"content": "Hello", "role": "user"}]),
        "runtimeMode": "interactive",
        "safetyPoliciesHash": sha(["compliance.pii-redaction@1.2.0"]),
        "seed": 42,
        "systemPromptHash": sha("You are helpful."),
        "temperatureBucket": 0.7,
        "tenantId": "org_abc",
        "toolsHash": sha([{"name": "calc"}, {"name": "web", "x": 1}]),
    }
    fingerprint = compute_fingerprint(CALL)
    assert fingerprint.to_dict() == {"hash": sha(key), **key}
    absent = ("safetyPoliciesHash", "seed", "systemPromptHash", "temperatureBucket", "tenantId")
    bare = {name: value for name, value in key.items() if name not in absent}
    bare["toolsHash"] = sha("[]")
    assert compute_fingerprint(BARE).to_dict() == {"hash": sha(bare), **bare}


def test_none_is_absent_and_an_empty_prompt_is_present() -> None:
    optional = [name for name in CALL if name not in BARE]
    assert compute_fingerprint({**BARE, **dict.fromkeys(optional)}) == compute_fingerprint(BARE)
    with_empty = compute_fingerprint(BARE, system_prompt="")
    assert with_empty.system_prompt_hash == sha("")
    assert with_empty != compute_fingerprint(BARE)
    assert compute_fingerprint(BARE, tools=[]) == compute_fingerprint(BARE)
    assert compute_fingerprint(BARE, active_safety_policies=[]) == compute_fingerprint(BARE)


CHANGES: dict[str, Any] = {
    "model": "claude-opus-4",
    "family": "openai",
    "call_class": "plan",
    "runtime_mode": "headless-job",
    "messages": [{"role": "user", "content": "Hello "}],
    "system_prompt": "You are helpful",
    "tools": [{"name": "web", "x": 2}, {"name": "calc"}],
    "temperature": 0.8,
    "seed": 0,
    "tenant_id": "org_abd",
    "active_safety_policies": [{"id": "compliance.pii-redaction", "version": "1.2.1"}],
}


@pytest.mark.parametrize("field", CHANGES)
def test_every_key_field_changes_the_hash_and_diff_names_it(field: str) -> None:
    assert set(CHANGES) == set(CALL)
    before, after = compute_fingerprint(CALL), compute_fingerprint(CALL, **{field: CHANGES[field]})
    assert before != after
    assert before.distance(after) == 1
    spelled = {"messages": "promptHash", "tools": "toolsHash", "temperature": "temperatureBucket"}
    spelled |= {"system_prompt": "systemPromptHash", "active_safety_policies": "safetyPoliciesHash"}
    assert before.diff(after).startswith(f"{spelled.get(field, camel(field))} ")


def test_another_version_of_the_substrate_changes_the_hash() -> None:
    other = compute_fingerprint(CALL, FingerprintConfig(pleach_version="1.2.0"))
    assert compute_fingerprint(CALL).diff(other) == "pleachVersion 1.1.0 -> 1.2.0"


@given(st.dictionaries(st.sampled_from(IDENTITY_FIELDS), st.text("ab é/", min_size=1)))
def test_no_identity_field_changes_the_hash(identity: dict[str, str]) -> None:
    assert compute_fingerprint({**CALL, **identity}).hash == HASH
    assert build_metadata({**CALL, **identity}).to_dict() == {
        camel(name): value for name, value in identity.items()
    }


def test_an_input_is_made_of_key_fields_and_identity_fields_alone() -> None:
    fields = {field.name for field in dataclasses.fields(FingerprintInput)}
    assert fields == set(CALL) | set(IDENTITY_FIELDS)
    assert {camel(name) for name in IDENTITY_FIELDS} == {
        "chatId",
        "sessionId",
        "messageId",
        "userId",
        "orgId",
        "environmentId",
        "workspaceId",
        "evalRunId",
        "replayOfEventId",
        "recordedAt",
    }
    assert [f.name for f in dataclasses.fields(FingerprintMetadata)] == list(IDENTITY_FIELDS)
    assert not isinstance(FingerprintInput(**CALL), FingerprintMetadata)


# -- ways to say the same --------------------------------------------------------------------------


def test_an_input_may_be_keywords_a_dataclass_or_a_mapping_in_either_spelling() -> None:
    spelled = {camel(name): value for name, value in CALL.items()}
    for same in (
        CALL,
        spelled,
        UserDict(CALL),
        MappingProxyType(spelled),
        FingerprintInput(**CALL),
    ):
        assert compute_fingerprint(same).hash == HASH
    assert compute_fingerprint(**CALL).hash == compute_fingerprint(**spelled).hash == HASH
    assert compute_fingerprint(CALL, runtime_mode=RuntimeMode.INTERACTIVE).hash == HASH
    assert compute_fingerprint(FingerprintInput(**CALL), seed=1).hash == hash_of(seed=1)


def test_handles_give_the_same_hash() -> None:
    tools, prompt = ToolCatalog(CALL["tools"]), SystemPrompt(CALL["system_prompt"])
    assert hash_of(tools=tools, system_prompt=prompt) == HASH
    assert hash_of(tools=ToolCatalog([])) == hash_of(tools=None)
    assert (tools.names, len(tools), prompt.text) == (("calc", "web"), 2, "You are helpful.")
    assert {tools, ToolCatalog(CALL["tools"][::-1])} == {tools}
    assert {prompt, SystemPrompt("You are helpful.")} == {prompt}
    assert tools != prompt
    assert pickle.loads(pickle.dumps(tools)) == tools


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(-1e9, 1e9) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)


def shuffled(value: Any, seed: int) -> Any:
    """The same value with the keys of every object in another order."""
    if isinstance(value, list):
        return [shuffled(item, seed) for item in value]
    if isinstance(value, dict):
        items = [(key, shuffled(item, seed)) for key, item in value.items()]
        random.Random(seed).shuffle(items)
        return dict(items)
    return value


NAMES = st.text(st.sampled_from("ab~é\ue000\U0001f600\ud7ff"), min_size=1, max_size=3)
POLICY = st.tuples(st.sampled_from(["a", "b@c", "é"]), st.sampled_from(["1", "2", "10"]))


@given(
    st.lists(st.dictionaries(st.text(), JSON, max_size=5), max_size=3),
    st.lists(st.tuples(NAMES, JSON), max_size=6, unique_by=repr),
    st.lists(POLICY, max_size=5),
    st.integers(0, 2**32),
)
def test_order_makes_no_difference(
    messages: list[Any], named: list[Any], policies: list[Any], seed: int
) -> None:
    tools = list(
        {pleach.canonicalize(t): t for t in ({"name": n, "x": x} for n, x in named)}.values()
    )
    call = {"messages": messages, "tools": tools, "active_safety_policies": policies}
    other = {key: shuffled(value, seed) for key, value in call.items()}
    random.Random(seed).shuffle(other["tools"])
    random.Random(seed).shuffle(other["active_safety_policies"])
    assert hash_of(**call) == hash_of(**other)
    assert ToolCatalog(tools).hash == compute_fingerprint(BARE, tools=tools).tools_hash


def test_tools_are_sorted_by_utf16_unit_and_those_of_one_name_by_their_text() -> None:
    high, low = "\U0001f600", "\uffff"  # by code point the other way round
    tools = [{"name": low}, {"name": high}]
    assert ToolCatalog(tools).names == (high, low)
    text = json.dumps([{"name": high}, {"name": low}], separators=(",", ":"), ensure_ascii=False)
    assert ToolCatalog(tools).hash == sha(text)
    twins = [{"name": "t", "v": 2}, {"name": "t", "v": 1}]
    assert ToolCatalog(twins).hash == sha([{"name": "t", "v": 1}, {"name": "t", "v": 2}])


def test_policies_are_sorted_by_id_and_version_and_repeats_are_dropped() -> None:
    policies = [("b", "10"), {"id": "a.b", "version": "1"}, ("b", "9"), ("a", "2"), ("b", "10")]
    fingerprint = compute_fingerprint(BARE, active_safety_policies=policies)
    # "a" before "a.b", though "a.b@1" is before "a@2" as text
    assert fingerprint.safety_policies_hash == sha(["a@2", "a.b@1", "b@10", "b@9"])


def test_the_input_is_not_changed_and_the_order_of_messages_counts() -> None:
    tools = [{"name": "b"}, {"name": "a"}]
    hash_of(tools=tools)
    assert tools == [{"name": "b"}, {"name": "a"}]
    assert hash_of(messages=[1, 2]) != hash_of(messages=[2, 1])
    assert hash_of(messages=(1, 2)) == hash_of(messages=[1, 2])


# -- the short way of the C core, and every step in full -------------------------------------------

USUAL: dict[str, dict[str, Any]] = {
    "all": {},
    "camel-case": {camel(name): value for name, value in CALL.items()},
    "bare": {name: None for name in CALL if name not in BARE},
    "many-tools": {"tools": [{"name": f"tool_{n * 7 % 40}", "n": n} for n in range(40)]},
    "long-names": {"tools": [{"name": "a" * n} for n in (9, 8, 10, 1)]},
    "long-prompt": {"system_prompt": "é" * 70_000},
    "long-messages": {"messages": [{"content": "x" * 100_000}] * 2},
    "long-tools": {"tools": [{"name": "t", "text": 'é"' * 30_000}]},
    "handles": {"tools": ToolCatalog(CALL["tools"]), "system_prompt": SystemPrompt("\u20ac")},
    "escapes": {"model": 'a"\\\n', "tenant_id": "\x7f\x01"},
    "member": {"runtime_mode": RuntimeMode.CODING_AGENT},
    "int-temperature": {"temperature": 1, "seed": -(2**53) + 1},
    "tuples": {"messages": (1, [2, (3,)]), "tools": ({"name": "a"},)},
    "values-of-other-types": {"messages": [MappingProxyType({"b": 1, "a": UserDict(x=2)})]},
}
UNUSUAL: dict[str, dict[str, Any]] = {
    "model": {"model": "modèle"},
    "mode": {"runtime_mode": type("Word", (str,), {})("interactive")},
    "tool": {"tools": [UserDict({"name": "a"})]},
    "tool-name": {"tools": [{"name": "é"}, {"name": "a"}]},
    "twin-tools": {"tools": [{"name": "a", "x": 2}, {"name": "a", "x": 1}]},
    "prompt": {"system_prompt": type("Word", (str,), {})("x")},
    "messages": {"messages": type("Items", (list,), {})([1])},
    "temperature": {"temperature": 1e290},
    "seed": {"seed": type("Count", (int,), {})(3)},
    "version": {"pleach_version": "1.é"},
}


def both_ways(changed: dict[str, Any]) -> tuple[Fingerprint | None, Fingerprint]:
    """The fingerprint by the short way, if it leads there, and by the steps."""
    changed = dict(changed)
    config = FingerprintConfig(pleach_version=changed.pop("pleach_version", "1.1.0"))
    given = changed if "callClass" in changed else {**CALL, **changed}
    return _short_way(given, config), _by_steps(FingerprintInput.from_mapping(given), config)


@pytest.mark.parametrize("changed", USUAL.values(), ids=USUAL)
def test_the_short_way_makes_what_the_steps_make(changed: dict[str, Any]) -> None:
    short, full = both_ways(changed)
    if backend == "python":
        assert short is None
    else:
        assert short is not None
        assert dataclasses.astuple(short) == dataclasses.astuple(full)
        assert short.runtime_mode is full.runtime_mode
        assert type(short) is Fingerprint
        assert pickle.loads(pickle.dumps(short)) == full


@pytest.mark.parametrize("changed", UNUSUAL.values(), ids=UNUSUAL)
def test_what_is_not_usual_goes_by_the_steps(changed: dict[str, Any]) -> None:
    short, full = both_ways(changed)
    assert short is None
    assert len(full.hash) == 64


@given(
    st.lists(JSON, max_size=4),
    st.lists(st.tuples(st.text("ab0~", min_size=1, max_size=10), JSON), max_size=9),
    st.none() | st.text(),
    st.none() | st.floats(-4, 4),
    st.integers(0, 15),
)
def test_both_ways_lead_to_one_fingerprint(
    messages: list[Any], named: list[Any], prompt: Any, temperature: Any, precision: int
) -> None:
    tools = [{"name": name, "x": value} for name, value in dict(named).items()]
    config = FingerprintConfig(temperature_precision=precision)
    call = FingerprintInput("m", "f", "c", "headless-job", messages, prompt, tools, temperature)
    try:
        full = _by_steps(call, config)
    except CanonicalizationError as error:
        with pytest.raises(type(error), match=f"^{re.escape(str(error))}$"):
            compute_fingerprint(call, config)
    else:
        assert dataclasses.astuple(compute_fingerprint(call, config)) == dataclasses.astuple(full)


def test_a_hook_may_ask_for_a_fingerprint_of_its_own() -> None:
    class Asking(UserDict[str, Any]):
        def __iter__(self) -> Iterator[str]:
            self.data["inner"] = compute_fingerprint(CALL).hash
            return iter(self.data)

    plain = {"role": "user", "inner": HASH}
    assert hash_of(messages=[Asking(role="user")]) == hash_of(messages=[plain])


def test_a_list_that_a_hook_changes_meanwhile_does_no_harm() -> None:
    tools: list[Any] = [{"name": f"t{n}"} for n in range(50)]
    messages: list[Any] = []

    class Clearing(UserDict[str, Any]):
        def __iter__(self) -> Iterator[str]:
            messages.clear()
            tools.clear()
            return iter(self.data)

    messages += [Clearing(role="user"), *({"n": [n]} for n in range(50))]
    call = {**CALL, "messages": messages, "tools": tools}
    assert len(compute_fingerprint(call).hash) == 64


def test_what_stops_a_program_passes_through() -> None:
    stopped: list[str] = []

    class Stopping(UserDict[str, Any]):
        def __iter__(self) -> Iterator[str]:
            if stopped:
                return iter(self.data)
            stopped.append("once")
            raise KeyboardInterrupt

    for name in ("messages", "tools"):
        stopped.clear()
        with pytest.raises(KeyboardInterrupt):
            hash_of(**{name: [{"name": "a", "x": Stopping()}]})


@pytest.mark.parametrize("field", ["messages", "tools"])
def test_a_hook_that_fails_is_called_once(field: str) -> None:
    calls: list[int] = []

    class Failing(UserDict[str, Any]):
        def __iter__(self) -> Iterator[str]:
            calls.append(1)
            raise OSError("disk")

    items = [{"name": "z", "x": Failing()}, {"name": "a"}]
    with pytest.raises(CanonicalizationError, match=rf"^{field}\[0\].x: reading .* failed"):
        hash_of(**{field: items})
    assert calls == [1]


@pytest.mark.parametrize("field", ["messages", "tools"])
def test_a_hook_that_calls_itself_without_end_is_an_error(field: str) -> None:
    class Endless(UserDict[str, Any]):
        def __iter__(self) -> Iterator[str]:
            hash_of(**{field: [{"name": "a", "x": Endless()}]})
            return iter(self.data)

    with pytest.raises(CanonicalizationError, match=rf"^{field}\[0\].x: reading"):
        hash_of(**{field: [{"name": "a", "x": Endless()}]})


def test_a_hook_that_calls_itself_does_not_meet_the_end_of_the_stack() -> None:
    code = """
        import threading
        from collections import UserDict
        from overturn_fast import CanonicalizationError
        from overturn_fast.pleach import compute_fingerprint

        call = {"model": "m", "family": "f", "callClass": "c", "runtimeMode": "interactive"}

        class Endless(UserDict):
            def __iter__(self):
                compute_fingerprint({**call, "messages": [Endless()]})
                return iter(self.data)

        def ask():
            try:
                compute_fingerprint({**call, "messages": [Endless()]})
            except CanonicalizationError:
                print("stopped")

        threading.stack_size(2 * 1024 * 1024)
        thread = threading.Thread(target=ask)
        thread.start()
        thread.join()
        """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "stopped\n"), done.stderr


def test_a_mapping_is_read_by_its_keys_whatever_its_attributes() -> None:
    class Both(dict[str, Any]):
        model = "another"

    assert compute_fingerprint(Both(CALL)).hash == HASH


# -- temperatures ----------------------------------------------------------------------------------


def double(digits: str) -> float:
    return float(struct.unpack(">d", bytes.fromhex(digits))[0])


def test_buckets_are_those_of_javascript() -> None:
    rows = json.loads((DATA / "pleach" / "temperature.json").read_text())["rows"]
    assert len(rows) > 1_900
    for digits, precision, expected in rows:
        if expected is None:
            with pytest.raises(InputError, match="temperature: is too large for a precision"):
                bucket(double(digits), precision)
        else:
            # JavaScript may give -0, whose JSON text is that of 0.
            assert bucket(double(digits), precision) == double(expected), (digits, precision)
            config = FingerprintConfig(temperature_precision=precision)
            found = compute_fingerprint(BARE, config, temperature=double(digits)).temperature_bucket
            for rounded in (bucket(double(digits), precision), found):
                assert rounded is not None
                assert math.copysign(1, rounded) == math.copysign(1, double(expected) or 0.0)
            assert found == double(expected), (digits, precision)


_NODE = """
const data = require("fs").readFileSync(0); const out = Buffer.alloc(data.length / 9 * 8);
for (let i = 0; i < data.length / 9; i++) {
  const scale = 10 ** data[i * 9 + 8];
  out.writeDoubleBE(Math.round(data.readDoubleBE(i * 9) * scale) / scale, i * 8);
}
process.stdout.write(out);
"""


def a_million_temperatures() -> list[tuple[float, int]]:
    """The same in every run, with every precision from 0 to 15; many of them halves."""
    source = random.Random(6)
    temperatures = [source.random() * 2 for _ in range(500_000)]
    temperatures += [n / 200_000 for n in range(-100_000, 400_000)]
    return [(temperature, n % 16) for n, temperature in enumerate(temperatures)]


@pytest.fixture(scope="module")
def buckets() -> list[float]:
    """Those of a million temperatures."""
    return [bucket(*one) for one in a_million_temperatures()]


def test_a_million_buckets_have_the_digest_of_those_of_node(buckets: list[float]) -> None:
    told = json.loads((DATA / "pleach" / "million.json").read_text())["sha256"]
    assert hashlib.sha256(struct.pack(f">{len(buckets)}d", *buckets)).hexdigest() == told


def test_a_million_buckets_are_those_of_node_where_it_is_installed(buckets: list[float]) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node")
    packed = b"".join(struct.pack(">dB", *one) for one in a_million_temperatures())
    told = subprocess.run([node, "-e", _NODE], input=packed, capture_output=True, check=True).stdout
    assert len(buckets) == 1_000_000
    assert list(struct.unpack(f">{len(buckets)}d", told)) == buckets


def test_fingerprints_have_the_same_buckets(buckets: list[float]) -> None:
    # The C core has code of its own to round them.
    configs = [FingerprintConfig(temperature_precision=precision) for precision in range(16)]
    asked = zip(a_million_temperatures(), buckets, strict=True)
    for (temperature, precision), rounded in itertools.islice(asked, 0, None, 97):
        fingerprint = compute_fingerprint(BARE, configs[precision], temperature=temperature)
        assert fingerprint.temperature_bucket == rounded


def test_the_bucket_is_in_the_key_and_precision_is_a_matter_of_the_config() -> None:
    assert hash_of(temperature=0.1 + 0.6) == HASH
    assert hash_of(temperature=-0.04) == hash_of(temperature=0) == hash_of(temperature=-0.0)
    fine = FingerprintConfig(temperature_precision=2)
    assert compute_fingerprint(CALL, fine, temperature=0.704).temperature_bucket == 0.7
    assert compute_fingerprint(CALL, fine, temperature=0.705).temperature_bucket == 0.71


@pytest.mark.parametrize(
    ("temperature", "seed", "eligible"),
    [
        (0, None, True),
        (-0.0, None, True),
        (5e-324, None, False),  # whose bucket is 0
        (0.04, None, False),
        (None, None, False),
        (1, 0, True),
        (None, -7, True),
    ],
)
def test_a_call_is_eligible_that_is_greedy_or_seeded(
    temperature: Any, seed: Any, eligible: bool
) -> None:
    assert is_cache_eligible(temperature, seed) is eligible
    assert is_cache_eligible(temperature=temperature, seed=seed) is eligible


# -- what is refused -------------------------------------------------------------------------------

BAD: list[tuple[str, Any, str, str]] = [
    ("temperature", math.nan, "temperature", "must be a finite number"),
    ("temperature", math.inf, "temperature", "must be a finite number"),
    ("temperature", 10**400, "temperature", "must be a finite number"),
    ("temperature", 1.7e308, "temperature", "is too large for a precision of 1"),
    ("temperature", True, "temperature", "must be a number, not bool"),
    ("temperature", "0.7", "temperature", "must be a number, not str"),
    ("seed", True, "seed", "must be an int, not bool"),
    ("seed", 1.0, "seed", "must be an int, not float"),
    ("seed", 2**53, "seed", "must not be past 2**53 - 1, where doubles are no longer exact"),
    (
        "runtime_mode",
        "batch",
        "runtimeMode",
        "must be one of interactive, headless-eval, headless-replay, headless-job, coding-agent",
    ),
    ("runtime_mode", 1, "runtimeMode", "must be a str or RuntimeMode, not int"),
    ("runtime_mode", None, "runtimeMode", "is missing"),
    ("model", "", "model", "must not be empty"),
    ("model", None, "model", "is missing"),
    ("model", b"m", "model", "must be a str, not bytes"),
    ("model", "\ud800", "model", "must not hold a lone surrogate"),
    ("family", "", "family", "must not be empty"),
    ("call_class", 1, "callClass", "must be a str, not int"),
    ("messages", None, "messages", "is missing"),
    ("messages", "Hello", "messages", "must be a list or tuple, not str"),
    ("messages", {"role": "user"}, "messages", "must be a list or tuple, not dict"),
    ("system_prompt", b"", "systemPrompt", "must be a str, not bytes"),
    ("tenant_id", "", "tenantId", "must not be empty"),
    ("tools", {"name": "a"}, "tools", "must be a list, a tuple or a ToolCatalog, not dict"),
    ("tools", [{"name": "a"}, "b"], "tools[1]", "must be a mapping, not str"),
    ("tools", [{"name": "a"}, {"x": 1}], "tools[1].name", "is missing"),
    ("tools", [{"name": None}], "tools[0].name", "is missing"),
    ("tools", [{"name": ""}], "tools[0].name", "must not be empty"),
    ("tools", [{"name": 1}], "tools[0].name", "must be a str, not int"),
    (
        "tools",
        [{"name": "a", "x": 1}, {"name": "b"}, {"x": 1.0, "name": "a"}],
        "tools[2]",
        "is the same as tools[0]",
    ),
    ("active_safety_policies", "a@1", "activeSafetyPolicies", "must be a list or tuple, not str"),
    (
        "active_safety_policies",
        ["a@1"],
        "activeSafetyPolicies[0]",
        "must be a mapping with id and version, not str",
    ),
    (
        "active_safety_policies",
        [("a", "1"), {"id": "b"}],
        "activeSafetyPolicies[1].version",
        "is missing",
    ),
    ("active_safety_policies", [("", "1")], "activeSafetyPolicies[0].id", "must not be empty"),
    (
        "active_safety_policies",
        [("a", "1@2")],
        "activeSafetyPolicies[0].version",
        'must not contain "@"',
    ),
    ("sessionid", "x", "sessionid", "is no field of a call"),
    ("runtimeMode", "interactive", "runtimeMode", "is given in two spellings"),
]


@pytest.mark.parametrize(("name", "value", "field", "reason"), BAD)
def test_a_bad_field_is_an_error_that_names_it(
    name: str, value: Any, field: str, reason: str
) -> None:
    with pytest.raises(InputError) as caught:
        compute_fingerprint({**CALL, name: value})
    assert (caught.value.field, caught.value.reason) == (field, reason)
    assert str(caught.value) == f"{field}: {reason}"
    assert isinstance(caught.value, InputTypeError) is (", not " in reason)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize("name", IDENTITY_FIELDS)
def test_an_identity_field_is_text(name: str) -> None:
    for value, reason in ((1, "must be a str, not int"), ("", "must not be empty")):
        with pytest.raises(InputError) as caught:
            build_metadata({**CALL, name: value})
        assert str(caught.value) == f"{camel(name)}: {reason}"


def test_what_has_no_canonical_form_is_an_error_with_a_path_from_the_field() -> None:
    cycle: dict[str, Any] = {"role": "user"}
    cycle["again"] = [cycle]
    with pytest.raises(CircularReferenceError, match=r"^messages\[0\].again\[0\]: "):
        hash_of(messages=[cycle])
    with pytest.raises(CanonicalizationError, match=r"^messages\[1\].content: bytes has no"):
        hash_of(messages=[{}, {"content": b"x"}])
    # The position among the tools as they were given, not as they are sorted.
    with pytest.raises(CanonicalizationError, match=r"^tools\[0\].x: bytes has no"):
        hash_of(tools=[{"name": "z", "x": b""}, {"name": "a"}])
    with pytest.raises(CanonicalizationError, match=r"^tools\[1\].x: float is not a finite"):
        hash_of(tools=[{"name": "a"}, {"name": "a", "x": math.nan}])
    with pytest.raises(SurrogateError, match=r"^systemPrompt: str holds a lone surrogate"):
        hash_of(system_prompt="\ud800")
    with pytest.raises(CanonicalizationError, match=r"^messages.*nesting exceeds max_depth=2"):
        compute_fingerprint(CALL, FingerprintConfig(max_depth=2), messages=[[[]]])


def test_input_and_config_must_be_what_they_are_called() -> None:
    with pytest.raises(InputTypeError, match=r"^input: must be a FingerprintInput or a mapping"):
        compute_fingerprint([CALL])  # type: ignore[arg-type]
    with pytest.raises(InputTypeError, match=r"^config: must be a FingerprintConfig, not dict"):
        compute_fingerprint(CALL, {})  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"^a key of type int: is no field"):
        compute_fingerprint({**CALL, 1: 2})  # type: ignore[dict-item]


def test_a_config_may_close_sets_and_require_a_tenant() -> None:
    closed = FingerprintConfig(
        families=frozenset({"anthropic"}), call_classes=frozenset({"plan", "synthesize"})
    )
    assert compute_fingerprint(CALL, closed).hash == HASH
    with pytest.raises(InputError, match=r"^family: must be one of anthropic$"):
        compute_fingerprint(CALL, closed, family="openai")
    with pytest.raises(InputError, match=r"^callClass: must be one of plan, synthesize$"):
        compute_fingerprint(CALL, closed, call_class="x")
    with pytest.raises(TenantError, match=r"^tenantId: is missing"):
        compute_fingerprint(BARE, FingerprintConfig(require_tenant=True))


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("temperature_precision", -1, "temperaturePrecision: must be from 0 to 15"),
        ("temperature_precision", 16, "temperaturePrecision: must be from 0 to 15"),
        ("temperature_precision", True, "temperaturePrecision: must be an int, not bool"),
        ("temperature_precision", 1.0, "temperaturePrecision: must be an int, not float"),
        ("pleach_version", "", "pleachVersion: must not be empty"),
        ("families", "anthropic", "families: must be a set of str, not str"),
        ("call_classes", [1], r"callClasses\[\*\]: must be a str, not int"),
        ("require_tenant", 1, "requireTenant: must be a bool, not int"),
        ("max_depth", 0, "max_depth must be at least 1"),
    ],
)
def test_a_config_is_checked_when_it_is_made(option: str, value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        FingerprintConfig(**{option: value})


# -- the fingerprint as a value --------------------------------------------------------------------


def test_a_fingerprint_is_compared_by_its_hash() -> None:
    one, same = compute_fingerprint(CALL), compute_fingerprint(CALL)
    assert one == same
    assert len({one, same, compute_fingerprint(BARE)}) == 2
    assert one != one.hash
    assert str(one) == HASH
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.seed = 1  # type: ignore[misc]
    assert pickle.loads(pickle.dumps(one)) == one


def test_a_fingerprint_comes_back_from_its_dict_in_either_spelling() -> None:
    for call in (CALL, BARE):
        fingerprint = compute_fingerprint(call)
        described = json.loads(json.dumps(fingerprint.to_dict()))
        back = Fingerprint.from_dict(described)
        assert back == fingerprint
        assert dataclasses.astuple(back) == dataclasses.astuple(fingerprint)
        snake = {f.name: getattr(back, f.name) for f in dataclasses.fields(back)}
        assert dataclasses.astuple(Fingerprint.from_dict(snake)) == dataclasses.astuple(back)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"seed": 43}, "hash: is not that of the fields"),
        ({"hash": "0" * 64}, "hash: is not that of the fields"),
        ({"tenantId": None}, "hash: is not that of the fields"),
        ({"model": None}, "model: must be a str, not NoneType"),
        ({"runtimeMode": "x"}, "runtimeMode: must be one of"),
        ({"seed": True}, "seed: must be an int, not bool"),
        ({"temperatureBucket": math.nan}, "temperature: must be a finite number"),
        ({"tenant_id": "org_abc"}, "tenantId: is given in two spellings"),
        ({"x": 1}, "fingerprint: has a field that is none of a fingerprint"),
    ],
)
def test_a_dict_that_describes_no_fingerprint_is_refused(changed: Any, message: str) -> None:
    with pytest.raises(InputError, match=f"^{message}"):
        Fingerprint.from_dict({**compute_fingerprint(CALL).to_dict(), **changed})


def test_diff_tells_every_field_that_differs_in_words() -> None:
    one = compute_fingerprint(CALL)
    assert one.diff(compute_fingerprint(CALL)) == ""
    other = compute_fingerprint(CALL, temperature=0.8, seed=None, model="my model", messages=[])
    assert one.diff(other) == (
        "model claude-sonnet-4-5 -> 'my model', promptHash 013cf0c0 -> 4f53cda1, "
        "temperatureBucket 0.7 -> 0.8, seed 42 -> absent"
    )
    near = dataclasses.replace(one, prompt_hash=one.prompt_hash[:-1] + "8")
    assert one.diff(near) == f"promptHash {one.prompt_hash} -> {near.prompt_hash}"


def test_a_fingerprint_is_compared_with_fingerprints_alone() -> None:
    one = compute_fingerprint(CALL)
    for compare in (one.diff, one.distance):
        with pytest.raises(InputTypeError, match=r"^other: must be a Fingerprint, not str"):
            compare(one.hash)  # type: ignore[arg-type]
    assert one.in_mode("headless-eval") == compute_fingerprint(CALL, runtime_mode="headless-eval")
    with pytest.raises(InputError, match=r"^runtimeMode: must be one of"):
        one.in_mode("batch")


def test_metadata_are_checked_when_they_are_made() -> None:
    for value, message in ((5, "must be a str, not int"), ("", "must not be empty")):
        with pytest.raises(InputError, match=f"^chatId: {message}"):
            FingerprintMetadata(chat_id=value)  # type: ignore[arg-type]
    assert FingerprintMetadata(user_id="\ud83d\ude00").user_id == "\U0001f600"


def test_metadata_come_back_from_their_dict() -> None:
    metadata = build_metadata({**CALL, "chat_id": "c", "recordedAt": "2026-01-02T03:04:05Z"})
    assert FingerprintMetadata.from_dict(metadata.to_dict()) == metadata
    assert FingerprintMetadata.from_dict({"chat_id": "c", "userId": None}).chat_id == "c"
    with pytest.raises(InputError, match=r"^metadata: has a field"):
        FingerprintMetadata.from_dict({"model": "m"})


def test_canonicalize_and_sha256_are_those_of_the_fingerprint() -> None:
    assert pleach.canonicalize({"b": 2, "a": 1}) == '{"a":1,"b":2}'
    assert pleach.canonicalize({"\U0001f600": "\ud83d\ude00", "\uffff": "\ud800"}) == (
        '{"\U0001f600":"\U0001f600","\uffff":"\\ud800"}'
    )
    assert pleach.canonicalize(2**53 + 1) == "9007199254740992"
    text = pleach.canonicalize(CALL["messages"])
    assert pleach.sha256(text) == compute_fingerprint(CALL).prompt_hash
    assert pleach.sha256("\ud83d\ude00") == pleach.sha256("\U0001f600")
    with pytest.raises(SurrogateError, match=r"^text: str holds a lone surrogate"):
        pleach.sha256("\ud800")
    with pytest.raises(InputTypeError, match=r"^text: must be a str, not bytes"):
        pleach.sha256(b"")  # type: ignore[arg-type]


@pytest.mark.parametrize("profile", ["overturn", "jcs", "jcs-double", "mcpulse", "pleach"])
def test_a_digest_under_a_profile_is_that_of_its_text(engine: ModuleType, profile: str) -> None:
    value = {"b": [1.5, True, "é"], "a": {"\U0001f600": -0.0}}
    text = engine.canonical_with(profile, value)
    assert engine.hash_with(profile, value) == hashlib.sha256(text.encode()).hexdigest()
    assert engine.hash_with(profile, value, None, 2) == engine.hash_with(profile, value)
    with pytest.raises(CanonicalizationError, match="nesting exceeds max_depth=1"):
        engine.hash_with(profile, value, None, 1)
    with pytest.raises(KeyError):
        engine.hash_with("none", value)
