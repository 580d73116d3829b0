"""What a tool call gave back: how large it is, and whether there is anything in it.

Servers hand over results and tools as mappings or as objects (pydantic models mostly); both are
read here. Everything follows ``mcpulse-sdk`` 0.1.0, so that the numbers of one server stay
comparable with those of the next.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from overturn_fast._arguments import DEFAULT_MAX_DEPTH
from overturn_fast._backend import engine

__all__ = ["field_of", "is_empty_result", "json_size"]

_EMPTY_JSON: Final = re.compile(r"null|\[[ \t\n\r]*\]|\{[ \t\n\r]*\}")


def json_size(value: Any, *, max_depth: int = DEFAULT_MAX_DEPTH) -> int:
    """The size of a result or a tool definition: ``response_bytes`` and ``schema_bytes``.

    Counted is the compact JSON text, as ``json.dumps`` writes it with the separators ``,`` and
    ``:`` and without escapes of non-ASCII characters, in UTF-16 code units. That is what
    ``mcpulse-sdk`` for Python measures, and no canonical form: 1.0 counts three units.

    Args:
        value: JSON types, or an object with ``model_dump``, which is asked for them first.
        max_depth: How many levels of containers may be nested.

    Returns:
        The number of code units, or 0 if there is no such text. It never raises an Exception.

    Source: MCPulse wire format, version 1, "Sizes".

    >>> json_size({"content": [{"type": "text", "text": "café 🚀"}]})
    46
    >>> json_size(object())
    0
    """
    try:
        dump = getattr(value, "model_dump", None)
        if callable(dump):
            value = dump(exclude_none=True, by_alias=True, mode="json")
    except Exception:
        return 0
    return engine.json_size(value, max_depth=max_depth)


def is_empty_result(result: Any) -> bool:
    """Whether a call that succeeded gave nothing useful back.

    Structured content decides if there is any, be it in the envelope ``{"result": ...}`` or not;
    else the content: no part, or one part of text. Empty are None, a list, tuple, set, dict or
    model without members, blank text, and text that is itself one of them as JSON. A number and a
    boolean are answers, 0 and False too.

    Args:
        result: A tool's result, as a mapping or as an object; or any other value, which is judged
            by itself.

    Returns:
        Whether it is empty; False if that cannot be found out. It never raises an Exception.

    Source: ``mcpulse-sdk`` 0.1.0.

    >>> is_empty_result({"content": [{"type": "text", "text": "[]"}]})
    True
    >>> is_empty_result({"content": [], "structuredContent": {"result": 0}})
    False
    """
    try:
        return _is_empty(result)
    except Exception:
        return False


def field_of(value: Any, name: str) -> Any:
    """A field of a mapping or an attribute of an object; None if there is none."""
    if isinstance(value, dict):
        return value.get(name)
    return getattr(value, name, None)


def _is_empty(result: Any) -> bool:
    if result is None:
        return True
    content = field_of(result, "content")
    structured = field_of(result, "structuredContent")
    if structured is None:
        structured = field_of(result, "structured_content")
    if structured is not None:
        inner = _without_envelope(structured)
        return _is_hollow_text(inner) if isinstance(inner, str) else _is_hollow(inner)
    if isinstance(content, (list, tuple)):
        return _is_hollow_content(list(content))
    return _is_hollow(result)


def _without_envelope(structured: Any) -> Any:
    """What a tool returned, where the server put it into ``{"result": ...}`` to have an object."""
    if isinstance(structured, dict) and len(structured) == 1 and "result" in structured:
        return structured["result"]
    return structured


def _is_hollow_content(parts: list[Any]) -> bool:
    if len(parts) != 1:
        return not parts
    if field_of(parts[0], "type") != "text":
        return False
    text = field_of(parts[0], "text")
    return isinstance(text, str) and _is_hollow_text(text)


def _is_hollow_text(text: str) -> bool:
    """Whether a text is blank or, as JSON, an empty value. A long text is not parsed for that."""
    stripped = str.strip(text)
    if stripped == "" or _EMPTY_JSON.fullmatch(stripped):
        return True
    if not stripped.startswith('"'):
        return False
    try:
        return _is_hollow(json.loads(stripped))
    except ValueError:
        return False


def _is_hollow(value: Any) -> bool:
    if value is None:
        return True
    if isinstance(value, str):
        return str.strip(value) == ""
    if isinstance(value, (list, tuple, set, dict)):
        return len(value) == 0
    if isinstance(value, (int, float)):
        return False
    dump = getattr(value, "model_dump", None)
    if not callable(dump):
        return False
    dumped = dump(exclude_none=True)
    return isinstance(dumped, dict) and len(dumped) == 0
