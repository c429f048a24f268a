"""Conjugate gradients with a preconditioner, each world by itself: its sums are its own, and it stops by itself.

Shewchuk 1994, B3 and B5. Forces of contact change their slope from point to point, so this is the nonlinear kind (Polak
and Ribiere): linear forces by products, those of contact as they are where the solution leads. A world is done when the
residual, measured by the preconditioner, r·z, is below a share of what it was at the start; then it keeps its solution
while others go on.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.kernel.blocks import block_sum
from turgor.kernel.numbers import Numbers, at
from turgor.solvers.implicit import system, whole

__all__ = ["kernels"]


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """begin, then rounds of (flux, multiply,) find_length, advance, find_turn, turn."""
    real, vec, wide = n.real, n.vec, n.wide
    block = system.kernels(n).block
    motion, move_of = whole.kernels(n).motion, whole.kernels(n).move_of

    @n.kernel(__name__)
    def begin(
        v: wp.array(dtype=vec),
        solution: wp.array(dtype=vec),
        trial_v: wp.array(dtype=vec),
        residual: wp.array(dtype=vec),
        first_residual: wp.array(dtype=vec),
        residual_before: wp.array(dtype=vec),
    ):
        """From zero."""
        i = at(wp.tid())
        first_residual[i] = residual[i]
        solution[i] = vec()
        trial_v[i] = v[i]
        residual_before[i] = vec()

    @n.kernel(__name__)
    def begin_worlds(
        active: wp.array(dtype=int),
        going: wp.array(dtype=int),
        any_going: wp.array(dtype=int),
        iterations: wp.array(dtype=int),
    ):
        """Worlds that are done stay as they are."""
        w = wp.tid()
        going[w] = active[w]
        iterations[w] = 0
        any_going[0] = 1

    @n.kernel(__name__)
    def precondition(
        chunk_body: wp.array(dtype=int),
        chunk_start: wp.array(dtype=int),
        x_from: wp.array(dtype=vec),
        inverse_mass: wp.array(dtype=real),
        body_centre: wp.array(dtype=wide),
        body_motion: wp.array(dtype=motion),
        residual: wp.array(dtype=vec),
        residual_before: wp.array(dtype=vec),
        inverse_diagonal: wp.array(dtype=block),
        yielding: wp.array(dtype=block),
        coarse: wp.array(dtype=vec),  # what the coarse space adds
        preconditioned: wp.array(dtype=vec),
        chunk_sums: wp.array(dtype=real),
        chunk_mixed: wp.array(dtype=real),
    ):
        """z = D⁻¹ r, the coarse space's part and that of the whole; per chunk r·z, also with the residual before."""
        chunk, lane = wp.tid()
        b = chunk_body[chunk]
        total = real(0.0)
        mixed = real(0.0)
        for q in range(chunk_start[chunk] + lane, chunk_start[chunk + 1], wp.block_dim()):
            i = at(q)
            z = yielding[i] * (inverse_diagonal[i] * residual[i] + coarse[i])
            if inverse_mass[i] > real(0.0):
                z += vec(move_of(body_motion[b], wide(x_from[i]) - body_centre[b]))
            preconditioned[i] = z
            total += wp.dot(residual[i], z)
            mixed += wp.dot(residual_before[i], z)
        summed = block_sum(total)
        also = block_sum(mixed)
        if lane == 0:
            chunk_sums[chunk] = summed
            chunk_mixed[chunk] = also

    @wp.func
    def sum_of(w: int, world_chunks: wp.array(dtype=int), chunk_sums: wp.array(dtype=real)) -> real:
        total = real(0.0)
        for c in range(world_chunks[w], world_chunks[w + 1]):
            total += chunk_sums[c]
        return total

    @n.kernel(__name__)
    def find_turn(
        world_chunks: wp.array(dtype=int),  # where the chunks of each world begin
        chunk_sums: wp.array(dtype=real),
        chunk_mixed: wp.array(dtype=real),
        tolerance: real,  # of this solution, as a share of the residual at its start
        enough: real,  # of the Newton rounds, as a share of `scale` or of the first residual of the step
        most: int,
        rounds: wp.array(dtype=int),
        scale: wp.array(dtype=real),
        noise: wp.array(dtype=real),
        active: wp.array(dtype=int),
        iterations: wp.array(dtype=int),
        all_iterations: wp.array(dtype=int),
        first_error: wp.array(dtype=real),
        error: wp.array(dtype=real),
        beta: wp.array(dtype=real),
        going: wp.array(dtype=int),
        any_going: wp.array(dtype=int),
    ):
        """How much of the last direction the next one keeps; whether a world is done."""
        w = wp.tid()
        if going[w] != 0:
            total = sum_of(w, world_chunks, chunk_sums)
            beta[w] = real(0.0)
            if iterations[w] == 0:
                first_error[w] = total
                if rounds[w] == 0:
                    scale[w] = wp.max(scale[w], real(1.0e-4) * total)
                if not (total > wp.max(enough * enough * scale[w], noise[w])):
                    active[w] = 0
            elif error[w] > real(0.0):
                beta[w] = wp.max((total - sum_of(w, world_chunks, chunk_mixed)) / error[w], real(0.0))
            error[w] = total
            least = wp.max(tolerance * tolerance * first_error[w], real(0.1) * enough * enough * scale[w])
            if not (total > least) or iterations[w] >= most or active[w] == 0:
                going[w] = 0
            else:
                iterations[w] = iterations[w] + 1
                all_iterations[w] = all_iterations[w] + 1
                any_going[0] = 1

    @n.kernel(__name__)
    def turn(
        chunk_body: wp.array(dtype=int),
        chunk_start: wp.array(dtype=int),
        world: wp.array(dtype=int),  # of each body
        preconditioned: wp.array(dtype=vec),
        residual: wp.array(dtype=vec),
        faces_at: wp.array(dtype=vec),
        beta: wp.array(dtype=real),
        direction: wp.array(dtype=vec),
        chunk_sums: wp.array(dtype=real),
        chunk_mixed: wp.array(dtype=real),
    ):
        """The next direction, and per chunk its flux through the faces, and the work of the residual along it."""
        chunk, lane = wp.tid()
        w = world[chunk_body[chunk]]
        total = real(0.0)
        work = real(0.0)
        for q in range(chunk_start[chunk] + lane, chunk_start[chunk + 1], wp.block_dim()):
            i = at(q)
            p = preconditioned[i]
            if beta[w] != real(0.0):
                p += beta[w] * direction[i]
            direction[i] = p
            total += wp.dot(p, faces_at[i])
            work += wp.dot(p, residual[i])
        summed = block_sum(total)
        also = block_sum(work)
        if lane == 0:
            chunk_sums[chunk] = summed
            chunk_mixed[chunk] = also

    @n.kernel(__name__)
    def sum_flux(
        chunk_first: wp.array(dtype=int), chunk_sums: wp.array(dtype=real), flux: wp.array(dtype=real)
    ):  # fmt: skip
        """Per body."""
        b = wp.tid()
        total = real(0.0)
        for c in range(chunk_first[b], chunk_first[b + 1]):
            total += chunk_sums[c]
        flux[b] = total

    @n.kernel(__name__)
    def find_length(
        world_chunks: wp.array(dtype=int),
        chunk_sums: wp.array(dtype=real),
        chunk_mixed: wp.array(dtype=real),
        world_bend: wp.array(dtype=real),
        error: wp.array(dtype=real),
        going: wp.array(dtype=int),
        first_power: wp.array(dtype=real),
        gone: wp.array(dtype=real),
        alpha: wp.array(dtype=real),
        trims: wp.array(dtype=int),
    ):
        """How far to go along the direction; zero for worlds that are done, and where it leads uphill."""
        w = wp.tid()
        alpha[w] = real(0.0)
        gone[w] = real(0.0)
        trims[w] = 0
        if going[w] != 0:
            total = sum_of(w, world_chunks, chunk_sums) + world_bend[w]
            work = sum_of(w, world_chunks, chunk_mixed)
            first_power[w] = work
            if total > real(0.0) and work > real(0.0):
                alpha[w] = work / total
            else:
                error[w] = real(0.0)  # begin again with the preconditioned residual

    @n.kernel(__name__)
    def advance(
        body: wp.array(dtype=int),
        world: wp.array(dtype=int),
        alpha: wp.array(dtype=real),
        v: wp.array(dtype=vec),
        direction: wp.array(dtype=vec),
        product: wp.array(dtype=vec),
        solution: wp.array(dtype=vec),
        trial_v: wp.array(dtype=vec),
        smooth: wp.array(dtype=vec),
        stirred: wp.array(dtype=int),
    ):
        """Solution, and the residual but for contact; whether this is a step of the world of a point."""
        i = at(wp.tid())
        w = world[at(body[i])]
        along = alpha[w]
        stirred[w] = wp.where(along != real(0.0), 1, 0)
        if along != real(0.0):
            solution[i] = solution[i] + along * direction[i]
            smooth[i] = smooth[i] - along * product[i]
            trial_v[i] = v[i] + solution[i]

    return SimpleNamespace(
        begin=begin, begin_worlds=begin_worlds, precondition=precondition, find_turn=find_turn, turn=turn,
        sum_flux=sum_flux, find_length=find_length, advance=advance,
    )  # fmt: skip
