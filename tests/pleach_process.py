"""What the tests of one SQLite file run in processes of their own.

``hammer FILE NAME COUNT`` puts and gets entries and says on standard output which were kept;
``fill FILE`` runs into the limit on the size of files; ``open FOLDER COUNT`` opens new files, when
it is told to, and says what fails.
"""

from __future__ import annotations

import sys
from typing import Any

from overturn_fast.pleach import FingerprintCache, SQLiteStore, StoreError


def call_of(name: str, number: int) -> dict[str, Any]:
    return {
        "model": "m",
        "family": "f",
        "callClass": "c",
        "runtimeMode": "interactive",
        "messages": [name, number],
        "temperature": 0,
    }


def hammer(path: str, name: str, count: int) -> None:
    with FingerprintCache(path, "interactive") as cache:
        for number in range(count):
            assert cache.put(call_of(name, number), {"n": number})
            print(number, flush=True)
            assert cache.get(call_of(name, number)) == {"n": number}


def fill(path: str) -> None:
    import resource
    import signal

    with FingerprintCache(path, "interactive") as cache:
        cache.put(call_of("kept", 0), b"x" * 1_000)
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
        try:
            cache.put(call_of("large", 0), b"x" * 1_000_000)
        except Exception as error:
            print(type(error).__name__)
        print(cache.get(call_of("large", 0)), cache.stats.entries, cache.stats.bytes)


def open_all(folder: str, count: int) -> None:
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(count):
        try:
            SQLiteStore(f"{folder}/{number}.db").close()
        except StoreError as error:
            print(type(error).__name__, error)


if __name__ == "__main__":
    if sys.argv[1] == "hammer":
        hammer(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    elif sys.argv[1] == "open":
        open_all(sys.argv[2], int(sys.argv[3]))
    else:
        fill(sys.argv[2])
