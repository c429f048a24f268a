"""What a user sees of one rigid body of a running simulation: pose, motion and parameters, which may be set."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from turgor.errors import SceneError, did_you_mean
from turgor.model.rotations import angle_of, matrices_of, quaternion_of, swing
from turgor.scene.data import rotation_matrix

if TYPE_CHECKING:
    from turgor.simulation.simulation import Simulation

__all__ = ["RigidView"]

FloatArray = npt.NDArray[np.float64]
Values = float | FloatArray


class RigidView:
    """Pose, motion and parameters of one rigid body.

    With several worlds every quantity has a leading axis of length `worlds`. Angular quantities are vectors in 3D
    and numbers in 2D. A kinematic body is driven by setting velocity and spin, or center and rotation, between frames.
    """

    def __init__(self, sim: Simulation, index: int) -> None:
        self._sim = sim
        self._rigids, self._state = sim.model.rigids, sim.state.rigid
        self._body = self._rigids.bodies[index]
        self._props = self._rigids.props[index]
        self.index = index
        self.name = self._body.name

    def __setattr__(self, key: str, value: Any) -> None:
        """Only what exists can be set: a misspelt attribute must not silently do nothing."""
        if not key.startswith("_") and key not in ("name", "index"):
            found = getattr(type(self), key, None)
            if found is None or found.fset is None:
                known = [name for name, entry in vars(type(self)).items() if getattr(entry, "fset", None)]
                raise SceneError(f"{self.name}.{key} cannot be set; {did_you_mean(key, known)}")
        super().__setattr__(key, value)

    # pose -----------------------------------------------------------------------------------------------------------

    @property
    def kind(self) -> str:
        """ "dynamic", "kinematic" or "static"."""
        return self._body.kind

    @property
    def center(self) -> FloatArray:
        """(dim,) m: the centre of mass, with all that is glued to the body. May be set."""
        return self._plain(self._rows("x") + self._sim.model.anchor)

    @center.setter
    def center(self, value: Any) -> None:
        self._assign("x", self._checked("center", value) - self._sim.model.anchor)

    @property
    def rotation(self) -> Values:
        """How the shape is turned: a quaternion (x, y, z, w) in 3D, rad (counter-clockwise) in 2D.

        May be set, in 3D also as axis times angle (3 numbers); the spin stays as it is.
        """
        turns = matrices_of(self._rows("q")) @ self._props.rotation.T
        if self._dim == 2:
            return self._number(np.array([angle_of(turn) for turn in turns]))
        return self._plain(np.stack([quaternion_of(turn) for turn in turns]))

    @rotation.setter
    def rotation(self, value: Any) -> None:
        turns = self._checked_turns(value) @ self._props.rotation
        spin = self._rows("spin")
        if self._dim == 2:
            self._assign("q", np.array([angle_of(turn) for turn in turns]))
        else:
            self._assign("q", np.stack([quaternion_of(turn) for turn in turns]))
        self._set_spin(spin)

    @property
    def positions(self) -> FloatArray:
        """(vertices, dim) m: the shape's vertices where they are now, in their own order."""
        return self._plain(self._arms() + (self._rows("x") + self._sim.model.anchor)[:, None])

    def to_shape(self, point: Any) -> FloatArray:
        """(dim,) m: a point of the world, in the coordinates of the shape as the body is now."""
        away = self._checked("to_shape", point) - self._sim.model.anchor - self._rows("x")
        local = np.einsum("wji,wj->wi", matrices_of(self._rows("q")), away)
        return self._plain(local @ self._props.rotation.T + self._props.center)

    def from_shape(self, point: Any) -> FloatArray:
        """(dim,) m: where a point of the shape is in the world now."""
        local = (self._checked("from_shape", point) - self._props.center) @ self._props.rotation
        away = np.einsum("wij,wj->wi", matrices_of(self._rows("q")), local)
        return self._plain(away + self._rows("x") + self._sim.model.anchor)

    @property
    def velocities(self) -> FloatArray:
        """(vertices, dim) m/s: of the shape's vertices."""
        arms = self._arms()
        turning = [swing(spin, own) for spin, own in zip(self._rows("spin"), arms, strict=True)]
        return self._plain(np.stack(turning) + self._rows("v")[:, None])

    # motion ---------------------------------------------------------------------------------------------------------

    @property
    def velocity(self) -> FloatArray:
        """(dim,) m/s of the centre. May be set."""
        return self._plain(self._rows("v"))

    @velocity.setter
    def velocity(self, value: Any) -> None:
        self._must_move("velocity", value)
        self._assign("v", self._checked("velocity", value))

    @property
    def spin(self) -> Values:
        """rad/s, along the axes of the world. May be set."""
        return self._angular_value("spin")

    @spin.setter
    def spin(self, value: Any) -> None:
        self._must_move("spin", value)
        self._set_spin(self._checked("spin", value, turning=True))

    @property
    def momentum(self) -> FloatArray:
        """(dim,) kg m/s, with all that is glued to the body."""
        return self._plain(np.atleast_1d(self.mass)[:, None] * self._rows("v"))

    @property
    def angular_momentum(self) -> Values:
        """kg m²/s about the centre, along the axes of the world; 0 for a body that is not dynamic."""
        return self._angular_value("angular")

    # parameters -----------------------------------------------------------------------------------------------------

    @property
    def mass(self) -> Values:
        """kg, with all that is glued to the body. May be set, which keeps its velocity and spin."""
        if self.kind != "dynamic":
            return self._number(np.full(self._rigids.worlds, self._props.mass))
        return self._number(1.0 / self._rows("inverse_mass"))

    @mass.setter
    def mass(self, value: Any) -> None:
        if self.kind != "dynamic":
            raise SceneError(f"{self.name}.mass has no effect: the body is {self.kind}")
        if np.any(self._sim.model.glue.body_host == self.index):
            raise SceneError(f"{self.name}.mass cannot be set, as vertices are glued to it: set it in the scene")
        wanted = self._parameter("mass", value, float(np.finfo(self._rigids.numbers.dtype).tiny))
        factor = wanted / np.atleast_1d(self.mass)
        for name, power in (("inverse_mass", -1.0), ("inverse_inertia", -1.0), ("angular", 1.0)):
            rows = self._rows(name)
            self._assign(name, rows * (factor**power).reshape((-1,) + (1,) * (rows.ndim - 1)))

    @property
    def friction(self) -> Values:
        """Coulomb coefficient; -1: the other's own. A number, or one per world. May be set."""
        return self._number(self._rows("friction"))

    @friction.setter
    def friction(self, value: Any) -> None:
        self._assign("friction", self._parameter("friction", value, -1.0, own=True))

    @property
    def restitution(self) -> Values:
        """0..1; -1: the other's own. A number, or one per world. May be set."""
        return self._number(self._rows("restitution"))

    @restitution.setter
    def restitution(self, value: Any) -> None:
        self._assign("restitution", self._parameter("restitution", value, -1.0, 1.0, own=True))

    # helpers --------------------------------------------------------------------------------------------------------

    @property
    def _dim(self) -> int:
        return self._rigids.numbers.dim

    def _rows(self, name: str) -> FloatArray:
        """(worlds, ...) of this body, in double precision: a copy, as `numpy()` on the CPU is the state itself."""
        self._sim.ensure_fine()
        values = self._array(name).numpy()
        return np.array(values[self.index :: self._rigids.count], np.float64)

    def _array(self, name: str) -> Any:
        """The device array of a quantity, which changes, or of a parameter."""
        return getattr(self._state if name in self._state.SAVED else self._rigids, name)

    def _arms(self) -> FloatArray:
        """(worlds, vertices, dim) m: from the centre to the shape's vertices, along the axes of the world."""
        turns = matrices_of(self._rows("q"))
        return np.asarray(np.einsum("wij,nj->wni", turns, self._rigids.shape_points[self.index]))

    def _plain(self, values: FloatArray) -> FloatArray:
        return np.asarray(values[0] if self._rigids.worlds == 1 else values)

    def _number(self, values: FloatArray) -> Values:
        return float(values[0]) if self._rigids.worlds == 1 else values

    def _angular_value(self, name: str) -> Values:
        rows = self._rows(name)
        return self._number(rows) if self._dim == 2 else self._plain(rows)

    def _must_move(self, name: str, value: Any) -> None:
        if self.kind == "static" and np.any(value):
            raise SceneError(f"{self.name}.{name}: a static body does not move; describe it with kind = 'kinematic'")

    def _checked(self, name: str, value: Any, turning: bool = False) -> FloatArray:
        """(worlds, dim) finite numbers, or (worlds,) for what is a number in 2D."""
        shape = (self._rigids.worlds,) if turning and self._dim == 2 else (self._rigids.worlds, self._dim)
        try:
            values = np.broadcast_to(np.asarray(value, np.float64), shape)
        except (TypeError, ValueError):
            wanted = "a number" if len(shape) == 1 else f"{self._dim} numbers"
            raise SceneError(f"{self.name}.{name} must be {wanted} (or that per world), got {value!r}") from None
        if not np.all(np.abs(values) <= np.finfo(self._rigids.numbers.dtype).max):
            raise SceneError(f"{self.name}.{name} must be finite, got {value!r}")
        return values

    def _checked_turns(self, value: Any) -> FloatArray:
        """(worlds, dim, dim) rotation matrices."""
        if self._dim == 2:
            return matrices_of(self._checked("rotation", value, turning=True))
        try:
            given = np.asarray(value, np.float64)
            rows = np.broadcast_to(given, (self._rigids.worlds, given.shape[-1] if given.ndim else 0))
        except (TypeError, ValueError):
            rows = np.zeros((1, 0))
        if rows.shape[1] == 3 and np.all(np.isfinite(rows)):
            return np.stack([rotation_matrix((float(x), float(y), float(z))) for x, y, z in rows])
        if rows.shape[1] != 4 or not np.all(np.isfinite(rows)) or np.any(np.linalg.norm(rows, axis=1) == 0.0):
            raise SceneError(
                f"{self.name}.rotation must be a quaternion (x, y, z, w) or axis times angle (3 numbers), got {value!r}"
            )
        return matrices_of(rows)

    def _parameter(self, name: str, value: Any, low: float, high: float = math.inf, own: bool = False) -> FloatArray:
        values = self._checked_numbers(name, value)
        if np.any(values < low) or np.any(values > high) or (own and np.any((values < 0.0) & (values != -1.0))):
            wanted = f">= {max(low, 0.0):g}" + (f" and <= {high:g}" if math.isfinite(high) else "")
            other = ", or -1 for the other's own" if own else ""
            raise SceneError(f"{self.name}.{name} must be {wanted}{other}, got {value!r}")
        return values

    def _checked_numbers(self, name: str, value: Any) -> FloatArray:
        try:
            values = np.broadcast_to(np.asarray(value, np.float64), (self._rigids.worlds,))
        except (TypeError, ValueError):
            raise SceneError(
                f"{self.name}.{name} must be a number or one per world ({self._rigids.worlds}), got {value!r}"
            ) from None
        if not np.all(np.abs(values) <= np.finfo(self._rigids.numbers.dtype).max):
            raise SceneError(f"{self.name}.{name} must be finite, got {value!r}")
        return values

    def _set_spin(self, spin: FloatArray) -> None:
        """Sets the angular velocity, and the momentum that goes with it: L = R I Rᵀ ω."""
        self._assign("spin", spin)
        if self.kind != "dynamic":
            return
        inertia = 1.0 / self._rows("inverse_inertia")
        if self._dim == 2:
            self._assign("angular", inertia * spin)
            return
        turns = matrices_of(self._rows("q"))
        self._assign("angular", np.einsum("wij,wj,wkj,wk->wi", turns, inertia, turns, spin))

    def _assign(self, name: str, values: FloatArray) -> None:
        array = self._array(name)
        table = array.numpy().copy()
        table[self.index :: self._rigids.count] = values
        array.assign(table)
        if name in ("x", "q", "v", "spin"):
            self._carry_glue()
        self._sim.state_changed(moved=name in ("x", "q"))

    def _carry_glue(self) -> None:
        """Glued vertices go where the body goes."""
        glue, rigid, state = self._sim.model.glue, self._state, self._sim.state
        mine = glue.body.numpy() % max(self._rigids.count, 1) == self.index
        if not mine.any():
            return
        vertices, bodies = glue.vertex.numpy()[mine], glue.body.numpy()[mine]
        turns = matrices_of(rigid.q.numpy())[bodies]
        arms = np.einsum("gij,gj->gi", turns, glue.local.numpy()[mine])
        spins = rigid.spin.numpy()[bodies]
        turning = np.concatenate([swing(spin, arm[None]) for spin, arm in zip(spins, arms, strict=True)])
        for array, values in (
            (state.x, rigid.x.numpy()[bodies] + arms),
            (state.v, rigid.v.numpy()[bodies] + turning),
        ):
            table = array.numpy().copy()
            table[vertices] = values
            array.assign(table)
