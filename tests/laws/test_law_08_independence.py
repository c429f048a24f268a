"""Law 8: the equilibrium does not depend on the step, the number of substeps, or the place in space."""

from __future__ import annotations

import numpy as np
import pytest

import turgor
from support.laws import frames, get, make, shape_of
from turgor.solvers.schemes import SCHEMES

GAS = turgor.Gas.at(gauge=100.0, ambient=101.0)


def at_rest(name, where="floor", shift=0.0, **simulation):
    """The body lying on a frictionless floor (friction would remember the path), or hanging from its top."""
    shape = shape_of(name)
    at = np.full(shape.dim, shift)
    body = {}

    def floor(scene):
        scene.add_ground(height=shift, friction=0.0, restitution=0.0)

    if where == "floor":
        at[-1] += 0.5
        body["walls"] = floor
    else:
        body["pins"] = "top"
    simulation = {"fps": 60, "substeps": 10, **simulation}
    sim, _ = make(
        shape,
        stiffness=300.0,
        damping=2.0,
        gas=GAS,
        gravity=9.81,
        drag=8.0,
        bending=0.02,
        at=tuple(at),
        **body,
        **simulation,
    )
    frames(sim, round(5.0 * simulation["fps"]))
    return sim


@pytest.mark.law(8)
@pytest.mark.parametrize("where", ["floor", "hanging"])
@pytest.mark.parametrize("name", ["circle", "icosphere"])
def test_equilibrium_does_not_depend_on_the_step(name, where):
    """A pressure scaled by dt would move it by tens of per cent."""
    reference = at_rest(name, where, fps=60, substeps=10)
    shape = get(reference)[0] - reference["body"].center
    assert np.abs(get(reference)[1]).max() < 2e-5  # at rest
    for fps, substeps, solver in [(60, 20, "symplectic"), (30, 25, "symplectic"), (100, 8, "midpoint")]:
        sim = at_rest(name, where, fps=fps, substeps=substeps, solver=solver)
        assert sim["body"].volume == pytest.approx(reference["body"].volume, rel=1e-5)
        assert sim["body"].pressure == pytest.approx(reference["body"].pressure, rel=1e-5)
        np.testing.assert_allclose(get(sim)[0] - sim["body"].center, shape, atol=1e-5)


@pytest.mark.law(8)
@pytest.mark.parametrize(("precision", "atol"), [("single", 2e-5), ("double", 1e-8)])
@pytest.mark.parametrize("where", ["floor", "hanging"])
@pytest.mark.parametrize("name", ["circle", "icosphere"])
def test_equilibrium_does_not_depend_on_the_place(name, where, precision, atol):
    """The whole scene 10 km from the origin along every axis: 10 km in float32 alone would be steps of 1 mm."""
    here = at_rest(name, where, precision=precision)
    there = at_rest(name, where, shift=1e4, precision=precision)
    np.testing.assert_allclose(
        get(there)[0] - np.array(there["body"].center), get(here)[0] - np.array(here["body"].center), atol=atol
    )
    assert there["body"].volume == pytest.approx(here["body"].volume, rel=10 * atol)
    assert there["body"].pressure == pytest.approx(here["body"].pressure, rel=10 * atol)
    np.testing.assert_allclose(np.array(there["body"].center) - 1e4, here["body"].center, atol=atol)


@pytest.mark.law(8)
@pytest.mark.parametrize("precision", ["single", "double"])
def test_motion_does_not_depend_on_the_place(precision):
    """A fall and a bounce, 10 km away: the same as at the origin, within the round-off of the place itself."""
    paths = []
    for shift in (0.0, 1e4):
        shape = shape_of("icosphere")

        def floor(scene, shift=shift):
            scene.add_ground(height=shift, friction=0.3, restitution=0.2)

        at = (shift, shift, shift + 0.8)
        sim, _ = make(
            shape, stiffness=300.0, damping=1.0, gas=GAS, gravity=9.81, at=at, walls=floor, precision=precision
        )
        frames(sim, 40)
        paths.append(get(sim)[0] - shift)
    tolerance = 1e-3 if precision == "single" else 1e-8  # 800 steps with a bounce amplify 6e-8 m
    np.testing.assert_allclose(paths[1], paths[0], atol=tolerance)


def lying(solver, substeps, restitution=0.0, friction=0.0, balls=1):
    """Balls with dashpots that have come to rest on the floor; two are a scene in which bodies could touch."""
    scene = turgor.Scene()
    scene.add_ground(restitution=restitution, friction=friction)
    for i in range(balls):
        scene.add_soft_body(
            turgor.shapes.icosphere(radius=0.5, subdivisions=1), name=f"ball{i}", at=(3.0 * i, 0, 0.5), drag=4.0,
            springs=turgor.Springs(stiffness=300.0, damping=2.0), gas=turgor.Gas.at(gauge=200.0, ambient=1000.0),
        )  # fmt: skip
    sim = turgor.Simulation(scene, solver=solver, precision="double", substeps=substeps)
    sim.run(6.0)
    return sim


@pytest.mark.law(8)
@pytest.mark.parametrize("balls", [1, 2])
@pytest.mark.parametrize("solver", list(SCHEMES))
def test_resting_on_a_floor_with_dashpots_depends_on_nothing(solver, balls):
    """Neither on the solver, nor on the step, nor on the restitution: the wall acts in every stage."""
    reference = lying("symplectic", 40)
    for substeps, restitution in [(10, 0.0), (20, 0.5), (40, 0.3)]:
        sim = lying(solver, substeps, restitution, balls=balls)
        assert np.abs(sim["ball0"].velocities).max() < 1e-5
        assert sim["ball0"].volume == pytest.approx(reference["ball0"].volume, rel=1e-8)
        np.testing.assert_allclose(sim["ball0"].positions, reference["ball0"].positions, atol=1e-6)


@pytest.mark.law(8)
def test_resting_on_a_rough_floor_does_not_depend_on_substeps():
    """Friction remembers the path, and the path depends on the step; but hardly, with the default solver."""
    volumes = [lying("symplectic", substeps, friction=0.5)["ball0"].volume for substeps in (10, 20, 40)]
    np.testing.assert_allclose(volumes, volumes[-1], rtol=1e-6)


@pytest.mark.law(8)
@pytest.mark.parametrize("balls", [1, 2])
@pytest.mark.parametrize("solver", list(SCHEMES))
def test_friction_holds_what_lies_on_a_floor(solver, balls):
    """With friction the shape at rest depends on the path to it, but rest it is: nothing creeps."""
    sim = lying(solver, 10, restitution=0.3, friction=0.5, balls=balls)
    before = sim["ball0"].positions.copy()
    on_floor = before[:, 2] < 1e-9
    assert np.count_nonzero(on_floor) > 3
    sim.run(1.0)
    np.testing.assert_allclose(sim["ball0"].positions[on_floor], before[on_floor], atol=1e-9)
    np.testing.assert_allclose(sim["ball0"].positions, before, atol=1e-5)
