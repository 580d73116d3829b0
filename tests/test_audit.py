"""Audits of recorded calls: both engines count alike, in bounded memory, whatever comes."""

from __future__ import annotations

import datetime
import io
import json
import random
import threading
import tracemalloc
import uuid
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from overturn.fingerprint import tool_fingerprint as sdk_tool_fingerprint
from test_leaks import resident_bytes
from text_generator import MUTANTS, Generator

from overturn_fast import DepthError, compat, fingerprint, portability
from overturn_fast._errors import line_and_column
from overturn_fast._reasons import PORTABLE_DEPTH, TEXT_REASONS, Reason
from overturn_fast.audit import (
    REASONS,
    AuditReport,
    FileAudit,
    FindingGroup,
    Refusal,
    Tally,
    ToolCount,
    Variant,
    audit_calls,
    audit_file,
    collisions,
)

Engines = tuple[ModuleType, ModuleType]
ROOT = Path(__file__).resolve().parent.parent

LARGE = 2**60
TRIMMED = "x\x1f"


def line(name: str, args: Any, **fields: Any) -> bytes:
    return json.dumps({"name": name, "args": args, **fields}).encode()


def plain(refused: Iterable[Any]) -> list[object]:
    return [(number, start, type(error), str(error)) for number, start, error in refused]


def everything(audit: Any) -> object:
    """All that an audit knows, as plain data."""
    totals = audit.totals()
    return (
        {name: getattr(totals, name) for name in totals.__dataclass_fields__},
        list(map(tuple, audit.tools())),
        list(map(tuple, audit.groups())),
    )


def lines_of(engine: ModuleType, text: bytes, max_depth: int = 1_000, **limits: int) -> object:
    audit = engine.CallAudit(max_depth, **limits)
    refused = plain(audit.add_lines(text))
    return refused, everything(audit)


def items_of(
    engine: ModuleType, text: bytes, cuts: Iterable[int] = (), max_depth: int = 1_000
) -> object:
    """An array that is given in parts, which end where the cuts are."""
    audit = engine.CallAudit(max_depth)
    refused: list[object] = []
    rest, base = b"", 0
    parts = [*cuts, len(text)]
    for index, end in enumerate(parts):
        start = parts[index - 1] if index else 0
        rest += text[start:end]
        part = audit.add_items(rest, is_last=index == len(parts) - 1)
        refused += [
            (number, base + at + error.offset, type(error), error.reason)
            for number, at, error in part.refused
        ]
        rest, base = rest[part.consumed :], base + part.consumed
        if part.is_over:
            break
    return refused, everything(audit)


# -- counting --------------------------------------------------------------------------------------


def report_of(*lines: bytes, **options: int) -> AuditReport:
    audit = FileAudit(**options)
    audit.feed(b"\n".join(lines))
    audit.close()
    return audit.report()


def test_findings_are_counted_by_tool_path_and_reason(audit_engine: ModuleType) -> None:
    audit = audit_engine.CallAudit(100)
    audit.add_lines(line("t", {"ids": [1, LARGE, LARGE], "q": TRIMMED}) + b"\n")
    audit.add_lines(line("t", {"ids": [LARGE]}) + b"\n\n" + line("u", {"ids": [LARGE]}))
    audit.add_lines(line("t", {"ids": []}))
    groups = [
        (group.tool, group.reason, group.path, group.example, group.first, tuple(group.tally))
        for group in audit.groups()
    ]
    assert groups == [
        (0, Reason.LARGE_INTEGER, ("ids", None), ("ids", 1), 1, (3, 2)),
        (0, Reason.TRIM, ("q",), ("q",), 1, (1, 1)),
        (1, Reason.LARGE_INTEGER, ("ids", None), ("ids", 0), 4, (1, 1)),
    ]
    assert list(map(tuple, audit.tools())) == [("t", False, 3, 2), ("u", False, 1, 1)]
    totals = audit.totals()
    assert (totals.number, totals.calls, totals.flagged) == (5, 4, 3)
    assert totals.reasons == {Reason.LARGE_INTEGER: (4, 3), Reason.TRIM: (1, 1)}


def test_a_report_has_the_most_frequent_groups_first() -> None:
    report = report_of(
        line("b", {"x": LARGE}), line("a", {"y": TRIMMED}), line("a", {"y": TRIMMED}), b"{}"
    )
    assert report.groups == (
        FindingGroup("a", "$.y", "trim", 2, 2, "$.y", 2),
        FindingGroup("b", "$.x", "large-integer", 1, 1, "$.x", 1),
    )
    assert report.tools == (ToolCount("a", 2, 2), ToolCount("b", 1, 1))
    assert (report.calls, report.flagged, report.refused) == (3, 3, 1)
    assert report.reasons == {"large-integer": (1, 1), "trim": (2, 2)}
    assert (report.others, report.other_tools) == ({}, ToolCount("", 0, 0))
    assert report.collisions is None
    assert json.loads(json.dumps(report.as_json()))["findings"][0] == {
        "tool": "a",
        "path": "$.y",
        "reason": "trim",
        "calls": 2,
        "findings": 2,
        "example": "$.y",
        "first": 2,
    }


def test_only_the_arguments_that_count_are_looked_at(audit_engine: ModuleType) -> None:
    args = {"a": LARGE, "b": {"c": TRIMMED}, "é": "\ud800", "\ue000": 1, "\U0001f600": 2}
    for declared, kept in (
        ({"matchOn": ["a", "absent"]}, {"a"}),
        ({"matchOn": ["b"], "ignoreArgs": ["b"]}, {"b"}),
        ({"ignoreArgs": ["a", "\U0001f600"]}, {"b", "é", "\ue000"}),
        ({"matchOn": [], "ignoreArgs": None}, set(args)),
        ({"matchOn": ["\ue000", "\U0001f600"]}, {"\ue000", "\U0001f600"}),
    ):
        audit = audit_engine.CallAudit(100)
        audit.add_lines(line("t", args, **declared))
        expected = portability({key: value for key, value in args.items() if key in kept})
        assert sorted(group.reason.code for group in audit.groups()) == sorted(
            finding.reason for finding in expected
        )


def test_a_name_that_does_not_count_collides_with_nothing(audit_engine: ModuleType) -> None:
    text = b'{"name":"t","matchOn":["b"],"args":{"a":1,"a":1e400,"b":[{"a":1,"a":2}]}}'
    audit = audit_engine.CallAudit(100)
    audit.add_lines(text)
    assert [(g.path, g.reason) for g in audit.groups()] == [
        (("b", None), Reason.KEY_COLLISION)
    ]  # fmt: skip


def test_selection_is_among_members_of_the_outermost_object(audit_engine: ModuleType) -> None:
    audit = audit_engine.CallAudit(100)
    audit.add_lines(line("t", [{"b": LARGE}], matchOn=["a"]))
    assert [group.path for group in audit.groups()] == [(None, "b")]


# -- bounds ----------------------------------------------------------------------------------------


def test_what_finds_no_room_is_counted_by_reason(audit_engine: ModuleType) -> None:
    audit = audit_engine.CallAudit(100, tools=2, groups=3)
    for number in range(10):
        audit.add_lines(line(f"t{number % 4}", {f"k{number}": LARGE, "q": [TRIMMED, TRIMMED]}))
    assert len(audit.tools()) == 2
    assert len(audit.groups()) == 3
    totals = audit.totals()
    grouped = sum(group.tally.findings for group in audit.groups())
    others = sum(tally.findings for tally in totals.others.values())
    assert grouped + others == sum(tally.findings for tally in totals.reasons.values()) == 30
    assert totals.reasons == {Reason.LARGE_INTEGER: (10, 10), Reason.TRIM: (20, 10)}
    assert totals.others == {Reason.LARGE_INTEGER: (8, 8), Reason.TRIM: (14, 7)}
    assert (totals.other_calls, totals.other_flagged) == (4, 4)


def test_limits_of_nothing_count_without_a_place(audit_engine: ModuleType) -> None:
    audit = audit_engine.CallAudit(100, tools=0, groups=0)
    audit.add_lines(line("t", {"a": LARGE}))
    assert (audit.tools(), audit.groups()) == ([], [])
    assert audit.totals().others == {Reason.LARGE_INTEGER: (1, 1)}


@pytest.mark.parametrize("key", ["k" * 999, "k" * 1_000, "é" * 499, "é" * 500, "\ud800" * 333])
def test_a_path_of_more_than_1000_bytes_is_cut(audit_engines: Engines, key: str) -> None:
    texts = line("t", {key: [LARGE]}) + b"\n" + line("t", {"a": {key: LARGE, "b": {key: LARGE}}})
    native, pure = (lines_of(engine, texts) for engine in audit_engines)
    assert native == pure
    audit = audit_engines[0].CallAudit(100)
    audit.add_lines(line("t", {key: LARGE}))
    fits = len(key.encode("utf-8", "surrogatepass")) < 1_000
    (group,) = (group for group in audit.groups() if group.reason is Reason.LARGE_INTEGER)
    assert (len(group.path), group.is_cut) == ((1, False) if fits else (0, True))


@pytest.mark.parametrize("depth", [63, 64, 65, 299])
def test_a_path_of_more_than_64_steps_is_cut(audit_engines: Engines, depth: int) -> None:
    for opening, closing in ((b"[7,", b"]"), (b'{"k":', b"}")):
        text = b'{"name":"t","args":%b9007199254740993%b}' % (opening * depth, closing * depth)
        native, pure = (lines_of(engine, text) for engine in audit_engines)
        assert native == pure
        audit = audit_engines[0].CallAudit(1_000)
        audit.add_lines(text)
        (group,) = audit.groups()
        assert (len(group.path), group.is_cut) == (min(depth, 64), depth > 64)
        assert len(group.example) == len(group.path)


@pytest.mark.parametrize("name", ["n" * 256, "n" * 257, "é" * 128, "né" * 100, "\ud800" * 90])
def test_a_name_of_more_than_256_bytes_is_cut(audit_engines: Engines, name: str) -> None:
    text = line(name, {}) + b"\n" + line(name + "more", {"a": LARGE})
    native, pure = (lines_of(engine, text) for engine in audit_engines)
    assert native == pure
    audit = audit_engines[0].CallAudit(100)
    audit.add_lines(text)
    for tool in audit.tools():
        encoded = tool.name.encode("utf-8", "surrogatepass")
        assert (name + "more").startswith(tool.name)
        assert len(encoded) <= 256
        assert tool.is_cut == (len(encoded) < len((name + "more").encode("utf-8", "surrogatepass"))
                               and audit.tools().index(tool) == len(audit.tools()) - 1)  # fmt: skip


def test_distinct_paths_without_end_take_no_more_memory() -> None:
    audit = FileAudit(groups=100)
    tracemalloc.start()
    try:
        for start in range(0, 3_000, 1_000):
            lines = [line("t", {f"k{start + n}" * 50: LARGE}) for n in range(1_000)]
            audit.feed(b"\n".join(lines) + b"\n")
        lines = []
        audit.close()
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    report = audit.report()
    assert held < 1_000_000
    assert len(report.groups) == 100
    assert report.others == {"large-integer": Tally(2_900, 2_900)}
    assert report.reasons == {"large-integer": Tally(3_000, 3_000)}


@pytest.mark.memory
def test_names_and_paths_without_end_take_no_more_memory_of_the_core(
    audit_engines: Engines,
) -> None:
    audit = audit_engines[0].CallAudit(1_000, tools=100, groups=100)

    def feed(start: int) -> None:
        for number in range(start, start + 20_000):
            key = f"{number} " * 60
            audit.add_lines(line(f"tool {key}" if number % 2 else "t0", {key: [[LARGE]]}))

    feed(0)
    before = resident_bytes()
    feed(20_000)
    assert resident_bytes() - before < 2_000_000
    assert (len(audit.tools()), len(audit.groups())) == (100, 100)
    assert audit.totals().reasons == {Reason.LARGE_INTEGER: (40_000, 40_000)}


# -- both engines ----------------------------------------------------------------------------------


def some_lines(generator: Generator, count: int) -> bytes:
    rng = generator.random
    lines = []
    for _ in range(count):
        fields: dict[str, Any] = {"name": generator.word(), "args": generator.value(4)}
        if rng.random() < 0.3:
            fields["matchOn"] = [generator.word() for _ in range(rng.randrange(3))]
        if rng.random() < 0.3:
            fields["ignoreArgs"] = [generator.word() for _ in range(rng.randrange(3))]
        if rng.random() < 0.1:
            fields["kind"] = generator.word()
        lines.append(json.dumps(fields, ensure_ascii=rng.random() < 0.5).encode(
            "utf-8", "backslashreplace"))  # fmt: skip
    return b"\n".join(lines)


def test_mutated_lines_are_counted_or_refused_alike(audit_engines: Engines) -> None:
    native, pure = audit_engines
    generator = Generator(20260303)
    refused = flagged = 0
    for number in range(MUTANTS // 16):
        text = some_lines(generator, generator.random.randrange(1, 5))
        if number % 4:
            text = generator.mutant(text)
        limits = {"tools": 2, "groups": 3} if number % 3 == 0 else {}
        max_depth = 3 if number % 5 == 0 else 1_000
        given = lines_of(native, text, max_depth, **limits)
        assert given == lines_of(pure, text, max_depth, **limits), text
        refused += bool(given[0])  # type: ignore[index]
        flagged += bool(given[1][2])  # type: ignore[index]
    assert refused > MUTANTS // 100
    assert flagged > MUTANTS // 100


def test_mutated_arguments_are_counted_or_refused_alike(audit_engines: Engines) -> None:
    native, pure = audit_engines
    generator = Generator(20260304)
    for _ in range(MUTANTS // 8):
        text = generator.mutant(generator.document().replace(b"\n", b" "))
        call = b'{"args":%b,"name":"t"}' % text
        assert lines_of(native, call) == lines_of(pure, call), text


def test_mutated_arrays_are_counted_or_refused_alike_however_they_are_cut(
    audit_engines: Engines,
) -> None:
    native, pure = audit_engines
    generator = Generator(20260305)
    rng = generator.random
    for number in range(MUTANTS // 40):
        text = b"[" + some_lines(generator, rng.randrange(5)).replace(b"\n", b" , ") + b"]\n"
        if number % 4:
            text = b"[" + generator.mutant(text[1:])
        cuts = sorted(rng.randrange(len(text) + 1) for _ in range(rng.randrange(4)))
        max_depth = 3 if number % 5 == 0 else 1_000
        whole = items_of(native, text, (), max_depth)
        assert whole == items_of(pure, text, (), max_depth), text
        assert whole == items_of(native, text, cuts, max_depth), (text, cuts)
        assert whole == items_of(pure, text, cuts, max_depth), (text, cuts)


def test_an_array_is_read_alike_wherever_it_is_cut(audit_engines: Engines) -> None:
    text = (
        b' [ {"name":"t","args":[9007199254740993,"\\ud83d\\ude00\\ud800"]} , -12.5e-3,true ,\n'
        b'"\\u00e9\xf0\x9f\x98\x80",{"name":"t","args":{"a":1e400,"a":"x\\u001f"}},[ ],{}]\n '
    )
    for engine in audit_engines:
        whole = items_of(engine, text)
        assert len(whole[0]) == 5  # type: ignore[index]
        for cut in range(len(text)):
            assert items_of(engine, text, [cut]) == whole, cut
        assert items_of(engine, text, range(0, len(text), 1)) == whole


@pytest.mark.parametrize(
    ("text", "reason", "offset"),
    [
        (b"[", "the text ends too early", 1),
        (b"[{},", "the text ends too early", 4),
        (b"[{},]", "expected a value", 4),
        (b"[,{}]", "expected a value", 1),
        (b"[{} {}]", 'expected a comma or "]"', 4),
        (b"[{}]]", "more text after the value", 4),
        (b"[{}] {", "more text after the value", 5),
        (b"[nul]", "expected a value", 1),
        (b"[NaN]", "NaN and Infinity are not JSON", 1),
        (b"[-Infinity]", "NaN and Infinity are not JSON", 1),
        (b"[\xef\xbb\xbf1]", "expected a value", 1),
        (b"[\xff]", "not UTF-8", 1),
        (b'["\\u12', "a backslash that begins no escape", 2),
        (b"[1" + b" " * 2_000 + b"2]", 'expected a comma or "]"', 2_002),
    ],
)  # fmt: skip
def test_an_array_that_is_no_json_is_refused_where_it_goes_wrong(
    audit_engine: ModuleType, text: bytes, reason: str, offset: int
) -> None:
    for cuts in ((), (1,), range(1, min(len(text), 40))):
        refused, _ = items_of(audit_engine, text, cuts)  # type: ignore[misc]
        assert (refused[-1][1], refused[-1][3]) == (offset, reason)


def test_an_empty_array_has_no_calls(audit_engine: ModuleType) -> None:
    for text in (b"[]", b" [ ] ", b"\n[\n]\n"):
        audit = audit_engine.CallAudit(100)
        assert not audit.totals().is_complete
        assert audit.add_items(text, is_last=True) == (len(text), [], False)
        assert (audit.totals().number, audit.totals().is_complete) == (0, True)


def test_a_call_may_be_nested_as_deep_in_an_array_as_on_a_line(audit_engine: ModuleType) -> None:
    deep, deeper = (line("t", json.loads("[" * n + "]" * n)) for n in (5, 6))
    audit = audit_engine.CallAudit(5)
    assert [type(error) for *_, error in audit.add_lines(deep + b"\n" + deeper)] == [DepthError]
    part = audit_engine.CallAudit(5).add_items(b"[" + deep + b"," + deeper + b"]", is_last=True)
    assert [(type(error), error.reason) for *_, error in part.refused] == [
        (DepthError, "nesting exceeds max_depth=5")
    ]


def test_findings_of_a_line_are_those_of_its_value(audit_engine: ModuleType) -> None:
    generator = Generator(20260306)
    for _ in range(500):
        value = generator.value(5)
        audit = audit_engine.CallAudit(1_000)
        audit.add_lines(line("t", value))
        found = portability(value)
        tallies = audit.totals().reasons
        # Names of members are distinct after json.dumps, and so the value has no collisions.
        counted = {reason.code: tally.findings for reason, tally in tallies.items()}
        assert counted == {
            code: sum(finding.reason == code for finding in found)
            for code in {finding.reason for finding in found}
        }


def test_the_numbers_of_the_core_are_those_of_the_twin() -> None:
    header = ROOT / "csrc" / "core" / "portability_text.h"
    if not header.exists():
        pytest.skip("there is no C source here")
    text = header.read_text("utf-8")
    for reason in TEXT_REASONS:
        assert f"OVT_PORTABILITY_{reason.name} = {reason.value}," in text
    assert f"OVT_PORTABILITY_REASONS = {len(TEXT_REASONS) + 1}," in text
    assert f"OVT_PORTABLE_DEPTH = {PORTABLE_DEPTH}," in text
    assert len(Reason) < 16  # the length of the arrays in csrc/core/call_audit.h


# -- files -----------------------------------------------------------------------------------------

FILE = b"\n".join(
    [line("t", {"a": LARGE}), b"", b'{"name":"t","args":{"a":}}', line("t", {"b": "x\x1f"}), b"[1]"]
)


def fed(text: bytes, size: int) -> tuple[list[Refusal], AuditReport]:
    audit = FileAudit()
    refused = []
    for start in range(0, len(text), size):
        refused += audit.feed(text[start : start + size])
    refused += audit.close()
    return refused, audit.report()


def test_a_file_is_read_alike_in_parts_of_any_size() -> None:
    whole = fed(FILE, len(FILE))
    assert whole[0] == [
        Refusal(3, 25, "invalid JSON: expected a value"),
        Refusal(5, 1, "a call must be an object, not an array"),
    ]
    assert [(group.first, group.path) for group in whole[1].groups] == [(1, "$.a"), (4, "$.b")]
    for size in (1, 2, 7, 50):
        assert fed(FILE, size) == whole
    array = b"[\n" + b",\n".join([line("t", {"a": LARGE}), b"5", line("é", 1), b"{}"]) + b"]x"
    whole = fed(array, len(array))
    assert whole[0] == [
        Refusal(3, 1, "a call must be an object, not a number"),
        Refusal(5, 1, 'the call has no "name"'),
        Refusal(5, 4, "invalid JSON: more text after the value"),
    ]
    for size in (1, 2, 7, 50):
        assert fed(array, size) == whole


def test_places_count_from_the_start_of_the_file_whatever_white_space_is_there() -> None:
    bad = b'{"name":1,"args":2}'
    for before, first, column in ((b"", 1, 0), (b" \r\n\n  ", 3, 2), (b"\n" * 5000, 5001, 0)):
        for size in (1, 3, 10_000):
            text = before + bad + b"\n" + line("t", {"a": LARGE})
            refused, report = fed(text, size)
            reason = "$.name must be a string, not a number"
            assert refused == [Refusal(first, column + 9, reason)]
            assert report.groups[0].first == first + 1
            refused, report = fed(before + b"[" + bad + b"," + line("t", {"a": LARGE}) + b"]", size)
            assert refused == [Refusal(first, column + 10, reason)]
            assert report.groups[0].first == 2


def test_places_in_an_array_are_counted_from_one_to_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counted = 0

    def counting(text: bytes, offset: int) -> tuple[int, int]:
        nonlocal counted
        counted += len(text)
        return line_and_column(text, offset)

    monkeypatch.setattr("overturn_fast.audit.line_and_column", counting)
    text = b"[" + b'"\xc3\xa9",\n1,2,' * 1_000 + b"3]"
    refused, report = fed(text, len(text))
    assert report.refused == len(refused) == 3_001
    reason = "a call must be an object, not "
    assert refused[-4:] == [
        Refusal(1_000, 5, reason + "a string"),
        *(Refusal(1_001, 2 * number + 1, reason + "a number") for number in range(3)),
    ]
    assert counted < 3 * len(text)


def test_what_follows_the_end_of_an_array_that_is_no_json_is_not_read() -> None:
    refused, report = fed(b"[1 2]" + b'{"name":"t","args":1}' * 100, 10)
    assert refused == [Refusal(1, 4, 'invalid JSON: expected a comma or "]"')]
    assert report.calls == 0


def test_an_item_much_larger_than_a_part_is_read() -> None:
    big = line("t", {"a": ["x" * 1000] * 500 + [LARGE]})
    refused, report = fed(b"[" + big + b"," + big + b"]", 1_000)
    assert refused == []
    assert report.groups[0][:6] == ("t", "$.a[]", "large-integer", 2, 2, "$.a[500]")


@pytest.mark.parametrize("text", [b"", b" \n\n ", b"[]"], ids=["nothing", "white space", "array"])
def test_a_file_without_calls_has_an_empty_report(text: bytes) -> None:
    refused, report = fed(text, 2)
    assert (refused, report.calls, report.groups, report.reasons) == ([], 0, (), {})


def test_a_path_and_a_stream_are_audited_alike(tmp_path: Path) -> None:
    path = tmp_path / "calls.ndjson"
    path.write_bytes(FILE)
    report = audit_file(path)
    assert report == audit_file(str(path)) == audit_file(io.BytesIO(FILE)) == fed(FILE, 9)[1]
    assert (report.calls, report.refused) == (2, 2)
    with pytest.raises(FileNotFoundError):
        audit_file(tmp_path / "absent")


def test_no_value_is_in_a_report() -> None:
    report = report_of(line("t", {"a": f"secret{TRIMMED}", "b": [LARGE]}), b'{"name":"secret"}')
    assert "secret" not in json.dumps(report.as_json())
    assert str(LARGE) not in json.dumps(report.as_json())


def test_names_and_keys_that_have_no_utf_8_are_shown_as_escapes() -> None:
    report = report_of(line("\ud800t", {"\udfff": LARGE, "n\nl": TRIMMED}))
    assert {(group.tool, group.path) for group in report.groups} == {
        ("\\ud800t", '$["\\udfff"]'),
        ("\\ud800t", '$["n\\nl"]'),
        ("\\ud800t", "$"),
    }


def test_parts_may_be_anything_that_is_bytes_and_nothing_else() -> None:
    audit = FileAudit()
    audit.feed(bytearray(FILE[:20]))
    audit.feed(memoryview(FILE)[20:])
    audit.close()
    assert audit.report() == fed(FILE, 9)[1]
    with pytest.raises(TypeError, match="part must be bytes-like, not str"):
        audit.feed("{}")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="part must be bytes-like, not str"):
        audit_file(io.StringIO("{}"))  # type: ignore[arg-type]


def test_threads_that_share_a_native_audit_lose_no_call(audit_engines: Engines) -> None:
    audit = audit_engines[0].CallAudit(100)
    text = b"".join(line("t", {f"k{number % 7}": LARGE}) + b"\n" for number in range(50))

    def work() -> None:
        for _ in range(10):
            audit.add_lines(text)
            audit.groups()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert audit.totals().calls == 4 * 10 * 50
    assert len(audit.groups()) == 7


def test_limits_are_checked() -> None:
    for wrong, error in (
        (True, TypeError),
        ("5", TypeError),
        (-1, ValueError),
        (2**31, ValueError),
    ):
        with pytest.raises(error, match="groups must be"):
            FileAudit(groups=wrong)  # type: ignore[arg-type]
        with pytest.raises(error, match="tools must be"):
            FileAudit(tools=wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="max_depth must be at least 1"):
        FileAudit(max_depth=0)


# -- Python values ---------------------------------------------------------------------------------

DAY = datetime.date(2026, 1, 2)


def test_calls_with_python_values_are_audited() -> None:
    report = audit_calls(
        [
            ("t", {"id": uuid.UUID(int=1), "n": LARGE}),
            {"name": "t", "args": {"id": uuid.UUID(int=2), "n": LARGE}, "ignoreArgs": ["n"]},
            ("u", {"raw": [b"x"], "tags": {"a"}}, ["tags"]),
            ("u", {"fine": 1}),
        ]
    )
    assert report.groups == (
        FindingGroup("t", "$.id", "sdk-differs", 2, 2, "$.id", 1),
        FindingGroup("t", "$.n", "large-integer", 1, 1, "$.n", 1),
        FindingGroup("u", "$.tags", "set", 1, 1, "$.tags", 3),
    )
    assert (report.calls, report.flagged, report.refused) == (4, 3, 0)
    assert report.collisions == ()
    assert report.as_json()["collisions"] == []


def test_calls_that_only_the_sdk_confuses_are_collisions() -> None:
    calls: list[Any] = [
        ("get", {"id": uuid.UUID(int=1)}),
        ("get", {"id": uuid.UUID(int=2)}),
        ("get", {"id": uuid.UUID(int=1)}),
        ("get", {"id": DAY}),
        ("other", {"id": uuid.UUID(int=1)}),
        ("get", {"id": "x"}),
        ("get", {"id": "x "}),
    ]
    (found,) = collisions(calls)
    assert found.tool == "get"
    assert found.variants == (Variant(0, 2), Variant(1, 1), Variant(3, 1))
    assert found.paths == ("$.id",)
    assert found.fingerprint == compat.tool_fingerprint(*calls[0])
    assert found.fingerprint == sdk_tool_fingerprint(*calls[0])
    assert len({sdk_tool_fingerprint(*calls[at]) for at in (0, 1, 2, 3)}) == 1
    assert len({fingerprint("tool_call", *calls[at]) for at in (0, 1, 3)}) == 3
    assert audit_calls(calls).collisions == (found,)
    assert audit_calls(calls).as_json()["collisions"][0]["variants"][0] == {"first": 0, "calls": 2}


def test_bytes_are_told_apart_by_their_content() -> None:
    (found,) = collisions([("put", {"raw": raw}) for raw in (b"a", b"b", b"a")])
    assert found.variants == (Variant(0, 2), Variant(1, 1))
    assert found.paths == ("$.raw",)
    assert collisions([("put", {"raw": b"a"})] * 3) == []


def test_what_an_encoder_tells_apart_is_no_collision() -> None:
    calls = [("get", {"id": uuid.UUID(int=number), "raw": b"x"}) for number in (1, 2)]
    assert len(collisions(calls)) == 1
    assert collisions(calls, encoder=str) == []


def test_arguments_that_do_not_count_make_no_collision() -> None:
    calls = [
        {"name": "get", "args": {"id": 1, "at": uuid.UUID(int=n)}, "matchOn": ["id"]}
        for n in (1, 2)
    ]
    assert collisions(calls) == []
    assert audit_calls(calls).groups == ()


def test_calls_without_a_form_are_no_collision() -> None:
    assert collisions([("get", {"id": 1j}), ("get", {"id": 2j})]) == []
    assert audit_calls([("get", {"id": 1j})]).reasons == {"no-json-form": Tally(1, 1)}


def test_other_objects_and_keys_that_the_sdk_confuses_are_found() -> None:
    class Id:
        __slots__ = ("n",)

        def __init__(self, n: int) -> None:
            self.n = n

    (found,) = collisions([("get", {"q": {"ids": [Id(n), 1]}}) for n in (1, 2)])
    assert found.paths == ("$.q.ids[0]",)
    (found,) = collisions([("get", {True: 1}), ("get", {"True": 1})])
    assert (found.variants, found.paths) == ((Variant(0, 1), Variant(1, 1)), ("$",))


@pytest.mark.parametrize("function", [audit_calls, collisions], ids=lambda f: f.__name__)
def test_a_call_that_is_none_is_an_error_with_its_position(
    function: Callable[[Any], object],
) -> None:
    for wrong, message in (
        (5, "a call must be a mapping"),
        ((1, {}), "name must be a str, not int"),
        ({"name": "t"}, 'the call has no "args"'),
        (("t", {}, "id"), "match_on"),
        ({"name": "t", "args": {}, "kind": "a\nb"}, "kind must not contain a newline"),
    ):
        with pytest.raises((TypeError, ValueError), match=rf"^calls\[1\]: .*{message}"):
            function([("t", {}), wrong])
    cyclic: list[Any] = []
    cyclic.append(cyclic)
    with pytest.raises(ValueError, match=r"calls\[0\]: \$\[0\]: list contains itself"):
        function([("t", cyclic)])


def test_random_collisions_are_those_that_the_fingerprints_say() -> None:
    rng = random.Random(20260307)
    pool = [uuid.UUID(int=1), uuid.UUID(int=2), DAY, None, "a", 1, 1.0, True, 10**21, float(10**21)]
    calls = [("t", {"a": rng.choice(pool), "b": [rng.choice(pool)]}) for _ in range(300)]
    groups: dict[str, set[str]] = {}
    for call in calls:
        groups.setdefault(sdk_tool_fingerprint(*call), set()).add(fingerprint("tool_call", *call))
    expected = {theirs: len(ours) for theirs, ours in groups.items() if len(ours) > 1}
    found = collisions(calls)
    assert {one.fingerprint: len(one.variants) for one in found} == expected
    assert len(expected) > 5
    assert all(one.paths for one in found)


def test_reasons_are_explained() -> None:
    assert all(code == code.lower() and text for code, text in REASONS.items())
