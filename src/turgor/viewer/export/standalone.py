"""One HTML page that plays a recording: no server, no network, no installation.

It carries viser's own player (play and pause, a time slider, speeds), to which we add slow motion and the scene's name.
"""

from __future__ import annotations

import html
import re
import secrets
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from turgor.errors import SceneError
from turgor.output.frame import Layout
from turgor.record.skin import STREAMED, Skin
from turgor.viewer.draw.camera import view_of
from turgor.viewer.draw.scene_nodes import SceneNodes
from turgor.viewer.server.client_finish import finished
from turgor.viewer.server.viser_server import only_through_gate, open_server
from turgor.viewer.world.recording import Recording

if TYPE_CHECKING:
    import viser

__all__ = ["MAX_PAGE_BYTES", "PAGE_FPS", "least_bytes", "standalone_html"]

MAX_PAGE_BYTES = 40_000_000  # what still goes by mail or chat, and opens at once
PAGE_FPS = 30.0  # frames per second in the page, at most
SMOOTH_BYTES = 12_000_000  # of positions: a larger recording has the triangles of the physics, a quarter of the points
KEYS = "space: play, pause · drag: turn · right button: move · wheel: nearer"
LABEL = (
    '<div style="position:fixed;right:1em;top:0.8em;z-index:5;pointer-events:none;font:14px sans-serif;color:#3c4652;'
    'background:#ffffffcc;border-radius:6px;padding:0.4em 0.7em"><b id="turgor-title">{title}</b>'
    '<div style="font-size:11px;color:#5b6672">{keys}</div></div>'
)


def standalone_html(
    recording: Recording,
    title: str,
    *,
    textures: Mapping[str, str | None] | None = None,
    progress: Callable[[int, int], None] | None = None,
    max_bytes: int = MAX_PAGE_BYTES,
) -> bytes:
    """The page, UTF-8. It plays in a loop, in real time of the simulation, from file:// and offline.

    textures: picture files of cloths, by the body's name. progress: called with (frames done, frames in all).
    SceneError if the page would be larger than `max_bytes`.
    """
    if len(recording) == 0:
        raise SceneError("Nothing has been recorded yet; press Record first.")
    numbers = recording.thinned(PAGE_FPS)
    _check_size(least_bytes(recording.layout, len(numbers)), max_bytes, recording)
    server = open_server()
    only_through_gate(server, secrets.token_urlsafe())  # nobody is to connect
    try:
        page = _play(server, recording, numbers, textures or {}, progress)
    finally:
        server.stop()
    content = _titled(finished(page), title).encode()
    _check_size(len(content), max_bytes, recording)
    return content


def least_bytes(layout: Layout, frames: int) -> float:
    """Of a page with so many frames: positions alone, in single precision, hardly shrink when packed."""
    return frames * layout.vertices * 3 * 4 / 4


def _check_size(size: float, limit: int, recording: Recording) -> None:
    if size > limit:
        raise SceneError(
            f"The page would have {size / 1e6:.0f} MB, more than {limit / 1e6:.0f} MB; "
            f"record no more than about {recording.duration * limit / size:.1f} s, or download a video."
        )


def _play(
    server: viser.ViserServer,
    recording: Recording,
    numbers: list[int],
    textures: Mapping[str, str | None],
    progress: Callable[[int, int], None] | None,
) -> str:
    """Shows the frames to the server's serializer, with the pauses between them."""
    first = recording.frame(numbers[0])
    view = view_of(recording.layout, first)
    for name in ("position", "look_at", "fov", "near", "far"):
        setattr(server.initial_camera, name, getattr(view, name))
    count = Skin(recording.layout, first, fine=STREAMED).count
    smooth = 12 * count * len(numbers) <= SMOOTH_BYTES
    nodes = SceneNodes(server.scene, recording.layout, first, textures, smooth=smooth)
    serializer = server.get_scene_serializer()
    for done, number in enumerate(numbers[1:], start=1):
        serializer.insert_sleep(recording.seconds(number) - recording.seconds(numbers[done - 1]))
        nodes.show(recording.frame(number))
        if progress is not None:
            progress(done, len(numbers))
    if len(numbers) > 1:
        serializer.insert_sleep(1 / PAGE_FPS)  # the last frame is seen too, before the loop starts again
    page = str(serializer.as_html())
    if progress is not None:
        progress(len(numbers), len(numbers))
    return page


def _titled(page: str, title: str) -> str:
    """The page with the scene's name in the window's title, and on it, above what can be done."""
    name = html.escape(title)
    titled, count = re.subn("<title>.*?</title>", lambda _: f"<title>{name}</title>", page, count=1)
    if not count:
        titled = page.replace("<head>", f"<head><title>{name}</title>", 1)
    return titled.replace("<body>", f"<body>{LABEL.format(title=name, keys=KEYS)}", 1)
