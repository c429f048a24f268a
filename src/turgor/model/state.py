"""What changes: positions, velocities, poses, time, grabs and the energy ledger. All of it is saved and hashed."""

from __future__ import annotations

import numpy as np
import warp as wp

from turgor.model.model import Model
from turgor.model.rigid_state import RigidState
from turgor.model.walls import WallState
from turgor.scene.data import SoftBody

__all__ = ["State"]

ROOM_TEMPERATURE = 293.15  # K, of bodies without gas


class State:
    """Device arrays of all worlds; work arrays are in `Scratch`."""

    SAVED: tuple[str, ...] = (
        "x", "v", "clock", "dt", "pace", "grab_vertex", "grab_target", "grab_stiffness", "grab_damping", "dissipated",
        "work", "temperatures", "vibration", "energy_error",
    )  # fmt: skip
    CHANGED: tuple[str, ...] = ("x", "v", "clock", "dt", "dissipated", "work", "vibration", "energy_error")

    def __init__(self, model: Model) -> None:
        n, device, worlds = model.numbers, model.device, model.worlds
        count, bodies = model.vertices * worlds, len(model.parts) * worlds
        points = count + model.rigids.collision_points * worlds
        # m relative to the anchor, m/s: of the soft vertices, then the collision points of rigid bodies
        self.points = wp.zeros(points, dtype=n.vec, device=device)
        self.point_v = wp.zeros(points, dtype=n.vec, device=device)
        none = wp.zeros(0, dtype=n.vec, device=device)
        self.x, self.v = (self.points[:count], self.point_v[:count]) if count else (none, none)
        if count:
            wp.copy(self.x, model.start_positions())
            wp.copy(self.v, model.start_velocities())
        self.rigid = RigidState(model.rigids, model.anchor)
        self.walls = WallState(model.walls, model.anchor)

        self.clock = wp.zeros(1, dtype=wp.float64, device=device)  # s
        self.dt = wp.zeros(1, dtype=n.real, device=device)  # s, of the last substep, to which velocities belong
        self.pace = wp.zeros(3, dtype=wp.int32, device=device)  # substeps per whole frame: see solvers.plan
        self.grab_vertex = model.int_array(np.full(bodies, -1))  # -1: the body is not grabbed
        self.grab_target = wp.zeros(bodies, dtype=n.vec, device=device)  # m, relative to the anchor
        self.grab_stiffness = wp.zeros(bodies, dtype=n.real, device=device)  # N/m
        self.grab_damping = wp.zeros(bodies, dtype=n.real, device=device)  # N s/m

        # the energy ledger, per body since the start, J
        self.dissipated = wp.zeros(bodies, dtype=wp.float64, device=device)
        self.work = wp.zeros(bodies, dtype=wp.float64, device=device)

        # motion about the centre of mass, and the error of its energy: see solvers.accuracy
        self.vibration = wp.zeros(bodies, dtype=wp.vec4d, device=device)
        self.energy_error = wp.zeros(bodies, dtype=wp.vec4d, device=device)

        kelvin = [b.gas.temperature if isinstance(b, SoftBody) and b.gas else ROOM_TEMPERATURE for b in model.bodies]
        self.temperatures = np.tile(np.array(kelvin), (worlds, 1))  # (worlds, bodies) K, of the gas; host
        if model.variants is not None:
            for name, rows in model.variants.rigid_state.items():
                getattr(self.rigid, name).assign(rows)
            given = np.array(model.variants.temperatures, float).reshape(worlds, -1)
            self.temperatures = np.where(np.isnan(given), self.temperatures, given)
