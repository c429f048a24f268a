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
    """Device functions for the end of a substep: update, then meet_walls.

    staged: the scheme has stages before the last; velocity_first: positions move with the new velocity; ledger: what
    walls and decay take is summed. All three are constants of the code, as it is the hottest there is.
    """
    real, vec, spin_type = n.real, n.vec, n.spin
    wall, surface_of = walls.kernels(n), materials.kernels(n)
    wall_response, wall_loss, swing = wall.wall_response, wall.wall_loss, impulse.kernels(n).swing
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
        """New velocity of a free point, the displacement of the substep, and energy per mass lost to decay."""
        slope = weight * acceleration(force, area, v_stage, inverse_mass, push, gravity, drag)
        drift = weight * v_stage
        if wp.static(staged):
            slope += v_slope
            drift += x_slope
        velocity = v0 + h * slope
        if wp.static(velocity_first):
            drift = velocity
        loss = real(0.0)
        if decay > real(0.0):  # Martin 2009's damping (B5)
            kept = wp.exp(-decay * h)
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

    return SimpleNamespace(update=update, meet_walls=meet_walls)
