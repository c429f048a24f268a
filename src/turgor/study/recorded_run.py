"""A run of a data set as a recording: it becomes a film, a model or a `.vtkhdf` without being computed again."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt

from turgor.model.rotations import matrices_of, swing
from turgor.output.frame import Frame, Layout, WallPose
from turgor.record.vtkhdf_layout import read_layout

__all__ = ["RecordedRun", "about_of", "layout_of"]

FloatArray = npt.NDArray[np.float64]


def about_of(shard: h5py.File) -> dict[str, Any]:
    """How a shard was recorded."""
    about: dict[str, Any] = json.loads(shard["about"][:].tobytes())
    return about


def layout_of(shard: h5py.File) -> Layout:
    """Bodies and walls of a shard."""
    return read_layout(shard["layout"], lambda table: table)


class RecordedRun:
    """Frames of one layout, as `turgor.record.export` takes them: `len(run)`, `run[3].positions`.

    They are those that a recording of the run has, but for stretch and stress of materials, which a data set leaves
    out. Its whole trajectory is in memory.
    """

    def __init__(self, shard: h5py.File, item: Mapping[str, Any]) -> None:
        """item: of the run, as `Trajectories` gives it, with all fields in double precision."""
        self.path = Path(shard.filename)
        layout, about = layout_of(shard), about_of(shard)
        self._every = int(about["every"])
        bodies = tuple(replace(body, material=False) for body in layout.bodies)
        self.layout = replace(layout, bodies=bodies, fps=layout.fps / self._every)
        self._item = item
        self._corners = [shard[f"vertices/{n}"][:] for n, body in enumerate(bodies) if body.kind == "rigid"]
        count, walls, dim = len(item["time"]), len(layout.walls), layout.dim
        shapes = {"wall_position": (count, walls, dim), "wall_rotation": (count, walls, dim, dim)}
        places, axes = (np.reshape(shard[name][:] if walls else (), shape) for name, shape in shapes.items())
        self._walls = [
            tuple(WallPose(*pose) for pose in zip(*now, strict=True)) for now in zip(places, axes, strict=True)
        ]

    def __len__(self) -> int:
        return len(self._item["time"])

    def __iter__(self) -> Iterator[Frame]:
        return (self[index] for index in range(len(self)))

    def __getitem__(self, index: int) -> Frame:
        if not -len(self) <= index < len(self):
            raise IndexError(f"frame {index} of {len(self)}")
        index %= len(self)
        positions, velocities = self._rigid_vertices(index)
        bodies = len(self.layout.bodies)
        pressure, volume = (self._of_bodies(name, index, bodies) for name in ("pressure", "volume"))
        return Frame(
            index=index * self._every,
            time=float(self._item["time"][index]),
            positions=np.concatenate([*self._of_vertices("positions", index), *positions]),
            velocities=np.concatenate([*self._of_vertices("velocities", index), *velocities]),
            volumes=np.where(pressure > 0.0, volume, math.nan),  # without gas it has no meaning
            pressures=np.where(pressure > 0.0, pressure, math.nan),
            walls=self._walls[index],
        )

    def _of_vertices(self, name: str, index: int) -> list[FloatArray]:
        """Of the soft bodies, if there are any."""
        return [self._item[name][index]] if name in self._item else []

    def _of_bodies(self, name: str, index: int, bodies: int) -> FloatArray:
        """(bodies,); nan of the rigid ones, which are last."""
        found = np.full(bodies, math.nan)
        if name in self._item:
            found[: self._item[name].shape[1]] = self._item[name][index]
        return found

    def _rigid_vertices(self, index: int) -> tuple[list[FloatArray], list[FloatArray]]:
        """(count, dim) m and m/s of each rigid body."""
        positions, velocities = list[FloatArray](), list[FloatArray]()
        if self._corners:
            center, rotation, velocity, spin = (
                self._item[f"rigid_{name}"][index] for name in ("center", "rotation", "velocity", "spin")
            )
            for number, (corners, turn) in enumerate(zip(self._corners, matrices_of(rotation), strict=True)):
                arms = corners @ turn.T
                positions.append(arms + center[number])
                velocities.append(swing(spin[number], arms) + velocity[number])
        return positions, velocities
