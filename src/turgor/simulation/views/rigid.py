"""One rigid body of a running simulation: pose, motion and parameters, which may be set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from turgor.errors import SceneError
from turgor.model.rotations import angle_of, matrices_of, quaternion_of, swing
from turgor.scene.data import AIR, rotation_matrix
from turgor.simulation.failure import ensure_fine
from turgor.simulation.views.view import STIFFNESS, Angular, AnyBodyView, FloatArray, PerWorld, Point, Rows, Scalar
from turgor.simulation.warn import tell

if TYPE_CHECKING:
    from turgor.simulation.simulation import Simulation

__all__ = ["RigidView"]


class RigidView(AnyBodyView):
    """Pose, motion and parameters of one rigid body.

    With several worlds every quantity has a leading axis of length `worlds`. Angular quantities are vectors in 3D
    and numbers in 2D. A kinematic body is driven by setting velocity and spin, or center and rotation, between frames.
    """

    def __init__(self, sim: Simulation, index: int) -> None:
        self._rigids, self._state = sim.model.rigids, sim.state.rigid
        self._body = self._rigids.bodies[index]
        self._props = self._rigids.props[index]
        super().__init__(sim, self._body.name, index)

    # pose -----------------------------------------------------------------------------------------------------------

    @property
    def kind(self) -> str:
        """ "dynamic", "kinematic" or "static"."""
        return self._body.kind

    @property
    def center(self) -> FloatArray:
        """(dim,) m: the centre of mass, with all that is glued to the body. May be set."""
        return self._array(self._rows("x") + self._sim.model.anchor)

    @center.setter
    def center(self, value: Rows) -> None:
        self._assign("x", self._checked("center", value) - self._sim.model.anchor)

    @property
    def rotation(self) -> Angular:
        """How the shape is turned: a quaternion (x, y, z, w) in 3D, rad (counter-clockwise) in 2D.

        May be set, in 3D also as axis times angle (3 numbers); the spin stays as it is.
        """
        turns = matrices_of(self._rows("q")) @ self._props.rotation.T
        if self._dim == 2:
            return self._scalar(np.array([angle_of(turn) for turn in turns]))
        return self._array(np.stack([quaternion_of(turn) for turn in turns]))

    @rotation.setter
    def rotation(self, value: Rows) -> None:
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
        return self._array(self._arms() + (self._rows("x") + self._sim.model.anchor)[:, None])

    def to_shape(self, point: Rows) -> FloatArray:
        """(dim,) m: a point of the world, in the coordinates of the shape as the body is now."""
        away = self._checked("to_shape", point) - self._sim.model.anchor - self._rows("x")
        local = np.einsum("wji,wj->wi", matrices_of(self._rows("q")), away)
        return self._array(local @ self._props.rotation.T + self._props.center)

    def from_shape(self, point: Rows) -> FloatArray:
        """(dim,) m: where a point of the shape is in the world now."""
        local = (self._checked("from_shape", point) - self._props.center) @ self._props.rotation
        away = np.einsum("wij,wj->wi", matrices_of(self._rows("q")), local)
        return self._array(away + self._rows("x") + self._sim.model.anchor)

    @property
    def velocities(self) -> FloatArray:
        """(vertices, dim) m/s: of the shape's vertices."""
        arms = self._arms()
        turning = [swing(spin, own) for spin, own in zip(self._rows("spin"), arms, strict=True)]
        return self._array(np.stack(turning) + self._rows("v")[:, None])

    # motion ---------------------------------------------------------------------------------------------------------

    @property
    def velocity(self) -> FloatArray:
        """(dim,) m/s of the centre. May be set."""
        return self._array(self._rows("v"))

    @velocity.setter
    def velocity(self, value: Rows) -> None:
        self._must_move("velocity", value)
        self._assign("v", self._checked("velocity", value))

    @property
    def spin(self) -> Angular:
        """rad/s, along the axes of the world. May be set."""
        return self._angular_value("spin")

    @spin.setter
    def spin(self, value: Rows) -> None:
        self._must_move("spin", value)
        self._set_spin(self._checked("spin", value, turning=True))

    @property
    def momentum(self) -> FloatArray:
        """(dim,) kg m/s, with all that is glued to the body."""
        return self._array(np.atleast_1d(self.mass)[:, None] * self._rows("v"))

    @property
    def angular_momentum(self) -> Angular:
        """kg m²/s about the centre, along the axes of the world; 0 for a body that is not dynamic."""
        return self._angular_value("angular")

    # parameters -----------------------------------------------------------------------------------------------------

    @property
    def mass(self) -> Scalar:
        """kg, with all that is glued to the body. May be set, which keeps its velocity and spin."""
        if self.kind != "dynamic":
            return self._scalar(np.full(self._rigids.worlds, self._props.mass))
        return self._scalar(1.0 / self._rows("inverse_mass"))

    @mass.setter
    def mass(self, value: PerWorld) -> None:
        if self.kind != "dynamic":
            raise SceneError(f"{self.name}.mass has no effect: the body is {self.kind}")
        if np.any(self._sim.model.glue.body_host == self.index):
            raise SceneError(f"{self.name}.mass cannot be set, as vertices are glued to it: set it in the scene")
        wanted, least = self._per_world("mass", value), float(np.finfo(self._rigids.numbers.dtype).tiny)
        if not self._fits(wanted):
            raise SceneError(f"{self.name}.mass must be finite, got {value!r}")
        if np.any(wanted < least):
            raise SceneError(f"{self.name}.mass must be >= {least:g}, got {value!r}")
        factor = wanted / np.atleast_1d(self.mass)
        for name, power in (("inverse_mass", -1.0), ("inverse_inertia", -1.0), ("angular", 1.0)):
            rows = self._rows(name)
            self._assign(name, rows * (factor**power).reshape((-1,) + (1,) * (rows.ndim - 1)))
        tell(self._sim, stacklevel=4)

    # changing -------------------------------------------------------------------------------------------------------

    def grab(
        self, vertex: int, target: Point, stiffness: float = STIFFNESS, damping: float | None = None,
        point: Point | None = None,
    ) -> None:  # fmt: skip
        """Pull a vertex of the shape to a target (m) as on a rubber band of `stiffness` N/m, in all worlds.

        damping: N s/m; left out, it is critical for the body. point: (dim,) m in the coordinates of the shape, to be
        pulled instead of the vertex (`to_shape` gives it). Call again to move the target.
        """
        rigids = self._rigids
        if self.kind != "dynamic":
            raise SceneError(
                f"grab: {self.name!r} is {self.kind} and follows no force; set its velocity or center instead"
            )
        pull = self._checked_pull(len(self._body.shape.vertices), vertex, target, stiffness, damping)
        local = rigids.shape_points[self.index][vertex] if point is None else self._local(point)
        self._put(self._state.grab_on, rigids.count, 1)
        self._put(self._state.grab_local, rigids.count, local)
        self._put_pull(self._state, rigids.count, pull, float(np.max(self.mass)))

    def release(self) -> None:
        """Let go of the body, in all worlds."""
        if not np.any(self._state.grab_on.numpy()[self.index :: self._rigids.count]):
            return
        self._put(self._state.grab_on, self._rigids.count, 0)
        self._sim.engine.changed(moved=False, body=self._number)

    # helpers --------------------------------------------------------------------------------------------------------

    @property
    def _number(self) -> int:
        return len(self._sim.model.parts) + self.index

    @property
    def _dim(self) -> int:
        return self._rigids.numbers.dim

    def _height(self, highest: bool) -> FloatArray:
        heights = self._arms()[..., -1]
        own = heights.max(axis=1) if highest else heights.min(axis=1)
        return np.asarray(own + self._rows("x")[:, -1] + self._sim.model.anchor[-1])

    def _rows(self, name: str) -> FloatArray:
        """(worlds, ...) of this body, in double precision: a copy, as `numpy()` on the CPU is the state itself."""
        ensure_fine(self._sim)
        values = self._of(name).numpy()
        return np.array(values[self.index :: self._rigids.count], np.float64)

    def _of(self, name: str) -> Any:
        """The device array of a quantity, which changes, or of a parameter."""
        return getattr(self._state if name in self._state.SAVED else self._rigids, name)

    def _arms(self) -> FloatArray:
        """(worlds, vertices, dim) m: from the centre to the shape's vertices, along the axes of the world."""
        turns = matrices_of(self._rows("q"))
        return np.asarray(np.einsum("wij,nj->wni", turns, self._rigids.shape_points[self.index]))

    def _local(self, point: Any) -> FloatArray:
        """(dim,) m: a point of the shape, along the principal axes from the centre of mass."""
        place = np.asarray(point, np.float64)
        if place.shape != (self._dim,) or not np.all(np.isfinite(place)):
            raise SceneError(f"grab: point must be {self._dim} finite numbers, got {point!r}")
        return np.asarray((place - self._props.center) @ self._props.rotation)

    def _angular_value(self, name: str) -> Angular:
        rows = self._rows(name)
        return self._scalar(rows) if self._dim == 2 else self._array(rows)

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
        if not self._fits(values):
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
        self._put(self._of(name), self._rigids.count, values)
        if name in ("x", "q", "v", "spin"):
            self._carry_glue()
        self._sim.engine.changed(moved=name in ("x", "q"), body=self._number)
        if name in AIR and not self._rigids.feels_air:
            self._rigids.feels_air = True
            self._sim.engine.replay.record_again()

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
