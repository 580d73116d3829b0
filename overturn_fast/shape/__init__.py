"""Shape-only fingerprints: what a response consists of, whatever its values are.

    from overturn_fast import shape

    shape.fingerprint({"sku": "pro-annual", "price_cents": 24000})

And what many responses of a tool have in common, and when that changes: ``ShapeStats`` learns it,
``compare`` finds what is different, ``DriftMonitor`` does both in a running process.
"""

from __future__ import annotations

from overturn_fast.shape.baseline import BaselineError, BaselineStore, dumps, load, loads, save
from overturn_fast.shape.compare import Comparison, DriftEvent, Policy, compare
from overturn_fast.shape.incidents import Incident, Incidents
from overturn_fast.shape.json_schema import json_schema
from overturn_fast.shape.monitor import DriftMonitor, MonitorState, watch_shape
from overturn_fast.shape.rows import fingerprint, fingerprint_text, shape, shape_text
from overturn_fast.shape.stats import PathStats, ShapeStats
from overturn_fast.shape.tree import Limits

__all__ = [
    "BaselineError",
    "BaselineStore",
    "Comparison",
    "DriftEvent",
    "DriftMonitor",
    "Incident",
    "Incidents",
    "Limits",
    "MonitorState",
    "PathStats",
    "Policy",
    "ShapeStats",
    "compare",
    "dumps",
    "fingerprint",
    "fingerprint_text",
    "json_schema",
    "load",
    "loads",
    "save",
    "shape",
    "shape_text",
    "watch_shape",
]
