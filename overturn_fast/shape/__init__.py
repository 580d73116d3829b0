"""Shape-only fingerprints: what a response consists of, whatever its values are.

    from overturn_fast import shape

    shape.fingerprint({"sku": "pro-annual", "price_cents": 24000})

And what many responses of a tool have in common: ``ShapeStats`` learns it.
"""

from __future__ import annotations

from overturn_fast.shape.baseline import BaselineError, BaselineStore
from overturn_fast.shape.rows import fingerprint, fingerprint_text, shape, shape_text
from overturn_fast.shape.stats import PathStats, ShapeStats
from overturn_fast.shape.tree import Limits

__all__ = [
    "BaselineError",
    "BaselineStore",
    "Limits",
    "PathStats",
    "ShapeStats",
    "fingerprint",
    "fingerprint_text",
    "shape",
    "shape_text",
]
