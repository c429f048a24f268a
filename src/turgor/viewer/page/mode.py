"""Simple or advanced: how much the panel shows. One switch for all tabs and all pages."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from turgor.viewer.page.playground import Playground

__all__ = ["Mode"]

ORDER = -50.0  # in the panel: above the tabs, below messages
HINT = "Show everything that can be set and measured, with its unit."


class Mode:
    """Belongs to the world's thread. It opens simple."""

    def __init__(self, playground: Playground) -> None:
        self._playground = playground
        self._listeners: list[Callable[[], None]] = []
        self.box = playground.server.gui.add_checkbox("Advanced", False, hint=HINT, order=ORDER)

        async def ticked(event: Any) -> None:
            playground.do(self._tell)

        self.box.on_update(ticked)

    @property
    def advanced(self) -> bool:
        """Whether everything is shown."""
        return bool(self.box.value)

    def on_change(self, function: Callable[[], None]) -> None:
        """Call a function now and, on the world's thread, whenever the switch was used."""
        self._listeners.append(function)
        function()

    def _tell(self) -> None:
        with self._playground.server.atomic():
            for listener in self._listeners:
                listener()
