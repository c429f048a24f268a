"""The 3D painter. Meshes and actors are made once, with the first frame; after that only arrays are exchanged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from turgor.errors import SceneError
from turgor.output.frame import BodyLayout, Frame, Layout, WallPose
from turgor.record import look as looks
from turgor.record.camera import camera_place, scene_points
from turgor.record.drawn_mesh import DrawnMesh, Texture
from turgor.record.geometry import is_closed, is_star_shaped, vertex_normals
from turgor.record.look import Color, Look, Pixels, ValueColors
from turgor.record.scenery import Floor, make_samples, make_walls, open_window
from turgor.record.skin import PICTURED, STREAMED, DrawnBody, Skin
from turgor.record.viewport import Viewport
from turgor.record.window import Window

__all__ = ["SolidPainter"]

FloatArray = npt.NDArray[np.float64]
Points = npt.NDArray[np.float32]
#: Strength and sharpness of the highlight: a wide one, as of rubber
SHINE = {"soft": (0.34, 14.0), "rigid": (0.18, 14.0), "cloth": (0.03, 4.0)}
LARGE = 800  # pixels: pictures that are higher show finer skins
MOST_ARROWS = 600  # per picture: more would hide the bodies
LINE = 1.0 / 480.0  # of the picture's height: width of an arrow; as thin as the red lines of Matyka 2007, figure 1
HEAD = 0.03  # of the scene's radius: length of an arrow's head, at most half of the arrow
SIDES = 10  # of the cone that is an arrow's head


class SolidPainter:
    """Draws frames of a 3D simulation with VTK, off-screen."""

    def __init__(self, layout: Layout, look: Look) -> None:
        self._layout = layout
        self._look = look
        self._values = ValueColors(look, layout) if look.color_by else None
        for body in layout.bodies:
            if body.texture is not None and body.uv is not None and look.texture is None:
                replace(look, texture=body.texture)  # SceneError if there is no such file, before any work
        self._window: Window | None = None

    def draw(self, frame: Frame) -> Pixels:
        self.aim(frame)
        positions = _finite(frame.positions)
        colors = self._values.vertex_colors(frame) if self._values else None
        points = self._skin.points(frame)
        shades = None if colors is None else self._skin.spread(colors)
        for surface in self._surfaces:
            surface.update(points, shades)
        samples = self._samples.at(positions) if self._samples else np.zeros((0, 3))
        for wall, pose in zip(self._walls, frame.walls, strict=True):
            wall.update(pose, samples)
        for arrows in self._arrows:
            arrows.update(positions, frame)
        moving = self._moving(points, frame)
        over = moving is not None and self._viewport.has_background and not self._covered(moving, frame)
        for wall in self._walls:
            if isinstance(wall, Floor):
                wall.show(not over)
        return self._viewport.draw(moving, over)

    def _covered(self, points: FloatArray, frame: Frame) -> bool:
        """Whether a floor may hide some of the points (n, 3)."""
        floors = zip(self._walls, frame.walls, strict=True)
        return any(wall.covers(points, pose) for wall, pose in floors if isinstance(wall, Floor))

    def _moving(self, points: Points, frame: Frame) -> FloatArray | None:
        """(n, 3) m: points around all that is not of the background; None if it is of no use."""
        still = all(
            np.array_equal(pose.position, before.position) and np.array_equal(pose.rotation, before.rotation)
            for pose, before in self._floors(frame)
        )
        if self._arrows or not still:
            return None
        return np.concatenate([points, *(wall.corners for wall in self._walls)])

    def _floors(self, frame: Frame) -> list[tuple[WallPose, WallPose]]:
        """Poses of floors now and at first."""
        both = zip(self._walls, frame.walls, self._first_poses, strict=True)
        return [(pose, before) for wall, pose, before in both if isinstance(wall, Floor)]

    def aim(self, *frames: Frame) -> None:
        if self._window is None:
            self._build(frames, _finite(frames[0].positions))

    def close(self) -> None:
        if self._window is not None:
            self._window.close()
            self._window = None

    def _build(self, frames: Sequence[Frame], positions: FloatArray) -> None:
        layout, look = self._layout, self._look
        points = np.concatenate([scene_points(layout, frame) for frame in frames])
        middle = (points.min(axis=0) + points.max(axis=0)) / 2
        radius = max(float(np.linalg.norm(points - middle, axis=1).max()), 1e-6)
        window = open_window(look)
        base = looks.base_colors(layout)
        self._walls = make_walls(window, layout, frames[0], middle, radius)
        self._first_poses = frames[0].walls
        tips = [look.arrow_tips(frame, radius) for frame in frames]
        eye, target = camera_place(np.concatenate([points, *tips]), look)
        window.camera.SetPosition(*eye)
        window.camera.SetFocalPoint(*target)
        window.camera.SetViewUp(0.0, 0.0, 1.0)
        distance = float(np.linalg.norm(eye - target))
        window.camera.SetClippingRange(0.08 * distance, distance + 14 * radius)  # VTK's own: too coarse for shadows
        self._viewport = Viewport(window, look.size, eye, target)
        if any(isinstance(wall, Floor) for wall in self._walls):  # else the background is not the same everywhere
            for wall in self._walls:
                wall.hide_moving()
            self._viewport.keep_background()
        self._skin = Skin(layout, frames[0], look.smooth, fine=PICTURED if look.size[1] > LARGE else STREAMED)
        drawn_points, uv = self._skin.points(frames[0]), self._skin.texture_coordinates()
        self._surfaces = [
            _Surface(
                window,
                body,
                drawn,
                color,
                drawn_points,
                None if body.uv is None else uv,
                look,
                self._skin.corner_uv(number),
            )
            for number, (body, drawn, color) in enumerate(zip(layout.bodies, self._skin.bodies, base, strict=True))
            if len(body.faces)
        ]
        self._samples = make_samples(layout, positions)
        self._arrows = []
        if look.velocities:
            self._arrows.append(
                _Arrows(window, layout, looks.VELOCITY, radius, look.arrow_seconds(radius), look.size[1])
            )
        if look.normals:
            self._arrows.append(_Arrows(window, layout, looks.NORMAL, radius, None, look.size[1]))
        self._window = window


def _finite(values: npt.ArrayLike) -> FloatArray:
    """VTK may hang on nan; a picture of a run that exploded must come out all the same."""
    return np.nan_to_num(np.asarray(values, np.float64), posinf=0.0, neginf=0.0)


class _Surface:
    """The surface of one body."""

    def __init__(
        self,
        window: Window,
        body: BodyLayout,
        drawn: DrawnBody,
        color: Color,
        points: Points,
        uv: Any,
        look: Look,
        corner_uv: FloatArray | None = None,
    ) -> None:
        self._ids, self._faces = drawn.points, drawn.faces
        painted = corner_uv is not None and body.texture is not None and not look.color_by and look.texture != "none"
        faces = drawn.faces
        self._copies: npt.NDArray[np.int64] | slice = slice(None)  # of the points: one more for each side of a seam
        if painted and corner_uv is not None:
            rows = np.column_stack([drawn.faces.reshape(-1, 1), np.round(corner_uv.reshape(-1, 2), 6)])
            kept, inverse = np.unique(rows, axis=0, return_inverse=True)
            faces, self._copies = inverse.reshape(-1, 3), kept[:, 0].astype(np.int64)
        coordinates, texture = None, None
        if not look.color_by and uv is not None and look.texture != "none":
            coordinates, texture = uv[self._ids], _cloth_texture(look.texture or body.texture, color)
        elif painted:
            coordinates, texture = kept[:, 1:], _image(str(body.texture))
        self._mesh = DrawnMesh(
            points[self._ids][self._copies], faces, normals=True, colors=look.color_by is not None, uv=coordinates
        )
        self._closed = is_closed(np.asarray(body.faces))
        glow = 0.46 if body.kind == "cloth" else 0.42
        self._actor = window.add(
            self._mesh.data,
            color=color if texture is None else (1.0, 1.0, 1.0),
            ambient=glow,
            diffuse=2 * glow,
            highlight=SHINE.get(body.kind, SHINE["soft"]),
            texture=texture,
        )

    def update(self, points: Points, colors: FloatArray | None) -> None:
        own = points[self._ids]
        normals = vertex_normals(own, self._faces)[self._copies]
        self._mesh.update(own[self._copies], normals, None if colors is None else colors[self._ids] * 255)
        inside_hidden = self._closed and is_star_shaped(own, self._faces)
        self._actor.GetProperty().SetBackfaceCulling(inside_hidden)  # its other side need not be drawn


def _cloth_texture(name: str | Path | None, color: Color) -> Texture:
    return Texture(looks.flag_texture(color)) if name is None else _image(str(name))


def _image(path: str) -> Texture:
    from PIL import Image

    if not Path(path).is_file():
        raise SceneError(f"texture {path}: there is no such file; put it back, load the mesh again, or give a color")
    try:
        with Image.open(path) as image:
            return Texture(np.asarray(image.convert("RGBA" if image.has_transparency_data else "RGB")))
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise SceneError(f"texture {path}: not a picture that can be read ({error})") from None


class _Arrows:
    """Arrows at the vertices: the path in `seconds` at the present velocity, or (None) outward normals.

    Thin lines with small heads, whatever their length: long ones must not hide the body behind a curtain.
    """

    def __init__(
        self, window: Window, layout: Layout, color: Color, radius: float, seconds: float | None, height: int
    ) -> None:
        self._layout, self._radius, self._seconds = layout, radius, seconds
        self._chosen = np.arange(0, layout.vertices, 1 + layout.vertices // MOST_ARROWS)
        count = len(self._chosen)
        shafts = np.stack([np.arange(count), count + np.arange(count)], axis=1)
        self._lines = DrawnMesh(np.zeros((2 * count, 3)), shafts)
        window.add(self._lines.data, color=color, lit=False, line_width=max(1.0, LINE * height))
        around = np.arange(SIDES)
        cone = np.stack([np.full(SIDES, SIDES), around, np.roll(around, -1)], axis=1)  # the tip comes last
        base = np.stack([np.zeros(SIDES - 2, np.int64), around[2:], around[1:-1]], axis=1)
        cells = np.concatenate([cone, base]) + (SIDES + 1) * np.arange(count)[:, None, None]
        self._heads = DrawnMesh(np.zeros(((SIDES + 1) * count, 3)), cells.reshape(-1, 3))
        window.add(self._heads.data, color=color, lit=False)

    def update(self, positions: FloatArray, frame: Frame) -> None:
        if self._seconds is None:
            vectors = np.zeros_like(positions)
            for body in self._layout.bodies:
                own = slice(body.start, body.start + body.count)
                vectors[own] = vertex_normals(positions[own], np.asarray(body.faces, np.int64)) * 0.09 * self._radius
        else:
            vectors = _finite(frame.velocities) * self._seconds
        start, vector = positions[self._chosen], vectors[self._chosen]
        tip = start + vector
        self._lines.update(np.concatenate([start, tip]))
        length = np.linalg.norm(vector, axis=1, keepdims=True)
        ahead = vector / np.maximum(length, 1e-30)
        head = np.minimum(0.5 * length, HEAD * self._radius)
        aside = np.cross(ahead, np.where(np.abs(ahead[:, :1]) < 0.9, (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)))
        aside /= np.maximum(np.linalg.norm(aside, axis=1, keepdims=True), 1e-30)
        angle = 2.0 * np.pi * np.arange(SIDES)[None, :, None] / SIDES
        turned = np.cos(angle) * aside[:, None] + np.sin(angle) * np.cross(ahead, aside)[:, None]
        ring = (tip - head * ahead)[:, None] + 0.3 * head[:, None] * turned
        self._heads.update(np.concatenate([ring, tip[:, None]], axis=1).reshape(-1, 3))
