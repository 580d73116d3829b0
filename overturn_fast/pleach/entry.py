"""What a store keeps for a fingerprint, and how it is written as bytes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from overturn_fast.pleach.errors import CorruptStoreError
from overturn_fast.pleach.fingerprint import Fingerprint
from overturn_fast.pleach.metadata import FingerprintMetadata

__all__ = ["Entry", "read_fingerprint", "read_metadata"]


@dataclass(frozen=True, slots=True)
class Entry:
    """An answer that was kept.

    ``value`` is JSON text in UTF-8, or bytes as they were given if ``is_json`` is false. Nothing is
    pickled: reading a store that somebody else wrote runs no code.
    """

    fingerprint: Fingerprint
    value: bytes
    is_json: bool
    created: float
    """When it was recorded, in seconds since 1970."""
    metadata: FingerprintMetadata | None = None

    @property
    def size(self) -> int:
        """The bytes that count against a store's bound: those of the value."""
        return len(self.value)

    def to_bytes(self) -> bytes:
        """One line of JSON, and then the value."""
        head = {
            "v": 1,
            "fingerprint": self.fingerprint.to_dict(),
            "isJson": self.is_json,
            "created": self.created,
            "metadata": None if self.metadata is None else self.metadata.to_dict(),
        }
        return json.dumps(head, separators=(",", ":")).encode() + b"\n" + self.value

    @classmethod
    def from_bytes(cls, data: object) -> Entry:
        """The entry that ``to_bytes`` wrote.

        Raises:
            CorruptStoreError: It is something else.
        """
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise CorruptStoreError(f"an entry is of type {type(data).__name__}, not bytes")
        head, newline, value = bytes(data).partition(b"\n")
        try:
            fields = json.loads(head)
            if not newline or fields["v"] != 1:
                raise CorruptStoreError("an entry is of another version")
            return cls(
                read_fingerprint(fields["fingerprint"]),
                value,
                bool(fields["isJson"]),
                float(fields["created"]),
                read_metadata(fields["metadata"]),
            )
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise CorruptStoreError("an entry is damaged") from error


def read_fingerprint(mapping: Any) -> Fingerprint:
    """A fingerprint that was stored; InputError if it is none."""
    return Fingerprint.from_dict(mapping)


def read_metadata(mapping: Any) -> FingerprintMetadata | None:
    """Metadata that were stored; InputError if they are none."""
    return None if mapping is None else FingerprintMetadata.from_dict(mapping)
