"""The viser server behind the gate: on loopback, silent, without viser's tunnel to the internet."""

from __future__ import annotations

import hmac
import logging
import sys
from typing import TYPE_CHECKING, Any

from turgor.viewer.server.admission import PASSWORD_HEADER
from turgor.viewer.server.viser_private import disable_sharing, on_first_contact

if TYPE_CHECKING:
    import viser

__all__ = ["only_through_gate", "open_server", "silence_viser"]

POLICY_VIOLATION = 1008  # WebSocket close code


def open_server(label: str | None = None) -> viser.ViserServer:
    """A viser server on a port of the system's choice, reachable from this machine only. It still needs its gate."""
    import viser

    silence_viser()
    server = viser.ViserServer(host="127.0.0.1", port=0, label=label, verbose=False)
    disable_sharing(server)
    return server


def silence_viser() -> None:
    """Keeps viser from printing (address, version mismatch, "Server stopped"); others print with rich as before.

    Also keeps a page that sends nonsense from filling the terminal with tracebacks of the websockets package.
    """
    import rich

    logging.getLogger("websockets.server").setLevel(logging.CRITICAL)
    original = rich.print
    if getattr(original, "hushed", False):
        return

    def filtered(*objects: Any, **options: Any) -> None:
        if sys._getframe(1).f_globals.get("__name__", "").partition(".")[0] != "viser":
            original(*objects, **options)

    filtered.hushed = True  # type: ignore[attr-defined]
    rich.print = filtered


def only_through_gate(server: viser.ViserServer, password: str) -> None:
    """Ends every WebSocket that did not come through the gate: a web page could find the inner port by trying all.

    Call it before the first page connects, and before other on_client_connect callbacks are set.
    """

    async def check(socket: Any) -> None:
        given = socket.request.headers.get(PASSWORD_HEADER, "") if socket.request is not None else ""
        if not hmac.compare_digest(given.encode("utf-8", "replace"), password.encode("utf-8")):
            await socket.close(POLICY_VIOLATION, "not through the gate")

    on_first_contact(server, check)
