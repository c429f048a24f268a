"""From a shape's faces to what the kernels walk along: vertex order, springs, fans around vertices, hinges (NumPy)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = [
    "compressed_rows",
    "fans",
    "hinges",
    "morton_order",
    "oriented_hinge_angles",
    "sliver_weights",
    "turning_angles",
]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int32]


def _spread_bits(value: npt.NDArray[np.uint64], dim: int) -> npt.NDArray[np.uint64]:
    """Bits of a number of up to 20 bits moved `dim` places apart."""
    spread = np.zeros_like(value)
    for bit in range(20):
        spread |= ((value >> np.uint64(bit)) & np.uint64(1)) << np.uint64(bit * dim)
    return spread


def morton_order(points: FloatArray) -> IntArray:
    """(n,) order of the points along a Z-curve: neighbours in space become neighbours in memory."""
    low = points.min(axis=0)
    size = float(np.ptp(points, axis=0).max()) or 1.0
    cells = ((points - low) / size * (2**20 - 1)).astype(np.uint64)
    dim = points.shape[1]
    key = np.zeros(len(points), np.uint64)
    for axis in range(dim):
        key |= _spread_bits(cells[:, axis], dim) << np.uint64(axis)
    return np.argsort(key, kind="stable").astype(np.int32)


def compressed_rows(rows: IntArray, values: IntArray, count: int) -> tuple[IntArray, IntArray]:
    """Values grouped by row: (count + 1,) starts, and the values in that order (stable)."""
    order = np.argsort(rows, kind="stable")
    starts = np.zeros(count + 1, np.int32)
    np.cumsum(np.bincount(rows, minlength=count), out=starts[1:])
    return starts, values[order].astype(np.int32)


def fans(faces: IntArray, count: int) -> tuple[IntArray, IntArray, npt.NDArray[np.bool_]] | None:
    """The neighbours of each vertex in the order of the triangles around it.

    Returns (starts, neighbours, closed): vertex i has the triangles (i, n[s], n[s+1]) for consecutive entries of its
    row, and (i, n[last], n[first]) too where closed. None if a vertex has more than one fan (not manifold).
    In 2D the row of a vertex is (next, previous).
    """
    if faces.shape[1] == 2:
        following = np.full(count, -1, np.int32)
        before = np.full(count, -1, np.int32)
        following[faces[:, 0]] = faces[:, 1]
        before[faces[:, 1]] = faces[:, 0]
        starts = np.arange(0, 2 * count + 1, 2, dtype=np.int32)
        return starts, np.stack([following, before], axis=1).ravel(), np.ones(count, bool)

    centre = faces.ravel()  # corner c of each face, with the two others in order
    first = np.roll(faces, -1, axis=1).ravel()
    second = np.roll(faces, -2, axis=1).ravel()
    degree = np.bincount(centre, minlength=count)
    # successor of the half edge (centre -> first) around the centre is (centre -> second)
    key = centre.astype(np.int64) * count + first
    order = np.argsort(key)
    wanted = centre.astype(np.int64) * count + second
    place = np.minimum(np.searchsorted(key[order], wanted), len(key) - 1)
    found = key[order][place] == wanted
    successor = np.where(found, order[place], -1)
    has_predecessor = np.zeros(len(key), bool)
    has_predecessor[successor[found]] = True
    openings = np.bincount(centre[~has_predecessor], minlength=count)
    if openings.max(initial=0) > 1:
        return None
    closed = openings == 0
    # where to start: the corner without predecessor, or any corner of a closed fan
    begin = np.full(count, -1, np.int64)
    begin[centre] = np.arange(len(centre))
    begin[centre[~has_predecessor]] = np.flatnonzero(~has_predecessor)
    rows = degree + np.where(closed | (degree == 0), 0, 1)
    starts = np.zeros(count + 1, np.int32)
    np.cumsum(rows, out=starts[1:])
    neighbours = np.full(starts[-1], -1, np.int32)
    corner = begin.copy()
    for step in range(int(degree.max(initial=0))):  # all vertices walk around their fans at once
        active = np.flatnonzero((corner >= 0) & (step < degree))
        neighbours[starts[active] + step] = first[corner[active]]
        last = active[~closed[active] & (degree[active] == step + 1)]
        neighbours[starts[last] + step + 1] = second[corner[last]]
        corner[active] = successor[corner[active]]
    if np.any(neighbours < 0):  # a closed fan that returned too early: two fans at one vertex
        return None
    complete = np.array([corner[i] == begin[i] for i in np.flatnonzero(closed & (degree > 0))], bool)
    return (starts, neighbours, closed) if bool(complete.all()) else None


def hinges(faces: IntArray, count: int) -> IntArray:
    """3D: (h, 4) edges i-j with the faces (i, j, k) and (j, i, m). 2D: (h, 3) previous, middle, next vertex."""
    if faces.shape[1] == 2:
        found = fans(faces, count)
        assert found is not None
        following, before = found[1].reshape(-1, 2).T
        return np.stack([before, np.arange(count, dtype=np.int32), following], axis=1).astype(np.int32)
    i, j, k = faces.ravel(), np.roll(faces, -1, axis=1).ravel(), np.roll(faces, -2, axis=1).ravel()
    key = i.astype(np.int64) * count + j
    twin = j.astype(np.int64) * count + i
    order = np.argsort(key)
    place = np.minimum(np.searchsorted(key[order], twin), len(key) - 1)
    other = order[place]
    keep = (key[other] == twin) & (i < j)
    return np.stack([i[keep], j[keep], k[keep], k[other[keep]]], axis=1).astype(np.int32)


def turning_angles(points: FloatArray, ids: IntArray) -> FloatArray:
    """(h,) rad: angle from the edge (previous, middle) to the edge (middle, next), in 2D."""
    first = points[ids[:, 1]] - points[ids[:, 0]]
    second = points[ids[:, 2]] - points[ids[:, 1]]
    cross = first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0]
    return np.asarray(np.arctan2(cross, np.einsum("ij,ij->i", first, second)))


def sliver_weights(points: FloatArray, ids: IntArray, sliver: float) -> FloatArray:
    """(h,) share of its energy that a hinge keeps: 1, or less where a face is nearly flat (forces.bending)."""
    i, j, k, m = (points[ids[:, corner]] for corner in range(4))
    edge = j - i
    least = np.maximum((sliver * np.einsum("ij,ij->i", edge, edge)) ** 2, np.finfo(float).tiny)
    sizes = [np.sum(np.cross(edge, wing - i) ** 2, axis=1) for wing in (k, m)]
    return np.asarray(np.minimum(sizes[0] / least, 1.0) * np.minimum(sizes[1] / least, 1.0))


def oriented_hinge_angles(points: FloatArray, ids: IntArray) -> FloatArray:
    """(h,) rad: signed angle between the normals of the two faces of each hinge, in 3D."""
    i, j, k, m = (points[ids[:, corner]] for corner in range(4))
    edge = j - i
    n1, n2 = np.cross(edge, k - i), np.cross(m - i, edge)
    length = np.maximum(np.linalg.norm(edge, axis=1), np.finfo(float).tiny)
    along = np.einsum("ij,ij->i", np.cross(n1, n2), edge) / length
    return np.asarray(np.arctan2(along, np.einsum("ij,ij->i", n1, n2)))
