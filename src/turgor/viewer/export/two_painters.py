"""A video by two processes, each of which paints and encodes one half; they are joined without encoding again.

Without a graphics card a picture of a 3D scene takes longer than it is shown, and most of that on one core.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from turgor.errors import TurgorError
from turgor.record import open_sink
from turgor.viewer.world.recording import Recording

__all__ = ["WORTHWHILE", "can_share", "write_video"]

WORTHWHILE = 40  # pictures: below, a second process takes longer to start than it saves


def can_share(recording: Recording, total: int) -> bool:
    """Whether two processes are faster: for a 3D video of some length, on two cores."""
    return hasattr(os, "fork") and recording.layout.dim == 3 and total >= WORTHWHILE and (os.cpu_count() or 1) > 1


def write_video(
    recording: Recording,
    target: Path,
    options: Mapping[str, Any],
    total: int,
    progress: Callable[[int, int], None],
    share: bool,
) -> None:
    """Pictures 0 ... total - 1 of a recording, `options["fps"]` per simulated second, as one .mp4 or .gif."""
    if not share:
        _paint(recording, target, options, range(total), lambda done: progress(done, total))
        return
    import vtkmodules.vtkRenderingOpenGL2  # noqa: F401  (before the fork, so that it is loaded once)

    os.environ["LP_NUM_THREADS"] = "0"  # each paints on a core of its own, and encodes there
    options = {**options, "threads": 1}
    halves = [target.with_name(f"half-{k}{target.suffix}") for k in (0, 1)]
    middle = total // 2
    listen, speak = os.pipe()
    helper = os.fork()
    if helper == 0:
        status = 1
        try:
            os.close(listen)
            _paint(recording, halves[1], options, range(middle, total), lambda _: _tell(speak))
            status = 0
        finally:
            os._exit(status)
    ended = False
    try:
        os.close(speak)
        os.set_blocking(listen, False)
        helped = 0

        def note(done: int) -> None:
            nonlocal helped
            with suppress(BlockingIOError):
                helped += len(os.read(listen, 1 << 16))
            progress(done + helped, total)

        _paint(recording, halves[0], options, range(middle), note)
        os.set_blocking(listen, True)
        while heard := os.read(listen, 1 << 16):
            helped += len(heard)
            progress(middle + helped, total)
        status, ended = os.waitpid(helper, 0)[1], True
        if status:
            raise TurgorError("The second half of the video could not be painted; try a smaller size.")
        _join(halves, target)
    finally:
        os.close(listen)
        if not ended:
            with suppress(ProcessLookupError, ChildProcessError):
                os.kill(helper, signal.SIGTERM)
                os.waitpid(helper, 0)
        for half in halves:
            half.unlink(missing_ok=True)


def _tell(pipe: int) -> None:
    os.write(pipe, b".")


def _paint(
    recording: Recording, target: Path, options: Mapping[str, Any], numbers: range, note: Callable[[int], None]
) -> None:
    """The camera is that of the first picture of all."""
    with open_sink(target, recording.layout, aim=recording.frame(0), **options) as sink:
        for done, number in enumerate(numbers, start=1):
            sink.add(recording.sample(number / options["fps"]))
            note(done)


def _join(halves: list[Path], target: Path) -> None:
    import imageio_ffmpeg  # type: ignore[import-untyped]

    listing = target.with_name("halves.txt")
    listing.write_text("".join(f"file '{half.name}'\n" for half in halves), encoding="utf-8")
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-y", "-loglevel", "error", "-f", "concat", "-i", str(listing)]
    joined = [*command, "-c", "copy", "-movflags", "+faststart", str(target)]
    done = subprocess.run(joined, capture_output=True, encoding="utf-8", errors="replace")
    listing.unlink()
    if done.returncode:
        raise TurgorError(f"ffmpeg could not join the video: {done.stderr.strip()[-300:]}")
