"""The worlds of a task on the device: gas in, a control period, and what a policy gets to see, all by kernels.

A control period is

    for each frame:  measure, pump, sim.step
    measure, observe (the task's own kernel), judge

Nothing of it is copied to the host but the status of the simulation, and flags where a caller asks for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from turgor.envs.kernels import kernels
from turgor.envs.task import Task
from turgor.errors import SceneError, UnstableError
from turgor.kernel.launch import Launcher
from turgor.kernel.recording import ONE_AT_A_TIME
from turgor.simulation.failure import ensure_fine
from turgor.simulation.simulation import Simulation

__all__ = ["Batch"]

Flags = npt.NDArray[np.bool_]
ATTEMPTS = 8  # at a frame, each without the worlds that failed in the one before


class Batch:
    """A simulation of a task with all that an environment needs, as device arrays.

    observation: (worlds, quantities) float32, in the units of the task. reward: (worlds,) float32.
    terminated, truncated: (worlds,) bool. action: (worlds, cells) float32, to be written before `advance`.
    """

    def __init__(self, task: Task, worlds: int, device: str = "cpu", threads: int | str = "auto") -> None:
        self.task, self.worlds, self.period = task, worlds, task.period
        self.sim = sim = Simulation(
            task.scene(), device, worlds=worlds, fps=task.fps, substeps=task.substeps, solver="symplectic",
            threads=threads,
        )  # fmt: skip
        if worlds == 1:
            sim.keep_start()  # else a restart would build everything again
        model = sim.model
        n, bodies = model.numbers, len(model.parts) * worlds
        self.device = model.device

        def array(shape: Any, dtype: Any) -> Any:
            return wp.zeros(shape, dtype=dtype, device=self.device)

        self.vertex_start = model.ends(np.diff(model.starts))
        self.center, self.velocity = array(bodies, n.vec), array(bodies, n.vec)  # m (of the scene's origin), m/s
        self.volume, self.low = array(bodies, n.real), array(bodies, n.real)  # m³, m
        names = list(sim.bodies)
        self.cell = model.int_array([names.index(name) for name in task.cells])
        self.action = array((worlds, len(task.cells)), wp.float32)
        self.moved = array(worlds, n.real)  # J of nRT that the pumps have moved in this period
        self.seed, self.episode, self.steps = (array(worlds, wp.int32) for _ in range(3))
        self.chosen, self.failed, self.ended = (array(worlds, wp.int32) for _ in range(3))
        self.memory, self.gain = array((worlds, task.memory), n.real), array(worlds, n.real)
        self.reading = array((worlds, len(task.observation)), wp.float32)
        self.observation = array((worlds, len(task.observation)), wp.float32)
        self.reward = array(worlds, wp.float32)
        self.terminated, self.truncated = array(worlds, wp.bool), array(worlds, wp.bool)
        self.least = wp.array([q.low for q in task.observation], dtype=wp.float32, device=self.device)
        self.most = wp.array([q.high for q in task.observation], dtype=wp.float32, device=self.device)
        self._prepare()

    def _prepare(self) -> None:
        """Launches with all their arguments, so that Python has little to do in a control period."""
        task, model, state = self.task, self.sim.model, self.sim.state
        launcher = Launcher(self.device, state, model, self, rigid=[state.rigid, model.rigids])
        k, bodies = kernels(model.numbers), len(model.parts)

        def prepared(kernel: Any, dim: int, **given: Any) -> Any:
            inputs = launcher.arguments(kernel, given)
            with ONE_AT_A_TIME:  # it may have to be compiled
                return wp.launch(kernel, dim=dim, inputs=inputs, device=self.device, record_cmd=True)

        def gauges(low: float, high: float) -> dict[str, float]:
            return {"gauge_low": low, "gauge_high": high}

        self._measure = prepared(k.measure, len(self.center))
        self._pump = prepared(
            k.pump, self.worlds, bodies=bodies, most=task.rate / task.fps, amount_low=task.amount[0],
            amount_high=task.amount[1], **gauges(*task.gauge),
        )  # fmt: skip
        self._start = prepared(
            k.start, self.worlds, vertices=model.vertices, rigids=model.rigids.count, bodies=bodies,
            speed=task.start_speed, **gauges(*task.start_gauge),
        )  # fmt: skip
        self._observe = prepared(task.kernels(model.numbers).observe, self.worlds)
        self._judge = prepared(k.judge, self.worlds, price=task.price, limit=task.steps)

    # an episode -----------------------------------------------------------------------------------------------------

    def begin(self, worlds: Flags, seeds: Sequence[int | None] | None = None) -> None:
        """The chosen worlds begin an episode; with a seed, that of the seed, else the next one of the last seed."""
        if seeds is not None:
            table, count = self.seed.numpy().copy(), self.episode.numpy().copy()
            for world in np.flatnonzero(worlds):
                if (seed := seeds[int(world)]) is not None:
                    table[world], count[world] = seed % 2**31, 0
            self.seed.assign(table)
            self.episode.assign(count)
        self.sim.restart(worlds)
        self.chosen.assign(worlds.astype(np.int32))
        self._start.launch()
        self.sim.engine.changed(moved=False)

    def advance(self) -> None:
        """A control period with the pressures that `action` asks for."""
        self.chosen.zero_()
        self.failed.zero_()
        failed = np.zeros(self.worlds, np.bool_)
        for _ in range(self.task.frames):
            self._measure.launch()
            self._pump.launch()
            self._frame(failed)

    def look(self) -> None:
        """Fill observation, reward, terminated and truncated; those of worlds that have just begun are zero."""
        for command in (self._measure, self._observe, self._judge):
            command.launch()

    # a frame --------------------------------------------------------------------------------------------------------

    def _frame(self, failed: Flags) -> None:
        """One frame of all worlds. One that becomes unstable is put back to its start, and waits there."""
        for _ in range(ATTEMPTS):
            try:
                self.sim.step()
                ensure_fine(self.sim)  # on a GPU the simulation itself looks now and then only
                return
            except UnstableError as error:
                failed[list(error.worlds)] = True
                self.begin(failed)
                self.chosen.zero_()
                self.failed.assign(failed.astype(np.int32))
        raise SceneError(
            f"task {self.task.name!r} is unstable from its start: raise its substeps, or lower its pressures"
        )
