"""The energy ledger: where the energy is now, in double precision, world by world.

What is summed over vertices is summed on the device (`world_sums.py`), the rest on the host (NumPy).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Any, cast

import numpy as np
import numpy.typing as npt

from turgor.diagnose import membranes
from turgor.diagnose.world_sums import WorldSums
from turgor.forces.bending import SLIVER
from turgor.model import topology
from turgor.model.model import Model
from turgor.model.scratch import Scratch
from turgor.model.state import State
from turgor.scene.described import described
from turgor.scene.gas import VOLUME_FLOOR

__all__ = ["Energy", "energy", "half_step", "half_step_losses"]

FloatArray = npt.NDArray[np.float64]


@described
@dataclass(frozen=True)
class Energy:
    """J, by where the energy is. With several worlds each is an array of shape (worlds,), to type checkers a float."""

    kinetic: Annotated[float, "J", "of motion, along and turning, at the time of the positions"]
    elastic: Annotated[float, "J", "of springs and bending"]
    gas: Annotated[float, "J", "of gas and ambient; zero at the rest volume"]
    gravity: Annotated[float, "J", "zero at the origin"]
    total: Annotated[float, "J", "of the four above"]
    dissipated: Annotated[float, "J", "taken out since the start by damping, drag, contact and walls"]
    work: Annotated[float, "J", "put in since the start by wind, pumps, grabs, moving walls and driven bodies"]

    def as_dict(self) -> dict[str, float | list[float]]:
        """Plain numbers, for JSON."""
        return {entry.name: np.asarray(getattr(self, entry.name)).tolist() for entry in fields(self)}


def gas_energy(model: Model, volume: FloatArray, time: float) -> FloatArray:
    """(worlds, bodies) J: U with -dU/dV = gauge pressure, as scene.Gas.energy, with the parameters of now."""
    shape = (model.worlds, len(model.parts))

    def table(name: str) -> FloatArray:
        return np.asarray(getattr(model, name).numpy(), np.float64).reshape(shape)

    rest, ambient, gamma, held = table("rest_volume"), table("ambient"), table("gamma"), table("held") > 0
    inflate = table("inflate")
    start = ambient * rest
    share = np.where(inflate > 0.0, np.minimum(time / np.where(inflate > 0.0, inflate, 1.0), 1.0), 1.0)
    nRT = start + (table("nRT") - start) * share
    reached = np.maximum(volume, VOLUME_FLOOR * rest)
    power = np.where(gamma > 1.0, gamma - 1.0, 1.0)
    inside = np.where(gamma > 1.0, nRT / power * ((rest / reached) ** power - 1.0), -nRT * np.log(reached / rest))
    below_floor = nRT / rest * (rest / reached) ** gamma * (reached - volume)
    free = inside + below_floor
    return np.asarray(np.where(held, -nRT / rest * (volume - rest), free) + ambient * (volume - rest))


def half_step(model: Model, state: State, sums: WorldSums, dt: float) -> FloatArray:
    """(worlds,) J: the kinetic energy that forces add in half a substep of dt (s): ½ dt F·v.

    For solvers that update velocities first: theirs belong to the middle of a substep (leapfrog), positions to its end.
    ½ m v² + ½ dt F·v = ½ m v₋·v₊, of the velocities half a substep before and after, goes with the potential energy of
    the positions: their sum is exactly constant for linear forces, and swings with dt² instead of dt for others.
    """
    dim, worlds = model.numbers.dim, model.worlds
    pull = np.asarray(model.gravity.numpy(), np.float64)
    # forces on what is glued act on rigid bodies, whose mass has its mass
    power = sums.power - np.einsum("wj,wj->w", pull, sums.glued)
    if model.rigids.count:
        inverse = np.asarray(model.rigids.inverse_mass.numpy(), np.float64).reshape(worlds, -1)
        mass = np.divide(1.0, inverse, out=np.zeros_like(inverse), where=inverse > 0.0)
        moving = np.asarray(state.rigid.v.numpy(), np.float64).reshape(worlds, -1, dim)
        power += np.einsum("wi,wj,wij->w", mass, pull, moving)
    return np.asarray(0.5 * dt * power)


def half_step_losses(model: Model, state: State, scratch: Scratch, sums: WorldSums) -> tuple[FloatArray, FloatArray]:
    """(worlds,) J each: what damping takes, and wind, grabs and pumps put in, in the half substep up to the positions.

    The forces in `scratch` are those of the present state. The pump belongs to the positions: its half is that of the
    trapezoidal rule.
    """
    worlds, dt = model.worlds, float(scratch.dt.numpy()[0])

    def table(array: Any) -> FloatArray:
        return np.asarray(array.numpy(), np.float64).reshape(worlds, -1)

    lost, power = sums.taken, sums.given.copy()
    grabbed = state.grab_vertex.numpy()
    for body in np.flatnonzero(grabbed >= 0):
        stretch = (state.grab_target.numpy()[body] - state.x.numpy()[grabbed[body]]).astype(np.float64)
        speed = state.v.numpy()[grabbed[body]].astype(np.float64)
        pull = state.grab_stiffness.numpy()[body] * stretch - state.grab_damping.numpy()[body] * speed
        power[body // len(model.parts)] += pull @ speed
    inflate, now = table(model.inflate), float(state.clock.numpy()[0])
    span = np.minimum(now, inflate) - np.minimum(max(now - dt, 0.0), inflate)
    if np.any(span > 0.0):
        rest, ambient, gamma = table(model.rest_volume), table(model.ambient), table(model.gamma)
        volume = table(scratch.volume)
        compression = rest / np.maximum(volume, VOLUME_FLOOR * rest)
        steep = np.where(gamma > 1.0, gamma - 1.0, 1.0)
        per_gas = np.where(gamma > 1.0, (compression**steep - 1.0) / steep, np.log(compression))
        per_gas = np.where(table(model.held) > 0, 1.0 - volume / rest, per_gas)
        rate = (table(model.nRT) - ambient * rest) / np.where(inflate > 0.0, inflate, 1.0)
        pumped = 0.5 * (rate * per_gas * span).sum(axis=1)
    else:
        pumped = np.zeros(worlds)
    return 0.5 * dt * lost, 0.5 * dt * power + pumped


def rigid_energy(model: Model, state: State, pull: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(worlds,) J each: ½ m v² + ½ L·ω, and -m g·x, of the dynamic rigid bodies; the others are moved from outside."""
    r, worlds = model.rigids, model.worlds
    if r.count == 0:
        return np.zeros(worlds), np.zeros(worlds)

    def table(name: str) -> FloatArray:
        return np.asarray(getattr(state.rigid, name).numpy(), np.float64).reshape(worlds, r.count, -1)

    inverse = np.asarray(r.inverse_mass.numpy(), np.float64).reshape(worlds, r.count)
    mass = np.divide(1.0, inverse, out=np.zeros_like(inverse), where=inverse > 0.0)
    v, x = table("v"), table("x") + model.anchor
    kinetic = 0.5 * np.einsum("wi,wij,wij->w", mass, v, v)
    turning = 0.5 * np.einsum("wij,wij->w", table("angular"), table("spin"))  # angular is 0 unless dynamic
    return kinetic + turning, -np.einsum("wi,wij,wj->w", mass, x, pull)


def energy(
    model: Model, state: State, sums: WorldSums, volume: FloatArray, losses: tuple[FloatArray, FloatArray],
    later: FloatArray,
) -> Energy:  # fmt: skip
    """sums: at the present state; volume: (worlds, bodies) m³, too; losses: (worlds,) J each, dissipated and work.

    later: (worlds,) J, what the kinetic energy of the velocities lacks of that at the time of the positions.
    """
    elastic = sums.springs
    if model.has_membranes:
        elastic = elastic + membranes.stored_energy(model, state)
    if len(model.hinges_host):
        x = np.asarray(state.x.numpy(), np.float64).reshape(model.worlds, -1, model.numbers.dim)
        bending = np.asarray(model.bending.numpy(), np.float64).reshape(model.worlds, len(model.parts))
        angles = topology.turning_angles if model.numbers.dim == 2 else topology.oriented_hinge_angles
        bent = np.stack([angles(points, model.hinges_host) for points in x]) - model.rest_angles_host
        bent = (bent + np.pi) % (2.0 * np.pi) - np.pi
        stored = 0.5 * model.hinge_weight_host * bending[:, model.body_host[model.hinges_host[:, 1]]] * bent**2
        if model.numbers.dim == 3:
            stored *= np.stack([topology.sliver_weights(points, model.hinges_host, SLIVER) for points in x])
        elastic = elastic + np.sum(stored, axis=1)

    gas = gas_energy(model, volume, float(state.clock.numpy()[0])).sum(axis=1)
    pull = np.asarray(model.gravity.numpy(), np.float64)
    gravity = -np.einsum("wj,wj->w", sums.moment + sums.mass[:, None] * model.anchor, pull)
    moving, height = rigid_energy(model, state, pull)
    kinetic, gravity = sums.kinetic + moving + later, gravity + height
    parts = (kinetic, elastic, gas, gravity, kinetic + elastic + gas + gravity, *losses)
    if model.worlds == 1:
        return Energy(*(float(part[0]) for part in parts))
    return Energy(*(cast(float, part) for part in parts))
