"""`.obj` and `.ply`: the bodies of the last frame as meshes, or (`frame_%04d.obj`) of every frame; walls are left out.

Vertices are in the order of the recording, with z up; in 2D, z is 0 and outlines are lines. OBJ names bodies and their
colours and textures (in a `.mtl` file beside it), PLY has them as numbers at the vertices, in binary.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from turgor.files import replacing, writing
from turgor.output.frame import Frame, Layout
from turgor.record import look as looks
from turgor.record.exchange.pictures import PictureFile, picture_of
from turgor.record.exchange.surfaces import Surface, surface_of
from turgor.record.file_sink import FileSink
from turgor.record.geometry import loops, to_3d

__all__ = ["ObjSink", "PlySink"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


class _MeshSink(FileSink):
    """The last frame; where the name has a place for a number, every frame, by its number."""

    def __init__(self, path: Path, layout: Layout, *, texture: str | Path | None = None) -> None:
        super().__init__(path, layout)
        self._numbered = "%" in path.name
        self._colors = looks.base_colors(layout)
        both = zip(layout.bodies, self._colors, strict=True)
        self._pictures = [picture_of(body, color, texture) for body, color in both]
        self._surfaces: list[Surface] = []
        self._last: Frame | None = None

    def _add(self, frame: Frame) -> None:
        if not self._surfaces:
            positions = to_3d(frame.positions)
            self._surfaces = [surface_of(b, positions[b.start : b.start + b.count]) for b in self.layout.bodies]
        if self._numbered:
            self._begin()
            self._save(frame, self.path.with_name(self.path.name % frame.index))
        else:
            self._last = frame

    def close(self, success: bool = True) -> None:
        """Keeps the meshes of a failed run too, where each frame has a file of its own."""
        if success and self._last is not None:
            with writing(self.path):
                self._begin()
                self._save(self._last, self.path)
        self._last = None

    def _begin(self) -> None:
        """Called before a file is written."""

    def _save(self, frame: Frame, path: Path) -> None:
        raise NotImplementedError

    def _normals(self, frame: Frame) -> Iterator[FloatArray]:
        positions = to_3d(frame.positions)
        for body, surface in zip(self.layout.bodies, self._surfaces, strict=True):
            yield surface.normals(positions[body.start : body.start + body.count])


class ObjSink(_MeshSink):
    """Text, one object per body."""

    def __init__(self, path: Path, layout: Layout, *, texture: str | Path | None = None) -> None:
        super().__init__(path, layout, texture=texture)
        stem = path.name.partition("%")[0].rstrip("_-. ") or "frames" if self._numbered else path.stem
        self._materials = path.with_name(f"{stem}.mtl")
        self._written = False

    def _begin(self) -> None:
        """The materials and their pictures, once."""
        if self._written:
            return
        lines = []
        for number, (color, picture) in enumerate(zip(self._colors, self._pictures, strict=True)):
            shown = (1.0, 1.0, 1.0) if picture else color
            lines += [f"newmtl body{number}", "Kd {:.6g} {:.6g} {:.6g}".format(*shown), "Ks 0 0 0", "d 1", "illum 1"]
            if picture is not None:
                lines.append(f"map_Kd {self._beside(number, picture)}")
        _write_text(self._materials, lines)
        self._written = True

    def _beside(self, number: int, picture: PictureFile) -> str:
        target = self._materials.with_name(f"{self._materials.stem}.body{number}{picture.ending}")
        with replacing(target) as temporary:
            temporary.write_bytes(picture.content)
        return target.name

    def _save(self, frame: Frame, path: Path) -> None:
        lines = [f"# turgor: {_one_line(self.layout.scene)}, t = {frame.time:.6g} s", f"mtllib {self._materials.name}"]
        positions = to_3d(frame.positions)
        starts = np.array([1, 1, 1])  # OBJ counts from 1, through the whole file: vertices, texture points, normals
        for number, (body, normals) in enumerate(zip(self.layout.bodies, self._normals(frame), strict=True)):
            own = positions[body.start : body.start + body.count]
            lines += [f"o {_one_line(body.name)}", f"usemtl body{number}"]
            lines += ["v {:.9g} {:.9g} {:.9g}".format(*row) for row in own.tolist()]
            if self.layout.dim == 2:
                lines += _polylines(np.asarray(body.faces, np.int64), int(starts[0]))
                starts[0] += body.count
                continue
            surface = self._surfaces[number]
            uv = np.zeros((0, 2)) if surface.uv is None else surface.uv
            lines += ["vt {:.9g} {:.9g}".format(*row) for row in uv.tolist()]
            lines += ["vn {:.6f} {:.6f} {:.6f}".format(*row) for row in normals.tolist()]
            corners = np.stack([surface.vertices, np.arange(len(surface.vertices)), surface.shaded], axis=1) + starts
            one = "{0}/{1}/{2}" if len(uv) else "{0}//{2}"
            words = np.array([one.format(*row) for row in corners.tolist()], object)
            lines += ["f " + " ".join(row) for row in words[surface.faces].tolist()]
            starts += (body.count, len(uv), len(normals))
        _write_text(path, lines)


class PlySink(_MeshSink):
    """Binary; bodies are told apart by the property `body` of the vertices."""

    def _save(self, frame: Frame, path: Path) -> None:
        layout = self.layout
        has_uv = any(body.uv is not None for body in layout.bodies)
        fields: list[tuple[str, str]] = [(name, "<f4") for name in ("x", "y", "z", "nx", "ny", "nz")]
        fields += [(name, "u1") for name in ("red", "green", "blue")]
        fields += [(name, "<f4") for name in ("s", "t")] if has_uv else []
        vertices = np.zeros(layout.vertices, np.dtype([*fields, ("body", "<i4")]))
        for name, column in zip("xyz", to_3d(frame.positions).T, strict=True):
            vertices[name] = column
        cells = [np.zeros((0, layout.dim), np.int64)]
        for number, (body, normals) in enumerate(zip(layout.bodies, self._normals(frame), strict=True)):
            own = vertices[body.start : body.start + body.count]  # a view
            own["body"] = number
            for name, part in zip(("red", "green", "blue"), self._colors[number], strict=True):
                own[name] = round(255 * part)
            mean = np.zeros((body.count, 3))  # of the normals at a sharp edge
            np.add.at(mean, self._surfaces[number].smooth_vertices, normals)
            mean /= np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), 1e-30)
            for name, column in zip(("nx", "ny", "nz"), mean.T, strict=True):
                own[name] = column
            if body.uv is not None:
                own["s"], own["t"] = np.asarray(body.uv).T
            cells.append(np.asarray(body.faces, np.int64) + body.start)
        _write_ply(path, vertices, np.concatenate(cells), f"turgor: {_one_line(layout.scene)}, t = {frame.time:.6g} s")


def _write_ply(path: Path, vertices: npt.NDArray[Any], cells: IntArray, comment: str) -> None:
    """cells: (m, 3) faces, or (m, 2) edges."""
    words = {"<f4": "float", "|u1": "uchar", "<i4": "int"}
    header = ["ply", "format binary_little_endian 1.0", f"comment {comment}", f"element vertex {len(vertices)}"]
    for name in vertices.dtype.names or ():
        header.append(f"property {words[vertices.dtype[name].str]} {name}")
    if cells.shape[1] == 2:
        header += [f"element edge {len(cells)}", "property int vertex1", "property int vertex2"]
        rows: npt.NDArray[Any] = cells.astype("<i4")
    else:
        header += [f"element face {len(cells)}", "property list uchar int vertex_indices"]
        rows = np.zeros(len(cells), np.dtype([("count", "u1"), ("corners", "<i4", (3,))]))
        rows["count"], rows["corners"] = 3, cells
    with replacing(path) as temporary, temporary.open("wb") as file:
        file.write(("\n".join([*header, "end_header"]) + "\n").encode("ascii", "replace"))
        file.write(vertices.tobytes())
        file.write(rows.tobytes())


def _polylines(segments: IntArray, start: int) -> list[str]:
    closed, chains = loops(segments)
    lines = [*(np.append(loop, loop[0]) for loop in closed), *chains]
    return ["l " + " ".join(map(str, (line + start).tolist())) for line in lines]


def _one_line(name: str) -> str:
    return " ".join(name.split()) or "body"


def _write_text(path: Path, lines: list[str]) -> None:
    with replacing(path) as temporary:
        temporary.write_text("\n".join(lines) + "\n", encoding="utf-8")
