"""Bending: U = kb/2 sum (θ - θ0)² over hinges. 3D: angle between neighbour triangles; 2D: turning angle at a point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Hinges:
    """3D: (h, 4) = edge a, b and the vertex left and right of it. 2D: (h, 3) = previous, middle, next point."""

    ids: np.ndarray

    @classmethod
    def of(cls, faces):
        """All hinges of a mesh; border edges of an open sheet have none."""
        faces = np.asarray(faces)
        if faces.shape[1] == 2:
            following = {int(a): int(b) for a, b in faces}
            return cls(np.array([(a, b, following[b]) for a, b in following.items() if b in following]))
        across = {}
        for face in faces.tolist():
            for s in range(3):
                across[face[s], face[(s + 1) % 3]] = face[(s + 2) % 3]
        rows = [(a, b, c, across[b, a]) for (a, b), c in across.items() if a < b and (b, a) in across]
        return cls(np.array(rows, dtype=int).reshape(-1, 4))


def hinge_angles(x, hinges, gradient=False):
    """Angles (h,), rad, positive where the surface is convex; with `gradient` also dθ/dx (h, 3 or 4, dim)."""
    ids = hinges.ids
    if x.shape[1] == 2:
        e1, e2 = x[ids[:, 1]] - x[ids[:, 0]], x[ids[:, 2]] - x[ids[:, 1]]
        angle = np.arctan2(e1[:, 0] * e2[:, 1] - e1[:, 1] * e2[:, 0], np.einsum("ij,ij->i", e1, e2))
        if not gradient:
            return angle
        # the direction of an edge e turns by perp(e)·de / |e|²
        p1, p2 = (np.stack([-e[:, 1], e[:, 0]], 1) / np.sum(e * e, axis=1)[:, None] for e in (e1, e2))
        return angle, np.stack([p1, -p1 - p2, p2], axis=1)
    a, b, c, d = (x[ids[:, s]] for s in range(4))
    e = b - a
    length = np.linalg.norm(e, axis=1)
    n1, n2 = np.cross(e, c - a), np.cross(d - a, e)  # outward normals of (a, b, c) and (b, a, d)
    angle = np.arctan2(np.einsum("ij,ij->i", np.cross(n1, n2), e / length[:, None]), np.einsum("ij,ij->i", n1, n2))
    if not gradient:
        return angle
    # moving c along n1 by its height |n1|/|e| times dθ folds the triangle by -dθ; a and b follow from the condition
    # that translations and rotations leave the angle alone
    gc = -length[:, None] * n1 / np.sum(n1 * n1, axis=1)[:, None]
    gd = -length[:, None] * n2 / np.sum(n2 * n2, axis=1)[:, None]
    tc = np.einsum("ij,ij->i", c - a, e) / length**2
    td = np.einsum("ij,ij->i", d - a, e) / length**2
    gb = -tc[:, None] * gc - td[:, None] * gd
    ga = -(1.0 - tc)[:, None] * gc - (1.0 - td)[:, None] * gd
    return angle, np.stack([ga, gb, gc, gd], axis=1)


def bending_energy(x, hinges, rest, kb):
    """sum kb/2 (θ - θ0)², J; kb in J (per rad²), one for all hinges or (h,)."""
    return float(0.5 * np.sum(kb * (hinge_angles(x, hinges) - rest) ** 2))


def bending_forces(x, hinges, rest, kb):
    """-dU/dx (n, dim), N."""
    angle, g = hinge_angles(x, hinges, gradient=True)
    f = np.zeros_like(x)
    np.add.at(f, hinges.ids, -kb * (angle - rest)[:, None, None] * g)
    return f
