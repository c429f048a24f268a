"""All that a simulation was made with, in one place: `sim.settings`."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Any, Literal, get_args

from turgor.errors import SceneError
from turgor.scene.described import described
from turgor.scene.settings import Settings
from turgor.scene.validate import flag, integer, put

__all__ = ["Assembly", "RunSettings"]

Assembly = Literal["auto", "scatter", "gather"]


@described
@dataclass(frozen=True)
class RunSettings(Settings):
    """The settings of the scene, with the arguments of `turgor.Simulation` in their place."""

    device: Annotated[str, "", 'where it runs: "cpu" or "cuda:0"'] = "cpu"
    worlds: Annotated[int, "", "copies of the scene that run at once, with shared substeps"] = 1
    ledger: Annotated[bool, "", "whether losses and outside work are summed up"] = False
    readings: Annotated[bool, "", "whether contact forces are summed up over each frame"] = False
    threads: Annotated[int | str, "", 'of the CPU; "auto": all cores where that gains'] = "auto"
    assembly: Annotated[str, "", 'how forces reach the vertices: "auto", "scatter" or "gather"'] = "auto"

    def __post_init__(self) -> None:
        super().__post_init__()
        put(self, worlds=integer("worlds", self.worlds, low=1), ledger=flag("ledger", self.ledger))
        put(self, readings=flag("readings", self.readings))
        if self.threads != "auto":
            if isinstance(self.threads, str):
                raise SceneError(f"threads must be 'auto' or a whole number >= 1, got {self.threads!r}")
            put(self, threads=integer("threads", self.threads, low=1))
        if self.assembly not in get_args(Assembly):
            raise SceneError(f"assembly must be 'auto', 'scatter' or 'gather', got {self.assembly!r}")

    def arguments(self) -> dict[str, Any]:
        """The keyword arguments of `turgor.Simulation` that make a simulation with these settings."""
        return {entry.name: getattr(self, entry.name) for entry in fields(self) if entry.name != "seconds"}

    def of_scene(self) -> Settings:
        """The part that a scene describes."""
        return Settings(**{entry.name: getattr(self, entry.name) for entry in fields(Settings)})
