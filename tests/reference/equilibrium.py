"""Equilibria and small oscillations of an oracle body."""

from __future__ import annotations

import numpy as np

from reference.springs import elastic_energy
from reference.volume import volume


def hessian(body, x, h=1e-6):
    """d²U/dx² (n dim, n dim) by central differences of the forces, made symmetric."""
    size = x.size
    H = np.empty((size, size))
    for q in range(size):
        d = np.zeros(size)
        d[q] = h
        d = d.reshape(x.shape)
        H[q] = (body.forces(x - d) - body.forces(x + d)).ravel() / (2 * h)
    return 0.5 * (H + H.T)


def relax(body, x, rounds=40, tolerance=1e-11):
    """Newton's method to the nearest force-free state; rigid motions are left alone by the pseudo-inverse.

    The Hessian is costly and hardly changes on the way: it is taken again only where a step has not left a tenth.
    """
    f, inverse = body.forces(x).ravel(), None
    for _ in range(rounds):
        if np.abs(f).max() < tolerance:
            return x
        if inverse is None:
            inverse = np.linalg.pinv(hessian(body, x), rcond=1e-7, hermitian=True)
        x = x + (inverse @ f).reshape(x.shape)
        before, f = f, body.forces(x).ravel()
        if np.abs(f).max() > 0.1 * np.abs(before).max():
            inverse = None
    if np.abs(f).max() > 1e3 * tolerance:
        raise ArithmeticError(f"no equilibrium found: residual {np.abs(f).max()} N")
    return x


def modes(body, x):
    """Angular frequencies squared (rad²/s²) and unit mode shapes, columns, for uniform masses."""
    return np.linalg.eigh(hessian(body, x) / body.masses[0])


def scale_balance(body, low=0.5, high=3.0):
    """The factor s at which s × (rest shape) is in balance against uniform scaling, by virtual work.

    sum k (s - 1) L² = gauge(V0 s^dim) dim V0 s^(dim - 1): springs on the left, gas on the right; bisection.
    """
    dim, V0 = body.vertices.shape[1], volume(body.vertices, body.faces)
    springs = 2.0 * elastic_energy(2.0 * body.vertices, body.edges, body.rest, body.stiffness)  # sum k L²

    def outward(s):
        return body.gas.gauge(V0 * s**dim) * dim * V0 * s ** (dim - 1) - springs * (s - 1.0)

    for _ in range(200):
        s = 0.5 * (low + high)
        low, high = (s, high) if outward(s) > 0 else (low, s)
    return 0.5 * (low + high)
