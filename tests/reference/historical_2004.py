"""Matyka 2004, "How to implement a pressure soft body model", retold step by step: a historical oracle.

`mistakes` keeps what the printed listing does and the law does not:
  "double-force"  both ends of an edge get the full edge force, so the sum is twice the law
  "massless-y"    vy += fy dt, without dividing by the mass
  "printed-area"  the listing sums 1/2 |x1 - x2| |nx| dl, which is half |dx| |dy| of each edge: the area of the corner
                  triangles, not of the body (a circle of N points gives 2/N of its area, for large N)
  "absolute-area" 1/2 |x1 + x2| |nx| dl: what the sum means (appendix A), with its absolute values: right for convex
                  shapes centred at x = 0 only
  "restless"      the floor reflects all of the vertical velocity, with what the forces of this step have added: a point
                  that lies on the floor bounces for ever with g dt
`AS_PRINTED` is the listing. Without mistakes it is the law, in the order of the paper.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from reference.walls import velocity_of_the_hit

AS_PRINTED = frozenset({"double-force", "massless-y", "printed-area", "restless"})


@dataclass
class SoftBall2004:
    """N points on a circle, clockwise as in the paper's CreateBall (x from the sine, y from the cosine)."""

    points: int = 20
    radius: float = 0.516
    height: float = 0.0
    mass: float = 1.0  # kg of each point
    stiffness: float = 755.0
    damping: float = 35.0
    gravity: float = -10.0
    final_pressure: float = 70.0  # nRT
    pumping: float = 0.0  # nRT added by each step until the final value; 0: inflated from the start
    floor: float = -np.inf
    bounce: float = 0.1  # loss coefficient of the wall
    mistakes: frozenset = frozenset()
    x: np.ndarray = field(init=False)
    v: np.ndarray = field(init=False)

    def __post_init__(self):
        angle = np.arange(1, self.points + 1) * 2.0 * np.pi / self.points
        self.x = self.radius * np.stack([np.sin(angle), np.cos(angle)], axis=1)
        self.x[:, 1] += self.height
        self.v = np.zeros_like(self.x)
        self.i = np.arange(self.points)
        self.j = (self.i + 1) % self.points
        self.rest = np.linalg.norm(self.x[self.i] - self.x[self.j], axis=1)
        self.pressure = 0.0 if self.pumping else self.final_pressure

    def _edges(self):
        d = self.x[self.i] - self.x[self.j]
        length = np.hypot(d[:, 0], d[:, 1])
        safe = np.where(length > 0, length, 1.0)
        return d, length, np.stack([d[:, 1] / safe, -d[:, 0] / safe], axis=1)

    def area(self):
        """The paper's "volume"."""
        d, length, normal = self._edges()
        if "printed-area" in self.mistakes:
            return float(np.sum(0.5 * np.abs(d[:, 0]) * np.abs(normal[:, 0]) * length))
        middle = 0.5 * (self.x[self.i, 0] + self.x[self.j, 0])
        if "absolute-area" in self.mistakes:
            return float(np.sum(np.abs(middle) * np.abs(normal[:, 0]) * length))
        return float(np.sum((middle - self.x[:, 0].mean()) * normal[:, 0] * length))

    def forces(self):
        """Gravity, then springs, then pressure: section 5 of the paper."""
        f = np.zeros_like(self.x)
        f[:, 1] = self.mass * self.gravity * (self.pressure >= self.final_pressure)
        d, length, normal = self._edges()
        safe = np.where(length > 0, length, 1.0)
        along = np.sum((self.v[self.i] - self.v[self.j]) * d, axis=1) / safe
        pull = np.where(length > 0, (length - self.rest) * self.stiffness + along * self.damping, 0.0)
        np.add.at(f, self.i, -(pull / safe)[:, None] * d)
        np.add.at(f, self.j, (pull / safe)[:, None] * d)
        share = 1.0 if "double-force" in self.mistakes else 0.5
        push = share * (length * self.pressure / self.area())[:, None] * normal
        np.add.at(f, self.i, push)
        np.add.at(f, self.j, push)
        return f

    def step(self, dt):
        """Velocity first, then position; the floor cuts the movement and reflects the vertical velocity."""
        f = self.forces()
        before = self.v[:, 1].copy()
        self.v[:, 0] += f[:, 0] / self.mass * dt
        self.x[:, 0] += self.v[:, 0] * dt
        self.v[:, 1] += f[:, 1] / (1.0 if "massless-y" in self.mistakes else self.mass) * dt
        dy = self.v[:, 1] * dt
        gap = self.x[:, 1] - self.floor
        below = gap + dy < 0.0
        met = self.v[:, 1] if "restless" in self.mistakes else velocity_of_the_hit(gap, before, self.v[:, 1], dt)
        dy[below] = -gap[below]
        self.v[below, 1] = -self.bounce * met[below]
        self.x[:, 1] += dy
        self.pressure = min(self.final_pressure, self.pressure + self.pumping)
