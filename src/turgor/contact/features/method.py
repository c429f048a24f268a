"""Contact by all features (the default): search, contacts, impulses, and the guarantee that nothing passes through.

measure -> (lists, if stale) -> contacts -> rounds of impulses -> (displacements, walls) -> sweep -> move
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import numpy.typing as npt
import warp as wp

from turgor.contact.features.launch import CANDIDATES, CONSTRAINTS, OVERLAPS, PAIRS, WORLD_ROWS, FeatureLauncher
from turgor.contact.features.search.lists import Lists
from turgor.contact.features.solve import pair_impulses
from turgor.contact.features.solve.constraints import ContactConstraints
from turgor.contact.features.solve.impulses import Impulses
from turgor.contact.features.solve.overlaps import Overlaps
from turgor.contact.features.solve.sides import dynamics_of
from turgor.contact.features.solve.sweep import Sweep
from turgor.contact.method import ContactMethod
from turgor.model.model import Model
from turgor.model.scratch import Scratch
from turgor.model.state import State
from turgor.model.surfaces import Surfaces

__all__ = ["FeatureContacts"]

CRUMPLED = 1000  # candidates per point from which on a surface is no longer one; heaps have below 10


class FeatureContacts(ContactMethod):
    """The stages of contact, each by the part that owns its arrays."""

    SAVED = (
        *(f"lists.{name}" for name in Lists.SAVED), *(f"overlaps.{name}" for name in Overlaps.SAVED),
        "scratch.wall_contact_normal",  # impulses of the next substep begin with the walls of the last
    )  # fmt: skip
    CHANGED = SAVED  # a frame that is computed again must find the lists, and their order, as they were
    follows_late = True

    def __init__(self, model: Model, state: State, scratch: Scratch, surfaces: Surfaces) -> None:
        self.state, self.scratch, self.surfaces = state, scratch, surfaces
        launch = FeatureLauncher(
            model.device, state, scratch, surfaces,
            soft=[model], rigid=[state.rigid, scratch.rigid, model.rigids], wall=[state.walls, model.walls],
        )  # fmt: skip
        launch.team = scratch.team
        self.dynamics = dynamics_of(model, launch)
        self.lists = Lists(model, scratch, surfaces, launch.extended({"dynamics": self.dynamics}))
        self.overlaps = Overlaps(model, surfaces, self.lists.launch, self.lists.pairs.capacity)
        self.constraints = ContactConstraints(model, surfaces, self.overlaps.launch)
        self.impulses = Impulses(model, self.constraints.launch, self.constraints.by_world.by_blocks)
        sizes = self.lists.pairs.capacity, self.lists.candidates.capacity
        self.sweep_stage = Sweep(model, surfaces, self.constraints.launch, self.impulses, sizes)
        self.overflow, self.count = self.lists.flags.overflow, self.constraints.count
        self.growing: dict[int, Any] = {
            PAIRS: self.lists.pairs, CANDIDATES: self.lists.candidates, CONSTRAINTS: self.constraints,
            OVERLAPS: self.overlaps, WORLD_ROWS: self.constraints.by_world,
        }  # fmt: skip
        self.forget()

    # the stages of a substep ----------------------------------------------------------------------------------------

    def find(self) -> None:
        """The contacts of this substep."""
        self.lists.check(self.dynamics.load)
        if self.lists.launch.parallel:  # a condition takes as long as a kernel there
            wp.capture_if(self.lists.flags.unsettled, on_true=self.settle)
        else:
            self.search()
        self.overlaps.separate()
        self.constraints.make()

    def search(self) -> None:
        """What the lists need, if they need anything."""
        self.lists.mark_doubtful()
        wp.capture_if(self.lists.flags.all_stale, on_true=self.search_all, on_false=self.lists.search_stale)

    def settle(self) -> None:
        """The same where something does."""
        self.search()
        self.lists.flags.unsettled.zero_()

    def search_all(self) -> None:
        """New lists, and which of their pairs overlap."""
        self.lists.search_all()
        wp.capture_if(self.lists.flags.untested, on_true=self.find_overlaps)
        self.overlaps.mark()

    def find_overlaps(self) -> None:
        """Bodies that are inside each other from the start."""
        self.overlaps.find()
        self.lists.flags.untested.zero_()
        self.lists.flags.world_untested.zero_()

    @property
    def at_once(self) -> bool:
        """Whether `solve_all` is the quicker way."""
        return self.impulses.at_once

    def solve_all(self, rounds: int) -> None:
        """All rounds of impulses."""
        self.impulses.solve_all(rounds)

    def warm_start(self) -> None:
        """Begin with the forces of the substep before."""
        self.impulses.warm_start()

    def solve(self, backwards: bool) -> None:
        """One round of impulses."""
        self.impulses.solve(backwards)

    def finish(self) -> None:
        """The forces of this substep are those that the next one begins with."""
        self.impulses.finish()

    def sweep(self, kept: bool) -> None:
        """Change movements that would let features pass through each other; add up what lists have left."""
        self.lists.motion.measure(self.dynamics.load)
        if not kept:
            wp.copy(self.scratch.v_free, self.state.v)
        self.sweep_stage.run()

    def moved(self) -> None:
        """What the displacements, as they were made, leave of the margins of patches."""
        self.lists.wear()

    # between substeps -----------------------------------------------------------------------------------------------

    def begin_frame(self) -> None:
        """The way out of overlaps, once per frame."""
        self.overlaps.judge()

    def look(self, span: int) -> None:
        """Whether a lone body could touch itself in the next substeps."""
        self.lists.flags.body_doubt.fill_(1)
        self.lists.mark_star_shaped()
        self.lists.watch.look(span)

    def watch(self, every: int, span: int, *, last: bool) -> None:
        """Whether a lone body that was left alone needs contact in the next substep."""
        self.lists.watch.watch(every, span, last=last)
        if self.lists.launch.parallel:  # a test costs less there than a substep with contact
            wp.capture_if(self.lists.flags.shape_doubt, on_true=lambda: self.look_again(span))

    def look_again(self, span: int) -> None:
        """Whether bodies that have used up their room are star-shaped still."""
        self.lists.star_shaped.mark()
        self.lists.watch.look_again(span)
        self.lists.flags.shape_doubt.zero_()
        self.lists.flags.body_doubt.zero_()

    def calm(self) -> None:
        """Whether a lone body can be left alone in the next substep."""
        self.lists.watch.calm()

    def forget(self) -> None:
        """The lists no longer hold: positions were set from outside."""
        self.lists.forget()
        self.overlaps.forget()

    def forget_worlds(self, chosen: Any, mask: Any) -> None:
        """The lists of some worlds no longer hold."""
        self.lists.forget_worlds(chosen, mask)
        self.overlaps.forget_worlds(mask)

    # buffers --------------------------------------------------------------------------------------------------------

    def allocate(self) -> None:
        """Buffers of the present capacities."""
        self.lists.allocate()
        self.overlaps.allocate(self.lists.pairs.capacity)
        self.constraints.allocate()
        self.sweep_stage.allocate(self.lists.pairs.capacity, self.lists.candidates.capacity)

    def grow(self) -> None:
        """Larger buffers where one was too small: behind the flag, `overflow` says how much was needed of each."""
        needed = self.overflow.numpy()
        for entry, part in self.growing.items():
            if needed[entry] > part.capacity:
                part.capacity = int(1.5 * needed[entry]) + 64
        before = {name: attrgetter(name)(self) for name in self.SAVED}
        self.allocate()
        for name, array in before.items():
            wp.copy(attrgetter(name)(self), array, count=len(array))
        self.overflow.zero_()

    def fit(self, arrays: dict[str, npt.NDArray[Any]]) -> None:
        """Buffers for saved lists."""
        self.lists.pairs.capacity = len(arrays["lists.pairs.pairs"])
        self.lists.candidates.capacity = len(arrays["lists.candidates.candidates"])
        self.overlaps.capacity = len(arrays["overlaps.overlap_pairs"])
        self.allocate()
        self.lists.self_lists.find_neighbours()  # which a list that was saved had found

    def hopeless(self) -> bool:
        """Whether so much is near so much that a surface is crumpled beyond contact."""
        return int(self.overflow.numpy()[CANDIDATES:].max()) > CRUMPLED * (self.surfaces.point_count + 100)

    def read_into(self, table: Any) -> None:
        """Sum what the sweep does per pair of bodies too."""
        self.sweep_stage.table = table

    def sum_pairs(self, table: Any) -> None:
        """Add the impulses of this substep to those of the frame."""
        launch = self.constraints.launch
        launch.walk(pair_impulses.kernels(self.constraints.numbers, launch.parallel).sum_pairs, table=table)

    def found(self) -> dict[str, npt.NDArray[Any]]:
        """The contacts of the last substep that carry an impulse."""
        return self.constraints.found(self.lists.pairs.pairs.numpy())
