"""Damping of slow vibrations in place of viscosity that is too quick for explicit steps: `solvers/slow_damping.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp

from turgor.solvers import slow_damping
from turgor.solvers.implicit import rigid_part

if TYPE_CHECKING:
    from turgor.simulation.step.frame import Step

__all__ = ["SlowDamping"]


class SlowDamping:
    """Launched with each bound (`share`) and once per frame (`run`)."""

    SAVED = CHANGED = ("slow_damping", "quick_viscosity")

    def __init__(self, step: Step, booking: bool) -> None:
        model, n, device = step.model, step.model.numbers, step.model.device
        self.step, self.booking = step, booking
        self.kernels, self.k_rigid = slow_damping.kernels(n), rigid_part.kernels(n)
        bodies = step.bodies

        def reals() -> Any:
            return wp.zeros(bodies, dtype=n.real, device=device)

        masses = np.where(model.inverse_mass.numpy() > 0.0, model.mass.numpy(), 0.0)
        pinned = np.zeros(bodies, bool)
        np.logical_or.at(pinned, model.body.numpy(), model.inverse_mass.numpy() <= 0.0)
        self.quick_viscosity, self.slow_damping = reals(), reals()
        self.launch = step.launch.extended({
            "quick_viscosity": self.quick_viscosity, "slow_damping": self.slow_damping,
            "body_mass": model.real_array(np.bincount(model.body.numpy(), masses, bodies)),
            "free": model.int_array(~pinned),
            "moments": wp.zeros(model.chunks, dtype=self.k_rigid.row, device=device),
            "body_sums": wp.zeros(bodies, dtype=self.k_rigid.row, device=device),
            "body_centre": wp.zeros(bodies, dtype=n.wide, device=device),
            "body_velocity": wp.zeros(bodies, dtype=n.wide, device=device),
            "body_spin": wp.zeros(bodies, dtype=self.k_rigid.twist, device=device),
        })  # fmt: skip

    def share(self) -> None:
        """After the bounds of the skins, before the length of the step is chosen."""
        self.launch(self.kernels.share_viscosity, self.step.bodies)

    def run(self) -> None:
        """At the start of a frame, at the rate of the last bound."""
        step, model = self.step, self.step.model
        self.launch.blocks(self.k_rigid.sum_motion, model.chunks, model.block_size)
        self.launch(self.k_rigid.find_motion, step.bodies)
        self.launch(self.kernels.damp, step.count, frame_time=step.frame_time, booking=int(self.booking))
