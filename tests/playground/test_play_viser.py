"""The private API of viser that turgor uses is there, in one file, and in the version that was read."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import viser
import zstandard
from viser import _messages

from support.play_helpers import CAMERA, page
from support.waiting import until
from turgor.viewer.server.client_finish import CHANGES, LOADED, SPEEDS, finished
from turgor.viewer.server.viser_private import CHECKED_WITH, client_page
from turgor.viewer.server.viser_server import open_server

pytestmark = pytest.mark.req("X8")
ROOT = Path(__file__).parents[2]
VIEWER = ROOT / "src" / "turgor" / "viewer"
PRIVATE = VIEWER / "server" / "viser_private.py"
TOLD = f"turgor.viewer.server.viser_private was written for viser {CHECKED_WITH}, and this is {viser.__version__}"

MESSAGES = {
    "ShareUrlRequest": (),
    "ShareUrlDisconnect": (),
    "FileTransferStartUpload": ("filename", "part_count", "size_bytes", "source_component_uuid", "transfer_uuid"),
    "FileTransferPart": ("content", "part_index", "source_component_uuid", "transfer_uuid"),
    "FileTransferPartAck": ("source_component_uuid", "transfer_uuid", "transferred_bytes", "total_bytes"),
    "RemoveNotificationMessage": ("uuid",),
    "SceneNodeUpdateMessage": ("name", "updates"),
}


@pytest.fixture
def server() -> Iterator[viser.ViserServer]:
    server = open_server()
    yield server
    server.stop()


def has(owner: Any, *names: str) -> None:
    """Fails with a sentence that names what is missing."""
    for name in names:
        assert hasattr(owner, name), f"{type(owner).__name__} has no {name} any more: {TOLD}"


def test_the_version_is_the_one_that_was_read() -> None:
    assert viser.__version__ == CHECKED_WITH, f"{TOLD}: read its changes, then set CHECKED_WITH"


def test_pyproject_and_the_lock_bound_what_was_read() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert "viser>=1.1,<1.2" in project["optional-dependencies"]["play"]
    assert "warp-lang>=1.19,<1.20" in project["dependencies"]
    locked = dict(re.findall(r"^([\w.-]+)==(\S+)", (ROOT / "requirements.lock").read_text(encoding="utf-8"), re.M))
    assert locked["viser"] == CHECKED_WITH
    assert locked["warp-lang"].startswith("1.19.")


def test_every_private_attribute_is_there(server: viser.ViserServer) -> None:
    inner = server._websock_server
    has(inner, "register_handler", "unregister_handler", "_live_connections", "_client_connect_cb")
    has(server.gui, "_handle_file_transfer_start", "_handle_file_transfer_part", "_finish_file_upload")
    has(server.gui, "_current_file_upload_states")
    has(server.gui.add_button("a")._impl, "uuid")
    with page(server.get_port()) as link:
        link.send(msgspec.msgpack.encode(CAMERA))
        until(server.get_clients)
        (client,) = server.get_clients().values()
        has(client, "_websock_connection")
        has(client._websock_connection, "queue_message")


@pytest.mark.parametrize("name", MESSAGES)
def test_every_message_has_its_fields(name: str) -> None:
    has(_messages, name)
    fields = getattr(_messages, name).__dataclass_fields__
    assert set(MESSAGES[name]) <= set(fields), f"the fields of {name} are {', '.join(fields)}: {TOLD}"


def test_the_page_has_the_places_where_the_shell_is_put() -> None:
    for mark in ("<head>", "<body>", "<title>", '<div id="root">'):
        assert client_page().count(mark) == 1, f"viser's page has not one {mark}: {TOLD}"


def private_names(node: ast.AST) -> list[str]:
    """The names by which a piece of a program reaches what another keeps private."""
    names: list[str] = []
    if isinstance(node, ast.Attribute):
        owner = node.value.id if isinstance(node.value, ast.Name) else ""
        if owner not in ("self", "cls", "sys", "os"):  # sys._getframe and os._exit are documented
            names = [node.attr]
    elif isinstance(node, ast.ImportFrom):
        names = [*(node.module or "").split("."), *(alias.name for alias in node.names)]
    elif isinstance(node, ast.Import):
        names = [part for alias in node.names for part in alias.name.split(".")]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id.endswith("attr"):
        names = [entry.value for entry in node.args if isinstance(entry, ast.Constant) and isinstance(entry.value, str)]
    return [name for name in names if re.match(r"_[^_]", name)]


def reached(text: str) -> list[str]:
    """Private attributes of other objects, and private modules, that a program uses."""
    return [f"line {node.lineno}: {name}" for node in ast.walk(ast.parse(text)) for name in private_names(node)]  # type: ignore[attr-defined]


def test_only_one_file_uses_private_things() -> None:
    files = {file: reached(file.read_text(encoding="utf-8")) for file in sorted(VIEWER.rglob("*.py"))}
    assert {str(file.relative_to(VIEWER)): uses for file, uses in files.items() if uses and file != PRIVATE} == {}
    assert len({use.partition(": ")[2] for use in files[PRIVATE]}) >= 7  # the search finds what there is to find


@pytest.mark.parametrize(
    "line",
    ["client._websock_connection.queue_message(1)", "a = self.server.gui._finish_file_upload",
     "from viser import _messages", "from viser._messages import Message", "import viser._messages",
     "getattr(server, '_websock_server')", "setattr(server.gui, '_x', 1)", "hasattr(server, '_x')"],
)  # fmt: skip
def test_every_way_to_private_things_is_found(line: str) -> None:
    assert len(reached(line)) == 1
    assert reached("self._own = sys._getframe; x.__class__; getattr(a, 'b_c')") == []


def client_program(text: str) -> str:
    """viser's program: its page carries it packed by zstd, as numbers of the base 88 (five of them are four bytes)."""
    packed = max(re.findall(r'="([^"]*)"', text), key=len)
    digits = {sign: k for k, sign in enumerate(chr(c) for c in range(0x21, 0x7F) if chr(c) not in "\"&<>'`")}
    content = bytearray()
    for start in range(0, len(packed), 5):
        group, value = packed[start : start + 5], 0
        for sign in group:
            value = 88 * value + digits[sign]
        content += value.to_bytes(len(group) - 1, "big")
    return zstandard.ZstdDecompressor().decompressobj().decompress(bytes(content)).decode("utf-8", "replace")


def test_what_is_changed_in_the_client_is_there_once() -> None:
    text = client_page()
    assert text.count(LOADED) == 1, f"the loader of the page is another one: {TOLD}"
    program = client_program(text)
    for words, other in CHANGES:
        assert len(re.findall(words, program)) == 1, f"{words} is not in the client any more: {TOLD}"
        program = re.sub(words, re.sub(r"\$(\d)", r"\\\1", other), program)
    assert "roughness:" in program
    assert all(f"`{speed}`" in program for speed in SPEEDS)
    assert finished(text).count("turgorFinish(") == 2  # made, and called
    assert finished("<head>another page") == "<head>another page"
