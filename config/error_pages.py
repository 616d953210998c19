"""Error pages that need neither the database nor a session."""

import sys

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from config import db
from config.errors import RETRY_AFTER_SECONDS

_PLAIN = "<!doctype html><title>Failed</title><p>The service failed to answer. Try again in a minute.</p>"


def failed(request: HttpRequest) -> HttpResponse:
    """Answer an unexpected exception: 503 during a database outage, else 500. Django calls this as `handler500`."""
    if not db.is_outage(sys.exception()):
        return HttpResponse(_page(request, "500.html"), status=500)
    return HttpResponse(_page(request, "503.html"), status=503, headers={"Retry-After": str(RETRY_AFTER_SECONDS)})


def _page(request: HttpRequest, template: str) -> str:
    """Return a page, or plain text if rendering fails. That second exception has the first as its context."""
    try:
        return render_to_string(template)
    except Exception as error:
        request.fault = error  # type: ignore[attr-defined]
        return _PLAIN
