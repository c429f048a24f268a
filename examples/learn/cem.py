"""Learning to pump: the cross-entropy method with a linear policy, on many worlds at once.

    python examples/learn/cem.py --task roller                      # a few minutes on one core
    python examples/learn/cem.py --task hopper --device cuda --worlds 1024

A policy is target pressure = tanh(w · z + b) per cell, with z what the cell sees (`task.seen_by_cell`, or the whole
observation), shifted and scaled by mean and spread so far; cells that are alike (`task.groups`) share w and b. Each
generation draws policies from a normal distribution, gives each to `--repeats` worlds, runs an episode of all of them
at once, and fits the distribution to the best fifth (Rubinstein & Kroese 2004). At the end the mean policy meets the
task's scripted one on worlds that neither has seen. Needs: pip install 'turgor[learn]'.
"""

import argparse
import csv
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from turgor.envs import TASKS, Task, TaskVectorEnv

ELITE = 0.2  # share of the policies that the next ones are drawn around
SPREAD = 0.7  # standard deviation of the first policies' numbers
EXTRA = 0.15  # added to the spread, less and less, so that it does not shrink too early
UNSEEN = 1_000_000  # the first seed of the worlds of the last test


class Scale:
    """Mean and spread of each observed quantity so far."""

    def __init__(self, size: int) -> None:
        self.count, self.mean, self.square = 0, np.zeros(size), np.zeros(size)

    def add(self, seen: np.ndarray) -> None:
        """(n, cells, size); after Chan, Golub & LeVeque 1979."""
        rows = seen.reshape(-1, seen.shape[-1])
        total, shift = self.count + len(rows), rows.mean(axis=0) - self.mean
        self.square += ((rows - rows.mean(axis=0)) ** 2).sum(axis=0) + shift**2 * self.count * len(rows) / total
        self.mean = self.mean + shift * len(rows) / total
        self.count = total

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        spread = np.sqrt(self.square / self.count)
        return np.clip((rows - self.mean) / np.maximum(spread, 1e-3), -5.0, 5.0)


class Linear:
    """A policy, or one per world: numbers (n,) or (worlds, n)."""

    def __init__(self, task: Task, observation: np.ndarray) -> None:
        self.task, self.groups = task, np.array(task.groups or range(len(task.cells)))
        self.scale = Scale(self.seen(observation).shape[2])
        self.policies, self.features = int(self.groups.max()) + 1, len(self.scale.mean) + 1
        self.size = self.policies * self.features

    def seen(self, observation: np.ndarray) -> np.ndarray:
        """(n, cells, features)."""
        if self.task.seen_by_cell is not None:
            return self.task.seen_by_cell(observation)
        return np.repeat(observation[:, None], len(self.task.cells), axis=1)

    def with_numbers(self, numbers: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        """Observations -> actions."""
        table = np.reshape(numbers, (-1, self.policies, self.features))[:, self.groups]

        def policy(observation: np.ndarray) -> np.ndarray:
            z = self.scale(self.seen(observation))
            return np.tanh((table[..., :-1] * z).sum(axis=2) + table[..., -1]).astype(np.float32)

        return policy


def episode(envs: TaskVectorEnv, policy: Callable[[np.ndarray], np.ndarray], seeds: list[int]) -> tuple:
    """Return of each world's first episode, and the observations that were met in them."""
    observation, _ = envs.reset(seed=seeds)
    returns, going, met = np.zeros(envs.num_envs), np.ones(envs.num_envs, bool), []
    while going.any():
        met.append(observation[going])
        observation, reward, terminated, truncated, _ = envs.step(policy(observation))
        returns += np.where(going, reward, 0.0)
        going &= ~(terminated | truncated)
    return returns, np.concatenate(met)


def learn(envs: TaskVectorEnv, repeats: int, generations: int, seed: int, report: Callable) -> tuple:
    """The kind of policy, and the numbers of the last mean one."""
    cells, count = envs.single_action_space.shape[0], envs.num_envs // repeats
    rng, linear = np.random.default_rng(seed), Linear(envs.task, envs.reset(seed=seed)[0])
    mean, spread = np.zeros(linear.size), np.full(linear.size, SPREAD)
    met = episode(envs, lambda rows: rng.uniform(-1, 1, (len(rows), cells)), list(range(envs.num_envs)))[1]
    for generation in range(generations):
        if generation <= generations // 4:  # then the scale stays, so that numbers keep their meaning
            linear.scale.add(linear.seen(met))
        drawn = mean + spread * rng.standard_normal((count, len(mean)))
        seeds = rng.integers(UNSEEN, size=repeats).tolist()
        returns, met = episode(envs, linear.with_numbers(np.repeat(drawn, repeats, axis=0)), seeds * count)
        scores = returns.reshape(count, repeats).mean(axis=1)
        best = drawn[np.argsort(-scores)[: max(2, round(ELITE * count))]]
        mean, spread = best.mean(axis=0), best.std(axis=0) + EXTRA * (1.0 - generation / generations)
        report(generation, scores)
    return linear, mean


def main() -> None:
    """Learn, write the curve, and compare with the scripted policy."""
    parser = argparse.ArgumentParser(description="Learn a policy of pumping by the cross-entropy method.")
    parser.add_argument("--task", choices=TASKS, default="roller")
    parser.add_argument("--worlds", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=2, help="worlds per policy")
    parser.add_argument("--generations", type=int, default=24)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, help="folder for TASK.csv (the curve) and TASK.npz (the policy)")
    given = parser.parse_args()
    start, work, rows = time.perf_counter(), time.process_time(), []

    def report(generation: int, scores: np.ndarray) -> None:
        seconds = time.perf_counter() - start
        rows.append([generation, round(seconds, 2), *(round(float(v), 4) for v in (scores.mean(), scores.max()))])
        print(f"generation {generation:3d}  {seconds:6.1f} s  mean {scores.mean():7.3f}  best {scores.max():7.3f}")

    if not 1 <= given.repeats <= given.worlds // 5:
        parser.error("--worlds must be at least 5 times --repeats, and both at least 1")
    envs = TaskVectorEnv(given.task, given.worlds // given.repeats * given.repeats, device=given.device)
    linear, mean = learn(envs, given.repeats, given.generations, given.seed, report)
    minutes, busy = (time.perf_counter() - start) / 60.0, (time.process_time() - work) / 60.0
    unseen = [UNSEEN + world for world in range(envs.num_envs)]
    learnt, _ = episode(envs, linear.with_numbers(mean), unseen)
    scripted, _ = episode(envs, envs.task.scripted, unseen)
    error = np.hypot(learnt.std(), scripted.std()) / np.sqrt(envs.num_envs)
    print(
        f"{given.task}: learnt {learnt.mean():.3f}, scripted {scripted.mean():.3f} (difference ± {error:.3f}) ", end=""
    )
    print(f"in {envs.num_envs} new worlds; {minutes:.1f} minutes on {envs.batch.sim.device}, {busy:.1f} of a processor")
    if given.output is not None:
        given.output.mkdir(parents=True, exist_ok=True)
        with (given.output / f"{given.task}.csv").open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(
                [["generation", "seconds", "mean", "best", "scripted", "learnt"]]
                + [[*row, round(float(scripted.mean()), 4), round(float(learnt.mean()), 4)] for row in rows]
            )
        scale = linear.scale
        np.savez(given.output / f"{given.task}.npz", policy=mean, mean=scale.mean, square=scale.square / scale.count)
    if learnt.mean() <= scripted.mean():
        raise SystemExit(f"{given.task}: the scripted policy is not beaten: more --generations or --worlds")


if __name__ == "__main__":
    main()
