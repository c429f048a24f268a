"""Wind on a membrane (D3; Matyka 2007, section 3): c ((w - v)·n) n at each point, n the unit normal of the point."""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.kernel.numbers import Numbers, at

__all__ = ["kernels"]


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """The law and its kernel."""
    real, vec = n.real, n.vec

    @wp.func
    def wind_force(relative: vec, area: vec, coefficient: real) -> vec:
        """relative: wind minus velocity of the point; area: sum of the face vectors around it, along the normal."""
        size2 = wp.dot(area, area)
        if size2 <= real(0.0):
            return vec()
        return (coefficient * wp.dot(relative, area) / size2) * area

    @n.kernel(__name__)
    def add_wind(
        v: wp.array(dtype=vec),
        area: wp.array(dtype=vec),
        body: wp.array(dtype=int),
        world: wp.array(dtype=int),
        wind: wp.array(dtype=vec),
        wind_drag: wp.array(dtype=real),
        f_out: wp.array(dtype=vec),
    ):
        i = at(wp.tid())
        b = at(body[i])
        if wind_drag[b] > real(0.0):
            f_out[i] += wind_force(wind[at(world[b])] - v[i], area[i], wind_drag[b])

    return SimpleNamespace(wind_force=wind_force, add_wind=add_wind)
