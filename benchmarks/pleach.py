"""``python -m benchmarks.pleach``: fingerprints of LLM calls, and hits of a cache of many entries.

The peer takes the same steps with orjson, sorted, and hashlib, and checks nothing. Both are timed
in turn, by the processor's time; a ratio is the median of those of the rounds. Hits are timed by
the clock on the wall.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from overturn_fast import backend, pleach

WORDS = [
    "the",
    "quarterly",
    "revenue",
    "of",
    "café",
    "customers",
    "is",
    "said",
    "to",
    "be",
    '"final",',
    "see\nreport",
    "7",
]
GOALS = {"mapping": 1.2, "plain": 1.2, "handles": 3.0}
HIT_GOAL_US = 60.0


def prose(source: random.Random, size: int) -> str:
    """About so many characters of text."""
    text = ""
    while len(text) < size:
        text += source.choice(WORDS) + " "
    return text


def call_of(message_size: int, tool_size: int) -> dict[str, Any]:
    """A call of 20 messages and 30 tools, of so many characters each."""
    source = random.Random(6)
    parts = tool_size // 3
    tools = [
        {
            "name": f"tool_{number * 7 % 30:02d}",
            "description": prose(source, parts),
            "parameters": {"query": {"type": "string", "description": prose(source, parts)}},
        }
        for number in range(30)
    ]
    messages = [
        {"role": ("user", "assistant")[number % 2], "content": prose(source, message_size)}
        for number in range(20)
    ]
    return {
        "model": "claude-sonnet-4-5",
        "family": "anthropic",
        "call_class": "synthesize",
        "runtime_mode": "interactive",
        "messages": messages,
        "system_prompt": prose(source, 1_500),
        "tools": tools,
        "temperature": 0.7,
        "seed": 42,
        "tenant_id": "org_abc",
        "active_safety_policies": [{"id": "compliance.pii-redaction", "version": "1.2.0"}],
    }


CALLS = {
    "16 KB of messages, 11 KB of tools": (780, 360),
    "16 KB in all, 5 KB of them messages": (200, 310),
}


def by_hand(call: dict[str, Any]) -> str:
    """The same steps with orjson and hashlib, as one would write them."""
    import orjson

    def digest(value: Any) -> str:
        return hashlib.sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).hexdigest()

    policies = [f"{one['id']}@{one['version']}" for one in call["active_safety_policies"]]
    key = {
        "model": call["model"],
        "promptHash": digest(call["messages"]),
        "toolsHash": digest(sorted(call["tools"], key=lambda tool: tool["name"])),
        "systemPromptHash": hashlib.sha256(call["system_prompt"].encode()).hexdigest(),
        "temperatureBucket": round(call["temperature"] * 10) / 10,
        "seed": call["seed"],
        "family": call["family"],
        "callClass": call["call_class"],
        "runtimeMode": call["runtime_mode"],
        "tenantId": call["tenant_id"],
        "pleachVersion": pleach.PLEACH_CORE_VERSION,
        "safetyPoliciesHash": digest(sorted(policies)),
    }
    return digest(key)


def seconds(function: Callable[[], object], calls: int) -> float:
    """For one call, of so many."""
    started = process_time()
    for _ in range(calls):
        function()
    return (process_time() - started) / calls


def compare(call: dict[str, Any], rounds: int, calls: int) -> None:
    """Print the times for a call, and the ratios beside their goals."""
    handles = {
        "tools": pleach.ToolCatalog(call["tools"]),
        "system_prompt": pleach.SystemPrompt(call["system_prompt"]),
    }
    inputs = {
        "mapping": call,
        "plain": pleach.FingerprintInput(**call),
        "handles": pleach.FingerprintInput(**{**call, **handles}),
    }
    expected = by_hand(call)
    assert all(pleach.compute_fingerprint(one).hash == expected for one in inputs.values())
    times: dict[str, list[float]] = {name: [] for name in ("by hand", *inputs)}
    for _ in range(rounds):
        times["by hand"].append(seconds(lambda: by_hand(call), calls))
        for name, one in inputs.items():
            times[name].append(seconds(lambda one=one: pleach.compute_fingerprint(one), calls))
    print(f"  by hand {statistics.median(times['by hand']) * 1e6:8.1f} us")
    for name, goal in GOALS.items():
        ratios = [theirs / ours for theirs, ours in zip(times["by hand"], times[name], strict=True)]
        ratio = statistics.median(ratios)
        said = "met" if ratio >= goal else "missed"
        microseconds = statistics.median(times[name]) * 1e6
        print(f"  {name:8}{microseconds:7.1f} us, {ratio:.2f}x (goal {goal}x: {said})")


def hits(entries: int, asked: int) -> None:
    """Print how long a hit takes in a file of so many entries."""

    def small(number: int) -> dict[str, Any]:
        fields = {"model": "m", "family": "f", "callClass": "c", "temperature": 0}
        return {**fields, "messages": [{"role": "user", "content": f"question {number}"}]}

    with tempfile.TemporaryDirectory() as folder:
        cache = pleach.FingerprintCache(Path(folder, "answers.db"), "interactive")
        answer = {"text": "x" * 500}
        for number in range(entries):
            cache.put(small(number), answer)
        source = random.Random(6)
        times = []
        for _ in range(asked):
            call = small(source.randrange(entries))
            started = perf_counter()
            found = cache.get(call)
            times.append((perf_counter() - started) * 1e6)
            assert found == answer
        cache.close()
    mean, median = statistics.mean(times), statistics.median(times)
    said = "met" if median < HIT_GOAL_US else "missed"
    print(f"a hit at {entries:,} entries: mean {mean:.1f} us, median {median:.1f} us", end=" ")
    print(f"(goal {HIT_GOAL_US:.0f} us: {said})")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; the exit status does not depend on any time."""
    described = argparse.ArgumentParser(prog="python -m benchmarks.pleach")
    described.add_argument("--quick", action="store_true", help="shows that it runs, not how fast")
    options = described.parse_args(arguments)
    rounds, calls, entries = (2, 5, 100) if options.quick else (200, 40, 100_000)
    print(f"overturn_fast.pleach, {backend} backend")
    try:
        for name, sizes in CALLS.items():
            print(name)
            compare(call_of(*sizes), rounds, calls)
    except ImportError as error:
        print(f"  not compared: {error}")
    hits(entries, entries // 10)
    return 0


if __name__ == "__main__":
    sys.exit(main())
