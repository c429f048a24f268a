"""What the gate answers itself: the page with our shell, news of the playground, and answers to questions.

News are lines of JSON on one response that does not end: a page that reads it knows at once what the server does, and
that it has ended. All of it is only read; what a page wants done goes through viser's socket.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable
from typing import Any

from turgor.viewer.server.admission import Answer, Request

__all__ = ["LINK", "NEWS", "Answers", "News", "Reply"]

NEWS = "/turgor/news"
LINK = "/turgor/link"
MOST_WAITING = 64 * 1024  # bytes: a page that leaves so much unread has gone, though its connection has not

Reply = Callable[[Answer], None]  # may be called from any thread


class News:
    """The latest facts, and the pages that are told when they change."""

    def __init__(self) -> None:
        self.latest = b""
        self.readers: set[asyncio.Transport] = set()
        self.loop: asyncio.AbstractEventLoop | None = None  # of the gate, while it runs

    def tell(self, facts: dict[str, Any]) -> None:
        """From now on these are the facts; those who read are told if they differ. From any thread."""
        line = json.dumps(facts).encode("ascii") + b"\n"
        if line == self.latest:
            return
        self.latest = line
        if self.loop is not None:
            with contextlib.suppress(RuntimeError):  # the gate is closed
                self.loop.call_soon_threadsafe(self._send, line)

    def add(self, reader: asyncio.Transport) -> None:
        """Someone reads from now on (on the gate's loop)."""
        reader.write(Answer.head("200 OK", "application/x-ndjson"))
        reader.write(self.latest)
        self.readers.add(reader)

    def _send(self, line: bytes) -> None:
        for reader in list(self.readers):
            if reader.get_write_buffer_size() > MOST_WAITING:
                reader.abort()
            else:
                reader.write(line)


class Answers:
    """What there is to be asked for, by path."""

    def __init__(self) -> None:
        self.news = News()
        self.pages: dict[str, Answer] = {}
        self.questions: dict[str, Callable[[Reply], None]] = {}  # called on the gate's loop, with where the answer goes

    def knows(self, request: Request) -> bool:
        """Whether a request is answered here, not by viser."""
        path = request.path
        return not request.upgrade and (path == NEWS or path in self.pages or path in self.questions)
