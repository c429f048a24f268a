"""Springs, face vectors, volume and gas of large bodies in one pass over records of 16 bytes: a GPU's way.

As `forces/gather.py`, in three ways better for a GPU, whose first cache is what limits it there. Positions and
velocities are records of four numbers, and a load brings a whole one. The neighbours of 32 vertices, which a warp of
threads takes together, lie beside each other (slices), so a load of one neighbour of each brings one line of memory.
The last block of a body that is done adds up the volume and finds the pressure: there is no other launch for it.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.forces import gas, gather, springs
from turgor.kernel import native
from turgor.kernel.numbers import FACE_SHARE, Numbers, at
from turgor.model.model import BLOCK

__all__ = ["FAN_SHIFT", "OPEN", "RESIDENT", "SLICE", "kernels"]

SLICE = 32  # vertices whose neighbours lie beside each other
# the shape of a fan in one integer: how many neighbours are in the order of the faces, how many there are, an open fan
FAN_SHIFT = 15
OPEN = 1 << 30
RESIDENT = 768  # threads that are to find room on a multiprocessor


@functools.cache
@no_type_check
def kernels(n: Numbers, tail: bool = True) -> SimpleNamespace:
    """make_records; gather_records, one block per chunk of vertices."""
    real, vec, dim, quad = n.real, n.vec, n.dim, n.quad
    share = wp.constant(real(FACE_SHARE[dim]))
    spring_force, fan_vector = springs.kernels(n).spring_force, gather.kernels(n).fan_vector
    update_body = gas.kernels(n).update_body
    load_quad, store_quad, load_fresh = native.kernels(n).load_quad, native.kernels(n).store_quad, native.kernels(n).load_fresh
    block_sum, is_last = native.kernels(n).block_sum, native.kernels(n).is_last
    in_fan = wp.constant((1 << FAN_SHIFT) - 1)

    if dim == 2:

        @wp.func
        def widened(a: vec, w: real) -> quad:
            return quad(a[0], a[1], real(0.0), w)

        @wp.func
        def narrowed(a: quad) -> vec:
            return vec(a[0], a[1])

    else:

        @wp.func
        def widened(a: vec, w: real) -> quad:
            return quad(a[0], a[1], a[2], w)

        @wp.func
        def narrowed(a: quad) -> vec:
            return vec(a[0], a[1], a[2])

    @n.kernel(__name__)
    def make_records(
        x: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        inverse_mass: wp.array(dtype=real),
        records: wp.array(dtype=quad),
    ):
        """Two per vertex: position and inverse mass, velocity."""
        i = at(wp.tid())
        store_quad(records, 2 * i, widened(x[i], inverse_mass[i]))
        store_quad(records, 2 * i + 1, widened(v[i], real(0.0)))

    @functools.partial(n.kernel(__name__ + ('' if tail else '_x')), launch_bounds=(BLOCK, RESIDENT // BLOCK))
    def gather_records(
        chunk_body: wp.array(dtype=int),
        chunk_start: wp.array(dtype=int),
        chunk_first: wp.array(dtype=int),
        chunks_done: wp.array(dtype=int),
        records: wp.array(dtype=quad),
        slice_place: wp.array(dtype=int),
        slice_shape: wp.array(dtype=int),
        slice_neighbours: wp.array(dtype=int),
        slice_rest: wp.array(dtype=real),
        stiffness: wp.array(dtype=real),
        damping: wp.array(dtype=real),
        reference: wp.array(dtype=int),
        partial: wp.array(dtype=real),
        clock: wp.array(dtype=wp.float64),
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
        f_out: wp.array(dtype=vec),
        area_out: wp.array(dtype=vec),
        exact_volume_out: wp.array(dtype=real),
        volume_out: wp.array(dtype=real),
        pressure_out: wp.array(dtype=real),
        push_out: wp.array(dtype=real),
        body_gravity_out: wp.array(dtype=vec),
    ):
        chunk, lane = wp.tid()
        b = chunk_body[chunk]
        k = stiffness[b]
        kd = damping[b]
        springy = k > real(0.0) or kd > real(0.0)
        p = chunk_start[chunk] + lane
        own = real(0.0)
        if p < chunk_start[chunk + 1]:  # a chunk has at most a vertex per thread
            i = at(p)
            shape = slice_shape[i]
            place = slice_place[i]
            here = narrowed(load_quad(records, 2 * i))
            speed = narrowed(load_quad(records, 2 * i + 1))
            origin = narrowed(load_quad(records, 2 * at(reference[b])))
            fan = shape & in_fan
            many = (shape >> FAN_SHIFT) & in_fan
            force = vec()
            area = vec()
            before = vec()
            opening = vec()
            # neighbours three by three: loads of several are under way at once, and the next indices with them
            last = at(place + SLICE * wp.max(many - 1, 0))
            j0 = at(slice_neighbours[at(place)])
            j1 = at(slice_neighbours[wp.min(place + SLICE, last)])
            j2 = at(slice_neighbours[wp.min(place + 2 * SLICE, last)])
            for q in range(0, many, 3):
                entry = at(place + SLICE * q)
                x0 = load_quad(records, 2 * j0)
                v0 = load_quad(records, 2 * j0 + 1)
                x1 = load_quad(records, 2 * j1)
                v1 = load_quad(records, 2 * j1 + 1)
                x2 = load_quad(records, 2 * j2)
                v2 = load_quad(records, 2 * j2 + 1)
                r0 = slice_rest[entry]
                r1 = slice_rest[wp.min(entry + SLICE, last)]
                r2 = slice_rest[wp.min(entry + 2 * SLICE, last)]
                j0 = at(slice_neighbours[wp.min(entry + 3 * SLICE, last)])
                j1 = at(slice_neighbours[wp.min(entry + 4 * SLICE, last)])
                j2 = at(slice_neighbours[wp.min(entry + 5 * SLICE, last)])
                d0 = narrowed(x0) - here
                d1 = narrowed(x1) - here
                d2 = narrowed(x2) - here
                if springy:
                    force += spring_force(d0, narrowed(v0) - speed, r0, k, kd)
                    if q + 1 < many:
                        force += spring_force(d1, narrowed(v1) - speed, r1, k, kd)
                    if q + 2 < many:
                        force += spring_force(d2, narrowed(v2) - speed, r2, k, kd)
                if q < fan:
                    if q == 0:
                        opening = d0
                    elif wp.static(dim == 3):
                        area += fan_vector(before, d0)
                    before = d0
                if q + 1 < fan:
                    if wp.static(dim == 3):
                        area += fan_vector(before, d1)
                    before = d1
                if q + 2 < fan:
                    if wp.static(dim == 3):
                        area += fan_vector(before, d2)
                    before = d2
            if shape < OPEN:
                area += fan_vector(before, opening)
            f_out[i] = force
            area_out[i] = area
            own = wp.dot(here - origin, area)
        total = block_sum(own)
        if lane == 0:
            partial[chunk] = total / real(dim)
        begin = chunk_first[b]
        end = chunk_first[b + 1]
        if wp.static(not tail):
            return
        if is_last(chunks_done, b, end - begin):
            rest = real(0.0)
            for c in range(begin + lane, end, wp.block_dim()):
                rest += load_fresh(partial, c)
            volume = share * block_sum(rest)
            if lane == 0:
                exact_volume_out[b] = volume
                volume_out[b] = volume
                update_body(b, clock[0], volume, rest_volume, nRT, ambient, gamma, held, inflate, gravity_waits, world,
                            gravity, pressure_out, push_out, body_gravity_out)  # fmt: skip
                i = grab_vertex[b]
                if i >= 0:
                    here = narrowed(load_quad(records, 2 * i))
                    speed = narrowed(load_quad(records, 2 * i + 1))
                    f_out[i] += grab_stiffness[b] * (grab_target[b] - here) - grab_damping[b] * speed

    return SimpleNamespace(
        make_records=make_records, gather_records=gather_records, widened=widened, narrowed=narrowed
    )
