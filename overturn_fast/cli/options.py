"""Arguments and options that several commands have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

__all__ = ["files_argument", "line_options"]

Command = TypeVar("Command", bound=Callable[..., Any])

files_argument = click.argument(
    "files",
    metavar="FILE...",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, dir_okay=False, readable=True, allow_dash=True),
)
"""Declares FILE...: one or more files, of which "-" is standard input."""

_OPTIONS = (
    files_argument,
    click.option("--strict", is_flag=True, help="Stop at the first line that cannot be read."),
    click.option(
        "-n",
        "--number",
        is_flag=True,
        help="Begin each line of output with the number of its line in the input and a tab; "
        "with several FILEs with FILE:NUMBER.",
    ),
    click.option(
        "-o",
        "--output",
        metavar="FILE",
        type=click.Path(dir_okay=False, allow_dash=True),
        help="Write to FILE. It is replaced at the end in one step, or left as it was if the "
        "command does not get there.",
    ),
)


def line_options(command: Command) -> Command:
    """Declare FILE..., ``--strict``, ``--number`` and ``--output`` on a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
