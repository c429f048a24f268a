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
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from turgor.errors import TurgorWarning
from turgor.scene.data import SoftBody
from turgor.scene.swelling import Skin
from turgor.scene.units import units_doubt

if TYPE_CHECKING:
    from turgor.simulation.simulation import Simulation

__all__ = ["Told", "found", "listed", "silent", "tell"]

FloatArray = npt.NDArray[np.float64]
Key = tuple[str, str]  # what is wrong, and of which body

FEW = 3  # bodies with the same concern that get a sentence each
COLLAPSED = 0.5  # share of the rest volume: less is hardly meant
PRESSED = 0.5  # share of the entered pressure: what is squashed, or pinned all over, may have it whatever its skin

_silent: ContextVar[bool] = ContextVar("silent", default=False)


@dataclass
class Told:
    """What a simulation has told, and what is known from its start."""

    resolution: str  # of positions in single precision
    keys: set[Key] = field(default_factory=set)  # what Python was warned of


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
    for body in (*sim.model.bodies, *sim.model.rigids.bodies):
        doubt = units_doubt(body)
        result["units", body.name] = f"body {body.name!r} {doubt}" if doubt else ""
    for index, body in enumerate(sim.model.bodies):
        if isinstance(body, SoftBody):
            result["volume", body.name] = _collapse(sim, index, body)
            if not result["units", body.name]:  # that is the reason
                result["gauge", body.name] = _gauge(sim, index, body)
    return {key: sentence for key, sentence in result.items() if sentence}


def _skin(sim: Simulation, index: int) -> Skin:
    """Skin and gas of a soft body as they are set now, with one entry per world."""
    model = sim.model

    def rows(name: str) -> FloatArray:
        return np.asarray(getattr(model, name).numpy()[index :: len(model.parts)], np.float64)

    part = model.parts[index]
    return Skin(
        dim=model.numbers.dim,
        squares=float(np.square(np.asarray(part.rest_lengths, np.float64)).sum()),
        volume=part.rest_volume,
        stiffness=rows("stiffness"),
        nRT=rows("nRT"),
        ambient=rows("ambient"),
        gamma=float(rows("gamma")[0]),
    )


def _collapse(sim: Simulation, index: int, body: SoftBody) -> str:
    """A closed body that has lost most of its volume, though nothing need be on it."""
    if sim.frame_index == 0:
        return ""
    left = _measured(sim, "volume", index) / sim.model.parts[index].rest_volume
    world = int(np.argmin(left))
    if not left[world] < COLLAPSED:
        return ""
    what = f"body {body.name!r}{_in_world(sim, world)} has {100.0 * left[world]:.2g} % of its volume left"
    if body.gas is None:
        return f"{what}: there is no gas in it to hold it up; give it gas, or bending > 0 if its skin is to hold itself"
    return f"{what}: it has too little gas for what presses on it; raise its gas, or lower gas.ambient"


def _gauge(sim: Simulation, index: int, body: SoftBody) -> str:
    """A pressure that was entered and does not hold, since the skin gives way. Live changes count as entered."""
    gas = body.gas
    if gas is None or gas.held or gas.entered_gauge is None or gas.pressure_at == "equilibrium":
        return ""
    skin, begun = _skin(sim, index), sim.frame_index > 0
    entered = _exact(skin.entered, gas.entered_gauge, skin.ambient)
    holds = _measured(sim, "pressure", index) - skin.ambient if begun else skin.holds
    wrong = skin.gives_way & (np.abs(holds) < PRESSED * np.abs(entered))
    if not wrong.any():
        return ""
    world, unit = int(np.argmax(wrong)), "N/m" if body.dim == 2 else "Pa"
    number = f"{holds[world]:.3g} {unit} hold now" if begun else f"about {holds[world]:.3g} {unit} will hold"
    way = "swells" if entered[world] > 0.0 else "shrinks"
    return (
        f"body {body.name!r}{_in_world(sim, world)}: a gauge pressure of {entered[world]:.6g} {unit} was entered, and "
        f"{number}: what is entered is that at the rest volume, and the skin {way} until little of it is left; "
        f"{_remedy(skin, world, unit)}"
    )


def _exact(entered: FloatArray, described: float, ambient: FloatArray) -> FloatArray:
    """What was entered, where the rounded amount of gas is that of the description."""
    step = 4.0 * float(np.finfo(np.float32).eps) * (ambient + np.abs(entered))
    return np.where(np.abs(entered - described) <= step, described, entered)


def _remedy(skin: Skin, world: int, unit: str) -> str:
    most, stiffness = float(skin.most[world]), float(skin.stiffness[world])
    if skin.entered[world] > most:
        return (
            f"springs of {stiffness:.4g} N/m hold at most about {most:.3g} {unit}: raise springs.stiffness, or enter "
            "less, with gas.pressure_at = 'equilibrium', which means the pressure that holds"
        )
    return "gas.pressure_at = 'equilibrium' makes it the pressure that holds"


def _measured(sim: Simulation, name: str, index: int) -> FloatArray:
    """(worlds,) of the last evaluation of forces."""
    return np.asarray(getattr(sim.engine.scratch, name).numpy()[index :: len(sim.model.parts)], np.float64)


def _in_world(sim: Simulation, world: int) -> str:
    return f" in world {world}" if sim.worlds > 1 else ""
