"""`.rrd`: a recording for the Rerun viewer (rerun.io): meshes that move, and pressure and volume as plots.

Units are metres and seconds, z is up (y in 2D). Rerun's library encodes, and its bytes are written here: its own writer
waits for ever where the disk is full.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from turgor.errors import SceneError
from turgor.files import replacing, writing
from turgor.output.frame import BodyLayout, Frame, Layout
from turgor.record import look as looks
from turgor.record.exchange.pictures import PictureFile, checker, picture_of
from turgor.record.exchange.poses import fitted_rotation
from turgor.record.exchange.surfaces import Surface, surface_of
from turgor.record.exchange.wall_meshes import Bounds, poses_of, wall_mesh
from turgor.record.file_sink import FileSink
from turgor.record.geometry import to_3d
from turgor.record.look import Color

__all__ = ["RerunSink"]

FloatArray = npt.NDArray[np.float64]


class RerunSink(FileSink):
    """Every body is an entity `bodies/NAME`, every wall `walls/NAME`; timelines are `time` and `frame`.

    Rerun keeps the frames in single precision until `close` writes the file in one move: its bytes can be asked for
    only once. texture: as in `Look`.
    """

    def __init__(self, path: Path, layout: Layout, *, texture: str | Path | None = None) -> None:
        super().__init__(path, layout)
        colors = looks.base_colors(layout)
        both = list(zip(layout.bodies, colors, strict=True))
        self._looks = [(color, picture_of(body, color, texture)) for body, color in both]
        self._bodies: list[tuple[Surface, FloatArray]] = []  # and the vertices of the first frame about their mean
        self._first: Frame | None = None
        self._rr: Any = None  # the library, its recording and the bytes of it
        self._stream: Any = None
        self._bytes: Any = None
        self._bounds = Bounds()

    def _add(self, frame: Frame) -> None:
        positions = to_3d(frame.positions)
        if not np.isfinite(positions).all():
            raise SceneError(f"{self.path}: frame {frame.index} has positions that are not finite; record again.")
        if self._first is None:
            self._first = frame
            self._start(positions)
        self._stream.set_time("time", duration=frame.time)
        self._stream.set_time("frame", sequence=frame.index)
        for number, body in enumerate(self.layout.bodies):
            self._add_body(number, body, positions[body.start : body.start + body.count])
            for name in ("pressures", "volumes"):
                if np.isfinite(value := float(getattr(frame, name)[number])):
                    self._log([name, body.name], self._rr.Scalars(value))
        for number, wall in enumerate(self.layout.walls):
            place, rotation = poses_of(frame, number)
            self._log(["walls", wall.name], self._rr.Transform3D(translation=place, mat3x3=rotation))
        self._bounds.add(positions)

    def _start(self, positions: FloatArray) -> None:
        import rerun

        self._rr = rerun
        self._stream = rerun.RecordingStream(self.layout.scene or "turgor")
        self._bytes = self._stream.binary_stream()
        up = rerun.ViewCoordinates.RIGHT_HAND_Z_UP if self.layout.dim == 3 else rerun.ViewCoordinates.RIGHT_HAND_Y_UP
        self._log([], up, static=True)
        for body, (color, picture) in zip(self.layout.bodies, self._looks, strict=True):
            own = positions[body.start : body.start + body.count]
            surface = surface_of(body, own)
            self._log(["bodies", body.name], self._look(surface.faces, surface.uv, color, picture), static=True)
            if body.kind == "rigid":
                self._log(["bodies", body.name], *self._shape(body, surface, own - own.mean(axis=0)), static=True)
            self._bodies.append((surface, own - own.mean(axis=0)))

    def _look(self, faces: npt.ArrayLike, uv: FloatArray | None, color: Color, picture: PictureFile | None) -> Any:
        """What of a mesh stays: triangles, colour or image."""
        from PIL import Image

        fields: dict[str, Any] = {"triangle_indices": np.asarray(faces, np.uint32)}
        if picture is None or uv is None:
            fields["albedo_factor"] = [*color, 1.0]
        else:
            pixels = np.asarray(Image.open(io.BytesIO(picture.content)).convert("RGB"))
            height, width = pixels.shape[:2]
            fields["albedo_texture_buffer"] = pixels.tobytes()
            fields["albedo_texture_format"] = self._rr.components.ImageFormat(
                width=width, height=height, color_model="RGB", channel_datatype="U8"
            )
            fields["vertex_texcoords"] = uv * (1, -1) + (0, 1)  # v goes down
        return self._rr.Mesh3D.from_fields(**fields)

    def _shape(self, body: BodyLayout, surface: Surface, own: FloatArray) -> list[Any]:
        """What of a mesh moves: points and normals; in 2D also the outline, which may be open."""
        normals = surface.normals(own)[surface.shaded]
        mesh = self._rr.Mesh3D.from_fields(vertex_positions=own[surface.vertices], vertex_normals=normals)
        return [mesh, self._rr.LineStrips3D(own[body.faces])] if surface.flat else [mesh]

    def _add_body(self, number: int, body: BodyLayout, own: FloatArray) -> None:
        surface, rest = self._bodies[number]
        if body.kind != "rigid":
            self._log(["bodies", body.name], *self._shape(body, surface, own))
            return
        place = own.mean(axis=0)
        turn = fitted_rotation(rest, own - place)
        self._log(["bodies", body.name], self._rr.Transform3D(translation=place, mat3x3=turn))

    def _log(self, name: list[str], *what: Any, static: bool = False) -> None:
        """name: of the entity, a list, as names of bodies may have any characters."""
        self._stream.log(name, *what, static=static, strict=True)

    def close(self, success: bool = True) -> None:
        first, self._first = self._first, None
        if success and first is not None:
            self._add_walls(first)
            with writing(self.path), replacing(self.path) as temporary:
                temporary.write_bytes(self._bytes.read())
        self._bodies, self._stream, self._bytes = [], None, None

    def _add_walls(self, first: Frame) -> None:
        """They are as wide as the motion, which is known at the end; of a container the edges, to look into it."""
        for wall, pose in zip(self.layout.walls, first.walls, strict=True):
            mesh, name = wall_mesh(wall, pose, self._bounds), ["walls", wall.name]
            if wall.kind == "container":
                self._log(name, self._rr.LineStrips3D(mesh.points[mesh.lines]), static=True)
                continue
            tiles = None if mesh.tiles is None else checker(looks.FLOOR, looks.FLOOR_DARK)
            self._log(name, self._look(mesh.faces, mesh.tiles, looks.WALL, tiles), static=True)
            points = {"vertex_positions": mesh.points, "vertex_normals": mesh.normals}
            self._log(name, self._rr.Mesh3D.from_fields(**points), static=True)
