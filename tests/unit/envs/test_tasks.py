"""The tasks are what they claim: what the scripted policies do, and what happens without one."""

from __future__ import annotations

import contextlib
import runpy
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from turgor.envs import TASKS, Task, TaskVectorEnv
from turgor.envs.task import Policy

pytestmark = pytest.mark.req("X10")

Array = npt.NDArray[Any]
ROOT = Path(__file__).parents[3]
LEARNER = ROOT / "examples" / "learn" / "cem.py"


def episode(task: Task, policy: Policy, worlds: int = 4) -> tuple[TaskVectorEnv, Array, Array]:
    """Observations (periods + 1, worlds, quantities) and rewards of the first episode; a world that has ended stays."""
    envs = TaskVectorEnv(task, worlds, threads=1)
    seen, rewards, over = [envs.reset(seed=0)[0]], [], np.zeros(worlds, bool)
    while not over.all():
        observation, reward, terminated, truncated, _ = envs.step(policy(seen[-1]))
        seen.append(np.where(over[:, None], seen[-1], observation))
        rewards.append(np.where(over, 0.0, reward))
        over |= terminated | truncated
    return envs, np.array(seen), np.array(rewards)


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_observations_have_names_units_and_bounds_that_hold(task: Task) -> None:
    envs = TaskVectorEnv(task, 2)
    assert envs.single_observation_space.shape == (len(task.observation),)
    assert all(quantity.low < quantity.high for quantity in task.observation)
    assert len({quantity.name for quantity in task.observation}) == len(task.observation)
    assert set(task.cells) <= set(envs.batch.sim.bodies)
    observation, _ = envs.reset(seed=0)
    space = envs.single_observation_space
    assert np.all((observation > space.low) & (observation < space.high) | (np.abs(observation) == 1.0))
    assert np.all(np.abs(task.scripted(observation)) <= 1.0)


def test_the_roller_rolls_by_pumping_and_not_by_itself() -> None:
    envs, seen, rewards = episode(TASKS["roller"], TASKS["roller"].scripted)
    assert np.median(rewards.sum(axis=0)) > 3.0
    turns = np.abs(np.unwrap(np.arctan2(seen[:, :, 4], seen[:, :, 3]), axis=0)[-1]) / (2.0 * np.pi)
    assert np.median(turns) > 2.0, "it rolls, it does not slide"
    way = np.atleast_2d(envs.batch.sim["hub"].center)[:, 0]
    assert rewards.sum(axis=0) == pytest.approx(way, rel=0.15), "the way, less the price of pumping"
    _, _, rewards = episode(TASKS["roller"], lambda rows: np.full((len(rows), 6), -1.0, np.float32))
    assert np.abs(rewards.sum(axis=0)).max() < 0.5


def test_the_hopper_leaves_the_ground_and_lands_further_on() -> None:
    _, seen, rewards = episode(TASKS["hopper"], TASKS["hopper"].scripted)
    clearance = seen[:, :, 9]
    assert (clearance.max(axis=0) > 0.03).all()
    leaps = np.count_nonzero(np.diff((clearance > 0.02).astype(int), axis=0) == 1, axis=0)
    assert (leaps >= 4).all()
    assert rewards.sum(axis=0).mean() > 0.1
    _, seen, _ = episode(TASKS["hopper"], lambda rows: np.full((len(rows), 3), -1.0, np.float32), 1)
    assert seen[20:, :, 9].max() < 0.005, "it stands still where nothing is pumped"


def test_only_a_ball_that_lets_its_gas_out_gets_through_the_gap() -> None:
    _, seen, rewards = episode(TASKS["squeeze"], TASKS["squeeze"].scripted)
    place, share = seen[:, :, 0], seen[:, :, 4]
    assert (place[-1] > 0.5).all()
    assert (share[-1] > 0.97).all(), "whole again"
    assert (share.min(axis=0) < 0.8).all()
    assert rewards.sum(axis=0).min() > 1.0
    _, seen, _ = episode(TASKS["squeeze"], lambda rows: np.ones((len(rows), 1), np.float32))
    assert (seen[-1, :, 0] < 0.0).all(), "taut, it is held by the gap"
    assert len(seen) == TASKS["squeeze"].steps + 1


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_what_was_learnt_beats_the_scripted_policy(task: Task) -> None:
    """The policies of docs/learn, which examples/learn/cem.py has found, in worlds that it has not learnt from."""
    kept = np.load(ROOT / "docs" / "learn" / f"{task.name}.npz")
    linear = runpy.run_path(str(LEARNER))["Linear"](task, TaskVectorEnv(task, 1).reset(seed=0)[0])
    linear.scale.mean, linear.scale.square, linear.scale.count = kept["mean"], kept["square"], 1
    learnt, scripted = (
        episode(task, policy, 16)[2].sum(axis=0) for policy in (linear.with_numbers(kept["policy"]), task.scripted)
    )
    assert learnt.mean() > 1.2 * scripted.mean()


def test_the_learner_runs_and_writes_its_curve(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two generations of few worlds, which may well end with the sentence that the scripted policy is not beaten."""
    options = "--task squeeze --worlds 10 --repeats 1 --generations 2 --output"
    monkeypatch.setattr(sys, "argv", [str(LEARNER), *options.split(), str(tmp_path)])
    with contextlib.suppress(SystemExit):
        runpy.run_path(str(LEARNER), run_name="__main__")
    assert "squeeze: learnt" in capsys.readouterr().out
    lines = (tmp_path / "squeeze.csv").read_text().splitlines()
    assert lines[0] == "generation,seconds,mean,best,scripted,learnt"
    assert len(lines) == 3
    assert len(LEARNER.read_text().splitlines()) <= 150
    assert np.load(tmp_path / "squeeze.npz")["policy"].shape == (7,)
