"""The same measurements for pytest-benchmark: ``pytest benchmarks --benchmark-only``.

Rounds are not interleaved here, and each call goes through a Python function, which weighs on the
smallest workloads. ``python -m benchmarks`` is the measurement to quote; this one is for comparing
two states of a checkout with ``--benchmark-save`` and ``--benchmark-compare``. Peers that are not
installed are left out.
"""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.peers import Peer, available
from benchmarks.workloads import WORKLOADS, Workload

PEERS, _ = available()


@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.name)
@pytest.mark.parametrize("workload", WORKLOADS.values(), ids=lambda workload: workload.name)
def test_peer_on_workload(benchmark: Any, workload: Workload, peer: Peer) -> None:
    benchmark.group = workload.name
    benchmark.extra_info["package"] = f"{peer.package} {peer.version}"
    call, _ = peer.compiled()
    benchmark(call, workload.build())
