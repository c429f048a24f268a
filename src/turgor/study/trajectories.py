"""The recorded trajectories of a study, read one at a time: a data set as PyTorch's DataLoader takes it."""

from __future__ import annotations

import json
import math
import operator
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, SupportsIndex

import h5py
import numpy as np
import numpy.typing as npt

from turgor.errors import SceneError, did_you_mean
from turgor.study.recorded_run import RecordedRun, about_of, layout_of
from turgor.study.shards import FORMAT, INDEX, data_folder

__all__ = ["FIELDS", "Trajectories"]

#: The arrays of a trajectory, (frames, ...); turgor/study/shards.py has their units and shapes.
FIELDS = (
    "positions", "velocities", "volume", "pressure", "rigid_center", "rigid_rotation", "rigid_velocity", "rigid_spin",
)  # fmt: skip


class Trajectories:
    """A map-style data set: `len(data)` runs, `data[i]` a dict of arrays.

    An item has `run` (its number), `inputs` and `outputs` (dicts of its row in the table), `time` (frames,) s and the
    fields. It is read from disk when it is asked for, and no file stays open: workers of a DataLoader can share one.

    folder: of the study. fields: those to read; left out, all that the scene has (without rigid bodies none of them).
    dtype: of the fields; float64 has all bits.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        fields: Sequence[str] | None = None,
        dtype: npt.DTypeLike = np.float64,
    ) -> None:
        self._data = data_folder(folder)
        for name in fields or ():
            if name not in FIELDS:
                raise SceneError(f"trajectories have no field {name!r}; {did_you_mean(name, FIELDS)}")
        self._fields, self._dtype = None if fields is None else tuple(fields), np.dtype(dtype)
        path = self._data / INDEX
        try:
            index = json.loads(path.read_text(encoding="utf-8"))
            self._runs: list[Mapping[str, Any]] = index["runs"]
            known = index["format"] == FORMAT
        except FileNotFoundError:
            raise SceneError(f"{folder}: has no trajectories; make the study with --record every=N") from None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise SceneError(f"{path}: cannot be read ({error})") from error
        if not known:
            raise SceneError(f"{path}: is not of the format {FORMAT!r}; record the study again")

    def __len__(self) -> int:
        return len(self._runs)

    @property
    def runs(self) -> list[int]:
        """The number of the run of each item, as in the table."""
        return [int(entry["run"]) for entry in self._runs]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self[number] for number in range(len(self)))

    def __getitem__(self, number: SupportsIndex) -> dict[str, Any]:
        entry = self._runs[operator.index(number)]
        with self._open(entry) as shard:
            return _item(shard, entry, self._fields, self._dtype)

    def recording(self, run: int) -> RecordedRun:
        """A run by its number, as in the table: `turgor.record.export(data.recording(12), "best.mp4")`."""
        numbers = self.runs
        if run not in numbers:
            known = f"it has {len(numbers):,}, from {min(numbers)} to {max(numbers)}" if numbers else "it has none"
            raise SceneError(f"{self._data.parent}: has no trajectory of a run {run!r}; {known}")
        entry = self._runs[numbers.index(run)]
        with self._open(entry) as shard:
            return RecordedRun(shard, _item(shard, entry, None, np.dtype(np.float64)))

    def bodies(self, number: SupportsIndex = 0) -> dict[str, dict[str, Any]]:
        """Of a run, by name: kind, start and count (its rows of `positions`; a rigid body has none) and faces.

        A rigid body has vertices too, (count, dim) m: from its `rigid_center` and before its `rigid_rotation`.
        """
        found: dict[str, dict[str, Any]] = {}
        with self._open(self._runs[operator.index(number)]) as shard:
            for place, body in enumerate(layout_of(shard).bodies):
                found[body.name] = {key: getattr(body, key) for key in ("kind", "start", "count", "faces")}
                if body.kind == "rigid":
                    found[body.name]["vertices"] = shard[f"vertices/{place}"][:]
        return found

    @contextmanager
    def _open(self, entry: Mapping[str, Any]) -> Iterator[h5py.File]:
        """Whatever HDF5 makes of a damaged shard is told in one sentence."""
        path = self._data / Path(entry["shard"]).name  # a file of this folder, whatever the index says
        try:
            with h5py.File(path, "r") as shard:
                yield shard
        except (OSError, ValueError, LookupError, TypeError, RuntimeError, MemoryError) as error:
            said = " ".join(str(error).split())[:200]
            raise SceneError(f"{path}: this shard of the data set cannot be read ({said})") from error


def _item(
    shard: h5py.File, entry: Mapping[str, Any], fields: Sequence[str] | None, dtype: np.dtype[Any]
) -> dict[str, Any]:
    item: dict[str, Any] = {"run": entry["run"], "inputs": _values(entry["inputs"])}
    item["outputs"] = _values(entry["outputs"])
    item["time"] = shard["time"][:]
    for name in [name for name in FIELDS if name in shard] if fields is None else fields:
        if name not in shard:
            raise SceneError(f"the scene of this data set has no {name!r}: leave that field out")
        values = np.asarray(shard[name][entry["offset"]], np.float64)
        if name == "positions":
            values += np.asarray(about_of(shard)["origin"])
        item[name] = values.astype(dtype, copy=False)
    return item


def _values(row: Mapping[str, Any]) -> dict[str, Any]:
    """Missing ones as nan: a DataLoader cannot stack None."""
    return {name: math.nan if value is None else value for name, value in row.items()}
