"""Textures as the bytes of picture files: those of the bodies, and small ones that are made here."""

from __future__ import annotations

import io
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from turgor.errors import SceneError
from turgor.output.frame import BodyLayout
from turgor.record.look import Color, flag_texture

__all__ = ["PictureFile", "checker", "linear_color", "picture_of"]

ENDINGS = {b"\x89PNG": ".png", b"\xff\xd8\xff": ".jpg"}
MIME = {".png": "image/png", ".jpg": "image/jpeg"}


@dataclass(frozen=True)
class PictureFile:
    """A PNG or JPEG file."""

    content: bytes
    ending: str  # ".png" | ".jpg"

    @property
    def mime(self) -> str:
        return MIME[self.ending]


def picture_of(body: BodyLayout, color: Color, texture: str | Path | None) -> PictureFile | None:
    """What a body is drawn with: `texture`, else its own picture, else (cloth) stripes; None: plain.

    texture: a file for all bodies that have texture coordinates, or "none", as in `Look`.
    """
    if texture == "none" or (body.uv is None and body.corner_uv is None):
        return None
    path = texture or body.texture
    if path is None:
        return _png(flag_texture(color)) if body.kind == "cloth" else None
    return _read(Path(path), body.name)


def _read(path: Path, name: str) -> PictureFile:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise SceneError(
            f"{name}: its texture {path} cannot be read ({error.strerror}); put the file back, or use texture=none."
        ) from None
    for start, ending in ENDINGS.items():
        if content.startswith(start):
            return PictureFile(content, ending)
    try:
        from PIL import Image

        target = io.BytesIO()
        Image.open(path).convert("RGBA").save(target, "PNG")
    except (ImportError, OSError) as error:
        raise SceneError(f"{name}: its texture {path} is neither PNG nor JPEG ({error}); convert it first.") from None
    return PictureFile(target.getvalue(), ".png")


def checker(one: Color, other: Color) -> PictureFile:
    """Two by two tiles, to be repeated."""
    tiles = np.array([[one, other], [other, one]])
    return _png(np.rint(np.kron(tiles, np.ones((8, 8, 1))) * 255).astype(np.uint8))


def _png(pixels: npt.NDArray[np.uint8]) -> PictureFile:
    """(height, width, 3) as a PNG file (ISO/IEC 15948): one block of rows, none of them filtered."""
    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in np.ascontiguousarray(pixels))

    def block(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = block(b"IHDR", header) + block(b"IDAT", zlib.compress(rows, 9)) + block(b"IEND", b"")
    return PictureFile(b"\x89PNG\r\n\x1a\n" + body, ".png")


def linear_color(color: Color) -> tuple[float, float, float]:
    """A colour of the screen (sRGB) as the amounts of light that glTF and USD calculate with (IEC 61966-2-1)."""
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color)
    return (r, g, b)
