"""PLY files with triangle strips, which scanned models of the Stanford archive use and trimesh does not read.

Format: Turk, "The PLY Polygon File Format" (1994). A row of the element `tristrips` is a list of vertex indices; -1
ends a strip, and the next index starts another one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from turgor.errors import MeshError
from turgor.shapes.shape import FloatArray
from turgor.shapes.topology import Integers

__all__ = ["has_strips", "read_strips"]

TYPES = {
    "char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4", "float": "f4",
    "double": "f8", "int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2", "int32": "i4", "uint32": "u4",
    "float32": "f4", "float64": "f8",
}  # fmt: skip
ORDERS = {"binary_little_endian": "<", "binary_big_endian": ">"}
INDICES = ("vertex_indices", "vertex_index")
RESTART = -1


@dataclass
class _Element:
    """A kind of rows: (name, type) of each property, and for lists the type of their length."""

    name: str
    count: int
    properties: list[tuple[str, str, str | None]] = field(default_factory=list)


def has_strips(data: bytes) -> bool:
    """Whether the header of a PLY file announces triangle strips."""
    return b"element tristrips" in data[: max(0, data.find(b"end_header"))]


def read_strips(data: bytes) -> tuple[FloatArray, Integers]:
    """Vertices (n, 3) and triangles (m, 3) of a PLY file: its faces, fanned, and its strips."""
    form, elements, start = _header(data)
    rows = _Text(data[start:]) if form == "ascii" else _Binary(data, start, ORDERS[form])
    vertices, faces = np.zeros((0, 3)), [np.zeros((0, 3), np.int64)]
    for element in elements:
        columns = rows.read(element)
        if element.name == "vertex":
            if not all(axis in columns for axis in "xyz"):
                raise MeshError("its vertices have no x, y and z; export it again")
            vertices = np.stack([np.asarray(columns[axis], np.float64) for axis in "xyz"], axis=1)
        elif element.name in ("face", "tristrips"):
            lists: list[Any] = next((columns[name] for name in INDICES if name in columns), [])
            cut = _fan if element.name == "face" else _triangles
            faces += [cut(np.asarray(ring, np.int64)) for ring in lists]
    return vertices, np.concatenate(faces)


def _header(data: bytes) -> tuple[str, list[_Element], int]:
    """Format, elements in the order of the file, and where the rows begin."""
    end = data.index(b"end_header")
    form, elements = "", []
    for line in data[:end].decode("ascii").splitlines():
        words = line.split()
        if words[:1] == ["format"]:
            form = words[1]
        elif words[:1] == ["element"]:
            elements.append(_Element(words[1], int(words[2])))
        elif words[:2] == ["property", "list"]:
            elements[-1].properties.append((words[4], TYPES[words[3]], TYPES[words[2]]))
        elif words[:1] == ["property"]:
            elements[-1].properties.append((words[2], TYPES[words[1]], None))
    if form != "ascii" and form not in ORDERS:
        raise MeshError(f"unknown PLY format {form!r}; export it as ascii or binary_little_endian")
    return form, elements, data.index(b"\n", end) + 1


class _Text:
    """Rows as lines of numbers."""

    def __init__(self, data: bytes) -> None:
        self._words = data.split()
        self._at = 0

    def read(self, element: _Element) -> dict[str, Any]:
        """A column for each property: numbers, or arrays of numbers."""
        names = [name for name, _, _ in element.properties]
        if all(length is None for _, _, length in element.properties):
            table = self._take(element.count * len(names)).reshape(-1, max(1, len(names)))
            return dict(zip(names, table.T, strict=False))
        columns: dict[str, Any] = {name: [] for name in names}
        for _ in range(element.count):
            for name, _, length in element.properties:
                if length is None:
                    columns[name].append(self._take(1)[0])
                else:
                    columns[name].append(self._take(int(self._take(1)[0])))
        return columns

    def _take(self, count: int) -> FloatArray:
        words = self._words[self._at : self._at + count]
        if len(words) < count or count < 0:
            raise MeshError("damaged or truncated, it ends before all announced rows")
        self._at += count
        return np.array(words, np.float64)


class _Binary:
    """Rows as bytes."""

    def __init__(self, data: bytes, start: int, order: str) -> None:
        self._data, self._at, self._order = data, start, order

    def read(self, element: _Element) -> dict[str, Any]:
        """A column for each property: numbers, or arrays of numbers."""
        if all(length is None for _, _, length in element.properties):
            rows = self._take(
                np.dtype([(name, self._order + kind) for name, kind, _ in element.properties]), element.count
            )
            return {name: rows[name] for name, _, _ in element.properties}
        columns: dict[str, Any] = {name: [] for name, _, _ in element.properties}
        for _ in range(element.count):
            for name, kind, length in element.properties:
                count = 1 if length is None else int(self._take(np.dtype(self._order + length), 1)[0])
                values = self._take(np.dtype(self._order + kind), count)
                columns[name].append(values[0] if length is None else values)
        return columns

    def _take(self, kind: np.dtype[Any], count: int) -> Any:
        size = kind.itemsize * count
        if count < 0 or self._at + size > len(self._data):
            raise MeshError("damaged or truncated, it ends before all announced rows")
        values = np.frombuffer(self._data, kind, count, self._at)
        self._at += size
        return values


def _fan(ring: Integers) -> Integers:
    """A polygon as triangles about its first corner."""
    return np.stack([np.full(max(0, len(ring) - 2), ring[0] if len(ring) else 0), ring[1:-1], ring[2:]], axis=1)


def _triangles(row: Integers) -> Integers:
    """The triangles of a row of strips; every second one of a strip is turned over, so that all agree.

    A triangle with the same index twice only leads from one strip to the next.
    """
    corners = np.stack([row[:-2], row[1:-1], row[2:]], axis=1) if len(row) > 2 else np.zeros((0, 3), np.int64)
    begins = np.concatenate([[0], np.flatnonzero(row == RESTART) + 1])  # of strips
    place = np.arange(len(corners))
    turned = (place - begins[np.searchsorted(begins, place, side="right") - 1]) % 2 == 1
    corners = np.where(turned[:, None], corners[:, [1, 0, 2]], corners)
    a, b, c = corners.T
    proper: Integers = corners[(corners != RESTART).all(axis=1) & (a != b) & (b != c) & (c != a)]
    return proper
