"""The shell of the page in a real browser: signs while it loads and when the server ends, the bar, the hint."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import pytest
import trimesh
from playwright.sync_api import Browser, expect

from common.chromium import Visitor, ask
from turgor import gallery
from turgor.viewer.page.playground import Playground
from turgor.viewer.world.scene_link import link_of, scene_of_link

pytestmark = pytest.mark.req("X8")
PATIENCE = 60_000  # ms
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="module")
def playground() -> Iterator[Playground]:
    with Playground(gallery.load("drop"), port=0) as playground:
        yield playground


@pytest.fixture(scope="module")
def visitor(browser: Browser, playground: Playground) -> Iterator[Visitor]:
    visitor = Visitor(browser, playground)
    yield visitor
    assert visitor.errors == []
    visitor.close()


def test_the_page_says_that_it_loads_before_any_script_has_run(browser: Browser, playground: Playground) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(playground.url)
    expect(page.get_by_text("turgor is loading …")).to_be_visible()
    context.close()


def test_on_a_phone_the_panel_is_a_closed_drawer(browser: Browser, playground: Playground) -> None:
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, device_scale_factor=0.35,
        color_scheme="dark",
    )  # fmt: skip
    page = context.new_page()
    page.goto(f"{playground.url}/{link_of(gallery.load('flag'))}")
    bar = page.get_by_role("toolbar")
    bar.wait_for(timeout=PATIENCE)
    page.get_by_role("button", name="Not now").tap()  # a link opens nothing that was not agreed to
    expect(page).to_have_url(f"{playground.url}/")
    assert playground.world.scene.name == "drop"
    expect(page.locator("html")).to_have_attribute("data-mantine-color-scheme", "dark")  # from the first picture on
    tab = page.get_by_role("tab", name="Choose")
    expect(tab).not_to_be_in_viewport()
    box = bar.bounding_box()
    assert box is not None
    assert 0 <= box["x"] < box["x"] + box["width"] <= 390
    canvas = page.locator("canvas[data-engine]").bounding_box()
    assert canvas is not None
    assert (canvas["width"], canvas["height"]) == (390, 844)
    playing = playground.world.playing
    bar.locator("#turgor-play").tap()  # nothing lies over it
    expect(bar.locator("#turgor-play")).to_have_accessible_name("Play the scene" if playing else "Pause the scene")
    page.touchscreen.tap(60, 820)  # the drawer's handle
    expect(tab).to_be_in_viewport()
    context.close()
    ask(playground, setattr, playground.world, "playing", True)


def test_a_server_that_ends_is_told_and_one_that_is_back_is_found(browser: Browser) -> None:
    context = browser.new_context(viewport={"width": 860, "height": 560}, device_scale_factor=0.35)
    page = context.new_page()
    lost = page.locator("#turgor-lost")
    with Playground(gallery.load("drop-2d"), port=0) as first:
        page.goto(first.url)
        page.get_by_role("toolbar").wait_for(timeout=PATIENCE)
        expect(lost).to_be_hidden()
        port = first.port
    expect(lost).to_have_text("The playground has ended. Start it again: turgor play drop-2d")
    expect(lost).to_be_visible()
    with Playground(gallery.load("inflate-2d"), port=port):
        page.get_by_role("toolbar").wait_for(timeout=PATIENCE)
        expect(page).to_have_title("inflate-2d – turgor")
        expect(lost).to_be_hidden()
        page.get_by_text("real-time factor").wait_for(timeout=PATIENCE)
        context.close()


def test_the_sign_goes_when_there_is_a_picture(visitor: Visitor) -> None:
    expect(visitor.page.locator("#turgor-veil")).to_have_count(0)
    expect(visitor.page.locator("#turgor-sign")).to_be_hidden()
    expect(visitor.page).to_have_title("drop – turgor")


def test_a_scene_that_is_opened_is_announced(visitor: Visitor) -> None:
    """The world's thread is held where kernels would be compiled; the page says so all the while."""
    playground, held = visitor.playground, threading.Event()

    def open_slowly() -> None:
        playground.open(gallery.load("drop"))
        held.wait(60)

    playground.do(open_slowly)
    sign = visitor.page.locator("#turgor-sign")
    expect(sign).to_have_text("Opening drop: preparing kernels")
    expect(sign).to_be_visible()
    held.set()
    expect(sign).to_be_hidden()


def test_a_page_that_is_not_seen_takes_no_connection(visitor: Visitor) -> None:
    """Browsers open six connections to a server: with as many tabs in the background a seventh would never load."""
    readers = visitor.playground.gate.answers.news.readers
    visitor.wait(lambda: len(readers) == 1, "the page to read")
    for hidden, count in (("true", 0), ("false", 1)):
        visitor.page.evaluate(
            f"Object.defineProperty(document, 'hidden', {{ value: {hidden}, configurable: true }});"
            "document.dispatchEvent(new Event('visibilitychange'))"
        )
        visitor.wait(lambda count=count: len(readers) == count, "the page to see that it is seen, or not")
    expect(visitor.page.locator("#turgor-lost")).to_be_hidden()


# --- the bar


def test_the_bar_plays_pauses_steps_and_starts_again(visitor: Visitor) -> None:
    world, bar = visitor.playground.world, visitor.page.get_by_role("toolbar")
    bar.get_by_role("button", name="Pause the scene").click()
    visitor.wait(lambda: not world.playing, "the pause")
    expect(bar.get_by_role("button", name="Play the scene")).to_be_visible()
    frame = ask(visitor.playground, lambda: world.sim.frame_index)
    bar.get_by_role("button", name="One step").click()
    visitor.wait(lambda: world.sim.frame_index == frame + 1, "one step")
    bar.get_by_role("button", name="Start again").click()
    visitor.wait(lambda: world.sim.frame_index == 0, "the beginning")
    visitor.key("Space")  # no button has kept the focus: space plays, once
    visitor.wait(lambda: world.playing, "it to play")
    expect(bar.get_by_role("button", name="Pause the scene")).to_be_visible()


def test_the_bar_slows_down(visitor: Visitor) -> None:
    world, speed = visitor.playground.world, visitor.page.get_by_label("Slow motion")
    speed.select_option(label="¼ ×")
    visitor.wait(lambda: world.speed == 0.25, "slow motion")
    visitor.key("5")
    visitor.wait(lambda: world.speed == 1.0, "real time")
    expect(speed).to_have_value("1")


def test_the_bar_works_by_keyboard(visitor: Visitor) -> None:
    """A button that has the focus takes Enter and space for itself: they are not viser's keys as well."""
    world, bar = visitor.playground.world, visitor.page.get_by_role("toolbar")
    button = bar.locator("#turgor-play")
    for key in ("Space", "Enter"):
        before = world.playing
        button.focus()
        visitor.page.keyboard.press(key)
        expect(button).to_have_accessible_name("Play the scene" if before else "Pause the scene")
        visitor.turns(5)
        assert world.playing is not before
        expect(button).to_be_focused()
    visitor.page.keyboard.press("Tab")
    expect(bar.get_by_role("button", name="One step")).to_be_focused()


def test_the_bar_brings_the_camera_back(visitor: Visitor) -> None:
    visitor.settled()
    place = tuple(visitor.camera.position)
    visitor.look((9.0, 9.0, 9.0), (0.0, 0.0, 0.0))
    visitor.page.get_by_role("button", name="See all").click()
    visitor.wait(lambda: tuple(visitor.camera.position) == pytest.approx(place, abs=0.5), "the camera to come back")


def test_the_bar_is_large_enough_and_over_the_picture(visitor: Visitor) -> None:
    canvas, bar = visitor.canvas, visitor.page.get_by_role("toolbar")
    box = bar.bounding_box()
    assert box is not None
    assert canvas["x"] <= box["x"]
    assert box["x"] + box["width"] <= canvas["x"] + canvas["width"]
    for control in bar.locator("button, select").all():
        size = control.bounding_box()
        assert size is not None
        assert min(size["width"], size["height"]) >= 40


# --- the hint


@pytest.mark.req("A9")
def test_the_hint_goes_after_the_first_drag(visitor: Visitor) -> None:
    hint = visitor.page.locator("#turgor-hint")
    expect(hint).to_have_text("Drag a ball")
    expect(hint).to_be_visible()
    playground = visitor.playground
    visitor.page.get_by_role("button", name="See all").click()
    visitor.settled()
    ask(playground, setattr, playground.world, "playing", False)
    x, y = visitor.pixel(ask(playground, lambda: playground.world.sim["ball"].center.copy()))
    visitor.press(x, y)
    visitor.move((x, y), (x + 6, y - 6), steps=3)
    visitor.wait(lambda: playground.world.grabbed, "the ball to be held")
    expect(hint).to_be_hidden()
    visitor.release()
    ask(playground, playground.open, gallery.load("drop"))
    expect(visitor.page.locator("#turgor-sign")).to_be_hidden()
    expect(hint).to_be_hidden()


# --- help, files, links


def test_h_and_the_question_mark_show_the_keys(visitor: Visitor) -> None:
    page = visitor.page
    help_text = page.get_by_role("dialog", name="Keys")
    for key in ("h", "?"):
        visitor.key(key)
        expect(help_text).to_be_visible()
        page.keyboard.press("Escape")
        expect(help_text).to_be_hidden()
    page.get_by_role("toolbar").get_by_role("button", name="Keys").click()
    help_text.get_by_role("button", name="Close").click()
    expect(help_text).to_be_hidden()


def drop_file(visitor: Visitor, name: str, content: str) -> None:
    """As when a file is dragged from the desktop and dropped on the picture."""
    parcel = visitor.page.evaluate_handle(
        """([name, content]) => {
            const parcel = new DataTransfer();
            parcel.items.add(new File([content], name));
            return parcel;
        }""",
        [name, content],
    )
    for kind in ("dragover", "drop"):
        visitor.page.dispatch_event("canvas[data-engine]", kind, {"dataTransfer": parcel})


def test_a_mesh_that_is_dropped_on_the_page_becomes_a_body(visitor: Visitor) -> None:
    world = visitor.playground.world
    count = len(world.scene.bodies)
    drop_file(visitor, "ball.obj", trimesh.creation.icosphere(2).export(file_type="obj"))
    visitor.page.get_by_role("button", name="Add it", exact=True).first.click(timeout=PATIENCE)  # of the message
    visitor.wait(lambda: len(world.scene.bodies) == count + 1, "the body", seconds=60)
    assert visitor.page.locator('input[accept=".turgor-drop"]').locator("xpath=..").is_hidden()


def test_a_link_carries_the_scene_to_another_page(visitor: Visitor) -> None:
    page, playground = visitor.page, visitor.playground
    visitor.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator("#turgor-sign")).to_contain_text("The link is copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith(f"{playground.url}/#scene=")
    assert scene_of_link(copied) == ask(playground, lambda: playground.world.scene)
    visitor.context.clear_permissions()

    def follow(link: str) -> None:
        page.evaluate("hash => { location.hash = hash }", link)
        page.get_by_role("button", name="Open the scene").click()

    follow(link_of(gallery.load("drop")))
    visitor.wait(lambda: playground.world.scene == gallery.load("drop"), "the scene of the link", seconds=60)
    follow("#scene=AAAA")
    visitor.alert("the link is damaged or cut short; copy all of it").wait_for(timeout=PATIENCE)
    assert playground.world.scene.name == "drop"
    visitor.dismiss_alerts()


# --- dark


def background(visitor: Visitor) -> tuple[float, float]:
    """Lightness of the picture, 0 to 255: at its top, where nothing is, and of the floor below the bodies."""
    grey = visitor.picture().mean(axis=-1)
    return float(np.median(grey[:20, -100:])), float(np.median(grey[-150:-120]))


def test_the_page_follows_the_system_into_the_dark_and_back(visitor: Visitor) -> None:
    page, playground = visitor.page, visitor.playground
    html = page.locator("html")
    expect(html).to_have_attribute("data-mantine-color-scheme", "light")
    assert min(background(visitor)) > 200
    page.emulate_media(color_scheme="dark")
    expect(html).to_have_attribute("data-mantine-color-scheme", "dark")
    visitor.wait(lambda: max(background(visitor)) < 80, "background and floor to be dark")
    assert playground.dark.clients == {visitor.id}  # and no other page
    ask(playground, playground.open, gallery.load("drop"))  # new nodes are shown to all alike at first
    visitor.wait(lambda: playground.shown[0] == playground.world.version, "the new nodes")
    visitor.wait(lambda: max(background(visitor)) < 80, "the floor to be dark again")
    page.emulate_media(color_scheme="light")
    expect(html).to_have_attribute("data-mantine-color-scheme", "light")
    visitor.wait(lambda: min(background(visitor)) > 200, "background and floor to be light")
