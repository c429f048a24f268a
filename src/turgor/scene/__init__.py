"""What the user describes: bodies, gas, springs, walls, wind. Plain validated data, in Python or TOML."""

from turgor.scene.data import (
    PRESSURE_FORCES,
    VOLUMES,
    Body,
    Cloth,
    SoftBody,
    Springs,
    VelocityDamping,
    rotation_matrix,
)
from turgor.scene.gas import ATMOSPHERE, GAS_CONSTANT, VOLUME_FLOOR, Gas
from turgor.scene.scene import Scene
from turgor.scene.settings import CONTACTS, PRECISIONS, SOLVERS, Settings
from turgor.scene.walls import Container, Ground, Plane, Wall

__all__ = [
    "ATMOSPHERE",
    "CONTACTS",
    "GAS_CONSTANT",
    "PRECISIONS",
    "PRESSURE_FORCES",
    "SOLVERS",
    "VOLUMES",
    "VOLUME_FLOOR",
    "Body",
    "Cloth",
    "Container",
    "Gas",
    "Ground",
    "Plane",
    "Scene",
    "Settings",
    "SoftBody",
    "Springs",
    "VelocityDamping",
    "Wall",
    "rotation_matrix",
]
