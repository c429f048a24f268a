"""All forces of a stage, one call per law: springs, faces, membranes, bending, air, volume, gas (gravity, grab too)."""

from __future__ import annotations

from typing import Any

import numpy as np

from turgor.forces import air, bending, gas, gather, membrane, nonconservative, pressure, springs, total, volumes
from turgor.kernel.launch import Launcher
from turgor.model.model import BLOCK, Model

__all__ = ["Forces"]


class Forces:
    """Launches the force laws. x, v: device arrays of the state at which they are evaluated."""

    def __init__(self, model: Model, launch: Launcher, gathers: bool) -> None:
        self.model, self.launch, self.gathers = model, launch, gathers
        self.count, self.bodies = model.vertices * model.worlds, len(model.parts) * model.worlds
        self.spring_cuts, self.face_cuts, self.hinge_cuts, self.point_cuts = map(
            model.cuts, ("springs", "faces", "hinges", "order")
        )
        n = model.numbers
        self.k_springs, self.k_pressure, self.k_gas = springs.kernels(n), pressure.kernels(n), gas.kernels(n)
        self.k_gather, self.k_air, self.k_bending = gather.kernels(n), air.kernels(n), bending.kernels(n)
        self.k_membrane = membrane.kernels(n)
        self.viscosity = model.viscosity  # s, of skins, as far as steps can follow it
        self.k_nonconservative = nonconservative.kernels(n)
        self.k_volumes, self.k_total = volumes.kernels(n), total.kernels(n)

    def evaluate(self, x: Any, v: Any, offset: float, looking: bool = False, pulsed: bool = False) -> None:
        """Spring, face and hinge forces in f and area, pressure per body in push; offset: time in substeps.

        looking: volumes that are only looked at are measured too. pulsed: bending acts now and then, and more.
        """
        if self.gathers:
            self.gather(x, v)
        else:
            self.add_springs(x, v)
            self.add_faces(x)
        self.add_membranes(x, v)
        self.add_bending(x, pulsed)
        self.add_air(v)
        method = self.model.method if looking else self.model.pressing_method
        self.estimate_volumes(x, method)
        self.update_bodies(x, v, offset, method)

    def measure(self, x: Any, v: Any, offset: float = 0.0) -> None:
        """Areas, volumes and pressures only; offset: time in substeps."""
        if self.gathers:
            self.gather(x, v)
        else:
            self.add_faces(x)
        self.estimate_volumes(x, self.model.pressing_method)
        self.update_bodies(x, v, offset, self.model.pressing_method)

    def add_springs(self, x: Any, v: Any) -> None:
        if len(self.model.springs):
            cuts = self.spring_cuts
            self.launch.split(self.k_springs.add_springs, len(self.model.springs), cuts, bodies=cuts, x=x, v=v)

    def add_membranes(self, x: Any, v: Any) -> None:
        """Skins of a material."""
        if not self.model.has_membranes:
            return
        if self.gathers:
            self.launch(self.k_membrane.pull_faces, len(self.model.faces), x=x, v=v, viscosity=self.viscosity)
            self.launch(self.k_membrane.gather_pulls, self.count)
        else:
            cuts = self.face_cuts
            self.launch.split(
                self.k_membrane.add_membranes, len(self.model.faces), cuts, bodies=cuts, x=x, v=v,
                viscosity=self.viscosity,
            )  # fmt: skip

    def add_faces(self, x: Any) -> None:
        cuts = self.face_cuts
        self.launch.split(self.k_pressure.add_faces, len(self.model.faces), cuts, bodies=cuts, x=x)

    def gather(self, x: Any, v: Any) -> None:
        self.launch.blocks(self.k_gather.gather_forces, self.model.chunks, self.model.block_size, x=x, v=v)

    def reshape_areas(self, x: Any, v: Any, booking: bool = False) -> None:
        """The papers' alternatives to the volume gradient; booking: sum up what they do besides."""
        if self.model.pressure_reshaped:
            self.launch(self.k_pressure.reshape_areas, self.count, x=x, v=v, booking=int(booking))

    def book_volumes(self) -> None:
        """What approximate volumes do besides the work of the gas."""
        if self.model.volumes_press:
            self.launch(self.k_nonconservative.book_volume, self.bodies)

    def find_runaways(self) -> None:
        """Whether a body has been given absurd energy by a pressure law that is not conservative."""
        if self.model.may_run_away:
            self.launch(self.k_nonconservative.sum_motion, self.count)
            self.launch(self.k_nonconservative.judge, self.bodies)

    def add_bending(self, x: Any, pulsed: bool = False) -> None:
        if len(self.model.hinges):
            hinges, cuts = len(self.model.hinges), self.hinge_cuts
            self.launch.split(self.k_bending.add_bending, hinges, cuts, bodies=cuts, x=x, pulsed=int(pulsed))

    def add_air(self, v: Any) -> None:
        if self.model.feels_air:
            self.launch.split(self.k_air.add_air, self.count, bodies=self.point_cuts, v=v)

    def estimate_volumes(self, x: Any, method: Any) -> None:
        """Approximate volumes, for bodies that ask for one; method: per body, `Model.method` or `pressing_method`."""
        m, k = self.model, self.k_volumes
        if not (m.volumes_estimated if method is m.method else m.volumes_press):
            return
        self.launch(k.reset_bounds, self.bodies)
        self.launch(k.find_bounds, self.count, x=x, method=method)
        self.launch(k.find_reach, self.count, x=x, method=method)
        if m.probes:
            self.launch(k.place_probes, m.probes)
        if m.faces_probed:
            self.launch(k.cross_faces, len(m.faces), x=x, method=method)
        if m.probes:
            self.launch(k.count_probes, m.probes)
        self.launch(k.estimate_volume, self.bodies, method=method)

    def update_bodies(self, x: Any, v: Any, offset: float, method: Any) -> None:
        """Volume -> pressure; gravity and grab of each body."""
        if self.gathers:
            many = self.model.chunks // max(self.bodies, 1)  # of each body
            block = 32 if many <= 32 else BLOCK if many <= 4 * BLOCK else 4 * BLOCK
            self.launch.blocks(self.k_gather.collect_bodies, self.bodies, block, x=x, v=v, offset=offset, method=method)
        else:
            each = np.arange(self.bodies + 1)
            self.launch.split(self.k_gas.update_bodies, self.bodies, bodies=each, least=32, x=x, v=v, offset=offset)

    def add_up(self, out: Any) -> None:
        """The total force on each point at the state, N; the accumulators are cleared."""
        self.launch(self.k_total.total_force, self.count, force_out=out)
