"""Sessions and events of the MCPulse wire format."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import time
from collections import UserDict
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from parameter_ids import shown

from overturn_fast import mcpulse
from overturn_fast.mcpulse.wire import checked_event

SESSION_ID = re.compile(r"s_[0-9a-f]{12}")
STARTED_AT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
CALL_FIELDS = [
    *("v", "type", "session_id", "client_name", "tool_name", "started_at", "duration_ms"),
    *("outcome", "response_bytes", "is_empty", "args_hash"),
]
STARTUP_FIELDS = ["v", "type", "session_id", "client_name", "tools"]


@pytest.fixture
def session(request: pytest.FixtureRequest) -> mcpulse.Session:
    """A session of its own for every test."""
    return mcpulse.session_for("https://api.example.com", request.node.nodeid)


# -- sessions --------------------------------------------------------------------------------------


def test_session_ids_are_random_hexadecimal() -> None:
    ids = {mcpulse.new_session_id() for _ in range(1_000)}
    assert len(ids) == 1_000
    assert all(SESSION_ID.fullmatch(session_id) for session_id in ids)


def test_one_session_for_a_process_and_a_destination() -> None:
    first = mcpulse.session_for("https://one.example.com", "k")
    assert mcpulse.session_for("https://one.example.com", "k") is first
    assert mcpulse.session_for("https://one.example.com//", " k\n") is first
    others = [
        mcpulse.session_for(endpoint, key)
        for endpoint, key in [
            ("https://two.example.com", "k"),
            ("https://one.example.com", "K"),
            ("https://one.example.comk", ""),
            ("", "https://one.example.comk"),
        ]
    ]
    assert len({session.session_id for session in [first, *others]}) == 5


def test_threads_that_come_first_together_get_one_session() -> None:
    barrier = threading.Barrier(8)
    found: list[mcpulse.Session] = []

    def find() -> None:
        barrier.wait(60)
        found.append(mcpulse.session_for("https://threads.example.com", "k"))

    threads = [threading.Thread(target=find) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(found) == 8
    assert all(session is found[0] for session in found)


@pytest.mark.parametrize("destination", [(None, None), (1, b"k"), ("\ud800", "\udfff")])
def test_any_destination_has_a_session(destination: Any) -> None:
    session = mcpulse.session_for(*destination)
    assert session is mcpulse.session_for(*destination)
    assert SESSION_ID.fullmatch(session.session_id)


def test_the_client_that_identified_itself_last_is_remembered(session: mcpulse.Session) -> None:
    assert session.client_name == "unknown"
    session.remember_client("one")
    session.remember_client("two")
    for name in ["", None, 3, b"three"]:
        session.remember_client(name)
    assert session.client_name == "two"
    session.remember_client("é" * 200)
    assert session.client_name == "é" * 128


def test_startup_begins_once(session: mcpulse.Session) -> None:
    assert [session.begin_startup() for _ in range(3)] == [True, False, False]


def test_a_session_has_one_buffer(session: mcpulse.Session) -> None:
    first = session.buffer(list)
    assert session.buffer(tuple) is first


def test_a_session_shows_neither_endpoint_nor_key() -> None:
    session = mcpulse.session_for("https://secret.example.com", "mp_live_secret")
    assert "secret" not in repr(session)
    assert repr(session) == f"<Session {session.session_id}>"


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="needs fork")
def test_a_forked_process_has_sessions_of_its_own() -> None:
    script = """
import json, os, warnings
warnings.simplefilter("ignore")
from overturn_fast import mcpulse
session = mcpulse.session_for("e", "k")
session.remember_client("parent's")
session.begin_startup()
before = session.session_id
read, write = os.pipe()
if os.fork() == 0:
    found = mcpulse.session_for("e", "k")
    answer = [found is session, found.session_id, found.client_name, found.begin_startup()]
    os.write(write, json.dumps(answer).encode())
    os._exit(0)
os.wait()
print(json.dumps([before, session.session_id, json.loads(os.read(read, 1000))]))
"""
    answer = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, timeout=300
    ).stdout
    before, after, (is_same_object, child_id, client, is_first) = json.loads(answer)
    assert before == after != child_id
    assert SESSION_ID.fullmatch(child_id)
    assert (is_same_object, client, is_first) == (True, "unknown", True)


# -- calls -----------------------------------------------------------------------------------------


def test_a_call_event_has_exactly_the_fields_of_the_wire_format(session: mcpulse.Session) -> None:
    session.remember_client("claude-desktop")
    event = mcpulse.call_event(
        session,
        "search_customers",
        {"query": "quarterly revenue", "limit": 25},
        {"content": [{"type": "text", "text": "[]"}]},
        duration_ms=42.9,
        started_at=datetime(2026, 7, 13, 6, 44, 18, 123_999, tzinfo=timezone.utc),
    )
    assert list(event) == CALL_FIELDS
    assert event == {
        "v": 1,
        "type": "call",
        "session_id": session.session_id,
        "client_name": "claude-desktop",
        "tool_name": "search_customers",
        "started_at": "2026-07-13T06:44:18.123Z",
        "duration_ms": 42,
        "outcome": "ok",
        "response_bytes": 41,
        "is_empty": True,
        "args_hash": "675ab487684c",
    }
    assert checked_event(event) == event


def test_a_call_event_of_nothing_but_a_name(session: mcpulse.Session) -> None:
    before = datetime.now(timezone.utc) - timedelta(milliseconds=1)
    event = mcpulse.call_event(session, "ping")
    started = datetime.fromisoformat(event["started_at"].replace("Z", "+00:00"))
    assert before <= started <= datetime.now(timezone.utc)
    assert event["args_hash"] == "44136fa355b3"
    assert (event["response_bytes"], event["is_empty"]) == (4, True)
    assert (event["duration_ms"], event["client_name"]) == (0, "unknown")


@pytest.mark.parametrize("outcome", mcpulse.OUTCOMES)
def test_only_a_call_that_succeeded_is_empty(outcome: mcpulse.Outcome) -> None:
    event = mcpulse.call_event("s_0123456789ab", "t", {}, [], outcome=outcome)
    assert event["outcome"] == outcome
    assert event["is_empty"] is (outcome == "ok")


@pytest.mark.parametrize("outcome", ["OK", "", None, 1, ["ok"]])
def test_an_outcome_that_is_none_is_a_crash(outcome: Any) -> None:
    event = mcpulse.call_event("s_0123456789ab", "t", outcome=outcome)
    assert (event["outcome"], event["is_empty"]) == ("crashed", False)


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("n" * 200, "n" * 200),
        ("n" * 201, "n" * 200),
        ("🚀" * 300, "🚀" * 200),
        ("", "unknown"),
        (None, "unknown"),
        (5, "unknown"),
        ("a\ud800b\udfff", "a\ufffdb\ufffd"),
    ],
    ids=shown,
)
def test_a_tool_name_is_text_of_at_most_200_characters(name: Any, sent: str) -> None:
    assert mcpulse.call_event("s_0123456789ab", name)["tool_name"] == sent


@pytest.mark.parametrize(
    ("name", "sent"),
    [("c" * 129, "c" * 128), ("", "unknown"), (None, "unknown"), (7, "unknown")],
)
def test_a_client_name_is_text_of_at_most_128_characters(name: Any, sent: str) -> None:
    event = mcpulse.call_event("s_0123456789ab", "t", client_name=name)
    assert event["client_name"] == sent


def test_a_client_name_given_counts_more_than_the_remembered_one(session: mcpulse.Session) -> None:
    session.remember_client("remembered")
    assert mcpulse.call_event(session, "t", client_name="given")["client_name"] == "given"
    assert mcpulse.startup_event(session, [], client_name="given")["client_name"] == "given"
    assert mcpulse.startup_event(session, [])["client_name"] == "remembered"


@pytest.mark.parametrize(
    ("duration", "sent"),
    [
        (0, 0),
        (1.99, 1),
        (-5, 0),
        (float("nan"), 0),
        (float("inf"), 2**53 - 1),
        (10**400, 0),
        (None, 0),
        ("fast", 0),
    ],
    ids=shown,
)
def test_a_duration_is_whole_milliseconds(duration: Any, sent: int) -> None:
    event = mcpulse.call_event("s_0123456789ab", "t", duration_ms=duration)
    assert event["duration_ms"] == sent
    assert type(event["duration_ms"]) is int


@pytest.mark.parametrize(
    ("moment", "sent"),
    [
        (datetime(2026, 1, 2, 3, 4, 5), "2026-01-02T03:04:05.000Z"),
        (
            datetime(2026, 1, 2, 3, 4, 5, 999_999, timezone(timedelta(hours=2))),
            "2026-01-02T01:04:05.999Z",
        ),
        (0, "1970-01-01T00:00:00.000Z"),
        (1_767_323_045.25, "2026-01-02T03:04:05.250Z"),
        (datetime(1, 1, 1), "0001-01-01T00:00:00.000Z"),
    ],
)
def test_a_start_is_written_in_utc_with_milliseconds(moment: Any, sent: str) -> None:
    assert mcpulse.call_event("s_0123456789ab", "t", started_at=moment)["started_at"] == sent


@pytest.mark.parametrize(
    "moment",
    [
        "2026-01-02",
        float("nan"),
        10**300,
        [],
        datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=9))),
    ],
)
def test_a_start_that_is_no_time_is_now(moment: Any) -> None:
    before = time.time() - 1
    sent = mcpulse.call_event("s_0123456789ab", "t", started_at=moment)["started_at"]
    assert STARTED_AT.fullmatch(sent)
    assert datetime.fromisoformat(sent.replace("Z", "+00:00")).timestamp() >= before


def test_the_start_is_by_default_the_duration_ago(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("overturn_fast.mcpulse.events.time.time", lambda: 1_000_000_000.0)
    event = mcpulse.call_event("s_0123456789ab", "t", duration_ms=1_500)
    assert event["started_at"] == "2001-09-09T01:46:38.500Z"


@pytest.mark.parametrize("given", ["s_0123456789AB", "s_0123456789abc", "", None, 4, object()])
def test_a_session_that_is_none_is_that_of_no_destination(given: Any) -> None:
    expected = mcpulse.session_for("", "").session_id
    assert mcpulse.call_event(given, "t")["session_id"] == expected
    assert mcpulse.startup_event(given, [])["session_id"] == expected


# -- startups --------------------------------------------------------------------------------------


class Tool:
    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)


class ModelTool(Tool):
    def model_dump(self, **options: Any) -> dict[str, Any]:
        assert options == {"exclude_none": True, "by_alias": True, "mode": "json"}
        return {"name": self.__dict__["name"]}


def test_a_startup_event_has_exactly_the_fields_of_the_wire_format(
    session: mcpulse.Session,
) -> None:
    tools = [
        {"name": "search", "inputSchema": {"type": "object", "title": "é🚀"}},
        ModelTool(name="model"),
        Tool(name="opaque"),
    ]
    event = mcpulse.startup_event(session, tools)
    assert list(event) == STARTUP_FIELDS
    assert event == {
        "v": 1,
        "type": "startup",
        "session_id": session.session_id,
        "client_name": "unknown",
        "tools": [
            {"name": "search", "schema_bytes": 63},
            {"name": "model", "schema_bytes": 16},
            {"name": "opaque", "schema_bytes": 0},
        ],
    }
    assert checked_event(event) == event


def test_tools_without_a_name_are_left_out_and_names_are_capped() -> None:
    tools = ({"name": name} for name in [None, "", 3, "n" * 300, "\udfff"])
    sent = mcpulse.startup_event("s_0123456789ab", [*tools, object(), {}])["tools"]
    assert [tool["name"] for tool in sent] == ["n" * 200, "\ufffd"]


def test_500_tools_are_sent_at_most() -> None:
    tools: list[Any] = [{}] * 10 + [{"name": f"tool{number}"} for number in range(600)]
    for listed in (tools, tuple(tools)):
        sent = mcpulse.startup_event("s_0123456789ab", listed)["tools"]
        assert [tool["name"] for tool in sent] == [f"tool{number}" for number in range(500)]


@pytest.mark.parametrize("tools", [None, 3, "search", {"name": "search"}, UserDict()])
def test_what_is_no_list_of_tools_has_none(tools: Any) -> None:
    assert mcpulse.startup_event("s_0123456789ab", tools)["tools"] == []


# -- against the SDK -------------------------------------------------------------------------------


class Recorded:
    """Stands in for the SDK's stream and its buffer."""

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self.client_name = "client"
        self.buffer = self
        self.events: list[Any] = []
        self.add = self.events.append


@pytest.mark.parametrize("outcome", mcpulse.OUTCOMES)
@pytest.mark.parametrize(
    "result", [None, {"content": []}, {"content": [{"type": "text", "text": "é🚀 1.0"}]}, object()]
)
@pytest.mark.parametrize("name", ["search", "n" * 300, ""])
def test_a_call_event_is_that_of_the_sdk(
    outcome: mcpulse.Outcome, result: object, name: str
) -> None:
    sdk = pytest.importorskip("mcpulse.watch")
    stream = Recorded(mcpulse.new_session_id())
    slot = sdk.CallSlot(handler_ran=True, outcome=outcome)
    args = {"query": "x", "limit": 5.0}
    params = {"name": name, "arguments": args}
    sdk._record(
        stream, slot, params, result, False, "2026-01-02T03:04:05.000Z", time.perf_counter()
    )
    (expected,) = stream.events
    event = mcpulse.call_event(
        stream.session_id,
        name,
        args,
        result,
        outcome=outcome,
        duration_ms=expected["duration_ms"],
        started_at=datetime(2026, 1, 2, 3, 4, 5),
        client_name="client",
    )
    assert event == expected
    assert checked_event(expected) == expected


def test_caps_outcomes_and_version_are_those_of_the_sdk() -> None:
    types = pytest.importorskip("mcpulse.types")
    assert types.WIRE_VERSION == mcpulse.WIRE_VERSION
    assert types.OUTCOMES == mcpulse.OUTCOMES
    assert types.MAX_TOOL_NAME == mcpulse.MAX_TOOL_NAME
    assert types.MAX_CLIENT_NAME == mcpulse.MAX_CLIENT_NAME
    assert types.MAX_TOOLS == mcpulse.MAX_TOOLS
