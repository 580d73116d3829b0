"""Files of lines through a conversion, line by line, in constant memory."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import BinaryIO, Final

import click

from overturn_fast.cli.calls import LineError
from overturn_fast.cli.output import FileFailure, ending_cleanly, opened
from overturn_fast.cli.terminal import Reporter

__all__ = ["convert_lines", "lines_of", "parts_of", "size_for_a_bar"]

Convert = Callable[[bytes], str]
"""One line, without its line end, to its line of output. Raises LineError."""

_PART: Final = 1 << 20  # bytes that are read at once
_LARGE: Final = 8_000_000  # bytes of input from which a progress bar is worth it


class _Stopped(Exception):
    """A bad line where the first one is to end the run."""


def convert_lines(
    files: Sequence[str],
    convert: Convert,
    *,
    output: str | None = None,
    strict: bool = False,
    number: bool = False,
) -> None:
    """Write the conversion of each line of ``files``, and report those that cannot be read.

    Lines end with LF and nothing else; those of white space alone are skipped. The process exits
    with status 1 if a line could not be read.

    Args:
        files: Paths; ``-`` is standard input.
        convert: What to do with one line.
        output: A path to write to, in one step at the end. None and ``-`` are standard output.
        strict: Stop at the first line that cannot be read.
        number: Begin each line of output with the number of its line in the input, and with the
            file too if there are several.

    Raises:
        click.ClickException: A file cannot be read or written. The exit status is 2.
        click.exceptions.Exit: The status is not 0.
    """
    run = _Run(convert, strict, number, name_files=len(files) > 1)
    with ending_cleanly(output):
        run.convert(files, output)
    if run.bad:
        raise click.exceptions.Exit(1)


class _Run:
    """One run of a command over its files."""

    def __init__(self, convert: Convert, strict: bool, number: bool, *, name_files: bool) -> None:
        self._convert = convert
        self._strict = strict
        self._number = number
        self._name_files = name_files
        self._lines = 0
        self.bad = 0

    def convert(self, files: Sequence[str], output: str | None) -> None:
        """Do all the files, and end with a summary if a line was bad."""
        with Reporter(size_for_a_bar(files, output)) as reporter:
            try:
                with opened(output) as out:
                    for path in files:
                        self._convert_file(path, out, reporter)
            except _Stopped:
                reporter.say("stopped at the first line that could not be read")
            else:
                if self.bad:
                    lines = "line" if self._lines == 1 else "lines"
                    reporter.say(f"{self.bad:,} of {self._lines:,} {lines} could not be read")

    def _convert_file(self, path: str, out: BinaryIO, reporter: Reporter) -> None:
        name = "<stdin>" if path == "-" else path
        is_interactive = out.isatty()
        prefix = ""
        for number, raw in enumerate(lines_of(path), start=1):
            line = raw.removesuffix(b"\n")
            if line.strip(b" \t\r"):
                self._lines += 1
                try:
                    text = self._convert(line)
                except LineError as error:
                    self.bad += 1
                    out.flush()  # so that both streams, shown together, keep their order
                    reporter.bad_line(f"{name}:{number}:{error.column}", error.reason)
                    if self._strict:
                        raise _Stopped from None
                else:
                    if self._number:
                        prefix = f"{name}:{number}\t" if self._name_files else f"{number}\t"
                    out.write(f"{prefix}{text}\n".encode("utf-8", "surrogateescape"))
                    if is_interactive:
                        out.flush()
            reporter.advance(len(raw))


def lines_of(path: str) -> Iterator[bytes]:
    """The lines of a file with their line ends."""
    with _reading(path) as file:
        yield from file


def parts_of(path: str) -> Iterator[bytes]:
    """A file in parts of no particular length; the last one is empty."""
    with _reading(path) as file:
        part = b"-"
        while part:
            part = file.read(_PART)
            yield part


@contextmanager
def _reading(path: str) -> Iterator[BinaryIO]:
    """The stream of a file to read."""
    try:
        if path != "-":
            with open(path, "rb") as file:
                yield file
        elif sys.stdin is None:
            raise OSError("it is closed")
        else:
            yield sys.stdin.buffer
    except OSError as error:
        name = "standard input" if path == "-" else f"'{path}'"
        raise FileFailure(f"Cannot read {name}: {error.strerror or error}") from error


def size_for_a_bar(files: Sequence[str], output: str | None) -> int | None:
    """The size of the input if a progress bar makes sense: it is large, and all regular files.

    There is none while standard output is a terminal, which the bar would share with the output,
    or a pipe, whose reader may be a pager on the same terminal.
    """
    if output in (None, "-") and not _is_quiet(sys.stdout):
        return None
    size = 0
    for path in files:
        try:
            status = os.fstat(sys.stdin.fileno()) if path == "-" else os.stat(path)
        except (OSError, AttributeError):
            return None
        if not stat.S_ISREG(status.st_mode):
            return None
        size += status.st_size
    return size if size >= _LARGE else None


def _is_quiet(stream: object) -> bool:
    """Whether a stream is a file or a device that nobody watches."""
    try:
        descriptor = stream.fileno()  # type: ignore[attr-defined]
        mode = os.fstat(descriptor).st_mode
        return stat.S_ISREG(mode) or (stat.S_ISCHR(mode) and not os.isatty(descriptor))
    except (OSError, AttributeError):
        return False
