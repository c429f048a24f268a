"""The quickest vibration of skins of a material, once per frame (`solvers/spectrum.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import warp as wp

from turgor.solvers import spectrum
from turgor.solvers.implicit import membrane

if TYPE_CHECKING:
    from turgor.simulation.step.frame import Step

__all__ = ["SkinSpectrum"]


class SkinSpectrum:
    """`run` at the start of a frame; `tighten` each bound of it."""

    def __init__(self, step: Step) -> None:
        model, n, device = step.model, step.model.numbers, step.model.device
        self.step, self.kernels, self.k_membrane = step, spectrum.kernels(n), membrane.kernels(n)
        self.bound_share = wp.ones(step.bodies, dtype=n.real, device=device)
        self.launch = step.launch.extended({
            "face_tangent": wp.zeros(len(model.faces), dtype=self.k_membrane.Tangent, device=device),
            "face_answer": wp.zeros(2 * len(model.faces), dtype=n.vec, device=device),
            "direction": wp.zeros(step.count, dtype=n.vec, device=device),
            "chunk_quotient": wp.zeros(model.chunks, dtype=wp.vec2d, device=device),
            "bound_share": self.bound_share,
        })  # fmt: skip

    def run(self) -> None:
        """At the present state."""
        step, k, m = self.step, self.kernels, self.step.model
        step.launch(step.k_tangent.bound_skins, step.count)
        self.launch(k.find_taut_tangents, len(m.faces))
        self.launch(k.begin, step.count)
        for _ in range(spectrum.ITERATIONS):
            self.launch(self.k_membrane.stretch_faces, len(m.faces))
            self.launch(k.iterate, step.count)
        self.launch(self.k_membrane.stretch_faces, len(m.faces))
        self.launch.blocks(k.sum_quotient, m.chunks, m.block_size)
        self.launch(k.find_share, step.bodies)

    def tighten(self) -> None:
        """After the bounds of the skins."""
        self.launch(self.kernels.tighten, self.step.bodies)
