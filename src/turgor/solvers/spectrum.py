"""How much below its bound the quickest vibration of a skin is: power iteration on M⁻¹ K, once per frame.

The bound of `tangent.py` holds for any mesh and is two to three times too high (of the square of a frequency) for most:
it takes all corners of a face to move against each other at once. From a start without order z ← M⁻¹ K z / bound comes
near the quickest vibration. Rayleigh's quotient of it is a little too low, which MARGIN and the safety of the step
cover (Kuczynski & Wozniakowski 1992: a share of about ln n / k after k iterations; where one vibration is far quicker
than all others, it is found at once).
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.forces import membrane as law_of
from turgor.kernel.numbers import Numbers, at
from turgor.solvers import tangent
from turgor.solvers.implicit import membrane

__all__ = ["ITERATIONS", "kernels"]

ITERATIONS = 12
MARGIN = 1.2  # times Rayleigh's quotient


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """find_taut_tangents, begin; then (stretch_faces) iterate; sum_quotient, find_share; tighten with each bound."""
    real, vec, dim = n.real, n.vec, n.dim
    law = law_of.kernels(n)
    quad, skin_of, ratio_of = n.quad, law.skin_of, law.ratio_of
    Tangent, tangent_of = tangent.kernels(n).Tangent, tangent.kernels(n).tangent_of
    answer_at = membrane.kernels(n).answer_at
    one, zero = wp.constant(real(1.0)), wp.constant(real(0.0))

    @wp.func
    def unfolded(w: vec) -> vec:
        """At least of the length that it has at rest."""
        size = wp.length(w)
        if size > zero and size < one:
            return w / size
        return w

    @n.kernel(__name__)
    def find_taut_tangents(
        x: wp.array(dtype=vec),
        faces: wp.array(dtype=n.face),
        face_rest: wp.array(dtype=quad),
        body: wp.array(dtype=int),
        skin_law: wp.array(dtype=int),
        wrinkling: wp.array(dtype=int),
        young: wp.array(dtype=real),
        poisson: wp.array(dtype=real),
        thickness: wp.array(dtype=real),
        mooney: wp.array(dtype=real),
        viscosity: wp.array(dtype=real),
        face_tangent: wp.array(dtype=Tangent),
    ):
        """Of each face; one that is wrinkled or slack may become taut, and counts as such."""
        f = at(wp.tid())
        face = faces[f]
        b = at(body[at(face[0])])
        if skin_law[b] == 0:
            return
        skin = skin_of(b, skin_law, wrinkling, young, poisson, mooney, viscosity)
        here = x[at(face[0])]
        d1 = x[at(face[1])] - here
        d2 = x[at(face[wp.static(dim - 1)])] - here
        weight = face_rest[f][3] * thickness[b]
        found = tangent_of(d1, d2, face_rest[f], skin, weight, one, zero)
        if found.state != law_of.TAUT:
            nu = ratio_of(skin)
            modulus = weight * skin.young / (one - nu * nu)
            found.w1 = unfolded(found.w1)
            found.w2 = unfolded(found.w2)
            found.h11 = wp.max(found.h11, modulus)
            found.h22 = modulus
            found.h12 = nu * modulus
            found.shear = wp.max(found.shear, real(0.5) * (one - nu) * modulus)
        face_tangent[f] = found

    @n.kernel(__name__)
    def begin(direction: wp.array(dtype=vec)):
        """Numbers between -1 and 1 without order."""
        i = wp.tid()
        state = wp.rand_init(20030, i)
        out = vec()
        for k in range(wp.static(dim)):
            out[k] = real(wp.randf(state)) * real(2.0) - one
        direction[i] = out

    @wp.func
    def product_at(
        i: int,
        face_corner_start: wp.array(dtype=int),
        face_corners: wp.array(dtype=int),
        face_tangent: wp.array(dtype=Tangent),
        face_answer: wp.array(dtype=vec),
    ) -> vec:
        total = vec()
        for s in range(face_corner_start[i], face_corner_start[i + 1]):
            total += answer_at(face_corners[at(s)], face_tangent, face_answer)
        return total

    @n.kernel(__name__)
    def iterate(
        body: wp.array(dtype=int),
        inverse_mass: wp.array(dtype=real),
        skin_law: wp.array(dtype=int),
        skin_bound: wp.array(dtype=real),
        face_corner_start: wp.array(dtype=int),
        face_corners: wp.array(dtype=int),
        face_tangent: wp.array(dtype=Tangent),
        face_answer: wp.array(dtype=vec),
        direction: wp.array(dtype=vec),
    ):
        i = at(wp.tid())
        b = at(body[i])
        out = vec()
        if skin_law[b] != 0 and skin_bound[b] > zero:
            product = product_at(i, face_corner_start, face_corners, face_tangent, face_answer)
            out = (inverse_mass[i] / skin_bound[b]) * product
        direction[i] = out

    @n.kernel(__name__)
    def sum_quotient(
        chunk_body: wp.array(dtype=int),
        chunk_start: wp.array(dtype=int),
        inverse_mass: wp.array(dtype=real),
        skin_law: wp.array(dtype=int),
        face_corner_start: wp.array(dtype=int),
        face_corners: wp.array(dtype=int),
        face_tangent: wp.array(dtype=Tangent),
        face_answer: wp.array(dtype=vec),
        direction: wp.array(dtype=vec),
        chunk_quotient: wp.array(dtype=wp.vec2d),
    ):
        """z·K z and z·M z of a chunk of points."""
        chunk, lane = wp.tid()
        work = wp.float64(0.0)
        motion = wp.float64(0.0)
        if skin_law[chunk_body[chunk]] != 0:
            for q in range(chunk_start[chunk] + lane, chunk_start[chunk + 1], wp.block_dim()):
                i = at(q)
                if inverse_mass[i] > zero:
                    z = direction[i]
                    product = product_at(i, face_corner_start, face_corners, face_tangent, face_answer)
                    work += wp.float64(wp.dot(z, product))
                    motion += wp.float64(wp.dot(z, z) / inverse_mass[i])
        one_sum = wp.tile_sum(wp.tile(work))
        other = wp.tile_sum(wp.tile(motion))
        if lane == 0:
            chunk_quotient[chunk] = wp.vec2d(one_sum[0], other[0])

    @n.kernel(__name__)
    def find_share(
        chunk_first: wp.array(dtype=int),
        chunk_quotient: wp.array(dtype=wp.vec2d),
        skin_bound: wp.array(dtype=real),
        skin_damping: wp.array(dtype=real),
        bound_share: wp.array(dtype=real),
    ):
        """Of the bound; the bound is left as it was before."""
        b = wp.tid()
        total = wp.vec2d()
        for c in range(chunk_first[b], chunk_first[b + 1]):
            total += chunk_quotient[c]
        share = one
        if total[1] > wp.float64(0.0) and skin_bound[b] > zero:
            share = wp.min(real(MARGIN) * real(total[0] / total[1]) / skin_bound[b], one)
        bound_share[b] = share
        skin_bound[b] = zero
        skin_damping[b] = zero

    @n.kernel(__name__)
    def tighten(
        bound_share: wp.array(dtype=real), skin_bound: wp.array(dtype=real), skin_damping: wp.array(dtype=real)
    ):  # fmt: skip
        b = wp.tid()
        skin_bound[b] = bound_share[b] * skin_bound[b]
        skin_damping[b] = bound_share[b] * skin_damping[b]

    return SimpleNamespace(
        find_taut_tangents=find_taut_tangents, begin=begin, iterate=iterate, sum_quotient=sum_quotient,
        find_share=find_share, tighten=tighten,
    )  # fmt: skip
