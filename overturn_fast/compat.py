"""The fingerprints of the Overturn Python SDK 0.1.4, bug for bug.

The names of ``overturn.fingerprint``. For every input on which the SDK returns a value this module
returns the same one, so that cases recorded with the SDK keep matching: a UUID, bytes or a date is
``null``, ``True`` as a key is ``True``, sets go in the order of their iteration. For every input on
which the SDK raises this module does what the default profile does: it returns the value of
``overturn_fast``, or raises its error. ``docs/compat.md`` lists the differences between the two.

    >>> import uuid
    >>> from overturn_fast import canonical_json, compat
    >>> compat.canonical_json({"id": uuid.UUID(int=1)})
    '{"id":null}'
    >>> canonical_json({"id": uuid.UUID(int=1)})
    '{"id":"00000000-0000-0000-0000-000000000001"}'
"""

from __future__ import annotations

from typing import Final

from overturn_fast._backend import engine
from overturn_fast._selection import select_as_sdk

FINGERPRINT_VERSION: Final = 1
"""The version of the Overturn contract that the SDK states."""

canonical_json = engine.compat_canonical_json
fingerprint = engine.compat_fingerprint
hash_json = engine.compat_hash_json
select_args = select_as_sdk
tool_fingerprint = engine.compat_tool_fingerprint

__all__ = [
    "FINGERPRINT_VERSION",
    "canonical_json",
    "fingerprint",
    "hash_json",
    "select_args",
    "tool_fingerprint",
]
