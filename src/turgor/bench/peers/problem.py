"""The problem that turgor and its peers solve: balls with gas that fall on a floor and rest there.

All get the same mesh, masses, gravity, frames per second, and substeps or iterations per frame. 50 N/m, 1 kg and 5
substeps at 60 frames/s are within the stability of explicit steps for 162 vertices; 10,242 have masses 63 times
smaller, and need √63 = 8 times as many.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from turgor import shapes
from turgor.model.topology import morton_order
from turgor.scene import Gas, Scene, Springs
from turgor.shapes.shape import Shape

__all__ = ["Problem"]

RADIUS, MASS = 0.5, 1.0  # m, kg
STIFFNESS = 50.0  # N/m of each edge
DAMPING = 0.03  # N s/m of a dashpot in each edge, where an engine has them, at 162 vertices
GAUGE = 70.0  # Pa in the ball as it is described, in a vacuum; it then swells
FRICTION = 0.5
GRAVITY = 9.81  # m/s²
FPS = 60.0  # 1/s
SPACING, GAP = 1.6, 0.02  # m: between centres of balls, which do not touch; below the lowest point


@dataclass(frozen=True)
class Problem:
    """So many balls of an icosphere, with so many substeps (or iterations) in a frame."""

    balls: int
    subdivisions: int
    substeps: int

    @functools.cached_property
    def shape(self) -> Shape:
        """Neighbours near each other in memory, as turgor has them: so for all."""
        ball = shapes.icosphere(radius=RADIUS, subdivisions=self.subdivisions)
        order = morton_order(ball.vertices)
        place = np.argsort(order)
        faces = place[ball.faces].astype(np.int32)
        return Shape(ball.vertices[order], faces[np.argsort(faces.min(axis=1), kind="stable")], "surface", {})

    @property
    def vertices(self) -> int:
        return self.balls * len(self.shape.vertices)

    @property
    def title(self) -> str:
        ball = f"{len(self.shape.vertices):,} vertices"
        return f"one ball of {ball}" if self.balls == 1 else f"{self.balls} balls of {ball}"

    @property
    def damping(self) -> float:
        """N s/m: of the same effect in a substep on any mesh."""
        return DAMPING * math.sqrt(162.0 / len(self.shape.vertices))

    @property
    def places(self) -> list[tuple[float, float, float]]:
        """m, of the centres."""
        side = math.ceil(math.sqrt(self.balls))
        return [(SPACING * (ball % side), SPACING * (ball // side), RADIUS + GAP) for ball in range(self.balls)]

    def scene(self) -> Scene:
        """As turgor has it."""
        scene = Scene(name="peers", gravity=(0.0, 0.0, -GRAVITY))
        scene.add_ground(friction=FRICTION)
        for place in self.places:
            scene.add_soft_body(
                self.shape, at=place, mass=MASS, springs=Springs(STIFFNESS, self.damping),
                gas=Gas.at(gauge=GAUGE, ambient=0.0), self_contact=False,
            )  # fmt: skip
        return scene

    def text(self) -> str:
        """As drivers read it: numbers apart by spaces, in this order."""
        shape = self.shape
        edges = shape.edges
        counts = [self.balls, len(shape.vertices), len(edges), len(shape.faces), self.substeps]
        values = [MASS, STIFFNESS, self.damping, GAUGE * shape.volume, FRICTION, GRAVITY, FPS]
        rows: list[Any] = [counts, values, self.places, shape.vertices, edges, shape.faces]
        return "\n".join(" ".join(map(repr, np.asarray(row).ravel().tolist())) for row in rows) + "\n"
