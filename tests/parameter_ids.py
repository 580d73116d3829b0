"""Names of parameters that are the same in every run, so that a run can be split over processes."""

from __future__ import annotations

import re

ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def shown(value: object) -> str:
    """The value as ``ascii`` writes it, without addresses of objects; a set in order."""
    if isinstance(value, set):
        return "{" + ", ".join(sorted(map(shown, value))) + "}"
    return ADDRESS.sub("", ascii(value))
