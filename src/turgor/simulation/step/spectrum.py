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

    SAVED = CHANGED = ("direction", "mean_square", "quickest", "unknown")

    def __init__(self, step: Step) -> None:
        model, n, device = step.model, step.model.numbers, step.model.device
        self.step, self.kernels, self.k_membrane = step, spectrum.kernels(n), membrane.kernels(n)
        self.bound_share = wp.ones(step.bodies, dtype=n.real, device=device)
        self.direction = wp.zeros(step.count, dtype=n.vec, device=device)  # the vibration
        self.quickest = wp.zeros(step.bodies, dtype=n.real, device=device)  # 1/s²: the square of its frequency
        self.mean_square = wp.zeros(step.bodies, dtype=wp.float64, device=device)  # of it
        self.unknown = wp.ones(1, dtype=wp.int32, device=device)  # until the first frame
        self.launch = step.launch.extended({
            "face_tangent": wp.zeros(len(model.faces), dtype=self.k_membrane.Tangent, device=device),
            "face_answer": wp.zeros(2 * len(model.faces), dtype=n.vec, device=device),
            "chunk_quotient": wp.zeros(model.chunks, dtype=wp.vec3d, device=device),
            "bound_share": self.bound_share, "direction": self.direction, "mean_square": self.mean_square,
            "quickest": self.quickest,
        })  # fmt: skip

    def run(self) -> None:
        """At the present state."""
        step, k, m = self.step, self.kernels, self.step.model
        self.launch(k.find_taut_tangents, len(m.faces))
        self.launch(k.begin, step.count)
        wp.capture_if(self.unknown, on_true=self._search)
        self._iterate(spectrum.ITERATIONS)
        self.launch(self.k_membrane.stretch_faces, len(m.faces))
        self.launch.blocks(k.sum_quotient, m.chunks, m.block_size)
        self.launch(k.find_quickest, step.bodies)

    def _search(self) -> None:
        self.step.launch(self.step.k_tangent.bound_skins, self.step.count)
        self.launch(self.kernels.guess, self.step.bodies)
        self._iterate(spectrum.FIRST)
        self.unknown.zero_()

    def _iterate(self, count: int) -> None:
        for _ in range(count):
            self.launch(self.k_membrane.stretch_faces, len(self.step.model.faces))
            self.launch(self.kernels.iterate, self.step.count)

    def forget(self) -> None:
        """Parameters or positions were set."""
        self.unknown.fill_(1)

    def tighten(self) -> None:
        """After the bounds of the skins."""
        self.launch(self.kernels.tighten, self.step.bodies)
