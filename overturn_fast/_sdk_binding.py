"""The arguments of a call by name, as ``Tool.bind_args`` of the Overturn SDK gives them.

``inspect.Signature.bind`` costs more than a fingerprint. For the signatures that tools have, and
for calls that fit them, a loop over the parameters gives the same mapping in the same order;
everything else is left to the SDK's own method.
"""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable
from typing import Any, Final

__all__ = ["faster_bind_args"]

Parameters = tuple[tuple[str, Any], ...]
"""Names with defaults, in the order of the signature."""

_NO_DEFAULT: Final = inspect.Parameter.empty


def faster_bind_args(original: Callable[..., Any]) -> Callable[..., Any]:
    """A method to put in the place of ``Tool.bind_args``."""
    known: dict[int, tuple[weakref.ref[Any], Any, Parameters, int]] = {}

    def learn(tool: Any) -> tuple[weakref.ref[Any], Any, Parameters, int]:
        signature = tool._sig
        key = id(tool)
        reference = weakref.ref(tool, lambda _: known.pop(key, None))
        known[key] = entry = (reference, signature, *_plan(signature))
        return entry

    @functools.wraps(original)
    def bind_args(self: Any, *args: Any, **kwargs: Any) -> Any:
        entry = known.get(id(self))
        if entry is None or entry[1] is not self._sig or entry[0]() is not self:
            entry = learn(self)
        _, _, parameters, positional = entry
        count = len(args)
        if count > positional:
            return original(self, *args, **kwargs)
        bound = {}
        used = count
        for index, (name, default) in enumerate(parameters):
            if index < count:
                bound[name] = args[index]
            elif name in kwargs:
                bound[name] = kwargs[name]
                used += 1
            elif default is not _NO_DEFAULT:
                bound[name] = default
            else:
                return original(self, *args, **kwargs)
        if used != count + len(kwargs):  # an argument that is not there, or one given twice
            return original(self, *args, **kwargs)
        return bound

    return bind_args


def _plan(signature: inspect.Signature) -> tuple[Parameters, int]:
    """The parameters, and how many of them may be given by position.

    For a signature of another kind that number is -1, which no call fits.
    """
    parameters = signature.parameters.values()
    by_position = [p for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    by_name = [p for p in parameters if p.kind is p.KEYWORD_ONLY]
    if len(by_position) + len(by_name) != len(parameters):
        return (), -1
    return tuple((p.name, p.default) for p in parameters), len(by_position)
