"""What people read: reports, in colour on a terminal, and a progress bar above which they appear.

Reports about lines go to standard error, because standard output has the lines themselves; what is
nothing but a report goes to standard output.
"""

from __future__ import annotations

import re
import sys
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO, Final

import click

from overturn_fast.cli.output import standard_output

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

__all__ = ["Report", "Reporter", "printable"]

_STEP: Final = 1 << 20  # bytes between two updates of the bar
_UNPRINTABLE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


class Reporter:
    """Writes reports about lines to standard error, one line each.

    Args:
        total: The size of the input in bytes, to show a progress bar; None for no bar.

    Use it in a ``with`` statement, which shows the bar and takes it away again.
    """

    def __init__(self, total: int | None) -> None:
        self._console: Console | None = None
        self._progress: Progress | None = None
        self._task: TaskID | None = None
        self._done = 0
        self._shown = 0
        if sys.stderr is not None and sys.stderr.isatty():
            from rich.console import Console  # only here: importing it takes a while

            self._console = Console(stderr=True, highlight=False)
            if total is not None:
                self._progress = _bar(self._console)
                self._task = self._progress.add_task("", total=total)

    def __enter__(self) -> Reporter:
        if self._progress is not None:
            self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._progress is not None:
            self._progress.stop()

    def advance(self, size: int) -> None:
        """Count ``size`` more bytes of the input as done."""
        self._done += size
        if self._progress is None or self._task is None or self._done - self._shown < _STEP:
            return
        self._shown = self._done
        self._progress.update(self._task, completed=self._done)

    def bad_line(self, place: str, reason: str) -> None:
        """Report a line that could not be read: ``FILE:LINE:COLUMN: reason``."""
        place, reason = printable(place), printable(reason)
        if self._console is None:
            self.say(f"{place}: {reason}")
        else:
            from rich.text import Text

            self._console.print(
                Text.assemble((f"{place}:", "bold"), " ", (reason, "red")), soft_wrap=True
            )

    def say(self, text: str) -> None:
        """Write a line of text."""
        if self._console is not None:
            self._console.print(text, markup=False, soft_wrap=True)
        else:
            click.echo(text, err=True)


class Report:
    """Writes lines to standard output.

    Use it in a ``with`` statement, which writes what is still buffered at its end.
    """

    def __init__(self) -> None:
        self._stream: BinaryIO | None = None
        self._console: Console | None = None
        if sys.stdout is not None and sys.stdout.isatty():
            from rich.console import Console  # only here: importing it takes a while

            self._console = Console(highlight=False)
        else:
            self._stream = standard_output()

    def __enter__(self) -> Report:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._stream is not None:
            self._stream.flush()

    def line(self, text: str, style: str | None = None) -> None:
        """Write a line of printable text, on a terminal in a style of rich."""
        if self._stream is not None:
            self._stream.write(f"{text}\n".encode())
        elif self._console is not None:
            self._console.print(text, style=style, markup=False, soft_wrap=True)


def _bar(console: Console) -> Progress:
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TaskProgressColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    return Progress(
        TaskProgressColumn(),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )


def printable(text: str) -> str:
    """``text`` with an escape for each character that ends lines or steers a terminal."""
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)
