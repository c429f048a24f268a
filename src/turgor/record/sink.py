"""Where frames go. The ending of a path picks the sink; `check_path` finds bad paths before any work is done."""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np

from turgor.errors import SceneError
from turgor.output.frame import Frame, Layout

__all__ = ["ENDINGS", "BaseSink", "Sink", "check_path", "open_sink", "replacing", "scratch"]

PICTURE = ("pyvista", "PIL")
#: ending -> (class that writes it, packages it needs, pip name that brings them)
ENDINGS: dict[str, tuple[str, tuple[str, ...], str]] = {
    ".vtkhdf": ("vtkhdf.VtkHdfSink", ("h5py",), "turgor"),
    ".npz": ("npz.NpzSink", (), "turgor"),
    ".mp4": ("video.Mp4Sink", (*PICTURE, "imageio_ffmpeg"), "turgor[render]"),
    ".gif": ("video.GifSink", (*PICTURE, "imageio_ffmpeg"), "turgor[render]"),
    ".png": ("video.PngSink", PICTURE, "turgor[render]"),
}


@runtime_checkable
class Sink(Protocol):
    """Takes the frames of one simulation, in order."""

    def add(self, frame: Frame) -> None:
        """Takes one frame."""

    def close(self, success: bool = True) -> None:
        """Finishes the file. `success=False`: the run failed; a file that is useless when cut short is removed."""

    def __enter__(self) -> Self: ...

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None: ...


class BaseSink:
    """What all sinks share: the context manager, and one check of the frame's shape."""

    def __init__(self, path: Path, layout: Layout) -> None:
        self.path = path
        self.layout = layout
        self.frames = 0  # number of frames taken so far

    def add(self, frame: Frame) -> None:
        expected = (self.layout.vertices, self.layout.dim)
        if np.shape(frame.positions) != expected:
            raise SceneError(
                f"{self.path}: frame {frame.index} has positions of shape {np.shape(frame.positions)} where the layout "
                f"says {expected}; every frame must come from the simulation the file was opened for."
            )
        self._add(frame)
        self.frames += 1

    def _add(self, frame: Frame) -> None:
        raise NotImplementedError

    def close(self, success: bool = True) -> None:
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        self.close(success=kind is None)


def check_path(path: str | Path) -> Path:
    """The path, if a sink can be opened on it; raises SceneError (ending, package, folder) and touches nothing."""
    path = Path(path)
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise SceneError(f"{path}: cannot record to {ending or 'a file without ending'!r}; use {', '.join(ENDINGS)}.")
    _, packages, extra = ENDINGS[ending]
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    if missing:
        raise SceneError(f"{path}: {ending} needs {', '.join(missing)}; install it with: pip install '{extra}'")
    folder = path.parent
    if not folder.is_dir():
        raise SceneError(f"{path}: the folder {folder} does not exist; create it first.")
    if path.is_dir():
        raise SceneError(f"{path}: is a folder; give the name of a file.")
    if not os.access(folder, os.W_OK):
        raise SceneError(f"{path}: the folder {folder} is not writable; choose another one.")
    if "%" in path.name:
        _check_pattern(path)
    return path


def _check_pattern(path: Path) -> None:
    try:
        numbered = path.name % 0 != path.name % 1
    except (TypeError, ValueError):
        numbered = False
    if path.suffix.lower() != ".png" or not numbered:
        raise SceneError(f"{path}: '%' is for numbered pictures only, as in frame_%04d.png; rename the file.")


def open_sink(path: str | Path, layout: Layout, *, fps: float | None = None, **options: Any) -> Sink:
    """A sink for the ending of `path` (see `ENDINGS`).

    fps: pictures per second of a video; default: the layout's, which is real time.
    options: `frames` (expected number of frames) and `precision` for .vtkhdf; those of `Painter` for pictures.
    """
    path = check_path(path)
    if fps is not None and not (np.isfinite(fps) and fps > 0):
        raise SceneError(f"fps = {fps}: must be a positive number of frames per second.")
    ending = path.suffix.lower()
    module, _, name = ("video.PngSequenceSink" if "%" in path.name else ENDINGS[ending][0]).partition(".")
    sink = getattr(importlib.import_module(f"turgor.record.{module}"), name)
    if ending in (".mp4", ".gif"):
        options["fps"] = float(fps or layout.fps)
    try:
        opened: Sink = sink(path, layout, **options)
    except TypeError as error:
        if "unexpected keyword" not in str(error):
            raise
        raise SceneError(
            f"{path}: {str(error).split(') ')[-1]}; see turgor.record.open_sink for the options."
        ) from None
    return opened


def scratch(path: Path) -> Path:
    """A name beside `path` for unfinished work, with the same ending; a fixed one, so that leftovers never pile up."""
    return path.with_name(f".{path.stem}.part{path.suffix}")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Gives a scratch file beside `path`; it replaces `path` in one move at the end, or vanishes on an error."""
    temporary = scratch(path)
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
