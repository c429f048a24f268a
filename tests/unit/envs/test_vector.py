"""Many worlds of a task at once: what Gymnasium asks of them, and that they do not know each other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import RecordEpisodeStatistics

from turgor.contact.features.launch import FeatureLauncher
from turgor.envs import IDS, TASKS, TaskEnv, TaskVectorEnv
from turgor.errors import SceneError

pytestmark = pytest.mark.req("X10")

SHORT = {name: replace(task, seconds=0.25) for name, task in TASKS.items()}  # five periods
Array = npt.NDArray[Any]


def actions_of(envs: TaskVectorEnv, periods: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).uniform(-1, 1, (periods, *envs.action_space.shape)).astype(np.float32)


def same(first: Any, second: Any) -> bool:
    """Bit for bit; observations, rewards, ends."""
    return all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize("identity", IDS.values())
def test_gymnasium_makes_it_and_gets_what_its_spaces_promise(identity: str) -> None:
    envs = gymnasium.make_vec(identity, num_envs=3, vectorization_mode="vector_entry_point")
    assert isinstance(envs.unwrapped, TaskVectorEnv)
    assert envs.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    observation, info = envs.reset(seed=1)
    assert observation in envs.observation_space
    assert info == {}
    observation, reward, terminated, truncated, info = envs.step(envs.action_space.sample())
    assert observation in envs.observation_space
    assert [(a.shape, a.dtype) for a in (reward, terminated, truncated)] == [
        ((3,), np.float32), ((3,), np.bool_), ((3,), np.bool_),
    ]  # fmt: skip
    assert all(one in envs.single_observation_space for one in observation)
    envs.close()
    envs.close()


@pytest.mark.parametrize("name", TASKS)
def test_it_is_gymnasiums_own_vector_of_single_worlds_bit_for_bit(name: str) -> None:
    """`SyncVectorEnv` of three worlds on their own, through two automatic resets."""
    ours = TaskVectorEnv(SHORT[name], 3)
    theirs = SyncVectorEnv([lambda: TaskEnv(SHORT[name])] * 3, autoreset_mode=AutoresetMode.NEXT_STEP)
    assert ours.single_observation_space == theirs.single_observation_space
    assert ours.single_action_space == theirs.single_action_space
    assert np.array_equal(ours.reset(seed=11)[0], theirs.reset(seed=11)[0])
    for action in actions_of(ours, 13):
        mine, other = ours.step(action)[:4], theirs.step(action)[:4]
        assert np.allclose(mine[1], other[1], atol=1e-6)  # theirs are of double precision
        assert same((mine[0], *mine[2:]), (other[0], *other[2:]))


def test_a_world_that_ends_begins_anew_with_the_next_step() -> None:
    envs = TaskVectorEnv(SHORT["squeeze"], 2)
    first, _ = envs.reset(seed=0)
    steps = [envs.step(action) for action in actions_of(envs, 7)]
    assert [step[3].tolist() for step in steps] == [[False] * 2] * 4 + [[True] * 2] + [[False] * 2] * 2
    observation, reward = steps[5][:2]
    assert reward.tolist() == [0.0, 0.0]
    assert np.abs(observation[:, 0] - first[:, 0]).max() < 1e-6, "where the scene begins"
    assert not np.array_equal(observation, first), "in another way"


def test_resetting_a_world_leaves_every_bit_of_the_others() -> None:
    """Contact lists, old impulses and all: the states of the worlds are compared, not what is seen of them."""
    envs = [TaskVectorEnv("roller", 3) for _ in range(2)]
    for env in envs:
        env.reset(seed=2)
    for period, action in enumerate(actions_of(envs[0], 12)):
        if period == 6:
            envs[1].reset(options={"reset_mask": np.array([False, True, False])})
        for env in envs:
            env.step(action)
    one, other = (env.batch.sim.positions for env in envs)
    assert np.array_equal(one[[0, 2]], other[[0, 2]])
    assert not np.array_equal(one[1], other[1])


def test_instability_ends_the_world_that_it_happens_in_and_no_other() -> None:
    """One world pumps without any bound."""
    boundless = replace(TASKS["roller"], gauge=(0.0, 1e9), amount=(0.7, 1e9), rate=1e12)
    envs, quiet = TaskVectorEnv(boundless, 3), TaskVectorEnv(boundless, 3)
    calm = np.full((3, 6), -1.0, np.float32)
    wild = calm.copy()
    wild[1] = 1.0
    envs.reset(seed=0)
    quiet.reset(seed=0)
    for _ in range(4):
        mine, other = envs.step(wild), quiet.step(calm)
        if mine[2].any():
            break
    assert mine[2].tolist() == [False, True, False]
    assert not mine[3].any()
    assert mine[1][1] == 0.0
    assert np.isfinite(mine[0]).all()
    mine, other = envs.step(calm), quiet.step(calm)
    assert not mine[2].any(), "it has begun again"
    mine, other = envs.step(calm), quiet.step(calm)
    assert np.array_equal(mine[0][[0, 2]], other[0][[0, 2]])
    assert np.array_equal(envs.batch.sim.positions[[0, 2]], quiet.batch.sim.positions[[0, 2]])


def test_worlds_that_burst_again_and_again_leave_no_mark_on_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the ways of a GPU, which clears lists as far as they are filled; a failed frame may have shortened them."""
    monkeypatch.setattr(FeatureLauncher, "parallel", True)
    monkeypatch.setattr("turgor.contact.features.launch.THREADS", 16)
    monkeypatch.setattr("turgor.contact.features.launch.MOST_THREADS", 16)
    boundless = replace(TASKS["roller"], gauge=(0.0, 1e9), amount=(0.7, 1e9), rate=1e12)
    envs, quiet = (TaskVectorEnv(boundless, 3, threads=1) for _ in range(2))
    calm = np.full((3, 6), -1.0, np.float32)
    wild = calm.copy()
    wild[0] = 1.0
    bursts = 0
    for seed in range(4, 8):
        envs.reset(seed=seed)
        quiet.reset(seed=seed)
        for _ in range(6):
            mine, _ = envs.step(wild), quiet.step(calm)
            bursts += int(mine[2].sum())
        assert np.array_equal(envs.batch.sim.positions[1:], quiet.batch.sim.positions[1:]), seed
    assert bursts == 12


def test_seeds_are_counted_up_over_the_worlds_or_given_one_by_one() -> None:
    envs = TaskVectorEnv("squeeze", 3)
    counted, _ = envs.reset(seed=4)
    listed, _ = envs.reset(seed=[6, 5, 4])
    assert np.array_equal(counted, listed[::-1])
    again, _ = envs.reset(seed=4)
    assert np.array_equal(counted, again)
    assert not np.array_equal(envs.reset()[0], again)


def test_wrappers_of_gymnasium_go_around_it() -> None:
    envs = RecordEpisodeStatistics(TaskVectorEnv(SHORT["squeeze"], 2))
    envs.reset(seed=0)
    total = np.zeros(2)
    for action in actions_of(envs.unwrapped, 5):  # type: ignore[arg-type]
        _, reward, _, truncated, info = envs.step(action)
        total += reward
    assert truncated.all()
    assert info["episode"]["r"] == pytest.approx(total)
    assert info["episode"]["l"].tolist() == [5, 5]


def test_what_dlpack_gives_is_the_environments_own_memory() -> None:
    envs = TaskVectorEnv("roller", 2, output="dlpack")
    observation, _ = envs.reset(seed=0)
    seen = np.from_dlpack(observation)
    start = seen.copy()
    new, reward, terminated, truncated, _ = envs.step(actions_of(envs, 1)[0])
    assert np.shares_memory(seen, np.from_dlpack(new))
    assert not np.array_equal(seen, start), "a step writes it anew"
    assert np.from_dlpack(reward).shape == (2,)
    assert [np.asarray(flags.numpy()).dtype for flags in (terminated, truncated)] == [np.bool_, np.bool_]
    kept = TaskVectorEnv("roller", 2)
    first, _ = kept.reset(seed=0)
    assert np.array_equal(first, start)
    kept.step(actions_of(envs, 1)[0])
    assert np.array_equal(first, start), "NumPy arrays are the caller's own"


def test_tensors_of_torch_go_in_and_out() -> None:
    torch = pytest.importorskip("torch")
    envs, usual = TaskVectorEnv("roller", 2, output="dlpack"), TaskVectorEnv("roller", 2)
    observation = torch.from_dlpack(envs.reset(seed=0)[0])
    usual.reset(seed=0)
    action = actions_of(usual, 1)[0]
    reward = torch.from_dlpack(envs.step(torch.from_numpy(action))[1])
    expected = usual.step(action)
    assert np.array_equal(observation.numpy(), expected[0])
    assert np.array_equal(reward.numpy(), expected[1])
    assert torch.from_dlpack(envs.batch.terminated).dtype == torch.bool
    with pytest.raises(SceneError, match="finite numbers"):
        envs.step(torch.full((2, 6), float("nan")))


@pytest.mark.picture
def test_a_picture_of_the_first_world_changes_with_it() -> None:
    envs = TaskVectorEnv("squeeze", 2, render_mode="rgb_array")
    envs.reset(seed=0)
    (before,) = envs.render() or ()
    for _ in range(10):
        envs.step(np.ones((2, 1), np.float32))
    (after,) = envs.render() or ()
    assert before.shape == after.shape == (360, 640, 3)
    changed = np.any(before != after, axis=2).mean()
    assert 0.005 < changed < 0.2, "the ball moves, and the camera does not"
    envs.close()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"num_envs": 0}, "num_envs must be a whole number from 1 on, got 0"),
        ({"num_envs": 2.5}, "num_envs must be a whole number"),
        ({"output": "dlpac"}, "no output 'dlpac'; did you mean 'dlpack'"),
        ({"task": "hoper"}, "no task 'hoper'; did you mean 'hopper'"),
    ],
)
def test_bad_options_are_refused_in_one_sentence(options: dict[str, Any], words: str) -> None:
    with pytest.raises(SceneError, match=words):
        TaskVectorEnv(**{"task": "squeeze", **options})


def test_bad_actions_seeds_and_masks_are_refused() -> None:
    envs = TaskVectorEnv("squeeze", 2)
    envs.reset(seed=0)
    before = envs.batch.sim.state_hash()
    with pytest.raises(SceneError, match=r"shape \(2, 1\), got \(2,\)"):
        envs.step(np.zeros(2, np.float32))
    with pytest.raises(SceneError, match="got nan for world 1, cell 0"):
        envs.step(np.array([[0.0], [np.nan]]))
    with pytest.raises(SceneError, match=r"one per world \(2\), got 3"):
        envs.reset(seed=[1, 2, 3])
    with pytest.raises(SceneError, match=r"reset_mask.* must be 2 booleans"):
        envs.reset(options={"reset_mask": [1, 0, 1]})
    assert envs.batch.sim.state_hash() == before, "nothing has happened"
