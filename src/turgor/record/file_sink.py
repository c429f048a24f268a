"""The base of all sinks that write a file."""

from __future__ import annotations

from pathlib import Path
from typing import Self

import numpy as np

from turgor.errors import SceneError
from turgor.files import sweep, writing
from turgor.output.frame import Frame, Layout

__all__ = ["FileSink"]


class FileSink:
    """A sink on a file, and a context manager that closes it; checks the shape of each frame."""

    def __init__(self, path: Path, layout: Layout) -> None:
        sweep(path)
        self.path = path
        self.layout = layout
        self.frames = 0  # number of frames taken so far
        self.note = ""  # what is to be known about the file once it is closed, for the summary of a run

    def add(self, frame: Frame) -> None:
        """Takes one frame."""
        expected = (self.layout.vertices, self.layout.dim)
        if np.shape(frame.positions) != expected:
            raise SceneError(
                f"{self.path}: frame {frame.index} has positions of shape {np.shape(frame.positions)} where the layout "
                f"says {expected}; every frame must come from the simulation the file was opened for."
            )
        stress, faces = frame.stress, (self.layout.faces, 2)
        if self.layout.has_materials and (stress is None or np.shape(stress) != faces):
            raise SceneError(
                f"{self.path}: frame {frame.index} has not the stress of {self.layout.faces} faces that the layout "
                "says; every frame must come from the simulation the file was opened for."
            )
        with writing(self.path):
            self._add(frame)
        self.frames += 1

    def _add(self, frame: Frame) -> None:
        raise NotImplementedError

    def close(self, success: bool = True) -> None:
        """Finishes the file. `success=False`: the run failed; a file that is useless when cut short is removed."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        self.close(success=kind is None)
