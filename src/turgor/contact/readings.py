"""Contact forces for those who measure: impulses summed over a frame, per body, per pair, and of soft bodies on walls.

Optional (`readings=True`). What contact does to a body is the change of its momentum between forces and movement,
measured before and after, so it holds whatever contact does in between.
"""

import functools
from types import SimpleNamespace
from typing import Any, no_type_check

import warp as wp

from turgor.contact.pair_sums import PairSums
from turgor.kernel.launch import Launcher
from turgor.kernel.numbers import Numbers, at
from turgor.model.model import Model
from turgor.model.state import State
from turgor.model.surfaces import Surfaces

__all__ = ["Readings", "kernels"]


class Readings:
    """Sums of the frame so far; a substep calls `look` before a stage that changes velocities, and `add_…` after it."""

    def __init__(self, model: Model, state: State, surfaces: Surfaces, launch: Launcher) -> None:
        n, self.count, self.rigids = model.numbers, model.vertices * model.worlds, model.rigids.total
        self.state, self.launch, self.kernels = state, launch, kernels(n)

        def vectors(size: int) -> Any:
            return wp.zeros(size, dtype=n.vec, device=model.device)

        self.seen_v, self.rigid_seen_v = vectors(self.count), vectors(self.rigids)  # m/s
        self.contact_sum, self.wall_sum = vectors(self.count), vectors(self.count)  # N s, per soft vertex
        self.rigid_sum = vectors(self.rigids)  # N s, of bodies and walls together
        self.pairs = PairSums(n, surfaces.bodies * model.worlds, model.walls.count, model.device)

    def begin_frame(self) -> None:
        """Nothing so far."""
        for array in (self.contact_sum, self.wall_sum, self.rigid_sum):
            array.zero_()
        self.pairs.clear()

    def look(self) -> None:
        """At the velocities of soft vertices."""
        if self.count:
            wp.copy(self.seen_v, self.state.v)

    def look_rigid(self) -> None:
        """At the velocities of rigid bodies."""
        if self.rigids:
            wp.copy(self.rigid_seen_v, self.state.rigid.v)

    def add_contact(self) -> None:
        """What contact between bodies has done to soft vertices."""
        self.launch(self.kernels.add_change, self.count, seen_v=self.seen_v, change_sum=self.contact_sum)

    def add_walls(self) -> None:
        """What walls have done to soft vertices."""
        self.launch(self.kernels.add_change, self.count, seen_v=self.seen_v, change_sum=self.wall_sum)

    def add_rigid(self) -> None:
        """What contact and walls have done to rigid bodies."""
        self.launch(
            self.kernels.add_rigid_change, self.rigids, rigid_seen_v=self.rigid_seen_v, rigid_sum=self.rigid_sum
        )


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """add_change, add_rigid_change: the change of momentum since the last look."""
    real, vec = n.real, n.vec

    @n.kernel(__name__)
    def add_change(
        v: wp.array(dtype=vec),
        inverse_mass: wp.array(dtype=real),
        seen_v: wp.array(dtype=vec),
        change_sum: wp.array(dtype=vec),
    ):
        i = at(wp.tid())
        if inverse_mass[i] > real(0.0):
            change_sum[i] = change_sum[i] + (v[i] - seen_v[i]) / inverse_mass[i]

    @n.kernel(__name__)
    def add_rigid_change(
        rigid_v: wp.array(dtype=vec),
        rigid_inverse_mass: wp.array(dtype=real),
        rigid_seen_v: wp.array(dtype=vec),
        rigid_sum: wp.array(dtype=vec),
    ):
        r = wp.tid()
        if rigid_inverse_mass[r] > real(0.0):
            rigid_sum[r] = rigid_sum[r] + (rigid_v[r] - rigid_seen_v[r]) / rigid_inverse_mass[r]

    return SimpleNamespace(add_change=add_change, add_rigid_change=add_rigid_change)
