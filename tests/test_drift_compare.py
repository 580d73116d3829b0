"""Changes of a contract: planted ones are found, with their counts; churn is none."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overturn_fast.shape import (
    Comparison,
    DriftEvent,
    Limits,
    Policy,
    ShapeStats,
    baseline,
    compare,
    json_schema,
)
from overturn_fast.shape.announce import FORMATS, exit_code, summary
from overturn_fast.shape.compare import DEFAULT_TABLE, KINDS
from overturn_fast.shape.traffic import DRIFTS, START, TOOLS, traffic

DAY = 86_400_000


def of(*observed: tuple[Any, int], tool: str = "t", at: float | None = None) -> ShapeStats:
    stats = ShapeStats(tool)
    for response, count in observed:
        stats.observe(response, at, count)
    return stats


def found(before: ShapeStats, since: ShapeStats, **policy: Any) -> list[tuple[str, str, str]]:
    events = compare(before, since, Policy(**policy))
    return [(event.severity, event.kind, event.path) for event in events]


def recorded(tool: str, first: int, days: int, seed: int, *drifts: str) -> ShapeStats:
    stats = ShapeStats(tool)
    for time, response in traffic(
        tool, days, 40, seed=seed, start=START + first * DAY, drifts=drifts
    ):
        stats.observe(response, time / 1000)
    return stats


@pytest.fixture(scope="module")
def weeks() -> dict[str, ShapeStats]:
    """Ten days of each tool."""
    return {tool: recorded(tool, 0, 10, 0) for tool in TOOLS}


# -- what was planted ------------------------------------------------------------------------------

PLANTED = {
    ("search", "rename"): [
        ("breaking", "field_removed", "$.results[].url", "string", "absent"),
        ("warning", "field_added", "$.results[].link", "absent", "string"),
    ],
    ("search", "string"): [
        ("breaking", "type_changed", "$.results[].price", "number", "string"),
    ],
    ("search", "gone"): [
        ("breaking", "presence_drop", "$.results[].snippet", None, None),
    ],
    ("pricing", "rename"): [
        ("breaking", "field_removed", "$.sku", "string", "absent"),
        ("warning", "field_added", "$.product_id", "absent", "string"),
    ],
    ("pricing", "string"): [
        ("breaking", "type_changed", "$.price_cents", "number", "string"),
    ],
    ("pricing", "gone"): [
        ("breaking", "presence_drop", "$.currency", "100%", None),
    ],
}


def expected_counts(tool: str, event: DriftEvent, current: list[dict[str, Any]]) -> int:
    """How many values or objects show the change, counted without the package."""
    objects = [item for one in current for item in one["results"]] if tool == "search" else current
    name = event.path.rpartition(".")[2]
    if event.kind in ("field_removed", "presence_drop"):
        return sum(name not in item for item in objects)
    return sum(name in item for item in objects)


@pytest.mark.parametrize(("tool", "drift"), PLANTED)
def test_a_planted_drift_is_found_with_its_counts_and_severity(
    weeks: dict[str, ShapeStats], tool: str, drift: str
) -> None:
    comparison = compare(weeks[tool], recorded(tool, 10, 1, 3, drift))
    planted = PLANTED[tool, drift]
    assert [(one.severity, one.kind, one.path) for one in comparison] == [
        (severity, kind, path) for severity, kind, path, _, _ in planted
    ]
    current = [
        response
        for _, response in traffic(tool, 1, 40, seed=3, start=START + 10 * DAY, drifts=(drift,))
    ]
    learned = [response for _, response in traffic(tool, 10, 40)]
    for event, (_, _, _, before, after) in zip(comparison, planted, strict=True):
        assert before in (None, event.before)
        assert after in (None, event.after)
        assert event.current_observations == expected_counts(tool, event, current)
        objects = [x for one in learned for x in one["results"]] if tool == "search" else learned
        values = [x for x in objects if event.path.rpartition(".")[2] in x]
        is_about_values = event.kind == "type_changed"
        assert event.baseline_observations == len(values if is_about_values else objects)
        assert event.first_seen is not None
        assert event.first_seen.startswith("2026-06-11")


@pytest.mark.parametrize("tool", TOOLS)
def test_a_renamed_field_is_told_by_both_of_its_names(
    weeks: dict[str, ShapeStats], tool: str
) -> None:
    removed, added = compare(weeks[tool], recorded(tool, 10, 1, 3, "rename"))
    assert removed.hint == f"renamed to {added.path[2:]}"
    assert added.hint == f"renamed from {removed.path[2:]}"


@pytest.mark.parametrize("tool", TOOLS)
def test_thirty_days_of_churn_raise_nothing_above_info(
    weeks: dict[str, ShapeStats], tool: str
) -> None:
    for day in range(30):
        comparison = compare(weeks[tool], recorded(tool, 10 + day, 1, 100 + day))
        assert not comparison.has_too_few
        assert comparison.worst in (None, "info"), [event.text() for event in comparison]


def test_every_drift_can_be_planted_in_every_tool() -> None:
    assert {drift for _, drift in PLANTED} == set(DRIFTS)
    assert {tool for tool, _ in PLANTED} == set(TOOLS)
    with pytest.raises(ValueError, match="no such drift"):
        next(traffic("search", 1, 1, drifts=("x",)))


# -- each kind -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "since", "events"),
    [
        pytest.param([({"a": 1}, 100)], [({"a": 2.5}, 100)], [], id="another-value"),
        pytest.param(
            [({"a": 1}, 100)], [({}, 100)], [("breaking", "field_removed", "$.a")], id="gone"
        ),
        pytest.param(
            [({"a": 1}, 300), ({}, 300)],
            [({}, 100)],
            [("warning", "field_removed", "$.a")],
            id="optional-gone",
        ),
        pytest.param([({"a": 1}, 5), ({}, 595)], [({}, 100)], [], id="rare-not-seen"),
        pytest.param(
            [({"a": 1}, 600)],
            [({"a": 1}, 20), ({}, 80)],
            [("breaking", "presence_drop", "$.a")],
            id="mostly-gone",
        ),
        pytest.param(
            [({"a": 1}, 2000)],
            [({"a": 1}, 180), ({}, 20)],
            [("warning", "presence_drop", "$.a")],
            id="sometimes-gone",
        ),
        pytest.param(
            [({"a": 1}, 600), ({}, 400)],
            [({"a": 1}, 20), ({}, 80)],
            [("info", "presence_drop", "$.a")],
            id="optional-less-often",
        ),
        pytest.param([({"a": 1}, 50), ({}, 50)], [({"a": 1}, 100)], [], id="more-often"),
        pytest.param(
            [({}, 100)], [({"a": 1}, 100)], [("warning", "field_added", "$.a")], id="added"
        ),
        pytest.param(
            [({}, 100)], [({"a": 1}, 1), ({}, 99)], [("info", "field_added", "$.a")], id="once"
        ),
        pytest.param(
            [({"a": 1}, 100)], [({"a": "1"}, 100)], [("breaking", "type_changed", "$.a")], id="type"
        ),
        pytest.param(
            [({"a": 1}, 1000)],
            [({"a": 1}, 70), ({"a": "1"}, 30)],
            [("warning", "variant_added", "$.a")],
            id="type-beside",
        ),
        pytest.param(
            [({"a": 1}, 1000)],
            [({"a": 1}, 99), ({"a": "1"}, 1)],
            [("info", "variant_added", "$.a")],
            id="type-once",
        ),
        pytest.param(
            [({"a": 1}, 60), ({"a": "1"}, 40)], [({"a": "1"}, 100)], [], id="one-of-two-types"
        ),
        pytest.param(
            [({"a": {"b": 1}}, 100)],
            [({"a": [{"b": 1}]}, 100)],
            [("breaking", "container_changed", "$.a")],
            id="container",
        ),
        pytest.param(
            [({"a": 1}, 1000)],
            [({"a": None}, 90), ({"a": 1}, 10)],
            [("breaking", "null_rate", "$.a")],
            id="mostly-null",
        ),
        pytest.param(
            [({"a": 1}, 1000)],
            [({"a": None}, 20), ({"a": 1}, 80)],
            [("warning", "null_rate", "$.a")],
            id="often-null",
        ),
        pytest.param(
            [({"a": 1}, 1000)],
            [({"a": None}, 1), ({"a": 1}, 99)],
            [("info", "null_rate", "$.a")],
            id="null-once",
        ),
        pytest.param(
            [({"a": 1, "b": 1}, 500), ({"a": 1, "c": 1}, 500)],
            [({"a": 1, "b": 1}, 30), ({"a": 1, "c": 1}, 30), ({"a": 1, "b": 1, "c": 1}, 40)],
            [("warning", "variant_added", "$")],
            id="keys-together",
        ),
        pytest.param(
            [({"a": {"b": {"c": 1}}}, 100)],
            [({}, 100)],
            [("breaking", "field_removed", "$.a")],
            id="only-the-top",
        ),
        pytest.param(
            [([], 100)],
            [([{"a": 1}], 100)],
            [("warning", "variant_added", "$[]")],
            id="items-at-last",
        ),
        pytest.param(
            [({"m": {"name": 1}}, 500)],
            [({"m": {"17": 1}}, 100)],
            [("breaking", "field_removed", "$.m.name"), ("warning", "field_added", "$.m.{*}")],
            id="a-name-and-then-identifiers",
        ),
        pytest.param([(1, 100)], [("1", 100)], [("breaking", "type_changed", "$")], id="root"),
    ],
)
def test_a_change_has_its_kind_and_severity(
    before: list[tuple[Any, int]], since: list[tuple[Any, int]], events: list[tuple[str, str, str]]
) -> None:
    assert found(of(*before), of(*since)) == events


@pytest.mark.parametrize(
    ("before", "since", "kind", "headline"),
    [
        ({"a": None}, {"a": "x"}, "variant_added", "a varies null -> null | string"),
        ({"a": None}, {"a": {"b": 1}}, "variant_added", "a varies null -> null | object"),
        (None, [1], "variant_added", "$ varies null -> null | array"),
        ({"a": []}, {"a": [{"b": 1}]}, "variant_added", "a[] varies absent -> object"),
        ([], [1], "variant_added", "[] varies absent -> number"),
        ({"m": {}}, {"m": {"2026-07-13": 1}}, "field_added", "m.{*} added: present in 0% -> "),
        (
            {"m": {"k": 1}},
            {"m": {"k": 1, "17": "x"}},
            "field_added",
            "m.{*} added: present in 0% ->",
        ),
    ],
)
def test_what_was_always_empty_and_is_not_any_more_is_a_change(
    before: Any, since: Any, kind: str, headline: str
) -> None:
    (event,) = compare(of((before, 500)), of((since, 100), at=1.0))
    assert (event.severity, event.kind) == ("warning", kind)
    assert event.headline().startswith(headline)
    assert (event.baseline_observations, event.current_observations) == (500, 100)
    assert event.first_seen == "1970-01-01T00:00:01Z"
    (event,) = compare(of((before, 500)), of((since, 2), (before, 98)))
    assert (event.severity, event.current_observations, event.after_rate) == ("info", 2, 0.02)
    assert compare(of((before, 49)), of((since, 100))).has_too_few
    assert list(compare(of((since, 500)), of((since, 100)))) == []


def test_every_kind_has_a_severity() -> None:
    assert {grade.partition(":")[0] for grade in DEFAULT_TABLE} == set(KINDS)


def test_an_object_that_turns_out_to_be_a_map_is_information() -> None:
    before = of(*(({"by": {f"k{c}": 1}}, 20) for c in "abcdefgh"))
    since = ShapeStats("t")
    for number in range(100):
        since.observe({"by": {f"u{chr(97 + number % 26)}{chr(97 + number // 26)}": 1}})
    assert found(before, since) == [("info", "container_changed", "$.by")]


def test_strings_that_leave_a_small_set_are_a_variant() -> None:
    key = b"a key of 16 bytes or more"
    before, since = ShapeStats("t", enum_key=key), ShapeStats("t", enum_key=key)
    for status in ("active", "paused"):
        before.observe({"status": status}, count=500)
        since.observe({"status": status}, count=40)
    assert found(before, since) == []
    since.observe({"status": "archived"}, count=20)
    (event,) = compare(before, since)
    assert (event.severity, event.kind, event.path) == ("warning", "variant_added", "$.status")
    assert (event.before, event.after) == ("2 strings", "3 strings")
    assert "archived" not in event.text()


def test_items_of_one_response_are_not_independent_observations() -> None:
    before = of(({"items": [{"a": 1}] * 10}, 100))
    odd = {"items": [{}] * 40}
    assert found(before, of(({"items": [{"a": 1}] * 10}, 39), (odd, 1))) == []
    before.observe({"items": [{"a": 1}] * 10}, count=1900)
    assert found(before, of(({"items": [{"a": 1}] * 10}, 780), (odd, 20))) == [
        ("warning", "presence_drop", "$.items[].a")
    ]


# -- too few ---------------------------------------------------------------------------------------


def test_too_few_responses_are_a_state_of_their_own() -> None:
    comparison = compare(of(({"a": 1}, 1000)), of(({"a": "1"}, 19)))
    assert list(comparison) == []
    assert comparison.has_too_few
    assert exit_code(comparison) == 5
    assert "too few" in summary(comparison)
    assert exit_code(compare(of(({"a": 1}, 49)), of(({"a": "1"}, 100)))) == 5
    assert not compare(of(({"a": 1}, 50)), of(({"a": "1"}, 20))).has_too_few


def test_paths_that_were_hardly_seen_are_undecided() -> None:
    before = of(({"a": {"b": 1}, "c": [1]}, 100))
    since = of(({"a": {}, "c": []}, 5), ({"a": None, "c": []}, 95))
    comparison = compare(before, since)
    assert comparison.undecided == ("$.a", "$.a.b", "$.c[]")


# -- policy ----------------------------------------------------------------------------------------


def test_a_table_and_paths_change_severities() -> None:
    before, since = of(({"a": 1, "ad_id": 1}, 100)), of(({"a": "1", "ad_x": 1}, 100))
    assert found(before, since) == [
        ("breaking", "type_changed", "$.a"),
        ("breaking", "field_removed", "$.ad_id"),
        ("warning", "field_added", "$.ad_x"),
    ]
    assert found(
        before, since, table={"type_changed": "info", "field_added:recurring": "info"}
    ) == [
        ("breaking", "field_removed", "$.ad_id"),
        ("info", "type_changed", "$.a"),
        ("info", "field_added", "$.ad_x"),
    ]
    assert found(before, since, paths={"ad_*": "ignore", "$.a": {"type_changed": "warning"}}) == [
        ("warning", "type_changed", "$.a")
    ]


@pytest.mark.parametrize(
    "policy",
    [
        {"table": {"x": "info"}},
        {"table": {"type_changed": "fatal"}},
        {"paths": {"a": "fatal"}},
        {"paths": {"a..b": "info"}},
        {"paths": {"a": {"x": "info"}}},
    ],
)
def test_a_policy_that_makes_no_sense_is_refused(policy: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"no (severity|kind|path)|is no path"):
        Policy(**policy)


def test_only_statistics_that_are_alike_are_compared() -> None:
    with pytest.raises(TypeError, match=r"^current must be a ShapeStats, not int$"):
        compare(ShapeStats("a"), 5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="different tools cannot be compared: '"):
        compare(ShapeStats("a"), ShapeStats("b"))
    with pytest.raises(ValueError, match="different limits"):
        compare(ShapeStats("a"), ShapeStats("a", limits=Limits(max_paths=7)))
    with pytest.raises(ValueError, match="look at strings differently"):
        compare(ShapeStats("a"), ShapeStats("a", formats=True))


def test_comparing_changes_neither_side() -> None:
    before, since = of(({"a": {"17": 1}}, 60)), of(({"a": "1"}, 60))
    saved = baseline.dumps(before), baseline.dumps(since)
    compare(before, since)
    assert (baseline.dumps(before), baseline.dumps(since)) == saved


# -- text ------------------------------------------------------------------------------------------


@cache
def comparison_of(*drifts: str) -> Comparison:
    return compare(recorded("search", 0, 10, 0), recorded("search", 10, 1, 3, *drifts))


def test_the_text_is_that_of_the_essay() -> None:
    before = of(({"results": [{"price": 24}]}, 18402), tool="search")
    since = of(({"results": [{"price": "24"}]}, 311), tool="search", at=1783925058.0)
    assert compare(before, since)[0].text() == (
        "results[].price changed number -> string\n"
        "baseline observations: 18,402\n"
        "current observations: 311\n"
        "first seen: 2026-07-13T06:44:18Z"
    )


def test_json_has_everything() -> None:
    document = json.loads(FORMATS["json"](comparison_of("rename"), []))
    assert document["outcome"] == "breaking"
    assert document["current_observations"] == 40
    assert [event["key"] for event in document["events"]] == [
        "search field_removed $.results[].url",
        "search field_added $.results[].link",
    ]
    assert {"before_rate", "after_rate", "first_seen", "severity"} <= document["events"][0].keys()


def test_annotations_of_github_are_one_line_each() -> None:
    lines = FORMATS["github"](comparison_of("rename"), []).splitlines()
    assert [line.partition(" ")[0] for line in lines] == ["::error", "::warning"]
    assert all("%0A" in line and line.count("::") == 2 for line in lines)
    assert FORMATS["github"](comparison_of(), []).startswith("::notice title=No drift::")


def test_a_junit_report_has_a_failure_for_each_change() -> None:
    suite = ElementTree.fromstring(FORMATS["junit"](comparison_of("rename"), []))
    assert (suite.get("tests"), suite.get("failures")) == ("2", "2")
    assert [failure.get("type") for failure in suite.iter("failure")] == ["breaking", "warning"]
    calm = ElementTree.fromstring(FORMATS["junit"](comparison_of(), []))
    assert (calm.get("tests"), calm.get("failures"), calm.get("skipped")) == ("1", "0", "0")


def test_a_webhook_gets_a_text_and_the_events() -> None:
    body = json.loads(FORMATS["webhook"](comparison_of("string"), []))
    assert body["severity"] == "breaking"
    assert "results[].price changed number -> string" in body["text"]
    assert len(body["events"]) == 1


HOSTILE = "\x1b[31m\u202e::error::\r\n]]><script>\x00"


@pytest.mark.parametrize("form", FORMATS)
def test_no_output_is_steered_by_a_hostile_key(form: str) -> None:
    before, since = of(({HOSTILE: 1}, 100), tool=HOSTILE), of(({HOSTILE: "1"}, 100), tool=HOSTILE)
    comparison = compare(before, since)
    assert len(comparison) == 1
    output = FORMATS[form](comparison, [])
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", output)
    if form == "junit":
        ElementTree.fromstring(output)
    elif form == "github":
        assert output.count("\n") == 1
    elif form != "text":
        json.loads(output)


@pytest.mark.parametrize(
    ("severity", "fail_on", "status"),
    [
        ("breaking", "info", 3),
        ("breaking", "breaking", 3),
        ("warning", "info", 2),
        ("warning", "breaking", 0),
        ("info", "info", 1),
        ("info", "warning", 0),
        ("breaking", "never", 0),
    ],
)
def test_the_exit_status_is_that_of_the_gravest_change(
    severity: str, fail_on: str, status: int
) -> None:
    before, since = of(({"a": 1}, 100)), of(({"a": "1"}, 100))
    comparison = compare(before, since, Policy(table={"type_changed": severity}))  # type: ignore[dict-item]
    assert exit_code(comparison, fail_on) == status


# -- JSON Schema -----------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", TOOLS)
def test_the_schema_is_one_and_accepts_what_it_was_learned_from(tool: str) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    stats = ShapeStats(tool, formats=True)
    responses = [response for _, response in traffic(tool, 2, 60)]
    for response in responses:
        stats.observe(response)
    schema = json_schema(stats)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(
        schema, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
    )
    for response in responses:
        validator.validate(response)
    _, drifted = next(traffic(tool, 1, 1, seed=5, drifts=("string",)))
    assert not validator.is_valid(drifted)


ANY = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(),
        st.sampled_from(["2026-07-13T06:44:18Z", "2026-13-45T99:44:18Z", "ann@example.com"]),
    ),
    lambda values: st.one_of(
        st.lists(values, max_size=4),
        st.dictionaries(st.sampled_from(["a", "b", "c d", "17", ""]), values, max_size=4),
    ),
    max_leaves=20,
)
TIGHT = st.builds(
    Limits,
    max_depth=st.integers(1, 5),
    max_paths=st.integers(1, 30),
    map_keys=st.integers(1, 4),
    map_containers=st.integers(1, 4),
    maps=st.sets(st.sampled_from(["a", "$", "a[].b"]), max_size=2).map(frozenset),
)


@given(st.lists(ANY, min_size=1, max_size=8), TIGHT)
def test_a_schema_accepts_whatever_it_was_learned_from(
    responses: list[Any], limits: Limits
) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    stats = ShapeStats("t", limits=limits, formats=True)
    for response in responses:
        stats.observe_text(json.dumps(response))
    schema = json_schema(stats)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for response in responses:
        validator.validate(response)


def test_a_schema_of_anything_learned_accepts_it() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    responses: list[Any] = [
        None, 1, 1.5, "x", [], [1, "a"], {}, {"17": 1, "a": None}, {"a": [[{"b": {}}]]}, True,
    ]  # fmt: skip
    for limits in (Limits(), Limits(max_depth=1), Limits(map_keys=1), Limits(max_paths=1)):
        stats = ShapeStats("t", limits=limits)
        for response in responses:
            stats.observe(response)
        schema = json_schema(stats)
        jsonschema.Draft202012Validator.check_schema(schema)
        for response in responses:
            jsonschema.validate(response, schema)
