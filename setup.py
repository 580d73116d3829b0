"""Build the native library where that is possible; the metadata is in ``pyproject.toml``.

The environment decides:

``OVERTURN_FAST_BUILD``
    ``release`` (default), ``debug``, ``sanitize`` or ``coverage``; see ``csrc/ffi_build.py``.
``OVERTURN_FAST_REQUIRE_NATIVE=1``
    A native library that cannot be built is an error. A non-empty ``CI`` or ``CIBUILDWHEEL``
    says the same. Otherwise the package is installed without it, with a message that says why.
``OVERTURN_FAST_PURE=1``
    Do not try: build the pure-Python package on purpose.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import subprocess
import sys
import textwrap

from setuptools import setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import BaseError, CCompilerError

FFI_BUILD = "csrc/ffi_build.py:ffibuilder"


def is_set(name: str) -> bool:
    """Return whether an environment variable asks for something: set, not empty and not 0."""
    return os.environ.get(name, "") not in ("", "0")


PURE = is_set("OVERTURN_FAST_PURE")
REQUIRED_BY = [
    name for name in ("OVERTURN_FAST_REQUIRE_NATIVE", "CI", "CIBUILDWHEEL") if is_set(name)
]


def say(*paragraphs: str) -> None:
    """Print a message that stands out of a build's output."""
    rule = "*" * 78
    lines = [line for text in paragraphs for line in ["", *textwrap.wrap(text, 74)]]
    print(rule, *(f"* {line}".rstrip() for line in lines), "*", rule, sep="\n", file=sys.stderr)


def go_on_without(reason: str) -> None:
    """Report that there will be no native library, or stop where it is required."""
    if REQUIRED_BY:
        say(
            "overturn_fast: the native library could not be built.",
            f"Reason: {reason}",
            f"It is required here, because {' and '.join(REQUIRED_BY)} is set.",
        )
        raise SystemExit("overturn_fast: no native library, and it is required")
    say(
        "overturn_fast: the native library could not be built. The package will use its "
        "pure-Python backend: the same results, many times slower.",
        f"Reason: {reason}",
        "To get the native backend, install a C11 compiler (gcc or clang), Python's headers and "
        "cffi (Debian and Ubuntu: apt install gcc python3-dev), then install the package again. "
        "OVERTURN_FAST_REQUIRE_NATIVE=1 makes this an error; OVERTURN_FAST_PURE=1 silences it.",
    )


def reason_of(error: Exception) -> str:
    """Say in one line why the build failed."""
    cause = error.__cause__ or error.__context__
    if isinstance(cause, subprocess.CalledProcessError):
        command = cause.cmd if isinstance(cause.cmd, str) else cause.cmd[0]
        return f"{command} ended with status {cause.returncode}; what it said is above"
    return f"{type(error).__name__}: {error}"


class BuildNativeOrGoOn(build_ext):
    """Build the extension; where that fails and may fail, leave a pure-Python package."""

    def run(self) -> None:
        """Compile and link, and turn the package into a pure one if that is not possible."""
        extensions = list(self.extensions)
        inplace = self.inplace
        try:
            super().run()
        except (BaseError, CCompilerError, OSError) as error:
            go_on_without(reason_of(error))
            self.inplace = inplace  # setuptools clears it while it compiles
            self.make_pure(extensions)

    def make_pure(self, extensions: list) -> None:
        """Drop the extension, and any library that an earlier build left in its place.

        The lists are emptied so that every later command sees a pure package.
        """
        for extension in extensions:
            stale = [os.path.join(self.build_lib, self.get_ext_filename(extension.name))]
            if self.inplace:
                stale.append(self.get_ext_fullpath(extension.name))
            for path in stale:
                with contextlib.suppress(FileNotFoundError):
                    os.remove(path)
        self.extensions = []
        self.distribution.ext_modules = []
        wheel = self.distribution.command_obj.get("bdist_wheel")
        if wheel is not None:
            wheel.root_is_pure = True  # decided before the compiler was tried


def native_options() -> dict:
    """Return what setup() is told about the native library."""
    if PURE:
        if is_set("OVERTURN_FAST_REQUIRE_NATIVE"):
            raise SystemExit("OVERTURN_FAST_PURE and OVERTURN_FAST_REQUIRE_NATIVE are both set")
        print("overturn_fast: no native library, as OVERTURN_FAST_PURE asks", file=sys.stderr)
        return {}
    if importlib.util.find_spec("cffi") is None:
        go_on_without("cffi is not installed in the environment that builds the package")
        return {}
    options: dict = {
        "cffi_modules": [FFI_BUILD],
        "cmdclass": {"build_ext": BuildNativeOrGoOn},
    }
    variant = os.environ.get("OVERTURN_FAST_BUILD") or "release"
    if variant != "release":
        # setuptools compares times, not flags: objects of two variants must never meet.
        options["options"] = {"build": {"build_base": f"build/{variant}"}}
    return options


setup(**native_options())
