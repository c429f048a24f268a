"""Rotation of rigid bodies: exact quaternion update, free rotation, world inverse inertia (B8, B16, law 10).

The state is position, velocity, orientation and ANGULAR MOMENTUM in world coordinates: without torque nothing writes
to it, so it is kept to the last bit, and a contact adds arm x impulse to it. The angular velocity follows from it.
Bodies are described in their principal axes about the centre of mass (turgor.shapes.mass), with moments in any order.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.kernel.numbers import Numbers

__all__ = ["kernels"]

# Half angles below this take sin(a)/a and cos(a) from their series: the next terms, a⁸/9! and a⁸/8!, are below 1e-20.
SMALL = wp.constant(wp.float64(0.01))


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """Device functions. `pose`: type of an orientation, a quaternion (x, y, z, w) or in 2D an angle; `mat`: its matrix.

    Inertia is a `spin_type` like the angular velocity: principal moments in 3D, a number in 2D.
    """
    real, vec, spin_type = n.real, n.vec, n.spin

    if n.dim == 2:
        pose = real
        mat = wp.mat22f if n.precision == "single" else wp.mat22d
        two_pi = wp.constant(real(6.283185307179586))

        @wp.func
        def rotate(q: pose, v: vec) -> vec:
            """Body to world."""
            c = wp.cos(q)
            s = wp.sin(q)
            return vec(c * v[0] - s * v[1], s * v[0] + c * v[1])

        @wp.func
        def rotate_back(q: pose, v: vec) -> vec:
            """World to body."""
            return rotate(-q, v)

        @wp.func
        def matrix(q: pose) -> mat:
            """Body to world."""
            c = wp.cos(q)
            s = wp.sin(q)
            return mat(c, -s, s, c)

        @wp.func
        def turned(q: pose, spin: spin_type, dt: real) -> pose:
            """Orientation after turning for dt, kept within half a turn of zero, where it has all its digits."""
            angle = q + spin * dt
            return angle - two_pi * wp.round(angle / two_pi)

        @wp.func
        def world_inverse_inertia(q: pose, inverse_inertia: spin_type) -> real:
            return inverse_inertia

        @wp.func
        def spin_of(q: pose, inverse_inertia: spin_type, angular: spin_type) -> spin_type:
            """Angular velocity for an angular momentum, both in world coordinates."""
            return inverse_inertia * angular

        @wp.func
        def free_turn(q: pose, inverse_inertia: spin_type, angular: spin_type, dt: real) -> pose:
            """Orientation after dt of rotation without torque."""
            return turned(q, inverse_inertia * angular, dt)

    else:
        pose = wp.quatf if n.precision == "single" else wp.quatd
        mat = wp.mat33f if n.precision == "single" else wp.mat33d

        @wp.func
        def rotate(q: pose, v: vec) -> vec:
            """Body to world: v + 2w u×v + 2 u×(u×v) with q = (u, w)."""
            u = vec(q[0], q[1], q[2])
            t = real(2.0) * wp.cross(u, v)
            return v + q[3] * t + wp.cross(u, t)

        @wp.func
        def rotate_back(q: pose, v: vec) -> vec:
            """World to body."""
            u = vec(-q[0], -q[1], -q[2])
            t = real(2.0) * wp.cross(u, v)
            return v + q[3] * t + wp.cross(u, t)

        @wp.func
        def matrix(q: pose) -> mat:
            """Body to world."""
            return wp.quat_to_matrix(q)

        # Rotations are composed in double precision whatever the state's: rounded in between, a tumbling box gains or
        # loses energy steadily (3e-4 in 100000 steps); rounded once, when stored, it does not.
        @wp.func
        def exponential(half: wp.vec3d) -> wp.quatd:
            """exp of the pure quaternion `half`: the rotation by 2|half| about it."""
            one = wp.float64(1.0)
            a2 = wp.dot(half, half)
            a = wp.sqrt(a2)
            s = one  # sin(a)/a
            c = one
            if a < SMALL:
                s = one - a2 / wp.float64(6.0) * (one - a2 / wp.float64(20.0) * (one - a2 / wp.float64(42.0)))
                c = one - a2 / wp.float64(2.0) * (one - a2 / wp.float64(12.0) * (one - a2 / wp.float64(30.0)))
            else:
                s = wp.sin(a) / a
                c = wp.cos(a)
            return wp.quatd(s * half[0], s * half[1], s * half[2], c)

        @wp.func
        def about_axis(q: wp.quatd, axis: wp.vec3d, share: wp.float64, angular: wp.vec3d) -> wp.quatd:
            """Flow of ½ (share/dt) (L·axis)² for dt: a turn about a body axis by share (L·axis); L is constant."""
            if share == wp.float64(0.0):
                return q
            along = wp.dot(wp.quat_rotate(q, axis), angular)
            return q * exponential((wp.float64(0.5) * share * along) * axis)

        @wp.func
        def wide(q: pose) -> wp.quatd:
            return wp.quatd(wp.float64(q[0]), wp.float64(q[1]), wp.float64(q[2]), wp.float64(q[3]))

        @wp.func
        def stored(q: wp.quatd) -> pose:
            """Round-off would let the length wander: it is put back to one."""
            unit = wp.normalize(q)
            return pose(real(unit[0]), real(unit[1]), real(unit[2]), real(unit[3]))

        @wp.func
        def turned(q: pose, spin: spin_type, dt: real) -> pose:
            """Orientation after turning with a constant world angular velocity for dt: exp(spin dt/2) q, exact.

            Martin 2009's update, at any angle.
            """
            half = wp.float64(0.5) * wp.float64(dt)
            return stored(exponential(half * wp.vec3d(spin)) * wide(q))

        @wp.func
        def world_inverse_inertia(q: pose, inverse_inertia: spin_type) -> mat:
            """R I⁻¹ Rᵀ."""
            r = wp.quat_to_matrix(q)
            return r * wp.diag(inverse_inertia) * wp.transpose(r)

        @wp.func
        def spin_of(q: pose, inverse_inertia: spin_type, angular: spin_type) -> spin_type:
            """Angular velocity R I⁻¹ Rᵀ L for an angular momentum L, both in world coordinates."""
            return rotate(q, wp.cw_mul(inverse_inertia, rotate_back(q, angular)))

        @wp.func
        def free_turn(q: pose, inverse_inertia: spin_type, angular: spin_type, dt: real) -> pose:
            """Orientation after dt of rotation without torque: gyroscopic terms included, L exact, energy bounded.

            With the middle one b of the inverse moments, the energy splits into b|L|²/2 and ½(1/Iᵢ − b)Lᵢ² of the
            body axes. Each part alone is a rotation known in closed form that keeps L; the first commutes with all
            the others. Their symmetric product (Touma & Wisdom 1994, Dullweber et al. 1997) is symplectic and of
            second order, explicit, and exact for balls and symmetric tops.
            """
            a = wp.float64(inverse_inertia[0])
            b = wp.float64(inverse_inertia[1])
            c = wp.float64(inverse_inertia[2])
            middle = wp.max(wp.min(a, b), wp.min(wp.max(a, b), c))
            h = wp.float64(dt)
            half = wp.float64(0.5) * h
            big = wp.vec3d(angular)
            x = wp.vec3d(wp.float64(1.0), wp.float64(0.0), wp.float64(0.0))
            y = wp.vec3d(wp.float64(0.0), wp.float64(1.0), wp.float64(0.0))
            z = wp.vec3d(wp.float64(0.0), wp.float64(0.0), wp.float64(1.0))
            p = wide(q)
            p = about_axis(p, x, (a - middle) * half, big)
            p = about_axis(p, y, (b - middle) * half, big)
            p = about_axis(p, z, (c - middle) * h, big)
            p = about_axis(p, y, (b - middle) * half, big)
            p = about_axis(p, x, (a - middle) * half, big)
            return stored(exponential((half * middle) * big) * p)

    return SimpleNamespace(
        pose=pose,
        mat=mat,
        rotate=rotate,
        rotate_back=rotate_back,
        matrix=matrix,
        turned=turned,
        world_inverse_inertia=world_inverse_inertia,
        spin_of=spin_of,
        free_turn=free_turn,
    )
