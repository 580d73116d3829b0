"""Recorded calls to counts of what other SDKs may read otherwise in their arguments.

The findings are grouped by tool, path and reason. A path is that of the arguments with every index
of an array left open; of the first call with it the whole path is kept as an example. No value is
stored. Memory is bounded, whatever comes: there are limits on tools and groups, names and paths are
cut, and what finds no room is counted without a place.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, NoReturn

from overturn_fast._errors import CanonicalizationError, TextReason, text_failure
from overturn_fast._profiles import OVERTURN
from overturn_fast._pure.strings import has_surrogate
from overturn_fast._pure.text import Call, Frame, Piece, Reader, Selection, members
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

__all__ = [
    "GROUPS",
    "TOOLS",
    "CallAudit",
    "Group",
    "Part",
    "Refused",
    "Tally",
    "Tool",
    "Totals",
    "text_findings",
]

TOOLS: Final = 10_000
"""Tools that are told apart, unless the caller says otherwise."""
GROUPS: Final = 10_000
"""Groups of findings that are told apart, unless the caller says otherwise."""

_LONGEST_NAME: Final = 256  # bytes of a tool's name
_MOST_STEPS: Final = 64  # of a path
_LONGEST_PATH: Final = 1000  # bytes of a path, each key and each index with one more

# How far before the end of a part of a text it may be wrong only for being a part: no token that
# is wrong when cut, and no escape, is longer.
_CUT_MARGIN: Final = 16

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


class Tally(NamedTuple):
    """How often something was found, and in how many calls.

    >>> Tally(findings=3, calls=1)
    Tally(findings=3, calls=1)
    """

    findings: int
    calls: int


class Refused(NamedTuple):
    """What is no call: the number of the line or item, where it starts in the text, and why.

    The place of the error counts from there.
    """

    number: int
    start: int
    error: CanonicalizationError


class Part(NamedTuple):
    """What reading a part of an array came to."""

    consumed: int
    """How many bytes need not be given again."""
    refused: list[Refused]
    """What is no call."""
    is_over: bool
    """The last of these is no JSON, so that nothing after it can be read."""


class Tool(NamedTuple):
    """The calls of one tool, and those of them with a finding."""

    name: str
    is_cut: bool
    calls: int
    flagged: int


class Group(NamedTuple):
    """The findings with one tool, path and reason."""

    tool: int
    """The position in the list of tools."""
    reason: Reason
    path: tuple[Step, ...]
    example: tuple[Step, ...]
    is_cut: bool
    """The path goes on; so there may be others in the group."""
    first: int
    """The number of the line or item that the example is from."""
    tally: Tally


@dataclass
class Totals:
    """What there is without names. The reasons of which there is nothing are not there."""

    number: int = 0
    """Lines or items so far."""
    calls: int = 0
    """Those of them that are calls."""
    flagged: int = 0
    """Those of these that have a finding."""
    other_calls: int = 0
    """Calls of tools for which there was no room."""
    other_flagged: int = 0
    is_complete: bool = False
    """The array that was read has ended."""
    reasons: dict[Reason, Tally] = field(default_factory=dict)
    """All findings."""
    others: dict[Reason, Tally] = field(default_factory=dict)
    """Those for which there was no room."""


Sink = Callable[[Reason, "tuple[Step, ...]"], None]


class _Examination(Reader):
    """A reader that makes nothing of a text and reports what others may read otherwise."""

    def __init__(
        self, text: bytes, max_depth: int, selection: Selection | None, sink: Sink
    ) -> None:
        super().__init__(text, OVERTURN, max_depth, selection)
        self.sink = sink
        self.is_left_out = False  # the member of the outermost object that is being read

    def _report(self, reason: Reason) -> None:
        """Report the value at hand."""
        if not self.is_left_out:
            self.sink(
                reason,
                tuple(
                    frame.name if frame.is_object else len(frame.members) for frame in self.frames
                ),
            )

    def _takes(self, name: str) -> bool:
        return self.selection is None or len(self.frames) != 1 or self.selection.takes(name)

    def _literal(self, literal: bytes) -> Piece:
        return None

    def _empty(self, is_object: bool) -> Piece:
        if len(self.frames) == PORTABLE_DEPTH:
            self._report(Reason.NESTING)
        return None

    def _open(self, is_object: bool) -> Piece:
        depth = len(self.frames)
        opened = super()._open(is_object)
        if len(self.frames) > depth == PORTABLE_DEPTH:
            frame = self.frames.pop()
            self._report(Reason.NESTING)
            self.frames.append(frame)
        return opened

    def _read_name(self, frame: Frame) -> None:
        super()._read_name(frame)
        if len(self.frames) == 1:
            self.is_left_out = not self._takes(frame.name)

    def _closed(self, frame: Frame) -> Piece:
        if len(self.frames) == 1:
            self.is_left_out = False
        if frame.is_object:
            keys = [name for name, _, _ in frame.members if self._takes(name)]
            self.frames.pop()
            self._examine_keys(keys)
            self.frames.append(frame)
        return None

    def _examine_keys(self, keys: list[str]) -> None:
        if any(map(has_surrogate, keys)):
            self._report(Reason.KEY_SURROGATE)
        if orders_differ(keys):
            self._report(Reason.KEY_ORDER)
        if len(set(keys)) != len(keys):
            self._report(Reason.KEY_COLLISION)

    def _read_number(self) -> Piece:
        match = self._number_literal()
        literal = match.group()
        if match.group(1) is match.group(2) is None:
            digits = literal.removeprefix(b"-")
            # Past 16 digits it is large, and int() would take long or refuse.
            if len(digits) > 16 or int(digits) > LARGEST_SAFE_INTEGER:
                self._report(Reason.LARGE_INTEGER)
            return None
        value = float(literal)
        if math.isinf(value):
            self._report(Reason.NOT_FINITE)
        elif has_other_digits(value):
            self._report(Reason.INTEGRAL_FLOAT)
        return None

    def _read_string_value(self) -> Piece:
        text = self.read_string()
        if has_surrogate(text):
            self._report(Reason.SURROGATE)
        if is_trimmed_otherwise(text):
            self._report(Reason.TRIM)
        return None


def text_findings(text: bytes, max_depth: int, selection: Selection | None = None) -> list[Found]:
    """What others may read otherwise in a JSON text, in the order of ``portability_text.h``.

    Raises:
        CanonicalizationError: The text is no JSON.
    """
    found: list[Found] = []
    _Examination(text, max_depth, selection, lambda *finding: found.append(finding)).whole()
    return found


class _Counter:
    """A count that is being made."""

    __slots__ = ("calls", "findings", "last")

    def __init__(self) -> None:
        self.findings = self.calls = self.last = 0

    def add(self, number: int) -> None:
        self.findings += 1
        self.calls += self.last != number
        self.last = number

    def tally(self) -> Tally:
        return Tally(self.findings, self.calls)


class _Tool:
    __slots__ = ("calls", "flagged", "index", "is_cut")

    def __init__(self, index: int) -> None:
        self.index = index
        self.calls = self.flagged = 0
        self.is_cut = False


class _Group:
    __slots__ = ("counter", "example", "first")

    def __init__(self, example: tuple[Step, ...], first: int) -> None:
        self.example = example
        self.first = first
        self.counter = _Counter()


_Key = tuple[int, Reason, "tuple[Step, ...]", bool]


class CallAudit:
    """Counts of what other SDKs may read otherwise in recorded calls.

    Args:
        max_depth: How many levels of containers the arguments may have.
        tools: How many tools are told apart.
        groups: How many groups of findings are.

    Either lines or the parts of one array are given, not both.
    """

    def __init__(self, max_depth: int, *, tools: int = TOOLS, groups: int = GROUPS) -> None:
        self._max_depth = max_depth
        self._tool_limit, self._group_limit = tools, groups
        self._tools: dict[str, _Tool] = {}
        self._groups: dict[_Key, _Group] = {}
        self._totals = Totals()
        self._reasons: dict[Reason, _Counter] = {}
        self._others: dict[Reason, _Counter] = {}
        self._state = _BEFORE_ARRAY

    def add_lines(self, text: bytes) -> list[Refused]:
        """Take lines, which end with LF and the last one perhaps without.

        Returns:
            Those that are no calls. Lines of white space alone are none of them.
        """
        refused: list[Refused] = []
        start = 0
        lines = text.split(b"\n")
        if not lines[-1]:
            lines.pop()
        for line in lines:
            if line.strip(b" \t\r"):
                self._add_call(line, start, refused)
            else:
                self._totals.number += 1
            start += len(line) + 1
        return refused

    def add_items(self, text: bytes, *, is_last: bool) -> Part:
        """Take a part of an array: what follows what has been consumed, the last part or not."""
        return _Items(self, text, is_last, self._max_depth).read()

    def totals(self) -> Totals:
        """What there is so far, without names."""
        self._totals.reasons = _counts(self._reasons)
        self._totals.others = _counts(self._others)
        self._totals.is_complete = self._state == _BEHIND_ARRAY
        return self._totals

    def tools(self) -> list[Tool]:
        """The tools in the order of their first calls."""
        return [
            Tool(name, tool.is_cut, tool.calls, tool.flagged) for name, tool in self._tools.items()
        ]

    def groups(self) -> list[Group]:
        """The groups of findings in the order in which they were found."""
        return [
            Group(tool, reason, path, group.example, is_cut, group.first, group.counter.tally())
            for (tool, reason, path, is_cut), group in self._groups.items()
        ]

    # -- one call -----------------------------------------------------------------------------

    def _add_call(self, text: bytes, start: int, refused: list[Refused]) -> None:
        self._totals.number += 1
        try:
            call = Call(text, members(text, self._max_depth))
            _, name, selection = call.checked()
        except CanonicalizationError as error:
            refused.append(Refused(self._totals.number, start, error))
            return
        self._add_findings(name, text_findings(call.args(), self._max_depth, selection))

    def add_findings(self, name: str, findings: Sequence[Found]) -> None:
        """Take what was found in the arguments of one more call of a tool."""
        self._totals.number += 1
        self._add_findings(name, findings)

    def _add_findings(self, name: str, findings: Sequence[Found]) -> None:
        tool = self._tool(name)
        for reason, steps in findings:
            self._add_finding(tool, reason, steps)
        is_flagged = bool(findings)
        self._totals.calls += 1
        self._totals.flagged += is_flagged
        if tool is None:
            self._totals.other_calls += 1
            self._totals.other_flagged += is_flagged
        else:
            tool.calls += 1
            tool.flagged += is_flagged

    def _tool(self, name: str) -> _Tool | None:
        encoded = name.encode("utf-8", "surrogatepass")
        is_cut = len(encoded) > _LONGEST_NAME
        if is_cut:
            end = _LONGEST_NAME
            while encoded[end] & 0xC0 == 0x80:
                end -= 1
            name = encoded[:end].decode("utf-8", "surrogatepass")
        if name not in self._tools:
            if len(self._tools) >= self._tool_limit:
                return None
            self._tools[name] = _Tool(len(self._tools))
        tool = self._tools[name]
        tool.is_cut |= is_cut
        return tool

    def _add_finding(self, tool: _Tool | None, reason: Reason, steps: tuple[Step, ...]) -> None:
        number = self._totals.number
        self._reasons.setdefault(reason, _Counter()).add(number)
        if tool is not None:
            kept = _kept_steps(steps)
            path = tuple(None if isinstance(step, int) else step for step in steps[:kept])
            key = (tool.index, reason, path, kept < len(steps))
            group = self._groups.get(key)
            if group is None and len(self._groups) < self._group_limit:
                group = self._groups[key] = _Group(steps[:kept], number)
            if group is not None:
                group.counter.add(number)
                return
        self._others.setdefault(reason, _Counter()).add(number)


def _kept_steps(steps: tuple[Step, ...]) -> int:
    """How many steps of a path are told apart."""
    size = 0
    for index, step in enumerate(steps[:_MOST_STEPS]):
        size += 1 + (len(step.encode("utf-8", "surrogatepass")) if isinstance(step, str) else 0)
        if size > _LONGEST_PATH:
            return index
    return min(len(steps), _MOST_STEPS)


def _counts(tallies: dict[Reason, _Counter]) -> dict[Reason, Tally]:
    return {reason: tallies[reason].tally() for reason in Reason if reason in tallies}


_BEFORE_ARRAY, _BEFORE_FIRST_ITEM, _BEFORE_ITEM, _BEHIND_ARRAY = range(4)


class _Items(Reader):
    """A reader of a part of an array."""

    def __init__(self, audit: CallAudit, text: bytes, is_last: bool, max_depth: int) -> None:
        # The members of an item may be nested that deep.
        super().__init__(text, OVERTURN, max_depth + 1, None)
        self.audit = audit
        self.is_last = is_last
        self.refused: list[Refused] = []
        self.consumed = 0

    def read(self) -> Part:
        """Read as many items as there are."""
        is_over = False
        try:
            self._read_all()
        except CanonicalizationError as error:
            is_over = self.is_last or (error.offset or 0) + _CUT_MARGIN < len(self.text)
            if is_over:
                self.refused.append(Refused(self.audit._totals.number, 0, error))
        return Part(self.consumed, self.refused, is_over)

    def _fail(self, reason: TextReason, offset: int) -> NoReturn:
        if reason is TextReason.DEPTH:
            raise text_failure(reason, offset, self.text, self.max_depth - 1)
        if offset == 0 and self.text.startswith(_BYTE_ORDER_MARK):
            # A part's first character is not that of the whole text.
            raise text_failure(reason, offset, self.text, self.max_depth)
        super()._fail(reason, offset)

    def _read_all(self) -> None:
        audit = self.audit
        while True:
            self._skip_space()
            self.consumed = self.position
            byte = self._byte()
            if not byte:
                if audit._state != _BEHIND_ARRAY and self.is_last:
                    self._fail(TextReason.UNEXPECTED_END, self.position)
                return
            if audit._state == _BEHIND_ARRAY:
                self._fail(TextReason.EXTRA, self.position)
            if audit._state == _BEFORE_ARRAY:
                audit._state = _BEFORE_FIRST_ITEM
                self.position += 1
            elif audit._state == _BEFORE_FIRST_ITEM and byte == b"]":
                audit._state = _BEHIND_ARRAY
                self.position += 1
            else:
                self._read_item()

    def _read_item(self) -> None:
        start = self.position
        self._read()
        end = self.position
        self._skip_space()
        byte = self._byte()
        if byte not in (b",", b"]"):
            self._fail(TextReason.EXPECTED_COMMA_OR_BRACKET, self.position)
        self.position += 1
        self.consumed = self.position
        self.audit._state = _BEFORE_ITEM if byte == b"," else _BEHIND_ARRAY
        self.audit._add_call(self.text[start:end], start, self.refused)
