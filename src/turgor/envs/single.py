"""One world of a task, as a `gymnasium.Env`."""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium
import numpy as np
import numpy.typing as npt

from turgor.envs.actions import write_action
from turgor.envs.batch import Batch
from turgor.envs.picture import RENDER_MODES, Picture, checked_mode
from turgor.envs.spaces import action_space, observation_space
from turgor.envs.task import Task
from turgor.envs.tasks import task_of

__all__ = ["TaskEnv"]

Array = npt.NDArray[Any]


class TaskEnv(gymnasium.Env[Array, Array]):  # type: ignore[misc]
    """A single world; what it does is, bit for bit, what a world of `TaskVectorEnv` with the same seed does.

    task: "roller", "hopper", "squeeze" or a `Task`. render_mode: "rgb_array" or None. device: as in `Simulation`.
    It truncates by itself after `task.seconds`.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": list(RENDER_MODES), "render_fps": 20}

    def __init__(self, task: Task | str, render_mode: str | None = None, device: str = "cpu") -> None:
        self.task = task_of(task)
        self.render_mode = checked_mode(render_mode)
        self.observation_space, self.action_space = observation_space(self.task), action_space(self.task)
        self.batch = Batch(self.task, 1, device, threads=1)
        self._picture = Picture(self.task, self.batch.sim)
        self._seeded = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Begin an episode: that of the seed, or the next one."""
        super().reset(seed=seed)
        if seed is None and not self._seeded:
            seed = int(self.np_random.integers(2**31))
        self._seeded = True
        self.batch.begin(np.ones(1, np.bool_), [seed])
        self.batch.look()
        return self._observation(), {}

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """A control period with target pressures from -1 to 1, one per cell."""
        write_action(np.asarray(action)[None], self.batch.action)
        self.batch.advance()
        self.batch.look()
        ends = (bool(flags.numpy()[0]) for flags in (self.batch.terminated, self.batch.truncated))
        return self._observation(), float(self.batch.reward.numpy()[0]), *ends, {}  # type: ignore[return-value]

    def render(self) -> Array | None:
        """A picture, (height, width, 3) bytes."""
        return None if self.render_mode is None else self._picture.draw()

    def close(self) -> None:
        """Frees the graphics memory."""
        self._picture.close()

    def _observation(self) -> Array:
        return np.array(self.batch.observation.numpy()[0])
