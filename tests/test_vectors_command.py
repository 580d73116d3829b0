"""``overturn-fast vectors``: the fixture files for people who port a contract."""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from click.testing import CliRunner

from overturn_fast import CanonicalizationError, fingerprint_text, mcpulse
from overturn_fast._profiles import JCS, MCPULSE, Profile
from overturn_fast.cli.cases import CONTRACTS, DIGESTS, has_a_name_twice, read_cases
from overturn_fast.cli.group import cli

ROOT = Path(__file__).resolve().parent.parent
GENERATOR = ROOT / "tools" / "vectors" / "generate.py"
INPUT = {"overturn": "args", "mcpulse": "input", "jcs": "input"}


def written(contract: str) -> bytes:
    result = CliRunner().invoke(cli, ["vectors", "--contract", contract])
    assert result.exit_code == 0
    return result.stdout_bytes


def cases_of(contract: str) -> list[dict[str, Any]]:
    cases = json.loads(written(contract))["cases"]
    assert isinstance(cases, list)
    return cases


def all_cases() -> list[tuple[str, dict[str, Any]]]:
    return [(contract, case) for contract in CONTRACTS for case in cases_of(contract)]


# -- the files -------------------------------------------------------------------------------------


@pytest.mark.parametrize("contract", CONTRACTS)
def test_there_are_at_least_150_cases_each_with_a_name_and_a_reason(contract: str) -> None:
    cases = cases_of(contract)
    assert len(cases) >= 150
    assert len({case["name"] for case in cases}) == len(cases)
    assert all(len(case["reason"]) > 10 and case["reason"][-1] in ".:" for case in cases)


@pytest.mark.parametrize("contract", CONTRACTS)
def test_every_case_has_an_input_an_oracle_and_what_should_come_out(contract: str) -> None:
    field, digest = INPUT[contract], DIGESTS[contract]
    for case in cases_of(contract):
        assert (field in case) != (f"{field}_json" in case), case
        assert case["oracle"].startswith("ECMAScript")
        if case.get("error"):
            assert "canonical" not in case
            assert case.get("args_hash", mcpulse.UNHASHABLE) == mcpulse.UNHASHABLE
        else:
            assert isinstance(case["canonical"], str)
            assert isinstance(case[digest], str)
        allowed = {"name", "reason", "oracle", "tool", "options", "canonical", "error", digest}
        assert set(case) - allowed - {field, f"{field}_json"} == set()


@pytest.mark.parametrize("contract", CONTRACTS)
def test_every_json_reader_can_read_the_file(contract: str) -> None:
    data = written(contract)
    assert data.isascii()
    assert data.endswith(b"\n]}\n")
    document = json.loads(data)
    assert (document["contract"], document["version"]) == (contract, 1)
    assert not has_a_name_twice(document)
    for case in document["cases"]:
        for text in strings_in(case):
            text.encode()  # holds no lone surrogate
        for number in numbers_in(case):
            assert abs(number) < 1e309


def strings_in(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for item in value.items() for part in item for text in strings_in(part)]
    return [text for item in value for text in strings_in(item)] if isinstance(value, list) else []


def numbers_in(value: Any) -> list[float]:
    if isinstance(value, (int, float)):
        return [value]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return [number for item in items for number in numbers_in(item)]


def test_the_traps_of_the_contracts_are_there() -> None:
    texts = {contract: written(contract).decode() for contract in CONTRACTS}
    for contract, text in texts.items():
        for needle in (
            *("-0.0", "1e21", "1e-7", "9007199254740993", "5e-324", "0.30000000000000004"),
            *(r"\u007f", r"\u2028", r"\ud83d\ude00", r"\ufffd", r"e\u0301", "__proto__", "1e309"),
            *(r"\\ud800", '"error":true' if contract != "overturn" else "null"),
        ):
            assert needle in text, (contract, needle)
    for needle in ("matchOn", "ignoreArgs", r"\u001c", r"\u3000"):
        assert needle in texts["overturn"]


# -- what is expected ------------------------------------------------------------------------------


@pytest.mark.parametrize("contract", CONTRACTS)
def test_both_engines_compute_what_is_expected(engine: ModuleType, contract: str) -> None:
    for case in read_cases(written(contract), None):
        if contract == "overturn":
            selection = (case.match_on, case.ignore_args)
            digest = engine.tool_fingerprint(case.tool, case.value, *selection)
            assert digest == case.expected["fingerprint"], case
        elif not case.is_error and not has_a_name_twice(case.value):
            profile = "mcpulse" if contract == "mcpulse" else "jcs-double"
            assert engine.canonical_with(profile, case.value) == case.expected["canonical"], case
        if contract == "mcpulse":
            assert engine.args_hash(case.value) == case.expected["args_hash"], case


def spelled(contract: str) -> list[tuple[dict[str, Any], bytes]]:
    """Every case and its input as JSON text, spelled as it is in the file."""
    field = INPUT[contract]
    found = []
    for line in written(contract).decode().split("\n")[1:-2]:
        case = json.loads(line.removesuffix(","))
        if field in case:
            _, _, rest = line.partition(f'"{field}":')
            _, end = json.JSONDecoder().raw_decode(rest)
            found.append((case, rest[:end].encode()))
        else:
            found.append((case, case[f"{field}_json"].encode()))
    assert len(found) == len(cases_of(contract))
    return found


@pytest.mark.parametrize("profile", [MCPULSE, JCS], ids=lambda profile: profile.name)
def test_texts_are_read_as_the_oracles_read_them(text_engine: ModuleType, profile: Profile) -> None:
    for case, text in spelled(profile.name):
        if case.get("error"):
            with pytest.raises(CanonicalizationError):
                text_engine.canonical_text(text, profile, 10_000)
        else:
            canonical = text_engine.canonical_text(text, profile, 10_000)
            assert bytes(canonical).decode() == case["canonical"], case


def test_the_texts_of_calls_are_read_as_the_oracles_read_them() -> None:
    for case, text in spelled("overturn"):
        options = case.get("options", {})
        selection = (options.get("matchOn"), options.get("ignoreArgs"))
        digest = fingerprint_text("tool_call", case["tool"], text, *selection)
        assert digest == case["fingerprint"], case


def test_digests_are_those_of_the_canonical_texts() -> None:
    for contract, case in all_cases():
        if case.get("error"):
            continue
        text = case["canonical"]
        if contract == "overturn":
            text = f"tool_call\n{case['tool']}\n{text}"
        elif contract == "mcpulse" and case["name"] == "no arguments":
            text = "{}"
        digest = hashlib.sha256(text.encode()).hexdigest()
        assert digest.startswith(case[DIGESTS[contract]]), case


@pytest.mark.parametrize("contract", CONTRACTS)
def test_the_files_pass_their_own_check(contract: str) -> None:
    result = CliRunner().invoke(cli, ["verify", "-"], input=written(contract))
    assert result.exit_code == 0
    assert result.stdout == f"<stdin>: {len(cases_of(contract))} {contract}: all agree\n"


def test_a_changed_text_is_found() -> None:
    for contract in CONTRACTS:
        document = json.loads(written(contract))
        document["cases"][7]["canonical"] += " "
        result = CliRunner().invoke(cli, ["verify", "-"], input=json.dumps(document))
        assert result.exit_code == 1
        assert f"{contract}: 1 differ" in result.stdout


def test_the_files_are_what_the_oracles_say(tmp_path: Path) -> None:
    """Generates the files anew, where Node and the Python implementations are installed."""
    if not GENERATOR.exists():
        pytest.skip("there is no tools/vectors here")
    if shutil.which("node") is None:
        pytest.skip("there is no node on the path")
    for package in ("mcpulse", "overturn", "rfc8785"):
        pytest.importorskip(package)
    subprocess.run(
        [sys.executable, str(GENERATOR), "--folder", str(tmp_path)],
        check=True,
        capture_output=True,
        timeout=300,
    )
    for contract in CONTRACTS:
        assert (tmp_path / f"{contract}.json").read_bytes() == written(contract)


def test_the_sdk_of_overturn_agrees_where_the_file_says_so() -> None:
    pytest.importorskip("overturn")
    sdk = importlib.import_module("overturn.fingerprint")
    agreeing = [case for case in cases_of("overturn") if case["oracle"].endswith(" overturn 0.1.4")]
    assert len(agreeing) > 350
    for case in agreeing:
        args = case["args"] if "args" in case else json.loads(case["args_json"])
        options = case.get("options", {})
        selection = (options.get("matchOn"), options.get("ignoreArgs"))
        assert sdk.tool_fingerprint(case["tool"], args, *selection) == case["fingerprint"]


# -- the command -----------------------------------------------------------------------------------


def test_a_contract_must_be_named() -> None:
    assert CliRunner().invoke(cli, ["vectors"]).exit_code == 2
    assert CliRunner().invoke(cli, ["vectors", "--contract", "other"]).exit_code == 2


def test_the_file_can_be_written_in_one_step(tmp_path: Path) -> None:
    target = tmp_path / "vectors.json"
    target.write_text("old")
    result = CliRunner().invoke(cli, ["vectors", "--contract", "jcs", "-o", str(target)])
    assert (result.exit_code, result.stdout) == (0, "")
    assert target.read_bytes() == written("jcs")
    assert os.listdir(tmp_path) == ["vectors.json"]


def test_a_folder_that_is_not_there_has_status_2(tmp_path: Path) -> None:
    target = tmp_path / "none" / "vectors.json"
    result = CliRunner().invoke(cli, ["vectors", "--contract", "jcs", "-o", str(target)])
    assert result.exit_code == 2
    assert "Cannot write" in result.output


def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    command = [sys.executable, "-m", "overturn_fast.cli", "vectors", "--contract", "overturn"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.read(1)
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(300) == 0
