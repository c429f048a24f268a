"""The air: drag per area, and Matyka's wind per point (D3). Both act by the relative velocity u = wind - v.

Each vertex is a patch of the surface with area A and unit normal n, from the face vectors around it. With the density
rho of the air and coefficients C across and along the surface,

    F = ½ rho A |u| (C_across u_n + C_along u_t),   u_n = (u·n) n,   u_t = u - u_n.

A plate square to the flow has the usual ½ rho C A u²; at an angle of attack alpha its normal force is that times
sin alpha, as measured on flat plates up to stall (Hoerner, Fluid-Dynamic Drag, 1965). In still air F·v <= 0.
A closed surface shows the air one side only and counts half, so a thin closed plate feels what a sheet feels; a ball
then has C_d = 2/3 C_across + 4/3 C_along on its cross section.

Matyka 2007, section 3: c (u·n) n at each point, whatever area it stands for.

Neither reverses the relative velocity of a point within a substep h: both factors of u are at most m/h.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.kernel.numbers import FACE_SHARE, Numbers, at

__all__ = ["kernels"]


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """The laws and their kernel."""
    real, vec = n.real, n.vec
    face_share = wp.constant(real(FACE_SHARE[n.dim]))
    tiny = wp.constant(real(n.tiny))

    @wp.func
    def air_force(
        u: vec,  # wind minus velocity of the point, m/s
        area: vec,  # sum of the face vectors around it
        share: real,  # of that area which the point feels
        mass: real,
        density: real,
        across: real,
        along: real,
        per_point: real,  # Matyka's c, N s/m
        h: real,
    ) -> vec:
        size2 = wp.dot(area, area)
        if size2 <= real(0.0):
            return vec()
        half = real(0.5) * density * (share * face_share * wp.sqrt(size2)) * wp.length(u)
        most = mass / wp.max(h, tiny)
        normal = (wp.dot(u, area) / size2) * area
        return wp.min(half * across + per_point, most) * normal + wp.min(half * along, most) * (u - normal)

    @n.kernel(__name__)
    def add_air(
        v: wp.array(dtype=vec),
        area: wp.array(dtype=vec),
        body: wp.array(dtype=int),
        world: wp.array(dtype=int),
        mass: wp.array(dtype=real),
        air_share: wp.array(dtype=real),
        wind: wp.array(dtype=vec),
        air_density: wp.array(dtype=real),
        drag_coefficient: wp.array(dtype=real),
        drag_tangential: wp.array(dtype=real),
        wind_drag: wp.array(dtype=real),
        dt: wp.array(dtype=real),
        f_out: wp.array(dtype=vec),
        start_index: int,
    ):
        i = at(start_index + wp.tid())
        b = at(body[i])
        across = drag_coefficient[b]
        along = drag_tangential[b]
        if across + along + wind_drag[b] > real(0.0):
            w = at(world[b])
            f_out[i] += air_force(
                wind[w] - v[i], area[i], air_share[i], mass[i], air_density[w], across, along, wind_drag[b], dt[0]
            )

    return SimpleNamespace(air_force=air_force, add_air=add_air)
