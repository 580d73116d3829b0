"""The ratios that the project wants to reach: a peer's time divided by ours, at least.

A goal that is missed is marked in the table, and that is all: speed is judged by people who know
what else the machine was doing.
"""

from __future__ import annotations

from benchmarks.workloads import WORKLOADS

__all__ = ["goal"]

ORJSON = dict.fromkeys(WORKLOADS, 1.0) | {"tiny": 2.0, "typical": 1.2}
SDK = {
    "tiny": 40.0,
    "typical": 60.0,
    "floats-random": 100.0,
    "floats-human": 100.0,
    "messages": 15.0,
}

GOALS: dict[str, dict[str, dict[str, dict[str, float]]]] = {
    "warm": {
        "hash_json": {"SDK": SDK, "orjson+hashlib": ORJSON},
        "args_hash": {"MCPulse SDK": {"typical": 50.0}},
    },
    "cold": {},
}
"""By mode, our function, peer and workload."""


def goal(mode: str, subject: str, peer: str, workload: str) -> float | None:
    """Return the ratio that our function is to reach against a peer; None where none is set."""
    return GOALS[mode].get(subject, {}).get(peer, {}).get(workload)
