"""The present frame as PyVista data, to plot, cut and measure with all that VTK has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from turgor.errors import SceneError
from turgor.output.frame import SKIN_FIELDS
from turgor.simulation.snapshot import frame_of, layout_of

if TYPE_CHECKING:
    from turgor.simulation.simulation import Simulation

__all__ = ["to_pyvista"]


def to_pyvista(sim: Simulation) -> Any:
    """A `pyvista.MultiBlock` of the first world with a PolyData per body, by name; see `Simulation.to_pyvista`."""
    try:
        import pyvista as pv
    except ImportError:
        raise SceneError("to_pyvista needs pyvista; install it with: pip install 'turgor[render]'") from None
    layout, frame = layout_of(sim), frame_of(sim)
    blocks = pv.MultiBlock()
    first = 0  # face of the frame's fields
    for number, body in enumerate(layout.bodies):
        own = slice(body.start, body.start + body.count)
        points, velocity = np.zeros((body.count, 3)), np.zeros((body.count, 3))
        points[:, : layout.dim], velocity[:, : layout.dim] = frame.positions[own], frame.velocities[own]
        cells = np.insert(np.asarray(body.faces, np.int64), 0, layout.dim, axis=1).ravel()
        mesh = pv.PolyData(points, lines=cells) if layout.dim == 2 else pv.PolyData(points, cells)
        mesh.point_data["velocity"] = velocity
        mesh.point_data["body"] = np.full(body.count, number, np.int32)
        last = first + len(body.faces)
        for name in SKIN_FIELDS if body.material else ():
            values = getattr(frame, name)
            if values is not None:
                mesh.cell_data[name] = values[first:last]
        if body.uv is not None:
            mesh.active_texture_coordinates = np.asarray(body.uv, np.float32)
        for name, value in (("volume", frame.volumes[number]), ("pressure", frame.pressures[number])):
            mesh.field_data[name] = np.array([value])
        mesh.field_data["time"] = np.array([frame.time])
        blocks.append(mesh, body.name)
        first = last
    return blocks
