"""Calls and tool lists to the events of the wire format.

An event is a plain dict that any JSON encoder takes. Arguments and results go into the functions
here, and only sizes and hashes come out.
"""

from __future__ import annotations

import time
from datetime import datetime, timezone
from typing import Any, Final

from overturn_fast._backend import engine
from overturn_fast.mcpulse.results import field_of, is_empty_result, json_size
from overturn_fast.mcpulse.session import Session, session_for
from overturn_fast.mcpulse.wire import (
    MAX_CLIENT_NAME,
    MAX_TOOL_NAME,
    MAX_TOOLS,
    OUTCOMES,
    WIRE_VERSION,
    CallEvent,
    Outcome,
    StartupEvent,
    ToolSize,
    capped_name,
    is_session_id,
    text_of,
)

__all__ = ["call_event", "startup_event"]

_LONGEST_MS: Final = 2**53 - 1  # what every JSON reader takes for an integer


def call_event(
    session: Session | str,
    tool_name: str,
    args: Any = None,
    result: Any = None,
    *,
    outcome: Outcome = "ok",
    duration_ms: float = 0,
    started_at: datetime | float | None = None,
    client_name: str | None = None,
) -> CallEvent:
    """The event of one tool call.

    Args:
        session: A session of ``session_for``, or the id of one.
        tool_name: The tool's name; its first 200 characters are sent.
        args: The call's arguments, of which only ``args_hash`` goes into the event.
        result: What the call gave back, of which only the size and whether it is empty do.
        outcome: ``ok``, ``bad_args``, ``tool_error`` or ``crashed``.
        duration_ms: How long the call took, in milliseconds; parts of one are cut off.
        started_at: When it began: a datetime (UTC unless it says otherwise) or seconds since 1970;
            by default ``duration_ms`` ago.
        client_name: The client; by default the one that the session remembers. Its first 128
            characters are sent.

    Returns:
        Exactly the fields of the wire format. It never raises an Exception: a name that is no
        str or is empty is ``unknown``, an outcome that is none of the four ``crashed``, a duration
        that is no number 0, a time that is none now, and a session that is none the session of
        no destination.

    Source: MCPulse wire format, version 1, "What is sent".

    >>> session = session_for("https://api.example.com", "mp_live_1")
    >>> event = call_event(session, "search", {"query": "café"}, {"content": []}, duration_ms=12.7)
    >>> event["tool_name"], event["outcome"], event["duration_ms"], event["is_empty"]
    ('search', 'ok', 12, True)
    >>> event["args_hash"], event["response_bytes"]
    ('48cd4407dd19', 14)
    """
    session_id, client = _origin(session, client_name)
    ended = _outcome(outcome)
    duration = _milliseconds(duration_ms)
    return {
        "v": WIRE_VERSION,
        "type": "call",
        "session_id": session_id,
        "client_name": client,
        "tool_name": capped_name(tool_name, MAX_TOOL_NAME),
        "started_at": _timestamp(started_at, duration),
        "duration_ms": duration,
        "outcome": ended,
        "response_bytes": json_size(result),
        "is_empty": ended == "ok" and is_empty_result(result),
        "args_hash": engine.args_hash(args),
    }


def startup_event(
    session: Session | str, tools: Any, *, client_name: str | None = None
) -> StartupEvent:
    """The event of a server's start: its tools with the sizes of their definitions.

    Args:
        session: A session of ``session_for``, or the id of one.
        tools: The tools as the client sees them: a list or tuple of mappings or objects with a
            ``name``. Those without are left out; of the others the first 500 are sent.
        client_name: As for ``call_event``.

    Returns:
        Exactly the fields of the wire format. It never raises an Exception.

    Source: MCPulse wire format, version 1, "What is sent".

    >>> tool = {"name": "search", "inputSchema": {"type": "object"}}
    >>> startup_event("s_0123456789ab", [tool])["tools"]
    [{'name': 'search', 'schema_bytes': 49}]
    """
    session_id, client = _origin(session, client_name)
    return {
        "v": WIRE_VERSION,
        "type": "startup",
        "session_id": session_id,
        "client_name": client,
        "tools": _tool_sizes(tools),
    }


# -- fields that cannot fail ------------------------------------------------------------------


def _origin(session: Any, client_name: Any) -> tuple[str, str]:
    """The session's id and the client's name."""
    if not issubclass(type(session), Session):  # which asks the value nothing
        given = text_of(session)
        if is_session_id(given):
            return given, capped_name(client_name, MAX_CLIENT_NAME)
        session = session_for("", "")
    named = session.client_name if client_name is None else client_name
    return session.session_id, capped_name(named, MAX_CLIENT_NAME)


def _outcome(given: Any) -> Outcome:
    text = text_of(given)
    return next((outcome for outcome in OUTCOMES if outcome == text), "crashed")


def _milliseconds(given: Any) -> int:
    try:
        number = float(given)
    except Exception:
        return 0
    return int(min(number, _LONGEST_MS)) if number > 0 else 0


def _timestamp(given: Any, duration_ms: int) -> str:
    """ISO 8601 in UTC with milliseconds."""
    now = time.time()
    try:
        if given is None:
            return _iso(datetime.fromtimestamp(now - duration_ms / 1000, timezone.utc))
        if issubclass(type(given), datetime):
            aware = given if given.tzinfo is not None else given.replace(tzinfo=timezone.utc)
            return _iso(datetime.astimezone(aware, timezone.utc))
        return _iso(datetime.fromtimestamp(float(given), timezone.utc))
    except Exception:
        return _iso(datetime.fromtimestamp(now, timezone.utc))


def _iso(moment: datetime) -> str:
    return datetime.isoformat(moment, timespec="milliseconds").removesuffix("+00:00") + "Z"


def _tool_sizes(tools: Any) -> list[ToolSize]:
    kind = type(tools)
    listed: list[Any] = []
    if issubclass(kind, list):
        listed = list.copy(tools)
    elif issubclass(kind, tuple):
        listed = list(tuple.__iter__(tools))
    sizes: list[ToolSize] = []
    for tool in listed:
        if len(sizes) == MAX_TOOLS:
            break
        if name := _tool_name(tool):
            sizes.append(
                {"name": capped_name(name, MAX_TOOL_NAME), "schema_bytes": json_size(tool)}
            )
    return sizes


def _tool_name(tool: Any) -> str:
    try:
        return text_of(field_of(tool, "name"))
    except Exception:
        return ""
