"""Laws 6, 7 and 8 with solver = "implicit": the rest of every other solver and of statics, at any step and stiffness.

Backward Euler has the equilibria of the forces themselves, so its step may change the way to rest, not rest. What it
leaves is what a step may leave unsolved, and how far walls let points in (docs/solvers.md).
"""

from __future__ import annotations

import numpy as np
import pytest

import reference as ref
import turgor
from support.laws import DEVICE, disturbed, frames, get, make, put, shape_of
from turgor import shapes

pytestmark = [pytest.mark.req("X2"), pytest.mark.filterwarnings("ignore::turgor.TurgorWarning")]

G = 9.81
SUBSTEPS = (1, 4, 16)
PRESSURE = {1e2: 150.0, 1e4: 5e3, 1e6: 5e4, 1e8: 5e5}  # Pa, by stiffness: enough for a ball that does not buckle


def face_down(shape):
    """The rotation that lays a face on the floor: on a vertex or an edge it is in balance too, until it topples."""
    if shape.dim == 2:
        return np.pi / len(shape.vertices)
    a, b, c = shape.vertices[shape.faces[np.argmin(shape.vertices[shape.faces, 2].mean(axis=1))]]
    normal = np.cross(b - a, c - a) / np.linalg.norm(np.cross(b - a, c - a))
    axis = np.cross(normal, [0.0, 0.0, -1.0])
    return tuple(axis / np.linalg.norm(axis) * np.arccos(-normal[2]))


def ball(dim=3, fine=2, stiffness=1e4, ground=True, drag=4.0):
    """A pressurised ball of 162 vertices or ring of 48 above a smooth floor, which remembers no way, or alone."""
    scene = turgor.Scene(dim=dim, **({} if ground else {"gravity": 0}))
    if ground:
        scene.add_ground(friction=0.0)
    shape = shapes.icosphere(radius=0.5, subdivisions=fine) if dim == 3 else shapes.circle(radius=0.5, points=48)
    scene.add_soft_body(
        shape, name="ball", at=(0.0,) * (dim - 1) + (0.6,), rotation=face_down(shape), mass=1.0,
        springs=turgor.Springs(stiffness=stiffness, damping=2.0), drag=drag, settled=ground,
        gas=turgor.Gas.at(gauge=PRESSURE[stiffness], ambient=1000.0),
    )  # fmt: skip
    return scene


def simulated(scene, substeps="auto", solver="implicit", precision="double"):
    return turgor.Simulation(scene, device=DEVICE, solver=solver, substeps=substeps, precision=precision)


def radius(body):
    """m, in the mean."""
    return np.linalg.norm(body.positions - body.center, axis=1).mean()


def alike(body, rest, tolerance):
    assert body.volume == pytest.approx(rest.volume, rel=tolerance)
    assert body.pressure == pytest.approx(rest.pressure, rel=tolerance)
    assert radius(body) == pytest.approx(radius(rest), rel=tolerance)


# --- law 6: the balance of skin and gas


@pytest.mark.law(6)
@pytest.mark.parametrize(("dim", "stiffness"), [(2, 1e6), (3, 1e2), (3, 1e4), (3, 1e8)])
def test_a_free_ball_comes_to_the_rest_of_statics(dim, stiffness):
    """From a start that is 2 % too large and dented: volume, pressure and radius within 1e-6, at all steps."""
    scene = ball(dim, stiffness=stiffness, ground=False)
    rest = turgor.equilibrium(scene, precision="double")["ball"]
    assert rest.volume > 1.002 * rest.rest_volume  # the gas has a say in it
    for substeps in SUBSTEPS:
        sim = simulated(scene, substeps)
        body = sim["ball"]
        dents = 1e-3 * np.random.default_rng(substeps).normal(size=body.positions.shape)
        body.positions = body.center + 1.02 * (body.positions - body.center) + dents
        frames(sim, 60)
        alike(body, rest, 1e-6)


@pytest.mark.law(6)
@pytest.mark.parametrize("solver", ["symplectic", "rk4", "implicit"])
@pytest.mark.parametrize("name", ["circle", "icosphere"])
def test_solvers_come_to_the_minimum_of_the_oracle(name, solver):
    """The gas has a say in it (an eighth of the volume): shape within 1e-6 of the minimum of the oracle's energy."""
    shape = shape_of(name)
    gas = turgor.Gas.at(gauge=60.0, ambient=30.0)
    sim, oracle = make(shape, stiffness=300.0, gas=gas, drag=20.0, solver=solver, substeps=20)
    put(sim, disturbed(shape, 0.01))
    frames(sim, 240)
    minimum = ref.relax(oracle, ref.scale_balance(oracle) * oracle.vertices)
    volume = ref.volume(minimum, oracle.faces)
    assert volume > 1.05 * shape.volume
    assert sim["body"].volume == pytest.approx(volume, rel=1e-6)
    assert sim["body"].pressure == pytest.approx(oracle.gas.gauge(volume) + 30.0, rel=1e-6)


@pytest.mark.law(6)
@pytest.mark.parametrize(("fine", "stiffness"), [(3, 1e8), (4, 1e4), (5, 1e6)])
def test_fine_meshes_stay_at_rest_and_come_to_it(fine, stiffness):
    """642, 2,562 and 10,242 vertices: what starts in equilibrium stays there, what starts elsewhere arrives."""
    scene = ball(fine=fine, stiffness=stiffness, ground=False, drag=20.0)
    rest = turgor.equilibrium(scene, precision="double")["ball"]
    assert rest.volume > 1.002 * rest.rest_volume
    stays = simulated(scene, 1)
    stays["ball"].positions = rest.positions
    frames(stays, 3)
    assert np.abs(stays["ball"].positions - rest.positions).max() < 1e-6
    arrives = frames(simulated(scene, 1), 10)
    alike(arrives["ball"], rest, 1e-6)


# --- law 7: squeezed


@pytest.mark.law(7)
@pytest.mark.parametrize("law", ["isothermal", "adiabatic"])
@pytest.mark.parametrize("name", ["circle", "icosphere"])
def test_boyle_between_plates(name, law):
    """Plates at 0.2 m/s, four long steps a frame: P V^γ is kept, and what pushes is that pressure.

    Forces are those at the end of a step, so springs and gas of the oracle balance inertia, drag and plates there.
    """
    shape = shape_of(name)

    def plates(scene):
        for side in (-1.0, 1.0):
            axis = np.zeros(scene.dim)
            axis[-1] = side
            scene.add_plane(point=tuple(0.52 * axis), normal=tuple(-axis), velocity=tuple(-0.2 * axis), friction=0.0)

    gas = turgor.Gas(nRT=25.0, ambient=15.0, law=law, gamma=1.4)
    sim, oracle = make(shape, stiffness=200.0, gas=gas, drag=30.0, walls=plates, fps=30, substeps=4, solver="implicit")
    power = 1.4 if law == "adiabatic" else 1.0
    constant = 25.0 / shape.volume * shape.volume**power
    volumes = []
    for _ in range(9):
        frames(sim, 4)
        x, _ = get(sim)
        volumes.append(ref.volume(x, shape.faces))
        assert sim["body"].pressure * volumes[-1] ** power == pytest.approx(constant, rel=1e-4)
    assert min(volumes) < 0.9 * max(volumes)
    half = 0.52 - 0.2 * sim.time
    assert np.abs(x[:, -1]).max() == pytest.approx(half, abs=2e-3)
    free = np.abs(x[:, -1]) < half - 2e-3
    force = oracle.forces(x)  # without drag, which is what unbalances those that no plate touches
    bound = 30.0 * oracle.masses[0] * 4.0 * 0.2
    assert 4 <= free.sum() < len(x)
    assert np.abs(force[free]).max() < bound
    assert np.abs(force[~free]).max() > 2.0 * bound


# --- law 8: neither step nor place


def height_slack(dim, substeps):
    """m: what walls let in; and a ball is a polyhedron, which may lie on any of its faces (edges of 0.15 m)."""
    return 1.5e-3 if dim == 3 else 1e-3 if substeps == 1 else 5e-4


@pytest.mark.law(8)
@pytest.mark.parametrize(("dim", "stiffness"), [(2, 1e2), (2, 1e6), (3, 1e4), (3, 1e8)])
def test_rest_on_the_floor_does_not_depend_on_the_step(dim, stiffness):
    """Volume and pressure within 1e-4 of those of statics, and the floor carries the weight."""
    scene = ball(dim, stiffness=stiffness)
    rest = turgor.equilibrium(scene, precision="double")["ball"]
    for substeps in SUBSTEPS:
        sim = frames(simulated(scene, substeps), 240)
        body = sim["ball"]
        assert np.abs(body.momentum).max() < 2e-3
        assert body.volume == pytest.approx(rest.volume, rel=1e-4)
        assert body.pressure == pytest.approx(rest.pressure, rel=1e-4)
        assert body.center[-1] == pytest.approx(rest.center[-1], abs=height_slack(dim, substeps))
        assert -1e-3 < body.positions[:, -1].min() < 1e-4
        assert sim.engine.implicit.wall_force.numpy()[:, -1].sum() == pytest.approx(G, rel=0.02)


@pytest.mark.law(8)
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("stiffness", [1e2, 1e4])
def test_explicit_solvers_come_to_the_same_rest_on_the_floor(dim, stiffness):
    """As test_rest_on_the_floor_does_not_depend_on_the_step."""
    scene = ball(dim, stiffness=stiffness)
    rest = turgor.equilibrium(scene, precision="double")["ball"]
    for solver in ("symplectic", "rk4"):
        body = frames(simulated(scene, solver=solver), 240)["ball"]
        assert body.volume == pytest.approx(rest.volume, rel=1e-4)
        assert body.pressure == pytest.approx(rest.pressure, rel=1e-4)
        assert body.center[-1] == pytest.approx(rest.center[-1], abs=height_slack(dim, 4))


@pytest.mark.law(8)
@pytest.mark.parametrize(("dim", "stiffness"), [(2, 1e2), (2, 1e6), (3, 1e4), (3, 1e8)])
def test_what_starts_at_rest_on_the_floor_stays(dim, stiffness):
    """The floor takes up the weight in the first steps: the ball sinks by what walls let in, and no more."""
    scene = ball(dim, stiffness=stiffness)
    rest = turgor.equilibrium(scene, precision="double")["ball"]
    sim = simulated(scene)
    sim["ball"].positions = rest.positions
    frames(sim, 60)
    assert sim["ball"].center[-1] == pytest.approx(rest.center[-1], abs=height_slack(dim, 4))
    assert np.abs(sim["ball"].momentum).max() < 2e-3
    assert sim["ball"].volume == pytest.approx(rest.volume, rel=1e-4)


@pytest.mark.law(8)
@pytest.mark.parametrize(("precision", "near"), [("single", 1e-4), ("double", 5e-5)])
@pytest.mark.parametrize("dim", [2, 3])
def test_rest_does_not_depend_on_the_place(dim, precision, near):
    """The whole scene 10 km away along every axis; at rest the iteration stops at a hundredth of the weight."""
    shape = shapes.icosphere(radius=0.5, subdivisions=1) if dim == 3 else shapes.circle(radius=0.5, points=16)
    found = []
    for shift in (0.0, 1e4):
        scene = turgor.Scene(dim=dim)
        scene.add_ground(height=shift, friction=0.0)
        scene.add_soft_body(
            shape, name="ball", at=(shift,) * (dim - 1) + (shift + 0.5,), springs=turgor.Springs(1e5, 50.0), drag=8.0,
            gas=turgor.Gas.at(gauge=100.0, ambient=101_325.0), mass=1.0,
        )  # fmt: skip
        body = frames(simulated(scene, precision=precision), 120)["ball"]
        found.append((body.positions - shift, body.volume))
    np.testing.assert_allclose(found[1][0], found[0][0], atol=near)
    assert found[1][1] == pytest.approx(found[0][1], rel=10.0 * near)
