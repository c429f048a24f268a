"""Files that pages send to the playground: sizes are bounded, names are harmless, meshes are checked."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import trimesh
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from support import ugly_meshes
from support.play_helpers import CAMERA, PROTOCOL
from support.waiting import until
from turgor import shapes
from turgor.errors import MeshError
from turgor.scene import Gas, Scene
from turgor.simulation.simulation import Simulation
from turgor.viewer.server import uploaded_mesh
from turgor.viewer.server.upload_limits import MAX_UPLOAD_BYTES, limit_uploads, shown_name
from turgor.viewer.server.uploaded_mesh import MAX_VERTICES, read_mesh
from turgor.viewer.server.viser_private import transfers
from turgor.viewer.server.viser_server import open_server

pytestmark = pytest.mark.req("X8")
LIMIT = 1_000_000  # bytes


class Desk:
    """A server with an upload button: what arrived and what was refused, in the order it happened."""

    def __init__(self) -> None:
        self.server = open_server()
        self.events: queue.Queue[tuple[str, Any]] = queue.Queue()
        limit_uploads(self.server, LIMIT, lambda client, sentence: self.events.put(("refused", (client, sentence))))
        self.button = self.server.gui.add_upload_button("mesh")
        self.button.on_upload(lambda event: self.events.put(("arrived", event.target.value)))
        self.transfers = transfers(self.server)

    def page(self) -> Page:
        return Page(self)

    def next(self) -> tuple[str, Any]:
        return self.events.get(timeout=20)


class Page:
    """A browser's page, as far as uploads go."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        before = set(desk.server.get_clients())
        self.link: ClientConnection = connect(
            f"ws://127.0.0.1:{desk.server.get_port()}/",
            subprotocols=[PROTOCOL],  # type: ignore[list-item]
            max_size=None,
        )
        self.send(**CAMERA)
        until(lambda: set(desk.server.get_clients()) - before)
        (self.client_id,) = set(desk.server.get_clients()) - before

    def send(self, **message: Any) -> None:
        self.link.send(msgspec.msgpack.encode(message))

    def start(self, size: Any, parts: Any, name: Any = "a.obj", transfer: Any = "t") -> None:
        self.send(
            type="FileTransferStartUpload", source_component_uuid=self.desk.button._impl.uuid, transfer_uuid=transfer,
            filename=name, mime_type="", part_count=parts, size_bytes=size,
        )  # fmt: skip

    def part(self, index: Any, content: Any, transfer: str = "t") -> None:
        self.send(
            type="FileTransferPart", source_component_uuid=self.desk.button._impl.uuid, transfer_uuid=transfer,
            part_index=index, content=content,
        )  # fmt: skip

    def heard(self, word: bytes) -> bytes:
        """The next message to this page that has this word in it, unpacked."""
        import zstandard

        while True:
            raw = bytes(self.link.recv(timeout=20))
            size = int.from_bytes(raw[8:16], "little")
            plain = zstandard.ZstdDecompressor().decompress(raw[16 : 16 + size])
            if word in plain:
                return plain


@pytest.fixture
def desk() -> Iterator[Desk]:
    made = Desk()
    yield made
    made.server.stop()


# --- how much


def test_a_file_arrives_whatever_the_order_of_its_parts(desk: Desk) -> None:
    page = desk.page()
    page.start(7, 3)
    for index, content in ((2, b"g"), (0, b"abc"), (0, b"xxx"), (9, b"x"), (-1, b"x"), (1, b"def")):
        page.part(index, content)
    kind, file = desk.next()
    assert (kind, file.name, file.content) == ("arrived", "a.obj", b"abcdefg")
    assert not desk.transfers
    assert b"FileTransferPartAck" in page.heard(b"FileTransferPartAck")
    stored = desk.server._websock_server._broadcast_buffer.message_from_id.values()
    assert not [message for message in stored if type(message).__name__ == "FileTransferPartAck"]  # none kept for all


def test_a_file_of_the_limit_arrives_and_one_byte_more_is_refused(desk: Desk) -> None:
    page = desk.page()
    page.start(LIMIT + 1, 1, "../big.obj")
    kind, (client, sentence) = desk.next()
    assert (kind, client) == ("refused", page.client_id)
    assert sentence.startswith("big.obj: 1.0 MiB is more than the limit of 1.0 MiB")
    assert not desk.transfers
    assert b"upload-t" in page.heard(b"RemoveNotification")  # the progress bar of the page goes
    page.part(0, bytes(LIMIT + 1))  # a page goes on sending; nothing is kept
    page.start(LIMIT, 1, transfer="u")
    page.part(0, bytes(LIMIT), transfer="u")
    kind, file = desk.next()
    assert (kind, len(file.content)) == ("arrived", LIMIT)


@pytest.mark.parametrize("parts", [[b"x" * 11], [b"x" * 6, b"x" * 6], [b"x" * 4, b"x" * 5], [b""]])
def test_who_sends_another_size_than_announced_is_cut(desk: Desk, parts: list[bytes]) -> None:
    page = desk.page()
    page.start(10, 2 if len(parts) > 1 else 1)
    for index, content in enumerate(parts):
        page.part(index, content)
    kind, (_, sentence) = desk.next()
    assert kind == "refused"
    assert "size is not the one that was announced" in sentence
    assert not desk.transfers


@pytest.mark.parametrize(("size", "parts"), [(0, 0), (-5, 1), (10, 0), (10, 11), (10, -1), (10, 10**9)])
def test_impossible_announcements_are_refused(desk: Desk, size: int, parts: int) -> None:
    desk.page().start(size, parts)
    assert desk.next()[0] == "refused"
    assert not desk.transfers


NONSENSE = [
    ("x", 1, "a", "t"),
    (1, None, "a", "t"),
    (1, 1, 5, "t"),
    (1, 1, "a", 7),
    (float("nan"), 1, "a", "t"),
    ([], {}, [], {}),
]


@pytest.mark.parametrize("announcement", NONSENSE)
def test_a_nonsensical_announcement_harms_nobody(desk: Desk, announcement: tuple[Any, ...]) -> None:
    page, other = desk.page(), desk.page()
    with contextlib.suppress(ConnectionClosed):  # viser itself ends some of them
        page.start(*announcement)
        page.link.ping().wait(1)
    assert not desk.transfers
    other.start(2, 2, transfer="other")
    other.part(0, b"a", transfer="other")
    with contextlib.suppress(ConnectionClosed):
        for index, content in (("0", b"x"), (0, "text"), (None, b"x"), (1, 5), (1, [b"x"])):
            page.part(index, content, transfer="other")
        page.link.ping().wait(1)
    other.part(1, b"b", transfer="other")
    kind, file = desk.next()
    assert (kind, file.content) == ("arrived", b"ab")


def test_the_number_of_transfers_is_bounded(desk: Desk) -> None:
    first, second, third = desk.page(), desk.page(), desk.page()
    for page, transfer in ((first, "a"), (first, "b"), (second, "c"), (second, "d")):
        page.start(LIMIT - 2000, 2, transfer=transfer)
        until(lambda transfer=transfer: transfer in desk.transfers)
    for page in (first, third):  # the first has two on their way already; the third would be too much for all
        page.start(10 if page is first else LIMIT, 1, transfer="e")
        assert "still on their way" in desk.next()[1][1]
    third.part(0, b"x", transfer="a")  # nor can one add to, or take over, the file of another
    third.start(5, 1, transfer="a")
    third.start(5000, 1, transfer="f")
    third.part(0, bytes(5000), transfer="f")
    assert desk.next()[0] == "arrived"
    assert desk.transfers["a"]["client_id"] == first.client_id
    assert not desk.transfers["a"]["parts"]
    first.link.close()
    second.link.close()
    until(lambda: not desk.transfers)


def test_a_client_that_viser_would_not_clean_up_after_is_ignored(desk: Desk) -> None:
    page = desk.page()
    shy = connect(
        f"ws://127.0.0.1:{desk.server.get_port()}/",
        subprotocols=[PROTOCOL],  # type: ignore[list-item]
    )
    page.link, shown = shy, page.link
    page.start(10, 2, transfer="shy")
    shy.ping().wait(20)
    page.link = shown
    page.start(10, 2, transfer="shown")
    until(lambda: "shown" in desk.transfers)
    assert "shy" not in desk.transfers
    shy.close()


# --- names


NAMES = [
    "../../etc/passwd.obj", "/etc/passwd.obj", "..\\..\\windows\\win.obj", "C:\\a.obj", "a\x00b.obj", "\x1b[31m.obj",
    "x" * 100_000 + ".obj", "мяч 球 🎈.obj", "<img src=x onerror=alert(1)>.obj", "~/a.obj", "$(touch hacked).obj",
    "a.txt\n.obj", "con.obj", "%2e%2e%2fa.obj", "[a](javascript:b).obj", "`a`.OBJ",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_names_are_harmless(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    (shape,), report = read_mesh(name, obj(shapes.box()))
    assert shape.volume == pytest.approx(1.0)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["here", "temporary"]  # nothing is left anywhere
    assert len(report.source) <= 60
    assert not set(report.source) & set("/\\<>`$()[]{}*\"'&%\x00\n\x1b:~")
    with pytest.raises(MeshError) as caught:
        read_mesh(name, b"nothing")
    assert str(tmp_path) not in str(caught.value)
    assert str(caught.value).startswith(f"{report.source}: ")


@pytest.mark.parametrize(
    "name", ["", ".", "..", "/", "obj", ".obj", "a.", "a.py", "a.toml", "a.obj/", "a.obj.gz", "a.dae"]
)
def test_only_mesh_endings_are_read(name: str) -> None:
    with pytest.raises(MeshError, match=r"unknown mesh format .*use one of \.glb, \.obj, \.off, \.ply, \.stl"):
        read_mesh(name, obj(shapes.box()))
    assert shown_name(name)


def test_the_name_of_a_file_is_cleaned_before_anybody_sees_it(desk: Desk) -> None:
    page = desk.page()
    page.start(1, 1, "../../<b>" + "x" * 5000 + ".obj")
    page.part(0, b"x")
    file = desk.next()[1]
    assert len(file.name) <= 60
    assert file.name.endswith(".obj")
    assert "<" not in file.name


# --- meshes


def obj(shape: shapes.Shape) -> bytes:
    lines = ["v {:.9g} {:.9g} {:.9g}".format(*vertex) for vertex in shape.vertices]
    return "\n".join([*lines, *("f {} {} {}".format(*(face + 1)) for face in shape.faces)]).encode()


@pytest.mark.parametrize("form", ["obj", "stl", "ply", "off", "glb"])
def test_an_uploaded_mesh_is_kept_in_the_scene_file(form: str, tmp_path: Path) -> None:
    ball = shapes.icosphere(0.37, 2)
    content = trimesh.Trimesh(ball.vertices, ball.faces, process=False).export(file_type=form)
    (shape,), report = read_mesh(f"ball.{form}", content if isinstance(content, bytes) else content.encode())
    assert report.ok
    assert report.source == f"ball.{form}"
    assert shape.volume == pytest.approx(ball.volume, rel=1e-5)
    scene = Scene(name="uploaded")
    scene.add_ground()
    scene.add_soft_body(shape, name="ball", at=(0, 0, 0.5), gas=Gas(gauge=100.0))
    (tmp_path / "elsewhere").mkdir()
    path = tmp_path / "elsewhere" / "scene.toml"
    path.write_text(scene.to_toml())
    assert tempfile.gettempdir() not in path.read_text()
    again = Scene.load(path)
    assert again == scene
    np.testing.assert_array_equal(again["ball"].shape.vertices, shape.vertices)  # type: ignore[union-attr]
    np.testing.assert_array_equal(again["ball"].shape.faces, shape.faces)  # type: ignore[union-attr]
    results = []
    for one in (scene, again):
        simulation = Simulation(one)
        simulation.run(0.1)
        results.append(simulation["ball"].positions.copy())
    np.testing.assert_array_equal(results[0], results[1])
    assert np.isfinite(results[0]).all()
    assert results[0][:, 2].min() < shape.vertices[:, 2].min() + 0.5  # it fell


def test_size_makes_it_fit() -> None:
    ball = shapes.icosphere(250.0, 2)
    (shape,), _ = read_mesh("ball.obj", obj(shapes.Shape(ball.vertices + 1000.0, ball.faces, "surface", {})), size=0.8)
    low, high = shape.vertices.min(axis=0), shape.vertices.max(axis=0)
    assert np.max(high - low) == pytest.approx(0.8, rel=1e-6)
    np.testing.assert_allclose(low + high, 0.0, atol=1e-6)
    assert shapes.from_recipe(shape.recipe).volume == shape.volume


def test_of_several_shells_the_largest_is_taken() -> None:
    small, large = shapes.box((0.2, 0.2, 0.2)), shapes.box()
    content = obj(shapes.Shape(*ugly_meshes.joined((small.vertices + 3, small.faces), (large.vertices, large.faces)),
                               "surface", {}))  # fmt: skip
    (shape,), report = read_mesh("two.obj", content)
    assert shape.volume == pytest.approx(1.0)
    assert len(report.shells) == 2


@pytest.mark.parametrize("name", sorted(ugly_meshes.FILES))
def test_ugly_files_are_refused_with_their_name(name: str) -> None:
    file, content, _ = ugly_meshes.FILES[name]
    with pytest.raises(MeshError) as caught:
        read_mesh(file, content)
    assert str(caught.value).startswith(f"{shown_name(file)}: ")
    assert tempfile.gettempdir() not in str(caught.value)


def test_an_open_mesh_is_refused_unless_holes_are_to_be_closed() -> None:
    box = shapes.box()
    content = obj(shapes.Shape(box.vertices, box.faces[1:], "sheet", {}))
    with pytest.raises(MeshError, match=r'^open\.obj: the surface is open: 1 hole .* with "Close the holes"'):
        read_mesh("open.obj", content)
    (shape,), report = read_mesh("open.obj", content, close_holes=True)
    assert shape.volume == pytest.approx(1.0)
    assert report.repaired


@pytest.mark.req("X15")
def test_an_uploaded_mesh_is_turned_simplified_and_taken_in_parts(tmp_path: Path) -> None:
    """A tower that stands along y, and a smaller ball that overlaps it; a second ball apart."""
    tower, ball = shapes.box((1.0, 3.0, 1.0), 12), shapes.icosphere(0.7, 3)
    lifted = (ball.vertices + np.array([0, 1.8, 0]), ball.faces)
    apart = (ball.vertices + np.array([4.0, 0, 0]), ball.faces)
    content = obj(shapes.Shape(*ugly_meshes.joined((tower.vertices, tower.faces), lifted, apart), "surface", {}))
    given = {"size": 2.0, "up": "y", "vertices": 150}
    (one,), report = read_mesh("toy.obj", content, **given)  # type: ignore[arg-type]
    assert np.ptp(one.vertices, axis=0) == pytest.approx([2 / 3, 2 / 3, 2.0], rel=1e-5)
    assert len(one.vertices) == 150
    assert len(report.shells) == 3
    assert any("simplified" in sentence for sentence in report.fitted)
    parts, _ = read_mesh("toy.obj", content, parts="all", **given)  # type: ignore[arg-type]
    assert [len(part.vertices) for part in parts] == [150, 150, 150]
    joined, report = read_mesh("toy.obj", content, parts="union", **given)  # type: ignore[arg-type]
    assert len(joined) == 2
    assert "joined 3 shells into 2" in report.fitted
    for several in (parts, joined):
        box = np.concatenate([part.vertices for part in several])
        assert np.ptp(box, axis=0).max() == pytest.approx(2.0, rel=1e-5)
        for part in several:
            assert shapes.check(part).clean
            assert shapes.from_recipe(part.recipe).volume == part.volume
    with pytest.raises(MeshError, match=r"^toy\.obj: up must be one of"):
        read_mesh("toy.obj", content, up="up")


def test_a_mesh_that_is_simplified_may_be_larger() -> None:
    ball = obj(shapes.icosphere(1.0, 3))
    with pytest.raises(MeshError, match="more than the limit of 400; simplify it"):
        read_mesh("b.obj", ball, max_vertices=100)
    (shape,), _ = read_mesh("b.obj", ball, max_vertices=100, vertices=90)
    assert len(shape.vertices) == 90


def test_limits() -> None:
    ball = obj(shapes.icosphere(1.0, 2))  # 162 vertices, 320 faces
    with pytest.raises(MeshError, match=r"^b\.obj: .* is more than the limit of"):
        read_mesh("b.obj", ball, max_bytes=len(ball) - 1)
    with pytest.raises(MeshError, match=r"^b\.obj: 162 vertices are more than the limit of 161; simplify it"):
        read_mesh("b.obj", ball, max_vertices=161)
    with pytest.raises(MeshError, match=r"^b\.obj: 320 triangles are more than the limit of 200; simplify it"):
        read_mesh("b.obj", ball, max_vertices=50)
    assert len(read_mesh("b.obj", ball, len(ball), 162)[0][0].vertices) == 162
    assert (MAX_UPLOAD_BYTES, MAX_VERTICES) == (16 * 1024**2, 50_000)


def test_a_small_file_cannot_ask_for_any_amount_of_memory() -> None:
    """A GLB of 1 MB in which a mesh of 5,120 triangles is put at 20,000 places: 100 million triangles."""
    ball = shapes.icosphere(1.0, 4)
    content = trimesh.Trimesh(ball.vertices, ball.faces, process=False).export(file_type="glb")
    (length,) = struct.unpack("<I", content[12:16])
    head = json.loads(content[20 : 20 + length])
    places = 20_000
    head["nodes"] = [{"mesh": 0, "name": str(i), "translation": [3 * i, 0, 0]} for i in range(places)]
    head["scenes"] = [{"nodes": list(range(places))}]
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 4)
    body = content[20 + length :]
    bomb = (
        content[:8]
        + struct.pack("<I", 20 + len(text) + len(body))
        + struct.pack("<I", len(text))
        + b"JSON"
        + text
        + body
    )
    with pytest.raises(MeshError, match=r"^bomb\.glb: it repeats its meshes too often"):
        read_mesh("bomb.glb", bomb)


def test_the_temporary_folder_is_private(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    original = uploaded_mesh.read

    def look(path: Path) -> Any:
        seen.append((os.stat(path.parent).st_mode & 0o777, path))
        return original(path)

    monkeypatch.setattr(uploaded_mesh, "read", look)
    read_mesh("../a.obj", obj(shapes.box()))
    ((mode, path),) = seen
    assert mode == 0o700
    assert path.name == "mesh.obj"
    assert not path.parent.exists()
