"""The shape of a value: rows of a path and a type, and the digest over them.

A value is first reduced to its outline, the types of its parts in the order they stand; everything
else is computed from that, whether it came from Python objects or from JSON text. Nothing recurses:
nesting costs memory and no stack.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from overturn_fast._arguments import DEFAULT_MAX_DEPTH, checked_depth, checked_shape_profile
from overturn_fast._convert import Pairs
from overturn_fast._errors import (
    MAX_ROW_BYTES,
    Segment,
    Status,
    TextReason,
    conversion_failure,
    failure,
    key_surrogate_failure,
    nesting_failure,
    text_failure,
)
from overturn_fast._profiles import OVERTURN
from overturn_fast._pure.strings import has_surrogate, quote
from overturn_fast._pure.text import Frame, Piece, Reader
from overturn_fast._shape_values import PLAIN_KEY, SEED_ITEMS, VIEWS

__all__ = ["shape", "shape_fingerprint", "text_shape", "text_shape_digest"]

Row = tuple[str, str]
"""A path, and the type that a value there has."""

V2_PREFIX: Final = "shape2"
"""What a digest of the profile ``v2`` begins with, and what is hashed before its rows."""


def shape(
    obj: Any, *, profile: str = "seed", max_depth: int = DEFAULT_MAX_DEPTH
) -> list[tuple[str, str]]:
    """The shape of a value: which paths it has and of which types, without any value.

    Args:
        obj: Usually what a tool returned: mappings, sequences and scalars. A value of any other
            type is a row with the name of the type.
        profile: ``"seed"``, the rows of the essay's sketch: keys as they are, the first 5 items of
            an array, rows in the order of a walk and sorted from the outermost array down.
            ``"v2"``, rows that no two shapes share: keys that are no plain words are quoted, every
            item counts, each row stands once, in the order of the keys.
        max_depth: How many levels of containers may be nested.

    Returns:
        Pairs of a path and the name of a type: null, bool, number, string, object or array, or that
        of another class.

    Raises:
        KeyTypeError: Keys of a mapping cannot be sorted (``"seed"``) or have no text (``"v2"``).
        CircularReferenceError: A container contains itself.
        DepthError: Containers are nested deeper than ``max_depth``.
        UnsupportedTypeError: Reading a value failed, such as slicing a deque under ``"seed"``.
        CanonicalizationError: The rows have more than 256 MiB, as those of a value may whose long
            keys are nested.
        ValueError: There is no such profile.

    Source: "The case for shape-only fingerprints", A minimal implementation.

    >>> shape({"sku": "pro", "tiers": [{"price": 1}, {"price": 2.5}]})
    [('$', 'object'), ('$.sku', 'string'), ('$.tiers', 'array'), ('$.tiers[]', 'object'), \
('$.tiers[].price', 'number')]
    """
    profile = checked_shape_profile(profile)
    return _rows(outline_of(obj, profile, checked_depth(max_depth)), profile)


def shape_fingerprint(
    obj: Any, *, profile: str = "seed", max_depth: int = DEFAULT_MAX_DEPTH
) -> str:
    """The digest over the shape of a value: equal as long as no field or type changes.

    Args:
        obj: As for ``shape``.
        profile: As for ``shape``.
        max_depth: How many levels of containers may be nested.

    Returns:
        Under ``"seed"`` 64 lower-case hexadecimal digits: the SHA-256 of the rows as lines
        ``path:type``, joined by newlines, in UTF-8. Under ``"v2"`` the same over a first line
        ``shape2`` and the rows, behind ``shape2:``.

    Raises:
        SurrogateError: A key holds a surrogate, which has no UTF-8; under ``"seed"`` only.
        CanonicalizationError: As for ``shape``.
        ValueError: There is no such profile.

    Source: "The case for shape-only fingerprints", A minimal implementation; FIPS 180-4.

    >>> shape_fingerprint({"sku": "pro-annual", "price_cents": 24000, "currency": "USD",
    ...     "updated_at": "2026-07-13T08:15:02Z"})
    '787c492befbf0c593299654384e16a3ef805df3c5d3efab1d899b7091a372f46'
    >>> shape_fingerprint({"a": 1, "b": []}, profile="v2") == shape_fingerprint(
    ...     {"b": [], "a": 2.5}, profile="v2")
    True
    """
    profile = checked_shape_profile(profile)
    return _digest(_rows(outline_of(obj, profile, checked_depth(max_depth)), profile), profile)


def text_shape(text: bytes, profile: str, max_depth: int) -> list[Row]:
    """The rows of the value of a JSON text.

    Raises:
        CanonicalizationError: The text is no JSON.
    """
    return _rows(outline_of(_ShapeReader(text, profile, max_depth).whole(), profile, None), profile)


def text_shape_digest(text: bytes, profile: str, max_depth: int) -> str:
    """The digest over the rows of the value of a JSON text.

    Raises:
        CanonicalizationError: The text is no JSON, or a key has no UTF-8.
    """
    reader = _ShapeReader(text, profile, max_depth)
    rows = _rows(outline_of(reader.whole(), profile, None), profile)
    if profile == "seed" and any(has_surrogate(path) for path, _ in rows):
        assert reader.surrogate_offset is not None
        raise text_failure(
            TextReason.LONE_SURROGATE, reader.surrogate_offset, reader.text, max_depth
        )
    return _digest(rows, profile)


def text_outline(text: bytes, profile: str, max_depth: int) -> list[Entry]:
    """The outline of the value of a JSON text.

    Raises:
        CanonicalizationError: The text is no JSON.
    """
    return outline_of(_ShapeReader(text, profile, max_depth).whole(), profile, None)


# -- outlines ----------------------------------------------------------------------------------


class Entry(NamedTuple):
    """A part of a value: how deep it lies, its key (None for an item), its type."""

    depth: int
    key: str | None
    type: str
    value: Any
    """What it is, for those who look closer than shapes do."""


class _Container:
    """An open container."""

    __slots__ = ("members", "segment", "source")

    def __init__(self, source: object, view: Pairs | list[object]) -> None:
        self.source = source
        self.segment: Segment = None
        self.members: Iterator[tuple[Segment, Any]] = (
            iter(view) if isinstance(view, Pairs) else enumerate(view)  # type: ignore[arg-type]
        )


def outline_of(value: object, profile: str, max_depth: int | None) -> list[Entry]:
    """The parts of a value in the order they stand, each before what it contains."""
    view_of = VIEWS[profile]
    entries: list[Entry] = []
    open_containers: list[_Container] = []

    def path() -> list[Segment]:
        return [container.segment for container in open_containers]

    def visit(key: str | None, value: object) -> None:
        try:
            view = view_of(value)
        except BaseException as error:
            failed = conversion_failure(error, path(), value)
            if failed is error:
                raise
            raise failed from failed.__cause__
        if isinstance(view, str):
            entries.append(Entry(len(open_containers), key, view, value))
            return
        depth = len(open_containers)
        # Brent's cycle detection along the path, as in the walk for canonical text.
        anchor = (1 << (depth.bit_length() - 1)) - 1 if depth else None
        is_cycle = anchor is not None and open_containers[anchor].source is value
        if max_depth is not None and (is_cycle or depth >= max_depth):
            sources = [*(container.source for container in open_containers), value]
            raise nesting_failure(path(), sources, max_depth)
        name = "object" if isinstance(view, Pairs) else "array"
        entries.append(Entry(depth, key, name, view))
        open_containers.append(_Container(value, view))

    visit(None, value)
    while open_containers:
        innermost = open_containers[-1]
        member = next(innermost.members, None)
        if member is None:
            open_containers.pop()
            continue
        innermost.segment, part = member
        visit(innermost.segment if isinstance(innermost.segment, str) else None, part)
    return entries


# -- rows --------------------------------------------------------------------------------------


class _Measure:
    """How many bytes the rows of a shape have, of which there may only be so many."""

    def __init__(self) -> None:
        self.size = 0

    def add(self, row: Row) -> None:
        """Count a row.

        Raises:
            CanonicalizationError: There are too many bytes.
        """
        self.size += sum(len(part.encode("utf-8", "surrogatepass")) + 1 for part in row)
        if self.size > MAX_ROW_BYTES:
            raise failure(Status.SHAPE_SIZE, (), None)


def _rows(outline: list[Entry], profile: str) -> list[Row]:
    return _seed_rows(outline) if profile == "seed" else _v2_rows(outline)


def _seed_rows(outline: list[Entry]) -> list[Row]:
    """The essay's rows: from each array upward sorted, and each one once.

    Sorting the rows of an array sorts those of the arrays in it too; so only the outermost is.
    """
    rows: list[Row] = []
    measure = _Measure()
    paths: list[str] = []  # of the parts that contain the one at hand, and its own
    known: dict[tuple[str, str], str] = {}  # paths by the one above and the step from there
    array: int | None = None  # depth of the outermost array
    of_array: set[Row] = set()
    for entry in _in_key_order(outline):
        if array is not None and entry.depth <= array:
            rows.extend(sorted(of_array))
            array = None
            of_array.clear()
        if array is None and entry.type == "array" and isinstance(entry.value, list):
            array = entry.depth
        del paths[entry.depth :]
        step = "[]" if entry.key is None else f".{entry.key}"
        above = paths[-1] if paths else "$"
        path = known.get((above, step)) if paths else above
        if path is None:
            path = known[above, step] = above + step
        paths.append(path)
        row = path, entry.type
        if array is None:
            measure.add(row)
            rows.append(row)
        elif row not in of_array:
            measure.add(row)
            of_array.add(row)
    rows.extend(sorted(of_array))
    return rows


def _in_key_order(outline: list[Entry]) -> Iterator[Entry]:
    """The parts of a value, those of an object by code point unless they have an order."""
    ends = [0] * len(outline)  # one past the last part of each
    for index in range(len(outline) - 1, -1, -1):
        end = index + 1
        while end < len(outline) and outline[end].depth > outline[index].depth:
            end = ends[end]
        ends[index] = end
    left = [0]
    while left:
        index = left.pop()
        yield outline[index]
        parts = []
        part = index + 1
        while part < ends[index]:
            parts.append(part)
            part = ends[part]
        if type(outline[index].value) is Pairs:
            parts.sort(key=lambda part: outline[part].key or "")
        left.extend(reversed(parts))


class _Node:
    """What the profile ``v2`` has found at one path."""

    __slots__ = ("items", "keys", "types")

    def __init__(self) -> None:
        self.types: set[str] = set()
        self.keys: dict[str, _Node] = {}
        self.items: _Node | None = None


def _v2_rows(outline: list[Entry]) -> list[Row]:
    """Each path and type once, in the order of the keys.

    A path stands before those that go on from it, keys by code point and before items, the types at
    one path by their names.
    """
    root = _Node()
    nodes = [root]
    for entry in outline:
        del nodes[entry.depth :]
        if not nodes:
            node = root
        elif entry.key is not None:
            node = nodes[-1].keys.setdefault(entry.key, _Node())
        else:
            node = nodes[-1].items = nodes[-1].items or _Node()
        node.types.add(entry.type)
        nodes.append(node)
    rows: list[Row] = []
    measure = _Measure()
    left = [("", "$", root)]  # paths are put together when it is their turn: they may be long
    while left:
        above, step, node = left.pop()
        path = above + step
        for name in sorted(node.types):
            measure.add((path, name))
            rows.append((path, name))
        if node.items is not None:
            left.append((path, "[]", node.items))
        left.extend((path, _v2_step(key), node.keys[key]) for key in sorted(node.keys)[::-1])
    return rows


def _v2_step(key: str) -> str:
    """A key as a step of a path.

    >>> _v2_step("price"), _v2_step("a.b"), _v2_step("")
    ('.price', '["a.b"]', '[""]')
    """
    return f".{key}" if PLAIN_KEY.fullmatch(key) else f"[{quote(key)}]"


def _digest(rows: list[Row], profile: str) -> str:
    lines = [f"{path}:{name}" for path, name in rows]
    if profile == "v2":
        material = "\n".join([V2_PREFIX, *lines])
        return f"{V2_PREFIX}:{hashlib.sha256(material.encode()).hexdigest()}"
    try:
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()
    except UnicodeEncodeError:
        for path, name in rows:
            if has_surrogate(path):
                raise key_surrogate_failure(path) from None
            if has_surrogate(name):
                raise key_surrogate_failure(f"{path}.{name}") from None
        raise


# -- text --------------------------------------------------------------------------------------


class _ShapeReader(Reader):
    """Makes of a text a value that has its shape: what a number is does not matter."""

    def __init__(self, text: bytes, profile: str, max_depth: int) -> None:
        super().__init__(bytes(text), OVERTURN, max_depth, None)
        self.item_limit = SEED_ITEMS if profile == "seed" else None
        self.surrogate_offset: int | None = None
        """Where the first name with a lone surrogate starts, among those that count."""

    def _literal(self, literal: bytes) -> Piece:
        return {b"null": None, b"true": True, b"false": False}[literal]

    def _empty(self, is_object: bool) -> Piece:
        return {} if is_object else []

    def _read_number(self) -> Piece:
        match = self._number_literal()
        return 0 if match.group(1) is match.group(2) is None else 0.0

    def _read_string_value(self) -> Piece:
        return self.read_string()

    def _read_name(self, frame: Frame) -> None:
        super()._read_name(frame)
        if self.surrogate_offset is None and has_surrogate(frame.name) and self._counts():
            self.surrogate_offset = frame.name_offset

    def _counts(self) -> bool:
        """Whether the part at hand belongs to no item past the limit."""
        return self.item_limit is None or all(
            frame.is_object or len(frame.members) < self.item_limit for frame in self.frames
        )

    def _closed(self, frame: Frame) -> Piece:
        if frame.is_object:
            return {name: value for name, _, value in frame.members}
        return [value for _, _, value in frame.members]
