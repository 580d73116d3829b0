"""What a Python value is to a shape: a type, a mapping or a sequence, one node at a time.

Both backends know ``None``, ``bool``, ``str``, ``int`` and ``float`` (subclasses too), exact
``list`` and ``tuple``, and exact ``dict`` whose keys are exact ``str``, and ask a function of this
module about any other value.
"""

from __future__ import annotations

import re
from collections import UserString
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from overturn_fast._convert import Pairs
from overturn_fast._errors import KeyFailure, ReadFailure, type_name
from overturn_fast._profiles import OVERTURN
from overturn_fast._pure.canonical import canonical_text
from overturn_fast._pure.strings import join_surrogates, quote

__all__ = ["PLAIN_KEY", "SEED_ITEMS", "VIEWS", "OrderedPairs", "View", "json_type"]

View = str | Pairs | list[object]
"""The name of a type, the members of an object, or the items of an array that count."""


class OrderedPairs(Pairs):
    """Members that stay in this order, which need not be that of their keys' texts."""

    __slots__ = ()


SEED_ITEMS: Final = 5
"""How many items of an array count under the profile ``seed``."""

PLAIN_KEY: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
"""Keys that stand in a path of the profile ``v2`` as they are."""

_PLAIN_TYPE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")


def seed_view(value: object) -> View:
    """What the essay's sketch makes of a value, by the same questions in the same order."""
    try:
        name = json_type(value)
        if name is not None:
            return name
        if isinstance(value, Mapping):
            return _seed_pairs(value)
        if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
            return list(value[:SEED_ITEMS])
        return str(type(value).__name__)
    except (ReadFailure, KeyFailure):
        raise
    except Exception as error:
        raise ReadFailure from error


def v2_view(value: object) -> View:
    """What the profile ``v2`` makes of a value: types that JSON lacks have names of their own."""
    try:
        name = json_type(value)
        if name is not None:
            return name
        if isinstance(value, UserString):
            return "string"
        if isinstance(value, Mapping):
            return _v2_pairs(value)
        if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray, memoryview)):
            return list(value)
        return _marked(type_name(value))
    except (ReadFailure, KeyFailure):
        raise
    except Exception as error:
        raise ReadFailure from error


VIEWS: Final[dict[str, Callable[[object], View]]] = {"seed": seed_view, "v2": v2_view}


def json_type(value: object) -> str | None:
    """The name of the type of a value that is no container in JSON; None for any other value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, (int, float)):
        return "number"
    return "string" if isinstance(value, str) else None


def _seed_pairs(mapping: Mapping[Any, object]) -> Pairs:
    """The members in the order of their keys, whose texts are what an f-string makes of them."""
    keys = list(mapping)
    if type(mapping) is dict and all(type(key) is str for key in keys):
        return Pairs(mapping.items())  # to be sorted by whoever needs them so
    if all(isinstance(key, str) for key in keys):
        keys.sort(key=str.__str__)
        return OrderedPairs((str.__str__(key), mapping[key]) for key in keys)
    try:
        keys.sort()
    except TypeError as error:
        raise KeyFailure("its keys cannot be sorted") from error
    return OrderedPairs((str.__str__(f"{key}"), mapping[key]) for key in keys)


def _v2_pairs(mapping: Mapping[Any, object]) -> Pairs:
    """The members by the texts that their keys have in JSON; of two with one text the last."""
    by_text = {_v2_key(key): value for key, value in mapping.items()}
    return Pairs(by_text.items())


def _v2_key(key: object) -> str:
    if isinstance(key, str):
        return join_surrogates(str.__str__(key))
    if key is None or isinstance(key, (bool, int, float)):
        return canonical_text(key, OVERTURN, None, 1)
    raise KeyFailure(f"a key of type {type_name(key)} has no text")


def _marked(name: str) -> str:
    """The name of a type that is not JSON's, so that no other name can be taken for it.

    >>> _marked("decimal.Decimal")
    '<decimal.Decimal>'
    """
    return f"<{name if _PLAIN_TYPE.fullmatch(name) else quote(name)}>"
