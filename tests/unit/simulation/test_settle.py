"""Starting in equilibrium: bounded, shown, the same for any mesh and estimate; and what is said where there is none."""

from __future__ import annotations

import io
import logging

import numpy as np
import pytest

import reference as ref
import turgor
from support.laws import DEVICE
from turgor import Gas, Springs, UnstableError, shapes
from turgor.output.progress import waiting
from turgor.simulation import settle

GAS = Gas.at(gauge=200.0, ambient=1000.0)


def settled(shape, name="ball", **options):
    scene = turgor.Scene(dim=shape.dim, gravity=(0.0,) * shape.dim)
    base = {"gas": GAS, "springs": Springs(200.0, 1.0), "settled": True}
    scene.add_soft_body(shape, name=name, **base | options)
    return turgor.Simulation(scene, device=DEVICE, precision="double", contact="none")


@pytest.mark.parametrize(
    "shape",
    [shapes.circle(0.5, 60), shapes.star(6, 0.5, 0.25, 60), shapes.torus(0.5, 0.2, 24, 12), shapes.hand(1.0)],
    ids=["circle", "star", "torus", "hand"],
)
def test_the_forces_of_the_oracle_vanish(shape):
    sim = settled(shape)
    gas = ref.Gas(1200.0 * shape.volume, shape.volume, 1000.0)
    body = ref.Body(shape.vertices, shape.faces, shape.edges, 1.0, 200.0, 0.0, gas)
    scale = np.abs(body.pressure_forces(shape.vertices)).max()
    assert np.abs(body.forces(sim["ball"].positions)).max() < 1e-4 * scale


def test_masses_damping_and_air_do_not_matter():
    shape = shapes.torus(0.5, 0.2, 16, 10)
    plain = settled(shape)["ball"].positions
    options = {"mass": 30.0, "mass_distribution": "area", "drag": 3.0, "drag_coefficient": 1.0, "velocity": (9, 9, 9)}
    np.testing.assert_allclose(settled(shape, **options)["ball"].positions, plain, atol=1e-4)


@pytest.mark.req("C9")
def test_a_monte_carlo_volume_settles_where_the_exact_one_does():
    """Another volume at each look: waiting for rest would never end."""
    shape = shapes.icosphere(0.5, 2)
    exact = settled(shape)["ball"].positions
    np.testing.assert_array_equal(settled(shape, volume="monte-carlo")["ball"].positions, exact)


@pytest.mark.req("C9")
def test_a_subdivision_volume_settles_in_its_own_equilibrium():
    sim = settled(shapes.icosphere(0.5, 2), volume="subdivision")
    start = np.abs(settled(shapes.icosphere(0.5, 2), settled=False)["ball"].forces).max()
    assert np.abs(sim["ball"].forces).max() < 1e-3 * start


@pytest.mark.parametrize("volume", ["exact", "box"])
def test_where_there_is_no_equilibrium_the_error_says_so_of_the_settling(volume):
    """Springs that cannot hold the gas: not the solver of the simulation, nor a time, as it has not begun."""
    gas = Gas.at(gauge=1e6, ambient=0.0)
    with pytest.raises(UnstableError) as error:
        settled(shapes.icosphere(0.5, 1), "bubble", springs=Springs(1e-6), gas=gas, volume=volume)
    message = str(error.value)
    assert "body 'bubble' found no equilibrium of springs and gas before the start (settled = true)" in message
    assert "leave settled out" in message
    assert ("use volume = 'exact'" in message) == (volume == "box")
    assert "solver" not in message
    assert "t = " not in message


def test_settling_tells_how_far_it_is(caplog, monkeypatch):
    monkeypatch.setattr(settle, "SHOW", 0.0)
    with caplog.at_level(logging.INFO, "turgor"):
        settled(shapes.icosphere(0.5, 2), "balloon")
    assert "settling 'balloon': step 0 of at most" in caplog.text


def test_a_terminal_shows_a_line(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with waiting("settling 'ball'") as report:
        report("step 10")
    assert "settling 'ball'" in terminal.getvalue()
