"""The exception tree, and the one place that words an error.

Both backends report a failure as the same parts (a status, the path to the value, the value's
type) and call this module to turn them into an exception, so that class and message agree.
"""

from __future__ import annotations

import contextlib
import enum
import json
import re
from collections.abc import Sequence
from typing import Final, TypeVar

__all__ = [
    "CanonicalizationError",
    "CircularReferenceError",
    "DepthError",
    "DuplicateKeyError",
    "FloatDomainError",
    "IntegerDomainError",
    "JSONTextError",
    "KeyTypeError",
    "SurrogateError",
    "UnsupportedTypeError",
]


class CanonicalizationError(ValueError):
    """A value has no canonical form.

    The message names the value's path and type, never its content. Every error of this package
    about a value derives from this class.

    One that was found in JSON text names the place in the text instead, and has it in these
    attributes, which are None in any other.
    """

    offset: int | None = None
    """Where in the text: how many bytes of UTF-8 stand before it."""
    line: int | None = None
    """The line, counted from 1; lines end with LF."""
    column: int | None = None
    """The place in its line, in characters, counted from 1."""
    reason: str | None = None
    """What is wrong, without the place."""


class IntegerDomainError(CanonicalizationError):
    """An int lies outside the range that the profile can write without changing it."""


class FloatDomainError(CanonicalizationError):
    """A float is NaN or infinite, for which the profile has no text (RFC 8785, 3.2.2.3)."""


class SurrogateError(CanonicalizationError):
    """A str holds a lone surrogate, for which the profile has no text (RFC 8785, 3.2.2.2)."""


class KeyTypeError(CanonicalizationError):
    """A mapping has a key that has no text."""


class UnsupportedTypeError(CanonicalizationError, TypeError):
    """A value is of a type that has no canonical form, or reading it failed (see ``__cause__``)."""


class CircularReferenceError(CanonicalizationError):
    """A container contains itself, directly or through others."""


class DepthError(CanonicalizationError):
    """Containers are nested deeper than ``max_depth``."""


class JSONTextError(CanonicalizationError):
    """A text is not JSON (RFC 8259) in UTF-8 (RFC 3629)."""

    offset: int
    line: int
    column: int
    reason: str


class DuplicateKeyError(JSONTextError):
    """An object of a JSON text has two members of one name, and the profile does not choose."""


class CallError(CanonicalizationError):
    """A JSON text is no call of a tool."""

    offset: int
    line: int
    column: int
    reason: str


for _error in (
    CanonicalizationError,
    IntegerDomainError,
    FloatDomainError,
    SurrogateError,
    KeyTypeError,
    UnsupportedTypeError,
    CircularReferenceError,
    DepthError,
    JSONTextError,
    DuplicateKeyError,
):
    _error.__module__ = "overturn_fast"  # where users import it from, and what a traceback says


class Status(enum.IntEnum):
    """Why a value cannot be written. The numbers are those of ``ovt_status`` in the C core."""

    NO_MEMORY = 1
    UNSUPPORTED_TYPE = 2
    KEY_TYPE = 3
    INTEGER_DOMAIN = 4
    FLOAT_DOMAIN = 5
    SURROGATE = 6
    KEY_SURROGATE = 7
    CIRCULAR_REFERENCE = 8
    DEPTH = 9
    TEXT = 10
    """Of JSON text; a ``TextReason`` says what."""
    CALL = 11
    """Of JSON text that should be a call; a ``CallReason`` says what."""
    SHAPE_SIZE = 12
    """Of a shape whose rows have too many bytes."""


MAX_ROW_BYTES: Final = 1 << 28
"""Bytes that the rows of a shape may have in UTF-8, with one behind each path and each type. Every
row spells its path from the root, so that a small value may have rows without measure."""

_WORDING: Final[dict[int, tuple[type[CanonicalizationError], str]]] = {
    Status.UNSUPPORTED_TYPE: (UnsupportedTypeError, "{type} has no canonical form"),
    Status.KEY_TYPE: (KeyTypeError, "a key of type {type} has no text"),
    Status.INTEGER_DOMAIN: (IntegerDomainError, "{type} is outside the range of exact integers"),
    Status.FLOAT_DOMAIN: (FloatDomainError, "{type} is not a finite number"),
    Status.SURROGATE: (SurrogateError, "{type} holds a lone surrogate"),
    Status.KEY_SURROGATE: (SurrogateError, "a key of type {type} holds a lone surrogate"),
    Status.CIRCULAR_REFERENCE: (CircularReferenceError, "{type} contains itself"),
    Status.SHAPE_SIZE: (
        CanonicalizationError,
        f"the rows of its shape have more than {MAX_ROW_BYTES:,} bytes",
    ),
}


class TextReason(enum.IntEnum):
    """What is wrong with a JSON text; the numbers are those of ``ovt_text_reason`` in the core."""

    UNEXPECTED_END = 1
    EXPECTED_VALUE = 2
    EXPECTED_NAME = 3
    EXPECTED_COLON = 4
    EXPECTED_COMMA_OR_BRACKET = 5
    EXPECTED_COMMA_OR_BRACE = 6
    EXPECTED_DIGIT = 7
    EXTRA = 8
    BYTE_ORDER_MARK = 9
    CONTROL_CHARACTER = 10
    ESCAPE = 11
    UTF8 = 12
    RAW_SURROGATE = 13
    LONE_SURROGATE = 14
    NUMBER_RANGE = 15
    DEPTH = 16
    DUPLICATE_NAME = 17
    NOT_FINITE = 18


_TEXT_WORDING: Final[dict[int, tuple[type[CanonicalizationError], str]]] = {
    TextReason.UNEXPECTED_END: (JSONTextError, "the text ends too early"),
    TextReason.EXPECTED_VALUE: (JSONTextError, "expected a value"),
    TextReason.EXPECTED_NAME: (JSONTextError, "expected a name in double quotes"),
    TextReason.EXPECTED_COLON: (JSONTextError, "expected a colon"),
    TextReason.EXPECTED_COMMA_OR_BRACKET: (JSONTextError, 'expected a comma or "]"'),
    TextReason.EXPECTED_COMMA_OR_BRACE: (JSONTextError, 'expected a comma or "}}"'),
    TextReason.EXPECTED_DIGIT: (JSONTextError, "expected a digit"),
    TextReason.EXTRA: (JSONTextError, "more text after the value"),
    TextReason.BYTE_ORDER_MARK: (JSONTextError, "a byte order mark (U+FEFF) before the value"),
    TextReason.CONTROL_CHARACTER: (JSONTextError, "a control character that is not escaped"),
    TextReason.ESCAPE: (JSONTextError, "a backslash that begins no escape"),
    TextReason.UTF8: (JSONTextError, "not UTF-8"),
    TextReason.RAW_SURROGATE: (JSONTextError, "a surrogate, which UTF-8 does not encode"),
    TextReason.LONE_SURROGATE: (SurrogateError, "a lone surrogate"),
    TextReason.NUMBER_RANGE: (FloatDomainError, "a number past the range of doubles"),
    TextReason.DEPTH: (DepthError, "nesting exceeds max_depth={max_depth}"),
    TextReason.DUPLICATE_NAME: (DuplicateKeyError, "a name that its object has already"),
    TextReason.NOT_FINITE: (JSONTextError, "NaN and Infinity are not JSON"),
}


class CallField(enum.IntEnum):
    """The fields of a recorded call. The numbers are those of ``ovt_call_field`` in the C core."""

    KIND = 0
    NAME = 1
    ARGS = 2
    MATCH_ON = 3
    IGNORE_ARGS = 4


FIELD_NAMES: Final = {
    CallField.KIND: "kind",
    CallField.NAME: "name",
    CallField.ARGS: "args",
    CallField.MATCH_ON: "matchOn",
    CallField.IGNORE_ARGS: "ignoreArgs",
}


class CallReason(enum.IntEnum):
    """Why a value is no call. The numbers are those of ``ovt_call_reason`` in the C core."""

    NO_OBJECT = 1
    MISSING = 2
    NO_STRING = 3
    NEWLINE = 4
    NO_ARRAY = 5
    ITEM = 6


_CALL_WORDING: Final[dict[int, str]] = {
    CallReason.NO_OBJECT: "a call must be an object, not {type}",
    CallReason.MISSING: 'the call has no "{field}"',
    CallReason.NO_STRING: "$.{field} must be a string, not {type}",
    CallReason.NEWLINE: "$.{field} must not contain a newline",
    CallReason.NO_ARRAY: "$.{field} must be an array of strings, not {type}",
    CallReason.ITEM: "$.{field}[{item}] must be a string, not {type}",
}

# The types of JSON by their first byte; a number's is another.
_JSON_TYPES: Final = {
    b"{": "an object",
    b"[": "an array",
    b'"': "a string",
    b"t": "a boolean",
    b"f": "a boolean",
    b"n": "null",
}

Segment = str | int | None
"""One step of a path: a key, an index, or ``None`` for an item of a set, which has neither."""

_CONTINUATIONS: Final = bytes(range(0x80, 0xC0))

_PLAIN_KEY: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_SHOWN_KEY: Final = 80  # characters of a key shown in a path
_SHOWN_HEAD, _SHOWN_TAIL = 20, 10  # segments shown of a very long path


class ReadFailure(Exception):
    """Code of a value's own type raised while the value was read; ``__cause__`` has the reason."""


class KeyFailure(Exception):
    """A mapping has keys that there is no text or no order for; the argument says so."""


def format_path(path: Sequence[Segment]) -> str:
    """The path as text: ``$.filters.ids[3]``, ``$["two words"]``, ``$.tags[*]`` in a set."""
    if len(path) <= _SHOWN_HEAD + _SHOWN_TAIL:
        return "$" + "".join(map(format_segment, path))
    hidden = len(path) - _SHOWN_HEAD - _SHOWN_TAIL
    head = "".join(map(format_segment, path[:_SHOWN_HEAD]))
    tail = "".join(map(format_segment, path[-_SHOWN_TAIL:]))
    return f"${head}...({hidden:,} levels)...{tail}"


def format_segment(segment: Segment) -> str:
    """One step of a path as text: ``.ids``, ``[3]``, ``["two words"]``, ``[*]``."""
    if segment is None:
        return "[*]"
    if isinstance(segment, int):
        return f"[{segment}]"
    if len(segment) > _SHOWN_KEY:
        segment = segment[: _SHOWN_KEY - 3] + "..."
    if _PLAIN_KEY.fullmatch(segment):
        return "." + segment
    quoted = json.dumps(segment, ensure_ascii=False)
    return f"[{quoted.encode('utf-8', 'backslashreplace').decode()}]"


def type_name(value: object) -> str:
    """The name of the value's type as a person would write it: ``bytes``, ``decimal.Decimal``."""
    cls = type(value)
    try:
        module, name = cls.__module__, cls.__qualname__
        return name if module == "builtins" else f"{module}.{name}"
    except Exception:  # a metaclass may make these anything
        return type.__dict__["__name__"].__get__(cls)  # type: ignore[no-any-return]


def failure(status: int, path: Sequence[Segment], value: object) -> Exception:
    """The exception for ``value`` (or a key of it) at ``path``; the caller raises it."""
    if status == Status.NO_MEMORY:
        return MemoryError()
    error, wording = _WORDING[status]
    return error(f"{format_path(path)}: {wording.format(type=type_name(value))}")


def nesting_failure(
    path: Sequence[Segment], containers: Sequence[object], max_depth: int
) -> CanonicalizationError:
    """The exception for nesting that goes too deep or never ends.

    ``containers`` are those from the root down, ``path[i]`` leading from ``containers[i]`` to the
    next. The first of them that appears twice makes it a cycle; without one it is just deep.
    """
    seen: set[int] = set()
    for depth, container in enumerate(containers):
        if id(container) in seen:
            failed = failure(Status.CIRCULAR_REFERENCE, path[:depth], container)
            assert isinstance(failed, CircularReferenceError)
            return failed
        seen.add(id(container))
    return DepthError(f"{format_path(path)}: nesting exceeds max_depth={max_depth}")


def conversion_failure(
    error: BaseException, path: Sequence[Segment], value: object
) -> BaseException:
    """The exception to raise when converting ``value`` raised ``error``.

    What a caller's ``encoder`` raises is passed on as it is, with a note of the path where Python
    has notes (3.11). A failure inside the value's own type becomes an UnsupportedTypeError.
    """
    where = format_path(path)
    if isinstance(error, KeyFailure):
        refused = KeyTypeError(f"{where}: {error}")
        refused.__cause__ = error.__cause__
        return refused
    if isinstance(error, ReadFailure):
        failed = UnsupportedTypeError(f"{where}: reading {type_name(value)} failed")
        failed.__cause__ = error.__cause__
        return failed
    if hasattr(error, "add_note"):
        error.add_note(f"while canonicalizing {where}")
    return error


_SHOWN_PATH: Final = 200  # characters shown of the path of a shape


def key_surrogate_failure(path: str) -> SurrogateError:
    """The exception for a path of a shape that holds a surrogate and so has no UTF-8.

    The message names what stands before the key that the surrogate is in, as far as a path of the
    profile ``seed`` tells keys apart.
    """
    before = path[: next(i for i, char in enumerate(path) if "\ud800" <= char <= "\udfff")]
    container = before[: max(before.rfind("."), 1)]
    if len(container) > _SHOWN_PATH:
        container = f"{container[:_SHOWN_PATH]}..."
    return SurrogateError(f"{container}: a key of type str holds a lone surrogate")


def text_failure(
    reason: int, offset: int, text: bytes | memoryview, max_depth: int
) -> CanonicalizationError:
    """The exception for a JSON text that is wrong at a byte; the caller raises it."""
    error, wording = _TEXT_WORDING[reason]
    return _placed(error(), wording.format(max_depth=max_depth), offset, text)


def call_failure(
    reason: int, field: int, item: int, offset: int, text: bytes | memoryview
) -> CallError:
    """The exception for a JSON text whose value, the one at a byte, keeps it from being a call."""
    described = _JSON_TYPES.get(bytes(text[offset : offset + 1]), "a number")
    wording = _CALL_WORDING[reason].format(
        field=FIELD_NAMES[CallField(field)], item=item, type=described
    )
    return _placed(CallError(), wording, offset, text)


_Failed = TypeVar("_Failed", bound=CanonicalizationError)


def _placed(failed: _Failed, reason: str, offset: int, text: bytes | memoryview) -> _Failed:
    """The exception with its place in a text, and the message that says so."""
    failed.reason = reason
    failed.offset = offset
    failed.line, failed.column = line_and_column(text, offset)
    place = f"line {failed.line}, column {failed.column} (byte {offset})"
    failed.args = (f"{reason}: {place}",)
    return failed


def line_and_column(text: bytes | memoryview, offset: int) -> tuple[int, int]:
    """Line and column of a byte, both counted from 1: lines by LF, columns by character.

    >>> line_and_column("é = é".encode(), 5)
    (1, 5)
    """
    before = bytes(text[:offset])
    line = before[before.rfind(b"\n") + 1 :]
    # Every character has one byte that is no continuation of a UTF-8 sequence.
    return before.count(b"\n") + 1, len(line.translate(None, _CONTINUATIONS)) + 1


def in_call(error: BaseException, index: int) -> None:
    """Put the position of a call among many before the message of an error about it."""
    with contextlib.suppress(Exception):  # an encoder's exception may be anything
        message = error.args[0]
        if isinstance(message, str) and not message.startswith("calls["):
            error.args = (f"calls[{index}]: {message}", *error.args[1:])
