"""The linear system of a Newton step on the state of a Step, and its solution by conjugate gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from turgor.kernel.launch import Launcher
from turgor.model import topology
from turgor.model.model import Model
from turgor.solvers.implicit import bending, coarse, conjugate, membrane, search, system, whole
from turgor.solvers.implicit.glue import GluedBodies

__all__ = ["LinearSystem"]

FloatArray = npt.NDArray[np.float64]

PIECES, POINTS = 64, 8  # pieces of a body at most (a dense matrix of 384 rows in 3D), points of a piece at least
TRIMS = 8  # of the length of a step at most
ROUND_OFF = 1e-6  # of the diagonal of the coarse matrix


class LinearSystem:
    """A d = residual, for all worlds; what is computed of it stays on the device."""

    def __init__(self, model: Model, launch: Launcher, press: Callable[[], None]) -> None:
        """press: finds `contact_force` and `load` at `trial_v`; launch: also knows the motion of bodies."""
        n, device = model.numbers, model.device
        count, bodies, worlds = model.vertices * model.worlds, len(model.parts) * model.worlds, model.worlds
        self.press = press
        self.model, self.count, self.bodies, self.worlds = model, count, bodies, worlds
        self.chunks, self.block = model.chunks, model.block_size
        self.k_system, self.k_cg, self.k_coarse = system.kernels(n), conjugate.kernels(n), coarse.kernels(n)
        self.k_search, self.k_whole = search.kernels(n), whole.kernels(n)

        def vectors() -> Any:
            return wp.zeros(count, dtype=n.vec, device=device)

        def blocks() -> Any:
            return wp.zeros(count, dtype=self.k_system.block, device=device)

        def reals(size: int) -> Any:
            return wp.zeros(size, dtype=n.real, device=device)

        def ints(size: int) -> Any:
            return wp.zeros(size, dtype=wp.int32, device=device)

        self.at_x, self.faces_at, self.contact_force = vectors(), vectors(), vectors()
        self.trial_v, self.smooth, self.residual_before, self.first_residual = (vectors() for _ in range(4))
        self.residual, self.solution, self.direction = vectors(), vectors(), vectors()
        self.product, self.preconditioned, self.coarse = vectors(), vectors(), vectors()
        self.load, self.diagonal, self.inverse_diagonal, self.yielding = (blocks() for _ in range(4))
        self.k_bending = bending.kernels(n)
        corners, hinges = self.k_bending.corners, len(model.hinges)
        self.hinge_gradient = wp.zeros(corners * hinges, dtype=n.vec, device=device)
        self.hinge_opening = reals(hinges)
        self.corner_start, self.point_corners = ints(0), ints(0)
        if hinges:
            starts, members = topology.compressed_rows(
                model.hinges_host.ravel(), np.arange(model.hinges_host.size, dtype=np.int32), model.vertices
            )
            self.corner_start = model.ends(np.diff(starts))
            self.point_corners = model.repeated(members, wp.int32, model.hinges_host.size)
        self.k_membrane = membrane.kernels(n)
        faces = len(model.faces) if model.has_membranes else 0
        self.face_tangent = wp.zeros(faces, dtype=self.k_membrane.Tangent, device=device)
        self.face_answer = wp.zeros(2 * faces, dtype=n.vec, device=device)
        springs = len(model.neighbours)
        self.spring_along, self.spring_across = wp.zeros(springs, dtype=n.vec, device=device), reals(springs)
        self.turned = wp.zeros(bodies, dtype=self.k_system.block, device=device)  # axes of a body since `renew`
        self.gas_stiffness, self.flux = reals(bodies), reals(bodies)
        self.chunk_sums, self.chunk_mixed = reals(model.chunks), reals(model.chunks)
        self.step, self.inertia = reals(bodies), reals(bodies)  # s, 1/s
        self.first_error, self.error, self.alpha, self.beta = (reals(worlds) for _ in range(4))
        self.scale, self.noise = (
            reals(worlds),
            reals(worlds),
        )  # with which the residual is compared; what rounding makes
        self.going, self.iterations, self.any_going = ints(worlds), ints(worlds), ints(1)
        self.active, self.rounds, self.all_iterations = ints(worlds), ints(worlds), ints(worlds)
        self.chunk_whole = wp.zeros(model.chunks, dtype=self.k_whole.sums_type, device=device)
        self.body_motion = wp.zeros(bodies, dtype=self.k_whole.motion, device=device)
        self.world_bend = reals(worlds)  # what contacts between bodies add to the curvature along a direction
        self.bend: Callable[[], None] = lambda: None
        self.glue: GluedBodies | None = None  # rigid bodies among the unknowns
        self.first_power, self.gone = reals(worlds), reals(worlds)
        self.interval = wp.zeros(worlds, dtype=wp.vec4d, device=device)
        self.trims, self.too_long = ints(worlds), ints(1)
        self.stirred = ints(worlds)  # whether trial velocities have changed since walls and contacts pressed last
        self.world_chunks = model.int_array(np.arange(worlds + 1) * (model.chunks // worlds))
        pinned = np.zeros(len(model.parts), bool)
        np.logical_or.at(pinned, model.body_host, model.inverse_mass.numpy()[: model.vertices] <= 0.0)
        self.free = model.repeated(~pinned, wp.int32)  # whether nothing of a body is pinned
        self._pieces(model)
        self.launch = launch.extended(self)

    def _pieces(self, model: Model) -> None:
        """Pieces of each body, and room for their matrices."""
        n, modes, lanes = model.numbers, self.k_coarse.modes, coarse.LANES
        labels = [
            coarse.pieces(body.shape.vertices[part.order], min(PIECES, -(-len(part.order) // POINTS)))
            for body, part in zip(model.bodies, model.parts, strict=True)
        ]
        counts = np.array([int(label.max(initial=-1)) + 1 for label in labels], int)
        firsts = np.cumsum([0, *counts])
        owner = np.concatenate([label + first for label, first in zip(labels, firsts, strict=False)])
        order = np.argsort(owner, kind="stable").astype(np.int32)
        self.piece = model.repeated(np.concatenate(labels), wp.int32)
        self.piece_start = model.ends(np.bincount(owner, minlength=int(firsts[-1])))
        self.piece_points = model.repeated(order, wp.int32, model.vertices)
        self.piece_count = int(firsts[-1]) * model.worlds
        # rows of a body are padded to whole lanes on the right side, and in the matrix
        self.sizes = np.tile(modes * counts, model.worlds)
        self.widths = -(-self.sizes // lanes)
        self.row_starts = np.cumsum([0, *self.sizes])
        right_starts = np.cumsum([0, *self.widths])
        self.lane_starts = np.cumsum([0, *(self.sizes * self.widths)])
        rows = np.repeat(np.arange(len(self.sizes)), self.sizes)
        within = np.arange(len(rows)) - self.row_starts[rows]
        self.rows = len(rows)
        self.row_start = model.int_array(self.row_starts)
        self.row_width = model.int_array(self.widths[rows])
        self.row_right = model.int_array(right_starts[rows])
        self.row_lanes = model.int_array(self.lane_starts[rows] + within * self.widths[rows])
        per_body = np.tile(counts, model.worlds)
        owners = np.repeat(np.arange(len(per_body)), per_body)
        number = np.arange(len(owners)) - np.cumsum([0, *per_body])[owners]
        self.piece_row = model.int_array(lanes * right_starts[owners] + modes * number)
        self.matrix_start = model.int_array(np.cumsum([0, *self.sizes**2])[:-1])
        self.matrix_size = model.int_array(self.sizes)
        device, kind = model.device, coarse.lanes_of(n)
        self.coarse_matrix = wp.zeros(int((self.sizes**2).sum()), dtype=wp.float64, device=device)
        self.coarse_inverse = wp.zeros(int(self.lane_starts[-1]), dtype=kind, device=device)
        self.right_lanes = wp.zeros(int(right_starts[-1]), dtype=kind, device=device)
        width = int(right_starts[-1]) * lanes
        self.coarse_right = wp.array(ptr=self.right_lanes.ptr, dtype=n.real, shape=(width,), device=device)
        self.coarse_left = wp.zeros(self.rows, dtype=n.real, device=device)
        self.arm = wp.zeros(self.count, dtype=n.vec, device=device)

    def renew(self) -> None:
        """The inverse of the coarse matrix, on the host. After `prepare`."""
        lanes = coarse.LANES
        self.place_pieces()
        self.coarse_matrix.zero_()
        self.launch(self.k_coarse.assemble, self.count)
        for array in (self.yielding, self.turned):
            array.fill_(np.eye(self.model.numbers.dim))
        self.launch(self.k_coarse.restrict, self.piece_count, fine=self.faces_at)
        matrices, fluxes = self.coarse_matrix.numpy(), self.coarse_right.numpy().reshape(-1, lanes)
        gas = self.step.numpy().astype(np.float64) * self.gas_stiffness.numpy().astype(np.float64)
        inverse = np.zeros((int(self.lane_starts[-1]), lanes), self.model.numbers.dtype)
        begin = right = 0
        free, centres = self.free.numpy(), self._piece_centres()
        for number, size in enumerate(self.sizes):
            width = self.widths[number]
            a = fluxes[right : right + width].ravel()[:size].astype(np.float64)
            matrix = matrices[begin : begin + size * size].reshape(size, size) + gas[number] * np.outer(a, a)
            diagonal = np.diag(matrix)
            moves = diagonal > 1e-12 * diagonal.max(initial=0.0)  # a piece of pinned points has no rows
            scale = np.where(moves, 1.0 / np.sqrt(np.where(moves, diagonal, 1.0)), 0.0)
            scaled = 0.5 * (matrix + matrix.T) * np.outer(scale, scale)
            scaled[np.diag_indices(size)] += np.where(moves, ROUND_OFF, 1.0)
            found = np.linalg.inv(scaled) * np.outer(scale, scale)
            if free[number]:  # the motion of the whole is left to `whole.py`
                motions = self._motions(number, centres)
                held = np.divide(motions, scale[:, None], out=np.zeros_like(motions), where=moves[:, None])
                found -= motions @ _solved(held.T @ scaled @ held, motions.T)
            padded = np.zeros((size, width * lanes))
            padded[:, :size] = found
            inverse[self.lane_starts[number] : self.lane_starts[number + 1]] = padded.reshape(-1, lanes)
            begin += size * size
            right += width
        self.coarse_inverse.assign(inverse)

    def _piece_centres(self) -> FloatArray:
        """(pieces, dim) m."""
        x, points = self.at_x.numpy().astype(np.float64), self.piece_points.numpy()
        starts = self.piece_start.numpy()
        sums: FloatArray = np.add.reduceat(x[points], starts[:-1], axis=0)
        return np.asarray(sums / np.diff(starts)[:, None])

    def _motions(self, number: int, centres: FloatArray) -> FloatArray:
        """(rows, modes) the rigid motions of a body, as motions of its pieces."""
        modes, dim = self.k_coarse.modes, self.model.numbers.dim
        first = int(self.row_starts[number]) // modes
        arms = centres[first : first + int(self.sizes[number]) // modes]
        arms = arms - arms.mean(axis=0)
        out = np.zeros((len(arms), modes, modes))
        out[:, range(modes), range(modes)] = 1.0
        if dim == 2:
            out[:, 0, 2], out[:, 1, 2] = -arms[:, 1], arms[:, 0]
        else:
            for k in range(3):
                out[:, :3, 3 + k] = np.cross(np.eye(3)[k], arms)
        return out.reshape(-1, modes)

    def place_pieces(self) -> None:
        """Where points are in their pieces, at `at_x`."""
        self.launch(self.k_coarse.find_arms, self.piece_count)

    def prepare(self) -> None:
        """The matrix at `at_x`, with volumes and pressures as they were evaluated there."""
        self.launch(self.k_system.find_gas_stiffness, self.bodies)
        if len(self.hinge_opening):
            self.launch(self.k_bending.find_hinges, len(self.hinge_opening))
        if len(self.face_tangent):
            self.launch(self.k_membrane.find_tangents, len(self.face_tangent))
        self.launch(self.k_system.find_diagonal, self.count)
        if self.glue is not None:
            self.glue.prepare()

    def solve(self, tolerance: float, enough: float, most: int) -> None:
        """From the residual at the present velocities; a device-side loop."""
        given = {"tolerance": tolerance, "enough": enough, "most": most}
        self.launch(self.k_system.find_residual, self.count)  # with the diagonal of this matrix
        self.launch(self.k_cg.begin, self.count)
        self.launch(self.k_cg.begin_worlds, self.worlds)
        if self.glue is not None:
            self.glue.begin_solve()
        self.precondition(given)
        wp.capture_while(self.any_going, lambda: self.iterate(given))

    def precondition(self, given: dict[str, Any]) -> None:
        """z from r; who goes on, and in which direction."""
        self.any_going.zero_()
        self.launch(self.k_coarse.restrict, self.piece_count, fine=self.residual)
        self.launch.blocks(self.k_coarse.solve, self.rows, min(self.block, 64))
        self.launch(self.k_coarse.prolong, self.count)
        self.launch.blocks(self.k_whole.sum_whole, self.chunks, self.block)
        self.launch(self.k_whole.solve_whole, self.bodies)
        self.launch.blocks(self.k_cg.precondition, self.chunks, self.block)
        if self.glue is not None:
            self.glue.precondition()
        self.launch(self.k_cg.find_turn, self.worlds, **given)
        self.launch.blocks(self.k_cg.turn, self.chunks, self.block)
        if self.glue is not None:
            self.glue.turn()
        self.launch(self.k_cg.sum_flux, self.bodies)

    def iterate(self, given: dict[str, Any]) -> None:
        """One step along the direction."""
        if len(self.hinge_opening):
            self.launch(self.k_bending.open_hinges, len(self.hinge_opening))
        if len(self.face_tangent):
            self.launch(self.k_membrane.stretch_faces, len(self.face_tangent))
        self.launch.blocks(self.k_system.multiply, self.chunks, self.block)
        if self.glue is not None:
            self.glue.multiply()
        self.bend()
        self.launch(self.k_cg.find_length, self.worlds)
        wp.copy(self.residual_before, self.residual)
        self.advance()
        wp.capture_while(self.too_long, self.advance)
        self.precondition(given)

    def advance(self) -> None:
        """Along the direction; whether that was too far, for contact that is met on the way."""
        self.launch(self.k_cg.advance, self.count)
        if self.glue is not None:
            self.glue.advance()
        self.find_residual()
        self.launch.blocks(self.k_search.sum_work, self.chunks, self.block, way=self.direction)
        if self.glue is not None:
            self.glue.sum_work(self.glue.glue_residual, self.glue.glue_direction)
        self.too_long.zero_()
        self.launch(
            self.k_search.judge, self.worlds, most_cuts=TRIMS,
            first_work=self.first_power, length=self.gone, interval=self.interval, change=self.alpha, cuts=self.trims,
            too_far=self.too_long,
        )  # fmt: skip

    def find_residual(self) -> None:
        """With the forces of contact where the solution leads."""
        self.press()
        self.launch(self.k_system.find_residual, self.count)
        if self.glue is not None:
            self.glue.find_residual()


def _solved(matrix: FloatArray, right: FloatArray) -> FloatArray:
    """Matrix \\ right. What has hardly a mass beside its gas has only round-off there: then the least solution."""
    try:
        return np.asarray(np.linalg.solve(matrix, right))
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.pinv(matrix, hermitian=True) @ right)
