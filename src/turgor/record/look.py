"""How pictures look: the options, the palette, colours by value, the text. Shared by the 2D and the 3D painter."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from turgor.errors import SceneError
from turgor.output.frame import Frame, Layout

__all__ = ["Color", "Look", "Pixels", "ValueColors", "base_colors", "flag_texture", "write_text"]

Color = tuple[float, float, float]
FloatArray = npt.NDArray[np.float64]
Pixels = npt.NDArray[np.uint8]  # (height, width, 3)


def _rgb(code: str) -> Color:
    return (int(code[1:3], 16) / 255, int(code[3:5], 16) / 255, int(code[5:7], 16) / 255)


#: Soft bodies and cloth: warm and cool in turn, so that neighbours in the list differ.
PALETTE = tuple(map(_rgb, ("#f0655a", "#3f8fd6", "#f4ae3d", "#45b08c", "#9a70c8", "#ea7fa8", "#2fa3b0", "#b98b5e")))
RIGID = tuple(map(_rgb, ("#7d8896", "#9c8f83", "#6f8a8a")))
SKY_TOP, SKY_BOTTOM = _rgb("#ffffff"), _rgb("#e3e9f0")
FLOOR, FLOOR_DARK = _rgb("#f6f7f9"), _rgb("#e6eaef")
WALL, EDGE = _rgb("#f7f9fb"), _rgb("#8793a1")
VELOCITY, NORMAL, TEXT = _rgb("#d81e2c"), _rgb("#2b4a7d"), _rgb("#3c4652")
SMALLEST_TEXT = 14  # pixels: still read when a page shows the picture somewhat smaller
#: From low to high: blue, pale, red. Ends are as dark as each other, so it also prints.
RAMP = np.array([_rgb(code) for code in ("#2f5fb3", "#6fa8dc", "#f1ead8", "#f0975a", "#c92f36")])
COLOR_BY = ("pressure", "speed", "stress", "stretch", "wrinkled")


@dataclass(frozen=True)
class Look:
    """Options of a picture."""

    size: tuple[int, int] = (1280, 720)  # width, height in pixels
    velocities: bool = False  # red velocity vectors at the vertices (Matyka 2007)
    velocity_seconds: float | None = None  # s: a vector is as long as the path in this time; None: chosen from the size
    normals: bool = False  # outward normals at the vertices (Matyka 2004)
    color_by: str | None = None  # one of COLOR_BY; the last three are of skins of a material
    limits: tuple[float, float] | None = None  # range of color_by, in its SI unit; None: what has been seen so far
    texture: str | Path | None = None  # picture file for cloth with uv; None: stripes; "none": plain
    timestamp: bool = False  # the time, in the corner
    view: tuple[float, float] = (-66.0, 17.0)  # azimuth and elevation of the 3D camera, degrees
    zoom: float = 1.0  # > 1: nearer
    smooth: bool = True  # coarse bodies with a smooth skin; False: the triangles and segments of the physics

    def __post_init__(self) -> None:
        if len(self.size) != 2 or any(int(n) != n or not 16 <= n <= 8192 for n in self.size):
            raise SceneError(f"size = {self.size}: give width and height in pixels, each 16 to 8192.")
        if self.color_by is not None and self.color_by not in COLOR_BY:
            raise SceneError(f"color_by = {self.color_by!r}: use {', '.join(map(repr, COLOR_BY))} or None.")
        if self.limits is not None and not self.limits[0] < self.limits[1]:
            raise SceneError(f"limits = {self.limits}: the first must be less than the second.")
        if self.velocity_seconds is not None and not self.velocity_seconds > 0:
            raise SceneError(f"velocity_seconds = {self.velocity_seconds}: must be positive.")
        if not self.zoom > 0:
            raise SceneError(f"zoom = {self.zoom}: must be positive.")
        if self.texture not in (None, "none") and not Path(str(self.texture)).is_file():
            raise SceneError(f"texture = {self.texture}: there is no such file; give a picture file, or 'none'.")

    def arrow_seconds(self, radius: float) -> float:
        """Time that a velocity vector spans: a tenth of the time to fall `radius` under 1 g, or the user's choice."""
        return self.velocity_seconds or 0.1 * float(np.sqrt(radius))

    def arrow_tips(self, frame: Frame, radius: float) -> FloatArray:
        """(n, dim) m: ends of the velocity vectors, for the camera; at most `radius` from their points, so that the
        scene stays to be seen when it flies apart; none where no vectors are drawn."""
        if not self.velocities:
            return np.zeros((0, frame.positions.shape[1]))
        vectors = np.nan_to_num(frame.velocities * self.arrow_seconds(radius), posinf=0.0, neginf=0.0)
        length = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(
            np.nan_to_num(frame.positions) + vectors * np.minimum(1.0, radius / np.maximum(length, 1e-30))
        )


def base_colors(layout: Layout) -> list[Color]:
    """One colour per body: its own, else the next of the palette."""
    colors: list[Color] = []
    taken = {"rigid": 0, "other": 0}
    for body in layout.bodies:
        kind, palette = ("rigid", RIGID) if body.kind == "rigid" else ("other", PALETTE)
        colors.append(body.color or palette[taken[kind] % len(palette)])
        taken[kind] += body.color is None
    return colors


class ValueColors:
    """Colours that follow a value of COLOR_BY. The range grows with what is seen, but that of wrinkles is known."""

    def __init__(self, look: Look, layout: Layout) -> None:
        self._by = look.color_by
        self._fixed = look.limits
        self._layout = layout
        self._low, self._high = (0.0, 2.0) if self._by == "wrinkled" else (np.inf, -np.inf)

    def vertex_colors(self, frame: Frame) -> FloatArray:
        """(vertices, 3) RGB in 0..1; grey: a body without gas for pressure, one without material for its fields.

        Of the faces around a vertex the mean counts: of the larger principal stress or stretch.
        """
        if self._by == "speed":
            values = np.linalg.norm(frame.velocities, axis=1)
            self._low = 0.0
        elif self._by in ("stress", "stretch", "wrinkled"):
            values = self._around_vertices(getattr(frame, self._by))
        else:
            counts = [body.count for body in self._layout.bodies]
            values = np.repeat(np.asarray(frame.pressures, np.float64), counts)
        finite = values[np.isfinite(values)]
        if finite.size:
            self._low, self._high = min(self._low, float(finite.min())), max(self._high, float(finite.max()))
        low, high = self._fixed or (self._low, self._high)
        part = (values - low) / (high - low) if high - low > 1e-9 * abs(high) else np.full(len(values), 0.5)
        part = np.where(np.isfinite(values), np.clip(np.nan_to_num(part), 0, 1), 0)
        knots = np.linspace(0, 1, len(RAMP))
        colors = np.stack([np.interp(part, knots, RAMP[:, channel]) for channel in range(3)], axis=1)
        colors[~np.isfinite(values)] = 0.7
        return colors

    def _around_vertices(self, field: FloatArray | None) -> FloatArray:
        """(vertices,) means of the faces around them; nan where there is none with a value."""
        count = self._layout.vertices
        if field is None:
            return np.full(count, np.nan)
        faces = np.concatenate([np.asarray(body.faces, np.int64) + body.start for body in self._layout.bodies])
        field = field if field.ndim == 1 else field[:, 0]
        known = np.isfinite(field)
        corners = faces[known].ravel()
        sums = np.bincount(corners, np.repeat(field[known], faces.shape[1]), count)
        return np.asarray(sums / np.where(numbers := np.bincount(corners, minlength=count), numbers, np.nan))


def flag_texture(color: Color, size: int = 256) -> Pixels:
    """Three bands and a fine weave, (size, size, 3): folds and shear of the cloth can be seen in it."""
    rows = (np.arange(size) * 3 // size)[:, None]
    bands = np.array([color, (0.98, 0.96, 0.92), _rgb("#2c6e8f")])
    picture = np.broadcast_to(bands[rows], (size, size, 3)).copy()
    y, x = np.mgrid[0:size, 0:size]
    step = size // 12
    picture[(x % step == 0) | (y % step == 0)] *= 0.93
    return np.asarray(picture * 255, np.uint8)


def write_text(picture: Pixels, text: str) -> Pixels:
    """The picture with a line of text in its lower left corner, on a plate: nothing that is drawn there hides it."""
    from PIL import Image, ImageDraw, ImageFont

    image = Image.fromarray(picture)
    height = max(SMALLEST_TEXT, picture.shape[0] // 36)
    font: Any = ImageFont.load_default(size=height)
    pen = ImageDraw.Draw(image, "RGBA")
    place, gap = (0.8 * height, picture.shape[0] - 2.0 * height), 0.3 * height
    left, top, right, bottom = pen.textbbox(place, text, font=font)
    pen.rounded_rectangle((left - gap, top - gap, right + gap, bottom + gap), gap, fill=(255, 255, 255, 215))
    pen.text(place, text, fill=tuple(int(255 * part) for part in TEXT), font=font)
    return np.asarray(image)
