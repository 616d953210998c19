import os
import threading
from collections.abc import Callable, Iterable
from typing import Any

from django.core.wsgi import get_wsgi_application

from config import startup

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
_django = get_wsgi_application()

_CHUNK = 2**16
_DRAINED = 64 * 2**20  # twice the largest upload; whoever sends more than that is cut off
_DRAIN_SECONDS = 5  # and whoever sends more slowly
_draining = threading.Lock()


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Django, and after it the rest of a body that an answer left unread.

    Without this the server resets the connection, and a client that is still sending sees a broken pipe in place
    of its 401, 413 or 415.
    """
    answer = _django(environ, start_response)
    # A batch is answered with a file, which the server wraps, and may have stopped before its end.
    status = getattr(answer, "status_code", 400)
    if status >= 400 and (environ.get("CONTENT_LENGTH") or "HTTP_TRANSFER_ENCODING" in environ):
        _drain(environ["wsgi.input"])
    return answer


def _drain(stream: Any) -> None:
    """Read to the end, but not for ever: a read waits as long as the client likes, so it is done in a thread of its
    own. Sending the answer ends that one too. One body at a time: who sends slowly holds one thread and no more.
    """
    if _draining.acquire(blocking=False):
        try:
            reader = threading.Thread(target=_read, args=(stream,), daemon=True)
            reader.start()
            reader.join(_DRAIN_SECONDS)
        finally:
            _draining.release()


def _read(stream: Any) -> None:
    left = _DRAINED
    while left > 0 and (chunk := stream.read(_CHUNK)):
        left -= len(chunk)


startup.check()
startup.calm_garbage_collection()
