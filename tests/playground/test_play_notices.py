"""Messages of the page: in its words, with buttons that do what they say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from common.chromium import ask, listen
from support.waiting import until
from turgor import gallery
from turgor.viewer.page.playground import Playground
from turgor.viewer.page.tabs.change import ChangeTab
from turgor.viewer.page.words import CODE

pytestmark = pytest.mark.req("X8")


@pytest.fixture
def unstable(open_playground: Callable[..., Playground]) -> Playground:
    """A ball whose solver cannot do it."""
    playground = open_playground("hanging-ball", Change=ChangeTab)
    until(lambda: playground.world.sim.time > 0.2)
    ask(playground, playground.world.change, "simulation.solver", "euler")
    assert until(lambda: playground.notices.title.startswith("The simulation became unstable"))
    ask(playground, lambda: None)  # the world's thread has made its buttons
    assert not playground.world.playing
    return playground


def labels(playground: Playground) -> list[str]:
    return [label for label, _ in playground.notices.remedies]


def buttons(playground: Playground) -> list[str]:
    """Of the panel, above its tabs."""
    return [handle.label for handle in playground.notices._handles[1:]]


def test_an_unstable_simulation_offers_what_helps(unstable: Playground) -> None:
    assert labels(unstable) == ["Reset", "Use the fast solver", "Back to the scene's values"]
    assert buttons(unstable) == [*labels(unstable), "Close this message"]
    assert not CODE.search(unstable.notices.text), unstable.notices.text
    ask(unstable, unstable.notices.choose, "Use the fast solver")
    assert unstable.world.scene.simulation.solver == "implicit"
    assert (unstable.notices.title, unstable.notices._handles) == ("", [])
    start = unstable.world.sim.time
    assert until(lambda: unstable.world.sim.time > start + 0.2)


def test_the_values_of_the_scene_come_back_by_a_button(unstable: Playground) -> None:
    ask(unstable, unstable.notices.choose, "Back to the scene's values")
    assert unstable.world.scene == gallery.load("hanging-ball")
    assert unstable.world.playing


def test_a_message_goes_with_its_scene_and_a_new_one_takes_its_place(unstable: Playground) -> None:
    def offer() -> None:
        unstable.notices.say("Two", "a < b & _c_ of my_ball", "warning", [("Do it", lambda: None)])

    ask(unstable, offer)
    assert (unstable.notices.title, labels(unstable)) == ("Two", ["Do it"])
    content = unstable.notices._handles[0].content
    assert "a &lt; b &amp;" in content  # nothing of it is markup
    ask(unstable, unstable.open, gallery.load("drop"))
    assert (unstable.notices.title, unstable.notices._handles) == ("", [])


def test_a_remedy_that_fails_says_why(unstable: Playground) -> None:
    told = listen(unstable)

    def fail() -> None:
        unstable.world.change("ball.mass", -1.0)

    ask(unstable, unstable.notices.say, "Try", "it", "error", [("Try it", fail)])
    unstable.do(unstable.notices.choose, "Try it")
    assert until(lambda: any(title == "That does not work" for title, _ in told))
    assert unstable.notices.title == ""


def test_what_is_wrong_in_a_file_is_told_in_the_words_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "my.toml"
    scene = gallery.load("drop-2d")
    file.write_text(scene.to_toml())
    with Playground(scene, port=0, path=file) as playground:
        told = listen(playground)
        texts: list[str] = []
        say: Any = playground.notices.say
        playground.notices.say = lambda *each, **more: (texts.append(str(more)), say(*each, **more))  # type: ignore[method-assign]
        file.write_text(scene.to_toml().replace("stiffness", "stiffnes"))
        assert until(lambda: bool(told))
        assert told[0][0] == "my.toml has an error"
        assert "stiffnes" in told[0][1]
        assert texts == ["{'verbatim': True}"]
