"""Stretch, stress and energy of the faces of a material, for those who look at a state."""

import functools
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple, no_type_check

import numpy as np
import numpy.typing as npt
import warp as wp

from turgor.forces import membrane
from turgor.kernel.launch import Launcher
from turgor.kernel.numbers import Numbers, at
from turgor.scene.material import RUBBER, STVK

if TYPE_CHECKING:
    from turgor.model.model import Model
    from turgor.model.state import State

__all__ = ["Faces", "measure", "stored_energy"]

FloatArray = npt.NDArray[np.float64]


class Faces(NamedTuple):
    """Of all faces of all worlds, in the order of the model."""

    stretch: FloatArray  # (worlds, faces, 2) principal stretches, the larger one first
    stress: FloatArray  # (worlds, faces, 2) Pa: principal Cauchy stresses
    tension: FloatArray  # (worlds, faces, 2) N/m: force per length as it is now
    state: npt.NDArray[np.int32]  # (worlds, faces): forces.membrane.TAUT, WRINKLED or SLACK


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """measure_faces."""
    real, vec, dim = n.real, n.vec, n.dim
    law = membrane.kernels(n)
    pair, quad, Skins, skin_of = n.pair, n.quad, law.Skins, law.skin_of
    square_stretches, stress_of, strip_of, energy_of = (
        law.square_stretches, law.stress_of, law.strip_of, law.energy_of,
    )  # fmt: skip
    one, zero = wp.constant(real(1.0)), wp.constant(real(0.0))

    @n.kernel(__name__)
    def measure_faces(
        x: wp.array(dtype=vec),
        faces: wp.array(dtype=n.face),
        face_rest: wp.array(dtype=quad),
        body: wp.array(dtype=int),
        skins: Skins,
        viscosity: wp.array(dtype=real),
        stretch: wp.array(dtype=pair),
        stress: wp.array(dtype=pair),
        tension: wp.array(dtype=pair),
        state: wp.array(dtype=int),
        energy: wp.array(dtype=wp.float64),
    ):
        """Tension is h s lambda1/lambda2 and its like; what is wrinkled is as wide as it wants to be.

        What is stretched by lambda1 lambda2 is thinner: rubber keeps its volume, else E3 = -nu/(1 - nu) (E1 + E2).
        """
        t = at(wp.tid())
        b = at(body[at(faces[t][0])])
        if skins.skin_law[b] == 0:
            return
        skin = skin_of(b, skins, viscosity)
        square = square_stretches(x, faces[t], face_rest[t])
        l1 = wp.max(square[0], real(1.0e-12))
        l2 = square[1]
        found = stress_of(l1, l2, skin)
        stored = energy_of(l1, l2, skin)
        if wp.static(dim == 2):
            found = strip_of(l1, skin)
            stored = wp.where(found.state == membrane.SLACK, zero, energy_of(l1, one, skin))
        stretch[t] = pair(wp.sqrt(l1), wp.sqrt(l2))
        if found.state == membrane.WRINKLED:
            natural = one - skins.poisson[b] * (l1 - one)
            if skin.law == RUBBER:
                natural = one / wp.sqrt(l1)
            l2 = wp.max(natural, real(1.0e-6))
        l2 = wp.max(l2, real(1.0e-6))
        ratio = wp.sqrt(l1 / l2)
        pull = skins.thickness[b] * pair(found.s1 * ratio, found.s2 / ratio)
        thin = one / wp.sqrt(l1 * l2)
        if skin.law == STVK:
            nu = skins.poisson[b]
            thin = wp.sqrt(wp.max(one - nu / (one - nu) * (l1 + l2 - real(2.0)), real(1.0e-6)))
        tension[t] = pull
        stress[t] = pull / (skins.thickness[b] * thin)
        state[t] = found.state
        energy[t] = wp.float64(face_rest[t][3] * skins.thickness[b] * stored)

    return SimpleNamespace(measure_faces=measure_faces)


def _measured(model: "Model", state: "State") -> dict[str, Any]:
    """Device arrays of all faces at the present positions, by the names of the kernel's arguments."""
    n, count = model.numbers, len(model.faces)
    kinds = {"stretch": n.pair, "stress": n.pair, "tension": n.pair, "state": wp.int32, "energy": wp.float64}
    found = {name: wp.zeros(count, dtype=kind, device=model.device) for name, kind in kinds.items()}
    if count and model.has_membranes:
        launch = Launcher(model.device, state, model)
        launch(kernels(n).measure_faces, count, skins=launch.struct(membrane.kernels(n).Skins), **found)
    return found


def measure(model: "Model", state: "State") -> Faces:
    """At the present positions."""
    found, worlds = _measured(model, state), model.worlds
    stretch, stress, tension = (
        found[name].numpy().astype(np.float64).reshape(worlds, -1, 2) for name in ("stretch", "stress", "tension")
    )
    return Faces(stretch, stress, tension, found["state"].numpy().reshape(worlds, -1))


def stored_energy(model: "Model", state: "State") -> FloatArray:
    """(worlds,) J in the skins of a material at the present positions."""
    return np.asarray(_measured(model, state)["energy"].numpy().reshape(model.worlds, -1).sum(axis=1))
