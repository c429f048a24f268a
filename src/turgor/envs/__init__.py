"""Tasks for learning, whose actions are gas: environments of Gymnasium over worlds that stay on the device.

    import gymnasium, turgor.envs                                    # registers turgor/Roller-v0, Hopper-v0, Squeeze-v0
    env = gymnasium.make("turgor/Roller-v0", render_mode="rgb_array")
    envs = gymnasium.make_vec("turgor/Roller-v0", num_envs=64)       # one simulation with 64 worlds
    envs = turgor.envs.TaskVectorEnv("roller", 4096, device="cuda", output="dlpack")

Needs Gymnasium: pip install 'turgor[learn]'.
"""

from __future__ import annotations

from importlib.util import find_spec

from turgor.errors import SceneError

if find_spec("gymnasium") is None:
    raise SceneError("turgor.envs needs gymnasium, which is not installed: pip install 'turgor[learn]'")

from turgor.envs.register import IDS, register_all
from turgor.envs.single import TaskEnv
from turgor.envs.task import Quantity, Task
from turgor.envs.tasks import TASKS, task_of
from turgor.envs.vector import TaskVectorEnv

__all__ = ["IDS", "TASKS", "Quantity", "Task", "TaskEnv", "TaskVectorEnv", "task_of"]

register_all()
