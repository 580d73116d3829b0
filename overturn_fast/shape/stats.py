"""What a tool's responses look like: learned from any number of them, in any order, in bounds."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
from collections.abc import Iterator
from typing import Any, Final

from overturn_fast._backend import engine
from overturn_fast._errors import CanonicalizationError
from overturn_fast._pure.shape_counter import TYPES
from overturn_fast._text import checked_json
from overturn_fast.shape.times import Time, milliseconds
from overturn_fast.shape.tree import Limits, Node, close, is_same, nodes

__all__ = ["PathStats", "ShapeStats"]

MIN_KEY_BYTES: Final = 16  # of the secret that strings are told apart with

_FULL: Final = 20_000  # what counters may hold before they are emptied
_PERIODS: Final = 64  # of which there are counters
_MOST: Final = (1 << 32) - 1  # how often a response may count at once
_CLOSED: Final = 50_000  # nodes that a tree may have before it is looked through


@dataclasses.dataclass(frozen=True, slots=True)
class PathStats:
    """What is known of the values at one path."""

    path: str
    observations: int
    """How many values there are."""
    parents: int | None
    """How many objects could have had the field; None for what is no field."""
    types: dict[str, int]
    """How many values are of each type that there is."""
    integers: int
    """How many of the numbers are integers."""
    empty_arrays: int
    fewest_items: int | None
    most_items: int | None
    first_seen: int | None
    """In milliseconds since 1970, UTC; None if no time was given."""
    last_seen: int | None
    is_map: bool
    is_truncated: bool
    """What is below was too much, or nested too deep, and is not known."""

    @property
    def presence(self) -> float | None:
        """The share of the objects that have the field, None for what is no field."""
        return None if not self.parents else self.observations / self.parents

    @property
    def null_rate(self) -> float:
        """The share of the values that are null."""
        return self.types.get("null", 0) / self.observations if self.observations else 0.0


class ShapeStats:
    """Statistics of the shapes of a tool's responses, in which there is no value of any of them.

    Args:
        tool: The name of the tool.
        limits: What bounds the statistics.
        formats: Count also which strings look like a date-time, an e-mail address, a URI or a UUID.
            It makes learning slower.
        enum_key: A secret of yours, under which strings are hashed to tell the values of small sets
            apart. Without it, strings are not looked at. It is not stored, and who does not have it
            cannot find out whether a string was there.

    What is known depends on nothing but the responses and their times: neither on their order nor
    on how they were split over several ``ShapeStats`` that are merged.

    Keys of objects are stored as names of fields, unless they are identifiers by their form, or so
    many that the object is a map: then its keys are forgotten and all values count under ``{*}``.

    An instance may be used by one thread at a time. It can be copied, and pickled to be sent to
    another process; two are equal if they have learned the same under the same arguments. As an
    ``enum_key`` is in no copy, one that has it learns, and its copies are compared and merged.

    Source: contract of ``overturn_fast.shape``; "The case for shape-only fingerprints".

    >>> stats = ShapeStats("pricing")
    >>> stats.observe({"sku": "pro", "price_cents": 24000}, at="2026-07-13T06:44:18Z")
    >>> stats.observe_text('{"sku": "team", "price_cents": null}')
    >>> [(path.path, path.presence, path.types) for path in stats.paths()]
    [('$', None, {'object': 2}), ('$.price_cents', 1.0, {'null': 1, 'number': 1}), \
('$.sku', 1.0, {'string': 2})]
    """

    def __init__(
        self,
        tool: str = "",
        *,
        limits: Limits | None = None,
        formats: bool = False,
        enum_key: bytes | None = None,
    ) -> None:
        if not isinstance(tool, str):
            raise TypeError(f"tool must be a str, not {type(tool).__name__}")
        self.tool = tool
        self._limits = Limits() if limits is None else limits
        self._formats = bool(formats)
        self._enum_id = None if enum_key is None else _key_id(enum_key)
        self._new_counter = functools.partial(
            engine.shape_counter, self._limits.max_depth, formats=self._formats, enum_key=enum_key
        )
        self._can_observe = True
        self._period: int | None = None
        self._counter: Any = self._new_counter()  # of this period
        # By period; those at rest may be empty.
        self._counters: dict[int | None, Any] = {None: self._counter}
        self._root = Node()
        self._nodes = 1
        self._is_closed = True

    def __repr__(self) -> str:
        return f"<ShapeStats of {self.tool!r}: {self.observations:,} observations>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ShapeStats):
            return NotImplemented
        return self._is_alike(other) and is_same(self.root, other.root)

    __hash__ = None  # type: ignore[assignment]

    def __copy__(self) -> ShapeStats:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> ShapeStats:
        return self.copy()

    # -- learning -----------------------------------------------------------------------------

    def observe(self, response: object, at: Time | None = None, count: int = 1) -> None:
        """Count a response: Python objects as a JSON reader makes them, in any nesting.

        Args:
            response: Mappings are objects, sequences other than str and bytes are arrays, and
                what JSON does not have is of the type ``other``.
            at: When it was observed.
            count: How often it was.

        Raises:
            CanonicalizationError: It contains itself, is nested deeper than 10,000 levels, or has a
                key without a text in JSON. Then nothing is counted.
            ValueError: ``at`` is no time, ``count`` is not from 1 to 4,294,967,295, or strings are
                told apart by an ``enum_key``, which a copy does not have.
            TypeError: ``at`` or ``count`` is of another type.
        """
        time = milliseconds(at)
        self._start(time, count).observe(response, time, count)

    def observe_text(
        self, text: str | bytes | bytearray | memoryview, at: Time | None = None, count: int = 1
    ) -> None:
        """Count a response that is JSON text; of two members of one name the last counts.

        Raises:
            JSONTextError: It is no JSON. Then nothing is counted.
            ValueError, TypeError: As for ``observe``.
        """
        held, time = bytes(checked_json(text, "text")), milliseconds(at)
        self._start(time, count).observe_text(held, time, count)

    def observe_lines(
        self, buffer: bytes, at: Time | None = None
    ) -> list[tuple[int, int, CanonicalizationError]]:
        """Count every line of a buffer, each a response; lines of white space are none.

        Returns:
            The lines that are no JSON: the index of each, where it starts, and what is wrong.
        """
        time = milliseconds(at)
        refused: list[tuple[int, int, CanonicalizationError]]
        refused = self._start(time, 1).observe_lines(buffer, time)
        return refused

    def merge(self, other: ShapeStats) -> ShapeStats:
        """Add what another one has learned, which stays as it is; return this one.

        Raises:
            ValueError: They are of different tools or limits, or look at strings differently.
            TypeError: The other one is no ShapeStats.
        """
        self._check_alike(other)
        added = other.root
        if other is self:
            added = Node()
            added.merge(other.root)
        self._flush()
        self._root.merge(added)
        self._nodes += other._nodes
        self._is_closed = False
        self._close_if_large()
        return self

    def copy(self) -> ShapeStats:
        """Another one that has learned the same. It cannot observe strings for an ``enum_key``."""
        return self._with_root(Node()).merge(self)

    def empty(self, enum_key: bytes | None = None) -> ShapeStats:
        """One that has learned nothing yet, to be compared or merged with this one.

        Args:
            enum_key: The key that this one was made with, if it was made with one.

        Raises:
            ValueError: It was made with another one, or with none.

        >>> stats = ShapeStats("pricing", formats=True, limits=Limits(map_keys=9))
        >>> stats.observe({"price_cents": 24000})
        >>> stats.empty().observations, stats.empty().merge(stats) == stats
        (0, True)
        """
        made = ShapeStats(self.tool, limits=self._limits, formats=self._formats, enum_key=enum_key)
        if made._enum_id != self._enum_id:
            raise ValueError(
                "strings are told apart here by another key"
                if self._enum_id is not None and enum_key is not None
                else "strings are told apart here by a key, which is needed"
                if self._enum_id is not None
                else "no strings are told apart here, so that there is no key"
            )
        return made

    # -- what is known ------------------------------------------------------------------------

    @property
    def limits(self) -> Limits:
        """What bounds the statistics."""
        return self._limits

    @property
    def looks_at_formats(self) -> bool:
        """Whether it is counted which strings look like a date-time, an address or a UUID."""
        return self._formats

    @property
    def observations(self) -> int:
        """How many responses were counted."""
        return self.root.total

    @property
    def first_seen(self) -> int | None:
        """When the first of them was, in milliseconds since 1970; None if no time was given."""
        return min((time for time in self.root.first if time is not None), default=None)

    @property
    def last_seen(self) -> int | None:
        """When the last of them was."""
        return max((time for time in self.root.last if time is not None), default=None)

    @property
    def root(self) -> Node:
        """The tree of everything, within its limits."""
        self._flush()
        if not self._is_closed:
            self._nodes = close(self._root, self._limits)
            self._is_closed = True
        return self._root

    def paths(self) -> Iterator[PathStats]:
        """What is known of each path, in the order of paths."""
        for path, node, above in nodes(self.root):
            is_field = above is not None and node in above.fields.values()
            yield PathStats(
                path=path,
                observations=node.total,
                parents=above.objects if above is not None and is_field else None,
                types={
                    name: count for name, count in zip(TYPES, node.counts, strict=True) if count
                },
                integers=node.integers,
                empty_arrays=node.empty,
                fewest_items=node.fewest,
                most_items=node.most,
                first_seen=min((time for time in node.first if time is not None), default=None),
                last_seen=max((time for time in node.last if time is not None), default=None),
                is_map=node.is_map,
                is_truncated=node.cut,
            )

    # -- inside -------------------------------------------------------------------------------

    def _start(self, time: int | None, count: int) -> Any:
        """The counter, ready for an observation at that time."""
        if not self._can_observe:
            raise ValueError(
                "strings are told apart here by a key, without which none can be added"
            )
        if type(count) is not int:
            raise TypeError(f"count must be an int, not {type(count).__name__}")
        if not 1 <= count <= _MOST:
            raise ValueError(f"count must be from 1 to {_MOST:,}, not {count}")
        period = None if time is None else time // 1000 // self._limits.period
        if period != self._period:
            self._go_to(period)
        elif self._counter.size >= _FULL:
            self._flush()
        return self._counter

    def _go_to(self, period: int | None) -> None:
        """Have what comes counted for that period, as the last ones may be and the next."""
        held = sum(counter.size for counter in self._counters.values())
        if held >= _FULL or len(self._counters) >= _PERIODS:
            self._flush()
            self._counters.clear()
        if period not in self._counters:
            self._counters[period] = self._new_counter()
        self._period, self._counter = period, self._counters[period]

    def _flush(self) -> None:
        """Move what the counters have into the tree."""
        for period, counter in self._counters.items():
            if counter.observations:
                self._nodes += self._root.absorb(counter.export(), period)
                counter.clear()
                self._is_closed = False
        self._close_if_large()

    def _close_if_large(self) -> None:
        if self._nodes >= _CLOSED:
            self._nodes = close(self._root, self._limits)
            self._is_closed = True

    def _is_alike(self, other: ShapeStats) -> bool:
        return (self.tool, self._limits, self._formats, self._enum_id) == (
            other.tool, other._limits, other._formats, other._enum_id,
        )  # fmt: skip

    def _check_alike(self, other: ShapeStats) -> None:
        if not isinstance(other, ShapeStats):
            raise TypeError(f"only a ShapeStats can be merged, not {type(other).__name__}")
        if self.tool != other.tool:
            raise ValueError(
                f"statistics of different tools cannot be merged: {self.tool!r}, {other.tool!r}"
            )
        if self._limits != other._limits:
            raise ValueError("statistics of different limits cannot be merged")
        if self._formats != other._formats or self._enum_id != other._enum_id:
            raise ValueError("statistics that look at strings differently cannot be merged")

    def _with_root(self, root: Node) -> ShapeStats:
        """One like this that knows something else."""
        made = ShapeStats(self.tool, limits=self._limits, formats=self._formats)
        made._enum_id = self._enum_id
        made._can_observe = self._enum_id is None
        made._root = root
        made._is_closed = False
        made._nodes = close(root, self._limits)
        return made


def _key_id(key: bytes) -> str:
    """What tells keys apart without telling them."""
    if not isinstance(key, bytes):
        raise TypeError(f"enum_key must be bytes, not {type(key).__name__}")
    if len(key) < MIN_KEY_BYTES:
        raise ValueError(f"enum_key must have at least {MIN_KEY_BYTES} bytes, not {len(key)}")
    return hashlib.sha256(b"overturn_fast enum key\n" + key).hexdigest()[:16]
