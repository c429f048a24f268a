"""Shells of a file made to fit: joined, simplified, turned upright, scaled; results go through the doctor again."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from turgor.errors import MeshError
from turgor.shapes.arguments import MAX_VERTICES, length, whole
from turgor.shapes.doctor import check
from turgor.shapes.paint import Look, Material, joined
from turgor.shapes.paint_transfer import transferred
from turgor.shapes.report import Report, many
from turgor.shapes.shape import FloatArray, Shape
from turgor.shapes.simplify import LEAST, simplified
from turgor.shapes.union import union

__all__ = ["PARTS", "UP", "Fit", "fitted"]

# Rotations that turn an axis of the file to turgor's up, +z. With y up, what faces +z in the file faces -y.
UP: dict[str, tuple[tuple[int, ...], ...]] = {
    "x": ((0, 0, -1), (0, 1, 0), (1, 0, 0)),
    "y": ((1, 0, 0), (0, 0, -1), (0, 1, 0)),
    "z": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "-x": ((0, 0, 1), (0, 1, 0), (-1, 0, 0)),
    "-y": ((1, 0, 0), (0, 0, 1), (0, -1, 0)),
    "-z": ((1, 0, 0), (0, -1, 0), (0, 0, -1)),
}
PARTS = ("all", "union")


@dataclass(frozen=True)
class Fit:
    """What is to be done with the shells of a file.

    scale (no unit): metres per unit of the file
    size (m): the longest side of the bounding box, whose centre becomes the origin; instead of `scale`
    up (no unit): the axis of the file that points up, "x", "y", "z" or "-x", "-y", "-z"
    vertices (no unit): at most so many in each shell
    parts (no unit): None: each shell is fitted by itself; "all": all together; "union": so, and joined if they overlap
    """

    scale: float = 1.0
    size: float | None = None
    up: str = "z"
    vertices: int | None = None
    parts: str | None = None

    @classmethod
    def of(cls, where: str, **values: Any) -> Fit:
        """Checked values; `where` begins the sentence about a bad one."""
        fit = cls(**values)
        if fit.size is not None and fit.scale != 1.0:
            raise MeshError(f"{where}: give scale or size, not both")
        for name, known in (("up", tuple(UP)), ("parts", (None, *PARTS))):
            if getattr(fit, name) not in known:
                listed = ", ".join(repr(value) for value in known if value is not None)
                raise MeshError(f"{where}: {name} must be one of {listed}, got {getattr(fit, name)!r}")
        return cls(
            length(where, "scale", fit.scale),
            None if fit.size is None else length(where, "size", fit.size),
            fit.up,
            None if fit.vertices is None else whole(where, "vertices", fit.vertices, LEAST, MAX_VERTICES),
            fit.parts,
        )

    def recipe(self) -> dict[str, Any]:
        """What differs from the defaults, by name."""
        return {
            entry.name: getattr(self, entry.name)
            for entry in fields(self)
            if getattr(self, entry.name) != entry.default
        }


def fitted(report: Report, fit: Fit) -> Report:
    """The report with its shells and shapes made to fit; what was done, or why it cannot be, is in it.

    Of a report with problems the good shells are fitted; `parts` means all shells, and then nothing is done.
    """
    if fit == Fit() or (fit.parts is not None and report.problems):
        return report
    if fit.parts == "union" and any(shape.kind == "sheet" for shape in report.shapes):
        raise MeshError(f'{report.source}: parts = "union" joins closed surfaces, not cloth; leave one of the two out')
    if fit.parts == "union" and len(report.shapes) > 1:
        _join(report)
    if fit.vertices is not None:
        _simplify(report, fit.vertices)
    if fit.up != "z":
        report.fitted.append(f"turned its {fit.up} axis up")
    turned = [shape.vertices @ np.array(UP[fit.up], np.float64).T for shape in report.shapes]
    together = [[part] for part in turned] if fit.parts is None else [turned]
    moved = [part for group in together for part in _scaled(report, group, fit)]
    report.shapes = [replace(shape, vertices=part) for shape, part in zip(report.shapes, moved, strict=True)]
    usable = [shell for shell in report.shells if shell["ok"]]
    for shell, shape in zip(usable, report.shapes, strict=True):
        if shell["volume"] is not None:
            shell["volume"] = shape.volume
    return report


def _scaled(report: Report, parts: list[FloatArray], fit: Fit) -> list[FloatArray]:
    """The parts scaled in their places to each other; with a size their common box is that long, about the origin."""
    if fit.size is None or not parts:
        return [part * fit.scale for part in parts]
    low = np.min([part.min(axis=0) for part in parts], axis=0)
    high = np.max([part.max(axis=0) for part in parts], axis=0)
    extent = float((high - low).max())
    report.fitted.append(f"scaled the longest side of its box from {extent:.4g} to {fit.size:.4g} m")
    return [(part - (low + high) / 2.0) * (fit.size / extent) for part in parts]


def _join(report: Report) -> None:
    """The union of all shells instead of them."""
    count = len(report.shapes)
    whole = _together(report)
    made = check(union(report.source, report.shapes))
    report.shells, report.problems = made.shells, made.problems
    report.shapes = [_painted(shape, whole) for shape in made.shapes]
    report.fitted.append(f"joined {many(count, 'shell')} into {len(made.shells):,}")


def _together(report: Report) -> Shape:
    """All shells as one shape, with one image for all of them."""
    shapes = report.shapes
    starts = np.cumsum([0] + [len(shape.vertices) for shape in shapes[:-1]])
    faces = [shape.faces + np.int32(start) for shape, start in zip(shapes, starts, strict=True)]
    paint = joined([(len(part.faces), part.corner_uv, Material(part.texture, part.color)) for part in shapes])
    look = Look() if paint is None else paint.look()
    if look.note is not None:
        report.notes.append(look.note)
    return Shape(
        np.concatenate([shape.vertices for shape in shapes]),
        np.concatenate(faces),
        "sheet",  # shells may touch, so that it is no closed surface
        {},
        corner_uv=look.corner_uv,
        texture=look.texture,
        color=look.color,
    )


def _painted(new: Shape, old: Shape) -> Shape:
    """The new shape with the look of the old one, over which it lies."""
    uv = None if old.corner_uv is None else transferred(old, new)
    return replace(new, corner_uv=uv, texture=old.texture, color=old.color)


def _simplify(report: Report, target: int) -> None:
    """Shells of more than `target` vertices get fewer; a problem where that cannot be done."""
    places = [index for index, shell in enumerate(report.shells) if shell["ok"]]
    left: list[Shape] = []
    for index, shape in zip(places, report.shapes, strict=True):
        if len(shape.vertices) <= target:
            left.append(shape)
            continue
        cloth = shape.kind == "sheet"
        simple = check(simplified(shape.vertices, shape.faces.astype(np.int64), target), cloth=cloth)
        if not simple.ok or len(simple.shapes) != 1:
            reason = simple.problems[0] if simple.problems else "it falls apart"
            report.problems.append(
                f"it cannot be simplified from {len(shape.vertices):,} to {target:,} vertices; ask for more ({reason})"
            )
            report.shells[index]["ok"] = False
            continue
        report.fitted.append(f"simplified {len(shape.vertices):,} vertices to {len(simple.shapes[0].vertices):,}")
        report.shells[index], (one,) = simple.shells[0], simple.shapes
        left.append(_painted(one, shape))
    report.shapes = left
