"""From a shape's faces to what the kernels walk along: vertex order, edges, fans around vertices, hinges (NumPy).

A mesh of a million vertices is built in seconds: the sides of all faces are sorted once (`edge_table`), and fans,
hinges, springs and the features of contact follow from that order without another search.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import warp as wp

from turgor.kernel.numbers import start_warp

__all__ = [
    "EdgeTable",
    "compressed_rows",
    "edge_table",
    "fans",
    "hinges",
    "morton_order",
    "oriented_hinge_angles",
    "sliver_weights",
    "stable_order",
    "turning_angles",
]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int32]

MANY = 50_000  # keys from which on a radix sort pays


# shifts and masks that move the bits of a 20-bit number 2 or 3 places apart, half of them at a time
SPREADING = {
    2: ((16, 0x0000FFFF0000FFFF), (8, 0x00FF00FF00FF00FF), (4, 0x0F0F0F0F0F0F0F0F), (2, 0x3333333333333333),
        (1, 0x5555555555555555)),
    3: ((32, 0x001F00000000FFFF), (16, 0x001F0000FF0000FF), (8, 0x100F00F00F00F00F), (4, 0x10C30C30C30C30C3),
        (2, 0x1249249249249249)),
}  # fmt: skip


def _spread_bits(value: npt.NDArray[np.uint64], dim: int) -> npt.NDArray[np.uint64]:
    """Bits of a number of up to 20 bits moved `dim` places apart."""
    for shift, mask in SPREADING[dim]:
        value = (value | (value << np.uint64(shift))) & np.uint64(mask)
    return value


def morton_order(points: FloatArray) -> IntArray:
    """(n,) order of the points along a Z-curve: neighbours in space become neighbours in memory."""
    low = points.min(axis=0)
    size = float(np.ptp(points, axis=0).max()) or 1.0
    cells = ((points - low) / size * (2**20 - 1)).astype(np.uint64)
    dim = points.shape[1]
    key = np.zeros(len(points), np.uint64)
    for axis in range(dim):
        key |= _spread_bits(cells[:, axis], dim) << np.uint64(axis)
    return stable_order(key.astype(np.int64))


def stable_order(keys: npt.NDArray[np.integer]) -> IntArray:
    """(n,) the order that sorts keys >= 0, equal ones as they were: a radix sort, where one pays."""
    count = len(keys)
    if count < MANY:
        return np.argsort(keys, kind="stable").astype(np.int32)
    start_warp()
    kind = wp.int32 if keys.dtype.itemsize <= 4 else wp.int64
    sorted_keys, order = (wp.empty(2 * count, dtype=dtype, device="cpu") for dtype in (kind, wp.int32))
    sorted_keys.numpy()[:count] = keys
    order.numpy()[:count] = np.arange(count, dtype=np.int32)
    wp.utils.radix_sort_pairs(sorted_keys, order, count)
    return np.array(order.numpy()[:count])


def compressed_rows(rows: IntArray, values: IntArray, count: int) -> tuple[IntArray, IntArray]:
    """Values grouped by row: (count + 1,) starts, and the values in that order (stable)."""
    starts = np.zeros(count + 1, np.int32)
    np.cumsum(np.bincount(rows, minlength=count), out=starts[1:])
    return starts, values[stable_order(rows)].astype(np.int32)


@dataclass(frozen=True)
class EdgeTable:
    """The sides of faces, joined to edges. Side k of face f, from its corner k to the next, is number 3 f + k."""

    edges: IntArray  # (e, 2) the ends, smaller first; sorted
    edge: IntArray  # (sides,) of each side
    order: IntArray  # (sides,) the sides in the order of their edges, those of one edge as they were
    start: IntArray  # (e + 1,) where the sides of each edge are in `order`
    twin: IntArray  # (sides,) the first side of the same edge that runs the other way, or -1


def edge_table(faces: IntArray, count: int) -> EdgeTable:
    """Of (m, 3) faces over `count` vertices."""
    begin, end = faces.ravel(), faces[:, [1, 2, 0]].ravel()
    upwards = begin < end
    low, high = np.where(upwards, begin, end), np.where(upwards, end, begin)
    order = stable_order(low.astype(np.int64) * count + high)
    low, high = low[order], high[order]
    new = np.ones(len(order), bool)
    new[1:] = (low[1:] != low[:-1]) | (high[1:] != high[:-1])
    first = np.flatnonzero(new)
    start = np.append(first, len(order)).astype(np.int32)
    number = np.cumsum(new, dtype=np.int32) - np.int32(1)  # of the edge, in the order of edges
    edge = np.empty(len(order), np.int32)
    edge[order] = number
    edges = np.stack([low[first], high[first]], axis=1)
    # the first side of each edge that runs downwards, and the first that runs upwards
    rising = upwards[order]
    sides = np.full((2, len(edges)), -1, np.int32)
    for direction in (0, 1):
        chosen = np.flatnonzero(rising == bool(direction))[::-1]
        sides[direction, number[chosen]] = order[chosen]  # the last of this assignment is the first of the edge
    twin = np.where(upwards, sides[0][edge], sides[1][edge])
    return EdgeTable(edges, edge, order, start, twin)


def fans(
    faces: IntArray, count: int, table: EdgeTable | None = None
) -> tuple[IntArray, IntArray, npt.NDArray[np.bool_]] | None:
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
    first, second = faces[:, [1, 2, 0]].ravel(), faces[:, [2, 0, 1]].ravel()
    degree = np.bincount(centre, minlength=count)
    # around a vertex, the side (centre -> first) is followed by (centre -> second), the twin of (second -> centre)
    successor = np.roll((table or edge_table(faces, count)).twin.reshape(-1, 3), -2, axis=1).ravel()
    has_predecessor = np.zeros(len(centre), bool)
    has_predecessor[successor[successor >= 0]] = True
    openings = np.bincount(centre[~has_predecessor], minlength=count)
    if openings.max(initial=0) > 1:
        return None
    closed = openings == 0
    # where to start: the corner without predecessor, or any corner of a closed fan
    begin = np.full(count, -1, np.int32)
    begin[centre] = np.arange(len(centre), dtype=np.int32)
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
    around = closed & (degree > 0)
    return (starts, neighbours, closed) if np.array_equal(corner[around], begin[around]) else None


def hinges(faces: IntArray, count: int, table: EdgeTable | None = None) -> IntArray:
    """3D: (h, 4) edges i-j with the faces (i, j, k) and (j, i, m). 2D: (h, 3) previous, middle, next vertex."""
    if faces.shape[1] == 2:
        found = fans(faces, count)
        assert found is not None
        following, before = found[1].reshape(-1, 2).T
        return np.stack([before, np.arange(count, dtype=np.int32), following], axis=1).astype(np.int32)
    i, j, k = faces.ravel(), np.roll(faces, -1, axis=1).ravel(), np.roll(faces, -2, axis=1).ravel()
    twin = (table or edge_table(faces, count)).twin
    keep = (twin >= 0) & (i < j)
    return np.stack([i[keep], j[keep], k[keep], k[twin[keep]]], axis=1).astype(np.int32)


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
