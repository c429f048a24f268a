"""Roller: a hub with six gas cells around it, which rolls as the cells behind the point of support are inflated.

The scene is flat: pressures are N/m and volumes m². The hub is a rigid disc; each cell is a ring of springs that is
glued to it. A cell that swells below and behind the hub lifts it and pushes it forwards over the next cell, as legs do.
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

__all__ = ["ROLLER"]

CELLS = 6
POINTS = 12  # of a cell
HUB, CELL = 0.12, 0.1  # m: radii
HEIGHT = HUB + 2.0 * CELL  # m: of the hub's centre, on a cell that is round
GAUGE = (0.0, 150.0)  # N/m


def scene() -> Scene:
    """The hub stands on the first cell."""
    made = Scene(dim=2, name="roller", description="A hub with six cells of gas, which rolls by pumping.")
    made.add_ground(friction=0.9, restitution=0.0)
    made.add_rigid_body(shapes.circle(radius=HUB, points=24), name="hub", at=(0.0, HEIGHT), mass=1.0)
    for number in range(CELLS):
        angle = 2.0 * math.pi * number / CELLS - 0.5 * math.pi
        arm = HUB + CELL
        made.add_soft_body(
            shapes.circle(radius=CELL, points=POINTS), name=f"cell-{number}", mass=0.1, friction=0.9,
            at=(arm * math.cos(angle), HEIGHT + arm * math.sin(angle)), rotation=angle + math.pi,
            springs=Springs(stiffness=900.0, damping=1.0), gas=Gas.at(gauge=0.0, ambient=1000.0), self_contact=False,
        )  # fmt: skip
        made.attach(f"cell-{number}", [POINTS - 1, 0, 1], "hub")
    return made


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """`observe`: one thread per world."""
    real, vec = n.real, n.vec

    @n.kernel(__name__)
    def observe(
        rigid_x: wp.array(dtype=vec),
        rigid_v: wp.array(dtype=vec),
        rigid_q: wp.array(dtype=real),
        rigid_spin: wp.array(dtype=real),
        volume: wp.array(dtype=real),
        ambient: wp.array(dtype=real),
        nRT: wp.array(dtype=real),
        memory: wp.array2d(dtype=real),
        reading: wp.array2d(dtype=wp.float32),
        gain: wp.array(dtype=real),
        ended: wp.array(dtype=wp.int32),
    ):
        w = wp.tid()
        reading[w, 0] = wp.float32(rigid_v[w][0])
        reading[w, 1] = wp.float32(rigid_v[w][1])
        reading[w, 2] = wp.float32(rigid_x[w][1])
        reading[w, 3] = wp.float32(wp.cos(rigid_q[w]))
        reading[w, 4] = wp.float32(wp.sin(rigid_q[w]))
        reading[w, 5] = wp.float32(rigid_spin[w])
        for c in range(wp.static(CELLS)):
            b = w * wp.static(CELLS) + c
            reading[w, 6 + c] = wp.float32(nRT[b] / volume[b] - ambient[b])
        gain[w] = rigid_x[w][0] - memory[w, 0]  # m forwards
        memory[w, 0] = rigid_x[w][0]
        ended[w] = 0

    return SimpleNamespace(observe=observe)


def _angles(observation: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """(n, cells) rad: where each cell is, seen from the hub; 0 is straight down, and behind it is negative."""
    turn = np.arctan2(observation[:, 4], observation[:, 3])[:, None]
    return np.asarray(turn + 2.0 * math.pi * np.arange(CELLS) / CELLS)


def scripted(observation: npt.NDArray[Any]) -> FloatArray:
    """Inflate the cells that are within 60° of a place 30° behind the lowest one; let the gas out of the others."""
    lag = np.cos(_angles(observation) + math.radians(30.0))
    return np.asarray(np.where(lag > 0.5, 1.0, -1.0), np.float32)


def seen_by_cell(observation: npt.NDArray[Any]) -> FloatArray:
    """All cells are alike: where the cell is, its pressure, and how the hub moves."""
    angle = _angles(observation)
    own = [np.cos(angle), np.sin(angle), np.cos(2.0 * angle), np.sin(2.0 * angle), observation[:, 6:]]
    shared = [np.repeat(observation[:, [column]], CELLS, axis=1) for column in (0, 2, 5)]
    return np.asarray(np.stack([*own, *shared], axis=2), np.float32)


ROLLER = Task(
    name="roller",
    about="a hub with six gas cells around it rolls forwards by pumping",
    scene=scene,
    cells=tuple(f"cell-{number}" for number in range(CELLS)),
    gauge=GAUGE,
    amount=(0.7, 2.0),
    rate=60.0,
    price=0.0005,
    observation=(
        Quantity("velocity of the hub, forwards", "m/s", -5.0, 5.0),
        Quantity("velocity of the hub, upwards", "m/s", -5.0, 5.0),
        Quantity("height of the hub", "m", 0.0, 2.0),
        Quantity("cosine of the hub's angle", "", -1.0, 1.0),
        Quantity("sine of the hub's angle", "", -1.0, 1.0),
        Quantity("spin of the hub", "rad/s", -20.0, 20.0),
        *(Quantity(f"gauge pressure of cell {number}", "N/m", -200.0, 400.0) for number in range(CELLS)),
    ),
    kernels=kernels,
    scripted=scripted,
    groups=(0,) * CELLS,
    seen_by_cell=seen_by_cell,
    seconds=6.0,
    substeps=16,
    start_gauge=(0.0, 40.0),
    start_speed=0.1,
    reach=(3.0, 0.0),
)
