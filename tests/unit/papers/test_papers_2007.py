"""The report's items on Matyka 2007: the numbers they show obey the laws, and each gives blocks in quick mode."""

from __future__ import annotations

import numpy as np
import pytest

from turgor.papers.drawing.line_drawing import projected
from turgor.papers.gallery_scenes import one_ball
from turgor.papers.matyka2007 import cloth, items
from turgor.simulation.simulation import Simulation


def test_all_figures_are_there() -> None:
    assert [item.key for item in items.ITEMS] == [f"2007-figure-{number}" for number in range(1, 8)]


@pytest.mark.req("D1")
def test_the_ball_falls_by_the_law() -> None:
    sim = Simulation(one_ball())
    drag = sim.scene.soft_bodies[0].drag
    sim.run(0.3)
    _, speed, law, fastest, pressure, volume = items.state(sim, drag)
    assert speed == pytest.approx(law, rel=2e-3)
    assert fastest > speed
    assert pressure * volume == pytest.approx(sim["ball"].nRT, rel=1e-5)


@pytest.mark.req("D2")
@pytest.mark.parametrize(("columns", "rows"), [(5, 4), (12, 3)])
def test_springs_of_a_sheet(columns: int, rows: int) -> None:
    squares = (columns - 1) * (rows - 1)
    assert cloth.spring_kinds(columns, rows) == {
        "along rows": rows * (columns - 1),
        "along columns": columns * (rows - 1),
        "diagonals": 2 * squares,
    }


@pytest.mark.req("D3")
def test_wind_square_on_a_sheet() -> None:
    """c w at each point: the sum is the number of points, whatever the area."""
    assert cloth.wind_total(11, 11) == pytest.approx(121.0, rel=1e-5)
    assert cloth.wind_total(5, 7) == pytest.approx(35.0, rel=1e-5)


@pytest.mark.req("D4")
def test_the_flag_streams_in_the_wind() -> None:
    blown, still = (cloth.flag_reach(cloth.flag_scene((wind, 0.0, 0.0), coarse=True), 3.0)[1] for wind in (1.0, 0.0))
    assert blown[0] > still[0] + 0.2
    assert blown[1] > still[1] + 0.2
    assert blown[2] == still[2] == 0.0


def test_woven_shapes_are_closed() -> None:
    """Euler's formula."""
    for name, shape in items.closed_shapes().items():
        characteristic = len(shape.vertices) - len(shape.edges) + len(shape.faces)
        assert characteristic == (0 if name == "torus" else 2)
        assert shape.volume > 0.0


def test_laws() -> None:
    *exact, gauss = items.law_values()
    for _, _, measured, law in exact:
        assert measured == pytest.approx(law, rel=1e-9)
    assert 0.98 < gauss[2] / gauss[3] < 1.0  # a polyhedron inside the sphere


@pytest.mark.req("D5")
@pytest.mark.parametrize("ratio", [1.0, 1.5, 2.0])
def test_only_the_difference_of_pressure_pushes(ratio: float) -> None:
    points, forces, net = items.pressed(ratio)
    assert net == pytest.approx(100.0 * (ratio - 1.0), abs=1e-9)
    assert np.abs(forces.sum(axis=0)).max() < 1e-9
    outwards = np.einsum("ij,ij->i", points, forces)
    assert np.all(outwards >= -1e-9)


@pytest.mark.req("D5")
def test_equal_pressures_keep_the_volume() -> None:
    assert items.swollen(1.0, 0.3) == pytest.approx(1.0, abs=1e-5)
    assert 1.0 < items.swollen(1.5) < items.swollen(2.0)


@pytest.mark.req("D6")
def test_letters_swell() -> None:
    low, high = (items.letters_at(gauge, 0.2) for gauge in (items.LOW, items.HIGH))
    for sim in (low, high):
        sim.run(0.5)
    for _, rest, slim, fat, ratio, thin, thick in items.letter_rows(low, high):
        assert rest < 1.1 * slim
        assert ratio == pytest.approx(fat / slim)
        assert ratio > 1.3
        assert thick > thin


def test_projection_keeps_lengths_across_the_view() -> None:
    """Seen from the front (azimuth −90°, elevation 0): x to the right, z up."""
    points = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    np.testing.assert_allclose(projected(points, (-90.0, 0.0)), [[1, 0], [0, 0], [0, 1]], atol=1e-12)
