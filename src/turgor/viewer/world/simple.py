"""The simple controls: Air, Stretchiness, Bounciness, Weight, Gravity, Wind, Slipperiness. One table, no browser.

Each is a parameter of the same kind as those of the table PARAMETERS, and writes what they write: most in per cent of
what the scene has as it was opened, so that 100 % is always the scene as its author made it. docs/playground.md says
what each one sets.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from turgor.scene.data import Body, SoftBody
from turgor.viewer.world import parameter_access as live
from turgor.viewer.world.parameters import Choice, Parameter
from turgor.viewer.world.world import World

__all__ = ["SIMPLE"]

WHOLE = 100.0  # per cent: as in the scene
PLANETS = {"Earth, 9.81 m/s²": 9.81, "Moon, 1.62 m/s²": 1.62, "Mars, 3.71 m/s²": 3.71, "none": 0.0}  # m/s²
AS_SCENE = "as in the scene"
SAME = 0.005  # relative: as near as this it is that planet's gravity
WIND = 15.0  # m/s: a strong wind, in which whole trees move (Beaufort 7)
BALL = 0.7  # drag coefficient of the surface that a ball in the wind gets: its C_d is 0.47 (docs/materials.md)
GRIPPY = 1.0  # Coulomb's coefficient of what is not slippery at all


def first(world: World, name: str) -> Any:
    """A body as the scene was opened, or as it was when it was added."""
    return live.opened(world, name) or world.came.get(name) or world.scene[name]


# air ------------------------------------------------------------------------------------------------------------------


def _gauge(world: World, name: str) -> float:
    """Pa: the gauge pressure that 100 % stands for."""
    body = first(world, name)
    if not isinstance(body, SoftBody) or body.gas is None:
        return 0.0
    volume = float(world.sim[name].rest_volume)
    return float(body.gas.nRT_at(volume) / volume - body.gas.ambient)


def is_blown_up(world: World, name: str) -> bool:
    return live.has_gas(world, name) and _gauge(world, name) > 0.0


def air(world: World, name: str) -> float:
    return WHOLE * live.gas(world, name)["gauge"] / _gauge(world, name)


def set_air(world: World, name: str, value: Any) -> None:
    world.change_gas(name, gauge=float(value) / WHOLE * _gauge(world, name))


# skin -----------------------------------------------------------------------------------------------------------------


def _modulus(body: Any) -> float:
    """N/m of springs, or Pa of a material."""
    return float(body.springs.stiffness if body.material is None else body.membrane.young)


def has_skin(world: World, name: str) -> bool:
    own = first(world, name)
    alike = isinstance(own, Body) and (own.material is None) == (getattr(world.scene[name], "material", None) is None)
    return alike and _modulus(own) > 0.0


def stretchiness(world: World, name: str) -> float:
    return WHOLE * _modulus(first(world, name)) / _modulus(world.scene[name])


def set_stretchiness(world: World, name: str, value: Any) -> None:
    own = first(world, name)
    field = "springs.stiffness" if own.material is None else "material.young"
    world.change(f"{name}.{field}", _modulus(own) * WHOLE / float(value))


# bounce ---------------------------------------------------------------------------------------------------------------


def _losses(body: Any) -> dict[str, float]:
    """By its path, what takes energy while a body rings: damping of springs (N s/m) or a material (s), drag (1/s)."""
    if not isinstance(body, Body):
        return {}
    own = {"springs.damping": body.springs.damping} if body.membrane is None else {}
    if body.membrane is not None:
        own["material.damping"] = body.membrane.damping
    return {path: value for path, value in (own | {"drag": body.drag}).items() if value > 0.0}


def _returned(world: World, body: Any) -> float:
    """Restitution of a body, or that of the walls where it has none of its own."""
    walls = world.opened.walls
    return float(body.restitution if body.restitution is not None else walls[0].restitution if walls else 0.5)


def can_bounce(world: World, name: str) -> bool:
    """Where there is something to have more or less of."""
    own = first(world, name)
    return live.has_mass(world, name) and (bool(_losses(own)) or 0.0 < _returned(world, own) < 1.0)


def bounciness(world: World, name: str) -> float:
    """100 % times what damping took, over what it takes; of a body without damping by what the contact takes."""
    own, now = first(world, name), world.scene[name]
    losses, left = _losses(own), _losses(now)
    for path in losses:
        if path in left:
            return WHOLE * losses[path] / left[path]
    before, after = _returned(world, own), _returned(world, now)
    if after >= before:
        return WHOLE * (1.0 - before) / max(1.0 - after, 1e-6)
    return WHOLE * after / before


def set_bounciness(world: World, name: str, value: Any) -> None:
    """Losses go with 1 over it. Restitution r: 1 - r does so, too, from 100 % on; below, r goes with it."""
    own, share = first(world, name), float(value) / WHOLE
    before = _returned(world, own)
    after = 1.0 - (1.0 - before) / share if share >= 1.0 else before * share
    if share != 1.0 or own.restitution is not None:
        world.change(f"{name}.restitution", after)
    for path, loss in _losses(own).items():
        world.change(f"{name}.{path}", loss / share)


# weight, surface ------------------------------------------------------------------------------------------------------


def weight(world: World, name: str) -> float:
    return WHOLE * float(world.scene[name].mass) / float(first(world, name).mass)  # type: ignore[union-attr]


def set_weight(world: World, name: str, value: Any) -> None:
    world.change(f"{name}.mass", first(world, name).mass * float(value) / WHOLE)


def slipperiness(world: World, name: str) -> float:
    return WHOLE * (1.0 - min(live.surface("friction")(world, name) / GRIPPY, 1.0))


def set_slipperiness(world: World, name: str, value: Any) -> None:
    world.change(f"{name}.friction", GRIPPY * (1.0 - float(value) / WHOLE))


# the scene ------------------------------------------------------------------------------------------------------------


def planet(world: World, name: str) -> str:
    strength = live.gravity(world, name)
    near = (key for key, value in PLANETS.items() if abs(strength - value) <= SAME * max(value, 1e-9))
    return next(near, AS_SCENE)


def set_planet(world: World, name: str, value: Any) -> None:
    own = float(np.linalg.norm(world.opened.gravity))
    live.set_gravity(world, name, PLANETS.get(str(value), own))


def _along(world: World) -> Any:
    """Unit vector of the wind: that of the scene as it was opened, or to the right."""
    own = np.array(world.opened.wind)
    return own / np.linalg.norm(own) if own.any() else np.eye(world.scene.dim)[0]


def can_be_windy(world: World, name: str) -> bool:
    return bool(world.scene.bodies) or any(body.kind == "dynamic" for body in world.scene.rigid_bodies)


def wind(world: World, name: str) -> float:
    return float(np.dot(world.scene.wind, _along(world)))


def set_wind(world: World, name: str, value: Any) -> None:
    """Bodies that the scene gives no air drag get that of a ball, and lose it again without wind."""
    world.change("wind", tuple((_along(world) * float(value)).tolist()))
    bodies: tuple[Any, ...] = (*world.scene.bodies, *world.scene.rigid_bodies)
    for body in bodies:
        own = first(world, body.name)
        if not live.in_air(world, body.name) or getattr(own, "wind_drag", None) is not None or any(own.air_drag):
            continue
        wanted = BALL if float(value) else own.drag_coefficient
        if body.drag_coefficient != wanted:
            world.change(f"{body.name}.drag_coefficient", wanted)


SIMPLE: tuple[Parameter | Choice, ...] = (
    Parameter(
        "simple_air", "Air", "%",
        "How hard it is blown up. 100 % is as the scene has it, 0 % is limp like a ball that has lost its air.",
        is_blown_up, live.fixed(0.0, 300.0), air, set_air,
    ),
    Parameter(
        "simple_stretchiness", "Stretchiness", "%",
        "How easily the skin stretches. More: like a balloon. Less: like the skin of a football.",
        has_skin, live.fixed(20.0, 500.0), stretchiness, set_stretchiness, least=1.0,
    ),
    Parameter(
        "simple_bounciness", "Bounciness", "%",
        "How well it bounces. More: like a rubber ball. Less: like a bean bag.",
        can_bounce, live.fixed(10.0, 300.0), bounciness, set_bounciness, least=1.0,
    ),
    Parameter(
        "simple_weight", "Weight", "%", "How heavy it is. 200 % is twice as heavy as in the scene.",
        live.has_mass, live.fixed(20.0, 500.0), weight, set_weight, least=1.0,
    ),
    Parameter(
        "simple_slipperiness", "Slipperiness", "%",
        "How well it slides. 0 %: like rubber on stone. 100 %: like ice, and slipperier.",
        live.any_body, live.fixed(0.0, 100.0), slipperiness, set_slipperiness, least=0.0, most=100.0,
    ),
    Choice(
        "simple_gravity", "Gravity", tuple(PLANETS),
        "How strongly everything is pulled down. On the Moon you would jump six times as high.",
        live.scene, planet, set_planet, of_scene=True,
    ),
    Parameter(
        "simple_wind", "Wind", "m/s",
        "How fast the air moves. 3 m/s moves leaves, 10 m/s makes it hard to hold an umbrella. Below 0 it turns round.",
        can_be_windy, live.fixed(-WIND, WIND), wind, set_wind, of_scene=True,
    ),
)  # fmt: skip
