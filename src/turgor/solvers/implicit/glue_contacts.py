"""Contact of rigid bodies that soft vertices are glued to, inside the solve: what touches them, and walls."""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.contact import pair_sums
from turgor.kernel.numbers import Numbers
from turgor.rigid import impulse
from turgor.rigid import motion as rigid_motion
from turgor.solvers.implicit import glue_forces, system, walls, whole
from turgor.solvers.implicit.walls import HARDNESS

__all__ = ["kernels"]

SKINS, FALLS = 0.02, 0.5  # how far in front of a wall a glued body is held: of its skin, and of g h²


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """take_contacts, take_point_contacts, press_walls with each evaluation of forces."""
    real, vec, dim, spin_type, wide = n.real, n.vec, n.dim, n.spin, n.wide
    force, turning, wall = glue_forces.kernels(n), rigid_motion.kernels(n), walls.kernels(n)
    modes, motion, square, wide_block = force.modes, force.motion, force.square, force.wide_block
    unknown, onto, block_onto, move_of = force.unknown, force.onto, force.block_onto, whole.kernels(n).move_of
    sums = wp.types.vector(length=modes + modes * modes, dtype=wp.float64)
    pose, rotate, swing, block = turning.pose, turning.rotate, impulse.kernels(n).swing, system.kernels(n).block
    push_of, shared_friction, shared_restitution = wall.push_of, wall.shared_friction, wall.shared_restitution
    Table, add_to_pair = pair_sums.kernels(n).Table, pair_sums.kernels(n).add_to_pair

    @n.kernel(__name__)
    def take_contacts(
        rigid_sums: wp.array(dtype=sums),
        glue_contact: wp.array(dtype=motion),
        glue_load: wp.array(dtype=square),
    ):
        """What contacts of soft bodies do to a rigid one, and their load."""
        r = wp.tid()
        found = rigid_sums[r]
        force = motion()
        load = square()
        for k in range(wp.static(modes)):
            force[k] = found[k]
            for l in range(wp.static(modes)):  # noqa: E741
                load[k, l] = found[wp.static(modes) + wp.static(modes) * k + l]
        glue_contact[r] = force
        glue_load[r] = load

    @n.kernel(__name__)
    def take_point_contacts(
        glued_vertex: wp.array(dtype=int),
        glued_body: wp.array(dtype=int),
        glued_arm: wp.array(dtype=wide),
        contact_force: wp.array(dtype=vec),
        load: wp.array(dtype=block),
        glue_contact: wp.array(dtype=motion),
        glue_load: wp.array(dtype=square),
    ):
        """What touches a glued point."""
        g = wp.tid()
        i = glued_vertex[g]
        if wp.trace(load[i]) > real(0.0):
            wp.atomic_add(glue_contact, glued_body[g], onto(glued_arm[g], wide(contact_force[i])))
            wp.atomic_add(glue_load, glued_body[g], block_onto(glued_arm[g], wide_block(load[i])))

    @n.kernel(__name__)
    def press_walls(
        local: wp.array(dtype=vec),
        local_body: wp.array(dtype=int),
        glue_on: wp.array(dtype=int),
        hung_mass: wp.array(dtype=real),
        gravity: wp.array(dtype=vec),
        rigid_world: wp.array(dtype=int),
        rigid_inverse_mass: wp.array(dtype=real),
        rigid_x: wp.array(dtype=vec),
        rigid_q: wp.array(dtype=pose),
        rigid_radius: wp.array(dtype=real),
        rigid_skin: wp.array(dtype=real),
        rigid_size: wp.array(dtype=real),
        rigid_friction: wp.array(dtype=real),
        rigid_restitution: wp.array(dtype=real),
        wall_normal: wp.array(dtype=vec),
        wall_point: wp.array(dtype=vec),
        wall_centre: wp.array(dtype=vec),
        wall_velocity: wp.array(dtype=vec),
        wall_spin: wp.array(dtype=spin_type),
        wall_friction: wp.array(dtype=real),
        wall_restitution: wp.array(dtype=real),
        dt: wp.array(dtype=real),
        inertia: wp.array(dtype=real),
        glue_free: wp.array(dtype=motion),
        glue_trial: wp.array(dtype=motion),
        rigid_wall_force: wp.array(dtype=vec),
        rigid_wall_force_round: wp.array(dtype=vec),
        rigid_wall_force_now: wp.array(dtype=vec),
        glue_contact: wp.array(dtype=motion),
        glue_load: wp.array(dtype=square),
    ):
        """Walls at the collision points of glued bodies."""
        p = wp.tid()
        r = local_body[p]
        total = vec()
        if unknown(glue_on[r], rigid_inverse_mass[r]):
            h = dt[0]
            short = rotate(rigid_q[r], local[p])
            arm = wide(short)
            x = rigid_x[r] + short
            v = vec(move_of(glue_trial[r], arm))
            start = vec(move_of(glue_free[r], arm))
            hard = real(HARDNESS) * inertia[0] * (real(1.0) / rigid_inverse_mass[r] + hung_mass[r])
            down = wp.length(gravity[rigid_world[r]])
            lift = rigid_radius[r] + real(SKINS) * rigid_skin[r] + real(FALLS) * down * h * h
            unit = wp.identity(n=wp.static(dim), dtype=real)
            for w in range(wall_normal.shape[0]):
                normal = wall_normal[w]
                surface = wall_velocity[w] + swing(wall_spin[w], x + h * v - wall_centre[w])
                mu = shared_friction(rigid_friction[r], wall_friction[w])
                bounce = shared_restitution(rigid_restitution[r], wall_restitution[w])
                pressing, along, holding = push_of(
                    x - lift * normal - wall_point[w], normal, v, start, surface, mu, bounce, hard, rigid_size[r],
                    rigid_wall_force[p], rigid_wall_force_round[p], h,
                )  # fmt: skip
                if pressing > real(0.0):
                    f = pressing * normal + along
                    stiff = hard * wp.outer(normal, normal) + holding * (unit - wp.outer(normal, normal))
                    total += f
                    wp.atomic_add(glue_contact, r, onto(arm, wide(f)))
                    wp.atomic_add(glue_load, r, block_onto(arm, wide_block(stiff)))
        rigid_wall_force_now[p] = total

    @n.kernel(__name__)
    def keep_walls(
        local_body: wp.array(dtype=int),
        rigid_world: wp.array(dtype=int),
        in_round: wp.array(dtype=int),
        rigid_wall_force_now: wp.array(dtype=vec),
        rigid_wall_force_round: wp.array(dtype=vec),
    ):
        """In worlds that take part in this round."""
        p = wp.tid()
        if in_round[rigid_world[local_body[p]]] != 0:
            rigid_wall_force_round[p] = rigid_wall_force_now[p]

    @n.kernel(__name__)
    def read_walls(
        local_body: wp.array(dtype=int),
        rigid_world: wp.array(dtype=int),
        world_bodies: int,
        world_rigids: int,
        dt: wp.array(dtype=real),
        wall_normal: wp.array(dtype=vec),
        rigid_wall_force_now: wp.array(dtype=vec),
        table: Table,
    ):
        """Impulses of walls on collision points; in a corner they count for the wall that pushes most."""
        p = wp.tid()
        push = rigid_wall_force_now[p]
        if wp.length_sq(push) > real(0.0):
            best = int(0)  # noqa: RUF046, UP018
            for w in range(wall_normal.shape[0]):
                if wp.dot(push, wall_normal[w]) > wp.dot(push, wall_normal[best]):
                    best = w
            r = local_body[p]
            one = rigid_world[r] * (world_bodies + world_rigids) + world_bodies + r % world_rigids
            add_to_pair(table, one, table.bodies + best, dt[0] * push)

    return SimpleNamespace(
        sums=sums, take_contacts=take_contacts, take_point_contacts=take_point_contacts, press_walls=press_walls,
        keep_walls=keep_walls, read_walls=read_walls,
    )  # fmt: skip
