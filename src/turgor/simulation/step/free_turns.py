"""Substeps of small bodies that touch nothing, the GPU's way: a block of threads for each body.

For scenes in which a substep is springs, gas, gravity, grabs and walls at rest, and nothing else; others take the
stages one by one (`frame.py`).
"""

from __future__ import annotations

import numpy as np

from turgor.kernel.launch import Launcher
from turgor.model.model import Model
from turgor.solvers import block_substeps
from turgor.solvers.schemes import Scheme

__all__ = ["BlockTurn", "block_turn"]


def block_turn(model: Model, launch: Launcher, scheme: Scheme, gathers: bool, ledger: bool) -> BlockTurn | None:
    """For the bodies of a model, if they are small and plain enough."""
    plain = not (model.has_membranes or len(model.hinges) or model.pressure_reshaped or model.volumes_press)
    if not (model.device.is_cuda and gathers and plain and model.vertices) or ledger:
        return None
    if scheme.implicit or len(scheme.weights) > 1:
        return None
    largest = int(np.diff(model.starts).max())
    if largest > block_substeps.most_vertices(model.numbers):
        return None
    return BlockTurn(model, launch, scheme, largest)


class BlockTurn:
    """One block of threads per body, for all substeps until the next plan or look."""

    def __init__(self, model: Model, launch: Launcher, scheme: Scheme, largest: int) -> None:
        self.launch, self.weight = launch, scheme.weights[-1]
        self.bodies = len(model.parts) * model.worlds
        self.block = next(size for size in block_substeps.BLOCKS if size >= largest)
        self.kernels = block_substeps.kernels(model.numbers, scheme.velocity_first, self.block)

    def run(self, substeps: int) -> None:
        """Up to the next plan; so many, where a body is watched, and never more than one if it is one."""
        self._run(substeps, 0)
        self.launch(self.kernels.count_substeps, 1, turn=substeps)

    def follow(self) -> None:
        """A substep of the bodies that end it without contact, after others have ended and counted it with contact."""
        self._run(1, 1)

    def _run(self, substeps: int, counted: int) -> None:
        launch, kernel = self.launch, self.kernels.run_bodies
        launch.blocks(kernel, self.bodies, self.block, turn=substeps, counted=counted, weight=self.weight)
