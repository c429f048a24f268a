"""A point against a wall (A7, B6): the wall clips the movement, reflects the normal velocity, rubs the tangential."""

from __future__ import annotations

import numpy as np


def velocity_of_the_hit(gap, before, after, dt):
    """Normal velocity (< 0) at which points meet the wall; of velocity-first methods, which move with `after`.

    A point at distance `gap` whose forces alone, (after - before) dt, would not lead to the wall hits it with the
    velocity it moves with. Else it lies on the wall, or hovers just above it: forces and wall act all the time, and
    the velocity changes linearly with the way, of which the wall lets it go `gap`. A point that leaves the wall and is
    back within the step is back with the speed it left with. It is never faster than its forces leave it in the end.
    """
    gap = np.maximum(gap, 0.0)
    way = -after * dt
    share = np.divide(gap, way, out=np.ones_like(gap), where=way > gap)
    resting = -np.abs(before) * (1.0 - share) + after * share
    return np.where(gap + (after - before) * dt < 0.0, np.maximum(resting, after), after)


def wall_response(x, dx, v, dt, normal, offset, wall_velocity=0.0, restitution=0.1, friction=0.0, start=None):
    """Positions and velocities after the move `dx` beside the plane n·x = offset (at the end of the step).

    The point that would end behind the plane ends on it. If it approaches, its normal velocity relative to the wall
    becomes -e times that of the hit; that impulse per mass, j, takes at most μ j from the tangential relative velocity
    and never reverses it (2009, 3.1.4). A point that hit moves tangentially with the velocity that friction leaves it.
    `start`: velocities before the forces of the step, if they are not v.
    """
    n = np.asarray(normal, float)
    moved = x + dx
    gap = moved @ n - offset
    hit = gap < 0.0
    relative = v - wall_velocity
    vn = relative @ n
    before = vn if start is None else (start - wall_velocity) @ n
    met = velocity_of_the_hit((x + dt * wall_velocity) @ n - offset, before, vn, dt)
    j = np.where(hit & (vn < 0.0), -vn - restitution * met, 0.0)
    tangent = relative - vn[:, None] * n
    speed = np.linalg.norm(tangent, axis=1)
    rubbed = np.minimum(friction * j, speed)  # never more than there is
    loss = tangent * np.divide(rubbed, speed, out=np.zeros_like(speed), where=speed > 0)[:, None]
    moved = moved - np.where(hit, gap, 0.0)[:, None] * n - loss * dt
    return moved, v + j[:, None] * n - loss
