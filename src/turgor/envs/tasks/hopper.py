"""Hopper: a plate on three balls of gas, in 3D, which leaps as they are pumped up in a beat.

Two legs are behind and one is in front. A short pulse of pressure makes a leg that was pressed flat round again, which
throws the plate up; legs that push at different times lean it, and the ground's friction carries it on. Only the way
that it makes in the air counts. What is glued does not touch: a leg that is squeezed hard may show through the plate.
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

__all__ = ["HOPPER"]

LEGS = {"left": (-0.15, 0.17), "right": (-0.15, -0.17), "front": (0.19, 0.0)}  # m: x and y
RADIUS, THICKNESS = 0.1, 0.04  # m: of a leg, of the plate
GLUED = 0.8 * RADIUS  # m: vertices of a leg above this height are glued to the plate
BEAT = 0.5  # s: of the clock that a policy sees
AIRBORNE = 0.02  # m: clearance from which on progress counts in full
UPRIGHT = 0.4  # cosine of the tilt at which the plate has fallen over


def scene() -> Scene:
    """The plate stands on its legs."""
    made = Scene(dim=3, name="hopper", description="A plate on three balls of gas, which leaps by pumping.")
    made.add_ground(friction=0.9, restitution=0.0)
    height = 2.0 * RADIUS + 0.5 * THICKNESS - 0.01
    made.add_rigid_body(
        shapes.box(size=(0.6, 0.6, THICKNESS)), name="plate", at=(0.0, 0.0, height), mass=0.8, friction=0.9
    )
    ball = shapes.icosphere(radius=RADIUS, subdivisions=1)
    top = np.flatnonzero(ball.vertices[:, 2] > GLUED).tolist()
    for name, (x, y) in LEGS.items():
        made.add_soft_body(
            ball, name=name, at=(x, y, RADIUS), mass=0.15, friction=0.9, springs=Springs(stiffness=400.0, damping=0.2),
            gas=Gas.at(gauge=400.0, ambient=5000.0), self_contact=False,
        )  # fmt: skip
        made.attach(name, top, "plate")
    return made


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """`observe`: one thread per world."""
    real, vec, quat = n.real, n.vec, wp.quatf if n.precision == "single" else wp.quatd

    @n.kernel(__name__)
    def observe(
        rigid_x: wp.array(dtype=vec),
        rigid_v: wp.array(dtype=vec),
        rigid_q: wp.array(dtype=quat),
        rigid_spin: wp.array(dtype=vec),
        low: wp.array(dtype=real),
        volume: wp.array(dtype=real),
        ambient: wp.array(dtype=real),
        nRT: wp.array(dtype=real),
        steps: wp.array(dtype=wp.int32),
        chosen: wp.array(dtype=wp.int32),
        period: real,
        memory: wp.array2d(dtype=real),
        reading: wp.array2d(dtype=wp.float32),
        gain: wp.array(dtype=real),
        ended: wp.array(dtype=wp.int32),
    ):
        w = wp.tid()
        # poses are those of the principal axes, legs' glued masses included: within 0.1° of the plate's sides
        up = wp.quat_rotate(rigid_q[w], vec(real(0.0), real(0.0), real(1.0)))
        clearance = wp.min(wp.min(low[3 * w], low[3 * w + 1]), low[3 * w + 2])
        for axis in range(3):
            reading[w, axis] = wp.float32(rigid_v[w][axis])
            reading[w, 3 + axis] = wp.float32(rigid_spin[w][axis])
        reading[w, 6] = wp.float32(rigid_x[w][2])
        reading[w, 7] = wp.float32(up[0])
        reading[w, 8] = wp.float32(up[1])
        reading[w, 9] = wp.float32(clearance)
        turn = wp.static(real(2.0 * math.pi / BEAT)) * period * real(steps[w] + 1 - chosen[w])
        reading[w, 10] = wp.float32(wp.cos(turn))
        reading[w, 11] = wp.float32(wp.sin(turn))
        for c in range(3):
            b = 3 * w + c
            reading[w, 12 + c] = wp.float32(nRT[b] / volume[b] - ambient[b])
        flying = wp.clamp(clearance / wp.static(real(AIRBORNE)), real(0.0), real(1.0))
        gain[w] = flying * (rigid_x[w][0] - memory[w, 0])  # m forwards, in the air
        memory[w, 0] = rigid_x[w][0]
        ended[w] = wp.where(up[2] < wp.static(real(UPRIGHT)), 1, 0)

    return SimpleNamespace(observe=observe)


def scripted(observation: npt.NDArray[Any]) -> FloatArray:
    """A gallop: soft for half of a beat, then a pulse behind, and one in front before that is over."""
    phase = np.arctan2(observation[:, 11], observation[:, 10]) / (2.0 * math.pi) % 1.0
    back = np.where((phase > 0.45) & (phase < 0.75), 0.5, -1.0)
    front = np.where((phase > 0.65) & (phase < 0.95), 0.5, -1.0)
    return np.asarray(np.stack([back, back, front], axis=1), np.float32)


def seen_by_cell(observation: npt.NDArray[Any]) -> FloatArray:
    """Left and right are mirror images; the second harmonic of the clock lets a beat have a short pulse."""
    left, right = observation.copy(), observation.copy()
    right[:, [1, 3, 5, 8]] *= -1.0  # velocity and lean across, and the spins that a mirror turns round
    right[:, [12, 13]] = observation[:, [13, 12]]
    turn = np.arctan2(observation[:, 11], observation[:, 10])
    twice = np.repeat(np.stack([np.cos(2.0 * turn), np.sin(2.0 * turn)], axis=1)[:, None], 3, axis=1)
    return np.asarray(np.concatenate([np.stack([left, right, left], axis=1), twice], axis=2), np.float32)


HOPPER = Task(
    name="hopper",
    about="a plate on three balls of gas leaps forwards by pulses of pressure",
    scene=scene,
    cells=tuple(LEGS),
    gauge=(300.0, 3000.0),
    amount=(0.7, 2.5),
    rate=300.0,
    price=0.0001,
    observation=(
        *(Quantity(f"velocity of the plate, {axis}", "m/s", -5.0, 5.0) for axis in "xyz"),
        *(Quantity(f"spin of the plate, {axis}", "rad/s", -20.0, 20.0) for axis in "xyz"),
        Quantity("height of the plate", "m", 0.0, 2.0),
        Quantity("x of the plate's upward direction", "", -1.0, 1.0),
        Quantity("y of the plate's upward direction", "", -1.0, 1.0),
        Quantity("height of the lowest point", "m", -0.1, 1.0),
        Quantity("cosine of the clock", "", -1.0, 1.0),
        Quantity("sine of the clock", "", -1.0, 1.0),
        *(Quantity(f"gauge pressure, {name}", "Pa", -2000.0, 6000.0) for name in LEGS),
    ),
    kernels=kernels,
    scripted=scripted,
    groups=(0, 0, 1),
    seen_by_cell=seen_by_cell,
    seconds=5.0,
    substeps=20,
    start_gauge=(300.0, 500.0),
    start_speed=0.05,
    reach=(1.2, 0.0, 0.0),
)
