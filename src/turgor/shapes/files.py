"""Shapes from mesh files and from arrays; both go through the mesh doctor, so that what comes out can hold gas."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy.typing as npt

from turgor.errors import MeshError
from turgor.shapes.arguments import length, whole
from turgor.shapes.doctor import check
from turgor.shapes.report import Report
from turgor.shapes.shape import Shape

__all__ = ["load", "mesh"]


def load(
    path: str | os.PathLike[str],
    scale: float = 1.0,
    *,
    shell: int | None = None,
    cloth: bool = False,
    close_holes: bool = False,
    folder: str | os.PathLike[str] | None = None,
) -> Shape:
    """The closed surface in a mesh file (.obj, .stl, .ply, .off, .glb), repaired where its geometry allows.

    Coordinates are metres × `scale`, axes as in the file. `shell` picks one of several separate shells, `cloth` takes
    an open surface as a sheet, `close_holes` closes holes with flat fans. A relative `path` is looked up in `folder`
    (default: where Python runs). MeshError says why a mesh cannot be used and what to do.
    """
    scale = length("load", "scale", scale)
    try:
        place = Path(folder) / path if folder is not None else Path(path)
    except TypeError:
        raise MeshError(f"load: path must be a file name, got {path!r}") from None
    report = check(place, cloth=cloth, close_holes=close_holes)
    recipe: dict[str, Any] = {"file": os.fspath(path)}
    options = {"scale": scale, "shell": shell, "cloth": cloth, "close_holes": close_holes}
    defaults = {"scale": 1.0, "shell": None, "cloth": False, "close_holes": False}
    recipe |= {name: value for name, value in options.items() if value != defaults[name]}
    shape = _one(report, shell, "load them one by one with load(path, shell=0), shell=1, ...")
    return replace(shape, vertices=shape.vertices * scale, recipe=recipe)


def mesh(vertices: npt.ArrayLike, faces: npt.ArrayLike, *, shell: int | None = None, cloth: bool = False) -> Shape:
    """A closed surface from `vertices` (n, 3) in metres and triangles `faces` (m, 3), through the mesh doctor.

    `shell` picks one of several separate shells; `cloth` takes an open surface as a sheet.
    """
    report = check((vertices, faces), cloth=cloth)
    return _one(report, shell, "take them one by one with mesh(vertices, faces, shell=0), shell=1, ...")


def _one(report: Report, shell: int | None, remedy: str) -> Shape:
    """The only shell of the report, or the one asked for; MeshError if it cannot be used."""
    count = len(report.shells)
    if shell is not None:
        shell = whole(report.source, "shell", shell, 0)
        if shell >= count:
            raise MeshError(f"{report.source}: there is no shell {shell}, it has {count} (counted from 0)")
        if report.shells[shell]["ok"]:
            return report.shapes[sum(1 for other in report.shells[:shell] if other["ok"])]
    if report.problems:
        more = f" ({len(report.problems) - 1} more: see turgor check)" if len(report.problems) > 1 else ""
        raise MeshError(f"{report.source}: {report.problems[0]}{more}")
    if count > 1:
        raise MeshError(f"{report.source}: has {count} separate shells; {remedy}")
    return report.shapes[0]
