"""From forces to new velocities and displacements: the one update that all schemes and both kinds of substep share."""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.contact import materials, walls
from turgor.kernel.numbers import Numbers, at
from turgor.rigid import impulse

__all__ = ["kernels", "variant_of"]


def variant_of(file: str, stages: int, velocity_first: bool, clears: bool, ledger: bool) -> str:
    """Name of the Warp module of these options: each combination is compiled on its own."""
    return f"{file}_{stages}{'v' if velocity_first else 'x'}{'c' if clears else ''}{'l' if ledger else ''}"


@functools.cache
@no_type_check
def kernels(n: Numbers, stages: int, velocity_first: bool, clears: bool, ledger: bool) -> SimpleNamespace:
    """update, meet_walls: for the end of a substep. begin_stage: an intermediate Runge-Kutta stage. total_force.

    stages: of the scheme; velocity_first: positions move with the new velocity; clears: the force accumulators must be
    zero after use (scattered forces are added to them); ledger: what walls and decay take is summed. All four are
    constants of the code, as it is the hottest there is.
    """
    real, vec, spin_type = n.real, n.vec, n.spin
    variant = variant_of(__name__, stages, velocity_first, clears, ledger)
    wall, surface_of = walls.kernels(n), materials.kernels(n)
    wall_response, wall_loss, held = wall.wall_response, wall.wall_loss, wall.held
    swing = impulse.kernels(n).swing
    shared_friction, shared_restitution = surface_of.shared_friction, surface_of.shared_restitution

    @wp.func
    def acceleration(force: vec, area: vec, v: vec, inverse_mass: real, push: real, gravity: vec, drag: real) -> vec:
        """(springs + gauge pressure * area) / m + g - c v."""
        return inverse_mass * (force + push * area) + gravity - drag * v

    @wp.func
    def update(
        i: int,
        b: int,
        weight: real,  # of the last stage
        v: wp.array(dtype=vec),
        v_stage: wp.array(dtype=vec),  # velocities at which the forces were evaluated
        x_slope: wp.array(dtype=vec),  # weighted velocities and accelerations of the stages before
        v_slope: wp.array(dtype=vec),
        f: wp.array(dtype=vec),
        area: wp.array(dtype=vec),
        inverse_mass: real,
        push: wp.array(dtype=real),
        body_gravity: wp.array(dtype=vec),
        drag: wp.array(dtype=real),
        decay: wp.array(dtype=real),
        h: real,
    ):
        """New velocity of a free point, the displacement of the substep, and energy per mass lost to decay."""
        v0 = v[i]
        vs = v0
        if wp.static(stages > 1):
            vs = v_stage[i]
        slope = weight * acceleration(f[i], area[i], vs, inverse_mass, push[b], body_gravity[b], drag[b])
        drift = weight * vs
        if wp.static(stages > 1):
            slope += v_slope[i]
            drift += x_slope[i]
        velocity = v0 + h * slope
        if wp.static(velocity_first):
            drift = velocity
        loss = real(0.0)
        if decay[b] > real(0.0):  # Martin 2009's damping (B5)
            kept = wp.exp(-decay[b] * h)
            velocity = kept * velocity
            if wp.static(ledger):
                loss = real(0.5) * (real(1.0) - kept * kept) * wp.dot(v0, v0)
        return velocity, h * drift, loss

    @wp.func
    def meet_walls(
        x: vec,
        move: vec,
        start: vec,  # velocity at the start of the substep
        v: vec,  # and after forces and contact
        sudden: vec,  # the part of v that `move` follows for the whole substep
        b: int,
        dt: real,
        own_friction: wp.array(dtype=real),
        own_restitution: wp.array(dtype=real),
        normal: wp.array(dtype=vec),
        point: wp.array(dtype=vec),
        centre: wp.array(dtype=vec),
        velocity: wp.array(dtype=vec),
        spin: wp.array(dtype=spin_type),
        friction: wp.array(dtype=real),
        restitution: wp.array(dtype=real),
    ):
        """Movement and velocity after all walls; energy per mass lost to them, work of moving ones; walls met.

        The movement is clipped at the wall. In schemes that move with earlier velocities than the new one, a point at
        rest does not move: there the wall also stops a velocity that would lead behind it.
        """
        loss = real(0.0)
        drive = real(0.0)
        hits = int(0)  # noqa: RUF046, UP018 (a variable in Warp's language, not a constant)
        for w in range(normal.shape[0]):
            h = at(w)
            depth = wp.dot(x + move - point[h], normal[h])
            ahead = depth
            if wp.static(not velocity_first):
                ahead = wp.min(depth, wp.dot(x + dt * v - point[h], normal[h]))
            if ahead < real(0.0):
                surface = velocity[h] + swing(spin[h], x + move - centre[h])
                gap = wp.dot(x + dt * surface - point[h], normal[h])
                mu = shared_friction(own_friction[b], friction[h])
                e = shared_restitution(own_restitution[b], restitution[h])
                since = start
                back = depth
                if wp.static(velocity_first):  # forces act before the movement; unless they alone lead to the wall
                    if gap + dt * wp.dot(v - start, normal[h]) >= real(0.0):
                        since = v
                else:  # the velocity leads to the wall, if the movement does not
                    rise = wp.max(dt * wp.dot(start - surface, normal[h]), real(0.0))
                    back = wp.min(depth, wp.max(gap, real(0.0)) + rise)
                impulse, lost = wall_response(since, v, normal[h], surface, gap, ahead, mu, e)
                if wp.static(ledger):  # noqa: SIM102 (decided when compiled)
                    if impulse > real(0.0):
                        loss += wall_loss(since, v, normal[h], surface, impulse, lost, depth - back - gap, dt)
                        drive += wp.dot(impulse * normal[h] - lost, surface)
                move -= back * normal[h]
                if wp.static(velocity_first):  # what friction holds does not move along the wall either
                    move -= dt * lost
                elif wp.dot(lost, lost) > real(0.0):  # the stages were held; what contact has added was not
                    share = wp.dot(lost, sudden) / wp.dot(lost, lost)
                    move -= (dt * wp.clamp(share, real(0.0), real(1.0))) * lost
                v += impulse * normal[h] - lost
                hits += 1
        if hits > 0:  # in a corner, friction with one wall must not push the point through another
            for w in range(normal.shape[0]):
                h = at(w)
                move -= wp.min(wp.dot(x + move - point[h], normal[h]), real(0.0)) * normal[h]
        return move, v, loss, drive, hits

    @n.kernel(variant)
    def begin_stage(
        stage: int,
        weight: real,
        reach: real,  # how far into the substep the next stage looks, in substeps
        x: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        f: wp.array(dtype=vec),
        area: wp.array(dtype=vec),
        body: wp.array(dtype=int),
        inverse_mass: wp.array(dtype=real),
        push: wp.array(dtype=real),
        body_gravity: wp.array(dtype=vec),
        drag: wp.array(dtype=real),
        friction: wp.array(dtype=real),
        wall_normal: wp.array(dtype=vec),  # the walls at the time of the next stage
        wall_point: wp.array(dtype=vec),
        wall_centre: wp.array(dtype=vec),
        wall_velocity: wp.array(dtype=vec),
        wall_spin: wp.array(dtype=spin_type),
        wall_friction: wp.array(dtype=real),
        dt: wp.array(dtype=real),
        x_stage: wp.array(dtype=vec),
        v_stage: wp.array(dtype=vec),
        x_slope: wp.array(dtype=vec),
        v_slope: wp.array(dtype=vec),
    ):
        i = at(wp.tid())
        b = at(body[i])
        m1 = inverse_mass[i]
        vs = v[i]
        if stage > 0:
            vs = v_stage[i]
        a = vec()
        if m1 > real(0.0):
            a = acceleration(f[i], area[i], vs, m1, push[b], body_gravity[b], drag[b])
        before_x = vec()
        before_v = vec()
        if stage > 0:
            before_x = x_slope[i]
            before_v = v_slope[i]
        x_slope[i] = before_x + weight * vs
        v_slope[i] = before_v + weight * a
        h = reach * dt[0]
        ahead = v[i] + h * a
        followed = real(0.0)
        if wp.static(velocity_first):
            vs = ahead
            followed = h
        place = x[i] + h * vs
        if m1 > real(0.0):
            for w in range(wall_normal.shape[0]):
                k = at(w)
                surface = wall_velocity[k] + swing(wall_spin[k], x[i] - wall_centre[k])
                mu = shared_friction(friction[b], wall_friction[k])
                place, ahead = held(x[i], place, v[i], ahead, wall_normal[k], wall_point[k], surface, mu, h, followed)
        x_stage[i] = place
        v_stage[i] = ahead
        if wp.static(clears):
            f[i] = vec()
            area[i] = vec()

    @n.kernel(variant)
    def total_force(
        f: wp.array(dtype=vec),
        area: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        body: wp.array(dtype=int),
        mass: wp.array(dtype=real),
        push: wp.array(dtype=real),
        body_gravity: wp.array(dtype=vec),
        drag: wp.array(dtype=real),
        force_out: wp.array(dtype=vec),
    ):
        """Force on each point as the solver sees it, pins included; and the accumulators are cleared."""
        i = wp.tid()
        b = body[i]
        force_out[i] = f[i] + push[b] * area[i] + mass[i] * (body_gravity[b] - drag[b] * v[i])
        f[i] = vec()
        area[i] = vec()

    return SimpleNamespace(update=update, meet_walls=meet_walls, begin_stage=begin_stage, total_force=total_force)
