"""The camera of an exported scene: where that of a picture would stand to see the whole motion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from turgor.output.frame import Frame, Layout
from turgor.record.camera import VIEW_ANGLE, camera_place, scene_points
from turgor.record.exchange.wall_meshes import Bounds
from turgor.record.look import Look

__all__ = ["ASPECT", "View", "view_of"]

FloatArray = npt.NDArray[np.float64]
ASPECT = 16 / 9  # width by height


@dataclass(frozen=True)
class View:
    """A camera."""

    eye: FloatArray  # (3,) m
    axes: FloatArray  # (3, 3) columns: right, up, back
    distance: float  # m: to the middle of the scene
    angle: float = VIEW_ANGLE  # degrees, vertical


def view_of(layout: Layout, first: Frame, bounds: Bounds) -> View:
    """In 2D it looks along −z."""
    if layout.dim == 2:
        distance = 1.2 * bounds.radius / float(np.tan(np.radians(VIEW_ANGLE / 2)))
        return View(bounds.middle + np.array([0.0, 0.0, distance]), np.eye(3), distance)
    eye, target = camera_place(np.concatenate([scene_points(layout, first), bounds.corners]), Look())
    distance = float(np.linalg.norm(eye - target))
    back = (eye - target) / distance
    right = np.cross([0.0, 0.0, 1.0], back)
    right /= np.linalg.norm(right)
    return View(eye, np.stack([right, np.cross(back, right), back], axis=1), distance)
