"""From forces to new velocities and displacements: the one update that all schemes and both kinds of substep share."""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.contact import materials, walls
from turgor.kernel.numbers import Numbers, at
from turgor.rigid import impulse

__all__ = ["accelerations", "kernels", "variant_of"]


def variant_of(file: str, staged: bool, velocity_first: bool, clears: bool, ledger: bool) -> str:
    """Name of the Warp module of these options: each combination is compiled on its own."""
    marks = zip("svcl", (staged, velocity_first, clears, ledger), strict=True)
    return f"{file}_{''.join(mark for mark, chosen in marks if chosen)}"


@functools.cache
@no_type_check
def accelerations(n: Numbers) -> SimpleNamespace:
    """acceleration: of a point."""
    real, vec = n.real, n.vec

    @wp.func
    def acceleration(force: vec, area: vec, v: vec, inverse_mass: real, push: real, gravity: vec, drag: real) -> vec:
        """(springs + gauge pressure * area) / m + g - c v."""
        return inverse_mass * (force + push * area) + gravity - drag * v

    return SimpleNamespace(acceleration=acceleration)


@functools.cache
@no_type_check
def kernels(n: Numbers, staged: bool, velocity_first: bool, ledger: bool) -> SimpleNamespace:
    """Device functions for the end of a substep: update, then meet_walls; booked, for the ledger.

    staged: the scheme has stages before the last; velocity_first: positions move with the new velocity; ledger: the
    work of moving walls is summed. All three are constants of the code, as it is the hottest there is.
    """
    real, vec, spin_type, wide = n.real, n.vec, n.spin, n.wide
    wall, surface_of = walls.kernels(n), materials.kernels(n)
    wall_response, swing = wall.wall_response, impulse.kernels(n).swing
    shared_friction, shared_restitution = surface_of.shared_friction, surface_of.shared_restitution
    acceleration = accelerations(n).acceleration

    @wp.func
    def update(
        weight: real,  # of the last stage
        v0: vec,  # at the start of the substep
        v_stage: vec,  # at which the forces were evaluated
        x_slope: vec,  # weighted velocities and accelerations of the stages before
        v_slope: vec,
        force: vec,
        area: vec,
        inverse_mass: real,
        push: real,
        gravity: vec,
        drag: real,
        decay: real,
        h: real,
    ):
        """New velocity of a free point, the displacement of the substep, and the velocity before decay."""
        slope = weight * acceleration(force, area, v_stage, inverse_mass, push, gravity, drag)
        drift = weight * v_stage
        if wp.static(staged):
            slope += v_slope
            drift += x_slope
        velocity = v0 + h * slope
        if wp.static(velocity_first):
            drift = velocity
        kicked = velocity
        if decay > real(0.0):  # Martin 2009's damping (B5)
            velocity = wp.exp(-decay * h) * velocity
        return velocity, h * drift, kicked

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
        """Movement and velocity after all walls; work per mass of moving ones; how many were met.

        The movement is clipped at the wall. In schemes that move with earlier velocities than the new one, a point at
        rest does not move: there the wall also stops a velocity that would lead behind it.
        """
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
                if wp.static(ledger):
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
        return move, v, drive, hits

    @wp.func(inline=True)
    def is_clear(
        x: vec, move: vec, v: vec, dt: real, enough: real, normal: wp.array(dtype=vec), point: wp.array(dtype=vec)
    ) -> bool:
        """Whether a point ends farther than `enough` from all walls: as most do, to which meet_walls does nothing."""
        least = real(3.0e30)
        for w in range(normal.shape[0]):
            h = at(w)
            least = wp.min(least, wp.dot(x + move - point[h], normal[h]))
            if wp.static(not velocity_first):
                least = wp.min(least, wp.dot(x + dt * v - point[h], normal[h]))
        return least > enough

    @wp.func
    def booked(
        inverse_mass: real,
        start: vec,  # velocity at the start of the substep
        kicked: vec,  # and after the forces
        v: vec,  # and at the end: after decay, contact and walls
        asked: vec,  # displacement that the forces alone ask for
        made: vec,  # and the one that is made
        drive: real,  # work per mass of moving walls
        lost_force: vec,  # dashpots and drag
        wind_force: vec,
        h: real,
    ):
        """(dissipated, work) of a point in this substep, J; in double precision, as they are small differences.

        What a point loses to contact, walls and decay is the work F·d of the forces F = m (kicked - start)/h over its
        path d, minus the gain of kinetic energy, plus the work of what drives it. With velocities first (leapfrog:
        they belong to times between the positions) a force acts while the velocity goes from `start` to `v`, so
        d = h (start + v)/2 + (made - h v); the bracket is what contact displaces without a velocity. Then F·d of a
        free point is its gain, exactly; and a point that rests loses nothing, whatever velocity the forces add and
        contact removes.
        """
        step = wp.float64(h)
        before = wide(start)
        after = wide(v)
        path = wide(made)
        if wp.static(velocity_first):
            path -= wp.float64(0.5) * step * (after - before)
        if inverse_mass <= real(0.0):  # pinned, or glued: it goes with its rigid body
            path = wp.float64(0.5) * step * (before + after)
        lost = wp.float64(0.0)
        given = wp.float64(0.0)
        if inverse_mass > real(0.0):
            mass = wp.float64(1.0) / wp.float64(inverse_mass)
            given = mass * wp.float64(drive)
            if wp.length_sq(v - kicked) > real(0.0) or wp.length_sq(made - asked) > real(0.0):
                work = wp.dot(wide(kicked) - before, path) / wp.max(step, wp.float64(1.0e-300))
                lost = mass * (work - wp.float64(0.5) * (wp.dot(after, after) - wp.dot(before, before))) + given
        if wp.static(not velocity_first):
            path = step * before  # the forces of damping are those of the first stage
        lost -= wp.dot(wide(lost_force), path)
        blown = wp.dot(wide(wind_force), path)
        if blown > wp.float64(0.0):
            given += blown
        else:
            lost -= blown
        return lost, given

    return SimpleNamespace(update=update, meet_walls=meet_walls, is_clear=is_clear, booked=booked)
