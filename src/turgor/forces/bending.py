"""Bending resistance (optional): energy 1/2 kb (theta - theta0)^2 of the angle between neighbouring faces or edges."""

import functools
from types import SimpleNamespace

import warp as wp

from turgor.kernel import Numbers, at

__all__ = ["SLIVER", "kernels"]

SLIVER = 0.05  # a wing lower than this share of its edge gets no more torque: 1/height has no bound as it folds flat


@functools.cache
def kernels(n: Numbers) -> SimpleNamespace:
    """Angle and its gradient, and the kernel."""
    real, vec = n.real, n.vec
    hinge = wp.vec3i if n.dim == 2 else wp.vec4i
    two_pi = wp.constant(real(6.283185307179586))
    sliver = wp.constant(real(SLIVER))
    pi = wp.constant(real(3.141592653589793))

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
            rest: wp.array(dtype=real),
            body: wp.array(dtype=int),
            bending: wp.array(dtype=real),
            f_out: wp.array(dtype=vec),
        ):
            h = at(wp.tid())
            ids = hinges[h]  # previous, middle, next vertex; theta: turning angle at the middle one
            i = at(ids[0])
            j = at(ids[1])
            k = at(ids[2])
            first = x[j] - x[i]
            second = x[k] - x[j]
            angle = wp.atan2(first[0] * second[1] - first[1] * second[0], wp.dot(first, second))
            torque = bending[at(body[j])] * wrapped(angle - rest[h])
            gi = turned(first)
            gk = turned(second)
            f_out[i] -= torque * gi
            f_out[k] -= torque * gk
            f_out[j] += torque * (gi + gk)

    else:

        @n.kernel(__name__)
        def add_bending(
            x: wp.array(dtype=vec),
            hinges: wp.array(dtype=hinge),
            rest: wp.array(dtype=real),
            body: wp.array(dtype=int),
            bending: wp.array(dtype=real),
            f_out: wp.array(dtype=vec),
        ):
            h = at(wp.tid())
            ids = hinges[h]  # edge i-j with the faces (i, j, k) and (j, i, m)
            i = at(ids[0])
            j = at(ids[1])
            k = at(ids[2])
            m = at(ids[3])
            edge = x[j] - x[i]
            ki = x[k] - x[i]
            mi = x[m] - x[i]
            n1 = wp.cross(edge, ki)
            n2 = wp.cross(mi, edge)
            size = wp.length(edge)
            n1_2 = wp.dot(n1, n1)
            n2_2 = wp.dot(n2, n2)
            if size <= real(0.0) or n1_2 <= real(0.0) or n2_2 <= real(0.0):
                return
            # theta: signed angle between the normals; positive when k and m bend away from the normals' side
            angle = wp.atan2(wp.dot(wp.cross(n1, n2), edge) / size, wp.dot(n1, n2))
            torque = bending[at(body[i])] * wrapped(angle - rest[h])
            # gradient (Bridson, Marino & Fedkiw 2003): the wings move along their normals, the edge balances them
            least = wp.pow(sliver * size * size, real(2.0))
            gk = (-size / wp.max(n1_2, least)) * n1
            gm = (-size / wp.max(n2_2, least)) * n2
            tk = wp.dot(ki, edge) / (size * size)
            tm = wp.dot(mi, edge) / (size * size)
            f_out[k] -= torque * gk
            f_out[m] -= torque * gm
            f_out[i] += torque * ((real(1.0) - tk) * gk + (real(1.0) - tm) * gm)
            f_out[j] += torque * (tk * gk + tm * gm)

    return SimpleNamespace(add_bending=add_bending)
