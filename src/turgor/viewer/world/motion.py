"""How one body of a simulation is and moves, apart from its description: kept when it is taken away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from turgor.simulation.views.rigid import RigidView

if TYPE_CHECKING:
    from turgor.simulation.simulation import Simulation

__all__ = ["Motion"]

SOFT = ("positions", "velocities")
RIGID = ("center", "rotation", "velocity", "spin")
Box = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]


@dataclass(frozen=True)
class Motion:
    """Copies of the attributes of a body's view, and where all bodies were."""

    values: dict[str, Any]
    boxes: dict[str, Box]  # m: lowest and highest corner of each body, by its name

    @classmethod
    def of(cls, sim: Simulation, names: list[str]) -> dict[str, Motion]:
        """Of these bodies, now."""
        boxes = {name: _box(sim[name].positions) for name in sim.names} if names else {}
        views = {name: sim[name] for name in names}
        keys = {name: RIGID if isinstance(view, RigidView) else SOFT for name, view in views.items()}
        return {name: cls({key: np.array(getattr(views[name], key)) for key in keys[name]}, boxes) for name in names}

    @property
    def nbytes(self) -> int:
        """Of what is kept."""
        return sum(value.nbytes for value in self.values.values())

    def restore(self, sim: Simulation, name: str, shift: Any = 0.0) -> None:
        """Let a body go on as it was, moved by `shift` (m)."""
        view = sim[name]
        for key, value in self.values.items():
            if getattr(view, "kind", "") != "static" or key not in ("velocity", "spin"):
                setattr(view, key, value + shift if key in ("positions", "center") else value)

    def blocked(self, sim: Simulation, name: str) -> bool:
        """Whether another body has come to where this one was."""
        low, high = self.boxes[name]

        def meets(box: Box | None) -> bool:
            return box is not None and bool(np.all(box[0] < high) and np.all(box[1] > low))

        return any(
            meets(_box(sim[other].positions)) and not meets(self.boxes.get(other))
            for other in sim.names
            if other != name
        )


def _box(positions: Any) -> Box:
    points = positions.reshape(-1, positions.shape[-1])  # of all worlds
    return points.min(axis=0), points.max(axis=0)
