"""A request as the front sees it, and an answer as it sends it."""

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

MOST_OF_STRANGERS = 64 * 2**10
"""How many bytes of a body are read of whoever is not known."""
COUNTED = "drs.counted"
"""In a WSGI environ: a rate limit has counted this request already."""
CUT = "drs.cut"
"""In a WSGI environ: the body is more than is read, and what was read of it means nothing."""
STRANGER = "drs.stranger"
"""In a WSGI environ: that is so because nobody knows who sends it."""
ORGANIZATION = "drs.organization"
"""In a WSGI environ, once Django has authenticated the request: the id of the caller's organization."""
_CHUNK = 2**16
_SECONDS_A_CHUNK = 60


class Request:
    """The head of a request: what ASGI's scope says of it."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.begun = time.perf_counter()
        self.is_counted = False
        """Whether a rate limit has counted it already."""

    @cached_property
    def headers(self) -> dict[bytes, bytes]:
        """By their names in lower case; of one that is repeated, the values joined as RFC 9110 section 5.3 has it."""
        found: dict[bytes, bytes] = {}
        for name, value in self.scope["headers"]:
            between = b"; " if name == b"cookie" else b","  # RFC 9113 section 8.2.3
            found[name] = found[name] + between + value if name in found else value
        return found

    @cached_property
    def id(self) -> str:
        return request_log.request_id(self.headers.get(b"x-request-id", b"").decode("latin-1"))

    @property
    def is_secure(self) -> bool:
        """As Django tells it: by the scheme, or by what the proxy in front says of it."""
        if settings.SECURE_PROXY_SSL_HEADER:
            return self.headers.get(b"x-forwarded-proto", b"").split(b",")[0].strip() == b"https"
        return bool(self.scope["scheme"] == "https")

    @property
    def content_length(self) -> int | None:
        """As announced; None for a body in chunks, or for none at all."""
        announced = self.headers.get(b"content-length", b"")
        return int(announced) if announced.isdigit() else None

    def codings(self, name: bytes, plain: bytes) -> list[bytes]:
        """Return the codings that a header names, in lower case, or `plain` alone if it names none."""
        named = [coding.strip().lower() for coding in self.headers.get(name, b"").split(b",")]
        return [coding for coding in named if coding] or [plain]

    @property
    def has_body(self) -> bool:
        """HTTP/2 needs no header to say so."""
        by_header = bool(self.content_length) or b"transfer-encoding" in self.headers
        return by_header or (self.scope["http_version"] != "1.1" and self.content_length is None)


class Answer(NamedTuple):
    """What goes out. A large body is a file, which `send` closes."""

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
                async with asyncio.timeout(_SECONDS_A_CHUNK):  # whoever reads more slowly is cut off
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
