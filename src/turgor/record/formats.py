"""The file formats: the ending of a path picks the sink; `check_path` finds bad paths before any work is done."""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from turgor.errors import SceneError
from turgor.output.frame import Layout
from turgor.record.file_sink import FileSink
from turgor.record.look import Look

__all__ = ["ENDINGS", "PICTURES", "check_path", "open_sink", "options_of"]

PICTURE = ("vtkmodules", "PIL")
VIDEO = (*PICTURE, "imageio_ffmpeg")
#: ending -> (class that writes it, below turgor.record if it does not say otherwise, packages it needs, pip name that
#: brings them)
ENDINGS: dict[str, tuple[str, tuple[str, ...], str]] = {
    ".vtkhdf": ("vtkhdf.VtkHdfSink", ("h5py",), "turgor"),
    ".npz": ("npz.NpzSink", (), "turgor"),
    ".mp4": ("video.Mp4Sink", VIDEO, "turgor[render]"),
    ".gif": ("video.GifSink", VIDEO, "turgor[render]"),
    ".png": ("video.PngSink", PICTURE, "turgor[render]"),
    ".webm": ("video.WebmSink", VIDEO, "turgor[render]"),
    ".html": ("turgor.viewer.export.page_sink.PageSink", ("viser",), "turgor[play]"),
    ".glb": ("exchange.glb.GlbSink", (), "turgor"),
    **dict.fromkeys((".usd", ".usda", ".usdc", ".usdz"), ("exchange.usd.UsdSink", ("pxr",), "turgor[export]")),
    ".obj": ("exchange.mesh_files.ObjSink", (), "turgor"),
    ".ply": ("exchange.mesh_files.PlySink", (), "turgor"),
    ".rrd": ("exchange.rerun_file.RerunSink", ("rerun",), "turgor[rerun]"),
}
#: Endings that may be numbered, frame_%04d.png: a file per frame
NUMBERED = {
    ".png": "video.PngSequenceSink",
    ".obj": "exchange.mesh_files.ObjSink",
    ".ply": "exchange.mesh_files.PlySink",
}
PICTURES = (".mp4", ".webm", ".gif", ".png")  # endings that are drawn: they take the fields of `Look`
MODELS = (".glb", ".usd", ".usda", ".usdc", ".usdz", ".obj", ".ply", ".rrd")  # those that take its texture only


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
    if path.suffix.lower() not in NUMBERED or not numbered:
        raise SceneError(
            f"{path}: '%' is for numbered pictures and meshes only, as in frame_%04d.png or .obj; rename the file."
        )


def options_of(path: str | Path, options: Mapping[str, Any]) -> dict[str, Any]:
    """Those of `options` (fields of `Look`, `tolerance`) that the format of `path` has."""
    ending = Path(path).suffix.lower()
    known = set(Look.__dataclass_fields__) if ending in PICTURES else {"texture"} if ending in MODELS else set()
    if ending == ".glb":
        known.add("tolerance")
    return {key: value for key, value in options.items() if key in known}


def open_sink(path: str | Path, layout: Layout, *, fps: float | None = None, **options: Any) -> FileSink:
    """A sink for the ending of `path` (see `ENDINGS`).

    fps: pictures per second of a video; default: the layout's, which is real time.
    options: `frames` (expected number of frames) and `precision` for .vtkhdf; `tolerance` for .glb; the fields of
    `Look` for pictures, its `texture` also for models.
    """
    path = check_path(path)
    if fps is not None and not (np.isfinite(fps) and fps > 0):
        raise SceneError(f"fps = {fps}: must be a positive number of frames per second.")
    ending = path.suffix.lower()
    place = NUMBERED[ending] if "%" in path.name else ENDINGS[ending][0]
    module, _, name = (place if place.startswith("turgor.") else f"turgor.record.{place}").rpartition(".")
    sink = getattr(importlib.import_module(module), name)
    if ending in (".mp4", ".webm", ".gif"):
        options["fps"] = float(fps or layout.fps)
    try:
        opened: FileSink = sink(path, layout, **options)
    except TypeError as error:
        if "unexpected keyword" not in str(error):
            raise
        raise SceneError(
            f"{path}: {str(error).split(') ')[-1]}; see turgor.record.open_sink for the options."
        ) from None
    return opened
