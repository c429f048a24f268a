"""Contact of rigid bodies with each other, meshes and walls: the stages that a substep launches (B14, law 10).

    find -> warm_start -> solve, a few times -> push -> store

`find` comes after forces have changed the velocities and before anything moves. All launches can be recorded.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from turgor.contact.rigid import broad, driven, impulses, narrow, pair_impulses
from turgor.contact.rigid.polytope import Polytopes
from turgor.contact.rigid.records import POINTS, structs
from turgor.kernel.launch import Launcher
from turgor.kernel.structs import zeros
from turgor.model.model import Model
from turgor.model.scratch import Scratch
from turgor.model.state import State

__all__ = ["RigidContacts"]

PUSHES = 2  # passes that remove depth
THREADS = 1 << 16  # at most, in parallel


class RigidContacts:
    """Contact points of all rigid bodies of a model with each other, if `pairs`, and with its walls.

    `parallel`: for devices that run threads at the same time; the result does not depend on their order. Only what
    `SAVED` names is kept from one substep to the next.
    """

    SAVED: tuple[str, ...] = (
        "warm.dt", "warm.first", "warm.number", "warm.b", "warm.part", "warm.point_count", "warm.feature",
        "warm.normal_impulse", "warm.friction_impulse",
    )  # fmt: skip
    CHANGED: tuple[str, ...] = SAVED

    def __init__(
        self, model: Model, state: State, scratch: Scratch, pairs: bool, parallel: bool, capacity: int | None = None
    ) -> None:
        self.model, self.state, self.scratch, self.parallel = model, state, scratch, parallel
        n, rigids, device = model.numbers, model.rigids, model.device
        self.total = rigids.total
        self.k_broad, self.k_narrow, self.k_impulses = (
            broad.kernels(n),
            narrow.kernels(n),
            impulses.kernels(n, parallel),
        )
        self.polytopes = Polytopes(rigids.collision, n, device)
        t = structs(n)
        turns, radius = 1 if n.dim == 2 else 3, rigids.reals(self.polytopes.reach)
        self.work = {  # by the names that kernels have for them; one entry per body, where no other is said
            "between_bodies": int(pairs),
            "shapes": self.polytopes.shapes,
            "bodies": Launcher(device, state.rigid, scratch.rigid, rigids).struct(t.Bodies, per_world=rigids.count),
            "walls": Launcher(device, state.walls, model.walls).struct(t.Walls),
            "box_centre": rigids.zeros(n.vec),  # m: bounds
            "box_half": rigids.zeros(n.vec),
            "margin": rigids.zeros(n.real),  # m: skin, and distance that the body may move in this substep
            "manifold_count": rigids.zeros(wp.int32),  # pairs with contact points
            "body_pairs": rigids.zeros(wp.int32),
            "world_pairs": wp.zeros(model.worlds, dtype=wp.int32, device=device),  # per world
            "sums": zeros(t.Sums, self.total * turns, device, linear=self.total * n.dim, radius=radius),
        }
        per_body = 8 + model.walls.count + (56 if any(self.polytopes.bvhs) else 0)  # triangles are many
        self._allocate(capacity or self.total * per_body + 64)

    def _allocate(self, capacity: int) -> None:
        """Buffers for `capacity` pairs."""
        t, device, total, rows = structs(self.model.numbers), self.model.device, self.total, POINTS * capacity
        self.stride = min(capacity, THREADS) if self.parallel else 1
        self.pairs = zeros(
            t.Pairs, capacity, device, capacity=capacity, count=1, overflow=1, first=total, number=total
        )  # fmt: skip
        self.points = zeros(t.Points, rows, device)
        self.warm = zeros(
            t.Warm, capacity, device, dt=1, first=total, number=total, feature=rows, normal_impulse=rows,
            friction_impulse=rows,
        )  # fmt: skip
        self.capacity, self.overflow = capacity, self.pairs.overflow
        self.launch = Launcher(device, {"dt": self.scratch.dt}, self.work, self)

    def hopeless(self) -> bool:
        """Whether larger buffers would not help."""
        return False

    def grow(self) -> None:
        """Larger buffers, with the warm impulses; recorded launches must be recorded again."""
        before = {name: attrgetter(name)(self) for name in self.SAVED}
        self._allocate(int(1.5 * int(self.overflow.numpy()[0])) + 64)
        for name, array in before.items():
            wp.copy(attrgetter(name)(self), array, count=len(array))

    def fit(self, arrays: dict[str, npt.NDArray[Any]]) -> None:
        """Buffers for saved arrays."""
        self._allocate(len(arrays["warm.b"]))

    # the stages -----------------------------------------------------------------------------------------------------

    def find(self) -> None:
        """Near pairs and their contact points at the present poses and velocities."""
        k, launch = self.k_broad, self.launch
        launch(k.find_bounds, self.total, pair_count=self.pairs.count)
        if self.parallel:
            launch(k.count_pairs, self.total)
            launch(k.count_worlds, self.model.worlds)
            launch(k.write_pairs, self.total)
        else:
            launch(k.find_pairs, self.total)
        launch(self.k_narrow.find_manifolds, self.stride)
        launch(self.k_impulses.prepare, self.stride)

    def warm_start(self) -> None:
        """Begin with the impulses of the last substep."""
        self.launch(self.k_impulses.warm_start, self.stride)
        self._apply_sums()

    def solve(self) -> None:
        """One pass over all contact points; changes velocities, angular momenta and spins."""
        self.launch(self.k_impulses.solve, self.stride)
        self._apply_sums()

    def push(self) -> None:
        """Remove a share of the depth of deep points by push_move and push_turn, without any velocity."""
        for _ in range(PUSHES):
            self.launch(self.k_impulses.push, self.stride)
            if self.parallel:
                self.launch(self.k_impulses.apply_pushes, self.total)

    def store(self) -> None:
        """Keep the impulses for the next substep."""
        self.launch(self.k_impulses.store_owners, self.total)
        self.launch(self.k_impulses.store, self.stride)

    def book(self) -> None:
        """The work of moving walls and of driven bodies, for the ledger."""
        rigid = self.state.rigid
        work = driven.kernels(self.model.numbers).driven_work
        self.launch(work, self.stride, rigid_dissipated=rigid.dissipated, rigid_work=rigid.work)

    def _apply_sums(self) -> None:
        if self.parallel:
            self.launch(self.k_impulses.apply_sums, self.total)

    # for others -----------------------------------------------------------------------------------------------------

    def sum_pairs(self, table: Any) -> None:
        """Add the impulses of this substep to those of the frame, pair by pair."""
        kernel = pair_impulses.kernels(self.model.numbers).sum_pairs
        self.launch(kernel, self.stride, soft=len(self.model.parts), table=table)

    def found(self) -> dict[str, npt.NDArray[Any]]:
        """The contact points of the last substep: first, second (bodies), wall or -1, point, normal, depth, impulse."""
        pairs, points = self.pairs, self.points
        count = min(int(pairs.count.numpy()[0]), self.capacity)
        numbers = pairs.point_count.numpy()[:count]
        pair = np.repeat(np.arange(count), numbers)
        row = np.concatenate([POINTS * i + np.arange(k) for i, k in enumerate(numbers)] or [np.zeros(0)]).astype(int)
        gap = np.asarray(points.gap.numpy(), np.float64)[row]
        impulse = np.asarray(points.normal_impulse.numpy(), np.float64)[row]
        touches = (impulse > 0.0) | (gap < 0.0)
        pair, row = pair[touches], row[touches]
        first, second = pairs.a.numpy()[pair], pairs.b.numpy()[pair]
        centres = np.asarray(self.state.rigid.x.numpy(), np.float64)
        return {
            "first": first,
            "second": np.maximum(second, 0),
            "wall": np.where(second < 0, -1 - second, -1),
            "point": centres[first] + np.asarray(points.arm_a.numpy(), np.float64)[row],
            "normal": np.asarray(pairs.normal.numpy(), np.float64)[pair],
            "depth": -gap[touches],
            "impulse": impulse[touches],
        }
