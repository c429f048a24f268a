"""How many CPU threads share a frame."""

from __future__ import annotations

import os

from turgor.errors import SceneError
from turgor.kernel.cores import physical_cores
from turgor.model.model import Model
from turgor.simulation.settings import RunSettings
from turgor.solvers.schemes import Scheme

__all__ = ["threads_of"]

MOST = 256
VARIABLE = "TURGOR_THREADS"  # in place of "auto"
VERTICES = 2000  # per thread: with fewer a thread more costs what it gains (docs/benchmarks.md, threads)


def threads_of(settings: RunSettings, model: Model, scheme: Scheme) -> int:
    """As asked for; "auto" takes cores as long as each has enough to do: loops over several bodies can be shared."""
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
    if scheme.implicit:
        return 1
    return max(min(physical_cores(), len(model.parts) * model.worlds, model.vertices * model.worlds // VERTICES), 1)
