"""Contact by all features (X1, the default): search, contacts, impulses, and the guarantee that nothing passes through.

measure -> (lists, if stale) -> contacts -> rounds of impulses -> displacements -> (walls) -> limit -> move
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from turgor.contact import drift, limit, nearby, rows, sides, simple, slabs, solve, tangles, tree
from turgor.model.model import Model
from turgor.model.state import State
from turgor.model.surfaces import Surfaces

__all__ = ["FeatureContacts"]

BLOCK = 64  # threads per body or pair of bodies on a GPU
CRUMPLED = 1000  # candidates per point from which on a surface is no longer one; heaps have below 10
THREADS = 1 << 16  # that share a list on a GPU; on the CPU one thread walks it


class FeatureContacts:
    """Launches the kernels of one contact stage on a model and a state."""

    # lists that later substeps rely on; their lengths are in pair_count and candidate_count
    PROPER = (
        "pair_count", "pairs", "margin", "travel", "tangled", "candidate_count", "candidates", "asleep", "pressing",
        "wandered", "room", "low", "high", "stale", "simple", "deformed", "untested", "tangle_count", "tangles",
        "way_out", "way_speed",
    )  # fmt: skip

    def __init__(self, model: Model, state: State, surfaces: Surfaces, states: tuple[int, int]) -> None:
        """states: what `state.status` says of a frame that is fine, and of one that blew up."""
        self.states = states
        self.model, self.state, self.surfaces = model, state, surfaces
        self.device = model.device
        n, self.parallel = model.numbers, model.device.is_cuda
        self.k_near, self.k_simple, self.k_slabs = nearby.kernels(n), simple.kernels(n), slabs.kernels(n)
        self.k_sides, self.k_rows = sides.kernels(n, self.parallel), rows.kernels(n, self.parallel)
        self.k_solve, self.k_limit = solve.kernels(n, self.parallel), limit.kernels(n, self.parallel)
        self.k_tree, self.k_drift = tree.kernels(n), drift.kernels(n, self.parallel)
        self.k_tangles = tangles.kernels(n, self.parallel)
        self.total = surfaces.bodies * model.worlds  # contact bodies
        self.soft, self.rigid = model.vertices * model.worlds, model.rigids.total
        self.block = BLOCK if self.parallel else 1
        self.stride = THREADS if self.parallel else 1
        per_body = {"mean": n.vec, "spread": n.real, "wandered": n.real, "room": n.real, "low": n.vec, "high": n.vec}
        for name, kind in {**per_body, "simple": wp.int32, "braked": n.real, "deformed": n.real}.items():
            setattr(self, name, self._zeros(self.total, kind))
        for name in (
            "pair_count",
            "candidate_count",
            "stale",
            "rounds",
            "again",
            "jammed",
            "doubt",
            "untested",
            "tangle_count",
            "made",
            "some_stale",
            "kept",
            "tree_wanted",
        ):
            setattr(self, name, self._zeros(1, wp.int32))
        self.overflow = self._zeros(5, wp.int32)  # a flag, then how much was needed of each list that was too short
        self.scale, self.next_scale = self._zeros(self.soft, n.real), self._zeros(self.soft, n.real)
        self.next_rigid_scale = self._zeros(self.rigid, n.real)
        self.drift, self.company = self._zeros(self.soft, n.vec), self._zeros(self.total, wp.int32)
        self.centre, self.mass = self._zeros(self.total, n.vec), self._zeros(self.total, n.real)
        self.inverse, self.held = self._zeros(self.total, self.k_sides.inertia), self._zeros(1, wp.int32)
        self.lowers = self._zeros(len(surfaces.faces), wp.vec3f)
        self.uppers = self._zeros(len(surfaces.faces), wp.vec3f)
        radii = [0.0] * surfaces.soft + [collider.radius for collider in model.rigids.collision]
        self.radius = model.real_array(np.tile(radii, model.worlds))  # m, of contact bodies
        self._bound_faces()
        self.bvh = wp.Bvh(self.lowers, self.uppers, groups=surfaces.face_body)
        self.capacity = {"pairs": 8 * self.total + 64, "candidates": 4 * surfaces.points + 1024,
                         "rows": surfaces.points + 1024, "tangles": 4 * self.total + 64}  # fmt: skip
        self._allocate()
        self.forget()

    # set in __init__ and _allocate, for the type checker
    mean: Any
    spread: Any
    wandered: Any
    room: Any
    low: Any
    high: Any
    simple: Any
    braked: Any
    deformed: Any
    doubt: Any
    untested: Any
    tangle_count: Any
    made: Any
    some_stale: Any
    kept: Any
    tree_wanted: Any
    pair_count: Any
    candidate_count: Any
    stale: Any
    rounds: Any
    again: Any
    jammed: Any

    def _zeros(self, size: int, kind: Any) -> Any:
        return wp.zeros(size, dtype=kind, device=self.device)

    def _allocate(self) -> None:
        """Lists of the present capacities."""
        n, size = self.model.numbers, self.capacity
        self.pairs = self._zeros(size["pairs"], wp.vec2i)
        self.margin, self.travel = self._zeros(size["pairs"], n.real), self._zeros(size["pairs"], n.real)
        self.reach, self.tangled = self._zeros(size["pairs"], n.real), self._zeros(size["pairs"], wp.int32)
        self.tangles, self.way_out = self._zeros(size["tangles"], wp.vec2i), self._zeros(size["tangles"], n.vec)
        self.way_speed, self.freed = self._zeros(size["tangles"], n.real), self._zeros(size["tangles"], wp.int32)
        self.pair_stale = self._zeros(size["pairs"], wp.int32)
        self.slab_lists = self._zeros(6 * slabs.LENGTH * size["pairs"], wp.int32)
        self.slab_counts, self.by_tree = self._zeros(6 * size["pairs"], wp.int32), self._zeros(size["pairs"], wp.int32)
        self.kept_candidates = self._zeros(size["candidates"], wp.vec4i)
        self.kept_asleep = self._zeros(size["candidates"], n.real)
        self.pressing = self._zeros(size["candidates"], n.real)
        self.kept_pressing = self._zeros(size["candidates"], n.real)
        self.across = self._zeros(size["pairs"], n.vec)
        self.near_end, self.far_end = self._zeros(size["pairs"], n.real), self._zeros(size["pairs"], n.real)
        self.candidates = self._zeros(size["candidates"], wp.vec4i)
        self.asleep = self._zeros(size["candidates"], n.real)
        self.rows = self.k_rows.Rows()
        kinds = {
            "pair": wp.int32, "candidate": wp.int32, "first": wp.vec3i, "second": wp.vec3i, "first_weight": n.vec,
            "second_weight": n.vec, "rigid": wp.vec2i, "place": n.vec, "normal": n.vec, "gap": n.real,
            "thickness": n.real, "least": n.real, "mass": n.real, "friction": n.real, "centre": n.vec,
            "turning": self.k_sides.inertia, "impulse": n.real, "rub": n.vec,
        }  # fmt: skip
        self.rows.count = self._zeros(1, wp.int32)
        for name, kind in kinds.items():
            setattr(self.rows, name, self._zeros(size["rows"], kind))
        self._bind()

    def _bind(self) -> None:
        """The arrays of others that the kernels see, as structs."""
        s, m, r = self.state, self.model, self.model.rigids
        movers = self.k_sides.Movers()
        movers.points, movers.v, movers.inverse_mass = s.points, s.point_v, m.inverse_mass
        movers.pressed = s.pressed
        movers.x, movers.rigid_v, movers.angular, movers.spin = r.x, r.v, r.angular, r.spin
        movers.rigid_mass, movers.world_inertia = r.inverse_mass, r.world_inertia
        per_body = m.numbers.dim + self.k_sides.spins
        shared = self.parallel
        movers.rows = self._zeros(self.soft + self.rigid if shared else 0, wp.int32)
        movers.sums = self._zeros(self.soft * m.numbers.dim + self.rigid * per_body if shared else 0, wp.int64)
        self.movers = movers
        moves = self.k_limit.Moves()
        moves.points, moves.move, moves.scale, moves.next_scale = s.points, s.move, self.scale, self.next_scale
        moves.point_v, moves.v_free = s.point_v, s.v_free
        moves.inverse_mass, moves.point_body = m.inverse_mass, self.surfaces.point_body
        moves.rigid_index, moves.x, moves.v, moves.spin = self.surfaces.rigid_index, r.x, r.v, r.spin
        moves.push_move, moves.push_turn, moves.rigid_mass = r.push_move, r.push_turn, r.inverse_mass
        moves.rigid_scale, moves.next_rigid_scale, moves.radius = r.scale, self.next_rigid_scale, r.radius
        moves.braked, moves.drift = self.braked, self.drift
        self.moves = moves

    def forget(self) -> None:
        """The lists no longer hold: positions were set from outside."""
        self.stale.fill_(1)
        self.untested.fill_(1)
        self.tangle_count.zero_()
        self.pair_count.zero_()
        self.candidate_count.zero_()
        self.room.fill_(-1.0)

    def fit(self, arrays: dict[str, npt.NDArray[Any]]) -> None:
        """Capacities of saved lists."""
        self.capacity |= {name: len(arrays[name]) for name in ("pairs", "candidates", "tangles")}
        self._allocate()

    def grow(self) -> None:
        """Larger buffers where one was too small: behind the flag, `overflow` says how much was needed of each."""
        for name, wanted in zip(("pairs", "candidates", "rows", "tangles"), self.overflow.numpy()[1:], strict=True):
            if wanted > self.capacity[name]:
                self.capacity[name] = int(1.5 * wanted) + 64
        self._allocate()
        self.overflow.zero_()
        self.forget()

    @property
    def crumpled(self) -> bool:
        """Whether so much is near so much that a surface is no longer one."""
        return int(self.overflow.numpy()[2:].max()) > CRUMPLED * (self.surfaces.points + 100)

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

    def launch(self, kernel: Any, dim: int, *inputs: Any) -> None:
        """One thread per element."""
        wp.launch(kernel, dim=dim, inputs=list(inputs), device=self.device)

    def launch_blocks(self, kernel: Any, dim: int, *inputs: Any) -> None:
        """One block per element; a block is a single thread on the CPU."""
        wp.launch_tiled(kernel, dim=[dim], inputs=list(inputs), block_dim=self.block, device=self.device)

    def walk(self, kernel: Any, *inputs: Any) -> None:
        """Threads that share a list whose length only the device knows."""
        wp.launch(kernel, dim=self.stride, inputs=[*inputs, self.stride], device=self.device)

    def find(self) -> None:
        """The contacts of this substep."""
        self.measure()
        self.walk(
            self.k_near.judge, self.total, self.mean, self.spread, self.wandered, self.room, self.pair_count,
            self.pairs, self.margin, self.travel, self.reach, self.stale, self.pair_stale,
            self.some_stale, self.surfaces.edge_size, self.deformed,
            self.doubt,
        )  # fmt: skip
        wp.capture_if(self.doubt, on_true=self.mark_simple)
        wp.capture_if(self.stale, on_true=self.make_lists, on_false=self.renew_some)
        self.part_tangles()
        self.rows.count.zero_()
        if self.parallel:
            self.movers.rows.zero_()
        m, f, r = self.model, self.surfaces, self.model.rigids
        self.walk(
            self.k_rows.make_rows, self.movers, self.rows, f.rest, f.point_body, f.faces, f.opposite, f.owns, f.edges,
            f.soft_index, f.rigid_index, f.thickness, r.radius, m.friction, r.friction, m.restitution, r.restitution,
            self.state.dt, self.pairs, self.tangled, self.travel, self.reach, self.candidate_count, self.candidates,
            self.asleep, self.pressing, self.overflow,
        )  # fmt: skip

    def measure(self) -> None:
        """How far bodies move in this substep."""
        f, r, s = self.surfaces, self.model.rigids, self.state
        self.launch_blocks(
            self.k_near.measure_motion, self.total, f.point_start, f.point_end, f.rigid_index, s.move, s.dt, r.v,
            r.spin, r.size, r.push_move, r.push_turn, self.mean, self.spread,
        )  # fmt: skip

    def _bound_faces(self) -> None:
        f = self.surfaces
        self.launch(self.k_tree.bound_faces, len(f.faces), self.state.points, f.faces, self.lowers, self.uppers)

    def mark_simple(self) -> None:
        """Which bodies cannot touch themselves."""
        f = self.surfaces
        self.launch_blocks(
            self.k_simple.mark_simple, self.total, self.state.points, f.faces, f.face_start, f.point_start,
            f.point_end, f.closed, f.self_contact, self.simple, self.deformed, self.stale,
        )  # fmt: skip
        self.doubt.zero_()

    def make_lists(self) -> None:
        """Pairs of bodies, then pairs of features."""
        f, k, x = self.surfaces, self.k_near, self.state.points
        self.launch_blocks(
            k.bound_bodies, self.total, f.point_start, f.point_end, x, f.thickness, f.edge_size, self.mean,
            self.spread, self.low, self.high, self.wandered, self.room, self.made,
        )  # fmt: skip
        self.mark_simple()
        self.pair_count.zero_()
        self.launch(
            k.list_pairs, self.total, f.bodies, f.soft, f.stranger_start, f.stranger, self.low, self.high,
            f.self_contact, self.simple, f.edge_size, self.mean, self.spread, self.pair_count, self.pairs, self.margin,
            self.travel, self.reach, self.pair_stale, self.overflow,
        )  # fmt: skip
        self.candidate_count.zero_()
        self.gather()
        self.stale.zero_()
        wp.capture_if(self.untested, on_true=self.find_tangles)
        self.walk(
            self.k_tangles.mark_tangled, self.pair_count, self.pairs, self.tangle_count, self.tangles, self.tangled
        )

    def renew_some(self) -> None:
        """Unless all lists are new."""
        wp.capture_if(self.some_stale, on_true=self.renew_lists)

    def renew_lists(self) -> None:
        """Pairs of features of those pairs of bodies that have used up their margin."""
        k, f = self.k_near, self.surfaces
        listed = (self.candidate_count, self.candidates, self.asleep, self.pressing)
        aside = (self.kept, self.kept_candidates, self.kept_asleep, self.kept_pressing)
        self.walk(
            k.renew_pairs, f.edge_size, self.mean, self.spread, self.pair_count, self.pairs, self.margin, self.travel,
            self.reach, self.pair_stale, self.kept,
        )  # fmt: skip
        self.walk(k.sift, self.pair_stale, *listed, *aside)
        self.walk(k.put_back, *aside, *listed)
        self.gather()

    def gather(self) -> None:
        """Candidates of all stale pairs: by comparing short lists, or by a BVH over the faces."""
        f, k, x = self.surfaces, self.k_slabs, self.state.points
        capacity = self.capacity["pairs"]
        slabs = (self.across, self.near_end, self.far_end)
        stale_pairs = (self.pair_count, self.pairs, self.pair_stale)
        lists = (self.slab_lists, self.slab_counts)
        self.slab_counts.zero_()
        self.launch_blocks(
            self.k_near.slab_pairs, capacity, x, f.point_start, f.point_end, self.low, self.high, *stale_pairs, *slabs
        )
        self.launch_blocks(
            k.fill_slabs, capacity, x, f.point_start, f.point_end, f.faces, f.edges, f.around_start, f.around,
            f.spokes_start, f.spokes, f.thickness, *stale_pairs, self.margin, *slabs, *lists,
        )  # fmt: skip
        self.walk(k.choose_way, *stale_pairs, self.slab_counts, self.by_tree, self.tree_wanted)
        self.launch_blocks(
            k.cross_slabs, capacity, x, f.faces, f.edges, f.thickness, *stale_pairs, self.margin, *lists, self.by_tree,
            self.candidate_count, self.candidates, self.asleep, self.pressing, self.overflow,
        )  # fmt: skip
        wp.capture_if(self.tree_wanted, on_true=self.gather_by_tree)
        self.pair_stale.zero_()
        self.some_stale.zero_()

    def gather_by_tree(self) -> None:
        """Candidates of large bodies, and of bodies with themselves."""
        f, k, x = self.surfaces, self.k_tree, self.state.points
        self._bound_faces()
        self.bvh.refit()
        near = (self.low, self.high, f.thickness, self.pair_count, self.pairs, self.by_tree, self.margin)
        near += (self.across, self.near_end, self.far_end)
        found = (self.candidate_count, self.candidates, self.asleep, self.pressing, self.overflow)
        capacity = self.capacity["pairs"]
        self.launch_blocks(
            k.collect_faces, capacity, self.bvh.id, x, f.faces, f.point_start, f.point_end, *near, *found
        )
        if self.model.numbers.dim == 3:
            self.launch_blocks(
                k.collect_edges, capacity, self.bvh.id, x, f.edges, f.edge_start, f.face_edges, *near, *found
            )
        self.tree_wanted.zero_()

    def find_tangles(self) -> None:
        """Bodies that are inside each other from the start."""
        f = self.surfaces
        self.launch(
            self.k_tangles.find_tangles, self.capacity["pairs"], self.state.points, f.faces, f.face_start,
            f.point_start, f.point_end, f.closed, self.radius, self.low, self.high, self.pair_count,
            self.pairs, self.tangle_count, self.tangles, self.overflow,
        )  # fmt: skip
        self.untested.zero_()

    def part_tangles(self) -> None:
        """Lead tangled bodies apart."""
        f, s = self.surfaces, self.state
        self.launch(
            self.k_tangles.part_tangles, 1, self.movers, s.move, self.model.rigids.push_move, s.dt, self.mean,
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

    def carry(self) -> None:
        """Displacements follow the impulses, and skins that were used up are given back."""
        s, r = self.state, self.model.rigids
        self.walk(self.k_solve.keep_rows, self.rows, s.dt, self.pressing)
        self.launch(self.k_solve.carry, self.soft, s.dt, s.v, s.v_free, self.model.inverse_mass, s.move)
        self.walk(self.k_solve.push_rows, self.movers, self.rows, s.move, r.push_move, r.push_turn, s.dt)
        if self.parallel:
            pushed = (s.move, r.push_move, r.push_turn)
            self.launch(self.k_solve.collect_push, self.soft + self.rigid, self.movers, self.soft, *pushed)

    def limit(self) -> None:
        """Cut movements that would let features pass through each other; count what lists have left."""
        k, s = self.k_limit, self.state
        self.measure()
        wp.copy(s.v_free, s.v)
        threads = max(self.soft + self.rigid, self.total)
        self.launch(k.begin_limit, threads, self.moves, self.soft, self.total, self.rounds, self.again, self.jammed)
        wp.capture_while(self.again, self._limit_round)
        wp.capture_if(self.jammed, on_true=self._cut)
        self.launch(self.k_solve.carry, self.soft, s.dt, s.v, s.v_free, self.model.inverse_mass, s.move)
        wp.capture_if(self.held, on_true=self._hold)
        self.walk(
            k.add_travel, self.total, self.mean, self.spread, self.braked, self.wandered, self.deformed,
            self.pair_count, self.pairs, self.travel,
        )  # fmt: skip

    def _limit_round(self) -> None:
        k, f = self.k_limit, self.surfaces
        self.launch(k.begin_round, 1, self.rounds, self.again, self.jammed)
        self.walk(
            k.limit_moves, self.moves, self.movers, f.faces, f.edges, self.state.dt, self.mean, self.spread, self.pairs,
            self.tangled, self.travel, f.thickness, self.candidate_count, self.candidates, self.asleep, self.rounds,
            self.again, self.jammed,
        )  # fmt: skip
        self._collect()
        self.launch(k.end_round, self.soft + self.rigid, self.moves, self.soft)

    def _cut(self) -> None:
        """Impulses were not enough: cut movements, but not what bodies do as a whole."""
        f, k, m, s = self.surfaces, self.k_drift, self.model, self.state
        self.company.zero_()
        self.walk(k.mark_company, self.pair_count, self.pairs, self.company)
        self.launch_blocks(
            k.find_drift, self.total, f.point_start, f.point_end, f.rigid_index, self.company, s.points, s.point_v,
            m.inverse_mass, s.pressed, m.walls.normal, m.walls.point, s.dt, self.centre, self.mass, self.inverse,
            self.drift,
        )  # fmt: skip
        self.again.fill_(1)
        wp.capture_while(self.again, self._limit_round)
        self.held.fill_(1)

    def _hold(self) -> None:
        """The cuts take effect on movements and velocities."""
        f, m, s = self.surfaces, self.model, self.state
        self.launch_blocks(
            self.k_drift.hold, self.total, f.point_start, f.point_end, f.rigid_index, s.points, m.inverse_mass, s.dt,
            self.centre, self.mass, self.inverse, self.drift, self.scale, m.body, m.size, s.v, s.move, *self.states,
            s.status,
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
