"""One reference: what it says, what the engine gives, and how far apart they are."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from turgor.papers.report.blocks import Block

__all__ = ["Check", "Outcome", "Reference", "Refinement", "failed"]


@dataclass(frozen=True)
class Check:
    """A number of the reference beside the engine's."""

    what: str  # with its unit, where it has one
    reference: float | tuple[float, float]  # a number, or the two that it must be between
    measured: float
    tolerance: float = 0.0  # relative to the reference

    @property
    def error(self) -> float:
        """Relative to the reference; of bounds: to the nearer one, and 0 between them."""
        if isinstance(self.reference, tuple):
            low, high = self.reference
            nearest = min(max(self.measured, low), high)  # of a measured nan: nan
        else:
            nearest = self.reference
        return (self.measured - nearest) / abs(nearest)

    @property
    def within(self) -> bool:
        """Whether the error is within the tolerance; what is not a number is not."""
        return math.isfinite(self.measured) and abs(self.error) <= self.tolerance


@dataclass(frozen=True)
class Refinement:
    """One quantity on finer and finer meshes."""

    what: str
    vertices: Sequence[int]
    edges: Sequence[float]  # m, or relative to the size of the body: length of an edge, falling
    values: Sequence[float]
    exact: float | None = None  # None: not known

    @property
    def errors(self) -> list[float]:
        """Relative to the exact value; without one: to the value on the finest mesh."""
        exact = self.values[-1] if self.exact is None else self.exact
        return [value / exact - 1.0 for value in self.values]

    @property
    def order(self) -> float:
        """q of |error| = C edge^q: least squares in logarithms; nan where it cannot be known.

        Without an exact value: of three meshes with edges in a constant ratio s, (v1 - v2)/(v2 - v3) = s^q.
        """
        if self.exact is None:
            return self._richardson()
        points = [
            (math.log(edge), math.log(abs(error)))
            for edge, error in zip(self.edges, self.errors, strict=True)
            if error != 0.0 and math.isfinite(error)
        ]
        if len(points) < 2:
            return math.nan
        x = sum(place for place, _ in points) / len(points)
        y = sum(size for _, size in points) / len(points)
        spread = sum((place - x) ** 2 for place, _ in points)
        return sum((place - x) * (size - y) for place, size in points) / spread

    def _richardson(self) -> float:
        if len(self.values) < 3:
            return math.nan
        first, second, third = self.values[-3:]
        one, two = self.edges[-3] / self.edges[-2], self.edges[-2] / self.edges[-1]
        if second == third or (first - second) / (second - third) <= 0.0 or abs(one / two - 1.0) > 0.1:
            return math.nan
        return math.log((first - second) / (second - third)) / math.log(math.sqrt(one * two))


@dataclass(frozen=True)
class Outcome:
    """What a reference gave."""

    checks: Sequence[Check]
    blocks: Sequence[Block] = ()  # pictures and curves
    refinements: Sequence[Refinement] = ()
    notes: Sequence[str] = field(default=())  # what a reader has to know: where a miss comes from, what was left out
    failure: str = ""  # why there is no result

    @property
    def within(self) -> bool:
        """Whether every number is within its tolerance; nothing measured is a miss."""
        return not self.failure and bool(self.checks) and all(check.within for check in self.checks)


def failed(why: str) -> Outcome:
    """A reference that gave no numbers."""
    return Outcome((), failure=why)


@dataclass(frozen=True)
class Reference:
    """One line of the table of references."""

    number: str  # "V1"
    key: str  # "balloon": its anchor in the page, and its name on the command line
    title: str
    formula: str  # as Text of the report: `code` and **bold**
    setup: str  # how the engine is asked
    run: Callable[[bool], Outcome]  # run(quick); quick: coarse meshes, in seconds
