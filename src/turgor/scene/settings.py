"""How a scene is simulated: the `[simulation]` table of a scene file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, get_args

from turgor.errors import SceneError
from turgor.scene.described import described
from turgor.scene.validate import choice, integer, number, put

__all__ = ["CONTACTS", "PRECISIONS", "SOLVERS", "Contact", "Precision", "Settings", "Solver"]

# Editors complete these; parameters also take any `str`, so that a script may pass a name in a variable.
Solver = Literal["auto", "euler", "symplectic", "midpoint", "heun", "rk4", "rk4-martin", "implicit"]
Contact = Literal["features", "particles", "particles-martin", "particles-adaptive", "bounding", "none"]
Precision = Literal["single", "double"]
SOLVERS: tuple[str, ...] = get_args(Solver)
CONTACTS: tuple[str, ...] = get_args(Contact)
PRECISIONS: tuple[str, ...] = get_args(Precision)


@described
@dataclass(frozen=True)
class Settings:
    """Defaults of a simulation of the scene; the arguments of `turgor.Simulation` win over them."""

    solver: Annotated[
        str, "",
        '"auto" (symplectic, or implicit where that would crawl), "euler", "symplectic", "midpoint", "heun", "rk4", '
        '"rk4-martin" or "implicit"',
    ] = "auto"  # fmt: skip
    fps: Annotated[float, "1/s", "frames, at which results are shown and stored"] = 60.0
    substeps: Annotated[int | str, "", 'per frame; "auto" picks a stable number from springs, masses and gas'] = "auto"
    contact: Annotated[
        str, "",
        '"features", "particles" (2009; "particles-martin": to the letter; "particles-adaptive": as many as find '
        'contacts), "bounding" (2003) or "none"',
    ] = "features"  # fmt: skip
    seconds: Annotated[float, "s", "how long `run` takes the scene, if not called with seconds"] = 3.0
    precision: Annotated[str, "", 'of the numbers: "single" (32 bits) or "double" (64)'] = "single"
    max_substeps: Annotated[int, "", 'per frame; "auto" gives up (UnstableError) above this'] = 4096
    sleeping: Annotated[
        bool | str, "", 'whether bodies at rest are left out until something disturbs them; "auto": in the playground'
    ] = "auto"
    accuracy: Annotated[float | str, "", 'share of energy that "auto" may add or take in a minute, or "auto"'] = "auto"

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
        if self.sleeping != "auto" and not isinstance(self.sleeping, bool):
            raise SceneError(f"simulation.sleeping must be true, false or 'auto', got {self.sleeping!r}")
        if isinstance(self.accuracy, str) and self.accuracy != "auto":
            raise SceneError(f"simulation.accuracy must be 'auto' or a number such as 0.01, got {self.accuracy!r}")
        if not isinstance(self.accuracy, str):
            put(self, accuracy=number("simulation.accuracy", self.accuracy, above=0.0))
        if isinstance(self.substeps, str):
            if self.substeps == "auto":
                return
            raise SceneError(f"simulation.substeps must be 'auto' or a whole number >= 1, got {self.substeps!r}")
        put(self, substeps=integer("simulation.substeps", self.substeps, low=1))
        if isinstance(self.substeps, int) and self.substeps > self.max_substeps:
            raise SceneError(
                f"simulation.substeps must be <= simulation.max_substeps ({self.max_substeps}), got {self.substeps}"
            )
        if self.accuracy != "auto":
            raise SceneError(
                f"simulation.accuracy chooses the substeps: use substeps='auto' with it, not {self.substeps}"
            )
