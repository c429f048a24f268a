"""The gate in front of viser's server: looks at the head of each connection's request, then only passes bytes on.

A plain request is answered once and the connection ends, and nothing that the client sends after its head is passed on,
so no second request can follow an admitted one. A WebSocket is passed on both ways; when one side does not read, the
other is not read from either, so a slow client costs two buffers and delays nobody. What `answers` knows is not passed
on but answered here, after the same look at who asks.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import ipaddress
import secrets
import socket
import threading
from typing import Any, cast

from turgor.errors import SceneError
from turgor.viewer.server.admission import Answer, Request, Rules, parse
from turgor.viewer.server.answers import NEWS, Answers

__all__ = ["Gate", "is_loopback"]

MAX_HEAD = 32 * 1024  # bytes: browsers stay below 8 kB, but bring the cookies of everything on localhost
PATIENCE = 10.0  # s for the head of a request to arrive
ANSWER_SECONDS = 120.0  # s for a plain answer (viser's page: one file below 1 MB) to be fetched
LINGER = 1.0  # s that a refused client is given to read why
MAX_CONNECTIONS = 128  # at once; a page needs three
BUFFER = 256 * 1024  # bytes waiting in each direction before the other side is no longer read

BUSY = Answer("503 Service Unavailable", "Too many connections: close some pages.")
TOO_LARGE = Answer("431 Request Header Fields Too Large", "The head of the request is too large.")
TOO_SLOW = Answer("408 Request Timeout", "The request did not arrive in time.")
UNREACHABLE = Answer("502 Bad Gateway", "The playground is ending.")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Gate:
    """Listens on host:port for a server on 127.0.0.1:inner_port. Beyond loopback a token is needed, always."""

    def __init__(
        self,
        inner_port: int,
        host: str = "127.0.0.1",
        port: int = 8080,
        token: str | None = None,
        *,
        patience: float = PATIENCE,
    ) -> None:
        self.inner_port, self.host, self.port, self.patience = inner_port, host, port, patience
        self.token = secrets.token_urlsafe(24) if token is None and not is_loopback(host) else token
        self.password = secrets.token_urlsafe(24)  # proves to the inner server that a request came through the gate
        self.rules = Rules(self.token, f"turgor_{port}")
        self.answers = Answers()
        self.fronts: set[_Front] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """The address to open, with the token where one is needed."""
        shown = self.host
        if shown in ("0.0.0.0", "::", ""):
            shown = _own_address(socket.AF_INET6 if shown == "::" else socket.AF_INET)
        place = f"http://{f'[{shown}]' if ':' in shown else shown}:{self.port}"
        return place if self.token is None else f"{place}/?token={self.token}"

    def start(self) -> None:
        """Begins to listen, in a thread of its own; SceneError where that cannot be. Port 0: the system's choice."""
        listener = _listen(self.host, self.port)
        self.port = listener.getsockname()[1]
        self.rules = Rules(self.token, f"turgor_{self.port}")
        ready = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(listener, ready), name="turgor-gate", daemon=True)
        self._thread.start()
        ready.wait()

    def close(self) -> None:
        """Stops listening and ends all connections. May be called again."""
        loop, self._loop = self._loop, None
        if loop is not None and self._thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            self._thread.join(timeout=2.0)

    def _run(self, listener: socket.socket, ready: threading.Event) -> None:
        self._loop = self.answers.news.loop = loop = asyncio.new_event_loop()
        server = loop.run_until_complete(loop.create_server(lambda: _Front(self, loop), sock=listener))
        loop.call_soon(ready.set)
        loop.run_forever()
        server.close()
        for front in list(self.fronts):
            front.abort()
        loop.run_until_complete(asyncio.sleep(0))  # the sockets are closed in the next round
        loop.close()


class _Pipe(asyncio.Protocol):
    """One end of a connection; `other` is the end that what is read here is written to."""

    transport: asyncio.Transport
    other: _Pipe | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.transport.set_write_buffer_limits(high=BUFFER)

    def data_received(self, data: bytes) -> None:
        if self.other is not None:
            self.other.transport.write(data)

    def pause_writing(self) -> None:
        if self.other is not None:
            self.other.transport.pause_reading()

    def resume_writing(self) -> None:
        if self.other is not None:
            self.other.transport.resume_reading()


class _Front(_Pipe):
    """The client's end."""

    def __init__(self, gate: Gate, loop: asyncio.AbstractEventLoop) -> None:
        self.gate, self.loop = gate, loop
        self.head = bytearray()
        self.back: _Back | None = None
        self.decided = False
        self.connecting: asyncio.Task[Any] | None = None
        self.timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.gate.fronts.add(self)
        if len(self.gate.fronts) > MAX_CONNECTIONS:
            self.refuse(BUSY)
        else:
            self.within(self.gate.patience, lambda: self.refuse(TOO_SLOW))

    def data_received(self, data: bytes) -> None:
        if self.decided:
            super().data_received(data)  # to the other end, where there is one: only for a WebSocket
            return
        self.head += data
        end = self.head.find(b"\r\n\r\n")
        if end > MAX_HEAD or (end < 0 and len(self.head) > MAX_HEAD):
            self.refuse(TOO_LARGE)
        elif end >= 0:
            request = parse(bytes(self.head[:end]))
            if isinstance(request, Answer):
                self.refuse(request)
            elif (answer := self.gate.rules.refusal(request)) is not None:
                self.refuse(answer)
            elif self.gate.answers.knows(request):
                self.answer(request)
            else:
                self.admit(request, bytes(self.head[end + 4 :]))

    def admit(self, request: Request, rest: bytes) -> None:
        """Connects to the inner server and passes the request on."""
        self.decided = True
        self.head.clear()
        self.within(ANSWER_SECONDS, self.abort)
        self.transport.pause_reading()
        self.connecting = self.loop.create_task(self.connect(request, rest))

    async def connect(self, request: Request, rest: bytes) -> None:
        try:
            await self.loop.create_connection(lambda: _Back(self), "127.0.0.1", self.gate.inner_port)
        except OSError:
            self.refuse(UNREACHABLE)
            return
        back = cast(_Back, self.back)
        back.transport.write(request.encode(self.gate.password))
        if request.upgrade:
            self.within(None)
            self.other = back
            back.transport.write(rest)
        self.transport.resume_reading()

    def answer(self, request: Request) -> None:
        """Answers what is ours to answer."""
        answers, path = self.gate.answers, request.path
        self.decided = True
        self.head.clear()
        self.within(None)
        if path == NEWS:
            answers.news.add(self.transport)
        elif path in answers.pages:
            self.send(answers.pages[path])
        else:
            self.within(ANSWER_SECONDS, self.abort)
            answers.questions[path](self.reply)

    def reply(self, answer: Answer) -> None:
        """Sends a response, from any thread."""
        with contextlib.suppress(RuntimeError):  # the gate is closed
            self.loop.call_soon_threadsafe(self.send, answer)

    def send(self, answer: Answer) -> None:
        """Sends a whole response, to a client that reads."""
        if self in self.gate.fronts:
            self.within(ANSWER_SECONDS, self.abort)
            self.transport.write(answer.encode())
            self.transport.write_eof()

    def refuse(self, answer: Answer) -> None:
        """Says why, then ends the connection once the client has read it (or had the time to)."""
        self.decided = True
        self.head.clear()
        self.within(LINGER, self.abort)
        self.transport.resume_reading()  # closed with bytes unread, the answer would be lost
        self.transport.write(answer.encode())
        self.transport.write_eof()

    def within(self, seconds: float | None, otherwise: Any = None) -> None:
        """Sets the only timer of this connection, or takes it back."""
        if self.timer is not None:
            self.timer.cancel()
        self.timer = None if seconds is None else self.loop.call_later(seconds, otherwise)

    def finish(self) -> None:
        """The inner server has ended: what it sent is still delivered, to a client that reads."""
        self.other = None
        if self in self.gate.fronts:
            self.within(ANSWER_SECONDS, self.abort)
            self.transport.close()

    def abort(self) -> None:
        """Ends both sides at once."""
        self.transport.abort()

    def eof_received(self) -> bool:
        return self.connecting is not None and self.other is None  # it may still read a plain answer

    def connection_lost(self, error: Exception | None) -> None:
        self.within(None)
        self.gate.fronts.discard(self)
        self.gate.answers.news.readers.discard(self.transport)
        if self.connecting is not None:
            self.connecting.cancel()
        if self.back is not None:
            self.back.transport.abort()


class _Back(_Pipe):
    """The inner server's end."""

    def __init__(self, front: _Front) -> None:
        self.front = front

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.other = self.front
        self.front.back = self

    def connection_lost(self, error: Exception | None) -> None:
        self.front.finish()


def _listen(host: str, port: int) -> socket.socket:
    """A listening socket; SceneError in one sentence where there can be none."""
    if not 0 <= port <= 65535:
        raise SceneError(f"--port must be from 1 to 65535 (or 0, the system's choice), got {port}")
    name = "127.0.0.1" if host.lower() == "localhost" else host
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            name, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (socket.gaierror, UnicodeError):
        raise SceneError(f"--host {host}: no such address; give one of this machine's, or 0.0.0.0 for all") from None
    listener = socket.socket(family, kind, protocol)
    try:
        if hasattr(socket, "SO_EXCLUSIVEADDRUSE"):  # Windows, where SO_REUSEADDR would let others take the port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(MAX_CONNECTIONS)
        listener.setblocking(False)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise SceneError(f"port {port} is taken: choose another with --port") from None
        if error.errno == errno.EACCES:
            raise SceneError(f"port {port} is not allowed to you: choose one above 1023 with --port") from None
        reason = error.strerror or error
        raise SceneError(f"--host {host}: cannot listen there ({reason}); give an address of this machine") from None
    return listener


def _own_address(family: socket.AddressFamily) -> str:
    """This machine's address as others see it, as far as it can be known; nothing is sent."""
    outside = "2001:db8::1" if family == socket.AF_INET6 else "192.0.2.1"  # addresses kept for documentation
    with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.connect((outside, 9))
        return str(probe.getsockname()[0])
    return "::1" if family == socket.AF_INET6 else "127.0.0.1"
