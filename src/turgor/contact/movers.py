"""What the historical contact methods move: soft vertices and rigid bodies, with their masses and surfaces."""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.kernel.numbers import Numbers
from turgor.rigid import impulse

__all__ = ["kernels"]


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """The struct `Movers`, and `rigid_velocity`."""
    real, vec, spin_type = n.real, n.vec, n.spin
    inertia, swing = impulse.kernels(n).inertia, impulse.kernels(n).swing

    @wp.struct
    class Movers:
        """Members have the names of their arrays in the model (soft_, rigid_), the state and the scratch."""

        v: wp.array(dtype=vec)  # soft vertices
        move: wp.array(dtype=vec)
        soft_inverse_mass: wp.array(dtype=real)  # of the vertices
        soft_friction: wp.array(dtype=real)  # of the bodies; < 0: none of its own
        soft_restitution: wp.array(dtype=real)
        rigid_x: wp.array(dtype=vec)
        rigid_v: wp.array(dtype=vec)
        rigid_angular: wp.array(dtype=spin_type)
        rigid_spin: wp.array(dtype=spin_type)
        rigid_inverse_mass: wp.array(dtype=real)
        rigid_world_inertia: wp.array(dtype=inertia)  # inverse
        rigid_driven_impulse: wp.array(dtype=vec)  # on bodies that are moved from outside; empty without a ledger
        rigid_driven_moment: wp.array(dtype=spin_type)
        rigid_push_move: wp.array(dtype=vec)
        rigid_push_turn: wp.array(dtype=spin_type)
        rigid_friction: wp.array(dtype=real)
        rigid_restitution: wp.array(dtype=real)

    @wp.func(inline=True)  # a call would copy the struct
    def rigid_velocity(movers: Movers, body: int, point: vec) -> vec:
        """Of a rigid body at a point."""
        return movers.rigid_v[body] + swing(movers.rigid_spin[body], point - movers.rigid_x[body])

    return SimpleNamespace(Movers=Movers, rigid_velocity=rigid_velocity)
