"""A hand and a cat: ready meshes of our own making (tools/animals makes them), even triangles, closed, no handles."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

from turgor.shapes.arguments import length
from turgor.shapes.shape import FloatArray, IntArray, Shape

__all__ = ["cat", "hand"]

DATA = Path(__file__).parent / "data"


def hand(size: float = 1.0) -> Shape:
    """An open right hand with a short wrist: fingers up (+z), palm towards −y, thumb towards +x.

    It has 386 vertices and 768 faces, as the hand of Matyka & Ollila 2003. `size` is its height (m); the middle of the
    box around it is at the origin.
    """
    return _ready("hand", size)


def cat(size: float = 1.0) -> Shape:
    """A cat on four legs that faces +x and looks a little towards −y, tail up; 880 vertices and 1756 faces.

    `size` is its height (m), from the paws to the tips of the ears or tail; the middle of the box around it is at the
    origin, and it is 1.3 times as long as high.
    """
    return _ready("cat", size)


def _ready(name: str, size: float) -> Shape:
    size = length(name, "size", size)
    vertices, faces = _read(name)
    return Shape(vertices * size, faces.copy(), "surface", {name: {"size": size}})


@cache
def _read(name: str) -> tuple[FloatArray, IntArray]:
    """Vertices (height 1 m) and triangles of data/<name>.obj, which has lines `v x y z` and `f i j k` (from 1) only."""
    rows = [line.split() for line in (DATA / f"{name}.obj").read_text(encoding="ascii").splitlines()]
    vertices = np.array([row[1:] for row in rows if row[0] == "v"], np.float64)
    faces = np.array([row[1:] for row in rows if row[0] == "f"], np.int32) - np.int32(1)
    return vertices, faces
