"""The functions of the Overturn contract, as the C core computes them too.

The module is also the pure-Python engine: it has every name that the native one has.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, Final, final

from overturn_fast._arguments import (
    DEFAULT_MAX_DEPTH,
    TOOL_CALL,
    call_parts,
    checked_depth,
    checked_encoder,
    checked_kind,
    checked_text,
)
from overturn_fast._convert import Encoder
from overturn_fast._errors import in_call
from overturn_fast._profiles import OVERTURN, PROFILES
from overturn_fast._pure.call_key import call_fingerprint
from overturn_fast._pure.canonical import canonical_text
from overturn_fast._pure.compat import canonical_json as compat_canonical_json
from overturn_fast._pure.compat import fingerprint as compat_fingerprint
from overturn_fast._pure.compat import hash_json as compat_hash_json
from overturn_fast._pure.compat import tool_fingerprint as compat_tool_fingerprint
from overturn_fast._pure.jcs import dumps, sha256
from overturn_fast._pure.mcpulse import args_hash, json_size, utf16_length
from overturn_fast._pure.shape import shape, shape_fingerprint
from overturn_fast._pure.shape_counter import shape_counter
from overturn_fast._pure.strings import call_prefix
from overturn_fast._selection import key_names, select_args

__all__ = [
    "ToolFingerprinter",
    "args_hash",
    "call_fingerprint",
    "canonical_json",
    "canonical_with",
    "compat_canonical_json",
    "compat_fingerprint",
    "compat_hash_json",
    "compat_tool_fingerprint",
    "dumps",
    "fingerprint",
    "fingerprint_many",
    "hash_json",
    "hash_with",
    "json_size",
    "sha256",
    "shape",
    "shape_counter",
    "shape_fingerprint",
    "tool_fingerprint",
    "utf16_length",
]


def canonical_json(
    value: Any, *, encoder: Encoder | None = None, max_depth: int = DEFAULT_MAX_DEPTH
) -> str:
    """The canonical JSON text of a value.

    Object keys are sorted by code point, None is left out, strings are trimmed, numbers are
    written as ECMAScript writes them, and there is no white space.

    Args:
        value: Anything with a canonical form: JSON types, and those that the contract names, such
            as datetime, UUID, Decimal, dataclasses, pydantic models, sets and numpy arrays.
        encoder: Asked first for any value that is no JSON type (str, int, float, bool, None,
            dict, list, tuple or a subclass). It returns a value to write instead, or
            ``NotImplemented`` to leave this one to the contract's rules.
        max_depth: How many levels of containers may be nested.

    Returns:
        The text. It never holds a surrogate: a lone one is written as an escape.

    Raises:
        CanonicalizationError: The value has no canonical form; the message names the path of the
            part that has none. Its subclasses tell the reasons apart.

    Source: Overturn fingerprint contract, version 1, "Canonical JSON".

    >>> canonical_json({"b": 1.0, "a": " x ", "c": None})
    '{"a":"x","b":1}'
    """
    return canonical_text(value, OVERTURN, checked_encoder(encoder), checked_depth(max_depth))


def hash_json(
    value: Any, *, encoder: Encoder | None = None, max_depth: int = DEFAULT_MAX_DEPTH
) -> str:
    """The SHA-256 of a value's canonical JSON text in UTF-8.

    The native backend hashes while it writes, in constant memory but for sets.

    Args:
        value: As for ``canonical_json``.
        encoder: As for ``canonical_json``.
        max_depth: How many levels of containers may be nested.

    Returns:
        64 lower-case hexadecimal digits.

    Raises:
        CanonicalizationError: The value has no canonical form.

    Source: ``hash_json`` of the Overturn SDK; FIPS 180-4.

    >>> hash_json({"b": 1.0, "a": " x "}) == hash_json({"a": "x", "b": 1})
    True
    """
    text = canonical_text(value, OVERTURN, checked_encoder(encoder), checked_depth(max_depth))
    return hashlib.sha256(text.encode()).hexdigest()


def fingerprint(
    kind: str,
    name: str,
    args: Any,
    match_on: Iterable[str] | None = None,
    ignore_args: Iterable[str] | None = None,
    *,
    encoder: Encoder | None = None,
    max_depth: int = DEFAULT_MAX_DEPTH,
) -> str:
    """The fingerprint of a call: the SHA-256 of its kind, its name and its selected arguments.

    Args:
        kind: What is called, ``tool_call`` for tools. It must not contain a newline.
        name: The name of the tool, exactly as declared.
        args: The arguments, usually a mapping; anything that ``canonical_json`` takes.
        match_on: The top-level arguments that count; all others are left out.
        ignore_args: The top-level arguments that do not count. ``match_on`` wins over it.
        encoder: As for ``canonical_json``.
        max_depth: How many levels of containers may be nested.

    Returns:
        64 lower-case hexadecimal digits.

    Raises:
        CanonicalizationError: The arguments have no canonical form.
        TypeError: ``kind`` or ``name`` is no str, or ``match_on`` or ``ignore_args`` is a bare one.
        ValueError: ``kind`` contains a newline.

    Source: Overturn fingerprint contract, version 1, "Definition".

    >>> fingerprint("tool_call", "lookup_customer", {"email": " a@b.c ", "plan": "pro"})
    '1f05c3f0aa8609419674956fc5a4ed846718e7c3777e4c80e17e41693dac8181'
    """
    encoder, max_depth = checked_encoder(encoder), checked_depth(max_depth)
    prefix = call_prefix(checked_kind(kind), checked_text(name, "name"))
    kept, dropped = key_names(match_on, "match_on"), key_names(ignore_args, "ignore_args")
    return _digest(prefix, args, kept, dropped, encoder, max_depth)


def tool_fingerprint(
    name: str,
    args: Any,
    match_on: Iterable[str] | None = None,
    ignore_args: Iterable[str] | None = None,
    *,
    encoder: Encoder | None = None,
    max_depth: int = DEFAULT_MAX_DEPTH,
) -> str:
    """The fingerprint of a tool call: ``fingerprint`` with the kind ``tool_call``.

    Args:
        name: The name of the tool, exactly as declared.
        args: The arguments, usually a mapping; anything that ``canonical_json`` takes.
        match_on: The top-level arguments that count; all others are left out.
        ignore_args: The top-level arguments that do not count. ``match_on`` wins over it.
        encoder: As for ``canonical_json``.
        max_depth: How many levels of containers may be nested.

    Returns:
        64 lower-case hexadecimal digits.

    Raises:
        CanonicalizationError: The arguments have no canonical form.
        TypeError: ``name`` is no str, or ``match_on`` or ``ignore_args`` is a bare one.

    Source: Overturn fingerprint contract, version 1, "Definition".

    >>> call = {"ticketId": "T-1", "priority": "P0", "requestId": "x"}
    >>> tool_fingerprint("close_ticket", call, match_on=["ticketId"])
    '3f9dc7eb2894bd8c7ba03c560b22654b8e55785965d9950689dad15c53c9c9b2'
    """
    return fingerprint(
        TOOL_CALL, name, args, match_on, ignore_args, encoder=encoder, max_depth=max_depth
    )


def fingerprint_many(
    calls: Iterable[Any], *, encoder: Encoder | None = None, max_depth: int = DEFAULT_MAX_DEPTH
) -> list[str]:
    """The fingerprints of many calls, in their order.

    Args:
        calls: Each a tuple ``(name, args)``, ``(name, args, match_on)`` or
            ``(name, args, match_on, ignore_args)`` of a tool call, or a mapping with ``name``,
            ``args`` and perhaps ``matchOn``, ``ignoreArgs`` and ``kind``, as calls are recorded.
        encoder: As for ``canonical_json``.
        max_depth: How many levels of containers may be nested.

    Returns:
        One fingerprint a call: 64 lower-case hexadecimal digits each.

    Raises:
        CanonicalizationError: The arguments of a call have no canonical form; the message begins
            with the call's position, ``calls[3]: $.filters...``.
        TypeError, ValueError: As for ``fingerprint``; or a call is none of the above.

    Source: Overturn fingerprint contract, version 1, "Definition".

    >>> fingerprint_many([("t", {"a": 1}), {"name": "t", "args": {"a": 1.0}}]) == [
    ...     tool_fingerprint("t", {"a": 1})
    ... ] * 2
    True
    """
    encoder, max_depth = checked_encoder(encoder), checked_depth(max_depth)
    digests = []
    for index, call in enumerate(calls):
        try:
            kind, name, args, match_on, ignore_args = call_parts(call)
            digest = fingerprint(
                kind, name, args, match_on, ignore_args, encoder=encoder, max_depth=max_depth
            )
        except Exception as error:
            in_call(error, index)
            raise
        digests.append(digest)
    return digests


@final
class ToolFingerprinter:
    """Fingerprints the calls of one tool, with everything but the arguments prepared once.

    Args:
        name: The name of the tool, exactly as declared.
        match_on: The top-level arguments that count; all others are left out.
        ignore_args: The top-level arguments that do not count. ``match_on`` wins over it.
        kind: What is called. It must not contain a newline.
        encoder: As for ``canonical_json``.
        max_depth: How many levels of containers may be nested.

    Calling it with the arguments of a call returns the call's fingerprint, 64 lower-case
    hexadecimal digits, and raises what ``fingerprint`` raises.

    Source: Overturn fingerprint contract, version 1, "Definition".

    >>> close_ticket = ToolFingerprinter("close_ticket", match_on=["ticketId"])
    >>> close_ticket({"ticketId": "T-1", "priority": "P0", "requestId": "x"})
    '3f9dc7eb2894bd8c7ba03c560b22654b8e55785965d9950689dad15c53c9c9b2'
    """

    __slots__ = ("_encoder", "_ignore_args", "_kind", "_match_on", "_max_depth", "_name", "_prefix")

    def __init__(
        self,
        name: str,
        match_on: Iterable[str] | None = None,
        ignore_args: Iterable[str] | None = None,
        *,
        kind: str = TOOL_CALL,
        encoder: Encoder | None = None,
        max_depth: int = DEFAULT_MAX_DEPTH,
    ) -> None:
        self._encoder = checked_encoder(encoder)
        self._max_depth = checked_depth(max_depth)
        self._kind = checked_kind(kind)
        self._name = checked_text(name, "name")
        self._match_on = key_names(match_on, "match_on")
        self._ignore_args = key_names(ignore_args, "ignore_args")
        self._prefix = call_prefix(self._kind, self._name)

    def __init_subclass__(cls) -> None:
        raise TypeError("ToolFingerprinter is no base class")

    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        options = {"kind": self._kind, "encoder": self._encoder, "max_depth": self._max_depth}
        return (self._name, self._match_on, self._ignore_args), options

    def __call__(self, args: Any) -> str:
        return _digest(
            self._prefix, args, self._match_on, self._ignore_args, self._encoder, self._max_depth
        )

    @property
    def kind(self) -> str:
        """What is called."""
        return self._kind

    @property
    def name(self) -> str:
        """The name of the tool."""
        return self._name

    @property
    def match_on(self) -> tuple[str, ...]:
        """The top-level arguments that count; empty if all do."""
        return self._match_on

    @property
    def ignore_args(self) -> tuple[str, ...]:
        """The top-level arguments that do not count."""
        return self._ignore_args

    def __repr__(self) -> str:
        return f"<ToolFingerprinter {self._name!r}>"


_BY_NAME: Final[Mapping[str, Any]] = {profile.name: profile for profile in PROFILES}


def canonical_with(
    profile: str, value: Any, encoder: Encoder | None = None, max_depth: int = DEFAULT_MAX_DEPTH
) -> str:
    """The canonical text of a value under the profile of that name."""
    return canonical_text(
        value, _BY_NAME[profile], checked_encoder(encoder), checked_depth(max_depth)
    )


def hash_with(
    profile: str, value: Any, encoder: Encoder | None = None, max_depth: int = DEFAULT_MAX_DEPTH
) -> str:
    """The SHA-256 of a value's canonical text under the profile of that name, in hexadecimal.

    >>> hash_with("pleach", {}) == hash_json({})
    True
    """
    return hashlib.sha256(canonical_with(profile, value, encoder, max_depth).encode()).hexdigest()


def _digest(
    prefix: bytes,
    args: Any,
    match_on: tuple[str, ...],
    ignore_args: tuple[str, ...],
    encoder: Encoder | None,
    max_depth: int,
) -> str:
    if match_on or ignore_args:
        args = select_args(args, match_on, ignore_args)
    text = canonical_text(args, OVERTURN, encoder, max_depth)
    return hashlib.sha256(prefix + text.encode()).hexdigest()
