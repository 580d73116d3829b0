"""Write tests/data/shape/seed.json: what the essay's own sketch says about 20,000 values.

``python tools/shape_vectors.py ESSAY`` takes the essay "The case for shape-only fingerprints" as a
text file, runs the Python sketch under its heading "A minimal implementation", and records one
digest for every hundred of the values that ``tests/shape_generator.py`` makes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "tests" / "data" / "shape" / "seed.json"
BEGINNING, END = "import hashlib\n", "This is not a full schema system."

PRICING = {
    "sku": "pro-annual",
    "price_cents": 24000,
    "currency": "USD",
    "updated_at": "2026-07-13T08:15:02Z",
}


def sketch(essay: str) -> tuple[Callable[[Any], Any], Callable[[Any], str]]:
    """The functions ``shape`` and ``fingerprint`` that the essay prints."""
    source = essay[essay.index(BEGINNING) : essay.index(END)]
    names: dict[str, Any] = {}
    exec(source, names)
    return names["shape"], names["fingerprint"]


def main() -> None:
    """Ask the sketch and write the file."""
    sys.path.insert(0, str(ROOT / "tests"))
    from shape_generator import COUNT, HUNDRED, SEED, digests

    shape, fingerprint = sketch(Path(sys.argv[1]).read_text("utf-8"))
    described = {
        "source": 'The sketch in "The case for shape-only fingerprints", A minimal implementation, '
        "run by CPython through tools/shape_vectors.py",
        "values": f"ShapeGenerator({SEED}) of tests/shape_generator.py, {COUNT} of them",
        "digests": f"SHA-256 over what the sketch says about each {HUNDRED} values: "
        "shape_generator.answer",
        "pricing": fingerprint(PRICING),
        "expected": list(digests(shape, fingerprint, UnicodeEncodeError)),
    }
    TARGET.write_text(json.dumps(described, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
