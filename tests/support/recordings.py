"""A recording made by hand, with one of everything that an export has to carry."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from turgor import shapes
from turgor.output.frame import BodyLayout, Frame, Layout, WallLayout, WallPose
from turgor.record import open_sink

FPS = 30.0
RED, GREEN = (0.9, 0.2, 0.1), (0.2, 0.7, 0.3)
WALLS = (WallLayout("ground", "ground", (0.0, 0.0, 1.0), ()), WallLayout("box", "container", (), (6.0, 5.0, 4.0)))
#: A picture of 2 × 2 pixels: red, green / blue, white
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000002000000020802000000fdd49a7300000012"
    "4944415478da63f8cfc0c000c20cff8100001fee05fbf1abba770000000049454e44ae426082"
)


def turned(angle: float, axis: int = 2) -> np.ndarray:
    """(3, 3) a rotation about an axis."""
    cos, sin = np.cos(angle), np.sin(angle)
    return np.roll(np.roll([[cos, -sin, 0], [sin, cos, 0], [0, 0, 1]], axis + 1, 0), axis + 1, 1)


def mixed_layout(texture: Path) -> tuple[Layout, list[np.ndarray]]:
    """A ball of a material, a cloth and a painted ball with a texture, a box; and their vertices about the origin."""
    ball, box = shapes.icosphere(radius=0.5, subdivisions=1), shapes.box(size=(0.4, 0.5, 0.6))
    sheet = shapes.sheet(size=(1, 1), resolution=(4, 4))
    corner_uv = np.stack([np.arctan2(ball.vertices[:, 1], ball.vertices[:, 0]), ball.vertices[:, 2]], axis=1)[
        ball.faces
    ]
    corner_uv = corner_uv / (2 * np.pi) + 0.5
    around = np.ptp(corner_uv[..., 0], axis=1) > 0.5  # faces across the seam
    corner_uv[around, :, 0] += corner_uv[around, :, 0] < 0.5
    parts = [
        ("ball", "soft", ball, {"color": RED, "material": True}),
        ("flag ü", "cloth", sheet, {"uv": sheet.uv, "texture": str(texture)}),
        ("painted", "soft", ball, {"corner_uv": corner_uv, "texture": str(texture)}),
        ("crate", "rigid", box, {"color": GREEN}),
    ]
    bodies, start = [], 0
    for name, kind, shape, more in parts:
        bodies.append(BodyLayout(name, kind, start, len(shape.vertices), np.asarray(shape.faces, np.int32), **more))
        start += len(shape.vertices)
    return Layout("mixed", 3, FPS, tuple(bodies), WALLS), [
        np.asarray(shape.vertices, float) for _, _, shape, _ in parts
    ]


def mixed_frame(layout: Layout, rest: list[np.ndarray], index: int) -> Frame:
    """The balls bounce, are squashed and ripple, the cloth waves, the box tumbles, the container turns."""
    t = index / FPS
    squash = 1 - 0.3 * np.sin(7 * t) ** 2
    places = [(-1.0, 0.0, 2 - 4.9 * t * t), (0.0, 1.0, 1.0), (1.0, 0.0, 1 + np.sin(3 * t)), (0.0, -1.0, 1 + t)]
    ball, cloth, painted, crate = rest
    points = [
        ball * (squash**-0.5, squash**-0.5, squash) + 0.01 * np.sin(9 * ball[:, ::-1] + 5 * t),
        cloth + np.array([0, 0, 0.1]) * np.sin(6 * cloth[:, :1] - 8 * t),
        painted * (squash, squash**-0.5, squash**-0.5) @ turned(2 * t, 0).T,
        crate @ (turned(5 * t) @ turned(2 * t, 1)).T,
    ]
    positions = np.concatenate([p + np.array(place) for p, place in zip(points, places, strict=True)])
    stress = np.full((layout.faces, 2), np.nan)
    own = len(layout.bodies[0].faces)
    stress[:own] = 1000.0 * index + np.arange(2 * own).reshape(-1, 2)
    return Frame(
        index=index,
        time=t,
        positions=positions,
        velocities=0.5 * positions - index,
        volumes=np.array([0.5 + t, np.nan, 0.4, np.nan]),
        pressures=np.array([101_325.0 + index, np.nan, 101_000.0, np.nan]),
        walls=(WallPose(np.zeros(3), np.eye(3)), WallPose(np.array([0.0, 0, 2 + 0.1 * t]), turned(0.4 * t, 0))),
        stretch=stress,
        stress=stress,
        tension=stress,
        wrinkled=stress[:, 0],
    )


def record_mixed(folder: Path, frames: int = 31) -> Path:
    """The recording as a .vtkhdf file."""
    texture = folder / "squares.png"
    texture.write_bytes(PNG)
    layout, rest = mixed_layout(texture)
    with open_sink(folder / "mixed.vtkhdf", layout) as sink:
        for index in range(frames):
            sink.add(mixed_frame(layout, rest, index))
    return folder / "mixed.vtkhdf"
