"""Newton's method for the velocities v at the end of a step: forces at x* + h v balance m (v - v*)/h.

x* and v* are where the step of Backward Euler begins (`history.py`).

Each round solves A d = r (`system.py`, `conjugate.py`) and goes along d as far as it is good (`search.py`). A world is
done when its residual, measured in A⁻¹, is a small share of what weight alone does in a step, of a hundredth of its
motion, or of a hundredth of what it was at the start.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import numpy as np
import warp as wp

from turgor.kernel.numbers import Numbers, at
from turgor.solvers.implicit import rigid_part

__all__ = ["kernels"]

SPEED = 2.4  # 1/s: velocities count by what they would change at this rate, beside what weight adds
ROUNDING = 0.35  # units in the last place by which positions are off


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """begin_step, then rounds of (solve), go, (forces), find_smooth; end_round."""
    real, vec, wide = n.real, n.vec, n.wide
    rigid = rigid_part.kernels(n)
    row, twist, by_turning, swing = rigid.row, rigid.twist, rigid.by_turning, rigid.swing

    @n.kernel(__name__)
    def begin_step(
        world_bodies: int,
        body_sums: wp.array(dtype=row),
        body_gravity: wp.array(dtype=vec),
        body_centre: wp.array(dtype=wide),
        chunk_first: wp.array(dtype=int),
        chunk_start: wp.array(dtype=int),
        skin_stiffness: wp.array(dtype=real),
        size: wp.array(dtype=real),
        step: wp.array(dtype=real),
        scale: wp.array(dtype=real),
        noise: wp.array(dtype=real),
        active: wp.array(dtype=int),
        any_active: wp.array(dtype=int),
        rounds: wp.array(dtype=int),
        stirred: wp.array(dtype=int),
    ):
        """What the residual of each world is compared with: A of the velocities that weight gives in a step.

        Positions X are rounded to eps X, and springs answer with k eps X: residuals below that are noise.
        """
        w = wp.tid()
        total = real(0.0)
        rounding = real(0.0)
        for b in range(w * world_bodies, (w + 1) * world_bodies):
            sums = body_sums[b]
            h = step[b]
            gain = h * wp.length(body_gravity[b])
            far = wp.static(real(ROUNDING * np.finfo(n.dtype).eps)) * (real(wp.length(body_centre[b])) + size[b])
            points = chunk_start[chunk_first[b + 1]] - chunk_start[chunk_first[b]]
            rounding += real(points) * skin_stiffness[b] * far * far / h
            share = real(SPEED) * h
            total += (real(sums[0]) * gain * gain + share * share * real(sums[16])) / h
        scale[w] = total
        noise[w] = rounding
        active[w] = 1
        stirred[w] = 1
        rounds[w] = 0
        any_active[0] = 1

    @n.kernel(__name__)
    def begin_again(
        inverse_mass: wp.array(dtype=real),
        v_free: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        v_start: wp.array(dtype=vec),
    ):
        """Velocities at the start, with what bodies that overlap got since v_free (`overlaps.separate`)."""
        i = at(wp.tid())
        if inverse_mass[i] > real(0.0):
            v_start[i] = v_start[i] + (v[i] - v_free[i])
        v[i] = v_start[i]

    @n.kernel(__name__)
    def find_trial(
        x_from: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        body: wp.array(dtype=int),
        step: wp.array(dtype=real),
        at_x: wp.array(dtype=vec),
    ):
        """Where the velocities lead."""
        i = at(wp.tid())
        at_x[i] = x_from[i] + step[at(body[i])] * v[i]

    @n.kernel(__name__)
    def find_force(
        f: wp.array(dtype=vec),
        area: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        body: wp.array(dtype=int),
        mass: wp.array(dtype=real),
        inverse_mass: wp.array(dtype=real),
        push: wp.array(dtype=real),
        body_gravity: wp.array(dtype=vec),
        drag: wp.array(dtype=real),
        decay: wp.array(dtype=real),
        faces_at: wp.array(dtype=vec),
        force: wp.array(dtype=vec),
    ):
        """The force on each free point but for contact; the accumulators are cleared."""
        i = at(wp.tid())
        b = at(body[i])
        total = vec()
        if inverse_mass[i] > real(0.0):
            total = f[i] + push[b] * area[i] + mass[i] * (body_gravity[b] - (drag[b] + decay[b]) * v[i])
        force[i] = total
        faces_at[i] = area[i]
        f[i] = vec()
        area[i] = vec()

    @n.kernel(__name__)
    def find_smooth(
        v: wp.array(dtype=vec),
        v_from: wp.array(dtype=vec),
        body: wp.array(dtype=int),
        mass: wp.array(dtype=real),
        inverse_mass: wp.array(dtype=real),
        force: wp.array(dtype=vec),
        inertia: wp.array(dtype=real),
        smooth: wp.array(dtype=vec),
    ):
        """What is left of all forces but contact beside inertia."""
        i = at(wp.tid())
        left = vec()
        if inverse_mass[i] > real(0.0):
            left = force[i] - inertia[at(body[i])] * mass[i] * (v[i] - v_from[i])
        smooth[i] = left

    @n.kernel(__name__)
    def go(
        body: wp.array(dtype=int),
        world: wp.array(dtype=int),
        inverse_mass: wp.array(dtype=real),
        free: wp.array(dtype=int),
        length: wp.array(dtype=real),
        change: wp.array(dtype=real),
        solution: wp.array(dtype=vec),
        v_round: wp.array(dtype=vec),
        x_round: wp.array(dtype=vec),  # where v_round leads
        turn_centre: wp.array(dtype=wide),
        turn_spin: wp.array(dtype=twist),
        step: wp.array(dtype=real),
        v: wp.array(dtype=vec),
        stirred: wp.array(dtype=int),
    ):
        """Along the solution, or back. What of it turns a free body turns it: a straight line would stretch it."""
        i = at(wp.tid())
        b = at(body[i])
        w = world[b]
        stirred[w] = wp.where(change[w] != real(0.0), 1, 0)
        if change[w] != real(0.0) and inverse_mass[i] > real(0.0):
            far = length[w] + change[w]
            there = v_round[i] + far * solution[i]
            if free[b] != 0:
                h = wp.float64(step[b])
                arm = wide(x_round[i]) - turn_centre[b]
                spin = wp.float64(far) * turn_spin[b]
                there += vec(by_turning(spin, h, arm) / h - swing(spin, arm))
            v[i] = there

    @n.kernel(__name__)
    def keep_forces(
        body: wp.array(dtype=int),
        world: wp.array(dtype=int),
        in_round: wp.array(dtype=int),
        wall_force_now: wp.array(dtype=vec),
        wall_force_round: wp.array(dtype=vec),
    ):
        """Forces of walls in this round limit the friction of the next, in worlds that take part."""
        i = at(wp.tid())
        if in_round[world[at(body[i])]] != 0:
            wall_force_round[i] = wall_force_now[i]

    @n.kernel(__name__)
    def end_round(most: int, rounds: wp.array(dtype=int), active: wp.array(dtype=int), any_active: wp.array(dtype=int)):
        """Whether another round is needed: worlds that converged have said so (`conjugate.find_turn`)."""
        w = wp.tid()
        rounds[w] = rounds[w] + active[w]
        if active[w] != 0 and rounds[w] < most:
            any_active[0] = 1

    return SimpleNamespace(
        begin_step=begin_step, begin_again=begin_again, find_trial=find_trial, find_force=find_force,
        find_smooth=find_smooth, go=go, keep_forces=keep_forces, end_round=end_round,
    )  # fmt: skip
