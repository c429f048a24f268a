"""What the references share: a scene brought to rest from a given start, and a picture of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from turgor.papers.drawing.stills import jpeg, stills
from turgor.papers.report.blocks import Picture
from turgor.scene import Scene
from turgor.simulation.simulation import Simulation
from turgor.simulation.warn import silent

__all__ = ["at_rest", "photo", "still_scene"]

FloatArray = npt.NDArray[np.float64]


def still_scene(dim: int = 3) -> Scene:
    """An empty scene without weight and air."""
    return Scene(dim, gravity=(0.0,) * dim, air_density=0.0)


def at_rest(scene: Scene, tolerance: float = 1e-4, contact: str = "none", **start: FloatArray) -> Simulation:
    """The scene in equilibrium, in double precision; start: positions (m) of bodies, by name, where the search begins."""
    with silent():
        sim = Simulation(scene, contact=contact, precision="double", solver="symplectic")
    for name, positions in start.items():
        sim[name].positions = positions
    sim.settle(tolerance)
    return sim


def photo(sim: Simulation, caption: str, size: tuple[int, int] = (440, 330), **look: Any) -> Picture:
    """The present state as a picture."""
    (pixels,) = stills(sim, [sim.time], size, **look)
    return Picture(jpeg(pixels), caption, caption, width=size[0])
