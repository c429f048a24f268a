"""Which body is selected: one for all tabs and all clients. A click on a body selects it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from turgor.viewer.page.playground import Playground

__all__ = ["ALL", "Selection"]

ALL = "all"  # as a dropdown shows that no single body is selected


class Selection:
    """Belongs to the world's thread."""

    def __init__(self, playground: Playground) -> None:
        self._playground = playground
        self._listeners: list[Callable[[], None]] = []
        self._dropdowns: list[Any] = []
        self.name: str | None = None  # None: all bodies
        playground.pointers.on_click(self._clicked)
        playground.on_new_nodes(self._check)

    def on_change(self, function: Callable[[], None]) -> None:
        """Call a function, on the world's thread, when another body is selected or there are other bodies."""
        self._listeners.append(function)

    @property
    def options(self) -> tuple[str, ...]:
        """What can be selected, for a dropdown."""
        scene = self._playground.world.scene
        return (ALL, *(body.name for body in (*scene.bodies, *scene.rigid_bodies)))

    def add_dropdown(self) -> None:
        """A control to select with, in viser's current container; all of them show the same body."""
        dropdown = self._playground.server.gui.add_dropdown("Body", self.options, initial_value=ALL)

        async def chosen(event: Any) -> None:
            if event.client is not None:  # by a person, not by us
                self._playground.do(self.select, dropdown.value)

        dropdown.on_update(chosen)
        self._dropdowns.append(dropdown)

    def select(self, name: str | None) -> None:
        """Select a body; None, or a name that is gone: all."""
        self.name = name if name in self.options[1:] else None
        for dropdown in self._dropdowns:
            dropdown.options, dropdown.value = self.options, self.name or ALL
        for listener in self._listeners:
            listener()

    def _clicked(self, name: str, vertex: int, modifier: str | None) -> None:
        if modifier is None:
            self.select(name)

    def _check(self) -> None:
        """The bodies have changed."""
        self.select(self.name)
