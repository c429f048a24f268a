"""The part of a substep in which things touch: kick, contact between bodies, walls, move. Rigid bodies live here."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import warp as wp

from turgor.contact.features.method import FeatureContacts
from turgor.contact.features.search import star_shaped
from turgor.contact.martin2009.method import ParticleContacts
from turgor.contact.matyka2003.method import BoundingContacts
from turgor.contact.rigid.contacts import RigidContacts
from turgor.errors import UnstableError
from turgor.model.model import Model
from turgor.model.state import State
from turgor.model.surfaces import Surfaces
from turgor.rigid import drive
from turgor.solvers import plan, split_update
from turgor.solvers.schemes import Scheme

__all__ = ["Touch"]

ROUNDS = 4  # of impulses per substep
RIGID_ROUNDS = (6, 10)  # with rigid bodies: stacks need more, and more again where all contacts are solved at once
HISTORICAL: dict[str, type[Any]] = {"particles": ParticleContacts, "bounding": BoundingContacts}

log = logging.getLogger("turgor")


class Touch:
    """Launches kick, contact and move on a model and a state."""

    def __init__(self, model: Model, state: State, scheme: Scheme, method: str, *, clears: bool, ledger: bool) -> None:
        self.model, self.state, self.scheme = model, state, scheme
        self.device = model.device
        n = model.numbers
        self.count, self.rigids = model.vertices * model.worlds, model.rigids
        self.k_parts = split_update.kernels(n, len(scheme.weights), scheme.velocity_first, clears, ledger)
        self.k_drive, self.k_simple = drive.kernels(n), star_shaped.kernels(n)
        self.surfaces = Surfaces(model)
        self.features: FeatureContacts | None = None
        self.method: Any = None  # the same, or the historical one
        if method != "none" and self.count:
            self.place_points()
            if method == "features":
                self.features = FeatureContacts(model, state, self.surfaces, (plan.FINE, plan.NOT_FINITE))
            self.method = self.features or HISTORICAL[method](model, state, self.surfaces)
        self.scale = wp.ones(self.count, dtype=n.real, device=self.device)
        self.rigid_contacts: RigidContacts | None = None
        if self.rigids.total:
            self.rigid_contacts = RigidContacts(model, state.dt, method != "none", self.device.is_cuda)
            self.kept = {name: wp.clone(getattr(self.rigid_contacts, name)) for name in RigidContacts.PROPER}
        self.grown = 0  # times that buffers were too small

    def launch(self, kernel: Any, dim: int, *inputs: Any) -> None:
        """One thread per element."""
        wp.launch(kernel, dim=dim, inputs=list(inputs), device=self.device)

    def substep(self, v_stage: Any, walls: tuple[Any, ...]) -> None:
        """From forces to the end of the substep."""
        r = self.rigids
        if r.glued_count:
            self.pull_glued()
        self.kick(v_stage)
        if r.total:
            self.kick_rigid()
            self.place_points()
        if r.glued_count:
            self.carry_glued()
        if self.features is not None:
            self.features.find()
        elif self.method is not None:
            self.method.respond()
        self.solve()
        self.meet_walls(walls)
        if self.features is not None:
            self.features.limit()
        self.move()

    def solve(self) -> None:
        """Rounds of impulses, then displacements: soft contacts and rigid ones together."""
        rigid = self.rigid_contacts
        if rigid is not None:
            rigid.find()
            rigid.warm_start()
        if self.features is None or self.device.is_cuda:
            self.rounds(self.features)
        else:  # with no soft contacts, launches are what takes time on the CPU
            wp.capture_if(
                self.features.rows.count,
                on_true=lambda: self.rounds(self.features),
                on_false=lambda: self.rounds(None),
            )
        if self.features is not None:
            self.features.carry()
        if rigid is not None:
            rigid.push()

    def rounds(self, features: FeatureContacts | None) -> None:
        """Rounds of impulses: one of the soft contacts, then one of the rigid ones."""
        rigid = self.rigid_contacts
        if features is not None:
            features.warm_start()
        for turn in range(ROUNDS if rigid is None else RIGID_ROUNDS[self.device.is_cuda]):
            if features is not None and turn < ROUNDS:
                features.solve()
            if rigid is not None:
                rigid.solve()

    def kick(self, v_stage: Any) -> None:
        m, s = self.model, self.state
        self.launch(
            self.k_parts.kick, self.count, self.scheme.weights[-1], s.v, v_stage, s.x_slope, s.v_slope, s.f, s.area,
            m.body, m.inverse_mass, s.push, s.gravity, m.drag, m.decay, s.dt, s.move, s.v_start, s.v_free,
            s.dissipated,
        )  # fmt: skip

    def meet_walls(self, walls: tuple[Any, ...]) -> None:
        m, s = self.model, self.state
        self.launch(
            self.k_parts.meet, self.count, s.x, s.v, s.move, s.v_start, s.v_free, m.body, m.inverse_mass, m.friction,
            m.restitution, *walls, s.dt, s.pressed, s.dissipated, s.work,
        )  # fmt: skip

    def move(self) -> None:
        s, r = self.state, self.rigids
        scale = self.scale if self.features is None else self.features.scale
        walls = self.model.walls
        self.launch(
            self.k_parts.shift, self.count, s.move, scale, s.v_free, walls.normal, walls.point, s.v, s.x,
        )  # fmt: skip
        if r.total:
            self.launch(
                self.k_drive.move_bodies, r.total, s.dt, r.inverse_mass, r.inverse_inertia, r.v, r.angular,
                r.push_move, r.push_turn, r.scale, r.x, r.q, r.spin,
            )  # fmt: skip
            self.place_points()
        if self.rigid_contacts is not None:
            self.rigid_contacts.store()
        if r.glued_count:
            self.launch(
                self.k_drive.place_glued, r.glued_count, r.glued_vertex, r.glued_body, r.glued_local, r.x, r.q, r.v,
                r.spin, s.points, s.point_v,
            )  # fmt: skip
        self.launch(self.k_parts.tick, 1, s.dt, s.clock, s.planned, s.block, s.substeps, s.unfinished)

    # rigid bodies ---------------------------------------------------------------------------------------------------

    def kick_rigid(self) -> None:
        m, s, r = self.model, self.state, self.rigids
        self.launch(
            self.k_drive.kick_rigid, r.total, s.dt, m.gravity, r.world, r.inverse_mass, r.inverse_inertia, r.grab_on,
            r.grab_local, r.grab_target, r.grab_stiffness, r.grab_damping, r.x, r.q, r.v, r.angular, r.spin,
            r.world_inertia, r.force, r.torque,
        )  # fmt: skip

    def place_points(self) -> None:
        s, r, f = self.state, self.rigids, self.surfaces
        self.launch(
            self.k_drive.place_points, len(f.local), f.first_rigid, f.local, f.local_body, r.x, r.q, r.v, r.spin,
            s.points, s.point_v,
        )  # fmt: skip

    def pull_glued(self) -> None:
        m, s, r = self.model, self.state, self.rigids
        self.launch(
            self.k_drive.pull_glued, r.glued_count, r.glued_vertex, r.glued_body, s.x, s.f, s.area, m.body, s.push, r.x,
            r.force, r.torque,
        )  # fmt: skip

    def carry_glued(self) -> None:
        s, r = self.state, self.rigids
        self.launch(
            self.k_drive.carry_glued, r.glued_count, s.dt, r.glued_vertex, r.glued_body, r.glued_local, r.q, r.v,
            r.spin, s.point_v, s.move,
        )  # fmt: skip

    # once per frame -------------------------------------------------------------------------------------------------

    def keep(self) -> None:
        """The poses to go back to."""
        r = self.rigids
        if r.total:
            for name in ("x", "v", "q", "angular", "spin"):
                wp.copy(getattr(r, f"{name}_good"), getattr(r, name))
        if self.rigid_contacts is not None:
            for name, array in self.kept.items():
                wp.copy(array, getattr(self.rigid_contacts, name))
        if self.method is not None:
            self.method.begin_frame()

    def inspect(self) -> None:
        """Whether the rigid bodies are well."""
        r, s = self.rigids, self.state
        if r.total:
            offset = len(self.model.parts) * self.model.worlds
            self.launch(
                self.k_drive.inspect_rigid, r.total, plan.FINE, plan.NOT_FINITE, offset, r.v, r.angular, r.x, s.status
            )
        for part in (self.method, self.rigid_contacts):
            if part is not None:
                self.launch(self.k_parts.notice, 1, part.overflow, s.status)

    def restore(self) -> None:
        """Back to the start of a failed frame."""
        r, s = self.rigids, self.state
        if r.total:
            self.launch(
                self.k_drive.restore_rigid, r.total, plan.FINE, s.status, r.x_good, r.v_good, r.q_good,
                r.angular_good, r.spin_good, r.x, r.v, r.q, r.angular, r.spin,
            )  # fmt: skip

    def look(self) -> None:
        """Whether a lone body could touch itself in the next substeps."""
        f, s = self.surfaces, self.state
        assert self.features is not None
        self.features.mark_simple()
        s.touchy.zero_()
        self.launch(self.k_simple.any_touchy, self.features.total, f.self_contact, self.features.simple, s.touchy)

    def forget(self) -> None:
        """Positions were set from outside."""
        if self.features is not None:
            self.features.forget()

    def memory(self) -> dict[str, Any]:
        """Arrays that a continuation needs to be the same bit for bit, beside the state: lists and old impulses."""
        parts = {"method": self.method, "rigid_contacts": self.rigid_contacts}
        return {
            f"{part}_{name}": getattr(owner, name).numpy()
            for part, owner in parts.items()
            if owner is not None
            for name in owner.PROPER
        }

    def remember(self, arrays: dict[str, Any]) -> None:
        """Put back what `memory` gave."""
        for part, owner in (("method", self.method), ("rigid_contacts", self.rigid_contacts)):
            mine = {name.removeprefix(f"{part}_"): a for name, a in arrays.items() if name.startswith(f"{part}_")}
            if owner is not None and mine:
                if hasattr(owner, "fit"):
                    owner.fit(mine)
                for name, values in mine.items():
                    getattr(owner, name).assign(values)

    def made_room(self) -> bool:
        """Whether the frame failed for want of room in a buffer, which is larger now."""
        rigid = self.rigid_contacts
        needed = 0 if rigid is None else int(rigid.overflow.numpy()[0])
        small = self.method is not None and int(self.method.overflow.numpy()[0]) != 0
        if not needed and not small:
            return False
        if rigid is not None:
            for name, array in self.kept.items():  # as they were at the start of the frame
                wp.copy(getattr(rigid, name), array)
            if needed:
                rigid.grow(int(1.5 * needed) + 64)
                self.kept = {name: wp.clone(getattr(rigid, name)) for name in RigidContacts.PROPER}
        if small:
            if self.features is not None and self.features.crumpled:
                raise UnstableError(self._crumpled())
            self.method.grow()
        self.grown += 1
        log.info("contact buffers were too small and have grown; the frame is computed again")
        return True

    def _crumpled(self) -> str:
        """What to say of surfaces that are a heap of folds: the fastest body is the one that blew up."""
        speeds = np.linalg.norm(self.state.v.numpy(), axis=1)
        fastest = int(np.nan_to_num(speeds, nan=np.inf).argmax()) % max(self.model.vertices, 1)
        name = self.model.bodies[int(self.model.body_host[fastest])].name
        return (
            f"body {name!r} at t = {float(self.state.clock.numpy()[0]):.4g} s is crumpled, and contact finds no end: "
            "use substeps='auto' or more substeps, or lower its stiffness, gas pressure or velocity"
        )
