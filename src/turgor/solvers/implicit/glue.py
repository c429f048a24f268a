"""Glue inside an implicit step: what is glued moves with its rigid body, whose motion is an unknown of the solve.

With s the velocities (along and turning) of the rigid bodies, v of the free points, glued points move with P s. Forces
balance where

    forces on free points  =  m (v - v_start)/h
    Pᵀ (forces on glued points) + contact  =  M (s - s_free)/h,

s_free being what weight, grabs and air make of s. Conjugate gradients go on (v, s) with the matrix of both: directions
of glued points are P of those of s, so neighbours and gas notice them as they notice free ones, and products of a
rigid body are Pᵀ of those of its points. So neither a stiff skin on a light body nor a light skin on a heavy one is a
matter of who moves first. Its own block, with what it presses against, is the preconditioner of a rigid body.

Glued bodies meet walls inside the solve too, with their collision points (as `walls.py`): a skin rests on a body that
rests. They hold a little in front of the wall, where contact of rigid bodies, which comes later, has nothing to add.
"""

import functools
from types import SimpleNamespace
from typing import Any, no_type_check

import numpy as np
import warp as wp

from turgor.kernel.numbers import Numbers
from turgor.solvers.implicit import glue_contacts, glue_forces, glue_momentum, glue_unknowns

__all__ = ["GluedBodies", "kernels"]


class GluedBodies:
    """The unknowns of rigid bodies that soft vertices are glued to; launched beside the stages of a step."""

    def __init__(self, implicit: Any, surfaces: Any) -> None:
        model, n, rigids = implicit.model, implicit.model.numbers, implicit.model.rigids
        self.implicit, self.model, self.total, self.count = implicit, model, rigids.total, model.glue.count
        self.worlds, self.world_rigids, self.points = model.worlds, rigids.count, len(surfaces.local)
        self.kernels, self.k_forces = kernels(n), glue_forces.kernels(n)
        self.k_contacts, self.k_unknowns = glue_contacts.kernels(n), glue_unknowns.kernels(n)
        motion, square, device = self.k_forces.motion, self.k_forces.square, model.device

        def motions() -> Any:
            return wp.zeros(self.total, dtype=motion, device=device)

        def zeros(size: int, dtype: Any) -> Any:
            return wp.zeros(size, dtype=dtype, device=device)

        on = np.isin(np.arange(rigids.count), model.glue.body_host)
        self.glue_on = rigids.ints(on)  # whether something is glued to a body
        glued_to = np.full(model.vertices * model.worlds, -1, np.int32)
        glued_to[model.glue.vertex.numpy()] = model.glue.body.numpy()
        self.glued_to = model.int_array(glued_to)  # rigid body of each soft vertex, or -1
        self.glued_arm, self.glued_force = zeros(self.count, n.wide), zeros(self.count, n.vec)  # m; N
        # m/s and rad/s: as forces but glue and contact make them; in this round, at its start; in the linear solve
        self.glue_free, self.glue_v, self.glue_v_before, self.glue_trial = (motions() for _ in range(4))
        self.glue_solution, self.glue_direction, self.glue_z = (motions() for _ in range(3))
        # N and N m: of glued points, of contact; what is left of all, and of all but contact
        self.glue_pull, self.glue_contact, self.glue_product, self.glue_smooth = (motions() for _ in range(4))
        self.glue_residual, self.glue_residual_before, self.glue_first_residual = (motions() for _ in range(3))
        self.glue_block, self.glue_load = zeros(self.total, square), zeros(self.total, square)
        self.angular_free = zeros(self.total, n.spin)
        self.no_sums = zeros(self.total, self.k_contacts.sums)
        # walls: N on collision points, of the step before, of the round before, now; those of other bodies have none
        self.local, self.local_body = surfaces.local, surfaces.local_body
        self.rigid_wall_force, self.rigid_wall_force_round = zeros(self.points, n.vec), zeros(self.points, n.vec)
        self.rigid_wall_force_now = zeros(self.points, n.vec)
        masses = np.bincount(model.body_host, weights=model.mass.numpy()[: model.vertices], minlength=len(model.parts))
        owners = model.body_host[model.glue.vertex_host]
        hung = [masses[np.unique(owners[model.glue.body_host == r])].sum() for r in range(rigids.count)]
        self.hung_mass = rigids.reals(hung)  # kg, of the soft bodies that are glued to it
        parts = zip(rigids.bodies, rigids.props, strict=True)
        heavy = np.array([props.mass * (body.kind == "dynamic") for body, props in parts])
        carried = [heavy[np.unique(model.glue.body_host[owners == b])].sum() for b in range(len(model.parts))]
        implicit.hung.assign(np.tile(carried, model.worlds))
        self.launch = implicit.launch.extended(self)
        self.momentum = glue_momentum.Compounds(implicit, self)

    # a step ---------------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Rigid bodies as forces alone move them."""
        self.launch(self.kernels.begin_glue, self.total)
        wp.copy(self.rigid_wall_force_round, self.rigid_wall_force)

    def carry(self) -> None:
        """Glued points where their bodies lead."""
        self.launch(self.k_forces.carry, self.count)

    def take_forces(self) -> None:
        """Forces of springs and gas on glued points, before they are cleared."""
        self.glue_pull.zero_()
        self.launch(self.k_forces.take_forces, self.count)

    def find_smooth(self) -> None:
        """What is left of all forces but contact beside inertia."""
        self.launch(self.kernels.find_smooth, self.total)

    def keep(self) -> None:
        """Forces of walls in this round limit the friction of the next."""
        self.launch(self.k_contacts.keep_walls, self.points)

    def keep_before(self) -> None:
        """Where a round begins."""
        wp.copy(self.glue_v_before, self.glue_v)

    def go(self) -> None:
        """Along the solution."""
        self.launch(self.kernels.go, self.total)

    def end(self) -> None:
        """The motion of the bodies at the end of the step, and what momentum is owed."""
        self.momentum.repay()
        self.launch(self.kernels.end_glue, self.total)
        wp.copy(self.rigid_wall_force, self.rigid_wall_force_now)
        self.launch(self.k_forces.carry_on, self.count)

    def look(self, readings: Any) -> None:
        """Velocities without contact, from which on contact is read, and what walls did, pair by pair."""
        self.launch(self.kernels.look, self.total, rigid_seen_v=readings.rigid_seen_v)
        table = readings.pairs.table
        given = {"world_bodies": self.implicit.world_bodies, "table": table}
        self.launch(self.k_contacts.read_walls, self.points, **given)

    # contact --------------------------------------------------------------------------------------------------------

    def begin_press(self) -> None:
        """Contacts between bodies see the trial velocities of glued ones."""
        pairs = self.implicit.pairs
        if pairs is not None:
            given = {"rigid_trial_v": pairs.rigid_trial_v, "rigid_trial_spin": pairs.rigid_trial_spin}
            self.launch(self.kernels.set_trial, self.total, **given)

    def press(self) -> None:
        """Forces of contacts and walls on the bodies, and their load."""
        pairs = self.implicit.pairs
        sums = self.no_sums if pairs is None else pairs.rigid_sums
        self.launch(self.k_contacts.take_contacts, self.total, rigid_sums=sums)
        self.launch(self.k_contacts.take_point_contacts, self.count)
        self.launch(self.k_contacts.press_walls, self.points)

    # the linear system ----------------------------------------------------------------------------------------------

    def prepare(self) -> None:
        """The blocks of the matrix."""
        self.glue_block.zero_()
        self.launch(self.k_forces.add_blocks, self.count)
        self.launch(self.k_unknowns.add_inertia, self.total)

    def begin_solve(self) -> None:
        """From zero."""
        for array in (self.glue_solution, self.glue_residual_before):
            array.zero_()
        wp.copy(self.glue_first_residual, self.glue_residual)
        wp.copy(self.glue_trial, self.glue_v)

    def precondition(self) -> None:
        """z from r, and its part of r·z."""
        self.launch(self.k_unknowns.precondition, self.worlds)
        self.launch(self.k_forces.spread, self.count)

    def turn(self) -> None:
        """The next direction, and the work of the residual along it."""
        self.launch(self.k_unknowns.turn, self.worlds)

    def multiply(self) -> None:
        """The matrix times the direction, and its part of their inner product."""
        self.glue_product.zero_()
        self.launch(self.k_forces.multiply, self.count)
        self.launch(self.k_unknowns.add_product, self.worlds)
        wp.copy(self.glue_residual_before, self.glue_residual)

    def advance(self) -> None:
        """Along the direction."""
        self.launch(self.k_unknowns.advance, self.worlds)

    def find_residual(self) -> None:
        """With contact as it is where the solution leads."""
        self.launch(self.k_unknowns.find_residual, self.total)

    def sum_work(self, residual: Any, way: Any) -> None:
        """Of a residual along a step."""
        self.launch(self.k_unknowns.sum_work, self.worlds, residual=residual, way=way)


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """The motion of a body from the start of a step to its end."""
    real, vec, dim = n.real, n.vec, n.dim
    force = glue_forces.kernels(n)
    motion, inertia, motion_of, spin_part = force.motion, force.inertia, force.motion_of, force.spin_part
    unknown, mass_matrix = force.unknown, force.mass_matrix

    @n.kernel(__name__)
    def begin_glue(
        rigid_v: wp.array(dtype=vec),
        rigid_spin: wp.array(dtype=n.spin),
        rigid_angular: wp.array(dtype=n.spin),
        glue_free: wp.array(dtype=motion),
        glue_v: wp.array(dtype=motion),
        glue_trial: wp.array(dtype=motion),
        angular_free: wp.array(dtype=n.spin),
    ):
        """After the kick."""
        r = wp.tid()
        s = motion_of(rigid_v[r], rigid_spin[r])
        glue_free[r] = s
        glue_v[r] = s
        glue_trial[r] = s
        angular_free[r] = rigid_angular[r]

    @n.kernel(__name__)
    def find_smooth(
        glue_on: wp.array(dtype=int),
        rigid_inverse_mass: wp.array(dtype=real),
        rigid_world_inertia: wp.array(dtype=inertia),
        inertia: wp.array(dtype=real),
        glue_free: wp.array(dtype=motion),
        glue_v: wp.array(dtype=motion),
        glue_pull: wp.array(dtype=motion),
        glue_trial: wp.array(dtype=motion),
        glue_smooth: wp.array(dtype=motion),
    ):
        """Pull of the glue - c M (s - s_free)."""
        r = wp.tid()
        left = motion()
        if unknown(glue_on[r], rigid_inverse_mass[r]):
            m = mass_matrix(rigid_inverse_mass[r], rigid_world_inertia[r], inertia[0])
            left = glue_pull[r] - m * (glue_v[r] - glue_free[r])
        glue_smooth[r] = left
        glue_trial[r] = glue_v[r]

    @n.kernel(__name__)
    def go(
        rigid_world: wp.array(dtype=int),
        glue_on: wp.array(dtype=int),
        rigid_inverse_mass: wp.array(dtype=real),
        length: wp.array(dtype=real),
        change: wp.array(dtype=real),
        glue_solution: wp.array(dtype=motion),
        glue_v_before: wp.array(dtype=motion),
        glue_v: wp.array(dtype=motion),
    ):
        """As `newton.go`."""
        r = wp.tid()
        w = rigid_world[r]
        if change[w] != real(0.0) and unknown(glue_on[r], rigid_inverse_mass[r]):
            glue_v[r] = glue_v_before[r] + wp.float64(length[w] + change[w]) * glue_solution[r]

    @n.kernel(__name__)
    def end_glue(
        glue_on: wp.array(dtype=int),
        rigid_inverse_mass: wp.array(dtype=real),
        rigid_world_inertia: wp.array(dtype=inertia),
        dt: wp.array(dtype=real),
        glue_free: wp.array(dtype=motion),
        glue_v: wp.array(dtype=motion),
        glue_pull: wp.array(dtype=motion),
        angular_free: wp.array(dtype=n.spin),
        rigid_v: wp.array(dtype=vec),
        rigid_spin: wp.array(dtype=n.spin),
        rigid_angular: wp.array(dtype=n.spin),
        rigid_driven_impulse: wp.array(dtype=vec),
        rigid_driven_moment: wp.array(dtype=n.spin),
    ):
        """Velocities and angular momentum; what pulls at bodies that are moved from outside is work, for the ledger."""
        r = wp.tid()
        if unknown(glue_on[r], rigid_inverse_mass[r]):
            s = glue_v[r]
            gain = mass_matrix(rigid_inverse_mass[r], rigid_world_inertia[r], real(1.0)) * (s - glue_free[r])
            for k in range(wp.static(dim)):
                rigid_v[r][k] = real(s[k])
            rigid_spin[r] = spin_part(s)
            rigid_angular[r] = angular_free[r] + spin_part(gain)
        elif glue_on[r] != 0 and rigid_driven_impulse.shape[0] > 0:
            given = wp.float64(dt[0]) * glue_pull[r]
            p = vec()
            for k in range(wp.static(dim)):
                p[k] = real(given[k])
            rigid_driven_impulse[r] = rigid_driven_impulse[r] + p
            rigid_driven_moment[r] = rigid_driven_moment[r] + spin_part(given)

    @n.kernel(__name__)
    def look(
        glue_on: wp.array(dtype=int),
        rigid_inverse_mass: wp.array(dtype=real),
        dt: wp.array(dtype=real),
        rigid_v: wp.array(dtype=vec),
        glue_contact: wp.array(dtype=motion),
        rigid_seen_v: wp.array(dtype=vec),
    ):
        """What the velocity would be without contact."""
        r = wp.tid()
        if unknown(glue_on[r], rigid_inverse_mass[r]):
            seen = rigid_v[r]
            for k in range(wp.static(dim)):
                seen[k] = seen[k] - dt[0] * rigid_inverse_mass[r] * real(glue_contact[r][k])
            rigid_seen_v[r] = seen

    @n.kernel(__name__)
    def set_trial(
        glue_on: wp.array(dtype=int),
        rigid_inverse_mass: wp.array(dtype=real),
        glue_trial: wp.array(dtype=motion),
        rigid_trial_v: wp.array(dtype=vec),
        rigid_trial_spin: wp.array(dtype=n.spin),
    ):
        """For contacts between bodies."""
        r = wp.tid()
        if unknown(glue_on[r], rigid_inverse_mass[r]):
            for k in range(wp.static(dim)):
                rigid_trial_v[r][k] = real(glue_trial[r][k])
            rigid_trial_spin[r] = spin_part(glue_trial[r])

    return SimpleNamespace(
        begin_glue=begin_glue, find_smooth=find_smooth, go=go, end_glue=end_glue, set_trial=set_trial, look=look,
    )  # fmt: skip
