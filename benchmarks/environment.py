"""The machine, the compiler and the versions that a result belongs to."""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import overturn_fast
from benchmarks.peers import Peer

__all__ = ["environment", "file_name", "library_compiler"]

COMPILER = re.compile(rb"(?:GCC: \([^)\0]*\) |(?:[A-Z][A-Za-z]+ )?clang version )[0-9][0-9.]*")
"""What gcc and clang leave in a library's comment section."""


def cpu_model() -> str:
    """Return the processor's name, as far as the system tells it."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    if platform.system() == "Darwin":
        command = ["sysctl", "-n", "machdep.cpu.brand_string"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return done.stdout.strip()
    return platform.processor() or platform.machine()


def library_compiler() -> str | None:
    """Return what compiled the native library, or None where that cannot be told."""
    library = importlib.util.find_spec("overturn_fast._native")
    if overturn_fast.backend != "native" or library is None or library.origin is None:
        return None
    found = COMPILER.findall(Path(library.origin).read_bytes())
    return ", ".join(sorted({name.decode() for name in found})) or None


def sha256_variant() -> str | None:
    """Return the name of the SHA-256 that the native library chose on this machine."""
    if overturn_fast.backend != "native":
        return None
    native = importlib.import_module("overturn_fast._native")
    name: bytes = native.ffi.string(native.lib.ovt_sha256_variant())
    return name.decode()


def load_average() -> float | None:
    """Return how many processes were running over the last minute, on average."""
    try:
        return round(os.getloadavg()[0], 2)
    except (AttributeError, OSError):
        return None


def file_name(environment: Mapping[str, object]) -> str:
    """Return the name of the file that holds the results of this machine and Python.

    >>> file_name({"cpu": "AMD EPYC (Genoa)", "system": "Linux", "machine": "x86_64",
    ...     "python": "CPython 3.12.1", "backend": "native"})
    'amd-epyc-genoa-linux-x86-64-cpython-3-12.json'
    """
    python = str(environment["python"]).rpartition(".")[0]
    parts = [environment["cpu"], environment["system"], environment["machine"], python]
    if environment["backend"] != "native":
        parts.append(environment["backend"])
    words = re.findall(r"[a-z0-9]+", " ".join(map(str, parts)).lower())
    return f"{'-'.join(words)}.json"


def environment(peers: Sequence[Peer]) -> dict[str, object]:
    """Return everything about this run that is not a time."""
    return {
        "cpu": cpu_model(),
        "cpus": os.cpu_count(),
        "load_average": load_average(),
        "machine": platform.machine(),
        "system": platform.system(),
        "os": platform.platform(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "python_compiler": platform.python_compiler(),
        "backend": overturn_fast.backend,
        "library_compiler": library_compiler(),
        "sha256": sha256_variant(),
        "versions": {peer.package: peer.version for peer in peers},
    }
