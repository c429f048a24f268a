"""Momentum and angular momentum of an isolated group are kept to round-off, whatever the sweep has to stop.

Bodies are thrown at each other fast, with few substeps, so that impulses are not enough and impact zones are made.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import turgor
from support.laws import DEVICE, EPS, PRECISIONS
from turgor import shapes
from turgor.contact.features import launch
from turgor.contact.features.solve.sides import UNIT
from turgor.contact.features.solve.sweep import PATIENCE


@pytest.fixture(params=["one after another", "all at once"])
def order(request, monkeypatch):
    """Contacts in the order of the CPU, or as on a GPU."""
    if request.param == "all at once":
        monkeypatch.setattr(launch.FeatureLauncher, "parallel", True)
        monkeypatch.setattr(launch, "THREADS", 7)
    return request.param


def momenta(sim):
    """(linear, angular about the origin) of all bodies."""
    linear = sum(np.asarray(sim[name].momentum) for name in sim.names)
    angular = 0.0
    for name in sim.names:
        x, p = sim[name].center, sim[name].momentum
        orbital = np.cross(x, p) if len(x) == 3 else x[0] * p[1] - x[1] * p[0]
        angular = angular + orbital + sim[name].angular_momentum
    return linear, np.atleast_1d(angular)


def run_and_compare(sim, frames, precision):
    """Run; whether there were zones. Momentum may change by round-off only, that of all masses at the largest speed."""
    linear, angular = momenta(sim)
    mass = sum(sim[name].mass for name in sim.names)
    speed = 0.0
    for _ in range(frames):
        speed = max(speed, *(np.abs(sim[name].velocities).max() for name in sim.names))
        sim.step()
        slack = 100.0 * (EPS[precision] * speed + UNIT) * mass  # UNIT: of sums, where all impulses act at once
        p, spin = momenta(sim)
        assert np.abs(p - linear).max() <= slack
        assert np.abs(spin - angular).max() <= 3.0 * slack  # arms of up to 3 m
    method = sim.engine.split.method  # none where all bodies are rigid
    return method is not None and method.sweep_stage.zones.zones.joined.numpy().max() > PATIENCE


def limbs(scene, shape, name, at, velocity, **options):
    springs = {"springs": turgor.Springs(stiffness=800.0, damping=0.5), "friction": 0.4}
    scene.add_soft_body(shape, name=name, at=at, velocity=velocity, **{"mass": 1.0, **springs, **options})


@pytest.mark.req("X1")
@pytest.mark.parametrize("precision", PRECISIONS)
def test_thrown_shapes_with_limbs_keep_their_momentum(order, precision):
    """A hand, a ring and a letter meet at 20 m/s and crumple: contact and self-contact at once."""
    scene = turgor.Scene(gravity=0)
    limbs(scene, shapes.hand(1.0), "hand", (-0.7, 0.0, 0.0), (20.0, 0.0, 0.0), mass=2.0)
    limbs(
        scene, shapes.torus(0.35, 0.12, 14, 10), "ring", (0.6, 0.05, 0.4), (-20.0, 0.0, 0.0), rotation=(0.4, 0.8, 0.1)
    )
    limbs(scene, shapes.letter("T"), "letter", (0.0, 0.9, 0.4), (0.0, -15.0, 0.0))
    sim = turgor.Simulation(scene, device=DEVICE, precision=precision)
    assert run_and_compare(sim, 5, precision)  # there were zones


@pytest.mark.req("X1")
@pytest.mark.parametrize(
    ("solver", "precision"),
    [
        *(("symplectic", precision) for precision in PRECISIONS),
        ("implicit", "double"),
    ],
)
def test_a_flat_heap_thrown_together_keeps_its_momentum(order, solver, precision):
    """In the plane: stars and a rigid body meet in one place."""
    scene = turgor.Scene(dim=2, gravity=0)
    for k in range(4):
        way = np.array([np.cos(1.6 * k), np.sin(1.6 * k)])
        limbs(
            scene,
            shapes.star(5, 0.5, 0.2, points=40),
            f"star-{k}",
            tuple(0.9 * way),
            tuple(-25.0 * way),
            rotation=0.3 * k,
        )
    scene.add_rigid_body(shapes.polygon(5, 0.2), name="stone", at=(0.0, 0.0), mass=3.0, spin=4.0)
    sim = turgor.Simulation(scene, device=DEVICE, precision=precision, substeps=8, solver=solver)
    assert run_and_compare(sim, 12, precision)


@pytest.mark.req("X1")
@pytest.mark.parametrize("solver", ["symplectic", "implicit"])
def test_a_mesh_that_intersects_itself_at_the_start_keeps_its_momentum(order, solver):
    """A ring that was pulled through itself by hand, thrown at a cloth."""
    scene = turgor.Scene(gravity=0)
    limbs(scene, shapes.torus(0.35, 0.12, 14, 10), "ring", (0.0, 0.0, 0.0), (4.0, 1.0, 0.0))
    sheet = shapes.sheet((1.0, 1.0), (9, 9))
    scene.add_cloth(sheet, name="cloth", at=(0.8, 0.0, 0.0), rotation=(0.0, 1.5, 0.0), mass=0.3, wind_drag=0.0)
    sim = turgor.Simulation(scene, device=DEVICE, precision="double", substeps=16, solver=solver)
    x = sim["ring"].positions
    folded = x.copy()
    folded[x[:, 0] > 0.1, 0] *= -0.9
    sim["ring"].positions = folded
    run_and_compare(sim, 12, "double")


@st.composite
def collisions(draw):
    """A few bodies of any kind that fly to the origin, soft enough for ten substeps a frame."""
    dim = draw(st.sampled_from([2, 3]))
    scene = turgor.Scene(dim=dim, gravity=0)
    number = st.floats(-1.0, 1.0)
    for k in range(draw(st.integers(2, 4))):
        way = np.array([draw(number) for _ in range(dim)]) + 0.1 * (k + 1)
        way /= np.linalg.norm(way)
        rotation = 3.0 * draw(number) if dim == 2 else tuple(3.0 * draw(number) for _ in range(3))
        speed = draw(st.floats(1.0, 20.0))
        common = {
            "name": f"body-{k}", "at": tuple((0.7 + 0.3 * k) * way), "velocity": tuple(-speed * way),
            "rotation": rotation, "friction": draw(st.sampled_from([0.0, 0.5])), "mass": draw(st.floats(0.5, 10.0)),
        }  # fmt: skip
        kind = draw(st.sampled_from(["soft", "limbs", "rigid", "cloth" if dim == 3 else "limbs"]))
        springs = turgor.Springs(draw(st.floats(20.0, 200.0)), draw(st.floats(0.0, 0.2)))
        if kind == "rigid":
            shape = shapes.polygon(4, 0.3) if dim == 2 else shapes.box((0.4, 0.3, 0.5))
            scene.add_rigid_body(shape, **common)
        elif kind == "cloth":
            scene.add_cloth(shapes.sheet((0.8, 0.8), (7, 7)), springs=springs, wind_drag=0.0, **common)
        else:
            ball, star = (shapes.circle(0.3, 20), shapes.star(4, 0.4, 0.2, points=24)) if dim == 2 else (
                shapes.icosphere(0.3, 1), shapes.torus(0.3, 0.12, 8, 6)
            )  # fmt: skip
            gas = turgor.Gas.at(gauge=200.0, ambient=1000.0) if draw(st.booleans()) else None
            scene.add_soft_body(ball if kind == "soft" else star, springs=springs, gas=gas, **common)
    return scene


@pytest.mark.req("X1")
@settings(max_examples=25, deadline=None)
@given(scene=collisions(), precision=st.sampled_from(PRECISIONS), substeps=st.sampled_from([10, "auto"]))
def test_any_isolated_group_keeps_its_momentum(scene, precision, substeps):
    """Random bodies, 2D and 3D, with rigid ones, gas and friction, at any speed and whatever overlaps at the start."""
    sim = turgor.Simulation(scene, device=DEVICE, precision=precision, substeps=substeps)
    run_and_compare(sim, 20, precision)


@pytest.mark.req("X1", "X2")
@settings(max_examples=6, deadline=None)
@given(scene=collisions(), precision=st.sampled_from(PRECISIONS))
def test_any_isolated_group_keeps_its_momentum_in_implicit_steps(scene, precision):
    run_and_compare(turgor.Simulation(scene, device=DEVICE, precision=precision, solver="implicit"), 12, precision)


@pytest.mark.req("X1", "X2")
@pytest.mark.parametrize("solver", ["symplectic", "implicit"])
def test_balls_that_meet_within_one_long_step_gain_no_energy(order, solver):
    """At 20 m/s and 1/240 s each moves by half an edge, and many features meet at once at each point."""
    scene = turgor.Scene(gravity=0)
    for side in (-1.0, 1.0):
        scene.add_soft_body(
            shapes.icosphere(0.4, 2), name="left" if side < 0.0 else "right", at=(0.5 * side, 0.05 * side, 0.03),
            velocity=(-20.0 * side, 0.0, 0.0), mass=1.0, springs=turgor.Springs(stiffness=5.0), friction=0.4,
        )  # fmt: skip
    sim = turgor.Simulation(scene, device=DEVICE, precision="double", solver=solver, substeps=1, fps=240)
    before = sim.energy().total
    for _ in range(5):
        sim.step()
        assert sim.energy().total <= before * (1.0 + 1e-9)
