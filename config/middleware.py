import sys
import time
from collections.abc import Callable
from typing import Any

import structlog
from django.core.signals import got_request_exception
from django.dispatch import receiver
from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render

from config import request_log
from config.errors import DomainError

log = structlog.get_logger("request")

Handler = Callable[[HttpRequest], HttpResponseBase]


@receiver(got_request_exception, dispatch_uid="config.middleware")
def _remember_fault(request: HttpRequest, **_: Any) -> None:
    """Store the exception for `RequestLog`.

    If the error page fails too, the second exception has the first as its context, so the log line describes both.
    """
    request.fault = sys.exception()  # type: ignore[attr-defined]


class RequestLog:
    """Middleware that gives each request an id, returns it, and logs one line a request.

    An unexpected exception, wherever in Django it was raised, adds a second line.
    """

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        request_id = request_log.request_id(request.headers.get("X-Request-ID", ""))
        structlog.contextvars.bind_contextvars(request_id=request_id)
        request_log.is_answering.set(True)
        begun = time.perf_counter()
        try:
            response = self.get_response(request)
            if (fault := getattr(request, "fault", None)) is not None:
                log.error("request failed", exc_info=fault, **_code_of(fault))
            match = request.resolver_match
            request_log.write(
                request_id=request_id,
                method=request.method,
                route=match.route if match else None,
                status=response.status_code,
                begun=begun,
            )
        finally:
            structlog.contextvars.clear_contextvars()
            request_log.is_answering.set(False)
        response["X-Request-ID"] = request_id
        return response


def _code_of(fault: BaseException) -> dict[str, str]:
    return {"code": fault.code} if isinstance(fault, DomainError) else {}


class ApiErrorsAreJSON:
    """Middleware that answers every failure under /v1 in JSON, even if Django answers without calling a view."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if response.status_code < 400 or not request.path_info.startswith("/v1/"):
            return response
        if response.headers.get("Content-Type", "").startswith("application/json"):
            return response
        answer = JsonResponse(
            {"detail": _SENTENCES.get(response.status_code, "The request failed.")},
            status=response.status_code,
        )
        if "Retry-After" in response:
            answer["Retry-After"] = response["Retry-After"]
        return answer


_SENTENCES = {
    400: "The request is malformed: check its headers, above all Host and Content-Length.",
    403: "This session may not do that: send the CSRF token with it, or use an API key.",
    404: "There is nothing at this path. The paths are listed in /v1/openapi.json.",
    500: "The service failed. Retrying is safe: a record is never kept twice.",
    503: "The database does not answer. Repeat the same request.",
}


class DomainErrorPages:
    """Middleware that turns errors of services into pages. Under /v1, `config.http.error_answers` does."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponseBase | None:
        if not isinstance(error, DomainError):
            return None
        if error.status >= 500:
            request.fault = error  # type: ignore[attr-defined]
        page = "403.html" if error.status == 403 else "error.html"
        response = render(request, page, {"exception": error.sentence}, status=error.status)
        if error.retry_after is not None:
            response["Retry-After"] = str(error.retry_after)
        return response


class ContentSecurityPolicy:
    """Middleware that lets pages load scripts, styles and images from this service only, and none inline."""

    POLICY = (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", self.POLICY)
        return response
