"""The fingerprint of a call of a language model: which calls may share one answer."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from overturn_fast._backend import engine
from overturn_fast._errors import CanonicalizationError
from overturn_fast._pure.strings import utf16_order
from overturn_fast.pleach.canonical import digest_of, in_field, text_digest
from overturn_fast.pleach.catalog import SystemPrompt, ToolCatalog, in_tools, tools_digest
from overturn_fast.pleach.errors import InputError, TenantError, wrong_type
from overturn_fast.pleach.fields import (
    FIELD_POSITIONS,
    FingerprintConfig,
    FingerprintInput,
    camel_case,
    checked_policies,
    checked_seed,
    checked_text,
    read_input,
)
from overturn_fast.pleach.modes import RuntimeMode, member_of
from overturn_fast.pleach.temperature import bucket, checked_temperature

__all__ = ["Fingerprint", "compute_fingerprint", "is_cache_eligible"]


@dataclass(frozen=True, slots=True, eq=False)
class Fingerprint:
    """Which calls are interchangeable: those whose fingerprints have one ``hash``.

    It compares and hashes by ``hash``, and has the key fields of which that is made; None stands
    for one that is absent. ``compute_fingerprint`` makes it.

    Source: the fingerprint contract, "What's IN the key".
    """

    hash: str
    """The SHA-256 of the canonical object of the key fields that are present."""
    model: str
    prompt_hash: str
    """Of the messages."""
    tools_hash: str
    """Of the tools, sorted; of ``[]`` if there are none."""
    family: str
    call_class: str
    runtime_mode: RuntimeMode
    pleach_version: str
    system_prompt_hash: str | None = None
    temperature_bucket: float | None = None
    seed: int | None = None
    tenant_id: str | None = None
    safety_policies_hash: str | None = None

    def __eq__(self, other: object) -> bool:
        return self.hash == other.hash if isinstance(other, Fingerprint) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.hash)

    def __str__(self) -> str:
        return self.hash

    def to_dict(self) -> dict[str, Any]:
        """The hash and the key fields that are present, by their names in camelCase: JSON types.

        >>> fingerprint = compute_fingerprint(
        ...     model="m", family="f", call_class="c", runtime_mode="interactive", messages=[]
        ... )
        >>> Fingerprint.from_dict(fingerprint.to_dict()) == fingerprint
        True
        """
        return {"hash": self.hash, **self._key()}

    @classmethod
    def from_dict(cls, mapping: Mapping[Any, Any]) -> Fingerprint:
        """The fingerprint that ``to_dict`` described, in either spelling.

        Raises:
            InputError: A field is unknown, missing or wrong, or the hash is not that of the fields.
        """
        if not isinstance(mapping, Mapping):
            raise wrong_type("fingerprint", "a mapping", mapping)
        fields: dict[str, Any] = {}
        for key, value in mapping.items():
            name = _NAMES.get(key) if isinstance(key, str) else None
            if name is None:
                raise InputError("fingerprint", "has a field that is none of a fingerprint")
            if name in fields:
                raise InputError(camel_case(name), "is given in two spellings")
            fields[name] = value
        return _from_fields(fields)

    def diff(self, other: Fingerprint) -> str:
        """Which key fields differ, from this fingerprint to another, in words.

        Hashes are shortened. It is empty if none differs.

        Raises:
            InputTypeError: ``other`` is no Fingerprint.

        >>> call = FingerprintInput("m", "f", "c", "interactive", [], temperature=0.7)
        >>> warmer = compute_fingerprint(call, temperature=0.8)
        >>> compute_fingerprint(call).diff(warmer)
        'temperatureBucket 0.7 -> 0.8'
        """
        _check_fingerprint(other)
        return ", ".join(
            f"{camel_case(name)} {_shown(name, mine, theirs)} -> {_shown(name, theirs, mine)}"
            for name in KEY_FIELDS
            if (mine := getattr(self, name)) != (theirs := getattr(other, name))
        )

    def distance(self, other: Fingerprint) -> int:
        """How many key fields differ.

        Raises:
            InputTypeError: ``other`` is no Fingerprint.
        """
        _check_fingerprint(other)
        return sum(getattr(self, name) != getattr(other, name) for name in KEY_FIELDS)

    def in_mode(self, mode: RuntimeMode | str) -> Fingerprint:
        """The fingerprint of the same call in another runtime mode.

        Raises:
            InputError: There is no such mode.
        """
        mode = member_of(RuntimeMode, mode, "runtimeMode")
        if mode is self.runtime_mode:
            return self
        moved = dataclasses.replace(self, runtime_mode=mode)
        return dataclasses.replace(moved, hash=digest_of("fingerprint", moved._key()))

    def _key(self) -> dict[str, Any]:
        """The object that is hashed: the fields that are present."""
        key: dict[str, Any] = {}
        for name, spelled in _SPELLED:
            value = getattr(self, name)
            if value is not None:
                key[spelled] = value
        key["runtimeMode"] = self.runtime_mode.value
        return key


KEY_FIELDS: Final = (
    "model",
    "family",
    "call_class",
    "runtime_mode",
    "tenant_id",
    "pleach_version",
    "system_prompt_hash",
    "tools_hash",
    "prompt_hash",
    "safety_policies_hash",
    "temperature_bucket",
    "seed",
)
"""The fields that a fingerprint's hash is made of, in the order in which differences are told."""

_SPELLED: Final = tuple((name, camel_case(name)) for name in KEY_FIELDS)
_ALL: Final = ("hash", *KEY_FIELDS)
_NAMES: Final = {name: name for name in _ALL} | {camel_case(name): name for name in _ALL}
_HASHES: Final = ("prompt_hash", "tools_hash", "system_prompt_hash", "safety_policies_hash")
_SHORT: Final = 8  # digits of a hash in a message
_DEFAULT: Final = FingerprintConfig()


def compute_fingerprint(
    input: FingerprintInput | Mapping[str, Any] | None = None,
    config: FingerprintConfig | None = None,
    **fields: Any,
) -> Fingerprint:
    """The fingerprint of a call: a pure function of the fields that decide its answer.

    Args:
        input: The call: a ``FingerprintInput``, or a mapping whose keys are spelled as its fields
            or in camelCase. It is not changed.
        config: How fingerprints are made.
        **fields: Fields of the call, in either spelling, instead of an input or over it.

    Returns:
        The fingerprint. The order of keys, tools and policies makes no difference.

    Raises:
        InputError: A field is missing or has a value that it cannot have; ``field`` names it.
        InputTypeError: A field is of another type than it must be.
        TenantError: The config requires a tenant, and there is none.
        CanonicalizationError: Messages or tools have no canonical form; the message names the path
            of the part that has none: ``messages[0].content``.

    Source: the fingerprint contract, "Computing a fingerprint".

    >>> fingerprint = compute_fingerprint(
    ...     model="claude-sonnet-4-5",
    ...     family="anthropic",
    ...     call_class="synthesize",
    ...     runtime_mode="interactive",
    ...     messages=[{"role": "user", "content": "Hello"}],
    ...     system_prompt="You are helpful.",
    ...     tools=[{"name": "web", "x": 1}, {"name": "calc"}],
    ...     temperature=0.7,
    ...     seed=42,
    ...     tenant_id="org_abc",
    ...     active_safety_policies=[{"id": "compliance.pii-redaction", "version": "1.2.0"}],
    ... )
    >>> fingerprint.hash
    'e724193cb30452a2239cb45e932421469d59a2903394320dfb7605d5fa1557c6'
    """
    config = checked_config(config)
    if input is None:
        input = fields
    elif fields or type(input) is not dict:
        input = read_input(input, fields)
    return _short_way(input, config) or _by_steps(read_input(input, {}), config)


def fingerprint_of(call: FingerprintInput, config: FingerprintConfig) -> Fingerprint:
    """``compute_fingerprint`` with its arguments read."""
    return _short_way(call, config) or _by_steps(call, config)


def _short_way(
    call: FingerprintInput | Mapping[str, Any], config: FingerprintConfig
) -> Fingerprint | None:
    """The fingerprint of a usual call, from the C core; None for another, or one that is wrong.

    Only what has no canonical form is an error here already, lest its hooks run twice.
    """
    fingerprint: Fingerprint | None = engine.call_fingerprint(
        _KINDS, call, config.pleach_version, config.temperature_precision, config.max_depth
    )
    if fingerprint is not None:
        _check_limits(fingerprint, config)
    return fingerprint


def _by_steps(call: FingerprintInput, config: FingerprintConfig) -> Fingerprint:
    """Every step in full, for any call."""
    messages, depth = call.messages, config.max_depth
    if not isinstance(messages, (list, tuple)):
        raise wrong_type("messages", "a list or tuple", messages)
    fingerprint = Fingerprint(
        hash="",
        runtime_mode=member_of(RuntimeMode, call.runtime_mode, "runtimeMode"),
        model=checked_text("model", call.model),
        family=checked_text("family", call.family),
        call_class=checked_text("callClass", call.call_class),
        pleach_version=config.pleach_version,
        prompt_hash=digest_of("messages", messages, depth),
        tools_hash=tools_digest(call.tools, depth),
        tenant_id=None if call.tenant_id is None else checked_text("tenantId", call.tenant_id),
        system_prompt_hash=_system_prompt_digest(call.system_prompt),
        temperature_bucket=_bucket_of(call.temperature, config.temperature_precision),
        seed=None if call.seed is None else checked_seed(call.seed),
        safety_policies_hash=_policies_digest(call.active_safety_policies),
    )
    _check_limits(fingerprint, config)
    object.__setattr__(fingerprint, "hash", digest_of("fingerprint", fingerprint._key()))
    return fingerprint


def _check_limits(fingerprint: Fingerprint, config: FingerprintConfig) -> None:
    """Refuse what the config closes out."""
    closed_sets = (
        ("family", fingerprint.family, config.families),
        ("callClass", fingerprint.call_class, config.call_classes),
    )
    for field, value, names in closed_sets:
        if names is not None and value not in names:
            raise InputError(field, f"must be one of {', '.join(sorted(names))}")
    if config.require_tenant and fingerprint.tenant_id is None:
        raise TenantError("tenantId", "is missing, and the config requires it")


def is_cache_eligible(temperature: float | None = None, seed: int | None = None) -> bool:
    """Whether a call is deterministic, so that its answer may be kept and served again.

    Args:
        temperature: Exactly 0 makes a call deterministic, whatever the bucket of another is.
        seed: Any int does, 0 too.

    Raises:
        InputError: The temperature is not finite, or the seed past 2**53 - 1.
        InputTypeError: One of them is of another type; a bool is no number.

    Source: the fingerprint contract, "isCacheEligible".

    >>> is_cache_eligible(temperature=0), is_cache_eligible(0.7), is_cache_eligible(0.7, seed=0)
    (True, False, True)
    """
    is_greedy = temperature is not None and checked_temperature(temperature) == 0
    return (seed is not None and checked_seed(seed) is not None) or is_greedy


def checked_config(config: Any) -> FingerprintConfig:
    """A config, the default one in the place of None."""
    if config is None:
        return _DEFAULT
    if not isinstance(config, FingerprintConfig):
        raise wrong_type("config", "a FingerprintConfig", config)
    return config


def _system_prompt_digest(prompt: Any) -> str | None:
    if prompt is None or isinstance(prompt, SystemPrompt):
        return None if prompt is None else prompt.hash
    return text_digest("systemPrompt", prompt)


def _bucket_of(temperature: Any, precision: int) -> float | None:
    return None if temperature is None else bucket(checked_temperature(temperature), precision)


def _policies_digest(policies: Any) -> str | None:
    """The hash of safety policies; None if there are none."""
    checked = () if policies is None else checked_policies(policies)
    return _checked_policies_digest(checked) if checked else None


@functools.lru_cache(maxsize=256)
def _checked_policies_digest(policies: tuple[tuple[str, str], ...]) -> str:
    ordered = sorted(set(policies), key=lambda pair: (utf16_order(pair[0]), utf16_order(pair[1])))
    return digest_of("activeSafetyPolicies", [f"{name}@{version}" for name, version in ordered])


def _from_fields(fields: dict[str, Any]) -> Fingerprint:
    """A fingerprint whose fields are all of their types, and whose hash is theirs."""
    for name in ("hash", "model", "family", "call_class", "pleach_version", *_HASHES[:2]):
        checked_text(camel_case(name), fields.get(name))
    for name in ("tenant_id", *_HASHES[2:]):
        if fields.get(name) is not None:
            checked_text(camel_case(name), fields[name])
    if fields.get("seed") is not None:
        checked_seed(fields["seed"])
    if fields.get("temperature_bucket") is not None:
        fields["temperature_bucket"] = checked_temperature(fields["temperature_bucket"])
    mode = member_of(RuntimeMode, fields.get("runtime_mode"), "runtimeMode")
    fingerprint = Fingerprint(**{**fields, "runtime_mode": mode})
    if digest_of("fingerprint", fingerprint._key()) != fingerprint.hash:
        raise InputError("hash", "is not that of the fields")
    return fingerprint


def _check_fingerprint(other: object) -> None:
    if not isinstance(other, Fingerprint):
        raise wrong_type("other", "a Fingerprint", other)


def _shown(name: str, value: Any, beside: Any) -> str:
    """A field's value in a message; a hash is shortened where the start tells it from another."""
    if value is None:
        return "absent"
    if name in _HASHES:
        short = str(value)[:_SHORT]
        return short if short != str(beside)[:_SHORT] else str(value)
    if isinstance(value, RuntimeMode):
        return value.value
    if isinstance(value, str):
        return value if value.isprintable() and " " not in value else ascii(value)
    return f"{value:g}" if isinstance(value, float) and value == float(f"{value:g}") else str(value)


def _locate(error: Exception, ordered: Any, given: Any) -> None:
    """Put the field that has no canonical form into an error: the messages, or a tool."""
    if isinstance(error, CanonicalizationError):
        if ordered is None:
            in_field(error, "messages")
        else:
            in_tools(error, ordered, given)


# What the short way needs to know; see call_fingerprint in overturn_fast/_pure/call_key.py.
_KINDS: Final = (
    Fingerprint,
    ToolCatalog,
    SystemPrompt,
    {mode.value: mode for mode in RuntimeMode},
    FIELD_POSITIONS,
    _policies_digest,
    _locate,
)
