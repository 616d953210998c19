"""Answers of the front itself, with the headers that Django's middleware would add."""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from django.http import HttpRequest, HttpResponse
from django.middleware.clickjacking import XFrameOptionsMiddleware
from django.middleware.security import SecurityMiddleware

from config.http.json_responses import JSON
from config.http.messages import Answer, Headers, Request
from config.middleware import ContentSecurityPolicy


def of_document(
    request: Request, status: int, document: bytes, more: Mapping[str, str] = MappingProxyType({})
) -> Answer:
    """Return a JSON answer."""
    return _of(request, status, JSON, document, more)


def of_page(request: Request, status: int, html: str, more: Mapping[str, str] = MappingProxyType({})) -> Answer:
    """Return an HTML answer."""
    return _of(request, status, "text/html; charset=utf-8", html.encode(), more)


def _of(request: Request, status: int, content_type: str, content: bytes, more: Mapping[str, str]) -> Answer:
    own = [(b"content-type", content_type.encode()), (b"content-length", str(len(content)).encode())]
    own += [(name.lower().encode(), value.encode()) for name, value in more.items()]
    headers = [*own, *_common(request.is_secure), (b"x-request-id", request.id.encode())]
    return Answer(status, headers, b"" if request.method == "HEAD" else content)


def of_response(request: Request, response: HttpResponse) -> Answer:
    """Return the answer that the API would give through Django."""
    more = {name: value for name, value in response.items() if name != "Content-Type"}
    return of_document(request, response.status_code, response.content, more)


@cache
def _common(is_secure: bool) -> Headers:
    """Return the headers of every answer."""

    def blank(request: HttpRequest) -> HttpResponse:
        response = HttpResponse()
        del response["Content-Type"]
        return response

    request = HttpRequest()
    request._get_scheme = lambda: "https" if is_secure else "http"  # type: ignore[attr-defined]
    response = blank(request)
    for middleware in (XFrameOptionsMiddleware, SecurityMiddleware):
        middleware(blank).process_response(request, response)  # they add headers to it
    response.headers.setdefault("Content-Security-Policy", ContentSecurityPolicy.POLICY)
    return [(name.lower().encode(), value.encode()) for name, value in response.items()]
