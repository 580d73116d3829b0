"""Compare buckets of temperatures with those of Node.js: a million of them, at precisions 0 to 15.

Run it from the project's root: ``python tools/verify_temperatures.py [COUNT]``.
"""

from __future__ import annotations

import random
import struct
import subprocess
import sys

from overturn_fast.pleach.temperature import bucket

PROGRAM = """
const data = require("fs").readFileSync(0); const out = Buffer.alloc(data.length / 9 * 8);
for (let i = 0; i < data.length / 9; i++) {
  const scale = 10 ** data[i * 9 + 8];
  out.writeDoubleBE(Math.round(data.readDoubleBE(i * 9) * scale) / scale, i * 8);
}
process.stdout.write(out);
"""


def temperature(source: random.Random, precision: int) -> float:
    """Uniform, or at or beside a half, or of a magnitude that nobody asks for."""
    kind = source.randrange(4)
    if kind == 0:
        return source.random() * 2
    if kind == 1:
        return (source.randrange(2 * 10**precision) + 0.5) / 10**precision
    if kind == 2:
        return source.randrange(-4_000, 4_000) / 2_000
    return source.uniform(-1, 1) * 10.0 ** source.randrange(-20, 20)


def main(count: int) -> int:
    """Print how many differ; 1 if any does."""
    source = random.Random(6)
    precisions = [source.randrange(16) for _ in range(count)]
    asked = [(temperature(source, precision), precision) for precision in precisions]
    packed = b"".join(struct.pack(">dB", *one) for one in asked)
    told = subprocess.run(["node", "-e", PROGRAM], input=packed, capture_output=True, check=True)
    expected = struct.unpack(f">{count}d", told.stdout)
    differing = [a for a, e in zip(asked, expected, strict=True) if bucket(*a) != e]
    print(f"{count:,} temperatures, {len(differing):,} differ", *differing[:5])
    return bool(differing)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000))
