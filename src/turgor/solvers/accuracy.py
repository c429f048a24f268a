"""How much energy a solver adds or takes: estimated from the motion, body by body, and limited by `accuracy`.

An oscillation of energy E and frequency omega, z = omega dt, changes its energy per unit time by E omega z^p / d (see
`schemes.py`); that of the symplectic solver only swings, by E z^p / d. A body moves in all its modes at once, and the
velocities tell which: with u the velocity about the centre of mass, M the masses and K the stiffness,

    sum of E over the modes          the largest u·Mu / 2 of the last minute
    sum of E omega²                  the mean of u·Ku           ("stiff power")
    sum of E omega⁴                  the mean of Ku·M⁻¹Ku       ("jerk")
    sum of E omega⁶                  at least jerk² / stiff power (Cauchy and Schwarz); up to a factor of 2 it is that

K v is what forces would change by per unit time: springs with tension, and gas. Bending and the turning of pressure
with the surface are left out; both are far below the springs in the modes that matter.

The limit: in a minute at most `accuracy` times the energy, plus that share of what dashpots and drag take (a body
that comes to rest in a second needs no precision for a minute). The sums are kept at their maxima and fade in
seconds, so that the step does not follow the swings of a body: that would feed energy into it.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import numpy as np
import numpy.typing as npt
import warp as wp

from turgor.kernel.blocks import block_sum
from turgor.kernel.numbers import FACE_SHARE, Numbers, at
from turgor.scene.gas import VOLUME_FLOOR
from turgor.solvers.schemes import Scheme

__all__ = ["in_words", "kernels", "relative_error"]

FloatArray = npt.NDArray[np.float64]

MINUTE = 60.0  # s: the time to which `accuracy` refers
FADE = 2.0  # s, or
SWINGS = 20.0  # radians of the mean frequency, if that is longer
SAFETY = 0.8  # share of the step that would just do: forces are not linear, and sums are samples
CHANGES = 0.5  # share of a swing that is allowed: each change of the step may add one to what was there
MANY = 50.0  # an exponent; beyond, an error is not a number of interest
STILL = 1.0e-10  # of size² omega² m / 2: vibrations with less energy need no precision


def relative_error(table: FloatArray, scheme: Scheme, dt: float, span: float) -> FloatArray:
    """(worlds,) error of the energy over the largest there was; table: `energy_error` as (worlds, bodies, 4).

    dt, span: s, substep and time since the last estimate. As `estimate_error` goes on from there.
    """
    error, largest, energy, moment = np.moveaxis(table, -1, 0)
    rate = dt**scheme.error_power / scheme.error_divisor * moment
    if scheme.drifts:
        exponent = np.divide(span * rate, energy, out=np.zeros_like(rate), where=energy > 0.0)
        error = error + energy * np.expm1(np.minimum(exponent, MANY))
    else:
        error = np.maximum(error, 0.5 * rate)
    whole = largest.sum(axis=1)
    share = np.divide(error.sum(axis=1), whole, out=np.zeros_like(whole), where=whole > 0.0)
    return np.asarray(np.maximum(share, -1.0))  # a solver cannot take more than there is


def in_words(error: float | FloatArray, scheme: Scheme) -> str:
    """A relative error of the energy as people read it; of the worst world."""
    errors = np.atleast_1d(error)
    worst = 100.0 * float(errors[np.abs(errors).argmax()])
    if worst > 1000.0:
        return "over +1000 %"
    size = f"{abs(worst):.0f}" if abs(worst) >= 10.0 else f"{abs(worst):.2g}"
    return f"{'-' if worst < 0.0 else '+'}{size} %" if scheme.drifts else f"±{size} %"


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """sum_motion, estimate_error: launched in this order, with areas, volumes and pressures of the present state."""
    real, vec, dim = n.real, n.vec, n.dim
    share = wp.constant(real(FACE_SHARE[dim]))
    floor = wp.constant(real(VOLUME_FLOOR))
    tiny = wp.constant(real(n.tiny))

    @n.kernel(__name__)
    def sum_motion(
        chunk_body: wp.array(dtype=int),
        chunk_start: wp.array(dtype=int),
        reference: wp.array(dtype=int),
        x: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        f: wp.array(dtype=vec),
        area: wp.array(dtype=vec),
        clear: int,  # the accumulators must be zero after use
        mass: wp.array(dtype=real),
        inverse_mass: wp.array(dtype=real),
        neighbour_start: wp.array(dtype=int),
        neighbours: wp.array(dtype=int),
        neighbour_rest: wp.array(dtype=real),
        motion_sums_out: wp.array2d(dtype=real),  # (chunks, 11)
    ):
        """A chunk of vertices of one body: the sums of the file's comment, without k and gamma P/V."""
        chunk, lane = wp.tid()
        origin = v[reference[chunk_body[chunk]]]
        heavy = real(0.0)
        drift = vec()
        moving = real(0.0)
        power = real(0.0)
        springs = real(0.0)
        mixed = real(0.0)
        gas = real(0.0)
        flow = real(0.0)
        lost = real(0.0)
        for p in range(chunk_start[chunk] + lane, chunk_start[chunk + 1], wp.block_dim()):
            i = at(p)
            here = x[i]
            u = v[i] - origin
            pull = vec()  # by which the springs' force grows, per k
            slide = real(0.0)
            for q in range(neighbour_start[i], neighbour_start[i + 1]):
                j = at(neighbours[at(q)])
                d = x[j] - here
                w = v[j] - v[i]
                inverse = real(1.0) / wp.max(wp.length(d), tiny)
                t = wp.max(real(1.0) - neighbour_rest[at(q)] * inverse, real(0.0))
                rate = inverse * wp.dot(d, w)
                pull += ((real(1.0) - t) * rate * inverse) * d + t * w
                slide += rate * rate
            lost += real(0.5) * slide
            flow += share * wp.dot(area[i], u)
            m1 = inverse_mass[i]
            if m1 > real(0.0):
                m = mass[i]
                heavy += m
                drift += m * u
                moving += m * wp.dot(u, u)
                springs += m1 * wp.dot(pull, pull)
                mixed += m1 * share * wp.dot(pull, area[i])
                gas += m1 * share * share * wp.dot(area[i], area[i])
            power -= wp.dot(pull, u)
            if clear != 0:
                f[i] = vec()
                area[i] = vec()
        all_heavy = block_sum(heavy)
        all_x = block_sum(drift[0])
        all_y = block_sum(drift[1])
        all_z = block_sum(drift[dim - 1])
        all_moving = block_sum(moving)
        all_power = block_sum(power)
        all_springs = block_sum(springs)
        all_mixed = block_sum(mixed)
        all_gas = block_sum(gas)
        all_flow = block_sum(flow)
        all_lost = block_sum(lost)
        if lane == 0:
            motion_sums_out[chunk, 0] = all_heavy
            motion_sums_out[chunk, 1] = all_x
            motion_sums_out[chunk, 2] = all_y
            motion_sums_out[chunk, 3] = wp.where(dim == 3, all_z, real(0.0))
            motion_sums_out[chunk, 4] = all_moving
            motion_sums_out[chunk, 5] = all_power
            motion_sums_out[chunk, 6] = all_springs
            motion_sums_out[chunk, 7] = all_mixed
            motion_sums_out[chunk, 8] = all_gas
            motion_sums_out[chunk, 9] = all_flow
            motion_sums_out[chunk, 10] = all_lost

    @wp.func
    def total(sums: wp.array2d(dtype=real), first: int, last: int, column: int) -> wp.float64:
        found = wp.float64(0.0)
        for chunk in range(first, last):
            found += wp.float64(sums[chunk, column])
        return found

    @wp.func
    def moment(power: wp.float64, jerk: wp.float64, order: wp.float64) -> wp.float64:
        """Sum of E omega^(2 order)."""
        if power <= wp.float64(0.0):
            return wp.float64(0.0)
        return power * wp.pow(jerk / power, order - wp.float64(1.0))

    @n.kernel(__name__)
    def estimate_error(
        error_power: wp.float64,  # of the scheme
        error_divisor: wp.float64,
        drifts: int,
        accuracy: wp.float64,
        span: wp.float64,  # s, since the last estimate
        chunk_first: wp.array(dtype=int),
        motion_sums: wp.array2d(dtype=real),
        dt: wp.array(dtype=real),
        stiffness: wp.array(dtype=real),
        damping: wp.array(dtype=real),
        drag: wp.array(dtype=real),
        decay: wp.array(dtype=real),
        breathing: wp.array(dtype=real),
        size: wp.array(dtype=real),
        volume: wp.array(dtype=real),
        rest_volume: wp.array(dtype=real),
        pressure: wp.array(dtype=real),
        gamma: wp.array(dtype=real),
        held: wp.array(dtype=int),
        vibration: wp.array(dtype=wp.vec4d),  # J, W, and so on: energy, stiff power, jerk, losses; held and fading
        energy_error: wp.array(dtype=wp.vec4d),  # J: error so far, largest energy, energy now; moment now
        accuracy_bound_out: wp.array(dtype=wp.float64),  # s
    ):
        """Add up the error since the last estimate, and say how long a step may be."""
        b = wp.tid()
        begin = chunk_first[b]
        end = chunk_first[b + 1]
        half = wp.float64(0.5)
        k = wp.float64(stiffness[b])
        mass = wp.max(total(motion_sums, begin, end, 0), wp.float64(1.0e-30))
        twice = total(motion_sums, begin, end, 4)
        for axis in range(1, 4):
            drift = total(motion_sums, begin, end, axis)
            twice -= drift * drift / mass
        twice = wp.max(twice, wp.float64(0.0))
        power = k * total(motion_sums, begin, end, 5)
        jerk = k * k * total(motion_sums, begin, end, 6)
        from_gas = wp.float64(0.0)
        if held[b] == 0 and pressure[b] > real(0.0):
            room = wp.float64(wp.max(volume[b], floor * rest_volume[b]))
            steep = wp.float64(gamma[b] * pressure[b]) / room
            flow = total(motion_sums, begin, end, 9)
            from_gas = steep * total(motion_sums, begin, end, 8)
            power += steep * flow * flow
            jerk += steep * flow * (from_gas * flow - wp.float64(2.0) * k * total(motion_sums, begin, end, 7))
        power = wp.max(power, wp.float64(0.0))
        jerk = wp.max(jerk, wp.float64(0.0))
        lost = wp.float64(damping[b]) * total(motion_sums, begin, end, 10)
        lost += wp.float64(drag[b] + decay[b]) * twice

        # what the motion at the last estimate has come to since
        order = wp.floor(half * (error_power + wp.float64(1.0)))
        past = energy_error[b]
        rate = wp.pow(wp.float64(dt[0]), error_power) / error_divisor * past[3]
        if drifts == 0:
            error = wp.max(past[0], half * rate)  # the mean is half the maximum
        elif past[2] > wp.float64(0.0):
            error = past[0] + past[2] * (wp.exp(wp.min(span * rate / past[2], wp.float64(MANY))) - wp.float64(1.0))
        else:
            error = past[0]
        largest = wp.max(past[1], half * twice)
        energy_error[b] = wp.vec4d(error, largest, wp.min(twice, largest), moment(power, jerk, order))

        kept = vibration[b]
        swing2 = (jerk + kept[2]) / wp.max(power + kept[1], wp.float64(1.0e-30))  # omega²
        pause = wp.max(wp.float64(FADE), wp.float64(SWINGS) / wp.sqrt(wp.max(swing2, wp.float64(1.0e-30))))
        if drifts == 0:
            pause = wp.float64(MINUTE)
        fade = wp.exp(-span / pause)
        energy = wp.max(half * twice, kept[0] * wp.exp(-span / wp.float64(MINUTE)))
        power = wp.max(power, fade * kept[1])
        jerk = wp.max(jerk, fade * kept[2])
        lost = wp.max(lost, fade * kept[3])
        vibration[b] = wp.vec4d(energy, power, jerk, lost)
        far = wp.float64(size[b])
        allowed = energy + half * wp.float64(STILL) * far * far * mass * (from_gas + k * wp.float64(breathing[b]))
        if drifts != 0:
            allowed = allowed / wp.float64(MINUTE) + lost
        else:
            allowed *= wp.float64(CHANGES)
        rate = half * moment(power, jerk, order)  # sums of maxima
        step = wp.float64(1.0e30)
        if rate > wp.float64(0.0):
            step = wp.pow(accuracy * allowed * wp.abs(error_divisor) / rate, wp.float64(1.0) / error_power)
        accuracy_bound_out[b] = wp.float64(SAFETY) * step

    return SimpleNamespace(sum_motion=sum_motion, estimate_error=estimate_error)
