"""What is timed: this package's functions and what people would write with other packages.

A peer is an expression over ``value``. It is compiled straight into the loop that times it, so
that nobody pays for a Python function around the call, and its names are bound beforehand, so that
nobody pays for an attribute look-up either.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import platform
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import metadata
from time import perf_counter_ns
from typing import Any

import overturn_fast
from overturn_fast import jcs, mcpulse

__all__ = ["COMPARISONS", "Peer", "available", "our_version", "with_orjson"]

COMPARISONS: dict[str, tuple[str, ...]] = {
    "hash_json": (
        "SDK",
        "orjson+hashlib",
        "msgspec+hashlib",
        "json+hashlib",
        "rfc8785+hashlib",
        "orjson alone",
        "canonical_json",
    ),
    "jcs.dumps": ("orjson alone",),
    "args_hash": ("MCPulse SDK",),
    "tool_fingerprint": ("orjson+hashlib, selected",),
    "ToolFingerprinter": ("tool_fingerprint", "orjson+hashlib, selected"),
    "fingerprint_many": ("loop",),
}
"""Each of our functions that gets a table, and the peers that it is compared with there."""

RFC8785_HASH = "RFC 8785, of which the digest is cut to 12 digits"

Loop = Callable[[Iterable[object]], int]
Prepare = Callable[[Any], object]

LOOP = """
def bind({names}):
    def call(value):
        return {expression}
    def loop(values):
        start = clock()
        for value in values:
            {expression}
        return clock() - start
    return call, loop
"""


def as_it_is(value: object) -> object:
    """Give the value of a workload to a peer unchanged."""
    return value


@dataclass(frozen=True)
class Peer:
    """One way to compute a digest or a text."""

    name: str
    package: str
    version: str
    expression: str
    names: Mapping[str, object]
    writes: str
    """Which bytes the digest is over."""

    prepare: Prepare = as_it_is
    """Makes of a workload's value what the expression takes; this is not timed."""

    def compiled(
        self, clock: Callable[[], int] = perf_counter_ns
    ) -> tuple[Callable[[object], Any], Loop]:
        """Return a function of one value, and one that times the expression on many values.

        The second gives the nanoseconds, by this clock, that it took on all of them.
        """
        source = LOOP.format(names=", ".join(self.names), expression=self.expression)
        scope: dict[str, Any] = {"clock": clock}
        exec(compile(source, f"<peer {self.name}>", "exec"), scope)
        call, loop = scope["bind"](**self.names)
        return call, loop

    def __call__(self, value: object) -> Any:
        """Compute the peer's result: a hexadecimal digest, or a text as str or bytes."""
        return self.compiled()[0](self.prepare(value))


def our_version() -> str:
    """Return this package's version and the backend that runs."""
    return f"{overturn_fast.__version__}, {overturn_fast.backend} backend"


def ours() -> list[Peer]:
    version = our_version()
    return [
        Peer(
            "hash_json",
            "overturn_fast",
            version,
            "hash_json(value)",
            {"hash_json": overturn_fast.hash_json},
            "the canonical form",
        ),
        Peer(
            "canonical_json",
            "overturn_fast",
            version,
            "canonical_json(value)",
            {"canonical_json": overturn_fast.canonical_json},
            "the canonical form, as a str and without a digest",
        ),
        Peer(
            "jcs.dumps",
            "overturn_fast",
            version,
            "dumps(value)",
            {"dumps": jcs.dumps},
            "RFC 8785",
        ),
        Peer(
            "args_hash",
            "overturn_fast",
            version,
            "args_hash(value)",
            {"args_hash": mcpulse.args_hash},
            RFC8785_HASH,
        ),
    ]


def sdk() -> list[Peer]:
    fingerprint = importlib.import_module("overturn.fingerprint")
    return [
        Peer(
            "SDK",
            "overturn",
            metadata.version("overturn"),
            "hash_json(value)",
            {"hash_json": fingerprint.hash_json},
            "the canonical form",
        )
    ]


def mcpulse_sdk() -> list[Peer]:
    hashing = importlib.import_module("mcpulse.hashing")
    return [
        Peer(
            "MCPulse SDK",
            "mcpulse-sdk",
            metadata.version("mcpulse-sdk"),
            "args_hash(value)",
            {"args_hash": hashing.args_hash},
            RFC8785_HASH,
        )
    ]


def with_orjson() -> list[Peer]:
    orjson = importlib.import_module("orjson")
    names = {"dumps": orjson.dumps, "SORTED": orjson.OPT_SORT_KEYS, "sha256": hashlib.sha256}
    writes = "sorted keys; floats as orjson writes them; strings as they are; nulls kept"
    version = metadata.version("orjson")
    return [
        Peer(
            "orjson+hashlib",
            "orjson",
            version,
            "sha256(dumps(value, option=SORTED)).hexdigest()",
            names,
            writes,
        ),
        Peer(
            "orjson alone",
            "orjson",
            version,
            "dumps(value, option=SORTED)",
            names,
            f"{writes}; bytes without a digest",
        ),
    ]


def with_msgspec() -> list[Peer]:
    msgspec_json = importlib.import_module("msgspec.json")
    return [
        Peer(
            "msgspec+hashlib",
            "msgspec",
            metadata.version("msgspec"),
            "sha256(encode(value)).hexdigest()",
            {
                "encode": msgspec_json.Encoder(order="deterministic").encode,
                "sha256": hashlib.sha256,
            },
            "sorted keys; floats as msgspec writes them; strings as they are; nulls kept",
        )
    ]


def stdlib() -> list[Peer]:
    return [
        Peer(
            "json+hashlib",
            "json",
            platform.python_version(),
            "sha256(dumps(value, sort_keys=True, separators=COMPACT, ensure_ascii=False)"
            ".encode()).hexdigest()",
            {"dumps": json.dumps, "COMPACT": (",", ":"), "sha256": hashlib.sha256},
            "sorted keys; floats as Python writes them; strings as they are; nulls kept",
        )
    ]


def with_rfc8785() -> list[Peer]:
    rfc8785 = importlib.import_module("rfc8785")
    return [
        Peer(
            "rfc8785+hashlib",
            "rfc8785",
            metadata.version("rfc8785"),
            "sha256(dumps(value)).hexdigest()",
            {"dumps": rfc8785.dumps, "sha256": hashlib.sha256},
            "RFC 8785: ECMAScript numbers, keys sorted by UTF-16 unit, nulls kept",
        )
    ]


SOURCES: dict[str, Callable[[], list[Peer]]] = {
    "overturn_fast": ours,
    "overturn": sdk,
    "mcpulse-sdk": mcpulse_sdk,
    "orjson": with_orjson,
    "msgspec": with_msgspec,
    "json": stdlib,
    "rfc8785": with_rfc8785,
}


def available() -> tuple[list[Peer], dict[str, str]]:
    """Return the peers that are installed, and the others' packages with the reason."""
    found: list[Peer] = []
    missing: dict[str, str] = {}
    for package, source in SOURCES.items():
        try:
            found += source()
        except ImportError as error:
            missing[package] = str(error)
    return found, missing
