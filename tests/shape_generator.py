"""Random values to take the shape of, the same ones for the same seed on every Python.

Their keys are made to collide: with dots and brackets in them, with characters that stand before
and after those in order, and so that some are prefixes of others.
"""

from __future__ import annotations

import collections
import datetime
import decimal
import fractions
import hashlib
import json
import random
import types
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["COUNT", "HUNDRED", "SEED", "ShapeGenerator", "answer", "digests"]

SEED = 20260713
COUNT = 20_000
HUNDRED = 100

PARTS = [
    *("a", "b", "id", "url", "results", "price_cents", "k" * 20),
    *(".", "[", "]", "[]", ".a", "-", "/", "\n", ":", "é", "日本", "😀", "\ufb33", ""),
]
SCALARS = [None, True, False, 0, -1, 2**70, 1.5, float("inf"), "", "text", "24000", "é😀"]
OTHERS = [
    b"bytes",
    bytearray(b"x"),
    decimal.Decimal("1.5"),
    datetime.date(2026, 7, 13),
    fractions.Fraction(1, 3),
    frozenset([1]),
    1j,
    object(),
    range(7),
    type("string", (), {})(),
    type("a.b", (), {})(),
]
Point = collections.namedtuple("Point", "x y")


class ShapeGenerator:
    """Random values for one seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def key(self) -> str:
        rng = self.random
        key = "".join(rng.choice(PARTS) for _ in range(rng.choice([1, 1, 1, 2, 3])))
        return key + "\ud800" if rng.random() < 0.002 else key

    def value(self, depth: int, *, json: bool) -> Any:
        """A value; of JSON's types alone, or of any."""
        rng = self.random
        kind = rng.random()
        if depth and kind < 0.4:
            return self.mapping(depth, json=json)
        if depth and kind < 0.7:
            items = [self.value(depth - 1, json=json) for _ in range(rng.randrange(8))]
            return items if json else self.sequence(items)
        if json or kind < 0.9:
            return rng.choice(SCALARS)
        return rng.choice(OTHERS)

    def mapping(self, depth: int, *, json: bool) -> Any:
        rng = self.random
        count = rng.randrange(7) if rng.random() < 0.97 else rng.randrange(40)
        members = {self.key(): self.value(depth - 1, json=json) for _ in range(count)}
        if json:
            return members
        wrap = rng.choice([dict] * 6 + [collections.OrderedDict, collections.UserDict])
        kind = rng.random()
        if kind < 0.05:  # keys that are no str, in their own order
            numbered = enumerate(members.values(), start=8)
            return wrap(
                {number if kind < 0.03 else number / 2: value for number, value in numbered}
            )
        if kind < 0.1:
            return types.MappingProxyType(members)
        return wrap(members)

    def sequence(self, items: list[Any]) -> Any:
        rng = self.random
        if len(items) == 2 and rng.random() < 0.3:
            return Point(*items)
        return rng.choice([list] * 6 + [tuple, collections.UserList])(items)


def answer(
    value: Any,
    shape: Callable[[Any], Any],
    fingerprint: Callable[[Any], str],
    surrogate_error: type[Exception],
) -> str:
    """One line: the rows of a value, and its digest or that it has none."""
    try:
        digest = fingerprint(value)
    except surrogate_error:
        digest = "a surrogate has no UTF-8"
    return json.dumps([shape(value), digest])


def digests(
    shape: Callable[[Any], Any],
    fingerprint: Callable[[Any], str],
    surrogate_error: type[Exception],
) -> Iterator[str]:
    """A digest over the lines of each hundred values, every second one of which is JSON's."""
    generator = ShapeGenerator(SEED)
    for _ in range(COUNT // HUNDRED):
        lines = hashlib.sha256()
        for number in range(HUNDRED):
            value = generator.value(generator.random.randrange(7), json=number % 2 == 0)
            lines.update(answer(value, shape, fingerprint, surrogate_error).encode() + b"\n")
        yield lines.hexdigest()
