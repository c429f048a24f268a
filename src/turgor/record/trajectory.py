"""Reads a trajectory back: the layout and the frames, as the simulation gave them."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from turgor.errors import SceneError
from turgor.output.frame import SKIN_FIELDS, Frame, Layout, WallPose
from turgor.record.vtkhdf_layout import is_current, number_of, read_layout

__all__ = ["Trajectory", "read"]

FloatArray = npt.NDArray[np.float64]

COLUMNS = {  # of the arrays of a frame
    "Points": (3,), "PointData/velocity": (3,), "FieldData/volume": (), "FieldData/pressure": (),
    "FieldData/wall_position": (3,), "FieldData/wall_rotation": (9,),
}  # fmt: skip


class Trajectory:
    """A recorded run. `len()`, index and iterate it for frames; frames are read when asked for.

    It may be opened while the run still records, and then holds the frames of that moment.
    """

    def __init__(self, path: str | Path) -> None:
        import h5py

        self.path = Path(path)
        try:
            self._size = self.path.stat().st_size  # bytes
            self._file = h5py.File(self.path, "r", locking=False)
        except (OSError, ValueError) as error:
            what = "does not exist" if not os.path.exists(self.path) else f"is not an HDF5 file ({error})"
            raise SceneError(f"{self.path}: {what}; give a .vtkhdf file that turgor recorded.") from None
        try:
            with self._damaged():
                if not is_current(self._file):
                    raise SceneError(f"{self.path}: was not recorded by this version of turgor; record the run again.")
                self.layout: Layout = read_layout(self._file["turgor"], self._table)
                count = number_of(self._file["VTKHDF/Steps"], "NSteps")
                self.times: FloatArray = self._table(self._file["VTKHDF/Steps/Values"])[:count]  # (frames,) seconds
                if len(self.times) != count or not count > 0:
                    raise ValueError(f"it announces {count} frames")
        except SceneError:
            self._file.close()
            raise

    @contextmanager
    def _damaged(self) -> Iterator[None]:
        """Whatever HDF5 makes of a damaged file is told in one sentence."""
        try:
            yield
        except (
            OSError,
            ValueError,
            LookupError,
            TypeError,
            AttributeError,
            ArithmeticError,
            RuntimeError,
            MemoryError,
        ) as e:
            raise SceneError(
                f"{self.path}: damaged, or not recorded by turgor ({_first_line(e)}); record the run again."
            ) from None

    def _table(self, data: Any) -> Any:
        """A dataset, if the file can hold what it announces: memory is taken for no more than that.

        Ours are never packed, and never in another file, which HDF5 would open for a stranger.
        """
        plain = data.file.filename == self._file.filename and data.external is None and not data.is_virtual
        if not plain or data.id.get_create_plist().get_nfilters():
            raise ValueError(f"{data.name} is packed, or lies in another file")
        for shape in (data.shape, data.chunks or ()):
            if math.prod(shape) * int(data.dtype.itemsize) > self._size:
                raise ValueError(f"{data.name} announces more than the file holds")
        if data.dtype.kind not in "iuf":
            raise ValueError(f"{data.name} holds no numbers")
        return data

    def __len__(self) -> int:
        return len(self.times)

    def __getitem__(self, index: int) -> Frame:
        if not -len(self) <= index < len(self):
            raise IndexError(f"frame {index} of {len(self)}")
        with self._damaged():
            return self._frame(index % len(self))

    def _frame(self, index: int) -> Frame:
        layout = self.layout
        walls = len(layout.walls)
        centers = self._rows("FieldData/wall_position", index, walls)
        rotations = self._rows("FieldData/wall_rotation", index, walls).reshape(-1, 3, 3)
        dim = layout.dim
        return Frame(
            index=index,
            time=float(self.times[index]),
            positions=self._rows("Points", index, layout.vertices)[:, :dim],
            velocities=self._rows("PointData/velocity", index, layout.vertices)[:, :dim],
            volumes=self._rows("FieldData/volume", index, len(layout.bodies)),
            pressures=self._rows("FieldData/pressure", index, len(layout.bodies)),
            walls=tuple(WallPose(c[:dim], r[:dim, :dim]) for c, r in zip(centers, rotations, strict=True)),
            **self._skin_fields(index),
        )

    def __iter__(self) -> Iterator[Frame]:
        return (self[index] for index in range(len(self)))

    @property
    def positions(self) -> FloatArray:
        """(frames, vertices, dim) metres; the whole run at once."""
        count, vertices = len(self), self.layout.vertices
        with self._damaged():
            rows = np.asarray(self._table(self._file["VTKHDF/Points"])[: count * vertices], np.float64)
            return rows.reshape(count, vertices, 3)[..., : self.layout.dim]

    def _skin_fields(self, index: int) -> dict[str, FloatArray]:
        """The fields of the faces; in 2D the polygons that fill the outlines come after them, without."""
        if not self.layout.has_materials:
            return {}
        cells = sum(int(self._file[f"VTKHDF/{kind}/NumberOfCells"][0]) for kind in ("Lines", "Polygons"))
        return {name: self._rows(f"CellData/{name}", index, cells)[: self.layout.faces] for name in SKIN_FIELDS}

    def _rows(self, name: str, index: int, rows: int) -> FloatArray:
        if rows == 0:
            return np.zeros((0, 3 if name != "FieldData/wall_rotation" else 9))
        table = self._table(self._file[f"VTKHDF/{name}"])
        if len(table) < (index + 1) * rows or table.shape[1:] != COLUMNS.get(name, table.shape[1:]):
            raise ValueError(f"{name} has the shape {table.shape}")
        return np.asarray(table[index * rows : (index + 1) * rows], np.float64)

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def read(path: str | Path) -> Trajectory:
    """Opens a `.vtkhdf` file that turgor recorded; SceneError if it is something else."""
    return Trajectory(path)


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
