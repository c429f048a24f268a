"""What is measured at the present state of a step, outside of its frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import warp as wp

from turgor.diagnose.bodies import BodySums, sum_body
from turgor.diagnose.energy import half_step_losses
from turgor.diagnose.world_sums import WorldSums, sum_worlds
from turgor.kernel.recording import ONE_AT_A_TIME
from turgor.solvers import accuracy
from turgor.solvers.schemes import Scheme

if TYPE_CHECKING:
    from turgor.simulation.step.frame import Step

__all__ = ["body_sums", "energy_error", "longest_steps", "losses", "meet_positions", "total_forces", "world_sums"]

FloatArray = npt.NDArray[np.float64]


def longest_steps(step: Step, scheme: Scheme) -> FloatArray:
    """(bodies,) s: the longest stable step of each body with `scheme` at the present state."""
    if not step.count:
        return np.zeros(0)
    with ONE_AT_A_TIME:
        if step.spectrum is not None:
            step.spectrum.run()
        step.bound(scheme)
    return np.nan_to_num(np.asarray(step.scratch.step_bound.numpy(), np.float64), nan=0.0)


def meet_positions(step: Step) -> None:
    """Velocities of the middle of the last substep become those of the time of the positions."""
    dt = float(step.state.dt.numpy()[0])
    if step.scheme.leapfrog and step.count and dt > 0.0:
        step.scratch.step_change.fill_(-dt)
        with ONE_AT_A_TIME:
            step.shift_velocities()


def body_sums(step: Step, body: int) -> BodySums:
    """Mass, momentum, centre and height of a soft body at the present state."""
    with ONE_AT_A_TIME:
        return sum_body(step.model, step.state, body)


def total_forces(step: Step) -> Any:
    """Device array (vertices * worlds) of the total force on each point at the present state, N."""
    s = step.state
    out = wp.zeros_like(s.x)
    with ONE_AT_A_TIME:
        step.forces.evaluate(s.x, s.v, 0.0, looking=True)
        step.keep_lost_forces()
        step.forces.reshape_areas(s.x, s.v)
        step.forces.add_up(out)
    return out


def energy_error(step: Step) -> FloatArray:
    """(worlds,) estimated error of the energy of vibrations, as a share of the largest there was."""
    table = step.state.energy_error.numpy().reshape(step.model.worlds, -1, 4)
    frames = round(float(step.state.clock.numpy()[0]) / step.frame_time)
    span = ((frames - 1) % step.estimate_every + 1) * step.frame_time
    return accuracy.relative_error(table, step.scheme, float(step.scratch.dt.numpy()[0]), span)


def world_sums(step: Step, force: Any) -> WorldSums:
    """Of all vertices at the present state, for its energy; force: as `total_forces` gives it, or None."""
    nothing = wp.empty(0, dtype=step.model.numbers.vec, device=step.model.device)
    with ONE_AT_A_TIME:
        scratch = step.scratch
        return sum_worlds(
            step.model, step.state, nothing if force is None else force, scratch.lost_force, scratch.wind_force
        )


def losses(step: Step, sums: WorldSums) -> tuple[FloatArray, FloatArray]:
    """(worlds,) J each: dissipated, and work done from outside, since the start; as of the positions.

    Where velocities belong to the middle of a substep, half a substep's are still to be added (`half_step_losses`).
    """
    worlds, owners = step.model.worlds, (step.state, step.state.rigid)

    def total(name: str) -> FloatArray:
        return np.asarray(sum(getattr(owner, name).numpy().reshape(worlds, -1).sum(axis=1) for owner in owners))

    dissipated, work = total("dissipated"), total("work")
    if step.scheme.leapfrog:
        more, put_in = half_step_losses(step.model, step.state, step.scratch, sums)
        dissipated, work = dissipated + more, work + put_in
    return dissipated, work
