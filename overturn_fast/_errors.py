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
from typing import Final

__all__ = [
    "CanonicalizationError",
    "CircularReferenceError",
    "DepthError",
    "FloatDomainError",
    "IntegerDomainError",
    "KeyTypeError",
    "SurrogateError",
    "UnsupportedTypeError",
]


class CanonicalizationError(ValueError):
    """A value has no canonical form.

    The message names the value's path and type, never its content. Every error of this package
    about a value derives from this class.
    """


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


for _error in (
    CanonicalizationError,
    IntegerDomainError,
    FloatDomainError,
    SurrogateError,
    KeyTypeError,
    UnsupportedTypeError,
    CircularReferenceError,
    DepthError,
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


_WORDING: Final[dict[int, tuple[type[CanonicalizationError], str]]] = {
    Status.UNSUPPORTED_TYPE: (UnsupportedTypeError, "{type} has no canonical form"),
    Status.KEY_TYPE: (KeyTypeError, "a key of type {type} has no text"),
    Status.INTEGER_DOMAIN: (IntegerDomainError, "{type} is outside the range of exact integers"),
    Status.FLOAT_DOMAIN: (FloatDomainError, "{type} is not a finite number"),
    Status.SURROGATE: (SurrogateError, "{type} holds a lone surrogate"),
    Status.KEY_SURROGATE: (SurrogateError, "a key of type {type} holds a lone surrogate"),
    Status.CIRCULAR_REFERENCE: (CircularReferenceError, "{type} contains itself"),
}

Segment = str | int | None
"""One step of a path: a key, an index, or ``None`` for an item of a set, which has neither."""

_PLAIN_KEY: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_SHOWN_KEY: Final = 80  # characters of a key shown in a path
_SHOWN_HEAD, _SHOWN_TAIL = 20, 10  # segments shown of a very long path


class ReadFailure(Exception):
    """Code of a value's own type raised while the value was read; ``__cause__`` has the reason."""


def format_path(path: Sequence[Segment]) -> str:
    """The path as text: ``$.filters.ids[3]``, ``$["two words"]``, ``$.tags[*]`` in a set."""
    if len(path) <= _SHOWN_HEAD + _SHOWN_TAIL:
        return "$" + "".join(map(_format_segment, path))
    hidden = len(path) - _SHOWN_HEAD - _SHOWN_TAIL
    head = "".join(map(_format_segment, path[:_SHOWN_HEAD]))
    tail = "".join(map(_format_segment, path[-_SHOWN_TAIL:]))
    return f"${head}...({hidden:,} levels)...{tail}"


def _format_segment(segment: Segment) -> str:
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
    if isinstance(error, ReadFailure):
        failed = UnsupportedTypeError(f"{where}: reading {type_name(value)} failed")
        failed.__cause__ = error.__cause__
        return failed
    if hasattr(error, "add_note"):
        error.add_note(f"while canonicalizing {where}")
    return error


def in_call(error: BaseException, index: int) -> None:
    """Put the position of a call among many before the message of an error about it."""
    with contextlib.suppress(Exception):  # an encoder's exception may be anything
        message = error.args[0]
        if isinstance(message, str) and not message.startswith("calls["):
            error.args = (f"calls[{index}]: {message}", *error.args[1:])
