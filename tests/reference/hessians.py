"""Second derivatives of the oracle's energies and of its dissipation, as dense (n dim, n dim) matrices.

A stiffness is d²U/dx² = -df/dx, a damping is -df/dv; row and column `dim i + axis` belong to that axis of vertex i.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reference.volume import vertex_normals, volume, volume_gradient


@dataclass(frozen=True)
class Grab:
    """A vertex pulled to a target by stiffness × (target - x) - damping × v; N/m and N s/m."""

    vertex: int
    target: np.ndarray
    stiffness: float
    damping: float = 0.0

    def energy(self, x):
        """stiffness/2 |target - x|², J."""
        return float(0.5 * self.stiffness * np.sum((self.target - x[self.vertex]) ** 2))

    def forces(self, x, v):
        """Forces (n, dim), N."""
        f = np.zeros_like(x)
        f[self.vertex] = self.stiffness * (self.target - x[self.vertex]) - self.damping * v[self.vertex]
        return f


def assemble(count, dim, ids, blocks):
    """Sum of element matrices: `ids` (e, s) vertices, `blocks` (e, s dim, s dim) -> (count dim, count dim)."""
    ids = np.asarray(ids)
    dofs = (dim * ids[:, :, None] + np.arange(dim)).reshape(len(ids), dim * ids.shape[1])
    H = np.zeros((count * dim, count * dim))
    np.add.at(H, (dofs[:, :, None], dofs[:, None, :]), blocks)
    return H


def diagonal(weights, dim):
    """The same weight for all axes of a vertex: masses, drag."""
    return np.diag(np.repeat(np.asarray(weights, float), dim))


def pair_blocks(B):
    """[[B, -B], [-B, B]] (e, 2 dim, 2 dim): elements that depend on the difference of two ends only."""
    return np.block([[B, -B], [-B, B]])


def directions(x, edges):
    """Unit vectors u u^T (e, dim, dim) and lengths (e,); coincident ends have no direction: zero (A3)."""
    i, j = np.asarray(edges).T
    d = x[j] - x[i]
    length = np.linalg.norm(d, axis=1)
    u = np.divide(d, length[:, None], out=np.zeros_like(d), where=length[:, None] > 0.0)
    return u[:, :, None] * u[:, None, :], length


def spring_blocks(x, edges, rest, k, positive=False):
    """Elements (e, 2 dim, 2 dim) of d²/dx² k/2 (l - l0)²: B = k u u^T + k (1 - l0/l) (I - u u^T).

    The eigenvalues of B are k along the spring and tension / length across it: `positive` leaves out the compressive
    tension, which makes the element positive semi-definite and is its projection by eigenvalues.
    """
    uu, length = directions(x, edges)
    apart = length > 0.0
    across = np.where(apart, k * (1.0 - rest / np.where(apart, length, 1.0)), 0.0)
    if positive:
        across = np.maximum(across, 0.0)
    B = k * uu + across[:, None, None] * (np.eye(x.shape[1]) - uu)
    return pair_blocks(B * apart[:, None, None])


def spring_stiffness(x, edges, rest, k, positive=False):
    """Stiffness of all springs; exact, or `positive` semi-definite."""
    return assemble(len(x), x.shape[1], edges, spring_blocks(x, edges, rest, k, positive))


def dashpot_damping(x, edges, kd):
    """-df/dv of the dashpots along the springs: kd u u^T per spring; symmetric, positive semi-definite."""
    return assemble(len(x), x.shape[1], edges, pair_blocks(kd * directions(x, edges)[0]))


def cross_matrix(w):
    """[w]× (e, 3, 3) with [w]× y = w × y."""
    o = np.zeros(len(w))
    rows = [o, -w[:, 2], w[:, 1], w[:, 2], o, -w[:, 0], -w[:, 1], w[:, 0], o]
    return np.stack(rows, axis=1).reshape(-1, 3, 3)


def volume_edges(x, faces):
    """d²V/dx² by edges: ids (e, 2) and its blocks d²V/dxi dxj (e, dim, dim). Blocks on the diagonal are zero.

    3D: V = 1/6 sum xi·(xj × xk). The face (i, j, k) gives -[xk]×/6, its neighbour (j, i, l) +[xl]×/6: together
    -[xk - xl]×/6, which no translation changes. 2D: V = 1/2 sum (xi yj - xj yi) gives a constant.
    """
    faces = np.asarray(faces)
    if x.shape[1] == 2:
        return faces, np.tile(0.5 * np.array([[0.0, 1.0], [-1.0, 0.0]]), (len(faces), 1, 1))
    opposite = {(f[s], f[(s + 1) % 3]): f[(s + 2) % 3] for f in faces.tolist() for s in range(3)}
    rows = np.array([(i, j, k, opposite[j, i]) for (i, j), k in opposite.items() if i < j])
    return rows[:, :2], -cross_matrix(x[rows[:, 2]] - x[rows[:, 3]]) / 6.0


def edge_blocks(W):
    """[[0, W], [W^T, 0]] (e, 2 dim, 2 dim)."""
    o = np.zeros_like(W)
    return np.block([[o, W], [np.swapaxes(W, 1, 2), o]])


def volume_hessian(x, faces):
    """d²V/dx² of a closed surface: symmetric, trace zero (so it is never definite)."""
    ids, W = volume_edges(x, faces)
    return assemble(len(x), x.shape[1], ids, edge_blocks(W))


def pressure_slope(gas, V):
    """dP/dV, Pa/m³: -P/V isothermal, -γ P/V adiabatic, 0 where a pump holds it or below the cap."""
    if gas.law == "held" or gas.smallest >= V:
        return 0.0
    return -(gas.gamma if gas.law == "adiabatic" else 1.0) * gas.pressure(V) / V


def gas_rank_one(x, faces, gas):
    """-dP/dV a a^T with a = dV/dx: positive semi-definite, of rank one."""
    a = volume_gradient(x, faces).ravel()
    return -pressure_slope(gas, volume(x, faces)) * np.outer(a, a)


def gas_stiffness(x, faces, gas):
    """d²U/dx² = -dP/dV a a^T - (P - P0) d²V/dx², since dU/dV = -(P - P0)."""
    return gas_rank_one(x, faces, gas) - gas.gauge(volume(x, faces)) * volume_hessian(x, faces)


def hinge_gradients(x):
    """dθ/dx (h, s, dim) of the corners x (h, s, dim) of hinges, by rational functions and roots: also of complex x.

    The same formulas as `bending.hinge_angles`, without the angle.
    """
    dot = lambda p, q: np.sum(p * q, axis=-1, keepdims=True)  # noqa: E731
    if x.shape[2] == 2:
        e1, e2 = x[:, 1] - x[:, 0], x[:, 2] - x[:, 1]
        p1, p2 = (np.stack([-e[:, 1], e[:, 0]], 1) / dot(e, e) for e in (e1, e2))
        return np.stack([p1, -p1 - p2, p2], axis=1)
    a, b, c, d = (x[:, s] for s in range(4))
    e = b - a
    length = np.sqrt(dot(e, e))
    n1, n2 = np.cross(e, c - a), np.cross(d - a, e)
    gc, gd = -length * n1 / dot(n1, n1), -length * n2 / dot(n2, n2)
    tc, td = dot(c - a, e) / length**2, dot(d - a, e) / length**2
    return np.stack([-(1.0 - tc) * gc - (1.0 - td) * gd, -tc * gc - td * gd, gc, gd], axis=1)


def bending_stiffness(x, hinges, angles, rest, kb, gauss_newton=False):
    """kb sum (g g^T + (θ - θ0) d²θ/dx²), g = dθ/dx; `gauss_newton`: g g^T alone, positive semi-definite.

    d²θ/dx² is exact to round-off by the complex step: Im g(x + i s e_q) / s with s so small that s² vanishes.
    """
    corners = x[hinges.ids]
    count, sides, dim = corners.shape
    g = hinge_gradients(corners).reshape(count, -1)
    blocks = g[:, :, None] * g[:, None, :]
    if not gauss_newton:
        for q in range(sides * dim):
            moved = corners.astype(complex)
            moved[:, q // dim, q % dim] += 1e-40j
            blocks[:, q] += (angles - rest)[:, None] * hinge_gradients(moved).imag.reshape(count, -1) / 1e-40
    return kb * assemble(len(x), dim, hinges.ids, blocks)


def drag_damping(masses, c, dim):
    """-df/dv of -c m v."""
    return diagonal(c * np.asarray(masses), dim)


def wind_damping(x, faces, coefficient):
    """-df/dv of Matyka's wind: coefficient n n^T at every point."""
    n = vertex_normals(x, faces)
    return assemble(len(x), x.shape[1], np.arange(len(x))[:, None], coefficient * n[:, :, None] * n[:, None, :])


def grab_matrix(count, dim, vertex, coefficient):
    """Stiffness or damping of a grab: coefficient I at its vertex."""
    weights = np.zeros(count)
    weights[vertex] = coefficient
    return diagonal(weights, dim)
