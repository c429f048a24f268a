"""Small geometry that the writers and painters share."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["loops", "to_3d", "vertex_normals"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


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


def vertex_normals(points: FloatArray, faces: npt.NDArray[np.integer]) -> FloatArray:
    """Unit normals (n, 3) at the vertices, weighted by face area; zero where the faces are degenerate."""
    corner = points[faces]
    weighted = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    normals = np.empty_like(points)
    flat = faces.ravel()
    for axis in range(3):  # bincount sums much faster than np.add.at
        normals[:, axis] = np.bincount(flat, np.repeat(weighted[:, axis], 3), minlength=len(points))
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30)
    return normals
