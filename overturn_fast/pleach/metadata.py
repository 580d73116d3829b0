"""The identity of a call: what the ledger joins by, and what is never a part of the key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from overturn_fast.pleach.errors import InputError, wrong_type
from overturn_fast.pleach.fields import (
    IDENTITY_FIELDS,
    FingerprintInput,
    IdentityFields,
    camel_case,
    checked_text,
    read_input,
    snake_case,
)

__all__ = ["FingerprintMetadata", "build_metadata"]


@dataclass(frozen=True, slots=True)
class FingerprintMetadata(IdentityFields):
    """Which call this one is, beside which calls are like it: the ten identity fields, by keyword.

    None stands for an absent field.

    Raises:
        InputError: A field is empty, or holds a lone surrogate.
        InputTypeError: A field is no str.

    Source: the fingerprint contract, "What's deliberately OUT of the key".
    """

    def __post_init__(self) -> None:
        for name in IDENTITY_FIELDS:
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, checked_text(camel_case(name), value))

    def to_dict(self) -> dict[str, str]:
        """The fields that are present, by their names in camelCase.

        >>> FingerprintMetadata(chat_id="chat_abc").to_dict()
        {'chatId': 'chat_abc'}
        """
        values = ((name, getattr(self, name)) for name in IDENTITY_FIELDS)
        return {camel_case(name): value for name, value in values if value is not None}

    @classmethod
    def from_dict(cls, mapping: Mapping[Any, Any]) -> FingerprintMetadata:
        """The metadata that ``to_dict`` described, in either spelling.

        Raises:
            InputError: A field is unknown or wrong.
        """
        if not isinstance(mapping, Mapping):
            raise wrong_type("metadata", "a mapping", mapping)
        fields: dict[str, Any] = {}
        for key, value in mapping.items():
            name = snake_case(key) if isinstance(key, str) else ""
            if name not in IDENTITY_FIELDS:
                raise InputError("metadata", "has a field that is none of an identity")
            fields[name] = value
        return cls(**fields)


def build_metadata(
    input: FingerprintInput | Mapping[str, Any] | None = None, **fields: Any
) -> FingerprintMetadata:
    """The identity fields of a call, and nothing else of it.

    Args:
        input: As for ``compute_fingerprint``.
        **fields: As for ``compute_fingerprint``.

    Raises:
        InputError: An identity field is empty, or a field is unknown or missing.
        InputTypeError: An identity field is no str.

    Source: the fingerprint contract, "buildMetadata".

    >>> build_metadata(
    ...     model="m", family="f", call_class="c", runtime_mode="interactive", messages=[],
    ...     session_id="session_1",
    ... ).to_dict()
    {'sessionId': 'session_1'}
    """
    return metadata_of(read_input(input, fields))


def metadata_of(call: FingerprintInput) -> FingerprintMetadata:
    """``build_metadata`` with its arguments read."""
    return FingerprintMetadata(**{name: getattr(call, name) for name in IDENTITY_FIELDS})
