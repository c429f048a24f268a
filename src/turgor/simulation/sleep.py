"""Bodies at rest sleep: islands of them are left out of the simulation until something disturbs them.

An island is what may touch: free bodies whose boxes, a little enlarged, overlap, or that are glued together. It falls
asleep when all of its bodies have been slow for a while; what was left of their motion counts as dissipated. It wakes
when a body comes near, or when a parameter, a grab, a wall, the wind or gravity changes.

While all sleep, a frame is a tick of the clock. While some do, those that are awake run as a simulation of their own,
without the others, so what sleeps costs nothing whatever the solver and the device (`awake.py`). When a sleeper wakes,
the whole simulation goes on: nothing has to be built at that moment. The simulation of those that are awake is built
when an island falls asleep, if that saves enough, and is kept for the next time that the same bodies are awake.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from turgor.diagnose.contacts import Touches
from turgor.errors import SceneError, UnstableError
from turgor.scene.data import SoftBody
from turgor.simulation.advance import run_frame
from turgor.simulation.awake import hand_over, put, simulation_without, take_over
from turgor.simulation.boxes import islands, near
from turgor.simulation.views.contacts import Parts, parts_of

if TYPE_CHECKING:
    from turgor.simulation.simulation import Simulation

__all__ = ["Sleep"]

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

SLOW = 0.01  # sizes of a body per second: mean speed below which it may sleep
WHILE = 0.5  # s for which it must have been slow
LOOKS = 5  # in that time
SKIN = 0.05  # sizes: how near bodies of one island are
AHEAD = 2.0  # frames that what is awake may travel before it wakes what it comes near
SAVING = 0.25  # of the vertices that are simulated: what must fall asleep for that to be worth it
KEPT = 2  # simulations of awake bodies that are kept


class Sleep:
    """Which bodies sleep, counted as `sim.names`, and the simulation of the others, where only some do."""

    SAVED: tuple[str, ...] = ("asleep", "slow")

    def __init__(self, sim: Simulation) -> None:
        if sim.worlds > 1:
            raise SceneError(f"sleeping is for one world, and this simulation has {sim.worlds}: leave it out")
        if sim.settings.readings:
            raise SceneError("sleeping and readings exclude each other: bodies asleep have no impulses; leave one out")
        count = len(sim.names)
        self.asleep, self.slow = np.zeros(count, np.int32), np.zeros(count, np.int32)
        self.awake: Simulation | None = None  # of the bodies that do not sleep, where some do
        self._known: dict[bytes, Simulation] = {}  # by who is awake
        self._names = [*sim.names, *(wall.name for wall in sim.scene.walls)]  # that contacts of sleepers count
        self.touches = _none(sim.scene.dim)  # contacts of the bodies that sleep, as they were
        rigid = [body.kind == "dynamic" for body in sim.model.rigids.bodies]
        self._free = np.array([*([True] * len(sim.model.parts)), *rigid], bool)
        index = {name: number for number, name in enumerate(sim.names)}
        glued = [(index[entry.body], index[entry.rigid]) for entry in sim.scene.attachments]
        self._glued = np.array(sorted(set(glued)), np.int64).reshape(-1, 2)
        rigid_sizes = np.asarray(sim.model.rigids.size.numpy(), np.float64)
        self._sizes = np.append([part.size for part in sim.model.parts], rigid_sizes)
        self._vertices = np.append(np.diff(sim.model.starts), [len(c.points) for c in sim.model.rigids.collision])
        self._every = max(round(sim.settings.fps * WHILE / LOOKS), 1)  # frames between looks

    # a frame --------------------------------------------------------------------------------------------------------

    def _all_asleep(self, sim: Simulation) -> bool:
        """Whether nothing moves, by itself or driven."""
        return bool(self.asleep.any()) and bool(np.all(self.asleep[self._free])) and not self._driven_bodies(sim).any()

    def step(self, sim: Simulation) -> None:
        """A frame of the bodies that are awake."""
        self.heed(sim)
        if self._all_asleep(sim):
            sim.state.clock.fill_(sim.time + sim.engine.frame_time)
            sim.engine.scratch.substeps.zero_()
            sim.frame_index += 1
            return
        if self.awake is None:
            run_frame(sim)
        else:
            try:
                self.awake.step()
            except UnstableError:
                self.wake(sim)  # the state is that of the last good frame
                raise
            take_over(sim, self.awake)
            sim.frame_index += 1
            self._wake_near(sim)
        if sim.frame_index % self._every == 0:
            self._look(sim)

    def heed(self, sim: Simulation) -> None:
        """What was changed from outside since the last frame."""
        changed, everything = sim.engine.take_disturbances()
        if everything or any(self.asleep[body] or not self._free[body] for body in changed):
            self.slow[slice(None) if everything else list(changed)] = 0
            self.wake(sim)
        elif changed:
            self.slow[list(changed)] = 0
            if self.awake is not None:
                hand_over(sim, self.awake, changed)
                self._wake_near(sim)

    # falling asleep -------------------------------------------------------------------------------------------------

    def _look(self, sim: Simulation) -> None:
        """Which islands have been slow for long enough."""
        candidates = self._free & (self.asleep == 0)
        low, high, mean, fastest = self._motion(sim)
        calm = candidates & (mean < SLOW * self._sizes) & ~self._driven(sim)
        self.slow[...] = np.where(calm, self.slow + 1, 0)
        rested = self.slow >= LOOKS
        if sim.state.walls.moving or not rested.any():
            return
        # twice as near as what wakes: nothing falls asleep to be woken at once
        skin = (SKIN * self._sizes + 2.0 * AHEAD * fastest * sim.engine.frame_time)[:, None]
        island = islands(low - skin, high + skin, candidates, self._glued)
        restless = np.isin(island, np.unique(island[candidates & ~rested]))
        moving = self._driven_bodies(sim)
        falling = candidates & ~restless & ~near(low - skin, high + skin, candidates, moving)
        simulated = int(self._vertices[candidates].sum())
        everyone = bool(np.all(falling[candidates])) and not moving.any()
        if falling.any() and (everyone or self._vertices[falling].sum() >= SAVING * simulated):
            self._fall_asleep(sim, falling)

    def _fall_asleep(self, sim: Simulation, falling: BoolArray) -> None:
        """Stop these bodies; the others go on alone."""
        running = self.awake or sim
        self.touches = _joined(
            self.touches, parts_of(running), self._names, {sim.names[index] for index in np.flatnonzero(falling)}
        )
        _stop(sim, np.flatnonzero(falling))
        self.asleep[falling] = 1
        sim.engine.fresh = False
        self.awake = None
        if not self._all_asleep(sim):
            self.awake = self._simulation_of_the_awake(sim)

    def _simulation_of_the_awake(self, sim: Simulation) -> Simulation:
        """Built, or known from before, and at the present state."""
        key = self.asleep.tobytes()
        found = self._known.pop(key, None)
        if found is None:
            found = simulation_without(sim, {n for n, sleeps in zip(sim.names, self.asleep, strict=True) if sleeps})
        self._known[key] = found
        while len(self._known) > KEPT:
            del self._known[next(iter(self._known))]
        hand_over(sim, found, None)
        found.prepare()
        return found

    # waking ---------------------------------------------------------------------------------------------------------

    def wake(self, sim: Simulation) -> None:
        """All bodies: those that nothing disturbs fall asleep again soon."""
        if self.asleep.any():
            self.asleep[...] = 0
            self.touches = _none(sim.scene.dim)
            if self.awake is not None:
                self.awake = None
                sim.engine.changed()  # lists are of positions of before
                sim.engine.take_disturbances()

    def _wake_near(self, sim: Simulation) -> None:
        """If what is awake could touch a sleeper in the next frame."""
        low, high, _, fastest = self._motion(sim)
        reach = (SKIN * self._sizes + AHEAD * fastest * sim.engine.frame_time)[:, None]
        awake = self._free & (self.asleep == 0) | self._driven_bodies(sim)
        touched = near(low - reach, high + reach, self.asleep != 0, awake)
        if touched.any():
            skin = SKIN * self._sizes[:, None]
            island = islands(low - skin, high + skin, self.asleep != 0, self._glued)
            self.slow[np.isin(island, np.unique(island[touched])) & (self.asleep != 0)] = 0
            self.wake(sim)

    # what a body does -----------------------------------------------------------------------------------------------

    def _motion(self, sim: Simulation) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Of each body: box (m), root mean square and largest speed of its points (m/s)."""
        model, rigid, dim = sim.model, sim.state.rigid, sim.scene.dim
        count = len(model.rigids.bodies)
        place, velocity, spin = (np.asarray(a.numpy(), np.float64) for a in (rigid.x, rigid.v, rigid.spin))
        reach = 0.5 * np.sqrt(dim) * self._sizes[len(model.parts) :]
        turning = np.linalg.norm(spin.reshape(count, 1 if dim == 2 else 3), axis=1)
        speed = np.linalg.norm(velocity.reshape(count, dim), axis=1) + turning * reach
        low, high = place.reshape(count, dim) - reach[:, None], place.reshape(count, dim) + reach[:, None]
        if not model.parts:
            return low, high, speed, speed
        x, v = (np.asarray(array.numpy(), np.float64) for array in (sim.state.x, sim.state.v))
        starts = model.starts[:-1]
        squares, mass = np.einsum("ij,ij->i", v, v), np.asarray(model.mass.numpy(), np.float64)
        mean = np.sqrt(np.add.reduceat(mass * squares, starts) / np.add.reduceat(mass, starts))
        return (
            np.concatenate([np.minimum.reduceat(x, starts), low]),
            np.concatenate([np.maximum.reduceat(x, starts), high]),
            np.append(mean, speed),
            np.append(np.sqrt(np.maximum.reduceat(squares, starts)), speed),
        )

    def _driven(self, sim: Simulation) -> BoolArray:
        """What someone holds, or whose gas is still being pumped in."""
        held = np.append(sim.state.grab_vertex.numpy() >= 0, sim.state.rigid.grab_on.numpy() != 0)
        filling = np.zeros(len(held), bool)
        filling[: len(sim.model.parts)] = np.asarray(sim.model.inflate.numpy(), np.float64) >= sim.time
        filling &= np.array([isinstance(body, SoftBody) and body.gas is not None for body in sim.model.bodies]
                            + [False] * len(sim.model.rigids.bodies), bool)  # fmt: skip
        return np.asarray(held | filling)

    def _driven_bodies(self, sim: Simulation) -> BoolArray:
        """Rigid bodies that are moved from outside."""
        rigid, count = sim.state.rigid, len(sim.model.rigids.bodies)
        found = np.zeros(len(self._free), bool)
        if count:
            motion = np.concatenate([array.numpy().reshape(count, -1) for array in (rigid.v, rigid.spin)], axis=1)
            found[len(sim.model.parts) :] = motion.any(axis=1)
        return np.asarray(found & ~self._free)

    def contacts(self, sim: Simulation) -> Parts:
        """Contacts of bodies asleep as they were when they fell asleep, and of the others now."""
        kept: Parts = [(self.touches, self._names, self._names)]
        return kept if self._all_asleep(sim) else [*kept, *parts_of(self.awake or sim)]

    # saving ---------------------------------------------------------------------------------------------------------

    def saved_touches(self) -> dict[str, npt.NDArray[Any]]:
        """The contacts of bodies asleep, for `put_back`."""
        return {f"touch_{entry.name}": getattr(self.touches, entry.name) for entry in fields(self.touches)}

    def put_back(self, sim: Simulation, arrays: dict[str, npt.NDArray[Any]]) -> None:
        """Contacts as `saved_touches` gave them; who sleeps is known."""
        self.touches = Touches(**{entry.name: arrays[f"touch_{entry.name}"] for entry in fields(Touches)})
        if self.asleep.any() and not self._all_asleep(sim):
            self.awake = self._simulation_of_the_awake(sim)


def _stop(sim: Simulation, bodies: npt.NDArray[np.int64]) -> None:
    """Velocities become zero, and what that takes is booked as dissipated."""
    state, count = sim.state, len(sim.model.parts)
    for body in bodies[bodies < count]:
        own = np.arange(sim.model.starts[body], sim.model.starts[body + 1])
        if sim.settings.ledger:
            v, mass = (np.asarray(a.numpy()[own], np.float64) for a in (state.v, sim.model.mass))
            put(
                state.dissipated, body, state.dissipated.numpy()[body] + 0.5 * float(mass @ np.einsum("ij,ij->i", v, v))
            )
        put(state.v, own, 0.0)
    rigid = bodies[bodies >= count] - count
    if len(rigid):
        r = state.rigid
        if sim.settings.ledger:
            v, spin, angular = (
                np.asarray(a.numpy()[rigid], np.float64).reshape(len(rigid), -1) for a in (r.v, r.spin, r.angular)
            )
            inverse = np.asarray(sim.model.rigids.inverse_mass.numpy()[rigid], np.float64)
            taken = 0.5 * (np.einsum("ij,ij->i", v, v) / inverse + np.einsum("ij,ij->i", spin, angular))
            put(r.dissipated, rigid, r.dissipated.numpy()[rigid] + taken)
        for array in (r.v, r.spin, r.angular):
            put(array, rigid, 0.0)


def _none(dim: int) -> Touches:
    """No contacts."""
    vectors = ("points", "normals", "forces")
    whole = ("first", "second", "world")
    return Touches(**{
        entry.name: np.zeros((0, dim) if entry.name in vectors else 0, np.int64 if entry.name in whole else float)
        for entry in fields(Touches)
    })  # fmt: skip


def _joined(kept: Touches, parts: Parts, names: list[str], falling: set[str]) -> Touches:
    """Contacts that are kept, and those of the bodies that fall asleep, counted by `names`."""
    number = {name: index for index, name in enumerate(names)}
    columns: dict[str, list[Any]] = {entry.name: [getattr(kept, entry.name)] for entry in fields(Touches)}
    for touches, firsts, seconds in parts:
        own = np.array([name in falling for name in firsts], bool)[touches.first]
        for name, column in columns.items():
            column.append(getattr(touches, name)[own])
        for name, called in (("first", firsts), ("second", seconds)):
            columns[name][-1] = np.array([number[called[index]] for index in columns[name][-1]], np.int64)
    return Touches(**{name: np.concatenate(column) for name, column in columns.items()})
