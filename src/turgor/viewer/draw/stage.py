"""The scene in the browser: bodies, walls, light and camera as viser nodes. Needs no panels and no clients."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from turgor.model.rotations import quaternion_of
from turgor.output.frame import Frame, Layout, WallLayout, WallPose
from turgor.record.camera import VIEW_ANGLE, camera_place, scene_points
from turgor.record.look import Look, base_colors
from turgor.viewer.draw.skins import Skin, body_skins, joined, upright

__all__ = ["Node", "Stage", "View", "view_of"]

FloatArray = npt.NDArray[np.float64]
MANY = 40  # more bodies than this share nodes, one per colour: a browser draws few large meshes faster than many small
FLAT_FOV = 2.0  # degrees: viser has no camera without perspective, so a 2D scene is seen from far away
FLOOR, GRID, GRID_DARK = (238, 241, 245), (214, 220, 228), (190, 198, 208)
FULL_LIGHT = math.pi  # of an ambient light that shows a surface in its own colour (three.js divides by π)
SKY_LIGHT, GROUND_LIGHT = 1.9, (205, 210, 218)
WALL, EDGE = (243, 245, 248), (120, 132, 148)


@dataclass(frozen=True)
class View:
    """A camera. fov in radians, vertical."""

    position: tuple[float, float, float]
    look_at: tuple[float, float, float]
    fov: float
    near: float
    far: float


@dataclass(frozen=True)
class Node:
    """One mesh in the browser, and the bodies that are drawn by it."""

    handle: Any
    skin: Skin
    names: tuple[str, ...]


class Stage:
    """The viser nodes of one layout."""

    def __init__(
        self,
        scene_api: Any,
        layout: Layout,
        frame: Frame,
        textures: Mapping[str, str | None] | None = None,
        shadows: bool = True,
    ) -> None:
        self._api = scene_api
        self.layout = layout
        self.nodes: list[Node] = []
        self._walls: list[_Wall] = []
        self._radius = radius_of(layout, frame)
        self._outlines = _Outlines(scene_api, layout, self._radius) if layout.dim == 2 else None
        self._light = _light(scene_api, layout.dim, shadows)
        positions = upright(frame.positions)
        for number, (names, skin) in enumerate(_skins(layout, frame, textures or {})):
            handle = scene_api.add_mesh_simple(
                f"/bodies/{number:03d}-{_plain(names[0])}",
                skin.points(positions),
                skin.faces,
                color=rgb(skin.color),
                side="double" if skin.double else "front",
                cast_shadow=layout.dim == 3,
                receive_shadow=layout.dim == 3,
            )
            self.nodes.append(Node(handle, skin, names))
        for number, (wall, pose) in enumerate(zip(layout.walls, frame.walls, strict=True)):
            make = _Box if wall.kind == "container" else _Plane
            self._walls.append(make(scene_api, f"/walls/{number:02d}", wall, pose, layout.dim, frame, self._radius))
        if self._outlines:
            self._outlines.show(positions)

    def show(self, frame: Frame) -> None:
        """Stream one frame."""
        positions = upright(frame.positions)
        for node in self.nodes:
            node.handle.vertices = node.skin.points(positions)
        for wall, pose in zip(self._walls, frame.walls, strict=True):
            wall.show(pose)
        if self._outlines:
            self._outlines.show(positions)

    def set_wireframe(self, wanted: bool) -> None:
        """Bodies as their triangles' edges."""
        for node in self.nodes:
            node.handle.wireframe = wanted

    def set_visible(self, wanted: bool) -> None:
        """Show or hide the bodies."""
        for node in self.nodes:
            node.handle.visible = wanted

    @property
    def radius(self) -> float:
        """m: half the diagonal of what the camera shows."""
        return self._radius

    def close(self) -> None:
        """Take all nodes away."""
        for node in self.nodes:
            node.handle.remove()
        for wall in self._walls:
            wall.close()
        if self._outlines:
            self._outlines.close()
        self._light.remove()
        self.nodes, self._walls, self._outlines = [], [], None


def _light(api: Any, dim: int, shadows: bool) -> Any:
    """3D: a sun with shadows and a soft sky; 2D: the same light everywhere, so that colours are as they were given."""
    api.world_axes.visible = False
    api.configure_environment_map(None)
    api.configure_default_lights(enabled=dim == 3, cast_shadow=shadows)
    if dim == 2:
        return api.add_light_ambient("/light", intensity=FULL_LIGHT)
    return api.add_light_hemisphere("/light", sky_color=(255, 255, 255), ground_color=GROUND_LIGHT, intensity=SKY_LIGHT)


def rgb(color: tuple[float, float, float]) -> tuple[int, int, int]:
    """0..1 -> 0..255."""
    red, green, blue = (round(255 * part) for part in color)
    return red, green, blue


def _plain(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)


def _skins(layout: Layout, frame: Frame, textures: Mapping[str, str | None]) -> list[tuple[tuple[str, ...], Skin]]:
    """What is drawn, and of which bodies it is."""
    single: list[tuple[tuple[str, ...], Skin]] = []
    for body, color in zip(layout.bodies, base_colors(layout), strict=True):
        points = frame.positions[body.start : body.start + body.count]
        skins = body_skins(body, points, color, textures.get(body.name))
        single += [((body.name,), skin) for skin in skins]
    if len(layout.bodies) <= MANY:
        return single
    groups: dict[Any, list[tuple[tuple[str, ...], Skin]]] = {}
    for names, skin in single:
        key = (skin.color, skin.double) if skin.weights is None else names
        groups.setdefault(key, []).append((names, skin))
    return [
        (tuple(name for names, _ in group for name in names), joined([skin for _, skin in group]))
        if len(group) > 1
        else group[0]
        for group in groups.values()
    ]


# walls ------------------------------------------------------------------------------------------------------------


class _Wall:
    """Nodes that follow the pose of a wall."""

    handles: tuple[Any, ...] = ()

    def show(self, pose: WallPose) -> None:
        """Where it is now."""
        raise NotImplementedError

    def close(self) -> None:
        for handle in self.handles:
            handle.remove()


class _Plane(_Wall):
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


class _Box(_Wall):
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
            faces = np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])
            self._walls = api.add_mesh_simple(
                f"{name}-walls", corners, faces, color=WALL, side="back", flat_shading=True, cast_shadow=False,
                receive_shadow=0.25,
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


class _Outlines:
    """The outlines of all 2D bodies, in a darker shade, as one node."""

    def __init__(self, api: Any, layout: Layout, radius: float) -> None:
        pairs, shades = [np.zeros((0, 2), np.int64)], [np.zeros((0, 3))]
        for body, color in zip(layout.bodies, base_colors(layout), strict=True):
            pairs.append(np.asarray(body.faces, np.int64) + body.start)
            shades.append(np.tile(0.62 * np.array(color), (len(body.faces), 1)))
        self._pairs = np.concatenate(pairs)
        self._front = np.array([0.0, -2e-3 * radius, 0.0])
        colors = np.repeat(np.concatenate(shades)[:, None], 2, axis=1)
        self._handle: Any = None
        if len(self._pairs):
            start = np.zeros((len(self._pairs), 2, 3))
            self._handle = api.add_line_segments(
                "/outlines", start, (255 * colors).astype(np.uint8), thickness=2.0, thickness_units="screen"
            )

    def show(self, positions: FloatArray) -> None:
        if self._handle is not None:
            self._handle.points = (positions + self._front)[self._pairs].astype(np.float32)

    def close(self) -> None:
        if self._handle is not None:
            self._handle.remove()


# camera -------------------------------------------------------------------------------------------------------------


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
    points = _shown_points(layout, frame)
    return max(float(np.linalg.norm(np.ptp(points, axis=0))) / 2, 1e-3)


def view_of(layout: Layout, frame: Frame, aspect: float = 1.6) -> View:
    """A camera that shows the whole scene; 2D from the front, practically without perspective."""
    points = _shown_points(layout, frame)
    radius = max(float(np.linalg.norm(np.ptp(points, axis=0))) / 2, 1e-3)
    if layout.dim == 3:
        eye, target = camera_place(points, Look(size=(round(720 * aspect), 720)))
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
