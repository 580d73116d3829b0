"""MCPulse events of a real MCP server, with ``install`` and without: the same, field by field.

Server and client run in this process over the ``mcp`` package's memory transport; the events are
those that the SDK posts to a server on the loopback interface.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.server
import importlib
import itertools
import json
import logging
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from overturn_fast import install, mcpulse, sdk, uninstall

watch = pytest.importorskip("mcpulse", reason="the MCPulse SDK is not installed").watch
mcpserver = pytest.importorskip(
    "mcp.server.mcpserver", reason="the mcp package is not installed, or older than 2.0"
)
Client = pytest.importorskip("mcp").Client

NOT_COMPARED = ("session_id", "started_at", "duration_ms")
keys = itertools.count()


@pytest.fixture(autouse=True)
def _nothing_stays_installed() -> Iterator[None]:
    logging.disable(logging.CRITICAL)  # the server reports the tools that crash on purpose
    yield
    logging.disable(logging.NOTSET)
    uninstall()


@contextlib.contextmanager
def events_posted() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """An endpoint on the loopback interface, and the events that have come there."""
    events: list[dict[str, Any]] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            events.extend(json.loads(body)["batch"])
            self.send_response(202)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", events
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def make_server() -> Any:
    """A server whose tools end in every way that an event tells apart."""
    server = mcpserver.MCPServer("shop")

    @server.tool()
    def search(query: str, limit: int = 5, filters: dict[str, Any] | None = None) -> list[str]:
        """Find products: café, 東京 and 😀 among them."""
        return [f"{query} é😀 {number}" for number in range(limit)]

    @server.tool()
    async def price(sku: str) -> dict[str, Any]:
        return {"sku": sku, "net": 12.5, "notes": None}

    @server.tool()
    def empty(kind: str) -> Any:
        return {"list": [], "text": " ", "json": "[]", "none": None, "zero": 0}[kind]

    @server.tool()
    async def crash(reason: str) -> str:
        raise RuntimeError(reason)

    return server


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("search", {"query": "a"}),
    ("search", {"query": "a", "limit": 1, "filters": {"b": 1.0, "a": [None, -0.0, 1e21]}}),
    ("search", {"filters": {"a": [None, 0, 1e21], "b": 1}, "limit": 1, "query": "a"}),
    ("search", {"query": "\ufb33 😀 \u2028", "limit": 2, "filters": {"\ufb33": 1, "😀": 2**60}}),
    ("search", {"query": "a", "limit": "many"}),
    ("search", {}),
    ("price", {"sku": "SKU-7"}),
    *(("empty", {"kind": kind}) for kind in ("list", "text", "json", "none", "zero")),
    ("crash", {"reason": "out of order"}),
    ("unknown", {"x": 1}),
]


async def use(server: Any, mode: str) -> None:
    async with Client(server, mode=mode) as client:
        await client.list_tools()
        for name, arguments in CALLS:
            with contextlib.suppress(Exception):
                await client.call_tool(name, arguments)


def events_of_a_server(mode: str) -> list[dict[str, Any]]:
    """What a watched server reports of all the calls."""
    server = make_server()
    with events_posted() as (endpoint, events):
        watch(server, key=f"key {next(keys)}", endpoint=endpoint)
        asyncio.run(use(server, mode))
        importlib.import_module("mcpulse.session").flush_all(timeout=30)
    return events


def compared(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{k: v for k, v in event.items() if k not in NOT_COMPARED} for event in events]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_events_are_the_same_with_and_without(mode: str) -> None:
    without = events_of_a_server(mode)
    with install("mcpulse"):
        assert sdk.installed_bindings("mcpulse")
        installed = events_of_a_server(mode)
    calls = [event for event in without if event["type"] == "call"]
    assert [event["tool_name"] for event in calls] == [name for name, _ in CALLS]
    assert {"ok", "bad_args", "crashed"} <= {event["outcome"] for event in calls}
    assert [event["is_empty"] for event in calls[7:12]] == [True, True, True, True, False]
    assert compared(installed) == compared(without)
    for with_it, without_it in zip(installed, without, strict=True):
        assert list(with_it) == list(without_it)
        assert {k: type(v) for k, v in with_it.items()} == {
            k: type(v) for k, v in without_it.items()
        }
    starts = [event for event in without if event["type"] == "startup"]
    assert len(starts) == (mode == "legacy")


def test_the_hashes_are_those_of_the_arguments() -> None:
    with install("mcpulse"):
        events = events_of_a_server("legacy")
    hashes = [event["args_hash"] for event in events if event["type"] == "call"]
    assert hashes == [mcpulse.args_hash(arguments) for _, arguments in CALLS]
    assert hashes[1] == hashes[2]  # the same call, spelled otherwise


def test_a_server_watched_before_reports_the_same_after() -> None:
    with events_posted() as (endpoint, events):
        server = make_server()
        watch(server, key=f"key {next(keys)}", endpoint=endpoint)
        asyncio.run(use(server, "legacy"))
        install("mcpulse")
        asyncio.run(use(server, "legacy"))
        uninstall("mcpulse")
        asyncio.run(use(server, "legacy"))
        importlib.import_module("mcpulse.session").flush_all(timeout=30)
    calls = [event for event in events if event["type"] == "call"]
    rounds = [compared(calls[i : i + len(CALLS)]) for i in range(0, len(calls), len(CALLS))]
    assert len(rounds) == 3
    assert rounds[0] == rounds[1] == rounds[2]
    assert len({event["session_id"] for event in calls}) == 1
