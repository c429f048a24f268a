"""Bending in the matrix of a Newton step: h kb g gᵀ for each hinge, g the gradient of its angle (Gauss and Newton).

What is left out, kb (theta - theta0) times the curvature of the angle, has both signs.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.forces.bending import SLIVER
from turgor.kernel.numbers import Numbers, at

__all__ = ["kernels"]


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """find_hinges once per round; open_hinges with each direction."""
    real, vec, dim = n.real, n.vec, n.dim
    corners = dim + 1
    hinge = wp.vec3i if dim == 2 else wp.vec4i

    if dim == 2:

        @wp.func
        def turned(e: vec) -> vec:
            size2 = wp.dot(e, e)
            if size2 <= real(0.0):
                return vec()
            return vec(-e[1], e[0]) / size2

        @wp.func
        def gradient(ids: hinge, x: wp.array(dtype=vec), scale: real, first: int, out: wp.array(dtype=vec)):
            """Of the turning angle at the middle point."""
            gi = turned(x[at(ids[1])] - x[at(ids[0])])
            gk = turned(x[at(ids[2])] - x[at(ids[1])])
            out[first] = scale * gi
            out[first + 1] = -scale * (gi + gk)
            out[first + 2] = scale * gk

    else:

        @wp.func
        def gradient(ids: hinge, x: wp.array(dtype=vec), scale: real, first: int, out: wp.array(dtype=vec)):
            """Of the angle between two faces (Bridson, Marino & Fedkiw 2003), fading as `forces/bending.py` does."""
            edge = x[at(ids[1])] - x[at(ids[0])]
            ki = x[at(ids[2])] - x[at(ids[0])]
            mi = x[at(ids[3])] - x[at(ids[0])]
            n1 = wp.cross(edge, ki)
            n2 = wp.cross(mi, edge)
            size = wp.length(edge)
            n1_2 = wp.dot(n1, n1)
            n2_2 = wp.dot(n2, n2)
            gk = vec()
            gm = vec()
            tk = real(0.0)
            tm = real(0.0)
            if size > real(0.0) and n1_2 > real(0.0) and n2_2 > real(0.0):
                least = wp.pow(real(SLIVER) * size * size, real(2.0))
                share = wp.sqrt(wp.min(n1_2 / least, real(1.0)) * wp.min(n2_2 / least, real(1.0)))
                gk = (-share * scale * size / n1_2) * n1
                gm = (-share * scale * size / n2_2) * n2
                tk = wp.dot(ki, edge) / (size * size)
                tm = wp.dot(mi, edge) / (size * size)
            out[first] = -((real(1.0) - tk) * gk + (real(1.0) - tm) * gm)
            out[first + 1] = -(tk * gk + tm * gm)
            out[first + 2] = gk
            out[first + 3] = gm

    @n.kernel(__name__)
    def find_hinges(
        hinges: wp.array(dtype=hinge),
        at_x: wp.array(dtype=vec),
        body: wp.array(dtype=int),
        bending: wp.array(dtype=real),
        hinge_weight: wp.array(dtype=real),
        step: wp.array(dtype=real),
        hinge_gradient: wp.array(dtype=vec),
    ):
        """sqrt(h kb) g at the corners of each hinge."""
        c = at(wp.tid())
        ids = hinges[c]
        b = at(body[at(ids[0])])
        gradient(ids, at_x, wp.sqrt(step[b] * hinge_weight[c] * bending[b]), wp.static(corners) * c, hinge_gradient)

    @n.kernel(__name__)
    def open_hinges(
        hinges: wp.array(dtype=hinge),
        hinge_gradient: wp.array(dtype=vec),
        direction: wp.array(dtype=vec),
        hinge_opening: wp.array(dtype=real),
    ):
        """How fast a direction opens each hinge."""
        c = at(wp.tid())
        total = real(0.0)
        for k in range(wp.static(corners)):
            total += wp.dot(hinge_gradient[wp.static(corners) * c + k], direction[at(hinges[c][k])])
        hinge_opening[c] = total

    return SimpleNamespace(corners=corners, find_hinges=find_hinges, open_hinges=open_hinges)
