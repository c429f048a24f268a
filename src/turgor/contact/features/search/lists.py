"""Lists of features that may touch soon: made when bodies move, kept for many substeps (the search of X1).

measure -> judge -> (lists of the pairs that are stale; of all, if a body has left its bounds)
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from turgor.contact.features.search import body_pairs, bvh, candidates, self_lists, slabs, star_shaped
from turgor.contact.features.search.patches import Patches
from turgor.contact.features.solve import overlaps
from turgor.model.model import Model
from turgor.model.scratch import Scratch
from turgor.model.state import State
from turgor.model.surfaces import Surfaces

__all__ = ["FeatureLists"]

BLOCK = 64  # threads per body or pair of bodies on a GPU
CRUMPLED = 1000  # candidates per point from which on a surface is no longer one; heaps have below 10
THREADS = 1 << 16  # that share a list on a GPU; on the CPU one thread walks it


class FeatureLists:
    """Launches the kernels that keep the lists of candidates of a model and a state."""

    # lists that later substeps rely on; their lengths are in pair_count and candidate_count
    SAVED: tuple[str, ...] = (
        "pair_count", "pairs", "margin", "travel", "tangled", "candidate_count", "candidates", "asleep", "pressing",
        "wandered", "room", "low", "high", "stale", "simple", "deformed", "untested", "tangle_count", "tangles",
        "way_out", "way_speed", "own_seen", "own_margin", "own_low", "own_high",
    )  # fmt: skip

    def __init__(self, model: Model, state: State, scratch: Scratch, surfaces: Surfaces) -> None:
        self.model, self.state, self.scratch, self.surfaces = model, state, scratch, surfaces
        self.device = model.device
        n, self.parallel = model.numbers, model.device.is_cuda
        self.k_near, self.k_pairs, self.k_simple = candidates.kernels(n), body_pairs.kernels(n), star_shaped.kernels(n)
        self.k_slabs, self.k_tree, self.k_own = slabs.kernels(n, self.parallel), bvh.kernels(n), self_lists.kernels(n)
        self.k_tangles = overlaps.kernels(n, self.parallel)
        self.total = surfaces.bodies * model.worlds  # contact bodies
        self.soft, self.rigid = model.vertices * model.worlds, model.rigids.total
        self.block = BLOCK if self.parallel else 1
        self.stride = THREADS if self.parallel else 1
        per_body = {"mean": n.vec, "spread": n.real, "wandered": n.real, "room": n.real, "low": n.vec, "high": n.vec}
        for name, kind in {**per_body, "simple": wp.int32, "deformed": n.real, "first_pair": wp.int32}.items():
            setattr(self, name, self._zeros(self.total, kind))
        for name in (
            "pair_count",
            "candidate_count",
            "stale",
            "doubt",
            "untested",
            "tangle_count",
            "made",
            "some_stale",
            "kept",
            "tree_wanted",
            "second_look",
            "own_wanted",
        ):
            setattr(self, name, self._zeros(1, wp.int32))
        self.overflow = self._zeros(5, wp.int32)  # a flag, then how much was needed of each list that was too short
        self.lowers = self._zeros(len(surfaces.faces), wp.vec3f)
        self.uppers = self._zeros(len(surfaces.faces), wp.vec3f)
        radii = [0.0] * surfaces.soft + [collider.radius for collider in model.rigids.collision]
        self.radius = model.real_array(np.tile(radii, model.worlds))  # m, of contact bodies
        self.edge_boxes = [self._zeros(slabs.LENGTH, n.vec) for _ in range(2)]
        self.patches = own = Patches(model, surfaces, self.soft)
        self.own_seen, self.own_margin, self.own_low, self.own_high = own.seen, own.margin, own.low, own.high
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
    first_pair: Any
    deformed: Any
    doubt: Any
    untested: Any
    tangle_count: Any
    made: Any
    some_stale: Any
    kept: Any
    tree_wanted: Any
    second_look: Any
    own_wanted: Any
    pair_count: Any
    candidate_count: Any
    stale: Any

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
        aside = size["candidates"] if self.parallel else 0
        self.kept_candidates = self._zeros(aside, wp.vec4i)
        self.kept_asleep, self.kept_pressing = self._zeros(aside, n.real), self._zeros(aside, n.real)
        self.pressing = self._zeros(size["candidates"], n.real)
        self.across = self._zeros(size["pairs"], n.vec)
        self.near_end, self.far_end = self._zeros(size["pairs"], n.real), self._zeros(size["pairs"], n.real)
        self.candidates = self._zeros(size["candidates"], wp.vec4i)
        self.asleep = self._zeros(size["candidates"], n.real)
        self.old_second, self.next_pair = self._zeros(size["pairs"], wp.int32), self._zeros(size["pairs"], wp.int32)
        self.old_margin, self.old_travel = self._zeros(size["pairs"], n.real), self._zeros(size["pairs"], n.real)
        self.place = self._zeros(size["pairs"], wp.int32)

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

    # launching --------------------------------------------------------------------------------------------------------

    def launch(self, kernel: Any, dim: int, *inputs: Any) -> None:
        """One thread per element."""
        wp.launch(kernel, dim=dim, inputs=list(inputs), device=self.device)

    def launch_blocks(self, kernel: Any, dim: int, *inputs: Any) -> None:
        """One block per element; a block is a single thread on the CPU."""
        wp.launch_tiled(kernel, dim=[dim], inputs=list(inputs), block_dim=self.block, device=self.device)

    def walk(self, kernel: Any, *inputs: Any) -> None:
        """Threads that share a list whose length only the device knows."""
        wp.launch(kernel, dim=self.stride, inputs=[*inputs, self.stride], device=self.device)

    # lists ------------------------------------------------------------------------------------------------------------

    def measure(self) -> None:
        """How far bodies move in this substep."""
        f, r, s, moving = self.surfaces, self.model.rigids, self.scratch, self.state.rigid
        self.launch_blocks(
            self.k_near.measure_motion, self.total, f.point_start, f.point_end, f.rigid_index, s.move, s.dt, moving.v,
            moving.spin, r.size, s.rigid.push_move, s.rigid.push_turn, self.mean, self.spread,
        )  # fmt: skip

    def renew(self) -> None:
        """Lists that hold for this substep."""
        self.measure()
        self.walk(
            self.k_pairs.judge, self.total, self.mean, self.spread, self.wandered, self.room, self.pair_count,
            self.pairs, self.margin, self.travel, self.reach, self.stale, self.pair_stale,
            self.some_stale, self.surfaces.edge_size, self.deformed, self.doubt, self.second_look,
        )  # fmt: skip
        wp.capture_if(self.doubt, on_true=self.mark_simple)
        wp.capture_if(self.second_look, on_true=self.look_again)
        wp.capture_if(self.stale, on_true=self.make_lists, on_false=self.renew_some)

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
        f, k, x = self.surfaces, self.k_pairs, self.state.points
        old = (self.old_second, self.old_margin, self.old_travel, self.first_pair, self.next_pair, self.place)
        self.launch_blocks(
            k.bound_bodies, self.total, f.point_start, f.point_end, x, f.thickness, f.edge_size, self.mean,
            self.spread, self.low, self.high, self.wandered, self.room, self.first_pair, self.made,
        )  # fmt: skip
        self.mark_simple()
        self.walk(k.set_pairs_aside, self.pair_count, self.pairs, self.margin, self.travel, *old, self.kept)
        self.pair_count.zero_()
        self.launch(
            k.list_pairs, self.total, f.bodies, f.soft, f.stranger_start, f.stranger, self.low, self.high,
            f.self_contact, self.simple, f.edge_size, self.mean, self.spread, *old, self.pair_count, self.pairs,
            self.margin, self.travel, self.reach, self.pair_stale, self.overflow,
        )  # fmt: skip
        self._sift()
        self.gather()
        self.stale.zero_()
        wp.capture_if(self.untested, on_true=self.find_tangles)
        self.walk(
            self.k_tangles.mark_tangled, self.pair_count, self.pairs, self.tangle_count, self.tangles, self.tangled
        )

    def look_again(self) -> None:
        """Whether a body whose margin with itself seems used up needs a new list."""
        k, own = self.k_own, self.patches
        moved = (own.mean, own.spread)
        self.launch(k.measure_patches, own.count, own.corner_range, own.corners, self.state.points, own.seen, *moved)
        self.launch_blocks(
            k.look_again, self.capacity["pairs"], own.start, own.low, own.high, *moved, own.margin,
            self.surfaces.thickness, self.pair_count, self.pairs, self.pair_stale, self.travel, self.reach,
            self.margin, self.some_stale,
        )  # fmt: skip
        self.second_look.zero_()

    def renew_some(self) -> None:
        """Unless all lists are new."""
        wp.capture_if(self.some_stale, on_true=self.renew_lists)

    def renew_lists(self) -> None:
        """Pairs of features of those pairs of bodies that have used up their margin."""
        self.walk(
            self.k_pairs.renew_pairs, self.surfaces.edge_size, self.mean, self.spread, self.pair_count, self.pairs,
            self.margin, self.travel, self.reach, self.pair_stale, self.place, self.kept,
        )  # fmt: skip
        self._sift()
        self.gather()

    def _sift(self) -> None:
        """Only the candidates of pairs that keep their lists stay."""
        listed = (self.candidate_count, self.candidates, self.asleep, self.pressing)
        if self.parallel:
            aside = (self.kept, self.kept_candidates, self.kept_asleep, self.kept_pressing)
            self.walk(self.k_pairs.sift, self.place, *listed, *aside)
            self.walk(self.k_pairs.put_back, *aside, *listed)
        else:  # one thread moves them down the list: none goes to a place that is not read yet
            self.walk(self.k_pairs.sift, self.place, *listed, self.kept, *listed[1:])
            wp.copy(self.candidate_count, self.kept)

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
        self.walk(k.choose_way, *stale_pairs, self.slab_counts, self.by_tree, self.tree_wanted, self.own_wanted)
        self.launch_blocks(
            k.cross_slabs, capacity, x, f.faces, f.edges, f.thickness, *stale_pairs, self.margin, *lists, self.by_tree,
            *self.edge_boxes, self.candidate_count, self.candidates, self.asleep, self.pressing, self.overflow,
        )  # fmt: skip
        wp.capture_if(self.tree_wanted, on_true=self.gather_by_tree)
        wp.capture_if(self.own_wanted, on_true=self.gather_own)
        self.pair_stale.zero_()
        self.some_stale.zero_()

    def gather_by_tree(self) -> None:
        """Candidates of large bodies."""
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

    def gather_own(self) -> None:
        """Candidates of bodies with themselves."""
        f, k, x, own = self.surfaces, self.k_own, self.state.points, self.patches
        stale_pairs = (self.pair_count, self.pairs, self.pair_stale, self.margin)
        capacity = self.capacity["pairs"]
        self.launch_blocks(
            k.bound_patches, capacity, own.start, own.corner_range, own.face_range, own.edge_range, own.corners,
            own.faces, own.edges, x, f.faces, f.edges, *stale_pairs, own.margin, own.seen, own.low, own.high,
            own.face_low, own.face_high, own.edge_low, own.edge_high,
        )  # fmt: skip
        found = (self.candidate_count, self.candidates, self.asleep, self.pressing, self.overflow)
        near = (own.low, own.high, x)
        self.launch_blocks(
            k.collect_own_faces, capacity, own.start, own.points, own.face_range, own.faces, own.face_low,
            own.face_high, *near, f.faces, f.thickness, *stale_pairs, *found,
        )  # fmt: skip
        if self.model.numbers.dim == 3:
            self.launch_blocks(
                k.collect_own_edges, capacity, own.start, own.edge_range, own.edges, own.edge_low, own.edge_high,
                *near, f.edges, f.thickness, *stale_pairs, *found,
            )  # fmt: skip
        self.own_wanted.zero_()

    def find_tangles(self) -> None:
        """Bodies that are inside each other from the start."""
        f = self.surfaces
        self.launch(
            self.k_tangles.find_tangles, self.capacity["pairs"], self.state.points, f.faces, f.face_start,
            f.point_start, f.point_end, f.closed, self.radius, self.low, self.high, self.pair_count,
            self.pairs, self.tangle_count, self.tangles, self.overflow,
        )  # fmt: skip
        self.untested.zero_()
