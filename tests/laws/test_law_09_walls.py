"""Law 9: bounce height e² h, stopping distance v²/(2 μ g), rest on a slope below atan μ.

The closed forms are those of a point. A body without springs and gas is a cloud of points, for which they are exact
up to the step; stiff bodies with a flat base (a triangle, a box: rigid frameworks) obey them as a whole.
"""

from __future__ import annotations

import numpy as np
import pytest

import reference as ref
import turgor
from support.laws import DEVICE, PRECISIONS, frames, get, make, put, shape_of

G = 9.81
FPS, SUBSTEPS = 60, 40
DT = 1.0 / (FPS * SUBSTEPS)


def cloud(dim, walls, precision="double", solver="symplectic", gravity=G, **options):
    """Points that do not feel each other."""
    shape = shape_of("circle" if dim == 2 else "icosphere")
    settings = {"fps": FPS, "substeps": SUBSTEPS, **options}
    sim, _ = make(shape, stiffness=0.0, gravity=gravity, walls=walls, precision=precision, solver=solver, **settings)
    return sim, shape


def floor(friction=0.0, restitution=0.0):
    return lambda scene: scene.add_ground(friction=friction, restitution=restitution)


@pytest.mark.law(9)
@pytest.mark.req("A7")
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("solver", ["symplectic", "midpoint", "rk4"])
@pytest.mark.parametrize("e", [0.0, 0.5, 0.8, 1.0])
@pytest.mark.parametrize("dim", [2, 3])
def test_bounce_height(dim, e, solver, precision):
    sim, shape = cloud(dim, floor(restitution=e), precision, solver)
    x = shape.vertices * 0.2
    x[:, -1] += 1.0  # heights 0.9 to 1.1 m: first contact after 0.43 to 0.47 s, second after 0.85 s or more
    put(sim, x)
    frames(sim, 36)  # 0.6 s
    y, v = get(sim)
    top = y[:, -1] + v[:, -1] ** 2 / (2 * G)
    if e == 0.0:
        np.testing.assert_allclose(top, 0.0, atol=2 * G * DT**2)
        return
    # the speed at the hit is known to g dt, the place to v dt: relative error of the height 2 g dt/v each way, v = 4.2
    error = 4 * G * DT / (e * 4.2)
    if solver != "symplectic":  # the flight is exact, and the velocity of the hit to (g dt)²; single: 1500 roundings
        error = 2 * (G * DT / 4.2) ** 2 + (0.0 if precision == "double" else 2e-5)
    np.testing.assert_allclose(top, e**2 * x[:, -1], rtol=error)


@pytest.mark.law(9)
@pytest.mark.parametrize("solver", [solver for solver in ref.SOLVERS if solver != "euler"])  # it gains energy in flight
@pytest.mark.parametrize("e", [0.1, 0.5, 0.9])
def test_bounces_come_to_rest(e, solver):
    """A resting point does not bounce with the g dt of each step; small bounces die out, and what is left is rest.

    The last bounce ends after v/g (1 + e)/(1 - e) = 0.86 s; those shorter than a step shrink by e with each step.
    """
    sim, shape = cloud(2, floor(restitution=e), solver=solver)
    x = shape.vertices.copy()
    x[:, -1] = np.linspace(0.0, 0.01, len(x))
    put(sim, x)
    frames(sim, 78)
    y, v = get(sim)
    np.testing.assert_allclose(v, 0.0, atol=1e-12)
    np.testing.assert_allclose(y[:, -1], 0.0, atol=1e-15)


@pytest.mark.law(9)
@pytest.mark.req("A7")
@pytest.mark.parametrize("e", [0.4, 0.9])
def test_flat_cloth_bounces_as_one(e):
    """A sheet that lands flat: all vertices at once, so its springs stay at rest and its centre obeys the law."""
    scene = turgor.Scene(gravity=(0, 0, -G))
    scene.add_ground(friction=0.0, restitution=e)
    scene.add_cloth(
        turgor.shapes.sheet(size=(1, 1), resolution=(6, 6)),
        name="body",
        at=(0, 0, 1),
        rotation=(np.pi / 2, 0, 0),
        mass=0.2,
        springs=turgor.Springs(stiffness=50.0, damping=0.1),
        wind_drag=0.0,
    )
    sim = turgor.Simulation(
        scene, device=DEVICE, solver="symplectic", fps=FPS, substeps=SUBSTEPS, contact="none", precision="double"
    )
    frames(sim, 36)
    y, v = get(sim)
    np.testing.assert_allclose(y[:, 2] + v[:, 2] ** 2 / (2 * G), e**2, rtol=4 * G * DT / (e * 4.4))
    assert np.ptp(y[:, 2]) < 1e-9


@pytest.mark.law(9)
@pytest.mark.req("B6")
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("solver", ["symplectic", "midpoint", "rk4"])
@pytest.mark.parametrize("mu", [0.2, 0.6])
@pytest.mark.parametrize("e", [0.0, 0.5])
@pytest.mark.parametrize("dim", [2, 3])
def test_stopping_distance_of_points(dim, e, mu, solver, precision):
    sim, shape = cloud(dim, floor(friction=mu, restitution=e), precision, solver)
    x = shape.vertices.copy()
    x[:, -1] = 0.0
    v = np.zeros_like(x)
    v[:, 0] = 1.5
    if dim == 3:
        v[:, 1] = 0.8
    speed = np.linalg.norm(v[0])
    put(sim, x, v)
    frames(sim, int(60 * (speed / (mu * G) + 0.2)))
    y, w = get(sim)
    np.testing.assert_allclose(w[:, : dim - 1], 0.0, atol=1e-6)  # it stopped, and did not turn round
    expected = v / speed * speed**2 / (2 * mu * G)
    # one step more or less of the first speed
    np.testing.assert_allclose((y - x)[:, : dim - 1], expected[:, : dim - 1], atol=speed * DT)


def stiff(dim):
    """A rigid framework with a flat base: a triangle, or a flat box of 8 vertices (Cauchy: convex and triangulated)."""
    if dim == 2:
        return turgor.shapes.outline(np.array([[-0.5, 0.0], [0.5, 0.0], [0.0, 0.3]])), 0.0
    return turgor.shapes.box(size=(1.0, 1.0, 0.3), subdivisions=1), 0.15


def stiff_body(dim, walls, **body):
    shape, lift = stiff(dim)
    at = np.zeros(dim)
    at[-1] = lift + body.pop("above", 0.0)
    sim, oracle = make(
        shape,
        stiffness=2e4,
        damping=20.0,
        gravity=G,
        walls=walls,
        at=tuple(body.pop("at", at)),
        fps=FPS,
        substeps=80,
        **body,
    )
    return sim, shape, oracle


@pytest.mark.law(9)
@pytest.mark.req("B6")
@pytest.mark.parametrize("mu", [0.2, 0.5])
@pytest.mark.parametrize("dim", [2, 3])
def test_stopping_distance_of_a_stiff_body(dim, mu):
    """Total friction is μ times the weight, however it is shared among the corners: v²/(2 μ g) for the centre."""
    sim, *_ = stiff_body(dim, floor(friction=mu))
    frames(sim, 60)  # sag under its weight first
    x, v = get(sim)
    v[:, 0] += 1.5
    put(sim, x, v)
    start = np.array(sim["body"].center)
    frames(sim, int(60 * (1.5 / (mu * G) + 0.5)))
    assert np.abs(get(sim)[1]).max() < 1e-3
    # elastic give: (μ m g / k) is 1e-4 m; and the wobble of the normal force while it starts to slide
    assert sim["body"].center[0] - start[0] == pytest.approx(1.5**2 / (2 * mu * G), rel=0.01)


def slope(dim, angle, friction):
    """A plane through the origin that falls towards +x."""
    normal = np.zeros(dim)
    normal[0], normal[-1] = np.sin(angle), np.cos(angle)
    along = np.zeros(dim)
    along[0], along[-1] = np.cos(angle), -np.sin(angle)
    point = (0.0,) * dim

    def add(scene):
        scene.add_plane(point=point, normal=tuple(normal), friction=friction, restitution=0.0)

    return add, normal, along


@pytest.mark.law(9)
@pytest.mark.req("B6")
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("solver", ["symplectic", "midpoint", "rk4"])
@pytest.mark.parametrize("share", [0.5, 0.95, 1.1, 2.0])
@pytest.mark.parametrize("dim", [2, 3])
def test_points_on_a_slope(dim, share, solver, precision):
    """tan(angle) = share × μ: below 1 the point stays, above it slides with g (sin - μ cos)."""
    mu = 0.4
    angle = np.arctan(share * mu)
    walls, normal, along = slope(dim, angle, mu)
    sim, shape = cloud(dim, walls, precision, solver)
    x = shape.vertices - np.outer(shape.vertices @ normal, normal)
    put(sim, x)
    frames(sim, 60)
    moved = (get(sim)[0] - x) @ along
    a = max(0.0, G * (np.sin(angle) - mu * np.cos(angle)))
    # s = a t²/2, v t dt/2 from the step. Single: the plane is known to 1e-7 m, now and then a contact comes a step late
    tolerance = a * DT + (1e-10 if precision == "double" else 2e-4)
    np.testing.assert_allclose(moved, 0.5 * a, atol=tolerance)


@pytest.mark.law(9)
@pytest.mark.req("B6")
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize(("share", "slides"), [(0.8, False), (1.25, True)])
def test_stiff_body_on_a_slope(dim, share, slides):
    mu = 0.5
    angle = np.arctan(share * mu)
    walls, normal, along = slope(dim, angle, mu)
    lift = stiff(dim)[1]
    rotation = -angle if dim == 2 else (0.0, angle, 0.0)
    sim, *_ = stiff_body(dim, walls, at=lift * normal, rotation=rotation)
    frames(sim, 60)  # let it sag into its place
    start, speed = np.array(sim["body"].center), np.array(sim["body"].momentum) @ along
    frames(sim, 60)
    moved = (np.array(sim["body"].center) - start) @ along
    if slides:
        a = G * (np.sin(angle) - mu * np.cos(angle))
        assert moved == pytest.approx(speed + 0.5 * a, rel=0.02)
        assert speed == pytest.approx(a, rel=0.1)
    else:
        assert abs(moved) < 1e-5  # G sin(angle) t²/2 would be 1.8 m


@pytest.mark.law(9)
@pytest.mark.req("A7", "B6")
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("gravity", [0.0, 200.0])  # 200: some points reach the wall by the step's forces alone
@pytest.mark.parametrize("dim", [2, 3])
def test_wall_response_of_one_step(dim, gravity, precision):
    """Random points at a moving, tilted wall, one step: positions and velocities of the oracle."""
    normal = np.array([0.3, -0.2, 0.8])[-dim:]
    normal /= np.linalg.norm(normal)
    wall_velocity = np.array([0.2, -0.4, 0.5])[-dim:]

    def add(scene):
        scene.add_plane(
            point=(0.1,) * dim, normal=tuple(normal), velocity=tuple(wall_velocity), friction=0.3, restitution=0.4
        )

    sim, shape = cloud(dim, add, precision, gravity=gravity, fps=100, substeps=1)
    rng = np.random.default_rng(8)
    n = len(shape.vertices)
    x = 0.1 + rng.normal(size=(n, dim))
    x += np.outer(np.abs(rng.normal(size=n)) * 0.02 - (x - 0.1) @ normal, normal)  # just above the wall
    put(sim, x, 3.0 * rng.normal(size=(n, dim)))
    x, start = get(sim)
    v = start.copy()
    v[:, -1] -= gravity * 0.01
    offset = (np.full(dim, 0.1) + wall_velocity * 0.01) @ normal
    expected = ref.wall_response(x, v * 0.01, v, 0.01, normal, offset, wall_velocity, 0.4, 0.3, start)
    sim.step()
    y, w = get(sim)
    atol = 1e-12 if precision == "double" else 2e-6
    np.testing.assert_allclose(w, expected[1], atol=atol)
    np.testing.assert_allclose((y - expected[0]) @ normal, 0.0, atol=atol)  # clipped at the wall
    assert 0.2 * n < np.sum(np.abs(expected[1] - v).max(axis=1) > 0) < 0.9 * n  # some hit, some do not
    np.testing.assert_allclose(y, expected[0], atol=atol)


@pytest.mark.law(9)
@pytest.mark.parametrize("own", [None, 0.7])
def test_a_body_may_bring_its_own_restitution(own):
    sim, shape = cloud(2, floor(restitution=0.4), **({} if own is None else {"restitution": own}))
    x = shape.vertices * 0.1 + [0.0, 1.0]
    put(sim, x)
    frames(sim, 32)
    y, v = get(sim)
    e = 0.4 if own is None else own
    np.testing.assert_allclose(y[:, 1] + v[:, 1] ** 2 / (2 * G), e**2 * x[:, 1], rtol=0.02)


@pytest.mark.law(9)
@pytest.mark.req("A7", "C5")
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("dim", [2, 3])
def test_points_stay_inside_a_turning_container(dim, precision):
    """In the box's own axes no coordinate is beyond half its size; and the walls drag the points round with them."""
    centre, size, rate = np.array([0.3, -0.2, 0.1])[:dim], np.array([1.6, 1.4, 1.2])[:dim], 1.5
    spin = rate if dim == 2 else (0.0, 0.0, rate)

    def add(scene):
        scene.add_container(size=tuple(size), at=tuple(centre), spin=spin, friction=0.8, restitution=0.2)

    sim, shape = cloud(dim, add, precision, gravity=2.0)
    put(sim, shape.vertices + centre, np.random.default_rng(2).normal(size=shape.vertices.shape))
    for _ in range(10):
        frames(sim, 12)
        turn = np.eye(dim)
        c, s = np.cos(rate * sim.time), np.sin(rate * sim.time)
        turn[:2, :2] = [[c, -s], [s, c]]
        own = (get(sim)[0] - centre) @ turn  # rows times R are R^T x
        # in a corner two walls push one after the other: the second may undo the first by its turn in one step
        assert np.max(np.abs(own) - 0.5 * size) < 3 * rate * DT
    x, v = get(sim)
    arm = x - centre
    assert np.mean(arm[:, 0] * v[:, 1] - arm[:, 1] * v[:, 0]) > 0.0
