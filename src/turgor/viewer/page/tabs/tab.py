"""What all tabs have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from turgor.viewer.page.playground import Playground

__all__ = ["Tab"]


class Tab:
    """One tab: its constructor adds controls to viser's current container and registers what it needs."""

    def __init__(self, playground: Playground) -> None:
        self._playground = playground

    def close(self) -> None:
        """The playground ends: stop what runs in the background."""
