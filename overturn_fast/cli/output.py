"""Where a command's output goes: standard output, or a file that is replaced in one step."""

from __future__ import annotations

import io
import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO, Final

import click

__all__ = ["INTERRUPTED", "FileFailure", "ending_cleanly", "opened", "standard_output"]

INTERRUPTED: Final = 130  # 128 + SIGINT, as shells have it


class FileFailure(click.ClickException):
    """A file that cannot be read or written."""

    exit_code = 2


@contextmanager
def ending_cleanly(output: str | None) -> Iterator[None]:
    """Turn what ends the writing of ``output`` early into the command's exit status.

    Raises:
        click.ClickException: It cannot be written.
        click.exceptions.Exit: The keyboard interrupted the command.
    """
    try:
        yield
    except KeyboardInterrupt:
        raise click.exceptions.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        # Whoever reads has seen enough, as "head" does: nothing is wrong.
        discard_standard_output()
    except OSError as error:
        discard_standard_output()
        place = "standard output" if output in (None, "-") else f"'{output}'"
        raise FileFailure(f"Cannot write {place}: {error.strerror or error}") from error


@contextmanager
def opened(path: str | None) -> Iterator[BinaryIO]:
    """The stream to write to; ``None`` and ``-`` name standard output.

    A file gets its new content when the block is left without an exception; otherwise it stays
    what it was, or absent. What is no regular file, a device or a named pipe, is written directly.

    Raises:
        OSError: The file or standard output cannot be written.
    """
    if path is None or path == "-":
        stream = standard_output()
        try:
            yield stream
        finally:
            stream.flush()
        return
    mode = _mode_of(path)
    if mode is not None and not stat.S_ISREG(mode):
        with open(path, "wb") as file:
            yield file
        return
    target = os.path.realpath(path)  # a symbolic link stays one
    # In the same folder, so that it can be renamed; with the permissions of a new file.
    temporary = os.path.join(os.path.dirname(target), f".overturn-fast-{secrets.token_hex(8)}.tmp")
    try:
        with open(temporary, "xb") as file:
            if mode is not None:
                os.chmod(temporary, stat.S_IMODE(mode))
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with suppress(FileNotFoundError):
            os.remove(temporary)
        raise


def standard_output() -> BinaryIO:
    """Standard output for bytes, buffered even where Python runs unbuffered.

    Raises:
        OSError: It is closed.
    """
    if sys.stdout is None:
        raise OSError("standard output is closed")
    stream = sys.stdout.buffer
    if isinstance(stream, io.RawIOBase):  # whose write() may write less than it is given
        return open(sys.stdout.fileno(), "wb", closefd=False)
    return stream


def discard_standard_output() -> None:
    """Drop what is still buffered, which the interpreter would try to write when it exits."""
    with suppress(OSError, AttributeError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)


def _mode_of(path: str) -> int | None:
    """The type and permissions of a file, or None if there is none."""
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None
