"""What a camera sees: where points are in its picture, and where at the picture's edge one is marked that is not."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Sight"]

FloatArray = npt.NDArray[np.float64]
UP = np.array([0.0, 0.0, 1.0])
EDGE = 0.94  # of half the picture: where marks are


@dataclass(frozen=True)
class Sight:
    """A camera that stands upright."""

    eye: FloatArray  # (3,) m
    target: FloatArray  # (3,) m
    fov: float  # rad, vertical
    aspect: float  # width over height

    @staticmethod
    def of(camera: Any) -> Sight:
        """Of a client of viser's."""
        return Sight(np.array(camera.position), np.array(camera.look_at), float(camera.fov), float(camera.aspect))

    @property
    def distance(self) -> float:
        """m from the eye to the target."""
        return float(np.linalg.norm(self.target - self.eye))

    @property
    def half_size(self) -> FloatArray:
        """(2,) m: half the width and the height of the picture at the target."""
        return self.distance * math.tan(self.fov / 2) * np.array([self.aspect, 1.0])

    @property
    def axes(self) -> FloatArray:
        """(3, 3): to the right, up and ahead in the picture."""
        ahead = (self.target - self.eye) / max(self.distance, 1e-12)
        right = np.cross(ahead, UP)
        right = right / np.linalg.norm(right) if np.linalg.norm(right) > 1e-9 else np.array([1.0, 0.0, 0.0])
        return np.stack([right, np.cross(right, ahead), ahead])

    def places(self, points: FloatArray) -> FloatArray:
        """(n, 2): where points (n, 3) are, in half pictures from its middle to the right and up; inf behind the eye."""
        local = (points - self.eye) @ self.axes.T
        depth = np.where(local[:, 2] > 1e-9, local[:, 2], np.nan)[:, None]
        return np.nan_to_num(local[:, :2] * self.distance / depth / self.half_size, nan=np.inf)

    def sees(self, points: FloatArray) -> bool:
        """Whether one of the points is in the picture."""
        return bool((np.abs(self.places(points)).max(axis=1) <= 1.0).any())

    def at_edge(self, point: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The place at the picture's edge (2,) towards a point, and a point (3,) m in space that appears there."""
        local = self.axes @ (point - self.eye)
        way = local[:2] / self.half_size
        if np.abs(way).max() < 1e-9:  # straight behind
            way = np.array([0.0, -1.0])
        place = EDGE * way / np.abs(way).max()
        across = place * self.half_size
        return place, self.eye + self.axes.T @ np.array([*across, self.distance])
