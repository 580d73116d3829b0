"""One line of text to one call, or to one JSON value.

JSON is read as the fingerprint contract reads it: names that occur twice count once, the last one;
escapes of lone surrogates are accepted; NaN and Infinity are not JSON.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, NoReturn

from overturn_fast._arguments import TOOL_CALL

__all__ = ["Call", "Field", "LineError", "read_call", "read_value"]


class LineError(Exception):
    """A line that cannot be read: the column, counted in characters from 1, and the reason."""

    def __init__(self, column: int, reason: str) -> None:
        super().__init__(column, reason)
        self.column = column
        self.reason = reason


class Field(NamedTuple):
    """A top-level field of a call as it stands in the line, and the column of its value."""

    name: str
    value: str
    column: int


@dataclass(frozen=True, slots=True)
class Call:
    """A call, as ``overturn_fast.fingerprint`` takes it, and the line that it was read from."""

    kind: str
    name: str
    args: Any
    match_on: list[str] | None
    ignore_args: list[str] | None
    line: str

    def fields(self) -> dict[str, Field]:
        """The fields as text, which keeps each number as it was written, by their names."""
        return _fields(self.line)


def read_call(line: bytes) -> Call:
    """Read a call: a JSON object with the fields that ``overturn-fast fingerprint`` describes.

    Raises:
        LineError: The line is no JSON, or the JSON is no call.

    >>> read_call(b'{"name":"lookup","args":{"id":7}}').args
    {'id': 7}
    """
    text, start, call = _parse(line)
    if not isinstance(call, dict):
        raise LineError(start + 1, f"a call must be an object, not {_described(call)}")
    for field in ("name", "args"):
        if field not in call:
            raise LineError(start + 1, f'the call has no "{field}"')
    kind, name = call.get("kind", TOOL_CALL), call["name"]
    if not isinstance(kind, str):
        _refuse_field(text, "kind", f"must be a string, not {_described(kind)}")
    if "\n" in kind:
        _refuse_field(text, "kind", "must not contain a newline")
    if not isinstance(name, str):
        _refuse_field(text, "name", f"must be a string, not {_described(name)}")
    match_on, ignore_args = call.get("matchOn"), call.get("ignoreArgs")
    if match_on is not None:
        _check_names(text, "matchOn", match_on)
    if ignore_args is not None:
        _check_names(text, "ignoreArgs", ignore_args)
    return Call(kind, name, call["args"], match_on, ignore_args, text)


def read_value(line: bytes) -> tuple[Any, int]:
    """Read any JSON value; return it and the column where it starts.

    Raises:
        LineError: The line is no JSON.

    >>> read_value(b" [1, 2.5]")
    ([1, 2.5], 2)
    """
    _, start, value = _parse(line)
    return value, start + 1


# -- JSON -------------------------------------------------------------------------------------

_SPACE: Final = re.compile(r"[ \t\r\n]*")

# A literal this long is past the range of doubles whatever its digits are: there the contract
# writes null for an int. Converting it to an int would take time quadratic in its length.
_LONGEST_INT: Final = 320


class _NonFinite(Exception):
    """The reader met NaN, Infinity or -Infinity."""


def _read_int(literal: str) -> int | float:
    if len(literal) <= _LONGEST_INT:
        return int(literal)
    return -math.inf if literal[0] == "-" else math.inf


def _refuse_constant(literal: str) -> NoReturn:
    raise _NonFinite(literal)


_DECODER: Final = json.JSONDecoder(parse_int=_read_int, parse_constant=_refuse_constant)


def _parse(line: bytes) -> tuple[str, int, Any]:
    """The text of a line, where the JSON value in it starts, and the value."""
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        column = len(line[: error.start].decode()) + 1
        raise LineError(column, f"byte 0x{line[error.start]:02x} is not UTF-8 here") from None
    if text.startswith("\ufeff"):
        raise LineError(1, "invalid JSON: a byte order mark (U+FEFF) before the value")
    start = _skip_space(text, 0)
    try:
        value, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise LineError(error.pos + 1, f"invalid JSON: {_reworded(error.msg)}") from None
    except _NonFinite as error:
        (literal,) = error.args
        column = _find_outside_strings(text, literal, start) + 1
        raise LineError(column, f"invalid JSON: {literal} is not a JSON number") from None
    except RecursionError:
        raise LineError(start + 1, "nested too deeply to be read") from None
    end = _skip_space(text, end)
    if end != len(text):
        raise LineError(end + 1, "invalid JSON: more text after the value")
    return text, start, value


def _skip_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    assert match is not None
    return match.end()


def _reworded(message: str) -> str:
    """A message of the json module without the preposition that a position would follow."""
    message = message.removesuffix(" starting at").removesuffix(" at").rstrip(": ")
    return message[:1].lower() + message[1:]


def _find_outside_strings(text: str, literal: str, position: int) -> int:
    """Where ``literal`` stands in a text that is valid JSON up to there."""
    quote_or_literal = re.compile(f'"|{literal}')
    while match := quote_or_literal.search(text, position):
        if match.group() != '"':
            return match.start()
        _, position = _DECODER.raw_decode(text, match.start())
    raise AssertionError(f"{literal} is not in the text")


def _fields(text: str) -> dict[str, Field]:
    """The members of the object that ``text`` is known to be. Of one name the last one counts."""
    fields: dict[str, Field] = {}
    position = _skip_space(text, _skip_space(text, 0) + 1)
    while text[position] != "}":
        name, name_end = _DECODER.raw_decode(text, position)
        start = _skip_space(text, _skip_space(text, name_end) + 1)
        _, end = _DECODER.raw_decode(text, start)
        fields[name] = Field(text[position:name_end], text[start:end], start + 1)
        position = _skip_space(text, end)
        if text[position] == ",":
            position = _skip_space(text, position + 1)
    return fields


# -- what a call may not be -------------------------------------------------------------------


def _check_names(text: str, field: str, names: Any) -> None:
    """Refuse a ``matchOn`` or ``ignoreArgs`` that is not a list of names."""
    if not isinstance(names, list):
        _refuse_field(text, field, f"must be an array of strings, not {_described(names)}")
    for index, name in enumerate(names):
        if not isinstance(name, str):
            _refuse_field(text, field, f"must be a string, not {_described(name)}", f"[{index}]")


def _refuse_field(text: str, field: str, reason: str, item: str = "") -> NoReturn:
    raise LineError(_fields(text)[field].column, f"$.{field}{item} {reason}")


def _described(value: Any) -> str:
    """The JSON type of a value, with its article."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, str):
        return "a string"
    return "an array" if isinstance(value, list) else "an object"
