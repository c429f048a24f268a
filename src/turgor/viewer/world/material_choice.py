"""What a body is made of, as a page offers it: presets by name, what the scene's own bodies are of, or rigid."""

from __future__ import annotations

from typing import Any

from turgor.errors import SceneError
from turgor.scene.data import Body, Cloth
from turgor.scene.presets import PRESETS
from turgor.viewer.world.world import World

__all__ = ["AS_SCENE", "BLOWN_UP", "LABELS", "OWN", "RIGID", "material", "preset", "set_material", "suits"]

AS_SCENE = "as in the scene"  # springs or the material of the scene's first body with gas
RIGID = "rigid"
OWN = "own numbers"  # of a material that is no preset, or no longer
LABELS = {name.replace("_", " "): name for name in PRESETS}  # as a list shows them -> preset
BLOWN_UP = tuple(label for label, name in LABELS.items() if PRESETS[name].gauge is not None)  # those that hold gas


def preset(choice: str) -> str | None:
    """The preset that a list names; None where it says something else."""
    return LABELS.get(choice)


def suits(world: World, name: str, choice: str) -> bool:
    """Whether a body can be of a preset: a cloth of any, what holds gas of one that is blown up."""
    return isinstance(world.scene[name], Cloth) or choice in BLOWN_UP or choice == material(world, name)


def material(world: World, name: str) -> str:
    """The preset that a body is of, as a list shows it."""
    body = world.scene[name]
    assert isinstance(body, Body)
    return next((label for label, key in LABELS.items() if body.material in (key, PRESETS[key])), OWN)


def set_material(world: World, name: str, value: Any) -> None:
    """Make a body of another preset: what followed from the old one (mass, gas, surface) follows from the new one."""
    if value == OWN:
        return
    chosen = preset(str(value))
    if chosen is None or not suits(world, name, str(value)):
        raise SceneError(f"{name} cannot be made of {value}, which holds no gas: choose another material")
    world.change(f"{name}.material", chosen)
