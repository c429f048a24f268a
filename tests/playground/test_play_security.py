"""The gate of the playground: who gets in, and what a rude client can do. Real sockets, a real viser server."""

from __future__ import annotations

import contextlib
import inspect
import queue
import re
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import viser
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from support.play_helpers import PROTOCOL, drain, exchange, get, guarded, page
from support.waiting import until
from turgor.cli.play import play
from turgor.errors import SceneError
from turgor.viewer.server import gate as gates
from turgor.viewer.server.admission import QUERY, Request, Rules, parse
from turgor.viewer.server.gate import Gate, is_loopback
from turgor.viewer.server.viser_private import connection_count, disable_sharing
from turgor.viewer.server.viser_server import silence_viser

SECRET = re.compile(rb"root:.*:0:0|<html|<!doctype", re.IGNORECASE)  # /etc/passwd, or viser's page
pytestmark = pytest.mark.req("X8")


@pytest.fixture(scope="module")
def local() -> Iterator[tuple[viser.ViserServer, Gate]]:
    with guarded() as both:
        yield both


@pytest.fixture(scope="module")
def opened() -> Iterator[tuple[viser.ViserServer, Gate]]:
    with guarded("0.0.0.0") as both:
        yield both


def refused(port: int, **options: Any) -> int:
    """The status with which a WebSocket was refused."""
    with pytest.raises(InvalidStatus) as caught, page(port, **options):
        pass
    return caught.value.response.status_code


# --- this machine only


def test_the_default_address_is_loopback() -> None:
    assert inspect.signature(Gate).parameters["host"].default == "127.0.0.1"
    assert inspect.signature(play).parameters["host"].default == "127.0.0.1"


def test_only_loopback_listens(local: tuple[viser.ViserServer, Gate]) -> None:
    server, gate = local
    own = gates._own_address(socket.AF_INET)
    for port in (gate.port, server.get_port()):
        socket.create_connection(("127.0.0.1", port), 5).close()
        for elsewhere in {"127.0.0.2", own} - {"127.0.0.1"}:
            with pytest.raises(OSError, match=r"refused|unreachable|timed out"):
                socket.create_connection((elsewhere, port), 5)


def test_the_page_and_its_socket_are_passed_on(local: tuple[viser.ViserServer, Gate]) -> None:
    gate = local[1]
    status, answer = get(gate)
    assert status == 200
    body = answer.partition(b"\r\n\r\n")[2]
    assert body == (Path(viser.__file__).parent / "client" / "build" / "index.html").read_bytes()
    assert gate.url == f"http://127.0.0.1:{gate.port}"
    with page(gate.port) as link:
        assert link.recv(timeout=20)


@pytest.mark.parametrize("host", ["localhost", "localhost:1", "127.0.0.1:8080", "[::1]:8080", "LOCALHOST"])
def test_own_names(local: tuple[viser.ViserServer, Gate], host: str) -> None:
    assert get(local[1], host=host)[0] == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8080", "127.0.0.1.evil.example", "localhost.evil.example", "192.168.0.7",
             "evil@localhost", "localhost:x", "localhost:8080:1"],
)  # fmt: skip
def test_a_foreign_host_is_refused(local: tuple[viser.ViserServer, Gate], host: str) -> None:
    status, answer = get(local[1], host=host)  # DNS rebinding: a foreign name that was made to point here
    assert status == 403
    assert b"localhost only" in answer
    assert not SECRET.search(answer)


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1", "http://localhost:{port}",
               "http://127.0.0.1:{port}.evil.example", "http://127.0.0.1:{port}@evil.example", "file://", "", "x"],
)  # fmt: skip
def test_a_foreign_origin_is_refused(local: tuple[viser.ViserServer, Gate], origin: str) -> None:
    gate = local[1]
    origin = origin.format(port=gate.port)
    assert get(gate, "/", f"Origin: {origin}")[0] == 403
    if origin:
        assert refused(gate.port, origin=origin) == 403


def test_the_inner_port_is_of_no_use(local: tuple[viser.ViserServer, Gate]) -> None:
    """A web page can try all ports; what it finds behind the gate says nothing, not even to the right Origin."""
    inner = local[0].get_port()
    for headers in ({}, {"X-Turgor-Gate": "guess"}):
        with page(inner, origin="http://evil.example", additional_headers=headers) as link:
            with pytest.raises(ConnectionClosed) as caught:
                link.recv(timeout=20)
            assert caught.value.rcvd is not None
            assert caught.value.rcvd.code == 1008


def test_a_page_cannot_be_made_to_obey_another_server(local: tuple[viser.ViserServer, Gate]) -> None:
    """viser's page connects where ?websocket= says, and runs the scripts that it gets from there as our own."""
    gate = local[1]
    for query in ("websocket=ws://evil.example", "playbackPath=http://evil.example/x", "%77ebsocket=ws://evil.example",
                  "darkMode&websocket=ws://evil.example", "darkMode=1&&websocket=x", "token=1"):  # fmt: skip
        assert get(gate, f"/?{query}")[0] == 403
    for query in ("", "darkMode", "hideViserLogo&darkMode", "initialCameraPosition=1,-2.5,3&fixedDpr=1.0"):
        assert get(gate, f"/?{query}")[0] == 200
    assert not QUERY.fullmatch("darkMode\n")


# --- opened up


def test_beyond_loopback_a_token_is_made_whatever_is_asked() -> None:
    assert Gate(1, "0.0.0.0", 1, None).token
    assert Gate(1, "192.168.0.7", 1).token != Gate(1, "192.168.0.7", 1).token
    assert Gate(1, "127.0.0.1", 1).token is None
    assert [is_loopback(host) for host in ("localhost", "::1", "127.8.0.1", "0.0.0.0", "::", "", "example.org")] == (
        [True, True, True, False, False, False, False]
    )


def test_without_the_token_nothing_is_told(opened: tuple[viser.ViserServer, Gate]) -> None:
    gate = opened[1]
    wrong = f"Cookie: turgor_{gate.port}="
    for target in ("/", "/index.html", "/?darkMode", "/nothing", "/?token=", "/?token=wrong", f"/x?token={gate.token}"):
        for headers in ([], [wrong], [wrong + "wrong"], [f"Cookie: turgor_1={gate.token}"], [f"Cookie: {gate.token}"]):
            status, answer = get(gate, target, *headers)
            assert status == 403
            assert not SECRET.search(answer)
            assert (gate.token or "").encode() not in answer
    assert refused(gate.port) == 403
    assert refused(gate.port, additional_headers={"Cookie": f"turgor_{gate.port}=wrong"}) == 403


def test_the_token_becomes_a_cookie(opened: tuple[viser.ViserServer, Gate]) -> None:
    gate = opened[1]
    assert re.fullmatch(rf"http://[\w.:\[\]]+:{gate.port}/\?token=[\w-]{{32}}", gate.url)
    status, answer = get(gate, f"/?token={gate.token}")
    assert status == 303
    assert b"\r\nLocation: /\r\n" in answer
    line = f"Set-Cookie: turgor_{gate.port}={gate.token}; HttpOnly; SameSite=Lax; Path=/"
    assert line.encode() in answer
    cookie = f"other=1; turgor_{gate.port}={gate.token}; more=2"
    assert get(gate, "/", f"Cookie: {cookie}")[0] == 200
    assert get(gate, "/", f"Cookie: {cookie}", host="any.example")[0] == 200
    with page(gate.port, additional_headers={"Cookie": cookie}) as link:
        assert link.recv(timeout=20)
    assert refused(gate.port, origin="http://evil.example", additional_headers={"Cookie": cookie}) == 403
    assert get(gate, f"/?token={gate.token}", "Origin: http://evil.example")[0] == 403


def test_an_origin_may_leave_out_the_default_port() -> None:
    rules = Rules(None, "c")
    for origin, host, fine in (
        ("http://localhost", "localhost:80", True),
        ("http://localhost:80", "localhost", True),
        ("http://LOCALHOST:8080", "localhost:8080", True),
        ("http://localhost", "localhost:8080", False),
        ("https://localhost", "localhost:443", True),
        ("http://localhost:99999", "localhost:99999", False),
    ):
        answer = rules.refusal(Request("GET", "/", {"host": host, "origin": origin}))
        assert (answer is None) == fine, (origin, host)


# --- odd requests


@pytest.mark.parametrize(
    "target", ["/../../../../etc/passwd", "/%2e%2e/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2f..%2f..%2fetc%2fpasswd",
               "/..%5c..%5c..%5cetc%5cpasswd", "//etc/passwd", "/%2fetc/passwd", "/etc/passwd%00.html",
               "/%252e%252e/%252e%252e/etc/passwd", "/" + "a/" * 500, "/" + "a" * 5000],
)  # fmt: skip
def test_no_path_leads_out_of_the_page(local: tuple[viser.ViserServer, Gate], target: str) -> None:
    status, answer = get(local[1], target)
    assert status in (403, 404, 500)
    assert not SECRET.search(answer)


@pytest.mark.parametrize(
    ("request_head", "status"),
    [
        ("GET / HTTP/1.0\r\nHost: localhost", 400),
        ("GET / HTTP/1.1", 400),
        ("GET / HTTP/1.1\r\nHost:", 400),
        ("GET http://localhost/ HTTP/1.1\r\nHost: localhost", 400),
        ("GET  / HTTP/1.1\r\nHost: localhost", 400),
        ("GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example", 400),
        ("GET / HTTP/1.1\r\nHost: evil.example\r\nhost: localhost", 400),
        ("GET / HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nOrigin: http://evil.example", 400),
        ("GET / HTTP/1.1\r\nHost: localhost\r\n folded", 400),
        ("GET / HTTP/1.1\r\nHost: localhost\nOrigin: http://evil.example", 400),
        ("GET / HTTP/1.1\r\nHost : localhost", 400),
        ("GET / HTTP/1.1\r\nHost: localhost\r\nX: \x00", 400),
        ("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5", 405),
        ("CONNECT evil.example:80 HTTP/1.1\r\nHost: localhost", 405),
        ("\x16\x03\x01\x02\x00", 400),
    ],
)
def test_odd_requests_are_refused(local: tuple[viser.ViserServer, Gate], request_head: str, status: int) -> None:
    answer = exchange(local[1].port, (request_head + "\r\n\r\n").encode("latin-1"))
    assert answer.startswith(f"HTTP/1.1 {status} ".encode())
    assert answer.count(b"HTTP/1.1") == 1


def test_only_what_is_needed_is_passed_on() -> None:
    head = (
        b"GET /a?darkMode HTTP/1.1\r\nHost: localhost\r\nCookie: a=b\r\nX-Turgor-Gate: mine\r\n"
        b"Transfer-Encoding: chunked\r\nConnection: keep-alive, Upgrade\r\nAccept-Encoding: gzip\r\nContent-Length: 3"
    )
    request = parse(head)
    assert isinstance(request, Request)
    lines = request.encode("password").decode().split("\r\n")
    assert lines == [
        "GET /a?darkMode HTTP/1.1", "Connection: close", "host: localhost", "accept-encoding: gzip",
        "X-Turgor-Gate: password", "", "",
    ]  # fmt: skip


def test_no_second_request_on_a_connection(local: tuple[viser.ViserServer, Gate]) -> None:
    port = local[1].port
    first = f"GET / HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: keep-alive\r\n\r\n".encode()
    upgrade = (
        b"GET / HTTP/1.1\r\nHost: evil.example\r\nOrigin: http://evil.example\r\nUpgrade: websocket\r\n"
        b"Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
    )
    answer = exchange(port, first + upgrade)  # at once
    assert answer.startswith(b"HTTP/1.1 200")
    assert answer.count(b"HTTP/1.1 ") == 1
    with socket.create_connection(("127.0.0.1", port), 20) as link:  # one after the other
        link.sendall(first)
        begin = link.recv(1000)
        with contextlib.suppress(OSError):
            link.sendall(upgrade)
            while part := link.recv(65536):
                begin += part
    assert begin.count(b"HTTP/1.1 ") == 1


# --- rude clients


def test_a_huge_head_is_refused(local: tuple[viser.ViserServer, Gate]) -> None:
    gate = local[1]
    head = f"GET / HTTP/1.1\r\nHost: localhost\r\nX: {'x' * 200_000}\r\n\r\n".encode()
    assert exchange(gate.port, head).startswith(b"HTTP/1.1 431 ")
    endless = b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 200_000
    assert exchange(gate.port, endless).startswith(b"HTTP/1.1 431 ")


def test_a_slow_head_is_not_waited_for() -> None:
    with guarded(patience=0.3) as (_, gate):
        for begin in (b"", b"GET / HTTP/1.1\r\nHost: local"):
            assert exchange(gate.port, begin).startswith(b"HTTP/1.1 408 ")
        until(lambda: not gate.fronts)
        with page(gate.port) as link:  # what came in time is not cut off later
            link.recv(timeout=20)
            with contextlib.suppress(TimeoutError):
                link.recv(timeout=0.6)
            link.send(msgspec.msgpack.encode({"type": "ShareUrlDisconnect"}))
            assert len(gate.fronts) == 1


def test_only_so_many_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gates, "MAX_CONNECTIONS", 3)
    with guarded() as (_, gate), contextlib.ExitStack() as stack:
        for _ in range(3):
            stack.enter_context(socket.create_connection(("127.0.0.1", gate.port), 5))
        until(lambda: len(gate.fronts) == 3)
        assert get(gate)[0] == 503
        stack.close()
        until(lambda: not gate.fronts)
        assert get(gate)[0] == 200


def test_a_client_that_never_reads_delays_nobody() -> None:
    """50 MB are streamed; one client does not read at all, another gets all of it."""
    with guarded() as (server, gate):
        deaf = socket.create_connection(("127.0.0.1", gate.port), 20)
        deaf.sendall(
            f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{gate.port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
            f"Sec-WebSocket-Protocol: {PROTOCOL}\r\n\r\n".encode()
        )
        until(lambda: connection_count(server) == 1)
        with page(gate.port) as link:
            until(lambda: connection_count(server) == 2)
            mesh = server.scene.add_mesh_simple("/mesh", np.zeros((40_000, 3), np.float32), np.zeros((1, 3), np.uint32))
            for number in range(1, 101):
                mesh.vertices = np.full((40_000, 3), number, np.float32)
                server.flush()
                mark = np.float32(number).tobytes() * 30_000
                while mark not in bytes(link.recv(timeout=20)):
                    pass
            waiting = [front.transport.get_write_buffer_size() for front in gate.fronts]
            assert max(waiting) < 4 * gates.BUFFER  # and what waits for the deaf one is bounded
        deaf.close()  # it vanishes, and so does what it cost
        until(lambda: not gate.fronts)
        until(lambda: connection_count(server) == 0)


def test_nonsense_is_survived_in_silence(capfd: pytest.CaptureFixture[str]) -> None:
    with guarded() as (server, gate):
        for nonsense in (b"\xff\x00nonsense", "text", msgspec.msgpack.encode({"type": "Nothing"})):
            with page(gate.port) as link:
                link.send(nonsense)
                with contextlib.suppress(ConnectionClosed):
                    drain(link)
        link = connect(f"ws://127.0.0.1:{gate.port}/", subprotocols=["viser-v0.0.1"])  # type: ignore[list-item]
        with link, pytest.raises(ConnectionClosed, match="Version mismatch"):
            link.recv(timeout=20)
        with page(gate.port) as link:
            assert link.recv(timeout=20)
        until(lambda: connection_count(server) == 0)
    assert capfd.readouterr() == ("", "")


def test_others_may_still_print_with_rich(capsys: pytest.CaptureFixture[str]) -> None:
    import rich

    silence_viser()
    silence_viser()
    rich.print("hello")
    assert capsys.readouterr().out == "hello\n"


# --- sharing


@pytest.mark.parametrize("disabled", [False, True])
def test_a_page_cannot_publish_the_server(disabled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    silence_viser()
    wishes: queue.Queue[str] = queue.Queue()
    server = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
    monkeypatch.setattr(server, "request_share_url", lambda: wishes.put("publish"))
    monkeypatch.setattr(server, "disconnect_share_url", lambda: wishes.put("end"))
    done = threading.Event()
    server._websock_server.register_handler(viser._messages.ShareUrlUpdated, lambda *_: done.set())
    if disabled:
        disable_sharing(server)
    try:
        with page(server.get_port()) as link:
            for kind in ("ShareUrlRequest", "ShareUrlDisconnect"):
                link.send(msgspec.msgpack.encode({"type": kind}))
            link.send(msgspec.msgpack.encode({"type": "ShareUrlUpdated", "share_url": None}))
            assert done.wait(20)
            server._thread_executor.submit(lambda: None).result(20)  # what was asked before has been begun
            if not disabled:
                assert {wishes.get(timeout=20), wishes.get(timeout=20)} == {"publish", "end"}
            assert wishes.empty()
    finally:
        server.stop()


# --- starting and ending


def test_a_taken_port_is_told_in_one_sentence(local: tuple[viser.ViserServer, Gate]) -> None:
    port = local[1].port
    with pytest.raises(SceneError, match=f"^port {port} is taken: choose another with --port$"):
        Gate(1, "127.0.0.1", port).start()
    with pytest.raises(SceneError, match="--port must be from 1 to 65535"):
        Gate(1, "127.0.0.1", 70000).start()
    for host in ("no.such.host.invalid", "192.0.2.1", "x" * 300):
        with pytest.raises(SceneError, match="--host"):
            Gate(1, host, 0).start()


def test_a_closed_gate_is_closed() -> None:
    with guarded() as (_, gate):
        link = page(gate.port)
        link.recv(timeout=20)
        gate.close()
        gate.close()
        with pytest.raises(ConnectionClosed):
            drain(link)
        with pytest.raises(OSError, match="refused"):
            socket.create_connection(("127.0.0.1", gate.port), 5)
        assert not gate.fronts
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        port = nobody.getsockname()[1]
    gate = Gate(port, "127.0.0.1", 0)
    gate.start()
    assert get(gate)[0] == 502  # the server behind it is gone
    gate.close()
