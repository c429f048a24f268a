"""The smooth skin that coarse bodies are drawn with; the physics never sees it.

Its first points are the vertices of a frame, in their order; then come points on their edges, which follow from them by
fixed weights (`butterfly`, in 2D Catmull & Rom 1974), found once. Per frame that is one sparse product per step of
refinement. A new point stays on the side of each wall on which its edge is: a ball that rests on the floor does not
bulge through it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from turgor.output.frame import BodyLayout, Frame, Layout, WallLayout, WallPose
from turgor.record.butterfly import Mesh, subdivided
from turgor.record.creases import SHARP, edges_of, sharp_edges, split_at
from turgor.record.geometry import loops

__all__ = ["PICTURED", "STREAMED", "DrawnBody", "Skin"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

COARSE = 1500  # vertices: bodies of more are drawn as they are
#: Points of one body up to which a second step goes. A ball of 642 points that is 300 pixels wide is round within a
#: third of a pixel, so the page does with that; pictures may be large, and nobody waits for their points.
STREAMED, PICTURED = 700, 3000
MOST_POINTS = 16_000  # of all bodies: a page streams them 30 to 60 times a second
BEND = 2.0  # degrees: a body none of whose smooth edges bends more (a box) is drawn as it is
TURN = 40.0  # degrees: a sharp curve, or an outline in 2D, that turns more at a vertex has a corner there
COARSE_2D, BETWEEN = 400, 3  # vertices of an outline that is drawn as it is; new points on each of its segments


@dataclass(frozen=True)
class DrawnBody:
    """What of the skin belongs to one body."""

    faces: IntArray  # (m, 3) triangles of points, in 2D (m, 2) segments
    points: IntArray  # (n,) which point of the skin each of these is: several at sharp edges
    element: IntArray  # (m,) face of the body's layout on which each lies


@dataclass(frozen=True)
class _Refinement:
    """New points of one step: weighted sums of earlier points, by columns; rows with more entries come first."""

    columns: tuple[tuple[IntArray, npt.NDArray[np.float32]], ...]  # earlier points, and weights (n, 1)
    ends: IntArray  # (new, 2) the edge on which each is


@dataclass(frozen=True)
class _Local:
    """Refinement of one body, with its own numbers: vertices, then new points step by step."""

    steps: tuple[tuple[IntArray, IntArray, IntArray, FloatArray], ...]  # ends, rows, columns, weights
    faces: IntArray
    element: IntArray
    points: IntArray


class Skin:
    """The skin of all bodies of a layout.

    Sharp edges are those of `shape` (vertices, dim), or of the frame that is drawn first. smooth=False: the triangles
    of the physics, doubled at sharp edges. fine: STREAMED or PICTURED.
    """

    def __init__(
        self,
        layout: Layout,
        frame: Frame,
        smooth: bool = True,
        shape: FloatArray | None = None,
        fine: int = PICTURED,
    ) -> None:
        self._layout = layout
        seen = frame.positions if shape is None else shape
        positions = np.nan_to_num(np.asarray(seen, np.float64), posinf=0.0, neginf=0.0)
        own = [positions[body.start : body.start + body.count] for body in layout.bodies]
        levels = _levels(layout, fine) if smooth else [0] * len(layout.bodies)
        local = [_of_body(*entry, layout.dim) for entry in zip(layout.bodies, own, levels, strict=True)]
        numbers = [np.arange(body.count) + body.start for body in layout.bodies]  # own number -> that of the skin
        self.count = layout.vertices
        self._steps: list[_Refinement] = []
        for level in range(max((len(entry.steps) for entry in local), default=0)):
            self._steps.append(self._join(local, numbers, level))
        self.bodies = [
            DrawnBody(entry.faces, number[entry.points], entry.element)
            for entry, number in zip(local, numbers, strict=True)
        ]

    def _join(self, local: Sequence[_Local], numbers: list[IntArray], level: int) -> _Refinement:
        """One step of all bodies that have it, as one product; extends `numbers` by the new points."""
        ends, rows, columns, weights, sizes = [], [], [], [], [0]
        for entry, number in zip(local, numbers, strict=True):
            if level < len(entry.steps):
                step = entry.steps[level]
                ends.append(number[step[0]])
                rows.append(step[1] + sum(sizes))
                columns.append(number[step[2]])
                weights.append(step[3])
            sizes.append(len(entry.steps[level][0]) if level < len(entry.steps) else 0)
        new, row = sum(sizes), np.concatenate(rows)
        lengths = np.bincount(row, minlength=new)
        order = np.argsort(-lengths, kind="stable")
        rank = np.empty(new, np.int64)
        rank[order] = np.arange(new)
        for index, (start, size) in enumerate(zip(np.cumsum(sizes)[:-1], sizes[1:], strict=True)):
            numbers[index] = np.concatenate([numbers[index], self.count + rank[start : start + size]])
        self.count += new
        by_row = np.lexsort((np.arange(len(row)), rank[row]))
        column, weight = np.concatenate(columns)[by_row], np.concatenate(weights)[by_row]
        lengths = lengths[order]
        first = np.cumsum(lengths) - lengths
        table = []
        for k in range(int(lengths.max(initial=0))):
            entries = first[lengths > k] + k
            table.append((column[entries], weight[entries, None].astype(np.float32)))
        return _Refinement(tuple(table), np.concatenate(ends)[order])

    def points(self, frame: Frame) -> npt.NDArray[np.float32]:
        """(count, dim) m: all points of the skin."""
        points = np.empty((self.count, self._layout.dim), np.float32)
        start = self._layout.vertices
        points[:start] = np.nan_to_num(frame.positions, posinf=0.0, neginf=0.0)
        for step in self._steps:
            new = points[start : start + len(step.ends)]
            new[:] = 0.0
            for column, weight in step.columns:
                part = points.take(column, axis=0)  # much faster than points[column]
                part *= weight
                new[: len(column)] += part
            for wall, pose in zip(self._layout.walls, frame.walls, strict=True):
                _keep_inside(new, points, step.ends, wall, pose)
            start += len(new)
        return points

    def in_vertices(self, points: IntArray, weights: FloatArray) -> tuple[IntArray, FloatArray]:
        """A weighted sum of points of the skin as one of vertices: (vertices, weights)."""
        share = np.zeros(self.count)
        np.add.at(share, points, weights)
        end = self.count
        for step in reversed(self._steps):
            start = end - len(step.ends)
            for column, weight in step.columns:
                np.add.at(share, column, weight[:, 0] * share[start : start + len(column)])
            end = start
        vertices = np.flatnonzero(share[:end])
        return vertices, share[vertices]

    def edges_of_points(self) -> IntArray:
        """(count − vertices, 2) earlier points between which each new one lies."""
        return np.concatenate([np.zeros((0, 2), np.int64), *(step.ends for step in self._steps)])

    def texture_coordinates(self) -> FloatArray:
        """(count, 2) of all points; zero for bodies that have none."""
        uv = np.zeros((self._layout.vertices, 2))
        for body in self._layout.bodies:
            if body.uv is not None:
                uv[body.start : body.start + body.count] = body.uv
        return self.spread(uv)

    def corner_uv(self, body: int) -> FloatArray | None:
        """(m, 3, 2) texture coordinates of the corners of a body's drawn faces; None if it has none.

        As points are added by halves of edges, so are coordinates; in the order in which `butterfly` divides faces.
        """
        uv = self._layout.bodies[body].corner_uv
        if uv is None:
            return None
        while len(uv) < len(self.bodies[body].faces):
            a, b, c = uv.transpose(1, 0, 2)
            ab, bc, ca = (a + b) / 2.0, (b + c) / 2.0, (c + a) / 2.0
            parts = ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))
            uv = np.concatenate([np.stack(part, axis=1) for part in parts])
        return uv

    def spread(self, values: npt.ArrayLike) -> FloatArray:
        """(count, ...) values of the vertices (vertices, ...) carried to all points: means of the ends of edges."""
        values = np.asarray(values, np.float64)
        spread = np.empty((self.count, *values.shape[1:]))
        spread[: len(values)] = values
        start = len(values)
        for step in self._steps:
            spread[start : start + len(step.ends)] = spread[step.ends].mean(axis=1)
            start += len(step.ends)
        return spread


def _keep_inside(
    new: npt.NDArray[np.float32],
    points: npt.NDArray[np.float32],
    ends: IntArray,
    wall: WallLayout,
    pose: WallPose,
) -> None:
    """Moves new points out of a wall, as far as the ends of their edges are out of it."""
    if wall.kind == "container":
        axes = np.concatenate([pose.rotation, -pose.rotation], axis=1).astype(np.float32)
        limits = -np.tile(np.array(wall.size) / 2, 2) + pose.position @ axes
    else:
        axes = (pose.rotation @ np.array(wall.normal))[:, None].astype(np.float32)
        limits = pose.position @ axes
    depth = new @ axes - limits.astype(np.float32)  # (new, sides) m: negative is inside the wall
    for side in np.flatnonzero(depth.min(axis=0, initial=0.0) < 0.0):
        deep = np.flatnonzero(depth[:, side] < 0.0)
        edge = points[ends[deep]]
        allowed = np.minimum((edge @ axes[:, side] - limits[side]).min(axis=1), 0.0)
        outside = allowed < -np.linalg.norm(edge[:, 1] - edge[:, 0], axis=1)  # far behind the wall: it holds nothing
        shift = np.where(outside, 0.0, np.maximum(allowed - depth[deep, side], 0.0))
        new[deep] += shift[:, None].astype(np.float32) * axes[:, side]


def _levels(layout: Layout, fine: int) -> list[int]:
    """Steps of refinement per body: as many as are worth it, fewer where there are many bodies."""
    if layout.dim == 2:
        return [int(body.count < COARSE_2D) for body in layout.bodies]
    wanted = [0 if body.count >= COARSE else 1 + (16 * body.count <= fine) for body in layout.bodies]
    for most in (2, 1):
        levels = [min(level, most) for level in wanted]
        if sum(body.count * 4**level for body, level in zip(layout.bodies, levels, strict=True)) <= MOST_POINTS:
            return levels
    return [0] * len(wanted)


def _of_body(body: BodyLayout, points: FloatArray, level: int, dim: int) -> _Local:
    faces = np.asarray(body.faces, np.int64)
    if dim == 2:
        return _outline(faces, points, level)
    edges = edges_of(faces)
    angle = SHARP.get(body.kind, SHARP["soft"])
    sharp = sharp_edges(edges, faces, points, angle)
    if level and body.kind == "rigid" and not (sharp_edges(edges, faces, points, BEND) & ~sharp).any():
        level = 0
    corners = _corners(edges.ends[sharp], points)
    return _subdivided(faces.tobytes(), len(points), (sharp & edges.plain).tobytes(), corners, level)


@lru_cache(maxsize=64)
def _subdivided(raw: bytes, count: int, flags: bytes, corners: frozenset[int], level: int) -> _Local:
    """Bodies of the same faces share it."""
    faces = np.frombuffer(raw, np.int64).reshape(-1, 3)
    edges = edges_of(faces)
    creased = np.frombuffer(flags, bool)
    pairs: frozenset[tuple[int, int]] = frozenset(map(tuple, edges.ends[creased].tolist()))
    mesh = Mesh(faces, count, pairs, corners)
    element = np.arange(len(faces))
    steps = []
    for _ in range(level):
        step = subdivided(mesh)
        steps.append((step.ends, step.rows, step.columns, step.weights))
        mesh, element = step.mesh, np.tile(element, 4)
    if level:
        edges = edges_of(mesh.faces)
        creased = np.array([pair in mesh.sharp for pair in map(tuple, edges.ends.tolist())], bool)
    drawn, points = split_at(edges, mesh.faces, creased)
    return _Local(tuple(steps), drawn, element, points)


def _corners(curve: IntArray, points: FloatArray) -> frozenset[int]:
    """Vertices at which two edges (m, 2) of a curve meet at more than TURN."""
    sums, number = np.zeros_like(points), np.zeros(len(points), np.int64)
    for a, b in ((0, 1), (1, 0)):
        along = points[curve[:, b]] - points[curve[:, a]]
        along /= np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-30)
        np.add.at(sums, curve[:, a], along)
        np.add.at(number, curve[:, a], 1)
    # Two unit vectors with the angle 180° − turn between them have a sum of length 2 sin(turn / 2).
    turned = np.linalg.norm(sums, axis=1) > 2.0 * np.sin(np.radians(TURN) / 2.0)
    return frozenset(np.flatnonzero((number == 2) & turned).tolist())


def _outline(segments: IntArray, points: FloatArray, level: int) -> _Local:
    """Segments (m, 2) of a 2D body, each cut into BETWEEN + 1 pieces of a uniform Catmull-Rom curve."""
    here = np.arange(len(segments))
    if not level:
        return _Local((), segments, here, np.arange(len(points)))
    corners = _corners(segments, points)
    before, after = np.full(len(points), -1), np.full(len(points), -1)
    for chain in (chain for kind in loops(segments) for chain in kind):
        before[chain[1:]], after[chain[:-1]] = chain[:-1], chain[1:]
    for chain in loops(segments)[0]:
        before[chain[0]], after[chain[-1]] = chain[-1], chain[0]
    a, b = segments.T
    sharp = np.isin(np.arange(len(points)), list(corners))
    p, q = np.where(sharp[a], -1, before[a]), np.where(sharp[b], -1, after[b])
    parts = []
    for k in range(BETWEEN):
        t = (k + 1) / (BETWEEN + 1)
        of_p, of_a = (-t + 2 * t**2 - t**3) / 2, (2 - 5 * t**2 + 3 * t**3) / 2
        of_b, of_q = (t + 4 * t**2 - 3 * t**3) / 2, (-(t**2) + t**3) / 2
        row = k * len(segments) + here
        # A curve that ends goes straight on: p = 2 a − b, q = 2 b − a.
        parts += [(row, np.where(p < 0, a, p), np.where(p < 0, 2 * of_p, of_p))]
        parts += [(row, np.where(p < 0, b, a), np.where(p < 0, -of_p, 0.0))]
        parts += [(row, np.where(q < 0, b, q), np.where(q < 0, 2 * of_q, of_q))]
        parts += [(row, np.where(q < 0, a, b), np.where(q < 0, -of_q, 0.0))]
        parts += [(row, a, np.full(len(a), of_a)), (row, b, np.full(len(b), of_b))]
    rows, columns, weights = (np.concatenate(part) for part in zip(*parts, strict=True))
    kept = weights != 0.0
    new = len(points) + here[None] + len(segments) * np.arange(BETWEEN)[:, None]  # (BETWEEN, segments)
    chain = np.concatenate([a[None], new, b[None]])
    pieces = np.stack([chain[:-1].T.ravel(), chain[1:].T.ravel()], axis=1)
    ends = np.tile(segments, (BETWEEN, 1))
    step = (ends, rows[kept], columns[kept], weights[kept])
    count = len(points) + BETWEEN * len(segments)
    return _Local((step,), pieces, np.repeat(here, BETWEEN + 1), np.arange(count))
