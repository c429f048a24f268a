"""What bending and faces of a material store, per body, in double precision."""

import functools
from types import SimpleNamespace
from typing import Any, no_type_check

import warp as wp

from turgor.forces import membrane
from turgor.forces.bending import SLIVER
from turgor.kernel.launch import Launcher
from turgor.kernel.numbers import Numbers, at, numbers
from turgor.model.model import Model

__all__ = ["StoredEnergy"]


class StoredEnergy:
    """`stored`: J of each body, after `measure`."""

    def __init__(self, model: Model, launch: Launcher) -> None:
        self.model, self.kernels = model, kernels(model.numbers)
        self.bodies = len(model.parts) * model.worlds
        self.stored = wp.zeros(self.bodies, dtype=wp.float64, device=model.device)
        self.launch = launch.extended({"stored": self.stored})

    def measure(self, x: Any) -> None:
        """At positions x."""
        self.stored.zero_()
        if len(self.model.hinges):
            self.launch(self.kernels.sum_hinges, len(self.model.hinges), x=x)
        if self.model.has_membranes:
            self.launch(self.kernels.sum_membranes, len(self.model.faces), x=x)


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """sum_hinges, sum_membranes."""
    real, vec, dim, wide = n.real, n.vec, n.dim, n.wide
    hinge = wp.vec3i if dim == 2 else wp.vec4i
    quad = n.quad
    law = membrane.kernels(numbers(dim, "double"))
    Skin, strain_of, energy_of = law.Skin, law.strain_of, law.energy_of
    Skins = membrane.kernels(n).Skins
    half, one, nothing = wp.constant(wp.float64(0.5)), wp.constant(wp.float64(1.0)), wp.constant(wp.float64(0.0))
    pi = wp.constant(wp.float64(3.141592653589793))

    @wp.func
    def bent(angle: wp.float64, rest: real, bending: real) -> wp.float64:
        """½ kb (angle - rest)², the difference in (-pi, pi]."""
        off = angle - wp.float64(rest)
        if off > pi:
            off -= wp.float64(2.0) * pi
        if off < -pi:
            off += wp.float64(2.0) * pi
        return half * wp.float64(bending) * off * off

    if dim == 2:

        @wp.func
        def hinge_energy(ids: hinge, x: wp.array(dtype=vec), rest: real, bending: real) -> wp.float64:
            """As `forces/bending.py`."""
            first = wide(x[at(ids[1])]) - wide(x[at(ids[0])])
            second = wide(x[at(ids[2])]) - wide(x[at(ids[1])])
            angle = wp.atan2(first[0] * second[1] - first[1] * second[0], wp.dot(first, second))
            return bent(angle, rest, bending)

    else:

        @wp.func
        def hinge_energy(ids: hinge, x: wp.array(dtype=vec), rest: real, bending: real) -> wp.float64:
            """As `forces/bending.py`, fading where a face is flat."""
            origin = wide(x[at(ids[0])])
            edge = wide(x[at(ids[1])]) - origin
            n1 = wp.cross(edge, wide(x[at(ids[2])]) - origin)
            n2 = wp.cross(wide(x[at(ids[3])]) - origin, edge)
            size = wp.length(edge)
            if size <= nothing:
                return nothing
            angle = wp.atan2(wp.dot(wp.cross(n1, n2), edge) / size, wp.dot(n1, n2))
            least = wp.pow(wp.float64(SLIVER) * size * size, wp.float64(2.0))
            share = wp.min(wp.dot(n1, n1) / least, one) * wp.min(wp.dot(n2, n2) / least, one)
            return share * bent(angle, rest, bending)

    @n.kernel(__name__)
    def sum_hinges(
        x: wp.array(dtype=vec),
        hinges: wp.array(dtype=hinge),
        rest_angles: wp.array(dtype=real),
        body: wp.array(dtype=int),
        bending: wp.array(dtype=real),
        hinge_weight: wp.array(dtype=real),
        stored: wp.array(dtype=wp.float64),
    ):
        c = at(wp.tid())
        b = body[at(hinges[c][1])]
        wp.atomic_add(stored, b, hinge_energy(hinges[c], x, rest_angles[c], hinge_weight[c] * bending[b]))

    @n.kernel(__name__)
    def sum_membranes(
        x: wp.array(dtype=vec),
        faces: wp.array(dtype=n.face),
        face_rest: wp.array(dtype=quad),
        body: wp.array(dtype=int),
        skins: Skins,
        stored: wp.array(dtype=wp.float64),
    ):
        f = at(wp.tid())
        face = faces[f]
        b = at(body[at(face[0])])
        if skins.skin_law[b] == 0:
            return
        skin = Skin()
        skin.law = skins.skin_law[b]
        skin.wrinkling = skins.wrinkling[b]
        skin.young = wp.float64(skins.young[b])
        skin.poisson = wp.float64(skins.poisson[b])
        skin.mooney = wp.float64(skins.mooney[b])
        rest = wp.vec4d(face_rest[f])
        here = wide(x[at(face[0])])
        d1 = wide(x[at(face[1])]) - here
        value = nothing
        if wp.static(dim == 2):
            square = wp.dot(d1, d1) * rest[0] * rest[0]
            if skin.wrinkling == 0 or square > one:
                value = energy_of(square, one, skin)
        else:
            d2 = wide(x[at(face[wp.static(dim - 1)])]) - here
            e = strain_of(wp.dot(d1, d1), wp.dot(d1, d2), wp.dot(d2, d2), rest)
            value = energy_of(e.large, e.small, skin)
        wp.atomic_add(stored, b, rest[3] * wp.float64(skins.thickness[b]) * value)

    return SimpleNamespace(sum_hinges=sum_hinges, sum_membranes=sum_membranes)
