"""Many worlds of a task at once, as a `gymnasium.vector.VectorEnv` that stays on the device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from turgor.envs.actions import write_action
from turgor.envs.batch import Batch
from turgor.envs.picture import RENDER_MODES, Picture, checked_mode
from turgor.envs.spaces import action_space, observation_space
from turgor.envs.task import Task
from turgor.envs.tasks import task_of
from turgor.errors import SceneError, did_you_mean

__all__ = ["TaskVectorEnv"]

OUTPUTS = ("numpy", "dlpack")
RESET_MASK = "reset_mask"  # gymnasium's name for the worlds that `reset` is to begin anew


class TaskVectorEnv(VectorEnv[Any, Any, Any]):  # type: ignore[misc]
    """Worlds of a task, in one simulation on the CPU or a GPU.

    task: "roller", "hopper", "squeeze" or a `Task`. num_envs: worlds. device: "cpu", "cuda" or "auto".
    output: "numpy" gives new NumPy arrays; "dlpack" gives the environment's own device arrays, which each step writes
    anew: `torch.from_dlpack(observation)` shares their memory. Actions may be of NumPy, or tensors on the same device.
    threads: of the CPU, as in `Simulation`.

    A world that has ended begins its next episode with the next `step`, whose action it ignores (`NEXT_STEP`); the
    others go on as if it were not there. `render` shows the first world.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "render_modes": list(RENDER_MODES),
        "render_fps": 20,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        task: Task | str,
        num_envs: int = 1,
        *,
        device: str = "cpu",
        output: str = "numpy",
        render_mode: str | None = None,
        threads: int | str = "auto",
    ) -> None:
        self.task = task_of(task)
        if isinstance(num_envs, bool) or not isinstance(num_envs, (int, np.integer)) or num_envs < 1:
            raise SceneError(f"num_envs must be a whole number from 1 on, got {num_envs!r}")
        if output not in OUTPUTS:
            raise SceneError(f"there is no output {output!r}; {did_you_mean(output, OUTPUTS)}")
        self.num_envs, self.output, self.render_mode = int(num_envs), output, checked_mode(render_mode)
        self.single_observation_space, self.single_action_space = observation_space(self.task), action_space(self.task)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.batch = Batch(self.task, self.num_envs, device, threads)
        self._picture = Picture(self.task, self.batch.sim)
        self._over = np.zeros(self.num_envs, np.bool_)  # worlds that begin an episode with the next step
        self._seeded = False

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode in all worlds, or in those of `options["reset_mask"]` (num_envs,).

        seed: world w gets seed + w, or its own of a sequence; None: worlds go on with the next episode of their seed.
        """
        super().reset(seed=seed if isinstance(seed, (int, np.integer)) else None)
        worlds = _mask((options or {}).get(RESET_MASK), self.num_envs)
        self.batch.begin(worlds, self._seeds(seed))
        self.batch.look()
        self._over[worlds] = False
        return self._given(self.batch.observation), {}

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """A control period with target pressures from -1 to 1, (num_envs, cells)."""
        batch = self.batch
        write_action(actions, batch.action)
        batch.advance()
        if self._over.any():
            batch.begin(self._over)
        batch.look()
        self._over = batch.terminated.numpy() | batch.truncated.numpy()
        found = (batch.observation, batch.reward, batch.terminated, batch.truncated)
        observation, reward, terminated, truncated = (self._given(array) for array in found)
        return observation, reward, terminated, truncated, {}

    def render(self) -> tuple[npt.NDArray[Any], ...] | None:
        """A picture of the first world, (height, width, 3) bytes."""
        return None if self.render_mode is None else (self._picture.draw(),)

    def close_extras(self, **kwargs: Any) -> None:
        """Frees the graphics memory."""
        self._picture.close()

    def _given(self, array: Any) -> Any:
        return np.array(array.numpy()) if self.output == "numpy" else array

    def _seeds(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        """One per world; the first time that none is given, at random."""
        count = self.num_envs
        if seed is None and not self._seeded:
            seed = int(self.np_random.integers(2**31))
        self._seeded = True
        if seed is None:
            return [None] * count
        if isinstance(seed, (int, np.integer)):
            return [int(seed) + world for world in range(count)]
        if len(seed) != count:
            raise SceneError(f"seed must be one number, or one per world ({count}), got {len(seed)}")
        return [None if one is None else int(one) for one in seed]


def _mask(given: Any, count: int) -> npt.NDArray[np.bool_]:
    """Which worlds `reset` begins anew."""
    if given is None:
        return np.ones(count, np.bool_)
    mask = np.asarray(given)
    if mask.shape != (count,) or mask.dtype != np.bool_:
        raise SceneError(f"options[{RESET_MASK!r}] must be {count} booleans, got {mask.dtype} of shape {mask.shape}")
    return mask
