"""The MCPulse wire format, version 1: argument hashes, sizes, events, and a buffer to send them.

What a producer of that format needs, except the sending itself::

    from overturn_fast import mcpulse

    session = mcpulse.session_for("https://api.example.com", key)
    buffer = session.buffer(post)  # post(events) sends a list of dicts

    buffer.add(mcpulse.call_event(session, "search", arguments, result, duration_ms=12))

Three rules hold for everything here, except that ``canonicalize`` raises ``CanonicalizeError``:

- It never throws. No function raises an ``Exception``, whatever it is given; ``KeyboardInterrupt``,
  ``asyncio.CancelledError`` and other reasons to stop pass through.
- It never blocks. Recording takes a lock that nobody holds while sending.
- It never keeps customer data. Of arguments and results only sizes and hashes are kept.

Source: MCPulse wire format, version 1.
"""

from __future__ import annotations

from overturn_fast._backend import engine
from overturn_fast._pure.mcpulse import UNHASHABLE
from overturn_fast.mcpulse.buffer import BufferStats, EventBuffer, Transport
from overturn_fast.mcpulse.canonical import CanonicalizeError, canonicalize
from overturn_fast.mcpulse.events import call_event, startup_event
from overturn_fast.mcpulse.results import is_empty_result, json_size
from overturn_fast.mcpulse.session import Session, new_session_id, session_for
from overturn_fast.mcpulse.wire import (
    MAX_CLIENT_NAME,
    MAX_TOOL_NAME,
    MAX_TOOLS,
    OUTCOMES,
    WIRE_VERSION,
    CallEvent,
    Event,
    Outcome,
    StartupEvent,
    ToolSize,
)

args_hash = engine.args_hash
utf16_length = engine.utf16_length

__all__ = [
    "MAX_CLIENT_NAME",
    "MAX_TOOLS",
    "MAX_TOOL_NAME",
    "OUTCOMES",
    "UNHASHABLE",
    "WIRE_VERSION",
    "BufferStats",
    "CallEvent",
    "CanonicalizeError",
    "Event",
    "EventBuffer",
    "Outcome",
    "Session",
    "StartupEvent",
    "ToolSize",
    "Transport",
    "args_hash",
    "call_event",
    "canonicalize",
    "is_empty_result",
    "json_size",
    "new_session_id",
    "session_for",
    "startup_event",
    "utf16_length",
]
