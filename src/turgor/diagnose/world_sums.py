"""What the energy of a world is summed from, summed where the vertices are.

As in `bodies.py`: a look at thousands of worlds on a GPU brings a few numbers per block of vertices to the host, in
double precision and in a fixed order.
"""

import functools
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple, no_type_check

import numpy as np
import numpy.typing as npt
import warp as wp

from turgor.kernel.blocks import block_sum
from turgor.kernel.launch import Launcher
from turgor.kernel.numbers import Numbers, at

if TYPE_CHECKING:
    from turgor.model.model import Model
    from turgor.model.state import State

__all__ = ["WorldSums", "sum_worlds"]

FloatArray = npt.NDArray[np.float64]
NUMBERS = 12  # of a chunk, below


class WorldSums(NamedTuple):
    """Of the soft bodies and cloths of each world. Vertices that are glued count where it is said only."""

    mass: FloatArray  # (worlds,) kg
    moment: FloatArray  # (worlds, dim) kg m: sum of m x, from the model's anchor
    kinetic: FloatArray  # (worlds,) J: of ½ m v²
    springs: FloatArray  # (worlds,) J: of ½ k (l - rest)²
    power: FloatArray  # (worlds,) W: of f·v, the glued ones too
    glued: FloatArray  # (worlds, dim) kg m/s: of m v of the glued ones, whose mass is part of a rigid body's
    taken: FloatArray  # (worlds,) W: by dashpots and drag, and by wind where it brakes, the glued ones too
    given: FloatArray  # (worlds,) W: by wind where it pushes, likewise


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """sum_chunks."""
    real, vec, wide, dim = n.real, n.vec, n.wide, n.dim
    quarter, half, zero = (wp.constant(wp.float64(value)) for value in (0.25, 0.5, 0.0))

    @n.kernel(__name__)
    def sum_chunks(
        chunk_body: wp.array(dtype=int),
        chunk_start: wp.array(dtype=int),
        x: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        mass: wp.array(dtype=real),
        glued: wp.array(dtype=int),
        neighbour_start: wp.array(dtype=int),
        neighbours: wp.array(dtype=int),
        neighbour_rest: wp.array(dtype=real),
        stiffness: wp.array(dtype=real),
        force: wp.array(dtype=vec),
        lost_force: wp.array(dtype=vec),
        wind_force: wp.array(dtype=vec),
        sums_out: wp.array2d(dtype=wp.float64),
    ):
        """A block of threads per chunk of vertices; each spring counts half at both ends."""
        chunk, lane = wp.tid()
        moment = wp.vec3d()
        carried = wp.vec3d()
        scalars = wp.vec3d()  # mass, kinetic energy, energy of springs
        powers = wp.vec3d()  # of all forces, taken, given
        k = quarter * wp.float64(stiffness[chunk_body[chunk]])
        for q in range(chunk_start[chunk] + lane, chunk_start[chunk + 1], wp.block_dim()):
            i = at(q)
            here = wide(x[i])
            speed = wide(v[i])
            m = wp.float64(mass[i])
            hangs = False
            if glued.shape[0] > 0:
                hangs = glued[i] != 0
            if hangs:
                for axis in range(dim):
                    carried[axis] = carried[axis] + m * speed[axis]
            else:
                for axis in range(dim):
                    moment[axis] = moment[axis] + m * here[axis]
                scalars += wp.vec3d(m, half * m * wp.length_sq(speed), zero)
            stretched = zero
            for s in range(neighbour_start[i], neighbour_start[i + 1]):
                longer = wp.length(wide(x[at(neighbours[at(s)])]) - here) - wp.float64(neighbour_rest[at(s)])
                stretched += longer * longer
            scalars[2] = scalars[2] + k * stretched
            if force.shape[0] > 0:
                powers[0] = powers[0] + wp.dot(wide(force[i]), speed)
            if lost_force.shape[0] > 0:
                blown = wp.dot(wide(wind_force[i]), speed)
                powers[1] = powers[1] - wp.dot(wide(lost_force[i]), speed) - wp.min(blown, zero)
                powers[2] = powers[2] + wp.max(blown, zero)
        moment = block_sum(moment)
        carried = block_sum(carried)
        scalars = block_sum(scalars)
        powers = block_sum(powers)
        if lane == 0:
            for axis in range(3):
                sums_out[chunk, axis] = moment[axis]
                sums_out[chunk, 3 + axis] = carried[axis]
                sums_out[chunk, 6 + axis] = scalars[axis]
                sums_out[chunk, 9 + axis] = powers[axis]

    return SimpleNamespace(sum_chunks=sum_chunks)


def sum_worlds(model: "Model", state: "State", force: Any, lost_force: Any, wind_force: Any) -> WorldSums:
    """At the present state, with these forces (vertices of all worlds, N; of what is left out: empty)."""
    found = wp.empty((model.chunks, NUMBERS), dtype=wp.float64, device=model.device)
    if model.chunks:
        Launcher(model.device, state, model).blocks(
            kernels(model.numbers).sum_chunks, model.chunks, model.block_size, force=force, lost_force=lost_force,
            wind_force=wind_force, sums_out=found,
        )  # fmt: skip
    rows = found.numpy().reshape(model.worlds, -1, NUMBERS).sum(axis=1)
    dim = model.numbers.dim
    mass, kinetic, springs, power, taken, given = rows[:, 6:].T
    return WorldSums(mass, rows[:, :dim], kinetic, springs, power, rows[:, 3 : 3 + dim], taken, given)
