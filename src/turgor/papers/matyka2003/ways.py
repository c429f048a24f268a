"""Matyka & Ollila 2003: its scenes with the paper's integrator and contact beside turgor's own, by processor time.

"All results presented have been calculated using 2nd Mid Point scheme" (section 3.3), and bodies collide by bounding
objects (section 3.5).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from turgor.papers.report.blocks import Table
from turgor.scene import Scene
from turgor.simulation.simulation import Simulation

__all__ = ["Measure", "Ran", "Stopwatch", "beside", "ran"]

SOLVERS = {"symplectic": "symplectic Euler", "midpoint": "midpoint"}
CONTACTS = {"features": "features", "bounding": "bounding objects", "none": "none"}


class Stopwatch:
    """Called before every frame; measures the frames simulated per second of processor time, by the median frame."""

    def __init__(self, look: Callable[[Simulation], None] = lambda sim: None) -> None:
        self._look = look  # its time does not count
        self._called: list[float] = []
        self._left: list[float] = []

    def __call__(self, sim: Simulation) -> None:
        self._called.append(time.process_time())
        self._look(sim)
        self._left.append(time.process_time())

    @property
    def fps(self) -> float:
        """Of all frames but the last, whose end is not known."""
        return 1.0 / float(np.median(np.array(self._called[1:]) - np.array(self._left[:-1])))


class Measure(Protocol):
    """Looks at a simulation before each frame and after the last."""

    def look(self, sim: Simulation) -> None:
        """Its time does not count."""

    def found(self) -> Sequence[float]:
        """Its numbers at the end."""
        ...


@dataclass(frozen=True)
class Ran:
    """A scene that has run."""

    solver: str
    contact: str
    substeps: int  # per frame, at the end
    fps: float  # frames per second of processor time
    found: Sequence[float]  # what was measured of it


def ran(scene: Scene, solver: str, contact: str, seconds: float, measure: Measure) -> Ran:
    """Runs it."""
    sim = Simulation(scene, solver=solver, contact=contact)
    sim.prepare()
    watch = Stopwatch(measure.look)
    for _ in range(round(seconds * sim.settings.fps)):
        watch(sim)
        sim.step()
    watch(sim)
    return Ran(solver, contact, sim.substeps, watch.fps, measure.found())


def beside(
    scene: Callable[[], Scene],
    seconds: float,
    names: Sequence[str],
    measure: Callable[[], Measure],
    contacts: Sequence[str] = ("features", "bounding"),
    caption: str = "",
) -> tuple[list[Ran], Table]:
    """The scene with both solvers and these contact methods; `names` are those of what is measured."""
    found = [ran(scene(), solver, contact, seconds, measure()) for contact in contacts for solver in SOLVERS]
    several = len(contacts) > 1
    rows = [
        [SOLVERS[run.solver], *([CONTACTS[run.contact]] if several else []), run.substeps, run.fps, *run.found]
        for run in found
    ]
    header = ["solver", *(["contact"] if several else []), "substeps", "frames/s", *names]
    words = "The paper's solver is midpoint" + (", its contact that of bounding objects" if several else "")
    time_of = "Substeps per frame; frames of 1/60 s simulated per second of processor time, by the median frame."
    return found, Table(header, rows, " ".join(part for part in (f"{words}.", time_of, caption) if part))
