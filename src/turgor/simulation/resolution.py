"""Whether single precision resolves a scene: positions that span too far are too coarse for skins and springs."""

from __future__ import annotations

import numpy as np

from turgor.model.model import Model
from turgor.model.state import State
from turgor.model.surfaces import SKIN

__all__ = ["coarse"]

BITS = 23  # of the fraction of a number in single precision: numbers near x are up to x / 2^23 apart
PER_SKIN = 50.0  # steps in a skin: contact keeps a twentieth of it free, 2.5 steps
PER_EDGE = 1000.0  # steps in an edge: a spring knows its stretch to a thousandth


def coarse(model: Model, state: State) -> str:
    """What to say of the body that is resolved worst, if that is too coarse; else empty.

    Positions count from the anchor.
    """
    if model.numbers.precision != "single":
        return ""
    worst, message = 1.0, ""
    x = np.abs(np.asarray(state.x.numpy()[: model.vertices], np.float64))
    rows: list[tuple[str, float, float, float]] = []
    for index, (body, part) in enumerate(zip(model.bodies, model.parts, strict=True)):
        edge = float(part.rest_lengths.mean()) if len(part.rest_lengths) else part.size
        skin = SKIN * edge if body.skin is None else body.skin
        rows.append((body.name, float(x[model.starts[index] : model.starts[index + 1]].max()), skin, edge))
    centres = np.abs(np.asarray(state.rigid.x.numpy()[: model.rigids.count], np.float64))
    for rigid, collider, centre in zip(model.rigids.bodies, model.rigids.collision, centres, strict=True):
        rows.append((rigid.name, float(centre.max()), collider.skin, np.inf))
    for name, far, skin, edge in rows:
        step = far / 2.0**BITS
        allowed, what = min((skin / PER_SKIN, f"skin of {skin:.2g} m"), (edge / PER_EDGE, f"edges of {edge:.2g} m"))
        if step > worst * allowed:
            worst = step / allowed
            message = (
                f"body {name!r} is {far:.3g} m from the middle of the scene, where single precision resolves "
                f"{step:.2g} m: too coarse for its {what}; use precision='double', or bring the bodies closer together"
            )
    return message
