"""Values that JSON has no form for: what each becomes, one node at a time.

Both backends write ``str``, ``int`` and ``float`` (subclasses too), ``bool``, ``None``, ``dict``,
``list`` and ``tuple`` themselves and ask a converter of this module for any other single value.
It answers with a value that is looked at afresh, or with one of the marks below.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import fractions
import ipaddress
import pathlib
import types
import uuid
from collections import UserString
from collections.abc import (
    Callable,
    ItemsView,
    Iterator,
    Mapping,
    Sequence,
    Set,
    ValuesView,
)
from typing import Any, Final

from overturn_fast._convert_compat import convert_compat
from overturn_fast._errors import ReadFailure
from overturn_fast._marks import (
    DROPPED,
    NULL,
    UNSUPPORTED,
    Converter,
    Encoder,
    Pairs,
    SetItems,
    Verbatim,
)
from overturn_fast._profiles import COMPAT, JCS, JCS_DOUBLE, MCPULSE, OVERTURN, PLEACH

__all__ = [
    "CONVERTERS",
    "DROPPED",
    "NULL",
    "UNSUPPORTED",
    "Converter",
    "Encoder",
    "Pairs",
    "SetItems",
    "Verbatim",
]


def convert_overturn(value: object, encoder: Encoder | None) -> object:
    """The rules of the Overturn profile for a value that is not a JSON type."""
    return _convert(value, encoder, _convert_any)


def convert_json_mapping(value: object, encoder: Encoder | None) -> object:
    """The rules of RFC 8785's and Pleach's profiles: any Mapping, and nothing else."""
    return _convert(value, encoder, _convert_mapping)


def convert_builtin_only(value: object, encoder: Encoder | None) -> object:
    """The rules of MCPulse's profile: subclasses of dict, list and tuple, and nothing else."""
    return _convert(value, None, lambda _: UNSUPPORTED)


CONVERTERS: Final[dict[str, Converter]] = {
    OVERTURN.name: convert_overturn,
    JCS.name: convert_json_mapping,
    JCS_DOUBLE.name: convert_json_mapping,
    MCPULSE.name: convert_builtin_only,
    PLEACH.name: convert_json_mapping,
    COMPAT.name: convert_compat,
}


def _convert(value: object, encoder: Encoder | None, rules: Callable[[Any], object]) -> object:
    """A subclass of a JSON container as such, then what the encoder says, then the rules.

    What the value's own code raises becomes a ReadFailure, what the encoder raises does not. Nor
    does it say anything of the value that an encoder which calls itself has left no room for this.
    """
    try:
        plain = _container_subclass(value)
    except RecursionError:
        raise
    except Exception as error:
        raise ReadFailure from error
    if plain is not UNSUPPORTED:
        return plain
    if encoder is not None:
        encoded = encoder(value)
        if encoded is not NotImplemented:
            return encoded
    try:
        return rules(value)
    except Exception as error:
        raise ReadFailure from error


def _container_subclass(value: Any) -> object:
    """A subclass of dict, list or tuple, read through its own ``items`` or iteration."""
    cls = type(value)
    if issubclass(cls, dict):
        return _pairs(value)
    if issubclass(cls, (list, tuple)):
        return list(value)
    return UNSUPPORTED


def _pairs(mapping: Any) -> Pairs:
    return Pairs((key, value) for key, value in mapping.items())


def _convert_mapping(value: Any) -> object:
    return _pairs(value) if isinstance(value, Mapping) else UNSUPPORTED


_FUNCTIONS: Final = (
    type,
    types.FunctionType,
    types.MethodType,
    types.BuiltinFunctionType,
    types.MethodWrapperType,
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
    types.ClassMethodDescriptorType,
)

_WITHOUT_FORM: Final = (
    bytes,
    bytearray,
    memoryview,
    complex,
    fractions.Fraction,
    datetime.timedelta,
    BaseException,
    types.ModuleType,
    ItemsView,
    ValuesView,
)

_TEXT_BY_STR: Final = (
    uuid.UUID,
    pathlib.PurePath,
    ipaddress.IPv4Address,
    ipaddress.IPv6Address,
    ipaddress.IPv4Network,
    ipaddress.IPv6Network,
)


def _convert_any(value: Any) -> object:
    if isinstance(value, _FUNCTIONS):
        return DROPPED
    if isinstance(value, datetime.datetime):
        return utc_milliseconds(value)
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, _TEXT_BY_STR):
        return str(value)
    if isinstance(value, decimal.Decimal):
        return _decimal_as_float(value)
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, UserString):
        return value.data
    if isinstance(value, _WITHOUT_FORM):
        return UNSUPPORTED
    numeric = _array_or_scalar(value)
    if numeric is not UNSUPPORTED:
        return numeric
    if isinstance(value, Mapping):
        return _pairs(value)
    if isinstance(value, Set):
        return SetItems(value)
    if isinstance(value, Sequence):
        return list(value)
    if callable(getattr(value, "model_dump", None)):
        return _model(value)
    if dataclasses.is_dataclass(value):
        return dataclass_fields(value)
    if isinstance(value, Iterator):
        return UNSUPPORTED
    return _instance_attributes(value)


def utc_milliseconds(moment: datetime.datetime) -> str:
    """``YYYY-MM-DDTHH:MM:SS.mmmZ`` in UTC; microseconds are cut off, naive is taken as UTC.

    >>> utc_milliseconds(datetime.datetime(2026, 1, 2, 3, 4, 5, 678999))
    '2026-01-02T03:04:05.678Z'
    """
    if moment.utcoffset() is None:
        utc = moment
    else:
        utc = datetime.datetime.astimezone(moment, datetime.timezone.utc)
    return (
        f"{utc.year:04d}-{utc.month:02d}-{utc.day:02d}"
        f"T{utc.hour:02d}:{utc.minute:02d}:{utc.second:02d}.{utc.microsecond // 1000:03d}Z"
    )


def _decimal_as_float(value: decimal.Decimal) -> float:
    return float("nan") if value.is_nan() else float(value)


def _array_or_scalar(value: Any) -> object:
    """A numpy array or scalar (or a tensor that looks like one) as Python objects."""
    cls = type(value)
    if not (hasattr(cls, "dtype") and hasattr(cls, "ndim") and callable(getattr(cls, "tolist", 0))):
        return UNSUPPORTED
    plain = value.item() if value.ndim == 0 else value.tolist()
    return UNSUPPORTED if type(plain) is cls else plain


def _model(value: Any) -> object:
    """What a pydantic model dumps: a mapping, or anything for a model of a single root value."""
    dumped = value.model_dump()
    if isinstance(dumped, Mapping) or getattr(type(value), "__pydantic_root_model__", None) is True:
        return dumped
    return UNSUPPORTED


def dataclass_fields(value: Any) -> dict[str, object]:
    """The fields of a dataclass instance that are set, by name; their values are not converted."""
    names = (field.name for field in dataclasses.fields(value))
    return {name: getattr(value, name) for name in names if hasattr(value, name)}


def mapping_of(value: Any) -> dict[Any, object] | None:
    """A mapping, pydantic model or dataclass as a new dict; None for anything else.

    Raises:
        ReadFailure: code of the value's own type raised; the reason is its ``__cause__``.
    """
    try:
        if isinstance(value, Mapping):
            return dict(value.items())
        if isinstance(value, type):
            return None
        if callable(getattr(value, "model_dump", None)):
            dumped = value.model_dump()
            return dict(dumped.items()) if isinstance(dumped, Mapping) else None
        if dataclasses.is_dataclass(value):
            return dataclass_fields(value)
    except Exception as error:
        raise ReadFailure from error
    return None


def _instance_attributes(value: Any) -> object:
    """The attributes of an instance: its slots, then what ``vars`` gives."""
    slots = [name for cls in reversed(type(value).__mro__) for name in _slot_names(cls)]
    has_dict = hasattr(value, "__dict__")
    if has_dict and not slots:
        return vars(value)
    if not has_dict and not _declares_slots(type(value)):
        return UNSUPPORTED
    attributes = {name: getattr(value, name) for name in slots if hasattr(value, name)}
    if has_dict:
        attributes.update(vars(value))
    return attributes


def _declares_slots(cls: type) -> bool:
    return any("__slots__" in vars(base) for base in cls.__mro__)


def _slot_names(cls: type) -> list[str]:
    """The attributes behind a class's own ``__slots__``, private ones as they are stored."""
    if "__slots__" not in vars(cls):
        return []
    # The descriptors rather than __slots__ itself, which may have been an iterator.
    return [
        name
        for name, attribute in vars(cls).items()
        if isinstance(attribute, types.MemberDescriptorType)
    ]
