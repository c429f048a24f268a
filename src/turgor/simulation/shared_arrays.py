"""The memory of a simulation, shared with NumPy, PyTorch and JAX without copies (DLPack).

    x = torch.from_dlpack(sim.arrays.positions)      # also jax.dlpack.from_dlpack, numpy.from_dlpack (read-only)
    v = numpy.asarray(sim.arrays.velocities)         # on the CPU: to be written, too
    v[:] = 0.0
    sim.arrays.changed()                             # after writing into shared memory
    sim.arrays.velocities = tensor                   # or: copies a tensor of any of them, and says so by itself

Shared memory is in the order in which the simulation works, not in that of the shapes, and positions are relative to a
point near the scene: row i is vertex `order[i]` of `sim.positions`, and `sim.positions[order] == positions + origin`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import warp as wp

from turgor.errors import SceneError
from turgor.simulation.failure import ensure_fine
from turgor.simulation.step import measures
from turgor.simulation.views.view import FloatArray
from turgor.simulation.worlds import numbers_of

if TYPE_CHECKING:
    from turgor.simulation.simulation import Simulation

__all__ = ["SharedArrays"]


class SharedArrays:
    """Positions, velocities and forces of all soft vertices as device arrays: (vertices, dim), with several worlds
    (worlds, vertices, dim), in the precision of the simulation.

    Each is a Warp array, which has `__dlpack__` (and `__array_interface__`, or `__cuda_array_interface__` on a GPU).
    `positions` and `velocities` are the simulation's own memory: they show every later frame, and what is written there
    is what the next step begins with, once `changed()` was called. They are that memory until the simulation is rebuilt
    (`rebuild`, `show`). Reading an attribute waits for the frames launched so far; on a GPU take it again after a step.
    """

    def __init__(self, sim: Simulation) -> None:
        self._sim = sim

    @property
    def positions(self) -> Any:
        """m, relative to `origin`. May be set from anything with DLPack or an array interface."""
        return self._shared(self._sim.state.x)

    @positions.setter
    def positions(self, value: Any) -> None:
        self._assign("positions", self._sim.state.x, value)

    @property
    def velocities(self) -> Any:
        """m/s. May be set, as `positions`."""
        return self._shared(self._sim.state.v)

    @velocities.setter
    def velocities(self, value: Any) -> None:
        self._assign("velocities", self._sim.state.v, value)

    @property
    def forces(self) -> Any:
        """N: the total force on each point at the present state; a copy, which later frames leave as it is."""
        ensure_fine(self._sim)
        return self._view(measures.total_forces(self._sim.engine))

    @property
    def order(self) -> npt.NDArray[np.int32]:
        """(vertices,) the vertex of `sim.positions` that each row is: a copy, on the host."""
        return np.array(self._sim.model.user, np.int32)

    @property
    def origin(self) -> FloatArray:
        """(dim,) m: the point that `positions` are relative to, so that single precision is enough far from zero."""
        return np.array(self._sim.model.anchor, np.float64)

    def changed(self, *, moved: bool = True, worlds: Any = None) -> None:
        """Say that shared memory was written; what was derived from it (contact lists, spectra) is then found again.

        moved=False: only velocities were. worlds: numbers or a mask of those that were written, so that the others go
        on as they are; what is not finite there is then found by the next step. Waits for what other libraries have
        launched on the same GPU.
        """
        wp.synchronize_device(self._sim.model.device)
        if worlds is not None:
            self._sim.engine.forget_worlds(numbers_of(self._sim, worlds))
            return
        for name, array in (("positions", self._sim.state.x), ("velocities", self._sim.state.v)):
            if not np.isfinite(array.numpy()).all():
                raise SceneError(f"arrays.{name} have numbers that are not finite: write others before the next step")
        self._sim.engine.changed(moved=moved)

    def _shared(self, array: Any) -> Any:
        ensure_fine(self._sim)  # frames that are still to be computed
        return self._view(array)

    def _view(self, array: Any) -> Any:
        """The same memory as plain numbers, with an axis of worlds if there are several."""
        model = self._sim.model
        axes = (model.vertices, model.numbers.dim)
        shape = axes if model.worlds == 1 else (model.worlds, *axes)
        view = wp.array(ptr=array.ptr, dtype=model.numbers.real, shape=shape, device=model.device, copy=False)
        view.source_array = array  # the memory stays as long as what is made of it
        return view

    def _assign(self, name: str, array: Any, value: Any) -> None:
        target = self._shared(array)
        source = _as_warp(name, value)
        if tuple(source.shape) != tuple(target.shape):
            raise SceneError(f"arrays.{name} must have shape {tuple(target.shape)}, got {tuple(source.shape)}")
        if source.dtype != target.dtype:
            source = wp.array(source.numpy(), dtype=target.dtype, device=target.device)
        if not np.isfinite(source.numpy()).all():
            raise SceneError(f"arrays.{name} must be finite numbers")
        wp.copy(target, source)
        self._sim.engine.changed(moved=name == "positions")


def _as_warp(name: str, value: Any) -> Any:
    """A Warp array of a tensor, without a copy where it can be; NumPy arrays and lists too."""
    if isinstance(value, wp.array):
        return value
    try:
        if hasattr(value, "__dlpack__") and not isinstance(value, np.ndarray):
            return wp.from_dlpack(value)
        return wp.array(np.ascontiguousarray(value, np.float64), dtype=wp.float64, device="cpu")
    except (TypeError, ValueError, RuntimeError, BufferError) as error:
        raise SceneError(f"arrays.{name} must be an array of numbers, got {type(value).__name__} ({error})") from None
