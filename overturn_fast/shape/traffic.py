"""Responses of two tools that do not exist, as they would come in over some weeks.

For tests and for trying things out. Values churn: prices, texts, times, identifiers, how many
results there are, whether there is an ad among them. The contract stays, until a drift is planted.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any, Final

from overturn_fast.shape.times import iso

__all__ = ["DRIFTS", "START", "TOOLS", "traffic"]

START: Final = 1_780_272_000_000  # 2026-06-01, in milliseconds since 1970

_DAY: Final = 86_400_000
_WORDS: Final = (
    "amber", "basin", "cedar", "delta", "ember", "fjord", "grove", "harbor", "island", "juniper",
    "kestrel", "lagoon", "meadow", "north", "orchard", "prairie", "quarry", "river", "summit",
    "tundra", "upland", "valley", "willow", "yonder", "zephyr",
)  # fmt: skip

DRIFTS: Final = {
    "rename": "a field has another name: results[].url is results[].link, sku is product_id",
    "string": "a number is a string: results[].price, price_cents",
    "gone": "a field is gone from 80% of the objects: results[].snippet, currency",
}
"""What can be planted, and what it does to the search tool and to the pricing tool."""


def traffic(
    tool: str,
    days: int,
    per_day: int,
    *,
    seed: int = 0,
    start: int = START,
    drifts: tuple[str, ...] = (),
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Responses of a tool, each with its time.

    Args:
        tool: ``"search"`` or ``"pricing"``.
        days: For how many days.
        per_day: How many responses a day.
        seed: Other seeds give other values.
        start: When the first day begins, in milliseconds since 1970.
        drifts: Names of ``DRIFTS`` that are planted in all responses.

    Returns:
        Pairs of a time in milliseconds and a response, in the order of time.

    >>> time, response = next(traffic("pricing", 1, 1, seed=1))
    >>> sorted(response)[:4]
    ['currency', 'discounts', 'price_cents', 'sku']
    """
    unknown = set(drifts) - DRIFTS.keys()
    if unknown:
        raise ValueError(f"no such drift: {', '.join(sorted(unknown))}")
    make = TOOLS[tool]
    chance = random.Random(f"{tool} {seed} {start}")
    for day in range(days):
        for number in range(per_day):
            time = start + day * _DAY + number * _DAY // per_day
            yield time, make(chance, time, drifts)


def _search(chance: random.Random, time: int, drifts: tuple[str, ...]) -> dict[str, Any]:
    count = 0 if chance.random() < 0.04 else chance.randint(5, 20)
    results = [_result(chance, time, drifts) for _ in range(count)]
    if results and chance.random() < 0.3:
        results.insert(0, _ad(chance))
    response: dict[str, Any] = {
        "request_id": _uuid(chance),
        "query": _phrase(chance, 1, 4),
        "took_ms": chance.randint(3, 900),
        "cached": chance.random() < 0.5,
        "total": count * chance.randint(1, 5000),
        "results": results,
        "facets": {_uuid(chance): chance.randint(1, 90) for _ in range(chance.randint(0, 5))},
    }
    if chance.random() < 0.15:
        response["did_you_mean"] = _phrase(chance, 1, 3)
    return response


def _result(chance: random.Random, time: int, drifts: tuple[str, ...]) -> dict[str, Any]:
    slug = "-".join(chance.sample(_WORDS, 2))
    result: dict[str, Any] = {
        "kind": "organic",
        "title": _phrase(chance, 2, 6).title(),
        "url": f"https://example.com/{slug}?ref={chance.randint(1, 99999)}",
        "snippet": _phrase(chance, 8, 20),
        "score": round(chance.random(), 6),
        "price": _price(chance),
        "published": iso(time - chance.randint(0, 10**9)),
    }
    if chance.random() < 0.35:
        result["thumbnail"] = {
            "src": f"https://img.example.com/{chance.getrandbits(40):x}.jpg",
            "width": chance.choice((120, 240)),
        }
    if "rename" in drifts:
        result["link"] = result.pop("url")
    if "string" in drifts:
        result["price"] = str(result["price"])
    if "gone" in drifts and chance.random() < 0.8:
        del result["snippet"]
    return result


def _ad(chance: random.Random) -> dict[str, Any]:
    return {
        "kind": "ad",
        "title": _phrase(chance, 2, 4).title(),
        "advertiser": chance.choice(_WORDS).title(),
        "bid": round(chance.random() * 3, 2),
    }


def _pricing(chance: random.Random, time: int, drifts: tuple[str, ...]) -> dict[str, Any]:
    response: dict[str, Any] = {
        "sku": f"{chance.choice(_WORDS)}-{chance.choice(('monthly', 'annual'))}",
        "price_cents": chance.randint(500, 90000),
        "currency": chance.choice(("USD", "EUR", "JPY")),
        "updated_at": iso(time - chance.randint(0, 3_600_000)),
        "tiers": [
            {"from": size, "price_cents": chance.randint(100, 9000)} for size in (1, 10, 100)
        ][: chance.randint(0, 3)],
        "discounts": None if chance.random() < 0.2 else {"percent": chance.randint(1, 30)},
    }
    if chance.random() < 0.1:
        response["note"] = _phrase(chance, 3, 9)
    if "rename" in drifts:
        response["product_id"] = response.pop("sku")
    if "string" in drifts:
        response["price_cents"] = str(response["price_cents"])
    if "gone" in drifts and chance.random() < 0.8:
        del response["currency"]
    return response


TOOLS: Final[dict[str, Callable[[random.Random, int, tuple[str, ...]], dict[str, Any]]]] = {
    "search": _search,
    "pricing": _pricing,
}
"""How a response of each tool is made."""


def _price(chance: random.Random) -> float:
    return chance.choice((chance.randint(1, 400), round(chance.random() * 400, 2)))


def _phrase(chance: random.Random, least: int, most: int) -> str:
    return " ".join(chance.choices(_WORDS, k=chance.randint(least, most)))


def _uuid(chance: random.Random) -> str:
    digits = f"{chance.getrandbits(128):032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
