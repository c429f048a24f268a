"""Contact of rigid bodies with each other, meshes and walls: the stages that a substep launches (B14, law 10).

    find -> warm_start -> solve, a few times -> finish -> push -> store

`find` comes after forces have changed the velocities and before anything moves. All launches can be recorded.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from turgor.contact.rigid import acceleration, broad, driven, impulses, narrow, pair_impulses
from turgor.contact.rigid.impulses import ALL, HELD, UNEVEN
from turgor.contact.rigid.polytope import Polytopes
from turgor.contact.rigid.records import POINTS, structs
from turgor.kernel.launch import Launcher
from turgor.kernel.rows import clear_rows
from turgor.kernel.structs import zeros
from turgor.model.model import Model
from turgor.model.scratch import Scratch
from turgor.model.state import State

__all__ = ["RigidContacts"]

THREADS = 1 << 16  # at most, in parallel
# ratio of masses up to which stacks stand still: one pair after the other, and all at once (tests/laws)
HOLDS = (10_000.0, 1_000.0)


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
        self.k_broad, self.k_narrow = broad.kernels(n), narrow.kernels(n)
        self.k_impulses, self.k_rounds = impulses.kernels(n, parallel), acceleration.kernels(n, parallel)
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
            "held_count": rigids.zeros(wp.int32),  # those with walls and bodies that nothing moves
            "push_angular": rigids.zeros(n.spin),  # kg m²: as angular momentum, of push_turn
            "body_pairs": rigids.zeros(wp.int32),
            "world_pairs": wp.zeros(model.worlds, dtype=wp.int32, device=device),  # per world
            "sums": zeros(t.Sums, self.total * turns, device, linear=self.total * n.dim, radius=radius),
        }
        self.motion = Launcher(device, state.rigid, scratch.rigid).struct(t.Motion)
        self.pushed = Launcher(device).struct(
            t.Motion, v=scratch.rigid.push_move, angular=self.work["push_angular"], spin=scratch.rigid.push_turn
        )
        per_body = 8 + model.walls.count + (56 if any(self.polytopes.bvhs) else 0)  # triangles are many
        self._allocate(capacity or self.total * per_body + 64)

    def unequal(self) -> str:
        """What to say of masses so unequal that a heavy body on a light one may sink into it; else empty."""
        limit, rigids = HOLDS[self.parallel], self.model.rigids
        free = [index for index, body in enumerate(rigids.bodies) if body.kind == "dynamic"]
        if len(free) < 2 or not self.work["between_bodies"]:
            return ""
        inverse = np.asarray(rigids.inverse_mass.numpy(), np.float64).reshape(-1, rigids.count)[:, free]
        row = inverse[(inverse.max(axis=1) / inverse.min(axis=1)).argmax()]  # the world with the largest ratio
        ratio = row.max() / row.min()
        if ratio <= 1.001 * limit:  # round-off
            return ""
        heavy, light = (rigids.bodies[free[index]].name for index in (row.argmin(), row.argmax()))
        return (
            f"rigid body {heavy!r} has {ratio:.3g} times the mass of {light!r}: contact is sure to hold for up to "
            f"{limit:,.0f} times, and beyond that, where one rests on the other, they may sink into each other; "
            "bring their masses closer together, or make the heavy one static or kinematic"
        )

    def _allocate(self, capacity: int) -> None:
        """Buffers for `capacity` pairs."""
        t, device, total, rows = structs(self.model.numbers), self.model.device, self.total, POINTS * capacity
        self.stride = min(capacity, THREADS) if self.parallel else 1
        self.pairs = zeros(
            t.Pairs, capacity, device, capacity=capacity, count=1, overflow=1, first=total, number=total
        )  # fmt: skip
        self.points = zeros(t.Points, rows, device)
        self.rows = zeros(
            t.Rows, rows, device, normal=self.points.normal_impulse, friction=self.points.friction_impulse
        )  # fmt: skip
        self.pushes = zeros(t.Rows, rows, device)
        per_body = {f"{name}{step}": total for name in ("v", "angular", "spin") for step in ("", "_step")}
        per_world = dict.fromkeys(("unsolved", "along_z", "along_p", "back"), self.model.worlds)
        self.rounds = zeros(t.Rounds, rows, device, left=1, open=1, **per_world, **per_body)
        own = {"left": 1, "open": 1, "unsolved": self.model.worlds}  # the rest is used by one after the other
        shared = {name: getattr(self.rounds, name) for name in t.Rounds.vars if name not in own}
        self.push_rounds = zeros(t.Rounds, rows, device, **own, **shared)
        self.warm = zeros(
            t.Warm, capacity, device, dt=1, first=total, number=total, feature=rows, normal_impulse=rows,
            friction_impulse=rows,
        )  # fmt: skip
        self.capacity, self.overflow = capacity, self.pairs.overflow
        self.launch = Launcher(device, {"dt": self.scratch.dt}, self.work, self)

    def forget_worlds(self, chosen: Any, mask: Any) -> None:
        """Poses in some worlds were set from outside: no impulse to begin with."""
        clear_rows(self.warm.number, self.model.worlds, chosen)

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
        self.launch(self.k_impulses.warm_start, self.stride, motion=self.motion)
        self._apply_sums(self.motion)

    def solve(self, friction: bool = True) -> None:
        """One pass over all contact points; changes velocities, angular momenta and spins."""
        self._pass(ALL, self.motion, self.rows, self.rounds, friction=friction)

    def finish(self) -> None:
        """More rounds where masses are unequal; walls, which do not yield, have the last word."""
        self._finish(self.motion, self.rows, self.rounds)

    def push(self) -> None:
        """Remove a share of the depth of deep points by push_move and push_turn, without any velocity."""
        self._pass(ALL, self.pushed, self.pushes, self.push_rounds)
        self._finish(self.pushed, self.pushes, self.push_rounds)

    def keep_moment(self) -> None:
        """Before the bodies move: what `push` would change of their angular momentum goes back to them."""
        self.launch(self.k_impulses.keep_moment, self.stride)
        self._apply_sums(self.motion)

    def _pass(
        self, which: int, motion: Any, rows: Any, rounds: Any, backward: bool = False, friction: bool = True
    ) -> None:
        slides = rows is self.rows
        self.launch(
            self.k_impulses.solve, self.stride, which=which, backward=int(backward), slides=int(slides),
            rubs=int(slides and friction), motion=motion, rows=rows, unsolved=rounds.unsolved,
        )  # fmt: skip
        self._apply_sums(motion)

    def _finish(self, motion: Any, rows: Any, rounds: Any) -> None:
        wp.capture_while(rounds.left, self._round, motion=motion, rows=rows, rounds=rounds)
        self._pass(HELD, motion, rows, rounds)

    def _round(self, motion: Any, rows: Any, rounds: Any) -> None:
        """A symmetric pass and an extrapolation (turgor.contact.rigid.acceleration)."""
        k, launch = self.k_rounds, self.launch
        launch(k.keep_bodies, self.total, motion=motion, rounds=rounds)
        launch(k.keep_rows, self.stride, rows=rows, rounds=rounds)
        for backward in (False,) if self.parallel else (False, True):
            self._pass(UNEVEN, motion, rows, rounds, backward)
        block = acceleration.BLOCK if self.model.device.is_cuda else 1
        problem = {"motion": motion, "rows": rows, "rounds": rounds}
        look = {"slides": int(rows is self.rows), "last_world": self.model.worlds - 1, **problem}
        launch.blocks(k.measure, self.model.worlds, block, **look)
        launch(k.extrapolate, self.stride, **problem)
        self._apply_sums(motion)
        launch.blocks(k.judge, self.model.worlds, block, **look)
        launch(k.go_back, self.stride, **problem)
        self._apply_sums(motion)
        launch(k.next_round, 1, rounds=rounds)

    def store(self) -> None:
        """Keep the impulses for the next substep."""
        self.launch(self.k_impulses.store_owners, self.total)
        self.launch(self.k_impulses.store, self.stride)

    def book(self) -> None:
        """The work of moving walls and of driven bodies, for the ledger."""
        rigid = self.state.rigid
        work = driven.kernels(self.model.numbers).driven_work
        self.launch(work, self.stride, rigid_dissipated=rigid.dissipated, rigid_work=rigid.work)

    def _apply_sums(self, motion: Any) -> None:
        if self.parallel:
            self.launch(self.k_impulses.apply_sums, self.total, motion=motion)

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
            "friction": np.asarray(points.friction_impulse.numpy(), np.float64)[row],
        }
