"""Counts of what values consist of: a plain tree of integers, to which every value only adds.

This is the part of learning that runs for every response, so that it is kept simple enough for a
native twin: no limit but one of depth, no rule about names, nothing that depends on the order of
what is observed. All rules, which keys are identifiers, what is cut off when there is too much,
are applied by ``overturn_fast.shape`` to what ``export`` gives; its result for a whole is that of
the parts put together, so a counter may be emptied into it at any time.

A value is read as for the profile ``v2`` of shapes: into its outline. What is counted, at each
node, about the parts that stand at one path:

- how many were of each type, and the first and last time at which one was observed;
- of numbers, how many are integers: an int, or a literal without fraction and exponent;
- of arrays, how many are empty, and the smallest and largest number of items;
- of objects that are entered, how many have each set of keys;
- of containers, whether one with members was nested too deep to be entered.

Every item of an array counts at one node below it, every member of an object at one of its key.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from typing import Any, Final

from overturn_fast._arguments import DEFAULT_MAX_DEPTH, checked_depth
from overturn_fast._errors import CanonicalizationError
from overturn_fast._pure.shape import Entry, outline_of, text_outline

__all__ = ["FORMATS", "MAX_DEPTH", "NO_ENUM", "TYPES", "Exported", "ShapeCounter", "shape_counter"]

TYPES: Final = ("array", "bool", "null", "number", "object", "string", "other")
"""The types, in the order of every list of counts; ``other`` is what JSON does not have."""

ARRAY, BOOL, NULL, NUMBER, OBJECT, STRING, OTHER = range(len(TYPES))
_KINDS: Final = {name: kind for kind, name in enumerate(TYPES)}

MAX_DEPTH: Final = 64
"""Levels of containers that are entered unless the caller says otherwise."""

NO_ENUM: Final = ""
"""What stands for a string that is too long to be one of few, where strings are told apart."""

FORMATS: Final = {
    "date-time": re.compile(
        r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
        r"[Tt ]([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)(\.[0-9]+)?"
        r"([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])"
    ),
    "email": re.compile(r"[^\s@\"<>]+@[^\s@\"<>]+\.[^\s@\"<>]+"),
    "uri": re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s]+"),
    "uuid": re.compile(r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"),
}
"""What a string may look like. They are hints: no fingerprint and no comparison has them."""

_LONGEST_ENUM: Final = 256  # characters of a string that may be one of few
_LONGEST_FORMAT: Final = 2048

Exported = tuple[Any, ...]
"""A node as plain data, not to be changed, with the nodes below it. The fields, in this order:

====  ============  ==================================================================
   0  counts        tuple of 7 ints, one a type: how many values
   1  first         tuple of 7: when the first one was observed, None if that is unknown
   2  last          tuple of 7: when the last one was
   3  integers      how many of the numbers are integers
   4  empty         how many of the arrays are empty
   5  fewest        the fewest items of an array, None without arrays
   6  most          the most items of an array, None without arrays
   7  cut           whether a container was not entered
   8  fields        dict of a key to its node
   9  items         the node of the items, or None if there was no item
  10  variants      dict of a frozenset of keys to how many objects have exactly these
  11  formats       dict of a format to how many strings look like it; None if not asked for
  12  enums         dict of the keyed hash of a string to how often it stands here; None if not
                    asked for
====  ============  ==================================================================
"""


class _Node:
    """The values at one path."""

    __slots__ = (
        "counts", "cut", "empty", "enums", "fewest", "fields", "first", "formats", "integers",
        "items", "last", "most", "variants",
    )  # fmt: skip

    def __init__(self) -> None:
        self.counts = [0] * len(TYPES)
        self.first: list[int | None] = [None] * len(TYPES)
        self.last: list[int | None] = [None] * len(TYPES)
        self.integers = 0
        self.empty = 0
        self.fewest: int | None = None
        self.most: int | None = None
        self.cut = False
        self.fields: dict[str, _Node] = {}
        self.items: _Node | None = None
        self.variants: dict[frozenset[str], int] = {}
        self.formats: dict[str, int] | None = None
        self.enums: dict[str, int] | None = None

    def export(self) -> Exported:
        return (
            tuple(self.counts),
            tuple(self.first),
            tuple(self.last),
            self.integers,
            self.empty,
            self.fewest,
            self.most,
            self.cut,
            {key: node.export() for key, node in self.fields.items()},
            None if self.items is None else self.items.export(),
            dict(self.variants),
            None if self.formats is None else dict(self.formats),
            None if self.enums is None else dict(self.enums),
        )


class ShapeCounter:
    """Counts values; nothing of a value is kept but the keys of its objects.

    Args:
        max_depth: How many levels of containers are entered. One that is nested deeper is counted
            with its type, and if it is not empty its node is marked as cut.
        formats: Count what strings look like, too. Slow.
        enum_key: Count strings by a hash under this key, too. Slow.

    The counts are the same for any order of the values, and those of two counters add up to those
    of one that has observed everything: ``counts``, ``integers``, ``empty``, ``variants``,
    ``formats`` and ``enums`` by sum, ``first`` and ``fewest`` by minimum, ``last`` and ``most`` by
    maximum, ``cut`` by "or".

    >>> counter = ShapeCounter()
    >>> counter.observe({"sku": "pro-annual", "price_cents": 24000})
    >>> counter.observe_text(b'{"sku": "pro-annual", "price_cents": "24000"}')
    >>> fields = counter.export()[8]
    >>> fields["price_cents"][0]  # a number, then a string
    (0, 0, 0, 1, 0, 1, 0)
    """

    def __init__(
        self,
        max_depth: int = MAX_DEPTH,
        *,
        formats: bool = False,
        enum_key: bytes | None = None,
    ) -> None:
        self._max_depth = max_depth
        self._formats = formats
        self._enum_key = enum_key
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self._root = _Node()
        self._size = 1

    @property
    def size(self) -> int:
        """How many nodes, sets of keys and told-apart strings are held: what memory depends on."""
        return self._size

    @property
    def observations(self) -> int:
        """How many values were observed."""
        return sum(self._root.counts)

    def export(self) -> Exported:
        """The counts as plain data, which does not change with the counter."""
        return self._root.export()

    def observe_text(self, text: bytes, at: int | None = None, count: int = 1) -> None:
        """Count the value of a JSON text as ``observe`` does; of two members of one name the last.

        Raises:
            JSONTextError: It is no JSON. Then nothing is counted.
            DepthError: It is nested deeper than 10,000 levels.
        """
        self._add(text_outline(text, "v2", DEFAULT_MAX_DEPTH), at, count)

    def observe_lines(
        self, buffer: bytes, at: int | None = None
    ) -> list[tuple[int, int, CanonicalizationError]]:
        r"""Count every line of a buffer; lines end with LF, those of white space are no values.

        Returns:
            The lines that are no JSON: the index of each, where it starts, and what is wrong.

        >>> counter = ShapeCounter()
        >>> [(line, start) for line, start, _ in counter.observe_lines(b'{}\n\n{"a":}\n{"a":1}\n')]
        [(2, 4)]
        >>> counter.observations
        2
        """
        refused: list[tuple[int, int, CanonicalizationError]] = []
        start = 0
        for index, line in enumerate(buffer.split(b"\n")):
            if line.strip(b" \t\r"):
                try:
                    self.observe_text(line, at)
                except CanonicalizationError as error:
                    refused.append((index, start, error))
            start += len(line) + 1
        return refused

    def observe(self, value: object, at: int | None = None, count: int = 1) -> None:
        """Count a value: Python objects of the types that JSON knows, in any nesting.

        A Mapping is an object, a Sequence other than str and the bytes types an array, anything
        that JSON does not have ``other``. Of two keys with one text the last counts.

        Args:
            value: What to count.
            at: When it was observed, in milliseconds since 1970, UTC; None if that is unknown.
            count: How often it was.

        Raises:
            KeyTypeError: A key has no text in JSON. Then nothing is counted.
            CircularReferenceError: A container contains itself.
            DepthError: Containers are nested deeper than 10,000 levels.
            UnsupportedTypeError: Reading a value failed.
        """
        # All of it is read before anything is counted: a value that raises is not counted.
        self._add(outline_of(value, "v2", DEFAULT_MAX_DEPTH), at, count)

    def _add(self, outline: list[Entry], at: int | None, count: int) -> None:
        open_nodes: list[_Node] = []  # those of the containers around the entry
        for index, entry in enumerate(outline):
            if entry.depth > self._max_depth:
                continue
            del open_nodes[entry.depth :]
            node = self._node(open_nodes[-1] if open_nodes else None, entry.key)
            open_nodes.append(node)
            kind = _KINDS.get(entry.type, OTHER)
            node.counts[kind] += count
            if at is not None:
                node.first[kind] = _least(node.first[kind], at)
                node.last[kind] = _greatest(node.last[kind], at)
            if kind == NUMBER:
                node.integers += count * isinstance(entry.value, int)
            elif kind == STRING:
                self._count_string(node, entry.value, count)
            elif kind == ARRAY:
                self._count_array(node, len(entry.value), count)
            elif kind == OBJECT and entry.depth < self._max_depth:
                self._count_object(node, frozenset(key for key, _ in entry.value), count)
            if entry.depth == self._max_depth and index + 1 < len(outline):
                node.cut |= outline[index + 1].depth > entry.depth

    def _node(self, parent: _Node | None, key: str | None) -> _Node:
        """The node of a member or an item, which is made if there is none yet."""
        if parent is None:
            return self._root
        if key is None:
            node = parent.items = parent.items or self._new()
            return node
        if key not in parent.fields:
            parent.fields[key] = self._new()
        return parent.fields[key]

    def _new(self) -> _Node:
        self._size += 1
        return _Node()

    def _count_array(self, node: _Node, length: int, count: int) -> None:
        node.empty += count * (length == 0)
        node.fewest = _least(node.fewest, length)
        node.most = _greatest(node.most, length)

    def _count_object(self, node: _Node, names: frozenset[str], count: int) -> None:
        self._size += names not in node.variants
        node.variants[names] = node.variants.get(names, 0) + count

    # -- strings ------------------------------------------------------------------------------

    def _count_string(self, node: _Node, value: Any, count: int) -> None:
        if not self._formats and self._enum_key is None:
            return
        text = str.__str__(value) if isinstance(value, str) else str.__str__(value.data)
        if self._formats:
            if node.formats is None:
                node.formats = {}
            for name in _formats_of(text):
                node.formats[name] = node.formats.get(name, 0) + count
        if self._enum_key is not None:
            if node.enums is None:
                node.enums = {}
            digest = _keyed_hash(self._enum_key, text)
            self._size += digest not in node.enums
            node.enums[digest] = node.enums.get(digest, 0) + count


def shape_counter(
    max_depth: int = MAX_DEPTH, *, formats: bool = False, enum_key: bytes | None = None
) -> ShapeCounter:
    """A counter of what values consist of.

    Args:
        max_depth: How many levels of containers are entered.
        formats: Count what strings look like, too; in Python, whatever the backend.
        enum_key: Count strings by a hash under this key, too; likewise.

    Returns:
        An empty counter with the methods of ``ShapeCounter``.

    Raises:
        ValueError: ``max_depth`` is less than 1.

    Source: "The case for shape-only fingerprints", Arrays are the hard part.

    >>> counter = shape_counter()
    >>> counter.observe({"price": 24000})
    >>> counter.observations, counter.size  # two paths, and one set of keys
    (1, 3)
    """
    return ShapeCounter(checked_depth(max_depth), formats=formats, enum_key=enum_key)


def _formats_of(text: str) -> list[str]:
    if len(text) > _LONGEST_FORMAT:
        return []
    return [name for name, pattern in FORMATS.items() if pattern.fullmatch(text)]


def _keyed_hash(key: bytes, text: str) -> str:
    if len(text) > _LONGEST_ENUM:
        return NO_ENUM
    return hmac.new(key, text.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:32]


def _least(known: int | None, value: int) -> int:
    return value if known is None else min(known, value)


def _greatest(known: int | None, value: int) -> int:
    return value if known is None else max(known, value)
