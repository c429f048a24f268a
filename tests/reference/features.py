"""Closest points of two simplices (points, edges, triangles; degenerate ones too) by trying every active set.

The closest pair minimises |A^T λ - B^T μ|² over weights λ, μ >= 0 that sum to 1 each. At the optimum some weights are
positive; for those alone it is a linear least-squares problem. If that has many solutions (parallel, degenerate), one
can walk along them until another weight is zero, so some smaller set has the optimum too: the best feasible answer of
all sets is exact. No geometry, no case distinctions: nothing in common with the engine's search.
"""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np


def subsets(corners):
    return chain.from_iterable(combinations(range(corners), k) for k in range(1, corners + 1))


def closest_features(first, second):
    """Distance (n,) and weights (n, k), (n, m) of simplices `first` (n, k, dim) and `second` (n, m, dim)."""
    first, second = np.asarray(first, float), np.asarray(second, float)
    count, k, _ = first.shape
    m = second.shape[1]
    origin = second[:, :1]
    first, second = first - origin, second - origin
    scale = np.maximum(np.abs(first).max(axis=(1, 2)), np.abs(second).max(axis=(1, 2)))
    scale = np.where(scale > 0, scale, 1.0)
    first, second = first / scale[:, None, None], second / scale[:, None, None]
    least = np.full(count, np.inf)
    weights = np.zeros((count, k)), np.zeros((count, m))
    for some in subsets(k):
        for others in subsets(m):
            lam, mu = _affine(first[:, some], second[:, others])
            feasible = (lam >= -1e-12).all(axis=1) & (mu >= -1e-12).all(axis=1)
            lam, mu = (_simplex(w) for w in (lam, mu))  # what is measured lies on the features
            gap = np.einsum("nk,nkd->nd", lam, first[:, some]) - np.einsum("nk,nkd->nd", mu, second[:, others])
            distance = np.linalg.norm(gap, axis=1)
            better = feasible & (distance < least)
            least = np.where(better, distance, least)
            for weight, part, subset in ((weights[0], lam, some), (weights[1], mu, others)):
                new = np.zeros_like(weight)
                new[:, subset] = part
                weight[better] = new[better]
    return least * scale, *weights


def _affine(first, second):
    """Weights, of any sign, of the closest points of two affine hulls: x0 + X u = y0 + Y v in least squares."""
    x, y = first[:, 1:] - first[:, :1], second[:, 1:] - second[:, :1]
    matrix = np.concatenate([x, -y], axis=1).transpose(0, 2, 1)
    right = second[:, 0] - first[:, 0]
    if matrix.shape[2] == 0:
        solution = np.zeros((len(right), 0))
    else:
        solution = _least_squares(matrix, right)
        solution += _least_squares(matrix, right - np.einsum("nij,nj->ni", matrix, solution))
    u, v = solution[:, : x.shape[1]], solution[:, x.shape[1] :]
    return (np.concatenate([1.0 - w.sum(axis=1, keepdims=True), w], axis=1) for w in (u, v))


def _least_squares(matrix, right):
    """By singular values, one after the other: unlike a pseudoinverse it leaves a residual of round-off only."""
    u, s, vt = np.linalg.svd(matrix, full_matrices=False)
    kept = s > 1e-16 * np.maximum(s[:, :1], 1e-300)
    parts = np.einsum("nij,ni->nj", u, right) * np.divide(1.0, s, out=np.zeros_like(s), where=kept)
    return np.einsum("nij,ni->nj", vt, parts)


def _simplex(weights):
    weights = np.maximum(weights, 0.0)
    return weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)


def lower_bound(first, second, direction):
    """No distance is less than this (n,): how far the two are apart along any unit direction (n, dim)."""
    return np.min(np.einsum("nkd,nd->nk", first, direction), axis=1) - np.max(
        np.einsum("nkd,nd->nk", second, direction), axis=1
    )
