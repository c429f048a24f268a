"""A real Chromium on a real playground: what the browser tests, tools/soak and tools/screenshots share."""

from __future__ import annotations

import contextlib
import io
import queue
import shutil
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image
from playwright.sync_api import Browser, Locator, Page, sync_playwright

from turgor.viewer.draw.coordinates import upright
from turgor.viewer.page import playground as playground_module
from turgor.viewer.page.playground import Playground

__all__ = ["CHROMIUM", "Visitor", "ask", "chromium", "colourful", "listen"]

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
FLAGS += ["--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update"]
FLAGS += ["--disable-sync", "--disable-gpu-rasterization", "--disable-gpu-compositing"]
PATIENCE = 60.0  # s: a software-rendered page on a busy machine, where kernels are compiled too, needs that at times
PAUSE = 20  # ms between two looks at a condition
ASIDE = 0.01  # of the distance to its target, that a camera is put aside
COLOURFUL = 40  # of 255, between the strongest and the weakest of red, green and blue: more than floor, grid and walls
# whether a point of the page shows the 3D view, and no bar or notification that lies over it
IS_PICTURE = "([x, y]) => document.elementFromPoint(x, y)?.tagName === 'CANVAS'"
HARMLESS = "Unable to preventDefault inside passive event listener"  # viser's own, at each drag of a node

Playground.shadows = False  # drawn by software, they take most of the time
playground_module.UPDATES = 12.0  # 1/s: software draws no more

FloatArray = npt.NDArray[np.float64]
Picture = npt.NDArray[np.uint8]


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """A browser without a screen that draws by software."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


def ask(playground: Playground, function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function returns on the world's thread; what it raises is raised here, too.

    The answer comes when the job is over: `Playground` notes the step of history after the call.
    """
    answers: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()

    def call() -> None:
        try:
            answer: tuple[Any, BaseException | None] = function(*arguments), None
        except BaseException as error:
            answer = None, error
        playground.do(answers.put, answer)

    playground.do(call)
    value, error = answers.get(timeout=PATIENCE)
    if error is not None:
        raise error
    return value


# Pictures wait for a timer, and then for their turn.
CALM = """{
  const draw = window.requestAnimationFrame.bind(window), cancel = window.cancelAnimationFrame.bind(window);
  const waiting = new Map(); let last = 0;
  window.requestAnimationFrame = (callback) => {
    const id = ++last;
    const timer = setTimeout(() => {
      const frame = draw((time) => { waiting.delete(id); callback(time); });
      waiting.set(id, () => cancel(frame));
    }, 60);
    waiting.set(id, () => clearTimeout(timer));
    return id;
  };
  window.cancelAnimationFrame = (id) => { waiting.get(id)?.(); waiting.delete(id); };
}"""


def listen(playground: Playground) -> list[tuple[str, str]]:
    """All errors (title, text) that the playground says from now on; that it is slow, on a busy machine, is none."""
    told: list[tuple[str, str]] = []
    say = playground.notices.say

    def note(title: str, text: str, kind: str = "info", *more: Any, **options: Any) -> str:
        if kind == "error":
            told.append((title, text))
        return say(title, text, kind, *more, **options)

    playground.notices.say = note  # type: ignore[method-assign]
    return told


def colourful(picture: Picture) -> float:
    """The share of the pixels that show a body: floor, grid, walls and background are grey."""
    values = picture[..., :3].astype(int)
    return float(np.mean(values.max(axis=-1) - values.min(axis=-1) > COLOURFUL))


class Visitor:
    """One page on a playground, used as a person does. `client` is the same page as viser's server sees it."""

    def __init__(
        self,
        browser: Browser,
        playground: Playground,
        size: tuple[int, int] = (860, 560),
        sharpness: float = 0.35,
        *,
        dark: bool = False,
        phone: bool = False,
        calm: bool = True,
    ) -> None:
        """`sharpness`: pixels drawn per pixel of the page; few, as software draws them. A phone begins without tabs.

        calm: a dozen pictures a second, as on a slow computer; else software draws as many as a core gives it.
        """
        self.playground = playground
        self.errors: list[str] = []  # of the page: uncaught exceptions, and what it wrote to the console as an error
        before = set(playground.server.get_clients())
        self.context = browser.new_context(
            viewport={"width": size[0], "height": size[1]}, device_scale_factor=sharpness, accept_downloads=True,
            color_scheme="dark" if dark else "light", is_mobile=phone, has_touch=phone,
        )  # fmt: skip
        self.context.set_default_timeout(1000 * PATIENCE)
        if calm:
            self.context.add_init_script(CALM)
        self.page: Page = self.context.new_page()
        self.page.on("pageerror", lambda error: self.errors.append(f"page error: {error.stack or error}"[:800]))
        self.page.on("console", self._note)
        self.page.goto(playground.url)
        self.wait(lambda: set(playground.server.get_clients()) - before, "the page to connect")
        self.id = max(set(playground.server.get_clients()) - before)
        self.page.get_by_role("toolbar").wait_for()  # there is a picture
        if not phone:
            self.page.get_by_text("real-time factor").wait_for()
        self.wait(lambda: np.isfinite(self.camera.position).all(), "the camera's first message")
        self.told: list[FloatArray] = []  # (2, 3) eye and target each, as the page has told them
        self.camera.on_update(self._hear)
        self.dismiss_alerts()  # that it is drawn by software: it lies over the view

    async def _hear(self, camera: Any) -> None:
        self.told.append(np.array([camera.position, camera.look_at]))

    def _note(self, message: Any) -> None:
        if message.type == "error" and HARMLESS not in message.text:
            self.errors.append(f"console: {message.text}")

    def close(self) -> None:
        """Close the page, as a person does."""
        self.context.close()

    # waiting ----------------------------------------------------------------------------------------------------------

    def wait(self, condition: Callable[[], Any], what: str = "", seconds: float = PATIENCE) -> Any:
        """Wait until a condition holds, with the page alive; its value. Fails after `seconds`, saying what for."""
        end = time.monotonic() + seconds
        while not (value := condition()):
            if time.monotonic() > end:
                raise AssertionError(f"waited {seconds:g} s in vain for {what or 'a condition'}")
            self.page.wait_for_timeout(PAUSE)
        return value

    def turns(self, count: int = 20) -> None:
        """Wait until the world's thread has gone through its loop that many times."""
        for _ in range(count):
            ask(self.playground, lambda: None)
            self.page.wait_for_timeout(PAUSE)

    # the tabs ---------------------------------------------------------------------------------------------------------

    def tab(self, name: str) -> None:
        """Bring a tab to the front."""
        self.page.get_by_role("tab", name=name, exact=True).click()

    def click(self, label: str) -> None:
        """Press a button of the tab in front."""
        self.page.get_by_role("button", name=label, exact=True).click()

    def box(self, label: str) -> Locator:
        """The input that belongs to a label."""
        return self.page.get_by_label(label, exact=True)

    def choose(self, label: str, option: str) -> None:
        """Choose from a dropdown."""
        entry = self.page.get_by_role("option", name=option, exact=True)
        self.box(label).click()
        with contextlib.suppress(Exception):  # a list that is long is scrolled to what is chosen
            entry.scroll_into_view_if_needed(timeout=2000)
        entry.click()

    def key(self, key: str) -> None:
        """Press a key while the 3D view, not an input, has the focus."""
        self.page.evaluate("document.activeElement && document.activeElement.blur()")
        self.page.keyboard.press(key)

    def row(self, name: str) -> str:
        """The value of a row in the table of numbers."""
        return self.page.locator("tr", has=self.page.get_by_text(name, exact=True)).locator("td").nth(1).inner_text()

    def alert(self, text: str) -> Locator:
        """The notification that has this text."""
        return self.page.get_by_role("alert").filter(has_text=text)

    def dismiss_alerts(self) -> None:
        """Close all notifications."""
        closers = self.page.locator("[role=alert] button")
        while closers.count():
            with contextlib.suppress(Exception):  # it may have gone by itself
                closers.first.click(timeout=1000)
            self.page.wait_for_timeout(PAUSE)

    # the view ---------------------------------------------------------------------------------------------------------

    @property
    def client(self) -> Any:
        """The handle of viser's server."""
        return self.playground.server.get_clients()[self.id]

    @property
    def camera(self) -> Any:
        """The camera, as the server knows it."""
        return self.client.camera

    def look(self, position: Any, look_at: Any) -> None:
        """Put the camera somewhere, and wait until the page shows that.

        By way of a place beside it: a page that is there already, or comes back in one picture, tells nothing.
        """
        pose = np.array([position, look_at], dtype=float)
        size = float(np.linalg.norm(pose[0] - pose[1]))
        for goal in (pose + np.array([ASIDE * size, 0.0, 0.0]), pose):
            heard = len(self.told)
            with self.client.atomic():
                self.camera.position, self.camera.look_at = goal
            self.wait(
                lambda: any(np.abs(told - goal).max() < 0.1 * ASIDE * size for told in self.told[heard:]),  # noqa: B023
                "the camera to be moved",
            )
        self.page.evaluate("() => new Promise(done => requestAnimationFrame(() => done(true)))")

    def settled(self) -> None:
        """Wait until the camera is no longer moving."""
        before = np.full(6, np.nan)
        still = 0
        while still < 3:
            now = np.concatenate([self.camera.position, self.camera.look_at])
            still = still + 1 if np.array_equal(now, before) else 0
            before = now
            self.page.wait_for_timeout(100)

    @property
    def canvas(self) -> dict[str, float]:
        """Where the 3D view is on the page, in pixels."""
        box = self.page.locator("canvas[data-engine]").bounding_box()
        assert box is not None
        return {key: float(box[key]) for key in ("x", "y", "width", "height")}

    def pixel(self, point: Any) -> tuple[float, float]:
        """Where a point of the scene (m) is on the page."""
        box, camera = self.canvas, self.camera
        eye, target = np.array(camera.position), np.array(camera.look_at)
        ahead = (target - eye) / np.linalg.norm(target - eye)
        right = np.cross(ahead, [0.0, 0.0, 1.0])
        right /= np.linalg.norm(right)
        arm = upright(np.asarray(point, dtype=float)[None])[0] - eye
        scale = box["height"] / 2 / np.tan(camera.fov / 2) / (arm @ ahead)
        x = box["x"] + box["width"] / 2 + scale * (arm @ right)
        y = box["y"] + box["height"] / 2 - scale * (arm @ np.cross(right, ahead))
        return float(x), float(y)

    def shows_picture(self, x: float, y: float) -> bool:
        """Whether the 3D view is seen there, and can be pressed."""
        return self.page.evaluate(IS_PICTURE, [x, y]) is True

    def bare_spot(self) -> tuple[float, float]:
        """A place near the left edge of the 3D view with nothing over it: notifications come and go there."""
        box = self.canvas
        for height in (0.1, 0.3, 0.5, 0.7):
            x, y = box["x"] + 0.1 * box["width"], box["y"] + height * box["height"]
            if self.shows_picture(x, y):
                return x, y
        raise AssertionError("the left edge of the view is covered")

    def picture(self) -> Picture:
        """What the 3D view shows, as (height, width, 3)."""
        data = self.page.screenshot(clip=self.canvas)  # type: ignore[arg-type]
        return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))

    def press(self, x: float, y: float) -> None:
        """Press the left button there."""
        self.page.mouse.move(x, y)
        self.page.mouse.down()

    def move(self, start: tuple[float, float], end: tuple[float, float], steps: int = 8) -> None:
        """Move the pointer evenly, giving the page the time to see each step."""
        for share in np.linspace(0.0, 1.0, steps + 1)[1:]:
            self.page.mouse.move(*(np.array(start) * (1 - share) + np.array(end) * share))
            self.page.wait_for_timeout(PAUSE)

    def release(self) -> None:
        """Let go of the left button."""
        self.page.mouse.up()
