"""One body of the scene as arrays: ordered for locality, with springs, faces, fans and hinges (NumPy, one world)."""

from __future__ import annotations

import functools
import math
import weakref
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from turgor.errors import SceneError
from turgor.model import topology
from turgor.model.vertex_masses import vertex_areas, vertex_masses
from turgor.scene.data import Body, SoftBody

__all__ = ["Part", "build_part", "estimated_volume", "part_of", "placed_part"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Part:
    """Everything the model needs of one body; indices are local to it and in its own vertex order."""

    order: IntArray  # (n,) the user's index of each vertex
    positions: FloatArray  # (n, dim) m, world coordinates
    velocities: FloatArray  # (n, dim) m/s
    masses: FloatArray  # (n,) kg
    pinned: npt.NDArray[np.bool_]  # (n,)
    faces: IntArray  # (m, dim)
    face_order: IntArray  # (m,) the user's index of each face
    face_rest: FloatArray  # (m, 4): see `_face_rest`; empty without a material
    all_springs: IntArray  # (e, 2) the edges of the faces and the extra springs
    springs: IntArray  # (s, 2) the same; none where a material holds the skin
    rest_lengths: FloatArray  # (s,) m
    neighbour_start: IntArray  # (n + 1,)
    neighbours: IntArray  # fan neighbours first, then the rest
    neighbour_rest: FloatArray  # rest length of the spring to each neighbour, m
    fan_end: IntArray  # (n,) where the fan ends in `neighbours`; negative for an open fan
    fans_known: bool  # False: the gather kernel cannot be used
    edge_table: topology.EdgeTable | None  # 3D: the sides of the faces
    hinges: IntArray  # (h, 3 or 4), empty without bending
    rest_angles: FloatArray  # (h,) rad
    hinge_weight: FloatArray  # (h,) of the body's bending; 1 where that is given per hinge
    air_share: FloatArray  # (n,) of the area around each vertex which it shows the air
    rest_volume: float  # m³, as the body's own volume method measures it; 1 for a cloth
    size: float  # m, diagonal of the bounding box
    mean_edge: float  # m, at rest
    breathing: float  # 1/kg: damping rate of the breathing mode per unit of dashpot


def estimated_volume(points: FloatArray, method: str, exact: float) -> float:
    """Volume by a bounding box, ball or ellipsoid (C2); the exact one for the methods that converge to it."""
    dim = points.shape[1]
    low, high = points.min(axis=0), points.max(axis=0)
    half = (high - low) / 2
    arms = points - (low + high) / 2
    unit_ball = math.pi if dim == 2 else 4.0 / 3.0 * math.pi
    if method == "box":
        return float(np.prod(high - low))
    if method == "ball":
        return unit_ball * math.pow(float(np.linalg.norm(arms, axis=1).max()), dim)
    if method == "ellipsoid":
        return unit_ball * float(np.prod(half)) * math.pow(float(np.linalg.norm(arms / half, axis=1).max()), dim)
    return exact


def _air_share(body: Body, points: FloatArray, masses: FloatArray) -> FloatArray:
    """(n,) of the area around each vertex which it shows the air (forces/air.py).

    A closed surface shows one side, half of what a sheet shows. A sheet is a material of one mass per area, so a vertex
    stands for the area that has its mass: m_i/m of the sheet at rest, also at the rim, where the faces around it are
    fewer. What falls flat then stays flat, whatever the mesh.
    """
    if body.shape.closed:
        return np.full(len(points), 0.5)
    areas = vertex_areas(body, points)
    shares = masses / masses.sum() * areas.sum()
    return np.asarray(np.divide(shares, areas, out=np.zeros_like(areas), where=areas > 0.0))


def _velocities(body: Body, points: FloatArray, masses: FloatArray) -> FloatArray:
    """(n, dim) m/s: the common velocity plus the spin about the centre of mass."""
    velocities = np.tile(np.array(body.velocity, float), (len(points), 1))
    if isinstance(body, SoftBody):
        arms = points - np.average(points, axis=0, weights=masses)
        if isinstance(body.spin, tuple):
            velocities += np.cross(np.array(body.spin), arms)
        else:
            velocities += body.spin * np.stack([-arms[:, 1], arms[:, 0]], axis=1)
    return velocities


def _springs(body: Body, place: IntArray, faces: IntArray, table: topology.EdgeTable | None) -> IntArray:
    """(s, 2) the edges of the faces and the extra springs, each once, smaller end first, sorted."""
    count = len(place)
    edges = faces if table is None else table.edges
    extra = np.asarray(body.shape.extra_springs)
    if table is not None and not len(extra):
        return edges
    joined = np.sort(np.concatenate([edges, place[extra]]), axis=1).astype(np.int64)
    keys = np.sort(joined[:, 0] * count + joined[:, 1])
    keys = keys[np.append(True, keys[1:] != keys[:-1])]
    return np.stack([keys // count, keys % count], axis=1).astype(np.int32)


def _neighbours(
    faces: IntArray, springs: IntArray, count: int, table: topology.EdgeTable | None
) -> tuple[IntArray, IntArray, IntArray, bool]:
    """Neighbour rows of all vertices, the fans in front."""
    found = topology.fans(faces, count, table)
    ends = np.concatenate([springs, springs[:, ::-1]])
    if found is None:
        plain_start, plain = topology.compressed_rows(ends[:, 0], ends[:, 1], count)
        return plain_start, plain, plain_start[:-1].copy(), False
    starts, merged, closed = found
    fan_end = starts[1:]
    if len(ends) > len(merged):  # springs beyond those of the fans
        owner = np.repeat(np.arange(count, dtype=np.int32), np.diff(starts))
        in_fan = np.sort(owner.astype(np.int64) * count + merged)
        key = ends[:, 0].astype(np.int64) * count + ends[:, 1]
        extra = ends[in_fan[np.minimum(np.searchsorted(in_fan, key), len(in_fan) - 1)] != key]
        rows = np.diff(starts)
        starts, merged = topology.compressed_rows(
            np.concatenate([owner, extra[:, 0]]), np.concatenate([merged, extra[:, 1]]), count
        )
        fan_end = starts[:-1] + rows
    return starts, merged, np.where(closed, fan_end, -fan_end).astype(np.int32), True


def _lengths(points: FloatArray, first: IntArray, second: IntArray) -> FloatArray:
    """(n,) m: distances of pairs of points."""
    squares = np.zeros(len(first))
    for column in np.ascontiguousarray(points.T):  # one coordinate at a time: large meshes stay in the cache
        between = column[first]
        between -= column[second]
        between *= between
        squares += between
    return np.sqrt(squares)


def _face_rest(body: Body, corners: FloatArray) -> FloatArray:
    """(m, 4) of a triangle p, q, r (1/m), of the inverse of its sides in its plane, and its area (m²).

    Of an edge in 2D 1/length, 0, 0 and its length.
    """
    first = corners[:, 1] - corners[:, 0]
    a = np.linalg.norm(first, axis=1)
    if body.dim == 2:
        area = a
        found = [1.0 / np.where(a > 0.0, a, 1.0), np.zeros_like(a), np.zeros_like(a), area]
    else:
        second = corners[:, 2] - corners[:, 0]
        twice = np.linalg.norm(np.cross(first, second), axis=1)
        area = 0.5 * twice
        safe = np.where(twice > 0.0, a, 1.0)
        height = np.where(twice > 0.0, twice, 1.0) / safe
        along = np.einsum("ij,ij->i", first, second) / safe
        found = [1.0 / safe, -along / (safe * height), 1.0 / height, area]
    if area.min() <= 0.0:
        flat = int(area.argmin())
        raise SceneError(
            f"body {body.name!r}: face {flat} has no area, and a material needs one: repair the mesh first"
        )
    return np.stack(found, axis=1)


def _hinge_weights(rest: FloatArray, hinges: IntArray) -> FloatArray:
    """(h,) that make a rigidity D (N m) the stiffness of a hinge, 1/2 kb theta².

    3D: kb = D |e|² / (A1 + A2), of equilateral triangles 2 D / sqrt(3) (Seung & Nelson 1988). 2D: curvature is the
    turning angle over the mean length of the two edges, so kb = D / mean.
    """
    if rest.shape[1] == 2:
        first, second = (np.linalg.norm(rest[hinges[:, k + 1]] - rest[hinges[:, k]], axis=1) for k in range(2))
        return np.asarray(2.0 / (first + second))
    edge = rest[hinges[:, 1]] - rest[hinges[:, 0]]
    wings = (rest[hinges[:, k]] - rest[hinges[:, 0]] for k in (2, 3))
    areas = sum(0.5 * np.linalg.norm(np.cross(edge, wing), axis=1) for wing in wings)
    return np.asarray(np.einsum("ij,ij->i", edge, edge) / areas)


def _placed(body: Body, order: IntArray, rest_lengths: FloatArray) -> dict[str, Any]:
    """What of a part depends on where the body is, how it moves and its mass."""
    placed = body.positions
    masses = vertex_masses(body, placed)
    points = placed[order]
    pinned = np.zeros(len(order), bool)
    pinned[body.pinned] = True
    rest_volume = 1.0
    if isinstance(body, SoftBody):
        rest_volume = estimated_volume(points, body.volume, body.shape.volume)
    arms = points - np.average(points, axis=0, weights=masses[order])
    inertia = float(np.sum(masses[order] * np.einsum("ij,ij->i", arms, arms)))
    return {
        "positions": points,
        "velocities": _velocities(body, placed, masses)[order],
        "masses": masses[order],
        "pinned": pinned[order],
        "air_share": _air_share(body, placed, masses)[order],
        "rest_volume": rest_volume,
        "size": float(np.linalg.norm(np.ptp(points, axis=0))),
        "breathing": float(np.sum(rest_lengths**2)) / inertia if inertia > 0.0 else 0.0,
    }


def placed_part(body: Body, like: Part) -> Part:
    """The part of a body that differs from that of `like` in place, motion and mass only."""
    order = like.order
    springs = like.all_springs
    rest_lengths = _lengths(body.shape.vertices[order], springs[:, 0], springs[:, 1])
    return replace(like, **_placed(body, order, rest_lengths))


_known: dict[int, tuple[weakref.ref[Body], Part]] = {}  # by the identity of bodies that still exist


def part_of(body: Body) -> Part:
    """Arrays of one body; the same object for the same description: scenes that follow each other share most bodies."""
    held = _known.get(id(body))
    if held is not None and held[0]() is body:
        return held[1]
    part, key = build_part(body), id(body)
    _known[key] = (weakref.ref(body, lambda _: _known.pop(key, None)), part)
    return part


def build_part(body: Body) -> Part:
    """Arrays of one body, in the Morton order of its shape: the same wherever it is placed."""
    shape = body.shape
    count = len(shape.vertices)
    order = topology.morton_order(shape.vertices)
    place = np.empty(count, np.int32)
    place[order] = np.arange(count, dtype=np.int32)

    faces = place[shape.faces]
    face_order = topology.stable_order(functools.reduce(np.minimum, faces.T))
    faces = faces[face_order]
    table = topology.edge_table(faces, count) if body.dim == 3 else None
    springs = _springs(body, place, faces, table)
    rest = shape.vertices[order]
    rest_lengths = _lengths(rest, springs[:, 0], springs[:, 1])

    material = body.membrane
    rigidity = body.bending if material is None else material.flexural_rigidity
    hinges = topology.hinges(faces, count, table) if rigidity > 0.0 else np.zeros((0, body.dim + 1), np.int32)
    angles = topology.turning_angles if body.dim == 2 else topology.oriented_hinge_angles
    start, neighbours, fan_end, fans_known = _neighbours(faces, springs, count, table)
    owner = np.repeat(np.arange(count, dtype=np.int32), np.diff(start))
    return Part(
        order=order,
        faces=faces,
        face_order=face_order,
        face_rest=np.zeros((0, 4)) if material is None else _face_rest(body, rest[faces]),
        all_springs=springs,
        springs=springs if material is None else springs[:0],
        rest_lengths=rest_lengths if material is None else rest_lengths[:0],
        neighbour_start=start,
        neighbours=neighbours,
        neighbour_rest=_lengths(rest, neighbours, owner),
        fan_end=fan_end,
        fans_known=fans_known,
        edge_table=table,
        hinges=hinges,
        rest_angles=angles(rest, hinges),
        hinge_weight=np.ones(len(hinges)) if material is None else _hinge_weights(rest, hinges),
        mean_edge=float(rest_lengths.mean()) if len(rest_lengths) else 0.0,
        **_placed(body, order, rest_lengths),
    )
