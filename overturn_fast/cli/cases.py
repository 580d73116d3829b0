"""Vectors files: the cases in them, whichever of the shapes in use the file has.

A file is a JSON array of cases, an object that has one under ``cases``, ``vectors`` or
``fixtures``, or one case a line. A case has an input, and what should come out of it.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from overturn_fast._arguments import TOOL_CALL

__all__ = ["CONTRACTS", "DIGESTS", "Case", "CasesError", "has_a_name_twice", "read_cases"]

CONTRACTS: Final = ("overturn", "mcpulse", "jcs")

DIGESTS: Final = {"overturn": "fingerprint", "mcpulse": "args_hash", "jcs": "sha256"}
"""The field of a case that has the digest, by contract."""

_LISTS: Final = ("cases", "vectors", "fixtures")
_INPUTS: Final = ("input", "input_json", "args", "args_json")


class CasesError(Exception):
    """A file that is no vectors file, or a case that cannot be checked; the message says why."""


@dataclass(frozen=True, slots=True)
class Case:
    """One case of a vectors file."""

    number: int
    """Its place in the file, from 1."""
    label: str | None
    """Its name as JSON text in ASCII, if it has one."""
    contract: str
    value: Any
    kind: str
    tool: str
    match_on: list[str] | None
    ignore_args: list[str] | None
    expected: dict[str, str]
    """The texts that should come out, by the names of their fields."""
    is_error: bool
    """Whether there should be no canonical form."""


def read_cases(data: bytes, contract: str | None) -> list[Case]:
    r"""All cases of a file.

    Args:
        data: The content of the file.
        contract: What to check the cases against; None to tell by the file and by their fields.

    Raises:
        CasesError: It is no vectors file.

    >>> [case] = read_cases(b'[{"input": {"b": 1.0}, "canonical": "{\\"b\\":1}"}]', None)
    >>> case.contract, case.value, case.expected
    ('jcs', {'b': 1.0}, {'canonical': '{"b":1}'})
    """
    found, stated = _find_cases(_decoded(data))
    if contract is None and stated is not None:
        contract = _known_contract(stated, "the file")
    if not found:
        raise CasesError("it has no cases")
    return [_case(number, fields, contract) for number, fields in enumerate(found, start=1)]


# -- JSON -------------------------------------------------------------------------------------

_LONGEST_INT: Final = 320  # digits; past them the nearest double is an infinity, whatever they are


class _NameTwice(dict[str, Any]):
    """An object in which a name stood twice. The last one counts where that is no error."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    return members if len(members) == len(pairs) else _NameTwice(members)


def _integer(literal: str) -> int | float:
    if len(literal) <= _LONGEST_INT:
        return int(literal)
    return -math.inf if literal[0] == "-" else math.inf


def _refuse_constant(literal: str) -> NoReturn:
    raise CasesError(f"invalid JSON: {literal} is not a JSON number")


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_constant=_refuse_constant
)


def _decoded(data: bytes) -> str:
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        byte = data[error.start]
        raise CasesError(f"line {line}: byte 0x{byte:02x} is not UTF-8 here") from None
    if text.startswith("\ufeff"):
        raise CasesError("a byte order mark (U+FEFF) before the text")
    return text


def _read(text: str) -> Any:
    try:
        return _DECODER.decode(text)
    except RecursionError:
        raise CasesError("nested too deeply to be read") from None


def _find_cases(text: str) -> tuple[list[Any], str | None]:
    """The cases, and the contract that the file states for all of them."""
    try:
        document = _read(text)
    except json.JSONDecodeError as error:
        lines = [(at, line) for at, line in enumerate(text.split("\n"), start=1) if line.strip()]
        if len(lines) > 1 and _is_json(lines[0][1]):
            return [_read_line(at, line) for at, line in lines], None
        raise CasesError(f"line {error.lineno}, column {error.colno}: {error.msg}") from None
    if isinstance(document, list):
        return document, None
    if isinstance(document, dict):
        for name in _LISTS:
            if isinstance(document.get(name), list):
                return document[name], document.get("contract")
        if any(name in document for name in _INPUTS):
            return [document], None
    raise CasesError("it is no array, no object with cases, vectors or fixtures, and no case")


def _is_json(line: str) -> bool:
    try:
        _read(line)
    except (json.JSONDecodeError, CasesError):
        return False
    return True


def _read_line(number: int, line: str) -> Any:
    try:
        return _read(line)
    except json.JSONDecodeError as error:
        raise CasesError(f"line {number}, column {error.colno}: {error.msg}") from None


def has_a_name_twice(value: Any) -> bool:
    """Whether an object in a value that was read here had a name twice."""
    pending = [value]
    while pending:
        item = pending.pop()
        if type(item) is _NameTwice:
            return True
        if isinstance(item, dict):
            pending += item.values()
        elif isinstance(item, list):
            pending += item
    return False


# -- cases ------------------------------------------------------------------------------------


def _case(number: int, fields: Any, contract: str | None) -> Case:
    where = f"case {number}"
    if not isinstance(fields, dict):
        raise CasesError(f"{where} is no object")
    if contract is None:
        contract = _contract_of(fields, where)
    kind = _text(fields, "kind", where) or TOOL_CALL
    if "\n" in kind:
        raise CasesError(f"{where}: kind contains a newline")
    expected = {
        field: text
        for field in ("canonical", DIGESTS[contract])
        if (text := _text(fields, field, where)) is not None
    }
    is_error = fields.get("error") is True
    if not expected and not is_error:
        raise CasesError(f"{where} has no canonical and no {DIGESTS[contract]} to compare with")
    options = fields.get("options") or fields
    if not isinstance(options, dict):
        raise CasesError(f"{where}: options is no object")
    return Case(
        number=number,
        label=json.dumps(fields["name"]) if "name" in fields else None,
        contract=contract,
        value=_input_of(fields, where),
        kind=kind,
        tool=_tool_of(fields, where) if contract == "overturn" else "",
        match_on=_names(options, "matchOn", where),
        ignore_args=_names(options, "ignoreArgs", where),
        expected=expected,
        is_error=is_error,
    )


def _known_contract(name: Any, where: str) -> str:
    if name not in CONTRACTS:
        raise CasesError(f"{where} is for another contract than {', '.join(CONTRACTS)}")
    return str(name)


def _contract_of(fields: dict[str, Any], where: str) -> str:
    """The contract that a case belongs to, by its fields."""
    if "contract" in fields:
        return _known_contract(fields["contract"], where)
    if "args_hash" in fields:
        return "mcpulse"
    if any(name in fields for name in ("fingerprint", "tool", "args", "args_json")):
        return "overturn"
    return "jcs"


def _input_of(fields: dict[str, Any], where: str) -> Any:
    for name in _INPUTS:
        if name not in fields:
            continue
        if not name.endswith("_json"):
            return fields[name]
        text = fields[name]
        if not isinstance(text, str):
            raise CasesError(f"{where}: {name} is no string")
        try:
            return _read(text)
        except (json.JSONDecodeError, CasesError) as error:
            raise CasesError(f"{where}: {name}: {error}") from None
    raise CasesError(f"{where} has none of {', '.join(_INPUTS)}")


def _tool_of(fields: dict[str, Any], where: str) -> str:
    """The tool's name: ``tool``, or the ``name`` of a call as calls are recorded."""
    tool = _text(fields, "tool", where)
    if tool is None:
        tool = _text(fields, "name", where)
    return tool if tool is not None else ""


def _text(fields: dict[str, Any], name: str, where: str) -> str | None:
    text = fields.get(name)
    if text is not None and not isinstance(text, str):
        raise CasesError(f"{where}: {name} is no string")
    return text


def _names(options: dict[str, Any], name: str, where: str) -> list[str] | None:
    names = options.get(name)
    if names is None:
        return None
    if not isinstance(names, list) or not all(isinstance(item, str) for item in names):
        raise CasesError(f"{where}: {name} is no array of strings")
    return names
