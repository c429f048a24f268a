"""The one type all shape functions return: a surface in 3D, an outline in 2D, or a sheet of cloth."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from turgor.errors import MeshError

__all__ = ["Shape"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Shape:
    """Vertices and the elements that join them.

    A closed 3D surface has triangles, counter-clockwise seen from outside. A closed 2D outline has segments
    (i, i+1), counter-clockwise, so that the outside is on the right of each. A sheet is an open 3D surface.

    vertices (m): (n, dim)
    faces (no unit): (m, dim) vertex indices
    kind (no unit): "surface", "outline" or "sheet"
    recipe (no unit): how to make the shape again, as a scene file stores it: {"icosphere": {"radius": 0.5}}
    extra_springs (no unit): (s, 2) vertex indices of springs beyond the edges of the faces
    groups (no unit): named vertex sets, for pins
    uv (no unit): (n, 2) texture coordinates, or None
    corner_uv (no unit): (m, 3, 2) texture coordinates of the corners of each triangle, or None; per corner, as a vertex
        on a seam of the texture has several
    texture (no unit): path of the image that `corner_uv` refers to, or None
    color (no unit): red, green, blue in 0..1 of the file's material, or None
    """

    vertices: FloatArray
    faces: IntArray
    kind: str
    recipe: Mapping[str, Any]
    extra_springs: IntArray = field(default_factory=lambda: np.zeros((0, 2), np.int32))
    groups: Mapping[str, IntArray] = field(default_factory=dict)
    uv: FloatArray | None = None
    corner_uv: FloatArray | None = None
    texture: str | None = None
    color: tuple[float, float, float] | None = None

    def __post_init__(self) -> None:
        vertices = np.ascontiguousarray(self.vertices, dtype=np.float64)
        faces = np.ascontiguousarray(self.faces, dtype=np.int32)
        if vertices.ndim != 2 or vertices.shape[1] not in (2, 3):
            raise MeshError(f"vertices must have shape (n, 2) or (n, 3), got {vertices.shape}")
        if faces.ndim != 2 or faces.shape[1] != vertices.shape[1]:
            raise MeshError(f"faces must have shape (m, {vertices.shape[1]}), got {faces.shape}")
        object.__setattr__(self, "vertices", vertices)
        object.__setattr__(self, "faces", faces)
        if self.corner_uv is not None:
            object.__setattr__(self, "corner_uv", np.ascontiguousarray(self.corner_uv, dtype=np.float64))
        self._check()

    def _check(self) -> None:
        """What the engine relies on, for shapes that are made by hand; the mesh doctor looks deeper."""
        count = len(self.vertices)
        if not len(self.faces):
            raise MeshError("a shape needs at least one face")
        if not np.all(np.isfinite(self.vertices)):
            raise MeshError("vertices must be finite numbers")
        for name, indices in (("faces", self.faces), ("extra_springs", np.asarray(self.extra_springs))):
            if indices.size and not (indices.min() >= 0 and indices.max() < count):
                raise MeshError(f"{name} must be indices of the {count} vertices, 0 to {count - 1}")
        if self.corner_uv is not None and self.corner_uv.shape != (len(self.faces), 3, 2):
            raise MeshError(f"corner_uv must have shape ({len(self.faces)}, 3, 2), got {self.corner_uv.shape}")
        if self.corner_uv is not None and not np.all(np.isfinite(self.corner_uv)):
            raise MeshError("corner_uv must be finite numbers")
        if self.closed and not self.recipe and not _is_closed(self.faces, count):
            raise MeshError(
                f"kind = {self.kind!r} means closed, but the faces are not: repair them (turgor.shapes.check)"
            )

    @property
    def dim(self) -> int:
        """2 or 3."""
        return int(self.vertices.shape[1])

    @property
    def closed(self) -> bool:
        """Whether the shape can hold gas."""
        return self.kind != "sheet"

    @property
    def edges(self) -> IntArray:
        """(e, 2) unique edges of the faces, smaller index first, sorted."""
        if self.dim == 2:
            pairs = self.faces
        else:
            pairs = np.concatenate([self.faces[:, [0, 1]], self.faces[:, [1, 2]], self.faces[:, [2, 0]]])
        n = np.int64(max(1, len(self.vertices)))
        keys = np.unique(pairs.min(axis=1).astype(np.int64) * n + pairs.max(axis=1))  # 20 times faster than axis=0
        return np.stack([keys // n, keys % n], axis=1).astype(np.int32)

    @functools.cached_property
    def volume(self) -> float:
        """Enclosed volume (3D, signed tetrahedra; m³) or area (2D, Gauss; m²); negative if inverted.

        Summed about the centroid, so that it is as exact far from the origin.
        """
        corners = (self.vertices - self.vertices.mean(axis=0))[self.faces]
        if self.dim == 2:
            (x0, y0), (x1, y1) = corners[:, 0].T, corners[:, 1].T
            return float(0.5 * np.sum(x0 * y1 - x1 * y0))
        (x0, y0, z0), (x1, y1, z1), (x2, y2, z2) = corners.transpose(1, 2, 0)
        return float(np.sum(x0 * (y1 * z2 - z1 * y2) + y0 * (z1 * x2 - x1 * z2) + z0 * (x1 * y2 - y1 * x2)) / 6.0)

    @functools.cached_property
    def area(self) -> float:
        """Of the surface (3D, m²), or the length of the outline (2D, m)."""
        corners = self.vertices[self.faces]
        if self.dim == 2:
            return float(np.linalg.norm(corners[:, 1] - corners[:, 0], axis=1).sum())
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        return float(0.5 * np.linalg.norm(normals, axis=1).sum())


def _is_closed(faces: IntArray, count: int) -> bool:
    """2D: each vertex ends one segment and starts one. 3D: each side of a face is that of one other, turned round."""
    if faces.shape[1] == 2:
        one, other = faces.T
    else:
        ends = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]).astype(np.int64)
        one, other = ends[:, 0] * count + ends[:, 1], ends[:, 1] * count + ends[:, 0]
    ordered = np.sort(one)
    return np.array_equal(ordered, np.sort(other)) and bool(np.all(np.diff(ordered) > 0))
