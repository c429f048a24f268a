"""The names by which Gymnasium knows the tasks."""

from __future__ import annotations

import gymnasium

from turgor.envs.tasks import TASKS

__all__ = ["IDS", "register_all"]

#: task -> id of Gymnasium
IDS = {name: f"turgor/{name.capitalize()}-v0" for name in TASKS}


def register_all() -> None:
    """Tell Gymnasium of the tasks; once is enough. An episode's length is the task's own affair."""
    for name, identity in IDS.items():
        if identity not in gymnasium.registry:
            gymnasium.register(
                identity,
                entry_point="turgor.envs.single:TaskEnv",
                vector_entry_point="turgor.envs.vector:TaskVectorEnv",
                kwargs={"task": name},
            )
