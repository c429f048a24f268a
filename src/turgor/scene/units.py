"""Whether a size is plausible in metres: meshes often come in millimetres, or were scaled twice."""

from __future__ import annotations

import math

import numpy as np

from turgor.scene.data import Placed
from turgor.scene.rigid import RigidBody

__all__ = ["units_doubt"]

SMALL, LARGE = 1e-3, 100.0  # m: bodies of other extents are simulated, but seldom meant
THOUSAND = 1e3  # the step between units of length: m, mm, µm


def units_doubt(body: Placed) -> str:
    """What to say of a body whose largest extent looks as if it were not in metres, without its name; else empty.

    What cannot move may be as large as a landscape.
    """
    if isinstance(body, RigidBody) and body.kind != "dynamic":
        return ""
    extent = float(np.ptp(body.shape.vertices, axis=0).max())
    if SMALL <= extent <= LARGE or extent <= 0.0:
        return ""
    across = f"is {extent:.3g} m across, and lengths are in metres: its units look wrong"
    if "file" not in body.shape.recipe:
        return f"{across}; give its shape in metres"
    scale = float(body.shape.recipe.get("scale", 1.0)) * THOUSAND ** -round(math.log(extent, THOUSAND))
    return (
        f"{across}; scale the mesh, by shapes.load(path, size=1.0) to a largest extent of 1 m or by "
        f"shapes.load(path, scale={scale:g}), in a scene file by size or scale beside file"
    )
