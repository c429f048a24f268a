"""All that turgor uses of viser's private API, behind small functions. viser has no public way to any of it.

Any release of viser may move these, so pyproject.toml bounds its version. To raise the bound, run
tests/playground/test_play_viser.py, which names what is missing, and read what viser changed in the rest.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import viser

__all__ = [
    "CHECKED_WITH",
    "acknowledge_part",
    "begin_transfer",
    "client_page",
    "connection_count",
    "disable_sharing",
    "element_id",
    "end_transfer",
    "on_first_contact",
    "remove_upload_notice",
    "show_differently",
    "take_over_uploads",
    "transfers",
]

CHECKED_WITH = "1.1.1"  # the version of viser whose code was read

Transfer = dict[str, Any]  # client_id, filename, part_count, parts by index, total_bytes, transferred_bytes


# connections ----------------------------------------------------------------------------------------------------------


def disable_sharing(server: viser.ViserServer) -> None:
    """Any page could ask viser to publish the server on the internet; from now on nothing happens then."""
    from viser import _messages

    for message in (_messages.ShareUrlRequest, _messages.ShareUrlDisconnect):
        server._websock_server.unregister_handler(message)


def on_first_contact(server: viser.ViserServer, function: Callable[[Any], Awaitable[None]]) -> None:
    """Call a function with the WebSocket of each new client, before all other callbacks."""
    inner = server._websock_server

    async def connected(connection: Any) -> None:
        await function(inner._live_connections[connection.client_id])

    inner._client_connect_cb.insert(0, connected)


def connection_count(server: viser.ViserServer) -> int:
    """How many WebSockets are open."""
    return len(server._websock_server._live_connections)


# controls -------------------------------------------------------------------------------------------------------------


def element_id(control: Any) -> str:
    """The id that a button has in the page, for a style sheet."""
    return str(control._impl.uuid)


# the page -------------------------------------------------------------------------------------------------------------


def client_page() -> str:
    """viser's page: all of its client in one file."""
    import viser

    return (Path(viser.__file__).parent / "client" / "build" / "index.html").read_text(encoding="utf-8")


def show_differently(client: viser.ClientHandle, name: str, properties: Mapping[str, Any]) -> None:
    """One client shows a shared node with other properties than the rest, until the node is made again."""
    from viser import _messages

    client._websock_connection.queue_message(_messages.SceneNodeUpdateMessage(name, dict(properties)))


# uploads --------------------------------------------------------------------------------------------------------------


def take_over_uploads(
    server: viser.ViserServer, start: Callable[[Any, Any], None], part: Callable[[Any, Any], None]
) -> None:
    """`start` and `part` get (client id, message) of uploads to the shared controls, instead of viser's handlers."""
    from viser import _messages

    inner, gui = server._websock_server, server.gui
    inner.unregister_handler(_messages.FileTransferStartUpload, gui._handle_file_transfer_start)
    inner.unregister_handler(_messages.FileTransferPart, gui._handle_file_transfer_part)
    inner.register_handler(_messages.FileTransferStartUpload, start)
    inner.register_handler(_messages.FileTransferPart, part)


def transfers(server: viser.ViserServer) -> MutableMapping[str, Transfer]:
    """The uploads in flight, by transfer id."""
    found: MutableMapping[str, Transfer] = server.gui._current_file_upload_states
    return found


def begin_transfer(server: viser.ViserServer, client_id: int, message: Any) -> None:
    """viser keeps the parts of this upload from now on."""
    server.gui._handle_file_transfer_start(client_id, message)


def end_transfer(server: viser.ViserServer, client_id: int, message: Any) -> None:
    """All parts are there: the control gets the file."""
    server.gui._finish_file_upload(client_id, message.transfer_uuid, message.source_component_uuid)


def acknowledge_part(client: viser.ClientHandle, message: Any, received: int, total: int) -> None:
    """The page's progress of an upload, bytes; 0 of 0 ends it, and the button can be used again."""
    from viser import _messages

    ack = _messages.FileTransferPartAck(message.source_component_uuid, message.transfer_uuid, received, total)
    client._websock_connection.queue_message(ack)


def remove_upload_notice(client: viser.ClientHandle, message: Any) -> None:
    """Take away the progress bar that the page shows of an upload."""
    from viser import _messages

    client._websock_connection.queue_message(_messages.RemoveNotificationMessage(f"upload-{message.transfer_uuid}"))
