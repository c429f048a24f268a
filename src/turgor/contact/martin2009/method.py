"""Contact by collision particles (Martin 2009, 5): `contact="particles"`.

Spheres find pairs of bodies; particles that have settled on the closest features of two soft bodies find their
contacts, vertices inside each other those of a soft and a rigid body; impulses and displacements answer them. Pairs of
rigid bodies belong to the rigid solver. A body does not touch itself, as in the paper.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from turgor.contact.martin2009 import broad, contacts, particles, records, response, soft_rigid
from turgor.contact.martin2009.placement import ParticleFeatures
from turgor.contact.method import ContactMethod
from turgor.model.model import Model
from turgor.model.scratch import Scratch
from turgor.model.state import State
from turgor.model.surfaces import Surfaces

__all__ = ["ParticleContacts"]

ROUNDS = 4  # of impulses in a substep
PAIRS_PER_BODY = 8  # room at the start
LANES = (256, 128)  # GPU threads for pairs, and for the elements of a pair
ROW_LANES = 1 << 14  # GPU threads for contacts


class ParticleContacts(ContactMethod):
    """The method's arrays and launches. `SAVED`: where each particle rests, which the next substep starts from."""

    SAVED: tuple[str, ...] = ("place",)
    CHANGED: tuple[str, ...] = ("place",)

    def __init__(self, model: Model, state: State, scratch: Scratch, surfaces: Surfaces) -> None:
        self.model, self.state, self.scratch, self.surfaces = model, state, scratch, surfaces
        n = model.numbers
        self.k_spheres, self.k_motion = broad.kernels(n), particles.kernels(n)
        self.k_tests, self.k_rigid = contacts.kernels(n), soft_rigid.kernels(n)
        self.k_response, self.k_rows = response.kernels(n), records.kernels(n)
        gpu = bool(model.device.is_cuda)
        self.lanes = wp.vec2i(*LANES) if gpu else wp.vec2i(1, 1)
        self.row_lanes = ROW_LANES if gpu else 1
        self.scale = wp.ones(model.vertices * model.worlds, dtype=n.real, device=model.device)
        self._tables()
        self._bodies()
        bodies = (surfaces.soft_bodies + surfaces.bodies) * model.worlds
        self.pair_room = max(64, PAIRS_PER_BODY * bodies)
        self.row_room = max(1024, 2 * model.vertices * model.worlds)
        self._buffers()

    # arrays ---------------------------------------------------------------------------------------------------------

    def _tables(self) -> None:
        m = self.model
        f = self.features = ParticleFeatures(m)
        self.corners = m.index_array(f.corners, wp.vec3i)
        self.neighbour_start, self.neighbours = m.int_array(f.neighbour_start), m.int_array(f.neighbours)
        self.pairs, self.counts = m.index_array(f.pair, wp.vec2i), m.index_array(f.pair_counts, wp.vec2i)
        self.starts = m.int_array(f.pair_start)
        self.place = m.int_array(np.tile(f.places, m.worlds))  # feature of each particle
        self.position = self._zeros(f.particles * m.worlds, m.numbers.vec)  # m, middle of the feature

    def _bodies(self) -> None:
        m, surfaces, rigids = self.model, self.surfaces, self.model.rigids
        n = m.numbers
        mixed = [(a, b) for a in range(surfaces.soft_bodies) for b in range(surfaces.soft_bodies, surfaces.bodies)]
        self.mixed_count = len(mixed)
        self.mixed = m.index_array(np.array(mixed, np.int32).reshape(-1, 2), wp.vec2i)
        hulls = [0] * surfaces.soft_bodies + [int(collider.kind == "hull") for collider in rigids.collision]
        self.convex = m.int_array(np.tile(hulls, m.worlds))
        glued = np.full(m.vertices * m.worlds, -1)
        glued[m.glue.vertex.numpy()] = m.glue.body.numpy()
        self.glued_to = m.int_array(glued)
        everything = surfaces.bodies * m.worlds
        self.low, self.high = self._zeros(everything, n.vec), self._zeros(everything, n.vec)
        self.vertex_rows = self._zeros(m.vertices * m.worlds, wp.int32)
        self.rigid_rows = self._zeros(rigids.total, wp.int32)
        self.change = self._zeros(m.vertices * m.worlds, n.vec)
        self.momentum, self.moment = self._zeros(rigids.total, n.vec), self._zeros(rigids.total, n.spin)
        self.pair_count, self.row_count = self._zeros(2, wp.int32), self._zeros(1, wp.int32)
        self.overflow = self._zeros(1, wp.int32)

    def _buffers(self) -> None:
        """What may be too small."""
        pairs = len(self.features.pair) * self.model.worlds
        room = min(self.pair_room, pairs)
        self.found_soft = self._zeros(room, wp.int32)  # pairs whose spheres meet
        self.progress = self._zeros(room, wp.vec2i)  # rounds of particles, and how many moved in the last
        self.found_mixed = self._zeros(min(self.pair_room, self.mixed_count * self.model.worlds), wp.int32)
        self.rows = self.k_rows.Rows()
        self.rows.count, self.rows.overflow = self.row_count, self.overflow
        self.rows.vertex_rows, self.rows.rigid_rows = self.vertex_rows, self.rigid_rows
        for name in records.FIELDS:
            setattr(self.rows, name, self._zeros(self.row_room, self.k_rows.types[name]))

    def _zeros(self, size: int, dtype: Any) -> Any:
        return wp.zeros(size, dtype=dtype, device=self.model.device)

    def _movers(self) -> Any:
        s, w, m, r = self.state, self.scratch, self.model, self.state.rigid
        movers = self.k_response.Movers()
        movers.v, movers.move, movers.inverse_mass, movers.change = s.v, w.move, m.inverse_mass, self.change
        movers.rigid_x, movers.rigid_v, movers.angular, movers.spin = r.x, r.v, r.angular, r.spin
        movers.rigid_inverse_mass, movers.world_inertia = m.rigids.inverse_mass, w.rigid.world_inertia
        movers.push_move, movers.push_turn = w.rigid.push_move, w.rigid.push_turn
        movers.momentum, movers.moment = self.momentum, self.moment
        return movers

    def grow(self) -> None:
        """Larger buffers, after `overflow`."""
        self.pair_room = max(2 * self.pair_room, int(self.pair_count.numpy().max()))
        self.row_room = max(2 * self.row_room, int(self.row_count.numpy()[0]))
        self.overflow.zero_()
        self._buffers()

    @property
    def capacity(self) -> str:
        """The room there is, in words."""
        return f"{self.pair_room} pairs of bodies and {self.row_room} contacts"

    # launches -------------------------------------------------------------------------------------------------------

    def find(self) -> None:
        """Contacts of this substep, found and answered at once."""
        if self.model.vertices == 0 or self.surfaces.bodies < 2:
            return
        self.find_pairs()
        if len(self.features.pair):
            self.move_particles()
        self.find_contacts()
        wp.capture_if(self.row_count, self.answer)

    def _launch(self, kernel: Any, dim: Any, *inputs: Any) -> None:
        wp.launch(kernel, dim=dim, inputs=list(inputs), device=self.model.device)

    def find_pairs(self) -> None:
        """Pairs of bodies whose spheres meet."""
        s, k, surfaces, worlds = self.state, self.k_spheres, self.surfaces, self.model.worlds
        self._launch(k.reset_boxes, surfaces.bodies * worlds, self.low, self.high, self.pair_count, self.row_count)
        self._launch(
            k.find_boxes,
            surfaces.point_count,
            s.points,
            s.point_v,
            surfaces.point_body,
            self.scratch.dt,
            self.low,
            self.high,
        )
        for kind, pairs, found in ((0, self.pairs, self.found_soft), (1, self.mixed, self.found_mixed)):
            if len(pairs):
                self._launch(
                    k.find_pairs, (worlds, len(pairs)), kind, pairs, surfaces.bodies, self.low, self.high,
                    surfaces.thickness, self.pair_count, found, self.overflow,
                )  # fmt: skip

    def move_particles(self) -> None:
        """Rounds until the particles of each pair have settled."""
        m, k, lanes = self.model, self.k_motion, self.lanes
        self._launch(
            k.place_particles, tuple(lanes), lanes, self.pair_count, self.found_soft, self.starts, self.corners,
            m.vertices, self.state.points, self.place, self.position,
        )  # fmt: skip
        wp.launch_tiled(
            k.move_particles, dim=[lanes[0]], block_dim=particles.BLOCK, device=m.device,
            inputs=[
                lanes[0], self.pair_count, self.found_soft, self.pairs, self.counts, self.starts, self.corners,
                self.neighbour_start, self.neighbours, m.vertices, self.surfaces.bodies, self.surfaces.edge_size,
                self.state.points, self.place, self.position, self.progress,
            ],
        )  # fmt: skip

    def find_contacts(self) -> None:
        """Feature tests of soft pairs, vertices inside of mixed ones."""
        s, w, m, surfaces, rigids = self.state, self.scratch, self.model, self.surfaces, self.state.rigid
        if len(self.features.pair):
            self._launch(
                self.k_tests.test_particles, tuple(self.lanes), self.lanes, self.pair_count, self.found_soft,
                self.pairs, self.counts, self.starts, self.corners, self.neighbour_start, self.neighbours, m.vertices,
                surfaces.bodies, surfaces.thickness, surfaces.edge_size, surfaces.closed, self.place, self.position,
                surfaces.face_start, surfaces.faces, s.points, w.move, self.rows,
            )  # fmt: skip
        if self.mixed_count:
            for kernel, inside in (
                (self.k_rigid.test_soft_vertices, self.convex),
                (self.k_rigid.test_rigid_vertices, surfaces.closed),
            ):
                self._launch(
                    kernel, tuple(self.lanes), self.lanes, self.pair_count, self.found_mixed, self.mixed,
                    surfaces.bodies, w.dt, self.low, self.high, surfaces.thickness, inside, surfaces.rigid_index,
                    surfaces.point_start, surfaces.point_end, surfaces.face_start, surfaces.faces, self.glued_to,
                    s.points, w.move, rigids.x, rigids.v, rigids.spin, self.rows,
                )  # fmt: skip

    def answer(self) -> None:
        """Impulses in rounds, then displacements."""
        m, s, k, surfaces, rigids = self.model, self.scratch, self.k_response, self.surfaces, self.model.rigids
        movers = self._movers()
        everything = max(m.vertices * m.worlds, rigids.total)
        for turn in range(ROUNDS):
            self._launch(
                k.add_impulses, self.row_lanes, self.row_lanes, int(turn == 0), self.rows, movers, surfaces.soft_index,
                surfaces.rigid_index, m.friction, rigids.friction, m.restitution, rigids.restitution,
            )  # fmt: skip
            self._launch(k.apply_impulses, everything, s.dt, self.rows, movers)
        self._launch(k.add_pushes, self.row_lanes, self.row_lanes, s.dt, self.rows, movers)
        self._launch(k.apply_pushes, everything, self.rows, movers)

    # results --------------------------------------------------------------------------------------------------------

    def found(self) -> dict[str, npt.NDArray[Any]]:
        """Contacts of the last substep: pair, point (m), normal from second to first, depth (m), impulse (N s)."""
        count = min(int(self.row_count.numpy()[0]), self.row_room)
        rows = self.rows
        depth = rows.thickness.numpy()[:count] - rows.gap.numpy()[:count]
        return {
            "pair": rows.bodies.numpy()[:count],
            "point": rows.point.numpy()[:count].astype(float),
            "normal": rows.normal.numpy()[:count].astype(float),
            "depth": depth.astype(float),
            "impulse": rows.impulse.numpy()[:count].astype(float),
        }

    def particles(self) -> dict[str, npt.NDArray[Any]]:
        """Particles of the pairs whose spheres met in the last substep: position (m), owner and other body (B19)."""
        f = self.features
        active = min(int(self.pair_count.numpy()[0]), len(self.found_soft))
        numbers, owners, others = [], [], []
        for flat in self.found_soft.numpy()[:active]:
            world, p = divmod(int(flat), len(f.pair))
            first, second = (int(b) + world * self.surfaces.bodies for b in f.pair[p])
            counts = f.pair_counts[p]
            numbers.append(world * f.particles + np.arange(f.pair_start[p], f.pair_start[p + 1]))
            owners.append(np.repeat([first, second], counts))
            others.append(np.repeat([second, first], counts))
        empty = np.zeros(0, np.int64)
        return {
            "position": self.position.numpy()[np.concatenate([*numbers, empty])].astype(float) + self.model.anchor,
            "owner": np.concatenate([*owners, empty]),
            "other": np.concatenate([*others, empty]),
        }
