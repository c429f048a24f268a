"""Walls in the browser: grounds and planes as grids (2D: filled half planes), containers as boxes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from turgor.model.rotations import quaternion_of
from turgor.output.frame import Frame, WallLayout, WallPose
from turgor.viewer.draw.coordinates import upright

__all__ = ["ContainerNodes", "PlaneNodes", "WallNodes"]

FloatArray = npt.NDArray[np.float64]
FLOOR, GRID, GRID_DARK = (238, 241, 245), (214, 220, 228), (190, 198, 208)
WALL, EDGE = (255, 255, 255), (120, 132, 148)


class WallNodes:
    """Viser nodes that follow the pose of a wall."""

    handles: tuple[Any, ...] = ()

    def show(self, pose: WallPose) -> None:
        """Where it is now."""
        raise NotImplementedError

    def close(self) -> None:
        for handle in self.handles:
            handle.remove()


class PlaneNodes(WallNodes):
    """Ground or plane: in 3D a grid that takes shadows; in 2D the filled half space."""

    def __init__(
        self, api: Any, name: str, wall: WallLayout, pose: WallPose, dim: int, frame: Frame, radius: float
    ) -> None:
        normal = upright(np.array(wall.normal)[None])[0]
        middle = upright(frame.positions).mean(axis=0) if len(frame.positions) else np.zeros(3)
        origin = upright(pose.position[None])[0]
        self._offset = middle - origin - ((middle - origin) @ normal) * normal  # the part that is seen
        self._offset[:] = np.round(self._offset / radius) * radius
        if dim == 3:
            step = _round_length(0.35 * radius)
            grid = api.add_grid(
                name, width=40 * radius, height=40 * radius, plane="xy", cell_size=step, section_size=5 * step,
                cell_color=GRID, section_color=GRID_DARK, plane_color=FLOOR, plane_opacity=1.0, shadow_opacity=0.28,
                fade_distance=14 * radius, fade_strength=1.5, wxyz=_wxyz(_frame_of(normal)),
                position=origin + self._offset,
            )  # fmt: skip
            self.handles = (grid,)
            return
        along, reach = np.array([normal[2], 0.0, -normal[0]]), 30 * radius
        corners = [(-1, 0), (1, 0), (1, -1), (-1, -1)]
        quad = np.array([a * reach * along + b * reach * normal for a, b in corners])
        faces = np.array([[0, 2, 1], [0, 3, 2]])
        shape = api.add_mesh_simple(
            name, quad, faces, color=GRID, side="double", cast_shadow=False, receive_shadow=False,
            position=origin + self._offset,
        )  # fmt: skip
        line = api.add_line_segments(
            f"{name}-edge", np.array([[quad[0], quad[1]]]) - [[[0, 1e-3 * radius, 0]] * 2], EDGE, thickness=2.0,
            thickness_units="screen",
            position=origin + self._offset,
        )  # fmt: skip
        self.handles = (shape, line)

    def show(self, pose: WallPose) -> None:
        for handle in self.handles:
            handle.position = upright(pose.position[None])[0] + self._offset


class ContainerNodes(WallNodes):
    """Container: its edges, and the walls that are behind what is in it.

    Its corners are streamed like the vertices of bodies: a node's pose would be applied by the browser before them.
    """

    def __init__(
        self, api: Any, name: str, wall: WallLayout, pose: WallPose, dim: int, frame: Frame, radius: float
    ) -> None:
        half = np.array(wall.size) / 2
        signs = np.array(np.meshgrid(*[(-1, 1)] * dim, indexing="ij")).reshape(dim, -1).T
        self._corners = signs * half
        corners = self._points(pose)
        edges = [
            (a, b)
            for a in range(len(signs))
            for b in range(a + 1, len(signs))
            if np.abs(signs[a] - signs[b]).sum() == 2
        ]
        self._edges = np.array(edges)
        self._lines = api.add_line_segments(
            f"{name}-edges",
            corners[self._edges],
            EDGE,
            thickness=2.5 if dim == 3 else 4.0,
            thickness_units="screen",
        )
        self.handles = (self._lines,)
        if dim == 3:
            quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
            faces = np.array([t for a, b, c, d in quads for t in ((a, c, b), (a, d, c))])  # seen from inside
            self._walls = api.add_mesh_simple(
                f"{name}-walls", corners, faces, color=WALL, side="front", flat_shading=True, cast_shadow=False,
                receive_shadow=0.25, opacity=0.5,
            )  # fmt: skip
            self.handles = (self._lines, self._walls)

    def _points(self, pose: WallPose) -> FloatArray:
        return upright(self._corners @ pose.rotation.T + pose.position)

    def show(self, pose: WallPose) -> None:
        corners = self._points(pose).astype(np.float32)
        self._lines.points = corners[self._edges]
        if len(self.handles) > 1:
            self._walls.vertices = corners


def _wxyz(rotation: FloatArray) -> FloatArray:
    """Quaternion of a rotation matrix."""
    x, y, z, w = quaternion_of(rotation)
    return np.array([w, x, y, z])


def _frame_of(normal: FloatArray) -> FloatArray:
    """A rotation that turns z to the normal."""
    helper = np.array([1.0, 0.0, 0.0]) if abs(normal[0]) < 0.9 else np.array([0.0, 1.0, 0.0])
    y = np.cross(normal, helper)
    y /= np.linalg.norm(y)
    return np.stack([np.cross(y, normal), y, normal], axis=1)


def _round_length(length: float) -> float:
    power = 10.0 ** np.floor(np.log10(length))
    return float(power * min((1, 2, 5, 10), key=lambda part: abs(np.log(part * power / length))))
