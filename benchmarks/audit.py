"""``python -m benchmarks.audit``: an audit of a million recorded calls, and the memory it takes.

The file is written first, about 340 bytes a call, with findings of every reason in one call of a
hundred; then ``overturn-fast audit`` reads it as a process of its own, so that its peak of memory
is its own too. A tenth of the file is read as well: memory does not depend on the length.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any, BinaryIO

from overturn_fast import backend

CALLS = 1_000_000
QUICK_CALLS = 2_000
GOAL_SECONDS = 60.0
TOOLS = 40

WORDS = [
    "quarterly",
    "revenue",
    "customer",
    "café",
    "refund",
    "order 66",
    'the "final" one',
    "日本",
]

UNSAFE: list[tuple[str, Any]] = [
    ("id", 2**53 + 1),
    ("total", 123456789012345680000.0),
    ("note", "trimmed\x1f"),
    ("note", "\ufefftrimmed"),
    ("emoji", "half \ud83d"),
    ("labels", {"\ue000": 1, "\U0001f600": 2}),
]


def calls(count: int) -> Iterator[bytes]:
    """So many calls as lines, the same ones every time."""
    source = random.Random(5)
    for number in range(count):
        args: dict[str, Any] = {
            "customer_id": f"cus_{source.getrandbits(64):016x}",
            "query": " ".join(source.choices(WORDS, k=6)),
            "limit": source.randrange(100),
            "amount": source.randrange(10**6) / 100,
            "filters": {
                "region": source.choice(["EMEA", "APAC"]),
                "active": source.random() < 0.5,
                "ids": [source.randrange(10**9) for _ in range(4)],
            },
            "cursor": None,
            "messages": [{"role": "user", "content": " ".join(source.choices(WORDS, k=4))}],
        }
        if number % 100 == 0:
            name, value = UNSAFE[number // 100 % len(UNSAFE)]
            args[name] = value
        tool = f"tool_{source.randrange(TOOLS):02d}"
        line = json.dumps({"id": number, "name": tool, "args": args})
        yield f"{line}\n".encode()


def write(file: BinaryIO, count: int, *, array: bool) -> None:
    """Write calls, one a line, or as the items of an array on one line."""
    before = b"["
    for line in calls(count):
        file.write(before + line.rstrip() if array else line)
        before = b","
    if array:
        file.write(b"]\n")


def measured(path: Path) -> tuple[float, float, int, dict[str, Any]]:
    """Seconds of wall and of processor time, the peak of memory in bytes, and the report."""
    command = [sys.executable, "-m", "overturn_fast.cli", "audit", "--json", str(path)]
    started = perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = perf_counter() - started
    if process.returncode:
        raise SystemExit(f"the audit ended with status {process.returncode}")
    peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return seconds, usage.ru_utime + usage.ru_stime, peak, json.loads(output)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return the exit status, which does not depend on any time."""
    described = argparse.ArgumentParser(
        prog="python -m benchmarks.audit", description="Time an audit of recorded calls."
    )
    described.add_argument("--quick", action="store_true", help="shows that it runs, not how fast")
    described.add_argument("--calls", type=int, default=CALLS, help="how many (%(default)s)")
    options = described.parse_args(arguments)
    count = QUICK_CALLS if options.quick else options.calls
    print(f"audit, {backend} backend: goal {count:,} calls in {GOAL_SECONDS:.0f} s, flat memory")
    print(
        f"{'file':<14} {'calls':>10} {'MB':>7} {'s':>7} {'cpu s':>7} {'peak MB':>8} {'flagged':>8}"
    )
    with tempfile.TemporaryDirectory() as folder:
        for name, size, array in (
            ("lines, a tenth", count // 10, False),
            ("lines", count, False),
            ("one array", count, True),
        ):
            path = Path(folder, "calls")
            with open(path, "wb") as file:
                write(file, size, array=array)
            seconds, processor, peak, report = measured(path)
            megabytes = path.stat().st_size / 1e6
            print(
                f"{name:<14} {report['calls']:>10,} {megabytes:>7.1f} {seconds:>7.2f} "
                f"{processor:>7.2f} {peak / 1e6:>8.1f} {report['flagged']:>8,}"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
