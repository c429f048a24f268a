"""Everything that can touch: the surfaces of soft bodies, cloths and rigid bodies in one numbering of points.

A contact body is a soft body, a cloth or a rigid body; world w has C of them, soft ones first. Points are the soft
vertices of all worlds, then the collision points of all rigid bodies. A ball is one point with a radius, a capsule two
points with a radius: they are surfaces like the others, of faces with repeated corners, and a larger thickness.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import warp as wp

from turgor.model.tiling import joined
from turgor.model.topology import EdgeTable, compressed_rows, edge_table

if TYPE_CHECKING:
    from turgor.model.model import Model

__all__ = ["OWNS_CORNER", "OWNS_EDGE", "Surfaces"]

IntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]

SKIN = 0.05  # default skin of a soft body: share of its mean edge length at rest
OWNS_EDGE = 0  # bit of a face's `owns` for its edge 0; edge k joins corners k and k + 1
OWNS_CORNER = 3  # bit for its corner 0


class Surfaces:
    """Device arrays over points, faces, edges and contact bodies; each shared feature is owned by one face."""

    def __init__(self, model: Model) -> None:
        self.model = model
        soft, rigids, worlds = model.parts, model.rigids, model.worlds
        self.bodies = len(soft) + rigids.count  # C: contact bodies per world
        self.soft_bodies = len(soft)
        rigid_starts = np.cumsum([0, *(len(collider.points) for collider in rigids.collision)])
        self.soft_points, self.rigid_points = model.vertices, int(rigid_starts[-1])  # per world
        self.point_count = (self.soft_points + self.rigid_points) * worlds
        self.first_rigid = self.soft_points * worlds
        self._points(rigid_starts)
        self._features(rigid_starts)
        self._bodies(rigid_starts)
        self._excluded_pairs()

    def _points(self, rigid_starts: Any) -> None:
        model, rigids = self.model, self.model.rigids
        owner = np.repeat(np.arange(rigids.count), np.diff(rigid_starts))
        soft, rigid = model.body_host, owner + self.soft_bodies
        self.point_body = self.at_points(np.append(soft, rigid), self.bodies)
        local = np.concatenate([*(c.points for c in rigids.collision), np.zeros((0, model.numbers.dim))])
        self.local = self.model.repeated(local, model.numbers.vec)  # m, of the rigid points, principal axes
        self.local_body = self.model.repeated(owner, wp.int32, rigids.count)  # rigid body of each rigid point
        self.rest = model.start_positions()  # m, shapes at rest

    def _features(self, rigid_starts: Any) -> None:
        """Faces and edges of one world, over the points of one world (the rigid ones last); then those of all."""
        model, dim, face_type = self.model, self.model.numbers.dim, self.model.numbers.face
        meshes: list[tuple[IntArray, EdgeTable | None]] = [(part.faces, part.edge_table) for part in model.parts]
        meshes += [(np.asarray(c.faces, np.int32), None) for c in model.rigids.collision]
        starts = np.append(model.starts[:-1], rigid_starts[:-1] + self.soft_points)
        counts = np.append(np.diff(model.starts), np.diff(rigid_starts))
        found = [_features_of(faces, int(count), table) for (faces, table), count in zip(meshes, counts, strict=True)]
        empty = {"faces": dim, "opposite": dim, "owns": 1, "edges": 4, "face_edges": dim}
        tables = {name: [np.zeros((0, width), np.int32)] for name, width in empty.items()}
        edge_count = 0
        for start, (faces, opposite, owns, edges, face_edges) in zip(starts, found, strict=True):
            tables["faces"].append(_shifted(faces, start))
            tables["opposite"].append(_shifted(opposite, start))
            tables["edges"].append(_shifted(edges, start))
            tables["face_edges"].append(_shifted(face_edges, edge_count))
            tables["owns"].append(owns[:, None])
            edge_count += len(edges)
        one = {name: np.concatenate(rows).astype(np.int32, copy=False) for name, rows in tables.items()}
        self.world_faces, self.world_edges = one["faces"], one["edges"][:, :2]  # host, over the points of one world
        face_counts, edge_counts = [len(rows[0]) for rows in found], [len(rows[3]) for rows in found]
        soft = sum(face_counts[: self.soft_bodies])
        self.faces = self.repeated_points(one["faces"], soft, face_type)
        self.opposite = self.repeated_points(one["opposite"], soft, face_type)
        self.owns = self.model.repeated(one["owns"].ravel(), wp.int32)
        soft = sum(edge_counts[: self.soft_bodies])
        self.edges = self.repeated_points(one["edges"], soft, wp.vec4i)  # ends, then the apexes beside it or -1
        self.face_edges = self.model.repeated(one["face_edges"], face_type, edge_count)
        # the first two at each edge, or -1
        body = np.repeat(np.arange(self.bodies, dtype=np.int32), face_counts)
        self.face_body = self.model.repeated(body, wp.int32, self.bodies)
        self.face_start = self.model.ends(np.array(face_counts, np.int64))  # (bodies * worlds + 1,)
        self.edge_start = self.model.ends(np.array(edge_counts, np.int64))
        corner = one["faces"].ravel()
        owner = np.repeat(np.arange(len(one["faces"]), dtype=np.int32), dim)
        if any(collider.radius > 0.0 for collider in model.rigids.collision):  # repeated corners count once
            keep = np.ones((len(one["faces"]), dim), bool)
            for k in range(1, dim):
                keep[:, k] = np.all(one["faces"][:, :k] != one["faces"][:, k : k + 1], axis=1)
            corner, owner = corner[keep.ravel()], owner[keep.ravel()]
        self.point_faces_start, self.point_faces = self._at_each_point(corner, owner, len(one["faces"]))
        owner = np.repeat(np.arange(edge_count, dtype=np.int32), 2)
        rows = self._at_each_point(self.world_edges.ravel(), owner, edge_count)
        self.point_edges_start, self.point_edges = rows

    def _bodies(self, rigid_starts: Any) -> None:
        model, rigids, real = self.model, self.model.rigids, self.model.numbers.dtype
        thickness, own, closed, edge = [], [], [], []
        for body, part in zip(model.bodies, model.parts, strict=True):
            mean = part.mean_edge or part.size
            thickness.append(SKIN * mean if body.skin is None else body.skin)
            own.append(int(body.self_contact))
            closed.append(int(body.shape.closed))
            edge.append(mean)
        for collider in rigids.collision:
            thickness.append(collider.skin + collider.radius)
            own.append(0)
            closed.append(int(collider.kind != "mesh"))
            edge.append(float(np.ptp(collider.points, axis=0).max()) / 4.0 + collider.radius)
        self.skins = np.array([*thickness[: self.soft_bodies], *(c.skin for c in rigids.collision)])
        # m: skin, and the radius of round bodies
        self.thickness = self.model.repeated(np.array(thickness, real), model.numbers.real)
        self.edge_size = self.model.repeated(np.array(edge, real), model.numbers.real)  # m
        self.world_self_contact = np.array(own, np.int32)  # host, of one world
        self.self_contact = self.model.repeated(self.world_self_contact, wp.int32)
        self.closed = self.model.repeated(closed, wp.int32)
        self.world = self.model.repeated(np.zeros(self.bodies), wp.int32, 1)
        # flat index of the soft and of the rigid body behind each contact body, or -1
        place = np.arange(self.bodies)
        first = self.soft_bodies
        self.soft_index = self.model.repeated(np.where(place < first, place, -1), wp.int32, first)
        self.rigid_index = self.model.repeated(np.where(place >= first, place - first, -1), wp.int32, rigids.count)
        # ends of each body's points among those of one world (host), and among all
        self.world_start = np.append(model.starts, rigid_starts[1:] + self.soft_points).astype(np.int32)
        stride = np.where(place < first, self.soft_points, self.rigid_points)
        ranges = []
        for soft_ends, rigid_ends in ((model.starts[:-1], rigid_starts[:-1]), (model.starts[1:], rigid_starts[1:])):
            ranges.append(self.model.repeated(np.append(soft_ends, rigid_ends + self.first_rigid), wp.int32, stride))
        self.point_start, self.point_end = ranges

    # from one world to all ------------------------------------------------------------------------------------------

    def repeated_points(self, table: IntArray, soft: int, dtype: Any) -> Any:
        """Rows of points of one world in all worlds: `soft` rows of soft points, then rows of rigid ones."""
        moved = table.copy()
        moved[soft:] = _shifted(table[soft:], self.first_rigid - self.soft_points)
        strides = np.repeat(np.array([self.soft_points, self.rigid_points]), [soft, len(table) - soft])
        return self.model.repeated(moved, dtype, strides)

    def at_points(self, values: IntArray, shift: int) -> Any:
        """One number per point of a world, in the order of all points: the soft ones of all worlds come first."""
        parts = [self.model.repeated(part, wp.int32, shift) for part in np.split(values, [self.soft_points])]
        return joined(parts, self.model.device)

    def _at_each_point(self, points: IntArray, values: IntArray, shift: int) -> tuple[Any, Any]:
        """(starts, members): what is at each point of all worlds."""
        starts, members = compressed_rows(points, values, self.soft_points + self.rigid_points)
        worlds, soft = self.model.worlds, int(starts[self.soft_points])
        rigid = len(members) - soft
        begins = [
            self.model.repeated(starts[: self.soft_points], wp.int32, soft),
            self.model.repeated(starts[self.soft_points : -1] + soft * (worlds - 1), wp.int32, rigid),
            self.model.int_array([len(members) * worlds]),
        ]
        parts = [self.model.repeated(part, wp.int32, shift) for part in (members[:soft], members[soft:])]
        return joined(begins, self.model.device), joined(parts, self.model.device)

    @property
    def names(self) -> list[str]:
        """Of the contact bodies of one world."""
        return [body.name for body in (*self.model.bodies, *self.model.rigids.bodies)]

    def _excluded_pairs(self) -> None:
        """Per contact body, the bodies that it is glued to: they meet there, and never touch."""
        model = self.model
        soft = model.body_host[model.glue.vertex_host]
        rigid = model.glue.body_host + self.soft_bodies
        pairs = np.unique(np.stack([np.append(soft, rigid), np.append(rigid, soft)], axis=1).astype(int), axis=0)
        self.excluded_start = self.model.ends(np.bincount(pairs[:, 0], minlength=self.bodies))
        self.excluded = self.model.repeated(pairs[:, 1], wp.int32, self.bodies)


def _shifted(table: IntArray, shift: int) -> IntArray:
    """Indices moved by `shift`; -1 stays."""
    if shift == 0:
        return table
    return np.where(table < 0, np.int32(-1), table + np.int32(shift))


def _features_of(
    faces: IntArray, count: int, table: EdgeTable | None
) -> tuple[IntArray, IntArray, IntArray, IntArray, IntArray]:
    """(faces, apexes across their edges, what they own, edges with apexes, owned edge of each side).

    Faces over `count` points; table: that of 3D faces, if it is known.
    """
    number, dim = len(faces), faces.shape[1]
    bits = np.zeros(number * dim, np.int32)
    first = np.full(count, number * dim, np.int32)  # the first face with a corner owns it
    first[faces.ravel()[::-1]] = np.arange(number * dim - 1, -1, -1, dtype=np.int32)
    owned = first[first < number * dim]
    bits[owned] = 1 << (OWNS_CORNER + owned % dim)
    none = np.full((number, dim), -1, np.int32)
    if dim == 2:
        owns = bits.reshape(number, dim).sum(axis=1, dtype=np.int32)
        return faces, none, owns, np.zeros((0, 4), np.int32), none
    table = table or edge_table(faces, count)
    begin, end, apex = faces.ravel(), faces[:, [1, 2, 0]].ravel(), faces[:, [2, 0, 1]].ravel()
    repeated = (apex == begin) | (apex == end)
    if repeated.any():  # a face with repeated corners has none
        apex = np.where(repeated, np.int32(-1), apex)
    # the first two sides at each edge: the first owns it, and their apexes are beside it
    closed = 2 * len(table.edges) == number * dim and bool((table.twin >= 0).all())
    if closed:  # two sides at each edge, which run against each other
        sides = table.order.reshape(-1, 2)
        beside = apex[sides]
    else:
        sides = np.full((len(table.edges), 2), -1, np.int32)
        sides[:, 0] = table.order[table.start[:-1]]
        several = np.diff(table.start) > 1
        sides[several, 1] = table.order[table.start[:-1][several] + 1]
        beside = np.where(sides >= 0, apex[sides], np.int32(-1))
    proper = table.edges[:, 0] != table.edges[:, 1]  # two different ends
    edges, own = np.concatenate([table.edges, beside], axis=1), sides[:, 0]
    if not proper.all():
        edges, own = edges[proper], own[proper]
    face_edges = np.full(number * dim, -1, np.int32)
    face_edges[own] = np.arange(len(own), dtype=np.int32)
    bits[own] |= 1 << (OWNS_EDGE + own % dim)
    if closed:
        other = apex[table.twin]
    else:
        mine = sides[table.edge, 0] == np.arange(number * dim)
        other = np.where(mine, beside[table.edge, 1], beside[table.edge, 0])
    opposite = np.where(begin != end, other, np.int32(-1))
    owns = bits.reshape(number, dim).sum(axis=1, dtype=np.int32)
    return faces, opposite.reshape(number, dim), owns, edges, face_edges.reshape(number, dim)
