"""What changes: positions, velocities, time, and the work arrays of a substep."""

from __future__ import annotations

from typing import Any

import numpy as np
import warp as wp

from turgor.model.model import Model

__all__ = ["State"]


class State:
    """Device arrays that change from substep to substep. Those in PROPER are the state; the others are work space."""

    PROPER = (
        "x",
        "v",
        "clock",
        "pace",
        "grab_vertex",
        "grab_target",
        "grab_stiffness",
        "grab_damping",
        "dissipated",
        "work",
    )

    def __init__(self, model: Model, stages: int) -> None:
        n, device = model.numbers, model.device
        count, bodies = model.vertices * model.worlds, len(model.parts) * model.worlds

        def vectors(size: int) -> Any:
            return wp.zeros(size, dtype=n.vec, device=device)

        def reals(size: int) -> Any:
            return wp.zeros(size, dtype=n.real, device=device)

        def ints(size: int) -> Any:
            return wp.zeros(size, dtype=wp.int32, device=device)

        # the state proper, m relative to the anchor and m/s: of the soft vertices, then the points of rigid bodies
        rigid_points = sum(len(collider.points) for collider in model.rigids.collision) * model.worlds
        self.points, self.point_v = vectors(count + rigid_points), vectors(count + rigid_points)
        self.x, self.v = (self.points[:count], self.point_v[:count]) if count else (vectors(0), vectors(0))
        self.x.assign(np.tile(model.initial_positions, (model.worlds, 1)).astype(n.dtype))
        self.v.assign(np.tile(model.initial_velocities, (model.worlds, 1)).astype(n.dtype))
        self.clock = wp.zeros(1, dtype=wp.float64, device=device)  # s
        self.grab_vertex = model.int_array(np.full(bodies, -1))  # -1: the body is not grabbed
        self.grab_target = vectors(bodies)  # m, relative to the anchor
        self.grab_stiffness, self.grab_damping = reals(bodies), reals(bodies)  # N/m, N s/m

        # the energy ledger, per body since the start, J
        self.dissipated = wp.zeros(bodies, dtype=wp.float64, device=device)
        self.work = wp.zeros(bodies, dtype=wp.float64, device=device)

        # the last state that was finite
        self.x_good, self.v_good = vectors(count), vectors(count)
        self.clock_good = wp.zeros(1, dtype=wp.float64, device=device)
        self.ledger_good = wp.zeros(2 * bodies, dtype=wp.float64, device=device)

        # accumulators of one force evaluation: zero before and after it
        self.f, self.area = vectors(count), vectors(count)  # N; sum of face vectors, m² (m in 2D)
        self.volume_sum = reals(bodies)
        self.partial = reals(model.chunks)

        # results per body
        self.volume, self.pressure, self.push = reals(bodies), reals(bodies), reals(bodies)
        self.gravity = vectors(bodies)

        # between kick and move, in scenes where bodies touch
        self.move = vectors(count)  # m
        self.v_start, self.v_free = vectors(count), vectors(count)  # m/s: before the forces; after, before contact
        self.pressed = vectors(count)  # normal of the wall that a vertex is pressed against, or zero
        self.touchy = ints(1)  # whether a lone body could touch itself

        # Runge-Kutta stages
        size = count if stages > 1 else 0
        self.x_stage, self.v_stage = (vectors(size), vectors(size)) if stages > 1 else (self.x, self.v)
        self.x_slope, self.v_slope = vectors(size), vectors(size)

        # approximate volumes
        size = bodies if model.volumes_estimated else 0
        self.low, self.high, self.reach, self.inside = vectors(size), vectors(size), reals(size), reals(size)

        # the plan of a frame
        self.dt = reals(1)  # s
        self.status = ints(2)  # see solvers.frame
        self.unfinished = ints(1)  # 1 while the frame goes on
        self.planned = ints(1)  # substeps to the end of the frame
        self.block = ints(1)  # substeps to the next look at the stability bound
        self.substeps = ints(1)  # done in this frame
        self.pace = ints(3)  # substeps per whole frame: see solvers.frame
        self.spring_bound, self.tension_bound, self.turn_bound = reals(bodies), reals(bodies), reals(bodies)
        self.gas_bound, self.hinge_bound, self.lightest = reals(bodies), reals(bodies), reals(bodies)
        self.change_rate, self.flow = reals(bodies), reals(bodies)
        self.hinge_sum = reals(count if len(model.hinges_host) else 0)
        self.step_bound = wp.zeros(bodies, dtype=wp.float64, device=device)  # s
        self.renew_bound = wp.zeros(bodies, dtype=wp.float64, device=device)  # s
