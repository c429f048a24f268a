"""Bending resistance (optional): 1/2 kb (theta - theta0)² for the angle between neighbouring faces or edges.

Skins of a material are far stiffer against stretch than against bending, so steps follow the first. `pulsed`: bending
then acts once in `bending_every` substeps, and as much more (Tuckerman, Berne & Martyna 1992: still symplectic).
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.kernel.numbers import Numbers, at

__all__ = ["SLIVER", "kernels"]

# grad theta is 1/height of a wing, which has no bound as a face folds flat. So the energy of a hinge is weighted with
# s1 s2, s = min(1, (height / (SLIVER * edge))²): full for sensible faces, fading to zero for slivers, still an energy.
SLIVER = 0.05


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """Angle and its gradient, and the kernel."""
    real, vec = n.real, n.vec
    hinge = wp.vec3i if n.dim == 2 else wp.vec4i
    two_pi = wp.constant(real(6.283185307179586))
    sliver = wp.constant(real(SLIVER))
    pi = wp.constant(real(3.141592653589793))
    pair = wp.vec2f if real == wp.float32 else wp.vec2d
    small = wp.constant(real(0.03 if real == wp.float32 else 4.0e-4))  # t², at which the next term is round-off

    @wp.func
    def wrapped(angle: real) -> real:
        """The same angle in (-pi, pi]."""
        if angle > pi:
            return angle - two_pi
        if angle < -pi:
            return angle + two_pi
        return angle

    if n.dim == 2:

        @wp.func
        def turned(e: vec) -> vec:
            """Gradient of an edge's direction angle with respect to the edge: e turned by +90°, over its length²."""
            size2 = wp.dot(e, e)
            if size2 <= real(0.0):
                return vec()
            return vec(-e[1], e[0]) / size2

        @n.kernel(__name__)
        def add_bending(
            x: wp.array(dtype=vec),
            hinges: wp.array(dtype=hinge),
            rest_angles: wp.array(dtype=real),
            hinge_weight: wp.array(dtype=real),
            body: wp.array(dtype=int),
            bending: wp.array(dtype=real),
            bending_every: wp.array(dtype=int),
            substeps: wp.array(dtype=int),
            pulsed: int,
            f_out: wp.array(dtype=vec),
            start_index: int,
        ):
            h = at(start_index + wp.tid())
            ids = hinges[h]  # previous, middle, next vertex; theta: turning angle at the middle one
            i = at(ids[0])
            j = at(ids[1])
            k = at(ids[2])
            first = x[j] - x[i]
            second = x[k] - x[j]
            angle = wp.atan2(first[0] * second[1] - first[1] * second[0], wp.dot(first, second))
            stiff = hinge_weight[h] * bending[at(body[j])]
            if pulsed != 0:
                every = bending_every[at(body[j])]
                if substeps[0] % every != 0:
                    return
                stiff *= real(every)
            torque = stiff * wrapped(angle - rest_angles[h])
            gi = turned(first)
            gk = turned(second)
            f_out[i] -= torque * gi
            f_out[k] -= torque * gk
            f_out[j] += torque * (gi + gk)

    else:

        @wp.func
        def angle_of(sine: real, cosine: real) -> real:
            """atan2, several times faster for small angles: 2 atan of the tangent t of half of it, by its series."""
            half = sine / (cosine + wp.sqrt(sine * sine + cosine * cosine))
            t2 = half * half
            if t2 < small:
                fifth = real(0.2) - t2 * (real(1.0 / 7.0) - t2 * real(1.0 / 9.0))
                return real(2.0) * half * (real(1.0) - t2 * (real(1.0 / 3.0) - t2 * fifth))
            return wp.atan2(sine, cosine)

        @n.kernel(__name__)
        def add_bending(
            x: wp.array(dtype=vec),
            hinges: wp.array(dtype=hinge),
            rest_turns: wp.array(dtype=pair),  # cosine and sine of the rest angle
            hinge_weight: wp.array(dtype=real),
            body: wp.array(dtype=int),
            bending: wp.array(dtype=real),
            bending_every: wp.array(dtype=int),
            substeps: wp.array(dtype=int),
            pulsed: int,
            f_out: wp.array(dtype=vec),
            start_index: int,
        ):
            h = at(start_index + wp.tid())
            ids = hinges[h]  # edge i-j with the faces (i, j, k) and (j, i, m)
            i = at(ids[0])
            j = at(ids[1])
            k = at(ids[2])
            m = at(ids[3])
            b = at(body[i])
            stiff = hinge_weight[h] * bending[b]
            if pulsed != 0:
                every = bending_every[b]
                if substeps[0] % every != 0:
                    return
                stiff *= real(every)
            edge = x[j] - x[i]
            ki = x[k] - x[i]
            mi = x[m] - x[i]
            n1 = wp.cross(edge, ki)
            n2 = wp.cross(mi, edge)
            size2 = wp.dot(edge, edge)
            n1_2 = wp.dot(n1, n1)
            n2_2 = wp.dot(n2, n2)
            if size2 <= real(0.0) or n1_2 <= real(0.0) or n2_2 <= real(0.0):
                return
            size = wp.sqrt(size2)
            inverse = real(1.0) / size
            # theta: signed angle between the normals; positive when k and m bend away from the normals' side
            sine = inverse * wp.dot(wp.cross(n1, n2), edge)
            cosine = wp.dot(n1, n2)
            rest = rest_turns[h]
            bent = angle_of(sine * rest[0] - cosine * rest[1], cosine * rest[0] + sine * rest[1])
            least = sliver * size2 * sliver * size2
            s1 = real(1.0)
            s2 = real(1.0)
            if wp.min(n1_2, n2_2) < least:
                s1 = wp.min(n1_2 / least, real(1.0))
                s2 = wp.min(n2_2 / least, real(1.0))
            torque = s1 * s2 * stiff * bent
            # gradient (Bridson, Marino & Fedkiw 2003): the wings move along their normals, the edge balances them
            gk = (-size / n1_2) * n1
            gm = (-size / n2_2) * n2
            tk = wp.dot(ki, edge) * inverse * inverse
            tm = wp.dot(mi, edge) * inverse * inverse
            f_out[k] -= torque * gk
            f_out[m] -= torque * gm
            f_out[i] += torque * ((real(1.0) - tk) * gk + (real(1.0) - tm) * gm)
            f_out[j] += torque * (tk * gk + tm * gm)
            if s1 < real(1.0) or s2 < real(1.0):
                # gradient of the weights: n = edge x wing, s = |n|²/least, least ~ |edge|⁴
                stored = real(0.5) * stiff * bent * bent
                at_k = vec()
                at_m = vec()
                at_j = vec()
                if s1 < real(1.0):
                    at_k = (real(2.0) * s2 * stored / least) * wp.cross(n1, edge)
                    at_j += (real(2.0) * s2 * stored / least) * wp.cross(ki, n1)
                    at_j -= (real(4.0) * s1 * s2 * stored / (size * size)) * edge
                if s2 < real(1.0):
                    at_m = (real(-2.0) * s1 * stored / least) * wp.cross(n2, edge)
                    at_j += (real(-2.0) * s1 * stored / least) * wp.cross(mi, n2)
                    at_j -= (real(4.0) * s1 * s2 * stored / (size * size)) * edge
                f_out[k] -= at_k
                f_out[m] -= at_m
                f_out[j] -= at_j
                f_out[i] += at_k + at_m + at_j

    return SimpleNamespace(add_bending=add_bending)
