"""One chunk of a study: its runs as worlds of one simulation, measured, one row each. What a worker does."""

from __future__ import annotations

import io
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from turgor.errors import TurgorError, UnstableError
from turgor.model.variants import structure
from turgor.output.progress import hushed
from turgor.scene.scene import Scene
from turgor.study.functions import MeasureError
from turgor.study.measure import Expression, Measure, Measuring
from turgor.version import __version__

__all__ = ["Outcome", "Task", "failed_rows", "perform"]

Row = dict[str, Any]
Tick = Callable[[], None]  # called after each frame; may raise to end the work


@dataclass(frozen=True)
class Task:
    """All that a worker needs; it travels as a pickle, and needs no files."""

    number: int  # of the chunk
    scene: Scene  # with what its runs share; its settings are those of the simulation
    paths: tuple[str, ...]
    runs: tuple[int, ...]
    values: tuple[tuple[Any, ...], ...]  # of each run, for the paths
    measures: tuple[Measure, ...]
    device: str
    threads: int | str = 1  # of the CPU; they change no bit
    record_every: int | None = None  # frames between two that are recorded

    def of(self, scene: Scene) -> Task:
        """The same of another scene."""
        return replace(self, scene=scene)


@dataclass(frozen=True)
class Outcome:
    """What came of a chunk."""

    number: int
    rows: list[Row]
    wrong: str = ""  # a sentence: a measure that fails, which ends the study
    worker: str = ""  # who did it
    shards: tuple[bytes, ...] = ()  # recorded trajectories, a file for each simulation


def failed_rows(task: Task, reason: str) -> list[Row]:
    """Of runs that have no results."""
    return [_row(run, task.device, len(task.runs), reason=reason) for run in task.runs]


def _row(
    run: int, device: str, worlds: int, *, reason: str = "", solver: str = "", substeps: int | None = None,
    wall: float = 0.0, measured: dict[str, float] | None = None,
) -> Row:  # fmt: skip
    return {
        "run": run, "status": "failed" if reason else "ok", "reason": reason, "solver": solver, "substeps": substeps,
        "worlds": worlds, "device": device, "version": __version__, "wall_seconds": wall, **(measured or {}),
    }  # fmt: skip


def perform(task: Task, tick: Tick | None = None) -> Outcome:
    """Runs a chunk. A run that cannot be built or goes unstable is a row with its reason."""
    rows: list[Row] = []
    shards: list[bytes] = []
    groups: dict[tuple[Any, ...], list[tuple[int, Scene]]] = {}
    for run, values in zip(task.runs, task.values, strict=True):
        scene = task.scene.copy()
        try:
            for path, value in zip(task.paths, values, strict=True):
                scene.set(path, value)
            key = (run,) if scene.simulation.sleeping is True else structure(scene)  # sleeping is for one world
            groups.setdefault(key, []).append((run, scene))
        except TurgorError as error:
            rows.append(_row(run, task.device, len(task.runs), reason=_sentence(error)))
    try:
        for members in groups.values():
            rows += _simulated(task, members, tick, shards)
    except MeasureError as error:
        return Outcome(task.number, [], wrong=str(error), worker=str(os.getpid()))
    rows.sort(key=lambda row: int(row["run"]))
    return Outcome(task.number, rows, worker=str(os.getpid()), shards=tuple(shards))


def _simulated(task: Task, members: Sequence[tuple[int, Scene]], tick: Tick | None, shards: list[bytes]) -> list[Row]:
    """The rows of runs that share a simulation; its recording is added to `shards`."""
    begin = time.perf_counter()
    worlds, rows, left = len(members), list[Row](), list(members)
    sim = None
    while left and sim is None:
        try:
            sim = _built(task, [scene for _, scene in left])
        except UnstableError as error:  # without an equilibrium to start from
            reasons = error.reasons if len(left) > 1 else {0: str(error)}
            rows += [_row(left[w][0], task.device, worlds, reason=reason) for w, reason in reasons.items()]
            left = [member for w, member in enumerate(left) if w not in reasons]
        except TurgorError as error:
            if len(left) == 1:
                return [*rows, _row(left[0][0], task.device, worlds, reason=_sentence(error))]
            half = len(left) // 2
            parts = (left[:half], left[half:])
            return [*rows, *(row for part in parts for row in _simulated(task, part, tick, shards))]
    if sim is None:
        return rows
    measuring = Measuring(task.measures, len(left))
    recording = _Recording(sim, task, [run for run, _ in left], shards)
    reasons, substeps = _run(sim, task, measuring, recording, tick)
    recording.close()
    measured = {name: values.tolist() for name, values in measuring.results(sim).items()}
    wall = (time.perf_counter() - begin) / len(left)
    for world, (run, _) in enumerate(left):
        own = {} if world in reasons else {name: values[world] for name, values in measured.items()}
        rows.append(
            _row(
                run, sim.device, worlds, reason=reasons.get(world, ""), solver=sim.solver, substeps=substeps, wall=wall,
                measured=own,
            )
        )  # fmt: skip
    return rows


def _built(task: Task, scenes: Sequence[Scene]) -> Any:
    from turgor.simulation.simulation import Simulation  # late: the driver needs no Warp
    from turgor.simulation.warn import silent

    ledger = any(isinstance(measure, Expression) and measure.needs_ledger for measure in task.measures)
    with silent(), hushed():
        variants = list(scenes) if len(scenes) > 1 else None
        return Simulation(scenes[0], task.device, ledger=ledger, threads=task.threads, variants=variants)


class _Recording:
    """The trajectories of a simulation, in memory: they travel with the rows."""

    def __init__(self, sim: Any, task: Task, runs: Sequence[int], shards: list[bytes]) -> None:
        self._every, self._shards, self._file = task.record_every, shards, io.BytesIO()
        self._writer: Any = None
        if self._every is not None:
            from turgor.study.shards import ShardWriter

            self._writer = ShardWriter(self._file, sim, runs, self._every)

    def look(self, sim: Any, frame: int) -> None:
        if self._writer is not None and self._every is not None and frame % self._every == 0:
            self._writer.add(sim)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._shards.append(self._file.getvalue())


def _run(
    sim: Any, task: Task, measuring: Measuring, recording: _Recording, tick: Tick | None
) -> tuple[dict[int, str], int]:
    """(why worlds have failed, most substeps of a frame).

    A world that fails is parked: it becomes a copy of one that is fine, and nobody reads it any more. The frame was
    undone in all worlds, and is computed again.
    """
    from turgor.simulation.failure import ensure_fine

    reasons: dict[int, str] = {}
    frames, done, substeps = round(sim.settings.seconds * sim.settings.fps), 0, 0
    measuring.look(sim)
    recording.look(sim, 0)
    while done < frames:
        try:
            sim.step()
            ensure_fine(sim)
        except UnstableError as error:
            new = error.reasons if sim.worlds > 1 else {0: str(error)}
            reasons = new | reasons
            fine = np.setdiff1d(np.arange(sim.worlds), list(reasons))
            if not len(fine):
                break
            sim.copy_world(int(fine[0]), sorted(reasons))
            continue
        done += 1
        substeps = max(substeps, sim.substeps)
        measuring.look(sim)
        recording.look(sim, done)
        if tick is not None:
            tick()
    return reasons, substeps


def _sentence(error: Exception) -> str:
    return " ".join(str(error).split())
