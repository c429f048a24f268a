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
LEAST, SHARE = np.int16(14), np.float32(0.08)  # of 255, and of the brighter pixel: what is an edge
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
    edge = (most - least) > np.maximum((SHARE * most).astype(np.int16), LEAST)
    rows, columns = np.divmod(np.flatnonzero(edge), width - 2)  # np.nonzero takes ten times as long
    at = (rows + 1) * width + columns + 1
    part, across = _mix(light.ravel().astype(np.int32), at, width)
    flat = picture.reshape(-1, 3)
    result = flat.copy()
    own, other = flat[at].astype(np.float32), flat[at + across].astype(np.float32)
    result[at] = (own + part[:, None] * (other - own) + 0.5).astype(np.uint8)
    return result.reshape(picture.shape)


def _luminance(picture: Pixels) -> npt.NDArray[np.int16]:
    """(height, width) 0..255."""
    wide = picture.astype(np.uint16)
    return ((77 * wide[..., 0] + 150 * wide[..., 1] + 29 * wide[..., 2]) >> 8).astype(np.int16)


def _mix(light: npt.NDArray[np.int32], at: IntArray, width: int) -> tuple[npt.NDArray[np.float32], IntArray]:
    """How much of the neighbour each pixel `at` takes, and where in the picture, from it, that neighbour is."""
    here = light[at]
    n, s, w, e = (light[at + step] for step in (-width, width, -1, 1))
    nw, ne, sw, se = (light[at + step] for step in (-width - 1, -width + 1, width - 1, width + 1))
    lying = np.abs(nw + sw - 2 * w) + 2 * np.abs(n + s - 2 * here) + np.abs(ne + se - 2 * e)
    standing = np.abs(nw + ne - 2 * n) + 2 * np.abs(w + e - 2 * here) + np.abs(sw + se - 2 * s)
    flat = lying >= standing  # the edge runs along a row
    before, after = np.where(flat, n, w), np.where(flat, s, e)
    step, along = np.where(flat, width, 1), np.where(flat, 1, width)
    back = np.abs(before - here) >= np.abs(after - here)
    across = np.where(back, -step, step)
    slope = np.maximum(np.abs(before - here), np.abs(after - here))
    level = here + np.where(back, before, after)  # of the edge, twice
    away, ends = [], []
    for sign in (-1, 1):
        distance, end = np.full(len(at), FAR), np.zeros(len(at), np.int32)
        live = np.arange(len(at))
        for k in range(1, FAR + 1):
            spot = np.clip(at[live] + sign * k * along[live], width, len(light) - width - 1)
            change = light[spot] + light[spot + across[live]] - level[live]
            over = 2 * np.abs(change) >= slope[live]  # a quarter of the slope, twice and twice
            distance[live[over]], end[live[over]] = k, change[over]
            end[live[~over]] = change[~over]
            live = live[~over]
            if not len(live):
                break
        away.append(distance)
        ends.append(end)
    nearest = np.minimum(*away)
    end = np.where(away[0] < away[1], *ends)
    inside = (2 * here < level) != (end < 0)  # the edge bends towards this pixel
    part = np.where(inside, 0.5 - nearest / (away[0] + away[1]), 0.0)
    return part.astype(np.float32), across
