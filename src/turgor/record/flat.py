"""The 2D painter: filled outlines, drawn with Pillow; it needs no graphics driver and takes any outline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from turgor.output.frame import Frame, Layout, WallLayout, WallPose
from turgor.record import look as looks
from turgor.record.geometry import loops
from turgor.record.look import Look, Pixels, ValueColors
from turgor.record.skin import Skin

__all__ = ["FlatPainter"]

FloatArray = npt.NDArray[np.float64]
ROUND = 12  # vertices from which on a rigid outline may be a wheel
FINE = 2  # drawn this much larger, then averaged: smooth edges


class FlatPainter:
    """Draws frames of a 2D simulation; the view is fixed by the first one."""

    def __init__(self, layout: Layout, look: Look) -> None:
        self._layout = layout
        self._look = look
        self._colors = looks.base_colors(layout)
        self._values = ValueColors(look, layout) if look.color_by else None
        self._skin: Skin | None = None
        self._chains: list[Any] = []
        self._scale = 0.0  # fine pixels per metre
        self._middle = np.zeros(2)
        self._radius = 1.0  # of the scene, metres
        self._background: Pixels = np.zeros((0, 0, 3), np.uint8)

    def draw(self, frame: Frame) -> Pixels:
        from PIL import Image, ImageDraw

        self.aim(frame)
        image = Image.fromarray(self._background)
        pen = ImageDraw.Draw(image)
        for wall, pose in zip(self._layout.walls, frame.walls, strict=True):
            self._draw_wall(pen, wall, pose)
        values = self._values.vertex_colors(frame) if self._values else None
        points = self._pixels(self._skin.points(frame).astype(np.float64)) if self._skin else np.zeros((0, 2))
        for number, body in enumerate(self._layout.bodies):
            color = np.array(self._colors[number])
            if values is not None:
                color = values[body.start : body.start + body.count].mean(axis=0)
            self._draw_body(pen, points, self._chains[number], color)
            if body.kind == "rigid" and body.count >= ROUND:  # a spoke shows how it turns
                own = points[body.start : body.start + body.count]
                spoke = np.array([own.mean(axis=0), own[0]])
                pen.line(_flat(spoke), fill=_ink(color * 0.62), width=self._width(0.004))
        if self._look.normals:
            self._draw_normals(pen, frame)
        if self._look.velocities:
            seconds = self._look.arrow_seconds(self._radius)
            for start, vector in zip(self._pixels(frame.positions), frame.velocities * seconds, strict=True):
                self._arrow(pen, start, vector * (1, -1) * self._scale, looks.VELOCITY)
        return np.asarray(image.reduce(FINE))

    def aim(self, *frames: Frame) -> None:
        if self._scale == 0:
            self._set_view(frames)
            self._skin = Skin(self._layout, frames[0], self._look.smooth)
            self._chains = [loops(body.points[body.faces]) for body in self._skin.bodies]
            self._background = self._paint_background()

    def close(self) -> None:
        """Nothing to free."""

    def _set_view(self, frames: Sequence[Frame]) -> None:
        points = np.concatenate([self._seen(frame) for frame in frames])
        low, high = points.min(axis=0), points.max(axis=0)
        self._radius = max(float(np.linalg.norm(high - low)) / 2, 1e-9)
        points = np.concatenate([points, *(self._look.arrow_tips(frame, self._radius) for frame in frames)])
        low, high = points.min(axis=0), points.max(axis=0)
        room = np.maximum(high - low, 0.2 * self._radius) * 1.24
        size = np.array(self._look.size) * FINE
        self._scale = float((size / room).min()) * self._look.zoom
        self._middle = (low + high) / 2

    def _seen(self, frame: Frame) -> FloatArray:
        """Points that must be in view: bodies, their feet on the ground, containers."""
        parts = [np.nan_to_num(frame.positions)]
        for wall, pose in zip(self._layout.walls, frame.walls, strict=True):
            if wall.kind == "container":  # it may turn: keep the whole circle in view
                parts.append(pose.position + np.linalg.norm(wall.size) / 2 * np.array([[1, 1], [-1, -1]]))
            elif (normal := pose.rotation @ np.array(wall.normal))[1] > 0.5:
                parts.append(parts[0] - ((parts[0] - pose.position) @ normal)[:, None] * normal)
        return np.concatenate(parts)

    def _pixels(self, points: FloatArray) -> FloatArray:
        """World -> fine pixels; far points are cut so that Pillow's integers do not overflow."""
        size = np.array(self._look.size) * FINE
        pixels = (np.nan_to_num(points) - self._middle) * (1, -1) * self._scale + size / 2
        return np.asarray(np.clip(pixels, -1e5, 1e5))

    def _paint_background(self) -> Pixels:
        width, height = (FINE * side for side in self._look.size)
        ramp = np.linspace(looks.SKY_TOP, looks.SKY_BOTTOM, height)[:, None, :]
        return np.asarray(np.broadcast_to(ramp * 255, (height, width, 3)), np.uint8)

    def _width(self, part: float) -> int:
        return max(FINE, round(self._look.size[1] * FINE * part))

    def _draw_wall(self, pen: Any, wall: WallLayout, pose: WallPose) -> None:
        width = self._width(0.005)
        if wall.kind == "container":
            corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1], [1, -1]]) * np.array(wall.size) / 2
            path = self._pixels(corners @ pose.rotation.T + pose.position)
            pen.polygon(_flat(path[:4]), fill=_ink(np.array(looks.FLOOR)))
            pen.line(_flat(path), fill=_ink(np.array(looks.EDGE)), width=width, joint="curve")
            return
        normal = pose.rotation @ np.array(wall.normal)
        along = np.array([normal[1], -normal[0]])
        far = 10 * sum(self._look.size) * FINE / self._scale
        point = pose.position + ((self._middle - pose.position) @ along) * along
        a, b = point - far * along, point + far * along
        solid = self._pixels(np.array([a, b, b - far * normal, a - far * normal]))
        pen.polygon(_flat(solid), fill=_ink(np.array(looks.FLOOR_DARK)))
        pen.line(_flat(solid[:2]), fill=_ink(np.array(looks.EDGE)), width=width)

    def _draw_body(self, pen: Any, points: FloatArray, chains: Any, color: FloatArray) -> None:
        closed, opened = chains
        width, dark = self._width(0.006), _ink(color * 0.62)
        for loop in closed:
            pen.polygon(_flat(points[loop]), fill=_ink(color))
        for chain in [*(np.append(loop, loop[:2]) for loop in closed), *opened]:
            pen.line(_flat(points[chain]), fill=dark, width=width, joint="curve")

    def _draw_normals(self, pen: Any, frame: Frame) -> None:
        """Outward normals at the middle of each edge; outlines run counter-clockwise."""
        for body in self._layout.bodies:
            points = self._pixels(frame.positions[body.start : body.start + body.count])[np.asarray(body.faces)]
            edge = points[:, 1] - points[:, 0]
            normal = np.stack([-edge[:, 1], edge[:, 0]], axis=1)  # pixels run downwards: the rotation is reversed
            normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-9)
            for start, vector in zip(points.mean(axis=1), normal * 0.035 * self._look.size[1] * FINE, strict=True):
                self._arrow(pen, start, vector, looks.NORMAL)

    def _arrow(self, pen: Any, start: FloatArray, vector: FloatArray, color: looks.Color) -> None:
        length = float(np.linalg.norm(vector))
        if not FINE < length < 1e5:
            return
        width = self._width(0.0025)
        ahead = vector / length
        head = min(0.4 * length, 5.0 * width)
        side = 0.5 * head * np.array([-ahead[1], ahead[0]])
        tip, neck = start + vector, start + vector - head * ahead
        pen.line(_flat(np.array([start, neck])), fill=_ink(np.array(color)), width=width)
        pen.polygon(_flat(np.array([tip, neck + side, neck - side])), fill=_ink(np.array(color)))


def _ink(color: FloatArray) -> tuple[int, ...]:
    return tuple(int(255 * part + 0.5) for part in np.clip(color, 0, 1))


def _flat(points: FloatArray) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in points]
