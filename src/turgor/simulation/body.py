"""What a user sees of one body of a running simulation: its state, and its parameters, which may be set at any time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from turgor.errors import SceneError
from turgor.scene.gas import GAS_CONSTANT, VOLUME_FLOOR

if TYPE_CHECKING:
    from turgor.simulation.simulation import Simulation

__all__ = ["BodyView"]

FloatArray = npt.NDArray[np.float64]
Values = float | FloatArray


def _parameter(name: str, what: str, low: float = 0.0) -> Any:
    """A property on one entry of the model's parameter table."""

    def read(view: BodyView) -> Values:
        return view._read(name)

    def write(view: BodyView, value: Any) -> None:
        view._write(name, value, low)

    return property(read, write, doc=f"{what}. A number, or one per world.")


class BodyView:
    """State and parameters of one body. With several worlds every quantity has a leading axis of length `worlds`."""

    stiffness = _parameter("stiffness", "Spring stiffness, N/m")
    damping = _parameter("damping", "Dashpot of each spring, N s/m")
    bending = _parameter("bending", "Bending stiffness, N m/rad")
    drag = _parameter("drag", "Drag rate c of dv/dt = -c v, 1/s")
    wind_drag = _parameter("wind_drag", "Wind force per point and speed, N s/m")
    friction = _parameter("friction", "Coulomb coefficient; -1: the wall's own", low=-1.0)
    restitution = _parameter("restitution", "Restitution; -1: the wall's own", low=-1.0)
    ambient = _parameter("ambient", "Pressure outside, Pa")
    nRT = _parameter(  # noqa: N815
        "nRT", "Amount of gas times R times temperature, J"
    )

    def __init__(self, sim: Simulation, name: str) -> None:
        self._sim = sim
        self._model = sim.model
        self._index = [body.name for body in sim.model.bodies].index(name)
        self.name = name

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
        return self._vertices(self._sim.forces())

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
        wanted = self._checked("mass", value, np.finfo(float).tiny)
        factor = wanted / np.atleast_1d(self.mass)
        part = slice(int(self._model.starts[self._index]), int(self._model.starts[self._index + 1]))
        for array, power in ((self._model.mass, 1.0), (self._model.inverse_mass, -1.0)):
            table = array.numpy().reshape(self._model.worlds, -1).copy()
            table[:, part] *= factor[:, None] ** power
            array.assign(table.ravel())
        self._write("breathing", np.atleast_1d(self._read("breathing")) / factor, 0.0)

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
        """m³ (m² in 2D) enclosed, measured by the body's own method; nan for a body without gas that is open."""
        return self._measured("volume")

    @property
    def rest_volume(self) -> Values:
        """m³ (m² in 2D) of the shape as it was described."""
        return self._read("rest_volume")

    @property
    def pressure(self) -> Values:
        """Absolute pressure of the gas, Pa (N/m in 2D)."""
        return self._measured("pressure")

    @property
    def gauge_pressure(self) -> Values:
        """Pressure above ambient, Pa. Setting it sets the amount of gas that has this pressure at the rest volume."""
        return self._plain(np.atleast_1d(self.pressure) - np.atleast_1d(self.ambient))

    @gauge_pressure.setter
    def gauge_pressure(self, value: Any) -> None:
        gauge = self._checked("gauge_pressure", value, -np.inf)
        self.nRT = (gauge + np.atleast_1d(self.ambient)) * np.atleast_1d(self.rest_volume)

    @property
    def temperature(self) -> Values:
        """K, at the rest volume. Setting it keeps the amount of gas."""
        return self._plain(self._sim.temperatures[:, self._index])

    @temperature.setter
    def temperature(self, value: Any) -> None:
        kelvin = self._checked("temperature", value, np.finfo(float).tiny)
        self.nRT = np.atleast_1d(self.nRT) * kelvin / self._sim.temperatures[:, self._index]
        self._sim.temperatures[:, self._index] = kelvin

    @property
    def moles(self) -> Values:
        """mol. Setting it keeps the temperature."""
        return self._plain(np.atleast_1d(self.nRT) / (GAS_CONSTANT * self._sim.temperatures[:, self._index]))

    @moles.setter
    def moles(self, value: Any) -> None:
        self.nRT = self._checked("moles", value, 0.0) * GAS_CONSTANT * self._sim.temperatures[:, self._index]

    @property
    def collapsed(self) -> bool | npt.NDArray[np.bool_]:
        """Whether the body is crushed below the volume floor or turned inside out, so that its pressure is capped."""
        flat = np.atleast_1d(self.volume) < VOLUME_FLOOR * np.atleast_1d(self.rest_volume)
        return bool(flat[0]) if self._model.worlds == 1 else flat

    # helpers --------------------------------------------------------------------------------------------------------

    def _vertices(self, values: FloatArray) -> FloatArray:
        first, last = self._model.starts[self._index], self._model.starts[self._index + 1]
        return np.asarray(values[..., int(first) : int(last), :])

    def _mean(self, values: FloatArray) -> FloatArray:
        weights = self.masses / self.masses.sum(axis=-1, keepdims=True)
        return np.asarray(np.einsum("...i,...ij->...j", weights, values))

    def _plain(self, values: FloatArray) -> Values:
        values = np.atleast_1d(np.asarray(values, np.float64))
        return float(values[0]) if self._model.worlds == 1 else values

    def _table(self, array: Any) -> Any:
        return array.numpy().reshape(self._model.worlds, -1)

    def _read(self, name: str) -> Values:
        return self._plain(self._table(getattr(self._model, name))[:, self._index])

    def _measured(self, name: str) -> Values:
        self._sim.measure()
        return self._plain(self._table(getattr(self._sim.state, name))[:, self._index])

    def _checked(self, name: str, value: Any, low: float) -> FloatArray:
        try:
            values = np.broadcast_to(np.asarray(value, np.float64), (self._model.worlds,))
        except (TypeError, ValueError):
            raise SceneError(
                f"{self.name}.{name} must be a number or one per world ({self._model.worlds}), got {value!r}"
            ) from None
        if not np.all(np.isfinite(values)) or np.any(values < low):
            raise SceneError(f"{self.name}.{name} must be finite and >= {low:g}, got {value!r}")
        return values

    def _write(self, name: str, value: Any, low: float) -> None:
        values = self._checked(name, value, low)
        array = getattr(self._model, name)
        table = self._table(array).copy()
        table[:, self._index] = values
        array.assign(table.ravel())
        self._sim.parameters_changed(self._index, name)

    def _assign(self, array: Any, value: Any, name: str, origin: Any) -> None:
        model = self._model
        count = int(model.starts[self._index + 1] - model.starts[self._index])
        shape = (model.worlds, count, model.numbers.dim)
        try:
            values = np.broadcast_to(np.asarray(value, np.float64), shape)
        except (TypeError, ValueError):
            expected = shape[1:] if model.worlds == 1 else shape
            raise SceneError(f"{self.name}.{name} must have shape {expected}, got {np.shape(value)}") from None
        if not np.all(np.isfinite(values)):
            raise SceneError(f"{self.name}.{name} must be finite")
        self._sim.ensure_fine()
        table = array.numpy().reshape(model.worlds, model.vertices, model.numbers.dim).copy()
        start = int(model.starts[self._index])
        order = model.user[start : start + count] - start
        table[:, start : start + count] = (values - origin)[:, order]
        array.assign(table.reshape(-1, model.numbers.dim))
        self._sim.state_changed()


def _cross2(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.asarray(a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])
