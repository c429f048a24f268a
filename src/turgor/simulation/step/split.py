"""The end of a substep where things touch: kick, contact between bodies, walls, move. Rigid bodies live here."""

from __future__ import annotations

from typing import Any

import warp as wp

from turgor.contact.features.method import FeatureContacts
from turgor.contact.martin2009.method import AdaptiveParticleContacts, MartinContacts, ParticleContacts
from turgor.contact.matyka2003.method import BoundingContacts
from turgor.contact.method import ContactMethod
from turgor.contact.readings import Readings
from turgor.contact.rigid.contacts import RigidContacts
from turgor.kernel.launch import Launcher
from turgor.model.model import Model
from turgor.model.scratch import Scratch
from turgor.model.state import State
from turgor.model.surfaces import Surfaces
from turgor.rigid import air, glue, integrate
from turgor.rigid.ledger import RigidLedger
from turgor.simulation.step.implicit import BackwardEuler
from turgor.solvers import plan, split
from turgor.solvers.implicit.contacts import PressedPairs
from turgor.solvers.implicit.glue import GluedBodies
from turgor.solvers.implicit.glue_rigids import GluedTouching
from turgor.solvers.implicit.readings import SoftReadings
from turgor.solvers.schemes import Scheme

__all__ = ["SplitEnd"]

ROUNDS = 4  # of impulses per substep
RIGID_ROUNDS = (6, 10)  # with rigid bodies: stacks need more, and more again where all contacts are solved at once
METHODS: dict[str, type[Any]] = {
    "features": FeatureContacts, "particles": ParticleContacts, "particles-martin": MartinContacts,
    "particles-adaptive": AdaptiveParticleContacts,
    "bounding": BoundingContacts,
}  # fmt: skip


class SplitEnd:
    """Launches kick, contact and move."""

    def __init__(
        self, model: Model, state: State, scratch: Scratch, launch: Launcher, scheme: Scheme, method: str,
        implicit: BackwardEuler | None, *, clears: bool, ledger: bool, readings: bool,
    ) -> None:  # fmt: skip
        self.model, self.launch, self.weight, self.ledger = model, launch, scheme.weights[-1], ledger
        self.parallel, self.implicit = model.device.is_cuda, implicit
        self.thoroughness = 1  # times as many rounds of impulses: statics wants them to converge
        n = model.numbers
        self.count, self.rigids, self.glued = model.vertices * model.worlds, model.rigids.total, model.glue.count
        self.bodies = model.cuts("order")
        self.k_split = split.kernels(n, len(scheme.weights) > 1, scheme.velocity_first, clears, ledger)
        self.k_rigid, self.k_glue, self.k_plan = integrate.kernels(n), glue.kernels(n), plan.kernels(n)
        self.rigid_ledger = RigidLedger(model.rigids, launch, not scheme.implicit) if ledger and self.rigids else None
        self.k_air = air.kernels(n, ledger)
        self.surfaces = Surfaces(model)
        self.readings = Readings(model, state, self.surfaces, launch) if readings else None
        self.soft_readings = (
            SoftReadings(implicit, self.readings) if implicit is not None and self.readings is not None else None
        )
        if implicit is not None and self.glued:
            implicit.glue = GluedBodies(implicit, self.surfaces)
        self.method: ContactMethod | None = None
        if method != "none" and self.count:
            self.place_points()
            self.method = METHODS[method](model, state, scratch, self.surfaces)
            if implicit is not None and isinstance(self.method, FeatureContacts):
                implicit.pairs = PressedPairs(self.method, implicit)
            if self.readings is not None and self.method is not None:
                self.method.read_into(self.readings.pairs.table)
        self.rigid_contacts: RigidContacts | None = None
        if self.rigids:
            self.rigid_contacts = RigidContacts(model, state, scratch, method != "none", self.parallel)
            if implicit is not None and implicit.glue is not None and self.rigids > model.worlds:
                implicit.glue.touching = GluedTouching(self.rigid_contacts, implicit.glue, self.readings)

    @property
    def follows_late(self) -> bool:
        """Whether displacements follow what contact does to velocities only when they meet walls and are made."""
        return self.method is not None and self.method.follows_late

    @property
    def counts_early(self) -> bool:
        """Whether the clock goes on when positions do: on a GPU, where nothing after that looks at it."""
        return self.parallel and self.count > 0 and self.readings is None and not self.ledger

    @property
    def parts(self) -> dict[str, Any]:
        """What finds contacts, by the name under which its arrays are saved."""
        parts = {"method": self.method, "rigid_contacts": self.rigid_contacts}
        return {name: part for name, part in parts.items() if part is not None}

    def run(self, v_stage: Any) -> None:
        """From forces to the end of the substep; v_stage: velocities at which the forces were evaluated."""
        self.pull_glued()
        readings = self.readings
        self.kick(v_stage)
        self.kick_rigid()
        self.place_points()
        self.carry_glued()
        if readings is not None:
            readings.look()
            readings.look_rigid()
        if self.method is not None:
            self.method.find()
        if self.implicit is not None:
            self.implicit.run()
            if readings is not None and self.implicit.glue is not None:
                self.implicit.glue.look(readings)
            self.solve_rigid()
            self.carry_glued()
        else:
            self.solve()
        if readings is not None and self.soft_readings is None:
            readings.add_contact()
            readings.look()
        self.meet_walls()
        if self.soft_readings is not None:
            self.soft_readings.add()
        elif readings is not None:
            readings.add_walls()
        if readings is not None:
            readings.look()
        if self.method is not None:
            self.method.sweep(self.follows_late and self.implicit is None)
        if readings is not None:
            readings.add_contact()
        self.move()
        if self.method is not None:
            self.method.moved()
        self.read_impulses()
        self.book()
        if not self.counts_early:
            self.launch(self.k_plan.tick, 1)

    # contact --------------------------------------------------------------------------------------------------------

    def solve(self) -> None:
        """Rounds of impulses, soft contacts and rigid ones together; rigid bodies that overlap then move apart."""
        method, rigid = self.method, self.rigid_contacts
        if method is not None and method.at_once:
            method.solve_all(self.thoroughness * ROUNDS)
            return
        if rigid is not None:
            rigid.find()
            rigid.warm_start()
        if method is None or method.count is None:
            self.rounds(None)
        elif self.parallel:
            self.rounds(method)
        else:  # with no soft contacts, launches are what takes time on the CPU
            wp.capture_if(method.count, on_true=lambda: self.rounds(method), on_false=lambda: self.rounds(None))
        if rigid is not None:
            rigid.finish()
        if method is not None:
            method.finish()
        if rigid is not None:
            rigid.push()

    def solve_rigid(self) -> None:
        """Contacts of rigid bodies with each other and with walls."""
        rigid = self.rigid_contacts
        if rigid is not None:
            rigid.find()
            rigid.warm_start()
            self.rounds(None)
            rigid.finish()
            rigid.push()

    def rounds(self, method: ContactMethod | None) -> None:
        """Rounds of impulses: one of the soft contacts, then one of the rigid ones."""
        rigid = self.rigid_contacts
        if method is not None:
            method.warm_start()
        soft_rounds = self.thoroughness * ROUNDS
        for turn in range(soft_rounds if rigid is None else self.thoroughness * RIGID_ROUNDS[self.parallel]):
            if method is not None and turn < soft_rounds:
                method.solve(bool(turn % 2))
            if rigid is not None:
                rigid.solve(friction=turn % 2 == 1)

    # motion ---------------------------------------------------------------------------------------------------------

    def kick(self, v_stage: Any) -> None:
        """New velocities of soft vertices, and the displacement they ask for."""
        if self.implicit is not None:
            self.implicit.begin()
        else:
            given = {"weight": self.weight, "v_stage": v_stage}
            self.launch.split(self.k_split.kick, self.count, bodies=self.bodies, **given)
            self.launch.part()

    def kick_rigid(self) -> None:
        """New velocities of rigid bodies."""
        if self.rigids:
            if self.rigid_ledger is not None:
                self.rigid_ledger.keep_start()
            if self.model.rigids.feels_air:
                self.launch(self.k_air.add_air, self.rigids)
            self.launch(self.k_rigid.kick_rigid, self.rigids)
            if self.rigid_ledger is not None:
                self.rigid_ledger.keep_kicked()

    def place_points(self) -> None:
        """The collision points of rigid bodies at their poses."""
        if self.rigids:
            s = self.surfaces
            self.launch.split(
                self.k_rigid.place_points, len(s.local), first_rigid=s.first_rigid, local=s.local,
                local_body=s.local_body,
            )  # fmt: skip

    def pull_glued(self) -> None:
        """Forces on glued vertices act on their bodies."""
        if self.glued:
            self.launch(self.k_glue.pull_glued, self.rigids)

    def carry_glued(self) -> None:
        """Glued vertices move with their bodies."""
        if self.glued:
            self.launch(self.k_glue.carry_glued, self.glued)

    def meet_walls(self) -> None:
        """Walls change displacements and velocities of soft vertices."""
        if self.implicit is not None:
            self.implicit.end_walls()
        else:
            self.launch.split(self.k_split.meet, self.count, follows=int(self.follows_late))

    def move(self) -> None:
        """Positions and poses."""
        follows, counts = int(self.follows_late), int(self.counts_early)
        self.launch.split(self.k_split.shift, self.count, follows=follows, counts=counts)
        if self.rigids:
            if self.rigid_contacts is not None:
                self.rigid_contacts.keep_moment()
            if self.rigid_ledger is not None:
                self.rigid_ledger.keep_pushes()
            self.launch(self.k_rigid.move_rigid, self.rigids)
            self.place_points()
        if self.rigid_contacts is not None:
            self.rigid_contacts.store()
        if self.glued:
            self.launch(self.k_glue.place_glued, self.glued)

    def read_impulses(self) -> None:
        """Those of rigid bodies, and of pairs."""
        if self.readings is not None:
            self.readings.add_rigid()
            for part in self.parts.values():
                part.sum_pairs(self.readings.pairs.table)

    def book(self) -> None:
        """The ledger of this substep."""
        if self.implicit is not None and self.implicit.ledger is not None:
            self.implicit.ledger.book()
        elif self.ledger:
            self.launch(self.k_split.book, self.count)
        if self.rigid_ledger is not None and self.rigid_contacts is not None:
            self.rigid_ledger.book()
            self.rigid_contacts.book()

    def inspect(self) -> None:
        """Whether the rigid bodies are finite and the contact buffers were large enough."""
        if self.rigids:
            soft = len(self.model.parts) * self.model.worlds
            self.launch(self.k_rigid.inspect_rigid, self.rigids, offset=soft)
        for part in self.parts.values():
            self.launch(self.k_plan.notice, 1, overflow=part.overflow)
