"""The contacts of a simulation for its user: `sim.contacts()`, and the events of `sim.on_contact`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import numpy.typing as npt

from turgor.diagnose.contact_forces import ContactForces
from turgor.diagnose.contacts import Contacts, Touches, joined, wall_touches
from turgor.scene.described import described
from turgor.simulation.failure import ensure_fine
from turgor.simulation.views.view import FloatArray

if TYPE_CHECKING:
    from turgor.model.surfaces import Surfaces
    from turgor.simulation.simulation import Simulation

__all__ = ["ContactEvent", "Listeners", "Parts", "contacts_of", "parts_of"]

Parts = list[tuple[Touches, list[str], list[str]]]  # contacts, with the names that their `first` and `second` count


@described
@dataclass(frozen=True)
class ContactEvent:
    """A pair of things that touches, at the end of a frame."""

    first: Annotated[str, "", "a body"]
    second: Annotated[str, "", "another body, or a wall"]
    kind: Annotated[str, "", '"began", "stays" or "ended"']
    world: Annotated[int, "", "which world"]
    time: Annotated[float, "s", "at the end of the frame"]
    point: Annotated[tuple[float, ...], "m", "mean of the contact points; nan when it ended"]
    normal: Annotated[tuple[float, ...], "", "mean, towards `first`; nan when it ended"]
    impulse: Annotated[float, "N s", "along the normal in the last substep, of all its contacts; nan: not known"]


def contacts_of(sim: Simulation) -> Contacts:
    """Everything that touches now."""
    parts = parts_of(sim) if sim.sleep is None else sim.sleep.contacts(sim)
    return joined(parts, sim.scene.dim, _forces(sim))


def parts_of(sim: Simulation) -> Parts:
    """What touched in the last substep, by kinds."""
    ensure_fine(sim)
    walls, names = sim.model.walls, sim.names
    wall_names = [wall.name for wall in walls.scene]
    parts = [(_on_walls(sim), names, wall_names)]
    split = sim.engine.split
    if split is not None:
        if split.method is not None:
            parts.append((_between_bodies(sim, split.surfaces, split.method.found()), names, names))
        if split.rigid_contacts is not None:
            parts += _between_rigids(sim, split.rigid_contacts.found(), names, wall_names)
    return parts


def _on_walls(sim: Simulation) -> Touches:
    """Soft vertices on walls."""
    m, walls = sim.model, sim.model.walls
    x = np.asarray(sim.state.x.numpy(), np.float64)
    resolution = 1e-5 * max([part.size for part in m.parts], default=0.0)
    body = np.tile(m.body_host, sim.worlds).astype(np.int64)
    world = np.repeat(np.arange(sim.worlds), m.vertices)
    normal = np.asarray(sim.state.walls.normal.numpy(), np.float64)
    impulse = np.asarray(sim.engine.scratch.wall_impulse.numpy(), np.float64)
    point = np.asarray(sim.state.walls.point.numpy(), np.float64)
    area = _vertex_areas(sim, x) if walls.count else np.zeros(len(x))
    readings = None if sim.engine.split is None else sim.engine.split.readings
    force = _per_second(sim, impulse)
    if readings is not None:
        force = sim.settings.fps * np.asarray(readings.wall_sum.numpy(), np.float64)
    found = wall_touches(x, body, world, impulse, area, force, normal, point, _wall_of(sim), resolution)
    found.points[:] += m.anchor
    return found


def _between_bodies(sim: Simulation, surfaces: Surfaces, found: dict[str, npt.NDArray[Any]]) -> Touches:
    """What a contact method found: soft bodies, cloths and rigid bodies among each other."""
    per_world = surfaces.bodies
    pair = np.asarray(found["pair"], np.int64).reshape(-1, 2)
    local = pair % max(per_world, 1)
    skins = surfaces.skins[local].sum(axis=1) if len(local) else np.zeros(0)
    depth = np.asarray(found["depth"], np.float64)
    return Touches(
        first=local[:, 0],
        second=local[:, 1],
        world=pair[:, 0] // max(per_world, 1),
        points=np.asarray(found["point"], np.float64) + sim.model.anchor,
        normals=np.asarray(found["normal"], np.float64),
        depths=depth,
        impulses=np.asarray(found["impulse"], np.float64),
        penetrations=np.maximum(depth - skins, 0.0),
        areas=_patch_areas(sim, pair, found),
        forces=_last_forces(sim, found),
    )


def _last_forces(sim: Simulation, found: dict[str, npt.NDArray[Any]]) -> FloatArray:
    """(n, dim) N on the first in the last substep: normal, and friction where the method knows it."""
    impulse = np.asarray(found["impulse"], np.float64)[:, None] * np.asarray(found["normal"], np.float64)
    return _per_second(sim, impulse + np.asarray(found.get("friction", 0.0), np.float64))


def _per_second(sim: Simulation, impulses: FloatArray) -> FloatArray:
    """N of N s in the last substep; none before the first."""
    dt = sim.dt
    return np.asarray(impulses / dt if dt > 0.0 else np.zeros_like(impulses))


def _wall_of(sim: Simulation) -> npt.NDArray[np.int64]:
    """The wall of each half space."""
    walls = sim.model.walls
    rows = [np.full(len(walls.index[wall.name]), k) for k, wall in enumerate(walls.scene)]
    return np.concatenate([*rows, np.zeros(0)]).astype(np.int64)


def _vertex_areas(sim: Simulation, x: FloatArray) -> FloatArray:
    """(vertices of all worlds,) m²: a third of the faces around each soft vertex (2D: m, half of the segments)."""
    dim, faces = sim.scene.dim, sim.model.faces_host
    corners = x.reshape(sim.worlds, -1, dim)[:, faces]
    if dim == 2:
        sizes = np.linalg.norm(corners[:, :, 1] - corners[:, :, 0], axis=2)
    else:
        a, b = corners[:, :, 1] - corners[:, :, 0], corners[:, :, 2] - corners[:, :, 0]
        sizes = 0.5 * np.linalg.norm(np.cross(a, b), axis=2)
    count = sim.model.vertices
    owners = (faces[None] + count * np.arange(sim.worlds)[:, None, None]).ravel()
    sums = np.bincount(owners, weights=np.repeat(sizes.ravel() / dim, dim), minlength=count * sim.worlds)
    return np.asarray(sums, np.float64)


def _patch_areas(sim: Simulation, pair: npt.NDArray[np.int64], found: dict[str, npt.NDArray[Any]]) -> FloatArray:
    """(n,) m²: each soft vertex gives its area to the contacts of a pair in which it takes part, by their weights.

    Of two soft sides each counts half: the patch has one area.
    """
    if "first_points" not in found or not len(pair):
        return np.full(len(pair), np.nan)
    vertices = len(sim.state.x)
    area = _vertex_areas(sim, np.asarray(sim.state.x.numpy(), np.float64))
    total, sides = np.zeros(len(pair)), np.zeros(len(pair))
    for side in ("first", "second"):
        points, weights = np.asarray(found[f"{side}_points"], np.int64), np.asarray(found[f"{side}_weights"])
        points = points[:, : weights.shape[1]]
        soft = points[:, 0] < vertices
        row, column = np.nonzero((weights != 0.0) & soft[:, None])
        vertex, weight = points[row, column], np.abs(weights[row, column])
        keys = np.stack([pair[row].min(axis=1), pair[row].max(axis=1), vertex], axis=1)
        _, which = np.unique(keys, axis=0, return_inverse=True)
        which = which.ravel()
        shared = np.bincount(which, weights=weight)
        total += np.bincount(row, weights=area[vertex] * weight / shared[which], minlength=len(pair))
        sides += soft
    return np.asarray(total / np.maximum(sides, 1.0))


def _forces(sim: Simulation) -> ContactForces:
    """Means over the last frame."""
    m, dim, worlds = sim.model, sim.scene.dim, sim.worlds
    wall_names = [wall.name for wall in m.walls.scene]
    bodies = {name: np.zeros((worlds, dim)) for name in (*sim.names, *wall_names)}
    readings = None if sim.engine.split is None else sim.engine.split.readings
    if readings is None:
        known = sim.settings.readings
        return ContactForces(worlds, [], np.zeros(0, np.int64), np.zeros((0, dim)), bodies, known)
    per_second = sim.settings.fps
    wall_of, pairs, where, vectors = _wall_of(sim), [], [], []
    soft, rigid = len(m.parts), m.rigids.count
    for array in (readings.contact_sum, readings.wall_sum):
        table = per_second * np.asarray(array.numpy(), np.float64).reshape(worlds, -1, dim)
        for body in range(soft):
            bodies[sim.names[body]] += table[:, m.starts[body] : m.starts[body + 1]].sum(axis=1)
    for index, table in enumerate(np.moveaxis(per_second * readings.rigid_sum.numpy().reshape(worlds, -1, dim), 1, 0)):
        bodies[sim.names[soft + index]] += table
    for body, wall, pushes in _pushed_by_walls(sim, per_second * np.asarray(readings.wall_sum.numpy(), np.float64)):
        bodies[wall_names[wall]] -= pushes
        for world in np.flatnonzero(np.any(pushes != 0.0, axis=1)):
            pairs.append((sim.names[body], wall_names[wall]))
            where.append(int(world))
            vectors.append(pushes[world])
    first, second, sums = readings.pairs.read()
    in_all = (soft + rigid) * worlds
    for a, b, vector in zip(first.tolist(), second.tolist(), per_second * sums, strict=True):
        world, one = divmod(a, soft + rigid)
        if b >= in_all:
            other = wall_names[int(wall_of[b - in_all])]
            bodies[other][world] -= vector
        else:
            other = sim.names[b % (soft + rigid)]
            for fixed, push in ((one, vector), (b % (soft + rigid), -vector)):
                if fixed >= soft and m.rigids.bodies[fixed - soft].kind != "dynamic":  # it has no momentum to look at
                    bodies[sim.names[fixed]][world] += push
        pairs.append((sim.names[one], other))
        where.append(world)
        vectors.append(vector)
    return ContactForces(worlds, pairs, np.array(where, np.int64), np.array(vectors).reshape(-1, dim), bodies)


def _pushed_by_walls(sim: Simulation, forces: FloatArray) -> list[tuple[int, int, FloatArray]]:
    """(body, wall, (worlds, dim) N) of the soft bodies: the push on a vertex is that of the wall it is nearest to."""
    m, dim, walls = sim.model, sim.scene.dim, sim.state.walls
    rows: list[tuple[int, int, FloatArray]] = []
    if not m.walls.count or not m.vertices:
        return rows
    x, normal = np.asarray(sim.state.x.numpy(), np.float64), np.asarray(walls.normal.numpy(), np.float64)
    point = np.asarray(walls.point.numpy(), np.float64)
    distance = x @ normal.T - np.einsum("ij,ij->i", point, normal)
    nearest = _wall_of(sim)[distance.argmin(axis=1)].reshape(sim.worlds, -1)
    table = forces.reshape(sim.worlds, -1, dim)
    pushed = np.any(table != 0.0, axis=2)
    for wall in np.unique(nearest[pushed]):
        mine = table * (nearest == wall)[:, :, None]
        for body in range(len(m.parts)):
            total = mine[:, m.starts[body] : m.starts[body + 1]].sum(axis=1)
            if np.any(total != 0.0):
                rows.append((body, int(wall), total))
    return rows


def _between_rigids(
    sim: Simulation, found: dict[str, npt.NDArray[Any]], names: list[str], wall_names: list[str]
) -> list[tuple[Touches, list[str], list[str]]]:
    """What the rigid solver found: pairs of rigid bodies, and rigid bodies on walls."""
    soft, per_world = len(sim.model.parts), max(sim.model.rigids.count, 1)
    wall_of = _wall_of(sim)
    first, second = np.asarray(found["first"], np.int64), np.asarray(found["second"], np.int64)
    wall = np.asarray(found["wall"], np.int64)
    parts = []
    force = _last_forces(sim, found)
    for on_wall in (False, True):
        mine = (wall >= 0) == on_wall
        other = wall_of[wall[mine]] if on_wall else second[mine] % per_world + soft
        depth = np.asarray(found["depth"], np.float64)[mine]
        touches = Touches(
            first=first[mine] % per_world + soft,
            second=other,
            world=first[mine] // per_world,
            points=np.asarray(found["point"], np.float64)[mine] + sim.model.anchor,
            normals=np.asarray(found["normal"], np.float64)[mine],
            depths=depth,
            impulses=np.asarray(found["impulse"], np.float64)[mine],
            penetrations=np.maximum(depth, 0.0),
            areas=np.full(len(depth), np.nan),
            forces=force[mine],
        )
        parts.append((touches, names, wall_names if on_wall else names))
    return parts


class Listeners:
    """Functions to call for contacts, and the pairs that touched in the previous frame."""

    def __init__(self) -> None:
        self.functions: list[Callable[[ContactEvent], None]] = []
        self.touching: set[tuple[int, str, str]] = set()

    def tell(self, sim: Simulation) -> None:
        """After a frame: what began, what stays, what ended."""
        if not self.functions:
            return
        found = contacts_of(sim)
        groups: dict[tuple[int, str, str], list[int]] = {}
        place = {name: index for index, name in enumerate([*sim.names, *(wall.name for wall in sim.scene.walls)])}
        for index, (pair, world) in enumerate(zip(found.pairs, found.worlds.tolist(), strict=True)):
            first, second = pair
            if place[second] < place[first]:  # a pair is reported in one order, whichever side a contact was found from
                first, second = second, first
                found.normals[index] *= -1.0
            groups.setdefault((world, first, second), []).append(index)
        for key, rows in groups.items():
            kind = "stays" if key in self.touching else "began"
            point, normal = found.points[rows].mean(axis=0), found.normals[rows].mean(axis=0)
            self._send(sim, key, kind, point, normal, float(found.impulses[rows].sum()))
        unknown = np.full(sim.scene.dim, np.nan)
        for key in sorted(self.touching - set(groups)):
            self._send(sim, key, "ended", unknown, unknown, float("nan"))
        self.touching = set(groups)

    def _send(
        self, sim: Simulation, key: tuple[int, str, str], kind: str, point: FloatArray, normal: FloatArray, p: float
    ) -> None:
        world, first, second = key
        event = ContactEvent(first, second, kind, world, sim.time, tuple(point.tolist()), tuple(normal.tolist()), p)
        for function in self.functions:
            function(event)
