"""Videos and pictures: `.mp4`, `.webm`, `.gif`, `.png`. They appear under their name only when they are complete."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from turgor.files import replacing, scratch, writing
from turgor.output.frame import Frame, Layout
from turgor.record.file_sink import FileSink
from turgor.record.render import Painter

__all__ = ["GifSink", "Mp4Sink", "PngSequenceSink", "PngSink", "WebmSink"]

GIF_FPS = 25.0  # GIF counts hundredths of a second, and viewers slow down what is faster than 50
GIF_SIZE = (640, 360)
PART = re.compile(r"^\[.*?\] *")


class Mp4Sink(FileSink):
    """H.264, yuv420p: plays in browsers, phones and office programs. Every frame is one picture."""

    _codec = "libx264"
    #: Without the second search of motion that veryfast has: a quarter faster, a tenth larger, not worse
    _encoding: tuple[str, ...] = ("-crf", "18", "-preset", "veryfast", "-subq", "1", "-movflags", "+faststart")

    def __init__(
        self,
        path: Path,
        layout: Layout,
        *,
        fps: float,
        size: tuple[int, int] = (1280, 720),
        aim: Frame | None = None,
        threads: int = 0,
        **options: Any,
    ) -> None:
        """aim: the frame that sets the camera; default: the first one that is added.

        threads: of the encoder; 0: as many as there are cores.
        """
        super().__init__(path, layout)
        self._aim, self._threads = aim, threads
        self._fps = fps
        even = (size[0] - size[0] % 2, size[1] - size[1] % 2)  # yuv420p halves the colour planes
        self._painter = Painter(layout, size=even, **options)
        self._size = even
        self._temporary = scratch(path)
        self._encoder: _Encoder | None = None

    def _add(self, frame: Frame) -> None:
        if self._aim is not None:
            self._painter.aim(self._aim)
        picture = self._painter.draw(frame)
        if self._encoder is None:
            encoding = (*self._encoding, "-threads", str(self._threads))
            self._encoder = _Encoder(self._temporary, self._size, self._fps, self._codec, encoding)
        self._encoder.send(picture)

    def close(self, success: bool = True) -> None:
        """Renames the video to its name, or removes it."""
        self._painter.close()
        try:
            if self._encoder is not None and success:
                with writing(self.path):
                    self._encoder.close()
                    self._finish()
            elif self._encoder is not None:
                self._encoder.stop()
        finally:
            self._encoder = None
            self._temporary.unlink(missing_ok=True)

    def _finish(self) -> None:
        self._temporary.replace(self.path)


class WebmSink(Mp4Sink):
    """VP9: free of patents, for web pages and wikis; about half as large as H.264, and slower to make."""

    _codec = "libvpx-vp9"
    # Constant quality (no bound on the rate), the fastest of the good settings, all cores.
    _encoding = ("-crf", "30", "-b:v", "0", "-deadline", "good", "-cpu-used", "5", "-row-mt", "1")


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
                raise OSError(_complaint(done.stderr.encode(), done.returncode))


class _Encoder:
    """ffmpeg, which takes pictures and makes a video of them; an OSError says why it could not.

    It does not hear Ctrl-C: the run finishes the file.
    """

    def __init__(self, path: Path, size: tuple[int, int], fps: float, codec: str, options: Sequence[str]) -> None:
        import imageio_ffmpeg

        raw = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{size[0]}x{size[1]}"]
        rate = ["-r", str(Fraction(fps).limit_denominator())]
        coded = ["-c:v", codec, "-pix_fmt", "yuv420p", *options]
        place = str(path.absolute())  # absolute: ffmpeg takes 'a:b' for a protocol
        self._process = subprocess.Popen(
            [imageio_ffmpeg.get_ffmpeg_exe(), "-y", "-v", "error", *raw, *rate, "-i", "-", "-an", *coded, place],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip

    def send(self, picture: np.ndarray[Any, Any]) -> None:
        """One picture, (height, width, 3) bytes."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(np.ascontiguousarray(picture).data)
        except BrokenPipeError:
            self.close()  # says what ffmpeg said
            raise

    def close(self) -> None:
        """Finishes the video."""
        _, said = self._process.communicate()
        if self._process.returncode:
            raise OSError(_complaint(said, self._process.returncode))

    def stop(self) -> None:
        """Ends ffmpeg, whatever it has made."""
        self._process.kill()
        self._process.communicate()


def _complaint(said: bytes, status: int) -> str:
    """What ffmpeg says in its last line, without the part of it that speaks, [out#0/mp4 @ 0x23a45840]."""
    lines = said.decode("utf-8", "replace").strip().splitlines()
    if not lines:
        return f"ffmpeg ended with status {status}"
    return f"ffmpeg: {PART.sub('', lines[-1].strip())[-300:]}"


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
            with writing(self.path):
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
