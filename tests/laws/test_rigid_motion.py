"""Law 10: free rotation of rigid bodies keeps energy and angular momentum; the quaternion update is exact."""

import functools

import numpy as np
import pytest
import warp as wp

from support.laws import DEVICE, EPS, PRECISIONS
from turgor.kernel.launch import Launcher
from turgor.kernel.numbers import numbers, start_warp
from turgor.rigid import impulse, integrate, motion


class Bodies:
    """Rigid bodies in free motion, kicked and moved by the kernels of a substep; quantities as arrays of doubles."""

    def __init__(self, dim, precision, dt, moments, angular, *, pose=None, mass=1.0, **given):
        start_warp()
        n = numbers(dim, precision)
        self.moments = np.array(moments, float)  # (bodies, 3) or (bodies,)
        count = len(self.moments)
        self.dt = float(n.dtype(dt))
        q = motion.kernels(n).pose
        if pose is None:
            pose = 0.0 if dim == 2 else [0.0, 0.0, 0.0, 1.0]

        def array(value, dtype, size=count):
            width = getattr(dtype, "_length_", 1)
            full = np.broadcast_to(np.asarray(value, float), (size, width) if width > 1 else (size,))
            return wp.array(full.astype(n.dtype), dtype=dtype, device=DEVICE)

        inertia = impulse.kernels(n).inertia
        zeros = {
            "x": n.vec, "v": n.vec, "spin": n.spin, "force": n.vec, "torque": n.spin, "push_move": n.vec,
            "push_turn": n.spin, "grab_local": n.vec, "grab_target": n.vec, "grab_stiffness": n.real,
            "grab_damping": n.real,
        }  # fmt: skip
        self.state = {name: array(given.get(name, 0.0), dtype) for name, dtype in zeros.items()}
        with np.errstate(divide="ignore"):
            self.state |= {
                "q": array(pose, q),
                "angular": array(angular, n.spin),
                "inverse_mass": array(given.get("inverse_mass", 1.0 / np.asarray(mass)), n.real),
                "inverse_inertia": array(given.get("inverse_inertia", 1.0 / self.moments), n.spin),
                "scale": array(1.0, n.real),
                "world_inertia": wp.zeros(count, dtype=inertia, device=DEVICE),
                "world": wp.zeros(count, dtype=int, device=DEVICE),
                "grab_on": wp.zeros(count, dtype=int, device=DEVICE),
            }
        world = {"dt": array(dt, n.real, 1), "gravity": array(given.get("gravity", 0.0), n.vec, 1)}
        launch, k = Launcher(wp.get_device(DEVICE), world, rigid=[self.state]), integrate.kernels(n)
        constant = {name: wp.clone(self.state[name]) for name in ("force", "torque")}
        with wp.ScopedCapture(device=DEVICE) as capture:
            for name, value in constant.items():  # a kick uses them up
                wp.copy(self.state[name], value)
            launch(k.kick_rigid, count)
            launch(k.move_rigid, count)
        self.graph = capture.graph

    def step(self, steps=1):
        for _ in range(steps):
            wp.capture_launch(self.graph)

    def __getattr__(self, name):
        return self.state[name].numpy().astype(float)

    @property
    def energy(self):
        """½ L·ω, from the orientation alone: ½ Σ (R^T L)²/I."""
        body = np.einsum("bji,bj->bi", matrices(self.q), self.angular)
        return 0.5 * np.sum(body**2 / self.moments, axis=1)


def matrices(q):
    """Rotation matrices (bodies, 3, 3) of quaternions (x, y, z, w), by the textbook formula."""
    x, y, z, w = q.T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), -1, 0)


def rodrigues(vector):
    """Rotation matrix by |vector| about it."""
    angle = np.linalg.norm(vector)
    x, y, z = vector / angle if angle else vector
    skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * skew + 2.0 * np.sin(0.5 * angle) ** 2 * skew @ skew


def random_quaternions(count, seed=0):
    q = np.random.default_rng(seed).normal(size=(count, 4))
    return q / np.linalg.norm(q, axis=1, keepdims=True)


# moments, angular velocity in the body: a ball, tops, boxes about every axis, and Dzhanibekov's nut
CASES = {
    "ball": ((1.0, 1.0, 1.0), (1.0, -2.0, 3.0)),
    "disc": ((1.0, 1.0, 1.9), (1.0, -2.0, 3.0)),
    "rod": ((0.05, 1.0, 1.0), (8.0, 1.0, 2.0)),
    "box": ((1.0, 2.0, 2.5), (2.0, -1.0, 1.5)),
    "intermediate": ((1.0, 2.0, 3.0), (1e-3, 4.0, 1e-3)),
    "intermediate-x": ((2.0, 3.0, 1.0), (4.0, 1e-3, -1e-3)),
    "least": ((1.0, 2.0, 3.0), (4.0, 1e-2, 1e-2)),
    "greatest": ((1.0, 2.0, 3.0), (1e-2, 1e-2, 4.0)),
}


def tumbling(precision, dt):
    moments, spins = np.array(list(CASES.values())).transpose(1, 0, 2)
    pose = random_quaternions(len(CASES))
    angular = np.einsum("bij,bj->bi", matrices(pose), moments * spins)
    return Bodies(3, precision, dt, moments, angular, pose=pose)


@pytest.mark.law(10)
@pytest.mark.req("B8", "B16")
@pytest.mark.parametrize("precision", PRECISIONS)
def test_free_rotation_keeps_energy_and_angular_momentum(precision):
    """100000 steps, up to 0.04 rad each: L to the last bit, the energy within its swing of O(dt²), without a drift."""
    dt, steps, every = 5e-3, 100_000, 20
    bodies = tumbling(precision, dt)
    angular, start = bodies.angular, bodies.energy
    errors, length = [], 0.0
    for _ in range(steps // every):
        bodies.step(every)
        errors.append(bodies.energy / start - 1.0)
        length = max(length, np.abs(np.linalg.norm(bodies.q, axis=1) - 1.0).max())
    errors = np.array(errors)
    np.testing.assert_array_equal(bodies.angular, angular)
    assert length < 2.0 * EPS[precision]
    # each step rounds q, which turns it by eps at random: the energy walks by eps √steps
    walk = 4.0 * EPS[precision] * np.sqrt(steps)
    fastest = np.abs(np.array([spin for _, spin in CASES.values()])).max()
    assert np.abs(errors).max() < (dt * fastest) ** 2 + walk
    quarter = len(errors) // 4
    early, late = errors[:quarter], errors[-quarter:]
    assert np.all(np.abs(late).max(axis=0) < 1.1 * np.abs(early).max(axis=0) + walk)
    assert np.all(np.abs(late.mean(axis=0) - early.mean(axis=0)) < 0.1 * np.ptp(errors, axis=0) + walk)
    exact = [name in ("ball", "disc", "rod") for name in CASES]
    assert np.abs(errors[:, exact]).max() < walk
    # the reported angular velocity is R I⁻¹ Rᵀ L
    axes = matrices(bodies.q)
    spin = np.einsum("bij,bj,bkj,bk->bi", axes, 1.0 / bodies.moments, axes, angular)
    np.testing.assert_allclose(bodies.spin, spin, atol=200.0 * EPS[precision])


@pytest.mark.law(10)
@pytest.mark.req("B8")
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_symmetric_top_precesses_at_the_closed_form(axis, precision):
    """The axis turns about L at L/I⊥, and L in the body about the axis at (I⊥ − I₃)/I⊥·ω₃: exact at any step size."""
    across, along = 2.0, 0.7
    moments = np.full(3, across)
    moments[axis] = along
    spin = np.array([0.5, -0.3, 0.4])
    spin[axis] = 6.0
    angular = moments * spin
    dt, steps = 0.05, 400
    bodies = Bodies(3, precision, dt, [moments], [angular])
    bodies.step(steps)
    time = steps * bodies.dt
    turned = rodrigues(angular / across * time)  # the precession, in the world
    own = np.zeros(3)
    own[axis] = angular[axis] * (1.0 / along - 1.0 / across) * time  # and the rest about the axis, in the body
    tolerance = 8.0 * EPS[precision] * steps
    np.testing.assert_allclose(matrices(bodies.q)[0][:, axis], turned[:, axis], atol=tolerance)
    np.testing.assert_allclose(matrices(bodies.q)[0], turned @ rodrigues(own), atol=tolerance)


def complete_elliptic(m):
    """K(m) = π / (2 agm(1, √(1 − m)))."""
    a, b = 1.0, np.sqrt(1.0 - m)
    for _ in range(40):
        a, b = 0.5 * (a + b), np.sqrt(a * b)
    return 0.5 * np.pi / a


@pytest.mark.law(10)
@pytest.mark.parametrize("precision", PRECISIONS)
def test_intermediate_axis_flips_with_the_period_of_euler(precision):
    """Dzhanibekov's nut: Landau & Lifshitz, Mechanics, §37, for L² > 2 E I₂."""
    moments = np.array([1.0, 2.0, 3.0])
    angular = moments * np.array([0.0, 4.0, 0.1])
    L2, E2 = angular @ angular, np.sum(angular**2 / moments)
    (a, b, c), dt = moments, 2e-3
    assert E2 * b < L2
    m = (b - a) * (E2 * c - L2) / ((c - b) * (L2 - E2 * a))
    period = 4.0 * complete_elliptic(m) * np.sqrt(a * b * c / ((c - b) * (L2 - E2 * a)))
    bodies = Bodies(3, precision, dt, [moments], [angular])
    along = []
    for _ in range(int(5.3 * period / dt)):
        bodies.step()
        along.append(matrices(bodies.q)[0].T[1] @ angular)
    along = np.array(along)
    i = np.flatnonzero(np.diff(np.sign(along)))
    crossings = (i + along[i] / (along[i] - along[i + 1])) * bodies.dt
    assert len(crossings) == 11
    # round-off pushes the nut off the unstable axis a little earlier or later
    np.testing.assert_allclose(np.diff(crossings), 0.5 * period, rtol=1e-5 + 2e4 * EPS[precision])


def exact_turn(moments, angular, time, steps=4000):
    """Orientation (3, 3) after `time`: classical RK4 of dR/dt = ω × R with ω = R I⁻¹ Rᵀ L, starting from 1."""

    def rate(r):
        return np.cross(r @ ((r.T @ angular) / moments), r, axisb=0, axisc=0)

    r, h = np.eye(3), time / steps
    for _ in range(steps):
        k1 = rate(r)
        k2 = rate(r + 0.5 * h * k1)
        k3 = rate(r + 0.5 * h * k2)
        k4 = rate(r + h * k3)
        r = r + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return r


@pytest.mark.law(10)
@pytest.mark.req("B8")
@pytest.mark.parametrize("moments", [(1.0, 2.0, 2.5), (2.5, 1.0, 2.0), (2.0, 2.5, 1.0)])
def test_tumbling_box_converges_with_order_two(moments):
    angular = np.array([3.0, -2.0, 4.0])
    exact = exact_turn(np.array(moments), angular, 2.0)
    errors = []
    for steps in (50, 100, 200, 400):
        bodies = Bodies(3, "double", 2.0 / steps, [moments], [angular])
        bodies.step(steps)
        errors.append(np.abs(matrices(bodies.q)[0] - exact).max())
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(np.abs(orders - 2.0) < 0.15)
    assert errors[-1] < 1e-3


@functools.cache
def probe(precision):
    """A kernel that calls the device functions once each."""
    n = numbers(3, precision)
    k = motion.kernels(n)
    real, vec, pose = n.real, n.vec, k.pose
    mat = wp.mat33f if precision == "single" else wp.mat33d
    rotate, rotate_back, turned, world_inverse_inertia = k.rotate, k.rotate_back, k.turned, k.world_inverse_inertia

    @n.kernel("probe_rigid_motion")
    def call(
        q: wp.array(dtype=pose),
        v: wp.array(dtype=vec),
        dt: real,
        there: wp.array(dtype=vec),
        back: wp.array(dtype=vec),
        after: wp.array(dtype=pose),
        inverse: wp.array(dtype=mat),
    ):
        i = wp.tid()
        there[i] = rotate(q[i], v[i])
        back[i] = rotate_back(q[i], v[i])
        after[i] = turned(q[i], v[i], dt)
        inverse[i] = world_inverse_inertia(q[i], wp.cw_mul(v[i], v[i]))

    def run(q, v, dt):
        start_warp()
        count = len(q)
        given = [wp.array(a.astype(n.dtype), dtype=t, device=DEVICE) for a, t in ((q, pose), (v, vec))]
        out = [wp.zeros(count, dtype=t, device=DEVICE) for t in (vec, vec, pose, mat)]
        wp.launch(call, dim=count, inputs=[*given, n.dtype(dt), *out], device=DEVICE)
        return [a.numpy().astype(float) for a in (*given, *out)]

    return run


@pytest.mark.req("B8", "B16")
@pytest.mark.parametrize("precision", PRECISIONS)
def test_device_functions(precision):
    count, eps = 400, EPS[precision]
    rng = np.random.default_rng(1)
    direction = rng.normal(size=(count, 3))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    # angles from nothing, across the switch from series to sine (0.02), to many turns
    size = np.concatenate(
        [[0.0, 1e-30, 0.02 * (1 - 1e-6), 0.02, 0.02 * (1 + 1e-6)], np.geomspace(1e-9, 30.0, count - 5)]
    )
    dt = 0.5
    q, v, there, back, after, inverse = probe(precision)(random_quaternions(count), direction * size[:, None] / dt, dt)
    axes = matrices(q)
    scale = np.linalg.norm(v, axis=1)
    np.testing.assert_array_less(
        np.linalg.norm(there - np.einsum("bij,bj->bi", axes, v), axis=1), 8 * eps * scale + 1e-40
    )
    np.testing.assert_array_less(
        np.linalg.norm(back - np.einsum("bji,bj->bi", axes, v), axis=1), 8 * eps * scale + 1e-40
    )
    assert np.abs(np.linalg.norm(after, axis=1) - 1.0).max() < 2.0 * eps
    expected = np.array([rodrigues(w * dt) for w in v]) @ axes
    np.testing.assert_array_less(np.abs(matrices(after) - expected).max(axis=(1, 2)), 8 * eps * (1.0 + size))
    world = np.einsum("bij,bj,bkj->bik", axes, v * v, axes)
    np.testing.assert_array_less(np.abs(inverse - world).max(axis=(1, 2)), 16 * eps * scale**2 + 1e-40)


@pytest.mark.req("B8")
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("dim", [2, 3])
def test_falling_and_pushed(dim, precision):
    """Symplectic Euler in closed form: v = a t, x = a t (t + dt)/2; the torque adds up to the angular momentum."""
    dt, steps = 1.0 / 64.0, 64
    down = np.array([0.0, 0.0, -9.81])[-dim:]
    force, v = np.array([1.0, 2.0, 3.0])[:dim], np.array([4.0, -1.0, 2.0])[:dim]
    torque = 0.5 if dim == 2 else np.array([0.5, -0.25, 1.0])
    moments = [2.0] if dim == 2 else [[2.0, 3.0, 4.0]]
    bodies = Bodies(dim, precision, dt, moments, 0.0, v=v, mass=2.0, gravity=down, force=force, torque=torque)
    bodies.step(steps)
    a, t = down + force / 2.0, steps * dt
    tolerance = 20.0 * EPS[precision] * steps
    np.testing.assert_allclose(bodies.v[0], v + a * t, atol=tolerance)
    np.testing.assert_allclose(bodies.x[0], v * t + 0.5 * a * t * (t + dt), atol=tolerance)
    np.testing.assert_allclose(bodies.angular[0], np.asarray(torque) * t, atol=tolerance)
    if dim == 2:
        np.testing.assert_allclose(bodies.q[0], 0.5 * torque / 2.0 * t * (t + dt), atol=tolerance)


@pytest.mark.req("B8")
@pytest.mark.parametrize("dim", [2, 3])
def test_bodies_without_inverse_mass_move_as_told(dim):
    """Kinematic bodies keep their velocity and spin whatever pushes them; static ones stay."""
    spin = np.array([0.0, 2.0]) if dim == 2 else np.array([[0.0, 0.0, 0.0], [1.0, 2.0, -2.0]])
    v = np.zeros((2, dim))
    v[1] = 1.0
    none = np.zeros(2) if dim == 2 else np.zeros((2, 3))
    bodies = Bodies(
        dim, "double", 0.01, none + 1.0, 0.0, v=v, spin=spin, inverse_mass=0.0, inverse_inertia=0.0, gravity=-9.81,
        force=7.0, torque=7.0,
    )  # fmt: skip
    start = bodies.q
    bodies.step(50)
    np.testing.assert_array_equal(bodies.v, v)
    np.testing.assert_array_equal(bodies.spin, spin)
    np.testing.assert_allclose(bodies.x, v * 0.5, atol=1e-13)
    np.testing.assert_array_equal(bodies.q[0], start[0])
    if dim == 2:
        assert bodies.q[1] == pytest.approx(1.0)
    else:
        np.testing.assert_allclose(matrices(bodies.q)[1], rodrigues(spin[1] * 0.5), atol=1e-13)


@pytest.mark.law(10)
@pytest.mark.req("B8")
@pytest.mark.parametrize("precision", PRECISIONS)
def test_free_rotation_in_2d(precision):
    """The angle stays within half a turn, so that it does not lose digits: 20000 steps, 80 turns."""
    inertia, angular, dt, steps = np.array([0.5, 2.0]), np.array([2.0, -3.0]), 1.0 / 160.0, 20_000
    bodies = Bodies(2, precision, dt, inertia, angular, pose=[0.3, -0.2])
    bodies.step(steps)
    np.testing.assert_array_equal(bodies.angular, angular)
    np.testing.assert_array_equal(bodies.spin, angular / inertia)
    assert np.all(np.abs(bodies.q) <= np.pi * (1.0 + 2.0 * EPS[precision]))
    expected = np.array([0.3, -0.2]) + angular / inertia * (bodies.dt * steps)
    off = np.angle(np.exp(1j * (bodies.q - expected)))
    assert np.abs(off).max() < 2.0 * EPS[precision] * steps
