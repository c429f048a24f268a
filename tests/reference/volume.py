"""Enclosed volume (area in 2D), its gradient, and normals."""

from __future__ import annotations

import numpy as np


def volume(x, faces):
    """Signed volume (m³; m² in 2D) about the centroid of the vertices: V = 1/dim! sum det(corners of a face)."""
    c = (x - x.mean(axis=0))[faces]
    return float(np.linalg.det(c).sum()) / (2.0 if x.shape[1] == 2 else 6.0)


def face_area_vectors(x, faces):
    """Outward normal times area (m, dim); in 2D outward normal times length (the outside is on the right)."""
    c = x[faces]
    e = c[:, 1] - c[:, 0]
    if x.shape[1] == 2:
        return np.stack([e[:, 1], -e[:, 0]], axis=1)
    return 0.5 * np.cross(e, c[:, 2] - c[:, 0])


def volume_gradient(x, faces):
    """dV/dx (n, dim), m² (m in 2D).

    3D: 1/6 sum of xj × xk over the faces (i, j, k) of i, positions about the centroid. On a closed surface this
    equals a third of the area vectors around i, but it is computed here from the derivative of the determinant.
    2D: half of the area vectors of the two segments, the same thing.
    """
    g = np.zeros_like(x)
    y = x - x.mean(axis=0)
    if x.shape[1] == 2:
        a, b = faces[:, 0], faces[:, 1]
        # V = 1/2 sum (xa yb - xb ya)
        np.add.at(g, a, 0.5 * np.stack([y[b, 1], -y[b, 0]], axis=1))
        np.add.at(g, b, 0.5 * np.stack([-y[a, 1], y[a, 0]], axis=1))
        return g
    for s in range(3):
        i, j, k = faces[:, s], faces[:, (s + 1) % 3], faces[:, (s + 2) % 3]
        np.add.at(g, i, np.cross(y[j], y[k]) / 6.0)
    return g


def face_normals(x, faces):
    """Unit outward face normals (m, dim) and areas (m,)."""
    a = face_area_vectors(x, faces)
    size = np.linalg.norm(a, axis=1)
    return np.divide(a, size[:, None], out=np.zeros_like(a), where=size[:, None] > 0), size


def unit(a):
    """Rows scaled to length one; zero rows stay zero."""
    size = np.linalg.norm(a, axis=1, keepdims=True)
    return np.divide(a, size, out=np.zeros_like(a), where=size > 0)


def vertex_normals(x, faces, weighted=True):
    """Unit vertex normals (n, dim): mean of the neighbour face normals, weighted by area or (C7) not."""
    a = face_area_vectors(x, faces) if weighted else face_normals(x, faces)[0]
    total = np.zeros_like(x)
    for s in range(x.shape[1]):
        np.add.at(total, faces[:, s], a)
    return unit(total)
