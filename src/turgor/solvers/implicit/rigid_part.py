"""The part of a body's motion that is rigid: its momentum and angular momentum, and what a step owes them.

A step of Backward Euler evaluates forces where it ends. Forces between the points of a body have no moment there, but
they have one about where it begins, so a spinning body would lose angular momentum, by h Σ v×f in each step; and what
an iteration leaves of the residual would be a force from outside. Both are given back as a rigid motion of the body.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.kernel.blocks import block_sum
from turgor.kernel.numbers import Numbers, at
from turgor.solvers.implicit import system

__all__ = ["SUMS", "kernels"]

SUMS = 17  # per chunk: mass, first moments (3), momentum (3), moment of momentum (3), second moments (6), m v²


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """sum_motion, find_motion, turn_axes at the start of a step; sum_debt, find_debt, repay at its end."""
    real, vec, dim, wide = n.real, n.vec, n.dim, n.wide
    d0 = wp.constant(wp.float64(0.0))
    row = wp.types.vector(length=SUMS, dtype=wp.float64)
    twist = wp.float64 if dim == 2 else wp.vec3d
    inertia = wp.float64 if dim == 2 else wp.mat33d
    block = system.kernels(n).block

    @wp.func
    def total_of(partial: row, lane: int) -> row:
        """Sum over the lanes of a block."""
        total = row()
        for k in range(SUMS):
            summed = block_sum(partial[k])
            total[k] = summed
        return total

    if dim == 2:

        @wp.func
        def moment(arm: wide, p: wide) -> twist:
            return arm[0] * p[1] - arm[1] * p[0]

        @wp.func
        def swing(spin: twist, arm: wide) -> wide:
            return wide(-spin * arm[1], spin * arm[0])

        @wp.func
        def by_turning(spin: twist, h: wp.float64, arm: wide) -> wide:
            """Displacement of a point that turns by spin for h."""
            c = wp.cos(spin * h) - wp.float64(1.0)
            s = wp.sin(spin * h)
            return wide(c * arm[0] - s * arm[1], s * arm[0] + c * arm[1])

        @wp.func
        def put(sums: row, first: int, m: twist) -> row:
            out = sums
            out[first] = out[first] + m
            return out

        @wp.func
        def get(sums: row, first: int) -> twist:
            return sums[first]

        @wp.func
        def second(sums: row, m: wp.float64, r: wide) -> row:
            out = sums
            out[10] = out[10] + m * wp.dot(r, r)
            return out

        @wp.func
        def inertia_about(sums: row, centre: wide) -> inertia:
            return sums[10] - sums[0] * wp.dot(centre, centre)

        @wp.func
        def spin_of(i: inertia, momentum: twist) -> twist:
            if i > d0:
                return momentum / i
            return d0

    else:

        @wp.func
        def moment(arm: wide, p: wide) -> twist:
            return wp.cross(arm, p)

        @wp.func
        def swing(spin: twist, arm: wide) -> wide:
            return wp.cross(spin, arm)

        @wp.func
        def by_turning(spin: twist, h: wp.float64, arm: wide) -> wide:
            """Displacement of a point that turns by spin for h (Rodrigues)."""
            speed = wp.length(spin)
            if speed * h < wp.float64(1.0e-12):
                return h * wp.cross(spin, arm)
            axis = spin / speed
            across = wp.cross(axis, arm)
            return wp.sin(speed * h) * across + (wp.float64(1.0) - wp.cos(speed * h)) * wp.cross(axis, across)

        @wp.func
        def put(sums: row, first: int, m: twist) -> row:
            out = sums
            for k in range(3):
                out[first + k] = out[first + k] + m[k]
            return out

        @wp.func
        def get(sums: row, first: int) -> twist:
            return wp.vec3d(sums[first], sums[first + 1], sums[first + 2])

        @wp.func
        def second(sums: row, m: wp.float64, r: wide) -> row:
            out = sums
            out[10] = out[10] + m * r[0] * r[0]
            out[11] = out[11] + m * r[1] * r[1]
            out[12] = out[12] + m * r[2] * r[2]
            out[13] = out[13] + m * r[0] * r[1]
            out[14] = out[14] + m * r[1] * r[2]
            out[15] = out[15] + m * r[2] * r[0]
            return out

        @wp.func
        def inertia_about(sums: row, centre: wide) -> inertia:
            xx = sums[10] - sums[0] * centre[0] * centre[0]
            yy = sums[11] - sums[0] * centre[1] * centre[1]
            zz = sums[12] - sums[0] * centre[2] * centre[2]
            xy = sums[13] - sums[0] * centre[0] * centre[1]
            yz = sums[14] - sums[0] * centre[1] * centre[2]
            zx = sums[15] - sums[0] * centre[2] * centre[0]
            return wp.mat33d(yy + zz, -xy, -zx, -xy, zz + xx, -yz, -zx, -yz, xx + yy)

        @wp.func
        def spin_of(i: inertia, momentum: twist) -> twist:
            size = wp.trace(i)
            if wp.determinant(i) > wp.float64(1.0e-12) * size * size * size:
                return wp.inverse(i) * momentum
            return wp.vec3d()

    @wp.func
    def put_vector(sums: row, first: int, p: wide) -> row:
        out = sums
        for k in range(wp.static(dim)):
            out[first + k] = out[first + k] + p[k]
        return out

    @wp.func
    def get_vector(sums: row, first: int) -> wide:
        out = wide()
        for k in range(wp.static(dim)):
            out[k] = sums[first + k]
        return out

    @n.kernel(__name__)
    def sum_motion(
        chunk_body: wp.array(dtype=int),
        chunk_start: wp.array(dtype=int),
        reference: wp.array(dtype=int),
        x: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        mass: wp.array(dtype=real),
        moments: wp.array(dtype=row),
    ):
        """The moments of a chunk of points about the body's first point."""
        chunk, lane = wp.tid()
        origin = wide(x[reference[chunk_body[chunk]]])
        sums = row()
        for q in range(chunk_start[chunk] + lane, chunk_start[chunk + 1], wp.block_dim()):
            i = at(q)
            m = wp.float64(mass[i])
            r = wide(x[i]) - origin
            p = m * wide(v[i])
            sums[0] = sums[0] + m
            sums = put_vector(sums, 1, m * r)
            sums = put_vector(sums, 4, p)
            sums = put(sums, 7, moment(r, p))
            sums = second(sums, m, r)
            sums[16] = sums[16] + m * wp.length_sq(wide(v[i]))
        whole = total_of(sums, lane)
        if lane == 0:
            moments[chunk] = whole

    @n.kernel(__name__)
    def find_motion(
        chunk_first: wp.array(dtype=int),
        reference: wp.array(dtype=int),
        x: wp.array(dtype=vec),
        moments: wp.array(dtype=row),
        body_sums: wp.array(dtype=row),
        body_centre: wp.array(dtype=wide),
        body_velocity: wp.array(dtype=wide),
        body_spin: wp.array(dtype=twist),
    ):
        """Centre of mass, velocity and spin of each body."""
        b = wp.tid()
        sums = row()
        for c in range(chunk_first[b], chunk_first[b + 1]):
            sums += moments[c]
        centre = get_vector(sums, 1) / sums[0]
        momentum = get_vector(sums, 4)
        spin = spin_of(inertia_about(sums, centre), get(sums, 7) - moment(centre, momentum))
        body_sums[b] = sums
        body_centre[b] = wide(x[reference[b]]) + centre
        body_velocity[b] = momentum / sums[0]
        body_spin[b] = spin

    @n.kernel(__name__)
    def turn_axes(
        free: wp.array(dtype=int),
        body_spin: wp.array(dtype=twist),
        dt: wp.array(dtype=real),
        turned: wp.array(dtype=block),
    ):
        """Axes that turn with each free body (`coarse.py`)."""
        b = wp.tid()
        if free[b] != 0:
            old = turned[b]
            new = block()
            h = wp.float64(dt[0])
            for k in range(wp.static(dim)):
                axis = vec()
                for j in range(wp.static(dim)):
                    axis[j] = old[j, k]
                axis += vec(by_turning(body_spin[b], h, wide(axis)))
                axis = wp.normalize(axis)
                for j in range(wp.static(dim)):
                    new[j, k] = axis[j]
            turned[b] = new

    @n.kernel(__name__)
    def sum_debt(
        chunk_body: wp.array(dtype=int),
        chunk_start: wp.array(dtype=int),
        x_from: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        v_from: wp.array(dtype=vec),
        force: wp.array(dtype=vec),  # N, without walls and contact: those of springs and gas where the step ends,
        contact_force: wp.array(dtype=vec),  # these, and weight, where it begins
        wall_force_now: wp.array(dtype=vec),
        mass: wp.array(dtype=real),
        inverse_mass: wp.array(dtype=real),
        body_gravity: wp.array(dtype=vec),
        drag: wp.array(dtype=real),
        decay: wp.array(dtype=real),
        body_centre: wp.array(dtype=wide),
        step: wp.array(dtype=real),
        moments: wp.array(dtype=row),
    ):
        """What momentum and angular momentum have not got of the impulse of all forces, per chunk."""
        chunk, lane = wp.tid()
        b = chunk_body[chunk]
        centre = body_centre[b]
        h = wp.float64(step[b])
        slowing = drag[b] + decay[b]
        sums = row()
        for q in range(chunk_start[chunk] + lane, chunk_start[chunk + 1], wp.block_dim()):
            i = at(q)
            r = wide(x_from[i]) - centre
            outside = vec()
            if inverse_mass[i] > real(0.0):
                outside = mass[i] * (body_gravity[b] - slowing * v[i])
            f = h * wide(force[i] - outside)
            rest = h * wide(contact_force[i] + outside) - wp.float64(mass[i]) * (wide(v[i]) - wide(v_from[i]))
            sums[0] = sums[0] + wp.float64(wp.length(wall_force_now[i]))
            sums = put_vector(sums, 4, f + rest)
            sums = put(sums, 7, moment(r + h * wide(v[i]), f) + moment(r, rest))
        whole = total_of(sums, lane)
        if lane == 0:
            moments[chunk] = whole

    @n.kernel(__name__)
    def find_debt(
        chunk_first: wp.array(dtype=int),
        moments: wp.array(dtype=row),
        body_sums: wp.array(dtype=row),
        free: wp.array(dtype=int),
        body_velocity: wp.array(dtype=wide),
        body_spin: wp.array(dtype=twist),
        near_wall: wp.array(dtype=int),  # steps for which a body that has touched a wall is looked at
        wall_pressing: wp.array(dtype=real),  # N
        steps: int,
    ):
        """The rigid motion that gives it back."""
        b = wp.tid()
        sums = row()
        for c in range(chunk_first[b], chunk_first[b + 1]):
            sums += moments[c]
        whole = body_sums[b]
        about = inertia_about(whole, get_vector(whole, 1) / whole[0])
        owed = get_vector(sums, 4) / whole[0]
        turn = spin_of(about, get(sums, 7))
        if free[b] == 0 or sums[0] > d0:  # pins and walls take it
            owed = wide()
            turn = twist(d0)
        wall_pressing[b] = real(sums[0])
        near_wall[b] = wp.where(sums[0] > d0, steps, wp.max(near_wall[b] - 1, 0))
        body_velocity[b] = owed
        body_spin[b] = turn

    @n.kernel(__name__)
    def repay(
        x_from: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        body: wp.array(dtype=int),
        body_centre: wp.array(dtype=wide),
        body_velocity: wp.array(dtype=wide),
        body_spin: wp.array(dtype=twist),
    ):
        """Give it back."""
        i = at(wp.tid())
        b = at(body[i])
        v[i] = v[i] + vec(body_velocity[b] + swing(body_spin[b], wide(x_from[i]) - body_centre[b]))

    return SimpleNamespace(
        row=row, twist=twist, sum_motion=sum_motion, find_motion=find_motion, turn_axes=turn_axes,
        by_turning=by_turning, swing=swing, inertia_about=inertia_about, get_vector=get_vector, sum_debt=sum_debt,
        inertia=inertia, moment=moment, put=put, get=get, second=second, spin_of=spin_of, put_vector=put_vector,
        total_of=total_of,
        find_debt=find_debt, repay=repay,
    )  # fmt: skip
