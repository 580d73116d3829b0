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
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, BinaryIO, Final, NamedTuple

from overturn_fast._arguments import (
    DEFAULT_MAX_DEPTH,
    call_parts,
    checked_depth,
    checked_encoder,
    checked_kind,
    checked_text,
)
from overturn_fast._backend import audit_engine, engine
from overturn_fast._convert import Encoder
from overturn_fast._errors import (
    CanonicalizationError,
    JSONTextError,
    in_call,
    line_and_column,
)
from overturn_fast._portability import selected_findings
from overturn_fast._pure.audit import GROUPS, TOOLS, CallAudit, Count, Group, Refused
from overturn_fast._pure.strings import join_surrogates
from overturn_fast._reasons import EXPLANATIONS, Found, Reason, format_steps

__all__ = [
    "REASONS",
    "AuditReport",
    "Collision",
    "Count",
    "FileAudit",
    "FindingGroup",
    "Refusal",
    "ToolCount",
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
    """Which call that is: the number of its line, or of its item, counted from 1."""


class Collision(NamedTuple):
    """Calls of one tool that have one fingerprint to the SDK and several to the default profile."""

    tool: str
    fingerprint: str
    """That of ``overturn_fast.compat``."""
    variants: tuple[Count, ...]
    """For each fingerprint of the default profile the position of its first call, from 0, and how
    many calls have it."""
    paths: tuple[str, ...]
    """Where the arguments have something that the SDK does not tell apart."""
