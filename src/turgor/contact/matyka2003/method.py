"""2003's contact (`contact="bounding"`, C4; Matyka & Ollila 2003, 3.5): boxes, then points against bounding objects.

A soft body's object is that of its volume method if it names one (box, ball, ellipsoid), else the ellipsoid, along the
world's axes as in the paper; a cloth's is a thin box. A rigid body's object turns with it: a ball for a ball, else the
smaller one of box and ellipsoid, a thin box for a mesh. Objects are convex and hold all points of their bodies, so
nothing enters a hole or a hollow: that is the method. Rigid pairs and self-contact are no part of it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import warp as wp

from turgor.contact.matyka2003 import bounds, response
from turgor.contact.matyka2003.objects import BALL, BOX, ELLIPSOID
from turgor.contact.method import ContactMethod
from turgor.scene.data import SoftBody

if TYPE_CHECKING:
    from turgor.model.model import Model
    from turgor.model.rigids import Collider
    from turgor.model.surfaces import Surfaces

__all__ = ["BoundingContacts"]

FloatArray = npt.NDArray[np.float64]

OBJECTS = {"box": BOX, "ball": BALL, "ellipsoid": ELLIPSOID}
LANES = 32  # threads that share a body or a pair, on a GPU


class BoundingContacts(ContactMethod):
    """Finds and resolves contact between bodies by their bounding objects. Nothing is kept between substeps."""

    def __init__(self, model: Model, state: Any, scratch: Any, surfaces: Surfaces) -> None:
        self.model, self.state, self.scratch, self.surfaces = model, state, scratch, surfaces
        n, self.device = model.numbers, model.device
        self.k_measure, self.k_response = bounds.kernels(n), response.kernels(n)
        self.total = surfaces.bodies * model.worlds  # contact bodies
        self.scale = wp.ones(model.vertices * model.worlds, dtype=n.real, device=self.device)
        self.soft_points = surfaces.first_rigid
        self.lanes = 1 if self.device.is_cpu else LANES
        self.pair_capacity = max(64, 8 * self.total)
        self.capacity = max(256, surfaces.point_count)
        self.overflow = self._ints(1)
        self._bodies()
        self._objects()
        self._movers()
        self._buffers()

    # what a step calls ----------------------------------------------------------------------------------------------

    def find(self) -> None:
        """All contact of one substep: found and answered at once."""
        if self.total < 2:
            return
        s, w, m, k, rigids = self.state, self.scratch, self.model, self.k_response, self.state.rigid
        self.pair_count.zero_()
        self.contacts.count.zero_()
        wp.launch_tiled(
            self.k_measure.measure,
            dim=[self.total],
            inputs=[
                self.bodies, w.dt, s.points, s.point_v, w.move, m.inverse_mass, rigids.x, rigids.v, rigids.q,
                rigids.spin, m.rigids.inverse_mass, self.objects, self.drift, self.kick,
            ],
            block_dim=self.lanes,
            device=self.device,
        )  # fmt: skip
        self._launch(
            self.k_measure.find_pairs, self.total, self.bodies, self.objects, self.pair_capacity, self.pair,
            self.pair_count, self.overflow,
        )  # fmt: skip
        common = (self.bodies, self.objects, self.movers, self.contacts)
        for upwards in (1, 0):
            self._launch(k.begin_pass, self.total, self.contacts)
            self._launch(
                k.find_contacts, (self.pair_capacity, self.lanes), upwards, self.lanes, self.pair, self.pair_count,
                w.dt, *common, self.overflow,
            )  # fmt: skip
            self._launch(k.solve, self.capacity, w.dt, *common)
            self._launch(k.apply, self.capacity, w.dt, *common)
        self._launch(k.spread, self.soft_points, self.surfaces.point_body, self.movers)

    def grow(self) -> None:
        """Make room: as much as was asked for and half again, at least twice of what was too small."""
        pairs, contacts = int(self.pair_count.numpy()[0]), int(self.contacts.count.numpy()[0])
        known = pairs > self.pair_capacity or contacts > self.capacity  # else it was in an earlier substep
        if pairs > self.pair_capacity or not known:
            self.pair_capacity = max(2 * self.pair_capacity, pairs + pairs // 2)
        if contacts > self.capacity or not known:
            self.capacity = max(2 * self.capacity, contacts + contacts // 2)
        self._buffers()
        self.overflow.zero_()

    def found(self) -> dict[str, Any]:
        """The contacts of the last substep, as arrays of the host."""
        c, dim = self.contacts, self.model.numbers.dim
        count = min(int(c.count.numpy()[0]), self.capacity) if self.total > 1 else 0
        point = c.point.numpy()[:count]
        normal = c.normal.numpy()[:count].astype(float).reshape(-1, dim)
        impulse = c.impulse.numpy()[:count].astype(float).reshape(-1, dim)
        place = self.state.points.numpy()[point].astype(float).reshape(-1, dim)
        return {
            "pair": c.pair.numpy()[:count].reshape(-1, 2),
            "point": place,
            "normal": normal,
            "depth": c.depth.numpy()[:count].astype(float),
            "impulse": np.einsum("ij,ij->i", impulse, normal),
        }

    # arrays ---------------------------------------------------------------------------------------------------------

    def _launch(self, kernel: Any, dim: Any, *inputs: Any) -> None:
        wp.launch(kernel, dim=dim, inputs=list(inputs), device=self.device)

    def _ints(self, size: int) -> Any:
        return wp.zeros(size, dtype=wp.int32, device=self.device)

    def _reals(self, size: int) -> Any:
        return wp.zeros(size, dtype=self.model.numbers.real, device=self.device)

    def _vectors(self, size: int) -> Any:
        return wp.zeros(size, dtype=self.model.numbers.vec, device=self.device)

    def _bodies(self) -> None:
        model, surfaces, worlds = self.model, self.surfaces, self.model.worlds
        dim, rigids = model.numbers.dim, model.rigids
        shape, margin = [], []
        for body, skin in zip(model.bodies, surfaces.skins, strict=False):
            method = body.volume if isinstance(body, SoftBody) else "box"
            shape.append(OBJECTS.get(method, ELLIPSOID))
            margin.append(0.0 if isinstance(body, SoftBody) else skin)
        centre, half = [np.zeros((surfaces.soft_bodies, dim))], [np.ones((surfaces.soft_bodies, dim))]
        for collider in rigids.collision:
            kind, middle, axes = _object_of(collider)
            shape.append(kind)
            margin.append(collider.skin)
            centre.append(middle[None])
            half.append(axes[None])
        bodies = self.k_measure.Bodies()
        bodies.start, bodies.end = surfaces.point_start, surfaces.point_end
        bodies.rigid, bodies.soft, bodies.closed = surfaces.rigid_index, surfaces.soft_index, surfaces.closed
        first = np.repeat(np.arange(worlds), surfaces.bodies) * surfaces.bodies
        bodies.first, bodies.last = model.int_array(first), model.int_array(first + surfaces.bodies)
        bodies.shape, bodies.margin = model.int_array(np.tile(shape, worlds)), model.real_array(np.tile(margin, worlds))
        bodies.local_centre = model.vec_array(np.tile(np.concatenate(centre), (worlds, 1)))
        bodies.local_half = model.vec_array(np.tile(np.concatenate(half), (worlds, 1)))
        bodies.stranger_start, bodies.stranger = surfaces.excluded_start, surfaces.excluded
        self.bodies = bodies

    def _objects(self) -> None:
        objects, count, n = self.k_measure.Objects(), self.total, self.model.numbers
        for name in ("centre", "half", "low", "high", "points_low", "points_high", "velocity"):
            setattr(objects, name, self._vectors(count))
        pose = n.real if n.dim == 2 else wp.quatf if n.precision == "single" else wp.quatd
        objects.frame = wp.zeros(count, dtype=pose, device=self.device)
        objects.inverse_mass = self._reals(count)
        self.objects = objects

    def _movers(self) -> None:
        model, s, w, movers = self.model, self.state, self.scratch, self.k_response.Movers()
        rigids, rigid = model.rigids, s.rigid
        self.drift, self.kick = self._vectors(self.total), self._vectors(self.total)
        movers.points, movers.v, movers.move, movers.inverse_mass = s.points, s.point_v, w.move, model.inverse_mass
        movers.friction, movers.restitution = model.friction, model.restitution
        movers.drift, movers.kick = self.drift, self.kick
        movers.x, movers.rigid_v, movers.angular, movers.spin = rigid.x, rigid.v, rigid.angular, rigid.spin
        movers.rigid_mass, movers.world_inertia = rigids.inverse_mass, w.rigid.world_inertia
        movers.push_move, movers.push_turn = w.rigid.push_move, w.rigid.push_turn
        movers.rigid_friction, movers.rigid_restitution = rigids.friction, rigids.restitution
        self.movers = movers

    def _buffers(self) -> None:
        """Everything that has a capacity."""
        contacts, size = self.k_response.Contacts(), self.capacity
        contacts.capacity = size
        contacts.count, contacts.point = self._ints(2), self._ints(size)
        contacts.pair = wp.zeros(size, dtype=wp.vec2i, device=self.device)
        for name in ("normal", "impulse", "shift"):
            setattr(contacts, name, self._vectors(size))
        contacts.depth, contacts.weight = self._reals(size), self._reals(size)
        contacts.hits, contacts.body_hits = self._ints(self.soft_points), self._ints(self.total)
        contacts.body_weight = self._reals(self.total)
        self.contacts = contacts
        self.pair = wp.zeros(self.pair_capacity, dtype=wp.vec2i, device=self.device)
        self.pair_count = self._ints(1)


def _object_of(collider: Collider) -> tuple[int, FloatArray, FloatArray]:
    """(shape, centre, half axes) of a rigid body's object, in its principal axes."""
    points, dim = collider.points, collider.points.shape[1]
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    if collider.kind == "sphere":
        return BALL, middle, np.full(dim, collider.radius)
    half = 0.5 * np.ptp(points, axis=0) + collider.radius
    if collider.kind == "mesh":
        return BOX, middle, half + collider.skin
    # the half axes grow until all points are inside; a capsule's round ends touch where the way out is the longest
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
