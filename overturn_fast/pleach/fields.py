"""What a call is described by: the fields of an input, in both spellings, and how to read them."""

from __future__ import annotations

import dataclasses
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from overturn_fast._arguments import DEFAULT_MAX_DEPTH, checked_depth
from overturn_fast._pure.strings import has_surrogate, join_surrogates
from overturn_fast.pleach.catalog import SystemPrompt, ToolCatalog
from overturn_fast.pleach.errors import InputError, wrong_type
from overturn_fast.pleach.modes import RuntimeMode
from overturn_fast.pleach.temperature import checked_precision

__all__ = ["PLEACH_CORE_VERSION", "FingerprintConfig", "FingerprintInput"]

PLEACH_CORE_VERSION: Final = "1.1.0"
"""The version of the substrate, a part of every key: after an upgrade nothing old is served."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityFields:
    """The fields of a call that say which call it is, and are never a part of its key.

    Source: the fingerprint contract, "What's deliberately OUT of the key".
    """

    chat_id: str | None = None
    session_id: str | None = None
    message_id: str | None = None
    user_id: str | None = None
    org_id: str | None = None
    environment_id: str | None = None
    workspace_id: str | None = None
    eval_run_id: str | None = None
    replay_of_event_id: str | None = None
    recorded_at: str | None = None
    """The time of the call, as text in ISO 8601."""


@dataclass(frozen=True, slots=True)
class FingerprintInput(IdentityFields):
    """A call of a language model: the fields that decide its answer, and those that identify it.

    None stands for a field that is absent. The fields are checked when a fingerprint is made; those
    of its identity are given by keyword. Where a mapping stands for an input, its keys may also be
    spelled in camelCase.

    Source: the fingerprint contract, "The key/metadata split".
    """

    model: str
    family: str
    """Of tokenizer and tool dialect: ``anthropic``."""
    call_class: str
    """What kind of call it is: ``synthesize``."""
    runtime_mode: RuntimeMode | str
    messages: Sequence[Any]
    """A list or tuple of JSON values."""
    system_prompt: str | SystemPrompt | None = None
    tools: Sequence[Mapping[str, Any]] | ToolCatalog | None = None
    """Mappings with a ``name`` each, in any order."""
    temperature: float | None = None
    seed: int | None = None
    tenant_id: str | None = None
    active_safety_policies: Sequence[Mapping[str, str] | tuple[str, str]] | None = None
    """Mappings with ``id`` and ``version``, or pairs of the two, in any order."""

    @classmethod
    def from_mapping(cls, mapping: Mapping[Any, Any]) -> FingerprintInput:
        """An input from a mapping whose keys are field names in either spelling.

        Raises:
            InputError: A key is no field's name, a field is there twice, or one is missing that
                must be there.

        >>> FingerprintInput.from_mapping({
        ...     "model": "m", "family": "f", "callClass": "c", "runtimeMode": "interactive",
        ...     "messages": [],
        ... }).call_class
        'c'
        """
        fields: dict[str, Any] = {}
        for key, value in mapping.items():
            name = _FIELD_NAMES.get(key) if isinstance(key, str) else None
            if name is None:
                raise InputError(_shown(key), "is no field of a call")
            if name in fields:
                raise InputError(camel_case(name), "is given in two spellings")
            fields[name] = value
        for name in _REQUIRED:
            if fields.get(name) is None:
                raise InputError(camel_case(name), "is missing")
        return cls(**fields)


@dataclass(frozen=True, slots=True)
class FingerprintConfig:
    """How fingerprints are made.

    Source: the fingerprint contract, "Temperature bucketing" and "PLEACH_CORE_VERSION".

    >>> FingerprintConfig(temperature_precision=16)
    Traceback (most recent call last):
        ...
    overturn_fast.pleach.errors.InputError: temperaturePrecision: must be from 0 to 15
    """

    temperature_precision: int = 1
    """Decimal digits that are left of a temperature: 0 to 15."""
    pleach_version: str = PLEACH_CORE_VERSION
    """Another one is of use in tests."""
    families: frozenset[str] | None = None
    """The values that ``family`` may have; None for any."""
    call_classes: frozenset[str] | None = None
    """The values that ``callClass`` may have; None for any."""
    require_tenant: bool = False
    """Whether a call without a tenant is an error."""
    max_depth: int = DEFAULT_MAX_DEPTH
    """How many levels of containers messages and tools may be nested."""

    def __post_init__(self) -> None:
        checked_precision(self.temperature_precision)
        checked_text("pleachVersion", self.pleach_version)
        checked_depth(self.max_depth)
        if not isinstance(self.require_tenant, bool):
            raise wrong_type("requireTenant", "a bool", self.require_tenant)
        for field, names in (("families", self.families), ("callClasses", self.call_classes)):
            if isinstance(names, str):
                raise wrong_type(field, "a set of str", names)
            if names is not None:
                checked = frozenset(checked_text(f"{field}[*]", name) for name in names)
                object.__setattr__(self, snake_case(field), checked)


def camel_case(name: str) -> str:
    """The spelling of a field's name in what is hashed and in messages."""
    head, *tail = name.split("_")
    return head + "".join(part.capitalize() for part in tail)


def snake_case(name: str) -> str:
    """The spelling of a field's name in Python."""
    return re.sub("[A-Z]", lambda letter: "_" + letter.group().lower(), name)


def _names(described: type) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(described))


IDENTITY_FIELDS: Final = _names(IdentityFields)
"""The fields of an input that say which call it is, and are never a part of its key."""

_FIELDS: Final = _names(FingerprintInput)
_FIELD_NAMES: Final = {name: name for name in _FIELDS} | {camel_case(n): n for n in _FIELDS}
_IN_ORDER: Final = (*(n for n in _FIELDS if n not in IDENTITY_FIELDS), *IDENTITY_FIELDS)
FIELD_POSITIONS: Final = {spelled: _IN_ORDER.index(name) for spelled, name in _FIELD_NAMES.items()}
"""The places of an input's fields, those that make the key first, by their names as they may be
spelled."""

_SAFE: Final = 2**53 - 1  # up to which every int is a double of its own
_REQUIRED: Final = ("model", "family", "call_class", "runtime_mode", "messages")


def read_input(
    given: FingerprintInput | Mapping[str, Any] | None,
    fields: Mapping[str, Any],
    default_mode: RuntimeMode | None = None,
) -> FingerprintInput:
    """The input that an argument, keyword arguments or both stand for.

    ``default_mode`` is the runtime mode of a mapping that has none.
    """
    if type(given) is FingerprintInput and not fields:
        return given
    if given is None:
        merged = dict(fields)
    elif isinstance(given, FingerprintInput):
        values = {name: getattr(given, name) for name in _FIELDS}
        merged = {**values, **_in_snake_case(fields)}
    elif isinstance(given, Mapping):
        merged = {**given, **fields}
    else:
        raise wrong_type("input", "a FingerprintInput or a mapping", given)
    if default_mode is not None and not {"runtime_mode", "runtimeMode"} & merged.keys():
        merged["runtime_mode"] = default_mode
    return FingerprintInput.from_mapping(merged)


def _in_snake_case(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {_FIELD_NAMES.get(name, name): value for name, value in fields.items()}


def checked_text(field: str, value: Any) -> str:
    """A field that is text, as an exact str that is not empty.

    Raises:
        InputError: It is empty, or holds a lone surrogate.
        InputTypeError: It is no str.
    """
    if type(value) is str and value and value.isascii():
        return value
    if not isinstance(value, str):
        raise wrong_type(field, "a str", value)
    text = join_surrogates(str.__str__(value))
    if not text:
        raise InputError(field, "must not be empty")
    if has_surrogate(text):
        raise InputError(field, "must not hold a lone surrogate")
    return text


def checked_seed(value: Any) -> int:
    """A seed as an exact int.

    Raises:
        InputError: It is past 2**53 - 1 in magnitude, where two seeds could have one text.
        InputTypeError: It is no int; a bool is none.
    """
    if type(value) is int and -_SAFE <= value <= _SAFE:
        return value
    if isinstance(value, bool) or not isinstance(value, int):
        raise wrong_type("seed", "an int", value)
    seed = int.__int__(value)
    if abs(seed) > _SAFE:
        raise InputError("seed", "must not be past 2**53 - 1, where doubles are no longer exact")
    return seed


def checked_policies(policies: Any) -> tuple[tuple[str, str], ...]:
    """The ``(id, version)`` pairs of safety policies, in the order they are given.

    Raises:
        InputError: One of them is incomplete; or a version holds an ``@``, with which two
            different policies could have one text.
        InputTypeError: It is no list or tuple, or one of them is no mapping or pair.
    """
    if not isinstance(policies, (list, tuple)):
        raise wrong_type("activeSafetyPolicies", "a list or tuple", policies)
    return tuple([_checked_policy(index, policy) for index, policy in enumerate(policies)])


def _checked_policy(index: int, policy: Any) -> tuple[str, str]:
    if type(policy) is dict or isinstance(policy, Mapping):
        identifier, version = policy.get("id"), policy.get("version")
    elif isinstance(policy, tuple) and len(policy) == 2:
        identifier, version = policy
    else:
        raise wrong_type(f"activeSafetyPolicies[{index}]", "a mapping with id and version", policy)
    pair = (_policy_text(index, "id", identifier), _policy_text(index, "version", version))
    if "@" in pair[1]:
        raise InputError(f"activeSafetyPolicies[{index}].version", 'must not contain "@"')
    return pair


def _policy_text(index: int, part: str, value: Any) -> str:
    if type(value) is str and value and value.isascii():
        return value
    field = f"activeSafetyPolicies[{index}].{part}"
    if value is None:
        raise InputError(field, "is missing")
    return checked_text(field, value)


def time_of(clock: Callable[[], float]) -> float:
    """What a clock says, in seconds since 1970.

    Raises:
        InputError: That is no finite number.
        InputTypeError: It is no number at all.
    """
    now = clock()
    if isinstance(now, bool) or not isinstance(now, (int, float)):
        raise wrong_type("clock", "a function that returns a number", now)
    if not abs(now) <= sys.float_info.max:
        raise InputError("clock", "must return a finite number")
    return float(now)


def _shown(key: Any) -> str:
    """A key as a person may read it in a message."""
    if not isinstance(key, str):
        return f"a key of type {type(key).__name__}"
    return key if key.isidentifier() and len(key) <= 80 else ascii(key[:80])
