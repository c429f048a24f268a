"""A whole body of the oracle: all force laws together, and the energy they come from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reference.air import drag_forces, wind_forces
from reference.bending import Hinges, bending_energy, bending_forces, hinge_angles
from reference.gas import Gas
from reference.pressure import gradient_forces, spring_count_scaling, vertex_normal_forces
from reference.springs import elastic_energy, spring_forces
from reference.volume import volume


@dataclass
class Body:
    """Rest shape and coefficients; masses are uniform: total mass / n at each vertex."""

    vertices: np.ndarray
    faces: np.ndarray
    edges: np.ndarray
    mass: float = 1.0
    stiffness: float = 100.0
    damping: float = 0.0
    gas: Gas | None = None
    bending: float = 0.0
    drag: float = 0.0
    gravity: np.ndarray | float = 0.0
    wind: np.ndarray | None = None
    wind_coefficient: float = 0.0
    pressure_force: str = "gradient"
    pressure_scaling: bool = False

    def __post_init__(self):
        i, j = np.asarray(self.edges).T
        self.rest = np.linalg.norm(self.vertices[j] - self.vertices[i], axis=1)
        self.masses = np.full(len(self.vertices), self.mass / len(self.vertices))
        self.hinges = Hinges.of(self.faces) if self.bending else None
        self.rest_angles = hinge_angles(self.vertices, self.hinges) if self.bending else None

    def pressure_forces(self, x):
        """Force of the gauge pressure alone (n, dim)."""
        gauge = self.gas.gauge(volume(x, self.faces))
        if self.pressure_force == "gradient":
            f = gradient_forces(x, self.faces, gauge)
        else:
            f = vertex_normal_forces(x, self.faces, gauge, self.pressure_force == "vertex-normals-divided")
        return f * spring_count_scaling(len(x), self.edges)[:, None] if self.pressure_scaling else f

    def forces(self, x, v=None):
        """Total forces (n, dim), N."""
        v = np.zeros_like(x) if v is None else v
        f = spring_forces(x, v, self.edges, self.rest, self.stiffness, self.damping)
        f += drag_forces(v, self.masses, self.drag) + self.masses[:, None] * self.gravity
        if self.gas is not None:
            f += self.pressure_forces(x)
        if self.bending:
            f += bending_forces(x, self.hinges, self.rest_angles, self.bending)
        if self.wind is not None:
            f += wind_forces(x, v, self.faces, self.wind, self.wind_coefficient)
        return f

    def acceleration(self, x, v):
        """forces / masses, m/s²."""
        return self.forces(x, v) / self.masses[:, None]

    def potential(self, x):
        """Elastic (springs and hinges), gas and gravity energy together, J."""
        U = elastic_energy(x, self.edges, self.rest, self.stiffness)
        U -= float(np.sum(self.masses[:, None] * self.gravity * x))
        if self.bending:
            U += bending_energy(x, self.hinges, self.rest_angles, self.bending)
        if self.gas is not None:
            U += self.gas.energy(volume(x, self.faces))
        return U

    def energy(self, x, v):
        """Kinetic and potential, J."""
        return 0.5 * float(np.sum(self.masses[:, None] * v * v)) + self.potential(x)
