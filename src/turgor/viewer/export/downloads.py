"""What a page downloads beside recordings: a picture of what it shows, and the scene file; and how files are named."""

from __future__ import annotations

import io
import os
import re
import tomllib
from typing import TYPE_CHECKING

import numpy as np

from turgor.errors import SceneError
from turgor.scene import toml
from turgor.scene.plain import map_paths
from turgor.scene.scene import Scene
from turgor.simulation.save import inlined

if TYPE_CHECKING:
    import viser

__all__ = ["file_name", "picture", "scene_file"]

PICTURE_SECONDS = 20.0  # to wait for the browser to draw a picture


def file_name(name: str, ending: str) -> str:
    """A harmless file name for a scene: letters, digits, '-', '_' and '.' only, at most 60 characters."""
    stem = re.sub(r"[^\w.-]+", "-", name).strip("-.")[:60]
    return f"{stem or 'scene'}{ending}"


def scene_file(scene: Scene) -> bytes:
    """The scene as a TOML file that runs from any folder: meshes are written out in it.

    Paths of fonts and pictures are absolute; a run must allow them (`--allow-outside`).
    """
    document = tomllib.loads(inlined(scene).to_toml())
    for things in document.values():
        for thing in things if isinstance(things, list) else ():
            if isinstance(thing, dict):
                if "shape" in thing:
                    thing["shape"] = map_paths(thing["shape"], os.path.abspath)
                if "texture" in thing:
                    thing["texture"] = os.path.abspath(thing["texture"])
    return toml.write(document).encode()


def picture(client: viser.ClientHandle) -> bytes:
    """What this client sees, as PNG in the size of its window. Blocks; SceneError if the browser does not answer."""
    from PIL import Image

    camera = client.camera
    try:
        seen = client.get_render(
            camera.image_height, camera.image_width, transport_format="png", timeout=PICTURE_SECONDS
        )
    except (RuntimeError, TimeoutError) as error:
        raise SceneError(
            f"The browser sent no picture ({error}); bring its window to the front and try again."
        ) from error
    opacity = seen[..., 3:] / 255.0
    on_white = np.rint(seen[..., :3] * opacity + 255 * (1 - opacity)).astype(np.uint8)
    target = io.BytesIO()
    Image.fromarray(on_white).save(target, "PNG")
    return target.getvalue()
