"""What a page may send: no wish to be published on the internet, files up to a size, and the mesh in them."""

from __future__ import annotations

import json
import math
import struct
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from turgor.errors import MeshError
from turgor.shapes import Report, Shape, check, mesh
from turgor.shapes.reading import FORMATS, read

if TYPE_CHECKING:
    import viser

__all__ = ["MAX_UPLOAD_BYTES", "MAX_VERTICES", "disable_sharing", "limit_uploads", "read_mesh", "shown_name"]

MAX_UPLOAD_BYTES = 16 * 1024**2  # a text mesh of MAX_VERTICES takes 6 MB; one of loose triangles (.stl) 5 MB
MAX_VERTICES = 50_000  # of one body: about five times what still runs at an interactive rate
MAX_PER_CLIENT = 2  # transfers in flight
MAX_FULL_UPLOADS = 4  # of the largest size, in flight from all clients together: what viser may buffer at once
FACES_PER_VERTEX = 2  # of a closed surface of triangles (Euler), handles aside
DIGITS = 7  # of a coordinate, counted from the mesh's size: what a float32 file carries

Refuse = Callable[[int, str], None]


def limit_uploads(server: viser.ViserServer, max_bytes: int, refuse: Refuse) -> None:
    """Bounds what pages may upload to the shared controls of `server`; viser alone buffers without a limit.

    `refuse(client_id, sentence)` is called on viser's event loop. Elements of a single client (client.gui) are not
    covered. Progress goes to the sender only, not to every page as in viser.
    """
    from viser import _messages

    desk = _Desk(server, max_bytes, refuse)
    inner, gui = server._websock_server, server.gui
    inner.unregister_handler(_messages.FileTransferStartUpload, gui._handle_file_transfer_start)
    inner.unregister_handler(_messages.FileTransferPart, gui._handle_file_transfer_part)
    inner.register_handler(_messages.FileTransferStartUpload, desk.start)
    inner.register_handler(_messages.FileTransferPart, desk.part)


def disable_sharing(server: viser.ViserServer) -> None:
    """Any page could ask viser to publish the server on the internet; from now on nothing happens then."""
    from viser import _messages

    for message in (_messages.ShareUrlRequest, _messages.ShareUrlDisconnect):
        server._websock_server.unregister_handler(message)


class _Desk:
    """Takes the parts of files in; runs on viser's event loop only."""

    def __init__(self, server: viser.ViserServer, max_bytes: int, refuse: Refuse) -> None:
        self.server, self.gui, self.max_bytes, self.tell = server, server.gui, max_bytes, refuse
        self.transfers = server.gui._current_file_upload_states  # by transfer id

    def start(self, client_id: Any, message: Any) -> None:
        """A file is announced: nothing is kept of it unless its size is acceptable."""
        whole = isinstance(message.size_bytes, int) and isinstance(message.part_count, int)
        if not (whole and isinstance(message.filename, str) and isinstance(message.transfer_uuid, str)):
            return
        # The transfer may be someone else's; and viser cleans up only after clients that have shown their camera.
        if message.transfer_uuid in self.transfers or client_id not in self.server.get_clients():
            return
        name = shown_name(message.filename)
        own = [state for state in self.transfers.values() if state["client_id"] == client_id]
        waiting = sum(state["total_bytes"] for state in self.transfers.values())
        if message.size_bytes > self.max_bytes:
            self.refuse(client_id, message, f"{name}: {_size(message.size_bytes)} is more than the limit of "
                        f"{_size(self.max_bytes)}; simplify the mesh, or save it in a binary format")  # fmt: skip
        elif not 0 < message.part_count <= message.size_bytes:
            self.refuse(client_id, message, f"{name}: the file is empty; export the mesh again")
        elif len(own) >= MAX_PER_CLIENT or waiting + message.size_bytes > MAX_FULL_UPLOADS * self.max_bytes:
            self.refuse(client_id, message, f"{name}: other files are still on their way; send it again after them")
        else:
            message.filename = name
            self.gui._handle_file_transfer_start(client_id, message)

    def part(self, client_id: Any, message: Any) -> None:
        """A piece of a file: kept once, in its place, and only up to the announced size."""
        state = self.transfers.get(message.transfer_uuid)
        if state is None or state["client_id"] != client_id or not isinstance(message.content, bytes):
            return
        place = message.part_index
        if not isinstance(place, int) or not 0 <= place < state["part_count"] or place in state["parts"]:
            return
        received = state["transferred_bytes"] + len(message.content)
        last = len(state["parts"]) + 1 == state["part_count"]
        if not message.content or received > state["total_bytes"] or (last and received < state["total_bytes"]):
            del self.transfers[message.transfer_uuid]
            self.refuse(
                client_id, message, f"{state['filename']}: its size is not the one that was announced; send it again"
            )
            return
        state["parts"][place] = message.content
        state["transferred_bytes"] = received
        self._progress(client_id, message, received, state["total_bytes"])
        if last:
            self.gui._finish_file_upload(client_id, message.transfer_uuid, message.source_component_uuid)

    def refuse(self, client_id: Any, message: Any, sentence: str) -> None:
        """Tells the user, and ends the progress bar that the page shows."""
        from viser import _messages

        client = self.server.get_clients().get(client_id)
        if client is not None:
            self._progress(client_id, message, 0, 0)  # the upload button can be used again
            bar = _messages.RemoveNotificationMessage(f"upload-{message.transfer_uuid}")
            client._websock_connection.queue_message(bar)
        self.tell(client_id, sentence)

    def _progress(self, client_id: Any, message: Any, received: int, total: int) -> None:
        from viser import _messages

        client = self.server.get_clients().get(client_id)
        if client is not None:
            client._websock_connection.queue_message(
                _messages.FileTransferPartAck(message.source_component_uuid, message.transfer_uuid, received, total)
            )


def read_mesh(
    name: str,
    content: bytes,
    max_bytes: int = MAX_UPLOAD_BYTES,
    max_vertices: int = MAX_VERTICES,
    *,
    size: float | None = None,
    close_holes: bool = False,
) -> tuple[Shape, Report]:
    """The closed surface in an uploaded mesh file (its largest shell), and the mesh doctor's report.

    Of `name` only the ending is used, so it may say what it likes. The recipe of the shape holds its arrays, so that a
    scene with it can be saved without the file. With `size` (m) the longest side of its box is made that long and its
    centre the origin; otherwise it stays as in the file. MeshError says why a mesh cannot be used.
    """
    shown = shown_name(name)
    form = Path(shown).suffix.lower().lstrip(".")
    if form not in FORMATS:
        known = ", ".join("." + known for known in FORMATS)
        raise MeshError(f"{shown}: unknown mesh format {'.' + form if form else '(no ending)'!r}; use one of {known}")
    if len(content) > max_bytes:
        raise MeshError(f"{shown}: {_size(len(content))} is more than the limit of {_size(max_bytes)}; simplify it")
    most_faces = 2 * FACES_PER_VERTEX * max_vertices
    if form == "glb" and _announced(shown, content) > 3 * most_faces:
        raise MeshError(
            f"{shown}: it repeats its meshes too often; save it as one mesh below {max_vertices:,} vertices"
        )
    vertices, faces = _read(shown, form, content)
    if len(faces) > most_faces:
        raise MeshError(f"{shown}: {len(faces):,} triangles are more than the limit of {most_faces:,}; simplify it")
    try:
        report = check((vertices, faces), close_holes=close_holes)
    except MeshError as error:
        raise MeshError(f"{shown}: {str(error).removeprefix('mesh: ')}") from None
    report.source = shown
    if not report.ok:
        more = f" (and {len(report.problems) - 1} more)" if len(report.problems) > 1 else ""
        raise MeshError(f"{shown}: {report.problems[0]}{more}")
    largest = max(report.shapes, key=lambda shape: shape.volume)
    if len(largest.vertices) > max_vertices:
        raise MeshError(
            f"{shown}: {len(largest.vertices):,} vertices are more than the limit of {max_vertices:,}; simplify it"
        )
    return _kept(shown, largest, size), report


def shown_name(name: str) -> str:
    """The last part of a file's name, short and without anything that a page or a terminal could take for a command."""
    last = name.replace("\\", "/").rpartition("/")[2]
    plain = "".join(letter if letter.isalnum() or letter in "._- " else "_" for letter in last).strip(" .") or "file"
    return plain if len(plain) <= 60 else f"{plain[:40]}_{plain[-19:]}"


def _read(shown: str, form: str, content: bytes) -> tuple[Any, Any]:
    """Vertices and faces, by way of a file in a folder that only we can open and that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="turgor-") as folder:
        path = Path(folder) / f"mesh.{form}"
        path.write_bytes(content)
        try:
            return read(path)
        except MeshError as error:
            raise MeshError(str(error).replace(str(path), shown)) from None


def _announced(shown: str, content: bytes) -> int:
    """Vertices and indices that a GLB comes to when its meshes are put where its nodes want them.

    Many nodes may share one mesh, so a small file can ask for any amount of memory.
    """
    try:
        (length,) = struct.unpack("<I", content[12:16])
        scene = json.loads(content[20 : 20 + length])
        counts = [max(0, int(accessor["count"])) for accessor in scene.get("accessors", [])]
        sizes: list[int] = [
            sum(counts[place] for part in mesh["primitives"] for place in _places(part))
            for mesh in scene.get("meshes", [])
        ]
        total: int = sum(sizes) + sum(sizes[node["mesh"]] for node in scene.get("nodes", []) if "mesh" in node)
        return total
    except (ValueError, LookupError, TypeError, AttributeError, struct.error, RecursionError):
        raise MeshError(f"{shown}: not a readable GLB file: its header is damaged or cut short") from None


def _places(part: Mapping[str, Any]) -> list[int]:
    """The accessors of the vertices and of the indices of a GLB's primitive."""
    found = (part.get("attributes", {}).get("POSITION"), part.get("indices"))
    return [place for place in found if place is not None]


def _kept(shown: str, shape: Shape, size: float | None) -> Shape:
    """The shape as a scene file will give it back: made from rounded arrays, so that the file stays small."""
    low, high = shape.vertices.min(axis=0), shape.vertices.max(axis=0)
    extent = float((high - low).max())
    vertices = shape.vertices if size is None else (shape.vertices - (low + high) / 2.0) * (size / extent)
    decimals = DIGITS - math.floor(math.log10(float(np.abs(vertices).max())))
    try:
        return mesh(np.round(vertices, decimals).tolist(), shape.faces.tolist())
    except MeshError as error:
        raise MeshError(f"{shown}: {str(error).removeprefix('mesh: ')}") from None


def _size(count: int) -> str:
    return f"{count / 1024**2:,.1f} MiB"
