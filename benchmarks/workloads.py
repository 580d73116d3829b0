"""The values that are measured.

Every builder returns a fresh object, equal on every machine and in every run: what is random comes
from a generator seeded with the workload's own name. All values are plain JSON that every peer
accepts: no ``None`` (which some drop and some keep), no white space around a string (which some
trim), no integer past 2**53 - 1, fewer than 254 levels.
"""

from __future__ import annotations

import json
import math
import random
import struct
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["WORKLOADS", "Workload", "select"]

Build = Callable[[], object]


@dataclass(frozen=True)
class Workload:
    """One value to measure."""

    name: str
    description: str
    build: Build

    def text(self) -> str:
        """Return the value as JSON text, from which ``json.loads`` makes equal fresh copies."""
        return json.dumps(self.build(), ensure_ascii=False)


WORKLOADS: dict[str, Workload] = {}


def workload(name: str, description: str) -> Callable[[Build], Build]:
    """Register a builder."""

    def register(build: Build) -> Build:
        WORKLOADS[name] = Workload(name, description, build)
        return build

    return register


def select(names: str | None) -> list[Workload]:
    """Return the workloads in a comma-separated list of names, or all of them.

    Raises:
        ValueError: There is no workload of that name.
    """
    if names is None:
        return list(WORKLOADS.values())
    known = ", ".join(WORKLOADS)
    chosen = [name.strip() for name in names.split(",") if name.strip()]
    unknown = [name for name in chosen if name not in WORKLOADS]
    if unknown or not chosen:
        raise ValueError(f"no workload {', '.join(unknown) or names!r}; there are: {known}")
    return [WORKLOADS[name] for name in chosen]


@workload("tiny", "two short strings, 34 bytes: the fixed cost of a call")
def tiny() -> object:
    return {"ticketId": "T-1", "priority": "P0"}


@workload("typical", "the arguments of one tool call: 10 keys, nested filters, about 300 bytes")
def typical() -> object:
    return {
        "query": "quarterly revenue by region",
        "limit": 25,
        "offset": 0,
        "filters": {
            "region": "EMEA",
            "active": True,
            "minAmount": 1250.75,
            "tags": ["finance", "q3", "board"],
        },
        "sort": [{"field": "amount", "order": "desc"}],
        "includeTotals": True,
        "threshold": 0.85,
        "locale": "en-GB",
        "format": "table",
        "requestId": "8f14e45f-ceea-467f-a8d4-1b2c3d4e5f60",
    }


SENTENCES = [
    "I looked at the orders of last week and found three that were charged twice.",
    'The customer wrote "please cancel it" in the second mail, not in the first.',
    "The refund goes back to the original card and takes five to seven working days.",
    "Here is what I did:\n- opened the ticket\n- checked the invoice\n- asked for approval",
    "Could you confirm the shipping address before I send the replacement?",
    "The API answered with status 429, so I waited and tried again after thirty seconds.",
    "Their café in Zürich ordered the same machine in March, for €1,249.00.",
    "According to the policy, changes above 500 dollars need a second pair of eyes.",
    "I would rather not touch the production database without a backup.",
    "Let me know whether that works for you, and I will finish the rest today.",
    "The log says:\n\tTimeoutError: no answer from 10.0.0.12 within 30 s",
    "Nothing else in the account looks unusual; the last login was from the usual place.",
    "The report for the third quarter is ready — shall I share it with the board?",
    "Two of the links were broken, the others lead to the right pages now.",
]


@workload("messages", "20 chat messages, 16 KB: prose with a few escapes and accents")
def messages() -> object:
    rng = random.Random("messages")
    return [
        {
            "role": "assistant" if number % 2 else "user",
            "content": " ".join(rng.choice(SENTENCES) for _ in range(rng.randrange(7, 14))),
        }
        for number in range(20)
    ]


@workload("floats-random", "10,000 finite doubles of random bits: nearly all have 17 digits")
def floats_random() -> object:
    rng = random.Random("floats-random")
    values: list[float] = []
    while len(values) < 10_000:
        (value,) = struct.unpack("<d", rng.getrandbits(64).to_bytes(8, "little"))
        if math.isfinite(value):
            values.append(value)
    return values


@workload("floats-human", "5,000 prices and 5,000 coordinates")
def floats_human() -> object:
    rng = random.Random("floats-human")
    prices = [rng.randrange(1_000_000) / 100 for _ in range(5_000)]
    coordinates = [rng.randrange(-180_000_000, 180_000_000) / 1_000_000 for _ in range(5_000)]
    return prices + coordinates


@workload("ints", "10,000 integers: half below 1,000, half of any length up to 2**53 - 1")
def ints() -> object:
    rng = random.Random("ints")
    values = [rng.randrange(1_000) for _ in range(5_000)]
    values += [rng.getrandbits(rng.randrange(1, 54)) * rng.choice((1, 1, -1)) for _ in range(5_000)]
    rng.shuffle(values)
    return values


@workload("wide", "one object of 10,000 keys in random order, half numbered names, half ids")
def wide() -> object:
    rng = random.Random("wide")
    keys = [f"field_{number}" for number in range(5_000)]
    keys += [f"{rng.getrandbits(48):012x}" for _ in range(5_000)]
    rng.shuffle(keys)
    return {key: number for number, key in enumerate(keys)}


@workload("unicode", "1,000 keys and values of Latin-1, Greek, CJK, full-width forms and emoji")
def unicode() -> object:
    rng = random.Random("unicode")
    words = [
        *("café", "naïve", "Größe", "año", "λόγος"),
        *("数据", "東京都", "한국어", "日本語のテキスト", "ｆｕｌｌ"),
        *("😀", "🚀 launch", "👩‍💻", "𝒳𝒴", "𠮷野家"),
        *("plain", "e\u0301toile"),
    ]
    return {
        f"{rng.choice(words)}-{number}": " ".join(rng.choices(words, k=rng.randrange(1, 4)))
        for number in rng.sample(range(1_000), 1_000)
    }


@workload("deep", "200 levels, objects and arrays in turn")
def deep() -> object:
    value: object = "leaf"
    for level in range(100):
        value = {"level": level, "children": [value]}
    return value


@workload("records", "2,000 small objects with the same keys: rows of a table")
def records() -> object:
    rng = random.Random("records")
    return [
        {
            "id": number,
            "name": f"user {rng.randrange(10_000)}",
            "email": f"u{number}@example.com",
            "score": rng.randrange(100_000) / 1_000,
            "active": rng.random() < 0.5,
        }
        for number in range(2_000)
    ]


@workload("schema", "30 tool definitions, 25 KB: JSON schemas with descriptions")
def schema() -> object:
    rng = random.Random("schema")
    subjects = ["customer", "order", "invoice", "ticket", "shipment", "document"]
    actions = ["search", "create", "update", "delete", "export"]
    properties: dict[str, dict[str, object]] = {
        "query": {"type": "string", "description": "Words to search for, in any order."},
        "id": {"type": "string", "format": "uuid", "description": "The id that a search gave."},
        "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20},
        "since": {"type": "string", "format": "date", "description": "Leave out older entries."},
        "fields": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
        "status": {"type": "string", "enum": ["open", "pending", "closed"]},
        "amount": {"type": "number", "minimum": 0.01, "description": "In the account's currency."},
        "dryRun": {"type": "boolean", "default": False},
    }
    tools = []
    for action in actions:
        for subject in subjects:
            chosen = rng.sample(list(properties), 7)
            tools.append(
                {
                    "name": f"{action}_{subject}",
                    "description": (
                        f"Use this to {action} one {subject} or several. The result holds the "
                        f'"{subject}" as it is now, with the time of its last change; an error '
                        "says what was wrong."
                    ),
                    "input_schema": {
                        "type": "object",
                        "properties": {name: dict(properties[name]) for name in chosen},
                        "required": chosen[:2],
                        "additionalProperties": False,
                    },
                }
            )
    return tools
