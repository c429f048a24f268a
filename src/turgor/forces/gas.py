"""The ideal gas of each body: volume -> pressure (X3, A2, C8, D5); and what else is per body: gravity, grab."""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.kernel.numbers import FACE_SHARE, Numbers, at
from turgor.scene.gas import VOLUME_FLOOR

__all__ = ["kernels"]


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """The gas law, and the kernels that apply it to all bodies."""
    real, vec = n.real, n.vec
    share = wp.constant(real(FACE_SHARE[n.dim]))
    floor = wp.constant(real(VOLUME_FLOOR))

    @wp.func
    def gas_pressure(volume: real, rest_volume: real, nRT: real, gamma: real, held: int) -> real:
        """Absolute pressure: nRT/V0 (V0/V)^gamma, gamma = 1 for the isothermal law; constant below the volume floor."""
        at_rest = nRT / rest_volume
        if held != 0:
            return at_rest
        compression = rest_volume / wp.max(volume, floor * rest_volume)
        if gamma == real(1.0):
            return at_rest * compression
        return at_rest * wp.pow(compression, gamma)

    @wp.func
    def pumped(time: wp.float64, inflate: real) -> real:
        """Share of the gas that has been pumped in: 0 to 1 (A2)."""
        if inflate <= real(0.0):
            return real(1.0)
        return wp.min(real(time) / inflate, real(1.0))

    @wp.func
    def update_body(
        b: int,
        time: wp.float64,
        volume: real,
        rest_volume: wp.array(dtype=real),
        nRT: wp.array(dtype=real),
        ambient: wp.array(dtype=real),
        gamma: wp.array(dtype=real),
        held: wp.array(dtype=int),
        inflate: wp.array(dtype=real),
        gravity_waits: wp.array(dtype=int),
        world: wp.array(dtype=int),
        gravity: wp.array(dtype=vec),
        pressure_out: wp.array(dtype=real),
        push_out: wp.array(dtype=real),
        body_gravity_out: wp.array(dtype=vec),
    ):
        v0 = rest_volume[b]
        start = ambient[b] * v0  # the pump starts from zero gauge pressure
        ramp = pumped(time, inflate[b])
        amount = nRT[b]
        if ramp < real(1.0):
            amount = start + (amount - start) * ramp
        pressure = gas_pressure(volume, v0, amount, gamma[b], held[b])
        pressure_out[b] = pressure
        push_out[b] = (pressure - ambient[b]) * share
        down = gravity[at(world[b])]
        if gravity_waits[b] != 0 and ramp < real(1.0):
            down = vec()
        body_gravity_out[b] = down

    @wp.func
    def pull(
        b: int,
        x: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        grab_vertex: wp.array(dtype=int),
        grab_target: wp.array(dtype=vec),
        grab_stiffness: wp.array(dtype=real),
        grab_damping: wp.array(dtype=real),
        f: wp.array(dtype=vec),
    ):
        """A rubber band from one vertex of the body to a target (A9)."""
        i = grab_vertex[b]
        if i >= 0:
            f[i] += grab_stiffness[b] * (grab_target[b] - x[i]) - grab_damping[b] * v[i]

    @n.kernel(__name__)
    def update_bodies(
        offset: wp.float64,  # time of this stage inside the substep, in substeps
        clock: wp.array(dtype=wp.float64),
        dt: wp.array(dtype=real),
        x: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        rest_volume: wp.array(dtype=real),
        nRT: wp.array(dtype=real),
        ambient: wp.array(dtype=real),
        gamma: wp.array(dtype=real),
        held: wp.array(dtype=int),
        inflate: wp.array(dtype=real),
        gravity_waits: wp.array(dtype=int),
        world: wp.array(dtype=int),
        gravity: wp.array(dtype=vec),
        grab_vertex: wp.array(dtype=int),
        grab_target: wp.array(dtype=vec),
        grab_stiffness: wp.array(dtype=real),
        grab_damping: wp.array(dtype=real),
        volume_sum: wp.array(dtype=real),
        f: wp.array(dtype=vec),
        volume_out: wp.array(dtype=real),
        pressure_out: wp.array(dtype=real),
        push_out: wp.array(dtype=real),
        body_gravity_out: wp.array(dtype=vec),
        start_index: int,
    ):
        b = at(start_index + wp.tid())
        volume = share * volume_sum[b]
        volume_sum[b] = real(0.0)  # ready for the next evaluation
        volume_out[b] = volume
        time = clock[0] + offset * wp.float64(dt[0])
        update_body(b, time, volume, rest_volume, nRT, ambient, gamma, held, inflate, gravity_waits, world, gravity,
                    pressure_out, push_out, body_gravity_out)  # fmt: skip
        pull(b, x, v, grab_vertex, grab_target, grab_stiffness, grab_damping, f)

    return SimpleNamespace(
        gas_pressure=gas_pressure, pumped=pumped, update_body=update_body, pull=pull, update_bodies=update_bodies
    )
