"""One image for a surface with several: each has a place of its own in it (a texture atlas).

Around its place each image goes on periodically, as it does beyond its own edges: so nothing of a neighbour is seen
where colours are mixed between pixels, or where coordinates go on straight beyond a seam (`paint_transfer`).
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from turgor.shapes.shape import FloatArray
from turgor.shapes.textures import Color, cached
from turgor.shapes.topology import Integers

__all__ = ["atlas"]

MARGIN = 0.125  # of the side of an image: how far it goes on around its place
REPEATS = 8  # times that an image may be repeated along a side; graphics cards repeat a whole image, not a part of it
LARGEST = 4096  # pixels along a side: 50 MB, and all graphics cards take it; above it images are made smaller
MOST = 1 << 25  # pixels of one image: 130 MB while it is read, one after the other
ALL = 1 << 27  # pixels of all images: some seconds
PLAIN = 8  # pixels along the side of a plain colour

#: What Pillow raises on damaged images
DAMAGED = (OSError, ValueError, SyntaxError, ArithmeticError, LookupError, struct.error, zlib.error)

Pixels = npt.NDArray[np.uint8]  # (height, width, 3)


def atlas(looks: Sequence[str | Color], which: Integers, uv: FloatArray) -> tuple[str, FloatArray] | None:
    """The path of an image of all `looks`, and the coordinates (m, 3, 2) of the corners of the faces in it.

    looks: paths of images, and colours; which: (m,) the look of each face; uv: (m, 3, 2) coordinates in its image,
    v up. None where Pillow is not there, an image cannot be read, or one is repeated too often.
    """
    placed = [_in_range(uv[which == number]) for number in range(len(looks))]
    needed = np.maximum(np.ceil([part.max(axis=(0, 1)) - MARGIN / 2 for part in placed]), 1.0)
    sizes = np.array([_size(look) for look in looks])
    pixels = sizes.prod(axis=1)
    if not pixels.all() or pixels.max() > MOST or pixels.sum() > ALL or not needed.max() <= REPEATS:
        return None
    repeats = needed.astype(int)
    columns = int(np.ceil(np.sqrt(len(looks))))
    rows = -(-len(looks) // columns)
    cell = (sizes * (repeats + 2 * MARGIN)).max(axis=0) + 2
    smaller = min(1.0, *(LARGEST / (cell * (columns, rows))))
    cell = np.floor(cell * smaller).astype(int)
    whole = np.zeros((rows * cell[1], columns * cell[0], 3), np.uint8)
    moved = np.empty_like(uv)
    for number, (look, part, times) in enumerate(zip(looks, placed, repeats, strict=True)):
        size = np.maximum(np.floor(sizes[number] * smaller), 1).astype(int)
        image = _pixels(look, size)
        if image is None:
            return None
        margin = np.ceil(MARGIN * size).astype(int)
        tiled = np.tile(image, (times[1], times[0], 1))
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


def _size(look: str | Color) -> tuple[int, int]:
    """Width and height of an image, without reading the rest of it; zeros where that fails, or Pillow is not there."""
    if not isinstance(look, str):
        return PLAIN, PLAIN
    try:
        from PIL import Image
    except ImportError:
        return 0, 0
    try:
        with Image.open(look) as image:
            return image.width, image.height
    except (Image.DecompressionBombError, *DAMAGED):
        return 0, 0


def _pixels(look: str | Color, size: Integers) -> Pixels | None:
    """An image, or a colour, made (width, height) `size`; None where it cannot be read."""
    if not isinstance(look, str):
        return np.full((size[1], size[0], 3), np.rint(255 * np.clip(look, 0.0, 1.0)), np.uint8)
    from PIL import Image

    try:
        with Image.open(look) as image:
            return np.asarray(image.convert("RGB").resize((int(size[0]), int(size[1]))))
    except DAMAGED:
        return None


def _saved(pixels: Pixels) -> str:
    from PIL import Image

    content = io.BytesIO()
    Image.fromarray(pixels).save(content, "PNG")
    return cached(content.getvalue(), ".png")
