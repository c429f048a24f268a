"""One Backward Euler step as the minimum of an energy, and the implicit midpoint rule.

With v = (x - x_n)/h the step M (v - v_n)/h = f(x) - D v + b is the condition grad Φ = 0 of

    Φ(x) = (x - xt)·M (x - xt) / (2 h²) + U(x) + h R((x - x_n)/h),    xt = x_n + h v_n,    R(v) = v·D v / 2 - b·v

Gravity is in U (the same as h² g in xt). R has the dashpots, drag, wind and dampers of grabs with directions and
normals at the old positions x_n: so each of them is linear in v, takes energy, and the step has an energy to search.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reference.bending import bending_energy
from reference.hessians import cross_matrix, dashpot_damping, diagonal, drag_damping, grab_matrix, wind_damping
from reference.newton import Problem, Report, in_front, minimise
from reference.newton_matrices import stiffness
from reference.springs import elastic_energy
from reference.volume import vertex_normals, volume


@dataclass(frozen=True)
class Step:
    """State after a step, and how it was found. `report.reactions` (planes, n) are the walls' forces, N."""

    x: np.ndarray
    v: np.ndarray
    report: Report


def energy_terms(body, x, grabs=()):
    """Springs, bending, gas, gravity, grabs, J; their sum is `body.potential` and the grabs'."""
    bending = bending_energy(x, body.hinges, body.rest_angles, body.bending) if body.bending else 0.0
    gas = body.gas.energy(volume(x, body.faces)) if body.gas is not None else 0.0
    gravity = -float(np.sum(body.masses[:, None] * body.gravity * x))
    springs = elastic_energy(x, body.edges, body.rest, body.stiffness)
    return np.array([springs, bending, gas, gravity, *(grab.energy(x) for grab in grabs)])


def static_forces(body, x, grabs=()):
    """-dU/dx (n, dim), N: all forces but those that depend on the velocity."""
    still = np.zeros_like(x)
    f = body.forces(x) + sum((grab.forces(x, still) for grab in grabs), still)
    if body.wind is not None:
        f -= (
            body.wind_coefficient * (vertex_normals(x, body.faces) @ body.wind)[:, None] * vertex_normals(x, body.faces)
        )
    return f


def dissipation(body, x, grabs=()):
    """D (n dim, n dim) and b (n, dim) of R at the positions x."""
    count, dim = x.shape
    D = dashpot_damping(x, body.edges, body.damping) + drag_damping(body.masses, body.drag, dim)
    b = np.zeros_like(x)
    if body.wind is not None:
        n = vertex_normals(x, body.faces)
        D += wind_damping(x, body.faces, body.wind_coefficient)
        b += body.wind_coefficient * (n @ body.wind)[:, None] * n
    for grab in grabs:
        D += grab_matrix(count, dim, grab.vertex, grab.damping)
    return D, b


def largest_force(body, x, grabs=()):
    """The largest single force there is: of a spring, the gas on a vertex, a weight, a grab, N."""
    i, j = np.asarray(body.edges).T
    forces = [body.stiffness * np.abs(np.linalg.norm(x[j] - x[i], axis=1) - body.rest).max()]
    forces.append(np.linalg.norm(body.masses[:, None] * (body.gravity + np.zeros_like(x)), axis=1).max())
    if body.gas is not None:
        forces.append(np.linalg.norm(body.pressure_forces(x), axis=1).max())
    forces += [np.linalg.norm(grab.forces(x, np.zeros_like(x))) for grab in grabs]
    return float(max(forces))


def step_problem(body, x0, v0, h, planes=(), pins=(), grabs=(), kind="exact"):
    """Φ of one step, for `minimise`."""
    dim = x0.shape[1]
    D, b = dissipation(body, x0, grabs)
    inertia = body.masses / h**2
    aim = x0 + h * v0
    M = diagonal(inertia, dim) + D / h
    free = np.ones(len(x0), bool)
    free[list(pins)] = False

    def damping(x):
        return (D @ ((x - x0) / h).ravel()).reshape(x.shape)

    def energy(x):
        v = (x - x0) / h
        rest = [0.5 * np.sum(inertia[:, None] * (x - aim) ** 2), h * np.sum(v * (0.5 * damping(x) - b))]
        return np.concatenate([energy_terms(body, x, grabs), rest])

    def gradient(x):
        return inertia[:, None] * (x - aim) - static_forces(body, x, grabs) + damping(x) - b

    def matrix(x):
        return M + stiffness(body, x, kind, inertia, grabs)

    def scale(x):
        pulls = np.linalg.norm(np.stack([inertia[:, None] * (x - aim), damping(x), b]), axis=2)
        return max(largest_force(body, x, grabs), float(pulls.max()))

    return Problem(energy, gradient, matrix, scale, tuple(planes), free)


def rigid_motion(body, x, v, h):
    """Positions after h (s) if the body moved as a rigid one with its momentum and angular momentum, turned exactly."""
    dim, m = x.shape[1], body.masses[:, None]
    centre, drift = np.sum(m * x, axis=0) / m.sum(), np.sum(m * v, axis=0) / m.sum()
    r = x - centre
    if dim == 2:
        spin = np.sum(m[:, 0] * (r[:, 0] * v[:, 1] - r[:, 1] * v[:, 0])) / np.sum(m * r * r)
        turn = np.array([[np.cos(h * spin), -np.sin(h * spin)], [np.sin(h * spin), np.cos(h * spin)]])
        return centre + h * drift + r @ turn.T
    inertia = np.sum(m * r * r) * np.eye(3) - (m * r).T @ r
    spin = np.linalg.lstsq(inertia, np.sum(m * np.cross(r, v), axis=0), rcond=1e-12)[0]
    K, angle = cross_matrix(spin[None])[0], h * np.linalg.norm(spin)
    K = K / max(np.linalg.norm(spin), 1e-300)
    turn = np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K
    return centre + h * drift + r @ turn.T


def backward_euler(
    body, x, v, h, planes=(), pins=(), grabs=(), kind="exact", guess="inertial", tolerance=1e-10, rounds=200, **more
):
    """One step of length h (s). Vertices that would pass a plane are held on it; `pins` stay where they are.

    kind: Newton's matrix (`newton_matrices`); it decides the way, not the result. guess: Newton starts "inertial", at
    x + h v, at "rest", at x, after a "rigid" motion, or at the one of these where Φ is "lowest". `rounds=1` makes one
    Newton step and no more.
    """
    problem = step_problem(body, x, v, h, planes, pins, grabs, kind)
    guesses = {"rest": x, "inertial": x + h * v, "rigid": rigid_motion(body, x, v, h)}
    guesses = {
        name: in_front(np.where(problem.free[:, None], y, x), problem.planes, problem.free)
        for name, y in guesses.items()
        if guess in (name, "lowest")
    }
    start = min(guesses.values(), key=lambda y: np.sum(problem.energy(y)))
    after, report = minimise(problem, start, tolerance, rounds, **more)
    return Step(after, (after - x) / h, report)


def implicit_midpoint(body, x, v, h, **more):
    """M (v1 - v)/h = f in the middle, x1 - x = h (v + v1)/2: half a Backward Euler step, made twice as long.

    Of second order and without numerical damping; but R is taken at x, so damping by dashpots and wind is of first
    order. Not for planes: a velocity that a wall stops in the middle would be reflected at the end.
    """
    if more.get("planes"):
        raise ValueError("implicit midpoint: planes are for Backward Euler")
    half = backward_euler(body, x, v, 0.5 * h, **more)
    return Step(2.0 * half.x - x, 2.0 * half.v - v, half.report)
