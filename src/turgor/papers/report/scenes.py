"""Scenes of the gallery with changes."""

from __future__ import annotations

from typing import Any

from turgor import gallery
from turgor.scene import Scene

__all__ = ["changed", "empty_ring"]


def changed(name: str, **values: Any) -> Scene:
    """A scene of the gallery with changes: changed("drop-2d", ball__mass=2) sets ball.mass."""
    scene = gallery.load(name)
    for path, value in values.items():
        scene.set(path.replace("__", "."), value)
    return scene


def empty_ring() -> Scene:
    """The ball of drop-2d without its gas: a ring of masses and springs."""
    return changed("drop-2d", ball__settled=False, ball__gas="none")
