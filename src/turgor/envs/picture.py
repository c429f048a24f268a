"""Pictures of the first world, by the recorder's painter."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from turgor.envs.task import Task
from turgor.errors import SceneError, did_you_mean
from turgor.record.render import Painter
from turgor.simulation.simulation import Simulation

__all__ = ["RENDER_MODES", "Picture", "checked_mode"]

RENDER_MODES = ("rgb_array",)
SIZE = (640, 360)  # pixels


def checked_mode(mode: str | None) -> str | None:
    """A render mode that there is."""
    if mode is not None and mode not in RENDER_MODES:
        raise SceneError(f"there is no render mode {mode!r}; {did_you_mean(mode, RENDER_MODES)}")
    return mode


class Picture:
    """Draws a simulation with a camera that sees all that the bodies of the task may reach."""

    def __init__(self, task: Task, sim: Simulation) -> None:
        self._sim, self._reach = sim, np.array(task.reach or (0.0,) * sim.scene.dim)
        self._painter: Painter | None = None

    def draw(self) -> npt.NDArray[Any]:
        """(height, width, 3) bytes."""
        frame = self._sim.frame()
        if self._painter is None:
            self._painter = Painter(self._sim.layout, size=SIZE)
            start = replace(frame, positions=self._start())
            self._painter.aim(start, replace(frame, positions=start.positions + self._reach))
        return self._painter.draw(frame)

    def _start(self) -> npt.NDArray[np.float64]:
        """(vertices, dim) m, as the scene describes them: the camera does not depend on when it is made."""
        scene = self._sim.scene
        return np.concatenate([body.positions for body in (*scene.bodies, *scene.rigid_bodies)])

    def close(self) -> None:
        """Frees the graphics memory."""
        if self._painter is not None:
            self._painter.close()
        self._painter = None
