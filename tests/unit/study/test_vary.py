"""Values of paths, and the runs they make."""

from __future__ import annotations

import math

import numpy as np
import pytest

from turgor import SceneError
from turgor.study.vary import Design, axis_of

pytestmark = pytest.mark.req("X10")


def column(text: object, **options) -> list:
    design = Design({"a": text}, **options)
    return [design.values(run)[0] for run in range(design.runs)]


def test_lists_have_numbers_words_and_vectors() -> None:
    assert column("1,2.5,-3e2") == [1, 2.5, -300.0]
    assert column("rk4, implicit") == ["rk4", "implicit"]
    assert column("[0,0,1],[0,0,2]") == [(0, 0, 1), (0, 0, 2)]
    assert column("{gauge=5},{gauge=7}") == [{"gauge": 5}, {"gauge": 7}]
    assert column("true,false") == [True, False]
    assert column(np.array([1.0, 2.0])) == [1.0, 2.0]
    assert column([(0, 1), np.array([1.0, 2.0])]) == [(0, 1), (1.0, 2.0)]


def test_ranges_include_both_ends() -> None:
    assert column("1:3:5") == [1.0, 1.5, 2.0, 2.5, 3.0]
    assert column("3:1:2") == [3.0, 1.0]
    assert column("2:5:1") == [2.0]
    low, middle, high = column("log:0.3:7:3")
    assert (low, high) == (0.3, 7.0)
    assert middle == pytest.approx(math.sqrt(0.3 * 7.0))


def test_ranges_have_the_numbers_that_a_person_would_write() -> None:
    """In tables and reports; sums of rounded steps would be 0.30000000000000004 and 9999999.99999998."""
    assert column("0.1:0.7:7") == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]
    assert column("0:1:11") == [k / 10 for k in range(11)]
    assert column("log:100:1e9:8") == [1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9]
    assert column("log:0.001:10:5") == [0.001, 0.01, 0.1, 1.0, 10.0]


def test_random_numbers_follow_the_seed() -> None:
    first = column("random:2:3:200", seed=7)
    assert first == column("random:2:3:200", seed=7) != column("random:2:3:200", seed=8)
    assert 2.0 <= min(first) < 2.1 < 2.9 < max(first) <= 3.0
    bell = np.array(column("normal:5:2:4000", seed=1))
    assert bell.mean() == pytest.approx(5.0, abs=0.15)  # 4 deviations of the mean
    assert bell.std() == pytest.approx(2.0, abs=0.1)


def test_each_run_draws_where_there_is_no_count() -> None:
    design = Design({"a": [1, 2], "b": "random:0:1"}, repeat=3, seed=5)
    assert design.runs == 6
    rows = [design.values(run) for run in range(6)]
    assert [a for a, _ in rows] == [1, 1, 1, 2, 2, 2]
    assert len({b for _, b in rows}) == 6
    assert rows == [Design({"a": [1, 2], "b": "random:0:1"}, repeat=3, seed=5).values(run) for run in range(6)]
    assert len({design.seed_of(run) for run in range(6)}) == 6


def test_a_grid_has_each_value_with_each() -> None:
    design = Design({"a": [1, 2], "b": [3, 4, 5]})
    assert [design.values(run) for run in range(design.runs)] == [(1, 3), (1, 4), (1, 5), (2, 3), (2, 4), (2, 5)]


def test_zip_puts_values_side_by_side() -> None:
    design = Design({"a": [1, 2], "b": "3:4:2", "c": "random:0:1"}, combine="zip")
    assert [design.values(run)[:2] for run in range(design.runs)] == [(1, 3.0), (2, 4.0)]


def test_a_latin_hypercube_has_one_sample_in_each_part() -> None:
    design = Design({"a": "0:1", "b": "log:1:1024", "c": ["x", "y"]}, combine="latin", samples=10, seed=3)
    rows = [design.values(run) for run in range(design.runs)]
    assert sorted(int(a * 10) for a, _, _ in rows) == list(range(10))
    assert sorted(int(np.log2(b)) for _, b, _ in rows) == list(range(10))
    assert sorted(c for _, _, c in rows) == 5 * ["x"] + 5 * ["y"]
    again = Design({"a": "0:1", "b": "log:1:1024", "c": ["x", "y"]}, combine="latin", samples=10, seed=3)
    assert rows == [again.values(run) for run in range(10)]


BAD = {
    "nothing": ("", {}, "there are no values"),
    "empty list": ([], {}, "the list is empty"),
    "empty range": ("1:2:0", {}, "the range is empty; its count must be a whole number >= 1"),
    "one point": ("2:2:5", {}, "the range is empty: both ends are 2"),
    "hole": ("1,,2", {}, "a value is missing between two commas"),
    "not a range": ("1:x:3", {}, "write start:stop:count, with numbers"),
    "unknown kind": ("lag:1:2:3", {}, "unknown kind of range 'lag'; did you mean 'log'"),
    "negative log": ("log:-1:2:3", {}, "needs ends above 0"),
    "no count": ("1:2", {}, "say how many values: 1:2:10"),
    "count and samples": ("1:2:3", {"combine": "latin", "samples": 4}, "samples says how many .* write 1:2$"),
    "no samples": ("1:2", {"combine": "latin"}, "say how many: samples=100"),
    "samples of a grid": ("1,2", {"samples": 4}, "combine='latin' uses it"),
    "combine": ("1,2", {"combine": "gird"}, "got 'gird'; did you mean 'grid'"),
    "repeat": ("1,2", {"repeat": 0}, "repeat must be a whole number >= 1, got 0"),
    "seed": ("1,2", {"seed": -1}, "seed must be"),
    "deviation": ("normal:1:0:3", {}, "deviation must be above 0"),
    "a number": (5, {}, "give a list of values"),
}


@pytest.mark.parametrize(("given", "options", "message"), BAD.values(), ids=BAD)
def test_bad_values(given, options, message: str) -> None:
    with pytest.raises(SceneError, match=message):
        Design({"a": given}, **options)


def test_zip_needs_equal_numbers() -> None:
    with pytest.raises(SceneError, match="a has 2, b has 3"):
        Design({"a": [1, 2], "b": [1, 2, 3]}, combine="zip")


def test_too_many_runs_are_announced_before_they_are_made() -> None:
    with pytest.raises(
        SceneError, match=r"10,000 x 10,000 = 100,000,000 runs, more than 1,000,000: .* combine='latin'"
    ):
        Design({"a": "0:1:10000", "b": "0:1:10000"})
    with pytest.raises(SceneError, match="2,000,000,000,000 runs"):
        Design({"a": "0:1:1000000000000"}, repeat=2)


def test_the_words_of_an_axis_are_those_of_the_user() -> None:
    assert axis_of("a", "log:1:2:3").words == "log:1:2:3"
    assert axis_of("a", [1, 2]).words == "1, 2"
    assert axis_of("a", range(100)).words == "100 values"
