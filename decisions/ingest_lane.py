"""The lane for `POST /v1/ingest/srf`: single records of callers with a key, by far the most frequent request.

The lane answers new records. It leaves all other requests, and every error, to the view in `decisions.api`.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

import structlog
from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.db import Error
from django.http import HttpRequest

from accounts import authentication, selectors, throttling
from accounts.callers import Caller
from config import changes
from config.errors import DomainError
from config.group_commit import CommitLate
from config.http import error_answers, front_answers
from config.http.json_responses import dump
from config.http.messages import Answer, Request
from config.single_flight import SingleFlight
from custody.services import GroupStore
from decisions import presenters, services

log = structlog.get_logger("lane")

PATH = "/v1/ingest/srf"
_TYPES = frozenset({b"application/json", b"application/json; charset=utf-8", b"application/json;charset=utf-8"})


_MARKS = (b",", b"[", b"{")
_MAX_MARKS = 2000
"""The cost of sealing grows with the number of fields. The event loop has time for about a thousand fields."""


class IngestLane:
    def __init__(self) -> None:
        self.store = GroupStore()
        self._look = SingleFlight[str](ThreadPoolExecutor(1, "keys"))
        self._limits = ThreadPoolExecutor(1, "limits")

    async def __call__(self, request: Request, body: bytes) -> Answer | None:
        headers = request.headers
        if (
            headers.get(b"content-type") not in _TYPES
            or b"cookie" in headers
            or not _is_for_us(headers.get(b"host", b""))
        ):
            return None
        try:
            caller = await self._caller(headers.get(b"authorization", b"").decode("latin-1"))
            if caller is None or not await self._is_within_limit(request, caller):
                return None
            acceptance = await services.ingest_in_group(caller=caller, raw=body, source="api", store=self.store)
        except CommitLate as late:  # the view would wait for the same commit and block a thread
            return front_answers.of_response(request, error_answers.handle(late, {}))
        except DomainError:  # refused or undecided: the view answers, and writes the audit event
            return None
        except Error as error:
            log.warning("left to the view", exc_info=error)
            return None
        if acceptance.receipt is None:
            return None
        shown = presenters.receipt(acceptance.decision_id, acceptance.receipt)
        return front_answers.of_document(request, 201, dump(shown), {"Allow": "POST"})  # DRF sets it on every answer

    async def _caller(self, header: str) -> Caller | None:
        """Return the caller of a key that was used before, or None: the view authenticates other keys.

        One query a second, whether any key has changed, serves all organizations.
        """
        if not changes.is_known():
            await self._look("", changes.ask)
        caller = authentication.remembered_caller(header)
        key_id = authentication.key_id_of(header)
        if caller is None and selectors.was_remembered(key_id):
            await self._look(key_id, selectors.refreshed_key)
            caller = authentication.remembered_caller(header)
        return caller

    async def _is_within_limit(self, request: Request, caller: Caller) -> bool:
        if not settings.REQUESTS_PER_MINUTE:
            return True
        loop = asyncio.get_running_loop()
        request.is_counted = await loop.run_in_executor(self._limits, throttling.caller_may_ask, caller)
        return request.is_counted


@lru_cache(maxsize=64)
def _is_for_us(host: bytes) -> bool:
    request = HttpRequest()
    request.META = {"HTTP_HOST": host.decode("latin-1"), "SERVER_PORT": "80"}
    try:
        return bool(request.get_host())
    except DisallowedHost:
        return False
