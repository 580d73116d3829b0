"""Baselines as the arguments of commands: a JSON file, or a tool in an SQLite database."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, NoReturn

import click

from overturn_fast.cli.output import FileFailure, ending_cleanly, opened
from overturn_fast.shape import BaselineError, BaselineStore, ShapeStats, dumps, load

__all__ = ["DriftCommand", "is_database", "read_baseline", "tool_option", "write_baseline"]

_DATABASES: Final = (".db", ".sqlite", ".sqlite3")
_ERROR: Final = 4

tool_option = click.option(
    "--tool", metavar="NAME", help="The tool; needed where a database has several."
)


class DriftCommand(click.Command):
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
                raise FileFailure(f"'{path}' is of the tool '{stats.tool}', not '{tool}'")
            return stats
        if not os.path.exists(path):
            raise FileFailure(f"Cannot read '{path}': No such file or directory")
        store = BaselineStore(path)
        tools = store.tools()
        if tool is None and len(tools) != 1:
            raise FileFailure(f"'{path}' has {len(tools)} tools; name one with --tool")
        found = store.load(tools[0] if tool is None else tool)
    except (OSError, BaselineError, sqlite3.Error) as error:
        _fail_reading(path, error)
    if found is None:
        raise FileFailure(f"'{path}' has no tool '{tool}'")
    return found


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


def _fail_reading(path: str, error: Exception) -> NoReturn:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    raise FileFailure(f"Cannot read '{path}': {reason}") from error
