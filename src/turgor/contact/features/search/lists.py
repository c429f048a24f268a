"""Lists of features that may touch soon: built when bodies have moved, valid for many substeps.

measure -> judge -> (lists of the pairs that are stale; of all, if a body has left its bounds)
"""

from __future__ import annotations

from typing import Any

import warp as wp

from turgor.contact.features.launch import FeatureLauncher, Flags
from turgor.contact.features.search.body_pairs import BodyPairs
from turgor.contact.features.search.candidates import Candidates
from turgor.contact.features.search.motion import BodyMotion
from turgor.contact.features.search.patch_margins import PatchMargins
from turgor.contact.features.search.patches import Patches
from turgor.contact.features.search.patches import kernels as patch_kernels
from turgor.contact.features.search.self_lists import SelfLists
from turgor.contact.features.search.slabs import Slabs
from turgor.contact.features.search.star_shaped import StarShaped
from turgor.contact.features.search.tree_lists import TreeLists
from turgor.contact.features.search.watch import Watch
from turgor.model.model import Model
from turgor.model.scratch import Scratch
from turgor.model.surfaces import Surfaces

__all__ = ["Lists"]


class Lists:
    """Keeps the lists of candidates of a model and a state valid."""

    PARTS: dict[str, Any] = {
        "flags": Flags, "star_shaped": StarShaped, "candidates": Candidates, "pairs": BodyPairs,
        "margins": PatchMargins, "self_lists": SelfLists, "watch": Watch,
    }  # fmt: skip
    SAVED = tuple(f"{part}.{name}" for part, owner in PARTS.items() for name in owner.SAVED)

    def __init__(self, model: Model, scratch: Scratch, surfaces: Surfaces, launch: FeatureLauncher) -> None:
        left_alone = scratch.ends_fused if surfaces.bodies == 1 else None
        self.flags = Flags(model.worlds, surfaces.bodies * model.worlds, launch, left_alone)
        self.motion = BodyMotion(model, surfaces, launch.extended(self.flags))
        self.star_shaped = StarShaped(model, surfaces, self.motion.launch)
        self.candidates = Candidates(model, surfaces, self.star_shaped.launch)
        self.pairs = BodyPairs(model, surfaces, self.candidates.launch)
        self.slabs = Slabs(model, surfaces, self.candidates, self.pairs.launch, self.pairs.capacity)
        self.patches = Patches(model, surfaces)
        known = self.slabs.launch.extended(self.patches)
        known = known.extended({"mesh": known.struct(patch_kernels(model.numbers).Mesh)})
        self.tree = TreeLists(model, self.patches, self.candidates, known)
        self.margins = PatchMargins(model, surfaces, self.patches, self.pairs.own_left, self.tree.launch)
        self.self_lists = SelfLists(model, surfaces, self.patches, self.flags.left_alone, self.margins)
        self.watch = Watch(model, scratch, surfaces, self.star_shaped, self.self_lists)
        self.launch = self.watch.launch  # knows all of them

    def allocate(self) -> None:
        """Lists of the present capacities."""
        self.candidates.allocate()
        self.pairs.allocate()
        self.slabs.allocate(self.pairs.capacity)

    def forget(self) -> None:
        """Positions were set from outside."""
        self.flags.forget()
        self.pairs.forget()
        self.candidates.forget()
        self.watch.forget()

    def forget_worlds(self, chosen: Any, mask: Any) -> None:
        """Positions of some worlds were set from outside: their numbers, and a mask of all worlds."""
        self.pairs.forget_worlds(mask)
        self.watch.forget_worlds(chosen)

    # in each substep ------------------------------------------------------------------------------------------------

    def check(self, load: Any) -> None:
        """Which lists hold for this substep too; load: see `BodyMotion.measure`."""
        self.motion.measure(load)
        self.test_faces()
        self.pairs.judge()

    def mark_doubtful(self) -> None:
        """Whether the bodies in doubt, if any, are star-shaped still."""
        wp.capture_if(self.flags.shape_doubt, on_true=self.mark_star_shaped)

    def test_faces(self) -> None:
        """Which bodies have folded too far for their lists, if any has one; on a GPU it costs more to ask."""
        if self.candidates.launch.parallel:
            self.self_lists.test()
        else:
            wp.capture_if(self.flags.some_own, on_true=self.self_lists.test)

    def wear(self) -> None:
        """What the displacements of this substep leave of the margins of patches."""
        if self.candidates.launch.parallel:
            self.margins.wear()
        else:
            wp.capture_if(self.flags.some_own, on_true=self.margins.wear)

    def mark_star_shaped(self) -> None:
        """Which of the bodies in doubt cannot touch themselves."""
        self.star_shaped.mark()
        self.flags.shape_doubt.zero_()
        self.flags.body_doubt.zero_()

    def search_all(self) -> None:
        """Pairs of bodies, then pairs of features."""
        self.pairs.bound_bodies()
        self.mark_star_shaped()
        self.pairs.search()
        self.candidates.keep(self.pairs.new_slot)
        wp.capture_if(self.flags.some_stale, on_true=self.renew)  # other worlds may only need this
        self.collect()
        self.pairs.end_search()

    def search_stale(self) -> None:
        """Pairs of features of those pairs of bodies that have used up their margin, if any."""
        wp.capture_if(self.flags.some_stale, on_true=self.renew_and_collect)

    def renew(self) -> None:
        """New margins for pairs that are stale or soon will be, whose candidates are dropped."""
        self.pairs.renew()
        self.candidates.keep(self.pairs.new_slot)

    def renew_and_collect(self) -> None:
        """New lists for pairs that are stale or soon will be."""
        self.renew()
        self.collect()

    def collect(self) -> None:
        """Candidates of all stale pairs: by comparing short lists, or by the trees over patches."""
        self.slabs.collect()
        wp.capture_if(self.flags.needs_tree, on_true=self.collect_by_tree)
        wp.capture_if(self.flags.needs_self, on_true=self.collect_self)
        if self.launch.parallel:  # one kernel there, as clearing an array takes as long
            self.pairs.end_renewal()
        else:
            self.pairs.pair_stale.zero_()
            self.flags.some_stale.zero_()
            self.flags.world_some_stale.zero_()

    def collect_by_tree(self) -> None:
        """Candidates of pairs with much between them."""
        self.tree.collect(self.pairs.capacity)
        self.slabs.in_tree.zero_()
        self.flags.needs_tree.zero_()

    def collect_self(self) -> None:
        """Candidates of bodies with themselves."""
        self.self_lists.collect(self.pairs.capacity)
        self.flags.needs_self.zero_()
