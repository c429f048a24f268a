"""Single worlds of a batch: back to their start, or copies of another one, without any change for the rest.

A row of an array is all that one world has of it. The clock is that of all worlds, and goes on.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import warp as wp

from turgor.errors import SceneError
from turgor.kernel.rows import copy_rows, indices

if TYPE_CHECKING:
    from turgor.simulation.simulation import Simulation

__all__ = ["Start", "copy_world", "numbers_of", "restart"]

SHARED = ("clock", "dt")  # by all worlds
# whose grabs are not copied: they are the same in all worlds, and name vertices of their own
UNCOPIED = (
    "pace",
    "temperatures",
    "grab_vertex",
    "grab_target",
    "grab_stiffness",
    "grab_damping",
    "grab_on",
    "grab_local",
)


class Start:
    """What worlds go back to: the motion of all of them, or of the first, where they have begun in the same way."""

    def __init__(self, sim: Simulation, *, alike: bool) -> None:
        self.alike = alike
        self.rows = 1 if alike else sim.worlds
        self.arrays = [wp.clone(array[: len(array) // sim.worlds * self.rows]) for array in _motion(sim)]

    def put_back(self, sim: Simulation, worlds: npt.NDArray[np.int32]) -> None:
        """The motion of these worlds at their start."""
        device = sim.model.device
        to = indices(worlds, device)
        from_ = indices(np.zeros_like(worlds), device) if self.alike else to
        for array, start in zip(_motion(sim), self.arrays, strict=True):
            copy_rows(array, start, sim.worlds, self.rows, to, from_)


def _motion(sim: Simulation) -> list[Any]:
    """Arrays that a frame changes, each with a row per world."""
    owners = (sim.state, sim.state.rigid)
    arrays = [attrgetter(name)(owner) for owner in owners for name in owner.CHANGED if name not in SHARED]
    return [array for array in arrays if len(array)]


def _parameters(sim: Simulation) -> list[Any]:
    """Arrays of what can be set per world."""
    owners = (sim.model, sim.model.rigids)
    arrays = [getattr(owner, name) for owner in owners for name in owner.SAVED if name not in UNCOPIED]
    return [array for array in arrays if len(array)]


def numbers_of(sim: Simulation, worlds: Any) -> npt.NDArray[np.int32]:
    """The worlds that a user means: numbers, a mask of all, or None for all; sorted, each once."""
    if worlds is None:
        return np.arange(sim.worlds, dtype=np.int32)
    given = np.atleast_1d(np.asarray(worlds))
    if given.dtype == bool:
        if given.shape != (sim.worlds,):
            raise SceneError(f"a mask of worlds must have one entry per world ({sim.worlds}), got {given.shape}")
        return np.flatnonzero(given).astype(np.int32)
    if given.size == 0:
        return np.zeros(0, np.int32)
    if given.dtype.kind not in "iu" or given.ndim != 1 or given.min() < 0 or given.max() >= sim.worlds:
        raise SceneError(f"worlds are numbers from 0 to {sim.worlds - 1}, or a mask of all, got {worlds!r}")
    return np.unique(given).astype(np.int32)


def restart(sim: Simulation, worlds: Any, start: Start) -> None:
    """These worlds begin again; their parameters stay."""
    chosen = numbers_of(sim, worlds)
    if len(chosen):
        start.put_back(sim, chosen)
        sim.engine.forget_worlds(chosen)


def copy_world(sim: Simulation, source: int, targets: Any) -> None:
    """The targets become copies of a world: its motion and its parameters."""
    (origin,) = numbers_of(sim, [source])
    chosen = numbers_of(sim, targets)
    chosen = chosen[chosen != origin]
    if not len(chosen):
        return
    to, from_ = (indices(values, sim.model.device) for values in (chosen, np.full_like(chosen, origin)))
    for array in (*_motion(sim), *_parameters(sim)):
        copy_rows(array, array, sim.worlds, sim.worlds, to, from_)
    sim.state.temperatures[chosen] = sim.state.temperatures[origin]
    sim.engine.forget_worlds(chosen)
