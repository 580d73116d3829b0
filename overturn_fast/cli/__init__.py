"""The command line: ``overturn-fast``, or ``python -m overturn_fast.cli``.

It needs click and rich, the extra ``cli``; nothing else of the package does.
"""

from __future__ import annotations

import importlib.util
import sys

__all__ = ["main"]

_REQUIRED = ("click", "rich")


def main() -> None:
    """Run the command with the arguments of the process, and exit with its status."""
    missing = [name for name in _REQUIRED if importlib.util.find_spec(name) is None]
    if missing:
        print(
            f"overturn-fast: the command line needs {' and '.join(missing)}, not installed here.\n"
            "Install the extra that brings it: pip install 'overturn-fast[cli]'",
            file=sys.stderr,
        )
        sys.exit(2)
    from overturn_fast.cli.group import cli

    cli(prog_name="overturn-fast")
