"""What was learned of the values at each path, bounded, whatever the order of learning was.

A tree of counts grows with every new key. What bounds it is ``close``, which turns objects into
maps: all their keys are put together under one, ``{*}``, and forgotten. An object becomes a map

- if it is declared to be one,
- if more than ``map_keys`` of its keys have values of one scalar type, or more than
  ``map_containers`` have containers,
- or if it has more keys than its share of ``max_paths``. The root's share is all of it. Where there
  are branches, members with keys somewhere below, an object's own keys get one part and each of the
  branches another, all equal. A container whose share is nothing is cut: what is below is dropped.

Everything that decides only ever grows: the number of keys of an object, with which types, and the
number of branches; a share only shrinks. A map, and what is cut, stays so. So whatever made an
object a map among some of the values makes it one among all of them, and since putting together is
adding, it does not matter when ``close`` is called, nor on which parts: the tree that results
depends on nothing but the values. The same holds for what is kept of the sets of keys: those that
come first when they are sorted by a hash, of which each part has kept them too.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from overturn_fast._pure.shape_counter import (
    ARRAY,
    MAX_DEPTH,
    NO_ENUM,
    NULL,
    OBJECT,
    TYPES,
    Exported,
)
from overturn_fast._pure.strings import quote
from overturn_fast._shape_values import PLAIN_KEY
from overturn_fast.shape.keys import is_identifier

__all__ = [
    "ANY_KEY",
    "Limits",
    "Node",
    "Variant",
    "close",
    "is_same",
    "nodes",
    "normal_path",
    "project",
    "step",
    "steps_of",
]

ANY_KEY: Final = ".{*}"
"""The step of a path to the values of a map. A key of this text would stand in quotes."""

Variant = tuple[frozenset[str], bool]
"""The names of an object's keys, and whether it had others that are identifiers."""

_DAY: Final = 86_400


@dataclass(frozen=True, slots=True)
class Limits:
    """What bounds a ``ShapeStats``. Only statistics of equal limits can be merged.

    Each bound is part of what is learned: the result is the same in any order, under any of them.
    """

    max_depth: int = MAX_DEPTH
    """Levels of containers that are entered, 200 at most."""
    max_paths: int = 1 << 17
    """Keys in the whole tree."""
    map_keys: int = 64
    """Keys of one object whose values are of one scalar type; with more it is a map."""
    map_containers: int = 32
    """Keys of one object whose values are containers; with more it is a map."""
    max_variants: int = 16
    """Sets of keys that are counted for an object."""
    max_enum: int = 32
    """Strings that are told apart at a path, if strings are told apart at all."""
    maps: frozenset[str] = frozenset()
    """Paths of objects that are maps, however few keys they have."""
    period: int = _DAY
    """Seconds in a period of the history."""
    max_periods: int = 62
    """Periods of which the history is kept, the latest ones."""

    def __post_init__(self) -> None:
        for name in ("max_depth", "max_paths", "map_keys", "map_containers", "max_variants",
                     "max_enum", "period", "max_periods"):  # fmt: skip
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(f"{name} must be an int, not {type(value).__name__}")
            if value < 1:
                raise ValueError(f"{name} must be at least 1, not {value}")
        if self.max_depth > 200:
            raise ValueError(f"max_depth must be at most 200, not {self.max_depth}")
        if isinstance(self.maps, str):  # type: ignore[unreachable]
            raise TypeError("maps must be a set of str, not one")
        object.__setattr__(self, "maps", frozenset(normal_path(path) for path in self.maps))


class Node:
    """The values at one path."""

    __slots__ = (
        "counts", "cut", "empty", "entries", "enums", "fewest", "fields", "first", "formats",
        "history", "integers", "is_map", "items", "last", "many", "most", "variants",
    )  # fmt: skip

    def __init__(self) -> None:
        self.counts = [0] * len(TYPES)
        self.first: list[int | None] = [None] * len(TYPES)
        self.last: list[int | None] = [None] * len(TYPES)
        self.history: dict[int, list[int]] = {}
        """Counts by period; those of values without a time are in ``counts`` alone."""
        self.integers = 0
        self.empty = 0
        self.fewest: int | None = None
        self.most: int | None = None
        self.cut = False
        """Something below was dropped; nothing below is kept."""
        self.is_map = False
        self.fields: dict[str, Node] = {}
        self.entries: Node | None = None
        """The values of keys that are identifiers, or of all keys of a map."""
        self.items: Node | None = None
        self.variants: dict[Variant, int] = {}
        self.formats: dict[str, int] | None = None
        self.enums: dict[str, int] | None = None
        self.many = False
        """There are too many different strings to tell them apart."""

    # -- what is asked of it ------------------------------------------------------------------

    @property
    def total(self) -> int:
        """How many values there are."""
        return sum(self.counts)

    @property
    def objects(self) -> int:
        """How many of them are objects."""
        return self.counts[OBJECT]

    @property
    def arrays(self) -> int:
        """How many of them are arrays."""
        return self.counts[ARRAY]

    @property
    def nulls(self) -> int:
        """How many of them are null."""
        return self.counts[NULL]

    @property
    def knows_all_variants(self) -> bool:
        """Whether every object has a set of keys among those that are counted."""
        return not (self.is_map or self.cut) and sum(self.variants.values()) == self.objects

    def children(self) -> Iterator[tuple[str, Node]]:
        """The nodes right below, each with the step that leads there, in the order of paths."""
        for name in sorted(self.fields):
            yield step(name), self.fields[name]
        if self.entries is not None:
            yield ANY_KEY, self.entries
        if self.items is not None:
            yield "[]", self.items

    # -- addition -----------------------------------------------------------------------------

    def absorb(self, exported: Exported, period: int | None) -> int:
        """Add the counts of a counter, all of one period; return how many nodes that made."""
        (counts, first, last, integers, empty, fewest, most, cut, fields, items, variants, formats,
         enums) = exported  # fmt: skip
        self._add(counts, first, last, integers, empty, fewest, most)
        if period is not None:
            self._add_period(period, counts)
        self._add_strings(formats, enums)
        self._cut_if(cut)
        if self.cut:
            return 0
        made = 0
        leaves = []  # of identifiers; there may be very many, each with values of its own
        for key, below in fields.items():
            if key in self.fields or not (self.is_map or is_identifier(key)):
                made += self._field(key).absorb(below, period) + 1
            elif _is_leaf(below):
                leaves.append(below)
            else:
                made += self._entries().absorb(below, period) + 1
        if leaves:
            self._entries().absorb(_together(leaves), period)
            made += 1
        if items is not None:
            made += self._items().absorb(items, period) + 1
        if not self.is_map:
            for keys, count in variants.items():
                names = keys.intersection(self.fields)  # the others are identifiers
                self._add_variant((names, len(names) < len(keys)), count)
        return made

    def merge(self, other: Node) -> None:
        """Add the values that another node has counted."""
        self._add(
            other.counts, other.first, other.last, other.integers, other.empty, other.fewest,
            other.most,
        )  # fmt: skip
        for period, counts in other.history.items():
            self._add_period(period, counts)
        self.many |= other.many
        self._add_strings(other.formats, other.enums)
        self._cut_if(other.cut)
        if self.cut:
            return
        if other.is_map:
            self.become_map()
        for name, below in other.fields.items():
            self._field(name).merge(below)
        if other.entries is not None:
            self._entries().merge(other.entries)
        if other.items is not None:
            self._items().merge(other.items)
        if not self.is_map:
            for variant, count in other.variants.items():
                self._add_variant(variant, count)

    def become_map(self) -> None:
        """Put the values of all keys together, and forget the keys."""
        if self.is_map:
            return
        self.is_map = True
        self.variants.clear()
        fields, self.fields = self.fields, {}
        for below in fields.values():
            self._entries().merge(below)

    def _add(
        self,
        counts: Sequence[int],
        first: Sequence[int | None],
        last: Sequence[int | None],
        integers: int,
        empty: int,
        fewest: int | None,
        most: int | None,
    ) -> None:
        for kind, count in enumerate(counts):
            if count:
                self.counts[kind] += count
                self.first[kind] = _least(self.first[kind], first[kind])
                self.last[kind] = _greatest(self.last[kind], last[kind])
        self.integers += integers
        self.empty += empty
        self.fewest = _least(self.fewest, fewest)
        self.most = _greatest(self.most, most)

    def _add_period(self, period: int, counts: Iterable[int]) -> None:
        known = self.history.get(period)
        if known is None:
            self.history[period] = list(counts)
        else:
            self.history[period] = [a + b for a, b in zip(known, counts, strict=True)]

    def _add_strings(
        self, formats: Mapping[str, int] | None, enums: Mapping[str, int] | None
    ) -> None:
        if formats is not None:
            self.formats = _sum(self.formats, formats)
        if enums is not None:
            self.enums = _sum(self.enums, enums)
        if self.enums is not None and (self.many or NO_ENUM in self.enums):
            self.many, self.enums = True, {}

    def _cut_if(self, cut: bool) -> None:
        if cut:
            self.cut, self.is_map = True, False
            self.fields, self.entries, self.items, self.variants = {}, None, None, {}

    def _add_variant(self, variant: Variant, count: int) -> None:
        self.variants[variant] = self.variants.get(variant, 0) + count

    def _field(self, key: str) -> Node:
        if self.is_map:
            return self._entries()
        if key not in self.fields:
            self.fields[key] = Node()
        return self.fields[key]

    def _entries(self) -> Node:
        if self.entries is None:
            self.entries = Node()
        return self.entries

    def _items(self) -> Node:
        if self.items is None:
            self.items = Node()
        return self.items


def _is_leaf(exported: Exported) -> bool:
    """Whether a node has nothing but counts."""
    return exported[7:] == _NOTHING_BELOW


_NOTHING_BELOW: Final[tuple[Any, ...]] = (False, {}, None, {}, None, None)


def _together(leaves: list[Exported]) -> Exported:
    """Nodes that have nothing but counts as one."""
    counts, first, last, integers, empty, fewest, most = zip(
        *(leaf[:7] for leaf in leaves), strict=True
    )

    def best(
        times: Iterable[tuple[int | None, ...]], choose: Callable[..., int | None]
    ) -> tuple[int | None, ...]:
        return tuple(
            choose((time for time in of_kind if time is not None), default=None) if count else None
            for count, of_kind in zip(total, zip(*times, strict=True), strict=True)
        )

    total = tuple(map(sum, zip(*counts, strict=True)))
    return (
        total,
        best(first, min),
        best(last, max),
        sum(integers),
        sum(empty),
        functools.reduce(_least, fewest),
        functools.reduce(_greatest, most),
        *_NOTHING_BELOW,
    )


def is_same(one: Node, other: Node) -> bool:
    """Whether two trees have the same counts everywhere."""
    left: list[tuple[Node | None, Node | None]] = [(one, other)]
    while left:
        mine, its = left.pop()
        if mine is None or its is None:
            if mine is not its:
                return False
            continue
        if mine.fields.keys() != its.fields.keys() or any(
            getattr(mine, name) != getattr(its, name) for name in _COUNTED
        ):
            return False
        left.append((mine.entries, its.entries))
        left.append((mine.items, its.items))
        left.extend((below, its.fields[name]) for name, below in mine.fields.items())
    return True


_COUNTED: Final = frozenset(Node.__slots__) - {"entries", "fields", "items"}


# -- bounds -----------------------------------------------------------------------------------


def close(root: Node, limits: Limits) -> int:
    """Apply the limits to a tree; return how many nodes are left."""
    periods = sorted(root.history)[-limits.max_periods :]
    maps = [steps_of(path) for path in sorted(limits.maps)]
    return _Closing(limits, frozenset(periods), maps).close(root, (), limits.max_paths)


@dataclass(frozen=True, slots=True)
class _Closing:
    limits: Limits
    periods: frozenset[int]  # that stay
    maps: list[tuple[str, ...]]

    def close(self, node: Node, path: tuple[str, ...], share: int) -> int:
        limits = self.limits
        if not node.history.keys() <= self.periods:
            node.history = {p: c for p, c in node.history.items() if p in self.periods}
        if node.enums is not None and len(node.enums) > limits.max_enum:
            node.many, node.enums = True, {}
        if share == 0 and _has_keys(node):
            node._cut_if(True)
        if node.cut:
            return 1
        has_own_keys = len(node.fields) > 0 or node.entries is not None
        if has_own_keys and (self._is_declared(path) or self._has_map_keys(node)):
            node.become_map()
        part = self._part(node, share)
        if len(node.fields) > part:
            node.become_map()
            part = self._part(node, share)
        if len(node.variants) > limits.max_variants:
            kept = sorted(node.variants, key=_variant_rank)[: limits.max_variants]
            node.variants = {variant: node.variants[variant] for variant in kept}
        return 1 + sum(self.close(below, (*path, to), part) for to, below in node.children())

    def _is_declared(self, path: tuple[str, ...]) -> bool:
        """Whether what stands here may be at a declared path: the keys of a map may be any."""
        return any(
            len(path) == len(declared)
            and all(
                here == there or (here != "[]" != there and ANY_KEY in (here, there))
                for here, there in zip(path, declared, strict=True)
            )
            for declared in self.maps
        )

    def _has_map_keys(self, node: Node) -> bool:
        """Whether so many keys have values of one kind that they are no names."""
        limits = self.limits
        if len(node.fields) <= min(limits.map_keys, limits.map_containers):
            return False
        containers = sum(below.objects + below.arrays > 0 for below in node.fields.values())
        if containers > limits.map_containers:
            return True
        return any(
            sum(below.counts[kind] > 0 for below in node.fields.values()) > limits.map_keys
            for kind in range(len(TYPES))
            if kind not in (ARRAY, OBJECT)
        )

    def _part(self, node: Node, share: int) -> int:
        """What each branch of a node gets of its share, and the keys of the node itself."""
        if node.is_map:
            # As many as there can have been before: the containers, identifiers, items.
            return share // (1 + self.limits.map_containers + 2)
        branches = sum(_has_keys(below) for _, below in node.children())
        return share // max(1, branches + (len(node.fields) > 0))


def _has_keys(node: Node) -> bool:
    """Whether there are keys at a node or below its items; once there are, there always are."""
    while True:
        if node.cut or node.is_map or node.fields or node.entries is not None:
            return True
        if node.items is None:
            return False
        node = node.items


def _variant_rank(variant: Variant) -> bytes:
    names, has_others = variant
    text = json.dumps([sorted(names), has_others])
    return hashlib.sha256(text.encode()).digest()


def project(node: Node, pattern: Node) -> Node:
    """A tree in which everything is a map, or cut, that is so in ``pattern``; not to be changed."""
    if _fits(node, pattern):
        return node
    copy = Node()
    copy.merge(node)
    _project(copy, pattern)
    return copy


def _fits(node: Node, pattern: Node) -> bool:
    """Whether a tree has no keys where the pattern has none."""
    if node.cut != pattern.cut or node.is_map != pattern.is_map:
        return False
    return all(_fits(mine, below) for mine, below in _pairs(node, pattern))


def _project(node: Node, pattern: Node) -> None:
    node._cut_if(pattern.cut)
    if pattern.is_map:
        node.become_map()
    for mine, below in _pairs(node, pattern):
        _project(mine, below)


def _pairs(node: Node, pattern: Node) -> Iterator[tuple[Node, Node]]:
    """The nodes that are right below both, the same way."""
    for name, mine in node.fields.items():
        below = pattern.fields.get(name)
        if below is not None:
            yield mine, below
    for mine_or_none, below in ((node.entries, pattern.entries), (node.items, pattern.items)):
        if mine_or_none is not None and below is not None:
            yield mine_or_none, below


# -- paths ------------------------------------------------------------------------------------


def step(name: str) -> str:
    """A key as a step of a path: as it is if it is a plain word, else in quotes.

    >>> step("price"), step("a.b")
    ('.price', '["a.b"]')
    """
    return f".{name}" if PLAIN_KEY.fullmatch(name) else f"[{quote(name)}]"


def normal_path(path: str) -> str:
    """A path with its root: ``results[].price`` is ``$.results[].price``.

    Raises:
        ValueError: It is no path.

    >>> normal_path("results[].price"), normal_path("[].a"), normal_path("$")
    ('$.results[].price', '$[].a', '$')
    """
    whole = path
    if path != "$" and not path.startswith(("$.", "$[")):
        whole = f"${path}" if path.startswith("[") else f"$.{path}"
    if not _PATH.fullmatch(whole):
        raise ValueError(f"{path!r} is no path such as results[].price")
    return whole


def steps_of(path: str) -> tuple[str, ...]:
    """The steps of a path from the root.

    >>> steps_of('$.users.{*}["a.b"][]')
    ('.users', '.{*}', '["a.b"]', '[]')
    """
    return tuple(match.group() for match in _STEP.finditer(path, 1))


_STEP: Final = re.compile(r'\.\{\*\}|\.[A-Za-z_][A-Za-z0-9_-]*|\[\]|\["(?:[^"\\]|\\.)*"\]')
_PATH: Final = re.compile(rf"\$(?:{_STEP.pattern})*")


def _sum(known: Mapping[str, int] | None, added: Mapping[str, int]) -> dict[str, int]:
    total: dict[str, int] = dict(known or {})
    for name, count in added.items():
        total[name] = total.get(name, 0) + count
    return total


def _least(known: int | None, value: int | None) -> int | None:
    if known is None or value is None:
        return value if known is None else known
    return min(known, value)


def _greatest(known: int | None, value: int | None) -> int | None:
    if known is None or value is None:
        return value if known is None else known
    return max(known, value)


def nodes(root: Node) -> Iterator[tuple[str, Node, Node | None]]:
    """Every node with its path and the one above, in the order of paths."""
    left: list[tuple[str, Node, Node | None]] = [("$", root, None)]
    while left:
        path, node, above = left.pop()
        yield path, node, above
        below: list[Any] = [(path + to, child, node) for to, child in node.children()]
        left.extend(reversed(below))
