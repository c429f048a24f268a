"""The tab Save: take a picture, record, replay, and download what was recorded or the scene itself."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

from turgor.errors import SceneError, TurgorError
from turgor.output.frame import Frame
from turgor.viewer.export.downloads import file_name, picture, scene_file
from turgor.viewer.export.files import CancelledError, export
from turgor.viewer.page.tabs.tab import Tab
from turgor.viewer.world.recording import Recording, same_layout

if TYPE_CHECKING:
    import viser

    from turgor.viewer.page.playground import Playground

__all__ = ["KeepTab"]

REPLAY_FPS = 30.0  # recorded frames shown per second
SLIDER_SECONDS = 0.1  # between two moves of the time slider while it plays
#: The first one is painted about as fast as it plays, without a graphics card
SIZES = {"960 × 540": (960, 540), "1280 × 720": (1280, 720), "1920 × 1080": (1920, 1080), "640 × 360": (640, 360)}
DOWNLOADS = {
    "Video (.mp4)": ("mp4", "Plays everywhere, in real time."),
    "GIF (.gif)": ("gif", "A small film for chats and READMEs."),
    "Trajectory (.vtkhdf)": ("vtkhdf", "Every frame with positions, velocities, volumes and pressures; for ParaView."),
    "Animated model (.glb)": ("glb", "For Blender, game engines and web pages: bodies, walls, colours and textures."),
    "USD (.usdc)": ("usdc", "Every frame with velocities and pressures, for Blender and Houdini; .usdz with textures."),
    "Page (.html)": ("html", "One file that plays in any browser, without network; turn it with the mouse."),
}


class KeepTab(Tab):
    """One recording at a time, shared by all pages. It belongs to the world's thread; GUI callbacks pass jobs to it."""

    def __init__(self, playground: Playground) -> None:
        super().__init__(playground)
        self.recording: Recording | None = None
        self._textures: dict[str, str | None] = {}  # of the recorded cloths
        self._fitting = False  # whether the recording is of the bodies that are here
        self._taking = False  # whether frames are being recorded
        self._playing = False  # whether the replay moves by itself
        self._cursor = 0.0  # seconds from the first recorded frame, of the replay
        self._clock = 0.0  # when the cursor was last moved, s
        self._slid = 0.0  # when the slider was last moved, s
        self._shown = 0.0  # time of the frame that is shown, s
        self._left = (0, 0)  # version and ticks of the world that the replay has left waiting
        self._cancel = threading.Event()
        self._exporter: threading.Thread | None = None
        self._lock = threading.Lock()  # of the two above
        self._build()
        playground.on_show(self._note_time)
        playground.on_new_nodes(self._on_new_nodes)
        playground.every(1 / REPLAY_FPS, self._advance)
        playground.every(0.5, self._refresh)

    def close(self) -> None:
        """Stops an export that is under way; nothing of it is left."""
        with self._lock:
            self._cancel.set()
            exporter = self._exporter
        if exporter is not None:
            exporter.join(5.0)

    # what is on the page -----------------------------------------------------------------------------------------

    def _build(self) -> None:
        gui, do = self._playground.server.gui, self._playground.do
        shot = gui.add_button("Take picture", icon="camera", hint="What you see, as a PNG file.")
        shot.on_click(self._take_picture)
        self._record = gui.add_button("Record", icon="player-record", hint="A new recording replaces the last one.")
        self._record.on_click(lambda _: do(self._toggle_recording))
        self._text = gui.add_markdown("Nothing recorded yet.")
        with gui.add_folder("Replay"):
            self._slider = gui.add_slider("Time (s)", 0.0, 1.0, 0.01, 0.0, disabled=True)
            self._slider.on_update(lambda event: do(self.seek, event.target.value) if event.client else None)
            self._replay = gui.add_button("Replay", icon="player-play", disabled=True)
            self._replay.on_click(lambda _: do(self._toggle_replay))
            self._live = gui.add_button("Live", icon="broadcast", disabled=True, hint="Back to the running world.")
            self._live.on_click(lambda _: do(self.live))
        with gui.add_folder("Download"):
            self._size = gui.add_dropdown("Video size", tuple(SIZES))
            self._stamp = gui.add_checkbox("Time in the video", False)
            self._buttons = []
            for label, (kind, hint) in DOWNLOADS.items():
                button = gui.add_button(label, icon="download", hint=hint, disabled=True)
                button.on_click(lambda event, kind=kind: self._download(event.client, kind))
                self._buttons.append(button)
            self._bar = gui.add_progress_bar(0.0, visible=False, animated=True)
            self._stop = gui.add_button("Cancel", icon="x", visible=False)
            self._stop.on_click(lambda _: self._cancel.set())
            scene = gui.add_button(
                "Scene (.toml)", icon="file-text", hint="The scene as it is set now; runs with turgor."
            )
            scene.on_click(lambda event: do(self._send_scene, event.client))
        with gui.add_folder("Open"):
            self._playground.share.add_button()

    def _refresh(self) -> None:
        """Length and memory, and which buttons can be pressed."""
        recording, replaying = self.recording, self._playground.replaying
        count = len(recording) if recording else 0
        if recording is not None:
            state = "Recording" if self._taking else "Recorded"
            used, most = recording.nbytes / 2**20, recording.max_bytes / 2**20
            _set(
                self._text,
                "content",
                f"{state}: {recording.duration:.1f} s, {count} frames, {used:.1f} of {most:.0f} MiB",
            )
            _set(self._slider, "max", max(round(recording.duration, 2), 0.01))
        _set(self._record, "label", "Stop" if self._taking else "Record")
        _set(self._record, "icon", "player-stop" if self._taking else "player-record")
        _set(self._replay, "label", "Pause" if self._playing else "Replay")
        _set(self._replay, "icon", "player-pause" if self._playing else "player-play")
        _set(self._live, "disabled", not replaying)
        for button in self._buttons:
            _set(button, "disabled", count == 0)
        for control in (self._slider, self._replay):
            _set(control, "disabled", count == 0 or not self._fitting)

    # recording, on the world's thread ----------------------------------------------------------------------------

    def record(self) -> None:
        """Starts a new recording with the frame of now."""
        self.live()
        world = self._playground.world
        self.recording = Recording(world.layout)
        self.recording.add(world.frame())
        if self._take not in world.watchers:
            world.watchers.append(self._take)
        self._textures = {cloth.name: cloth.texture for cloth in world.scene.cloths}
        self._cursor, self._taking, self._fitting = 0.0, True, True
        _set(self._slider, "value", 0.0)
        self._refresh()

    def stop(self) -> None:
        """Ends the recording."""
        self._taking = False
        if self.recording is not None:
            self.recording.end("It was stopped.")
        self._refresh()

    def _toggle_recording(self) -> None:
        if self._taking:
            self.stop()
        else:
            self.record()

    def _note_time(self, frame: Frame) -> None:
        self._shown = frame.time

    def _take(self, frame: Frame) -> None:
        """Every frame that is simulated, whether it is streamed or not."""
        if self._taking and self.recording is not None:
            self._keep_going(self.recording.add(frame))
        else:
            self._playground.world.watchers.remove(self._take)

    def _on_new_nodes(self) -> None:
        """Other bodies, or another scene: the recording is not of these."""
        self._fitting = self._fits()
        if self._taking and self.recording is not None and not self._fitting:
            self.recording.end("The scene has other bodies now, so the recording ended; what was recorded is kept.")
            self._keep_going(False)

    def _keep_going(self, taken: bool) -> None:
        if not taken and self.recording is not None:
            self._taking = False
            self._playground.notify("Recording", self.recording.ended)
            self._refresh()

    def _fits(self) -> bool:
        return self.recording is not None and same_layout(self._playground.world.layout, self.recording.layout)

    # replay, on the world's thread -------------------------------------------------------------------------------

    def replay(self) -> None:
        """Plays the recording from where the slider is, from the start if that is the end. The world stands still."""
        recording = self._ready()
        if self._cursor >= recording.duration:
            self._cursor = 0.0
        self._playing, self._clock = True, time.monotonic()
        self._show()

    def pause(self) -> None:
        """Holds the replay."""
        self._playing = False
        self._show()

    def seek(self, seconds: float) -> None:
        """Shows the recording at this time, and holds it there."""
        self._ready()
        self._cursor, self._playing = float(seconds), False
        self._show(slide=False)  # the user has just moved the slider

    def live(self) -> None:
        """Back to the world, which goes on from where it was."""
        self._playing = False
        playground = self._playground
        if playground.replaying:
            playground.replaying = False
            if playground.world.version == self._left[0]:  # else new nodes are built, and shown then
                playground.show(playground.world.frame())
        self._refresh()

    def _toggle_replay(self) -> None:
        if self._playing:
            self.pause()
        else:
            self.replay()

    def _ready(self) -> Recording:
        """The recording; from now on it is shown instead of the world."""
        if self.recording is None:
            raise SceneError("Nothing has been recorded yet; press Record first.")
        if not self._fits():
            raise SceneError(
                f"The recording is of {self.recording.layout.scene!r} as it was, and other bodies are here now; "
                "it can still be downloaded, but not be replayed here."
            )
        if self._taking:
            self.stop()
        if not self._playground.replaying:
            self._left = self._state()
            self._playground.replaying = True
        return self.recording

    def _state(self) -> tuple[int, int]:
        return self._playground.world.version, self._playground.world.ticks

    def _advance(self) -> None:
        """Moves the replay on, in real time (or as slow as the world is set to)."""
        replaying = self._playground.replaying
        if (self._playing and not replaying) or (replaying and self._state() != self._left):
            self.live()  # somebody has opened a scene, or has changed or stepped the world, and wants to see that
        if not self._playing or self.recording is None:
            return
        now = time.monotonic()
        self._cursor += (now - self._clock) * self._playground.world.speed
        self._clock = now
        if self._cursor >= self.recording.duration:
            self._cursor, self._playing = self.recording.duration, False
        self._show()

    def _show(self, slide: bool = True) -> None:
        recording = self.recording
        if recording is None or not self._playground.replaying:
            return
        self._playground.show(recording.sample(self._cursor))
        now = time.monotonic()
        if slide and (not self._playing or now - self._slid > SLIDER_SECONDS):
            _set(self._slider, "value", round(self._cursor, 2))
            self._slid = now
        if not self._playing:
            self._refresh()

    # downloads, in threads of their own --------------------------------------------------------------------------

    def _take_picture(self, event: Any) -> None:
        """In a thread of viser's pool, where waiting for the browser disturbs nobody."""
        try:
            content = picture(event.client)
        except TurgorError as error:
            self._playground.notify("Picture", str(error), kind="error")
            return
        name = file_name(self._playground.world.scene.name, f"-{self._shown:.2f}s.png")
        event.client.send_file_download(name, content, save_immediately=True)

    def _send_scene(self, client: viser.ClientHandle) -> None:
        scene = self._playground.world.scene
        client.send_file_download(file_name(scene.name, ".toml"), scene_file(scene), save_immediately=True)

    def _download(self, client: viser.ClientHandle, kind: str) -> None:
        """Starts an export, unless one is under way."""
        with self._lock:
            if self._exporter is not None and self._exporter.is_alive():
                self._playground.notify("Download", "One download is being made already; wait for it, or cancel it.")
                return
            self._cancel = threading.Event()
            self._exporter = threading.Thread(target=self._export, args=(client, kind, self._cancel), daemon=True)
            self._exporter.start()

    def _export(self, client: viser.ClientHandle, kind: str, cancel: threading.Event) -> None:
        recording = self.recording
        if recording is None:
            return
        options: dict[str, Any] = {}
        if kind in ("mp4", "gif"):
            options = {"size": SIZES[self._size.value], "timestamp": self._stamp.value}
        if kind == "gif":
            options["size"] = SIZES["640 × 360"]
        if kind == "html":
            options = {"title": recording.layout.scene, "textures": self._textures}
        if kind == "usdc" and any(body.uv is not None or body.texture for body in recording.layout.bodies):
            kind = "usdz"  # one file, pictures included
        self._bar.value, self._bar.visible, self._stop.visible = 0.0, True, True
        try:
            content = export(recording, kind, options=options, progress=self._progress, cancel=cancel)
            client.send_file_download(file_name(recording.layout.scene, f".{kind}"), content, save_immediately=True)
        except CancelledError:
            pass
        except TurgorError as error:
            self._playground.notify("Download", str(error), kind="error")
        finally:
            self._bar.visible = self._stop.visible = False

    def _progress(self, done: int, total: int) -> None:
        _set(self._bar, "value", float(100 * done // total))


def _set(handle: Any, name: str, value: Any) -> None:
    """Sends the pages only what is new."""
    if getattr(handle, name) != value:
        setattr(handle, name, value)
