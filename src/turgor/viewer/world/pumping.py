"""Pumping gas into a body or out of it, and opening its skin: the amount of gas of the scene. No browser."""

from __future__ import annotations

from turgor.errors import SceneError
from turgor.scene.data import SoftBody
from turgor.scene.gas import GAS_CONSTANT, Gas
from turgor.scene.swelling import skin_stiffness
from turgor.viewer.world import parameter_access as live
from turgor.viewer.world.history import one_step
from turgor.viewer.world.simple import first
from turgor.viewer.world.world import World

__all__ = ["close_skin", "is_open", "open_skin", "pump"]

RATE = 0.5  # 1/s: of the gas that a body has beyond what balances the outside
EMPTY, FULL = (
    live.PRESSURE_LEAST,
    live.PRESSURE_WIDE,
)  # of it: the least where nothing presses from outside, and the most
WIDEST = 0.5  # strain: as far as its estimate holds


def _gas(world: World, name: str) -> Gas:
    body = world.scene[name]
    if not isinstance(body, SoftBody) or body.gas is None:
        raise SceneError(f"{name} holds no gas: select a body that is blown up")
    return body.gas


def is_open(world: World, name: str) -> bool:
    """Whether the skin of a body has a hole: what is inside always has the pressure of outside, however much it is."""
    body = world.scene[name]
    gas = body.gas if isinstance(body, SoftBody) else None
    return gas is not None and gas.held and live.gas(world, name)["gauge"] == 0.0


def _own_excess(world: World, name: str) -> float:
    """mol: of the gas that a body had at first, beyond what has the pressure of outside at its rest volume.

    Where its gauge pressure is that in equilibrium, its skin is stretched by s = 1 + p / K (`Skin.skin_pressure`).
    """
    body, volume = first(world, name), float(world.sim[name].rest_volume)
    gas = body.gas or _gas(world, name)
    gauge = gas.nRT_at(volume) / volume - gas.ambient
    gauge = abs(gauge) or max(0.1 * gas.ambient, 10.0)
    stretch = 1.0
    if gas.pressure_at == "equilibrium":
        ends = body.shape.vertices[body.shape.edges]
        modulus = skin_stiffness(body) * float(((ends[:, 1] - ends[:, 0]) ** 2).sum()) / (body.dim * volume)
        stretch += min(gauge / modulus, WIDEST)
    excess = (gas.ambient + gauge) * stretch**body.dim - gas.ambient
    return float(excess * volume / (GAS_CONSTANT * _gas(world, name).temperature))


@one_step
def pump(world: World, name: str, seconds: float) -> bool:
    """Let gas in for some seconds, or out if they are negative; whether there was room, or any left."""
    gas = _gas(world, name)
    if is_open(world, name):
        raise SceneError(f"{name} is open, and gas would stream out again: close its skin first")
    now, own = live.gas(world, name)["moles"], _own_excess(world, name)
    least = gas.ambient * float(world.sim[name].rest_volume) / (GAS_CONSTANT * gas.temperature)
    low, high = least + (EMPTY * own if gas.ambient == 0.0 else 0.0), least + FULL * own
    wanted = min(max(now + RATE * seconds * own, min(low, now)), max(high, now))
    if wanted != now:
        world.change_gas(name, moles=wanted)
    return wanted != now


@one_step
def open_skin(world: World, name: str) -> None:
    """Cut a hole: from now on the gas inside has the pressure of outside, so that it presses on nothing."""
    _gas(world, name)
    world.history.end_drag()
    world.change_gas(name, gauge=0.0, held=True, law="isothermal", inflate=0.0, gravity_waits=False)


@one_step
def close_skin(world: World, name: str) -> None:
    """Mend the hole: the gas that is inside now stays there, and follows the law that it had."""
    gas, before = _gas(world, name), first(world, name).gas
    law, gamma = (before.law, before.gamma) if before is not None else ("isothermal", 1.4)
    world.history.end_drag()
    view = world.sim[name]
    rest, now = float(view.rest_volume), float(view.volume)
    power = gamma if law == "adiabatic" else 1.0
    moles = gas.ambient * rest * (now / rest) ** power / (GAS_CONSTANT * gas.temperature)  # p(V) is that of outside
    more = {"gamma": gamma} if law == "adiabatic" else {}
    world.change_gas(name, moles=max(moles, 0.0), held=False, law=law, **more)
