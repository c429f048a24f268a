"""A body that meets a wall does not gain energy from it: an impact that is shorter than a step has an echo in the next
ones (`history.py`), which would throw the body back.

In a step of a body that lies on a wall, or has in one of the last few, all velocities are scaled down by what its
energy has grown by beyond the work of walls that move, as if the wall had given less. Bodies that something else drives
(grabs, a pump that is still at work), and that may touch others, are left alone.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import numpy as np
import warp as wp

from turgor.kernel.blocks import block_sum
from turgor.kernel.numbers import Numbers, at
from turgor.solvers.implicit import potential, rigid_part

__all__ = ["STEPS", "kernels"]

STEPS, RECENT = 16, 6  # after a wall was touched, when its echo has fallen to 2e-8 and 1/729
GROWTH = 1e-4  # of the kinetic energy: less is left
WEIGHT = 1e-2  # of what weight alone would make in a step from rest: less is left, as walls give way a little
NOISE = 4.0  # times the energy that rounded positions make


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """sum_energy and find_energy, at the start and at the end of a step; limit."""
    real, vec = n.real, n.vec
    row = rigid_part.kernels(n).row
    gas_energy = potential.kernels(n).gas_energy
    eps = wp.constant(real(np.finfo(n.dtype).eps))

    @n.kernel(__name__)
    def sum_energy(
        chunk_body: wp.array(dtype=int),
        chunk_start: wp.array(dtype=int),
        limited: wp.array(dtype=int),
        at_x: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        mass: wp.array(dtype=real),
        wall_given: wp.array(dtype=real),  # J/kg: work of walls that move
        body_gravity: wp.array(dtype=vec),
        neighbour_start: wp.array(dtype=int),
        neighbours: wp.array(dtype=int),
        neighbour_rest: wp.array(dtype=real),
        stiffness: wp.array(dtype=real),
        skin_stiffness: wp.array(dtype=real),
        chunk_energies: wp.array(dtype=wp.vec3d),
    ):
        """Kinetic, potential (springs and weight), and the square of its rounding, of a chunk of points."""
        chunk, lane = wp.tid()
        b = chunk_body[chunk]
        if limited[b] == 0:
            return
        moving = wp.float64(0.0)
        stored = wp.float64(0.0)
        rounding = wp.float64(0.0)
        for q in range(chunk_start[chunk] + lane, chunk_start[chunk + 1], wp.block_dim()):
            i = at(q)
            here = at_x[i]
            off = eps * wp.length(here) * skin_stiffness[b]
            for s in range(neighbour_start[i], neighbour_start[i + 1]):
                longer = wp.length(at_x[at(neighbours[at(s)])] - here) - neighbour_rest[at(s)]
                stored += wp.float64(real(0.25) * stiffness[b] * longer * longer)
                rounding += wp.float64(off * longer * off * longer)
            moving += wp.float64(real(0.5) * mass[i] * wp.length_sq(v[i]))
            stored -= wp.float64(mass[i]) * wp.float64(wp.dot(body_gravity[b], here) + wall_given[i])
        total = wp.vec3d()
        one = block_sum(moving)
        two = block_sum(stored)
        three = block_sum(rounding)
        total = wp.vec3d(one, two, three)
        if lane == 0:
            chunk_energies[chunk] = total

    @n.kernel(__name__)
    def find_energy(
        chunk_first: wp.array(dtype=int),
        chunk_energies: wp.array(dtype=wp.vec3d),
        limited: wp.array(dtype=int),
        volume: wp.array(dtype=real),
        rest_volume: wp.array(dtype=real),
        pressure: wp.array(dtype=real),
        ambient: wp.array(dtype=real),
        gamma: wp.array(dtype=real),
        held: wp.array(dtype=int),
        stored: wp.array(dtype=wp.float64),
        energy: wp.array(dtype=wp.vec3d),
    ):
        """Of each body, its gas included."""
        b = wp.tid()
        if limited[b] != 0:
            total = wp.vec3d()
            for c in range(chunk_first[b], chunk_first[b + 1]):
                total += chunk_energies[c]
            total[1] = total[1] + stored[b]
            total[1] = total[1] + gas_energy(volume[b], rest_volume[b], pressure[b], ambient[b], gamma[b], held[b])
            energy[b] = total

    @n.kernel(__name__)
    def find_scale(
        limited: wp.array(dtype=int),
        energy_before: wp.array(dtype=wp.vec3d),
        energy: wp.array(dtype=wp.vec3d),
        body_sums: wp.array(dtype=row),
        body_gravity: wp.array(dtype=vec),
        dt: wp.array(dtype=real),
        grab_vertex: wp.array(dtype=int),
        inflate: wp.array(dtype=real),
        clock: wp.array(dtype=wp.float64),
        speed_share: wp.array(dtype=real),
    ):
        """By how much the velocities of each body are scaled."""
        b = wp.tid()
        share = real(1.0)
        driven = grab_vertex[b] >= 0 or wp.float64(inflate[b]) > clock[0]
        if limited[b] != 0 and not driven:
            now = energy[b]
            before = energy_before[b]
            gained = now[0] + now[1] - before[0] - before[1]
            fall = wp.float64(dt[0] * wp.length(body_gravity[b]))
            slack = wp.float64(GROWTH) * now[0] + wp.float64(WEIGHT) * body_sums[b][0] * fall * fall
            if gained > slack + wp.float64(NOISE) * wp.sqrt(now[2]):
                share = real(0.0)
                if gained < now[0]:
                    share = real(wp.sqrt(wp.float64(1.0) - gained / now[0]))
        speed_share[b] = share

    @n.kernel(__name__)
    def slow_down(
        body: wp.array(dtype=int),
        speed_share: wp.array(dtype=real),
        v: wp.array(dtype=vec),
        v_free: wp.array(dtype=vec),
    ):
        """Scale; where the step leads stays."""
        i = at(wp.tid())
        v[i] = speed_share[at(body[i])] * v[i]
        v_free[i] = v[i]

    @n.kernel(__name__)
    def look_back(
        near_wall: wp.array(dtype=int),
        paired: wp.array(dtype=int),
        limited: wp.array(dtype=int),
        any_limited: wp.array(dtype=int),
    ):
        """Whether a body has touched a wall lately, and is alone with it."""
        b = wp.tid()
        limited[b] = wp.where(near_wall[b] > STEPS - RECENT and paired[b] == 0, 1, 0)
        if limited[b] != 0:
            any_limited[0] = 1

    return SimpleNamespace(
        sum_energy=sum_energy, find_energy=find_energy, find_scale=find_scale, slow_down=slow_down, look_back=look_back
    )
