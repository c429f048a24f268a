"""`.html` as a format of recordings: the page of `standalone`, made of the frames of a run."""

from __future__ import annotations

import sys
from pathlib import Path

from turgor.errors import SceneError
from turgor.files import replacing, writing
from turgor.output.frame import Frame, Layout
from turgor.record.file_sink import FileSink
from turgor.viewer.export.standalone import MAX_PAGE_BYTES, PAGE_FPS, least_bytes, standalone_html
from turgor.viewer.world.recording import Recording

__all__ = ["PageSink"]


class PageSink(FileSink):
    """Keeps as many frames as the page shows (30 per second) and writes it at `close`, in one move.

    title: on the page; default: the scene's name.
    """

    def __init__(self, path: Path, layout: Layout, *, title: str | None = None) -> None:
        super().__init__(path, layout)
        self._title = title or layout.scene or path.stem
        self._recording = Recording(layout, max_bytes=sys.maxsize)  # the page has a bound of its own
        self._due = -float("inf")  # s: time of the next frame to keep

    def _add(self, frame: Frame) -> None:
        if frame.time < self._due - 1e-9:
            return
        self._due = max(self._due + 1 / PAGE_FPS, frame.time + 0.5 / PAGE_FPS)
        if not self._recording.add(frame):
            raise SceneError(f"{self.path}: {self._recording.ended}")
        if least_bytes(self.layout, len(self._recording)) > MAX_PAGE_BYTES:
            raise SceneError(
                f"{self.path}: the page would have more than {MAX_PAGE_BYTES / 1e6:.0f} MB after "
                f"{self._recording.duration:.1f} s; simulate less, or record a video."
            )

    def close(self, success: bool = True) -> None:
        recording, self._recording = self._recording, Recording(self.layout)
        if not success or len(recording) == 0:
            return
        textures = {body.name: body.texture for body in self.layout.bodies}
        content = standalone_html(recording, self._title, textures=textures)
        with writing(self.path), replacing(self.path) as temporary:
            temporary.write_bytes(content)
