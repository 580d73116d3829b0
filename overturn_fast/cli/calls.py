"""One line of text to what the commands print of it, without a Python object for the JSON in it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TypeVar

from overturn_fast._arguments import DEFAULT_MAX_DEPTH
from overturn_fast._backend import text_engine
from overturn_fast._errors import CanonicalizationError, JSONTextError
from overturn_fast._profiles import OVERTURN

__all__ = ["LineError", "call_fingerprint", "call_with_fingerprint", "canonical_form"]

Result = TypeVar("Result")


class LineError(Exception):
    """A line that cannot be read: the column, counted in characters from 1, and the reason."""

    def __init__(self, column: int, reason: str) -> None:
        super().__init__(column, reason)
        self.column = column
        self.reason = reason


def call_fingerprint(line: bytes) -> str:
    """The fingerprint of a call: a JSON object as ``overturn-fast fingerprint`` describes it.

    Raises:
        LineError: The line is no JSON, or the JSON is no call.

    >>> call_fingerprint(b'{"name":"lookup_customer","args":{"email":"a@b.c","plan":"pro"}}')
    '1f05c3f0aa8609419674956fc5a4ed846718e7c3777e4c80e17e41693dac8181'
    """
    return _reworded(lambda: text_engine.call_digest(line, DEFAULT_MAX_DEPTH))


def call_with_fingerprint(line: bytes) -> str:
    """The fields of a call as they stand in the line, and its fingerprint as the last one.

    Of a field that is there twice the last value counts, at the place of the first.

    Raises:
        LineError: The line is no JSON, or the JSON is no call.
    """
    digest = call_fingerprint(line)
    fields: dict[str, bytes] = {}
    for member in text_engine.members(line, DEFAULT_MAX_DEPTH):
        name = line[member.name_start : member.name_end]
        value = line[member.value_start : member.value_end]
        fields[json.loads(name)] = name + b":" + value
    fields.pop("fingerprint", None)
    joined = b",".join([*fields.values(), b'"fingerprint":"%b"' % digest.encode()])
    return "{" + joined.decode() + "}"


def canonical_form(line: bytes) -> str:
    """The canonical form of the JSON value in a line.

    Raises:
        LineError: The line is no JSON.

    >>> canonical_form(b' {"b": 1.0, "a": " x "}')
    '{"a":"x","b":1}'
    """
    return _reworded(lambda: text_engine.canonical_text(line, OVERTURN, DEFAULT_MAX_DEPTH)).decode()


def _reworded(read: Callable[[], Result]) -> Result:
    """What ``read`` returns; an error of it as one of the line."""
    try:
        return read()
    except CanonicalizationError as error:
        reason = error.reason or str(error)
        if isinstance(error, JSONTextError):
            reason = f"invalid JSON: {reason}"
        raise LineError(error.column or 1, reason) from error
