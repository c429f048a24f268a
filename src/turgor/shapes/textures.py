"""Images of textures as files: those inside a mesh file, and small ones of plain colours, are put into a cache folder.

A layout names a texture by a path. The name of a cached image is a hash of its content, so that the same mesh has the
same path in every run, nothing is written twice, and a file is never changed. The folder is `turgor/textures` in the
user's cache folder; TURGOR_CACHE names another one. It may be deleted at any time: loading the mesh writes it again.
"""

from __future__ import annotations

import hashlib
import os
import struct
import sys
import tempfile
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from turgor.files import replacing
from turgor.shapes.shape import FloatArray

__all__ = ["Color", "cached", "ending_of", "palette", "srgb"]

Color = tuple[float, float, float]

# The first bytes of the image formats that mesh files have inside.
SIGNATURES = {b"\x89PNG": ".png", b"\xff\xd8\xff": ".jpg", b"RIFF": ".webp", b"BM": ".bmp"}
CELL = 4  # pixels of a colour, along both sides: so that smoothing between pixels does not mix colours


def cache_folder() -> Path:
    """Where images are kept."""
    if given := os.environ.get("TURGOR_CACHE"):
        return Path(given) / "textures"
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "turgor" / "textures"


def cached(data: bytes, ending: str) -> str:
    """The path of a file with this content; where the cache folder cannot be written, one for temporary files."""
    name = hashlib.sha256(data).hexdigest()[:24] + ending
    for folder in (_folder_or_none(), Path(tempfile.gettempdir()) / "turgor-textures"):
        try:
            if folder is None:
                continue
            path = folder / name
            if not path.is_file() or path.stat().st_size != len(data):
                folder.mkdir(parents=True, exist_ok=True)
                with replacing(path) as temporary:
                    temporary.write_bytes(data)
            return str(path)
        except OSError as error:
            failure = error
    raise failure


def _folder_or_none() -> Path | None:
    try:
        return cache_folder()
    except RuntimeError:  # a user without a home folder
        return None


def ending_of(data: bytes) -> str | None:
    """The ending for the name of an image, by its content; None for what is no image."""
    return next((ending for start, ending in SIGNATURES.items() if data.startswith(start)), None)


def palette(colors: Sequence[Color]) -> tuple[str, FloatArray]:
    """An image with a square of each colour in a row, and the texture coordinates (n, 2) of their middles."""
    row = np.repeat(np.round(np.clip(colors, 0.0, 1.0) * 255.0).astype(np.uint8), CELL, axis=0)
    place = np.stack([(np.arange(len(colors)) + 0.5) / len(colors), np.full(len(colors), 0.5)], axis=1)
    return cached(_png(np.broadcast_to(row, (CELL, *row.shape))), ".png"), place


def _png(pixels: np.ndarray[tuple[int, ...], np.dtype[np.uint8]]) -> bytes:
    """An RGB image (height, width, 3) as PNG (ISO/IEC 15948): header, compressed rows, end; each with a checksum."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width = pixels.shape[:2]
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)  # 0: no filter
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)  # 8 bits of red, green, blue
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")


def srgb(linear: Sequence[float]) -> Color | None:
    """A colour of linear light (glTF, USD) as a screen has it (IEC 61966-2-1); None for plain white, the default."""
    value = np.clip(np.asarray(linear, np.float64)[:3], 0.0, 1.0)
    if len(value) < 3 or (value == 1.0).all():
        return None
    red, green, blue = np.where(value <= 0.0031308, 12.92 * value, 1.055 * value ** (1 / 2.4) - 0.055).tolist()
    return red, green, blue
