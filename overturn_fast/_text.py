"""Fingerprints of JSON text, and the arguments that all functions over text share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from overturn_fast._arguments import (
    DEFAULT_MAX_DEPTH,
    checked_depth,
    checked_kind,
    checked_text,
)
from overturn_fast._backend import text_engine
from overturn_fast._profiles import OVERTURN
from overturn_fast._pure.strings import call_prefix
from overturn_fast._pure.text import Selection
from overturn_fast._selection import key_names

__all__ = ["checked_json", "fingerprint_text", "selection_of"]


def checked_json(text: Any, parameter: str) -> bytes | memoryview:
    """A JSON text as its bytes; a str as its UTF-8, in which surrogates stay what they are."""
    if isinstance(text, bytes):
        return text
    if isinstance(text, str):
        return str.encode(text, "utf-8", "surrogatepass")
    try:
        view = memoryview(text)
    except TypeError:
        kind = type(text).__name__
        raise TypeError(f"{parameter} must be a str or a bytes-like object, not {kind}") from None
    if not view.c_contiguous:
        raise ValueError(f"{parameter} must be contiguous in memory")
    return view.cast("B")


def _prefix(kind: str, name: str) -> bytes:
    """``call_prefix``, without a look for surrogates where there are none."""
    try:
        return f"{kind}\n{name}\n".encode()
    except UnicodeEncodeError:
        return call_prefix(kind, name)


def selection_of(
    match_on: Iterable[str] | None, ignore_args: Iterable[str] | None
) -> Selection | None:
    """Which arguments take part; None if all do."""
    if match_on is None and ignore_args is None:
        return None
    kept, dropped = key_names(match_on, "match_on"), key_names(ignore_args, "ignore_args")
    names: tuple[object, ...] = kept or dropped
    if not names:
        return None
    # What is no str is the name of no member.
    return Selection(
        frozenset(str.__str__(name) for name in names if isinstance(name, str)), drops=not kept
    )


def fingerprint_text(
    kind: str,
    name: str,
    args_json: str | bytes | bytearray | memoryview,
    match_on: Iterable[str] | None = None,
    ignore_args: Iterable[str] | None = None,
    *,
    max_depth: int = DEFAULT_MAX_DEPTH,
) -> str:
    """The fingerprint of a call whose arguments are JSON text: no Python object is made of them.

    It is what ``fingerprint`` gives for the value of the text, and it exists for every text that is
    JSON: of two members of one name the last counts, an integer may have any number of digits, and
    a number past the range of doubles is written ``null``.

    Args:
        kind: What is called, such as ``"tool_call"``. It must not contain a newline.
        name: The name of the tool, exactly as declared.
        args_json: The arguments, a JSON text (RFC 8259) in UTF-8.
        match_on: The top-level arguments that count; all others are left out.
        ignore_args: The top-level arguments that do not count. ``match_on`` wins over it.
        max_depth: How many levels of containers may be nested.

    Returns:
        64 lower-case hexadecimal digits.

    Raises:
        JSONTextError: ``args_json`` is no JSON; ``offset``, ``line`` and ``column`` say where.
        DepthError: It is nested deeper than ``max_depth``.
        TypeError: ``kind`` or ``name`` is no str, ``args_json`` is neither a str nor bytes-like, or
            ``match_on`` or ``ignore_args`` is a bare str.
        ValueError: ``kind`` contains a newline.

    Source: Overturn fingerprint contract, version 1, "Definition"; RFC 8259.

    >>> fingerprint_text("tool_call", "lookup_customer", '{"plan": "pro", "email": " a@b.c "}')
    '1f05c3f0aa8609419674956fc5a4ed846718e7c3777e4c80e17e41693dac8181'
    """
    max_depth = checked_depth(max_depth)
    prefix = _prefix(checked_kind(kind), checked_text(name, "name"))
    selection = selection_of(match_on, ignore_args)
    text = checked_json(args_json, "args_json")
    return text_engine.text_digest(prefix, text, OVERTURN, max_depth, selection)
