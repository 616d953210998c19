"""Errors of the API: the contract's validation body, and one sentence for everything else."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import structlog
from django.core.exceptions import PermissionDenied
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpResponse
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails
from rest_framework import exceptions
from rest_framework.views import set_rollback

from config.api.responses import answer
from config.api.strict_json import InvalidJSON
from config.errors import DomainError

log = structlog.get_logger("api")

RETRY_AFTER_SECONDS = 5
_MOST_PROBLEMS = 100  # who has more of them learns nothing from the rest, and the answer stays small
_LONGEST_ECHO = 4096  # characters


class ApiError(Exception):
    """An answer other than 2xx and 422.

    Args:
        status: HTTP status.
        sentence: what the caller did wrong, where, and how to mend it.
        retry_after: seconds, for 429 and 503.
    """

    def __init__(self, status: int, sentence: str, *, retry_after: int | None = None) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence
        self.retry_after = retry_after


class Invalid(Exception):
    """A request that fails validation: becomes the contract's `HTTPValidationError` body.

    Args:
        problems: objects with `loc`, `msg`, `type` and perhaps `input` and `ctx`.
    """

    def __init__(self, problems: Sequence[Mapping[str, Any]]) -> None:
        super().__init__("validation failed")
        self.problems = list(problems)


def invalid_json(error: InvalidJSON, *, private: type[BaseModel] | None = None) -> Invalid:
    """A body that is no acceptable JSON, in pydantic's terms; `loc` is the path of the value that is refused, or ends
    with the character offset where the bytes are no JSON at all.

    Args:
        private: the model of a body of which no key may be echoed but its own fields' names.
    """
    reason = error.general if private else error.reason
    where = [error.position] if error.path is None else _told(error.path, private)
    return Invalid(
        [
            {
                "type": "json_invalid",
                "loc": ["body", *where],
                "msg": f"JSON decode error: {reason}",
                "ctx": {"error": reason},
            }
        ]
    )


def _told(path: Sequence[str | int], private: type[BaseModel] | None) -> list[str | int]:
    """As much of a path as an answer may repeat: not beyond a private key, nor more than anybody would read."""
    known = _names(private) if private else None
    told, room = [], _LONGEST_ECHO
    for step in path:
        room -= len(str(step))
        if room < 0 or (known is not None and isinstance(step, str) and step not in known):
            break
        told.append(step)
    return told


def _names(model: type[BaseModel]) -> set[str]:
    """The names of all fields of a model, at any depth."""
    schema = model.model_json_schema()
    return {name for part in (schema, *schema.get("$defs", {}).values()) for name in part.get("properties", ())}


def invalid_model(error: ValidationError, where: str, private: Iterable[str] = ()) -> Invalid:
    """What pydantic found wrong.

    Args:
        where: `body`, `query` or `path`, the first part of every `loc`.
        private: top-level fields whose values must not be echoed.
    """
    hidden = frozenset(private)
    return Invalid([_problem(found, where, hidden) for found in error.errors(include_url=False)[:_MOST_PROBLEMS]])


def _problem(found: ErrorDetails, where: str, hidden: frozenset[str]) -> dict[str, Any]:
    problem: dict[str, Any] = {"type": found["type"], "loc": [where, *found["loc"]], "msg": found["msg"]}
    echoed = found["input"]
    if (
        found["loc"]
        and isinstance(echoed, str | int | float | bool)
        and not hidden.intersection(map(str, found["loc"]))
        and not (isinstance(echoed, str) and len(echoed) > _LONGEST_ECHO)
    ):
        problem["input"] = echoed
    if found.get("ctx"):
        problem["ctx"] = {name: str(v) if isinstance(v, Exception) else v for name, v in found["ctx"].items()}
    return problem


def handle(error: Exception, context: Mapping[str, Any]) -> HttpResponse:
    """DRF's exception handler: turns every exception of a view into an answer."""
    set_rollback()
    if isinstance(error, Invalid):
        return answer({"detail": error.problems}, status=422)
    if isinstance(error, ApiError):
        return _sentence(error.status, error.sentence, error.retry_after)
    if isinstance(error, Http404):
        return _sentence(404, str(error) or "There is nothing of this identifier in your organization.")
    if isinstance(error, PermissionDenied):
        return _sentence(403, "Your role does not allow this.")
    if isinstance(error, exceptions.APIException):
        return _drf(error)
    if isinstance(error, DomainError):
        return _domain(error)
    log.error("request failed", exc_info=error)
    if isinstance(error, OperationalError | InterfaceError):
        return _sentence(503, "The database does not answer. Repeat the same request.", RETRY_AFTER_SECONDS)
    return _sentence(500, "The service failed. Retrying is safe: a record is never kept twice.")


def _domain(error: DomainError) -> HttpResponse:
    if error.status >= 500:
        log.error("request failed", code=error.code, exc_info=error)
    retry_after = RETRY_AFTER_SECONDS if error.status == 503 and error.retry_after is None else error.retry_after
    return _sentence(error.status, error.sentence, retry_after)


def _drf(error: exceptions.APIException) -> HttpResponse:
    response = _sentence(error.status_code, str(error.detail), getattr(error, "wait", None))
    if header := getattr(error, "auth_header", None):
        response["WWW-Authenticate"] = header
    return response


def _sentence(status: int, sentence: str, retry_after: float | None = None) -> HttpResponse:
    headers = {} if retry_after is None else {"Retry-After": str(max(1, round(retry_after)))}
    return answer({"detail": sentence}, status=status, headers=headers)
