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
from turgor.record.geometry import vertex_normals
from turgor.record.look import Color, Look, Pixels, ValueColors
from turgor.record.scenery import Floor, make_samples, make_walls, open_plotter
from turgor.record.skin import PICTURED, STREAMED, DrawnBody, Skin
from turgor.record.viewport import Viewport

__all__ = ["SolidPainter"]

FloatArray = npt.NDArray[np.float64]
Points = npt.NDArray[np.float32]
#: Strength and sharpness of the highlight: a wide one, as of rubber
SHINE = {"soft": (0.34, 14.0), "rigid": (0.18, 14.0), "cloth": (0.03, 4.0)}
LARGE = 800  # pixels: pictures that are higher show finer skins
MOST_ARROWS = 600  # per picture: more would hide the bodies
LINE = 1.0 / 480.0  # of the picture's height: width of an arrow; as thin as the red lines of Matyka 2007, figure 1
HEAD = 0.03  # of the scene's radius: length of an arrow's head, at most half of the arrow


class SolidPainter:
    """Draws frames of a 3D simulation with VTK, off-screen."""

    def __init__(self, layout: Layout, look: Look) -> None:
        self._layout = layout
        self._look = look
        self._values = ValueColors(look, layout) if look.color_by else None
        for body in layout.bodies:
            if body.texture is not None and body.uv is not None and look.texture is None:
                replace(look, texture=body.texture)  # SceneError if there is no such file, before any work
        self._plotter: Any = None

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
        return self._viewport.draw(self._moving(points, frame))

    def _moving(self, points: Points, frame: Frame) -> FloatArray | None:
        """(n, 3) m: points around all that is not of the background; None if it is of no use."""
        still = all(np.array_equal(pose.position, before.position) for pose, before in self._floors(frame))
        if self._arrows or not still:
            return None
        return np.concatenate([points, *(wall.corners for wall in self._walls)])

    def _floors(self, frame: Frame) -> list[tuple[WallPose, WallPose]]:
        """Poses of floors now and at first."""
        both = zip(self._walls, frame.walls, self._first_poses, strict=True)
        return [(pose, before) for wall, pose, before in both if isinstance(wall, Floor)]

    def aim(self, *frames: Frame) -> None:
        if self._plotter is None:
            self._build(frames, _finite(frames[0].positions))

    def close(self) -> None:
        if self._plotter is not None:
            self._plotter.close()
            self._plotter = None

    def _build(self, frames: Sequence[Frame], positions: FloatArray) -> None:
        layout, look = self._layout, self._look
        points = np.concatenate([scene_points(layout, frame) for frame in frames])
        middle = (points.min(axis=0) + points.max(axis=0)) / 2
        radius = max(float(np.linalg.norm(points - middle, axis=1).max()), 1e-6)
        plotter = open_plotter(look)
        base = looks.base_colors(layout)
        self._walls = make_walls(plotter, layout, frames[0], middle, radius)
        self._first_poses = frames[0].walls
        tips = [look.arrow_tips(frame, radius) for frame in frames]
        eye, target = camera_place(np.concatenate([points, *tips]), look)
        camera = plotter.camera
        camera.position, camera.focal_point, camera.up = tuple(eye), tuple(target), (0.0, 0.0, 1.0)
        distance = float(np.linalg.norm(eye - target))
        camera.clipping_range = (0.08 * distance, distance + 14 * radius)  # VTK's own: too coarse for shadows
        self._viewport = Viewport(plotter, look.size, eye, target)
        if any(isinstance(wall, Floor) for wall in self._walls):  # else the background is not the same everywhere
            for wall in self._walls:
                wall.hide_moving()
            self._viewport.keep_background()
        self._skin = Skin(layout, frames[0], look.smooth, fine=PICTURED if look.size[1] > LARGE else STREAMED)
        drawn_points, uv = self._skin.points(frames[0]), self._skin.texture_coordinates()
        self._surfaces = [
            _Surface(
                plotter,
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
                _Arrows(plotter, layout, looks.VELOCITY, radius, look.arrow_seconds(radius), look.size[1])
            )
        if look.normals:
            self._arrows.append(_Arrows(plotter, layout, looks.NORMAL, radius, None, look.size[1]))
        self._plotter = plotter


def _finite(values: npt.ArrayLike) -> FloatArray:
    """VTK may hang on nan; a picture of a run that exploded must come out all the same."""
    return np.nan_to_num(np.asarray(values, np.float64), posinf=0.0, neginf=0.0)


class _Surface:
    """The surface of one body."""

    def __init__(
        self,
        plotter: Any,
        body: BodyLayout,
        drawn: DrawnBody,
        color: Color,
        points: Points,
        uv: Any,
        look: Look,
        corner_uv: FloatArray | None = None,
    ) -> None:
        import pyvista as pv

        self._ids, self._faces = drawn.points, drawn.faces
        painted = corner_uv is not None and body.texture is not None and not look.color_by and look.texture != "none"
        faces = drawn.faces
        self._copies: npt.NDArray[np.int64] | slice = slice(None)  # of the points: one more for each side of a seam
        if painted and corner_uv is not None:
            rows = np.column_stack([drawn.faces.reshape(-1, 1), np.round(corner_uv.reshape(-1, 2), 6)])
            kept, inverse = np.unique(rows, axis=0, return_inverse=True)
            faces, self._copies = inverse.reshape(-1, 3), kept[:, 0].astype(np.int64)
        own = points[self._ids]
        self._mesh = pv.PolyData(own[self._copies], np.insert(faces, 0, 3, axis=1).ravel())
        self._mesh.point_data.active_normals = vertex_normals(own, self._faces)[self._copies]
        style: dict[str, Any] = {"color": color}
        if look.color_by:
            self._mesh.point_data["rgb"] = np.zeros((len(self._ids), 3), np.uint8)
            style = {"scalars": "rgb", "rgb": True}
        elif uv is not None and look.texture != "none":
            self._mesh.active_texture_coordinates = np.asarray(uv[self._ids], np.float32)
            style = {"texture": _cloth_texture(look.texture or body.texture, color), "color": "white"}
        elif painted:
            self._mesh.active_texture_coordinates = kept[:, 1:].astype(np.float32)
            style = {"texture": _image(str(body.texture)), "color": "white"}
        shine = SHINE.get(body.kind, SHINE["soft"])
        glow = 0.46 if body.kind == "cloth" else 0.42
        actor = plotter.add_mesh(
            self._mesh, ambient=glow, diffuse=2 * glow, specular=shine[0], specular_power=shine[1], **style
        )
        actor.GetProperty().SetInterpolationToPhong()

    def update(self, points: Points, colors: FloatArray | None) -> None:
        own = points[self._ids]
        self._mesh.points = own[self._copies]
        self._mesh.point_data.active_normals = vertex_normals(own, self._faces)[self._copies]
        if colors is not None:
            self._mesh.point_data["rgb"] = np.asarray(colors[self._ids] * 255, np.uint8)


def _cloth_texture(name: str | Path | None, color: Color) -> Any:
    import pyvista as pv

    return _smooth(pv.Texture(looks.flag_texture(color))) if name is None else _image(str(name))


def _image(path: str) -> Any:
    import pyvista as pv

    if not Path(path).is_file():
        raise SceneError(f"texture {path}: there is no such file; put it back, load the mesh again, or give a color")
    try:
        return _smooth(pv.read_texture(path))
    except (OSError, ValueError, RuntimeError) as error:
        raise SceneError(f"texture {path}: not a picture that can be read ({error})") from None


def _smooth(texture: Any) -> Any:
    texture.SetInterpolate(True)
    texture.SetRepeat(True)
    texture.SetMipmap(True)
    return texture


class _Arrows:
    """Arrows at the vertices: the path in `seconds` at the present velocity, or (None) outward normals.

    Thin lines with small heads, whatever their length: long ones must not hide the body behind a curtain.
    """

    def __init__(
        self, plotter: Any, layout: Layout, color: Color, radius: float, seconds: float | None, height: int
    ) -> None:
        import pyvista as pv
        from vtkmodules.vtkRenderingCore import vtkActor, vtkGlyph3DMapper

        self._layout, self._radius, self._seconds = layout, radius, seconds
        self._chosen = np.arange(0, layout.vertices, 1 + layout.vertices // MOST_ARROWS)
        count = len(self._chosen)
        ends = np.stack([np.full(count, 2), np.arange(count), count + np.arange(count)], axis=1)
        self._lines = pv.PolyData(np.zeros((2 * count, 3)), lines=ends.ravel())
        plotter.add_mesh(self._lines, color=color, line_width=max(1.0, LINE * height), lighting=False)
        self._cloud = pv.PolyData(np.zeros((count, 3)))
        self._cloud.point_data["vector"] = np.zeros((count, 3))
        self._cloud.point_data["head"] = np.zeros(count)
        mapper = vtkGlyph3DMapper()
        mapper.SetInputData(self._cloud)
        mapper.SetSourceData(pv.Cone(center=(-0.5, 0.0, 0.0), height=1.0, radius=0.3, resolution=10))
        mapper.SetOrientationArray("vector")
        mapper.SetScaleArray("head")
        mapper.SetScaleModeToScaleByMagnitude()
        mapper.ScalarVisibilityOff()
        actor = vtkActor()
        actor.SetMapper(mapper)
        actor.GetProperty().SetColor(*color)
        actor.GetProperty().LightingOff()
        plotter.add_actor(actor)

    def update(self, positions: FloatArray, frame: Frame) -> None:
        if self._seconds is None:
            vectors = np.zeros_like(positions)
            for body in self._layout.bodies:
                own = slice(body.start, body.start + body.count)
                vectors[own] = vertex_normals(positions[own], np.asarray(body.faces, np.int64)) * 0.09 * self._radius
        else:
            vectors = _finite(frame.velocities) * self._seconds
        start, vector = positions[self._chosen], vectors[self._chosen]
        self._lines.points = np.concatenate([start, start + vector])
        self._cloud.points = start + vector
        self._cloud.point_data["vector"] = vector
        self._cloud.point_data["head"] = np.minimum(0.5 * np.linalg.norm(vector, axis=1), HEAD * self._radius)
