"""What every kernel file shares: numbers of a given dimension and precision, and how a kernel is declared.

A kernel file has one factory, cached per `Numbers`, so that 2D and 3D, single and double precision share one source.
Each specialisation gets a Warp module of its own: otherwise every new one would recompile all earlier ones.
"""

import ctypes
import functools
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp

from turgor.errors import TurgorError
from turgor.kernel.recording import record_per_thread

__all__ = ["FACE_SHARE", "Numbers", "at", "numbers", "start_warp"]

wp.config.log_level = wp.LOG_ERROR  # no banner, no line per compiled module

NONNEGATIVE = wp.constant(0x7FFFFFFF)

# Force on a vertex from one face = gauge pressure * FACE_SHARE * face vector. The face vector is e1 x e2 (twice the
# area times the normal) in 3D, a third of the area to each vertex; in 2D the edge turned by -90°, half to each end.
FACE_SHARE = {2: 1.0 / 2.0, 3: 1.0 / 6.0}


@wp.func  # type: ignore[untyped-decorator]
def at(i: int) -> int:
    """An index that is known not to be negative.

    Warp accepts negative indices as Python does, and pays a compare and an add for it at every access. Clearing the
    sign bit lets the compiler drop that code: springs and faces run 1.7 times faster on the CPU.
    """
    return i & NONNEGATIVE  # type: ignore[no-any-return]


@functools.cache
def start_warp() -> None:
    """Initialise Warp quietly: without a GPU its native code complains on stderr, whatever the log level."""
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        stderr = os.dup(2)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 2)
        try:
            _init()
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)
            os.close(nowhere)
    else:
        _init()
    record_per_thread()


def _init() -> None:
    """Warp keeps what it compiles in the user's cache folder; in a container there may be none that can be written."""
    try:
        wp.init()
    except OSError as error:
        folder = wp.config.kernel_cache_dir or error.filename
        raise TurgorError(
            f"the compiled kernels cannot be kept in {folder} ({error.strerror or error}); set WARP_CACHE_PATH to a "
            "folder that can be written"
        ) from error


@dataclass(frozen=True)
class Numbers:
    """Dimension and precision of a simulation, and the Warp and NumPy types that go with them."""

    dim: int  # 2 or 3
    precision: str  # "single" or "double"

    @property
    def real(self) -> Any:
        """Warp scalar type."""
        return wp.float32 if self.precision == "single" else wp.float64

    @property
    def vec(self) -> Any:
        """Warp vector type of positions, velocities and forces."""
        return {
            (2, "single"): wp.vec2f,
            (3, "single"): wp.vec3f,
            (2, "double"): wp.vec2d,
            (3, "double"): wp.vec3d,
        }[self.dim, self.precision]

    @property
    def wide(self) -> Any:
        """Warp vector type in double precision, for sums of small differences."""
        return wp.vec2d if self.dim == 2 else wp.vec3d

    @property
    def pair(self) -> Any:
        """Warp vector of two numbers, whatever the dimension."""
        return wp.vec2f if self.precision == "single" else wp.vec2d

    @property
    def quad(self) -> Any:
        """Warp vector of four numbers."""
        return wp.vec4f if self.precision == "single" else wp.vec4d

    @property
    def face(self) -> Any:
        """Vertex indices of a face: a segment in 2D, a triangle in 3D."""
        return wp.vec2i if self.dim == 2 else wp.vec3i

    @property
    def spin(self) -> Any:
        """Angular velocity: a number in 2D, a vector in 3D."""
        return self.real if self.dim == 2 else self.vec

    @property
    def dtype(self) -> Any:
        """NumPy scalar type."""
        return np.float32 if self.precision == "single" else np.float64

    @property
    def tiny(self) -> float:
        """Smallest number whose square is still normal: guards divisions by lengths."""
        return float(np.sqrt(np.finfo(self.dtype).tiny)) * 2.0

    def kernel(self, file: str) -> Callable[[Callable[..., Any]], Any]:
        """Decorator: a forward-only kernel in the module of this file and these numbers."""
        return functools.partial(wp.kernel, module=f"{file}.{self.dim}d.{self.precision}", enable_backward=False)


@functools.cache
def numbers(dim: int, precision: str) -> Numbers:
    """The one instance for a dimension and a precision."""
    return Numbers(dim, precision)
