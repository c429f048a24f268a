"""The third level of the preconditioner: each body as a whole, with what it presses against.

A body that touches something is held: its rigid motion, which only inertia resists in free flight, meets the load of
all its points that touch. Loads come and go in the course of a solution, so this level is not frozen like the coarse
matrix, from which the rigid motion of the whole is taken out: with R the rigid motions, it is R (Rᵀ (A + load) R)⁻¹ Rᵀ,
and A R = c M R, as forces between the points of a body do not resist it.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.kernel.blocks import block_sum
from turgor.kernel.numbers import Numbers, at
from turgor.solvers.implicit import rigid_part, system

__all__ = ["kernels"]


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """sum_whole, solve_whole; move_with adds the motion of the body of a point."""
    real, vec, dim, wide = n.real, n.vec, n.dim, n.wide
    modes = 3 if dim == 2 else 6
    count = modes + modes * (modes + 1) // 2
    sums_type = wp.types.vector(length=count, dtype=wp.float64)
    motion = wp.types.vector(length=modes, dtype=wp.float64)
    square = wp.types.matrix(shape=(modes, modes), dtype=wp.float64)
    block = system.kernels(n).block
    rigid = rigid_part.kernels(n)
    row, inertia_about, get_vector = rigid.row, rigid.inertia_about, rigid.get_vector
    tiny = wp.constant(wp.float64(1.0e-12))

    if dim == 2:

        @wp.func
        def mode(r: wide, k: int) -> wide:
            if k == 0:
                return wide(wp.float64(1.0), wp.float64(0.0))
            if k == 1:
                return wide(wp.float64(0.0), wp.float64(1.0))
            return wide(-r[1], r[0])

        @wp.func
        def inertia_of(matrix: square, sums: row, c: wp.float64) -> square:
            out = matrix
            out[2, 2] = out[2, 2] + c * inertia_about(sums, get_vector(sums, 1) / sums[0])
            return out

        @wp.func
        def move_of(m: motion, r: wide) -> wide:
            return wide(m[0] - m[2] * r[1], m[1] + m[2] * r[0])

    else:

        @wp.func
        def mode(r: wide, k: int) -> wide:
            e = wide()
            e[k % 3] = wp.float64(1.0)
            if k < 3:
                return e
            return wp.cross(e, r)

        @wp.func
        def inertia_of(matrix: square, sums: row, c: wp.float64) -> square:
            out = matrix
            about = inertia_about(sums, get_vector(sums, 1) / sums[0])
            for i in range(3):
                for j in range(3):
                    out[3 + i, 3 + j] = out[3 + i, 3 + j] + c * about[i, j]
            return out

        @wp.func
        def move_of(m: motion, r: wide) -> wide:
            return wide(m[0], m[1], m[2]) + wp.cross(wide(m[3], m[4], m[5]), r)

    @n.kernel(__name__)
    def sum_whole(
        chunk_body: wp.array(dtype=int),
        chunk_start: wp.array(dtype=int),
        x_from: wp.array(dtype=vec),
        body_centre: wp.array(dtype=wide),
        residual: wp.array(dtype=vec),
        load: wp.array(dtype=block),
        chunk_whole: wp.array(dtype=sums_type),
    ):
        """Force and moment on a chunk of points, and its load against the motions of the body."""
        chunk, lane = wp.tid()
        centre = body_centre[chunk_body[chunk]]
        sums = sums_type()
        for q in range(chunk_start[chunk] + lane, chunk_start[chunk + 1], wp.block_dim()):
            i = at(q)
            r = wide(x_from[i]) - centre
            g = wide(residual[i])
            hard = load[i]
            loaded = wp.trace(hard) > real(0.0)
            for k in range(dim):
                sums[k] = sums[k] + g[k]
            if wp.static(dim == 2):
                sums[2] = sums[2] + r[0] * g[1] - r[1] * g[0]
            else:
                turning = wp.cross(r, g)
                for k in range(3):
                    sums[3 + k] = sums[3 + k] + turning[k]
            if loaded:
                place = int(modes)
                for k in range(wp.static(modes)):
                    pushed = wide(hard * vec(mode(r, k)))
                    for l in range(k, wp.static(modes)):  # noqa: E741
                        sums[place] = sums[place] + wp.dot(mode(r, l), pushed)
                        place += 1
        whole = sums_type()
        for k in range(wp.static(count)):
            summed = block_sum(sums[k])
            whole[k] = summed
        if lane == 0:
            chunk_whole[chunk] = whole

    @n.kernel(__name__)
    def solve_whole(
        chunk_first: wp.array(dtype=int),
        chunk_whole: wp.array(dtype=sums_type),
        body_sums: wp.array(dtype=row),
        free: wp.array(dtype=int),
        inertia: wp.array(dtype=real),
        body_motion: wp.array(dtype=motion),
    ):
        """The motion of each free body under its residual, by elimination (the matrix is symmetric and positive)."""
        b = wp.tid()
        right = motion()
        if free[b] != 0:
            sums = sums_type()
            for c in range(chunk_first[b], chunk_first[b + 1]):
                sums += chunk_whole[c]
            matrix = square()
            place = int(modes)
            for k in range(wp.static(modes)):
                right[k] = sums[k]
                for l in range(k, wp.static(modes)):  # noqa: E741
                    matrix[k, l] = sums[place]
                    matrix[l, k] = sums[place]
                    place += 1
            moving = wp.float64(inertia[b])
            for k in range(dim):
                matrix[k, k] = matrix[k, k] + moving * body_sums[b][0]
            matrix = inertia_of(matrix, body_sums[b], moving)
            size = wp.trace(matrix)
            for k in range(wp.static(modes)):
                pivot = matrix[k, k]
                if pivot > tiny * size:
                    for j in range(k + 1, wp.static(modes)):
                        share = matrix[j, k] / pivot
                        for l in range(k, wp.static(modes)):  # noqa: E741
                            matrix[j, l] = matrix[j, l] - share * matrix[k, l]
                        right[j] = right[j] - share * right[k]
            for back in range(wp.static(modes)):
                k = wp.static(modes) - 1 - back
                total = right[k]
                for l in range(k + 1, wp.static(modes)):  # noqa: E741
                    total -= matrix[k, l] * right[l]
                right[k] = wp.float64(0.0)
                if matrix[k, k] > tiny * size:
                    right[k] = total / matrix[k, k]
        body_motion[b] = right

    return SimpleNamespace(
        sums_type=sums_type, motion=motion, move_of=move_of, sum_whole=sum_whole, solve_whole=solve_whole
    )
