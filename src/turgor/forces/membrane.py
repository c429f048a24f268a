"""Skins of a material: constant-strain triangles in 3D, edges in 2D.

The Gram matrix G of two sides of a triangle and the inverse D of its rest sides in their plane (upper triangular,
entries p, q, r) give Cauchy and Green's strain C = Dᵀ G D, its eigenvalues L1 >= L2 (squares of stretches) and
their directions n. An energy W(L1, L2) per volume has the second Piola-Kirchhoff stress S = s1 n1 n1ᵀ + s2 n2 n2ᵀ,
s = 2 dW/dL:

    rubber     W = c1 (L1 + L2 + 1/J - 3) + c2 (1/L1 + 1/L2 + J - 3), J = L1 L2: incompressible, without stress across
    stvk       W = E/(2 (1 - nu²)) (e1² + e2² + 2 nu e1 e2), e = (L - 1)/2
    wrinkled   where s2 would be negative: that of a strip which is pulled along n1 alone, as wide as it wants to be
               (Pipkin 1986); slack, without stress, where L1 <= 1

With N = D S Dᵀ and the sides d1, d2, forces on the second and the third corner are -A h (N11 d1 + N12 d2) and
-A h (N12 d1 + N22 d2); the first corner balances them. In 2D an edge is a strip of unit depth in plane strain: L2 = 1.
Viscous stress is `viscosity` (s) times the moduli of small strains times the rate of strain (Kelvin and Voigt).
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.kernel.numbers import Numbers, at
from turgor.scene.material import RUBBER

__all__ = ["SLACK", "TAUT", "WRINKLED", "kernels"]

TAUT, WRINKLED, SLACK = 0, 1, 2
FLATTEST = 1e-6  # least J: a triangle that is folded flat has a finite stress


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """The laws, add_membranes (each face to its corners), and pull_faces and gather_pulls for a GPU."""
    real, vec, dim = n.real, n.vec, n.dim
    pair, quad, corners = n.pair, n.quad, n.face
    triple = wp.vec3f if real == wp.float32 else wp.vec3d
    one, half, zero = wp.constant(real(1.0)), wp.constant(real(0.5)), wp.constant(real(0.0))
    flattest = wp.constant(real(FLATTEST))
    tiny = wp.constant(real(n.tiny))

    @wp.struct
    class Skin:
        """The numbers of a body's material."""

        law: int
        wrinkling: int
        young: real
        poisson: real
        mooney: real  # share of c2 in c1 + c2
        viscosity: real

    @wp.struct
    class Skins:
        """The same of all bodies."""

        skin_law: wp.array(dtype=int)
        wrinkling: wp.array(dtype=int)
        young: wp.array(dtype=real)
        poisson: wp.array(dtype=real)
        thickness: wp.array(dtype=real)
        mooney: wp.array(dtype=real)

    @wp.struct
    class Strain:
        """Principal strains of a face and how they lie in it."""

        large: real  # L1
        small: real  # L2
        a1: pair  # D n1
        a2: pair  # D n2

    @wp.struct
    class Stress:
        """Principal stresses (Pa), and their slopes by Green's strains: along the directions, and of shear."""

        s1: real
        s2: real
        h11: real
        h12: real
        h22: real
        shear: real
        state: int

    @wp.func
    def strain_of(g11: real, g12: real, g22: real, rest: quad) -> Strain:
        """From the Gram matrix of the sides."""
        p, q, r = rest[0], rest[1], rest[2]
        c11 = p * p * g11
        c12 = p * (q * g11 + r * g12)
        c22 = q * q * g11 + real(2.0) * q * r * g12 + r * r * g22
        mean = half * (c11 + c22)
        across = half * (c11 - c22)
        radius = wp.sqrt(across * across + c12 * c12)
        out = Strain()
        out.large = mean + radius
        out.small = wp.max((c11 * c22 - c12 * c12) / wp.max(out.large, tiny), zero)
        # n1 = (cos, sin) of half the angle whose cosine is across / radius, without loss of digits
        n1 = pair(one, zero)
        if radius > zero:
            n1 = wp.where(across >= zero, pair(across + radius, c12), pair(c12, radius - across))
            n1 = n1 / wp.max(wp.length(n1), tiny)
        out.a1 = pair(p * n1[0] + q * n1[1], r * n1[1])
        out.a2 = pair(q * n1[0] - p * n1[1], r * n1[0])
        return out

    @wp.func
    def rubber_of(l1: real, l2: real, skin: Skin) -> Stress:
        c2 = skin.mooney * skin.young / real(6.0)
        c1 = skin.young / real(6.0) - c2
        j = wp.max(l1 * l2, flattest)
        l2 = j / l1
        out = Stress()
        out.s1 = real(2.0) * (c1 * (one - one / (l1 * j)) + c2 * (l2 - one / (l1 * l1)))
        out.s2 = real(2.0) * (c1 * (one - one / (l2 * j)) + c2 * (l1 - one / (l2 * l2)))
        out.h11 = real(8.0) * (c1 / (l1 * l1 * j) + c2 / (l1 * l1 * l1))
        out.h22 = real(8.0) * (c1 / (l2 * l2 * j) + c2 / (l2 * l2 * l2))
        out.h12 = real(4.0) * (c1 / (j * j) + c2)
        # (s1 - s2)/(l1 - l2), of s = alpha + beta/l with beta = 2 (-c1/j + c2 (j - (l1 + l2)/j))
        out.shear = real(2.0) * (c1 / (j * j) + c2 * ((l1 + l2) / (j * j) - one))
        return out

    @wp.func
    def stress_of(l1: real, l2: real, skin: Skin) -> Stress:
        """At the squares of the principal stretches, l1 >= l2."""
        out = Stress()
        if skin.law == RUBBER:
            if skin.wrinkling != 0 and l1 <= one:
                out.state = SLACK
            elif skin.wrinkling != 0 and l1 * l2 * l2 < one:
                c2 = skin.mooney * skin.young / real(6.0)
                c1 = skin.young / real(6.0) - c2
                width = one / wp.sqrt(l1)  # l2 of a strip that is pulled
                drawn = one - width * width * width
                out.s1 = real(2.0) * (c1 + c2 * width) * drawn
                out.h11 = real(6.0) * (c1 + c2 * width) * width / (l1 * l1)
                out.h11 -= real(2.0) * c2 * width * drawn / l1
                out.shear = out.s1 / (l1 - l2)
                out.state = WRINKLED
            else:
                out = rubber_of(l1, l2, skin)
        else:
            nu = skin.poisson
            modulus = skin.young / (one - nu * nu)
            e1 = half * (l1 - one)
            e2 = half * (l2 - one)
            if skin.wrinkling != 0 and e1 <= zero:
                out.state = SLACK
            elif skin.wrinkling != 0 and e2 < -nu * e1:
                out.s1 = skin.young * e1
                out.h11 = skin.young
                out.shear = out.s1 / (l1 - l2)
                out.state = WRINKLED
            else:
                out.s1 = modulus * (e1 + nu * e2)
                out.s2 = modulus * (e2 + nu * e1)
                out.h11 = modulus
                out.h22 = modulus
                out.h12 = nu * modulus
                out.shear = half * (one - nu) * modulus
        return out

    @wp.func
    def strip_of(l1: real, skin: Skin) -> Stress:
        """Of a strip in plane strain, L2 = 1: stress and slope along it, and the stress across its depth."""
        out = Stress()
        if skin.wrinkling != 0 and l1 < one:
            out.state = SLACK
        elif skin.law == RUBBER:
            c = skin.young / real(6.0)
            over = one / wp.max(l1, real(1.0e-3))
            c2 = skin.mooney * c
            out.s1 = real(2.0) * c * (one - over * over)
            out.s2 = real(2.0) * ((c - c2) * (one - over) + c2 * (l1 - one))
            out.h11 = real(8.0) * c * over * over * over
        else:
            modulus = skin.young / (one - skin.poisson * skin.poisson)
            out.s1 = modulus * half * (l1 - one)
            out.s2 = skin.poisson * out.s1
            out.h11 = modulus
        return out

    @wp.func
    def ratio_of(skin: Skin) -> real:
        """Poisson's: rubber keeps its volume."""
        return wp.where(skin.law == RUBBER, half, skin.poisson)

    @wp.func
    def energy_of(l1: real, l2: real, skin: Skin) -> real:
        """J/m³."""
        nu = skin.poisson
        if skin.law == RUBBER:
            c2 = skin.mooney * skin.young / real(6.0)
            c1 = skin.young / real(6.0) - c2
            if skin.wrinkling != 0 and l1 <= one:
                return zero
            across = wp.max(l2, flattest / l1)
            if skin.wrinkling != 0 and l1 * l2 * l2 < one:
                across = one / wp.sqrt(l1)
            j = l1 * across
            three = real(3.0)
            return c1 * (l1 + across + one / j - three) + c2 * (one / l1 + one / across + j - three)
        e1 = half * (l1 - one)
        e2 = half * (l2 - one)
        if skin.wrinkling != 0:
            if e1 <= zero:
                return zero
            e2 = wp.max(e2, -nu * e1)
        return half * skin.young / (one - nu * nu) * (e1 * e1 + e2 * e2 + real(2.0) * nu * e1 * e2)

    @wp.func
    def skin_of(b: int, skins: Skins, viscosity: wp.array(dtype=real)) -> Skin:
        """The material of a body."""
        out = Skin()
        out.law = skins.skin_law[b]
        out.wrinkling = skins.wrinkling[b]
        out.young = skins.young[b]
        out.poisson = skins.poisson[b]
        out.mooney = skins.mooney[b]
        out.viscosity = viscosity[b]
        return out

    if dim == 2:

        @wp.func
        def square_stretches(x: wp.array(dtype=vec), face: wp.vec2i, rest: quad) -> pair:
            d = x[at(face[1])] - x[at(face[0])]
            return pair(wp.dot(d, d) * rest[0] * rest[0], one)

        @wp.func
        def pulls(d1: vec, d2: vec, w1: vec, w2: vec, rest: quad, skin: Skin, weight: real):
            """(force on the second corner, none): those of the strip; weight: rest length times thickness."""
            p = rest[0]
            found = strip_of(wp.dot(d1, d1) * p * p, skin)
            rate = wp.dot(d1, w1) * p * p
            s = found.s1
            if found.state == TAUT:
                nu = ratio_of(skin)
                s += skin.viscosity * skin.young / (one - nu * nu) * rate
            return (-weight * s * p * p) * d1, vec()

    else:

        @wp.func
        def square_stretches(x: wp.array(dtype=vec), face: wp.vec3i, rest: quad) -> pair:
            here = x[at(face[0])]
            d1 = x[at(face[1])] - here
            d2 = x[at(face[2])] - here
            found = strain_of(wp.dot(d1, d1), wp.dot(d1, d2), wp.dot(d2, d2), rest)
            return pair(found.large, found.small)

        @wp.func
        def rate_of(d1: vec, d2: vec, w1: vec, w2: vec, rest: quad) -> triple:
            """Rates of Green's strains 11, 12 and 22."""
            p, q, r = rest[0], rest[1], rest[2]
            g11 = wp.dot(d1, w1)
            g12 = half * (wp.dot(d1, w2) + wp.dot(d2, w1))
            g22 = wp.dot(d2, w2)
            return triple(p * p * g11, p * (q * g11 + r * g12), q * q * g11 + real(2.0) * q * r * g12 + r * r * g22)

        @wp.func
        def pulls(d1: vec, d2: vec, w1: vec, w2: vec, rest: quad, skin: Skin, weight: real):
            """Forces on the second and the third corner; d, w: their positions and velocities less the first's.

            S as a matrix, without the directions n: in the plane P = n1 n1ᵀ = (1 + (C - mean)/radius)/2.
            """
            p, q, r = rest[0], rest[1], rest[2]
            g11 = wp.dot(d1, d1)
            g12 = wp.dot(d1, d2)
            c11 = p * p * g11
            c12 = p * (q * g11 + r * g12)
            c22 = q * q * g11 + real(2.0) * q * r * g12 + r * r * wp.dot(d2, d2)
            j = c11 * c22 - c12 * c12
            mean = half * (c11 + c22)
            s11, s12, s22 = zero, zero, zero
            state = int(TAUT)
            l1 = one
            if skin.wrinkling != 0:
                across = half * (c11 - c22)
                radius = wp.sqrt(across * across + c12 * c12)
                l1 = mean + radius
                if l1 <= one:
                    state = int(SLACK)
                else:
                    l2 = mean - radius
                    wants = one - skin.poisson * (l1 - one)
                    if skin.law == RUBBER:
                        wants = one / wp.sqrt(l1)
                    if l2 < wants:
                        state = int(WRINKLED)
                        s = half * skin.young * (l1 - one)
                        if skin.law == RUBBER:
                            c2 = skin.mooney * skin.young / real(6.0)
                            c1 = skin.young / real(6.0) - c2
                            s = real(2.0) * (c1 + c2 * wants) * (one - wants * wants * wants)
                        s11 = half * (one + across / radius)
                        s12 = half * c12 / radius
                        s22 = one - s11
                        if skin.viscosity > zero:
                            rate = rate_of(d1, d2, w1, w2, rest)
                            along = s11 * rate[0] + real(2.0) * s12 * rate[1] + s22 * rate[2]
                            s += skin.viscosity * skin.young * along
                        s11 *= s
                        s12 *= s
                        s22 *= s
            if state == TAUT:
                if skin.law == RUBBER:
                    c2 = skin.mooney * skin.young / real(6.0)
                    c1 = skin.young / real(6.0) - c2
                    j = wp.max(j, flattest)
                    over = one / j
                    alpha = real(2.0) * (c1 + c2 * over)
                    beta = real(2.0) * over * (c2 * (j - real(2.0) * mean * over) - c1 * over)  # of j C⁻¹
                    s11 = alpha + beta * c22
                    s12 = -beta * c12
                    s22 = alpha + beta * c11
                else:
                    modulus = half * skin.young / (one - skin.poisson * skin.poisson)
                    s11 = modulus * (c11 - one + skin.poisson * (c22 - one))
                    s22 = modulus * (c22 - one + skin.poisson * (c11 - one))
                    s12 = modulus * (one - skin.poisson) * c12
                if skin.viscosity > zero:
                    nu = ratio_of(skin)
                    rate = rate_of(d1, d2, w1, w2, rest)
                    soft = skin.viscosity * skin.young / (one - nu * nu)
                    s11 += soft * (rate[0] + nu * rate[2])
                    s12 += soft * (one - nu) * rate[1]
                    s22 += soft * (rate[2] + nu * rate[0])
            n11 = p * p * s11 + real(2.0) * p * q * s12 + q * q * s22
            n12 = r * (p * s12 + q * s22)
            n22 = r * r * s22
            return -weight * (n11 * d1 + n12 * d2), -weight * (n12 * d1 + n22 * d2)

    @wp.func
    def pulls_of(
        t: int,
        b: int,
        x: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        face: corners,
        face_rest: wp.array(dtype=quad),
        skins: Skins,
        viscosity: wp.array(dtype=real),
    ):
        """What face t of body b does to its second and third corner."""
        rest = face_rest[t]
        i = at(face[0])
        j = at(face[1])
        k = at(face[wp.static(dim - 1)])
        here = x[i]
        speed = v[i]
        weight = rest[3] * skins.thickness[b]
        skin = skin_of(b, skins, viscosity)
        f1, f2 = pulls(x[j] - here, x[k] - here, v[j] - speed, v[k] - speed, rest, skin, weight)
        return f1, f2

    @n.kernel(__name__)
    def add_membranes(
        x: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        faces: wp.array(dtype=n.face),
        face_rest: wp.array(dtype=quad),
        body: wp.array(dtype=int),
        skins: Skins,
        viscosity: wp.array(dtype=real),
        f_out: wp.array(dtype=vec),
        start_index: int,
    ):
        t = at(start_index + wp.tid())
        face = faces[t]
        i = at(face[0])
        b = at(body[i])
        if skins.skin_law[b] == 0:
            return
        f1, f2 = pulls_of(t, b, x, v, face, face_rest, skins, viscosity)
        f_out[at(face[1])] += f1
        if wp.static(dim == 3):
            f_out[at(face[wp.static(dim - 1)])] += f2
        f_out[i] -= f1 + f2

    @n.kernel(__name__)
    def pull_faces(
        x: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        faces: wp.array(dtype=n.face),
        face_rest: wp.array(dtype=quad),
        body: wp.array(dtype=int),
        skins: Skins,
        viscosity: wp.array(dtype=real),
        face_pull: wp.array(dtype=vec),  # two of each face
    ):
        """As add_membranes, without atomics: what each face does to its second and third corner."""
        t = at(wp.tid())
        face = faces[t]
        b = at(body[at(face[0])])
        if skins.skin_law[b] == 0:
            return
        f1, f2 = pulls_of(t, b, x, v, face, face_rest, skins, viscosity)
        face_pull[2 * t] = f1
        face_pull[2 * t + 1] = f2

    @wp.func
    def at_corner(face_pull: wp.array(dtype=vec), c: int) -> vec:
        """Of face c // dim, on its corner c % dim."""
        t = c / wp.static(dim)
        which = c - wp.static(dim) * t
        first = face_pull[at(2 * t)]
        second = face_pull[at(2 * t + 1)]
        if which == 0:
            return -(first + second)
        return wp.where(which == 1, first, second)

    @n.kernel(__name__)
    def gather_pulls(
        face_corner_start: wp.array(dtype=int),
        face_corners: wp.array(dtype=int),
        body: wp.array(dtype=int),
        skin_law: wp.array(dtype=int),
        face_pull: wp.array(dtype=vec),
        f_out: wp.array(dtype=vec),
    ):
        """What the faces around each point do to it."""
        i = at(wp.tid())
        if skin_law[at(body[i])] == 0:
            return
        total = vec()
        for s in range(face_corner_start[i], face_corner_start[i + 1]):
            total += at_corner(face_pull, face_corners[at(s)])
        f_out[i] = f_out[i] + total

    return SimpleNamespace(
        Skin=Skin, Skins=Skins, Strain=Strain, Stress=Stress, skin_of=skin_of, strain_of=strain_of,
        stress_of=stress_of, strip_of=strip_of, ratio_of=ratio_of, energy_of=energy_of,
        square_stretches=square_stretches, pulls=pulls, at_corner=at_corner, add_membranes=add_membranes,
        pull_faces=pull_faces, gather_pulls=gather_pulls,
    )  # fmt: skip
