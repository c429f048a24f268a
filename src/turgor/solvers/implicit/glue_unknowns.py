"""Rigid bodies among the unknowns of conjugate gradients: their part of the stages of `conjugate.py` and `search.py`.

Inner products are per world: those of its rigid bodies are added to its first chunk of points.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.kernel.numbers import Numbers
from turgor.solvers.implicit import glue_forces

__all__ = ["kernels"]


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """Each after the kernel of the same name for points."""
    real = n.real
    force = glue_forces.kernels(n)
    motion, square, inertia = force.motion, force.square, force.inertia
    unknown, mass_matrix, solved = force.unknown, force.mass_matrix, force.solved

    @n.kernel(__name__)
    def add_inertia(
        glue_on: wp.array(dtype=int),
        rigid_inverse_mass: wp.array(dtype=real),
        rigid_world_inertia: wp.array(dtype=inertia),
        inertia: wp.array(dtype=real),
        glue_block: wp.array(dtype=square),
    ):
        """c M to each block."""
        r = wp.tid()
        if unknown(glue_on[r], rigid_inverse_mass[r]):
            glue_block[r] = glue_block[r] + mass_matrix(rigid_inverse_mass[r], rigid_world_inertia[r], inertia[0])

    @n.kernel(__name__)
    def precondition(
        world_rigids: int,
        world_chunks: wp.array(dtype=int),
        glue_on: wp.array(dtype=int),
        rigid_inverse_mass: wp.array(dtype=real),
        glue_block: wp.array(dtype=square),
        glue_load: wp.array(dtype=square),
        glue_residual: wp.array(dtype=motion),
        glue_residual_before: wp.array(dtype=motion),
        glue_z: wp.array(dtype=motion),
        chunk_sums: wp.array(dtype=real),
        chunk_mixed: wp.array(dtype=real),
    ):
        """z = (block + load)⁻¹ r."""
        w = wp.tid()
        total = wp.float64(0.0)
        mixed = wp.float64(0.0)
        for r in range(w * world_rigids, (w + 1) * world_rigids):
            z = motion()
            if unknown(glue_on[r], rigid_inverse_mass[r]):
                z = solved(glue_block[r] + glue_load[r], glue_residual[r])
                total += wp.dot(glue_residual[r], z)
                mixed += wp.dot(glue_residual_before[r], z)
            glue_z[r] = z
        first = world_chunks[w]
        chunk_sums[first] = chunk_sums[first] + real(total)
        chunk_mixed[first] = chunk_mixed[first] + real(mixed)

    @n.kernel(__name__)
    def turn(
        world_rigids: int,
        world_chunks: wp.array(dtype=int),
        beta: wp.array(dtype=real),
        glue_z: wp.array(dtype=motion),
        glue_residual: wp.array(dtype=motion),
        glue_direction: wp.array(dtype=motion),
        chunk_mixed: wp.array(dtype=real),
    ):
        """As `conjugate.turn`."""
        w = wp.tid()
        work = wp.float64(0.0)
        for r in range(w * world_rigids, (w + 1) * world_rigids):
            d = glue_z[r]
            if beta[w] != real(0.0):
                d += wp.float64(beta[w]) * glue_direction[r]
            glue_direction[r] = d
            work += wp.dot(d, glue_residual[r])
        chunk_mixed[world_chunks[w]] = chunk_mixed[world_chunks[w]] + real(work)

    @n.kernel(__name__)
    def add_product(
        world_rigids: int,
        world_chunks: wp.array(dtype=int),
        glue_on: wp.array(dtype=int),
        rigid_inverse_mass: wp.array(dtype=real),
        rigid_world_inertia: wp.array(dtype=inertia),
        inertia: wp.array(dtype=real),
        glue_direction: wp.array(dtype=motion),
        glue_load: wp.array(dtype=square),
        glue_product: wp.array(dtype=motion),
        chunk_sums: wp.array(dtype=real),
    ):
        """Inertia beside the points; loads count in the curvature alone, as those of free points."""
        w = wp.tid()
        total = wp.float64(0.0)
        for r in range(w * world_rigids, (w + 1) * world_rigids):
            if unknown(glue_on[r], rigid_inverse_mass[r]):
                d = glue_direction[r]
                out = glue_product[r] + mass_matrix(rigid_inverse_mass[r], rigid_world_inertia[r], inertia[0]) * d
                glue_product[r] = out
                total += wp.dot(d, out + glue_load[r] * d)
        chunk_sums[world_chunks[w]] = chunk_sums[world_chunks[w]] + real(total)

    @n.kernel(__name__)
    def advance(
        world_rigids: int,
        alpha: wp.array(dtype=real),
        glue_v: wp.array(dtype=motion),
        glue_direction: wp.array(dtype=motion),
        glue_product: wp.array(dtype=motion),
        glue_solution: wp.array(dtype=motion),
        glue_trial: wp.array(dtype=motion),
        glue_smooth: wp.array(dtype=motion),
    ):
        """As `conjugate.advance`."""
        w = wp.tid()
        along = wp.float64(alpha[w])
        if alpha[w] != real(0.0):
            for r in range(w * world_rigids, (w + 1) * world_rigids):
                glue_solution[r] = glue_solution[r] + along * glue_direction[r]
                glue_smooth[r] = glue_smooth[r] - along * glue_product[r]
                glue_trial[r] = glue_v[r] + glue_solution[r]

    @n.kernel(__name__)
    def find_residual(
        glue_on: wp.array(dtype=int),
        rigid_inverse_mass: wp.array(dtype=real),
        glue_smooth: wp.array(dtype=motion),
        glue_contact: wp.array(dtype=motion),
        glue_residual: wp.array(dtype=motion),
    ):
        """What is left of all forces."""
        r = wp.tid()
        left = motion()
        if unknown(glue_on[r], rigid_inverse_mass[r]):
            left = glue_smooth[r] + glue_contact[r]
        glue_residual[r] = left

    @n.kernel(__name__)
    def sum_work(
        world_rigids: int,
        world_chunks: wp.array(dtype=int),
        residual: wp.array(dtype=motion),
        way: wp.array(dtype=motion),
        chunk_sums: wp.array(dtype=real),
    ):
        """As `search.sum_work`."""
        w = wp.tid()
        total = wp.float64(0.0)
        for r in range(w * world_rigids, (w + 1) * world_rigids):
            total += wp.dot(residual[r], way[r])
        chunk_sums[world_chunks[w]] = chunk_sums[world_chunks[w]] + real(total)

    return SimpleNamespace(
        add_inertia=add_inertia, precondition=precondition, turn=turn, add_product=add_product, advance=advance,
        find_residual=find_residual, sum_work=sum_work,
    )  # fmt: skip
