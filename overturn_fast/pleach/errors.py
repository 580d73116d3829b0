"""What goes wrong with fingerprints of LLM calls, and with the stores that keep answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overturn_fast._errors import type_name

if TYPE_CHECKING:
    from overturn_fast.pleach.fingerprint import Fingerprint

__all__ = [
    "CorruptStoreError",
    "ForeignStoreError",
    "InputError",
    "InputTypeError",
    "ModeError",
    "PleachError",
    "ReplayDivergenceError",
    "StoreError",
    "StoreFullError",
    "TenantError",
]


class PleachError(Exception):
    """The root of the errors of this package, but for values that have no canonical form.

    ``value`` is what the call answered if the failure came after it, in ``get_or_call``: the
    answer was paid for and is not lost.
    """

    value: object = None


class InputError(PleachError, ValueError):
    """A field of an input, or an option, has a value that it cannot have.

    The message begins with the name of the field, which ``field`` has too; it never quotes a
    prompt or an answer.
    """

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(field, reason)
        self.field = field
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.field}: {self.reason}"


class InputTypeError(InputError, TypeError):
    """A field of an input, or an option, is of another type than it must be."""


class ModeError(InputError):
    """A call of one runtime mode was brought to the cache of another."""


class TenantError(InputError):
    """A call without a tenant, or of another one, was brought to a cache that insists on it."""


class StoreError(PleachError):
    """A store could not be read or written. What was being written is not there in part."""


class ForeignStoreError(StoreError):
    """A file is an SQLite database of something else, or of a later version of this package."""


class CorruptStoreError(StoreError):
    """A file, or an entry in a store, is damaged or was never one of ours."""


class StoreFullError(StoreError):
    """There is no room: the disk is full, or the file may not grow."""


class ReplayDivergenceError(PleachError, LookupError):
    """A replay asked for a call that was not recorded.

    The message says in which key fields the nearest recorded call of the same tenant differs.
    """

    def __init__(
        self, fingerprint: Fingerprint, nearest: Fingerprint | None = None, reason: str = ""
    ) -> None:
        super().__init__(fingerprint, nearest, reason)
        self.fingerprint = fingerprint
        """The fingerprint that was not found."""
        self.nearest = nearest
        """The recorded one with the fewest fields that differ, or None if there is none."""
        self.reason = reason

    def __str__(self) -> str:
        text = f"no recorded call has the fingerprint {self.fingerprint.hash[:12]}"
        if self.reason:
            return f"{text}: {self.reason}"
        if self.nearest is None:
            return f"{text}; nothing is recorded for this mode and tenant"
        return f"{text}; nearest {self.nearest.hash[:12]}: {self.nearest.diff(self.fingerprint)}"


def wrong_type(field: str, expected: str, value: object) -> InputTypeError:
    """The error for a value of a wrong type; the caller raises it."""
    return InputTypeError(field, f"must be {expected}, not {type_name(value)}")
