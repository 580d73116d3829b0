"""``overturn-fast drift show``: a baseline as people read it."""

from __future__ import annotations

import json
from collections.abc import Iterator

import click

from overturn_fast._pure.shape_counter import NUMBER, TYPES
from overturn_fast.cli.drift.saved import DriftCommand, read_baseline, tool_option
from overturn_fast.cli.output import ending_cleanly
from overturn_fast.cli.terminal import Report
from overturn_fast.shape import ShapeStats, json_schema
from overturn_fast.shape.announce import printable
from overturn_fast.shape.compare import percent
from overturn_fast.shape.times import iso
from overturn_fast.shape.tree import Node

__all__ = ["contract_lines", "show", "types_of"]

_EPILOG = """\
\b
Examples:
  overturn-fast drift show search.json
  overturn-fast drift show search.json --format json-schema > search.schema.json
"""


@click.command(cls=DriftCommand, epilog=_EPILOG)
@click.argument("baseline", metavar="BASELINE", type=click.Path(exists=True, dir_okay=False))
@tool_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["tree", "json-schema"]),
    default="tree",
    show_default=True,
    help="A tree of the fields with their types, and in how many of the objects they are; or a "
    "JSON Schema, draft 2020-12.",
)
def show(baseline: str, tool: str | None, form: str) -> None:
    """Print the contract that was learned."""
    stats = read_baseline(baseline, tool)
    with ending_cleanly(None), Report() as report:
        if form == "json-schema":
            report.line(json.dumps(json_schema(stats), indent=2))
            return
        for text in contract_lines(stats):
            report.line(printable(text))


def contract_lines(stats: ShapeStats) -> Iterator[str]:
    """The contract as a tree, line by line.

    >>> stats = ShapeStats("pricing")
    >>> stats.observe({"sku": "pro", "tiers": [{"from": 1}], "prices": {"2026-07-13": 1.5}})
    >>> stats.observe({"sku": None, "tiers": []})
    >>> for line in contract_lines(stats):
    ...     print(line)
    pricing: 2 responses
    $              object
    ├─ prices      object         50%
    │  └─ {*}      number
    ├─ sku         null | string  100%, null in 50%
    └─ tiers       array          100%, 0-1 items, empty in 50%
       └─ []       object
          └─ from  integer        100%
    """
    span = ""
    if stats.first_seen is not None and stats.last_seen is not None:
        span = f", {iso(stats.first_seen)} to {iso(stats.last_seen)}"
    count = stats.observations
    yield f"{stats.tool or 'tool'}: {count:,} response{'s' * (count != 1)}{span}"
    rows = list(_rows("$", stats.root, None, "", ""))
    indent = min(max((len(label) for label, _, _ in rows if len(label) <= 40), default=0), 40)
    width = max((len(types) for _, types, _ in rows if len(types) <= 24), default=0)
    for label, types, facts in rows:
        yield f"{label:<{indent}}  {types:<{width}}  {facts}".rstrip()


def _rows(
    name: str, node: Node, above: Node | None, lead: str, below: str
) -> Iterator[tuple[str, str, str]]:
    """A label, the types and what else is known, for a node and all below it."""
    yield lead + printable(name), types_of(node), ", ".join(_facts(node, above))
    children = [*node.children()]
    for index, (to, child) in enumerate(children):
        is_last = index + 1 == len(children)
        is_field = node.fields.get(to[1:]) is child or to.startswith('["')
        yield from _rows(
            to[1:] if to.startswith(".") else to,
            child,
            node if is_field else None,
            below + ("└─ " if is_last else "├─ "),
            below + ("   " if is_last else "│  "),
        )


def types_of(node: Node) -> str:
    """The types of a node's values, those that most have first."""
    found = [(-count, name) for name, count in zip(TYPES, node.counts, strict=True) if count]
    names = [name for _, name in sorted(found)]
    if node.integers and node.integers == node.counts[NUMBER]:
        names = ["integer" if name == "number" else name for name in names]
    return " | ".join(names)


def _facts(node: Node, above: Node | None) -> Iterator[str]:
    if above is not None and above.objects:
        yield percent(node.total / above.objects)
    if node.nulls and node.nulls != node.total:
        yield f"null in {percent(node.nulls / node.total)}"
    if node.arrays:
        yield (
            f"{node.fewest}-{node.most} items"
            if node.fewest != node.most
            else (f"{node.most} item{'s' * (node.most != 1)}")
        )
        if node.empty:
            yield f"empty in {percent(node.empty / node.arrays)}"
    for name, count in sorted((node.formats or {}).items()):
        yield f"{name} in {percent(count / node.counts[TYPES.index('string')])}"
    if node.enums and not node.many:
        yield f"{len(node.enums)} different string{'s' * (len(node.enums) != 1)}"
    if node.cut:
        yield "more below"
