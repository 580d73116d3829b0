"""The values of the Overturn SDK 0.1.4, which recorded cases depend on.

Whatever the SDK computes is computed here. Where it raises, be it for a value or for the depth of
one, the default profile decides: its value or its error. Only a lone surrogate in what is hashed
is an error here as it is there.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, Final

from overturn_fast._arguments import (
    DEFAULT_MAX_DEPTH,
    TOOL_CALL,
    checked_depth,
    checked_encoder,
    checked_kind,
    checked_text,
)
from overturn_fast._convert import Encoder
from overturn_fast._convert_compat import is_called_into
from overturn_fast._errors import CanonicalizationError, DepthError, SurrogateError
from overturn_fast._profiles import COMPAT, OVERTURN, Profile
from overturn_fast._pure.canonical import Walk, canonical_text
from overturn_fast._pure.strings import call_prefix
from overturn_fast._selection import key_names, select_args, select_as_sdk

__all__ = ["FUNCTIONS", "canonical_json", "fingerprint", "hash_json", "tool_fingerprint"]

Names = Iterable[str] | None

_ALWAYS_REACHED: Final = 20
"""Levels of nesting that the SDK reaches under any limit of recursion worth having."""
_MOST_CONVERSIONS: Final = 100
"""How often in a row a value may turn into another one. A mock object has a ``model_dump`` without
end, and each costs more than the one before."""
_NEVER_REACHED: Final = 1_000
"""Levels that the SDK is taken not to reach, however high the limit is set."""
_CALLS_FOR_A_VALUE: Final = 4
"""How many calls deep the SDK is when it writes the string that is a container's member."""

# Surrogates are written as they are, and the text then has no UTF-8.
_WITH_SURROGATES: Final = dataclasses.replace(COMPAT, escape_surrogates=True)


def canonical_json(
    value: Any, *, encoder: Encoder | None = None, max_depth: int = DEFAULT_MAX_DEPTH
) -> str:
    r"""The canonical JSON text that the Overturn SDK 0.1.4 makes of a value.

    Args:
        value: Anything: what has no form in JSON is often ``null`` here, as it is in the SDK.
        encoder: Asked first for any value that is no JSON type (str, int, float, bool, None,
            dict, list, tuple or a subclass). It returns a value to write instead, or
            ``NotImplemented`` to leave this one to the SDK's rules. It may be asked about a value
            more than once; what it raises is passed on.
        max_depth: How many levels of containers may be nested.

    Returns:
        The text. A lone surrogate stands in it as it is. Where the SDK raises, it is what
        ``overturn_fast.canonical_json`` returns.

    Raises:
        CanonicalizationError: The SDK raises, and the value has no canonical form in the default
            profile either.

    Source: ``canonical_json`` of the Overturn SDK 0.1.4, by its behaviour.

    >>> canonical_json({"raw": b"x", "n": 10**22, True: "\ud800"})
    '{"True":"\ud800","n":10000000000000000000000,"raw":null}'
    """
    encoder, max_depth = checked_encoder(encoder), checked_depth(max_depth)
    try:
        return _text(value, _WITH_SURROGATES, encoder, max_depth)
    except CanonicalizationError:
        return canonical_text(value, OVERTURN, encoder, max_depth)


def hash_json(
    value: Any, *, encoder: Encoder | None = None, max_depth: int = DEFAULT_MAX_DEPTH
) -> str:
    """The SHA-256 of the canonical JSON text that the Overturn SDK 0.1.4 makes of a value.

    Args:
        value: As for ``canonical_json``.
        encoder: As for ``canonical_json``.
        max_depth: How many levels of containers may be nested.

    Returns:
        64 lower-case hexadecimal digits. Where the SDK raises, they are those that
        ``overturn_fast.hash_json`` returns.

    Raises:
        SurrogateError: The text holds a lone surrogate.
        CanonicalizationError: The SDK raises, and the value has no canonical form in the default
            profile either.

    Source: ``hash_json`` of the Overturn SDK 0.1.4, by its behaviour; FIPS 180-4.

    >>> hash_json({"b": 1.0, "a": " x "}) == hash_json({"a": "x", "b": 1})
    True
    """
    encoder, max_depth = checked_encoder(encoder), checked_depth(max_depth)
    try:
        text = _text(value, COMPAT, encoder, max_depth)
    except SurrogateError:
        raise
    except CanonicalizationError:
        text = canonical_text(value, OVERTURN, encoder, max_depth)
    return hashlib.sha256(text.encode()).hexdigest()


def fingerprint(
    kind: str,
    name: str,
    args: Any,
    match_on: Names = None,
    ignore_args: Names = None,
    *,
    encoder: Encoder | None = None,
    max_depth: int = DEFAULT_MAX_DEPTH,
) -> str:
    """The fingerprint that the Overturn SDK 0.1.4 computes for a call.

    Args:
        kind: What is called, ``tool_call`` for tools.
        name: The name of the tool, exactly as declared.
        args: The arguments, usually a mapping; anything that ``canonical_json`` takes.
        match_on: The top-level arguments that count; all others are left out.
        ignore_args: The top-level arguments that do not count. ``match_on`` wins over it.
        encoder: As for ``canonical_json``.
        max_depth: How many levels of containers may be nested.

    Returns:
        64 lower-case hexadecimal digits. Where the SDK raises, they are those that
        ``overturn_fast.fingerprint`` returns.

    Raises:
        SurrogateError: The kind, the name or an argument that counts holds a lone surrogate.
        CanonicalizationError, TypeError, ValueError: The SDK raises, and so does
            ``overturn_fast.fingerprint``.

    Source: ``fingerprint`` of the Overturn SDK 0.1.4, by its behaviour.

    >>> fingerprint("tool_call", "lookup_customer", {"email": " a@b.c ", "plan": "pro"})
    '1f05c3f0aa8609419674956fc5a4ed846718e7c3777e4c80e17e41693dac8181'
    """
    encoder, max_depth = checked_encoder(encoder), checked_depth(max_depth)
    first_match, match_on = _read_twice(match_on)
    first_ignore, ignore_args = _read_twice(ignore_args)
    try:
        prefix, selected = _as_the_sdk_reads(kind, name, args, first_match, first_ignore)
        text = _text(selected, COMPAT, encoder, max_depth)
    except SurrogateError:
        raise
    except CanonicalizationError:
        prefix = call_prefix(checked_kind(kind), checked_text(name, "name"))
        kept, dropped = key_names(match_on, "match_on"), key_names(ignore_args, "ignore_args")
        selected = select_args(args, kept, dropped) if kept or dropped else args
        text = canonical_text(selected, OVERTURN, encoder, max_depth)
    return hashlib.sha256(prefix + text.encode()).hexdigest()


def tool_fingerprint(
    name: str,
    args: Any,
    match_on: Names = None,
    ignore_args: Names = None,
    *,
    encoder: Encoder | None = None,
    max_depth: int = DEFAULT_MAX_DEPTH,
) -> str:
    """The fingerprint that the Overturn SDK 0.1.4 computes for a call of a tool.

    Args:
        name: The name of the tool, exactly as declared.
        args: The arguments, usually a mapping; anything that ``canonical_json`` takes.
        match_on: The top-level arguments that count; all others are left out.
        ignore_args: The top-level arguments that do not count. ``match_on`` wins over it.
        encoder: As for ``canonical_json``.
        max_depth: How many levels of containers may be nested.

    Returns:
        64 lower-case hexadecimal digits. Where the SDK raises, they are those that
        ``overturn_fast.tool_fingerprint`` returns.

    Raises:
        SurrogateError: The kind, the name or an argument that counts holds a lone surrogate.
        CanonicalizationError, TypeError: The SDK raises, and so does
            ``overturn_fast.tool_fingerprint``.

    Source: ``tool_fingerprint`` of the Overturn SDK 0.1.4, by its behaviour.

    >>> call = {"ticketId": "T-1", "priority": "P0", "requestId": "x"}
    >>> tool_fingerprint("close_ticket", call, match_on=["ticketId"])
    '3f9dc7eb2894bd8c7ba03c560b22654b8e55785965d9950689dad15c53c9c9b2'
    """
    return fingerprint(
        TOOL_CALL, name, args, match_on, ignore_args, encoder=encoder, max_depth=max_depth
    )


FUNCTIONS: Final[dict[str, Callable[..., str]]] = {
    "canonical_json": canonical_json,
    "hash_json": hash_json,
    "fingerprint": fingerprint,
    "tool_fingerprint": tool_fingerprint,
}
"""By name, for the native engine: it leaves to them what it does not decide itself."""


def _as_the_sdk_reads(
    kind: object, name: object, args: Any, match_on: Any, ignore_args: Any
) -> tuple[bytes, Any]:
    """What is hashed before the arguments, kind and name as an f-string writes them; and those.

    Raises:
        SurrogateError: Kind or name has no UTF-8.
        CanonicalizationError: The SDK would raise something else.
    """
    try:
        prefix = f"{kind}\n{name}\n".encode()
        return prefix, select_as_sdk(args, match_on, ignore_args)
    except UnicodeEncodeError:
        raise SurrogateError("kind or name holds a lone surrogate") from None
    except Exception as error:
        raise CanonicalizationError("the SDK does not read this call") from error


def _read_twice(names: Any) -> tuple[Collection[str] | None, Collection[str] | None]:
    """Declared names for the SDK's rules, and once more should the default profile need them."""
    if isinstance(names, Iterator):
        kept = list(names)
        return iter(kept), kept  # type: ignore[return-value]
    return names, names


def _text(value: Any, profile: Profile, encoder: Encoder | None, max_depth: int) -> str:
    """The text that the SDK makes of a value.

    Raises:
        CanonicalizationError: The SDK would raise.
    """
    walk = _MeasuringWalk(profile, encoder, min(max_depth, _NEVER_REACHED))
    text = walk.run(value)
    if walk.levels > _ALWAYS_REACHED and not _reaches(walk.levels, walk.calls):
        raise DepthError("the SDK does not reach so deep")
    return text


class _MeasuringWalk(Walk):
    """A walk that knows how deep the SDK, which calls itself for every value, would have to go."""

    def __init__(self, profile: Profile, encoder: Encoder | None, max_depth: int) -> None:
        super().__init__(profile, encoder, max_depth)
        self.levels = 0  # of containers, at most
        self.calls = 0  # at that level, further ones that objects on the way take
        self._calls_into: list[int] = []
        self.max_conversions = min(max_depth, _MOST_CONVERSIONS)
        if profile.escape_surrogates:
            self.quote = _quoted_with_surrogates

    def _open(self, container: Any, source: object) -> None:
        super()._open(container, source)
        depth = len(self.frames)
        del self._calls_into[depth - 1 :]
        before = self._calls_into[-1] if self._calls_into else 0
        self._calls_into.append(before + is_called_into(source))
        if 2 * depth + self._calls_into[-1] > 2 * self.levels + self.calls:
            self.levels, self.calls = depth, self._calls_into[-1]


def _quoted_with_surrogates(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _reaches(levels: int, calls: int) -> bool:
    """Whether a function that calls itself for each level, by way of a generator, comes so far."""
    try:
        _descend(levels, calls + _CALLS_FOR_A_VALUE)
    except RecursionError:
        return False
    return True


def _descend(levels: int, calls: int) -> str:
    if levels:
        return "".join(_descend(levels - 1, calls) for _ in (None,))
    return _descend(0, calls - 1) if calls else ""
