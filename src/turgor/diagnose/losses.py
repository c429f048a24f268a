"""The other side of the energy ledger: what damping takes out and what is put in from outside, substep by substep.

Optional (`ledger=True`), as it visits every spring and vertex once more per substep. The forces of dashpots, drag and
wind are kept apart here; the end of the substep multiplies them by the path of each point, and adds what contact and
walls take (`solvers.velocity.booked`).
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.forces import air, membrane
from turgor.kernel.numbers import Numbers, at
from turgor.scene.gas import VOLUME_FLOOR

__all__ = ["kernels"]


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """Launched between the evaluation of the forces and the update; grab_work after it."""
    real, vec = n.real, n.vec
    air_force = air.kernels(n).air_force
    law = membrane.kernels(n)
    Skins, skin_of, pulls = law.Skins, law.skin_of, law.pulls
    floor = wp.constant(real(VOLUME_FLOOR))

    @n.kernel(__name__)
    def dashpot_forces(
        x: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        springs: wp.array(dtype=wp.vec2i),
        body: wp.array(dtype=int),
        damping: wp.array(dtype=real),
        lost_force: wp.array(dtype=vec),
    ):
        """kd (relative velocity along the spring) on both ends."""
        ends = springs[at(wp.tid())]
        i = at(ends[0])
        j = at(ends[1])
        b = at(body[i])
        d = x[j] - x[i]
        l2 = wp.dot(d, d)
        if l2 > real(0.0):
            force = (damping[b] * wp.dot(v[j] - v[i], d) / l2) * d
            lost_force[i] += force
            lost_force[j] -= force

    @n.kernel(__name__)
    def viscous_forces(
        x: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        faces: wp.array(dtype=n.face),
        face_rest: wp.array(dtype=n.quad),
        body: wp.array(dtype=int),
        skins: Skins,
        viscosity: wp.array(dtype=real),
        lost_force: wp.array(dtype=vec),
    ):
        """What a skin of a material does with these velocities, less what it does at rest."""
        t = at(wp.tid())
        face = faces[t]
        i = at(face[0])
        b = at(body[i])
        if skins.skin_law[b] == 0 or viscosity[b] <= real(0.0):
            return
        skin = skin_of(b, skins, viscosity)
        j = at(face[1])
        k = at(face[wp.static(n.dim - 1)])
        d1 = x[j] - x[i]
        d2 = x[k] - x[i]
        weight = face_rest[t][3] * skins.thickness[b]
        f1, f2 = pulls(d1, d2, v[j] - v[i], v[k] - v[i], face_rest[t], skin, weight)
        g1, g2 = pulls(d1, d2, vec(), vec(), face_rest[t], skin, weight)
        lost_force[j] += f1 - g1
        if wp.static(n.dim == 3):
            lost_force[k] += f2 - g2
        lost_force[i] -= f1 - g1 + f2 - g2

    @n.kernel(__name__)
    def air_forces(
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
        lost_force: wp.array(dtype=vec),
        wind_force: wp.array(dtype=vec),
    ):
        """-c m v of the drag, where the dashpots come later; and the air, which counts as a loss where it brakes."""
        i = at(wp.tid())
        b = at(body[i])
        speed = v[i]
        lost = vec()
        blown = vec()
        if inverse_mass[i] > real(0.0):
            lost = -(drag[b] * mass[i]) * speed
            across = drag_coefficient[b]
            along = drag_tangential[b]
            if across + along + wind_drag[b] > real(0.0):
                w = at(world[b])
                blown = air_force(
                    wind[w] - speed, area[i], air_share[i], mass[i], air_density[w], across, along, wind_drag[b], dt[0]
                )
        lost_force[i] = lost
        wind_force[i] = blown

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
        grab_pull: wp.array(dtype=vec),
        work: wp.array(dtype=wp.float64),
    ):
        """The hand that pulls, and the pump: (dU/d nRT at this volume) times the gas of a substep around this time.

        The work of a grab is its force times the mean of the velocities before and after: the second half is added by
        `grab_work`.
        """
        b = wp.tid()
        i = grab_vertex[b]
        pull = vec()
        if i >= 0:
            pull = grab_stiffness[b] * (grab_target[b] - x[i]) - grab_damping[b] * v[i]
            work[b] += wp.float64(real(0.5) * dt[0] * wp.dot(pull, v[i]))
        grab_pull[b] = pull
        h = wp.float64(dt[0])
        ends = wp.float64(inflate[b])
        span = wp.min(clock[0], ends) - wp.min(wp.max(clock[0] - h, wp.float64(0.0)), ends)
        span += wp.min(clock[0] + h, ends) - wp.min(clock[0], ends)
        if span > wp.float64(0.0):
            v0 = rest_volume[b]
            pumped = (nRT[b] - ambient[b] * v0) * real(wp.float64(0.5) * span) / inflate[b]
            compression = v0 / wp.max(volume[b], floor * v0)
            per_gas = wp.log(compression)
            if gamma[b] > real(1.0):
                per_gas = (wp.pow(compression, gamma[b] - real(1.0)) - real(1.0)) / (gamma[b] - real(1.0))
            if held[b] != 0:
                per_gas = real(1.0) - volume[b] / v0
            work[b] += wp.float64(per_gas * pumped)

    @n.kernel(__name__)
    def grab_work(
        dt: wp.array(dtype=real),
        v: wp.array(dtype=vec),
        grab_vertex: wp.array(dtype=int),
        grab_pull: wp.array(dtype=vec),
        work: wp.array(dtype=wp.float64),
    ):
        """At the end of the substep."""
        b = wp.tid()
        i = grab_vertex[b]
        if i >= 0:
            work[b] += wp.float64(real(0.5) * dt[0] * wp.dot(grab_pull[b], v[i]))

    return SimpleNamespace(
        air_forces=air_forces,
        dashpot_forces=dashpot_forces,
        viscous_forces=viscous_forces,
        body_work=body_work,
        grab_work=grab_work,
    )
