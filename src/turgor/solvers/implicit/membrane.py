"""Faces of a material in the matrix of a Newton step: h times their stiffness (`tangent.py`), and their viscosity."""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.forces import membrane
from turgor.kernel.numbers import Numbers, at
from turgor.solvers import tangent

__all__ = ["kernels"]


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """find_tangents once per round; stretch_faces with each direction; around, what the faces at a point answer."""
    real, vec, dim = n.real, n.vec, n.dim
    law, slope = membrane.kernels(n), tangent.kernels(n)
    quad, Skins, skin_of, tangent_of = n.quad, law.Skins, law.skin_of, slope.tangent_of
    Tangent, corner_weight = slope.Tangent, slope.corner_weight

    @n.kernel(__name__)
    def find_tangents(
        at_x: wp.array(dtype=vec),
        faces: wp.array(dtype=n.face),
        face_rest: wp.array(dtype=quad),
        body: wp.array(dtype=int),
        skins: Skins,
        viscosity: wp.array(dtype=real),
        step: wp.array(dtype=real),
        face_tangent: wp.array(dtype=Tangent),
    ):
        f = at(wp.tid())
        face = faces[f]
        b = at(body[at(face[0])])
        if skins.skin_law[b] == 0:
            return
        skin = skin_of(b, skins, viscosity)
        here = at_x[at(face[0])]
        d1 = at_x[at(face[1])] - here
        d2 = at_x[at(face[wp.static(dim - 1)])] - here
        weight = face_rest[f][3] * skins.thickness[b]
        face_tangent[f] = tangent_of(d1, d2, face_rest[f], skin, weight, step[b], real(1.0))

    @n.kernel(__name__)
    def stretch_faces(
        faces: wp.array(dtype=n.face),
        body: wp.array(dtype=int),
        skin_law: wp.array(dtype=int),
        direction: wp.array(dtype=vec),
        face_tangent: wp.array(dtype=Tangent),
        face_answer: wp.array(dtype=vec),  # two of each face
    ):
        """What a direction does to each face: t1 and t2."""
        f = at(wp.tid())
        face = faces[f]
        if skin_law[at(body[at(face[0])])] == 0:
            return
        t = face_tangent[f]
        here = direction[at(face[0])]
        p1 = direction[at(face[1])] - here
        if wp.static(dim == 2):
            u1 = t.a1[0] * p1
            face_answer[2 * f] = t.s1 * u1 + (t.h11 * wp.dot(t.w1, u1)) * t.w1
        else:
            p2 = direction[at(face[wp.static(dim - 1)])] - here
            u1 = t.a1[0] * p1 + t.a1[1] * p2
            u2 = t.a2[0] * p1 + t.a2[1] * p2
            e1 = wp.dot(t.w1, u1)
            e2 = wp.dot(t.w2, u2)
            slip = t.shear * (wp.dot(t.w1, u2) + wp.dot(t.w2, u1))
            face_answer[2 * f] = t.s1 * u1 + (t.h11 * e1 + t.h12 * e2) * t.w1 + slip * t.w2
            face_answer[2 * f + 1] = t.s2 * u2 + (t.h22 * e2 + t.h12 * e1) * t.w2 + slip * t.w1

    @wp.func
    def answer_at(c: int, face_tangent: wp.array(dtype=Tangent), face_answer: wp.array(dtype=vec)) -> vec:
        """Of face c // dim on its corner c % dim."""
        f = at(c / wp.static(dim))
        which = c - wp.static(dim) * f
        out = corner_weight(face_tangent[f].a1, which) * face_answer[2 * f]
        if wp.static(dim == 3):
            out += corner_weight(face_tangent[f].a2, which) * face_answer[2 * f + 1]
        return out

    return SimpleNamespace(
        Tangent=Tangent, block_of=slope.block_of, find_tangents=find_tangents, stretch_faces=stretch_faces,
        answer_at=answer_at,
    )  # fmt: skip
