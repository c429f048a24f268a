"""A recording of turgor as Blender's Python can read it: .npz, with NumPy alone (h5py, for .vtkhdf, is not there)."""

import struct
from dataclasses import dataclass

import numpy as np

NEEDED = ("fps", "dim", "positions", "body_names", "body_starts", "body_counts", "faces", "face_starts")


class RecordingError(Exception):
    """The file is no recording; the message is for the user."""


@dataclass
class Body:
    """One body: `frames` is (frames, vertices, 3) in metres, `faces` lists of vertex numbers, colour linear or None."""

    name: str
    frames: np.ndarray
    faces: list
    color: tuple | None


@dataclass
class Recording:
    """All bodies of a recording, and how many frames it has per second."""

    fps: float
    bodies: list


def read(path):
    """The recording in an .npz file."""
    try:
        with np.load(path, allow_pickle=False) as file:
            data = {name: file[name] for name in file.files}
    except (OSError, ValueError, EOFError) as error:
        raise RecordingError(f"{path}: not an .npz file ({error})") from None
    missing = [name for name in NEEDED if name not in data]
    if missing:
        raise RecordingError(f"{path}: not a recording of turgor: {', '.join(missing)} missing")
    colors = data.get("body_colors", np.full((len(data["body_names"]), 3), np.nan))
    bodies = []
    for number, name in enumerate(data["body_names"]):
        start, count = int(data["body_starts"][number]), int(data["body_counts"][number])
        frames = data["positions"][:, start : start + count]
        faces = data["faces"][data["face_starts"][number] : data["face_starts"][number + 1]] - start
        if int(data["dim"]) == 2:  # drawn standing up: y of the recording is Blender's z
            frames = np.stack([frames[..., 0], np.zeros(frames.shape[:2]), frames[..., 1]], axis=-1)
            faces = outlines(faces)
        else:
            faces = faces.tolist()
        color = None if np.isnan(colors[number]).any() else tuple(map(float, colors[number]))
        bodies.append(Body(str(name), frames, faces, color))
    return Recording(float(data["fps"]), bodies)


def outlines(edges):
    """The closed loops that directed edges (n, 2) make, each as one polygon."""
    following = {int(a): int(b) for a, b in edges}
    polygons = []
    while following:
        start, vertex = following.popitem()
        polygon = [start]
        while vertex != start and vertex in following:
            polygon.append(vertex)
            vertex = following.pop(vertex)
        polygons.append(polygon)
    return polygons


def write_pc2(path, frames):
    """Frames (frames, vertices, 3) as a point cache, the format of Blender's Mesh Cache modifier; 32 bit floats."""
    count, vertices = frames.shape[:2]
    with open(path, "wb") as file:
        file.write(struct.pack("<12siiffi", b"POINTCACHE2\0", 1, vertices, 0.0, 1.0, count))
        for frame in frames:  # one at a time: no second copy of a long recording
            file.write(np.ascontiguousarray(frame, "<f4").tobytes())
