"""The scene drop-2d of the gallery, a ball that falls on the floor, with changes: most of the figures show it."""

from __future__ import annotations

from typing import Any

from turgor import gallery
from turgor.scene import Scene

__all__ = ["drop_2d", "empty_ring"]


def drop_2d(**values: Any) -> Scene:
    """The scene; drop_2d(ball__mass=2) sets ball.mass."""
    scene = gallery.load("drop-2d")
    for path, value in values.items():
        scene.set(path.replace("__", "."), value)
    return scene


def empty_ring() -> Scene:
    """The ball without its gas: a ring of masses and springs."""
    return drop_2d(ball__settled=False, ball__gas="none")
