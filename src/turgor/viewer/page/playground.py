"""The playground: a page in the browser on which a world runs and can be changed. All clients share one world.

Two threads: viser's, which talks to the browsers, and the world's, which runs the simulation, streams it and refreshes
the controls. Everything that touches the world is handed to its thread by `do`, so nothing needs a lock. A slow client
only misses updates: viser keeps the latest value of each mesh, not a queue.
"""

from __future__ import annotations

import queue
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from turgor.errors import TurgorError, UnstableError
from turgor.output.frame import Frame
from turgor.scene.scene import Scene
from turgor.simulation.simulation import Simulation
from turgor.viewer.draw.camera import View, view_of
from turgor.viewer.draw.scene_nodes import SceneNodes
from turgor.viewer.page.pointers import Pointers
from turgor.viewer.page.selection import Selection
from turgor.viewer.page.tabs.all_tabs import build_tabs
from turgor.viewer.server.gate import Gate
from turgor.viewer.server.upload_limits import MAX_UPLOAD_BYTES, limit_uploads
from turgor.viewer.server.viser_server import only_through_gate, open_server
from turgor.viewer.world.file_watch import FileWatch, files_of
from turgor.viewer.world.rates import Rates
from turgor.viewer.world.world import World

__all__ = ["Playground"]

UPDATES = 60.0  # 1/s: streamed at most
STREAM_SHARE = 0.35  # of the time of the world's thread that streaming may take
SETTLING, STILL = 2.0, 0.15  # s: after a camera was set, and after it was last moved, before it is straightened
ARRIVING = 10.0  # s
IDLE = 0.004  # s: the longest pause of the world's thread
NOTHING = (-1, -1, -1)
BRAND = (47, 95, 179)
ALONG = np.array([0.0, 1.0, 0.0])  # the direction in which the camera of a 2D scene looks


class Playground:
    """A server with one world. Close it, or use it in a `with` statement."""

    shadows = True  # whether bodies cast shadows at first; they take most of the time of a browser without a GPU

    def __init__(
        self,
        scene: Scene | Simulation,
        *,
        host: str = "127.0.0.1",
        port: int = 8080,
        device: str = "cpu",
        path: Path | None = None,
        playing: bool = True,
    ) -> None:
        self.world = World(scene, device)
        self.world.playing = playing
        self.rates = Rates()
        self.replaying = False  # a recording is shown: the world waits and is not streamed
        self.textured = True  # cloth with its picture
        self.smooth = True  # coarse bodies with a smooth skin
        self._nodes: SceneNodes | None = None
        self._jobs: queue.SimpleQueue[tuple[Callable[..., Any], tuple[Any, ...]]] = queue.SimpleQueue()
        self._timers: list[list[Any]] = []  # [seconds, function, next time]
        self._nodes_listeners: list[Callable[[], None]] = []
        self._show_listeners: list[Callable[[Frame], None]] = []
        self.shown = NOTHING  # state of the world that the browsers have
        self._aim = True  # the cameras are to be set to the new scene
        self._view: View | None = None
        self._aimed = 0.0  # s, as time.time(): when a camera was last set
        self._aspects: dict[int, float] = {}  # client -> width over height of its picture when its camera was set
        self._welcome: dict[int, float] = {}  # client -> s, as time.time(): when it came
        self._closed = threading.Event()
        self.server = open_server("turgor")
        try:
            limit_uploads(self.server, MAX_UPLOAD_BYTES, self._refuse)
            self.gate = Gate(self.server.get_port(), host, port)
            only_through_gate(self.server, self.gate.password)
            self.gate.start()
        except BaseException:
            self.server.stop()
            raise
        self.server.on_client_connect(self._greet)
        self.server.gui.configure_theme(show_logo=False, show_share_button=False, brand_color=BRAND)
        self.server.gui.main_panel.dock_right()
        self.server.gui.main_panel.set_width(370)
        self.pointers = Pointers(self)
        self.selection = Selection(self)
        self.tabs = build_tabs(self)
        self.every(0.2, self._keep_flat)
        self.every(0.5, self._reframe)
        if path is not None:
            self._watch(path)
        self._thread = threading.Thread(target=self._run, name="turgor world", daemon=True)
        self._thread.start()

    # for users --------------------------------------------------------------------------------------------------------

    @property
    def port(self) -> int:
        """Where it listens."""
        return self.gate.port

    @property
    def url(self) -> str:
        """What to open in a browser; with the token, when it is open to others."""
        return self.gate.url

    @property
    def closed(self) -> bool:
        """Whether it has ended."""
        return self._closed.is_set()

    def wait(self) -> None:
        """Until it is closed."""
        while not self._closed.wait(0.2):
            pass

    def close(self) -> None:
        """Stop the world and the server."""
        if self._closed.is_set():
            return
        self._closed.set()
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout=5.0)
        for tab in self.tabs:
            tab.close()
        self.gate.close()
        self.server.stop()

    def __enter__(self) -> Playground:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # for tabs ---------------------------------------------------------------------------------------------------------

    @property
    def nodes(self) -> SceneNodes:
        """What the browsers show of the scene; there from the first update on."""
        assert self._nodes is not None
        return self._nodes

    def do(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Run a function on the world's thread soon. A TurgorError becomes a message on the page."""
        self._jobs.put((function, arguments))

    def every(self, seconds: float, function: Callable[[], object]) -> None:
        """Call a function on the world's thread at this rate."""
        self._timers.append([seconds, function, 0.0])

    def on_new_nodes(self, function: Callable[[], None]) -> None:
        """Call a function on the world's thread whenever there are other bodies or walls and their nodes are built."""
        self._nodes_listeners.append(function)

    def on_show(self, function: Callable[[Frame], None]) -> None:
        """Call a function on the world's thread with each frame that is streamed."""
        self._show_listeners.append(function)

    def notify(self, title: str, text: str, kind: str = "info") -> None:
        """A message on every page."""
        for client in self.server.get_clients().values():
            client.add_notification(
                title,
                text,
                color="red" if kind == "error" else "blue",
                auto_close_seconds=12.0 if kind == "error" else 6.0,
            )

    def open(self, scene: Scene) -> None:
        """Show another scene (on the world's thread)."""
        self.world.open(scene)
        self.world.playing = True
        self.replaying = False
        self._aim = True

    def redraw(self) -> None:
        """Build all nodes again and stream the state (on the world's thread)."""
        self.shown = NOTHING

    # the world's thread -----------------------------------------------------------------------------------------------

    def _run(self) -> None:
        last = shown = time.perf_counter()
        cost = 0.0  # s: of the last update
        while not self._closed.is_set():
            self._guard(self._work)
            if self.replaying and self.shown[0] != self.world.version:
                self.replaying = False  # the recording is not of these bodies
            now = time.perf_counter()
            if not self.replaying:
                self._guard(self._advance, now - last)
            last, now = now, time.perf_counter()
            if now - shown >= max(1.0 / UPDATES - 1e-3, cost / STREAM_SHARE) and self._guard(self._update):
                shown, cost = now, time.perf_counter() - now
            for timer in self._timers:
                if now >= timer[2] and self.shown[0] == self.world.version:  # tabs know the bodies that are there
                    timer[2] = now + timer[0]
                    self._guard(timer[1])
            self._pause(last)

    def _pause(self, last: float) -> None:
        """Sleep until the next frame is due, or a job comes."""
        due = last + 1.0 / (self.world.sim.settings.fps * max(self.world.speed, 1e-3))
        wait = min(due - time.perf_counter(), IDLE)
        if wait > 2e-4:
            time.sleep(wait)
        else:
            time.sleep(0)  # let viser's thread have its turn

    def _work(self) -> None:
        """Everything that was handed over since the last turn; one failure does not take the others with it."""
        while True:
            try:
                function, arguments = self._jobs.get_nowait()
            except queue.Empty:
                return
            self._guard(function, *arguments)

    def _guard(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function; what it raises becomes a message on the page, and the page goes on."""
        try:
            return function(*arguments)
        except UnstableError as error:
            self.notify(
                "The simulation became unstable and is paused", f"{error} Reset, or change a parameter.", "error"
            )
        except TurgorError as error:
            self.notify("That does not work", str(error), "error")
        except Exception as error:
            traceback.print_exc()
            self.notify("Internal error", f"{type(error).__name__}: {error}", "error")
        return None

    def _advance(self, seconds: float) -> None:
        self.pointers.pull()
        start = time.perf_counter()
        before = self.world.sim.time
        frames = self.world.advance(seconds)
        self.rates.frames(frames, self.world.sim.time - before, time.perf_counter() - start)
        if frames:
            self.world.adapt_frame_length(self.rates.frame_seconds)

    def _update(self) -> bool:
        """Stream what is new; whether there was something."""
        if self.replaying or self.shown == self.world.state:
            return False
        state = self.world.state
        frame = self.world.frame()
        try:
            with self.server.atomic():
                if self._nodes is None or self.shown[0] != state[0]:
                    self._build_nodes(frame)
                self.show(frame)
        finally:
            self.shown = state  # a state that cannot be shown is not tried again and again
        return True

    def show(self, frame: Frame) -> None:
        """Stream one frame (on the world's thread)."""
        start = time.perf_counter()
        self.nodes.show(frame)
        for listener in self._show_listeners:
            listener(frame)
        self.rates.update(time.perf_counter() - start)

    def _build_nodes(self, frame: Frame) -> None:
        if self._nodes is not None:
            self._nodes.close()
        layout = self.world.layout
        cloths = self.world.scene.cloths
        textures = {cloth.name: cloth.texture if self.textured else "none" for cloth in cloths}
        shape = self.world.shape_positions()
        self._nodes = SceneNodes(self.server.scene, layout, frame, textures, self.shadows, self.smooth, shape)
        self.pointers.take_nodes()
        if self._aim:
            self._aim = False
            self._view = view_of(layout, frame)
            camera = self.server.initial_camera
            camera.position, camera.look_at = self._view.position, self._view.look_at
            camera.fov, camera.near, camera.far = self._view.fov, self._view.near, self._view.far
            for client in self.server.get_clients().values():
                self.aim(client)
        for listener in self._nodes_listeners:
            listener()

    # clients ----------------------------------------------------------------------------------------------------------

    def aim(self, client: Any) -> None:
        """Point a client's camera at the whole scene."""
        if self._view is None:
            return
        camera = client.camera
        self._aspects[client.client_id] = camera.aspect
        view = view_of(self.world.layout, self.world.frame(), aspect=max(camera.aspect, 0.3))
        self._aimed = time.time()
        with client.atomic():
            camera.up_direction = (0.0, 0.0, 1.0)
            camera.position, camera.look_at = view.position, view.look_at
            camera.fov, camera.near, camera.far = view.fov, view.near, view.far

    async def _greet(self, client: Any) -> None:
        self._welcome[client.client_id] = time.time()
        self.do(self.aim, client)

    def _reframe(self) -> None:
        """A page learns the size of its picture in steps, as the controls dock: aim again while it still arrives."""
        clients, now = self.server.get_clients(), time.time()
        self._welcome = {number: since for number, since in self._welcome.items() if number in clients}
        self._aspects = {number: aspect for number, aspect in self._aspects.items() if number in clients}
        for number, client in clients.items():
            other = abs(client.camera.aspect - self._aspects.get(number, 0.0)) > 0.01
            if other and now - self._welcome.get(number, 0.0) < ARRIVING:
                self.aim(client)

    def _keep_flat(self) -> None:
        """A 2D scene is seen from the front only: a camera that was turned is turned back once it is let go of."""
        now = time.time()
        if self.world.scene.dim != 2 or now - self._aimed < SETTLING:
            return
        for client in self.server.get_clients().values():
            camera = client.camera
            target, away = camera.look_at, camera.position - camera.look_at
            distance = float((away @ away) ** 0.5)
            if away[1] > -0.9999 * distance and now - camera.update_timestamp > STILL:
                with client.atomic():
                    camera.position = target - distance * ALONG
                    camera.look_at = target

    def _refuse(self, client_id: int, sentence: str) -> None:
        client = self.server.get_clients().get(client_id)
        if client is not None:
            client.add_notification("Upload refused", sentence, color="red", auto_close_seconds=12.0)

    def _watch(self, path: Path) -> None:
        """Open the scene's file again whenever it changes; while it has an error, the old scene goes on."""

        def reload() -> None:
            scene = Scene.load(path)
            watch.also(files_of(scene))
            self.open(scene)
            self.notify("Reloaded", path.name)

        watch = FileWatch(path, reload)
        watch.also(files_of(self.world.scene))
        self.every(0.3, watch.poll)
