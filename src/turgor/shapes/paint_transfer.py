"""Texture coordinates for a surface that has other triangles than the one they were made for: simplified, or joined.

A new face takes the part of the texture at its centre: the old faces around the closest one, as far as it is wide,
without crossing a seam. Its corners take the coordinates of their closest points on these faces. So no face reaches
from one side of a seam to the other; where a corner lies beyond the seam, the coordinates go on straight.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from turgor.shapes.nearest import balls, closest_weights, nearest_faces
from turgor.shapes.shape import FloatArray, Shape
from turgor.shapes.topology import Edges, Integers

__all__ = ["transferred"]

SAME = 1e-6  # of the extent of all coordinates: float32 files carry 6e-8
WIDE = 1.25  # of the distance of a face's centre to its furthest corner: how far old faces are looked for
LEVEL = 1e-3  # of the same: closest points that differ by less are equally close
ALONG = 1e-9  # of a weight: below, a closest point lies on the side across from that corner
FLAT = 1e-6  # of the spread of points: the part of directions across the surface in the slope of coordinates
PAIRS = 1 << 26  # pairs of new and old faces for which it is noted at once whether they were met: 64 MB


def transferred(old: Shape, new: Shape) -> FloatArray:
    """(m, 3, 2) coordinates for the corners of `new`, from those of `old`."""
    assert old.corner_uv is not None
    source = _Source.of(old)
    wanted = new.vertices[new.faces]
    centre = wanted.mean(axis=1)
    normal = np.cross(wanted[:, 1] - wanted[:, 0], wanted[:, 2] - wanted[:, 0])
    seed = nearest_faces(centre, normal, source.corners)
    uv = np.empty((len(wanted), 3, 2))
    step = max(1, min(PAIRS // len(source.corners), 4096))
    for start in range(0, len(wanted), step):
        part = slice(start, start + step)
        uv[part] = _coordinates(source, wanted[part], seed[part])
    return uv


@dataclass(frozen=True)
class _Source:
    """The faces that the coordinates were made for."""

    corners: FloatArray  # (m, 3, 3) m
    uv: FloatArray  # (m, 3, 2)
    beside: Integers  # (m, 3) the face beyond each side; -1 at borders and at seams, where coordinates do not go on
    middle: FloatArray  # (m, 3) m, of a ball around each face
    radius: FloatArray  # (m,) m

    @classmethod
    def of(cls, shape: Shape) -> _Source:
        assert shape.corner_uv is not None
        corners = shape.vertices[shape.faces]
        return cls(corners, shape.corner_uv, _beside(shape), *balls(corners))


def _beside(shape: Shape) -> Integers:
    """(m, 3) the face beyond each side of the faces; -1 at borders and seams."""
    assert shape.corner_uv is not None
    edges = Edges.of(shape.faces)
    one, two = edges.pairs()
    start = shape.corner_uv.reshape(-1, 2)  # of side s at its first end, corner s
    end = np.roll(shape.corner_uv, -1, axis=1).reshape(-1, 2)
    same_way = (edges.sides[one, 0] == edges.sides[two, 0])[:, None]  # faces of a one-sided cloth may be wound so
    first, last = np.where(same_way, start[two], end[two]), np.where(same_way, end[two], start[two])
    tolerance = SAME * max(float(np.ptp(start, axis=0).max()), 1e-30)
    goes_on = (np.abs(start[one] - first) <= tolerance).all(axis=1) & (np.abs(end[one] - last) <= tolerance).all(axis=1)
    beside = np.full(3 * len(shape.faces), -1, np.int64)
    beside[one[goes_on]], beside[two[goes_on]] = two[goes_on] // 3, one[goes_on] // 3
    return beside.reshape(-1, 3)


def _coordinates(old: _Source, wanted: FloatArray, seed: Integers) -> FloatArray:
    """(n, 3, 2) for new faces with the corners `wanted` (n, 3, 3), each of which lies over the old face `seed`."""
    count, centre = len(wanted), wanted.mean(axis=1)
    weights = closest_weights(centre, old.corners[seed])
    below, aim = (np.einsum("nk,nkd->nd", weights, table[seed]) for table in (old.corners, old.uv))
    width = np.linalg.norm(wanted - centre[:, None], axis=2).max(axis=1)
    patch = _around(old, seed, centre, WIDE * width + np.linalg.norm(below - centre, axis=1))
    found, beyond = np.empty((count, 3, 2)), np.zeros((count, 3, 3))
    for corner in range(3):
        point = wanted[:, corner]
        owner, face = _possible(old, *patch, point)
        weights = closest_weights(point[owner], old.corners[face])
        closest, value = (np.einsum("nk,nkd->nd", weights, table[face]) for table in (old.corners, old.uv))
        gap = np.linalg.norm(point[owner] - closest, axis=1)
        further = gap > _least(owner, gap, count)[owner] + LEVEL * width[owner]
        # both sides of a seam may be in reach where it ends: of equally close points that next to the centre's
        best = np.lexsort((np.linalg.norm(value - aim[owner], axis=1), further, owner))
        chosen = best[np.flatnonzero(np.diff(owner[best], prepend=-1))]
        found[:, corner] = value[chosen]
        # a weight of zero: the point lies on the side across from that corner, which is the next corner's
        at_seam = ((weights[chosen] <= ALONG) & (np.roll(old.beside[face[chosen]], -1, axis=1) < 0)).any(axis=1)
        beyond[at_seam, corner] = (point - closest[chosen])[at_seam]
    over = np.flatnonzero(beyond.any(axis=(1, 2))).astype(np.int64)
    if len(over):
        found[over] += np.einsum("nkd,nde->nke", beyond[over], _slope(old, *patch, over))
    return found


def _possible(old: _Source, owner: Integers, face: Integers, point: FloatArray) -> tuple[Integers, Integers]:
    """Those pairs (new face, old face) of which the old one may be closest to the point (n, 3) of the new one."""
    away = np.linalg.norm(old.middle[face] - point[owner], axis=1)
    least = _least(owner, away + old.radius[face], len(point))
    kept = away - old.radius[face] <= (1.0 + LEVEL) * least[owner]
    return owner[kept], face[kept]


def _least(owner: Integers, values: FloatArray, count: int) -> FloatArray:
    """(count,) the least of the values of each owner."""
    least = np.full(count, np.inf)
    np.minimum.at(least, owner, values)
    return least


def _around(old: _Source, seed: Integers, centre: FloatArray, reach: FloatArray) -> tuple[Integers, Integers]:
    """Pairs (new face, old face): the old ones joined to the seed within reach of the new one's centre."""
    faces = len(old.corners)
    met = np.zeros((len(seed), faces), bool)
    owner, face = np.arange(len(seed)), seed
    met[owner, face] = True
    rounds = [(owner, face)]
    while len(owner):
        owner, face = np.repeat(owner, 3), old.beside[face].ravel()
        kept = face >= 0
        owner, face = owner[kept], face[kept]
        kept = ~met[owner, face]
        owner, face = owner[kept], face[kept]
        kept = np.linalg.norm(old.middle[face] - centre[owner], axis=1) - old.radius[face] <= reach[owner]
        key = np.sort(owner[kept] * faces + face[kept])  # a face may be met from several sides
        owner, face = np.divmod(key[np.diff(key, prepend=-1) > 0], faces)
        met[owner, face] = True
        rounds.append((owner, face))
    return np.concatenate([owner for owner, _ in rounds]), np.concatenate([face for _, face in rounds])


def _slope(old: _Source, owner: Integers, face: Integers, chosen: Integers) -> FloatArray:
    """(n, 3, 2) how coordinates change along the old faces of the chosen new ones: least squares, by area."""
    kept = np.isin(owner, chosen)
    owner, face = np.searchsorted(chosen, owner[kept]), face[kept]
    corners, uv, count = old.corners[face], old.uv[face], len(chosen)
    doubled = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    weight = np.maximum(np.linalg.norm(doubled, axis=1), np.finfo(float).tiny)
    total = np.bincount(owner, weight, count)[:, None]

    def ways(values: FloatArray) -> FloatArray:
        """From the mean of all."""
        means = [np.bincount(owner, weight * column, count) for column in values.mean(axis=1).T]
        return np.asarray(values - (np.stack(means, axis=1) / total)[owner, None])

    left, right = np.zeros((count, 3, 3)), np.zeros((count, 3, 2))
    np.add.at(left, owner, np.einsum("n,nki,nkj->nij", weight, ways(corners), ways(corners)))
    np.add.at(right, owner, np.einsum("n,nki,nke->nie", weight, ways(corners), ways(uv)))
    spread = np.trace(left, axis1=1, axis2=2)
    left += np.maximum(FLAT * spread, np.finfo(float).tiny)[:, None, None] * np.eye(3)
    return np.asarray(np.linalg.solve(left, right))
