"""Undo and redo: the world goes back to how it was described before a step, or on again, and keeps its motion.

Where only values have changed, bodies move on as they do. A body that comes back is where it was when it went, and
moves as it did; where another body is there now, it comes back above it. A scene starts at its beginning again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from turgor.errors import SceneError
from turgor.viewer.world.free_place import free_place
from turgor.viewer.world.history import OPENED, Mark, Step
from turgor.viewer.world.motion import Motion
from turgor.viewer.world.world import World

__all__ = ["redo", "undo"]


def undo(world: World) -> Step:
    """Take back the last change; returns what it was. SceneError where there is none: nothing has changed then."""
    return _go(world, world.history.done, world.history.undone, back=True)


def redo(world: World) -> Step:
    """Do again what was taken back last; returns what it is."""
    return _go(world, world.history.undone, world.history.done, back=False)


def _go(world: World, source: list[Step], target: list[Step], back: bool) -> Step:
    history = world.history
    with history.together(world):
        if not source:
            raise SceneError("there is no change to take back" if back else "nothing was taken back")
        step = source[-1]
        mark = step.before if back else step.after
        shifts = {
            name: _shift(world, name, motion) for name, motion in step.gone.items() if _returns(world, mark, name)
        }
        world.describe(mark)
        for name, shift in shifts.items():
            step.gone[name].restore(world.sim, name, shift)
        source.pop()
        gone = history.taken(world)
        target.append(replace(step, gone={} if OPENED in step.keys else gone))
    return step


def _returns(world: World, mark: Mark, name: str) -> bool:
    return name in mark.scene.names and name not in world.sim.names


def _shift(world: World, name: str, motion: Motion) -> Any:
    """m: from where a body was to a place that is free."""
    if not motion.blocked(world.sim, name):
        return 0.0
    low, high = motion.boxes[name]
    middle = (low + high) / 2.0
    return free_place(world, (high - low) / 2.0, middle) - middle
