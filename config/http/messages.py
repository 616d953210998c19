"""Requests and answers of the front, in ASGI's terms."""

import asyncio
import time
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from functools import cached_property
from typing import IO, Any, NamedTuple

from django.conf import settings

from config import request_log

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Headers = Sequence[tuple[bytes, bytes]]

MAX_ANONYMOUS_BYTES = 64 * 2**10
"""Limit of a body whose sender is unknown."""
COUNTED = "drs.counted"
"""In a WSGI environ: whether a rate limit has already counted this request."""
CUT = "drs.cut"
"""In a WSGI environ: whether the body exceeded its limit. Its beginning is then useless."""
ANONYMOUS = "drs.anonymous"
"""In a WSGI environ: whether the body exceeded the limit of unknown senders."""
ORGANIZATION = "drs.organization"
"""In a WSGI environ, once Django has authenticated the request: the id of the caller's organization."""
_CHUNK = 2**16
_SECONDS_A_CHUNK = 60


class Request:
    """The head of a request, from ASGI's scope."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.begun = time.perf_counter()
        self.is_counted = False
        """Whether a rate limit has already counted this request."""

    @cached_property
    def headers(self) -> dict[bytes, bytes]:
        """Return values by lower-case name. Values of a repeated name are joined (RFC 9110, 5.3)."""
        values: dict[bytes, bytes] = {}
        for name, value in self.scope["headers"]:
            separator = b"; " if name == b"cookie" else b","  # RFC 9113, 8.2.3
            values[name] = values[name] + separator + value if name in values else value
        return values

    @cached_property
    def id(self) -> str:
        return request_log.request_id(self.headers.get(b"x-request-id", b"").decode("latin-1"))

    @property
    def is_secure(self) -> bool:
        """Whether the client used HTTPS, by Django's rule: the scheme, or the proxy's header."""
        if settings.SECURE_PROXY_SSL_HEADER:
            return self.headers.get(b"x-forwarded-proto", b"").split(b",")[0].strip() == b"https"
        return bool(self.scope["scheme"] == "https")

    @property
    def content_length(self) -> int | None:
        """Return the announced length, or None for a chunked body or no body."""
        announced = self.headers.get(b"content-length", b"")
        return int(announced) if announced.isdigit() else None

    def codings(self, name: bytes, plain: bytes) -> list[bytes]:
        """Return the codings in a header, in lower case, or `plain` alone if it has none."""
        named = [coding.strip().lower() for coding in self.headers.get(name, b"").split(b",")]
        return [coding for coding in named if coding] or [plain]

    @property
    def has_body(self) -> bool:
        """Whether a body follows. HTTP/2 may omit both headers."""
        by_header = bool(self.content_length) or b"transfer-encoding" in self.headers
        return by_header or (self.scope["http_version"] != "1.1" and self.content_length is None)


class Answer(NamedTuple):
    """An answer. A large body is a file, which `send` closes."""

    status: int
    headers: Headers
    body: bytes | IO[bytes]

    async def send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status, "headers": self.headers})
        if isinstance(self.body, bytes):
            await send({"type": "http.response.body", "body": self.body})
            return
        with self.body as file:
            while chunk := file.read(_CHUNK):
                async with asyncio.timeout(_SECONDS_A_CHUNK):  # a client that reads more slowly is cut off
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
