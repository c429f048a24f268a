"""Links that carry a scene, and scenes that come as files: what is refused, and that no file is read for a stranger."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import trimesh

import turgor
from common.chromium import ask, listen
from support.play_helpers import get
from support.waiting import until
from turgor import Scene, gallery, shapes
from turgor.errors import SceneError
from turgor.viewer.page.playground import Playground
from turgor.viewer.server.answers import LINK
from turgor.viewer.world.scene_link import MARK, MAX_PACKED, MAX_TEXT, link_of, scene_of_link, scene_of_text, unpacked

pytestmark = pytest.mark.req("X8")
OWN = "X-Turgor-Page: 1"


def link(content: bytes) -> str:
    return MARK + base64.urlsafe_b64encode(zlib.compress(content)).rstrip(b"=").decode()


@pytest.mark.parametrize("name", gallery.names())
def test_every_scene_of_the_gallery_goes_into_a_link_and_comes_out_equal(name: str) -> None:
    scene = gallery.load(name)
    text = link_of(scene)
    assert text.startswith("#scene=")
    assert set(text[len(MARK) :]) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    assert scene_of_link(text) == scene
    assert scene_of_link(f"http://127.0.0.1:8080/{text}") == scene


@pytest.mark.parametrize("code", ["", "x", "????", "AAAA", link(b"x")[7:-4], link(b"x" * 3000)[7:-8], "é"])
def test_a_damaged_link_is_told_in_one_sentence(code: str) -> None:
    with pytest.raises(SceneError, match="damaged or cut short; copy all of it"):
        scene_of_link(MARK + code)


def test_what_follows_a_packed_scene_is_not_accepted() -> None:
    with pytest.raises(SceneError, match="damaged"):
        unpacked(zlib.compress(b"dim = 3") + b"more")


def test_a_small_link_cannot_become_a_large_scene() -> None:
    bomb = zlib.compress(b"#" * (MAX_TEXT + 1))
    assert len(bomb) < 2000
    with pytest.raises(SceneError, match="larger than 1024 KiB"):
        unpacked(bomb)
    assert len(unpacked(zlib.compress(b"#" * (MAX_TEXT - 1)))) == MAX_TEXT - 1
    with pytest.raises(SceneError, match="longer than 24 KiB"):
        unpacked(np.random.default_rng(0).bytes(MAX_PACKED + 1))
    with pytest.raises(SceneError, match=r"big\.toml: more than 1024 KiB"):
        scene_of_text(b"#" * (MAX_TEXT + 1), "big.toml")


def test_a_scene_that_is_too_large_for_a_link_says_so() -> None:
    scene = Scene()
    vertices = np.random.default_rng(1).normal(size=(2562, 3)) * 1e-3 + shapes.icosphere(0.5, 4).vertices
    scene.add_soft_body(shapes.mesh(vertices.tolist(), shapes.icosphere(0.5, 4).faces.tolist()))
    with pytest.raises(SceneError, match=r"takes \d+ KiB, and a link carries 24; send the scene file"):
        link_of(scene)


@pytest.mark.parametrize(
    "line", ['shape = { file = "/etc/passwd" }', 'shape = { letter = { letter = "A", font = "/etc/passwd" } }',
             'shape = { file = "a.obj", parts = "all" }'],
)  # fmt: skip
def test_a_scene_that_was_sent_reads_no_file(line: str) -> None:
    text = f"dim = 3\n[[soft_body]]\nname = 'x'\n{line}\n".encode()
    for source in (lambda: scene_of_link(link(text)), lambda: scene_of_text(text, "x.toml")):
        with pytest.raises(SceneError, match=r"names the file '.*', which others do not have"):
            source()
    cloth = b"dim = 3\n[[cloth]]\nname = 'x'\nshape = { sheet = { } }\ntexture = '/etc/passwd'\n"
    with pytest.raises(SceneError, match="names the file '/etc/passwd'"):
        scene_of_link(link(cloth))


def test_a_scene_of_files_of_ones_own_gets_no_link(tmp_path: Path) -> None:
    trimesh.creation.icosphere(2).export(tmp_path / "ball.obj")
    scene = Scene()
    scene.add_soft_body(shapes.load(tmp_path / "ball.obj"))
    with pytest.raises(SceneError, match="names the file"):
        link_of(scene)


@pytest.mark.parametrize("content", [b"dim = ", b"\xff\xfe", b"dim = 7", b"[[soft_body]]\nname = 'x'", b"x = 1"])
def test_errors_of_a_scene_name_where_it_came_from(content: bytes) -> None:
    with pytest.raises(SceneError, match=r"^mine\.toml: "):
        scene_of_text(content, "mine.toml")


# --- at the playground


@pytest.fixture(scope="module")
def playground() -> Iterator[Playground]:
    with Playground(gallery.load("drop-2d"), port=0) as playground:
        yield playground


def test_the_page_gets_a_link_of_the_scene_as_it_is_now(playground: Playground) -> None:
    ask(playground, playground.world.change, "ball.mass", 2.5)
    status, answer = get(playground.gate, LINK, OWN)
    assert status == 200
    assert answer.startswith(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain")
    scene = scene_of_link(answer.partition(b"\r\n\r\n")[2].decode())
    assert scene["ball"].mass == 2.5
    assert scene == playground.world.scene


def test_files_that_are_sent_are_opened_or_refused(playground: Playground) -> None:
    told = listen(playground)
    other = gallery.load("inflate-2d")
    ask(playground, playground.share.open, "Mine.TOML", other.to_toml().encode())
    assert playground.world.scene.name == "inflate-2d"
    packed = base64.urlsafe_b64decode(link_of(gallery.load("drop-2d"))[len(MARK) :] + "==")
    ask(playground, playground.share.open, "link.scene", packed)
    assert playground.world.scene.name == "drop-2d"
    for name in ("scene.txt", "scene", "../../x.py"):
        with pytest.raises(SceneError, match="not a scene file"):
            ask(playground, playground.share.open, name, b"")
    assert told == []
    assert playground.world.scene.name == "drop-2d"


def test_a_mesh_that_is_dropped_on_a_flat_scene_is_refused_with_a_sentence(playground: Playground) -> None:
    told = listen(playground)
    file = SimpleNamespace(name="cow.obj", content=b"")
    playground.share._dropped(SimpleNamespace(target=SimpleNamespace(value=file)))
    until(lambda: told)
    assert told == [("That does not work", "cow.obj: a mesh can be added to 3D scenes only; open one first")]


def test_a_scene_without_a_name_may_be_opened(playground: Playground) -> None:
    ask(playground, playground.share.open, "x.toml", turgor.Scene(dim=2).to_toml().encode())
    assert playground.world.scene.dim == 2
