"""The frame as a graph: recorded once, replayed, and computed again where a buffer was too small.

Python does nothing while a frame is replayed; `look` waits for the frames that were launched, and says how they went.
"""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp

from turgor.errors import UnstableError
from turgor.kernel.launch import rehearsal
from turgor.kernel.recording import ONE_AT_A_TIME
from turgor.kernel.status import OVERFLOW
from turgor.model.saved import Rollback

if TYPE_CHECKING:
    from turgor.simulation.step.frame import Step

__all__ = ["Replay"]

GROWTHS = 32  # times that contact buffers may grow in one frame
_COMPILED: set[str] = set()  # names of the modules that are there

log = logging.getLogger("turgor")


class Replay:
    """Frames of a step."""

    def __init__(self, step: Step) -> None:
        self.step = step
        self.missing = 0  # frames that were launched and not computed, as looks have found
        self.grown = 0  # times that contact buffers were too small
        self._graph: Any = None
        self._launched = 0  # frames since the last look

    def run(self) -> None:
        """Advance the state by one frame. `look` says whether that went well."""
        step = self.step
        step.fresh = False
        if step.empty:
            step.state.clock.fill_(float(step.state.clock.numpy()[0]) + step.frame_time)
            step.move_walls(0.0)
            return
        if step.implicit is not None:
            step.implicit.check()
        self.prepare()
        self._launched += 1
        if step.scratch.team is not None:
            step.scratch.team.start()
        wp.capture_launch(self._graph)

    def prepare(self) -> None:
        """Compile the kernels and record the frame, if that has not been done."""
        step = self.step
        if self._graph is not None or step.empty:
            return
        step.rollback = Rollback(step.changing)  # buffers may have grown
        team = step.scratch.team
        with ONE_AT_A_TIME:
            self._compile()
            if team is not None:
                team.begin()
            with wp.ScopedCapture(device=step.device) as capture:
                step.frame()
                if team is not None:
                    team.end()
            if team is not None:
                team.enlist()
        self._graph = capture.graph

    def _compile(self) -> None:
        """Compile what the frame needs, several modules at once: in the order of launches it would be one by one."""
        device = self.step.device
        if not device.is_cpu:
            return
        with rehearsal() as modules, wp.ScopedCapture(device=device):
            self.step.frame()
        missing = [module for name, module in modules.items() if name not in _COMPILED]
        if missing:
            wp.force_load(device, missing, max_workers=os.cpu_count())
            _COMPILED.update(modules)

    def record_again(self) -> None:
        """Record the frame again before the next one: other launches are needed from now on."""
        self._graph = None

    def look(self) -> int:
        """Wait for the frames launched so far, and say how they went: `kernel.status`.

        Where a contact buffer was too small, the frame was undone and those after it did nothing: the buffer grows,
        and all of them are computed now.
        """
        scratch = self.step.scratch
        for _ in range(GROWTHS):
            status = int(scratch.status.numpy()[0])
            missing = self._launched - int(scratch.frames.numpy()[0])
            if status != OVERFLOW:
                self.missing += missing
                self._forget_launches()
                return status
            self._grow()
            self._forget_launches()
            scratch.status.zero_()
            for _ in range(missing):
                self.run()
        raise UnstableError(f"contact needs ever more memory at t = {self._time:.4g} s")

    def _forget_launches(self) -> None:
        self._launched = 0
        self.step.scratch.frames.zero_()

    @property
    def _time(self) -> float:
        return float(self.step.state.clock.numpy()[0])

    def _grow(self) -> None:
        """Larger contact buffers where one was too small."""
        step = self.step
        assert step.split is not None
        for part in step.split.parts.values():
            if int(part.overflow.numpy()[0]):
                if part.hopeless():
                    raise self._crumpled()
                part.grow()
        if step.implicit is not None and step.implicit.pairs is not None:
            step.implicit.pairs.allocate()
        self.record_again()
        self.grown += 1
        log.info("contact buffers were too small and have grown; the frame is computed again")

    def clear_failure(self) -> None:
        """What a frame that was undone has left behind."""
        step = self.step
        step.scratch.status.zero_()
        step.scratch.body_failed.zero_()
        for part in () if step.split is None else step.split.parts.values():
            part.overflow.zero_()

    def _crumpled(self) -> UnstableError:
        """The error for surfaces that are a heap of folds: the fastest body is the one that blew up."""
        model = self.step.model
        speeds = np.linalg.norm(self.step.scratch.v_free.numpy(), axis=1)  # in the frame that was undone
        world, fastest = divmod(int(np.nan_to_num(speeds, nan=np.inf).argmax()), max(model.vertices, 1))
        name = model.bodies[int(model.body_host[fastest])].name
        self._forget_launches()
        self.clear_failure()  # other worlds may go on
        message = (
            (f"world {world}: " if model.worlds > 1 else "")
            + f"body {name!r} at t = {self._time:.4g} s is crumpled, and contact finds no end: "
            "use substeps='auto' or more substeps, or lower its stiffness, gas pressure or velocity"
        )
        return UnstableError(message, {world: message})
