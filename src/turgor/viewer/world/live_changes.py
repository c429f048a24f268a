"""Changes that the engine takes while it runs: from the scene into the views of the simulation."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from turgor.scene.data import Body
from turgor.scene.rigid import RigidBody
from turgor.scene.scene import Scene

if TYPE_CHECKING:
    from turgor.viewer.world.world import World

__all__ = ["change_live"]

# Fields of a body that the engine changes while it runs: path in the scene -> attribute of its view.
LIVE_BODY = {
    ("springs", "stiffness"): "stiffness",
    ("springs", "damping"): "damping",
    ("drag",): "drag",
    ("mass",): "mass",
    ("friction",): "friction",
    ("restitution",): "restitution",
}
LIVE_MATERIAL = (("material", "young"), ("material", "thickness"), ("material", "damping"))
LIVE_AIR = (("drag_coefficient",), ("drag_tangential",), ("wind_drag",))
LIVE_WALL = ("friction", "restitution", "spin", "velocity")
GAS_KIND = (
    "law",
    "gamma",
    "held",
    "inflate",
    "gravity_waits",
    "pressure_at",
)  # a change of these rebuilds the simulation


def change_live(world: World, scene: Scene, head: str, keys: tuple[str, ...]) -> bool:
    """One value of a changed scene into the running simulation; False where it has to be rebuilt."""
    if head in ("gravity", "wind", "air_density") and not keys:
        setattr(world.sim, head, getattr(scene, head))
        return True
    if head in ("name", "description"):
        return True
    if head == "simulation":
        if keys == ("seconds",):
            world.sim.settings = replace(world.sim.settings, seconds=scene.simulation.seconds)
        if keys == ("sleeping",):
            world.sim.settings = replace(world.sim.settings, sleeping=scene.simulation.sleeping)
            world.let_sleep()
        return keys in (("seconds",), ("sleeping",))
    thing, before = scene[head], world.scene[head]
    if head in world.sim.walls:
        return _change_wall(world, head, thing, keys)
    if keys[:1] == ("gas",):
        return _change_gas(world, head, before, thing)
    return _change_body(world, head, thing, keys)


def _change_wall(world: World, name: str, wall: Any, keys: tuple[str, ...]) -> bool:
    if len(keys) != 1 or keys[0] not in LIVE_WALL:
        return False
    setattr(world.sim.walls[name], keys[0], getattr(wall, keys[0]))
    return True


def _change_body(world: World, name: str, body: Any, keys: tuple[str, ...]) -> bool:
    if keys in LIVE_AIR:
        return _change_air(world, name, body)
    if keys in LIVE_MATERIAL:
        return _change_material(world, name, world.scene[name], body)
    if keys == ("velocity",) and isinstance(body, RigidBody) and body.kind == "kinematic":  # it is driven by it
        world.sim.rigid_bodies[name].velocity = body.velocity
        return True
    attribute = LIVE_BODY.get(keys)
    if attribute is None or (attribute == "mass" and _glued(world, name)):
        return False
    if isinstance(body, RigidBody) and body.kind != "dynamic" and attribute == "mass":
        return False
    value = body
    for key in keys:
        value = getattr(value, key)
    setattr(world.sim[name], attribute, value)
    return True


def _change_material(world: World, name: str, before: Any, after: Any) -> bool:
    """A thicker skin is also heavier, unless its mass was given; and both numbers are in its rigidity."""
    old, new = before.membrane, after.membrane
    bends = old is not None and (old.flexural_rigidity > 0.0) == (new.flexural_rigidity > 0.0)
    if not bends or (after.mass != before.mass and _glued(world, name)):
        return False
    view = world.sim[name]
    view.young, view.thickness, view.viscosity = new.young, new.thickness, new.damping
    if new.flexural_rigidity > 0.0:
        view.bending = new.flexural_rigidity
    if after.mass != before.mass:
        view.mass = after.mass
    return True


def _change_air(world: World, name: str, body: Any) -> bool:
    view = world.sim[name]
    view.drag_coefficient, view.drag_tangential = body.air_drag
    if isinstance(body, Body):
        view.wind_drag = body.wind_drag or 0.0
    return True


def _change_gas(world: World, name: str, before: Any, after: Any) -> bool:
    old, new = before.gas, after.gas
    if old is None or new is None or any(getattr(old, key) != getattr(new, key) for key in GAS_KIND):
        return False
    if new.pressure_at == "equilibrium":  # its amount has to be found
        return False
    view = world.sim[name]
    view.ambient = new.ambient
    view.nRT = new.nRT_at(float(view.rest_volume))
    world.sim.state.temperatures[:, view.index] = new.temperature
    return True


def _glued(world: World, name: str) -> bool:
    return any(name in (entry.body, entry.rigid) for entry in world.scene.attachments)
