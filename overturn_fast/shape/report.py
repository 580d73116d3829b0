"""One HTML page about a tool's contract: what it is, what has changed, and how it went over time.

The page is one file that loads nothing, runs no script and works without a network. It needs the
package jinja2, of the extra ``cli``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timezone
from importlib import resources
from typing import Any, Final

from overturn_fast._pure.shape_counter import NUMBER, OBJECT, STRING, TYPES
from overturn_fast.shape.announce import printable, summary
from overturn_fast.shape.compare import (
    SEVERITIES,
    Comparison,
    DriftEvent,
    Policy,
    compare,
    percent,
    shown_path,
)
from overturn_fast.shape.incidents import Incident
from overturn_fast.shape.stats import ShapeStats
from overturn_fast.shape.times import iso
from overturn_fast.shape.tree import Node, project

__all__ = ["html_report"]

MAX_ROWS: Final = 2000
"""Paths that the page shows."""
MAX_CHARTS: Final = 200
"""Paths that have charts: those with events first."""

_WIDTH, _HEIGHT = 320, 72
_GAP: Final = 1.5


def html_report(
    baseline: ShapeStats,
    current: ShapeStats | None = None,
    *,
    policy: Policy | None = None,
    incidents: Iterable[Incident] = (),
) -> str:
    """A page about what was learned, and about what is different in ``current``.

    Args:
        baseline: What responses looked like.
        current: What they look like now, to show the changes; None to show the contract alone.
        policy: As for ``compare``.
        incidents: Incidents to list.

    Returns:
        The text of an HTML file. It depends on nothing but the arguments.

    Raises:
        ValueError: As for ``compare``.
        ImportError: jinja2 is not installed.

    >>> stats = ShapeStats("pricing")
    >>> stats.observe({"<script>": 1})
    >>> "<script>" in html_report(stats)
    False
    """
    from jinja2 import Environment, StrictUndefined

    comparison = None if current is None else compare(baseline, current, policy)
    together = baseline.root if current is None else baseline.copy().merge(current).root
    before = project(baseline.root, together)
    since = None if current is None else project(current.root, together)
    building = _Building(baseline.limits.period, together, before, since, comparison)
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {
        "percent": percent,
        "shown": lambda path: printable(shown_path(path)),
        "printable": printable,
        "arrows": lambda text: printable(text).replace(
            " -> ", " \N{RIGHTWARDS ARROW}\N{NO-BREAK SPACE}"
        ),
        "number": lambda number: f"{number:,}",
        "time": iso,
    }
    template = resources.files("overturn_fast.shape").joinpath("report.html").read_text("utf-8")
    return environment.from_string(template).render(
        tool=printable(baseline.tool) or "tool",
        verdict=summary(comparison) if comparison is not None else None,
        comparison=comparison,
        groups=_groups(comparison),
        baseline=baseline,
        current=current,
        rows=building.rows(),
        hidden=building.hidden,
        has_times=bool(building.periods),
        kinds=TYPES,
        incidents=list(incidents),
    )


def _groups(comparison: Comparison | None) -> list[tuple[str, list[DriftEvent]]]:
    """The events by severity, the gravest first."""
    events: list[DriftEvent] = comparison or []
    found = [(name, [one for one in events if one.severity == name]) for name in SEVERITIES[::-1]]
    return [(name, of_name) for name, of_name in found if of_name]


@dataclass(frozen=True, slots=True)
class Bar:
    """A rectangle of a chart."""

    x: float
    y: float
    width: float
    height: float
    css: str
    title: str


@dataclass(frozen=True, slots=True)
class Chart:
    """Columns, one a period."""

    title: str
    bars: list[Bar]
    width: int
    height: int
    first: str
    last: str
    since: float | None
    """Where what is compared begins."""


@dataclass(slots=True)
class Row:
    """A path of the contract."""

    path: str
    name: str
    depth: int
    types: list[tuple[str, float]]
    """Names with their shares."""
    before: float | None
    """In which share of the objects of the baseline a field is."""
    since: float | None
    facts: list[str]
    severity: str | None
    charts: list[Chart] = field(default_factory=list)


class _Building:
    """What the page shows, from the trees of before, since and both."""

    def __init__(
        self,
        period: int,
        together: Node,
        before: Node,
        since: Node | None,
        comparison: Comparison | None,
    ) -> None:
        self.period = period
        self.together = together
        self.before = before
        self.since = since
        self.hidden = 0
        self.severities: dict[str, str] = {}
        for event in comparison or []:
            known = self.severities.get(event.path, SEVERITIES[0])
            self.severities[event.path] = max(known, event.severity, key=SEVERITIES.index)
        self.periods = sorted(together.history)
        starts = sorted(since.history) if since is not None else []
        self.start = starts[0] if starts and before.history else None

    def rows(self) -> list[Row]:
        rows: list[Row] = []
        charted: list[tuple[int, int, Row, Node, Node | None]] = []
        for row, node, above in self._walk():
            if len(rows) == MAX_ROWS:
                self.hidden += 1
                continue
            is_calm = row.severity is None
            charted.append((is_calm, len(rows), row, node, above))
            rows.append(row)
        if self.periods:
            for _, _, row, node, above in sorted(charted, key=lambda item: item[:2])[:MAX_CHARTS]:
                row.charts = [*self._presence(node, above), self._types(node)]
        return rows

    def _walk(self) -> Iterator[tuple[Row, Node, Node | None]]:
        left: list[tuple[str, str, int, Node, Node | None, Any, Any, Any, Any]]
        left = [("$", "$", 0, self.together, None, self.before, None, self.since, None)]
        while left:
            path, name, depth, node, above, mine, my_above, other, other_above = left.pop()
            row = Row(
                path=path,
                name=printable(name),
                depth=depth,
                types=_shares(node),
                before=_rate(mine, my_above),
                since=_rate(other, other_above),
                facts=list(_facts(node)),
                severity=self.severities.get(path),
            )
            yield row, node, above
            below = []
            for to, child in node.children():
                fields = {id(found): key for key, found in node.fields.items()}
                key = fields.get(id(child))
                parts = [_child(part, to, key) for part in (mine, other)]
                is_field = key is not None
                below.append(
                    (
                        path + to,
                        to[1:] if to.startswith(".") else to,
                        depth + 1,
                        child,
                        node if is_field else None,
                        parts[0],
                        mine if is_field else None,
                        parts[1],
                        other if is_field else None,
                    )
                )
            left.extend(reversed(below))

    # -- charts -------------------------------------------------------------------------------

    def _presence(self, node: Node, above: Node | None) -> Iterator[Chart]:
        if above is None:
            return
        bars = []
        for number, period in enumerate(self.periods):
            objects = above.history.get(period, [0] * len(TYPES))[OBJECT]
            if objects:
                rate = sum(node.history.get(period, ())) / objects
                title = f"{self._day(period)}: in {percent(rate)} of {objects:,}"
                bars.append(self._bar(number, 0.0, 1.0, "track", title))
                is_after = self.start is not None and period >= self.start
                css = "presence after" if is_after else "presence"
                bars.append(self._bar(number, 0.0, rate, css, title))
        yield self._chart("Presence", bars)

    def _types(self, node: Node) -> Chart:
        bars = []
        for number, period in enumerate(self.periods):
            counts = node.history.get(period, [])
            total, below = sum(counts), 0.0
            for kind, count in enumerate(counts):
                if count:
                    share = count / total
                    title = f"{self._day(period)}: {TYPES[kind]} {percent(share)} of {total:,}"
                    bars.append(self._bar(number, below, share, f"type-{TYPES[kind]}", title))
                    below += share
        return self._chart("Types", bars)

    def _bar(self, number: int, below: float, share: float, css: str, title: str) -> Bar:
        column = _WIDTH / len(self.periods)
        gap = min(_GAP, column / 4)
        return Bar(
            x=round(number * column + gap / 2, 2),
            y=round((1 - below - share) * _HEIGHT, 2),
            width=round(min(column - gap, 40), 2),
            height=round(share * _HEIGHT, 2),
            css=css,
            title=title,
        )

    def _chart(self, title: str, bars: list[Bar]) -> Chart:
        since = None
        if self.start is not None and self.start != self.periods[0]:
            since = round(self.periods.index(self.start) * _WIDTH / len(self.periods), 2)
        days = self._day(self.periods[0]), self._day(self.periods[-1])
        return Chart(title, bars, _WIDTH, _HEIGHT, *days, since)

    def _day(self, period: int) -> str:
        moment = datetime.fromtimestamp(period * self.period, timezone.utc)
        return moment.strftime("%Y-%m-%d" if self.period % 86_400 == 0 else "%Y-%m-%d %H:%M")


def _child(node: Node | None, to: str, key: str | None) -> Node | None:
    if node is None:
        return None
    if key is not None:
        return node.fields.get(key)
    return node.items if to == "[]" else node.entries


def _rate(node: Node | None, above: Node | None) -> float | None:
    if above is None or not above.objects:
        return None
    return (0 if node is None else node.total) / above.objects


def _shares(node: Node) -> list[tuple[str, float]]:
    found = [(-count, name) for name, count in zip(TYPES, node.counts, strict=True) if count]
    return [(name, -count / node.total) for count, name in sorted(found)]


def _facts(node: Node) -> Iterator[str]:
    yield f"{node.total:,} value{'s' * (node.total != 1)}"
    if node.integers and node.integers == node.counts[NUMBER]:
        yield "integers"
    if node.arrays:
        yield f"{node.fewest} to {node.most} items"
        if node.empty:
            yield f"empty in {percent(node.empty / node.arrays)}"
    if node.is_map:
        yield "a map: its keys are data and not kept"
    if node.objects and not node.is_map and node.knows_all_variants and len(node.variants) > 1:
        yield f"{len(node.variants)} sets of keys"
    for name, count in sorted((node.formats or {}).items()):
        if count:
            yield f"{name} in {percent(count / node.counts[STRING])}"
    if node.enums and not node.many:
        yield f"{len(node.enums)} different string{'s' * (len(node.enums) != 1)}"
    if node.cut:
        yield "more below, which is not kept"
    first = min((time for time in node.first if time is not None), default=None)
    last = max((time for time in node.last if time is not None), default=None)
    if first is not None and last is not None:
        yield f"seen {iso(first)} to {iso(last)}"
