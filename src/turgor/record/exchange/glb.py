"""`.glb`: an animated scene in one file, for Blender, game engines and web pages (glTF 2.0, binary).

Every body is a node with an animated place and rotation; what changes its shape has morph targets with animated weights
(`body_motion`). Walls are nodes, pictures are in the file. glTF has y up, so (x, y, z) is written as (x, z, −y); a 2D
scene stays in its plane.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from turgor.errors import SceneError
from turgor.files import writing
from turgor.output.frame import BodyLayout, Frame, Layout
from turgor.record import look as looks
from turgor.record.exchange.body_motion import BodyMotion, Motion
from turgor.record.exchange.gltf_file import LINES, TRIANGLES, GltfFile
from turgor.record.exchange.keyframes import Track, reduced
from turgor.record.exchange.pictures import checker, linear_color, picture_of
from turgor.record.exchange.poses import moved_between, near_quaternion, slerp, turned_between
from turgor.record.exchange.surfaces import Surface, surface_of
from turgor.record.exchange.tolerance import Tolerance
from turgor.record.exchange.view import ASPECT, View, view_of
from turgor.record.exchange.wall_meshes import Bounds, poses_of, wall_mesh
from turgor.record.file_sink import FileSink
from turgor.record.geometry import to_3d
from turgor.record.look import Color

__all__ = ["GlbSink"]

FloatArray = npt.NDArray[np.float64]
ROUGHNESS = {"soft": 0.45, "rigid": 0.6, "cloth": 0.9}
WALL_ROUGHNESS = 0.95
OUTLINE = 0.62  # of the colour of a 2D body: that of its outline


class GlbSink(FileSink):
    """Collects the motion and writes it at `close`, in one move. Frames themselves are not kept.

    tolerance: how far any vertex may be from where it was recorded, in metres or as a share of its body's size
    ("0.5%"); after `close`, `error` is the distance that is not exceeded, m. texture: as in `Look`.
    """

    def __init__(
        self, path: Path, layout: Layout, *, tolerance: float | str | None = None, texture: str | Path | None = None
    ) -> None:
        super().__init__(path, layout)
        self._tolerance = Tolerance(tolerance)
        colors = looks.base_colors(layout)
        self._looks = [(color, picture_of(b, color, texture)) for b, color in zip(layout.bodies, colors, strict=True)]
        self._first: Frame | None = None
        self._bodies: list[tuple[BodyLayout, Surface, BodyMotion]] = []
        self._times: list[float] = []
        self._walls: list[list[tuple[FloatArray, FloatArray]]] = [[] for _ in layout.walls]
        self._bounds = Bounds()
        self.error = 0.0  # m

    def _add(self, frame: Frame) -> None:
        positions = to_3d(frame.positions)
        if not np.isfinite(positions).all():
            raise SceneError(
                f"{self.path}: frame {frame.index} has positions that are not finite; glTF cannot hold it."
            )
        if self._first is None:
            self._first = frame
            self._start(positions)
        time = frame.time - self._first.time
        if self._times and time <= self._times[-1]:
            raise SceneError(f"{self.path}: frame {frame.index} is not later than the one before it; record again.")
        self._times.append(time)
        for body, _, motion in self._bodies:
            motion.add(time, positions[body.start : body.start + body.count])
        for number, poses in enumerate(self._walls):
            poses.append(poses_of(frame, number))
        self._bounds.add(positions)

    def _start(self, positions: FloatArray) -> None:
        for body in self.layout.bodies:
            own = positions[body.start : body.start + body.count]
            if len(body.faces) and len(own):
                surface = surface_of(body, own)
                allowed = self._tolerance.metres(float(np.linalg.norm(np.ptp(own, axis=0))))
                self._bodies.append((body, surface, BodyMotion(surface, own, allowed, body.kind == "rigid")))

    def close(self, success: bool = True) -> None:
        first, self._first = self._first, None
        if not success or first is None:
            return
        document = _Document("turgor", flat=self.layout.dim == 2)
        by_name = dict(zip((body.name for body in self.layout.bodies), self._looks, strict=True))
        for body, surface, motion in self._bodies:
            moved = motion.finish()
            self.error = max(self.error, moved.error)
            document.add_body(body, surface, moved, *by_name[body.name])
        for number, poses in enumerate(self._walls):
            self._add_wall(document, number, poses, first)
        document.add_camera(view_of(self.layout, first, self._bounds))
        with writing(self.path):
            document.write(self.path, self.layout.scene, self.error)
        self._bodies = []
        self.note = f"positions within {self.error * 1e3:.2g} mm"

    def _add_wall(
        self, document: _Document, number: int, poses: list[tuple[FloatArray, FloatArray]], first: Frame
    ) -> None:
        wall = self.layout.walls[number]
        places = np.array([place for place, _ in poses])
        turns: list[FloatArray] = []
        for _, rotation in poses:
            turns.append(near_quaternion(rotation, turns[-1] if turns else None))
        radius = float(np.linalg.norm(wall.size)) / 2 if wall.size else self._bounds.radius
        allowed = self._tolerance.metres(2 * radius)
        times = np.array(self._times)
        place = reduced(times, places, 0.5 * allowed, moved_between)
        turn = reduced(times, np.array(turns), 0.5 * allowed, lambda a, b: radius * turned_between(a, b), slerp)
        self.error = max(self.error, float((place.errors + turn.errors).max()))
        document.add_wall(wall.name, wall_mesh(wall, first.walls[number], self._bounds), place, turn)


class _Document:
    """The parts of the scene as entries of the file."""

    def __init__(self, generator: str, flat: bool) -> None:
        self._file = GltfFile(generator)
        self._flat = flat
        self._nodes: list[int] = []
        self._samplers: list[dict[str, Any]] = []
        self._channels: list[dict[str, Any]] = []

    def _vectors(self, rows: npt.ArrayLike) -> npt.NDArray[np.float32]:
        """(..., 3 or 4) vectors, or quaternions, with y up."""
        rows = np.array(rows, np.float32)
        if not self._flat:
            rows[..., 1], rows[..., 2] = rows[..., 2].copy(), -rows[..., 1]
        return rows + np.float32(0.0)  # no −0

    def add_body(self, body: BodyLayout, surface: Surface, motion: Motion, color: Color, picture: Any) -> None:
        file, points = self._file, surface.vertices
        attributes = {
            "POSITION": file.attribute(self._vectors(motion.rest[points]), limits=True),
            "NORMAL": file.attribute(self._vectors(motion.normals[surface.shaded])),
        }
        if surface.uv is not None:
            attributes["TEXCOORD_0"] = file.attribute(surface.uv * (1, -1) + (0, 1))
        targets = []
        for shape, normals in zip(motion.targets.shapes, motion.targets.normals, strict=True):
            target = {"POSITION": file.attribute(self._vectors(shape[points]), limits=True)}
            if normals.size:
                target["NORMAL"] = file.attribute(self._vectors(normals[surface.shaded]))
            targets.append(target)
        texture = None if picture is None else file.texture(picture.content, picture.mime)
        tint = linear_color(color) if picture is None else (1.0, 1.0, 1.0)
        both_sides = body.kind == "cloth" or self._flat
        material = file.material(body.name, tint, ROUGHNESS.get(body.kind, 0.5), texture, both_sides)
        primitives = [_primitive(attributes, file.indices(surface.faces), TRIANGLES, material, targets)]
        if self._flat:
            edge = file.material(f"{body.name} outline", linear_color(_darker(color)), 1.0, None, True)
            plain = {"POSITION": attributes["POSITION"]}
            shapes = [{"POSITION": target["POSITION"]} for target in targets]
            lines = _primitive(plain, file.indices(body.faces), LINES, edge, shapes)
            primitives = [*(primitives if len(surface.faces) else []), lines]
        mesh: dict[str, Any] = {"name": body.name, "primitives": primitives}
        if targets:
            mesh["weights"] = [0.0] * len(targets)
            mesh["extras"] = {"targetNames": [f"shape {k + 1}" for k in range(len(targets))]}
        extras = {"kind": body.kind, "error_m": motion.error}
        node = self._add_node(body.name, {"mesh": file.mesh(mesh), "extras": extras}, motion.place, motion.turn)
        if targets:
            self._animate(node, "weights", motion.weights, motion.weights.values.reshape(-1))

    def add_wall(self, name: str, mesh: Any, place: Track, turn: Track) -> None:
        file = self._file
        attributes = {"POSITION": file.attribute(self._vectors(mesh.points), limits=True)}
        plain = dict(attributes)
        attributes["NORMAL"] = file.attribute(self._vectors(mesh.normals))
        primitives = []
        if len(mesh.faces):
            texture, color = None, linear_color(looks.WALL)
            if mesh.tiles is not None:
                tiles = checker(looks.FLOOR, looks.FLOOR_DARK)
                texture, color = file.texture(tiles.content, tiles.mime, smooth=False), (1.0, 1.0, 1.0)
                attributes["TEXCOORD_0"] = file.attribute(mesh.tiles)
            material = file.material(name, color, WALL_ROUGHNESS, texture, self._flat)
            primitives.append(_primitive(attributes, file.indices(mesh.faces), TRIANGLES, material, []))
        if len(mesh.lines):
            edge = file.material(f"{name} edges", linear_color(looks.EDGE), 1.0, None, True)
            primitives.append(_primitive(plain, file.indices(mesh.lines), LINES, edge, []))
        number = file.mesh({"name": name, "primitives": primitives})
        self._add_node(name, {"mesh": number, "extras": {"kind": "wall"}}, place, turn)

    def add_camera(self, view: View) -> None:
        """glTF cameras look along their −z, with y up, too."""
        lens = {
            "yfov": float(np.radians(view.angle)),
            "aspectRatio": ASPECT,
            "znear": 0.01 * view.distance,
            "zfar": 20 * view.distance,
        }
        axes = self._vectors(view.axes.T).T.astype(np.float64)
        entry = {
            "name": "camera",
            "camera": self._file.camera({"type": "perspective", "perspective": lens}),
            "translation": self._vectors(view.eye).tolist(),
            "rotation": near_quaternion(axes).tolist(),
        }
        self._nodes.append(self._file.node(entry))

    def _add_node(self, name: str, entry: dict[str, Any], place: Track, turn: Track) -> int:
        values = {"translation": self._vectors(place.values), "rotation": self._vectors(turn.values)}
        fixed = {key: rows[0].tolist() for key, rows in values.items()}
        node = self._file.node({"name": name, **entry, **fixed})
        self._nodes.append(node)
        for (key, rows), track in zip(values.items(), (place, turn), strict=True):
            self._animate(node, key, track, rows)
        return node

    def _animate(self, node: int, path: str, track: Track, values: npt.ArrayLike) -> None:
        if track.moves:
            times, numbers = self._file.track(track.times, limits=True), self._file.track(values)
            self._samplers.append({"input": times, "output": numbers, "interpolation": "LINEAR"})
            self._channels.append({"sampler": len(self._samplers) - 1, "target": {"node": node, "path": path}})

    def write(self, path: Path, scene: str, error: float) -> None:
        if self._channels:
            self._file.animation({"name": scene or "motion", "samplers": self._samplers, "channels": self._channels})
        self._file.json["scenes"] = [{"name": scene or "scene", "nodes": self._nodes, "extras": {"error_m": error}}]
        self._file.write(path)


def _primitive(
    attributes: dict[str, int], indices: int, mode: int, material: int, targets: list[dict[str, int]]
) -> dict[str, Any]:
    entry: dict[str, Any] = {"attributes": attributes, "indices": indices, "mode": mode, "material": material}
    return {**entry, "targets": targets} if targets else entry


def _darker(color: Color) -> Color:
    r, g, b = color
    return (OUTLINE * r, OUTLINE * g, OUTLINE * b)
