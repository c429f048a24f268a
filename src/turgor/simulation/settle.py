"""A start without a jump: the shape of a body in the equilibrium of its springs and its gas."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np
import numpy.typing as npt

from turgor.errors import SceneError, TurgorError, UnstableError
from turgor.scene.data import SoftBody, rotation_matrix
from turgor.scene.gas import Gas
from turgor.scene.swelling import Skin, skin_stiffness
from turgor.scene.units import units_doubt
from turgor.simulation.equilibria import Equilibrium, equilibria, stiffer

if TYPE_CHECKING:
    from turgor.simulation.simulation import Simulation

__all__ = ["settle"]

HOPELESS = 2.0  # times the estimate of what the skin holds, which is that of balls
REMEMBERED = 32  # equilibria of fillings

FILLED: dict[tuple[str, str], Equilibrium] = {}  # by description and mesh


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
            owns = [cast(SoftBody, scene.bodies[index]) for scene in scenes]
            found = _starts([_at_the_origin(own, view.glued) for own in owns], sim.settings.threads, known)
            places = [
                one.positions @ rotation_matrix(own.rotation).T + np.array(own.at)
                for own, one in zip(owns, found, strict=True)
            ]
            if _fills(body):
                amounts = [_amount(owns[w], found[w].volume, float(rest[w])) for w in range(len(owns))]
                view.nRT = np.array(amounts) if len(scenes) > 1 else amounts[0]
            if body.settled or (_fills(body) and not inflates):
                view.positions = np.array(places) if len(scenes) > 1 else places[0]


def _starts(bodies: list[SoftBody], threads: int | str, known: dict[str, Equilibrium]) -> list[Equilibrium]:
    """The equilibria of a body of each world, at the origin; `known` has those of bodies that are alike."""
    keys = [repr((replace(body, name="alike"), body.shape.recipe)) for body in bodies]
    new = {key: body for key, body in zip(keys, bodies, strict=True) if key not in known}
    if _fills(bodies[0]):
        found = _filled(new, threads)
    else:
        found = dict(zip(new, equilibria(list(new.values()), threads), strict=True))
    known |= {key: one for key, one in found.items() if isinstance(one, Equilibrium)}
    wrong = {world: error for world, key in enumerate(keys) if isinstance(error := found.get(key), TurgorError)}
    if wrong:
        world, error = next(iter(wrong.items()))
        if len(bodies) == 1:
            raise error
        raise UnstableError(f"world {world}: {error}", {w: str(reason) for w, reason in wrong.items()}) from error
    return [known[key] for key in keys]


def _at_the_origin(body: SoftBody, glued: npt.NDArray[np.int32]) -> SoftBody:
    """At rest there, as any other that is alike; `glued` vertices stay."""
    origin = (0.0,) * body.dim
    turn = 0.0 if body.dim == 2 else origin
    held = tuple(np.union1d(body.pinned, glued).tolist())
    return replace(body, at=origin, rotation=turn, velocity=origin, spin=turn, pins=held, color=None, settled=False)


def _fills(body: SoftBody) -> bool:
    return body.gas is not None and body.gas.pressure_at == "equilibrium"


def _amount(body: SoftBody, volume: float, rest_volume: float) -> float:
    """n R T at the rest volume (J) of the gas that has the entered pressure at `volume`: P V^gamma is constant."""
    gas = body.gas
    assert gas is not None
    gamma = gas.gamma if gas.law == "adiabatic" else 1.0
    return gas.nRT_at(rest_volume) * float((volume / rest_volume) ** gamma)


def _filled(bodies: dict[str, SoftBody], threads: int | str) -> dict[str, Equilibrium | TurgorError]:
    """The equilibria at the entered pressures, as if a pump held them. Remembered: a rebuild asks for them again."""
    found: dict[str, Equilibrium | TurgorError] = {}
    pumped: dict[str, SoftBody] = {}
    for key, body in bodies.items():
        remembered, gas = FILLED.get((key, _content(body))), body.gas
        assert gas is not None
        if remembered is not None:
            found[key] = remembered
        elif (gas.entered_gauge or 0.0) > HOPELESS * _most(body) and not len(body.pinned):
            found[key] = SceneError(_cannot_hold(body))  # without a relaxation that ends only when the body has burst
        else:
            held = Gas(gauge=gas.gauge, absolute=gas.absolute, ambient=gas.ambient, held=True)
            pumped[key] = replace(body, gas=held)
    for key, one in zip(pumped, equilibria(list(pumped.values()), threads, shaken=True), strict=True):
        body = bodies[key]
        if isinstance(one, TurgorError):
            found[key] = SceneError(_cannot_hold(body))
            continue
        found[key] = one
        for old in list(FILLED)[: max(0, len(FILLED) - REMEMBERED + 1)]:
            FILLED.pop(old, None)
        FILLED[key, _content(body)] = one
    return found


def _content(body: SoftBody) -> str:
    return hashlib.sha256(body.shape.vertices.tobytes() + body.shape.faces.tobytes()).hexdigest()


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
        f"(gas.pressure_at = 'equilibrium'): {units}{reason}; raise {stiffer(body)}, or lower the pressure"
    )
