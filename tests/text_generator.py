"""Random JSON documents, and mutants of them: texts that are nearly valid.

Bytes of a valid document are flipped, inserted, deleted and repeated, so that two readers part, if
at all, far inside of it.
"""

from __future__ import annotations

import json
import os
import random
from typing import Any

__all__ = ["GENERATED", "MUTANTS", "Generator"]

MUTANTS = int(os.environ.get("OVERTURN_FAST_MUTANTS", "24000"))
GENERATED = int(os.environ.get("OVERTURN_FAST_GENERATED", "3000"))

WORDS = [
    *("", "a", "b", "id", "name", "limit", "limits", "limit10", "limit1000000"),
    *("minimumA", "minimumB", "x" * 20, "key with space", " lead", "trail ", "/"),
    *("é", "λ", "日本", "😀", "\ufb33", "\uffff", "\u2003x\u0085", "\u2028"),
    *("tab\t", 'q"uote', "back\\slash", "\x01", "\n", "\x1ctrim\x1f", "\\n", "\\u0020"),
    *("\ud800", "\udc00x", "\udfff\ud83d"),
]
NUMBERS: list[float] = [
    *(0, -0.0, 1, -1, 1.5, 100.25, -3.14, 0.1, 1e-6, 1e-7, 5e-324, 1.7e308),
    *(123456789012345, 1234567890123456, 2**53, 2**53 + 1, 2**64, 10**20, 10**21 - 1, 10**21),
    *(1e20, 1e21, 1e22, 123456789012345680000.0, 10**30, -(10**20), 10**400),
]


class Generator:
    """Random documents, the same ones for the same seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def word(self) -> str:
        return self.random.choice(WORDS)

    def value(self, depth: int) -> Any:
        rng = self.random
        kind = rng.random()
        if depth and kind < 0.35:
            names = (self.word() + rng.choice(["", "1", "2"]) for _ in range(rng.randrange(9)))
            return {name: self.value(depth - 1) for name in names}
        if depth and kind < 0.5:
            return [self.value(depth - 1) for _ in range(rng.randrange(6))]
        if kind < 0.7:
            return self.word() + rng.choice(["", " and more", "é" * 3, "z" * rng.randrange(60)])
        return rng.choice(NUMBERS) if kind < 0.85 else rng.choice([None, True, False])

    def large_value(self, depth: int) -> Any:
        """Objects deep in others, with strings so long that few are put in order at once."""
        rng = self.random
        if depth and rng.random() < 0.55:
            names = (self.word() + rng.choice(["", "1"]) for _ in range(rng.randrange(6)))
            return {name: self.large_value(depth - 1) for name in names}
        if depth and rng.random() < 0.3:
            return [self.large_value(depth - 1) for _ in range(rng.randrange(4))]
        return "x" * rng.choice([0, 5, 1500, 5000]) if rng.random() < 0.5 else self.value(0)

    def text(self, value: Any) -> bytes:
        rng = self.random
        layout: dict[str, Any] = {
            "indent": rng.choice([None, None, 1, 4]),
            "separators": rng.choice([(",", ":"), (", ", ": ")]),
        }
        try:
            return json.dumps(value, ensure_ascii=rng.random() < 0.5, **layout).encode()
        except UnicodeEncodeError:  # a lone surrogate: only its escape stands for it
            return json.dumps(value, **layout).encode()

    def document(self) -> bytes:
        rng = self.random
        text = self.text(self.value(rng.randrange(6)))
        if rng.random() < 0.3:
            text = b"[" + b",".join([text] * rng.randrange(1, 40)) + b"]"
        if rng.random() < 0.3:  # past the end of what the native reader copies
            text = b" " * rng.randrange(900, 1200) + text
        return text

    def mutant(self, text: bytes) -> bytes:
        """The text with up to three changes."""
        rng, changed = self.random, bytearray(text)
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            at = rng.randrange(len(changed) + 1)
            other = rng.randrange(len(changed) + 1)
            kind = rng.randrange(6)
            if kind == 0 and at < len(changed):
                changed[at] ^= 1 << rng.randrange(8)
            elif kind == 1 and at < len(changed):
                changed[at] = rng.randrange(256)
            elif kind == 2:
                del changed[at : at + rng.choice([1, 1, 2, 5])]
            elif kind == 3 and rng.random() < 0.3:
                del changed[at:]
            elif kind == 4:
                changed[at:at] = changed[min(at, other) : max(at, other)][:200]
            else:
                changed[at:at] = rng.choice(INSERTED)
        return bytes(changed)


INSERTED = [
    *(b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"0", b"1", b".", b"e", b"-", b"+", b" "),
    *(b"\n", b"\x00", b"\x1f", b"\x7f", b"\xff", b"\xc3", b"\xe2\x82", b"\xed\xa0\x80"),
    *("😀".encode(), b"\xc0\x80", b"\xf4\x90\x80\x80", b"\xef\xbb\xbf", b"\xc2\x85"),
    *(b"\xe2\x80\x83", b"\\u0041", b"\\ud83d", b"\\ude00", b"\\ud83d\\ude00", b"\\u00", b"\\t"),
    *(b"\\u001c", b"\\u2003", b"null", b"true", b"1e400", b"-0", b"9" * 25, b"1.0", b"0.0000001"),
    *(b'"a":1,', b'"a":null,', b"NaN", b"-Infinity"),
]
