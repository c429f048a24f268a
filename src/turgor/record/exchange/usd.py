"""`.usd`, `.usda`, `.usdc`, `.usdz`: the scene with all frames as time samples (OpenUSD), through `pxr` of usd-core.

Soft bodies and cloth are meshes with points, velocities and normals of every frame; rigid bodies and walls are meshes
that are moved and turned. Pressure and volume, and the fields of materials, are primvars. Units are metres and seconds,
z is up (y in 2D). A texture is a file beside the scene; in .usdz it is inside.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from turgor.errors import SceneError
from turgor.files import replacing, scratch, writing
from turgor.output.frame import SKIN_FIELDS, BodyLayout, Frame, Layout
from turgor.record import look as looks
from turgor.record.exchange.pictures import PictureFile, linear_color, picture_of
from turgor.record.exchange.poses import fitted_rotation, near_quaternion
from turgor.record.exchange.surfaces import Surface, surface_of
from turgor.record.exchange.usd_stage import UsdStage
from turgor.record.exchange.view import view_of
from turgor.record.exchange.wall_meshes import Bounds, poses_of, wall_mesh
from turgor.record.file_sink import FileSink
from turgor.record.geometry import loops, to_3d
from turgor.record.look import Color

__all__ = ["UsdSink"]

FloatArray = npt.NDArray[np.float64]


class UsdSink(FileSink):
    """Gives frames to the USD library, which keeps them in single precision until `close` writes the file in one move.

    texture: as in `Look`.
    """

    def __init__(self, path: Path, layout: Layout, *, texture: str | Path | None = None) -> None:
        super().__init__(path, layout)
        colors = looks.base_colors(layout)
        self._pictures = [picture_of(b, color, texture) for b, color in zip(layout.bodies, colors, strict=True)]
        self._packed = path.suffix.lower() == ".usdz"
        self._folder = path.parent
        self._temporary = scratch(path)
        self._beside: dict[Path, PictureFile] = {}  # pictures to write with the scene
        self._stage: UsdStage | None = None
        self._parts: list[_Part] = []
        self._walls: list[Any] = []
        self._first: Frame | None = None
        self._last_time = 0.0
        self._bounds = Bounds()

    def _add(self, frame: Frame) -> None:
        positions = to_3d(frame.positions)
        if self._first is None:
            self._first = frame
            self._start(frame, positions)
        elif frame.time <= self._last_time:
            raise SceneError(f"{self.path}: frame {frame.index} is not later than the one before it; record again.")
        assert self._stage is not None
        self._last_time = frame.time
        code = (frame.time - self._first.time) * self.layout.fps
        self._stage.code = round(code, 6)  # whole numbers where frames come at a steady rate
        for part in self._parts:
            part.add(frame, positions)
        for number, node in enumerate(self._walls):
            place, rotation = poses_of(frame, number)
            node.pose(place, near_quaternion(rotation))
        self._bounds.add(positions)

    def _start(self, frame: Frame, positions: FloatArray) -> None:
        layout = self.layout
        if self._packed:  # parts keep their names in the package, so they are made in a folder of their own
            self._folder = Path(tempfile.mkdtemp(prefix="turgor-usd-"))
            self._temporary = self._folder / f"{_file_word(self.path.stem)}.usdc"
        self._stage = stage = UsdStage(self._temporary, layout.scene, layout.fps, up="Z" if layout.dim == 3 else "Y")
        face = 0
        colors = looks.base_colors(layout)
        for number, (body, color) in enumerate(zip(layout.bodies, colors, strict=True)):
            own = positions[body.start : body.start + body.count]
            if len(body.faces):
                texture = self._picture_path(self._pictures[number], body.name)
                self._parts.append(_Part(stage, number, body, face, own, color, texture))
            face += len(body.faces)
        self._walls = [stage.node(wall.name) for wall in layout.walls]

    def _picture_path(self, picture: PictureFile | None, name: str) -> str | None:
        """The path by which the scene names a picture, which is to be written beside it."""
        if picture is None:
            return None
        target = self._folder / f"{self.path.stem}.{_file_word(name)}{picture.ending}"
        self._beside[target] = picture
        return f"./{target.name}"

    def close(self, success: bool = True) -> None:
        stage, first, self._stage = self._stage, self._first, None
        try:
            if stage is not None and first is not None and success:
                with writing(self.path):
                    self._finish(stage, first)
        finally:
            self._parts, self._walls = [], []
            with contextlib.suppress(OSError):
                self._temporary.unlink()
            if self._packed and self._folder != self.path.parent:
                shutil.rmtree(self._folder, ignore_errors=True)

    def _finish(self, stage: UsdStage, first: Frame) -> None:
        layout = self.layout
        for number, (wall, node) in enumerate(zip(layout.walls, self._walls, strict=True)):
            mesh = wall_mesh(wall, first.walls[number], self._bounds)
            color = looks.WALL if mesh.tiles is None else looks.FLOOR_DARK
            node.wall(mesh, linear_color(color), linear_color(looks.EDGE))
        stage.camera(view_of(layout, first, self._bounds))
        stage.save()
        with contextlib.ExitStack() as files:  # all take their names at its end, or none does
            for target, picture in self._beside.items():
                files.enter_context(replacing(target)).write_bytes(picture.content)
        if self._packed:
            with replacing(self.path) as packed:
                stage.pack(packed)
        else:
            self._temporary.replace(self.path)


class _Part:
    """One body: what is said once, and what of each frame."""

    def __init__(
        self, stage: UsdStage, number: int, body: BodyLayout, face: int, first: FloatArray, color: Color,
        texture: str | None,
    ) -> None:  # fmt: skip
        """number: of the body in the layout; face: its first one in the fields of materials."""
        self._number, self._body, self._face = number, body, face
        self._surface: Surface = surface_of(body, first)
        self._rest = first - first.mean(axis=0)
        self._node = stage.node(body.name)
        self._flat = np.asarray(body.faces).shape[1] == 2
        faces: Any = loops(body.faces)[0] if self._flat else np.asarray(body.faces, np.int64)
        mesh = self._mesh = self._node.mesh(faces, linear_color(color), body.kind == "cloth" or self._flat)
        if body.kind == "rigid":
            mesh.points(self._rest)
            mesh.normals(self._corner_normals(self._rest), per_corner=True)
        if body.corner_uv is not None:
            mesh.uv(np.asarray(body.corner_uv, np.float64).reshape(-1, 2), per_corner=True)
        elif body.uv is not None:
            mesh.uv(np.asarray(body.uv, np.float64), per_corner=False)
        mesh.material(linear_color(color), looks_rough(body.kind), texture)
        #: Whether each vertex has one normal
        self._smooth = len(self._surface.smooth_vertices) == body.count and not self._flat

    def _corner_normals(self, positions: FloatArray) -> FloatArray:
        if self._flat:
            return np.tile([0.0, 0.0, 1.0], (sum(map(len, loops(self._body.faces)[0])), 1))
        return self._surface.normals(positions)[self._surface.smooth_faces.ravel()]

    def add(self, frame: Frame, positions: FloatArray) -> None:
        body, mesh = self._body, self._mesh
        own = slice(body.start, body.start + body.count)
        points = positions[own]
        if body.kind == "rigid":
            place = points.mean(axis=0)
            self._node.pose(place, near_quaternion(fitted_rotation(self._rest, points - place)))
            return
        mesh.points(points, to_3d(frame.velocities)[own])
        if not self._flat:
            normals = self._surface.normals(points) if self._smooth else self._corner_normals(points)
            mesh.normals(normals, per_corner=not self._smooth)
        if np.isfinite(frame.pressures[self._number]):
            mesh.number("pressure", float(frame.pressures[self._number]))
            mesh.number("volume", float(frame.volumes[self._number]))
        if body.material and not self._flat:
            rows = slice(self._face, self._face + len(body.faces))
            for name in SKIN_FIELDS:
                field = getattr(frame, name)
                if field is not None:
                    mesh.face_field(name, np.asarray(field)[rows])


def looks_rough(kind: str) -> float:
    """Roughness of the surface of a kind of body."""
    return {"soft": 0.45, "rigid": 0.6, "cloth": 0.9}.get(kind, 0.5)


def _file_word(name: str) -> str:
    """A name as part of a file name."""
    return "".join(c if c.isalnum() else "_" for c in name) or "body"
