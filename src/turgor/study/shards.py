"""The trajectories of a study on disk: a shard per simulation, with all of its worlds, and one index of all runs.

A shard is plain HDF5, as any HDF5 library reads it (VTKHDF holds one world, so a study of thousands would be as many
files; Zarr would be one more dependency, and a folder of many small files). Its datasets, of W worlds, F frames, N
vertices of soft bodies in the order of their shapes, B soft bodies and cloths, R rigid bodies in D dimensions:

    about            text (ASCII) in bytes: JSON with format, every, origin (D, m)
    layout/layout    text in bytes: JSON with scene, dim, fps, bodies (name, kind, start, count, color ...; rigid ones
                     last) and walls, as in a recording (record/vtkhdf_layout.py)
    layout/faces     (M, 3) corners of the triangles, (M, 2) of the segments in 2D, body by body, as many as `layout`
                     says; each in its own numbering
    runs             (W,) numbers of the runs
    time             (F,) s
    positions        (W, F, N, D) m from the origin, in the precision of the simulation; what it shows is their sum with
                     the origin in double precision
    velocities       (W, F, N, D) m/s
    volume           (W, F, B) m³ (m² in 2D), nan for a cloth
    pressure         (W, F, B) Pa (N/m in 2D), absolute; 0 without gas
    rigid_center     (W, F, R, D) m            rigid_rotation   (W, F, R, 4) quaternion x y z w; (W, F, R) rad in 2D
    rigid_velocity   (W, F, R, D) m/s          rigid_spin       (W, F, R, 3) rad/s; (W, F, R) in 2D
    vertices/2 ...   (count, D) m: of each rigid body, from its centre and unturned (rigid_rotation and rigid_center put
                     them where they are); numbered as its faces
    wall_position    (F, L, D) m: a point of each of L walls, or the centre of a container; the same in all worlds
    wall_rotation    (F, L, D, D) in its columns the axes of a container

What a scene has none of (rigid bodies, soft ones, walls) has no dataset. A chunk of the file holds some frames of one
world (of a few, where they are small), so that a run is read without the others.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import h5py
import numpy as np
import numpy.typing as npt

from turgor.errors import SceneError
from turgor.files import replacing, scratch, sweep, writing
from turgor.record.vtkhdf_layout import write_layout
from turgor.simulation.simulation import Simulation
from turgor.simulation.snapshot import wall_poses
from turgor.simulation.views.view import per_vertex
from turgor.study.careful import CarefulFile
from turgor.study.results import Results

__all__ = ["FORMAT", "INDEX", "ShardWriter", "data_folder", "save_shard", "write_index"]

FORMAT = "turgor shard 1"
INDEX = "index.json"
BUFFER = 64 * 2**20  # bytes of frames that wait to be written: whole chunks only, or each would be packed many times
CHUNK = 2**14, 2**20  # bytes, at least and at most: each chunk has its place in a table; it is read as a whole

Fields = dict[str, npt.NDArray[np.floating]]


class ShardWriter:
    """Writes the frames of a simulation's worlds; the file is there when `close` has been called, and only then.

    target: a path, or a binary file such as `io.BytesIO()` whose bytes can travel (`save_shard` puts them in place).
    runs: the number of the run of each world. every: frames between two that are recorded; the caller counts them.
    """

    def __init__(
        self, target: str | os.PathLike[str] | BinaryIO, sim: Simulation, runs: Sequence[int], every: int
    ) -> None:
        if len(runs) != sim.worlds:
            raise SceneError(f"a shard of {sim.worlds} worlds needs as many numbers of runs, got {len(runs)}")
        self._path: Path | None = None
        self._temporary: Path | None = None
        if isinstance(target, str | os.PathLike):
            self._path, self._temporary = Path(target), scratch(Path(target))
            with self._writing():
                self._bytes = _opened(self._temporary)
        else:
            self._bytes = target
        self._waiting: list[Fields] = []
        self._shared: list[Fields] = []  # of all frames: what worlds share, which is little
        self._frames = 0
        self._careful = CarefulFile(self._bytes)
        self._file = h5py.File(self._careful, "w")
        try:
            _describe(self._file, sim, runs, every)
            fields = _fields(sim)
            size = max(1, sum(field.nbytes for field in fields.values()))
            self._most = max(1, min(BUFFER // size, CHUNK[1] * sim.worlds // size, 1024))
            for name, field in fields.items():
                self._make(name, field)
        except BaseException:
            self.close(finished=False)
            raise

    def add(self, sim: Simulation) -> None:
        """Append the present state of all worlds."""
        self._waiting.append(_fields(sim))
        self._shared.append(_shared_fields(sim))
        if len(self._waiting) == self._most:
            self._flush()

    def close(self, finished: bool = True) -> None:
        """The file takes its place; unfinished ones are removed."""
        if not self._file:
            return
        try:
            if finished:
                self._flush()
                self._write_shared()
            self._file.close()
            if finished:
                with self._writing():
                    self._careful.flush()
                    self._careful.check()
                    if self._path is not None and self._temporary is not None:
                        self._bytes.close()
                        os.replace(self._temporary, self._path)
        finally:
            self._file.close()
            self._discard()

    def _discard(self) -> None:
        """What is left of the scratch file."""
        if self._temporary is not None:
            for remove in (self._bytes.close, self._temporary.unlink):
                with contextlib.suppress(OSError):  # the disk is full still; the file was moved
                    remove()

    def _make(self, name: str, field: npt.NDArray[np.floating]) -> None:
        """An empty dataset for frames of a field (worlds, ...)."""
        worlds, *inner = field.shape
        together = min(worlds, max(1, CHUNK[0] * worlds // max(1, self._most * field.nbytes)))
        self._file.create_dataset(
            name, (worlds, 0, *inner), field.dtype, maxshape=(worlds, None, *inner), shuffle=True, compression="gzip",
            compression_opts=1, chunks=(together, self._most, *inner),
        )  # fmt: skip

    def _flush(self) -> None:
        if not self._waiting:
            return
        end = self._frames + len(self._waiting)
        with self._writing():
            for name in self._waiting[0]:
                table = self._file[name]
                table.resize(end, axis=1)
                table[:, self._frames : end] = np.stack([fields[name] for fields in self._waiting], axis=1)
            self._careful.check()
        self._frames = end
        self._waiting.clear()

    def _write_shared(self) -> None:
        with self._writing():
            for name in self._shared[0] if self._shared else ("time",):
                self._file[name] = np.array([fields[name] for fields in self._shared], np.float64)
            self._careful.check()

    def _writing(self) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext() if self._path is None else writing(self._path)


def data_folder(folder: str | os.PathLike[str]) -> Path:
    """Where the shards of a study are: its own folder `data`."""
    return Path(folder) / "data"


def save_shard(path: str | os.PathLike[str], content: bytes) -> None:
    """Put the bytes of a shard that was written to memory into a file."""
    target = Path(path)
    with writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        with replacing(target) as temporary:
            temporary.write_bytes(content)


def write_index(folder: str | os.PathLike[str], results: Results) -> Path:
    """Write data/index.json: of each run with a result its shard, its place there, its frames, inputs and outputs.

    A run that is in two shards (a driver was killed between a shard and its rows) is taken from the first by name.
    """
    data = data_folder(folder)
    places: dict[int, tuple[str, int, int]] = {}
    for file in sorted(data.glob("*.h5")):
        if file.name.startswith("."):
            continue
        sweep(file)
        with h5py.File(file, "r") as shard:
            for offset, run in enumerate(shard["runs"][:].tolist()):
                places.setdefault(run, (file.name, offset, len(shard["time"])))
    entries = []
    for row in results.rows:
        if row["status"] == "ok" and row["run"] in places:
            shard_name, offset, frames = places[row["run"]]
            values = {
                kind: {name: _json_value(row[name]) for name in names}
                for kind, names in (("inputs", results.inputs), ("outputs", results.outputs))
            }
            where = {"run": row["run"], "shard": shard_name, "offset": offset, "frames": frames}
            entries.append(where | {"repeat": row["repeat"], "seed": row["seed"]} | values)
    target = data / INDEX
    with writing(target):
        data.mkdir(parents=True, exist_ok=True)
        with replacing(target) as temporary:
            lines = ",\n".join(map(json.dumps, entries))
            about = json.dumps({"format": FORMAT, "study": results.study})
            temporary.write_text(f'{about[:-1]}, "runs": [\n{lines}\n]}}\n', encoding="utf-8")
    return target


def _opened(path: Path) -> BinaryIO:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.open("w+b")


def _describe(file: h5py.File, sim: Simulation, runs: Sequence[int], every: int) -> None:
    """What does not change from frame to frame."""
    about = {"format": FORMAT, "every": int(every), "origin": np.asarray(sim.model.anchor, np.float64).tolist()}
    file.create_dataset("about", data=np.frombuffer(json.dumps(about).encode("ascii"), np.uint8))
    file.create_dataset("runs", data=np.asarray(runs, np.int64))
    write_layout(file.create_group("layout"), sim.layout)
    rigids = sim.model.rigids
    for number, (rigid, props) in enumerate(zip(rigids.bodies, rigids.props, strict=True), start=len(sim.bodies)):
        file.create_dataset(f"vertices/{number}", data=np.asarray(rigid.shape.vertices - props.center, np.float64))


def _fields(sim: Simulation) -> Fields:
    """All that is recorded of a frame, (worlds, ...), by the name of its dataset."""
    worlds, dtype = sim.worlds, sim.model.numbers.dtype

    def stacked(values: list[npt.ArrayLike], *shape: int) -> npt.NDArray[np.float64]:
        """Of bodies, each (worlds, ...) or, of a single world, (...)."""
        rows = [np.reshape(np.asarray(value, np.float64), (worlds, *shape)) for value in values]
        return np.stack(rows, axis=1) if rows else np.zeros((worlds, 0, *shape))

    dim = sim.scene.dim
    turn, spin = ((), ()) if dim == 2 else ((4,), (3,))
    soft, rigid = sim.bodies.values(), sim.rigid_bodies.values()
    points = (worlds, sim.vertices, dim)
    fields: Fields = {
        "positions": per_vertex(sim, sim.state.x).astype(dtype).reshape(points),
        "velocities": per_vertex(sim, sim.state.v).astype(dtype).reshape(points),
        "volume": stacked([body.volume for body in soft]),
        "pressure": stacked([body.pressure for body in soft]),
        "rigid_center": stacked([body.center for body in rigid], dim),
        "rigid_rotation": stacked([body.rotation for body in rigid], *turn),
        "rigid_velocity": stacked([body.velocity for body in rigid], dim),
        "rigid_spin": stacked([body.spin for body in rigid], *spin),
    }
    return {name: field for name, field in fields.items() if field.size}


def _shared_fields(sim: Simulation) -> Fields:
    """What is recorded of a frame once for all worlds."""
    poses = wall_poses(sim)
    fields = {
        "time": np.array(sim.time),
        "wall_position": np.array([pose.position for pose in poses]),
        "wall_rotation": np.array([pose.rotation for pose in poses]),
    }
    return {name: field for name, field in fields.items() if field.size}


def _json_value(value: object) -> object:
    """JSON has no nan."""
    return None if isinstance(value, float) and not np.isfinite(value) else value
