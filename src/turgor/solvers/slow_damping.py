"""Viscous skins in explicit steps: what is too quick for them is taken from the slow vibrations alone.

The viscosity tau of a material damps a vibration of angular frequency w at the rate tau w². Those of a mesh's edges are
far quicker than what one sees, and would ask for far shorter steps than stiffness does. Viscosity is kept up to SHARE
of the critical damping of the quickest one. What is left of it damps all velocities beside the rigid motion of a body
at the rate (tau - tau kept) w1², w1 the frequency at which a body bounces (`implicit/pace.py`): that one is damped as
before.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.kernel.numbers import Numbers, at
from turgor.solvers.implicit import pace, rigid_part

__all__ = ["kernels"]

SHARE = 0.2  # of the quickest frequency


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """share_viscosity with each bound; (rigid motion) damp once per frame."""
    real, vec, wide = n.real, n.vec, n.wide
    bounce_rate = pace.kernels(n).bounce_rate
    twist, swing = rigid_part.kernels(n).twist, rigid_part.kernels(n).swing

    @n.kernel(__name__)
    def share_viscosity(
        viscosity: wp.array(dtype=real),
        body_mass: wp.array(dtype=real),
        skin_stiffness: wp.array(dtype=real),
        size: wp.array(dtype=real),
        pressure: wp.array(dtype=real),
        ambient: wp.array(dtype=real),
        rest_volume: wp.array(dtype=real),
        skin_bound: wp.array(dtype=real),
        skin_damping: wp.array(dtype=real),
        quick_viscosity: wp.array(dtype=real),
        slow_damping: wp.array(dtype=real),  # 1/s
    ):
        """What of the viscosity is kept as such, and what becomes a damping of slow vibrations."""
        b = wp.tid()
        kept = real(1.0)
        most = real(SHARE) * wp.sqrt(skin_bound[b])
        if skin_damping[b] > most:
            kept = most / skin_damping[b]
            skin_damping[b] = most
        quick_viscosity[b] = kept * viscosity[b]
        slow_damping[b] = real(0.0)
        if kept < real(1.0) and body_mass[b] > real(0.0):
            rate = bounce_rate(
                skin_stiffness[b], size[b], pressure[b], ambient[b], rest_volume[b], body_mass[b]
            )  # fmt: skip
            slow_damping[b] = (real(1.0) - kept) * viscosity[b] * rate * rate

    @n.kernel(__name__)
    def damp(
        body: wp.array(dtype=int),
        x: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        mass: wp.array(dtype=real),
        inverse_mass: wp.array(dtype=real),
        free: wp.array(dtype=int),
        body_centre: wp.array(dtype=wide),
        body_velocity: wp.array(dtype=wide),
        body_spin: wp.array(dtype=twist),
        slow_damping: wp.array(dtype=real),
        frame_time: real,
        booking: int,
        dissipated: wp.array(dtype=wp.float64),
    ):
        """Velocities beside the rigid motion of a free body, over a frame; what holds a body takes up its momentum."""
        i = at(wp.tid())
        b = at(body[i])
        rate = slow_damping[b]
        if rate > real(0.0) and inverse_mass[i] > real(0.0):
            rigid = vec()
            if free[b] != 0:
                rigid = vec(body_velocity[b] + swing(body_spin[b], wide(x[i]) - body_centre[b]))
            old = v[i]
            new = rigid + wp.exp(-rate * frame_time) * (old - rigid)
            v[i] = new
            if booking != 0:
                lost = wp.length_sq(wide(old)) - wp.length_sq(wide(new))
                wp.atomic_add(dissipated, b, wp.float64(0.5) * wp.float64(mass[i]) * lost)

    return SimpleNamespace(share_viscosity=share_viscosity, damp=damp)
