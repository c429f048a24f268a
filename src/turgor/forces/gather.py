"""Springs, face vectors and volume in one pass over the vertices: the GPU's way.

The CPU walks over springs and faces and scatters to the vertices (each is visited once, and one thread needs no
atomics). A GPU gathers instead: each vertex walks around its fan of neighbours, so every spring is evaluated twice and
every face three times, but nothing is written twice, no atomics are needed, and the result does not depend on the
order of threads. The volume is reduced per block; (x - r)·area summed over vertices counts each face `dim` times.

What a vertex waits for is memory: neighbours are taken several at a time, without branches, so that the loads of all of
them are under way before the first is needed. Where there are fewer left, the last one stands in and does not count.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.forces import gas
from turgor.kernel import native
from turgor.kernel.blocks import block_sum
from turgor.kernel.numbers import FACE_SHARE, Numbers, at

__all__ = ["kernels"]

BLOCK = 256  # threads of a block at most
RESIDENT = 1024  # threads that are to find room on a multiprocessor
AT_ONCE = {2: 2, 3: 3}  # neighbours that are loaded together: most vertices have two of them in 2D, six in 3D


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """gather_forces: one block per chunk of vertices. collect_bodies: one block per body."""
    real, vec, dim = n.real, n.vec, n.dim
    at_once = wp.constant(AT_ONCE[dim])
    tiny = wp.constant(real(n.tiny))
    share = wp.constant(real(FACE_SHARE[dim]))
    inverse_root = native.kernels(n).inverse_root
    update_body, pull = gas.kernels(n).update_body, gas.kernels(n).pull

    if dim == 2:

        @wp.func
        def fan_vector(before: vec, after: vec) -> vec:
            """Edges (previous, here) and (here, next) together, turned by -90°; once per vertex."""
            d = after - before
            return vec(d[1], -d[0])

    else:

        @wp.func
        def fan_vector(before: vec, after: vec) -> vec:
            return wp.cross(before, after)

    @wp.func
    def spring_pull(d: vec, w: vec, rest: real, k: real, kd: real) -> vec:
        """The law of `forces/springs.py`, (k (l - rest) + kd w·d/l) d/l, with 1/l in place of a root and a quotient."""
        inverse = inverse_root(wp.max(wp.dot(d, d), tiny))
        return (k * (real(1.0) - rest * inverse) + kd * wp.dot(w, d) * (inverse * inverse)) * d

    @functools.partial(n.kernel(__name__), launch_bounds=(BLOCK, RESIDENT // BLOCK))
    def gather_forces(
        chunk_body: wp.array(dtype=int),
        chunk_start: wp.array(dtype=int),
        x: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        neighbour_start: wp.array(dtype=int),
        fan_end: wp.array(dtype=int),  # neighbours up to here are in the order of the faces; negative: an open fan
        neighbours: wp.array(dtype=int),
        neighbour_rest: wp.array(dtype=real),
        stiffness: wp.array(dtype=real),
        damping: wp.array(dtype=real),
        reference: wp.array(dtype=int),
        f_out: wp.array(dtype=vec),
        area_out: wp.array(dtype=vec),
        partial_out: wp.array(dtype=real),
    ):
        chunk, lane = wp.tid()
        b = chunk_body[chunk]
        k = stiffness[b]
        kd = damping[b]
        origin = x[reference[b]]
        volume = real(0.0)
        for p in range(chunk_start[chunk] + lane, chunk_start[chunk + 1], wp.block_dim()):
            i = at(p)
            here = x[i]
            speed = v[i]
            force = vec()
            area = vec()
            begin = neighbour_start[i]
            fan = fan_end[i]
            closed = fan > 0
            fan = wp.abs(fan)
            before = vec()
            opening = vec()
            end = neighbour_start[i + 1]
            for first in range(begin, end, at_once):
                for number in range(wp.static(AT_ONCE[dim])):
                    q = first + number
                    taken = at(wp.min(q, end - 1))
                    j = at(neighbours[taken])
                    d = x[j] - here
                    pull_of_spring = spring_pull(d, v[j] - speed, neighbour_rest[taken], k, kd)
                    force += wp.where(q < end, pull_of_spring, vec())
                    if wp.static(dim == 3):
                        area += wp.where(q > begin and q < fan, fan_vector(before, d), vec())
                    opening = wp.where(q == begin, d, opening)
                    before = wp.where(q < fan, d, before)
            if closed:  # fans of outlines always are
                area += fan_vector(before, opening)
            f_out[i] = force
            area_out[i] = area
            volume += wp.dot(here - origin, area)
        total = block_sum(volume)
        if lane == 0:
            partial_out[chunk] = total / real(dim)

    @n.kernel(__name__)
    def collect_bodies(
        offset: wp.float64,
        clock: wp.array(dtype=wp.float64),
        dt: wp.array(dtype=real),
        chunk_first: wp.array(dtype=int),
        partial: wp.array(dtype=real),
        method: wp.array(dtype=int),
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
        exact_volume_out: wp.array(dtype=real),
        volume_out: wp.array(dtype=real),
        pressure_out: wp.array(dtype=real),
        push_out: wp.array(dtype=real),
        body_gravity_out: wp.array(dtype=vec),
    ):
        """As gas.update_bodies, with the volume summed from the chunks (unless it was estimated)."""
        b, lane = wp.tid()
        own = real(0.0)
        for c in range(chunk_first[b] + lane, chunk_first[b + 1], wp.block_dim()):
            own += partial[c]
        total = block_sum(own)
        if lane == 0:
            volume = share * total
            exact_volume_out[b] = volume
            if method[b] != 0:
                volume = share * volume_sum[b]
            volume_out[b] = volume
            time = clock[0] + offset * wp.float64(dt[0])
            update_body(b, time, volume, rest_volume, nRT, ambient, gamma, held, inflate, gravity_waits, world, gravity,
                        pressure_out, push_out, body_gravity_out)  # fmt: skip
            pull(b, x, v, grab_vertex, grab_target, grab_stiffness, grab_damping, f)

    return SimpleNamespace(
        gather_forces=gather_forces, collect_bodies=collect_bodies, fan_vector=fan_vector, spring_pull=spring_pull
    )
