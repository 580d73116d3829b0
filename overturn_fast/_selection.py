"""Which of a call's arguments take part in its fingerprint (contract: ``select(args)``)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from overturn_fast._convert import mapping_of
from overturn_fast._errors import ReadFailure, conversion_failure

__all__ = ["key_names", "select_args", "select_as_sdk"]

_MISSING: Final = object()


def key_names(names: Iterable[str] | None, parameter: str) -> tuple[str, ...]:
    """The declared keys as a tuple; ``None`` and an empty list both declare nothing.

    Raises:
        TypeError: ``names`` is one str (it would be read letter by letter), or not iterable.
    """
    if names is None:
        return ()
    if isinstance(names, (str, bytes, bytearray)):
        raise TypeError(f"{parameter} must be a list of keys, not one {type(names).__name__}")
    try:
        return tuple(names)
    except TypeError:
        kind = type(names).__name__
        raise TypeError(f"{parameter} must be a list of keys, not {kind}") from None


def select_args(
    args: Any,
    match_on: Iterable[str] | None = None,
    ignore_args: Iterable[str] | None = None,
) -> Any:
    """The part of a call's arguments that identifies it.

    Args:
        args: The arguments. A mapping, pydantic model or dataclass is selected from; anything
            else passes through as it is.
        match_on: Top-level keys to keep; those missing from ``args`` are left out.
        ignore_args: Top-level keys to drop. Ignored when ``match_on`` names any key.

    Returns:
        A new dict for a mapping, model or dataclass; ``args`` itself for anything else.

    Raises:
        TypeError: ``match_on`` or ``ignore_args`` is a bare str.
        UnsupportedTypeError: Reading ``args`` failed in its own code.

    Source: Overturn fingerprint contract, version 1, "select(args)".

    >>> select_args({"ticketId": "T-1", "requestId": "x"}, match_on=["ticketId"])
    {'ticketId': 'T-1'}
    >>> select_args({"ticketId": "T-1", "requestId": "x"}, ignore_args=["requestId"])
    {'ticketId': 'T-1'}
    """
    kept = key_names(match_on, "match_on")
    dropped = key_names(ignore_args, "ignore_args")
    if kept and type(args) is dict:
        return _kept(args, kept)
    try:
        mapping = mapping_of(args)
    except ReadFailure as error:
        raise conversion_failure(error, (), args) from error.__cause__
    if mapping is None:
        return args
    if kept:
        return {key: mapping[key] for key in kept if key in mapping}
    if dropped:
        return {key: value for key, value in mapping.items() if key not in dropped}
    return mapping


def _kept(args: dict[Any, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """What a dict has under the names. Each is looked up once: odd keys run code of their own."""
    found = ((name, args.get(name, _MISSING)) for name in names)
    return {name: value for name, value in found if value is not _MISSING}


def select_as_sdk(
    args: Any,
    match_on: Collection[str] | None = None,
    ignore_args: Collection[str] | None = None,
) -> Any:
    """The part of a call's arguments that identifies it, as the Overturn SDK 0.1.4 selects it.

    Args:
        args: The arguments. Only a mapping is selected from: models and dataclasses are not.
        match_on: Top-level keys to keep; those missing from ``args`` are left out. A bare str is
            read letter by letter.
        ignore_args: Top-level keys to drop, where ``match_on`` names none. Of a bare str every
            part is a key to drop.

    Returns:
        A new dict for a mapping; ``args`` itself for anything else.

    Raises:
        TypeError: The names cannot be looked through.

    Source: ``select_args`` of the Overturn SDK 0.1.4, by its behaviour.

    >>> select_as_sdk({"ticketId": "T-1", "requestId": "x"}, match_on=["ticketId"])
    {'ticketId': 'T-1'}
    """
    if not isinstance(args, Mapping):
        return args
    if match_on:
        return {name: args[name] for name in match_on if name in args}
    if ignore_args:
        return {key: value for key, value in args.items() if key not in ignore_args}
    return dict(args)
