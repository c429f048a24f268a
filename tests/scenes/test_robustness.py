"""Whatever the parameters: finite numbers, or an UnstableError that says which body, when and what to do.

Random closed meshes (2D and 3D, 1e-4 m to 1e3 m, stretched up to 1:100) with stiffness, mass, damping, pressure and
bending over ten orders of magnitude, absurd states, all solvers and both precisions, with automatic substeps.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import turgor
from turgor import Gas, MeshError, Springs, UnstableError, VelocityDamping, shapes

SOLVERS = ["euler", "symplectic", "midpoint", "heun", "rk4", "rk4-martin"]
LIMIT = 400  # substeps per frame: bounds the time of a case
QUICK = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)

seeds = st.integers(0, 2**32 - 1)
dims = st.sampled_from([2, 3])
precisions = st.sampled_from(["single", "double"])
solvers = st.sampled_from(SOLVERS)


def decades(centre):
    """Ten orders of magnitude around 10^centre."""
    return st.floats(centre - 5.0, centre + 5.0).map(lambda power: 10.0**power)


@st.composite
def forms(draw, dim):
    """A closed shape of any size, stretched and dented."""
    if dim == 2:
        plain = draw(
            st.sampled_from(
                [
                    shapes.circle(points=3),
                    shapes.circle(points=16),
                    shapes.star(tips=5, inner=0.05),
                    shapes.star(tips=7, inner=0.4),
                    shapes.polygon(sides=4, points=12),
                ]
            )
        )
    else:
        plain = draw(
            st.sampled_from(
                [
                    shapes.icosphere(subdivisions=0),
                    shapes.icosphere(subdivisions=1),
                    shapes.box(subdivisions=1),
                    shapes.box(subdivisions=2),
                    shapes.torus(stacks=6, slices=6),
                    shapes.uv_sphere(stacks=4, slices=5),
                ]
            )
        )
    size = 10.0 ** draw(st.sampled_from([0.0, 0.0, -4.0, 3.0]))
    stretch = np.ones(dim)
    stretch[draw(st.integers(0, dim - 1))] = 10.0 ** draw(st.sampled_from([0.0, 0.0, -2.0, 2.0]))
    noise = draw(st.sampled_from([0.0, 0.02])) * np.random.default_rng(draw(seeds)).normal(size=plain.vertices.shape)
    points = (plain.vertices + noise) * stretch * size
    try:
        return shapes.outline(points) if dim == 2 else shapes.mesh(points, plain.faces)
    except MeshError:  # dented until it crosses itself: the mesh doctor's business
        return shapes.outline(plain.vertices * size) if dim == 2 else shapes.mesh(plain.vertices * size, plain.faces)


@st.composite
def gases(draw):
    law = draw(st.sampled_from([{}, {"law": "adiabatic"}, {"law": "adiabatic", "gamma": 3.0}]))
    ambient = draw(st.sampled_from([0.0, 101_325.0]))
    gauge = draw(decades(3.0))
    kind = draw(st.sampled_from(["none", "nRT", "free", "held", "pumped", "vacuum"]))
    if kind == "none":
        return None
    if kind == "nRT":
        return Gas(nRT=gauge, **law)
    if kind == "held":
        return Gas.at(gauge=gauge, ambient=ambient, held=True)
    if kind == "pumped":
        return Gas.at(gauge=gauge, ambient=ambient, inflate=0.05, gravity_waits=True, **law)
    return Gas.at(gauge=-ambient if kind == "vacuum" else gauge, ambient=ambient, **law)


@st.composite
def bodies(draw, dim):
    gas = draw(gases())
    stiffness = draw(decades(2.0))
    options = {
        "gas": gas,
        "mass": draw(decades(0.0)),
        "springs": Springs(stiffness, draw(st.one_of(st.just(0.0), decades(-1.0)))),
        "bending": draw(st.one_of(st.just(0.0), decades(-2.0))),
        "drag": draw(st.sampled_from([0.0, 0.0, 1.0, 1e4])),
        "wind_drag": draw(st.sampled_from([0.0, 0.0, 1e-3, 10.0])),
        "pins": draw(st.sampled_from([(), (), (0,), "top"])),
    }
    if draw(st.integers(0, 4)) == 0:
        options["velocity_damping"] = VelocityDamping(stiffness_max=2.0 * stiffness)
    if gas is not None:
        options["pressure_force"] = draw(st.sampled_from(["gradient", "gradient", "vertex-normals"]))
        options["volume"] = draw(st.sampled_from(["exact", "exact", "exact", "box", "ellipsoid", "subdivision"]))
    return {"shape": draw(forms(dim)), **options}


class Watcher:
    """A sink that insists on finite frames."""

    def __init__(self):
        self.count = 0

    def add(self, frame):
        self.count += 1
        assert np.isfinite(frame.positions).all()
        assert np.isfinite(frame.velocities).all()
        assert not np.isinf(frame.volumes).any()
        assert not np.isinf(frame.pressures).any()

    def close(self, finished=True):
        pass


def run_or_say(sim, frames=6):
    """Run, record and look; or a message that helps."""
    watcher = Watcher()
    try:
        sim.run(frames / sim.settings.fps, record=watcher)
        assert math.isfinite(sim.energy().total)
        assert sim.substeps <= sim.settings.max_substeps
        assert watcher.count == frames + 1
    except UnstableError as error:
        message = str(error)
        assert "body 'thing' at t = " in message
        assert any(word in message for word in ("lower its stiffness", "raise substeps", "is not conservative"))
    assert sim.finite
    return sim


def scene_with(body, dim, walls="ground", speed=0.0):
    body = dict(body)
    shape = body.pop("shape")
    size = float(np.ptp(shape.vertices, axis=0).max())
    up = (0.0,) * (dim - 1)
    scene = turgor.Scene(dim=dim, wind=(3.0,) + (0.0,) * (dim - 1))
    if walls == "ground":
        scene.add_ground(friction=0.5, restitution=0.3)
    elif walls == "corner":
        for side in (-1.0, 1.0):  # a wedge of 30 degrees, one side of which moves
            normal = (0.97 * side, *(0.0,) * (dim - 2), 0.26)
            scene.add_plane(point=(0.0,) * dim, normal=normal, velocity=((side - 1.0) * size, *(0.0,) * (dim - 1)))
    elif walls != "none":
        inner = {"tight": 0.3, "roomy": 3.0}[walls] * size
        spin = 5.0 if dim == 2 else (1.0, 5.0, 0.0)
        scene.add_container(size=(inner,) * dim, at=(*up, size), spin=spin)
    scene.add_soft_body(shape, name="thing", at=(*up, size), velocity=(*up, -speed), **body)
    return scene


@pytest.mark.req("A3", "X3")
@QUICK
@given(data=st.data(), dim=dims, precision=precisions, solver=solvers)
def test_any_parameters(data, dim, precision, solver):
    body = data.draw(bodies(dim))
    speed = data.draw(st.sampled_from([0.0, 1.0, 30.0, 1e6]))
    run_or_say(
        turgor.Simulation(scene_with(body, dim, speed=speed), solver=solver, precision=precision, max_substeps=LIMIT)
    )


def ordinary(dim):
    shape = shapes.icosphere(subdivisions=1) if dim == 3 else shapes.star()
    return {"shape": shape, "gas": Gas.at(gauge=300.0), "springs": Springs(200.0, 0.1), "bending": 0.01}


ABSURD = {
    "point": lambda x, rng, size: np.tile(x.mean(axis=0), (len(x), 1)),
    "plane": lambda x, rng, size: x * np.append(np.ones(x.shape[1] - 1), 0.0),
    "line": lambda x, rng, size: x * np.append(1.0, np.zeros(x.shape[1] - 1)),
    "mirrored": lambda x, rng, size: x * np.append(-1.0, np.ones(x.shape[1] - 1)),
    "inside out": lambda x, rng, size: -x,
    "coincident": lambda x, rng, size: np.vstack([x[:1], x[:1], x[:1], x[3:]]),
    "shrunk": lambda x, rng, size: x * 10.0**-size,
    "blown up": lambda x, rng, size: x * 10.0 ** (size / 2),
    "shuffled": lambda x, rng, size: rng.permutation(x),
    "nearly a point": lambda x, rng, size: x.mean(axis=0) + 1e-30 * rng.normal(size=x.shape),
}


@pytest.mark.req("A3", "X3")
@QUICK
@given(
    state=st.sampled_from([None, *ABSURD]),
    kick=st.sampled_from([0.0, 0.0, 10.0, 1e3, 1e6]),
    walls=st.sampled_from(["none", "ground", "corner", "tight", "roomy"]),
    seed=seeds,
    dim=dims,
    precision=precisions,
    solver=solvers,
)
@example(state=None, kick=0.0, walls="tight", seed=0, dim=3, precision="single", solver="symplectic")
@example(state="point", kick=0.0, walls="tight", seed=0, dim=3, precision="single", solver="symplectic")
@example(state="nearly a point", kick=1e6, walls="corner", seed=0, dim=2, precision="single", solver="rk4")
def test_absurd_states(state, kick, walls, seed, dim, precision, solver):
    """Collapsed, mirrored, shuffled, thrown at 1e6 m/s into a corner or a box smaller than the body."""
    rng = np.random.default_rng(seed)
    sim = turgor.Simulation(
        scene_with(ordinary(dim), dim, walls), solver=solver, precision=precision, max_substeps=LIMIT
    )
    body = sim["thing"]
    if state is not None:
        centre = body.center
        body.positions = centre + ABSURD[state](body.positions - centre, rng, rng.uniform(0.0, 8.0))
    body.velocities = kick * rng.normal(size=body.positions.shape)
    run_or_say(sim)
    if walls in ("tight", "roomy") and sim.time > 0.0:
        assert sim.contacts().max_penetration < 1e-4 * max(1.0, kick)


def ran(sim, seconds):
    """Whether it ran; what needs more substeps than allowed says so, and nothing else is accepted."""
    message = ""
    try:
        sim.run(seconds)
    except UnstableError as error:
        message = str(error)
    assert not message or "max_substeps" in message
    return not message


# What a scheme may do to the energy of an undamped body in up to 0.5 s. Symplectic: bounded, E oscillates about what it
# keeps by up to 1/(1 - (omega dt / 2)²). Those without a stable step on the imaginary axis: amplitudes grow by 0.1/s
# (solvers.stability.GROWTH), the energy by exp(0.1). The others damp; rk4-martin keeps E to the first order in dt.
GAIN = {"symplectic": 3.0, "euler": 1.2, "midpoint": 1.2, "heun": 1.2, "rk4": 1.02, "rk4-martin": 1.5}


@pytest.mark.req("A6", "B7", "C3")
@pytest.mark.parametrize("solver", SOLVERS)
@settings(max_examples=12, deadline=None)
@given(
    seed=seeds,
    dim=dims,
    stiffness=decades(2.0),
    mass=decades(0.0),
    ambient=st.one_of(st.just(0.0), decades(3.0)),
    damping=st.sampled_from([0.0, 0.0, 0.1]),
)
def test_automatic_substeps_do_not_feed_energy(solver, seed, dim, stiffness, mass, ambient, damping):
    """Small free vibrations about an equilibrium (gauge pressure zero): what runs must not secretly explode."""
    shape = shapes.icosphere(subdivisions=1) if dim == 3 else shapes.circle(points=24)
    scene = turgor.Scene(dim=dim, gravity=(0.0,) * dim)
    omega = math.sqrt(stiffness * len(shape.vertices) / mass)
    springs = Springs(stiffness, damping * stiffness / omega)
    scene.add_soft_body(shape, name="thing", mass=mass, springs=springs, gas=Gas.at(gauge=0.0, ambient=ambient))
    fps = max(60.0, 0.5 * math.hypot(omega, math.sqrt(20.0 * ambient / mass)))  # frames no longer than its motion
    sim = turgor.Simulation(scene, solver=solver, precision="double", fps=fps, max_substeps=LIMIT)
    sim["thing"].velocities = 1e-3 * omega * np.random.default_rng(seed).normal(size=shape.vertices.shape)
    start = sim.energy().total
    if ran(sim, 30 / fps):
        assert sim.energy().total <= GAIN[solver] * start


IMPACTS = {
    "circle, midpoint, 20 m/s": (
        "midpoint",
        20.0,
        {
            "shape": shapes.circle(radius=0.28, points=32),
            "mass": 0.68,
            "springs": Springs(22.0),
            "gas": Gas.at(gauge=32.0, ambient=0.0, law="adiabatic"),
        },
    ),
    "star, rk4, 20 m/s": (
        "rk4",
        20.0,
        {
            "shape": shapes.star(outer=0.125, inner=0.06, points=20),
            "mass": 0.63,
            "springs": Springs(23.0),
            "gas": Gas.at(gauge=15.0, ambient=0.0),
        },
    ),
    "ball, rk4-martin, 20 m/s": (
        "rk4-martin",
        20.0,
        {
            "shape": shapes.icosphere(radius=0.2, subdivisions=2),
            "mass": 1.35,
            "springs": Springs(20.0),
            "gas": Gas.at(gauge=14.0),
        },
    ),
    "ball, symplectic, 50 m/s": (
        "symplectic",
        50.0,
        {
            "shape": shapes.icosphere(radius=0.3, subdivisions=2),
            "mass": 1.0,
            "springs": Springs(100.0),
            "gas": Gas.at(gauge=500.0),
        },
    ),
}


@pytest.mark.parametrize("case", IMPACTS)
def test_hard_impact(case):
    """A body that is crushed against the floor within a frame loses energy: it must not gain any, nor diverge."""
    solver, speed, body = IMPACTS[case]
    dim = body["shape"].dim
    sim = turgor.Simulation(scene_with(body, dim, speed=speed), solver=solver)
    start = sim.energy().total
    for _ in range(45):
        sim.step()
        assert sim.energy().total <= 1.1 * start


def test_transverse_motion_is_not_damped_by_dashpots():
    """Euler feeds what no dashpot brakes: a ring under pressure with strong dashpots must not explode."""
    body = {
        "shape": shapes.circle(radius=0.154, points=32),
        "mass": 0.416,
        "springs": Springs(445.0, 3.14),
        "gas": Gas.at(gauge=29.0, ambient=0.0),
    }
    sim = turgor.Simulation(scene_with(body, 2), solver="euler", precision="double")
    sim["thing"].velocities = np.random.default_rng(1).normal(size=(32, 2))
    start = sim.energy().total
    assert not ran(sim, 1.0) or sim.energy().total < start
