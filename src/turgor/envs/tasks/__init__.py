"""The tasks by name."""

from __future__ import annotations

from turgor.envs.task import Task
from turgor.envs.tasks.hopper import HOPPER
from turgor.envs.tasks.roller import ROLLER
from turgor.envs.tasks.squeeze import SQUEEZE
from turgor.errors import SceneError, did_you_mean

__all__ = ["TASKS", "task_of"]

TASKS: dict[str, Task] = {task.name: task for task in (ROLLER, HOPPER, SQUEEZE)}


def task_of(task: Task | str) -> Task:
    """A task by its name; one of a user's own as it is."""
    if isinstance(task, Task):
        return task
    if task not in TASKS:
        raise SceneError(f"there is no task {task!r}; {did_you_mean(task, TASKS)}")
    return TASKS[task]
