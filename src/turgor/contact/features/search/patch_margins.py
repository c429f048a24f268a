"""How far each patch of a body may move before the list of the body with itself ends.

Features are listed if they are nearer than the margins of their patches together, so the list holds as long as no patch
has moved farther, against the mean of its body, than its own margin. A leg that kicks has a wide one, the trunk, which
hardly moves, a narrow one: the list lasts as long as that of a body all of which has wide ones, and is shorter.

In a substep contact may push any patch as fast as the fastest moves: so much must be left of each margin. While a body
is left alone (`watch.py`) nothing is counted, and afterwards only its travel says how long the list holds.
"""

import functools
from types import SimpleNamespace
from typing import Any, no_type_check

import warp as wp

from turgor.contact.features.launch import FeatureLauncher
from turgor.contact.features.search import patches
from turgor.contact.features.search.candidates import FAR
from turgor.contact.features.search.patches import Patches
from turgor.kernel.numbers import Numbers, at
from turgor.model.model import Model
from turgor.model.surfaces import Surfaces

__all__ = ["HIGH", "PatchMargins", "kernels"]

LOW, HIGH = 0.06, 0.26  # mean edges of the body: margins of a patch that does not move, and of the fastest


class PatchMargins:
    """Margins, and what is used of them."""

    SAVED = ("patch_margin", "patch_travel")

    def __init__(
        self, model: Model, surfaces: Surfaces, patches: Patches, own_left: Any, launch: FeatureLauncher
    ) -> None:
        n = model.numbers
        self.kernels, self.left = kernels(n), own_left
        self.count = patches.count if surfaces.world_self_contact.any() else 0
        self.patch_margin = launch.zeros(self.count, n.real)  # m
        self.patch_travel = launch.zeros(self.count, n.real)  # m, since the list was built
        self.launch = launch.extended(self)

    def share_out(self, self_pair: Any) -> None:
        """New margins of the patches of bodies that get a list, by what they move in this substep."""
        self.launch(self.kernels.share_margins, self.count, self_pair=self_pair)

    def wear(self) -> None:
        """After a substep: what its displacements have left."""
        self.left.fill_(FAR)
        self.launch(self.kernels.wear_margins, self.count)


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """share_margins, wear_margins."""
    real, vec = n.real, n.vec
    rise = wp.constant(real(HIGH - LOW))
    shape = patches.kernels(n)
    Mesh, first_end, end_of = shape.Mesh, shape.first_end, shape.end_of

    @wp.func
    def patch_move(mesh: Mesh, k: int, move: wp.array(dtype=vec), mean: vec) -> real:
        """The largest displacement of a corner of a patch against the mean of its body."""
        mine = mesh.point_range[k]
        most = real(0.0)
        for r in range(mine[0], mine[1]):
            i = at(mesh.patch_points[at(r)])
            most = wp.max(most, wp.length_sq(move[i] - mean))
            for q in range(first_end(mesh, r), first_end(mesh, r + 1)):
                j = at(end_of(mesh, q, 0) + end_of(mesh, q, 1) - int(i))
                most = wp.max(most, wp.length_sq(move[j] - mean))
        return wp.sqrt(most)

    @n.kernel(__name__)
    def share_margins(
        mesh: Mesh,
        move: wp.array(dtype=vec),
        body_move: wp.array(dtype=vec),
        body_spread: wp.array(dtype=real),
        edge_size: wp.array(dtype=real),
        self_pair: wp.array(dtype=int),
        patch_margin: wp.array(dtype=real),
        patch_travel: wp.array(dtype=real),
    ):
        """Between LOW and HIGH, in proportion to the speed."""
        k = at(wp.tid())
        c = at(mesh.patch_body[k])
        if self_pair[c] >= 0:
            share = real(1.0)
            if body_spread[c] > real(0.0):
                share = wp.min(patch_move(mesh, k, move, body_move[c]) / body_spread[c], real(1.0))
            patch_margin[k] = (real(LOW) + rise * share) * edge_size[c]
            patch_travel[k] = real(0.0)

    @n.kernel(__name__)
    def wear_margins(
        mesh: Mesh,
        move: wp.array(dtype=vec),
        body_move: wp.array(dtype=vec),
        own_pair: wp.array(dtype=int),
        own_holds: wp.array(dtype=int),
        left_alone: wp.array(dtype=int),
        patch_margin: wp.array(dtype=real),
        patch_travel: wp.array(dtype=real),
        own_left: wp.array(dtype=real),
    ):
        """By the displacements as they were made."""
        k = at(wp.tid())
        c = at(mesh.patch_body[k])
        if own_pair[c] >= 0 and own_holds[c] != 0 and left_alone[c] == 0:
            travel = patch_travel[k] + patch_move(mesh, k, move, body_move[c])
            patch_travel[k] = travel
            wp.atomic_min(own_left, int(c), patch_margin[k] - travel)

    return SimpleNamespace(share_margins=share_margins, wear_margins=wear_margins)
