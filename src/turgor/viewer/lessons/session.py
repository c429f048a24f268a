"""An experiment in a world: its steps, the answer that was given, and what was measured. No browser in here."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from turgor.output.frame import Frame
from turgor.scene.scene import Scene
from turgor.viewer.lessons.lesson import Lesson
from turgor.viewer.lessons.points import PLACES, Points
from turgor.viewer.world.world import World

__all__ = ["STEPS", "Session"]

FloatArray = npt.NDArray[np.float64]
STEPS = ("Question", "Try it", "What you see", "Why")
QUESTION, TRY, SEE, WHY = range(4)


class Session:
    """From opening an experiment to leaving it. Belongs to the world's thread."""

    def __init__(
        self, world: World, lesson: Lesson, open_scene: Callable[[Scene], object], before: Scene | None = None
    ) -> None:
        """`before`: the scene to go back to, when the world shows that of the experiment already; else its own."""
        self.lesson, self.step = lesson, QUESTION
        self.answer: int | None = None  # which choice
        self._world, self._open = world, open_scene
        self._before = world.scene.copy() if before is None else before
        self._speed, self._ledger = world.speed, world.ledger
        places = PLACES if not lesson.lines else 4 * PLACES
        self.points = Points(len(lesson.measured), lesson.x.low, lesson.x.high, places)
        if before is None:
            open_scene(lesson.scene())
        self._scenes, self.starts = world.scenes, world.starts  # it is reset when there are more starts
        if lesson.ledger:
            world.keep_ledger(True)
        world.speed = lesson.speed
        world.playing = not lesson.waits
        world.watchers.append(self._frame_passed)

    @property
    def over(self) -> bool:
        """Whether another scene was opened, or what it needs was taken out."""
        return self._world.scenes != self._scenes or not set(self.lesson.bodies) <= set(self._world.sim.names)

    @property
    def may_go_on(self) -> bool:
        """The question has to be answered first: who has guessed looks closer."""
        return self.answer is not None if self.step == QUESTION else self.step < WHY

    @property
    def text(self) -> str:
        """The words of this step, as markdown."""
        lesson = self.lesson
        words = (lesson.question, lesson.doing, self._verdict() + lesson.seeing, lesson.why)[self.step]
        guess = ""
        if self.step == QUESTION and self.answer is not None:
            guess = f"\n\nYou think: **{lesson.choices[self.answer]}**. Next, try it."
        return f"**{lesson.title}** · {self.step + 1} of {len(STEPS)}: {STEPS[self.step]}\n\n{words}{guess}"

    def _verdict(self) -> str:
        if self.answer is None:
            return ""
        right = self.answer == self.lesson.right
        return f"You thought: *{self.lesson.choices[self.answer]}*. {'Right!' if right else 'It is different.'}\n\n"

    def choose(self, answer: int) -> None:
        """What will happen."""
        self.answer = answer

    def next(self) -> None:
        """One step on, where that is allowed."""
        if self.may_go_on:
            self.step += 1

    def back(self) -> None:
        """One step back."""
        self.step = max(self.step - 1, QUESTION)

    def set(self, value: float) -> None:
        """The control was moved."""
        self.lesson.set(self._world, value)
        if not self.lesson.control.button:
            self._world.playing = True  # nothing would happen else

    def run(self) -> None:
        """The button was pressed."""
        self.lesson.run(self._world)

    def columns(self) -> tuple[FloatArray, ...]:
        """x, the measured curves, and the formulas once they are explained."""
        lesson = self.lesson
        grid = np.zeros(0) if lesson.lines else np.linspace(lesson.x.low, lesson.x.high, PLACES)
        x, *measured = self.points.columns(grid)
        formulas = lesson.formula(x) if self.step == WHY else [np.full(len(x), np.nan)] * len(lesson.formulas)
        return (x, *measured, *formulas)

    def readings(self) -> str:
        """The numbers of now."""
        return self.lesson.readings(self._world, self._world.frame())

    def leave(self) -> None:
        """Back to the scene before."""
        self.end()
        self._open(self._before)

    def end(self) -> None:
        """Stop measuring; the world keeps its scene."""
        if self._frame_passed in self._world.watchers:
            self._world.watchers.remove(self._frame_passed)
            self._world.speed = self._speed
            self._world.keep_ledger(self._ledger)

    def _frame_passed(self, frame: Frame) -> None:
        if self.over:
            return
        if self._world.starts != self.starts:
            self.starts = self._world.starts
            self.points.clear()
            self.lesson.begin(self._world)
        for point in self.lesson.measure(self._world, frame):
            self.points.add(*point)
        self.lesson.drive(self._world)
