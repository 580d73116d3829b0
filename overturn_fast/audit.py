"""Audits of recorded calls: which of them other SDKs may read otherwise, and where.

``audit_file`` reads JSON text, one call a line or an array of calls; ``audit_calls`` takes Python
values, for which it knows further reasons and finds the calls that the Overturn SDK 0.1.4 cannot
tell apart. Neither keeps a value: a report has tools, paths, reasons and counts.

    >>> import uuid
    >>> calls = [("get_user", {"id": uuid.UUID(int=number)}) for number in range(3)]
    >>> report = audit_calls(calls)
    >>> [(group.path, group.reason, group.calls) for group in report.groups]
    [('$.id', 'sdk-differs', 3)]
    >>> [(collision.tool, collision.paths) for collision in report.collisions]
    [('get_user', ('$.id',))]
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple

from overturn_fast._arguments import (
    DEFAULT_MAX_DEPTH,
    call_parts,
    checked_depth,
    checked_encoder,
    checked_kind,
    checked_limit,
    checked_text,
)
from overturn_fast._backend import audit_engine, engine
from overturn_fast._convert import Encoder
from overturn_fast._errors import (
    CanonicalizationError,
    CircularReferenceError,
    DepthError,
    JSONTextError,
    in_call,
    line_and_column,
)
from overturn_fast._portability import selected_findings
from overturn_fast._pure.audit import GROUPS, TOOLS, Group, Tally
from overturn_fast._pure.audit import CallAudit as PureAudit
from overturn_fast._pure.strings import join_surrogates
from overturn_fast._reasons import EXPLANATIONS, Found, Reason, format_steps

__all__ = [
    "GROUPS",
    "REASONS",
    "AuditReport",
    "Collision",
    "FileAudit",
    "FindingGroup",
    "Refusal",
    "Tally",
    "ToolCount",
    "Variant",
    "audit_calls",
    "audit_file",
    "collisions",
]

REASONS: Final[Mapping[str, str]] = {reason.code: EXPLANATIONS[reason] for reason in Reason}
"""Every reason of a finding, and what it means."""

_CHUNK: Final = 1 << 20  # bytes that are read at once


class ToolCount(NamedTuple):
    """The calls of one tool."""

    name: str
    """Of a name of more than 256 bytes the beginning and ``...``."""
    calls: int
    flagged: int
    """Those of them that have a finding."""


class FindingGroup(NamedTuple):
    """The findings with one tool, path and reason."""

    tool: str
    path: str
    """In the arguments, every index left open: ``$.ids[]``."""
    reason: str
    calls: int
    """In how many calls it was found."""
    findings: int
    """How often in all of them."""
    example: str
    """The path in the first of the calls: ``$.ids[3]``."""
    first: int
    """Which call that is: the number of its line, of its item or in the iterable, from 1."""


class Variant(NamedTuple):
    """Calls that have one fingerprint to the default profile."""

    first: int
    """The position of the first of them, from 0."""
    calls: int


class Collision(NamedTuple):
    """Calls of one tool that have one fingerprint to the SDK and several to the default profile."""

    tool: str
    fingerprint: str
    """That of ``overturn_fast.compat``."""
    variants: tuple[Variant, ...]
    """What the default profile tells apart."""
    paths: tuple[str, ...]
    """Where the arguments have something that the SDK does not tell apart."""


@dataclass(frozen=True)
class AuditReport:
    """What an audit came to. No value of a call is in it."""

    calls: int
    flagged: int
    """Calls with at least one finding."""
    refused: int
    """Lines or items that are no calls."""
    reasons: dict[str, Tally]
    """By reason, how many findings there are and in how many calls: complete in any case."""
    tools: tuple[ToolCount, ...]
    """Those with the most flagged calls first."""
    groups: tuple[FindingGroup, ...]
    """Those found in the most calls first."""
    others: dict[str, Tally]
    """By reason, the findings that are in no group, since there were more groups or tools than are
    told apart."""
    other_tools: ToolCount
    """All calls of tools that are not in the list, for the same reason."""
    collisions: tuple[Collision, ...] | None = None
    """What the SDK does not tell apart; None if that was not looked for, as in files."""

    def as_json(self) -> dict[str, Any]:
        """The report as plain data; ``collisions`` is not in it where they are None."""
        plain: dict[str, Any] = {
            "calls": self.calls,
            "flagged": self.flagged,
            "refused": self.refused,
            "reasons": _as_dicts(self.reasons),
            "tools": [tool._asdict() for tool in self.tools],
            "findings": [group._asdict() for group in self.groups],
            "others": {
                "calls": self.other_tools.calls,
                "flagged": self.other_tools.flagged,
                "reasons": _as_dicts(self.others),
            },
        }
        if self.collisions is not None:
            plain["collisions"] = [
                {
                    "tool": collision.tool,
                    "fingerprint": collision.fingerprint,
                    "variants": [variant._asdict() for variant in collision.variants],
                    "paths": list(collision.paths),
                }
                for collision in self.collisions
            ]
        return plain


def _as_dicts(tallies: dict[str, Tally]) -> dict[str, dict[str, int]]:
    return {reason: tally._asdict() for reason, tally in tallies.items()}


# -- files ---------------------------------------------------------------------------------------


class Refusal(NamedTuple):
    """What in a file is no call."""

    line: int
    """Counted from 1."""
    column: int
    """In characters, counted from 1."""
    reason: str


if TYPE_CHECKING:
    _Audit = PureAudit | audit_engine.CallAudit


class FileAudit:
    r"""An audit of a file that is given in parts: one call a line, or one JSON array of calls.

    The file is an array if its first character but white space is ``[``. Memory is that of one
    part and of the longest call, whatever the length of the file. One thread at a time may use it.

    Args:
        max_depth: How many levels of containers arguments may have.
        tools: How many tools are told apart.
        groups: How many groups of findings are.

    >>> audit = FileAudit()
    >>> audit.feed(b'{"name":"get","args":{"id":9007199254740993}}\n{"name":"get","ar')
    []
    >>> audit.feed(b'gs":{"id":1}}\n{"name":1,"args":{}}\n')
    [Refusal(line=3, column=9, reason='$.name must be a string, not a number')]
    >>> audit.close()
    []
    >>> audit.report().groups[0][:4]
    ('get', '$.id', 'large-integer', 1)
    """

    def __init__(
        self, *, max_depth: int = DEFAULT_MAX_DEPTH, tools: int = TOOLS, groups: int = GROUPS
    ) -> None:
        self._audit = audit_engine.CallAudit(
            checked_depth(max_depth),
            tools=checked_limit(tools, "tools"),
            groups=checked_limit(groups, "groups"),
        )
        self._form: _Lines | _Array | None = None
        self._start = _Place(1, 1)
        self._refused = 0

    def feed(self, part: bytes | bytearray | memoryview) -> list[Refusal]:
        """Take the next part of the file; return what turned out to be no call.

        Raises:
            TypeError: ``part`` is not bytes-like.
        """
        if not isinstance(part, (bytes, bytearray, memoryview)):
            raise TypeError(f"part must be bytes-like, not {type(part).__name__}")
        return self._taken(bytes(part), is_last=False)

    def close(self) -> list[Refusal]:
        """Take what is left, since there are no more parts."""
        return self._taken(b"", is_last=True)

    def _taken(self, part: bytes, *, is_last: bool) -> list[Refusal]:
        if self._form is None:
            start = part.lstrip(b" \t\r\n")
            self._start = self._start.after(part, len(part) - len(start))
            if not start:
                return []
            form = _Array if start.startswith(b"[") else _Lines
            self._form = form(self._audit, self._start)
            part = start
        refusals = list(self._form.take(part, is_last=is_last))
        self._refused += len(refusals)
        return refusals

    @property
    def unit(self) -> str:
        """What calls are counted by: ``line``, or ``item`` in an array."""
        return "item" if isinstance(self._form, _Array) else "line"

    @property
    def is_cut_short(self) -> bool:
        """Whether an array ended in what is no JSON, so that calls behind it were not read."""
        return isinstance(self._form, _Array) and self._form.is_cut_short

    def report(self) -> AuditReport:
        """What there is so far."""
        first = self._start.line if isinstance(self._form, _Lines) else 1
        return _report(self._audit, self._refused, first=first)


class _Place(NamedTuple):
    """A place in a file, both counted from 1."""

    line: int
    column: int

    def after(self, text: bytes, offset: int) -> _Place:
        """The place of a byte of the text that starts here."""
        line, column = line_and_column(text, offset)
        return _Place(self.line + line - 1, column + (self.column - 1 if line == 1 else 0))


class _Lines:
    """A file with one call a line."""

    def __init__(self, audit: _Audit, start: _Place) -> None:
        self._audit = audit
        self._start = start
        self._rest: list[bytes] = []

    def take(self, part: bytes, *, is_last: bool) -> Iterator[Refusal]:
        end = len(part) if is_last else part.rfind(b"\n") + 1
        if not end and not is_last:
            self._rest.append(part)
            return
        lines = b"".join([*self._rest, part[:end]])
        self._rest = [part[end:]]
        for number, _, error in self._audit.add_lines(lines):
            before = self._start.column - 1 if number == 1 else 0
            line = self._start.line + number - 1
            yield Refusal(line, before + (error.column or 1), _reason_of(error))


class _Array:
    """A file that is an array of calls."""

    def __init__(self, audit: _Audit, start: _Place) -> None:
        self._audit = audit
        self._place = start  # of the first byte of the rest
        self._rest: list[bytes] = []
        self._size = 0  # of the rest
        self._wanted = 0  # bytes that it takes to go on
        self._is_over = False
        self.is_cut_short = False

    def take(self, part: bytes, *, is_last: bool) -> Iterator[Refusal]:
        if self._is_over:
            return
        self._rest.append(part)
        self._size += len(part)
        if self._size < self._wanted and not is_last:
            return
        text = b"".join(self._rest)
        taken = self._audit.add_items(text, is_last=is_last)
        place, at = self._place, 0
        for refused in taken.refused:
            # From one place to the next: counting from the start each time would take very long.
            offset = refused.start + (refused.error.offset or 0)
            place, at = place.after(text[at:offset], offset - at), offset
            yield Refusal(*place, _reason_of(refused.error))
        self._is_over = taken.is_over
        if taken.is_over and taken.refused:
            self.is_cut_short = isinstance(taken.refused[-1].error, JSONTextError)
        if not self._is_over:  # and so all of these are parts of what was consumed
            self._place = place.after(text[at : taken.consumed], taken.consumed - at)
        self._rest = [] if self._is_over else [text[taken.consumed :]]
        self._size = len(text) - taken.consumed
        # An item that is larger than a part is not read anew with each of them.
        self._wanted = 2 * self._size


def _reason_of(error: CanonicalizationError) -> str:
    reason = error.reason or str(error)
    return f"invalid JSON: {reason}" if isinstance(error, JSONTextError) else reason


def audit_file(
    file: str | os.PathLike[str] | BinaryIO, *, max_depth: int = DEFAULT_MAX_DEPTH
) -> AuditReport:
    r"""Audit the recorded calls in a file: one a line (NDJSON), or one JSON array of them.

    A call is an object with ``name``, ``args`` and perhaps ``kind``, ``matchOn`` and
    ``ignoreArgs``, as for ``overturn-fast fingerprint``. Arguments that do not count for the
    fingerprint are not looked at. Lines and items that are no calls are counted, the others still
    done; after what is no JSON in an array nothing more can be read.

    Args:
        file: A path, or a stream of bytes.
        max_depth: How many levels of containers arguments may have.

    Returns:
        The report.

    Raises:
        OSError: The file cannot be read.

    >>> import io
    >>> text = b'[{"name": "get", "args": {"id": 1}}, {"name": "get", "args": {"q": "x\\u001f"}}]'
    >>> audit_file(io.BytesIO(text)).reasons
    {'trim': Tally(findings=1, calls=1)}
    """
    if isinstance(file, (str, os.PathLike)):
        with open(file, "rb") as stream:
            return audit_file(stream, max_depth=max_depth)
    audit = FileAudit(max_depth=max_depth)
    while part := file.read(_CHUNK):
        audit.feed(part)
    audit.close()
    return audit.report()


# -- Python values -------------------------------------------------------------------------------


def audit_calls(
    calls: Iterable[Any], *, encoder: Encoder | None = None, max_depth: int = DEFAULT_MAX_DEPTH
) -> AuditReport:
    """Audit calls whose arguments are Python values, and find those that the SDK confuses.

    Args:
        calls: As for ``fingerprint_many``: tuples of name, arguments and perhaps ``match_on`` and
            ``ignore_args``, or mappings as calls are recorded.
        encoder: As for ``canonical_json``.
        max_depth: How many levels of containers arguments may have.

    Returns:
        The report, with ``collisions``.

    Raises:
        TypeError, ValueError: A call is none.
        CircularReferenceError: A container contains itself.
        DepthError: Containers are nested deeper than ``max_depth``.

    >>> audit_calls([("get", {"raw": b"x"}), ("get", {"raw": "x"})]).reasons
    {'no-json-form': Tally(findings=1, calls=1)}
    """
    encoder, max_depth = checked_encoder(encoder), checked_depth(max_depth)
    audit, confusion = PureAudit(max_depth), _Confusion(encoder, max_depth)

    def look(call: _Call) -> None:
        findings = _findings(call, encoder, max_depth)
        audit.add_findings(call.name, findings)
        confusion.add(call, findings)

    _each(calls, look)
    return _report(audit, 0, confusion.collisions())


def collisions(
    calls: Iterable[Any], *, encoder: Encoder | None = None, max_depth: int = DEFAULT_MAX_DEPTH
) -> list[Collision]:
    """Find calls that the Overturn SDK 0.1.4 cannot tell apart while the default profile can.

    Their arguments differ in what the SDK makes ``null`` of, such as UUIDs, dates and bytes, so
    that a replay answers one of them with what was recorded for another. Bytes, of which the
    default profile makes nothing either, are told apart by their content here.

    Args:
        calls: As for ``fingerprint_many``.
        encoder: As for ``canonical_json``.
        max_depth: How many levels of containers arguments may have.

    Returns:
        The groups, in the order of their first calls.

    Raises:
        TypeError, ValueError: A call is none.
        CircularReferenceError: A container contains itself.
        DepthError: Containers are nested deeper than ``max_depth``.

    >>> import datetime
    >>> days = [datetime.date(2026, 1, day) for day in (1, 2, 2)]
    >>> found = collisions([("report", {"day": day}) for day in days])
    >>> found[0].variants, found[0].paths
    ((Variant(first=0, calls=1), Variant(first=1, calls=2)), ('$.day',))
    """
    encoder, max_depth = checked_encoder(encoder), checked_depth(max_depth)
    confusion = _Confusion(encoder, max_depth)
    _each(calls, lambda call: confusion.add(call, None))
    return list(confusion.collisions())


class _Call(NamedTuple):
    """A call and its position."""

    position: int
    kind: str
    name: str
    args: object
    match_on: Any
    ignore_args: Any


def _each(calls: Iterable[Any], look: Callable[[_Call], None]) -> None:
    """Look at each call; an error names its position."""
    for index, call in enumerate(calls):
        try:
            kind, name, *rest = call_parts(call)
            look(_Call(index, checked_kind(kind), checked_text(name, "name"), *rest))
        except Exception as error:
            in_call(error, index)
            raise


def _findings(call: _Call, encoder: Encoder | None, max_depth: int) -> list[Found]:
    return selected_findings(call.args, call.match_on, call.ignore_args, encoder, max_depth)


_CONFUSING: Final = frozenset(
    {
        *(Reason.LARGE_INTEGER, Reason.SURROGATE, Reason.KEY_SURROGATE, Reason.KEY_COLLISION),
        *(Reason.KEY_TYPE, Reason.NO_JSON_FORM, Reason.SET, Reason.SDK_DIFFERS),
    }
)
"""Reasons on which the SDK and the default profile may differ."""


class _Confused:
    """Calls with one fingerprint to the SDK."""

    __slots__ = ("paths", "tool", "variants")

    def __init__(self, tool: str) -> None:
        self.tool = tool
        self.variants: dict[str, list[int]] = {}  # position of the first, how many
        self.paths: dict[str, None] = {}  # in their order


class _Confusion:
    """Fingerprints of calls, compared."""

    def __init__(self, encoder: Encoder | None, max_depth: int) -> None:
        self._encoder = encoder
        self._max_depth = max_depth
        self._telling = _telling_bytes_apart(encoder)
        self._groups: dict[str, _Confused] = {}

    def add(self, call: _Call, findings: list[Found] | None) -> None:
        """Take a call; its findings are looked for if they are wanted and not given."""
        try:
            ours = self._fingerprint(engine.fingerprint, call, self._telling)
        except (CircularReferenceError, DepthError):
            raise
        except CanonicalizationError:
            return  # there is nothing that tells it from others
        theirs = self._fingerprint(engine.compat_fingerprint, call, self._encoder)
        group = self._groups.setdefault(theirs, _Confused(call.name))
        known = group.variants.setdefault(ours, [call.position, 0])
        known[1] += 1
        # Where the two agree on a call, there is nothing in it that they read differently.
        if known[1] == 1 and ours != theirs and len(group.paths) < _PATHS:
            if findings is None:
                findings = _findings(call, self._encoder, self._max_depth)
            paths = [format_steps(steps) for reason, steps in findings if reason in _CONFUSING]
            group.paths.update(dict.fromkeys(paths[:_PATHS]))

    def _fingerprint(
        self, function: Callable[..., str], call: _Call, encoder: Encoder | None
    ) -> str:
        return function(
            call.kind,
            call.name,
            call.args,
            call.match_on,
            call.ignore_args,
            encoder=encoder,
            max_depth=self._max_depth,
        )

    def collisions(self) -> tuple[Collision, ...]:
        """The groups that the default profile tells apart."""
        return tuple(
            Collision(
                group.tool,
                fingerprint,
                tuple(Variant(*variant) for variant in group.variants.values()),
                tuple(group.paths),
            )
            for fingerprint, group in self._groups.items()
            if len(group.variants) > 1
        )


_PATHS: Final = 20  # that are kept of a collision


def _telling_bytes_apart(encoder: Encoder | None) -> Encoder:
    """The encoder, and a form for bytes, which have none in the default profile."""

    def telling(value: object) -> object:
        if encoder is not None:
            encoded = encoder(value)
            if encoded is not NotImplemented:
                return encoded
        if isinstance(value, (bytes, bytearray, memoryview)):
            return f"bytes {bytes(value).hex()}"
        return NotImplemented

    return telling


# -- reports -------------------------------------------------------------------------------------


def _report(
    audit: _Audit,
    refused: int,
    collisions: tuple[Collision, ...] | None = None,
    *,
    first: int = 1,  # the number of the first line or item
) -> AuditReport:
    totals = audit.totals()
    tools = [
        ToolCount(_name(tool.name, tool.is_cut), tool.calls, tool.flagged) for tool in audit.tools()
    ]
    groups = [_finding_group(group, tools, first - 1) for group in audit.groups()]
    groups.sort(key=lambda group: (-group.calls, group.tool, group.path, group.reason))
    return AuditReport(
        calls=totals.calls,
        flagged=totals.flagged,
        refused=refused,
        reasons=_by_code(totals.reasons),
        tools=tuple(sorted(tools, key=lambda tool: (-tool.flagged, -tool.calls, tool.name))),
        groups=tuple(groups),
        others=_by_code(totals.others),
        other_tools=ToolCount("", totals.other_calls, totals.other_flagged),
        collisions=collisions,
    )


def _finding_group(group: Group, tools: list[ToolCount], before: int) -> FindingGroup:
    return FindingGroup(
        tools[group.tool].name,
        format_steps(group.path, is_cut=group.is_cut),
        group.reason.code,
        group.tally.calls,
        group.tally.findings,
        format_steps(group.example, is_cut=group.is_cut),
        before + group.first,
    )


def _by_code(counts: dict[Reason, Tally]) -> dict[str, Tally]:
    return {reason.code: count for reason, count in counts.items()}


def _name(name: str, is_cut: bool) -> str:
    """A tool's name as it may be printed: a lone surrogate as an escape."""
    shown = join_surrogates(name).encode("utf-8", "backslashreplace").decode()
    return shown + "..." * is_cut
