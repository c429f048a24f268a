"""`.vtkhdf`: the trajectory file, a temporal VTKHDF PolyData that ParaView, PyVista and `vtkHDFReader` open as it is.

Safe at any moment. A killed writer (SIGKILL) must leave a file that opens with every frame added so far. Appending to
HDF5 datasets does not give that: their index and sizes are spread over the file and reach it in several writes. So:

1. The file is created with room for `capacity` frames; HDF5 writes all its metadata then, and never again.
2. A frame is copied with `pwrite` into its own place; readers do not look there yet.
3. One `pwrite` inside the first page of the file then counts it. Two numbers have to change together, the attribute
   `Steps/NSteps` and the length of `Steps/Values` (vtkHDFReader overruns its buffer when they differ). Both lie in that
   page, because they are created first; the kernel copies within a page without looking at signals. v1 object
   headers ("earliest") carry no checksum, so the two numbers can be changed where they are.
4. A full file is copied to one with twice the room beside it, which then takes its name (rename is atomic).

Unwritten room is a hole in a sparse file. `close` writes the exact size. A run that goes on after a kill keeps the
first frames of the file that is there (`keep`); they are copied as in 4, so that a kill meanwhile does no harm. This
guards against the death of the process, not of the machine (no fsync). Where the system has no `pwrite`, `open_file.py`
does without.
"""

from __future__ import annotations

import contextlib
import os
import struct
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from turgor.errors import SceneError
from turgor.files import replacing, writing
from turgor.output.frame import SKIN_FIELDS, Frame, Layout
from turgor.record.file_sink import FileSink
from turgor.record.geometry import loops, to_3d
from turgor.record.open_file import RENAMES_OPEN_FILES, lock, open_for_update, read_at, write_at
from turgor.record.vtkhdf_layout import number_of, same, write_layout

__all__ = ["VtkHdfSink"]

PAGE = 4096  # bytes; the smallest page size in use, so a write inside the first one is never torn
FIRST_ROOM = 1 << 22  # bytes of frames in the first file, when the number of frames is not known
COPY_BLOCK = 1 << 24  # bytes per read when the file grows
_MARK = 0x52_4F_47_52_55_54_4E_53  # the value of NSteps while its place in the file is searched


class VtkHdfSink(FileSink):
    """Streams frames to a VTKHDF file that is complete after each `add`.

    frames: the expected number, to make the file the right size at once. precision: "float64" (exact) or "float32".
    keep: go on with the file that is there, of a run of the same simulation, after its first `keep` frames.
    While it records, the file is locked as HDF5 does it; `turgor.record.read` may follow it nevertheless.
    """

    def __init__(
        self, path: Path, layout: Layout, *, frames: int | None = None, precision: str = "float64", keep: int = 0
    ) -> None:
        super().__init__(path, layout)
        if precision not in ("float32", "float64"):
            raise SceneError(f"{path}: precision = {precision!r}; use 'float64' or 'float32'.")
        self._plan = _Plan(layout, np.dtype(precision))
        self._room = int(frames) if frames else max(16, FIRST_ROOM // max(self._plan.frame_bytes, 1))
        self._file: _File | _Recorded | None = None
        if keep:
            self._file, self.frames = _Recorded(path, self._plan, keep), keep
            with writing(path):
                try:
                    self._move(max(self._room, 2 * keep))
                except BaseException:
                    self._release()
                    raise

    def _add(self, frame: Frame) -> None:
        data = self._plan.arrays(frame)
        if self._file is None:
            self._move(self._room, data)
            return
        if self.frames == self._file.capacity:
            self._move(2 * self._file.capacity)
        assert isinstance(self._file, _File)
        self._file.write(self.frames, data)
        self._file.count(self.frames + 1)

    def _move(self, capacity: int, first: dict[str, npt.NDArray[Any]] | None = None) -> None:
        """Puts a file with another capacity, holding the frames so far (or the first one), in the place of this one."""
        with replacing(self.path) as temporary:
            count = 1 if first else self.frames
            new = _File(temporary, self._plan, capacity, count)
            try:
                if first:
                    new.write(0, first)
                elif self._file is not None:
                    new.copy_from(self._file, count)
                new.count(count)
            except BaseException:
                new.close()
                raise
            if not RENAMES_OPEN_FILES:
                new.close()
                self._release()
        self._release()
        if not RENAMES_OPEN_FILES:
            new.open(self.path)
        self._file = new

    def _release(self) -> None:
        if self._file is not None:
            self._file.close()
        self._file = None

    def close(self, success: bool = True) -> None:
        """Cuts the file to size. A failed run keeps its frames too: they show what went wrong."""
        if self._file is None:
            return
        try:
            if self._file.capacity != self.frames:
                with contextlib.suppress(OSError):  # where the disk is full it stays as it is: whole, with spare room
                    self._move(self.frames)
        finally:
            self._release()


class _Plan:
    """Which arrays a frame has: name in the file -> (rows, columns) per frame."""

    def __init__(self, layout: Layout, real: np.dtype[Any]) -> None:
        self.layout = layout
        self.real = real
        vertices, bodies, walls = layout.vertices, len(layout.bodies), len(layout.walls)
        self.cells = layout.faces + _fillings(layout)  # rows of a field of the faces
        skins = {f"CellData/{name}": (self.cells, columns) for name, columns in SKIN_FIELDS.items()}
        shapes = {
            "Steps/Values": (1, 1),
            "Points": (vertices, 3),
            "PointData/velocity": (vertices, 3),
            "FieldData/volume": (bodies, 1),
            "FieldData/pressure": (bodies, 1),
            "FieldData/wall_position": (walls, 3),
            "FieldData/wall_rotation": (walls, 9),
            **(skins if layout.has_materials else {}),
        }
        self.shapes = {name: shape for name, shape in shapes.items() if shape[0]}
        self.frame_bytes = sum(
            rows * columns * self.dtype(name).itemsize for name, (rows, columns) in self.shapes.items()
        )

    def dtype(self, name: str) -> np.dtype[Any]:
        """Only the large arrays may be single precision."""
        if name == "CellData/wrinkled":
            return np.dtype(np.float32)  # holds 0, 1, 2 and nan exactly
        large = name in ("Points", "PointData/velocity") or name.startswith("CellData/")
        return self.real if large else np.dtype(np.float64)

    def arrays(self, frame: Frame) -> dict[str, npt.NDArray[Any]]:
        """The bytes of one frame, ready to be written."""
        walls = len(self.layout.walls)
        if len(frame.walls) != walls:
            raise SceneError(f"frame {frame.index} has {len(frame.walls)} wall poses where the layout says {walls}.")
        rotations = np.tile(np.eye(3), (walls, 1, 1))
        for rotation, pose in zip(rotations, frame.walls, strict=True):
            rotation[: self.layout.dim, : self.layout.dim] = pose.rotation
        data: dict[str, npt.ArrayLike] = {
            "Steps/Values": [frame.time],
            "Points": to_3d(frame.positions),
            "PointData/velocity": to_3d(frame.velocities),
            "FieldData/volume": frame.volumes,
            "FieldData/pressure": frame.pressures,
            "FieldData/wall_position": to_3d([pose.position for pose in frame.walls]) if walls else (),
            "FieldData/wall_rotation": rotations,
        }
        if self.layout.has_materials:
            for name, columns in SKIN_FIELDS.items():
                rows = np.full((self.cells, columns), np.nan)
                rows[: self.layout.faces] = np.reshape(getattr(frame, name), (-1, columns))
                data[f"CellData/{name}"] = rows
        return {
            name: np.ascontiguousarray(data[name], self.dtype(name)).reshape(shape)
            for name, shape in self.shapes.items()
        }


class _File:
    """One file with room for `capacity` frames: HDF5 lays it out, after that only bytes are put in their places."""

    def __init__(self, path: Path, plan: _Plan, capacity: int, count: int) -> None:
        self.capacity = capacity
        self._plan = plan
        _ensure_room(path, plan, capacity)
        self.places, header = _lay_out(path, plan, capacity, count)
        self.open(path)
        self._page = bytearray(read_at(self.fd, PAGE, 0))
        self._length = _find(self._page, header, struct.pack("<QQ", count, capacity), "the length of Steps/Values")
        self._steps = _find(self._page, 0, struct.pack("<Q", _MARK), "Steps/NSteps")

    def open(self, path: Path) -> None:
        self.fd = open_for_update(path)
        lock(self.fd)

    def write(self, index: int, data: dict[str, npt.NDArray[Any]]) -> None:
        for name, array in data.items():
            write_at(self.fd, array.data.cast("B"), self.places[name] + index * array.nbytes)

    def count(self, frames: int) -> None:
        """Makes the first `frames` frames visible: one write inside one page."""
        for place in (self._length, self._steps):
            struct.pack_into("<Q", self._page, place, frames)
        start, stop = min(self._length, self._steps), max(self._length, self._steps) + 8
        write_at(self.fd, self._page[start:stop], start)

    def copy_from(self, other: _File | _Recorded, frames: int) -> None:
        for name, (rows, columns) in self._plan.shapes.items():
            source, target = other.places[name], self.places[name]
            size = frames * rows * columns * self._plan.dtype(name).itemsize
            for done in range(0, size, COPY_BLOCK):
                block = read_at(other.fd, min(COPY_BLOCK, size - done), source + done)
                write_at(self.fd, block, target + done)

    def close(self) -> None:
        os.close(self.fd)


class _Recorded:
    """The file of an earlier run, to copy its first `keep` frames from; SceneError where it does not have them."""

    def __init__(self, path: Path, plan: _Plan, keep: int) -> None:
        import h5py

        again = "run it from the beginning"
        if not path.is_file():
            raise SceneError(f"{path}: the recording that this run would go on with is not there; {again}")
        try:
            with h5py.File(path, "r", locking=False) as file, _in_memory() as expected:
                write_layout(expected.create_group("turgor"), plan.layout)
                found = same(file["turgor"], expected["turgor"])
                self.capacity = number_of(file["VTKHDF/Steps"], "NSteps")
                self.places = {name: _place(file[f"VTKHDF/{name}"], plan.dtype(name)) for name in plan.shapes}
        except (OSError, KeyError, TypeError, ValueError, RuntimeError) as error:
            raise SceneError(f"{path}: not a recording of this version of turgor ({error}); {again}") from None
        if not found:
            raise SceneError(f"{path}: it is the recording of another scene; {again}")
        if self.capacity < keep:
            raise SceneError(f"{path}: it has {self.capacity} frames, and the run would go on after {keep}; {again}")
        self.fd = open_for_update(path)
        if not lock(self.fd):
            os.close(self.fd)
            raise SceneError(f"{path}: another run is writing it; wait for its end, or end it")

    def close(self) -> None:
        os.close(self.fd)


def _in_memory() -> Any:
    """An HDF5 file that is never written."""
    import h5py

    return h5py.File("expected", "w", driver="core", backing_store=False)


def _place(data: Any, dtype: np.dtype[Any]) -> int:
    """Where in the file the rows of a dataset start, in bytes."""
    place = data.id.get_offset() if data.chunks is None else data.id.get_chunk_info(0).byte_offset
    if place is None or data.dtype != dtype:
        raise ValueError(f"{data.name} is {data.dtype}, written by another program or with another precision")
    return int(place)


def _find(page: bytearray, start: int, pattern: bytes, what: str) -> int:
    """Where HDF5 put a number that we will change: the first place after `start`."""
    place = page.find(pattern, start)
    if place < 0:
        raise RuntimeError(f"this version of HDF5 puts {what} elsewhere; please report it (h5py.version.info)")
    return place


def _ensure_room(path: Path, plan: _Plan, capacity: int) -> None:
    """OSError where the disk has no room for what HDF5 writes: it crashes (1.14) when it finds that out itself."""
    layout = plan.layout
    size = (1 << 16) + 512 * capacity + 1024 * len(layout.bodies) + 128 * layout.faces + 32 * layout.vertices  # enough
    fd = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0))
    try:
        write_at(fd, bytes(size), 0)
        write_at(fd, b"\0", size + capacity * plan.frame_bytes)  # files may have a largest size
        os.ftruncate(fd, 0)
    finally:
        os.close(fd)


def _lay_out(path: Path, plan: _Plan, capacity: int, count: int) -> tuple[dict[str, int], int]:
    """Writes all that does not change, and reserves the rest.

    Returns, in bytes, where the arrays of the frames start, and where the header of Steps/Values (length first) is.
    """
    import h5py

    with h5py.File(path, "w", libver=("earliest", "v110"), locking=False, track_order=False) as file:
        root = file.create_group("VTKHDF")
        steps = root.create_group("Steps")  # first in the file: its two counters must be in the first page
        steps.attrs.create("NSteps", _MARK, dtype="<i8")
        values = _reserve(steps, "Values", (count,), np.dtype("<f8"), room=(capacity,))
        places = {"Steps/Values": values.id.get_chunk_info(0).byte_offset}
        header = h5py.h5o.get_info(values.id).addr
        root.attrs["Version"] = np.array([2, 3], np.int64)
        root.attrs.create("Type", b"PolyData", dtype="S8")
        _write_topology(root, plan.layout)
        _write_steps(steps, plan, capacity)
        for name, (rows, columns) in plan.shapes.items():
            if name != "Steps/Values":
                shape = (capacity * rows, columns) if columns > 1 else (capacity * rows,)
                places[name] = _reserve(root, name, shape, plan.dtype(name).newbyteorder("<")).id.get_offset()
        write_layout(file.create_group("turgor"), plan.layout)
    return places, header


def _reserve(group: Any, name: str, shape: tuple[int, ...], dtype: np.dtype[Any], room: Any = None) -> Any:
    """A dataset whose place in the file is fixed at once, without writing it. With `room`: one chunk that may grow."""
    import h5py

    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    plist.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    plist.set_obj_track_times(False)
    if room:
        plist.set_chunk(room)
    group.require_group(name.rpartition("/")[0] or ".")
    space = h5py.h5s.create_simple(shape, room or shape)
    return h5py.Dataset(h5py.h5d.create(group.id, name.encode(), h5py.h5t.py_create(dtype), space, plist))


def _write_topology(root: Any, layout: Layout) -> None:
    """Cells, once: every step refers to them. 2D: the outline as lines, and filled; 3D: triangles."""
    cells: dict[str, list[npt.NDArray[np.int64]]] = {"Vertices": [], "Lines": [], "Polygons": [], "Strips": []}
    owner = np.zeros(layout.vertices, np.int32)
    for number, body in enumerate(layout.bodies):
        owner[body.start : body.start + body.count] = number
        faces = np.asarray(body.faces, np.int64) + body.start
        if layout.dim == 2:
            cells["Lines"] += list(faces)
            cells["Polygons"] += loops(faces)[0]
        else:
            cells["Polygons"] += list(faces)
    for kind, rows in cells.items():
        group = root.create_group(kind)
        group["NumberOfCells"] = np.array([len(rows)], np.int64)
        group["NumberOfConnectivityIds"] = np.array([sum(map(len, rows))], np.int64)
        group["Offsets"] = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        group["Connectivity"] = np.concatenate([*rows, np.zeros(0, np.int64)])
    root["NumberOfPoints"] = np.array([layout.vertices], np.int64)
    root.create_group("PointData")["body"] = owner


def _fillings(layout: Layout) -> int:
    """The number of polygons that fill outlines in 2D; VTK counts them after the lines, and they have no fields."""
    return sum(len(loops(body.faces)[0]) for body in layout.bodies) if layout.dim == 2 else 0


def _write_steps(steps: Any, plan: _Plan, capacity: int) -> None:
    """The offsets of every step that will fit; all are known in advance."""
    index = np.arange(capacity, dtype=np.int64)
    steps["PartOffsets"] = np.zeros_like(index)
    steps["NumberOfParts"] = np.ones_like(index)
    steps["PointOffsets"] = index * plan.layout.vertices
    steps["CellOffsets"] = np.zeros((capacity, 4), np.int64)
    steps["ConnectivityIdOffsets"] = np.zeros((capacity, 4), np.int64)
    offsets = {kind: steps.create_group(f"{kind}Offsets") for kind in ("PointData", "CellData", "FieldData")}
    offsets["PointData"]["body"] = np.zeros_like(index)
    sizes = steps.create_group("FieldDataSizes")
    for name, (rows, columns) in plan.shapes.items():
        kind, _, array = name.partition("/")
        if kind in offsets:
            offsets[kind][array] = index * rows
        if kind == "FieldData":
            sizes[array] = np.tile(np.array([columns, rows], np.int64), (capacity, 1))
