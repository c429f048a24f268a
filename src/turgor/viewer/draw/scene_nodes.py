"""The scene in the browser: bodies, walls and light as viser nodes. Needs no controls and no clients."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from turgor.output.frame import Frame, Layout
from turgor.record.look import base_colors
from turgor.record.shadow import LIGHT
from turgor.record.skin import STREAMED, Skin
from turgor.viewer.draw.body_meshes import DrawnMesh, joined, meshes_of
from turgor.viewer.draw.camera import radius_of
from turgor.viewer.draw.coordinates import upright
from turgor.viewer.draw.wall_nodes import ContainerNodes, PlaneNodes, WallNodes

__all__ = ["UNIT", "BodyNode", "SceneNodes", "rgb"]

FloatArray = npt.NDArray[np.float64]
Points = npt.NDArray[np.float32]
# m, a power of 2 (exact): unit of the points that are sent. At each update viser (1.1) copies a mesh of less than 1,024
# points and more than 0.1 units for the outline under the pointer, and takes the copy, not placed yet, for the body.
UNIT = 1024.0
MANY = 40  # more bodies than this share nodes, one per colour: a browser draws few large meshes faster than many small
FULL_LIGHT = math.pi  # of an ambient light that shows a surface in its own colour (three.js divides by π)
SKY_LIGHT, GROUND_LIGHT = 1.9, (196, 202, 212)
SUN = 2.3, tuple((-100.0 * LIGHT).tolist())  # strength, and where it is seen from the middle, at any distance


@dataclass(frozen=True)
class BodyNode:
    """One mesh in the browser, and the bodies that are drawn by it."""

    handle: Any
    mesh: DrawnMesh
    names: tuple[str, ...]


class SceneNodes:
    """The viser nodes of one layout."""

    def __init__(
        self,
        scene_api: Any,
        layout: Layout,
        frame: Frame,
        textures: Mapping[str, str | None] | None = None,
        shadows: bool = True,
        smooth: bool = True,
        shape: FloatArray | None = None,
    ) -> None:
        """smooth: coarse bodies with a smooth skin; else the triangles of the physics, as a wireframe needs them.
        shape: (vertices, dim) m, positions that have the sharp edges; default: those of the frame.
        """
        self.layout = layout
        self.skin = Skin(layout, frame, smooth, shape, STREAMED)
        self.bodies: list[BodyNode] = []
        self.radius = radius_of(layout, frame)  # m: half the diagonal of what the camera shows
        self._walls: list[WallNodes] = []
        self._outlines = _Outlines(scene_api, layout, self.skin, self.radius) if layout.dim == 2 else None
        self._lights = _lights(scene_api, layout.dim, shadows)
        flat = self.skin.points(frame)
        self.points = upright(flat)  # (skin's count, 3) m: of the frame that is shown, in the view
        self._frame = frame
        for number, (names, mesh) in enumerate(_body_meshes(layout, self.skin, flat, textures or {})):
            handle = scene_api.add_mesh_simple(
                f"/bodies/{number:03d}-{_plain(names[0])}",
                mesh.points(self.points) / UNIT,
                mesh.faces,
                scale=UNIT,
                color=rgb(mesh.color),
                side="double" if mesh.double else "front",
                cast_shadow=layout.dim == 3,
                receive_shadow=layout.dim == 3,
            )
            self.bodies.append(BodyNode(handle, mesh, names))
        for number, (wall, pose) in enumerate(zip(layout.walls, frame.walls, strict=True)):
            make = ContainerNodes if wall.kind == "container" else PlaneNodes
            self._walls.append(make(scene_api, f"/walls/{number:02d}", wall, pose, layout.dim, frame, self.radius))
        if self._outlines:
            self._outlines.show(self.points)

    def show(self, frame: Frame) -> None:
        """Stream one frame: of what is where it was, nothing."""
        moved = {
            body.name
            for body in self.layout.bodies
            if not np.array_equal(
                frame.positions[body.start : body.start + body.count],
                self._frame.positions[body.start : body.start + body.count],
            )
        }
        self._frame = frame
        if moved:
            self.points = upright(self.skin.points(frame))
        for node in self.bodies:
            if not moved.isdisjoint(node.names):
                node.handle.vertices = node.mesh.points(self.points) / UNIT
        for wall, pose in zip(self._walls, frame.walls, strict=True):
            wall.show(pose)
        if self._outlines and moved:
            self._outlines.show(self.points)

    def points_of(self, frame: Frame) -> FloatArray:
        """(skin's count, 3) m of the view: where the points of the skin are in a frame."""
        return self.points if frame is self._frame else upright(self.skin.points(frame))

    @property
    def scenery(self) -> list[Any]:
        """The nodes of what is around the bodies."""
        return [handle for wall in self._walls for handle in wall.handles]

    def set_wireframe(self, wanted: bool) -> None:
        """Bodies as their triangles' edges."""
        for node in self.bodies:
            node.handle.wireframe = wanted

    def set_shadows(self, wanted: bool) -> None:
        """Whether the sun of a 3D scene casts shadows."""
        if self.layout.dim == 3 and self._lights[0].cast_shadow != wanted:
            self._lights[0].cast_shadow = wanted

    def set_visible(self, wanted: bool) -> None:
        """Show or hide the bodies."""
        for node in self.bodies:
            node.handle.visible = wanted

    def close(self) -> None:
        """Take all nodes away."""
        for node in self.bodies:
            node.handle.remove()
        for wall in self._walls:
            wall.close()
        if self._outlines:
            self._outlines.close()
        for light in self._lights:
            light.remove()
        self.bodies, self._walls, self._outlines = [], [], None


def _lights(api: Any, dim: int, shadows: bool) -> tuple[Any, ...]:
    """3D: a sun with shadows and a soft sky; 2D: the same light everywhere, so that colours are as they were given."""
    api.world_axes.visible = False
    api.configure_environment_map(None)
    api.configure_default_lights(enabled=False, cast_shadow=False)
    if dim == 2:
        return (api.add_light_ambient("/light", intensity=FULL_LIGHT),)
    return (
        api.add_light_directional("/light-sun", intensity=SUN[0], position=SUN[1], cast_shadow=shadows),
        api.add_light_hemisphere("/light", sky_color=(255, 255, 255), ground_color=GROUND_LIGHT, intensity=SKY_LIGHT),
    )


def rgb(color: tuple[float, float, float]) -> tuple[int, int, int]:
    """0..1 -> 0..255."""
    red, green, blue = (round(255 * part) for part in color)
    return red, green, blue


def _plain(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)


def _body_meshes(
    layout: Layout, skin: Skin, points: Points, textures: Mapping[str, str | None]
) -> list[tuple[tuple[str, ...], DrawnMesh]]:
    """What is drawn, and of which bodies it is."""
    single: list[tuple[tuple[str, ...], DrawnMesh]] = []
    uv = skin.texture_coordinates()
    for body, drawn, color in zip(layout.bodies, skin.bodies, base_colors(layout), strict=True):
        own = None if body.uv is None else uv
        meshes = meshes_of(body, drawn, points, own, color, textures.get(body.name))
        single += [((body.name,), mesh) for mesh in meshes]
    if len(layout.bodies) <= MANY:
        return single
    groups: dict[Any, list[tuple[tuple[str, ...], DrawnMesh]]] = {}
    for names, mesh in single:
        key = (mesh.color, mesh.double) if mesh.weights is None else names
        groups.setdefault(key, []).append((names, mesh))
    return [
        (tuple(name for names, _ in group for name in names), joined([mesh for _, mesh in group]))
        if len(group) > 1
        else group[0]
        for group in groups.values()
    ]


class _Outlines:
    """The outlines of all 2D bodies, in a darker shade, as one node."""

    def __init__(self, api: Any, layout: Layout, skin: Skin, radius: float) -> None:
        pairs, shades = [np.zeros((0, 2), np.int64)], [np.zeros((0, 3))]
        for drawn, color in zip(skin.bodies, base_colors(layout), strict=True):
            pairs.append(drawn.points[drawn.faces])
            shades.append(np.tile(0.62 * np.array(color), (len(drawn.faces), 1)))
        self._pairs = np.concatenate(pairs)
        self._front = np.array([0.0, -2e-3 * radius, 0.0], np.float32)
        colors = np.repeat(np.concatenate(shades)[:, None], 2, axis=1)
        self._handle: Any = None
        if len(self._pairs):
            start = np.zeros((len(self._pairs), 2, 3))
            self._handle = api.add_line_segments(
                "/outlines", start, (255 * colors).astype(np.uint8), thickness=2.0, thickness_units="screen"
            )

    def show(self, points: FloatArray) -> None:
        if self._handle is not None:
            self._handle.points = (points + self._front)[self._pairs].astype(np.float32)

    def close(self) -> None:
        if self._handle is not None:
            self._handle.remove()
