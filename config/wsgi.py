import os
import threading
from collections.abc import Callable, Iterable
from typing import Any

from django.core.wsgi import get_wsgi_application

from config import startup

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
_django = get_wsgi_application()

_CHUNK = 2**16
_MAX_DRAINED_BYTES = 64 * 2**20  # twice the largest upload: a client that sends more is cut off
_DRAIN_SECONDS = 5  # a client that sends more slowly is cut off
_draining = threading.Lock()


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Answer with Django, then drain the part of the body that the answer left unread.

    Otherwise the server resets the connection, and a client that is still sending sees a broken pipe instead of its
    401, 413 or 415.
    """
    answer = _django(environ, start_response)
    # The answer to a batch is a file, which the server wraps: it has no status, and the batch may have stopped early.
    status = getattr(answer, "status_code", 400)
    if status >= 400 and (environ.get("CONTENT_LENGTH") or "HTTP_TRANSFER_ENCODING" in environ):
        _drain(environ["wsgi.input"])
    return answer


def _drain(stream: Any) -> None:
    """Read the rest of a body, within limits.

    A read blocks as long as the client likes, so a separate thread reads, and ends once the answer is sent. One body is
    drained at a time, so that slow clients occupy one thread at most.
    """
    if _draining.acquire(blocking=False):
        try:
            reader = threading.Thread(target=_read, args=(stream,), daemon=True)
            reader.start()
            reader.join(_DRAIN_SECONDS)
        finally:
            _draining.release()


def _read(stream: Any) -> None:
    left = _MAX_DRAINED_BYTES
    while left > 0 and (chunk := stream.read(_CHUNK)):
        left -= len(chunk)


startup.check()
startup.calm_garbage_collection()
