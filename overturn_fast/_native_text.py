"""JSON text through the C core: the functions of ``_pure/text.py``, without the GIL.

One cffi call does a whole text. What comes of it lies in a struct of the core, of which a few are
kept for further calls, because making one costs more than a short text does.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable
from typing import Any, Final

from overturn_fast._errors import Status, call_failure, text_failure
from overturn_fast._native import ffi, lib
from overturn_fast._profiles import PROFILES, Profile
from overturn_fast._pure.text import Member, Selection

__all__ = ["call_digest", "canonical_text", "members", "text_digest"]

_ON_HEAP, _FAILED = -1, -2  # OVT_OUTPUT_ON_HEAP, OVT_OUTPUT_FAILED
_END_OF_NAME: Final = b"\xff"  # a byte that UTF-8 never has
_NO_NAME: Final = b"\xfe" + _END_OF_NAME  # a name that no text can have

_IS_CPYTHON: Final = sys.implementation.name == "cpython"

_unpack: Final[Callable[[Any, int], bytes]] = ffi.unpack  # type: ignore[assignment]

_INDEX: Final = {profile.name: index for index, profile in enumerate(PROFILES)}

# Each an ovt_text_output and its storage. Taking one out and putting it back are atomic, so that
# two threads never share one, nor a signal handler and what it interrupted.
_outputs: Final[list[tuple[Any, Any]]] = []


def canonical_text(text: bytes | memoryview, profile: Profile, max_depth: int) -> bytes:
    """The canonical form of a JSON text under a profile, in UTF-8."""
    held = text if isinstance(text, bytes) else ffi.from_buffer(text)
    output, storage = taken = _taken_output()
    length = lib.ovt_text_canonical(output, _INDEX[profile.name], held, len(text), max_depth)
    try:
        if length >= 0:
            return _unpack(storage, length)
        if length == _FAILED:
            raise _failure(output, text, max_depth)
        return _taken_bytes(output)
    finally:
        _outputs.append(taken)


def text_digest(
    prefix: bytes,
    text: bytes | memoryview,
    profile: Profile,
    max_depth: int,
    selection: Selection | None,
) -> str:
    """The SHA-256, in hexadecimal, of a prefix and the canonical form of what is selected."""
    held = text if isinstance(text, bytes) else ffi.from_buffer(text)
    names, drops = b"", False
    if selection is not None:
        names, drops = _joined_names(selection), selection.drops
    output, storage = taken = _taken_output()
    length = lib.ovt_text_digest(
        output,
        _INDEX[profile.name],
        prefix,
        len(prefix),
        held,
        len(text),
        max_depth,
        names,
        len(names),
        drops,
    )
    try:
        if length == _FAILED:
            raise _failure(output, text, max_depth)
        return _unpack(storage, length).decode("ascii")
    finally:
        _outputs.append(taken)


def call_digest(text: bytes | memoryview, max_depth: int) -> str:
    """The fingerprint of a recorded call: an object with ``name``, ``args`` and the like."""
    held = text if isinstance(text, bytes) else ffi.from_buffer(text)
    output, storage = taken = _taken_output()
    length = lib.ovt_text_call(output, held, len(text), max_depth)
    try:
        if length == _FAILED:
            raise _failure(output, text, max_depth)
        return _unpack(storage, length).decode("ascii")
    finally:
        _outputs.append(taken)


def members(text: bytes | memoryview, max_depth: int) -> list[Member]:
    """The members of the object that a text consists of; none if it is another value."""
    held = text if isinstance(text, bytes) else ffi.from_buffer(text)
    output, _ = taken = _taken_output()
    length = lib.ovt_text_members(output, held, len(text), max_depth)
    try:
        if length == _FAILED:
            raise _failure(output, text, max_depth)
        if length >= 0:
            return []
        spans = _taken_bytes(output)
    finally:
        _outputs.append(taken)
    return [Member._make(offsets) for offsets in struct.iter_unpack("4N", spans)]


def _taken_output() -> tuple[Any, Any]:
    try:
        return _outputs.pop()
    except IndexError:
        output = ffi.gc(ffi.new("ovt_text_output *"), lib.ovt_text_close)
        return output, ffi.addressof(output, "storage", 0)


def _taken_bytes(output: Any) -> bytes:
    """A result on the heap, which is then no longer held there."""
    if not _IS_CPYTHON:
        try:
            return _unpack(output.data, output.length)
        finally:
            lib.ovt_text_release(output)
    try:
        result = bytes(output.length)
    except MemoryError:
        lib.ovt_text_release(output)
        raise
    # Nobody else has seen this object: its bytes are filled in here, without the GIL.
    lib.ovt_text_take(output, ffi.from_buffer(result))
    return result


def _joined_names(selection: Selection) -> bytes:
    """The names as ``ovt_text_digest`` takes them."""
    encoded = [str.encode(name, "utf-8", "surrogatepass") for name in selection.names]
    if not encoded and not selection.drops:
        return _NO_NAME
    return b"".join(name + _END_OF_NAME for name in encoded)


def _failure(output: Any, text: bytes | memoryview, max_depth: int) -> Exception:
    if output.status == Status.NO_MEMORY:
        return MemoryError()
    if output.status == Status.CALL:
        return call_failure(output.reason, output.field, output.item, output.offset, text)
    return text_failure(output.reason, output.offset, text, max_depth)
