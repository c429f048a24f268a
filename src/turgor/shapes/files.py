"""Shapes from mesh files and from arrays; both go through the mesh doctor, so that what comes out can hold gas."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt

from turgor.errors import MeshError
from turgor.shapes.arguments import whole
from turgor.shapes.doctor import check
from turgor.shapes.fitting import Fit, fitted
from turgor.shapes.given import GivenMesh
from turgor.shapes.mesh_objects import MeshObject, is_mesh_object
from turgor.shapes.paint import Paint
from turgor.shapes.reading import READABLE
from turgor.shapes.report import Report
from turgor.shapes.shape import Shape

__all__ = ["ShapeLike", "as_shape", "load", "mesh"]

ShapeLike = Shape | str | os.PathLike[str] | MeshObject  # what stands for a shape where a body is described


@overload
def load(
    path: str | os.PathLike[str],
    scale: float = ...,
    *,
    size: float | None = ...,
    up: str = ...,
    vertices: int | None = ...,
    parts: Literal["union"] | None = ...,
    shell: int | None = ...,
    cloth: bool = ...,
    close_holes: bool = ...,
    folder: str | os.PathLike[str] | None = ...,
) -> Shape: ...


@overload
def load(
    path: str | os.PathLike[str],
    scale: float = ...,
    *,
    size: float | None = ...,
    up: str = ...,
    vertices: int | None = ...,
    parts: Literal["all"],
    shell: None = ...,
    cloth: bool = ...,
    close_holes: bool = ...,
    folder: str | os.PathLike[str] | None = ...,
) -> list[Shape]: ...


@overload
def load(
    path: str | os.PathLike[str],
    scale: float = ...,
    *,
    size: float | None = ...,
    up: str = ...,
    vertices: int | None = ...,
    parts: str | None = ...,
    shell: int | None = ...,
    cloth: bool = ...,
    close_holes: bool = ...,
    folder: str | os.PathLike[str] | None = ...,
) -> Shape | list[Shape]: ...


def load(
    path: str | os.PathLike[str],
    scale: float = 1.0,
    *,
    size: float | None = None,
    up: str = "z",
    vertices: int | None = None,
    parts: str | None = None,
    shell: int | None = None,
    cloth: bool = False,
    close_holes: bool = False,
    folder: str | os.PathLike[str] | None = None,
) -> Shape | list[Shape]:
    """The closed surface in a mesh file (.obj, .stl, .ply, .off, .glb, .usd), repaired where its geometry allows.

    Coordinates are metres × `scale`. With `size` (m) instead, the longest side of the bounding box gets that length and
    the centre of the box becomes the origin. `up` is the axis of the file that points up ("y" for most modellers and
    games; "-x", "-y", "-z" too); it is turned to turgor's, z. A surface of more `vertices` is simplified to that many.

    A file may have several separate shells. `shell` picks one (counted from 0). `parts="all"` gives a list of all, in
    one scale and in their places to each other; with `shell` one of these. `parts="union"` joins shells that overlap;
    `shell` picks one of those that are left.

    Texture coordinates, image and colour of the file's material are kept, also when it is simplified (`corner_uv`,
    `texture` and `color` of the shape). A USD file says its unit and its up axis itself: it comes in metres, z up.

    `cloth` takes an open surface as a sheet, `close_holes` closes holes with flat fans. A relative `path` is looked up
    in `folder` (default: where Python runs). MeshError says why a mesh cannot be used and what to do.
    """
    fit = Fit.of("load", scale=scale, size=size, up=up, vertices=vertices, parts=parts)
    try:
        place = Path(folder) / path if folder is not None else Path(path)
    except TypeError:
        raise MeshError(f"load: path must be a file name, got {path!r}") from None
    for name, value in (("cloth", cloth), ("close_holes", close_holes)):
        if not isinstance(value, bool):
            raise MeshError(f"load: {name} must be true or false, got {value!r}")
    report = _examined(place, cloth, close_holes, fit)
    recipe: dict[str, Any] = {"file": os.fspath(path), **fit.recipe()}
    recipe |= {name: True for name, value in (("cloth", cloth), ("close_holes", close_holes)) if value}
    if parts is not None:
        _all_usable(report)
    if parts == "all" and shell is None:
        return [replace(part, recipe={**recipe, "shell": number}) for number, part in enumerate(report.shapes)]
    remedy = "choose one of those that the union left, with shell=0, shell=1, ..."
    if parts is None:
        remedy = (
            'load them one by one with load(path, shell=0), shell=1, ..., all with parts="all", '
            'or joined where they overlap with parts="union"'
        )
    one = _one(report, shell, remedy)
    return replace(one, recipe=recipe if shell is None else {**recipe, "shell": int(shell)})


def _examined(place: Path, cloth: bool, close_holes: bool, fit: Fit) -> Report:
    """What the doctor says about a file, and its shells made to fit.

    The parts of a file are asked for one after the other when a scene file is read: the last answers are kept, for as
    long as the file is the same.
    """
    if fit.parts == "all" and place.is_file():
        stat = place.stat()
        kept = _remembered(place, (stat.st_mtime_ns, stat.st_size), cloth, close_holes, fit)
        return replace(kept, shapes=[replace(part, vertices=part.vertices.copy()) for part in kept.shapes])
    return fitted(check(place, cloth=cloth, close_holes=close_holes), fit)


@functools.lru_cache(maxsize=2)
def _remembered(place: Path, version: tuple[int, int], cloth: bool, close_holes: bool, fit: Fit) -> Report:
    return fitted(check(place, cloth=cloth, close_holes=close_holes), fit)


def mesh(
    vertices: npt.ArrayLike,
    faces: npt.ArrayLike,
    *,
    shell: int | None = None,
    cloth: bool = False,
    corner_uv: npt.ArrayLike | None = None,
    texture: str | None = None,
    color: Sequence[float] | None = None,
) -> Shape:
    """A closed surface from `vertices` (n, 3) in metres and triangles `faces` (m, 3), through the mesh doctor.

    `shell` picks one of several separate shells; `cloth` takes an open surface as a sheet. `corner_uv` (m, 3, 2) are
    coordinates of the corners of the triangles in the image file `texture`; `color` is red, green, blue in 0..1.
    """
    given = GivenMesh(vertices, faces, _paint(faces, corner_uv, texture, color))  # type: ignore[arg-type]  # the doctor looks
    report = check(given if given.paint is not None else (vertices, faces), cloth=cloth)
    return _one(report, shell, "take them one by one with mesh(vertices, faces, shell=0), shell=1, ...")


def _paint(faces: Any, corner_uv: Any, texture: Any, color: Any) -> Paint | None:
    """The look of a mesh that is given by arrays, once it makes sense."""
    if corner_uv is None and texture is None and color is None:
        return None
    if texture is not None and not isinstance(texture, str):
        raise MeshError(f"mesh: texture must be the path of an image, got {texture!r}")
    try:
        uv = np.full((len(faces), 3, 2), np.nan) if corner_uv is None else np.array(corner_uv, np.float64)
        rgb = None if color is None else tuple(float(part) for part in color)
    except (TypeError, ValueError):
        raise MeshError("mesh: corner_uv must be (faces, 3, 2) numbers, and color three in 0..1") from None
    if uv.shape != (len(faces), 3, 2) or (corner_uv is not None and not np.isfinite(uv).all()):
        raise MeshError(f"mesh: corner_uv must be ({len(faces)}, 3, 2) finite numbers, got {uv.shape}")
    if rgb is not None and not (len(rgb) == 3 and all(0.0 <= part <= 1.0 for part in rgb)):
        raise MeshError(f"mesh: color must be three numbers in 0..1, got {color!r}")
    return Paint.of(uv, texture, rgb)


def as_shape(thing: Any, cloth: bool = False) -> Shape:
    """A Shape from all that stands for one: itself, the name of a mesh file, or a mesh of trimesh or PyVista.

    `cloth` takes an open surface as a sheet, where one is wanted.
    """
    if isinstance(thing, Shape):
        return thing
    if isinstance(thing, str | os.PathLike) and Path(thing).suffix.lower().lstrip(".") in READABLE:
        return load(thing, cloth=cloth)
    if not is_mesh_object(thing):
        raise MeshError(
            f"shape must be a turgor Shape, got {thing!r}; the name of a mesh file and meshes of trimesh and PyVista "
            "are taken too"
        )
    report = check(thing, cloth=cloth)
    return _one(report, None, "take it apart with its own library (trimesh: split, PyVista: split_bodies)")


def _all_usable(report: Report) -> None:
    """MeshError if a shell of the report cannot be used."""
    if report.problems:
        more = f" ({len(report.problems) - 1} more: see turgor check)" if len(report.problems) > 1 else ""
        raise MeshError(f"{report.source}: {report.problems[0]}{more}")


def _one(report: Report, shell: int | None, remedy: str) -> Shape:
    """The only shell of the report, or the one asked for; MeshError if it cannot be used."""
    count = len(report.shells)
    if shell is not None:
        shell = whole(report.source, "shell", shell, 0)
        if shell >= count:
            raise MeshError(f"{report.source}: there is no shell {shell}, it has {count} (counted from 0)")
        if report.shells[shell]["ok"]:
            return report.shapes[sum(1 for other in report.shells[:shell] if other["ok"])]
    _all_usable(report)
    if count > 1:
        raise MeshError(f"{report.source}: has {count} separate shells; {remedy}")
    return report.shapes[0]
