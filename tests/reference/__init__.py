"""An independent oracle in NumPy float64, written from the equations and never from the engine's kernels.

Every function takes plain arrays: positions x and velocities v are (n, dim), faces are (m, dim) vertex indices,
counter-clockwise seen from outside. Slow and plain on purpose; `test_reference.py` checks it against itself.
"""

from reference.air import air_forces, drag_forces, martin_damping, wind_forces
from reference.bending import Hinges, bending_energy, bending_forces, hinge_angles
from reference.body import Body
from reference.equilibrium import hessian, modes, relax, scale_balance
from reference.gas import Gas
from reference.integrators import SOLVERS, simulate, step
from reference.pressure import gradient_forces, spring_count_scaling, vertex_normal_forces
from reference.springs import elastic_energy, spring_forces
from reference.volume import face_normals, vertex_normals, volume, volume_gradient
from reference.walls import wall_response

__all__ = [
    "SOLVERS",
    "Body",
    "Gas",
    "Hinges",
    "air_forces",
    "bending_energy",
    "bending_forces",
    "drag_forces",
    "elastic_energy",
    "face_normals",
    "gradient_forces",
    "hessian",
    "hinge_angles",
    "martin_damping",
    "modes",
    "relax",
    "scale_balance",
    "simulate",
    "spring_count_scaling",
    "spring_forces",
    "step",
    "vertex_normal_forces",
    "vertex_normals",
    "volume",
    "volume_gradient",
    "wall_response",
    "wind_forces",
]
