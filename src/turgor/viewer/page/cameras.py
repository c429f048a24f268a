"""The cameras of all clients: they show the scene when it is opened or reset, follow it, and mark what is out of sight.

Each client has a camera of its own. What it is set to by the page is noted, so that a person who moves it is noticed:
following then waits.
"""

from __future__ import annotations

import math
import time
from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from turgor.viewer.draw.camera import View, view_of
from turgor.viewer.draw.coordinates import from_view, upright
from turgor.viewer.draw.sight import Sight

if TYPE_CHECKING:
    from turgor.viewer.page.playground import Playground

__all__ = ["Cameras"]

FloatArray = npt.NDArray[np.float64]
SETTLING, STILL = 2.0, 0.15  # s: after a camera was set, and after it was last moved, before it is straightened
ARRIVING = 10.0  # s
ALONG = np.array([0.0, 1.0, 0.0])  # the direction in which the camera of a 2D scene looks
OWN = 3.0  # s that a camera may take to tell where it was set to
SAME = 2e-3  # of the distance to its target: so near a camera is where it was set to
FOLLOWS = 1 / 30  # s between two steps of following, at least
BETWEEN = 1.5  # times the time that a page takes to be where it was set to: a picture in which a hand can be seen
UNTOLD = 0.5  # s, at least, after which a page that does not tell where it is is set on
PAUSE = 4.0  # s that a person has the camera after moving it
TIME = 0.7  # s in which following makes up for all but 1/e of the way
LOST, FOUND = 0.5, 0.08  # part of the bodies out of the picture that following starts at; half pictures it ends at
FITS = 0.9  # of half a picture: a body that is added reaches at most so far from its middle
MARKS = 8  # bodies that are marked at the edge, at most
POINTS = 24  # of a body that are looked for in the picture
ARROWS = "→↗↑↖←↙↓↘"  # by the angle in the picture, from the right on counter-clockwise


class Cameras:
    """Belongs to the world's thread, but for what viser's thread notes."""

    def __init__(self, playground: Playground) -> None:
        self._playground = playground
        self._names: set[str] = set()  # of the bodies
        self._starts = -1  # of the world, that the cameras were aimed for
        self._scene = -1
        self._aimed = 0.0  # s, as time.time(): when a camera was last set
        self._aspects: dict[int, float] = {}  # client -> width over height of its picture when its camera was set
        self._welcome: dict[int, float] = {}  # client -> s, as time.time(): when it came
        self._set: dict[int, deque[tuple[float, FloatArray]]] = {}  # client -> time, (2, 3) eye and target set by us
        self._moved: dict[int, float] = {}  # client -> s, as time.time(): when a person moved it
        # client -> when it was where it was set to, as time.time(), and the s that it took
        self._arrived: dict[int, deque[tuple[float, float]]] = {}
        self._following: set[int] = set()
        self._marks: dict[int, dict[str, Any]] = {}  # client -> body -> label
        playground.world.picture_center = self.center
        playground.server.on_client_connect(self._greet)
        playground.every(0.2, self._keep_flat)
        playground.every(0.5, self._reframe)
        playground.every(FOLLOWS, self._follow)
        playground.every(0.2, self._mark)

    # for others -------------------------------------------------------------------------------------------------------

    def renewed(self) -> None:
        """There are new nodes: the cameras are aimed if the world has begun anew (on the world's thread)."""
        world, server = self._playground.world, self._playground.server
        names = {body.name for body in world.layout.bodies}
        added, self._names = names - self._names, names
        if self._starts == world.starts:
            if added:
                self._show(added)
            return
        another, self._starts, self._scene = self._scene != world.scenes, world.starts, world.scenes
        view = view_of(world.layout, world.frame())
        camera = server.initial_camera
        camera.position, camera.look_at = view.position, view.look_at
        camera.fov, camera.near, camera.far = view.fov, view.near, view.far
        for client in server.get_clients().values():
            self.aim(client, keep_side=not another)

    def aim(self, client: Any, keep_side: bool = False) -> None:
        """Point a client's camera at the whole scene, from the usual side or from that from which it sees it now."""
        if self._starts < 0:
            return
        camera, world = client.camera, self._playground.world
        self._aspects[client.client_id] = camera.aspect
        side = np.subtract(camera.position, camera.look_at) if keep_side else None
        view = view_of(world.layout, world.frame(), max(camera.aspect, 0.3), side)
        self._aimed = time.time()
        self._following.discard(client.client_id)
        self._move(client, np.array(view.position), np.array(view.look_at), view)

    def _show(self, names: set[str]) -> None:
        """Cameras step back until these bodies are in their pictures."""
        points = np.concatenate([points for name, points in self._bodies().items() if name in names])
        for client in self._playground.server.get_clients().values():
            sight = Sight.of(client.camera)
            size = float(np.abs(sight.places(points)).max())
            if not math.isfinite(size):
                self.aim(client, keep_side=True)
            elif size > FITS:
                self._move(client, sight.target + (sight.eye - sight.target) * size / FITS, sight.target)

    def center(self) -> Any:
        """(dim,) m of the scene: what is in the middle of the picture of who moved last; None without a client."""
        clients = self._playground.server.get_clients()
        if not clients:
            return None
        latest = max(clients, key=lambda number: self._moved.get(number, self._welcome.get(number, 0.0)))
        return from_view(clients[latest].camera.look_at, self._playground.world.scene.dim)

    # clients ----------------------------------------------------------------------------------------------------------

    async def _greet(self, client: Any) -> None:
        number = client.client_id
        self._welcome[number] = time.time()

        async def moved(_: Any) -> None:
            now, pose = time.time(), np.array([client.camera.position, client.camera.look_at])
            near = SAME * float(np.linalg.norm(pose[0] - pose[1])) + 1e-9
            ours = list(self._set.get(number, ()))
            since = [at for at, own in ours if now - at < OWN and np.abs(pose - own).max() < near]
            if since:
                self._arrived.setdefault(number, deque(maxlen=8)).append((now, now - since[-1]))
            else:
                self._moved[number] = now

        client.camera.on_update(moved)
        self._playground.do(self.aim, client)

    def _move(self, client: Any, eye: FloatArray, target: FloatArray, view: View | None = None) -> None:
        camera = client.camera
        poses = self._set.setdefault(client.client_id, deque(maxlen=round(OWN / FOLLOWS)))
        poses.append((time.time(), np.array([eye, target])))
        with client.atomic():
            if view is not None:
                camera.up_direction = (0.0, 0.0, 1.0)
            camera.position, camera.look_at = eye, target
            if view is not None:
                camera.fov, camera.near, camera.far = view.fov, view.near, view.far

    def _reframe(self) -> None:
        """A page learns the size of its picture in steps, as the controls dock: aim again while it still arrives."""
        clients, now = self._playground.server.get_clients(), time.time()
        for notes in (self._welcome, self._aspects, self._set, self._moved, self._arrived, self._marks):
            for number in [number for number in list(notes) if number not in clients]:
                del notes[number]
        self._following &= set(clients)
        for number, client in clients.items():
            other = abs(client.camera.aspect - self._aspects.get(number, 0.0)) > 0.01
            if other and now - self._welcome.get(number, 0.0) < ARRIVING:
                self.aim(client)

    def _keep_flat(self) -> None:
        """A 2D scene is seen from the front only: a camera that was turned is turned back once it is let go of."""
        now = time.time()
        if self._playground.world.scene.dim != 2 or now - self._aimed < SETTLING:
            return
        for client in self._playground.server.get_clients().values():
            camera = client.camera
            target, away = camera.look_at, camera.position - camera.look_at
            distance = float((away @ away) ** 0.5)
            if away[1] > -0.9999 * distance and now - camera.update_timestamp > STILL:
                self._move(client, target - distance * ALONG, target)

    # following and marking --------------------------------------------------------------------------------------------

    def _bodies(self) -> dict[str, FloatArray]:
        """Name -> (n, 3) m: some points of each body, all around it."""
        frame, layout = self._playground.world.frame(), self._playground.world.layout
        points = upright(np.nan_to_num(frame.positions))
        return {
            body.name: points[body.start : body.start + body.count : max(1, body.count // POINTS)]
            for body in layout.bodies
        }

    def _follow(self) -> None:
        """Where most bodies have left a picture, its camera goes after them; a person who moves it goes first."""
        playground, now = self._playground, time.time()
        if not playground.follow or playground.replaying or now - self._aimed < SETTLING:
            return
        bodies = self._bodies()
        if not bodies:
            return
        middle = np.median([points.mean(axis=0) for points in bodies.values()], axis=0)
        for number, client in playground.server.get_clients().items():
            if now - self._moved.get(number, 0.0) < PAUSE or playground.pointers.holds(number):
                self._following.discard(number)
                continue
            if (passed := self._since_set(number, now)) is None:
                continue
            sight = Sight.of(client.camera)
            if number not in self._following:
                lost = np.mean([not sight.sees(points) for points in bodies.values()])
                if lost <= LOST and np.abs(sight.places(middle[None])).max() <= 1.0:
                    continue
                self._following.add(number)
            way = middle - sight.target
            step = (1.0 - math.exp(-passed / TIME)) * way
            self._move(client, sight.eye + step, sight.target + step)
            if np.linalg.norm(way) < FOUND * sight.half_size.min():
                self._following.discard(number)

    def _since_set(self, number: int, now: float) -> float | None:
        """Seconds since a camera was set, if it may be set again.

        A page takes the last place that it was sent in each picture, and tells what it shows: were it sent one for
        each, as a slow page is that draws a dozen a second, it would never tell that a hand turns it.
        """
        at = self._set[number][-1][0] if self._set.get(number) else 0.0
        if number not in self._following:
            return FOLLOWS
        arrived = list(self._arrived.get(number, ()))
        pause = BETWEEN * max((took for _, took in arrived), default=0.0)
        if now - at > max(UNTOLD, pause):
            return UNTOLD
        told = bool(arrived) and arrived[-1][0] > at
        return now - at if told and now - arrived[-1][0] > pause else None

    def _mark(self) -> None:
        """Arrows at the edge of a picture to the bodies that are not in it."""
        bodies = {} if self._playground.replaying else self._bodies()
        for number, client in self._playground.server.get_clients().items():
            sight, marks = Sight.of(client.camera), self._marks.setdefault(number, {})
            lost = [name for name, points in bodies.items() if not sight.sees(points)][:MARKS]
            with client.atomic():
                for name in [name for name in marks if name not in lost]:
                    marks.pop(name).remove()
                for name in lost:
                    place, point = sight.at_edge(bodies[name].mean(axis=0))
                    self._show_mark(client, marks, name, place, point)

    def _show_mark(self, client: Any, marks: dict[str, Any], name: str, place: FloatArray, point: FloatArray) -> None:
        arrow = ARROWS[round(math.atan2(place[1], place[0]) / (math.pi / 4)) % 8]
        text = f"{name} {arrow}" if place[0] > 0 else f"{arrow} {name}"
        side = "right" if place[0] > 0.5 else "left" if place[0] < -0.5 else "center"
        height = "top" if place[1] > 0.5 else "bottom" if place[1] < -0.5 else "center"
        if name not in marks:
            marks[name] = client.scene.add_label(f"/lost/{len(marks)}-{abs(hash(name))}", text, position=point)
        label = marks[name]
        label.text, label.anchor, label.position = text, f"{height}-{side}", point
