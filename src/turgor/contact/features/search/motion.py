"""How far bodies move in a substep: their mean displacement, and the largest of a point relative to it."""

import functools
from types import SimpleNamespace
from typing import Any, no_type_check

import warp as wp

from turgor.contact.features.launch import FeatureLauncher
from turgor.kernel import native
from turgor.kernel.blocks import block_max, block_sum
from turgor.kernel.numbers import Numbers, at
from turgor.model.model import Model
from turgor.model.surfaces import Surfaces

__all__ = ["BodyMotion", "kernels"]

SAMPLES = 256  # points of which the mean displacement is taken


class BodyMotion:
    """Of each contact body, in this substep."""

    def __init__(self, model: Model, surfaces: Surfaces, launch: FeatureLauncher) -> None:
        self.kernels, self.bodies = kernels(model.numbers), surfaces.bodies * model.worlds
        self.chunks, self.block, self.rigid = model.chunks, model.small_block, model.rigids.total
        starts = model.chunk_start.numpy()[: self.chunks]
        self.run_body = wp.array(surfaces.point_body.numpy()[starts], dtype=wp.int32, device=model.device)
        self.body_move = launch.zeros(self.bodies, model.numbers.vec)  # m
        self.body_spread = launch.zeros(self.bodies, model.numbers.real)  # m
        self.launch, self.soft = launch.extended(self), surfaces.first_rigid
        # whether each body is soft, and measured by one block of a GPU
        self.whole = launch.parallel and not self.rigid and self.chunks == self.bodies

    def measure(self, load: Any) -> None:
        """From the displacements that forces and impulses ask for.

        load: contacts per soft point, then per rigid body, of which there are none now; on a GPU it is cleared along.
        """
        if not self.whole:
            self.body_spread.zero_()
        if self.soft < len(load) or not self.launch.parallel:
            load.zero_()
        if self.chunks:
            self.launch.split_blocks(
                self.kernels.measure_soft, self.chunks, self.block, load=load, whole=int(self.whole),
                clears=int(self.launch.parallel),
            )  # fmt: skip
        if self.rigid:
            self.launch(self.kernels.measure_rigid, self.bodies)


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """measure_soft, measure_rigid, and the function approach."""
    real, vec, spin_type, dim = n.real, n.vec, n.spin, n.dim
    lift = native.kernels(n).lift

    if dim == 2:

        @wp.func
        def spin_speed(spin: spin_type) -> real:
            return wp.abs(spin)

    else:

        @wp.func
        def spin_speed(spin: spin_type) -> real:
            return wp.length(spin)

    @n.kernel(__name__)
    def measure_soft(
        soft_chunk_start: wp.array(dtype=int),
        run_body: wp.array(dtype=int),
        point_start: wp.array(dtype=int),
        point_end: wp.array(dtype=int),
        left_alone: wp.array(dtype=int),
        move: wp.array(dtype=vec),  # of the soft points in this substep
        body_move_out: wp.array(dtype=vec),
        body_spread_out: wp.array(dtype=real),
        load: wp.array(dtype=int),
        whole: int,  # whether a block has a whole body
        clears: int,
        start_index: int,
    ):
        """Of a run of points of a soft body per block, which is the whole body on the CPU.

        The mean is that of a sample of a large body's points: the largest movement is relative to it, whatever it is.
        """
        chunk, lane = wp.tid()
        chunk += start_index
        c = at(run_body[chunk])
        if clears != 0:
            for i in range(soft_chunk_start[chunk] + lane, soft_chunk_start[chunk + 1], wp.block_dim()):
                load[at(i)] = 0
        if left_alone[c] != 0:
            if lane == 0:
                body_move_out[c] = vec()
                if whole != 0:
                    body_spread_out[c] = real(0.0)
            return
        count = point_end[c] - point_start[c]
        step = (count + SAMPLES - 1) // SAMPLES
        total = vec()
        for i in range(point_start[c] + lane * step, point_end[c], wp.block_dim() * step):
            total += move[at(i)]
        summed = block_sum(total)
        mean = summed / real((count + step - 1) // step)
        most = real(0.0)
        for i in range(soft_chunk_start[chunk] + lane, soft_chunk_start[chunk + 1], wp.block_dim()):
            d = move[at(i)] - mean
            most = wp.max(most, wp.dot(d, d))
        largest = block_max(most)
        if lane == 0:
            body_move_out[c] = mean
            if whole != 0:
                body_spread_out[c] = wp.where(
                    largest > real(0.0), wp.sqrt(largest), real(0.0)
                )  # not if it is no number
            else:
                lift(body_spread_out, c, wp.sqrt(largest))

    @n.kernel(__name__)
    def measure_rigid(
        rigid_index: wp.array(dtype=int),
        dt: wp.array(dtype=real),
        rigid_v: wp.array(dtype=vec),
        rigid_spin: wp.array(dtype=spin_type),
        rigid_size: wp.array(dtype=real),
        rigid_push_move: wp.array(dtype=vec),
        rigid_push_turn: wp.array(dtype=spin_type),
        body_move_out: wp.array(dtype=vec),
        body_spread_out: wp.array(dtype=real),
    ):
        """Of rigid bodies."""
        c = wp.tid()
        r = rigid_index[c]
        if r >= 0:
            body_move_out[c] = dt[0] * rigid_v[r] + rigid_push_move[r]
            turn = dt[0] * spin_speed(rigid_spin[r]) + spin_speed(rigid_push_turn[r])
            body_spread_out[c] = turn * rigid_size[r]

    @wp.func
    def approach(body_move: wp.array(dtype=vec), body_spread: wp.array(dtype=real), a: int, b: int) -> real:
        """How much closer features of two bodies can come in this substep."""
        if a == b:
            return real(2.0) * body_spread[a]
        return wp.length(body_move[a] - body_move[b]) + body_spread[a] + body_spread[b]

    return SimpleNamespace(measure_soft=measure_soft, measure_rigid=measure_rigid, approach=approach)
