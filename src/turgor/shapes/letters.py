"""Solid letters that can be inflated (Matyka 2007): flat regions meshed with even triangles, thickened, closed."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from turgor.errors import MeshError
from turgor.shapes.arguments import length, limit, whole
from turgor.shapes.glyphs import Region, regions
from turgor.shapes.planar import triangulate
from turgor.shapes.shape import FloatArray, IntArray, Shape

__all__ = ["letter", "text"]

# Long strings are allowed, but a slip (a whole file as string) should not take all memory.
MAX_CHARACTERS = 1000


def text(
    string: str,
    size: float = 1.0,
    depth: float = 0.25,
    spacing: float | None = None,
    font: str | os.PathLike[str] | None = None,
) -> list[Shape]:
    """Each part of each character as one closed shell, side by side, the line of writing centred at the origin.

    x runs along the line, z up, the thickness `depth` (m) along y, with the front towards −y. `size` (m) is the height
    of capital letters; `spacing` (m) the length of edges to aim at (default size/12); `font` the path of a .ttf or
    .otf file (default: DejaVu Sans Bold with Latin, Greek and Cyrillic letters). "i" gives two shells; "P" has one
    handle, "8" two.
    """
    found, options = _prepare(string, size, depth, spacing, font)
    return [_solid(region, index, options) for index, region in enumerate(found)]


def letter(
    string: str,
    index: int = 0,
    size: float = 1.0,
    depth: float = 0.25,
    spacing: float | None = None,
    font: str | os.PathLike[str] | None = None,
) -> Shape:
    """The shell number `index` (from 0) of text(string, ...), at its place in the line. Arguments as for `text`."""
    found, options = _prepare(string, size, depth, spacing, font)
    index = whole("letter", "index", index, 0)
    if index >= len(found):
        raise MeshError(f"letter: {string!r} has {len(found)} shells (counted from 0), so there is no shell {index}")
    return _solid(found[index], index, options)


def _prepare(
    string: str, size: float, depth: float, spacing: float | None, font: str | os.PathLike[str] | None
) -> tuple[list[Region], dict[str, Any]]:
    size = length("text", "size", size)
    depth = length("text", "depth", depth)
    spacing = size / 12.0 if spacing is None else length("text", "spacing", spacing)
    if isinstance(string, str) and len(string) > MAX_CHARACTERS:
        raise MeshError(f"text: {len(string):,} characters are more than the limit of {MAX_CHARACTERS:,}; shorten it")
    options: dict[str, Any] = {"string": string, "size": size, "depth": depth, "spacing": spacing}
    if font is not None:
        options["font"] = os.fspath(font)
    found = regions(string, size, font)
    # two caps of equilateral triangles (√3/2·h² of area a vertex) and the walls; refuse before meshing
    extent = np.ptp(np.concatenate([region[0] for region in found]), axis=0)
    limit("text", int(min(2.3 * extent[0] * extent[1] / spacing**2 + 8.0 * extent.sum() * depth / spacing**2, 1e18)))
    return found, options


def _solid(region: Region, index: int, options: dict[str, Any]) -> Shape:
    """Front and back caps and the walls between them; rims are shared, so the shell is closed."""
    spacing, depth = options["spacing"], options["depth"]
    try:
        points, faces, rings = triangulate(region, spacing)
    except MeshError as error:
        raise MeshError(f"text: shell {index} of {options['string']!r}: {error}") from None
    levels = max(1, round(depth / spacing))
    vertices, triangles = _thicken(points, faces, rings, depth, levels)
    recipe = {name: value for name, value in options.items() if name != "string"}
    return Shape(vertices, triangles, "surface", {"letter": {"string": options["string"], "index": index, **recipe}})


def _thicken(
    points: FloatArray, faces: IntArray, rings: list[IntArray], depth: float, levels: int
) -> tuple[FloatArray, IntArray]:
    """Caps at y = ∓depth/2, and rim vertices repeated on `levels` − 1 lines between them.

    In the (x, z) plane counter-clockwise triangles face −y (e_x × e_z = −e_y), so the front cap keeps its winding. A
    rim side a→b of the front cap is met by b→a of the wall: squares (b, a, a', b'), with a' one level further back.
    """
    count = len(points)
    rim = np.concatenate(rings)
    after = np.concatenate([np.roll(ring, -1) for ring in rings])
    # row k of `number`: index of each cap vertex on level k (only rim vertices exist between the caps)
    number = np.full((levels + 1, count), -1, np.int64)
    number[0] = np.arange(count)
    number[levels] = count + np.arange(count)
    between = 2 * count + np.arange((levels - 1) * len(rim)).reshape(levels - 1, len(rim))
    number[1:levels][:, rim] = between
    y = np.linspace(-0.5 * depth, 0.5 * depth, levels + 1)
    flat = np.concatenate([points, points, np.tile(points[rim], (levels - 1, 1))])
    depths = np.concatenate([np.full(count, y[0]), np.full(count, y[-1]), np.repeat(y[1:-1], len(rim))])
    vertices = np.stack([flat[:, 0], depths, flat[:, 1]], axis=1)
    walls = []
    for k in range(levels):
        a, b = number[k, rim], number[k, after]
        a1, b1 = number[k + 1, rim], number[k + 1, after]
        even = ((np.arange(len(rim)) + k) % 2 == 0)[:, None]  # diagonals alternate: no preferred twist
        walls.append(np.where(even, np.stack([b, a, a1, b, a1, b1], 1), np.stack([a, a1, b1, a, b1, b], 1)))
    triangles = np.concatenate([faces, faces[:, ::-1] + count, np.concatenate(walls).reshape(-1, 3)])
    return vertices, triangles.astype(np.int32)
