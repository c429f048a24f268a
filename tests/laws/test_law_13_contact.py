"""Contact between bodies: momentum is exchanged exactly, energy never grows, friction is Coulomb's, piles come to rest.

There is no gravity in the collisions, so that the bodies' own momentum and energy are all there is.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import turgor
from support import penetration
from support.laws import DEVICE, EPS, PRECISIONS
from turgor import shapes

G = 9.81
SPEED = 2.0  # m/s, of each of the two
FRAMES = 45  # of a collision: from 0.1 m apart until they have parted
SOLVERS = ["symplectic", "implicit"]


def soft(scene, name, at, velocity, friction, radius=0.4, subdivisions=2, damping=0.3, **options):
    scene.add_soft_body(
        shapes.icosphere(radius=radius, subdivisions=subdivisions),
        name=name,
        at=at,
        velocity=velocity,
        rotation=(0.3, 0.2, 0.1 * len(scene.bodies)),
        springs=turgor.Springs(stiffness=150.0, damping=damping),
        gas=turgor.Gas(gauge=200.0, ambient=1000.0),
        friction=friction,
        restitution=0.0,
        **{"mass": 1.0, "settled": True, **options},
    )


def collision(kind, offset=0.0, friction=0.5, precision="single", damping=0.3, substeps=None, solver="symplectic"):
    """Two bodies fly at each other along x; `offset` (m) sideways makes it oblique."""
    scene = turgor.Scene(gravity=(0.0, 0.0, 0.0))
    soft(scene, "a", (-0.5, -0.5 * offset, 0.05), (SPEED, 0.0, 0.0), friction, damping=damping)
    other = {"at": (0.5, 0.5 * offset, -0.05), "velocity": (-SPEED, 0.0, 0.0), "friction": friction}
    if kind == "soft":
        soft(scene, "b", damping=damping, **other)
    else:
        shape = shapes.box((0.6, 0.7, 0.5)) if kind == "box" else shapes.icosphere(radius=0.4, subdivisions=2)
        scene.add_rigid_body(shape, name="b", mass=1.5, restitution=0.0, spin=(0.3, 0.1, 0.5), **other)
    return turgor.Simulation(scene, device=DEVICE, precision=precision, substeps=substeps, solver=solver)


def momentum(sim):
    """(linear, angular about the origin), kg m/s and kg m²/s, of all bodies."""
    bodies = [sim[name] for name in sim.names]
    linear = sum(body.momentum for body in bodies)
    angular = sum(np.cross(body.center, body.momentum) + body.angular_momentum for body in bodies)
    return linear, angular


# --- collisions


CASES = [
    (kind, offset, friction) for kind in ("soft", "box", "ball") for offset in (0.0, 0.35) for friction in (0.0, 0.6)
]


@pytest.mark.req("X1")
@pytest.mark.parametrize(
    ("solver", "precision"),
    [
        *(("symplectic", precision) for precision in PRECISIONS),
        ("implicit", "double"),
    ],
)
@pytest.mark.parametrize(("kind", "offset", "friction"), CASES)
def test_momentum_is_exchanged_exactly(kind, offset, friction, solver, precision):
    """Head-on and oblique, with and without friction: what one body loses the other gets, angular momentum included."""
    sim = collision(kind, offset, friction, precision, solver=solver)
    linear, angular = momentum(sim)
    before = sim["a"].momentum
    # Velocities of about 2 m/s are rounded at each impulse: at random for the many vertices of a soft body, of which a
    # share of 1/162 matters, but for a rigid body at all of some thousand impulses in turn, eps/2 of 3 kg m/s each.
    slack = 1e3**0.5 * 3.0 * EPS[precision] * (2.0 if kind == "soft" else 4.0)
    for _ in range(FRAMES):
        sim.step()
        p, spin = momentum(sim)
        assert np.abs(p - linear).max() <= slack
        assert np.abs(spin - angular).max() <= slack  # arms of up to 1 m
    assert np.linalg.norm(sim["a"].momentum - before) > 1.0  # they did meet
    assert sim["a"].momentum[0] - sim["a"].mass * sim["b"].momentum[0] / sim["b"].mass < 0.5  # and part, or stick
    assert penetration.deepest(sim)[0] == 0.0


@pytest.mark.parametrize(("kind", "offset"), [("soft", 0.0), ("soft", 0.35), ("box", 0.35), ("ball", 0.2)])
def test_energy_never_grows(kind, offset):
    """Restitution 0 and friction, no damping at all: the energy falls, but for the ripple of the balls left alone.

    The symplectic step keeps a shadow energy; the true one swings about it, by the same in and after the collision.
    """
    sim = collision(kind, offset, friction=0.5, precision="double", damping=0.0, substeps=40)
    kinetic = sim.energy().kinetic
    totals = [sim.energy().total]
    for _ in range(2 * FRAMES):
        sim.step()
        totals.append(sim.energy().total)
    ripple = np.ptp(totals[FRAMES:])  # they have parted and swing, each by itself
    assert ripple < 3e-3 * kinetic
    growth = np.max(totals - np.minimum.accumulate(totals))
    assert growth <= 1.5 * ripple
    assert totals[-1] < totals[0] - 0.05 * kinetic  # an impact with restitution 0 does take energy
    assert sim["b"].center[0] - sim["a"].center[0] > 0.9


@pytest.mark.parametrize("solver", SOLVERS)
def test_friction_turns_an_oblique_hit_into_spin(solver):
    """Without friction the rigid ball goes on without spin; with it both turn, the same way round."""
    spins = []
    for friction in (0.0, 0.6):
        scene = turgor.Scene(gravity=(0.0, 0.0, 0.0))
        soft(scene, "a", (-0.5, -0.15, 0.0), (SPEED, 0.0, 0.0), friction)
        scene.add_rigid_body(
            shapes.icosphere(radius=0.4), name="b", at=(0.5, 0.15, 0.0), velocity=(-SPEED, 0.0, 0.0), friction=friction
        )
        sim = turgor.Simulation(scene, device=DEVICE, solver=solver)
        sim.run(0.75)
        spins.append(sim["b"].spin[2])
    assert abs(spins[0]) < 1e-4
    assert spins[1] > 0.5  # a's surface moves to +x at b's lower side: counter-clockwise


# --- friction


@pytest.mark.law(9)
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("static", ["hull", "mesh"])
@pytest.mark.parametrize(("degrees", "slides"), [(15.0, False), (40.0, True)])
def test_slope(static, degrees, slides, solver):
    """A soft cushion on a rigid slope, mu = 0.5: at rest below atan mu = 26.6 degrees, sliding as a block above it."""
    mu, angle = 0.5, math.radians(degrees)
    down, up = np.array([math.cos(angle), 0.0, -math.sin(angle)]), np.array([math.sin(angle), 0.0, math.cos(angle)])
    scene = turgor.Scene(gravity=(0.0, 0.0, -G))
    scene.add_rigid_body(
        shapes.box((8.0, 2.0, 0.2)),
        name="slope",
        rotation=(0.0, angle, 0.0),
        kind="static",
        collider=static,
        friction=mu,
    )
    scene.add_soft_body(
        shapes.box((0.8, 0.8, 0.3), subdivisions=3),
        name="block",
        at=tuple(up * 0.27 - down * 2.0),
        rotation=(0.0, angle, 0.0),
        springs=turgor.Springs(stiffness=1000.0, damping=5.0),
        gas=turgor.Gas(gauge=10.0, ambient=1000.0),
        friction=mu,
        restitution=0.0,
    )
    sim = turgor.Simulation(scene, device=DEVICE, solver=solver)
    sim.run(0.5)
    start, pace = sim["block"].center, sim["block"].momentum / sim["block"].mass
    sim.run(0.5)
    way = (sim["block"].center - start) @ down
    if slides:
        expected = pace @ down * 0.5 + 0.5 * G * (math.sin(angle) - mu * math.cos(angle)) * 0.5**2
        assert way == pytest.approx(expected, rel=0.1)
    else:
        assert abs(way) < 2e-3
    assert penetration.crossings(sim) == 0
    assert abs((sim["block"].center - start) @ np.array([0.0, 1.0, 0.0])) < 0.02


# --- rest


def test_a_pile_comes_to_rest_and_stays():
    """Eight balls in a bin: less than 1e-4 J per kg of motion after 10 s, and until 60 s."""
    scene = turgor.Scene(gravity=(0.0, 0.0, -G))
    scene.add_container((1.3, 1.3, 4.0), at=(0.0, 0.0, 2.0), friction=0.5, restitution=0.0)
    for k in range(8):
        place = (0.3 * (-1) ** k, 0.3 * (-1) ** (k // 2), 0.4 + 0.75 * (k // 4) + 0.05 * k)
        soft(scene, f"ball-{k}", place, (0.0, 0.0, 0.0), 0.5, radius=0.26, subdivisions=1, mass=0.5, damping=1.0)
    sim = turgor.Simulation(scene, device=DEVICE)
    sim.run(10.0)
    places = np.array([sim[name].center for name in sim.names])
    bound = 0.5e-4 * 0.5 / 42  # J per vertex: 1 cm/s
    for _ in range(50):
        kinetic = 0.5 * float((sim["ball-0"].masses[0] * sim.velocities**2).sum()) / sim.vertices
        assert kinetic < bound
        assert penetration.crossings(sim) == 0
        sim.run(1.0)
    drift = np.abs(np.array([sim[name].center for name in sim.names]) - places).max()
    assert drift < 0.05


# --- overlapped at the start


@pytest.mark.req("X1")
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kind", ["soft", "box", "ball"])
def test_bodies_that_start_overlapped_part_gently(kind, solver):
    """Two that start 0.1 m in each other are pushed out the short way, at less than 2 m/s, and keep their momentum."""
    scene = turgor.Scene(gravity=(0.0, 0.0, 0.0))
    soft(scene, "a", (-0.36, 0.0, 0.0), (0.0, 0.0, 0.0), 0.5)
    if kind == "soft":
        soft(scene, "b", (0.34, 0.02, 0.01), (0.0, 0.0, 0.0), 0.5)
    else:
        shape = shapes.box((0.8, 0.8, 0.8)) if kind == "box" else shapes.icosphere(radius=0.4)
        scene.add_rigid_body(shape, name="b", at=(0.34, 0.02, 0.01), friction=0.5, restitution=0.0)
    sim = turgor.Simulation(scene, device=DEVICE, solver=solver)
    assert penetration.deepest(sim)[0] > 0.05
    for _ in range(120):
        sim.step()
        assert np.abs(momentum(sim)[0]).max() < 1e-5
        for name in ("a", "b"):
            assert np.linalg.norm(sim[name].velocities, axis=1).max() < 2.0
    assert penetration.deepest(sim)[0] == 0.0
    assert penetration.crossings(sim) == 0
    assert sim["b"].center[0] - sim["a"].center[0] > 0.72  # along the short way, not through each other
    assert np.abs(sim["b"].center[1:] - sim["a"].center[1:]).max() < 0.15


@pytest.mark.req("X1", "D2")
def test_a_crumpled_cloth_flies_on():
    """Thrown into a knot that impulses cannot solve: what is held is held within the cloth, not in space."""
    scene = turgor.Scene(gravity=0)
    sheet = shapes.sheet(size=(1.0, 1.0), resolution=(21, 21))
    springs = turgor.Springs(stiffness=100.0, damping=0.05)
    scene.add_cloth(sheet, name="cloth", mass=0.2, springs=springs, wind_drag=0.0)
    sim = turgor.Simulation(scene, device=DEVICE)
    arms = sim["cloth"].positions - sim["cloth"].center
    noise = np.random.default_rng(6).normal(size=arms.shape)
    sim["cloth"].velocities = np.array([1.0, 0.0, 0.0]) + 8.0 * noise - 40.0 * arms + np.cross([0.0, 0.0, 3.0], arms)
    linear, angular = momentum(sim)
    start = sim["cloth"].center
    sim.run(0.3)
    p, spin = momentum(sim)
    assert np.abs(p - linear).max() < 1e-5
    assert np.abs(spin - angular).max() < 1e-5
    assert sim["cloth"].center - start == pytest.approx(0.3 * linear / sim["cloth"].mass, abs=0.02)
