"""The live parameters: what can be changed while a world runs, in which unit and range. One table, no browser.

The tab "Change", its tests and the documentation all read PARAMETERS and CHOICES. A range comes from the scene as it
was opened, so that it suits this scene, and grows where a value of now comes near to its end.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from turgor.errors import TurgorError
from turgor.scene.settings import CONTACTS
from turgor.viewer.world import parameter_access as live
from turgor.viewer.world.material_choice import LABELS, material, set_material, suits
from turgor.viewer.world.parameter_access import PUMP, Reader, Span, Writer
from turgor.viewer.world.ranges import Limits, check, common, followed, limits
from turgor.viewer.world.world import World

__all__ = [
    "CHOICES", "ENTRIES", "PARAMETERS", "Choice", "Parameter", "Span", "limits_for", "set_for", "span_for", "subjects",
    "values",
]  # fmt: skip

SUBSTEPS = ("auto", *(str(2**power) for power in range(9)))
ACCURACIES = ("auto", "0.1", "0.01", "0.001")
NARROW = "\u00a0"  # a space at which a label is not broken
ALIKE = 1e-6  # relative: values that differ by less are one value, in single precision
SCENE = ""  # stands for the scene where a body's name is expected


@dataclass(frozen=True)
class Parameter:
    """A number that can be changed live. `name` is a body's, or "" for parameters of the scene."""

    key: str
    label: str
    unit: str
    hint: str
    applies: Callable[[World, str], bool]
    span: Callable[[World, str, Any], Span]  # (world, name, the thing as it was when the scene was opened)
    read: Reader
    write: Writer
    flat_unit: str = ""  # in 2D, where it differs
    of_scene: bool = False
    least: float = -math.inf  # no value below, nor above `most`, makes sense
    most: float = math.inf

    def unit_in(self, dim: int) -> str:
        """The unit in a scene of 2 or 3 dimensions."""
        return self.flat_unit if dim == 2 and self.flat_unit else self.unit

    def title(self, dim: int) -> str:
        """Label with unit."""
        unit = self.unit_in(dim)
        return f"{self.label} ({unit.replace(' ', NARROW)})" if unit else self.label


@dataclass(frozen=True)
class Choice:
    """One of several, that can be changed live. `name` as for Parameter."""

    key: str
    label: str
    options: tuple[str, ...]
    hint: str
    applies: Callable[[World, str], bool]
    read: Callable[[World, str], str]
    write: Writer
    of_scene: bool = False
    suits: Callable[[World, str, str], bool] | None = None  # (world, name, option); None: all options suit all bodies

    def options_for(self, world: World, names: list[str]) -> tuple[str, ...]:
        """The options that suit all of these bodies."""
        if self.suits is None:
            return self.options
        return tuple(option for option in self.options if all(self.suits(world, name, option) for name in names))


def subjects(world: World, entry: Parameter | Choice, name: str | None) -> list[str]:
    """Names of the bodies that `entry` is about, if `name` (None: all bodies) is selected; ("") for the scene."""
    if entry.of_scene:
        return [SCENE] if entry.applies(world, SCENE) else []
    scene = world.scene
    names = [body.name for body in (*scene.bodies, *scene.rigid_bodies)] if name is None else [name]
    return [body for body in names if entry.applies(world, body)]


def set_for(
    world: World, entry: Parameter | Choice, names: list[str], value: Any, later: dict[str, Any] | None = None
) -> None:
    """Writes one value for several bodies: all of them, or none and a SceneError. `later` as for span_for."""
    if isinstance(entry, Parameter):
        for name in names:
            bounds = limits_for(world, entry, name, later or {})
            check(entry.label, entry.unit_in(world.scene.dim), name, float(value), bounds)
    before = world.scene
    try:
        for name in names:
            entry.write(world, name, value)
    except TurgorError:
        if world.scene is not before:
            world.take_over(before)
        raise


def span_for(world: World, parameter: Parameter, names: list[str], later: dict[str, Any]) -> Span | None:
    """The range of a slider for these bodies, which has room for their values of now; None: they have none in common.

    `later`: bodies that came after the scene was opened, as they came.
    """
    bounds = [limits_for(world, parameter, name, later) for name in names]
    spans = [
        followed(_span(world, parameter, name, later), parameter.read(world, name), bound)
        for name, bound in zip(names, bounds, strict=True)
    ]
    return common(spans, bounds)


def limits_for(world: World, parameter: Parameter, name: str, later: dict[str, Any]) -> Limits:
    """The least and the most that a body may have."""
    return limits(_span(world, parameter, name, later), parameter.least, parameter.most)


def values(world: World, entry: Parameter | Choice, names: list[str]) -> list[Any]:
    """What these bodies have now, each value once; numbers in order, those that nobody can tell apart as one."""
    if not isinstance(entry, Parameter):
        return sorted({entry.read(world, name) for name in names})
    distinct: list[float] = []
    for value in sorted(entry.read(world, name) for name in names):
        if not distinct or value - distinct[-1] > ALIKE * max(abs(value), abs(distinct[-1])):
            distinct.append(value)
    return distinct


def _span(world: World, parameter: Parameter, name: str, later: dict[str, Any]) -> Span:
    """About the value as the scene was opened; about that of now where another material is far away from it."""
    first = (live.opened(world, name) or later.get(name, world.scene[name])) if name else None
    span = parameter.span(world, name, first)
    low, high = limits(span, parameter.least, parameter.most)
    if name and not low <= parameter.read(world, name) <= high:
        return parameter.span(world, name, world.scene[name])
    return span


PARAMETERS: tuple[Parameter, ...] = (
    Parameter(
        "gauge", "Gauge pressure", "Pa",
        "Pressure above the outside: at the volume of rest, from where the body swells or shrinks until its skin holds "
        "it, or in equilibrium with its skin.",
        live.has_gas, live.gauge_span, lambda world, name: live.gas(world, name)["gauge"],
        lambda world, name, value: world.change_gas(name, gauge=float(value)), flat_unit="N/m",
    ),
    Parameter(
        "moles", "Amount of gas", "mol", "More gas at the same temperature: p V = n R T.",
        live.has_gas, live.moles_span, lambda world, name: live.gas(world, name)["moles"],
        lambda world, name, value: world.change_gas(name, moles=float(value)),
    ),
    Parameter(
        "temperature", "Temperature", "K", "The same amount of gas, warmer or colder: p V = n R T.",
        live.has_gas, live.temperature_span, lambda world, name: live.gas(world, name)["temperature"],
        lambda world, name, value: world.change_gas(name, temperature=float(value)),
    ),
    Parameter(
        "stiffness", "Stiffness", "N/m", "Of each spring of the skin.", live.has_springs, live.stiffness_span,
        *live.field("springs", "stiffness"),
    ),
    Parameter(
        "damping", "Damping", "N s/m", "Of each spring: it resists being stretched fast.", live.has_springs,
        live.damping_span, *live.field("springs", "damping"),
    ),
    Parameter(
        "young", "Young's modulus", "MPa", "Of the material: stress per strain. Rubber 1, soft PVC 20, polyester 5000.",
        live.has_material, *live.of_material("young", 1e6),
    ),
    Parameter(
        "thickness", "Thickness", "mm", "Of the skin: a thicker one is stiffer and heavier, and bends far less easily.",
        live.has_material, *live.of_material("thickness", 1e-3),
    ),
    Parameter(
        "viscosity", "Damping of the skin", "ms", "Of the material: it resists being stretched fast.",
        live.has_material, *live.of_material("damping", 1e-3),
    ),
    Parameter("mass", "Mass", "kg", "Of the whole body.", live.has_mass, live.mass_span, *live.field("mass")),
    Parameter(
        "friction", "Friction", "", "Coulomb's coefficient: 0 slides for ever.", live.any_body,
        live.fixed(0.0, live.FRICTION_MAX), live.surface("friction"), live.field("friction")[1],
    ),
    Parameter(
        "restitution", "Restitution", "", "How much of its speed a point keeps when it hits: 0 none, 1 all.",
        live.any_body, live.fixed(0.0, 1.0), live.surface("restitution"), live.field("restitution")[1], most=1.0,
    ),
    Parameter(
        "drag", "Drag", "1/s", "Slows all motion, as in honey: dv/dt = -drag v.", live.is_soft, live.drag_span,
        *live.field("drag"),
    ),
    Parameter(
        "drag_coefficient", "Air drag", "", "Drag coefficient of the surface: force = ½ density × it × area × speed².",
        live.in_air, live.drag_coefficient_span, *live.field("drag_coefficient"),
    ),
    Parameter(
        "wind_drag", "Drag of the wind", "N s/m", "How much wind pushes on each point.", live.in_wind,
        live.wind_drag_span, *live.field("wind_drag"),
    ),
    Parameter(
        "gravity", "Gravity", "m/s²", "Earth 9.81, Moon 1.62.", live.scene, live.fixed(0.0, live.GRAVITY_MAX),
        live.gravity, live.set_gravity, of_scene=True,
    ),
    *(
        Parameter(
            f"wind_{axis}", f"Wind {axis}", "m/s", "Velocity of the air; only bodies with air drag feel it.",
            live.windy if axis != "z" else lambda world, name: world.scene.dim == 3 and live.windy(world, name),
            live.wind_span, *live.wind_part(index), of_scene=True,
        )
        for index, axis in enumerate("xyz")
    ),
    Parameter(
        "air_density", "Air density", "kg/m³", "Air 1.2, water 1000, vacuum 0; only bodies with air drag feel it.",
        live.windy, live.air_density_span, live.air_density, live.set_air_density, flat_unit="kg/m²", of_scene=True,
    ),
    Parameter(
        "spin", "Box turns", "rad/s", "How fast the container turns; it goes on from where it is.", live.turns,
        live.spin_span, live.spin, live.set_spin, of_scene=True,
    ),
)  # fmt: skip

CHOICES: tuple[Choice, ...] = (
    Choice(
        "material", "Material", tuple(LABELS),
        "What the skin is made of; its mass, gas and surface follow. The numbers below then are those of the material.",
        live.has_material, material, set_material, suits=suits,
    ),
    Choice(
        "law", "Gas law", ("isothermal", "adiabatic", PUMP),
        "isothermal: p V stays; adiabatic: p V^1.4 stays; or a pump holds the pressure.",
        live.has_gas, live.law, live.set_law,
    ),
    Choice(
        "pressure_at", "Pressure is that", ("rest", "equilibrium"),
        "rest: of the gas at the volume of rest; equilibrium: that which holds once the skin has given way.",
        live.has_entered_pressure, live.pressure_at, live.set_pressure_at,
    ),
    Choice(
        "solver", "Solver", tuple(live.SOLVER_LABELS.values()),
        "exact: short steps follow every vibration; fast: long steps damp what is faster, for stiff skins; "
        "auto: exact, or fast where that would crawl.",
        live.scene, live.solver, live.set_solver, of_scene=True,
    ),
    Choice(
        "substeps", "Substeps", SUBSTEPS, "Steps per frame; auto picks what is stable.", live.scene,
        live.setting("substeps")[0], live.set_substeps, of_scene=True,
    ),
    Choice(
        "accuracy", "Accuracy", ACCURACIES,
        "Share of the energy of vibrations that the solver may add or take in a minute; auto: what is stable.",
        live.scene, live.setting("accuracy")[0], live.set_accuracy, of_scene=True,
    ),
    Choice(
        "contact", "Contact", CONTACTS, "How bodies feel each other; none: they pass through each other.",
        live.scene, *live.setting("contact"), of_scene=True,
    ),
    Choice(
        "sleeping", "Bodies sleep", tuple(live.SLEEPING),
        "at rest: what has come to rest is not simulated until something disturbs it; never: all is, always.",
        live.scene, live.sleeping, live.set_sleeping, of_scene=True,
    ),
)  # fmt: skip

ENTRIES: tuple[Parameter | Choice, ...] = (CHOICES[0], *PARAMETERS, *CHOICES[1:])  # a material before its numbers
