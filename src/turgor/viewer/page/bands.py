"""The band between a pointer and what it holds: redder the harder it pulls, with the force in newtons and an arrow."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from turgor.viewer.draw.coordinates import in_front

__all__ = ["Band", "force_text"]

FloatArray = npt.NDArray[np.float64]
LOOSE, TIGHT = np.array([60, 70, 82]), np.array([216, 20, 32])  # colours without a pull, and of the strongest
LONGEST = 0.45  # of the scene's radius: the arrow of the strongest pull
SHAFT, HEAD, HEAD_LENGTH = 0.008, 0.022, 0.055  # of the scene's radius
SHORTEST = 0.06  # of the scene's radius: an arrow that is shorter is not drawn
LETTERS = 1.4  # times viser's
IN_FRONT = 0.03  # of the scene's radius, in 2D


class Band:
    """Nodes in all browsers. Belongs to the world's thread."""

    def __init__(self, server: Any, name: str, dim: int, radius: float) -> None:
        self._api, self._name, self._dim, self._radius = server.scene, name, dim, radius
        self._line: Any = None
        self._arrow: Any = None
        self._label: Any = None

    def show(self, held: FloatArray, pointer: FloatArray, force: FloatArray, strongest: float) -> None:
        """Between two points (dim,) m, with a pull (dim,) N of the `strongest` that there is (N)."""
        pull = float(np.linalg.norm(force))
        share = min(pull / max(strongest, 1e-30), 1.0)
        red, green, blue = (LOOSE + share * (TIGHT - LOOSE)).round().astype(int).tolist()
        color = (red, green, blue)
        ends = self._place(np.stack([held, pointer]))
        tip = self._place(np.stack([held, held + LONGEST * self._radius * share * force / max(pull, 1e-30)]))
        text, drawn = force_text(pull), LONGEST * share > SHORTEST
        if self._line is None:
            self._line = self._api.add_line_segments(
                f"{self._name}-band", ends[None], color, thickness=3.0, thickness_units="screen"
            )
            self._label = self._api.add_label(
                f"{self._name}-force", text, position=ends[1], anchor="bottom-left", font_screen_scale=LETTERS
            )
            self._arrow = self._api.add_arrows(
                f"{self._name}-arrow", tip[None], color, shaft_radius=SHAFT * self._radius,
                head_radius=HEAD * self._radius, head_length=HEAD_LENGTH * self._radius, visible=drawn,
            )  # fmt: skip
            return
        inks = np.full((1, 2, 3), color, np.uint8)
        self._line.points, self._line.colors = ends[None].astype(np.float32), inks
        self._label.text, self._label.position = text, ends[1]
        self._arrow.visible = drawn
        if drawn:
            self._arrow.points, self._arrow.colors = tip[None].astype(np.float32), inks[:, 0]

    def close(self) -> None:
        """Take its nodes away."""
        for handle in (self._line, self._label, self._arrow):
            if handle is not None:
                handle.remove()

    def _place(self, points: FloatArray) -> FloatArray:
        return in_front(points, self._dim, IN_FRONT * self._radius)


def force_text(force: float) -> str:
    """A force (N) in words, with two digits."""
    if force >= 1000.0:
        return f"{force / 1000.0:.2g} kN" if force < 1e5 else f"{force / 1000.0:,.0f} kN"
    return f"{force:.0f} N" if force >= 10.0 else f"{force:.2g} N"
