"""Shape-only fingerprints: what a response consists of, whatever its values are.

from overturn_fast import shape

shape.fingerprint({"sku": "pro-annual", "price_cents": 24000})
"""

from __future__ import annotations

from overturn_fast.shape.rows import fingerprint, fingerprint_text, shape, shape_text

__all__ = ["fingerprint", "fingerprint_text", "shape", "shape_text"]
