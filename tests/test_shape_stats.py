"""Statistics of responses: nothing of them depends on order, nothing in them is a value."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from overturn_fast.shape import Limits, ShapeStats, baseline
from overturn_fast.shape import tree as shape_tree

# Few names, so that they meet; some that are identifiers.
KEYS = st.sampled_from([*"abcdefghij", "x.y", "2026-07-13", "17", "ann@example.com"])
VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-9, 9),
        st.floats(allow_nan=False),
        st.sampled_from(["", "red", "green", "blue", "2026-07-13T06:44:18Z", "x" * 300]),
        st.just(b"bytes"),
    ),
    lambda values: st.one_of(
        st.lists(values, max_size=4), st.dictionaries(KEYS, values, max_size=7)
    ),
    max_leaves=40,
)
TIMES = st.one_of(st.none(), st.integers(0, 40).map(lambda hours: hours * 3600.5))
OBSERVED = st.lists(st.tuples(VALUES, TIMES), min_size=1, max_size=12)
LIMITS = st.builds(
    Limits,
    max_depth=st.integers(1, 6),
    max_paths=st.one_of(st.integers(1, 40), st.just(1000)),
    map_keys=st.integers(1, 6),
    map_containers=st.integers(1, 4),
    max_variants=st.integers(1, 3),
    max_enum=st.integers(1, 3),
    maps=st.sets(
        st.sampled_from(["a", "a.b", "$", "b.{*}", "a[].c", "{*}.a", "a.{*}.c"]), max_size=2
    ).map(frozenset),
    period=st.just(3600),
    max_periods=st.integers(1, 5),
)
KEY = b"a key of 16 bytes or more"


def learned(observed: list[tuple[Any, Any]], limits: Limits) -> ShapeStats:
    stats = ShapeStats("t", limits=limits, formats=True, enum_key=KEY)
    for value, time in observed:
        stats.observe(value, time)
    return stats


# -- order -----------------------------------------------------------------------------------------


@settings(max_examples=400, deadline=None)
@given(OBSERVED, LIMITS, st.randoms(use_true_random=False), st.data())
def test_no_byte_of_a_baseline_depends_on_order_or_on_how_the_work_was_split(
    observed: list[tuple[Any, Any]], limits: Limits, random: random.Random, data: st.DataObject
) -> None:
    whole = baseline.dumps(learned(observed, limits))
    shuffled = observed.copy()
    random.shuffle(shuffled)
    workers: list[list[tuple[Any, Any]]] = [[] for _ in range(data.draw(st.integers(1, 5)))]
    for observation in shuffled:
        random.choice(workers).append(observation)
    parts = [baseline.loads(baseline.dumps(learned(part, limits))) for part in workers]
    while len(parts) > 1:  # in any order and any grouping
        first = parts.pop(random.randrange(len(parts)))
        parts[random.randrange(len(parts))].merge(first)
    assert baseline.dumps(parts[0]) == whole


@settings(max_examples=100, deadline=None)
@given(OBSERVED, LIMITS)
def test_looking_in_between_changes_nothing(
    observed: list[tuple[Any, Any]], limits: Limits
) -> None:
    looked_at = ShapeStats("t", limits=limits, formats=True, enum_key=KEY)
    for value, time in observed:
        looked_at.observe(value, time)
        baseline.dumps(looked_at)
    assert baseline.dumps(looked_at) == baseline.dumps(learned(observed, limits))


@settings(max_examples=100, deadline=None)
@given(OBSERVED, LIMITS)
def test_limits_applied_again_change_nothing(
    observed: list[tuple[Any, Any]], limits: Limits
) -> None:
    stats = learned(observed, limits)
    before = baseline.dumps(stats)
    shape_tree.close(stats.root, limits)
    assert baseline.dumps(stats) == before
