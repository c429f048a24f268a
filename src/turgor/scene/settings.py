"""How a scene is simulated: the `[simulation]` table of a scene file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from turgor.errors import SceneError
from turgor.scene.validate import choice, integer, number, put

__all__ = ["CONTACTS", "PRECISIONS", "SOLVERS", "Contact", "Precision", "Settings", "Solver"]

# Editors complete these; parameters also take any `str`, so that a script may pass a name in a variable.
Solver = Literal["euler", "symplectic", "midpoint", "heun", "rk4", "rk4-martin"]
Contact = Literal["features", "particles", "bounding", "none"]
Precision = Literal["single", "double"]
SOLVERS: tuple[str, ...] = get_args(Solver)
CONTACTS: tuple[str, ...] = get_args(Contact)
PRECISIONS: tuple[str, ...] = get_args(Precision)


@dataclass(frozen=True)
class Settings:
    """Defaults of a simulation of the scene; the arguments of `turgor.Simulation` win over them."""

    solver: str = "symplectic"
    fps: float = 60.0  # 1/s: frames, at which results are shown and stored
    substeps: int | str = "auto"  # per frame; "auto" picks a stable number from springs, masses and gas
    contact: str = "features"
    seconds: float = 3.0  # s: how long the scene runs unless told otherwise
    precision: str = "single"  # floats of the simulation: 32 or 64 bits
    max_substeps: int = 4096  # "auto" gives up (UnstableError) above this

    def __post_init__(self) -> None:
        put(
            self,
            solver=choice("simulation.solver", self.solver, SOLVERS),
            fps=number("simulation.fps", self.fps, above=0.0),
            contact=choice("simulation.contact", self.contact, CONTACTS),
            seconds=number("simulation.seconds", self.seconds, above=0.0),
            precision=choice("simulation.precision", self.precision, PRECISIONS),
            max_substeps=integer("simulation.max_substeps", self.max_substeps, low=1),
        )
        if isinstance(self.substeps, str):
            if self.substeps == "auto":
                return
            raise SceneError(f"simulation.substeps must be 'auto' or a whole number >= 1, got {self.substeps!r}")
        put(self, substeps=integer("simulation.substeps", self.substeps, low=1))
        if isinstance(self.substeps, int) and self.substeps > self.max_substeps:
            raise SceneError(
                f"simulation.substeps must be <= simulation.max_substeps ({self.max_substeps}), got {self.substeps}"
            )
