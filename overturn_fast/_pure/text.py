"""JSON text to canonical text, for every profile: RFC 8259, in UTF-8 as RFC 3629 defines it.

The reader is strict and iterative: one frame for each open container, so nesting costs memory and
no stack. What it has read of a container is a list of pieces, which hold the lists of those inside;
they are put together only at the end, so that no piece is copied once for every level around it.
"""

from __future__ import annotations

import hashlib
import math
import re
import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, NoReturn

from overturn_fast._arguments import TOOL_CALL
from overturn_fast._errors import (
    FIELD_NAMES,
    CallField,
    CallReason,
    TextReason,
    call_failure,
    text_failure,
)
from overturn_fast._profiles import OVERTURN, Integers, Profile
from overturn_fast._pure import numbers
from overturn_fast._pure.strings import call_prefix, quote, utf16_order

__all__ = [
    "Call",
    "Frame",
    "Member",
    "Piece",
    "Reader",
    "Selection",
    "call_digest",
    "canonical_text",
    "members",
    "text_digest",
]


@dataclass(frozen=True, slots=True)
class Selection:
    """Which members of an outermost object take part."""

    names: Collection[str]
    drops: bool
    """The names are left out, else only they are kept."""

    def takes(self, name: str) -> bool:
        """Whether the member of that name takes part."""
        return (name in self.names) is not self.drops


def canonical_text(text: bytes, profile: Profile, max_depth: int) -> bytes:
    """The canonical form of a JSON text under a profile, in UTF-8.

    Raises:
        CanonicalizationError: The text is no JSON, or has no canonical form; of several things that
            are wrong, the first in reading order. Names of members are compared as their object
            ends.
    """
    return Reader(bytes(text), profile, max_depth, None).canonical().encode()


def text_digest(
    prefix: bytes, text: bytes, profile: Profile, max_depth: int, selection: Selection | None
) -> str:
    """The SHA-256, in hexadecimal, of a prefix and the canonical form of what is selected."""
    canonical = Reader(bytes(text), profile, max_depth, selection).canonical()
    return hashlib.sha256(prefix + canonical.encode()).hexdigest()


class Member(NamedTuple):
    """Where a member of an object stands in a text, in bytes: its name in quotes, its value."""

    name_start: int
    name_end: int
    value_start: int
    value_end: int


def members(text: bytes, max_depth: int) -> list[Member]:
    """The members of the object that a text consists of; none if it is another value.

    Raises:
        CanonicalizationError: As ``canonical_text``; containers in the object may be nested
            ``max_depth`` levels.
    """
    return Reader(bytes(text), OVERTURN, max_depth, None).members()


def call_digest(text: bytes, max_depth: int) -> str:
    """The fingerprint of a recorded call: an object with ``name``, ``args`` and the like.

    Raises:
        CallError: The text is JSON, but no such object.
        CanonicalizationError: As ``canonical_text``; ``args`` may be nested ``max_depth`` levels.
    """
    text = bytes(text)
    return Call(text, members(text, max_depth)).digest(max_depth)


class Call:
    """The fields of a recorded call as they stand in its text."""

    def __init__(self, text: bytes, members: list[Member]) -> None:
        self.text = text
        self.fields: dict[CallField, Member] = {}
        fields = {name: field for field, name in FIELD_NAMES.items()}
        for member in members:
            name = self._string(member.name_start)
            if name in fields:
                self.fields[fields[name]] = member

    def digest(self, max_depth: int) -> str:
        """The fingerprint, if the fields are what they should be."""
        kind, name, selection = self.checked()
        return text_digest(call_prefix(kind, name), self.args(), OVERTURN, max_depth, selection)

    def checked(self) -> tuple[str, str, Selection]:
        """Kind, name and selection, if the fields are what they should be."""
        self._check()
        kind, name = TOOL_CALL, self._string(self.fields[CallField.NAME].value_start)
        if CallField.KIND in self.fields:
            kind_start = self.fields[CallField.KIND].value_start
            kind = self._string(kind_start)
            if "\n" in kind:
                self._fail(CallReason.NEWLINE, CallField.KIND, kind_start)
        match_on = self._names(CallField.MATCH_ON)
        ignore_args = self._names(CallField.IGNORE_ARGS)
        return kind, name, Selection(match_on or ignore_args, drops=not match_on)

    def args(self) -> bytes:
        """The text of the arguments."""
        args = self.fields[CallField.ARGS]
        return self.text[args.value_start : args.value_end]

    def _check(self) -> None:
        start = _first(self.text)
        if self.text[start : start + 1] != b"{":
            self._fail(CallReason.NO_OBJECT, CallField.KIND, start)
        for field in (CallField.NAME, CallField.ARGS):
            if field not in self.fields:
                self._fail(CallReason.MISSING, field, start)
        for field in (CallField.KIND, CallField.NAME):
            if field in self.fields and self._first_byte(field) != b'"':
                self._fail(CallReason.NO_STRING, field, self.fields[field].value_start)

    def _names(self, field: CallField) -> frozenset[str]:
        """The names in an array; none if there is none."""
        if field not in self.fields or self._first_byte(field) == b"n":
            return frozenset()
        member = self.fields[field]
        if self._first_byte(field) != b"[":
            self._fail(CallReason.NO_ARRAY, field, member.value_start)
        names, reader = [], Reader(self.text, OVERTURN, sys.maxsize, None)
        for item, offset in enumerate(reader.items(member.value_start)):
            if self.text[offset : offset + 1] != b'"':
                self._fail(CallReason.ITEM, field, offset, item)
            names.append(self._string(offset))
        return frozenset(names)

    def _string(self, offset: int) -> str:
        reader = Reader(self.text, OVERTURN, 1, None)
        reader.position = offset
        return reader.read_string()

    def _first_byte(self, field: CallField) -> bytes:
        start = self.fields[field].value_start
        return self.text[start : start + 1]

    def _fail(self, reason: CallReason, field: CallField, offset: int, item: int = 0) -> NoReturn:
        raise call_failure(reason, field, item, offset, self.text)


_SPACE: Final = re.compile(rb"[ \t\n\r]*")
_PLAIN: Final = re.compile(rb'[^"\\\x00-\x1f]*')
_SHORT_ESCAPE: Final = re.compile(rb'\\(["\\/bfnrt])')
_HEX_ESCAPE: Final = re.compile(rb"\\u([0-9A-Fa-f]{4})")
_LOW_SURROGATE_ESCAPE: Final = re.compile(rb"\\u([Dd][C-Fc-f][0-9A-Fa-f]{2})")
_RAW_SURROGATE: Final = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]")
_NUMBER: Final = re.compile(rb"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([Ee][+-]?[0-9]+)?")
# As far as a text goes like a number, digits perhaps missing at the end.
_BEGINNING: Final = re.compile(
    rb"-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?(?:(?<=[0-9])[Ee][+-]?[0-9]*)?)?"
)
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"

_SHORT_ESCAPES: Final = {
    b'"': '"',
    b"\\": "\\",
    b"/": "/",
    b"b": "\b",
    b"f": "\f",
    b"n": "\n",
    b"r": "\r",
    b"t": "\t",
}
_LITERALS: Final = {b"t": b"true", b"f": b"false", b"n": b"null"}

_EXACT_DIGITS: Final = 21  # of an integer below 10**21

Piece = Any
"""Canonical text: a str, or a list of pieces."""


class _Null:
    """The literal ``null``, of which the container decides what becomes."""


_NULL: Final = _Null()
_OPENED: Final = object()


class Frame:
    """An open container and the values read so far."""

    __slots__ = ("is_object", "members", "name", "name_offset")

    def __init__(self, is_object: bool) -> None:
        self.is_object = is_object
        self.members: list[tuple[str, int, Piece]] = []  # name, its offset, value
        self.name = ""  # of the member being read; "" for an item of an array
        self.name_offset = 0

    @property
    def close(self) -> bytes:
        return b"}" if self.is_object else b"]"

    def add(self, value: Piece) -> None:
        """Take the value of the member that was named, or of the next item."""
        self.members.append((self.name, self.name_offset, value))


class Reader:
    """One pass over one text."""

    def __init__(
        self, text: bytes, profile: Profile, max_depth: int, selection: Selection | None
    ) -> None:
        self.text = text
        self.profile = profile
        self.max_depth = max_depth
        self.selection = selection
        self.position = 0
        self.frames: list[Frame] = []

    def canonical(self) -> str:
        """The canonical form of the whole text."""
        value = self.whole()
        return "null" if value is _NULL else "".join(_flattened(value))

    def whole(self) -> Piece:
        """What the value of the whole text becomes."""
        self._skip_space()
        value = self._read()
        self._skip_space()
        if self.position != len(self.text):
            self._fail(TextReason.EXTRA, self.position)
        return value

    def members(self) -> list[Member]:
        """Where the members of the whole text, an object, stand; none if it is another value."""
        found: list[Member] = []
        self._skip_space()
        if self._byte() == b"{":
            self.position += 1
            self._skip_space()
            while self._byte() != b"}":
                found.append(self._member())
                self._skip_space()
                if self._byte() == b",":
                    self.position += 1
                    self._skip_space()
                    if self._byte() != b'"':
                        self._fail(TextReason.EXPECTED_NAME, self.position)
                elif self._byte() != b"}":
                    self._fail(TextReason.EXPECTED_COMMA_OR_BRACE, self.position)
            self.position += 1
        else:
            self._read()
        self._skip_space()
        if self.position != len(self.text):
            self._fail(TextReason.EXTRA, self.position)
        return found

    def _member(self) -> Member:
        frame = Frame(is_object=True)
        name_start = self.position
        if self._byte() != b'"':
            self._fail(TextReason.EXPECTED_NAME, name_start)
        self.read_string()
        name_end = self.position
        self.position = name_start
        self._read_name(frame)
        value_start = self.position
        self._read()
        return Member(name_start, name_end, value_start, self.position)

    def items(self, offset: int) -> Iterator[int]:
        """Where the items of the array at ``offset``, which is known to be valid, start."""
        self.position = offset + 1
        self._skip_space()
        while self._byte() != b"]":
            yield self.position
            self._read()
            self._skip_space()
            if self._byte() == b",":
                self.position += 1
                self._skip_space()

    # -- values -----------------------------------------------------------------------------

    def _read(self) -> Piece:
        """The value that starts here, with all that it contains."""
        frames = self.frames
        while True:
            value = self._read_scalar_or_open()
            if value is _OPENED:
                continue
            while frames:
                frame = frames[-1]
                frame.add(value)
                self._skip_space()
                if self._byte() == b",":
                    self._start_next(frame)
                    break
                if self._byte() != frame.close:
                    self._fail_after_value(frame)
                value = self._closed(frame)
                self.position += 1
                frames.pop()
            else:
                return value

    def _read_scalar_or_open(self) -> Piece:
        """A scalar or an empty container that starts here; or open the container."""
        first = self._byte()
        if first == b'"':
            return self._read_string_value()
        if first == b"-" or first.isdigit():
            return self._read_number()
        if first in (b"{", b"["):
            return self._open(first == b"{")
        literal = _LITERALS.get(first)
        if literal is None or not self.text.startswith(literal, self.position):
            self._fail(TextReason.EXPECTED_VALUE, self.position)
        self.position += len(literal)
        return self._literal(literal)

    def _literal(self, literal: bytes) -> Piece:
        return _NULL if literal == b"null" else literal.decode()

    def _open(self, is_object: bool) -> Piece:
        if len(self.frames) >= self.max_depth:
            self._fail(TextReason.DEPTH, self.position)
        frame = Frame(is_object)
        self.position += 1
        self._skip_space()
        if self._byte() == frame.close:
            self.position += 1
            return self._empty(is_object)
        self.frames.append(frame)
        if is_object:
            self._read_name(frame)
        return _OPENED

    def _empty(self, is_object: bool) -> Piece:
        return "{}" if is_object else "[]"

    def _start_next(self, frame: Frame) -> None:
        """Go past a comma, and past the name of the member that follows."""
        self.position += 1
        self._skip_space()
        if frame.is_object:
            self._read_name(frame)

    def _read_name(self, frame: Frame) -> None:
        if self._byte() != b'"':
            self._fail(TextReason.EXPECTED_NAME, self.position)
        frame.name_offset = self.position
        frame.name = self.read_string()
        self._skip_space()
        if self._byte() != b":":
            self._fail(TextReason.EXPECTED_COLON, self.position)
        self.position += 1
        self._skip_space()

    def _closed(self, frame: Frame) -> Piece:
        """The canonical text of a container that ends here."""
        if frame.is_object:
            members = self._ordered(frame)
            texts = [[quote(name), ":", value] for name, value in members.items()]
            opening, closing = "{", "}"
        else:
            texts = [[value] for value in map(self._kept, (item for _, _, item in frame.members))
                     if value is not None]  # fmt: skip
            opening, closing = "[", "]"
        pieces: list[Piece] = [opening]
        for number, text in enumerate(texts):
            if number:
                pieces.append(",")
            pieces.extend(text)
        pieces.append(closing)
        return pieces

    def _ordered(self, frame: Frame) -> dict[str, Piece]:
        """The members of an object that are written, in the order of their names."""
        by_name: dict[str, Piece] = {}
        for name, offset, value in frame.members:
            if name in by_name and not self.profile.last_duplicate_wins:
                self._fail(TextReason.DUPLICATE_NAME, offset)
            by_name[name] = self._kept(value)
        names: Iterator[str] | list[str] = iter(by_name)
        if self.selection is not None and len(self.frames) == 1:
            names = filter(self.selection.takes, names)
        ordered = sorted(names, key=utf16_order if self.profile.utf16_key_order else None)
        return {name: by_name[name] for name in ordered if by_name[name] is not None}

    def _kept(self, value: Piece) -> Piece:
        """What becomes of a value in a container: None if it is left out."""
        if value is not _NULL:
            return value
        return None if self.profile.drop_none else "null"

    # -- scalars ----------------------------------------------------------------------------

    def _number_literal(self) -> re.Match[bytes]:
        """Go past the number that starts here."""
        start = self.position
        match = _NUMBER.match(self.text, start)
        beginning = _BEGINNING.match(self.text, start)
        assert beginning is not None  # it may be empty
        if match is None or match.end() != beginning.end():
            if self.text.startswith(b"-Infinity", start):
                self._fail(TextReason.NOT_FINITE, start)
            self._fail(TextReason.EXPECTED_DIGIT, beginning.end())
        self.position = match.end()
        return match

    def _read_number(self) -> Piece:
        start = self.position
        match = self._number_literal()
        literal, is_integer = match.group().decode(), match.group(1) is match.group(2) is None
        policy = self.profile.integers
        if is_integer and policy in (Integers.EXACT_BELOW_1E21, Integers.ALL_DIGITS):
            digits = literal.removeprefix("-")
            if policy is Integers.ALL_DIGITS or len(digits) <= _EXACT_DIGITS:
                return "0" if digits == "0" else literal
        value = float(literal)
        if math.isinf(value):
            if self.profile.non_finite_null:
                return "null"
            self._fail(TextReason.NUMBER_RANGE, start)
        if self.profile.exact_integral_floats:
            return numbers.integral_exact(value)
        return numbers.ecmascript(value)

    def _read_string_value(self) -> Piece:
        text = self.read_string()
        return quote(text.strip() if self.profile.trim_strings else text)

    def read_string(self) -> str:
        """The characters of the string whose opening quote stands here."""
        self.position += 1
        parts: list[str] = []
        while True:
            parts.append(self._read_plain())
            byte = self._byte()
            if byte == b'"':
                self.position += 1
                return "".join(parts)
            if byte != b"\\":
                self._fail(TextReason.CONTROL_CHARACTER, self.position)
            parts.append(self._read_escape())

    def _read_plain(self) -> str:
        """The characters up to the next quote, backslash or control character."""
        match = _PLAIN.match(self.text, self.position)
        assert match is not None  # it may be empty
        try:
            plain = match.group().decode()
        except UnicodeDecodeError as error:
            offset = self.position + error.start
            is_surrogate = _RAW_SURROGATE.match(self.text, offset) is not None
            self._fail(TextReason.RAW_SURROGATE if is_surrogate else TextReason.UTF8, offset)
        self.position = match.end()
        return plain

    def _read_escape(self) -> str:
        """The character that an escape, or an escaped pair of surrogates, stands for."""
        start = self.position
        if short := _SHORT_ESCAPE.match(self.text, start):
            self.position = short.end()
            return _SHORT_ESCAPES[short.group(1)]
        escape = _HEX_ESCAPE.match(self.text, start)
        if escape is None:
            self._fail(TextReason.ESCAPE, start)
        self.position = escape.end()
        unit = int(escape.group(1), 16)
        if 0xD800 <= unit < 0xDC00 and (
            low := _LOW_SURROGATE_ESCAPE.match(self.text, self.position)
        ):
            self.position = low.end()
            return chr(0x10000 + (unit - 0xD800 << 10) + (int(low.group(1), 16) - 0xDC00))
        if 0xD800 <= unit < 0xE000 and not self.profile.escape_surrogates:
            self._fail(TextReason.LONE_SURROGATE, start)
        return chr(unit)

    # -- bytes ------------------------------------------------------------------------------

    def _byte(self) -> bytes:
        """The byte that is next; empty at the end of the text."""
        return self.text[self.position : self.position + 1]

    def _skip_space(self) -> None:
        match = _SPACE.match(self.text, self.position)
        assert match is not None  # it may be empty
        self.position = match.end()

    def _fail_after_value(self, frame: Frame) -> NoReturn:
        is_object = frame.is_object
        self._fail(
            TextReason.EXPECTED_COMMA_OR_BRACE
            if is_object
            else TextReason.EXPECTED_COMMA_OR_BRACKET,
            self.position,
        )

    def _is_ill_formed(self, offset: int) -> bool:
        """Whether no character starts here."""
        try:
            self.text[offset : offset + 4].decode()
        except UnicodeDecodeError as error:
            return error.start == 0
        return False

    def _fail(self, reason: TextReason, offset: int) -> NoReturn:
        """Refuse the text. At its end that is always for the reason that it ends."""
        if offset == len(self.text):
            reason = TextReason.UNEXPECTED_END
        elif reason <= TextReason.EXTRA and self._is_ill_formed(offset):
            reason = TextReason.UTF8
        elif reason is TextReason.EXPECTED_VALUE:
            if self.text.startswith((b"NaN", b"Infinity"), offset):
                reason = TextReason.NOT_FINITE
            elif offset == 0 and self.text.startswith(_BYTE_ORDER_MARK):
                reason = TextReason.BYTE_ORDER_MARK
        raise text_failure(reason, offset, self.text, self.max_depth)


def _first(text: bytes) -> int:
    """Where the value of a text starts."""
    match = _SPACE.match(text)
    assert match is not None  # it may be empty
    return match.end()


def _flattened(piece: Piece) -> Iterator[str]:
    """The strings of a piece in their order."""
    if isinstance(piece, str):
        yield piece
        return
    stack = [iter(piece)]
    while stack:
        for part in stack[-1]:
            if isinstance(part, str):
                yield part
            else:
                stack.append(iter(part))
                break
        else:
            stack.pop()
