"""Reader of request bodies, with limits, a deadline and a small limit for anonymous clients."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress

from config.http.body import MAX_UPLOAD_BYTES, NDJSON
from config.http.memory_budget import MemoryBudget
from config.http.messages import MAX_ANONYMOUS_BYTES, Receive, Request
from config.http.spool import Spool

_MAX_BYTES = 4 * 2**20  # JSON may have 1 MiB. A form may have a file of that size, plus its fields
_SECONDS = 20.0
_BYTES_A_SECOND = 64 * 2**10
"""A body has 20 s, plus 1 s for each 64 KiB that has arrived."""
_MAX_DRAINED_BYTES = 64 * 2**20  # twice the largest upload: a client that sends more is cut off
_DRAIN_SECONDS = 5.0  # a client that sends more slowly is cut off


class BodyLate(Exception):
    """The body did not arrive in time."""


class BudgetExhausted(Exception):
    """This process, or this sender's share of it, holds as many body bytes as it may."""


class BodyBroken(Exception):
    """The client disconnected or closed its sending side before the end, or sent malformed chunks.

    The server does not say which.
    """


class Body(Spool):
    """The body of a request, up to its sender's limit.

    Attributes:
        is_complete: whether all of it was read.
        is_anonymous: whether it is incomplete because its sender is unknown.
    """

    def __init__(self) -> None:
        super().__init__()
        self.is_complete, self.is_anonymous = False, False
        self._reservations: list[tuple[MemoryBudget, int, str]] = []

    def add(self, chunk: bytes, budget: MemoryBudget, sender: str) -> None:
        """Append a chunk. Raises BudgetExhausted."""
        if not budget.reserve(len(chunk), sender):
            raise BudgetExhausted
        self._reservations.append((budget, len(chunk), sender))
        self.write(chunk)

    def close(self) -> None:
        super().close()
        for budget, size, sender in self._reservations:
            budget.release(size, sender)


class Reader:
    """Reads the bodies of a process.

    Args:
        identify: returns the sender's name from the head of a request, or an empty text.
        anonymous, authenticated: separate budgets, so that anonymous clients cannot exhaust that of the others.
    """

    def __init__(
        self, identify: Callable[[Request], Awaitable[str]], anonymous: MemoryBudget, authenticated: MemoryBudget
    ) -> None:
        self.identify, self.anonymous, self.authenticated = identify, anonymous, authenticated

    async def read(self, request: Request, receive: Receive, body: Body) -> None:
        """Read the request body into `body`, up to the sender's limit.

        Raises:
            BodyLate, BudgetExhausted, BodyBroken
        """
        if not request.has_body:
            body.is_complete = True
            return
        started_at = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout_at(started_at + _SECONDS) as deadline:
                async for size in self._chunks(request, receive, body):
                    if size > _BYTES_A_SECOND:
                        deadline.reschedule(started_at + _SECONDS + size / _BYTES_A_SECOND)
        except TimeoutError:
            raise BodyLate from None

    async def _chunks(self, request: Request, receive: Receive, body: Body) -> AsyncIterator[int]:
        limit, sender = _max_bytes(request), ""
        chunk = b""
        while True:
            size = body.size + len(chunk)
            is_large = max(request.content_length or 0, size) > MAX_ANONYMOUS_BYTES
            if not sender and (is_large or not self.anonymous.fits(len(chunk), "")):
                sender = await self.identify(request)
                if is_large and not sender:
                    body.is_anonymous = True
                    return
            body.add(chunk, self.authenticated if sender else self.anonymous, sender)
            if body.size > limit:
                return
            yield body.size
            chunk = await _next(receive)
            if not chunk:
                break
        body.is_complete = True


async def drain(receive: Receive) -> None:
    """Discard the rest of a body, within limits.

    Otherwise the server resets the connection, and a client that is still sending sees a broken pipe instead of its
    401, 413 or 415.
    """
    left = _MAX_DRAINED_BYTES
    with suppress(TimeoutError, BodyBroken):
        async with asyncio.timeout(_DRAIN_SECONDS):
            while left > 0 and (chunk := await _next(receive)):
                left -= len(chunk)


async def departure(receive: Receive) -> None:
    """Return once the client has disconnected. Call it after reading the whole body."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _max_bytes(request: Request) -> int:
    content_type = request.headers.get(b"content-type", b"").lower()  # media types have no case (RFC 9110, 8.3.1)
    return MAX_UPLOAD_BYTES if content_type.startswith(NDJSON.encode()) else _MAX_BYTES


async def _next(receive: Receive) -> bytes:
    """Return the next bytes, or none at the end. Raises BodyBroken."""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise BodyBroken
        chunk: bytes = message.get("body", b"")
        if chunk or not message.get("more_body"):
            return chunk
