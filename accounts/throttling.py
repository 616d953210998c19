"""Rate limits of the API: per key or person, and per network for requests without credentials."""

import time
from typing import TYPE_CHECKING

import structlog
from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest
from redis.exceptions import RedisError
from rest_framework.exceptions import Throttled
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from accounts.callers import Caller
from config import client_ip
from config.http.messages import COUNTED

if TYPE_CHECKING:  # DRF's views import this module through its settings
    from rest_framework.views import APIView

log = structlog.get_logger("limits")

_MINUTE = 60
_PAUSE_SECONDS = 5
_counts_again = 0.0
"""No requests are counted until then. Otherwise, while Redis is down, each request would wait for its timeout."""


class Limit(BaseThrottle):
    """A limit on requests per minute, counted in the shared cache. 0 means no limit, and costs nothing."""

    def allow_request(self, request: Request, view: "APIView") -> bool:
        if request.META.get(COUNTED):
            return True
        if isinstance(request.auth, Caller):
            return caller_may_ask(request.auth)
        return _stranger_may_ask(request._request)

    def wait(self) -> float:
        return seconds_left()


def caller_may_ask(caller: Caller) -> bool:
    """Count one request of a caller. Return False if the limit was reached."""
    return admit(f"caller:{caller.actor.kind}:{caller.actor.id}", settings.REQUESTS_PER_MINUTE)


def count_refused_credentials(request: HttpRequest) -> None:
    """Count a guessed key like a request without credentials. Raises Throttled."""
    if not _stranger_may_ask(request):
        raise Throttled(Limit().wait())


def _stranger_may_ask(request: HttpRequest) -> bool:
    return admit(f"network:{client_ip.network(request)}", settings.ANONYMOUS_REQUESTS_PER_MINUTE)


def admit(who: str, limit: int) -> bool:
    """Count one request of `who`. Return False if this minute had more than `limit`. 0 means no limit."""
    if not limit:
        return True
    global _counts_again
    if time.monotonic() < _counts_again:
        return True
    key = f"limit:{who}:{int(time.time()) // _MINUTE}"
    try:
        cache.add(key, 0, timeout=2 * _MINUTE)
        return cache.incr(key) <= limit
    except (RedisError, ValueError) as error:  # ValueError: the counter was evicted in between
        log.warning("requests are not counted", exc_info=error)
        if isinstance(error, RedisError):
            _counts_again = time.monotonic() + _PAUSE_SECONDS
        return True  # a lost counter must not refuse a record


def seconds_left(window: int = _MINUTE) -> float:
    """Return the seconds until the next window begins."""
    return window - time.time() % window
