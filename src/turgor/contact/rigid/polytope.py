"""Colliders as convex pieces: points, flat polygon faces and edges with the normals on both sides of them (B14).

A hull is one piece: its coplanar triangles are joined to polygons, so that a box has 6 faces and 12 edges. A mesh has a
piece for each triangle (in 2D segment), with a face on either side. Balls and capsules are pieces of one or two points.
All lie in the principal frame of their body; nothing here depends on where the bodies are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from turgor.contact.rigid.records import structs
from turgor.kernel.numbers import Numbers

__all__ = ["CAPSULE", "HULL", "MESH", "SPHERE", "Polytopes"]

FloatArray = npt.NDArray[np.float64]

HULL, SPHERE, CAPSULE, MESH = range(4)
KINDS = {"hull": HULL, "sphere": SPHERE, "capsule": CAPSULE, "mesh": MESH}
# Triangles are one face when their normals differ by less than this angle: far above the round-off of a flat side in
# single precision, far below the angle between the sides of a ball of a thousand triangles (4°).
FLAT = np.cos(np.radians(0.02))
# An edge of a mesh takes part in contact when its triangles meet at more than this angle.
SMOOTH = np.cos(np.radians(5.0))


class Polytopes:
    """Flat tables over all colliders of a world, and the same on the device (`shapes`)."""

    def __init__(self, colliders: Sequence[Any], n: Numbers, device: Any) -> None:
        self.dim = n.dim
        self.points: list[FloatArray] = []
        self.normals: list[FloatArray] = []  # of faces
        self.offsets: list[float] = []  # normal · point of a face
        self.loop: list[int] = []  # points of the faces, counter-clockwise seen from outside
        self.edges: list[tuple[int, int]] = []
        self.beside: list[tuple[FloatArray, FloatArray]] = []  # normals of the two faces of an edge
        self.sides: list[FloatArray] = []  # for each point of a loop, the normal of the side that ends there
        self.loop_start, self.rough = [0], list[int]()
        self.point_start, self.face_start, self.edge_start, self.piece_start = [0], [0], [0], [0]
        self.bvhs: list[Any] = []
        kinds = [KINDS[c.kind] for c in colliders]
        for collider, kind in zip(colliders, kinds, strict=True):
            points, faces = np.asarray(collider.points, float), np.asarray(collider.faces, int)
            first = len(self.rough)
            if kind == MESH:
                self._add_mesh(points, faces)
            else:
                self._add_piece(points, _polygons(points, faces) if kind == HULL else [])
            self.piece_start.append(len(self.rough))
            self.bvhs.append(self._tree(range(first, len(self.rough)), device) if kind == MESH else None)
        clouds = [np.asarray(c.points, float).reshape(-1, n.dim) for c in colliders]
        self.reach = [float(np.linalg.norm(p, axis=1).max() + c.radius) for p, c in zip(clouds, colliders, strict=True)]
        t = structs(n)
        self.shapes = t.Shapes()
        self.shapes.collider = _records(
            t.Collider, device,
            kind=kinds,
            first_piece=self.piece_start[:-1],
            radius=[c.radius for c in colliders],
            reach=self.reach,
            middle=[(p.min(axis=0) + p.max(axis=0)) / 2 for p in clouds],
            half=[(p.max(axis=0) - p.min(axis=0)) / 2 for p in clouds],
            bvh=[bvh.id if bvh else 0 for bvh in self.bvhs],
        )  # fmt: skip
        self.shapes.meshes = wp.array(np.flatnonzero(np.array(kinds) == MESH), dtype=wp.int32, device=device)
        self._fill_shapes(n, device)

    def _fill_shapes(self, n: Numbers, device: Any) -> None:
        """Pieces, faces, edges and points on the device."""
        t, shapes = structs(n), self.shapes
        ends = zip(self.point_start, self.point_start[1:], strict=False)
        shapes.piece = _records(
            t.Piece, device,
            point_first=self.point_start[:-1], point_last=self.point_start[1:],
            face_first=self.face_start[:-1], face_last=self.face_start[1:],
            edge_first=self.edge_start[:-1], edge_last=self.edge_start[1:],
            rough=self.rough,
            centre=[np.mean(self.points[a:b], axis=0) for a, b in ends],
        )  # fmt: skip
        shapes.face = _records(
            t.Face, device,
            normal=self.normals, offset=self.offsets, first=self.loop_start[:-1], last=self.loop_start[1:],
        )  # fmt: skip
        start, end = (np.array([self.points[e[k]] for e in self.edges]).reshape(-1, n.dim) for k in (0, 1))
        left, right = ([normals[k] for normals in self.beside] for k in (0, 1))
        shapes.edge = _records(t.Edge, device, start=start, along=end - start, left=left, right=right)

        def vectors(rows: Any) -> Any:
            return wp.array(np.array(rows, n.dtype).reshape(-1, n.dim), dtype=n.vec, device=device)

        shapes.point, shapes.side = vectors(self.points), vectors(self.sides)
        shapes.corner = vectors([self.points[i] for i in self.loop])

    def _add_piece(
        self,
        points: FloatArray,
        polygons: Iterable[Sequence[int]],
        sides: Iterable[tuple[int, int, FloatArray, FloatArray]] | None = None,
        rough: bool = True,
    ) -> None:
        """One convex piece; `sides`: edges with both normals, where they do not follow from the polygons."""
        base = len(self.points)
        self.points.extend(points)
        owner: dict[tuple[int, int], FloatArray] = {}
        for polygon in polygons:
            corners = points[list(polygon)]
            normal = _newell(corners)
            self.normals.append(normal)
            self.offsets.append(float((corners @ normal).max()))
            self.loop.extend(base + i for i in polygon)
            self.sides.extend(_sides(corners, normal))
            self.loop_start.append(len(self.loop))
            for i, j in zip(polygon, [*polygon[1:], polygon[0]], strict=True):
                owner[i, j] = normal
        if sides is None and self.dim == 3:
            sides = [(i, j, normal, owner[j, i]) for (i, j), normal in owner.items() if i < j and (j, i) in owner]
        for i, j, left, right in sides or ():
            # in the order in which right x left runs along the edge, which the test of Gauss arcs relies on
            swap = np.dot(np.cross(right, left), points[j] - points[i]) < 0.0
            self.edges.append((base + i, base + j))
            self.beside.append((right, left) if swap else (left, right))
        self.rough.append(int(rough))
        self.point_start.append(len(self.points))
        self.face_start.append(len(self.normals))
        self.edge_start.append(len(self.edges))

    def _add_mesh(self, points: FloatArray, faces: npt.NDArray[Any]) -> None:
        """A two-sided piece per triangle or segment. An edge has two Gauss arcs: face to rim and rim to back.

        Smooth edges (of flat or nearly flat parts) have none: nothing that slides over them may catch on them.
        """
        faces = faces[[len(set(face)) == self.dim for face in faces.tolist()]]
        normals = [_newell(points[face]) for face in faces]
        users: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for f, face in enumerate(faces.tolist()):
            for rim in _rims(face):
                users[tuple(sorted(rim))].append(f)
        for f, face in enumerate(faces.tolist()):
            corners, normal = points[face], normals[f]
            felt = [
                len(users[tuple(sorted(rim))]) != 2
                or abs(float(np.dot(*(normals[g] for g in users[tuple(sorted(rim))])))) < SMOOTH
                for rim in _rims(face)
            ]
            sides = []
            if self.dim == 3:
                for k in np.flatnonzero(felt).tolist():
                    out = np.cross(corners[(k + 1) % 3] - corners[k], normal)
                    out /= np.linalg.norm(out)
                    sides += [(k, (k + 1) % 3, normal, out), (k, (k + 1) % 3, out, -normal)]
            loops = [[0, 1], [1, 0]] if self.dim == 2 else [[0, 1, 2], [0, 2, 1]]
            self._add_piece(corners, loops, sides, rough=any(felt))

    def _tree(self, pieces: range, device: Any) -> Any:
        """Bounds of the pieces of a mesh, in single precision, a little larger than they are."""
        corners = [np.array(self.points[self.point_start[p] : self.point_start[p + 1]]) for p in pieces]
        low, high = (
            np.pad(np.array([f(c, axis=0) for c in corners]), ((0, 0), (0, 3 - self.dim))) for f in (np.min, np.max)
        )
        slack = 1e-6 * float(np.abs([low, high]).max() + 1e-12)
        return wp.Bvh(
            wp.array(low - slack, dtype=wp.vec3f, device=device), wp.array(high + slack, dtype=wp.vec3f, device=device)
        )


def _records(struct: Any, device: Any, **columns: Any) -> Any:
    """Device array of structs."""
    count = len(next(iter(columns.values())))
    rows = np.zeros(count, struct.numpy_dtype())
    for name, values in columns.items():
        if count:
            rows[name] = np.array(values).reshape(rows[name].shape)
    return wp.array(rows, dtype=struct, device=device)


def _rims(face: list[int]) -> list[tuple[int, ...]]:
    return [(i,) for i in face] if len(face) == 2 else [(face[k], face[(k + 1) % 3]) for k in range(3)]


def _newell(corners: FloatArray) -> FloatArray:
    """Unit normal of a polygon, area-weighted over its triangles; in 2D to the right of the segment."""
    if corners.shape[1] == 2:
        along = corners[1] - corners[0]
        normal = np.array([along[1], -along[0]])
    else:
        arms = corners - corners[0]
        normal = np.cross(arms[1:-1], arms[2:]).sum(axis=0)
    unit: FloatArray = normal / np.linalg.norm(normal)
    return unit


def _sides(corners: FloatArray, normal: FloatArray) -> FloatArray:
    """Outward unit normals of the sides that end at the corners, in the plane of the polygon; in 2D along it."""
    along = corners - np.roll(corners, 1, axis=0)
    out = along if corners.shape[1] == 2 else np.cross(along, normal)
    return np.asarray(out / np.linalg.norm(out, axis=1)[:, None])


def _polygons(points: FloatArray, faces: npt.NDArray[Any]) -> list[list[int]]:
    """Point loops of the flat faces of a hull, grown from its largest triangles over neighbours in the same plane."""
    if points.shape[1] == 2:
        return [list(face) for face in faces.tolist()]
    corners = points[faces]
    cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area = np.linalg.norm(cross, axis=1)
    normals = cross / area[:, None]
    over = {(i, j): f for f, face in enumerate(faces.tolist()) for i, j in _rims(face)}
    group = np.full(len(faces), -1)
    loops = []
    for seed in np.argsort(-area, kind="stable").tolist():
        if group[seed] >= 0:
            continue
        group[seed] = seed
        todo, rim = [seed], {}
        while todo:
            f = todo.pop()
            for i, j in _rims(faces[f].tolist()):
                g = over[j, i]
                if group[g] < 0 and float(normals[g] @ normals[seed]) > FLAT:
                    group[g] = seed
                    todo.append(g)
        for f in np.flatnonzero(group == seed).tolist():
            for i, j in _rims(faces[f].tolist()):
                if group[over[j, i]] != seed:
                    rim[i] = j
        start = min(rim)
        loop = [start]
        while (following := rim[loop[-1]]) != start:
            loop.append(following)
        loops.append(loop)
    return loops
