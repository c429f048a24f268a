"""A start without a jump: the shape of a body in the equilibrium of its springs and its gas."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from turgor.errors import SceneError, UnstableError
from turgor.output.progress import waiting
from turgor.scene.data import SoftBody, Springs, rotation_matrix
from turgor.scene.gas import Gas
from turgor.scene.scene import Scene
from turgor.scene.swelling import Skin, skin_stiffness
from turgor.scene.units import units_doubt
from turgor.simulation.step.relaxation import Relaxation
from turgor.simulation.warn import silent

if TYPE_CHECKING:
    from turgor.simulation.simulation import Simulation

__all__ = ["equilibrium", "settle"]

FloatArray = npt.NDArray[np.float64]

STEPS, STEPS_PER_EDGE = 20_000, 200  # at most: in all, and per edge across the body, as waves have to cross it
TOLERANCE = 1e-5  # of the largest force on a vertex at the start
ROUND_OFF = 1e-10  # of the force of a spring or of the gas at a vertex: a body at rest already has only round-off
ROUND = 10  # steps between two looks: at the forces, and at the longest stable step, which follows the shape
FURTHEST = 0.05  # edges that a vertex moves in a step: the stable step is that of the shape of now
FAR = 1e3  # sizes of the body: a vertex that is further away has no equilibrium to go to
BURST = 20.0  # the same where a pump holds the pressure: a skin of springs then yields more the larger it is
HOPELESS = 2.0  # times the estimate of what the skin holds, which is that of balls
SHAKE = 0.01  # edges
REMEMBERED = 32  # equilibria of fillings
SHOW = 1.0  # s between two reports

FILLED: dict[tuple[str, str], Equilibrium] = {}  # by description and mesh

log = logging.getLogger("turgor")


class Equilibrium(NamedTuple):
    """Of springs and gas of a body at the origin."""

    positions: FloatArray  # (vertices, dim) m
    volume: float  # m³ (m² in 2D), by the body's own method


def settle(sim: Simulation) -> None:
    """Relax bodies that are to start in equilibrium (settled=True), each alone; those that are alike only once.

    A gas whose pressure is that in equilibrium (pressure_at) gets its amount here, from the volume that its skin has
    at that pressure; unless it is inflated later, the body starts there too, as all of that gas would throw it about.
    """
    known: dict[str, Equilibrium] = {}
    variants = sim.model.variants
    scenes = [sim.scene] if variants is None else variants.scenes
    for index, body in enumerate(sim.model.bodies):
        if isinstance(body, SoftBody) and (body.settled or _fills(body)):
            view, inflates = sim[body.name], body.gas is not None and body.gas.inflate > 0.0
            rest = np.atleast_1d(view.rest_volume)
            amounts, places = [], []
            for world, scene in enumerate(scenes):
                own = scene.bodies[index]
                assert isinstance(own, SoftBody)
                with _told_of(world, len(scenes)):
                    found = _start(own, view.glued, known)
                places.append(found.positions @ rotation_matrix(own.rotation).T + np.array(own.at))
                amounts.append(_amount(own, found.volume, float(rest[world])) if _fills(own) else 0.0)
            if _fills(body):
                view.nRT = np.array(amounts) if len(scenes) > 1 else amounts[0]
            if body.settled or (_fills(body) and not inflates):
                view.positions = np.array(places) if len(scenes) > 1 else places[0]


def _start(body: SoftBody, glued: npt.NDArray[np.int32], known: dict[str, Equilibrium]) -> Equilibrium:
    """The equilibrium of a body at the origin; `known` has those of bodies that are alike."""
    origin = (0.0,) * body.dim
    turn = 0.0 if body.dim == 2 else origin
    held = tuple(np.union1d(body.pinned, glued).tolist())
    alike = replace(body, at=origin, rotation=turn, velocity=origin, spin=turn, pins=held, color=None, settled=False)
    key = repr((replace(alike, name="alike"), alike.shape.recipe))
    if key not in known:
        known[key] = _filled(alike, glued, key) if _fills(body) else equilibrium(alike, glued)
    return known[key]


@contextlib.contextmanager
def _told_of(world: int, worlds: int) -> Iterator[None]:
    """Which of several worlds has no equilibrium: the others may start without it."""
    try:
        yield
    except (SceneError, UnstableError) as error:
        if worlds == 1:
            raise
        raise UnstableError(f"world {world}: {error}", {world: str(error)}) from error


def _fills(body: SoftBody) -> bool:
    return body.gas is not None and body.gas.pressure_at == "equilibrium"


def _amount(body: SoftBody, volume: float, rest_volume: float) -> float:
    """n R T at the rest volume (J) of the gas that has the entered pressure at `volume`: P V^gamma is constant."""
    gas = body.gas
    assert gas is not None
    gamma = gas.gamma if gas.law == "adiabatic" else 1.0
    return gas.nRT_at(rest_volume) * float((volume / rest_volume) ** gamma)


def _filled(body: SoftBody, glued: npt.NDArray[np.int32], key: str) -> Equilibrium:
    """The equilibrium at the entered pressure, as if a pump held it. Remembered: a rebuild asks for it again."""
    content = hashlib.sha256(body.shape.vertices.tobytes() + body.shape.faces.tobytes()).hexdigest()
    found, gas = FILLED.get((key, content)), body.gas
    if found is not None:
        return found
    assert gas is not None
    if (gas.entered_gauge or 0.0) > HOPELESS * _most(body) and not len(body.pinned):
        raise SceneError(_cannot_hold(body))  # without a relaxation that ends only when the body has burst
    pumped = Gas(gauge=gas.gauge, absolute=gas.absolute, ambient=gas.ambient, held=True)
    try:
        found = equilibrium(replace(body, gas=pumped), glued, shaken=True)
    except UnstableError:
        raise SceneError(_cannot_hold(body)) from None
    for old in list(FILLED)[: max(0, len(FILLED) - REMEMBERED + 1)]:
        FILLED.pop(old, None)
    FILLED[key, content] = found
    return found


def _most(body: SoftBody) -> float:
    """Pa, about: the largest pressure that the skin holds."""
    ends = body.shape.vertices[body.shape.edges]
    squares, volume, stiffness, none, one = np.array(
        [[np.square(ends[:, 1] - ends[:, 0]).sum()], [abs(body.shape.volume)], [skin_stiffness(body)], [0.0], [1.0]]
    )
    return float(Skin(body.dim, squares, volume, stiffness, none, none, one).most[0])


def _cannot_hold(body: SoftBody) -> str:
    assert body.gas is not None
    unit, doubt = "N/m" if body.dim == 2 else "Pa", units_doubt(body)
    units = f"it {doubt}; if its size is meant, " if doubt else ""
    entered, most = body.gas.entered_gauge or 0.0, _most(body)
    if body.membrane is None:
        skin, holds, gives = f"springs of {body.springs.stiffness:.4g} N/m", "hold", "its springs give way"
    else:
        skin, holds, gives = "this material", "holds", "its material gives way"
    reason = f"{skin} {holds} at most about {most:.3g} {unit}" if entered > most else gives
    return (
        f"body {body.name!r} has no equilibrium with a gauge pressure of {entered:.6g} {unit} "
        f"(gas.pressure_at = 'equilibrium'): {units}{reason}; raise {_stiffer(body)}, or lower the pressure"
    )


def _stiffer(body: SoftBody) -> str:
    """What to raise for a stiffer skin."""
    return "springs.stiffness" if body.membrane is None else "material.thickness or material.young"


def equilibrium(body: SoftBody, glued: npt.NDArray[np.int32], shaken: bool = False) -> Equilibrium:
    """Where the body comes to rest without gravity, walls and motion; `glued` vertices stay.

    shaken: from vertices that are moved a little, as a symmetric start can end where it balances but does not hold.
    A Monte Carlo volume is another one at each look and has no equilibrium but in the mean: that of the exact volume.
    """
    from turgor.simulation.simulation import Simulation

    zero = (0.0,) * body.dim
    still = replace(
        body, velocity=zero, spin=0.0 if body.dim == 2 else zero, settled=False, drag=0.0, velocity_damping=None,
        drag_coefficient=0.0, drag_tangential=0.0, wind_drag=None,
        pins=tuple(np.union1d(body.pinned, glued).tolist()),
    )  # fmt: skip
    if body.membrane is None:
        still = replace(still, springs=Springs(stiffness=body.springs.stiffness))
    else:
        still = replace(still, material=replace(body.membrane, damping=0.0))
    if body.volume == "monte-carlo":
        still = replace(still, volume="exact", samples=None)
    scene = Scene(dim=body.dim, gravity=zero, name="settle")
    scene.add(still)
    with silent():
        sim = Simulation(scene, solver="symplectic", precision="double", contact="none")
    if shaken:
        moves = SHAKE * _mean_edge(body) * np.random.default_rng(0).standard_normal(body.shape.vertices.shape)
        moves[still.pinned] = 0.0
        sim[body.name].positions = sim[body.name].positions + moves
    with waiting(f"settling {body.name!r}") as report:
        return Equilibrium(_relaxed(sim, still, report), float(sim[body.name].volume))


def _relaxed(sim: Simulation, body: SoftBody, report: Callable[[str], None]) -> FloatArray:
    """(vertices, dim) m, in the order of the shape: where all forces are below the tolerance."""
    relaxation = Relaxation(sim.engine, FURTHEST * _mean_edge(body))
    least = ROUND_OFF * _rough_force(body, float(sim[body.name].pressure))
    force = relaxation.largest_force()
    limit = max(TOLERANCE * force, least)
    held = body.gas is not None and body.gas.held
    far = (BURST if held else FAR) * float(np.linalg.norm(np.ptp(body.shape.vertices, axis=0)))
    most = max(STEPS, STEPS_PER_EDGE * round(len(body.shape.vertices) ** (1.0 / (body.dim - 1))))
    shown = time.perf_counter()
    for step in range(0, most, ROUND):
        if force <= limit and relaxation.largest_force() <= limit:
            log.debug("settled %r in %d steps", body.name, step)
            return sim[body.name].positions
        if not (np.isfinite(force) and float(np.abs(sim[body.name].positions).max()) < far):
            raise UnstableError(_no_equilibrium(body, f"flew apart after {step:,} steps of relaxation"))
        if time.perf_counter() - shown > SHOW:
            shown = time.perf_counter()
            report(f"step {step:,} of at most {most:,}, largest force {force / limit:.3g} times the tolerance")
        force = relaxation.run(ROUND)
    raise UnstableError(
        _no_equilibrium(
            body, f"still had {force / limit:.2g} times the allowed force after {most:,} steps of relaxation"
        )
    )


def _no_equilibrium(body: SoftBody, what: str) -> str:
    known = body.volume == "exact" or (body.gas is not None and body.gas.held)
    estimate = "" if known else f", or use volume = 'exact' instead of {body.volume!r}"
    doubt = units_doubt(body)
    units = f"it {doubt}; if its size is meant, " if doubt else ""
    return (
        f"body {body.name!r} found no equilibrium of springs and gas before the start (settled = true): it {what}; "
        f"{units}its skin may be too soft for its pressure: leave settled out, raise {_stiffer(body)}, or lower "
        f"the gas pressure{estimate}"
    )


def _mean_edge(body: SoftBody) -> float:
    ends = body.shape.vertices[body.shape.edges]
    return float(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1).mean())


def _rough_force(body: SoftBody, pressure: float) -> float:
    """N: about what a spring as long as its edge, and the gas on the faces around a vertex, can do."""
    edge = _mean_edge(body)
    return skin_stiffness(body) * edge + abs(pressure) * edge ** (body.dim - 1)
