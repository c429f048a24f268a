"""The potential whose lowest point a step looks for, and the guess from which it begins: the lowest of three.

    Φ(v) = Σ m |v - v*|² / 2h - m g·v  +  (springs + gas at x* + h v) / h  +  walls

with x* and v* where the step of Backward Euler begins (`history.py`).

The step makes its gradient zero. Where x* and v* are those of now and Φ ends no higher than it is for v = 0, energy has
not grown: so that is one of the guesses. The others are a rigid motion, turned and not stretched, which springs and gas
do not notice, and the velocities that there are.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.kernel.blocks import block_sum
from turgor.kernel.numbers import Numbers, at
from turgor.scene.gas import VOLUME_FLOOR
from turgor.solvers.implicit import rigid_part

__all__ = ["GUESSES", "kernels"]

GUESSES = 3  # rigid motion, as before, at rest


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """For each guess: set_guess, (areas and volumes), sum_potential, compare; then set_guess for the best."""
    real, vec, wide = n.real, n.vec, n.wide
    twist, by_turning = rigid_part.kernels(n).twist, rigid_part.kernels(n).by_turning

    @wp.func
    def gas_energy(volume: real, rest_volume: real, pressure: real, ambient: real, gamma: real, held: int):
        """J: its derivative by the volume is minus the gauge pressure; zero of a body without volume."""
        rest = wp.float64(rest_volume)
        v = wp.max(wp.float64(volume), wp.float64(VOLUME_FLOOR) * rest)
        p = wp.float64(pressure)
        gas = wp.float64(ambient) * v
        if held != 0:
            gas -= p * v
        elif gamma == real(1.0):
            gas -= p * v * wp.log(v / rest)
        else:
            gas += p * v / (wp.float64(gamma) - wp.float64(1.0))
        if rest <= wp.float64(0.0):
            gas = wp.float64(0.0)
        return gas

    @n.kernel(__name__)
    def set_guess(
        number: int,  # of all bodies; -1: each body its best
        x_from: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        v_from: wp.array(dtype=vec),
        body: wp.array(dtype=int),
        free: wp.array(dtype=int),  # whether nothing of the body is pinned
        inverse_mass: wp.array(dtype=real),
        body_gravity: wp.array(dtype=vec),
        body_centre: wp.array(dtype=wide),
        body_velocity: wp.array(dtype=wide),
        body_spin: wp.array(dtype=twist),
        body_guess: wp.array(dtype=int),
        step: wp.array(dtype=real),
        at_x: wp.array(dtype=vec),
    ):
        """Velocities, and where they lead."""
        i = at(wp.tid())
        b = at(body[i])
        start = v_from[i]
        if inverse_mass[i] > real(0.0):
            chosen = number
            if number < 0:
                chosen = body_guess[b]
            start += step[b] * body_gravity[b]
            if chosen == 0 and free[b] != 0:
                h = wp.float64(step[b])
                turn = by_turning(body_spin[b], h, wide(x_from[i]) - body_centre[b]) / h
                start = vec(body_velocity[b] + turn) + step[b] * body_gravity[b]
            if chosen == 2:
                start = vec()
        v[i] = start
        at_x[i] = x_from[i] + step[b] * start

    @n.kernel(__name__)
    def sum_potential(
        chunk_body: wp.array(dtype=int),
        chunk_start: wp.array(dtype=int),
        v: wp.array(dtype=vec),
        v_from: wp.array(dtype=vec),
        at_x: wp.array(dtype=vec),
        mass: wp.array(dtype=real),
        inverse_mass: wp.array(dtype=real),
        body_gravity: wp.array(dtype=vec),
        neighbour_start: wp.array(dtype=int),
        neighbours: wp.array(dtype=int),
        neighbour_rest: wp.array(dtype=real),
        stiffness: wp.array(dtype=real),
        hardness: wp.array(dtype=real),
        wall_normal: wp.array(dtype=vec),
        wall_point: wp.array(dtype=vec),
        step: wp.array(dtype=real),
        chunk_potential: wp.array(dtype=wp.float64),
    ):
        """Of a chunk of points; each spring counts half at both ends."""
        chunk, lane = wp.tid()
        b = chunk_body[chunk]
        h = step[b]
        total = wp.float64(0.0)
        for q in range(chunk_start[chunk] + lane, chunk_start[chunk + 1], wp.block_dim()):
            i = at(q)
            here = at_x[i]
            springs = real(0.0)
            for s in range(neighbour_start[i], neighbour_start[i + 1]):
                longer = wp.length(at_x[at(neighbours[at(s)])] - here) - neighbour_rest[at(s)]
                springs += longer * longer
            value = real(0.25) * stiffness[b] * springs / h
            if inverse_mass[i] > real(0.0):
                gain = v[i] - v_from[i]
                value += mass[i] * (wp.length_sq(gain) / (real(2.0) * h) - wp.dot(body_gravity[b], v[i]))
                for w in range(wall_normal.shape[0]):
                    behind = wp.min(wp.dot(here - wall_point[at(w)], wall_normal[at(w)]), real(0.0)) / h
                    value += real(0.5) * hardness[i] * behind * behind
            total += wp.float64(value)
        summed = block_sum(total)
        if lane == 0:
            chunk_potential[chunk] = summed

    @n.kernel(__name__)
    def compare(
        number: int,
        chunk_first: wp.array(dtype=int),
        chunk_potential: wp.array(dtype=wp.float64),
        volume: wp.array(dtype=real),
        rest_volume: wp.array(dtype=real),
        pressure: wp.array(dtype=real),
        ambient: wp.array(dtype=real),
        gamma: wp.array(dtype=real),
        held: wp.array(dtype=int),
        stored: wp.array(dtype=wp.float64),
        step: wp.array(dtype=real),
        body_potential: wp.array(dtype=wp.float64),
        body_guess: wp.array(dtype=int),
    ):
        """Add the gas; keep a guess that is lower than those before."""
        b = wp.tid()
        total = wp.float64(0.0)
        for c in range(chunk_first[b], chunk_first[b + 1]):
            total += chunk_potential[c]
        gas = gas_energy(volume[b], rest_volume[b], pressure[b], ambient[b], gamma[b], held[b])
        total += (gas + stored[b]) / wp.float64(step[b])
        if number == 0 or total < body_potential[b]:
            body_potential[b] = total
            body_guess[b] = number

    return SimpleNamespace(set_guess=set_guess, sum_potential=sum_potential, compare=compare, gas_energy=gas_energy)
