"""Mass, momentum, centre and height of a body, summed where the vertices are.

A look at thousands of worlds on a GPU brings a few numbers per block of vertices to the host, not all vertices. Sums
are in double precision and in a fixed order.
"""

import functools
from types import SimpleNamespace
from typing import TYPE_CHECKING, NamedTuple, no_type_check

import numpy as np
import numpy.typing as npt
import warp as wp

from turgor.kernel.blocks import block_max, block_min, block_sum
from turgor.kernel.launch import Launcher
from turgor.kernel.numbers import Numbers, at

if TYPE_CHECKING:
    from turgor.model.model import Model
    from turgor.model.state import State

__all__ = ["BodySums", "sum_body"]

FloatArray = npt.NDArray[np.float64]


class BodySums(NamedTuple):
    """Of one body in all worlds; places are relative to the model's anchor."""

    mass: FloatArray  # (worlds,) kg
    moment: FloatArray  # (worlds, dim) kg m: sum of m x
    momentum: FloatArray  # (worlds, dim) kg m/s
    lowest: FloatArray  # (worlds,) m, along the last axis
    highest: FloatArray  # (worlds,) m


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """sum_body."""
    real, vec, dim = n.real, n.vec, n.dim
    last = wp.constant(dim - 1)
    huge = wp.constant(wp.float64(1.0e300))

    @n.kernel(__name__)
    def sum_body(
        x: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        mass: wp.array(dtype=real),
        chunk_start: wp.array(dtype=int),
        first: int,  # chunk of the body in a world
        count: int,  # chunks of the body
        per_world: int,  # chunks
        sums_out: wp.array2d(dtype=wp.float64),  # mass, moment (3), momentum (3), lowest, highest
    ):
        """A block of threads per chunk of vertices of the body, in all worlds."""
        block, lane = wp.tid()
        chunk = at((block // count) * per_world + first + block % count)
        heavy = wp.float64(0.0)
        moment = wp.vec3d()
        momentum = wp.vec3d()
        low = huge
        high = -huge
        for p in range(chunk_start[chunk] + lane, chunk_start[chunk + 1], wp.block_dim()):
            i = at(p)
            m = wp.float64(mass[i])
            heavy += m
            for axis in range(dim):
                moment[axis] = moment[axis] + m * wp.float64(x[i][axis])
                momentum[axis] = momentum[axis] + m * wp.float64(v[i][axis])
            low = wp.min(low, wp.float64(x[i][last]))
            high = wp.max(high, wp.float64(x[i][last]))
        heavy = block_sum(heavy)
        moment = block_sum(moment)
        momentum = block_sum(momentum)
        low = block_min(low)
        high = block_max(high)
        if lane == 0:
            sums_out[block, 0] = heavy
            for axis in range(3):
                sums_out[block, 1 + axis] = moment[axis]
                sums_out[block, 4 + axis] = momentum[axis]
            sums_out[block, 7] = low
            sums_out[block, 8] = high

    return SimpleNamespace(sum_body=sum_body)


def sum_body(model: "Model", state: "State", body: int) -> BodySums:
    """At the present state."""
    chunks = model.body_chunks[body]
    found = wp.empty((model.worlds * len(chunks), 9), dtype=wp.float64, device=model.device)
    Launcher(model.device, state, model).blocks(
        kernels(model.numbers).sum_body, len(found), model.block_size, first=chunks.start, count=len(chunks),
        per_world=model.chunks // model.worlds, sums_out=found,
    )  # fmt: skip
    rows, dim = found.numpy().reshape(model.worlds, len(chunks), 9), model.numbers.dim
    sums = rows.sum(axis=1)
    return BodySums(
        sums[:, 0], sums[:, 1 : 1 + dim], sums[:, 4 : 4 + dim], rows[..., 7].min(axis=1), rows[..., 8].max(axis=1)
    )
