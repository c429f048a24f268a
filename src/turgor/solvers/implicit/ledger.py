"""The energy ledger of soft bodies in implicit steps.

Backward Euler damps by itself. A step from x0, v0 to x1 = x0 + h v1 in which forces balance takes

    ½ m |v1 - v0|²  +  U(x0) - U(x1) - F(x1)·(x1 - x0)

out of kinetic and potential energy (of a spring ½ k |d(x1 - x0)|², so both are losses), beside what dashpots, drag,
friction and impacts take. None of it has gone elsewhere, so all of it is `dissipated`: per body and step

    dissipated = energy before - energy after + work from outside,

with both energies measured (double precision, all of springs, bending, gas and weight), and the work summed from the
forces themselves: wind where it pushes, grabs, walls that move and pumps. What iterations leave of the residual, what
is given back to momentum, and springs that the sweep stretches are in it too: it may fall by that. Energy that one body
gives to another is a loss of the one and a gain of the other; the sum over a world is what is dissipated.

A pump adds its gas at the volume with which the step begins: its work is U(V0, gas after) - U(V0, gas before).
"""

import functools
from types import SimpleNamespace
from typing import Any, no_type_check

import warp as wp

from turgor.forces import air
from turgor.kernel.blocks import block_sum
from turgor.kernel.numbers import Numbers, at
from turgor.rigid import impulse
from turgor.scene.gas import VOLUME_FLOOR
from turgor.solvers.implicit import walls

__all__ = ["SoftLedger", "kernels"]


class SoftLedger:
    """Launched at the start of a frame (`begin_frame`), when walls have pressed (`drive`), and after the movement."""

    def __init__(self, implicit: Any) -> None:
        step, model = implicit.owner, implicit.model
        self.step, self.model, self.forces = step, model, implicit.forces
        self.kernels = kernels(model.numbers)
        device = model.device
        self.chunk_energy, self.chunk_work = (wp.zeros(model.chunks, dtype=wp.float64, device=device) for _ in range(2))
        self.body_energy = wp.zeros(implicit.bodies, dtype=wp.float64, device=device)
        self.skin = implicit.skin
        self.start_volume = wp.zeros(implicit.bodies, dtype=model.numbers.real, device=device)
        self.launch = implicit.launch.extended(self)

    def begin_frame(self) -> None:
        """The energy of each body, with volumes as they were just measured."""
        self._sum_energy()
        self.launch(self.kernels.begin_bodies, len(self.body_energy))

    def drive(self) -> None:
        """Work per mass of walls that move; before their forces are taken over as those of the step."""
        if self.step.state.walls.moving:
            self.launch(self.kernels.drive_walls, self.step.count)

    def book(self) -> None:
        """After the movement, before the clock goes on."""
        state, scratch = self.step.state, self.step.scratch
        self.forces.measure(state.x, state.v, 1.0)
        self.launch.blocks(self.kernels.sum_work, self.model.chunks, self.model.block_size)
        scratch.f.zero_()
        scratch.area.zero_()
        self._sum_energy()
        self.launch(self.kernels.book_bodies, len(self.body_energy))

    def _sum_energy(self) -> None:
        self.skin.measure(self.step.state.x)
        self.launch.blocks(self.kernels.sum_energy, self.model.chunks, self.model.block_size)


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """sum_energy, then begin_bodies at the start of a frame, book_bodies after each step."""
    real, vec, spin_type, wide = n.real, n.vec, n.spin, n.wide
    swing, push_of, air_force = impulse.kernels(n).swing, walls.kernels(n).push_of, air.kernels(n).air_force
    shared_friction, shared_restitution = walls.kernels(n).shared_friction, walls.kernels(n).shared_restitution
    quarter, half = wp.constant(wp.float64(0.25)), wp.constant(wp.float64(0.5))
    one, nothing = wp.constant(wp.float64(1.0)), wp.constant(wp.float64(0.0))

    @n.kernel(__name__)
    def sum_energy(
        chunk_body: wp.array(dtype=int),
        chunk_start: wp.array(dtype=int),
        x: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        mass: wp.array(dtype=real),
        inverse_mass: wp.array(dtype=real),
        world: wp.array(dtype=int),
        gravity: wp.array(dtype=vec),
        neighbour_start: wp.array(dtype=int),
        neighbours: wp.array(dtype=int),
        neighbour_rest: wp.array(dtype=real),
        stiffness: wp.array(dtype=real),
        chunk_energy: wp.array(dtype=wp.float64),
    ):
        """J of motion, weight and springs of a chunk of points; each spring counts half at both ends."""
        chunk, lane = wp.tid()
        b = chunk_body[chunk]
        down = wide(gravity[world[b]])
        total = wp.float64(0.0)
        for q in range(chunk_start[chunk] + lane, chunk_start[chunk + 1], wp.block_dim()):
            i = at(q)
            here = wide(x[i])
            springs = wp.float64(0.0)
            for s in range(neighbour_start[i], neighbour_start[i + 1]):
                longer = wp.length(wide(x[at(neighbours[at(s)])]) - here) - wp.float64(neighbour_rest[at(s)])
                springs += longer * longer
            total += quarter * wp.float64(stiffness[b]) * springs
            if inverse_mass[i] > real(0.0):  # pinned points keep theirs, and that of glued ones is the rigid body's
                total += wp.float64(mass[i]) * (half * wp.length_sq(wide(v[i])) - wp.dot(down, here))
        summed = block_sum(total)
        if lane == 0:
            chunk_energy[chunk] = summed

    @n.kernel(__name__)
    def drive_walls(
        x_from: wp.array(dtype=vec),
        trial_v: wp.array(dtype=vec),
        v_start: wp.array(dtype=vec),
        body: wp.array(dtype=int),
        inverse_mass: wp.array(dtype=real),
        friction: wp.array(dtype=real),
        restitution: wp.array(dtype=real),
        wall_normal: wp.array(dtype=vec),
        wall_point: wp.array(dtype=vec),
        wall_centre: wp.array(dtype=vec),
        wall_velocity: wp.array(dtype=vec),
        wall_spin: wp.array(dtype=spin_type),
        wall_friction: wp.array(dtype=real),
        wall_restitution: wp.array(dtype=real),
        dt: wp.array(dtype=real),
        step: wp.array(dtype=real),
        size: wp.array(dtype=real),
        hardness: wp.array(dtype=real),
        loose: wp.array(dtype=real),
        wall_force: wp.array(dtype=vec),
        wall_force_round: wp.array(dtype=vec),
        wall_drive: wp.array(dtype=real),
    ):
        """J/kg: the force of each wall over the way of its surface."""
        i = at(wp.tid())
        given = real(0.0)
        if inverse_mass[i] > real(0.0):
            b = at(body[i])
            v = trial_v[i]
            h = step[b]
            for k in range(wall_normal.shape[0]):
                w = at(k)
                surface = wall_velocity[w] + swing(wall_spin[w], x_from[i] + h * v - wall_centre[w])
                mu = shared_friction(friction[b], wall_friction[w])
                bounce = loose[i] * shared_restitution(restitution[b], wall_restitution[w])
                pressing, along, _ = push_of(
                    x_from[i] - wall_point[w], wall_normal[w], v, v_start[i], surface, mu, bounce, hardness[i], size[b],
                    wall_force[i], wall_force_round[i], h,
                )  # fmt: skip
                given += dt[0] * inverse_mass[i] * wp.dot(pressing * wall_normal[w] + along, surface)
        wall_drive[i] = given

    @n.kernel(__name__)
    def sum_work(
        chunk_body: wp.array(dtype=int),
        chunk_start: wp.array(dtype=int),
        x: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        move: wp.array(dtype=vec),
        mass: wp.array(dtype=real),
        inverse_mass: wp.array(dtype=real),
        world: wp.array(dtype=int),
        gravity: wp.array(dtype=vec),
        body_gravity: wp.array(dtype=vec),
        grab_vertex: wp.array(dtype=int),
        grab_target: wp.array(dtype=vec),
        grab_stiffness: wp.array(dtype=real),
        grab_damping: wp.array(dtype=real),
        area: wp.array(dtype=vec),
        air_share: wp.array(dtype=real),
        wind: wp.array(dtype=vec),
        air_density: wp.array(dtype=real),
        drag_coefficient: wp.array(dtype=real),
        drag_tangential: wp.array(dtype=real),
        wind_drag: wp.array(dtype=real),
        dt: wp.array(dtype=real),
        wall_drive: wp.array(dtype=real),
        chunk_work: wp.array(dtype=wp.float64),
    ):
        """J from outside on a chunk of points: forces where the step ends, over the way that was gone."""
        chunk, lane = wp.tid()
        b = chunk_body[chunk]
        w = world[b]
        held_up = wide(body_gravity[b] - gravity[w])  # of a body that waits for its gas
        blows = drag_coefficient[b] + drag_tangential[b] + wind_drag[b] > real(0.0)
        total = wp.float64(0.0)
        for q in range(chunk_start[chunk] + lane, chunk_start[chunk + 1], wp.block_dim()):
            i = at(q)
            if inverse_mass[i] > real(0.0):
                way = wide(move[i])
                m = wp.float64(mass[i])
                total += m * (wp.float64(wall_drive[i]) + wp.dot(held_up, way))
                if blows:
                    blown = air_force(
                        wind[w] - v[i], area[i], air_share[i], mass[i], air_density[w], drag_coefficient[b],
                        drag_tangential[b], wind_drag[b], dt[0],
                    )  # fmt: skip
                    total += wp.max(wp.dot(wide(blown), way), nothing)
                if grab_vertex[b] == i:
                    pull = grab_stiffness[b] * (grab_target[b] - x[i]) - grab_damping[b] * v[i]
                    total += wp.dot(wide(pull), way)
        summed = block_sum(total)
        if lane == 0:
            chunk_work[chunk] = summed

    @wp.func
    def gas_energy(
        volume: real, rest_volume: real, nRT: real, ambient: real, gamma: real, held: int, inflate: real,
        time: wp.float64,
    ) -> wp.float64:  # fmt: skip
        """As `diagnose/energy.py`."""
        rest = wp.float64(rest_volume)
        if rest <= nothing:
            return nothing
        outside = wp.float64(ambient)
        amount = wp.float64(nRT)
        if inflate > real(0.0):
            start = outside * rest
            amount = start + (amount - start) * wp.min(time / wp.float64(inflate), one)
        v = wp.float64(volume)
        out = outside * (v - rest)
        if held != 0:
            return out - amount / rest * (v - rest)
        reached = wp.max(v, wp.float64(VOLUME_FLOOR) * rest)
        power = wp.float64(gamma) - one
        if power > nothing:
            out += amount / power * (wp.pow(rest / reached, power) - one)
        else:
            out -= amount * wp.log(reached / rest)
        return out + amount / rest * wp.pow(rest / reached, wp.float64(gamma)) * (reached - v)

    @wp.func
    def points_energy(
        b: int,
        chunk_first: wp.array(dtype=int),
        chunk_energy: wp.array(dtype=wp.float64),
        stored: wp.array(dtype=wp.float64),
    ) -> wp.float64:
        total = stored[b]
        for c in range(chunk_first[b], chunk_first[b + 1]):
            total += chunk_energy[c]
        return total

    @n.kernel(__name__)
    def begin_bodies(
        chunk_first: wp.array(dtype=int),
        chunk_energy: wp.array(dtype=wp.float64),
        stored: wp.array(dtype=wp.float64),
        volume: wp.array(dtype=real),
        start_volume: wp.array(dtype=real),
        body_energy: wp.array(dtype=wp.float64),
    ):
        """What points and their skin have, and the volume."""
        b = wp.tid()
        body_energy[b] = points_energy(b, chunk_first, chunk_energy, stored)
        start_volume[b] = volume[b]

    @n.kernel(__name__)
    def book_bodies(
        clock: wp.array(dtype=wp.float64),
        dt: wp.array(dtype=real),
        chunk_first: wp.array(dtype=int),
        chunk_energy: wp.array(dtype=wp.float64),
        chunk_work: wp.array(dtype=wp.float64),
        stored: wp.array(dtype=wp.float64),
        volume: wp.array(dtype=real),
        start_volume: wp.array(dtype=real),
        rest_volume: wp.array(dtype=real),
        nRT: wp.array(dtype=real),
        ambient: wp.array(dtype=real),
        gamma: wp.array(dtype=real),
        held: wp.array(dtype=int),
        inflate: wp.array(dtype=real),
        body_energy: wp.array(dtype=wp.float64),
        dissipated: wp.array(dtype=wp.float64),
        work: wp.array(dtype=wp.float64),
    ):
        """The ledger of a body in this step."""
        b = wp.tid()
        ends = clock[0] + wp.float64(dt[0])
        given = wp.float64(0.0)
        for c in range(chunk_first[b], chunk_first[b + 1]):
            given += chunk_work[c]
        now = points_energy(b, chunk_first, chunk_energy, stored)
        old = gas_energy(start_volume[b], rest_volume[b], nRT[b], ambient[b], gamma[b], held[b], inflate[b], clock[0])
        filled = gas_energy(start_volume[b], rest_volume[b], nRT[b], ambient[b], gamma[b], held[b], inflate[b], ends)
        new = gas_energy(volume[b], rest_volume[b], nRT[b], ambient[b], gamma[b], held[b], inflate[b], ends)
        given += filled - old
        work[b] = work[b] + given
        dissipated[b] = dissipated[b] + (body_energy[b] - now) + (old - new) + given
        body_energy[b] = now
        start_volume[b] = volume[b]

    return SimpleNamespace(
        sum_energy=sum_energy, drive_walls=drive_walls, sum_work=sum_work,
        begin_bodies=begin_bodies, book_bodies=book_bodies,
    )  # fmt: skip
