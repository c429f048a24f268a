"""How each live parameter is read, written and bounded: functions of (world, name of a body). No browser."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from turgor.errors import SceneError
from turgor.scene.data import Body, SoftBody
from turgor.scene.gas import GAS_CONSTANT
from turgor.scene.rigid import RigidBody
from turgor.scene.scene import Thing
from turgor.viewer.world.world import World

WIDE = 5.0  # a range reaches to this many times the scene's own value, and to its inverse where 0 makes no sense
PRESSURE_WIDE = 4.0  # as WIDE, for the gas: a body grows with it
PRESSURE_LEAST = 0.1  # of the scene's own, where nothing presses from outside: a vacuum would crumple the body
COLD, HOT = 0.1, 4.0  # of the scene's own temperature
GRAVITY_MAX = 25.0  # m/s²: Jupiter has 24.8
DRAG_MAX = 5.0  # 1/s
FRICTION_MAX = 1.5
WIND_MAX = 4.0  # m/s
COEFFICIENT_MAX = 3.0  # of air drag: a parachute has 1.5
DENSITY_MAX = 5.0  # kg/m³: four times air
SPIN_MAX = 3.0  # rad/s
FEWEST = 0.6  # of the substeps that "auto" takes: with fewer, bodies that touch blow up, which also takes very long
PUMP = "pump holds the pressure"
KINDS = {
    "symplectic": "exact", "midpoint": "exact", "heun": "exact", "rk4": "exact", "implicit": "fast",
    "euler": "papers", "rk4-martin": "papers",
}  # fmt: skip
SLEEPING = {"at rest": "auto", "never": False}
SOLVER_LABELS = {name: f"{KINDS[name]}: {name}" if name in KINDS else name for name in ("auto", *KINDS)}


@dataclass(frozen=True)
class Span:
    """Where a slider begins and ends, and how far one key press takes it, in the parameter's unit."""

    low: float
    high: float
    step: float

    @classmethod
    def of(cls, low: float, high: float) -> Span:
        """A span that holds low and high, with round numbers."""
        step = 10.0 ** math.floor(math.log10((high - low) / 100.0))
        grain = step if 0.0 < low < 10.0 * step else 10.0 * step
        first, last = math.floor(low / grain + 1e-9) * grain, math.ceil(high / (10.0 * step) - 1e-9) * 10.0 * step
        return cls(_rounded(first, step), _rounded(last, step), _rounded(step, step))

    @classmethod
    def within(cls, low: float, high: float) -> Span:
        """A span between low and high, with numbers that are round where there is room."""
        step = 10.0 ** math.floor(math.log10((high - low) / 100.0))
        return cls(
            _rounded(math.ceil(low / step - 1e-9) * step, step),
            _rounded(math.floor(high / step + 1e-9) * step, step),
            _rounded(step, step),
        )

    @property
    def digits(self) -> int:
        """Decimals that are worth showing, and that a slider's field has room for."""
        wanted, room = 1 - math.floor(math.log10(self.step)), 2 - math.floor(math.log10(self.high))
        return max(0, min(wanted, max(room, 4)))

    def clip(self, value: float) -> float:
        """The nearest value inside."""
        return min(max(value, self.low), self.high)


def _rounded(value: float, step: float) -> float:
    return round(value, max(0, -round(math.log10(step))) + 1)


Reader = Callable[[World, str], float]
Writer = Callable[[World, str, Any], None]


def opened(world: World, name: str) -> Thing | None:
    """A body as it was when the scene was opened; None for one that came later."""
    scene = world.opened
    return scene[name] if name in scene.names else None


# what applies to what -------------------------------------------------------------------------------------------------


def has_gas(world: World, name: str) -> bool:
    thing = world.scene[name]
    return isinstance(thing, SoftBody) and thing.gas is not None


def is_soft(world: World, name: str) -> bool:
    return isinstance(world.scene[name], Body)


def has_springs(world: World, name: str) -> bool:
    thing = world.scene[name]
    return isinstance(thing, Body) and thing.material is None


def has_material(world: World, name: str) -> bool:
    thing = world.scene[name]
    return isinstance(thing, Body) and thing.material is not None


def has_mass(world: World, name: str) -> bool:
    thing = world.scene[name]
    return isinstance(thing, Body) or (isinstance(thing, RigidBody) and thing.kind == "dynamic")


def in_air(world: World, name: str) -> bool:
    thing = world.scene[name]
    if isinstance(thing, Body):
        return thing.wind_drag is None
    return isinstance(thing, RigidBody) and thing.kind == "dynamic"


def in_wind(world: World, name: str) -> bool:
    """Of Matyka's law, where the scene has it."""
    thing = world.scene[name]
    return isinstance(thing, Body) and thing.wind_drag is not None


def any_body(world: World, name: str) -> bool:
    return isinstance(world.scene[name], Body | RigidBody)


def scene(world: World, name: str) -> bool:
    return True


def windy(world: World, name: str) -> bool:
    soft, rigid = world.scene.bodies, world.scene.rigid_bodies
    return any(any(body.air_drag) or body.wind_drag for body in soft) or any(any(body.air_drag) for body in rigid)


def turns(world: World, name: str) -> bool:
    return bool(world.scene.containers)


# gas ------------------------------------------------------------------------------------------------------------------


def gas(world: World, name: str) -> dict[str, float]:
    gas = world.gas(name)
    if gas is None:
        raise SceneError(f"{name}: holds no gas")
    return gas


def gauge_span(world: World, name: str, first: Any) -> Span:
    volume = float(world.sim[name].rest_volume)
    gas = first.gas or world.scene[name].gas  # type: ignore[union-attr]
    gauge = gas.nRT_at(volume) / volume - gas.ambient
    scale = abs(gauge) if gauge else max(0.1 * gas.ambient, 10.0)
    return Span.of(min(PRESSURE_LEAST * gauge if gas.ambient == 0.0 else 0.0, gauge), PRESSURE_WIDE * scale)


def moles_span(world: World, name: str, first: Any) -> Span:
    """The amounts that have the pressures of the gauge's range at the scene's own temperature."""
    gauge = gauge_span(world, name, first)
    gas = first.gas or world.scene[name].gas  # type: ignore[union-attr]
    factor = float(world.sim[name].rest_volume) / (GAS_CONSTANT * gas.temperature)
    now = getattr(world.scene[name], "gas", None) or gas
    wider = 2.0**world.scene.dim if now.pressure_at == "equilibrium" else 1.0  # to twice its size a skin holds the gas
    return Span.of((gas.ambient + gauge.low) * factor, (gas.ambient + gauge.high) * factor * wider)


def temperature_span(world: World, name: str, first: Any) -> Span:
    """The temperatures that have the pressures of the gauge's range with the scene's own amount."""
    gauge = gauge_span(world, name, first)
    gas = first.gas or world.scene[name].gas  # type: ignore[union-attr]
    volume = float(world.sim[name].rest_volume)
    pressure = gas.nRT_at(volume) / volume
    if pressure <= 0.0:
        return Span.of(COLD * gas.temperature, HOT * gas.temperature)
    low, high = ((gas.ambient + value) / pressure for value in (gauge.low, gauge.high))
    return Span.of(max(low, COLD) * gas.temperature, max(min(high, HOT), 1.0) * gas.temperature)


def law(world: World, name: str) -> str:
    gas = world.scene[name].gas  # type: ignore[union-attr]
    assert gas is not None
    return PUMP if gas.held else str(gas.law)


def has_entered_pressure(world: World, name: str) -> bool:
    gas = getattr(world.scene[name], "gas", None)
    return gas is not None and gas.entered_gauge is not None and not gas.held


def pressure_at(world: World, name: str) -> str:
    gas = world.scene[name].gas  # type: ignore[union-attr]
    assert gas is not None
    return str(gas.pressure_at)


def set_pressure_at(world: World, name: str, where: Any) -> None:
    world.change_gas(name, pressure_at=where)


def set_law(world: World, name: str, law: Any) -> None:
    held = law == PUMP
    world.change_gas(name, law="isothermal" if held else law, held=held)


# skin -----------------------------------------------------------------------------------------------------------------


def stiffness_span(world: World, name: str, first: Any) -> Span:
    own = first.springs.stiffness or 100.0
    high = WIDE * own
    if first.velocity_damping is not None:
        high = min(high, first.velocity_damping.stiffness_max)
    return Span.of(own / WIDE, high)


def damping_span(world: World, name: str, first: Any) -> Span:
    """Up to some times the scene's own, and at least to critical damping of a point on its spring."""
    critical = math.sqrt(first.springs.stiffness * first.mass / len(first.shape.vertices))
    return Span.of(0.0, max(WIDE * first.springs.damping, critical))


def of_material(key: str, unit: float) -> tuple[Callable[[World, str, Any], Span], Reader, Writer]:
    """Range, reader and writer of a number of the material, in `unit`; of a preset's too, which is then one's own."""

    def number(body: Any) -> float:
        return float(getattr(body.membrane, key)) / unit

    def span(world: World, name: str, first: Any) -> Span:
        own = number(first if isinstance(first, Body) and first.membrane is not None else world.scene[name])
        return Span.of(own / WIDE, WIDE * own) if own > 0.0 else Span.of(0.0, 1.0)

    def read(world: World, name: str) -> float:
        return number(world.scene[name])

    def write(world: World, name: str, value: Any) -> None:
        world.change(f"{name}.material.{key}", float(value) * unit)

    return span, read, write


def mass_span(world: World, name: str, first: Any) -> Span:
    return Span.of(first.mass / WIDE, WIDE * first.mass)


def drag_span(world: World, name: str, first: Any) -> Span:
    return Span.of(0.0, max(DRAG_MAX, 2.0 * first.drag))


def drag_coefficient_span(world: World, name: str, first: Any) -> Span:
    return Span.of(0.0, max(COEFFICIENT_MAX, 2.0 * first.drag_coefficient))


def wind_drag_span(world: World, name: str, first: Any) -> Span:
    """A body without wind drag gets some, so that it is carried by wind in about a second."""
    return Span.of(0.0, WIDE * (first.wind_drag or first.mass / len(first.shape.vertices)))


def surface(key: str) -> Reader:
    """Friction or restitution of a body; where it has none of its own, the wall's."""

    def read(world: World, name: str) -> float:
        own = getattr(world.scene[name], key)
        walls = world.scene.walls
        return float(own if own is not None else getattr(walls[0], key) if walls else 0.5)

    return read


def field(*keys: str) -> tuple[Reader, Writer]:
    """Reads and writes a field of a body by its path."""

    def read(world: World, name: str) -> float:
        value: Any = world.scene[name]
        for key in keys:
            value = getattr(value, key)
        return float(value)

    def write(world: World, name: str, value: Any) -> None:
        world.change(".".join((name, *keys)), float(value))

    return read, write


def fixed(low: float, high: float) -> Callable[[World, str, Any], Span]:
    return lambda world, name, first: Span.of(low, high)


# the scene ------------------------------------------------------------------------------------------------------------


def gravity(world: World, name: str) -> float:
    return float(np.linalg.norm(world.scene.gravity))


def set_gravity(world: World, name: str, strength: Any) -> None:
    """Along the scene's own direction; downwards if it had none."""
    own = np.array(world.opened.gravity)
    along = own / np.linalg.norm(own) if own.any() else -np.eye(world.scene.dim)[-1]
    world.change("gravity", tuple((along * float(strength)).tolist()))


def wind_part(axis: int) -> tuple[Reader, Writer]:
    def read(world: World, name: str) -> float:
        return float(world.scene.wind[axis])

    def write(world: World, name: str, value: Any) -> None:
        wind = list(world.scene.wind)
        wind[axis] = float(value)
        world.change("wind", tuple(wind))

    return read, write


def wind_span(world: World, name: str, first: Any) -> Span:
    most = max(WIND_MAX, 3.0 * max(abs(part) for part in world.opened.wind))
    return Span.of(-most, most)


def air_density(world: World, name: str) -> float:
    return world.scene.air_density


def set_air_density(world: World, name: str, value: Any) -> None:
    world.change("air_density", float(value))


def air_density_span(world: World, name: str, first: Any) -> Span:
    return Span.of(0.0, max(DENSITY_MAX, 2.0 * world.opened.air_density))


def axis(world: World) -> Any:
    """Unit vector that the first container turns about, in the scene as it was opened; y if it was at rest."""
    spins = [np.array(container.spin) for container in world.opened.containers]
    turning = [spin for spin in spins if np.any(spin)]
    return np.abs(turning[0]) / np.linalg.norm(turning[0]) if turning else np.array([0.0, 1.0, 0.0])


def spin(world: World, name: str) -> float:
    spin = world.scene.containers[0].spin
    return float(np.dot(spin, axis(world))) if isinstance(spin, tuple) else float(spin)


def set_spin(world: World, name: str, value: Any) -> None:
    for container in world.scene.containers:
        spin = float(value) if world.scene.dim == 2 else tuple((axis(world) * float(value)).tolist())
        world.change(f"{container.name}.spin", spin)


def spin_span(world: World, name: str, first: Any) -> Span:
    most = max([SPIN_MAX, *(WIDE * float(np.linalg.norm(box.spin)) for box in world.opened.containers)])
    return Span.of(-most, most)


def setting(key: str) -> tuple[Callable[[World, str], str], Writer]:
    def read(world: World, name: str) -> str:
        return str(getattr(world.scene.simulation, key))

    def write(world: World, name: str, value: Any) -> None:
        world.change(f"simulation.{key}", value)

    return read, write


def solver(world: World, name: str) -> str:
    """As the list has it."""
    return SOLVER_LABELS[world.scene.simulation.solver]


def set_solver(world: World, name: str, value: Any) -> None:
    """By its name, or as the list has it."""
    world.change("simulation.solver", str(value).rsplit(": ", 1)[-1])


def set_substeps(world: World, name: str, value: Any) -> None:
    """A fixed number must be near to what "auto" takes now."""
    if value != "auto" and int(value) < FEWEST * (needed := world.needed_substeps()):
        raise SceneError(f"substeps: this scene needs about {needed} now, and blows up with {value}: choose more")
    world.change("simulation.substeps", value if value == "auto" else int(value))


def set_accuracy(world: World, name: str, value: Any) -> None:
    """A number, or "auto"."""
    world.change("simulation.accuracy", value if value == "auto" else float(value))


def sleeping(world: World, name: str) -> str:
    """As the list has it."""
    return "never" if world.scene.simulation.sleeping is False else "at rest"


def set_sleeping(world: World, name: str, value: Any) -> None:
    """As the list has it."""
    world.change("simulation.sleeping", SLEEPING[str(value)])
