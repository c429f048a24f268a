"""Pointers: press and drag a body, and it follows as on a rubber band; let go, and it keeps its velocity.

viser gives the pressed point, and then the pointer's position on a plane through it that faces the camera, about 20
times a second. What lies at the pressed point is found here, in the frames that were shown: viser knows nodes, and
bodies may share one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from turgor.errors import SceneError
from turgor.output.frame import Frame
from turgor.scene.rigid import RigidBody
from turgor.viewer.draw.coordinates import from_view
from turgor.viewer.page.bands import Band
from turgor.viewer.page.shown_frames import Picked, ShownFrames
from turgor.viewer.world.grabs import strongest_pull

if TYPE_CHECKING:
    from turgor.viewer.page.playground import Playground

__all__ = ["Pointers"]

BAND_SECONDS = 1 / 40  # s between two pictures of a band, at least


class Pointers:
    """The pointers of all clients. Callbacks of viser only take notes; `pull` applies them on the world's thread."""

    def __init__(self, playground: Playground) -> None:
        self._playground = playground
        self._held: dict[int, tuple[str, int]] = {}  # client -> body and vertex
        self._targets: dict[int, Any] = {}  # client -> where its pointer is
        self._bands: dict[int, Band] = {}  # client -> what is drawn of its pull
        self._drawn = 0.0  # s: when the bands were
        self._listeners: list[Callable[[str, int, str | None], None]] = []
        self._shown = ShownFrames()
        playground.on_show(self._keep)

    def on_click(self, function: Callable[[str, int, str | None], None]) -> None:
        """Call with (body, nearest vertex, modifier key) when a body is clicked, on the world's thread."""
        self._listeners.append(function)

    def holds(self, client: int) -> bool:
        """Whether a client holds a body."""
        return client in self._held

    def take_nodes(self) -> None:
        """New nodes: make them draggable (on the world's thread)."""
        for node in self._playground.nodes.bodies:
            self.make_draggable(node.handle, node.names)

    def make_draggable(self, handle: Any, names: tuple[str, ...]) -> None:
        """Bodies `names` can be pulled by this node."""

        async def drag(event: Any) -> None:
            if event.phase == "start":
                eye = event.client.camera.position
                self._playground.do(self._take, event.client_id, eye, event.start_position, event.end_position)
            elif event.phase == "update":
                self._targets[event.client_id] = event.end_position
            else:
                self._playground.do(self._let_go, event.client_id)

        async def click(event: Any) -> None:
            self._playground.do(self._clicked, names, event.ray_origin, event.ray_direction, event.modifier)

        handle.on_drag(drag)
        handle.on_click(click)
        handle.on_click(modifier="shift")(click)

    # on the world's thread --------------------------------------------------------------------------------------------

    def _keep(self, frame: Frame) -> None:
        """A frame is shown."""
        if not self._playground.replaying:
            self._shown.keep(self._playground.nodes, frame)

    def _take(self, client: int, eye: Any, point: Any, target: Any) -> None:
        """What a client has pressed at a point of its picture, with its eye there, follows its pointer from now on.

        Where nothing lay at the point, as it was pressed too long ago, it is what lies under the pointer now.
        """
        world = self._playground.world
        if self._playground.replaying or self._playground.shown[0] != world.version:  # other bodies are there by now
            return
        picked = self._shown.at_point(eye, point) or self._shown.along(eye, np.subtract(target, eye))
        if picked is None or picked.name not in world.sim.names:
            return
        if not _can_move(world.scene[picked.name]):
            raise SceneError(f"{picked.name} is fixed and follows no hand")
        self._let_go(client)
        self._held[client] = (picked.name, picked.vertex)
        self._targets[client] = target
        world.grab(picked.name, picked.vertex, self._place(target), picked.place(world.frame()))
        self.pull()

    def pull(self) -> None:
        """Bodies that are held follow their pointers."""
        world = self._playground.world
        for client, (name, vertex) in list(self._held.items()):
            if name in world.sim.names:
                world.grab(name, vertex, self._place(self._targets[client]))
            else:
                self._let_go(client)
        if self._held and time.monotonic() > self._drawn + BAND_SECONDS:
            self._drawn = time.monotonic()
            with self._playground.server.atomic():
                for client in self._held:
                    self._draw(client)

    def _draw(self, client: int) -> None:
        """The band between a client's pointer and what it holds."""
        world, (name, _) = self._playground.world, self._held[client]
        if client not in self._bands:
            radius = self._playground.nodes.radius
            self._bands[client] = Band(self._playground.server, f"/pointer-{client}", world.scene.dim, radius)
        target = self._place(self._targets[client])
        held, force = np.asarray(world.held_point(name)), np.asarray(world.pull_on(name))
        self._bands[client].show(held, target, force, strongest_pull(world, name))

    def _let_go(self, client: int) -> None:
        name, _ = self._held.pop(client, ("", 0))
        self._targets.pop(client, None)
        if band := self._bands.pop(client, None):
            band.close()
        if name:
            self._playground.world.drop(name)

    def _clicked(self, names: tuple[str, ...], origin: Any, direction: Any, modifier: str | None) -> None:
        if self._playground.shown[0] != self._playground.world.version:  # other bodies are there by now
            return
        picked = self._shown.along(origin, direction, names)
        if picked is not None and picked.name in self._playground.world.sim.names:
            self.click(picked.name, picked.vertex, modifier)

    def first_along(self, origin: Any, direction: Any) -> Picked | None:
        """What lies first along a ray of the view, as it is shown now."""
        return self._shown.along(origin, direction)

    def click(self, name: str, vertex: int, modifier: str | None = None) -> None:
        """A vertex of a body is clicked, with a modifier key."""
        for listener in self._listeners:
            listener(name, vertex, modifier)

    def _place(self, point: Any) -> Any:
        """A point of the view in the coordinates of the scene."""
        return from_view(point, self._playground.world.scene.dim)


def _can_move(body: Any) -> bool:
    return not isinstance(body, RigidBody) or body.kind == "dynamic"
