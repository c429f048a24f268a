"""Place by a click: the next click in a picture says where a new body comes, on the floor, on a body, or in the air."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from turgor.viewer.world.free_place import Click

if TYPE_CHECKING:
    from turgor.viewer.page.playground import Playground

__all__ = ["PlaceByClick"]

LABEL, ARMED = "Place by a click", "Now click in the picture (or here, to leave it)"


class PlaceByClick:
    """A button, in viser's current container. Clicks are viser's own on the whole picture, whatever lies there."""

    def __init__(self, playground: Playground, add: Callable[[Click], None]) -> None:
        """`add` is called with the click, on the world's thread."""
        self._playground, self._add = playground, add
        self.armed = False  # belongs to the world's thread
        self.button = playground.server.gui.add_button(LABEL, hint="on the floor, on a body, or in the air")
        self.button.on_click(lambda _: playground.do(self.arm, not self.armed))
        playground.on_new_nodes(lambda: self.arm(False))

    def arm(self, armed: bool) -> None:
        """Whether the next click places a body (on the world's thread)."""
        scene = self._playground.server.scene
        if armed and not self.armed:
            scene.on_click()(self._clicked)
        elif self.armed and not armed:
            scene.remove_click_callback(self._clicked)
        self.armed = armed
        self.button.label = ARMED if armed else LABEL

    async def _clicked(self, event: Any) -> None:
        self._playground.do(self.place, event.ray_origin, event.ray_direction)

    def place(self, origin: Any, direction: Any) -> None:
        """A ray of the view was clicked (on the world's thread)."""
        if not self.armed or self._playground.replaying:
            return
        self.arm(False)
        picked = self._playground.pointers.first_along(origin, direction)
        start, along = np.asarray(origin, np.float64), np.asarray(direction, np.float64)
        self._add(Click(start, along, None if picked is None else picked.point))
