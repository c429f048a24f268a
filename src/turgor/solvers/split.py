"""The end of a substep in parts, for scenes in which bodies touch: kick, (contact), meet the walls, move."""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.kernel.numbers import Numbers, at
from turgor.solvers import velocity

__all__ = ["kernels"]


@functools.cache
@no_type_check
def kernels(n: Numbers, staged: bool, velocity_first: bool, clears: bool, ledger: bool) -> SimpleNamespace:
    """kick, meet, shift; the options are those of `fused.kernels`."""
    real, vec, spin_type = n.real, n.vec, n.spin
    variant = velocity.variant_of(__name__, staged, velocity_first, clears, ledger)
    shared = velocity.kernels(n, staged, velocity_first, ledger)
    update, meet_walls = shared.update, shared.meet_walls

    @n.kernel(variant)
    def kick(
        weight: real,
        v: wp.array(dtype=vec),
        v_stage: wp.array(dtype=vec),
        x_slope: wp.array(dtype=vec),
        v_slope: wp.array(dtype=vec),
        f: wp.array(dtype=vec),
        area: wp.array(dtype=vec),
        body: wp.array(dtype=int),
        inverse_mass: wp.array(dtype=real),
        push: wp.array(dtype=real),
        body_gravity: wp.array(dtype=vec),
        drag: wp.array(dtype=real),
        decay: wp.array(dtype=real),
        dt: wp.array(dtype=real),
        move: wp.array(dtype=vec),
        v_start: wp.array(dtype=vec),
        v_free: wp.array(dtype=vec),
        dissipated: wp.array(dtype=wp.float64),
        ends_fused: wp.array(dtype=int),
    ):
        """New velocities and the displacement they ask for; nothing moves yet. Pinned points are at rest.

        Bodies that end this substep in `fused` stay as they are.
        """
        i = at(wp.tid())
        if ends_fused[at(body[i])] != 0:
            v_free[i] = v[i]
            move[i] = vec()
            return
        m1 = inverse_mass[i]
        velocity = vec()
        asked = vec()
        if m1 > real(0.0):
            b = at(body[i])
            v0 = v[i]
            vs = v0
            x_before = vec()
            v_before = vec()
            if wp.static(staged):
                vs = v_stage[i]
                x_before = x_slope[i]
                v_before = v_slope[i]
            velocity, asked, decayed = update(
                weight,
                v0,
                vs,
                x_before,
                v_before,
                f[i],
                area[i],
                m1,
                push[b],
                body_gravity[b],
                drag[b],
                decay[b],
                dt[0],
            )
            if wp.static(ledger):
                dissipated[b] += wp.float64(decayed / m1)
        v_start[i] = v[i]
        v[i] = velocity
        v_free[i] = velocity
        move[i] = asked
        if wp.static(clears):
            f[i] = vec()
            area[i] = vec()

    @n.kernel(variant)
    def meet(
        x: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        move: wp.array(dtype=vec),
        v_start: wp.array(dtype=vec),
        v_free: wp.array(dtype=vec),
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
        dt: wp.array(dtype=real),
        wall_contact_normal: wp.array(dtype=vec),
        dissipated: wp.array(dtype=wp.float64),
        work: wp.array(dtype=wp.float64),
        ends_fused: wp.array(dtype=int),
    ):
        """Velocities and displacements after the walls; and the normal of the wall that a point ends on, or zero."""
        i = at(wp.tid())
        m1 = inverse_mass[i]
        against = vec()
        b = at(body[i])
        if m1 > real(0.0) and ends_fused[b] == 0:
            asked, velocity, loss, drive, hits = meet_walls(
                x[i], move[i], v_start[i], v[i], v[i] - v_free[i], b, dt[0], friction, restitution,
                wall_normal, wall_point, wall_centre, wall_velocity, wall_spin, wall_friction, wall_restitution,
            )  # fmt: skip
            if hits > 0:
                reach = wp.length(asked)
                if wp.static(not velocity_first):
                    reach += dt[0] * wp.length(v[i])
                for w in range(wall_normal.shape[0]):
                    off = wp.dot(x[i] + asked - wall_point[w], wall_normal[w])
                    if off <= real(1.0e-3) * reach + wp.static(real(n.tiny)):
                        against = wall_normal[w]
            v[i] = velocity
            move[i] = asked
            if wp.static(ledger):
                dissipated[b] += wp.float64(loss / m1)
                work[b] += wp.float64(drive / m1)
        wall_contact_normal[i] = against

    @n.kernel(variant)
    def shift(
        move: wp.array(dtype=vec),
        scale: wp.array(dtype=real),
        v_free: wp.array(dtype=vec),
        wall_normal: wp.array(dtype=vec),
        wall_point: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        x: wp.array(dtype=vec),
    ):
        """The displacement is made. Where contact has changed it after the walls, the walls have the last word."""
        i = at(wp.tid())
        there = x[i] + move[i]
        if scale[i] < real(1.0) or wp.length_sq(v[i] - v_free[i]) > real(0.0):
            for w in range(wall_normal.shape[0]):
                there -= wp.min(wp.dot(there - wall_point[w], wall_normal[w]), real(0.0)) * wall_normal[w]
        x[i] = there

    return SimpleNamespace(kick=kick, meet=meet, shift=shift)
