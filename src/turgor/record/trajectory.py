"""Reads a trajectory back: the layout and the frames, as the simulation gave them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from turgor.errors import SceneError
from turgor.output.frame import SKIN_FIELDS, BodyLayout, Frame, Layout, WallLayout, WallPose
from turgor.record.vtkhdf import FORMAT

__all__ = ["Trajectory", "read"]

FloatArray = npt.NDArray[np.float64]


class Trajectory:
    """A recorded run. `len()`, index and iterate it for frames; frames are read when asked for.

    It may be opened while the run still records, and then holds the frames of that moment.
    """

    def __init__(self, path: str | Path) -> None:
        import h5py

        self.path = Path(path)
        try:
            self._file = h5py.File(self.path, "r", locking=False)
        except OSError as error:
            what = "does not exist" if not self.path.exists() else f"is not an HDF5 file ({error})"
            raise SceneError(f"{self.path}: {what}; give a .vtkhdf file that turgor recorded.") from None
        if "turgor" not in self._file or self._file["turgor"].attrs["format"] != FORMAT:
            self._file.close()
            raise SceneError(f"{self.path}: was not recorded by this version of turgor; record the run again.")
        root = self._file["VTKHDF"]
        count = int(root["Steps"].attrs["NSteps"])
        self.layout: Layout = _read_layout(self._file["turgor"])
        self.times: FloatArray = root["Steps/Values"][:count]  # (frames,) seconds

    def __len__(self) -> int:
        return len(self.times)

    def __getitem__(self, index: int) -> Frame:
        if not -len(self) <= index < len(self):
            raise IndexError(f"frame {index} of {len(self)}")
        index %= len(self)
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
        rows = np.asarray(self._file["VTKHDF/Points"][: count * vertices], np.float64)
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
        return np.asarray(self._file[f"VTKHDF/{name}"][index * rows : (index + 1) * rows], np.float64)

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def read(path: str | Path) -> Trajectory:
    """Opens a `.vtkhdf` file that turgor recorded; SceneError if it is something else."""
    return Trajectory(path)


def _read_layout(group: Any) -> Layout:
    bodies, walls, dim = group["bodies"], group["walls"], int(group.attrs["dim"])
    stops = np.cumsum(bodies["face_counts"][:])
    faces = np.split(bodies["faces"][:], stops[:-1]) if len(stops) else []
    parts = []
    for number, name in enumerate(bodies["names"].asstr()[:]):
        color = bodies["colors"][number]
        uv, corner_uv = f"uv/{number}", f"corner_uv/{number}"
        parts.append(
            BodyLayout(
                name=str(name),
                kind=str(bodies["kinds"].asstr()[number]),
                start=int(bodies["starts"][number]),
                count=int(bodies["counts"][number]),
                faces=faces[number],
                uv=bodies[uv][:] if uv in bodies else None,
                color=None if np.isnan(color).any() else (float(color[0]), float(color[1]), float(color[2])),
                material="materials" in bodies and bool(bodies["materials"][number]),
                corner_uv=bodies[corner_uv][:] if corner_uv in bodies else None,
                texture=(str(bodies["textures"].asstr()[number]) or None) if "textures" in bodies else None,
            )
        )
    sides = []
    for number, name in enumerate(walls["names"].asstr()[:]):
        normal, size = (tuple(float(v) for v in walls[key][number] if not np.isnan(v)) for key in ("normals", "sizes"))
        sides.append(WallLayout(str(name), str(walls["kinds"].asstr()[number]), normal, size))
    return Layout(str(group.attrs["scene"]), dim, float(group.attrs["fps"]), tuple(parts), tuple(sides))
