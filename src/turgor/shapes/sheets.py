"""Cloth: a rectangular grid of particles with springs along rows, columns and both diagonals (Matyka 2007)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from turgor.errors import MeshError
from turgor.shapes.arguments import lengths, limit, whole
from turgor.shapes.shape import IntArray, Shape

__all__ = ["sheet"]


def sheet(size: Sequence[float] | float = (1.0, 1.0), resolution: Sequence[int] | int = (20, 20)) -> Shape:
    """Cloth in the x-z plane (x to the right, z up), centred at the origin, front side towards −y.

    `size` (width, height) in metres; `resolution` (columns, rows) counts VERTICES, at least 2 each. Edges of the faces
    are rows, columns and one diagonal of each square; `extra_springs` has the other diagonal. `groups` name vertices
    for pins: "left", "right", "top", "bottom", "edges", "corners", "left-corners", ...; `uv` runs from 0 to 1.
    """
    width, height = lengths("sheet", "size", size, 2)
    columns, rows = _resolution(resolution)
    limit("sheet", columns * rows)
    u, v = np.meshgrid(np.linspace(0.0, 1.0, columns), np.linspace(0.0, 1.0, rows), indexing="xy")
    uv = np.stack([u.ravel(), v.ravel()], axis=1)
    vertices = np.stack([(uv[:, 0] - 0.5) * width, np.zeros(len(uv)), (uv[:, 1] - 0.5) * height], axis=1)
    k = np.arange(columns * rows, dtype=np.int32).reshape(rows, columns)
    a, b, c, d = (part.ravel() for part in (k[:-1, :-1], k[:-1, 1:], k[1:, 1:], k[1:, :-1]))
    i, j = np.meshgrid(np.arange(rows - 1), np.arange(columns - 1), indexing="ij")
    even = ((i + j) % 2 == 0).ravel()[:, None]
    # diagonals of the faces alternate, so that bending and wind have no preferred direction
    faces = np.where(even, np.stack([a, b, c, a, c, d], 1), np.stack([a, b, d, b, c, d], 1)).reshape(-1, 3)
    extra = np.where(even, np.stack([b, d], 1), np.stack([a, c], 1))
    recipe: dict[str, Any] = {"sheet": {"size": [width, height], "resolution": [columns, rows]}}
    return Shape(vertices, faces, "sheet", recipe, extra_springs=extra, groups=_groups(k), uv=uv)


def _resolution(resolution: Any) -> tuple[int, int]:
    if isinstance(resolution, int | float | np.integer):
        resolution = (resolution, resolution)
    if isinstance(resolution, str) or not isinstance(resolution, Sequence | np.ndarray) or len(resolution) != 2:
        raise MeshError(f"sheet: resolution must be two whole numbers (columns, rows), got {resolution!r}")
    return whole("sheet", "resolution[0]", resolution[0], 2), whole("sheet", "resolution[1]", resolution[1], 2)


def _groups(k: IntArray) -> dict[str, IntArray]:
    """Named vertex sets of the grid k (rows, columns) of indices, row 0 at the bottom."""
    corner = {"left": k[[0, -1], 0], "right": k[[0, -1], -1], "top": k[-1, [0, -1]], "bottom": k[0, [0, -1]]}
    side = {"left": k[:, 0], "right": k[:, -1], "top": k[-1], "bottom": k[0]}
    groups = {name: np.sort(index) for name, index in side.items()}
    groups |= {f"{name}-corners": np.sort(index) for name, index in corner.items()}
    groups["corners"] = np.unique(np.concatenate([corner["left"], corner["right"]]))
    groups["edges"] = np.unique(np.concatenate(list(side.values())))
    return groups
