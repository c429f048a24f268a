"""One image for a surface with several: each has a place of its own in it (a texture atlas).

Around its place each image goes on periodically, as it does beyond its own edges: so nothing of a neighbour is seen
where colours are mixed between pixels, or where coordinates go on straight beyond a seam (`paint_transfer`).
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from turgor.shapes.shape import FloatArray
from turgor.shapes.textures import Color, cached
from turgor.shapes.topology import Integers

__all__ = ["atlas"]

MARGIN = 0.125  # of the side of an image: how far it goes on around its place
REPEATS = 8  # times that an image may be repeated along a side; graphics cards repeat a whole image, not a part of it
LARGEST = 8192  # pixels along a side, which all graphics cards take; above it images are made smaller
MOST = 1 << 26  # pixels of one image
PLAIN = 8  # pixels along the side of a plain colour

Pixels = npt.NDArray[np.uint8]  # (height, width, 3)


def atlas(looks: Sequence[str | Color], which: Integers, uv: FloatArray) -> tuple[str, FloatArray] | None:
    """The path of an image of all `looks`, and the coordinates (m, 3, 2) of the corners of the faces in it.

    looks: paths of images, and colours; which: (m,) the look of each face; uv: (m, 3, 2) coordinates in its image,
    v up. None where Pillow is not there, an image cannot be read, or one is repeated too often.
    """
    placed = [_in_range(uv[which == number]) for number in range(len(looks))]
    needed = np.maximum(np.ceil([part.max(axis=(0, 1)) - MARGIN / 2 for part in placed]), 1.0)
    images = [_image(look) for look in looks]
    if any(image is None for image in images) or not needed.max() <= REPEATS:
        return None
    repeats = needed.astype(int)
    sizes = np.array([image.size for image in images])
    columns = int(np.ceil(np.sqrt(len(looks))))
    rows = -(-len(looks) // columns)
    cell = (sizes * (repeats + 2 * MARGIN)).max(axis=0) + 2
    smaller = min(1.0, *(LARGEST / (cell * (columns, rows))))
    cell = np.floor(cell * smaller).astype(int)
    whole = np.zeros((rows * cell[1], columns * cell[0], 3), np.uint8)
    moved = np.empty_like(uv)
    for number, (image, part, times) in enumerate(zip(images, placed, repeats, strict=True)):
        size = np.maximum(np.floor(sizes[number] * smaller), 1).astype(int)
        pixels: Pixels = np.asarray(image.convert("RGB").resize(tuple(size.tolist())))
        margin = np.ceil(MARGIN * size).astype(int)
        tiled = np.tile(pixels, (times[1], times[0], 1))
        around = np.pad(tiled, ((margin[1],) * 2, (margin[0],) * 2, (0, 0)), "wrap")[: cell[1], : cell[0]]
        corner = np.array([number % columns, number // columns]) * cell
        whole[corner[1] : corner[1] + around.shape[0], corner[0] : corner[0] + around.shape[1]] = around
        along = corner[0] + margin[0] + part[..., 0] * size[0]
        down = corner[1] + margin[1] + (times[1] - part[..., 1]) * size[1]
        moved[which == number] = np.stack([along / whole.shape[1], 1.0 - down / whole.shape[0]], axis=-1)
    return _saved(whole), moved


def _in_range(uv: FloatArray) -> FloatArray:
    """Coordinates (m, 3, 2) from 0 on, moved by whole images: all alike where that is enough, else face by face."""
    moved = uv - np.floor(uv.min(axis=(0, 1)) + MARGIN / 2)
    if moved.max() > REPEATS:
        moved = uv - np.floor(uv.min(axis=1, keepdims=True) + MARGIN / 2)
    return np.asarray(moved)


def _image(look: str | Color) -> Any:
    """As an image of Pillow, or None."""
    try:
        from PIL import Image
    except ImportError:
        return None
    try:
        if not isinstance(look, str):
            red, green, blue = (round(255 * min(max(part, 0.0), 1.0)) for part in look)
            return Image.new("RGB", (PLAIN, PLAIN), (red, green, blue))
        image = Image.open(look)
        if image.width * image.height > MOST:
            return None
        image.load()
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):  # Pillow on damaged images
        return None
    return image


def _saved(pixels: Pixels) -> str:
    from PIL import Image

    content = io.BytesIO()
    Image.fromarray(pixels).save(content, "PNG")
    return cached(content.getvalue(), ".png")
