"""Line drawings as SVG: points, springs, outlines and arrows, of 2D scenes and of 3D ones seen from a direction."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from turgor.record import svg

__all__ = ["Drawing", "projected"]

FloatArray = npt.NDArray[np.float64]
INK = "#3c4652"
MARGIN = 16  # pixels


def projected(points: FloatArray, view: tuple[float, float] = (-66.0, 17.0)) -> FloatArray:
    """(n, 3) m seen from far away -> (n, 2) m; view: azimuth and elevation of the eye in degrees, as in pictures."""
    azimuth, elevation = (math.radians(angle) for angle in view)
    right = np.array([-math.sin(azimuth), math.cos(azimuth), 0.0])
    eye = np.array([math.cos(azimuth) * math.cos(elevation), math.sin(azimuth) * math.cos(elevation), 0.0])
    eye[2] = math.sin(elevation)
    return np.asarray(points @ np.stack([right, np.cross(eye, right)], axis=1))


class Drawing:
    """A sheet that shows a rectangle of the plane (m) and is `width` pixels wide; y is up."""

    def __init__(self, low: npt.ArrayLike, high: npt.ArrayLike, width: int = 420) -> None:
        self._low = np.asarray(low, np.float64)
        size = np.asarray(high, np.float64) - self._low
        self._scale = (width - 2 * MARGIN) / float(size[0])
        self._width, self._height = width, round(float(size[1]) * self._scale) + 2 * MARGIN
        self._parts: list[str] = []

    def lines(self, points: FloatArray, pairs: npt.ArrayLike, color: str = INK, width: float = 1.5) -> None:
        """A line between each pair of points."""
        ends = self._pixels(points)[np.asarray(pairs, np.int64)]
        path = "".join(f"M{a[0]:.1f} {a[1]:.1f}L{b[0]:.1f} {b[1]:.1f}" for a, b in ends)
        self._parts.append(svg.element("path", d=path, stroke=color, stroke_width=width, fill="none"))

    def dots(self, points: FloatArray, color: str = INK, radius: float = 3.5) -> None:
        """A filled circle at each point."""
        self._parts += [svg.circle(x, y, radius, fill=color) for x, y in self._pixels(points).tolist()]

    def outline(
        self, points: FloatArray, fill: str = "none", color: str = INK, opacity: float = 1.0, width: float = 1.5
    ) -> None:
        """A closed polygon."""
        style: dict[str, object] = {"fill": fill, "fill_opacity": opacity, "stroke": color, "stroke_width": width}
        self._parts.append(svg.polygon(self._pixels(points), **style))

    def path(self, points: FloatArray, color: str = INK, dashed: bool = False) -> None:
        """A line through the points."""
        style: dict[str, object] = {"stroke": color, "stroke_width": 1.5, "stroke_dasharray": "5 4" if dashed else None}
        self._parts.append(svg.polyline(self._pixels(points), fill="none", **style))

    def text(self, point: npt.ArrayLike, text: str, color: str = INK, anchor: str = "middle") -> None:
        """Words at a point."""
        ((x, y),) = self._pixels(np.asarray(point, np.float64)[None]).tolist()
        self._parts.append(svg.text(text, x, y, fill=color, text_anchor=anchor))

    def svg(self) -> str:
        """The drawing."""
        size = (self._width, self._height)
        return svg.document(self._parts, size, width=size[0], role="img", font_family="sans-serif", font_size=13)

    def _pixels(self, points: FloatArray) -> FloatArray:
        flat = (np.asarray(points, np.float64) - self._low) * self._scale + MARGIN
        return np.stack([flat[:, 0], self._height - flat[:, 1]], axis=1)
