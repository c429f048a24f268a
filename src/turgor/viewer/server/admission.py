"""Who may come in: what the gate decides from the head of a request. viser itself would let everybody in.

On loopback a page of another site must be kept out, which the user's own browser would let through to 127.0.0.1: such
a page betrays itself by its Origin, or, when its name was made to point here (DNS rebinding), by its Host. Opened up,
a token that only the user knows is needed as well.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

__all__ = ["PASSWORD_HEADER", "Answer", "Request", "Rules", "parse"]

PASSWORD_HEADER = "X-Turgor-Gate"  # what the gate adds to each request, and the server behind it insists on

LOOPBACK_HOST = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?", re.IGNORECASE)
NAME = re.compile(rb"[-!#$%&'*+.^_`|~0-9a-zA-Z]+")
VALUE = re.compile(rb"[\x09\x20-\x7e\x80-\xff]*")
TARGET = re.compile(r"/[\x21-\x7e]*")
ONCE = ("host", "origin", "upgrade", "connection")  # two of these could be read in two ways
# What viser's page reads from its address and is harmless. Others are not: ?websocket= and ?playbackPath= make the page
# obey a server of someone else's choice, with scripts that would then run here as if they were ours.
HARMLESS = r"(showStats|fixedDpr|logCamera|darkMode|hideViserLogo|forceOrbitOriginTool|initialCamera\w+)(=[\w.,+-]*)?"
QUERY = re.compile(rf"({HARMLESS}(&{HARMLESS})*)?")

MALFORMED = "This is not a request that a browser would send."
FOREIGN_HOST = "This playground answers to localhost only: open the address that turgor play printed."
FOREIGN_ORIGIN = "Another web site may not talk to this playground."
NO_TOKEN = "This playground needs its token: open the address that turgor play printed."
STRANGE_QUERY = "This address has parameters that are not allowed here: open it without them."
ONLY_GET = "This playground is only read; there is nothing to send here."

# Paths of our own are for scripts of our own page: this header makes a browser ask first whether a page of another site
# may send the request, and the gate knows no such question (405).
OWN_PATHS, PAGE_HEADER = "/turgor/", "x-turgor-page"


@dataclass(frozen=True)
class Answer:
    """What the gate says itself instead of passing the request on."""

    status: str
    sentence: str = ""
    headers: tuple[str, ...] = ()
    page: bytes = b""  # HTML, instead of the sentence

    def encode(self) -> bytes:
        """The bytes of the response; the connection ends after it."""
        body = self.page or (f"{self.sentence}\n" if self.sentence else "").encode("utf-8")
        length = f"Content-Length: {len(body)}"
        return Answer.head(self.status, "text/html" if self.page else "text/plain", length, *self.headers) + body

    @staticmethod
    def head(status: str, kind: str, *more: str) -> bytes:
        """The head of a response; without a length it ends with the connection."""
        lines = (
            f"HTTP/1.1 {status}",
            f"Content-Type: {kind}; charset=utf-8",
            "Cache-Control: no-store",
            "Referrer-Policy: no-referrer",
            "X-Content-Type-Options: nosniff",
            *more,
            "Connection: close",
        )
        return "\r\n".join((*lines, "", "")).encode("ascii")


@dataclass(frozen=True)
class Request:
    """The head of one HTTP request."""

    method: str
    target: str  # path and query, as sent
    headers: Mapping[str, str]  # by lower-case name

    @property
    def path(self) -> str:
        """The target without its query."""
        return self.target.partition("?")[0]

    @property
    def upgrade(self) -> bool:
        """Whether it asks for a WebSocket."""
        return self.headers.get("upgrade", "").strip().lower() == "websocket"

    def encode(self, password: str) -> bytes:
        """The head as the server behind the gate gets it: rebuilt, with nothing in it that it does not need.

        Cookies stay outside: those of other programs on this machine are not for viser.
        """
        if self.upgrade:
            kept = [name for name in self.headers if name.startswith("sec-websocket-")]
            lines = ["Connection: Upgrade", "Upgrade: websocket"]
        else:
            kept = [name for name in self.headers if name == "accept-encoding"]
            lines = ["Connection: close"]
        lines += [f"{name}: {self.headers[name]}" for name in ("host", *kept)]
        head = (f"{self.method} {self.target} HTTP/1.1", *lines, f"{PASSWORD_HEADER}: {password}", "", "")
        return "\r\n".join(head).encode("latin-1")


def parse(head: bytes) -> Request | Answer:
    """The request whose head (all before the empty line) this is, read strictly, or why it is none."""
    bad = Answer("400 Bad Request", MALFORMED)
    first, *lines = head.split(b"\r\n")
    parts = first.decode("latin-1").split(" ")
    if len(parts) != 3 or parts[2] != "HTTP/1.1":
        return bad
    method, target, _ = parts
    if method != "GET":
        return Answer("405 Method Not Allowed", ONLY_GET, ("Allow: GET",))
    if not TARGET.fullmatch(target):
        return bad
    headers: dict[str, str] = {}
    for line in lines:
        raw, colon, value = line.partition(b":")
        if not (colon and NAME.fullmatch(raw) and VALUE.fullmatch(value)):
            return bad
        name, text = raw.decode("ascii").lower(), value.decode("latin-1").strip(" \t")
        if name in headers:
            if name in ONCE:
                return bad
            text = f"{headers[name]}{'; ' if name == 'cookie' else ', '}{text}"
        headers[name] = text
    return Request(method, target, headers) if headers.get("host") else bad


@dataclass(frozen=True)
class Rules:
    """The rules of one gate: only this machine (no token), or whoever has the token."""

    token: str | None
    cookie: str  # name of the cookie that keeps the token

    def refusal(self, request: Request) -> Answer | None:
        """What to answer instead of passing the request on; None lets it in."""
        if self.token is None and not LOOPBACK_HOST.fullmatch(request.headers["host"]):
            return Answer("403 Forbidden", FOREIGN_HOST)
        if "origin" in request.headers and not _same(request.headers["origin"], request.headers["host"]):
            return Answer("403 Forbidden", FOREIGN_ORIGIN)
        path, _, query = request.target.partition("?")
        if self.token is not None:
            if path == "/" and not request.upgrade and "token" in (given := parse_qs(query)):
                return self._welcome(given["token"][0])
            if not self._knows(_cookies(request.headers.get("cookie", "")).get(self.cookie, "")):
                return Answer("403 Forbidden", NO_TOKEN)
        if not request.upgrade and not QUERY.fullmatch(query):
            return Answer("403 Forbidden", STRANGE_QUERY)
        if path.startswith(OWN_PATHS) and PAGE_HEADER not in request.headers:
            return Answer("403 Forbidden", FOREIGN_ORIGIN)
        return None

    def _welcome(self, token: str) -> Answer:
        """The right token is put into a cookie and out of the address, where it could be seen or copied.

        Lax, because the address may have been clicked in a chat or a mail: a Strict cookie would then be missing after
        the redirect. Neither is sent with what a page of another site fetches, frames or opens as a WebSocket.
        """
        if not self._knows(token):
            return Answer("403 Forbidden", NO_TOKEN)
        cookie = f"Set-Cookie: {self.cookie}={self.token}; HttpOnly; SameSite=Lax; Path=/"
        return Answer("303 See Other", headers=("Location: /", cookie))

    def _knows(self, token: str) -> bool:
        return self.token is not None and hmac.compare_digest(token.encode("utf-8"), self.token.encode("utf-8"))


def _same(origin: str, host: str) -> bool:
    """Whether an Origin (scheme://host:port) is the Host that was asked; a default port may be left out."""
    try:
        where, asked = urlsplit(origin), urlsplit(f"{origin.partition('://')[0]}://{host}")
        default = {"http": 80, "https": 443}[where.scheme]
        return bool(where.hostname) and (where.hostname, where.port or default) == (
            asked.hostname,
            asked.port or default,
        )
    except (KeyError, ValueError):  # "null", another scheme, a port that is no number
        return False


def _cookies(header: str) -> dict[str, str]:
    pairs = (part.strip().partition("=") for part in header.split(";"))
    return {name: value for name, _, value in pairs}
