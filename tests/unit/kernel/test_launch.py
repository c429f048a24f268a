"""Launching by name: arguments are found where they are, and what is missing, ambiguous or unknown is refused."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import warp as wp

from turgor.kernel.launch import Launcher
from turgor.kernel.numbers import start_warp


@wp.struct
class Table:
    entry: wp.array(dtype=float)


@wp.kernel(enable_backward=False)
def add(
    a: wp.array(dtype=float), wall_b: wp.array(dtype=float), factor: float, table: Table, sum_out: wp.array(dtype=float)
):
    i = wp.tid()
    sum_out[i] = a[i] + factor * wall_b[i] + table.entry[i]


def ones(value: float) -> wp.array:
    return wp.array(np.full(3, value, np.float32), dtype=float, device="cpu")


@pytest.fixture
def sources() -> SimpleNamespace:
    start_warp()
    table = Table()
    table.entry = ones(100.0)
    return SimpleNamespace(
        state=SimpleNamespace(a=ones(1.0), sum=ones(0.0), table=table, name="not for kernels"),
        walls=SimpleNamespace(b=ones(2.0), a=ones(7.0)),
        numbers={"factor": 10.0},
    )


def test_arguments_are_found_by_name(sources: SimpleNamespace) -> None:
    """From attributes, mappings and prefixed sources; an output may be marked."""
    Launcher("cpu", sources.state, sources.numbers, wall=[sources.walls])(add, 3)
    np.testing.assert_array_equal(sources.state.sum.numpy(), [121.0] * 3)


def test_what_is_given_comes_first(sources: SimpleNamespace) -> None:
    Launcher("cpu", sources.state, sources.numbers, wall=[sources.walls])(add, 3, factor=0.5, a=ones(3.0))
    np.testing.assert_array_equal(sources.state.sum.numpy(), [104.0] * 3)


def test_a_missing_argument_is_refused(sources: SimpleNamespace) -> None:
    with pytest.raises(TypeError, match="kernel add: argument 'factor' is in no source; give it by name"):
        Launcher("cpu", sources.state, wall=[sources.walls])(add, 3)


def test_an_ambiguous_argument_is_refused(sources: SimpleNamespace) -> None:
    """Two arrays of the same name; the same array in two sources is fine."""
    launch = Launcher("cpu", sources.state, sources.numbers, wall=[sources.walls])
    with pytest.raises(TypeError, match="kernel add: argument 'a' means different things in several sources"):
        launch.extended(sources.walls)(add, 3)
    launch.extended(SimpleNamespace(a=sources.state.a))(add, 3)


def test_an_unknown_argument_is_refused(sources: SimpleNamespace) -> None:
    launch = Launcher("cpu", sources.state, sources.numbers, wall=[sources.walls])
    with pytest.raises(TypeError, match="kernel add has no argument facto; it has: a, wall_b, factor, table, sum_out"):
        launch(add, 3, facto=1.0)


def test_what_is_no_array_is_not_taken(sources: SimpleNamespace) -> None:
    """Methods, text and flags are no arguments of kernels."""
    for value in ("text", True, None, [1.0], lambda: 1.0):
        with pytest.raises(TypeError, match="argument 'factor' is in no source"):
            Launcher("cpu", sources.state, {"factor": value}, wall=[sources.walls])(add, 3)
