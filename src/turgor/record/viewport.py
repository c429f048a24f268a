"""Draws only the part of a 3D picture in which something moves; the rest is drawn once and kept.

Without a graphics card the time of a picture is that of its pixels. The camera stands still, so floor and background
are the same in every picture, and the window is made as small as bodies, shadows and containers need it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from turgor.record.antialias import smooth_edges
from turgor.record.camera import VIEW_ANGLE, on_screen
from turgor.record.look import Pixels
from turgor.record.scenery import read_pixels

__all__ = ["Viewport"]

FloatArray = npt.NDArray[np.float64]
EDGE = 6  # pixels around what moves
STEP = 96  # pixels: sizes of the window, so that it is seldom made anew


class Viewport:
    """The window of a camera that stands still."""

    def __init__(self, plotter: Any, size: tuple[int, int], eye: FloatArray, target: FloatArray) -> None:
        self._plotter = plotter
        self._size = np.array(size)
        self._eye, self._target = eye, target
        self._window = self._size
        self._background: Pixels | None = None

    def keep_background(self) -> None:
        """What is to be seen now does not change."""
        self._render(np.zeros(2, np.int64), self._size)
        self._background = read_pixels(self._plotter)

    def draw(self, moving: FloatArray | None) -> Pixels:
        """The picture; moving: points (n, 3) that hold all that is not of the background; None: everything may be."""
        corner, window = self._part(moving)
        self._render(corner, window)
        part = smooth_edges(read_pixels(self._plotter))
        if self._background is None or part.shape == self._background.shape:
            return part
        picture = self._background.copy()
        picture[corner[1] : corner[1] + window[1], corner[0] : corner[0] + window[0]] = part
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

    def _render(self, corner: npt.NDArray[np.int64], window: npt.NDArray[np.int64]) -> None:
        """Through the part of the camera's frustum that belongs to a part of the picture."""
        if (window != self._window).any():
            self._plotter.render_window.SetSize(int(window[0]), int(window[1]))
            self._window = window
        middle = (corner + window / 2 - self._size / 2) / (window / 2) * (1, -1)  # in halves of the window, upwards
        camera = self._plotter.camera
        half = np.tan(np.radians(VIEW_ANGLE / 2)) * window[1] / self._size[1]
        camera.SetViewAngle(float(np.degrees(2 * np.arctan(half))))
        camera.SetWindowCenter(float(middle[0]), float(middle[1]))
        self._plotter.render_window.Render()
