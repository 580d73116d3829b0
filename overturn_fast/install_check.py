"""``python -m overturn_fast.install_check``: what ``install`` does here, and how fast it is.

It says which SDKs are installed, whether their versions were tested, which names are replaced and
whether the values stay what they were, and measures a typical call with and without. Nothing stays
replaced. The exit status is 0 if all is well, and else 1.
"""

from __future__ import annotations

import argparse
import datetime
import functools
import importlib
import platform
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from overturn_fast import __version__, backend, native_error
from overturn_fast.sdk import (
    PACKAGES,
    SDKPackage,
    install,
    installed_bindings,
    uninstall,
    versions_of,
)

__all__ = ["main"]

_ROUNDS: Final = 15
_SECONDS_A_ROUND: Final = 0.004

_TYPICAL: Final[dict[str, Any]] = {
    "query": "quarterly revenue by region",
    "limit": 25,
    "filters": {"region": "EMEA", "active": True, "tags": ["a", " b ", "é"], "owner": None},
    "ids": [1017, 1018, 1019],
    "min_share": 0.75,
}

_SAMPLES: Final[tuple[Any, ...]] = (
    {},
    None,
    _TYPICAL,
    {"n": [0, -0.0, 1.0, 1e21, 1e-7, 2**53 + 1], "s": [" x ", "", "\u2028", "😀"]},
    {"when": datetime.datetime(2026, 1, 2, 3, 4, 5, 678999), "id": uuid.UUID(int=1), "raw": b"x"},
    {1: "a", "1": "b", False: "c", None: "d"},
    [None, [None], {"a": None}],
)

Calls = list[tuple[str, Callable[[Any], Any]]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the report and return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m overturn_fast.install_check",
        description="Say what overturn_fast.install() does here, and how fast it is.",
    )
    parser.add_argument(
        "--force", action="store_true", help="check versions that were not tested too"
    )
    options = parser.parse_args(arguments)
    print(
        f"overturn_fast {__version__}, {backend} backend, "
        f"{platform.python_implementation()} {platform.python_version()}"
    )
    if native_error and backend != "native":
        print(f"  not native: {native_error}")
    results = [_check(package, options.force) for package in PACKAGES.values()]
    if all(result is None for result in results):
        print("There is nothing to install into.")
        return 1
    return 1 if False in results else 0


def _check(package: SDKPackage, force: bool) -> bool | None:
    """Report on one package. Whether all is well with it; None if it is not there."""
    try:
        module = importlib.import_module(package.name)
    except ModuleNotFoundError:
        print(f"{package.name}: not installed")
        return None
    except Exception as error:
        print(f"{package.name}: cannot be imported: {type(error).__name__}: {error}")
        return False
    versions = versions_of(package, module) or ["unknown"]
    is_tested = all(version in package.tested for version in versions)
    tested = "tested" if is_tested else f"not tested; tested is {', '.join(sorted(package.tested))}"
    print(f"{package.name} {' / '.join(versions)}: {tested}")
    if not is_tested and not force:
        print("  refused by install() without force=True")
        return False
    was_installed = bool(installed_bindings(package.name))
    uninstall(package.name)
    try:
        return _compare(package)
    finally:
        if was_installed:
            install(package.name, force=force)


def _compare(package: SDKPackage) -> bool:
    """Whether the package computes the same values with the installation; what it costs."""
    before = [(name, _outcomes(call)) for name, call in _calls(package)]
    slow = [_seconds(call) for _, call in _calls(package)]
    with install(package.name, force=True):
        for binding in installed_bindings(package.name):
            print(f"  replaced  {binding}")
        after = [(name, _outcomes(call)) for name, call in _calls(package)]
        fast = [_seconds(call) for _, call in _calls(package)]
    for (name, _), old, new in zip(before, slow, fast, strict=True):
        times = f"{old * 1e6:9.2f} us -> {new * 1e6:7.2f} us"
        print(f"  {name:<18} {times}, {old / new:5.1f} times as fast")
    different = [name for (name, old), (_, new) in zip(before, after, strict=True) if old != new]
    if different:
        print(f"  other values than the SDK's: {', '.join(different)}")
    return not different


def _calls(package: SDKPackage) -> Calls:
    """Functions of one argument that call those of the package as they are bound now."""
    return list(_calls_of(package))


def _calls_of(package: SDKPackage) -> Iterator[tuple[str, Callable[[Any], Any]]]:
    for module_name, functions in package.replaced.items():
        namespace = vars(sys.modules[module_name])
        for name, _ in functions:
            function = namespace.get(name)
            if name in ("new_session_id", "utf16_length", "fingerprint") or function is None:
                continue
            if name == "tool_fingerprint":
                function = functools.partial(function, "lookup")
            yield name, function


def _outcomes(call: Callable[[Any], Any]) -> list[Any]:
    return [_outcome(call, sample) for sample in _SAMPLES]


def _outcome(call: Callable[[Any], Any], sample: Any) -> Any:
    """What a call returns, or that it raises a ValueError; anything else by its type."""
    try:
        return call(sample)
    except ValueError:
        return ValueError
    except Exception as error:
        return type(error)


def _seconds(call: Callable[[Any], Any]) -> float:
    """The least time that a typical call takes."""
    start = time.perf_counter()
    call(_TYPICAL)
    count = max(1, int(_SECONDS_A_ROUND / max(time.perf_counter() - start, 1e-6)))
    least = float("inf")
    for _ in range(_ROUNDS):
        start = time.perf_counter()
        for _ in range(count):
            call(_TYPICAL)
        least = min(least, (time.perf_counter() - start) / count)
    return least


if __name__ == "__main__":
    sys.exit(main())
