"""What a user sees of one body of a running simulation: its state, and its parameters, which may be set at any time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from turgor.errors import SceneError, did_you_mean
from turgor.scene.data import SoftBody
from turgor.scene.gas import GAS_CONSTANT, VOLUME_FLOOR

if TYPE_CHECKING:
    from turgor.simulation.simulation import Simulation

__all__ = ["BodyView"]

FloatArray = npt.NDArray[np.float64]
Values = float | FloatArray


def _parameter(name: str, what: str, high: float = math.inf, *, own: bool = False, gas: bool = False) -> Any:
    """A property on one entry of the model's parameter table.

    own: -1 stands for "the wall's own"; gas: only for bodies that were described with gas.
    """

    def read(view: BodyView) -> Values:
        return view._read(name)

    def write(view: BodyView, value: Any) -> None:
        if gas:
            view._needs_gas(name)
        view._write(name, value, high, own)

    return property(read, write, doc=f"{what}. A number, or one per world.")


class BodyView:
    """State and parameters of one body. With several worlds every quantity has a leading axis of length `worlds`."""

    stiffness = _parameter("stiffness", "Spring stiffness, N/m")
    damping = _parameter("damping", "Dashpot of each spring, N s/m")
    bending = _parameter("bending", "Bending stiffness, N m/rad")
    drag = _parameter("drag", "Drag rate c of dv/dt = -c v, 1/s")
    wind_drag = _parameter("wind_drag", "Wind force per point and speed, N s/m")
    friction = _parameter("friction", "Coulomb coefficient; -1: the wall's own", own=True)
    restitution = _parameter("restitution", "Restitution; -1: the wall's own", 1.0, own=True)
    ambient = _parameter("ambient", "Pressure outside, Pa", gas=True)
    nRT = _parameter(  # noqa: N815
        "nRT", "Amount of gas times R times temperature, J", gas=True
    )

    def __init__(self, sim: Simulation, name: str) -> None:
        self._sim = sim
        self._model = sim.model
        self.index = [body.name for body in sim.model.bodies].index(name)
        self.name = name

    def __setattr__(self, key: str, value: Any) -> None:
        """Only what exists can be set: a misspelt parameter must not silently do nothing."""
        if not key.startswith("_") and key not in ("name", "index"):
            found = getattr(type(self), key, None)
            if found is None or found.fset is None:
                known = [name for name, entry in vars(type(self)).items() if getattr(entry, "fset", None)]
                raise SceneError(f"{self.name}.{key} cannot be set; {did_you_mean(key, known)}")
        super().__setattr__(key, value)

    # state ----------------------------------------------------------------------------------------------------------

    @property
    def positions(self) -> FloatArray:
        """(vertices, dim) m, in the order of the shape's vertices. May be set."""
        return self._vertices(self._sim.positions)

    @positions.setter
    def positions(self, value: Any) -> None:
        self._assign(self._sim.state.x, value, "positions", self._model.anchor)

    @property
    def velocities(self) -> FloatArray:
        """(vertices, dim) m/s. May be set."""
        return self._vertices(self._sim.velocities)

    @velocities.setter
    def velocities(self, value: Any) -> None:
        self._assign(self._sim.state.v, value, "velocities", 0.0)

    @property
    def forces(self) -> FloatArray:
        """(vertices, dim) N: the total force on each point now."""
        return self._vertices(self._sim.forces()).copy()

    @property
    def masses(self) -> FloatArray:
        """(vertices,) kg."""
        return self._vertices(self._sim._to_user(self._model.mass)[..., None])[..., 0]

    @property
    def mass(self) -> Values:
        """kg, of the whole body. May be set."""
        return self._plain(self.masses.sum(axis=-1))

    @mass.setter
    def mass(self, value: Any) -> None:
        if len(self.glued):
            raise SceneError(f"{self.name}.mass cannot be set, as vertices of it are glued: set it in the scene")
        wanted = self._checked("mass", value, float(np.finfo(self._model.numbers.dtype).tiny))
        factor = wanted / np.atleast_1d(self.mass)
        part = slice(int(self._model.starts[self.index]), int(self._model.starts[self.index + 1]))
        for array, power in ((self._model.mass, 1.0), (self._model.inverse_mass, -1.0)):
            table = array.numpy().reshape(self._model.worlds, -1).copy()
            table[:, part] *= factor[:, None] ** power
            array.assign(table.ravel())
        self._write("breathing", np.atleast_1d(self._read("breathing")) / factor)

    @property
    def glued(self) -> npt.NDArray[np.int32]:
        """(g,) sorted indices of the vertices that are glued to rigid bodies."""
        first, last = (int(start) for start in self._model.starts[self.index : self.index + 2])
        inside = self._model.glue.vertices_between(first, last)
        return np.sort(self._model.user[first + inside] - first)

    @property
    def center(self) -> FloatArray:
        """(dim,) m: centre of mass."""
        return self._mean(self.positions)

    @property
    def momentum(self) -> FloatArray:
        """(dim,) kg m/s."""
        return np.asarray(np.einsum("...i,...ij->...j", self.masses, self.velocities))

    @property
    def angular_momentum(self) -> Values:
        """kg m²/s about the centre of mass: a vector in 3D, a number in 2D."""
        arms = self.positions - self.center[..., None, :]
        spin = np.cross(arms, self.velocities) if self._model.numbers.dim == 3 else _cross2(arms, self.velocities)
        return np.asarray(np.einsum("...i,...ij->...j", self.masses, spin)) if spin.ndim > self.masses.ndim else (
            self._plain(np.einsum("...i,...i->...", self.masses, spin))
        )  # fmt: skip

    @property
    def volume(self) -> Values:
        """m³ (m² in 2D) enclosed, measured by the body's own method; nan for a cloth."""
        return self._measured("volume") if self._closed else self._plain(np.full(self._model.worlds, math.nan))

    @property
    def rest_volume(self) -> Values:
        """m³ (m² in 2D) of the shape as it was described; nan for a cloth."""
        return self._read("rest_volume") if self._closed else self._plain(np.full(self._model.worlds, math.nan))

    @property
    def pressure(self) -> Values:
        """Absolute pressure of the gas, Pa (N/m in 2D); 0 without gas."""
        return self._measured("pressure")

    @property
    def gauge_pressure(self) -> Values:
        """Pressure above ambient, Pa. Setting it sets the amount of gas that has this pressure at the rest volume."""
        return self._plain(np.atleast_1d(self.pressure) - np.atleast_1d(self.ambient))

    @gauge_pressure.setter
    def gauge_pressure(self, value: Any) -> None:
        self._needs_gas("gauge_pressure")
        gauge = self._checked("gauge_pressure", value, -math.inf)
        self.nRT = (gauge + np.atleast_1d(self.ambient)) * np.atleast_1d(self.rest_volume)

    @property
    def temperature(self) -> Values:
        """K, at the rest volume. Setting it keeps the amount of gas."""
        return self._plain(self._sim.state.temperatures[:, self.index])

    @temperature.setter
    def temperature(self, value: Any) -> None:
        self._needs_gas("temperature")
        kelvin = self._checked("temperature", value, float(np.finfo(np.float32).tiny))
        self.nRT = np.atleast_1d(self.nRT) * kelvin / self._sim.state.temperatures[:, self.index]
        self._sim.state.temperatures[:, self.index] = kelvin

    @property
    def moles(self) -> Values:
        """mol. Setting it keeps the temperature."""
        return self._plain(np.atleast_1d(self.nRT) / (GAS_CONSTANT * self._sim.state.temperatures[:, self.index]))

    @moles.setter
    def moles(self, value: Any) -> None:
        self._needs_gas("moles")
        self.nRT = self._checked("moles", value, 0.0) * GAS_CONSTANT * self._sim.state.temperatures[:, self.index]

    @property
    def collapsed(self) -> bool | npt.NDArray[np.bool_]:
        """Whether the body is crushed below the volume floor or turned inside out, so that its pressure is capped."""
        if not self._closed:
            raise SceneError(f"{self.name}.collapsed: only a closed body encloses a volume")
        flat = np.atleast_1d(self.volume) < VOLUME_FLOOR * np.atleast_1d(self.rest_volume)
        return bool(flat[0]) if self._model.worlds == 1 else flat

    # helpers --------------------------------------------------------------------------------------------------------

    def _vertices(self, values: FloatArray) -> FloatArray:
        first, last = self._model.starts[self.index], self._model.starts[self.index + 1]
        return np.asarray(values[..., int(first) : int(last), :])

    def _mean(self, values: FloatArray) -> FloatArray:
        weights = self.masses / self.masses.sum(axis=-1, keepdims=True)
        return np.asarray(np.einsum("...i,...ij->...j", weights, values))

    @property
    def _closed(self) -> bool:
        return isinstance(self._model.bodies[self.index], SoftBody)

    def _plain(self, values: FloatArray) -> Values:
        values = np.atleast_1d(np.asarray(values, np.float64))
        return float(values[0]) if self._model.worlds == 1 else values

    def _table(self, array: Any) -> Any:
        return array.numpy().reshape(self._model.worlds, -1)

    def _read(self, name: str) -> Values:
        return self._plain(self._table(getattr(self._model, name))[:, self.index])

    def _measured(self, name: str) -> Values:
        self._sim.measure()
        return self._plain(self._table(getattr(self._sim.scratch, name))[:, self.index])

    def _needs_gas(self, name: str) -> None:
        body = self._model.bodies[self.index]
        if not (isinstance(body, SoftBody) and body.gas is not None):
            raise SceneError(
                f"{self.name}.{name} needs gas, and {self.name!r} was described without: give it gas first"
            )

    def _checked(self, name: str, value: Any, low: float, high: float = math.inf) -> FloatArray:
        try:
            values = np.broadcast_to(np.asarray(value, np.float64), (self._model.worlds,))
        except (TypeError, ValueError):
            raise SceneError(
                f"{self.name}.{name} must be a number or one per world ({self._model.worlds}), got {value!r}"
            ) from None
        limit = min(high, float(np.finfo(self._model.numbers.dtype).max))
        if not np.all(np.isfinite(values)) or np.any(values < low) or np.any(values > limit):
            raise SceneError(f"{self.name}.{name} must be a number from {low:g} to {limit:g}, got {value!r}")
        return values

    def _write(self, name: str, value: Any, high: float = math.inf, own: bool = False) -> None:
        low = -1.0 if own else 0.0
        values = self._checked(name, value, low, high)
        if own and np.any((values < 0.0) & (values != -1.0)):
            raise SceneError(f"{self.name}.{name} must be >= 0, or -1 for the wall's own, got {value!r}")
        self._sim.check_change(self.index, name, values)
        array = getattr(self._model, name)
        table = self._table(array).copy()
        table[:, self.index] = values
        array.assign(table.ravel())
        self._sim.parameters_changed(self.index, name)

    def _assign(self, array: Any, value: Any, name: str, origin: Any) -> None:
        model = self._model
        count = int(model.starts[self.index + 1] - model.starts[self.index])
        shape = (model.worlds, count, model.numbers.dim)
        try:
            values = np.broadcast_to(np.asarray(value, np.float64), shape)
        except (TypeError, ValueError):
            expected = shape[1:] if model.worlds == 1 else shape
            raise SceneError(f"{self.name}.{name} must have shape {expected}, got {np.shape(value)}") from None
        local = values - origin
        if not np.all(np.abs(local) <= np.finfo(model.numbers.dtype).max):
            raise SceneError(f"{self.name}.{name} must be finite, and fit {model.numbers.precision} precision")
        self._sim.ensure_fine()
        table = array.numpy().reshape(model.worlds, model.vertices, model.numbers.dim).copy()
        start = int(model.starts[self.index])
        order = model.user[start : start + count] - start
        table[:, start : start + count] = local[:, order]
        array.assign(table.reshape(-1, model.numbers.dim))
        self._sim.state_changed(moved=name == "positions")


def _cross2(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.asarray(a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])
