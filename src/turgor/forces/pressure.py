"""Face vectors and enclosed volume: the geometry of the pressure force (A4, A5, B2, B3).

V = share * sum over faces of (a - r)·n, with n = (b - a) x (c - a) in 3D (share 1/6), and n = the edge turned by -90°
in 2D (share 1/2). Summed over the faces of a vertex, share * n is exactly dV/dx for a closed surface (the terms that
depend on the origin telescope away around the vertex), so gauge * share * n is the exact pressure force. All
differences are taken inside the body (r is one of its vertices), so nothing is lost far from the origin.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.kernel.numbers import Numbers, at

__all__ = ["kernels"]


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """Scatter kernel for the face vectors, and the two alternatives of the papers."""
    real, vec, face = n.real, n.vec, n.face

    if n.dim == 2:

        @wp.func
        def face_vector(x: wp.array(dtype=vec), corners: face) -> vec:
            d = x[at(corners[1])] - x[at(corners[0])]
            return vec(d[1], -d[0])

        @n.kernel(__name__)
        def add_faces(
            x: wp.array(dtype=vec),
            faces: wp.array(dtype=face),
            body: wp.array(dtype=int),
            reference: wp.array(dtype=int),
            area_out: wp.array(dtype=vec),
            volume_sum_out: wp.array(dtype=real),
            start_index: int,
        ):
            corners = faces[at(start_index + wp.tid())]
            i = at(corners[0])
            j = at(corners[1])
            b = at(body[i])
            vector = face_vector(x, corners)
            volume_sum_out[b] += wp.dot(x[i] - x[at(reference[b])], vector)
            area_out[i] += vector
            area_out[j] += vector

    else:

        @wp.func
        def face_vector(x: wp.array(dtype=vec), corners: face) -> vec:
            a = x[at(corners[0])]
            return wp.cross(x[at(corners[1])] - a, x[at(corners[2])] - a)

        @n.kernel(__name__)
        def add_faces(
            x: wp.array(dtype=vec),
            faces: wp.array(dtype=face),
            body: wp.array(dtype=int),
            reference: wp.array(dtype=int),
            area_out: wp.array(dtype=vec),
            volume_sum_out: wp.array(dtype=real),
            start_index: int,
        ):
            corners = faces[at(start_index + wp.tid())]
            i = at(corners[0])
            j = at(corners[1])
            k = at(corners[2])
            b = at(body[i])
            vector = face_vector(x, corners)
            volume_sum_out[b] += wp.dot(x[i] - x[at(reference[b])], vector)
            area_out[i] += vector
            area_out[j] += vector
            area_out[k] += vector

    @n.kernel(__name__)
    def reshape_areas(
        x: wp.array(dtype=vec),
        faces: wp.array(dtype=face),
        vertex_faces_start: wp.array(dtype=int),
        vertex_faces: wp.array(dtype=int),
        pressure_factor: wp.array(dtype=real),
        averaged: wp.array(dtype=int),
        booking: int,  # whether the work is summed: once per substep
        v: wp.array(dtype=vec),
        body: wp.array(dtype=int),
        push: wp.array(dtype=real),
        dt: wp.array(dtype=real),
        area: wp.array(dtype=vec),
        made: wp.array(dtype=wp.float64),
    ):
        """The papers' alternatives to the exact gradient, vertex by vertex.

        averaged (C7; Matyka & Ollila 2003, footnote 3): the force is parallel to the mean of the unit normals of the
        faces around the vertex. factor (B4; Martin 2009, 3.1.2): springs at the vertex / average springs per vertex;
        and where the footnote's "divide by the number of faces" is taken to the letter, dim / faces at the vertex.
        """
        i = wp.tid()
        exact = area[i]
        if averaged[i] != 0:
            size = real(0.0)
            mean = vec()
            for s in range(vertex_faces_start[i], vertex_faces_start[i + 1]):
                vector = face_vector(x, faces[vertex_faces[s]])
                size += wp.length(vector)
                mean += wp.normalize(vector)
            area[i] = size * wp.normalize(mean)
        area[i] = pressure_factor[i] * area[i]
        if booking != 0:  # forces/nonconservative.py
            b = body[i]
            wp.atomic_add(made, b, wp.float64(push[b] * dt[0] * wp.dot(area[i] - exact, v[i])))

    return SimpleNamespace(add_faces=add_faces, reshape_areas=reshape_areas, face_vector=face_vector)
