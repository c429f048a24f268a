"""A plate that comes down on balls: what two experiments have in common."""

from __future__ import annotations

from typing import Any

from turgor import shapes
from turgor.output.frame import Frame
from turgor.scene.gas import ATMOSPHERE, Gas
from turgor.scene.scene import Scene
from turgor.scene.springs import Springs
from turgor.viewer.world.world import World

__all__ = ["GAP", "PLATE", "Press", "ball", "gas_of", "press_scene"]

PLATE = "plate"
RADIUS = 0.11  # m: a football
FILLED = 120e3  # Pa, absolute, at the volume of rest
THICKNESS = 0.012  # m, of the plate
OPEN, CLOSED = 23.0, 6.0  # cm between floor and plate
SPEED = 0.05  # m/s of the plate: slow beside the sound in the ball, so that the gas is at rest
NEAR = 2e-4  # m from where it should be: it is there
GAP = (OPEN, CLOSED)


def press_scene(name: str, description: str, width: float) -> Scene:
    """A floor and a plate above it, moved by its velocity alone."""
    scene = Scene(name=name, description=description, gravity=(0.0, 0.0, -9.81))
    scene.add_ground(friction=0.6, restitution=0.0)
    scene.add_rigid_body(
        shapes.box((width, 0.22, THICKNESS)), name=PLATE, at=(0.0, 0.0, 1e-2 * OPEN + 0.5 * THICKNESS),
        kind="kinematic", friction=0.6, restitution=0.0, color="#9aa5b1",
    )  # fmt: skip
    return scene


def ball(scene: Scene, name: str, x: float, law: str, color: str) -> None:
    """A football full of gas in ordinary air. Its skin hardly stretches: squeezed, it loses volume."""
    scene.add_soft_body(
        shapes.icosphere(radius=RADIUS, subdivisions=2), name=name, at=(x, 0.0, RADIUS + 3e-3), mass=0.6,
        springs=Springs(stiffness=6e4, damping=3.0), drag=2.0, color=color,
        gas=Gas(absolute=FILLED, ambient=ATMOSPHERE, law=law),
    )  # fmt: skip


def gas_of(world: World, frame: Frame, name: str) -> tuple[float, float]:
    """Volume (litres) and absolute pressure (kPa) of a ball."""
    view: Any = world.sim[name]
    return 1e3 * float(frame.volumes[view.index]), 1e-3 * float(frame.pressures[view.index])


class Press:
    """Drives the plate to a gap, by its velocity in the scene."""

    def gap(self, world: World) -> float:
        """cm between floor and plate, now."""
        plate: Any = world.sim[PLATE]
        return 1e2 * (float(plate.center[2]) - 0.5 * THICKNESS)

    def drive(self, world: World, gap: float) -> None:
        """Towards a gap (cm): a frame has passed, and the velocity is that of the next."""
        away = 1e-2 * (gap - self.gap(world))
        frame = 1.0 / world.sim.settings.fps
        speed = 0.0 if abs(away) < NEAR else min(max(away / frame, -SPEED), SPEED)
        if speed != world.scene[PLATE].velocity[2]:  # type: ignore[union-attr]
            world.change(f"{PLATE}.velocity", (0.0, 0.0, speed))
