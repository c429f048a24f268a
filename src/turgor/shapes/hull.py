"""Convex hulls in 2D and 3D, as exact hulls of the points that matter.

Which side of a face a point is on is decided exactly (floating point with an error bound, integers where that is
not enough), so the surface is closed and convex whatever the input: coplanar, collinear and repeated points are no
special cases. The tolerance only selects corners: points that lie less than it outside the hull so far are left out.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from turgor.errors import MeshError
from turgor.shapes.shape import FloatArray, Shape

__all__ = ["TOLERANCE", "convex_hull"]

# Part of the points' extent: a micrometre per metre. Well above the round-off of coordinates that were once single
# precision (6e-8), so that a flat side of a mesh file stays one: its inner points and those of its edges are left out.
TOLERANCE = 1e-6
# A triangle of less height than this part of the tolerance has a normal made of round-off: its middle corner goes.
SLIVER = 0.1
EPS = float(np.finfo(np.float64).eps)
# Coordinates are rounded to multiples of 2^-50 extents: differences of them are exact in double precision.
GRID = 2.0**50
# Bound on the round-off of a determinant below, over the sum of its absolute terms: entries are exact, each term is
# rounded twice and each of five additions once, by 1.1e-16.
DETERMINANT = 1e-15

Integers = npt.NDArray[np.int64]


def convex_hull(points: npt.ArrayLike, *, tolerance: float = TOLERANCE) -> Shape:
    """The smallest convex outline (2D) or surface (3D; triangles, outwards) around `points` (n, dim), in metres.

    Its vertices are some of the points, in their order (2D: counter-clockwise). No point lies further outside than
    about `tolerance`, a part of the largest extent. MeshError when all points lie in one plane (2D: on one line).
    """
    given = np.asarray(points, dtype=np.float64)
    if given.ndim != 2 or given.shape[1] not in (2, 3):
        raise MeshError(f"convex hull: points must have shape (n, 2) or (n, 3), got {given.shape}")
    if not np.isfinite(given).all():
        raise MeshError(f"convex hull: point {int(np.argmin(np.isfinite(given).all(axis=1)))} is not finite; remove it")
    if not EPS <= tolerance < 0.1:
        raise MeshError(f"convex hull: tolerance must be from {EPS:.1e} to 0.1 of the extent, got {tolerance!r}")
    dim = given.shape[1]
    extent = float(np.ptp(given, axis=0).max()) if len(given) else 0.0
    if extent == 0.0 or len(given) <= dim:
        raise _flat(dim)
    low = given.min(axis=0)
    unit = np.rint((given - low) / extent * GRID) / GRID
    if dim == 2:
        ring = _outline(unit, tolerance)
        corners = given[ring]
        index = np.arange(len(ring))
        return Shape(
            corners,
            np.stack([index, np.roll(index, -1)], axis=1).astype(np.int32),
            "outline",
            {"outline": {"points": corners.tolist()}},
        )
    triangles = _surface(unit, tolerance)
    while (thin := _thinnest(unit, triangles, SLIVER * tolerance)) is not None:
        rest = np.setdiff1d(triangles, thin)
        triangles = rest[_surface(unit[rest], tolerance)]
    used, faces = np.unique(triangles, return_inverse=True)
    corners, joined = given[used], faces.reshape(-1, 3).astype(np.int32)
    return Shape(corners, joined, "surface", {"mesh": {"vertices": corners.tolist(), "faces": joined.tolist()}})


def _flat(dim: int) -> MeshError:
    where, what = ("on one line", "2D outline") if dim == 2 else ("in one plane", "3D surface")
    return MeshError(
        f"convex hull: all points lie {where}, so there is no {what} around them; "
        f"give at least {dim + 1} points that do not"
    )


def _farthest(height: FloatArray, spread: FloatArray, tolerance: float) -> int:
    """The point of greatest height; of those that tie within the tolerance the one farthest from the middle.

    The first alone could be any point of a flat side; a strictly convex function on that side is greatest at a corner.
    """
    ties = np.flatnonzero(height >= height.max() - tolerance)
    return int(ties[spread[ties].argmax()])


def _outline(points: FloatArray, tolerance: float) -> list[int]:
    """Corners counter-clockwise: grow a triangle by the farthest point outside a side until no side has one."""
    spread = np.sum((points - points.mean(axis=0)) ** 2, axis=1)
    i = int(spread.argmax())
    arm = points - points[i]
    j = int(np.sum(arm * arm, axis=1).argmax())
    height = (arm[j, 0] * arm[:, 1] - arm[j, 1] * arm[:, 0]) / np.hypot(*arm[j])
    k = _farthest(np.abs(height), spread, tolerance)
    if abs(height[k]) <= tolerance:
        raise _flat(2)
    ring = [i, j, k] if height[k] > 0.0 else [i, k, j]
    done: set[tuple[int, int]] = set()
    while todo := [side for side in zip(ring, ring[1:] + ring[:1], strict=True) if side not in done]:
        done.add(todo[0])
        start, end = points[list(todo[0])]
        along = end - start
        arm = points - start
        height = (along[1] * arm[:, 0] - along[0] * arm[:, 1]) / np.hypot(*along)
        if height.max() <= tolerance:
            continue
        apex = _farthest(height, spread, tolerance)
        sides = np.stack([ring, np.roll(ring, -1)], axis=1)
        seen = _outside(points, sides, apex)
        # the corners between two sides that see the new one go; it comes where the first of those sides starts
        first = int(np.flatnonzero(seen & ~np.roll(seen, 1))[0])
        turned = ring[first:] + ring[:first]
        ring = [turned[0], apex, *turned[int(seen.sum()) :]]
    return ring


def _surface(points: FloatArray, tolerance: float) -> Integers:
    """Triangles (m, 3): grow a tetrahedron by the farthest point outside a face until no face has one.

    A corner is joined to the rim of the faces that see it. Faces in whose plane it lies do not count as seeing it, so
    no new triangle is degenerate: a corner in line with an edge lies in the planes of both its faces.
    """
    spread = np.sum((points - points.mean(axis=0)) ** 2, axis=1)
    faces = _tetrahedron(points, spread, tolerance)
    done = np.zeros(4, bool)  # no point outside
    while not done.all():
        f = int(done.argmin())
        done[f] = True
        a, b, c = points[faces[f]]
        normal = np.cross(b - a, c - a)
        size = float(np.linalg.norm(normal))
        height = (points - a) @ (normal / size)
        unsure = 8.0 * EPS * float(np.linalg.norm(b - a) * np.linalg.norm(c - a)) / size  # of a sliver's normal
        if height.max() <= tolerance + unsure:
            continue
        apex = _farthest(height, spread, tolerance)
        seen = _outside(points, faces, apex)
        if not seen[f]:
            continue
        sides = faces[seen][:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
        keys, back = sides[:, 0] * len(points) + sides[:, 1], sides[:, 1] * len(points) + sides[:, 0]
        rim = sides[~np.isin(keys, back)]
        faces = np.concatenate([faces[~seen], np.column_stack([rim, np.full(len(rim), apex)])])
        done = np.concatenate([done[~seen], np.zeros(len(rim), bool)])
    return faces


def _tetrahedron(points: FloatArray, spread: FloatArray, tolerance: float) -> Integers:
    """Four corners of the hull, far from each other, as four outward faces."""
    i = int(spread.argmax())
    arm = points - points[i]
    j = int(np.sum(arm * arm, axis=1).argmax())
    axis = arm[j] / np.linalg.norm(arm[j])
    beside = np.linalg.norm(np.cross(axis, arm), axis=1)
    k = _farthest(beside, spread, tolerance)
    if beside[k] <= tolerance:
        raise _flat(3)
    normal = np.cross(axis, arm[k])
    height = arm @ (normal / np.linalg.norm(normal))
    m = _farthest(np.abs(height), spread, tolerance)
    if abs(height[m]) <= tolerance:
        raise _flat(3)
    if height[m] > 0.0:
        j, k = k, j
    return np.array([[i, j, k], [i, m, j], [j, m, k], [k, m, i]])


def _thinnest(points: FloatArray, faces: Integers, least: float) -> int | None:
    """The corner opposite the longest side of the thinnest triangle, if that is not even `least` high."""
    corners = points[faces]
    sides = np.linalg.norm(np.roll(corners, -2, axis=1) - np.roll(corners, -1, axis=1), axis=2)  # opposite corner k
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    height = np.linalg.norm(normal, axis=1) / sides.max(axis=1)
    f = int(height.argmin())
    return int(faces[f, sides[f].argmax()]) if height[f] < least else None


def _outside(points: FloatArray, faces: Integers, apex: int) -> npt.NDArray[np.bool_]:
    """(m,) whether the point `apex` is strictly on the outer side of each face; exact."""
    rows = points[faces] - points[apex]
    if rows.shape[1] == 2:
        terms = np.stack([rows[:, 0, 0] * rows[:, 1, 1], -rows[:, 0, 1] * rows[:, 1, 0]])
    else:
        (a, b, c), (d, e, f), (g, h, i) = np.moveaxis(rows, 0, -1)
        terms = np.stack([a * e * i, b * f * g, c * d * h, -a * f * h, -b * d * i, -c * e * g])
    det = terms.sum(axis=0)  # of the simplex from apex to face, times 2 or 6: negative when it is inside out
    bound = DETERMINANT * np.abs(terms).sum(axis=0)
    outside: npt.NDArray[np.bool_] = det < 0.0
    for f in np.flatnonzero(np.abs(det) <= bound):
        outside[f] = _exact(rows[f]) < 0
    return outside


def _exact(rows: FloatArray) -> int:
    """Determinant of two or three differences of grid points, in integers."""
    whole: list[list[int]] = [[int(x) for x in row] for row in rows * GRID]
    if len(whole) == 2:
        return whole[0][0] * whole[1][1] - whole[0][1] * whole[1][0]
    (a, b, c), (d, e, f), (g, h, i) = whole
    return a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g)
