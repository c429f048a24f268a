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

from turgor.model.topology import compressed_rows

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
        shift = np.arange(model.worlds)[:, None] * self.bodies
        soft = (model.body_host[None] + shift).ravel()
        rigid = (owner[None] + self.soft_bodies + shift).ravel()
        self.point_body = model.int_array(np.concatenate([soft, rigid]))
        local = np.concatenate([*(c.points for c in rigids.collision), np.zeros((0, model.numbers.dim))])
        self.local = model.vec_array(np.tile(local, (model.worlds, 1)))  # m, of the rigid points, principal axes
        flat = (owner[None] + np.arange(model.worlds)[:, None] * rigids.count).ravel()
        self.local_body = model.int_array(flat)  # rigid body of each rigid point
        self.rest = model.vec_array(np.tile(model.initial_positions, (model.worlds, 1)))  # m, shapes at rest

    def _features(self, rigid_starts: Any) -> None:
        model, dim = self.model, self.model.numbers.dim
        meshes = [(part.faces, int(start)) for part, start in zip(model.parts, model.starts, strict=False)]
        meshes += [(c.faces, int(start)) for c, start in zip(model.rigids.collision, rigid_starts, strict=False)]
        tables: dict[str, list[IntArray]] = {name: [] for name in ("faces", "opposite", "owns", "edges", "face_edges")}
        owners: dict[str, list[IntArray]] = {"face": [], "edge": []}
        rigid: dict[str, list[npt.NDArray[np.bool_]]] = {"face": [], "edge": []}
        edge_count = 0
        for body, (faces, start) in enumerate(meshes):
            found = _features_of(np.asarray(faces, np.int32), dim)
            faces, opposite, owns, edges, face_edges = found
            tables["faces"].append(_shifted(faces, start))
            tables["opposite"].append(_shifted(opposite, start))
            tables["edges"].append(_shifted(edges, start))
            tables["face_edges"].append(_shifted(face_edges, edge_count))
            tables["owns"].append(owns)
            edge_count += len(edges)
            for name, count in (("face", len(faces)), ("edge", len(edges))):
                owners[name].append(np.full(count, body, np.int32))
                rigid[name].append(np.full(count, body >= self.soft_bodies))
        joined = {
            "faces": np.zeros((0, dim)), "opposite": np.zeros((0, dim)), "owns": np.zeros(0),
            "edges": np.zeros((0, 4)), "face_edges": np.zeros((0, dim)),
        }  # fmt: skip
        joined = {name: np.concatenate([*tables[name], empty]).astype(np.int32) for name, empty in joined.items()}
        flags = {name: np.concatenate([*rows, np.zeros(0, bool)]).astype(bool) for name, rows in rigid.items()}
        bodies = {name: np.concatenate([*rows, np.zeros(0)]).astype(np.int32) for name, rows in owners.items()}

        def points(name: str, kind: str) -> IntArray:
            """Point indices of one world, in all worlds."""
            base = np.where(flags[kind], self.first_rigid, 0)[:, None]
            stride = np.where(flags[kind], self.rigid_points, self.soft_points)[:, None]
            table = joined[name]
            rows = [np.where(table < 0, -1, table + base + world * stride) for world in range(model.worlds)]
            return np.concatenate(rows).astype(np.int32)

        def repeated(values: Any, step: int) -> IntArray:
            return np.concatenate([_shifted(values, world * step) for world in range(model.worlds)])

        face_points, edge_points = points("faces", "face"), points("edges", "edge")[:, :2]
        owner = np.repeat(np.arange(len(face_points), dtype=np.int32), dim)
        once = np.unique(np.stack([face_points.ravel(), owner], axis=1), axis=0)  # repeated corners count once
        rows = compressed_rows(once[:, 0], once[:, 1], self.point_count)
        self.point_faces_start, self.point_faces = (model.int_array(row) for row in rows)  # faces at each point
        owner = np.repeat(np.arange(len(edge_points), dtype=np.int32), 2)
        rows = compressed_rows(edge_points.ravel(), owner, self.point_count)
        self.point_edges_start, self.point_edges = (model.int_array(row) for row in rows)  # edges at each point
        face_type = model.numbers.face
        self.faces = model.index_array(face_points, face_type)
        self.opposite = model.index_array(points("opposite", "face"), face_type)
        self.owns = model.int_array(np.tile(joined["owns"], model.worlds))
        self.face_body = model.int_array(repeated(bodies["face"], self.bodies))
        self.edges = model.index_array(points("edges", "edge"), wp.vec4i)  # ends, then the apexes beside it or -1
        self.face_edges = model.index_array(repeated(joined["face_edges"], len(joined["edges"])), face_type)
        counts = np.bincount(bodies["face"], minlength=self.bodies)
        starts = np.concatenate([[0], np.cumsum(np.tile(counts, model.worlds))])
        self.face_start = model.int_array(starts)  # (bodies * worlds + 1,)
        counts = np.bincount(bodies["edge"], minlength=self.bodies)
        self.edge_start = model.int_array(np.concatenate([[0], np.cumsum(np.tile(counts, model.worlds))]))

    def _bodies(self, rigid_starts: Any) -> None:
        model, rigids, worlds = self.model, self.model.rigids, self.model.worlds
        thickness, own, closed, edge = [], [], [], []
        for body, part in zip(model.bodies, model.parts, strict=True):
            mean = float(part.rest_lengths.mean()) if len(part.rest_lengths) else part.size
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
        self.thickness = model.real_array(np.tile(thickness, worlds))  # m: skin, and the radius of round bodies
        self.edge_size = model.real_array(np.tile(edge, worlds))  # m
        self.self_contact = model.int_array(np.tile(own, worlds))
        self.closed = model.int_array(np.tile(closed, worlds))
        self.world = model.int_array(np.repeat(np.arange(worlds), self.bodies))
        # flat index of the soft and of the rigid body behind each contact body, or -1
        place = np.arange(self.bodies)
        first = self.soft_bodies
        soft = [np.where(place < first, place + w * first, -1) for w in range(worlds)]
        rigid = [np.where(place >= first, place - first + w * rigids.count, -1) for w in range(worlds)]
        self.soft_index = model.int_array(np.concatenate(soft))
        self.rigid_index = model.int_array(np.concatenate(rigid))
        ranges = []
        for ends in (slice(None, -1), slice(1, None)):
            soft_ends, rigid_ends = model.starts[ends], rigid_starts[ends] + self.first_rigid
            rows = [
                np.append(soft_ends + w * self.soft_points, rigid_ends + w * self.rigid_points) for w in range(worlds)
            ]
            ranges.append(model.int_array(np.concatenate(rows)))
        self.point_start, self.point_end = ranges

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
        counts = np.bincount(pairs[:, 0], minlength=self.bodies)
        starts = np.concatenate([[0], np.cumsum(np.tile(counts, model.worlds))])
        rows = [pairs[:, 1] + world * self.bodies for world in range(model.worlds)]
        self.excluded_start, self.excluded = model.int_array(starts), model.int_array(np.concatenate(rows))


def _shifted(table: IntArray, shift: int) -> IntArray:
    """Indices moved by `shift`; -1 stays."""
    return np.where(table < 0, -1, table + shift).astype(np.int32)


def _features_of(faces: IntArray, dim: int) -> tuple[IntArray, IntArray, IntArray, IntArray, IntArray]:
    """(faces, apex across each edge, what each face owns, edges with apexes, the owned edge of each side)."""
    count = len(faces)
    corner_bits = np.zeros(count, np.int32)
    for corner in range(dim):  # the first face with a corner owns it
        corner_bits |= (1 << (OWNS_CORNER + corner)) * _is_first(faces.ravel(), faces.shape[1])[:, corner]
    none = np.full((count, dim), -1, np.int32)
    if dim == 2:
        return faces, none, corner_bits, np.zeros((0, 4), np.int32), none
    ends = np.stack([faces, np.roll(faces, -1, axis=1)], axis=2).reshape(-1, 2)
    apex = np.roll(faces, -2, axis=1).ravel()
    apex = np.where((apex == ends[:, 0]) | (apex == ends[:, 1]), -1, apex)  # a face with repeated corners has none
    ordered = np.sort(ends, axis=1)
    real = ordered[:, 0] != ordered[:, 1]
    keys, first, inverse = np.unique(ordered, axis=0, return_index=True, return_inverse=True)
    inverse = inverse.ravel()
    beside = np.full((len(keys), 2), -1, np.int32)  # apexes of the first two faces at each edge
    sides = np.full((len(keys), 2), -1, np.int64)
    by_edge = np.argsort(inverse, kind="stable")
    rank = np.arange(len(ends)) - np.searchsorted(inverse[by_edge], inverse[by_edge])  # 0, 1, ... within an edge
    for slot in (0, 1):
        chosen = by_edge[rank == slot]
        sides[inverse[chosen], slot] = chosen
        beside[inverse[chosen], slot] = apex[chosen]
    own = np.zeros(len(ends), bool)
    own[first] = True
    own &= real
    other = np.where(sides[inverse, 0] == np.arange(len(ends)), beside[inverse, 1], beside[inverse, 0])
    opposite = np.where(real, other, -1).reshape(count, 3).astype(np.int32)
    number = np.full(len(keys), -1, np.int32)
    proper = np.flatnonzero(keys[:, 0] != keys[:, 1])  # edges with two different ends
    number[proper] = np.arange(len(proper))
    edges = np.concatenate([keys, beside], axis=1)[proper].astype(np.int32)
    face_edges = np.where(own, number[inverse], -1).reshape(count, 3).astype(np.int32)
    edge_bits = (own.reshape(count, 3) * (1 << (OWNS_EDGE + np.arange(3)))).sum(axis=1).astype(np.int32)
    return faces, opposite, corner_bits | edge_bits, edges, face_edges


def _is_first(values: IntArray, width: int) -> npt.NDArray[np.bool_]:
    """Whether each entry is the first of its value, as rows of `width`."""
    _, first = np.unique(values, return_index=True)
    mask = np.zeros(len(values), bool)
    mask[first] = True
    return mask.reshape(-1, width)
