"""The shape of JSON text by the C core: the functions of ``_pure/shape.py``, without the GIL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from overturn_fast._arguments import SHAPE_PROFILES
from overturn_fast._errors import Status, failure, text_failure
from overturn_fast._native import ffi, lib

__all__ = ["text_shape", "text_shape_digest"]

_FAILED: Final = -1  # OVT_SHAPE_FAILED
_END: Final = b"\xff"  # behind every path and every type

_unpack: Final[Callable[[Any, int], bytes]] = ffi.unpack  # type: ignore[assignment]

_INDEX: Final = {profile: index for index, profile in enumerate(SHAPE_PROFILES)}

# Each an ovt_shape_output. Taking one out and putting it back are atomic.
_outputs: Final[list[Any]] = []


def text_shape(text: bytes | memoryview, profile: str, max_depth: int) -> list[tuple[str, str]]:
    """The rows of the value of a JSON text."""
    parts = _output_of(text, profile, max_depth, digest=False).split(_END)
    decoded = [str(part, "utf-8", "surrogatepass") for part in parts]
    return list(zip(decoded[0:-1:2], decoded[1::2], strict=True))


def text_shape_digest(text: bytes | memoryview, profile: str, max_depth: int) -> str:
    """The digest over the rows of the value of a JSON text."""
    return _output_of(text, profile, max_depth, digest=True).decode("ascii")


def _output_of(text: bytes | memoryview, profile: str, max_depth: int, *, digest: bool) -> bytes:
    held = text if isinstance(text, bytes) else ffi.from_buffer(text)
    output = _taken_output()
    try:
        length = lib.ovt_text_shape(
            output, _INDEX[profile], digest, _SEED, held, len(text), max_depth
        )
        if length == _FAILED:
            if output.status == Status.TEXT:
                raise text_failure(output.reason, output.offset, text, max_depth)
            raise failure(output.status, (), None)
        try:
            return _unpack(output.data, length)
        finally:
            if not digest:
                lib.ovt_shape_release(output)
    finally:
        _outputs.append(output)


def _taken_output() -> Any:
    try:
        return _outputs.pop()
    except IndexError:
        return ffi.new("ovt_shape_output *")


_SEED: Final = hash("overturn_fast") & (2**64 - 1)
"""What keys are hashed with: as hard to foresee as CPython's own hashes of str."""
