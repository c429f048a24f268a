"""What looks wrong in a simulation that runs: one list of sentences, for Python, the summary, JSON and the page.

Nothing is computed for it: descriptions are looked at when a simulation is built, and volumes and pressures of the last
substep when somebody asks, or a run has ended.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from turgor.errors import TurgorWarning
from turgor.model.model import Model
from turgor.scene.data import Body, SoftBody
from turgor.scene.swelling import Skin
from turgor.scene.units import units_doubt

if TYPE_CHECKING:
    from turgor.simulation.simulation import Simulation

__all__ = ["Told", "found", "listed", "silent", "tell"]

FloatArray = npt.NDArray[np.float64]
Key = tuple[str, str]  # what is wrong, and of which body

FEW = 3  # bodies with the same concern that get a sentence each
COLLAPSED = 0.5  # share of the rest volume: less is hardly meant
ROUND_OFF = 4.0 * float(np.finfo(np.float32).eps)
PRESSED = 0.5  # share of the entered pressure: what is squashed, or pinned all over, may have it whatever its skin

_silent: ContextVar[bool] = ContextVar("silent", default=False)


@dataclass
class Told:
    """What a simulation has told, and what is known from its start."""

    resolution: str  # of positions in single precision
    units: dict[str, str]  # by body, where they look wrong
    entered: list[int]  # soft bodies whose skin is to hold a pressure that was entered at rest
    gauges: FloatArray  # Pa, of each of those, as it was described
    squares: FloatArray  # m²: sum of the squared rest lengths
    keys: set[Key] = field(default_factory=set)  # what Python was warned of

    @classmethod
    def of(cls, model: Model, resolution: str) -> Told:
        """At the start of a simulation."""
        units = {body.name: units_doubt(body) for body in (*model.bodies, *model.rigids.bodies)}
        units = {name: f"body {name!r} {doubt}" for name, doubt in units.items() if doubt}
        gauges = {index: _entered_at_rest(body) for index, body in enumerate(model.bodies) if body.name not in units}
        known = {index: gauge for index, gauge in gauges.items() if gauge is not None}
        squares = [0.5 * float(np.square(model.parts[index].neighbour_rest).sum()) for index in known]
        return cls(resolution, units, list(known), np.array(list(known.values())), np.array(squares))


def _entered_at_rest(body: Body) -> float | None:
    """Pa: the pressure that the skin of a body is to hold, if it was entered as that at the rest volume."""
    gas = body.gas if isinstance(body, SoftBody) else None
    return gas.entered_gauge if gas is not None and not gas.held and gas.pressure_at == "rest" else None


@contextlib.contextmanager
def silent() -> Iterator[None]:
    """Simulations that are built inside tell nothing: they are a means of another one, which does."""
    token = _silent.set(True)
    try:
        yield
    finally:
        _silent.reset(token)


def tell(sim: Simulation, stacklevel: int = 3) -> None:
    """Warn, as Python does, of what has not been told of this simulation yet. stacklevel: of the user's line."""
    if _silent.get():
        return
    fresh = {key: sentence for key, sentence in found(sim).items() if key not in sim.told.keys}
    sim.told.keys |= fresh.keys()
    for sentence in listed(fresh):
        warnings.warn(sentence, TurgorWarning, stacklevel=stacklevel)


def listed(concerns: dict[Key, str]) -> list[str]:
    """As sentences; where many bodies have the same, the first few and how many more there are."""
    sentences: list[str] = []
    for kind in dict.fromkeys(kind for kind, _ in concerns):
        names = [name for other, name in concerns if other == kind]
        sentences += [concerns[kind, name] for name in names[:FEW]]
        if more := names[FEW:]:
            sentences.append(f"{len(more)} more bodies, {more[0]!r} to {more[-1]!r}: as the last one ({kind})")
    return sentences


def found(sim: Simulation) -> dict[Key, str]:
    """All that looks wrong. Volumes and pressures are those that were last measured."""
    result = {("resolution", ""): sim.told.resolution}
    split = sim.engine.split
    if split is not None and split.rigid_contacts is not None:
        result["masses", ""] = split.rigid_contacts.unequal()
    result |= {("units", name): sentence for name, sentence in sim.told.units.items()}
    result |= {("volume", name): sentence for name, sentence in _collapses(sim)}
    result |= {("gauge", name): sentence for name, sentence in _gauges(sim)}
    return {key: sentence for key, sentence in result.items() if sentence}


def _collapses(sim: Simulation) -> Iterator[tuple[str, str]]:
    """Closed bodies that have lost most of their volume."""
    if sim.frame_index == 0 or not sim.model.bodies:
        return
    lost = _table(sim, sim.engine.scratch.volume) / np.array([part.rest_volume or np.nan for part in sim.model.parts])
    for index in np.flatnonzero((lost < COLLAPSED).any(axis=0)):
        body, world = sim.model.bodies[index], int(np.nanargmin(lost[:, index]))
        if not isinstance(body, SoftBody):
            continue
        what = f"body {body.name!r}{_in_world(sim, world)} has {100.0 * lost[world, index]:.2g} % of its volume left"
        if body.gas is None:
            reason = "there is no gas in it to hold it up; give it gas, or bending > 0 if its skin is to hold itself"
        else:
            reason = "it has too little gas for what presses on it; raise its gas, or lower gas.ambient"
        yield body.name, f"{what}: {reason}"


def _gauges(sim: Simulation) -> Iterator[tuple[str, str]]:
    """Pressures that were entered and do not hold, since the skin gives way. Live changes count as entered."""
    model, told, begun = sim.model, sim.told, sim.frame_index > 0
    if not told.entered:
        return
    nRT, ambient, stiffness, gamma = (  # (worlds, entered bodies)
        _table(sim, getattr(model, name))[:, told.entered] for name in ("nRT", "ambient", "skin_stiffness", "gamma")
    )
    volume = np.array([model.parts[index].rest_volume for index in told.entered])
    skins = Skin(model.numbers.dim, told.squares, volume, stiffness, nRT, ambient, gamma)
    wrong = skins.gives_way
    if not wrong.any():
        return
    step = ROUND_OFF * (ambient + np.abs(skins.entered))  # what was entered, but for the rounded amount of gas
    entered = np.where(np.abs(skins.entered - told.gauges) <= step, told.gauges, skins.entered)
    holds = _table(sim, sim.engine.scratch.pressure)[:, told.entered] - ambient if begun else skins.holds
    wrong &= np.abs(holds) < PRESSED * np.abs(entered)
    unit = "N/m" if sim.scene.dim == 2 else "Pa"
    for place in np.flatnonzero(wrong.any(axis=0)):
        name, world = model.bodies[told.entered[place]].name, int(np.argmax(wrong[:, place]))
        pressure, most, springs = (float(values[world, place]) for values in (entered, skins.most, stiffness))
        held = f"{holds[world, place]:.3g} {unit}"
        now = f"{held} hold now" if begun else f"about {held} will hold"
        way = "swells" if pressure > 0.0 else "shrinks"
        sentence = (
            f"body {name!r}{_in_world(sim, world)}: a gauge pressure of {pressure:.6g} {unit} was entered, and {now}: "
            f"what is entered is that at the rest volume, and the skin {way} until little of it is left; "
        )
        soft = f"springs of {springs:.4g} N/m hold", "springs.stiffness"
        if model.bodies[told.entered[place]].membrane is not None:
            soft = "this material holds", "material.thickness or material.young"
        yield name, sentence + _remedy(pressure, most, soft, unit)


def _remedy(entered: float, most: float, soft: tuple[str, str], unit: str) -> str:
    """soft: what is too soft, and what to raise."""
    if entered > most:
        return (
            f"{soft[0]} at most about {most:.3g} {unit}: raise {soft[1]}, or enter "
            "less, with gas.pressure_at = 'equilibrium', which means the pressure that holds"
        )
    return "gas.pressure_at = 'equilibrium' makes it the pressure that holds"


def _table(sim: Simulation, array: Any) -> FloatArray:
    """(worlds, bodies) of one of the device's tables; of results, those of the last evaluation of forces."""
    return np.asarray(array.numpy(), np.float64).reshape(sim.worlds, -1)


def _in_world(sim: Simulation, world: int) -> str:
    return f" in world {world}" if sim.worlds > 1 else ""
