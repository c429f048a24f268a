"""Boxes that overlap and what hangs together by them, against the definition, pair by pair."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from turgor.simulation.boxes import islands, near, overlapping


def boxes(seed, count, dim):
    rng = np.random.default_rng(seed)
    low = rng.integers(0, 12, (count, dim)).astype(float)  # whole numbers: boxes that just touch are among them
    return low, low + rng.integers(1, 4, (count, dim))


def touches(low, high, a, b):
    return bool(np.all((low[a] <= high[b]) & (low[b] <= high[a])))


@given(st.integers(0, 10**6), st.integers(0, 30), st.sampled_from([2, 3]))
def test_pairs_are_those_of_the_definition(seed, count, dim):
    low, high = boxes(seed, count, dim)
    found = overlapping(low, high)
    assert len({frozenset(pair) for pair in found.tolist()}) == len(found)
    expected = {frozenset((a, b)) for a in range(count) for b in range(a) if touches(low, high, a, b)}
    assert {frozenset(pair) for pair in found.tolist()} == expected


@given(st.integers(0, 10**6), st.integers(1, 20))
def test_islands_are_what_can_be_reached(seed, count):
    low, high = boxes(seed, count, 3)
    rng = np.random.default_rng(seed)
    members = rng.random(count) < 0.7
    joined = rng.integers(0, count, (2, 2))
    found = islands(low, high, members, joined)
    for start in range(count):
        reached, todo = {start}, [start]
        while todo:
            a = todo.pop()
            for b in range(count):
                linked = touches(low, high, a, b) or [a, b] in joined.tolist() or [b, a] in joined.tolist()
                if members[a] and members[b] and linked and b not in reached:
                    reached.add(b)
                    todo.append(b)
        assert {b for b in range(count) if found[b] == found[start]} == reached


@given(st.integers(0, 10**6), st.integers(1, 20))
def test_near_are_those_that_touch_one_of_the_others(seed, count):
    low, high = boxes(seed, count, 2)
    rng = np.random.default_rng(seed)
    chosen, others = rng.random(count) < 0.5, rng.random(count) < 0.3
    expected = [
        chosen[a] and any(others[b] and b != a and touches(low, high, a, b) for b in range(count)) for a in range(count)
    ]
    assert near(low, high, chosen, others).tolist() == expected


@pytest.mark.parametrize("count", [0, 1])
def test_none_and_one(count):
    low, high = np.zeros((count, 3)), np.ones((count, 3))
    assert overlapping(low, high).shape == (0, 2)
