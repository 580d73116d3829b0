"""Answers as bytes: JSON text, or bytes as they are, and nothing that would come back changed."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from overturn_fast._errors import format_path, type_name
from overturn_fast.pleach.errors import CorruptStoreError, InputError, InputTypeError

__all__ = ["decoded", "encoded", "json_text"]

_PLAIN: Final = (str, int, float, bool, type(None), list, dict)


def encoded(value: Any) -> tuple[bytes, bool]:
    """A value as the bytes to keep, and whether they are JSON.

    Raises:
        InputError: The value, or a part of it, would not come back as it is: NaN, a key that is no
            str, a cycle. ``field`` is its path: ``value.choices[0]``.
        InputTypeError: It is of a type that JSON does not have, or of a subclass of one that it
            has: a tuple, an Enum, an OrderedDict, a bytearray.
    """
    if type(value) is bytes:
        return value, False
    return json_text(value, "value").encode(), True


def json_text(value: Any, field: str) -> str:
    """The JSON text of a value that comes back from it as it is; errors as for ``encoded``."""
    try:
        text = json.dumps(value, allow_nan=False, separators=(",", ":"))
        back = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        _refuse_unlike(value, field)
        reason = "has no JSON text: nested too deep, or too long a number"
        raise InputError(field, reason) from error
    if not _is_same(back, value):
        _refuse_unlike(value, field)
        raise InputError(field, "would come back from JSON as another value")
    return text


def decoded(value: bytes, is_json: bool) -> Any:
    """The value that ``encoded`` wrote.

    Raises:
        CorruptStoreError: It is no JSON.
    """
    if not is_json:
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError) as error:
        raise CorruptStoreError("the value of an entry is no JSON") from error


def _is_same(back: Any, value: Any) -> bool:
    """Whether a value is what came back of it, down to the types of its parts."""
    pairs = [(back, value)]
    while pairs:
        one, other = pairs.pop()
        if type(one) is not type(other):
            return False
        if type(one) is dict:
            if list(one) != list(other) or not all(type(key) is str for key in other):
                return False
            pairs.extend(zip(one.values(), other.values(), strict=True))
        elif type(one) is list:
            if len(one) != len(other):
                return False
            pairs.extend(zip(one, other, strict=True))
        elif one != other:
            return False
    return True


class _Part(NamedTuple):
    """A part of a value, and how it is reached."""

    value: Any
    step: str | int
    parent: _Part | None

    @property
    def field(self) -> str:
        """Its path from the value: ``value.choices[0]``."""
        steps = []
        part: _Part | None = self
        while part is not None:
            steps.append(part.step)
            part = part.parent
        return f"{steps.pop()}{format_path(steps[::-1])[1:]}"

    def parts(self) -> Iterator[_Part]:
        """What is in it, if it is a list or a dict."""
        if type(self.value) is list:
            for index, item in enumerate(self.value):
                yield _Part(item, index, self)
        elif type(self.value) is dict:
            for key, item in self.value.items():
                yield _Part(item, key, self)


def _refuse_unlike(value: Any, field: str) -> None:
    """Raise the error for the first part of a value that JSON has no like of, if there is one."""
    whole = _Part(value, field, None)
    opened = [(whole, iter((whole,)))]  # the containers that are open, and what is left in them
    above: set[int] = set()  # their addresses
    while opened:
        container, parts = opened[-1]
        part = next(parts, None)
        if part is None:
            opened.pop()
            above.discard(id(container.value))
            continue
        _check_alone(part)
        if type(part.value) in (list, dict):
            if id(part.value) in above:
                raise InputError(part.field, "is a cycle")
            above.add(id(part.value))
            opened.append((part, part.parts()))


def _check_alone(part: _Part) -> None:
    """Refuse a part that, but for what is in it, would not come back from JSON as it is."""
    value, kind = part.value, type(part.value)
    if kind not in _PLAIN:
        if kind is tuple or isinstance(value, _PLAIN):
            reason = f"would not come back as {type_name(value)}"
        else:
            allowed = "bytes or of JSON types" if part.parent is None else "of JSON types"
            reason = f"must be {allowed}, not {type_name(value)}"
        raise InputTypeError(part.field, reason)
    if kind is float and not math.isfinite(value):
        raise InputError(part.field, "must be a finite number")
    if kind is str and json.loads(json.dumps(value)) != value:
        raise InputError(part.field, "holds two surrogates that would come back as one character")
    if kind is dict:
        for key in value:
            if type(key) is not str:
                raise InputTypeError(part.field, f"has a key of type {type_name(key)}, not str")
            if json.loads(json.dumps(key)) != key:
                raise InputError(
                    part.field,
                    "has a key with two surrogates that would come back as one character",
                )
