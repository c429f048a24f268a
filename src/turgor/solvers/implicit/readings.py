"""Contact forces of implicit steps, for those who measure (`contact/readings.py`).

Contact is inside the solve, so it cannot be told from other forces by velocities before and after. Its forces are known
instead: those on each point where the solve ended. What walls do to a body is more exactly known than that. Forces
inside a body have no sum, so of its momentum

    Σ m (v1 - v0) - h Σ (forces but walls)

is the impulse of the walls, whatever iterations have left. It is shared out among the points in proportion to the
forces of the walls. Bodies that touch no wall owe nothing (`rigid_part.py`); pins take what they are owed.
"""

import functools
from types import SimpleNamespace
from typing import Any, no_type_check

import warp as wp

from turgor.kernel.blocks import block_sum
from turgor.kernel.numbers import Numbers, at

__all__ = ["SoftReadings", "kernels"]


class SoftReadings:
    """Adds the forces of a step to the sums of a frame."""

    def __init__(self, implicit: Any, readings: Any) -> None:
        model = implicit.model
        self.model, self.count, self.readings = model, implicit.count, readings
        self.kernels = kernels(model.numbers)
        device = model.device
        self.chunk_rest = wp.zeros(model.chunks, dtype=self.kernels.rest, device=device)
        self.body_rest = wp.zeros(implicit.bodies, dtype=self.kernels.rest, device=device)
        self.last_push = wp.zeros(self.count, dtype=model.numbers.vec, device=device)
        self.launch = implicit.launch.extended(self)

    def add(self) -> None:
        """When velocities at the end of the step are known, before the sweep."""
        self.launch(self.kernels.keep_push, self.count)
        self.launch.blocks(self.kernels.sum_rest, self.model.chunks, self.model.block_size)
        self.launch(self.kernels.find_rest, len(self.body_rest))
        sums = {"contact_sum": self.readings.contact_sum, "wall_sum": self.readings.wall_sum}
        self.launch(self.kernels.add_forces, self.count, **sums)


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """sum_rest, find_rest, add_forces."""
    real, vec, dim = n.real, n.vec, n.dim
    rest = wp.types.vector(length=dim + 1, dtype=wp.float64)

    @n.kernel(__name__)
    def keep_push(
        body: wp.array(dtype=int),
        wall_pressing: wp.array(dtype=real),
        near_wall: wp.array(dtype=int),
        wall_force_now: wp.array(dtype=vec),
        last_push: wp.array(dtype=vec),
    ):
        """Forces of walls in the last step in which they touched the body; their echo comes after it has left."""
        i = at(wp.tid())
        b = at(body[i])
        if wall_pressing[b] > real(0.0) or near_wall[b] == 0:
            last_push[i] = wall_force_now[i]

    @n.kernel(__name__)
    def sum_rest(
        chunk_start: wp.array(dtype=int),
        v: wp.array(dtype=vec),
        v_start: wp.array(dtype=vec),
        mass: wp.array(dtype=real),
        force: wp.array(dtype=vec),  # without walls and contact
        contact_force: wp.array(dtype=vec),  # of both
        last_push: wp.array(dtype=vec),
        dt: wp.array(dtype=real),
        chunk_rest: wp.array(dtype=rest),
    ):
        """N s: the momentum of a chunk of points that no force explains; N: sizes of the forces of walls."""
        chunk, lane = wp.tid()
        h = wp.float64(dt[0])
        sums = rest()
        for q in range(chunk_start[chunk] + lane, chunk_start[chunk + 1], wp.block_dim()):
            i = at(q)
            for k in range(wp.static(dim)):
                gained = wp.float64(mass[i]) * (wp.float64(v[i][k]) - wp.float64(v_start[i][k]))
                sums[k] = sums[k] + gained - h * (wp.float64(force[i][k]) + wp.float64(contact_force[i][k]))
            sums[dim] = sums[dim] + wp.float64(wp.length(last_push[i]))
        whole = rest()
        for k in range(wp.static(dim + 1)):
            summed = block_sum(sums[k])
            whole[k] = summed
        if lane == 0:
            chunk_rest[chunk] = whole

    @n.kernel(__name__)
    def find_rest(
        chunk_first: wp.array(dtype=int),
        chunk_rest: wp.array(dtype=rest),
        free: wp.array(dtype=int),
        body_rest: wp.array(dtype=rest),
    ):
        """Per body and N of the walls."""
        b = wp.tid()
        sums = rest()
        if free[b] != 0:
            for c in range(chunk_first[b], chunk_first[b + 1]):
                sums += chunk_rest[c]
        if sums[dim] > wp.float64(0.0):
            sums /= sums[dim]
        else:
            sums = rest()
        body_rest[b] = sums

    @n.kernel(__name__)
    def add_forces(
        body: wp.array(dtype=int),
        inverse_mass: wp.array(dtype=real),
        contact_force: wp.array(dtype=vec),
        wall_force_now: wp.array(dtype=vec),
        last_push: wp.array(dtype=vec),
        body_rest: wp.array(dtype=rest),
        dt: wp.array(dtype=real),
        contact_sum: wp.array(dtype=vec),
        wall_sum: wp.array(dtype=vec),
    ):
        """N s on each point that is free: pins take what they get, and what is glued gives it to its rigid body."""
        i = at(wp.tid())
        if inverse_mass[i] <= real(0.0):
            return
        pushed = wall_force_now[i]
        contact_sum[i] = contact_sum[i] + dt[0] * (contact_force[i] - pushed)
        size = wp.float64(wp.length(last_push[i]))
        more = vec()
        for k in range(wp.static(dim)):
            more[k] = real(size * body_rest[at(body[i])][k])
        wall_sum[i] = wall_sum[i] + dt[0] * pushed + more

    return SimpleNamespace(
        rest=rest, keep_push=keep_push, sum_rest=sum_rest, find_rest=find_rest, add_forces=add_forces
    )
