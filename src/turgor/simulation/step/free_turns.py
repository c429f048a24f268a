"""Substeps of bodies that touch nothing, the GPU's way: small bodies by a block each, large ones by records.

Both are for scenes in which a substep is springs, gas, gravity, grabs and walls at rest, and nothing else; others take
the stages one by one (`frame.py`).
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import warp as wp

from turgor.forces import gather_records
from turgor.kernel.launch import Launcher
from turgor.model.model import Model
from turgor.solvers import block_substeps, fused_records
from turgor.solvers.schemes import Scheme

import os
EXPERIMENT = bool(os.environ.get("XT"))
__all__ = ["BlockTurn", "FreeTurn", "RecordTurn", "free_turn"]


class FreeTurn(Protocol):
    """Some substeps, recorded."""

    def begin(self) -> None:
        """The state was changed by others."""

    def run(self, substeps: int) -> None:
        """A turn of so many, or more where no body is watched."""


def free_turn(model: Model, launch: Launcher, scheme: Scheme, gathers: bool, ledger: bool) -> FreeTurn | None:
    """The way that suits the bodies of a model; None if there is none."""
    plain = not (model.has_membranes or len(model.hinges) or model.pressure_reshaped or model.volumes_press)
    if not (model.device.is_cuda and gathers and plain and model.vertices) or ledger:
        return None
    if scheme.implicit or len(scheme.weights) > 1:
        return None
    largest = int(np.diff(model.starts).max())
    if largest <= block_substeps.most_vertices(model.numbers):
        return BlockTurn(model, launch, scheme, largest)
    return RecordTurn(model, launch, scheme) if RecordTurn.fits(model) else None


class BlockTurn:
    """One block of threads per body, for all substeps until the next plan or look."""

    def __init__(self, model: Model, launch: Launcher, scheme: Scheme, largest: int) -> None:
        self.launch, self.weight = launch, scheme.weights[-1]
        self.bodies = len(model.parts) * model.worlds
        self.block = next(size for size in block_substeps.BLOCKS if size >= largest)
        self.kernels = block_substeps.kernels(model.numbers, scheme.velocity_first, self.block)

    def begin(self) -> None:
        """Nothing is kept from turn to turn."""

    def run(self, substeps: int) -> None:
        """Up to the next plan; so many, where a body is watched."""
        self.launch.blocks(self.kernels.run_bodies, self.bodies, self.block, turn=substeps, weight=self.weight)
        self.launch(self.kernels.count_substeps, 1, turn=substeps)


class RecordTurn:
    """Two launches per substep, over records of positions and velocities."""

    def __init__(self, model: Model, launch: Launcher, scheme: Scheme) -> None:
        n = model.numbers
        self.count, self.chunks, self.block = model.vertices * model.worlds, model.chunks, model.block_size
        self.weight = scheme.weights[-1]
        self.k_gather = gather_records.kernels(n, not EXPERIMENT)
        from turgor.forces import gather as g
        self.k_g = g.kernels(n); self.state_v = None; self.bodies = len(model.parts) * model.worlds; self.model = model
        self.k_fused = fused_records.kernels(n, scheme.velocity_first)
        self.records = wp.zeros(2 * self.count, dtype=n.quad, device=model.device)  # position and 1/m; velocity
        self.chunks_done = wp.zeros(len(model.parts) * model.worlds, dtype=wp.int32, device=model.device)
        self._slices(model)
        self.launch = launch.extended(self)

    @staticmethod
    def fits(model: Model) -> bool:
        """Whether the numbers of neighbours fit the integer that describes a fan."""
        rows = np.diff(model.neighbour_start.numpy()[: model.vertices + 1])
        return int(rows.max(initial=0)) < 1 << gather_records.FAN_SHIFT

    def _slices(self, model: Model) -> None:
        """Neighbours of 32 vertices of a chunk beside each other: the first of each, then the second of each ..."""
        size, width = model.vertices, gather_records.SLICE
        starts = model.neighbour_start.numpy()[: size + 1].astype(np.int64)
        degree, fan = np.diff(starts), model.fan_end.numpy()[:size].astype(np.int64)
        in_fan = np.clip(np.abs(fan) - starts[:-1], 0, degree)
        shape = in_fan | degree << gather_records.FAN_SHIFT | np.where(fan > 0, 0, gather_records.OPEN)
        chunk = model.chunk_start.numpy()[: model.chunks // model.worlds + 1].astype(np.int64)
        vertex = np.arange(size)
        owner = np.searchsorted(chunk, vertex, side="right") - 1
        offset = vertex - chunk[owner]
        opens = np.flatnonzero(offset % width == 0)  # the first vertex of each slice
        rows = np.maximum(np.maximum.reduceat(degree, opens), 1)
        ends = np.cumsum(width * rows)
        of = np.searchsorted(opens, vertex, side="right") - 1
        place = (ends - width * rows)[of] + offset % width
        edge_vertex = np.repeat(vertex, degree)
        entry = place[edge_vertex] + width * (np.arange(starts[-1]) - starts[edge_vertex])
        neighbours, rest = np.zeros(ends[-1], np.int32), np.zeros(ends[-1])
        neighbours[entry] = model.neighbours.numpy()[: starts[-1]]
        rest[entry] = model.neighbour_rest.numpy()[: starts[-1]]
        self.slice_place = model.repeated(place, wp.int32, int(ends[-1]))
        self.slice_shape = model.repeated(shape, wp.int32)
        self.slice_neighbours = model.repeated(neighbours, wp.int32, size)
        self.slice_rest = model.repeated(rest, model.numbers.real)

    def begin(self) -> None:
        """Records of the present state."""
        self.launch(self.k_gather.make_records, self.count)

    def run(self, substeps: int) -> None:
        """So many."""
        for number in range(substeps):
            last = int(number == substeps - 1)
            self.launch.blocks(self.k_gather.gather_records, self.chunks, self.block)
            if EXPERIMENT: self.launch.blocks(self.k_g.collect_bodies, self.bodies, 256, offset=0.0, method=self.model.pressing_method)
            self.launch.blocks(self.k_fused.advance_records, self.chunks, self.block, last=last, weight=self.weight)
