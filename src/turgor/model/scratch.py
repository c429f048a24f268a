"""The work arrays of a substep and of the plan of a frame: nothing here outlives a frame."""

from __future__ import annotations

from typing import Any

import numpy as np
import warp as wp

from turgor.kernel.team import Team
from turgor.model.model import Model
from turgor.model.rigid_state import RigidScratch
from turgor.model.state import State

__all__ = ["Scratch"]


class Scratch:
    """Device arrays of all worlds."""

    def __init__(self, model: Model, state: State, stages: int, ledger: bool = False, team: Team | None = None) -> None:
        self.team = team  # CPU threads that share loops
        n, device = model.numbers, model.device
        count, bodies = model.vertices * model.worlds, len(model.parts) * model.worlds

        def vectors(size: int) -> Any:
            return wp.zeros(size, dtype=n.vec, device=device)

        def reals(size: int) -> Any:
            return wp.zeros(size, dtype=n.real, device=device)

        def ints(size: int) -> Any:
            return wp.zeros(size, dtype=wp.int32, device=device)

        self.rigid = RigidScratch(model.rigids, ledger)

        # accumulators of one force evaluation: zero before and after it
        self.f, self.area = vectors(count), vectors(count)  # N; sum of face vectors, m² (m in 2D)
        self.volume_sum = reals(bodies)
        self.partial = reals(model.chunks)

        # results per body
        self.volume, self.pressure, self.push = reals(bodies), reals(bodies), reals(bodies)  # m³, Pa, Pa (gauge)
        self.body_gravity = vectors(bodies)  # m/s², zero while a body waits for its gas

        self.wall_impulse = vectors(count)  # N s: of the last substep of this frame in which a wall was met

        # between kick and move, in scenes with contact
        self.move = vectors(count)  # m
        self.v_start, self.v_free = vectors(count), vectors(count)  # m/s: before the forces; after, before contact
        self.wall_contact_normal = vectors(count)  # of the wall that a vertex is pressed against, or zero
        # a scene of one soft body per world: which of them end a substep without contact (all, in scenes that have
        # none), whether any does not, and whether any is watched (`contact/features/search/watch.py`)
        self.ends_fused, self.may_self_touch = ints(bodies), ints(1)
        self.any_watched, self.any_near = ints(1), ints(1)

        # for the ledger
        size = count if ledger else 0
        self.lost_force, self.wind_force = vectors(size), vectors(size)  # N: dashpots and drag; wind
        self.v_kicked, self.asked_move = vectors(size), vectors(size)  # m/s, m: after the forces alone
        self.wall_drive = reals(size)  # J/kg: work of moving walls
        self.grab_pull = vectors(bodies if ledger else 0)  # N

        # Runge-Kutta stages
        size = count if stages > 1 else 0
        self.x_stage, self.v_stage = (vectors(size), vectors(size)) if stages > 1 else (state.x, state.v)
        self.x_slope, self.v_slope = vectors(size), vectors(size)

        # approximate volumes: bounds of each body, largest distance from their middle, probes inside
        size = bodies if model.volumes_estimated else 0
        self.bound_low, self.bound_high = vectors(size), vectors(size)
        self.bound_reach, self.probes_inside = reals(size), reals(size)
        self.probe_point, self.probe_winding = vectors(model.probes), ints(model.probes)
        self.exact_volume = reals(bodies)  # m³, whatever the body's own method says

        # energy out of nothing (forces/nonconservative.py): m³, Pa; J made, and in motion
        self.volume_before, self.excess_before = model.real_array([np.nan] * bodies), reals(bodies)
        self.made, self.motion, self.moving, self.available = (
            wp.zeros(bodies, dtype=wp.float64, device=device) for _ in range(4)
        )

        # the plan of a frame
        self.dt = state.dt  # s
        self.step_change, self.step_changed = reals(1), ints(1)  # s, of dt at the last plan; whether there was one
        self.supported = ints(bodies)  # whether something holds the body: see solvers.leapfrog
        self.clock_start = wp.zeros(1, dtype=wp.float64, device=device)  # s, of the frame
        self.status = ints(2)  # see kernel.status
        self.body_failed = ints(
            bodies + model.rigids.total
        )  # in this frame: soft bodies of all worlds, then rigid ones
        self.failed = ints(1)  # whether the frame must be undone
        self.frames = ints(1)  # frames done since the last look from the host
        self.unfinished = ints(1)  # 1 while the frame goes on
        self.planned = ints(1)  # substeps to the end of the frame
        self.until_plan = ints(1)  # substeps to the next look at the stability bound
        self.substeps = ints(1)  # done in this frame
        self.spring_bound, self.tension_bound, self.turn_bound = reals(bodies), reals(bodies), reals(bodies)
        self.gas_bound, self.hinge_bound, self.air_bound = reals(bodies), reals(bodies), reals(bodies)
        self.lightest, self.change_rate = reals(bodies), reals(bodies)
        self.flow, self.tension_flow = reals(bodies), reals(bodies)
        self.hinge_sum = reals(count if len(model.hinges_host) else 0)
        self.bending_every = wp.full(bodies, 1, dtype=wp.int32, device=device)
        self.skin_bound, self.skin_damping = reals(bodies), reals(bodies)
        self.face_pull = vectors(2 * len(model.faces) if model.has_membranes else 0)  # N
        self.step_bound = wp.zeros(bodies, dtype=wp.float64, device=device)  # s
        self.renew_bound = wp.zeros(bodies, dtype=wp.float64, device=device)  # s
        self.strain_bound = wp.zeros(bodies, dtype=wp.float64, device=device)  # s
        self.estimate_due = ints(1)  # whether the error of the energy is estimated in this frame
        self.motion_sums = wp.zeros((model.chunks, 11), dtype=n.real, device=device)  # see solvers.accuracy
        self.accuracy_bound = wp.full(bodies, 1e30, dtype=wp.float64, device=device)  # s
