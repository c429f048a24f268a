"""How many CPU threads share a frame."""

from __future__ import annotations

import os

from turgor.errors import SceneError
from turgor.kernel.team import cores
from turgor.model.model import Model
from turgor.simulation.settings import RunSettings
from turgor.solvers.schemes import Scheme

__all__ = ["threads_of"]

MOST = 256
VARIABLE = "TURGOR_THREADS"  # in place of "auto"
VERTICES = 4000  # in several bodies, from which on a second thread gains (docs/benchmarks.md)


def threads_of(settings: RunSettings, model: Model, scheme: Scheme) -> int:
    """As asked for; "auto" takes all cores for large scenes of several bodies, whose loops can be shared."""
    if not model.device.is_cpu:
        return 1
    if isinstance(settings.threads, int):
        if settings.threads > MOST:
            raise SceneError(f"threads must be at most {MOST}, got {settings.threads}")
        return settings.threads
    wanted = os.environ.get(VARIABLE, "auto")
    if wanted != "auto":
        if not wanted.isdecimal() or not 1 <= int(wanted) <= MOST:
            raise SceneError(f"{VARIABLE} must be 'auto' or a whole number from 1 to {MOST}, got {wanted!r}")
        return int(wanted)
    bodies = len(model.parts) * model.worlds
    large = bodies > 1 and model.vertices * model.worlds >= VERTICES and not scheme.implicit
    return min(cores(), bodies) if large else 1
