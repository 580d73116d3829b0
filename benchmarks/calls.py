"""Fingerprints of tool calls, one at a time and many at once, as they are measured.

The arguments are those of the workload ``typical``. What counts of them is ``query`` and
``filters``: the peer gets a dict that holds these two alone, made beforehand, and so neither
selects nor hashes a name.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from benchmarks.peers import Peer, our_version, with_orjson
from benchmarks.workloads import WORKLOADS, Workload
from overturn_fast import ToolFingerprinter, fingerprint_many, tool_fingerprint

__all__ = [
    "MANY",
    "MANY_CALLS",
    "NAME",
    "ONE_CALL",
    "SELECTED",
    "many_peers",
    "one_peers",
    "our_one_peers",
    "typical_calls",
]

NAME = "search_reports"
SELECTED = ["query", "filters"]
MANY_CALLS = 10_000
"""How many calls ``fingerprint_many`` is measured with."""

ONE_CALL = WORKLOADS["typical"]


def typical_calls(count: int) -> Workload:
    """Return the arguments of so many calls, which differ as those of real calls do."""

    def build() -> object:
        typical = ONE_CALL.build()
        assert isinstance(typical, dict)
        return [
            typical | {"offset": 25 * number, "requestId": f"8f14e45f-ceea-467f-a8d4-{number:012x}"}
            for number in range(count)
        ]

    return Workload(
        f"typical, {count:,} calls", f"the arguments of {count:,} different tool calls", build
    )


MANY = typical_calls(MANY_CALLS)


def selected(args: dict[str, Any]) -> object:
    """Return the arguments that count."""
    return {key: args[key] for key in SELECTED}


def named(many: list[object]) -> object:
    """Return calls as ``fingerprint_many`` takes them."""
    return [(NAME, args) for args in many]


def our_one_peers() -> list[Peer]:
    """Return what this package has for one call."""
    fingerprint = "the contract's text of a call: kind, name and the arguments that count"
    return [
        Peer(
            "tool_fingerprint",
            "overturn_fast",
            our_version(),
            "tool_fingerprint(NAME, value, match_on=SELECTED)",
            {"tool_fingerprint": tool_fingerprint, "NAME": NAME, "SELECTED": SELECTED},
            fingerprint,
        ),
        Peer(
            "ToolFingerprinter",
            "overturn_fast",
            our_version(),
            "search_reports(value)",
            {"search_reports": ToolFingerprinter(NAME, match_on=SELECTED)},
            fingerprint,
        ),
    ]


def one_peers() -> list[Peer]:
    """Return what is measured on one call."""
    peers = our_one_peers()
    try:
        hashed = next(peer for peer in with_orjson() if peer.name == "orjson+hashlib")
    except ImportError:
        return peers
    name = "orjson+hashlib, selected"
    return [*peers, replace(hashed, name=name, prepare=selected)]


def many_peers() -> list[Peer]:
    """Return what is measured on many calls."""
    return [
        Peer(
            "fingerprint_many",
            "overturn_fast",
            our_version(),
            "fingerprint_many(value)",
            {"fingerprint_many": fingerprint_many},
            "the contract's text of each call",
            named,
        ),
        Peer(
            "loop",
            "overturn_fast",
            our_version(),
            "[tool_fingerprint(name, args) for name, args in value]",
            {"tool_fingerprint": tool_fingerprint},
            "the contract's text of each call",
            named,
        ),
    ]
