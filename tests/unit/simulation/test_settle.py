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
from turgor.simulation import equilibria, settle

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
    monkeypatch.setattr(equilibria, "SHOW", 0.0)
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


def one_of(number, shape, **options):
    """A scene with a settled body; those of other numbers differ in place, mass and filling."""
    scene = turgor.Scene(dim=shape.dim)
    base = {"gas": Gas.at(gauge=60.0 + 40.0 * number, ambient=1000.0), "settled": True}
    at = (0.3 * number,) * shape.dim
    scene.add_soft_body(shape, name="ball", at=at, mass=1.0 + number, **base | options)
    return scene


def soft(number):
    return one_of(number, shapes.circle(0.5, 40), springs=Springs(200.0 + 90.0 * number, 1.0))


def bent_and_pinned(number):
    return one_of(number, shapes.torus(0.5, 0.2, 12, 8), springs=Springs(300.0), bending=0.05 * (1 + number), pins=(0,))


def boxed(number):
    return one_of(number, shapes.icosphere(0.5, 1), springs=Springs(200.0), volume="box")


def pumped(number):
    gas = Gas(gauge=60.0 + 10.0 * number, ambient=1000.0, pressure_at="equilibrium")
    return one_of(number, shapes.icosphere(0.5, 2), springs=Springs(200.0), gas=gas)


def of_a_material(number):
    return one_of(number, shapes.icosphere(0.1, 2), material="beach_ball", gas=None, gauge=100.0 + 200.0 * number)


@pytest.mark.parametrize("many", [2, 7])
@pytest.mark.parametrize("made", [soft, bent_and_pinned, boxed, pumped, of_a_material])
def test_worlds_settle_together_as_they_would_alone(made, many, monkeypatch):
    """Bit for bit, although they arrive at different times, and the late ones go on without the others."""
    monkeypatch.setattr(equilibria, "TOGETHER", 5 * len(made(0).bodies[0].shape.vertices))
    scenes = [made(number) for number in range(many)]
    together = turgor.Simulation(scenes[0], variants=scenes, precision="double")
    for world, scene in enumerate(scenes):
        settle.FILLED.clear()
        alone = turgor.Simulation(scene, precision="double")
        np.testing.assert_array_equal(together["ball"].positions[world], alone["ball"].positions)
        np.testing.assert_array_equal(together["ball"].nRT[world], alone["ball"].nRT)
    assert np.ptp(together["ball"].volume) > 0.0


def test_all_worlds_without_an_equilibrium_are_named_at_once():
    gas = Gas.at(gauge=1e6, ambient=0.0)
    shape = shapes.icosphere(0.5, 1)
    scenes = [one_of(0, shape, gas=gas, springs=Springs(k)) for k in (1e7, 1e-6, 2e7, 1e-5)]
    with pytest.raises(UnstableError, match="world 1: body 'ball' found no equilibrium") as error:
        turgor.Simulation(scenes[0], variants=scenes)
    assert error.value.worlds == (1, 3)
    assert all("the start (settled = true): it " in reason for reason in error.value.reasons.values())
