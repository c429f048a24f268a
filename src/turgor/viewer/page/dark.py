"""Pages that are dark, as their systems are. The page's shell asks for it by two commands of its own.

viser's theme is set for one client alone. Its nodes are shared, so that the colours of floor and walls are told to the
dark clients once more, after the nodes are made: what all get and what one gets come in no certain order.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from turgor.viewer.draw.dark import COLORS, dark_look
from turgor.viewer.server.viser_private import show_differently

if TYPE_CHECKING:
    from turgor.viewer.page.playground import Playground

__all__ = ["THEME", "DarkPages"]

THEME = {"show_logo": False, "show_share_button": False, "brand_color": (47, 95, 179)}
KEYS = {True: "Y", False: "U"}  # with Ctrl, Alt and Shift: shell.js presses them
AGAIN = (0.1, 1.0)  # s after new nodes are made: when they are there, and for a page that is slow


class DarkPages:
    """Belongs to the world's thread."""

    def __init__(self, playground: Playground) -> None:
        self._playground = playground
        self._dark: dict[int, list[float]] = {}  # client -> when it is told the colours again, s as time.monotonic()
        for dark, key in KEYS.items():
            command = playground.server.gui.add_command(
                f"Colours of the system: {'dark' if dark else 'light'}", hotkey=key, modifier="cmd/ctrl+alt+shift"
            )
            command.on_trigger(lambda event, dark=dark: playground.do(self.set, event.client, dark))
        playground.on_new_nodes(self._renew)
        playground.every(AGAIN[0] / 2, self._look)

    @property
    def clients(self) -> set[int]:
        """The dark ones."""
        return set(self._dark)

    def set(self, client: Any, dark: bool) -> None:
        """One page is dark or light from now on."""
        if dark == (client.client_id in self._dark):
            return
        client.gui.configure_theme(dark_mode=dark, **THEME)
        if dark:
            self._dark[client.client_id] = self._times()
        else:
            del self._dark[client.client_id]
        self._paint(client, dark)

    def _times(self) -> list[float]:
        return [time.monotonic() + delay for delay in AGAIN]

    def _renew(self) -> None:
        for client in self._dark:
            self._dark[client] = self._times()

    def _look(self) -> None:
        clients = self._playground.server.get_clients()
        for number, times in list(self._dark.items()):
            if number not in clients:
                del self._dark[number]
            elif times and time.monotonic() >= times[0]:
                times.pop(0)
                self._paint(clients[number], True)

    def _paint(self, client: Any, dark: bool) -> None:
        for handle in self._playground.nodes.scenery:
            look = dark_look(handle)
            own = {name: getattr(handle, name) for name in COLORS if name in look}
            show_differently(client, handle.name, look if dark else own)
