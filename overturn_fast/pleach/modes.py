"""The runtime modes, and which of them may read what another one recorded."""

from __future__ import annotations

import enum
from typing import Final, TypeVar

from overturn_fast.pleach.errors import InputError, wrong_type

__all__ = ["CacheReadPolicy", "RuntimeMode", "readable_modes"]


class RuntimeMode(str, enum.Enum):
    """Under which promise of determinism a call is made. The set is closed.

    Source: the fingerprint contract, "RuntimeMode values".

    >>> RuntimeMode("headless-eval") is RuntimeMode.HEADLESS_EVAL
    True
    """

    INTERACTIVE = "interactive"
    """Chat that a person waits for."""
    HEADLESS_EVAL = "headless-eval"
    """Evaluation in batches, with the seed pinned."""
    HEADLESS_REPLAY = "headless-replay"
    """Recorded turns played again; a call that was not recorded is an error."""
    HEADLESS_JOB = "headless-job"
    """Scheduled work and callbacks."""
    CODING_AGENT = "coding-agent"
    """Several syntheses a turn."""


class CacheReadPolicy(str, enum.Enum):
    """Whether a cache may serve what was recorded in another mode.

    Source: the fingerprint contract, "RuntimeMode values".
    """

    STRICT_MODE = "strict-mode"
    """Only entries of the reader's own mode."""
    CROSS_MODE_READABLE = "cross-mode-readable"
    """Also entries of modes that promise more determinism; see ``readable_modes``."""


_STRICTER: Final[dict[RuntimeMode, tuple[RuntimeMode, ...]]] = {
    RuntimeMode.INTERACTIVE: (RuntimeMode.HEADLESS_EVAL, RuntimeMode.HEADLESS_REPLAY),
    RuntimeMode.HEADLESS_EVAL: (RuntimeMode.HEADLESS_REPLAY,),
}


def readable_modes(reader: RuntimeMode, policy: CacheReadPolicy) -> tuple[RuntimeMode, ...]:
    """The modes whose entries a reader may be served, its own first.

    >>> [mode.value for mode in readable_modes(
    ...     RuntimeMode.INTERACTIVE, CacheReadPolicy.CROSS_MODE_READABLE
    ... )]
    ['interactive', 'headless-eval', 'headless-replay']
    """
    if policy is CacheReadPolicy.STRICT_MODE:
        return (reader,)
    return (reader, *_STRICTER.get(reader, ()))


_Closed = TypeVar("_Closed", bound=enum.Enum)


def member_of(closed: type[_Closed], value: object, field: str) -> _Closed:
    """The member of a closed set that has a value, by the member itself or its text.

    Raises:
        InputError: There is none.
    """
    if type(value) is closed:
        return value
    if not isinstance(value, str):
        raise wrong_type(field, f"a str or {closed.__name__}", value)
    member = closed._value2member_map_.get(str.__str__(value))
    if member is None:
        known = ", ".join(member.value for member in closed)
        raise InputError(field, f"must be one of {known}")
    return member  # type: ignore[return-value]
