"""Files of recorded responses into statistics."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeVar

import click

from overturn_fast._arguments import DEFAULT_MAX_DEPTH
from overturn_fast._backend import text_engine
from overturn_fast._errors import CanonicalizationError, JSONTextError
from overturn_fast.cli.lines import lines_of, size_for_a_bar
from overturn_fast.cli.terminal import Reporter
from overturn_fast.shape import ShapeStats
from overturn_fast.shape.times import Time, milliseconds

__all__ = ["at_option", "learn_files", "reading_options"]

Command = TypeVar("Command", bound=Callable[..., Any])

_CHUNK: Final = 1 << 20  # bytes of whole lines that are learned in one step
_SECONDS: Final = 100_000_000_000  # a number from here on is one of milliseconds
_TOO_LATE: Final = 1_000_000_000_000_000  # and from here on no time


def _time(_: click.Context, parameter: click.Parameter, value: str | None) -> Time | None:
    if value is None:
        return None
    try:
        milliseconds(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None
    return value


def at_option(text: str) -> Callable[[Command], Command]:
    """Declare ``--at TIME``."""
    return click.option("--at", metavar="TIME", callback=_time, help=text)


def reading_options(command: Command) -> Command:
    """Declare what says where in a line the response is, and when it was."""
    for option in reversed(
        (
            click.option(
                "--response",
                "member",
                metavar="NAME",
                help="Each line is an object, and the response its member of that name. Lines "
                "without one count as unreadable.",
            ),
            click.option(
                "--time",
                "time_member",
                metavar="NAME",
                help="The member that says when the response was: ISO 8601, or a number of seconds "
                "or milliseconds since 1970.",
            ),
            at_option("When all responses were that have no time of their own (ISO 8601)."),
        )
    ):
        command = option(command)
    return command


class _LineError(Exception):
    """A line whose response or time cannot be had."""


class _Times:
    """When responses were, as their lines say it."""

    def __init__(self, member: str | None, otherwise: Time | None) -> None:
        self._member = member
        self._otherwise = otherwise
        self._lines = self._found = 0

    @property
    def are_missing(self) -> bool:
        """Whether lines were to say it, and none did."""
        return self._member is not None and self._lines != 0 and self._found == 0

    def of(self, parts: dict[str, bytes]) -> Time | None:
        """The time in the members of a line.

        Raises:
            _LineError: What stands there is no time.
        """
        self._lines += 1
        name = self._member
        if name is None or name not in parts:
            return self._otherwise
        self._found += 1
        if parts[name].startswith(b'"'):
            return _string(parts[name])
        try:
            value = json.loads(parts[name])
        except ValueError:  # an integer of more digits than Python reads
            value = None
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value < _TOO_LATE:
            return value / 1000 if value >= _SECONDS else value
        raise _LineError(f"member {json.dumps(name)} is no time")


def learn_files(
    stats: ShapeStats,
    files: Sequence[str],
    *,
    member: str | None = None,
    time_member: str | None = None,
    at: Time | None = None,
) -> int:
    """Learn from every line of the files; report those that cannot be read, and count them.

    Args:
        stats: What learns.
        files: Paths; ``-`` is standard input.
        member: The name of the response in each line, None if the line is the response.
        time_member: The name of the time in each line.
        at: The time where there is none.

    Raises:
        click.ClickException: A file cannot be read.
    """
    bad = 0
    times = _Times(time_member, at)
    with Reporter(size_for_a_bar(files, "a file")) as reporter:
        for path in files:
            name = "<stdin>" if path == "-" else path
            number = 0
            for lines in _chunks(path):
                if member is None and time_member is None:
                    refused = _learn_whole(stats, lines, at)
                else:
                    refused = _learn_members(stats, lines, member, times)
                for index, column, reason in refused:
                    reporter.bad_line(f"{name}:{number + index + 1}:{column}", reason)
                bad += len(refused)
                number += len(lines)
                reporter.advance(sum(map(len, lines)))
        if bad:
            reporter.say(f"{bad:,} line{'s' * (bad != 1)} could not be read")
        if times.are_missing:
            reporter.say(f"no line has a time: there is no member {json.dumps(time_member)}")
    return bad


def _chunks(path: str) -> Iterator[list[bytes]]:
    lines: list[bytes] = []
    size = 0
    for line in lines_of(path):
        lines.append(line)
        size += len(line)
        if size >= _CHUNK:
            yield lines
            lines, size = [], 0
    if lines:
        yield lines


Refused = tuple[int, int, str]
"""The index of a line, the column, and what is wrong."""


def _learn_whole(stats: ShapeStats, lines: list[bytes], at: Time | None) -> list[Refused]:
    refused = stats.observe_lines(b"".join(lines), at)
    return [(index, *_reason(error)) for index, _, error in refused]


def _learn_members(
    stats: ShapeStats,
    lines: list[bytes],
    member: str | None,
    times: _Times,
) -> list[Refused]:
    refused: list[Refused] = []
    for index, raw in enumerate(lines):
        line = raw.removesuffix(b"\n")
        if not line.strip(b" \t\r"):
            continue
        try:
            parts = _members(line)
            response = line if member is None else _part(parts, member)
            stats.observe_text(response, times.of(parts))
        except CanonicalizationError as error:
            refused.append((index, *_reason(error)))
        except (_LineError, ValueError) as error:
            refused.append((index, 1, str(error)))
    return refused


def _members(line: bytes) -> dict[str, bytes]:
    return {
        _string(line[found.name_start : found.name_end]): line[found.value_start : found.value_end]
        for found in text_engine.members(line, DEFAULT_MAX_DEPTH)
    }


def _string(text: bytes) -> str:
    """The value of a string of JSON that was read without an error; most have no escapes."""
    value: str = json.loads(text) if b"\\" in text else text[1:-1].decode()
    return value


def _part(parts: dict[str, bytes], name: str) -> bytes:
    if name not in parts:
        raise _LineError(f"there is no member {json.dumps(name)}")
    return parts[name]


def _reason(error: CanonicalizationError) -> tuple[int, str]:
    reason = error.reason or str(error)
    if isinstance(error, JSONTextError):
        reason = f"invalid JSON: {reason}"
    return error.column or 1, reason
