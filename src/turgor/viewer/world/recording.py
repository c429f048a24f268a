"""Frames of one layout, kept in memory: what the playground records, replays and downloads."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from turgor.output.frame import SKIN_FIELDS, Frame, Layout, WallPose

__all__ = ["MAX_BYTES", "Recording", "same_layout"]

MAX_BYTES = 256 << 20  # of one recording: about a minute of 3,000 vertices at 60 frames/s, 20 s with materials
STATE = sum(SKIN_FIELDS.values()) - 1  # the column of `wrinkled`, the last one
OVERHEAD = 640  # bytes of Python objects per frame, beside the numbers


@dataclass(frozen=True, slots=True)
class _Packed:
    """One frame, compact."""

    index: int
    time: float  # seconds
    points: npt.NDArray[np.float32]  # (2, vertices, dim) positions in metres, velocities in m/s
    gas: npt.NDArray[np.float64]  # (2, bodies) volumes, pressures
    walls: npt.NDArray[np.float64]  # (walls, dim + 1, dim) position, then the rotation's rows
    skin: npt.NDArray[np.float32] | None = None  # (faces, 7) SKIN_FIELDS side by side; None without materials

    @property
    def nbytes(self) -> int:
        skin = 0 if self.skin is None else self.skin.nbytes
        return self.points.nbytes + self.gas.nbytes + self.walls.nbytes + skin + OVERHEAD


class Recording:
    """Takes frames until it ends: when its memory is full, when the layout changes, or when time goes back (reset).

    One thread may add while others read a `snapshot`.
    """

    def __init__(self, layout: Layout, max_bytes: int = MAX_BYTES, frames: Sequence[_Packed] = ()) -> None:
        self.layout = layout
        self.max_bytes = max_bytes
        self._frames = list(frames)
        self.nbytes = sum(packed.nbytes for packed in self._frames)
        self.ended = ""  # why it takes no more frames, as a sentence; empty while it does

    def add(self, frame: Frame) -> bool:
        """Takes a frame; one of the same time replaces the last (something was changed while paused).

        False: the recording has ended, see `ended`, and the frame was not taken.
        """
        if not self.ended:
            self.ended = self._objection(frame)
        if self.ended:
            return False
        if self._frames and frame.time == self._frames[-1].time:
            self.nbytes -= self._frames[-1].nbytes
            self._frames[-1] = packed = _pack(frame)
        else:
            self._frames.append(packed := _pack(frame))
        self.nbytes += packed.nbytes
        return True

    def end(self, why: str) -> None:
        """Takes no more frames from now on; the first reason stays."""
        self.ended = self.ended or why

    def _objection(self, frame: Frame) -> str:
        layout = self.layout
        expected = (layout.vertices, layout.dim), len(layout.bodies), len(layout.walls), layout.has_materials
        if (np.shape(frame.positions), len(frame.volumes), len(frame.walls), frame.stress is not None) != expected:
            return "The scene has other bodies now, so the recording ended; what was recorded is kept."
        if not self._frames:
            return ""
        if frame.time < self._frames[-1].time:
            return "The scene was reset, so the recording ended; what was recorded is kept."
        if self.nbytes + self._frames[-1].nbytes > self.max_bytes:
            return (
                f"The recording is full ({self.max_bytes / 2**20:.0f} MiB) and stopped after {self.duration:.1f} s; "
                "download it, or record again."
            )
        return ""

    def snapshot(self) -> Recording:
        """The frames of this moment; it shares their memory and takes no more."""
        copy = Recording(self.layout, self.max_bytes, self._frames)
        copy.end("A copy takes no frames.")
        return copy

    def __len__(self) -> int:
        return len(self._frames)

    @property
    def duration(self) -> float:
        """Simulated seconds from the first frame to the last."""
        return self._frames[-1].time - self._frames[0].time if self._frames else 0.0

    def seconds(self, number: int) -> float:
        """Simulated seconds from the first frame to frame `number`."""
        return self._frames[number].time - self._frames[0].time

    def at(self, time: float) -> int:
        """The frame that is on the screen `time` seconds after the first one (the ends are held)."""
        if not self._frames:
            return 0
        start = self._frames[0].time
        found = bisect_right(self._frames, time + 1e-9, key=lambda packed: packed.time - start) - 1
        return max(found, 0)

    def frame(self, number: int) -> Frame:
        """Frame `number` as the simulation gave it, up to single precision."""
        return _unpack(self._frames[number])

    def sample(self, time: float) -> Frame:
        """The state `time` seconds after the first frame: between two frames, what lies between them."""
        number = self.at(time)
        before = self._frames[number]
        if number + 1 == len(self._frames) or time <= self.seconds(number):
            return _unpack(before)
        after = self._frames[number + 1]
        part = (time - self.seconds(number)) / (after.time - before.time)
        points = (before.points + np.float32(part) * (after.points - before.points)).astype(np.float32)
        gas = before.gas + part * (after.gas - before.gas)
        walls = before.walls + part * (after.walls - before.walls)
        for wall in walls:
            wall[1:] = _nearest_rotation(wall[1:])
        skin = before.skin
        if skin is not None and after.skin is not None:
            share = np.full(skin.shape[1], part, np.float32)
            share[STATE] = 0.0  # there is nothing between taut and slack
            skin = (skin + share * (after.skin - skin)).astype(np.float32)
        moment = before.time + part * (after.time - before.time)
        return _unpack(_Packed(before.index, moment, points, gas, walls, skin))

    def thinned(self, fps: float) -> list[int]:
        """Numbers of the frames of a film with at most `fps` of them per second; all of them, if they are fewer."""
        chosen: list[int] = []
        due = 0.0
        for number in range(len(self)):
            if self.seconds(number) >= due - 1e-9:
                chosen.append(number)
                due = max(due + 1 / fps, self.seconds(number) + 0.5 / fps)
        return chosen


def same_layout(one: Layout, other: Layout) -> bool:
    """Whether frames of one can be shown as frames of the other."""
    if one is other:
        return True
    if (one.scene, one.dim, one.walls) != (other.scene, other.dim, other.walls) or len(one.bodies) != len(other.bodies):
        return False
    return all(
        (a.name, a.kind, a.start, a.count, a.material) == (b.name, b.kind, b.start, b.count, b.material)
        and np.array_equal(a.faces, b.faces)
        for a, b in zip(one.bodies, other.bodies, strict=True)
    )


def _pack(frame: Frame) -> _Packed:
    dim = np.shape(frame.positions)[1]
    walls = np.zeros((len(frame.walls), dim + 1, dim))
    for row, pose in zip(walls, frame.walls, strict=True):
        row[0], row[1:] = pose.position, pose.rotation
    points = np.array([frame.positions, frame.velocities], np.float32)
    gas = np.array([frame.volumes, frame.pressures], np.float64)
    skin = None
    if frame.stress is not None:
        columns = [np.reshape(getattr(frame, name), (len(frame.stress), -1)) for name in SKIN_FIELDS]
        skin = np.concatenate(columns, axis=1).astype(np.float32)
    return _Packed(frame.index, float(frame.time), points, gas, walls, skin)


def _unpack(packed: _Packed) -> Frame:
    positions, velocities = packed.points.astype(np.float64)
    volumes, pressures = packed.gas.copy()
    skin: dict[str, npt.NDArray[np.float64]] = {}
    if packed.skin is not None:
        columns = np.split(packed.skin.astype(np.float64), np.cumsum(list(SKIN_FIELDS.values()))[:-1], axis=1)
        skin = dict(zip(SKIN_FIELDS, columns, strict=True))
        skin["wrinkled"] = skin["wrinkled"][:, 0]
    return Frame(
        index=packed.index,
        time=packed.time,
        positions=positions,
        velocities=velocities,
        volumes=volumes,
        pressures=pressures,
        walls=tuple(WallPose(wall[0].copy(), wall[1:].copy()) for wall in packed.walls),
        **skin,
    )


def _nearest_rotation(matrix: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The rotation nearest to a mean of two (polar decomposition)."""
    left, _, right = np.linalg.svd(matrix)
    return np.asarray(left @ right, np.float64)
