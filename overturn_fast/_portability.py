"""What in Python objects other SDKs may read otherwise: one walk, with reason and path."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Iterator, Set
from typing import Any, Final, NamedTuple

from overturn_fast._arguments import DEFAULT_MAX_DEPTH, checked_depth, checked_encoder
from overturn_fast._backend import engine
from overturn_fast._convert import (
    CONVERTERS,
    DROPPED,
    NULL,
    UNSUPPORTED,
    Encoder,
    Pairs,
    SetItems,
)
from overturn_fast._convert_compat import convert_compat
from overturn_fast._errors import (
    CanonicalizationError,
    ReadFailure,
    Status,
    conversion_failure,
    failure,
    format_path,
    nesting_failure,
)
from overturn_fast._profiles import OVERTURN
from overturn_fast._pure.strings import has_surrogate, join_surrogates
from overturn_fast._reasons import (
    LARGEST_SAFE_INTEGER,
    PORTABLE_DEPTH,
    Found,
    Reason,
    Step,
    has_other_digits,
    is_trimmed_otherwise,
    orders_differ,
)
from overturn_fast._selection import select_args

__all__ = ["Finding", "portability", "selected_findings", "value_findings"]

_CONTAINERS: Final = (dict, list, tuple, Pairs, SetItems)


class Finding(NamedTuple):
    """What in a value other SDKs may read otherwise.

    >>> Finding("$.id", "large-integer")
    Finding(path='$.id', reason='large-integer')
    """

    path: str
    """Where: ``$.filters.ids[3]``; about keys it is that of their object."""
    reason: str
    """One of those in ``overturn_fast.audit.REASONS``, which explains them."""


def portability(
    value: Any, *, encoder: Encoder | None = None, max_depth: int = DEFAULT_MAX_DEPTH
) -> list[Finding]:
    r"""What in a value other SDKs may read otherwise, so that their fingerprints differ.

    Args:
        value: Anything; what has no canonical form is a finding too.
        encoder: As for ``canonical_json``. What it returns is looked at instead.
        max_depth: How many levels of containers may be nested.

    Returns:
        The findings in the order of the value, a container's own before those in it, and about the
        keys of an object at most one a reason. None at all: the SDKs agree on the value.

    Raises:
        CircularReferenceError: A container contains itself.
        DepthError: Containers are nested deeper than ``max_depth``.

    Source: Overturn fingerprint contract, version 1, "Canonical JSON"; ECMA-262 (``Number`` and
    ``String.prototype.trim``); the Overturn SDK 0.1.4, by its behaviour.

    >>> for finding in portability({"id": 2**60, "name": "Ada\x1f", "tags": {"b", "a"}}):
    ...     print(finding.path, finding.reason)
    $.id large-integer
    $.name trim
    $.tags set
    """
    found = value_findings(value, checked_encoder(encoder), checked_depth(max_depth))
    return [Finding(format_path(steps), reason.code) for reason, steps in found]


def value_findings(value: object, encoder: Encoder | None, max_depth: int) -> list[Found]:
    """The findings as reasons and paths."""
    examination = _Examination(encoder, max_depth)
    examination.run(value)
    return examination.found


def selected_findings(
    args: object,
    match_on: Iterable[str] | None,
    ignore_args: Iterable[str] | None,
    encoder: Encoder | None,
    max_depth: int,
) -> list[Found]:
    """The findings in the arguments of a call that take part in its fingerprint."""
    if match_on is not None or ignore_args is not None:
        args = select_args(args, match_on, ignore_args)
    return value_findings(args, encoder, max_depth)


class _Container:
    """An open container and the members that are still to be looked at."""

    __slots__ = ("members", "source", "step")

    def __init__(self, source: object, members: Iterator[tuple[Step, object]]) -> None:
        self.source = source  # the object before any conversion: cycles are seen by its identity
        self.members = members
        self.step: Step = None  # to the member that is looked at


class _Examination:
    """One walk over one value, as the one that writes canonical text."""

    def __init__(self, encoder: Encoder | None, max_depth: int) -> None:
        self.encoder = encoder
        self.max_depth = max_depth
        self.found: list[Found] = []
        self.open: list[_Container] = []

    def run(self, value: object) -> None:
        self._visit(value)
        while self.open:
            container = self.open[-1]
            member = next(container.members, None)
            if member is None:
                self.open.pop()
            else:
                container.step, value = member
                self._visit(value)

    def _path(self) -> list[Step]:
        return [container.step for container in self.open]

    def _report(self, reason: Reason) -> None:
        self.found.append((reason, tuple(self._path())))

    def _visit(self, source: object) -> None:
        value = self._resolve(source)
        kind = type(value)
        if value is None or value is UNSUPPORTED or kind is bool:
            return
        if kind in _CONTAINERS:
            self._enter(value, source)
            return
        if issubclass(kind, str):
            self._examine_string(str.__str__(value))
        elif issubclass(kind, int):
            if abs(int.__index__(value)) > LARGEST_SAFE_INTEGER:  # type: ignore[arg-type]
                self._report(Reason.LARGE_INTEGER)
        else:
            self._examine_float(float.__float__(value))  # type: ignore[arg-type]
        if kind not in (str, int, float) and _texts_differ(value):
            self._report(Reason.SDK_DIFFERS)

    def _examine_string(self, text: str) -> None:
        if has_surrogate(text):
            self._report(Reason.SURROGATE)
        if is_trimmed_otherwise(text):
            self._report(Reason.TRIM)

    def _examine_float(self, number: float) -> None:
        if not math.isfinite(number):
            self._report(Reason.NOT_FINITE)
        elif has_other_digits(number):
            self._report(Reason.INTEGRAL_FLOAT)

    # -- containers -------------------------------------------------------------------------

    def _enter(self, container: Any, source: object) -> None:
        depth = len(self.open)
        # Brent's cycle detection along the path, as in the walk for canonical text.
        anchor = (1 << (depth.bit_length() - 1)) - 1 if depth else None
        is_cycle = anchor is not None and self.open[anchor].source is source
        if is_cycle or depth >= self.max_depth:
            sources = [*(container.source for container in self.open), source]
            raise nesting_failure(self._path(), sources, self.max_depth)
        if depth == PORTABLE_DEPTH:
            self._report(Reason.NESTING)
        members: Iterable[tuple[Step, object]]
        if isinstance(container, (dict, Pairs)):
            pairs = _pairs_of(container)
            texts = [_key_text(key) for key, _ in pairs]
            self._examine_keys([key for key, _ in pairs], texts)
            members = zip(texts, (value for _, value in pairs), strict=True)
        elif isinstance(container, SetItems):
            members = ((None, item) for item in container)
        else:
            members = enumerate(container)
        self.open.append(_Container(source, iter(members)))

    def _examine_keys(self, keys: list[object], texts: list[str | None]) -> None:
        if not all(isinstance(key, str) for key in keys):
            self._report(Reason.KEY_TYPE)
        if any(isinstance(key, str) and has_surrogate(str.__str__(key)) for key in keys):
            self._report(Reason.KEY_SURROGATE)
        known = [text for text in texts if text is not None]
        if orders_differ(known):
            self._report(Reason.KEY_ORDER)
        if len(set(known)) != len(known):
            self._report(Reason.KEY_COLLISION)
        if any(map(_is_other_key, keys)):
            self._report(Reason.SDK_DIFFERS)

    # -- values that JSON does not know ---------------------------------------------------------

    def _resolve(self, value: object) -> object:
        """``value`` as what is written for it; UNSUPPORTED if that is nothing."""
        anchor, conversions = value, 0  # Brent's cycle detection along the chain of conversions
        while not _is_native(value):
            try:
                converted = self._converted(value)
            except BaseException as error:
                failed = conversion_failure(error, self._path(), value)
                if not isinstance(failed, CanonicalizationError):
                    raise  # what the encoder raised
                converted = UNSUPPORTED
            if converted is UNSUPPORTED or converted is DROPPED:
                self._report(Reason.NO_JSON_FORM)
                return UNSUPPORTED
            conversions += 1
            if converted is anchor:
                raise failure(Status.CIRCULAR_REFERENCE, self._path(), value)
            if conversions > self.max_depth:
                sources = [container.source for container in self.open]
                raise nesting_failure(self._path(), sources, self.max_depth)
            value = converted
            if conversions & (conversions - 1) == 0:
                anchor = value
        return value

    def _converted(self, value: object) -> object:
        """What a value becomes in one step; about that step there may be findings."""
        if self.encoder is not None and not isinstance(value, (dict, list, tuple)):
            encoded = self.encoder(value)
            if encoded is not NotImplemented:
                return encoded  # to every SDK the same
        converted = CONVERTERS[OVERTURN.name](value, None)
        if converted is UNSUPPORTED or converted is DROPPED:
            return converted
        if isinstance(value, Set):
            self._report(Reason.SET)
        elif _sdk_differs(value, converted):
            self._report(Reason.SDK_DIFFERS)
        if isinstance(value, datetime.datetime) and value.utcoffset() is None:
            self._report(Reason.NAIVE_DATETIME)
        return converted


def _is_native(value: object) -> bool:
    """Whether the default profile writes a value itself, without converting it."""
    kind = type(value)
    return value is None or kind in _CONTAINERS or issubclass(kind, (str, int, float))


def _key_text(key: object) -> str | None:
    """The text of a key in the default profile; None if it has none."""
    kind = type(key)
    if issubclass(kind, str):
        return join_surrogates(str.__str__(key))
    if key is None or issubclass(kind, (int, float)):
        return engine.canonical_json(key)
    return None


def _is_other_key(key: object) -> bool:
    """Whether a str of a subclass is another key to the SDK, which asks it for its ``str()``."""
    if type(key) is str or not isinstance(key, str):
        return False
    try:
        return str(key) != str.__str__(key)
    except Exception:
        return True


def _sdk_differs(value: object, converted: object) -> bool:
    """Whether the SDK makes something else of a value than the default profile does.

    What the parts of a container become does not count here.
    """
    try:
        theirs = convert_compat(value, None)
    except ReadFailure:
        return False  # where the SDK raises, compat does as the default profile
    if theirs is NULL and converted is not None:
        return True
    return not _is_same_container(converted, theirs) and _texts_differ(value)


def _is_same_container(first: object, second: object) -> bool:
    if isinstance(first, (dict, Pairs)) and isinstance(second, (dict, Pairs)):
        ours, theirs = _pairs_of(first), _pairs_of(second)
        return len(ours) == len(theirs) and all(
            a is c and b is d for (a, b), (c, d) in zip(ours, theirs, strict=True)
        )
    if type(first) in (list, tuple) and type(second) in (list, tuple):
        ours, theirs = list(first), list(second)  # type: ignore[call-overload]
        return len(ours) == len(theirs) and all(a is b for a, b in zip(ours, theirs, strict=True))
    return False


def _pairs_of(container: dict[object, object] | Pairs) -> list[tuple[object, object]]:
    return list(container.items() if isinstance(container, dict) else container)


def _texts_differ(value: object) -> bool:
    """Whether the two have other texts for a value, as the member of a container."""
    try:
        return engine.canonical_json([value]) != engine.compat_canonical_json([value])
    except CanonicalizationError:
        return False  # what has no form is found where it stands
