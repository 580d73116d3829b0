"""The functions of the MCPulse wire format, version 1, that the C core computes too.

None of them raises an ``Exception``, so that measuring a call cannot be what makes it fail; what
stops a program, such as ``KeyboardInterrupt`` or ``asyncio.CancelledError``, passes through.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator
from typing import Any, Final

from overturn_fast._arguments import DEFAULT_MAX_DEPTH, checked_depth
from overturn_fast._convert import UNSUPPORTED, convert_builtin_only
from overturn_fast._profiles import MCPULSE
from overturn_fast._pure.canonical import canonical_text

__all__ = ["UNHASHABLE", "args_hash", "json_size", "utf16_length"]

ARGS_HASH_SIZE: Final = 12
UNHASHABLE: Final = "000000000000"


def args_hash(args: Any, *, max_depth: int = DEFAULT_MAX_DEPTH) -> str:
    """A short fingerprint of a call's arguments: equal for equal arguments, in every language.

    Args:
        args: The arguments, JSON types only. None, a call without arguments, hashes as ``{}``.
        max_depth: How many levels of containers may be nested.

    Returns:
        The first 12 hexadecimal digits of the SHA-256 of the canonical form, or ``000000000000``
        if the arguments have none. It never raises an Exception.

    Source: MCPulse wire format, version 1, "Canonical JSON".

    >>> args_hash({"query": "quarterly revenue", "limit": 25})
    '675ab487684c'
    >>> args_hash({"since": float("nan")})
    '000000000000'
    """
    value = {} if args is None else args
    try:
        text = canonical_text(value, MCPULSE, None, checked_depth(max_depth))
    except Exception:
        return UNHASHABLE
    return hashlib.sha256(text.encode()).hexdigest()[:ARGS_HASH_SIZE]


def utf16_length(text: str) -> int:
    """The length of a text in UTF-16 code units, as JavaScript's ``String.length`` counts it.

    Args:
        text: Any str. Anything else has no length: 0.

    Returns:
        The number of code units: 2 for each character above U+FFFF, 1 for any other code point.

    Source: MCPulse wire format, version 1, "Sizes".

    >>> utf16_length("café"), utf16_length("🚀")
    (4, 2)
    """
    return _units(str.__str__(text)) if issubclass(type(text), str) else 0


def json_size(value: Any, *, max_depth: int = DEFAULT_MAX_DEPTH) -> int:
    """The length of a value's compact JSON text in UTF-16 code units.

    The text is the one that ``json.dumps`` writes with the separators ``,`` and ``:`` and without
    escapes of non-ASCII characters: what the MCPulse SDK for Python measures. It is no canonical
    form: 1.0 counts three units and NaN has a text too.

    Args:
        value: What to measure.
        max_depth: How many levels of containers may be nested.

    Returns:
        The number of code units, or 0 if there is no such text. It never raises an Exception.

    Source: MCPulse wire format, version 1, "Sizes".

    >>> json_size({"name": "café 🚀", "stars": [1, 2.0]})
    34
    """
    try:
        return _size(value, checked_depth(max_depth))
    except Exception:
        return 0


# -- sizes ------------------------------------------------------------------------------------

_SHORT_ESCAPES: Final = frozenset('"\\\b\t\n\f\r')

Part = tuple[int, Any]
"""Units before a value (a comma, a key and its colon), and the value."""


class _Unserialisable(Exception):
    """There is no JSON text."""


def _size(value: object, max_depth: int) -> int:
    """Counts with one iterator for each open container, so nesting costs no stack."""
    size = 0
    levels: list[tuple[object, Iterator[Part]]] = [(None, iter([(0, value)]))]
    while levels:
        part = next(levels[-1][1], None)
        if part is None:
            levels.pop()
            continue
        before, value = part
        size += before
        parts = _parts(value)
        if parts is None:
            size += _scalar(value)
            continue
        depth = len(levels) - 1
        # Brent's cycle detection, as in the walk: the ancestor at the last power of two.
        is_cycle = depth > 0 and levels[1 << (depth.bit_length() - 1)][0] is value
        if is_cycle or depth >= max_depth:
            raise _Unserialisable
        size += 2
        levels.append((value, parts))
    return size


def _parts(value: Any) -> Iterator[Part] | None:
    """What a container is made of; None for anything else."""
    kind = type(value)
    if kind is dict:
        return _members(list(value.items()))
    if kind is list or kind is tuple:
        return _items(value)
    plain: Any = convert_builtin_only(value, None)
    if plain is UNSUPPORTED:
        return None
    return _members(plain) if issubclass(kind, dict) else _items(plain)


def _members(pairs: Iterable[tuple[object, object]]) -> Iterator[Part]:
    for index, (key, value) in enumerate(pairs):
        quotes = 0 if issubclass(type(key), str) else 2
        yield (index > 0) + _scalar(key) + quotes + 1, value


def _items(items: Iterable[object]) -> Iterator[Part]:
    for index, value in enumerate(items):
        yield int(index > 0), value


def _scalar(value: Any) -> int:
    """The units of a value that is no container."""
    kind = type(value)
    if issubclass(kind, str):
        text = str.__str__(value)
        return 2 + _units(text) + sum(map(_excess, text))
    if value is None or value is True:
        return 4
    if value is False:
        return 5
    if issubclass(kind, int):
        return len(int.__repr__(value))
    if issubclass(kind, float):
        number = float.__float__(value)
        return len(float.__repr__(number)) + 5 * math.isinf(number)  # Infinity for inf
    raise _Unserialisable


def _units(text: str) -> int:
    return len(text) + sum(character > "\uffff" for character in text)


def _excess(character: str) -> int:
    """By how many units the escape of a character is longer than the character."""
    if character in _SHORT_ESCAPES:
        return 1
    return 5 if character < " " else 0
