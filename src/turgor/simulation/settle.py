"""A start without a jump: the shape of a body in the equilibrium of its springs and its gas."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from turgor.errors import UnstableError
from turgor.scene.data import SoftBody, Springs
from turgor.scene.scene import Scene

__all__ = ["settled_positions"]

FRAMES = 2000  # at most
TOLERANCE = 1e-4  # of the largest force a vertex has before settling


def settled_positions(body: SoftBody, precision: str) -> npt.NDArray[np.float64]:
    """(vertices, dim) m, where the body comes to rest without gravity, walls and motion.

    Dynamic relaxation: the body is let go with its velocities taken out whenever its kinetic energy has passed a peak
    (kinetic damping, Barnes 1988), which needs no damping coefficient to be guessed.
    """
    from turgor.simulation.simulation import Simulation

    zero = (0.0,) * body.dim
    still = replace(
        body, velocity=zero, spin=0.0 if body.dim == 2 else zero, settled=False, drag=0.0, velocity_damping=None,
        wind_drag=0.0, springs=Springs(stiffness=body.springs.stiffness),
    )  # fmt: skip
    scene = Scene(dim=body.dim, gravity=zero, name="settle")
    scene.add(still)
    # frames as short as the body's slowest motion matters: a peak of the kinetic energy must not be stepped over
    sim = Simulation(scene, precision=precision, solver="symplectic", fps=240)
    view = sim[body.name]
    free = np.ones(len(body.shape.vertices), bool)
    free[body.pinned] = False

    def unbalanced() -> float:
        return float(np.linalg.norm(view.forces[free], axis=1).max(initial=0.0))

    start = unbalanced()
    limit, previous = TOLERANCE * start, 0.0
    for _ in range(FRAMES):
        if unbalanced() <= limit:
            break
        sim.step()
        now = float(np.sum(view.velocities**2))
        if now < previous:
            view.velocities = 0.0
            now = 0.0
        previous = now
    else:
        raise UnstableError(
            f"body {body.name!r} found no equilibrium of springs and gas in {FRAMES} steps: its springs may be too "
            "soft for its pressure; leave settled out, or raise springs.stiffness"
        )
    return view.positions
