"""Many copies of a scene at once (X6): each world is what a simulation of its own would be."""

from __future__ import annotations

import numpy as np
import pytest

import turgor
from turgor import Gas, Springs, shapes

GAS = Gas.at(gauge=150.0, ambient=1000.0)


def scene_of(dim):
    scene = turgor.Scene(dim=dim, wind=(1.0,) + (0.0,) * (dim - 1))
    scene.add_ground(friction=0.4, restitution=0.3)
    up = (0.0,) * (dim - 1)
    shape = shapes.icosphere(subdivisions=1) if dim == 3 else shapes.circle(points=20)
    springs = Springs(200.0, 0.3)
    scene.add_soft_body(shape, name="ball", at=(*up, 0.6), gas=GAS, springs=springs, bending=0.01, wind_drag=0.01)
    scene.add_soft_body(shape, name="second", at=(*up, 3.0), gas=GAS, springs=springs, volume="box")
    if dim == 3:
        scene.add_cloth(shapes.sheet(resolution=(5, 4)), name="cloth", at=(3.0, 0.0, 1.0), pins="left-corners")
    return scene


def advanced(sim, frames):
    for _ in range(frames):
        sim.step()
    return sim


@pytest.mark.req("X6")
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("substeps", ["auto", 20])
@pytest.mark.parametrize("assembly", ["scatter", "gather"])
def test_equal_worlds_are_equal_to_one(dim, substeps, assembly):
    options = {"substeps": substeps, "assembly": assembly}
    many = turgor.Simulation(scene_of(dim), worlds=3, **options)
    one = turgor.Simulation(scene_of(dim), **options)
    for sim in (many, one):
        sim.grab("second", 3, (0.5,) * dim)
        advanced(sim, 10)
    assert many.substeps == one.substeps
    assert many.positions.shape == (3, one.vertices, dim)
    for world in range(3):
        np.testing.assert_array_equal(many.positions[world], one.positions)
        np.testing.assert_array_equal(many.velocities[world], one.velocities)
        for name in ("volume", "pressure", "center", "momentum", "forces", "mass"):
            np.testing.assert_array_equal(getattr(many["ball"], name)[world], getattr(one["ball"], name))
        assert many.energy().total[world] == pytest.approx(one.energy().total, rel=1e-12)


BODY = {
    "stiffness": (100.0, 200.0, 400.0),
    "damping": (0.0, 0.3, 0.9),
    "bending": (0.0, 0.01, 0.1),
    "drag": (0.0, 0.5, 2.0),
    "wind_drag": (0.0, 0.01, 0.05),
    "drag_coefficient": (0.0, 0.5, 2.0),
    "drag_tangential": (0.0, 0.5, 2.0),
    "friction": (0.0, 0.1, 0.3),
    "restitution": (0.0, 0.5, 0.9),
    "ambient": (900.0, 1000.0, 1050.0),
    "nRT": (450.0, 500.0, 550.0),
    "mass": (0.5, 1.0, 3.0),
    "gauge_pressure": (50.0, 150.0, 250.0),
    "temperature": (280.0, 293.15, 320.0),
}
WORLD = {"gravity": ((0.0,), (-5.0,), (-9.81,)), "wind": ((0.0,), (1.0,), (-4.0,))}


@pytest.mark.req("X6")
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("name", [*BODY, *WORLD])
def test_worlds_with_their_own_parameters(dim, name):
    """Each world moves, bit for bit, as a simulation that has its parameters, and they differ from each other."""

    def value(world):
        if name in BODY:
            return BODY[name][world]
        vector = np.zeros(dim)
        vector[-1 if name == "gravity" else 0] = WORLD[name][world][0]
        return vector

    many = turgor.Simulation(scene_of(dim), worlds=3, substeps=24)
    target = many["ball"] if name in BODY else many
    setattr(target, name, np.array([value(world) for world in range(3)]))
    np.testing.assert_allclose(getattr(target, name), np.array([value(world) for world in range(3)]), rtol=1e-4)
    advanced(many, 25)
    for world in range(3):
        one = turgor.Simulation(scene_of(dim), substeps=24)
        setattr(one["ball"] if name in BODY else one, name, value(world))
        advanced(one, 25)
        np.testing.assert_array_equal(many.positions[world], one.positions)
        np.testing.assert_array_equal(many.velocities[world], one.velocities)
        if world:
            assert np.abs(many["ball"].positions[world] - many["ball"].positions[world - 1]).max() > 1e-6


@pytest.mark.req("X6")
def test_worlds_with_their_own_states():
    """Positions and velocities can be set world by world; the ledger and a saved state keep them apart."""
    many = turgor.Simulation(scene_of(3), worlds=2, substeps=20, ledger=True)
    ones = [turgor.Simulation(scene_of(3), substeps=20, ledger=True) for _ in range(2)]
    for world, one in enumerate(ones):
        one["ball"].positions = one["ball"].positions + np.array((0.0, 0.0, 0.1 * world))
        one["ball"].velocities = (0.5 * world, 0.0, 0.0)
        advanced(one, 15)
    shift = np.array([[[0.0, 0.0, 0.0]], [[0.0, 0.0, 0.1]]])
    many["ball"].positions = many["ball"].positions + shift
    many["ball"].velocities = np.array([[[0.0, 0.0, 0.0]], [[0.5, 0.0, 0.0]]])
    advanced(many, 15)
    for world, one in enumerate(ones):
        np.testing.assert_array_equal(many.positions[world], one.positions)
        assert many.energy().dissipated[world] == pytest.approx(one.energy().dissipated, rel=1e-9)


@pytest.mark.req("X6", "X9")
def test_worlds_are_saved(tmp_path):
    sim = turgor.Simulation(scene_of(2), worlds=4)
    sim["ball"].stiffness = [50.0, 100.0, 200.0, 400.0]
    advanced(sim, 5)
    sim.save(tmp_path / "worlds.npz")
    other = turgor.Simulation.load(tmp_path / "worlds.npz")
    assert other.worlds == 4
    assert advanced(other, 5).state_hash() == advanced(sim, 5).state_hash()


@pytest.mark.req("X6")
def test_one_bad_world_is_reported():
    sim = turgor.Simulation(scene_of(2), solver="symplectic", worlds=3, max_substeps=200)
    sim["second"].stiffness = [100.0, 1e9, 100.0]
    with pytest.raises(turgor.UnstableError, match="'second'"):
        sim.step()
