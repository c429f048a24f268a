"""A simulation's playground inside a notebook: `sim.show()`."""

from __future__ import annotations

import html
import weakref

from turgor.simulation.simulation import Simulation
from turgor.viewer.page.playground import Playground

__all__ = ["InlineView"]


class InlineView:
    """What `sim.show()` returns. Notebooks show it as a frame with the playground's page."""

    _open: weakref.WeakKeyDictionary[Simulation, InlineView] = weakref.WeakKeyDictionary()

    def __init__(self, simulation: Simulation, height: int, port: int) -> None:
        self.height = height
        self.playground = Playground(simulation, port=port, playing=False)

    @classmethod
    def of(cls, simulation: Simulation, height: int, port: int) -> InlineView:
        """The view of a simulation: the one that is open, or a new one."""
        view = cls._open.get(simulation)
        if view is None or view.playground.closed:
            view = cls._open[simulation] = cls(simulation, height, port)
        view.height = height
        return view

    @property
    def url(self) -> str:
        """The page's address."""
        return self.playground.url

    def close(self) -> None:
        """End the server; the simulation stays."""
        self.playground.close()

    def __repr__(self) -> str:
        return f"<playground of {self.playground.world.scene.name!r} at {self.url}>"

    def _repr_html_(self) -> str:
        style = f"width:100%;height:{int(self.height)}px;border:0"
        return f'<iframe src="{html.escape(self.url, quote=True)}" style="{style}"></iframe>'
