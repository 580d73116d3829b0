"""Audits of recorded calls by the C core: the class of ``_pure/audit.py``, without the GIL."""

from __future__ import annotations

import threading
from typing import Any, Final

from overturn_fast._errors import CanonicalizationError, Status, call_failure, text_failure
from overturn_fast._native import ffi, lib
from overturn_fast._pure.audit import (
    GROUPS,
    TOOLS,
    Group,
    Part,
    Refused,
    Tally,
    Tool,
    Totals,
)
from overturn_fast._reasons import Reason, Step

__all__ = ["CallAudit"]

_INDEX, _END, _CUT = b"\xfe", b"\xff", b"\xfd"  # OVT_PATH_INDEX, OVT_PATH_END, OVT_PATH_CUT


class CallAudit:
    """Counts of what other SDKs may read otherwise in recorded calls; see the twin."""

    def __init__(self, max_depth: int, *, tools: int = TOOLS, groups: int = GROUPS) -> None:
        self._max_depth = max_depth
        audit: Any = lib.ovt_audit_new(_SEED, tools, groups)
        if audit == ffi.NULL:
            raise MemoryError
        self._audit = ffi.gc(audit, lib.ovt_audit_free)
        # The core takes one call at a time, and runs without the GIL.
        self._lock = threading.RLock()

    def add_lines(self, text: bytes) -> list[Refused]:
        """Take lines, and return those that are no calls."""
        held: Any = ffi.from_buffer(text)
        step: Any = ffi.new("ovt_audit_step *")
        refused: list[Refused] = []
        start = 0
        with self._lock:
            while start < len(text):
                status = lib.ovt_audit_lines(
                    self._audit, step, held + start, len(text) - start, self._max_depth
                )
                if status:
                    refused.append(self._refused(step, text, start))
                start += step.consumed
        return refused

    def add_items(self, text: bytes, *, is_last: bool) -> Part:
        """Take a part of an array, and return how far it was read and what is no call."""
        held: Any = ffi.from_buffer(text)
        step: Any = ffi.new("ovt_audit_step *")
        refused: list[Refused] = []
        start = 0
        with self._lock:
            while True:
                status = lib.ovt_audit_items(
                    self._audit, step, held + start, len(text) - start, is_last, self._max_depth
                )
                if status:
                    refused.append(self._refused(step, text, start))
                start += step.consumed
                if not status or step.is_over:
                    return Part(start, refused, step.is_over)

    def _refused(self, step: Any, text: bytes, start: int) -> Refused:
        if step.status == Status.NO_MEMORY:
            raise MemoryError
        number = self._totals().number
        error: CanonicalizationError
        if step.is_over:
            error = text_failure(step.reason, start + step.offset, text, self._max_depth)
            return Refused(number, 0, error)
        begin = start + step.start
        part = text[begin : start + step.end]
        if step.status == Status.CALL:
            error = call_failure(step.reason, step.field, step.item, step.offset, part)
        else:
            error = text_failure(step.reason, step.offset, part, self._max_depth)
        return Refused(number, begin, error)

    def _totals(self) -> Any:
        totals: Any = ffi.new("ovt_audit_totals *")
        with self._lock:
            lib.ovt_audit_sum(self._audit, totals)
        return totals

    def totals(self) -> Totals:
        """What there is so far, without names."""
        totals = self._totals()
        return Totals(
            number=totals.number,
            calls=totals.calls,
            flagged=totals.flagged,
            other_calls=totals.other_calls,
            other_flagged=totals.other_flagged,
            is_complete=totals.is_complete,
            reasons=_counts(totals.reasons),
            others=_counts(totals.others),
        )

    def tools(self) -> list[Tool]:
        """The tools in the order of their first calls."""
        tool: Any = ffi.new("ovt_audit_tool *")
        found = []
        with self._lock:
            for index in range(self._totals().tool_count):
                lib.ovt_audit_tool_at(self._audit, index, tool)
                name = str(ffi.buffer(tool.name, tool.name_length)[:], "utf-8", "surrogatepass")
                found.append(Tool(name, tool.is_cut, tool.calls, tool.flagged))
        return found

    def groups(self) -> list[Group]:
        """The groups of findings in the order in which they were found."""
        group: Any = ffi.new("ovt_audit_group *")
        found = []
        with self._lock:
            for index in range(self._totals().group_count):
                lib.ovt_audit_group_at(self._audit, index, group)
                found.append(_group(group))
        return found


def _group(group: Any) -> Group:
    path, is_cut = _path(ffi.buffer(group.path, group.path_length)[:], indexed=False)
    example, _ = _path(ffi.buffer(group.example, group.example_length)[:], indexed=True)
    tally = Tally(group.count.findings, group.count.calls)
    return Group(group.tool, Reason(group.reason), path, example, is_cut, group.first, tally)


def _counts(counts: Any) -> dict[Reason, Tally]:
    return {
        reason: Tally(counts[reason].findings, counts[reason].calls)
        for reason in Reason
        if counts[reason].findings
    }


def _path(encoded: bytes, *, indexed: bool) -> tuple[tuple[Step, ...], bool]:
    """The steps of a path as the core writes it, and whether more were cut off."""
    steps: list[Step] = []
    rest = encoded.removesuffix(_CUT)
    is_cut = len(rest) != len(encoded)
    while rest:
        if not rest.startswith(_INDEX):
            key, _, rest = rest.partition(_END)
            steps.append(str(key, "utf-8", "surrogatepass"))
        elif indexed:
            index, _, rest = rest[1:].partition(_END)
            steps.append(int(index))
        else:
            steps.append(None)
            rest = rest[1:]
    return tuple(steps), is_cut


_SEED: Final = hash("overturn_fast") & (2**64 - 1)
"""What names are hashed with: as hard to foresee as CPython's own hashes of str."""
