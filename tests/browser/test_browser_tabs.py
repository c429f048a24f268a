"""The tabs Change, Plot, Add and Look in a real browser, each alone on its page."""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh
from PIL import Image
from playwright.sync_api import Page

from support.playgrounds import balls
from support.waiting import until
from turgor import gallery
from turgor.viewer.page.playground import Playground
from turgor.viewer.page.tabs.add import AddTab
from turgor.viewer.page.tabs.change import ChangeTab
from turgor.viewer.page.tabs.learn import LearnTab
from turgor.viewer.page.tabs.plots import PlotsTab
from turgor.viewer.world.parameters import PARAMETERS, Parameter
from turgor.viewer.world.time_series import ENERGIES

OpenPlayground = Callable[..., Playground]
OpenTab = Callable[..., Page]
PATIENCE = 60.0  # s: software draws the page, and the machine may be busy


@pytest.mark.req("D8", "X8")
def test_sliders_in_a_browser_change_the_simulation(open_playground: OpenPlayground, open_tab: OpenTab) -> None:
    playground = open_playground("five-balls", Change=ChangeTab)
    until(lambda: playground.tabs[0].control("gauge").visible)  # type: ignore[attr-defined]
    world, panel = playground.world, playground.tabs[0]
    gravity: Parameter = next(entry for entry in PARAMETERS if entry.key == "gravity")  # type: ignore[assignment]
    page = open_tab(playground.url, height=900)

    def row(label: str) -> Any:
        found = page.locator("label", has_text=label)
        return found.locator("xpath=ancestor::div[contains(@class,'mantine-Flex-root')][1]")

    page.get_by_text("Stretchiness").wait_for(timeout=60_000)  # it opens simple
    row("Weight").locator("input:not([type=hidden])").last.fill("200")
    assert until(lambda: world.scene["violet"].mass == pytest.approx(2.0 * gallery.load("five-balls")["violet"].mass))  # type: ignore[union-attr]
    page.get_by_label("Advanced", exact=True).click()
    slider = row(gravity.title(3)).get_by_role("slider")
    slider.wait_for(timeout=60_000)
    slider.focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    assert until(lambda: abs(gravity.read(world, "") - 10.31) < 0.02), gravity.read(world, "")
    assert np.linalg.norm(world.sim.gravity) == pytest.approx(gravity.read(world, ""))
    row("Stiffness").locator("input:not([type=hidden])").last.fill("250")
    assert until(lambda: world.sim["violet"].stiffness == 250.0)
    box, slider = row("Stiffness").locator("input:not([type=hidden])").last, panel.control("stiffness")  # type: ignore[attr-defined]
    beyond = 1.5 * slider.max
    box.fill(f"{beyond:g}")
    assert until(lambda: slider.max >= beyond)  # the range follows
    page.wait_for_timeout(500)
    box.press("Tab")  # where the page would cut it to its range
    assert until(lambda: slider.value == beyond and "stiffness" not in panel._touched)  # type: ignore[attr-defined]
    assert world.sim["violet"].stiffness == pytest.approx(beyond)
    page.get_by_text("Moon", exact=True).click()
    assert until(lambda: abs(gravity.read(world, "") - 1.62) < 1e-9)
    page.get_by_role("button", name="Back to the scene's values").click()
    assert until(lambda: world.scene == gallery.load("five-balls"))
    assert until(lambda: panel.control("gravity").value == 9.81)  # type: ignore[attr-defined]


@pytest.mark.req("D8", "X8")
def test_plots_in_a_browser(open_playground: OpenPlayground, open_tab: OpenTab) -> None:
    playground = open_playground("hanging-ball", Plot=PlotsTab)
    panel: Any = playground.tabs[0]
    page = open_tab(playground.url)
    page.locator(".uplot").nth(1).wait_for(timeout=60_000)
    assert page.locator(".uplot").count() == 2  # energy, volume and pressure
    drawn = (
        "() => Object.values(window.__viserTestpoints.uplots).map("
        "u => [u.chart.data.length, u.chart.data[0].length, u.chart.series.slice(1).map(s => s.label)])"
    )
    assert until(lambda: all(count > 5 for _, count, _ in page.evaluate(drawn)))
    assert page.evaluate(drawn)[0][2] == list(ENERGIES)
    page.get_by_label("with losses and work").click()
    assert until(lambda: playground.world.ledger)
    assert until(lambda: any(lines == 8 for lines, _, _ in page.evaluate(drawn)))
    dissipated = 6  # which column; the series begins anew with the ledger
    assert until(lambda: len(panel.series.energy) > 3 and np.isfinite(panel.series.energy.columns()[dissipated]).all())
    page.get_by_label("p–V diagram").click()
    page.locator("svg[role=img] polyline").nth(1).wait_for(state="attached", timeout=20_000)
    page.get_by_label("Frame time").click()
    assert until(lambda: page.locator(".uplot").count() == 3)
    playground.do(playground.open, gallery.load("drop-2d"))
    assert until(lambda: "(m²)" in page.locator("svg[role=img]").inner_html())
    assert until(lambda: 0 < panel.series.gas.columns()[0].max() < 10.0)


@pytest.mark.req("D8", "X8")
def test_an_experiment_in_a_browser(open_playground: OpenPlayground, open_tab: OpenTab) -> None:
    """Boyle's law from its question to its formula, by the buttons and the slider of the page, and back."""
    playground = open_playground("drop-2d", Learn=LearnTab)
    world = playground.world
    page = open_tab(playground.url)

    def press(name: str) -> None:
        page.get_by_role("button", name=name, exact=True).click(timeout=60_000)

    press("Boyle's law in a squeezed ball")
    page.get_by_text("What happens to its pressure?").wait_for(timeout=60_000)
    assert until(lambda: world.scene.name == "lesson-boyle")
    assert page.get_by_role("button", name="Next", exact=True).is_disabled()
    press("It doubles")
    page.get_by_text("You think").wait_for(timeout=60_000)
    press("Next")
    page.locator(".uplot").wait_for(timeout=60_000)
    slider = page.get_by_role("slider")
    slider.focus()
    slider.press("Home")  # the plate comes down
    assert until(lambda: world.sim["ball"].pressure > 119.5e3)  # type: ignore[union-attr]
    press("Next")
    page.get_by_text("Right!").wait_for(timeout=60_000)
    press("Next")
    page.get_by_text("Robert Boyle").wait_for(timeout=60_000)
    drawn = "() => Object.values(window.__viserTestpoints.uplots).map(u => u.chart.data.map(c => Array.from(c)))"

    def on_the_line() -> bool:
        """Measured dots, each on the formula's curve."""
        (columns,) = (plot for plot in page.evaluate(drawn) if len(plot) == 3)
        pairs = [(dot, line) for dot, line in zip(*columns[1:], strict=True) if dot is not None and dot == dot]
        return len(pairs) > 5 and all(abs(dot / line - 1.0) < 0.01 for dot, line in pairs if line)

    assert until(on_the_line)
    numbers = "() => Object.values(window.__viserTestpoints.uplots).map(u => (u.chart.axes[0]._splits || []).length)"
    assert until(lambda: max(page.evaluate(numbers)) > 2)  # along the x axis
    press("Leave")
    assert until(lambda: world.scene == gallery.load("drop-2d"))
    page.get_by_role("button", name="From spring to balloon").wait_for(timeout=60_000)


@pytest.mark.req("A9", "X8")
def test_add_and_upload_in_a_browser(open_playground: OpenPlayground, open_tab: OpenTab, tmp_path: Path) -> None:
    playground = open_playground("hanging-ball", Add=AddTab)
    until(lambda: playground.shown[0] == playground.world.version)
    panel: Any = playground.tabs[0]
    world = playground.world
    good, shell = tmp_path / "good.obj", trimesh.creation.icosphere(subdivisions=2, radius=30.0)
    shell.export(good)
    opened = shell.copy()
    opened.update_faces(np.arange(len(shell.faces)) > 0)
    opened.export(tmp_path / "open.stl")
    (tmp_path / "words.obj").write_text("this is not a mesh\n")
    (tmp_path / "empty.ply").write_text("")
    page = open_tab(playground.url)
    page.get_by_role("button", name="Add", exact=True).click(timeout=60_000)
    assert until(lambda: "ball-1" in world.sim.names)
    upload = panel.upload

    def send(path: Path, word: str) -> None:
        with page.expect_file_chooser() as chooser:
            page.get_by_text("Upload .obj").click()
        chooser.value.set_files(path)
        until(lambda: word in upload.verdict)

    def add() -> None:
        page.get_by_role("button", name="Add it", exact=True).click()

    send(good, "is fine")
    size = float(upload.size.value)  # which suits the scene
    add()
    assert until(lambda: "mesh-1" in world.scene.names)
    body: Any = world.scene["mesh-1"]
    assert body.material == "beach_ball"
    assert np.ptp(body.positions, axis=0).max() == pytest.approx(size, rel=0.01)
    names = list(world.sim.names)
    send(tmp_path / "words.obj", "Not added")
    # an empty file never comes to the panel: the gate of uploads refuses it
    with page.expect_file_chooser() as chooser:
        page.get_by_text("Upload .obj").click()
    chooser.value.set_files(tmp_path / "empty.ply")
    page.get_by_text("the file is empty").wait_for(timeout=60_000)
    send(tmp_path / "open.stl", "cannot hold gas")
    page.get_by_role("status").get_by_text("its gas would leak out").wait_for(timeout=60_000)
    assert world.sim.names == names
    page.get_by_role("button", name="Close the holes").first.click()  # of the message at the top of the panel
    assert until(lambda: "was repaired" in upload.verdict)
    page.get_by_role("status").wait_for(state="detached", timeout=60_000)
    add()
    assert until(lambda: "mesh-2" in world.scene.names)
    page.get_by_role("button", name="Remove it").click()
    assert until(lambda: "mesh-2" not in world.sim.names)
    start = world.sim.time
    assert until(lambda: world.sim.time > start + 0.2)
    assert world.sim.finite


@pytest.mark.req("A8", "D7", "X8")
def test_in_the_browser_velocities_are_red_and_keys_work(open_page: Any, open_tab: OpenTab) -> None:
    """A grey ball that flies: red is on the screen after V, and no more after V again; K colours it."""
    page = open_page(balls())
    tab = open_tab(page.playground.url, height=600)
    tab.get_by_text("Velocity vectors").wait_for()

    def seen(condition: Callable[[Any], bool]) -> None:
        """Of the colours of the view, without the panel and messages."""
        end = time.monotonic() + PATIENCE
        while True:
            picture = Image.open(io.BytesIO(tab.screenshot(clip={"x": 0, "y": 200, "width": 620, "height": 400})))
            if condition(np.asarray(picture.convert("RGB"), int)):
                return
            assert time.monotonic() < end, "not seen in the browser"
            tab.wait_for_timeout(200)

    def red(view: Any) -> int:
        return int(((view[..., 0] > 120) & (view[..., 0] > 2.5 * view[..., 1:].max(axis=2))).sum())

    seen(lambda view: len(np.unique(view.reshape(-1, 3), axis=0)) > 100 and red(view) == 0)
    tab.keyboard.press("v")
    seen(lambda view: red(view) > 100)
    assert page.panel.toggles["velocities"].value
    tab.keyboard.press("v")
    seen(lambda view: red(view) == 0)
    for _ in range(3):
        tab.keyboard.press("k")
    tab.get_by_text("m/s").wait_for()
    seen(lambda view: red(view) > 500)  # the left ball, the fastest
    assert page.panel.color_by.value == "Speed"


@pytest.mark.req("X8", "X15")
def test_an_upload_is_turned_simplified_and_taken_in_parts_in_a_browser(
    open_playground: OpenPlayground, open_tab: OpenTab, tmp_path: Path
) -> None:
    """A figure that stands along y: a body of 2 m and a head above it (joined parts: test_play_uploads.py)."""
    playground = open_playground("hanging-ball", Add=AddTab)
    until(lambda: playground.shown[0] == playground.world.version)
    panel: Any = playground.tabs[0]
    world = playground.world
    body = trimesh.creation.box((0.8, 2.0, 0.5)).subdivide().subdivide().subdivide()
    head = trimesh.creation.icosphere(subdivisions=3, radius=0.5).apply_translation((0.0, 1.6, 0.0))
    (body + head).export(tmp_path / "apart.obj")
    page = open_tab(playground.url, height=1200)

    def row(label: str) -> Any:
        found = page.locator("label", has_text=label)
        return found.locator("xpath=ancestor::div[contains(@class,'mantine-Flex-root')][1]")

    def choose(label: str, option: str) -> None:
        row(label).locator("input:not([type=hidden])").first.click()
        page.get_by_role("option", name=option, exact=True).click()

    def send(path: Path, word: str) -> None:
        with page.expect_file_chooser() as chooser:
            page.get_by_text("Upload .obj").click(timeout=60_000)
        chooser.value.set_files(path)
        until(lambda: word in panel.upload.verdict)

    def add() -> None:
        page.get_by_role("button", name="Add it", exact=True).click()

    send(tmp_path / "apart.obj", "2 separate parts")
    page.get_by_text("Up in the file").wait_for(timeout=60_000)
    choose("Up in the file", "y")
    choose("Of several parts", "all, a body each")
    row("Vertices").locator("input:not([type=hidden])").last.fill("120")
    assert until(lambda: panel.upload.vertices.value == 120)
    choose("Its material", "as in the scene")
    add()
    until(lambda: "added as **mesh-2**, 120 vertices" in panel.upload.verdict)
    assert "turned its y axis up" in panel.upload.verdict
    bodies: list[Any] = [world.scene[name] for name in ("mesh-1", "mesh-2")]
    low, high = (end([end(body.positions, axis=0) for body in bodies], axis=0) for end in (np.min, np.max))
    assert int(np.argmax(high - low)) == 2  # it stands
    assert (high - low)[2] == pytest.approx(panel.upload.size.value, rel=1e-5)
    assert bodies[1].positions[:, 2].min() > bodies[0].positions[:, 2].max()  # the head is above the body
