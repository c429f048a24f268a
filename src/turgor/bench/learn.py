"""Environments of Gymnasium: control periods of all worlds together per second, against the number of worlds."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np

from turgor.bench.measure import spread, timed
from turgor.bench.suite import Options, Row, Tables

__all__ = ["learn"]

WORLDS = {"cpu": (1, 16, 64, 256, 1_024, 4_096), "cuda": (1, 16, 64, 256, 1_024, 4_096, 16_384)}
UNDER_WAY = 20  # periods after which bodies touch each other and the ground


def learn(options: Options) -> Tables:
    """Random actions from the host and observations back to it; each task with 1 to 4,096 worlds (16,384 on a GPU)."""
    if find_spec("gymnasium") is None:
        return {"learn": [{"missing": "gymnasium is not installed; pip install 'turgor[learn]'"}]}
    from turgor.envs import TASKS

    tables: Tables = {}
    for device in options.devices:
        counts = (1, 3) if options.quick else WORLDS[device.partition(":")[0]]
        for name in TASKS:
            tables[f"{device}: worlds x {name}"] = [_row(name, device, count, options) for count in counts]
    return tables


def _row(name: str, device: str, worlds: int, options: Options) -> Row:
    from turgor.envs import TaskVectorEnv

    envs = TaskVectorEnv(name, worlds, device=device, threads=options.threads)
    envs.reset(seed=0)
    rng, shape = np.random.default_rng(0), envs.action_space.shape
    assert shape is not None

    def step() -> None:
        envs.step(rng.uniform(-1.0, 1.0, shape).astype(np.float32))

    for _ in range(1 if options.quick else UNDER_WAY):
        step()
    times = timed(step, device, options.seconds, options.least)
    return {
        "worlds": worlds,
        "vertices": envs.batch.sim.vertices * worlds,
        "substeps": envs.task.substeps * envs.task.frames,
        "period_ms": spread(1e3 * seconds for seconds in times),
        "periods_per_s": spread(worlds / seconds for seconds in times),
        "realtime_factor": spread(worlds * envs.task.period / seconds for seconds in times),
    }
