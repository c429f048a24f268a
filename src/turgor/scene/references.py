"""The files that a scene names: mesh files, fonts, textures. Relative to a folder, and kept inside it where asked.

A scene file may come from a stranger: what it names must lie in its own folder, unless the user allows more. Python
code that names a file is the user's own, and is not asked.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from turgor.errors import SceneError

__all__ = ["References"]


@dataclass(frozen=True)
class References:
    """Where files are looked up. folder: None is the working directory. outside: whether they may lie anywhere."""

    folder: Path | None = None
    outside: bool = True

    def joined(self, path: str) -> str:
        """The path as Python uses it; SceneError where it leads out of the folder."""
        joined = path if self.folder is None else os.path.normpath(os.path.join(self.folder, path))
        if not self.outside and not self._inside(joined):
            raise SceneError(
                f"the file {path!r} is outside the folder of the scene file; put it there, or allow it with "
                "--allow-outside (in Python: allow_outside=True) if you trust this scene"
            )
        return joined

    def _inside(self, joined: str) -> bool:
        """Links are followed: what counts is where the file really is."""
        try:
            base = os.path.realpath(self.folder or os.curdir)
            return os.path.commonpath([base, os.path.realpath(joined)]) == base
        except ValueError:  # another drive, or a name that no file can have
            return False
