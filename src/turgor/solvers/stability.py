"""How long a substep may be: a bound on the highest frequency and damping rate, body by body, on the device.

With S_i = sum over the springs at vertex i of n nᵀ + t (I - n nᵀ), t = max(0, 1 - rest/length) the share of tension,
x·Kx <= 2k sum x_i·S_i x_i, so omega² <= k max 2 lambda_max(S_i) / m_i; the dashpots likewise, with n nᵀ alone.
The gas adds (gamma P / V) sum |dV/dx_i|² / m_i (rank one), and the turning of the pressure force with the surface at
most |gauge| sum of edge lengths / (3 m_i) in 3D, |gauge| / m_i in 2D. A hinge adds 4 kb |grad theta|² / m_i per vertex.
Faces of a material: `tangent.py`.
The air damps at a rate of at most rho C A_i |u_i| / m_i: twice its force per u, as that grows with u.

The bound holds while the shape is what it was. `rate` says how fast the shape changes (strain rate, volume rate, points
about to hit a wall), limits the step too, and says after how many substeps the bound has to be taken again. A body that
starts from rest with far too much gas has no rate yet: where the second derivative of its volume, the sum of
dV/dx_i · a_i with the accelerations by gas and springs, says that it is far from its equilibrium, it counts too. (Not
in smaller swings: a step that follows them feeds energy into them.)
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.forces.bending import SLIVER
from turgor.kernel import native
from turgor.kernel.blocks import block_max, block_sum
from turgor.kernel.numbers import FACE_SHARE, Numbers, at
from turgor.rigid import impulse
from turgor.scene.gas import VOLUME_FLOOR

__all__ = ["kernels"]


SAFETY = 0.8  # share of the stable step that is used: bodies deform between one bound and the next
BREATHING = 2.5  # weight of the gas in the bound: breathing is the mode one sees, so it gets 0.5 of its stable step
STRAIN = 0.05  # a substep may change lengths and volume by this share
RENEW = 0.2  # after changes by this share the bound is taken again
FAR = 0.5  # from equilibrium: share of the volume
PULSED = 0.1  # of the stiffness against stretch: bending that is as slow as that may act now and then
GROWTH = 0.1  # 1/s: growth of undamped oscillations allowed to schemes that have no stable step for them


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """bound_hinges, bound_bodies, bound_step: launched in this order."""
    real, vec, dim, spin_type = n.real, n.vec, n.dim, n.spin
    triple = wp.vec3f if n.precision == "single" else wp.vec3d
    swing, lift = impulse.kernels(n).swing, native.kernels(n).lift
    hinge = wp.vec3i if dim == 2 else wp.vec4i
    share = wp.constant(real(FACE_SHARE[dim]))
    share2 = wp.constant(real(FACE_SHARE[dim] ** 2))
    sliver = wp.constant(real(SLIVER))
    floor = wp.constant(real(VOLUME_FLOOR))
    tiny = wp.constant(real(n.tiny))

    if dim == 2:

        @wp.func
        def mixed_products(u: vec) -> vec:
            return vec(u[0] * u[1], real(0.0))

    else:

        @wp.func
        def mixed_products(u: vec) -> vec:
            return vec(u[0] * u[1], u[1] * u[2], u[2] * u[0])

    @wp.func
    def largest_eigenvalue(diagonal: vec, mixed: vec) -> real:
        """Upper bound (exact in 2D): mean + sqrt((n-1)/n (|S|² - tr²/n)), Wolkowicz & Styan 1980."""
        trace = real(0.0)
        for axis in range(dim):
            trace += diagonal[axis]
        size = real(dim)
        square = wp.dot(diagonal, diagonal) + real(2.0) * wp.dot(mixed, mixed)
        spread = wp.max(square - trace * trace / size, real(0.0))
        return trace / size + wp.sqrt(spread * (size - real(1.0)) / size)

    @wp.func
    def longest_step(omega2: wp.float64, damping: wp.float64, power: wp.float64, divisor: wp.float64) -> wp.float64:
        """The step at which the growth omega (omega dt)^power / divisor equals the damping."""
        if omega2 <= wp.float64(0.0):
            return wp.float64(1.0e30)
        scale = wp.pow(omega2, wp.float64(0.5) * (power + wp.float64(1.0)))
        return wp.pow(damping * divisor / scale, wp.float64(1.0) / power)

    @wp.func
    def time_of(change: wp.float64, rate: wp.float64, surge: wp.float64) -> wp.float64:
        """When rate t + surge t²/2 = change."""
        return wp.float64(2.0) * change / (rate + wp.sqrt(rate * rate + wp.float64(2.0) * surge * change))

    @n.kernel(__name__)
    def bound_bodies(
        frame_time: real,
        chunk_body: wp.array(dtype=int),
        chunk_start: wp.array(dtype=int),
        x: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        f: wp.array(dtype=vec),
        area: wp.array(dtype=vec),
        clear: int,  # the accumulators must be zero after use
        inverse_mass: wp.array(dtype=real),
        world: wp.array(dtype=int),
        wind: wp.array(dtype=vec),
        air_share: wp.array(dtype=real),
        neighbour_start: wp.array(dtype=int),
        neighbours: wp.array(dtype=int),
        neighbour_rest: wp.array(dtype=real),
        hinge_sum: wp.array(dtype=real),
        wall_normal: wp.array(dtype=vec),
        wall_point: wp.array(dtype=vec),
        wall_centre: wp.array(dtype=vec),
        wall_velocity: wp.array(dtype=vec),
        wall_spin: wp.array(dtype=spin_type),
        spring_bound_out: wp.array(dtype=real),
        tension_bound_out: wp.array(dtype=real),
        turn_bound_out: wp.array(dtype=real),
        gas_bound_out: wp.array(dtype=real),
        hinge_bound_out: wp.array(dtype=real),
        air_bound_out: wp.array(dtype=real),
        lightest_out: wp.array(dtype=real),
        change_rate_out: wp.array(dtype=real),
        flow_out: wp.array(dtype=real),
        tension_flow_out: wp.array(dtype=real),
        start_index: int,
    ):
        """A chunk of vertices of one body: the numbers of the file's comment, without k, gauge, gamma P/V and kb."""
        chunk, lane = wp.tid()
        chunk += start_index
        spring = real(0.0)
        tension = real(0.0)
        turn = real(0.0)
        gas = real(0.0)
        bend = real(0.0)
        air = real(0.0)
        lightest = real(0.0)
        rate = real(0.0)
        breeze = wind[world[chunk_body[chunk]]]
        flow = real(0.0)
        drawn = real(0.0)
        for p in range(chunk_start[chunk] + lane, chunk_start[chunk + 1], wp.block_dim()):
            i = at(p)
            m1 = inverse_mass[i]
            here = x[i]
            speed = v[i]
            diagonal = vec()  # of S_i without its tension part, and its entries off the diagonal
            mixed = vec()
            taut = real(0.0)
            lengths = real(0.0)
            fastest = real(0.0)  # largest (relative speed / length)²
            pull = vec()
            for q in range(neighbour_start[i], neighbour_start[i + 1]):
                j = at(neighbours[at(q)])
                d = x[j] - here
                w = v[j] - speed
                length = wp.sqrt(wp.dot(d, d))
                inverse = real(1.0) / wp.max(length, tiny)
                strained = neighbour_rest[at(q)] * inverse
                scale = inverse / wp.max(strained, real(1.0))  # 1 / the larger of length and rest length
                t = wp.max(real(1.0) - strained, real(0.0))
                unit = inverse * d
                diagonal += (real(1.0) - t) * wp.cw_mul(unit, unit)
                mixed += (real(1.0) - t) * mixed_products(unit)
                taut += t
                pull += (length - neighbour_rest[at(q)]) * unit
                lengths += length
                fastest = wp.max(fastest, wp.dot(w, w) * scale * scale)
            along = largest_eigenvalue(diagonal, mixed)
            spring = wp.max(spring, real(2.0) * m1 * (along + taut))
            tension = wp.max(tension, real(2.0) * m1 * taut)
            count = real(neighbour_start[i + 1] - neighbour_start[i])
            for h in range(wall_normal.shape[0]):
                surface = wall_velocity[h] + swing(wall_spin[h], here - wall_centre[h])
                approach = wp.dot(surface - speed, wall_normal[h])
                if approach > real(0.0) and wp.dot(here - wall_point[h], wall_normal[h]) < approach * frame_time:
                    fastest = wp.max(fastest, wp.pow(approach * count / wp.max(lengths, tiny), real(2.0)))
            if wp.static(dim == 2):
                lengths = real(3.0)  # so that lengths / 3 is the bound in 2D too
            turn = wp.max(turn, m1 * lengths / real(3.0))
            gas += m1 * share2 * wp.dot(area[i], area[i])
            flow += share * wp.dot(area[i], speed)
            drawn += m1 * share * wp.dot(area[i], pull)
            air = wp.max(air, m1 * share * air_share[i] * wp.length(area[i]) * wp.length(breeze - speed))
            if m1 > real(0.0):
                lightest = wp.max(lightest, m1)
                rate = wp.max(rate, wp.sqrt(fastest))
            if hinge_sum.shape[0] > 0:
                bend = wp.max(bend, m1 * hinge_sum[i])
                hinge_sum[i] = real(0.0)
            if clear != 0:
                f[i] = vec()
                area[i] = vec()
        stiffest = block_max(triple(spring, tension, turn))
        sharpest = block_max(triple(bend, air, lightest))
        most_rate = block_max(rate)
        total = block_sum(triple(gas, flow, drawn))
        if lane == 0:
            b = chunk_body[chunk]
            lift(spring_bound_out, b, stiffest[0])
            lift(tension_bound_out, b, stiffest[1])
            lift(turn_bound_out, b, stiffest[2])
            wp.atomic_add(gas_bound_out, b, total[0])
            lift(hinge_bound_out, b, sharpest[0])
            lift(air_bound_out, b, sharpest[1])
            lift(lightest_out, b, sharpest[2])
            lift(change_rate_out, b, most_rate)
            wp.atomic_add(flow_out, b, total[1])
            wp.atomic_add(tension_flow_out, b, total[2])

    if dim == 2:

        @n.kernel(__name__)
        def bound_hinges(
            x: wp.array(dtype=vec),
            hinges: wp.array(dtype=hinge),
            hinge_weight: wp.array(dtype=real),
            hinge_sum: wp.array(dtype=real),
        ):
            ids = hinges[wp.tid()]
            weight = hinge_weight[wp.tid()]
            g0 = real(1.0) / wp.max(wp.length(x[ids[1]] - x[ids[0]]), tiny)
            g2 = real(1.0) / wp.max(wp.length(x[ids[2]] - x[ids[1]]), tiny)
            hinge_sum[ids[0]] += weight * real(3.0) * g0 * g0
            hinge_sum[ids[1]] += weight * real(3.0) * (g0 + g2) * (g0 + g2)
            hinge_sum[ids[2]] += weight * real(3.0) * g2 * g2

    else:

        @n.kernel(__name__)
        def bound_hinges(
            x: wp.array(dtype=vec),
            hinges: wp.array(dtype=hinge),
            hinge_weight: wp.array(dtype=real),
            hinge_sum: wp.array(dtype=real),
        ):
            """|grad theta| is 1/height for a wing, and at most the sum of both for an end of the edge."""
            ids = hinges[wp.tid()]
            weight = hinge_weight[wp.tid()]
            edge = x[ids[1]] - x[ids[0]]
            size = wp.length(edge)
            least = wp.max(sliver * size * size, tiny)
            gk = size / wp.max(wp.length(wp.cross(edge, x[ids[2]] - x[ids[0]])), least)
            gl = size / wp.max(wp.length(wp.cross(edge, x[ids[3]] - x[ids[0]])), least)
            ends = weight * real(4.0) * (gk + gl) * (gk + gl)
            hinge_sum[ids[0]] += ends
            hinge_sum[ids[1]] += ends
            hinge_sum[ids[2]] += weight * real(4.0) * gk * gk
            hinge_sum[ids[3]] += weight * real(4.0) * gl * gl

    @n.kernel(__name__)
    def bound_step(
        limits: wp.vec4f,  # of the scheme: reach along the imaginary and the real axis, error power, error divisor
        accuracy_bound: wp.array(dtype=wp.float64),
        spring_bound: wp.array(dtype=real),
        tension_bound: wp.array(dtype=real),
        turn_bound: wp.array(dtype=real),
        gas_bound: wp.array(dtype=real),
        hinge_bound: wp.array(dtype=real),
        air_bound: wp.array(dtype=real),
        lightest: wp.array(dtype=real),
        change_rate: wp.array(dtype=real),
        flow: wp.array(dtype=real),
        tension_flow: wp.array(dtype=real),
        breathing: wp.array(dtype=real),
        stiffness: wp.array(dtype=real),
        damping: wp.array(dtype=real),
        bending: wp.array(dtype=real),
        pulse: int,  # substeps from one action of bending to the next, where it is slow enough; a power of 2
        bending_every: wp.array(dtype=int),
        skin_stiffness: wp.array(dtype=real),
        skin_bound: wp.array(dtype=real),
        skin_damping: wp.array(dtype=real),
        drag: wp.array(dtype=real),
        world: wp.array(dtype=int),
        air_density: wp.array(dtype=real),
        drag_coefficient: wp.array(dtype=real),
        drag_tangential: wp.array(dtype=real),
        wind_drag: wp.array(dtype=real),
        grab_vertex: wp.array(dtype=int),
        grab_stiffness: wp.array(dtype=real),
        grab_damping: wp.array(dtype=real),
        volume: wp.array(dtype=real),
        rest_volume: wp.array(dtype=real),
        pressure: wp.array(dtype=real),
        ambient: wp.array(dtype=real),
        gamma: wp.array(dtype=real),
        held: wp.array(dtype=int),
        step_bound_out: wp.array(dtype=wp.float64),  # (bodies,) longest step, s
        renew_bound_out: wp.array(dtype=wp.float64),  # (bodies,) time after which the bound is to be taken again, s
        strain_bound_out: wp.array(dtype=wp.float64),  # (bodies,) time in which the shape changes by STRAIN, s
        supported: wp.array(dtype=int),
    ):
        b = wp.tid()
        nought = wp.float64(0.0)
        half = wp.float64(0.5)
        light = wp.float64(lightest[b])
        k = wp.float64(stiffness[b])
        dashpot = wp.float64(damping[b])
        from_springs = k * wp.float64(spring_bound[b]) + wp.float64(skin_bound[b])
        dashpots = dashpot * wp.float64(spring_bound[b]) + wp.float64(skin_damping[b])
        k = wp.float64(skin_stiffness[b])  # for motions of the whole skin
        from_gas = nought
        change = wp.float64(change_rate[b])
        gauge = wp.float64(pressure[b] - ambient[b])
        surge = wp.abs(gauge * wp.float64(gas_bound[b]) + k * wp.float64(tension_flow[b]))  # 1/s², times the volume
        surge /= wp.float64(wp.max(volume[b], wp.max(floor * rest_volume[b], tiny)))
        swing2 = k * wp.float64(breathing[b])
        if held[b] == 0 and pressure[b] > real(0.0):
            room = wp.float64(wp.max(volume[b], floor * rest_volume[b]))
            from_gas = wp.float64(gamma[b] * pressure[b]) / room * wp.float64(gas_bound[b])
            swing2 += from_gas
            if limits[0] > 0.0:  # schemes without a stable interval are slowed down far more by their growth
                from_gas *= wp.float64(BREATHING)
            change = wp.max(change, wp.float64(wp.abs(flow[b])) / room)
        # stiffness across the springs, which their dashpots do not damp
        across = wp.float64(stiffness[b] * tension_bound[b]) + wp.abs(gauge) * wp.float64(turn_bound[b])
        hinges = wp.float64(bending[b]) * wp.float64(hinge_bound[b])
        every = pulse
        while every > 1 and wp.float64(every * every) * hinges >= wp.float64(PULSED) * wp.float64(skin_bound[b]):
            every = every / 2
        bending_every[b] = every
        across += wp.float64(every * every) * hinges
        omega2 = from_springs + from_gas + across
        c = dashpots + wp.float64(drag[b]) + wp.float64(wind_drag[b]) * light
        c += wp.float64(air_density[world[b]] * wp.max(drag_coefficient[b], drag_tangential[b]) * air_bound[b])
        if grab_vertex[b] >= 0:
            omega2 += wp.float64(grab_stiffness[b]) * light
            c += wp.float64(grab_damping[b]) * light
        # roots of s² + c s + omega²: |s| <= (c + sqrt(c² + 4 omega²)) / 2
        fastest = wp.max(half * (c + wp.sqrt(c * c + wp.float64(4.0) * omega2)), wp.float64(1.0e-30))
        step = wp.float64(limits[1]) / fastest
        if limits[0] > 0.0:
            step = wp.min(step, wp.float64(limits[0]) / fastest)
        else:
            # oscillations grow; their damping must outweigh it, for each kind of motion:
            undamped = wp.float64(GROWTH) + half * wp.float64(drag[b])
            power = wp.float64(limits[2])
            divisor = wp.float64(2.0) * wp.float64(limits[3])  # amplitudes grow half as fast as their energy
            # along the springs: the share of the stiffness that is theirs is damped
            theirs = from_springs / wp.max(omega2, wp.float64(1.0e-30))
            along = undamped + half * dashpots * theirs
            step = wp.min(step, longest_step(omega2, along, power, divisor))
            # across them: not damped
            step = wp.min(step, longest_step(across, undamped, power, divisor))
            # breathing: the springs damp it, but they and the gas make it stiff
            breath = wp.float64(breathing[b])
            step = wp.min(step, longest_step(from_gas + k * breath, undamped + half * dashpot * breath, power, divisor))
        change = wp.max(change, wp.float64(1.0e-30))
        strain_bound_out[b] = wp.float64(STRAIN) / change
        step_bound_out[b] = wp.min(wp.float64(SAFETY) * step, accuracy_bound[b])
        if surge < wp.float64(FAR) * swing2:
            surge = nought
        renew_bound_out[b] = time_of(wp.float64(RENEW), change, surge)
        spring_bound[b] = real(0.0)  # ready for the next time
        skin_bound[b] = real(0.0)
        skin_damping[b] = real(0.0)
        tension_bound[b] = real(0.0)
        turn_bound[b] = real(0.0)
        gas_bound[b] = real(0.0)
        hinge_bound[b] = real(0.0)
        air_bound[b] = real(0.0)
        lightest[b] = real(0.0)
        change_rate[b] = real(0.0)
        flow[b] = real(0.0)
        tension_flow[b] = real(0.0)
        supported[b] = 0

    return SimpleNamespace(bound_bodies=bound_bodies, bound_hinges=bound_hinges, bound_step=bound_step)
