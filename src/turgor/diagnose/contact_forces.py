"""Contact forces as means over the last frame: per pair, and per body."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from turgor.errors import SceneError, did_you_mean

__all__ = ["ContactForces"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class ContactForces:
    """`sim.contacts().force`: N, means over the last frame, normal and friction together; needs `readings=True`.

    on(name): the force of all contacts on a body, or of all bodies on a wall; exact, as it is the change of momentum.
    between(first, second): the force on the first from the second. pairs, worlds and vectors hold these for all pairs.
    Means over a longer time are means of the frames. With several worlds results have a leading axis.
    """

    worlds_in_all: int
    pairs: list[tuple[str, str]]  # (n) bodies, or a body and a wall; each once
    worlds: IntArray  # (n,)
    vectors: FloatArray  # (n, dim) N on the first of the pair
    bodies: dict[str, FloatArray] = field(repr=False)  # (worlds, dim) N, of all bodies and walls
    known: bool = True

    def on(self, name: str) -> FloatArray:
        """(dim,) N on a body or a wall from all that touches it; (worlds, dim) for several worlds."""
        self._needs_readings()
        self.check_names([name])
        table = self.bodies[name]
        return table[0] if self.worlds_in_all == 1 else table

    def between(self, first: str, second: str) -> FloatArray:
        """(dim,) N on the first from the second; zero if they do not touch."""
        self._needs_readings()
        self.check_names([first, second])
        total = np.zeros((self.worlds_in_all, self.vectors.shape[1]))
        for pair, world, vector in zip(self.pairs, self.worlds.tolist(), self.vectors, strict=True):
            if pair == (first, second):
                total[world] += vector
            elif pair == (second, first):
                total[world] -= vector
        return total[0] if self.worlds_in_all == 1 else total

    def check_names(self, names: Sequence[str]) -> None:
        """SceneError for a name that is neither a body nor a wall."""
        for name in names:
            if name not in self.bodies:
                raise SceneError(f"no body or wall {name!r}; {did_you_mean(name, list(self.bodies))}")

    def _needs_readings(self) -> None:
        if not self.known:
            raise SceneError("contact forces are not summed up: make the simulation with readings=True")
