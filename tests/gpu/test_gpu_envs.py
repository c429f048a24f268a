"""Environments on an NVIDIA GPU: they repeat themselves, worlds stay apart, tensors stay there, starts are the CPU's.

Runs as a plain script too: `PYTHONPATH=src:tests python tests/gpu/test_gpu_envs.py` (needs gymnasium).
"""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np

try:
    import pytest
except ImportError:  # a bare machine: run as a script
    pytest = None

from support.plain_checks import run_checks, title
from turgor.envs import TASKS, TaskVectorEnv


def actions_of(envs, periods, seed=0):
    return np.random.default_rng(seed).uniform(-1, 1, (periods, *envs.action_space.shape)).astype(np.float32)


def check_starts(name):
    """Random starts are drawn by the same integers; what is observed of them differs by round-off."""
    seen = [TaskVectorEnv(name, 5, device=device).reset(seed=3)[0] for device in ("cpu", "cuda")]
    assert np.allclose(*seen, rtol=1e-4, atol=1e-3)


def check_repeats(name):
    envs = [TaskVectorEnv(replace(TASKS[name], seconds=0.4), 4, device="cuda") for _ in range(2)]
    assert np.array_equal(*(env.reset(seed=1)[0] for env in envs))
    for action in actions_of(envs[0], 12):
        one, other = (env.step(action) for env in envs)
        assert all(np.array_equal(a, b) for a, b in zip(one[:4], other[:4], strict=True))


def check_reset_apart():
    """A reset of one world leaves every bit of the others as it is."""
    envs = [TaskVectorEnv("roller", 3, device="cuda") for _ in range(2)]
    for env in envs:
        env.reset(seed=0)
    for period, action in enumerate(actions_of(envs[0], 6)):
        if period == 3:
            envs[0].reset(options={"reset_mask": np.array([False, True, False])})
        mine, other = (env.step(action) for env in envs)
        assert np.array_equal(mine[0][[0, 2]], other[0][[0, 2]])


def check_burst_apart():
    """A world that bursts ends alone, and begins again: the others keep every bit, however often it does."""
    boundless = replace(TASKS["roller"], gauge=(0.0, 1e9), amount=(0.7, 1e9), rate=1e12)
    envs = [TaskVectorEnv(boundless, 3, device="cuda") for _ in range(2)]
    calm = np.full((3, 6), -1.0, np.float32)
    wild = calm.copy()
    wild[1] = 1.0
    for seed in range(8):
        for env in envs:
            env.reset(seed=seed)
        ended = np.zeros(3, int)
        for period in range(6):
            if period == 4:
                envs[0].reset(options={"reset_mask": np.array([False, True, False])})
            mine, other = envs[0].step(wild if period < 4 else calm), envs[1].step(calm)
            ended += mine[2]
            assert np.array_equal(mine[0][[0, 2]], other[0][[0, 2]]), (seed, period)
        assert ended.tolist() == [0, 2, 0]


def check_scripted(name, least):
    """What the scripted policy gets in the mean of 64 worlds, as on the CPU."""
    envs = TaskVectorEnv(name, 64, device="cuda")
    observation, _ = envs.reset(seed=0)
    total, going = np.zeros(64), np.ones(64, bool)
    while going.any():
        observation, reward, terminated, truncated, _ = envs.step(envs.task.scripted(observation))
        total += np.where(going, reward, 0.0)
        going &= ~(terminated | truncated)
    assert total.mean() > least, total.mean()


def check_on_the_device():
    """Without NumPy: what comes out is on the GPU, and what goes in may be."""
    envs = TaskVectorEnv("roller", 8, device="cuda", output="dlpack")
    observation, _ = envs.reset(seed=0)
    assert observation.device.is_cuda
    found = envs.step(envs.batch.action)
    assert all(array.device.is_cuda for array in found[:4])
    try:
        import torch
    except ImportError:
        return
    assert torch.from_dlpack(found[0]).is_cuda
    envs.step(torch.zeros(8, 6, device="cuda"))


CHECKS = [
    *((check, name) for check in (check_starts, check_repeats) for name in TASKS),
    (check_reset_apart,),
    (check_burst_apart,),
    (check_scripted, "roller", 4.0),
    (check_scripted, "hopper", 0.0),
    (check_scripted, "squeeze", 1.2),
    (check_on_the_device,),
]

if pytest is not None:

    @pytest.mark.gpu
    @pytest.mark.parametrize("check", CHECKS, ids=[title(*check) for check in CHECKS])
    def test_gpu_envs(check):
        function, *arguments = check
        function(*arguments)


if __name__ == "__main__":
    sys.exit(run_checks(CHECKS))
