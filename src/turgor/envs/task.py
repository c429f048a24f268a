"""What a task is: a scene, the cells that are pumped, what is observed, what is rewarded, and a scripted policy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from turgor.kernel.numbers import Numbers
from turgor.scene.scene import Scene

__all__ = ["Policy", "Quantity", "Task"]

FloatArray = npt.NDArray[np.float32]
#: observations (n, quantities) -> numbers per cell; of a policy actions (n, cells) in -1 .. 1
Policy = Callable[[npt.NDArray[Any]], FloatArray]


@dataclass(frozen=True)
class Quantity:
    """One number of an observation: SI unit, and the bounds that it is cut off at."""

    name: str
    unit: str
    low: float
    high: float


@dataclass(frozen=True)
class Task:
    """A scene to be moved by pumping gas.

    An action is a number from -1 to 1 per cell, which means a target gauge pressure from `gauge[0]` to `gauge[1]`. A
    pump takes the cell's gas there, at most `rate` joules of nRT a second, and keeps it within `amount`. A control
    period is `frames` frames of `1 / fps` seconds with `substeps` each: a fixed number, so that a world is the same
    alone and among others. An episode begins with `start_gauge` and `start_speed`, drawn at random.
    """

    name: str
    about: str  # one sentence
    scene: Callable[[], Scene]
    cells: tuple[str, ...]  # soft bodies with gas, in the order of an action
    gauge: tuple[float, float]  # Pa (N/m in 2D)
    amount: tuple[float, float]  # least and most gas of a cell, as a share of what fills it at rest and zero gauge
    rate: float  # J/s, per cell
    price: float  # reward per joule of nRT that is moved, for the price of pumping
    observation: tuple[Quantity, ...]
    kernels: Callable[[Numbers], SimpleNamespace]  # `.observe`: see `envs/batch.py`
    scripted: Policy  # the baseline that a learner has to beat
    groups: tuple[int, ...] = ()  # cells of one number are alike, and may share a policy; left out: none are
    seen_by_cell: Policy | None = None  # (n, cells, features): observations as each cell sees them, for such policies
    memory: int = 1  # numbers per world that `observe` keeps from one period to the next
    seconds: float = 6.0  # s, after which an episode is truncated
    fps: float = 60.0
    frames: int = 3  # per control period
    substeps: int = 16  # per frame
    start_gauge: tuple[float, float] = (0.0, 0.0)  # Pa: range of the gas at the start
    start_speed: float = 0.0  # m/s: largest component of the velocity at the start
    reach: tuple[float, ...] = ()  # m: how far the bodies go, for the camera

    @property
    def period(self) -> float:
        """s, of a control period."""
        return self.frames / self.fps

    @property
    def steps(self) -> int:
        """Control periods of an episode."""
        return round(self.seconds / self.period)
