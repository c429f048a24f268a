"""Velocity vectors, in red, and outward normals at the vertices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from turgor.output.frame import Frame, Layout
from turgor.record.geometry import vertex_normals
from turgor.record.look import NORMAL, Look
from turgor.viewer.draw.overlays import Overlay
from turgor.viewer.draw.scene_nodes import rgb

if TYPE_CHECKING:
    from turgor.viewer.draw.picture import Picture

__all__ = ["MOST", "Normals", "Velocities", "chosen_vertices", "outward_normals"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

RED = (216, 20, 32)
MOST = 2000  # arrows: more would hide the bodies
SHAFT, HEAD, HEAD_LENGTH = 0.0022, 0.0075, 0.022  # of the scene's radius
NORMAL_LENGTH = 0.045  # of the scene's radius
IN_FRONT = 0.020  # of the scene's radius, in 2D


def chosen_vertices(layout: Layout) -> IntArray:
    """All vertices, or every second, third ... so that there are at most MOST."""
    return np.arange(0, layout.vertices, max(1, -(-layout.vertices // MOST)))


def outward_normals(positions: FloatArray, layout: Layout) -> FloatArray:
    """(vertices, dim) unit normals; outlines of 2D bodies run counter-clockwise."""
    parts = [np.zeros((0, layout.dim), np.int64)]
    parts += [np.asarray(body.faces, np.int64) + body.start for body in layout.bodies]
    faces = np.concatenate(parts)
    if layout.dim == 3:
        return vertex_normals(positions, faces)
    along = positions[faces[:, 1]] - positions[faces[:, 0]]
    normals = np.zeros_like(positions)
    for corner in (0, 1):
        normals[:, 0] += np.bincount(faces[:, corner], along[:, 1], len(positions))
        normals[:, 1] -= np.bincount(faces[:, corner], along[:, 0], len(positions))
    return np.asarray(normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30))


class Velocities(Overlay):
    """Red arrows as long as the distance covered in `seconds`; those shorter than an arrow's head are left out."""

    def __init__(self, picture: Picture) -> None:
        super().__init__(picture)
        self.seconds = Look().arrow_seconds(self._radius)
        self.chosen = chosen_vertices(self._layout)
        api, radius = picture.server.scene, self._radius
        self._arrows = self._add(
            lambda points: api.add_arrows(
                "/overlay-velocities", points, RED,
                shaft_radius=SHAFT * radius, head_radius=HEAD * radius, head_length=HEAD_LENGTH * radius,
            )
        )  # fmt: skip

    def show(self, frame: Frame) -> None:
        arrows = self.seconds * frame.velocities[self.chosen]
        seen = np.linalg.norm(arrows, axis=1) >= HEAD_LENGTH * self._radius
        start = frame.positions[self.chosen][seen]
        self._arrows.show(np.stack([start, start + arrows[seen]], axis=1), IN_FRONT)


class Normals(Overlay):
    """Thin lines along the outward normals."""

    def __init__(self, picture: Picture) -> None:
        super().__init__(picture)
        self._chosen = chosen_vertices(self._layout)
        self._along = self._lines("/overlay-normals", rgb(NORMAL), 1.2)

    def show(self, frame: Frame) -> None:
        start = frame.positions[self._chosen]
        along = NORMAL_LENGTH * self._radius * outward_normals(frame.positions, self._layout)[self._chosen]
        self._along.show(np.stack([start, start + along], axis=1), 0.006)
