"""Contact by collision particles (Martin 2009, 5): `contact="particles"`, and "particles-martin" to the letter.

Spheres find pairs of bodies; particles that have settled on the closest features of two soft bodies find their
contacts, vertices inside each other those of a soft and a rigid body; impulses and displacements resolve them. Pairs of
rigid bodies belong to the rigid solver. A body does not touch itself, as in the paper.

"particles" lets the particles look in every substep and gives small bodies more of them than the paper;
"particles-martin" has the paper's ten rounds per frame and its eighth of the vertices, however few. The paper's skin, a
sixth of a ball's radius, is the scene's to give (`skin`): turgor's default of 5 % of an edge is thin for a method that
does not look everywhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from turgor.contact import movers
from turgor.contact.martin2009 import adapt, broad, particles, records, response, soft_rigid, soft_soft
from turgor.contact.martin2009.placement import LEAST_PARTICLES, ParticleFeatures
from turgor.contact.method import ContactMethod
from turgor.kernel.launch import Launcher
from turgor.kernel.structs import zeros
from turgor.model.model import Model
from turgor.model.scratch import Scratch
from turgor.model.state import State
from turgor.model.surfaces import Surfaces

__all__ = ["AdaptiveParticleContacts", "MartinContacts", "ParticleContacts"]

ROUNDS = 4  # of impulses in a substep
PAIRS_PER_BODY = 8  # capacity at the start
PAIR_LANES, ELEMENT_LANES = 256, 128  # GPU threads for pairs, and for the elements of a pair
CONTACT_LANES = 1 << 14  # GPU threads for contacts


class ParticleContacts(ContactMethod):
    """The method's arrays and launches. `SAVED`: the feature of each particle, from which the next substep starts."""

    SAVED: tuple[str, ...] = ("particle_feature",)
    CHANGED: tuple[str, ...] = ("particle_feature",)
    LEAST: int = LEAST_PARTICLES  # particles of a body in a pair
    adaptive: bool = False  # whether the number of particles follows how many of them find contacts

    def __init__(self, model: Model, state: State, scratch: Scratch, surfaces: Surfaces) -> None:
        self.model, self.state, self.surfaces = model, state, surfaces
        n, device, soft, rigid = model.numbers, model.device, model.vertices * model.worlds, model.rigids.total
        self.k_broad, self.k_particles = broad.kernels(n), particles.kernels(n)
        self.k_soft, self.k_rigid = soft_soft.kernels(n), soft_rigid.kernels(n)
        self.k_response = response.kernels(n)
        gpu = bool(device.is_cuda)
        self.pair_lanes, self.element_lanes = (PAIR_LANES, ELEMENT_LANES) if gpu else (1, 1)
        self.contact_lanes = CONTACT_LANES if gpu else 1
        self.features = features = ParticleFeatures(model, self.LEAST, self.adaptive)
        self.particle_active = model.index_array(np.tile(features.pair_active, (model.worlds, 1)), wp.vec2i)
        self.particle_hit = self._zeros(features.particles * model.worlds if self.adaptive else 0, wp.int32)
        self.particle_feature = model.int_array(np.tile(features.places, model.worlds))
        self.particle_position = self._zeros(features.particles * model.worlds, n.vec)  # m, middle of the feature
        bodies = surfaces.bodies * model.worlds
        self.box_low, self.box_high = self._zeros(bodies, n.vec), self._zeros(bodies, n.vec)  # m, of each body
        self.pair_count = self._zeros(2, wp.int32)  # found: soft-soft, soft-rigid
        self.contact_count, self.overflow = self._zeros(1, wp.int32), self._zeros(1, wp.int32)
        self.sums = zeros(self.k_response.Sums, rigid, device, velocity=soft)
        self.tables = self._tables()
        rigids = [state.rigid, scratch.rigid, model.rigids]
        self.launch = Launcher(device, state, scratch, surfaces, self.tables, self, soft=[model], rigid=rigids)
        self.movers = self.launch.struct(movers.kernels(n).Movers)
        self.pair_capacity = max(64, PAIRS_PER_BODY * (len(model.parts) * model.worlds + bodies))
        self.contact_capacity = max(1024, 2 * soft)
        self._buffers()

    # arrays ---------------------------------------------------------------------------------------------------------

    def _zeros(self, size: int, dtype: Any) -> Any:
        return wp.zeros(size, dtype=dtype, device=self.model.device)

    def _tables(self) -> dict[str, Any]:
        """What does not change, by the names that kernels have for it; pairs are those of one world."""
        m, f, soft = self.model, self.features, len(self.model.parts)
        mixed = [(a, b) for a in range(soft) for b in range(soft, self.surfaces.bodies)]
        hulls = [0] * soft + [int(collider.kind == "hull") for collider in m.rigids.collision]
        glued = np.full(m.vertices * m.worlds, -1)
        glued[m.glue.vertex.numpy()] = m.glue.body.numpy()
        return {
            "corners": m.index_array(f.corners, wp.vec3i),
            "neighbour_start": m.int_array(f.neighbour_start),
            "neighbours": m.int_array(f.neighbours),
            "soft_pairs": m.index_array(f.pair, wp.vec2i),
            "particle_counts": m.index_array(f.pair_counts, wp.vec2i),
            "particle_start": m.int_array(f.pair_start),
            "mixed_pairs": m.index_array(np.array(mixed, np.int32).reshape(-1, 2), wp.vec2i),
            "convex": m.int_array(np.tile(hulls, m.worlds)),
            "glued_to": m.int_array(glued),  # rigid body of each soft vertex, or -1
        }

    def _buffers(self) -> None:
        """Arrays that may be too small."""
        worlds, capacity = self.model.worlds, self.pair_capacity
        soft = min(capacity, len(self.tables["soft_pairs"]) * worlds)
        self.found_soft = self._zeros(soft, wp.int32)  # pairs whose spheres meet
        self.progress = self._zeros(soft, wp.vec2i)  # rounds of particles, and how many moved in the last
        self.found_mixed = self._zeros(min(capacity, len(self.tables["mixed_pairs"]) * worlds), wp.int32)
        self.contacts = zeros(
            records.kernels(self.model.numbers).Contacts, self.contact_capacity, self.model.device,
            count=self.contact_count, overflow=self.overflow, vertex_contacts=len(self.state.v),
            rigid_contacts=self.model.rigids.total,
        )  # fmt: skip

    def grow(self) -> None:
        """Larger buffers, after `overflow`."""
        self.pair_capacity = max(2 * self.pair_capacity, int(self.pair_count.numpy().max()))
        self.contact_capacity = max(2 * self.contact_capacity, int(self.contact_count.numpy()[0]))
        self.overflow.zero_()
        self._buffers()

    # stages ---------------------------------------------------------------------------------------------------------

    def find(self) -> None:
        """Contacts of this substep, found and resolved at once."""
        if self.model.vertices == 0 or self.surfaces.bodies < 2:
            return
        self.find_pairs()
        if len(self.tables["soft_pairs"]):
            self.move_particles()
        self.find_contacts()
        wp.capture_if(self.contact_count, self.resolve)

    def find_pairs(self) -> None:
        """Pairs of bodies whose spheres meet."""
        launch, k, points, worlds = self.launch, self.k_broad, self.state.points, self.model.worlds
        launch(k.reset_boxes, len(self.box_low))
        launch(k.find_boxes, len(points), points=points)
        for kind, name, found in ((0, "soft_pairs", self.found_soft), (1, "mixed_pairs", self.found_mixed)):
            pairs = self.tables[name]
            if len(pairs):
                launch(k.find_pairs, (worlds, len(pairs)), kind=kind, pair_bodies=pairs, found=found)

    def move_particles(self) -> None:
        """Particles in the middle of their features, where these are now, and rounds."""
        grid = (self.pair_lanes, self.element_lanes)
        self.launch(self.k_particles.place_particles, grid, points=self.state.points)
        self.run_rounds()

    def run_rounds(self) -> None:
        """Rounds until the particles of each pair have settled."""
        kernel, points = self.k_particles.move_particles, self.state.points
        self.launch.blocks(kernel, self.pair_lanes, particles.BLOCK, points=points)

    def find_contacts(self) -> None:
        """Feature tests of soft pairs, vertices inside of mixed ones."""
        launch, points, grid = self.launch, self.state.points, (self.pair_lanes, self.element_lanes)
        if len(self.tables["soft_pairs"]):
            launch(self.k_soft.test_particles, grid, points=points)
            self.adapt_counts()
        if len(self.tables["mixed_pairs"]):
            launch(self.k_rigid.test_soft_vertices, grid, points=points)
            launch(self.k_rigid.test_rigid_vertices, grid, points=points)

    def adapt_counts(self) -> None:
        """As many particles for the next substep as the contacts of this one ask for."""
        if self.adaptive:
            self.launch(adapt.kernels(self.model.numbers).adapt_counts, self.pair_lanes)

    def resolve(self) -> None:
        """Impulses in rounds, then displacements."""
        launch, k = self.launch, self.k_response
        everything = max(len(self.state.v), self.model.rigids.total)
        for turn in range(ROUNDS):
            launch(k.add_impulses, self.contact_lanes, first_round=int(turn == 0))
            launch(k.apply_impulses, everything)
        launch(k.add_pushes, self.contact_lanes)
        launch(k.apply_pushes, everything)

    # results --------------------------------------------------------------------------------------------------------

    def found(self) -> dict[str, npt.NDArray[Any]]:
        """Contacts of the last substep: pair, point (m), normal from second to first, depth (m), impulse (N s)."""
        count = min(int(self.contact_count.numpy()[0]), self.contact_capacity)
        contacts = self.contacts
        depth = contacts.thickness.numpy()[:count] - contacts.gap.numpy()[:count]
        return {
            "pair": contacts.bodies.numpy()[:count],
            "point": contacts.point.numpy()[:count].astype(float),
            "normal": contacts.normal.numpy()[:count].astype(float),
            "depth": depth.astype(float),
            "impulse": contacts.impulse.numpy()[:count].astype(float),
        }

    def particles(self) -> dict[str, npt.NDArray[Any]]:
        """Particles of the pairs whose spheres met in the last substep: position (m), owner and other body."""
        f = self.features
        pairs, active = min(int(self.pair_count.numpy()[0]), len(self.found_soft)), self.particle_active.numpy()
        numbers, owners, others = [], [], []
        for flat in self.found_soft.numpy()[:pairs]:
            world, p = divmod(int(flat), len(f.pair))
            first, second = (int(b) + world * self.surfaces.bodies for b in f.pair[p])
            counts, begin = active[flat], world * f.particles + int(f.pair_start[p])
            numbers += [begin + np.arange(counts[0]), begin + f.pair_counts[p][0] + np.arange(counts[1])]
            owners.append(np.repeat([first, second], counts))
            others.append(np.repeat([second, first], counts))
        empty = np.zeros(0, np.int64)
        return {
            "position": self.particle_position.numpy()[np.concatenate([*numbers, empty])].astype(float)
            + self.model.anchor,
            "owner": np.concatenate([*owners, empty]),
            "other": np.concatenate([*others, empty]),
        }


class MartinContacts(ParticleContacts):
    """To the letter: an eighth as many particles as vertices, however few, that have their rounds once per frame."""

    LEAST = 1

    def __init__(self, model: Model, state: State, scratch: Scratch, surfaces: Surfaces) -> None:
        super().__init__(model, state, scratch, surfaces)
        self.due = self._zeros(1, wp.int32)  # 1: the rounds of this frame are still to come
        self.begin_frame()

    def begin_frame(self) -> None:
        """The particles have rounds again."""
        self.due.fill_(1)

    def run_rounds(self) -> None:
        """In the first substep of a frame; in all others the particles are carried by their features."""
        wp.capture_if(self.due, self.run_due_rounds)

    def run_due_rounds(self) -> None:
        """The rounds of this frame."""
        super().run_rounds()
        self.due.zero_()


class AdaptiveParticleContacts(ParticleContacts):
    """The same with as many particles as find contacts (`adapt.py`): `contact="particles-adaptive"`."""

    SAVED: tuple[str, ...] = ("particle_feature", "particle_active")
    CHANGED: tuple[str, ...] = ("particle_feature", "particle_active")
    adaptive = True
