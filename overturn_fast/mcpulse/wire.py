"""The wire format: the fields of an event, what may stand in them, and how long that may be."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, Literal, TypedDict, cast

from overturn_fast._pure.strings import replace_lone_surrogates

__all__ = [
    "MAX_CLIENT_NAME",
    "MAX_TOOLS",
    "MAX_TOOL_NAME",
    "OUTCOMES",
    "UNKNOWN",
    "WIRE_VERSION",
    "CallEvent",
    "Event",
    "Outcome",
    "StartupEvent",
    "ToolSize",
    "capped_name",
    "checked_event",
    "is_session_id",
    "text_of",
]

WIRE_VERSION: Final = 1
"""The version of the format, ``v`` of every event."""

MAX_TOOL_NAME: Final = 200
"""Characters of a tool's name that are sent."""

MAX_CLIENT_NAME: Final = 128
"""Characters of a client's name that are sent."""

MAX_TOOLS: Final = 500
"""Tools that a startup event lists."""

UNKNOWN: Final = "unknown"
"""The name of a tool or a client that has none."""

Outcome = Literal["ok", "bad_args", "tool_error", "crashed"]
"""How a call ended: it gave a result; its arguments were refused and it never ran; it reported an
error; it raised."""

OUTCOMES: Final[tuple[Outcome, ...]] = ("ok", "bad_args", "tool_error", "crashed")


class CallEvent(TypedDict):
    """One tool call."""

    v: int
    type: Literal["call"]
    session_id: str
    client_name: str
    tool_name: str
    started_at: str
    duration_ms: int
    outcome: Outcome
    response_bytes: int
    is_empty: bool
    args_hash: str


class ToolSize(TypedDict):
    """One tool of a startup event."""

    name: str
    schema_bytes: int


class StartupEvent(TypedDict):
    """The tools that a server offers."""

    v: int
    type: Literal["startup"]
    session_id: str
    client_name: str
    tools: list[ToolSize]


Event = CallEvent | StartupEvent


# -- texts ------------------------------------------------------------------------------------


def text_of(value: Any) -> str:
    """The text of a str, read from its data and not through methods of a subclass; else ``""``."""
    return str.__str__(value) if issubclass(type(value), str) else ""


def capped_name(value: Any, longest: int) -> str:
    """The first ``longest`` characters of a name, or ``unknown``.

    A lone surrogate, which has no UTF-8, becomes U+FFFD: one malformed name must not keep the
    events beside it from being sent.
    """
    return replace_lone_surrogates(text_of(value)[:longest]) or UNKNOWN


# -- events that others made ------------------------------------------------------------------

Check = Callable[[Any], object]
"""A field's value to something true if it may stand there."""

_SESSION_ID: Final = re.compile(r"s_[0-9a-f]{12}")
_ARGS_HASH: Final = re.compile(r"[0-9a-f]{12}")
_STARTED_AT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", re.ASCII)


def is_session_id(text: str) -> bool:
    """Whether a text has the form of ``new_session_id``'s."""
    return _SESSION_ID.fullmatch(text) is not None


def checked_event(event: Any) -> Event | None:
    """A copy of an event that has exactly the fields of the wire format, with values that fit.

    Anything else gives None. So nothing gets into a buffer that is not meant to be sent.
    """
    if type(event) is not dict or len(event) > _MOST_FIELDS:
        return None
    fields = event.copy()  # another thread may change it meanwhile
    kind = fields.get("type")
    checks = _CHECKS.get(kind) if type(kind) is str else None
    if checks is None:
        return None
    if kind == "startup":
        fields["tools"] = _copied_tools(fields.get("tools"))
    return cast(Event, {name: fields[name] for name in checks}) if _fits(fields, checks) else None


def _copied_tools(tools: Any) -> list[dict[str, Any]] | None:
    if type(tools) is not list or len(tools) > MAX_TOOLS:
        return None
    copied = [tool.copy() if type(tool) is dict and len(tool) == 2 else {} for tool in tools]
    return copied if all(_fits(tool, _TOOL_CHECKS) for tool in copied) else None


def _fits(fields: dict[str, Any], checks: dict[str, Check]) -> bool:
    return len(fields) == len(checks) and all(
        name in fields and check(fields[name]) for name, check in checks.items()
    )


def _count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _form(pattern: re.Pattern[str]) -> Check:
    return lambda value: type(value) is str and pattern.fullmatch(value)


def _name(longest: int) -> Check:
    def is_name(value: Any) -> bool:
        if type(value) is not str or not 0 < len(value) <= longest:
            return False
        return value.isascii() or value == capped_name(value, longest)

    return is_name


_TOOL_CHECKS: Final[dict[str, Check]] = {
    "name": _name(MAX_TOOL_NAME),
    "schema_bytes": _count,
}
_SHARED_CHECKS: Final[dict[str, Check]] = {
    "v": lambda value: type(value) is int and value == WIRE_VERSION,
    "type": lambda value: type(value) is str,
    "session_id": _form(_SESSION_ID),
    "client_name": _name(MAX_CLIENT_NAME),
}
_CHECKS: Final[dict[str, dict[str, Check]]] = {
    "call": {
        **_SHARED_CHECKS,
        "tool_name": _name(MAX_TOOL_NAME),
        "started_at": _form(_STARTED_AT),
        "duration_ms": _count,
        "outcome": lambda value: type(value) is str and value in OUTCOMES,
        "response_bytes": _count,
        "is_empty": lambda value: type(value) is bool,
        "args_hash": _form(_ARGS_HASH),
    },
    "startup": {**_SHARED_CHECKS, "tools": lambda value: value is not None},
}
_MOST_FIELDS: Final = max(map(len, _CHECKS.values()))
