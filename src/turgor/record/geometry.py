"""Small geometry that the writers and painters share."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

__all__ = ["is_closed", "is_star_shaped", "loops", "to_3d", "vertex_normals"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Real = TypeVar("Real", np.float32, np.float64)


def loops(segments: npt.ArrayLike) -> tuple[list[IntArray], list[IntArray]]:
    """Chains 2D segments (m, 2) into closed loops and open chains, each a list of vertex indices in order."""
    follow: dict[int, int] = {}
    for a, b in np.asarray(segments, np.int64).reshape(-1, 2).tolist():
        follow[a] = b
    closed: list[IntArray] = []
    chains: list[IntArray] = []
    ends = set(follow.values())
    heads = [a for a in follow if a not in ends]
    for start in [*heads, *follow]:  # a copy: the walk below empties the map
        chain = [start]
        while chain[-1] in follow:
            chain.append(follow.pop(chain[-1]))
        if len(chain) > 3 and chain[0] == chain[-1]:
            closed.append(np.array(chain[:-1]))
        elif len(chain) > 1:
            chains.append(np.array(chain))
    return closed, chains


def to_3d(points: npt.ArrayLike) -> FloatArray:
    """(n, 2) or (n, 3) -> (n, 3), with z = 0."""
    points = np.asarray(points, np.float64)
    result = np.zeros((len(points), 3))
    result[:, : points.shape[1]] = points
    return result


def is_closed(faces: npt.NDArray[np.integer]) -> bool:
    """Whether each edge of triangles (m, 3) belongs to two of them, which turn the same way around."""
    if not len(faces):
        return False
    size = int(faces.max()) + 1
    start, end = (np.asarray(faces[:, order], np.int64).ravel() for order in ((0, 1, 2), (1, 2, 0)))
    there, back = np.sort(start * size + end), np.sort(end * size + start)
    return bool(np.array_equal(there, back) and (np.diff(there) > 0).all())


def is_star_shaped(points: npt.NDArray[Real], faces: npt.NDArray[np.integer]) -> bool:
    """Whether all of a closed surface is seen from its middle, so that it hides its own inner side from outside."""
    x, y, z = np.ascontiguousarray((points - points.mean(axis=0)).T)
    a, b, c = faces.T
    volume = x[a] * (y[b] * z[c] - z[b] * y[c])
    volume += y[a] * (z[b] * x[c] - x[b] * z[c])
    volume += z[a] * (x[b] * y[c] - y[b] * x[c])
    return bool((volume > 0.0).all())


def vertex_normals(points: npt.NDArray[Real], faces: npt.NDArray[np.integer]) -> npt.NDArray[Real]:
    """Unit normals (n, 3) at the vertices, weighted by face area; zero where the faces are degenerate."""
    x, y, z = np.ascontiguousarray(points.T)
    a, b, c = np.ascontiguousarray(faces.T)
    ux, uy, uz = x[b] - x[a], y[b] - y[a], z[b] - z[a]
    vx, vy, vz = x[c] - x[a], y[c] - y[a], z[c] - z[a]
    normals = np.empty_like(points)
    for axis, weighted in enumerate((uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx)):
        total = np.bincount(a, weighted, len(points))  # bincount sums much faster than np.add.at
        total += np.bincount(b, weighted, len(points))
        total += np.bincount(c, weighted, len(points))
        normals[:, axis] = total
    normals /= np.maximum(np.sqrt(np.einsum("ij,ij->i", normals, normals))[:, None], 1e-30)
    return normals
