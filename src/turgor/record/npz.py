"""`.npz`: a whole run as plain numpy arrays, for notebooks. All frames are kept in memory until `close`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from turgor.files import replacing, writing
from turgor.output.frame import SKIN_FIELDS, Frame, Layout
from turgor.record.file_sink import FileSink

__all__ = ["NpzSink"]


class NpzSink(FileSink):
    """Collects frames and writes them at `close`, in one move. Memory: 16 · dim bytes per vertex and frame,
    with materials also 56 per face.

    For long runs of large scenes use `.vtkhdf`, which streams. Arrays in the file:
    times (frames,) s; positions, velocities (frames, vertices, dim) m, m/s; volumes, pressures (frames, bodies);
    body_names, body_kinds, body_starts, body_counts (bodies,); body_colors (bodies, 3) red, green, blue in 0..1 or nan;
    faces (m, dim) global vertex indices; face_starts (bodies + 1,); wall_positions (frames, walls, dim);
    wall_rotations (frames, walls, dim, dim);
    scene, fps, dim. With materials also stretch, stress (Pa), tension (N/m) (frames, m, 2) and wrinkled (frames, m) of
    the faces; nan for bodies without.
    """

    def __init__(self, path: Path, layout: Layout) -> None:
        super().__init__(path, layout)
        self._taken: list[Frame] = []
        self._skin_fields = list(SKIN_FIELDS) if layout.has_materials else []

    def _add(self, frame: Frame) -> None:
        names = ["positions", "velocities", "volumes", "pressures", *self._skin_fields]
        copy = {name: np.array(getattr(frame, name)) for name in names}
        self._taken.append(Frame(frame.index, frame.time, **copy, walls=frame.walls))

    def close(self, success: bool = True) -> None:
        taken, self._taken = self._taken, []
        if not success or not taken:
            return
        layout, dim = self.layout, self.layout.dim
        bodies, walls = layout.bodies, len(layout.walls)
        faces = [np.asarray(body.faces, np.int64).reshape(-1, dim) + body.start for body in bodies]
        skins: dict[str, Any] = {
            name: np.stack([getattr(frame, name) for frame in taken]) for name in self._skin_fields
        }
        poses = [pose for frame in taken for pose in frame.walls]
        with writing(self.path), replacing(self.path) as temporary:
            np.savez(
                temporary,
                scene=layout.scene,
                fps=layout.fps,
                dim=dim,
                times=np.array([frame.time for frame in taken]),
                positions=np.stack([frame.positions for frame in taken]),
                velocities=np.stack([frame.velocities for frame in taken]),
                volumes=np.stack([frame.volumes for frame in taken]),
                pressures=np.stack([frame.pressures for frame in taken]),
                body_names=np.array([body.name for body in bodies], dtype=np.str_),
                body_kinds=np.array([body.kind for body in bodies], dtype=np.str_),
                body_starts=np.array([body.start for body in bodies], dtype=np.int64),
                body_counts=np.array([body.count for body in bodies], dtype=np.int64),
                body_colors=np.array([body.color or (np.nan,) * 3 for body in bodies]).reshape(-1, 3),
                faces=np.concatenate([*faces, np.zeros((0, dim), np.int64)]),
                face_starts=np.cumsum([0, *map(len, faces)]),
                wall_positions=np.array([pose.position for pose in poses]).reshape(len(taken), walls, dim),
                wall_rotations=np.array([pose.rotation for pose in poses]).reshape(len(taken), walls, dim, dim),
                **skins,
            )
