"""Draws only the part of a 3D picture in which something moves; the rest is drawn once and kept.

Without a graphics card the time of a picture is that of its pixels. The camera stands still, so floor and background
are the same in every picture, and the window is made as small as bodies, shadows and containers need it. The floor, a
texture seen at a flat angle, would take as long as all the rest together.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from turgor.record.antialias import smooth_edges
from turgor.record.camera import VIEW_ANGLE, on_screen
from turgor.record.look import Pixels
from turgor.record.window import Window

__all__ = ["Viewport"]

FloatArray = npt.NDArray[np.float64]
EDGE = 6  # pixels around what moves
STEP = 96  # pixels: sizes of the window, so that it is seldom made anew


class Viewport:
    """The window of a camera that stands still."""

    def __init__(self, window: Window, size: tuple[int, int], eye: FloatArray, target: FloatArray) -> None:
        self._window = window
        self._size = np.array(size)
        self._eye, self._target = eye, target
        self._background: Pixels | None = None

    def keep_background(self) -> None:
        """What is to be seen now does not change."""
        self._background = np.array(self._render(np.zeros(2, np.int64), self._size, True)[..., :3])

    @property
    def has_background(self) -> bool:
        return self._background is not None

    def draw(self, moving: FloatArray | None, over: bool) -> Pixels:
        """The picture; moving: points (n, 3) that hold all that is not of the background; None: everything may be.

        over: the background is not drawn, but lies behind what is.
        """
        corner, size = self._part(moving)
        part = self._render(corner, size, not over)
        if self._background is None:
            return smooth_edges(part[..., :3])
        place = np.s_[corner[1] : corner[1] + size[1], corner[0] : corner[0] + size[0]]
        picture = self._background.copy()
        picture[place] = smooth_edges(_laid_over(part, picture[place]) if over else part[..., :3])
        return picture

    def _part(self, moving: FloatArray | None) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Upper left corner and size in pixels of the part that must be drawn."""
        whole = np.zeros(2, np.int64), self._size
        if moving is None or self._background is None or not len(moving):
            return whole
        back = (self._eye - self._target) / np.linalg.norm(self._eye - self._target)
        if ((self._eye - moving) @ back).min() <= 0.0:  # behind the camera
            return whole
        places = on_screen(moving, self._eye, self._target, (int(self._size[0]), int(self._size[1])))
        low = np.clip(np.floor(places.min(axis=0)) - EDGE, 0, self._size).astype(np.int64)
        high = np.clip(np.ceil(places.max(axis=0)) + EDGE, 0, self._size).astype(np.int64)
        window = np.minimum(-(-np.maximum(high - low, 1) // STEP) * STEP, self._size)
        if window.prod() > 0.8 * self._size.prod():
            return whole
        return np.clip((low + high - window) // 2, 0, self._size - window), window

    def _render(
        self, corner: npt.NDArray[np.int64], size: npt.NDArray[np.int64], background: bool
    ) -> npt.NDArray[np.uint8]:
        """Through the part of the camera's frustum that belongs to a part of the picture."""
        self._window.size = int(size[0]), int(size[1])
        middle = (corner + size / 2 - self._size / 2) / (size / 2) * (1, -1)  # in halves of the window, upwards
        camera = self._window.camera
        half = np.tan(np.radians(VIEW_ANGLE / 2)) * size[1] / self._size[1]
        camera.SetViewAngle(float(np.degrees(2 * np.arctan(half))))
        camera.SetWindowCenter(float(middle[0]), float(middle[1]))
        return self._window.render(background)


def _laid_over(front: npt.NDArray[np.uint8], behind: Pixels) -> Pixels:
    """A picture (height, width, 4), whose colours are multiplied by alpha, over another one."""
    clear = 255 - front[..., 3].astype(np.uint16)
    picture = np.empty_like(behind)
    for channel in range(3):
        seen = behind[..., channel] * clear
        seen += 128
        seen += seen >> 8  # with the next shift: divided by 255 and rounded
        seen >>= 8
        seen += front[..., channel]
        picture[..., channel] = seen
    return picture
