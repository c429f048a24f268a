"""Two scenes of the gallery that several figures show, with changes: drop-2d, and drop with one ball."""

from __future__ import annotations

from typing import Any

from turgor import gallery
from turgor.scene import Scene

__all__ = ["drop_2d", "empty_ring", "one_ball"]


def drop_2d(**values: Any) -> Scene:
    """The scene; drop_2d(ball__mass=2) sets ball.mass."""
    return _changed(gallery.load("drop-2d"), values)


def empty_ring() -> Scene:
    """The ball of drop-2d without its gas: a ring of masses and springs."""
    return drop_2d(ball__settled=False, ball__gas="none")


def one_ball(**values: Any) -> Scene:
    """The scene drop with its middle ball alone; one_ball(ball__mass=2) sets ball.mass."""
    scene = gallery.load("drop")
    scene.soft_bodies[:] = [body for body in scene.soft_bodies if body.name == "ball"]
    return _changed(scene, values)


def _changed(scene: Scene, values: dict[str, Any]) -> Scene:
    for path, value in values.items():
        scene.set(path.replace("__", "."), value)
    return scene
