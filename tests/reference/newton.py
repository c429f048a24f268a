"""Newton's method with line search for the smallest energy of points that stay in front of planes.

Each round minimises the quadratic model g·d + d·H d / 2 exactly with the planes as inequalities: a vertex that would
pass a plane is held on it, and released where its reaction would pull (complementarity). Both ends of the step lie in
front of the planes, so all of it does, and the line search needs to look at the energy only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

EPS = np.finfo(float).eps


@dataclass(frozen=True)
class Plane:
    """The half-space n·x >= offset, n of length one; smooth (no friction)."""

    normal: np.ndarray
    offset: float = 0.0

    def gap(self, x):
        """Distances (n,), m."""
        return x @ np.asarray(self.normal, float) - self.offset


@dataclass(frozen=True)
class Problem:
    """energy(x): its terms (any number), J; gradient(x) (n, dim); matrix(x): H or an approximation; scale(x): N."""

    energy: Callable
    gradient: Callable
    matrix: Callable
    scale: Callable
    planes: tuple = ()
    free: np.ndarray | None = None  # (n,) bool: vertices that may move


@dataclass
class Report:
    """How it went: residual (N) before each round and at the end, and the share of each step that was made."""

    residuals: list = field(default_factory=list)
    scales: list = field(default_factory=list)
    shares: list = field(default_factory=list)
    indefinite: int = 0  # rounds whose matrix was not positive definite
    converged: bool = False
    reactions: np.ndarray | None = None  # (planes, n), N along the normal

    @property
    def rounds(self):
        """Newton steps made."""
        return len(self.shares)


def complementarity(S, q, rounds=500):
    """λ >= 0 with w = q + S λ >= 0 and λ·w = 0, S positive definite; by block principal pivoting.

    Exchanges all indices that violate a sign at once while that lowers their number, and else only the last one, which
    always ends (Júdice and Pires 1994, after Murty).
    """
    count = len(q)
    held = q < 0.0
    best, patience = count + 1, 10
    small = 1e-13 * max(np.abs(q).max(initial=0.0), 1e-300)
    for _ in range(rounds):
        force = np.zeros(count)
        if held.any():
            force[held] = np.linalg.solve(S[np.ix_(held, held)], -q[held])
        w = q + S @ force
        wrong = np.where(held, force < 0.0, w < -small)
        number = np.count_nonzero(wrong)
        if number == 0:
            return force
        if number < best:
            best, patience = number, 10
        else:
            patience -= 1
        if patience > 0:
            held = held ^ wrong
        else:
            held[np.flatnonzero(wrong)[-1]] ^= True
    raise ArithmeticError(f"no set of held vertices found in {rounds} rounds")


def definite(H, pressed):
    """H if it is positive definite; else with stiff springs along `pressed` rows; else with |eigenvalues|; and which.

    Rows of vertices that a plane holds do not move, so springs along them do not change the step; and a body that
    stands on a plane has no stiffness, or a negative one, without it.
    """
    stiff = np.linalg.norm(H, 1)
    for attempt, matrix in enumerate((H, H + stiff * pressed.T @ pressed)):
        try:
            np.linalg.cholesky(matrix)
        except np.linalg.LinAlgError:
            continue
        return matrix, attempt > 0
    values, vectors = np.linalg.eigh(matrix)
    values = np.maximum(np.abs(values), 1e-12 * np.abs(values).max())
    return (vectors * values) @ vectors.T, True


def direction(H, g, x, planes, free, force):
    """The step d (n, dim) to the minimum of the model in front of the planes, and if H had to be made definite.

    `force` (planes, n): the reactions at x.
    """
    n, dim = x.shape
    dofs = np.flatnonzero(np.repeat(free, dim))
    rows, gaps = [np.zeros((0, len(dofs)))], [np.zeros(0)]
    for plane in planes:
        C = np.zeros((n, n, dim))
        C[np.arange(n), np.arange(n)] = plane.normal
        rows.append(C.reshape(n, -1)[np.ix_(free, dofs)])
        gaps.append(plane.gap(x)[free])
    C, gap = np.concatenate(rows), np.concatenate(gaps)
    H, changed = definite(H[np.ix_(dofs, dofs)], C[force[:, free].ravel() > 0.0])
    solved = np.linalg.solve(H, np.column_stack([-g.ravel()[dofs], C.T]))
    held = complementarity(C @ solved[:, 1:], gap + C @ solved[:, 0]) > 0.0
    step = solved[:, 0]
    if held.any():  # once more with the planes as equations: exact where H alone is nearly singular
        K = np.block([[H, -C[held].T], [C[held], np.zeros((held.sum(), held.sum()))]])
        step = np.linalg.solve(K, np.concatenate([-g.ravel()[dofs], -gap[held]]))[: len(dofs)]
    d = np.zeros(n * dim)
    d[dofs] = step
    return d.reshape(n, dim), changed


def reactions(g, x, planes, free, touch):
    """(planes, n): what planes must push with, N, so that least of the gradient is left, and never by pulling."""
    force = np.zeros((len(planes), len(x)))
    normals = [np.asarray(plane.normal, float) for plane in planes]
    for _ in range(1 if len(planes) == 1 else 200):
        for p, plane in enumerate(planes):
            rest = g - sum(force[q][:, None] * normals[q] for q in range(len(planes)) if q != p)
            force[p] = np.where((plane.gap(x) <= touch) & free, np.maximum(rest @ normals[p], 0.0), 0.0)
    return force


def remainder(problem, x, g, touch):
    """Largest unbalanced force on a vertex, N, and the reactions of the planes."""
    free = np.ones(len(x), bool) if problem.free is None else problem.free
    force = reactions(g, x, problem.planes, free, touch)
    left = g - sum((force[p][:, None] * np.asarray(q.normal) for p, q in enumerate(problem.planes)), np.zeros_like(g))
    return np.linalg.norm(left[free], axis=1).max(initial=0.0), force


def search(problem, x, g, d, touch):
    """The first of 1, 1/2, 1/4, ... of the step d that lowers the energy as Armijo asks; 0 if none does.

    Where the change is below the round-off of the energy the slope decides (Hager and Zhang 2005): it must have fallen.
    Movement along the normal of a vertex that lies on a plane and stays there is round-off, and no part of the slope.
    """
    before = problem.energy(x)
    for plane in problem.planes:
        stays = (plane.gap(x) <= touch) & (plane.gap(x + d) <= touch)
        n = np.asarray(plane.normal, float)
        d = d - np.where(stays, d @ n, 0.0)[:, None] * n
    slope = float(np.sum(g * d))
    noise = 8.0 * EPS * np.abs(before).sum()
    share = 1.0
    for _ in range(40):
        after = problem.energy(x + share * d)
        change = float(np.sum(after - before))
        if np.isfinite(change):
            if change <= 1e-4 * share * slope:
                return share
            if change <= noise and np.sum(problem.gradient(x + share * d) * d) <= 0.9998 * abs(slope):
                return share
        share *= 0.5
    return 0.0


def in_front(x, planes, free):
    """x with the free vertices behind a plane moved on to it."""
    x = x.copy()
    for plane in planes:
        x[free] += np.maximum(-plane.gap(x[free]), 0.0)[:, None] * np.asarray(plane.normal)
    return x


def minimise(problem, x, tolerance=1e-10, rounds=200, line_search=True):
    """The nearest minimum from x: positions and `Report`. Converged: unbalanced forces < tolerance × the largest force.

    Forces cannot be known better than the round-off of stiffness × position, which is added to that.
    """
    free = np.ones(len(x), bool) if problem.free is None else problem.free
    x = in_front(x, problem.planes, free)
    touch = 1e-12 * np.ptp(x, axis=0).max()
    report = Report()
    for rounds_left in range(rounds, -1, -1):
        g = problem.gradient(x)
        left, report.reactions = remainder(problem, x, g, touch)
        H = problem.matrix(x)
        report.residuals.append(left)
        report.scales.append(problem.scale(x))
        blur = EPS * (np.abs(H) @ np.abs(x - x.mean(axis=0)).ravel()).max()
        report.converged = left <= tolerance * report.scales[-1] + blur
        if report.converged or rounds_left == 0:
            break
        d, changed = direction(H, g, x, problem.planes, free, report.reactions)
        report.indefinite += changed
        share = search(problem, x, g, d, touch) if line_search else 1.0
        if share == 0.0:
            break
        report.shares.append(share)
        x = x + share * d
    return x, report
