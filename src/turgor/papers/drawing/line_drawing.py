"""Line drawings as SVG: points, springs, outlines and arrows, of 2D scenes and of 3D ones seen from a direction."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from turgor.record import svg

__all__ = ["Drawing", "Shading", "projected", "view_axes"]

FloatArray = npt.NDArray[np.float64]
INK = "#3c4652"
MARGIN = 16  # pixels


View = tuple[float, float]  # azimuth and elevation of the eye in degrees, as in pictures
FRONT = (-66.0, 17.0)
LIGHT = np.array([0.30, 0.65, 0.70])  # right, up, towards the eye


def view_axes(view: View = FRONT) -> FloatArray:
    """(3, 3): unit vectors to the right, up, and towards the eye, as rows."""
    azimuth, elevation = (math.radians(angle) for angle in view)
    right = np.array([-math.sin(azimuth), math.cos(azimuth), 0.0])
    eye = np.array([math.cos(azimuth) * math.cos(elevation), math.sin(azimuth) * math.cos(elevation), 0.0])
    eye[2] = math.sin(elevation)
    return np.stack([right, np.cross(eye, right), eye])


def projected(points: FloatArray, view: View = FRONT) -> FloatArray:
    """(n, 3) m seen from far away -> (n, 2) m."""
    return np.asarray(points @ view_axes(view)[:2].T)


@dataclass(frozen=True)
class Shading:
    """How a surface is filled: its outer side, and its inner side, or None where a closed surface hides it."""

    outer: str = "#eaf2fa"
    inner: str | None = None
    line: str = "#2b4a7d"
    width: float = 0.8
    lit: bool = False  # darker where it turns away from a light above the eye

    def fill(self, outer: bool, light: float) -> str | None:
        """Of a face; light: cosine of its angle to the light."""
        color = self.outer if outer else self.inner
        if color is None or not self.lit:
            return color
        share = 0.6 + 0.4 * max(0.0, light)
        return "#" + "".join(f"{round(share * int(color[k : k + 2], 16)):02x}" for k in (1, 3, 5))


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

    def surface(
        self, points: FloatArray, faces: npt.ArrayLike, view: View = FRONT, shading: Shading | None = None
    ) -> None:
        """Triangles of points (n, 3), the nearer ones over the farther ones: lines behind a face are hidden."""
        shading = shading or Shading()
        seen = np.asarray(points, np.float64)[np.asarray(faces, np.int64)] @ view_axes(view).T
        normal = np.cross(seen[:, 1] - seen[:, 0], seen[:, 2] - seen[:, 0])
        normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-30)
        light = np.where(normal[:, 2] > 0.0, 1.0, -1.0) * (normal @ LIGHT)  # of the side that is seen
        for face in np.argsort(seen[:, :, 2].mean(axis=1), kind="stable"):
            fill = shading.fill(bool(normal[face, 2] > 0.0), float(light[face]))
            if fill is not None:
                self.outline(seen[face, :, :2], fill, shading.line, width=shading.width)

    def arrow(self, start: npt.ArrayLike, end: npt.ArrayLike, color: str = INK, width: float = 2.0) -> None:
        """A line with a head at its end."""
        first, last = self._pixels(np.array([start, end], np.float64))
        ahead = (last - first) / np.linalg.norm(last - first)
        neck, across = last - 4.5 * width * ahead, 2.0 * width * np.array([-ahead[1], ahead[0]])
        self._parts.append(svg.line(*first.tolist(), *neck.tolist(), stroke=color, stroke_width=width))
        self._parts.append(svg.polygon([last, neck + across, neck - across], fill=color))

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
