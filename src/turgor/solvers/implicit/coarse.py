"""The coarse space of a body: pieces of it that move like rigid bodies, and the matrix of a Newton step for them.

Conjugate gradients need as many iterations as it takes to carry a force from vertex to vertex across a body. A second
level carries it at once: with P the motions of m pieces (translation and rotation of each), the preconditioner is
D⁻¹ + P (Pᵀ A P)⁻¹ Pᵀ (Nicolaides 1987). The inverse is dense and computed on the host when shape or parameters have
changed much; it also holds the gas, whose stiffness couples all points of a body. It turns with the body: forces and
motions of the pieces are those in axes that have turned with it since then.
"""

import functools
from types import SimpleNamespace
from typing import Any, no_type_check

import numpy as np
import numpy.typing as npt
import warp as wp

from turgor.kernel.blocks import block_sum
from turgor.kernel.numbers import Numbers, at
from turgor.solvers.implicit import membrane, system

__all__ = ["LANES", "kernels", "lanes_of", "pieces"]

FloatArray = npt.NDArray[np.float64]

LANES = 8  # entries of a row that are multiplied at once


@functools.cache
def lanes_of(n: Numbers) -> Any:
    """Warp type of so many entries."""
    return wp.types.vector(length=LANES, dtype=n.real)


def pieces(points: FloatArray, count: int) -> npt.NDArray[np.int32]:
    """(n,) the piece of each point, of at most `count`: points nearest to centres that are far from each other."""
    count = min(count, len(points))
    nearest = np.zeros(len(points), np.int32)
    square = np.full(len(points), np.inf)
    centre = 0
    for number in range(count):
        away = points - points[centre]
        further = np.einsum("ij,ij->i", away, away)
        closer = further < square
        nearest[closer] = number
        square[closer] = further[closer]
        centre = int(square.argmax())
    return nearest


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """find_centres and assemble, when the matrix is renewed; restrict, solve and prolong, in each iteration."""
    real, vec, dim = n.real, n.vec, n.dim
    across, fine_block = system.kernels(n).across, system.kernels(n).block
    Tangent, block_of = system.kernels(n).Tangent, membrane.kernels(n).block_of
    modes = dim + (1 if dim == 2 else 3)
    wide = n.wide
    hinge = wp.vec3i if dim == 2 else wp.vec4i
    block = wp.mat22d if dim == 2 else wp.mat33d
    lanes = lanes_of(n)
    twist = wp.types.vector(length=1, dtype=wp.float64) if dim == 2 else wp.vec3d

    if dim == 2:

        @wp.func
        def cross(arm: wide, p: wide) -> twist:
            return twist(arm[0] * p[1] - arm[1] * p[0])

        @wp.func
        def mode(r: vec, k: int) -> wide:
            """Motion of a point at r from the centre of its piece in the kth of its motions."""
            if k == 0:
                return wide(wp.float64(1.0), wp.float64(0.0))
            if k == 1:
                return wide(wp.float64(0.0), wp.float64(1.0))
            return wide(-wp.float64(r[1]), wp.float64(r[0]))

    else:

        @wp.func
        def cross(arm: wide, p: wide) -> twist:
            return wp.cross(arm, p)

        @wp.func
        def mode(r: vec, k: int) -> wide:
            """Motion of a point at r from the centre of its piece in the kth of its motions."""
            e = wide()
            e[k % 3] = wp.float64(1.0)
            if k < 3:
                return e
            return wp.cross(e, wide(wp.float64(r[0]), wp.float64(r[1]), wp.float64(r[2])))

    @n.kernel(__name__)
    def find_arms(
        piece_start: wp.array(dtype=int),
        piece_points: wp.array(dtype=int),
        at_x: wp.array(dtype=vec),
        arm: wp.array(dtype=vec),
    ):
        """Of each point from the middle of its piece."""
        a = wp.tid()
        total = vec()
        for q in range(piece_start[a], piece_start[a + 1]):
            total += at_x[at(piece_points[at(q)])]
        middle = total / real(wp.max(piece_start[a + 1] - piece_start[a], 1))
        for q in range(piece_start[a], piece_start[a + 1]):
            i = at(piece_points[at(q)])
            arm[i] = at_x[i] - middle

    @wp.func
    def add_block(
        matrix: wp.array(dtype=wp.float64), first: int, size: int, a: int, b: int, ra: vec, rb: vec, m: block
    ):
        """Add P_aᵀ m P_b to the rows of piece a and the columns of piece b."""
        for k in range(wp.static(modes)):
            row = first + (wp.static(modes) * a + k) * size + wp.static(modes) * b
            left = mode(ra, k) * m
            for l in range(wp.static(modes)):  # noqa: E741
                wp.atomic_add(matrix, row + l, wp.dot(left, mode(rb, l)))

    @n.kernel(__name__)
    def assemble(
        body: wp.array(dtype=int),
        piece: wp.array(dtype=int),  # of each point, among those of its body
        matrix_start: wp.array(dtype=int),
        matrix_size: wp.array(dtype=int),
        arm: wp.array(dtype=vec),
        at_x: wp.array(dtype=vec),
        neighbour_start: wp.array(dtype=int),
        neighbours: wp.array(dtype=int),
        neighbour_rest: wp.array(dtype=real),
        corner_start: wp.array(dtype=int),
        point_corners: wp.array(dtype=int),
        hinges: wp.array(dtype=hinge),
        hinge_gradient: wp.array(dtype=vec),
        skin_law: wp.array(dtype=int),
        faces: wp.array(dtype=n.face),
        face_corner_start: wp.array(dtype=int),
        face_corners: wp.array(dtype=int),
        face_tangent: wp.array(dtype=Tangent),
        stiffness: wp.array(dtype=real),
        damping: wp.array(dtype=real),
        mass: wp.array(dtype=real),
        inverse_mass: wp.array(dtype=real),
        drag: wp.array(dtype=real),
        decay: wp.array(dtype=real),
        step: wp.array(dtype=real),
        inertia: wp.array(dtype=real),
        coarse_matrix: wp.array(dtype=wp.float64),
    ):
        """The rows of a point, without the gas."""
        i = at(wp.tid())
        if inverse_mass[i] <= real(0.0):
            return
        b = at(body[i])
        first = matrix_start[b]
        size = matrix_size[b]
        k = step[b] * stiffness[b]
        unit = wp.identity(n=wp.static(dim), dtype=wp.float64)
        own = wp.float64((inertia[b] + drag[b] + decay[b]) * mass[i]) * unit
        if skin_law[b] != 0:
            for s in range(face_corner_start[i], face_corner_start[i + 1]):
                c = face_corners[at(s)]
                f = at(c / wp.static(dim))
                for corner in range(wp.static(dim)):
                    j = at(faces[f][corner])
                    if inverse_mass[j] > real(0.0):
                        m = block(block_of(face_tangent[f], c - wp.static(dim) * f, corner))
                        add_block(coarse_matrix, first, size, piece[i], piece[j], arm[i], arm[j], m)
        for s in range(neighbour_start[i], neighbour_start[i + 1]):
            j = at(neighbours[at(s)])
            d = at_x[j] - at_x[i]
            l2 = wp.dot(d, d)
            if l2 > real(0.0) and skin_law[b] == 0:
                t = across(wp.sqrt(l2), neighbour_rest[at(s)], k)
                e = wide()
                for axis in range(wp.static(dim)):
                    e[axis] = wp.float64(d[axis])
                m = wp.float64(t) * unit + wp.float64((k + damping[b] - t) / l2) * wp.outer(e, e)
                own += m
                if inverse_mass[j] > real(0.0):
                    add_block(coarse_matrix, first, size, piece[i], piece[j], arm[i], arm[j], -m)
        add_block(coarse_matrix, first, size, piece[i], piece[i], arm[i], arm[i], own)
        if corner_start.shape[0] > 0:
            for s in range(corner_start[i], corner_start[i + 1]):
                c = at(point_corners[at(s)])
                which = c / wp.static(dim + 1)
                g = wide(hinge_gradient[c])
                for corner in range(wp.static(dim + 1)):
                    j = at(hinges[which][corner])
                    if inverse_mass[j] > real(0.0):
                        m = wp.outer(g, wide(hinge_gradient[wp.static(dim + 1) * which + corner]))
                        add_block(coarse_matrix, first, size, piece[i], piece[j], arm[i], arm[j], m)

    @n.kernel(__name__)
    def restrict(
        piece_start: wp.array(dtype=int),
        piece_points: wp.array(dtype=int),
        piece_row: wp.array(dtype=int),
        body: wp.array(dtype=int),
        turned: wp.array(dtype=fine_block),
        arm: wp.array(dtype=vec),
        inverse_mass: wp.array(dtype=real),
        yielding: wp.array(dtype=fine_block),
        fine: wp.array(dtype=vec),
        coarse_right: wp.array(dtype=real),
    ):
        """Pᵀ of a vector: force and moment on each piece."""
        a = wp.tid()
        total = wide()
        turning = twist()
        for q in range(piece_start[a], piece_start[a + 1]):
            i = at(piece_points[at(q)])
            if inverse_mass[i] > real(0.0):
                g = wide(wp.transpose(yielding[i]) * fine[i])
                total += g
                turning += cross(wide(arm[i]), g)
        row = piece_row[a]
        back = wp.transpose(turned[body[piece_points[piece_start[a]]]])
        force = back * vec(total)
        for k in range(wp.static(dim)):
            coarse_right[row + k] = force[k]
        if wp.static(dim == 2):
            coarse_right[row + 2] = real(turning[0])
        else:
            moment = back * vec(turning)
            for k in range(3):
                coarse_right[row + 3 + k] = moment[k]

    @n.kernel(__name__)
    def solve(
        row_lanes: wp.array(dtype=int),  # of each row of all bodies: where its entries begin
        row_right: wp.array(dtype=int),  # and where those of the right side do
        row_width: wp.array(dtype=int),
        coarse_inverse: wp.array(dtype=lanes),
        right_lanes: wp.array(dtype=lanes),
        coarse_left: wp.array(dtype=real),
    ):
        """The inverse of the coarse matrix times a right side."""
        row, lane = wp.tid()
        total = lanes()
        start = row_lanes[row]
        right = row_right[row]
        for q in range(lane, row_width[row], wp.block_dim()):
            total += wp.cw_mul(coarse_inverse[at(start + q)], right_lanes[at(right + q)])
        own = real(0.0)
        for k in range(LANES):
            own += total[k]
        summed = block_sum(own)
        if lane == 0:
            coarse_left[row] = summed

    @n.kernel(__name__)
    def prolong(
        body: wp.array(dtype=int),
        piece: wp.array(dtype=int),
        row_start: wp.array(dtype=int),  # of each body
        turned: wp.array(dtype=fine_block),
        arm: wp.array(dtype=vec),
        inverse_mass: wp.array(dtype=real),
        coarse_left: wp.array(dtype=real),
        coarse: wp.array(dtype=vec),
    ):
        """P of a coarse solution: how each point moves with its piece."""
        i = at(wp.tid())
        out = vec()
        if inverse_mass[i] > real(0.0):
            first = row_start[at(body[i])] + wp.static(modes) * piece[i]
            for k in range(wp.static(dim)):
                out[k] = coarse_left[at(first + k)]
            r = arm[i]
            back = turned[at(body[i])]
            out = back * out
            if wp.static(dim == 2):
                spin = coarse_left[at(first + 2)]
                out += vec(-spin * r[1], spin * r[0])
            else:
                spin = vec(coarse_left[at(first + 3)], coarse_left[at(first + 4)], coarse_left[at(first + 5)])
                out += wp.cross(back * spin, r)
        coarse[i] = out

    return SimpleNamespace(
        modes=modes, find_arms=find_arms, assemble=assemble, restrict=restrict, solve=solve, prolong=prolong
    )
