"""From forces to motion: one kernel for the last (or only) stage with the walls in it, one for the stages before."""

import functools
from types import SimpleNamespace

import warp as wp

from turgor.contact import walls
from turgor.kernel import Numbers, at

__all__ = ["kernels"]


@functools.cache
def kernels(n: Numbers, stages: int, velocity_first: bool, clears: bool, ledger: bool) -> SimpleNamespace:
    """advance: the final update of a substep. begin_stage: an intermediate Runge-Kutta stage.

    stages: of the scheme; velocity_first: positions move with the new velocity; clears: the force accumulators must be
    zero after use (scattered forces are added to them); ledger: what walls and decay take is summed. All four are
    constants of the code, as it is the hottest there is.
    """
    real, vec, spin_type = n.real, n.vec, n.spin
    variant = f"{__name__}_{stages}{'v' if velocity_first else 'x'}{'c' if clears else ''}{'l' if ledger else ''}"
    wall = walls.kernels(n)
    wall_response, turning_velocity = wall.wall_response, wall.turning_velocity
    shared_friction, shared_restitution = wall.shared_friction, wall.shared_restitution

    @wp.func
    def acceleration(force: vec, area: vec, v: vec, inverse_mass: real, push: real, gravity: vec, drag: real) -> vec:
        """(springs + gauge pressure * area) / m + g - c v."""
        return inverse_mass * (force + push * area) + gravity - drag * v

    @wp.func
    def meet_walls(
        x: vec,
        move: vec,
        v: vec,
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
        """Movement and velocity after all walls; and the work of moving walls on a unit mass."""
        drive = real(0.0)
        hits = int(0)  # noqa: RUF046, UP018 (a variable in Warp's language, not a constant)
        for w in range(normal.shape[0]):
            h = at(w)
            if wp.dot(x + move - point[h], normal[h]) < real(0.0):
                surface = velocity[h] + turning_velocity(spin[h], x + move - centre[h])
                mu = shared_friction(own_friction[b], friction[h])
                e = shared_restitution(own_restitution[b], restitution[h])
                move, after = wall_response(x, move, v, normal[h], point[h], surface, mu, e, dt)
                drive += wp.dot(after - v, surface)
                v = after
                hits += 1
        if hits > 0:  # in a corner, friction with one wall must not push the point through another
            for w in range(normal.shape[0]):
                h = at(w)
                move -= wp.min(wp.dot(x + move - point[h], normal[h]), real(0.0)) * normal[h]
        return move, v, drive

    @n.kernel(variant)
    def advance(
        weight: real,
        x: wp.array(dtype=vec),  # state: at the start of the substep, and its end on return
        v: wp.array(dtype=vec),
        v_stage: wp.array(dtype=vec),  # velocities at which the forces were evaluated
        x_slope: wp.array(dtype=vec),  # weighted velocities and accelerations of the stages before
        v_slope: wp.array(dtype=vec),
        f: wp.array(dtype=vec),
        area: wp.array(dtype=vec),
        body: wp.array(dtype=int),
        inverse_mass: wp.array(dtype=real),
        push: wp.array(dtype=real),
        gravity: wp.array(dtype=vec),
        drag: wp.array(dtype=real),
        decay: wp.array(dtype=real),
        own_friction: wp.array(dtype=real),
        own_restitution: wp.array(dtype=real),
        wall_normal: wp.array(dtype=vec),
        wall_point: wp.array(dtype=vec),
        wall_centre: wp.array(dtype=vec),
        wall_velocity: wp.array(dtype=vec),
        wall_spin: wp.array(dtype=spin_type),
        wall_friction: wp.array(dtype=real),
        wall_restitution: wp.array(dtype=real),
        dt: wp.array(dtype=real),
        clock: wp.array(dtype=wp.float64),
        planned: wp.array(dtype=int),
        block: wp.array(dtype=int),
        substeps: wp.array(dtype=int),
        unfinished: wp.array(dtype=int),
        dissipated: wp.array(dtype=wp.float64),
        work: wp.array(dtype=wp.float64),
    ):
        i = at(wp.tid())
        h = dt[0]
        m1 = inverse_mass[i]
        if m1 > real(0.0):  # a pinned point has no inverse mass and stays
            b = at(body[i])
            here = x[i]
            v0 = v[i]
            vs = v0
            if wp.static(stages > 1):
                vs = v_stage[i]
            slope = weight * acceleration(f[i], area[i], vs, m1, push[b], gravity[b], drag[b])
            drift = weight * vs
            if wp.static(stages > 1):
                slope += v_slope[i]
                drift += x_slope[i]
            velocity = v0 + h * slope
            if wp.static(velocity_first):
                drift = velocity
            move = h * drift
            before = wp.dot(velocity, velocity)
            if decay[b] > real(0.0):  # Martin 2009's damping (B5)
                velocity = wp.exp(-decay[b] * h) * velocity
            move, velocity, drive = meet_walls(
                here, move, velocity, b, h, own_friction, own_restitution,
                wall_normal, wall_point, wall_centre, wall_velocity, wall_spin, wall_friction, wall_restitution,
            )  # fmt: skip
            v[i] = velocity
            x[i] = here + move
            if wp.static(ledger):
                lost = real(0.5) * (before - wp.dot(velocity, velocity)) + drive
                dissipated[b] += wp.float64(lost / m1)
                work[b] += wp.float64(drive / m1)
        if wp.static(clears):
            f[i] = vec()
            area[i] = vec()
        if i == 0:
            clock[0] += wp.float64(h)
            substeps[0] += 1
            block[0] -= 1
            planned[0] -= 1
            if planned[0] == 0:
                unfinished[0] = 0

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
        gravity: wp.array(dtype=vec),
        drag: wp.array(dtype=real),
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
            a = acceleration(f[i], area[i], vs, m1, push[b], gravity[b], drag[b])
        before_x = vec()
        before_v = vec()
        if stage > 0:
            before_x = x_slope[i]
            before_v = v_slope[i]
        x_slope[i] = before_x + weight * vs
        v_slope[i] = before_v + weight * a
        h = reach * dt[0]
        ahead = v[i] + h * a
        if wp.static(velocity_first):
            vs = ahead
        x_stage[i] = x[i] + h * vs
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
        gravity: wp.array(dtype=vec),
        drag: wp.array(dtype=real),
        force_out: wp.array(dtype=vec),
    ):
        """Force on each point as the solver sees it, pins included; and the accumulators are cleared."""
        i = wp.tid()
        b = body[i]
        force_out[i] = f[i] + push[b] * area[i] + mass[i] * (gravity[b] - drag[b] * v[i])
        f[i] = vec()
        area[i] = vec()

    return SimpleNamespace(
        advance=advance,
        begin_stage=begin_stage,
        total_force=total_force,
        acceleration=acceleration,
        meet_walls=meet_walls,
    )
