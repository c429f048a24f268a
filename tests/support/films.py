"""Short recordings of gallery scenes, and the pictures of a video."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from turgor import Simulation, gallery
from turgor.viewer.world.recording import Recording


def film(name: str, frames: int, keep: Any = lambda k: True) -> Recording:
    """The frames of a gallery scene for which `keep` of their number holds."""
    sim = Simulation(gallery.load(name))
    recording = Recording(sim.layout)
    for number in range(frames):
        if number:
            sim.step()
        if keep(number):
            recording.add(sim.frame())
    return recording


def pictures(content: bytes, tmp_path: Path) -> tuple[dict[str, Any], list[np.ndarray]]:
    """What ffmpeg finds in a video: about it, and its pictures."""
    import imageio_ffmpeg

    (tmp_path / "read.mp4").write_bytes(content)
    reader = imageio_ffmpeg.read_frames(str(tmp_path / "read.mp4"))
    about = next(reader)
    width, height = about["size"]
    return about, [np.frombuffer(data, np.uint8).reshape(height, width, 3) for data in reader]
