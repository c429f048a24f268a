"""One world of a task as an environment of Gymnasium."""

from __future__ import annotations

import importlib
import sys
import warnings
from dataclasses import replace

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from turgor.envs import IDS, TASKS, TaskEnv, task_of
from turgor.errors import SceneError

pytestmark = pytest.mark.req("X10")

SHORT = {name: replace(task, seconds=0.25) for name, task in TASKS.items()}  # five periods


@pytest.mark.picture
@pytest.mark.parametrize("identity", IDS.values())
def test_gymnasium_finds_nothing_to_complain_about(identity: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make(identity, render_mode="rgb_array")
        check_env(env.unwrapped)
        env.close()


def test_an_episode_ends_at_its_time_limit_and_the_next_one_begins() -> None:
    env = TaskEnv(SHORT["squeeze"])
    first, _ = env.reset(seed=3)
    ends = [env.step(np.ones(1, np.float32))[2:4] for _ in range(5)]
    assert ends == [(False, False)] * 4 + [(False, True)]
    second, _ = env.reset()
    assert not np.array_equal(first, second), "each episode of a seed begins in its own way"
    assert np.array_equal(env.reset(seed=3)[0], first)


def test_the_same_seed_gives_the_same_bits() -> None:
    actions = np.random.default_rng(0).uniform(-1, 1, (5, 6)).astype(np.float32)

    def seen(seed: int) -> list[bytes]:
        env = TaskEnv(SHORT["roller"])
        return [env.reset(seed=seed)[0].tobytes(), *(env.step(action)[0].tobytes() for action in actions)]

    assert seen(5) == seen(5)
    assert seen(5)[0] != seen(6)[0]


def test_gas_moves_at_a_limited_rate_towards_the_target_pressure() -> None:
    task = replace(TASKS["squeeze"], rate=2.0)
    env = TaskEnv(task)
    env.reset(seed=0)
    ball = env.batch.sim["ball"]
    before = float(ball.nRT)
    env.step(np.full(1, -1.0, np.float32))
    assert before - float(ball.nRT) == pytest.approx(2.0 * task.period, rel=1e-3)


def test_a_target_that_is_reached_is_held() -> None:
    """(ambient + gauge) V = nRT, after the last pump of the period: within what the ball moves in a frame."""
    env = TaskEnv(replace(TASKS["squeeze"], rate=1e4))
    env.reset(seed=0)
    for _ in range(6):
        observation = env.step(np.array([0.9], np.float32))[0]
    target = -300.0 + 0.95 * 350.0
    assert observation[5] == pytest.approx(target, abs=20.0)


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (np.ones(2, np.float32), r"shape \(1, 1\), got \(1, 2\)"),
        (np.array([np.nan], np.float32), "finite numbers, got nan for world 0, cell 0"),
        ("left", "array of numbers"),
    ],
)
def test_a_wrong_action_is_refused_in_one_sentence(action: object, words: str) -> None:
    env = TaskEnv("squeeze")
    env.reset(seed=0)
    with pytest.raises(SceneError, match=words) as caught:
        env.step(action)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_names_that_do_not_exist_are_refused() -> None:
    with pytest.raises(SceneError, match="no task 'rollr'; did you mean 'roller'"):
        task_of("rollr")
    with pytest.raises(SceneError, match="no render mode 'human'"):
        TaskEnv("squeeze", render_mode="human")


def test_without_gymnasium_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("turgor.envs")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    with pytest.raises(SceneError, match=r"needs gymnasium.*pip install 'turgor\[learn\]'"):
        importlib.import_module("turgor.envs")
