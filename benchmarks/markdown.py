"""``python -m benchmarks.markdown``: put the newest result into the tables of README and docs.

A table stands between two comments, ``<!-- measured: NAME -->`` and ``<!-- end of NAME -->``. What
lies between them is written anew; all else on the page stays.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.growth import size_text
from benchmarks.plot import newest
from benchmarks.report import microseconds, three_digits
from benchmarks.targets import FURTHER, HEADLINES, Headline

__all__ = ["PAGES", "TABLES", "filled", "main"]

ROOT = Path(__file__).resolve().parent.parent
PAGES = (ROOT / "README.md", ROOT / "docs" / "performance.md")

Result = Mapping[str, Any]

README_NAMES = {
    "tiny": "tiny, 2 keys",
    "typical": "typical, 10 keys, 300 bytes",
    "messages": "messages, 16 KB of chat",
    "floats-random": "10,000 random doubles",
    "floats-human": "10,000 prices and coordinates",
    "ints": "10,000 ints",
    "wide": "wide, 10,000 keys",
    "unicode": "unicode, 1,000 keys",
    "deep": "deep, 200 levels",
    "records": "records, 2,000 rows",
    "schema": "schema, 30 tools, 25 KB",
}

PEERS = ("SDK", "orjson+hashlib", "msgspec+hashlib", "json+hashlib", "rfc8785+hashlib")


def lines_of(header: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Lay out a table of which the first columns are words and the others numbers."""
    rule = ["---"] * left + ["---:"] * (len(header) - left)
    return "\n".join(f"| {' | '.join(row)} |" for row in (header, rule, *rows))


def ratio(result: Result, line: Headline, workload: str) -> str:
    """Write how many times as long the peer takes."""
    measured = result["results"][line.mode][workload]["ratios"][line.subject][line.peer]
    return f"{three_digits(measured['median'])}x"


def time(result: Result, mode: str, peer: str, workload: str) -> str:
    """Write the microseconds of a call."""
    return microseconds(result["results"][mode][workload]["ns"][peer]["median"])


def overview(result: Result) -> str:
    """Make the table of the README."""
    rows = [
        [
            title,
            f"{time(result, 'warm', 'hash_json', name)} us",
            ratio(result, Headline("warm", "hash_json", "SDK"), name),
            *(ratio(result, line, name) for line in HEADLINES),
        ]
        for name, title in README_NAMES.items()
    ]
    header = [
        *("arguments", "`hash_json`", "than the SDK", "than orjson sorted + hashlib, seen before"),
        *("the same, fresh", "`jcs.dumps` than orjson sorted"),
    ]
    return lines_of(header, rows)


def peers_table(mode: str) -> Callable[[Result], str]:
    """Return what makes the table of ``hash_json`` and its peers in a mode."""

    def make(result: Result) -> str:
        peers = [*PEERS, "orjson alone"]
        rows = [
            [
                name,
                time(result, mode, "hash_json", name),
                *(ratio(result, Headline(mode, "hash_json", peer), name) for peer in peers),
            ]
            for name in README_NAMES
        ]
        titles = [peer.replace("+", " + ") for peer in peers]
        return lines_of(["workload", "`hash_json`, us", *titles], rows)

    return make


def dumped(result: Result) -> str:
    """Make the table of ``jcs.dumps``."""
    (line,) = (line for line in HEADLINES if line.subject == "jcs.dumps")
    rows = [
        [
            name,
            time(result, line.mode, line.subject, name),
            time(result, line.mode, line.peer, name),
            ratio(result, line, name),
        ]
        for name in README_NAMES
    ]
    return lines_of(["workload", "`jcs.dumps`, us", "orjson sorted, us", "ratio"], rows)


def calls(result: Result) -> str:
    """Make the table of calls of a tool."""
    rows = [
        [
            f"`{line.subject}`",
            name,
            time(result, line.mode, line.subject, name),
            line.peer,
            time(result, line.mode, line.peer, name),
            ratio(result, line, name),
        ]
        for line in FURTHER
        for name, each in result["results"][line.mode].items()
        if each["ratios"].get(line.subject, {}).get(line.peer, {}).get("goal") is not None
    ]
    header = ["function", "workload", "us", "beside", "us", "ratio"]
    return lines_of(header, rows, left=2)


def growth(result: Result) -> str:
    """Make the table of the time per byte."""
    found = result["growth"]
    sizes = list(next(iter(found.values()))["ns_per_byte"])
    rows = [
        [
            name,
            *(three_digits(each["ns_per_byte"][size]) for size in sizes),
            f"{three_digits(each['longest_by_median'])}x",
        ]
        for name, each in found.items()
    ]
    header = ["ns a byte", *(size_text(int(size)) for size in sizes), "longest by median"]
    return lines_of(header, rows)


def machine(result: Result) -> str:
    """Say what was measured on what."""
    found = result["environment"]
    versions = ", ".join(
        f"{package} {version.partition(',')[0]}"
        for package, version in found["versions"].items()
        if package != "json"
    )
    clock = "processor" if result["clock"] == "cpu" else "wall"
    return (
        f"{result['rounds']} interleaved rounds of {result['sample_ms']:g} ms, medians, {clock} "
        f"time; {found['cpu']}, {found['cpus']} processors, load {found['load_average']};\n"
        f"{found['system']}, {found['python']}, library by {found['library_compiler']}, SHA-256 "
        f"{found['sha256']};\n"
        f"{versions}; {result['measured_at'][:10]}."
    )


def where(result: Result) -> str:
    """Say the same in one sentence."""
    found = result["environment"]
    ours, sdk, orjson = (
        found["versions"][package].partition(",")[0]
        for package in ("overturn_fast", "overturn", "orjson")
    )
    return (
        f"Times a call on {found['cpu']} with {found['python']}, medians of {result['rounds']} "
        f"interleaved rounds: overturn_fast {ours},\n"
        f"overturn {sdk} and orjson {orjson}. The other columns say how many times faster."
    )


TABLES: Mapping[str, Callable[[Result], str]] = {
    "overview": overview,
    "where": where,
    "machine": machine,
    "warm": peers_table("warm"),
    "cold": peers_table("cold"),
    "dumped": dumped,
    "calls": calls,
    "growth": growth,
}
"""What makes each table, by the name in the comments around it."""


def filled(page: str, result: Result) -> str:
    """Return a page with the tables of a result in the place of those that it had.

    Raises:
        ValueError: A comment names no table.
        KeyError: The result lacks what a table shows.
    """

    def made(found: re.Match[str]) -> str:
        name = found["name"]
        if name not in TABLES:
            raise ValueError(f"there is no table {name!r}; there are: {', '.join(TABLES)}")
        return f"<!-- measured: {name} -->\n\n{TABLES[name](result)}\n\n<!-- end of {name} -->"

    pattern = r"<!-- measured: (?P<name>\w+) -->.*?<!-- end of (?P=name) -->"
    return re.sub(pattern, made, page, flags=re.DOTALL)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the pages; return the exit status."""
    described = argparse.ArgumentParser(
        prog="python -m benchmarks.markdown",
        description="Put a result of python -m benchmarks into README.md and docs/performance.md.",
    )
    described.add_argument(
        "result", type=Path, nargs="?", help="a JSON file (default: the newest of all full runs)"
    )
    options = described.parse_args(arguments)
    try:
        path = options.result or newest()
        result = json.loads(path.read_text(encoding="utf-8"))
        pages = {page: filled(page.read_text(encoding="utf-8"), result) for page in PAGES}
    except KeyError as error:
        print(f"the result lacks {error}; it takes all peers and a full run", file=sys.stderr)
        return 1
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    for page, text in pages.items():
        page.write_text(text, encoding="utf-8")
    print(f"{path} is in", *(page.name for page in pages))
    return 0


if __name__ == "__main__":
    sys.exit(main())
