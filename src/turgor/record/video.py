"""Videos and pictures: `.mp4`, `.gif`, `.png`. They appear under their name only when they are complete."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from turgor.errors import SceneError, TurgorError
from turgor.files import replacing, scratch
from turgor.output.frame import Frame, Layout
from turgor.record.file_sink import FileSink
from turgor.record.render import Painter

__all__ = ["GifSink", "Mp4Sink", "PngSequenceSink", "PngSink"]

GIF_FPS = 25.0  # GIF counts hundredths of a second, and viewers slow down what is faster than 50
GIF_SIZE = (640, 360)


class Mp4Sink(FileSink):
    """H.264, yuv420p: plays in browsers, phones and office programs. Every frame is one picture."""

    def __init__(
        self,
        path: Path,
        layout: Layout,
        *,
        fps: float,
        size: tuple[int, int] = (1280, 720),
        aim: Frame | None = None,
        **options: Any,
    ) -> None:
        """aim: the frame that sets the camera; default: the first one that is added."""
        super().__init__(path, layout)
        self._aim = aim
        self._fps = fps
        even = (size[0] - size[0] % 2, size[1] - size[1] % 2)  # yuv420p halves the colour planes
        self._painter = Painter(layout, size=even, **options)
        self._size = even
        self._temporary = scratch(path)
        self._encoder: Any = None

    def _add(self, frame: Frame) -> None:
        if self._aim is not None:
            self._painter.aim(self._aim)
        picture = self._painter.draw(frame)
        if self._encoder is None:
            self._encoder = _encoder(self._temporary, self._size, self._fps, ["-crf", "18", "-preset", "veryfast"])
        try:
            self._encoder.send(picture)
        except OSError as error:
            raise SceneError(f"{self.path}: the video cannot be written ({error}); is the disk full?") from error

    def close(self, success: bool = True) -> None:
        """Renames the video to its name, or removes it."""
        self._painter.close()
        try:
            if self._encoder is not None:
                self._encoder.close()
                if success:
                    self._finish()
        finally:
            self._encoder = None
            self._temporary.unlink(missing_ok=True)

    def _finish(self) -> None:
        self._temporary.replace(self.path)


class GifSink(Mp4Sink):
    """A GIF with a palette of its own, at no more than 25 pictures per second (real time is kept)."""

    def __init__(self, path: Path, layout: Layout, *, fps: float, size: tuple[int, int] = GIF_SIZE, **options: Any):
        super().__init__(path, layout, fps=fps, size=size, **options)
        self._temporary = scratch(path.with_suffix(".mp4"))

    def _finish(self) -> None:
        import imageio_ffmpeg  # type: ignore[import-untyped]

        rate = min(self._fps, GIF_FPS)
        palette = "palettegen=stats_mode=full[p];[b][p]paletteuse=dither=sierra2_4a:diff_mode=rectangle"
        filters = f"fps={rate},split[a][b];[a]{palette}"
        with replacing(self.path) as temporary:
            command = [
                imageio_ffmpeg.get_ffmpeg_exe(),
                "-y",
                "-loglevel",
                "error",
                "-i",
                str(self._temporary.absolute()),
            ]
            made = [*command, "-vf", filters, "-loop", "0", str(temporary.absolute())]
            done = subprocess.run(made, capture_output=True, encoding="utf-8", errors="replace")
            if done.returncode:
                raise TurgorError(f"{self.path}: ffmpeg could not write the GIF: {done.stderr.strip()[-300:]}")


def _encoder(path: Path, size: tuple[int, int], fps: float, options: list[str]) -> Any:
    """A started generator that takes pictures; `close()` finishes the file."""
    import imageio_ffmpeg

    encoder = imageio_ffmpeg.write_frames(
        str(path.absolute()),  # absolute: ffmpeg takes 'a:b' for a protocol
        size,
        fps=fps,
        codec="libx264",
        pix_fmt_out="yuv420p",
        macro_block_size=2,
        quality=None,
        output_params=[*options, "-movflags", "+faststart"],
    )
    encoder.send(None)
    return encoder


class PngSink(FileSink):
    """The last frame, as a picture."""

    def __init__(self, path: Path, layout: Layout, **options: Any) -> None:
        super().__init__(path, layout)
        self._painter = Painter(layout, **options)
        self._first: Frame | None = None
        self._last: Frame | None = None

    def _add(self, frame: Frame) -> None:
        self._first = self._first or frame
        self._last = frame

    def close(self, success: bool = True) -> None:
        if success and self._first and self._last:
            self._painter.aim(self._first)  # as in a video of the run
            _save(self._painter.draw(self._last), self.path)
        self._first = self._last = None
        self._painter.close()


class PngSequenceSink(FileSink):
    """Numbered pictures, `frame_%04d.png`; the number is that of the frame. Each appears when it is complete."""

    def __init__(self, path: Path, layout: Layout, **options: Any) -> None:
        super().__init__(path, layout)
        self._painter = Painter(layout, **options)

    def _add(self, frame: Frame) -> None:
        _save(self._painter.draw(frame), self.path.with_name(self.path.name % frame.index))

    def close(self, success: bool = True) -> None:
        """Keeps the pictures of a failed run too."""
        self._painter.close()


def _save(picture: np.ndarray[Any, Any], path: Path) -> None:
    from PIL import Image

    with replacing(path) as temporary:
        Image.fromarray(picture).save(temporary)
