"""Contact by all features (X1, the default): search, contacts, impulses, and the guarantee that nothing passes through.

measure -> (lists, if stale) -> contacts -> rounds of impulses -> displacements -> (walls) -> limit -> move
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from turgor.contact.features.search.lists import FeatureLists
from turgor.contact.features.solve import body_drift, constraints, impulses, sides, sweep
from turgor.kernel.status import FINE, NOT_FINITE
from turgor.model.model import Model
from turgor.model.scratch import Scratch
from turgor.model.state import State
from turgor.model.surfaces import Surfaces

__all__ = ["FeatureContacts"]


class FeatureContacts(FeatureLists):
    """Launches the kernels of one contact stage on a model and a state."""

    CHANGED: tuple[str, ...] = ()  # after a failed frame the lists are made again

    def __init__(self, model: Model, state: State, scratch: Scratch, surfaces: Surfaces) -> None:
        n, parallel = model.numbers, model.device.is_cuda
        self.k_sides, self.k_rows = sides.kernels(n, parallel), constraints.kernels(n, parallel)
        self.k_solve, self.k_limit = impulses.kernels(n, parallel), sweep.kernels(n, parallel)
        self.k_drift = body_drift.kernels(n, parallel)
        super().__init__(model, state, scratch, surfaces)

    def _allocate(self) -> None:
        """Lists of the present capacities, and what the kernels see of them."""
        super()._allocate()
        n = self.model.numbers
        self.wake = self._zeros(self.capacity["pairs"], n.real)
        self.rows = self.k_rows.Rows()
        kinds = {
            "pair": wp.int32, "candidate": wp.int32, "first": wp.vec3i, "second": wp.vec3i, "first_weight": n.vec,
            "second_weight": n.vec, "rigid": wp.vec2i, "place": n.vec, "normal": n.vec, "gap": n.real,
            "thickness": n.real, "least": n.real, "mass": n.real, "friction": n.real, "centre": n.vec,
            "turning": self.k_sides.inertia, "impulse": n.real, "rub": n.vec,
        }  # fmt: skip
        self.rows.count = self._zeros(1, wp.int32)
        for name, kind in kinds.items():
            setattr(self.rows, name, self._zeros(self.capacity["rows"], kind))
        self._bind()

    def _bind(self) -> None:
        """The arrays of others that the kernels see, as structs."""
        s, m, r, w = self.state, self.model, self.model.rigids, self.scratch
        rigid = s.rigid
        movers = self.k_sides.Movers()
        movers.points, movers.v, movers.inverse_mass = s.points, s.point_v, m.inverse_mass
        movers.pressed = w.wall_contact_normal
        movers.x, movers.rigid_v, movers.angular, movers.spin = rigid.x, rigid.v, rigid.angular, rigid.spin
        movers.rigid_mass, movers.world_inertia = r.inverse_mass, w.rigid.world_inertia
        per_body = m.numbers.dim + self.k_sides.spins
        shared = self.parallel
        movers.rows = self._zeros(self.soft + self.rigid if shared else 0, wp.int32)
        movers.sums = self._zeros(self.soft * m.numbers.dim + self.rigid * per_body if shared else 0, wp.int64)
        self.movers = movers
        self.rounds, self.again, self.jammed, self.held = (self._zeros(1, wp.int32) for _ in range(4))  # of `limit`
        self.drift = self._zeros(self.soft, m.numbers.vec)
        self.company, self.drifting = self._zeros(self.total, wp.int32), self._zeros(self.total, wp.int32)
        self.braked = self._zeros(self.total, m.numbers.real)
        self.scale, self.next_scale = (self._zeros(self.soft, m.numbers.real) for _ in range(2))
        self.next_rigid_scale = self._zeros(self.rigid, m.numbers.real)
        moves = self.k_limit.Moves()
        moves.points, moves.move, moves.scale, moves.next_scale = s.points, w.move, self.scale, self.next_scale
        moves.point_v, moves.v_free = s.point_v, w.v_free
        moves.inverse_mass, moves.point_body = m.inverse_mass, self.surfaces.point_body
        moves.rigid_index, moves.x, moves.v, moves.spin = self.surfaces.rigid_index, rigid.x, rigid.v, rigid.spin
        moves.push_move, moves.push_turn, moves.rigid_mass = w.rigid.push_move, w.rigid.push_turn, r.inverse_mass
        moves.rigid_scale, moves.next_rigid_scale, moves.radius = w.rigid.scale, self.next_rigid_scale, r.radius
        moves.braked, moves.drift = self.braked, self.drift
        self.moves = moves

    @property
    def count(self) -> Any:
        """Number of contacts of this substep."""
        return self.rows.count

    def hopeless(self) -> bool:
        """Whether a surface is crumpled beyond contact."""
        return self.crumpled

    def look(self) -> None:
        """Whether a lone body could touch itself in the next substeps."""
        f, flag = self.surfaces, self.scratch.may_self_touch
        self.mark_simple()
        flag.zero_()
        self.launch(self.k_simple.any_touchy, self.total, f.self_contact, self.simple, flag)

    def begin_frame(self) -> None:
        """The way out of tangles, once per frame."""
        f, k = self.surfaces, self.k_tangles
        self.launch(
            k.judge_tangles, len(self.tangles), self.state.points, f.faces, f.face_start, f.point_start, f.point_end,
            self.radius, f.edge_size, self.low, self.high, self.tangle_count, self.tangles, self.way_out,
            self.way_speed, self.freed,
        )  # fmt: skip
        self.launch(
            k.drop_freed, 1, self.tangle_count, self.tangles, self.way_out, self.way_speed, self.freed, self.stale
        )

    # the stages of a substep ----------------------------------------------------------------------------------------

    def find(self) -> None:
        """The contacts of this substep."""
        self.renew()
        self.part_tangles()
        self.rows.count.zero_()
        if self.parallel:
            self.movers.rows.zero_()
        m, f, r = self.model, self.surfaces, self.model.rigids
        self.walk(
            self.k_rows.make_rows, self.movers, self.rows, f.rest, f.point_body, f.faces, f.opposite, f.owns, f.edges,
            f.soft_index, f.rigid_index, f.thickness, r.radius, m.friction, r.friction, m.restitution, r.restitution,
            self.scratch.dt, self.pairs, self.tangled, self.travel, self.reach, self.candidate_count, self.candidates,
            self.asleep, self.pressing, self.overflow,
        )  # fmt: skip

    def part_tangles(self) -> None:
        """Lead tangled bodies apart."""
        f, s = self.surfaces, self.scratch
        self.launch(
            self.k_tangles.part_tangles, 1, self.movers, s.move, s.rigid.push_move, s.dt, self.mean,
            f.point_start, f.point_end, f.rigid_index, self.tangle_count, self.tangles, self.way_out, self.way_speed,
        )  # fmt: skip

    def warm_start(self) -> None:
        """Begin with the forces of the substep before."""
        self.walk(self.k_solve.warm_rows, self.movers, self.rows)
        self._collect()

    def solve(self) -> None:
        """One round of impulses."""
        self.walk(self.k_solve.solve_rows, self.movers, self.rows)
        self._collect()

    def _collect(self) -> None:
        if self.parallel:
            self.launch(self.k_solve.collect, self.soft + self.rigid, self.movers, self.soft)

    def finish(self) -> None:
        """Displacements follow the impulses, and skins that were used up are given back."""
        s, w, r = self.state, self.scratch, self.scratch.rigid
        self.walk(self.k_solve.keep_rows, self.rows, w.dt, self.pressing)
        self.launch(self.k_solve.carry, self.soft, w.dt, s.v, w.v_free, self.model.inverse_mass, w.move)
        self.walk(self.k_solve.push_rows, self.movers, self.rows, w.move, r.push_move, r.push_turn, w.dt)
        if self.parallel:
            pushed = (w.move, r.push_move, r.push_turn)
            self.launch(self.k_solve.collect_push, self.soft + self.rigid, self.movers, self.soft, *pushed)

    def sweep(self) -> None:
        """Cut movements that would let features pass through each other; count what lists have left."""
        k, s, w = self.k_limit, self.state, self.scratch
        self.measure()
        wp.copy(w.v_free, s.v)
        if self.parallel:
            self.movers.rows.zero_()
        threads = max(self.soft + self.rigid, self.total)
        self.launch(
            k.begin_limit,
            threads,
            self.moves,
            self.soft,
            self.total,
            self.candidate_count,
            self.rounds,
            self.again,
            self.jammed,
        )
        wp.capture_while(self.again, self._limit_round)
        wp.capture_if(self.jammed, on_true=self._cut)
        self.launch(self.k_solve.carry, self.soft, w.dt, s.v, w.v_free, self.model.inverse_mass, w.move)
        wp.capture_if(self.held, on_true=self._hold)
        self.walk(
            k.add_travel, self.total, self.mean, self.spread, self.braked, self.wandered, self.deformed,
            self.pair_count, self.pairs, self.travel,
        )  # fmt: skip

    def _limit_round(self) -> None:
        k, f = self.k_limit, self.surfaces
        self.walk(
            k.begin_round, self.moves, self.mean, self.spread, f.thickness, self.pair_count, self.pairs, self.tangled,
            self.travel, self.wake, self.rounds, self.again, self.jammed,
        )  # fmt: skip
        self.walk(
            k.limit_moves, self.moves, self.movers, f.faces, f.edges, self.scratch.dt, self.pairs, self.travel,
            self.wake, f.thickness, self.candidate_count, self.candidates, self.asleep, self.rounds, self.again,
            self.jammed,
        )  # fmt: skip
        self._collect()
        self.launch(k.end_round, self.soft + self.rigid, self.moves, self.soft)

    def _cut(self) -> None:
        """Impulses were not enough: cut movements, but not what bodies do as a whole."""
        f, k, m, s, w = self.surfaces, self.k_drift, self.model, self.state, self.scratch
        self.company.zero_()
        self.walk(k.mark_company, self.pair_count, self.pairs, self.company)
        self.launch_blocks(
            k.find_drift, self.total, f.point_start, f.point_end, f.rigid_index, self.company, s.points, s.point_v,
            m.inverse_mass, w.wall_contact_normal, s.walls.normal, s.walls.point, w.dt, self.drift, self.drifting,
        )  # fmt: skip
        self.again.fill_(1)
        wp.capture_while(self.again, self._limit_round)
        self.held.fill_(1)

    def _hold(self) -> None:
        """The cuts take effect on movements and velocities."""
        f, m, s, w = self.surfaces, self.model, self.state, self.scratch
        self.launch_blocks(
            self.k_drift.hold, self.total, f.point_start, f.point_end, f.rigid_index, self.drifting, s.points,
            m.inverse_mass, w.dt, self.drift, self.scale, m.body, m.size, s.v, w.move, FINE, NOT_FINITE, w.status,
        )  # fmt: skip
        self.held.zero_()

    # for others -----------------------------------------------------------------------------------------------------

    def found(self) -> dict[str, npt.NDArray[Any]]:
        """The contacts of the last substep that carry an impulse (NumPy)."""
        r = self.rows
        count = min(int(r.count.numpy()[0]), self.capacity["rows"])
        impulse = np.asarray(r.impulse.numpy()[:count], np.float64)
        active = impulse > 0.0
        pair = self.pairs.numpy()[r.pair.numpy()[:count]][active]
        gap = np.asarray(r.gap.numpy()[:count], np.float64)[active]
        return {
            "pair": pair,
            "point": np.asarray(r.place.numpy()[:count], np.float64)[active],
            "normal": np.asarray(r.normal.numpy()[:count], np.float64)[active],
            "depth": np.asarray(r.thickness.numpy()[:count], np.float64)[active] - gap,
            "impulse": impulse[active],
        }
