"""The calls that are counted, and the program that makes them under callgrind.

The program takes a folder with the texts of the workloads, as :func:`write_texts` leaves them:
under callgrind everything takes fifty times as long, and that would be most of it.

Each call is made on n equal values, twice to begin with, then once, then twice again. The
difference of the last two is n calls and nothing else: what surrounds them is the same in both.
Between them the program calls ``MARK``, at which callgrind is told to write down what it has
counted so far.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.calls import NAME, ONE_CALL, many_peers, our_one_peers, typical_calls
from benchmarks.peers import Peer, our_version, ours
from benchmarks.workloads import WORKLOADS, Workload
from overturn_fast import fingerprint_text, jcs, shape

__all__ = ["MARK", "SECTIONS", "Counted", "calls", "repetitions", "write_texts"]

MARK = "getppid"
"""A function of the C library that nothing else calls meanwhile."""

SECTIONS = 4
"""Into how many parts a call divides the run: preparation, 2n calls, n calls, 2n calls."""

ENOUGH_BYTES = 200_000
MOST_REPETITIONS = 100
FEW_CALLS = 200
"""How many calls are fingerprinted at once."""

TOLERANCE = 0.02
"""By what part of it a count may grow."""

TOLERANCE_OF_KEY_SETS = 0.06
"""The same for many small objects of different keys. Which of their key sets are remembered depends
on all that ran before, and on where the library lies in memory."""

COLD = ("typical", "messages", "unicode", "schema")
"""Workloads of which a value that was seen before takes another way than a fresh one."""


@dataclass(frozen=True)
class Counted:
    """One call: what a peer does with a workload."""

    peer: Peer
    workload: Workload
    is_cold: bool = False
    """Whether every call gets a value that nobody has seen before."""

    takes_text: bool = False
    """Whether the call is made on the JSON text instead of the value."""

    @property
    def tolerance(self) -> float:
        """By what part of it the count may grow."""
        has_many = self.peer.name in ("hash_json", "jcs.dumps") and self.workload.name == "schema"
        return TOLERANCE_OF_KEY_SETS if has_many else TOLERANCE

    @property
    def name(self) -> str:
        """What the call is stored under."""
        cold = ", cold" if self.is_cold else ""
        return f"{self.peer.name}, {self.workload.name}{cold}"

    def values(self, text: bytes, count: int) -> list[object]:
        """Make as many values from the text of the workload."""
        if self.takes_text:
            return [text] * count
        return [self.peer.prepare(json.loads(text)) for _ in range(count)]

    def parts(self, text: bytes) -> tuple[list[object], list[object], list[object]]:
        """Return what the 2n, n and 2n calls are made on."""
        n = repetitions(text)
        if self.is_cold:
            values = self.values(text, 5 * n)
            return values[: 2 * n], values[2 * n : 3 * n], values[3 * n :]
        values = self.values(text, n)
        return values * 2, values, values * 2


def repetitions(text: bytes) -> int:
    """Return n for a workload of this text: more where a call is short.

    A few at least of what is not large: where the interpreter puts an object decides a little of
    what it takes to find it again.
    """
    return max(1, min(MOST_REPETITIONS, ENOUGH_BYTES // len(text)))


def text_peers() -> list[Peer]:
    """Return what is counted on JSON text."""
    version = our_version()
    return [
        Peer(
            "jcs.canonicalize",
            "overturn_fast",
            version,
            "canonicalize(value)",
            {"canonicalize": jcs.canonicalize},
            "RFC 8785",
        ),
        Peer(
            "fingerprint_text",
            "overturn_fast",
            version,
            'fingerprint_text("tool_call", NAME, value)',
            {"fingerprint_text": fingerprint_text, "NAME": NAME},
            "the contract's text of a call",
        ),
    ]


def shape_peer() -> Peer:
    """Return the fingerprint of a shape."""
    return Peer(
        "shape.fingerprint",
        "overturn_fast",
        our_version(),
        "fingerprint(value)",
        {"fingerprint": shape.fingerprint},
        "the rows of a shape",
    )


def calls() -> list[Counted]:
    """Return everything that is counted."""
    workloads = list(WORKLOADS.values())
    peers = {peer.name: peer for peer in [*ours(), *our_one_peers(), *many_peers(), *text_peers()]}
    return [
        *(Counted(peers["hash_json"], workload) for workload in workloads),
        *(Counted(peers["hash_json"], WORKLOADS[name], is_cold=True) for name in COLD),
        *(Counted(peers["jcs.dumps"], workload) for workload in workloads),
        *(Counted(peers["jcs.canonicalize"], each, takes_text=True) for each in workloads),
        Counted(peers["canonical_json"], ONE_CALL),
        Counted(peers["args_hash"], ONE_CALL),
        Counted(peers["tool_fingerprint"], ONE_CALL),
        Counted(peers["ToolFingerprinter"], ONE_CALL),
        Counted(peers["fingerprint_text"], ONE_CALL, takes_text=True),
        Counted(peers["fingerprint_many"], typical_calls(FEW_CALLS)),
        Counted(shape_peer(), WORKLOADS["schema"]),
    ]


def write_texts(folder: Path) -> dict[str, bytes]:
    """Write the text of every workload to a file; return them by the workload's name."""
    workloads = {counted.workload.name: counted.workload for counted in calls()}
    texts = {name: workload.text().encode() for name, workload in workloads.items()}
    for name, text in texts.items():
        (folder / f"{name}.json").write_bytes(text)
    return texts


def make_calls(counted: Counted, text: bytes) -> None:
    """Make a call 5n times, with a mark before and after each part."""
    _, loop = counted.peer.compiled(clock=int)
    parts = counted.parts(text)
    os.getppid()
    for part in parts:
        loop(part)
        os.getppid()


def main(folder: Path) -> None:
    """Make all calls."""
    gc.disable()
    for counted in calls():
        make_calls(counted, (folder / f"{counted.workload.name}.json").read_bytes())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
