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
from typing import Any, cast

from turgor.errors import TurgorError, UnstableError
from turgor.output.frame import Frame
from turgor.scene.scene import Scene
from turgor.simulation.simulation import Simulation
from turgor.viewer.draw.scene_nodes import SceneNodes
from turgor.viewer.lessons.lesson import Lesson
from turgor.viewer.page.cameras import Cameras
from turgor.viewer.page.dark import THEME, DarkPages
from turgor.viewer.page.mode import Mode
from turgor.viewer.page.notices import Notices
from turgor.viewer.page.pointers import Pointers
from turgor.viewer.page.selection import Selection
from turgor.viewer.page.share import Share
from turgor.viewer.page.shell import Shell
from turgor.viewer.page.tabs.all_tabs import build_tabs
from turgor.viewer.page.tabs.learn import LearnTab
from turgor.viewer.page.undo import UndoButtons
from turgor.viewer.server.gate import Gate
from turgor.viewer.server.shell_page import shell_page
from turgor.viewer.server.upload_limits import MAX_UPLOAD_BYTES, limit_uploads
from turgor.viewer.server.viser_server import only_through_gate, open_server
from turgor.viewer.world.file_watch import FileWatch, files_of
from turgor.viewer.world.rates import STREAM_SHARE, Rates
from turgor.viewer.world.slowness import Slowness
from turgor.viewer.world.world import World

__all__ = ["Playground"]

UPDATES = 60.0  # 1/s: streamed at most
IDLE = 0.004  # s: the longest pause of the world's thread
NOTHING = (-1, -1, -1)


class Playground:
    """A server with one world. Close it, or use it in a `with` statement."""

    follow = True  # whether cameras go after bodies that leave their pictures
    shadows = True  # whether bodies cast shadows at first; they take most of the time of a browser without a GPU

    def __init__(
        self,
        scene: Scene | Simulation,
        *,
        host: str = "127.0.0.1",
        port: int = 8080,
        device: str = "cpu",
        path: Path | None = None,
        allow_outside: bool = False,
        playing: bool = True,
        lesson: Lesson | None = None,
        on_address: Callable[[str], object] = lambda url: None,
    ) -> None:
        """`on_address` is called with the page's address as soon as it can be opened, before the scene is built.

        With a `lesson` its scene is opened at once, and `scene` is what the page goes back to.
        """
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
        self._closed = threading.Event()
        self.server = open_server("turgor")
        self.gate = Gate(self.server.get_port(), host, port)
        try:
            limit_uploads(self.server, MAX_UPLOAD_BYTES, self._refuse)
            only_through_gate(self.server, self.gate.password)
            self.gate.answers.pages |= {"/": shell_page(), "/index.html": shell_page()}
            self.server.gui.configure_theme(**THEME)
            self.server.gui.main_panel.dock_right()
            self.server.gui.main_panel.set_width(370)
            own = scene if isinstance(scene, Simulation) else None
            again = "sim.show()" if own else f"turgor play {path.name if path else ''}".strip()
            self.shell = Shell(self, again, own.scene if own else cast(Scene, scene), own=own is not None)
            self.gate.start()
            on_address(self.url)
            self.world = World(
                scene if lesson is None else lesson.scene(), device
            )  # seconds, when its kernels are compiled: the page says so
            self.world.playing = playing
        except BaseException:
            self.gate.close()
            self.server.stop()
            raise
        self.slowness = Slowness(self.world, self.rates)  # what is slow, and what could be done
        self.notices = Notices(self)
        self.mode = Mode(self)
        self.pointers = Pointers(self)
        self.cameras = Cameras(self)
        self.selection = Selection(self)
        self.dark = DarkPages(self)
        self.share = Share(self)
        self.undo = UndoButtons(self)
        self.tabs = build_tabs(self, "Learn" if lesson is not None else "")
        if lesson is not None:
            self.do(cast(LearnTab, self.tabs[0]).begin, lesson.name, own.scene if own else scene)
        self.every(0.25, self._look_out)
        if path is not None:
            self._watch(path, allow_outside)
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
        self.notices.say(title, text, kind)

    def open(self, scene: Scene) -> None:
        """Show another scene (on the world's thread)."""
        self.shell.opening(scene)
        try:
            self.world.open(scene)
        except BaseException:
            self.shell.opened()
            raise
        self.notices.close()
        self.world.playing = True
        self.replaying = False

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
            if self.shown[0] != self.world.version:  # seen before its first frame, whose kernels may take seconds
                self._guard(self._update)
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
            with self.world.history.together(self.world):  # what a person does is one step
                self._guard(function, *arguments)

    def _guard(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function; what it raises becomes a message on the page, and the page goes on."""
        try:
            return function(*arguments)
        except UnstableError as error:
            self.notices.unstable(error)
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

    def _look_out(self) -> None:
        """Say it when the page moves fewer than ten times a second, with what is slow.

        A message with buttons is not replaced by it: someone may be about to press one.
        """
        if not self.replaying and not self.notices.remedies and self.slowness.look(time.monotonic()):
            self.notices.say("This is slow", self.slowness.sentence, "warning", self.slowness.remedies)

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
        self.cameras.renewed()
        for listener in self._nodes_listeners:
            listener()

    # clients ----------------------------------------------------------------------------------------------------------

    def aim(self, client: Any) -> None:
        """Point a client's camera at the whole scene (on the world's thread)."""
        self.cameras.aim(client)

    def _refuse(self, client_id: int, sentence: str) -> None:
        client = self.server.get_clients().get(client_id)
        if client is not None:
            client.add_notification("Upload refused", sentence, color="red", auto_close_seconds=12.0)

    def _watch(self, path: Path, allow_outside: bool) -> None:
        """Open the scene's file again whenever it changes; while it has an error, the old scene goes on."""

        def reload() -> None:
            try:
                scene = Scene.load(path, allow_outside=allow_outside)
                watch.also(files_of(scene))
                self.open(scene)
            except TurgorError as error:
                self.notices.say(f"{path.name} has an error", str(error), "error", verbatim=True)
            else:
                self.notify("Reloaded", path.name)

        watch = FileWatch(path, reload)
        watch.also(files_of(self.world.scene))
        self.every(0.3, watch.poll)
