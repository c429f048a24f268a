"""The contacts of a simulation for its user: `sim.contacts()`, and the events of `sim.on_contact`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import numpy.typing as npt

from turgor.diagnose.contacts import Contacts, Touches, joined, wall_touches
from turgor.scene.described import described
from turgor.simulation.failure import ensure_fine
from turgor.simulation.views.view import FloatArray

if TYPE_CHECKING:
    from turgor.model.surfaces import Surfaces
    from turgor.simulation.simulation import Simulation

__all__ = ["ContactEvent", "Listeners", "contacts_of"]


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
    return joined(parts, sim.scene.dim)


def _on_walls(sim: Simulation) -> Touches:
    """Soft vertices on walls."""
    m, walls = sim.model, sim.model.walls
    x = np.asarray(sim.state.x.numpy(), np.float64)
    owner = np.concatenate(
        [np.full(len(walls.index[wall.name]), k) for k, wall in enumerate(walls.scene)] or [np.zeros(0)]
    )
    resolution = 1e-5 * max([part.size for part in m.parts], default=0.0)
    body = np.tile(m.body_host, sim.worlds).astype(np.int64)
    world = np.repeat(np.arange(sim.worlds), m.vertices)
    normal = np.asarray(sim.state.walls.normal.numpy(), np.float64)
    found = wall_touches(
        x, body, world, normal, np.asarray(sim.state.walls.point.numpy(), np.float64), owner.astype(int), resolution
    )
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
    )


def _between_rigids(
    sim: Simulation, found: dict[str, npt.NDArray[Any]], names: list[str], wall_names: list[str]
) -> list[tuple[Touches, list[str], list[str]]]:
    """What the rigid solver found: pairs of rigid bodies, and rigid bodies on walls."""
    soft, per_world = len(sim.model.parts), max(sim.model.rigids.count, 1)
    wall_of = np.concatenate(
        [np.full(len(sim.model.walls.index[wall.name]), k) for k, wall in enumerate(sim.model.walls.scene)]
        or [np.zeros(0)]
    ).astype(np.int64)
    first, second = np.asarray(found["first"], np.int64), np.asarray(found["second"], np.int64)
    wall = np.asarray(found["wall"], np.int64)
    parts = []
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
