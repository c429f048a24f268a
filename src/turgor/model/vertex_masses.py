"""The mass of each vertex of a body (NumPy, one world)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from turgor.errors import SceneError
from turgor.scene.data import Body, SoftBody

__all__ = ["vertex_areas", "vertex_masses"]

FloatArray = npt.NDArray[np.float64]

# A step must follow the quickest corner of the skin, and a few slivers of a mesh can be several times quicker than all
# the rest. Corners of a material that are more than QUICK times as quick as the median one are made heavier, at most
# until MOVED of the body's mass is theirs instead of the others' ("mass scaling" of explicit finite elements).
QUICK, MOVED = 1.4, 0.02


def vertex_masses(body: Body, points: FloatArray) -> FloatArray:
    """(n,) kg: the same for each vertex, or by the share of the surface around it, as a cloth of a material has it."""
    count = len(points)
    by_area = body.mass_distribution == "area" if isinstance(body, SoftBody) else body.material is not None
    if not by_area:
        return np.full(count, body.mass / count)
    weights = vertex_areas(body, points)
    if weights.min() <= 0.0:
        remedy = "use mass_distribution = 'uniform'" if isinstance(body, SoftBody) else "remove it from the mesh"
        raise SceneError(f"body {body.name!r}: a vertex has no area around it, so it has no mass; {remedy}")
    if body.material is not None:
        weights = _slowed(weights / weights.sum(), _stiffness(body, points))
    return np.asarray(body.mass * weights / weights.sum())


def vertex_areas(body: Body, points: FloatArray) -> FloatArray:
    """(n,) size of the faces around each vertex: twice their area in 3D, their length in 2D."""
    return _around(body, [_sizes(points[body.shape.faces])] * body.dim)


def _sizes(corners: FloatArray) -> FloatArray:
    """(m,) twice the area of triangles, the length of edges."""
    if corners.shape[1] == 2:
        return np.asarray(np.linalg.norm(corners[:, 1] - corners[:, 0], axis=1))
    return np.asarray(np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1))


def _around(body: Body, values: list[FloatArray]) -> FloatArray:
    """(n,) sums over the faces around each vertex of a value for each corner of a face."""
    total = np.zeros(len(body.shape.vertices))
    for corner, value in enumerate(values):
        np.add.at(total, body.shape.faces[:, corner], value)
    return total


def _stiffness(body: Body, points: FloatArray) -> FloatArray:
    """(n,) of each corner against its own movement, up to a factor: area over height², which is side² over area."""
    corners = points[body.shape.faces]
    sizes = np.maximum(_sizes(corners), 1e-300)
    if body.dim == 2:
        return _around(body, [1.0 / sizes] * 2)
    sides = [np.square(corners[:, (k + 1) % 3] - corners[:, (k + 2) % 3]).sum(axis=1) for k in range(3)]
    return _around(body, [side / sizes for side in sides])


def _slowed(masses: FloatArray, stiffness: FloatArray) -> FloatArray:
    """Masses of which the quickest are made heavier: stiffness/mass is at most `limit`, which is found by halving."""
    quickness = stiffness / masses
    low, limit = QUICK**2 * float(np.median(quickness)), float(quickness.max())
    if limit <= low:
        return masses
    for _ in range(50):
        middle = 0.5 * (low + limit)
        if np.maximum(stiffness / middle - masses, 0.0).sum() > MOVED:
            low = middle
        else:
            limit = middle
    return np.maximum(masses, stiffness / limit)
