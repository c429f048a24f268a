"""The camera of 3D pictures, and of the viewer at its start: where it stands, and where a point appears."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from turgor.output.frame import Frame, Layout
from turgor.record.look import Look

__all__ = ["VIEW_ANGLE", "camera_place", "on_screen", "scene_points"]

FloatArray = npt.NDArray[np.float64]
VIEW_ANGLE = 26.0  # degrees, vertical; narrow, so that balls at the border stay round
MARGIN = 0.78  # part of the picture that the scene may fill


def scene_points(layout: Layout, frame: Frame) -> FloatArray:
    """Points (n, 3) that the camera must show: bodies, their feet on the ground, a container that turns."""
    bodies = np.nan_to_num(np.asarray(frame.positions, np.float64))
    parts = [bodies]
    for wall, pose in zip(layout.walls, frame.walls, strict=True):
        if wall.kind == "container":
            half = np.array(wall.size) / 2
            corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * half
            parts.append(corners @ pose.rotation.T * 1.12 + pose.position)
        elif (normal := pose.rotation @ np.array(wall.normal))[2] > 0.5:
            parts.append(bodies - ((bodies - pose.position) @ normal)[:, None] * normal)
    points = np.concatenate(parts)
    return points if len(points) else np.array([[-1.0, -1.0, -1.0], [1.0, 1.0, 1.0]])


def camera_place(points: FloatArray, look: Look) -> tuple[FloatArray, FloatArray]:
    """(eye, target) of a camera that sees all points, as near as possible, with the scene in the middle."""
    azimuth, elevation = np.radians(look.view)
    back = np.array([np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)])
    right = np.array([-np.sin(azimuth), np.cos(azimuth), 0.0])
    axes = np.stack([right, np.cross(back, right), back])
    reach = MARGIN * np.tan(np.radians(VIEW_ANGLE / 2)) * np.array([look.size[0] / look.size[1], 1.0])
    target = (points.min(axis=0) + points.max(axis=0)) / 2
    distance = 1.0
    for _ in range(6):  # |screen| <= reach · (distance − depth) for every point; then move to the middle of the screen
        local = (points - target) @ axes.T
        distance = max(float((np.abs(local[:, :2]) / reach + local[:, 2:]).max()), 1e-6)
        screen = local[:, :2] / (distance - local[:, 2:] + 1e-9)
        target = target + (screen.min(axis=0) + screen.max(axis=0)) / 2 * distance @ axes[:2]
    return target + back * distance / look.zoom, target


def on_screen(points: FloatArray, eye: FloatArray, target: FloatArray, size: tuple[int, int]) -> FloatArray:
    """(n, 2) pixels of points (n, 3) seen by the camera, which stands upright."""
    back = (eye - target) / np.linalg.norm(eye - target)
    right = np.cross([0.0, 0.0, 1.0], back)
    right /= np.linalg.norm(right)
    local = (points - eye) @ np.stack([right, np.cross(back, right), back]).T
    scale = 0.5 * size[1] / np.tan(np.radians(VIEW_ANGLE / 2))
    flat = scale * local[:, :2] / -local[:, 2:]
    return np.stack([0.5 * size[0] + flat[:, 0], 0.5 * size[1] - flat[:, 1]], axis=1)
