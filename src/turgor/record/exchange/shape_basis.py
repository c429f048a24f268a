"""Few shapes whose weighted sums are all shapes that a body takes: what glTF calls morph targets, Blender shape keys.

Frames come one by one and are not kept. A frame that the shapes so far do not reach within the allowed distance adds
one: what is left of it, made orthogonal to the others. So memory holds the shapes, and one number per shape and frame.
At the end the shapes are turned to principal axes (those of the largest share of the motion first), and the last ones
are left out as far as no vertex is missed by more than is allowed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["MorphTargets", "ShapeBasis"]

FloatArray = npt.NDArray[np.float64]
Float32 = npt.NDArray[np.float32]
CHUNK = 1 << 22  # numbers that are computed at a time when shapes are left out


@dataclass(frozen=True)
class MorphTargets:
    """Shapes, and how much of each is in each frame: from 0 to 1, as Blender takes no other weights.

    So a shape that goes both ways is there twice, with both signs; without any weight a body is as in the first frame.
    """

    shapes: Float32  # (targets, vertices, 3) m: displacements
    normals: Float32  # (targets, points, 3) change of the normals, fitted to all frames
    weights: FloatArray  # (frames, targets)
    errors: FloatArray  # (frames,) m: by how much the sums miss the worst vertex, at most
    reach: float  # m: no vertex moves further than this for a change of `weights · sizes` by 1
    sizes: FloatArray  # (targets,) of the shapes


class ShapeBasis:
    """Takes displacements from the first shape, frame by frame."""

    def __init__(self, vertices: int, points: int, allowed: float) -> None:
        """allowed: m, by which a vertex may be missed. points: number of normals."""
        self._allowed = allowed
        self._points = points
        self._rows: Float32 = np.zeros((0, 3 * vertices), np.float32)  # orthonormal, with room to grow
        self._sums: Float32 = np.zeros((0, 3 * points), np.float32)  # over frames: coefficient times change of normals
        self._count = 0
        self._coefficients: list[FloatArray] = []
        self._errors: list[float] = []

    def add(self, shape: FloatArray, normals: FloatArray) -> None:
        """shape: (vertices, 3) m, displacements; normals: (points, 3), their change."""
        rest: Float32 = shape.astype(np.float32).ravel()
        rows = self._rows[: self._count]
        part = rows @ rest
        rest = np.asarray(rest - part @ rows, np.float32)
        again = rows @ rest  # twice is enough (Kahan, in Parlett 1980): the rest is orthogonal to rounding
        rest = np.asarray(rest - again @ rows, np.float32)
        part = part + again
        error = _furthest(rest)
        if error > self._allowed:
            length = float(np.linalg.norm(rest))
            self._grow()
            self._rows[self._count] = rest / length
            self._count += 1
            part = np.append(part, np.float32(length))
            error = float(np.finfo(np.float32).eps) * length
        self._coefficients.append(part.astype(np.float64))
        self._errors.append(error)
        if self._count and self._points:
            self._sums[: self._count] += np.outer(part, normals.astype(np.float32).ravel())

    def _grow(self) -> None:
        if self._count == len(self._rows):
            room = max(8, self._count)
            self._rows = np.concatenate([self._rows, np.zeros((room, self._rows.shape[1]), np.float32)])
            self._sums = np.concatenate([self._sums, np.zeros((room, self._sums.shape[1]), np.float32)])

    def finish(self, allowed: float) -> MorphTargets:
        """allowed: m, by which a vertex may be missed beyond what it is already."""
        table = np.zeros((len(self._coefficients), self._count))
        for row, part in zip(table, self._coefficients, strict=True):
            row[: len(part)] = part  # a shape that came later was not in earlier frames
        powers, axes = np.linalg.eigh(table.T @ table)
        axes = axes[:, np.argsort(-powers)]
        table = table @ axes
        rows = axes.T.astype(np.float32) @ self._rows[: self._count]
        number, lost = self._fewest(table, rows, allowed)
        table, rows, axes = table[:, :number], rows[:number], axes[:, :number]
        # Least squares of the normals on the weights; the columns of `table` are orthogonal, so each stands alone.
        powers = np.maximum((table**2).sum(axis=0), 1e-30)
        normals = (axes / powers).T.astype(np.float32) @ self._sums[: self._count]
        spread = np.sqrt(
            (rows.reshape(number, rows.shape[1] // 3, 3).astype(np.float64) ** 2).sum(axis=(0, 2)).max(initial=0.0)
        )
        table, both = np.concatenate([table, -table], axis=1).clip(min=0.0), np.concatenate([rows, -rows])
        normals = np.concatenate([normals, -normals])
        used = np.flatnonzero(table.max(axis=0, initial=0.0) > 0.0)
        table, both, normals = table[:, used], both[used], normals[used]
        sizes = table.max(axis=0, initial=0.0)
        scale = sizes.astype(np.float32)[:, None]
        return MorphTargets(
            shapes=(both * scale).reshape(len(used), rows.shape[1] // 3, 3),
            normals=(normals * scale).reshape(len(used), self._points, 3),
            weights=table / sizes,
            errors=np.array(self._errors) + lost,
            reach=float(spread) * np.sqrt(2.0),  # (a − b)² ≤ 2 (a² + b²), for the two signs of a shape
            sizes=sizes,
        )

    @staticmethod
    def _fewest(table: FloatArray, rows: Float32, allowed: float) -> tuple[int, FloatArray]:
        """The number of leading shapes that suffices, by bisection; and what is lost of each frame, m."""

        def lost(number: int) -> FloatArray:
            step = max(1, CHUNK // max(rows.shape[1], 1))
            parts = [
                np.linalg.norm((part.astype(np.float32) @ rows[number:]).reshape(len(part), -1, 3), axis=2).max(axis=1)
                for part in (table[k : k + step, number:] for k in range(0, len(table), step))
            ]
            return np.concatenate(parts).astype(np.float64)

        enough, best = table.shape[1], np.zeros(len(table))
        low = 0
        while low < enough:
            middle = (low + enough) // 2
            found = lost(middle)
            if found.max() <= allowed:
                enough, best = middle, found
            else:
                low = middle + 1
        return enough, best


def _furthest(shape: Float32) -> float:
    """m: the largest displacement of a vertex."""
    rows = shape.reshape(-1, 3)
    return float(np.sqrt(np.einsum("ij,ij->i", rows, rows).max(initial=0.0)))
