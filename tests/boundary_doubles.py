"""Doubles that are hardest to print, and an exact oracle for what printing them must give.

A double is c * 2**q, and it is printed on a grid of multiples of 10**k. Three kinds of points
decide which grid points may stand for it: the two ends of its rounding interval, which are
(2c +- 1) * 2**(q-1), and the value itself, which is nearest to one of two grid points. A printer of
limited precision goes wrong, if it ever does, where such a point lies closest to the grid (or, for
the value, to the middle between two grid points). For every exponent q these c are found here
exactly: they minimise

    (A * c + B) mod M    over a range of c,

a problem that Euclid's algorithm on A and M solves in a few dozen steps, like the best
approximations of a continued fraction.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

SMALLEST_EXPONENT = -1074  # of the last bit of a subnormal number
LARGEST_EXPONENT = 971
HIDDEN_BIT = 1 << 52


class Minimum(NamedTuple):
    """Where a linear function is smallest modulo M, and what it is there."""

    argument: int
    residue: int


def minimise(a: int, b: int, modulus: int, last: int) -> Minimum:
    """The smallest residue of ``a * j + b`` for ``0 <= j <= last``, at its first j.

    From one record of the sequence to the next, j grows by the smallest step that lowers the
    residue by no more than it is. Such steps are the best approximations from below; those from
    above are needed only to find the next ones.

    >>> [(7 * j + 3) % 19 for j in range(5)], minimise(7, 3, 19, 4)
    ([3, 10, 17, 5, 12], Minimum(argument=0, residue=3))
    >>> minimise(7, 3, 19, 18)
    Minimum(argument=5, residue=0)
    """
    argument, residue = 0, b % modulus
    raise_by, raise_steps = a % modulus, 1
    lower_by, lower_steps = modulus - raise_by, 1
    while residue and raise_by:
        if lower_by <= residue:
            times = min(residue // lower_by, (last - argument) // lower_steps)
            if times == 0:
                break
            argument += times * lower_steps
            residue -= times * lower_by
        elif lower_by > raise_by:
            times = min((lower_by - 1) // raise_by, -((residue - lower_by) // raise_by))
            lower_by -= times * raise_by
            lower_steps += times * raise_steps
            if lower_steps > last - argument:
                break
        else:
            times = (raise_by - 1) // lower_by
            if times == 0:
                break
            raise_by -= times * lower_by
            raise_steps += times * lower_steps
    return Minimum(argument, residue)


def floor_log10_of_power_of_two(exponent: int) -> int:
    """floor(log10(2**exponent)), exactly.

    >>> [floor_log10_of_power_of_two(e) for e in (-4, -3, 0, 3, 4)]
    [-2, -1, 0, 0, 1]
    """
    if exponent >= 0:
        return len(str(1 << exponent)) - 1
    # 2**-n = 5**n / 10**n, and 5**n is no power of ten.
    return len(str(5**-exponent)) - 1 + exponent


def significands(exponent: int) -> range:
    """The significands of the doubles whose last bit is 2**exponent."""
    return range(1 if exponent == SMALLEST_EXPONENT else HIDDEN_BIT, 2 * HIDDEN_BIT)


def from_parts(significand: int, exponent: int) -> float:
    """significand * 2**exponent, as a double."""
    biased = 0 if significand < HIDDEN_BIT else exponent - SMALLEST_EXPONENT + 1
    bits = biased << 52 | significand % HIDDEN_BIT
    value: float = struct.unpack("<d", struct.pack("<Q", bits))[0]
    return value


def tightest_significands(exponent: int) -> Iterator[int]:
    """The significands that bring a deciding point closest to a decimal grid, or onto it.

    Both grids a printer looks at are searched: 10**k, the finest it needs, and 10**(k+1). For each
    point the closest approaches from both sides are given, hits (residue 0) and near misses apart.
    """
    choice = significands(exponent)
    last = len(choice) - 1
    k = floor_log10_of_power_of_two(exponent)
    for grid in (k, k + 1):
        scale = Fraction(2) ** (exponent - 1) / Fraction(10) ** grid
        modulus = scale.denominator
        for slope, offset in ((2, 1), (2, -1), (2, 0), (4, 0)):
            a = slope * scale.numerator % modulus
            b = (slope * choice.start + offset) * scale.numerator % modulus
            for direction in (1, -1):
                for skip in (0, 1):
                    found = minimise(direction * a, direction * b - skip, modulus, last)
                    yield choice.start + found.argument


def boundary_doubles(exponents: range | None = None) -> Iterator[float]:
    """The tightest doubles of every exponent, each with both its neighbours."""
    for exponent in exponents or range(SMALLEST_EXPONENT, LARGEST_EXPONENT + 1):
        choice = significands(exponent)
        found = set(tightest_significands(exponent))
        for significand in sorted({c + step for c in found for step in (-1, 0, 1)}):
            if significand in choice:
                yield from_parts(significand, exponent)


def shortest_digits(value: float) -> tuple[int, int]:
    """The digits that must be printed for a positive double, as ``(s, e)`` for ``s * 10**e``.

    Found by definition with exact fractions: the interval of all reals that round to ``value`` is
    searched for multiples of ever larger powers of ten. In the last that has any the closest to
    ``value`` is taken, and of two as close the even one.

    >>> shortest_digits(0.3), shortest_digits(5e-324), shortest_digits(1e23)
    ((3, -1), (5, -324), (1, 23))
    """
    bits = struct.unpack("<Q", struct.pack("<d", value))[0]
    biased, fraction = divmod(bits, HIDDEN_BIT)
    significand = fraction + (HIDDEN_BIT if biased else 0)
    exponent = SMALLEST_EXPONENT + max(biased - 1, 0)

    # The interval's ends and the value itself, in quarters of the last bit.
    low = 4 * significand - (1 if fraction == 0 and biased > 1 else 2)
    exact = 4 * significand
    high = 4 * significand + 2
    ends_belong = significand % 2 == 0  # a point half way to a neighbour rounds to the even one

    chosen = None
    power = floor_log10_of_power_of_two(exponent - 1)  # the interval is longer than 2**exponent / 2
    while True:
        ratio = Fraction(2) ** (exponent - 2) / Fraction(10) ** power
        first, last = math.ceil(low * ratio), math.floor(high * ratio)
        if not ends_belong:
            first += first == low * ratio
            last -= last == high * ratio
        if first > last:
            break
        chosen = min(max(round(exact * ratio), first), last), power
        power += 1
    assert chosen is not None
    return chosen


def smallest_distances(multiplier: Fraction, last: int) -> tuple[Fraction, Fraction]:
    """How close ``n * multiplier`` comes to an integer from above and below, ``1 <= n <= last``.

    Exact hits are not counted; 1 stands for "no other value than an integer".

    >>> smallest_distances(Fraction(3, 10), 5)
    (Fraction(1, 5), Fraction(1, 10))
    """
    a, modulus = multiplier.numerator % multiplier.denominator, multiplier.denominator
    above = minimise(a, a - 1, modulus, last - 1).residue + 1
    below = minimise(-a, -a - 1, modulus, last - 1).residue + 1
    return Fraction(above, modulus), Fraction(below, modulus)
