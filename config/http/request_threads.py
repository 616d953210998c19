"""Django, in a bounded pool of threads.

Existing ASGI-to-WSGI adapters block a thread while a client sends its body or reads the answer slowly. Here a thread
gets a complete body and returns a complete answer.
"""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar
from urllib.parse import unquote_to_bytes

from config.http.body_reader import Body, departure
from config.http.fair_turns import Turns
from config.http.messages import ANONYMOUS, COUNTED, CUT, Answer, Receive, Request
from config.http.request_groups import Groups
from config.http.spool import Spool

Environ = dict[str, Any]
Application = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]

T = TypeVar("T")

THREADS = 4
"""Threads a process: Python computes in one at a time, while the others wait for the database."""

STUCK_SECONDS = 120.0
"""A thread may wait for a slow vault or database, but if none becomes free for so long, none ever will."""

_HOP_BY_HOP = (b"connection", b"transfer-encoding")


class ThreadFailed(Exception):
    """A function raised in a thread. Its exception is the cause.

    Unwrapped, a CancelledError, GeneratorExit or SystemExit would end the task that waits for the thread.
    """


class Threads:
    """A pool of threads that answers requests with a WSGI application, or runs other functions for them.

    Args:
        size: threads in the pool.
        limit: requests that may run or wait at once.
    """

    def __init__(self, application: Application, *, size: int, limit: int) -> None:
        self.application, self.size = application, size
        self.turns, self.groups = Turns(size, limit), Groups()
        self._freed_at = time.monotonic()
        self.pool = ThreadPoolExecutor(size, "django")

    async def answer(self, request: Request, body: Body, receive: Receive) -> Answer:
        """Answer a request when its group has a turn.

        A client that disconnects before its turn takes no thread. Once Django has begun, it finishes.

        Raises:
            Busy, Left, ThreadFailed
        """
        environ = environ_of(request, body)
        leave = partial(departure, receive) if body.is_complete else None
        answer = await self.run(self._answer, environ, self.groups.of(environ), leave)
        self.groups.learn(environ, answer.status)
        return answer

    async def run(
        self,
        function: Callable[[Environ], T],
        environ: Environ,
        group: str = "",
        leave: Callable[[], Awaitable[object]] | None = None,
    ) -> T:
        """Return the result of a function, called with an environ in a thread.

        Raises:
            Busy, Left
            ThreadFailed: the function raised.
        """
        await self.turns.take(group, leave)
        self._freed_at = time.monotonic()  # a thread was free until now
        try:
            return await asyncio.get_running_loop().run_in_executor(self.pool, _contained, function, environ)
        finally:
            self._freed_at = time.monotonic()
            self.turns.give(group)

    def are_stuck(self) -> bool:
        """Whether every thread is busy and none has become free for `STUCK_SECONDS`."""
        return self.turns.taken.total() >= self.size and time.monotonic() - self._freed_at > STUCK_SECONDS

    def _answer(self, environ: Environ) -> Answer:
        begun: list[Any] = []

        def start_response(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> None:
            begun[:] = status, headers

        blocks, content = self.application(environ, start_response), Spool()
        try:
            for block in blocks:
                content.write(block)
        except BaseException:
            content.close()
            raise
        finally:
            if hasattr(blocks, "close"):
                blocks.close()
        status, headers = begun
        encoded = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers]
        return Answer(int(status[:3]), encoded, content.content() if content.is_in_memory else content.file())


def _contained(function: Callable[[Environ], T], environ: Environ) -> T:
    try:
        return function(environ)
    except BaseException as error:
        raise ThreadFailed from error


def environ_of(request: Request, body: Body) -> Environ:
    """Return the WSGI environ (PEP 3333) of a request whose body was read."""
    scope = request.scope
    server, port = scope.get("server") or ("localhost", "80")
    client, client_port = scope.get("client") or ("", "")
    environ: Environ = {
        "REQUEST_METHOD": request.method,
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(scope["raw_path"]).decode("latin-1"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_NAME": server,
        "SERVER_PORT": str(port),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "REMOTE_ADDR": client,
        "REMOTE_PORT": str(client_port),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope["scheme"],
        "wsgi.input": body.file(),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
        COUNTED: request.is_counted,
        CUT: not body.is_complete,
        ANONYMOUS: body.is_anonymous,
    }
    for name, value in request.headers.items():
        # In an environ, X_Forwarded_For would become X-Forwarded-For, which only a trusted proxy may set.
        if b"_" not in name and name not in _HOP_BY_HOP:
            environ[f"HTTP_{name.decode('latin-1').upper().replace('-', '_')}"] = value.decode("latin-1")
    environ["HTTP_X_REQUEST_ID"] = request.id  # front and Django log the same id
    environ["CONTENT_TYPE"] = environ.pop("HTTP_CONTENT_TYPE", "")
    environ.pop("HTTP_CONTENT_LENGTH", None)
    announced = request.content_length
    if announced is None:  # chunked: at least the bytes that were read
        announced = body.size + (not body.is_complete)
    if request.has_body or request.content_length is not None:
        environ["CONTENT_LENGTH"] = str(announced)
    return environ
