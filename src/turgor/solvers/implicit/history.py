"""The second-order step (BDF2): what the step before leaves to the next one, and where that one begins.

With h the length of a step and rho its ratio to that of the step before, the end of a step is that of a step of
Backward Euler of length h (1 + rho)/(1 + 2 rho) from

    x* = x + e (x - x_before),  v* = v + e (v - v_before),  e = rho² / (1 + 2 rho)

(Curtiss & Hirschfelder 1952; Celaya et al. 2014 for steps of any length). Without a step before, rho = 0: Backward
Euler. An oscillation loses (omega h)⁴/2 of its energy in a step, where Backward Euler takes (omega h)².

Of a point that lies on a wall the echo may not lead through the wall, nor away from it: what a wall has stopped stays
there. Angular momentum, which straight lines do not keep, is made that of the same formula at (x*, v*).
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.kernel.numbers import Numbers, at
from turgor.solvers.implicit import rigid_part

__all__ = ["ALONE", "kernels"]

ALONE = 4  # steps: what still touches now and then, with the sweep between, keeps to Backward Euler


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """set_step; find_weights, begin_from, (moments) find_moment, (moments) find_correction, correct; end_step."""
    real, vec, wide = n.real, n.vec, n.wide
    rigid = rigid_part.kernels(n)
    row, twist, swing, get, moment = rigid.row, rigid.twist, rigid.swing, rigid.get, rigid.moment
    get_vector, inertia_about, spin_of = rigid.get_vector, rigid.inertia_about, rigid.spin_of

    @n.kernel(__name__)
    def set_step(
        dt: wp.array(dtype=real),
        has_glue: wp.array(dtype=int),
        step: wp.array(dtype=real),
        inertia: wp.array(dtype=real),
        paired: wp.array(dtype=int),
    ):
        """Backward Euler over the whole step, until more is known."""
        b = wp.tid()
        step[b] = dt[0]
        inertia[b] = real(1.0) / dt[0]
        paired[b] = has_glue[b]

    @n.kernel(__name__)
    def notice_changes(
        body: wp.array(dtype=int),
        v: wp.array(dtype=vec),
        v_solved: wp.array(dtype=vec),
        dt_before: wp.array(dtype=real),
        paired: wp.array(dtype=int),
    ):
        """Bodies whose velocities are not those that the last step has found: the sweep has changed them."""
        i = at(wp.tid())
        b = at(body[i])
        if dt_before[b] > real(0.0) and wp.length_sq(v[i] - v_solved[i]) > real(0.0):
            paired[b] = 1

    @n.kernel(__name__)
    def find_weights(
        dt: wp.array(dtype=real),
        paired: wp.array(dtype=int),
        alone: wp.array(dtype=int),  # steps since the body could touch another, or itself
        dt_before: wp.array(dtype=real),  # s; 0: there is no step before
        echo: wp.array(dtype=real),
        step: wp.array(dtype=real),
        inertia: wp.array(dtype=real),
    ):
        """Of each body in this step."""
        b = wp.tid()
        h = dt[0]
        rho = real(0.0)
        alone[b] = wp.where(paired[b] == 0, wp.min(alone[b] + 1, ALONE), 0)
        if dt_before[b] > real(0.0) and alone[b] >= ALONE:
            rho = h / dt_before[b]
        length = h * (real(1.0) + rho) / (real(1.0) + real(2.0) * rho)
        echo[b] = rho * rho / (real(1.0) + real(2.0) * rho)
        step[b] = length
        inertia[b] = real(1.0) / length
        dt_before[b] = wp.where(alone[b] > 0, h, real(0.0))  # impulses between bodies have no echo

    @n.kernel(__name__)
    def begin_from(
        x: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        x_before: wp.array(dtype=vec),
        v_before: wp.array(dtype=vec),
        wall_before: wp.array(dtype=vec),  # the normal of a wall that held the point, or zero
        body: wp.array(dtype=int),
        inverse_mass: wp.array(dtype=real),
        echo: wp.array(dtype=real),
        x_from: wp.array(dtype=vec),
        v_from: wp.array(dtype=vec),
    ):
        """Where the step of Backward Euler begins; the state is kept for the next step."""
        i = at(wp.tid())
        share = echo[at(body[i])]
        moved = x[i] - x_before[i]
        change = v[i] - v_before[i]
        normal = wall_before[i]
        moved -= wp.min(wp.dot(moved, normal), real(0.0)) * normal
        change -= wp.max(wp.dot(change, normal), real(0.0)) * normal
        x_before[i] = x[i]
        v_before[i] = v[i]
        if inverse_mass[i] > real(0.0) and share > real(0.0):
            x_from[i] = x[i] + share * moved
            v_from[i] = v[i] + share * change
        else:
            x_from[i] = x[i]
            v_from[i] = v[i]

    @n.kernel(__name__)
    def find_moment(
        chunk_first: wp.array(dtype=int),
        moments: wp.array(dtype=row),
        echo: wp.array(dtype=real),
        moment_before: wp.array(dtype=twist),  # kg m²/s
        moment_from: wp.array(dtype=twist),
    ):
        """Angular momentum of each body about its centre of mass, with its echo."""
        b = wp.tid()
        sums = row()
        for c in range(chunk_first[b], chunk_first[b + 1]):
            sums += moments[c]
        now = get(sums, 7) - moment(get_vector(sums, 1) / sums[0], get_vector(sums, 4))
        moment_from[b] = now + wp.float64(echo[b]) * (now - moment_before[b])
        moment_before[b] = now

    @n.kernel(__name__)
    def find_correction(
        chunk_first: wp.array(dtype=int),
        moments: wp.array(dtype=row),
        moment_from: wp.array(dtype=twist),
        free: wp.array(dtype=int),
        echo: wp.array(dtype=real),
        turn_spin: wp.array(dtype=twist),
    ):
        """The spin that (x*, v*) lacks."""
        b = wp.tid()
        sums = row()
        for c in range(chunk_first[b], chunk_first[b + 1]):
            sums += moments[c]
        centre = get_vector(sums, 1) / sums[0]
        there = get(sums, 7) - moment(centre, get_vector(sums, 4))
        spin = twist(wp.float64(0.0))
        if free[b] != 0 and echo[b] > real(0.0):
            spin = spin_of(inertia_about(sums, centre), moment_from[b] - there)
        turn_spin[b] = spin

    @n.kernel(__name__)
    def correct(
        body: wp.array(dtype=int),
        x_from: wp.array(dtype=vec),
        body_centre: wp.array(dtype=wide),
        turn_spin: wp.array(dtype=twist),
        v_from: wp.array(dtype=vec),
    ):
        """Give it."""
        i = at(wp.tid())
        b = at(body[i])
        v_from[i] = v_from[i] + vec(swing(turn_spin[b], wide(x_from[i]) - body_centre[b]))

    @n.kernel(__name__)
    def end_step(
        x: wp.array(dtype=vec),
        x_from: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        wall_force_now: wp.array(dtype=vec),
        wall_normal: wp.array(dtype=vec),
        body: wp.array(dtype=int),
        step: wp.array(dtype=real),
        v_free: wp.array(dtype=vec),
        move: wp.array(dtype=vec),
        wall_before: wp.array(dtype=vec),
    ):
        """The displacement that is asked for, and which wall holds the point."""
        i = at(wp.tid())
        v_free[i] = v[i]
        move[i] = x_from[i] - x[i] + step[at(body[i])] * v[i]
        against = vec()
        for w in range(wall_normal.shape[0]):
            if wp.dot(wall_force_now[i], wall_normal[at(w)]) > real(0.0):
                against = wall_normal[at(w)]
        wall_before[i] = against

    return SimpleNamespace(
        set_step=set_step, notice_changes=notice_changes, find_weights=find_weights, begin_from=begin_from,
        find_moment=find_moment, find_correction=find_correction, correct=correct, end_step=end_step,
    )  # fmt: skip
