"""What was learned as a JSON Schema, draft 2020-12."""

from __future__ import annotations

from typing import Any, Final

from overturn_fast._pure.shape_counter import ARRAY, BOOL, NULL, NUMBER, OBJECT, OTHER, STRING
from overturn_fast.shape.stats import ShapeStats
from overturn_fast.shape.tree import Node

__all__ = ["json_schema"]

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

_NAMES: Final = {
    ARRAY: "array",
    BOOL: "boolean",
    NULL: "null",
    NUMBER: "number",
    OBJECT: "object",
    STRING: "string",
}


def json_schema(stats: ShapeStats) -> dict[str, Any]:
    """The contract that was learned, as a JSON Schema that all responses it comes from meet.

    Args:
        stats: What was learned.

    Returns:
        The schema: the types of each value, the fields of each object, those required that were in
        all of them. A format is given where every string had it, which needs ``formats=True``.
        What is beyond the limits, and what JSON does not have, may be anything.

    Source: JSON Schema, draft 2020-12.

    >>> stats = ShapeStats("pricing")
    >>> stats.observe({"price_cents": 24000, "note": None})
    >>> stats.observe({"price_cents": 12.5})
    >>> json_schema(stats)["properties"]
    {'note': {'type': 'null'}, 'price_cents': {'type': 'number'}}
    >>> json_schema(stats)["required"]
    ['price_cents']
    """
    schema: dict[str, Any] = {"$schema": DIALECT}
    if stats.tool:
        schema["title"] = stats.tool
    schema["description"] = f"Learned from {stats.observations:,} responses."
    return schema | _schema(stats.root)


def _schema(node: Node) -> dict[str, Any]:
    if node.total == 0 or node.counts[OTHER] or node.cut:
        return {}
    types = [_NAMES[kind] for kind in sorted(_NAMES, key=_NAMES.__getitem__) if node.counts[kind]]
    if node.integers and node.integers == node.counts[NUMBER]:
        types = ["integer" if name == "number" else name for name in types]
    schema: dict[str, Any] = {"type": types[0] if len(types) == 1 else types}
    if node.objects:
        schema |= _object(node)
    if node.arrays:
        schema |= {} if node.items is None else {"items": _schema(node.items)}
    for name, count in sorted((node.formats or {}).items()):
        if count and count == node.counts[STRING]:
            schema["format"] = name
    return schema


def _object(node: Node) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    if node.fields:
        schema["properties"] = {name: _schema(node.fields[name]) for name in sorted(node.fields)}
        required = [name for name in sorted(node.fields) if node.fields[name].total == node.objects]
        if required:
            schema["required"] = required
    if node.entries is not None:
        schema["additionalProperties"] = _schema(node.entries)
    return schema
