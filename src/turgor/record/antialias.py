"""Smooth edges in a finished picture, after Lottes 2009 (FXAA): no GPU is needed, and it costs a few milliseconds.

Multisampling by a software OpenGL takes more time than all the rest of a picture. Here a pixel at an edge is mixed with
its neighbour across the edge, by where the edge, followed to both its ends, passes through the pixel.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["smooth_edges"]

Pixels = npt.NDArray[np.uint8]
IntArray = npt.NDArray[np.int64]
LEAST, PART = np.uint8(14), np.uint8(12)  # of 255, and a twelfth of the brighter pixel: what is an edge
FAR = 12  # pixels that an edge is followed to each side


def smooth_edges(picture: Pixels) -> Pixels:
    """(height, width, 3) with smooth edges; a border of one pixel is left as it is."""
    height, width, _ = picture.shape
    if height < 4 or width < 4:
        return picture
    light = _luminance(picture)
    middle = light[1:-1, 1:-1]
    around = (light[:-2, 1:-1], light[2:, 1:-1], light[1:-1, :-2], light[1:-1, 2:])
    most = np.maximum(np.maximum(np.maximum(around[0], around[1]), np.maximum(around[2], around[3])), middle)
    least = np.minimum(np.minimum(np.minimum(around[0], around[1]), np.minimum(around[2], around[3])), middle)
    edge = (most - least) > np.maximum(most // PART, LEAST)
    rows, columns = np.divmod(np.flatnonzero(edge), width - 2)  # np.nonzero takes ten times as long
    at = (rows + 1) * width + columns + 1
    part, across = _mix(light, at)
    flat = picture.reshape(-1, 3)
    result = flat.copy()
    own, other = flat.take(at, axis=0).astype(np.float32), flat.take(at + across, axis=0).astype(np.float32)
    result[at] = (own + part[:, None] * (other - own) + 0.5).astype(np.uint8)
    return result.reshape(picture.shape)


def _luminance(picture: Pixels) -> Pixels:
    """(height, width) 0..255."""
    red, green, blue = (picture[..., channel].astype(np.uint16) for channel in range(3))
    return ((77 * red + 150 * green + 29 * blue) >> 8).astype(np.uint8)


def _mix(picture: Pixels, at: IntArray) -> tuple[npt.NDArray[np.float32], IntArray]:
    """How much of the neighbour each pixel `at` takes, and where in the picture, from it, that neighbour is."""
    width = picture.shape[1]
    light = np.pad(picture, ((FAR + 1, FAR + 1), (0, 0)), mode="edge").ravel().astype(np.int32)
    at = at + (FAR + 1) * width
    here = light.take(at)
    n, s, w, e = (light.take(at + step) for step in (-width, width, -1, 1))
    nw, ne, sw, se = (light.take(at + step) for step in (-width - 1, -width + 1, width - 1, width + 1))
    lying = np.abs(nw + sw - 2 * w) + 2 * np.abs(n + s - 2 * here) + np.abs(ne + se - 2 * e)
    standing = np.abs(nw + ne - 2 * n) + 2 * np.abs(w + e - 2 * here) + np.abs(sw + se - 2 * s)
    flat = lying >= standing  # the edge runs along a row
    before, after = np.where(flat, n, w), np.where(flat, s, e)
    step, along = np.where(flat, width, 1), np.where(flat, 1, width)
    back = np.abs(before - here) >= np.abs(after - here)
    across = np.where(back, -step, step)
    slope = np.maximum(np.abs(before - here), np.abs(after - here))
    level = here + np.where(back, before, after)  # of the edge, twice
    away, ends = zip(*(_followed(light, at, sign * along, across, level, slope) for sign in (-1, 1)), strict=True)
    nearest = np.minimum(*away)
    end = np.where(away[0] < away[1], *ends)
    inside = (2 * here < level) != (end < 0)  # the edge bends towards this pixel
    part = np.where(inside, 0.5 - nearest / (away[0] + away[1]), 0.0)
    return part.astype(np.float32), across


def _followed(
    light: npt.NDArray[np.int32], at: IntArray, along: IntArray, across: IntArray, *edge: npt.NDArray[np.int32]
) -> tuple[IntArray, npt.NDArray[np.int32]]:
    """How far the edge goes on from each pixel, at most FAR, and by how much its level is off there, twice.

    edge: its level, twice, and its slope.
    """
    distance, off = np.full(len(at), FAR), np.zeros(len(at), np.int32)
    live, places, levels = np.arange(len(at)), np.stack([at, along, across]), np.stack(edge)
    for k in range(1, FAR + 1):
        places[0] += places[1]
        change = light.take(places[0]) + light.take(places[0] + places[2]) - levels[0]
        off[live] = change
        on = np.flatnonzero(2 * np.abs(change) < levels[1])  # a quarter of the slope, twice and twice
        if len(on) < len(live):
            distance[live] = k
            live, places, levels = live.take(on), places.take(on, axis=1), levels.take(on, axis=1)
            distance[live] = FAR
        if not len(live):
            break
    return distance, off
