"""Recordings as other files, without simulating again."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from turgor.errors import SceneError
from turgor.output.frame import Frame, Layout
from turgor.record.file_sink import FileSink
from turgor.record.formats import check_path, open_sink, options_of
from turgor.record.trajectory import Trajectory

__all__ = ["Recorded", "export"]


class Recorded(Protocol):
    """Frames of one layout; `Trajectory` is one."""

    @property
    def layout(self) -> Layout: ...

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> Frame: ...


def export(
    recording: Recorded | str | os.PathLike[str],
    *paths: str | os.PathLike[str],
    every: int = 1,
    progress: Callable[[int, int], None] | None = None,
    **options: Any,
) -> list[FileSink]:
    """Writes a recording to files; the ending of each picks its format, see `ENDINGS`.

        turgor.record.export("drop.vtkhdf", "drop.glb", "drop.mp4", every=2)

    recording: what `turgor.record.read` gives, or the path of a .vtkhdf file. every: 2 takes every second frame; videos
    keep their speed. progress: called with (frames done, frames in all). options: `tolerance` for .glb, and the fields
    of `Look`; each file takes those that its format has. Returns the closed sinks; their `note` says how exact each is.
    """
    if isinstance(recording, (str, os.PathLike)):
        with Trajectory(Path(recording)) as opened:
            return export(opened, *paths, every=every, progress=progress, **options)
    targets = [check_path(Path(path)) for path in paths]
    _check(recording, targets, every, options)
    layout = replace(recording.layout, fps=recording.layout.fps / every)
    chosen = range(0, len(recording), every)
    with contextlib.ExitStack() as stack:
        sinks = [stack.enter_context(open_sink(path, layout, **options_of(path, options))) for path in targets]
        for done, frame in enumerate(_frames(recording, chosen), start=1):
            for sink in sinks:
                sink.add(frame)
            if progress is not None:
                progress(done, len(chosen))
    return sinks


def _frames(recording: Recorded, chosen: range) -> Iterator[Frame]:
    return (recording[number] for number in chosen)


def _check(recording: Recorded, targets: list[Path], every: int, options: dict[str, Any]) -> None:
    """Raises what is wrong before anything is written."""
    if not targets:
        raise SceneError("export: give the file to write, as in drop.glb.")
    if every < 1:
        raise SceneError(f"every = {every}: must be 1 (all frames) or more.")
    if len(recording) == 0:
        raise SceneError("export: the recording has no frames.")
    resolved = [path.resolve() for path in targets]
    if len(set(resolved)) < len(resolved):
        raise SceneError("export: the same file is given twice; leave one out.")
    source = getattr(recording, "path", None)
    if source is not None and Path(source).resolve() in resolved:
        raise SceneError(f"{source}: cannot be written while it is read; give another name.")
    used = {key for path in targets for key in options_of(path, options)}
    if unused := sorted(set(options) - used):
        endings = ", ".join(sorted({path.suffix for path in targets}))
        raise SceneError(f"export: {', '.join(unused)} has no effect on {endings}; leave it out.")
