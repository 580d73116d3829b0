"""Check a built distribution: what is in it, and that the suite passes on it alone.

``python tools/check_wheel.py dist`` takes a folder with one sdist and the wheel built from it. The
wheel's contents are checked, ``auditwheel show`` is asked about it on Linux, and it is installed
in a fresh environment. The suite is run from the unpacked sdist, with the package's own folder
taken out: what it imports can only be the wheel, what it reads can only be what the sdist brings.

A wheel without a native library must be tagged ``py3-none-any`` and is tested on the pure-Python
backend; any other is tested on both.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

PACKAGE = "overturn_fast"
REQUIRED_IN_WHEEL = [
    f"{PACKAGE}/__init__.py",
    f"{PACKAGE}/_version.py",
    f"{PACKAGE}/py.typed",
    f"{PACKAGE}/shape/report.html",
]
REQUIRED_IN_SDIST = [
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "Makefile",
    "README.md",
    "SECURITY.md",
    "csrc/core/overturn.h",
    "csrc/ffi_build.py",
    "csrc/native.cdef",
    "csrc/python/module.c",
    "examples/calls.ndjson",
    "pyproject.toml",
    "setup.py",
]
WHEEL_SUFFIXES = {".html", ".json", ".py", ".pyi", ".typed", ".so", ".pyd"}

REPORT = f"""
import pathlib, {PACKAGE} as package
folder = pathlib.Path(package.__file__).parent
print(package.__version__, package.backend, folder, package.native_error or "")
"""


def fail(message: str) -> None:
    """End the check with an error."""
    raise SystemExit(f"check_wheel: {message}")


def only(folder: Path, pattern: str) -> Path:
    """Return the one file in `folder` that matches."""
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        fail(f"expected one {pattern} in {folder}, found {[path.name for path in found]}")
    return found[0]


def check_wheel_contents(wheel: Path) -> bool:
    """Check the names in the wheel; return whether it has a native library."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    metadata = "-".join(wheel.name.split("-")[:2]) + ".dist-info/"
    libraries = [name for name in names if name.startswith(f"{PACKAGE}/_native.")]
    native = any(name.endswith((".so", ".pyd")) for name in libraries)
    foreign = [
        name
        for name in names
        if not name.startswith(metadata)
        and not (name.startswith(f"{PACKAGE}/") and Path(name).suffix in WHEEL_SUFFIXES)
    ]
    required = [*REQUIRED_IN_WHEEL, f"{metadata}licenses/LICENSE"]
    missing = sorted(set(required) - set(names))
    if foreign:
        fail(f"{wheel.name} holds files that do not belong there: {foreign}")
    if missing:
        fail(f"{wheel.name} lacks {missing}")
    if native == wheel.name.endswith("-py3-none-any.whl"):
        fail(f"{wheel.name} {'has' if native else 'has no'} native library, its tag says otherwise")
    return native


def unpack_sdist(sdist: Path, folder: Path) -> Path:
    """Unpack the sdist, take the package's own folder out, and return where the rest is."""
    with tarfile.open(sdist) as archive:
        if hasattr(tarfile, "data_filter"):
            archive.extractall(folder, filter="data")
        else:
            archive.extractall(folder)
    tree = folder / sdist.name.removesuffix(".tar.gz")
    missing = [name for name in REQUIRED_IN_SDIST if not (tree / name).exists()]
    if missing:
        fail(f"{sdist.name} lacks {missing}")
    built = [path.name for path in tree.rglob("*") if path.suffix in {".so", ".o", ".pyc"}]
    if built:
        fail(f"{sdist.name} holds build products: {built}")
    shutil.rmtree(tree / PACKAGE)
    return tree


def show_platform(wheel: Path) -> None:
    """Print what auditwheel says, and require a portable platform tag to be possible."""
    command = [sys.executable, "-m", "auditwheel", "show", str(wheel)]
    answer = subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout
    print(answer.strip())
    if "manylinux_" not in answer and "musllinux_" not in answer:
        fail("auditwheel finds no manylinux or musllinux tag that fits the wheel")


def main() -> None:
    """Check the distribution in the folder that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="folder with one sdist and one wheel")
    parser.add_argument("pytest_args", nargs="*", help="further arguments for pytest")
    options = parser.parse_args()
    wheel = only(options.folder, "*.whl").resolve()
    sdist = only(options.folder, "*.tar.gz").resolve()

    native = check_wheel_contents(wheel)
    if native and sys.platform == "linux":
        show_platform(wheel)
    with tempfile.TemporaryDirectory(prefix="check-wheel-") as scratch:
        tree = unpack_sdist(sdist, Path(scratch))
        home = Path(scratch, "venv")
        venv.create(home, with_pip=True)
        python = str(home / "bin" / "python")
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}

        def run(*arguments: str, **variables: str) -> None:
            subprocess.run(
                [python, *arguments], cwd=tree, env={**environment, **variables}, check=True
            )

        pip = ["-m", "pip", "--disable-pip-version-check", "--quiet"]
        run(*pip, "install", f"{PACKAGE} [test] @ {wheel.as_uri()}")
        for backend in ["native", "python"] if native else ["python"]:
            print(f"check_wheel: {wheel.name}, {backend} backend", flush=True)
            run("-c", REPORT, OVERTURN_FAST_BACKEND=backend)
            run("-m", "pytest", *options.pytest_args, OVERTURN_FAST_BACKEND=backend)
    print(f"check_wheel: {wheel.name} and {sdist.name} are in order")


if __name__ == "__main__":
    main()
