"""Statistics as files: one JSON file for one tool, or an SQLite database for many.

The JSON is deterministic: the same statistics are the same bytes. It is versioned, written in one
step, and read with suspicion.
"""

from __future__ import annotations

import copyreg
import io
import json
import os
import secrets
import sqlite3
import threading
import weakref
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, fields
from typing import Any, Final, NoReturn

from overturn_fast._pure.shape_counter import FORMATS, TYPES
from overturn_fast.shape.keys import is_identifier
from overturn_fast.shape.stats import ShapeStats
from overturn_fast.shape.tree import Limits, Node, Variant, step

__all__ = ["BaselineError", "BaselineStore", "dumps", "load", "loads", "save"]

FORMAT: Final = "overturn_fast.shape"
VERSION: Final = 1


class BaselineError(ValueError):
    """A file that is no baseline, or not one of a version known here."""


def dumps(stats: ShapeStats) -> str:
    """The statistics as JSON: ASCII, one line for each thing that is known, a newline at the end.

    Args:
        stats: What was learned.

    Returns:
        The same text for the same statistics, whatever the order of learning was.
    """
    limits = asdict(stats.limits)
    limits["maps"] = sorted(limits["maps"])
    document = {
        "format": FORMAT,
        "version": VERSION,
        "tool": stats.tool,
        "observations": stats.observations,
        "limits": limits,
        "formats": stats._formats,
        "enum_key": stats._enum_id,
        "responses": stats.root,
    }
    text = io.StringIO()
    _write(document, "\n", text)
    text.write("\n")
    return text.getvalue()


def save(stats: ShapeStats, path: str | os.PathLike[str]) -> None:
    """Write the statistics to a file, which is replaced in one step.

    Raises:
        OSError: It cannot be written. Then it is what it was before.
    """
    target = os.path.realpath(os.fspath(path))  # a symbolic link stays one
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, f".{name}.{secrets.token_hex(8)}.tmp")
    try:
        with open(temporary, "x", encoding="ascii", newline="\n") as file:
            file.write(dumps(stats))
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.remove(temporary)
        raise


def load(path: str | os.PathLike[str]) -> ShapeStats:
    """Read statistics from a file that ``save`` has written.

    Raises:
        BaselineError: It is no such file; the message says where it goes wrong.
        OSError: It cannot be read.
    """
    with open(path, "rb") as file:
        return loads(file.read())


def loads(text: str | bytes) -> ShapeStats:
    """Statistics from the text that ``dumps`` gives.

    Args:
        text: The text, of which nothing is taken on trust.

    Returns:
        Statistics to compare with, or to learn on; where strings are told apart by a key, only the
        former.

    Raises:
        BaselineError: It is no such text; the message says where it goes wrong.
    """
    try:
        document = json.loads(text, parse_constant=_not_finite, parse_float=_not_finite)
    except (ValueError, RecursionError):
        raise BaselineError("not a baseline: no JSON, or other numbers than integers") from None
    reading = _Reading()
    return reading.stats(document)


def _reduced(stats: ShapeStats) -> tuple[Any, ...]:
    return loads, (dumps(stats),)


copyreg.pickle(ShapeStats, _reduced)  # what another process gets is what a file has

# -- writing ----------------------------------------------------------------------------------


def _write(value: Any, line: str, text: io.StringIO) -> None:
    """Write what ``json.dumps`` gives with ``indent=1`` and ``sort_keys``, one node at a time.

    The whole tree as plain objects would take more memory than the statistics themselves.
    """
    if isinstance(value, Node):
        value = _plain(value)
    if isinstance(value, (dict, list)) and value:
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        inner = f"{line} "
        text.write(opening)
        for number, key in enumerate(sorted(value) if isinstance(value, dict) else value):
            text.write(f",{inner}" if number else inner)
            if isinstance(value, dict):
                text.write(f"{json.dumps(key)}: ")
                _write(value[key], inner, text)
            else:
                _write(key, inner, text)
        text.write(line)
        text.write(closing)
    else:
        text.write(json.dumps(value))


def _plain(node: Node) -> dict[str, Any]:
    """A node as JSON, those below as they are. What is 0, empty or unknown is left out."""
    plain: dict[str, Any] = {
        "types": {
            name: _without_none(count=count, first=first, last=last)
            for name, count, first, last in zip(
                TYPES, node.counts, node.first, node.last, strict=True
            )
            if count
        },
        "history": {str(period): counts for period, counts in node.history.items()},
        "integers": node.integers,
        "empty": node.empty,
        "cut": node.cut,
        "map": node.is_map,
        "fields": node.fields,
        "variants": [
            {"keys": sorted(names), "others": has_others, "count": count}
            for (names, has_others), count in sorted(
                node.variants.items(), key=lambda item: (sorted(item[0][0]), item[0][1])
            )
        ],
    }
    kept = {name: value for name, value in plain.items() if value}
    return kept | _without_none(
        fewest=node.fewest,
        most=node.most,
        entries=node.entries,
        items=node.items,
        formats=node.formats,
        enums=node.enums,
        many=node.many or None,
    )


def _without_none(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


# -- reading ----------------------------------------------------------------------------------


def _not_finite(_: str) -> NoReturn:
    raise ValueError


class _Reading:
    """Reads a document, and says where it is not what it should be."""

    def stats(self, document: Any) -> ShapeStats:
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise BaselineError(f'not a baseline: it has no "format": "{FORMAT}"')
        if document.get("version") != VERSION:
            raise BaselineError(f"a baseline of another version than {VERSION}")
        names = {"format", "version", "tool", "observations", "limits", "formats", "enum_key",
                 "responses"}  # fmt: skip
        self._object(document, "the baseline", names)
        tool, enum_id = document.get("tool"), document.get("enum_key")
        if not isinstance(tool, str):
            self._fail("tool", "a string")
        if enum_id is not None and not isinstance(enum_id, str):
            self._fail("enum_key", "a string or null")
        if not isinstance(document.get("formats"), bool):
            self._fail("formats", "true or false")
        stats = ShapeStats(tool, limits=self._limits(document), formats=document["formats"])
        stats._enum_id = enum_id
        read = stats._with_root(self._node(document.get("responses"), "$", 0))
        if read.observations != document.get("observations"):
            self._fail("observations", "the number of responses")
        return read

    def _limits(self, document: dict[str, Any]) -> Limits:
        names = {field.name for field in fields(Limits)}
        given = self._object(document.get("limits"), "limits", names)
        maps = given.get("maps", [])
        if not isinstance(maps, list) or not all(isinstance(path, str) for path in maps):
            self._fail("limits.maps", "an array of paths")
        try:
            return Limits(**(given | {"maps": frozenset(maps)}))
        except (TypeError, ValueError) as error:
            raise BaselineError(f"not a baseline: limits: {error}") from None

    def _node(self, plain: Any, path: str, depth: int) -> Node:
        if depth > 400:
            self._fail(path, "nested less deeply")
        names = {"types", "history", "integers", "empty", "cut", "map", "fields", "variants",
                 "fewest", "most", "entries", "items", "formats", "enums", "many"}  # fmt: skip
        given = self._object(plain, path, names)
        node = Node()
        self._types(node, self._object(given.get("types", {}), path, set(TYPES)), path)
        for period, counts in self._object(given.get("history", {}), path).items():
            if not period.isdecimal() or not period.isascii() or len(period) > 12:
                self._fail(path, "a history by numbers of periods")
            node.history[int(period)] = self._counts(counts, path)
        node.integers = self._count(given.get("integers", 0), path)
        node.empty = self._count(given.get("empty", 0), path)
        node.fewest = self._count_or_none(given.get("fewest"), path)
        node.most = self._count_or_none(given.get("most"), path)
        node.cut = self._flag(given, "cut", path)
        node.is_map = self._flag(given, "map", path)
        node.many = self._flag(given, "many", path)
        self._strings(node, given, path)
        self._below(node, given, path, depth)
        if (node.cut or node.is_map) and (node.fields or node.variants):
            self._fail(path, "without fields, as a map")
        return node

    def _types(self, node: Node, types: dict[str, Any], path: str) -> None:
        for kind, name in enumerate(TYPES):
            given = self._object(types.get(name, {"count": 0}), path, {"count", "first", "last"})
            node.counts[kind] = self._count(given.get("count"), path)
            node.first[kind] = self._count_or_none(given.get("first"), path)
            node.last[kind] = self._count_or_none(given.get("last"), path)

    def _strings(self, node: Node, given: dict[str, Any], path: str) -> None:
        if "formats" in given:
            formats = self._object(given["formats"], path, set(FORMATS))
            node.formats = {name: self._count(count, path) for name, count in formats.items()}
        if "enums" in given:
            enums = self._object(given["enums"], path)
            if not all(len(name) == 32 and set(name) <= set("0123456789abcdef") for name in enums):
                self._fail(path, "told apart by hashes")
            node.enums = {name: self._count(count, path) for name, count in enums.items()}

    def _below(self, node: Node, given: dict[str, Any], path: str, depth: int) -> None:
        for name, below in self._object(given.get("fields", {}), path).items():
            if is_identifier(name):
                self._fail(path, "without identifiers among its fields")
            node.fields[name] = self._node(below, path + step(name), depth + 1)
        if "entries" in given:
            node.entries = self._node(given["entries"], path + ".{*}", depth + 1)
        if "items" in given:
            node.items = self._node(given["items"], path + "[]", depth + 1)
        variants = given.get("variants", [])
        if not isinstance(variants, list):
            self._fail(path, "with an array of variants")
        for plain in variants:
            variant, count = self._variant(plain, node, path)
            node.variants[variant] = count

    def _variant(self, plain: Any, node: Node, path: str) -> tuple[Variant, int]:
        given = self._object(plain, path, {"keys", "others", "count"})
        keys = given.get("keys")
        if (
            not isinstance(keys, list)
            or not all(isinstance(key, str) for key in keys)
            or not node.fields.keys() >= set(keys)
        ):
            self._fail(path, "with variants of its fields")
        return (frozenset(keys), self._flag(given, "others", path)), self._count(
            given.get("count"), path
        )

    # -- what a value has to be ---------------------------------------------------------------

    def _object(self, value: Any, path: str, names: set[str] | None = None) -> dict[str, Any]:
        if not isinstance(value, dict):
            self._fail(path, "an object")
        if names is not None and not value.keys() <= names:
            self._fail(path, f"without other fields than {', '.join(sorted(names))}")
        return value

    def _count(self, value: Any, path: str) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            self._fail(path, "with counts that are integers from 0")
        return value

    def _count_or_none(self, value: Any, path: str) -> int | None:
        return None if value is None else self._count(value, path)

    def _counts(self, value: Any, path: str) -> list[int]:
        if not isinstance(value, list) or len(value) != len(TYPES):
            self._fail(path, f"with {len(TYPES)} counts for each period")
        return [self._count(count, path) for count in value]

    def _flag(self, given: dict[str, Any], name: str, path: str) -> bool:
        value = given.get(name, False)
        if not isinstance(value, bool):
            self._fail(path, f"with {name} true or false")
        return value

    def _fail(self, place: str, should_be: str) -> NoReturn:
        raise BaselineError(f"not a baseline: {place} is not {should_be}")


# -- many tools -------------------------------------------------------------------------------


class BaselineStore:
    """The baselines of many tools in one SQLite database.

    Args:
        path: The file, which is made when something is saved.

    Several processes may use it at once: a baseline is saved, or merged into, in one transaction.

    >>> store = BaselineStore(":memory:")
    >>> stats = ShapeStats("pricing")
    >>> stats.observe({"price_cents": 24000})
    >>> store.merge(stats)
    >>> store.merge(stats)
    >>> store.tools(), store.load("pricing").observations
    (['pricing'], 2)
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = os.fspath(path)
        self._memory = self._connected() if self._path == ":memory:" else None
        if self._memory is not None:
            weakref.finalize(self, self._memory.close)
        self._lock = threading.RLock()  # held while the connection in memory is used

    def tools(self) -> list[str]:
        """The names of the tools, sorted.

        Raises:
            BaselineError: The file is no database of baselines.
        """
        with self._reading() as connection:
            rows = [] if connection is None else connection.execute(_TOOLS).fetchall()
        return [_checked_text(row[0]) for row in rows]

    def load(self, tool: str) -> ShapeStats | None:
        """The baseline of a tool, None if there is none.

        Raises:
            BaselineError: What is stored is no baseline of this version, or the file is no database
                of them.
        """
        with self._reading() as connection:
            return None if connection is None else self._load(connection, tool)

    def save(self, stats: ShapeStats) -> None:
        """Store a baseline in the place of the one that the tool had.

        Raises:
            BaselineError: The file is of something else, or the name of the tool has no UTF-8.
        """
        with self._transaction() as connection:
            self._save(connection, stats)

    def merge(self, stats: ShapeStats) -> None:
        """Add statistics to the baseline of their tool.

        Raises:
            BaselineError: As for ``save``, or what is stored is no baseline.
            ValueError: They are of other limits, or look at strings differently.
        """
        with self._transaction() as connection:
            known = self._load(connection, stats.tool)
            self._save(connection, stats if known is None else known.merge(stats))

    def _load(self, connection: sqlite3.Connection, tool: str) -> ShapeStats | None:
        if not _has_utf8(tool):
            return None
        query = "SELECT document FROM baseline WHERE tool = ?"
        row = connection.execute(query, (tool,)).fetchone()
        return None if row is None else loads(_checked_text(row[0]))

    def _save(self, connection: sqlite3.Connection, stats: ShapeStats) -> None:
        if not _has_utf8(stats.tool):
            raise BaselineError("the name of a tool in a database must not hold a lone surrogate")
        connection.execute(
            "INSERT INTO baseline VALUES (?, ?)"
            " ON CONFLICT (tool) DO UPDATE SET document = excluded.document",
            (stats.tool, dumps(stats)),
        )

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection | None]:
        """A connection through which nothing is made or changed; None if there is nothing yet."""
        if self._memory is not None:
            with self._lock:
                yield self._memory
        elif not os.path.exists(self._path):
            yield None
        else:
            with closing(self._opened("rw")) as connection:  # as it is after a crash, it is mended
                yield connection if _has_table(connection) else None

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        if self._memory is not None:
            with self._lock, self._memory:
                yield self._memory
            return
        with closing(self._connected()) as connection:
            connection.execute("BEGIN IMMEDIATE")
            with connection:
                yield connection

    def _connected(self) -> sqlite3.Connection:
        """A connection to write through, to a file that has the table."""
        connection = self._opened("rwc")
        try:
            if not _has_table(connection):
                connection.execute(_TABLE)
        except BaseException:
            connection.close()
            raise
        return connection

    def _opened(self, mode: str) -> sqlite3.Connection:
        name = ":memory:"
        if self._path != name:
            path = os.path.abspath(self._path)
            quoted = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
            name = f"file:{quoted}?mode={mode}"
        # One in memory is closed in the thread in which the store goes, which may be any.
        return sqlite3.connect(
            name, timeout=60, isolation_level=None, check_same_thread=False, uri=True
        )


_TABLE: Final = "CREATE TABLE IF NOT EXISTS baseline (tool TEXT PRIMARY KEY, document TEXT)"
_TOOLS: Final = "SELECT tool FROM baseline ORDER BY tool"


def _has_table(connection: sqlite3.Connection) -> bool:
    """Whether a database has the table of baselines; without it, it must be empty.

    Raises:
        BaselineError: It is of something else, or no database.
    """
    try:
        names = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
    except sqlite3.DatabaseError as error:
        raise BaselineError(f"not a database of baselines: {error}") from None
    except UnicodeDecodeError:  # of a message in which SQLite quotes what it found
        raise BaselineError("not a database of baselines: it is damaged") from None
    if names and "baseline" not in names:
        raise BaselineError("not a database of baselines: it has other tables")
    return bool(names)


def _checked_text(value: object) -> str:
    if not isinstance(value, str):
        raise BaselineError("not a database of baselines: a row has values of other types")
    return value


def _has_utf8(tool: str) -> bool:
    try:
        tool.encode()
    except UnicodeEncodeError:
        return False
    return True
