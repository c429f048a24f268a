"""The page's shell without a browser: the page that is sent, the news that it reads, and who may read them."""

from __future__ import annotations

import contextlib
import html.parser
import json
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import turgor
from support.play_helpers import exchange, get, guarded
from support.waiting import until
from turgor import gallery, shapes
from turgor.errors import TurgorError
from turgor.viewer.page.playground import Playground
from turgor.viewer.page.shell import hint_of
from turgor.viewer.server import answers
from turgor.viewer.server.answers import LINK, NEWS
from turgor.viewer.server.client_finish import finished
from turgor.viewer.server.gate import Gate
from turgor.viewer.server.shell_page import shell_page
from turgor.viewer.server.viser_private import client_page

pytestmark = pytest.mark.req("X8")
OWN = "X-Turgor-Page: 1"


@pytest.fixture(scope="module")
def playground() -> Iterator[Playground]:
    with Playground(gallery.load("drop-2d"), port=0) as playground:
        yield playground


@contextlib.contextmanager
def reader(gate: Gate, *headers: str) -> Iterator[Any]:
    """The news as a page reads them: a line for each change."""
    with socket.create_connection(("127.0.0.1", gate.port), 20) as link:
        head = [f"GET {NEWS} HTTP/1.1", f"Host: 127.0.0.1:{gate.port}", OWN, *headers]
        link.sendall(("\r\n".join(head) + "\r\n\r\n").encode())
        lines = link.makefile("rb")
        assert next(lines) == b"HTTP/1.1 200 OK\r\n"
        while next(lines) != b"\r\n":
            pass
        yield map(json.loads, lines)


# --- the page


def test_the_page_is_visers_with_the_shell_in_it(playground: Playground) -> None:
    status, answer = get(playground.gate)
    head, _, body = answer.partition(b"\r\n\r\n")
    page = body.decode()
    assert status == 200
    assert b"Content-Type: text/html; charset=utf-8" in head
    assert get(playground.gate, "/index.html")[1] == answer
    assert "<title>turgor</title>" in page
    # All of viser's program is there, and what is seen first stands before it runs.
    program = re.search("<script data-p=.*</script>", finished(client_page()), re.S)
    assert program is not None
    assert program[0] in page
    assert "turgor is loading" in page


def test_the_shell_asks_nobody_else_for_anything() -> None:
    page = shell_page().page.decode().replace(client_page(), "")
    ours = page.partition("<script data-p=")[0] + page.rpartition("<body>")[2]
    assert not re.search(r"https?:(?!//www\.w3\.org/)", ours)
    assert "innerHTML" not in ours  # names of scenes are text


class Keys(html.parser.HTMLParser):
    """The keys that the shell presses, as viser's commands name them."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if code := dict(attrs).get("data-key"):
            self.found.add(re.sub("^(Key|Digit)", "", code).lower())


def hotkeys(playground: Playground) -> set[str]:
    commands = playground.server.gui._command_handle_from_uuid.values()
    return {command.hotkey.lower() for command in commands if command.hotkey and not command.modifier}


def test_every_button_of_the_bar_presses_the_key_of_a_command(playground: Playground) -> None:
    keys = Keys()
    keys.feed(shell_page().page.decode())
    assert keys.found >= {"space", "n", "r", "f", "1", "5"}
    assert keys.found <= hotkeys(playground)


def test_the_help_lists_exactly_the_keys_there_are(playground: Playground) -> None:
    told = {key.lower() for key in re.findall("<kbd>(.*?)</kbd>", shell_page().page.decode())}
    assert told == hotkeys(playground)


# --- the news


def test_news_tell_what_the_playground_does(playground: Playground) -> None:
    with reader(playground.gate) as news:
        first = next(news)
        while first["busy"]:
            first = next(news)
        assert first["scene"] == "drop-2d"
        assert first["playing"] is True
        assert first["speed"] == 1.0
        assert first["hint"] == "Drag the ball"
        assert first["again"] == "turgor play drop-2d"
        playground.do(setattr, playground.world, "playing", False)
        while (now := next(news))["playing"]:
            pass
        assert {**now, "playing": True} == first  # one line, of what has changed
        playground.do(setattr, playground.world, "playing", True)


def settled(news: Any) -> Any:
    """The first news by which it plays and is not busy: what a test before has asked for may still be on its way."""
    while (now := next(news))["busy"] or not now["playing"]:
        pass
    return now


def test_a_scene_that_is_opened_is_told_before_it_is_built(playground: Playground) -> None:
    with reader(playground.gate) as news:
        settled(news)
        playground.do(playground.open, gallery.load("inflate-2d"))
        told = [next(news)]
        while told[-1]["busy"] or not told[-1]["playing"]:
            told.append(next(news))
    assert told[0]["busy"] == "Opening inflate-2d: preparing kernels"
    assert told[-1]["scene"] == "inflate-2d"
    assert playground.world.sim.frame_index > 0


def impossible() -> turgor.Scene:
    """A scene that the engine refuses when it is built: that solver does not know that contact."""
    scene = turgor.Scene(name="impossible")
    scene.add_soft_body(shapes.icosphere(radius=0.5, subdivisions=1))
    scene.set("simulation.solver", "implicit")
    scene.set("simulation.contact", "bounding")
    return scene


def test_a_scene_that_cannot_be_built_leaves_no_sign(playground: Playground) -> None:
    scene = impossible()
    with reader(playground.gate) as news:
        before = settled(news)
        playground.do(playground.open, scene)
        assert next(news)["busy"] == "Opening impossible: preparing kernels"
        assert next(news) == before


def test_news_end_with_the_playground() -> None:
    with Playground(gallery.load("drop-2d"), port=0) as opened, reader(opened.gate) as news:
        next(news)
        opened.close()
        with contextlib.suppress(ConnectionError):
            list(news)
        opened.gate.answers.news.tell({"late": True})  # nobody is there, and nothing happens


def test_who_does_not_read_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "MOST_WAITING", 1000)
    with guarded() as (_, gate), reader(gate):
        until(lambda: gate.answers.news.readers)
        for number in range(100_000):
            gate.answers.news.tell({"text": "x" * 1000, "number": number})
            if not gate.answers.news.readers:
                break
        assert not gate.answers.news.readers
        until(lambda: not gate.fronts)


def test_the_way_to_start_again_is_the_users_own(tmp_path: Path) -> None:
    scene = turgor.Scene(dim=2, name="mine")
    for options, again in (({}, "turgor play"), ({"path": tmp_path / "my.toml"}, "turgor play my.toml")):
        scene.save(tmp_path / "my.toml")
        with Playground(scene, port=0, **options) as opened, reader(opened.gate) as news:
            assert next(news)["again"] == again
    with Playground(turgor.Simulation(gallery.load("drop-2d")), port=0) as opened, reader(opened.gate) as news:
        assert next(news)["again"] == "sim.show()"


# --- who may read them


def test_our_own_paths_are_for_our_own_page(playground: Playground) -> None:
    gate = playground.gate
    for path in (NEWS, LINK, "/turgor/", "/turgor/other"):
        assert get(gate, path)[0] == 403  # a page of another site can send no header of its own
        assert get(gate, path, OWN, "Origin: http://evil.example")[0] == 403
        assert get(gate, path, OWN, host="evil.example")[0] == 403
        assert get(gate, f"{path}?x=1", OWN)[0] == 403
    asked = (
        f"OPTIONS {NEWS} HTTP/1.1\r\nHost: 127.0.0.1:{gate.port}\r\nOrigin: http://evil.example\r\n"
        "Access-Control-Request-Headers: x-turgor-page\r\n\r\n"
    )
    answer = exchange(gate.port, asked.encode())
    assert answer.startswith(b"HTTP/1.1 405 ")
    assert b"access-control" not in answer.lower()


def test_opened_up_the_token_is_needed() -> None:
    with Playground(gallery.load("drop-2d"), host="0.0.0.0", port=0) as opened:
        for path in ("/", NEWS, LINK):
            status, answer = get(opened.gate, path, OWN)
            assert status == 403
            assert b"drop-2d" not in answer
            assert b"<html" not in answer
        with reader(opened.gate, f"Cookie: turgor_{opened.port}={opened.gate.token}") as news:
            assert next(news)["scene"] == "drop-2d"


# --- the hint


@pytest.mark.parametrize(
    ("scene", "hint"),
    [("five-balls", "Drag a ball"), ("hanging-ball", "Drag the ball"), ("flag", "Drag the cloth"),
     ("letters", "Drag a letter"), ("hand-and-ball", "Drag the hand"), ("pile", "Drag a ball")],
)  # fmt: skip
def test_the_hint_names_what_is_there(scene: str, hint: str) -> None:
    assert hint_of(gallery.load(scene)) == hint


def test_the_hint_of_other_scenes() -> None:
    assert hint_of(turgor.Scene()) == ""
    scene = turgor.Scene()
    scene.add_rigid_body(shapes.box(size=(1, 1, 1)), mass=1.0)
    assert hint_of(scene) == "Drag a body"


# --- the start


def test_the_page_can_be_opened_before_the_scene_is_built() -> None:
    """Its kernels may have to be compiled first; the page is there by then, and says so."""
    seen: list[Any] = []

    def look(url: str) -> None:
        gate = Gate(1, port=int(url.rpartition(":")[2]))
        seen.append(get(gate)[0])
        with reader(gate) as news:
            seen.append(next(news))

    with Playground(gallery.load("drop-2d"), port=0, on_address=look) as opened:
        assert opened.world.scene.name == "drop-2d"
    assert seen[0] == 200
    assert seen[1]["busy"] == "Opening drop-2d: preparing kernels"


def test_a_scene_that_cannot_be_built_leaves_no_server() -> None:
    scene = impossible()
    addresses: list[str] = []
    with pytest.raises(TurgorError):
        Playground(scene, port=0, on_address=addresses.append)
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", int(addresses[0].rpartition(":")[2])), 5)
