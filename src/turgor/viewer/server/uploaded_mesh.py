"""The mesh in an uploaded file: read in bounds, checked by the mesh doctor, and kept in the scene without the file."""

from __future__ import annotations

import json
import math
import struct
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from turgor.errors import MeshError
from turgor.shapes import Report, Shape, check, mesh
from turgor.shapes.fitting import Fit, fitted
from turgor.shapes.reading import FORMATS, read
from turgor.shapes.shell import CLOSING
from turgor.viewer.server.upload_limits import MAX_UPLOAD_BYTES, mebibytes, shown_name

__all__ = ["MAX_VERTICES", "UploadedMesh", "read_mesh"]

MAX_VERTICES = 50_000  # of one body: about five times what still runs at an interactive rate
MAX_FACES = 400_000  # of a mesh that is simplified: more than the upload limit holds as STL (50 bytes each)
FACES_PER_VERTEX = 2  # of a closed surface of triangles (Euler), handles aside
DIGITS = 7  # of a coordinate, counted from the mesh's size: what a float32 file carries


class UploadedMesh:
    """The mesh in a file that a page has sent: read and examined once, and then made to fit as often as one likes.

    Of `name` only the ending is used, so it may say what it likes. MeshError says why a file cannot be read at all;
    `report` is the mesh doctor's verdict on what was read.
    """

    def __init__(
        self, name: str, content: bytes, max_bytes: int = MAX_UPLOAD_BYTES, max_faces: int = MAX_FACES
    ) -> None:
        self.shown = shown = shown_name(name)
        form = Path(shown).suffix.lower().lstrip(".")
        if form not in FORMATS:
            known = ", ".join("." + known for known in FORMATS)
            ending = f".{form}" if form else "(no ending)"
            raise MeshError(f"{shown}: unknown mesh format {ending!r}; use one of {known}")
        if len(content) > max_bytes:
            raise MeshError(
                f"{shown}: {mebibytes(len(content))} is more than the limit of {mebibytes(max_bytes)}; simplify it"
            )
        if form == "glb" and _announced(shown, content) > 3 * max_faces:
            most = max_faces // (2 * FACES_PER_VERTEX)
            raise MeshError(f"{shown}: it repeats its meshes too often; save it as one mesh below {most:,} vertices")
        self._mesh = _read(shown, form, content)
        if (count := len(self._mesh[1])) > max_faces:
            raise MeshError(f"{shown}: {count:,} triangles are more than the limit of {max_faces:,}; simplify it")
        self.report = self._examined(close_holes=False)
        self._closed: Report | None = None  # the verdict with all holes closed, where they are all that is wrong
        if not self.report.ok and "holes" in self.report.findings and (closed := self._examined(close_holes=True)).ok:
            self._closed = closed

    @property
    def only_holes(self) -> bool:
        """Whether it could hold gas if its holes were closed."""
        return self._closed is not None

    @property
    def vertices(self) -> int:
        """Of its largest shell, after repairs."""
        return max((len(shape.vertices) for shape in self.report.shapes), default=0)

    def close_holes(self) -> None:
        """The verdict is from now on that on the mesh with its holes closed."""
        if self._closed is not None:
            self.report, self._closed = self._closed, None
        elif not self.report.ok:
            self.report = self._examined(close_holes=True)

    def fitted(
        self,
        *,
        size: float | None = None,
        up: str = "z",
        vertices: int | None = None,
        parts: str | None = None,
        max_vertices: int = MAX_VERTICES,
    ) -> tuple[list[Shape], Report]:
        """Closed surfaces, made to fit as by `shapes.load`, and the mesh doctor's report.

        Without `parts` it is one, the largest shell. The recipes of the shapes hold their arrays, so that a scene with
        them can be saved without the file. MeshError says why a mesh cannot be used.
        """
        fit = Fit.of(self.shown, size=size, up=up, vertices=vertices, parts=parts)
        _accept(self.report)
        shells, found = self.report.shells, self.report.shapes
        if parts is None:
            largest = max(range(len(found)), key=lambda index: found[index].volume)
            shells, found = shells[largest : largest + 1], found[largest : largest + 1]
        chosen = Report(self.shown, shells=[dict(shell) for shell in shells], shapes=list(found))
        _accept(fitted(chosen, fit))
        for shape in chosen.shapes:
            if (count := len(shape.vertices)) > max_vertices:
                raise MeshError(
                    f"{self.shown}: {count:,} vertices are more than the limit of {max_vertices:,}; simplify it"
                )
        return [_kept(self.shown, shape) for shape in chosen.shapes], replace(self.report, fitted=chosen.fitted)

    def _examined(self, close_holes: bool) -> Report:
        try:
            report = check(self._mesh, close_holes=close_holes)
        except MeshError as error:
            raise MeshError(f"{self.shown}: {str(error).removeprefix('mesh: ')}") from None
        report.source = self.shown
        return report


def read_mesh(
    name: str,
    content: bytes,
    max_bytes: int = MAX_UPLOAD_BYTES,
    max_vertices: int = MAX_VERTICES,
    *,
    vertices: int | None = None,
    close_holes: bool = False,
    **fit: Any,
) -> tuple[list[Shape], Report]:
    """The closed surfaces in an uploaded mesh file, and the mesh doctor's report, in one go: see UploadedMesh."""
    max_faces = 2 * FACES_PER_VERTEX * max_vertices if vertices is None else MAX_FACES
    mesh = UploadedMesh(name, content, max_bytes, max_faces)
    if close_holes:
        mesh.close_holes()
    return mesh.fitted(vertices=vertices, max_vertices=max_vertices, **fit)


def _accept(report: Report) -> None:
    """MeshError if something in the mesh cannot be used."""
    if not report.ok:
        more = f" (and {len(report.problems) - 1} more)" if len(report.problems) > 1 else ""
        sentence = report.problems[0].replace(CLOSING, 'with "Close the holes"')
        raise MeshError(f"{report.source}: {sentence}{more}")


def _read(shown: str, form: str, content: bytes) -> tuple[Any, Any]:
    """Vertices and faces, by way of a file in a folder that only we can open and that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="turgor-") as folder:
        path = Path(folder) / f"mesh.{form}"
        path.write_bytes(content)
        try:
            return read(path)
        except MeshError as error:
            raise MeshError(str(error).replace(str(path), shown)) from None


def _announced(shown: str, content: bytes) -> int:
    """Vertices and indices that a GLB comes to when its meshes are put where its nodes want them.

    Many nodes may share one mesh, so a small file can ask for any amount of memory.
    """
    try:
        (length,) = struct.unpack("<I", content[12:16])
        scene = json.loads(content[20 : 20 + length])
        counts = [max(0, int(accessor["count"])) for accessor in scene.get("accessors", [])]
        sizes: list[int] = [
            sum(counts[place] for part in mesh["primitives"] for place in _places(part))
            for mesh in scene.get("meshes", [])
        ]
        total: int = sum(sizes) + sum(sizes[node["mesh"]] for node in scene.get("nodes", []) if "mesh" in node)
        return total
    except (ValueError, LookupError, TypeError, AttributeError, struct.error, RecursionError):
        raise MeshError(f"{shown}: not a readable GLB file: its header is damaged or cut short") from None


def _places(part: Mapping[str, Any]) -> list[int]:
    """The accessors of the vertices and of the indices of a GLB's primitive."""
    found = (part.get("attributes", {}).get("POSITION"), part.get("indices"))
    return [place for place in found if place is not None]


def _kept(shown: str, shape: Shape) -> Shape:
    """The shape as a scene file will give it back: made from rounded arrays, so that the file stays small."""
    decimals = DIGITS - math.floor(math.log10(float(np.abs(shape.vertices).max())))
    try:
        return mesh(np.round(shape.vertices, decimals).tolist(), shape.faces.tolist())
    except MeshError as error:
        raise MeshError(f"{shown}: {str(error).removeprefix('mesh: ')}") from None
