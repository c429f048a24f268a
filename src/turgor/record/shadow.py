"""Soft shadows on a plane, as a small picture: the bodies are projected along the light and blurred by their height.

Shadow maps need a second pass of the whole scene and look hard and jagged in software; this costs a few milliseconds.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["LIGHT", "SurfaceSamples", "shadow_picture"]

FloatArray = npt.NDArray[np.float64]
#: Direction in which the key light shines.
LIGHT: FloatArray = np.array([0.38, 0.30, -1.0]) / np.linalg.norm([0.38, 0.30, -1.0])
PIXELS = 160  # side of the shadow picture; it is blurred anyway
PENUMBRA = 0.16  # blur radius per height of the caster: the light is a wide window, not a point
LAYERS = np.array([0.0, 0.12, 0.35, 0.9])  # heights, in scene radii, at which the blur changes
DARKNESS = 0.42  # of a full shadow


class SurfaceSamples:
    """Fixed random points on all triangles, spread by area; they follow the surface as it moves."""

    def __init__(self, points: FloatArray, faces: npt.NDArray[np.integer], count: int = 16_000) -> None:
        corner = points[faces]
        area = np.linalg.norm(np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]), axis=1)
        area = np.nan_to_num(area) + 1e-30
        random = np.random.default_rng(2003)
        face = np.repeat(np.arange(len(faces)), 1 + random.poisson(count * area / area.sum()))
        u, v = random.random((2, len(face)))
        over = u + v > 1
        u[over], v[over] = 1 - u[over], 1 - v[over]
        self._corners = np.ascontiguousarray(faces[face].T)
        self._weights = np.stack([1 - u - v, u, v])[:, :, None]

    def at(self, points: FloatArray) -> FloatArray:
        """Where the samples are now, (n, 3)."""
        a, b, c = (
            weight * points.take(corner, axis=0) for weight, corner in zip(self._weights, self._corners, strict=True)
        )
        return np.asarray(a + b + c)


def shadow_picture(
    samples: FloatArray,
    origin: FloatArray,
    frame: FloatArray,
    radius: float,
    extent: tuple[float, float, float, float] | None = None,
) -> tuple[npt.NDArray[np.uint8], tuple[float, float, float, float]] | None:
    """Darkness 0..255 (rows: second axis, upwards) over the rectangle (low u, high u, low v, high v) that it covers.

    frame: (3, 3), rows are the plane's axes u, v and its normal; extent: a bounded plane; radius: of the scene, metres.
    """
    from PIL import Image, ImageFilter

    u, v, height = ((samples - origin) @ frame.T).T
    slope = frame @ LIGHT
    if slope[2] > -0.15:
        return None  # the light does not reach this side
    keep = (height > -0.02 * radius) & (height < 6 * radius)
    u, v, height = u[keep], v[keep], np.maximum(height[keep], 0)
    u, v = u - height * slope[0] / slope[2], v - height * slope[1] / slope[2]
    if u.size == 0:
        return None
    if extent is None:
        margin = 0.12 * radius + 2 * PENUMBRA * min(float(height.max()), 2 * radius)
        middle = (float(u.min() + u.max()) / 2, float(v.min() + v.max()) / 2)
        half = min(max(np.ptp(u), np.ptp(v)) / 2 + margin, 8 * radius)
        extent = (middle[0] - half, middle[0] + half, middle[1] - half, middle[1] + half)
    pixel = max(extent[1] - extent[0], extent[3] - extent[2]) / PIXELS
    column = np.floor((u - extent[0]) / (extent[1] - extent[0]) * PIXELS).astype(np.int64)
    row = np.floor((v - extent[2]) / (extent[3] - extent[2]) * PIXELS).astype(np.int64)
    inside = (column >= 0) & (column < PIXELS) & (row >= 0) & (row < PIXELS)
    cell, layer = (row * PIXELS + column)[inside], np.digitize(height[inside] / radius, LAYERS) - 1
    light = np.ones((PIXELS, PIXELS), np.float32)
    for number in range(len(LAYERS)):
        part = layer == number
        if not part.any():
            continue
        hit = np.zeros(PIXELS * PIXELS, np.bool_)
        hit[cell[part]] = True
        covered = Image.fromarray(_grown(hit.reshape(PIXELS, PIXELS)) * np.uint8(255))
        blur = float(1.2 + PENUMBRA * height[inside][part].mean() / pixel)
        coarse = 4 if blur > 10.0 else 2 if blur > 5.0 else 1  # pixels of a picture that is blurred so much
        blurred = covered.reduce(coarse).filter(ImageFilter.GaussianBlur(blur / coarse))
        if coarse > 1:
            blurred = blurred.resize((PIXELS, PIXELS), Image.Resampling.BILINEAR)
        light *= 1 - np.asarray(blurred, np.float32) / 255
    return np.asarray((1 - light) * DARKNESS * 255, np.uint8), extent


def _grown(hit: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """With all neighbours: closes the pores between samples."""
    wide = hit.copy()
    wide[1:] |= hit[:-1]
    wide[:-1] |= hit[1:]
    grown = wide.copy()
    grown[:, 1:] |= wide[:, :-1]
    grown[:, :-1] |= wide[:, 1:]
    return grown
