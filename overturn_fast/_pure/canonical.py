"""Python objects to canonical text, for every profile.

The walk is iterative: one frame for each open container, so nesting costs memory and no stack.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any, Final, NoReturn

from overturn_fast._convert import (
    CONVERTERS,
    DROPPED,
    NULL,
    UNSUPPORTED,
    Encoder,
    Pairs,
    SetItems,
    Verbatim,
)
from overturn_fast._errors import (
    Segment,
    Status,
    conversion_failure,
    failure,
    nesting_failure,
)
from overturn_fast._profiles import Integers, Profile
from overturn_fast._pure import numbers
from overturn_fast._pure.strings import (
    has_surrogate,
    join_surrogates,
    quote,
    utf16_order,
)

__all__ = ["Walk", "canonical_text"]

_LARGEST_SAFE_INTEGER: Final = 2**53 - 1
_EXACT_LIMIT: Final = 10**21  # where Number::toString turns to exponent form

_WRITTEN: Final = (str, int, float, bool, dict, list, tuple, Pairs, SetItems, Verbatim)
"""The types of values that the walk writes itself whatever the profile."""

Member = tuple[Segment, str, object]
"""Its step in the path, the text before it (a quoted key and a colon, or nothing), the value."""


def canonical_text(value: object, profile: Profile, encoder: Encoder | None, max_depth: int) -> str:
    """The canonical form of ``value`` under ``profile``; it never holds a surrogate."""
    return Walk(profile, encoder, max_depth).run(value)


class _Frame:
    """An open container: what it was made from, and the members still to be written."""

    __slots__ = ("close", "is_first", "item_texts", "members", "segment", "source", "start")

    def __init__(self, source: object, members: Iterator[Member], close: str) -> None:
        self.source = source  # the object before any conversion: cycles are seen by its identity
        self.members = members
        self.close = close
        self.segment: Segment = None  # of the member being written
        self.is_first = True
        self.item_texts: list[str] | None = None  # of a set: the texts of the finished items
        self.start = 0  # of a set: where the text of the current item starts


class Walk:
    """One walk over one value."""

    quote = staticmethod(quote)

    def __init__(self, profile: Profile, encoder: Encoder | None, max_depth: int) -> None:
        self.profile = profile
        self.convert = CONVERTERS[profile.name]
        self.encoder = encoder
        self.max_depth = max_depth
        self.max_conversions = max_depth  # of one value, one after the other
        self.frames: list[_Frame] = []
        self.parts: list[str] = []

    def run(self, value: object) -> str:
        source, value = value, self._resolve(value)
        if value is None or value is DROPPED:
            return "null"
        self._write(value, source)
        while self.frames:
            frame = self.frames[-1]
            member = next(frame.members, None)
            self._end_set_item(frame)
            if member is None:
                self._close(self.frames.pop())
                continue
            frame.segment, before, source = member
            value = self._resolve(source)
            if value is DROPPED or (value is None and self.profile.drop_none):
                continue
            if not frame.is_first and frame.item_texts is None:
                self.parts.append(",")
            frame.is_first = False
            self.parts.append(before)
            self._write(value, source)
        return "".join(self.parts)

    # -- one value ---------------------------------------------------------------------------

    def _resolve(self, value: object) -> object:
        """``value``, converted as often as it takes to be one that can be written."""
        anchor, conversions = value, 0  # Brent's cycle detection along the chain of conversions
        while not self._is_native(value):
            try:
                converted = self.convert(value, self.encoder)
            except BaseException as error:
                failed = conversion_failure(error, self._path(), value)
                if failed is error:
                    raise
                raise failed from failed.__cause__
            if converted is UNSUPPORTED:
                self._fail(Status.UNSUPPORTED_TYPE, value)
            if converted is DROPPED:
                return DROPPED
            conversions += 1
            if converted is anchor:
                self._fail(Status.CIRCULAR_REFERENCE, value)
            if conversions > self.max_conversions:
                raise nesting_failure(self._path(), self._sources(), self.max_depth)
            value = converted
            if conversions & (conversions - 1) == 0:
                anchor = value
        return value

    def _write(self, value: Any, source: object) -> None:
        """Write a value, or open a frame for its members."""
        kind = type(value)
        if value is None:
            self.parts.append("null")
        elif kind is bool:
            self.parts.append("true" if value else "false")
        elif kind is Verbatim:
            self.parts.append(self._verbatim(value))
        elif issubclass(kind, str):
            self.parts.append(self._string(value))
        elif issubclass(kind, int):
            self.parts.append(self._integer(value))
        elif issubclass(kind, float):
            self.parts.append(self._float(value))
        else:
            self._open(value, source)

    def _string(self, value: str) -> str:
        text = str.__str__(value)
        if self.profile.trim_strings:
            text = text.strip()
        if self.profile.join_surrogates:
            text = join_surrogates(text)
        if not self.profile.escape_surrogates and has_surrogate(text):
            self._fail(Status.SURROGATE, value)
        return self.quote(text)

    def _verbatim(self, value: Verbatim) -> str:
        if not self.profile.escape_surrogates and has_surrogate(value):
            self._fail(Status.SURROGATE, value)
        return str.__str__(value)

    def _integer(self, value: int) -> str:
        number, policy = int.__index__(value), self.profile.integers
        if abs(number) <= _LARGEST_SAFE_INTEGER:
            return str(number)
        if policy is Integers.EXACT_BELOW_1E21 and abs(number) < _EXACT_LIMIT:
            return str(number)
        if policy is Integers.SAFE_ONLY:
            self._fail(Status.INTEGER_DOMAIN, value)
        if policy is Integers.ALL_DIGITS:
            try:
                return str(number)
            except ValueError:
                self._fail(Status.INTEGER_DOMAIN, value)
        try:
            return numbers.ecmascript(float(number))
        except OverflowError:
            if self.profile.non_finite_null:
                return "null"
            self._fail(Status.INTEGER_DOMAIN, value)

    def _float(self, value: float) -> str:
        number = float.__float__(value)
        if not math.isfinite(number):
            if self.profile.non_finite_null:
                return "null"
            self._fail(Status.FLOAT_DOMAIN, value)
        if self.profile.exact_integral_floats:
            return numbers.integral_exact(number)
        return numbers.ecmascript(number)

    # -- objects -----------------------------------------------------------------------------

    def _object_members(self, pairs: Iterable[tuple[object, object]]) -> list[Member]:
        """The members of an object in key order. Of keys with one text the last one counts."""
        members = [(self._key_text(key, value), value) for key, value in list(pairs)]
        by_text = dict(members)
        texts = list(by_text)
        if self.profile.repeat_members:
            texts = [text for text, value in members if value is not None]
            by_text = {text: NULL if last is None else last for text, last in by_text.items()}
        texts.sort(key=utf16_order if self.profile.utf16_key_order else None)
        return [(text, self.quote(text) + ":", by_text[text]) for text in texts]

    def _key_text(self, key: Any, value: object) -> str:
        kind = type(key)
        if issubclass(kind, str) or self.profile.str_keys:
            text = self._text_by_str(key) if self.profile.str_keys else str.__str__(key)
            if self.profile.join_surrogates:
                text = join_surrogates(text)
            is_left_out = self.profile.drop_none and value is None
            if not self.profile.escape_surrogates and has_surrogate(text) and not is_left_out:
                self._fail(Status.KEY_SURROGATE, key)
            return text
        if self.profile.any_key:
            if key is None:
                return "null"
            if kind is bool:
                return "true" if key else "false"
            if issubclass(kind, int):
                return self._integer(key)
            if issubclass(kind, float):
                return self._float(key)
        self._fail(Status.KEY_TYPE, key)

    def _text_by_str(self, key: object) -> str:
        try:
            return str.__str__(str(key))
        except Exception:
            self._fail(Status.KEY_TYPE, key)

    # -- frames ------------------------------------------------------------------------------

    def _open(self, container: Any, source: object) -> None:
        """Open a frame for the members of ``container``, which ``source`` was converted to."""
        depth = len(self.frames)
        # Brent's cycle detection along the path: a container is compared with its ancestor at
        # the last power of two, which meets any cycle within a few rounds of it.
        anchor = (1 << (depth.bit_length() - 1)) - 1 if depth else None
        is_cycle = anchor is not None and self.frames[anchor].source is source
        if is_cycle or depth >= self.max_depth:
            raise nesting_failure(self._path(), [*self._sources(), source], self.max_depth)
        kind = type(container)
        if kind is dict or kind is Pairs:
            pairs = container.items() if kind is dict else container
            frame = _Frame(source, iter(self._object_members(pairs)), "}")
            self.parts.append("{")
        elif kind is SetItems:
            frame = _Frame(source, ((None, "", item) for item in container), "]")
            self.parts.append("[")
            frame.item_texts = []
            frame.start = len(self.parts)
        else:
            frame = _Frame(source, ((i, "", item) for i, item in enumerate(container)), "]")
            self.parts.append("[")
        self.frames.append(frame)

    def _end_set_item(self, frame: _Frame) -> None:
        """Take the text of a set's finished item out of the output, to be sorted at the end."""
        if frame.item_texts is not None and frame.start < len(self.parts):
            frame.item_texts.append("".join(self.parts[frame.start :]))
            del self.parts[frame.start :]

    def _close(self, frame: _Frame) -> None:
        if frame.item_texts is not None:
            self.parts.append(",".join(sorted(frame.item_texts)))
        self.parts.append(frame.close)

    def _sources(self) -> list[object]:
        return [frame.source for frame in self.frames]

    def _path(self) -> list[Segment]:
        return [frame.segment for frame in self.frames]

    def _fail(self, status: Status, value: object) -> NoReturn:
        raise failure(status, self._path(), value)

    def _is_native(self, value: object) -> bool:
        """Whether the walk writes a value of this type itself; any other is converted first."""
        kind = type(value)
        if value is None or any(kind is written for written in _WRITTEN):
            return True
        return issubclass(kind, (str, int, float)) and not self.profile.convert_subclasses
