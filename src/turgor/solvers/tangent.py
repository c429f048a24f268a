"""The stiffness of a face of a material, made positive (semi-)definite (forces/membrane.py has the laws).

Let w1, w2 be the principal directions of the face in space, stretched, and u1, u2 the same combinations of the
displacements of its corners. Strains change by e1 = w1·u1, e2 = w2·u2, e12 = (w1·u2 + w2·u1)/2, and forces by the
entries of a1 and a2 times

    t1 = s1 u1 + (h11 e1 + h12 e2) w1 + 2 shear e12 w2
    t2 = s2 u2 + (h22 e2 + h12 e1) w2 + 2 shear e12 w1

Each part is symmetric: stresses below zero, a negative shear and the negative eigenvalue of h are left out.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.forces import membrane
from turgor.kernel.numbers import Numbers, at

__all__ = ["kernels"]


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """tangent_of a face, block_of two of its corners; bound_skins for the stability of explicit solvers."""
    real, vec, dim = n.real, n.vec, n.dim
    law = membrane.kernels(n)
    pair, quad, Skin, Skins = n.pair, n.quad, law.Skin, law.Skins
    strain_of, stress_of, strip_of, ratio_of, skin_of = (
        law.strain_of, law.stress_of, law.strip_of, law.ratio_of, law.skin_of,
    )  # fmt: skip
    block = {2: {wp.float32: wp.mat22f, wp.float64: wp.mat22d}, 3: {wp.float32: wp.mat33f, wp.float64: wp.mat33d}}
    block = block[dim][real]
    zero, half, one = wp.constant(real(0.0)), wp.constant(real(0.5)), wp.constant(real(1.0))

    @wp.struct
    class Tangent:
        """Of a face, times its volume."""

        w1: vec
        w2: vec
        a1: pair
        a2: pair
        s1: real  # N m
        s2: real
        h11: real
        h12: real
        h22: real
        shear: real
        state: int

    @wp.func
    def positive(t: Tangent) -> Tangent:
        """Without what would make it indefinite."""
        t.s1 = wp.max(t.s1, zero)
        t.s2 = wp.max(t.s2, zero)
        t.shear = wp.max(t.shear, zero)
        if t.h11 * t.h22 < t.h12 * t.h12 or t.h11 + t.h22 < zero:
            mean = half * (t.h11 + t.h22)
            off = half * (t.h11 - t.h22)
            radius = wp.sqrt(off * off + t.h12 * t.h12)
            largest = wp.max(mean + radius, zero)
            if radius > zero:  # largest n nᵀ
                t.h11 = half * largest * (one + off / radius)
                t.h22 = half * largest * (one - off / radius)
                t.h12 = half * largest * t.h12 / radius
        return t

    if dim == 2:

        @wp.func
        def tangent_of(d1: vec, d2: vec, rest: quad, skin: Skin, weight: real, elastic: real, viscous: real) -> Tangent:
            """weight: rest length times thickness."""
            p = rest[0]
            found = strip_of(wp.dot(d1, d1) * p * p, skin)
            out = Tangent()
            out.a1 = pair(p, zero)
            out.w1 = p * d1
            out.s1 = elastic * weight * found.s1
            out.h11 = elastic * weight * found.h11
            out.state = found.state
            if found.state == membrane.TAUT:
                nu = ratio_of(skin)
                out.h11 += viscous * weight * skin.viscosity * skin.young / (one - nu * nu)
            return positive(out)

    else:

        @wp.func
        def tangent_of(d1: vec, d2: vec, rest: quad, skin: Skin, weight: real, elastic: real, viscous: real) -> Tangent:
            """weight: rest area times thickness; elastic, viscous: factors of both parts of the stiffness."""
            e = strain_of(wp.dot(d1, d1), wp.dot(d1, d2), wp.dot(d2, d2), rest)
            found = stress_of(e.large, e.small, skin)
            out = Tangent()
            out.a1 = e.a1
            out.a2 = e.a2
            out.w1 = e.a1[0] * d1 + e.a1[1] * d2
            out.w2 = e.a2[0] * d1 + e.a2[1] * d2
            scale = elastic * weight
            out.s1 = scale * found.s1
            out.s2 = scale * found.s2
            out.h11 = scale * found.h11
            out.h12 = scale * found.h12
            out.h22 = scale * found.h22
            out.shear = scale * found.shear
            out.state = found.state
            out = positive(out)
            if skin.viscosity > zero and found.state != membrane.SLACK:
                soft = viscous * weight * skin.viscosity * skin.young
                if found.state == membrane.WRINKLED:
                    out.h11 += soft
                else:
                    nu = ratio_of(skin)
                    soft /= one - nu * nu
                    out.h11 += soft
                    out.h22 += soft
                    out.h12 += nu * soft
                    out.shear += half * (one - nu) * soft
            return out

    @wp.func
    def corner_weight(a: pair, corner: int) -> real:
        """Of a corner in the combination a of the sides."""
        if corner == 0:
            return -(a[0] + a[1])
        return wp.where(corner == 1, a[0], a[1])

    @wp.func
    def block_of(t: Tangent, first: int, second: int) -> block:
        """Of the stiffness, between two corners of a face."""
        a = corner_weight(t.a1, first)
        b = corner_weight(t.a2, first)
        c = corner_weight(t.a1, second)
        d = corner_weight(t.a2, second)
        out = (t.s1 * a * c + t.s2 * b * d) * wp.identity(n=wp.static(dim), dtype=real)
        out += wp.outer(t.w1, (t.h11 * a * c) * t.w1 + (t.h12 * a * d) * t.w2)
        out += wp.outer(t.w2, (t.h22 * b * d) * t.w2 + (t.h12 * b * c) * t.w1)
        out += t.shear * wp.outer(a * t.w2 + b * t.w1, c * t.w2 + d * t.w1)
        return out

    @wp.func
    def largest(m: block) -> real:
        """Upper bound of the eigenvalues (exact in 2D): Wolkowicz & Styan 1980."""
        mean = wp.trace(m) / wp.static(real(dim))
        spread = zero
        for k in range(wp.static(dim)):
            for l in range(wp.static(dim)):  # noqa: E741
                entry = m[k, l] - wp.where(k == l, mean, zero)
                spread += entry * entry
        return mean + wp.sqrt(spread * wp.static(real((dim - 1) / dim)))

    @n.kernel(__name__)
    def bound_skins(
        x: wp.array(dtype=vec),
        faces: wp.array(dtype=n.face),
        face_rest: wp.array(dtype=quad),
        face_corner_start: wp.array(dtype=int),
        face_corners: wp.array(dtype=int),
        body: wp.array(dtype=int),
        inverse_mass: wp.array(dtype=real),
        skins: Skins,
        viscosity: wp.array(dtype=real),
        skin_bound_out: wp.array(dtype=real),  # 1/s²
        skin_damping_out: wp.array(dtype=real),  # 1/s
        start_index: int,
    ):
        """x·Kx of a face is at most its number of corners times the sum of x·(diagonal block) x over them."""
        i = at(start_index + wp.tid())
        b = at(body[i])
        if skins.skin_law[b] == 0 or inverse_mass[i] <= zero:
            return
        skin = skin_of(b, skins, viscosity)
        stiff = block()
        soft = block()
        unit = wp.identity(n=wp.static(dim), dtype=real)
        for s in range(face_corner_start[i], face_corner_start[i + 1]):
            c = face_corners[at(s)]
            f = at(c / wp.static(dim))
            which = c - wp.static(dim) * f
            face = faces[f]
            here = x[at(face[0])]
            d1 = x[at(face[1])] - here
            d2 = x[at(face[wp.static(dim - 1)])] - here
            weight = face_rest[f][3] * skins.thickness[b]
            found = tangent_of(d1, d2, face_rest[f], skin, weight, one, zero)
            stiff += block_of(found, which, which)
            if found.state != membrane.TAUT:  # it may become taut within a step
                a = corner_weight(found.a1, which)
                d = corner_weight(found.a2, which)
                nu = ratio_of(skin)
                stiff += weight * skin.young / (one - nu * nu) * (a * a + d * d) * unit
            if skin.viscosity > zero:
                nu = ratio_of(skin)
                viscous = weight * skin.viscosity * skin.young / (one - nu * nu)
                found.s1 = zero
                found.s2 = zero
                found.h11 = viscous
                found.h22 = wp.static(real(dim - 2)) * viscous
                found.h12 = nu * found.h22
                found.shear = half * (one - nu) * found.h22
                soft += block_of(found, which, which)
        corners = wp.static(real(dim))
        wp.atomic_max(skin_bound_out, b, corners * inverse_mass[i] * largest(stiff))
        wp.atomic_max(skin_damping_out, b, corners * inverse_mass[i] * largest(soft))

    return SimpleNamespace(
        block=block, Tangent=Tangent, tangent_of=tangent_of, corner_weight=corner_weight, block_of=block_of,
        bound_skins=bound_skins,
    )  # fmt: skip
