"""Walls as meshes: planes as wide as the motion, with tiles of a round size; containers, seen from inside."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from turgor.output.frame import Frame, WallLayout, WallPose

__all__ = ["Bounds", "WallMesh", "poses_of", "wall_mesh"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
REACH = 3.0  # half the side of a plane, in radii of the motion
SLAB = 0.04  # thickness of the ground in 2D, in radii of the motion


@dataclass(frozen=True)
class WallMesh:
    """In the wall's own frame, see `WallPose`."""

    points: FloatArray  # (n, 3) m
    faces: IntArray  # (m, 3)
    normals: FloatArray  # (n, 3) towards the free side
    lines: IntArray  # (l, 2) edges to draw
    tiles: FloatArray | None = None  # (n, 2) places in units of two tiles; None: plain


class Bounds:
    """The box in which all bodies move."""

    def __init__(self) -> None:
        self.low, self.high = np.full(3, np.inf), np.full(3, -np.inf)

    def add(self, points: FloatArray) -> None:
        """points: (n, 3) m."""
        if len(points):
            self.low = np.minimum(self.low, points.min(axis=0))
            self.high = np.maximum(self.high, points.max(axis=0))

    @property
    def corners(self) -> FloatArray:
        """(8, 3) m, of the box; of a unit box where nothing moves."""
        ends = np.stack([self.low, self.high])
        if not np.isfinite(ends).all():
            ends = np.array([[-1.0] * 3, [1.0] * 3])
        return np.array([[ends[a, 0], ends[b, 1], ends[c, 2]] for a in (0, 1) for b in (0, 1) for c in (0, 1)])

    @property
    def middle(self) -> FloatArray:
        """(3,) m."""
        return (self.low + self.high) / 2 if np.isfinite(self.low).all() else np.zeros(3)

    @property
    def radius(self) -> float:
        """m, of a ball around the box."""
        return float(np.linalg.norm(self.high - self.low)) / 2 if np.isfinite(self.low).all() else 1.0


def poses_of(frame: Frame, number: int) -> tuple[FloatArray, FloatArray]:
    """(place (3,), rotation (3, 3)) of a wall in a frame, in space also in 2D."""
    pose = frame.walls[number]
    dim = len(pose.position)
    place, rotation = np.zeros(3), np.eye(3)
    place[:dim], rotation[:dim, :dim] = pose.position, pose.rotation
    return place, rotation


def wall_mesh(wall: WallLayout, pose: WallPose, bounds: Bounds) -> WallMesh:
    """pose: at the first frame; the mesh goes around what is near `bounds`."""
    flat = len(pose.position) == 2
    if wall.kind == "container":
        return _frame(wall) if flat else _box(wall)
    middle = bounds.middle[: len(pose.position)]
    normal = np.asarray(wall.normal, np.float64)
    normal = normal / np.linalg.norm(normal)
    offset = pose.rotation.T @ (middle - pose.position)
    foot = offset - (offset @ normal) * normal
    radius = max(bounds.radius, 1e-6)
    return _slab(normal, foot, radius) if flat else _plane(normal, foot, radius)


def _plane(normal: FloatArray, foot: FloatArray, radius: float) -> WallMesh:
    helper = np.array([1.0, 0, 0]) if abs(normal[0]) < 0.9 else np.array([0, 1.0, 0])
    v = np.cross(normal, helper)
    v /= np.linalg.norm(v)
    u = np.cross(v, normal)
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * REACH * radius
    corners = corners + np.array([foot @ u, foot @ v])
    points = corners @ np.stack([u, v]) + 0.0
    faces = np.array([[0, 1, 2], [0, 2, 3]])
    if np.linalg.det(np.stack([u, v, normal])) < 0.0:
        faces = faces[:, ::-1]
    tile = _round_length(0.5 * radius)
    return WallMesh(points, faces, np.tile(normal, (4, 1)), np.zeros((0, 2), np.int64), corners / (2 * tile))


def _slab(normal: FloatArray, foot: FloatArray, radius: float) -> WallMesh:
    along = np.array([normal[1], -normal[0]])
    half, depth = REACH * radius * along, SLAB * radius * normal
    corners = np.stack([foot - half - depth, foot + half - depth, foot + half, foot - half])
    points = np.column_stack([corners, np.zeros(4)])
    return WallMesh(points, *_facing_front(points), np.array([[2, 3]]))


def _frame(wall: WallLayout) -> WallMesh:
    half = np.array(wall.size) / 2
    points = np.column_stack([np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * half, np.zeros(4)])
    no_faces = np.zeros((0, 3), np.int64)
    return WallMesh(points, no_faces, np.tile([0.0, 0, 1], (4, 1)), np.array([[0, 1], [1, 2], [2, 3], [3, 0]]))


def _facing_front(points: FloatArray) -> tuple[IntArray, FloatArray]:
    faces = np.array([[0, 1, 2], [0, 2, 3]])
    (ax, ay, _), (bx, by, _) = points[1] - points[0], points[2] - points[0]
    return (faces if ax * by > ay * bx else faces[:, ::-1]), np.tile([0.0, 0.0, 1.0], (4, 1))


def _box(wall: WallLayout) -> WallMesh:
    """Faces look inward, so that programs that leave out back faces show what is in it."""
    half = np.array(wall.size) / 2
    points: list[FloatArray] = []
    normals: list[FloatArray] = []
    faces: list[IntArray] = []
    for axis in range(3):
        for side in (-1.0, 1.0):
            u, v = np.eye(3)[(axis + 1) % 3], np.eye(3)[(axis + 2) % 3]
            normal = -side * np.eye(3)[axis]
            corners = np.array(
                [side * np.eye(3)[axis] + a * u + b * v for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
            )
            order = np.array([[0, 1, 2], [0, 2, 3]])
            faces.append((order if side < 0 else order[:, ::-1]) + 4 * len(points))
            points.append(corners * half)
            normals.append(np.tile(normal, (4, 1)))
    lines = [[4 * k + a, 4 * k + (a + 1) % 4] for k in (0, 1) for a in range(4)]
    lines += [[0 + a, 4 + a] for a in range(4)]
    return WallMesh(np.concatenate(points), np.concatenate(faces), np.concatenate(normals), np.array(lines))


def _round_length(length: float) -> float:
    """1, 2 or 5 times a power of ten, near `length`."""
    power = 10.0 ** np.floor(np.log10(length))
    return float(power * min((1, 2, 5, 10), key=lambda part: abs(np.log(part * power / length))))
