"""A viser server behind its gate, and the clients that tests send there."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from typing import Any

import viser
from websockets.sync.client import ClientConnection, connect

from turgor.viewer.server.gate import Gate
from turgor.viewer.server.viser_server import only_through_gate, open_server

PROTOCOL = f"viser-v{viser.__version__}"
# What a page sends first: viser counts it as a client from then on.
CAMERA = {
    "type": "ViewerCameraMessage", "wxyz": [1, 0, 0, 0], "position": [0, 0, 0], "fov": 1.0, "near": 0.1, "far": 10.0,
    "image_height": 100, "image_width": 100, "look_at": [0, 0, 1], "up_direction": [0, 0, 1],
}  # fmt: skip


@contextlib.contextmanager
def guarded(host: str = "127.0.0.1", **options: Any) -> Iterator[tuple[viser.ViserServer, Gate]]:
    """A viser server with its gate."""
    server = open_server()
    gate = Gate(server.get_port(), host, 0, **options)
    only_through_gate(server, gate.password)
    gate.start()
    try:
        yield server, gate
    finally:
        gate.close()
        server.stop()


def exchange(port: int, data: bytes, timeout: float = 20.0) -> bytes:
    """All that comes back until the other side ends the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout) as link:
        link.sendall(data)
        parts = []
        while part := link.recv(65536):
            parts.append(part)
    return b"".join(parts)


def get(gate: Gate, target: str = "/", *headers: str, host: str | None = None) -> tuple[int, bytes]:
    """Status and whole response of a GET."""
    head = [f"GET {target} HTTP/1.1", f"Host: {host or f'127.0.0.1:{gate.port}'}", *headers]
    answer = exchange(gate.port, ("\r\n".join(head) + "\r\n\r\n").encode("latin-1"))
    return int(answer.split(b" ", 2)[1]), answer


def page(port: int, **options: Any) -> ClientConnection:
    """A WebSocket as viser's page opens it."""
    origin = options.pop("origin", f"http://127.0.0.1:{port}")
    return connect(
        f"ws://127.0.0.1:{port}/", origin=origin, subprotocols=[PROTOCOL], max_size=None, compression=None, **options
    )  # type: ignore[arg-type]


def drain(link: ClientConnection) -> None:
    """Reads until the connection ends, which raises."""
    while True:
        link.recv(timeout=20)
