"""Layouts and frames made by hand, for sinks and painters."""

from __future__ import annotations

import numpy as np

from turgor import shapes
from turgor.output.frame import BodyLayout, Frame, Layout, WallLayout, WallPose

GROUND = WallLayout("ground", "ground", (0.0, 0.0, 1.0), ())
GROUND_2D = WallLayout("ground", "ground", (0.0, 1.0), ())
GROUND_POSE_2D = (WallPose(np.zeros(2), np.eye(2)),)


def ball_layout(fps: float = 60.0, color: tuple[float, float, float] | None = None) -> tuple[Layout, np.ndarray]:
    """A ball of radius 0.5 above the ground, and its vertices about the origin."""
    shape = shapes.icosphere(radius=0.5, subdivisions=2)
    body = BodyLayout("ball", "soft", 0, len(shape.vertices), np.asarray(shape.faces, np.int32), color=color)
    return Layout("drop", 3, fps, (body,), (GROUND,)), np.asarray(shape.vertices, float)


def ball_frame(rest: np.ndarray, index: int, height: float) -> Frame:
    """The ball of `ball_layout` at a height."""
    return frame_of(rest + np.array([0, 0, height]), index, 1, (WallPose(np.zeros(3), np.eye(3)),))


def frame_of(positions: np.ndarray, index: int, bodies: int, walls: tuple[WallPose, ...] = ()) -> Frame:
    """A frame whose velocities, volumes and pressures follow from positions and index."""
    return Frame(
        index=index,
        time=index / 60,
        positions=positions,
        velocities=-2.0 * positions,
        volumes=np.arange(bodies) + 0.5 + index,
        pressures=np.where(np.arange(bodies) % 2, np.nan, 101_325.0 + index),
        walls=walls,
    )


def disc_layout(points: int = 12) -> tuple[Layout, np.ndarray]:
    """Two 2D discs beside each other."""
    angle = 2 * np.pi * np.arange(points) / points
    circle = 0.5 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    segments = np.stack([np.arange(points), (np.arange(points) + 1) % points], axis=1).astype(np.int32)
    bodies = tuple(BodyLayout(name, "soft", k * points, points, segments) for k, name in enumerate("ab"))
    return Layout("discs", 2, 60.0, bodies, (GROUND_2D,)), np.concatenate(
        [circle + np.array([side, 1.0]) for side in (-0.8, 0.8)]
    )


def rich_layout() -> Layout:
    """Two bodies and two walls with everything a layout can say; twelve vertices."""
    faces = np.array([[0, 1, 2], [2, 3, 4], [3, 4, 5]], np.int32)
    bodies = (
        BodyLayout("ball", "soft", 0, 6, faces),
        BodyLayout("flag ü", "cloth", 6, 6, faces[:2], uv=np.linspace(0, 1, 12).reshape(6, 2), color=(1.0, 0.25, 0.5)),
    )
    return Layout("rich", 3, 30.0, bodies, (GROUND, WallLayout("box", "container", (), (3.0, 2.0, 1.0))))


def rich_frame(index: int) -> Frame:
    """Every number depends on the index, so that mixed-up frames show."""
    positions = np.sin(np.arange(36.0).reshape(12, 3) + 0.37 * index)
    turn = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]]) if index % 2 else np.eye(3)
    return frame_of(positions, index, 2, (WallPose(np.zeros(3), np.eye(3)), WallPose(np.full(3, 1.0 * index), turn)))
