"""How much below its bound the quickest vibration of a skin is: power iteration on M⁻¹ K, once per frame.

The bound of `tangent.py` holds for any mesh and is two to three times too high (of the square of a frequency) for most:
it takes all corners of a face to move against each other at once. From a start without order z ← M⁻¹ K z / bound comes
near the quickest vibration. Rayleigh's quotient of it is a little too low, which MARGIN and the safety of the step
cover (Kuczynski & Wozniakowski 1992: a share of about ln n / k after k iterations; where one vibration is far quicker
than all others, it is found at once). Each frame goes on from the vibration of the one before, with some disorder, from
which one that has become quicker grows.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.forces import membrane as law_of
from turgor.kernel.blocks import block_sum
from turgor.kernel.numbers import Numbers, at
from turgor.solvers import tangent
from turgor.solvers.implicit import membrane

__all__ = ["FIRST", "ITERATIONS", "kernels"]

ITERATIONS, FIRST = 4, 12  # per frame; in the first one as many more
DISORDER = 0.1  # of the mean size of the vibration
MARGIN = 1.05  # times Rayleigh's quotient


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """find_taut_tangents, begin; (stretch_faces) iterate; sum_quotient, find_quickest; tighten with each bound."""
    real, vec, dim = n.real, n.vec, n.dim
    law = law_of.kernels(n)
    quad, Skins, skin_of, ratio_of = n.quad, law.Skins, law.skin_of, law.ratio_of
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
        skins: Skins,
        viscosity: wp.array(dtype=real),
        face_tangent: wp.array(dtype=Tangent),
    ):
        """Of each face; one that is wrinkled or slack may become taut, and counts as such."""
        f = at(wp.tid())
        face = faces[f]
        b = at(body[at(face[0])])
        if skins.skin_law[b] == 0:
            return
        skin = skin_of(b, skins, viscosity)
        here = x[at(face[0])]
        d1 = x[at(face[1])] - here
        d2 = x[at(face[wp.static(dim - 1)])] - here
        weight = face_rest[f][3] * skins.thickness[b]
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
    def begin(
        body: wp.array(dtype=int),
        mean_square: wp.array(dtype=wp.float64),
        direction: wp.array(dtype=vec),
    ):
        """The vibration of the frame before with a mean size of 1, and numbers between -1 and 1 without order."""
        i = at(wp.tid())
        b = at(body[i])
        state = wp.rand_init(20030, i)
        out = vec()
        for k in range(wp.static(dim)):
            out[k] = real(wp.randf(state)) * real(2.0) - one
        if mean_square[b] > wp.float64(0.0) and wp.isfinite(mean_square[b]):
            out = real(DISORDER) * out + real(wp.float64(1.0) / wp.sqrt(mean_square[b])) * direction[i]
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
        quickest: wp.array(dtype=real),
        face_corner_start: wp.array(dtype=int),
        face_corners: wp.array(dtype=int),
        face_tangent: wp.array(dtype=Tangent),
        face_answer: wp.array(dtype=vec),
        direction: wp.array(dtype=vec),
    ):
        """z ← M⁻¹ K z, over what is known of the square of its frequency."""
        i = at(wp.tid())
        b = at(body[i])
        out = vec()
        if skin_law[b] != 0 and quickest[b] > zero:
            product = product_at(i, face_corner_start, face_corners, face_tangent, face_answer)
            out = (inverse_mass[i] / quickest[b]) * product
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
        chunk_quotient: wp.array(dtype=wp.vec3d),
    ):
        """z·K z, z·M z and z·z of a chunk of points."""
        chunk, lane = wp.tid()
        work = wp.float64(0.0)
        motion = wp.float64(0.0)
        square = wp.float64(0.0)
        if skin_law[chunk_body[chunk]] != 0:
            for q in range(chunk_start[chunk] + lane, chunk_start[chunk + 1], wp.block_dim()):
                i = at(q)
                if inverse_mass[i] > zero:
                    z = direction[i]
                    product = product_at(i, face_corner_start, face_corners, face_tangent, face_answer)
                    work += wp.float64(wp.dot(z, product))
                    motion += wp.float64(wp.dot(z, z) / inverse_mass[i])
                    square += wp.float64(wp.dot(z, z))
        one_sum = block_sum(work)
        other = block_sum(motion)
        third = block_sum(square)
        if lane == 0:
            chunk_quotient[chunk] = wp.vec3d(one_sum, other, third)

    @n.kernel(__name__)
    def guess(skin_bound: wp.array(dtype=real), skin_damping: wp.array(dtype=real), quickest: wp.array(dtype=real)):
        """The bound, to begin with."""
        b = wp.tid()
        quickest[b] = skin_bound[b]
        skin_bound[b] = zero
        skin_damping[b] = zero

    @n.kernel(__name__)
    def find_quickest(
        chunk_first: wp.array(dtype=int),
        chunk_start: wp.array(dtype=int),
        chunk_quotient: wp.array(dtype=wp.vec3d),
        quickest: wp.array(dtype=real),  # 1/s²
        mean_square: wp.array(dtype=wp.float64),
        bound_share: wp.array(dtype=real),
    ):
        """Rayleigh's quotient."""
        b = wp.tid()
        total = wp.vec3d()
        for c in range(chunk_first[b], chunk_first[b + 1]):
            total += chunk_quotient[c]
        mean_square[b] = total[2] / wp.float64(chunk_start[chunk_first[b + 1]] - chunk_start[chunk_first[b]])
        if total[0] > wp.float64(0.0) and total[1] > wp.float64(0.0):
            quickest[b] = real(total[0] / total[1])
        bound_share[b] = -one  # not known

    @n.kernel(__name__)
    def tighten(
        quickest: wp.array(dtype=real),
        bound_share: wp.array(dtype=real),
        skin_bound: wp.array(dtype=real),
        skin_damping: wp.array(dtype=real),
    ):
        """The bounds of the state at which the quickest vibration was found, and others until it is found again."""
        b = wp.tid()
        if bound_share[b] < zero:
            bound_share[b] = one
            if skin_bound[b] > zero:
                bound_share[b] = wp.min(real(MARGIN) * quickest[b] / skin_bound[b], one)
        skin_bound[b] = bound_share[b] * skin_bound[b]
        skin_damping[b] = bound_share[b] * skin_damping[b]

    return SimpleNamespace(
        find_taut_tangents=find_taut_tangents, guess=guess, begin=begin, iterate=iterate, sum_quotient=sum_quotient,
        find_quickest=find_quickest, tighten=tighten,
    )  # fmt: skip
