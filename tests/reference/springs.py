"""Hooke springs with a dashpot along the spring (Matyka 2004, eq. 1)."""

from __future__ import annotations

import numpy as np


def spring_forces(x, v, edges, rest, k, kd):
    """Forces (n, dim), N. An end point is pulled by k (l - l0) + kd (relative speed along the spring).

    A spring whose ends coincide has no direction and gives no force (A3).
    """
    i, j = np.asarray(edges).T
    d = x[j] - x[i]
    length = np.linalg.norm(d, axis=1)
    apart = length > 0.0
    u = np.divide(d, length[:, None], out=np.zeros_like(d), where=apart[:, None])
    pull = np.where(apart, k * (length - rest) + kd * np.einsum("ij,ij->i", v[j] - v[i], u), 0.0)
    f = np.zeros_like(x)
    np.add.at(f, i, pull[:, None] * u)
    np.add.at(f, j, -pull[:, None] * u)
    return f


def elastic_energy(x, edges, rest, k):
    """Sum of k/2 (l - l0)², J."""
    i, j = np.asarray(edges).T
    return float(np.sum(0.5 * k * (np.linalg.norm(x[j] - x[i], axis=1) - rest) ** 2))
