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
from config.http.body_reader import Body, BodyBroken, BodyLate, BudgetExhausted, Reader, drain
from config.http.fair_turns import Busy, Left
from config.http.json_responses import dump
from config.http.memory_budget import MemoryBudget
from config.http.messages import Answer, Receive, Request, Scope, Send
from config.http.request_threads import Application, ThreadFailed, Threads, environ_of

log = structlog.get_logger("front")

_OVERLOADED = "The service is at capacity. Repeat the same request: a record is never kept twice."
_FAILED = "The service cannot handle this right now. Repeat the same request: a record is never kept twice."
_FAULT = "The service failed. Retrying is safe: a record is never kept twice."
_CODED = "Encoded bodies are not supported. Send the body without Content-Encoding."
_TRANSFER_CODED = "This transfer coding is not supported. Send Content-Length, or Transfer-Encoding: chunked alone."
_DRAIN_SECONDS = 4.0
"""From SIGTERM until waiting requests are refused. The web server kills the process 4 s after that."""
_RETRY_HEADERS = {"Retry-After": str(RETRY_AFTER_SECONDS)}
_TRANSIENT_ERRNOS = {errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.ENOMEM}
"""Exhausted resources of the machine, for example disk space for a large body."""
_BROKEN = "The body ended early, or its chunks are malformed. Nothing was stored. Send it again."
_LATE = "The body did not arrive in time. Nothing was stored. Send it again."


class Front:
    """The ASGI application.

    Args:
        django: the WSGI application.
        threads: the number of threads that run it.
        waiting: limit of requests that run in a thread or wait for one.
        anonymous, authenticated: limits of body bytes in flight, of requests without and with known credentials.
    """

    def __init__(self, django: Application, *, threads: int, waiting: int, anonymous: int, authenticated: int) -> None:
        self.threads = Threads(django, size=threads, limit=waiting)
        self.lookups = Threads(django, size=1, limit=waiting)  # requests that wait for Django do not block them
        self.reader = Reader(self._sender, MemoryBudget(anonymous), MemoryBudget(authenticated))
        self.lanes: dict[tuple[str, str], lanes.Lane] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        if scope["type"] != "http":
            return
        request = Request(scope)
        try:
            answer = await self._exchange(request, receive)
            await answer.send(send)
        except (TimeoutError, Left):  # the client reads too slowly or has disconnected
            _log(request, 499, _route(request))
        except Exception as error:  # the server would print it with its message
            log.error("front failed", request_id=request.id, exc_info=error)

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                try:
                    self.lanes = lanes.make_all()
                except Exception as error:  # Django answers without lanes too
                    log.error("no lanes", exc_info=error)
                _call_on_sigterm(self.drain)
                self.heart = asyncio.create_task(heartbeats.beat(lambda: not self.threads.are_stuck()))
                self.heart.add_done_callback(_report_end)
            await send({"type": f"{message['type']}.complete"})
            if message["type"] == "lifespan.shutdown":
                self.heart.cancel()
                return

    def drain(self) -> None:
        """Let running requests end. After `_DRAIN_SECONDS`, refuse those still waiting for a thread."""
        asyncio.get_running_loop().call_later(_DRAIN_SECONDS, self.threads.turns.close)

    async def _exchange(self, request: Request, receive: Receive) -> Answer:
        body = Body()
        try:
            answer = await self._answer(request, receive, body)
        finally:
            body.close()
        if not body.is_complete and b"expect" not in request.headers:  # with Expect, the client has sent nothing yet
            await drain(receive)
        return answer

    async def _answer(self, request: Request, receive: Receive, body: Body) -> Answer:
        if request.path == "/healthz" and request.method in ("GET", "HEAD"):
            body.is_complete = True
            return front_answers.of_document(request, 200, b'{"status": "ok"}')
        if refusal := _refuse_coding(request):
            return refusal
        try:
            await self.reader.read(request, receive, body)
            return await self._by_lane(request, body) or await self.threads.answer(request, body, receive)
        except BodyLate:
            body.is_complete = True  # the connection closes, so there is nothing to drain
            return _refusal(request, 408, _LATE, {"Connection": "close"})
        except BodyBroken:
            body.is_complete = True  # nothing is left to drain
            return _refusal(request, 400, _BROKEN, {"Connection": "close"})
        except (BudgetExhausted, Busy):
            return _refusal(request, 503, _OVERLOADED, _RETRY_HEADERS)
        except (asyncio.CancelledError, Left):
            raise
        except ThreadFailed as failed:
            return _failure(request, failed.__cause__)
        # Panics of libraries in Rust derive from BaseException alone.
        except BaseException as error:
            return _failure(request, error)

    async def _by_lane(self, request: Request, body: Body) -> Answer | None:
        lane = self.lanes.get((request.method, request.path))
        if lane is None or not body.is_complete or body.size > lanes.MAX_BYTES or request.scope["query_string"]:
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


def _call_on_sigterm(drain: Callable[[], None]) -> None:
    """Make this event loop call `drain` on SIGTERM.

    The web server's own handler runs too, because a signal wakes the loop whatever Python's handler is.
    """
    if threading.current_thread() is threading.main_thread():
        loop = asyncio.get_running_loop()
        signal.signal(signal.SIGTERM, lambda *_: loop.call_soon_threadsafe(drain))


def _report_end(heart: asyncio.Task[None]) -> None:
    """Log why the heartbeat ended: the event loop reports a task only once nothing refers to it any more."""
    if not heart.cancelled() and (error := heart.exception()) is not None:
        log.error("no heartbeat", exc_info=error)


def _refuse_coding(request: Request) -> Answer | None:
    """Return a refusal of a body whose coding we do not decode (RFC 9112, 6.1 and RFC 9110, 15.5.16), or None."""
    if request.codings(b"transfer-encoding", b"chunked") != [b"chunked"]:
        return _refusal(request, 501, _TRANSFER_CODED, {"Connection": "close"})
    if request.has_body and set(request.codings(b"content-encoding", b"identity")) != {b"identity"}:
        return _refusal(request, 415, _CODED, {"Accept-Encoding": "identity"})
    return None


def _failure(request: Request, error: BaseException | None) -> Answer:
    """Log an unexpected exception. Answer 503 if the same request may succeed later, else 500."""
    log.error("front failed", request_id=request.id, exc_info=error)
    if isinstance(error, DomainError):
        later = {} if error.retry_after is None else {"Retry-After": str(error.retry_after)}
        return _refusal(request, error.status, error.sentence, later)
    if db.is_outage(error) or (isinstance(error, OSError) and error.errno in _TRANSIENT_ERRNOS):
        return _refusal(request, 503, _FAILED, _RETRY_HEADERS)
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
