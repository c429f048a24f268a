"""Contact by bounding objects (C4; Matyka & Ollila 2003, 3.5): `contact="bounding"`.

Pairs of bodies come from boxes; then the points of each are tested against the bounding object of the other.
A soft body's object is that of its volume method if it names one (box, ball, ellipsoid), else the ellipsoid, along the
world's axes as in the paper; a cloth's is a thin box. A rigid body's object turns with it: a ball for a ball, else the
smaller one of box and ellipsoid, a thin box for a mesh. Objects are convex and hold all points of their bodies, so
nothing enters a hole or a hollow: that is the method. Rigid pairs and self-contact are no part of it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from turgor.contact import movers
from turgor.contact.matyka2003 import bounds, response
from turgor.contact.matyka2003.objects import BALL, BOX, ELLIPSOID
from turgor.contact.method import ContactMethod
from turgor.kernel.launch import Launcher
from turgor.kernel.structs import zeros
from turgor.model.model import Model
from turgor.model.rigids import Collider
from turgor.model.scratch import Scratch
from turgor.model.state import State
from turgor.model.surfaces import Surfaces
from turgor.scene.data import SoftBody

__all__ = ["BoundingContacts"]

FloatArray = npt.NDArray[np.float64]

OBJECTS = {"box": BOX, "ball": BALL, "ellipsoid": ELLIPSOID}
LANES = 32  # threads that share a body or a pair, on a GPU


class BoundingContacts(ContactMethod):
    """Finds and resolves contact between bodies by their bounding objects. Nothing is kept between substeps.

    boxed: 1 where points are tested against a box about an ellipsoid first, which the paper leaves open (footnote 4).
    What is found is the same; a test takes a tenth less time (`turgor bench bounding`).
    """

    boxed = 1

    def __init__(self, model: Model, state: State, scratch: Scratch, surfaces: Surfaces) -> None:
        self.model, self.state, self.surfaces = model, state, surfaces
        n, device = model.numbers, model.device
        self.k_bounds, self.k_response = bounds.kernels(n), response.kernels(n)
        self.total = surfaces.bodies * model.worlds  # contact bodies
        self.lanes = 1 if device.is_cpu else LANES
        self.overflow = wp.zeros(1, dtype=wp.int32, device=device)
        rigid = [state.rigid, scratch.rigid, model.rigids]
        self.launch = Launcher(device, state, scratch, self, soft=[model], rigid=rigid)
        self.movers = self.launch.struct(movers.kernels(n).Movers)
        self.bodies = self._bodies()
        self.objects = zeros(self.k_bounds.Objects, self.total, device)
        self.drift = zeros(self.k_bounds.Drift, self.total, device)
        self.pair_capacity, self.capacity = max(64, 8 * self.total), max(256, len(state.points))
        self._buffers()

    # stages ---------------------------------------------------------------------------------------------------------

    def find(self) -> None:
        """Contacts of this substep, found and resolved at once."""
        if self.total < 2:
            return
        launch, k = self.launch, self.k_response
        self.pair_count.zero_()
        self.contacts.count.zero_()
        launch.blocks(self.k_bounds.measure, self.total, self.lanes)
        launch(self.k_bounds.find_pairs, self.total)
        for upwards in (1, 0):
            launch(k.begin_pass, self.total)
            launch(k.find_contacts, (self.pair_capacity, self.lanes), upwards=upwards)
            launch(k.solve, self.capacity)
            launch(k.apply, self.capacity)
        launch(k.spread, len(self.state.v), point_body=self.surfaces.point_body)

    def grow(self) -> None:
        """Larger buffers: as much as was needed and half as much again, at least twice what was too small."""
        pairs, contacts = int(self.pair_count.numpy()[0]), int(self.contacts.count.numpy()[0])
        known = pairs > self.pair_capacity or contacts > self.capacity  # else it was in an earlier substep
        if pairs > self.pair_capacity or not known:
            self.pair_capacity = max(2 * self.pair_capacity, pairs + pairs // 2)
        if contacts > self.capacity or not known:
            self.capacity = max(2 * self.capacity, contacts + contacts // 2)
        self._buffers()
        self.overflow.zero_()

    def sum_pairs(self, table: Any) -> None:
        """Add the impulses of this substep to those of the frame."""
        if self.total > 1:
            self.launch(self.k_response.sum_pairs, self.capacity, table=table)

    def found(self) -> dict[str, npt.NDArray[Any]]:
        """Contacts of the last substep: pair, point (m), normal from second to first, depth (m), impulse (N s)."""
        c, dim = self.contacts, self.model.numbers.dim
        count = min(int(c.count.numpy()[0]), self.capacity) if self.total > 1 else 0
        point = c.point.numpy()[:count]
        normal = c.normal.numpy()[:count].astype(float).reshape(-1, dim)
        impulse = c.impulse.numpy()[:count].astype(float).reshape(-1, dim)
        return {
            "pair": c.pair.numpy()[:count].reshape(-1, 2),
            "point": self.state.points.numpy()[point].astype(float).reshape(-1, dim),
            "normal": normal,
            "depth": c.depth.numpy()[:count].astype(float),
            "impulse": np.einsum("ij,ij->i", impulse, normal),
        }

    # arrays ---------------------------------------------------------------------------------------------------------

    def _bodies(self) -> Any:
        """The struct of what does not change."""
        model, surfaces, worlds, soft = self.model, self.surfaces, self.model.worlds, len(self.model.parts)
        dim = model.numbers.dim
        shape, margin = [], []
        for body, skin in zip(model.bodies, surfaces.skins, strict=False):
            method = body.volume if isinstance(body, SoftBody) else "box"
            shape.append(OBJECTS.get(method, ELLIPSOID))
            margin.append(0.0 if isinstance(body, SoftBody) else float(skin))
        centre, half = [np.zeros((soft, dim))], [np.ones((soft, dim))]
        for collider in model.rigids.collision:
            kind, middle, axes = _object_of(collider)
            shape.append(kind)
            margin.append(collider.skin)
            centre.append(middle[None])
            half.append(axes[None])
        first = np.repeat(np.arange(worlds), surfaces.bodies) * surfaces.bodies
        return self.launch.extended(surfaces).struct(
            self.k_bounds.Bodies,
            world_first=model.int_array(first),
            world_last=model.int_array(first + surfaces.bodies),
            shape=model.int_array(np.tile(shape, worlds)),
            margin=model.real_array(np.tile(margin, worlds)),
            local_centre=model.vec_array(np.tile(np.concatenate(centre), (worlds, 1))),
            local_half=model.vec_array(np.tile(np.concatenate(half), (worlds, 1))),
            excluded_start=surfaces.excluded_start,
            excluded=surfaces.excluded,
        )

    def _buffers(self) -> None:
        """Arrays that may be too small."""
        device, total = self.model.device, self.total
        self.contacts = zeros(
            self.k_response.Contacts, self.capacity, device,
            capacity=self.capacity, count=2, hits=len(self.state.v), body_hits=total, body_weight=total,
        )  # fmt: skip
        self.pair = wp.zeros(self.pair_capacity, dtype=wp.vec2i, device=device)
        self.pair_count = wp.zeros(1, dtype=wp.int32, device=device)


def _object_of(collider: Collider) -> tuple[int, FloatArray, FloatArray]:
    """(shape, centre, half axes) of a rigid body's object, in its principal axes."""
    points, dim = collider.points, collider.points.shape[1]
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    if collider.kind == "sphere":
        return BALL, middle, np.full(dim, collider.radius)
    half = 0.5 * np.ptp(points, axis=0) + collider.radius
    if collider.kind == "mesh":
        return BOX, middle, half + collider.skin
    # the half axes grow until all points are inside; of a capsule, the point of a round end that is farthest out
    arms = points - middle
    growth = float(np.linalg.norm(arms / half, axis=1).max())
    if collider.kind == "capsule":
        angle = np.linspace(0.0, 0.5 * math.pi, 181)
        length = 0.5 * float(np.linalg.norm(points[1] - points[0]))
        along = (length + collider.radius * np.cos(angle)) / (length + collider.radius)
        growth = float(np.hypot(along, np.sin(angle)).max())
    ball = math.pi if dim == 2 else 4.0 / 3.0 * math.pi
    if ball * growth**dim < 2.0**dim:
        return ELLIPSOID, middle, growth * half
    return BOX, middle, half
