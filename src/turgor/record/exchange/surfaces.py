"""The surface of a body as other programs want it: triangles and normals, points doubled at sharp edges and seams.

Texture coordinates are as in OBJ and USD: v goes up, from 0 at the lower edge of the picture. (In glTF it goes down.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from turgor.output.frame import BodyLayout
from turgor.record.creases import SHARP, edges_of, sharp_edges, split_at
from turgor.record.geometry import loops, vertex_normals

__all__ = ["Surface", "surface_of"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Surface:
    """Triangles of points. A point is a vertex of the body with one normal and one pair of texture coordinates."""

    faces: IntArray  # (m, 3) points
    vertices: IntArray  # (points,) the vertex that each is
    shaded: IntArray  # (points,) the row of `normals` of each
    uv: FloatArray | None  # (points, 2), v up
    smooth_faces: IntArray  # (m, 3) the same triangles, of rows of `normals`
    smooth_vertices: IntArray  # (normals,) the vertex of each row of `normals`
    flat: bool  # whether it is a filled outline in the plane z = 0

    def normals(self, positions: FloatArray) -> FloatArray:
        """(normals, 3) unit normals; several at a vertex of a sharp edge."""
        if self.flat:
            return np.tile([0.0, 0.0, 1.0], (len(self.smooth_vertices), 1))
        normals = vertex_normals(positions[self.smooth_vertices], self.smooth_faces)
        unknown = ~np.einsum("ij,ij->i", normals, normals).astype(bool)  # all faces around it have no area
        normals[unknown] = (0.0, 0.0, 1.0)
        return normals


def surface_of(body: BodyLayout, positions: FloatArray) -> Surface:
    """positions: (count, 3) m of the first frame, which tells the sharp edges, and in 2D the triangles."""
    faces = np.asarray(body.faces, np.int64)
    if faces.shape[1] == 2:
        filled = [_triangles(loop, positions[:, :2]) for loop in loops(faces)[0]]
        all_vertices = np.arange(body.count)
        triangles = np.concatenate([*filled, np.zeros((0, 3), np.int64)])
        return Surface(triangles, all_vertices, all_vertices, None, triangles, all_vertices, True)
    edges = edges_of(faces)
    sharp = sharp_edges(edges, faces, positions, SHARP.get(body.kind, SHARP["soft"]))
    smooth_faces, smooth_vertices = split_at(edges, faces, sharp & edges.plain)
    if body.corner_uv is None:
        uv = None if body.uv is None else np.asarray(body.uv, np.float64)[smooth_vertices]
        shaded = np.arange(len(smooth_vertices))
        return Surface(smooth_faces, smooth_vertices, shaded, uv, smooth_faces, smooth_vertices, False)
    corners = np.column_stack([smooth_faces.ravel(), np.asarray(body.corner_uv, np.float64).reshape(-1, 2)])
    points, index = np.unique(corners, axis=0, return_inverse=True)
    shaded = points[:, 0].astype(np.int64)
    split = index.reshape(-1, 3)
    return Surface(
        split,
        smooth_vertices[shaded],
        shaded,
        np.asarray(points[:, 1:], np.float64),
        smooth_faces,
        smooth_vertices,
        False,
    )


def _triangles(loop: IntArray, points: FloatArray) -> IntArray:
    """(n − 2, 3) of a closed outline without crossings, by cutting off ears (Meisters 1975).

    Of the ears the one with the widest smallest angle goes first, so that the triangles bear some deformation.
    """
    rest = loop.tolist()
    xy = points[loop]
    x, y = xy.T
    area = float(x @ np.roll(y, -1) - y @ np.roll(x, -1))
    if area < 0.0:
        rest.reverse()
    found: list[tuple[int, int, int]] = []
    while len(rest) > 3:
        ring = np.array(rest)
        before, after = np.roll(ring, 1), np.roll(ring, -1)
        a, b, c = points[before], points[ring], points[after]
        turn = _cross(b - a, c - b)
        longest = np.maximum.reduce([((p - q) ** 2).sum(axis=1) for p, q in ((a, b), (b, c), (c, a))])
        quality = turn / np.maximum(longest, 1e-300)
        for k in np.argsort(-quality):
            if turn[k] <= 0.0 or _is_ear(points, ring, int(k)):
                break
        else:
            k = np.argmax(quality)
        found.append((int(before[k]), int(ring[k]), int(after[k])))
        del rest[int(k)]
    found.append((rest[0], rest[1], rest[2]))
    return np.array(found, np.int64)


def _cross(one: FloatArray, other: FloatArray) -> FloatArray:
    return np.asarray(one[..., 0] * other[..., 1] - one[..., 1] * other[..., 0])


def _is_ear(points: FloatArray, ring: IntArray, k: int) -> bool:
    """Whether no other point of the ring is in the triangle of point k and its neighbours."""
    around = [ring[k - 1], ring[k], ring[(k + 1) % len(ring)]]
    others = points[ring[~np.isin(ring, around)]]
    a, b, c = points[around]
    inside = (
        (_cross(b - a, others - a) >= 0.0) & (_cross(c - b, others - b) >= 0.0) & (_cross(a - c, others - c) >= 0.0)
    )
    return not inside.any()
