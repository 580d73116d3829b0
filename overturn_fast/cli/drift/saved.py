"""Baselines as the arguments of commands: a JSON file, or a tool in an SQLite database."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, NoReturn

import click

from overturn_fast.cli.output import INTERRUPTED, FileFailure, ending_cleanly, opened
from overturn_fast.cli.terminal import printable
from overturn_fast.shape import (
    BaselineError,
    BaselineStore,
    Incidents,
    ShapeStats,
    dumps,
    load,
)
from overturn_fast.shape.stats import MIN_KEY_BYTES

__all__ = [
    "CheckCommand",
    "DriftCommand",
    "add_to_baseline",
    "empty_like",
    "enum_key_in",
    "enum_key_option",
    "is_database",
    "read_baseline",
    "read_incidents",
    "tool_option",
    "tools_in",
    "write_baseline",
]

_DATABASES: Final = (".db", ".sqlite", ".sqlite3")
_ERROR: Final = 4

tool_option = click.option(
    "--tool", metavar="NAME", help="The tool; needed where a database has several."
)

enum_key_option = click.option(
    "--enum-key",
    "enum_key_file",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, readable=True),
    help="Tell the strings of small sets apart, by a hash under the secret in FILE, of 16 bytes at "
    "least. Slower. What is compared with a baseline that was learned so, or added to it, needs "
    "the same secret.",
)


class DriftCommand(click.Command):
    """A command that the keyboard ends with the exit status that shells have for that."""

    def invoke(self, ctx: click.Context) -> Any:
        """As for any command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise click.exceptions.Exit(INTERRUPTED) from None


class CheckCommand(DriftCommand):
    """A command whose errors all have the exit status 4: lower ones say how grave a drift is."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """As for any command."""
        with _status_4():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """As for any command."""
        with _status_4():
            return super().invoke(ctx)


@contextmanager
def _status_4() -> Iterator[None]:
    try:
        yield
    except click.ClickException as error:
        error.exit_code = _ERROR  # type: ignore[misc]
        raise


def is_database(path: str) -> bool:
    """Whether a path names a database, by its ending."""
    return path.lower().endswith(_DATABASES)


def read_baseline(path: str, tool: str | None = None) -> ShapeStats:
    """The statistics that a file has, of a tool if it is a database.

    Raises:
        click.ClickException: It cannot be read, is no baseline, or has no such tool.
    """
    try:
        if not is_database(path):
            stats = load(path)
            if tool is not None and stats.tool != tool:
                known = printable(stats.tool)
                raise FileFailure(f"'{path}' is of the tool '{known}', not '{printable(tool)}'")
            return stats
        tools = tools_in(path)
        if tool is None and len(tools) != 1:
            raise FileFailure(f"'{path}' has {len(tools)} tools; name one with --tool")
        found = BaselineStore(path).load(tools[0] if tool is None else tool)
    except (OSError, BaselineError, sqlite3.Error) as error:
        _fail_reading(path, error)
    if found is None:
        raise FileFailure(f"'{path}' has no tool '{printable(tool or tools[0])}'")
    return found


def tools_in(path: str) -> list[str]:
    """The tools in a database.

    Raises:
        click.ClickException: It cannot be read, or is none.
    """
    if not os.path.exists(path):
        raise FileFailure(f"Cannot read '{path}': No such file or directory")
    try:
        return BaselineStore(path).tools()
    except (OSError, BaselineError, sqlite3.Error) as error:
        _fail_reading(path, error)


def enum_key_in(path: str | None) -> bytes | None:
    """The secret in a file, as it is; None without a file.

    Raises:
        click.ClickException: It cannot be read, or is too short.
    """
    if path is None:
        return None
    try:
        with open(path, "rb") as file:
            key = file.read()
    except OSError as error:
        _fail_reading(path, error)
    if len(key) < MIN_KEY_BYTES:
        raise click.UsageError(
            f"--enum-key: the secret in '{path}' has {len(key)} bytes; "
            f"it must have at least {MIN_KEY_BYTES}"
        )
    return key


def empty_like(known: ShapeStats, enum_key_file: str | None) -> ShapeStats:
    """Statistics to compare with a baseline or to add to it, in which nothing is yet.

    Raises:
        click.ClickException: The secret is not that of the baseline.
    """
    try:
        return known.empty(enum_key_in(enum_key_file))
    except ValueError as error:
        if enum_key_file is None:
            raise click.UsageError(
                "the baseline was learned with --enum-key; it is needed here too"
            ) from error
        raise click.UsageError(f"--enum-key: {error}") from error


def read_incidents(path: str) -> Incidents:
    """The incidents in a file.

    Raises:
        FileFailure: It cannot be read, is no regular file, or holds something else.
    """
    incidents = Incidents()
    try:
        with open(path, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise ValueError("it is no regular file")  # and may have no end
            incidents.loads(file.read())
    except (OSError, ValueError) as error:
        raise FileFailure(f"Cannot read '{path}': {error}") from error
    return incidents


def write_baseline(stats: ShapeStats, path: str) -> None:
    """Write statistics to a file, or into a database in the place of those of the same tool.

    Raises:
        click.ClickException: It cannot be written.
    """
    if is_database(path):
        try:
            BaselineStore(path).save(stats)
        except (OSError, BaselineError, sqlite3.Error) as error:
            raise FileFailure(f"Cannot write '{path}': {error}") from error
        return
    with ending_cleanly(path), opened(path) as out:
        out.write(dumps(stats).encode())


def add_to_baseline(stats: ShapeStats, path: str) -> None:
    """Add statistics to those of the same tool in a file or a database, or begin with them.

    In a database it is one step, whoever else adds something meanwhile.

    Raises:
        click.ClickException: What is there cannot be read or written, or is of another kind.
    """
    try:
        if is_database(path):
            BaselineStore(path).merge(stats)
            return
        known = read_baseline(path) if os.path.exists(path) else None
        write_baseline(stats if known is None else known.merge(stats), path)
    except (OSError, ValueError, sqlite3.Error) as error:
        raise FileFailure(f"Cannot add to '{path}': {error}") from error


def _fail_reading(path: str, error: Exception) -> NoReturn:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    raise FileFailure(f"Cannot read '{path}': {reason}") from error
