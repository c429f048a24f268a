"""Forces between glued points and the rigid bodies they hang on, Pᵀ; and motions of bodies at their points, P."""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.kernel.numbers import Numbers, at
from turgor.rigid import impulse
from turgor.rigid import motion as rigid_motion
from turgor.solvers.implicit import rigid_part, system, whole

__all__ = ["kernels"]


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """Motions are (velocity, spin), forces (force, moment about the centre of mass) in double precision."""
    real, vec, dim, spin_type, wide = n.real, n.vec, n.dim, n.spin, n.wide
    modes = 3 if dim == 2 else 6
    motion, move_of = whole.kernels(n).motion, whole.kernels(n).move_of
    square = wp.types.matrix(shape=(modes, modes), dtype=wp.float64)
    wide_block = wp.mat22d if dim == 2 else wp.mat33d
    across = system.kernels(n).across
    turning = rigid_motion.kernels(n)
    pose, rotate = turning.pose, turning.rotate
    inertia, swing = impulse.kernels(n).inertia, impulse.kernels(n).swing
    by_turning, twist = rigid_part.kernels(n).by_turning, rigid_part.kernels(n).twist
    tiny = wp.constant(wp.float64(1.0e-12))

    if dim == 2:

        @wp.func
        def mode(arm: wide, k: int) -> wide:
            if k == 0:
                return wide(wp.float64(1.0), wp.float64(0.0))
            if k == 1:
                return wide(wp.float64(0.0), wp.float64(1.0))
            return wide(-arm[1], arm[0])

        @wp.func
        def motion_of(v: vec, spin: spin_type) -> motion:
            return motion(wp.float64(v[0]), wp.float64(v[1]), wp.float64(spin))

        @wp.func
        def twist_of(s: motion) -> twist:
            return s[2]

        @wp.func
        def spin_part(s: motion) -> spin_type:
            return real(s[2])

        @wp.func
        def with_inertia(matrix: square, inverse: inertia, c: wp.float64) -> square:
            out = matrix
            if inverse > real(0.0):
                out[2, 2] = out[2, 2] + c / wp.float64(inverse)
            return out

    else:

        @wp.func
        def mode(arm: wide, k: int) -> wide:
            e = wide()
            e[k % 3] = wp.float64(1.0)
            if k < 3:
                return e
            return wp.cross(e, arm)

        @wp.func
        def motion_of(v: vec, spin: spin_type) -> motion:
            return motion(
                wp.float64(v[0]), wp.float64(v[1]), wp.float64(v[2]),
                wp.float64(spin[0]), wp.float64(spin[1]), wp.float64(spin[2]),
            )  # fmt: skip

        @wp.func
        def twist_of(s: motion) -> twist:
            return wp.vec3d(s[3], s[4], s[5])

        @wp.func
        def spin_part(s: motion) -> spin_type:
            return vec(real(s[3]), real(s[4]), real(s[5]))

        @wp.func
        def with_inertia(matrix: square, inverse: inertia, c: wp.float64) -> square:
            out = matrix
            own = wp.inverse(wide_block(inverse))
            for i in range(3):
                for j in range(3):
                    out[3 + i, 3 + j] = out[3 + i, 3 + j] + c * own[i, j]
            return out

    @wp.func
    def mass_matrix(inverse_mass: real, inverse_inertia: inertia, c: real) -> square:
        """c M of a rigid body."""
        matrix = square()
        for k in range(wp.static(dim)):
            matrix[k, k] = wp.float64(c) / wp.float64(inverse_mass)
        return with_inertia(matrix, inverse_inertia, wp.float64(c))

    @wp.func
    def unknown(on: int, inverse_mass: real) -> bool:
        """Whether the motion of a body is an unknown of the solve."""
        return on != 0 and inverse_mass > real(0.0)

    @wp.func
    def onto(arm: wide, f: wide) -> motion:
        """Force and moment of a force."""
        out = motion()
        for k in range(wp.static(modes)):
            out[k] = wp.dot(mode(arm, k), f)
        return out

    @wp.func
    def block_onto(arm: wide, m: wide_block) -> square:
        """Pᵀ m P of a point."""
        out = square()
        for k in range(wp.static(modes)):
            pushed = m * mode(arm, k)
            for l in range(wp.static(modes)):  # noqa: E741
                out[k, l] = wp.dot(mode(arm, l), pushed)
        return out

    @wp.func
    def solved(a: square, b: motion) -> motion:
        """a⁻¹ b by elimination; a is symmetric and positive."""
        matrix = a
        right = b
        size = wp.trace(a)
        for k in range(wp.static(modes)):
            if matrix[k, k] > tiny * size:
                for j in range(k + 1, wp.static(modes)):
                    share = matrix[j, k] / matrix[k, k]
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
        return right

    @n.kernel(__name__)
    def carry(
        glued_vertex: wp.array(dtype=int),
        glued_body: wp.array(dtype=int),
        glued_local: wp.array(dtype=vec),
        rigid_x: wp.array(dtype=vec),
        rigid_q: wp.array(dtype=pose),
        glue_v: wp.array(dtype=motion),
        dt: wp.array(dtype=real),
        glued_arm: wp.array(dtype=wide),
        at_x: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
    ):
        """Where glued points end, turned and not stretched, and their arms there."""
        g = wp.tid()
        i = glued_vertex[g]
        r = glued_body[g]
        s = glue_v[r]
        h = wp.float64(dt[0])
        arm = wide(rotate(rigid_q[r], glued_local[g]))
        arm += by_turning(twist_of(s), h, arm)
        glued_arm[g] = arm
        along = wide()
        for k in range(wp.static(dim)):
            along[k] = s[k]
        at_x[i] = vec(wide(rigid_x[r]) + h * along + arm)
        v[i] = vec(move_of(s, arm))

    @n.kernel(__name__)
    def carry_on(
        glued_vertex: wp.array(dtype=int),
        glued_body: wp.array(dtype=int),
        glued_local: wp.array(dtype=vec),
        rigid_q: wp.array(dtype=pose),
        rigid_v: wp.array(dtype=vec),
        rigid_spin: wp.array(dtype=spin_type),
        v: wp.array(dtype=vec),
    ):
        """Velocities of glued points at the end of the solve."""
        g = wp.tid()
        r = glued_body[g]
        v[glued_vertex[g]] = rigid_v[r] + swing(rigid_spin[r], rotate(rigid_q[r], glued_local[g]))

    @n.kernel(__name__)
    def take_forces(
        glued_vertex: wp.array(dtype=int),
        glued_body: wp.array(dtype=int),
        body: wp.array(dtype=int),
        f: wp.array(dtype=vec),
        area: wp.array(dtype=vec),
        push: wp.array(dtype=real),
        glued_arm: wp.array(dtype=wide),
        glued_force: wp.array(dtype=vec),
        glue_pull: wp.array(dtype=motion),
    ):
        """What springs and gas do to glued points acts on the body (their weight is part of the body's)."""
        g = wp.tid()
        i = glued_vertex[g]
        pull = f[i] + push[body[i]] * area[i]
        glued_force[g] = pull
        wp.atomic_add(glue_pull, glued_body[g], onto(glued_arm[g], wide(pull)))

    @n.kernel(__name__)
    def spread(
        glued_vertex: wp.array(dtype=int),
        glued_body: wp.array(dtype=int),
        glued_arm: wp.array(dtype=wide),
        glue_z: wp.array(dtype=motion),
        preconditioned: wp.array(dtype=vec),
    ):
        """P z: directions of glued points follow from it as those of free ones do."""
        g = wp.tid()
        preconditioned[glued_vertex[g]] = vec(move_of(glue_z[glued_body[g]], glued_arm[g]))

    @n.kernel(__name__)
    def multiply(
        glued_vertex: wp.array(dtype=int),
        glued_body: wp.array(dtype=int),
        glued_to: wp.array(dtype=int),
        glued_arm: wp.array(dtype=wide),
        body: wp.array(dtype=int),
        at_x: wp.array(dtype=vec),
        faces_at: wp.array(dtype=vec),
        direction: wp.array(dtype=vec),
        neighbour_start: wp.array(dtype=int),
        neighbours: wp.array(dtype=int),
        neighbour_rest: wp.array(dtype=real),
        stiffness: wp.array(dtype=real),
        damping: wp.array(dtype=real),
        corner_start: wp.array(dtype=int),
        point_corners: wp.array(dtype=int),
        hinge_gradient: wp.array(dtype=vec),
        hinge_opening: wp.array(dtype=real),
        gas_stiffness: wp.array(dtype=real),
        grab_vertex: wp.array(dtype=int),
        grab_stiffness: wp.array(dtype=real),
        grab_damping: wp.array(dtype=real),
        flux: wp.array(dtype=real),
        step: wp.array(dtype=real),
        glue_product: wp.array(dtype=motion),
    ):
        """The matrix (`system.multiply`) at a glued point; springs between points of one rigid body are rigid."""
        g = wp.tid()
        i = glued_vertex[g]
        r = glued_body[g]
        b = body[i]
        h = step[0]
        k = h * stiffness[b]
        p = direction[i]
        out = (h * gas_stiffness[b] * flux[b]) * faces_at[i]
        for s in range(neighbour_start[i], neighbour_start[i + 1]):
            j = at(neighbours[at(s)])
            d = at_x[j] - at_x[i]
            l2 = wp.dot(d, d)
            if glued_to[j] != r and l2 > real(0.0):
                t = across(wp.sqrt(l2), neighbour_rest[at(s)], k)
                w = p - direction[j]
                out += t * w + (wp.max(k + damping[b] - t, real(0.0)) / l2 * wp.dot(d, w)) * d
        if corner_start.shape[0] > 0:
            for s in range(corner_start[i], corner_start[i + 1]):
                c = at(point_corners[at(s)])
                out += hinge_opening[c / wp.static(dim + 1)] * hinge_gradient[c]
        if grab_vertex[b] == i:
            out += (h * grab_stiffness[b] + grab_damping[b]) * p
        wp.atomic_add(glue_product, r, onto(glued_arm[g], wide(out)))

    @n.kernel(__name__)
    def add_blocks(
        glued_vertex: wp.array(dtype=int),
        glued_body: wp.array(dtype=int),
        glued_to: wp.array(dtype=int),
        glued_arm: wp.array(dtype=wide),
        body: wp.array(dtype=int),
        at_x: wp.array(dtype=vec),
        faces_at: wp.array(dtype=vec),
        neighbour_start: wp.array(dtype=int),
        neighbours: wp.array(dtype=int),
        neighbour_rest: wp.array(dtype=real),
        stiffness: wp.array(dtype=real),
        damping: wp.array(dtype=real),
        corner_start: wp.array(dtype=int),
        point_corners: wp.array(dtype=int),
        hinge_gradient: wp.array(dtype=vec),
        gas_stiffness: wp.array(dtype=real),
        grab_vertex: wp.array(dtype=int),
        grab_stiffness: wp.array(dtype=real),
        grab_damping: wp.array(dtype=real),
        step: wp.array(dtype=real),
        glue_block: wp.array(dtype=square),
    ):
        """The diagonal block of a glued point (`system.find_diagonal`), as the body feels it."""
        g = wp.tid()
        i = glued_vertex[g]
        r = glued_body[g]
        b = body[i]
        h = step[0]
        k = h * stiffness[b]
        unit = wp.identity(n=wp.static(dim), dtype=real)
        own = h * gas_stiffness[b] * wp.outer(faces_at[i], faces_at[i])
        for s in range(neighbour_start[i], neighbour_start[i + 1]):
            j = at(neighbours[at(s)])
            d = at_x[j] - at_x[i]
            l2 = wp.dot(d, d)
            if glued_to[j] != r and l2 > real(0.0):
                t = across(wp.sqrt(l2), neighbour_rest[at(s)], k)
                own += t * unit + (wp.max(k + damping[b] - t, real(0.0)) / l2) * wp.outer(d, d)
        if corner_start.shape[0] > 0:
            for s in range(corner_start[i], corner_start[i + 1]):
                c = at(point_corners[at(s)])
                own += wp.outer(hinge_gradient[c], hinge_gradient[c])
        if grab_vertex[b] == i:
            own += (h * grab_stiffness[b] + grab_damping[b]) * unit
        wp.atomic_add(glue_block, r, block_onto(glued_arm[g], wide_block(own)))

    return SimpleNamespace(
        modes=modes, motion=motion, square=square, wide_block=wide_block, inertia=inertia, motion_of=motion_of,
        spin_part=spin_part, twist_of=twist_of, mass_matrix=mass_matrix, unknown=unknown, onto=onto,
        block_onto=block_onto, solved=solved, carry=carry, carry_on=carry_on, take_forces=take_forces, spread=spread,
        multiply=multiply, add_blocks=add_blocks,
    )  # fmt: skip
