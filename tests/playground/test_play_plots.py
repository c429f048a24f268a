"""The live plots of the playground: what is measured, and that the page draws it."""

from __future__ import annotations

import csv
import io
import re
import time
from typing import Any

import numpy as np
import pytest

from support.waiting import until
from turgor import gallery
from turgor.viewer.draw.diagram import diagram
from turgor.viewer.page.tabs.plots import PlotsTab, _rounded
from turgor.viewer.world.rates import Rates
from turgor.viewer.world.time_series import ENERGIES, Ring, Series
from turgor.viewer.world.world import World

pytestmark = pytest.mark.req("D8", "X8")


def test_a_ring_keeps_the_last_seconds_in_order() -> None:
    ring = Ring(2, span=5.0)
    for at in np.arange(0.0, 300.0, 0.05):
        ring.add(at, at**2, -at)
    at, square, minus = ring.columns()
    assert at[0] >= at[-1] - 5.0
    assert len(at) == pytest.approx(101, abs=1)
    assert np.all(np.diff(at) > 0.0)
    assert square == pytest.approx(at**2)
    assert minus == pytest.approx(-at)


def test_a_ring_forgets_when_time_goes_back_and_replaces_what_is_measured_again() -> None:
    ring = Ring(1)
    for at in (1.0, 2.0, 2.0, 3.0):
        ring.add(at, at)
    assert ring.columns()[0].tolist() == [1.0, 2.0, 3.0]
    ring.add(0.5, 7.0)
    assert [column.tolist() for column in ring.columns()] == [[0.5], [7.0]]


def sampled(name: str, frames: int, body: str | None = None) -> tuple[World, Series]:
    world = World(gallery.load(name))
    series = Series(world, Rates())
    series.watch(body)
    for _ in range(frames):
        world.sim.step()
        series._due = series._energy_due = 0.0  # as if enough time had passed
        assert series.sample(world.sim.frame())
    return world, series


def test_samples_are_the_energies_volume_and_pressure_of_the_simulation() -> None:
    world, series = sampled("hanging-ball", 20)
    energy = world.sim.energy()
    rows = series.energy.columns()
    assert [row[-1] for row in rows[1:6]] == pytest.approx([getattr(energy, name) for name in ENERGIES])
    assert rows[5] == pytest.approx(sum(rows[1:5]))  # total
    at, volume, gauge, _pressure = series.gas.columns()
    ball = world.sim["ball"]
    assert (at[-1], volume[-1], gauge[-1]) == pytest.approx((world.sim.time, ball.volume, ball.gauge_pressure))
    path = series.path()
    assert series.law(path[0]) == pytest.approx(path[1], rel=1e-4)  # the path lies on p V = n R T


def test_samples_are_taken_at_a_bounded_rate_and_costly_ones_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(gallery.load("five-balls"))
    series = Series(world, Rates())
    measure = world.sim.energy
    monkeypatch.setattr(world.sim, "energy", lambda: (time.sleep(0.02), measure())[1])
    world.sim.step()
    frame, start = world.sim.frame(), time.perf_counter()
    assert series.sample(frame)
    assert series._due - start > 0.06  # the next one in 1/15 s
    series._due = start + 1e6
    assert not series.sample(frame)
    assert series._energy_due - start > 1.0  # 20 ms are to be 2 % of the time


def test_series_begin_anew_when_the_scene_does() -> None:
    world, series = sampled("hanging-ball", 10)
    world.reset()
    series.sample(world.frame())
    assert len(series.energy) == len(series.gas) == 1


def test_the_body_without_gas_is_not_watched() -> None:
    _world, series = sampled("torus-and-cubes", 1, "soft-1")
    assert series.body == "soft-1"
    series.watch("cube-1")
    assert series.body == "torus"  # the first that has gas
    _, flag = sampled("flag", 1)
    assert flag.body is None
    assert len(flag.gas) == 0


def test_a_path_is_drawn_in_order_with_ticks_and_a_dot_at_its_end() -> None:
    angle = np.linspace(0.0, 6.0, 50)
    picture = diagram("a <loop>", "V (m³)", "p (Pa)", 2.0 + np.cos(angle), 100.0 + 10.0 * np.sin(angle))
    points = re.findall(r'polyline points="([^"]*)"', picture)[0].split()
    assert len(points) == 50
    columns = np.array([float(point.split(",")[0]) for point in points])
    assert (np.diff(columns) < 0.0).any()
    assert (np.diff(columns) > 0.0).any()
    assert "a &lt;loop&gt;" in picture
    assert "V (m³)" in picture
    assert 4 <= picture.count("<line") <= 14
    assert "<circle" in picture
    still = diagram("still", "V", "p", np.full(3, 2.0), np.full(3, 5.0))  # at rest: no division by zero
    assert "nan" not in still


def test_the_plots_can_be_kept_as_a_table(open_playground: Any) -> None:
    """A column per curve, named with its unit; the values are those of the plots."""
    playground = open_playground("drop-2d", Plots=PlotsTab)
    tab = playground.tabs[0]
    until(lambda: len(tab.series.energy) > 3 and len(tab.series.gas) > 3)
    playground.world.playing = False
    until(lambda: playground.shown == playground.world.state)
    table = list(csv.reader(io.StringIO(tab.table())))
    assert table[0] == [
        "time (s)", *(f"{name} (J)" for name in ENERGIES), "volume of ball (m²)", "gauge pressure of ball (N/m)",
    ]  # fmt: skip
    times = [float(row[0]) for row in table[1:]]
    assert times == sorted(set(times))
    at, volume, gauge, _ = tab.series.gas.columns()
    last = next(row for row in table[1:] if float(row[0]) == pytest.approx(at[-1]))
    assert [float(value) for value in last[-2:]] == pytest.approx([volume[-1], gauge[-1]], rel=1e-6)


def test_curves_have_names_and_the_cursor_reads_values(open_playground: Any) -> None:
    playground = open_playground("drop-2d", Plots=PlotsTab)
    plot = playground.tabs[0]._plots["energy"]
    assert [entry["label"] for entry in plot.series] == ["time (s)", *ENERGIES]
    assert plot.legend["live"]
    assert plot.cursor["show"]
    values = _rounded(np.array([1234567.0, 0.000123456789, -2.0, np.nan, 0.0]))
    np.testing.assert_allclose(values, [1234600.0, 0.00012346, -2.0, np.nan, 0.0], rtol=1e-9)
