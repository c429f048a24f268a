"""A scene in an address: `#scene=` and the scene file, packed by zlib, in base64 of the alphabet for addresses.

Who follows such a link runs a stranger's scene: it is bounded, and it names no files, which would be those of the one
who opens it.
"""

from __future__ import annotations

import base64
import binascii
import tomllib
import zlib
from collections.abc import Mapping
from typing import Any

from turgor.errors import SceneError
from turgor.scene.plain import map_paths
from turgor.scene.scene import Scene
from turgor.shapes.limits import Limits

__all__ = ["MARK", "link_of", "scene_of_link", "scene_of_text", "unpacked"]

MARK = "#scene="
MAX_PACKED = 24 * 1024  # bytes: the link has a third more letters, which browsers and most chats still carry
MAX_TEXT = 1024**2  # bytes of the scene file
MAX_VERTICES = 200_000  # of all its bodies: what the playground takes
DAMAGED = "the link is damaged or cut short; copy all of it"


def link_of(scene: Scene) -> str:
    """The part of an address that carries a scene. SceneError where none can."""
    text = scene.to_toml()
    _no_files(tomllib.loads(text), "the link")
    packed = zlib.compress(text.encode("utf-8"), 9)
    if len(packed) > MAX_PACKED:
        raise SceneError(
            f"the scene takes {len(packed) / 1024:.0f} KiB, and a link carries {MAX_PACKED // 1024}; "
            "send the scene file instead"
        )
    return MARK + base64.urlsafe_b64encode(packed).rstrip(b"=").decode("ascii")


def scene_of_link(link: str) -> Scene:
    """The scene that such a part of an address, or a whole address, carries."""
    code = link.rpartition(MARK)[2].strip()
    try:
        packed = base64.b64decode(code + "=" * (-len(code) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise SceneError(DAMAGED) from None
    return scene_of_text(unpacked(packed), "the link")


def unpacked(packed: bytes) -> bytes:
    """The scene file in a link, never more than its limit."""
    if len(packed) > MAX_PACKED:
        raise SceneError(f"the link is longer than {MAX_PACKED // 1024} KiB; send the scene file instead")
    decoder = zlib.decompressobj()
    try:
        text = decoder.decompress(packed, MAX_TEXT)
    except zlib.error:
        raise SceneError(DAMAGED) from None
    if decoder.unconsumed_tail:
        raise SceneError(f"the scene of the link is larger than {MAX_TEXT // 1024} KiB; send the scene file instead")
    if not decoder.eof or decoder.unused_data:
        raise SceneError(DAMAGED)
    return text


def scene_of_text(content: bytes, source: str) -> Scene:
    """The scene of a scene file that someone sent; `source` names it in errors. It may name no files."""
    if len(content) > MAX_TEXT:
        raise SceneError(f"{source}: more than {MAX_TEXT // 1024} KiB; open it with turgor play")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        raise SceneError(f"{source}: not a text file in UTF-8") from None
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError):
        document = {}  # the scene says what is wrong, and where
    _no_files(document, source)
    return Scene.from_toml(text, source=source, allow_outside=False, limits=Limits(vertices=MAX_VERTICES))


def _no_files(document: Mapping[str, Any], source: str) -> None:
    """SceneError if a scene names a file: shapes, fonts and textures must be in it."""

    def refuse(path: str) -> str:
        raise SceneError(f"{source}: the scene names the file {path!r}, which others do not have; send both as files")

    for things in document.values():
        for thing in things if isinstance(things, list) else ():
            if isinstance(thing, dict):
                map_paths(thing.get("shape"), refuse)
                if isinstance(texture := thing.get("texture"), str) and texture:
                    refuse(texture)
