"""turgor: the pressure soft body engine. Closed membranes of masses and springs, filled with gas, in 2D and 3D."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from turgor import shapes
from turgor.errors import MeshError, SceneError, TurgorError, UnstableError
from turgor.output import sinks
from turgor.scene import Gas, Scene, Springs, VelocityDamping

if TYPE_CHECKING:
    from turgor.simulation.simulation import Simulation

__all__ = [
    "Gas",
    "MeshError",
    "Scene",
    "SceneError",
    "Simulation",
    "Springs",
    "TurgorError",
    "UnstableError",
    "VelocityDamping",
    "shapes",
]

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """`Simulation` is loaded when it is first used: it brings Warp, and describing a scene does not need that."""
    if name == "Simulation":
        from turgor.simulation.simulation import Simulation

        return Simulation
    raise AttributeError(f"module 'turgor' has no attribute {name!r}")


def _open_sink(path: Any, layout: Any) -> sinks.Sink:
    from turgor.record import open_sink

    return open_sink(path, layout)


def _show(simulation: Any, height: int, port: int) -> Any:
    from importlib.util import find_spec

    if find_spec("viser") is None:
        raise SceneError("showing a simulation needs viser, which is not installed: pip install 'turgor[play]'")
    from turgor.viewer.page.notebook import InlineView

    return InlineView.of(simulation, height, port)


sinks.opener = _open_sink
sinks.viewer = _show
