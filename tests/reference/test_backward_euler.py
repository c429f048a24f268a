"""The oracle's implicit steps against closed forms, conservation laws and its explicit methods."""

from __future__ import annotations

import numpy as np
import pytest

import reference as ref
from reference import meshes
from reference.backward_euler import backward_euler, implicit_midpoint, rigid_motion, step_problem
from reference.hessians import Grab, spring_blocks, spring_stiffness
from reference.newton import Plane, complementarity
from reference.newton_matrices import KINDS, guarded_edges, stiffness

pytestmark = pytest.mark.req("X2")
DOWN = {2: np.array([0.0, -9.81]), 3: np.array([0.0, 0.0, -9.81])}


def ground(dim):
    return Plane(-DOWN[dim] / 9.81, 0.0)


def ball(dim, **more):
    """A taut body (gauge 60 Pa at rest) at its rest shape, 0.02 m above the ground, and turned a little."""
    x, faces = meshes.ring(12) if dim == 2 else meshes.icosphere(1)
    turn = np.linalg.qr(np.random.default_rng(2).normal(size=(dim, dim)))[0]
    turn[:, 0] *= np.sign(np.linalg.det(turn))
    x = x @ turn.T
    x[:, -1] -= x[:, -1].min() - 0.02
    gas = ref.Gas(nRT=90.0 * ref.volume(x, faces), rest_volume=ref.volume(x, faces), ambient=30.0)
    return ref.Body(x, faces, meshes.edges_of(faces), **{"gas": gas, "stiffness": 300.0, **more})


def moving(body, size=0.3, seed=3):
    """A shape and velocities a little off the rest shape."""
    rng = np.random.default_rng(seed)
    x = body.vertices
    return x + 0.01 * rng.normal(size=x.shape), size * rng.normal(size=x.shape)


def run(body, x, v, h, steps, **more):
    for _ in range(steps):
        made = backward_euler(body, x, v, h, **more)
        assert made.report.converged
        x, v = made.x, made.v
    return x, v


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("ambient", [30.0, 150.0])  # gauge 60 Pa, and a body that is pressed together
def test_newton_matrices_are_positive(dim, ambient):
    body = ball(dim, bending=0.2)
    body.gas = ref.Gas(body.gas.nRT, body.gas.rest_volume, ambient)
    x, _ = moving(body)
    inertia = body.masses / 0.01**2
    for kind in KINDS[1:]:
        values = np.linalg.eigvalsh(stiffness(body, x, kind, inertia) + np.diag(np.repeat(inertia, dim)))
        assert values[0] > 0.0
    for kind in ("elements", "rank-one"):
        values = np.linalg.eigvalsh(stiffness(body, x, kind))
        assert values[0] > -1e-13 * values[-1]
    if ambient == 30.0:
        assert np.linalg.eigvalsh(stiffness(body, x))[0] < -1.0  # and the exact one is not
    blocks = spring_blocks(x, body.edges, body.rest, body.stiffness, positive=True)
    assert not guarded_edges(body, x, blocks, 0.0 * inertia)[1].any()  # without mass no edge stays positive
    assert guarded_edges(body, x, blocks, 1e6 * inertia)[1].all()
    # with all edges kept only the compressive tension of springs is left out of the exact matrix
    compressed = spring_stiffness(x, body.edges, body.rest, 300.0, positive=True)
    compressed -= spring_stiffness(x, body.edges, body.rest, 300.0)
    unbent = ref.Body(body.vertices, body.faces, body.edges, stiffness=300.0, gas=body.gas)
    np.testing.assert_allclose(
        stiffness(unbent, x, "guarded", 1e6 * inertia), stiffness(unbent, x) + compressed, atol=1e-9
    )


def test_complementarity():
    rng = np.random.default_rng(4)
    for count in (1, 5, 40):
        A = rng.normal(size=(count, count))
        S, q = A @ A.T + 0.1 * np.eye(count), rng.normal(size=count)
        force = complementarity(S, q)
        w = q + S @ force
        assert force.min() >= 0.0
        assert w.min() > -1e-10
        assert np.abs(force * w).max() < 1e-9


@pytest.mark.parametrize("h", [1e-3, 0.05, 2.0])
@pytest.mark.parametrize("damping", [0.0, 0.7])
def test_oscillator(h, damping):
    """Two masses on a spring, along it: s'' = -ω² s - c s' of the elongation s, ω² = 2 k/m, c = 2 kd/m.

    Backward Euler: v1 = (v0 - h ω² s0) / (1 + h c + h² ω²), s1 = s0 + h v1.
    """
    along = np.array([0.6, 0.8])
    rest = np.array([[0.0, 0.0], 1.5 * along])
    body = ref.Body(rest, [[0, 1], [1, 0]], [[0, 1]], mass=0.4, stiffness=50.0, damping=damping)
    s, u, w2, c = 0.1, -0.3, 2 * 50.0 / 0.2, 2 * damping / 0.2
    x, v = rest + 0.5 * s * np.outer([-1, 1], along), 0.5 * u * np.outer([-1, 1], along)
    for _ in range(5):
        before = 0.5 * u**2 + 0.5 * w2 * s**2
        made = backward_euler(body, x, v, h)
        u = (u - h * w2 * s) / (1 + h * c + h**2 * w2)
        s = s + h * u
        x, v = made.x, made.v
        np.testing.assert_allclose((x[1] - x[0]) @ along - 1.5, s, rtol=1e-9, atol=1e-14)
        np.testing.assert_allclose((v[1] - v[0]) @ along, u, rtol=1e-9, atol=1e-13)
        if not damping:  # amplification 1 / (1 + ω² h²)
            assert 0.5 * u**2 + 0.5 * w2 * s**2 == pytest.approx(before / (1 + h**2 * w2), rel=1e-12)


@pytest.mark.parametrize("dim", [2, 3])
def test_step_satisfies_the_equation(dim):
    """M (v1 - v0)/h is the force at the end; damping with directions of the start. From the force laws themselves."""
    body = ball(dim, damping=0.4, bending=0.3, drag=0.5, gravity=DOWN[dim])
    body.wind, body.wind_coefficient = np.arange(1.0, 1 + dim), 0.02
    x, v = moving(body)
    grab, h = Grab(2, np.full(dim, 0.3), 80.0, 2.0), 0.02
    made = backward_euler(body, x, v, h, grabs=[grab], pins=[5])
    assert made.report.converged
    still = np.zeros_like(x)
    f = ref.spring_forces(made.x, still, body.edges, body.rest, 300.0, 0.0) + body.pressure_forces(made.x)
    f += ref.bending_forces(made.x, body.hinges, body.rest_angles, 0.3) + grab.forces(made.x, made.v)
    i, j = body.edges.T
    f += ref.spring_forces(x, made.v, body.edges, np.linalg.norm(x[i] - x[j], axis=1), 300.0, 0.4)
    f += ref.drag_forces(made.v, body.masses, 0.5) + ref.wind_forces(x, made.v, body.faces, body.wind, 0.02)
    f += body.masses[:, None] * DOWN[dim]
    wanted = body.masses[:, None] * (made.v - v) / h
    free = np.arange(len(x)) != 5
    np.testing.assert_allclose(wanted[free], f[free], atol=1e-8)
    np.testing.assert_array_equal(made.x[5], x[5])
    np.testing.assert_array_equal(made.v[5], 0.0)
    np.testing.assert_allclose(made.x - x, h * made.v, atol=1e-15)


def test_gradient_and_matrix_of_the_step():
    body = ball(3, damping=0.4, bending=0.3, drag=0.5, gravity=DOWN[3])
    x, v = moving(body)
    problem = step_problem(body, x, v, 0.02, grabs=[Grab(2, np.full(3, 0.3), 80.0, 2.0)])
    y = x + 0.02 * v
    g, H = problem.gradient(y), problem.matrix(y)
    rng = np.random.default_rng(8)
    for _ in range(5):
        d = 1e-6 * rng.normal(size=x.shape)
        change = np.sum(problem.energy(y + d) - problem.energy(y - d)) / 2
        assert change == pytest.approx(np.sum(g * d), rel=1e-6)
        turned = (problem.gradient(y + d) - problem.gradient(y - d)).ravel() / 2
        np.testing.assert_allclose(turned, H @ d.ravel(), atol=1e-7 * np.abs(turned).max())


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_momentum(dim, kind):
    """Second law: without walls momentum changes by h × weight, and drag c divides it by 1 + h c; exactly."""
    body = ball(dim, damping=0.4, bending=0.3, gravity=DOWN[dim])
    x, v = moving(body)
    # with one Newton step, too, if no translation changes the matrix's forces: d²V has that property as a whole, but
    # not edge by edge, so where single edges are left out or projected only the converged step keeps momentum
    for rounds in (1, 200) if kind in ("exact", "rank-one") else (200,):
        made = backward_euler(body, x, v, 0.03, kind=kind, rounds=rounds)
        change = np.sum(body.masses[:, None] * (made.v - v), axis=0)
        np.testing.assert_allclose(change, 0.03 * body.mass * DOWN[dim], atol=1e-10)
    body.drag = 2.0
    made = backward_euler(body, x, v, 0.03, kind=kind)
    momentum = np.sum(body.masses[:, None] * v, axis=0) + 0.03 * body.mass * DOWN[dim]
    np.testing.assert_allclose(np.sum(body.masses[:, None] * made.v, axis=0), momentum / 1.06, atol=1e-10)


@pytest.mark.parametrize("dim", [2, 3])
def test_all_ways_lead_to_the_same_step(dim):
    body = ball(dim, damping=0.1, gravity=DOWN[dim])
    x, v = moving(body)
    v[:, -1] -= 2.0
    made = [
        backward_euler(body, x, v, 1 / 60, planes=[ground(dim)], kind=kind, guess=guess)
        for kind in KINDS
        for guess in ("inertial", "rest", "rigid", "lowest")
    ]
    assert all(m.report.converged for m in made)
    assert np.count_nonzero(made[0].report.reactions) >= 1
    for other in made[1:]:
        np.testing.assert_allclose(other.x, made[0].x, atol=1e-9)


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("damping", [0.0, 0.2])
def test_energy_of_a_taut_ball_never_grows(dim, damping):
    """In free flight and bouncing on the ground E falls in every step: where U is convex by |v1 - v0|² M/2 at least."""
    body = ball(dim, damping=damping, gravity=DOWN[dim])
    x, v = moving(body)
    x, v = ref.scale_balance(body) * (x - x.mean(axis=0)) + np.eye(dim)[-1], 0.3 * v
    x[:, -1] -= x[:, -1].min() - 0.02
    for h in (1 / 240, 1 / 30):
        y, u = x, v - 1.0 * np.eye(dim)[-1]
        for _ in range(30):
            made = backward_euler(body, y, u, h, planes=[ground(dim)])
            assert body.energy(made.x, made.v) <= body.energy(y, u) + 1e-12
            y, u = made.x, made.v


def test_energy_grows_where_it_is_concave():
    """A point between two compressed springs, moving across: U = -κ y²/2, κ = 2 k (l0/l - 1).

    Backward Euler gives v1 = v0 / (1 - z), z = h² κ/m, and with it the energy E0 / (1 - z) > E0: the step's energy Φ
    never grows, but E does where springs buckle and h² κ > 0.
    """
    rest = np.array([[-1.25, 0.0], [0.0, 0.0], [1.25, 0.0]])
    body = ref.Body(rest, [[0, 1], [1, 2], [2, 0]], [[0, 1], [1, 2]], mass=3.0, stiffness=10.0)
    x, v, h = 0.8 * rest, np.array([[0.0, 0.0], [0.0, 1e-5], [0.0, 0.0]]), 0.3
    z = h**2 * 2 * 10.0 * 0.25 / 1.0
    made = backward_euler(body, x, v, h, pins=[0, 2])
    assert made.v[1, 1] == pytest.approx(1e-5 / (1 - z), rel=1e-6)
    gain = body.energy(made.x, made.v) - body.energy(x, 0 * v)
    assert gain == pytest.approx(0.5e-10 / (1 - z), rel=1e-4)
    problem = step_problem(body, x, v, h, pins=[0, 2])
    assert np.sum(problem.energy(made.x)) < np.sum(problem.energy(x))


@pytest.mark.parametrize("dim", [2, 3])
def test_order(dim):
    """Against Runge-Kutta with tiny steps: Backward Euler is of first order, the midpoint rule of second."""
    body = ball(dim, gravity=DOWN[dim])
    x, v = moving(body)
    exact, _ = ref.simulate("rk4", body.acceleration, x, v, 1e-4, 100)

    def errors(method, counts):
        out = []
        for steps in counts:
            y, u = x, v
            for _ in range(steps):
                made = method(body, y, u, 0.01 / steps)
                y, u = made.x, made.v
            out.append(np.abs(y - exact).max())
        return np.array(out)

    first = errors(backward_euler, (40, 80, 160))
    np.testing.assert_allclose(np.log2(first[:-1] / first[1:]), 1.0, atol=0.15)
    second = errors(implicit_midpoint, (20, 40, 80))
    np.testing.assert_allclose(np.log2(second[:-1] / second[1:]), 2.0, atol=0.1)
    with pytest.raises(ValueError, match="Backward Euler"):
        implicit_midpoint(body, x, v, 0.01, planes=[ground(dim)])


@pytest.mark.parametrize("dim", [2, 3])
def test_small_steps_are_the_explicit_ones(dim):
    """One step differs from symplectic Euler's by h² da/dt in the velocity: a quarter at half the step."""
    body = ball(dim, damping=0.2, bending=0.1, drag=0.5, gravity=DOWN[dim])
    x, v = moving(body)
    far = []
    for h in (2e-4, 1e-4, 5e-5):
        made, explicit = backward_euler(body, x, v, h), ref.step("symplectic", body.acceleration, x, v, h)
        far.append(np.abs(made.v - explicit[1]).max())
    np.testing.assert_allclose(np.log2(np.array(far[:-1]) / far[1:]), 2.0, atol=0.1)
    assert far[-1] < 1e-3


@pytest.mark.parametrize("dim", [2, 3])
def test_walls(dim):
    """No vertex passes; reactions push, and only what touches; momentum changes by h × (weight + reactions)."""
    body = ball(dim, gravity=DOWN[dim])
    side = np.eye(dim)[0]
    planes = [ground(dim), Plane(side, body.vertices[:, 0].min() - 0.01)]  # into a corner
    x, v = body.vertices, np.tile(-2.0 * side - 3.0 * np.eye(dim)[-1], (len(body.vertices), 1))
    touched = np.zeros(2, bool)
    for _ in range(25):
        made = backward_euler(body, x, v, 1 / 60, planes=planes)
        assert made.report.converged
        force = made.report.reactions
        assert force.min() >= 0.0
        impulse = body.mass * DOWN[dim]
        for p, plane in enumerate(planes):
            gap = plane.gap(made.x)
            assert gap.min() > -1e-12
            assert np.abs(gap * force[p]).max() < 1e-10
            impulse = impulse + force[p].sum() * plane.normal
        change = np.sum(body.masses[:, None] * (made.v - v), axis=0)
        np.testing.assert_allclose(change, impulse / 60, atol=1e-9)
        touched |= force.sum(axis=1) > 0.0
        x, v = made.x, made.v
    assert touched.all()
    assert x[:, 0].mean() > body.vertices[:, 0].mean()  # it is released and leaves the side again


@pytest.mark.parametrize("dim", [2, 3])
def test_ball_at_rest_carries_its_weight(dim):
    body = ball(dim, damping=0.3, drag=3.0, gravity=DOWN[dim])
    x, v = run(body, body.vertices, np.zeros_like(body.vertices), 0.5, 60, planes=[ground(dim)])
    made = backward_euler(body, x, v, 1 / 60, planes=[ground(dim)])
    assert np.abs(made.v).max() < 1e-8
    assert made.report.reactions.sum() == pytest.approx(9.81, rel=1e-8)


def test_pulled_vertex_is_released():
    """A point at rest on the ground that a grab pulls up leaves it at once; one that it presses down does not move."""
    x = np.array([[0.0, 0.0], [5.0, 5.0]])
    body = ref.Body(x, [[0, 1], [1, 0]], [[0, 1]], mass=2.0, stiffness=0.0)
    for target, force, height in ((1.0, 0.0, 0.01 * 30.0 / 1.3), (-1.0, 30.0, 0.0)):
        grab = Grab(0, np.array([0.0, target]), 30.0)
        made = backward_euler(body, x, 0.0 * x, 0.1, planes=[ground(2)], grabs=[grab], guess="rest")
        assert made.report.reactions[0, 0] == pytest.approx(force)
        assert made.x[0, 1] == pytest.approx(height)


@pytest.mark.parametrize("dim", [2, 3])
def test_rigid_motion(dim):
    """A turn of 0.3 rad in one step: distances stay, and the centre moves by h v."""
    x = ball(dim).vertices
    r = x - x.mean(axis=0)
    axis = np.array([2.0, -1.0, 2.0])
    across = np.cross(axis, r) if dim == 3 else 3.0 * np.stack([-r[:, 1], r[:, 0]], axis=1)
    moved = rigid_motion(ball(dim), x, across + 1.0, 0.1)
    np.testing.assert_allclose(moved.mean(axis=0), x.mean(axis=0) + 0.1, atol=1e-14)
    turned = moved - moved.mean(axis=0)
    np.testing.assert_allclose(turned @ turned.T, r @ r.T, atol=1e-14)
    apart = np.linalg.norm(across, axis=1) / 3.0  # distance from the axis
    np.testing.assert_allclose(np.linalg.norm(turned - r, axis=1), 2 * np.sin(0.15) * apart, atol=1e-13)


def test_grab_of_a_free_point():
    """v1 = (v0 + h k/m (target - x0)) / (1 + h c/m + h² k/m)."""
    x = np.array([[0.2, 0.1], [5.0, 5.0]])
    body = ref.Body(x, [[0, 1], [1, 0]], [[0, 1]], mass=1.0, stiffness=0.0)
    v = np.array([[1.0, -2.0], [0.0, 0.0]])
    made = backward_euler(body, x, v, 0.1, grabs=[Grab(0, np.array([1.0, 1.0]), 30.0, 2.0)])
    wanted = (v[0] + 0.1 * 60.0 * (1.0 - x[0])) / (1 + 0.1 * 4.0 + 0.01 * 60.0)
    np.testing.assert_allclose(made.v[0], wanted, rtol=1e-12)
    np.testing.assert_array_equal(made.v[1], 0.0)


def test_only_forces_with_an_energy():
    body = ball(2, pressure_force="vertex-normals")
    with pytest.raises(ValueError, match="gradient"):
        backward_euler(body, *moving(body), 0.01)
