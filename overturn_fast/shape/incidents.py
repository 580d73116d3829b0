"""Events over time: which of them are one incident, and whether it is new, lasting or over.

What changes at the same time has one cause: a migration of a response is one incident, however many
fields it touches, and an event that comes back belongs to the incident it belonged to before. No
clock is read here: whoever compares says when.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Iterable
from typing import Any, Final, Literal, get_args

from overturn_fast.shape.compare import KINDS, SEVERITIES, Comparison, DriftEvent, Severity
from overturn_fast.shape.times import Time, iso, milliseconds
from overturn_fast.shape.tree import normal_path

__all__ = ["STATES", "Incident", "Incidents", "State"]

State = Literal["new", "active", "recovering", "resolved", "reopened"]
STATES: Final[tuple[State, ...]] = get_args(State)

_MOST: Final = 100  # incidents of a tool that are open, and that are resolved
_MOST_EVENTS: Final = 1000  # of an incident
_ID: Final = re.compile(r"[0-9a-f]{16}")

FORMAT: Final = "overturn_fast.incidents"
VERSION: Final = 1


@dataclasses.dataclass(slots=True)
class Incident:
    """Changes of one tool that began together."""

    id: str
    """16 hexadecimal digits, of the tool, the time and what was seen first."""
    tool: str
    state: State
    severity: Severity
    """The gravest that one of its events has had."""
    opened_at: int
    """When it was first seen, in milliseconds since 1970, UTC."""
    seen_at: int
    """When it was last seen."""
    changed_at: int
    """When it got into its state."""
    events: dict[str, DriftEvent]
    """The last event of each key."""

    def text(self) -> str:
        """The incident in one line.

        Such as ``3f0c... search: new, breaking, 2 changes since 2026-07-13T06:44:18Z``.
        """
        changes = "1 change" if len(self.events) == 1 else f"{len(self.events)} changes"
        return (
            f"{self.id} {self.tool}: {self.state}, {self.severity}, {changes} "
            f"since {iso(self.opened_at)}"
        )

    def copy(self) -> Incident:
        """The incident as it is now, whatever becomes of it."""
        return dataclasses.replace(self, events=dict(self.events))

    def as_dict(self) -> dict[str, Any]:
        """The incident as JSON types."""
        plain = dataclasses.asdict(self)
        for name in ("opened_at", "seen_at", "changed_at"):
            plain[name] = iso(plain[name])
        plain["events"] = [self.events[key].as_dict() for key in sorted(self.events)]
        return plain


class Incidents:
    """All incidents of any number of tools.

    Args:
        group_within: Seconds within which new events of one tool join the incident that is open.
        resolve_after: Seconds without any of its events after which an incident is resolved.
        forget_after: Seconds after which a resolved incident is forgotten.

    An incident is ``new`` when its first event is seen, and ``active`` when one is seen again.
    Without any it is ``recovering``, after a while ``resolved``, and if then one is seen again
    ``reopened``.

    Memory is bounded, whatever a tool returns: an incident holds 1,000 events, those seen first,
    and a tool has 100 incidents that are open and 100 that are resolved, the latest.

    >>> from overturn_fast.shape import ShapeStats, compare
    >>> before, since = ShapeStats("search"), ShapeStats("search")
    >>> before.observe({"url": "x", "price": 1}, count=500)
    >>> since.observe({"link": "x", "price": "1"}, count=500)
    >>> incidents = Incidents()
    >>> [incident.state for incident in incidents.update(compare(before, since), at=1000.0)]
    ['new']
    >>> [sorted(incident.events) for incident in incidents.open("search")]
    [['search field_added $.link', 'search field_removed $.url', 'search type_changed $.price']]
    """

    def __init__(
        self,
        *,
        group_within: float = 3600.0,
        resolve_after: float = 3600.0,
        forget_after: float = 30 * 86_400.0,
    ) -> None:
        self._group_within = round(group_within * 1000)
        self._resolve_after = round(resolve_after * 1000)
        self._forget_after = round(forget_after * 1000)
        self._all: dict[str, Incident] = {}

    def open(self, tool: str | None = None) -> list[Incident]:
        """The incidents that are not resolved, of one tool or of all, the oldest first."""
        return [incident for incident in self.all(tool) if incident.state != "resolved"]

    def all(self, tool: str | None = None) -> list[Incident]:
        """The incidents that are not forgotten, the oldest first."""
        found = [one for one in self._all.values() if tool is None or one.tool == tool]
        return sorted(found, key=lambda incident: (incident.opened_at, incident.id))

    def update(self, comparison: Comparison, at: Time) -> list[Incident]:
        """Take note of the outcome of a comparison.

        Args:
            comparison: What ``compare`` has found. If it had too few responses nothing changes, and
                paths that are undecided are taken to be as they were.
            at: When it was made. Times never run backwards: an earlier one is taken for the last.

        Returns:
            The incidents of the tool whose state, events or severity changed, the oldest first.
        """
        now = milliseconds(at)
        if now is None:
            raise TypeError("a time must be a datetime, seconds or text, not None")
        tool = comparison.tool
        if comparison.has_too_few:
            return []
        now = max([now, *(incident.changed_at for incident in self.all(tool))])
        before = {incident.id: _gist(incident) for incident in self.all(tool)}
        seen = {incident.id for incident in self._assigned(comparison, now)}
        for incident in self.all(tool):
            if incident.id not in seen and not self._is_undecided(incident, comparison):
                self._pass(incident, now)
        changed = [one for one in self.all(tool) if before.get(one.id) != _gist(one)]
        over = [incident for incident in self.all(tool) if incident.state == "resolved"]
        for number, incident in enumerate(reversed(over)):
            if number >= _MOST or now - incident.changed_at > self._forget_after:
                del self._all[incident.id]
        return changed

    # -- storage ------------------------------------------------------------------------------

    def dumps(self) -> str:
        """All incidents as JSON, the same text for the same incidents."""
        plain = [
            {
                **dataclasses.asdict(incident),
                "events": [
                    dataclasses.asdict(incident.events[key]) for key in sorted(incident.events)
                ],
            }
            for incident in self.all()
        ]
        document = {"format": FORMAT, "version": VERSION, "incidents": plain}
        return json.dumps(document, indent=1, sort_keys=True) + "\n"

    def loads(self, text: str | bytes) -> None:
        """Replace all incidents by those of a text that ``dumps`` gave.

        Raises:
            ValueError: It is no such text.
        """
        try:
            document = json.loads(text)
            if document["format"] != FORMAT or document["version"] != VERSION:
                raise ValueError
            read = [_incident(plain) for plain in document["incidents"]]
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise ValueError("no incidents, or of another version") from None
        self._all = {incident.id: incident for incident in read}

    # -- inside -------------------------------------------------------------------------------

    def _assigned(self, events: Iterable[DriftEvent], now: int) -> list[Incident]:
        """Put each event where it belongs; return the incidents that were seen."""
        seen: dict[str, Incident] = {}
        for event in sorted(events, key=lambda event: event.key):
            incident = self._of(event, now)
            if event.key in incident.events or len(incident.events) < _MOST_EVENTS:
                incident.events[event.key] = event
            incident.severity = max(incident.severity, event.severity, key=SEVERITIES.index)
            seen[incident.id] = incident
        for incident in seen.values():
            if incident.seen_at < now or incident.state != "new":
                after: State = "reopened" if incident.state == "resolved" else "active"
                if incident.state != after:
                    incident.state, incident.changed_at = after, now
            incident.seen_at = now
        return list(seen.values())

    def _of(self, event: DriftEvent, now: int) -> Incident:
        for incident in reversed(self.all(event.tool)):
            if event.key in incident.events:
                return incident
        began = milliseconds(event.first_seen) if event.first_seen is not None else now
        began = min(now if began is None else began, now)
        opened = self.open(event.tool)
        for incident in opened:
            near = min(abs(incident.opened_at - began), abs(incident.opened_at - now))
            if near <= self._group_within:
                return incident
        if len(opened) >= _MOST:
            return opened[-1]
        digest = hashlib.sha256(json.dumps([event.key, now]).encode()).hexdigest()[:16]
        incident = Incident(digest, event.tool, "new", event.severity, began, now, now, {})
        self._all[digest] = incident
        return incident

    def _is_undecided(self, incident: Incident, comparison: Comparison) -> bool:
        """Whether too little was seen to say that all of it is over."""
        return any(
            event.path == path or event.path.startswith((path + ".", path + "["))
            for event in incident.events.values()
            for path in comparison.undecided
        )

    def _pass(self, incident: Incident, now: int) -> None:
        """None of its events is seen any more."""
        if incident.state in ("new", "active", "reopened"):
            incident.state, incident.changed_at = "recovering", now
        if incident.state == "recovering" and now - incident.seen_at >= self._resolve_after:
            incident.state, incident.changed_at = "resolved", now


def _gist(incident: Incident) -> tuple[State, Severity, frozenset[str]]:
    return incident.state, incident.severity, frozenset(incident.events)


def _incident(plain: Any) -> Incident:
    """An incident from what ``dumps`` has made of one.

    Raises:
        ValueError: It is none; or another error of a value that is not what it should be.
    """
    read = [_event(event) for event in plain["events"]]
    incident = Incident(**{**plain, "events": {event.key: event for event in read}})
    times = (incident.opened_at, incident.seen_at, incident.changed_at)
    if (
        incident.state not in STATES
        or incident.severity not in SEVERITIES
        or not _ID.fullmatch(incident.id)
        or any(event.tool != incident.tool for event in read)
        or not read
        or not all(type(time) is int and milliseconds(time / 1000) is not None for time in times)
    ):
        raise ValueError
    return incident


def _event(plain: Any) -> DriftEvent:
    event = DriftEvent(**plain)
    texts = (event.tool, event.path, event.before, event.after, event.first_seen or "",
             event.hint or "")  # fmt: skip
    counts = (event.baseline_observations, event.current_observations)
    rates = (event.before_rate, event.after_rate)
    if (
        event.kind not in KINDS
        or event.severity not in SEVERITIES
        or not all(type(text) is str for text in texts)
        or not all(type(count) is int and count >= 0 for count in counts)
        or not all(type(rate) in (int, float) and 0 <= rate <= 1 for rate in rates)
        or normal_path(event.path) != event.path
    ):
        raise ValueError
    milliseconds(event.first_seen)
    return event
