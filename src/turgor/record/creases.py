"""Edges of a triangle mesh: which of them are sharp, and points that are doubled there, so that they stay sharp."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["SHARP", "Edges", "edges_of", "sharp_edges", "split_at"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

#: Edges sharper than this (degrees, when a body is first drawn) stay sharp; a coarse ball must look round all the same,
#: and so must the ends of a rigid capsule (45 degrees in the default mesh), but not a box.
SHARP = {"rigid": 50.0, "soft": 65.0, "cloth": 180.0}


@dataclass(frozen=True)
class Edges:
    """The edges of a mesh. A border has one face, written twice."""

    ends: IntArray  # (edges, 2) vertices, the smaller first
    faces: IntArray  # (edges, 2) faces on both sides
    opposite: IntArray  # (edges, 2) third vertices of these faces
    plain: BoolArray  # (edges,) whether it has exactly two faces
    of_faces: IntArray  # (faces, 3) the edges from corner 0 to 1, 1 to 2, 2 to 0


def edges_of(faces: IntArray) -> Edges:
    """All edges of triangles (m, 3)."""
    starts, stops = faces.ravel(), np.roll(faces, -1, axis=1).ravel()
    third, owner = np.roll(faces, -2, axis=1).ravel(), np.repeat(np.arange(len(faces)), 3)
    pairs = np.sort(np.stack([starts, stops], axis=1), axis=1)
    base = int(faces.max()) + 1 if len(faces) else 1
    keys, inverse = np.unique(pairs[:, 0] * base + pairs[:, 1], return_inverse=True)
    order = np.argsort(inverse, kind="stable")
    counts = np.bincount(inverse, minlength=len(keys))
    first = np.cumsum(counts) - counts
    sides = np.stack([order[first], order[first + np.minimum(counts - 1, 1)]], axis=1)
    ends = np.stack([keys // base, keys % base], axis=1)
    return Edges(ends, owner[sides], third[sides], counts == 2, inverse.reshape(-1, 3))


def sharp_edges(edges: Edges, faces: IntArray, points: FloatArray, degrees: float) -> BoolArray:
    """(edges,) where two faces meet at a larger angle than this, or other than two."""
    normals = np.cross(points[faces[:, 1]] - points[faces[:, 0]], points[faces[:, 2]] - points[faces[:, 0]])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30)
    cosine = np.einsum("ij,ij->i", normals[edges.faces[:, 0]], normals[edges.faces[:, 1]])
    return np.asarray(~edges.plain | (cosine < np.cos(np.radians(degrees))))


def split_at(edges: Edges, faces: IntArray, sharp: BoolArray) -> tuple[IntArray, IntArray]:
    """(faces (m, 3) of points, vertex (n,) that each point is): vertices are doubled at sharp edges between two faces.

    Around each vertex, the corners of faces are joined across common edges that are not sharp: each corner takes the
    smallest number among those it is joined with, again and again, until nothing changes.
    """
    smooth = edges.plain & ~sharp
    if bool(smooth[edges.plain].all()):
        return faces, np.arange(int(faces.max()) + 1 if len(faces) else 0)
    corner = np.arange(3 * len(faces)).reshape(-1, 3)
    pairs = []
    for end in (0, 1):
        vertex = edges.ends[smooth, end][:, None]
        at = [
            (corner[edges.faces[smooth, side]] * (faces[edges.faces[smooth, side]] == vertex)).sum(axis=1)
            for side in (0, 1)
        ]
        pairs.append(np.stack(at, axis=1))
    joined = np.concatenate(pairs)
    label = np.arange(3 * len(faces))
    while True:
        lowest = label[joined].min(axis=1)
        if (label[joined] == lowest[:, None]).all():
            break
        np.minimum.at(label, joined.ravel(), np.repeat(lowest, 2))
    kept, index = np.unique(label, return_inverse=True)
    return index.reshape(-1, 3), faces.ravel()[kept]
