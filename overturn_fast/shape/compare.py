"""Two sets of statistics to the changes of the contract between them, each with a severity.

Value churn is no change. A difference of rates counts only if it is too large for chance, where the
items of a list are not taken for independent observations: no more than there were responses.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal, get_args

from overturn_fast._pure.shape_counter import NULL, OBJECT, TYPES
from overturn_fast._pure.strings import quote
from overturn_fast._shape_values import PLAIN_KEY
from overturn_fast.shape.stats import ShapeStats
from overturn_fast.shape.times import iso
from overturn_fast.shape.tree import Node, close, normal_path, project, step, steps_of

__all__ = ["DEFAULT_TABLE", "KINDS", "SEVERITIES", "Comparison", "DriftEvent", "Kind", "Policy",
           "Severity", "compare"]  # fmt: skip

Kind = Literal[
    "field_removed",
    "field_added",
    "type_changed",
    "variant_added",
    "null_rate",
    "presence_drop",
    "container_changed",
]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

Severity = Literal["info", "warning", "breaking"]
SEVERITIES: Final[tuple[str, ...]] = get_args(Severity)

Grade = str
"""A kind, and how grave a change of that kind it is."""

DEFAULT_TABLE: Final[Mapping[Grade, Severity]] = {
    "field_removed:required": "breaking",  # it was nearly always there, and never is
    "field_removed:optional": "warning",
    "presence_drop:required": "breaking",  # it was nearly always there, and often is not
    "presence_drop:slight": "warning",  # it was nearly always there, and sometimes is not
    "presence_drop:optional": "info",
    "type_changed:dominant": "breaking",  # another type than before has most of the values
    "container_changed:dominant": "breaking",  # the same, and one of them is a container
    "container_changed:map": "info",  # keys have turned out to be identifiers
    "field_added:recurring": "warning",
    "field_added:rare": "info",
    "variant_added:recurring": "warning",  # a type, a set of keys or a string of few, beside others
    "variant_added:rare": "info",
    "null_rate:required": "breaking",  # it was hardly ever null, and mostly is
    "null_rate:raised": "warning",
    "null_rate:rare": "info",
}
"""What a change is unless a ``Policy`` says otherwise: the severity of each kind and grade."""


@dataclasses.dataclass(frozen=True, slots=True)
class Policy:
    """What counts as a change, and how grave it is."""

    min_baseline: int = 50
    """Observations without which nothing can be said about a baseline, or a path in it."""
    min_current: int = 20
    """The same for what is compared with it."""
    required: float = 0.95
    """The share of objects from which a field counts as one that can be relied on."""
    drop: float = 0.2
    """By how much the presence of a required field sinks to be a drop, no slight one."""
    slight: float = 0.05
    """By how much a rate changes at least to be a change."""
    dominant: float = 0.5
    """The share of values from which a new type has taken the place of the old one."""
    recurring_count: int = 5
    """How often something new is seen before it is more than information ..."""
    recurring_share: float = 0.05
    """... and in which share of the cases."""
    confidence: float = 5.0
    """By how many standard errors two rates differ before that is no chance."""
    table: Mapping[Grade, Severity] = dataclasses.field(default_factory=dict)
    """Severities for a grade (``presence_drop:slight``) or a kind (``presence_drop``) that replace
    those of ``DEFAULT_TABLE``."""
    paths: Mapping[str, Severity | Literal["ignore"] | Mapping[str, Any]] = dataclasses.field(
        default_factory=dict
    )
    """Severities by path: one for every change there, ``"ignore"``, or a table. In a path ``*``
    stands for any text. Of several that fit, the last one counts."""

    def __post_init__(self) -> None:
        _check_table(self.table)
        for path, rule in self.paths.items():
            normal_path(path.replace("{*}", "x").replace("*", "x"))
            if isinstance(rule, Mapping):
                _check_table(rule)
            elif rule not in (*SEVERITIES, "ignore"):
                raise ValueError(f"{rule!r} is no severity: {', '.join(SEVERITIES)} or ignore")

    def severity(self, kind: Kind, grade: str, path: str) -> Severity | None:
        """The severity of a change; None if it is to be ignored.

        >>> policy = Policy(paths={"results[].ad*": "ignore", "results[].price": "info"})
        >>> policy.severity("type_changed", "dominant", "$.results[].price")
        'info'
        >>> policy.severity("field_added", "rare", "$.results[].ad_id") is None
        True
        """
        full = f"{kind}:{grade}"
        found: str = self.table.get(full) or self.table.get(kind) or DEFAULT_TABLE[full]
        for pattern, rule in self.paths.items():
            if _fits(pattern, path):
                if isinstance(rule, Mapping):
                    found = rule.get(full) or rule.get(kind) or found
                else:
                    found = rule
        return None if found == "ignore" else found  # type: ignore[return-value]


def _check_table(table: Mapping[str, Any]) -> None:
    for grade, severity in table.items():
        if grade not in DEFAULT_TABLE and grade not in KINDS:
            raise ValueError(f"{grade!r} is no kind of change, or none with such a grade")
        if severity not in (*SEVERITIES, "ignore"):
            raise ValueError(f"{severity!r} is no severity: {', '.join(SEVERITIES)} or ignore")


def _fits(pattern: str, path: str) -> bool:
    whole = pattern if pattern.startswith(("$", "*")) else normal_path("$")
    if whole == "$" != pattern:
        whole = f"${pattern}" if pattern.startswith("[") else f"$.{pattern}"
    parts = re.split(r"(\{\*\}|\*)", whole)
    regex = "".join(".*" if part == "*" else re.escape(part) for part in parts)
    return re.fullmatch(regex, path, re.DOTALL) is not None


@dataclasses.dataclass(frozen=True, slots=True)
class DriftEvent:
    """One change of a tool's contract."""

    tool: str
    kind: Kind
    path: str
    """With its root: ``$.results[].price``."""
    severity: Severity
    before: str
    after: str
    baseline_observations: int
    """How many values, or objects that could have the field, the baseline has."""
    current_observations: int
    """In how many of those since then the change shows."""
    before_rate: float
    after_rate: float
    """The share in the baseline and since then of what the event is about: of objects that have the
    field, of values that are null, or of values that are of the new kind."""
    first_seen: str | None
    """When the change was first seen, ISO 8601 in UTC; None if no times are known."""
    hint: str | None = None
    """What may be behind it."""

    @property
    def key(self) -> str:
        """What events about the same thing have in common: tool, kind and path, in one text."""
        tool = self.tool if PLAIN_KEY.fullmatch(self.tool) else quote(self.tool)
        return f"{tool} {self.kind} {self.path}"

    def headline(self) -> str:
        """The change in one line, as in ``results[].price changed number -> string``."""
        place = shown_path(self.path)
        arrow = f"{self.before} -> {self.after}"
        rates = f"{percent(self.before_rate)} -> {percent(self.after_rate)}"
        return {
            "field_removed": f"{place} removed: present in {rates}",
            "field_added": f"{place} added: present in {rates}",
            "presence_drop": f"{place} present in {rates}",
            "null_rate": f"{place} null in {rates}",
            "variant_added": f"{place} varies {arrow}",
        }.get(self.kind, f"{place} changed {arrow}")

    def text(self) -> str:
        """The event as people read it: what, how often, since when."""
        lines = [
            self.headline(),
            f"baseline observations: {self.baseline_observations:,}",
            f"current observations: {self.current_observations:,}",
            f"first seen: {self.first_seen or 'unknown'}",
        ]
        if self.hint is not None:
            lines.append(f"perhaps: {self.hint}")
        return "\n".join(lines)

    def as_dict(self) -> dict[str, Any]:
        """The event as JSON types."""
        return {"key": self.key, **dataclasses.asdict(self), "headline": self.headline()}


class Comparison(list[DriftEvent]):
    """The changes between two statistics, the gravest first, and what cannot be said.

    It is a list of ``DriftEvent``; an empty one says "no drift" only if ``has_too_few`` is False.
    """

    def __init__(
        self,
        events: Iterable[DriftEvent],
        tool: str,
        baseline_observations: int,
        current_observations: int,
        has_too_few: bool,
        undecided: tuple[str, ...],
    ) -> None:
        super().__init__(events)
        self.tool = tool
        self.baseline_observations = baseline_observations
        self.current_observations = current_observations
        self.has_too_few = has_too_few
        """Whether there are too few responses, before or since, to say anything."""
        self.undecided = undecided
        """Paths of which too little was seen to say whether they changed."""

    @property
    def worst(self) -> Severity | None:
        """The gravest severity there is."""
        return max((event.severity for event in self), key=SEVERITIES.index, default=None)


def compare(baseline: ShapeStats, current: ShapeStats, policy: Policy | None = None) -> Comparison:
    """The changes of a tool's contract between two sets of responses.

    Args:
        baseline: How responses were.
        current: How they are now: responses that are not in the baseline.
        policy: What counts as a change and how grave it is.

    Returns:
        A list of events, the gravest first, then by path. What is below a field that is new, gone
        or of another type has no events of its own.

    Raises:
        TypeError: One of them is no ``ShapeStats``.
        ValueError: They are of different tools or of different limits.

    Source: contract of ``overturn_fast.shape``; "The case for shape-only fingerprints".

    >>> before, since = ShapeStats("search"), ShapeStats("search")
    >>> before.observe({"results": [{"price": 24}]}, count=18402)
    >>> since.observe({"results": [{"price": "24"}]}, at="2026-07-13T06:44:18Z", count=311)
    >>> print(compare(before, since)[0].text())
    results[].price changed number -> string
    baseline observations: 18,402
    current observations: 311
    first seen: 2026-07-13T06:44:18Z
    """
    for name, stats in (("baseline", baseline), ("current", current)):
        if not isinstance(stats, ShapeStats):
            raise TypeError(f"{name} must be a ShapeStats, not {type(stats).__name__}")
    if baseline.tool != current.tool:
        raise ValueError(
            f"statistics of different tools cannot be compared: {baseline.tool!r}, {current.tool!r}"
        )
    if baseline.limits != current.limits:
        raise ValueError("statistics of different limits cannot be compared")
    policy = policy or Policy()
    if baseline._formats != current._formats or baseline._enum_id != current._enum_id:
        raise ValueError("statistics that look at strings differently cannot be compared")
    together = Node()
    together.merge(baseline.root)
    together.merge(current.root)
    close(together, baseline.limits)
    run = _Run(policy, baseline, current)
    run.maps(baseline.root, current.root)
    before, since = project(baseline.root, together), project(current.root, together)
    run.compare("$", before, since)
    has_too_few = (
        baseline.observations < policy.min_baseline or current.observations < policy.min_current
    )
    events = run.with_hints()
    events.sort(key=lambda event: (-SEVERITIES.index(event.severity), event.path, event.kind))
    return Comparison(
        [] if has_too_few else events,
        baseline.tool,
        baseline.observations,
        current.observations,
        has_too_few,
        tuple(sorted(run.undecided)),
    )


class _Run:
    """One comparison."""

    def __init__(self, policy: Policy, baseline: ShapeStats, current: ShapeStats) -> None:
        self.policy = policy
        self.tool = baseline.tool
        self.baseline = baseline.observations
        self.current = current.observations
        self.period = current.limits.period
        self.events: list[DriftEvent] = []
        self.undecided: set[str] = set()
        self.signatures: dict[str, tuple[str, ...]] = {}  # of fields that came or went, by path

    # -- the walk -----------------------------------------------------------------------------

    def compare(self, path: str, before: Node, since: Node) -> None:
        """The changes at a path and below."""
        if not self._types(path, before, since):
            return
        self._nulls(path, before, since)
        self._enums(path, before, since)
        if since.objects and before.objects:
            self._fields(path, before, since)
            self._variants(path, before, since)
        for to, mine, other in (
            (".{*}", before.entries, since.entries),
            ("[]", before.items, since.items),
        ):
            if mine is not None and mine.total and other is not None and other.total:
                self.compare(path + to, mine, other)
            elif mine is not None and mine.total:
                self.undecided.add(path + to)
            elif other is not None and other.total:
                self._filled(path + to, other, before, since)

    def maps(self, before: Node, since: Node) -> None:
        """Objects that are maps by now, and were none in the baseline."""
        left = [("$", before, since)]
        while left:
            path, mine, other = left.pop()
            if other.is_map and not mine.is_map and mine.fields and other.objects:
                self._event(
                    "container_changed", "map", path, "object", "map", mine.objects, other.objects,
                    0.0, 1.0, other.first[OBJECT],
                )  # fmt: skip
                continue
            for name in mine.fields.keys() & other.fields.keys():
                left.append((path + step(name), mine.fields[name], other.fields[name]))
            if mine.entries is not None and other.entries is not None:
                left.append((path + ".{*}", mine.entries, other.entries))
            if mine.items is not None and other.items is not None:
                left.append((path + "[]", mine.items, other.items))

    # -- one path -----------------------------------------------------------------------------

    def _types(self, path: str, before: Node, since: Node) -> bool:
        """Types that are new at a path; whether it makes sense to look further."""
        had, has = before.total - before.nulls, since.total - since.nulls
        if not has:
            return True
        if not had:
            self._no_longer_null(path, before, since)
            return True
        if has < self.policy.min_current or had < self.policy.min_baseline:
            self.undecided.add(path)
        go_on = True
        for kind, count in enumerate(since.counts):
            if kind == NULL or not count:
                continue
            was, share = before.counts[kind] / had, count / has
            if was >= self.policy.slight:
                continue
            differs = self._differs(before.counts[kind], had, count, has)
            if share >= self.policy.dominant and differs:
                go_on = False
                self._changed_type(path, kind, before, since)
            elif not before.counts[kind]:
                after = " | ".join([_types_text(before), TYPES[kind]])
                self._new(
                    "variant_added", path, _types_text(before), after, had, count, share, differs,
                    since.first[kind],
                )  # fmt: skip
        return go_on

    def _no_longer_null(self, path: str, before: Node, since: Node) -> None:
        """Types where all values were null."""
        if not before.total:
            return
        if before.total < self.policy.min_baseline or since.total < self.policy.min_current:
            self.undecided.add(path)
        for kind, count in enumerate(since.counts):
            if count and kind != NULL:
                self._new(
                    "variant_added", path, "null", f"null | {TYPES[kind]}", before.total, count,
                    count / since.total,
                    self._differs(0, before.total, count, since.total), since.first[kind],
                )  # fmt: skip

    def _filled(self, path: str, other: Node, before: Node, since: Node) -> None:
        """Items, or keys that are identifiers, where there never were any."""
        self.signatures[path] = ()  # no name of a field that may have been another one
        is_items = path.endswith("[]")
        had, has = (before.arrays, since.arrays) if is_items else (before.objects, since.objects)
        if not had or not has:
            return  # what contains them is new itself
        empty = since.empty if is_items else sum(
            count for (_, has_others), count in since.variants.items() if not has_others
        )  # fmt: skip
        count = has - empty
        self._new(
            "variant_added" if is_items else "field_added", path, "absent", _types_text(other),
            had, count, count / has, self._differs(0, had, count, has),
            min((time for time in other.first if time is not None), default=None),
        )  # fmt: skip

    def _changed_type(self, path: str, kind: int, before: Node, since: Node) -> None:
        had, has = before.total - before.nulls, since.total - since.nulls
        old = _types_text(before)
        containers = {"array", "object"}
        is_container = TYPES[kind] in containers or not containers.isdisjoint(old.split(" | "))
        self._event(
            "container_changed" if is_container else "type_changed", "dominant", path, old,
            TYPES[kind], had, since.counts[kind], before.counts[kind] / had,
            since.counts[kind] / has, since.first[kind],
        )  # fmt: skip

    def _nulls(self, path: str, before: Node, since: Node) -> None:
        if not before.total or not since.total or not since.nulls:
            return
        was, rate = before.nulls / before.total, since.nulls / since.total
        differs = self._differs(before.nulls, before.total, since.nulls, since.total)
        if differs and rate - was >= self.policy.slight:
            is_required = was <= 1 - self.policy.required and rate >= self.policy.dominant
            grade = "required" if is_required else "raised"
        elif not before.nulls:
            grade = "rare"
        else:
            return
        self._event(
            "null_rate", grade, path, percent(was), percent(rate), before.total, since.nulls, was,
            rate, since.first[NULL],
        )  # fmt: skip

    def _enums(self, path: str, before: Node, since: Node) -> None:
        """Strings that are new where there were few different ones."""
        if not before.enums or since.enums is None or before.many or since.many:
            return
        had, has = sum(before.enums.values()), sum(since.enums.values())
        count = sum(since.enums[digest] for digest in since.enums.keys() - before.enums.keys())
        if count:
            values = len(before.enums)
            more = values + len(since.enums.keys() - before.enums.keys())
            self._new(
                "variant_added", path, _counted(values, "string"), f"{more} strings", had, count,
                count / has, self._differs(0, had, count, has), None,
            )  # fmt: skip

    # -- objects ------------------------------------------------------------------------------

    def _fields(self, path: str, before: Node, since: Node) -> None:
        for name in sorted(before.fields.keys() | since.fields.keys()):
            mine, other = before.fields.get(name), since.fields.get(name)
            here = path + step(name)
            if mine is None or not mine.total:
                if other is not None and other.total:
                    self._added(here, other, before, since)
            elif since.objects < self.policy.min_current:
                self.undecided.add(here)
            elif other is None or not other.total:
                self._removed(here, mine, before, since)
            else:
                self._present(here, mine, other, before, since)
                self.compare(here, mine, other)

    def _added(self, path: str, other: Node, before: Node, since: Node) -> None:
        self.signatures[path] = _signature(other)
        share = other.total / since.objects
        differs = self._differs(0, before.objects, other.total, since.objects)
        first = min((time for time in other.first if time is not None), default=None)
        self._new(
            "field_added", path, "absent", _types_text(other), before.objects, other.total, share,
            differs, first,
        )  # fmt: skip

    def _removed(self, path: str, mine: Node, before: Node, since: Node) -> None:
        was = mine.total / before.objects
        if self._differs(mine.total, before.objects, 0, since.objects):
            self.signatures[path] = _signature(mine)
            grade = "required" if was >= self.policy.required else "optional"
            self._event(
                "field_removed", grade, path, _types_text(mine), "absent", before.objects,
                since.objects, was, 0.0, since.first[OBJECT],
            )  # fmt: skip

    def _present(self, path: str, mine: Node, other: Node, before: Node, since: Node) -> None:
        was, share = mine.total / before.objects, other.total / since.objects
        if was - share < self.policy.slight:
            return
        if not self._differs(mine.total, before.objects, other.total, since.objects):
            return
        grade = "optional"
        if was >= self.policy.required:
            grade = "required" if was - share >= self.policy.drop else "slight"
        missing = since.objects - other.total
        self._event(
            "presence_drop", grade, path, percent(was), percent(share), before.objects, missing,
            was, share, self._first_without(other, since, was - self.policy.slight),
        )  # fmt: skip

    def _first_without(self, field: Node, objects: Node, least: float) -> int | None:
        """When the first period began in which fewer objects than that share had a field."""
        first = objects.first[OBJECT]
        for period in sorted(objects.history):
            count = objects.history[period][OBJECT]
            if count and sum(field.history.get(period, ())) / count < least:
                return max(period * self.period * 1000, first or 0)
        return first

    def _variants(self, path: str, before: Node, since: Node) -> None:
        """Sets of keys that are new, where all that there were are known."""
        if not before.knows_all_variants or not since.knows_all_variants:
            return
        known = before.fields.keys()
        # Fields that are always there, or are no more: their events say it already.
        relied = {
            name
            for name, node in before.fields.items()
            if node.total >= self.policy.required * before.objects
        }
        for (names, has_others), count in sorted(
            since.variants.items(), key=lambda item: sorted(item[0][0])
        ):
            if (names, has_others) in before.variants or not relied <= names <= known:
                continue
            if has_others and before.entries is None:
                continue
            share = count / since.objects
            differs = self._differs(0, before.objects, count, since.objects)
            sets = len(before.variants)
            after = "{" + ", ".join([*sorted(names), *(["{*}"] if has_others else [])]) + "}"
            self._new(
                "variant_added", path, _counted(sets, "set") + " of keys", after,
                before.objects, count, share, differs, None,
            )  # fmt: skip

    # -- events -------------------------------------------------------------------------------

    def _new(
        self, kind: Kind, path: str, old: str, new: str, had: int, count: int, share: float,
        differs: bool, first: int | None,
    ) -> None:  # fmt: skip
        """Something that was not there before: information until it recurs."""
        is_recurring = (
            count >= self.policy.recurring_count
            and share >= self.policy.recurring_share
            and differs
        )
        grade = "recurring" if is_recurring else "rare"
        self._event(kind, grade, path, old, new, had, count, 0.0, share, first)

    def _event(
        self, kind: Kind, grade: str, path: str, old: str, new: str, had: int, count: int,
        was: float, rate: float, first: int | None,
    ) -> None:  # fmt: skip
        severity = self.policy.severity(kind, grade, path)
        if severity is not None:
            time = None if first is None else iso(first)
            self.events.append(
                DriftEvent(self.tool, kind, path, severity, old, new, had, count, was, rate, time)
            )

    def with_hints(self) -> list[DriftEvent]:
        """The events; where one field went and one of its kind came, each names the other."""
        gone = [event for event in self.events if event.kind == "field_removed"]
        come = [event for event in self.events if event.kind == "field_added"]
        hints: dict[tuple[str, str], str] = {}
        for event in gone:
            parent = _parent(event.path)
            alike = [
                other
                for other in come
                if _parent(other.path) == parent
                and self.signatures[other.path] == self.signatures[event.path]
                and abs(other.after_rate - event.before_rate) <= self.policy.drop
            ]
            rivals = [
                other
                for other in gone
                if _parent(other.path) == parent
                and self.signatures[other.path] == self.signatures[event.path]
            ]
            if len(alike) == len(rivals) == 1:
                hints["field_removed", event.path] = f"renamed to {shown_path(alike[0].path)}"
                hints["field_added", alike[0].path] = f"renamed from {shown_path(event.path)}"
        return [
            dataclasses.replace(event, hint=hints.get((event.kind, event.path)))
            for event in self.events
        ]

    def _differs(self, before: int, had: int, since: int, has: int) -> bool:
        """Whether two rates differ by more than chance.

        The items of one response are alike, so they count together as often as there are responses.
        """
        n, m = min(had, self.baseline), min(has, self.current)
        if n < self.policy.min_baseline or m < self.policy.min_current:
            return False
        p, q = before / had, since / has
        pooled = (p * n + q * m) / (n + m)
        error = math.sqrt(max(pooled * (1 - pooled), 0.0) * (1 / n + 1 / m))
        return abs(p - q) > self.policy.confidence * error


# -- text -------------------------------------------------------------------------------------


def shown_path(path: str) -> str:
    """A path as people write it: ``results[].price``, without the root.

    >>> shown_path("$.results[].price"), shown_path("$[].a"), shown_path("$")
    ('results[].price', '[].a', '$')
    """
    return path[2:] if path.startswith("$.") else path[1:] or "$"


def percent(rate: float) -> str:
    """A rate as a percentage that is only 0 or 100 if it is exactly that.

    >>> percent(0.998), percent(0.99996), percent(1.0), percent(0.00001)
    ('99.8%', '99.9%', '100%', '0.1%')
    """
    if rate in (0.0, 1.0):
        return f"{rate:.0%}"
    return f"{min(max(round(rate * 100, 1), 0.1), 99.9):g}%"


def _counted(count: int, noun: str) -> str:
    """A number and its noun.

    >>> _counted(1, "string"), _counted(2, "string")
    ('1 string', '2 strings')
    """
    return f"{count} {noun}{'s' * (count != 1)}"


def _types_text(node: Node) -> str:
    """The types of a node's values, those that most have first; null only if there is no other."""
    found = [
        (-count, name)
        for name, count in zip(TYPES, node.counts, strict=True)
        if count and name != "null"
    ]
    return " | ".join(name for _, name in sorted(found)) or "null"


def _signature(node: Node) -> tuple[str, ...]:
    """What two fields have in common that may be one under two names."""
    return (_types_text(node), *sorted(node.fields))


def _parent(path: str) -> str:
    return path[: -len(steps_of(path)[-1])]
