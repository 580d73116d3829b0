"""What a forked process must not share with its parent: session ids, pending events, locks."""

from __future__ import annotations

import os
from typing import Final, Protocol
from weakref import WeakSet

__all__ = ["Renewable", "renew_after_fork"]


class Renewable(Protocol):
    """Something that starts anew in a forked process."""

    def _after_fork(self) -> None:
        """Forget what belongs to the parent. Only one thread runs."""


_renewables: Final[WeakSet[Renewable]] = WeakSet()


def renew_after_fork(renewable: Renewable) -> None:
    """Have ``_after_fork`` called in every process that is forked from this one."""
    _renewables.add(renewable)


def _renew_all() -> None:
    for renewable in list(_renewables):
        renewable._after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)
