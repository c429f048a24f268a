"""A mesh as it was given, by a file or an object of another library, before the mesh doctor has seen it."""

from __future__ import annotations

from dataclasses import dataclass

from turgor.shapes.paint import Paint
from turgor.shapes.shape import FloatArray
from turgor.shapes.topology import Integers

__all__ = ["GivenMesh"]


@dataclass(frozen=True)
class GivenMesh:
    """Triangles and their look."""

    vertices: FloatArray  # (n, 3)
    faces: Integers  # (m, 3)
    paint: Paint | None = None  # None: nothing is known about its look
    notes: tuple[str, ...] = ()  # a sentence for what of its look could not be read
