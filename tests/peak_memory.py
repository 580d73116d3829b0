"""How much memory a process has had at most, told by the process itself."""

from __future__ import annotations

PEAK = '''
import resource
import sys
from pathlib import Path


def peak():
    """Bytes: the high-water mark of this process alone; getrusage counts the parent's too."""
    status = Path("/proc/self/status")
    if status.exists():
        lines = status.read_text().splitlines()
        return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) * 1024
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size if sys.platform == "darwin" else size * 1024
'''
"""The start of a program for ``python -c``, without indentation."""
