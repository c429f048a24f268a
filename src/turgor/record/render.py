"""Pictures of frames, drawn off-screen: no display and no GPU is needed."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from turgor.output.frame import Frame, Layout
from turgor.record.flat import FlatPainter
from turgor.record.look import Look, Pixels, write_text
from turgor.record.solid import SolidPainter

__all__ = ["Painter"]


class Painter:
    """Draws the frames of one simulation. Options: the fields of `Look` (velocities, normals, color_by, ...).

    The camera is set by the first frame (bodies, their shadow on the ground, containers) and stays.
    """

    def __init__(self, layout: Layout, size: tuple[int, int] = (1280, 720), **options: Any) -> None:
        self._look = Look(size=size, **options)
        painter = FlatPainter if layout.dim == 2 else SolidPainter
        self._painter: FlatPainter | SolidPainter = painter(layout, self._look)

    def draw(self, frame: Frame) -> Pixels:
        """The frame as a picture, uint8 (height, width, 3)."""
        picture = self._painter.draw(frame)
        if self._look.timestamp:
            picture = write_text(picture, f"t = {frame.time:.3f} s")
        return np.ascontiguousarray(picture)

    def aim(self, *frames: Frame) -> None:
        """Sets the camera so that all these frames are in view, velocity vectors too, if none has been drawn yet."""
        self._painter.aim(*frames)

    def close(self) -> None:
        """Frees the graphics memory."""
        self._painter.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
