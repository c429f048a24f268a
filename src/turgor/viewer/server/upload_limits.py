"""What a page may upload: files up to a size, few at a time, and no more bytes than were announced."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from turgor.viewer.server import viser_private

if TYPE_CHECKING:
    import viser

__all__ = ["MAX_UPLOAD_BYTES", "limit_uploads", "mebibytes", "shown_name"]

MAX_UPLOAD_BYTES = 16 * 1024**2  # a text mesh of 50,000 vertices takes 6 MB; one of loose triangles (.stl) 5 MB
MAX_PER_CLIENT = 2  # transfers in flight
MAX_FULL_UPLOADS = 4  # of the largest size, in flight from all clients together: what viser may buffer at once

Refuse = Callable[[int, str], None]


def limit_uploads(server: viser.ViserServer, max_bytes: int, refuse: Refuse) -> None:
    """Bounds what pages may upload to the shared controls of `server`; viser alone buffers without a limit.

    `refuse(client_id, sentence)` is called on viser's event loop. Elements of a single client (client.gui) are not
    covered. Progress goes to the sender only, not to every page as in viser.
    """
    uploads = _Uploads(server, max_bytes, refuse)
    viser_private.take_over_uploads(server, uploads.start, uploads.part)


class _Uploads:
    """Accepts the parts of files; runs on viser's event loop only."""

    def __init__(self, server: viser.ViserServer, max_bytes: int, refuse: Refuse) -> None:
        self.server, self.max_bytes, self.on_refusal = server, max_bytes, refuse
        self.transfers = viser_private.transfers(server)  # by transfer id

    def start(self, client_id: Any, message: Any) -> None:
        """A file is announced: nothing is kept of it unless its size is acceptable."""
        integers = isinstance(message.size_bytes, int) and isinstance(message.part_count, int)
        if not (integers and isinstance(message.filename, str) and isinstance(message.transfer_uuid, str)):
            return
        # The transfer may be someone else's; and viser cleans up only after clients that have shown their camera.
        if message.transfer_uuid in self.transfers or client_id not in self.server.get_clients():
            return
        name = shown_name(message.filename)
        own = [state for state in self.transfers.values() if state["client_id"] == client_id]
        waiting = sum(state["total_bytes"] for state in self.transfers.values())
        if message.size_bytes > self.max_bytes:
            self.refuse(client_id, message, f"{name}: {mebibytes(message.size_bytes)} is more than the limit of "
                        f"{mebibytes(self.max_bytes)}; simplify the mesh, or save it in a binary format")  # fmt: skip
        elif not 0 < message.part_count <= message.size_bytes:
            self.refuse(client_id, message, f"{name}: the file is empty; export the mesh again")
        elif len(own) >= MAX_PER_CLIENT or waiting + message.size_bytes > MAX_FULL_UPLOADS * self.max_bytes:
            self.refuse(client_id, message, f"{name}: other files are still on their way; send it again after them")
        else:
            message.filename = name
            viser_private.begin_transfer(self.server, client_id, message)

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
        client = self.server.get_clients().get(client_id)
        if client is not None:
            viser_private.acknowledge_part(client, message, received, state["total_bytes"])
        if last:
            viser_private.end_transfer(self.server, client_id, message)

    def refuse(self, client_id: Any, message: Any, sentence: str) -> None:
        """Says why, and ends the progress bar that the page shows."""
        client = self.server.get_clients().get(client_id)
        if client is not None:
            viser_private.acknowledge_part(client, message, 0, 0)  # the upload button can be used again
            viser_private.remove_upload_notice(client, message)
        self.on_refusal(client_id, sentence)


def shown_name(name: str) -> str:
    """The last part of a file's name, short and without anything that a page or a terminal could take for a command."""
    last = name.replace("\\", "/").rpartition("/")[2]
    plain = "".join(letter if letter.isalnum() or letter in "._- " else "_" for letter in last).strip(" .") or "file"
    return plain if len(plain) <= 60 else f"{plain[:40]}_{plain[-19:]}"


def mebibytes(count: int) -> str:
    """A number of bytes, for people."""
    return f"{count / 1024**2:,.1f} MiB"
