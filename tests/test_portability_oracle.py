"""Node and the Overturn SDK as oracles: where they read a text differently, there is a finding.

What both made of the texts in ``data/portability`` is stored beside them. Where Node is on the path
it is asked about new random documents too. Run as a program, this file writes the stored values
anew.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from overturn.fingerprint import canonical_json, hash_json
from text_generator import Generator

from overturn_fast import portability
from overturn_fast._errors import format_path
from overturn_fast._reasons import Reason

FILE = Path(__file__).parent / "data" / "portability" / "cases.json"
CASES: list[dict[str, Any]] = json.loads(FILE.read_text("utf-8"))["cases"]
DOCUMENTS = 1_000

# Reads a JSON array of texts and writes a JSON array of their canonical forms.
PROGRAM = """
const canonical = value => {
    if (Array.isArray(value))
        return "[" + value.filter(item => item !== null).map(canonical).join(",") + "]";
    if (value === null || typeof value === "boolean") return String(value);
    if (typeof value === "string") return JSON.stringify(value.trim());
    if (typeof value === "number") return Number.isFinite(value) ? String(value) : "null";
    const names = Object.keys(value).filter(name => value[name] !== null).sort();
    const members = names.map(name => JSON.stringify(name) + ":" + canonical(value[name]));
    return "{" + members.join(",") + "}";
};
const texts = JSON.parse(require("fs").readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(texts.map(text => canonical(JSON.parse(text)))));
"""


def ask_node(texts: list[str]) -> list[str]:
    """The canonical forms that JavaScript gives."""
    node = shutil.which("node")
    assert node is not None
    command, given = [node, "-e", PROGRAM], json.dumps(texts)
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=True)
    return list(json.loads(done.stdout))


def ask_sdk(text: str) -> str | None:
    """The canonical form that the SDK gives; None where it raises on hashing."""
    value = json.loads(text)
    try:
        hash_json(value)
        return canonical_json(value)
    except (ValueError, RecursionError):
        return None


def findings_of(engine: ModuleType, text: bytes) -> list[tuple[str, str]]:
    """What an engine finds in a text: every path and reason, as an example of a group each."""
    audit = engine.CallAudit(1_000)
    assert audit.add_lines(b'{"name":"t","args":%b}' % text.replace(b"\n", b" ")) == []
    return [(format_path(group.example), group.reason.code) for group in audit.groups()]


def name_of(case: dict[str, Any]) -> str:
    return ascii(case["text"][:40])


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_a_text_has_the_findings_that_the_contract_gives_it(
    audit_engine: ModuleType, case: dict[str, Any]
) -> None:
    expected = [(path, reason) for path, reason in case["findings"]]
    if any(reason == "nesting" for _, reason in expected):  # the path of a group is cut
        audit = audit_engine.CallAudit(1_000)
        audit.add_lines(b'{"name":"t","args":%b}' % case["text"].encode())
        assert [(len(g.example), g.is_cut, g.reason) for g in audit.groups()] == [
            (64, True, Reason.NESTING)
        ]
    else:
        assert findings_of(audit_engine, case["text"].encode()) == expected


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_the_value_of_a_text_has_the_same_findings(case: dict[str, Any]) -> None:
    found = portability(json.loads(case["text"]))
    expected = sorted((path, reason) for path, reason in case["findings"])
    if any(reason == "key-collision" for _, reason in expected):  # json.loads keeps one of them
        expected.remove(next(pair for pair in expected if pair[1] == "key-collision"))
    assert sorted(map(tuple, found)) == expected


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_what_javascript_and_the_sdk_read_differently_is_found(case: dict[str, Any]) -> None:
    if case["node"] != case["sdk"]:
        assert case["findings"]


@pytest.mark.parametrize("reason", ["large-integer", "integral-float", "trim", "surrogate",
                                    "key-surrogate", "key-order"])  # fmt: skip
def test_the_oracles_differ_for_the_reason(reason: str) -> None:
    alone = [case for case in CASES if {found for _, found in case["findings"]} == {reason}]
    assert any(case["node"] != case["sdk"] for case in alone)


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_the_sdk_reads_a_text_as_it_is_stored(case: dict[str, Any]) -> None:
    if not any(reason == "nesting" for _, reason in case["findings"]):  # up to the interpreter
        assert ask_sdk(case["text"]) == case["sdk"]


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node here")
def test_random_documents_that_node_and_the_sdk_read_differently_have_findings(
    audit_engine: ModuleType,
) -> None:
    generator = Generator(20260301)
    documents = [generator.document() for _ in range(DOCUMENTS)]
    texts = [document.decode() for document in documents]
    differing = 0
    for text, node in zip(texts, ask_node(texts), strict=True):
        if ask_sdk(text) != node:
            differing += 1
            assert findings_of(audit_engine, text.encode()), text
            assert portability(json.loads(text)), text
    assert differing > DOCUMENTS // 20


def write_stored_values() -> None:
    """Ask both programs about every text of the file."""
    nodes = ask_node([case["text"] for case in CASES])
    cases = [
        {**case, "node": node, "sdk": ask_sdk(case["text"])}
        for case, node in zip(CASES, nodes, strict=True)
    ]
    FILE.write_text(json.dumps({"cases": cases}, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    write_stored_values()
