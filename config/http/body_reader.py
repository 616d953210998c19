"""Reading bodies: with limits, a deadline, and no more than a little of whoever is not known yet."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress

from config.http.body import MAX_UPLOAD_BYTES, NDJSON
from config.http.memory_budget import Room
from config.http.messages import MOST_OF_STRANGERS, Receive, Request
from config.http.spool import Spool

_MOST = 4 * 2**20  # JSON has 1 MiB; a form may have a file of that size, and its fields
_SECONDS = 20.0
_BYTES_A_SECOND = 64 * 2**10
"""A body has twenty seconds, and one more for each 64 KiB of it that has arrived."""
_DRAINED = 64 * 2**20  # twice the largest upload; whoever sends more than that is cut off
_DRAIN_SECONDS = 5.0  # and whoever sends more slowly


class BodyLate(Exception):
    """It did not arrive in time."""


class NoRoom(Exception):
    """As many bytes as this process holds at once are on their way already."""


class BodyBroken(Exception):
    """The client went away while it was sending, closed its sending side too early, or sent malformed chunks: the
    server does not say which."""


class Body(Spool):
    """The body of a request, or as much of it as is read of its sender.

    Attributes:
        is_complete: whether all of it was read.
        is_of_stranger: it is not, for nobody knows who sends it.
    """

    def __init__(self) -> None:
        super().__init__()
        self.is_complete, self.is_of_stranger = False, False
        self._taken: list[tuple[Room, int, str]] = []

    def add(self, chunk: bytes, room: Room, sender: str) -> None:
        """Raises NoRoom."""
        if not room.take(len(chunk), sender):
            raise NoRoom
        self._taken.append((room, len(chunk), sender))
        self.write(chunk)

    def close(self) -> None:
        super().close()
        for room, size, sender in self._taken:
            room.give(size, sender)


class Reader:
    """Reads the bodies of a process.

    Args:
        identify: who sends a request, by its head; nothing if it does not show.
        strangers, senders: room for the bytes of those who are not known, and of the others, who do not notice when the
            first fills up.
    """

    def __init__(self, identify: Callable[[Request], Awaitable[str]], strangers: Room, senders: Room) -> None:
        self.identify, self.strangers, self.senders = identify, strangers, senders

    async def read(self, request: Request, receive: Receive, body: Body) -> None:
        """Read a request's body into `body`, as far as is read of its sender.

        Raises:
            BodyLate, NoRoom, BodyBroken
        """
        if not request.has_body:
            body.is_complete = True
            return
        begun = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout_at(begun + _SECONDS) as deadline:
                async for size in self._chunks(request, receive, body):
                    if size > _BYTES_A_SECOND:
                        deadline.reschedule(begun + _SECONDS + size / _BYTES_A_SECOND)
        except TimeoutError:
            raise BodyLate from None

    async def _chunks(self, request: Request, receive: Receive, body: Body) -> AsyncIterator[int]:
        most, sender = _most(request), ""
        chunk = b""
        while True:
            size = body.size + len(chunk)
            is_much = max(request.content_length or 0, size) > MOST_OF_STRANGERS
            if not sender and (is_much or not self.strangers.has(len(chunk), "")):
                sender = await self.identify(request)
                if is_much and not sender:
                    body.is_of_stranger = True
                    return
            body.add(chunk, self.senders if sender else self.strangers, sender)
            if body.size > most:
                return
            yield body.size
            chunk = await _next(receive)
            if not chunk:
                break
        body.is_complete = True


async def drain(receive: Receive) -> None:
    """Discard the rest of a body, but not for ever. Without this the server resets the connection, and a client that is
    still sending sees a broken pipe in place of its 401, 413 or 415."""
    left = _DRAINED
    with suppress(TimeoutError, BodyBroken):
        async with asyncio.timeout(_DRAIN_SECONDS):
            while left > 0 and (chunk := await _next(receive)):
                left -= len(chunk)


async def departure(receive: Receive) -> None:
    """Return once the client has left. Reads on, so call it after the whole body."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _most(request: Request) -> int:
    content_type = request.headers.get(b"content-type", b"").lower()  # media types have no case (RFC 9110, 8.3.1)
    return MAX_UPLOAD_BYTES if content_type.startswith(NDJSON.encode()) else _MOST


async def _next(receive: Receive) -> bytes:
    """The next bytes; none at the end. Raises BodyBroken."""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise BodyBroken
        chunk: bytes = message.get("body", b"")
        if chunk or not message.get("more_body"):
            return chunk
