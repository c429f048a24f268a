"""What overlays and colours need of the page that they are drawn on."""

from __future__ import annotations

from typing import Any, Protocol

from turgor.viewer.draw.scene_nodes import SceneNodes
from turgor.viewer.world.world import World

__all__ = ["Picture"]


class Draggable(Protocol):
    """Makes meshes that the pointer can drag."""

    def make_draggable(self, handle: Any, names: tuple[str, ...]) -> None:
        """Bodies `names` can be pulled by this node."""


class Picture(Protocol):
    """A world, drawn."""

    server: Any  # viser's
    world: World

    @property
    def nodes(self) -> SceneNodes:
        """The bodies and walls of the layout that is drawn."""
        ...

    @property
    def replaying(self) -> bool:
        """Whether frames of a recording are drawn, not those of the world."""
        ...

    @property
    def pointers(self) -> Draggable:
        """Who drags."""
        ...
