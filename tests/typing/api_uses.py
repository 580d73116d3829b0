"""Uses of the public interface, checked by mypy and never run."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Callable
from typing import Any, Literal

from typing_extensions import assert_type

import overturn_fast
from overturn_fast import (
    CanonicalizationError,
    Finding,
    ToolFingerprinter,
    UnsupportedTypeError,
    UntestedVersionError,
    audit,
    canonical_json,
    compat,
    fingerprint,
    fingerprint_many,
    hash_json,
    install,
    mcpulse,
    portability,
    select_args,
    tool_fingerprint,
    uninstall,
)
from overturn_fast.migration import Migration, migrate
from overturn_fast.sdk import Installation


@dataclasses.dataclass
class Call:
    ticket_id: str


def encode(value: object) -> object:
    return str(value)


def right_uses(args: dict[str, Any], call: Call) -> None:
    assert_type(canonical_json(args), str)
    assert_type(canonical_json(call, encoder=encode, max_depth=5), str)
    assert_type(hash_json([1, None, {"a": {1, 2}}]), str)
    assert_type(fingerprint("tool_call", "t", args), str)
    assert_type(fingerprint(kind="k", name="n", args=call, match_on=("a", "b")), str)
    assert_type(tool_fingerprint("t", args, ["a"], None, encoder=None), str)
    assert_type(tool_fingerprint("t", args, ignore_args={"a"}), str)
    assert_type(fingerprint_many([("t", args), {"name": "t", "args": args}]), list[str])
    assert_type(fingerprint_many((name, {}) for name in "ab"), list[str])
    fingerprinter = ToolFingerprinter("t", match_on=["a"], kind="k", encoder=encode)
    assert_type(fingerprinter, ToolFingerprinter)
    assert_type(fingerprinter(args), str)
    assert_type(fingerprinter.name, str)
    assert_type(fingerprinter.match_on, tuple[str, ...])
    assert_type(overturn_fast.backend, str)
    assert_type(overturn_fast.native_error, "str | None")
    assert_type(overturn_fast.FINGERPRINT_VERSION, Literal[1])
    select_args(args, ["a"])


def right_handlers(args: dict[str, Any]) -> str:
    try:
        return canonical_json(args)
    except UnsupportedTypeError as error:
        as_type_error: TypeError = error
        return str(as_type_error)
    except CanonicalizationError as error:
        as_value_error: ValueError = error
        return str(as_value_error)


def wrong_uses(args: dict[str, Any]) -> None:
    """Each line is an error; mypy reports any comment that it does not need."""
    canonical_json()  # type: ignore[call-arg]
    canonical_json(args, encode)  # type: ignore[call-arg]
    canonical_json(args, max_depth="5")  # type: ignore[arg-type]
    canonical_json(args, encoder=5)  # type: ignore[arg-type]
    fingerprint("k", "n")  # type: ignore[call-arg]
    fingerprint(None, "n", args)  # type: ignore[arg-type]
    tool_fingerprint(5, args)  # type: ignore[arg-type]
    tool_fingerprint("t", args, [1])  # type: ignore[list-item]
    fingerprint_many(5)  # type: ignore[arg-type]
    fingerprinter = ToolFingerprinter("t")
    fingerprinter.name = "u"  # type: ignore[misc]
    fingerprinter()  # type: ignore[call-arg]


def right_uses_of_mcpulse(
    args: dict[str, Any], post: Callable[[list[mcpulse.Event]], bool]
) -> None:
    assert_type(mcpulse.canonicalize(args), str)
    assert_type(mcpulse.args_hash(None), str)
    assert_type(mcpulse.json_size(args, max_depth=5), int)
    assert_type(mcpulse.utf16_length("a"), int)
    assert_type(mcpulse.is_empty_result(object()), bool)
    session = mcpulse.session_for("endpoint", "key")
    assert_type(session, mcpulse.Session)
    assert_type(session.session_id, str)
    event = mcpulse.call_event(session, "t", args, outcome="bad_args", duration_ms=1.5)
    assert_type(event, mcpulse.CallEvent)
    assert_type(event["outcome"], Literal["ok", "bad_args", "tool_error", "crashed"])
    startup = mcpulse.startup_event("s_0123456789ab", [args], client_name="c")
    assert_type(startup["tools"][0]["schema_bytes"], int)
    with mcpulse.EventBuffer(post, capacity=10, interval=1) as buffer:
        assert_type(buffer.add(event) and buffer.add(startup), bool)
        assert_type(buffer.flush(timeout=0.5), bool)
        assert_type(buffer.stats.dropped, int)
    assert_type(session.buffer(post), mcpulse.EventBuffer)


def wrong_uses_of_mcpulse(args: dict[str, Any]) -> None:
    mcpulse.args_hash()  # type: ignore[call-arg]
    mcpulse.utf16_length(5)  # type: ignore[arg-type]
    mcpulse.call_event("s_0123456789ab", "t", outcome="fine")  # type: ignore[arg-type]
    mcpulse.call_event("s_0123456789ab", "t", arguments=args)  # type: ignore[call-arg]
    mcpulse.EventBuffer("https://api.example.com")  # type: ignore[arg-type]
    mcpulse.EventBuffer(print).add(args)  # type: ignore[arg-type]
    mcpulse.EventBuffer(print).stats.sent = 1  # type: ignore[misc]


def right_uses_of_the_sdk(args: dict[str, Any], encode: Callable[[object], object]) -> None:
    assert_type(compat.canonical_json(args, encoder=encode, max_depth=5), str)
    assert_type(compat.hash_json(args), str)
    assert_type(compat.fingerprint("tool_call", "t", args, ["a"], None), str)
    assert_type(compat.tool_fingerprint("t", args, match_on=("a",), ignore_args=None), str)
    assert_type(compat.select_args(args, ["a"]), Any)
    assert_type(install(), Installation)
    with install("overturn", force=True) as installation:
        assert_type(installation.packages, tuple[str, ...])
        assert_type(installation.new, tuple[str, ...])
    install(["overturn", "mcpulse"])
    uninstall("mcpulse")
    try:
        install()
    except UntestedVersionError as error:
        assert_type(error.package, str)
        assert_type(error.tested, tuple[str, ...])
    assert_type(migrate("{}", "compat"), Migration)
    assert_type([recording.new_key for recording in migrate("{}").changed], list[str])


def wrong_uses_of_the_sdk(args: dict[str, Any]) -> None:
    compat.canonical_json()  # type: ignore[call-arg]
    compat.tool_fingerprint(5, args)  # type: ignore[arg-type]
    install(force="yes")  # type: ignore[arg-type]
    install(5)  # type: ignore[arg-type]
    migrate("{}", "jcs")  # type: ignore[arg-type]


def right_uses_of_audits(args: dict[str, Any]) -> None:
    found = portability(args, encoder=encode, max_depth=5)
    assert_type(found, list[Finding])
    assert_type(found[0].path, str)
    report = audit.audit_file(io.BytesIO(b""))
    assert_type(audit.audit_file("calls.ndjson", max_depth=5), audit.AuditReport)
    assert_type(report.groups, tuple[audit.FindingGroup, ...])
    assert_type(report.reasons["trim"].calls, int)
    assert_type(report.as_json(), dict[str, Any])
    assert_type(audit.audit_calls([("t", args)]).collisions, "tuple[audit.Collision, ...] | None")
    collision = audit.collisions((("t", args) for _ in "ab"), encoder=encode)[0]
    assert_type(collision.variants[0].first, int)
    reading = audit.FileAudit(tools=1, groups=2)
    assert_type(reading.feed(b"{}") + reading.close(), list[audit.Refusal])
    assert_type(audit.REASONS["trim"], str)


def wrong_uses_of_audits(args: dict[str, Any]) -> None:
    portability()  # type: ignore[call-arg]
    portability(args, encode)  # type: ignore[call-arg]
    portability(args)[0].path = "$"  # type: ignore[misc]
    audit.audit_file(5)  # type: ignore[arg-type]
    audit.FileAudit(groups="5")  # type: ignore[arg-type]
    audit.FileAudit().feed("text")  # type: ignore[arg-type]
    audit.REASONS["trim"] = ""  # type: ignore[index]
