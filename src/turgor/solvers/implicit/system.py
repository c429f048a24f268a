"""The matrix of a Newton step, never assembled: A = c M + C + h K for velocities, in products with vectors.

K is the stiffness, made positive (semi-)definite: with unit vectors u, lengths l and rest lengths l0,

    springs  k u uᵀ + k |1 - l0/l| (1 - u uᵀ)           a compressed spring pushes across as it would pull: |.| keeps
                                                        a step from folding more than the springs can tell
    gas      -dP/dV a aᵀ,  a = dV/dx                    (what P d²V/dx² adds has both signs)
    bending  kb g gᵀ,  g = d angle/dx                   (`bending.py`)
    faces of a material                                 (`membrane.py`)

C is that of dashpots, kd u uᵀ, and of drag. c = 1/h for Backward Euler; statics have a small one instead, which holds
what nothing else holds. Rows and columns of pinned points are left out. Walls and contact are not linear and not in A;
their derivative at a point is its load, and (D + load)⁻¹ D is how far it yields to a force that D would let it follow.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.kernel.blocks import block_sum
from turgor.kernel.numbers import FACE_SHARE, Numbers, at
from turgor.scene.gas import VOLUME_FLOOR
from turgor.solvers.implicit import membrane

__all__ = ["kernels"]


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """find_gas_stiffness and find_diagonal once per Newton step; multiply once per iteration."""
    real, vec, dim = n.real, n.vec, n.dim
    mat = {2: {wp.float32: wp.mat22f, wp.float64: wp.mat22d}, 3: {wp.float32: wp.mat33f, wp.float64: wp.mat33d}}
    block = mat[dim][real]
    faces_of = membrane.kernels(n)
    Tangent, answer_at, block_of = faces_of.Tangent, faces_of.answer_at, faces_of.block_of
    share = wp.constant(real(FACE_SHARE[dim]))
    floor = wp.constant(real(VOLUME_FLOOR))

    @wp.func(inline=True)
    def across(length: real, rest: real, k: real) -> real:
        """Stiffness of a spring across its direction."""
        return k * wp.min(wp.abs(real(1.0) - rest / length), real(1.0))

    @n.kernel(__name__)
    def find_gas_stiffness(
        volume: wp.array(dtype=real),
        rest_volume: wp.array(dtype=real),
        pressure: wp.array(dtype=real),
        gamma: wp.array(dtype=real),
        held: wp.array(dtype=int),
        gas_stiffness: wp.array(dtype=real),
    ):
        """-dP/dV of each body times the factor of a aᵀ by the sums of face vectors; zero for pumps and at the floor."""
        b = at(wp.tid())
        stiffness = real(0.0)
        if held[b] == 0 and volume[b] > floor * rest_volume[b]:
            stiffness = gamma[b] * pressure[b] / volume[b]
        gas_stiffness[b] = stiffness * share * share

    @n.kernel(__name__)
    def multiply(
        chunk_body: wp.array(dtype=int),
        chunk_start: wp.array(dtype=int),
        faces_at: wp.array(dtype=vec),  # sums of face vectors where the matrix is taken
        load: wp.array(dtype=block),
        direction: wp.array(dtype=vec),
        neighbour_start: wp.array(dtype=int),
        neighbours: wp.array(dtype=int),
        spring_along: wp.array(dtype=vec),
        spring_across: wp.array(dtype=real),
        corner_start: wp.array(dtype=int),  # where the corners of hinges at each point begin; empty without bending
        point_corners: wp.array(dtype=int),
        hinge_gradient: wp.array(dtype=vec),
        hinge_opening: wp.array(dtype=real),
        skin_law: wp.array(dtype=int),
        face_corner_start: wp.array(dtype=int),
        face_corners: wp.array(dtype=int),
        face_tangent: wp.array(dtype=Tangent),
        face_answer: wp.array(dtype=vec),
        mass: wp.array(dtype=real),
        inverse_mass: wp.array(dtype=real),
        drag: wp.array(dtype=real),
        decay: wp.array(dtype=real),
        gas_stiffness: wp.array(dtype=real),
        grab_vertex: wp.array(dtype=int),
        grab_stiffness: wp.array(dtype=real),
        grab_damping: wp.array(dtype=real),
        flux: wp.array(dtype=real),  # sum of face vectors times direction, per body
        step: wp.array(dtype=real),  # s: h of each body
        inertia: wp.array(dtype=real),  # 1/s: c
        product: wp.array(dtype=vec),
        chunk_sums: wp.array(dtype=real),
    ):
        """A times a direction, and per chunk of points their inner product, that of the load included."""
        chunk, lane = wp.tid()
        b = chunk_body[chunk]
        gas = step[b] * gas_stiffness[b] * flux[b]
        shift = inertia[b] + drag[b] + decay[b]
        total = real(0.0)
        for q in range(chunk_start[chunk] + lane, chunk_start[chunk + 1], wp.block_dim()):
            i = at(q)
            out = vec()
            if inverse_mass[i] > real(0.0):
                p = direction[i]
                out = shift * mass[i] * p + gas * faces_at[i]
                if skin_law[b] == 0:
                    for s in range(neighbour_start[i], neighbour_start[i + 1]):
                        w = p - direction[at(neighbours[at(s)])]
                        along = spring_along[at(s)]
                        out += spring_across[at(s)] * w + wp.dot(along, w) * along
                else:
                    for s in range(face_corner_start[i], face_corner_start[i + 1]):
                        out += answer_at(face_corners[at(s)], face_tangent, face_answer)
                if corner_start.shape[0] > 0:
                    for s in range(corner_start[i], corner_start[i + 1]):
                        c = at(point_corners[at(s)])
                        out += hinge_opening[c / wp.static(dim + 1)] * hinge_gradient[c]
                if grab_vertex[b] == i:
                    out += (step[b] * grab_stiffness[b] + grab_damping[b]) * p
                total += wp.dot(p, out + load[i] * p)
            product[i] = out
        summed = block_sum(total)
        if lane == 0:
            chunk_sums[chunk] = summed

    @n.kernel(__name__)
    def find_diagonal(
        body: wp.array(dtype=int),
        at_x: wp.array(dtype=vec),
        faces_at: wp.array(dtype=vec),
        neighbour_start: wp.array(dtype=int),
        neighbours: wp.array(dtype=int),
        neighbour_rest: wp.array(dtype=real),
        stiffness: wp.array(dtype=real),
        damping: wp.array(dtype=real),
        mass: wp.array(dtype=real),
        inverse_mass: wp.array(dtype=real),
        drag: wp.array(dtype=real),
        decay: wp.array(dtype=real),
        gas_stiffness: wp.array(dtype=real),
        step: wp.array(dtype=real),
        inertia: wp.array(dtype=real),
        corner_start: wp.array(dtype=int),
        point_corners: wp.array(dtype=int),
        hinge_gradient: wp.array(dtype=vec),
        skin_law: wp.array(dtype=int),
        face_corner_start: wp.array(dtype=int),
        face_corners: wp.array(dtype=int),
        face_tangent: wp.array(dtype=Tangent),
        grab_vertex: wp.array(dtype=int),
        grab_stiffness: wp.array(dtype=real),
        grab_damping: wp.array(dtype=real),
        spring_along: wp.array(dtype=vec),
        spring_across: wp.array(dtype=real),
        diagonal: wp.array(dtype=block),
        inverse_diagonal: wp.array(dtype=block),
    ):
        """The block t 1 + a aᵀ of each spring; the diagonal blocks and their inverses, the preconditioner of Jacobi."""
        i = at(wp.tid())
        b = at(body[i])
        inverse = block()
        own = block()
        if inverse_mass[i] > real(0.0):
            h = step[b]
            k = h * stiffness[b]
            here = at_x[i]
            face = faces_at[i]
            unit = wp.identity(n=wp.static(dim), dtype=real)
            own += (inertia[b] + drag[b] + decay[b]) * mass[i] * unit + h * gas_stiffness[b] * wp.outer(face, face)
            for s in range(neighbour_start[i], neighbour_start[i + 1]):
                d = at_x[at(neighbours[at(s)])] - here
                l2 = wp.dot(d, d)
                t = real(0.0)
                a = vec()
                if l2 > real(0.0):
                    t = across(wp.sqrt(l2), neighbour_rest[at(s)], k)
                    a = wp.sqrt(wp.max(k + damping[b] - t, real(0.0)) / l2) * d
                    own += t * unit + wp.outer(a, a)
                spring_along[at(s)] = a
                spring_across[at(s)] = t
            if skin_law[b] != 0:
                for s in range(face_corner_start[i], face_corner_start[i + 1]):
                    c = face_corners[at(s)]
                    f = at(c / wp.static(dim))
                    own += block_of(face_tangent[f], c - wp.static(dim) * f, c - wp.static(dim) * f)
            if corner_start.shape[0] > 0:
                for s in range(corner_start[i], corner_start[i + 1]):
                    g = hinge_gradient[at(point_corners[at(s)])]
                    own += wp.outer(g, g)
            if grab_vertex[b] == i:
                own += (h * grab_stiffness[b] + grab_damping[b]) * unit
            inverse = wp.inverse(own)
        diagonal[i] = own
        inverse_diagonal[i] = inverse

    @n.kernel(__name__)
    def find_residual(
        smooth: wp.array(dtype=vec),
        contact_force: wp.array(dtype=vec),
        inverse_mass: wp.array(dtype=real),
        diagonal: wp.array(dtype=block),
        load: wp.array(dtype=block),
        residual: wp.array(dtype=vec),
        yielding: wp.array(dtype=block),
    ):
        """What is left of all forces, and how far a point yields to others under its load."""
        i = at(wp.tid())
        if inverse_mass[i] > real(0.0):
            residual[i] = smooth[i] + contact_force[i]
            hard = load[i]
            yields = wp.identity(n=wp.static(dim), dtype=real)
            if wp.trace(hard) > real(0.0):
                own = diagonal[i]
                yields = wp.inverse(own + hard) * own
            yielding[i] = yields

    return SimpleNamespace(
        find_gas_stiffness=find_gas_stiffness, multiply=multiply, find_diagonal=find_diagonal,
        find_residual=find_residual, across=across, block=block, Tangent=Tangent,
    )  # fmt: skip
