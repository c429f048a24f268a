"""Squeeze: a soft ball rolls down a slope to a gap that is narrower than itself, and must be whole again behind it.

The scene is flat: pressures are N/m and volumes m². The slope goes down to the right; a round stone that does not move
hangs over it, and leaves a gap. A taut ball is held there for good; one that lets out gas slips through, and has to
pump itself up again before the episode ends well.
"""

import functools
import math
from types import SimpleNamespace
from typing import Any, no_type_check

import numpy as np
import numpy.typing as npt
import warp as wp

from turgor import shapes
from turgor.envs.task import FloatArray, Quantity, Task
from turgor.kernel.numbers import Numbers
from turgor.scene import Gas, Springs
from turgor.scene.scene import Scene

__all__ = ["SQUEEZE"]

SLOPE = math.radians(20.0)
RADIUS, STONE = 0.2, 0.25  # m: of the ball, of the stone
GAP = 0.6 * 2.0 * RADIUS  # m: between slope and stone, where they are nearest
START, BEHIND = -0.8, 0.5  # m along the slope from the gap: where the ball begins, and where it has passed
WHOLE = 0.97  # of the volume at rest, that a ball must have again


def _place(along: float, above: float) -> tuple[float, float]:
    """A point by its distances along the slope from the gap, and above it."""
    return (
        along * math.cos(SLOPE) + above * math.sin(SLOPE),
        -along * math.sin(SLOPE) + above * math.cos(SLOPE),
    )


def scene() -> Scene:
    """The ball lies on the slope, above the gap."""
    made = Scene(dim=2, name="squeeze", description="A soft ball passes a gap narrower than itself by deflating.")
    made.add_plane((0.0, 0.0), _place(0.0, 1.0), name="slope", friction=0.4, restitution=0.0)
    made.add_rigid_body(
        shapes.circle(radius=STONE, points=48), name="stone", at=_place(0.0, GAP + STONE), kind="static", friction=0.1,
        restitution=0.0,
    )  # fmt: skip
    made.add_soft_body(
        shapes.circle(radius=RADIUS, points=28), name="ball", at=_place(START, RADIUS), mass=0.5, friction=None,
        springs=Springs(stiffness=1500.0, damping=1.0), gas=Gas.at(gauge=0.0, ambient=1000.0), self_contact=False,
    )  # fmt: skip
    return made


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """`observe`: one thread per world."""
    real, vec = n.real, n.vec
    cos, sin = wp.constant(real(math.cos(SLOPE))), wp.constant(real(math.sin(SLOPE)))

    @n.kernel(__name__)
    def observe(
        center: wp.array(dtype=vec),
        velocity: wp.array(dtype=vec),
        volume: wp.array(dtype=real),
        rest_volume: wp.array(dtype=real),
        ambient: wp.array(dtype=real),
        nRT: wp.array(dtype=real),
        chosen: wp.array(dtype=wp.int32),
        memory: wp.array2d(dtype=real),
        reading: wp.array2d(dtype=wp.float32),
        gain: wp.array(dtype=real),
        ended: wp.array(dtype=wp.int32),
    ):
        w = wp.tid()
        x = center[w]
        v = velocity[w]
        along = x[0] * cos - x[1] * sin
        share = volume[w] / rest_volume[w]
        reading[w, 0] = wp.float32(along)
        reading[w, 1] = wp.float32(x[0] * sin + x[1] * cos)
        reading[w, 2] = wp.float32(v[0] * cos - v[1] * sin)
        reading[w, 3] = wp.float32(v[0] * sin + v[1] * cos)
        reading[w, 4] = wp.float32(share)
        reading[w, 5] = wp.float32(nRT[w] / volume[w] - ambient[w])
        passed = along > wp.static(real(BEHIND))
        # m down the slope to the mark behind the gap, and there the share of the volume that is back
        worth = wp.min(along, wp.static(real(BEHIND)))
        if passed:
            worth += wp.min(share, real(1.0))
        gain[w] = worth - memory[w, 0] - wp.static(real(0.01))  # and each period costs
        memory[w, 0] = worth
        ended[w] = wp.where(passed and share > wp.static(real(WHOLE)), 1, 0)

    return SimpleNamespace(observe=observe)


def scripted(observation: npt.NDArray[Any]) -> FloatArray:
    """Let the gas out near the gap, and pump it in again behind it."""
    near = (observation[:, 0] > -0.45) & (observation[:, 0] < 0.3)
    return np.asarray(np.where(near, -1.0, 1.0), np.float32)[:, None]


SQUEEZE = Task(
    name="squeeze",
    about="a soft ball passes a gap narrower than itself by deflating, and fills itself again",
    scene=scene,
    cells=("ball",),
    gauge=(-300.0, 50.0),
    amount=(0.4, 1.4),
    rate=60.0,
    price=0.001,
    observation=(
        Quantity("distance along the slope behind the gap", "m", -2.0, 6.0),
        Quantity("height above the slope", "m", -0.5, 2.0),
        Quantity("velocity along the slope", "m/s", -5.0, 10.0),
        Quantity("velocity off the slope", "m/s", -5.0, 5.0),
        Quantity("volume, as a share of that at rest", "", 0.0, 2.0),
        Quantity("gauge pressure of the ball", "N/m", -1000.0, 1000.0),
    ),
    kernels=kernels,
    scripted=scripted,
    seconds=6.0,
    substeps=24,
    start_gauge=(20.0, 50.0),
    start_speed=0.05,
    reach=(1.6, -0.6),
)
