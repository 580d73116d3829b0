"""``python -m benchmarks.sdk``: the Overturn SDK with ``install()`` and without, and ``compat``.

A call of a decorated tool is timed end to end: its arguments are bound, its fingerprint is computed
and the step is recorded on a run, whose sink drops it. Then ``compat`` is timed beside the default
profile, on values that both write alike. What is compared is timed in turn; a ratio is the median
of those of the rounds.
"""

from __future__ import annotations

import argparse
import functools
import statistics
import sys
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import overturn_fast
from benchmarks.workloads import WORKLOADS
from overturn_fast import backend, compat

CALL_GOAL = 5.0
COMPAT_GOAL = 1.15
MEASURED = ("tiny", "typical", "messages", "records", "unicode", "deep")
"""The workloads on which the two profiles are compared."""

ROUNDS, QUICK_ROUNDS = 40, 2
SECONDS, QUICK_SECONDS = 0.004, 0.0001
"""How long a sample should take."""


def typical_tool(
    query: str,
    limit: int = 10,
    offset: int = 0,
    filters: dict[str, Any] | None = None,
    sort: list[dict[str, str]] | None = None,
    includeTotals: bool = False,
    threshold: float = 0.5,
    locale: str = "en",
    format: str = "json",
    requestId: str = "",
) -> dict[str, Any]:
    return {"rows": [], "total": 0}


def tiny_tool(ticketId: str, priority: str) -> str:
    return "closed"


def messages_tool(messages: list[dict[str, str]]) -> str:
    return "done"


def arguments_of(name: str) -> dict[str, Any]:
    value = WORKLOADS[name].build()
    return value if isinstance(value, dict) else {name: value}


TOOLS = {"tiny": tiny_tool, "typical": typical_tool, "messages": messages_tool}


def seconds(function: Callable[[], object], count: int) -> float:
    """For one call, of so many."""
    started = perf_counter()
    for _ in range(count):
        function()
    return (perf_counter() - started) / count


def calls_in(function: Callable[[], object], budget: float) -> int:
    """How many calls of a function take about so many seconds."""
    function()
    return max(1, int(budget / max(seconds(function, 3), 1e-8)))


def compare_calls(rounds: int, budget: float) -> None:
    """Print what a recorded call of a decorated tool costs, without and with the installation."""
    import overturn

    client = overturn.Overturn(api_key="key", redact=lambda step: None, background=False)
    print(f"a decorated call, recorded: the SDK {overturn.__version__}, and with install()")
    for name, function in TOOLS.items():
        call = functools.partial(overturn.Tool(function), **arguments_of(name))
        plain, installed = [], []
        with client.run(agent="benchmark"):
            count = calls_in(call, budget)
            for _ in range(rounds):
                plain.append(seconds(call, count))
                with overturn_fast.install("overturn"):
                    call()
                    installed.append(seconds(call, count))
        ratio = statistics.median(p / i for p, i in zip(plain, installed, strict=True))
        said = "reached" if ratio >= CALL_GOAL else "missed"
        goal = f" (goal {CALL_GOAL:g}x: {said})" if name == "typical" else ""
        times = "".join(f"{statistics.median(t) * 1e6:9.1f} us" for t in (plain, installed))
        print(f"  {name:10}{times} {ratio:6.1f}x{goal}")


def compare_profiles(rounds: int, budget: float) -> None:
    """Print what a fingerprint costs under the default profile and under ``compat``."""
    print("tool_fingerprint: the default profile, and compat")
    for name in MEASURED:
        value = WORKLOADS[name].build()
        assert overturn_fast.tool_fingerprint("t", value) == compat.tool_fingerprint("t", value)
        functions = {
            "default": lambda: overturn_fast.tool_fingerprint("t", value),  # noqa: B023
            "compat": lambda: compat.tool_fingerprint("t", value),  # noqa: B023
        }
        count = calls_in(functions["default"], budget)
        times: dict[str, list[float]] = {"default": [], "compat": []}
        for number in range(rounds):
            order = list(functions) if number % 2 else list(functions)[::-1]
            for which in order:
                times[which].append(seconds(functions[which], count))
        # The least time has the least of whatever else the machine was doing.
        ratio = min(times["compat"]) / min(times["default"])
        said = "reached" if ratio <= COMPAT_GOAL else "missed"
        shown = "".join(f"{min(times[which]) * 1e6:9.2f} us" for which in functions)
        print(f"  {name:10}{shown} {ratio:6.2f}x (goal {COMPAT_GOAL:g}x: {said})")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; the exit status does not depend on any time."""
    described = argparse.ArgumentParser(prog="python -m benchmarks.sdk")
    described.add_argument("--quick", action="store_true", help="shows that it runs, not how fast")
    options = described.parse_args(arguments)
    rounds = QUICK_ROUNDS if options.quick else ROUNDS
    budget = QUICK_SECONDS if options.quick else SECONDS
    print(f"overturn_fast with the SDK, {backend} backend")
    try:
        compare_calls(rounds, budget)
    except ImportError as error:
        print(f"  not compared: {error}")
    compare_profiles(rounds, budget)
    return 0


if __name__ == "__main__":
    sys.exit(main())
