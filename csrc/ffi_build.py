"""What the native library is made of, and how it is compiled.

``setup.py`` names :data:`ffibuilder` in ``cffi_modules``. One shared library comes out of it,
``overturn_fast._native``, with two modules in it: the cffi binding of the C core and, on CPython,
the walker (``PyInit__walker`` in ``csrc/python/module.c``).

All paths are relative to the project's root, where a build always starts.
"""

from __future__ import annotations

import ast
import os
import sys
from pathlib import Path

from cffi import FFI

CSRC = Path("csrc")
VERSION_FILE = Path("overturn_fast", "_version.py")

BASE_FLAGS = ["-std=c11", "-fvisibility=hidden", "-Wall", "-Wextra"]

# OVERTURN_FAST_BUILD picks one. These flags come after Python's own and so win over its -O3 and
# -DNDEBUG; "assert" is compiled in everywhere but in the release build. That one names -DNDEBUG
# itself: where CFLAGS is set, it takes the place of Python's flags, and the asserts of CPython's
# headers would come in.
VARIANTS: dict[str, dict[str, list[str]]] = {
    "release": {
        "compile": ["-O3", "-g0", "-DNDEBUG"],
        "link": [],
    },
    "debug": {
        "compile": ["-O0", "-g", "-UNDEBUG"],
        "link": [],
    },
    "sanitize": {
        "compile": [
            "-O1",
            "-g",
            "-UNDEBUG",
            "-fno-omit-frame-pointer",
            "-fsanitize=address,undefined",
            "-fno-sanitize-recover=undefined",
        ],
        "link": ["-fsanitize=address,undefined"],
    },
    "coverage": {
        "compile": ["-O0", "-g", "-UNDEBUG", "--coverage"],
        "link": ["--coverage"],
    },
}


def variant() -> str:
    """Return the build variant that the environment asks for."""
    name = os.environ.get("OVERTURN_FAST_BUILD") or "release"
    if name not in VARIANTS:
        raise SystemExit(
            f"OVERTURN_FAST_BUILD is {name!r}; it may be one of: {', '.join(VARIANTS)}"
        )
    return name


def version() -> str:
    """Read ``__version__`` from the package's source, without importing the package."""
    for node in ast.parse(VERSION_FILE.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(name, ast.Name) and name.id == "__version__" for name in targets):
                return str(ast.literal_eval(node.value))
    raise SystemExit(f"no __version__ in {VERSION_FILE}")


def folders() -> list[Path]:
    """Return the folders to compile: the walker speaks to CPython's objects only."""
    parts = ["core", "python"] if sys.implementation.name == "cpython" else ["core"]
    return [CSRC / part for part in parts]


def files(pattern: str) -> list[str]:
    """Return the files of all compiled folders that match, in a fixed order."""
    return [path.as_posix() for folder in folders() for path in sorted(folder.glob(pattern))]


def build() -> FFI:
    """Describe the extension module to cffi."""
    flags = VARIANTS[variant()]
    ffi = FFI()
    ffi.cdef((CSRC / "native.cdef").read_text(encoding="utf-8"))
    ffi.set_source(
        "overturn_fast._native",
        '#include "overturn.h"\n',
        sources=files("*.c"),
        depends=[*files("*.h"), "csrc/native.cdef", "csrc/ffi_build.py", VERSION_FILE.as_posix()],
        include_dirs=[folder.as_posix() for folder in folders()],
        define_macros=[("OVT_VERSION", f'"{version()}"')],
        # METH_FASTCALL and the critical sections of free-threaded builds are outside the limited
        # API of the Pythons supported here; cffi would ask for that API by default.
        py_limited_api=False,
        extra_compile_args=[*BASE_FLAGS, *flags["compile"]],
        extra_link_args=flags["link"],
    )
    return ffi


ffibuilder = build()
