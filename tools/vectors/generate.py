"""Write overturn_fast/vectors/*.json: fixture files for people who port a contract.

``python tools/vectors/generate.py`` needs Node on the path and the packages ``overturn`` 0.1.4,
``mcpulse-sdk`` 0.1.0 and ``rfc8785`` 0.1.4. What is expected of a case comes from them, never from
this project: ``oracle.mjs`` computes every case from the contract's text on nothing but ECMAScript,
and a Python implementation of the contract computes it too. They must agree, except where the
contract departs from that implementation; those cases say so in their ``oracle``.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import importlib.metadata
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mcpulse.canonical
import mcpulse.hashing
import rfc8785
from cases import ALL_CONTRACTS, Case, all_cases

overturn = importlib.import_module("overturn.fingerprint")  # a function has taken its name

HERE = Path(__file__).resolve().parent
TARGET = HERE.parents[1] / "overturn_fast" / "vectors"
VERSIONS = {"overturn": "0.1.4", "mcpulse-sdk": "0.1.0", "rfc8785": "0.1.4"}
UNHASHABLE = "000000000000"

ABOUT = {
    "overturn": (
        "Fingerprints of tool calls by the Overturn contract, version 1. `canonical` is the "
        "canonical JSON of the selected arguments, `fingerprint` the SHA-256 of "
        "'tool_call', a line feed, the tool's name, a line feed and `canonical`, in UTF-8."
    ),
    "mcpulse": (
        "Argument hashes by the MCPulse wire format, version 1. `canonical` is the RFC 8785 form, "
        "`args_hash` the first 12 hexadecimal digits of its SHA-256, in UTF-8."
    ),
    "jcs": (
        "RFC 8785, the JSON Canonicalization Scheme. `sha256` is the SHA-256 of `canonical`, "
        "in UTF-8."
    ),
}
GENERAL = (
    " Every case is there because some language gets it wrong by default; `reason` says how. "
    "`oracle` names the implementations that gave the expected texts. Where the input is a "
    "JSON text that many readers refuse or change it stands in a string, under a name that ends in "
    "`_json`. `error` is true where there is no canonical form. Numbers are spelled on purpose: "
    "read them as they are written."
)


def main() -> None:
    """Ask the oracles and write one file a contract."""
    parser = argparse.ArgumentParser(description="Write the fixture files.")
    parser.add_argument("--folder", type=Path, default=TARGET, help="where to write them")
    folder = parser.parse_args().folder
    for package, version in VERSIONS.items():
        assert importlib.metadata.version(package) == version, package
    folder.mkdir(exist_ok=True)
    for contract in ALL_CONTRACTS:
        cases = [case for case in all_cases() if contract in case.contracts]
        names = [case.name for case in cases]
        assert len(set(names)) == len(names), sorted({n for n in names if names.count(n) > 1})
        lines = [
            member_text(case, contract, expected)
            for case, expected in zip(cases, ask_node(contract, cases), strict=True)
        ]
        head = json.dumps(
            {"$comment": ABOUT[contract] + GENERAL, "contract": contract, "version": 1}
        )
        assert not any("\n" in line for line in lines)
        text = head[:-1] + ',"cases":[\n' + ",\n".join(lines) + "\n]}\n"
        json.loads(text)
        (folder / f"{contract}.json").write_text(text, encoding="utf-8")
        print(f"{contract}: {len(lines)} cases")


def ask_node(contract: str, cases: list[Case]) -> list[dict[str, str]]:
    """What oracle.mjs computes for each case."""
    requests = [
        {
            "contract": contract,
            "text": case.text,
            "tool": case.tool,
            "matchOn": case.match_on,
            "ignoreArgs": case.ignore_args,
        }
        for case in cases
    ]
    command = ["node", str(HERE / "oracle.mjs")]
    done = subprocess.run(command, input=json.dumps(requests).encode(), stdout=-1, check=True)
    answers: list[dict[str, str]] = json.loads(done.stdout)
    return answers


# -- the implementations in Python ----------------------------------------------------------------


def by_overturn(case: Case) -> tuple[str, str]:
    """Canonical text and fingerprint of the SDK."""
    args, lists = json.loads(case.text), (case.match_on, case.ignore_args)
    kept = overturn.select_args(args, *lists)
    return (
        overturn.canonical_json(kept),
        overturn.tool_fingerprint(case.tool, args, *lists),
    )


def by_mcpulse(case: Case) -> tuple[str, str]:
    """Canonical text and hash of the SDK."""
    args = json.loads(case.text)
    return mcpulse.canonical.canonicalize(args), mcpulse.hashing.args_hash(args)


def by_rfc8785(case: Case) -> tuple[str, str]:
    """Canonical text and digest of the package, every number read as a double."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) != len(pairs):
            raise rfc8785.CanonicalizationError("a name twice")
        return dict(pairs)

    value = json.loads(case.text, parse_int=float, object_pairs_hook=once)
    text = rfc8785.dumps(value)
    return text.decode(), hashlib.sha256(text).hexdigest()


IN_PYTHON: dict[str, tuple[str, Callable[[Case], tuple[str, str]]]] = {
    "overturn": ("overturn 0.1.4", by_overturn),
    "mcpulse": ("mcpulse-sdk 0.1.0", by_mcpulse),
    "jcs": ("rfc8785 0.1.4", by_rfc8785),
}
DIGEST = {"overturn": "fingerprint", "mcpulse": "args_hash", "jcs": "sha256"}


def departs(case: Case, contract: str) -> str | None:
    """Why the contract departs from the implementation in Python here; None if it does not."""
    if contract != "overturn":
        return None
    if "surrogate" in case.name and case.as_text:
        return "raises on lone surrogates"
    if case.name in (
        "integer 1000000000000000000000",
        "integer -1000000000000000000000",
        "integer 123456789012345678901234567890",
        "integer 1 and 308 zeros",
        "integer past the range of doubles",
    ):
        return "writes every digit of an int"
    return None


def oracle_of(case: Case, contract: str, expected: dict[str, str]) -> str:
    """Compare the two; the name of who gave what is expected."""
    package, compute = IN_PYTHON[contract]
    try:
        computed = dict(zip(("canonical", "digest"), compute(case), strict=True))
    except (ValueError, UnicodeEncodeError) as error:
        computed = {"error": type(error).__name__}
    agree = ("error" in computed and "error" in expected) or computed == expected
    why = departs(case, contract)
    assert agree == (why is None), (contract, case, expected, computed)
    return f"ECMAScript and {package}" if agree else f"ECMAScript ({package} {why})"


# -- the files ------------------------------------------------------------------------------------


def member_text(case: Case, contract: str, expected: dict[str, str]) -> str:
    """One case as a line of JSON, the input spelled as it is."""
    field = "args" if contract == "overturn" else "input"
    members: dict[str, Any] = {"name": case.name, "reason": case.reason}
    members["oracle"] = oracle_of(case, contract, expected)
    if contract == "overturn":
        members["tool"] = case.tool
    if case.as_text:
        members[f"{field}_json"] = case.text
    else:
        members[field] = None  # put in below, as it is spelled
    options = {"matchOn": case.match_on, "ignoreArgs": case.ignore_args}
    if any(names is not None for names in options.values()):
        members["options"] = {key: names for key, names in options.items() if names is not None}
    if "error" in expected:
        members["error"] = True
        if contract == "mcpulse":
            members["args_hash"] = UNHASHABLE
    else:
        members["canonical"] = expected["canonical"]
        members[DIGEST[contract]] = expected["digest"]
    texts = {key: json.dumps(value, ensure_ascii=True) for key, value in members.items()}
    if not case.as_text:
        texts[field] = ascii_json(case.text.strip())
    return "{" + ",".join(f"{json.dumps(key)}:{text}" for key, text in texts.items()) + "}"


def ascii_json(text: str) -> str:
    """A JSON text in ASCII, with everything else escaped: an editor cannot change it then."""
    return "".join(
        character if character < "\x7f" else json.dumps(character)[1:-1] for character in text
    )


if __name__ == "__main__":
    main()
