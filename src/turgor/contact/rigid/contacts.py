"""Contact of rigid bodies with each other, meshes and walls: the stages that a substep launches (B14, law 10).

    find -> warm_start -> solve, a few times -> push -> store

`find` comes after forces have changed the velocities and before anything moves. All launches can be recorded.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import warp as wp

from turgor.contact.rigid import broad, impulses, narrow
from turgor.contact.rigid.polytope import Polytopes
from turgor.contact.rigid.records import tables

__all__ = ["RigidContacts"]

PUSHES = 2  # passes that remove depth
THREADS = 1 << 16  # at most, in parallel


class RigidContacts:
    """Contact points of all rigid bodies of a model (`model.rigids`) with each other, if `pairs`, and with its walls.

    `dt`: device array (1,) of the substep, s. `parallel`: for devices that run threads at the same time; the result
    does not depend on their order. Only what `SAVED` names is kept from one substep to the next.
    """

    SAVED: tuple[str, ...] = (
        "kept_dt", "kept_first", "kept_number", "kept_b", "kept_part", "kept_points", "kept_mark", "kept_impulse",
        "kept_slide",
    )  # fmt: skip

    CHANGED: tuple[str, ...] = SAVED

    def __init__(
        self, model: Any, state: Any, scratch: Any, pairs: bool, parallel: bool, capacity: int | None = None
    ) -> None:
        self.rigids, self.walls, self.dt = model.rigids, model.walls, scratch.dt
        self.state, self.scratch = state, scratch
        self.numbers, self.device = model.numbers, model.device
        self.with_bodies, self.parallel = int(pairs), parallel
        self.total: int = self.rigids.total
        self.active = self.total > 0
        if not self.active:
            return
        n = self.numbers
        self.k_search, self.k_touch, self.k_solve = broad.kernels(n), narrow.kernels(n), impulses.kernels(n, parallel)
        self.polytopes = Polytopes(self.rigids.collision, n, self.device)
        self.shapes = self.polytopes.shapes
        self._link()
        self.middle, self.extent, self.reach = self._zeros(n.vec), self._zeros(n.vec), self._zeros(n.real)
        self.sharing = self._zeros(wp.int32)  # pairs with contact, per body
        self.numbers_found = self._zeros(wp.int32)  # pairs, per body and per world
        self.totals = self._zeros(wp.int32, self.total // self.rigids.count)
        self.moves = wp.zeros(self.total * n.dim, dtype=wp.int64, device=self.device)
        self.twists = wp.zeros(self.total * (1 if n.dim == 2 else 3), dtype=wp.int64, device=self.device)
        self.sizes = wp.array(
            np.tile(self.polytopes.reach, self.total // self.rigids.count), dtype=n.real, device=self.device
        )
        per_body = 8 + self.walls.count + (56 if any(self.polytopes.bvhs) else 0)  # triangles are many
        self._allocate(capacity or self.total * per_body + 64)

    def _link(self) -> None:
        t = tables(self.numbers)
        self.bodies, self.half_spaces = t.Bodies(), t.Walls()
        self.bodies.per_world = self.rigids.count
        for name in ("kind", "skin", "friction", "restitution", "inverse_mass", "world_inertia", "x", "q", "v",
                     "angular", "spin", "push_move", "push_turn"):  # fmt: skip
            owner = next(o for o in (self.state.rigid, self.scratch.rigid, self.rigids) if hasattr(o, name))
            setattr(self.bodies, name, getattr(owner, name))
        self.half_spaces.count = self.walls.count
        for name in ("normal", "point", "centre", "velocity", "spin", "friction", "restitution"):
            owner = self.walls if hasattr(self.walls, name) else self.state.walls
            setattr(self.half_spaces, name, getattr(owner, name))

    def _zeros(self, dtype: Any, count: int | None = None) -> Any:
        return wp.zeros(self.total if count is None else count, dtype=dtype, device=self.device)

    def _allocate(self, capacity: int) -> None:
        """Room for `capacity` pairs."""
        n, t = self.numbers, tables(self.numbers)
        self.capacity = capacity
        self.stride = min(capacity, THREADS) if self.parallel else 1
        rows = 4 * capacity
        self.pairs, self.kept = t.Pairs(), t.Kept()
        self.pairs.capacity = capacity
        for name in ("count", "overflow"):
            setattr(self.pairs, name, self._zeros(wp.int32, 1))
        for record, prefix in ((self.pairs, ""), (self.kept, "kept_")):
            for name, dtype, count in (
                ("first", wp.int32, self.total), ("number", wp.int32, self.total),
                ("b", wp.int32, capacity), ("part", wp.int32, capacity), ("points", wp.int32, capacity),
                ("mark", wp.int32, rows), ("impulse", n.real, rows), ("slide", n.vec, rows),
            ):  # fmt: skip
                array = self._zeros(dtype, count)
                setattr(record, name, array)
                if prefix:
                    setattr(self, prefix + name, array)
        for name, dtype, count in (
            ("a", wp.int32, capacity), ("normal", n.vec, capacity), ("friction", n.real, capacity),
            ("slack", n.real, capacity), ("blow", wp.int32, rows), ("pushed", n.real, rows),
            ("arm_a", n.vec, rows), ("arm_b", n.vec, rows), ("gap", n.real, rows),
            ("wanted", n.real, rows), ("give", n.real, rows), ("slip", n.real, rows),
        ):  # fmt: skip
            setattr(self.pairs, name, self._zeros(dtype, count))
        self.kept_dt = self.kept.dt = self._zeros(n.real, 1)
        self.count, self.overflow = self.pairs.count, self.pairs.overflow

    def hopeless(self) -> bool:
        """More room always helps."""
        return False

    def grow(self) -> None:
        """More room, with the impulses kept; recorded launches must be recorded again."""
        capacity = int(1.5 * int(self.overflow.numpy()[0])) + 64
        before = {name: getattr(self, name) for name in self.SAVED}
        self._allocate(capacity)
        for name, array in before.items():
            wp.copy(getattr(self, name), array, count=len(array))

    def fit(self, arrays: dict[str, Any]) -> None:
        """Capacity of saved arrays."""
        self._allocate(len(arrays["kept_b"]))

    def launch(self, kernel: Any, dim: int, *inputs: Any) -> None:
        wp.launch(kernel, dim=dim, inputs=list(inputs), device=self.device)

    # the stages -----------------------------------------------------------------------------------------------------

    def find(self) -> None:
        """Near pairs and their contact points at the present poses and velocities."""
        if not self.active:
            return
        k, s, b, w, p = self.k_search, self.shapes, self.bodies, self.half_spaces, self.pairs
        box = (self.middle, self.extent)
        self.launch(k.find_bounds, self.total, self.dt, s, b, *box, self.reach, self.count, self.sharing)
        search_for = (self.with_bodies, s, b, w, p, *box)
        if self.parallel:
            self.launch(k.count_pairs, self.total, *search_for, self.numbers_found)
            self.launch(k.count_worlds, len(self.totals), self.rigids.count, self.numbers_found, self.totals)
            self.launch(k.write_pairs, self.total, *search_for, self.numbers_found, self.totals)
        else:
            self.launch(k.find_pairs, self.total, *search_for)
        self.launch(
            self.k_touch.find_manifolds,
            self.stride,
            self.stride,
            self.dt,
            s,
            b,
            w,
            p,
            self.kept,
            self.reach,
            self.sharing,
        )
        self.launch(self.k_solve.prepare, self.stride, self.stride, b, p, self.sharing)

    def warm_start(self) -> None:
        """Begin with the impulses of the last substep."""
        if self.active:
            sums = (self.moves, self.twists, self.sizes)
            self.launch(self.k_solve.warm_start, self.stride, self.stride, self.bodies, self.pairs, *sums)
            self._apply()

    def solve(self) -> None:
        """One pass over all contact points; changes velocities, angular momenta and spins."""
        if self.active:
            self.launch(
                self.k_solve.solve, self.stride, self.stride, self.bodies, self.half_spaces, self.pairs, self.sharing,
                self.moves, self.twists, self.sizes,
            )  # fmt: skip
            self._apply()

    def push(self) -> None:
        """Remove a share of the depth of deep points by push_move and push_turn, without any velocity."""
        if not self.active:
            return
        sums = (self.moves, self.twists)
        for _ in range(PUSHES):
            self.launch(
                self.k_solve.push, self.stride, self.stride, self.dt, self.bodies, self.pairs, self.sharing, *sums
            )
            if self.parallel:
                self.launch(self.k_solve.apply_pushes, self.total, self.bodies, *sums)

    def store(self) -> None:
        """Keep the impulses for the next substep."""
        if self.active:
            self.launch(self.k_solve.store_owners, self.total, self.dt, self.pairs, self.kept)
            self.launch(self.k_solve.store, self.stride, self.stride, self.pairs, self.kept)

    def _apply(self) -> None:
        if self.parallel:
            self.launch(self.k_solve.apply_sums, self.total, self.bodies, self.moves, self.twists, self.sizes)

    # for others -----------------------------------------------------------------------------------------------------

    def found(self) -> dict[str, Any]:
        """The contact points of the last substep (NumPy): first, second (bodies), wall or -1, point, normal, ..."""
        if not self.active:
            return {}
        count = min(int(self.count.numpy()[0]), self.capacity)
        points = self.pairs.points.numpy()[:count]
        pair = np.repeat(np.arange(count), points)
        row = np.concatenate([4 * i + np.arange(k) for i, k in enumerate(points)] or [np.zeros(0)]).astype(np.int64)
        gap = np.asarray(self.pairs.gap.numpy(), np.float64)[row]
        pressed = (np.asarray(self.pairs.impulse.numpy(), np.float64)[row] > 0.0) | (gap < 0.0)
        pair, row, gap = pair[pressed], row[pressed], gap[pressed]
        first, second = self.pairs.a.numpy()[pair], self.pairs.b.numpy()[pair]
        centres = np.asarray(self.state.rigid.x.numpy(), np.float64)
        return {
            "first": first,
            "second": np.maximum(second, 0),
            "wall": np.where(second < 0, -1 - second, -1),
            "point": centres[first] + np.asarray(self.pairs.arm_a.numpy(), np.float64)[row],
            "normal": np.asarray(self.pairs.normal.numpy(), np.float64)[pair],
            "depth": -gap,
            "impulse": np.asarray(self.pairs.impulse.numpy(), np.float64)[row],
        }
