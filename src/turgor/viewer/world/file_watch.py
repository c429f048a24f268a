"""Notices that a scene file, or a mesh or image that the scene refers to, was changed. No thread: it is asked."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from turgor.scene.plain import map_paths
from turgor.scene.scene import Scene

__all__ = ["FileWatch", "files_of"]

SETTLE = 0.15  # s: editors write a file in several steps; it is read once it has not changed for this long

# Time (ns), size (bytes) and number of each file; None: it is not there, as for a moment while an editor replaces it.
Signature = tuple[tuple[int, int, int] | None, ...]


class FileWatch:
    """Calls `changed()` from `poll()` once the scene file at `path` has changed and is complete again."""

    def __init__(
        self, path: str | os.PathLike[str], changed: Callable[[], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.path, self.changed, self.clock = Path(path), changed, clock
        self.others: tuple[Path, ...] = ()
        self._reported = self._seen = self._look()
        self._since = clock()

    def also(self, files: Iterable[str | os.PathLike[str]]) -> None:
        """Watches these files too, in place of those named before; `files_of(scene)` finds them."""
        self.others = tuple(Path(file) for file in files)
        self._reported = self._seen = (self._reported[0], *self._look()[1:])

    def poll(self) -> bool:
        """Looks, and calls `changed()` if there is news; returns whether it did. What `changed` raises goes through.

        A change is reported once, even if `changed` raised: the user will save the file again.
        """
        found = self._look()
        if found != self._seen:
            self._seen, self._since = found, self.clock()
        if found == self._reported or found[0] is None or self.clock() - self._since < SETTLE:
            return False
        self._reported = found
        self.changed()
        return True

    def _look(self) -> Signature:
        return tuple(_signature(path) for path in (self.path, *self.others))


def files_of(scene: Scene) -> list[Path]:
    """The mesh, font and image files that a scene refers to."""
    found: list[str] = []

    def note(path: str) -> str:
        found.append(path)
        return path

    for body in (*scene.bodies, *scene.rigid_bodies):
        map_paths(body.shape.recipe, note)
        if (texture := getattr(body, "texture", None)) is not None:
            found.append(texture)
    return [Path(path) for path in dict.fromkeys(found)]


def _signature(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
