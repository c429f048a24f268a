"""One frame of a simulation, and whether it went well."""

from __future__ import annotations

from typing import TYPE_CHECKING

from turgor.simulation.choice import reconsider
from turgor.simulation.failure import ensure_fine

if TYPE_CHECKING:
    from turgor.simulation.simulation import Simulation

__all__ = ["run_frame"]

GPU_CHECK = 30  # frames between looks at the status on a GPU: a look waits for the device


def run_frame(sim: Simulation) -> None:
    """Advance all bodies by one frame."""
    sim.engine.replay.run()
    sim.frame_index += 1
    if sim.model.device.is_cpu or sim.frame_index % GPU_CHECK == 0:
        ensure_fine(sim)
        reconsider(sim)
