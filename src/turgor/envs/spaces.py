"""The spaces of a task: what a policy sees, in SI units, and what it may do, from -1 to 1."""

from __future__ import annotations

import numpy as np
from gymnasium.spaces import Box

from turgor.envs.task import Task

__all__ = ["action_space", "observation_space"]


def observation_space(task: Task) -> Box:
    """One number per quantity, within its bounds."""
    low, high = (np.array([getattr(q, end) for q in task.observation], np.float32) for end in ("low", "high"))
    return Box(low, high, dtype=np.float32)


def action_space(task: Task) -> Box:
    """One number per cell: -1 is the lowest target pressure, 1 the highest."""
    return Box(-1.0, 1.0, (len(task.cells),), dtype=np.float32)
