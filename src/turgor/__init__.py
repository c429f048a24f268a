"""turgor: the pressure soft body engine. Closed membranes of masses and springs, filled with gas, in 2D and 3D.

Describe a `Scene`, run it as a `Simulation`. All quantities are in SI units.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from turgor import gallery, materials, shapes
from turgor.errors import MeshError, RecordError, SceneError, TurgorError, TurgorWarning, UnstableError
from turgor.output import sinks
from turgor.scene import (
    Cloth,
    Container,
    Gas,
    Ground,
    Membrane,
    Plane,
    RigidBody,
    Scene,
    SoftBody,
    Springs,
    VelocityDamping,
)
from turgor.version import __version__ as __version__

if TYPE_CHECKING:
    from turgor import record
    from turgor.diagnose.contact_forces import ContactForces
    from turgor.diagnose.contacts import Contacts
    from turgor.diagnose.energy import Energy
    from turgor.diagnose.patches import ContactPatch
    from turgor.simulation.simulation import Simulation
    from turgor.simulation.statics import Settled, equilibrium
    from turgor.simulation.views.body import BodyView
    from turgor.simulation.views.contacts import ContactEvent
    from turgor.simulation.views.rigid import RigidView
    from turgor.simulation.views.wall import WallView
    from turgor.study.results import Results
    from turgor.study.study import Study

__all__ = [
    "BodyView",
    "Cloth",
    "ContactEvent",
    "ContactForces",
    "ContactPatch",
    "Contacts",
    "Container",
    "Energy",
    "Gas",
    "Ground",
    "Membrane",
    "MeshError",
    "Plane",
    "RecordError",
    "Results",
    "RigidBody",
    "RigidView",
    "Scene",
    "SceneError",
    "Settled",
    "Simulation",
    "SoftBody",
    "Springs",
    "Study",
    "TurgorError",
    "TurgorWarning",
    "UnstableError",
    "VelocityDamping",
    "WallView",
    "equilibrium",
    "gallery",
    "materials",
    "record",
    "shapes",
]

# Loaded when first used: they bring Warp or the file formats, which describing a scene does not need.
_LATER = {
    "BodyView": "turgor.simulation.views.body",
    "ContactEvent": "turgor.simulation.views.contacts",
    "ContactForces": "turgor.diagnose.contact_forces",
    "ContactPatch": "turgor.diagnose.patches",
    "Contacts": "turgor.diagnose.contacts",
    "Energy": "turgor.diagnose.energy",
    "Results": "turgor.study.results",
    "RigidView": "turgor.simulation.views.rigid",
    "Settled": "turgor.simulation.statics",
    "Simulation": "turgor.simulation.simulation",
    "Study": "turgor.study.study",
    "WallView": "turgor.simulation.views.wall",
    "equilibrium": "turgor.simulation.statics",
}


if not TYPE_CHECKING:  # a type checker takes a module with __getattr__ to have every name

    def __getattr__(name: str) -> Any:
        if name == "record":
            return importlib.import_module("turgor.record")
        if name in _LATER:
            return getattr(importlib.import_module(_LATER[name]), name)
        raise AttributeError(f"module 'turgor' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


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
