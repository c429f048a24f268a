"""A visitor that does everything at random, for as long as one likes: what tools/soak and its short test run."""

from __future__ import annotations

import contextlib
import gc
import io
import os
import random
import sys
import time
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Browser, Error, Locator

from common.chromium import Visitor, ask, listen
from turgor import gallery
from turgor.output.frame import Frame
from turgor.viewer.page.playground import Playground
from turgor.viewer.page.tabs.keep import KeepTab

__all__ = ["Report", "soak"]

SCENE_SECONDS = 20.0  # s in each scene
SAMPLE_SECONDS = 3.0  # s between two looks at the memory
ATTEMPTS = 4  # to open a scene from the list
ACTION_MS = 3000  # ms: a control that cannot be reached in that time has gone
OPENING_MS = 15000  # ms: the list of scenes is always there; of a large scene, software draws few pictures a second
PANEL = "[data-dock-area]"
KEYS = ["Space", "n", "r", "f", "1", "2", "3", "4", "5", "v", "o", "b", "c", "l", "x", "k"]
SPARED = ("Upload", "Video", "GIF")  # no file to give; films take the machine for themselves, and have their own tests
STALE = "the scene has no '"  # a tab that still asks for a body of the last scene
# How often each kind of action is chosen, relative to the others.
WEIGHTS = {"drag": 8, "throw": 4, "orbit": 2, "slider": 10, "toggle": 5, "button": 4, "choose": 4, "key": 3, "tab": 6}


@dataclass
class Report:
    """What happened."""

    seconds: float = 0.0
    actions: Counter[str] = field(default_factory=Counter)
    missed: int = 0  # controls that had gone before they could be used
    scenes: list[str] = field(default_factory=list)  # in the order that they were opened
    exceptions: list[str] = field(default_factory=list)
    unstable: list[str] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)  # sentences that say why something is refused
    frames: int = 0  # that were streamed and looked at
    memory: list[tuple[float, int, int]] = field(
        default_factory=list
    )  # s, bytes resident (less a recording), blocks of Python's heap
    first_pass: float = np.inf  # s: when every scene had been opened

    @property
    def growth(self) -> float:
        """MB that the process has grown by since all scenes had been seen, or in the second half if they were not.

        Until then each scene adds kernels, fonts and pictures that are kept; after that there is nothing new to keep.
        """
        begin = min(self.first_pass + SCENE_SECONDS, 0.5 * self.seconds)
        if self.first_pass + SCENE_SECONDS < 0.9 * self.seconds:
            begin = self.first_pass + SCENE_SECONDS
        early = [size for at, size, _ in self.memory if begin <= at <= begin + 0.1 * self.seconds]
        late = [size for at, size, _ in self.memory if at >= 0.9 * self.seconds]
        return float(np.median(late) - np.median(early)) / 1e6 if early and late else 0.0

    def resident(self, at: float) -> float:
        """MB resident at a moment (s)."""
        return min(self.memory, key=lambda sample: abs(sample[0] - at))[1] / 1e6 if self.memory else 0.0

    def __str__(self) -> str:
        actions = ", ".join(f"{count} {kind}" for kind, count in self.actions.most_common())
        blocks = [blocks for _, _, blocks in self.memory] or [0]
        lines = [
            f"soak: {self.seconds / 60:.1f} min, {sum(self.actions.values())} actions ({actions}; {self.missed} missed)"
            f", {len(self.scenes)} scenes opened ({len(set(self.scenes))} different), {self.frames} frames streamed"
            f"; {len(self.exceptions)} exceptions, {len(self.unstable)} unstable, "
            f"{sum(self.refused.values())} refusals; resident {self.resident(60):.0f} MB after 1 min, "
            f"{self.resident(self.seconds):.0f} MB at the end, growth {self.growth:+.0f} MB; "
            f"Python heap {blocks[len(blocks) // 2]} -> {blocks[-1]} blocks"
        ]
        lines += [f"  exception: {text}" for text in self.exceptions]
        lines += [f"  unstable: {text}" for text in self.unstable]
        lines += [f"  refused {count} x: {text}" for text, count in self.refused.most_common(8)]
        return "\n".join(lines)


class _Tee(io.TextIOBase):
    """Standard error that is also kept."""

    def __init__(self, other: Any) -> None:
        self.other, self.text = other, ""

    def write(self, text: str) -> int:
        self.text += text
        return int(self.other.write(text))

    def flush(self) -> None:
        self.other.flush()


def resident_bytes() -> int:
    """Of this process; 0 where the system does not say."""
    with contextlib.suppress(OSError):
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


class _Soaker:
    """One page, used at random."""

    def __init__(self, browser: Browser, playground: Playground, seed: int) -> None:
        self.random = random.Random(seed)
        self.playground = playground
        self.report = Report()
        self.told = listen(playground)
        self.done: deque[str] = deque(maxlen=12)
        self.nonfinite: list[str] = []
        playground.on_show(self._look)
        self.visitor = Visitor(browser, playground)
        self.visitor.page.set_default_timeout(ACTION_MS)
        self.waiting: list[str] = []  # scenes of this pass that are still to be opened

    def _look(self, frame: Frame) -> None:
        """Each frame that is streamed, on the world's thread."""
        self.report.frames += 1
        if not np.isfinite(frame.positions).all() and len(self.nonfinite) < 5:
            self.nonfinite.append(
                f"positions of {self.playground.world.scene.name} at {frame.time:.2f} s are not finite"
            )

    # what is done -----------------------------------------------------------------------------------------------------

    def act(self) -> None:
        """One action."""
        kind = self.random.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
        self.done.append(kind)
        try:
            done = getattr(self, f"do_{kind}")()
        except Error:
            self.report.missed += 1
            self.visitor.page.keyboard.press("Escape")
            self.visitor.page.mouse.up()
            return
        if done:
            self.report.actions[kind] += 1
            self.done[-1] = f"{kind} {done}"

    def pick(self, selector: str) -> Locator | None:
        """A visible control of the tab in front."""
        found = self.visitor.page.locator(f"{PANEL} {selector}:visible").all()
        return self.random.choice(found) if found else None

    def label(self, control: Locator) -> str:
        script = "e => (e.id && document.querySelector(`label[for='${e.id}']`) || e).innerText"
        return str(control.evaluate(script))

    def place(self, control: Locator) -> list[float]:
        """Left, top, width and height of a control, scrolled to; without waiting for the page to come to rest."""
        script = """e => { e.scrollIntoView({block: "nearest"}); const r = e.getBoundingClientRect();
                           return [r.left, r.top, r.width, r.height] }"""
        return [float(number) for number in control.evaluate(script)]

    def poke(self, control: Locator) -> None:
        """A click in the middle of a control."""
        left, top, width, height = self.place(control)
        self.visitor.page.mouse.click(left + width / 2, top + height / 2)

    def somewhere(self) -> tuple[float, float]:
        """A place in the view."""
        box = self.visitor.canvas
        x, y = self.random.uniform(0.05, 0.95), self.random.uniform(0.05, 0.95)
        return box["x"] + x * box["width"], box["y"] + y * box["height"]

    def body(self) -> tuple[str, tuple[float, float]] | None:
        """A body that can be seen, and where it is on the page."""
        world, box = self.playground.world, self.visitor.canvas
        centers = ask(
            self.playground, lambda: {name: world.sim[name].positions.mean(axis=0) for name in world.sim.names}
        )
        names = list(centers)
        self.random.shuffle(names)
        for name in names:
            x, y = self.visitor.pixel(centers[name])
            if 0 < x - box["x"] < box["width"] and 0 < y - box["y"] < box["height"]:
                return name, (x, y)
        return None

    def do_drag(self, steps: int = 4, rest: float = 300) -> str | None:
        if (found := self.body()) is None:
            return None
        name, place = found
        self.visitor.press(*place)
        for _ in range(self.random.randint(1, 3)):
            target = self.somewhere()
            self.visitor.move(place, target, steps)
            self.visitor.page.wait_for_timeout(self.random.uniform(0, rest))
            place = target
        self.visitor.release()
        return name

    def do_throw(self) -> str | None:
        return self.do_drag(steps=2, rest=0)

    def do_orbit(self) -> str:
        box = self.visitor.canvas
        corner = (box["x"] + 8, box["y"] + 8)
        self.visitor.press(*corner)
        self.visitor.move(corner, self.somewhere(), 4)
        self.visitor.release()
        if self.random.random() < 0.5:
            self.visitor.key("f")
        return "the view"

    def do_slider(self) -> str | None:
        if (slider := self.pick(".mantine-Slider-root")) is None:
            return None
        left, top, width, height = self.place(slider)
        y = top + height / 2
        self.visitor.press(left + self.random.random() * width, y)
        for _ in range(self.random.randint(0, 3)):
            self.visitor.page.mouse.move(left + self.random.random() * width, y)
            self.visitor.page.wait_for_timeout(50)
        self.visitor.release()
        return self.label(slider)

    def do_toggle(self) -> str | None:
        if (toggle := self.pick("input[type=checkbox]")) is None:
            return None
        self.poke(toggle)
        return self.label(toggle)

    def do_button(self) -> str | None:
        button = self.pick("button.mantine-Button-root:enabled")
        if button is None or (text := self.label(button)).startswith(SPARED):
            return None
        self.poke(button)
        return text

    def do_choose(self) -> str | None:
        if (box := self.pick("input[role=combobox]")) is None:
            return None
        text = self.label(box)
        if text == "Scene":  # is changed by the clock
            return None
        self.poke(box)
        options = self.visitor.page.locator("[role=option]:visible").all()
        if not options:
            return None
        option = self.random.choice(options)
        text += f" = {self.label(option)}"
        self.poke(option)
        return text

    def do_key(self) -> str:
        key = self.random.choice(KEYS)
        self.visitor.key(key)
        return key

    def do_tab(self) -> str | None:
        if (tab := self.pick("[role=tab]")) is None:
            return None
        self.poke(tab)
        return self.label(tab)

    # what is looked at ------------------------------------------------------------------------------------------------

    def next_scene(self) -> None:
        """Through the page, each of the gallery before any comes again."""
        if not self.waiting:
            self.waiting = [name for name in sorted(gallery.names()) if name != self.playground.world.scene.name]
            self.random.shuffle(self.waiting)
        name, page, world = self.waiting.pop(), self.visitor.page, self.playground.world
        page.mouse.up()
        page.keyboard.press("Escape")
        self.visitor.dismiss_alerts()
        version = world.version
        page.set_default_timeout(OPENING_MS)
        for _ in range(ATTEMPTS):
            if world.scene.name == name:  # by its picture in the gallery, a moment ago
                break
            with contextlib.suppress(Error, AssertionError):  # a list that was moved or covered just then
                self.poke(page.get_by_role("tab", name="Choose", exact=True))
                self.poke(self.visitor.box("Scene"))
                self.poke(page.get_by_role("option", name=name, exact=True))
                self.visitor.wait(
                    lambda: world.scene.name == name and world.version > version, seconds=OPENING_MS / 1000
                )
                break
            self.report.missed += 1
            page.keyboard.press("Escape")
        else:
            boxes = page.get_by_label("Scene", exact=True)
            shown = boxes.first.input_value() if boxes.count() else "no list of scenes"
            alerts = page.get_by_role("alert").all_inner_texts()
            done = " | ".join(self.done)
            self.report.exceptions.append(
                f"{name} could not be opened from the page: it shows {shown!r} and {alerts} (after: {done})"
            )
            ask(self.playground, self.playground.open, gallery.load(name))
        page.set_default_timeout(ACTION_MS)
        self.report.scenes.append(name)
        self.done.append(f"scene {name}")

    def sample(self, seconds: float) -> None:
        """Memory, and all positions of now."""
        gc.collect()
        recordings = [tab.recording for tab in self.playground.tabs if isinstance(tab, KeepTab)]
        recorded = sum(recording.nbytes for recording in recordings if recording is not None)  # has a limit of its own
        self.report.memory.append((seconds, resident_bytes() - recorded, sys.getallocatedblocks()))
        ask(self.playground, lambda: self._look(self.playground.world.frame()))

    def judge(self, tee: _Tee, seconds: float) -> None:
        """Sort what was reported and written since the last time."""
        where = f"{seconds:.0f} s, {self.playground.world.scene.name}, after: {' | '.join(self.done)}"
        for title, text in self.told[:]:
            if title == "Internal error" or text.startswith(STALE):
                self.report.exceptions.append(f"{text} ({where})")
            elif "unstable" in title:
                self.report.unstable.append(f"{text} ({where})")
            else:
                self.report.refused[f"{title}: {text}"] += 1
        self.told.clear()
        self.report.exceptions += [f"{text} ({where})" for text in (*self.visitor.errors, *self.nonfinite)]
        self.visitor.errors.clear()
        self.nonfinite.clear()
        if "Traceback" in tee.text or "xception" in tee.text:
            self.report.exceptions.append(f"standard error: {tee.text[-2000:]} ({where})")
        tee.text = ""

    def run(self, seconds: float, scene_seconds: float) -> Report:
        begin = time.monotonic()
        next_scene = next_sample = 0.0
        tee = _Tee(sys.stderr)
        with contextlib.redirect_stderr(tee):
            while (now := time.monotonic() - begin) < seconds:
                if now >= next_scene:
                    self.next_scene()
                    next_scene = now + scene_seconds
                    if len(set(self.report.scenes)) == len(gallery.names()):
                        self.report.first_pass = min(self.report.first_pass, now)
                if now >= next_sample:
                    self.sample(now)
                    next_sample = now + SAMPLE_SECONDS
                self.act()
                self.judge(tee, now)
            self.visitor.page.mouse.up()
            self.visitor.turns(5)
            self.judge(tee, now)
        self.report.seconds = time.monotonic() - begin
        self.sample(self.report.seconds)
        return self.report


@contextlib.contextmanager
def _opened(scene: str) -> Iterator[Playground]:
    with Playground(gallery.load(scene), port=0) as playground:
        yield playground


def soak(browser: Browser, seconds: float, seed: int = 0, scene_seconds: float = SCENE_SECONDS) -> Report:
    """Use a new playground at random for so long."""
    with _opened("drop-2d") as playground:
        soaker = _Soaker(browser, playground, seed)
        try:
            return soaker.run(seconds, scene_seconds)
        finally:
            soaker.visitor.close()
