"""A guided experiment: its words, its scene, one control, what is measured, and the formula beside it. No browser."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from turgor.output.frame import Frame
from turgor.scene.scene import Scene
from turgor.viewer.world.world import World

__all__ = ["Axis", "Control", "Lesson", "Point"]

FloatArray = npt.NDArray[np.float64]
Point = tuple[int, float, float]  # which of the measured curves, x, y


@dataclass(frozen=True)
class Axis:
    """An axis of the plot: what it shows, with its unit, and from where to where."""

    label: str
    low: float
    high: float


@dataclass(frozen=True)
class Control:
    """The slider of an experiment; `button` is what starts the experiment (again) with its value, where needed."""

    label: str
    low: float
    high: float
    step: float
    start: float
    button: str = ""


class Lesson(ABC):
    """One experiment while it goes on; made anew each time it is opened. Belongs to the world's thread.

    The words are markdown for a reader of 14 years.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    summary: ClassVar[str]  # one line, for the list of experiments
    question: ClassVar[str]
    choices: ClassVar[tuple[str, ...]]
    right: ClassVar[int]  # which of the choices happens
    doing: ClassVar[str]
    seeing: ClassVar[str]
    why: ClassVar[str]
    control: ClassVar[Control]
    x: ClassVar[Axis]
    y: ClassVar[Axis]
    measured: ClassVar[tuple[str, ...]]  # curves from the simulation
    formulas: ClassVar[tuple[str, ...]]  # curves from the formula
    bodies: ClassVar[tuple[str, ...]]  # without these it cannot go on
    lines = False  # measured curves are lines over time; else dots, one for each place along x
    waits = False  # the world waits until the experiment is tried
    speed = 1.0  # simulated seconds per second
    ledger = False  # whether losses are summed up

    def __init__(self) -> None:
        self.value = self.control.start  # of the control

    @abstractmethod
    def scene(self) -> Scene:
        """A fresh one."""

    def set(self, world: World, value: float) -> None:
        """The control was moved."""
        self.value = float(min(max(value, self.control.low), self.control.high))

    def begin(self, world: World) -> None:
        """The world is at its beginning, at the first time or again: the control goes back to its start."""
        self.value = self.control.start

    def run(self, world: World) -> None:  # noqa: B027 (most have no button)
        """The button was pressed."""

    def drive(self, world: World) -> None:  # noqa: B027 (some run by themselves)
        """A frame has passed: go on towards the value of the control."""

    @abstractmethod
    def measure(self, world: World, frame: Frame) -> list[Point]:
        """What is seen now."""

    @abstractmethod
    def formula(self, x: FloatArray) -> tuple[FloatArray, ...]:
        """What the formulas say at x; nan where they say nothing."""

    @abstractmethod
    def readings(self, world: World, frame: Frame) -> str:
        """The numbers of now, as a line of markdown."""
