"""Answers of the API to errors."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import structlog
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from rest_framework import exceptions
from rest_framework.views import set_rollback

from config import db
from config.errors import RETRY_AFTER_SECONDS, DomainError, Invalid, NotAllowed, NotFound
from config.http.json_responses import answer

log = structlog.get_logger("api")


def handle(error: Exception, context: Mapping[str, Any]) -> HttpResponse:
    """Return the answer to a view's exception. DRF calls this for every one."""
    set_rollback()
    if isinstance(error, Invalid):
        return answer({"detail": error.problems}, status=422)
    if isinstance(error, DomainError):
        return _domain(error)
    if isinstance(error, Http404):
        return _sentence(404, NotFound.sentence)
    if isinstance(error, PermissionDenied):
        return _sentence(403, NotAllowed.sentence)
    if isinstance(error, exceptions.APIException):
        return _drf(error)
    log.error("request failed", exc_info=error)
    if db.is_outage(error):
        return _sentence(503, "The database does not answer. Repeat the same request.", RETRY_AFTER_SECONDS)
    return _sentence(500, "The service failed. Retrying is safe: a record is never kept twice.")


def _domain(error: DomainError) -> HttpResponse:
    if error.status >= 500:
        log.error("request failed", code=error.code, exc_info=error)
    return _sentence(error.status, error.sentence, error.retry_after, error.members)


def _drf(error: exceptions.APIException) -> HttpResponse:
    response = _sentence(error.status_code, str(error.detail), getattr(error, "wait", None))
    if header := getattr(error, "auth_header", None):
        response["WWW-Authenticate"] = header
    return response


def _sentence(
    status: int, sentence: str, retry_after: float | None = None, members: Mapping[str, Any] = MappingProxyType({})
) -> HttpResponse:
    headers = {} if retry_after is None else {"Retry-After": str(max(1, round(retry_after)))}
    return answer({"detail": sentence, **members}, status=status, headers=headers)
