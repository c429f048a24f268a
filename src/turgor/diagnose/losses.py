"""The other side of the energy ledger: power taken out by damping and put in from outside, summed substep by substep.

Optional (`ledger=True`), as it visits every spring and vertex once more per substep. Each power is taken at the start
of the substep, so the sums are exact to first order in dt. What walls take is added by the integrator itself.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.forces import air
from turgor.kernel.numbers import Numbers, at
from turgor.scene.gas import VOLUME_FLOOR

__all__ = ["kernels"]


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """Launched between the evaluation of the forces and the update."""
    real, vec = n.real, n.vec
    air_force = air.kernels(n).air_force
    floor = wp.constant(real(VOLUME_FLOOR))

    @n.kernel(__name__)
    def dashpot_losses(
        x: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        springs: wp.array(dtype=wp.vec2i),
        body: wp.array(dtype=int),
        damping: wp.array(dtype=real),
        dt: wp.array(dtype=real),
        dissipated: wp.array(dtype=wp.float64),
    ):
        """kd (relative velocity along the spring)² dt."""
        ends = springs[at(wp.tid())]
        i = at(ends[0])
        j = at(ends[1])
        b = at(body[i])
        d = x[j] - x[i]
        l2 = wp.dot(d, d)
        if l2 > real(0.0):
            along = wp.dot(v[j] - v[i], d)
            dissipated[b] += wp.float64(damping[b] * along * along / l2 * dt[0])

    @n.kernel(__name__)
    def air_losses(
        v: wp.array(dtype=vec),
        area: wp.array(dtype=vec),
        body: wp.array(dtype=int),
        world: wp.array(dtype=int),
        mass: wp.array(dtype=real),
        inverse_mass: wp.array(dtype=real),
        drag: wp.array(dtype=real),
        air_share: wp.array(dtype=real),
        wind: wp.array(dtype=vec),
        air_density: wp.array(dtype=real),
        drag_coefficient: wp.array(dtype=real),
        drag_tangential: wp.array(dtype=real),
        wind_drag: wp.array(dtype=real),
        dt: wp.array(dtype=real),
        dissipated: wp.array(dtype=wp.float64),
        work: wp.array(dtype=wp.float64),
    ):
        """c m v² dt of the drag, and the work of the air, which counts as a loss where it brakes."""
        i = at(wp.tid())
        b = at(body[i])
        speed = v[i]
        if inverse_mass[i] > real(0.0):
            dissipated[b] += wp.float64(drag[b] * mass[i] * wp.dot(speed, speed) * dt[0])
            across = drag_coefficient[b]
            along = drag_tangential[b]
            if across + along + wind_drag[b] > real(0.0):
                w = at(world[b])
                force = air_force(
                    wind[w] - speed, area[i], air_share[i], mass[i], air_density[w], across, along, wind_drag[b], dt[0]
                )
                power = wp.float64(wp.dot(force, speed) * dt[0])
                if power > wp.float64(0.0):
                    work[b] += power
                else:
                    dissipated[b] -= power

    @n.kernel(__name__)
    def body_work(
        clock: wp.array(dtype=wp.float64),
        dt: wp.array(dtype=real),
        x: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        volume: wp.array(dtype=real),
        rest_volume: wp.array(dtype=real),
        nRT: wp.array(dtype=real),
        ambient: wp.array(dtype=real),
        gamma: wp.array(dtype=real),
        held: wp.array(dtype=int),
        inflate: wp.array(dtype=real),
        grab_vertex: wp.array(dtype=int),
        grab_target: wp.array(dtype=vec),
        grab_stiffness: wp.array(dtype=real),
        grab_damping: wp.array(dtype=real),
        work: wp.array(dtype=wp.float64),
    ):
        """The hand that pulls, and the pump: (dU/d nRT at this volume) times the gas pumped in during the substep."""
        b = wp.tid()
        i = grab_vertex[b]
        if i >= 0:
            force = grab_stiffness[b] * (grab_target[b] - x[i]) - grab_damping[b] * v[i]
            work[b] += wp.float64(wp.dot(force, v[i]) * dt[0])
        if wp.float64(inflate[b]) > clock[0]:
            v0 = rest_volume[b]
            pumped = (nRT[b] - ambient[b] * v0) * dt[0] / inflate[b]
            compression = v0 / wp.max(volume[b], floor * v0)
            per_gas = wp.log(compression)
            if gamma[b] > real(1.0):
                per_gas = (wp.pow(compression, gamma[b] - real(1.0)) - real(1.0)) / (gamma[b] - real(1.0))
            if held[b] != 0:
                per_gas = real(1.0) - volume[b] / v0
            work[b] += wp.float64(per_gas * pumped)

    return SimpleNamespace(dashpot_losses=dashpot_losses, air_losses=air_losses, body_work=body_work)
