"""A simulation as recorders and viewers see it: the layout once, then a frame per time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from turgor.diagnose import membranes
from turgor.model.rotations import matrices_of, swing
from turgor.output.frame import BodyLayout, Frame, Layout, WallLayout, WallPose
from turgor.scene.data import Body, SoftBody
from turgor.scene.rigid import RigidBody
from turgor.scene.walls import Container, Ground, Plane, Wall

if TYPE_CHECKING:
    from turgor.simulation.simulation import Simulation

__all__ = ["frame_of", "layout_of", "wall_poses"]


def layout_of(sim: Simulation) -> Layout:
    """What does not change from frame to frame."""
    bodies = []
    for body, start in zip(sim.model.bodies, sim.model.starts, strict=False):
        kind = "soft" if isinstance(body, SoftBody) else "cloth"
        bodies.append(_body_layout(body, kind, int(start), body.membrane is not None))
    start = sim.vertices
    for rigid in sim.model.rigids.bodies:
        bodies.append(_body_layout(rigid, "rigid", start, False))
        start += len(rigid.shape.vertices)
    walls = tuple(_wall_layout(wall, sim.scene.dim) for wall in sim.scene.walls)
    return Layout(sim.scene.name, sim.scene.dim, sim.settings.fps, tuple(bodies), walls)


def _body_layout(body: Body | RigidBody, kind: str, start: int, material: bool) -> BodyLayout:
    """A body with the look of its mesh file; a colour that the user gives is drawn instead of it."""
    shape = body.shape
    texture = getattr(body, "texture", None) or (shape.texture if body.color is None else None)
    return BodyLayout(
        body.name,
        kind,
        start,
        len(shape.vertices),
        shape.faces,
        shape.uv if kind == "cloth" else None,
        shape.color if body.color is None else body.color,
        material,
        shape.corner_uv,
        texture,
    )


def frame_of(sim: Simulation) -> Frame:
    """The first world now."""
    sim.measure()
    count = len(sim.model.parts)
    gas = np.array([isinstance(body, SoftBody) and body.gas is not None for body in sim.model.bodies], bool)

    def first_world(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return np.asarray(values if sim.worlds == 1 else values[0])

    unknown = np.full(len(sim.model.rigids.bodies), math.nan)
    rigid_positions, rigid_velocities = _rigid_points(sim)

    def per_body(array: Any) -> npt.NDArray[np.float64]:
        return np.append(np.where(gas, np.asarray(array.numpy()[:count], np.float64), math.nan), unknown)

    return Frame(
        index=sim.frame_index,
        time=sim.time,
        positions=np.concatenate([first_world(sim.positions), rigid_positions]),
        velocities=np.concatenate([first_world(sim.velocities), rigid_velocities]),
        volumes=per_body(sim.engine.scratch.volume),
        pressures=per_body(sim.engine.scratch.pressure),
        walls=wall_poses(sim),
        **_skin_fields(sim),
    )


def _skin_fields(sim: Simulation) -> dict[str, npt.NDArray[np.float64]]:
    """The fields of the faces of the first world, as BodyView gives them; none without materials."""
    model = sim.model
    if not model.has_membranes:
        return {}
    found = membranes.measure(model, sim.state)
    tables: dict[str, npt.NDArray[Any]] = {
        "stretch": found.stretch,
        "stress": found.stress,
        "tension": found.tension,
        "wrinkled": found.state,
    }
    rigid = sum(len(body.shape.faces) for body in model.rigids.bodies)
    fields = {}
    for name, table in tables.items():
        rows = np.full((table.shape[1] + rigid, *table.shape[2:]), math.nan)
        start = 0
        for body, part in zip(model.bodies, model.parts, strict=True):
            stop = start + len(part.faces)
            if body.membrane is not None:
                rows[start:stop][part.face_order] = table[0, start:stop]
            start = stop
        fields[name] = rows
    return fields


def _rigid_points(sim: Simulation) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """(points, dim) m and m/s: the vertices of all rigid bodies of the first world, as RigidView gives them."""
    rigids, state = sim.model.rigids, sim.state.rigid
    places, speeds, spins = (np.asarray(a.numpy()[: rigids.count], np.float64) for a in (state.x, state.v, state.spin))
    turns = matrices_of(np.asarray(state.q.numpy()[: rigids.count], np.float64))
    positions, velocities = [np.zeros((0, sim.scene.dim))], [np.zeros((0, sim.scene.dim))]
    for index, points in enumerate(rigids.shape_points):
        arms = points @ turns[index].T
        positions.append(arms + places[index] + sim.model.anchor)
        velocities.append(swing(spins[index], arms) + speeds[index])
    return np.concatenate(positions), np.concatenate(velocities)


def _wall_layout(wall: Wall, dim: int) -> WallLayout:
    if isinstance(wall, Container):
        return WallLayout(wall.name, "container", (), wall.size)
    if isinstance(wall, Plane):
        return WallLayout(wall.name, "plane", wall.normal, ())
    assert isinstance(wall, Ground)
    return WallLayout(wall.name, "ground", tuple(np.eye(dim)[-1].tolist()), ())


def wall_poses(sim: Simulation) -> tuple[WallPose, ...]:
    """Where the walls are now; all worlds share them."""
    walls, state = sim.model.walls, sim.state.walls
    poses = []
    for wall in walls.scene:
        sides = walls.index[wall.name]
        rotation = np.eye(sim.scene.dim)
        place = state.point.numpy()[sides[0]]
        if isinstance(wall, Container):  # every second normal is one of its own axes
            rotation = np.asarray(state.normal.numpy()[sides[::2]], np.float64).T
            place = state.centre.numpy()[sides[0]]
        poses.append(WallPose(np.asarray(place, np.float64) + sim.model.anchor, rotation))
    return tuple(poses)
