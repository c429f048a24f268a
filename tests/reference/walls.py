"""A point against a wall (A7, B6): the wall clips the movement, reflects the normal velocity, rubs the tangential."""

from __future__ import annotations

import numpy as np


def wall_response(x, dx, v, dt, normal, offset, wall_velocity=0.0, restitution=0.1, friction=0.0):
    """Positions and velocities after the move `dx` beside the plane n·x = offset (at the end of the step).

    The point that would end behind the plane ends on it. If it approaches, its normal velocity relative to the wall
    turns into -e times itself; that impulse per mass, j, takes at most μ j from the tangential relative velocity and
    never reverses it (2009, 3.1.4). A point that hit moves tangentially with the velocity that friction leaves it.
    """
    n = np.asarray(normal, float)
    moved = x + dx
    gap = moved @ n - offset
    hit = gap < 0.0
    relative = v - wall_velocity
    vn = relative @ n
    j = np.where(hit & (vn < 0.0), -(1.0 + restitution) * vn, 0.0)
    tangent = relative - vn[:, None] * n
    speed = np.linalg.norm(tangent, axis=1)
    rubbed = np.minimum(friction * j, speed)  # never more than there is
    loss = tangent * np.divide(rubbed, speed, out=np.zeros_like(speed), where=speed > 0)[:, None]
    moved = moved - np.where(hit, gap, 0.0)[:, None] * n - loss * dt
    return moved, v + j[:, None] * n - loss
