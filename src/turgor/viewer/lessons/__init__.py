"""Guided experiments: each has a question, one control and a plot beside its formula."""

from __future__ import annotations

from turgor.errors import SceneError, did_you_mean
from turgor.viewer.lessons.balloon import Balloon
from turgor.viewer.lessons.bounce import Bounce
from turgor.viewer.lessons.boyle import Boyle
from turgor.viewer.lessons.gas_laws import GasLaws
from turgor.viewer.lessons.lesson import Lesson

__all__ = ["LESSONS", "lesson"]

LESSONS: dict[str, type[Lesson]] = {kind.name: kind for kind in (Boyle, Bounce, GasLaws, Balloon)}


def lesson(name: str) -> Lesson:
    """A fresh experiment; SceneError with a suggestion when there is none of this name."""
    if name not in LESSONS:
        raise SceneError(f"there is no lesson {name!r}; {did_you_mean(name, LESSONS)}")
    return LESSONS[name]()
