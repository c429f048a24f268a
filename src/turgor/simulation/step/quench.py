"""A simulation on its way to rest: FIRE (solvers/quench.py) after each of its substeps, recorded with the frame."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import warp as wp

from turgor.kernel.recording import ONE_AT_A_TIME
from turgor.simulation.step.frame import Step
from turgor.solvers import plan, quench, stability

__all__ = ["Forces", "Quench"]

FloatArray = npt.NDArray[np.float64]

STEP = 0.6  # of the longest stable step
LONGEST = 1.0 / 240.0  # s: of a scene of rigid bodies alone
DAMPING = 0.1  # ratio of the fastest vibration; slower ones are damped the less
SAG = 0.05  # sizes that a body may give way when it lands
THOROUGHNESS = 8  # times the rounds of impulses of a running simulation: with fewer, soft bodies on each other creep
KEPT = ("whole", "inside", "breath", "drive")  # what FIRE knows of the substeps before


class Forces(NamedTuple):
    """What is left on each soft body of each world, then on each rigid one, reactions included."""

    largest: FloatArray  # N: on a point that is free to move; rigid: N m, the moment
    net: FloatArray  # N: on the whole body


class Quench:
    """Takes motion out of a step's substeps wherever it leads uphill."""

    def __init__(self, step: Step, substeps: int) -> None:
        """substeps: of a frame, about."""
        model, state = step.model, step.state
        self.step, self.kernels = step, quench.kernels(model.numbers)
        self.rigids = model.rigids.total
        bodies = step.bodies + self.rigids

        def zeros(dtype: Any) -> Any:
            return wp.zeros(bodies, dtype=dtype, device=model.device)

        masses = np.where(model.inverse_mass.numpy() > 0.0, model.mass.numpy(), 0.0)
        soft = np.bincount(model.body.numpy(), masses, step.bodies)
        inverse = model.rigids.inverse_mass.numpy()
        rigid = np.divide(1.0, inverse, out=np.zeros_like(inverse), where=inverse > 0.0)
        self.mass = np.concatenate([soft, rigid])  # kg, of what is free to move
        self.size = np.concatenate([model.size.numpy(), model.rigids.size.numpy()])  # m
        self.inertia = rigid * model.rigids.size.numpy() ** 2  # kg m²: no principal moment is larger
        world = np.concatenate([model.world.numpy(), model.rigids.world.numpy()])
        self.weight = self.mass[:, None] * np.asarray(model.gravity.numpy(), np.float64)[world]  # N
        wide = model.numbers.wide
        self.arrays = {
            "free_mass": wp.array(self.mass, dtype=wp.float64, device=model.device), "top_speed": zeros(wp.float64),
            "weight": wp.array(self.weight, dtype=wide, device=model.device),
            "sums": wp.zeros((bodies, quench.SUMS), dtype=wp.float64, device=model.device),
            "whole": zeros(wp.vec4d), "inside": zeros(wp.vec4d), "breath": zeros(wp.vec4d), "drive": zeros(wp.float64),
            "mean": zeros(wide), "mean_change": zeros(wide), "mean_area": zeros(wide),
            "swell": zeros(wp.vec2d), "faces_around": wp.zeros_like(state.x),
            "left": wp.zeros((bodies, 2), dtype=wp.float64, device=model.device),
            "hold": wp.zeros(1, dtype=wp.int32, device=model.device),
            "v_before": wp.zeros_like(state.v),
            "loads": wp.zeros(step.bodies, dtype=wp.float64, device=model.device),
        }  # fmt: skip
        for name in ("v", "spin", "angular"):
            self.arrays[f"rigid_{name}_before"] = wp.zeros_like(getattr(state.rigid, name))
        self.arrays["drive"].fill_(1.0)
        for name in ("whole", "inside", "breath"):
            self.arrays[name].fill_(wp.vec4d(0.0, 0.0, quench.ALPHA, 0.0))
        self.launch = step.launch.extended(self.arrays)
        self.stop()
        if step.split is not None:
            step.split.thoroughness = THOROUGHNESS
        step.act_at_once()
        step.before_motion, step.after_substep = self._keep_areas, self._quench
        self._choose_step(substeps)

    def _choose_step(self, substeps: int) -> None:
        step, model = self.step, self.step.model
        bound = np.full(step.bodies, LONGEST)
        if step.count:
            with ONE_AT_A_TIME:
                step.bound()
            bound = np.asarray(step.scratch.step_bound.numpy(), np.float64)
        stiffness = np.asarray(model.skin_stiffness.numpy(), np.float64)
        fastest = stability.SAFETY * step.scheme.imaginary / bound
        springs = np.asarray(model.stiffness.numpy(), np.float64)
        model.damping.assign(2.0 * DAMPING * springs / fastest)
        model.viscosity.assign(np.where(model.skin_law.numpy() != 0, 2.0 * DAMPING / fastest, 0.0))
        speed = np.zeros(len(self.mass))  # rigid bodies are not driven: a stack would be knocked over
        with np.errstate(divide="ignore"):
            speed[: step.bodies] = SAG * self.size[: step.bodies] * np.sqrt(stiffness / self.mass[: step.bodies])
        self.arrays["top_speed"].assign(speed)
        scheme = step.scheme
        step.scheme = replace(scheme, imaginary=STEP * scheme.imaginary, real=STEP * scheme.real)
        longest = STEP * float(bound.min(initial=np.inf))
        step.frame_time = substeps * longest if longest < LONGEST else plan.MIN_SUBSTEPS * LONGEST
        step.replay.record_again()

    def _keep_areas(self) -> None:
        """The end of a substep clears them."""
        if self.step.count:
            wp.copy(self.arrays["faces_around"], self.step.scratch.area)

    def _quench(self) -> None:
        step, k = self.step, self.kernels
        if step.count:
            self.launch(k.sum_points, step.count)
        if self.rigids:
            self.launch(k.sum_rigid, self.rigids, first=step.bodies)
        self.launch(k.decide, len(self.mass), first=step.bodies)
        if step.count:
            self.launch(k.turn_points, step.count)
        if self.rigids:
            self.launch(k.turn_rigid, self.rigids, first=step.bodies)

    def stop(self) -> None:
        """Everything is at rest from now on, until forces move it again."""
        state = self.step.state
        for array in (state.v, state.rigid.v, state.rigid.spin, state.rigid.angular):
            array.zero_()
        for name, array in self.arrays.items():
            if name.endswith("_before"):
                array.zero_()

    def left(self) -> Forces:
        """In the last substep."""
        table = self.arrays["left"].numpy()
        return Forces(table[:, quench.LARGEST].copy(), table[:, quench.NET].copy())

    def left_at_rest(self, advance: Callable[[], None]) -> Forces:
        """The mean over a round (`advance`) in which nothing keeps its velocity from one substep to the next.

        From rest, a substep moves a point by dt² F / m; so the mean force is m dx / (substeps dt²). Impulses at
        contacts chatter about it. Afterwards the relaxation goes on as before.
        """
        step, state, rigid = self.step, self.step.state, self.step.state.rigid
        moving = [state.v, rigid.v, rigid.spin, rigid.angular, *(self.arrays[name] for name in KEPT)]
        moving += [array for name, array in self.arrays.items() if name.endswith("_before")]
        kept = [array.numpy().copy() for array in moving]
        self.stop()
        self.arrays["hold"].fill_(1)
        x, rigid_x, q = (array.numpy().copy() for array in (state.x, rigid.x, rigid.q))
        advance()
        self.arrays["hold"].fill_(0)
        dt = float(state.dt.numpy()[0])
        share = 1.0 / (int(step.scratch.substeps.numpy()[0]) * dt * dt)
        inverse = step.model.inverse_mass.numpy()
        forces = share * np.where(inverse > 0.0, step.model.mass.numpy(), 0.0)[:, None] * (state.x.numpy() - x)
        body = step.model.body.numpy()
        largest, net = np.zeros(len(self.mass)), np.zeros((len(self.mass), step.model.numbers.dim))
        np.maximum.at(largest, body, np.linalg.norm(forces, axis=1))
        np.add.at(net, body, forces)
        net[step.bodies :] = share * self.mass[step.bodies :, None] * (rigid.x.numpy() - rigid_x)
        largest[step.bodies :] = share * self.inertia * _angles(q, rigid.q.numpy())
        for array, values in zip(moving, kept, strict=True):
            array.assign(values)
        return Forces(largest, np.linalg.norm(net, axis=1))

    def largest_loads(self) -> FloatArray:
        """(bodies * worlds,) N: the largest force of springs, gas or gravity on a point of each soft body."""
        step, state = self.step, self.step.state
        self.arrays["loads"].zero_()
        if step.count:
            with ONE_AT_A_TIME:
                step.forces.evaluate(state.x, state.v, 0.0)
                step.forces.reshape_areas(state.x, state.v)
                self.launch(self.kernels.largest_loads, step.count)
        return np.asarray(self.arrays["loads"].numpy(), np.float64).copy()


def _angles(before: FloatArray, after: FloatArray) -> FloatArray:
    """(n,) rad between poses: unit quaternions or complex numbers, of which those of half the angle in 3D."""
    if before.ndim == 1:
        return np.asarray(np.abs(after - before))
    apart = np.minimum(np.linalg.norm(after - before, axis=1), np.linalg.norm(after + before, axis=1))
    return np.asarray(2.0 * apart)
