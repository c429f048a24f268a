"""Where the camera is: it shows the whole scene; a 2D scene from the front, practically without perspective."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from turgor.output.frame import Frame, Layout
from turgor.record.camera import VIEW_ANGLE, camera_place, scene_points
from turgor.record.look import Look
from turgor.viewer.draw.coordinates import upright

__all__ = ["View", "radius_of", "view_of"]

FloatArray = npt.NDArray[np.float64]
STEEPEST = 85.0  # degrees: a camera that looks straight down has no side that is up
FLAT_FOV = 2.0  # degrees: viser has no camera without perspective, so a 2D scene is seen from far away


@dataclass(frozen=True)
class View:
    """A camera. fov in radians, vertical."""

    position: tuple[float, float, float]
    look_at: tuple[float, float, float]
    fov: float
    near: float
    far: float


def _shown_points(layout: Layout, frame: Frame) -> FloatArray:
    """(n, 3) m: what the camera must show."""
    if layout.dim == 3:
        return scene_points(layout, frame)
    parts = [np.nan_to_num(frame.positions)]
    for wall, pose in zip(layout.walls, frame.walls, strict=True):
        if wall.kind == "container":
            half = np.array(wall.size) / 2
            parts.append(pose.position + (np.array([[1, 1], [-1, -1], [1, -1], [-1, 1]]) * half) @ pose.rotation.T)
        elif (normal := pose.rotation @ np.array(wall.normal))[1] > 0.5:
            parts.append(parts[0] - ((parts[0] - pose.position) @ normal)[:, None] * normal)
    points = np.concatenate(parts)
    return upright(points if len(points) else np.array([[-1.0, -1.0], [1.0, 1.0]]))


def radius_of(layout: Layout, frame: Frame) -> float:
    """m: half the diagonal of what the camera shows."""
    return _half_diagonal(_shown_points(layout, frame))


def _half_diagonal(points: FloatArray) -> float:
    return max(float(np.linalg.norm(np.ptp(points, axis=0))) / 2, 1e-3)


def view_of(layout: Layout, frame: Frame, aspect: float = 1.6, side: FloatArray | None = None) -> View:
    """A camera that shows the whole scene; 2D from the front, practically without perspective.

    side: (3,) towards the camera, in 3D; None: as in pictures.
    """
    points = _shown_points(layout, frame)
    radius = _half_diagonal(points)
    if layout.dim == 3:
        size = (round(720 * aspect), 720)
        eye, target = camera_place(points, Look(size=size) if side is None else Look(size=size, view=_angles(side)))
        fov = np.radians(VIEW_ANGLE)
    else:
        low, high = points.min(axis=0), points.max(axis=0)
        target = (low + high) / 2
        fov = np.radians(FLAT_FOV)
        room = 1.2 * max(high[2] - low[2], (high[0] - low[0]) / aspect, 0.2 * radius)
        eye = target - np.array([0.0, room / 2 / np.tan(fov / 2), 0.0])
    distance = float(np.linalg.norm(eye - target))
    near, far = (0.02 * distance, 20 * distance + 50 * radius) if layout.dim == 3 else (0.3 * distance, 4 * distance)
    return View(tuple(eye.tolist()), tuple(target.tolist()), float(fov), near, far)


def _angles(side: FloatArray) -> tuple[float, float]:
    """Azimuth and elevation, degrees, of a direction."""
    azimuth, elevation = np.arctan2(side[1], side[0]), np.arctan2(side[2], np.hypot(side[0], side[1]))
    return float(np.degrees(azimuth)), float(np.clip(np.degrees(elevation), -STEEPEST, STEEPEST))
