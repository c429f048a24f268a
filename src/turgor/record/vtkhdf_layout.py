"""What a `.vtkhdf` keeps for `turgor.record.read` and VTKHDF has no place for: the layout, in the group /turgor.

Words and numbers are one text (JSON) in a table of bytes. HDF5's own texts have their lengths in the file, beside them:
one that is damaged makes it read for hours, or take all memory, before anything can be checked.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from turgor.output.frame import BodyLayout, Layout, WallLayout

__all__ = ["FORMAT", "is_current", "number_of", "read_layout", "same", "write_layout"]

FORMAT = 2  # of the group


def write_layout(group: Any, layout: Layout) -> None:
    """Into a new group."""
    faces = [np.asarray(body.faces, np.int32).reshape(-1, layout.dim) for body in layout.bodies]
    about = {
        "scene": layout.scene,
        "dim": layout.dim,
        "fps": layout.fps,
        "bodies": [
            {
                "name": body.name,
                "kind": body.kind,
                "start": body.start,
                "count": body.count,
                "faces": len(part),
                "color": body.color and [float(value) for value in body.color],
                "material": body.material,
                "texture": body.texture and os.path.abspath(body.texture),  # the file may be read from another folder
            }
            for body, part in zip(layout.bodies, faces, strict=True)
        ],
        "walls": [
            {"name": wall.name, "kind": wall.kind, "normal": _floats(wall.normal), "size": _floats(wall.size)}
            for wall in layout.walls
        ],
    }
    group["format"] = np.int64(FORMAT)
    group["layout"] = np.frombuffer(json.dumps(about).encode("ascii"), np.uint8)
    group["faces"] = np.concatenate([*faces, np.zeros((0, layout.dim), np.int32)])
    for number, body in enumerate(layout.bodies):
        for name, uv in (("uv", body.uv), ("corner_uv", body.corner_uv)):
            if uv is not None:
                group[f"{name}/{number}"] = np.asarray(uv, np.float64)


def is_current(file: Any) -> bool:
    """Whether this version of turgor has written a file."""
    found = file.get("turgor/format")
    return found is not None and found.shape == () and found.dtype == np.int64 and int(found[()]) == FORMAT


def read_layout(group: Any, table: Callable[[Any], Any]) -> Layout:
    """The layout; `table` checks a dataset before it is read. Any of Python's usual errors if it is damaged."""

    def array(name: str, kind: str) -> Any:
        data = table(group[name])
        if data.dtype.kind != kind:
            raise ValueError(f"{data.name} is {data.dtype}")
        return data[:]

    about = json.loads(array("layout", "u").tobytes())
    faces = array("faces", "i")
    bodies, first = [], 0
    for number, body in enumerate(about["bodies"]):
        uv, corner_uv = (
            array(f"{name}/{number}", "f") if f"{name}/{number}" in group else None for name in ("uv", "corner_uv")
        )
        bodies.append(
            BodyLayout(
                name=str(body["name"]),
                kind=str(body["kind"]),
                start=int(body["start"]),
                count=int(body["count"]),
                faces=faces[first : first + int(body["faces"])],
                uv=uv,
                color=None if body["color"] is None else _color(*body["color"]),
                material=bool(body["material"]),
                corner_uv=corner_uv,
                texture=None if body["texture"] is None else str(body["texture"]),
            )
        )
        first += int(body["faces"])
    walls = tuple(
        WallLayout(str(wall["name"]), str(wall["kind"]), tuple(_floats(wall["normal"])), tuple(_floats(wall["size"])))
        for wall in about["walls"]
    )
    layout = Layout(str(about["scene"]), int(about["dim"]), float(about["fps"]), tuple(bodies), walls)
    _check(layout, len(faces))
    return layout


def _floats(values: Any) -> list[float]:
    return [float(value) for value in values]


def _color(red: Any, green: Any, blue: Any) -> tuple[float, float, float]:
    return float(red), float(green), float(blue)


def _check(layout: Layout, faces: int) -> None:
    """ValueError if parts of a layout contradict each other."""
    if layout.dim not in (2, 3) or not 0.0 < layout.fps < np.inf:
        raise ValueError(f"dim = {layout.dim}, fps = {layout.fps}")
    if faces != layout.faces:
        raise ValueError(f"{faces} faces for {layout.faces}")
    start = 0
    for body in layout.bodies:
        inside = body.faces.ndim == 2 and body.faces.shape[1] == layout.dim
        if inside and len(body.faces):
            inside = body.faces.min() >= 0 and body.faces.max() < body.count
        if not inside or body.start != start or body.count < 0:
            raise ValueError(f"the body {body.name!r} has other vertices than its faces")
        start += body.count


def number_of(group: Any, name: str) -> int:
    """An attribute, if it is a number: of a text, HDF5 would believe any length."""
    import h5py

    kind = h5py.h5a.open(group.id, name.encode()).get_type()
    if not isinstance(kind, h5py.h5t.TypeIntegerID):
        raise ValueError(f"{name} is no number")
    return int(group.attrs[name])


def same(one: Any, other: Any) -> bool:
    """Whether two groups, or two datasets, of HDF5 files hold the same."""
    if hasattr(one, "shape") and hasattr(other, "shape"):
        return one.shape == other.shape and one.dtype == other.dtype and np.array_equal(one[()], other[()])
    return set(one) == set(other) and all(same(one[key], other[key]) for key in one)
