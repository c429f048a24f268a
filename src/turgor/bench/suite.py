"""What a suite of benchmarks is: a sentence and a function from options to tables of plain numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

__all__ = ["Clock", "Options", "Row", "Suite", "Tables"]

#: numbers, words, None, or a spread: {"median", "q1", "q3", "runs"} (`measure.spread`)
Row = dict[str, Any]
#: rows by the title of their table; what a table has no number for it says in words: {"missing": "..."}
Tables = dict[str, list[Row]]


Clock = Literal["wall", "processor"]


@dataclass(frozen=True)
class Options:
    """How to measure.

    devices: those to run on, by Warp's names. threads: of a simulation on the CPU, but for `threads` and `peers`.
    quick: small sizes and few runs, to see that it works; the numbers mean little.
    peers: the folder in which other engines are looked for (`peers/engines.py`).
    clock: on the CPU; "processor" counts the time that the process has a processor, for machines that others use too.
    """

    devices: tuple[str, ...] = ("cpu",)
    threads: int = 1
    quick: bool = False
    peers: Path | None = None
    clock: Clock = "wall"

    @property
    def seconds(self) -> float:
        """That a measurement takes, about."""
        return 0.02 if self.quick else 1.5

    @property
    def least(self) -> int:
        """Runs of a measurement, however long they take."""
        return 2 if self.quick else 5

    @property
    def rounds(self) -> int:
        """Of measurements in turns."""
        return 2 if self.quick else 7


@dataclass(frozen=True)
class Suite:
    """A name, a sentence, and what measures. more: not among those that run when none is named."""

    about: str
    measure: Callable[[Options], Tables]
    more: bool = False
