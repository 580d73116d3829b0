"""Recordings of the Overturn SDK, keyed anew by another profile's fingerprints.

The SDK answers replayed calls from an object ``{fingerprint: {"name", "args", "output"}}``. Under
the default profile some of those calls have another fingerprint than under ``compat``, which is the
SDK's. A migration finds out by which profile each recording is keyed, and gives it the key of the
other one. Nothing but keys changes, and nothing is dropped.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import overturn_fast
from overturn_fast import compat
from overturn_fast._errors import CanonicalizationError

__all__ = ["Collision", "Migration", "MigrationError", "ProfileName", "Recording", "migrate"]

ProfileName = Literal["default", "compat"]

_FEW: Final = 8
"""Of so many arguments every selection is tried, of more only those that leave out or keep two."""
_MOST_WRITTEN: Final = 1_000_000
"""Arguments of one recording that are hashed, at most, for the selections of one size: of hundreds
of arguments those that leave out two are not tried."""


class MigrationError(ValueError):
    """A text is no file of recordings, or it does not say which profile it is keyed by."""


@dataclass(frozen=True, slots=True)
class Recording:
    """One recording of the file."""

    key: str
    """The fingerprint that it had."""
    new_key: str
    """The fingerprint that it has now."""
    name: str
    """The tool."""
    value: dict[str, Any]
    """The recording itself: ``name``, ``args``, ``output``, and whatever else it has."""
    profile: ProfileName | Literal["both"] | None
    """Which profile its key was of; None if no selection of its arguments gives that key."""
    match_on: tuple[str, ...] | None
    """The arguments that its key was computed from; None for all."""


@dataclass(frozen=True, slots=True)
class Collision:
    """Recordings of one file that the other profile cannot tell apart."""

    key: str
    """The fingerprint that they share."""
    recordings: tuple[Recording, ...]
    """Those recordings. The first one has the key now, the others those that they had."""


@dataclass(frozen=True, slots=True)
class Migration:
    """What became of a file of recordings."""

    to: ProfileName
    """The profile that the recordings are keyed by now."""
    text: str
    """The new file: the old text with other keys."""
    recordings: tuple[Recording, ...]
    """All recordings, in the order of the file."""
    collisions: tuple[Collision, ...]
    """Those that would share a key."""

    @property
    def changed(self) -> tuple[Recording, ...]:
        """The recordings that have another key now."""
        return tuple(r for r in self.recordings if r.new_key != r.key)

    @property
    def unmatched(self) -> tuple[Recording, ...]:
        """The recordings whose key is that of neither profile; they keep it."""
        return tuple(r for r in self.recordings if r.profile is None)


def migrate(text: str, to: ProfileName | None = None) -> Migration:
    """Key recordings by the fingerprints of another profile.

    A recording does not say which of its arguments count. It is found out: the selection whose
    fingerprint is the recording's key.

    Args:
        text: The JSON text of the recordings.
        to: ``"default"`` or ``"compat"``. None stands for the other one of the profile that the
            file is keyed by.

    Raises:
        MigrationError: The text is no file of recordings; or ``to`` is None, and the file has keys
            of both profiles.

    >>> call = {"name": "t", "args": {"n": 10**21}, "output": 1}
    >>> text = json.dumps({compat.tool_fingerprint("t", call["args"]): call})
    >>> migration = migrate(text)
    >>> migration.to, len(migration.changed)
    ('default', 1)
    >>> migrate(migration.text).text == text
    True
    """
    if to not in (None, "default", "compat"):
        raise ValueError('to must be "default", "compat" or None')
    entries = list(_entries(text))
    found = [_Found.of(entry) for entry in entries]
    target = to or _other_profile(found)
    wanted = [
        entry.key if f is None else f.keys[target] for entry, f in zip(entries, found, strict=True)
    ]
    final = _without_collisions([entry.key for entry in entries], wanted)
    recordings = tuple(
        Recording(
            key=entry.key,
            new_key=key,
            name=entry.value["name"],
            value=entry.value,
            profile=None if f is None else f.profile,
            match_on=None if f is None else f.match_on,
        )
        for entry, key, f in zip(entries, final, found, strict=True)
    )
    return Migration(
        to=target,
        text=_with_keys(text, entries, final),
        recordings=recordings,
        collisions=_collisions(recordings, wanted),
    )


# -- reading ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Entry:
    """A member of the file: its key with the place of it in the text, and its value."""

    key: str
    start: int
    end: int
    value: dict[str, Any]


class _Reader:
    """A JSON text, read member by member of its outermost object."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._decode = json.JSONDecoder().raw_decode
        self.position = 0

    def skip_space(self) -> str:
        """Go to what comes next, and tell its first character; empty at the end."""
        while self._text[self.position : self.position + 1] in (" ", "\t", "\r", "\n"):
            self.position += 1
        return self._text[self.position : self.position + 1]

    def take(self, characters: str) -> str:
        """Go past one of these characters."""
        found = self.skip_space()
        if not found or found not in characters:
            self.fail(f"expected {' or '.join(map(repr, characters))}")
        self.position += 1
        return found

    def value(self) -> Any:
        """Go past a value."""
        self.skip_space()
        try:
            value, self.position = self._decode(self._text, self.position)
        except json.JSONDecodeError as error:
            self.position = error.pos
            self.fail(error.msg)
        except RecursionError:
            self.fail("nested too deeply")
        except ValueError as error:
            self.fail(str(error))
        return value

    def fail(self, reason: str) -> None:
        """Raise the error for what stands here."""
        line = self._text.count("\n", 0, self.position) + 1
        column = self.position - self._text.rfind("\n", 0, self.position)
        raise MigrationError(f"{reason}: line {line}, column {column}")


def _entries(text: str) -> Iterator[_Entry]:
    """The recordings of a file with their places.

    Raises:
        MigrationError: It is none.
    """
    reader = _Reader(text)
    if reader.skip_space() != "{":
        reader.fail('expected an object {fingerprint: {"name", "args", "output"}}')
    reader.take("{")
    seen: set[str] = set()
    separator = "}" if reader.skip_space() == "}" else ","
    if separator == "}":
        reader.take("}")
    while separator == ",":
        if reader.skip_space() != '"':
            reader.fail("expected a fingerprint in double quotes")
        start = reader.position
        key = reader.value()
        end = reader.position
        if key in seen:
            reader.position = start
            shown = json.dumps(key[:12])[1:-1]  # it may be any text
            reader.fail(f"the fingerprint {shown}... stands here for the second time")
        seen.add(key)
        reader.take(":")
        reader.skip_space()
        place = reader.position
        value = reader.value()
        if not isinstance(value, dict) or not isinstance(value.get("name"), str):
            reader.position = place
            reader.fail('a recording must be an object with a "name" that is text')
        if "args" not in value:
            reader.position = place
            reader.fail('the recording has no "args"')
        yield _Entry(key, start, end, value)
        separator = reader.take(",}")
    if reader.skip_space():
        reader.fail("more text after the recordings")


# -- fingerprints ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Found:
    """How a recording got its key, and what each profile makes of it."""

    match_on: tuple[str, ...] | None
    keys: dict[ProfileName, str]
    profile: ProfileName | Literal["both"]

    @staticmethod
    def of(entry: _Entry) -> _Found | None:
        """The first selection whose fingerprint is the key, if there is one."""
        for match_on in _selections(entry.value["args"]):
            keys = _fingerprints(entry.value["name"], entry.value["args"], match_on)
            profiles = [profile for profile, key in keys.items() if key == entry.key]
            if len(profiles) == 2:
                return _Found(match_on, keys, "both")
            if profiles:
                # The profile that has no key for these arguments leaves the recording its own.
                kept: dict[ProfileName, str] = {"default": entry.key, "compat": entry.key}
                kept.update(keys)
                return _Found(match_on, kept, profiles[0])
        return None


def _fingerprints(name: str, args: Any, match_on: tuple[str, ...] | None) -> dict[ProfileName, str]:
    """The fingerprint of a call under each profile that has one."""
    # No argument that counts is no declaration: an empty list would stand for all of them.
    selected = args if match_on is None else {key: args[key] for key in match_on}
    keys: dict[ProfileName, str] = {}
    with contextlib.suppress(CanonicalizationError):
        keys["default"] = overturn_fast.tool_fingerprint(name, selected)
    with contextlib.suppress(CanonicalizationError):
        keys["compat"] = compat.tool_fingerprint(name, selected)
    return keys


def _selections(args: Any) -> Iterator[tuple[str, ...] | None]:
    """Which arguments may have counted, the likely ones first; None for all."""
    yield None
    if not isinstance(args, dict):
        return
    names = list(args)
    count = len(names)
    sizes: Sequence[int] = range(count - 1, -1, -1)
    if count > _FEW:
        sizes = (count - 1, 1, count - 2, 2, 0)
    for size in sizes:
        if math.comb(count, size) * size <= _MOST_WRITTEN:
            yield from itertools.combinations(names, size)


def _other_profile(found: list[_Found | None]) -> ProfileName:
    profiles = {f.profile for f in found if f is not None} - {"both"}
    if len(profiles) == 2:
        raise MigrationError(
            "some recordings are keyed by the default profile, some by compat; "
            "say by which one they should be: --to default or --to compat"
        )
    return "compat" if "default" in profiles else "default"


# -- keys ------------------------------------------------------------------------------------------


def _without_collisions(old: list[str], wanted: list[str]) -> list[str]:
    """The wanted keys, but for those that another recording has: there the old one stays."""
    final = list(wanted)
    while True:
        owner: dict[str, int] = {}
        # Who keeps its key has a claim on it, then who comes first in the file.
        for index in sorted(range(len(final)), key=lambda i: (final[i] != old[i], i)):
            owner.setdefault(final[index], index)
        losers = [index for index, key in enumerate(final) if owner[key] != index]
        if not losers:
            return final
        for index in losers:
            final[index] = old[index]


def _collisions(recordings: Sequence[Recording], wanted: list[str]) -> tuple[Collision, ...]:
    groups: dict[str, list[Recording]] = {}
    for recording, key in zip(recordings, wanted, strict=True):
        groups.setdefault(key, []).append(recording)
    return tuple(
        Collision(key, tuple(sorted(group, key=lambda recording: recording.new_key != key)))
        for key, group in groups.items()
        if len(group) > 1
    )


def _with_keys(text: str, entries: Sequence[_Entry], keys: list[str]) -> str:
    """The text with other keys, and all else as it stands."""
    parts = []
    position = 0
    for entry, key in zip(entries, keys, strict=True):
        parts.append(text[position : entry.start])
        parts.append(text[entry.start : entry.end] if key == entry.key else json.dumps(key))
        position = entry.end
    return "".join([*parts, text[position:]])
