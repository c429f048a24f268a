"""A start without a jump: the shape of a body in the equilibrium of its springs and its gas."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from turgor.errors import UnstableError
from turgor.scene.data import SoftBody, Springs
from turgor.scene.scene import Scene

__all__ = ["settled_positions"]

STEPS = 20_000  # at most
LOOK = 10  # steps between looks at the forces
SHORTER = 1.5  # than the step that `substeps="auto"` picks
TOLERANCE = 1e-4  # of the largest force a vertex has before settling


def settled_positions(body: SoftBody) -> npt.NDArray[np.float64]:
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
    # one substep per frame, well below the stable step: a peak of the kinetic energy must not be stepped over
    probe = Simulation(scene, precision="double", solver="symplectic", fps=60)
    probe.step()
    sim = Simulation(scene, precision="double", solver="symplectic", substeps=1, fps=SHORTER * 60.0 * probe.substeps)
    view = sim[body.name]
    free = np.ones(len(body.shape.vertices), bool)
    free[body.pinned] = False

    def unbalanced() -> float:
        return float(np.linalg.norm(view.forces[free], axis=1).max(initial=0.0))

    limit, previous = TOLERANCE * unbalanced(), 0.0
    for step in range(STEPS):
        if step % LOOK == 0 and unbalanced() <= limit:
            return view.positions
        sim.step()
        now = float(np.sum(view.velocities**2))
        if now < previous:
            view.velocities = 0.0
            now = 0.0
        previous = now
    raise UnstableError(
        f"body {body.name!r} found no equilibrium of springs and gas in {STEPS} steps: its springs may be too soft for "
        "its pressure; leave settled out, or raise springs.stiffness"
    )
