"""What the user describes: bodies, gas, springs, rigid bodies, walls, wind. Plain validated data, in Python or TOML."""

from turgor.scene.attachments import Attachment
from turgor.scene.data import (
    PRESSURE_FORCES,
    VOLUMES,
    Body,
    Cloth,
    Placed,
    SoftBody,
    rotation_matrix,
)
from turgor.scene.gas import ATMOSPHERE, GAS_CONSTANT, VOLUME_FLOOR, Gas
from turgor.scene.material import LAWS, Membrane
from turgor.scene.preset import Preset
from turgor.scene.rigid import COLLIDERS, RIGID_KINDS, RigidBody
from turgor.scene.scene import Scene
from turgor.scene.settings import CONTACTS, PRECISIONS, SOLVERS, Settings
from turgor.scene.springs import Springs, VelocityDamping
from turgor.scene.walls import Container, Ground, Plane, Wall

__all__ = [
    "ATMOSPHERE",
    "COLLIDERS",
    "CONTACTS",
    "GAS_CONSTANT",
    "LAWS",
    "PRECISIONS",
    "PRESSURE_FORCES",
    "RIGID_KINDS",
    "SOLVERS",
    "VOLUMES",
    "VOLUME_FLOOR",
    "Attachment",
    "Body",
    "Cloth",
    "Container",
    "Gas",
    "Ground",
    "Membrane",
    "Placed",
    "Plane",
    "Preset",
    "RigidBody",
    "Scene",
    "Settings",
    "SoftBody",
    "Springs",
    "VelocityDamping",
    "Wall",
    "rotation_matrix",
]
