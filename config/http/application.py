import asyncio
import errno
import signal
import threading
from collections.abc import Callable, Mapping

import structlog
from django.template.loader import render_to_string
from django.urls import Resolver404, resolve

from config import db, heartbeats, request_log
from config.errors import RETRY_AFTER_SECONDS, DomainError
from config.http import front_answers, lanes, sender_name
from config.http.body_reader import Body, BodyBroken, BodyLate, NoRoom, Reader, drain
from config.http.fair_turns import Busy, Left
from config.http.json_responses import dump
from config.http.memory_budget import Room
from config.http.messages import Answer, Receive, Request, Scope, Send
from config.http.request_threads import Application, ThreadFailed, Threads, environ_of

log = structlog.get_logger("front")

_FULL = "The service has all it can do at once. Repeat the same request: a record is never kept twice."
_FAILED = "The service cannot take this right now. Repeat the same request: a record is never kept twice."
_FAULT = "The service failed. Retrying is safe: a record is never kept twice."
_CODED = "Bodies are read as they come. Send it without Content-Encoding."
_TRANSFER_CODED = "Bodies are read as they come. Send it with Content-Length, or Transfer-Encoding: chunked alone."
_DRAIN_SECONDS = 4.0
"""After SIGTERM. The web server kills a process 4 s later, which leaves running requests that long to end."""
_LATER = {"Retry-After": str(RETRY_AFTER_SECONDS)}
_PASSING = {errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.ENOMEM}
"""Errors of a machine that has run out of something, such as room for a large body."""
_BROKEN = "The body ended early, or its chunks are malformed. Nothing was stored. Send it again."
_LATE = "The body did not arrive in time. Nothing was stored. Send it again."


class Front:
    """The ASGI application.

    Args:
        django: as WSGI.
        threads: in which it runs.
        waiting: requests that may be in them, or wait for one.
        strangers, senders: bytes of requests under way, from whoever is not known and from those who are.
    """

    def __init__(self, django: Application, *, threads: int, waiting: int, strangers: int, senders: int) -> None:
        self.threads = Threads(django, size=threads, most=waiting)
        self.lookups = Threads(django, size=1, most=waiting)  # requests that wait for Django are not in their way
        self.reader = Reader(self._sender, Room(strangers), Room(senders))
        self.lanes: dict[tuple[str, str], lanes.Lane] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        if scope["type"] != "http":
            return
        request = Request(scope)
        try:
            answer = await self._exchange(request, receive)
            await answer.send(send)
        except (TimeoutError, Left):  # the client reads too slowly, or has gone
            _log(request, 499, _route(request))
        except Exception as error:  # the server would print it with its message
            log.error("front failed", request_id=request.id, exc_info=error)

    async def _live(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                try:
                    self.lanes = lanes.make_all()
                except Exception as error:  # Django answers without lanes too
                    log.error("no lanes", exc_info=error)
                _on_sigterm(self.drain)
                self.heart = asyncio.create_task(heartbeats.beat(lambda: not self.threads.are_stuck()))
                self.heart.add_done_callback(_report_end)
            await send({"type": f"{message['type']}.complete"})
            if message["type"] == "lifespan.shutdown":
                self.heart.cancel()
                return

    def drain(self) -> None:
        """Let running requests end, and in a while refuse those that still wait for a thread."""
        asyncio.get_running_loop().call_later(_DRAIN_SECONDS, self.threads.turns.close)

    async def _exchange(self, request: Request, receive: Receive) -> Answer:
        body = Body()
        try:
            answer = await self._answer(request, receive, body)
        finally:
            body.close()
        if not body.is_complete and b"expect" not in request.headers:  # who expects an answer has sent nothing yet
            await drain(receive)
        return answer

    async def _answer(self, request: Request, receive: Receive, body: Body) -> Answer:
        if request.path == "/healthz" and request.method in ("GET", "HEAD"):
            body.is_complete = True
            return front_answers.of_document(request, 200, b'{"status": "ok"}')
        if coded := _coded(request):
            return coded
        try:
            await self.reader.read(request, receive, body)
            return await self._by_lane(request, body) or await self.threads.answer(request, body, receive)
        except BodyLate:
            body.is_complete = True  # the client does not wait for the rest
            return _refusal(request, 408, _LATE, {"Connection": "close"})
        except BodyBroken:
            body.is_complete = True  # the server has read what there is
            return _refusal(request, 400, _BROKEN, {"Connection": "close"})
        except (NoRoom, Busy):
            return _refusal(request, 503, _FULL, _LATER)
        except (asyncio.CancelledError, Left):
            raise
        except ThreadFailed as failed:
            return _failure(request, failed.__cause__)
        # Panics of libraries in Rust derive from BaseException alone.
        except BaseException as error:
            return _failure(request, error)

    async def _by_lane(self, request: Request, body: Body) -> Answer | None:
        lane = self.lanes.get((request.method, request.path))
        if lane is None or not body.is_complete or body.size > lanes.MOST_BYTES or request.scope["query_string"]:
            return None
        try:
            answer = await lane(request, body.content())
        except Exception as error:
            log.error("lane failed", request_id=request.id, route=request.path[1:], exc_info=error)
            return None
        if answer:
            _log(request, answer.status, request.path[1:], by="lane")
        return answer

    async def _sender(self, request: Request) -> str:
        return await self.lookups.run(db.fresh(sender_name.identify), environ_of(request, Body()))


def _on_sigterm(drain: Callable[[], None]) -> None:
    """Have this event loop call `drain` on SIGTERM.

    The web server's own handler is called too, because a signal wakes the loop whatever Python's handler is.
    """
    if threading.current_thread() is threading.main_thread():
        loop = asyncio.get_running_loop()
        signal.signal(signal.SIGTERM, lambda *_: loop.call_soon_threadsafe(drain))


def _report_end(heart: asyncio.Task[None]) -> None:
    """Log why the heartbeat ended: the event loop reports a task only once nothing refers to it any more."""
    if not heart.cancelled() and (error := heart.exception()) is not None:
        log.error("no heartbeat", exc_info=error)


def _coded(request: Request) -> Answer | None:
    """Refuse a body whose coding would not be undone (RFC 9112, 6.1 and RFC 9110, 15.5.16)."""
    if request.codings(b"transfer-encoding", b"chunked") != [b"chunked"]:
        return _refusal(request, 501, _TRANSFER_CODED, {"Connection": "close"})
    if request.has_body and set(request.codings(b"content-encoding", b"identity")) != {b"identity"}:
        return _refusal(request, 415, _CODED, {"Accept-Encoding": "identity"})
    return None


def _failure(request: Request, error: BaseException | None) -> Answer:
    """Log an unexpected exception, and answer: 503 if the same request may succeed later, else 500."""
    log.error("front failed", request_id=request.id, exc_info=error)
    if isinstance(error, DomainError):
        later = {} if error.retry_after is None else {"Retry-After": str(error.retry_after)}
        return _refusal(request, error.status, error.sentence, later)
    if db.is_outage(error) or (isinstance(error, OSError) and error.errno in _PASSING):
        return _refusal(request, 503, _FAILED, _LATER)
    return _refusal(request, 500, _FAULT, {})


def _refusal(request: Request, status: int, sentence: str, headers: Mapping[str, str]) -> Answer:
    _log(request, status, _route(request))
    if request.path.startswith(("/v1/", "/readyz")):
        return front_answers.of_document(request, status, dump({"detail": sentence}), headers)
    return front_answers.of_page(request, status, render_to_string("error.html", {"exception": sentence}), headers)


def _log(request: Request, status: int, route: str | None, **more: str) -> None:
    request_log.write(
        request_id=request.id, method=request.method, route=route, status=status, begun=request.begun, **more
    )


def _route(request: Request) -> str | None:
    try:
        return resolve(request.path).route
    except Resolver404:
        return None
