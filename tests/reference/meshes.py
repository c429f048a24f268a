"""Small closed meshes made from their definitions, so that the oracle needs nothing of the engine."""

from __future__ import annotations

import numpy as np


def edges_of(faces):
    """Unique edges (e, 2), sorted."""
    faces = np.asarray(faces)
    pairs = faces if faces.shape[1] == 2 else np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    return np.unique(np.sort(pairs, axis=1), axis=0)


def ring(points=16, radius=0.5):
    """Regular polygon, counter-clockwise: vertices, faces."""
    angle = np.arange(points) * 2.0 * np.pi / points
    i = np.arange(points)
    return radius * np.stack([np.cos(angle), np.sin(angle)], 1), np.stack([i, (i + 1) % points], 1)


def icosphere(subdivisions=1, radius=0.5):
    """Icosahedron whose triangles are cut in four and pushed out to the sphere: vertices, faces."""
    phi = 0.5 * (1.0 + 5.0**0.5)
    x = np.array([[0, s, t * phi] for s in (1, -1) for t in (1, -1)])
    x = np.concatenate([np.roll(x, r, axis=1) for r in range(3)])
    near = np.linalg.norm(x[:, None] - x[None], axis=2) < 2.1
    faces = []
    for a in range(12):
        for b in range(a + 1, 12):
            for c in range(b + 1, 12):
                if near[a, b] and near[b, c] and near[a, c]:
                    out = np.linalg.det(x[[a, b, c]]) > 0
                    faces.append((a, b, c) if out else (a, c, b))
    faces = np.array(faces)
    x = x / np.linalg.norm(x, axis=1, keepdims=True)
    for _ in range(subdivisions):
        edges = edges_of(faces)
        number = {(int(a), int(b)): len(x) + e for e, (a, b) in enumerate(edges)}
        middle = x[edges].mean(axis=1)
        x = np.concatenate([x, middle / np.linalg.norm(middle, axis=1, keepdims=True)])
        finer = []
        for a, b, c in faces.tolist():
            p, q, r = (number[min(e), max(e)] for e in ((a, b), (b, c), (c, a)))
            finer += [(a, p, r), (p, b, q), (r, q, c), (p, q, r)]
        faces = np.array(finer)
    return radius * x, faces
