"""Which of the two implementations runs: the C core or its pure-Python twin.

Decided once, at import, by ``OVERTURN_FAST_BACKEND``: ``auto`` (the default) takes the native one
if it loads, ``native`` insists on it, ``python`` does without.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from importlib.machinery import ExtensionFileLoader
from types import ModuleType
from typing import TYPE_CHECKING, Any

from overturn_fast._version import __version__

__all__ = [
    "audit_engine",
    "backend",
    "engine",
    "native_error",
    "shape_text_engine",
    "text_engine",
]

_VARIABLE = "OVERTURN_FAST_BACKEND"
_WALKER = "overturn_fast._walker"


def load_walker() -> ModuleType:
    """The builtins over Python objects, from the shared library that also holds the cffi binding.

    Raises:
        ImportError: There is no library, it does not load, or it is of another version.
    """
    if sys.implementation.name != "cpython":
        raise ImportError(f"the native backend needs CPython, not {sys.implementation.name}")
    library = importlib.util.find_spec("overturn_fast._native")
    if library is None or library.origin is None:
        raise ImportError("the native library was not built (overturn_fast._native not found)")
    loader = ExtensionFileLoader(_WALKER, library.origin)
    spec = importlib.util.spec_from_file_location(_WALKER, library.origin, loader=loader)
    assert spec is not None
    walker = importlib.util.module_from_spec(spec)
    loader.exec_module(walker)
    if __version__ != walker.VERSION:
        raise ImportError(
            f"the native library is of version {walker.VERSION}, the package of {__version__}; "
            "build it again"
        )
    sys.modules[_WALKER] = walker
    return walker


def choose() -> tuple[str, str | None, ModuleType]:
    """The backend's name, why the native one is not used (or None), and the module to use."""
    wanted = os.environ.get(_VARIABLE) or "auto"
    if wanted not in ("auto", "native", "python"):
        raise ImportError(f"{_VARIABLE} is {wanted!r}; it may be auto, native or python")
    reason = f"{_VARIABLE} is python"
    if wanted != "python":
        try:
            return "native", None, load_walker()
        except ImportError as error:
            if wanted == "native":
                raise
            reason = str(error)
    from overturn_fast._pure import fingerprints

    return "python", reason, fingerprints


class _Unavailable:
    """Stands for a module that cannot be imported here, and says so to whoever uses it."""

    def __init__(self, reason: ImportError) -> None:
        self._reason = str(reason)

    def __getattr__(self, name: str) -> Any:
        raise ImportError(f"JSON text needs the binding of the C core: {self._reason}")


def choose_text(
    native: str = "overturn_fast._native_text", pure: str = "overturn_fast._pure.text"
) -> ModuleType | _Unavailable:
    """The functions over JSON text: those of the C core wherever its binding loads.

    It does on Python implementations without the walker too, and does not in an interpreter with
    a lock of its own, where cffi cannot be imported: there the readable twin runs, or, where the
    native backend is insisted on, nothing.
    """
    wanted = os.environ.get(_VARIABLE) or "auto"
    try:
        if wanted != "python":
            return importlib.import_module(native)
    except ImportError as error:
        if wanted == "native":
            return _Unavailable(error)
    return importlib.import_module(pure)


if TYPE_CHECKING:
    # Both engines have the signatures of the readable one.
    from overturn_fast import _native_audit as audit_engine
    from overturn_fast import _native_shape as shape_text_engine
    from overturn_fast import _native_text as text_engine
    from overturn_fast._pure import fingerprints as engine

    backend: str
    native_error: str | None
else:
    backend, native_error, engine = choose()
    text_engine = choose_text()
    shape_text_engine = choose_text("overturn_fast._native_shape", "overturn_fast._pure.shape")
    audit_engine = choose_text("overturn_fast._native_audit", "overturn_fast._pure.audit")
