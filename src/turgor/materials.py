"""Ready-made materials: `scene.add_soft_body(shape, material="beach_ball")`, or `material=turgor.materials.beach_ball`.

Each is a `Preset`: a `Membrane`, the gauge pressure it is blown up to, and its surface. docs/materials.md has a table.
"""

from __future__ import annotations

from turgor.scene.preset import Preset
from turgor.scene.presets import (
    BASKETBALL,
    BEACH_BALL,
    COTTON,
    JELLY,
    LATEX_BALLOON,
    MYLAR,
    NYLON,
    PAPER,
    PRESETS,
    RUBBER,
    SILICONE,
    SOCCER_BALL,
)

__all__ = [
    "PRESETS",
    "Preset",
    "basketball",
    "beach_ball",
    "cotton",
    "jelly",
    "latex_balloon",
    "mylar",
    "names",
    "nylon",
    "paper",
    "rubber",
    "silicone",
    "soccer_ball",
]

basketball: Preset = BASKETBALL
beach_ball: Preset = BEACH_BALL
cotton: Preset = COTTON
jelly: Preset = JELLY
latex_balloon: Preset = LATEX_BALLOON
mylar: Preset = MYLAR
nylon: Preset = NYLON
paper: Preset = PAPER
rubber: Preset = RUBBER
silicone: Preset = SILICONE
soccer_ball: Preset = SOCCER_BALL


def names() -> list[str]:
    """Of all presets, as `material=` takes them."""
    return list(PRESETS)
