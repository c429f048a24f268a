"""Walls inside the solve: each presses where a point would end behind it, and friction holds it along the wall.

With s the speed at which the point ends in front of the wall (gap/h), and t the speed along it:

    normal     N = max(0, -r s)
    friction   T = T_before - r t, and no more than mu times the N of the round before

r, the hardness, is a few times what inertia and springs of the point are in the matrix, so rounds converge, and a point
that N holds lies N h/r behind the wall. Friction begins with that of the step before, T_before, so what rests does not
creep (Alart & Curnier 1991). Restitution belongs to points that are loose within a step: what a stiff skin holds does
not bounce apart from it.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.contact import materials
from turgor.contact.materials import BOUNCE
from turgor.kernel.numbers import Numbers, at
from turgor.rigid import impulse
from turgor.solvers.implicit import rigid_part, system

__all__ = ["kernels"]

HARDNESS = 3.0  # times the diagonal of the matrix
DEEP, REMOVAL = 0.01, 0.1  # sizes of the body; what is farther behind a wall comes out by this share in a step


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """find_hardness once per step; press_walls with each evaluation of forces."""
    real, vec, dim, spin_type = n.real, n.vec, n.dim, n.spin
    block, row = system.kernels(n).block, rigid_part.kernels(n).row
    swing = impulse.kernels(n).swing
    shared_friction = materials.kernels(n).shared_friction
    shared_restitution = materials.kernels(n).shared_restitution

    @wp.func
    def held_by(trial: vec, most: real, hard: real):
        """(force, hardness) of friction that would hold with the force `trial` and can do `most`."""
        size = wp.length(trial)
        if size <= most:
            return trial, hard
        return (most / size) * trial, (most / size) * hard

    @wp.func
    def push_of(
        off_wall: vec,  # from a point of the wall, where the step begins
        normal: vec,
        v: vec,
        start: vec,
        surface: vec,
        mu: real,
        bounce: real,
        r: real,
        body_size: real,
        old: vec,  # force of the step before
        known: vec,  # of the round before
        h: real,
    ):
        """(normal force, friction, its hardness) of one wall on a point."""
        off = wp.dot(off_wall + h * v, normal)
        off += real(1.0 - REMOVAL) * wp.max(-wp.dot(off_wall, normal) - real(DEEP) * body_size, real(0.0))
        s = off / h
        fall = wp.dot(start - surface, normal)
        if fall < -real(BOUNCE) and bounce > real(0.0) and off - h * (wp.dot(v, normal) - fall) < real(0.0):
            s = wp.min(s, wp.dot(v - surface, normal) + bounce * fall)
        pressing = real(0.0)
        along = vec()
        hard = real(0.0)
        if s < real(0.0):
            pressing = -r * s
            slip = v - surface
            slip -= wp.dot(slip, normal) * normal
            most = mu * wp.max(wp.dot(known, normal), real(0.0))
            along, hard = held_by(old - wp.dot(old, normal) * normal - r * slip, most, r)
        return pressing, along, hard

    @n.kernel(__name__)
    def find_hardness(
        body: wp.array(dtype=int),
        neighbour_start: wp.array(dtype=int),
        skin_stiffness: wp.array(dtype=real),
        damping: wp.array(dtype=real),
        mass: wp.array(dtype=real),
        drag: wp.array(dtype=real),
        step: wp.array(dtype=real),
        inertia: wp.array(dtype=real),
        body_sums: wp.array(dtype=row),
        hung: wp.array(dtype=real),  # kg, of rigid bodies that are glued to it
        hardness: wp.array(dtype=real),
        loose: wp.array(dtype=real),
    ):
        """N s/m, from the diagonal of the matrix with all springs at their stiffest; how much of that is inertia."""
        i = at(wp.tid())
        b = at(body[i])
        count = real(neighbour_start[i + 1] - neighbour_start[i])
        springs = count * (step[b] * skin_stiffness[b] + damping[b]) / real(dim)
        own = (inertia[b] + drag[b]) * mass[i] + springs
        hardness[i] = real(HARDNESS) * wp.min(own, inertia[b] * (real(body_sums[b][0]) + hung[b]))
        loose[i] = real(0.0)
        if own > real(0.0):
            loose[i] = inertia[b] * mass[i] / own

    @n.kernel(__name__)
    def press_walls(
        x_from: wp.array(dtype=vec),
        trial_v: wp.array(dtype=vec),
        v_start: wp.array(dtype=vec),
        body: wp.array(dtype=int),
        inverse_mass: wp.array(dtype=real),
        friction: wp.array(dtype=real),
        restitution: wp.array(dtype=real),
        wall_normal: wp.array(dtype=vec),
        wall_point: wp.array(dtype=vec),
        wall_centre: wp.array(dtype=vec),
        wall_velocity: wp.array(dtype=vec),
        wall_spin: wp.array(dtype=spin_type),
        wall_friction: wp.array(dtype=real),
        wall_restitution: wp.array(dtype=real),
        step: wp.array(dtype=real),
        size: wp.array(dtype=real),
        hardness: wp.array(dtype=real),
        loose: wp.array(dtype=real),  # 1: nothing but inertia holds the point, 0: springs do
        wall_force: wp.array(dtype=vec),  # of the step before
        wall_force_round: wp.array(dtype=vec),  # of the round before
        wall_force_now: wp.array(dtype=vec),
        contact_force: wp.array(dtype=vec),
        load: wp.array(dtype=block),
    ):
        """The force of all walls on a point, and its derivative."""
        i = at(wp.tid())
        total = vec()
        stiff = block()
        if inverse_mass[i] > real(0.0):
            b = at(body[i])
            v = trial_v[i]
            h = step[b]
            r = hardness[i]
            old = wall_force[i]
            known = wall_force_round[i]
            unit = wp.identity(n=wp.static(dim), dtype=real)
            for k in range(wall_normal.shape[0]):
                w = at(k)
                normal = wall_normal[w]
                surface = wall_velocity[w] + swing(wall_spin[w], x_from[i] + h * v - wall_centre[w])
                mu = shared_friction(friction[b], wall_friction[w])
                bounce = loose[i] * shared_restitution(restitution[b], wall_restitution[w])
                pressing, along, hard = push_of(
                    x_from[i] - wall_point[w], normal, v, v_start[i], surface, mu, bounce, r, size[b], old, known, h
                )
                if pressing > real(0.0):
                    total += pressing * normal + along
                    stiff += r * wp.outer(normal, normal) + hard * (unit - wp.outer(normal, normal))
        wall_force_now[i] = total
        contact_force[i] = total
        if wp.trace(stiff) > real(0.0) or wp.trace(load[i]) > real(0.0):
            load[i] = stiff

    @n.kernel(__name__)
    def end_walls(
        inverse_mass: wp.array(dtype=real),
        wall_normal: wp.array(dtype=vec),
        dt: wp.array(dtype=real),
        wall_force: wp.array(dtype=vec),
        wall_contact_normal: wp.array(dtype=vec),
        wall_impulse: wp.array(dtype=vec),
    ):
        """What the walls did in this step."""
        i = at(wp.tid())
        against = vec()
        if wp.length_sq(wall_force[i]) > real(0.0):
            wall_impulse[i] = dt[0] * wall_force[i]
            for k in range(wall_normal.shape[0]):
                if wp.dot(wall_force[i], wall_normal[at(k)]) > real(0.0):
                    against = wall_normal[at(k)]
        wall_contact_normal[i] = against

    return SimpleNamespace(
        end_walls=end_walls,
        find_hardness=find_hardness,
        press_walls=press_walls,
        held_by=held_by,
        push_of=push_of,
        shared_friction=shared_friction,
        shared_restitution=shared_restitution,
    )
