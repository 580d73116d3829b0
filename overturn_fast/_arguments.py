"""Checks of the arguments that the public functions share, with one wording for both backends."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Mapping
from typing import Any, Final

__all__ = ["DEFAULT_MAX_DEPTH", "TOOL_CALL", "call_parts", "checked_depth", "checked_encoder"]

DEFAULT_MAX_DEPTH: Final = 10_000
"""Levels of nested containers that a value may have unless the caller says otherwise."""

SHAPE_PROFILES: Final = ("seed", "v2")
"""The profiles of shapes, in the order of ``ovt_shape_profile`` in the C core."""

TOOL_CALL: Final = "tool_call"
"""The ``kind`` of a tool call's fingerprint."""


def checked_depth(max_depth: Any) -> int:
    """``max_depth`` as an int of at least 1."""
    if type(max_depth) is int and 1 <= max_depth <= sys.maxsize:
        return max_depth
    if isinstance(max_depth, bool):
        raise TypeError("max_depth must be an int, not bool")
    try:
        depth = operator.index(max_depth)
    except TypeError:
        raise TypeError(f"max_depth must be an int, not {type(max_depth).__name__}") from None
    if depth < 1:
        raise ValueError(f"max_depth must be at least 1, not {depth}")
    return min(depth, sys.maxsize)


def checked_limit(limit: Any, parameter: str) -> int:
    """A limit of what is told apart: an int from 0 to 2**30."""
    if not isinstance(limit, int) or isinstance(limit, bool):
        raise TypeError(f"{parameter} must be an int, not {type(limit).__name__}")
    if not 0 <= limit <= 2**30:
        raise ValueError(f"{parameter} must be from 0 to 2**30, not {limit}")
    return limit


def checked_integers(integers: Any) -> bool:
    """Whether ints beyond the exact range of doubles are written as the nearest one."""
    if not isinstance(integers, str):
        raise TypeError(f'integers must be "strict" or "double", not {type(integers).__name__}')
    if integers not in ("strict", "double"):
        raise ValueError('integers must be "strict" or "double"')
    return integers == "double"


def checked_shape_profile(profile: Any) -> str:
    """``profile`` if it names one of the shapes."""
    names = " or ".join(f'"{name}"' for name in SHAPE_PROFILES)
    if not isinstance(profile, str):
        raise TypeError(f"profile must be {names}, not {type(profile).__name__}")
    if profile not in SHAPE_PROFILES:
        raise ValueError(f"profile must be {names}")
    return str.__str__(profile)


def checked_encoder(encoder: Any) -> Callable[[object], object] | None:
    """``encoder`` if it is callable or None."""
    if encoder is not None and not callable(encoder):
        raise TypeError(f"encoder must be callable or None, not {type(encoder).__name__}")
    return encoder  # type: ignore[no-any-return]


def checked_text(text: Any, parameter: str) -> str:
    """``kind`` or ``name`` as an exact str."""
    if not isinstance(text, str):
        raise TypeError(f"{parameter} must be a str, not {type(text).__name__}")
    return str.__str__(text)


def checked_kind(kind: Any) -> str:
    """``kind`` as an exact str without a newline, which would make the hashed text ambiguous."""
    text = checked_text(kind, "kind")
    if "\n" in text:
        raise ValueError("kind must not contain a newline")
    return text


def call_parts(call: Any) -> tuple[str, str, Any, Any, Any]:
    """A call given to ``fingerprint_many`` as (kind, name, args, match_on, ignore_args)."""
    if isinstance(call, Mapping):
        for field in ("name", "args"):
            if field not in call:
                raise ValueError(f'the call has no "{field}"')
        kind = call.get("kind", TOOL_CALL)
        return kind, call["name"], call["args"], call.get("matchOn"), call.get("ignoreArgs")
    if isinstance(call, (tuple, list)) and 2 <= len(call) <= 4:
        name, args, match_on, ignore_args = (*call, None, None)[:4]
        return TOOL_CALL, name, args, match_on, ignore_args
    raise TypeError(
        "a call must be a mapping with name and args, or a tuple of name, args and perhaps "
        f"match_on and ignore_args, not {type(call).__name__}"
    )
