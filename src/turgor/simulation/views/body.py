"""One soft body or cloth of a running simulation: its state, and its parameters, which may be set at any time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from turgor.diagnose import membranes
from turgor.diagnose.bodies import BodySums
from turgor.errors import SceneError
from turgor.model.model import decay_rate
from turgor.scene.data import AIR, SoftBody
from turgor.scene.gas import GAS_CONSTANT, VOLUME_FLOOR
from turgor.scene.swelling import spring_like
from turgor.simulation.failure import ensure_fine
from turgor.simulation.step import measures
from turgor.simulation.views.view import (
    STIFFNESS,
    Angular,
    AnyBodyView,
    FloatArray,
    PerWorld,
    Point,
    Rows,
    Scalar,
    per_vertex,
)

if TYPE_CHECKING:
    from turgor.simulation.simulation import Simulation

__all__ = ["BodyView"]


LEAST = float(np.finfo(np.float32).tiny)  # where zero has no meaning
LARGEST_RATIO = 0.5 - 1e-6  # of Poisson: stiffness across has no bound at one half


class Parameter:
    """An entry of the model's parameter table as an attribute of the view."""

    def __init__(
        self, what: str, *, gas: bool = False, skin: str = "", above: float = 0.0, below: float = math.inf
    ) -> None:
        self.__doc__ = f"{what}. A number, or one per world. May be set."
        self._gas = gas  # whether it can be set only on bodies that were described with gas
        self._skin = skin  # "springs" or "material": the only skins that it can be set on
        self._least, self._most = above, below

    def __set_name__(self, owner: type[BodyView], name: str) -> None:
        self.name = name

    @overload
    def __get__(self, view: None, owner: type[BodyView]) -> Parameter: ...
    @overload
    def __get__(self, view: BodyView, owner: type[BodyView]) -> Scalar: ...
    def __get__(self, view: BodyView | None, owner: type[BodyView]) -> Parameter | Scalar:
        return self if view is None else view._read(self.name)

    def __set__(self, view: BodyView, value: PerWorld) -> None:
        if self._gas:
            view._needs_gas(self.name)
        if self._skin:
            view._needs_skin(self.name, self._skin)
        view._assign(self.name, view._checked(self.name, value, self._least, self._most))


class BodyView(AnyBodyView):
    """State and parameters of one soft body or cloth.

    With several worlds every quantity has a leading axis of length `worlds`.
    """

    stiffness = Parameter("Spring stiffness, N/m", skin="springs")
    damping = Parameter("Dashpot of each spring, N s/m", skin="springs")
    bending = Parameter("Bending stiffness, N m/rad")
    young = Parameter("Young's modulus of a material, Pa", skin="material", above=LEAST)
    poisson = Parameter("Poisson's ratio of a material", skin="material", below=LARGEST_RATIO)
    thickness = Parameter("Thickness of a material, m", skin="material", above=LEAST)
    viscosity = Parameter(
        "Damping of a material: viscous stress is this time x moduli x rate of strain, s", skin="material"
    )
    drag = Parameter("Drag rate c of dv/dt = -c v, 1/s")
    wind_drag = Parameter("Matyka's wind: force per point and speed, N s/m")
    ambient = Parameter("Pressure outside, Pa (N/m in 2D)", gas=True)
    nRT = Parameter("Amount of gas times R times temperature, J", gas=True)  # noqa: N815

    def __init__(self, sim: Simulation, index: int) -> None:
        super().__init__(sim, sim.model.bodies[index].name, index)
        self._model = sim.model

    # state ----------------------------------------------------------------------------------------------------------

    @property
    def positions(self) -> FloatArray:
        """(vertices, dim) m, in the order of the shape's vertices. May be set."""
        return self._own_rows(self._sim.state.x) + self._model.anchor

    @positions.setter
    def positions(self, value: Rows) -> None:
        self._set_vertices(self._sim.state.x, value, "positions", self._model.anchor)

    @property
    def velocities(self) -> FloatArray:
        """(vertices, dim) m/s. May be set."""
        return self._own_rows(self._sim.state.v)

    @velocities.setter
    def velocities(self, value: Rows) -> None:
        self._set_vertices(self._sim.state.v, value, "velocities", 0.0)

    @property
    def forces(self) -> FloatArray:
        """(vertices, dim) N: the total force on each point now."""
        return self._vertices(self._sim.forces()).copy()

    @property
    def masses(self) -> FloatArray:
        """(vertices,) kg."""
        return self._own_rows(self._model.mass)

    @property
    def mass(self) -> Scalar:
        """kg, of the whole body. May be set."""
        return self._scalar(self._sums().mass)

    @mass.setter
    def mass(self, value: PerWorld) -> None:
        if len(self.glued):
            raise SceneError(f"{self.name}.mass cannot be set, as vertices of it are glued: set it in the scene")
        wanted = self._checked("mass", value, float(np.finfo(self._model.numbers.dtype).tiny))
        factor = wanted / np.atleast_1d(self.mass)
        part = slice(int(self._model.starts[self.index]), int(self._model.starts[self.index + 1]))
        for array, power in ((self._model.mass, 1.0), (self._model.inverse_mass, -1.0)):
            table = array.numpy().reshape(self._model.worlds, -1).copy()
            table[:, part] *= factor[:, None] ** power
            array.assign(table.ravel())
        self._assign("breathing", np.atleast_1d(self._read("breathing")) / factor)

    @property
    def glued(self) -> npt.NDArray[np.int32]:
        """(g,) sorted indices of the vertices that are glued to rigid bodies."""
        first, last = (int(start) for start in self._model.starts[self.index : self.index + 2])
        inside = self._model.glue.vertices_between(first, last)
        return np.sort(self._model.user[first + inside] - first)

    @property
    def center(self) -> FloatArray:
        """(dim,) m: centre of mass."""
        sums = self._sums()
        return self._array(sums.moment / sums.mass[:, None] + self._model.anchor)

    @property
    def velocity(self) -> FloatArray:
        """(dim,) m/s of the centre of mass."""
        sums = self._sums()
        return self._array(sums.momentum / sums.mass[:, None])

    @property
    def momentum(self) -> FloatArray:
        """(dim,) kg m/s."""
        return self._array(self._sums().momentum)

    @property
    def angular_momentum(self) -> Angular:
        """kg m²/s about the centre of mass: a vector in 3D, a number in 2D."""
        arms = self.positions - self.center[..., None, :]
        spin = np.cross(arms, self.velocities) if self._model.numbers.dim == 3 else _cross2(arms, self.velocities)
        return np.asarray(np.einsum("...i,...ij->...j", self.masses, spin)) if spin.ndim > self.masses.ndim else (
            self._scalar(np.einsum("...i,...i->...", self.masses, spin))
        )  # fmt: skip

    @property
    def volume(self) -> Scalar:
        """m³ (m² in 2D) enclosed, measured by the body's own method; nan for a cloth."""
        return self._measured("volume") if self._closed else self._scalar(np.full(self._model.worlds, math.nan))

    @property
    def rest_volume(self) -> Scalar:
        """m³ (m² in 2D) of the shape as it was described; nan for a cloth."""
        return self._read("rest_volume") if self._closed else self._scalar(np.full(self._model.worlds, math.nan))

    @property
    def pressure(self) -> Scalar:
        """Absolute pressure of the gas, Pa (N/m in 2D); 0 without gas."""
        return self._measured("pressure")

    @property
    def gauge_pressure(self) -> Scalar:
        """Pressure above ambient, Pa. Setting it sets the amount of gas that has this pressure at the rest volume."""
        return self._scalar(np.atleast_1d(self.pressure) - np.atleast_1d(self.ambient))

    @gauge_pressure.setter
    def gauge_pressure(self, value: PerWorld) -> None:
        self._needs_gas("gauge_pressure")
        gauge = self._checked("gauge_pressure", value, -math.inf)
        self.nRT = (gauge + np.atleast_1d(self.ambient)) * np.atleast_1d(self.rest_volume)

    @property
    def temperature(self) -> Scalar:
        """K, at the rest volume. Setting it keeps the amount of gas."""
        return self._scalar(self._sim.state.temperatures[:, self.index])

    @temperature.setter
    def temperature(self, value: PerWorld) -> None:
        self._needs_gas("temperature")
        kelvin = self._checked("temperature", value, float(np.finfo(np.float32).tiny))
        self.nRT = np.atleast_1d(self.nRT) * kelvin / self._sim.state.temperatures[:, self.index]
        self._sim.state.temperatures[:, self.index] = kelvin

    @property
    def moles(self) -> Scalar:
        """mol. Setting it keeps the temperature."""
        return self._scalar(np.atleast_1d(self.nRT) / (GAS_CONSTANT * self._sim.state.temperatures[:, self.index]))

    @moles.setter
    def moles(self, value: PerWorld) -> None:
        self._needs_gas("moles")
        self.nRT = self._checked("moles", value, 0.0) * GAS_CONSTANT * self._sim.state.temperatures[:, self.index]

    @property
    def collapsed(self) -> bool | npt.NDArray[np.bool_]:
        """Whether the body is crushed below the volume floor or turned inside out, so that its pressure is capped."""
        if not self._closed:
            raise SceneError(f"{self.name}.collapsed: only a closed body encloses a volume")
        flat = np.atleast_1d(self.volume) < VOLUME_FLOOR * np.atleast_1d(self.rest_volume)
        return bool(flat[0]) if self._model.worlds == 1 else flat

    # a skin of a material -------------------------------------------------------------------------------------------

    @property
    def stretch(self) -> FloatArray:
        """(faces, 2) principal stretches of a skin of a material, the larger one first; by the shape's faces."""
        return self._faces("stretch")

    @property
    def stress(self) -> FloatArray:
        """(faces, 2) Pa: principal Cauchy stresses of a skin of a material."""
        return self._faces("stress")

    @property
    def tension(self) -> FloatArray:
        """(faces, 2) N/m: principal forces per length, as it is now."""
        return self._faces("tension")

    @property
    def wrinkled(self) -> FloatArray:
        """(faces,) 0: taut, 1: wrinkled, 2: slack, without any stress."""
        return self._faces("state")

    def _faces(self, name: str) -> FloatArray:
        model = self._model
        if model.bodies[self.index].membrane is None:
            raise SceneError(
                f"{self.name}.{name} is that of a material, and {self.name!r} has springs: describe it with material="
            )
        found = getattr(membranes.measure(model, self._sim.state), name)
        first = sum(len(part.faces) for part in model.parts[: self.index])
        part = model.parts[self.index]
        out = np.empty_like(found[:, first : first + len(part.faces)])
        out[:, part.face_order] = found[:, first : first + len(part.faces)]
        return np.asarray(out[0] if model.worlds == 1 else out)

    # changing -------------------------------------------------------------------------------------------------------

    def grab(self, vertex: int, target: Point, stiffness: float = STIFFNESS, damping: float | None = None) -> None:
        """Pull a vertex to a target (m) as on a rubber band of `stiffness` N/m, in all worlds.

        damping: N s/m; left out, it is critical for the pulled point. Call again to move the target.
        """
        model, state = self._model, self._sim.state
        pull = self._checked_pull(len(model.bodies[self.index].shape.vertices), vertex, target, stiffness, damping)
        place = int(model.internal[model.starts[self.index] + vertex])
        places = place + np.arange(model.worlds) * model.vertices
        self._put(state.grab_vertex, len(model.parts), places)
        self._put_pull(state, len(model.parts), pull, float(model.mass.numpy()[place]))

    def release(self) -> None:
        """Let go of the body, in all worlds."""
        if np.all(self._sim.state.grab_vertex.numpy()[self.index :: len(self._model.parts)] < 0):
            return
        self._put(self._sim.state.grab_vertex, len(self._model.parts), -1)
        self._sim.engine.changed(moved=False, body=self.index)

    # helpers --------------------------------------------------------------------------------------------------------

    @property
    def _number(self) -> int:
        return self.index

    def _own_rows(self, array: Any) -> FloatArray:
        """A device array over vertices, as `per_vertex`, of this body only."""
        return per_vertex(self._sim, array, slice(*map(int, self._model.starts[self.index : self.index + 2])))

    def _vertices(self, values: FloatArray) -> FloatArray:
        first, last = self._model.starts[self.index], self._model.starts[self.index + 1]
        return np.asarray(values[..., int(first) : int(last), :])

    def _sums(self) -> BodySums:
        ensure_fine(self._sim)
        return measures.body_sums(self._sim.engine, self.index)

    def _height(self, highest: bool) -> FloatArray:
        sums = self._sums()
        return np.asarray((sums.highest if highest else sums.lowest) + self._model.anchor[-1])

    @property
    def _closed(self) -> bool:
        return isinstance(self._model.bodies[self.index], SoftBody)

    def _rows(self, name: str) -> FloatArray:
        """(worlds,) of this body in the model's parameter table: a copy, as on the CPU `numpy()` is the table."""
        return np.array(getattr(self._model, name).numpy()[self.index :: len(self._model.parts)], np.float64)

    def _read(self, name: str) -> Scalar:
        return self._scalar(self._rows(name))

    def _measured(self, name: str) -> Scalar:
        self._sim.measure()
        return self._scalar(getattr(self._sim.engine.scratch, name).numpy()[self.index :: len(self._model.parts)])

    def _needs_gas(self, name: str) -> None:
        body = self._model.bodies[self.index]
        if not (isinstance(body, SoftBody) and body.gas is not None):
            raise SceneError(
                f"{self.name}.{name} needs gas, and {self.name!r} was described without: give it gas first"
            )

    def _needs_skin(self, name: str, skin: str) -> None:
        own = "springs" if self._model.bodies[self.index].membrane is None else "material"
        if own != skin:
            has = "has springs" if own == "springs" else "is of a material"
            raise SceneError(f"{self.name}.{name} is that of {skin}, and {self.name!r} {has}: describe it with {skin}=")

    def _checked(self, name: str, value: Any, low: float, high: float = math.inf) -> FloatArray:
        values = self._per_world(name, value)
        limit = min(high, float(np.finfo(self._model.numbers.dtype).max))
        if not np.all(np.isfinite(values)) or np.any(values < low) or np.any(values > limit):
            raise SceneError(f"{self.name}.{name} must be a number from {low:g} to {limit:g}, got {value!r}")
        return values

    def _assign(self, name: str, values: FloatArray) -> None:
        model = self._model
        if name == "bending" and not len(model.parts[self.index].hinges) and np.any(values):
            raise SceneError(f"{self.name}.bending can be changed only if the body was described with bending > 0")
        self._put(getattr(model, name), len(model.parts), values)
        self._sim.engine.changed(moved=False, body=self.index)
        law = model.bodies[self.index].velocity_damping
        if name == "stiffness" and law is not None:  # Martin's damping follows the stiffness
            stiffness = model.stiffness.numpy()[self.index :: len(model.parts)]
            self._put(model.decay, len(model.parts), decay_rate(law, stiffness))
        if name in ("stiffness", "young", "thickness"):
            self._put(model.skin_stiffness, len(model.parts), self._rows("stiffness") + self._spring_like())
        if name in (*AIR, "wind_drag") and not model.feels_air:
            model.feels_air = True
            self._sim.engine.replay.record_again()

    def _spring_like(self) -> FloatArray:
        """(worlds,) N/m."""
        part = self._model.parts[self.index]
        dim = self._model.numbers.dim
        return np.asarray(spring_like(dim, self._rows("young"), self._rows("thickness"), part.mean_edge))

    def _set_vertices(self, array: Any, value: Any, name: str, origin: Any) -> None:
        model = self._model
        count = int(model.starts[self.index + 1] - model.starts[self.index])
        shape = (model.worlds, count, model.numbers.dim)
        try:
            values = np.broadcast_to(np.asarray(value, np.float64), shape)
        except (TypeError, ValueError):
            expected = shape[1:] if model.worlds == 1 else shape
            raise SceneError(f"{self.name}.{name} must have shape {expected}, got {np.shape(value)}") from None
        local = values - origin
        if not self._fits(local):
            raise SceneError(f"{self.name}.{name} must be finite, and fit {model.numbers.precision} precision")
        ensure_fine(self._sim)
        table = array.numpy().reshape(model.worlds, model.vertices, model.numbers.dim).copy()
        start = int(model.starts[self.index])
        order = model.user[start : start + count] - start
        table[:, start : start + count] = local[:, order]
        array.assign(table.reshape(-1, model.numbers.dim))
        self._sim.engine.changed(moved=name == "positions", body=self.index)


def _cross2(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.asarray(a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])
