"""How many substeps a frame needs: a bound on the highest frequency and damping rate, body by body, on the device.

The stiffness of the springs is bounded vertex by vertex: with S_i = sum of n nᵀ over the springs at vertex i,
x·Kx = sum k (n·(x_i - x_j))² <= 2k sum x_i·S_i x_i, so omega² <= k max 2 lambda_max(S_i) / m_i; dashpots likewise.
The gas adds (gamma P / V) sum |dV/dx_i|² / m_i (rank one), and the turning of the pressure force with the surface at
most |gauge| sum of edge lengths / (3 m_i) in 3D, |gauge| / m_i in 2D. A hinge adds 4 kb |grad theta|² / m_i per vertex.
"""

import functools
from types import SimpleNamespace

import warp as wp

from turgor.kernel import FACE_SHARE, Numbers, at
from turgor.scene.gas import VOLUME_FLOOR

__all__ = ["FINE", "NOT_FINITE", "TOO_STIFF", "kernels"]

FINE, NOT_FINITE, TOO_STIFF = range(3)  # what status[0] says; status[1] is the body

SAFETY = 0.8  # share of the stable step that is used: the bound is taken at the start of a frame, and bodies deform
GROWTH = 0.1  # 1/s: growth of undamped oscillations allowed to schemes that have no stable step for them
MIN_SUBSTEPS = 4  # per frame: free flight and contact stay accurate even for very soft bodies
SIZE_LIMIT = 1.0e6  # a point this many body sizes away from its body has exploded


@functools.cache
def kernels(n: Numbers) -> SimpleNamespace:
    """Once per frame: begin_frame, bound_hinges, bound_bodies, bound_step, plan_frame; and inspect, restore."""
    real, vec, dim = n.real, n.vec, n.dim
    matrix = wp.types.matrix((dim, dim), real)
    hinge = wp.vec3i if dim == 2 else wp.vec4i
    share2 = wp.constant(real(FACE_SHARE[dim] ** 2))
    floor = wp.constant(real(VOLUME_FLOOR))
    tiny = wp.constant(real(n.tiny))

    @n.kernel(__name__)
    def begin_frame(
        x: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        clock: wp.array(dtype=wp.float64),
        x_good: wp.array(dtype=vec),
        v_good: wp.array(dtype=vec),
        clock_good: wp.array(dtype=wp.float64),
    ):
        """Keep the state, to go back to if the frame fails."""
        i = at(wp.tid())
        x_good[i] = x[i]
        v_good[i] = v[i]
        if i == 0:
            clock_good[0] = clock[0]

    @wp.func
    def largest_eigenvalue(s: matrix) -> real:
        """Upper bound (exact in 2D): mean + sqrt((n-1)/n (|S|² - tr²/n)), Wolkowicz & Styan 1980."""
        trace = wp.trace(s)
        size = real(dim)
        spread = wp.max(wp.ddot(s, s) - trace * trace / size, real(0.0))
        return trace / size + wp.sqrt(spread * (size - real(1.0)) / size)

    @n.kernel(__name__)
    def bound_bodies(
        chunk_body: wp.array(dtype=int),
        chunk_start: wp.array(dtype=int),
        x: wp.array(dtype=vec),
        f: wp.array(dtype=vec),
        area: wp.array(dtype=vec),
        clear: int,  # the accumulators must be zero after use
        inverse_mass: wp.array(dtype=real),
        neighbour_start: wp.array(dtype=int),
        neighbours: wp.array(dtype=int),
        hinge_sum: wp.array(dtype=real),
        spring_out: wp.array(dtype=real),
        turn_out: wp.array(dtype=real),
        gas_out: wp.array(dtype=real),
        hinge_out: wp.array(dtype=real),
        lightest_out: wp.array(dtype=real),
    ):
        """A chunk of vertices of one body: the numbers of the file's comment, without k, gauge, gamma P/V and kb."""
        chunk, lane = wp.tid()
        spring = real(0.0)
        turn = real(0.0)
        gas = real(0.0)
        bend = real(0.0)
        lightest = real(0.0)
        for p in range(chunk_start[chunk] + lane, chunk_start[chunk + 1], wp.block_dim()):
            i = at(p)
            m1 = inverse_mass[i]
            here = x[i]
            s = matrix()
            lengths = real(0.0)
            for q in range(neighbour_start[i], neighbour_start[i + 1]):
                d = x[at(neighbours[at(q)])] - here
                l2 = wp.dot(d, d)
                if l2 > real(0.0):
                    s += wp.outer(d, d / l2)
                    lengths += wp.sqrt(l2)
            if wp.static(dim == 2):
                lengths = real(3.0)  # so that lengths / 3 is the bound in 2D too
            spring = wp.max(spring, real(2.0) * m1 * largest_eigenvalue(s))
            turn = wp.max(turn, m1 * lengths / real(3.0))
            gas += m1 * share2 * wp.dot(area[i], area[i])
            lightest = wp.max(lightest, m1)
            if hinge_sum.shape[0] > 0:
                bend = wp.max(bend, m1 * hinge_sum[i])
                hinge_sum[i] = real(0.0)
            if clear != 0:
                f[i] = vec()
                area[i] = vec()
        most_spring = wp.tile_max(wp.tile(spring))
        most_turn = wp.tile_max(wp.tile(turn))
        all_gas = wp.tile_sum(wp.tile(gas))
        most_bend = wp.tile_max(wp.tile(bend))
        most_light = wp.tile_max(wp.tile(lightest))
        if lane == 0:
            b = chunk_body[chunk]
            wp.atomic_max(spring_out, b, most_spring[0])
            wp.atomic_max(turn_out, b, most_turn[0])
            wp.atomic_add(gas_out, b, all_gas[0])
            wp.atomic_max(hinge_out, b, most_bend[0])
            wp.atomic_max(lightest_out, b, most_light[0])

    if dim == 2:

        @n.kernel(__name__)
        def bound_hinges(x: wp.array(dtype=vec), hinges: wp.array(dtype=hinge), hinge_sum: wp.array(dtype=real)):
            ids = hinges[wp.tid()]
            g0 = real(1.0) / wp.max(wp.length(x[ids[1]] - x[ids[0]]), tiny)
            g2 = real(1.0) / wp.max(wp.length(x[ids[2]] - x[ids[1]]), tiny)
            hinge_sum[ids[0]] += real(3.0) * g0 * g0
            hinge_sum[ids[1]] += real(3.0) * (g0 + g2) * (g0 + g2)
            hinge_sum[ids[2]] += real(3.0) * g2 * g2

    else:

        @n.kernel(__name__)
        def bound_hinges(x: wp.array(dtype=vec), hinges: wp.array(dtype=hinge), hinge_sum: wp.array(dtype=real)):
            """|grad theta| is 1/height for a wing, and at most the sum of both for an end of the edge."""
            ids = hinges[wp.tid()]
            edge = x[ids[1]] - x[ids[0]]
            size = wp.length(edge)
            gk = size / wp.max(wp.length(wp.cross(edge, x[ids[2]] - x[ids[0]])), tiny)
            gl = size / wp.max(wp.length(wp.cross(edge, x[ids[3]] - x[ids[0]])), tiny)
            ends = real(4.0) * (gk + gl) * (gk + gl)
            hinge_sum[ids[0]] += ends
            hinge_sum[ids[1]] += ends
            hinge_sum[ids[2]] += real(4.0) * gk * gk
            hinge_sum[ids[3]] += real(4.0) * gl * gl

    @n.kernel(__name__)
    def bound_step(
        limits: wp.vec4f,  # of the scheme: reach along the imaginary axis, the real axis, growth power, growth divisor
        spring: wp.array(dtype=real),
        turn: wp.array(dtype=real),
        gas: wp.array(dtype=real),
        hinge_bound: wp.array(dtype=real),
        lightest: wp.array(dtype=real),
        breathing: wp.array(dtype=real),
        stiffness: wp.array(dtype=real),
        damping: wp.array(dtype=real),
        bending: wp.array(dtype=real),
        drag: wp.array(dtype=real),
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
        step_out: wp.array(dtype=wp.float64),  # (bodies,) largest stable step
    ):
        b = wp.tid()
        light = wp.float64(lightest[b])
        from_springs = wp.float64(stiffness[b]) * wp.float64(spring[b])
        from_gas = wp.float64(0.0)
        if held[b] == 0:
            room = wp.float64(wp.max(volume[b], floor * rest_volume[b]))
            from_gas = wp.float64(gamma[b]) * wp.float64(pressure[b]) / room * wp.float64(gas[b])
        omega2 = from_springs + from_gas + wp.float64(wp.abs(pressure[b] - ambient[b])) * wp.float64(turn[b])
        omega2 += wp.float64(bending[b]) * wp.float64(hinge_bound[b])
        c = wp.float64(damping[b]) * wp.float64(spring[b]) + wp.float64(drag[b]) + wp.float64(wind_drag[b]) * light
        if grab_vertex[b] >= 0:
            omega2 += wp.float64(grab_stiffness[b]) * light
            c += wp.float64(grab_damping[b]) * light
        # roots of s² + c s + omega²: |s| <= (c + sqrt(c² + 4 omega²)) / 2
        fastest = wp.float64(0.5) * (c + wp.sqrt(c * c + wp.float64(4.0) * omega2))
        imaginary = wp.float64(limits[0])
        step = wp.float64(limits[1]) / wp.max(fastest, wp.float64(1.0e-30))
        if imaginary > wp.float64(0.0):
            step = wp.min(step, imaginary / wp.max(fastest, wp.float64(1.0e-30)))
        else:
            # omega (omega dt)^p / divisor must not exceed the damping: of the springs' fastest mode, and of breathing
            p = wp.float64(limits[2])
            divisor = wp.float64(limits[3])
            undamped = wp.float64(GROWTH) + wp.float64(0.5) * wp.float64(drag[b])
            if omega2 > wp.float64(0.0):
                own = wp.float64(damping[b]) * wp.float64(spring[b]) * from_springs / omega2
                rate = undamped + wp.float64(0.5) * own
                power = wp.pow(wp.sqrt(omega2), p + wp.float64(1.0))
                step = wp.min(step, wp.pow(rate * divisor / power, wp.float64(1.0) / p))
            if from_gas > wp.float64(0.0):
                rate = undamped + wp.float64(0.5) * wp.float64(damping[b]) * wp.float64(breathing[b])
                power = wp.pow(wp.sqrt(from_gas), p + wp.float64(1.0))
                step = wp.min(step, wp.pow(rate * divisor / power, wp.float64(1.0) / p))
        step_out[b] = step
        spring[b] = real(0.0)  # ready for the next frame
        turn[b] = real(0.0)
        gas[b] = real(0.0)
        hinge_bound[b] = real(0.0)
        lightest[b] = real(0.0)

    @n.kernel(__name__)
    def plan_frame(
        frame_time: wp.float64,
        max_substeps: int,
        step: wp.array(dtype=wp.float64),
        status: wp.array(dtype=int),
        remaining: wp.array(dtype=int),
        substeps: wp.array(dtype=int),
        dt: wp.array(dtype=real),
    ):
        """The substeps of this frame for the most demanding body; none once the simulation has failed."""
        _, lane = wp.tid()
        least = wp.float64(1.0e30)
        worst = int(0)  # noqa: RUF046, UP018 (a variable in Warp's language, not a constant)
        for b in range(lane, step.shape[0], wp.block_dim()):
            if not (step[b] >= least):  # true for NaN too
                least = step[b]
                worst = b
        shortest = wp.tile_min(wp.tile(least))
        if least == shortest[0] or wp.isnan(least):
            needed = frame_time / (wp.float64(SAFETY) * least)
            count = wp.max(int(wp.min(wp.ceil(needed), wp.float64(2.0e9))), MIN_SUBSTEPS)
            substeps[0] = count
            if not (needed <= wp.float64(max_substeps)) and status[0] == wp.static(FINE):
                status[0] = wp.static(TOO_STIFF)
                status[1] = worst
            remaining[0] = count
            if status[0] != wp.static(FINE):
                remaining[0] = 0
            dt[0] = real(frame_time / wp.float64(wp.max(count, 1)))

    @n.kernel(__name__)
    def repeat_frame(
        frame_time: wp.float64,
        count: int,
        status: wp.array(dtype=int),
        remaining: wp.array(dtype=int),
        substeps: wp.array(dtype=int),
        dt: wp.array(dtype=real),
    ):
        """A fixed number of substeps; none once the simulation has failed."""
        substeps[0] = count
        remaining[0] = wp.where(status[0] == wp.static(FINE), count, 0)
        dt[0] = real(frame_time / wp.float64(count))

    @n.kernel(__name__)
    def inspect(
        x: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        body: wp.array(dtype=int),
        reference: wp.array(dtype=int),
        size: wp.array(dtype=real),
        status: wp.array(dtype=int),
    ):
        """Mark the frame as failed if a point is not finite, or absurdly far from its body."""
        i = at(wp.tid())
        b = at(body[i])
        far = x[i] - x[at(reference[b])]
        if not (wp.dot(far, far) <= size[b] * size[b] * real(SIZE_LIMIT * SIZE_LIMIT)) or not wp.isfinite(v[i]):
            status[0] = wp.static(NOT_FINITE)
            status[1] = b

    @n.kernel(__name__)
    def restore(
        status: wp.array(dtype=int),
        x_good: wp.array(dtype=vec),
        v_good: wp.array(dtype=vec),
        clock_good: wp.array(dtype=wp.float64),
        x: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        clock: wp.array(dtype=wp.float64),
    ):
        """After a failed frame: back to its start, so that nothing that is not finite is ever seen."""
        i = at(wp.tid())
        if status[0] != wp.static(FINE):
            x[i] = x_good[i]
            v[i] = v_good[i]
            if i == 0:
                clock[0] = clock_good[0]

    return SimpleNamespace(
        begin_frame=begin_frame,
        bound_bodies=bound_bodies,
        bound_hinges=bound_hinges,
        bound_step=bound_step,
        plan_frame=plan_frame,
        repeat_frame=repeat_frame,
        inspect=inspect,
        restore=restore,
    )
