"""No value of a response, and no key that is data, in anything that shapes and drift put out."""

from __future__ import annotations

import copy
import functools
import json
import logging
import pickle
import random
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from overturn_fast import CanonicalizationError, shape
from overturn_fast.shape import (
    BaselineStore,
    Comparison,
    DriftMonitor,
    Incident,
    Incidents,
    Limits,
    ShapeStats,
    compare,
    dumps,
    json_schema,
    loads,
)
from overturn_fast.shape.announce import FORMATS, summary

# What nobody may read, none of it part of anything that may be printed.
VALUES = [
    "correct horse battery staple", "sk_live_51H8xYzAbCdEfGh0JkLm", "Ann Lee, 12 Elm Street",
    "4111 1111 1111 1111", "hunter2", "+49 30 1234567", "https://example.com/reset?token=q9W8e7R6",
    "1997-05-23", "f47ac10b-58cc-4372-a567-0e02b2c3d479",
]  # fmt: skip
NUMBERS = [918273645, 27.182818284, 10**30]
IDENTIFIERS = [
    "ann.lee@example.com", "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "10.11.12.13", "+4915112345678",
    "2026-07-13T06:44:18Z", "0xdeadbeefdeadbeef", "cus_9f8e7d6c5b4a39281706", "https://a.example/x",
    "5500 0000 0000 0004", "fe80::1ff:fe23:4567:890a", "x" * 129,
]  # fmt: skip
"""Keys that are data by their form, however few there are."""
NAMES = [f"{first}{last}" for first in ("ann", "bob", "eve", "joe", "sue", "tom", "kim", "max")
         for last in ("ashby", "birch", "clark", "dunne", "ellis", "flint", "grant", "hayes",
                      "irwin", "jones")]  # fmt: skip
"""Keys that are data as there are so many of them, or as their object is declared to be a map."""
SECRETS = [
    *VALUES, *IDENTIFIERS, *NAMES, "918273645", "27.182818284", "1000000000000000000000000000000",
    "1e30", "1e+30",
]  # fmt: skip
FIRST = ("sku", "price", "by_id", "by_name", "declared", "notes")


def response(chance: random.Random, *, migrated: bool) -> dict[str, Any]:
    secret, number = chance.choice(VALUES), chance.choice(NUMBERS)
    return {
        "sku": secret,
        "price": str(number) if migrated else number,
        "by_id": {key: chance.choice(VALUES) for key in chance.sample(IDENTIFIERS, 4)},
        "by_name": {name: {"n": number} for name in chance.sample(NAMES, 3)},
        "declared": {chance.choice(NAMES): number},
        "notes": [secret, {"text": secret, "to": {chance.choice(IDENTIFIERS): None}}],
    } | ({"moved": {chance.choice(IDENTIFIERS): [secret]}} if migrated else {})


def responses(count: int, *, migrated: bool = False) -> list[dict[str, Any]]:
    chance = random.Random(f"secrets {migrated}")
    return [response(chance, migrated=migrated) for _ in range(count)]


LIMITS = Limits(maps=frozenset({"declared"}))


def learned(observed: list[dict[str, Any]], **options: Any) -> ShapeStats:
    stats = ShapeStats("mailer", limits=LIMITS, **options)
    for number, value in enumerate(observed):
        stats.observe(value, at=1_780_272_000.0 + 3600 * number)
    return stats


def clean(*outputs: str | bytes) -> None:
    """Fail if there is a secret, in whatever spelling of JSON, in one of these."""
    for output in outputs:
        text = output.decode("utf-8", "replace") if isinstance(output, bytes) else output
        unescaped = text.replace("\\/", "/").replace("&#34;", '"').replace("%3A", ":")
        for secret in SECRETS:
            assert secret not in text
            assert secret not in unescaped


OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "formats": {"formats": True},
    "enums": {"enum_key": b"a key of 16 bytes or more"},
}


@pytest.fixture(scope="module", params=OPTIONS)
def both(request: pytest.FixtureRequest) -> tuple[ShapeStats, ShapeStats]:
    """What was learned before and since a migration."""
    options = OPTIONS[request.param]
    return learned(responses(300), **options), learned(responses(60, migrated=True), **options)


@pytest.fixture(scope="module")
def comparison(both: tuple[ShapeStats, ShapeStats]) -> Comparison:
    found = compare(*both)
    assert {event.path for event in found} >= {"$.price", "$.moved"}
    assert found.worst == "breaking"
    return found


def test_no_secret_is_in_a_baseline_or_a_copy(
    both: tuple[ShapeStats, ShapeStats], tmp_path: Path
) -> None:
    stats = both[0]
    store = BaselineStore(tmp_path / "all.db")
    store.save(stats)
    clean(dumps(stats), repr(stats), pickle.dumps(stats), (tmp_path / "all.db").read_bytes())
    clean(repr(list(stats.paths())), json.dumps(json_schema(stats)), dumps(copy.deepcopy(stats)))
    known = loads(dumps(stats))
    clean(dumps(known.merge(both[1])))
    assert {path.path for path in stats.paths()} >= {f"$.{name}" for name in FIRST}


@pytest.mark.parametrize("form", FORMATS)
def test_no_secret_is_in_an_outcome(comparison: Comparison, form: str) -> None:
    incidents = Incidents()
    changed = incidents.update(comparison, 1_790_000_000.0)
    output = FORMATS[form](comparison, changed)
    assert "price" in output
    clean(output, summary(comparison), repr(comparison), incidents.dumps(), repr(changed))
    clean(*(event.text() for event in comparison), pickle.dumps(comparison))


def test_no_secret_is_in_a_page(
    both: tuple[ShapeStats, ShapeStats], comparison: Comparison
) -> None:
    pytest.importorskip("jinja2")
    from overturn_fast.shape.report import html_report

    incidents = Incidents()
    incidents.update(comparison, 1_790_000_000.0)
    clean(html_report(*both, incidents=incidents.all()), html_report(both[0]))


@pytest.mark.parametrize("options", OPTIONS)
def test_no_secret_is_logged_or_passed_on(options: str, caplog: pytest.LogCaptureFixture) -> None:
    passed: list[Incident] = []
    baseline = learned(responses(300), **OPTIONS[options])
    monitor = DriftMonitor(
        "mailer", baseline, window=30, on_change=passed.append,
        enum_key=OPTIONS[options].get("enum_key"),
    )  # fmt: skip
    with caplog.at_level(logging.DEBUG):
        for value in [*responses(60, migrated=True), *responses(60)]:
            monitor.observe(value)
    assert "price changed number -> string" in caplog.text
    assert passed
    clean(caplog.text, *(record.getMessage() for record in caplog.records))
    for record in caplog.records:
        clean(repr(record.__dict__))
    for incident in passed:
        clean(incident.text(), repr(incident), json.dumps(incident.as_dict()))
        clean(*(event.text() + repr(event) for event in incident.events.values()))
    clean(repr(monitor.state), repr(monitor), monitor.incidents.dumps())


class Broken(Mapping[str, Any]):
    """A value whose own code quotes what it has."""

    def __getitem__(self, key: str) -> Any:
        raise RuntimeError(f"{key}: {VALUES[0]}")

    def __iter__(self) -> Iterator[str]:
        return iter(IDENTIFIERS)

    def __len__(self) -> int:
        return len(IDENTIFIERS)

    def __repr__(self) -> str:
        return VALUES[1]


shape_v2 = functools.partial(shape.shape, profile="v2")
fingerprint_v2 = functools.partial(shape.fingerprint, profile="v2")


def test_no_value_is_in_an_error(caplog: pytest.LogCaptureFixture) -> None:
    circle: list[Any] = [*VALUES]
    circle.append(circle)
    deep: Any = VALUES[0]
    for _ in range(10_001):
        deep = [deep]
    monitor = DriftMonitor("mailer")
    with caplog.at_level(logging.DEBUG):
        for bad in (
            {"a": circle},
            {"a": deep},
            {"a": Broken()},
            {"a": {(VALUES[0], 1): VALUES[1]}},
        ):
            for function in (shape_v2, fingerprint_v2, ShapeStats("t").observe):
                with pytest.raises(CanonicalizationError) as raised:
                    function({**bad, "b": VALUES[2]})
                clean(str(raised.value), repr(raised.value))
            monitor.observe(bad)
    assert (monitor.state.refused, caplog.text) == (4, "")
    clean(repr(monitor.state))


def test_no_text_is_in_an_error() -> None:
    whole = json.dumps(responses(1)[0])
    chance = random.Random(7)
    refused = 0
    for _ in range(200):
        cut = chance.randrange(1, len(whole))
        for text in (
            whole[:cut],
            whole[:cut] + "\x00" + whole[cut:],
            f"{whole[:cut]}'{whole[cut:]}",
        ):
            for function in (
                shape.shape_text,
                shape.fingerprint_text,
                ShapeStats("t").observe_text,
            ):
                try:
                    function(text)
                except CanonicalizationError as error:
                    refused += 1
                    clean(str(error), repr(error), repr(vars(error)))
    assert refused >= 200 * 2 * 3  # but for an apostrophe within a string, none is JSON


def test_no_key_forges_a_line_of_a_log(caplog: pytest.LogCaptureFixture) -> None:
    tool = "mailer\n2026-07-13 ERROR forged\x1b[2J"
    hostile = {"a\n2026-07-13 ERROR forged": 1, "\u202egnp.exe": 1, "\x9b2J": 1, "\u2028x": 1}
    stats = ShapeStats(tool)
    stats.observe(hostile, count=500)
    monitor = DriftMonitor(tool, stats, window=20)
    with caplog.at_level(logging.DEBUG):
        for _ in range(20):
            monitor.observe(dict.fromkeys(hostile, "1"))
    (record,) = caplog.records
    first, *others = record.getMessage().split("\n")
    assert first.startswith(f"{monitor.incidents.all()[0].id} mailer\\u000a2026-07-13 ERROR")
    assert len(others) == len(hostile)
    assert all(line.startswith("  [") for line in others)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e]", record.getMessage())
